/* parallel_find.h: what the finding of shared loops goes by, and of programs in parts
 * (split.h): parallel_find.c has registers and the loops, rounds.c coordinates and places,
 * values.c what registers can hold, parallel_places.c tensors and weights.
 */
#ifndef STC_VM_PARALLEL_FIND_H
#define STC_VM_PARALLEL_FIND_H

#include "../nest/linear.h"
#include "parallel.h"

/* What an integer register has: coef times the index of a loop (its number) and something
 * from lo to hi; loop FIXED: something from lo to hi alone; UNKNOWN: anything. */
enum { FIXED = -1, UNKNOWN = -2 };
typedef struct spread {
    int loop;
    int64_t coef, lo, hi;
} spread;
/* Whether no two rounds of the loop have the same. */
static inline bool spread_fills(spread e)
{
    return e.loop >= 0 && e.coef >= 1 && !e.lo && e.hi < e.coef;
}

/* What a cursor is opened on; and of a place, the level of a round's own coordinates below
 * which it lies, whichever `at` it is from, that are so many a round. */
enum { PLACE_UNSET = -1, PLACE_ELSEWHERE = -2 };
typedef struct cursor_at {
    int tensor, level; /* tensor -1: not opened, or subsections                    */
    bool moved;        /* its coordinates aren't the tensor's own                  */
    int own;           /* … or one of the above                                    */
    int64_t coef;
} cursor_at;

/* The code read so far. */
typedef struct rounds {
    linear forms;                /* of integers, from `room`                            */
    void *room;                  /* linear_size                                         */
    cursor_at *cursor;           /* per cursor                                          */
    int open[BLOCKS_MAX], depth; /* numbers of open loops, which indices of forms are of;
                                    FIXED: another block                      */
    int inside;                  /* the loop whose rounds are asked about; -1 */
} rounds;

void rounds_begin(rounds *r, const machine *mc);
/* From here on that loop is asked about. */
void rounds_inside(rounds *r, int number);
/* Integers and blocks of the next instruction; the loop that begins or ends, or FIXED. */
int rounds_step(rounds *r, int at);
spread rounds_spread(const rounds *r, const linear_form *x);
spread rounds_index(rounds *r, int reg);
/* Whether no other round has such a coordinate. */
static inline bool rounds_own(const rounds *r, spread e)
{
    return e.loop == r->inside && spread_fills(e);
}
/* A cursor is opened; false: in one branch of several, as another one in others. */
bool rounds_open(rounds *r, int c, int t, int l);
/* `at`: a cursor is a place. */
void rounds_place(rounds *r, const insn *in);

/* What integers a register can hold, from lo to hi. */
typedef struct span_of {
    int64_t lo, hi;
} span_of;

/* The level of a result below whose coordinates all that rounds store lies, and how many of
 * these a round has; 0: it stores nothing. */
typedef struct stored_at {
    int64_t coef;
    int level;
} stored_at;

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
    bool meets;        /* rounds may add to the same places                           */
    int at;            /* the lop that is looked at                                    */
    int depth, loops;  /* of blocks, and of loops and whiles among them          */
    stored_at *stored; /* per tensor                                                     */
    rounds r;          /* of the body                                                    */
    span_of *holds;    /* per value register                                             */
    bool held;         /* these are found                                                */
    arena room;        /* for all these                                                  */
} finder;

/* Why not, unless that was said already; false. */
bool not_shared(finder *f, const char *why);

/* The finder's arrays, for f->mc and f->p; false: there is no memory. */
bool finder_open(finder *f);
void finder_close(finder *f);
/* Whether no round of l, which `outside` blocks are around, needs a register that another
 * one wrote, but for the accumulators that out->sum has then; out->why says why not. */
bool parallel_registers(finder *f, const loop *l, int outside, parallel_loop *out);

/* values.c: what elements of a type hold; of 64 bits and of floats: anything. */
span_of values_of_type(stc_type t);
/* What a value register can hold. */
span_of values_of(finder *f, int reg);
/* Whether parts that are such values are the same whole, if they are elements of that type
 * when fn combines them. */
bool values_meet(int fn, span_of values, stc_type type);

/* parallel_places.c. Whether what the loop stores lies below a round's own coordinates, and
 * whether these are blocks (out->step); then what tells the work in a range. */
bool find_tensors(finder *f, int first, int last);
void find_weights(finder *f);
/* The tensor whose first level a walker of the loop is open on; -1: another level. */
int walked_tensor(const finder *f, uint16_t walker);

#endif
