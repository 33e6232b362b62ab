/* parallel_find.h: what the finding of shared loops goes by: parallel_find.c has
 * registers and the loops, parallel_places.c coordinates, tensors and weights.
 */
#ifndef STC_VM_PARALLEL_FIND_H
#define STC_VM_PARALLEL_FIND_H

#include "../nest/linear.h"
#include "parallel.h"

/* Coordinates of a round alone. */
enum { OWN_INDEX = 1, OWN_BLOCK };

/* Registers are cells, as uses.h numbers them. */
typedef struct finder {
    const machine *mc;
    const program *p;
    const loop *l;
    parallel_loop *out;
    int ncell;
    uint8_t *written;  /* per cell: somewhere in the loop                       */
    uint8_t *sum;      /* per value register: 1 + its accumulator, or 0          */
    uint16_t *defined; /* per cell: 1 + depth of the block of a write, 0: none   */
    uint16_t *other;   /* per cell: 1 + depth of the if whose first branch wrote it, or 0 */
    uint8_t *below;    /* per cursor: `at` below the loop's own coordinate: 1; 2 not */
    bool meets;        /* rounds may add to the same places                           */
    int at;            /* the lop that is looked at                                    */
    int depth, loops;  /* of blocks, and of loops and whiles among them          */
    uint8_t *apart;    /* per tensor: a round's places needn't follow each other      */
    size_t size;       /* of all these arrays, from `room` on                            */
    linear forms;      /* parallel_places.c: integers of the body, */
    int64_t within[LINEAR_INDICES]; /* … and the ranges of open loops, 0: not known */
    void *room;                     /* for `forms` */
} finder;

/* Why not, unless that was said already; false. */
bool not_shared(finder *f, const char *why);

/* The finder's arrays, for f->mc and f->p; false: there is no memory. */
bool finder_open(finder *f);
void finder_close(finder *f);
/* Whether no round of l, which `outside` blocks are around, needs a register that another
 * one wrote, but for the accumulators that out->sum has then; out->why says why not. */
bool parallel_registers(finder *f, const loop *l, int outside, parallel_loop *out);

/* parallel_places.c. First whether rounds have blocks of coordinates (out->step); then
 * whether what the loop stores lies below a round's own; last what tells the work in a
 * range. */
void own_coordinates(finder *f);
bool find_tensors(finder *f, int first, int last);
void find_weights(finder *f);
/* The tensor whose first level a walker of the loop is open on; -1: another level. */
int walked_tensor(const finder *f, uint16_t walker);
/* Whether an instruction neither makes nor changes tensors and places. */
bool only_reads(const insn *in);

#endif
