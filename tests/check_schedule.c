/* check_schedule.c: schedules: whatever is legal gives what the plain statement gives,
 * on small operands in many formats and on real data; what isn't says why.
 */
#include "check.h"
#include <stdlib.h>
#include <string.h>

enum { TEXT = 1600 };

static stc_machine *machine;
static stc_session *session;
static heap memory;

static void open_session(void)
{
    machine = machine_open(&memory, false);
    ck_ok(machine, stc_session_open(machine, &session));
}

static void close_session(void)
{
    stc_session_close(session);
    machine_shut(machine, &memory);
}

static void run(const char *text)
{
    const stc_status st = stc_session_exec(session, text, "test");
    ck_assert_msg(st == STC_OK, "%s\n%s", text, stc_error(machine)->message);
}

/* The largest difference of two tensors of the session, over these indices. */
static void expect_same(const char *a, const char *b, const char *index, double most,
                        const char *what)
{
    char text[300];
    snprintf(text, sizeof text, "drop e; e = max(%s: abs(%s(%s) - %s(%s)))", index, a,
             index, b, index);
    run("e = 0");
    run(text);
    const double off = session_number(machine, session, "e");
    ck_assert_msg(off <= most, "%s: off by %g", what, off);
}

/* ---- sparse matrix products -------------------------------------------------------- */

static const char *const orders[] = {"i,j,k", "i,k,j", "j,i,k", "j,k,i", "k,i,j", "k,j,i"};
static const char *const formats[] = {"csr", "csc", "dcsr", "dcsc", "coo"};
enum { ORDERS = 6, FORMATS = 5 };

static void integers(void)
{
    run("tensor P csr i32 [9,7] = random(density=0.3, seed=3)\n"
        "tensor Q csr i32 [7,8] = random(density=0.3, seed=4)\n"
        "tensor D dense i64 [9,8]\n"
        "tensor p dense i32 [9,7]; p(i,k) = P(i,k)\n"
        "tensor q dense i32 [7,8]; q(k,j) = Q(k,j)\n"
        "D(i,j) = p(i,k) * q(k,j)\n");
}

START_TEST(product_in_all_orders)
{
    char text[TEXT];
    open_session();
    integers();
    for (int a = 0; a < FORMATS; a++)
        for (int b = 0; b < FORMATS; b++)
            for (int c = 0; c < FORMATS; c++) {
                snprintf(
                    text, sizeof text,
                    "tensor A %s i32; A(i,k) = P(i,k)\ntensor B %s i32; B(k,j) = Q(k,j)\n"
                    "tensor C %s i64\nC(i,j) = A(i,k) * B(k,j)\n  with reorder(%s)\n",
                    formats[a], formats[b], formats[c], orders[_i]);
                run(text);
                expect_same("C", "D", "i,j", 0, text);
                run("drop A; drop B; drop C");
            }
    close_session();
}
END_TEST

static const char *const legal[] = {
    "split(i,i0,i1,2)",
    "split(i,i0,i1,2), reorder(i0,k,i1,j)",
    "split(i,i0,i1,4), reorder(i1,i0,k,j)",
    "split(k,k0,k1,3), reorder(k0,i,k1,j)",
    "split(i,i0,i1,2), split(j,j0,j1,3), split(k,k0,k1,4), reorder(i0,j0,k0,i1,k1,j1)",
    "split(i,i0,i1,6), split(i1,i2,i3,2), reorder(i2,i0,k,i3,j)",
    "fuse(i,k,f)",
    "reorder(i,k,j), fuse(i,k,f), reorder(f,j)",
    "fuse(i,j,f), split(f,f0,f1,5)",
    "fuse(i,k,f), fuse(f,j,g), split(g,g0,g1,7)",
    "split(i,i0,i1,2), split(j,j0,j1,2), reorder(i0,j0,i1,k,j1), fuse(i0,j0,f)",
    "pos(k,p,A)",
    "pos(k,p,A(i,k)), split(p,p0,p1,2), reorder(i,p0,p1,j)",
    "reorder(i,k,j), fuse(i,k,f), pos(f,p,A(i,k))",
    "reorder(i,k,j), fuse(i,k,f), pos(f,p,A(i,k)), split(p,p0,p1,4), reorder(p1,p0,j)",
    "reorder(k,j,i), fuse(k,j,f), pos(f,p,B(k,j)), split(p,p0,p1,3)",
    "precompute(A(i,k) * B(k,j), W, {i,j})",
    "precompute(A(i,k)*B(k,j), W, {j}, {jo}, hash, 1)",
    "precompute(A(i,k) * B(k,j), W, {i,j}, {io,jo}, coord, 7), reorder(k,i,j)",
    "precompute(A(i,k), W, {k}), split(k,k0,k1,2)",
    "precompute(B(k,j), W, {j,k}, bucket, 2)",
    "precompute(A(i,k), V, {i,k}), precompute(B(k,j), W, {k,j})",
    "workspace(dense), reorder(k,i,j)",
    "workspace(coord, 1), reorder(k,i,j)",
    "workspace(bucket, 2), reorder(k,j,i)",
    "workspace(hash, 7), reorder(j,k,i)",
};

START_TEST(legal_schedules)
{
    char text[TEXT];
    open_session();
    integers();
    run("tensor A csr i32; A(i,k) = P(i,k)\ntensor B csr i32; B(k,j) = Q(k,j)\n");
    for (int c = 0; c < FORMATS; c++) {
        snprintf(text, sizeof text,
                 "tensor C %s i64\nC(i,j) = A(i,k) * B(k,j)\n  with %s\n", formats[c],
                 legal[_i]);
        run(text);
        expect_same("C", "D", "i,j", 0, text);
        run("drop C");
        snprintf(text, sizeof text,
                 "tensor C %s i64 [9,8] fill 3\nC(i,j) = A(i,k) * B(k,j)\n  with %s\n",
                 formats[c], legal[_i]);
        run(text);
        expect_same("C", "D", "i,j", 0, text);
        run("drop C");
    }
    close_session();
}
END_TEST

/* Loops that threads share: asked for, they are, however small. */
static const char *const shared[] = {
    "parallelize(i)",
    "workspace(coord, 2), parallelize(i)",
    "reorder(i,k,j), fuse(i,k,f), parallelize(f)",
    "split(i,i0,i1,2), reorder(i0,i1,k,j), parallelize(i0)",
    "reorder(k,i,j), parallelize(k)",
    "fuse(i,k,f), split(f,f0,f1,2), parallelize(f0)",
    "split(i,i0,i1,4), split(k,k0,k1,2), parallelize(i0), workspace(hash, 2)",
};

START_TEST(shared_loops)
{
    static const char *const rows[] = {"csr", "dcsr", "coo", "dense"};
    char text[TEXT];
    open_session();
    machine_share(machine, 3);
    integers();
    run("tensor A csr i32; A(i,k) = P(i,k)\ntensor B csr i32; B(k,j) = Q(k,j)\n");
    for (int c = 0; c < 4; c++) {
        snprintf(text, sizeof text,
                 "tensor C %s i64\nC(i,j) = A(i,k) * B(k,j)\n  with %s\n", rows[c],
                 shared[_i]);
        run(text);
        expect_same("C", "D", "i,j", 0, text);
        run("drop C");
    }
    close_session();
}
END_TEST

/* ---- the workspaces paper ----------------------------------------------------------- */

/* Figures 11 to 13: a product and its transposition in one, over blocks of four of the
 * first operand's positions, and the workspace that is needed put in by hand. */
#define FIGURE_11                                                                          \
    "reorder(i,k,j), fuse(i,k,f), pos(f,fpos,B(i,k)), split(fpos,f0,f1,4), "               \
    "reorder(f0,f1,j)"
static const char *const figures[] = {
    FIGURE_11,
    FIGURE_11 ", precompute(B(i,k) * C(k,j), W, {i,j}, {i,j}, coord, 16)",
    FIGURE_11 ", workspace(coord, 16)",
};

START_TEST(figures_11_to_13)
{
    char text[TEXT];
    open_session();
    integers();
    run("tensor B csr i32; B(i,k) = P(i,k)\ntensor C csr i32; C(k,j) = Q(k,j)\n");
    snprintf(text, sizeof text,
             "tensor A ss i64\nA(j,i) = B(i,k) * C(k,j)\n  with %s\n"
             "tensor T csr i64; T(i,j) = A(j,i)",
             figures[_i]);
    run(text);
    expect_same("T", "D", "i,j", 0, text);
    close_session();
}
END_TEST

typedef struct contraction {
    const char *left, *right, *index, *order;
    const char *factors; /* their declarations */
} contraction;

static const contraction contractions[] = {
    {"Y(i,j)", "B(k,l,i) * C(k,j) * D(l,j)", "i,j", "k,l,i,j",
     "tensor C %s i32 [6,4] = random(density=0.4, seed=6)\n"
     "tensor D %s i32 [5,4] = random(density=0.4, seed=7)\n"},
    {"Y(i,j,l)", "B(k,i,j) * C(k,l)", "i,j,l", "k,i,j,l",
     "tensor C %s i32 [6,4] = random(density=0.4, seed=6)\n"},
    {"Y(k,j,l)", "B(k,i,j) * C(i,l)", "k,j,l", "k,i,j,l",
     "tensor C %s i32 [5,4] = random(density=0.4, seed=6)\n"},
};
enum { CONTRACTIONS = 3 };

/* MTTKRP, TTM, TTM-I: sparse factors and outputs, in the orders of §7.4. */
START_TEST(contractions_of_tensors)
{
    static const char *const factor[] = {"csr", "csc", "dcsr", "coo"};
    static const char *const output[2][4] = {{"csr", "dcsc", "coo", "dense"},
                                             {"csf", "coo", "sss:2,0,1", "dense"}};
    static const char *const how[] = {"", ", workspace(coord, 2)", ", workspace(bucket)",
                                      ", workspace(hash, 7)"};
    const contraction *x = &contractions[_i];
    char text[TEXT], declared[400];
    open_session();
    run("tensor B csf i32 [6,5,7] = random(density=0.2, seed=5)\n");
    for (int f = 0; f < 4; f++)
        for (int o = 0; o < 4; o++) {
            snprintf(declared, sizeof declared, x->factors, factor[f], factor[f]);
            run(declared);
            snprintf(text, sizeof text, "tensor Z dense i64; Z(%s) = %s\n", x->index,
                     x->right);
            run(text);
            snprintf(text, sizeof text, "tensor Y %s i64\n%s = %s\n  with reorder(%s)%s\n",
                     output[strlen(x->index) > 3][o], x->left, x->right, x->order, how[f]);
            run(text);
            expect_same("Y", "Z", x->index, 0, text);
            run("drop Y; drop Z; drop C");
            if (_i == 0) run("drop D");
        }
    close_session();
}
END_TEST

/* ---- other statements --------------------------------------------------------------- */

/* Its entries may have the same coordinates. */
#define TWICE                                                                              \
    "tensor A (i,j) -> (i : compressed(nonunique), j : singleton(nonunique)) f64 [6,7] = " \
    "random(density=0.5, seed=1)\n"

static const struct {
    const char *operands, *statement;
    const char *with[6];
} statements[] = {
    {"tensor A coo f64 [6,7] = random(density=0.5, seed=1)\n",
     "y(i) = A(i,j) * A(i,j)",
     {"fuse(i,j,f), pos(f,p,A), split(p,p0,p1,1)",
      "fuse(i,j,f), pos(f,p,A), split(p,p0,p1,4)", "pos(i,p,A)"}},
    {"tensor A rle f64 [6,70]\nA(i,j) = (i + j // 9) % 4\ntensor D csr f64 [6,70] = "
     "random(density=0.2, seed=1)\ntensor B lz77 f64 [6,70]\nB(i,j) = j % 3\n"
     "tensor y rle f64\n",
     "y(i,j) = D(i,j) + A(i,j) * (A(i,j) * B(i,j) + 1)",
     {"precompute(A(i,j) * B(i,j) + 1, W, {j})",
      "precompute(A(i,j) * B(i,j) + 1, W, {i,j})",
      "precompute(A(i,j) * B(i,j) + 1, W, {j}), parallelize(i)",
      "precompute(A(i,j) * B(i,j), V, {j}), precompute(A(i,j), W, {i,j})",
      "precompute(A(i,j) * B(i,j) + 1, W, {j}, {jo})",
      "precompute(A(i,j) * B(i,j) + 1, W, {j}, hash)"}},
    /* positions of levels that are unordered, or hold less than they have places for */
    {"tensor A hash f64 [6,7] = random(density=0.5, seed=1)\n"
     "tensor x dense f64 [7] = random(density=1, seed=2)\n",
     "y(i) = A(i,j) * x(j)",
     {"fuse(i,j,f), pos(f,p,A), split(p,p0,p1,3)", "pos(j,p,A), split(p,p0,p1,2)",
      "pos(j,p,A), split(p,p0,p1,2), reorder(i,p0,p1)"}},
    {"tensor A bytemap f64 [6,7] = random(density=0.5, seed=1)\n"
     "tensor x dense f64 [7] = random(density=1, seed=2)\n",
     "y(i) = A(i,j) * x(j)",
     {"fuse(i,j,f), pos(f,p,A), split(p,p0,p1,3)", "pos(j,p,A), split(p,p0,p1,2)"}},
    {"tensor A hash f64 [6,7] = random(density=0.5, seed=1)\ntensor y csr\n",
     "y(i,j) = A(i,j) + 1 where A(i,j) > 0",
     {"fuse(i,j,f), pos(f,p,A), split(p,p0,p1,3)"}},
    {"tensor A hash f64 [6,7] = random(density=0.5, seed=1)\ntensor y csr\n",
     "y(i,j) = 2 * A(i,j)",
     {"fuse(i,j,f), pos(f,p,A), split(p,p0,p1,3)", "pos(j,p,A), split(p,p0,p1,2)",
      "fuse(i,j,f), pos(f,p,A), split(p,p0,p1,3), reorder(p1,p0)"}},
    {"format maps = (i,j) -> (i : bytemap, j : bytemap)\n"
     "tensor A maps f64 [6,7] fill 9 = random(density=0.4, seed=1)\ntensor y csr fill "
     "10\n",
     "y(i,j) = A(i,j) + 1",
     {"fuse(i,j,f), pos(f,p,A), split(p,p0,p1,3)", "pos(j,p,A), split(p,p0,p1,2)",
      "pos(i,p,A), split(p,p0,p1,2)"}},
    {"tensor A (i,j) -> (i/2 : compressed(nonunique), j : dense, i%2 : compressed) f64 "
     "[6,7] = random(density=0.5, seed=1)\n"
     "tensor x dense f64 [7] = random(density=1, seed=2)\n",
     "y(i) = A(i,j) * x(j)",
     {"fuse(i,j,f), pos(f,p,A), split(p,p0,p1,3)", "fuse(i,j,f), pos(f,p,A)"}},
    {TWICE "tensor x dense f64 [7] = random(density=1, seed=2)\n",
     "y(i) = -A(i,j) * x(j) * 3",
     {"fuse(i,j,f), pos(f,p,A), split(p,p0,p1,2)",
      "fuse(i,j,f), pos(f,p,A), split(p,p0,p1,3), workspace(hash, 2)"}},
    {"format triples = (i,j,k) -> (i : compressed(nonunique), j : singleton(nonunique), k "
     ": "
     "singleton)\ntensor A triples f64 [5,6,7] = random(density=0.3, seed=1)\n"
     "tensor x dense f64 [7] = random(density=1, seed=2)\ntensor y csr\n",
     "y(i,j) = A(i,j,k) * x(k)",
     {"fuse(i,j,f), fuse(f,k,g), pos(g,p,A), split(p,p0,p1,8)"}},
    {"tensor A csr f64 [6,7] = random(density=0.5, seed=1)\n"
     "tensor x dense f64 [7] = random(density=1, seed=2)\n",
     "y(i) = A(i,j) * x(j)",
     {"split(j,j0,j1,2), reorder(j0,i,j1)", "fuse(i,j,f), pos(f,p,A), split(p,p0,p1,3)",
      "precompute(x(j), W, {j})", "precompute(A(i,j) * x(j), W, {i})", "reorder(j,i)"}},
    {"tensor A csr f64 [6,7] = random(density=0.5, seed=1)\n"
     "tensor x dense f64 [7] = random(density=1, seed=2)\n",
     "y(i) = exp(sum(j: A(i,j) * x(j))) + A(i,2)",
     {"split(j,j0,j1,2)", "split(i,i0,i1,4)", "precompute(A(i,j) * x(j), W, {i})",
      "pos(j,p,A(i,j)), split(p,p0,p1,2)"}},
    {"tensor A csr f64 [6,6] = random(density=0.5, seed=1)\n"
     "tensor B csc f64 [6,6] = random(density=0.5, seed=2)\n",
     "y(i) = max(j: A(i,j) + B(i,j))",
     {"split(j,j0,j1,4)", "fuse(i,j,f), split(f,f0,f1,4)", "reorder(j,i)"}},
    {"tensor A csr f64 [6,6] = random(density=0.5, seed=1)\n"
     "tensor F dense f64 [3] = [1,2,3]\n",
     "y(i) = A(2,i+j) * F(j)",
     {"split(j,j0,j1,2)", "split(i,i0,i1,3), reorder(i0,j,i1)",
      "fuse(i,j,f), split(f,a,b,2)"}},
    {"tensor A csr f64 [6,6] = random(density=0.5, seed=1)\n"
     "tensor B csr f64 [6,6] = random(density=0.5, seed=2)\n",
     "y(i) = A(i,k) * B(k,j) * A(j,i)",
     {"precompute(A(i,k) * B(k,j), W, {j})", "precompute(A(i,k) * B(k,j), W, {i,j})",
      "precompute(A(i,k) * B(k,j) * A(j,i), W, {i}, hash, 2)"}},
    {"tensor A csr f64 [6,7] = random(density=0.5, seed=1)\n"
     "tensor b svec f64 [7] = random(density=0.5, seed=2)\n"
     "tensor y dense f64 [7] fill 1\n",
     "y(j) = A(i,j) * b(j)",
     {"pos(j,p,b), split(p,p0,p1,4)", "pos(j,p,b)"}},
    {"tensor A csr f64 [6,7] = random(density=0.5, seed=1)\n"
     "tensor B csr f64 [7,6] = random(density=0.5, seed=2)\n"
     "tensor D csr f64 [6,6] = random(density=0.3, seed=3)\ntensor y csr\n",
     "y(i,j) = D(j,i) + sqrt(sum(k: A(i,k) * B(k,j)))",
     {"reorder(k,i,j)", "reorder(i,k,j), workspace(hash, 2, single)",
      "workspace(coord, 3), reorder(j,k,i)",
      "precompute(sum(k: A(i,k) * B(k,j)), W, {i,j}, coord, 3, single), reorder(k,i,j)",
      "precompute(sum(k: A(i,k) * B(k,j)), W, {j})",
      "precompute(sqrt(sum(k: A(i,k) * B(k,j))), W, {i,j})"}},
    {"tensor A csr f64 [6,7] = random(density=0.5, seed=1)\n",
     "y(i) = 2 ** max(j: A(i,j) - 1) - prod(l: A(i,l) + 1)",
     {"reorder(j,i)", "reorder(j,l,i)", "reorder(l,i,j)",
      "precompute(max(j: A(i,j) - 1), W, {i}), reorder(j,i,l)"}},
    {"tensor A csr f64 [6,6] fill inf = random(density=0.5, seed=1)\n"
     "tensor B csr f64 [6,6] fill inf = random(density=0.5, seed=2)\n",
     "y(i) = min(j,k: A(i,j) + (B(j,k) + A(k,i)))",
     {"precompute(B(j,k) + A(k,i), W, {j})",
      "precompute(B(j,k) + A(k,i), W, {j}, hash, 4)"}},
    {"tensor A csr bool [6,6] = random(density=0.5, seed=1)\n"
     "tensor B csr bool [6,6] = random(density=0.5, seed=2)\n",
     "y(i) = any(j,k: A(i,j) && B(j,k))",
     {"precompute(B(j,k), W, {j})"}},
    {"tensor A csr f64 [6,6] = random(density=0.5, seed=1)\n",
     "y(i) = min(p in 1:4: A(i,p))",
     {"split(p,p0,p1,2)", "reorder(p,i)"}},
    /* which elements are named is found by loops in the order of those for the values, that
     * has no positions */
    {"tensor d dense f64 [6] = random(density=1, seed=1)\n"
     "tensor G csr bool [6,7] = random(density=0.5, seed=2)\ntensor y csr f64 [6,7]\n",
     "y(i,j) = d(i) where G(i,j)",
     {"pos(i,p,d(i)), split(p,p0,p1,4)",
      "pos(i,p,d(i)), split(p,p0,p1,4), reorder(p0,j,p1)", "pos(i,p,d(i)), reorder(j,p)",
      "reorder(j,i)"}},
};
enum { STATEMENTS = sizeof statements / sizeof *statements };

START_TEST(other_statements)
{
    char text[TEXT];
    open_session();
    run(statements[_i].operands);
    run(statements[_i].statement);
    const char *const index = strncmp(statements[_i].statement, "y(i,j)", 6) ? "i" : "i,j";
    snprintf(text, sizeof text, "tensor z dense f64; z(%s) = y(%s)", index, index);
    run(text);
    for (int k = 0; k < 6 && statements[_i].with[k]; k++) {
        snprintf(text, sizeof text, "%s\n  with %s\n", statements[_i].statement,
                 statements[_i].with[k]);
        run(text);
        expect_same("y", "z", index, 1e-12, text);
    }
    close_session();
}
END_TEST

/* ---- positions of levels that aren't modes ------------------------------------------ */

static const char *const mapped[] = {
    "bcsr(2,3)",
    "csb(3,2)",
    "ell",
    "dia",
    "(i,j) -> (flat(i,j) : compressed)",
    "(i,j) -> (flat(i,j) : hashed)",
    "(i,j) -> (j : dense, j-i : compressed)",
    "(i,j) -> (j-i : dense, j : range, i : offset)",
    "(i,j) -> (i/3 : dense, j/2 : compressed, i%3 : dense, j%2 : bytemap)",
    ("(i,j) -> (i/6 : dense, j/2 : hashed, i/2%3 : compressed, i%2 : dense, j%2 : "
     "compressed)"),
    "(i,j) -> (i/2 : compressed(nonunique), j/2 : singleton, i%2 : dense, j%2 : dense)",
};
static const struct {
    const char *fill, *result, *left, *right;
} by_position[] = {
    {"0", "dense", "y(i)", "A(i,j) * x(j)"},
    {"0", "coo", "y(i)", "A(i,j) * x(j)"},
    {"0", "csr", "y(i,j)", "2 * A(i,j) * x(i)"},
    {"0", "dense", "y(i,j)", "A(i,j) * B(i,k) * B(k,j)"},
    {"0", "bcsr(3,2)", "y(i,j)", "A(i,j) * B(i,j)"},
    {"3", "csc fill 4", "y(i,j)", "A(i,j) + 1"},
    {"inf", "dense", "y(j)", "min(i: A(i,j) + x(i))"},
};
enum { MAPPED = sizeof mapped / sizeof *mapped, BY_POSITION = 7 };

START_TEST(positions_of_own_levels)
{
    static const char *const with[] = {"", ", split(p,p0,p1,4)", ", split(p,p0,p1,1000)",
                                       ", split(p,p0,p1,4), split(p1,a,b,3)"};
    char text[TEXT];
    open_session();
    run("tensor B csr f64 [7,7] = random(density=0.5, seed=2)\n"
        "tensor x dense f64 [7] = random(density=1, seed=3)");
    for (int s = 0; s < BY_POSITION; s++) {
        snprintf(text, sizeof text,
                 "tensor A %s f64 [7,7] fill %s = random(density=0.4, seed=%d)\n"
                 "tensor D dense f64 [7,7]; D(i,j) = A(i,j)\ntensor Z dense f64; Z%s = %s",
                 mapped[_i], by_position[s].fill, s, by_position[s].left + 1,
                 by_position[s].right);
        *strrchr(text, 'A') = 'D';
        run(text);
        for (int k = 0; k < 4; k++) {
            snprintf(text, sizeof text,
                     "tensor y %s\n%s = %s\n  with fuse(i,j,f), pos(f,p,A(i,j))%s",
                     by_position[s].result, by_position[s].left, by_position[s].right,
                     with[k]);
            run(text);
            expect_same("y", "Z", strchr(by_position[s].left, ',') ? "i,j" : "j", 1e-12,
                        text);
            run("drop y");
        }
        run("drop A; drop D; drop Z");
    }
    close_session();
}
END_TEST

/* ---- what can't be done ------------------------------------------------------------- */

static const struct {
    const char *with, *words;
} illegal[] = {
    {"reorder(q)", "no index q"},
    {"reorder(i,i)", "i stands twice"},
    {"reorder(i,0)", "expected reorder(i,…)"},
    {"tile(i,2)", "no such schedule command: tile"},
    {"split(i,i0,i1)", "size of blocks"},
    {"split(i,i0,i1,0)", "size of blocks"},
    {"split(i,i0,i0,2)", "i0 stands twice"},
    {"split(i,j,i1,2)", "j is an index already"},
    {"split(i,i0,i1,2), reorder(i,j)", "i is no loop any more after its split"},
    {"fuse(i,i,f)", "i stands twice"},
    {"reorder(i,k,j), fuse(i,j,f)", "the loop over j isn't right inside that over i"},
    {"fuse(i,k,f), fuse(i,j,g)", "i is no loop any more after its fuse"},
    {"pos(i,p,B)", "no levels of B are walked by i"},
    {"pos(k,p,Q)", "doesn't read that"},
    {"fuse(k,i,f), pos(f,p,A(i,k))", "no levels of A are walked by f, in that order"},
    {"pos(k,p,A), split(p,p0,p1,2), split(p0,a,b,2)", "split p1 instead"},
    {"pos(k,p,A), split(p,p0,p1,2), reorder(p0,i,p1,j)", "can't be followed"},
    {"split(k,k0,k1,2), pos(k1,p,A)", "k1 is no subscript of A"},
    {"pos(k,p,A), fuse(p,j,f)", "fuse before pos"},
    {"precompute(A(k,i), W, {i})", "isn't a part of the right side"},
    {"precompute(A(i,k), W, {j})", "has no index j"},
    {"precompute(A(i,k), W, {i})", "other factors have that index"},
    {"precompute(A(i,k), A, {i,k})", "A is a tensor already"},
    {"precompute(A(i,k), W, {i,k}, {io})", "expected 2 new names"},
    {"precompute(A(i,k), W, {i,k}, {j,ko})", "j is an index already"},
    {"precompute(A(i,k), W, {i,k}, tree)", "expected dense, coord, bucket or hash"},
    {"precompute(A(i,k), W, {k}), reorder(k,i)", "can't be followed"},
    {"workspace(tree)", "expected dense, coord, bucket or hash"},
    {"workspace(hash, 0)", "capacity of at least 1"},
    {"parallelize(q)", "no index q"},
    {"parallelize(i), parallelize(j)", "threads share i already"},
    {"parallelize(i), split(i,i0,i1,2)", "i is no loop any more after its split"},
    {"reorder(k,i,j), parallelize(i)", "has i outside all others, for threads to share it"},
    {"split(i,i0,i1,2), parallelize(i1)", "has i1 outside all others"},
};
enum { ILLEGAL = sizeof illegal / sizeof *illegal };

START_TEST(illegal_schedules)
{
    char text[TEXT];
    snprintf(
        text, sizeof text,
        "tensor A csr f64 [3,3] = { (0,1): 1 }\ntensor B csr f64 [3,3] = { (1,2): 1 }\n"
        "C(i,j) = A(i,k) * B(k,j)\n  with %s\n",
        illegal[_i].with);
    expect_error(text, STC_ERR_PROGRAM, illegal[_i].words);
}
END_TEST

START_TEST(illegal_for_others)
{
    expect_error("tensor A csr f64 [3,3] = { (0,1): 1 }\ny(i) = exp(last(j: A(i,j)))\n"
                 "  with reorder(j,i)",
                 STC_ERR_PROGRAM, "loop over i would have to be inside that over j");
    expect_error("tensor A csr f64 [3,3] = { (0,1): 1 }\n"
                 "y(i) = max(j in 1:3: sqrt(sum(k: A(i,k) * A(k,j))))\n"
                 "  with reorder(i,k,j)",
                 STC_ERR_PROGRAM, "loop over j would have to be inside that over k");
    expect_error("tensor A csr f64 [3,3] = { (0,1): 1 }\ntensor x dense f64 [3] = 1\n"
                 "y(i,j) = A(i,j) + x(i)\n  with pos(j,p,A)",
                 STC_ERR_PROGRAM, "there are results where A stores nothing");
    expect_error("tensor A coo f64 [3,3] = { (0,1): 1 }\ny(i) = A(i,j)\n"
                 "  with pos(i,p,A), split(p,p0,p1,2)",
                 STC_ERR_PROGRAM, "coordinates repeat");
    for (int k = 0; k < 2; k++) {
        char text[TEXT];
        snprintf(text, sizeof text,
                 "tensor A %s f64 [3,9] = 1\ny(i) = A(i,j)\n"
                 "  with pos(j,p,A), split(p,p0,p1,2)",
                 k ? "lz77" : "rle");
        expect_error(text, STC_ERR_PROGRAM,
                     "a position is that of a run, which is at many coordinates");
    }
    expect_error("tensor A bcsr(2,2) f64 [3,3] = { (0,1): 1 }\ny(i) = A(i,j)\n"
                 "  with pos(j,p,A), split(p,p0,p1,2)",
                 STC_ERR_PROGRAM, "fuse all indices of A first");
    expect_error("tensor A (i,j) -> (flat(i,j) : compressed) f64 [3,3] = { (0,1): 1 }\n"
                 "y(i) = A(i,j(0:2))\n  with fuse(i,j,f), pos(f,p,A)",
                 STC_ERR_PROGRAM, "the loops have others");
    expect_error(TWICE "y(i) = max(j: A(i,j))\n"
                       "  with fuse(i,j,f), pos(f,p,A), split(p,p0,p1,2)",
                 STC_ERR_PROGRAM, "coordinates repeat");
    expect_error(TWICE "y(i,j) = A(i,j)\n"
                       "  with fuse(i,j,f), pos(f,p,A), split(p,p0,p1,2)",
                 STC_ERR_PROGRAM, "coordinates repeat");
    expect_error("tensor A csr f64 [3,3] = { (0,1): 1 }\ny(i,j) = 1 - A(j,i)\n"
                 "  with precompute(A(j,i), W, {j}), split(j,j0,j1,3), fuse(j1,i,f), "
                 "split(f,f0,f1,1)",
                 STC_ERR_PROGRAM, "loop over j1 would have to be around what is computed");
    expect_error(
        "fn f(a, b) = a - b with identity(0)\ntensor A csr f64 [3,3] = { (0,1): 1 }\n"
        "y = f(i,j: A(i,j)) with parallelize(i)",
        STC_ERR_PROGRAM, "threads can't share the rounds of this loop");
    expect_error("tensor a svec i64 [3] = { (1): 2 }\ntensor b svec i64 [3] = { (1): 1 }\n"
                 "y(i) = a(i) * (a(i) // b(i))\n  with precompute(a(i) // b(i), W, {i})",
                 STC_ERR_PROGRAM, "may fail where it isn't needed");
}
END_TEST

/* ---- real data ---------------------------------------------------------------------- */

static const struct {
    const char *file;
    bool small; /* inner products over all pairs are bearable */
} matrices[] = {{"karate", true}, {"jazz", true}, {"bcspwr10", false}, {"cora", false}};
enum { MATRICES = sizeof matrices / sizeof *matrices };

START_TEST(real_products)
{
    char text[TEXT];
    snprintf(text, sizeof text, "matrices/%s.mtx", matrices[_i].file);
    if (!data_has(text)) return;
    open_session();
    snprintf(text, sizeof text, "tensor A csr f64 = \"%s/matrices/%s.mtx\"\n", data_dir(),
             matrices[_i].file);
    run(text);
    run("tensor D csr f64; D(i,j) = A(i,k) * A(k,j)");
    for (int o = 0; o < ORDERS; o++) {
        bool inner = orders[o][4] == 'k';
        if (inner && !matrices[_i].small) continue;
        for (int f = 0; f < FORMATS * FORMATS * FORMATS; f++) {
            const int a = f / FORMATS % FORMATS, b = f / FORMATS / FORMATS;
            if (_i > 0 && (a + o) % FORMATS != f % FORMATS) continue; /* some of them */
            if (_i > 0 && (b + 2 * o + a) % FORMATS) continue;
            snprintf(text, sizeof text,
                     "tensor L %s f64; L(i,k) = A(i,k)\ntensor R %s f64; R(k,j) = A(k,j)\n"
                     "tensor C %s f64\nC(i,j) = L(i,k) * R(k,j)\n  with reorder(%s)\n",
                     formats[a], formats[b], formats[f % FORMATS], orders[o]);
            run(text);
            expect_same("C", "D", "i,j", 1e-9, text);
            run("drop C; drop L; drop R");
        }
    }
    run("tensor B csr f64; B(i,k) = A(i,k); tensor C csr f64; C(k,j) = A(k,j)");
    for (int k = 0; k < 3; k++) {
        snprintf(text, sizeof text,
                 "tensor T ss f64\nT(j,i) = B(i,k) * C(k,j)\n  with %s\n"
                 "tensor E csr f64; E(i,j) = T(j,i)",
                 figures[k]);
        run(text);
        expect_same("E", "D", "i,j", 1e-9, text);
        run("drop T; drop E");
    }
    close_session();
}
END_TEST

/* MTTKRP, TTM, TTM-I of B by factors and into outputs of one format each. */
static void real_forms(int form, const char *file)
{
    static const char *const outputs[2][FORMATS] = {
        {"csr", "csc", "dcsr", "dcsc", "coo"}, {"csf", "coo", "sss:2,0,1", "dds", "ssd"}};
    const contraction all[] = {
        {"(i,j)", "B(k,l,i) * F(k,j) * G(l,j)", "i,j", "k,l,i,j", NULL},
        {"(i,j,l)", "B(k,i,j) * F(k,l)", "i,j,l", "k,i,j,l", NULL},
        {"(k,j,l)", "B(k,i,j) * G(i,l)", "k,j,l", "k,i,j,l", NULL},
    };
    char line[TEXT];
    snprintf(line, sizeof line,
             "tensor F %s f64; F(k,j) = C(k,j)\ntensor G %s f64; G(l,j) = D(l,j)",
             formats[form], formats[(form + 2) % FORMATS]);
    run(line);
    for (int k = 0; k < 3; k++) {
        const contraction *x = &all[k];
        snprintf(line, sizeof line,
                 "tensor M dense f64; M%s = %s\ntensor Y %s f64\nY%s = %s\n"
                 "  with reorder(%s)%s",
                 x->left, x->right, outputs[k > 0][form], x->left, x->right, x->order,
                 form & 1 ? ", workspace(hash, 64)" : "");
        run(line);
        expect_same("Y", "M", x->index, 1e-6, file);
        run("drop Y; drop M");
    }
    run("drop F; drop G");
}

START_TEST(real_contractions)
{
    static const char *const file[] = {"kg_nations", "kg_kinship"};
    static const char *const text[] = {
        "C(k,q) = B(k,l,i) * x(i,q) / 3", /* factors with the tensor's extents */
        "D(l,q) = B(k,l,i) * x(i,q) / 5",
        "E(i,q) = B(k,l,i) / 7 * z(q)",
    };
    char line[TEXT];
    for (int f = 0; f < 2; f++) {
        snprintf(line, sizeof line, "tensors/%s.tns", file[f]);
        if (!data_has(line)) continue;
        open_session();
        snprintf(line, sizeof line, "tensor B csf f64 = \"%s/tensors/%s.tns\"\n",
                 data_dir(), file[f]);
        run(line);
        run("tensor z dense f64 [6] = [1,0,2,0,0,3]\ntensor C csr f64; tensor D csr f64\n"
            "tensor one dense f64; one(i) = sum(k,l: 0 * B(k,l,i)) + 1\n"
            "tensor x csr f64; x(i,q) = z(q) * one(i)\ntensor E csr f64");
        for (int k = 0; k < 3; k++)
            run(text[k]);
        for (int k = 0; k < FORMATS; k++)
            real_forms(k, file[f]);
        close_session();
    }
}
END_TEST

/* Subscripts that no loop changes are compared in front of loops, but not around those that
 * threads share. */
START_TEST(shared_behind_subscripts)
{
    EXPECT("tensor A dense bool [2,3] = { (1,2): true }\ntensor B dense bool [1] = true\n"
           "tensor y dense f64 [3]\n"
           "y(k) = A(3 & 1, k) where B(4 & 3)\n  with parallelize(k)",
           "y", 0, 0, 1);
    EXPECT("tensor A dense bool [2,3] = { (1,2): true }\ntensor B dense bool [1] = true\n"
           "tensor y dense f64 [3]\n"
           "y(k) = 2 * (A(3 & 1, k) where B(4 & 3))\n  with parallelize(k)",
           "y", 0, 0, 2);
}
END_TEST

Suite *suite_schedule(void)
{
    Suite *s = suite_create("schedule");
    TCase *c = tcase_create("schedule");
    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, product_in_all_orders, 0, ORDERS);
    tcase_add_loop_test(c, legal_schedules, 0, sizeof legal / sizeof *legal);
    tcase_add_loop_test(c, shared_loops, 0, sizeof shared / sizeof *shared);
    tcase_add_loop_test(c, figures_11_to_13, 0, 3);
    tcase_add_loop_test(c, contractions_of_tensors, 0, CONTRACTIONS);
    tcase_add_loop_test(c, other_statements, 0, STATEMENTS);
    tcase_add_loop_test(c, positions_of_own_levels, 0, MAPPED);
    tcase_add_loop_test(c, illegal_schedules, 0, ILLEGAL);
    tcase_add_test(c, shared_behind_subscripts);
    tcase_add_test(c, illegal_for_others);
    tcase_add_loop_test(c, real_products, 0, MATRICES);
    tcase_add_test(c, real_contractions);
    suite_add_tcase(s, c);
    return s;
}
