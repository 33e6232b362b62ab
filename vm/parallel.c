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
#include "parallel.h"
#include "../formats/join.h"
#include <string.h>

enum { WORKER_ROUNDS = 4096 }; /* between two looks at limits and interrupts */

typedef struct worker {
    ctx cx;
    machine *mc;
    const struct parallel *of;
    struct job *job; /* what it is doing, and of which chunk */
    int number, chunk;
    merge_desc *merge; /* of the shared loops, with their own ranges */
    lop stop;          /* what was behind the loop */
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
} job;

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
    if (!w) return;
    machine_free(w->mc);
    mem_free(cx, w->merge, (size_t)w->of->nloop * sizeof *w->merge);
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
    w->merge = mem_array(cx, w->of->nloop, sizeof *w->merge);
    w->mc = w->merge ? mem_zero(&w->cx, 1, sizeof *w->mc) : NULL;
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
        parallel_loop pl = {.sharing = uses};
        if (p->code[mc->origin[k]].op != OP_SHARE) continue;
        memset(uses, 0, (size_t)p->ntensor);
        if (!parallel_find(mc, k + 1, &pl))
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
    if (mc->profile || mc->nloop == 0) return STC_OK;
    const int64_t row = mc->p->ntensor;
    par->loop = mem_zero(mc->cx, mc->nloop, sizeof *par->loop);
    par->sharing = mem_zero(mc->cx, mc->nloop, (size_t)row);
    if (!par->loop || !par->sharing) return mc->cx->diag.status;
    const bool marks = marks_loops(mc->p);
    int depth = 0;
    for (int k = 0; k < mc->nmain; k++) {
        const bool asked = k && mc->p->code[mc->origin[k - 1]].op == OP_SHARE;
        const int op = mc->p->code[mc->origin[k]].op;
        if (op == OP_END || op == OP_ENDIF || op == OP_ENDWHILE) depth--;
        if (op == OP_LOOP && depth == 0 && asked == marks &&
            mc->p->next + 2 * par->nloop + 2 < ROOT) {
            parallel_loop *pl = &par->loop[par->nloop];
            *pl =
                (parallel_loop){.asked = asked, .sharing = par->sharing + par->nloop * row};
            memset(pl->sharing, 0, (size_t)row);
            if (parallel_find(mc, k, pl)) par->nloop++;
        }
        if (op == OP_LOOP || op == OP_IF || op == OP_WHILE) depth++;
    }
    for (int k = 0; k < par->nloop; k++) {
        parallel_loop *pl = &par->loop[k];
        pl->op = mc->code[pl->first].op;
        machine_patch(mc, &mc->code[pl->first], LOP_PARALLEL);
    }
    return STC_OK;
}

/* ---- a worker's state ---------------------------------------------------------------- */

static void copy_registers(worker *w, const machine *from)
{
    machine *mc = w->mc;
    const program *p = mc->p;
    memcpy(mc->v, from->v, (size_t)p->nv * sizeof *mc->v);
    memcpy(mc->i, from->i, (size_t)p->ni * sizeof *mc->i);
    memcpy(mc->m, from->m, (size_t)p->nm * sizeof *mc->m);
    memcpy(mc->c, from->c, (size_t)p->nc * sizeof *mc->c);
    for (int k = 0; k < p->nc; k++) { /* cursors stand below each other */
        const cursor *up = from->c[k].c.up;
        mc->c[k].c.up = up ? &mc->c[(const mcursor *)(const void *)up - from->c].c : NULL;
    }
}

static stc_status copy_slots(worker *w, const machine *from, const parallel_loop *pl)
{
    machine *mc = w->mc;
    for (int t = 0; t < mc->p->ntensor; t++) {
        slot *to = &mc->slot[t];
        const slot *s = &from->slot[t];
        to->fill = s->fill;
        to->bound = s->bound;
        switch ((sharing)pl->sharing[t]) {
        case SHARE_OWN:
            break;
        case SHARE_READ:
            to->t = s->t;
            break;
        case SHARE_PLACES:
            to->t = to->own = s->own;
            to->stores = 0;
            memcpy(to->lev, s->lev, (size_t)s->row->fmt.levels * sizeof *s->lev);
            break;
        case SHARE_PARTS:
            if (asm_begin(mc, to)) return mc->cx->diag.status;
            break;
        }
    }
    return STC_OK;
}

/* What belongs to the host's machine isn't the worker's any more. */
static void drop_slots(worker *w, const parallel_loop *pl)
{
    for (int t = 0; t < w->mc->p->ntensor; t++) {
        slot *s = &w->mc->slot[t];
        s->bound = NULL;
        if (pl->sharing[t] == SHARE_READ) s->t = NULL;
        if (pl->sharing[t] == SHARE_PLACES) s->t = s->own = NULL;
    }
}

/* ---- chunks ------------------------------------------------------------------------ */

/* Adds the rounds done since the last look; the sum of all threads. The host's
 * progress function is called by its own thread only. */
static uint64_t count_steps(machine *mc)
{
    job *j = mc->worker->job;
    const uint64_t n = (uint64_t)(mc->slice - mc->left);
    mc->slice = mc->left = WORKER_ROUNDS;
    if (mc->worker->number == 0 && work_done(j->mc->cx, n * (uint64_t)j->threads))
        atomic_store(&j->stop, true);
    return atomic_fetch_add(&j->steps, n) + n;
}

stc_status parallel_poll(machine *mc)
{
    worker *w = mc->worker;
    job *j = w->job;
    ctx *cx = mc->cx, *root = cx->root;
    const uint64_t steps = j->mc->steps + count_steps(mc);
    if (root->max_steps && steps > root->max_steps)
        return fail(cx, STC_ERR_STEPS, "stopped after %llu steps, the limit of a run",
                    (unsigned long long)root->max_steps);
    if (atomic_load_explicit(&root->interrupt, memory_order_relaxed))
        return fail(cx, STC_ERR_INTERRUPT, "interrupted");
    if (atomic_load(&j->stop))
        return fail(cx, STC_ERR_INTERRUPT, "stopped by the progress function");
    if (w->chunk > atomic_load(&j->failed))
        return fail(cx, STC_ERR_INTERRUPT, "an earlier round failed");
    return STC_OK;
}

/* Where the first coordinate of a round will be in the first level of the worker's
 * part. */
static int64_t part_position(const worker *w, const parallel_loop *pl, uint16_t t,
                             int64_t round)
{
    const level *lv = &w->mc->slot[t].t->level[0];
    int64_t coord;
    if (lv->kind->arrays) return lv->size;
    if (!size_mul(round, pl->step, &coord)) coord = INT64_MAX;
    return coord - lv->base < lv->extent ? coord - lv->base : lv->extent;
}

/* The first chunk's parts are assembled in the results themselves: `to` lends the
 * host's machine's tensors to the worker, and takes them back. */
static void lend_results(worker *w, const job *j, bool to, slot *kept)
{
    for (int k = 0; k < j->pl->nparts; k++) {
        slot *s = &w->mc->slot[j->pl->parts[k]];
        const slot *r = &j->mc->slot[j->pl->parts[k]];
        r->own->cx = to ? &w->cx : j->mc->cx;
        if (to) {
            kept[k] = *s;
            s->t = s->own = r->own;
            continue;
        }
        s->t = s->own = kept[k].own;
        for (int l = 0; l < s->row->fmt.levels; l++) /* as begun */
            s->lev[l].parent = NONE;
    }
}

static stc_status run_chunk(worker *w, job *j, int c)
{
    machine *mc = w->mc;
    const parallel_loop *pl = j->pl;
    slot kept[PARALLEL_PARTS];
    chunk *out = &j->chunk[c];
    const loop *l = &mc->loops[pl->number];
    copy_registers(w, j->mc);
    for (int k = 0; k < pl->nsum; k++)
        mc->v[pl->sum[k].reg] = pl->sum[k].identity;
    mc->ext[l->merge->lo] = j->bound[c];
    mc->ext[l->merge->hi] = j->bound[c + 1];
    if (c == 0) lend_results(w, j, true, kept);
    for (int k = 0; k < pl->nparts; k++)
        out->begin[k] = part_position(w, pl, pl->parts[k], j->bound[c]);
    mc->slice = mc->left = WORKER_ROUNDS;
    stc_status st = machine_dispatch(mc, &mc->code[pl->first]);
    count_steps(mc);
    for (int k = 0; k < pl->nparts; k++)
        out->end[k] = part_position(w, pl, pl->parts[k], j->bound[c + 1]);
    if (c == 0) lend_results(w, j, false, kept);
    for (int k = 0; k < pl->nsum; k++)
        out->sum[k] = mc->v[pl->sum[k].reg];
    return st;
}

static void chunk_failed(job *j, int c)
{
    int before = atomic_load(&j->failed);
    while (c < before && !atomic_compare_exchange_weak(&j->failed, &before, c)) {
    }
}

static stc_status run_chunks(worker *w, job *j, int number)
{
    const parallel_loop *pl = j->pl;
    stc_status st = copy_slots(w, j->mc, pl);
    w->chunk = 0;
    while (!st) {
        const int c = atomic_fetch_add(&j->next, 1);
        if (c >= j->n || c > atomic_load(&j->failed)) break;
        w->chunk = c;
        j->chunk[c].worker = number;
        st = run_chunk(w, j, c);
    }
    for (int k = 0; k < pl->nparts && !st; k++)
        st = asm_finish(w->mc, &w->mc->slot[pl->parts[k]]);
    return st;
}

static void work(void *context, int number)
{
    job *j = context;
    worker *w = j->mc->parallel->worker[number];
    machine *mc = w->mc;
    diag_clear(&w->cx);
    w->job = j;
    memcpy(mc->ext, j->mc->ext, (size_t)mc->p->next * sizeof *mc->ext);
    lop *behind = &mc->code[mc->loops[j->pl->number].last + 1];
    w->stop = *behind;
    machine_patch(mc, behind, LOP_HALT);
    if (run_chunks(w, j, number)) chunk_failed(j, w->chunk);
    *behind = w->stop;
    drop_slots(w, j->pl);
}

/* ---- what comes of them -------------------------------------------------------------- */

static void join_some(void *context, int thread)
{
    const job *j = context;
    for (int k = thread; k < j->join.n; k += j->threads)
        join_part(&j->join, k);
}

/* Part k of the results, from all chunks but the first, which is there. */
static stc_status join_parts(job *j, int k)
{
    machine *mc = j->mc;
    slot *s = &mc->slot[j->pl->parts[k]];
    j->join = (tensor_join){.to = s->own, .n = j->n - 1};
    j->join.part = mem_zero(mc->cx, j->n - 1, sizeof *j->join.part);
    if (!j->join.part) return mc->cx->diag.status;
    for (int c = 1; c < j->n; c++) {
        const worker *w = mc->parallel->worker[j->chunk[c].worker];
        tensor_part *p = &j->join.part[c - 1];
        p->from = w->mc->slot[j->pl->parts[k]].own;
        p->at[0].begin = j->chunk[c].begin[k];
        p->at[0].end = j->chunk[c].end[k];
    }
    stc_status st = join_begin(&j->join);
    if (!st) {
        pool_run(mc->cx, j->threads, join_some, j);
        join_end(&j->join);
        s->stores++;
    }
    mem_free(mc->cx, j->join.part, (size_t)(j->n - 1) * sizeof *j->join.part);
    return st;
}

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
    for (int t = 0; t < j->threads; t++) {
        const worker *w = j->mc->parallel->worker[t];
        if (w->cx.diag.status && w->chunk == c) {
            cx->diag = w->cx.diag;
            break;
        }
    }
    if (cx->diag.status == STC_ERR_INTERRUPT) atomic_store(&cx->interrupt, false);
    return cx->diag.status;
}

static stc_status run_job(job *j)
{
    machine *mc = j->mc;
    atomic_store(&j->failed, INT32_MAX);
    mc->steps += (uint64_t)(mc->slice - mc->left);
    mc->slice = mc->left = 0;
    pool_run(mc->cx, j->threads, work, j);
    mc->steps += atomic_load(&j->steps);
    if (atomic_load(&j->failed) < INT32_MAX) return tell_failure(j);
    if (atomic_load(&j->stop)) return mc->cx->diag.status; /* asked for in the last chunk */
    add_sums(j);
    for (int k = 0; k < j->pl->nparts; k++) {
        stc_status st = join_parts(j, k);
        if (st) return st;
    }
    return machine_poll(mc);
}

/* Every place that will be written is there: storing moves nothing. */
static bool places_ready(const machine *mc, const parallel_loop *pl)
{
    for (int t = 0; t < mc->p->ntensor; t++) {
        if (pl->sharing[t] != SHARE_PLACES) continue;
        tensor *to = mc->slot[t].own;
        int64_t places = 1;
        for (int l = 0; l < to->fmt.levels; l++)
            places = to->level[l].kind->size(&to->level[l], places);
        if (places == NONE || tensor_extend_values(to, places)) return false;
    }
    return true;
}

stc_status parallel_run(machine *mc, const lop *at, const lop **next, unsigned *op)
{
    ctx *cx = mc->cx;
    const parallel_loop *pl = mc->parallel->loop;
    while (pl->first != (int)(at - mc->code))
        pl++;
    *op = pl->op;
    *next = NULL;
    const loop *l = &mc->loops[pl->number];
    const int64_t lo = l->merge->lo == ROOT ? 0 : mc->ext[l->merge->lo];
    const int64_t hi = mc->ext[l->merge->hi];
    int64_t bound[CHUNKS_MAX + 2];
    if (cx->threads < 2 || hi - lo < 2) return STC_OK;
    const int n = parallel_split(mc, pl, lo, hi, cx->threads, bound);
    if (n < 2 || !places_ready(mc, pl)) return STC_OK;
    const int threads = n < cx->threads ? n : cx->threads;
    chunk *chunks = mem_zero(cx, n, sizeof *chunks);
    if (!chunks || !workers_ready(mc, threads)) { /* there is another way */
        mem_free(cx, chunks, (size_t)n * sizeof *chunks);
        diag_clear(cx);
        return STC_OK;
    }
    job j = {
        .mc = mc, .pl = pl, .n = n, .threads = threads, .bound = bound, .chunk = chunks};
    const stc_status st = run_job(&j);
    mem_free(cx, chunks, (size_t)n * sizeof *chunks);
    *next = l->exit;
    return st;
}
