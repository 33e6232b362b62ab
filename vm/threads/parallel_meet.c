/* parallel_meet.c: results and workspaces to which all rounds of a shared loop add.
 *
 * Each chunk adds to one of its own, on a worker of its own, and they are combined when
 * all are through, in the loop's order. Of results in which every place is known the first
 * chunk stores into the host machine's, and the others into values that begin with the
 * operator's identity; threads combine them, each some of the places. Workspaces are begun
 * for each worker, and poured into the host machine's (vm/work/ws_pour.c). So what comes
 * out depends on where the range was cut, and on nothing else. (Reduction by privatised
 * arrays, as compilers for shared memory have it; Pottenger, 1997.)
 *
 * All memory for it is taken before the first round, but for what workspaces grow by that
 * are lists: if there isn't any, one thread runs the loop.
 */
#include "../work/ws_pour.h"
#include "parallel_job.h"

enum {
    BLOCK = 1024,         /* values that are combined together: they stay in a cache */
    MEET_LEAST = 1 << 14, /* places that are worth a second thread */
    /* elements that a chunk has to have for each place of a result, and for each
     * coordinate of a workspace, which has to find out what is there (measured on sums of
     * columns: from half as many on they pay) */
    GRAIN_PLACE = 4,
    GRAIN_COORDINATE = 16,
};

static slot *met(const machine *mc, const job *j, int k)
{
    return &mc->slot[j->pl->meet[k].tensor];
}

static bool is_work(const job *j, int k)
{
    return met(j->mc, j, k)->row->role == ROLE_WORK;
}

static worker *worker_of(const job *j, int c)
{
    return j->mc->parallel->worker[c];
}

int64_t parallel_meet_grain(const machine *mc, const parallel_loop *pl)
{
    int64_t sum = 0;
    for (int k = 0; k < pl->nmeet; k++) {
        const slot *s = &mc->slot[pl->meet[k].tensor];
        int64_t n = s->row->role == ROLE_WORK ? GRAIN_COORDINATE : GRAIN_PLACE;
        for (int m = 0; m < s->own->order; m++)
            if (!size_mul(n, s->own->shape[m], &n)) return INT64_MAX;
        if (__builtin_add_overflow(sum, n, &sum)) return INT64_MAX;
    }
    return sum;
}

/* ---- before and while chunks run -------------------------------------------------------
 */

static bool begin_worker(job *j, int c)
{
    worker *w = worker_of(j, c);
    if (parallel_open(w, j)) return false;
    for (int k = 0; k < j->pl->nmeet; k++)
        if (is_work(j, k) && !ws_begin_beside(w->mc, met(w->mc, j, k), met(j->mc, j, k)))
            return false;
    return true;
}

bool parallel_meet_begin(job *j)
{
    const parallel_loop *pl = j->pl;
    if (!pl->nmeet) return true;
    for (int k = 0; k < pl->nmeet; k++) {
        int64_t n;
        if (is_work(j, k)) continue;
        if (!size_mul(j->meets[k], j->n - 1, &n)) return false;
        j->apart[k] = mem_array(j->mc->cx, n, type_size(met(j->mc, j, k)->row->type));
        if (!j->apart[k]) return false;
    }
    for (int c = 0; c < j->n; c++)
        if (!begin_worker(j, c)) return false;
    return true;
}

/* The values of chunk c, which isn't the first. */
static void *values_of(const job *j, int k, int c)
{
    const size_t size = type_size(met(j->mc, j, k)->row->type);
    return (char *)j->apart[k] + (size_t)(j->meets[k] * (c - 1)) * size;
}

stc_status parallel_meet_chunk(worker *w, const job *j, int c)
{
    for (int k = 0; k < j->pl->nmeet && c > 0; k++) {
        tensor *t = met(w->mc, j, k)->own;
        const value fill = t->fill;
        if (is_work(j, k)) continue;
        t->vals = values_of(j, k, c);
        t->vals_cap = j->meets[k];
        t->nvals = t->few = 0;
        t->fill = j->pl->meet[k].identity;
        const stc_status st = tensor_extend_values(t, j->meets[k]);
        t->fill = fill;
        if (st) return st;
    }
    return STC_OK;
}

void parallel_meet_free(job *j)
{
    const machine *mc = j->mc;
    for (int k = 0; k < j->pl->nmeet; k++) {
        if (j->apart[k])
            mem_free(mc->cx, j->apart[k],
                     (size_t)(j->meets[k] * (j->n - 1)) *
                         type_size(met(mc, j, k)->row->type));
        for (int c = 0; c < j->n && c < mc->parallel->nworker; c++)
            if (is_work(j, k) && mc->cx->max_memory) /* others may need it */
                ws_free(worker_of(j, c)->mc, met(worker_of(j, c)->mc, j, k));
    }
    for (int c = 0; j->pl->nmeet && c < j->n && c < mc->parallel->nworker; c++)
        parallel_close(worker_of(j, c), j->pl);
}

/* ---- combining -------------------------------------------------------------------------
 */

/* Values begin … end of the result, with those of one more chunk. */
static void combine_block(const job *j, int k, int c, int64_t begin, int64_t end)
{
    const slot *s = met(j->mc, j, k);
    const stc_type type = s->row->type;
    const vclass cls = type_class(type);
    const int fn = j->pl->meet[k].fn;
    void *to = s->own->vals, *from = values_of(j, k, c);
    const size_t size = type_size(type), skip = (size_t)begin * size;
    if (class_type(cls) == type) {
        fn_array_of(fn, cls)((char *)to + skip, (char *)to + skip, (char *)from + skip,
                             NULL, (int)(end - begin));
        return;
    }
    const fn_scalar one = fn_scalar_of(fn, cls);
    for (int64_t i = begin; i < end; i++) {
        value x = type_load(type, to, i);
        const value y = type_load(type, from, i);
        one(&x, &x, &y, NULL);
        type_store(type, to, i, x);
    }
}

/* The places that are thread number's: a block goes through all chunks. */
static void combine(void *context, int number)
{
    const job *j = context;
    for (int k = 0; k < j->pl->nmeet; k++) {
        const int64_t blocks = (j->meets[k] + BLOCK - 1) / BLOCK;
        const int64_t last = blocks * (number + 1) / j->sharers;
        for (int64_t b = blocks * number / j->sharers; b < last; b++) {
            const int64_t begin = b * BLOCK, rest = j->meets[k] - begin;
            for (int c = 1; c < j->n; c++)
                combine_block(j, k, c, begin, begin + (rest < BLOCK ? rest : BLOCK));
        }
    }
}

stc_status parallel_meet_end(job *j)
{
    const parallel_loop *pl = j->pl;
    machine *mc = j->mc;
    int64_t most = 0;
    for (int k = 0; k < pl->nmeet; k++) {
        if (j->meets[k] > most) most = j->meets[k];
        for (int c = 0; c < j->n && is_work(j, k); c++) {
            machine *of = worker_of(j, c)->mc;
            if (ws_pour(mc, met(mc, j, k), of, met(of, j, k), &mc->code[pl->meet[k].at]))
                return mc->cx->diag.status;
        }
    }
    j->sharers = most >= MEET_LEAST ? j->threads : 1;
    if (j->sharers > 1)
        pool_run(mc->cx, j->sharers, combine, j);
    else if (most)
        combine(j, 0);
    return STC_OK;
}
