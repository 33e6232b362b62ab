/* parallel_job.h: what runs of shared loops are made of: workers, chunks, the job that
 * a run is. For parallel.c, parallel_work.c and parallel_join.c.
 */
#ifndef STC_VM_PARALLEL_JOB_H
#define STC_VM_PARALLEL_JOB_H

#include "parallel.h"
#include "../../formats/join.h"
#include <pthread.h>
#include <stdatomic.h>

typedef struct worker {
    ctx cx;
    machine *mc;
    const struct parallel *of;
    struct job *job; /* what it is doing, and of which chunk */
    int number, chunk;
    int kept;          /* its first chunk whose parts may not be copied yet */
    bool again;        /* there is none: its tensors begin anew             */
    merge_desc *merge; /* of the shared loops, with their own ranges */
    lop stop;          /* what was behind the loop */
    tensor *view;      /* of results: as parallel_loop.rows has them, then .meet */
} worker;

struct parallel {
    int nloop, nworker;
    parallel_loop *loop;
    uint8_t *sharing; /* of all loops: a row of tensors each */
    worker **worker;
    int room; /* for workers */
};

typedef struct chunk {
    int worker;
    bool done; /* its parts are whole */
    value sum[PARALLEL_SUMS];
} chunk;

/* Parts on their way into results (parallel_join.c). */
typedef struct joining {
    pthread_mutex_t lock; /* guards what follows, and chunk.done */
    pthread_cond_t turn;  /* more have their places              */
    pthread_cond_t calm;  /* nobody copies                       */
    int placed;           /* chunks whose parts have their places */
    int copying;          /* threads                             */
    bool lost;            /* there was no room: nothing is copied from then on */
    tensor_join to[PARALLEL_PARTS];
    tensor_part *part; /* of all chunks: a row of parts each */
} joining;

typedef struct job {
    machine *mc;
    const parallel_loop *pl;
    int n, threads;
    int64_t *bound;
    chunk *chunk;
    atomic_int next, failed; /* the chunk to be taken; the first that failed */
    _Atomic uint64_t steps;
    joining join;
    int64_t places[PARALLEL_PARTS]; /* of results in rows */
    int64_t meets[PARALLEL_PARTS];  /* of those in which chunks meet */
    void *apart[PARALLEL_PARTS];    /* … their values, of all chunks but the first */
    int sharers;                    /* threads that combine them                    */
} job;

static inline tensor_part *job_part(const job *j, int c, int k)
{
    return &j->join.part[c * j->pl->nparts + k];
}

/* Whether t is a result of the host's machine, into which workers store. */
static inline bool parallel_stores(const parallel_loop *pl, const slot *s, int t)
{
    const uint8_t how = pl->sharing[t];
    return how == SHARE_PLACES || how == SHARE_ROWS ||
           (how == SHARE_MEET && s->row->role != ROLE_WORK);
}

/* The part of the job that is worker number's: chunks, as long as there are any. Of loops
 * whose chunks meet each has a worker of its own: then those that are the thread's. */
void parallel_work(void *context, int number);
/* A worker sees what the host's machine has at the loop; and no more. */
stc_status parallel_open(worker *w, job *j);
void parallel_close(worker *w, const parallel_loop *pl);

/* parallel_meet.c: before chunks run, by the host's thread; false: there is no memory. When
 * chunk c begins; when all are through. */
bool parallel_meet_begin(job *j);
stc_status parallel_meet_chunk(worker *w, const job *j, int c);
stc_status parallel_meet_end(job *j);
void parallel_meet_free(job *j);

/* parallel_join.c: before chunks run; when a chunk of w's has run, whose parts' ranges of
 * the first level are set; when one has failed; when all are through. */
stc_status parallel_join_begin(job *j);
stc_status parallel_join_chunk(worker *w, job *j, int c);
void parallel_join_fail(job *j);
stc_status parallel_join_end(job *j);
void parallel_join_free(job *j);

#endif
