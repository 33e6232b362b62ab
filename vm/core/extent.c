/* extent.c: extents are expressions over the shapes of what is bound.
 *
 * Takes a machine with its inputs bound, and gives mc->ext, every value
 * checked for overflow, and every relation between them (an access that would
 * leave its tensor, ranges that don't agree) as an error with its place.
 */
#include "machine.h"

static stc_status overflow(machine *mc)
{
    return fail(mc->cx, STC_ERR_OVERFLOW, "an extent is more than 64 bits can count");
}

static const char *name_of(const prog_tensor *row)
{
    return row->name[0] ? row->name : "a temporary";
}

/* The size of a mode: the bound tensor's own, or what the program says of its results (an
 * earlier extent). Operands are bound by now. */
static stc_status dim(machine *mc, int id, int t, int mode, int64_t *out)
{
    const slot *s = &mc->slot[t];
    if (s->bound) {
        *out = s->bound->shape[mode];
        return STC_OK;
    }
    if (s->row->shape[mode] >= id)
        return fail(mc->cx, STC_ERR_ARGUMENT, "tensor %s is not bound", name_of(s->row));
    *out = mc->ext[s->row->shape[mode]];
    return STC_OK;
}

static stc_status evaluate(machine *mc, int id, int64_t *out)
{
    const extent *e = &mc->p->ext[id];
    const int64_t *x = mc->ext;
    if (e->op == EXT_DIM) return dim(mc, id, e->a, e->b, out);
    *out = 0;
    if (e->op == EXT_SPAN) return STC_OK;
    const int64_t a = e->op == EXT_CONST ? 0 : x[e->a], b = extent_of_two(e) ? x[e->b] : 0;
    return extent_value(e, a, b, out) ? STC_OK : overflow(mc);
}

/* The check's text with %a and %b replaced. */
static stc_status broken(machine *mc, const ext_check *c)
{
    textbuf t;
    text_init(&t, mc->cx);
    for (const char *s = c->text; *s; s++) {
        if (s[0] == '%' && (s[1] == 'a' || s[1] == 'b')) {
            s++;
            text_add(&t, "%lld", (long long)mc->ext[*s == 'a' ? c->a : c->b]);
        } else {
            text_add(&t, "%c", *s);
        }
    }
    char *text = text_take(&t);
    if (!text) return mc->cx->diag.status;
    const program *p = mc->p;
    stc_status status =
        p->source ? fail_text(mc->cx, STC_ERR_SHAPE, p->file, p->source, c->at, "%s", text)
                  : fail(mc->cx, STC_ERR_SHAPE, "%s", text);
    mem_strfree(mc->cx, text);
    return status;
}

/* Every loop's coordinates can be counted in 64 bits: checked here, once for the run. */
static stc_status ranges(machine *mc)
{
    const program *p = mc->p;
    for (int k = 0; k < p->nmerge; k++) {
        const merge_desc *m = &p->merge[k];
        if (m->lo == ROOT || m->lo >= p->next || m->hi >= p->next) continue;
        const int64_t lo = mc->ext[m->lo], hi = mc->ext[m->hi];
        int64_t n;
        if (lo < hi && __builtin_sub_overflow(hi, lo, &n)) return overflow(mc);
    }
    return STC_OK;
}

stc_status machine_extents(machine *mc)
{
    const program *p = mc->p;
    bool settled = true;
    for (int i = 0; i < p->next; i++) {
        stc_status status = evaluate(mc, i, &mc->ext[i]);
        if (status) return status;
        settled &= p->ext[i].op != EXT_SPAN; /* these are found out on the way */
    }
    for (int i = 0; i < p->ncheck; i++) {
        const ext_check *c = &p->check[i];
        int64_t a = mc->ext[c->a], b = mc->ext[c->b];
        if (c->rel == REL_EQ ? a != b : a > b) return broken(mc, c);
    }
    const stc_status status = ranges(mc);
    mc->settled = settled && !status;
    return status;
}
