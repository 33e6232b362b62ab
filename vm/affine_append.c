/* affine_append.c: rows that are gathered (affine_gather.c) into a result that stores only
 * those with something in them: a level appends their coordinates, one below holds a row
 * at each.
 *
 *     C(n,h,w,f) = A(n,h+r,w+q,c) * F(r,q,c,f)      C: dense, compressed, compressed, dense
 *
 * Rows come in the order of their coordinates anyway. A row's place is counted as if all
 * levels were dense; its coordinates are read off that, and placed and kept as the program
 * would (assemble.c): a row to which no entry leads leaves no trace.
 */
#include "affine_gather.h"

/* The levels that the nest places, the last one first; the one it stands below. */
static int chain_of(const affine *a, uint16_t *chain, const affine_place **up)
{
    int n = 0;
    uint16_t at = a->sink.b;
    for (; a->place[at].kind == AFFINE_PLACED; at = a->place[at].up)
        chain[n++] = at;
    *up = &a->place[at];
    return n;
}

/* Whether the index that the operand doesn't have is all of a level's coordinate, and
 * reaches all of them. */
static bool whole_rows(const affine *a, const affine_line *x, const level *lv)
{
    const int d = a->rest[0];
    for (int k = 0; k < a->nindex; k++)
        if (x->coef[k] != (k == d)) return false;
    return x->base == 0 && a->lo[d] == 0 && a->hi[d] == lv->extent;
}

/* Whether coordinate x grows with index d, by one, and with no other. */
static bool follows(const affine *a, const affine_line *x, int d)
{
    for (int k = 0; k < a->nindex; k++)
        if (x->coef[k] != (k == d)) return false;
    return true;
}

bool affine_append_ready(const machine *mc, affine *a)
{
    const slot *s = &mc->slot[a->sink.a];
    const int levels = s->row->fmt.levels;
    const affine_place *up;
    uint16_t chain[AFFINE_PLACES];
    const int n = chain_of(a, chain, &up);
    if (n < 2 || a->nlevel < 2 || a->nrest != 1 || s->lev[levels - 2].insert ||
        !s->lev[levels - 1].insert || (up->kind != AFFINE_ROOT && up->kind != AFFINE_GIVEN))
        return false;
    const int solved = a->level[a->nlevel - 2].solved;
    a->line[0] = (affine_line){.base = 0};
    for (int k = n - 1; k >= 0; k--) {
        const affine_place *x = &a->place[chain[k]];
        const level *lv = &s->t->level[x->level];
        affine_line here;
        if (lv->base || !affine_line_of(mc, &x->at, &here) ||
            !affine_within(a, &here, 0, lv->extent) ||
            !affine_descend(&a->line[0], lv->extent, &here, 0))
            return false;
        if (k == 0   ? !whole_rows(a, &here, lv)
            : k == 1 ? !follows(a, &here, solved)
                     : here.coef[solved] || here.coef[a->rest[0]])
            return false;
    }
    return true;
}

/* Closes all but the first `keep` levels above the rows'. */
static stc_status close_levels(machine *mc, gather *g, int keep)
{
    slot *s = &mc->slot[g->a->sink.a];
    for (; g->opened > keep; g->opened--) {
        const int k = g->opened - 1;
        if (asm_keep(mc, s, g->above[k].level, &g->above[k].c, g->a->sink.at))
            return mc->cx->diag.status;
    }
    return STC_OK;
}

/* Opens the levels above the rows' at those coordinates that place `to` has. */
static stc_status open_levels(machine *mc, gather *g, int64_t to)
{
    slot *s = &mc->slot[g->a->sink.a];
    int64_t coord[STC_MAX_ORDER];
    int same = 0;
    for (int k = g->nabove - 1; k >= 0; k--) {
        coord[k] = to % g->above[k].extent;
        to /= g->above[k].extent;
    }
    while (same < g->opened && g->above[same].c.c.coord == coord[same])
        same++;
    if (close_levels(mc, g, same)) return mc->cx->diag.status;
    for (; g->opened < g->nabove; g->opened++) {
        const int k = g->opened;
        if (asm_at(mc, s, g->above[k].level, &g->above[k].c,
                   k ? &g->above[k - 1].c : g->outside, coord[k], g->a->sink.at))
            return mc->cx->diag.status;
    }
    return STC_OK;
}

void affine_append_begin(machine *mc, affine *a)
{
    gather *g = a->gather;
    const slot *s = &mc->slot[a->sink.a];
    const affine_place *up;
    uint16_t chain[AFFINE_PLACES];
    const int n = chain_of(a, chain, &up);
    a->room = (affine_room){.tensor = s->t};
    g->opened = 0;
    g->nabove = n - 2;
    g->outside = up->kind == AFFINE_ROOT ? NULL : &mc->c[up->cursor];
    for (int k = 0; k < g->nabove; k++) {
        const uint16_t l = a->place[chain[n - 1 - k]].level;
        g->above[k].level = l;
        g->above[k].extent = s->t->level[l].extent;
    }
}

stc_status affine_append_rows(machine *mc, affine *a, gather_adder *add, gather_rows *r)
{
    gather *g = a->gather;
    slot *s = &mc->slot[a->sink.a];
    const int l = s->row->fmt.levels - 2;
    const int64_t first = r->to / r->width, most = s->t->level[l].extent;
    const int32_t *x = r->x;
    const int64_t n = r->n;
    mcursor c;
    if (open_levels(mc, g, first / most)) return mc->cx->diag.status;
    const mcursor *up = g->nabove ? &g->above[g->nabove - 1].c : g->outside;
    gather_rows one = *r;
    one.by = 0; /* it is where the row was placed */
    one.fresh = true;
    one.n = 1;
    for (int64_t k = 0; k < n; k++) {
        if (asm_at(mc, s, l, &c, up, first % most + x[k], a->sink.at))
            return mc->cx->diag.status;
        one.to = c.c.at * r->width;
        one.x = &x[k];
        s->stores++;
        if (asm_keep(mc, s, l, &c, a->sink.at) ||
            (one.to + r->width > s->t->vals_cap &&
             tensor_reserve_values(s->t, one.to + r->width)))
            return mc->cx->diag.status;
        s->t->nvals = one.to + r->width;
        a->out = s->t->vals;
        add(a, &one);
    }
    return STC_OK;
}

stc_status affine_append_end(machine *mc, affine *a)
{
    return close_levels(mc, a->gather, 0);
}
