/* functions.c: the table of built-in functions: names, typing, properties.
 *
 * Takes names and classes, gives rows of functions.def and the classes that
 * a function reads and writes. What the functions compute is in fn_impl.c.
 * The words of reductions (sum, prod, any, all, xor) and some of C's are second
 * names of rows.
 */
#include "functions.h"
#include <math.h>
#include <string.h>

#define IN(c) (1 << CLASS_##c)
#define INT (IN(I64) | IN(U64))
#define REAL (IN(F32) | IN(F64))
#define FLOAT (REAL | IN(C64) | IN(C128))
#define ANY (INT | FLOAT)
#define BOOL 128

#define P(v, position, classes)                                                            \
    {                                                                                      \
        FC_##v, position, classes                                                          \
    }
#define NOP                                                                                \
    {                                                                                      \
        FC_NONE, 0, 0                                                                      \
    }

static const fn_info rows[FN_COUNT] = {
#define FN(NAME, name, symbol, arity, typing, classes, flags, i0, i1, a0, a1, a2)          \
    [FN_##NAME] = {name, symbol, arity, typing, classes, flags, {i0, i1}, {a0, a1, a2}},
#include "functions.def"
};

const fn_info *fn_at(int id)
{
    return &rows[id];
}

int fn_turned(int fn)
{
    return fn == FN_LT   ? FN_GT
           : fn == FN_GT ? FN_LT
           : fn == FN_LE ? FN_GE
           : fn == FN_GE ? FN_LE
                         : fn;
}

int fn_complement(int fn)
{
    return fn == FN_LT   ? FN_GE
           : fn == FN_GT ? FN_LE
           : fn == FN_LE ? FN_GT
           : fn == FN_GE ? FN_LT
                         : -1;
}

bool fn_distributes(int f, int g, vclass cls)
{
    static const struct {
        uint8_t f, g, classes;
    } pair[] = {
#define DISTRIBUTES(NAME, OVER, classes) {FN_##NAME, FN_##OVER, classes},
#include "functions.def"
    };
    for (size_t k = 0; k < sizeof pair / sizeof *pair; k++)
        if (pair[k].f == f && pair[k].g == g) return pair[k].classes >> cls & 1;
    return false;
}

unsigned fn_splits(int f, int g, vclass cls)
{
    static const struct {
        uint8_t f, g, operands, classes;
    } pair[] = {
#define SPLITS(NAME, OVER, operands, classes) {FN_##NAME, FN_##OVER, operands, classes},
#include "functions.def"
    };
    const unsigned free_order = FP_COMMUTATIVE | FP_ASSOCIATIVE;
    if (f == g && (rows[f].flags & free_order) == free_order) return 3;
    for (size_t k = 0; k < sizeof pair / sizeof *pair; k++)
        if (pair[k].f == f && pair[k].g == g && (pair[k].classes >> cls & 1))
            return pair[k].operands;
    return 0;
}

int fn_repeated(int f)
{
    static const int16_t by[FN_COUNT] = {
#define REPEATS(NAME, BY) [FN_##NAME] = FN_##BY + 1,
#include "functions.def"
    };
    return by[f] - 1;
}

int fn_truth(int f)
{
    static const int16_t by[FN_COUNT] = {
#define TRUTH(NAME, BY) [FN_##NAME] = FN_##BY + 1,
#include "functions.def"
    };
    return by[f] - 1;
}

int fn_inverse(int f, int operand)
{
    static const struct {
        int16_t by;
        uint8_t operands;
    } row[FN_COUNT] = {
#define INVERSE(NAME, BY, operands) [FN_##NAME] = {FN_##BY, operands},
#include "functions.def"
    };
    return row[f].operands >> operand & 1 ? row[f].by : -1;
}

bool fn_sums_outside(int f, int operand)
{
    static const uint8_t operands[FN_COUNT] = {
#define SUMS(NAME, operands) [FN_##NAME] = operands,
#include "functions.def"
    };
    return operands[f] >> operand & 1;
}

const char *fn_derivative(int f, int operand)
{
    static const char *const rule[FN_COUNT][3] = {
#define DERIVATIVE(NAME, x, y, z) [FN_##NAME] = {x, y, z},
#include "functions.def"
    };
    return rule[f][operand] ? rule[f][operand] : "";
}

static bool same(const char *a, const char *name, size_t len)
{
    return strlen(a) == len && memcmp(a, name, len) == 0;
}

int fn_named(const char *name, size_t len, int arity)
{
    static const struct {
        const char *name;
        int id;
    } alias[] = {
        {"sum", FN_ADD},
        {"prod", FN_MUL},
        {"any", FN_OR},
        {"all", FN_AND},
        {"xor", FN_BITXOR},
        /* C's own names of rows */
        {"nearbyint", FN_RINT},
        {"scalbn", FN_LDEXP},
        {"scalbln", FN_LDEXP},
        {"llrint", FN_LRINT},
        {"llround", FN_LROUND},
        {"nexttoward", FN_NEXTAFTER},
        {"cabs", FN_ABS},
        {"carg", FN_ARG},
        {"cproj", FN_PROJ},
        {"creal", FN_REAL},
        {"cimag", FN_IMAG},
    };
    for (size_t i = 0; i < sizeof alias / sizeof *alias; i++)
        if (same(alias[i].name, name, len))
            return arity == -1 || arity == rows[alias[i].id].arity ? alias[i].id : -1;
    for (int id = 0; id < FN_COUNT; id++)
        if ((arity == -1 || rows[id].arity == arity) && same(rows[id].name, name, len))
            return id;
    return -1;
}

/* The largest (or smallest) value of an integer type, in its class. */
static value integer_limit(stc_type t, bool largest)
{
    if (t == STC_BOOL) return (value){.i64 = largest};
    int bits = 8 * (int)type_size(t);
    if (type_is_unsigned(t)) return (value){.u64 = largest ? UINT64_MAX >> (64 - bits) : 0};
    int64_t top = INT64_MAX >> (64 - bits);
    return (value){.i64 = largest ? top : -top - 1};
}

static value all_ones(stc_type t)
{
    if (type_is_unsigned(t)) return integer_limit(t, true);
    return (value){.i64 = t == STC_BOOL ? 1 : -1};
}

bool fn_constant(uint8_t fc, vclass cls, stc_type t, value *out)
{
    if (fc == FC_NONE) return false;
    bool integer = cls == CLASS_I64 || cls == CLASS_U64;
    if (fc == FC_ZERO) { /* no bits in any class, and asked for most */
        *out = (value){.c128 = 0};
        return true;
    }
    if (fc == FC_ONE) {
        *out = class_convert(cls, CLASS_I64, (value){.i64 = 1});
        return true;
    }
    if (fc == FC_ONES) {
        if (!integer || type_class(t) != cls) return false;
        *out = all_ones(t);
        return true;
    }
    if (integer) {
        if (type_class(t) != cls) return false;
        *out = integer_limit(t, fc == FC_INF);
        return true;
    }
    if (cls == CLASS_C64 || cls == CLASS_C128) return false;
    *out =
        class_convert(cls, CLASS_F64, (value){.f64 = fc == FC_INF ? INFINITY : -INFINITY});
    return true;
}

bool fn_identity(int fn, vclass cls, stc_type t, value *out)
{
    const fn_info *f = fn_at(fn);
    for (int k = 0; k < 2; k++) {
        const fn_prop *p = &f->identity[k];
        if (p->value == FC_NONE || p->position == 0) continue;
        bool boolean = (p->classes & 0x80) && t == STC_BOOL;
        if (!((p->classes >> cls) & 1) && !boolean) continue;
        if (fn_constant(p->value, cls, t, out)) return true;
    }
    return false;
}

vclass fn_result_class(int id, vclass cls)
{
    switch (rows[id].typing) {
    case TY_COMPARE:
    case TY_LOGIC:
    case TY_TEST:
    case TY_WHOLE:
        return CLASS_I64;
    case TY_ABS:
    case TY_PART:
    case TY_ANGLE:
        return cls == CLASS_C64 ? CLASS_F32 : cls == CLASS_C128 ? CLASS_F64 : cls;
    default:
        return cls;
    }
}

vclass fn_operand_class(int id, vclass cls, int p)
{
    if (rows[id].typing == TY_SELECT && p == 0) return CLASS_I64;
    if (rows[id].typing == TY_FLOATINT && p == 1) return CLASS_I64;
    return cls;
}
