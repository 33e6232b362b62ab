/* network.h: a product as a network: what its order of steps (network.c) and the steps
 * themselves (contract.c) share.
 */
#ifndef STC_NETWORK_H
#define STC_NETWORK_H

#include "opt.h"

/* Factors of a step: it reads as many tensors, and its own. */
enum { MOST = 60 };

/* A factor. Its expression has the indices 0, 1, …: of the statement those in `index`, of
 * which the first n are free. */
typedef struct node {
    bexpr *e;
    const int *index;
    int n, all;
    double density;
    bool full;
} node;

typedef struct list {
    int *at;
    int n, room;
} list;

typedef struct net {
    opt *o;
    product *x; /* without its factors                                         */
    node *f;
    int n, room, first; /* the first ones are factors as written               */
    list left;          /* the factors that are left                           */
    list *has;          /* of each index: the factors that are left and have it   */
    bool *reduced;      /* of each index: by the product, and not yet by a step  */
    int nreduced;
    int *local;         /* of each index, while factors are gathered: its number, or -1 */
    const double *runs; /* how far each index does                              */
} net;

/* Factors that are to become a step, and the indices that they have among them. */
typedef struct bucket {
    opt o; /* with those indices alone                                         */
    int index[BOUND_INDICES], nindex;
    int node[MOST];
    factor f[MOST];
    int n;
    uint64_t group, out;
    double density, cost;
} bucket;

/* contract.c: appends to a list; numbers an index in t->local. False: no memory. */
bool list_put(arena *a, list *l, int what);
bool net_note(net *t, list *l, int index);
void net_forget(net *t, const int *index, int n);
/* Enters e, an expression as written, as a factor that is not among those left yet. *ok: it
 * can be one. */
stc_status net_add(net *t, bexpr *own, bool *ok);
bool net_enter(net *t, int which);
/* Gathers factors, which are to become one, and what can be reduced then: without `some`
 * nothing is. False: they can't be a step. */
bool net_gather(net *t, const int *nodes, int n, bool some, bucket *b);
void net_price(bucket *b);
/* The bucket's factors become one; `real`: by a step. */
stc_status net_replace(net *t, bucket *b, bool real);

#endif
