/* shelf.c: what statements of a script have computed on the way, for those that follow.
 *
 * A script's statements are compiled one by one, each with numbers of its own for tensors
 * and indices. So a step is known by a text: its expression, with indices by the order in
 * which they appear and their extents, and operands by name and generation, which is
 * another one when they are given a value. What a run has made of such steps goes onto the
 * shelf; a later statement that needs the same reads it as an operand. The shelf holds no
 * more than a little, what took much more to compute than to keep, and that no longer than
 * the script's text runs (src/session).
 */
#include "opt.h"
#include <string.h>

enum { SHELF_BYTES = 1 << 24, ENTRY_BYTES = 16, STEP_FACTORS = 8 };
static const double worth = 4; /* visits for an entry */

/* ---- what a step is ---------------------------------------------------------------- */

/* Indices in the order in which they appear. */
typedef struct naming {
    int index[BOUND_INDICES], n;
    textbuf text;
} naming;

static int number_of(const naming *in, int index)
{
    int k = 0;
    while (k < in->n && in->index[k] != index)
        k++;
    return k;
}

/* False: it isn't known before it runs. */
static bool exact(const opt *o, int id)
{
    const extent *x = &o->p->ext[id];
    return x->op == EXT_CONST || (x->op == EXT_DIM && stats_tensor(o, x->a));
}

static bool add_index(const opt *o, naming *in, int index)
{
    const bindex *i = &o->s->index[index];
    const int k = number_of(in, index);
    if (k == in->n) {
        if (i->value || i->lo >= 0 || !exact(o, i->hi)) return false;
        in->index[in->n++] = index;
        text_add(&in->text, "%d<%.0f ", k, cost_range(o, i->hi));
    } else {
        text_add(&in->text, "%d ", k);
    }
    return true;
}

static bool add_subscripts(const opt *o, naming *in, const bexpr *e)
{
    for (int m = 0; m < o->p->tensor[e->tensor].order; m++) {
        const affine *sub = &e->sub[m];
        text_add(&in->text, "[%lld ", (long long)sub->constant);
        for (int t = 0; t < sub->terms; t++) {
            text_add(&in->text, "%lld*", (long long)sub->term[t].coef);
            if (!add_index(o, in, sub->term[t].index)) return false;
        }
    }
    return true;
}

static bool add_access(const opt *o, naming *in, const bexpr *e)
{
    const opt_shelf *s = o->known->shelf;
    const prog_tensor *t = &o->p->tensor[e->tensor];
    const tensor *found = *t->name ? stats_tensor(o, e->tensor) : NULL;
    int k = 0;
    while (k < s->n && s->row[k].slot != e->tensor)
        k++;
    if (e->nargs || e->pad || (!found && k == s->n)) return false;
    if (k < s->n)
        text_add(&in->text, "#%llu", (unsigned long long)s->row[k].id);
    else
        text_add(&in->text, "%s@%llu", t->name, (unsigned long long)found->generation);
    return add_subscripts(o, in, e);
}

/* False: it isn't known whether another is the same. */
static bool add(const opt *o, naming *in, const bexpr *e)
{
    const vclass cls = type_class(e->type);
    if (e->ufn || e->kind == B_LOCAL || e->kind == B_EXTENT) return false;
    text_add(&in->text, "(%d %d %d ", (int)e->kind, (int)e->type, e->nargs);
    if (e->kind == B_CONST && cls != CLASS_I64 && cls != CLASS_U64 && cls != CLASS_F64)
        return false;
    if (e->kind == B_CONST) text_add(&in->text, "%llx", (unsigned long long)e->value.u64);
    if (e->kind == B_INDEX && !add_index(o, in, e->index)) return false;
    if (e->kind == B_ACCESS && !add_access(o, in, e)) return false;
    if (e->kind == B_CALL || e->kind == B_REDUCE)
        text_add(&in->text, "%d %d ", e->fn, (int)e->cls);
    for (int k = 0; k < e->nargs; k++)
        if (!add(o, in, e->args[k])) return false;
    uint64_t bound = 0;
    for (int k = 0; e->kind == B_REDUCE && k < e->nindex; k++)
        bound |= UINT64_C(1) << number_of(in, e->indices[k]);
    text_add(&in->text, "%llx)", (unsigned long long)bound);
    return true;
}

static bool text_begin(const opt *o, naming *in, const bexpr *e)
{
    in->n = 0;
    text_init(&in->text, o->p->cx);
    return !e || add(o, in, e);
}

/* Factors by what each of them is alone; false: one of them can't be told, or no memory. */
static bool sort_factors(const opt *o, const opt_part *t, int *order)
{
    char *own[STEP_FACTORS];
    int n = 0;
    for (bool ok = true; ok && n < t->n; n += ok) {
        naming in;
        ok = text_begin(o, &in, t->f[n].e) && !t->f[n].where;
        own[n] = ok ? text_take(&in.text) : NULL;
        text_drop(&in.text);
        if (!own[n]) break;
        int at = n;
        for (; at > 0 && strcmp(own[order[at - 1]], own[n]) > 0; at--)
            order[at] = order[at - 1];
        order[at] = n;
    }
    for (int k = 0; k < n; k++)
        mem_strfree(o->p->cx, own[k]);
    return n == t->n;
}

/* A step's text, NULL: it is none that another is compared with, or no memory. */
static char *text_of(const opt *o, naming *in, const product *x, const opt_part *t)
{
    int order[STEP_FACTORS];
    uint64_t reduced = 0;
    if (t->n > STEP_FACTORS || x->r->ufn || (x->call && x->call->ufn) ||
        !sort_factors(o, t, order))
        return NULL;
    (void)text_begin(o, in, NULL);
    text_add(&in->text, "%d %d %d %d ", x->r->fn, x->call ? x->call->fn : -1,
             (int)x->r->cls, (int)x->r->type);
    for (int k = 0; k < t->n; k++)
        (void)add(o, in, t->f[order[k]].e);
    for (uint64_t set = t->reduced; set; set &= set - 1)
        reduced |= UINT64_C(1) << number_of(in, __builtin_ctzll(set));
    text_add(&in->text, "%llx", (unsigned long long)reduced);
    return text_take(&in->text);
}

/* ---- while a statement is planned --------------------------------------------------- */

static void row_drop(opt_shelf *s, int k)
{
    mem_strfree(s->cx, s->row[k].text);
    tensor_free(s->row[k].t);
    s->n--;
    memmove(&s->row[k], &s->row[k + 1], (size_t)(s->n - k) * sizeof *s->row);
}

void shelf_begin(opt_shelf *s)
{
    for (int k = s->n - 1; k >= 0; k--) {
        s->row[k].slot = -1;
        if (!s->row[k].t) row_drop(s, k);
    }
}

stc_status shelf_give(opt *o, const product *x, const opt_part *t, factor *out, bool *done)
{
    opt_shelf *s = o->known ? o->known->shelf : NULL;
    ctx *cx = o->p->cx;
    naming in;
    *done = false;
    if (!s || !s->n) return STC_OK;
    char *text = text_of(o, &in, x, t);
    if (!text) return cx->diag.status;
    int k = 0, mode[STC_MAX_ORDER];
    while (k < s->n && (!s->row[k].t || strcmp(s->row[k].text, text) != 0 ||
                        (o->pattern && !s->row[k].pattern)))
        k++;
    mem_strfree(cx, text);
    if (k == s->n) return STC_OK;
    opt_shelved *row = &s->row[k];
    for (int m = 0; m < row->t->order; m++)
        mode[m] = in.index[row->mode[m]];
    if (row->slot < 0) row->slot = given_slot(o, row->t, mode);
    if (row->slot < 0) return cx->diag.status;
    const bexpr *read = step_read(o, row->slot, mode, x->r->at);
    if (!read) return STC_ERR_MEMORY;
    const double stored = (double)row->t->nvals, places = cost_places(o, t->out);
    *out = factor_as_written(o, x, read);
    if (!out->full) out->density = stored < places ? stored / places : 1;
    out->of = look_of(t->f, t->n);
    o->reads_earlier = s->read = *done = true;
    return STC_OK;
}

stc_status shelf_note(opt *o, const product *x, const opt_part *t, const int *mode,
                      const opt_step *step)
{
    opt_shelf *s = o->known ? o->known->shelf : NULL;
    const double bytes = ENTRY_BYTES * step->stored;
    naming in;
    if (!s || !s->keeps || s->n == SHELVED || step->visits < worth * step->stored ||
        bytes > SHELF_BYTES)
        return STC_OK;
    char *text = text_of(o, &in, x, t);
    if (!text) return o->p->cx->diag.status;
    opt_shelved *row = &s->row[s->n++];
    *row = (opt_shelved){
        .text = text, .slot = step->s.target, .id = ++s->made, .pattern = step->pattern};
    for (int m = 0; m < step->s.nsub; m++)
        row->mode[m] = (uint8_t)number_of(&in, mode[m]);
    return STC_OK;
}

/* ---- runs -------------------------------------------------------------------------- */

stc_status shelf_bind(const opt_shelf *s, machine *mc)
{
    stc_status st = STC_OK;
    for (int k = 0; k < s->n && !st; k++)
        if (s->row[k].t && s->row[k].slot >= 0)
            st = machine_bind(mc, s->row[k].slot, s->row[k].t);
    return st;
}

/* The oldest go, if there is too much. */
void shelf_take(opt_shelf *s, machine *mc)
{
    const uint64_t cap = s->cx->max_memory / 8;
    const double most = cap && cap < SHELF_BYTES ? (double)cap : SHELF_BYTES;
    double bytes = 0;
    for (int k = s->n - 1; k >= 0; k--) {
        opt_shelved *row = &s->row[k];
        if (!row->t && row->slot >= 0) row->t = machine_take(mc, row->slot);
        if (row->t) bytes += ENTRY_BYTES * (double)row->t->nvals;
        row->slot = -1;
        if (!row->t || bytes > most) row_drop(s, k);
    }
    if (s->n == SHELVED) row_drop(s, 0);
}

void shelf_free(opt_shelf *s)
{
    while (s->n)
        row_drop(s, s->n - 1);
    s->read = false;
}
