/* summary.h: what the two halves of reading a loop share: summary.c for its own
 * instructions, summary_link.c for the loops inside.
 */
#ifndef STC_VM_SUMMARY_H
#define STC_VM_SUMMARY_H

#include "uses.h"

#define UNSET 0xffff

typedef struct reader {
    const machine *mc;
    const value_reads *reads;
    loop_tree *t;
    loop_summary *s; /* t's                                        */
    uint16_t *v;     /* value register → node                       */
    uint16_t *live;  /* value register → its NODE_LIVE              */
    uint16_t *i;     /* integer register → icol                     */
    uint16_t *c;     /* cursor register → place                     */
    bool sunk;       /* a sink has been seen: no more skipping      */
    bool full;       /* a table has no room: the loop can't be read */
} reader;

/* Tables that grow up to their limit. Beyond it the reader is `full`, which is asked
 * after each instruction, and what it got is row 0. */
uint16_t summary_new_node(reader *r, node x);
void summary_new_step(reader *r, step x);
void summary_new_sink(reader *r, sink x);

/* What a register stands for; at first what it held before the loop. */
uint16_t summary_read_value(reader *r, uint16_t reg);
uint16_t summary_read_integer(reader *r, uint16_t reg);
uint16_t summary_read_place(reader *r, uint16_t reg);
/* Whoever uses what a register held before the loop knows the class of that. */
void summary_settle(reader *r, uint16_t id, vclass cls);
/* Whether a cursor was opened in the body and never sought. */
bool summary_unstood(const reader *r, uint16_t id);

/* summary_reads.c, summary_moot.c */
/* Whether what the register holds at lop `from` is read before lop `to`. */
bool value_read_in(const machine *mc, int from, int to, uint16_t reg);
/* Says of the loop's sinks which don't matter once another one is settled. */
void summary_find_moot(reader *r);

/* Hangs a loop that has been read into the body read so far. */
bool summary_link(reader *r, loop_tree *inner);

#endif
