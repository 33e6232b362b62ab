/* parse_flow.c: statements that say what runs, and how often → syntax tree.
 *
 *     for k in lo:hi:step {…}   for (a; e; b) {…}   while (e) {…}   repeat n {…}
 *     if (e) {…} else {…}       break   continue   return
 *     def f(A, s) -> p, q {…}   print "text", e    assert e, "why"
 *
 * The bodies of functions have loops, conditions and jumps, too; the rest is of
 * scripts.
 */
#include "parser.h"

/* A block in which `break` and `continue` may stand. */
static ast *loop_body(parser *p)
{
    p->loops++;
    ast *body = parse_block(p);
    p->loops--;
    return body;
}

/* `while (e) {…}`, `if (e) {…} else …`: after the word. */
static bool condition(parser *p, ast **out)
{
    return parse_expect(p, T_LPAREN, "`(` before the condition") &&
           (*out = parse_expression(p)) && parse_expect(p, T_RPAREN, "`)`");
}

static bool at_else(parser *p)
{
    return parse_continues(p, K_else) && parse_accept_word(p, K_else);
}

static ast *if_statement(parser *p)
{
    ast *node = parse_node(p, N_IF, p->tok.at), *part[3] = {0};
    parse_advance(p);
    if (!node || !parse_enter(p) || !condition(p, &part[0]) || !(part[1] = parse_block(p)))
        return NULL;
    if (at_else(p)) {
        part[2] = parse_at_word(p, K_if) ? if_statement(p) : parse_block(p);
        if (!part[2]) return NULL;
    }
    parse_leave(p);
    return parse_children(p, node, part, 3);
}

static ast *while_statement(parser *p)
{
    ast *node = parse_node(p, N_WHILE, p->tok.at), *part[2] = {0};
    parse_advance(p);
    if (!node || !condition(p, &part[0]) || !(part[1] = loop_body(p))) return NULL;
    return parse_children(p, node, part, 2);
}

static ast *repeat_statement(parser *p)
{
    ast *node = parse_node(p, N_REPEAT, p->tok.at), *part[2] = {0};
    parse_advance(p);
    if (!node || !(part[0] = parse_expression(p)) || !(part[1] = loop_body(p))) return NULL;
    return parse_children(p, node, part, 2);
}

/* In a function's body, for x in lo:hi {…} is written out as for (x = lo; …). */
static ast *for_counted(parser *p, ast *node, ast *var, ast *lo, ast *hi)
{
    ast *set = parse_node(p, N_ASSIGN, var->at), *less = parse_node(p, N_BINARY, hi->at);
    ast *step = parse_node(p, N_ASSIGN, var->at), *one = parse_node(p, N_INT, var->at);
    if (!set || !less || !step || !one) return NULL;
    one->u = 1;
    less->op = OPR_LT;
    step->op = OPR_ADD;
    ast *body = loop_body(p);
    if (!body || !parse_children(p, set, (ast *[]){var, lo, NULL}, 3) ||
        !parse_children(p, less, (ast *[]){var, hi}, 2) ||
        !parse_children(p, step, (ast *[]){var, one, NULL}, 3))
        return NULL;
    return parse_children(p, node, (ast *[]){set, less, step, body}, 4);
}

/* for x in lo:hi:step { … } */
static ast *for_range(parser *p, ast *node)
{
    ast *part[4] = {0}, *var = parse_name(p, N_NAME, "`(` or a variable");
    if (!var) return NULL;
    if (!parse_accept_word(p, K_in)) return parse_expected(p, "`in`");
    if (!(part[0] = parse_expression(p)) ||
        !parse_expect(p, T_COLON, "`:` between the bounds") ||
        !(part[1] = parse_expression(p)))
        return NULL;
    if (p->in_fn) return for_counted(p, node, var, part[0], part[1]);
    if (parse_accept(p, T_COLON) && !(part[2] = parse_expression(p))) return NULL;
    if (!(part[3] = loop_body(p))) return NULL;
    node->kind = N_EACH;
    node->name = var->name;
    return parse_children(p, node, part, 4);
}

static ast *for_statement(parser *p)
{
    ast *node = parse_node(p, N_FOR, p->tok.at), *part[4] = {0};
    parse_advance(p);
    if (!node) return NULL;
    if (!parse_accept(p, T_LPAREN)) return for_range(p, node);
    if (!(part[0] = parse_assignment(p)) || !parse_expect(p, T_SEMI, "`;`") ||
        !(part[1] = parse_expression(p)) || !parse_expect(p, T_SEMI, "`;`") ||
        !(part[2] = parse_assignment(p)) || !parse_expect(p, T_RPAREN, "`)`") ||
        !(part[3] = loop_body(p)))
        return NULL;
    return parse_children(p, node, part, 4);
}

/* break, continue, return. Where they may stand in a function's body is looked at
 * with the rest of it (fn_check.c). */
static ast *jump(parser *p)
{
    const token t = p->tok;
    const ast_kind kind = t.word == K_break      ? N_BREAK
                          : t.word == K_continue ? N_CONTINUE
                                                 : N_RETURN;
    parse_advance(p);
    ast *node = parse_node(p, kind, t.at);
    if (p->in_fn && kind == N_RETURN) {
        ast *e = parse_expression(p);
        return e ? parse_children(p, node, &e, 1) : NULL;
    }
    if (p->in_fn) return node;
    if (kind == N_RETURN && !p->in_def)
        return parse_fail(p, t.at, "`return` stands in the body of a def or a fn");
    if (kind == N_RETURN && !parse_at_end(p))
        return parse_fail(p, p->tok.at,
                          "a def's results are the names after its `->`; `return` "
                          "stands alone");
    if (kind != N_RETURN && !p->loops)
        return parse_fail(p, t.at, "`%s` stands in a loop", keyword_name(t.word));
    return node;
}

/* -> p, or -> p, q, or -> (p, q) */
static ast *def_results(parser *p)
{
    ast *list = parse_node(p, N_NAMES, p->tok.at);
    const int64_t mark = p->count;
    if (!list || !parse_accept(p, T_ARROW)) return list;
    if (parse_accept(p, T_LPAREN)) return parse_names(p, T_RPAREN, "the name of a result");
    do {
        if (!parse_push(p, parse_name(p, N_NAME, "the name of a result"))) return NULL;
    } while (parse_accept(p, T_COMMA));
    return parse_adopt(p, list, mark);
}

/* def NAME(params) -> results { … } */
static ast *def_statement(parser *p)
{
    const span at = p->tok.at;
    const int32_t line = p->lx.lines;
    const int loops = p->loops;
    ast *part[3];
    parse_advance(p);
    if (p->in_def) return parse_fail(p, at, "a def can't stand in the body of another");
    ast *node = parse_name(p, N_DEF, "a name for the def");
    if (!node || !parse_expect(p, T_LPAREN, "`(` and the parameters")) return NULL;
    node->at.begin = at.begin;
    node->u = (uint64_t)line;
    if (!(part[0] = parse_names(p, T_RPAREN, "a parameter")) || !(part[1] = def_results(p)))
        return NULL;
    p->in_def = true;
    p->loops = 0;
    if (parse_at(p, T_SET))
        return parse_fail(p, p->tok.at,
                          "expected `{`: a def has statements; a function of numbers is "
                          "fn %.40s(x) = x * x",
                          node->name);
    part[2] = parse_block(p);
    p->in_def = false;
    p->loops = loops;
    return part[2] ? parse_children(p, node, part, 3) : NULL;
}

/* print "text", e, … */
static ast *print_statement(parser *p)
{
    parse_advance(p);
    ast *node = parse_node(p, N_PRINT, p->tok.at);
    const int64_t mark = p->count;
    if (!node) return NULL;
    if (parse_at_end(p))
        return parse_expected(p, "what to print: a text, a name or an expression");
    do {
        ast *item = parse_at(p, T_STRING) ? parse_string(p) : parse_value(p);
        if (!parse_push(p, item)) return NULL;
    } while (parse_accept(p, T_COMMA));
    return parse_adopt(p, node, mark);
}

/* assert e, "why" */
static ast *assert_statement(parser *p)
{
    parse_advance(p);
    ast *node = parse_node(p, N_ASSERT, p->tok.at), *part[2] = {parse_expression(p)};
    if (!part[0]) return NULL;
    if (parse_accept(p, T_COMMA) && !(part[1] = parse_string(p))) return NULL;
    return parse_children(p, node, part, 2);
}

ast *parse_flow(parser *p)
{
    switch (p->tok.word) {
    case K_while:
        return while_statement(p);
    case K_for:
        return for_statement(p);
    case K_if:
        return if_statement(p);
    case K_repeat:
        return repeat_statement(p);
    case K_def:
        return def_statement(p);
    case K_print:
        return print_statement(p);
    case K_assert:
        return assert_statement(p);
    default:
        return jump(p);
    }
}
