/* scatter.h: loops that add scaled fibers to a workspace of one index, row by
 * row (Gustavson's algorithm and its kin).
 *
 * A *scatter* is the loop over k in
 *
 *     for k: for j in fiber(k): w(j) fold= term(factors(k), value(k,j))
 *
 * or the loop over j alone. It is matched when linking (super_scatter.c), for
 * any operands of the loop over k whose fibers are tables; super_rows.c runs
 * the loops around it, from which rows are appended in order.
 */
#ifndef STC_VM_SCATTER_H
#define STC_VM_SCATTER_H

#include "fuse.h"
#include "ws.h"

enum { SCATTER_OPERANDS = 4, SCATTER_FACTORS = 4, SCATTER_CHUNK = 256 };

/* An operand of the loop over k: a fiber of coordinates, or a range. */
typedef struct scatter_operand {
    uint16_t cursor;            /* its register                                    */
    uint16_t tensor, level, up; /* up: the cursor above it, or ROOT                */
    /* of this run */
    bool coords;
    uint8_t width, bounds_width;
    const void *bounds, *crd;
    int64_t lo, size; /* a range's first coordinate, and how many  */
    /* of this row: its positions; a range has the coordinate lo at `begin` */
    int64_t begin, end;
} scatter_operand;

typedef enum factor_kind {
    FACTOR_OPERAND,
    FACTOR_FIXED,
    FACTOR_LIVE,
    FACTOR_CONST
} factor_kind;
typedef struct scatter_factor {
    uint8_t kind;
    uint16_t a; /* operand; cursor; register; constant */
    uint16_t tensor;
} scatter_factor;

typedef struct scatter scatter;
typedef void (*scatter_kernel)(const scatter *sc, workspace *w, int n);

struct scatter {
    super base;
    super *other;      /* what runs the loop where this can't; owned */
    loop *mid, *inner; /* mid NULL: one fiber a row */
    uint16_t work, tensor, level;
    int16_t owner; /* the operand below which the fibers are; -1: cursor `below` */
    uint16_t below;
    bool valued; /* the fiber's values take part */
    uint8_t cls;
    int16_t term, fold;
    const lop *at; /* ws.add */
    int noperand, nfactor;
    scatter_operand operand[SCATTER_OPERANDS];
    scatter_factor factor[SCATTER_FACTORS];
    scatter_kernel narrow, wide;
    /* of this run */
    scatter_kernel kernel;
    const void *bounds, *crd, *vals;
    /* lanes: fibers and factors of up to SCATTER_CHUNK k */
    int64_t *from, *to;
    char *by;
    void *block;
    size_t block_size;
};

/* Matches the loop over k, of which `inner` is all; or (mid NULL) the loop over
 * j alone. It is put before *out, what else can run the loop, or NULL. */
stc_status scatter_fuse(machine *mc, const loop_summary *mid, const loop_summary *inner,
                        const nest_links *links, super **out);
/* Whether loop l is a scatter into workspace `work`. */
scatter *scatter_of(const loop *l, int work);
/* Tables of this run; false: some operand has none, or the workspace isn't dense. */
bool scatter_ready(machine *mc, scatter *sc);
/* All of it, for the row at which the cursors around stand. */
stc_status scatter_row(machine *mc, scatter *sc);

/* super_drain.c: appends what is in a dense workspace of one index to the last
 * level of a result, in order, below `up` (NULL: the root), and empties it. */
typedef struct drain {
    uint16_t work, result, level;
    const lop *at; /* `at` of the last level, for messages */
    mcursor *cursor;
} drain;
bool drain_ready(const machine *mc, const drain *d);
stc_status drain_row(machine *mc, const drain *d, const mcursor *up);

/* super_rows.c: gives loops around scatters to the handler that drains them. */
stc_status rows_fuse(machine *mc);

#endif
