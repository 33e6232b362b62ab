/* bench.h: what the parts of the benchmark share: inputs (inputs.c), the C
 * loops that a sparse compiler would emit (kernels_ref.c), the rows that set
 * both side by side (rows.c) and the latencies (latency.c).
 *
 * Everything is one thread unless it says so, f64 values and 32-bit coordinates. Values are
 * k/1024 with k in 1…1024, so sums of a few thousand products are exact and
 * the two sides can be compared without a tolerance for order.
 */
#ifndef STC_TESTS_BENCH_H
#define STC_TESTS_BENCH_H

#include "../../include/stcvm.h"

typedef struct csr {
    int64_t rows, cols, nnz;
    int32_t *pos, *crd;
    double *val;
} csr;

/* Order 3, all three levels compressed. */
typedef struct csf {
    int64_t dim, n[3]; /* n[l]: coordinates of level l */
    int32_t *pos[3], *crd[3];
    double *val;
} csf;

csr gen_lap(int64_t side, uint64_t seed);               /* 5-point Laplacian      */
csr gen_uni(int64_t n, int per_row, uint64_t seed);     /* uniform columns        */
csr gen_rmat(int scale, int degree, uint64_t seed);     /* power law              */
csr gen_band(int64_t n, int lo, int hi, uint64_t seed); /* diagonals lo … hi      */
/* order 3; skew 1: uniform, with more the small coordinates crowd */
csf gen_ten(int64_t dim, int64_t nnz, int skew, uint64_t seed);
double *gen_dense(int64_t n, uint64_t seed);
void csr_free(csr *a);
void csf_free(csf *a);
void *xalloc(size_t size); /* or ends the benchmark */

/* A sparse result of the C loops; capacity kept from run to run, as a
 * prepared program keeps it. */
typedef struct ref_out {
    csr m;
    int64_t cap;
    double *row; /* SpGEMM's workspace: values, flags, list */
    bool *set;
    int32_t *list;
} ref_out;
void ref_out_init(ref_out *o, int64_t rows, int64_t cols);
void ref_out_free(ref_out *o);

void ref_spmv(const csr *a, const double *x, double *y);
void ref_masked_mxv(const int32_t *mask, int64_t count, const csr *a, const double *x,
                    double *y);
void ref_spmm(const csr *a, const double *b, int64_t r, double *c);
void ref_sddmm(const csr *a, const double *b, const double *c, int64_t r, ref_out *o);
void ref_add(const csr *a, const csr *b, ref_out *o);
void ref_mul(const csr *a, const csr *b, ref_out *o);
void ref_max(const csr *a, const csr *b, ref_out *o);
void ref_scale(const csr *a, double s, ref_out *o);
void ref_scale_rows(const csr *a, const double *x, ref_out *o);
void ref_scale_columns(const csr *a, const double *x, ref_out *o);
void ref_sqrt_sum(const csr *a, const csr *b, ref_out *o);
void ref_spgemm(const csr *a, const csr *b, ref_out *o);
double ref_inner(const csf *a, const csf *b);
void ref_mttkrp(const csf *b, const double *c, const double *d, int64_t r, double *a);
void ref_ttv(const csf *b, const double *c, double *a);
void ref_ttm(const csf *b, const double *c, int64_t r, double *a);

double now_ns(void);
/* The thread's own time: other load on the machine changes caches and nothing else. */
double own_ns(void);
double median(double *t, int n); /* sorts t */
/* How often each side runs, from the environment (RUNS), else `usual`. */
enum { RUNS_MAX = 1000 };
int runs_asked(int usual);

/* A geometric mean under way, and the worst of its rows. Ratios of 0 don't count: these
 * rows failed. */
typedef struct mean {
    double logs, worst;
    char name[32]; /* of the worst */
    int n;
} mean;
void mean_add(mean *m, const char *name, double ratio);
/* One line; none if there were no rows. */
void mean_print(const mean *m, const char *what, bool csv);

/* The tier that each of the program's loops runs on, as `explain` says: 1/4/4. */
enum { TIERS_ROOM = 24 };
void tiers_of(stc_machine *m, const stc_program *p, char out[TIERS_ROOM]);

/* stream.c: what memory gives at most, printed; and what a triad takes so many threads,
 * over one's arrays. */
void print_stream(bool csv);
enum { STREAM_THREADS = 64 };
typedef struct stream stream;
stream *stream_open(void);
void stream_close(stream *s);
double stream_ns(const stream *s, int threads);

/* rows.c: all rows, or those whose "name input" contains `filter`. */
int bench_rows(const char *filter, bool csv);
/* formats.c: the same, for matrices and vectors in many formats. */
int bench_formats(const char *filter, bool csv);
/* arrays.c: the same, for functions besides + and *. */
int bench_arrays(const char *filter, bool csv);
/* expressions.c: the same, for expressions that no template has by name. */
int bench_expressions(const char *filter, bool csv);
/* convolution.c: the same, for convolutions. */
int bench_convolution(const char *filter, bool csv);
/* compressed.c: the same, for operands in rle and lz77 against dense ones. */
int bench_compressed(const char *filter, bool csv);
/* cliffs.c: the same, for what is next to the ten kernels: other types, one function more;
 * "cliffs NAME" for some. */
int bench_cliffs(const char *filter, bool csv);
/* threads.c: rows of rows.c by one thread and by several, "threads NAME" for some; only if
 * the filter names them. */
int bench_threads(const char *filter, bool csv);
/* graphs.c: whole algorithms beside GraphBLAS and C, "graphs NAME" for some; only if the
 * filter names them. */
int bench_graphs(const char *filter, bool csv);
/* workspaces.c: policies of workspaces; only if the filter names them. */
int bench_workspaces(const char *filter, bool csv);
/* latency.c */
int bench_latency(const char *filter, bool csv, const char *tool);

#endif
