/* pool.c: threads that wait for jobs.
 *
 * A job is announced by its number; each thread does its part once and counts
 * itself out.
 */
#include "pool.h"
#include "../../formats/base/thread.h"

typedef struct member {
    pool *of;
    int number; /* from 1 */
    pthread_t thread;
} member;

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    pool_fn fn;
    void *job;
    uint64_t jobs; /* announced so far                        */
    int wanted;    /* threads of the present job, the caller included */
    int busy;      /* members that aren't through with it     */
    bool ready, quit;
    int count, room;
    member *member;
};

static void *serve(void *arg)
{
    member *me = arg;
    pool *p = me->of;
    uint64_t seen = 0;
    pthread_mutex_lock(&p->lock);
    for (;;) {
        while (!p->quit && p->jobs == seen)
            pthread_cond_wait(&p->work, &p->lock);
        if (p->quit) break;
        seen = p->jobs;
        if (me->number < p->wanted) {
            pthread_mutex_unlock(&p->lock);
            p->fn(p->job, me->number);
            pthread_mutex_lock(&p->lock);
        }
        if (--p->busy == 0) pthread_cond_signal(&p->done);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static void stop(ctx *cx, pool *p)
{
    pthread_mutex_lock(&p->lock);
    p->quit = true;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    for (int k = 0; k < p->count; k++)
        thread_join(cx, p->member[k].thread);
    mem_free(cx, p->member, (size_t)p->room * sizeof *p->member);
    p->member = NULL;
    p->count = p->room = 0;
    p->quit = false;
    p->jobs = 0;
}

static void pool_end(ctx *cx, void *part)
{
    pool *p = part;
    if (!p->ready) return;
    stop(cx, p);
    pthread_cond_destroy(&p->work);
    pthread_cond_destroy(&p->done);
    pthread_mutex_destroy(&p->lock);
}

/* NULL: there is no memory, and the caller does without. */
static pool *pool_of(ctx *cx)
{
    static const part_kind kind = {sizeof(pool), pool_end};
    pool *p = ctx_part(cx, &kind);
    if (!p) diag_clear(cx);
    if (p && !p->ready)
        *p = (pool){.lock = PTHREAD_MUTEX_INITIALIZER,
                    .work = PTHREAD_COND_INITIALIZER,
                    .done = PTHREAD_COND_INITIALIZER,
                    .ready = true};
    return p;
}

/* So many members if they can be had. Members know where they are: for more of
 * them all begin anew. */
static void grow(ctx *cx, pool *p, int members)
{
    if (p->room >= members) return;
    stop(cx, p);
    p->member = mem_array(cx, members, sizeof *p->member);
    if (!p->member) {
        diag_clear(cx); /* there is another way */
        return;
    }
    p->room = members;
    while (p->count < members) {
        member *m = &p->member[p->count];
        *m = (member){.of = p, .number = p->count + 1};
        if (!thread_start(cx, &m->thread, serve, m)) break;
        p->count++;
    }
}

void pool_run(ctx *cx, int threads, pool_fn fn, void *job)
{
    pool *p = pool_of(cx);
    if (p) grow(cx, p, threads - 1);
    const int have = p ? p->count : 0;
    if (have) {
        pthread_mutex_lock(&p->lock);
        p->fn = fn;
        p->job = job;
        p->wanted = threads;
        p->busy = have;
        p->jobs++;
        pthread_cond_broadcast(&p->work);
        pthread_mutex_unlock(&p->lock);
    }
    fn(job, 0);
    for (int t = have + 1; t < threads; t++)
        fn(job, t);
    if (!have) return;
    pthread_mutex_lock(&p->lock);
    while (p->busy)
        pthread_cond_wait(&p->done, &p->lock);
    pthread_mutex_unlock(&p->lock);
}
