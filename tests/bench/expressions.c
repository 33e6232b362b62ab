/* expressions.c: expressions that no superinstruction has by name: three operands
 * of mixed formats, bodies with exp and select, unions of a product with a sum,
 * f32, i32 and bool. Matrices are uniform, 100 000 rows of 10 (D: of 2).
 */
#include "expressions.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 7, ROWS_N = 100000 };

typedef struct row {
    const char *name, *text;
    int type;
    bool matrix; /* else a vector, or a scalar */
    expr_loop run;
} row;

#define M(name, text, type)                                                                \
    {                                                                                      \
#name, text, type, true, expr_##name                                               \
    }
#define V(name, text, type)                                                                \
    {                                                                                      \
#name, text, type, false, expr_##name                                              \
    }
static const row rows[] = {
    M(sum3, "R(i,j) = A(i,j) + B(i,j) + D(i,j)", STC_F64),
    M(mul_add, "R(i,j) = A(i,j) * B(i,j) + D(i,j)", STC_F64),
    M(scaled_sum, "R(i,j) = A(i,j) * x(j) + B(i,j) * z(i)", STC_F64),
    M(mul_of_sum, "R(i,j) = A(i,j) * (B(i,j) + D(i,j))", STC_F64),
    V(two_mxv, "R(i) = A(i,j) * x(j) + B(i,j) * z(j)", STC_F64),
    V(picked_mxv, "R(i) = A(i,j) * x(j) * v(i)", STC_F64),
    M(expm1, "R(i,j) = 1 - exp(-A(i,j))", STC_F64),
    M(threshold, "R(i,j) = select(A(i,j) > 0.5, A(i,j), 0)", STC_F64),
    M(relu, "R(i,j) = max(A(i,j) - B(i,j), 0) * x(j)", STC_F64),
    V(sigmoid, "R(i) = A(i,j) / (1 + exp(-B(i,j)))", STC_F64),
    M(larger, "R(i,j) = select(A(i,j) > B(i,j), A(i,j), B(i,j))", STC_F64),
    M(f32_sum, "R(i,j) = F(i,j) * 2 + G(i,j)", STC_F32),
    V(f32_mxv, "R(i) = F(i,j) * w(j)", STC_F32),
    M(i32_mul_add, "R(i,j) = I(i,j) * J(i,j) + I(i,j)", STC_I32),
    V(i32_and, "R(i) = I(i,j) & J(i,j)", STC_I32),
    M(bool_or, "R(i,j) = N(i,j) || O(i,j)", STC_BOOL),
    M(dcsr_mul, "R(i,j) = A(i,j) * P(i,j) * x(j)", STC_F64),
    M(coo_sum, "R(i,j) = A(i,j) + Q(i,j)", STC_F64),
    M(hypot_less, "R(i,j) = sqrt(A(i,j)*A(i,j) + B(i,j)*B(i,j)) - D(i,j)", STC_F64),
    V(distance, "R(i) = abs(A(i,j) - B(i,j)) * x(j)", STC_F64),
    V(inner, "R = A(i,j) * B(i,j) * x(j) * z(i)", STC_F64),
};

/* ---- operands ------------------------------------------------------------------------ */

typedef enum pattern { DENSE, SPARSE, CSR_A, CSR_B, CSR_D, DCSR_B, COO_D } pattern;

typedef struct operand {
    const char *name, *form;
    pattern pattern;
    stc_type type;
    const void *values;
} operand;

enum { OPERANDS = 15 };

static void operands_of(const expr_data *s, operand out[OPERANDS])
{
    const operand all[OPERANDS] = {
        {"A", "csr", CSR_A, STC_F64, s->a.val},  {"B", "csr", CSR_B, STC_F64, s->b.val},
        {"D", "csr", CSR_D, STC_F64, s->d.val},  {"F", "csr", CSR_A, STC_F32, s->a32},
        {"G", "csr", CSR_B, STC_F32, s->b32},    {"I", "csr", CSR_A, STC_I32, s->ai},
        {"J", "csr", CSR_B, STC_I32, s->bi},     {"N", "csr", CSR_A, STC_BOOL, s->ab},
        {"O", "csr", CSR_D, STC_BOOL, s->db},    {"P", "dcsr", DCSR_B, STC_F64, s->b.val},
        {"Q", "coo", COO_D, STC_F64, s->d.val},  {"x", "dense", DENSE, STC_F64, s->x},
        {"z", "dense", DENSE, STC_F64, s->z},    {"w", "dense", DENSE, STC_F32, s->x32},
        {"v", "svec", SPARSE, STC_F64, s->v_val}};
    memcpy(out, all, sizeof all);
}

/* The text has this name as an operand: not as the end of a word. */
static bool uses(const char *text, char name)
{
    for (const char *q = text; (q = strchr(q, name)) != NULL; q++)
        if (q[1] == '(' && (q == text || q[-1] < 'a' || q[-1] > 'z')) return true;
    return false;
}

static stc_array indices(int32_t *p, int64_t n)
{
    return (stc_array){.data = p, .length = n, .width = 4, .stride = 4};
}

/* A matrix's entries by coordinates, in another format. */
static stc_status from_rows(stc_machine *m, const operand *o, const csr *a,
                            stc_tensor **out)
{
    int64_t shape[2] = {a->rows, a->cols};
    int64_t *coords = xalloc((size_t)a->nnz * 2 * sizeof *coords);
    for (int64_t i = 0; i < a->rows; i++)
        for (int32_t p = a->pos[i]; p < a->pos[i + 1]; p++)
            coords[p] = i, coords[a->nnz + p] = a->crd[p];
    const stc_status st = stc_tensor_from_coords(m, o->form, o->type, 2, shape, NULL,
                                                 a->nnz, coords, o->values, out);
    free(coords);
    return st;
}

static stc_tensor *lend(stc_machine *m, expr_data *s, const operand *o)
{
    stc_tensor *t = NULL;
    const csr *a = o->pattern == CSR_A ? &s->a : o->pattern == CSR_B ? &s->b : &s->d;
    int64_t extents[2] = {ROWS_N, ROWS_N};
    void *values = (void *)o->values;
    if (o->pattern == DCSR_B) return from_rows(m, o, &s->b, &t) ? NULL : t;
    if (o->pattern == COO_D) return from_rows(m, o, &s->d, &t) ? NULL : t;
    const bool vector = o->pattern == DENSE || o->pattern == SPARSE;
    bool ok = !stc_tensor_new(m, o->form, o->type, vector ? 1 : 2, extents, NULL, &t);
    if (ok && o->pattern == SPARSE)
        ok = !stc_tensor_lend(t, 0, STC_POS, indices(s->v_pos, 2)) &&
             !stc_tensor_lend(t, 0, STC_CRD, indices(s->v_crd, s->v_pos[1]));
    if (ok && !vector)
        ok = !stc_tensor_lend(t, 1, STC_POS, indices(a->pos, a->rows + 1)) &&
             !stc_tensor_lend(t, 1, STC_CRD, indices(a->crd, a->nnz));
    const int64_t n = o->pattern == DENSE ? ROWS_N : vector ? s->v_pos[1] : a->nnz;
    if (ok && !stc_tensor_lend_values(t, values, n)) return t;
    stc_tensor_free(t);
    return NULL;
}

/* ---- one row ------------------------------------------------------------------------- */

static double value_at(int type, const void *p, int64_t k)
{
    return type == STC_F64   ? ((const double *)p)[k]
           : type == STC_F32 ? (double)((const float *)p)[k]
           : type == STC_I32 ? ((const int32_t *)p)[k]
                             : ((const bool *)p)[k];
}

static bool same(const row *r, const expr_data *s, const stc_tensor *t)
{
    const void *got;
    int64_t n;
    stc_array crd;
    if (stc_tensor_values(t, &got, &n) || n < s->n) return false;
    if (r->matrix &&
        (stc_tensor_stored(t) != s->n || stc_tensor_array(t, 1, STC_CRD, &crd) ||
         crd.width != 4 || memcmp(crd.data, s->crd, (size_t)s->n * 4) != 0))
        return false;
    const double tolerance = r->type == STC_F32 ? 1e-4 : 1e-9;
    for (int64_t k = 0; k < s->n; k++) {
        const double a = value_at(r->type, got, k), b = value_at(r->type, s->val.f64, k);
        if (fabs(a - b) > tolerance * (1 + fabs(b))) return false;
    }
    return true;
}

/* ours / theirs by the best runs; 0: it failed, or results differ. */
static double run_row(const row *r, expr_data *s, stc_machine *m, bool csv)
{
    operand o[OPERANDS];
    stc_tensor *t[OPERANDS] = {NULL};
    stc_decl decl[OPERANDS + 1];
    stc_program *p = NULL;
    const stc_tensor *result = NULL;
    int n = 0;
    operands_of(s, o);
    for (int k = 0; k < OPERANDS; k++)
        if (uses(r->text, o[k].name[0]))
            decl[n++] = (stc_decl){0, o[k].name, o[k].form, (int)o[k].type, NULL, -1};
    decl[n++] = (stc_decl){0, "R", r->matrix ? "csr" : "dense", r->type, NULL, -1};
    bool ok = !stc_compile(m, r->text, decl, n, &p);
    for (int k = 0; ok && k < OPERANDS; k++) {
        if (!uses(r->text, o[k].name[0])) continue;
        t[k] = lend(m, s, &o[k]);
        ok = t[k] && !stc_bind(p, o[k].name, t[k]);
    }
    double ours = 1e300, theirs = 1e300, ratio = 0;
    for (int k = 0; ok && k < RUNS; k++) {
        const double t0 = own_ns();
        ok = !stc_run(p);
        const double t1 = own_ns();
        r->run(s);
        const double t2 = own_ns();
        if (t1 - t0 < ours) ours = t1 - t0;
        if (t2 - t1 < theirs) theirs = t2 - t1;
    }
    ok = ok && !stc_result(p, "R", &result);
    if (ok && same(r, s, result)) {
        char tier[TIERS_ROOM];
        tiers_of(m, p, tier);
        ratio = ours / theirs;
        printf(csv ? "%s,uni,%.4f,%.4f,%.3f,,%s\n"
                   : "%-14s uni    %10.3f %10.3f %7.2f      -  %s\n",
               r->name, ours * 1e-6, theirs * 1e-6, ratio, tier);
    } else {
        printf("%s: %s\n", r->name, ok ? "results differ" : stc_error(m)->message);
    }
    fflush(stdout);
    stc_program_free(p);
    for (int k = 0; k < OPERANDS; k++)
        stc_tensor_free(t[k]);
    return ratio;
}

static void make(expr_data *s)
{
    s->a = gen_uni(ROWS_N, 10, 61);
    s->b = gen_uni(ROWS_N, 10, 62);
    s->d = gen_uni(ROWS_N, 2, 63);
    const size_t n = (size_t)s->a.nnz, nd = (size_t)s->d.nnz, all = 2 * n + nd;
    s->x = gen_dense(ROWS_N, 64);
    s->z = gen_dense(ROWS_N, 65);
    s->v_val = gen_dense(ROWS_N, 66);
    s->a32 = xalloc(n * sizeof *s->a32);
    s->b32 = xalloc(n * sizeof *s->b32);
    s->x32 = xalloc(ROWS_N * sizeof *s->x32);
    s->ai = xalloc(n * sizeof *s->ai);
    s->bi = xalloc(n * sizeof *s->bi);
    s->ab = xalloc(n);
    s->db = xalloc(nd);
    s->v_crd = xalloc(ROWS_N * sizeof *s->v_crd);
    s->pos = xalloc((ROWS_N + 1) * sizeof *s->pos);
    s->crd = xalloc(all * sizeof *s->crd);
    s->val.f64 = xalloc(all * sizeof *s->val.f64);
    for (size_t k = 0; k < n; k++) {
        s->a32[k] = (float)s->a.val[k], s->b32[k] = (float)s->b.val[k];
        s->ai[k] = (int32_t)(k % 1000) + 1, s->bi[k] = (int32_t)(k % 77) + 1;
        s->ab[k] = true;
    }
    for (size_t k = 0; k < nd; k++)
        s->db[k] = true;
    for (int32_t i = 0; i < ROWS_N; i++) {
        s->x32[i] = (float)s->x[i];
        if (i % 4 == 0) s->v_crd[s->v_pos[1]++] = i;
    }
}

static void discard(expr_data *s)
{
    void *const blocks[] = {s->x,  s->z,  s->v_val, s->a32,   s->b32, s->x32, s->ai,
                            s->bi, s->ab, s->db,    s->v_crd, s->pos, s->crd, s->val.f64};
    csr_free(&s->a);
    csr_free(&s->b);
    csr_free(&s->d);
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++)
        free(blocks[k]);
}

int bench_expressions(const char *filter, bool csv)
{
    expr_data s = {.n = 0};
    stc_machine *m = NULL;
    mean all = {0};
    int wrong = 0;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        if (filter && !strstr(rows[k].name, filter) && strcmp(filter, "expressions"))
            continue;
        if (!m) make(&s);
        if (!m && stc_open(NULL, &m)) return 1;
        const double ratio = run_row(&rows[k], &s, m, csv);
        wrong |= ratio <= 0;
        mean_add(&all, rows[k].name, ratio);
    }
    mean_print(&all, "geometric mean, expressions", csv);
    if (m) discard(&s);
    stc_close(m);
    return wrong;
}
