/* bound.h: typed index notation: what binding makes of a statement, and
 * what planning takes.
 *
 * Every name is a tensor slot, an index or a function; every node has a type;
 * implied sums have become explicit reductions; extents are known as
 * expressions over shapes. Nothing refers to the program's text except spans.
 * Lives in an arena; printed by `explain --stage=bound`.
 */
#ifndef STC_LANG_BOUND_H
#define STC_LANG_BOUND_H

#include "../../vm/fn/functions.h"
#include "../../vm/fn/host.h"
#include "../../vm/code/program.h"

/* Indices of a statement that is planned, each a bit of a set. One that is taken apart
 * (src/opt) may have more. */
enum { BOUND_INDICES = 64 };

/* What is known of a copy of an operand (src/opt/turn.c): it pays where loops go across or
 * search it (plan/work.h); it may have a row for each coordinate, as most have entries. */
enum { COPY_PAYS = 1, COPY_ROWS = 2 };

typedef struct bexpr bexpr;

/* sum of coef[t] * index[t], plus constant; a bare index has one term with
 * coefficient 1 and constant 0. Slices are affine too: stride * i + lo. */
typedef struct affine {
    int terms;
    struct {
        int index;
        int64_t coef;
    } term[6];
    int64_t constant;
} affine;

static inline uint64_t affine_indices(const affine *f)
{
    uint64_t set = 0;
    for (int t = 0; t < f->terms; t++)
        set |= UINT64_C(1) << f->term[t].index;
    return set;
}

/* An index alone. */
static inline affine affine_at(int index)
{
    return (affine){.terms = 1, .term = {{index, 1}}};
}

/* Whether it is one; that one. */
static inline bool affine_is_bare(const affine *f)
{
    return f->terms == 1 && f->term[0].coef == 1 && !f->constant;
}

static inline bool affine_bare(const affine *f, int index)
{
    return affine_is_bare(f) && f->term[0].index == index;
}

static inline bool affine_equal(const affine *a, const affine *b)
{
    if (a->terms != b->terms || a->constant != b->constant) return false;
    for (int t = 0; t < a->terms; t++)
        if (a->term[t].index != b->term[t].index || a->term[t].coef != b->term[t].coef)
            return false;
    return true;
}

/* The properties of a user's function; built-ins have theirs in functions.def. */
typedef struct bfn_prop {
    value value;  /* in the class of the position's parameter */
    int position; /* -1: any */
} bfn_prop;

typedef struct bfunction bfunction; /* a user's function, specialised for types */

typedef enum bkind {
    B_CONST,  /* value                                                         */
    B_ACCESS, /* tensor(sub…); args: the subscripts that are computed          */
    B_INDEX,  /* the value of an index, i64                                    */
    B_CALL,   /* built-in fn of args, computed in `cls`                        */
    B_USER,   /* user function of args                                         */
    B_CONV,   /* args[0] converted to this node's type (class change)          */
    B_REDUCE, /* args[0] reduced over `index` by fn or ufn, in class of type   */
    B_EXTENT, /* the value of extent `index` of the program, i64 (planning)    */
    B_LOCAL,  /* in a function's body: its parameter or variable `index`       */
} bkind;

struct bexpr {
    bkind kind;
    stc_type type;
    span at;
    int nargs;
    int tensor; /* ACCESS: slot in the program's tensor table          */
    bexpr **args;
    value value;    /* CONST: in the type's class                          */
    affine *sub;    /* ACCESS: one per mode                                */
    bool pad;       /* ACCESS: outside its bounds it reads as its fill     */
    bool waits;     /* ACCESS: in a side that may not be taken             */
    uint8_t copied; /* ACCESS: COPY_PAYS, COPY_ROWS                        */
    int index;      /* INDEX                                               */
    int fn;         /* CALL, REDUCE: fn_id, or -1 for ufn                  */
    vclass cls;     /* CALL: the class fn runs in; REDUCE: of accumulation */
    bfunction *ufn; /* USER, REDUCE                                        */
    int nindex;     /* REDUCE: bound indices, in written order             */
    int mark;       /* free for planning                                   */
    uint8_t asked;  /* REDUCE: how planning asks whether it had a term     */
    int had_term;   /* … and the temporary that tells                      */
    int *indices;
    struct expr_memo *memo; /* CALL, USER: what planning has found (algebra.c) */
};

struct bfunction {
    const char *name;
    int id; /* in program.fn once lowered, -1 before               */
    int nparams;
    stc_type param[8];
    stc_type result;
    uint8_t flags; /* FP_                                                 */
    bfn_prop identity[8], annihilator[8];
    int nidentity, nannihilator;
    const char *over[4]; /* functions that it distributes over                */
    int nover;
    struct bset *algebra;  /* after `over`, NULL if none                        */
    bool omits;            /* where the algebra leaves f out, f is …            */
    value omitted;         /* … this, as far as its body tells (fn_algebra.c)   */
    const void *body;      /* syntax tree                                         */
    const host_form *host; /* the host computes it: there is no code              */
    struct fstmt *code;    /* the same, typed                                     */
    int nlocals;           /* parameters first                                    */
    stc_type *local;       /* the type of each                                    */
    unsigned as[8];        /* the types that a parameter's variables have, a bit each */
};

/* A statement of a function's body. Cases have become a chain of IFs. Every
 * path sets a local before it reads it, and ends with a RETURN. Places in it
 * refer to the text of the definition, so its code is charged to the call. */
typedef struct fstmt {
    enum { F_SET, F_IF, F_WHILE, F_BREAK, F_CONTINUE, F_RETURN } op;
    span at;
    int local;           /* SET                                                 */
    bexpr *value;        /* SET, RETURN: in the class of the local, the result;
                            IF, WHILE: the condition, bool                      */
    struct fstmt *body;  /* IF, WHILE                                           */
    struct fstmt *other; /* IF: else; WHILE: the step of a `for`, done after the
                            body, after `continue` too                          */
    struct fstmt *next;
} fstmt;

/* Iteration algebra as written: {param != value} combined. */
typedef struct bset {
    enum { SET_NOT_EQUAL, SET_AND, SET_OR, SET_NOT } op;
    int param;
    value value;
    struct bset *a, *b;
} bset;

/* An index variable of the statement. Its values are lo <= i < hi. One with a value isn't
 * looped over: it stands for a subscript that is computed, x(p(i)), and its range is the
 * dimension that it is a coordinate of. */
typedef struct bindex {
    const char *name;
    const bexpr *value; /* of class i64; NULL: the index is looped over         */
    int lo, hi;         /* extents in the program's table; lo -1: 0                  */
    bool reduced;       /* bound by a reduction                                      */
    span at;
} bindex;

/* An assignment. `op` -1 for =; else target op= value, with value's own
 * extra indices already reduced by op. */
typedef struct bstmt {
    span at;
    int target; /* slot in the program's tensor table                  */
    int nsub;
    affine *sub;   /* the left side's subscripts, one per mode            */
    bool bare;     /* its subscripts are bare, and distinct                */
    bool whole;    /* … and no mask: every element of the target is named  */
    bool computed; /* a subscript of the left side is, or op= meets sums of indices there:
                      elements may be named twice */
    bool fresh;    /* the target is a new tensor: format, fill may be free */
    bool format_given, fill_given;
    bool block; /* value is a tensor's, which goes into a block of the target as it is    */
    int op;     /* fn_id of op= or -1                                  */
    int meets;  /* computed: the fn_id by which values of one element meet */
    bexpr *value;
    const bexpr *fill_of; /* where steps are taken out of it: value as it was, of which a
                             fill that is known later is made; NULL: value          */
    bexpr *mask;          /* elements are named only where this is true; NULL: no mask */
    int nindex;
    bindex *index;
    /* The schedule (with …), as written; checked by the planner. */
    const struct ast *schedule;
} bstmt;

#endif
