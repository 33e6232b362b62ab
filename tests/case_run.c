/* case_run.c: runs a case through the public interface in one of several ways
 * and keeps what came out. Memory is counted: all of it must come back. */
#include "case.h"
#include "../src/api/api.h"
#include "in_parts.h"
#include <stdlib.h>
#include <string.h>

/* Each block remembers its size, so that a wrong old_size is seen at once. */
void *case_alloc(void *context, void *block, size_t old, size_t size)
{
    case_heap *h = context;
    char *base = block ? (char *)block - 16 : NULL;
    size_t was = 0;
    if (base) memcpy(&was, base, sizeof was);
    if (was != old) {
        fprintf(stderr, "old_size is %zu, but the block has %zu\n", old, was);
        abort();
    }
    if (size == 0) {
        free(base);
        h->held -= (int64_t)old;
        return NULL;
    }
    if (++h->calls == h->fail_at) return NULL;
    char *p = realloc(base, size + 16);
    if (!p) return NULL;
    memcpy(p, &size, sizeof size);
    h->held += (int64_t)size - (int64_t)old;
    return p + 16;
}

typedef struct run {
    const fcase *c;
    unsigned how;
    stc_machine *m;
    stc_tensor *t[CASE_TENSORS];
    lent lent[CASE_TENSORS];
    stc_value fill[CASE_TENSORS];
    stc_program *p;
    stc_session *s;
    const stc_tensor *result;
    stc_tensor *joined; /* of parts */
} run;

static stc_status compile(run *r)
{
    const fcase *c = r->c;
    stc_decl d[CASE_TENSORS];
    int n = 0;
    for (int k = 0; k < c->count; k++) {
        const ctensor *t = &c->t[k];
        if (!t->has_data && !t->declared) continue;
        r->fill[k] = ov_public(&t->fill);
        d[n++] = (stc_decl){.name = t->name,
                            .format = t->format.text[0] ? t->format.text : "dense",
                            .type = (int)t->type,
                            .fill = t->has_fill ? &r->fill[k] : NULL,
                            .order = t->order};
    }
    char text[sizeof c->defs + sizeof c->stmt + 2];
    snprintf(text, sizeof text, "%s%s\n", c->defs, c->stmt);
    return stc_compile(r->m, text, d, n, &r->p);
}

static stc_status through_bytes(run *r)
{
    void *bytes;
    size_t size;
    stc_status st = stc_program_encode(r->p, &bytes, &size);
    if (st != STC_OK) return st;
    /* A copy of exactly that size lets a sanitizer see any read beyond it. */
    void *copy = malloc(size ? size : 1);
    if (!copy) return STC_ERR_MEMORY;
    memcpy(copy, bytes, size);
    stc_text_free(r->m, bytes);
    stc_program_free(r->p);
    r->p = NULL;
    st = stc_program_decode(r->m, copy, size, &r->p);
    free(copy);
    return st;
}

/* What the statement doesn't mention, or replaces whole, is no operand. */
static bool takes(const run *r, const char *name)
{
    const char *one;
    bool result;
    for (int k = 0; (one = stc_program_name(r->p, k, &result)); k++)
        if (!result && strcmp(one, name) == 0) return true;
    return false;
}

/* A first run on other operands: half of the entries, or shapes one larger. It
 * may fail, where shapes or numbers don't allow it, but must leave no trace. */
static void run_other(run *r)
{
    const fcase *c = r->c;
    stc_tensor *other[CASE_TENSORS] = {NULL};
    lent held[CASE_TENSORS] = {{.count = 0}};
    for (int k = 0; k < c->count; k++) {
        ctensor t = c->t[k];
        if (!t.has_data || !takes(r, t.name)) continue;
        if (c->seed % 2)
            t.n /= 2;
        else
            for (int m = 0; m < t.order; m++)
                t.shape[m]++;
        if (t.order == 0) t.n = c->t[k].n;
        if (case_build(r->m, &t, &held[k], &other[k]) == STC_OK)
            (void)stc_bind(r->p, t.name, other[k]);
    }
    (void)stc_run(r->p);
    for (int k = 0; k < c->count; k++) {
        if (other[k]) (void)stc_bind(r->p, c->t[k].name, NULL);
        stc_tensor_free(other[k]);
        lent_free(&held[k]);
    }
}

static stc_tensor *operand(void *context, const char *name)
{
    const run *r = context;
    for (int k = 0; k < r->c->count; k++)
        if (r->c->t[k].has_data && strcmp(r->c->t[k].name, name) == 0) return r->t[k];
    return NULL;
}

/* By one index after the other, in two to four parts, until one can be split by. */
static stc_status in_parts(run *r)
{
    const uint64_t dice = r->c->seed * 0xd1342543de82ef95u >> 32;
    int64_t bound[5] = {0};
    parts x = {r->p, NULL, 0, 2 + (int)(dice % 3), bound, operand, r};
    for (int k = 1; k < x.count; k++)
        bound[k] = bound[k - 1] + (int64_t)(dice >> 3 * k) % 4;
    bound[x.count] = INT64_C(1) << 40;
    for (unsigned k = 0; k < 64; k++) {
        const int at = (int)((k + dice) % 64) / 4;
        stc_decl d = {.size = sizeof d};
        x.name = stc_program_name(r->p, at, NULL);
        x.mode = (int)((k + dice) % 4);
        if (!x.name || stc_program_decl(r->p, x.name, &d) || x.mode >= d.order) continue;
        const stc_status st = run_in_parts(&x, r->c->target, &r->joined);
        if (st == STC_ERR_PROGRAM) continue;
        if (st == STC_OK) r->result = r->joined;
        if (getenv("PARTS")) fprintf(stderr, "split by %s %d\n", x.name, x.mode);
        return st;
    }
    return STC_OK;
}

static stc_status by_program(run *r)
{
    const fcase *c = r->c;
    stc_status st = compile(r);
    if (st == STC_OK && r->how & RUN_STB) st = through_bytes(r);
    if (st == STC_OK && r->how & RUN_AGAIN) run_other(r);
    for (int k = 0; k < c->count && st == STC_OK; k++) {
        if (c->t[k].has_data && takes(r, c->t[k].name))
            st = stc_bind(r->p, c->t[k].name, r->t[k]);
    }
    if (st == STC_OK) st = stc_run(r->p);
    if (st == STC_OK && r->how & RUN_AGAIN) st = stc_run(r->p);
    if (st == STC_OK) st = stc_result(r->p, c->target, &r->result);
    if (st == STC_OK && r->how & RUN_PARTS) st = in_parts(r);
    return st;
}

/* Declares results by text; operands are handed over. */
static stc_status declare(run *r, int k)
{
    ctensor t = r->c->t[k];
    fcase one = {.count = 1};
    one.t[0] = t;
    char *text = case_script(&one, "");
    if (!text) return STC_ERR_MEMORY;
    char *end = strrchr(text, '\n'); /* without the empty statement and print */
    while (end && end > text && strncmp(end, "\n\nprint", 7) != 0)
        end--;
    if (end) *end = 0;
    stc_status st = stc_session_exec(r->s, text, "declaration");
    free(text);
    return st;
}

static stc_status by_session(run *r)
{
    const fcase *c = r->c;
    stc_status st = stc_session_open(r->m, &r->s);
    for (int k = 0; k < c->count && st == STC_OK; k++) {
        const ctensor *t = &c->t[k];
        if (t->has_data && !t->declared) {
            st = stc_session_put(r->s, t->name, r->t[k]);
            if (st == STC_OK) r->t[k] = NULL; /* taken */
        } else if (t->declared) {
            st = declare(r, k);
        }
    }
    if (st == STC_OK && c->defs[0]) st = stc_session_exec(r->s, c->defs, "defs");
    if (st == STC_OK) st = stc_session_exec(r->s, c->stmt, "stmt");
    if (st == STC_OK) st = stc_session_get(r->s, c->target, &r->result);
    return st;
}

static stc_status by_script(run *r)
{
    char *text = case_script(r->c, "");
    if (!text) return STC_ERR_MEMORY;
    char *print = strstr(text, "\nprint ");
    if (print) print[1] = 0;
    stc_status st = stc_session_open(r->m, &r->s);
    /* from the second time on the text is known */
    char drop[64];
    snprintf(drop, sizeof drop, "drop %s", r->c->target);
    for (uint64_t turn = 0; turn <= r->c->seed % 4 && st == STC_OK; turn++) {
        if (turn) st = stc_session_exec(r->s, drop, "drop");
        if (st == STC_OK) st = stc_session_exec(r->s, text, "script");
    }
    if (st == STC_OK) st = stc_session_get(r->s, r->c->target, &r->result);
    free(text);
    return st;
}

static int note_place(void *to, const int64_t *coords, stc_value v)
{
    outcome *o = to;
    int64_t at = 0;
    (void)v;
    for (int k = 0; k < o->order; k++)
        at = at * o->shape[k] + coords[k];
    o->stored_at[at] = true;
    return 0;
}

static stc_status keep_result(run *r, outcome *out)
{
    const stc_tensor *t = r->result;
    stc_status st = stc_tensor_check((stc_tensor *)t);
    if (st != STC_OK) return st;
    out->present = true;
    out->type = stc_tensor_type(t);
    out->order = stc_tensor_order(t);
    out->count = 1;
    for (int k = 0; k < out->order; k++) {
        out->shape[k] = stc_tensor_shape(t)[k];
        out->count *= out->shape[k];
    }
    out->stored = stc_tensor_stored(t);
    out->fill = stc_tensor_fill(t);
    snprintf(out->format, sizeof out->format, "%s", stc_tensor_format(t));
    out->dense = malloc((size_t)(out->count + 1) * stc_type_size(out->type));
    out->stored_at = calloc((size_t)out->count + 1, sizeof *out->stored_at);
    if (!out->dense || !out->stored_at) return STC_ERR_MEMORY;
    st = stc_tensor_visit(t, note_place, out);
    if (st != STC_OK) return st;
    return stc_tensor_to_dense(t, out->dense);
}

void case_run_on(stc_machine *m, const fcase *c, unsigned how, outcome *out)
{
    run r = {.c = c, .how = how, .m = m};
    stc_status st = STC_OK;
    *out = (outcome){.status = STC_OK};
    if (how & RUN_THREADS) st = stc_set_threads(m, 2 + (int)(c->seed & 1));
    m->cx.grain = how & RUN_THREADS ? 1 : 0;
    m->cx.as_written = how & RUN_AS_WRITTEN;
    for (int k = 0; k < c->count && st == STC_OK && !(how & RUN_SCRIPT); k++)
        if (c->t[k].has_data) st = case_build(m, &c->t[k], &r.lent[k], &r.t[k]);
    if (st == STC_OK) {
        st = how & RUN_SCRIPT    ? by_script(&r)
             : how & RUN_SESSION ? by_session(&r)
                                 : by_program(&r);
        if (st == STC_OK) st = keep_result(&r, out);
    }
    out->status = st;
    if (st != STC_OK)
        snprintf(out->message, sizeof out->message, "%s", stc_error(m)->message);
    stc_tensor_free(r.joined);
    stc_program_free(r.p);
    if (r.s) stc_session_close(r.s);
    for (int k = 0; k < c->count; k++) {
        stc_tensor_free(r.t[k]);
        lent_free(&r.lent[k]);
    }
    if (how & RUN_THREADS) (void)stc_set_threads(m, 1);
}

stc_status case_machine(case_heap *h, unsigned how, stc_machine **out)
{
    const stc_config config = {.alloc = case_alloc,
                               .alloc_context = h,
                               .max_memory = 1u << 30, /* diagonals take long ones */
                               .max_steps = 400000000, /* against what hangs */
                               .no_super = how & RUN_NOSUPER};
    *out = NULL;
    stc_status st = stc_open(&config, out);
    if (st == STC_OK) st = host_levels_register(*out);
    if (st == STC_OK) st = host_policies_register(*out);
    return st == STC_OK ? host_functions_register(*out) : st;
}

void case_run(const fcase *c, unsigned how, outcome *out)
{
    case_heap h = {.held = 0};
    stc_machine *m;
    *out = (outcome){.status = case_machine(&h, how, &m)};
    if (out->status == STC_OK) case_run_on(m, c, how, out);
    stc_close(m);
    out->leak = (uint64_t)h.held;
}

static bool needs_session(const fcase *c)
{
    for (int k = 0; k < c->count; k++)
        if (c->t[k].shaped) return true;
    return false;
}

static bool lends(const fcase *c)
{
    for (int k = 0; k < c->count; k++)
        if (c->t[k].lend) return true;
    return false;
}

int case_ways(const fcase *c, unsigned *how)
{
    int n = 0;
    unsigned dice = (unsigned)(c->seed * 0x9e3779b97f4a7c15u >> 40);
    if (!needs_session(c)) {
        how[n++] = 0;
        how[n++] = RUN_NOSUPER;
        how[n++] = RUN_STB | (dice & 1 ? RUN_NOSUPER : 0) | (dice & 2 ? RUN_AGAIN : 0);
        how[n++] = RUN_THREADS | (dice & 8 ? RUN_NOSUPER : 0) |
                   (dice & 16 ? RUN_AGAIN : 0) | (dice & 32 ? RUN_AS_WRITTEN : 0);
        how[n++] =
            RUN_PARTS | (dice & 128 ? RUN_NOSUPER : 0) | (dice & 256 ? RUN_AS_WRITTEN : 0);
    }
    if (needs_session(c) || dice % 4 == 0)
        how[n++] = RUN_SESSION | (dice & 64 ? RUN_AS_WRITTEN : 0);
    if (!lends(c) && dice % 4 == 1) how[n++] = RUN_SCRIPT;
    if (needs_session(c)) {
        how[n++] = RUN_SESSION | RUN_NOSUPER;
        how[n++] = RUN_SESSION | RUN_THREADS;
    }
    return n;
}

void outcome_free(outcome *o)
{
    free(o->dense);
    free(o->stored_at);
    o->dense = NULL;
    o->stored_at = NULL;
}
