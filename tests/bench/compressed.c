/* compressed.c: computing on run-length and LZ77 compressed operands, against
 * dense C loops: the compression paper's kernels over run lengths 1 … 1024
 * (fig. 12), and on pictures and a drawn clip. "runs n" is as the paper has it:
 * 10,000 by 1,000 integers of 32 bits from 0 to 255, in runs of 1 … n elements, all
 * lengths equally often, so the mean is n/2; runs go on from row to row. `bytes` is
 * how many times smaller the compressed operand is than the dense one. For lz77 a
 * second ratio is that to what one would do otherwise: decompress, compute densely,
 * and compress; and `larger` is how many times more bytes the result has than that one.
 */
#include "compressed.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 7 };
#define STREAM "(i,j) -> (flat(i,j) : lz77)"
#define RUNS_ON "(i,j) -> (flat(i,j) : rle)"

typedef struct row {
    const char *name, *input, *text;
    const char *b, *c, *d, *a; /* formats of B, C, D and the result A; NULL: none */
    plane_loop *loop;
} row;

#define SCALE "A(i,j) = B(i,j) * 3"
#define MULTIPLY "A(i,j) = B(i,j) * C(i,j)"
#define MXV "A(i) = B(i,j) * c(j)"
#define MASK "A(i,j) = B(i,j) * D(i,j)"
#define BLEND "A(i,j) = u8(0.4 * B(i,j) + 0.6 * C(i,j))"
#define EDGES "A(i,j) = (B(i,j) & D(i,j)) ^ (C(i,j) & D(i,j))"
#define BRIGHTEN "A(i,j) = min(B(i,j) + 60, 255)"
#define SUBTITLE "A(i,j) = B(i,j) * (1 - C(i,j)) + D(i,j) * C(i,j)"
#define OVER_RUNS(n)                                                                       \
    {"scale", "runs " n, SCALE, "rle", NULL, NULL, "rle", dense_scale},                    \
        {"multiply", "runs " n, MULTIPLY, "rle", "rle", NULL, "rle", dense_multiply},      \
        {"mxv", "runs " n, MXV, "rle", "rle", NULL, "dense", dense_mxv},                   \
    {                                                                                      \
        "mask", "runs " n, MASK, "rle", NULL, "csr", "csr", dense_mask                     \
    }

static const row rows[] = {
    OVER_RUNS("1"),
    OVER_RUNS("2"),
    OVER_RUNS("4"),
    OVER_RUNS("8"),
    OVER_RUNS("16"),
    OVER_RUNS("32"),
    OVER_RUNS("64"),
    OVER_RUNS("128"),
    OVER_RUNS("256"),
    OVER_RUNS("512"),
    OVER_RUNS("1024"),
    {"mxv dense c", "runs 128", MXV, "rle", "dense", NULL, "dense", dense_mxv},
    {"scale run on", "runs 128", SCALE, RUNS_ON, NULL, NULL, RUNS_ON, dense_scale},
    {"scale run on", "runs 1024", SCALE, RUNS_ON, NULL, NULL, RUNS_ON, dense_scale},
    {"mult run on", "runs 128", MULTIPLY, RUNS_ON, RUNS_ON, NULL, RUNS_ON, dense_multiply},
    {"mult run on", "runs 1024", MULTIPLY, RUNS_ON, RUNS_ON, NULL, RUNS_ON, dense_multiply},
    {"scale lz77", "runs 16", SCALE, "lz77", NULL, NULL, "lz77", dense_scale},
    {"scale lz77", "runs 128", SCALE, "lz77", NULL, NULL, "lz77", dense_scale},
    {"mult lz77", "runs 128", MULTIPLY, "lz77", "lz77", NULL, "lz77", dense_multiply},
    {"mult stream", "runs 128", MULTIPLY, STREAM, STREAM, NULL, STREAM, dense_multiply},
    {"blend", "sketch", BLEND, "rle", "rle", NULL, "rle", dense_blend},
    {"blend run on", "sketch", BLEND, RUNS_ON, RUNS_ON, NULL, RUNS_ON, dense_blend},
    {"blend lz77", "sketch", BLEND, "lz77", "lz77", NULL, "lz77", dense_blend},
    {"blend stream", "sketch", BLEND, STREAM, STREAM, NULL, STREAM, dense_blend},
    {"blend", "clipart", BLEND, "rle", "rle", NULL, "rle", dense_blend},
    {"blend", "omniglot", BLEND, "rle", "rle", NULL, "rle", dense_blend},
    {"edges", "mri", EDGES, "rle", "rle", "rle", "rle", dense_edges},
    {"edges csr", "mri", EDGES, "rle", "rle", "csr", "csr", dense_edges},
    {"brighten", "cartoon", BRIGHTEN, "rle", NULL, NULL, "rle", dense_brighten},
    {"bright run on", "cartoon", BRIGHTEN, RUNS_ON, NULL, NULL, RUNS_ON, dense_brighten},
    {"brighten lz77", "cartoon", BRIGHTEN, "lz77", NULL, NULL, "lz77", dense_brighten},
    {"brighten strm", "cartoon", BRIGHTEN, STREAM, NULL, NULL, STREAM, dense_brighten},
    {"subtitle", "cartoon", SUBTITLE, "rle", "rle", "rle", "rle", dense_subtitle},
    {"subtitle lz77", "cartoon", SUBTITLE, "lz77", "lz77", "lz77", "lz77", dense_subtitle},
    {"subtitle strm", "cartoon", SUBTITLE, STREAM, STREAM, STREAM, STREAM, dense_subtitle},
};

typedef struct bench {
    stc_machine *m;
    stc_program *p;
    stc_tensor *in[3];
    double packed; /* bytes of the operands, compressed */
    double dense;
} bench;

static bool compress(bench *b, const planes *p, int k, const char *format, bool vector,
                     stc_tensor **out)
{
    stc_tensor *t = NULL;
    const int64_t shape[2] = {vector ? p->m : p->n, p->m};
    const int64_t n = vector ? p->m : p->n * p->m;
    const bool ok =
        !stc_tensor_new(b->m, "dense", p->type, vector ? 1 : 2, shape, NULL, &t) &&
        !stc_tensor_lend_values(t, p->in[k], n) && !stc_tensor_convert(t, format, -1, out);
    if (ok) b->packed += (double)stc_tensor_bytes(*out);
    b->dense += (double)stc_tensor_bytes(t);
    stc_tensor_free(t);
    return ok;
}

static bool open_row(bench *b, const row *r, const planes *p)
{
    const char *format[3] = {r->b, r->c, r->d};
    const bool vector = strstr(r->text, "c(j)");
    const char *const names[3] = {"B", vector ? "c" : "C", "D"};
    stc_decl decl[4];
    int n = 0;
    if (stc_open(NULL, &b->m)) return false;
    for (int k = 0; k < 3; k++)
        if (format[k]) decl[n++] = (stc_decl){0, names[k], format[k], p->type, NULL, -1};
    decl[n++] = (stc_decl){0, "A", r->a, p->type, NULL, -1};
    if (stc_compile(b->m, r->text, decl, n, &b->p)) return false;
    for (int k = 0; k < 3; k++)
        if (format[k] && (!compress(b, p, k, format[k], vector && k == 1, &b->in[k]) ||
                          stc_bind(b->p, names[k], b->in[k])))
            return false;
    return true;
}

static void close_row(bench *b)
{
    stc_program_free(b->p);
    for (int k = 0; k < 3; k++)
        stc_tensor_free(b->in[k]);
    if (b->m) stc_close(b->m);
}

static bool agree(bench *b, const planes *p)
{
    const stc_tensor *t;
    stc_tensor *d = NULL;
    const void *v;
    int64_t n;
    if (stc_result(b->p, "A", &t) || stc_tensor_convert(t, "dense", -1, &d)) return false;
    const bool same = !stc_tensor_values(d, &v, &n) && n == p->nout &&
                      !memcmp(v, p->out, (size_t)n * (p->type == STC_I32 ? 4 : 1));
    stc_tensor_free(d);
    return same;
}

/* What decompressing the operands and compressing the result takes; *larger: how many
 * times more bytes the result has as it was computed than as it is compressed then. */
static double around(bench *b, const row *r, double *larger)
{
    const stc_tensor *t;
    stc_tensor *d[3] = {NULL}, *z = NULL;
    const double t0 = now_ns();
    bool ok = !stc_result(b->p, "A", &t);
    for (int k = 0; ok && k < 3; k++)
        ok = !b->in[k] || !stc_tensor_convert(b->in[k], "dense", -1, &d[k]);
    const double t1 = now_ns();
    stc_tensor *result = NULL;
    ok = ok && !stc_tensor_convert(t, "dense", -1, &result);
    const double t2 = now_ns();
    ok = ok && !stc_tensor_convert(result, r->a, -1, &z);
    const double t3 = now_ns();
    if (ok) *larger = (double)stc_tensor_bytes(t) / (double)stc_tensor_bytes(z);
    for (int k = 0; k < 3; k++)
        stc_tensor_free(d[k]);
    stc_tensor_free(result);
    stc_tensor_free(z);
    return ok ? t1 - t0 + t3 - t2 : NAN;
}

/* Others share the machine: the shortest time is that of the work. */
static double least(const double *t)
{
    double x = t[0];
    for (int i = 1; i < RUNS; i++)
        x = t[i] < x ? t[i] : x;
    return x;
}

static double run_row(const row *r, bool csv, bool *wrong)
{
    bench b = {0};
    planes p;
    double ours[RUNS], theirs[RUNS], ratio = 0;
    if (!planes_make(r->input, &p)) {
        printf("%-14s %-10s no such picture\n", r->name, r->input);
        planes_free(&p);
        return 0;
    }
    bool ok = open_row(&b, r, &p);
    for (int i = -1; ok && i < RUNS; i++) {
        const double t0 = now_ns();
        ok = !stc_run(b.p);
        const double t1 = now_ns();
        r->loop(&p);
        if (i >= 0) ours[i] = t1 - t0, theirs[i] = now_ns() - t1;
    }
    if (!ok) {
        printf("%-14s %-10s failed: %s\n", r->name, r->input, stc_error(b.m)->message);
        *wrong = true;
    } else {
        const bool same = agree(&b, &p);
        const double a = least(ours), c = least(theirs);
        double larger = NAN;
        const double other = strstr(r->a, "lz77") ? around(&b, r, &larger) + c : NAN;
        ratio = a / c;
        *wrong |= !same;
        printf(csv ? "%s,%s,%.4f,%.4f,%.4f,%.2f,%.4f,%.3f%s\n"
                   : "%-14s %-10s %9.3f %9.3f %8.3f %8.1f %8.3f %8.3f%s\n",
               r->name, r->input, a * 1e-6, c * 1e-6, ratio, b.dense / b.packed, a / other,
               larger, same ? "" : "  RESULTS DIFFER");
    }
    fflush(stdout);
    close_row(&b);
    planes_free(&p);
    return ratio;
}

int bench_compressed(const char *filter, bool csv)
{
    bool wrong = false, head = false;
    mean all = {0};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        char label[64];
        snprintf(label, sizeof label, "%s %s", rows[k].name, rows[k].input);
        if (filter && !strstr(label, filter) && strcmp(filter, "compressed")) continue;
        if (!head && !csv)
            printf("\n%-14s %-10s %9s %9s %8s %8s %8s %8s\n", "compressed", "input",
                   "stcvm ms", "dense ms", "ratio", "bytes", "around", "larger");
        head = true;
        mean_add(&all, label, run_row(&rows[k], csv, &wrong));
    }
    mean_print(&all, "geometric mean, compressed", csv);
    return wrong;
}
