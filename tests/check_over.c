/* check_over.c: iteration algebras with complements, and what functions are where these
 * leave them out. The paper's examples by hand, what contradicts itself, and random
 * functions: each is what its body gives for every element, evaluated here from the tree
 * that the text was made of, and nothing else of the product's or of the oracle's. */
#include "check.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define MATRICES                                                                           \
    "tensor B csr f64 [2,3] = {(0,0):2,(1,1):3}\ntensor C csr f64 [2,3] = {(0,0):3}\n"     \
    "tensor D csr f64 [2,3] = {(0,1):1,(1,1):1}\n"

START_TEST(paper)
{
    /* figs. 2b and 2c: the masked power, compressed by 0 and by 1 */
    EXPECT("fn mp(b,c,d) = select(d != 0, 0, b ** c) over ~{d != 0}\n" MATRICES
           "tensor R dense f64\nR(i,j) = mp(B(i,j),C(i,j),D(i,j))",
           "R", 8, 0, 1, 1, 0, 1);
    EXPECT("fn mp(b,c,d) = select(d != 0, 0, b ** c) over ~{d != 0}\n" MATRICES
           "R(i,j) = mp(B(i,j),C(i,j),D(i,j))",
           "R", 8, 0, 1, 1, 0, 1);
    EXPECT("fn mp(b,c,d) = select(d != 0, 0, b ** c) over ~{d != 0}\n" MATRICES
           "tensor R csr f64 fill 1\nR(i,j) = mp(B(i,j),C(i,j),D(i,j))",
           "R", 8, 0, 1, 1, 0, 1);
    EXPECT("fn mp(b,c,d) = select(d != 0, 0, b ** c) over {b != 0} | {c != 0} | {d != "
           "0}\n" MATRICES "tensor R csr f64\nR(i,j) = mp(B(i,j),C(i,j),D(i,j))",
           "R", 8, 0, 1, 1, 0, 1);
    /* fig. 15: a symmetric difference */
    EXPECT("fn x(a,b) = (a != 0) ^ (b != 0) over ({a != 0} | {b != 0}) & ~({a != 0} & "
           "{b != 0})\ntensor A svec i64 [6] = {(0):1,(1):2,(4):0}\n"
           "tensor B svec i64 [6] = {(1):5,(2):6,(5):0}\nR(i) = x(A(i),B(i))",
           "R", 1, 0, 1, 0, 0, 0);
    /* §5.2: an operand's fill that isn't its set's constant */
    EXPECT("fn f(x,z) = select(z != 0, 0, x) over {x != 0} & ~{z != 0}\n"
           "tensor X svec i64 [6] fill 4 = {(0):5}\ntensor Z svec i64 [6] = {(1):1,(2):1}\n"
           "tensor R dense i64 [6]\nR(i) = f(X(i),Z(i))",
           "R", 5, 0, 0, 4, 4, 4);
}
END_TEST

/* The fill of R, and how many places it stores. */
static void expect_stored(const char *script, double fill, int64_t stored)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_session *s;
    const stc_tensor *r;
    ck_ok(m, stc_session_open(m, &s));
    ck_ok(m, stc_session_exec(s, script, "test"));
    ck_ok(m, stc_session_get(s, "R", &r));
    const bool whole = stc_tensor_type(r) <= STC_U64;
    const stc_value v = stc_tensor_fill(r);
    ck_assert_msg((whole ? (double)v.i : v.f) == fill, "%s\nfill %g", script,
                  whole ? (double)v.i : v.f);
    ck_assert_msg(stc_tensor_stored(r) == stored, "%s\n%lld stored", script,
                  (long long)stc_tensor_stored(r));
    stc_session_close(s);
    machine_shut(m, &h);
}

/* A function whose value, where its algebra leaves it out, can't be told. */
#define OBSCURE "fn f(x,z) = select(z != 0, z - z + 7, x) over ~{z != 0}\n"
#define TWO                                                                                \
    "tensor X svec i64 [4] = {(0):5,(1):6}\ntensor Z svec i64 [4] = {(1):1,(2):0,(3):2}\n"

START_TEST(fills)
{
    const char *power =
        "fn mp(b,c,d) = select(d != 0, 0, b ** c) over ~{d != 0}\n" MATRICES;
    char text[600];
    snprintf(text, sizeof text, "%stensor R csr\nR(i,j) = mp(B(i,j),C(i,j),D(i,j))", power);
    expect_stored(text, 0, 4);
    snprintf(text, sizeof text, "%stensor R csr fill 1\nR(i,j) = mp(B(i,j),C(i,j),D(i,j))",
             power);
    expect_stored(text, 1, 3); /* fig. 2c: the union */
    /* nobody can tell, so that all is computed, and the fill is that of the fills */
    expect_stored(OBSCURE TWO "tensor R svec\nR(i) = f(X(i),Z(i))", 0, 4);
    expect_stored(OBSCURE TWO "tensor R svec fill 3\nR(i) = f(X(i),Z(i))", 3, 2);
    EXPECT(OBSCURE TWO "R(i) = f(X(i),Z(i))", "R", 5, 7, 0, 7);
    EXPECT(OBSCURE TWO "tensor R svec i64 [4]\nR(i) = f(X(i),Z(i))", "R", 5, 7, 0, 7);
    /* a fill that is given is taken at its word */
    EXPECT(OBSCURE TWO "tensor R svec i64 [4] fill 3\nR(i) = f(X(i),Z(i))", "R", 5, 3, 0,
           3);
    EXPECT(OBSCURE TWO "tensor R svec i64 [4] fill 3\nR(i) = f(X(i),Z(i)) + 0", "R", 5, 7,
           0, 7);
    EXPECT(OBSCURE TWO "tensor R dense f32 [4] fill 3\nR(i) = f(X(i),Z(i))", "R", 5, 3, 0,
           3);
    /* and one that the body contradicts isn't */
    EXPECT("fn f(x,z) = select(z != 0, 7, x) over ~{z != 0}\n" TWO
           "tensor R svec i64 [4] fill 3\nR(i) = f(X(i),Z(i))",
           "R", 5, 7, 0, 7);
    /* loops, branches and other functions in the body */
    EXPECT(
        "fn g(z) { if (z == 0) { return 1 }; return 2 }\n"
        "fn f(x,z) { s = 0; for k in 0:3 { s = s + g(z) }; if (x > 1) { t = s } else { t "
        "= s }; return select(s == 6, t, x) } over ~{z != 0}\n" TWO "R(i) = f(X(i),Z(i))",
        "R", 5, 6, 0, 6);
}
END_TEST

START_TEST(contradictions)
{
    expect_error(
        "fn f(x,y) = select(x != 0, 1, 0) over {y != 0} & ~{x != 0}", STC_ERR_PROGRAM,
        "`over` leaves out what isn't one value: f gives 0 where x is 0 and y is 0|"
        "and 1 where x isn't 0 and y is 0");
    expect_error("fn f(x,y) { x, 1 => 3\n x, y => x & y } over {x != 0} & {y != 1}",
                 STC_ERR_PROGRAM,
                 "f gives 3 where x is 0 and y is 1|0 where x is 0 and y "
                 "isn't 1");
    /* that depends on the types: it is seen when they are */
#define WIDE                                                                               \
    "fn f(x,y) = select(x == 3, 1 + x * 4611686018427387904 * 4, 1) over {x != 3} & {y "   \
    "!= 0}\n"
    EXPECT(WIDE "tensor X svec i64 [3] fill 3 = {(1):3}\ntensor Y svec i64 [3] = {(2):1}\n"
                "R(i) = f(X(i),Y(i))",
           "R", 1, 1, 1);
    expect_error(WIDE "tensor X svec f64 [3] fill 3 = {(1):3}\n"
                      "tensor Y svec f64 [3] = {(2):1}\nR(i) = f(X(i),Y(i))",
                 STC_ERR_PROGRAM, "f gives 5.5|and 1 where x isn't 3 and y is 0");
}
END_TEST

/* ---- random functions ----------------------------------------------------------- */

typedef enum kind { PARAM, NUMBER, DIFFERS, NOT, AND, OR, ADD, SUB, MUL, MIN, SELECT } kind;

typedef struct tree {
    kind kind;
    int param, child[3];
    int64_t number;
} tree;

enum { PARAMS = 4, TREES = 400, TEXT = 6000, SIDE = 4, PLACES = SIDE * SIDE };

typedef struct maker {
    uint64_t state;
    int params, ntree;
    int64_t constant[PARAMS]; /* of the sets */
    tree tree[TREES];
    int algebra, inner; /* what the body gives where the algebra holds … */
    int64_t rest;       /* … and where it doesn't                        */
    int64_t operand[PARAMS][PLACES];
    bool integers[PARAMS]; /* the operand is i64 */
    char text[TEXT];
} maker;

static int below(maker *g, int n)
{
    uint64_t z = g->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (int)((z ^ z >> 31) >> 33) % n;
}

static void say(maker *g, const char *what, ...) __attribute__((format(printf, 2, 3)));
static void say(maker *g, const char *what, ...)
{
    const size_t len = strlen(g->text);
    va_list args;
    va_start(args, what);
    vsnprintf(g->text + len, TEXT - len, what, args);
    va_end(args);
}

static int node(maker *g, kind k, int a, int b, int c)
{
    ck_assert_int_lt(g->ntree, TREES);
    g->tree[g->ntree] = (tree){.kind = k, .child = {a, b, c}};
    return g->ntree++;
}

static int random_algebra(maker *g, int depth)
{
    const int pick = depth ? below(g, 10) : 0;
    if (pick < 3) {
        const int n = node(g, DIFFERS, 0, 0, 0), p = below(g, g->params);
        g->tree[n].param = p;
        g->tree[n].number = g->constant[p];
        return n;
    }
    const int a = random_algebra(g, depth - 1);
    if (pick < 6) return node(g, NOT, a, 0, 0);
    return node(g, pick < 8 ? AND : OR, a, random_algebra(g, depth - 1), 0);
}

static int random_number(maker *g, int depth)
{
    static const kind of_two[] = {ADD, SUB, MUL, MIN, ADD};
    if (depth == 0 || below(g, 5) == 0) {
        const bool name = below(g, 4) > 0;
        const int n = node(g, name ? PARAM : NUMBER, 0, 0, 0);
        g->tree[n].param = below(g, g->params);
        g->tree[n].number = below(g, 5) - 1;
        return n;
    }
    const int a = random_number(g, depth - 1), b = random_number(g, depth - 1);
    if (below(g, 4)) return node(g, of_two[below(g, 5)], a, b, 0);
    const int c = node(g, DIFFERS, 0, 0, 0);
    g->tree[c].param = below(g, g->params);
    g->tree[c].number = below(g, 3);
    return node(g, SELECT, c, a, b);
}

static int64_t evaluated(const maker *g, int n, const int64_t *x)
{
    const tree *t = &g->tree[n];
    const int *c = t->child;
    switch (t->kind) {
    case PARAM:
        return x[t->param];
    case NUMBER:
        return t->number;
    case DIFFERS:
        return x[t->param] != t->number;
    case NOT:
        return !evaluated(g, c[0], x);
    case AND:
        return evaluated(g, c[0], x) && evaluated(g, c[1], x);
    case OR:
        return evaluated(g, c[0], x) || evaluated(g, c[1], x);
    case ADD:
        return (int64_t)((uint64_t)evaluated(g, c[0], x) + (uint64_t)evaluated(g, c[1], x));
    case SUB:
        return (int64_t)((uint64_t)evaluated(g, c[0], x) - (uint64_t)evaluated(g, c[1], x));
    case MUL:
        return (int64_t)((uint64_t)evaluated(g, c[0], x) * (uint64_t)evaluated(g, c[1], x));
    case MIN: {
        const int64_t a = evaluated(g, c[0], x), b = evaluated(g, c[1], x);
        return a < b ? a : b;
    }
    default:
        return evaluated(g, c[evaluated(g, c[0], x) ? 1 : 2], x);
    }
}

static int64_t function(const maker *g, const int64_t *x)
{
    return evaluated(g, g->algebra, x) ? evaluated(g, g->inner, x) : g->rest;
}

/* As an expression, or as an algebra. */
static void say_tree(maker *g, int n, bool sets)
{
    const tree *t = &g->tree[n];
    const int *c = t->child;
    static const char *const sign[] = {[ADD] = "+", [SUB] = "-", [MUL] = "*"};
    switch (t->kind) {
    case PARAM:
        say(g, "p%d", t->param);
        return;
    case NUMBER:
        say(g, "(%lld)", (long long)t->number);
        return;
    case DIFFERS:
        if (sets)
            say(g, "{p%d != %lld}", t->param, (long long)t->number);
        else if (t->number >= 0 && t->param % 2) /* in some other words */
            say(g, "(!(p%d == %lld))", t->param, (long long)t->number);
        else
            say(g, "(p%d != %lld)", t->param, (long long)t->number);
        return;
    case NOT:
        say(g, sets ? "~" : "!");
        say_tree(g, c[0], sets);
        return;
    case MIN:
    case SELECT:
        say(g, t->kind == MIN ? "min(" : "select(");
        say_tree(g, c[0], false), say(g, ", "), say_tree(g, c[1], false);
        if (t->kind == SELECT) say(g, ", "), say_tree(g, c[2], false);
        say(g, ")");
        return;
    default:
        say(g, "(");
        say_tree(g, c[0], sets);
        say(g, " %s ",
            t->kind == AND  ? (sets ? "&" : "&&")
            : t->kind == OR ? (sets ? "|" : "||")
                            : sign[t->kind]);
        say_tree(g, c[1], sets);
        say(g, ")");
    }
}

static void say_side(maker *g, bool inner)
{
    if (inner)
        say_tree(g, g->inner, false);
    else
        say(g, "%lld", (long long)g->rest);
}

/* Selects within each other, one for each set: where the algebra at n holds, or where it
 * doesn't, it gives inner, and the rest else. */
static void say_nested(maker *g, int n, bool holds)
{
    const tree *t = &g->tree[n];
    if (t->kind == NOT) {
        say_nested(g, t->child[0], !holds);
        return;
    }
    say(g, "select("), say_tree(g, t->kind == DIFFERS ? n : t->child[0], false);
    say(g, ", ");
    if (t->kind == AND)
        say_nested(g, t->child[1], holds);
    else
        say_side(g, holds);
    say(g, ", ");
    if (t->kind == OR)
        say_nested(g, t->child[1], holds);
    else
        say_side(g, !holds);
    say(g, ")");
}

static void say_names(maker *g)
{
    for (int k = 0; k < g->params; k++)
        say(g, "%sp%d", k ? ", " : "", k);
}

/* A case for each subset of the parameters that are their constants, most first. */
static void say_cases(maker *g)
{
    const int all = (1 << g->params) - 1;
    say(g, "{\n");
    for (int n = g->params; n >= 0; n--)
        for (int set = all; set >= 0; set--) {
            if (__builtin_popcount((unsigned)set) != n) continue;
            int64_t x[PARAMS];
            for (int k = 0; k < g->params; k++) {
                x[k] = g->constant[k] + !(set >> k & 1);
                if (set >> k & 1)
                    say(g, "%s%lld", k ? ", " : "", (long long)g->constant[k]);
                else
                    say(g, "%sp%d", k ? ", " : "", k);
            }
            say(g, " => ");
            if (!evaluated(g, g->algebra, x)) {
                say(g, "%lld\n", (long long)g->rest);
                continue;
            }
            say(g, "{ "); /* constants have no names in a case */
            for (int k = 0; k < g->params; k++)
                if (set >> k & 1) say(g, "p%d = %lld; ", k, (long long)g->constant[k]);
            say(g, "return ");
            say_tree(g, g->inner, false);
            say(g, " }\n");
        }
    say(g, "}");
}

/* A body that gives inner where the algebra holds, and rest elsewhere. */
static void say_body(maker *g, int way)
{
    switch (way) {
    case 0:
        say(g, "= select("), say_tree(g, g->algebra, false), say(g, ", ");
        say_tree(g, g->inner, false), say(g, ", %lld)", (long long)g->rest);
        break;
    case 1:
        say(g, "= "), say_nested(g, g->algebra, true);
        break;
    case 2:
        say(g, "{ r = %lld; if (", (long long)g->rest), say_tree(g, g->algebra, false);
        say(g, ") { r = "), say_tree(g, g->inner, false), say(g, " }; return r }");
        break;
    case 3:
        say(g, "{ if (!"), say_tree(g, g->algebra, false);
        say(g, ") { return %lld } else { return ", (long long)g->rest);
        say_tree(g, g->inner, false), say(g, " } }");
        break;
    case 4:
        say_cases(g);
        break;
    case 5: /* annihilated */
        say(g, "{ s = "), say_tree(g, g->algebra, false);
        say(g, "; t = select(s, 1, 0); return t * ("), say_tree(g, g->inner, false);
        say(g, ") + (1 - t) * %lld }", (long long)g->rest);
        break;
    default: /* what nobody can tell */
        say(g, "= select("), say_tree(g, g->algebra, false), say(g, ", ");
        say_tree(g, g->inner, false);
        say(g, ", p0 - p0 + p%d - p%d + %lld)", g->params - 1, g->params - 1,
            (long long)g->rest);
    }
}

enum { WAYS = 7 };

static void say_functions(maker *g, int way)
{
    const bool nested = below(g, 4) == 0;
    say(g, "fn %s(", nested ? "h" : "f"), say_names(g), say(g, ") "), say_body(g, way);
    if (nested) {
        say(g, "\nfn f("), say_names(g), say(g, ") = h("), say_names(g), say(g, ")");
    }
    say(g, " over "), say_tree(g, g->algebra, true), say(g, "\n");
}

static const char *const vectors[] = {"svec",  "svec", "hash", "rle",
                                      "dense", "coo",  "lz77", "u"};
static const char *const matrices[] = {"csr",       "csr",  "csc",  "coo",     "dcsr",
                                       "hash",      "rle",  "csr",  "csf",     "dense",
                                       "bcsr(2,2)", "lz77", "dcsc", "csb(2,2)"};
static const char *const types[] = {"i64", "i64", "f64", "i32", "f32", "i16"};

static const char *format_of(maker *g, bool matrix)
{
    return matrix ? matrices[below(g, 14)] : vectors[below(g, 8)];
}

/* Operands, of which one may be there twice; fills are mostly the sets' constants. */
static void say_operand(maker *g, int p, bool matrix)
{
    const int n = matrix ? PLACES : SIDE;
    const int64_t fill = below(g, 5) ? g->constant[p] : below(g, 4) - 1;
    const char *stored = format_of(g, matrix), *type = types[below(g, 6)];
    g->integers[p] = strcmp(type, "i64") == 0;
    say(g, "tensor %c %s %s %s fill %lld = {", 'A' + p, stored, type,
        matrix ? "[4,4]" : "[4]", (long long)fill);
    const char *between = "";
    for (int k = 0; k < n; k++) {
        g->operand[p][k] = fill;
        if (below(g, 2)) continue;
        const int64_t v = below(g, 3) ? below(g, 6) - 2 : below(g, 2) ? fill : 0;
        g->operand[p][k] = v;
        if (matrix)
            say(g, "%s(%d,%d):%lld", between, k / SIDE, k % SIDE, (long long)v);
        else
            say(g, "%s(%d):%lld", between, k, (long long)v);
        between = ", ";
    }
    if (!between[0]) { /* at least one */
        say(g, matrix ? "(0,0):%lld" : "(0):%lld", (long long)fill);
    }
    say(g, "}\n");
}

/* Which tensor each parameter reads, and whether transposed. */
typedef struct reading {
    int tensor[PARAMS];
    bool turned[PARAMS];
} reading;

static void say_call(maker *g, const reading *r, bool matrix)
{
    say(g, "f(");
    for (int k = 0; k < g->params; k++)
        say(g, "%s%c(%s)", k ? ", " : "", 'A' + r->tensor[k],
            !matrix        ? "i"
            : r->turned[k] ? "j,i"
                           : "i,j");
    say(g, ")");
}

static int64_t called(const maker *g, const reading *r, int place, bool matrix)
{
    int64_t x[PARAMS];
    for (int k = 0; k < g->params; k++) {
        const int turned = place % SIDE * SIDE + place / SIDE;
        x[k] = g->operand[r->tensor[k]][matrix && r->turned[k] ? turned : place];
    }
    return function(g, x);
}

/* True: the result is as it comes out. */
static bool say_result(maker *g, bool matrix, bool settled)
{
    const int pick = below(g, 4);
    if (pick == 0) return true;
    say(g, "tensor R %s f64", format_of(g, matrix));
    if (pick == 1)
        say(g, " fill %lld",
            settled && below(g, 2) ? (long long)below(g, 4) - 1 : (long long)g->rest);
    say(g, "\n");
    return false;
}

/* The whole right side is the call, or it is within others; and what that gives. */
static void say_statement(maker *g, const reading *r, bool matrix, bool is_free,
                          double *want)
{
    const int pick = below(g, 10), n = matrix ? PLACES : SIDE;
    const char *left = matrix ? "R(i,j) = " : "R(i) = ";
    static const char *const schedules[] = {"",
                                            "",
                                            "\n  with reorder(j,i)",
                                            "\n  with split(i,i0,i1,2)",
                                            "\n  with split(j,j0,j1,3), reorder(j0,i,j1)",
                                            "\n  with parallelize(i)"};
    say(g, "%s%s", left, pick == 6 ? "3 - 2 * " : pick == 7 ? "max(1, " : "");
    say_call(g, r, matrix);
    if (pick == 7) say(g, ")");
    if (pick == 8) say(g, " * E(i)");
    if (pick == 9) say(g, " + "), say_call(g, r, matrix), say(g, " * E(i)");
    if (matrix && pick < 8) say(g, "%s", schedules[below(g, is_free ? 6 : 5)]);
    for (int k = 0; k < n; k++) {
        const double v = (double)called(g, r, k, matrix);
        const double e = (matrix ? k / SIDE : k) == 1 ? 3 : 0;
        want[k] = pick == 6   ? 3 - 2 * v
                  : pick == 7 ? (v > 1 ? v : 1)
                  : pick == 8 ? v * e
                  : pick == 9 ? v + v * e
                              : v;
    }
}

/* Reduced over j: by sum, max, or the function itself from the first element on. */
static void say_reduction(maker *g, const reading *r, double *want)
{
    static const char *const by[] = {"sum", "max"};
    const int pick = below(g, g->params == 2 && g->integers[r->tensor[0]] ? 3 : 2);
    say(g, "R(i) = %s(j: ", pick == 2 ? "f" : by[pick]);
    if (pick == 2)
        say(g, "%c(i,j)", 'A' + r->tensor[0]);
    else
        say_call(g, r, true);
    say(g, ")");
    for (int i = 0; i < SIDE; i++) {
        int64_t sum = 0;
        for (int j = 0; j < SIDE; j++) {
            const int64_t v = pick == 2 ? g->operand[r->tensor[0]][i * SIDE + j]
                                        : called(g, r, i * SIDE + j, true);
            const int64_t two[PARAMS] = {sum, v};
            sum = j == 0      ? v
                  : pick == 0 ? sum + v
                  : pick == 1 ? (v > sum ? v : sum)
                              : function(g, two);
        }
        want[i] = (double)sum;
    }
}

static void check_random(uint64_t seed, int way)
{
    static const int64_t constants[] = {0, 0, 0, 1, 2, -1};
    maker *g = calloc(1, sizeof *g);
    double want[PLACES];
    reading r;
    ck_assert_ptr_nonnull(g);
    g->state = seed;
    g->params = 2 + below(g, 3);
    for (int k = 0; k < g->params; k++)
        g->constant[k] = constants[below(g, 6)];
    g->algebra = random_algebra(g, 3);
    g->inner = random_number(g, 2);
    g->rest = constants[below(g, 6)];
    say_functions(g, way);
    const bool matrix = below(g, 3), reduced = matrix && below(g, 4) == 0;
    for (int k = 0; k < g->params; k++) {
        const bool again = k && below(g, 5) == 0;
        r.tensor[k] = again ? below(g, k) : k;
        r.turned[k] = below(g, 6) == 0;
        say_operand(g, k, matrix);
    }
    say(g, "tensor E svec i64 [4] = {(1):3}\n");
    if (reduced) {
        say_reduction(g, &r, want);
    } else {
        const bool is_free = say_result(g, matrix, way != 4 && way != WAYS - 1);
        say_statement(g, &r, matrix, is_free, want);
    }
    expect_dense(g->text, "R", want, matrix && !reduced ? PLACES : SIDE);
    free(g);
}

/* OVER_CASES: how many of each way, other than the first ones. */
START_TEST(random_functions)
{
    const char *many = getenv("OVER_CASES");
    const int from = many ? 150 : 0, to = many ? from + atoi(many) : 150;
    for (int k = from; k < to; k++)
        check_random((uint64_t)(k * WAYS + _i) * 1000003u, _i);
}
END_TEST

Suite *suite_over(void)
{
    Suite *s = suite_create("over");
    TCase *t = tcase_create("over");
    tcase_add_test(t, paper);
    tcase_add_test(t, fills);
    tcase_add_test(t, contradictions);
    tcase_add_loop_test(t, random_functions, 0, WAYS);
    suite_add_tcase(s, t);
    return s;
}
