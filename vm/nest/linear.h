/* linear.h: integers and cursors of a nest as linear in the indices of its loops.
 *
 * An integer is a *form*: a number, and indices and registers from outside, each times a
 * number. A cursor is a *place*: a level of a tensor, at a form, below another place. Both
 * are read off the base operations once, in their order: the verifier sees to it that no
 * round reads integers or cursors that another one left.
 *
 * Nests at affine coordinates and rows of lanes take both from here, shared loops and
 * programs in parts forms alone.
 */
#ifndef STC_VM_LINEAR_H
#define STC_VM_LINEAR_H

#include "uses.h"

enum { LINEAR_INDICES = 10, LINEAR_PLACES = 28, LINEAR_LIVE = 4 };

typedef struct linear_form {
    int64_t k, coef[LINEAR_INDICES];
    int live;
    uint16_t reg[LINEAR_LIVE]; /* registers from outside, */
    int64_t times[LINEAR_LIVE];
} linear_form;

typedef enum linear_kind {
    LINEAR_ROOT,    /* of a tensor                                          */
    LINEAR_GIVEN,   /* stands outside the nest: register `cursor`           */
    LINEAR_DENSE,   /* level `level` of `tensor` at coordinate `at`         */
    LINEAR_WALKED,  /* the same, by the loop that walks it; opened outside
                       the nest if cursor isn't ROOT                        */
    LINEAR_OPEN,    /* to be walked further in                              */
    LINEAR_PLACED,  /* a place in the result                                */
    LINEAR_SUBSECT, /* subsections: what they leave out isn't there anyway  */
} linear_kind;
typedef struct linear_place {
    uint8_t kind;
    uint16_t tensor, level, cursor, up;
    linear_form at;
} linear_place;

typedef struct linear {
    const machine *mc;
    linear_form *form;   /* per integer register,                                       */
    uint8_t *known;      /* and whether it is one                                       */
    int branches;        /* around what is read: of integers set there nothing is known */
    uint16_t *v;         /* per value register: the caller's number for it, LINEAR_UNSET */
    uint16_t *at;        /* per cursor register: its place, or LINEAR_UNSET             */
    linear_place *place; /* LINEAR_PLACES, number 0 is the root; NULL: forms alone    */
    int nplace;
    bool shifted; /* something is read at more than a bare index                      */
    bool full;    /* there was no room for all of it: what was read means nothing     */
} linear;
#define LINEAR_UNSET 0xffff

/* Begins to read a program's code; room has so many bytes. */
size_t linear_size(const program *p);
void linear_begin(linear *l, const machine *mc, linear_place *places, void *room);
/* A register is index d from here on; beyond LINEAR_INDICES nothing is known of it. */
void linear_index(linear *l, uint16_t reg, int d);
/* What a register holds, one from outside as it is; NULL: nothing linear. */
const linear_form *linear_form_of(linear *l, uint16_t reg);
/* *sum += a * b; false: that is too large. */
static inline bool add_product(int64_t *sum, int64_t a, int64_t b)
{
    int64_t t;
    const bool far = __builtin_mul_overflow(a, b, &t);
    return !(__builtin_add_overflow(*sum, t, sum) | far);
}
/* out += k * x; false: numbers are too large, or registers too many. */
bool linear_add(linear_form *out, const linear_form *x, int64_t k);
/* What a cursor's register stands at. */
uint16_t linear_place_of(linear *l, uint16_t reg);
/* The place of each operand of loop d's merge, 0: it is walked over subsections; false: one
 * has none. */
bool linear_merge(linear *l, const merge_desc *m, int d, uint16_t *to);
/* What an instruction that is no loop sets an integer to, if it does. */
void linear_integer(linear *l, const insn *in);
/* … or a cursor; false: it is another instruction, or nothing linear. */
bool linear_step(linear *l, const insn *in);

#endif
