/* host_policies.c: a policy of the host's own for workspaces, `lined`: the numbers of the
 * entries stand in a line, in order, so that one is found by halving and none is sorted. */
#include "case.h"
#include <stdlib.h>
#include <string.h>

typedef struct line {
    int64_t n, cap, *number;
} line;

static int compare(const stc_workspace *w, const uint64_t *a, const uint64_t *b)
{
    for (int k = 0; k < w->words; k++)
        if (a[k] != b[k]) return a[k] < b[k] ? -1 : 1;
    return 0;
}

/* How many entries have a label below, or up to, this one. */
static int64_t place(const stc_workspace *w, const uint64_t *label, bool up_to)
{
    const line *l = w->state;
    int64_t lo = 0, hi = l ? l->n : 0;
    while (lo < hi) {
        const int64_t mid = lo + (hi - lo) / 2;
        const int c = compare(w, w->labels + l->number[mid] * w->words, label);
        if (c < 0 || (c == 0 && up_to))
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static int64_t find(void *context, const stc_workspace *w, const uint64_t *label)
{
    const line *l = w->state;
    const int64_t at = place(w, label, false);
    (void)context;
    if (!l || at == l->n) return -1;
    return compare(w, w->labels + l->number[at] * w->words, label) ? -1 : l->number[at];
}

static stc_status enter(void *context, stc_workspace *w, int64_t number)
{
    line *l = w->state ? w->state : calloc(1, sizeof *l);
    (void)context;
    w->state = l;
    if (l && l->n == l->cap) {
        int64_t *more = realloc(l->number, (size_t)(2 * l->cap + 8) * sizeof *more);
        if (!more) return STC_ERR_MEMORY;
        l->number = more;
        l->cap = 2 * l->cap + 8;
    }
    if (!l) return STC_ERR_MEMORY;
    const int64_t at = place(w, w->labels + number * w->words, true);
    memmove(l->number + at + 1, l->number + at, (size_t)(l->n - at) * sizeof *l->number);
    l->number[at] = number;
    l->n++;
    return STC_OK;
}

static stc_status sort(void *context, stc_workspace *w, int64_t *order)
{
    const line *l = w->state;
    (void)context;
    memcpy(order, l->number, (size_t)l->n * sizeof *order);
    return STC_OK;
}

static void clear(void *context, stc_workspace *w)
{
    line *l = w->state;
    (void)context;
    if (l) l->n = 0;
}

static void end(void *context, void *state)
{
    line *l = state;
    (void)context;
    free(l->number);
    free(l);
}

stc_status host_policies_register(stc_machine *m)
{
    const stc_workspace_policy lined = {.size = sizeof lined,
                                        .name = "lined",
                                        .find = find,
                                        .enter = enter,
                                        .sort = sort,
                                        .clear = clear,
                                        .end = end};
    return stc_workspace_register(m, &lined);
}
