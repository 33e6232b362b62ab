/* check_kernels.c: the formats paper's kernels on real matrices and tensors:
 * each in every format it is meant for, against the same kernel on csr or
 * dense operands. Skipped, and said so, where the data aren't there. */
#include "check.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct kernel {
    const char *text;        /* gives R                                       */
    const char *formats[12]; /* of A, until NULL                              */
    const char *other;       /* B's format; NULL: as A's, or no B             */
    const char *before;      /* what else the text needs; NULL: nothing       */
} kernel;

#define INTERLEAVED "(i,j) -> (i : compressed(nonunique, interleaved), j : singleton)"
#define MATRIX_FORMATS                                                                     \
    {                                                                                      \
        "coo", INTERLEAVED, "csc", "dcsr", "dcsc", "dia", "ell", "bcsr(4,4)", "bcsr(3,2)", \
            "csb(64,64)", "hash"                                                           \
    }

/* ---- matrices ---------------------------------------------------------------------- */

static const kernel on_matrices[] = {
    {"R(i) = A(i,j) * x(j)", MATRIX_FORMATS, NULL, NULL},
    {"R(j) = A(i,j) * z(i)", MATRIX_FORMATS, NULL, NULL},
    {"R(i) = A(i,j) * x(j)", {"rle", "lz77", "bytemap"}, NULL, NULL},
    {"R(i,k) = A(i,j) * X(j,k)", {"coo", INTERLEAVED, "ell", "bcsr(4,4)"}, NULL, NULL},
    {"R(i,j) = A(i,j) + B(i,j)",
     {"coo", "csr", "hash", "dia", "ell", "bcsr(4,4)"},
     NULL,
     NULL},
    {"R(i,j) = A(i,j) + B(i,j)", {"csr", "dia", "ell", "bcsr(4,4)", "csc"}, "coo", NULL},
    {"R(i,j) = A(i,j) * B(i,j)", {"coo", "hash", "bcsr(4,4)", "csb(8,8)"}, "csr", NULL},
    {"R(i) = A(i,j) * v(j)",
     {"csr", "coo", "csc", "bcsr(4,4)"},
     NULL,
     "tensor v svec f64\nv(j) = s(j)"},
    {"R(i) = A(i,j) * v(j)",
     {"csr", "coo", "csc", "dia"},
     NULL,
     "tensor v hash f64\nv(j) = s(j)"},
    {"R(i) = A(i,j) * v(j)", {"csr", "coo"}, NULL, "tensor v bytemap f64\nv(j) = s(j)"},
    {"tensor R coo f64\nR(i,j) = A(i,j) + B(i,j)", {"coo", "csr"}, "coo", NULL},
    {"tensor R dia f64\nR(i,j) = A(i,j)", {"csr", "coo", "bcsr(2,2)"}, NULL, NULL},
    {"tensor R bcsr(4,4) f64\nR(i,j) = A(i,j)", {"csr", "coo", "ell"}, NULL, NULL},
    {"tensor R csc f64\nR(i,j) = A(i,j)", {"csr", "coo", "dia"}, NULL, NULL},
    {"tensor R csr f64\nR(i,j) = A(i,j)", {"csc", "coo", "dcsc", "hash"}, NULL, NULL},
    {"tensor R hash f64\nR(i,j) = A(i,k) * B(k,j)", {"csr", "coo", "hash"}, NULL, NULL},
};
enum { ON_MATRICES = sizeof on_matrices / sizeof *on_matrices };

static const struct {
    const char *name;
    int rows, cols;
} matrices[] = {{"LFAT5", 14, 14}, {"bfwa62", 62, 62}, {"ash219", 219, 85}};
enum { MATRICES = sizeof matrices / sizeof *matrices };

/* The dense elements of R after the script; the caller frees them. */
static double *elements(const char *script, bool no_super, int64_t *count)
{
    heap h;
    stc_machine *m = machine_open(&h, no_super);
    stc_session *s;
    const stc_tensor *r;
    stc_tensor *d;
    ck_ok(m, stc_session_open(m, &s));
    const stc_status st = stc_session_exec(s, script, "test");
    ck_assert_msg(st == STC_OK, "%s\n%s", script, stc_error(m)->message);
    ck_ok(m, stc_session_get(s, "R", &r));
    ck_ok(m, stc_tensor_convert(r, "dense", STC_F64, &d));
    int64_t n = 1;
    for (int k = 0; k < stc_tensor_order(d); k++)
        n *= stc_tensor_shape(d)[k];
    double *out = malloc((size_t)(n + 1) * sizeof *out);
    ck_assert_ptr_nonnull(out);
    ck_ok(m, stc_tensor_to_dense(d, out));
    stc_tensor_free(d);
    stc_session_close(s);
    machine_shut(m, &h);
    *count = n;
    return out;
}

static void expect_same(const char *script, const double *want, int64_t n)
{
    for (int plain = 0; plain < 2; plain++) {
        int64_t got_n;
        double *got = elements(script, plain, &got_n);
        ck_assert_msg(got_n == n, "%s\n%lld elements, expected %lld", script,
                      (long long)got_n, (long long)n);
        for (int64_t k = 0; k < n; k++)
            ck_assert_msg(fabs(got[k] - want[k]) <= 1e-9 * (1 + fabs(want[k])),
                          "%s\nelement %lld is %.15g, expected %.15g", script, (long long)k,
                          got[k], want[k]);
        free(got);
    }
}

static void matrix_script(char *out, size_t size, int q, const kernel *k, const char *a,
                          const char *b)
{
    const int rows = matrices[q].rows, cols = matrices[q].cols;
    const int done =
        snprintf(out, size,
                 "tensor A %s f64 = \"%s/matrices/%s.mtx\"\n"
                 "tensor G csr f64 [%d,%d] = random(density=0.05, seed=4)\n"
                 "tensor B %s f64\nB(i,j) = G(i,j)\n"
                 "tensor x dense f64 [%d]\nx(j) = 1.0 / (1 + j)\n"
                 "tensor z dense f64 [%d]\nz(i) = 1.0 / (2 + i)\n"
                 "tensor X dense f64 [%d,5]\nX(j,k) = x(j) * (1 + k)\n"
                 "tensor s svec f64 [%d] = random(density=0.3, seed=5)\n%s\n%s\n",
                 a, data_dir(), matrices[q].name, rows, cols, b, cols, rows, cols, cols,
                 k->before ? k->before : "", k->text);
    ck_assert(done > 0 && (size_t)done < size);
}

/* The kernel without declarations, so that its operands and R are as csr's. */
static kernel undeclared(const kernel *k)
{
    kernel plain = *k;
    const char *text = strchr(k->text, '\n');
    if (text) plain.text = text + 1;
    text = k->before ? strchr(k->before, '\n') : NULL;
    if (text) plain.before = text + 1;
    return plain;
}

START_TEST(kernels_on_matrices)
{
    const kernel *k = &on_matrices[_i], plain = undeclared(k);
    for (int q = 0; q < MATRICES; q++) {
        char script[3000];
        int64_t n;
        snprintf(script, sizeof script, "matrices/%s.mtx", matrices[q].name);
        if (!data_has(script)) continue;
        if (matrices[q].rows != matrices[q].cols && strstr(k->text, "B(k,j)")) continue;
        matrix_script(script, sizeof script, q, &plain, "csr", "csr");
        double *want = elements(script, false, &n);
        for (int f = 0; f < 12 && k->formats[f]; f++) {
            const char *b = k->other ? k->other : k->formats[f];
            matrix_script(script, sizeof script, q, k, k->formats[f], b);
            expect_same(script, want, n);
        }
        free(want);
    }
}
END_TEST

/* ---- tensors ------------------------------------------------------------------------- */

static const kernel on_tensors[] = {
    {"R(i,j) = A(i,j,k) * x(k)", {"coo", "csf", "hash"}, NULL, NULL},
    {"R(i,j,f) = A(i,j,k) * X(k,f)", {"coo", "csf"}, NULL, NULL},
    {"R(i,j,k) = A(i,j,k) + B(i,j,k)", {"coo", "csf", "dds"}, NULL, NULL},
    {"R(i,j,k) = A(i,j,k) + B(i,j,k)", {"coo", "dds"}, "csf", NULL},
    {"R(i,f) = A(i,j,k) * Y(j,f) * X(k,f)", {"coo", "csf", "sss:2,0,1"}, NULL, NULL},
    {"R = A(i,j,k) * B(i,j,k)", {"coo", "csf", "dds"}, NULL, NULL},
    {"R = A(i,j,k) * B(i,j,k)", {"coo"}, "csf", NULL},
    {"tensor R coo f64\nR(i,j,k) = A(i,j,k) + B(i,j,k)", {"coo", "csf"}, NULL, NULL},
    {"tensor R csf f64\nR(i,j,k) = A(i,j,k)", {"coo", "sss:2,1,0", "dense"}, NULL, NULL},
};
enum { ON_TENSORS = sizeof on_tensors / sizeof *on_tensors };

/* 70 x 14 x 40, 2024 entries. */
static void tensor_script(char *out, size_t size, const kernel *k, const char *a,
                          const char *b)
{
    const int done = snprintf(out, size,
                              "tensor A %s f64 = \"%s/tensors/kg_nations.tns\"\n"
                              "tensor G csf f64 [70,14,40] = random(density=0.02, seed=4)\n"
                              "tensor B %s f64\nB(i,j,k) = G(i,j,k)\n"
                              "tensor x dense f64 [40]\nx(k) = 1.0 / (1 + k)\n"
                              "tensor X dense f64 [40,5]\nX(k,f) = x(k) * (1 + f)\n"
                              "tensor Y dense f64 [14,5]\nY(j,f) = 1.0 / (1 + j + f)\n%s\n",
                              a, data_dir(), b, k->text);
    ck_assert(done > 0 && (size_t)done < size);
}

START_TEST(kernels_on_tensors)
{
    if (!data_has("tensors/kg_nations.tns")) return;
    const kernel *k = &on_tensors[_i], plain = undeclared(k);
    char script[3000];
    int64_t n;
    tensor_script(script, sizeof script, &plain, "dense", "dense");
    double *want = elements(script, false, &n);
    for (int f = 0; f < 12 && k->formats[f]; f++) {
        const char *b = k->other ? k->other : k->formats[f];
        tensor_script(script, sizeof script, k, k->formats[f], b);
        expect_same(script, want, n);
    }
    free(want);
}
END_TEST

Suite *suite_kernels(void)
{
    Suite *s = suite_create("kernels");
    TCase *c = tcase_create("matrices");
    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, kernels_on_matrices, 0, ON_MATRICES);
    suite_add_tcase(s, c);
    c = tcase_create("tensors");
    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, kernels_on_tensors, 0, ON_TENSORS);
    suite_add_tcase(s, c);
    return s;
}
