/* split.h: a program in parts, for machines that share no memory.
 *
 * A part runs the program with the rounds of one index limited to a range. Coordinates stay
 * those of the whole, so an operand may be read in some places at its own rows and in
 * others at any. Which loops have the index (they are `chosen`) follows from one mode of
 * one tensor; loops without it are run by every part alike.
 *
 * split.c reads the verified code once from top to bottom, by what threads go by, too
 * (parallel_find.h): registers, coordinates, places, values. split_uses.c draws the
 * conclusions: what a part needs of each operand, and how what parts make comes together.
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

/* How a mode of a tensor is read: by chosen loops at their own coordinates, or otherwise.
 */
typedef struct mode_use {
    bool own;
    int other;
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

enum { LOST = 1 << 30 }; /* what one round left there */
typedef struct reg_state {
    int partial; /* 1 + the function that parts of it are combined by; or LOST */
    bool merged; /* loaded from a tensor in parts                          */
    int konst;   /* 1 + the constant that it has                           */
} reg_state;

typedef struct splitter {
    finder f;
    rounds *r; /* f's; r->inside: the chosen loop that is open                */
    machine *mc;
    const program *p;
    parallel_loop sums; /* of the chosen loop that is being read              */
    bool *chosen;       /* per loop                                           */
    bool *never;        /* per loop: it can't be chosen, and needn't be       */
    int tried;          /* 1 + the loop that was chosen last and needn't be; 0 */
    int also;      /* 1 + the loop that might be chosen for lack of which it failed; 0 */
    mode_use *use; /* per tensor, STC_MAX_ORDER each; then of what was there before */
    tensor_made *made;   /* per tensor                                         */
    loop_driver *driver; /* per loop, DRIVERS each                             */
    reg_state *reg;      /* per value register                                 */
    int *again;          /* per loop and value register: partial at its end    */
    bool more;           /* there are new ones in `again`                      */
    int copying;         /* depth of a loop over a tensor in parts; 0          */
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
/* A mode is read from lo to hi around coef times the coordinates of a round, too. */
static inline void split_own(mode_use *u, int64_t coef, int64_t lo, int64_t hi)
{
    if (!u->own || lo < u->lo) u->lo = lo;
    if (!u->own || hi > u->hi) u->hi = hi;
    u->coef = coef;
    u->own = true;
}
/* Reads the code; false: s->why. */
bool split_scan(splitter *s);
/* split_uses.c: which mode of what `in` makes is mode m of what it makes that of. */
int split_made_mode(const splitter *s, const insn *in, int m);

#endif
