/* api_plan.c: programs planned anew for what is bound to them.
 *
 * A program is compiled before there are data, and plans of statements that could be
 * taken apart (src/opt) are made with guesses. Before a run whose operands aren't what the
 * last ones were, statistics are taken to powers of two: shapes and entries, as
 * tensors have them at hand. What has been planned for such statistics is found again; else
 * the text is compiled once more, with the tensors to be looked at, as a variant with a
 * machine of its own. The program as compiled keeps what is bound, by its slots; a variant
 * is given the same tensors by name.
 *
 * A run of a variant may end behind a step that has other entries than thought (look.c).
 * What is left is planned anew then, as a variant that begins with what is made; it serves
 * that run alone, and the next one is planned with what was found out.
 *
 * Of several statements later ones are planned with what earlier ones gave in the run
 * before, as soon as there was one: it is part of the statistics.
 *
 * A program of which no plan waits for data has no variants, and costs nothing here. One
 * that was saved (api_bytes.c) has the plan that it was saved with as its code, and the
 * statistics that this was made for; the plans for other data that the file has are its
 * variants. Its text comes from a file, and may be another
 * program's: if it can't be compiled, or has other operands and results than the code, the
 * code runs as it stands.
 */
#include "api.h"

enum {
    VARIANTS = PLANS_MAX - 1, /* that are kept                                           */
    LITTLE = 100,             /* entries of the largest operand: less work than planning */
};

/* An operand; of what earlier statements give, what the run before has of it. */
static const tensor *known_tensor(const void *of, const char *name)
{
    stc_program *w = (stc_program *)of;
    int slot = program_input(w->p, name);
    if (slot >= 0) return w->bind[slot].t;
    w->asks_back = true;
    slot = w->tells_back ? program_output(program_now(w), name) : -1;
    return slot < 0 ? NULL : machine_tensor(machine_now(w), slot);
}

opt_known plan_known(const stc_program *w)
{
    return (opt_known){
        .find = known_tensor, .of = w, .looks = w->now ? &w->now->looks : NULL};
}

static void variant_free(ctx *cx, plan_variant *v)
{
    machine_free(v->mc);
    program_free(v->p);
    looks_free(cx, v->looks);
    for (int i = 0; i < 4; i++)
        mem_strfree(cx, v->stage[i]);
    mem_free(cx, v, sizeof *v);
}

void plan_drop(stc_program *w)
{
    for (plan_variant *v = w->variants, *next; v; v = next) {
        next = v->next;
        variant_free(&w->m->cx, v);
    }
    w->variants = w->now = NULL;
}

static bool has_operand(const prog_tensor *row)
{
    return row->role == ROLE_INPUT || row->role == ROLE_INOUT;
}

/* Of all operands: false: they have little. */
static bool statistics(const stc_program *w, uint64_t *key)
{
    int64_t most = 0;
    *key = 0;
    for (int i = 0; i < w->p->ntensor; i++) {
        const tensor *t = has_operand(&w->p->tensor[i]) ? w->bind[i].t : NULL;
        if (!t) continue;
        *key = stats_key(*key, t);
        if (t->nvals > most) most = t->nvals;
    }
    return most > LITTLE;
}

/* The same with what statements gave in the run before. */
static uint64_t with_results(const stc_program *w, uint64_t key)
{
    const program *p = program_now(w);
    for (int i = 0; i < p->ntensor; i++) {
        const prog_tensor *row = &p->tensor[i];
        const bool result = row->role == ROLE_OUTPUT && *row->name;
        const tensor *t = result ? machine_tensor(machine_now(w), i) : NULL;
        if (t) key = stats_key(key, t);
    }
    return key;
}

static stc_status bind_operands(const stc_program *w, const plan_variant *v)
{
    for (int i = 0; i < v->p->ntensor; i++) {
        const prog_tensor *row = &v->p->tensor[i];
        if (!has_operand(row) || !*row->name) continue;
        const int slot = program_input(w->p, row->name);
        const stc_status st = machine_bind(v->mc, i, slot < 0 ? NULL : w->bind[slot].t);
        if (st) return st;
    }
    return v->rest ? looks_bind(v->looks, v->mc) : STC_OK;
}

/* The variant for the key moves to the front; the last of too many goes. */
static plan_variant *find_variant(stc_program *w, uint64_t key)
{
    int n = 0;
    for (plan_variant **at = &w->variants; *at; at = &(*at)->next) {
        plan_variant *v = *at;
        if (v->key == key) {
            *at = v->next;
            v->next = w->variants;
            return w->variants = v;
        }
        if (++n < VARIANTS) continue;
        *at = NULL;
        variant_free(&w->m->cx, v);
        break;
    }
    return NULL;
}

/* The first operand (result) of a that isn't one of b's, just so; NULL: all are. */
static const char *missing(const program *b, const program *a, bool results)
{
    for (int i = 0; i < a->ntensor; i++) {
        const prog_tensor *row = &a->tensor[i];
        const bool is = results ? row->role == ROLE_OUTPUT || row->role == ROLE_INOUT
                                : has_operand(row);
        if (!is || !*row->name) continue;
        const int slot =
            results ? program_output(b, row->name) : program_input(b, row->name);
        const prog_tensor *other = slot < 0 ? NULL : &b->tensor[slot];
        if (!other || other->role != row->role || other->type != row->type ||
            other->order != row->order || !format_equal(&other->fmt, &row->fmt) ||
            other->fill_later != row->fill_later ||
            (!row->fill_later &&
             !class_equal(type_class(row->type), other->fill, row->fill)))
            return row->name;
    }
    return NULL;
}

/* A tensor that the two haven't alike; NULL: one can run in place of the other. */
static const char *differs(const program *a, const program *b)
{
    const char *name = missing(a, b, false);
    if (!name) name = missing(b, a, false);
    if (!name) name = missing(a, b, true);
    return name ? name : missing(b, a, true);
}

/* *out NULL: the text of the file isn't that of its code. It takes the looks, also when it
 * fails. */
static stc_status make_variant(stc_program *w, uint64_t key, uint64_t like,
                               opt_looks *looks, bool rest, plan_variant **out)
{
    ctx *cx = &w->m->cx;
    plan_variant *v = mem_zero(cx, 1, sizeof *v);
    if (!v) looks_free(cx, looks);
    if (!v) return cx->diag.status;
    opt_known known = plan_known(w);
    v->looks = looks;
    v->rest = rest;
    known.looks = &v->looks;
    const stc_status st = compile_again(w, &known, NULL, &v->p, &v->mc);
    const bool stopped =
        st == STC_ERR_MEMORY || st == STC_ERR_STEPS || st == STC_ERR_INTERRUPT;
    if (st) v->p = NULL;
    if (st) v->mc = NULL;
    if (st || differs(w->p, v->p)) {
        variant_free(cx, v);
        if (st && (stopped || (w->waits && !w->p->foreign))) return st;
        diag_clear(cx); /* the code runs as it stands */
        w->waits = false;
        return STC_OK;
    }
    v->key = key;
    v->p->like = like;
    v->next = w->variants;
    w->variants = *out = v;
    w->plans++;
    return STC_OK;
}

/* What has no name is bound by nobody. */
static bool can_be_bound(const program *p)
{
    for (int i = 0; i < p->ntensor; i++)
        if (has_operand(&p->tensor[i]) && !*p->tensor[i].name) return false;
    return true;
}

/* The number-th plan for other data of w's file; p is taken when it has succeeded. */
static stc_status adopt_one(stc_program *w, program *p, int number, plan_variant **out)
{
    ctx *cx = &w->m->cx;
    machine *mc = NULL;
    const char *name = differs(w->p, p);
    if (name || !can_be_bound(p))
        return fail(cx, STC_ERR_CORRUPT,
                    "not a sound bytecode file: tensor %s of its plan %d for other data "
                    "is another than the program's",
                    name ? name : "without a name", number);
    stc_status st = program_verify(p);
    if (!st) st = machine_new(p, &mc);
    plan_variant *v = st ? NULL : mem_zero(cx, 1, sizeof *v);
    if (!v) {
        machine_free(mc);
        return cx->diag.status;
    }
    *v = (plan_variant){.key = p->like, .p = p, .mc = mc};
    *out = v;
    return STC_OK;
}

stc_status plan_adopt(stc_program *w, program **plan, int n)
{
    plan_variant **at = &w->variants;
    for (int i = 0; i < n; i++) {
        const stc_status st = adopt_one(w, plan[i], i + 1, at);
        for (int k = i; st && k < n; k++)
            program_free(plan[k]);
        if (st) return st;
        at = &(*at)->next;
    }
    return STC_OK;
}

static bool is_there(program *const *list, int n, const program *p)
{
    for (int i = 0; i < n; i++)
        if (list[i] == p || list[i]->like == p->like) return true;
    return false;
}

int plan_list(const stc_program *w, program *first, program **list)
{
    int n = 0;
    list[n++] = first;
    if (w->p->like && !is_there(list, n, w->p)) list[n++] = w->p;
    for (const plan_variant *v = w->variants; v && n < PLANS_MAX; v = v->next)
        if (!v->rest && !is_there(list, n, v->p)) list[n++] = v->p;
    return n;
}

/* One that served a run, or no more than begun, goes; what it has found out stays. */
static opt_looks *take_looks(stc_program *w, plan_variant *v)
{
    opt_looks *looks = v->looks;
    plan_variant **at = &w->variants;
    while (*at != v)
        at = &(*at)->next;
    *at = v->next;
    v->looks = NULL;
    if (w->now == v) w->now = NULL;
    variant_free(&w->m->cx, v);
    return looks;
}

stc_status plan_rest(stc_program *w)
{
    stc_status st = STC_OK;
    while (!st && machine_stopped(machine_now(w)) >= 0) {
        plan_variant *v = w->now;
        const uint64_t key = v ? v->key : 0, like = v ? v->p->like : 0;
        opt_looks *looks = v ? v->looks : w->looks;
        looks_take(looks, machine_now(w), machine_stopped(machine_now(w)));
        if (v) {
            looks = take_looks(w, v);
        } else {
            w->looks = NULL;
            machine_look(w->mc, false);
        }
        v = NULL;
        st = make_variant(w, key, like, looks, true, &v);
        w->now = v; /* NULL: the program as compiled, which has all that is bound */
        if (!st && v) st = bind_operands(w, v);
        if (!st) st = machine_run(machine_now(w));
    }
    return st;
}

stc_status plan_whole(const stc_program *w, program **made)
{
    ctx *cx = &w->m->cx;
    machine *mc;
    *made = NULL;
    if (!w->now || !w->now->rest) return STC_OK;
    opt_looks *looks = mem_zero(cx, 1, sizeof *looks);
    if (!looks) return cx->diag.status;
    *looks = *w->now->looks;
    for (int k = 0; k < looks->n; k++)
        looks->row[k].made = NULL;
    opt_known known = plan_known(w);
    known.looks = &looks;
    const stc_status st = compile_again(w, &known, NULL, made, &mc);
    mem_free(cx, looks, sizeof *looks);
    if (st) return st;
    machine_free(mc);
    (*made)->like = w->now->p->like;
    return STC_OK;
}

/* One that waits for no data has a variant if a session planned it, and a run of it was
 * planned anew: the next one begins as it was compiled. */
stc_status plan_now(stc_program *w, bool runs)
{
    uint64_t like = 0, key;
    plan_variant *v = NULL;
    stc_status st = STC_OK;
    if (!w->waits && runs) plan_drop(w);
    if (!w->waits) return STC_OK;
    if (runs) w->tells_back = w->asks_back && w->ran;
    const bool much = !w->lent && statistics(w, &like);
    key = much && w->tells_back && w->ran ? with_results(w, like) : like;
    if (much && key != w->p->like) {
        opt_looks *looks = NULL;
        v = find_variant(w, key);
        if (v && v->rest && runs) {
            looks = take_looks(w, v);
            looks_end(looks);
            v = NULL;
        }
        if (!v) st = make_variant(w, key, like, looks, false, &v);
        if (v && !st && !(w->ready && v == w->now)) st = bind_operands(w, v);
    }
    if (!st) w->now = v;
    return st;
}
