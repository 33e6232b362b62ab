/* types.h: element types and value classes, derived from types.def.
 *
 * A *type* is what an array stores (stc_type); a *class* is what a register
 * holds and arithmetic runs in: i64, u64, f32, f64, c64, c128. Loads widen a
 * type to its class, stores narrow it back (integers wrap; bool is != 0).
 */
#ifndef STC_FORMATS_TYPES_H
#define STC_FORMATS_TYPES_H

#include "../../include/stcvm.h"
#include <complex.h>

typedef float complex cfloat;
typedef double complex cdouble;

typedef enum vclass {
#define CLASS(NAME, name, ctype) CLASS_##NAME,
#include "types.def"
    CLASS_COUNT
} vclass;

#define TYPE_COUNT 13

/* A value in a register: the member of its class holds it. */
typedef union value {
    int64_t i64;
    uint64_t u64;
    float f32;
    double f64;
    cfloat c64;
    cdouble c128;
} value;

vclass type_class(stc_type t);
size_t type_size(stc_type t);
const char *type_name(stc_type t);
const char *class_name(vclass c);
bool type_parse(const char *name, size_t len, stc_type *out);
bool type_is_float(stc_type t); /* f32 f64 */
bool type_is_complex(stc_type t);
bool type_is_unsigned(stc_type t); /* u8 … u64 */
bool type_is_integer(stc_type t);  /* bool not included */
/* The type that represents a class exactly (i64 for CLASS_I64, …). */
stc_type class_type(vclass c);
/* NumPy 2's result type of two typed operands (no weak literals here). */
stc_type type_promote(stc_type a, stc_type b);

/* Element `index` of an array of type t, widened to its class; and back. */
value type_load(stc_type t, const void *base, int64_t index);
void type_store(stc_type t, void *base, int64_t index, value v);
/* The same value in another class (C conversions; complex to real drops the
 * imaginary part; floats to integers saturate, NaN gives 0). */
value class_convert(vclass to, vclass from, value v);
bool class_equal(vclass c, value a, value b); /* NaN equals NaN, -0 equals 0 */
bool class_is_zero(vclass c, value v);
/* v after a round trip through the type's storage. */
value type_round(stc_type t, value v);
/* A value of one type as another type stores it; to bool it is != 0. */
value type_convert(stc_type to, stc_type from, value v);
/* Between the public union and registers; type tells which member counts. */
value value_from_public(stc_type t, stc_value v);
stc_value value_to_public(stc_type t, value v);
/* The shortest text that reads back to the same value; complex as "re im".
 * Returns what snprintf would. */
int type_print(stc_type t, value v, char *buf, size_t size);
/* The same as the language writes it: complex numbers as 1+2j. */
int type_show(stc_type t, value v, char *buf, size_t size);

#endif
