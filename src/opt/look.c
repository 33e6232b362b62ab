/* look.c: what steps stored, beside what was thought of them.
 *
 * A step is known by its factors as written, and by what is left of their indices: so it is
 * found again in another plan of the same statement. Of each there is a row: what it was
 * thought to store, and what it did. Where that is much more or less, and others follow,
 * the run ends behind the step (vm/run), and the statement is planned once more: what is
 * made by then is an operand that costs nothing, and what was counted takes the place of
 * estimates, that of more factors with it. The rows outlive the program, so that the next
 * run begins with a plan that knows.
 *
 * Only one plan is in work at a time: masks of factors are of the product that was looked
 * at last (look_match).
 */
#include "opt.h"
#include <string.h>

/* Otherwise than thought: by so much; and of so few entries planning costs more. */
enum { FACTOR = 8, FEW = 1000 };

/* ---- what a step is ---------------------------------------------------------------- */

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

static uint64_t mix_subscripts(uint64_t h, const affine *sub, int n)
{
    for (int m = 0; m < n; m++) {
        h = mix(h, (uint64_t)sub[m].constant);
        for (int t = 0; t < sub[m].terms; t++)
            h = mix(mix(h, (uint64_t)sub[m].term[t].coef), (uint64_t)sub[m].term[t].index);
    }
    return h;
}

static uint64_t identity(const opt_look *l)
{
    uint64_t h = mix(l->by, l->out);
    for (int k = 0; k < l->n; k++)
        h = mix(h, l->leaf[k]);
    return h;
}

/* Of a tensor: a step is what it computes, whatever its number. */
static bool mix_tensor(const opt *o, uint64_t *h, int slot)
{
    const prog_tensor *t = &o->p->tensor[slot];
    const bool made = t->role == ROLE_TEMP || !*t->name;
    for (int k = 0; k < o->looks->n; k++)
        if (o->looks->row[k].slot == slot) {
            *h = mix(*h, identity(&o->looks->row[k]));
            return true;
        }
    *h = mix(*h, (uint64_t)slot);
    return !made;
}

/* False: it isn't known whether another is the same. */
static bool mix_expression(const opt *o, uint64_t *h, const bexpr *e)
{
    const vclass cls = type_class(e->type);
    *h = mix(*h, (uint64_t)e->kind << 32 | (uint64_t)e->type << 16 | (uint64_t)e->nargs);
    if (e->ufn || e->kind == B_LOCAL || e->kind == B_EXTENT) return false;
    if (e->kind == B_CONST && cls != CLASS_I64 && cls != CLASS_U64 && cls != CLASS_F64)
        return false;
    if (e->kind == B_CONST) *h = mix(*h, e->value.u64);
    if (e->kind == B_INDEX) *h = mix(*h, (uint64_t)e->index);
    if (e->kind == B_CALL || e->kind == B_REDUCE)
        *h = mix(*h, (uint64_t)e->fn << 16 | (uint64_t)e->cls);
    if (e->kind == B_REDUCE) *h = mix(*h, reduce_indices(e));
    if (e->kind == B_ACCESS) {
        if (e->nargs || e->pad || !mix_tensor(o, h, e->tensor)) return false;
        *h = mix_subscripts(*h, e->sub, o->p->tensor[e->tensor].order);
    }
    for (int k = 0; k < e->nargs; k++)
        if (!mix_expression(o, h, e->args[k])) return false;
    return true;
}

/* 0: it can't be told apart from others. */
static uint64_t leaf_of(const opt *o, const factor *f)
{
    uint64_t h = f->where ? 2 : 1;
    return mix_expression(o, &h, f->e) ? h | 1 : 0;
}

static uint64_t function_of(const product *x)
{
    const uint64_t times = x->call ? (uint64_t)x->call->fn + 1 : 0;
    return mix(mix((uint64_t)x->r->fn, times), (uint64_t)x->r->cls << 16 | x->r->type);
}

/* The row that a step of so many of x's factors would have; false: none. */
static bool describe(const opt *o, const product *x, uint64_t of, uint64_t out,
                     opt_look *row)
{
    *row = (opt_look){.by = function_of(x), .out = out, .slot = -1, .stored = -1};
    if (!of || x->r->ufn || (x->call && x->call->ufn)) return false;
    for (; of; of &= of - 1) {
        const uint64_t leaf = leaf_of(o, &x->factor[__builtin_ctzll(of)]);
        int at = row->n;
        if (!leaf || row->n == LOOK_LEAVES) return false;
        for (; at > 0 && row->leaf[at - 1] > leaf; at--)
            row->leaf[at] = row->leaf[at - 1];
        row->leaf[at] = leaf;
        row->n++;
    }
    return true;
}

static opt_look *find(const opt *o, const product *x, uint64_t of, uint64_t out)
{
    opt_look row;
    if (!describe(o, x, of, out, &row)) return NULL;
    for (int k = 0; k < o->looks->n; k++) {
        opt_look *l = &o->looks->row[k];
        if (l->by == row.by && l->out == out && l->n == row.n &&
            !memcmp(l->leaf, row.leaf, sizeof row.leaf))
            return l;
    }
    return NULL;
}

/* ---- while it is planned ----------------------------------------------------------- */

uint64_t look_of(const factor *f, int n)
{
    uint64_t all = 0;
    for (int k = 0; k < n; k++) {
        if (!f[k].of) return 0;
        all |= f[k].of;
    }
    return all;
}

void look_begin(opt *o)
{
    opt_looks **at = o->known ? o->known->looks : NULL;
    o->looks = at && o->known->find ? *at : NULL;
    for (int k = 0; o->looks && k < o->looks->n; k++)
        o->looks->row[k].slot = -1;
}

void look_match(const opt *o, const product *x)
{
    uint64_t leaf[OPT_FACTORS];
    if (!o->looks || !o->looks->n) return;
    for (int k = 0; k < x->n; k++)
        leaf[k] = leaf_of(o, &x->factor[k]);
    for (int k = 0; k < o->looks->n; k++) {
        opt_look *l = &o->looks->row[k];
        l->mask = 0;
        for (int m = 0; m < l->n && l->by == function_of(x); m++)
            for (int i = 0; i < x->n; i++) {
                if (leaf[i] != l->leaf[m] || (l->mask >> i) & 1) continue;
                l->mask |= UINT64_C(1) << i;
                break;
            }
        if (__builtin_popcountll(l->mask) != l->n) l->mask = 0;
    }
}

/* Whether a row's factors are some of these, and not of one that knows of it. */
static bool is_among(const opt_look *l, const factor *f, int n, uint64_t all)
{
    if (!l->mask || (l->mask & ~all)) return false;
    for (int k = 0; k < n; k++)
        if (!(l->mask & ~f[k].of)) return false;
    return true;
}

double look_density(const opt *o, const factor *f, int n, uint64_t out, double density)
{
    const uint64_t all = look_of(f, n);
    double more = 1;
    int most = 0;
    for (int k = 0; all && k < o->looks->n; k++) {
        const opt_look *l = &o->looks->row[k];
        if (l->stored < 0 || l->mask & ~all) continue;
        if (l->mask == all && l->out == out) return l->stored / cost_places(o, out);
        if (!is_among(l, f, n, all) || l->n <= most) continue;
        most = l->n;
        more = (l->stored + 1) / (l->guess + 1);
    }
    return density * more < 1 ? density * more : 1;
}

bool look_made(const opt *o, const factor *f, int n, uint64_t out)
{
    const uint64_t all = o->looks ? look_of(f, n) : 0;
    for (int k = 0; all && k < o->looks->n; k++)
        if (o->looks->row[k].made && o->looks->row[k].mask == all &&
            o->looks->row[k].out == out)
            return true;
    return false;
}

/* ---- steps ------------------------------------------------------------------------- */

/* A tensor that was made before the statement was planned anew, as an operand. */
int given_slot(opt *o, const tensor *made, const int *mode)
{
    const prog_tensor t = {.name = "",
                           .role = ROLE_INPUT,
                           .type = made->type,
                           .order = made->order,
                           .fmt = made->fmt,
                           .fill = made->fill};
    const int slot = program_tensor(o->p, &t);
    for (int m = 0; slot >= 0 && m < made->order; m++) {
        const int n = program_extent(
            o->p, (extent){.op = EXT_DIM, .a = (uint16_t)slot, .b = (uint16_t)m});
        ext_check same = {.rel = REL_EQ, .a = (uint16_t)n, .at = o->s->at};
        same.b = (uint16_t)o->s->index[mode[m]].hi;
        same.text = "what was computed has %a, where there are %a now";
        if (n < 0 || program_check(o->p, same) < 0) return -1;
    }
    return slot;
}

stc_status look_give(opt *o, const product *x, const opt_part *t, factor *out, bool *done)
{
    *done = false;
    const uint64_t of = o->looks ? look_of(t->f, t->n) : 0;
    opt_look *l = of ? find(o, x, of, t->out) : NULL;
    if (!l || !l->made) return STC_OK;
    if (l->slot < 0) l->slot = given_slot(o, l->made, l->mode);
    if (l->slot < 0) return o->p->cx->diag.status;
    const bexpr *read = step_read(o, l->slot, l->mode, x->r->at);
    if (!read) return STC_ERR_MEMORY;
    *out = factor_as_written(o, x, read);
    out->of = of;
    *done = true;
    if (o->why)
        text_add(o->why,
                 "temp has %lld entries, where %.3g were thought: what is left is planned "
                 "anew\n",
                 (long long)l->made->nvals, l->guess);
    return STC_OK;
}

stc_status look_note(opt *o, const product *x, const opt_part *t, const int *mode,
                     opt_step *step)
{
    ctx *cx = o->p->cx;
    const uint64_t of = look_of(t->f, t->n);
    opt_looks **at = o->known ? o->known->looks : NULL;
    step->look = -1;
    if (!at || !o->known->find || !of || cx->deterministic || step->s.nsub == 0)
        return STC_OK;
    if (!*at && !(*at = mem_zero(cx, 1, sizeof **at))) return cx->diag.status;
    o->looks = *at;
    opt_look row, *l = find(o, x, of, t->out);
    if (!l) {
        if (o->looks->n == LOOKS || !describe(o, x, of, t->out, &row)) return STC_OK;
        l = &o->looks->row[o->looks->n++];
        *l = row;
        l->guess = step->stored;
    }
    if (l->stored < 0) l->guess = step->stored;
    if (l->stored >= 0 && o->why)
        text_add(o->why, "%s had %.6g entries before, where %.3g were thought\n",
                 o->p->tensor[step->s.target].name, l->stored, l->guess);
    for (int m = 0; m < step->s.nsub; m++)
        l->mode[m] = mode[m];
    l->slot = step->s.target;
    step->look = (int)(l - o->looks->row);
    return STC_OK;
}

/* Whether a tensor's elements are those that it stores: not so with a place for each. */
static bool counts(const format *f)
{
    return f->levels > 0 && (format_props(f, f->levels - 1) & PROP_COMPACT);
}

/* Whether some index that is known has no values: nothing is as thought then. */
static bool has_nothing(const opt *o)
{
    for (int k = 0; k < o->s->nindex; k++)
        if (cost_range(o, o->s->index[k].hi) < 1) return true;
    return false;
}

void look_limits(opt *o)
{
    if (!o->looks || o->nstep < 2 || has_nothing(o)) return;
    int turn = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < o->nstep; k++) {
            const opt_step *s = &o->step[k];
            prog_tensor *t = &o->p->tensor[s->s.target];
            if (s->steady != (pass == 0)) continue;
            turn++;
            if (s->look < 0) continue;
            o->looks->row[s->look].turn = turn;
            if (turn == o->nstep || o->looks->stops == LOOK_STOPS || !counts(&t->fmt))
                continue;
            const double most = FACTOR * s->stored, least = s->stored / FACTOR;
            if (most > 1e15) continue;
            t->most = most > FEW ? (int64_t)most : FEW;
            t->least = s->stored > FEW ? (int64_t)least : 0;
        }
}

/* ---- runs -------------------------------------------------------------------------- */

void looks_take(opt_looks *l, machine *mc, int stopped)
{
    int turn = 0;
    l->stops++;
    for (int k = 0; k < l->n; k++)
        if (l->row[k].slot == stopped) turn = l->row[k].turn;
    for (int k = 0; k < l->n; k++) {
        opt_look *row = &l->row[k];
        if (row->slot < 0 || row->made || row->turn > turn) continue;
        row->made = machine_take(mc, row->slot);
        if (row->made && counts(&row->made->fmt)) row->stored = (double)row->made->nvals;
    }
}

stc_status looks_bind(const opt_looks *l, machine *mc)
{
    stc_status st = STC_OK;
    for (int k = 0; k < l->n && !st; k++)
        if (l->row[k].made && l->row[k].slot >= 0)
            st = machine_bind(mc, l->row[k].slot, l->row[k].made);
    return st;
}

void looks_end(opt_looks *l)
{
    for (int k = 0; l && k < l->n; k++) {
        tensor_free(l->row[k].made);
        l->row[k].made = NULL;
    }
}

void looks_free(ctx *cx, opt_looks *l)
{
    looks_end(l);
    mem_free(cx, l, l ? sizeof *l : 0);
}
