/* variables.c: the session's tensors, and which of them lie on the ranks in parts. */
#include "variables.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES = 128, CUTS = 16, BINS = 4096 };

stc_machine *m;
stc_session *s;
const char *script;
int64_t definitions;
static held table[NAMES];
static int count;
static int64_t cuts[CUTS][RANKS + 1]; /* bounds in use, by the size that they end with */
static int ncut;

held *find(const char *name)
{
    for (int k = 0; k < count; k++)
        if (strcmp(table[k].name, name) == 0) return &table[k];
    if (count == NAMES || strlen(name) >= sizeof table->name) die("too many names");
    held *h = &table[count++];
    snprintf(h->name, sizeof h->name, "%s", name);
    h->mode = -1;
    h->bound = NULL;
    return h;
}

stc_tensor *variable_or_null(const char *name)
{
    const stc_tensor *t;
    return stc_session_get(s, name, &t) ? NULL : (stc_tensor *)t;
}

stc_tensor *variable(const char *name)
{
    const stc_tensor *t;
    must(m, stc_session_get(s, name, &t));
    return (stc_tensor *)t;
}

void hold(const char *name, stc_tensor *t, int mode, const int64_t *bound)
{
    held *h = find(name);
    must(m, stc_session_put(s, name, t));
    h->mode = mode;
    h->bound = bound;
    h->stays = false;
    h->version++;
}

ranges_of had(const held *h)
{
    return by_bounds(h->mode, h->bound);
}

void make_whole(const char *name)
{
    held *h = find(name);
    const ranges_of have = had(h), all = {.mode = -1};
    if (h->mode < 0) return;
    const stc_tensor *t = variable(name);
    bytes_told += outgoing(t, &have, &all);
    hold(name, exchange(t, &have, &all, NULL), -1, NULL);
    find(name)->stays = true;
}

void need_names(const char *text)
{
    for (const char *at = text; *at;) {
        char word[64];
        size_t n = 0;
        if (!isalpha((unsigned char)*at) && *at != '_') {
            at++;
            continue;
        }
        while (isalnum((unsigned char)at[n]) || at[n] == '_')
            n++;
        if (n < sizeof word) {
            memcpy(word, at, n);
            word[n] = 0;
            for (int k = 0; k < count; k++)
                if (strcmp(table[k].name, word) == 0) {
                    make_whole(word);
                    table[k].version++;
                }
        }
        at += n;
    }
}

void everywhere(const char *text)
{
    need_names(text);
    must(m, stc_session_exec(s, text, script));
}

/* ---- bounds ---------------------------------------------------------------------------
 */

const int64_t *bounds_of(int64_t size)
{
    for (int k = 0; k < ncut; k++)
        if (cuts[k][ranks] == size) return cuts[k];
    return NULL;
}

/* By what all ranks have in bins of coordinates. */
static void balance(const stc_tensor *t, int mode, int64_t *bound)
{
    const int64_t n = stc_tensor_shape(t)[mode];
    const int bins = n < BINS ? (int)n : BINS;
    int64_t *edge = room((size_t)(bins + 1) * sizeof *edge);
    int64_t *have = room((size_t)(bins + 1) * sizeof *have), all = 0, so_far = 0;
    for (int k = 0; k <= bins; k++)
        edge[k] = bins ? n / bins * k + n % bins * k / bins : 0;
    if (bins) must(m, stc_tensor_counts(t, mode, bins, edge, have));
    MPI_Allreduce(MPI_IN_PLACE, have, bins, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    for (int k = 0; k < bins; k++)
        all += have[k];
    for (int r = 0, k = 0; r < ranks; r++) {
        while (k < bins && (double)so_far < (double)all * r / ranks)
            so_far += have[k++];
        bound[r] = all ? edge[k] : n / ranks * r + n % ranks * r / ranks;
    }
    bound[ranks] = n;
    free(edge);
    free(have);
}

const int64_t *make_bounds(const stc_tensor *t, int mode, int64_t step, bool parts)
{
    int64_t *bound = cuts[ncut];
    const int64_t n = stc_tensor_shape(t)[mode];
    if (ncut == CUTS) return NULL;
    if (alone) { /* others have as much as this one */
        for (int r = 0; r < ranks; r++)
            bound[r] = (n / ranks * r + n % ranks * r / ranks) / step * step;
        bound[ranks] = n;
    } else if (parts) {
        balance(t, mode, bound);
    } else {
        must(m, stc_tensor_bounds(t, mode, ranks, step, bound));
        MPI_Bcast(bound, ranks + 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    }
    ncut++;
    return bound;
}
