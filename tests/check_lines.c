/* check_lines.c: entries read in blocks, on any number of threads, are those of the text,
 * whatever lines stand between ordinary ones; and a fault is told where it is. Large files
 * are read while they are parsed, in blocks as small as a machine's grain says: what comes
 * of them, and what is told of them, is the same as of files in memory. */
#include "check.h"
#include "../src/api/api.h"
#include "../src/io/number.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINES = 300000, ROWS = 1000 };

static char path[SCRATCH_PATH];

static void setup(void)
{
    scratch(path, "t.mtx");
}

static void teardown(void)
{
    unlink(path);
}

/* The i-th value as text: usual ones, and some that need every way of reading numbers. */
static void value_text(int i, char text[64])
{
    static const char *const odd[] = {"1e-300",
                                      "-0",
                                      "123456789012345678901234567890",
                                      "0.000123456789012345678",
                                      "1D3",
                                      "+5.5",
                                      "4.9e-324",
                                      "1e400",
                                      "12345678",
                                      ".5",
                                      "5.",
                                      "9007199254740993",
                                      "inf",
                                      "-nan",
                                      "0.1e+00005",
                                      "7e-0003"};
    if (i % 1000 < 16)
        snprintf(text, 64, "%s", odd[i % 1000]);
    else
        snprintf(text, 64, "%.*g", 1 + i % 17, (i % 7 - 3) * 1.23456789012345678 / (1 + i));
}

static double value_of(int i)
{
    char text[64];
    value_text(i, text);
    for (char *p = text; *p; p++)
        if (*p == 'D') *p = 'e';
    return strtod(text, NULL);
}

/* LINES entries, (i % ROWS, i / ROWS); now and then a line that isn't ordinary. */
static void write_lines(const char *field, int fault)
{
    FILE *f = fopen(path, "wb");
    ck_assert_ptr_nonnull(f);
    fprintf(f, "%%%%MatrixMarket matrix coordinate %s general\n%d %d %d\n", field, ROWS,
            LINES / ROWS, LINES);
    for (int i = 0; i < LINES; i++) {
        char text[64];
        value_text(i, text);
        if (*field == 'i') snprintf(text, sizeof text, "%d", i - 7);
        if (*field == 'p') *text = 0;
        if (i % 50000 == 49999) fprintf(f, "%% a comment\n\n");
        if (i == fault) fprintf(f, "%d x %s\n", i % ROWS + 1, text);
        fprintf(f, "%s%d %s%d%s%s%s", i % 77777 ? "" : " \t", i % ROWS + 1,
                i % 3 ? "" : "\t ", i / ROWS + 1, *text ? " " : "", text,
                i % 33333 ? "\n" : " \r\n");
    }
    fclose(f);
}

/* Every field, on one thread and on several. */
START_TEST(any_lines)
{
    static const char *const fields[] = {"real", "integer", "pattern"};
    const char *field = fields[_i];
    write_lines(field, -1);
    for (int threads = 1; threads < 5; threads++) {
        const stc_config config = {.threads = threads};
        stc_machine *m;
        stc_tensor *t;
        ck_assert_int_eq(stc_open(&config, &m), STC_OK);
        ck_ok(m, stc_tensor_read(m, path, "dense", STC_F64, NULL, &t));
        const double *v = t->vals;
        for (int i = 0; i < LINES; i++) {
            const double got = v[i % ROWS * (LINES / ROWS) + i / ROWS];
            const double want = *field == 'r' ? value_of(i) : *field == 'i' ? i - 7 : 1;
            ck_assert_msg(got == want || (got != got && want != want),
                          "entry %d is %.17g, expected %.17g", i, got, want);
        }
        stc_tensor_free(t);
        stc_close(m);
    }
}
END_TEST

START_TEST(faults_are_placed)
{
    static const int faults[] = {0, 1, 70000, 150001, LINES - 1};
    const int fault = faults[_i];
    write_lines("real", fault);
    for (int threads = 1; threads < 4; threads++) {
        const stc_config config = {.threads = threads};
        stc_machine *m;
        stc_tensor *t;
        ck_assert_int_eq(stc_open(&config, &m), STC_OK);
        ck_assert_int_eq(stc_tensor_read(m, path, NULL, -1, NULL, &t), STC_ERR_DATA);
        ck_assert(has_words(stc_error(m)->message, "found 'x', expected a column index"));
        ck_assert_int_eq(stc_error(m)->line, 3 + fault + 2 * ((fault + 1) / 50000));
        stc_close(m);
    }
}
END_TEST

/* More entries than the header claims, and fewer. */
START_TEST(counts)
{
    static const char *const heads[] = {"1 1 2\n", "1 1 4\n"};
    heap h;
    stc_machine *m = machine_open(&h, false);
    for (int k = 0; k < 2; k++) {
        stc_tensor *t;
        FILE *f = fopen(path, "wb");
        fprintf(f, "%%%%MatrixMarket matrix coordinate real general\n%s", heads[k]);
        fputs("1 1 1\n1 1 2\n1 1 3\n", f);
        fclose(f);
        ck_assert_int_eq(stc_tensor_read(m, path, NULL, -1, NULL, &t), STC_ERR_DATA);
        ck_assert(has_words(stc_error(m)->message,
                            k ? "claims 4 entries, the file ends after 3"
                              : "expected the end of the file after 2 entries"));
    }
    machine_shut(m, &h);
}
END_TEST

/* ---- files that aren't held ----------------------------------------------------- */

#define HEAD "%%MatrixMarket matrix coordinate "

/* A file: its ending, what it begins with, a line again and again with i in it, what it
 * ends with. */
typedef struct streamed {
    const char *ending, *head, *line, *tail;
    int lines;
} streamed;

static const streamed streams[] = {
    {".mtx", HEAD "real general\n400 400 300\n", "%d 7 %d.25e-1\n", "", 300},
    {".mtx", HEAD "real general\n400 400 300\n", "%d 7 %d.5\r\n", "\n \n\t\n", 300},
    {".mtx", HEAD "integer general\n400 400 301\n", "%d 7 -%d\n", "7 7 5", 300},
    {".mtx", HEAD "pattern general\n400 400 302\n", "%d %d\n", "7 7\n7 7", 300},
    {".mtx", HEAD "real symmetric\n400 400 301\n", "%d 1 %d\n", "400 399 2\n", 300},
    {".mtx", HEAD "integer skew-symmetric\n999 999 300\n", "1%02d 1 %d\n", "", 300},
    {".mtx", HEAD "integer skew-symmetric\n999 999 301\n", "1%02d 1 %d\n", "5 5 1\n", 300},
    {".mtx", HEAD "real symmetric\n400 400 301\n", "%d 1 %d\n", "3 4 1\n", 300},
    {".mtx", HEAD "real general\n400 400 301\n", "%d 7 %d\n", "%% late\n7 7 1\n", 300},
    {".mtx", HEAD "real general\n400 400 300\n", "%d 7 %d\n", "7 7 1\n", 300},
    {".mtx", HEAD "real general\n400 400 400\n", "%d 7 %d\n", "", 300},
    {".mtx", HEAD "real general\n400 400 301\n", "%d 7 %d\n", "401 7 1\n", 300},
    {".mtx", HEAD "real general\n400 400 301\n", "%d 7 %d\n", "0 7 1\n", 300},
    {".mtx", HEAD "real general\n400 400 301\n", "%d 7 %d\n\n", "1 7 1\n", 300},
    {".mtx", HEAD "real general\n400 9999999999 300\n", "%d 7 %d\n", "", 300},
    {".mtx", HEAD "real general\n1 400 300\n", "1 %d %d\n", "", 300},
    {".csv", "i:400,j:400,value:f64\n", "%d,7,%d.5\n", "", 300},
    {".csv", "i,j,value\n", "%d,7,-%d\n", "8,8,1", 300},
    {".csv", "i,j,value:i64\n", "%d,7,%d\n", "8,8,NA\n", 300},
    {".csv", "i,j,value\n", "%d,7,%d\n", "\"8\",8,1\n", 300},
    {".csv", "i:8,value\n", "%d,1\n", "", 300},
    {".tsv", "i\tj\tk\tvalue\n", "%d\t7\t%d\t3\n", "\n", 300},
    {".csv", "", "%d,%d\n", "", 300},
    {".csv", "a,b,c\n\n", "%d,%d.5,-3e2\n", "", 300},
    {".tsv", "", "%d\t%d\t\n", "", 300},
    {".csv", "", "%d,%d,7\n", "8,9,1.5\n", 300},
    {".csv", "", "%d,%d.5,7\n", "8,9\n", 300},
    {".csv", "", "%d,%d.5,7\n", "8,9,10,11\n", 300},
    {".csv", "", "%d,%d.5,7\n\n", "\r\n", 300},
};

static void write_stream(const streamed *f)
{
    FILE *to = fopen(path, "wb");
    ck_assert_ptr_nonnull(to);
    fputs(f->head, to);
    for (int i = 0; i < f->lines; i++)
        fprintf(to, f->line, 1 + i * 7 % f->lines, i);
    fputs(f->tail, to);
    fclose(to);
}

/* Reads the file in blocks of `grain` bytes, 0: as files of its size are. */
static stc_status read_stream(stc_machine *m, int64_t grain, stc_tensor **t)
{
    m->cx.grain = grain;
    return stc_tensor_read(m, path, NULL, -1, NULL, t);
}

static void same_tensors(const stc_tensor *a, const stc_tensor *b)
{
    ck_assert(format_equal(&a->fmt, &b->fmt));
    ck_assert_int_eq(a->type, b->type);
    ck_assert_mem_eq(a->shape, b->shape, (size_t)a->order * sizeof *a->shape);
    ck_assert_int_eq(a->nvals, b->nvals);
    ck_assert_mem_eq(a->vals, b->vals, (size_t)a->nvals * stc_type_size(a->type));
    for (int l = 0; l < a->fmt.levels; l++)
        for (int r = 0; r < 3; r++) {
            const index_array *x = &a->level[l].a[r], *y = &b->level[l].a[r];
            ck_assert_int_eq(x->len, y->len);
            bool same = true;
            for (int64_t k = 0; k < x->len; k++)
                same &= index_get(x, k) == index_get(y, k);
            ck_assert(same);
        }
}

START_TEST(blocks_of_files)
{
    static const int64_t grains[] = {1, 3, 40, 64, 100, 999, 3000, 10000};
    const streamed *f = &streams[_i];
    scratch(path, f->ending);
    write_stream(f);
    for (int threads = 1; threads < 5; threads++) {
        const stc_config config = {.threads = threads};
        stc_machine *m;
        stc_tensor *want = NULL, *got = NULL;
        ck_assert_int_eq(stc_open(&config, &m), STC_OK);
        const stc_status status = read_stream(m, 0, &want);
        const int line = stc_error(m)->line;
        char told[256];
        snprintf(told, sizeof told, "%s", stc_error(m)->message);
        for (size_t g = 0; g < sizeof grains / sizeof *grains; g++) {
            ck_assert_int_eq(read_stream(m, grains[g], &got), status);
            if (status) {
                ck_assert_str_eq(stc_error(m)->message, told);
                ck_assert_int_eq(stc_error(m)->line, line);
                continue;
            }
            same_tensors(want, got);
            stc_tensor_free(got);
        }
        if (!status) stc_tensor_free(want);
        stc_close(m);
    }
}
END_TEST

/* ---- numbers ------------------------------------------------------------------------- */

static uint64_t drawn(uint64_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    *s ^= *s << 17;
    return *s;
}

/* The kinds: any digits and exponent; a double's own digits; an odd number of 54 bits,
 * which lies in the middle of two doubles, its double, five times and ten times it, and
 * what is next to these. */
static void number_text(uint64_t *s, int kind, char text[64])
{
    const int exponent = (int)(drawn(s) % 700) - 360;
    uint64_t w = drawn(s) >> drawn(s) % 64;
    double d;
    if (kind == 1) {
        memcpy(&d, &w, sizeof d);
        snprintf(text, 64, "%.*e", (int)(drawn(s) % 19), d == d ? d : 1.5);
        return;
    }
    if (kind == 2) {
        w = drawn(s) >> 10 | 1 | (uint64_t)1 << 53;
        for (int n = (int)(drawn(s) % 5); n > 0; n--)
            w *= 5;
        w += drawn(s) % 3 - 1;
        snprintf(text, 64, "%llue%d", (unsigned long long)w, -(int)(drawn(s) % 5));
        return;
    }
    snprintf(text, 64, "%llue%d", (unsigned long long)w, exponent);
}

/* Each is the double that the C library makes of it. */
START_TEST(numbers_are_exact)
{
    uint64_t seed = 88172645463325252;
    for (int i = 0; i < 600000; i++) {
        char text[64];
        double got;
        number_text(&seed, i % 3, text);
        const char *const end = scan_f64(text, &got);
        const double want = strtod(text, NULL);
        if (end && !memcmp(&got, &want, sizeof got)) continue; /* an assertion takes long */
        ck_abort_msg("%s is %a, expected %a", text, got, want);
    }
}
END_TEST

Suite *suite_lines(void)
{
    Suite *s = suite_create("lines");
    TCase *c = tcase_create("lines");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, any_lines, 0, 3);
    tcase_add_loop_test(c, faults_are_placed, 0, 5);
    tcase_add_test(c, counts);
    tcase_add_loop_test(c, blocks_of_files, 0, sizeof streams / sizeof *streams);
    tcase_add_test(c, numbers_are_exact);
    suite_add_tcase(s, c);
    return s;
}
