/* oracle_value.h: the oracle's own values: types, promotion, functions.
 *
 * Written from language.md alone and sharing nothing with formats/base/types.c or
 * vm/fn/functions.c, so that the two can disagree. A value carries what is needed
 * to say how far a correct machine may be away from it:
 *
 *   err   absolute tolerance; OV_ANY: no claim at all (a poisoned value)
 *   mag   the sum of the magnitudes of the terms that were added up
 *   gran  every term is a multiple of 2^gran
 *
 * A sum of floats is exact in any order if mag < 2^(gran + mantissa); only
 * where it isn't, err grows, by 4 eps mag per addition. Everything else is a
 * fixed function of its operands, so that exact operands give exact results
 * (transcendental functions: within 8 ulp); inexact operands are pushed to the
 * corners of their tolerance to see what becomes of the result.
 */
#ifndef TESTS_ORACLE_VALUE_H
#define TESTS_ORACLE_VALUE_H

#include "../include/stcvm.h"
#include <math.h>

#define OV_ANY INFINITY

typedef struct oval {
    stc_type type;
    bool weak;     /* a literal: gives way to the other operand's type */
    int64_t i;     /* bool and integers, two's complement              */
    double re, im; /* floats; f32 values are exact in a double         */
    double err, mag;
    int gran;
    double up; /* of a product: no partial one, in any order, is above 2^up */
} oval;

/* What an evaluation ran into. */
enum {
    OV_FAULT = 1,   /* an integer division by zero or a negative exponent   */
    OV_LITERAL = 4, /* a literal that the other operand's type can't hold  */
    OV_HAZARD = 2,  /* 0 * inf and its kin: properties decide, not the loops */
};

oval ov_int(stc_type t, int64_t i);
oval ov_real(stc_type t, double re);
oval ov_complex(stc_type t, double re, double im);
oval ov_any(stc_type t); /* poisoned */
bool ov_is_any(const oval *v);
bool ov_true(const oval *v);
/* Reads and writes the element arrays of the public interface. */
oval ov_load(stc_type t, const void *base, int64_t index);
void ov_save(const oval *v, void *base, int64_t index);
stc_value ov_public(const oval *v);

bool ot_float(stc_type t);
bool ot_complex(stc_type t);
bool ot_unsigned(stc_type t);
bool ot_integer(stc_type t); /* bool not included */
stc_type ot_promote(stc_type a, bool aweak, stc_type b, bool bweak);
/* The type of a sum (or product) of elements of t. */
stc_type ot_sum(stc_type t);

/* Conversion of an operand (no wrapping), and what storing makes of it. */
oval ov_convert(oval v, stc_type t);
oval ov_store(oval v, stc_type t);

/* Functions and operators, by the names of functions.def ("add", "sqrt"). -1:
 * no such function of that arity. */
int of_find(const char *name, size_t len, int arity);
const char *of_name(int fn);
int of_arity(int fn);
/* The type of a call; weak says whether it is a literal's. */
stc_type of_type(int fn, const stc_type *types, const bool *weak, bool *out_weak);
/* Whether the function is defined for such operands (no floats in &, …). */
bool of_accepts(int fn, const stc_type *types, const bool *weak);
oval of_call(int fn, const oval *args, unsigned *flags);
/* OV_LITERAL if v is a literal that integer type t can't hold. */
unsigned of_literal(const oval *v, stc_type t);
/* The function as a reduction: the type it gives on elements of t, whether it
 * has an identity, and one step. */
stc_type of_reduce_type(int fn, stc_type t);
bool of_identity(int fn, stc_type t, oval *out);
oval of_step(int fn, oval acc, oval v, unsigned *flags);

/* Whether a machine's element agrees with the oracle's. */
bool ov_agrees(const oval *want, const oval *got);
int ov_print(const oval *v, char *buf, size_t size);

#endif
