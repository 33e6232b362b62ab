/* check_iter.c: the stored entries of tensors of every format in blocks of every size, as
 * stc_tensor_visit has them; nothing is allocated on the way; what is refused.
 */
#include "check.h"
#include <stdlib.h>
#include <string.h>

enum { MOST = 4000 };

typedef struct list {
    int64_t n, coord[3][MOST];
    stc_value v[MOST];
    int order;
} list;

static int note(void *context, const int64_t *coords, stc_value v)
{
    list *l = context;
    ck_assert_int_lt(l->n, MOST);
    for (int k = 0; k < l->order; k++)
        l->coord[k][l->n] = coords[k];
    l->v[l->n++] = v;
    return 0;
}

static void blocks_are(stc_machine *m, const heap *h, const stc_tensor *t, const list *want,
                       int64_t most)
{
    stc_iter *it;
    stc_block b = {.count = -1};
    int64_t n = 0;
    ck_ok(m, stc_iter_open(t, most, &it));
    const int64_t calls = h->calls;
    for (;;) {
        ck_ok(m, stc_iter_next(it, &b));
        if (!b.count) break;
        ck_assert_int_le(b.count, most ? most : INT64_MAX);
        for (int64_t e = 0; e < b.count; e++, n++) {
            ck_assert_int_lt(n, want->n);
            for (int k = 0; k < want->order; k++)
                ck_assert_msg(b.coord[k][e] == want->coord[k][n],
                              "%s by %lld: entry %lld has coordinate %lld in mode %d",
                              stc_tensor_format(t), (long long)most, (long long)n,
                              (long long)b.coord[k][e], k);
            ck_assert(((const float *)b.values)[e] == (float)want->v[n].f);
        }
    }
    ck_assert_msg(n == want->n, "%s by %lld: %lld entries, not %lld", stc_tensor_format(t),
                  (long long)most, (long long)n, (long long)want->n);
    ck_ok(m, stc_iter_next(it, &b));
    ck_assert_int_eq(b.count, 0);
    ck_assert_ptr_null(b.coord[want->order]);
    ck_assert_int_eq(h->calls, calls);
    stc_iter_free(it);
}

static const struct {
    const char *name;
    int order;
} kinds[] = {
    {"dense", 1},
    {"svec", 1},
    {"rle", 1},
    {"lz77", 1},
    {"(i) -> (i : bytemap)", 1},
    {"(i) -> (i : compressed(nonunique))", 1},
    {"(i,j) -> (i : compressed(nonunique), j : dense)", 2},
    {"csr", 2},
    {"csc", 2},
    {"dcsr", 2},
    {"dcsc", 2},
    {"coo", 2},
    {"bcsr(2,3)", 2},
    {"csb(4,4)", 2},
    {"dia", 2},
    {"ell", 2},
    {"hash", 2},
    {"rle", 2},
    {"lz77", 2},
    {"dense", 2},
    {"(i,c) -> (i : rle, c : dense)", 2},
    {"(i,j) -> (j : compressed, i : dense)", 2},
    {"csf", 3},
    {"coo", 3},
    {"dense", 3},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

START_TEST(as_visited)
{
    static const int64_t sizes[] = {1, 2, 3, 7, 64, 1000, 5000, 0};
    static const int64_t shape[3][3] = {{600}, {31, 23}, {9, 8, 7}};
    static list want;
    heap h;
    stc_machine *m = machine_open(&h, false);
    const int order = kinds[_i].order;
    float dense[31 * 23] = {0};
    for (int k = 0; k < 31 * 23; k++) /* runs, periods, and gaps */
        dense[k] = (float)(k % 50 < 11 ? 3 : k % 50 < 30 ? k % 3 : k % 7 == 1 ? k : 0);
    stc_tensor *t;
    ck_ok(m, stc_tensor_from_dense(m, kinds[_i].name, STC_F32, order, shape[order - 1],
                                   NULL, dense, &t));
    want.n = 0;
    want.order = order;
    ck_ok(m, stc_tensor_visit(t, note, &want));
    ck_assert_int_gt(want.n, 100);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        blocks_are(m, &h, t, &want, sizes[k]);
    for (int64_t k = 0; k < 3; k++)
        blocks_are(m, &h, t, &want, want.n - 1 + k);
    stc_tensor_free(t);
    machine_shut(m, &h);
}
END_TEST

/* More entries than the walk takes at once. */
START_TEST(of_a_long_fiber)
{
    static const char *const name[] = {"dense", "svec", "coo", "rle", "hash"};
    enum { LONG = 30011 };
    static double values[LONG];
    heap h;
    stc_machine *m = machine_open(&h, false);
    for (int k = 0; k < LONG; k++)
        values[k] = 1 + k / 5;
    for (int f = 0; f < 5; f++) {
        const int64_t shape[] = {LONG}, most = f % 2 ? 4097 : 10000;
        stc_tensor *t;
        stc_iter *it;
        stc_block b;
        int64_t n = 0, sum = 0;
        ck_ok(m, stc_tensor_from_dense(m, name[f], STC_F64, 1, shape, NULL, values, &t));
        ck_ok(m, stc_iter_open(t, most, &it));
        do {
            ck_ok(m, stc_iter_next(it, &b));
            ck_assert_int_eq(b.count, LONG - n < most ? LONG - n : most);
            for (int64_t e = 0; e < b.count; e++) {
                ck_assert(((const double *)b.values)[e] == values[b.coord[0][e]]);
                sum += b.coord[0][e];
            }
            n += b.count;
        } while (b.count);
        ck_assert_int_eq(n, LONG);
        ck_assert_int_eq(sum, (int64_t)LONG * (LONG - 1) / 2);
        stc_iter_free(it);
        stc_tensor_free(t);
    }
    machine_shut(m, &h);
}
END_TEST

START_TEST(of_scalars_and_nothing)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    const int64_t none[] = {5, 0};
    stc_tensor *t;
    stc_iter *it;
    stc_block b;
    const double v = 7;
    ck_ok(m, stc_tensor_from_dense(m, "dense", STC_F64, 0, NULL, NULL, &v, &t));
    ck_ok(m, stc_iter_open(t, 1, &it));
    ck_ok(m, stc_iter_next(it, &b));
    ck_assert_int_eq(b.count, 1);
    ck_assert(*(const double *)b.values == 7);
    ck_ok(m, stc_iter_next(it, &b));
    ck_assert_int_eq(b.count, 0);
    stc_iter_free(it);
    stc_tensor_free(t);
    ck_ok(m, stc_tensor_new(m, "csr", STC_I8, 2, none, NULL, &t));
    ck_ok(m, stc_iter_open(t, 0, &it));
    ck_ok(m, stc_iter_next(it, &b));
    ck_assert_int_eq(b.count, 0);
    stc_iter_free(it);
    stc_tensor_free(t);
    machine_shut(m, &h);
}
END_TEST

START_TEST(refusals)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_tensor *t = sample_matrix(m, "csr");
    stc_iter *it = NULL;
    stc_block b = {.count = 77};
    ck_assert_int_eq(stc_iter_open(NULL, 1, &it), STC_ERR_ARGUMENT);
    ck_assert_int_eq(stc_iter_open(t, 1, NULL), STC_ERR_ARGUMENT);
    ck_assert_int_eq(stc_iter_open(t, -1, &it), STC_ERR_ARGUMENT);
    ck_assert(has_words(stc_error(m)->message, "-1|1 or more"));
    ck_assert_int_eq(stc_iter_open(t, INT64_MAX, &it), STC_ERR_OVERFLOW);
    ck_assert_ptr_null(it);
    ck_ok(m, stc_iter_open(t, 2, &it));
    ck_assert_int_eq(stc_iter_next(it, NULL), STC_ERR_ARGUMENT);
    stc_tensor_touch(t);
    ck_assert_int_eq(stc_iter_next(it, &b), STC_ERR_ARGUMENT);
    ck_assert(has_words(stc_error(m)->message, "has changed"));
    ck_assert_int_eq(b.count, 77);
    ck_assert_int_eq(stc_iter_next(NULL, &b), STC_ERR_ARGUMENT);
    stc_iter_free(it);
    stc_iter_free(NULL);
    stc_tensor_free(t);
    machine_shut(m, &h);
}
END_TEST

Suite *suite_iter(void)
{
    Suite *s = suite_create("iter");
    TCase *c = tcase_create("iter");
    tcase_add_loop_test(c, as_visited, 0, KINDS);
    tcase_add_test(c, of_a_long_fiber);
    tcase_add_test(c, of_scalars_and_nothing);
    tcase_add_test(c, refusals);
    suite_add_tcase(s, c);
    return s;
}
