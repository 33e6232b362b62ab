/* check_tensor.c: tensors through the public interface: packing in every
 * format, reading back, converting, borrowed arrays, and their checks. */
#include "check.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const formats2[] = {
    "dense",
    "csr",
    "csc",
    "dcsr",
    "dcsc",
    "coo",
    "csf",
    "bcsr(2,3)",
    "bcsr(3,2)",
    "csb(2,2)",
    "dia",
    "ell",
    "hash",
    "rle",
    "ds:1,0",
    "sd",
    "ss:1,0",
    "(i,j) -> (i : compressed(nonunique, interleaved), j : singleton)",
    "(i,j) -> (j : compressed(nonunique, index64), i : singleton(index64))",
    "(i,j) -> (i : dense, j : compressed(unordered))",
    "(i,j) -> (i : dense, j : compressed(nonunique))",
    "(i,j) -> (i : compressed(nonunique), j : dense)",
    "(i,j) -> (j : compressed(nonunique), i : hashed)",
    "(i,j) -> (flat(i,j) : compressed)",
    "(i,j) -> (i/2 : compressed, i%2 : dense, j : compressed)",
    "(i,j) -> (i : hashed, j : compressed)",
    "(i,j) -> (i : compressed, j : hashed)",
    "(i,j) -> (i : hashed(16), j : compressed)",
    "(i,j) -> (j : compressed, i : hashed(16))",
};
enum { FORMATS = sizeof formats2 / sizeof *formats2 };

static void same(const stc_tensor *t, const double *want, int64_t n, const char *what)
{
    void *dense = malloc((size_t)n * 16 + 16);
    ck_assert_int_eq(stc_tensor_to_dense(t, dense), STC_OK);
    for (int64_t k = 0; k < n; k++) {
        const double got = element(stc_tensor_type(t), dense, k);
        ck_assert_msg(got == want[k], "%s: element %lld is %g, expected %g", what,
                      (long long)k, got, want[k]);
    }
    free(dense);
}

START_TEST(every_format_holds)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    const char *f = formats2[_i];
    stc_tensor *t = sample_matrix(m, f);
    ck_ok(m, stc_tensor_check(t));
    same(t, sample_dense, 20, f);
    for (int64_t k = 0; k < 20; k++) {
        stc_value v;
        ck_ok(m, stc_tensor_get(t, (const int64_t[]){k / 5, k % 5}, &v));
        ck_assert_msg(v.f == sample_dense[k], "%s: get %lld", f, (long long)k);
    }
    for (int g = 0; g < FORMATS; g++) {
        stc_tensor *u;
        ck_ok(m, stc_tensor_convert(t, formats2[g], -1, &u));
        ck_ok(m, stc_tensor_check(u));
        same(u, sample_dense, 20, formats2[g]);
        stc_tensor_free(u);
    }
    stc_tensor_free(t);
    machine_shut(m, &h);
}
END_TEST

typedef struct tally {
    double sum;
    int64_t count;
} tally;

static int add_up(void *context, const int64_t *coords, stc_value v)
{
    tally *t = context;
    t->sum += v.f * (double)(1 + coords[0] * 10 + coords[1]);
    t->count++;
    return 0;
}

START_TEST(visiting)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    double want = 0;
    for (int k = 0; k < 20; k++)
        want += sample_dense[k] * (1 + k / 5 * 10 + k % 5);
    stc_tensor *t = sample_matrix(m, formats2[_i]);
    tally seen = {0, 0};
    ck_ok(m, stc_tensor_visit(t, add_up, &seen));
    ck_assert_msg(seen.sum == want, "%s: %g, expected %g", formats2[_i], seen.sum, want);
    ck_assert_int_ge(seen.count, 6); /* padding is left out, runs are spelled out */
    stc_tensor_free(t);
    machine_shut(m, &h);
}
END_TEST

START_TEST(duplicates_are_summed)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    const int64_t shape[] = {3, 3}, coords[] = {2, 0, 2, 1, 2, /**/ 1, 0, 1, 2, 1};
    const double vals[] = {1, 2, 10, 4, 100};
    const double want[] = {2, 0, 0, 0, 0, 4, 0, 111, 0};
    stc_tensor *t;
    ck_ok(m, stc_tensor_from_coords(m, formats2[_i], STC_F64, 2, shape, NULL, 5, coords,
                                    vals, &t));
    ck_ok(m, stc_tensor_check(t));
    same(t, want, 9, formats2[_i]);
    stc_tensor_free(t);
    machine_shut(m, &h);
}
END_TEST

START_TEST(fills)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    const int64_t shape[] = {2, 3}, coords[] = {1, 0, /**/ 2, 1};
    const double vals[] = {5, 7}, want[] = {INFINITY, 7, INFINITY, INFINITY, INFINITY, 5};
    const stc_value inf = {.f = INFINITY};
    stc_tensor *t;
    ck_ok(m, stc_tensor_from_coords(m, formats2[_i], STC_F64, 2, shape, &inf, 2, coords,
                                    vals, &t));
    ck_ok(m, stc_tensor_check(t));
    same(t, want, 6, formats2[_i]);
    ck_assert(stc_tensor_fill(t).f == INFINITY);
    stc_tensor_free(t);
    machine_shut(m, &h);
}
END_TEST

START_TEST(zero_sizes)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    static const int64_t shapes[][2] = {{0, 3}, {3, 0}, {0, 0}};
    for (int k = 0; k < 3; k++) {
        stc_tensor *t, *u;
        ck_ok(m, stc_tensor_new(m, formats2[_i], STC_F64, 2, shapes[k], NULL, &t));
        ck_ok(m, stc_tensor_check(t));
        ck_ok(m, stc_tensor_convert(t, "csr", STC_I8, &u));
        ck_assert_int_eq(stc_tensor_stored(u), 0);
        stc_tensor_free(t);
        stc_tensor_free(u);
    }
    machine_shut(m, &h);
}
END_TEST

START_TEST(scalars)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    const double v = 2.5;
    stc_tensor *t;
    ck_ok(m, stc_tensor_from_dense(m, "dense", STC_F64, 0, NULL, NULL, &v, &t));
    stc_value got;
    ck_ok(m, stc_tensor_get(t, NULL, &got));
    ck_assert(got.f == 2.5);
    ck_assert_int_eq(stc_tensor_order(t), 0);
    stc_tensor_free(t);
    machine_shut(m, &h);
}
END_TEST

START_TEST(too_large)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    const int64_t huge[] = {INT64_C(1) << 40, INT64_C(1) << 40}, negative[] = {3, -1};
    stc_tensor *t = (stc_tensor *)&h;
    ck_assert_int_ne(stc_tensor_new(m, "dense", STC_F64, 2, huge, NULL, &t), STC_OK);
    ck_assert_int_ne(stc_tensor_new(m, "csr", STC_F64, 2, negative, NULL, &t), STC_OK);
    ck_assert_ptr_eq(t, &h); /* outputs untouched */
    const int64_t at[] = {INT64_C(1) << 39, 5};
    const double one = 1;
    ck_ok(m, stc_tensor_from_coords(m, "dcsr", STC_F64, 2, huge, NULL, 1, at, &one, &t));
    stc_value v;
    ck_ok(m, stc_tensor_get(t, at, &v));
    ck_assert(v.f == 1);
    stc_tensor_free(t);
    machine_shut(m, &h);
}
END_TEST

/* ---- borrowed arrays ---------------------------------------------------------------- */

typedef struct arrays {
    int32_t pos[4], crd[5];
    double vals[5];
} arrays;

static stc_tensor *lend(stc_machine *m, arrays *a, const char *name)
{
    const int64_t shape[] = {3, 4};
    stc_tensor *t;
    ck_ok(m, stc_tensor_new(m, name, STC_F64, 2, shape, NULL, &t));
    ck_ok(m, stc_tensor_lend(t, 1, STC_POS, (stc_array){a->pos, 4, 4, 0}));
    ck_ok(m, stc_tensor_lend(t, 1, STC_CRD, (stc_array){a->crd, 5, 4, 0}));
    ck_ok(m, stc_tensor_lend_values(t, a->vals, 5));
    return t;
}

static const arrays sound = {{0, 2, 2, 5}, {1, 3, 0, 2, 3}, {1, 2, 3, 4, 5}};

START_TEST(lent_arrays)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    arrays a = sound;
    stc_tensor *t = lend(m, &a, "csr");
    ck_ok(m, stc_tensor_check(t));
    const double want[] = {0, 1, 0, 2, 0, 0, 0, 0, 3, 0, 4, 5};
    same(t, want, 12, "lent");
    stc_array back;
    ck_ok(m, stc_tensor_array(t, 1, STC_CRD, &back));
    ck_assert_ptr_eq(back.data, a.crd);
    a.vals[0] = 9;
    stc_tensor_touch(t);
    stc_value v;
    ck_ok(m, stc_tensor_get(t, (const int64_t[]){0, 1}, &v));
    ck_assert(v.f == 9);
    a.vals[0] = 8;
    stc_tensor_touch_values(t);
    ck_ok(m, stc_tensor_get(t, (const int64_t[]){0, 1}, &v));
    ck_assert(v.f == 8);
    a.crd[0] = 7; /* as only values were said to differ, indices aren't looked at */
    stc_tensor_touch_values(t);
    ck_ok(m, stc_tensor_check(t));
    stc_tensor_touch(t);
    ck_assert_int_eq(stc_tensor_check(t), STC_ERR_DATA);
    stc_tensor_touch_values(t); /* what isn't sound doesn't become so */
    ck_assert_int_eq(stc_tensor_check(t), STC_ERR_DATA);
    stc_tensor_free(t);
    machine_shut(m, &h);
}
END_TEST

/* Every claim of csr, broken in turn. */
START_TEST(broken_claims)
{
    arrays a = sound;
    switch (_i) {
    case 0:
        a.pos[0] = 1;
        break;
    case 1:
        a.pos[1] = 3, a.pos[2] = 2;
        break;
    case 2:
        a.pos[3] = 6;
        break;
    case 3:
        a.pos[3] = 4;
        break;
    case 4:
        a.crd[0] = -1;
        break;
    case 5:
        a.crd[4] = 4;
        break;
    case 6:
        a.crd[0] = 3, a.crd[1] = 1;
        break;
    case 7:
        a.crd[1] = 1;
        break;
    case 8:
        a.pos[1] = -1;
        break;
    case 9:
        a.pos[3] = INT32_MAX;
        break;
    default:
        break;
    }
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_tensor *t = lend(m, &a, "csr");
    const stc_status st = stc_tensor_check(t);
    ck_assert_msg(st == STC_ERR_DATA, "case %d: %s", _i, stc_status_name(st));
    ck_assert(stc_error(m)->message[0] != 0);
    stc_tensor_free(t);
    machine_shut(m, &h);
}
END_TEST

START_TEST(allowed_by_flags)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    arrays a = sound;
    a.crd[0] = 3, a.crd[1] = 1;
    stc_tensor *t = lend(m, &a, "(i,j) -> (i : dense, j : compressed(unordered))");
    ck_ok(m, stc_tensor_check(t));
    stc_tensor_free(t);
    arrays b = sound;
    b.crd[1] = 1;
    t = lend(m, &b, "(i,j) -> (i : dense, j : compressed(nonunique))");
    ck_ok(m, stc_tensor_check(t));
    stc_value v;
    ck_ok(m, stc_tensor_get(t, (const int64_t[]){0, 1}, &v));
    ck_assert(v.f == 3);
    stc_tensor_free(t);
    machine_shut(m, &h);
}
END_TEST

START_TEST(wrong_arrays)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    arrays a = sound;
    stc_tensor *t = lend(m, &a, "csr");
    const stc_array odd = {a.crd, 5, 3, 0}, none = {NULL, 5, 4, 0},
                    minus = {a.crd, -5, 4, 0};
    ck_assert_int_ne(stc_tensor_lend(t, 1, STC_CRD, odd), STC_OK);
    ck_assert_int_ne(stc_tensor_lend(t, 1, STC_CRD, none), STC_OK);
    ck_assert_int_ne(stc_tensor_lend(t, 1, STC_CRD, minus), STC_OK);
    ck_assert_int_ne(stc_tensor_lend(t, 7, STC_CRD, odd), STC_OK);
    ck_assert_int_ne(stc_tensor_lend(t, 0, STC_CRD, (stc_array){a.crd, 5, 4, 0}), STC_OK);
    ck_assert_int_ne(stc_tensor_get(t, (const int64_t[]){3, 0}, &(stc_value){.i = 0}),
                     STC_OK);
    stc_tensor_free(t);
    machine_shut(m, &h);
}
END_TEST

Suite *suite_tensor(void)
{
    Suite *s = suite_create("tensor");
    TCase *c = tcase_create("tensor");
    tcase_add_loop_test(c, every_format_holds, 0, FORMATS);
    tcase_add_loop_test(c, visiting, 0, FORMATS);
    tcase_add_loop_test(c, duplicates_are_summed, 0, FORMATS);
    tcase_add_loop_test(c, fills, 0, FORMATS);
    tcase_add_loop_test(c, zero_sizes, 0, FORMATS);
    tcase_add_test(c, scalars);
    tcase_add_test(c, too_large);
    tcase_add_test(c, lent_arrays);
    tcase_add_loop_test(c, broken_claims, 0, 10);
    tcase_add_test(c, allowed_by_flags);
    tcase_add_test(c, wrong_arrays);
    suite_add_tcase(s, c);
    return s;
}
