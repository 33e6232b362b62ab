/* linear.c: integers and cursors of a nest as linear in the indices of its loops. */
#include "linear.h"
#include "../code/text.h"
#include <string.h>

enum { FORM_UNSET, FORM_KNOWN, FORM_UNKNOWN };

size_t linear_size(const program *p)
{
    const size_t known = ((size_t)p->ni + 1) / 2; /* in pairs */
    return (size_t)p->ni * sizeof(linear_form) +
           (known + (size_t)(p->nv + p->nc)) * sizeof(uint16_t);
}

void linear_begin(linear *l, const machine *mc, linear_place *places, void *room)
{
    const program *p = mc->p;
    *l = (linear){.mc = mc, .form = room, .place = places, .nplace = 1};
    l->v = (uint16_t *)(l->form + p->ni);
    l->at = l->v + p->nv;
    l->known = (uint8_t *)(l->at + p->nc);
    memset(l->v, 0xff, (size_t)(p->nv + p->nc) * sizeof *l->v);
    memset(l->known, FORM_UNSET, (size_t)p->ni);
    if (places) places[0] = (linear_place){.kind = LINEAR_ROOT};
}

/* ---- forms ----------------------------------------------------------------------- */

static linear_form *set_form(linear *l, uint16_t reg)
{
    l->known[reg] = FORM_KNOWN;
    l->form[reg] = (linear_form){.k = 0};
    return &l->form[reg];
}

void linear_index(linear *l, uint16_t reg, int d)
{
    if (d < LINEAR_INDICES)
        set_form(l, reg)->coef[d] = 1;
    else
        l->known[reg] = FORM_UNKNOWN;
}

const linear_form *linear_form_of(linear *l, uint16_t reg)
{
    if (l->known[reg] == FORM_UNSET) {
        linear_form *x = set_form(l, reg);
        x->live = 1;
        x->reg[0] = reg;
        x->times[0] = 1;
    }
    return l->known[reg] == FORM_KNOWN ? &l->form[reg] : NULL;
}

bool linear_add(linear_form *out, const linear_form *x, int64_t k)
{
    bool fits = add_product(&out->k, x->k, k);
    for (int d = 0; d < LINEAR_INDICES; d++)
        fits &= add_product(&out->coef[d], x->coef[d], k);
    for (int r = 0; r < x->live; r++) {
        if (out->live == LINEAR_LIVE) return false;
        out->reg[out->live] = x->reg[r];
        out->times[out->live] = 0;
        fits &= add_product(&out->times[out->live++], x->times[r], k);
    }
    return fits;
}

void linear_integer(linear *l, const insn *in)
{
    const constant *konst = l->mc->p->konst;
    const uint16_t *a = in->arg;
    linear_form made = {.k = 0};
    bool known = !l->branches;
    if (op_at(in->op)->operands[0] != 'I') return;
    if (in->op == OP_ICONST) {
        made.k = konst[a[1]].v.i64;
    } else if (in->op == OP_IMULADD) {
        const linear_form *x = linear_form_of(l, a[1]), *y = linear_form_of(l, a[3]);
        const int64_t k = konst[a[2]].v.i64;
        const bool fits = x && y && linear_add(&made, y, 1) && linear_add(&made, x, k);
        l->full |= x && y && !fits; /* base operations may fail there */
        known &= fits;
    } else {
        known = false;
    }
    l->form[a[0]] = made;
    l->known[a[0]] = known ? FORM_KNOWN : FORM_UNKNOWN;
}

/* ---- places ---------------------------------------------------------------------- */

static uint16_t new_place(linear *l, linear_place x)
{
    if (l->nplace == LINEAR_PLACES) { /* over the last one, which may be its parent */
        l->full = true;
        l->nplace--;
        x.up = 0;
    }
    l->place[l->nplace] = x;
    return (uint16_t)l->nplace++;
}

uint16_t linear_place_of(linear *l, uint16_t reg)
{
    if (reg == ROOT) return 0;
    if (l->at[reg] == LINEAR_UNSET)
        l->at[reg] = new_place(l, (linear_place){.kind = LINEAR_GIVEN, .cursor = reg});
    return l->at[reg];
}

/* Level `level` of tensor t below cursor `up`, at coef * index d + shift (d < 0: none). */
static bool stand(linear *l, linear_kind kind, const uint16_t *a, uint16_t shift, int d,
                  int64_t coef)
{
    linear_place x = {.kind = (uint8_t)kind, .tensor = a[1], .level = a[2], .cursor = ROOT};
    x.up = linear_place_of(l, a[3]);
    if (shift != ROOT) {
        const linear_form *f = linear_form_of(l, shift);
        if (!f) return false;
        x.at = *f;
    }
    if (d >= 0) x.at.coef[d] = coef;
    l->at[a[0]] = new_place(l, x);
    return true;
}

/* The place at which loop d walks a cursor, opened in the nest or before it; 0: none. */
static uint16_t walked(linear *l, uint16_t reg, int d)
{
    const uint16_t at = linear_place_of(l, reg);
    linear_place *x = &l->place[at];
    if (x->kind == LINEAR_GIVEN) { /* its coefficient and shift are its cursor's */
        l->shifted = true;
        x->at.coef[d] = 1;
    } else if (x->kind == LINEAR_OPEN) {
        x->at.coef[d] = x->cursor == ROOT ? 1 : l->mc->p->konst[x->cursor].v.i64;
        x->cursor = ROOT;
    } else {
        return 0;
    }
    x->kind = LINEAR_WALKED;
    return at;
}

static bool over_subsections(const linear *l, uint16_t reg)
{
    return l->at[reg] == LINEAR_UNSET ? l->mc->c[reg].subsections
                                      : l->place[l->at[reg]].kind == LINEAR_SUBSECT;
}

bool linear_merge(linear *l, const merge_desc *m, int d, uint16_t *to)
{
    for (int b = 0; b < m->count; b++) {
        const merge_operand *o = &m->operand[b];
        const uint16_t a[] = {o->cursor, o->tensor, o->level, o->up};
        if (o->cursor == ROOT) return false;
        to[b] = 0;
        if (operand_walks(o) && over_subsections(l, o->cursor)) continue;
        if (o->role == MERGE_LOCATE) {
            l->shifted |= o->coef != 1 || o->shift != ROOT;
            if (!stand(l, LINEAR_DENSE, a, o->shift, d, o->coef)) return false;
        } else if (operand_walks(o) && !walked(l, o->cursor, d)) {
            return false;
        }
        to[b] = linear_place_of(l, o->cursor);
    }
    return true;
}

bool linear_step(linear *l, const insn *in)
{
    const uint16_t *a = in->arg;
    switch (in->op) {
    case OP_ICONST:
    case OP_IEXTENT:
    case OP_IMULADD:
        linear_integer(l, in);
        return true;
    case OP_SUBSECT:
        l->at[a[0]] = new_place(l, (linear_place){.kind = LINEAR_SUBSECT});
        return true;
    case OP_SEEK:
        return l->at[a[0]] != LINEAR_UNSET && l->place[l->at[a[0]]].kind == LINEAR_SUBSECT;
    case OP_OPEN:
        return stand(l, LINEAR_OPEN, a, ROOT, -1, 0);
    case OP_OPENAT:
        l->shifted = true;
        if (!stand(l, LINEAR_OPEN, a, a[4], -1, 0)) return false;
        /* what the loop's index will be taken times of */
        l->place[l->at[a[0]]].cursor = a[5];
        return true;
    case OP_LOCATE:
        return stand(l, LINEAR_DENSE, a, a[4], -1, 0);
    case OP_AT:
        return stand(l, LINEAR_PLACED, a, a[4], -1, 0);
    default:
        return false;
    }
}
