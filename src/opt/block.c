/* block.c: left sides that name a block of a tensor which has a place for each coordinate:
 * D(k,j) = e with a scalar k, K(i+1,j) = e, x(i(0:n:2)) += e.
 *
 * What is assigned becomes a statement of its own, values(one,j) = e, over the left side's
 * indices, and one of a single value for each mode that has none: so it is computed as any
 * whole result is, and before anything of the target changes. The block takes it over then
 * (BLOCK in vm/code/opcodes.def). Where op= leaves most of what is named as it was, the
 * values are few, and written one by one (plan/update.c).
 */
#include "opt.h"
#include <string.h>

/* Whether a subscript is a scalar: no loop changes it. */
static bool is_scalar(const program *p, const bstmt *s, const affine *f)
{
    const bexpr *const by = f->terms ? s->index[f->term[0].index].value : NULL;
    return !f->terms || (by && affine_is_bare(f) && !opt_indices(p, by));
}

/* Whether e may be something for but some of the coordinates: it reads what leaves some
 * out, below a reduction what leaves rows out. */
static bool visits_few(const program *p, const bexpr *e, bool reduced)
{
    bool few = false;
    if (e->kind == B_ACCESS) {
        const format *const f = &p->tensor[e->tensor].fmt;
        few = reduced ? f->levels && !(format_props(f, 0) & PROP_FULL)
                      : !format_stores_all(f);
    }
    for (int k = 0; k < e->nargs && !few; k++)
        few = visits_few(p, e->args[k], reduced || e->kind == B_REDUCE);
    return few;
}

/* Whether elements and values can be combined in the class of the target's. */
static bool combines(const program *p, const bstmt *s)
{
    const stc_type type = p->tensor[s->target].type;
    const vclass cls = type_class(type);
    return s->op < 0 ||
           (type_class(s->value->type) == cls && fn_at(s->op)->arity == 2 &&
            fn_scalar_of(s->op, cls) && fn_result_class(s->op, cls) == cls &&
            fn_operand_class(s->op, cls, 1) == cls && fn_at(s->op)->typing != TY_LOGIC &&
            !visits_few(p, s->value, false));
}

bool block_may(const program *p, const bstmt *s)
{
    uint64_t seen = 0;
    if (s->whole || s->fresh || s->mask || s->schedule || s->block ||
        s->nindex + s->nsub > BOUND_INDICES || p->tensor[s->target].fill_later ||
        !format_inserts(&p->tensor[s->target].fmt) || !combines(p, s))
        return false;
    for (int m = 0; m < s->nsub; m++) {
        const affine *const f = &s->sub[m];
        if (is_scalar(p, s, f)) continue;
        const int i = f->term[0].index;
        if (f->terms != 1 || s->index[i].value || s->index[i].lo >= 0 || (seen >> i) & 1)
            return false;
        seen |= UINT64_C(1) << i;
    }
    return seen != 0;
}

/* An index of one value. */
static bool index_of_one(program *p, bstmt *s)
{
    const int hi = program_extent(p, (extent){.op = EXT_CONST, .k = 1});
    s->index[s->nindex++] = (bindex){.name = "one", .lo = -1, .hi = hi, .at = s->at};
    return hi >= 0;
}

stc_status block_apart(arena *a, program *p, bstmt *s, bstmt *values)
{
    const prog_tensor *const to = &p->tensor[s->target];
    prog_tensor t = {.name = "values",
                     .role = ROLE_TEMP,
                     .type = s->op < 0 ? to->type : class_type(type_class(to->type)),
                     .order = to->order,
                     .fmt = to->fmt};
    bindex *const index = arena_array(a, s->nindex + s->nsub, sizeof *index);
    int own[STC_MAX_ORDER];
    if (!index) return STC_ERR_MEMORY;
    memcpy(index, s->index, (size_t)s->nindex * sizeof *index);
    s->index = index;
    for (int m = 0; m < s->nsub; m++) {
        const bool scalar = is_scalar(p, s, &s->sub[m]);
        own[m] = scalar ? s->nindex : s->sub[m].term[0].index;
        if (scalar && !index_of_one(p, s)) return STC_ERR_MEMORY;
        t.shape[m] = (uint16_t)s->index[own[m]].hi;
    }
    const int slot = program_tensor(p, &t);
    affine *const sub = slot < 0 ? NULL : bare_subs(a, own, s->nsub);
    bexpr *const read = sub ? expr_access(a, p, slot, sub, s->at) : NULL;
    bexpr *const e = expr_conv(a, s->value, t.type);
    if (!read || !e) return STC_ERR_MEMORY;
    *values = (bstmt){.at = s->at,
                      .target = slot,
                      .nsub = s->nsub,
                      .sub = sub,
                      .bare = true,
                      .whole = true,
                      .fresh = true,
                      .format_given = true,
                      .fill_given = true,
                      .op = -1,
                      .value = e,
                      .nindex = s->nindex,
                      .index = s->index};
    s->value = read;
    s->block = true;
    return STC_OK;
}
