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
static int chain_of(const affine *a, uint16_t *chain, const linear_place **up)
{
    int n = 0;
    uint16_t at = a->sink.b;
    for (; a->place[at].kind == LINEAR_PLACED; at = a->place[at].up)
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
    const linear_place *up;
    uint16_t chain[LINEAR_PLACES];
    const int n = chain_of(a, chain, &up);
    if (n < 2 || a->nlevel < 2 || a->nrest != 1 || s->lev[levels - 2].insert ||
        !s->lev[levels - 1].insert || (up->kind != LINEAR_ROOT && up->kind != LINEAR_GIVEN))
        return false;
    const int solved = a->level[a->nlevel - 2].solved;
    a->line[0] = (affine_line){.base = 0};
    for (int k = n - 1; k >= 0; k--) {
        const linear_place *x = &a->place[chain[k]];
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

stc_status affine_append_close(machine *mc, gather *g, int keep)
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
    if (affine_append_close(mc, g, same)) return mc->cx->diag.status;
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
    const linear_place *up;
    uint16_t chain[LINEAR_PLACES];
    const int n = chain_of(a, chain, &up);
    a->room = (affine_room){.tensor = s->t};
    g->opened = 0;
    g->nabove = n - 2;
    g->outside = up->kind == LINEAR_ROOT ? NULL : &mc->c[up->cursor];
    for (int k = 0; k < g->nabove; k++) {
        const uint16_t l = a->place[chain[n - 1 - k]].level;
        g->above[k].level = l;
        g->above[k].extent = s->t->level[l].extent;
    }
}

/* Whether coordinates behind the first of a fiber can be written at once. */
static bool in_bulk(const level *lv)
{
    return lv->kind->append_room &&
           (lv->props & (PROP_UNIQUE | PROP_BRANCHLESS)) == PROP_UNIQUE;
}

/* Coordinates x[1] … x[n-1] more than `first`, behind x[0]'s. */
static stc_status append_rest(machine *mc, level *lv, const int32_t *x, int n,
                              int64_t first)
{
    append_room room;
    if (lv->kind->append_room(mc->cx, lv, n - 1, 0, &room)) return mc->cx->diag.status;
    if (room.width == 4) {
        int32_t *to = room.crd;
        for (int k = 1; k < n; k++)
            to[k - 1] = (int32_t)(first + x[k]);
    } else {
        int64_t *to = room.crd;
        for (int k = 1; k < n; k++)
            to[k - 1] = first + x[k];
    }
    lv->kind->append_done(lv, n - 1, 0);
    return STC_OK;
}

/* Rows x[0] … x[n-1] beyond coordinate `first`: as many as could be appended at once, and
 * are added to. */
static int append_some(machine *mc, affine *a, gather_adder *add, gather_rows *r,
                       int64_t first)
{
    gather *g = a->gather;
    slot *s = &mc->slot[a->sink.a];
    const int l = s->row->fmt.levels - 2;
    level *lv = &s->t->level[l];
    const mcursor *up = g->nabove ? &g->above[g->nabove - 1].c : g->outside;
    const int n = r->n > 1 && in_bulk(lv) ? r->n : 1;
    gather_rows some = *r;
    mcursor c;
    if (asm_at(mc, s, l, &c, up, first + r->x[0], a->sink.at)) return 0;
    s->stores += (uint64_t)n;
    if (asm_keep(mc, s, l, &c, a->sink.at) ||
        (n > 1 && append_rest(mc, lv, r->x, n, first)))
        return 0;
    some.to = c.c.at * r->width;
    const int64_t end = some.to + n * r->width;
    if (end > s->t->vals_cap && tensor_reserve_values(s->t, end)) return 0;
    if (s->t->nvals < some.to)
        tensor_fill_to(s->t, some.to); /* places between, as of runs */
    s->t->nvals = end;
    a->out = s->t->vals;
    some.by = 0; /* they are where they were placed */
    some.next = r->width;
    some.fresh = true;
    some.n = n;
    add(a, &some);
    return n;
}

stc_status affine_append_rows(machine *mc, affine *a, gather_adder *add, gather_rows *r)
{
    const slot *s = &mc->slot[a->sink.a];
    const int64_t first = r->to / r->width;
    const int64_t most = s->t->level[s->row->fmt.levels - 2].extent;
    gather_rows left = *r;
    if (open_levels(mc, a->gather, first / most)) return mc->cx->diag.status;
    for (int n; left.n; left.x += n, left.n -= n) {
        n = append_some(mc, a, add, &left, first % most);
        if (!n) return mc->cx->diag.status;
    }
    return STC_OK;
}
