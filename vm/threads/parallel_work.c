/* parallel_work.c: what a worker does: chunks of a shared loop.
 *
 * A worker begins a chunk with the registers that the host's machine has at the loop,
 * runs the loop's code with the chunk's range, and stops behind it. Of results in which
 * each round has a row of places of its own it sees a view, which has values up to where
 * it has stored: it fills its rows itself, while they are in its cache anyway.
 */
#include "parallel_job.h"
#include <string.h>

enum { WORKER_ROUNDS = 4096 }; /* between two looks at limits and interrupts */

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

static void see(worker *w, slot *s, tensor *view)
{
    *view = *s->own;
    view->cx = w->mc->cx;
    view->stains = (stains){.never = true};
    s->t = s->own = view;
}

static stc_status copy_slots(worker *w, const machine *from, const parallel_loop *pl)
{
    machine *mc = w->mc;
    mc->bindings = from->bindings;
    for (int t = 0; t < mc->p->ntensor; t++) {
        slot *to = &mc->slot[t];
        const slot *s = &from->slot[t];
        to->fill = s->fill;
        to->bound = s->bound;
        const uint8_t how = pl->sharing[t];
        if (how == SHARE_READ) to->t = s->t;
        if (how == SHARE_PARTS && asm_begin(mc, to)) return mc->cx->diag.status;
        if (!parallel_stores(pl, s, t)) continue;
        to->t = to->own = s->own;
        to->stores = 0;
        memcpy(to->lev, s->lev, (size_t)s->row->fmt.levels * sizeof *s->lev);
    }
    for (int k = 0; k < pl->nrows; k++)
        see(w, &mc->slot[pl->rows[k]], &w->view[k]);
    for (int k = 0; k < pl->nmeet; k++) {
        slot *s = &mc->slot[pl->meet[k].tensor];
        if (s->row->role != ROLE_WORK) see(w, s, &w->view[PARALLEL_PARTS + k]);
    }
    return STC_OK;
}

/* What belongs to the host's machine isn't the worker's any more. */
void parallel_close(worker *w, const parallel_loop *pl)
{
    for (int t = 0; t < w->mc->p->ntensor; t++) {
        slot *s = &w->mc->slot[t];
        s->bound = NULL;
        s->places = 0;
        if (pl->sharing[t] == SHARE_READ) s->t = NULL;
        if (parallel_stores(pl, s, t)) s->t = s->own = NULL;
    }
}

/* ---- chunks ------------------------------------------------------------------------ */

/* Adds the steps done since the last look; the sum of all threads. The host's
 * progress function is called by its own thread only. */
static uint64_t count_steps(machine *mc)
{
    job *j = mc->worker->job;
    const uint64_t n = (uint64_t)(mc->slice - mc->left) + mc->cx->steps;
    mc->steps += (uint64_t)(mc->slice - mc->left);
    mc->slice = mc->left = WORKER_ROUNDS;
    mc->cx->steps = 0;
    if (mc->worker->number == 0) work_tell(j->mc->cx, n * (uint64_t)j->threads);
    return atomic_fetch_add(&j->steps, n) + n;
}

stc_status parallel_poll(machine *mc)
{
    worker *w = mc->worker;
    job *j = w->job;
    ctx *cx = mc->cx;
    cx->steps = cx->root->steps + count_steps(mc);
    const stc_status st = work_done(cx, 0);
    cx->steps = 0;
    if (st) return st;
    if (w->chunk > atomic_load(&j->failed))
        return fail(cx, STC_ERR_INTERRUPT, "an earlier round failed");
    return STC_OK;
}

/* Where the first coordinate of a round is in a level that computes positions. */
static int64_t round_position(const parallel_loop *pl, const level *lv, int64_t round)
{
    int64_t coord;
    if (!size_mul(round, pl->step, &coord)) coord = INT64_MAX;
    if (coord < lv->base) return 0;
    return coord - lv->base < lv->extent ? coord - lv->base : lv->extent;
}

/* Where it will be in the first level of the worker's part. */
static int64_t part_position(const worker *w, const parallel_loop *pl, uint16_t t,
                             int64_t round)
{
    const level *lv = &w->mc->slot[t].t->level[0];
    return lv->kind->arrays ? lv->size : round_position(pl, lv, round);
}

/* Of a result in rows: the first place that isn't before chunk c's. The first and the
 * last chunk have what lies outside of the loop's range as well. */
static int64_t row_place(const worker *w, const job *j, int k, int c)
{
    const tensor *t = &w->view[k];
    if (c == 0) return 0;
    if (c == j->n) return j->places[k];
    int64_t at = round_position(j->pl, &t->level[0], j->bound[c]);
    for (int l = 1; l < t->fmt.levels; l++)
        at = t->level[l].kind->size(&t->level[l], at);
    return at;
}

/* A chunk's rows have no values yet, unless the host's machine saw to them; in the end
 * they have all of them. */
static void open_rows(worker *w, const job *j, int c)
{
    for (int k = 0; k < j->pl->nrows; k++) {
        const int64_t there = j->mc->slot[j->pl->rows[k]].own->nvals;
        const int64_t first = row_place(w, j, k, c);
        w->view[k].nvals = first > there ? first : there;
        w->mc->slot[j->pl->rows[k]].places = row_place(w, j, k, c + 1);
    }
}

/* There is room for them: this takes no memory. */
static void close_rows(worker *w, const job *j, int c)
{
    for (int k = 0; k < j->pl->nrows; k++)
        tensor_extend_values(&w->view[k], row_place(w, j, k, c + 1));
}

/* A chunk's parts of results: behind those that aren't copied yet, or as if none had been
 * before them. */
static void open_parts(worker *w, job *j, int c)
{
    const parallel_loop *pl = j->pl;
    for (int k = 0; k < pl->nparts; k++) {
        tensor_part *p = job_part(j, c, k);
        slot *s = &w->mc->slot[pl->parts[k]];
        p->from = s->t;
        if (w->again) {
            join_again(s->t, round_position(pl, &s->t->level[0], j->bound[c]));
            for (int l = 0; l < s->row->fmt.levels; l++) /* as begun */
                s->lev[l].parent = NONE;
        }
        p->at[0].begin = part_position(w, pl, pl->parts[k], j->bound[c]);
    }
}

static stc_status run_chunk(worker *w, job *j, int c)
{
    machine *mc = w->mc;
    const parallel_loop *pl = j->pl;
    chunk *out = &j->chunk[c];
    loop *l = &mc->loops[pl->number];
    copy_registers(w, j->mc);
    for (int k = 0; k < pl->nsum; k++)
        mc->v[pl->sum[k].reg] = pl->sum[k].identity;
    mc->ext[l->merge->lo] = j->bound[c];
    mc->ext[l->merge->hi] = j->bound[c + 1];
    open_parts(w, j, c);
    open_rows(w, j, c);
    mc->slice = mc->left = WORKER_ROUNDS;
    stc_status st = parallel_meet_chunk(w, j, c);
    mc->profile_last = -1;
    l->part = c > 0;
    if (!st) st = machine_dispatch(mc, &mc->code[pl->first]);
    if (mc->profile) machine_profile_step(mc, -1);
    count_steps(mc);
    if (!st) close_rows(w, j, c);
    for (int k = 0; k < pl->nparts; k++)
        job_part(j, c, k)->at[0].end = part_position(w, pl, pl->parts[k], j->bound[c + 1]);
    for (int k = 0; k < pl->nsum; k++)
        out->sum[k] = mc->v[pl->sum[k].reg];
    return st || !pl->nparts ? st : parallel_join_chunk(w, j, c);
}

static void chunk_failed(job *j, int c)
{
    int before = atomic_load(&j->failed);
    while (c < before && !atomic_compare_exchange_weak(&j->failed, &before, c)) {
    }
    if (j->pl->nparts) parallel_join_fail(j);
}

static bool next_chunk(worker *w, job *j, int c)
{
    if (c >= j->n || c > atomic_load(&j->failed)) return false;
    w->chunk = c;
    j->chunk[c].worker = w->number;
    return true;
}

static stc_status run_chunks(worker *w, job *j)
{
    stc_status st = parallel_open(w, j);
    while (!st && next_chunk(w, j, atomic_fetch_add(&j->next, 1)))
        st = run_chunk(w, j, w->chunk);
    return st;
}

stc_status parallel_open(worker *w, job *j)
{
    diag_clear(&w->cx);
    w->job = j;
    w->chunk = w->kept = 0;
    w->again = true;
    memcpy(w->mc->ext, j->mc->ext, (size_t)w->mc->p->next * sizeof *w->mc->ext);
    return copy_slots(w, j->mc, j->pl);
}

/* Runs the worker's chunks, or the one that it has. */
static void serve(worker *w, job *j, int only)
{
    machine *mc = w->mc;
    lop *behind = &mc->code[mc->loops[j->pl->whole].last + 1];
    w->stop = *behind;
    machine_patch(mc, behind, LOP_HALT);
    if (only < 0 ? run_chunks(w, j) : next_chunk(w, j, only) && run_chunk(w, j, only))
        chunk_failed(j, w->chunk);
    *behind = w->stop;
}

void parallel_work(void *context, int number)
{
    job *j = context;
    worker **const w = j->mc->parallel->worker;
    if (!j->pl->nmeet) {
        serve(w[number], j, -1);
        parallel_close(w[number], j->pl);
        return;
    }
    const int end = j->n * (number + 1) / j->threads;
    for (int c = j->n * number / j->threads; c < end; c++)
        serve(w[c], j, c);
}
