/* check_parser.c: texts and trees: printing, precedence, statement ends, and
 * the places of errors. */
#include "../src/lang/lang.h"
#include "check.h"
#include <stdlib.h>
#include <string.h>

static stc_status parse(ctx *cx, arena *a, const char *text, ast **tree)
{
    const source *src;
    source *keep = arena_alloc(a, sizeof *keep);
    ck_assert_ptr_nonnull(keep);
    *keep = (source){.cx = cx, .file = "test", .text = text};
    src = keep;
    return parse_script(a, src, tree);
}

/* The tree of an assignment's right side, operators and brackets only. */
static void shape_of(const ast *e, textbuf *out)
{
    switch (e->kind) {
    case N_BINARY:
        text_add(out, "(");
        shape_of(e->child[0], out);
        text_add(out, "%s", ast_op_symbol(e->op));
        shape_of(e->child[1], out);
        text_add(out, ")");
        break;
    case N_UNARY:
        text_add(out, "(%s", ast_op_symbol(e->op));
        shape_of(e->child[0], out);
        text_add(out, ")");
        break;
    case N_INT:
        text_add(out, "%d", (int)e->u);
        break;
    default:
        text_add(out, "%s", e->name);
    }
}

static const char *const precedence[][2] = {
    {"a + b * c", "(a+(b*c))"},     {"a - b - c", "((a-b)-c)"},
    {"-a ** b", "(-(a**b))"},       {"2 ** -1", "(2**(-1))"},
    {"a ** b ** c", "(a**(b**c))"}, {"-a * b", "((-a)*b)"},
    {"a << b + c", "(a<<(b+c))"},   {"a & b << c", "(a&(b<<c))"},
    {"a ^ b & c", "(a^(b&c))"},     {"a | b ^ c", "(a|(b^c))"},
    {"a | b == c", "((a|b)==c)"},   {"a && b == c", "(a&&(b==c))"},
    {"a || b && c", "(a||(b&&c))"}, {"!a && b", "((!a)&&b)"},
    {"~a & b", "((~a)&b)"},         {"a % b / c", "((a%b)/c)"},
    {"a <= b + 1", "(a<=(b+1))"},
};

START_TEST(operators)
{
    heap h;
    ctx *cx = ctx_open(&h);
    for (size_t k = 0; k < sizeof precedence / sizeof *precedence; k++) {
        arena a;
        arena_init(&a, cx);
        ast *tree;
        char text[100];
        snprintf(text, sizeof text, "y = %s", precedence[k][0]);
        ck_ctx(cx, parse(cx, &a, text, &tree));
        textbuf out;
        text_init(&out, cx);
        shape_of(tree->child[0]->child[1], &out);
        char *s = text_take(&out);
        ck_assert_str_eq(s, precedence[k][1]);
        mem_strfree(cx, s);
        arena_free(&a);
    }
    ctx_close(cx, &h);
}
END_TEST

static const struct {
    const char *text;
    int statements;
} good[] = {
    {"", 0},
    {"\n\n# only a comment\n", 0},
    {"y(i) = A(i,j) * x(j)", 1},
    {"y(i) = A(i,j)\n  with reorder(j,i)\nz = 1", 2},
    {"a = 1; b = 2\nc = 3", 3},
    {"y(i) = (A(i,j)\n + B(i,j))", 1},
    {"d(i) min= A(i,j)", 1},
    {"a or= b; a and= c; a **= 2", -1},
    {"B(i,j) = A(i(1:5:2), j(::3))", 1},
    {"S(i) = pad C(i+j-1) * F(j)", 1},
    {"P(i,j) = max(p in 0:2, q in -1:2: I(2*i+p, 2*j+q))", 1},
    {"format csr2 = (i,j) -> (i : dense, j : compressed)", 1},
    {"format blk(r,c) = (i,j) -> (i/r : dense, j/c : compressed, i%r : dense, j%c : dense)",
     1},
    {"format ell2 = (i,j) -> (#i : dense, i : dense, j : singleton)", 1},
    {"tensor A csr = \"file.mtx\"", 1},
    {"tensor x dense f64 [1138] = 1.0", 1},
    {"tensor d csr f64 [4,4] fill inf = { (0,1): 3, (2,0): 1 }", 1},
    {"tensor M dense i32 = [[1,2,3],[4,5,6]]", 1},
    {"tensor R csr f64 [10,10] = random(density=0.01, seed=7)", 1},
    {"tensor C csr", 1},
    {"tensor s dense f64 [] = 3", 1},
    {"fn f(x, y) = x & y with commutative, annihilator(0)", 1},
    {"fn g(x, y) {\n x, 0 => abs(x)\n 0, y => abs(y)\n x, y => { while (x != 0) { t = x; x "
     "= y "
     "% x; y = t }; return abs(y) }\n} over {x != 0} | {y != 0}",
     1},
    {"if (a > 1) { b = 1 } else { b = 2 }", 1},
    {"while (a < 10) { a = a + 1 }", 1},
    {"repeat 3 { a = a + 1; print a }", 1},
    {"print A; save A \"x.mtx\"; compact A; drop A; include \"other.stc\"", 5},
    {"y = 1e300 + .5 + 5. + 0x1F + 2j + inf", -1},
};

START_TEST(statements)
{
    heap h;
    ctx *cx = ctx_open(&h);
    for (size_t k = 0; k < sizeof good / sizeof *good; k++) {
        arena a;
        arena_init(&a, cx);
        ast *tree;
        const stc_status st = parse(cx, &a, good[k].text, &tree);
        if (good[k].statements >= 0) {
            ck_assert_msg(st == STC_OK, "%s: %s", good[k].text, cx->diag.message);
            ck_assert_msg(tree->count == good[k].statements, "%s: %d statements",
                          good[k].text, tree->count);
            textbuf out;
            text_init(&out, cx);
            ast_print(tree, &out);
            char *s = text_take(&out);
            ck_assert_ptr_nonnull(s);
            mem_strfree(cx, s);
        }
        arena_free(&a);
    }
    ctx_close(cx, &h);
}
END_TEST

static const struct {
    const char *text;
    int line, column;
} bad[] = {
    {"y(i) = ", 1, 0},
    {"y(i) = A(i", 1, 0},
    {"y(i) = A(i) + * B(i)", 1, 15},
    {"y(i) == A(i) = 3", 1, 14},
    {"a = 1\nb = )", 2, 5},
    {"a = 1 +\n  * 2", 2, 3},
    {"break", 1, 1},
    {"if (1) { continue }", 1, 10},
    {"return", 1, 1},
    {"def f(a) -> b { return a }", 1, 24},
    {"def f(a) -> b { def g(a) { } }", 1, 17},
    {"for k in 0:3:2", 1, 0},
    {"print", 1, 6},
    {"print 1,", 1, 9},
    {"(a, b) = c", 1, 10},
    {"assert 1, 2", 1, 11},
    {"a = 1 < 2 < 3", 1, 11},
    {"a = \"text", 1, 5},
    {"a = 99999999999999999999", 1, 5},
    {"a = 1 2", 1, 7},
    {"tensor = 3", 1, 8},
    {"tensor A csr [3,", 1, 0},
    {"tensor A csr [-3]", 1, 15},
    {"format f = (i,j) (i : dense)", 1, 18},
    {"fn f(x = 3", 1, 8},
    {"repeat { }", 1, 8},
    {"if (a) b = 1", 1, 8},
    {"a = $", 1, 5},
    {"a = 1 @ 2", 1, 7},
    {"with reorder(i)", 1, 1},
    {"y(i) = max(i in 0: A(i))", 1, 0},
    {"}", 1, 1},
    {"a = {1}", 1, 7},
    {"a = 2 + {1}", 1, 9},
};

START_TEST(errors)
{
    heap h;
    ctx *cx = ctx_open(&h);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        arena a;
        arena_init(&a, cx);
        ast *tree;
        const stc_status st = parse(cx, &a, bad[k].text, &tree);
        ck_assert_msg(st == STC_ERR_SYNTAX, "%s: %s", bad[k].text, stc_status_name(st));
        ck_assert_msg(cx->diag.line == bad[k].line, "%s: line %d", bad[k].text,
                      cx->diag.line);
        if (bad[k].column)
            ck_assert_msg(cx->diag.column == bad[k].column,
                          "%s: column %d, expected %d (%s)", bad[k].text, cx->diag.column,
                          bad[k].column, cx->diag.message);
        arena_free(&a);
    }
    ctx_close(cx, &h);
}
END_TEST

/* Depth is limited, not the stack's problem. */
START_TEST(deep)
{
    enum { DEPTH = 20000 };
    heap h;
    ctx *cx = ctx_open(&h);
    static const char *const open[] = {"(",       "-",     "!",    "abs(",
                                       "sum(i: ", "2 ** ", "a + ", "["};
    for (size_t k = 0; k < sizeof open / sizeof *open; k++) {
        textbuf t;
        text_init(&t, cx);
        text_add(&t, "%s", strcmp(open[k], "[") == 0 ? "tensor a dense f64 = " : "a = ");
        for (int d = 0; d < DEPTH; d++)
            text_add(&t, "%s", open[k]);
        char *s = text_take(&t);
        arena a;
        arena_init(&a, cx);
        ast *tree;
        ck_assert_int_ne(parse(cx, &a, s, &tree), STC_OK);
        arena_free(&a);
        mem_strfree(cx, s);
    }
    ctx_close(cx, &h);
}
END_TEST

START_TEST(unfinished)
{
    ck_assert(parse_incomplete("y(i) = (A(i)"));
    ck_assert(parse_incomplete("y(i) = A(i) +"));
    ck_assert(parse_incomplete("fn f(x) {"));
    ck_assert(!parse_incomplete("y(i) = A(i)"));
    ck_assert(!parse_incomplete("y(i) = A(i))"));
    ck_assert(!parse_incomplete(""));
    ck_assert(stc_session_incomplete("repeat 3 {\n"));
}
END_TEST

Suite *suite_parser(void)
{
    Suite *s = suite_create("parser");
    TCase *c = tcase_create("parser");
    tcase_add_test(c, operators);
    tcase_add_test(c, statements);
    tcase_add_test(c, errors);
    tcase_add_test(c, deep);
    tcase_add_test(c, unfinished);
    suite_add_tcase(s, c);
    return s;
}
