/* api_split.c: programs in parts for machines that share no memory: how a program is split
 * by an index (vm/threads/split.h finds out), the program of one part, and where to cut a
 * tensor so that parts have about the same work.
 */
#include "api.h"
#include "../../vm/threads/split.h"
#include <string.h>

/* What split_find gives, in one block. */
typedef struct found {
    split_row *row;
    bool *chosen;
    arena a;
} found;

static stc_status find(const stc_program *w, const char *name, int mode, found *out)
{
    ctx *cx = &w->m->cx;
    const program *p = w->p;
    if (!name) return fail_null(cx, "name");
    int of = program_input(p, name);
    if (of < 0) of = program_output(p, name);
    if (of < 0)
        return fail(cx, STC_ERR_ARGUMENT, "the program has no tensor named %s", name);
    if (mode < 0 || mode >= p->tensor[of].order)
        return fail(cx, STC_ERR_ARGUMENT, "%s has %d modes, and no mode %d", name,
                    p->tensor[of].order, mode);
    arena_init(&out->a, cx);
    out->row = arena_array(&out->a, 2 * p->ntensor + 1, sizeof *out->row);
    out->chosen = arena_array(&out->a, w->mc->nloop + 1, sizeof *out->chosen);
    stc_status st = cx->diag.status;
    if (!st) st = split_find(w->mc, of, mode, out->row, out->chosen);
    if (st) arena_free(&out->a);
    return st;
}

static stc_split tell(const program *p, const split_row *row, const char *name, bool result)
{
    const int t = result ? program_output(p, name) : program_input(p, name);
    const split_row *r = &row[result ? t : p->ntensor + t];
    stc_split out = {.name = p->tensor[t].name, .is_result = result};
    out.mode = r->mode;
    out.coef = r->coef;
    out.before = r->before;
    out.after = r->after;
    if (r->how == SPLIT_WHOLE && r->along) {
        out.along = p->tensor[r->along - 1].name;
        out.along_mode = r->along_mode;
    }
    if (r->how == SPLIT_WHOLE) return out;
    if (r->how == SPLIT_SUM) {
        out.how = STC_SPLIT_REDUCE;
        out.fn = fn_at(r->fn)->name;
        return out;
    }
    out.how = STC_SPLIT_CUT;
    return out;
}

stc_status stc_program_split(const stc_program *w, const char *name, int mode,
                             stc_split *rows, int room, int *count)
{
    if (!w) return STC_ERR_ARGUMENT;
    ctx *cx = &w->m->cx;
    bool result;
    int n = 0;
    while (stc_program_name(w, n, &result))
        n++;
    API_ENTER(cx);
    found f;
    const stc_status st = find(w, name, mode, &f);
    if (st) return st;
    for (int k = 0; rows && k < n && k < room; k++) {
        const char *of = stc_program_name(w, k, &result);
        rows[k] = tell(w->p, f.row, of, result);
    }
    if (count) *count = n;
    arena_free(&f.a);
    return STC_OK;
}

/* ---- one part ----------------------------------------------------------------------- */

/* Ranges end where they did, if that is earlier. */
static int at_most(program *part, int hi, int64_t k)
{
    const int limit = program_extent(part, (extent){.op = EXT_CONST, .k = k});
    if (limit < 0) return -1;
    return program_extent(part,
                          (extent){.op = EXT_MIN, .a = (uint16_t)hi, .b = (uint16_t)limit});
}

static stc_status narrow_to(const stc_program *w, const bool *chosen, int64_t lo,
                            int64_t hi, program *part)
{
    for (int k = 0; k < w->mc->nloop; k++) {
        if (!chosen[k]) continue;
        insn *in = &part->code[w->mc->origin[w->mc->loops[k].first]];
        const int whole = part->merge[in->arg[2]].hi;
        const int begin = at_most(part, whole, lo), end = at_most(part, whole, hi);
        const int g = program_merge(part, &part->merge[in->arg[2]]);
        if (begin < 0 || end < 0 || g < 0) return part->cx->diag.status;
        part->merge[g].lo = (uint16_t)begin;
        part->merge[g].hi = (uint16_t)end;
        in->arg[2] = (uint16_t)g;
    }
    return STC_OK;
}

stc_status stc_program_part(const stc_program *w, const char *name, int mode, int64_t lo,
                            int64_t hi, stc_program **out)
{
    API_CALL(w, &w->m->cx);
    if (!out) return fail_null(cx, "out");
    if (lo < 0 || hi < lo)
        return fail(cx, STC_ERR_ARGUMENT, "a part from %lld to %lld", (long long)lo,
                    (long long)hi);
    found f;
    stc_status st = find(w, name, mode, &f);
    if (st) return st;
    void *bytes = NULL;
    size_t size;
    program *part = NULL;
    if (!(st = program_encode(w->p, &bytes, &size))) {
        st = program_decode(cx, bytes, size, &part);
        mem_free(cx, bytes, size);
    }
    if (!st) st = narrow_to(w, f.chosen, lo, hi, part);
    if (!st) part->notation = false; /* the text is of the whole */
    arena_free(&f.a);
    if (!st) return program_adopt(w->m, part, 0, out);
    program_free(part);
    return st;
}

/* ---- tensors cut ---------------------------------------------------------------- */

typedef struct tally {
    int mode, parts;
    const int64_t *bound;
    int64_t *count; /* a place each; or a part each, where there are bounds */
} tally;

static int tally_one(void *context, const int64_t *coords, stc_value v)
{
    tally *t = context;
    int64_t i = coords[t->mode];
    (void)v;
    if (t->bound) {
        int lo = -1, hi = t->parts; /* the last bound that isn't behind it */
        while (hi - lo > 1) {
            const int mid = lo + (hi - lo) / 2;
            if (t->bound[mid] <= i) {
                lo = mid;
            } else {
                hi = mid;
            }
        }
        if (lo < 0 || i >= t->bound[lo + 1]) return 0;
        i = lo;
    }
    t->count[i]++;
    return 0;
}

static stc_status cut_of(const stc_tensor *t, int mode, int parts, const void *out)
{
    if (!out) return fail_null(t->cx, "bound or count");
    if (mode < 0 || mode >= t->order)
        return fail(t->cx, STC_ERR_ARGUMENT, "the tensor has %d modes, and no mode %d",
                    t->order, mode);
    if (parts < 1) return fail(t->cx, STC_ERR_ARGUMENT, "%d parts", parts);
    return t->checked == t->generation || t->vouched ? STC_OK
                                                     : tensor_check((stc_tensor *)t);
}

stc_status stc_tensor_bounds(const stc_tensor *t, int mode, int parts, int64_t unit,
                             int64_t *bound)
{
    API_CALL(t, t->cx);
    stc_status st = cut_of(t, mode, parts, bound);
    if (!st && unit < 1)
        st = fail(t->cx, STC_ERR_ARGUMENT, "a step of %lld", (long long)unit);
    if (st) return st;
    const int64_t n = t->shape[mode];
    int64_t *count = mem_zero(t->cx, n + 1, sizeof *count), all = 0, so_far = 0, at = 0;
    if (!count) return t->cx->diag.status;
    tally to = {.mode = mode, .count = count};
    if (!(st = tensor_visit(t, tally_one, &to))) {
        for (int64_t i = 0; i < n; i++)
            all += count[i];
        for (int k = 0; k < parts; k++) {
            const double want = (double)all * k / parts;
            while (at < n && (double)so_far < want)
                so_far += count[at++];
            int64_t cut = all ? at : n / parts * k + n % parts * k / parts;
            cut = (cut + unit / 2) / unit * unit;
            bound[k] = !k ? 0 : cut > n ? n : cut;
        }
        bound[parts] = n;
    }
    mem_free(t->cx, count, (size_t)(n + 1) * sizeof *count);
    return st;
}

stc_status stc_tensor_counts(const stc_tensor *t, int mode, int parts, const int64_t *bound,
                             int64_t *count)
{
    API_CALL(t, t->cx);
    stc_status st = cut_of(t, mode, parts, count);
    if (!st && !bound) st = fail_null(t->cx, "bound");
    if (st) return st;
    tally to = {mode, parts, bound, count};
    memset(count, 0, (size_t)parts * sizeof *count);
    return tensor_visit(t, tally_one, &to);
}
