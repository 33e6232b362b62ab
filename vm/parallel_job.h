/* parallel_job.h: what runs of shared loops are made of: workers, chunks, the job that
 * a run is. For parallel.c and parallel_work.c.
 */
#ifndef STC_VM_PARALLEL_JOB_H
#define STC_VM_PARALLEL_JOB_H

#include "parallel.h"
#include "../formats/join.h"
#include <stdatomic.h>

typedef struct worker {
    ctx cx;
    machine *mc;
    const struct parallel *of;
    struct job *job; /* what it is doing, and of which chunk */
    int number, chunk;
    merge_desc *merge; /* of the shared loops, with their own ranges */
    lop stop;          /* what was behind the loop */
    tensor *view;      /* of results: as parallel_loop.rows has them */
} worker;

struct parallel {
    int nloop, nworker;
    parallel_loop *loop;
    uint8_t *sharing; /* of all loops: a row of tensors each */
    worker **worker;
    int room; /* for workers */
};

/* What a chunk left in its worker's parts: positions of the first level. */
typedef struct chunk {
    int worker;
    int64_t begin[PARALLEL_PARTS], end[PARALLEL_PARTS];
    value sum[PARALLEL_SUMS];
} chunk;

typedef struct job {
    machine *mc;
    const parallel_loop *pl;
    int n, threads;
    int64_t *bound;
    chunk *chunk;
    atomic_int next, failed; /* the chunk to be taken; the first that failed */
    _Atomic uint64_t steps;
    atomic_bool stop; /* by the progress function */
    tensor_join join;
    int64_t places[PARALLEL_PARTS]; /* of results in rows */
} job;

/* The part of the job that is worker number's: chunks, as long as there are any. */
void parallel_work(void *context, int number);

#endif
