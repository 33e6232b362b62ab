/* check_lend_result.c: results in the host's memory: what is there, in a loop that
 * allocates nothing; shapes that change; results that are converted, filled, shared by
 * threads.
 */
#include "check.h"
#include <string.h>

enum { ROWS = 4, COLUMNS = 5 };

/* y = A x row by row, of sample_dense. */
static double wanted(int i, const double *x)
{
    double sum = 0;
    for (int j = 0; j < COLUMNS; j++)
        sum += sample_dense[i * COLUMNS + j] * x[j];
    return sum;
}

static stc_tensor *vector(stc_machine *m, double *x, int64_t n)
{
    stc_tensor *t;
    ck_ok(m, stc_tensor_new(m, "dense", STC_F64, 1, &n, NULL, &t));
    ck_ok(m, stc_tensor_lend_values(t, x, n));
    return t;
}

/* Without superinstructions, with them, and on two threads. */
START_TEST(without_allocations)
{
    heap h;
    stc_machine *m = machine_open(&h, _i == 0);
    if (_i == 2) machine_share(m, 2);
    const stc_decl d[] = {{.name = "A", .format = "csr"}, {.name = "x"}};
    double x[COLUMNS] = {1, 2, 3, 4, 5}, y[ROWS + 1];
    const stc_tensor *t;
    const void *at;
    int64_t n, calls = 0;
    stc_program *p;
    stc_tensor *a = sample_matrix(m, "csr"), *v = vector(m, x, COLUMNS);
    ck_ok(m, stc_compile(m, "y(i) = A(i,j) * x(j)", d, 2, &p));
    ck_ok(m, stc_bind(p, "A", a));
    ck_ok(m, stc_bind(p, "x", v));
    ck_ok(m, stc_lend_result(p, "y", y, ROWS));
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i <= ROWS; i++)
            y[i] = -77; /* the host may write there */
        ck_ok(m, stc_run(p));
        ck_ok(m, stc_result(p, "y", &t));
        ck_ok(m, stc_tensor_values(t, &at, &n));
        ck_assert_ptr_eq(at, y);
        ck_assert_int_eq(n, ROWS);
        for (int i = 0; i < ROWS; i++)
            ck_assert(y[i] == wanted(i, x));
        ck_assert(y[ROWS] == -77);
        if (round == 0) calls = h.calls;
        x[round % COLUMNS] += 1;
        stc_tensor_touch_values(v);
    }
    if (_i < 2) /* threads have lists of their own */
        ck_assert_msg(h.calls == calls, "%lld allocations", (long long)(h.calls - calls));
    stc_program_free(p);
    stc_tensor_free(a);
    stc_tensor_free(v);
    machine_shut(m, &h);
}
END_TEST

static const struct {
    const char *text, *format; /* of y, NULL: as it is chosen */
} statements[] = {
    {"y(j) = A(i,j) * x(j)", "dense"},
    {"y(j) = A(i,j)", "dense"},
    {"y(j) = max(i: A(i,j))", "dense"},
    {"y(i,j) = A(i,j) + 1", "dense"},
    {"y(j,i) = A(i,j)", "dense"},
    {"y(i,k) = A(i,j) * A(k,j)", "dense"},
    {"z(i,j) = A(i,j) * 2\ny(i,j) = z(i,j)", "dense"},
    {"y(i) = A(i,j) * x(j)\ny(i) = y(i) + 1", "dense"},
    {"y = A(i,j)", NULL},
    {"y(j) = x(j)", "dense"},
};
enum { STATEMENTS = sizeof statements / sizeof *statements };

/* What a run without a lent array gives is there. */
START_TEST(as_without)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    const stc_decl d[] = {{.name = "A", .format = "csr"},
                          {.name = "x"},
                          {.name = "y", .format = statements[_i].format}};
    double x[COLUMNS] = {1, 2, 3, 4, 5}, y[32];
    stc_program *p, *q;
    const stc_tensor *want, *got;
    const void *values;
    int64_t n;
    bool used;
    stc_tensor *a = sample_matrix(m, "csr"), *v = vector(m, x, COLUMNS);
    ck_ok(m, stc_compile(m, statements[_i].text, d, 3, &p));
    ck_ok(m, stc_compile(m, statements[_i].text, d, 3, &q));
    for (int k = 0; stc_program_name(p, k, &used); k++) {
        const char *name = stc_program_name(p, k, &used);
        if (used) continue;
        ck_ok(m, stc_bind(p, name, *name == 'A' ? a : v));
        ck_ok(m, stc_bind(q, name, *name == 'A' ? a : v));
    }
    ck_ok(m, stc_lend_result(p, "y", y, 32));
    ck_ok(m, stc_run(q));
    ck_ok(m, stc_result(q, "y", &want));
    ck_ok(m, stc_tensor_values(want, &values, &n));
    for (int round = 0; round < 3; round++) {
        for (int k = 0; k < 32; k++)
            y[k] = 1e9 + k;
        ck_ok(m, stc_run(p));
        ck_ok(m, stc_result(p, "y", &got));
        ck_assert(!memcmp(y, values, (size_t)n * sizeof *y));
        for (int64_t k = n; k < 32; k++)
            ck_assert(y[k] == 1e9 + (double)k);
    }
    stc_program_free(p);
    stc_program_free(q);
    stc_tensor_free(a);
    stc_tensor_free(v);
    machine_shut(m, &h);
}
END_TEST

/* Less room than there are elements; another array; none; a result that was taken. */
START_TEST(other_arrays)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    const stc_decl d[] = {{.name = "A", .format = "csr"}, {.name = "x"}};
    double x[COLUMNS] = {1, 1, 1, 1, 1}, y[ROWS] = {9, 9, 9, 9}, z[ROWS] = {0};
    const stc_tensor *t;
    stc_tensor *taken;
    const void *at;
    int64_t n;
    stc_program *p;
    stc_tensor *a = sample_matrix(m, "csr"), *v = vector(m, x, COLUMNS);
    ck_ok(m, stc_compile(m, "y(i) = A(i,j) * x(j)", d, 2, &p));
    ck_ok(m, stc_bind(p, "A", a));
    ck_ok(m, stc_bind(p, "x", v));
    ck_ok(m, stc_lend_result(p, "y", y, ROWS - 1));
    ck_assert_int_eq(stc_run(p), STC_ERR_SHAPE);
    ck_assert(has_words(stc_error(m)->message, "result y has 4 elements|room for 3"));
    ck_assert_int_eq(stc_result(p, "y", &t), STC_ERR_ARGUMENT);
    ck_assert(y[3] == 9);
    ck_ok(m, stc_lend_result(p, "y", y, ROWS));
    ck_ok(m, stc_run(p));
    ck_assert(y[3] == wanted(3, x));
    ck_ok(m, stc_lend_result(p, "y", z, ROWS));
    ck_assert_int_eq(stc_result(p, "y", &t), STC_ERR_ARGUMENT);
    x[0] = 5;
    stc_tensor_touch_values(v);
    y[0] = y[1] = 9;
    ck_ok(m, stc_run(p));
    ck_assert(z[0] == wanted(0, x) && y[0] == 9 && y[1] == 9);
    ck_ok(m, stc_take(p, "y", &taken));
    ck_ok(m, stc_tensor_values(taken, &at, &n));
    ck_assert_ptr_eq(at, z);
    stc_tensor_free(taken);
    ck_assert(z[0] == wanted(0, x));
    ck_ok(m, stc_lend_result(p, "y", NULL, 0));
    z[0] = 9;
    ck_ok(m, stc_run(p));
    ck_ok(m, stc_result(p, "y", &t));
    ck_ok(m, stc_tensor_values(t, &at, &n));
    ck_assert(z[0] == 9 && ((const double *)at)[0] == wanted(0, x));
    stc_program_free(p);
    stc_tensor_free(a);
    stc_tensor_free(v);
    machine_shut(m, &h);
}
END_TEST

/* y += A x, in the array that y is bound with; and what names some elements alone. */
static const char *const updates[] = {
    "y(i) += A(i,j) * x(j)", "y(i) = y(i) + A(i,j) * x(j)", "y(i) max= B(i,j) * x(j)"};

START_TEST(updated_in_place)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    const stc_decl d[] = {{.name = "A", .format = "csr"},
                          {.name = "B", .format = "dcsr"},
                          {.name = "x"},
                          {.name = "y"}};
    double x[COLUMNS] = {1, 2, 3, 4, 5}, y[ROWS] = {1, -20, 3, 40}, want[ROWS];
    int64_t calls = 0;
    stc_program *p;
    const stc_tensor *t;
    const void *at;
    int64_t n;
    stc_tensor *a = sample_matrix(m, "csr"), *b = sample_matrix(m, "dcsr");
    stc_tensor *v = vector(m, x, COLUMNS), *yt = vector(m, y, ROWS);
    memcpy(want, y, sizeof y);
    ck_ok(m, stc_compile(m, updates[_i], d, 4, &p));
    if (_i < 2) ck_ok(m, stc_bind(p, "A", a));
    if (_i == 2) ck_ok(m, stc_bind(p, "B", b));
    ck_ok(m, stc_bind(p, "x", v));
    ck_ok(m, stc_lend_result(p, "y", y, ROWS));
    ck_ok(m, stc_bind(p, "y", yt));
    for (int round = 0; round < 5; round++) {
        ck_ok(m, stc_run(p));
        for (int i = 0; i < ROWS; i++) {
            for (int j = 0; j < COLUMNS && _i == 2; j++) {
                const double one = sample_dense[i * COLUMNS + j] * x[j];
                if (one > want[i]) want[i] = one;
            }
            if (_i < 2) want[i] += wanted(i, x);
            ck_assert_msg(y[i] == want[i], "round %d: %g, %g", round, y[i], want[i]);
        }
        ck_ok(m, stc_result(p, "y", &t));
        ck_ok(m, stc_tensor_values(t, &at, &n));
        ck_assert(n == ROWS && !memcmp(at, want, sizeof want));
        if (round == 1) calls = h.calls;
        x[round % COLUMNS] += 1;
        stc_tensor_touch_values(v);
    }
    if (_i < 2)
        ck_assert_msg(h.calls == calls, "%lld allocations", (long long)(h.calls - calls));
    stc_program_free(p);
    stc_tensor_free(a);
    stc_tensor_free(b);
    stc_tensor_free(v);
    stc_tensor_free(yt);
    machine_shut(m, &h);
}
END_TEST

/* A csr result in arrays of either width; too little room of each; another array. */
START_TEST(sparse)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    if (_i == 2) machine_share(m, 2);
    const stc_decl d[] = {{.name = "A", .format = "csr"}, {.name = "C", .format = "csr"}};
    int32_t pos[ROWS + 2];
    int64_t crd[32];
    double val[32];
    int64_t calls = 0;
    stc_program *p;
    const stc_tensor *t;
    stc_array got;
    stc_tensor *a = sample_matrix(m, "csr");
    ck_ok(m, stc_compile(m, _i ? "C(i,j) = 2 * A(i,j)" : "C(i,j) = A(i,k) * A(j,k)", d, 2,
                         &p));
    ck_ok(m, stc_bind(p, "A", a));
    ck_ok(m, stc_lend_result(p, "C", val, 32));
    ck_ok(m, stc_lend_result_array(p, "C", 1, STC_POS, (stc_array){pos, ROWS + 2, 4, 0}));
    ck_ok(m, stc_lend_result_array(p, "C", 1, STC_CRD, (stc_array){crd, 32, 8, 0}));
    for (int round = 0; round < 5; round++) {
        memset(pos, -1, sizeof pos);
        memset(crd, -1, sizeof crd);
        memset(val, -1, sizeof val);
        ck_ok(m, stc_run(p));
        int64_t n = 0;
        ck_assert_int_eq(pos[0], 0);
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < (_i ? COLUMNS : ROWS); j++) {
                double want = _i ? 2 * sample_dense[i * COLUMNS + j] : 0;
                for (int k = 0; k < COLUMNS && !_i; k++)
                    want += sample_dense[i * COLUMNS + k] * sample_dense[j * COLUMNS + k];
                if (want == 0) continue;
                ck_assert(n < pos[i + 1] && crd[n] == j && val[n] == want);
                n++;
                if (j == COLUMNS) ck_assert_int_eq(pos[i + 1], n);
            }
        ck_assert(n > 2 && pos[ROWS] == n && pos[ROWS + 1] == -1 && crd[n] == -1);
        ck_ok(m, stc_result(p, "C", &t));
        ck_ok(m, stc_tensor_array(t, 1, STC_CRD, &got));
        ck_assert_int_eq(got.length, n);
        if (round == 0) calls = h.calls;
    }
    if (_i < 2)
        ck_assert_msg(h.calls == calls, "%lld allocations", (long long)(h.calls - calls));
    ck_ok(m, stc_lend_result_array(p, "C", 1, STC_CRD, (stc_array){crd, 3, 8, 0}));
    val[0] = 99;
    ck_assert_int_eq(stc_run(p), STC_ERR_SHAPE);
    ck_assert(has_words(stc_error(m)->message, "result C|coordinates|room for 3"));
    ck_assert(val[0] == 99);
    ck_ok(m, stc_lend_result_array(p, "C", 1, STC_CRD, (stc_array){NULL, 0, 4, 0}));
    ck_ok(m, stc_lend_result(p, "C", val, 3));
    ck_assert_int_eq(stc_run(p), STC_ERR_SHAPE);
    ck_assert(has_words(stc_error(m)->message, "result C|elements|room for 3"));
    ck_ok(m, stc_lend_result(p, "C", NULL, 0));
    crd[0] = -5;
    ck_ok(m, stc_run(p));
    ck_assert(val[0] == 99 && crd[0] == -5);
    stc_program_free(p);
    stc_tensor_free(a);
    machine_shut(m, &h);
}
END_TEST

START_TEST(refusals)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    const stc_decl d[] = {{.name = "A", .format = "csr"}, {.name = "y", .format = "csr"}};
    double y[20];
    stc_program *p;
    ck_ok(m, stc_compile(m, "y(i,j) = A(i,j)", d, 2, &p));
    ck_assert_int_eq(stc_lend_result(NULL, "y", y, 20), STC_ERR_ARGUMENT);
    ck_assert_int_eq(stc_lend_result(p, NULL, y, 20), STC_ERR_ARGUMENT);
    ck_assert_int_eq(stc_lend_result(p, "y", y, -1), STC_ERR_ARGUMENT);
    ck_assert_int_eq(stc_lend_result(p, "A", y, 20), STC_ERR_ARGUMENT);
    ck_assert(has_words(stc_error(m)->message, "no result named A"));
    int32_t pos[5];
    const stc_array room = {pos, 5, 4, 0}, odd = {pos, 5, 3, 0};
    ck_assert_int_eq(stc_lend_result_array(p, "y", 0, STC_POS, room), STC_ERR_ARGUMENT);
    ck_assert(has_words(stc_error(m)->message, "y: a dense level has no array of role 0"));
    ck_assert_int_eq(stc_lend_result_array(p, "y", 2, STC_POS, room), STC_ERR_ARGUMENT);
    ck_assert_int_eq(stc_lend_result_array(p, "y", 1, STC_POS, odd), STC_ERR_ARGUMENT);
    ck_assert_int_eq(stc_lend_result_array(p, "A", 1, STC_POS, room), STC_ERR_ARGUMENT);
    stc_program_free(p);
    machine_shut(m, &h);
}
END_TEST

Suite *suite_lend_result(void)
{
    Suite *s = suite_create("lend_result");
    TCase *c = tcase_create("lend_result");
    tcase_add_loop_test(c, without_allocations, 0, 3);
    tcase_add_loop_test(c, as_without, 0, STATEMENTS);
    tcase_add_test(c, other_arrays);
    tcase_add_loop_test(c, updated_in_place, 0, 3);
    tcase_add_loop_test(c, sparse, 0, 3);
    tcase_add_test(c, refusals);
    suite_add_tcase(s, c);
    return s;
}
