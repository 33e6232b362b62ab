/* ws_coord.c: the policy `coord`: entries as they come, sorted when the
 * accumulation array is full (workspaces paper, §5.2, coordinate sort).
 *
 * What has the coordinates of the entry before it is merged at once; other
 * duplicates wait for the merge.
 */
#include "ws.h"

static int64_t coord_find(const workspace *w, const uint64_t *label)
{
    const int64_t last = w->acc.n - 1;
    if (last < 0 || !ws_label_equal(w, ws_label_of(w, &w->acc, last), label)) return NONE;
    return last;
}

const ws_kind ws_kind_coord = {.name = "coord", .find = coord_find, .sort = ws_sort_labels};
