/* session_exec.c: executes the statements of a script or of the REPL's line,
 * one after another.
 *
 * What ran before an error stays; the failing statement changes nothing.
 * Included files run as if they stood in the place of `include`; errors in
 * them name the included file.
 */
#include "../lang/suggest.h"
#include "session.h"
#include "../io/io.h"
#include "../io/read.h"
#include <stdio.h>
#include <string.h>

#define INCLUDE_MAX 32
#define SCRIPT_MAX ((int64_t)1 << 30)

static stc_status exec_list(stc_session *s, script *in, const ast *list);
static stc_status exec_text(stc_session *s, const script *outer, const char *text,
                            const char *file);

static stc_status fail_at(const script *in, stc_status status, const ast *n,
                          const char *what)
{
    return fail_source(&in->src, status, n->at, "%s", what);
}

/* An error without a place in a text gets that of the statement; one about a
 * whole file then begins with the file's name. */
static stc_status place_error(const script *in, const ast *n, stc_status st)
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

static stc_status exec_tensor(stc_session *s, const script *in, const ast *n)
{
    ctx *cx = &s->m->cx;
    scope_tensor d = {.slot = -1};
    tensor *t = NULL;
    stc_status st = decl_read(s->sc, &in->src, n, &d);
    if (!st && n->child[DECL_DATA]) {
        const double start = now_us();
        st = decl_data(&in->src, n, in->dir, &d, &t);
        s->times.load += now_us() - start;
        if (st) return place_error(in, n->child[DECL_DATA], st);
    }
    if (st) return st;
    variable *v = session_var(s, n->name);
    scope_tensor *e = v ? scope_put_tensor(s->sc, n->name) : NULL;
    if (!e) {
        if (v && !v->t && !v->has_origin) session_remove(s, n->name);
        tensor_free(t);
        return cx->diag.status;
    }
    d.name = e->name;
    d.has_data = t || d.has_shape;
    *e = d;
    session_clear(s, v);
    if (t) session_set(s, v, t);
    return STC_OK;
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

static stc_status named_tensor(stc_session *s, const script *in, const ast *n, tensor **out)
{
    variable *v = session_find(s, n->name);
    if (!v) return unknown_tensor(s, in, n);
    return session_tensor(s, v, out);
}

static stc_status exec_print(stc_session *s, const script *in, const ast *n)
{
    tensor *t;
    stc_status st = named_tensor(s, in, n, &t);
    if (st) return st;
    if (!s->out)
        return fail_at(in, STC_ERR_ARGUMENT, n, "this session has no output to print to");
    return tensor_print(t, s->out, 0);
}

static stc_status exec_save(stc_session *s, const script *in, const ast *n)
{
    tensor *t;
    stc_status st = files_allowed(&in->src, n);
    if (!st) st = named_tensor(s, in, n, &t);
    if (st) return st;
    const double start = now_us();
    st = io_save(t, n->child[0]->name);
    s->times.save += now_us() - start;
    return place_error(in, n->child[0], st);
}

static stc_status exec_compact(stc_session *s, const script *in, const ast *n)
{
    tensor *t, *smaller;
    stc_status st = named_tensor(s, in, n, &t);
    if (!st) st = tensor_compact(t, &smaller);
    if (!st) session_set(s, session_find(s, n->name), smaller);
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
        return fail_at(in, STC_ERR_PROGRAM, n,
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

/* ---- loops and conditions ----------------------------------------------------------- */

static stc_status exec_repeat(stc_session *s, script *in, const ast *n)
{
    uint64_t rounds = 0;
    stc_status st =
        place_error(in, n->child[0], session_rounds(s, in, n->child[0], &rounds));
    in->loops++;
    for (uint64_t i = 0; i < rounds && !st; i++) {
        st = work_done(&s->m->cx, 1);
        if (!st) st = exec_list(s, in, n->child[1]);
    }
    in->loops--;
    if (!in->loops) session_forget(s);
    return st;
}

static stc_status exec_while(stc_session *s, script *in, const ast *n)
{
    stc_status st = STC_OK;
    in->loops++;
    while (!st) {
        bool on = false;
        st = work_done(&s->m->cx, 1);
        if (!st)
            st = place_error(in, n->child[0], session_condition(s, in, n->child[0], &on));
        if (st || !on) break;
        st = exec_list(s, in, n->child[1]);
    }
    in->loops--;
    if (!in->loops) session_forget(s);
    return st;
}

static stc_status exec_statement(stc_session *s, script *in, const ast *n);

static stc_status exec_if(stc_session *s, script *in, const ast *n)
{
    bool on = false;
    stc_status st =
        place_error(in, n->child[0], session_condition(s, in, n->child[0], &on));
    if (st) return st;
    const ast *branch = n->child[on ? 1 : 2];
    if (!branch) return STC_OK;
    return branch->kind == N_BLOCK ? exec_list(s, in, branch)
                                   : exec_statement(s, in, branch);
}

/* ---- dispatch ----------------------------------------------------------------------- */

static stc_status exec_statement(stc_session *s, script *in, const ast *n)
{
    stc_status st = work_done(&s->m->cx, 1);
    if (st) return place_error(in, n, st);
    switch (n->kind) {
    case N_ASSIGN:
        st = session_assign(s, in, n);
        break;
    case N_TENSOR:
        st = exec_tensor(s, in, n);
        break;
    case N_FORMAT:
    case N_FN:
        st = scope_define(s->sc, &in->src, n);
        if (!st) s->definitions++;
        break;
    case N_PRINT:
        st = exec_print(s, in, n);
        break;
    case N_SAVE:
        st = exec_save(s, in, n);
        break;
    case N_COMPACT:
        st = exec_compact(s, in, n);
        break;
    case N_DROP:
        st = exec_drop(s, in, n);
        break;
    case N_INCLUDE:
        st = exec_include(s, in, n);
        break;
    case N_REPEAT:
        st = exec_repeat(s, in, n);
        break;
    case N_WHILE:
        st = exec_while(s, in, n);
        break;
    case N_IF:
        st = exec_if(s, in, n);
        break;
    case N_BLOCK:
        return exec_list(s, in, n);
    default:
        st = fail_at(in, STC_ERR_PROGRAM, n, "this can't stand here; expected a statement");
    }
    return place_error(in, n, st);
}

static stc_status exec_list(stc_session *s, script *in, const ast *list)
{
    stc_status st = STC_OK;
    for (int i = 0; i < list->count && !st; i++)
        st = exec_statement(s, in, list->child[i]);
    return st;
}

/* The folder of a path, or NULL for names like "stdin" and files right here. */
static char *folder_of(ctx *cx, const char *file, stc_status *st)
{
    const char *slash = strrchr(file, '/');
    *st = STC_OK;
    if (!slash) return NULL;
    char *dir = mem_strdup(cx, file);
    if (!dir) {
        *st = cx->diag.status;
        return NULL;
    }
    return dir;
}

/* Parses the whole text, then executes it. */
static stc_status exec_text(stc_session *s, const script *outer, const char *text,
                            const char *file)
{
    ctx *cx = &s->m->cx;
    stc_status st;
    char *dir = folder_of(cx, file, &st);
    if (st) return st;
    const size_t cut = dir ? (size_t)(strrchr(dir, '/') - dir) : 0;
    if (dir) dir[cut] = 0;
    arena a;
    arena_init(&a, cx);
    script in = {.src = {.cx = cx, .file = file, .text = text},
                 .dir = dir,
                 .a = &a,
                 .loops = outer ? outer->loops : 0,
                 .includes = outer ? outer->includes + 1 : 0};
    const uint64_t start = now_ticks();
    ast *tree;
    st = parse_script(&a, &in.src, &tree);
    s->times.parse += (double)(now_ticks() - start);
    if (!st) st = exec_list(s, &in, tree);
    /* what is prepared is keyed by this text's tree */
    session_forget(s);
    arena_free(&a);
    if (dir) dir[cut] = '/';
    mem_strfree(cx, dir);
    return st;
}

stc_status stc_session_exec(stc_session *s, const char *text, const char *file)
{
    if (!s) return STC_ERR_ARGUMENT;
    ctx *cx = &s->m->cx;
    API_ENTER_LIMITED(cx);
    if (!text) return fail_null(cx, "text");
    s->times = (stc_times){0};
    text_drop(&s->profile);
    snprintf(s->file, sizeof s->file, "%s", file ? file : "eval");
    return exec_text(s, NULL, text, file ? file : "eval");
}

/* ---- compiling without running ------------------------------------------------------ */

static stc_status compile_only(stc_session *s, arena *a, const source *src,
                               explain_texts *texts, program **p, machine **mc)
{
    ast *tree;
    stc_status st = parse_script(a, src, &tree);
    if (st) return st;
    if (tree->count != 1 || tree->child[0]->kind != N_ASSIGN)
        return fail_source(src, STC_ERR_PROGRAM, tree->at, "expected one assignment");
    const ast *statement = tree->child[0];
    ast_print(tree, &texts->ast);
    if ((st = session_resolve(s, statement))) return st;
    const char *name = statement->child[0]->name;
    const scope_tensor *e = scope_find_tensor(s->sc, name);
    const bool known = e != NULL;
    const scope_tensor before = known ? *e : (scope_tensor){0};
    stc_times times = {0};
    int target;
    st = compile_begin(src->cx, src, false, p);
    if (st) return st;
    st = compile_statement(a, s->sc, *p, src, statement, texts, &times, &target);
    if (!st) st = compile_finish(*p, &times, mc);
    scope_clear_slots(s->sc, *p);
    scope_tensor *now = scope_find_tensor(s->sc, name);
    if (now && known) {
        char *own = now->name;
        *now = before;
        now->name = own;
    } else if (now) {
        scope_drop_tensor(s->sc, name);
    }
    if (st) program_free(*p);
    return st;
}

stc_status stc_session_compile(stc_session *s, const char *text, stc_program **out)
{
    if (!s) return STC_ERR_ARGUMENT;
    ctx *cx = &s->m->cx;
    API_ENTER_LIMITED(cx);
    if (!text) return fail_null(cx, "text");
    if (!out) return fail_null(cx, "out");
    const source src = {.cx = cx, .file = "stdin", .text = text};
    arena a;
    arena_init(&a, cx);
    explain_texts texts;
    explain_init(&texts, cx);
    program *p = NULL;
    machine *mc = NULL;
    stc_program *w = NULL;
    stc_status st = compile_only(s, &a, &src, &texts, &p, &mc);
    if (!st) st = program_wrap(s->m, p, mc, &w);
    if (!st && (st = explain_keep(w, &texts))) program_drop(w);
    if (!st) *out = w;
    explain_drop(&texts);
    arena_free(&a);
    return st;
}
