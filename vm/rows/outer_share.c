/* outer_share.c: columns for the values of a nest by lanes: one that isn't read any more
 * leaves its column to the next, so that what a row's part needs stays in the nearest
 * cache. (Linear scan: Poletto and Sarkar, TOPLAS 1999, for straight-line code.)
 *
 * Values that are written in several places, or read in a loop further in, keep a column
 * of their own; so do constants, which are written out once and for all, and what is
 * loaded, which is seldom in a column, and may be read late (outer_fold.c).
 */
#include "outer.h"

typedef struct life {
    int loop, last; /* the loop in which it is written; the op that reads it last */
    bool alone;     /* it shares its column with nobody                         */
    bool lasts;     /* … and may be read in other rounds, or loops              */
    bool loaded;    /* nothing but loads writes it                              */
    bool constant;  /* nothing but constants does                               */
} life;

static bool writes(const outer_op *x)
{
    return x->kind != OUTER_LOOP && x->kind != OUTER_STORE && x->kind != OUTER_ACC;
}

/* What the ops of loop d, from … end-1, do with each value. */
static void live(outer *o, int from, int end, int d, life *of)
{
    for (int k = from; k < end; k++) {
        outer_op *x = &o->op[k];
        if (x->kind == OUTER_LOOP) {
            live(o, k + 1, x->end, x->a, of);
            k = x->end - 1;
            continue;
        }
        for (int j = 0; j < x->nargs; j++) {
            life *arg = &of[x->arg[j]];
            arg->lasts |= arg->loop != d;
            arg->last = k;
        }
        if (!writes(x)) continue;
        life *to = &of[x->to];
        to->lasts |=
            to->loop != UNLINKED || x->kind == OUTER_CONST || x->kind == OUTER_EXTENT;
        to->loaded &= x->kind == OUTER_LOAD;
        to->constant &= x->kind == OUTER_CONST || x->kind == OUTER_EXTENT;
        if (to->loop == UNLINKED) to->loop = d;
        to->last = k;
    }
}

/* Whether what op x works out may go where one of its operands is. */
static bool in_place(const outer_op *x)
{
    return x->kind == OUTER_FN && x->nargs < 3;
}

/* The column of a value whose last reader is op k is free, but for `not`. */
static void leave(const outer *o, const life *of, int k, uint16_t except, uint16_t *idle,
                  int *nidle)
{
    const outer_op *x = &o->op[k];
    for (int j = 0; j < x->nargs; j++) {
        const uint16_t v = x->arg[j];
        bool twice = v == except;
        for (int i = 0; i < j; i++)
            twice |= x->arg[i] == v;
        if (!twice && !of[v].alone && of[v].last == k) idle[(*nidle)++] = o->column[v];
    }
}

void outer_share(outer *o)
{
    life of[OUTER_VALUES];
    uint16_t idle[OUTER_VALUES];
    int nidle = 0;
    for (int v = 0; v < o->nvalue; v++)
        of[v] = (life){.loop = UNLINKED,
                       .last = -1,
                       .lasts = o->given[v],
                       .loaded = true,
                       .constant = true};
    live(o, 0, o->nop, -1, of);
    o->ncolumn = 0;
    o->load_columns = o->const_columns = 0;
    for (int v = 0; v < o->nvalue; v++) {
        of[v].loaded &= !o->given[v];
        of[v].constant &= !o->given[v];
        of[v].alone = of[v].lasts || of[v].loaded;
        const uint64_t bit = UINT64_C(1) << o->ncolumn;
        if (of[v].loaded) o->load_columns |= bit;
        if (of[v].constant) o->const_columns |= bit;
        if (of[v].alone) o->column[v] = (uint16_t)o->ncolumn++;
    }
    for (int k = 0; k < o->nop; k++) {
        outer_op *x = &o->op[k];
        for (int j = 0; j < x->nargs; j++)
            if (!of[x->arg[j]].lasts && of[x->arg[j]].last == k)
                x->dies |= (uint8_t)(1 << j);
    }
    for (int k = 0; k + 1 < o->nop; k++) {
        outer_op *x = &o->op[k], *next = x + 1;
        x->sinks = x->kind == OUTER_FN && next->kind == OUTER_STORE &&
                   next->arg[0] == x->to && !of[x->to].lasts && of[x->to].last == k + 1;
    }
    for (int k = 0; k < o->nop; k++) {
        const outer_op *x = &o->op[k];
        const bool fresh = writes(x) && !of[x->to].alone;
        if (in_place(x)) leave(o, of, k, x->to, idle, &nidle);
        if (fresh) o->column[x->to] = nidle ? idle[--nidle] : (uint16_t)o->ncolumn++;
        if (!in_place(x)) leave(o, of, k, x->to, idle, &nidle);
    }
}
