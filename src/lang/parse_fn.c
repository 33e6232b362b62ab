/* parse_fn.c: functions and schedules → syntax tree.
 *
 *     fn NAME(params) (= e | {…}) [with properties] [over algebra]
 *
 * Braces hold cases if a `=>` follows the first list of names and constants,
 * statements otherwise. A function of the host's has no body. The algebra's `&`, `|`, `~`
 * are the operators' own nodes over sets {x != c}.
 */
#include "parser.h"

#include <string.h>

static ast *pattern(parser *p)
{
    if (p->tok.kind == T_NAME) return parse_name(p, N_NAME, "");
    return parse_constant(p, "a name or a constant");
}

/* x, 0 => e   or   x, y => { … } */
static ast *one_case(parser *p)
{
    ast *node = parse_node(p, N_CASE, p->tok.at),
        *names = parse_node(p, N_NAMES, p->tok.at);
    const int64_t mark = p->count;
    do {
        parse_newlines(p);
        if (!parse_push(p, pattern(p))) return NULL;
    } while (parse_accept(p, T_COMMA));
    if (!parse_adopt(p, names, mark)) return NULL;
    if (!parse_expect(p, T_GIVES, "`,` or `=>`")) return NULL;
    parse_newlines(p);
    ast *body = parse_at(p, T_LBRACE) ? parse_block(p) : parse_expression(p);
    return body ? parse_children(p, node, (ast *[]){names, body}, 2) : NULL;
}

static ast *cases(parser *p, span at)
{
    ast *node = parse_node(p, N_CASES, at);
    const int64_t mark = p->count;
    for (;;) {
        while (parse_at(p, T_NEWLINE) || parse_at(p, T_SEMI))
            parse_advance(p);
        if (parse_at(p, T_RBRACE)) break;
        if (!parse_push(p, one_case(p))) return NULL;
        if (!parse_at(p, T_NEWLINE) && !parse_at(p, T_SEMI) && !parse_at(p, T_RBRACE))
            return parse_expected(p, "the end of the case or `}`");
    }
    parse_advance(p);
    return parse_adopt(p, node, mark);
}

/* At `{`: whether names and constants, commas and then `=>` follow. */
static bool begins_case(const parser *p)
{
    lexer ahead = p->lx;
    for (;;) {
        token t;
        lexer_next(&ahead, &t);
        switch (t.kind) {
        case T_GIVES:
            return true;
        case T_NAME:
        case T_INT:
        case T_REAL:
        case T_IMAG:
        case T_COMMA:
        case T_NEWLINE:
            break;
        case T_OP:
            if (t.word != OPR_SUB && t.word != OPR_ADD) return false;
            break;
        case T_KEYWORD:
            if (t.word < K_inf) return false;
            break;
        default:
            return false;
        }
    }
}

static ast *fn_body(parser *p)
{
    if (parse_accept(p, T_SET)) return parse_expression(p);
    if (!parse_at(p, T_LBRACE))
        return parse_expected(p, "`=` or `{` and the function's body");
    if (!begins_case(p)) return parse_block(p);
    const span at = p->tok.at;
    parse_advance(p);
    return cases(p, at);
}

/* commutative, identity(v), annihilator(v, p), derivative(e, p) */
static ast *properties(parser *p)
{
    ast *node = parse_node(p, N_PROPS, p->tok.at);
    const int64_t mark = p->count;
    do {
        ast *prop = parse_name(p, N_PROP,
                               "a property (commutative, associative, idempotent, "
                               "annihilator(v), identity(v), derivative(e))");
        ast *part[2] = {0};
        if (!parse_push(p, prop)) return NULL;
        if (!parse_accept(p, T_LPAREN)) continue;
        part[0] = strcmp(prop->name, "derivative") ? parse_constant(p, "a constant")
                                                   : parse_expression(p);
        if (!part[0]) return NULL;
        if (parse_accept(p, T_COMMA) &&
            !(part[1] = parse_integer(p, false, "the number of an argument, from 0")))
            return NULL;
        if (!parse_expect(p, T_RPAREN, "`)`")) return NULL;
        if (!parse_children(p, prop, part, 2)) return NULL;
    } while (parse_accept(p, T_COMMA));
    return parse_adopt(p, node, mark);
}

/* ---- iteration algebra ------------------------------------------------------- */

static ast *algebra(parser *p, int depth);

/* {x != 0} */
static ast *set(parser *p)
{
    const span at = p->tok.at;
    parse_advance(p);
    parse_newlines(p);
    ast *node = parse_name(p, N_SET, "the name of a parameter");
    if (!node) return NULL;
    node->at.begin = at.begin;
    if (!parse_at_op(p, OPR_NE)) return parse_expected(p, "`!=`");
    parse_advance(p);
    ast *c = parse_constant(p, "a constant");
    parse_newlines(p);
    if (!c || !parse_expect(p, T_RBRACE, "`}` after the set")) return NULL;
    return parse_children(p, node, &c, 1);
}

static ast *algebra_unit(parser *p)
{
    ast *out = NULL;
    if (!parse_enter(p)) return NULL;
    if (parse_at(p, T_LBRACE)) {
        out = set(p);
    } else if (parse_at(p, T_TILDE)) {
        ast *node = parse_node(p, N_UNARY, p->tok.at);
        if (node) node->op = OPR_BITNOT;
        parse_advance(p);
        ast *e = node ? algebra_unit(p) : NULL;
        out = e ? parse_children(p, node, &e, 1) : NULL;
    } else if (parse_accept(p, T_LPAREN)) {
        out = algebra(p, 0);
        if (out && !parse_expect(p, T_RPAREN, "`)`")) out = NULL;
    } else {
        out = parse_expected(p, "a set {x != c}, `~` or `(`");
    }
    parse_leave(p);
    return out;
}

/* Unions (depth 0) of intersections (depth 1). */
static ast *algebra(parser *p, int depth)
{
    const ast_op op = depth == 0 ? OPR_BITOR : OPR_BITAND;
    ast *left = depth == 0 ? algebra(p, 1) : algebra_unit(p);
    while (left && parse_at_op(p, op)) {
        ast *node = parse_node(p, N_BINARY, left->at);
        if (!node) return NULL;
        node->op = (uint8_t)op;
        parse_advance(p);
        ast *right = depth == 0 ? algebra(p, 1) : algebra_unit(p);
        left = right ? parse_children(p, node, (ast *[]){left, right}, 2) : NULL;
    }
    return left;
}

/* with properties, over algebra */
static bool fn_tail(parser *p, ast **part)
{
    if (parse_continues(p, K_with)) {
        parse_advance(p);
        if (!(part[0] = properties(p))) return false;
    }
    if (parse_continues(p, K_over)) {
        parse_advance(p);
        if (!(part[1] = algebra(p, 0))) return false;
    }
    return true;
}

/* NAME(params) */
static ast *fn_head(parser *p, ast **params)
{
    ast *node = parse_name(p, N_FN, "a name for the function");
    if (!node || !parse_expect(p, T_LPAREN, "`(` and the parameters")) return NULL;
    *params = parse_names(p, T_RPAREN, "a parameter");
    return *params ? node : NULL;
}

ast *parse_fn(parser *p)
{
    const span at = p->tok.at;
    const int32_t line = p->lx.lines;
    ast *part[4] = {0}; /* parameters, body, properties, algebra */
    parse_advance(p);
    ast *node = fn_head(p, &part[0]);
    if (!node) return NULL;
    node->at.begin = at.begin;
    node->u = (uint64_t)line;
    p->in_fn = true;
    part[1] = fn_body(p);
    p->in_fn = false;
    if (!part[1] || !fn_tail(p, part + 2)) return NULL;
    return parse_children(p, node, part, 4);
}

stc_status parse_host_function(arena *a, const source *src, ast **out)
{
    parser p;
    ast *part[4] = {0}, *node = NULL;
    if (!parser_init(&p, a, src, 0)) return src->cx->diag.status;
    if ((node = fn_head(&p, &part[0])) && fn_tail(&p, part + 2)) {
        node = parse_at(&p, T_END) ? parse_children(&p, node, part, 4)
                                   : parse_expected(&p, "`with`, `over` or the end");
    } else {
        node = NULL;
    }
    parser_done(&p);
    if (!node) return src->cx->diag.status;
    *out = node;
    return STC_OK;
}

/* ---- schedules ----------------------------------------------------------------- */

/* {i, j} in a schedule */
static ast *index_names(parser *p)
{
    ast *node = parse_node(p, N_NAMES, p->tok.at);
    const int64_t mark = p->count;
    parse_advance(p);
    parse_newlines(p);
    while (!parse_at(p, T_RBRACE)) {
        if (!parse_push(p, parse_name(p, N_NAME, "the name of an index"))) return NULL;
        parse_newlines(p);
        if (!parse_accept(p, T_COMMA)) break;
        parse_newlines(p);
    }
    if (!parse_expect(p, T_RBRACE, "`,` or `}`")) return NULL;
    return parse_adopt(p, node, mark);
}

static ast *command(parser *p)
{
    ast *node = parse_name(p, N_COMMAND, "a scheduling command");
    const int64_t mark = p->count;
    if (!node || !parse_expect(p, T_LPAREN, "`(` after the command")) return NULL;
    if (!parse_at(p, T_RPAREN)) {
        do {
            ast *e = parse_at(p, T_LBRACE) ? index_names(p) : parse_expression(p);
            if (!parse_push(p, e)) return NULL;
        } while (parse_accept(p, T_COMMA));
    }
    if (!parse_expect(p, T_RPAREN, "`,` or `)`")) return NULL;
    return parse_adopt(p, node, mark);
}

ast *parse_schedule(parser *p)
{
    ast *node = parse_node(p, N_SCHEDULE, p->tok.at);
    const int64_t mark = p->count;
    parse_advance(p);
    do {
        if (!parse_push(p, command(p))) return NULL;
    } while (parse_accept(p, T_COMMA));
    return parse_adopt(p, node, mark);
}
