/* arrays.c: the array paper's evaluation: functions that are neither unions nor
 * intersections, fused ones, semirings, slices and strides, edges in images, minimax
 * in trees, against the C loops of arrays_ref.c on the same arrays. What is stored
 * is counted on both sides; scalars are compared.
 */
#include "arrays.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 7 };

typedef struct row {
    const char *name, *text, *format;
    bool counted; /* the result's entries are counted on both sides */
    bool inf;     /* the fill of A and D */
    void (*run)(array_data *s);
} row;

#define SLICED(i, j) "C(i,j) = A(" i "," j ") + B(" i "," j ")"

static const row rows[] = {
    {"xor", "C(i,j) = (A(i,j) != 0) ^ (B(i,j) != 0)", "csr", true, false, arrays_xor},
    {"ldexp", "C(i,j) = ldexp(A(i,j), J(i,j))", "csr", true, false, arrays_ldexp},
    {"right shift", "C(i,j) = I(i,j) >> J(i,j)", "csr", true, false, arrays_shift},
    {"power", "C(i,j) = A(i,j) ** B(i,j)", "csr", true, false, arrays_power},
    {"and of xor", "C(i,j) = D(i,j) != 0 && ((A(i,j) != 0) ^ (B(i,j) != 0))", "csr", true,
     false, arrays_and_xor},
    {"xor of or", "C(i,j) = (A(i,j) != 0 || B(i,j) != 0) ^ (D(i,j) != 0)", "csr", true,
     false, arrays_or_xor},
    {"xor of xor", "C(i,j) = (A(i,j) != 0) ^ (B(i,j) != 0) ^ (D(i,j) != 0)", "csr", true,
     false, arrays_xor_xor},
    {"complement mask", "C(i) = !m(i) && any(j: A(i,j) != 0 && x(j) != 0)", "dense", false,
     false, arrays_masked},
    {"tropical mxv", "C(i) = min(j: A(i,j) + x(j))", "dense", false, true, arrays_tropical},
    {"boolean mxm", "C(i,j) = any(k: D(i,k) != 0 && A(k,j) != 0)", "csr", true, false,
     arrays_bool_mxm},
    {"tropical mxm", "C(i,j) = min(k: D(i,k) + A(k,j))", "csr", true, true,
     arrays_tropical_mxm},
    {"slice 500", SLICED("i(0:500)", "j(0:500)"), "csr", true, false, arrays_slice_500},
    {"slice quarter", SLICED("i(25000:50000)", "j(25000:50000)"), "csr", true, false,
     arrays_slice_quarter},
    {"slice inner", SLICED("i(1:99999)", "j"), "csr", true, false, arrays_slice_inner},
    {"stride 2", SLICED("i(::2)", "j(::2)"), "csr", true, false, arrays_stride_2},
    {"stride 4", SLICED("i(::4)", "j(::4)"), "csr", true, false, arrays_stride_4},
    {"stride 8", SLICED("i(::8)", "j(::8)"), "csr", true, false, arrays_stride_8},
    {"edges", "C(i,j) = xor(F(i,j) && R(i,j), G(i,j) && R(i,j))", "csr", true, false,
     arrays_edges},
    {"minimax", "C = max(i: min(j: A(i,j)))", "dense", false, false, arrays_minimax},
    {"minimax 3", "C = max(i: min(j: max(k: S(i,j,k))))", "dense", false, false,
     arrays_minimax_3},
    {"minimax 5", "C = max(i: min(j: max(k: min(l: max(m: T(i,j,k,l,m))))))", "dense",
     false, false, arrays_minimax_5},
    {"minimax 7",
     "C = max(i: min(j: max(k: min(l: max(m: min(n: max(o: U(i,j,k,l,m,n,o))))))))",
     "dense", false, false, arrays_minimax_7},
};

/* ---- operands ------------------------------------------------------------------------ */

enum { OPERANDS = 13, MATRICES = 5 };
static const struct operand {
    const char *name, *format;
    bool own; /* the machine's arrays; else lent */
} operands[OPERANDS] = {
    {"A", "csr", false},   {"B", "csr", false},   {"D", "csr", false}, {"I", "csr", false},
    {"J", "csr", false},   {"F", "csr", false},   {"G", "csr", false}, {"R", "csr", false},
    {"m", "dense", false}, {"x", "dense", false}, {"S", "csf", true},  {"T", "csf", true},
    {"U", "csf", true},
};

static stc_array indices(int32_t *p, int64_t n)
{
    return (stc_array){.data = p, .length = n, .width = 4, .stride = 4};
}

static stc_tensor *lend_arrays(stc_machine *m, int64_t n, int32_t *pos, int32_t *crd,
                               stc_type type, void *values, const stc_value *fill)
{
    stc_tensor *t = NULL;
    const int64_t shape[2] = {n, n};
    if (stc_tensor_new(m, "csr", type, 2, shape, fill, &t) ||
        stc_tensor_lend(t, 1, STC_POS, indices(pos, n + 1)) ||
        stc_tensor_lend(t, 1, STC_CRD, indices(crd, pos[n])) ||
        stc_tensor_lend_values(t, values, pos[n])) {
        stc_tensor_free(t);
        return NULL;
    }
    return t;
}

static stc_tensor *lend_vector(stc_machine *m, stc_type type, void *values)
{
    stc_tensor *t = NULL;
    const int64_t shape[1] = {ARRAYS_ROWS};
    if (stc_tensor_new(m, "dense", type, 1, shape, NULL, &t)) return NULL;
    if (!stc_tensor_lend_values(t, values, ARRAYS_ROWS)) return t;
    stc_tensor_free(t);
    return NULL;
}

static stc_tensor *lend(stc_machine *m, const csr *a, stc_type type, void *values,
                        const stc_value *fill)
{
    return lend_arrays(m, a->rows, a->pos, a->crd, type, values, fill);
}

static stc_tensor *lend_bits(stc_machine *m, const bits *b)
{
    return lend_arrays(m, b->rows, b->pos, b->crd, STC_BOOL, b->val, NULL);
}

/* The operand's tensor as the row needs it. */
static stc_tensor *operand_of(stc_machine *m, array_data *s, int k, const stc_value *fill)
{
    switch (operands[k].name[0]) {
    case 'A':
        return lend(m, &s->a, STC_F64, s->a.val, fill);
    case 'B':
        return lend(m, &s->b, STC_F64, s->b.val, NULL);
    case 'D':
        return lend(m, &s->d, STC_F64, s->d.val, fill);
    case 'I':
        return lend(m, &s->a, STC_I64, s->ia, NULL);
    case 'J':
        return lend(m, &s->b, STC_I64, s->ib, NULL);
    case 'm':
        return lend_vector(m, STC_BOOL, s->mask);
    case 'x':
        return lend_vector(m, STC_F64, s->x);
    default:
        return lend_bits(m, &s->image[operands[k].name[0] == 'F'   ? 0
                                      : operands[k].name[0] == 'G' ? 1
                                                                   : 2]);
    }
}

/* Random places of a tree, values on both sides of 0. */
static stc_tensor *grow(stc_machine *m, tree *out, int order, int64_t extent, int64_t n)
{
    int64_t shape[TREE_ORDER], *coords = xalloc((size_t)(n * order) * sizeof *coords);
    double *values = xalloc((size_t)n * sizeof *values);
    uint64_t seed = 77 + (uint64_t)order;
    for (int64_t e = 0; e < n * order + n; e++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        if (e < n * order)
            coords[e] = (int64_t)(seed >> 33) % extent;
        else
            values[e - n * order] = (double)((int64_t)(seed >> 53) - 1024) / 1024;
    }
    for (int k = 0; k < order; k++)
        shape[k] = extent;
    stc_tensor *t = NULL;
    bool ok = !stc_tensor_from_coords(m, "csf", STC_F64, order, shape, NULL, n, coords,
                                      values, &t);
    *out = (tree){.order = order, .extent = extent};
    for (int l = 0; ok && l < order; l++) {
        stc_array pos, crd;
        ok = !stc_tensor_array(t, l, STC_POS, &pos) && pos.width == 4 &&
             !stc_tensor_array(t, l, STC_CRD, &crd) && crd.width == 4;
        if (ok) out->pos[l] = pos.data, out->crd[l] = crd.data;
    }
    const void *vals;
    int64_t length;
    ok = ok && !stc_tensor_values(t, &vals, &length);
    if (ok) out->val = vals;
    free(coords);
    free(values);
    return ok ? t : NULL;
}

/* ---- rows ---------------------------------------------------------------------------- */

/* The text has this name as an operand: not as the end of a word. */
static bool uses(const char *text, char name)
{
    for (const char *q = text; (q = strchr(q, name)) != NULL; q++)
        if (q[1] == '(' && (q == text || q[-1] < 'a' || q[-1] > 'z')) return true;
    return false;
}

static const char *input_of(const row *r)
{
    return uses(r->text, 'F')                                               ? "image"
           : uses(r->text, 'S') || uses(r->text, 'T') || uses(r->text, 'U') ? "tree"
                                                                            : "uni";
}

/* ours / theirs; 0: it failed, or results differ. */
static double run_row(const row *r, array_data *s, stc_machine *m, stc_tensor *const *trees,
                      bool csv)
{
    const stc_value inf = {.f = INFINITY};
    stc_tensor *t[OPERANDS] = {NULL};
    stc_decl decl[OPERANDS];
    int n = 0;
    bool ok = true;
    for (int k = 0; k < OPERANDS; k++) {
        const struct operand *o = &operands[k];
        const bool filled = r->inf && (o->name[0] == 'A' || o->name[0] == 'D');
        if (!uses(r->text, o->name[0])) continue;
        t[k] = o->own ? trees[o->name[0] - 'S'] : operand_of(m, s, k, filled ? &inf : NULL);
        ok = ok && t[k];
        decl[n++] = (stc_decl){0,
                               o->name,
                               o->format,
                               t[k] ? (int)stc_tensor_type(t[k]) : -1,
                               filled ? &inf : NULL,
                               -1};
    }
    stc_program *p = NULL;
    const stc_tensor *c = NULL;
    ok = ok && !stc_compile(m, r->text, decl, n, &p);
    for (int k = 0; ok && k < OPERANDS; k++)
        ok = !t[k] || !stc_bind(p, operands[k].name, t[k]);
    double ours[RUNS], theirs[RUNS], ratio = 0;
    for (int k = -1; ok && k < RUNS; k++) {
        const double t0 = own_ns();
        ok = !stc_run(p);
        const double t1 = own_ns();
        r->run(s);
        if (k >= 0) ours[k] = t1 - t0, theirs[k] = own_ns() - t1;
    }
    ok = ok && !stc_result(p, "C", &c);
    if (ok && r->counted && stc_tensor_stored(c) != s->stored) {
        printf("%s: %lld entries stored, %lld by the C loops\n", r->name,
               (long long)stc_tensor_stored(c), (long long)s->stored);
        ok = false;
    }
    stc_value scalar = {.f = 0};
    if (ok && !stc_tensor_order(c) &&
        (stc_tensor_get(c, NULL, &scalar) || scalar.f != s->y[0])) {
        printf("%s: %g, %g by the C loops\n", r->name, scalar.f, s->y[0]);
        ok = false;
    }
    if (ok) {
        const double a = median(ours, RUNS), b = median(theirs, RUNS);
        char tier[TIERS_ROOM];
        tiers_of(m, p, tier);
        ratio = a / b;
        printf(csv ? "%s,%s,%.4f,%.4f,%.3f,,%s\n"
                   : "%-15s %-6s%10.3f %10.3f %7.2f      -  %s\n",
               r->name, input_of(r), a * 1e-6, b * 1e-6, ratio, tier);
    } else {
        printf("%s: %s\n", r->name, stc_error(m)->message);
    }
    stc_program_free(p);
    for (int k = 0; k < OPERANDS; k++)
        if (!operands[k].own) stc_tensor_free(t[k]);
    return ratio;
}

/* ---- inputs -------------------------------------------------------------------------- */

static void set_bit(bits *b, int64_t j)
{
    b->crd[b->nnz] = (int32_t)j;
    b->val[b->nnz++] = true;
}

/* A picture of bright spots as a scan gives them, cut off at two levels, and an
 * ellipse in its middle. */
static void make_image(bits *b)
{
    const int64_t n = IMAGE_SIDE;
    for (int k = 0; k < 3; k++) {
        b[k] = (bits){.rows = n};
        b[k].pos = xalloc((size_t)(n + 1) * sizeof *b[k].pos);
        b[k].crd = xalloc((size_t)(n * n) * sizeof *b[k].crd);
        b[k].val = xalloc((size_t)(n * n));
        b[k].pos[0] = 0;
    }
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) {
            const double u = (double)i / (double)n - 0.5, v = (double)j / (double)n - 0.5;
            const double light = 0.5 + 0.3 * sin(23 * u + 3 * v) * cos(17 * v) +
                                 0.2 * sin(71 * u * v + 5 * v);
            if (light > 0.75) set_bit(&b[0], j);
            if (light > 0.8) set_bit(&b[1], j);
            if (u * u / 0.2 + v * v / 0.15 < 1) set_bit(&b[2], j);
        }
        for (int k = 0; k < 3; k++)
            b[k].pos[i + 1] = (int32_t)b[k].nnz;
    }
}

static void make(array_data *s)
{
    s->a = gen_uni(ARRAYS_ROWS, 10, 51);
    s->b = gen_uni(ARRAYS_ROWS, 10, 52);
    s->d = gen_uni(ARRAYS_ROWS, 2, 53);
    s->ia = xalloc((size_t)s->a.nnz * sizeof *s->ia);
    s->ib = xalloc((size_t)s->b.nnz * sizeof *s->ib);
    for (int64_t k = 0; k < s->a.nnz; k++)
        s->ia[k] = k % 1000 + 1;
    for (int64_t k = 0; k < s->b.nnz; k++)
        s->ib[k] = 2;
    s->mask = xalloc(ARRAYS_ROWS);
    for (int k = 0; k < ARRAYS_ROWS; k++)
        s->mask[k] = k % 4 != 0;
    s->x = gen_dense(ARRAYS_ROWS, 54);
    s->y = gen_dense(ARRAYS_ROWS, 55);
    s->mark = xalloc(ARRAYS_ROWS * sizeof *s->mark);
    make_image(s->image);
    ref_out_init(&s->out, s->a.rows, s->a.cols);
    const size_t most = (size_t)(3 * (s->a.nnz + s->b.nnz)); /* of all rows */
    s->out.m.crd = xalloc(most * sizeof *s->out.m.crd);
    s->out.m.val = xalloc(most * sizeof *s->out.m.val);
}

static void discard(array_data *s)
{
    csr_free(&s->a);
    csr_free(&s->b);
    csr_free(&s->d);
    ref_out_free(&s->out);
    for (int k = 0; k < 3; k++) {
        free(s->image[k].pos);
        free(s->image[k].crd);
        free(s->image[k].val);
    }
    free(s->ia);
    free(s->ib);
    free(s->mask);
    free(s->mark);
    free(s->x);
    free(s->y);
}

static bool plant(stc_machine *m, array_data *s, stc_tensor **trees)
{
    trees[0] = grow(m, &s->tree[0], 3, 200, 200000);
    trees[1] = grow(m, &s->tree[1], 5, 20, 200000);
    trees[2] = grow(m, &s->tree[2], 7, 8, 200000);
    return trees[0] && trees[1] && trees[2];
}

int bench_arrays(const char *filter, bool csv)
{
    array_data s = {.stored = 0};
    stc_tensor *trees[TREES] = {NULL};
    stc_machine *m = NULL;
    mean all = {0};
    int wrong = 0;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        if (filter && !strstr(rows[k].name, filter) && strcmp(filter, "arrays")) continue;
        if (!m) {
            make(&s);
            if (stc_open(NULL, &m) || !plant(m, &s, trees)) return 1;
        }
        const double ratio = run_row(&rows[k], &s, m, trees, csv);
        wrong |= ratio <= 0;
        mean_add(&all, rows[k].name, ratio);
    }
    mean_print(&all, "geometric mean, arrays", csv);
    if (m) discard(&s);
    for (int k = 0; k < TREES; k++)
        stc_tensor_free(trees[k]);
    stc_close(m);
    return wrong;
}
