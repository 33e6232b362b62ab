/* check_csv.c: text tables: headings, quotes, what is missing, and what is written coming
 * back as it was. */
#include "check.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char csv[SCRATCH_PATH], tsv[SCRATCH_PATH];

static void setup(void)
{
    scratch(csv, "t.csv");
    scratch(tsv, "t.tsv");
}

static void teardown(void)
{
    unlink(csv);
    unlink(tsv);
}

static void spill(const char *path, const char *text)
{
    FILE *f = fopen(path, "wb");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(text, 1, strlen(text), f), strlen(text));
    fclose(f);
}

START_TEST(tables)
{
    static const struct {
        const char *text;
        stc_type type;
        int64_t shape[2];
        double want[6];
    } file[] = {
        {"1,2,3\n4,5,6\n", STC_I64, {2, 3}, {1, 2, 3, 4, 5, 6}},
        {"1,2,3\r\n\r\n4,5,6", STC_I64, {2, 3}, {1, 2, 3, 4, 5, 6}},
        {"a,b\n1.5,-2\n3,4e2\n", STC_F64, {2, 2}, {1.5, -2, 3, 400}},
        {"\"a, with \"\"quotes\"\"\",\"b\nc\"\n\"1\", \"2.5\" \n",
         STC_F64,
         {1, 2},
         {1, 2.5}},
        {"\xef\xbb\xbf"
         "x\n7\n8\n",
         STC_I64,
         {2, 1},
         {7, 8}},
        {"1,,3\n NA ,5,\"\"\n", STC_I64, {2, 3}, {1, 0, 3, 0, 5, 0}},
        {"i,j,value\n2,1,5\n0,0,1.5\n", STC_F64, {3, 2}, {1.5, 0, 0, 0, 0, 5}},
        {"i:2,j:3,value:i16\n0,2,5\n1,0,\n1,1,NA\n", STC_I16, {2, 3}, {0, 0, 5}},
        {"value,i\n1,2\n", STC_I64, {1, 2}, {1, 2}},
    };
    heap h;
    stc_machine *m = machine_open(&h, false);
    for (size_t k = 0; k < sizeof file / sizeof *file; k++) {
        stc_tensor *t;
        double got[6] = {0};
        char dense[6 * 8] = {0};
        spill(csv, file[k].text);
        ck_ok(m, stc_tensor_read(m, csv, "dense", -1, NULL, &t));
        ck_assert_int_eq(t->type, file[k].type);
        ck_assert_int_eq(t->order, 2);
        ck_assert_mem_eq(t->shape, file[k].shape, sizeof file[k].shape);
        ck_ok(m, stc_tensor_to_dense(t, dense));
        for (int i = 0; i < t->shape[0] * t->shape[1]; i++)
            got[i] = element(t->type, dense, i);
        ck_assert_mem_eq(got, file[k].want, sizeof got);
        stc_tensor_free(t);
    }
    machine_shut(m, &h);
}
END_TEST

/* What is missing is the fill, not stored. */
START_TEST(missing)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    const stc_value one = {.f = 1};
    stc_tensor *t;
    double got[4];
    spill(csv, "5,\n,6\n");
    ck_ok(m, stc_tensor_read(m, csv, "csr", STC_F64, &one, &t));
    ck_assert_int_eq(stc_tensor_stored(t), 2);
    ck_ok(m, stc_tensor_to_dense(t, got));
    ck_assert(got[0] == 5 && got[1] == 1 && got[2] == 1 && got[3] == 6);
    stc_tensor_free(t);
    machine_shut(m, &h);
}
END_TEST

/* Entries of all types and orders come back; so do tables of i64 and f64. */
START_TEST(again)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    for (int type = 0; type < TYPE_COUNT; type++)
        for (int dense = 0; dense < 2; dense++)
            for (int tabs = 0; tabs < 2; tabs++) {
                const char *path = tabs ? tsv : csv;
                stc_tensor *s = sample_matrix(m, "csr"), *a, *b, *x, *y;
                ck_ok(m, stc_tensor_convert(s, dense ? "dense" : "csr", type, &a));
                ck_ok(m, stc_tensor_write(a, path));
                ck_ok(m, stc_tensor_read(m, path, NULL, -1, NULL, &b));
                const bool told = !dense || type_is_complex((stc_type)type);
                if (told || type == STC_I64 || type == STC_F64)
                    ck_assert_int_eq(a->type, b->type);
                ck_ok(m, stc_tensor_convert(a, "dense", -1, &x));
                ck_ok(m, stc_tensor_convert(b, "dense", type, &y));
                ck_assert_mem_eq(x->shape, y->shape, 2 * sizeof *x->shape);
                ck_assert_mem_eq(x->vals, y->vals, (size_t)x->nvals * type_size(x->type));
                stc_tensor_free(s);
                stc_tensor_free(a);
                stc_tensor_free(b);
                stc_tensor_free(x);
                stc_tensor_free(y);
            }
    machine_shut(m, &h);
}
END_TEST

Suite *suite_csv(void)
{
    Suite *s = suite_create("csv");
    TCase *c = tcase_create("csv");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, tables);
    tcase_add_test(c, missing);
    tcase_add_test(c, again);
    suite_add_tcase(s, c);
    return s;
}
