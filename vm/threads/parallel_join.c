/* parallel_join.c: what chunks append, put into results while others still run.
 *
 * A worker assembles a chunk's parts of results in tensors of its own, and copies them
 * into the results when the chunk is through, out of its cache: then its tensors begin
 * anew, in the same memory. So a result crosses the memory once, as by one thread. Where
 * a part comes to lie is known when the chunks before it are through: whoever completes
 * that row of chunks places all of them; one that came too early stays in its worker's
 * tensors, which go on, until the worker comes by again. If these get too large for a
 * cache the worker waits for its turn, which can't be far. Results are made room for while
 * nobody copies.
 */
#include "parallel_job.h"

enum { KEPT_BYTES = 1 << 21 }; /* values of parts that wait to be copied: much of a cache */

stc_status parallel_join_begin(job *j)
{
    const int n = j->pl->nparts;
    if (n == 0) return STC_OK;
    j->join.part = mem_zero(j->mc->cx, (int64_t)j->n * n, sizeof *j->join.part);
    if (!j->join.part) return j->mc->cx->diag.status;
    for (int k = 0; k < n; k++)
        if (join_begin(&j->join.to[k], j->mc->slot[j->pl->parts[k]].own))
            return j->mc->cx->diag.status;
    return STC_OK;
}

void parallel_join_free(job *j)
{
    if (j->join.part)
        mem_free(j->mc->cx, j->join.part,
                 (size_t)j->n * (size_t)j->pl->nparts * sizeof *j->join.part);
}

/* The lock is held, and nobody copies: results may move. What they need is asked for by
 * context cx, of the thread that asks. */
static stc_status make_room(job *j, ctx *cx, int c)
{
    for (int k = 0; k < j->pl->nparts; k++) {
        tensor_join *to = &j->join.to[k];
        ctx *const own = to->to->cx;
        to->to->cx = cx;
        const stc_status st = join_room(to, job_part(j, c, k));
        to->to->cx = own;
        if (st) return st;
    }
    return STC_OK;
}

/* Places for all chunks in a row that are through; the lock is held. */
static stc_status place_chunks(job *j, ctx *cx)
{
    joining *join = &j->join;
    while (!join->lost && join->placed < j->n && j->chunk[join->placed].done) {
        const int c = join->placed;
        bool fits = true;
        for (int k = 0; k < j->pl->nparts; k++)
            fits &= join_fits(&join->to[k], job_part(j, c, k));
        if (!fits && join->copying) { /* others may place it meanwhile */
            pthread_cond_wait(&join->calm, &join->lock);
            continue;
        }
        if (!fits && make_room(j, cx, c)) { /* some of them may lie elsewhere now */
            join->lost = true;
            pthread_cond_broadcast(&join->turn);
            return cx->diag.status;
        }
        for (int k = 0; k < j->pl->nparts; k++)
            join_place(&join->to[k], job_part(j, c, k));
        join->placed++;
        pthread_cond_broadcast(&join->turn);
    }
    return STC_OK;
}

/* Copies what worker `number` has of chunks before `end`, from *kept on; true: no chunk
 * before c is left. */
static bool copy_chunks(job *j, int number, int *kept, int end, int c)
{
    for (int b = *kept; b < end; b++) {
        if (j->chunk[b].worker != number) continue;
        for (int k = 0; k < j->pl->nparts; k++)
            join_copy(&j->join.to[k], job_part(j, b, k));
    }
    *kept = end;
    return end > c;
}

static bool too_large(const worker *w, const job *j)
{
    int64_t bytes = 0;
    for (int k = 0; k < j->pl->nparts; k++) {
        const tensor *t = w->mc->slot[j->pl->parts[k]].own;
        bytes += t->nvals * (int64_t)type_size(t->type);
    }
    return bytes > KEPT_BYTES;
}

stc_status parallel_join_chunk(worker *w, job *j, int c)
{
    joining *join = &j->join;
    for (int k = 0; k < j->pl->nparts; k++)
        if (join_close(job_part(j, c, k))) return w->cx.diag.status;
    const bool wait = too_large(w, j);
    pthread_mutex_lock(&join->lock);
    j->chunk[c].done = true;
    const stc_status st = place_chunks(j, &w->cx);
    while (wait && !join->lost && join->placed <= c && atomic_load(&j->failed) > c)
        pthread_cond_wait(&join->turn, &join->lock);
    const int end = join->lost ? w->kept : join->placed;
    join->copying++;
    pthread_mutex_unlock(&join->lock);
    const bool all = copy_chunks(j, w->number, &w->kept, end, c);
    pthread_mutex_lock(&join->lock);
    if (--join->copying == 0) pthread_cond_broadcast(&join->calm);
    pthread_mutex_unlock(&join->lock);
    w->again = all;
    return st;
}

void parallel_join_fail(job *j)
{
    pthread_mutex_lock(&j->join.lock);
    pthread_cond_broadcast(&j->join.turn);
    pthread_mutex_unlock(&j->join.lock);
}

/* By one thread: what is left is what waited for the last chunk. */
stc_status parallel_join_end(job *j)
{
    if (j->pl->nparts == 0) return STC_OK;
    if (place_chunks(j, j->mc->cx)) return j->mc->cx->diag.status;
    for (int t = 0; t < j->threads; t++)
        copy_chunks(j, t, &j->mc->parallel->worker[t]->kept, j->n, 0);
    for (int k = 0; k < j->pl->nparts; k++) {
        join_end(&j->join.to[k]);
        slot *s = &j->mc->slot[j->pl->parts[k]];
        s->stores++;
        s->joined = true;
    }
    return STC_OK;
}
