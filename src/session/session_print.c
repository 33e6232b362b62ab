/* session_print.c: statements that show something: print, expressions by themselves, and
 * assert.
 *
 * What `print` shows is one line of texts and scalars with a blank between them; a tensor
 * with modes begins on a line of its own.
 */
#include "session.h"

#include <string.h>

static stc_status no_output(const script *in, const ast *n)
{
    return session_fail(in, STC_ERR_ARGUMENT, n, "this session has no output to print to");
}

/* A text's characters; what a terminal could take for a command is shown as `?`. */
static void add_shown(textbuf *line, const char *text)
{
    while (*text) {
        const int n = *text == '\n' || *text == '\t' ? 1 : char_shown(text);
        text_add(line, "%.*s", n ? n : 1, n ? text : "?");
        text += n ? n : 1;
    }
}

/* What a VALUE stands for; *own: it is the caller's. */
static stc_status shown_value(stc_session *s, const script *in, const ast *node, tensor **t,
                              bool *own)
{
    const ast *e = node->child[0];
    *own = e->kind != N_NAME;
    return *own ? session_value(s, in, node, t) : session_named(s, in, e, t);
}

/* Where most of what a sparse tensor stores is its fill, a note says what helps. */
enum { NOTED_LEAST = 10 };

typedef struct tally {
    const tensor *t;
    int64_t n, fills;
} tally;

static int count_fill(void *context, const int64_t *coords, stc_value v)
{
    tally *const of = context;
    const tensor *t = of->t;
    (void)coords;
    of->n++;
    of->fills += class_equal(type_class(t->type), value_from_public(t->type, v), t->fill);
    return 0;
}

static stc_status note_fills(const script *in, const ast *e, const tensor *t)
{
    tally of = {.t = t};
    bool sparse = false;
    for (int l = 0; l < t->fmt.levels; l++)
        sparse |= !(format_props(&t->fmt, l) & PROP_FULL);
    if (!sparse || e->kind != N_NAME) return STC_OK;
    const stc_status st = tensor_visit(t, count_fill, &of);
    if (!st && of.n >= NOTED_LEAST && of.fills >= of.n - of.n / 10)
        notes_add(
            &in->src, e->at,
            "%lld of the %lld entries that %s stores are its fill; `compact %s` drops "
            "them",
            (long long)of.fills, (long long)of.n, e->name, e->name);
    return st;
}

static stc_status flush(stc_session *s, textbuf *line, bool *begun)
{
    stc_status st = STC_OK;
    if (*begun) {
        text_add(line, "\n");
        st =
            line->failed ? s->m->cx.diag.status : text_print(&s->m->cx, s->out, line->data);
    }
    text_drop(line);
    *begun = false;
    return st;
}

static stc_status print_item(stc_session *s, const script *in, const ast *item,
                             textbuf *line, bool *begun)
{
    char number[128];
    tensor *t = NULL;
    bool own = false;
    stc_status st = STC_OK;
    if (item->kind != N_STRING && (st = shown_value(s, in, item, &t, &own))) return st;
    if (!s->out) {
        st = no_output(in, item);
    } else if (t && t->order) {
        st = flush(s, line, begun);
        if (!st) st = note_fills(in, item->child[0], t);
        if (!st) st = tensor_print(t, s->out, 0);
    } else {
        if (*begun) text_add(line, " ");
        *begun = true;
        if (t) element_show(t, tensor_get(t, NULL), false, number, sizeof number);
        add_shown(line, t ? number : item->name);
    }
    if (own) tensor_free(t);
    return st;
}

stc_status session_print(stc_session *s, script *in, const ast *n)
{
    textbuf line;
    bool begun = false;
    stc_status st = STC_OK;
    text_init(&line, &s->m->cx);
    for (int i = 0; i < n->count && !st; i++)
        st = session_place(in, n->child[i], print_item(s, in, n->child[i], &line, &begun));
    if (!st) st = flush(s, &line, &begun);
    text_drop(&line);
    return st;
}

stc_status session_assert(stc_session *s, script *in, const ast *n)
{
    bool holds = false;
    stc_status st =
        session_place(in, n->child[0], session_condition(s, in, n->child[0], &holds));
    if (st || holds) return st;
    const char *why = n->child[1] ? n->child[1]->name : "";
    return fail_source(&in->src, STC_ERR_PROGRAM, n->child[0]->at,
                       "what is asserted doesn't hold%s%s", *why ? ": " : "", why);
}

/* ---- expressions by themselves -------------------------------------------------- */

stc_status session_echo(stc_session *s, script *in, const ast *n)
{
    const ast *e = n->child[0];
    tensor *t;
    bool own;
    if (e->kind == N_CALL && session_calls_def(s, e))
        return session_call(s, in, e, NULL, 0);
    if (!s->echo)
        return session_fail(in, STC_ERR_PROGRAM, e,
                            "nothing is done with this value: `print` shows it, and NAME = "
                            "keeps it");
    if (e->kind == N_CALL && session_grads(s, e)) return session_grad(s, in, e, NULL, 0);
    stc_status st = shown_value(s, in, n, &t, &own);
    if (st) return st;
    st = s->out ? note_fills(in, e, t) : no_output(in, n);
    if (!st) st = tensor_print(t, s->out, s->echo_limit);
    if (!st && !own) {
        if (strcmp(e->name, "_") == 0) return STC_OK;
        st = tensor_copy(t, &t);
        own = !st;
    }
    if (!st) return session_give(s, in, n->at, "_", t);
    if (own) tensor_free(t);
    return st;
}
