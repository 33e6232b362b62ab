/* ws_sort.c: sorting accumulation indices by their entries' labels.
 *
 * Counting passes over the bits that labels use, from the lowest; few entries
 * by insertion. Only records of a word and an index move, never an entry
 * (workspaces paper, §5.1, accumulation indexing). Stable.
 */
#include "ws.h"
#include <string.h>

stc_status ws_record_room(ctx *cx, workspace *w, int64_t n)
{
    if (n <= w->record_cap) return STC_OK;
    /* two halves of one size */
    return mem_grow(cx, &w->record, &w->record_cap, n + n / 2, 2 * sizeof *w->record);
}

void ws_sort_few(ws_record *r, int64_t n)
{
    for (int64_t k = 1; k < n; k++) {
        const ws_record x = r[k];
        int64_t j = k;
        for (; j > 0 && r[j - 1].key > x.key; j--)
            r[j] = r[j - 1];
        r[j] = x;
    }
}

/* By the lowest `bits` bits of the keys, one at least; the result is in *a (they may
 * swap). False: the call has to end. */
static bool radix(ctx *cx, ws_record **a, ws_record **b, int64_t n, int bits)
{
    enum { DIGIT = 11 };
    const int most = n < 4096 ? 8 : DIGIT;
    const int passes = (bits + most - 1) / most;
    const int digit = (bits + passes - 1) / passes;
    int64_t count[1 << DIGIT];
    for (int p = 0; p < passes; p++) {
        const int shift = p * digit;
        const uint64_t mask = (UINT64_C(1) << digit) - 1;
        memset(count, 0, sizeof *count << digit);
        for (int64_t k = 0; k < n; k++)
            count[(*a)[k].key >> shift & mask]++;
        if (count[(*a)[0].key >> shift & mask] == n) continue;
        int64_t sum = 0;
        for (uint64_t d = 0; d <= mask; d++) {
            const int64_t here = count[d];
            count[d] = sum;
            sum += here;
        }
        const ws_record *restrict from = *a;
        ws_record *restrict to = *b;
        int64_t k = 0;
        for (int64_t end; (end = ws_block(cx, k, n)) > k;)
            for (; k < end; k++)
                to[count[from[k].key >> shift & mask]++] = from[k];
        if (k < n) return false;
        ws_record *swap = *a;
        *a = *b;
        *b = swap;
    }
    return true;
}

void ws_sort_records(ws_record *r, int64_t n, ws_record *space, int bits)
{
    ws_record *a = r, *b = space;
    radix(NULL, &a, &b, n, bits);
    if (a != r) memcpy(r, a, (size_t)n * sizeof *a);
}

static bool in_order(const ws_record *r, int64_t n)
{
    for (int64_t k = 1; k < n; k++)
        if (r[k].key < r[k - 1].key) return false;
    return true;
}

bool ws_sort_list(ctx *cx, const workspace *w, const ws_list *l, ws_record *record,
                  int64_t half)
{
    const int64_t n = l->n;
    const int words = w->form.words;
    ws_record *a = record, *b = record + half;
    for (int64_t k = 0; k < n; k++)
        a[k].id = k;
    for (int j = words - 1; j >= 0; j--) {
        int64_t k = 0;
        for (int64_t end; (end = ws_block(cx, k, n)) > k;)
            for (; k < end; k++)
                a[k].key = l->label[a[k].id * words + j];
        if (k < n) return false;
        if (in_order(a, n)) continue;
        if (n <= 32)
            ws_sort_few(a, n);
        else if (!radix(cx, &a, &b, n, w->form.used[j]))
            return false;
    }
    if (a != record) memcpy(record, a, (size_t)n * sizeof *a);
    return true;
}

stc_status ws_sort_labels(machine *mc, workspace *w)
{
    if (ws_record_room(mc->cx, w, w->acc.n)) return mc->cx->diag.status;
    return ws_sort_list(mc->cx, w, &w->acc, w->record, w->record_cap) ? STC_OK
                                                                      : mc->cx->diag.status;
}

/* ---- coordinates alone ------------------------------------------------------------- */

/* From `from`, which may be `c` itself. */
static void insert_coords(int64_t *c, const int64_t *from, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        const int64_t x = from[k];
        int64_t j = k;
        for (; j > 0 && c[j - 1] > x; j--)
            c[j] = c[j - 1];
        c[j] = x;
    }
}

enum { SPREAD_MOST = 256, SPREAD_BITS = 9, SPREAD_SHARE = 16 };

/* One pass over the highest bits in which they differ, into twice as many places as there
 * are coordinates: what shares a place is near. False, and nothing done, where too many
 * would share one. */
static bool spread_coords(int64_t *c, int64_t *room, int64_t n)
{
    int64_t lo = c[0], hi = c[0];
    for (int64_t k = 1; k < n; k++) {
        lo = c[k] < lo ? c[k] : lo;
        hi = c[k] > hi ? c[k] : hi;
    }
    const int bits = 65 - __builtin_clzll((uint64_t)n - 1),
              have = 64 - __builtin_clzll((uint64_t)(hi - lo) | 1),
              shift = have > bits ? have - bits : 0;
    uint16_t at[(1 << SPREAD_BITS) + 1], most = 0, sum = 0;
    memset(at, 0, ((size_t)2 << bits) + 2);
    for (int64_t k = 0; k < n; k++)
        at[((c[k] - lo) >> shift) + 1]++;
    for (int b = 1; b <= 1 << bits; b++) {
        most = at[b] > most ? at[b] : most;
        sum = at[b] = (uint16_t)(sum + at[b]);
    }
    if (most > SPREAD_SHARE) return false;
    for (int64_t k = 0; k < n; k++)
        room[at[(c[k] - lo) >> shift]++] = c[k];
    insert_coords(c, room, n);
    return true;
}

/* Below limit, which is an accumulator's: far from 2^56. */
void ws_sort_coords(int64_t *coord, int64_t *room, int64_t n, int64_t limit)
{
    int64_t *from = coord, *to = room;
    if (n <= 24) {
        insert_coords(coord, coord, n);
        return;
    }
    if (n <= SPREAD_MOST && spread_coords(coord, room, n)) return;
    for (int shift = 0; limit >> shift; shift += 8) {
        int64_t at[257] = {0};
        for (int64_t k = 0; k < n; k++)
            at[(from[k] >> shift & 255) + 1]++;
        for (int b = 0; b < 256; b++)
            at[b + 1] += at[b];
        for (int64_t k = 0; k < n; k++)
            to[at[from[k] >> shift & 255]++] = from[k];
        int64_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != coord) memcpy(coord, from, (size_t)n * sizeof *coord);
}
