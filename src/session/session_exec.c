/* session_exec.c: executes the statements of a script or of the REPL's line,
 * one after another.
 *
 * What ran before an error stays; the failing statement changes nothing.
 * Included files run as if they stood in the place of `include`; errors in
 * them name the included file.
 */
#include "../lang/scope.h"
#include "session.h"
#include "../io/io.h"
#include "../io/read.h"
#include <stdio.h>
#include <string.h>

#define INCLUDE_MAX 32
#define SCRIPT_MAX ((int64_t)1 << 30)

static stc_status exec_text(stc_session *s, const script *outer, const char *text,
                            const char *file);

stc_status session_fail(const script *in, stc_status status, const ast *n, const char *what)
{
    return fail_source(&in->src, status, n->at, "%s", what);
}

/* An error without a place in a text gets that of the statement; one about a
 * whole file then begins with the file's name. */
stc_status session_place(const script *in, const ast *n, stc_status st)
{
    diag *d = &in->src.cx->diag;
    if (!st || d->line) return st;
    char message[sizeof d->message + sizeof d->file + 2];
    snprintf(message, sizeof message, "%s%s%s", d->file, *d->file ? ": " : "", d->message);
    span at = n->at;
    for (int32_t i = at.begin; i < at.end; i++) {
        if (in->src.text[i] == '\n') at.end = i;
    }
    return fail_source(&in->src, st, at, "%s", message);
}

/* ---- tensor … --------------------------------------------------------------------- */

/* x = [1,2] leaves what is declared of x as it is. */
static void keep_declared(const stc_session *s, const ast *n, scope_tensor *d)
{
    const scope_tensor *e = n->u ? scope_find_tensor(s->f.sc, n->name) : NULL;
    if (!e) return;
    if ((d->has_format = e->has_format)) {
        d->fmt = e->fmt;
        d->order = e->fmt.order;
    }
    if ((d->has_type = e->has_type)) d->type = e->type;
    if ((d->has_fill = e->has_fill)) d->fill = e->fill;
    if (n->child[DECL_DATA]->kind != N_ENTRIES || !e->has_shape) return;
    d->has_shape = true;
    memcpy(d->shape, e->shape, sizeof d->shape);
    d->order = e->order;
}

/* n, whose scalars are numbers. */
static stc_status declare(stc_session *s, const script *in, const ast *n)
{
    ctx *cx = &s->m->cx;
    scope_tensor d = {.slot = -1};
    tensor *t = NULL;
    stc_status st = decl_read(s->f.sc, &in->src, n, &d);
    keep_declared(s, n, &d);
    if (!st && n->child[DECL_DATA]) {
        const double start = now_us();
        st = decl_data(&in->src, n, in->dir, &d, &t);
        s->times.load += now_us() - start;
        if (st) return session_place(in, n->child[DECL_DATA], st);
    }
    if (st) return st;
    variable *v = session_var(s, n->name);
    scope_tensor *e = v ? scope_put_tensor(s->f.sc, n->name) : NULL;
    if (!e) {
        if (v && !v->t && !v->has_origin) session_remove(s, n->name);
        tensor_free(t);
        return cx->diag.status;
    }
    s->named++;
    d.name = e->name;
    d.has_data = t || d.has_shape;
    *e = d;
    session_clear(s, v);
    if (t) session_set(s, v, t);
    return STC_OK;
}

static stc_status exec_tensor(stc_session *s, const script *in, const ast *n)
{
    arena a;
    const ast *plain = n;
    arena_init(&a, &s->m->cx);
    stc_status st = session_fixed(s, in, &a, n, &plain);
    if (!st) st = declare(s, in, plain);
    arena_free(&a);
    return st;
}

/* ---- statements about one tensor ---------------------------------------------------- */

static stc_status unknown_tensor(stc_session *s, const script *in, const ast *n)
{
    suggestion near;
    char text[96];
    const char *name;
    const int32_t end = n->at.begin + (int32_t)strlen(n->name);
    suggest_begin(&near, n->name);
    for (int i = 0; (name = stc_session_name(s, i)) != NULL; i++)
        suggest_try(&near, name);
    return fail_source(&in->src, STC_ERR_PROGRAM, (span){n->at.begin, end},
                       "there is no tensor named %s%s", n->name,
                       suggest_text(&near, text, sizeof text));
}

stc_status session_named(stc_session *s, const script *in, const ast *n, tensor **out)
{
    variable *v = session_find(s, n->name);
    if (!v) return unknown_tensor(s, in, n);
    return session_tensor(s, v, out);
}

static stc_status exec_save(stc_session *s, const script *in, const ast *n)
{
    tensor *t;
    stc_status st = files_allowed(&in->src, n);
    if (!st) st = session_named(s, in, n, &t);
    if (st) return st;
    const double start = now_us();
    st = io_save(t, n->child[0]->name);
    s->times.save += now_us() - start;
    return session_place(in, n->child[0], st);
}

static stc_status exec_compact(stc_session *s, const script *in, const ast *n)
{
    tensor *t;
    stc_status st = session_named(s, in, n, &t);
    if (st) return st;
    variable *const v = session_find(s, n->name);
    bool done = false;
    if (!v->lent && !t->sharers) st = tensor_compact_within(t, &done);
    if (!st && !done) st = tensor_compact(t, &t);
    if (!st) session_set(s, v, t);
    return st;
}

static stc_status exec_drop(stc_session *s, const script *in, const ast *n)
{
    if (!session_find(s, n->name)) return unknown_tensor(s, in, n);
    session_remove(s, n->name);
    return STC_OK;
}

/* ---- include ------------------------------------------------------------------------ */

static stc_status exec_include(stc_session *s, script *in, const ast *n)
{
    ctx *cx = &s->m->cx;
    if (in->includes >= INCLUDE_MAX)
        return session_fail(in, STC_ERR_PROGRAM, n,
                            "files include each other more than 32 deep");
    char path[4096];
    stc_status st = files_allowed(&in->src, n);
    if (!st) st = find_path(cx, n->child[0]->name, in->dir, path, sizeof path);
    file_bytes b = {0};
    if (!st) st = file_read(cx, path, SCRIPT_MAX, &b);
    if (st) return st;
    if (strlen(b.data) == (size_t)b.len) {
        st = exec_text(s, in, b.data, path);
    } else {
        st = fail_file(cx, STC_ERR_SYNTAX, path, 0, "the file is no text of a script");
    }
    mem_free(cx, b.data, b.size);
    return st;
}

/* ---- assignments ---------------------------------------------------------------- */

/* B = A of whole tensors: names alone, and A has modes. Both have the tensor then, until
 * one of them is given another value; what would change it in place takes a copy. */
static bool is_whole_copy(const stc_session *s, const ast *n)
{
    const ast *from = n->child[1];
    if (n->op != OPR_NONE || n->child[0]->kind != N_NAME || from->kind != N_NAME ||
        n->child[2])
        return false;
    const scope_tensor *e = scope_find_tensor(s->f.sc, from->name);
    return e && (e->order > 0 || (e->order < 0 && e->has_data));
}

static stc_status exec_copy(stc_session *s, const script *in, const ast *n)
{
    tensor *from, *t = NULL;
    stc_status st = session_named(s, in, n->child[1], &from);
    if (!st) st = tensor_share(from, &t);
    return st ? st : session_give(s, in, n->at, n->child[0]->name, t);
}

bool session_compiles(const stc_session *s, const ast *n)
{
    const ast *const e = n->child[1];
    return !(e->kind == N_CALL && session_calls_def(s, e)) && !session_grads(s, e) &&
           !session_orders(s, e) && !is_whole_copy(s, n);
}

static stc_status exec_assign(stc_session *s, script *in, const ast *n)
{
    if (n->child[1]->kind == N_CALL && session_calls_def(s, n->child[1])) {
        if (n->op == OPR_NONE && n->child[0]->kind == N_NAME)
            return session_call(s, in, n->child[1], (const ast **)n->child, 1);
        return fail_source(&in->src, STC_ERR_PROGRAM, n->child[0]->at,
                           "what a def gives goes to a name alone, as in y = %s(…)",
                           n->child[1]->name);
    }
    if (session_grads(s, n->child[1])) {
        if (n->op == OPR_NONE && n->child[0]->kind == N_NAME)
            return session_grad(s, in, n->child[1], (const ast **)n->child, 1);
        return fail_source(&in->src, STC_ERR_PROGRAM, n->child[0]->at,
                           "what `grad` gives goes to a name alone, as in G = grad(e, A)");
    }
    if (session_orders(s, n->child[1])) return session_order(s, in, n);
    return is_whole_copy(s, n) ? exec_copy(s, in, n) : session_assign(s, in, n);
}

/* (p, q) = f(A), or grad(e, A, B) */
static stc_status exec_results(stc_session *s, script *in, const ast *n)
{
    const ast *const *const name = (const ast **)n->child[0]->child;
    const int count = n->child[0]->count;
    return session_grads(s, n->child[1]) ? session_grad(s, in, n->child[1], name, count)
                                         : session_call(s, in, n->child[1], name, count);
}

/* What a statement gives a value goes onto a tape. */
static stc_status exec_taped(stc_session *s, script *in, const ast *n)
{
    const char *const name = n->kind == N_COMPACT ? n->name : n->child[0]->name;
    taping t = {0};
    stc_status st = s->untaped ? STC_OK : tape_begin(s, in, n, name, &t);
    if (!st) st = n->kind == N_ASSIGN ? exec_assign(s, in, n) : exec_compact(s, in, n);
    if (st) {
        tape_free(&s->m->cx, t.t);
    } else if (!s->untaped) {
        tape_end(s, name, t);
    }
    return st;
}

/* The same of several names. */
static stc_status exec_all_taped(stc_session *s, script *in, const ast *n)
{
    const ast *const list = n->child[0];
    taping t[DEF_MAX_NAMES] = {{0}};
    const int count = s->untaped ? 0 : list->count;
    stc_status st = STC_OK;
    for (int k = 0; k < count && k < DEF_MAX_NAMES && !st; k++)
        st = tape_begin(s, in, n, list->child[k]->name, &t[k]);
    if (!st) st = exec_results(s, in, n);
    for (int k = 0; k < count && k < DEF_MAX_NAMES; k++) {
        if (st) {
            tape_free(&s->m->cx, t[k].t);
        } else {
            tape_end(s, list->child[k]->name, t[k]);
        }
    }
    return st;
}

/* ---- dispatch ----------------------------------------------------------------------- */

static stc_status exec_one(stc_session *s, script *in, const ast *n)
{
    stc_status st;
    switch (n->kind) {
    case N_ASSIGN:
    case N_COMPACT:
        return exec_taped(s, in, n);
    case N_RESULTS:
        return exec_all_taped(s, in, n);
    case N_VALUE:
        return session_echo(s, in, n);
    case N_TENSOR:
        return exec_tensor(s, in, n);
    case N_FORMAT:
    case N_FN:
    case N_DEF:
        st = scope_define(s->f.sc, &in->src, n);
        if (!st) s->definitions++;
        return st;
    case N_PRINT:
        return session_print(s, in, n);
    case N_ASSERT:
        return session_assert(s, in, n);
    case N_SAVE:
        return exec_save(s, in, n);
    case N_DROP:
        return exec_drop(s, in, n);
    case N_INCLUDE:
        return exec_include(s, in, n);
    case N_BREAK:
        in->flow = FLOW_BREAK;
        return STC_OK;
    case N_CONTINUE:
        in->flow = FLOW_CONTINUE;
        return STC_OK;
    case N_RETURN:
        in->flow = FLOW_RETURN;
        return STC_OK;
    default:
        return session_flow(s, in, n);
    }
}

stc_status session_statement(stc_session *s, script *in, const ast *n)
{
    stc_status st = work_done(&s->m->cx, 1);
    if (!st) st = exec_one(s, in, n);
    return session_place(in, n, st);
}

/* No block is deeper, with those of all defs that are being called, so that calls within
 * each other can't exhaust the stack. */
enum { NESTED_MAX = 2000 };

stc_status session_exec(stc_session *s, script *in, const ast *list)
{
    stc_status st = STC_OK;
    if (s->depth == NESTED_MAX)
        return session_fail(in, STC_ERR_PROGRAM, list,
                            "blocks and calls are nested too deeply (more than 2000)");
    s->depth++;
    for (int i = 0; i < list->count && !st && in->flow == FLOW_ON; i++) {
        in->more = !in->loops && i + 1 < list->count;
        st = session_statement(s, in, list->child[i]);
    }
    s->depth--;
    return st;
}

stc_status session_folder(ctx *cx, const char *file, char **out)
{
    const char *slash = strrchr(file, '/');
    *out = NULL;
    if (!slash) return STC_OK;
    const size_t n = (size_t)(slash - file);
    char *dir = mem_alloc(cx, n + 1);
    if (!dir) return cx->diag.status;
    memcpy(dir, file, n);
    dir[n] = 0;
    *out = dir;
    return STC_OK;
}

/* Executes a tree, or plans it. */
static stc_status exec_tree(stc_session *s, script *in, const ast *tree)
{
    const stc_status st =
        s->dry ? session_plan_list(s, in, tree) : session_exec(s, in, tree);
    /* what is prepared is keyed by this text's tree */
    session_forget(s);
    return st;
}

/* Parses the whole text, then executes it. The tree of one that was executed before stays,
 * and its statements are found again as those of a loop are. */
static stc_status exec_text(stc_session *s, const script *outer, const char *text,
                            const char *file)
{
    ctx *cx = &s->m->cx;
    char *dir;
    stc_status st = session_folder(cx, file, &dir);
    if (st) return st;
    arena a;
    arena_init(&a, cx);
    known_text *const k = outer ? NULL : session_text_known(s, text, file);
    script in = {.src = {.cx = cx, .file = k ? k->file : file, .text = k ? k->text : text},
                 .dir = dir,
                 .loops = outer ? outer->loops : k != NULL,
                 .includes = outer ? outer->includes + 1 : 0};
    const uint64_t start = now_ticks();
    ast *tree;
    s->seen = (place_seen){0};
    if (s->told) session_forget_more(s, true); /* all plans are told */
    st = k ? session_text_parse(s, k, &in.src, &tree) : parse_script(&a, &in.src, &tree);
    in.kept = k ? k->tree : NULL;
    s->times.parse += (double)(now_ticks() - start);
    if (!st) st = exec_tree(s, &in, tree);
    const bool together = s->shelf.read || *notes_text(cx);
    if (!outer) session_forget_more(s, st != STC_OK);
    if (k && together) session_text_pass(s, k);
    if (!outer && !k && !st && !together) session_text_note(s, text, file);
    shelf_free(&s->shelf);
    arena_free(&a);
    mem_strfree(cx, dir);
    return st;
}

stc_status session_text(stc_session *s, const char *text, const char *file)
{
    notes_clear(&s->m->cx);
    s->times = (stc_times){0};
    session_unprofile(s);
    snprintf(s->file, sizeof s->file, "%s", file ? file : "eval");
    return exec_text(s, NULL, text, file ? file : "eval");
}

stc_status stc_session_exec(stc_session *s, const char *text, const char *file)
{
    API_CALL_LIMITED(s, &s->m->cx);
    return text ? session_text(s, text, file) : fail_null(cx, "text");
}

/* ---- compiling without running ------------------------------------------------------ */

/* What the names are that the program has, for planning it once more without the session:
 * operands are as they are, the target as it was declared (NULL: not at all). */
static void note_names(program *p, const scope_tensor *target)
{
    for (int i = 0; i < p->ntensor; i++) {
        prog_tensor *t = &p->tensor[i];
        const bool operand = t->role == ROLE_INPUT || t->role == ROLE_INOUT;
        if (!*t->name || (!operand && !target)) continue;
        t->declared = SAID_ALL;
        if (operand) continue;
        t->declared = (uint8_t)(SAID_NAME | (target->has_format ? SAID_FORMAT : 0) |
                                (target->has_type ? SAID_TYPE : 0) |
                                (target->has_fill ? SAID_FILL : 0));
    }
}

static stc_status compile_only(stc_session *s, arena *a, const source *src,
                               explain_texts *texts, opt_looks **looks, program **p,
                               machine **mc)
{
    ast *tree;
    stc_status st = parse_script(a, src, &tree);
    if (st) return st;
    if (tree->count != 1 || tree->child[0]->kind != N_ASSIGN)
        return fail_source(src, STC_ERR_PROGRAM, tree->at, "expected one assignment");
    const ast *statement = tree->child[0];
    const script in = {.src = *src};
    fixed scalars;
    ast_print(tree, &texts->ast);
    if ((st = session_resolve(s, statement)) ||
        (st = session_scalars(s, &in, a, statement, &scalars, &statement)))
        return st;
    const char *name = statement->child[0]->name;
    const scope_tensor *e = scope_find_tensor(s->f.sc, name);
    const bool known = e != NULL;
    const scope_tensor before = known ? *e : (scope_tensor){0};
    const opt_known about = {.find = session_known, .of = s, .looks = looks};
    stc_times times = {0};
    int target;
    st = compile_begin(src->cx, src, false, p);
    if (st) return st;
    st = compile_statement(a, s->f.sc, *p, src, statement, &about, texts, &times, &target);
    if (!st) st = compile_finish(*p, &times, mc);
    scope_clear_slots(s->f.sc, *p);
    scope_tensor *now = scope_find_tensor(s->f.sc, name);
    if (now && known) {
        char *own = now->name;
        *now = before;
        now->name = own;
    } else if (now) {
        scope_drop_tensor(s->f.sc, name);
    }
    note_names(*p, known ? &before : NULL);
    if (st) program_free(*p);
    return st;
}

stc_status stc_session_compile(stc_session *s, const char *text, stc_program **out)
{
    API_CALL_LIMITED(s, &s->m->cx);
    if (!text) return fail_null(cx, "text");
    if (!out) return fail_null(cx, "out");
    notes_clear(cx);
    const source src = {.cx = cx, .file = "stdin", .text = text};
    arena a;
    arena_init(&a, cx);
    explain_texts texts;
    explain_init(&texts, cx);
    program *p = NULL;
    machine *mc = NULL;
    stc_program *w = NULL;
    opt_looks *looks = NULL;
    stc_status st = compile_only(s, &a, &src, &texts, &looks, &p, &mc);
    if (!st) st = program_wrap(s->m, p, mc, &w);
    if (w) {
        w->looks = looks;
    } else {
        looks_free(cx, looks);
    }
    if (!st && (st = explain_keep(w, &texts))) program_drop(w);
    if (!st) *out = w;
    explain_drop(&texts);
    arena_free(&a);
    return st;
}
