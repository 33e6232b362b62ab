/* session_run.c: one assignment or condition of a session: compiled (or found
 * prepared), bound to the session's variables, run, and its result put in
 * place. Until the last step nothing that can be seen has changed.
 */
#include "session.h"
#include "../../formats/base/premade.h"
#include <string.h>

/* How many plans of one statement are kept, for tensors of other statistics. */
enum { VARIANTS = 8 };

/* … and, of a def's, for tensors of other formats: those of a first round and of others. */
enum { MISFITS = 3 };

/* ---- prepared statements ------------------------------------------------------------ */

static void operands_free(ctx *cx, operands *o)
{
    for (int i = 0; i < o->n; i++)
        tensor_free(o->asked[i]);
    mem_free(cx, o->block, o->size);
    *o = (operands){0};
}

static void prepared_free(stc_session *s, prepared *c)
{
    machine_free(c->mc);
    operands_free(&s->m->cx, &c->o);
    program_free(c->p);
    looks_free(&s->m->cx, c->looks);
    mem_free(&s->m->cx, c, sizeof *c);
}

/* A row for a variable; what a run had made by then has no name (look.c). */
static bool is_operand(const prog_tensor *row)
{
    return *row->name && (row->role == ROLE_INPUT || row->role == ROLE_INOUT);
}

/* The variable of row i, an operand or the target; NULL: there is none. */
static variable *variable_of(const stc_session *s, prepared *c, int i)
{
    operands *const o = &c->o;
    if (i >= o->n) return session_find(s, c->p->tensor[i].name); /* it hasn't run yet */
    for (int k = 0; o->named != s->named && k < o->n && k < c->p->ntensor; k++) {
        const prog_tensor *row = &c->p->tensor[k];
        const bool some = is_operand(row) || (k == c->target && *row->name);
        o->of[k] = some ? session_find(s, row->name) : NULL;
    }
    o->named = s->named;
    return o->of[i];
}

/* Operands may be gone or changed when it is called again. */
static void unbind(prepared *c)
{
    for (int i = 0; i < c->p->ntensor; i++)
        if (is_operand(&c->p->tensor[i])) machine_bind(c->mc, i, NULL);
    c->made = 0;
}

/* Of what began with what a run had made by then: what it saw, for the next plan. */
static void keep_looks(prepared *c)
{
    machine_free(c->mc);
    c->mc = NULL;
    looks_end(c->looks);
}

/* What stays is so much at most. */
enum { STAYING = 32, STAYING_BYTES = 1 << 24 };

void session_forget_more(stc_session *s, bool all)
{
    uint64_t bytes = 0;
    int n = 0;
    for (prepared **at = &s->cache; *at;) {
        prepared *c = *at;
        const uint64_t more = c->mc ? machine_bytes(c->mc) : 0;
        if (!all && c->stays && n < STAYING && bytes + more <= STAYING_BYTES) {
            bytes += c->rest ? 0 : more;
            n++;
            if (c->rest)
                keep_looks(c);
            else
                unbind(c);
            at = &c->next;
            continue;
        }
        *at = c->next;
        prepared_free(s, c);
    }
}

static bool has_node(const ast *tree, const ast *node)
{
    bool found = tree == node;
    for (int k = 0; tree && k < tree->count && !found; k++)
        found = has_node(tree->child[k], node);
    return found;
}

void session_forget_tree(stc_session *s, const ast *tree)
{
    for (prepared **at = &s->cache; *at;) {
        prepared *c = *at;
        if (!has_node(tree, c->key)) {
            at = &c->next;
            continue;
        }
        *at = c->next;
        prepared_free(s, c);
    }
}

void session_forget(stc_session *s)
{
    for (prepared **at = &s->cache; *at;) {
        prepared *c = *at;
        if (c->stays) {
            at = &c->next;
            continue;
        }
        *at = c->next;
        prepared_free(s, c);
    }
    if (s->m->cx.max_memory) session_turned_drop(s, NULL);
    while (s->gradients) {
        gradient *g = s->gradients;
        s->gradients = g->next;
        arena_free(&g->a);
        mem_strfree(&s->m->cx, g->text);
        mem_free(&s->m->cx, g, sizeof *g);
    }
}

static bool same_entry(const scope_tensor *a, const scope_tensor *b)
{
    if (a->has_data != b->has_data || a->has_format != b->has_format ||
        a->has_type != b->has_type || a->has_fill != b->has_fill ||
        a->has_shape != b->has_shape || a->order != b->order || a->type != b->type)
        return false;
    for (int k = 0; a->has_shape && k < a->order; k++) {
        if (a->shape[k] != b->shape[k]) return false;
    }
    if (a->has_fill && !class_equal(type_class(a->type), a->fill, b->fill)) return false;
    return a->order < 0 || format_equal(&a->fmt, &b->fmt);
}

/* What the machine was told that programs depend on. */
static uint64_t settings_of(const stc_session *s)
{
    const ctx *cx = &s->m->cx;
    return (uint64_t)cx->threads << 2 | (uint64_t)cx->deterministic << 1 | cx->as_written;
}

/* Whether what it was compiled for is still so. */
static bool still_fits(const stc_session *s, prepared *c)
{
    if (c->definitions != s->definitions || c->settings != settings_of(s)) return false;
    for (int i = 0; i < c->p->ntensor; i++) {
        const prog_tensor *row = &c->p->tensor[i];
        if (!is_operand(row) || name_is_asked(row->name)) continue;
        const variable *v = variable_of(s, c, i);
        if (!v || !v->t || v->t->type != row->type || v->t->order != row->order ||
            !format_equal(&v->t->fmt, &row->fmt) ||
            !class_equal(type_class(row->type), v->t->fill, row->fill))
            return false;
    }
    const prog_tensor *target = &c->p->tensor[c->target];
    if (!*target->name) return true;
    const scope_tensor *now = scope_find_tensor(s->f.sc, target->name);
    return now ? c->known_before && same_entry(&c->before, now) : !c->known_before;
}

/* What plans of a statement depend on. */
static uint64_t statistics(const stc_session *s, prepared *c)
{
    uint64_t key = 0;
    for (int i = 0; i < c->p->ntensor; i++) {
        const variable *v = is_operand(&c->p->tensor[i]) ? variable_of(s, c, i) : NULL;
        if (v && v->t) key = stats_key(key, v->t);
    }
    return key;
}

/* What an earlier round compiled, for such tensors. */
static prepared *find_prepared(stc_session *s, const ast *key)
{
    int others = 0, misfits = 0;
    for (prepared **at = &s->cache; *at; at = &(*at)->next) {
        prepared *c = *at;
        if (c->key != key) continue;
        const bool fits = still_fits(s, c);
        if (fits && (!c->waits || c->statistics == statistics(s, c))) return c;
        if (fits ? ++others < VARIANTS : c->stays && ++misfits < MISFITS) continue;
        *at = c->next;
        prepared_free(s, c);
        return NULL;
    }
    return NULL;
}

static void forget_one(stc_session *s, prepared *c)
{
    prepared **at = &s->cache;
    while (*at && *at != c)
        at = &(*at)->next;
    if (*at) *at = c->next;
    prepared_free(s, c);
}

/* The name an assignment gives a value to; NULL for a condition. */
static const char *target_name(const ast *statement)
{
    return statement->kind == N_ASSIGN ? statement->child[0]->name : NULL;
}

/* What a statement is found again by. The expression of a value that is made up for the
 * moment (an argument's) outlives it. */
static const ast *key_of(const ast *statement)
{
    return statement->kind == N_VALUE ? statement->child[0] : statement;
}

/* Puts the target's scope entry back as it was before compiling. */
void session_plan_undo(stc_session *s, const prepared *c, const char *name)
{
    if (!name) return;
    scope_tensor *e = scope_find_tensor(s->f.sc, name);
    if (!e) return;
    if (!c->known_before) {
        scope_drop_tensor(s->f.sc, name);
        return;
    }
    char *own = e->name;
    *e = c->before;
    e->name = own;
}

static stc_status compile_in(stc_session *s, const script *in, const ast *statement,
                             prepared *c)
{
    ctx *cx = &s->m->cx;
    const char *name = target_name(statement);
    const scope_tensor *e = name ? scope_find_tensor(s->f.sc, name) : NULL;
    c->known_before = e != NULL;
    if (e) c->before = *e;
    c->definitions = s->definitions;
    const opt_known known = {.find = session_known,
                             .of = s,
                             .waits = &c->waits,
                             .rounds = s->f.rounds,
                             .steady = s->f.loop && !c->rest ? session_steady : NULL,
                             .looks = &c->looks,
                             .skews = &s->skews,
                             .shelf =
                                 in->loops || s->repeat > 1 || s->dry ? NULL : &s->shelf};
    const bool tells = s->told && name;
    explain_texts texts;
    arena a;
    s->shelf.keeps = in->more;
    shelf_begin(&s->shelf);
    arena_init(&a, cx);
    if (tells) explain_init(&texts, cx);
    stc_status st = compile_begin(cx, &in->src, true, &c->p);
    if (!st)
        st = compile_statement(&a, s->f.sc, c->p, &in->src, statement, &known,
                               tells ? &texts : NULL, &s->times, &c->target);
    if (tells && !st) session_tell_plan(s, in, statement, &texts);
    if (tells) explain_drop(&texts);
    c->told = tells;
    if (!st) st = compile_finish(c->p, &s->times, &c->mc);
    if (!st && c->waits) c->statistics = statistics(s, c);
    c->converts = false;
    for (int i = 0; !st && i < c->p->ntensor; i++)
        c->converts |= c->p->tensor[i].keep_while;
    s->plans++;
    arena_free(&a);
    scope_clear_slots(s->f.sc, c->p);
    if (!s->dry) session_plan_undo(s, c, name);
    return st;
}

stc_status session_plan(stc_session *s, const script *in, const ast *statement, prepared *c)
{
    const ast *now = statement;
    arena a;
    arena_init(&a, &s->m->cx);
    stc_status st = session_resolve(s, statement);
    if (!st) st = session_scalars(s, in, &a, statement, &c->scalars, &now);
    if (!st) st = compile_in(s, in, now, c);
    arena_free(&a);
    machine_free(c->mc);
    program_free(c->p);
    looks_free(&s->m->cx, c->looks);
    return st;
}

static bool same_values(const fixed *a, const fixed *b)
{
    if (a->n != b->n) return false;
    for (int i = 0; i < a->n; i++)
        if (a->at[i].e != b->at[i].e || a->at[i].value != b->at[i].value) return false;
    return true;
}

static bool is_as_written(const ast *statement)
{
    const ast *s = statement->kind == N_ASSIGN ? statement->child[2] : NULL;
    for (int k = 0; s && k < s->count; k++)
        if (!strcmp(s->child[k]->name, "as_written")) return true;
    return false;
}

/* A def's statements are there as long as it is, and are most of what its next call would
 * compile; so are those of a text that is kept. What may have read what was on the shelf,
 * or keeps what operands gave, is for this exec alone. */
static bool may_stay(const stc_session *s, const script *in, const prepared *c)
{
    const ast *const tree = s->body ? s->body : in->kept;
    if (!tree || !in->loops || c->told || c->p->kept || s->m->cx.max_memory) return false;
    for (int i = 0; i < c->p->nfn; i++)
        if (c->p->fn[i].host) return false; /* the host may give it anew */
    return has_node(tree, c->key);
}

/* Compiles a statement as it is now, with `scalars` in it; takes the looks. */
static stc_status prepare_anew(stc_session *s, const script *in, const ast *key,
                               const ast *statement, const fixed *scalars, opt_looks *looks,
                               prepared **out)
{
    prepared *c = mem_zero(&s->m->cx, 1, sizeof *c);
    if (!c) looks_free(&s->m->cx, looks);
    if (!c) return s->m->cx.diag.status;
    c->key = key;
    c->looks = looks;
    c->scalars = *scalars;
    const stc_status st = compile_in(s, in, statement, c);
    if (st) {
        prepared_free(s, c);
        return st;
    }
    c->pure = !s->m->cx.as_written && !is_as_written(statement) &&
              c->p->tensor[c->target].role == ROLE_OUTPUT;
    for (int i = 0; i < c->p->ntensor; i++)
        c->pure = c->pure && !name_is_asked(c->p->tensor[i].name);
    for (int i = 0; i < c->p->nfn; i++)
        c->pure = c->pure && !c->p->fn[i].host;
    c->named = s->named;
    c->settings = settings_of(s);
    c->stays = may_stay(s, in, c);
    c->next = s->cache;
    s->cache = c;
    *out = c;
    return STC_OK;
}

/* Looks for the scalars of a statement, and compiles it with their values unless c, of an
 * earlier round, has them. */
static stc_status prepare_scalars(stc_session *s, const script *in, const ast *statement,
                                  prepared *c, prepared **out)
{
    const ast *now = statement;
    fixed scalars;
    arena a;
    arena_init(&a, &s->m->cx);
    stc_status st = session_scalars(s, in, &a, statement, &scalars, &now);
    const bool same = !st && c && same_values(&c->scalars, &scalars);
    if (same && !c->rest) {
        c->named = s->named;
        *out = c;
    } else if (!st) {
        opt_looks *looks = same ? c->looks : NULL;
        if (looks) c->looks = NULL;
        looks_end(looks);
        if (c) forget_one(s, c);
        st = prepare_anew(s, in, key_of(statement), now, &scalars, looks, out);
    }
    arena_free(&a);
    return st;
}

/* Compiles, or finds what was compiled in an earlier round. */
static stc_status prepare(stc_session *s, const script *in, const ast *statement,
                          prepared **out)
{
    stc_status st = session_resolve(s, statement);
    if (st) return st;
    prepared *c = in->loops ? find_prepared(s, key_of(statement)) : NULL;
    if (!c || c->rest || c->named != s->named)
        return prepare_scalars(s, in, statement, c, out);
    if (c->scalars.n) {
        fixed scalars = c->scalars;
        if ((st = session_values(s, in, &scalars))) return st;
        if (!same_values(&c->scalars, &scalars))
            return prepare_scalars(s, in, statement, c, out);
    }
    *out = c;
    return STC_OK;
}

/* ---- operands ----------------------------------------------------------------------- */

/* Room for a run, in which nothing is made or known yet. */
static stc_status operands_room(ctx *cx, prepared *c)
{
    operands *const o = &c->o;
    const int n = c->p->ntensor;
    const size_t each = 2 * sizeof(tensor *) + sizeof(bool);
    const size_t kept =
        sizeof(variable *) + sizeof(tensor *) + sizeof(int64_t[STC_MAX_ORDER]);
    if (o->block && o->n == n) {
        memset(o->made, 0, (size_t)n * each);
        return STC_OK;
    }
    for (int i = 0; i < o->n; i++)
        if (o->asked[i]) machine_bind(c->mc, i, NULL);
    operands_free(cx, o);
    o->size = (size_t)(n + 1) * (each + kept);
    o->block = mem_zero(cx, 1, o->size);
    if (!o->block) return cx->diag.status;
    o->n = n;
    o->named = UINT64_MAX;
    o->shape = o->block;
    o->of = (variable **)(o->shape + n);
    o->asked = (tensor **)(o->of + n);
    o->made = o->asked + n;
    o->known = o->made + n;
    o->want = (bool *)(o->known + n);
    return STC_OK;
}

static stc_status generate(stc_session *s, prepared *c, operands *o)
{
    stc_status st = shapes_solve(c->p, o->known, o->want, o->shape);
    for (int i = 0; !st && i < c->p->ntensor; i++) {
        if (!o->want[i]) continue;
        const prog_tensor *row = &c->p->tensor[i];
        const variable *v = variable_of(s, c, i);
        st = origin_make(&s->m->cx, &v->from, &row->fmt, row->type, o->shape[i], row->fill,
                         &o->made[i]);
        if (!st) st = machine_bind(c->mc, i, o->made[i]);
    }
    return st;
}

/* Whether a statement may change the variable's tensor in place. One that is timed runs
 * again from what it began with. */
static bool may_give(const stc_session *s, const variable *v)
{
    return !v->lent && !v->t->sharers && v->t->vals_owned && !v->t->backing &&
           s->repeat <= 1;
}

/* Conversions of files that weren't looked at yet. */
static void expect_conversions(stc_session *s, const prepared *c)
{
    for (int i = 0; c->converts && i < c->p->ntensor; i++) {
        const prog_tensor *row = &c->p->tensor[i];
        const char *const name = row->keep_while ? c->p->tensor[row->source].name : "";
        const variable *v = *name ? session_find(s, name) : NULL;
        if (v && v->t) convert_ahead(v->t, &row->fmt);
    }
}

static stc_status bind_all(stc_session *s, prepared *c, operands *o)
{
    bool any = false;
    expect_conversions(s, c);
    for (int i = 0; i < c->p->ntensor; i++) {
        const prog_tensor *row = &c->p->tensor[i];
        if (!is_operand(row)) continue;
        if (name_is_asked(row->name)) {
            stc_status st = session_asked(s, row, &o->asked[i]);
            if (!st && !machine_has(c->mc, i, o->asked[i]))
                st = machine_bind(c->mc, i, o->asked[i]);
            if (st) return st;
            continue;
        }
        variable *v = variable_of(s, c, i);
        if (!v) {
            if (row->role == ROLE_INOUT) continue;
            return fail(&s->m->cx, STC_ERR_PROGRAM, "%s has no value", row->name);
        }
        if (!v->t && v->has_origin) {
            o->want[i] = any = true;
            continue;
        }
        stc_status st = session_tensor(s, v, &o->known[i]);
        if (st) return st;
        /* No two tensors of a session have the same generation: what was converted of one,
         * and the extents, hold for the rounds that it isn't changed in. */
        if (i != c->target && machine_has(c->mc, i, o->known[i])) continue;
        if ((st = machine_bind(c->mc, i, o->known[i]))) return st;
        if (i == c->target && may_give(s, v)) machine_yield(c->mc, i);
    }
    session_turned_give(s, c);
    const stc_status st = shelf_bind(&s->shelf, c->mc);
    return st || !any ? st : generate(s, c, o);
}

/* The variables take what was made for them; the rest is freed. */
static void operands_done(stc_session *s, prepared *c, bool keep)
{
    operands *const o = &c->o;
    for (int i = 0; o->block && i < o->n; i++) {
        if (!o->made[i]) continue;
        variable *v = keep ? variable_of(s, c, i) : NULL;
        if (v && !v->t) {
            session_set(s, v, o->made[i]);
        } else {
            machine_bind(c->mc, i, NULL);
            tensor_free(o->made[i]);
        }
        o->made[i] = NULL;
    }
}

/* ---- running ------------------------------------------------------------------------ */

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* As often as asked for; the time counted is the median's. */
static stc_status run_timed(stc_session *s, prepared *c)
{
    ctx *cx = &s->m->cx;
    const int n = s->repeat;
    double one, *us = n > 1 ? mem_array(cx, n, sizeof *us) : &one;
    if (!us) return cx->diag.status;
    stc_status st = STC_OK;
    int i = 0;
    for (; i < n && !st && (!i || machine_stopped(c->mc) < 0); i++) {
        const double start = now_us();
        st = machine_run(c->mc);
        us[i] = now_us() - start;
    }
    if (i < n) {
        s->times.run += us[0];
    } else if (!st && !(st = mem_sort(cx, us, n, sizeof *us, compare))) {
        s->times.run += n % 2 ? us[n / 2] : 0.5 * (us[n / 2 - 1] + us[n / 2]);
    }
    if (n > 1) mem_free(cx, us, (size_t)n * sizeof *us);
    return st;
}

/* The program knows the text alone: of a def's, what stood before it is counted here. */
static void place_in_file(const source *src)
{
    diag *d = &src->cx->diag;
    if (d->line == 1) d->column += src->column;
    if (d->line) d->line += src->line;
}

/* The operands of a run, for the same statement planned anew: they have the same numbers,
 * since they come first, as the text has them. */
static stc_status bind_again(stc_session *s, prepared *c, const operands *o)
{
    stc_status st = STC_OK;
    for (int i = 0; i < o->n && i < c->p->ntensor && !st; i++) {
        if (!is_operand(&c->p->tensor[i])) continue;
        const variable *v = variable_of(s, c, i);
        tensor *t = o->asked[i] ? o->asked[i] : o->made[i] ? o->made[i] : o->known[i];
        st = machine_bind(c->mc, i, t);
        if (!st && t && i == c->target && may_give(s, v)) machine_yield(c->mc, i);
    }
    session_turned_give(s, c);
    if (!st) st = shelf_bind(&s->shelf, c->mc);
    return st || !c->rest ? st : looks_bind(c->looks, c->mc);
}

/* A run ended behind a step that has other entries than thought: what is left is planned
 * anew. One that is timed begins from its beginning. */
static stc_status session_rest(stc_session *s, const script *in, const ast *node,
                               prepared *c)
{
    prepared next = *c;
    const ast *now = node;
    arena a;
    looks_take(c->looks, c->mc, machine_stopped(c->mc));
    if (s->repeat > 1) looks_end(c->looks);
    c->rest = next.rest = s->repeat <= 1;
    next.p = NULL;
    next.mc = NULL;
    c->o.named = next.o.named = UINT64_MAX; /* of one program, not of the other */
    arena_init(&a, &s->m->cx);
    stc_status st = session_scalars(s, in, &a, node, &next.scalars, &now);
    if (!st) st = compile_in(s, in, now, &next);
    arena_free(&a);
    prepared *gone = st ? &next : c;
    machine_free(gone->mc);
    program_free(gone->p);
    if (!st) {
        next.next = c->next;
        *c = next;
    }
    return st;
}

static stc_status run_prepared(stc_session *s, const script *in, const ast *node,
                               prepared *c)
{
    operands *const o = &c->o;
    const bool profile = s->m->cx.profile;
    const double start = profile ? now_us() : 0, ran = s->times.run;
    stc_status st = operands_room(&s->m->cx, c);
    if (!st) st = bind_all(s, c, o);
    if (!st && (st = run_timed(s, c))) place_in_file(&in->src);
    while (!st && machine_stopped(c->mc) >= 0) {
        st = session_rest(s, in, node, c);
        if (!st) st = bind_again(s, c, o);
        if (!st && (st = run_timed(s, c))) place_in_file(&in->src);
    }
    if (!st) session_turned_take(s, c);
    if (!st && !in->loops) shelf_take(&s->shelf, c->mc);
    if (!st && c->told) tell_actual(c->p, c->mc, s->times.run - ran, s->told);
    c->told = false;
    premade_end(&s->m->cx);
    if (!st && profile) st = session_profiled(s, in, node, c->mc, now_us() - start);
    return st;
}

/* In a loop, variable and machine trade buffers from round to round. */
static bool may_swap(const variable *v, const tensor *result)
{
    return v->t && !v->lent && !v->t->sharers && v->t->type == result->type &&
           format_equal(&v->t->fmt, &result->fmt) && tensor_owns_arrays(v->t);
}

static stc_status keep_result(stc_session *s, const script *in, prepared *c, variable *v,
                              const char *name)
{
    ctx *cx = &s->m->cx;
    tensor *t = machine_tensor(c->mc, c->target);
    if (t && t == v->t) { /* changed in place */
        session_set(s, v, t);
        return STC_OK;
    }
    if (in->loops && t && may_swap(v, t)) {
        tensor_swap(v->t, t);
        t->generation = ++s->generation;
        session_set(s, v, v->t);
        return STC_OK;
    }
    t = machine_take(c->mc, c->target);
    if (!t) return fail(cx, STC_ERR_MEMORY, "%s: the result is not there", name);
    session_set(s, v, t);
    return STC_OK;
}

/* Whether a round before has given v what it has, of operands that are the same still: no
 * two tensors of a session have the same generation. */
static bool is_done(const stc_session *s, prepared *c, const variable *v)
{
    if (!c->pure || !c->made || !v || !v->t || v->born != c->made || s->repeat > 1)
        return false;
    for (int i = 0; i < c->p->ntensor; i++) {
        if (c->p->tensor[i].role != ROLE_INPUT) continue;
        const variable *of = variable_of(s, c, i);
        if (!of || !of->t || !machine_has(c->mc, i, of->t)) return false;
    }
    return true;
}

stc_status session_assign(stc_session *s, const script *in, const ast *statement)
{
    const char *name = target_name(statement);
    prepared *c = NULL;
    stc_status st = prepare(s, in, statement, &c);
    if (st) return st;
    if (is_done(s, c, session_find(s, name))) {
        if (s->m->cx.profile && (st = session_profiled(s, in, statement, NULL, 0)))
            return st;
        return session_set_last(s, name);
    }
    variable *v = NULL;
    bool fresh = false;
    c->made = 0;
    char *last =
        NULL; /* the name that was assigned last: a change in place can't be undone */
    if (!s->f.last || strcmp(s->f.last, name))
        st = (last = mem_strdup(&s->m->cx, name)) ? STC_OK : s->m->cx.diag.status;
    if (!st) st = run_prepared(s, in, statement, c);
    if (!st) st = session_reserve(s, name, &v, &fresh);
    if (!st) {
        st = keep_result(s, in, c, v, name);
        if (!st) c->made = v->born;
        if (st && fresh) session_remove(s, name);
    }
    if (last && !st) {
        mem_strfree(&s->m->cx, s->f.last);
        s->f.last = last;
    } else if (last) {
        mem_strfree(&s->m->cx, last);
    }
    operands_done(s, c, !st);
    if (!in->loops) session_forget(s);
    return st;
}

/* A scalar expression's value and type. */
stc_status session_scalar(stc_session *s, const script *in, const ast *expression,
                          stc_type *type, value *out)
{
    prepared *c = NULL;
    const variable *v =
        expression->kind == N_NAME ? session_find(s, expression->name) : NULL;
    if (v && v->t && v->t->order == 0) { /* nothing to compute */
        *type = v->t->type;
        *out = tensor_get(v->t, NULL);
        return STC_OK;
    }
    stc_status st = prepare(s, in, expression, &c);
    if (st) return st;
    st = run_prepared(s, in, expression, c);
    if (!st) {
        const tensor *t = machine_tensor(c->mc, c->target);
        *type = t->type;
        *out = tensor_get(t, NULL);
    }
    operands_done(s, c, !st);
    if (!in->loops) session_forget(s);
    return st;
}

stc_status session_condition(stc_session *s, const script *in, const ast *expression,
                             bool *out)
{
    stc_type type;
    value v;
    stc_status st = session_scalar(s, in, expression, &type, &v);
    if (!st) *out = !class_is_zero(type_class(type), v);
    return st;
}

stc_status session_integer(stc_session *s, const script *in, const ast *expression,
                           const char *what, int64_t *out)
{
    stc_type type;
    value v;
    stc_status st = session_scalar(s, in, expression, &type, &v);
    if (st) return st;
    switch (type_class(type)) {
    case CLASS_U64:
        *out = v.u64 > INT64_MAX ? INT64_MAX : (int64_t)v.u64;
        return STC_OK;
    case CLASS_I64:
        *out = v.i64;
        return STC_OK;
    default:
        return fail_source(&in->src, STC_ERR_PROGRAM, expression->at,
                           "%s is of type %s, not an integer%s", what, type_name(type),
                           expression->kind == N_BINARY && expression->op == OPR_DIV
                               ? "; `//` floors"
                               : "");
    }
}

stc_status session_value(stc_session *s, const script *in, const ast *node, tensor **out)
{
    prepared *c = NULL;
    stc_status st = prepare(s, in, node, &c);
    if (st) return st;
    st = run_prepared(s, in, node, c);
    if (!st) {
        *out = machine_take(c->mc, c->target);
        if (!*out) st = fail(&s->m->cx, STC_ERR_MEMORY, "the value is not there");
    }
    operands_done(s, c, !st);
    if (!in->loops) session_forget(s);
    return st;
}
