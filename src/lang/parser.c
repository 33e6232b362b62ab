/* parser.c: statements → syntax tree, and what the parser's parts share. */
#include "parser.h"
#include "suggest.h"

#include <string.h>

/* ---- tokens ---------------------------------------------------------------- */

void parse_advance(parser *p)
{
    p->ended = p->tok.at.end;
    lexer_next(&p->lx, &p->tok);
}

void parse_newlines(parser *p)
{
    while (p->tok.kind == T_NEWLINE)
        parse_advance(p);
}

token parse_peek(const parser *p)
{
    lexer ahead = p->lx;
    token t;
    lexer_next(&ahead, &t);
    return t;
}

static bool token_is(const parser *p, token t, const char *name)
{
    const size_t len = strlen(name);
    return t.kind == T_NAME && (size_t)(t.at.end - t.at.begin) == len &&
           !memcmp(p->src->text + t.at.begin, name, len);
}

bool parse_at_text(const parser *p, const char *name)
{
    return token_is(p, p->tok, name);
}

bool parse_accept(parser *p, token_kind kind)
{
    if (p->tok.kind != kind) return false;
    parse_advance(p);
    return true;
}

bool parse_accept_word(parser *p, keyword k)
{
    if (!parse_at_word(p, k)) return false;
    parse_advance(p);
    return true;
}

bool parse_expect(parser *p, token_kind kind, const char *what)
{
    if (parse_accept(p, kind)) return true;
    parse_expected(p, what);
    return false;
}

bool parse_continues(parser *p, keyword k)
{
    if (p->tok.kind == T_NEWLINE) {
        const token next = parse_peek(p);
        if (next.kind == T_KEYWORD && next.word == k) parse_advance(p);
    }
    return parse_at_word(p, k);
}

/* ---- errors ----------------------------------------------------------------- */

stc_status fail_source(const source *src, stc_status status, span at, const char *what, ...)
{
    diag *const d = &src->cx->diag;
    char message[sizeof d->message];
    va_list args;
    va_start(args, what);
    vsnprintf(message, sizeof message, what, args);
    va_end(args);
    fail_text(src->cx, status, src->file, src->text, at, "%s", message);
    if (d->line == 1) d->column += src->column;
    if (d->line) d->line += src->line;
    return status;
}

void *parse_fail(parser *p, span at, const char *message, ...)
{
    char text[512];
    va_list args;
    va_start(args, message);
    vsnprintf(text, sizeof text, message, args);
    va_end(args);
    fail_source(p->src, STC_ERR_SYNTAX, at, "%s", text);
    return NULL;
}

void *parse_expected(parser *p, const char *what)
{
    const token t = p->tok;
    if (t.kind == T_ERROR) return parse_fail(p, t.at, "%s", p->lx.error);
    if (t.kind == T_END)
        return parse_fail(p, (span){p->ended, p->ended}, "expected %s, but the text ends",
                          what);
    if (t.kind == T_NEWLINE)
        return parse_fail(p, t.at, "expected %s, but the line ends", what);
    int len = t.at.end - t.at.begin;
    const char *dots = "";
    if (len > 40) len = 40, dots = "…";
    if (t.kind == T_KEYWORD)
        return parse_fail(p, t.at, "expected %s, found the reserved word `%s`", what,
                          keyword_name(t.word));
    return parse_fail(p, t.at, "expected %s, found `%.*s%s`", what, len,
                      p->src->text + t.at.begin, dots);
}

bool parse_enter(parser *p)
{
    if (++p->depth <= PARSE_MAX_DEPTH) return true;
    parse_fail(p, p->tok.at, "the text is nested too deeply (more than %d levels)",
               PARSE_MAX_DEPTH);
    return false;
}

/* ---- nodes ------------------------------------------------------------------- */

/* A node with room for a name. An expression may be as long as the text: the call is
 * looked at in between. */
static ast *node_new(parser *p, ast_kind kind, span at, size_t room)
{
    enum { LOOK = 1024 };
    if (++p->nodes % LOOK == 0 && work_done(p->a->cx, LOOK)) return NULL;
    ast *n = arena_alloc(p->a, sizeof *n + room);
    if (!n) return NULL;
    n->kind = (uint8_t)kind;
    n->at = at;
    n->name = "";
    n->height = 1;
    return n;
}

ast *parse_node(parser *p, ast_kind kind, span at)
{
    return node_new(p, kind, at, 0);
}

ast *parse_named(parser *p, ast_kind kind, span at, span name)
{
    const size_t len = (size_t)(name.end - name.begin);
    ast *n = node_new(p, kind, at, len + 1);
    if (!n) return NULL;
    char *text = (char *)(n + 1);
    memcpy(text, p->src->text + name.begin, len);
    n->name = text;
    return n;
}

ast *parse_children(parser *p, ast *node, ast *const *child, int n)
{
    if (!node) return NULL;
    node->child = arena_array(p->a, n ? n : 1, sizeof *node->child);
    if (!node->child) return NULL;
    node->count = n;
    for (int i = 0; i < n; i++) {
        node->child[i] = child[i];
        if (child[i] && child[i]->height >= node->height)
            node->height = (uint16_t)(child[i]->height + 1);
    }
    if (p->ended > node->at.end) node->at.end = p->ended;
    if (node->height <= AST_MAX_HEIGHT) return node;
    return parse_fail(p, node->at, "the expression is too large (more than %d levels)",
                      AST_MAX_HEIGHT);
}

bool parse_push(parser *p, ast *child)
{
    if (!child) return false;
    if (p->count == p->cap) {
        ctx *cx = p->src->cx;
        ast **grown = mem_array(cx, p->cap * 2, sizeof *grown);
        if (!grown) return false;
        memcpy(grown, p->stack, (size_t)p->count * sizeof *grown);
        if (p->stack != p->room) mem_free(cx, p->stack, (size_t)p->cap * sizeof *grown);
        p->stack = grown;
        p->cap *= 2;
    }
    p->stack[p->count++] = child;
    return true;
}

ast *parse_adopt(parser *p, ast *node, int64_t mark)
{
    if (p->count - mark > INT32_MAX / 2)
        return parse_fail(p, p->tok.at, "the list is too long");
    node = parse_children(p, node, p->stack + mark, (int)(p->count - mark));
    p->count = mark;
    return node;
}

ast *parse_name(parser *p, ast_kind kind, const char *what)
{
    if (p->tok.kind != T_NAME) return parse_expected(p, what);
    const span at = p->tok.at;
    parse_advance(p);
    return parse_named(p, kind, at, at);
}

ast *parse_string(parser *p)
{
    if (p->tok.kind != T_STRING) return parse_expected(p, "a text in double quotes");
    const span at = p->tok.at;
    ast *n = parse_node(p, N_STRING, at);
    char *text = n ? arena_alloc(p->a, (size_t)(at.end - at.begin)) : NULL;
    if (!text) return NULL;
    n->name = text;
    for (const char *s = p->src->text + at.begin + 1; s < p->src->text + at.end - 1; s++) {
        if (*s == '\\') {
            s++;
            *text++ = *s == 'n' ? '\n' : *s == 't' ? '\t' : *s;
        } else {
            *text++ = *s;
        }
    }
    parse_advance(p);
    return n;
}

ast *parse_names(parser *p, token_kind close, const char *what)
{
    ast *list = parse_node(p, N_NAMES, p->tok.at);
    const int64_t mark = p->count;
    if (!list) return NULL;
    if (!parse_at(p, close)) {
        do {
            if (!parse_push(p, parse_name(p, N_NAME, what))) return NULL;
        } while (parse_accept(p, T_COMMA));
    }
    if (!parse_accept(p, close)) return parse_expected(p, "`,` or the closing bracket");
    return parse_adopt(p, list, mark);
}

/* ---- statements ----------------------------------------------------------------- */

/* After a closing brace the next statement may follow at once. */
static bool ends_with_block(const ast *s)
{
    return s->kind == N_IF || s->kind == N_WHILE || s->kind == N_FOR || s->kind == N_EACH ||
           s->kind == N_REPEAT || s->kind == N_DEF;
}

bool parse_at_end(const parser *p)
{
    return parse_at(p, T_END) || parse_at(p, T_NEWLINE) || parse_at(p, T_SEMI) ||
           parse_at(p, T_RBRACE);
}

/* Statements up to `close` (T_END, or T_RBRACE, which is taken). */
static ast *statements(parser *p, ast *node, token_kind close)
{
    const int64_t mark = p->count;
    while (node) {
        while (p->tok.kind == T_NEWLINE || p->tok.kind == T_SEMI)
            parse_advance(p);
        if (parse_at(p, close)) break;
        if (work_done(p->a->cx, 1)) return NULL;
        if (!parse_push(p, parse_statement(p))) return NULL;
        if (ends_with_block(p->stack[p->count - 1])) continue;
        if (!parse_at(p, T_NEWLINE) && !parse_at(p, T_SEMI) && !parse_at(p, close))
            return parse_expected(p, close == T_END ? "the end of the statement"
                                                    : "the end of the statement or `}`");
    }
    if (close != T_END) parse_advance(p);
    return node ? parse_adopt(p, node, mark) : NULL;
}

ast *parse_block(parser *p)
{
    const span at = p->tok.at;
    if (!parse_enter(p) || !parse_expect(p, T_LBRACE, "`{`")) return NULL;
    ast *block = statements(p, parse_node(p, N_BLOCK, at), T_RBRACE);
    parse_leave(p);
    return block;
}

/* After a name, no `=` and no `op=`: perhaps the name was to be a word. */
static ast *no_assignment(parser *p, const ast *left)
{
    suggestion near;
    char hint[96];
    const bool word =
        left->kind == N_NAME && (parse_at(p, T_NAME) || parse_at(p, T_STRING));
    suggest_begin(&near, left->name);
    for (int k = 0; word && k < K_COUNT; k++)
        if (k <= K_def || (k >= K_print && k <= K_if)) suggest_try(&near, keyword_name(k));
    if (near.best)
        return parse_fail(p, left->at, "there is no statement `%.40s`%s", left->name,
                          suggest_text(&near, hint, sizeof hint));
    if (parse_at(p, T_LBRACKET))
        return parse_fail(p, p->tok.at, "subscripts stand in parentheses, as in %.40s(0)",
                          left->name);
    return parse_expected(p, "`=` or an operator with `=`");
}

/* A part of the text that is being looked at before it is known what it is. */
typedef struct place {
    lexer lx;
    token tok;
    int32_t ended;
    int64_t count;
} place;

static place place_of(const parser *p)
{
    return (place){p->lx, p->tok, p->ended, p->count};
}

ast *parse_value(parser *p)
{
    ast *node = parse_node(p, N_VALUE, p->tok.at), *e = parse_expression(p);
    return e ? parse_children(p, node, &e, 1) : NULL;
}

/* What began like an assignment at `from` is an expression by itself, or an error. */
static ast *value_from(parser *p, const place *from, const ast *left)
{
    if (p->in_fn || !(parse_at(p, T_OP) || parse_at_end(p))) return no_assignment(p, left);
    p->lx = from->lx;
    p->tok = from->tok;
    p->ended = from->ended;
    p->count = from->count;
    return parse_value(p);
}

/* At `(`: whether names and then `) =` follow. */
static bool at_results(const parser *p)
{
    lexer ahead = p->lx;
    token t;
    if (!parse_at(p, T_LPAREN)) return false;
    do {
        lexer_next(&ahead, &t);
        if (t.kind != T_NAME) return false;
        lexer_next(&ahead, &t);
    } while (t.kind == T_COMMA);
    if (t.kind != T_RPAREN) return false;
    lexer_next(&ahead, &t);
    return t.kind == T_SET;
}

/* (p, q) = f(A) */
static ast *results_statement(parser *p)
{
    ast *node = parse_node(p, N_RESULTS, p->tok.at), *part[2];
    parse_advance(p);
    if (!node || !(part[0] = parse_names(p, T_RPAREN, "the name of a result"))) return NULL;
    parse_advance(p);
    if (!(part[1] = parse_reference(p, "the call of a def"))) return NULL;
    if (part[1]->kind != N_CALL)
        return parse_fail(p, part[1]->at, "expected the call of a def, as in f(A)");
    return parse_children(p, node, part, 2);
}

ast *parse_assignment(parser *p)
{
    const place from = place_of(p);
    p->left = !p->in_fn;
    ast *part[3] = {parse_reference(p, "a statement")};
    p->left = false;
    if (!part[0]) return NULL;
    ast *node = parse_node(p, N_ASSIGN, part[0]->at);
    if (!node) return NULL;
    if (p->tok.kind == T_OPSET) {
        node->op = p->tok.word;
    } else if (p->tok.kind == T_NAME) {
        node->op = parse_at_text(p, "min")   ? OPR_MIN
                   : parse_at_text(p, "max") ? OPR_MAX
                   : parse_at_text(p, "or")  ? OPR_OR
                   : parse_at_text(p, "and") ? OPR_AND
                                             : OPR_NONE;
        if (node->op == OPR_NONE || parse_peek(p).kind != T_SET)
            return no_assignment(p, part[0]);
        parse_advance(p);
    } else if (p->tok.kind != T_SET) {
        return value_from(p, &from, part[0]);
    }
    parse_advance(p);
    if (!(part[1] = parse_expression(p))) return NULL;
    if (!p->in_fn && parse_continues(p, K_with) && !(part[2] = parse_schedule(p)))
        return NULL;
    return parse_children(p, node, part, 3);
}

/* `save A "path"` and its like; it stands where its operands stand, for errors. */
static ast *naming_statement(parser *p, ast_kind kind)
{
    parse_advance(p);
    if (kind == N_INCLUDE) {
        ast *path = parse_string(p);
        return path ? parse_children(p, parse_node(p, kind, path->at), &path, 1) : NULL;
    }
    ast *node = parse_name(p, kind, "the name of a tensor");
    if (!node || kind != N_SAVE) return node;
    ast *path = parse_string(p);
    return path ? parse_children(p, node, &path, 1) : NULL;
}

static ast *keyword_statement(parser *p)
{
    switch (p->tok.word) {
    case K_while:
    case K_for:
    case K_if:
    case K_break:
    case K_continue:
    case K_return:
        return parse_flow(p);
    default:
        break;
    }
    if (p->in_fn) return parse_expected(p, "a statement of a function's body");
    switch (p->tok.word) {
    case K_tensor:
        return parse_tensor(p);
    case K_format:
        return parse_format(p);
    case K_fn:
        return parse_fn(p);
    case K_save:
        return naming_statement(p, N_SAVE);
    case K_compact:
        return naming_statement(p, N_COMPACT);
    case K_drop:
        return naming_statement(p, N_DROP);
    case K_include:
        return naming_statement(p, N_INCLUDE);
    case K_repeat:
    case K_def:
    case K_print:
    case K_assert:
        return parse_flow(p);
    case K_pad:
    case K_inf:
    case K_nan:
    case K_true:
    case K_false:
        return parse_value(p);
    default:
        return parse_expected(p, "a statement");
    }
}

/* What begins with a sign or a number can only be an expression. */
static bool begins_expression(const parser *p)
{
    switch (p->tok.kind) {
    case T_INT:
    case T_REAL:
    case T_IMAG:
    case T_LPAREN:
    case T_NOT:
    case T_TILDE:
        return true;
    default:
        return parse_at_op(p, OPR_SUB) || parse_at_op(p, OPR_ADD);
    }
}

ast *parse_statement(parser *p)
{
    ast *out = NULL;
    if (!parse_enter(p)) return NULL;
    if (p->tok.kind == T_KEYWORD)
        out = keyword_statement(p);
    else if (!p->in_fn && at_results(p))
        out = results_statement(p);
    else if (!p->in_fn && begins_expression(p))
        out = parse_value(p);
    else if (!p->in_fn && parse_at_data(p))
        out = parse_data(p);
    else
        out = parse_assignment(p);
    parse_leave(p);
    return out;
}

bool parser_init(parser *p, arena *a, const source *src, int32_t from)
{
    p->a = a;
    p->src = src;
    p->depth = 0;
    p->in_fn = p->in_def = p->left = p->listed = false;
    p->loops = p->nodes = 0;
    p->stack = p->room;
    p->count = 0;
    p->cap = PARSE_INLINE;
    p->tok = (token){0};
    if (!lexer_init(&p->lx, src->text)) {
        fail(src->cx, STC_ERR_SYNTAX, "the text is too long (2 GB or more)");
        return false;
    }
    if (from) p->lx.at = from;
    parse_advance(p);
    return true;
}

void parser_done(parser *p)
{
    if (p->stack != p->room)
        mem_free(p->src->cx, p->stack, (size_t)p->cap * sizeof *p->stack);
}

stc_status parse_script(arena *a, const source *src, ast **out)
{
    return parse_script_from(a, src, 0, out);
}

stc_status parse_script_from(arena *a, const source *src, int32_t from, ast **out)
{
    parser p;
    if (!parser_init(&p, a, src, from)) return src->cx->diag.status;
    ast *tree = statements(&p, parse_node(&p, N_SCRIPT, (span){0, 0}), T_END);
    parser_done(&p);
    if (!tree) return src->cx->diag.status;
    *out = tree;
    return STC_OK;
}
