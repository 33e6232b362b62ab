/* affine_match.h: what affine_match.c and affine_read.c share: a nest that is being read
 * off its base operations.
 */
#ifndef STC_VM_AFFINE_MATCH_H
#define STC_VM_AFFINE_MATCH_H

#include "affine.h"
#include "../super/nest.h"

#define AFFINE_UNSET 0xffff
#define AFFINE_UNKNOWN 0xfffe /* an integer that isn't linear */

enum { AFFINE_PRODUCTS = 16, AFFINE_READ = 40 };

/* A value: a product of loads and scalars, as sets of their numbers. */
typedef struct affine_product {
    uint8_t loads, scalars;
} affine_product;

typedef struct affine_matcher {
    machine *mc;
    affine *a;
    uint16_t *i, *v, *c; /* registers → forms, products, places */
    uint16_t *k;         /* value registers → constants that no product has yet */
    uint16_t *k_depth;   /* … and the depth at which they are set              */
    affine_form form[AFFINE_READ];
    affine_product product[AFFINE_PRODUCTS];
    int nform, nproduct, depth; /* depth: loops around what is read */
    int times;                  /* the function of products, FN_NONE: none so far */
    bool shifted;               /* something is read at more than a bare index */
    bool sunk;
    bool full;  /* there was no room for all of it: what was read means nothing       */
    bool outer; /* there are loops around the nest              */
    /* A value register that collects the sum of a place, which is stored below. */
    uint16_t sum;
    int sum_depth;
    uint16_t told, mark; /* a register: it had a term; its bit; ROOT: there is none */
} affine_matcher;

/* affine_read.c. Room for what registers are, in bytes, of which a matcher's `i` is the
 * first; a nest from loop l on, of which nothing is read yet. */
size_t affine_registers(const program *p);
void affine_read_begin(affine_matcher *m, affine *a, const loop *l);
/* The number of a form that is 0 so far. */
int affine_new_form(affine_matcher *m);
/* What a cursor's register stands at. */
uint16_t affine_read_place(affine_matcher *m, uint16_t reg);
/* Level l of tensor t below cursor `up`, at coef * index d + shift (d < 0: none). */
bool affine_read_stand(affine_matcher *m, affine_kind kind, uint16_t reg, uint16_t t,
                       uint16_t l, uint16_t up, uint16_t shift, int d, int64_t coef);
/* The place at which loop d walks a cursor, opened in the nest or before it; 0: it doesn't.
 * Operand o, located in loop d. Whether a cursor is opened over subsections. */
uint16_t affine_read_walk(affine_matcher *m, uint16_t reg, int d);
bool affine_read_located(affine_matcher *m, const merge_operand *o, int d);
bool affine_subsections(const affine_matcher *m, uint16_t reg);
/* Instruction k; false: a nest that has it isn't matched. */
bool affine_read_insn(affine_matcher *m, int k);

#endif
