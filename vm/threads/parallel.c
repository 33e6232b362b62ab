/* parallel.c: a shared loop on threads: workers, chunks, and what comes of them.
 *
 * Each thread has a worker, a machine linked from the same program with registers,
 * loops, faster tiers and workspaces of its own. It begins a chunk with the
 * registers that the host's machine has at the loop, runs the loop's code with the
 * chunk's range, and stops behind it. Nothing of the host's machine changes but
 * places of results, until all threads are through.
 *
 * Chunks are taken in order, so the first error in the loop's order is the one
 * that is told: chunks before it are finished, those after it are given up.
 */
#include "../../formats/base/spill.h"
#include "../code/text.h"
#include "parallel_job.h"
#include <string.h>

/* ---- workers ----------------------------------------------------------------------- */

int parallel_loops(const machine *mc)
{
    return mc->worker ? mc->worker->of->nloop : 0;
}

void parallel_narrow(machine *mc)
{
    worker *w = mc->worker;
    for (int k = 0; k < w->of->nloop; k++) {
        loop *l = &mc->loops[w->of->loop[k].number];
        w->merge[k] = *l->merge;
        w->merge[k].lo = (uint16_t)(mc->p->next + 2 * k);
        w->merge[k].hi = (uint16_t)(mc->p->next + 2 * k + 1);
        l->merge = &w->merge[k];
    }
}

static void worker_free(ctx *cx, worker *w)
{
    machine_free(w->mc);
    mem_free(cx, w->merge, (size_t)w->of->nloop * sizeof *w->merge);
    mem_free(cx, w->view, 2 * PARALLEL_PARTS * sizeof *w->view);
    mem_free(cx, w, sizeof *w);
}

static worker *worker_new(machine *mc)
{
    ctx *cx = mc->cx;
    worker *w = mem_zero(cx, 1, sizeof *w);
    if (!w) return NULL;
    w->of = mc->parallel;
    w->number = mc->parallel->nworker;
    w->cx.root = cx;
    w->cx.no_super = cx->no_super;
    w->cx.profile = cx->profile;
    w->merge = mem_array(cx, w->of->nloop, sizeof *w->merge);
    w->view = mem_array(cx, 2 * PARALLEL_PARTS, sizeof *w->view);
    w->mc = w->merge && w->view ? mem_zero(&w->cx, 1, sizeof *w->mc) : NULL;
    if (w->mc) {
        w->mc->cx = &w->cx;
        w->mc->p = mc->p;
        w->mc->worker = w;
    }
    if (!w->mc || machine_link(w->mc)) {
        worker_free(cx, w);
        return NULL;
    }
    return w;
}

/* As many as there are threads; false: there is no memory for them. */
static bool workers_ready(machine *mc, int threads)
{
    struct parallel *par = mc->parallel;
    if (par->room < threads) {
        const size_t size = sizeof *par->worker;
        void *grown = mem_resize(mc->cx, par->worker, (size_t)par->room * size,
                                 (size_t)threads * size);
        if (!grown) return false;
        par->worker = grown;
        par->room = threads;
    }
    for (; par->nworker < threads; par->nworker++) {
        worker *w = worker_new(mc);
        if (!w) return false;
        par->worker[par->nworker] = w;
    }
    return true;
}

void parallel_free(machine *mc)
{
    struct parallel *par = mc->parallel;
    if (!par) return;
    for (int k = 0; k < par->nworker; k++)
        worker_free(mc->cx, par->worker[k]);
    mem_free(mc->cx, par->worker, (size_t)par->room * sizeof *par->worker);
    mem_free(mc->cx, par->loop, (size_t)mc->nloop * sizeof *par->loop);
    mem_free(mc->cx, par->sharing, (size_t)mc->nloop * (size_t)mc->p->ntensor);
    mem_free(mc->cx, par, sizeof *par);
    mc->parallel = NULL;
}

/* ---- finding ----------------------------------------------------------------------- */

static bool marks_loops(const program *p)
{
    for (int k = 0; k < p->ncode; k++)
        if (p->code[k].op == OP_SHARE) return true;
    return false;
}

stc_status parallel_check(machine *mc)
{
    const program *p = mc->p;
    if (!marks_loops(p)) return STC_OK;
    uint8_t *uses = mem_zero(mc->cx, p->ntensor + 1, sizeof *uses);
    if (!uses) return mc->cx->diag.status;
    stc_status st = STC_OK;
    for (int k = 0; k + 1 < mc->nmain && !st; k++) {
        parallel_loop pl = {.asked = true, .sharing = uses};
        if (p->code[mc->origin[k]].op != OP_SHARE) continue;
        memset(uses, 0, (size_t)p->ntensor);
        if (parallel_find(mc, k + 1, &pl)) continue;
        st = mc->cx->diag.status; /* there was no memory to find out */
        if (!st)
            st = machine_fail(mc, &mc->code[k], STC_ERR_PROGRAM,
                              "parallelize: threads can't share the rounds of this loop: "
                              "%s",
                              pl.why);
    }
    mem_free(mc->cx, uses, (size_t)(p->ntensor + 1) * sizeof *uses);
    return st;
}

stc_status parallel_prepare(machine *mc)
{
    struct parallel *par = mc->parallel = mem_zero(mc->cx, 1, sizeof *par);
    if (!par) return mc->cx->diag.status;
    if (mc->nloop == 0) return STC_OK;
    const int64_t row = mc->p->ntensor;
    par->loop = mem_zero(mc->cx, mc->nloop, sizeof *par->loop);
    par->sharing = mem_zero(mc->cx, mc->nloop, (size_t)row);
    if (!par->loop || !par->sharing) return mc->cx->diag.status;
    const bool marks = marks_loops(mc->p);
    int depth = 0;
    for (int k = 0; k < mc->nmain; k++) {
        const bool asked = k && mc->p->code[mc->origin[k - 1]].op == OP_SHARE;
        const int op = mc->p->code[mc->origin[k]].op;
        depth -= op_closes(op);
        if (op == OP_LOOP && depth == 0 && asked == marks &&
            mc->p->next + 2 * par->nloop + 2 < ROOT) {
            parallel_loop *pl = &par->loop[par->nloop];
            *pl =
                (parallel_loop){.asked = asked, .sharing = par->sharing + par->nloop * row};
            memset(pl->sharing, 0, (size_t)row);
            if (parallel_find(mc, k, pl)) par->nloop++;
        }
        depth += op_opens(op);
    }
    for (int k = 0; k < par->nloop; k++) {
        parallel_loop *pl = &par->loop[k];
        if (mc->profile) { /* behind what counts it */
            pl->op = mc->profile[pl->first].op;
            mc->profile[pl->first].op = LOP_PARALLEL;
            continue;
        }
        pl->op = mc->code[pl->first].op;
        machine_patch(mc, &mc->code[pl->first], LOP_PARALLEL);
    }
    return STC_OK;
}

/* ---- what comes of them -------------------------------------------------------------- */

static void add_sums(job *j)
{
    for (int k = 0; k < j->pl->nsum; k++) {
        value *to = &j->mc->v[j->pl->sum[k].reg];
        const fn_scalar fn = fn_scalar_of(j->pl->sum[k].fn, (vclass)j->pl->sum[k].cls);
        for (int c = 0; c < j->n; c++)
            fn(to, to, &j->chunk[c].sum[k], NULL);
    }
}

/* The error of the first chunk that failed, as the host's machine's. */
static stc_status tell_failure(job *j)
{
    ctx *cx = j->mc->cx;
    const int c = atomic_load(&j->failed);
    worker *const *w = j->mc->parallel->worker; /* who ran it ended there */
    while (!(*w)->cx.diag.status || (*w)->chunk != c)
        w++;
    cx->diag = (*w)->cx.diag;
    return cx->diag.status;
}

static stc_status run_job(job *j)
{
    machine *mc = j->mc;
    atomic_store(&j->failed, INT32_MAX);
    mc->steps += (uint64_t)(mc->slice - mc->left);
    mc->cx->steps += (uint64_t)(mc->slice - mc->left);
    mc->slice = mc->left = 0;
    pool_run(mc->cx, j->threads, parallel_work, j);
    mc->steps += atomic_load(&j->steps);
    mc->cx->steps += atomic_load(&j->steps);
    for (int k = 0; mc->profile && k < mc->parallel->nworker; k++)
        machine_profile_add(mc, mc->parallel->worker[k]->mc, j->pl->first, j->threads);
    if (atomic_load(&j->failed) < INT32_MAX) return tell_failure(j);
    add_sums(j);
    if (parallel_meet_end(j)) return mc->cx->diag.status;
    for (int k = 0; k < j->pl->nrows; k++) {
        slot *s = &mc->slot[j->pl->rows[k]];
        if (s->own->nvals < j->places[k]) s->own->nvals = j->places[k];
    }
    if (parallel_join_end(j)) return mc->cx->diag.status;
    return machine_poll(mc);
}

/* There is room for every place that will be written, so that storing moves nothing; and
 * all have their fills but those that workers see to. */
static bool places_ready(job *j)
{
    const parallel_loop *pl = j->pl;
    for (int k = 0; k < pl->nrows; k++) {
        tensor *t = j->mc->slot[pl->rows[k]].own;
        j->places[k] = tensor_places(t);
        if (j->places[k] == NONE || tensor_reserve_values(t, j->places[k])) return false;
        t->few = 0; /* a worker fills no more than its own */
        /* few of them differ from it */
        if (t->stains.old && tensor_extend_values(t, j->places[k])) return false;
    }
    for (int t = 0; t < j->mc->p->ntensor; t++) {
        const slot *s = &j->mc->slot[t];
        if (pl->sharing[t] == SHARE_ROWS || !parallel_stores(pl, s, t)) continue;
        const int64_t places = tensor_places(s->own);
        if (places == NONE || tensor_extend_values(s->own, places)) return false;
        for (int k = 0; k < pl->nmeet; k++)
            if (pl->meet[k].tensor == t) j->meets[k] = places;
    }
    return true;
}

/* How many threads chunks are for: twice as many where what they append is likely to go to
 * files, as an operand is that large. While one waits for the disk, another runs. */
static int threads_for(const machine *mc, const parallel_loop *pl)
{
    const ctx *cx = mc->cx;
    bool filed = false;
    for (int k = 0; k < mc->p->ntensor && pl->nparts && cx->threads > 1; k++) {
        const tensor *t = pl->sharing[k] == SHARE_READ ? mc->slot[k].t : NULL;
        filed |= t && spill_takes(cx, (size_t)t->nvals * type_size(t->type));
    }
    return filed ? 2 * cx->threads : cx->threads > 1 ? cx->threads : 1;
}

/* Where bits mustn't hang on the number of threads, it isn't what decides on chunks. */
enum { DETERMINISTIC_CUT = 8 };

stc_status parallel_run(machine *mc, const lop *at, const lop **next, unsigned *op)
{
    ctx *cx = mc->cx;
    parallel_loop *pl = mc->parallel->loop;
    while (pl->first != (int)(at - mc->code))
        pl++;
    *op = pl->op;
    *next = NULL;
    pl->ran = false;
    const merge_desc *m = mc->loops[pl->number].merge;
    const int64_t lo = m->lo == ROOT ? 0 : mc->ext[m->lo];
    const int64_t hi = mc->ext[m->hi];
    int64_t bound[CHUNKS_MAX + 2];
    if ((cx->threads < 2 && !cx->deterministic) || hi <= lo || hi - lo < 2) return STC_OK;
    const int cut = cx->deterministic ? DETERMINISTIC_CUT : cx->threads;
    const int n = parallel_split(mc, pl, lo, hi, cut, bound);
    if (n < 2) return STC_OK;
    int threads = threads_for(mc, pl);
    if (threads > n) threads = n;
    if (cx->deterministic && !pl->nmeet) {
        if (!workers_ready(mc, threads)) threads = 1;
        diag_clear(cx);
    }
    chunk *chunks = mem_zero(cx, n, sizeof *chunks);
    job j = {
        .mc = mc, .pl = pl, .n = n, .threads = threads, .bound = bound, .chunk = chunks};
    j.join.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    j.join.turn = j.join.calm = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    const bool ready = chunks && workers_ready(mc, pl->nmeet ? n : threads) &&
                       places_ready(&j) && parallel_meet_begin(&j) &&
                       !parallel_join_begin(&j);
    stc_status st = STC_OK;
    if (ready) {
        st = run_job(&j);
    } else if (cx->deterministic) { /* the other way may have other bits */
        st = cx->diag.status;
        if (!st)
            st = fail(cx, STC_ERR_MEMORY, "there is no room for the results of chunks");
    } else {
        diag_clear(cx); /* there is another way */
    }
    parallel_meet_free(&j);
    parallel_join_free(&j);
    mem_free(cx, chunks, (size_t)n * sizeof *chunks);
    pl->ran = ready;
    if (ready) *next = mc->loops[pl->whole].exit;
    return st;
}
