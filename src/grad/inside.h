/* inside.h: what the files of src/grad share. */
#ifndef STC_GRAD_INSIDE_H
#define STC_GRAD_INSIDE_H

#include "grad.h"

enum { NODES_MAX = 100000 }; /* of trees, so that no text costs more than a moment */

/* The derivative by a tensor, as far as it has been written. */
typedef struct adjoint {
    struct adjoint *next;
    const char *of;   /* the tensor                                            */
    const char *name; /* the derivative's                                      */
    bool exists;      /* statements have made it                               */
    bool one;         /* it doesn't exist, and is 1: of the scalar itself      */
    bool loose;       /* it may be stored where the tensor isn't               */
} adjoint;

typedef struct taken {
    struct taken *next;
    const char *name;
} taken;

/* The arguments of a user's function, while its body is looked at. */
typedef struct locals {
    bexpr *const *args;
    const struct locals *outer;
} locals;

typedef struct grad {
    ctx *cx;
    arena *a;
    grad_job *job;
    textbuf *out;
    adjoint *adjoint;
    taken *taken; /* names made up */
    int nodes;
    bool failed;
    /* the step that is looked at */
    const grad_step *step;
    int at;              /* its number */
    const char **index;  /* the name of each of its indices                     */
    uint64_t open;       /* those that what is written now ranges over          */
    adjoint *old;        /* what its target was before: read on the right       */
    const locals *local; /* in a function's body                               */
} grad;

/* tree.c */
ast *tree_node(grad *g, ast_kind kind, int count);
ast *tree_number(grad *g, double v);
ast *tree_name(grad *g, const char *name);
ast *tree_call(grad *g, const char *name, ast *const *child, int n);
ast *tree_unary(grad *g, ast_op op, ast *x);
ast *tree_binary(grad *g, ast_op op, ast *x, ast *y); /* made simpler */
ast *tree_exact(grad *g, ast_op op, ast *x, ast *y);  /* rounded as it is written */
ast *tree_times(grad *g, ast *d, ast *x);             /* inside of a `select` that d is */
ast *tree_select(grad *g, ast *c, ast *x, ast *y);
bool tree_is(const ast *e, double v);
const char *grad_name(grad *g, const char *prefix, const char *base);
void *grad_refuse(grad *g, span at, const char *format, ...) ERROR_LIKE(3, 4);

/* value.c */
enum { ACCESS = 1 }; /* ast.op of a CALL that is a tensor's element */
ast *value_of(grad *g, const bexpr *e);
ast *value_access(grad *g, int slot, const affine *sub, bool pad);
ast *value_subscript(grad *g, const affine *f);
bool value_kept(grad *g, const char *name, int from, span at);
const char *value_tensor(const grad *g, int slot);
/* The indices over which loops run that subscripts or values have; those a value binds
 * don't count. */
uint64_t value_indices(const grad *g, const bexpr *e);
uint64_t value_sub_indices(const grad *g, const affine *sub, int n);

/* active.c: bexpr.mark */
enum { ACTIVE = 2 };
bool active_mark(grad *g, bexpr *e);
static inline bool is_active(const bexpr *e)
{
    return (e->mark & ACTIVE) != 0;
}
adjoint *adjoint_find(const grad *g, const char *of);

/* rules.c: d times the derivative of a call by operand k */
ast *rule_apply(grad *g, const bexpr *e, int k, ast *d);
const char *rule_of(grad *g, const bexpr *e, int k, const ast **own);
bexpr *rule_body(grad *g, const bexpr *e); /* a user's function's value in its locals */

/* ranges.c: e over indices, each with the range that it has in the statement; bare: those
 * that bare subscripts of the left side give one; left: the left side, of whose computed
 * subscripts others may. And e reduced over indices, by the function of that name. */
ast *range_keep(grad *g, ast *e, uint64_t indices, uint64_t bare, const ast *left);
ast *range_reduce(grad *g, const char *f, uint64_t set, ast *e, const ast *left);

bool range_is_given(const grad *g, int i); /* by numbers */
/* Those without which the ranges of indices can't be kept: of the accesses that give them,
 * where neither numbers nor sizes do. */
uint64_t range_needs(const grad *g, uint64_t indices);

/* chain.c */
bool chain_down(grad *g, const bexpr *e, ast *d, uint64_t over);

/* spread.c */
bool spread_access(grad *g, const bexpr *e, ast *d, uint64_t over);
bool spread_zero(grad *g, adjoint *to);   /* makes it, of zeros; or of the 1 that it is */
bool spread_tighten(grad *g, adjoint *a); /* it is stored where the tensor is */
ast *spread_read(grad *g, adjoint *from, const affine *sub, int n);
bool grad_emit(grad *g, ast *left, ast_op op, ast *right, ast *mask);

#endif
