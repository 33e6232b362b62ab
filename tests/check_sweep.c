/* check_sweep.c: every function in every type, elementwise, as a reduction, as an
 * accumulation and in a workspace; every row of scatter.def; statements of each kind in
 * formats of each kind. What the faster tiers make of it, and threads, is what base
 * operations make, error for error. */
#include "../vm/fn/functions.h"
#include "check.h"
#include <complex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One session on the faster tiers, one on base operations; and one on two threads, as on a
 * processor without wide vectors. */
typedef struct pair {
    heap h[3];
    stc_machine *m[3];
    stc_session *s[3];
    int n, agreed;
} pair;

static void pair_open(pair *p, bool threads)
{
    p->agreed = 0;
    p->n = threads ? 3 : 2;
    for (int k = 0; k < p->n; k++) {
        p->m[k] = machine_open(&p->h[k], k == 1);
        if (k == 2) machine_share(p->m[k], 2);
        if (k == 2) machine_plain(p->m[k]);
        ck_ok(p->m[k], stc_session_open(p->m[k], &p->s[k]));
    }
}

static void pair_shut(pair *p)
{
    for (int k = 0; k < p->n; k++) {
        stc_session_close(p->s[k]);
        machine_shut(p->m[k], &p->h[k]);
    }
}

static void setup(pair *p, const char *text)
{
    for (int k = 0; k < p->n; k++) {
        const stc_status st = stc_session_exec(p->s[k], text, "setup");
        ck_assert_msg(st == STC_OK, "%s: %s", text, stc_error(p->m[k])->message);
    }
}

static void *elements(stc_machine *m, const stc_tensor *t, int64_t n)
{
    void *out = malloc((size_t)(n + 1) * stc_type_size(stc_tensor_type(t)));
    ck_ok(m, stc_tensor_to_dense(t, out));
    return out;
}

/* Products of floats may be rounded in another order. */
static bool rounded(stc_type t, value x, value y)
{
    const value a = class_convert(CLASS_C128, type_class(t), x);
    const value b = class_convert(CLASS_C128, type_class(t), y);
    const double eps = t == STC_F32 || t == STC_C64 ? 1e-4 : 1e-13;
    return t >= STC_F32 && cabs(a.c128 - b.c128) <= eps * cabs(a.c128);
}

/* Session k makes of R what base operations make. */
static void same(pair *p, int k, const char *text)
{
    const stc_tensor *t[2];
    void *vals[2];
    int64_t n = 1;
    for (int q = 0; q < 2; q++) {
        stc_machine *m = p->m[q ? 1 : k];
        ck_ok(m, stc_session_get(p->s[q ? 1 : k], "R", &t[q]));
        if (!q)
            for (int d = 0; d < stc_tensor_order(t[0]); d++)
                n *= stc_tensor_shape(t[0])[d];
        vals[q] = elements(m, t[q], n);
    }
    const stc_type type = stc_tensor_type(t[0]);
    ck_assert_int_eq(type, stc_tensor_type(t[1]));
    for (int64_t e = 0; e < n; e++) {
        char a[64], b[64];
        const value x = type_load(type, vals[0], e), y = type_load(type, vals[1], e);
        if (class_equal(type_class(type), x, y) || rounded(type, x, y)) continue;
        type_print(type, x, a, sizeof a);
        type_print(type, y, b, sizeof b);
        ck_abort_msg("%s: element %lld is %s, not %s (%s)", text, (long long)e, a, b,
                     k ? "two threads" : "one");
    }
    free(vals[0]);
    free(vals[1]);
}

/* The statement makes the same R in all sessions, or the same error. */
static void both(pair *p, const char *text)
{
    stc_status st[3];
    for (int k = 0; k < p->n; k++) {
        st[k] = stc_session_exec(p->s[k], text, "sweep");
        ck_assert_msg(!st[k] || st[k] == STC_ERR_PROGRAM || st[k] == STC_ERR_ARITHMETIC ||
                          st[k] == STC_ERR_SHAPE,
                      "%s: %s", text, stc_error(p->m[k])->message);
    }
    for (int k = 0; k < p->n; k++)
        ck_assert_msg(st[k] == st[1], "%s: %s, by base operations %s", text,
                      st[k] ? stc_error(p->m[k])->message : "ok",
                      st[1] ? stc_error(p->m[1])->message : "ok");
    if (st[1]) return;
    for (int k = 0; k < p->n; k++)
        if (k != 1) same(p, k, text);
    p->agreed++;
    setup(p, "drop R");
}

/* ---- functions ------------------------------------------------------------------- */

enum { LENGTH = 70, SIDE = 24 };

/* a and b are dense, A, B and C csr with a third of the places stored. */
static void operands(pair *p, stc_type t)
{
    static const char *const names[] = {"a", "b", "c"};
    const char *type = type_name(t);
    const bool pairs = t == STC_C64 || t == STC_C128;
    char text[600];
    for (int k = 0; k < 3; k++) {
        snprintf(
            text, sizeof text,
            "tensor %s dense %s [%d]\n%s(i) = %s((i * %d + 1) %% 7 %s)\n"
            "tensor %c csr %s [%d,%d]\n"
            "%c(i,j) = %s(((i + %d * j) %% 3 == 0) * ((i * j + %d) %% 5 %s))\ncompact %c\n",
            names[k], type, LENGTH, names[k], type, k + 2,
            pairs ? "+ 2j"
            : k   ? ""
                  : "- 2 * (i % 2)",
            'A' + k, type, SIDE, SIDE, 'A' + k, type, k + 1, k + 1, pairs ? "+ 1j" : "",
            'A' + k);
        setup(p, text);
    }
}

static void sweep_function(pair *p, const fn_info *f)
{
    static const char *const forms[] = {
        "R(i) = %s(a(i))",
        "R(i) = %s(a(i), b(i))",
        "R(i) = %s(a(i), b(i), c(i))",
        "R(i,j) = %s(A(i,j), B(i,j))",
        "R = %s(i: a(i))",
        "R(i) = %s(j: A(i,j))",
        "R(j) = %s(i: A(i,j))",
        "R(i,j) = %s(k: A(i,k) * B(k,j))",
        "tensor R csr\nR(i,j) = %s(k: A(i,k) * B(k,j)) with workspace(coord)",
    };
    static const int arity[] = {1, 2, 3, 2, 2, 2, 2, 2, 2};
    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
        char text[200];
        if (arity[k] != f->arity) continue;
        snprintf(text, sizeof text, forms[k],
                 f == fn_at(FN_ADD) && k > 3 ? "sum" : f->name);
        both(p, text);
    }
}

START_TEST(functions)
{
    pair p;
    pair_open(&p, false);
    operands(&p, (stc_type)_i);
    for (int id = 0; id < FN_COUNT; id++)
        sweep_function(&p, fn_at(id));
    ck_assert_int_gt(p.agreed, FN_COUNT / 2);
    pair_shut(&p);
}
END_TEST

/* ---- scatter.def ------------------------------------------------------------------ */

static const struct row {
    const char *name;
    int type, index, term, fold;
} rows[] = {
#define SCATTER(TYPE, index, TERM, FOLD)                                                   \
    {#TYPE " " #TERM " " #FOLD ", " #index " bits", STC_##TYPE, index, FN_##TERM,          \
     FN_##FOLD},
#include "../vm/super/scatter.def"
};

/* Once more, on the faster tiers, for the profile: that template of the row ran. */
static void ran_row(pair *p, const char *text, const char *template, const struct row *r)
{
    char *profile, name[80];
    snprintf(name, sizeof name, "%s %s", template, r->name);
    machine_profile_runs(p->m[0]);
    ck_ok(p->m[0], stc_session_exec(p->s[0], text, "sweep"));
    ck_ok(p->m[0], stc_session_profile(p->s[0], &profile));
    ck_assert_msg(profile_has_row(profile, name), "%s: not run\n%s", name, profile);
    stc_text_free(p->m[0], profile);
    ck_ok(p->m[0], stc_session_exec(p->s[0], "drop R", "sweep"));
}

/* A semiring's zero, which isn't stored. */
static const char *zero_of(const struct row *r)
{
    if (r->fold == FN_OR) return "false";
    return r->term == FN_MUL ? "0" : r->fold == FN_MIN ? "inf" : "-inf";
}

START_TEST(scatters)
{
    const struct row *r = &rows[_i];
    pair p;
    char text[700];
    const bool counts = r->type == STC_BOOL && r->fold == FN_ADD; /* truth values: i64 */
    const char *fill = zero_of(r), *zero = counts ? "false" : fill,
               *type = stc_type_name((stc_type)r->type), *sum = counts ? "i64" : type,
               *fold = r->fold == FN_ADD  ? "sum"
                       : r->fold == FN_OR ? "any"
                                          : fn_at(r->fold)->name;
    pair_open(&p, false);
    snprintf(
        text, sizeof text,
        "format g = (i,j) -> (i : dense, j : compressed%s)\n"
        "tensor A g %s [40,30] fill %s\ntensor B g %s [30,50] fill %s\n"
        "A(i,j) = select(i %% 2 * (j %% 8) == 0 && (i * 5 + j * 3) %% 7 < 3, %s((i + j) "
        "%% 11 + 1), %s)\n"
        "B(i,j) = select((i + j * 2) %% 5 < 2, %s((i * 7 + j) %% 13 + 1), %s)\n"
        "compact A\ncompact B",
        r->index == 64 ? "(index64)" : "", type, zero, type, zero, type, zero, type, zero);
    setup(&p, text);
    for (int list = 0; list < 2; list++) {
        snprintf(text, sizeof text,
                 "tensor R g %s fill %s\nR(i,j) = %s(k: %s(A(i,k), B(k,j))) "
                 "with reorder(i,k,j), workspace(%s)",
                 sum, fill, fold, fn_at(r->term)->name, list ? "hash" : "dense");
        both(&p, text);
        ck_assert_int_eq(p.agreed, 1 + list);
        ran_row(&p, text, list ? "list" : "scatter", r);
    }
    /* a factor that every row has */
    snprintf(text, sizeof text,
             "tensor f dense %s [40] fill %s\nf(i) = %s(i %% 7)\ntensor R (i) -> (i : "
             "compressed) %s fill %s\nR(j) = %s(i: %s(A(i,j), f(i)))",
             type, zero, type, sum, fill, fold, fn_at(r->term)->name);
    both(&p, text);
    ck_assert_int_eq(p.agreed, 3);
    ran_row(&p, text, "scatter", r);
    if (r->term == FN_MUL || r->term == FN_AND) { /* a value alone: times one */
        snprintf(text, sizeof text,
                 "tensor R (i) -> (i : compressed) %s fill %s\nR(j) = %s(i: A(i,j))", sum,
                 fill, fold);
        both(&p, text);
        ck_assert_int_eq(p.agreed, 4);
        ran_row(&p, text, "scatter", r);
    }
    pair_shut(&p);
}
END_TEST

/* Rows that lie close together: with gaps, as one run, too far apart, and (that of more
 * fibers than are scattered at a time) only at first. */
START_TEST(windows)
{
    const struct row *r = &rows[_i];
    const bool counts = r->type == STC_BOOL && r->fold == FN_ADD; /* truth values: i64 */
    const char *fill = zero_of(r), *zero = counts ? "false" : fill,
               *type = stc_type_name((stc_type)r->type), *sum = counts ? "i64" : type;
    pair p;
    char text[900];
    if (r->fold == FN_OR) return; /* on truth values alone, not their class */
    pair_open(&p, false);
    for (int gaps = 0; gaps < 2; gaps++) {
        snprintf(text, sizeof text,
                 "format g = (i,j) -> (i : dense, j : compressed%s)\n"
                 "tensor A g %s [40,600] fill %s\ntensor B g %s [600,2000] fill %s\n"
                 "A(i,j) = select(i == 0 && j < 300 || j >= 8 * i && j < 8 * i + 6, "
                 "%s((i + j) %% 3 + %s), %s)\n"
                 "B(i,j) = select(%s && j >= i // 4 && j < i // 4 + 9 || i >= 298 && j == "
                 "1900, %s((i + j) %% 2 + 1), %s)\n"
                 "compact A\ncompact B",
                 r->index == 64 ? "(index64)" : "", type, zero, type, zero, type,
                 r->type == STC_F64 ? "0 - 1.0" : "1", zero,
                 gaps ? "(i + j) % 3 != 0" : "true", type, zero);
        setup(&p, text);
        for (int list = 0; list < 2; list++) {
            snprintf(text, sizeof text,
                     "tensor R g %s fill %s\nR(i,j) = %s(k: %s(A(i,k), B(k,j))) "
                     "with reorder(i,k,j), workspace(%s)",
                     sum, fill, r->fold == FN_ADD ? "sum" : fn_at(r->fold)->name,
                     fn_at(r->term)->name, list ? "hash" : "dense");
            both(&p, text);
            ck_assert_int_eq(p.agreed, 2 * gaps + 1 + list);
            ran_row(&p, text, "window", r);
            ran_row(&p, text, list ? "list" : "scatter", r);
        }
        setup(&p, "drop A\ndrop B");
    }
    pair_shut(&p);
}
END_TEST

/* ---- statements and formats --------------------------------------------------------- */

/* A, B and S have two modes, T three, u, v and w one; the others are dense: x, y and z
 * with one mode, X and the narrow N, W, M and Q with two. */
static const char *const statements[] = {
    "R(i) = A(i,j)",
    "R(i) = A(i,j) * v(j)",
    "R(i) = A(i,j) * x(j)",
    "R(i) = A(i,j) * x(j) * z(j)",
    "R(i) = A(i,j) * x(j) * z(j) * x(j)",
    "R(i) = A(i,j) * x(j) * v(j)",
    "R(i) = y(i) * A(i,j)",
    "R(i) = A(i,j) * (y(i) * x(j) * z(j))",
    "R(i) = y(i) * A(i,j) * x(j) + y(i)",
    "R(i) = A(i,j) * A(i,j) * x(j)",
    "R(i) = min(j: A(i,j) + x(j))",
    "R(i) = max(j: A(i,j))",
    "R(i) = or(j: A(i,j) && x(j))",
    "R(i) = prod(j: A(i,j) + 1)",
    "R(i) = prod(j: A(i,j) * 0 + 2)",
    "R(j,i) = A(i,j) * A(i,j) - 1",
    "R(j) = A(i,j)",
    "R(j) = A(i,j) * y(i)",
    "R(j) = u(i) * A(i,j) * y(i)",
    "R(j) = min(i: A(i,j) + y(i))",
    "R(j) = abs(A(i,j)) * y(i)",
    "R(j) = max(i: abs(A(i,j)))",
    "R(j) = prod(i: A(i,j) + y(i))",
    "R(i) = X(i,j) * x(j)",
    "R(i) = y(i) * X(i,j) * x(j) * z(j)",
    "R(i) = u(i) * X(i,j) * x(j)",
    "R = A(i,j) * B(i,j)",
    "R = A(i,j) * X(i,j)",
    "R = max(i,j: A(i,j))",
    "R(i) = A(i,j) * B(i,j)",
    "R(i) = y(i) * A(i,j) * B(i,j)",
    "R(i) = min(j: A(i,j) + B(i,j))",
    "R(i) = or(j: A(i,j) && B(i,j))",
    "R(i) = A(i,j) * (B(i,j) + v(j))",
    "R(i,j) = A(i,j) + B(i,j)",
    "R(i,j) = A(i,j) - B(i,j)",
    "R(i,j) = A(i,j) * B(i,j)",
    "R(i,j) = min(A(i,j), B(i,j))",
    "R(i,j) = A(i,j) && B(i,j)",
    "R(i,j) = A(i,j) * B(i,j) * v(j)",
    "R(i,j) = max(A(i,j), B(i,j)) + A(i,j)",
    "R(i,j) = A(i,j) * X(i,j)",
    "R(i,j) = A(i,j) + X(i,j)",
    "R(i,j) = (A(i,j) + v(j)) * B(i,j)",
    "R(i,j) = y(i) * A(i,j) * x(j)",
    "R(i,j) = select(A(i,j) > 2, B(i,j), -A(i,j))",
    "R(i,j) = select(B(i,j), A(i,j) + i, 0)",
    "R(i,j) = A(i,j) * u(i)",
    "R(i,j) = -A(i,j)",
    "R(i,j) = y(i) * abs(A(i,j))",
    "R(i,j,k) = -T(i,j,k)",
    "R(i,j) = u(i) * v(j) + A(i,j)",
    "R(j,i) = A(i,j)",
    "R(j,i) = A(i,j) + B(i,j)",
    "R(i,j) = A(i,k) * B(j,k)",
    "R(i,j) = A(i,k) * S(k,j)",
    "R(i,j) = y(i) * A(i,k) * S(k,j)",
    "R(i,j) = A(i,k) * x(k) * S(k,j)",
    "R(i,j) = min(k: A(i,k) + S(k,j))",
    "R(i,j) = A(i,k) * S(k,j) + B(i,j)",
    "R(i,j) = B(i,j) * X(i,k) * S(k,j)",
    "R(i,j) = A(k,i) * B(k,j)",
    "R(i,j) = A(i,k) * X(j,k)",
    "R(i,j) = A(k,i) * X(k,j)",
    "R(i,j) = A(i,k) * W(k,j)",
    "R(i,j) = A(i,k) * W(k,j) * y(i) * x(k)",
    "R(i,j) = A(i,k) * N(k,j)",
    "R(i,j) = A(i,k) * W(k,j) * Q(i,j)",
    "R(i,j) = min(k: A(i,k) + W(k,j))",
    "R(i,j) = u(i) * A(i,k) * W(k,j)",
    "R(i,j) = T(i,j,k) * x(k)",
    "R(i,j) = T(i,k,j)",
    "R(i,l) = T(i,j,k) * W(j,l) * W(k,l)",
    "R(i,j,l) = T(i,j,k) * W(k,l)",
    "R(i,j,k) = T(i,j,k) * v(j) + T(i,j,k)",
    "R(i) = S(i,i) * v(i)",
    "R(i) = A(i,i+j) * w(j)",
    "R(i,j) = A(i,j+k) * w(k)",
    "R(i,j) = A(i+k,j) * w(k)",
    "R(i,j) = A(i(1:12:2), j(2:14:3))",
    "R(i,j) = A(i(2:10), j) * v(j)",
    "R(i) = (w(j) > 0) * A(i,j(3:7))",
    "R(i,j) = A(i,k(3:7)) * M(k,j)",
    "R(i,l) = T(i,j,k(3:7)) * W(j,l) * M(k,l)",
};
enum { STATEMENTS = sizeof statements / sizeof *statements };

#define WIDE "(i,j) -> (i : dense, j : compressed(index64))"
#define WIDE3                                                                              \
    "(i,j,k) -> (i : compressed(index64), j : compressed(index64), k : "                   \
    "compressed(index64))"
static const struct of {
    const char *matrix, *tensor, *type;
} formats[] = {
    {"dense", "dense", "f64"},
    {"csr", "csf", "f64"},
    {"csc", "coo", "f64"},
    {"dcsr", "dds", "f64"},
    {"coo", "sss:2,0,1", "f64"},
    {"hash", "hash", "f64"},
    {"bcsr(2,3)", "csf", "f64"},
    {"dia", "coo", "f64"},
    {"ell", "dense", "f64"},
    {"rle", "rle", "f64"},
    {"lz77", "lz77", "f64"},
    {"bytemap", "bytemap", "f64"},
    {WIDE, WIDE3, "f64"},
    {"(i,j) -> (i : compressed, j : dense)", "csf", "f64"},
    {"(i,j) -> (i : dense, j : compressed(nonunique))", "csf", "f64"},
    {"(i,j) -> (j : hashed, i : compressed)", "csf", "f64"},
    {"(i,j) -> (i : compressed(nonunique, interleaved), j : singleton)", "coo", "f64"},
    {"csr", "csf", "f32"},
    {"csr", "csf", "i64"},
    {"csr", "csf", "bool"},
    {"csr", "csf", "u8"},
    {"rle", "rle", "i32"},
    {"rle", "rle", "f32"},
    {"rle", "rle", "i64"},
    {"rle", "rle", "i16"},
    {"rle", "rle", "bool"},
    {"rle", "rle", "u64"},
    {"lz77", "lz77", "u8"},
    {"lz77", "lz77", "f32"},
    {"lz77", "lz77", "c128"},
    {WIDE, WIDE3, "f32"},
    {WIDE, WIDE3, "i64"},
    {WIDE, "csf", "bool"},
    {"csr", "csf", "c64"},
};
enum { FORMATS = sizeof formats / sizeof *formats };

static void declare(pair *p, const char *name, const char *how, const char *type,
                    const char *text)
{
    char line[300];
    const int left = (int)(strstr(text, "= ") - text);
    snprintf(line, sizeof line, "tensor %c %s %s %s\n%.*s= %s(%s)\ncompact %c", name[0],
             how, type, name + 1, left, text, type, text + left + 2, name[0]);
    setup(p, line);
}

/* Some rows are empty, some full; B shares a part of A's places. */
static void matrices(pair *p, const struct of *f, const char *b, const char *vector)
{
    const char *t = f->type;
    declare(p, "A[14,17]", f->matrix, t,
            "A(i,j) = (i % 4 != 1) * ((i * 5 + j * 3) % 7 < 3 || i == 6) * (i + j)");
    declare(p, "B[14,17]", b, t, "B(i,j) = ((i * 2 + j) % 5 < 2) * (7 - j % 6)");
    declare(p, "S[17,17]", b, t, "S(i,j) = ((i + j * 2) % 4 == 1) * (j % 5)");
    declare(p, "T[6,17,17]", f->tensor, t,
            "T(i,j,k) = (i != 2) * ((i + j * 3 + k) % 5 < 2) * (j % 4 < 2) * (k + 1)");
    declare(p, "u[14]", vector, t, "u(i) = (i % 3 == 0) * (i + 1)");
    declare(p, "v[17]", vector, t, "v(i) = (i % 3 != 1) * (i % 5)");
    declare(p, "w[4]", vector, t, "w(i) = i + 3");
    declare(p, "x[17]", "dense", t, "x(i) = i % 4 + 1");
    declare(p, "y[14]", "dense", t, "y(i) = i % 3 + 1");
    declare(p, "z[17]", "dense", t, "z(i) = i % 5");
    declare(p, "X[14,17]", "dense", t, "X(i,j) = (i + j) % 5");
    declare(p, "N[17,3]", "dense", t, "N(i,j) = (i + j) % 3");
    declare(p, "W[17,21]", "dense", t, "W(i,j) = (i * 2 + j) % 5");
    declare(p, "M[4,21]", "dense", t, "M(i,j) = (i * 3 + j) % 4");
    declare(p, "Q[14,21]", "dense", t, "Q(i,j) = (i + j) % 4");
}

/* Each statement with A in each format; what else there is takes turns. */
START_TEST(in_formats)
{
    static const char *const second[] = {"csr", "coo", "dense", "csc", "dcsr", "rle"};
    static const char *const vectors[] = {"svec", "hash", "bytemap", "dense", "rle"};
    static const char *const results[] = {"", "csr", "coo", "dense", "dcsr", "rle"};
    const struct of *f = &formats[_i];
    pair p;
    for (int turn = 0; turn < 6; turn++) {
        const char *b = turn % 2 ? second[(turn + _i) % 6] : f->matrix;
        pair_open(&p, true);
        matrices(&p, f, b, vectors[(turn + _i / 2) % 5]);
        for (int k = 0; k < STATEMENTS; k++) {
            char text[200];
            const char *to = results[(turn + k + _i) % 6];
            if (strncmp(statements[k], "R(i,j) ", 7) || !to[0])
                strcpy(text, statements[k]);
            else
                snprintf(text, sizeof text, "tensor R %s %s\n%s", to,
                         strcmp(f->type, "bool") ? f->type : "i64", statements[k]);
            both(&p, text);
        }
        ck_assert_int_gt(p.agreed, STATEMENTS / 2);
        pair_shut(&p);
    }
}
END_TEST

/* ---- what only the host has --------------------------------------------------------- */

/* Rows that occur twice, one after the other, and columns that do: each fiber's row, and
 * its columns up to a negative number. */
static const int8_t fibers[][8] = {
    {0, 1, 3, 4, -1}, {2, 0, 2, -1},   {2, 5, 6, 16, -1}, {3, -1},
    {5, 7, 8, 9, -1}, {5, 11, -1},     {5, 12, 13, -1},   {6, 2, 2, 2, 3, -1},
    {9, 4, 4, 5, -1}, {9, 10, 15, -1}, {13, 16, -1},
};
enum { FIBERS = sizeof fibers / sizeof *fibers, FIBER_ENTRIES = 40, DEEP = 3 };

typedef struct lent {
    int64_t wide[3][FIBER_ENTRIES];
    int32_t narrow[3][FIBER_ENTRIES]; /* bounds, rows, bounds of these, columns */
    double vals[FIBER_ENTRIES * DEEP];
} lent;

static stc_array lent_array(lent *l, int k, int64_t n, int width)
{
    for (int64_t j = 0; j < n; j++)
        l->narrow[k][j] = (int32_t)l->wide[k][j];
    return (stc_array){width == 8 ? (void *)l->wide[k] : (void *)l->narrow[k], n, width, 0};
}

/* Rows above columns, above DEEP dense elements each if the order is 3. Duplicate columns
 * are left out where they have to be unique. */
static stc_tensor *lend(stc_machine *m, lent *l, const char *how, int order, int width)
{
    static const int64_t shape[] = {14, 17, DEEP};
    const bool dups = strstr(how, "j : compressed(nonunique");
    static int64_t bounds[2];
    static int32_t narrow[2];
    int64_t n = 0;
    for (int f = 0; f < FIBERS; f++) {
        l->wide[0][f] = fibers[f][0];
        l->wide[1][f] = n;
        for (int k = 1; fibers[f][k] >= 0; k++)
            if (dups || k == 1 || fibers[f][k] != fibers[f][k - 1])
                l->wide[2][n++] = fibers[f][k];
    }
    l->wide[1][FIBERS] = n;
    bounds[1] = narrow[1] = FIBERS;
    const int64_t count = order == 3 ? n * DEEP : n;
    for (int64_t k = 0; k < count; k++)
        l->vals[k] = (double)(1 + k % 5);
    stc_tensor *t;
    void *const top = width == 8 ? (void *)bounds : (void *)narrow;
    ck_ok(m, stc_tensor_new(m, how, STC_F64, order, shape, NULL, &t));
    ck_ok(m, stc_tensor_lend(t, 0, STC_POS, (stc_array){top, 2, width, 0}));
    ck_ok(m, stc_tensor_lend(t, 0, STC_CRD, lent_array(l, 0, FIBERS, width)));
    ck_ok(m, stc_tensor_lend(t, 1, STC_POS, lent_array(l, 1, FIBERS + 1, width)));
    ck_ok(m, stc_tensor_lend(t, 1, STC_CRD, lent_array(l, 2, n, width)));
    ck_ok(m, stc_tensor_lend_values(t, l->vals, count));
    ck_ok(m, stc_tensor_check(t));
    return t;
}

static const char *const lent_formats[] = {
    "(i,j) -> (i : compressed(nonunique), j : compressed)",
    "(i,j) -> (i : compressed(nonunique), j : compressed(nonunique))",
    "(i,j,k) -> (i : compressed(nonunique), j : compressed, k : dense)",
};
enum { LENT = sizeof lent_formats / sizeof *lent_formats };

/* Statements with one sparse matrix, or with one sparse tensor: L. */
static const char *const of_lent[2][16] = {
    {"R(i) = L(i,j)", "R(i) = L(i,j) * x(j)", "R(j) = L(i,j) * y(i)",
     "R(i) = L(i,j) * v(j)", "R(i,j) = L(i,j) + B(i,j)", "R(i,j) = L(i,j) * B(i,j)",
     "R(i) = max(j: L(i,j) + B(i,j))", "R(i,j) = L(i,k) * W(k,j)",
     "R(i,j) = L(i,k) * S(k,j)", "R(i,j) = y(i) * L(i,j) * x(j)",
     "R(i) = L(i,j(3:12)) * x(j+3)", "R(i,j) = L(i(1:14:2),j)", "R(i,j) = L(i,j) * X(i,j)",
     "R(i) = count(j: L(i,j))"},
    {"R(i,j) = L(i,j,k)", "R(i) = L(i,j,k) * x(j)", "R(i,j,k) = L(i,j,k) * y(i)",
     "R(i,l) = L(i,j,k) * W(j,l)", "R(i,l) = L(i,j,k) * W(k(0:3),l)",
     "R(i,k) = L(i,j,k) * v(j)", "R(i,j,k) = L(i,j,k) + B(i,j)",
     "R(i,j) = L(i,j,k) * B(i,j)", "R(i,j,l) = L(i,j,k) * W(k(0:3),l)"}};

START_TEST(lent_duplicates)
{
    const char *how = lent_formats[_i / 2];
    const int order = how[5] == 'k' ? 3 : 2, width = _i % 2 ? 8 : 4;
    static lent l[3];
    pair p;
    pair_open(&p, true);
    matrices(&p, &formats[1], "csr", "svec");
    for (int k = 0; k < p.n; k++)
        ck_ok(p.m[k], stc_session_put(p.s[k], "L", lend(p.m[k], &l[k], how, order, width)));
    for (int k = 0; k < 16 && of_lent[order - 2][k]; k++)
        both(&p, of_lent[order - 2][k]);
    ck_assert_int_gt(p.agreed, 6);
    pair_shut(&p);
}
END_TEST

/* ---- integers of one width ---------------------------------------------------------- */

static const char *const integers[] = {"i8",  "u8",  "i16", "u16",
                                       "i32", "u32", "i64", "u64"};
enum { INTEGERS = sizeof integers / sizeof *integers };

/* What wraps is the same in any width: rows of runs in the operands' own. */
START_TEST(in_their_width)
{
    static const char *const bodies[] = {
        "A(i,j) + B(i,j)", "A(i,j) - B(i,j)", "A(i,j) * B(i,j)", "-A(i,j)",
        "~A(i,j)",         "A(i,j) & B(i,j)", "A(i,j) | B(i,j)", "A(i,j) ^ 5"};
    pair p;
    char text[200];
    const char *type = integers[_i];
    pair_open(&p, false);
    snprintf(text, sizeof text,
             "tensor A rle %s [9,90]\nA(i,j) = %s((j // 7) * 91 + i)\n"
             "tensor B rle %s [9,90]\nB(i,j) = %s((j // 4) * 53 + 2 * i)",
             type, type, type, type);
    setup(&p, text);
    for (size_t k = 0; k < sizeof bodies / sizeof *bodies; k++) {
        snprintf(text, sizeof text, "tensor R rle %s\nR(i,j) = %s", type, bodies[k]);
        both(&p, text);
        ck_assert_int_eq(p.agreed, k + 1);
    }
    snprintf(text, sizeof text, "tensor x dense %s [90]\nx(i) = %s(i %% 5 + 1)", type,
             type);
    setup(&p, text);
    for (int k = 0; k < INTEGERS; k++) { /* sums, into elements of each width */
        snprintf(text, sizeof text, "tensor R dense %s\nR(i) = A(i,j) * x(j)", integers[k]);
        if (*type == 'u' || *integers[k] == 'i') both(&p, text); /* same_kind */
        snprintf(text, sizeof text, "tensor B rle %s [9,90]\nB(i,j) = %s(i + j // 7)",
                 integers[k], integers[k]);
        setup(&p, text);
        snprintf(text, sizeof text, "tensor R rle %s\nR(i,j) = %s(A(i,j) + 3 * B(i,j))",
                 type, type);
        both(&p, text);
        setup(&p, "drop B");
    }
    pair_shut(&p);
}
END_TEST

/* ---- near misses -------------------------------------------------------------------- */

/* near.txt: operands, and in its last line a statement that some handler, format or
 * table nearly fits, or only just. */
START_TEST(near_misses)
{
    char *text = read_parts("near.txt"), *at = text, *part;
    int agreed = 0;
    while ((part = next_part(&at))) {
        pair p;
        char *statement = part;
        for (char *end; (end = strchr(statement, '\n')) && end[1];)
            statement = end + 1;
        pair_open(&p, true);
        if (statement > part) {
            statement[-1] = 0;
            setup(&p, part);
        }
        both(&p, statement);
        agreed += p.agreed;
        pair_shut(&p);
    }
    ck_assert_int_gt(agreed, 20);
    free(text);
}
END_TEST

/* ---- crowded loops ------------------------------------------------------------------- */

/* What fills a loop's tables, `#` being how often before; and what then doesn't fit. */
static const char *const crowds[] = {"# * x(i+1)", "x(i+#)", "max(j: A(i,j) * #)",
                                     "sum(j: A(i,j) * x(j+#))"};
static const char *const comers[] = {
    "abs(x(i+2))",
    "select(x(i+1) > 1, x(i+3), v(i+1))",
    "i * 2",
    "v(i+2)",
    "v(i+1) * x(2*i)",
    "min(j: A(i,j))",
    "sum(j: A(i,j) * v(j))",
    "B(i+1,i+1)",
    "sum(j: A(i,j) * x(i+j))",
    "prod(j: A(i,j) + 1)",
    "or(j: B(i+1,j) > x(j+1))",
};
enum { COMERS = sizeof comers / sizeof *comers };

/* Loops with more than a summary has room for are run by base operations. */
START_TEST(crowded)
{
    pair p;
    pair_open(&p, false);
    setup(&p, "tensor A csr f64 [6,60]\nA(i,j) = (i * 5 + j * 3) % 7 < 3\ncompact A\n"
              "tensor B csr f64 [60,60]\nB(i,j) = (i + j) % 5 == 1\ncompact B\n"
              "tensor x dense f64 [140]\nx(i) = i % 4 + 1\n"
              "tensor v svec f64 [60]\nv(i) = (i % 3 == 0) * i\ncompact v");
    for (int n = 0; n < 36; n++) {
        char text[2000] = "tensor R dense f64 [6]\nR(i) = ";
        for (int k = 0; k < n; k++) {
            char term[60];
            const char *mark = strchr(crowds[_i], '#');
            snprintf(term, sizeof term, "%.*s%d%s + ", (int)(mark - crowds[_i]), crowds[_i],
                     k + 1, mark + 1);
            strcat(text, term);
        }
        strcat(text, comers[(n + _i) % COMERS]);
        both(&p, text);
    }
    pair_shut(&p);
}
END_TEST

Suite *suite_sweep(void)
{
    Suite *s = suite_create("sweep");
    TCase *c = tcase_create("sweep");
    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, functions, 0, TYPE_COUNT);
    tcase_add_loop_test(c, scatters, 0, sizeof rows / sizeof *rows);
    tcase_add_loop_test(c, windows, 0, sizeof rows / sizeof *rows);
    tcase_add_loop_test(c, in_formats, 0, FORMATS);
    tcase_add_loop_test(c, lent_duplicates, 0, 2 * LENT);
    tcase_add_loop_test(c, in_their_width, 0, INTEGERS);
    tcase_add_loop_test(c, crowded, 0, sizeof crowds / sizeof *crowds);
    suite_add_tcase(s, c);
    c = tcase_create("near_misses");
    tcase_set_timeout(c, 120);
    tcase_add_test(c, near_misses);
    suite_add_tcase(s, c);
    return s;
}
