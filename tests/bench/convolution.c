/* convolution.c: the convolution paper's evaluation (§6).
 *
 * - 1-, 2- and 3-D convolutions with filters of 3, 3x3 and 3x3x3 (fig. 17), at
 *   sparsities from 0 to 99.9 per cent, against the dense C loops on the same
 *   data: where a sparse operand begins to pay;
 * - a 3x3 filter over 1000 x 1000 with 50 000 nonzeros, into a dense and into a
 *   csr result, against C loops over the nonzeros;
 * - the same in the order i, j, p, q, which a user may write, against the dense C loops
 *   in that order, and the C loops over the nonzeros;
 * - stencils of 5 and 7 points, against the C loops over all elements;
 * - the same filter by minimum and + over what is stored, by "or" and "and" over truth
 *   values, and by minimum and + over all elements, against C loops over all elements;
 * - maximum and mean of windows of 2 x 2, a sparse filter of 11 x 11 over a dense image,
 *   and a sum of which either operand may be missing, against loops over all elements;
 * - a layer of ResNet50 with its input in dccc (fig. 16), from 90 to 99.9 per
 *   cent, against C loops over the nonzeros, and one with stride, dilation and padding.
 *   Time is to follow the nonzeros; besides, each row of the result that they lead to is
 *   written once, and `rows` counts those; the same into a result that stores only these.
 *   `first` is the first run, which fills all of
 *   the result; the others fill what the one before stored.
 */
#include "convolution.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 9, SIDE1 = 999999, SIDE2 = 999, SIDE3 = 99, SIDE = 3 };
enum { IMAGE = 112, CHANNELS = CONV_CHANNELS, FEATURES = CONV_FEATURES };

/* ---- rows ------------------------------------------------------------------------ */

/* Sparsities: those of fig. 17, and where it begins to win; of fig. 16; one. */
typedef enum sparsities { FIG17, FIG16, ONE } sparsities;

typedef struct row {
    const char *name, *text, *a, *result;
    const char *f; /* NULL: dense                                                */
    const char
        *declared; /* the result's shape, where the text doesn't say; NULL: it does */
    int order, filter_order;
    int64_t shape[4], filter[4];
    void (*run)(conv_data *s);
    sparsities zeros;
    bool stored; /* compares the values stored, in order                  */
    int filter_zeros, stride, dilate, pad;
    double fill; /* what isn't stored is                                  */
    bool truth;  /* elements are true or false                            */
} row;

#define PLANE "C(i,j) = A(i+p,j+q) * F(p,q)"
#define FIVE                                                                               \
    "C(i,j) = pad A(i-1,j) + pad A(i+1,j) + pad A(i,j-1) + pad A(i,j+1) - 4 * A(i,j)"
#define SEVEN                                                                              \
    "C(i,j,k) = pad A(i-1,j,k) + pad A(i+1,j,k) + pad A(i,j-1,k) + pad A(i,j+1,k) + "      \
    "pad A(i,j,k-1) + pad A(i,j,k+1) - 6 * A(i,j,k)"
#define SOLID "C(i,j,k) = A(i+p,j+q,k+r) * F(p,q,r)"
#define WINDOW "p in 0:2, q in 0:2: A(2*i+p,2*j+q)"

#define SPARSE(name, text, a, n, side, loops)                                              \
    {                                                                                      \
        name, text, a, "dense", .order = n, .filter_order = n,                             \
                                .shape = {side, side, side}, .filter = {SIDE, SIDE, SIDE}, \
                                .run = convolution_##loops, .zeros = FIG17                 \
    }
#define ON_PLANE(name, text, to, loops, ...)                                               \
    {                                                                                      \
        name, text, "csr", to, .order = 2, .filter_order = 2, .shape = {1000, 1000},       \
                               .filter = {SIDE, SIDE}, .run = convolution_##loops,         \
                               .zeros = ONE, __VA_ARGS__                                   \
    }
#define STENCIL(name, text, a, n, side, loops)                                             \
    {                                                                                      \
        name, text, a, "dense", .order = n, .shape = {side, side, side},                   \
                                .run = convolution_##loops, .zeros = ONE                   \
    }
#define POOL(name, text, a, to, loops)                                                     \
    {                                                                                      \
        name, text, a, to, .order = 2, .shape = {1000, 1000}, .run = convolution_##loops,  \
                           .zeros = ONE                                                    \
    }
#define LAYER(name, text, at, ...)                                                         \
    {                                                                                      \
        name, text, "dsss", "dense",                                                       \
            .order = 4, .filter_order = 4, .shape = {1, IMAGE, IMAGE, CHANNELS},           \
            .filter = {SIDE, SIDE, CHANNELS, FEATURES}, .run = convolution_layer,          \
            .zeros = at, __VA_ARGS__                                                       \
    }
#define DCCC "C(n,h,w,f) = A(n,h+r,w+q,c) * F(r,q,c,f)"

static const row rows[] = {
    SPARSE("1-D svec", "C(i) = A(i+p) * F(p)", "svec", 1, SIDE1, dense_1d),
    SPARSE("2-D csr", PLANE, "csr", 2, SIDE2, dense_2d),
    SPARSE("2-D dcsr", PLANE, "dcsr", 2, SIDE2, dense_2d),
    SPARSE("2-D csc", PLANE, "csc", 2, SIDE2, dense_2d),
    SPARSE("3-D csf", SOLID, "csf", 3, SIDE3, dense_3d),
    SPARSE("3-D dds", SOLID, "dds", 3, SIDE3, dense_3d),
    ON_PLANE("3x3 to dense", PLANE, "dense", sparse_to_dense, 0),
    ON_PLANE("3x3 to csr", PLANE, "csr", sparse_to_csr, .stored = true),
    ON_PLANE("ijpq to dense", PLANE " with reorder(i,j,p,q)", "dense", dense_2d, 0),
    ON_PLANE("ijpq to csr", PLANE " with reorder(i,j,p,q)", "csr", sparse_to_csr,
             .stored = true),
    STENCIL("5-point dense", FIVE, "dense", 2, 1000, five_points),
    STENCIL("5-point csr", FIVE, "csr", 2, 1000, five_points),
    STENCIL("7-point dense", SEVEN, "dense", 3, 100, seven_points),
    STENCIL("7-point csf", SEVEN, "csf", 3, 100, seven_points),
    POOL("max pool csr", "C(i,j) = max(" WINDOW ")", "csr", "dense", max_pool),
    POOL("max pool dense", "C(i,j) = max(" WINDOW ")", "dense", "dense", max_pool),
    POOL("mean pool csr", "C(i,j) = sum(" WINDOW ") / 4", "csr", "dense", mean_pool),
    POOL("mean pool dense", "C(i,j) = sum(" WINDOW ") / 4", "dense", "dense", mean_pool),
    {"sparse filter", PLANE, "dense", "dense", .f = "csr", .order = 2, .filter_order = 2,
     .shape = {1000, 1000}, .filter = {11, 11}, .run = convolution_sparse_filter,
     .zeros = ONE, .filter_zeros = 90},
    {"either", "C(i,j) = F(i) + A(i+j)", "svec", "dense", .order = 1, .filter_order = 1,
     .shape = {1999}, .filter = {1000}, .run = convolution_either, .zeros = ONE},
    {"either svec", "C(i,j) = F(i) + A(i+j)", "svec", "dense", .f = "svec", .order = 1,
     .filter_order = 1, .shape = {1999}, .filter = {1000}, .run = convolution_either,
     .zeros = ONE, .filter_zeros = 95},
    {"either max", "C(i,j) = max(A(i+j), F(i))", "svec", "dense", .order = 1,
     .filter_order = 1, .shape = {1999}, .filter = {1000}, .run = convolution_either_max,
     .zeros = ONE},
    {"either three", "C(i,j) = F(i) + A(i+j) + F(j)", "svec", "dense", .order = 1,
     .filter_order = 1, .shape = {1999}, .filter = {1000}, .run = convolution_either_three,
     .zeros = ONE},
    {"either 2-D", "C(i,j,k) = F(i,k) + A(i+j,k)", "csr", "dense", .order = 2,
     .filter_order = 2, .shape = {199, 100}, .filter = {100, 100},
     .run = convolution_either_2d, .zeros = ONE},
    {"min-plus csr", "C(i,j) = min(p,q: A(i+p,j+q) + F(p,q))", "csr", "dense", .order = 2,
     .filter_order = 2, .shape = {1000, 1000}, .filter = {SIDE, SIDE},
     .run = convolution_min_plus, .zeros = ONE, .fill = INFINITY},
    {"min-plus fill 0", "C(i,j) = min(p,q: A(i+p,j+q) + F(p,q))", "csr", "dense",
     .order = 2, .filter_order = 2, .shape = {1000, 1000}, .filter = {SIDE, SIDE},
     .run = convolution_min_plus, .zeros = ONE},
    {"min-plus dense", "C(i,j) = min(p,q: A(i+p,j+q) + F(p,q))", "dense", "dense",
     .order = 2, .filter_order = 2, .shape = {1000, 1000}, .filter = {SIDE, SIDE},
     .run = convolution_min_plus, .zeros = ONE},
    {"or-and csr", "C(i,j) = or(p,q: A(i+p,j+q) && F(p,q))", "csr", "dense", .order = 2,
     .filter_order = 2, .shape = {1000, 1000}, .filter = {SIDE, SIDE},
     .run = convolution_or_and, .zeros = ONE, .truth = true},
    {"or-and dense", "C(i,j) = or(p,q: A(i+p,j+q) && F(p,q))", "dense", "dense", .order = 2,
     .filter_order = 2, .shape = {1000, 1000}, .filter = {SIDE, SIDE},
     .run = convolution_or_and, .zeros = ONE, .truth = true},
    LAYER("layer dccc", DCCC, FIG16, 0),
    {"layer to dccd", DCCC, "dsss", "dssd", .order = 4, .filter_order = 4,
     .shape = {1, IMAGE, IMAGE, CHANNELS}, .filter = {SIDE, SIDE, CHANNELS, FEATURES},
     .run = convolution_layer_stored, .zeros = FIG16, .stored = true},
    LAYER("layer stride", "C(n,h,w,f) = A(n,2*h+r,2*w+q,c) * F(r,q,c,f)", ONE, .stride = 2),
    LAYER("layer dilated", "C(n,h,w,f) = A(n,h+2*r,w+2*q,c) * F(r,q,c,f)", ONE,
          .dilate = 2),
    LAYER("layer padded", "C(n,h,w,f) = pad A(n,h+r-1,w+q-1,c) * F(r,q,c,f)", ONE, .pad = 1,
          .declared = "[1,112,112,64]"),
};

static int64_t volume(const int64_t *shape, int order)
{
    int64_t n = 1;
    for (int k = 0; k < order; k++)
        n *= shape[k];
    return n;
}

/* A dense operand of which `zeros` per cent are zero, its nonzeros by row. */
static void make(conv_data *s, const row *r, double zeros)
{
    memcpy(s->shape, r->shape, sizeof s->shape);
    s->all = volume(r->shape, r->order);
    s->a = gen_dense(s->all, 71);
    const int64_t taps = volume(r->filter, r->filter_order);
    s->f = gen_dense(taps, 72);
    double *chance = gen_dense(2 * s->all, 73);
    for (int64_t k = 0; k < taps; k++)
        if (chance[k] * 100 < r->filter_zeros) s->f[k] = 0;
    for (int64_t k = 0; k < s->all; k++) /* two draws: steps of a millionth */
        if (chance[2 * k] + chance[2 * k + 1] / 1024 <= zeros / 100 + 1.0 / 1024)
            s->a[k] = 0;
    free(chance);
    for (int64_t k = 0; k < s->all && r->fill != 0; k++)
        if (s->a[k] == 0) s->a[k] = r->fill;
    s->truth = xalloc((size_t)(s->all + taps));
    for (int64_t k = 0; k < s->all; k++)
        s->truth[k] = s->a[k] != 0;
    for (int64_t k = 0; k < taps; k++)
        s->truth[s->all + k] = s->f[k] != 0;
    const int64_t cols = r->shape[r->order - 1];
    s->nz = (csr){s->all / cols, cols, 0, NULL, NULL, NULL};
    s->nz.pos = xalloc((size_t)(s->nz.rows + 1) * sizeof *s->nz.pos);
    s->nz.crd = xalloc((size_t)s->all * sizeof *s->nz.crd);
    s->nz.val = xalloc((size_t)s->all * sizeof *s->nz.val);
    s->nz.pos[0] = 0;
    for (int64_t k = 0; k < s->all; k++) {
        if (s->a[k] != r->fill) {
            s->nz.crd[s->nz.nnz] = (int32_t)(k % cols);
            s->nz.val[s->nz.nnz++] = s->a[k];
        }
        s->nz.pos[k / cols + 1] = (int32_t)s->nz.nnz;
    }
    s->bits = xalloc((size_t)s->all);
    int64_t room = s->all > s->nz.nnz * 9 ? s->all : s->nz.nnz * 9;
    if (r->filter_order && r->filter[0] > 11) room *= r->filter[0];
    s->out = xalloc((size_t)room * sizeof *s->out);
    s->crd = xalloc((size_t)room * sizeof *s->crd);
    s->line = gen_dense(cols, 74);
    s->width = r->filter_order ? r->filter[0] : SIDE;
    s->stride = r->stride ? r->stride : 1;
    s->dilate = r->dilate ? r->dilate : 1;
    s->pad = r->pad;
    s->side = (IMAGE + 2 * s->pad - (SIDE - 1) * s->dilate - 1) / s->stride + 1;
    s->set = xalloc((size_t)cols);
    memset(s->set, 0, (size_t)cols);
}

static void discard(conv_data *s)
{
    csr_free(&s->nz);
    free(s->a);
    free(s->f);
    free(s->out);
    free(s->line);
    free(s->crd);
    free(s->set);
    free(s->truth);
    free(s->bits);
}

static bool agree(const row *r, const conv_data *s, const stc_tensor *c)
{
    const void *values;
    int64_t n;
    if (stc_tensor_values(c, &values, &n)) return false;
    if (r->stored && n != s->stored) return false;
    if (r->truth) return !memcmp(values, s->bits, (size_t)n);
    for (int64_t k = 0; k < n; k++)
        if (((const double *)values)[k] != s->out[k] &&
            fabs(((const double *)values)[k] - s->out[k]) > 1e-9)
            return false;
    return true;
}

/* What a row runs, and its times. */
typedef struct trial {
    stc_machine *m;
    stc_session *in;
    stc_tensor *a, *f;
    stc_program *p;
    double first, ours[RUNS], theirs[RUNS];
} trial;

/* Shapes that a program can't know from its operands come from a session, which takes
 * them. */
static bool compile(trial *t, const row *r)
{
    const stc_type type = r->truth ? STC_BOOL : STC_F64;
    const stc_value fill = {.f = r->fill};
    const stc_decl decl[] = {{0, "A", r->a, type, r->fill != 0 ? &fill : NULL, -1},
                             {0, "F", r->f ? r->f : "dense", type, NULL, -1},
                             {0, "C", r->result, type, NULL, -1}};
    char text[256];
    if (!r->declared) return !stc_compile(t->m, r->text, decl, 3, &t->p);
    snprintf(text, sizeof text, "tensor C %s f64 %s", r->result, r->declared);
    return !stc_session_open(t->m, &t->in) && !stc_session_exec(t->in, text, "shapes") &&
           !stc_session_put(t->in, "A", t->a) && !stc_session_put(t->in, "F", t->f) &&
           !stc_session_compile(t->in, r->text, &t->p);
}

static bool prepare(trial *t, const row *r, const conv_data *s)
{
    const stc_type type = r->truth ? STC_BOOL : STC_F64;
    const stc_value fill = {.f = r->fill};
    const void *a = r->truth ? (const void *)s->truth : s->a;
    const void *f = r->truth ? (const void *)(s->truth + s->all) : s->f;
    return !stc_open(NULL, &t->m) &&
           !stc_tensor_from_dense(t->m, r->a, type, r->order, r->shape,
                                  r->fill != 0 ? &fill : NULL, a, &t->a) &&
           (!r->filter_order ||
            !stc_tensor_from_dense(t->m, r->f ? r->f : "dense", type, r->filter_order,
                                   r->filter, NULL, f, &t->f)) &&
           compile(t, r) && !stc_bind(t->p, "A", t->a) &&
           (!t->f || !stc_bind(t->p, "F", t->f));
}

/* In turns of three: neither cools the other. */
static bool measure(trial *t, const row *r, conv_data *s)
{
    bool ok = true;
    for (int k = 0; ok && k < RUNS; k++) {
        for (int j = 0; ok && j < 3; j++) {
            const double t0 = own_ns();
            ok = !stc_run(t->p);
            t->ours[k] = own_ns() - t0;
            if (!k && !j) t->first = t->ours[k];
        }
        for (int j = 0; j < 3; j++) {
            const double t0 = own_ns();
            r->run(s);
            t->theirs[k] = own_ns() - t0;
        }
    }
    median(t->ours, RUNS); /* sorts: the least of both is what the work costs */
    median(t->theirs, RUNS);
    return ok;
}

/* Rows of features of which something was stored. */
static int64_t touched(const conv_data *s)
{
    int64_t n = 0;
    if (s->stored) return s->stored / FEATURES;
    for (int64_t k = 0; k < s->side * s->side; k++)
        for (int64_t f = 0; f < FEATURES; f++)
            if (s->out[k * FEATURES + f] != 0) {
                n++;
                break;
            }
    return n;
}

static void print_row(const row *r, const trial *t, const conv_data *s, double zeros,
                      bool csv)
{
    const double us = t->ours[0], them = t->theirs[0];
    char tier[TIERS_ROOM];
    tiers_of(t->m, t->p, tier);
    printf(csv ? "%s,%g%% of %lld,%.4f,%.4f,%.3f,"
               : "%-14s %5g%% zeros %9lld nonzeros %9.3f %9.3f ms %7.2f",
           r->name, zeros, (long long)s->nz.nnz, us * 1e-6, them * 1e-6, us / them);
    if (!csv) printf(" %7.1f ns each  tier ", us / (double)(s->nz.nnz ? s->nz.nnz : 1));
    printf(csv ? ",%s\n" : "%s", tier);
    if (csv) return;
    if (r->zeros == FIG16)
        printf("  first %.3f ms, %lld rows", t->first * 1e-6, (long long)touched(s));
    printf("\n");
}

/* ours / theirs at so many per cent of zeros; 0: it failed, or results differ. */
static double run_row(const row *r, double zeros, bool csv)
{
    conv_data s = {.stored = 0};
    trial t = {.m = NULL};
    const stc_tensor *c = NULL;
    make(&s, r, zeros);
    const bool ok = prepare(&t, r, &s) && measure(&t, r, &s) && !stc_result(t.p, "C", &c);
    const bool same = ok && agree(r, &s, c);
    if (same)
        print_row(r, &t, &s, zeros, csv);
    else
        printf("%s: %s\n", r->name, ok ? "results differ" : stc_error(t.m)->message);
    fflush(stdout);
    stc_program_free(t.p);
    if (t.in) { /* which has taken them */
        stc_session_close(t.in);
    } else {
        stc_tensor_free(t.a);
        stc_tensor_free(t.f);
    }
    stc_close(t.m);
    discard(&s);
    return same ? t.ours[0] / t.theirs[0] : 0;
}

int bench_convolution(const char *filter, bool csv)
{
    static const double fig17[] = {0, 40, 60, 80, 90, 95, 99, 99.9, -1},
                        fig16[] = {90, 92, 94, 96, 98, 99, 99.5, 99.9, -1},
                        one[] = {95, -1};
    bool wrong = false;
    mean all = {0};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const row *r = &rows[k];
        if (filter && !strstr(r->name, filter) && strcmp(filter, "convolution")) continue;
        double wins = 100;
        const double *z = r->zeros == FIG17 ? fig17 : r->zeros == FIG16 ? fig16 : one;
        for (; *z >= 0; z++) {
            const double ratio = run_row(r, *z, csv);
            wrong |= ratio <= 0;
            mean_add(&all, r->name, ratio);
            if (ratio > 0 && ratio < 1 && *z < wins) wins = *z;
        }
        if (r->zeros == FIG17 && !csv)
            printf("%-14s ahead of the dense loops from %g%% zeros on\n", r->name, wins);
    }
    mean_print(&all, "geometric mean, convolution", csv);
    return wrong;
}
