/* api_run.c: binding operands, running, fetching results.
 *
 * A run costs what the machine's run costs and a few tests: whether every
 * operand is there is worked out when a binding changes, not when running.
 */
#include "structs.h"
#include <string.h>

static bool is_input(const prog_tensor *t)
{
    return t->role == ROLE_INPUT || t->role == ROLE_INOUT;
}

static bool is_output(const prog_tensor *t)
{
    return t->role == ROLE_OUTPUT || t->role == ROLE_INOUT;
}

int program_input(const program *p, const char *name)
{
    for (int i = 0; i < p->ntensor; i++) {
        if (is_input(&p->tensor[i]) && strcmp(p->tensor[i].name, name) == 0) return i;
    }
    return -1;
}

int program_output(const program *p, const char *name)
{
    for (int i = p->ntensor - 1; i >= 0; i--) {
        if (is_output(&p->tensor[i]) && strcmp(p->tensor[i].name, name) == 0) return i;
    }
    return -1;
}

void binding_clear(ctx *cx, binding *b)
{
    if (b->made) tensor_free(b->made);
    if (b->has_origin) origin_free(cx, &b->from);
    *b = (binding){.lent = b->lent};
}

stc_machine *stc_program_machine(const stc_program *w)
{
    return w ? w->m : NULL;
}

static bool uses_name(const program *p, const char *name)
{
    for (int i = 0; i < p->ntensor; i++) {
        if (strcmp(p->tensor[i].name, name) == 0) return true;
    }
    return false;
}

static stc_status bind_tensor(stc_program *w, int slot, stc_tensor *t)
{
    ctx *cx = &w->m->cx;
    if (t && t->cx != cx)
        return fail(cx, STC_ERR_ARGUMENT, "the tensor for %s belongs to another machine",
                    w->p->tensor[slot].name);
    stc_status st = machine_bind(w->mc, slot, t);
    if (st) return st;
    binding_clear(cx, &w->bind[slot]);
    w->bind[slot].t = t;
    w->ready = false;
    return STC_OK;
}

stc_status stc_bind(stc_program *w, const char *name, stc_tensor *t)
{
    API_CALL(w, &w->m->cx);
    if (!name) return fail_null(cx, "name");
    const int slot = program_input(w->p, name);
    if (slot >= 0) return bind_tensor(w, slot, t);
    if (uses_name(w->p, name))
        return fail(cx, STC_ERR_ARGUMENT, "%s is a result of the program, not an operand",
                    name);
    return fail(cx, STC_ERR_ARGUMENT, "the program has no operand named %s", name);
}

int stc_program_slot(const stc_program *w, const char *name)
{
    return w && name ? program_input(w->p, name) : -1;
}

stc_status stc_bind_slot(stc_program *w, int slot, stc_tensor *t)
{
    API_CALL(w, &w->m->cx);
    if (slot < 0 || slot >= w->p->ntensor || !is_input(&w->p->tensor[slot]))
        return fail(&w->m->cx, STC_ERR_ARGUMENT, "the program has no operand of number %d",
                    slot);
    return bind_tensor(w, slot, t);
}

/* Reads or makes what a source describes for slot; what needs other shapes
 * is left to the run. */
static stc_status make_bound(stc_program *w, int slot, origin *o, tensor **out)
{
    ctx *cx = &w->m->cx;
    const prog_tensor *row = &w->p->tensor[slot];
    *out = NULL;
    if (o->kind == STC_SOURCE_FILE) {
        const double start = now_us();
        origin as = {.has_fill = true, .fill = row->fill, .fill_type = row->type};
        stc_status st =
            origin_load(cx, o->path, row->order, &row->fmt, row->type, &as, out);
        w->times.load += now_us() - start;
        return st;
    }
    if (o->scalar && row->order)
        return fail(cx, STC_ERR_SHAPE,
                    "%s is used as a tensor of order %d; a number has order 0", row->name,
                    row->order);
    if (row->order) return STC_OK;
    return origin_make(cx, o, &row->fmt, row->type, NULL, row->fill, out);
}

stc_status stc_bind_source(stc_program *w, const char *name, const stc_source *from)
{
    API_CALL_LIMITED(w, &w->m->cx);
    if (!name) return fail_null(cx, "name");
    if (!from) return fail_null(cx, "from");
    binding b = {.has_origin = true};
    stc_status st = origin_copy(cx, from, &b.from);
    if (st) return st;
    const int slot = program_input(w->p, name);
    if (slot < 0 || b.from.format || b.from.type >= 0 || b.from.has_fill) {
        const bool given = b.from.format || b.from.type >= 0 || b.from.has_fill;
        origin_free(cx, &b.from);
        return given ? fail(cx, STC_ERR_ARGUMENT,
                            "%s: format, type and fill are the program's and can't be "
                            "given",
                            name)
                     : STC_OK;
    }
    if (!(st = make_bound(w, slot, &b.from, &b.made)))
        st = machine_bind(w->mc, slot, b.made);
    if (st) {
        binding_clear(cx, &b);
        return st;
    }
    binding_clear(cx, &w->bind[slot]);
    b.t = b.made;
    b.lent = w->bind[slot].lent;
    w->bind[slot] = b;
    w->ready = false;
    return STC_OK;
}

/* ---- before a run ---------------------------------------------------------------- */

static stc_status generate(stc_program *w, tensor **known, bool *want,
                           int64_t (*shape)[STC_MAX_ORDER])
{
    ctx *cx = &w->m->cx;
    const program *p = w->p;
    stc_status st = shapes_solve(p, known, want, shape);
    for (int i = 0; !st && i < p->ntensor; i++) {
        if (!want[i]) continue;
        const prog_tensor *row = &p->tensor[i];
        tensor *made = NULL;
        st = origin_make(cx, &w->bind[i].from, &row->fmt, row->type, shape[i], row->fill,
                         &made);
        if (!st && (st = machine_bind(w->mc, i, made))) tensor_free(made);
        if (st) break;
        if (w->bind[i].made) tensor_free(w->bind[i].made);
        w->bind[i].made = w->bind[i].t = made;
    }
    return st;
}

/* Every operand is bound, those that take their shapes from others are made. */
static stc_status prepare(stc_program *w, bool runs)
{
    ctx *cx = &w->m->cx;
    const program *p = w->p;
    const int n = p->ntensor;
    bool any = false;
    for (int i = 0; i < n; i++) {
        const prog_tensor *row = &p->tensor[i];
        const binding *b = &w->bind[i];
        if (!is_input(row)) continue;
        const bool made_here =
            b->has_origin && b->from.kind != STC_SOURCE_FILE && row->order;
        any |= made_here;
        if (!b->t && !made_here && row->role == ROLE_INPUT)
            return fail(cx, STC_ERR_ARGUMENT, "%s has no tensor; bind one before the run",
                        row->name);
    }
    if (any) {
        const size_t size =
            (size_t)n * (sizeof(tensor *) + sizeof(bool) + sizeof(int64_t[STC_MAX_ORDER]));
        char *block = mem_zero(cx, 1, size);
        if (!block) return cx->diag.status;
        int64_t(*shape)[STC_MAX_ORDER] = (void *)block;
        tensor **known = (void *)(shape + n);
        bool *want = (void *)(known + n);
        for (int i = 0; i < n; i++) {
            const binding *b = &w->bind[i];
            want[i] = is_input(&p->tensor[i]) && b->has_origin &&
                      b->from.kind != STC_SOURCE_FILE && p->tensor[i].order;
            known[i] = want[i] ? NULL : b->t;
        }
        stc_status st = generate(w, known, want, shape);
        mem_free(cx, block, size);
        if (st) return st;
    }
    const stc_status st = plan_now(w, runs);
    w->ready = !st;
    w->untimed = 0;
    for (int i = 0; w->lent && !st && i < n; i++)
        if (w->bind[i].t && w->bind[i].t->vals == w->bind[i].lent && w->bind[i].lent)
            machine_yield(w->mc, i);
    return st;
}

stc_status stc_program_plan(stc_program *w)
{
    API_CALL_LIMITED(w, &w->m->cx);
    return prepare(w, false);
}

/* Reading clocks is an eighth of a run of 100 ns: of runs as short as the last that was
 * timed, one in 16 is. */
static stc_status run_timed(stc_program *w)
{
    enum { SHORT_TICKS = 8192, EVERY = 16 };
    const uint64_t start = now_ticks();
    stc_status st = machine_run(machine_now(w));
    if (!st && (w->now || w->looks)) st = plan_rest(w);
    w->run_ticks = now_ticks() - start;
    w->untimed = w->run_ticks < SHORT_TICKS ? EVERY - 1 : 0;
    return st;
}

stc_status stc_run(stc_program *w)
{
    API_CALL_LIMITED(w, &w->m->cx);
    if (!w->ready || w->waits || w->now) {
        const stc_status st = w->ready ? plan_now(w, true) : prepare(w, true);
        if (st) return st;
    }
    w->ran = false;
    const bool timed = !w->untimed;
    if (!timed) w->untimed--;
    stc_status st = timed ? run_timed(w) : machine_run(machine_now(w));
    if (!st && !timed && (w->now || w->looks)) st = plan_rest(w);
    w->ran = !st;
    return st;
}

/* ---- results ------------------------------------------------------------------------ */

/* The tensor of a result; taken: it is the caller's from now on. */
static stc_status find_result(const stc_program *w, const char *name, bool taken,
                              tensor **out)
{
    ctx *cx = &w->m->cx;
    if (!name) return fail_null(cx, "name");
    const int i = program_output(program_now(w), name);
    if (i < 0)
        return fail(cx, STC_ERR_ARGUMENT, "the program has no result named %s", name);
    if (!w->ran)
        return fail(cx, STC_ERR_ARGUMENT,
                    "%s has no value: the program has not run, or its last run failed",
                    name);
    tensor *t = taken ? machine_take(machine_now(w), i) : machine_tensor(machine_now(w), i);
    if (!t) return fail(cx, STC_ERR_ARGUMENT, "%s has been taken since the last run", name);
    *out = t;
    return STC_OK;
}

stc_status stc_result(const stc_program *w, const char *name, const stc_tensor **out)
{
    API_CALL(w, &w->m->cx);
    if (!out) return fail_null(&w->m->cx, "out");
    tensor *t;
    const stc_status st = find_result(w, name, false, &t);
    if (!st) *out = t;
    return st;
}

stc_status stc_take(stc_program *w, const char *name, stc_tensor **out)
{
    API_CALL(w, &w->m->cx);
    return out ? find_result(w, name, true, out) : fail_null(&w->m->cx, "out");
}

/* ---- names -------------------------------------------------------------------------- */

/* The slot of the i-th name among operands (or results), each name once. */
static int nth_slot(const program *p, int *i, bool results)
{
    for (int s = 0; s < p->ntensor; s++) {
        const prog_tensor *row = &p->tensor[s];
        if (!*row->name || !(results ? is_output(row) : is_input(row))) continue;
        const int first =
            results ? program_output(p, row->name) : program_input(p, row->name);
        if (first == s && (*i)-- == 0) return s;
    }
    return -1;
}

const char *stc_program_name(const stc_program *w, int i, bool *is_result)
{
    if (!w || i < 0) return NULL;
    int slot = nth_slot(w->p, &i, false);
    const bool result = slot < 0;
    if (result) slot = nth_slot(w->p, &i, true);
    if (slot < 0) return NULL;
    if (is_result) *is_result = result;
    return w->p->tensor[slot].name;
}

stc_status stc_program_decl(const stc_program *w, const char *name, stc_decl *out)
{
    API_CALL(w, &w->m->cx);
    if (!name) return fail_null(cx, "name");
    if (!out) return fail_null(cx, "out");
    int slot = program_input(w->p, name);
    if (slot < 0) slot = program_output(w->p, name);
    if (slot < 0)
        return fail(cx, STC_ERR_ARGUMENT, "the program has no tensor named %s", name);
    const prog_tensor *row = &w->p->tensor[slot];
    shown_decl *shown = &w->shown[slot]; /* a cache */
    if (!shown->format) {
        textbuf b;
        text_init(&b, cx);
        format_print(&row->fmt, &b);
        shown->format = text_take(&b);
        if (!shown->format) return cx->diag.status;
    }
    shown->fill = value_to_public(row->type, row->fill);
    const stc_decl d = {.name = row->name,
                        .format = shown->format,
                        .type = row->type,
                        .fill = row->fill_later ? NULL : &shown->fill,
                        .order = row->order};
    struct_give(out, DECL_0_2, &d, sizeof d);
    return STC_OK;
}
