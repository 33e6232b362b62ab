/* ws_pipe.c: sorting and merging on a second thread, while the first goes on
 * inserting (workspaces paper, §5.3, pipelining; fig. 9).
 *
 * There are two accumulation arrays, which change places when one is full. All
 * memory is had by the inserting thread before a batch is handed over; the other
 * one only computes. Between two batches it waits. Only on machines that were
 * given more than one thread, and for batches that are worth it.
 */
#include "../../formats/base/thread.h"
#include "ws.h"

#ifdef STC_SAN
enum { PIPE_LEAST = 4 }; /* small cases go this way too */
#else
enum { PIPE_LEAST = 4096 };
#endif

struct ws_pipe {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t signal;
    bool busy, quit; /* under the lock */
    fn_fault fault;
    workspace *w; /* what is merged, while busy */
    ws_list acc;
    ws_record *record;
    int64_t record_cap; /* of all, two halves */
};

static void *serve(void *arg)
{
    ws_pipe *p = arg;
    pthread_mutex_lock(&p->lock);
    for (;;) {
        while (!p->busy && !p->quit)
            pthread_cond_wait(&p->signal, &p->lock);
        if (p->quit) break;
        pthread_mutex_unlock(&p->lock);
        ws_sort_list(NULL, p->w, &p->acc, p->record, p->record_cap / 2);
        p->fault = ws_merge(NULL, p->w, &p->acc, p->record);
        pthread_mutex_lock(&p->lock);
        p->busy = false;
        pthread_cond_broadcast(&p->signal);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static bool start(ctx *cx, ws_pipe *p)
{
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->signal, NULL);
    if (thread_start(cx, &p->thread, serve, p)) return true;
    pthread_cond_destroy(&p->signal);
    pthread_mutex_destroy(&p->lock);
    return false;
}

static bool ready(machine *mc, workspace *w)
{
    if (mc->cx->threads < 2 || w->acc.n < PIPE_LEAST) return false; /* workers have none */
    if (!w->apply) return false; /* a user's function needs the machine */
    if (w->pipe) return true;
    ws_pipe *p = mem_zero(mc->cx, 1, sizeof *p);
    if (p && !start(mc->cx, p)) {
        mem_free(mc->cx, p, sizeof *p);
        p = NULL;
    }
    if (!p) diag_clear(mc->cx);
    w->pipe = p;
    return p != NULL;
}

static void settle(ws_pipe *p)
{
    pthread_mutex_lock(&p->lock);
    while (p->busy)
        pthread_cond_wait(&p->signal, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

stc_status ws_pipe_wait(machine *mc, workspace *w, const lop *at)
{
    ws_pipe *p = w->pipe;
    if (!p) return STC_OK;
    settle(p);
    const fn_fault fault = p->fault;
    p->fault = FAULT_NONE;
    return fault ? machine_fault(mc, at, fault) : STC_OK;
}

void ws_pipe_drop(workspace *w)
{
    if (!w->pipe) return;
    settle(w->pipe);
    w->pipe->fault = FAULT_NONE;
}

bool ws_pipe_flush(machine *mc, workspace *w, const lop *at, stc_status *st)
{
    if (!ready(mc, w)) return false;
    ws_pipe *p = w->pipe;
    ctx *cx = mc->cx;
    const int64_t n = w->acc.n;
    *st = ws_pipe_wait(mc, w, at);
    if (*st) return true;
    const int64_t most = w->all.n + n;
    if (ws_list_reserve(cx, w, &w->all, most) || ws_list_reserve(cx, w, &w->other, most) ||
        mem_grow(cx, &p->record, &p->record_cap, 2 * n, sizeof *p->record)) {
        *st = cx->diag.status;
        return true;
    }
    if (w->kind->clear) w->kind->clear(w);
    w->about += n;
    const ws_list empty = p->acc;
    p->acc = w->acc;
    w->acc = empty;
    w->acc.n = 0;
    p->w = w;
    pthread_mutex_lock(&p->lock);
    p->busy = true;
    pthread_cond_broadcast(&p->signal);
    pthread_mutex_unlock(&p->lock);
    return true;
}

void ws_pipe_free(ctx *cx, workspace *w)
{
    ws_pipe *p = w->pipe;
    if (!p) return;
    settle(p);
    pthread_mutex_lock(&p->lock);
    p->quit = true;
    pthread_cond_broadcast(&p->signal);
    pthread_mutex_unlock(&p->lock);
    thread_join(cx, p->thread);
    pthread_cond_destroy(&p->signal);
    pthread_mutex_destroy(&p->lock);
    ws_list_free(cx, w, &p->acc);
    mem_free(cx, p->record, (size_t)p->record_cap * sizeof *p->record);
    mem_free(cx, p, sizeof *p);
    w->pipe = NULL;
}
