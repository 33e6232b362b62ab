/* split.h: a program in parts, for machines that share no memory.
 *
 * A part runs the program with the rounds of one index limited to a range. Coordinates stay
 * those of the whole, so an operand may be read in some places at its own rows and in
 * others at any. Which loops have the index (they are `chosen`) follows from one mode of
 * one tensor; loops without it are run by every part alike.
 *
 * split.c reads the verified code once from top to bottom, with the test of registers that
 * threads use (parallel_find.c); split_values.c finds what types sums may meet in;
 * split_uses.c draws the conclusions: what a part needs of each operand, and how what parts
 * make comes together.
 */
#ifndef STC_VM_SPLIT_H
#define STC_VM_SPLIT_H

#include "parallel_find.h"

/* Of an operand, what a part needs; of a result, what it makes. */
typedef enum split_how {
    SPLIT_WHOLE,
    SPLIT_CUT, /* a range of one mode                                            */
    SPLIT_SUM, /* results alone: parts are combined by a function                 */
} split_how;

/* For rounds [lo, hi): coordinates of the mode from coef * lo + before to
 * coef * (hi - 1) + after, both included. */
typedef struct split_row {
    split_how how;
    int mode, fn;
    int64_t coef, before, after;
    int along, along_mode; /* of WHOLE: 1 + the tensor at whose coordinates of a mode it is
                              read, and of its own range, if coef isn't 0; 0: everywhere */
} split_row;

/* What an integer register has, as far as parts ask: coef times the index of a loop (its
 * number) and something from lo to hi; loop FIXED: something from lo to hi alone; UNKNOWN:
 * anything. */
enum { FIXED = -1, UNKNOWN = -2 };
/* A register that has what one round left there. */
enum { LOST = 1 << 30 };
typedef struct spread {
    int loop;
    int64_t coef, lo, hi;
} spread;

/* How a mode of a tensor is read: by chosen loops at their own coordinates, or otherwise.
 */
typedef struct mode_use {
    int own, other;
    int by;        /* 1 + the first loop whose index it is read or written at; 0: none */
    int elsewhere; /* 1 + a loop that isn't chosen, and reads it at its index; 0 */
    int writer;    /* 1 + one that isn't chosen, and writes there; 0 */
    int along;     /* otherwise: 1 + the tensor that has an entry wherever it is read; 0 */
    int along_mode, others; /* how many of `other` that tells of */
    int64_t coef, lo, hi;
} mode_use;

/* An operand that has an entry in each round of a loop, by its mode; tensor -1: none. */
typedef struct loop_driver {
    int tensor, mode;
} loop_driver;
enum { DRIVERS = 2 };

typedef struct tensor_made {
    bool made, round; /* round: begun and used up within a round                   */
    bool anew;        /* of an operand that is a result, too: replaced once, at the end */
    int at;           /* the lop that made it first                                */
    split_row row;
} tensor_made;

typedef struct cursor_at {
    int tensor, level; /* tensor -1: not opened, or subsections                    */
    int mode;          /* of a place: below a round's own coordinates of it; or -1 */
    int64_t coef;
    bool moved; /* its coordinates aren't the tensor's own                     */
} cursor_at;

/* What integers a register can hold, from lo to hi. */
typedef struct span_of {
    int64_t lo, hi;
} span_of;

typedef struct splitter {
    finder f;
    machine *mc;
    const program *p;
    parallel_loop sums; /* of the chosen loop that is being read              */
    bool *chosen;       /* per loop                                           */
    bool *never;        /* per loop: it can't be chosen, and needn't be       */
    int tried;          /* 1 + the loop that was chosen last and needn't be; 0 */
    int also;      /* 1 + the loop that might be chosen for lack of which it failed; 0 */
    mode_use *use; /* per tensor, STC_MAX_ORDER each; then of what was there before */
    tensor_made *made;   /* per tensor                                         */
    linear forms;        /* of integers; s->open tells which loops they are of  */
    void *room;          /* for these                                          */
    loop_driver *driver; /* per loop, DRIVERS each                             */
    cursor_at *cursor;   /* per cursor                                         */
    int *partial;        /* per value register: 1 + the function that parts of it are
                            combined by; or LOST                               */
    bool *merged;        /* per value register: loaded from a tensor in parts  */
    span_of *holds;      /* per value register                                    */
    int *konst;          /* per value register: 1 + the constant that it has   */
    int *again;          /* per loop and value register: partial at its end    */
    bool more;           /* there are new ones in `again`                      */
    int open[BLOCKS_MAX], depth; /* numbers of open loops; FIXED: another block */
    int inside;                  /* the chosen loop that is open; -1          */
    int copying;                 /* depth of a loop over a tensor in parts; 0 */
    const char *why;
    int at; /* lop that can't be split */
} splitter;

/* Finds what the parts of the linked program are, by the index that runs over `mode` of
 * tensor `of`: row has room for every tensor as it is made, and for every one again as an
 * operand, chosen for every loop of mc->loops. An error
 * that says why, at its place in the text, if they need each other. */
stc_status split_find(machine *mc, int of, int mode, split_row *row, bool *chosen);

/* For split.c and split_uses.c. */
bool split_refuse(splitter *s, int at, const char *why);
static inline mode_use *split_use(const splitter *s, int t, int mode)
{
    return &s->use[t * STC_MAX_ORDER + mode];
}
/* How a tensor is read before it is made: one that is an operand, too. */
static inline mode_use *split_had(const splitter *s, int t, int mode)
{
    return split_use(s, s->p->ntensor + t, mode);
}
/* Reads the code; false: s->why. */
bool split_scan(splitter *s);
/* What was made: the same by all that write it. */
bool split_made(splitter *s, int t, split_row row, int at);
/* split_uses.c: which mode of what `in` makes is mode m of what it makes that of. */
int split_made_mode(const splitter *s, const insn *in, int m);
/* split_values.c: finds s->holds. */
void split_values(splitter *s);
/* What elements of a type hold; of 64 bits and of floats: anything. */
span_of split_elements(stc_type t);
/* Whether parts that are such values are the same whole, if they are elements of that type
 * when fn combines them. */
bool split_meets(int fn, span_of values, stc_type type);
/* split_uses.c: after a scan. *more: a loop was chosen in addition, and all is to be read
 * again. */
bool split_close(splitter *s, split_row *row, bool *more);

#endif
