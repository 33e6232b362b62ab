/* check.c: whether a tensor's arrays are what its format claims.
 *
 * Reading a tensor relies on it without checking again, so arrays that
 * come from outside are checked once for each generation of their data. Each
 * level checks its own arrays; what concerns two levels is checked here.
 */
#include "internal.h"
#include "base/parts.h"
#include <string.h>

/* A level that counts entries takes its extent from the data: as many as make
 * the next level that stores something, or the values, come out even. */
static stc_status count_extent(tensor *t, int l, int64_t parents)
{
    int64_t stored = t->nvals, times = parents;
    for (int d = l + 1; d < t->fmt.levels; d++) {
        const level *lv = &t->level[d];
        if (lv->kind->arrays >> STC_POS & 1) {
            stored = lv->a[STC_POS].len - 1;
            break;
        }
        const bool lists = lv->kind->arrays >> STC_CRD & 1;
        const int64_t one = lists ? lv->kind->size(lv, 1) : lv->extent;
        if (one >= 0 && !(lv->kind->props & PROP_BRANCHLESS) &&
            !size_mul(times, one, &times)) {
            return fail(t->cx, STC_ERR_OVERFLOW, "level %d has more than 2^63 positions",
                        d);
        }
        if (lists) {
            stored = lv->a[STC_CRD].len;
            break;
        }
    }
    if (stored < 0 || (times ? stored % times : stored) != 0) {
        return fail(t->cx, STC_ERR_DATA,
                    "level %d (%s): %lld positions below it are no multiple of %lld", l,
                    t->fmt.level[l].kind->name, (long long)stored, (long long)times);
    }
    t->level[l].extent = times ? stored / times : 0;
    return STC_OK;
}

/* Chains: below several positions of one coordinate, coordinates have to be in
 * order across them. `l` is the level checked. */
static stc_status check_chain(const tensor *t, int at, int l, const cursor *up)
{
    const level *lv = &t->level[at];
    int64_t last = INT64_MIN, n = 0;
    cursor c;
    for (cursor_open(&c, lv, up); c.lo != CURSOR_END; cursor_next(&c)) {
        if (work_due(t->cx, ++n)) return t->cx->diag.status;
        if (at == l && c.lo < last) {
            return fail(
                t->cx, STC_ERR_DATA,
                "level %d (%s): coordinate %lld at position %lld follows %lld; expected "
                "%s below equal coordinates, or an unordered level",
                l, lv->kind->name, (long long)c.lo, (long long)c.pos, (long long)last - 1,
                c.lo + 1 == last ? "no duplicates" : "ascending ones");
        }
        last = c.hi;
        for (int64_t i = c.lo; at < l && i < c.hi; i++) {
            cursor_stand(&c, i);
            if (work_due(t->cx, ++n)) return t->cx->diag.status;
            const int64_t end = c.at_end;
            for (const bool apart = level_apart(lv); c.at < end; c.at = c.at_end) {
                c.at_end = apart ? c.at + 1 : end;
                if (check_chain(t, at + 1, l, &c)) return t->cx->diag.status;
            }
        }
    }
    return STC_OK;
}

static stc_status check_chains(const tensor *t)
{
    for (int l = 1; l < t->fmt.levels; l++) {
        if (t->level[l - 1].props & PROP_UNIQUE || level_apart(&t->level[l - 1]) ||
            !(t->level[l].props & PROP_ORDERED))
            continue;
        if (!t->level[l].size) continue; /* else the levels above could be long */
        if (check_chain(t, 0, l, NULL)) return t->cx->diag.status;
    }
    return STC_OK;
}

int64_t tensor_level_says(const tensor *t, int l, int64_t parents)
{
    const level *lv = &t->level[l];
    const int64_t size = lv->kind->size(lv, parents);
    if (size != NONE || !(lv->kind->arrays >> STC_CRD & 1)) return size;
    return lv->kind->arrays >> STC_AUX & 1 && lv->kind->props & PROP_FULL
               ? t->nvals
               : lv->a[STC_CRD].len;
}

/* Sizes of levels whose arrays the host answers for. */
static stc_status trust_level(tensor *t, int l, int64_t parents)
{
    level *lv = &t->level[l];
    const int64_t size = tensor_level_says(t, l, parents);
    lv->whole = false;
    if (size == NONE) return lv->kind->check(t->cx, lv, parents);
    lv->size = size;
    return STC_OK;
}

/* A byte of a bool is 0 or 1: what computes on them counts on it. */
static stc_status check_truths(const tensor *t)
{
    const uint8_t *const v = t->vals;
    for (int64_t i = 0, end; (end = work_block(t->cx, i, t->nvals)) > i;) {
        uint8_t any = 0;
        for (int64_t k = i; k < end; k++)
            any |= v[k];
        for (; any > 1 && i < end; i++)
            if (v[i] > 1)
                return fail(t->cx, STC_ERR_DATA,
                            "values: element %lld is %d; a bool is 0 or 1", (long long)i,
                            v[i]);
        i = end;
    }
    return work_done(t->cx, 0);
}

static stc_status check_all(tensor *t)
{
    int64_t parents = 1;
    level *lv = NULL;
    for (int l = 0; l < t->fmt.levels; l++) {
        lv = &t->level[l];
        if (t->fmt.level[l].map.op == MAP_COUNT && count_extent(t, l, parents)) {
            return t->cx->diag.status;
        }
        const stc_status status =
            t->vouched ? trust_level(t, l, parents) : lv->kind->check(t->cx, lv, parents);
        if (status) return fail_level(t, l, status);
        parents = lv->size;
    }
    const bool fits =
        lv && lv->kind->caps & CAP_REGION ? t->nvals >= parents : t->nvals == parents;
    if (!fits || (parents && !t->vals)) {
        return fail(t->cx, STC_ERR_DATA, "values: %lld elements, expected %lld",
                    t->vals ? (long long)t->nvals : 0LL, (long long)parents);
    }
    if ((uintptr_t)t->vals %
        (type_is_complex(t->type) ? type_size(t->type) / 2 : type_size(t->type))) {
        return fail(t->cx, STC_ERR_DATA, "values: not aligned to their type, %s",
                    type_name(t->type));
    }
    if (!t->vouched && (check_chains(t) || (t->type == STC_BOOL && check_truths(t))))
        return t->cx->diag.status;
    t->checked = t->generation;
    return STC_OK;
}

static stc_status make_values(tensor *t)
{
    entries none;
    entries_init(&none, t->cx, t->order, t->type);
    const stc_status st = tensor_pack(t, &none);
    if (!st) t->unmade = false;
    return st;
}

/* ---- what lies in a file ------------------------------------------------------- */

/* The file's bytes, and what they say, at once: the first waits for the disk. */
typedef struct two_checks {
    tensor *t;
    ctx *cx, other;
    stc_status bytes, levels;
} two_checks;

static void check_either(void *context, int k)
{
    two_checks *c = context;
    const tensor_backing *b = c->t->backing;
    if (k == 0)
        c->bytes = b->sound(c->cx, b);
    else
        c->levels = check_all(c->t);
}

/* Whether both may go on at once: where there is enough to read, and no code of the host's
 * is called, which needn't know of threads. */
static bool checks_apart(const tensor *t)
{
    enum { APART = 1 << 22 };
    bool own = true;
    for (int l = 0; l < t->fmt.levels; l++)
        own &= level_kind_number(t->level[l].kind) >= 0;
    return own && t->nvals >= (t->cx->grain ? t->cx->grain : APART) && parts_for(t->cx) > 1;
}

static stc_status check_at_once(tensor *t)
{
    ctx *const cx = t->cx;
    const uint64_t steps = cx->steps, checked = t->checked;
    two_checks c = {.t = t, .cx = cx, .other = {.root = cx, .steps = steps}};
    t->cx = &c.other;
    parts_run(2, check_either, &c);
    t->cx = cx;
    cx->steps += c.other.steps - steps;
    if (c.bytes) t->checked = checked;
    if (!c.bytes && c.levels) cx->diag = c.other.diag;
    return c.bytes ? c.bytes : c.levels;
}

/* A file that the arrays lie in is looked at each time, and its bytes once. */
static stc_status check_backed(tensor *t)
{
    ctx *const cx = t->cx;
    const tensor_backing *b = t->backing;
    if (b->present(cx, b)) return cx->diag.status;
    if (t->checked == t->generation) return STC_OK;
    const bool apart = !t->vouched && checks_apart(t);
    if (!t->vouched && !apart && b->sound(cx, b)) return cx->diag.status;
    const stc_status status = apart ? check_at_once(t) : check_all(t);
    if (status != STC_ERR_DATA || cx->diag.file[0]) return status;
    char said[sizeof cx->diag.message];
    memcpy(said, cx->diag.message, sizeof said);
    return fail_file(cx, status, b->path, 0, "%s", said);
}

stc_status tensor_check(tensor *t)
{
    if (t->unmade && make_values(t)) return t->cx->diag.status;
    if (t->backing && !t->backing->left) return check_backed(t);
    return t->checked == t->generation ? STC_OK : check_all(t);
}

stc_status tensor_check_afresh(tensor *t)
{
    t->checked = t->generation - 1;
    return tensor_check(t);
}
