/* graphs_grb.c: the algorithms on SuiteSparse:GraphBLAS, on one thread, the way its own
 * users write them: the same rounds as the other sides. Without it (BENCH_GRAPHBLAS isn't
 * defined, see the Makefile) there is no such side.
 */
#include "graphs.h"
#include <stdlib.h>

#ifdef BENCH_GRAPHBLAS
#include <GraphBLAS.h>
#include <math.h>

struct grb_side {
    GrB_Matrix g, p, pt, s, l, pattern;
    int64_t n, source;
};

static void ok(GrB_Info info)
{
    if (info == GrB_SUCCESS || info == GrB_NO_VALUE) return;
    fprintf(stderr, "bench: GraphBLAS failed with %d\n", info);
    exit(1);
}

static GrB_Matrix matrix(const csr *a)
{
    GrB_Matrix m;
    const GrB_Index n = (GrB_Index)a->rows, nnz = (GrB_Index)a->nnz;
    GrB_Index *pos = xalloc((n + 1) * sizeof *pos), *crd = xalloc(nnz * sizeof *crd);
    for (GrB_Index i = 0; i <= n; i++)
        pos[i] = (GrB_Index)a->pos[i];
    for (GrB_Index p = 0; p < nnz; p++)
        crd[p] = (GrB_Index)a->crd[p];
    ok(GrB_Matrix_import_FP64(&m, GrB_FP64, n, n, pos, crd, a->val, n + 1, nnz, nnz,
                              GrB_CSR_FORMAT));
    ok(GrB_Matrix_wait(m, GrB_MATERIALIZE));
    free(pos);
    free(crd);
    return m;
}

static GrB_Vector vector(const grb_side *s, GrB_Type type)
{
    GrB_Vector v;
    ok(GrB_Vector_new(&v, type, (GrB_Index)s->n));
    return v;
}

static GrB_Vector full(const grb_side *s, double x)
{
    GrB_Vector v = vector(s, GrB_FP64);
    ok(GrB_Vector_assign_FP64(v, NULL, NULL, x, GrB_ALL, (GrB_Index)s->n, NULL));
    return v;
}

grb_side *grb_open(const graph *g)
{
    static bool running;
    if (!running) ok(GrB_init(GrB_BLOCKING));
    running = true;
    ok(GxB_Global_Option_set(GxB_GLOBAL_NTHREADS, 1));
    grb_side *s = xalloc(sizeof *s);
    *s = (grb_side){.n = g->g.rows, .source = g->source};
    s->g = matrix(&g->g);
    s->p = matrix(&g->p);
    s->pt = matrix(&g->pt);
    s->s = matrix(&g->s);
    s->l = matrix(&g->l);
    ok(GrB_Matrix_new(&s->pattern, GrB_BOOL, (GrB_Index)s->n, (GrB_Index)s->n));
    ok(GrB_Matrix_apply(s->pattern, NULL, NULL, GxB_ONE_BOOL, s->g, NULL));
    ok(GrB_Matrix_wait(s->pattern, GrB_MATERIALIZE));
    return s;
}

void grb_close(grb_side *s)
{
    if (!s) return;
    GrB_Matrix *all[] = {&s->g, &s->p, &s->pt, &s->s, &s->l, &s->pattern};
    for (int k = 0; k < 6; k++)
        GrB_Matrix_free(all[k]);
    free(s);
}

static double bfs(const grb_side *s)
{
    const GrB_Index n = (GrB_Index)s->n;
    GrB_Vector level = vector(s, GrB_INT32), q = vector(s, GrB_BOOL);
    GrB_Index found = 1;
    double sum = 0;
    ok(GrB_Vector_setElement_BOOL(q, true, (GrB_Index)s->source));
    for (int32_t depth = 0; found > 0; depth++) {
        ok(GrB_Vector_assign_INT32(level, q, NULL, depth, GrB_ALL, n, GrB_DESC_S));
        ok(GrB_vxm(q, level, NULL, GxB_ANY_PAIR_BOOL, q, s->pattern, GrB_DESC_RSC));
        ok(GrB_Vector_nvals(&found, q));
    }
    GrB_Index reached;
    ok(GrB_Vector_reduce_FP64(&sum, NULL, GrB_PLUS_MONOID_FP64, level, NULL));
    ok(GrB_Vector_nvals(&reached, level));
    GrB_Vector_free(&level);
    GrB_Vector_free(&q);
    return sum - (double)(n - reached);
}

static double page_rank(const grb_side *s, bool push)
{
    const GrB_Index n = (GrB_Index)s->n;
    GrB_Vector old = full(s, 1.0 / (double)n), new = full(s, 0), t = vector(s, GrB_FP64);
    double change = 0;
    for (int k = 0; k < RANK_ROUNDS; k++) {
        ok(GrB_Vector_assign_FP64(new, NULL, NULL, 0, GrB_ALL, n, NULL));
        if (push)
            ok(GrB_vxm(new, NULL, GrB_PLUS_FP64, GrB_PLUS_TIMES_SEMIRING_FP64, old, s->p,
                       NULL));
        else
            ok(GrB_mxv(new, NULL, GrB_PLUS_FP64, GrB_PLUS_TIMES_SEMIRING_FP64, s->pt, old,
                       NULL));
        ok(GrB_Vector_apply_BinaryOp2nd_FP64(new, NULL, NULL, GrB_TIMES_FP64, new, 0.85,
                                             NULL));
        ok(GrB_Vector_apply_BinaryOp2nd_FP64(new, NULL, NULL, GrB_PLUS_FP64, new,
                                             0.15 / (double)n, NULL));
        ok(GrB_Vector_eWiseAdd_BinaryOp(t, NULL, NULL, GrB_MINUS_FP64, new, old, NULL));
        ok(GrB_Vector_apply(t, NULL, NULL, GrB_ABS_FP64, t, NULL));
        ok(GrB_Vector_reduce_FP64(&change, NULL, GrB_PLUS_MONOID_FP64, t, NULL));
        GrB_Vector swap = old;
        old = new, new = swap;
    }
    GrB_Vector_free(&old);
    GrB_Vector_free(&new);
    GrB_Vector_free(&t);
    return change;
}

static double triangles(const grb_side *s, bool dot)
{
    GrB_Matrix c;
    double count = 0;
    ok(GrB_Matrix_new(&c, GrB_INT64, (GrB_Index)s->n, (GrB_Index)s->n));
    ok(GrB_mxm(c, s->l, NULL, GxB_PLUS_PAIR_INT64, s->l, s->l,
               dot ? GrB_DESC_ST1 : GrB_DESC_S));
    ok(GrB_Matrix_reduce_FP64(&count, NULL, GrB_PLUS_MONOID_FP64, c, NULL));
    GrB_Matrix_free(&c);
    return count;
}

static double ford(const grb_side *s)
{
    const GrB_Index n = (GrB_Index)s->n;
    GrB_Vector way = full(s, INFINITY), front = vector(s, GrB_FP64);
    GrB_Vector nearer = vector(s, GrB_BOOL);
    GrB_Index count = 1;
    double sum = 0;
    ok(GrB_Vector_setElement_FP64(way, 0, (GrB_Index)s->source));
    ok(GrB_Vector_setElement_FP64(front, 0, (GrB_Index)s->source));
    while (count > 0) {
        ok(GrB_vxm(front, NULL, NULL, GrB_MIN_PLUS_SEMIRING_FP64, front, s->g, NULL));
        ok(GrB_Vector_eWiseMult_BinaryOp(nearer, NULL, NULL, GrB_LT_FP64, front, way,
                                         NULL));
        ok(GrB_Vector_assign(front, nearer, NULL, front, GrB_ALL, n, GrB_DESC_R));
        ok(GrB_Vector_assign(way, front, NULL, front, GrB_ALL, n, GrB_DESC_S));
        ok(GrB_Vector_nvals(&count, front));
    }
    ok(GrB_Vector_select_FP64(way, NULL, NULL, GrB_VALUELT_FP64, way, INFINITY, NULL));
    ok(GrB_Vector_reduce_FP64(&sum, NULL, GrB_PLUS_MONOID_FP64, way, NULL));
    GrB_Vector_free(&way);
    GrB_Vector_free(&front);
    GrB_Vector_free(&nearer);
    return sum;
}

static double components(const grb_side *s)
{
    const GrB_Index n = (GrB_Index)s->n;
    GrB_Vector group = vector(s, GrB_UINT64), new = vector(s, GrB_UINT64);
    GrB_Vector up = vector(s, GrB_UINT64), differ = vector(s, GrB_BOOL);
    GrB_Index *at = xalloc(n * sizeof *at);
    bool changed = true;
    double sum = 0;
    for (GrB_Index i = 0; i < n; i++)
        at[i] = i;
    ok(GrB_Vector_build_UINT64(group, at, at, n, GrB_PLUS_UINT64));
    while (changed) {
        GrB_Index count = n;
        ok(GrB_Vector_assign(new, NULL, NULL, group, GrB_ALL, n, NULL));
        ok(GrB_mxv(new, NULL, GrB_MIN_UINT64, GrB_MIN_SECOND_SEMIRING_UINT64, s->s, group,
                   NULL));
        ok(GrB_Vector_extractTuples_UINT64(NULL, at, &count, new));
        ok(GrB_Vector_extract(up, NULL, NULL, new, at, n, NULL));
        ok(GrB_Vector_eWiseMult_BinaryOp(differ, NULL, NULL, GrB_NE_UINT64, up, group,
                                         NULL));
        ok(GrB_Vector_reduce_BOOL(&changed, NULL, GrB_LOR_MONOID_BOOL, differ, NULL));
        GrB_Vector swap = group;
        group = up, up = swap;
    }
    ok(GrB_Vector_reduce_FP64(&sum, NULL, GrB_PLUS_MONOID_FP64, group, NULL));
    GrB_Vector_free(&group);
    GrB_Vector_free(&new);
    GrB_Vector_free(&up);
    GrB_Vector_free(&differ);
    free(at);
    return sum;
}

/* The better of the two ways in which triangles can be counted. */
static double best_triangles(const grb_side *s)
{
    static const grb_side *measured;
    static bool dot;
    if (measured != s) {
        double t[2];
        for (int k = 0; k < 2; k++) {
            t[k] = now_ns();
            triangles(s, k);
            t[k] = now_ns() - t[k];
        }
        measured = s;
        dot = t[1] < t[0];
    }
    return triangles(s, dot);
}

double grb_run(const grb_side *s, int algorithm)
{
    switch (algorithm) {
    case BFS:
        return bfs(s);
    case PUSHED:
    case PULLED:
        return page_rank(s, algorithm == PUSHED);
    case TRIANGLES:
        return best_triangles(s);
    case FORD:
        return ford(s);
    default:
        return components(s);
    }
}

#else

grb_side *grb_open(const graph *g)
{
    (void)g;
    return NULL;
}

double grb_run(const grb_side *s, int algorithm)
{
    (void)s;
    return algorithm;
}

void grb_close(grb_side *s)
{
    (void)s;
}

#endif
