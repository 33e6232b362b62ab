/* work.h: what an order of loops costs, asked for one order after another. */
#ifndef STC_PLAN_WORK_H
#define STC_PLAN_WORK_H

#include "schedule.h"

/* By index: what doesn't depend on the order. */
typedef struct loop_prices {
    bool sized; /* with sizes that are known; else a thousand stands for each */
    double extent[64], entry[64];
} loop_prices;
/* Whether what is known of sizes tells what loops visit. */
bool sizes_count(const plan *pl);
void price_loop(const plan *pl, loop_prices *prices, int index);

typedef struct priced_access {
    const paccess *x;
    int access, depth;   /* levels resolved so far                         */
    bool converted;      /* it can't be walked in the order looked at      */
    uint64_t outer;      /* indices of loops that must be around           */
    double conversion;   /* what a copy in the loops' order costs          */
    double copied[2];    /* densities of its first level, of others; 0: not asked yet */
    const tensor *there; /* its sizes count; NULL: not known, or not asked for      */
    double entries;      /* … or are thought to be; 0: not known                      */
    double room;         /* the places of a copy's levels so far                      */
    double part[STC_MAX_ORDER]; /* densities of its own levels                      */
    int8_t at[STC_MAX_ORDER];   /* the loop after which a level's coordinate is known */
} priced_access;

/* What part of a loop's rounds an operand visits, and what part of them it is there in. */
typedef struct density {
    double step, produce;
} density;

/* For loops of one number, and the accesses of one expression. */
typedef struct work {
    plan *pl;
    const loop_prices *prices;
    const pset *space;              /* without what thins out no loop */
    uint64_t uses, full;            /* accesses; those that are full, and have no density */
    int n, count, thin;             /* loops; accesses; the first ones, not full    */
    const int *seq;                 /* the order looked at                          */
    int8_t place[64];               /* of an index among the loops; n: nowhere      */
    density density[PLAN_ACCESSES]; /* of the levels at this loop; 0: none here    */
    priced_access access[PLAN_ACCESSES];
} work;
void work_open(work *w, plan *pl, const loop_prices *prices, const pset *space,
               uint64_t uses, int n);
/* The work of one order of n loops, or something greater if it is no less than
 * `limit`; *inner gets how often the innermost body runs. */
double work_of(work *w, const int *seq, double limit, double *inner);

/* Whether a loop over `index` jumps through an access: it moves a level that has others
 * below. */
bool access_strides(const paccess *x, int index);
/* Whether loops between these two read an access so that a copy of it, which is known to
 * pay if they do, is made: across its rows, or such as lie in groups or in no order. */
bool access_turns(const paccess *x, int outermost, int innermost);

#endif
