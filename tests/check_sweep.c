/* check_sweep.c: every function in every type, elementwise, as a reduction, as an
 * accumulation and in a workspace; every row of scatter.def. What the faster tiers
 * make of it is what base operations make, error for error. */
#include "../vm/functions.h"
#include "check.h"
#include <complex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One session on the faster tiers, one on base operations. */
typedef struct pair {
    heap h[2];
    stc_machine *m[2];
    stc_session *s[2];
    int agreed;
} pair;

static void pair_open(pair *p)
{
    p->agreed = 0;
    for (int k = 0; k < 2; k++) {
        p->m[k] = machine_open(&p->h[k], k == 1);
        ck_ok(p->m[k], stc_session_open(p->m[k], &p->s[k]));
    }
}

static void pair_shut(pair *p)
{
    for (int k = 0; k < 2; k++) {
        stc_session_close(p->s[k]);
        machine_shut(p->m[k], &p->h[k]);
    }
}

static void setup(pair *p, const char *text)
{
    for (int k = 0; k < 2; k++)
        ck_ok(p->m[k], stc_session_exec(p->s[k], text, "setup"));
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

/* The statement makes R in both sessions, or the same error. */
static void both(pair *p, const char *text)
{
    const stc_tensor *t[2];
    void *vals[2];
    const stc_status st = stc_session_exec(p->s[0], text, "sweep");
    const stc_status base = stc_session_exec(p->s[1], text, "sweep");
    ck_assert_msg(st == base, "%s: %s, by base operations %s", text,
                  st ? stc_error(p->m[0])->message : "ok",
                  base ? stc_error(p->m[1])->message : "ok");
    if (st) {
        ck_assert_msg(st == STC_ERR_PROGRAM || st == STC_ERR_ARITHMETIC, "%s: %s", text,
                      stc_error(p->m[0])->message);
        return;
    }
    int64_t n = 1;
    for (int k = 0; k < 2; k++)
        ck_ok(p->m[k], stc_session_get(p->s[k], "R", &t[k]));
    for (int d = 0; d < stc_tensor_order(t[0]); d++)
        n *= stc_tensor_shape(t[0])[d];
    for (int k = 0; k < 2; k++)
        vals[k] = elements(p->m[k], t[k], n);
    const stc_type type = stc_tensor_type(t[0]);
    ck_assert_int_eq(type, stc_tensor_type(t[1]));
    for (int64_t e = 0; e < n; e++) {
        char a[64], b[64];
        const value x = type_load(type, vals[0], e), y = type_load(type, vals[1], e);
        if (class_equal(type_class(type), x, y) || rounded(type, x, y)) continue;
        type_print(type, x, a, sizeof a);
        type_print(type, y, b, sizeof b);
        ck_abort_msg("%s: element %lld is %s, not %s", text, (long long)e, a, b);
    }
    free(vals[0]);
    free(vals[1]);
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
            "tensor %s dense %s [%d]\n%s(i) = (i * %d + 1) %% 7 %s\n"
            "tensor %c csr %s [%d,%d]\n"
            "%c(i,j) = ((i + %d * j) %% 3 == 0) * ((i * j + %d) %% 5 %s)\ncompact %c\n",
            names[k], type, LENGTH, names[k], k + 2,
            pairs ? "+ 2j"
            : k   ? ""
                  : "- 2 * (i % 2)",
            'A' + k, type, SIDE, SIDE, 'A' + k, k + 1, k + 1, pairs ? "+ 1j" : "", 'A' + k);
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
    pair_open(&p);
    operands(&p, (stc_type)_i);
    for (int id = 0; id < FN_COUNT; id++)
        sweep_function(&p, fn_at(id));
    ck_assert_int_gt(p.agreed, FN_COUNT / 2);
    pair_shut(&p);
}
END_TEST

/* ---- scatter.def ------------------------------------------------------------------ */

static const struct row {
    const char *type;
    int index, term, fold;
} rows[] = {
#define SCATTER(CLASS, ctype, index, ictype, TERM, FOLD)                                   \
    {#CLASS, index, FN_##TERM, FN_##FOLD},
#include "../vm/scatter.def"
};

/* Rows of a dense second operand: a semiring's zero is then nowhere needed. */
START_TEST(scatters)
{
    const struct row *r = &rows[_i];
    pair p;
    char text[700], type[8];
    snprintf(type, sizeof type, "%s", r->type);
    type[0] = (char)(type[0] + 'a' - 'A');
    pair_open(&p);
    snprintf(text, sizeof text,
             "format g = (i,j) -> (i : dense, j : compressed%s)\n"
             "tensor A g %s [40,30]\ntensor B g %s [30,50]\n"
             "A(i,j) = (i * 3 + j * 5) %% 11 - 4\nB(i,j) = (i * 7 + j) %% 13 - 5\n",
             r->index == 64 ? "(index64)" : "", type, type);
    setup(&p, text);
    snprintf(text, sizeof text,
             "tensor R g\nR(i,j) = %s(k: %s(A(i,k), B(k,j))) "
             "with reorder(i,k,j), workspace(dense)",
             r->fold == FN_ADD ? "sum" : fn_at(r->fold)->name, fn_at(r->term)->name);
    both(&p, text);
    ck_assert_int_eq(p.agreed, 1);
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
    suite_add_tcase(s, c);
    return s;
}
