/* oracle_eval.h: what the files of the oracle share about one statement: its
 * indices, their scopes and ranges, and the accesses that give them. */
#ifndef TESTS_ORACLE_EVAL_H
#define TESTS_ORACLE_EVAL_H

#include "oracle.h"

enum { MAX_INDEX = 64, MAX_ACCESS = 128, MAX_TERMS = 8, MAX_REDUCE = 32, MAX_LOCAL = 32 };

typedef struct oindex {
    const char *name;
    bool known, given; /* given: by `p in lo:hi`                              */
    int64_t lo, hi, value;
} oindex;

/* One subscript of one access: sum of coef * index, plus constant; or any expression. */
typedef struct osub {
    const ast *computed; /* not NULL: its value                              */
    int terms, index[MAX_TERMS];
    int64_t coef[MAX_TERMS], constant;
    int64_t size;    /* of the mode                                          */
    bool pad, exact; /* exact: bare or a slice: it has `extent` values       */
    int64_t extent;
} osub;

typedef struct ostmt {
    oworld *w;
    oindex index[MAX_INDEX];
    int nindex, nfree;           /* the first nfree belong to the statement */
    int nleft;                   /* … and the first nleft to its left side  */
    int scope[MAX_INDEX], depth; /* visible bound indices, innermost last   */
    struct {
        const ast *node;
        int first;
    } reduce[MAX_REDUCE];
    int nreduce;
    osub sub[MAX_ACCESS];
    int nsub;
    overdict verdict;
    bool fill_mode; /* every access reads its tensor's fill    */
    bool fill_unknown;
    const ast *given; /* the right side, if the result's fill is given … */
    oval given_fill;  /* … as this                                       */
    bool moved;       /* by its schedule, sums may come ahead of factors */
    int calls;        /* depth of user functions                 */
    bool scatters;    /* a subscript of the left side is computed */
    bool complements; /* it asks where an operand is its fill */
} ostmt;

/* A user function: its tree, which lives as long as the world. */
struct ofunction {
    ofunction *next;
    const ast *tree;
    arena memory;
    bool host; /* it takes and gives values of one type, never literals */
    stc_type type;
};

/* oracle.c */
oval ostmt_eval(ostmt *s, const ast *e);

/* oracle_pattern.c: whether the iteration space has the place at which the indices stand:
 * a sum of terms, each over its indices that aren't on the left. */
oreach oracle_reaches(ostmt *s, const ast *e, const char *const *left, int nleft);
bool oracle_complements(const ast *e); /* e asks where an operand is its fill */

/* The verdict, unless there is a worse one already. */
void ostmt_refuse(ostmt *s, overdict v, const char *why);

/* oracle_index.c */
int ostmt_lookup(const ostmt *s, const char *name); /* -1: no such index */
/* A BINDING whose range isn't made of literals. */
bool oracle_range_depends(const ast *binding);
int ostmt_reduce_first(const ostmt *s, const ast *reduce);
/* Walks an expression, entering indices and accesses. */
void ostmt_collect(ostmt *s, const ast *e);
/* The left side; shape NULL: a new tensor. */
void ostmt_collect_left(ostmt *s, const ast *left, const int64_t *shape);
/* Gives every index its range and checks every access. */
void ostmt_solve(ostmt *s);
/* False: there is no telling. */
bool osub_value(ostmt *s, const osub *u, int64_t *out);
/* One subscript as written, with the indices now in scope. */
bool ostmt_subscript(ostmt *s, const ast *e, int64_t size, osub *out);
/* Whether the free index is named anywhere in e. */
bool ostmt_mentions(const ast *e, const char *name);

/* oracle_type.c */
stc_type ostmt_type(ostmt *s, const ast *e, bool *weak);
stc_type ostmt_terms_type(ostmt *s, const ast *e, const char *const *left, int nleft,
                          bool *weak);
int ostmt_function(const ast *e); /* of a UNARY, BINARY or CALL; -1: none */
int oracle_op_function(int op);   /* of op= and of unary and binary nodes */
int oracle_reduce_function(const char *name);
int oracle_kind(stc_type t);            /* nothing goes into a lower one unasked */
bool oracle_of_constants(const ast *e); /* computed of literals, or chosen of such */
/* Free indices of e that aren't on the left. */
int ostmt_summed(ostmt *s, const ast *e, const char *const *left, int nleft, int *out);
ofunction *oworld_function(const oworld *w, const char *name, int arity);

/* oracle_user.c */
oval ouser_call(ostmt *s, const ofunction *f, const oval *args, int n);
/* It has an algebra, which doesn't hold for these arguments. */
bool ouser_left_out(ostmt *s, const ofunction *f, const oval *args);
/* Of literals alone: one itself, if it isn't the host's. */
bool ouser_weak(const ofunction *f, const bool *weak, int n);
/* What a reduction by it begins with: an identity of its second operand. */
bool ouser_identity(ostmt *s, const ofunction *f, stc_type t, oval *out);
stc_type ouser_type(ostmt *s, const ofunction *f, const stc_type *t, const bool *weak,
                    int n);

#endif
