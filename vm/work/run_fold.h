/* run_fold.h: rows of runs, folded together run by run (compression paper, §IV-D, for
 * reductions across rows).
 *
 * Rows come one after the other, each as runs of one value whose coordinates ascend; what
 * isn't in a row stays as it is. Rows that are done are folded in pairs, as a binary number
 * counts up: two of one weight become one of the next, so that a run is merged as often as
 * the number of rows has digits. A function that mustn't be regrouped folds each row into
 * all before it.
 *
 * Workspaces that are read as runs are kept so (ws_runs.c), and what is added to results
 * (../intervals/interval_fold.c).
 */
#ifndef STC_VM_RUN_FOLD_H
#define STC_VM_RUN_FOLD_H

#include "../core/machine.h"

/* Runs of values of one class: from at[2k] to at[2k+1] it is val[k]. */
typedef struct run_list {
    int64_t n, cap;
    int64_t *at;
    char *val;
} run_list;
enum {
    RUN_ROWS = 72, /* of weights that fall, each once, but for one that is done, and one
                      that is open */
    RUN_SHORT = 8, /* runs of fewer coordinates are dearer than these are one by one */
};

/* x[k] = x[k] and y[k] folded, for n values. */
typedef fn_fault (*run_apply)(const void *with, void *x, const void *y, int n);

typedef struct run_fold {
    uint8_t size;    /* bytes of a value                         */
    bool regroup;    /* the function is associative              */
    run_apply apply; /* the function, and what it is called with */
    const void *with;
    run_list rows, room; /* rows one behind the other, the last one open; row k begins with
                            run first[k]; and room for one more */
    int64_t first[RUN_ROWS];
    uint8_t weight[RUN_ROWS];
    int depth;
} run_fold;

/* Without rows, its memory as it was; the other fields are the caller's to set. */
void run_fold_forget(run_fold *f);
void run_fold_free(ctx *cx, run_fold *f);
/* Room for n runs. */
stc_status run_list_reserve(ctx *cx, const run_fold *f, run_list *l, int64_t n);

/* Whether a run from `lo` on begins another row: then the open one is to be closed first.
 * close: *shorter: what it is folded into has runs that aren't worth it; then nothing is
 * open, and the caller takes all rows and forgets them; *single: it was folded into
 * nothing. add: a run of the open row. */
bool run_fold_begins(const run_fold *f, int64_t lo);
stc_status run_fold_close(machine *mc, run_fold *f, const lop *at, bool *shorter,
                          bool *single);
stc_status run_fold_add(machine *mc, run_fold *f, int64_t lo, int64_t hi, const char *val);
/* A row is open behind those that were closed. */
void run_fold_open(run_fold *f);
/* All rows become one, of which nothing is said by its weight. */
stc_status run_fold_all(machine *mc, run_fold *f, const lop *at);

#endif
