/* host_levels.c: two level kinds of the host's own, for the fuzzer: sorted
 * coordinates below bounds, as in a compressed level; `hosted` locates, `walked`
 * doesn't. */
#include "case.h"

static const int64_t *bounds_of(const stc_level *lv)
{
    return lv->array[STC_POS].data;
}

static const int64_t *coords_of(const stc_level *lv)
{
    return lv->array[STC_CRD].data;
}

/* The first position of the fiber whose coordinate is at least i. */
static int64_t lower_bound(const stc_level *lv, int64_t parent, int64_t i)
{
    int64_t p = bounds_of(lv)[parent], end = bounds_of(lv)[parent + 1];
    while (p < end) {
        const int64_t mid = p + (end - p) / 2;
        if (coords_of(lv)[mid] < i) {
            p = mid + 1;
        } else {
            end = mid;
        }
    }
    return p;
}

static int seek(void *context, const stc_level *lv, int64_t parent, int64_t i,
                stc_interval *out)
{
    (void)context;
    const int64_t p = lower_bound(lv, parent, i);
    if (p == bounds_of(lv)[parent + 1]) return 0;
    *out =
        (stc_interval){.lo = coords_of(lv)[p], .hi = coords_of(lv)[p] + 1, .position = p};
    return 1;
}

static int64_t locate(void *context, const stc_level *lv, int64_t parent, int64_t i)
{
    (void)context;
    const int64_t p = lower_bound(lv, parent, i);
    return p < bounds_of(lv)[parent + 1] && coords_of(lv)[p] == i ? p : -1;
}

static stc_status pack(void *context, stc_level *lv, int64_t n, const int64_t *coord,
                       int64_t *pos)
{
    (void)context;
    int64_t *bound = stc_level_array(lv, STC_POS, 8, lv->parents + 1);
    int64_t *crd = stc_level_array(lv, STC_CRD, 8, n), e = 0;
    if (!bound || !crd) return STC_ERR_MEMORY;
    for (int64_t p = 0; p <= lv->parents; p++) {
        while (e < n && pos[e] < p)
            e++;
        bound[p] = e;
    }
    for (e = 0; e < n; e++) {
        crd[e] = coord[e];
        pos[e] = e;
    }
    lv->size = n;
    return STC_OK;
}

static stc_status check(void *context, stc_level *lv)
{
    (void)context;
    const stc_array *pos = &lv->array[STC_POS], *crd = &lv->array[STC_CRD];
    if (pos->width != 8 || pos->stride != 8 || crd->width != 8 || crd->stride != 8 ||
        pos->length != lv->parents + 1 || bounds_of(lv)[0] != 0 ||
        bounds_of(lv)[lv->parents] != crd->length)
        return stc_level_fail(lv, STC_ERR_DATA, "bounds that don't fit");
    for (int64_t f = 0; f < lv->parents; f++)
        for (int64_t p = bounds_of(lv)[f]; p < bounds_of(lv)[f + 1]; p++) {
            const int64_t i = coords_of(lv)[p];
            if (bounds_of(lv)[f + 1] > crd->length || i < lv->base ||
                i - lv->base >= lv->extent ||
                (p > bounds_of(lv)[f] && i <= coords_of(lv)[p - 1]))
                return stc_level_fail(lv, STC_ERR_DATA, "a coordinate out of order");
        }
    lv->size = crd->length;
    return STC_OK;
}

stc_status host_levels_register(stc_machine *m)
{
    stc_level_kind kind = {.size = sizeof kind,
                           .name = "hosted",
                           .flags = STC_KIND_COMPACT,
                           .arrays = 1u << STC_POS | 1u << STC_CRD,
                           .seek = seek,
                           .locate = locate,
                           .pack = pack,
                           .check = check};
    const stc_status st = stc_level_register(m, &kind);
    kind.name = "walked";
    kind.locate = NULL;
    return st ? st : stc_level_register(m, &kind);
}
