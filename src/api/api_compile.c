/* api_compile.c: from a text to a program: parse, then for each assignment
 * bind, plan, lower; then verify and link.
 *
 * A text may hold definitions (format, fn), declarations of tensors without
 * data, and assignments; results of earlier statements are operands of later
 * ones. What only a session can do (print, loops, files) is refused.
 */
#include "decl.h"
#include "structs.h"
#include <string.h>

/* ---- explain's texts --------------------------------------------------------- */

void explain_init(explain_texts *e, ctx *cx)
{
    text_init(&e->ast, cx);
    text_init(&e->bound, cx);
    text_init(&e->plan, cx);
    text_init(&e->lattice, cx);
}

void explain_drop(explain_texts *e)
{
    text_drop(&e->ast);
    text_drop(&e->bound);
    text_drop(&e->plan);
    text_drop(&e->lattice);
}

/* ---- one statement -------------------------------------------------------------- */

int ast_use_order(const ast *tree, const char *name)
{
    if (!tree || tree->kind == N_FN || tree->kind == N_FORMAT || tree->kind == N_TENSOR)
        return -1;
    const bool used = (tree->kind == N_CALL || tree->kind == N_NAME) &&
                      tree->name[0] == name[0] && strcmp(tree->name, name) == 0;
    if (used && tree->kind == N_CALL) return tree->count;
    int order = used ? 0 : -1;
    const int count = tree->kind == N_ASSIGN ? 2 : tree->count;
    for (int i = 0; i < count && order <= 0; i++) {
        const int below = ast_use_order(tree->child[i], name);
        if (below > order) order = below;
    }
    return order;
}

/* What later statements see of a result. */
static stc_status enter_result(scope *sc, const program *p, int slot)
{
    const prog_tensor *row = &p->tensor[slot];
    scope_tensor *t = scope_find_tensor(sc, row->name);
    if (!t) t = scope_put_tensor(sc, row->name);
    if (!t) return p->cx->diag.status;
    t->order = row->order;
    t->fmt = row->fmt;
    t->type = row->type;
    t->fill = row->fill;
    t->has_data = true;
    t->slot = slot;
    return STC_OK;
}

stc_status compile_statement(arena *a, scope *sc, program *p, const source *src,
                             const ast *statement, const opt_known *known,
                             explain_texts *texts, stc_times *times, int *target)
{
    const uint64_t start = now_ticks();
    bstmt *b = NULL;
    const bool alone = statement->kind == N_VALUE;
    stc_status st = statement->kind == N_ASSIGN
                        ? bind_assignment(a, sc, src, p, statement, &b)
                        : bind_value(a, sc, src, p, alone ? statement->child[0] : statement,
                                     !alone, &b);
    times->bind += (double)(now_ticks() - start);
    if (st) return st;
    if (texts) bound_print(b, p, &texts->bound);
    stage_texts stages = {0};
    if (texts) stages = (stage_texts){.plan = &texts->plan, .lattice = &texts->lattice};
    if ((st = compile_assignment(a, p, src, b, known, texts ? &stages : NULL, times)))
        return st;
    *target = b->target;
    return statement->kind == N_ASSIGN ? enter_result(sc, p, b->target) : STC_OK;
}

stc_status compile_begin(ctx *cx, const source *src, bool lent, program **out)
{
    program *p = program_new(cx);
    if (!p) return cx->diag.status;
    p->source = lent ? src->text : program_text(p, src->text);
    p->file = program_text(p, src->file);
    if (!p->source || !p->file) {
        program_free(p);
        return cx->diag.status;
    }
    *out = p;
    return STC_OK;
}

stc_status compile_finish(program *p, stc_times *times, machine **out)
{
    if (program_emit(p, (span){0, 0}, OP_HALT, NULL, 0) < 0 || program_keep(p))
        return p->cx->diag.status;
    const uint64_t start = now_ticks();
    stc_status st = program_verify(p);
    if (!st) st = machine_new(p, out);
    times->verify += (double)(now_ticks() - start);
    return st;
}

stc_status program_wrap(stc_machine *m, program *p, machine *mc, stc_program **out)
{
    ctx *cx = &m->cx;
    stc_program *w = arena_alloc(&p->own, sizeof *w); /* they live as long as p */
    binding *bind = arena_array(&p->own, p->ntensor + 1, sizeof *bind);
    shown_decl *shown = arena_array(&p->own, p->ntensor + 1, sizeof *shown);
    if (!w || !bind || !shown) {
        machine_free(mc);
        program_free(p);
        return cx->diag.status;
    }
    w->m = m;
    w->bind = bind;
    w->shown = shown;
    w->p = p;
    w->mc = mc;
    w->next = m->programs;
    if (w->next) w->next->prev = w;
    m->programs = w;
    *out = w;
    return STC_OK;
}

/* ---- a whole text ----------------------------------------------------------------- */

static bool has_formats(const ast *tree)
{
    for (int i = 0; i < tree->count; i++) {
        if (tree->child[i]->kind == N_FORMAT) return true;
    }
    return false;
}

/* Zeros of a decl are what wasn't given, but STC_BOOL is 0, too: it is meant where there
 * is an order, if only -1, or where a scalar has a format (see stc_decl). */
static bool decl_has_type(const stc_decl *d, int used)
{
    if (d->type) return d->type > 0;
    return d->order != 0 || (d->format && used <= 0);
}

stc_status compile_decl(scope *sc, const source *src, const ast *tree, const stc_decl *d)
{
    ctx *cx = src->cx;
    if (!d->name || !*d->name)
        return fail(cx, STC_ERR_ARGUMENT, "a declaration has no name");
    if (d->type < -1 || d->type >= TYPE_COUNT)
        return fail(cx, STC_ERR_ARGUMENT, "%s: %d is no element type", d->name, d->type);
    int order = d->order;
    if (order < -1 || order > STC_MAX_ORDER)
        return fail(cx, STC_ERR_ARGUMENT, "%s: the order is %d; expected 0 to %d", d->name,
                    order, STC_MAX_ORDER);
    const int used = order <= 0 ? ast_use_order(tree, d->name) : order;
    if (order < 0 || (order == 0 && used > 0)) order = used;
    const bool has_type = decl_has_type(d, used);
    format f;
    const char *text = d->format ? d->format : "dense";
    /* a bare name needs no parser, unless the text may define it */
    const bool plain = !has_formats(tree) && order >= 0 &&
                       format_builtin(text, strlen(text), order, NULL, 0, &f);
    stc_status st = plain ? STC_OK : format_parse(cx, sc, text, -1, &f);
    if (st) return st;
    if (order < 0) return STC_OK; /* not used: allowed */
    const bool fits = format_close(&f, order);
    if (!fits && used < 0 && !d->order) return STC_OK;
    if (!fits)
        return fail(cx, STC_ERR_PROGRAM,
                    "%s is used as a tensor of order %d, its format %s has order %d",
                    d->name, order, d->format, f.order);
    scope_tensor *t = scope_put_tensor(sc, d->name);
    if (!t) return cx->diag.status;
    t->order = order;
    t->fmt = f;
    t->type = has_type ? (stc_type)d->type : STC_F64;
    t->fill = (value){0};
    if (d->fill) t->fill = type_round(t->type, value_from_public(t->type, *d->fill));
    t->has_format = d->format != NULL;
    t->has_type = has_type;
    t->has_fill = d->fill != NULL;
    t->has_data = true;
    t->slot = -1;
    t->said = (uint8_t)(SAID_NAME | (t->has_format ? SAID_FORMAT : 0) |
                        (has_type ? SAID_TYPE : 0) | (t->has_fill ? SAID_FILL : 0));
    return STC_OK;
}

/* The same of what a program that was compiled before says in its rows. */
static stc_status enter_row(scope *sc, const program *p, const prog_tensor *row)
{
    scope_tensor *t = scope_put_tensor(sc, row->name);
    if (!t) return p->cx->diag.status;
    t->order = row->order;
    t->said = row->declared;
    t->has_format = row->declared & SAID_FORMAT;
    t->has_type = row->declared & SAID_TYPE;
    t->has_fill = row->declared & SAID_FILL;
    t->fmt = row->fmt;
    if (!t->has_format) format_builtin("dense", 5, row->order, NULL, 0, &t->fmt);
    t->type = t->has_type ? row->type : STC_F64;
    t->fill = (value){0};
    if (t->has_fill) t->fill = type_convert(t->type, row->type, row->fill);
    t->has_data = true;
    t->slot = -1;
    return STC_OK;
}

/* What the text can't say is kept with its program: of each name, with its first row. */
static void note_declared(const scope *sc, program *p)
{
    for (int i = 0; i < p->ntensor; i++) {
        prog_tensor *row = &p->tensor[i];
        scope_tensor *t = *row->name ? scope_find_tensor(sc, row->name) : NULL;
        if (!t) continue;
        row->declared = t->said;
        t->said = 0;
    }
}

/* A declaration inside the text: what a decl says, in the language. */
static stc_status enter_tensor(scope *sc, const source *src, const ast *n)
{
    if (n->child[DECL_DATA])
        return fail_source(
            src, STC_ERR_PROGRAM, n->child[DECL_DATA]->at,
            "a compiled program's tensors get their data when they are bound; "
            "expected a declaration of %s without `=`",
            n->name);
    scope_tensor d = {.slot = -1};
    stc_status st = decl_read(sc, src, n, &d);
    if (st) return st;
    scope_tensor *t = scope_put_tensor(sc, n->name);
    if (!t) return src->cx->diag.status;
    d.name = t->name;
    d.has_data = true;
    *t = d;
    return STC_OK;
}

static stc_status refuse(const source *src, const ast *n)
{
    return fail_source(src, STC_ERR_PROGRAM, n->at,
                       "'%s' runs in a script or session only; a program is made of "
                       "assignments and definitions",
                       ast_kind_name(n->kind));
}

stc_status compile_definition(scope *sc, const source *src, const ast *n)
{
    return n->kind == N_FN       ? scope_define(sc, src, n)
           : n->kind == N_TENSOR ? enter_tensor(sc, src, n)
                                 : refuse(src, n);
}

typedef struct text_job {
    source src;
    const stc_decl *decl;
    int ndecl;
    const program *rows;    /* declares, too; NULL: none */
    explain_texts *texts;   /* NULL: not wanted */
    const opt_known *known; /* NULL: nothing is  */
    const ast *tree;        /* the text's */
    bool waits;             /* plans depend on what will be bound */
    opt_book *book;         /* of several statements              */
    bool first; /* of the passes: it ends where statements have a part in common */
    stc_times times;
} text_job;

/* One assignment of several: what it takes to compile it is given back after it. */
static stc_status compile_one(text_job *job, scope *sc, program *p, const ast *n,
                              const opt_known *known)
{
    arena a;
    int target;
    arena_init(&a, job->src.cx);
    const stc_status st =
        compile_statement(&a, sc, p, &job->src, n, known, job->texts, &job->times, &target);
    arena_free(&a);
    return st;
}

static bool has_several(const ast *tree)
{
    int n = 0;
    for (int i = 0; i < tree->count; i++)
        n += tree->child[i]->kind == N_ASSIGN;
    return n > 1;
}

static stc_status compile_all(arena *a, text_job *job, scope *sc, program *p)
{
    const source *src = &job->src;
    const ast *const tree = job->tree;
    stc_status st = STC_OK;
    if (job->texts) ast_print(tree, &job->texts->ast);
    /* decls may name formats that the text defines */
    for (int i = 0; i < tree->count && !st; i++) {
        if (tree->child[i]->kind == N_FORMAT) st = scope_define(sc, src, tree->child[i]);
    }
    for (int i = 0; i < job->ndecl && !st; i++)
        st = compile_decl(sc, src, tree, &job->decl[i]);
    for (int i = 0; job->rows && i < job->rows->ntensor && !st; i++)
        if (job->rows->tensor[i].declared)
            st = enter_row(sc, job->rows, &job->rows->tensor[i]);
    if (st) return st;
    int assignments = 0;
    opt_known known = job->known ? *job->known : (opt_known){0};
    known.waits = &job->waits;
    known.book = tree->count > 1 ? job->book : NULL;
    if (has_several(tree)) known.looks = NULL; /* all of it would run again */
    for (int i = 0; i < tree->count; i++) {
        const ast *n = tree->child[i];
        int target;
        if ((st = work_done(src->cx, 1))) return st;
        if (n->kind == N_FORMAT) {
            continue;
        } else if (n->kind == N_ASSIGN) {
            assignments++;
            st = tree->count > 1 ? compile_one(job, sc, p, n, &known)
                                 : compile_statement(a, sc, p, src, n, &known, job->texts,
                                                     &job->times, &target);
        } else {
            st = compile_definition(sc, src, n);
        }
        if (st) return st;
        if (job->first && job->book->again) return STC_OK; /* from the beginning */
    }
    note_declared(sc, p);
    p->notation = job->waits;
    for (int i = 0; i < p->ntensor; i++) {
        if (!name_is_asked(p->tensor[i].name)) continue;
        return fail_source(src, STC_ERR_PROGRAM, tree->at,
                           "%s is known in a script or session only", p->tensor[i].name);
    }
    if (!assignments)
        return fail_source(src, STC_ERR_PROGRAM, tree->at,
                           "nothing to compute: expected at least one assignment");
    return STC_OK;
}

/* Once through the text's tree. */
static stc_status compile_pass(text_job *job, program **p)
{
    ctx *cx = job->src.cx;
    arena a;
    arena_init(&a, cx);
    scope *sc = scope_new(cx);
    stc_status st = sc ? compile_begin(cx, &job->src, false, p) : cx->diag.status;
    if (!st && (st = compile_all(&a, job, sc, *p))) program_free(*p);
    scope_free(sc);
    arena_free(&a);
    return st;
}

static stc_status parse_job(arena *a, text_job *job)
{
    const uint64_t start = now_ticks();
    ast *tree = NULL;
    const stc_status st = parse_script(a, &job->src, &tree);
    job->times.parse = (double)(now_ticks() - start);
    job->tree = tree;
    return st;
}

/* Again, if statements turn out to have parts in common, and with what is to be kept. */
static stc_status compile_job(text_job *job, program **p, machine **mc)
{
    ctx *cx = job->src.cx;
    arena a;
    arena_init(&a, cx);
    opt_book book = {.a = &a};
    job->book = &book;
    job->first = true;
    stc_status st = parse_job(&a, job);
    if (!st) st = compile_pass(job, p);
    for (int more = 0; !st && book.again && more < 2; more++) {
        program_free(*p);
        job->first = false;
        book.n = book.statement = 0;
        book.again = false;
        if (job->texts) {
            explain_drop(job->texts);
            explain_init(job->texts, cx);
        }
        st = compile_pass(job, p);
    }
    if (!st && (st = compile_finish(*p, &job->times, mc))) program_free(*p);
    arena_free(&a);
    return st;
}

/* ---- the public calls --------------------------------------------------------------- */

static stc_status compile_text(stc_machine *m, const char *text, const stc_decl *decls,
                               int count, stc_program **out)
{
    text_job job = {
        .src = {.cx = &m->cx, .file = "eval", .text = text}, .decl = decls, .ndecl = count};
    program *p = NULL;
    machine *mc = NULL;
    stc_program *w = NULL;
    stc_status st = compile_job(&job, &p, &mc);
    if (!st) st = program_wrap(m, p, mc, &w);
    if (st) return st;
    w->times = job.times;
    w->from_text = true;
    w->waits = job.waits;
    *out = w;
    return STC_OK;
}

stc_status stc_compile(stc_machine *m, const char *text, const stc_decl *decls, int count,
                       stc_program **out)
{
    API_CALL_LIMITED(m, &m->cx);
    if (!text) return fail_null(cx, "text");
    if (!out) return fail_null(cx, "out");
    if (count < 0 || (count && !decls)) return fail_null(cx, "decls");
    notes_clear(cx);
    stc_decl *made;
    stc_status st = decls_take(cx, &decls, count, &made);
    if (st) return st;
    st = compile_text(m, text, decls, count, out);
    decls_drop(cx, made, count);
    return st;
}

void program_drop(stc_program *w)
{
    ctx *cx = &w->m->cx;
    plan_drop(w);
    looks_free(cx, w->looks);
    machine_free(w->mc);
    for (int i = 0; i < w->p->ntensor; i++) {
        binding_clear(cx, &w->bind[i]);
        mem_strfree(cx, w->shown[i].format);
    }
    for (int i = 0; i < 4; i++)
        mem_strfree(cx, w->stage[i]);
    if (w->next) w->next->prev = w->prev;
    if (w->prev) {
        w->prev->next = w->next;
    } else {
        w->m->programs = w->next;
    }
    program_free(w->p); /* and w with it */
}

void stc_program_free(stc_program *w)
{
    if (w && api_free_to(&w->m->cx)) program_drop(w);
}

/* Moves the texts into the program, all or none. */
stc_status explain_keep(stc_program *w, explain_texts *e)
{
    textbuf *from[4] = {&e->ast, &e->bound, &e->plan, &e->lattice};
    char *text[4], **stage = w->now ? w->now->stage : w->stage;
    stc_status st = STC_OK;
    for (int i = 0; i < 4; i++) {
        text[i] = text_take(from[i]);
        if (!text[i]) st = w->m->cx.diag.status;
    }
    for (int i = 0; i < 4; i++) {
        if (st) {
            mem_strfree(&w->m->cx, text[i]);
        } else {
            stage[i] = text[i];
        }
    }
    return st;
}

stc_status compile_again(const stc_program *w, const opt_known *known, explain_texts *texts,
                         program **p, machine **mc)
{
    text_job job = {
        .src = {.cx = &w->m->cx,
                .file = w->p->file ? w->p->file : "eval",
                .text = w->p->source},
        .rows = w->p,
        .known = known,
        .texts = texts,
    };
    return compile_job(&job, p, mc);
}

/* The stages' texts cost more than compiling: made by compiling once more. */
static stc_status explain_again(stc_program *w)
{
    explain_texts texts;
    program *p = NULL;
    machine *mc = NULL;
    const opt_known known = plan_known(w);
    explain_init(&texts, &w->m->cx);
    if (w->p->foreign && !w->now)
        text_add(&texts.plan, w->p->like ? "the code was planned for data like some, and "
                                           "is again for others; without data:\n"
                                         : "planned anew for what is bound\n");
    stc_status st = compile_again(w, w->now ? &known : NULL, &texts, &p, &mc);
    if (!st) {
        machine_free(mc);
        program_free(p);
        st = explain_keep(w, &texts);
    }
    explain_drop(&texts);
    return st;
}

/* Microseconds of a tick, by both clocks since the machine was opened. */
static double tick_us(const stc_machine *m)
{
    const uint64_t ticks = now_ticks() - m->open_ticks;
    return ticks ? (now_us() - m->open_us) / (double)ticks : 0;
}

void tell_actual(const program *p, machine *mc, double us, textbuf *b)
{
    static const uint8_t role[] = {ROLE_TEMP, ROLE_OUTPUT, ROLE_INOUT};
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < p->ntensor; i++) {
            const prog_tensor *row = &p->tensor[i];
            if (row->role != role[k] || !*row->name) continue;
            const tensor *t = machine_tensor(mc, i);
            if (!t) continue;
            text_add(b, "ran: %s, %lld entries", row->name, (long long)t->nvals);
            const double ns = machine_spent(mc, i);
            if (ns >= 0) text_add(b, ", %.3g us", ns * 1e-3);
            text_add(b, "\n");
        }
    text_add(b, "ran: %.3g us in all\n", us);
}

stc_status stc_program_explain(const stc_program *w, const char *stage, char **text)
{
    static const char *const name[] = {"ast", "bound", "plan", "lattice"};
    API_CALL_LIMITED(w, &w->m->cx);
    if (!stage) return fail_null(cx, "stage");
    if (!text) return fail_null(cx, "text");
    if (strcmp(stage, "code") == 0) {
        textbuf b;
        text_init(&b, cx);
        return api_text_of(&b, machine_dump(machine_now(w), &b), text);
    }
    int i = 0;
    while (i < 4 && strcmp(stage, name[i]) != 0)
        i++;
    if (i == 4)
        return fail(cx, STC_ERR_ARGUMENT,
                    "'%s' is no stage; expected ast, bound, plan, lattice or code", stage);
    char *const *stage_text = w->now ? w->now->stage : w->stage;
    if (!stage_text[i]) {
        if (!w->from_text && !w->now)
            return fail(cx, STC_ERR_ARGUMENT,
                        "a program from bytecode has no stage '%s'; expected code", stage);
        stc_status st = explain_again((stc_program *)w); /* the texts are a cache */
        if (st) return st;
    }
    if (i == 2 && w->ran) {
        textbuf b;
        text_init(&b, cx);
        text_add(&b, "%s", stage_text[i]);
        tell_actual(program_now(w), machine_now(w), (double)w->run_ticks * tick_us(w->m),
                    &b);
        return api_text_of(&b, cx->diag.status, text);
    }
    return api_text(cx, stage_text[i], strlen(stage_text[i]), text);
}

stc_times times_told(const stc_machine *m, stc_times times)
{
    const double us = tick_us(m);
    times.parse *= us;
    times.bind *= us;
    times.plan *= us;
    times.lower *= us;
    times.verify *= us;
    return times;
}

void stc_program_times(const stc_program *w, stc_times *out)
{
    if (!out) return;
    stc_times times = {0};
    if (w) {
        times = times_told(w->m, w->times);
        times.run = (double)w->run_ticks * tick_us(w->m);
    }
    struct_give(out, TIMES_0_2, &times, sizeof times);
}

stc_status stc_program_profile(const stc_program *w, char **text)
{
    API_CALL(w, &w->m->cx);
    if (!text) return fail_null(cx, "text");
    textbuf b;
    text_init(&b, cx);
    return api_text_of(&b, machine_profile(machine_now(w), &b), text);
}
