/* check_deterministic.c: machines that are deterministic give the same bits with every
 * number of threads: all reductions, into scalars, vectors and sparse results. */
#include "../src/api/api.h"
#include "check.h"
#include <stdlib.h>
#include <string.h>

enum { ANY, REAL }; /* element types that a statement is for */

static const struct bits_case {
    int types;
    const char *y, *text; /* the result's format, NULL: chosen */
} cases[] = {
    {ANY, NULL, "y = A(i,j)"},
    {ANY, NULL, "y = A(i,j) * d(j)"},
    {ANY, NULL, "y = A(i,j) * A(i,j)"},
    {ANY, NULL, "y = D(i,j)"},
    {ANY, NULL, "y = D(i,j) * d(j) * e(i)"},
    {ANY, NULL, "y = sqrt(d(i) * d(i))"},
    {ANY, NULL, "y = x(i) * d(i)"},
    {ANY, NULL, "y = prod(i: d(i) + 0.5)"},
    {ANY, NULL, "y = prod(i,j: A(i,j) + 1)"},
    {REAL, NULL, "y = min(i,j: A(i,j) * d(j))"},
    {REAL, NULL, "y = max(i,j: A(i,j) - d(j))"},
    {ANY, NULL, "y = f(i,j: A(i,j))"},
    {ANY, NULL, "y = g(i,j: D(i,j))"},
    {ANY, NULL, "y = A(i,k) * B(k,j)"},
    {ANY, NULL, "y = sum(i: exp(d(i) / 50))"},
    {ANY, NULL, "y = A(i,j) + x(i)"},
    {ANY, NULL, "y(i) = A(i,j)"},
    {ANY, NULL, "y(i) = A(i,j) * d(j)"},
    {ANY, NULL, "y(i) = D(i,j) * d(j)"},
    {ANY, NULL, "y(i) = prod(j: D(i,j) + 0.5)"},
    {REAL, NULL, "y(i) = min(j: A(i,j) + d(j))"},
    {REAL, NULL, "y(i) = max(j: A(i,j) * d(j))"},
    {ANY, NULL, "y(i) = f(j: D(i,j))"},
    {ANY, NULL, "y(j) = A(i,j)"},
    {ANY, NULL, "y(j) = A(i,j) * e(i)"},
    {ANY, NULL, "y(j) = D(i,j) * e(i)"},
    {ANY, NULL, "y(j) = f(i: A(i,j))"},
    {ANY, NULL, "y(i) = A(i,k) * B(k,j) * d(j)"},
    {ANY, NULL, "y(i) = A(i,j) * d(j) + sum(k: B(i,k)) * A(i,j)"},
    {ANY, NULL, "y(i) = d(i+p) * k(p)"},
    {ANY, "svec", "y(i) = A(i,j)"},
    {ANY, "svec", "y(i) = A(i,j) * x(j)"},
    {ANY, "svec", "y(j) = A(i,j) * x(i)"},
    {ANY, "hash", "y(j) = A(i,j) * e(i)"},
    {ANY, "csr", "y(i,j) = A(i,k) * B(k,j)"},
    {ANY, "csr", "y(i,j) = A(i,j) * A(i,k) * B(k,j)"},
    {ANY, "csc", "y(i,j) = A(i,k) * B(k,j)"},
    {ANY, "dcsr", "y(i,j) = A(k,i) * B(k,j)"},
    {ANY, "coo", "y(i,j) = A(i,k) * B(k,j) + A(i,j)"},
    {ANY, "csr", "y(i,j) = f(k: A(i,k) * B(k,j))"},
    {ANY, "csr", "y(i,j) = A(i,k) * B(k,j) with reorder(k,i,j)"},
    {ANY, "dense", "y(i,j) = A(i,k) * B(k,j)"},
    {ANY, "dense", "y(i,j) = A(i,k) * D(k,j)"},
    {ANY, "bcsr(4,4)", "y(i,j) = A(i,k) * B(k,j)"},
    {ANY, NULL, "y(i) = A(i,j) * d(j) with parallelize(i)"},
    {ANY, NULL, "y(i) += A(i,j) * d(j)"},
};

static const char operands[] =
    "fn f(a, b) = a + b with commutative, associative, identity(0)\n"
    "fn g(a, b) = a + b + 0 * a with commutative, associative, identity(0)\n"
    "tensor R dense f64 [300,300] = random(density=1, seed=1)\n"
    "tensor S csr f64 [300,300] = random(density=0.02, seed=2)\n"
    "tensor T csr f64 [300,300] = random(density=0.03, seed=3)\n"
    "tensor u dense f64 [300] = random(density=1, seed=4)\n"
    "tensor w dense f64 [300] = random(density=1, seed=5)\n"
    "tensor v svec f64 [300] = random(density=0.3, seed=6)\n"
    "tensor A csr %1$s\nA(i,j) = S(i,j) * (i * 0.7 - j + 0.1)\n"
    "tensor B csr %1$s\nB(i,j) = T(i,j) * (j * 0.3 - i + 0.1)\n"
    "tensor D dense %1$s\nD(i,j) = R(i,j) - 0.3\n"
    "tensor d dense %1$s\nd(i) = w(i) * 1.7\n"
    "tensor e dense %1$s\ne(i) = u(i) - 0.5\n"
    "tensor k dense %1$s [7] = 0.3\n"
    "tensor x svec %1$s\nx(i) = v(i) * 3\n";

typedef struct result {
    int64_t n;
    size_t size;
    void *values;
} result;

static result run(const struct bits_case *c, const char *type, bool fixed, int threads)
{
    const stc_config config = {.threads = threads, .deterministic = fixed};
    stc_machine *m;
    stc_session *in;
    const stc_tensor *y;
    const void *values;
    char text[2000];
    ck_assert_int_eq(stc_open(&config, &m), STC_OK);
    m->cx.grain = 40;
    ck_ok(m, stc_session_open(m, &in));
    snprintf(text, sizeof text, operands, type);
    ck_ok(m, stc_session_exec(in, text, "operands"));
    if (c->y) {
        snprintf(text, sizeof text, "tensor y %s %s", c->y, type);
        ck_ok(m, stc_session_exec(in, text, "result"));
    }
    const stc_status st = stc_session_exec(in, c->text, "statement");
    ck_assert_msg(st == STC_OK, "%s: %s", c->text, stc_error(m)->message);
    ck_ok(m, stc_session_get(in, "y", &y));
    result r;
    ck_ok(m, stc_tensor_values(y, &values, &r.n));
    r.size = (size_t)r.n * stc_type_size(stc_tensor_type(y));
    r.values = malloc(r.size + 1);
    ck_assert_ptr_nonnull(r.values);
    if (r.size) memcpy(r.values, values, r.size);
    stc_session_close(in);
    stc_close(m);
    return r;
}

static bool same(const result *a, const result *b)
{
    return a->n == b->n && a->size == b->size && !memcmp(a->values, b->values, a->size);
}

static const char *const types[] = {"f32", "f64", "c128"};
static const int counts[] = {2, 3, 5};

START_TEST(same_bits)
{
    const struct bits_case *c = &cases[_i];
    for (int t = 0; t < (c->types == REAL ? 2 : 3); t++) {
        const result one = run(c, types[t], true, 1);
        for (int k = 0; k < 3; k++) {
            const result more = run(c, types[t], true, counts[k]);
            ck_assert_msg(same(&one, &more), "%s, %s: other bits on %d threads", c->text,
                          types[t], counts[k]);
            free(more.values);
        }
        free(one.values);
    }
}
END_TEST

/* Otherwise the number of threads does change sums: or the test above would say nothing. */
START_TEST(other_bits)
{
    int differ = 0;
    for (int k = 0; k < 6; k++) {
        const result one = run(&cases[k], "f64", false, 1);
        const result more = run(&cases[k], "f64", false, 3);
        differ += !same(&one, &more);
        free(one.values);
        free(more.values);
    }
    ck_assert_int_gt(differ, 0);
}
END_TEST

Suite *suite_deterministic(void)
{
    Suite *s = suite_create("deterministic");
    TCase *t = tcase_create("deterministic");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, same_bits, 0, (int)(sizeof cases / sizeof *cases));
    tcase_add_test(t, other_bits);
    suite_add_tcase(s, t);
    return s;
}
