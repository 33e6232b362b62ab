/* super_tally.h: which rows of super.def and scatter.def ran, and how often. */
#ifndef STC_VM_SUPER_TALLY_H
#define STC_VM_SUPER_TALLY_H

#include "../core/machine.h"

enum {
    SCATTER_ROWS = 0
#define SCATTER(TYPE, index, TERM, FOLD) +1
#include "scatter.def"
};

/* Rows in the tables' order; those of scatter.def have three templates: into an
 * accumulator, a list, and a window. */
typedef enum tally_row {
#define SUPER(kernel, TYPE, body, index) TALLY_##kernel##_##TYPE##_##body##_##index,
#include "super.def"
    TALLY_SCATTER, /* row 0 of scatter.def; others behind it */
    TALLY_LIST = TALLY_SCATTER + SCATTER_ROWS,
    TALLY_WINDOW = TALLY_LIST + SCATTER_ROWS,
    TALLY_COUNT = TALLY_WINDOW + SCATTER_ROWS
} tally_row;

/* One more call of a row's kernel. Nothing but a profile asks. */
static inline void tally(machine *mc, int row)
{
    if (mc->tally) mc->tally[row]++;
}

/* The rows that were called, one a line. */
void tally_print(const machine *mc, textbuf *out);

#endif
