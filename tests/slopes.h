/* slopes.h: derivatives held against differences: what check_grad.c and fuzz_grad.c share.
 */
#ifndef TESTS_SLOPES_H
#define TESTS_SLOPES_H

#include "case.h"

typedef enum slope {
    SLOPE_AGREES,
    SLOPE_ROUGH,   /* the differences don't agree among themselves: a kink is near */
    SLOPE_REFUSED, /* the script, or the derivative: why tells                 */
    SLOPE_WRONG,
} slope;

typedef struct slopes {
    const char *given;     /* declares tensors with data                       */
    const char *script;    /* computes the scalar s from them, again and again */
    const char *grad;      /* what is differentiated: "s", a call, an expression */
    const char *const *by; /* names                                            */
    int n;
    uint64_t seed;   /* of the directions                                */
    unsigned how;    /* RUN_ (case.h)                                    */
    double smallest; /* steps; 0: 1e-3 and its half                      */
    bool refused;    /* out: by the derivative, not by the script        */
    char why[1600];  /* out                                              */
} slopes;

/* The derivatives, each along a random direction of what is stored, against central
 * differences of second order, and their shape, format and places against the tensor's. */
slope slopes_compare(slopes *s);

#endif
