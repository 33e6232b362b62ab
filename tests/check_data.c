/* check_data.c: real matrices and tensors against reference numbers that other
 * software computed (REF_matrices.tsv, REF_tensors.tsv in the data folder),
 * in several formats; and the verdicts of its collection of bad files.
 * Files that the folder lacks are skipped, and said so. */
#include "check.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- tables ------------------------------------------------------------------------ */

typedef struct line {
    char *field[16];
    int count;
} line;

/* Splits a .tsv into lines; `text` owns the fields. */
static int read_table(const char *name, char **text, line *out, int max)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", data_dir(), name);
    *text = read_text(path, NULL);
    ck_assert_msg(*text, "%s", path);
    int n = 0;
    char *at = strchr(*text, '\n'); /* after the heading */
    while (at && n < max && *++at) {
        line *l = &out[n++];
        l->count = 0;
        char *end = strchr(at, '\n');
        if (end) *end = 0;
        for (char *f = at; f && l->count < 16;) {
            l->field[l->count++] = f;
            f = strchr(f, '\t');
            if (f) *f++ = 0;
        }
        at = end;
    }
    return n;
}

static bool near(double got, double want)
{
    return fabs(got - want) <= 1e-9 * fabs(want) + 1e-9;
}

static void run(stc_machine *m, stc_session *s, const char *text)
{
    const stc_status st = stc_session_exec(s, text, "test");
    ck_assert_msg(st == STC_OK, "%s\n%s", text, stc_error(m)->message);
}

/* ---- matrices ----------------------------------------------------------------------- */

static const char *const matrices[] = {
    "1138_bus.mtx", "bcsstk13.mtx",   "GD01_b.mtx",   "LFAT5.mtx",    "Erdos971.mtx",
    "ash219.mtx",   "10x_subset.mtx", "bcspwr01.mtx", "bcspwr10.mtx", "Ragusa16.mtx",
    "Trec4.mtx",    "bfwa62.mtx",     "karate.mtx",
};
enum { MATRICES = sizeof matrices / sizeof *matrices };

static const line *row_of(const line *l, int n, const char *file)
{
    for (int k = 0; k < n; k++)
        if (strcmp(l[k].field[0], file) == 0) return &l[k];
    return NULL;
}

static void matrix_sums(stc_machine *m, const line *l, const char *name)
{
    char text[1500];
    stc_session *s;
    ck_ok(m, stc_session_open(m, &s));
    const long long rows = atoll(l->field[1]), cols = atoll(l->field[2]);
    snprintf(text, sizeof text,
             "tensor A %s f64 = \"%s/matrices/%s\"\n"
             "tensor w dense f64 [%lld]\n"
             "w(j) = 1 / (1.0 + j)\n"
             "total = A(i,j)\n"
             "square = A(i,j) * A(i,j)\n"
             "y(i) = A(i,j) * w(j)\n"
             "ysum = y(i)\n"
             "ymax = max(i: abs(y(i)))\n"
             "H(i,j) = A(i,j) * A(i,j)\n"
             "hsum = H(i,j)\n"
             "nothing(i,j) = A(i,j) - A(i,j)\n"
             "zero = max(i, j: abs(nothing(i,j)))\n",
             name, data_dir(), l->field[0], cols);
    run(m, s, text);
    const struct {
        const char *name;
        int field;
    } want[] = {{"total", 4}, {"square", 5}, {"ysum", 6}, {"ymax", 7}, {"hsum", 5}};
    for (int k = 0; k < 5; k++) {
        const double got = session_number(m, s, want[k].name),
                     ref = atof(l->field[want[k].field]);
        const double scale = fabs(atof(l->field[5])) + 1;
        ck_assert_msg(near(got, ref) || fabs(got - ref) < 1e-11 * scale,
                      "%s in %s: %s is %.15g, expected %.15g", l->field[0], name,
                      want[k].name, got, ref);
    }
    ck_assert(session_number(m, s, "zero") == 0);
    const bool square = rows == cols && strstr(l->field[8], "A*A");
    if (atof(l->field[3]) < 40000) {
        run(m, s,
            square ? "P(i,j) = A(i,k) * A(k,j)\nT(i,j) = A(i,j) + A(j,i)\n"
                     "tsum = T(i,j)\npsum = P(i,j)\n"
                   : "P(i,j) = A(k,i) * A(k,j)\npsum = P(i,j)\n");
        const double got = session_number(m, s, "psum"), ref = atof(l->field[10]);
        ck_assert_msg(near(got, ref), "%s in %s: product sums to %.15g, expected %.15g",
                      l->field[0], name, got, ref);
        const stc_tensor *p;
        ck_ok(m, stc_session_get(s, "P", &p));
        if (strcmp(name, "dense") != 0)
            ck_assert_msg(stc_tensor_stored(p) == atoll(l->field[9]),
                          "%s in %s: product has %lld entries, expected %s", l->field[0],
                          name, (long long)stc_tensor_stored(p), l->field[9]);
        if (square) ck_assert(near(session_number(m, s, "tsum"), 2 * atof(l->field[4])));
    }
    stc_session_close(s);
}

START_TEST(real_matrices)
{
    static const char *const formats[] = {"csr", "csc", "coo", "dcsr", "dense"};
    char file[100];
    snprintf(file, sizeof file, "matrices/%s", matrices[_i]);
    if (!data_has(file)) return;
    char *text;
    static line l[200];
    const int n = read_table("REF_matrices.tsv", &text, l, 200);
    const line *r = row_of(l, n, matrices[_i]);
    ck_assert_msg(r, "%s has no reference", matrices[_i]);
    if (r) {
        for (int f = 0; f < 5; f++) {
            heap h;
            stc_machine *m = machine_open(&h, f == 3);
            const double cells = atof(r->field[1]) * atof(r->field[2]);
            if (strcmp(formats[f], "dense") != 0 || cells < 4e5)
                matrix_sums(m, r, formats[f]);
            machine_shut(m, &h);
        }
    }
    free(text);
}
END_TEST

/* ---- tensors ------------------------------------------------------------------------ */

static const char *const tensors[] = {"kg_kinship.tns", "kg_nations.tns",
                                      "kjv_book_chapter_word.tns"};

static void tensor_sums(stc_machine *m, const line *l, const char *name)
{
    char text[1500];
    stc_session *s;
    ck_ok(m, stc_session_open(m, &s));
    long long d[3] = {0};
    ck_assert_int_eq(sscanf(l->field[2], "%lldx%lldx%lld", &d[0], &d[1], &d[2]), 3);
    snprintf(text, sizeof text,
             "tensor B %s f64 = \"%s/tensors/%s\"\n"
             "tensor v dense f64 [%lld]\nv(k) = 1 / (1.0 + k)\n"
             "tensor F dense f64 [%lld,4]\nF(j,r) = 1 / (1.0 + j + r)\n"
             "tensor G dense f64 [%lld,4]\nG(k,r) = 1 / (1.0 + k + r)\n"
             "total = B(i,j,k)\ninner = B(i,j,k) * B(i,j,k)\n"
             "T(i,j) = B(i,j,k) * v(k)\ntsum = T(i,j)\n"
             "M(i,r) = B(i,j,k) * F(j,r) * G(k,r)\n"
             "frob = sqrt(sum(i, r: M(i,r) * M(i,r)))\n",
             name, data_dir(), l->field[0], d[2], d[1], d[2]);
    run(m, s, text);
    const struct {
        const char *name;
        int field;
    } want[] = {{"total", 4}, {"inner", 5}, {"tsum", 7}, {"frob", 9}};
    for (int k = 0; k < 4; k++) {
        const double got = session_number(m, s, want[k].name),
                     ref = atof(l->field[want[k].field]);
        ck_assert_msg(near(got, ref), "%s in %s: %s is %.15g, expected %.15g", l->field[0],
                      name, want[k].name, got, ref);
    }
    stc_session_close(s);
}

START_TEST(real_tensors)
{
    static const char *const formats[] = {"csf", "coo", "sss:2,1,0"};
    char file[100];
    snprintf(file, sizeof file, "tensors/%s", tensors[_i]);
    if (!data_has(file)) return;
    char *text;
    static line l[50];
    const int n = read_table("REF_tensors.tsv", &text, l, 50);
    const line *r = row_of(l, n, tensors[_i]);
    ck_assert_msg(r, "%s has no reference", tensors[_i]);
    if (r) {
        for (int f = 0; f < 3; f++) {
            heap h;
            stc_machine *m = machine_open(&h, false);
            tensor_sums(m, r, formats[f]);
            machine_shut(m, &h);
        }
    }
    free(text);
}
END_TEST

/* ---- bad files ---------------------------------------------------------------------- */

START_TEST(verdicts)
{
    if (!data_has("bad/EXPECT.tsv")) return;
    char *text;
    static line l[100];
    const int n = read_table("bad/EXPECT.tsv", &text, l, 100);
    ck_assert_int_ge(n, 20);
    heap h;
    stc_machine *m = machine_open(&h, false);
    for (int k = 0; k < n; k++) {
        char path[400];
        snprintf(path, sizeof path, "%s/bad/%s", data_dir(), l[k].field[0]);
        const char *verdict = l[k].field[1];
        stc_tensor *t = NULL;
        const bool read = stc_tensor_read(m, path, NULL, -1, NULL, &t) == STC_OK;
        const char *words = stc_error(m)->message;
        if (strcmp(verdict, "reject") == 0)
            ck_assert_msg(!read, "%s is read, but: %s", path, l[k].field[2]);
        else if (strcmp(verdict, "accept") == 0 || strcmp(verdict, "accept-if-64bit") == 0)
            ck_assert_msg(read, "%s is refused (%s), but: %s", path, words, l[k].field[2]);
        if (!read) ck_assert_msg(words[0] != 0, "%s: no message", path);
        stc_tensor_free(t);
    }
    machine_shut(m, &h);
    free(text);
}
END_TEST

Suite *suite_data(void)
{
    Suite *s = suite_create("data");
    TCase *c = tcase_create("data");
    tcase_set_timeout(c, 300);
    tcase_add_loop_test(c, real_matrices, 0, MATRICES);
    tcase_add_loop_test(c, real_tensors, 0, 3);
    tcase_add_test(c, verdicts);
    suite_add_tcase(s, c);
    return s;
}
