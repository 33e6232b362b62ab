/* parse_expr.c: expressions → syntax tree, by precedence climbing over the
 * table in ast.h: an operator takes on its left all that binds at least as
 * strongly. Comparisons don't chain; `**` binds to the right and more strongly
 * than a sign before it, but takes one behind it. `e in lo:hi` compares, with both bounds.
 * `where` binds weakest: e where mask.
 *
 * After a name, parentheses hold subscripts or arguments, unless a colon
 * follows: after names it is a reduction, `f(i, j: e)`, else a slice of the
 * index that stands before the parenthesis, `i(lo:hi:stride)`.
 */
#include "parser.h"

#include <math.h>

enum { COMPARISON = 3 };

static ast *binary_from(parser *p, int least);

/* An expression between brackets of its own: no argument, whatever it stands in. */
static ast *enclosed(parser *p)
{
    const bool listed = p->listed;
    p->listed = false;
    ast *e = parse_expression(p);
    p->listed = listed;
    return e;
}

static ast *number(parser *p)
{
    const token t = p->tok;
    ast *n = parse_node(p,
                        t.kind == T_INT    ? N_INT
                        : t.kind == T_IMAG ? N_IMAG
                                           : N_REAL,
                        t.at);
    parse_advance(p);
    if (n && t.kind == T_INT)
        n->u = t.u;
    else if (n)
        n->f = t.f;
    return n;
}

static ast *constant_word(parser *p)
{
    const token t = p->tok;
    const bool truth = t.word == K_true || t.word == K_false;
    ast *n = parse_node(p, truth ? N_BOOL : N_REAL, t.at);
    parse_advance(p);
    if (!n) return NULL;
    if (truth)
        n->u = t.word == K_true;
    else
        n->f = t.word == K_inf ? (double)INFINITY : (double)NAN;
    return n;
}

ast *parse_integer(parser *p, bool sign, const char *what)
{
    const span at = p->tok.at;
    const bool minus = sign && parse_at_op(p, OPR_SUB);
    if (minus) parse_advance(p);
    if (!parse_at(p, T_INT)) return parse_expected(p, what);
    if (p->tok.u > INT64_MAX) return parse_fail(p, p->tok.at, "the number is too large");
    ast *n = number(p);
    if (!n || !minus) return n;
    n->at.begin = at.begin;
    n->u = -n->u;
    return n;
}

/* A bound of a range: an integer with its sign, or a scalar expression. */
static ast *bound(parser *p)
{
    ast *e = enclosed(p);
    if (!e) return NULL;
    if (e->kind == N_INT && e->u > INT64_MAX)
        return parse_fail(p, e->at, "the number is too large");
    const bool minus = e->kind == N_UNARY && e->op == OPR_NEG;
    if (!minus || e->child[0]->kind != N_INT) return e;
    if (e->child[0]->u > INT64_MAX) return parse_fail(p, e->at, "the number is too large");
    e->kind = N_INT;
    e->u = -e->child[0]->u;
    e->op = OPR_NONE;
    e->count = 0;
    return e;
}

/* One bound of a slice: absent before `:` and `)`. */
static bool slice_bound(parser *p, ast **out)
{
    *out = NULL;
    if (parse_at(p, T_COLON) || parse_at(p, T_RPAREN)) return true;
    *out = bound(p);
    return *out != NULL;
}

/* i(lo:hi:stride), from the first colon on; lo was read already. */
static ast *slice(parser *p, span name, ast *lo)
{
    ast *part[3] = {lo};
    if (lo && lo->kind == N_INT && lo->u > INT64_MAX)
        return parse_fail(p, lo->at, "the number is too large");
    ast *node = parse_named(p, N_SLICE, name, name);
    if (!node || !parse_expect(p, T_COLON, "`:`") || !slice_bound(p, &part[1])) return NULL;
    if (parse_accept(p, T_COLON) && !slice_bound(p, &part[2])) return NULL;
    if (!parse_expect(p, T_RPAREN, "`)` after the slice")) return NULL;
    return parse_children(p, node, part, 3);
}

/* `in lo:hi` after a bound index. */
static ast *binding_range(parser *p, ast *name)
{
    ast *part[2];
    if (name->kind != N_NAME)
        return parse_fail(p, name->at, "only an index can stand before `in`");
    parse_advance(p);
    if (!(part[0] = bound(p)) || !parse_expect(p, T_COLON, "`:` between the bounds") ||
        !(part[1] = bound(p)))
        return NULL;
    name->kind = N_BINDING;
    return parse_children(p, name, part, 2);
}

/* i(lo:hi:stride) with a scalar's name for lo, which began like a reduction: at the second
 * colon, or the end. */
static ast *strided(parser *p, ast *node, int64_t mark)
{
    ast *part[3] = {p->stack[mark], p->count > mark + 1 ? p->stack[mark + 1] : NULL};
    p->count = mark;
    part[0]->kind = N_NAME;
    node->kind = N_SLICE;
    if (parse_accept(p, T_COLON) && !slice_bound(p, &part[2])) return NULL;
    if (!parse_expect(p, T_RPAREN, "`)` after the slice")) return NULL;
    return parse_children(p, node, part, 3);
}

/* The arguments from mark on are the indices of a reduction; at the colon. */
static ast *reduction(parser *p, span name, int64_t mark)
{
    ast *node = parse_named(p, N_REDUCE, name, name);
    for (int64_t i = mark; i < p->count; i++) {
        ast *b = p->stack[i];
        if (b->kind != N_NAME && b->kind != N_BINDING)
            return parse_fail(p, b->at,
                              "expected the name of an index before the colon of "
                              "a reduction");
        b->kind = N_BINDING;
    }
    parse_advance(p);
    if (!node) return NULL;
    const bool plain = p->count == mark + 1 && !p->stack[mark]->count;
    if (plain && (parse_at(p, T_COLON) || parse_at(p, T_RPAREN)))
        return strided(p, node, mark);
    if (!parse_push(p, enclosed(p))) return NULL;
    if (plain && parse_at(p, T_COLON)) return strided(p, node, mark);
    if (!parse_expect(p, T_RPAREN, "`)` after the reduction")) return NULL;
    return parse_adopt(p, node, mark);
}

static ast *call_end(parser *p, span name, int64_t mark, bool left)
{
    for (int64_t i = mark; i < p->count; i++)
        if (p->stack[i]->kind == N_BINDING && !left)
            return parse_fail(
                p, p->stack[i]->at,
                "a range `in lo:hi` belongs to a reduction, f(i in lo:hi: e), and a "
                "condition between parentheses, (i in lo:hi)");
    if (!parse_expect(p, T_RPAREN, "`,` or `)`")) return NULL;
    return parse_adopt(p, parse_named(p, N_CALL, name, name), mark);
}

/* NAME ( … ): the name is read, the parenthesis is next. */
static ast *call(parser *p, span name)
{
    const int64_t mark = p->count;
    const bool left = p->left;
    p->left = false;
    parse_advance(p);
    if (parse_at(p, T_COLON)) return slice(p, name, NULL);
    if (parse_at(p, T_RPAREN)) return call_end(p, name, mark, left);
    for (;;) {
        const bool listed = p->listed;
        p->listed = true;
        ast *e = parse_expression(p);
        p->listed = listed;
        if (e && parse_at_word(p, K_in)) e = binding_range(p, e);
        if (!parse_push(p, e)) return NULL;
        if (parse_at(p, T_COLON)) break;
        if (!parse_accept(p, T_COMMA)) return call_end(p, name, mark, left);
    }
    ast *first = p->stack[mark];
    if (p->count > mark + 1 || first->kind == N_NAME || first->kind == N_BINDING)
        return reduction(p, name, mark);
    p->count = mark;
    return slice(p, name, first);
}

ast *parse_reference(parser *p, const char *what)
{
    if (p->tok.kind != T_NAME) return parse_expected(p, what);
    const span at = p->tok.at;
    parse_advance(p);
    if (!parse_at(p, T_LPAREN)) return parse_named(p, N_NAME, at, at);
    if (!parse_enter(p)) return NULL;
    ast *n = call(p, at);
    parse_leave(p);
    return n;
}

static ast *padded(parser *p)
{
    ast *node = parse_node(p, N_PAD, p->tok.at);
    parse_advance(p);
    ast *access = parse_reference(p, "a tensor's element after `pad`");
    if (!node || !access) return NULL;
    if (access->kind != N_CALL)
        return parse_fail(p, access->at, "`pad` stands before a tensor with subscripts");
    return parse_children(p, node, &access, 1);
}

static ast *primary(parser *p)
{
    switch (p->tok.kind) {
    case T_INT:
    case T_REAL:
    case T_IMAG:
        return number(p);
    case T_NAME:
        return parse_reference(p, "an expression");
    case T_LPAREN: {
        parse_advance(p);
        ast *e = enclosed(p);
        return e && parse_expect(p, T_RPAREN, "an operator or `)`") ? e : NULL;
    }
    case T_KEYWORD:
        if (p->tok.word >= K_inf) return constant_word(p);
        if (p->tok.word == K_pad) return padded(p);
        break;
    case T_STRING:
    case T_LBRACKET:
    case T_LBRACE:
        return parse_fail(
            p, p->tok.at,
            "expected an expression; data are a statement's whole right side, "
            "as in x = [1,2,3] or A = \"plate.mtx\"");
    default:
        break;
    }
    return parse_expected(p, "an expression");
}

static ast_op unary_operator(const parser *p)
{
    if (parse_at(p, T_NOT)) return OPR_NOT;
    if (parse_at(p, T_TILDE)) return OPR_BITNOT;
    if (parse_at_op(p, OPR_SUB)) return OPR_NEG;
    return parse_at_op(p, OPR_ADD) ? OPR_PLUS : OPR_NONE;
}

static ast *unary(parser *p)
{
    const ast_op op = unary_operator(p);
    if (op == OPR_NONE) return primary(p);
    ast *node = parse_node(p, N_UNARY, p->tok.at);
    if (!node || !parse_enter(p)) return NULL;
    node->op = (uint8_t)op;
    parse_advance(p);
    ast *operand = binary_from(p, PRECEDENCE_UNARY);
    parse_leave(p);
    return operand ? parse_children(p, node, &operand, 1) : NULL;
}

static ast *binary_of(parser *p, ast_op op, ast *a, ast *b)
{
    ast *node = parse_node(p, N_BINARY, a->at);
    if (!node) return NULL;
    node->op = (uint8_t)op;
    return parse_children(p, node, (ast *[]){a, b}, 2);
}

/* e in lo:hi is lo <= e && e < hi. */
static ast *membership(parser *p, ast *e)
{
    if (!parse_enter(p)) return NULL;
    parse_advance(p);
    ast *lo = binary_from(p, COMPARISON + 1), *hi = NULL;
    if (lo && parse_expect(p, T_COLON, "`:` between the bounds"))
        hi = binary_from(p, COMPARISON + 1);
    parse_leave(p);
    ast *above = hi ? binary_of(p, OPR_GE, e, lo) : NULL;
    ast *below = above ? binary_of(p, OPR_LT, e, hi) : NULL;
    return below ? binary_of(p, OPR_AND, above, below) : NULL;
}

static bool at_membership(const parser *p, const ast *left, int least)
{
    return parse_at_word(p, K_in) && least <= COMPARISON &&
           !(p->listed && left->kind == N_NAME);
}

static ast *joined(parser *p, ast *left, ast_op op, int strength)
{
    if (!parse_enter(p)) return NULL;
    parse_advance(p);
    ast *right = binary_from(p, op == OPR_POW ? PRECEDENCE_UNARY : strength + 1);
    parse_leave(p);
    return right ? binary_of(p, op, left, right) : NULL;
}

/* An expression of operators of precedence `least` and above. */
static ast *binary_from(parser *p, int least)
{
    ast *left = unary(p);
    for (bool compared = false; left;) {
        const bool within = at_membership(p, left, least);
        const bool ends = !within && p->tok.kind != T_OP;
        const int strength = within || ends ? COMPARISON : ast_precedence[p->tok.word];
        if (ends || strength < least) return left;
        if (compared && strength == COMPARISON)
            return parse_fail(p, p->tok.at, "comparisons don't chain: join them with `&&`");
        compared = strength == COMPARISON;
        left =
            within ? membership(p, left) : joined(p, left, (ast_op)p->tok.word, strength);
    }
    return NULL;
}

ast *parse_expression(parser *p)
{
    if (!parse_enter(p)) return NULL;
    ast *e = binary_from(p, 1);
    while (e && parse_at_text(p, "where")) {
        ast *const node = parse_node(p, N_WHERE, e->at);
        parse_advance(p);
        ast *const mask = binary_from(p, 1);
        e = node && mask ? parse_children(p, node, (ast *[]){e, mask}, 2) : NULL;
    }
    parse_leave(p);
    return e;
}

/* A number with a sign, or a complex one, a + bj. */
ast *parse_constant(parser *p, const char *what)
{
    const bool signs = unary_operator(p) == OPR_NEG || unary_operator(p) == OPR_PLUS;
    const bool begins = signs || parse_at(p, T_INT) || parse_at(p, T_REAL) ||
                        parse_at(p, T_IMAG) ||
                        (p->tok.kind == T_KEYWORD && p->tok.word >= K_inf);
    if (!begins) return parse_expected(p, what);
    ast *e = binary_from(p, PRECEDENCE_UNARY);
    if (!e || !(parse_at_op(p, OPR_ADD) || parse_at_op(p, OPR_SUB))) return e;
    if (parse_peek(p).kind != T_IMAG) return e;
    ast *sum = parse_node(p, N_BINARY, e->at);
    if (!sum) return NULL;
    sum->op = p->tok.word;
    parse_advance(p);
    ast *imag = number(p);
    return imag ? parse_children(p, sum, (ast *[]){e, imag}, 2) : NULL;
}
