/* affine_match.h: what affine_match.c and affine_read.c share: a nest that is being read
 * off its base operations.
 */
#ifndef STC_VM_AFFINE_MATCH_H
#define STC_VM_AFFINE_MATCH_H

#include "affine.h"
#include "../super/nest.h"

#define AFFINE_UNSET 0xffff

enum { AFFINE_PRODUCTS = 16 };

/* A value: a product of loads and scalars, as sets of their numbers. */
typedef struct affine_product {
    uint8_t loads, scalars;
} affine_product;

typedef struct affine_matcher {
    linear in; /* integers and places; `full` tells of products, too */
    machine *mc;
    affine *a;
    void *room;        /* for `in`, whose value registers have products          */
    uint16_t *k;       /* value registers → constants that no product has yet   */
    uint16_t *k_depth; /* … and the depth at which they are set                 */
    affine_product product[AFFINE_PRODUCTS];
    int nproduct, depth; /* depth: loops around what is read                    */
    int times;           /* the function of products, FN_NONE: none so far      */
    bool sunk;
    bool outer; /* there are loops around the nest              */
    /* A value register that collects the sum of a place, which is stored below. */
    uint16_t sum;
    int sum_depth;
    uint16_t told, mark; /* a register: it had a term; its bit; ROOT: there is none */
} affine_matcher;

/* affine_read.c: a nest from loop l on, of which nothing is read yet. */
void affine_read_begin(affine_matcher *m, affine *a, const loop *l);
/* Instruction k; false: a nest that has it isn't matched. */
bool affine_read_insn(affine_matcher *m, int k);

#endif
