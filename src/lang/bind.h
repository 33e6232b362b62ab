/* bind.h: what the parts of binding share.
 *
 * A binder is one statement's. The tree of the right side is bound first, with
 * tensors entered in the program as they are met; then the target is chosen,
 * ranges are solved, and the scope learns of the target. Whatever fails, the
 * program's tables are cut back and the scope's tensors restored.
 *
 * Ranges belong to *families*: all uses of one free name in a statement are one
 * family, though each top-level term has an index of its own for it (terms
 * are separate loops); an index bound by a reduction is a family by itself.
 */
#ifndef STC_LANG_BIND_H
#define STC_LANG_BIND_H

#include "scope.h"

#define BIND_MAX_INDEX 512   /* indices of a statement; of a step BOUND_INDICES      */
#define BIND_MAX_NODES 32768 /* operations of a statement: what follows takes 50 ms  */
#define BIND_MAX_TERMS 6     /* indices in one subscript (affine.term)            */

/* While binding, bexpr.mark of a CONST says that its type is weak. */
enum { WEAK = 1 };

typedef struct family {
    const char *name;
    span at;        /* where it was met first                                  */
    bool free;      /* not bound by a reduction                                */
    bool given;     /* `in lo:hi`                                              */
    bool on_left;   /* … of the left side: all of a tensor that has a shape    */
    bool known;     /* hi is set                                               */
    int64_t lo, to; /* given: the literals; else lo is 0                       */
    int hi;         /* extent                                                  */
    const struct access *bare; /* the bare subscript that gave it its range    */
    const affine *end;         /* `in lo:hi` with indices in hi: where it ends   */
} family;

/* One subscript of one access: what it says of ranges. */
typedef struct access {
    const affine *sub;
    const char *name; /* of the tensor                                         */
    int tensor;       /* slot; -1 for the left side until its slot is known    */
    int mode;
    bool pad, slice, left;
    bool done;              /* it gave an index its range: it can't leave the tensor */
    int64_t lo, hi, stride; /* of a slice; hi -1: to the end                   */
    span at;
} access;

/* Undoing: a tensor of the scope as it was before the statement. */
typedef struct touched {
    scope_tensor *t;
    int slot, order;
    format *open; /* its open format if it was closed, else NULL */
    struct touched *next;
} touched;

typedef struct fn_env fn_env; /* of a function's body: bind_fn.c */

/* A function of the user's for some types, so that it is bound once. */
typedef struct specialised {
    definition *d;
    unsigned weak; /* bit k: argument k is a literal, and weak in the body too */
    bfunction *f;
    struct specialised *next;
} specialised;

typedef struct binder {
    arena *a;
    scope *s;
    const source *src;
    program *p;
    int tensors, extents, checks; /* in the program before it                  */
    touched *undo;
    int old_slot; /* a row whose role changed, -1: none        */
    uint8_t old_role;
    /* indices */
    int nindex, nfamily, nbound, nterm, nleft;
    bindex index[BIND_MAX_INDEX];
    uint16_t family_of[BIND_MAX_INDEX];
    family family[BIND_MAX_INDEX];
    uint16_t bound[BIND_MAX_INDEX], term[BIND_MAX_INDEX]; /* visible ones       */
    /* subscripts */
    access *access;
    int naccess, access_cap;
    int nodes;   /* made, those of functions' bodies included            */
    fn_env *env; /* binding a function's body: names are its variables         */
    specialised *fns;
    bool contradicted; /* what failed: an algebra against its body             */
    /* the left side */
    const ast *left; /* NULL: an anonymous scalar */
    int nsub;
    affine *sub;
    access *left_access;
    bool keeps_shape; /* a new row has the shape of the tensor before it */
} binder;

/* bind.c */
stc_status bind_fail(const binder *b, span at, const char *message, ...) ERROR_LIKE(3, 4);
void *bind_null(const binder *b, span at, const char *message, ...) ERROR_LIKE(3, 4);
bool bind_grow(binder *b, void *array, int *cap, int count, size_t size);

/* bind_asked.c: a call that asks the session for something is a scalar operand. */
bexpr *bind_asked(binder *b, const ast *e);

/* bind_value.c: the free indices of an expression become those of the left side */
stc_status bind_appearing(binder *b, const ast *e);

/* bind_expr.c */
bexpr *bind_expr(binder *b, const ast *e);
bexpr *bind_terms(binder *b, const ast *e); /* top level: implied sums made explicit */
bexpr *bind_one_term(binder *b, const ast *e, int fn); /* one term, reduced by fn */
bexpr *bind_node(binder *b, bkind kind, stc_type type, span at);
bexpr *bind_reduce(binder *b, span at, int fn, bfunction *ufn, const int *index, int n,
                   bexpr *value);
int bind_op_fn(int op); /* the built-in of an ast_op */

/* bind_access.c */
bexpr *bind_access(binder *b, const ast *e, scope_tensor *t, bool pad);
/* given: of each subscript that is computed, NULL: it is affine, or a slice. */
bool bind_subscripts(binder *b, const ast *e, bexpr *const *given, affine *sub,
                     access *out);
int bind_index_named(binder *b, const ast *name, bool make); /* -1: none, or no memory */
int bind_index_new(binder *b, const ast *name, int family);
int bind_family_new(binder *b, const ast *name, bool is_free);
int bind_slot(binder *b, scope_tensor *t, int order, span at); /* for reading */
bool bind_touch(binder *b, scope_tensor *t);
bool bind_close_format(binder *b, scope_tensor *t, int order, span at);

/* bind_computed.c: the values of those of e's subscripts that aren't affine, else NULL;
 * and an index that stands for one. */
bool bind_computed(binder *b, const ast *e, bexpr **given);
bool bind_literal(const ast *e); /* an integer literal, signs before it */
int bind_index_of(binder *b, const ast *subscript, const bexpr *given);

/* bind_type.c */
bexpr *bind_call(binder *b, span at, int fn, bexpr **args, int n);
bexpr *bind_convert(binder *b, bexpr *e,
                    stc_type t); /* to t's class, or a weak one's type */
bexpr *bind_to_bool(binder *b, bexpr *e);
bexpr *bind_cast(binder *b, span at, stc_type t, bexpr *e); /* as `i32(e)` has it */
bexpr *bind_strong(binder *b, bexpr *e);            /* a weak literal gets its own type */
bexpr *bind_store(binder *b, bexpr *e, stc_type t); /* as it is stored in type t */
bexpr *bind_const(binder *b, span at, stc_type t, value v);
/* As it is stored in a name that was declared, or keeps its type: nothing is lost unasked.
 */
bexpr *bind_store_kind(binder *b, bexpr *e, stc_type t, const char *name);
stc_type bind_common(bexpr *const *args, int n); /* promoted, weak ones last */

/* bind_extent.c */
stc_status bind_ranges(binder *b, int target, bool target_has_shape);
int bind_constant_extent(binder *b, int64_t k);
int bind_size(binder *b, int slot, int mode);
/* Σ coef·ext + plus as an extent. */
int bind_linear(binder *b, const int *ext, const int64_t *coef, int n, int64_t plus);
stc_status bind_left_sizes(binder *b, int target);
/* The largest (or smallest) value of a subscript over its indices, plus k, those that
 * aren't known being 0; and max(room / k, 0). */
int bind_reach(binder *b, const access *x, bool largest, int64_t k);
int bind_rooms(binder *b, int room, int64_t k);
stc_status bind_relation(binder *b, ext_rel rel, int x, int y, span at, const char *text);

/* bind_target.c */
stc_status bind_left(binder *b, const ast *left);
/* Chooses the target's row of the program, and makes value what is stored. */
stc_status bind_target(binder *b, bstmt *st, int op, bexpr *value);
stc_status bind_injective(binder *b, const bstmt *st, int op);

/* bind_fn.c */
bfunction *bind_specialise(binder *b, definition *d, const stc_type *types, unsigned weak,
                           int n, span at);
bexpr *bind_local(binder *b, const ast *name); /* a variable, in a body */
bexpr *bind_user(binder *b, definition *d, span at, bexpr **args, int n);

/* bind_props.c: properties and algebra of a definition, for f's types */
bool bind_properties(binder *b, bfunction *f, const ast *node);

enum { TRUTH_NONE = 2 }; /* the constant of a set that every truth value is in */
/* fn_algebra.c: what f is where its algebra leaves it out; false: that contradicts the
 * body. */
bool bind_omitted(binder *b, bfunction *f, const ast *node);

/* bind_note.c: tells where these indices of a term, which are summed over all of it, may
 * have been meant to be summed inside of something. */
void bind_note_sum(binder *b, const bexpr *term, const int *index, int n);

/* bind_range.c: what `in lo:hi` says of an index where lo or hi are computed joins *mask;
 * and what it says of the ranges of indices that have none yet. */
bool bind_range(binder *b, const ast *binding, int index, bexpr **mask);
stc_status bind_range_ends(binder *b, bool *progress);

/* bind_truth.c: a comparison, or what says the same by `&&`, `||` and `any`. */
bexpr *bind_truth(binder *b, bexpr *e);

/* bind_where.c: a mask, as a truth value; `e where m` as an expression, which is `other`
 * elsewhere (NULL: 0), and as the body of a reduction by fn. */
bexpr *bind_mask(binder *b, const ast *m);
bexpr *bind_masked(binder *b, span at, bexpr *mask, bexpr *val, const value *other);
bexpr *bind_where(binder *b, const ast *e);
bexpr *bind_where_reduced(binder *b, bexpr *reduction, bexpr *mask);
/* The mask of a statement with the left side's indices; NULL: failed. */
bexpr *bind_left_mask(binder *b, const ast *m);
/* What a new tensor gets: val where the mask is, its fill elsewhere. */
bexpr *bind_new_masked(binder *b, const bstmt *st, int op, bexpr *val);

/* bind_words.c: mean, norm, argmin, argmax of val over these indices */
bool bind_is_derived(const char *name);
bexpr *bind_derived(binder *b, const ast *e, const int *index, int n, bexpr *val,
                    bexpr *mask);

/* bind_host.c */
bfunction *bind_host(binder *b, definition *d, const stc_type *types, unsigned weak,
                     span at);

/* literal.c: constants as (type, value), the type one of bool, i64, u64, f64, c128 */
typedef struct literal {
    stc_type type;
    value v;
} literal;
bool literal_leaf(const ast *e, literal *out);
/* The operator or function on constants; false if it can't be done here. */
bool literal_fold(int fn, const literal *args, int n, literal *out);
stc_status literal_to(const source *src, span at, literal l, stc_type t, value *out);

#endif
