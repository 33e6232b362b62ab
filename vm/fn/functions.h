/* functions.h: the built-in functions and operators, derived from
 * functions.def: their names, arity, typing rule, algebraic properties, and
 * scalar and array implementations per class.
 */
#ifndef STC_VM_FUNCTIONS_H
#define STC_VM_FUNCTIONS_H

#include "../../formats/base/types.h"

typedef enum fn_id {
#define FN(NAME, ...) FN_##NAME,
#include "functions.def"
    FN_COUNT
} fn_id;

/* How operand types become the computing type and the result's type. */
typedef enum fn_typing {
    TY_ARITH,    /* promote; result the same; bool computes and results in i64
                    for + - * (NumPy: bool + bool is bool; here i64, see docs)  */
    TY_BITS,     /* integers and bool: promote, result the same                 */
    TY_SHIFT,    /* integers: promote, bool becomes i64                         */
    TY_DIVIDE,   /* as ARITH: // and %                                          */
    TY_COMPARE,  /* promote; result bool                                        */
    TY_LOGIC,    /* operands to bool (!= 0); result bool                        */
    TY_FLOAT,    /* real or complex floats; integers become f64; same result    */
    TY_REAL,     /* real floats only; integers become f64                       */
    TY_NUMBER,   /* any but complex; same result (floor of an integer is itself) */
    TY_ABS,      /* complex gives its real type, else the same                  */
    TY_PART,     /* real, imag: as ABS                                          */
    TY_SELECT,   /* bool that says which of the others it is: promoted, theirs  */
    TY_FLOATINT, /* ldexp: first float, second i64, result the first            */
    TY_TEST,     /* isnan …: any, result bool                                   */
    TY_WHOLE,    /* lrint …: as REAL, result i64                                */
    TY_ANGLE,    /* arg: as FLOAT, result real                                  */
    TY_CAST,     /* the type of its name                                        */
} fn_typing;

/* Symbolic constants of properties: a value in any class. */
typedef enum fn_const { FC_NONE, FC_ZERO, FC_ONE, FC_ONES, FC_INF, FC_NINF } fn_const;

enum {
    FP_COMMUTATIVE = 1,
    FP_ASSOCIATIVE = 2,
    FP_IDEMPOTENT = 4,
    FP_FAULTS = 8,
    FP_NORMALISES = 16, /* with its identity it gives a value's normal form, on which
                           that is one: gcd(0, -4) is 4. Reductions take these.     */
    FP_WRAPS =
        32, /* of integers: the low bits of a value follow from those of the
               arguments,      so that elements may be cut to their type at any step      */
};
/* By which values are put where no two meet, entries of one tensor at the same coordinates
 * meet, and rounds are counted. */
enum { FN_UNMET = FN_ADD, FN_ENTRIES = FN_ADD, FN_COUNTS = FN_ADD };
#define AT_ANY 7 /* a property that holds in every position */

typedef struct fn_prop {
    uint8_t value;    /* fn_const */
    uint8_t position; /* operand position from 0, or AT_ANY                    */
    uint8_t classes;  /* bit c: it holds in class c; bit 7: bool type only     */
} fn_prop;

typedef struct fn_info {
    const char *name;   /* "sqrt"; operators by their word: "add"               */
    const char *symbol; /* "+"; NULL for functions                              */
    uint8_t arity;
    uint8_t typing;  /* fn_typing                                            */
    uint8_t classes; /* bit c: implemented in class c                        */
    uint8_t flags;   /* FP_                                                  */
    fn_prop identity[2], annihilator[3];
} fn_info;

const fn_info *fn_at(int id);
int fn_named(const char *name, size_t len, int arity); /* -1: none; arity -1: any */
/* A symbolic constant in a class, for element type t (integer limits). False
 * if the class or type has no such value. */
bool fn_constant(uint8_t fc, vclass cls, stc_type t, value *out);
/* What leaves a first operand of fn as it is; false: nothing does. */
bool fn_identity(int fn, vclass cls, stc_type t, value *out);

/* The comparison that says the same of b and a as fn says of a and b. */
int fn_turned(int fn);
/* The comparison of integers that holds where this one doesn't, if it has to do with their
 * order; else -1. */
int fn_complement(int fn);
/* Whether f distributes over g in class cls: f(a, g(b, c)) is g(f(a, b), f(a, c)). */
bool fn_distributes(int f, int g, vclass cls);
/* The operands of f, a bit each, in which f of folds by g is the fold of f; 0: there are
 * none. */
unsigned fn_splits(int f, int g, vclass cls);
/* What f of n times the same is a function of, with n as its second operand; -1: unknown.
 */
int fn_repeated(int f);
/* What tells of truth values whether f, or a fold by it, is 0; -1: unknown. */
int fn_truth(int f);
/* What gives that operand of f, from what f gives and the other one; -1: unknown. */
int fn_inverse(int f, int operand);
/* Whether an implied sum over what stands in that operand of f is one outside of f to any
 * reader (SUMS in functions.def). */
bool fn_sums_outside(int f, int operand);
/* The derivative of f by an operand, as functions.def has it; "": it has none. */
const char *fn_derivative(int f, int operand);

/* What a faulting call says; NULL while nothing faulted. */
typedef enum fn_fault {
    FAULT_NONE,
    FAULT_DIVIDE,
    FAULT_EXPONENT,
    FAULT_HOST, /* a function of the host's or a user's says so itself */
} fn_fault;

/* Scalar evaluation in class cls; results of comparisons, logic and tests
 * are i64 0 or 1; abs, real, imag of complex give the real class. The class of
 * the result: */
vclass fn_result_class(int id, vclass cls);
/* The classes in which operand p is taken (select: 0 is i64; ldexp: 1 is i64). */
vclass fn_operand_class(int id, vclass cls, int p);
typedef fn_fault (*fn_scalar)(value *out, const value *a, const value *b, const value *c);
fn_scalar fn_scalar_of(int id, vclass cls); /* NULL: not in this class */
/* Over arrays of n elements of the classes' C types; out may be an operand. */
typedef fn_fault (*fn_array)(void *out, const void *a, const void *b, const void *c, int n);
fn_array fn_array_of(int id, vclass cls);
/* Folds runs of elements, each in order: out[lane[r]] = f(out[lane[r]], x[k]) for
 * the elements k of run r, which ends before end[r]; in this order of the runs, or NULL.
 * No fold: f faults, or its operands aren't of the class of its result. */
typedef void (*fn_fold)(void *out, const void *x, const int *lane, const int *end,
                        const uint16_t *order, int runs);
fn_fold fn_fold_of(int id, vclass cls);

#endif
