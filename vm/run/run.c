/* run.c: the life of a machine: making, binding, running, taking results;
 * steps and interrupts.
 *
 * Slots. An input is always the host's tensor. An inout slot begins a run with
 * what the host bound (or with an empty tensor of its shape), and shows the
 * machine's own from the moment it is written: the host's is never changed.
 * All others are the machine's own, made when they are first assembled and
 * reused by the next run unless they were taken.
 */
#include "../threads/parallel.h"
#include "../work/ws.h"
#include "keep.h"
#include <string.h>

/* How many rounds may pass between two looks at limits and interrupts. */
#define POLL_ROUNDS 4096

stc_status machine_new(const program *p, machine **out)
{
    machine *mc = mem_zero(p->cx, 1, sizeof *mc);
    if (!mc) return p->cx->diag.status;
    mc->cx = p->cx;
    mc->p = p;
    mc->stopped = -1;
    if (machine_link(mc) || parallel_check(mc)) {
        stc_status status = p->cx->diag.status;
        machine_free(mc);
        return status;
    }
    *out = mc;
    return STC_OK;
}

void machine_free(machine *mc)
{
    if (!mc) return;
    ctx *cx = mc->cx;
    parallel_free(mc);
    if (mc->block) {
        for (int i = 0; i < mc->nloop; i++)
            machine_take_back(mc, &mc->loops[i]);
        for (int t = 0; t < mc->p->ntensor; t++) {
            ws_free(mc, &mc->slot[t]);
            lookup_free(mc, &mc->slot[t].lookup);
            strip_retyped_free(mc, &mc->slot[t].retyped);
            tensor_free(mc->slot[t].own);
            deliver_free(mc, &mc->slot[t]);
        }
    }
    for (int k = 0; k < mc->nsub && mc->block; k++)
        subsect_free(cx, &mc->subs[k]);
    for (int d = 0; mc->frames && d < CALL_DEPTH_MAX; d++)
        mem_free(cx, mc->frames[d].v, (size_t)mc->frames[d].cap * sizeof(value));
    mem_free(cx, mc->frames, CALL_DEPTH_MAX * sizeof *mc->frames);
    mem_free(cx, mc->marks, mc->marks_size);
    mem_free(cx, mc->block, mc->block_size);
    mem_free(cx, mc, sizeof *mc);
}

/* ---- binding ------------------------------------------------------------------- */

static stc_status mismatch(ctx *cx, const prog_tensor *row, const tensor *t)
{
    textbuf want, have;
    text_init(&want, cx);
    text_init(&have, cx);
    format_print(&row->fmt, &want);
    format_print(&t->fmt, &have);
    char *w = text_take(&want), *h = text_take(&have);
    stc_status status =
        w && h ? fail(cx, STC_ERR_ARGUMENT,
                      "tensor %s has format %s, type %s, order %d; the program expects "
                      "format %s, type %s, order %d",
                      row->name, h, type_name(t->type), t->order, w, type_name(row->type),
                      row->order)
               : cx->diag.status;
    mem_strfree(cx, w);
    mem_strfree(cx, h);
    return status;
}

stc_status machine_bind(machine *mc, int id, tensor *t)
{
    ctx *cx = mc->cx;
    slot *s = &mc->slot[id];
    const prog_tensor *row = s->row;
    if (t) {
        if (t->order != row->order || t->type != row->type ||
            !format_equal(&t->fmt, &row->fmt))
            return mismatch(cx, row, t);
        if (!row->fill_later && !class_equal(type_class(t->type), t->fill, row->fill))
            return fail(cx, STC_ERR_ARGUMENT,
                        "tensor %s has another fill than the program was compiled for",
                        row->name);
    }
    s->bound = t;
    s->given = false;
    s->seen = NULL;
    mc->settled = false;
    for (int i = 0; i < mc->p->ntensor; i++) /* t may be new at an old address */
        if (mc->slot[i].row->keep_while && mc->slot[i].row->source == id)
            mc->slot[i].from = NULL;
    return STC_OK;
}

bool machine_has(const machine *mc, int id, const tensor *t)
{
    const slot *s = &mc->slot[id];
    return s->seen == t && s->seen_generation == t->generation && s->bound == t;
}

uint64_t machine_bytes(const machine *mc)
{
    uint64_t sum = sizeof *mc;
    for (int k = 0; k < mc->p->ntensor; k++) {
        const workspace *w = mc->slot[k].ws;
        if (mc->slot[k].own) sum += tensor_bytes(mc->slot[k].own);
        if (w) sum += (uint64_t)w->extent * w->size + (uint64_t)w->cap * sizeof *w->touched;
    }
    return sum;
}

/* Whether what was made of t, which is bound by now, is made of t as it is. */
static bool is_fresh(const slot *s, const tensor *t)
{
    return t && s->own && s->from == t && s->from_generation == t->generation;
}

const tensor *machine_stale(const machine *mc, int id)
{
    const slot *s = &mc->slot[id];
    if (!s->row->keep_while) return NULL;
    const tensor *t = mc->slot[s->row->source].bound;
    return is_fresh(s, t) ? NULL : t;
}

tensor *machine_converted(const machine *mc, int id, const tensor **from)
{
    const slot *s = &mc->slot[id];
    if (!s->row->keep_while) return NULL;
    *from = mc->slot[s->row->source].bound;
    return is_fresh(s, *from) ? s->own : NULL;
}

bool machine_adopt(machine *mc, int id, tensor *made)
{
    slot *s = &mc->slot[id];
    const prog_tensor *row = s->row;
    tensor *own;
    if (row->fill_later || row->type != made->type ||
        !format_equal(&row->fmt, &made->fmt) ||
        !class_equal(type_class(row->type), row->fill, made->fill) ||
        tensor_share(made, &own))
        return false;
    tensor_free(s->own);
    s->own = own;
    s->from = mc->slot[row->source].bound;
    s->from_generation = s->from->generation;
    return true;
}

void machine_yield(machine *mc, int id)
{
    mc->slot[id].given = true;
}

tensor *machine_tensor(machine *mc, int id)
{
    return mc->slot[id].t;
}

tensor *machine_take(machine *mc, int id)
{
    slot *s = &mc->slot[id];
    if (!s->own || s->t != s->own) return NULL;
    tensor *t = s->own;
    asm_taken(s, t);
    s->own = s->t = NULL;
    s->from = NULL;
    return t;
}

/* ---- a run --------------------------------------------------------------------- */

static stc_status check_bound(tensor *t)
{
    return t->checked == t->generation && !t->backing ? STC_OK : tensor_check(t);
}

/* What isn't an operand alone; an inout tensor that isn't bound begins empty. */
static stc_status start_slot(machine *mc, slot *s)
{
    if (s->row->role == ROLE_INPUT) return STC_OK;
    if (s->row->role == ROLE_INOUT) return s->bound ? STC_OK : asm_empty(mc, s);
    s->t = s->open ? NULL : s->own;
    return STC_OK;
}

/* What is wrong with an operand's arrays, with its name; files have theirs. */
static stc_status blame(ctx *cx, const char *name)
{
    char said[sizeof cx->diag.message];
    if (cx->diag.status != STC_ERR_DATA || *cx->diag.file || !*name) return cx->diag.status;
    memcpy(said, cx->diag.message, sizeof said);
    return fail(cx, STC_ERR_DATA, "%s: %s", name, said);
}

/* Notes whether an operand isn't what it was when extents were evaluated. One that isn't
 * bound begins empty: who runs a machine has bound all that are only read. */
static stc_status look_at(machine *mc, slot *s)
{
    tensor *t = s->t = s->bound;
    if (!t) return STC_OK;
    if (s->seen == t && s->seen_generation == t->generation) return STC_OK;
    mc->settled = false;
    if (check_bound(t)) return blame(mc->cx, s->row->name);
    s->seen = t;
    s->seen_generation = t->generation;
    return STC_OK;
}

static stc_status start(machine *mc)
{
    const program *p = mc->p;
    const int n = p->ntensor;
    for (int i = 0; i < n; i++) {
        const uint8_t role = mc->slot[i].row->role;
        if (role != ROLE_INPUT && role != ROLE_INOUT) continue;
        if (look_at(mc, &mc->slot[i])) return mc->cx->diag.status;
    }
    if (!mc->settled) {
        mc->bindings++;
        if (machine_extents(mc)) return mc->cx->diag.status;
    }
    stc_status status = STC_OK;
    for (int i = 0; i < n && !status; i++)
        status = start_slot(mc, &mc->slot[i]);
    return status;
}

/* After a failure no half-assembled result is to be seen. */
static void forget_results(machine *mc)
{
    mc->kept = false;
    for (int i = 0; i < mc->p->ntensor; i++) {
        slot *s = &mc->slot[i];
        if (s->row->role == ROLE_INPUT) continue;
        s->t = s->row->role == ROLE_INOUT ? s->bound : NULL;
        s->from = NULL;
    }
}

/* The verifier can't know which branches begin what. */
static stc_status check_finished(machine *mc)
{
    for (int i = 0; i < mc->p->ntensor; i++) {
        const slot *s = &mc->slot[i];
        if (s->open && s->t == s->own)
            return fail(mc->cx, STC_ERR_CORRUPT, "result %s is begun and not finished",
                        s->row->name);
    }
    return STC_OK;
}

static void set_slice(machine *mc)
{
    const uint64_t max = mc->cx->limit, done = mc->cx->steps;
    mc->slice = POLL_ROUNDS;
    if (max && done <= max && max - done < POLL_ROUNDS)
        mc->slice = (int64_t)(max - done) + 1;
    mc->left = mc->slice;
}

stc_status machine_run(machine *mc)
{
    const bool shares = mc->cx->threads > 1 || mc->cx->deterministic;
    if (shares && !mc->parallel && parallel_prepare(mc)) return mc->cx->diag.status;
    mc->steps = 0;
    mc->profile_last = -1;
    for (int i = 0; mc->nsub && i < mc->nloop; i++)
        mc->loops[i].visited = 0;
    if (mc->profile) {
        for (int i = 0; i < mc->ncode; i++)
            mc->profile[i] = (profile_row){.op = mc->profile[i].op};
        memset(mc->tally, 0, (size_t)mc->ntally * sizeof *mc->tally);
    }
    stc_status status = start(mc);
    if (status) {
        forget_results(mc);
        return status;
    }
    set_slice(mc);
    mc->stopped = -1;
    mc->left_out = mc->p->kept && keep_holds(mc);
    status = machine_dispatch(mc, mc->left_out ? keep_end(mc) : mc->code);
    mc->steps += (uint64_t)(mc->slice - mc->left);
    mc->cx->steps += (uint64_t)(mc->slice - mc->left); /* the next poll looks */
    mc->cx->worked += (uint64_t)(mc->slice - mc->left);
    mc->slice = mc->left = 0;
    if (!status && mc->stopped >= 0) return STC_OK;
    if (!status) status = check_finished(mc);
    if (!status && mc->lends) status = deliver_results(mc);
    if (status)
        forget_results(mc);
    else if (mc->p->kept)
        keep_note(mc);
    return status;
}

void machine_look(machine *mc, bool looks)
{
    mc->looks_away = !looks;
}

int machine_stopped(const machine *mc)
{
    return mc->stopped;
}

bool machine_kept(const machine *mc)
{
    return mc->left_out;
}

stc_status machine_poll(machine *mc)
{
    ctx *cx = mc->cx;
    if (mc->worker) return parallel_poll(mc);
    const uint64_t n = (uint64_t)(mc->slice - mc->left);
    mc->steps += n;
    mc->slice = mc->left = 0;
    if (work_done(cx, n)) return cx->diag.status;
    set_slice(mc);
    return STC_OK;
}
