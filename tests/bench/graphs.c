/* graphs.c: whole algorithms on graphs, as scripts: beside GraphBLAS, where it is
 * installed, and loops in C. All sides do the same rounds on one thread.
 *
 * Graphs: rmat14 and rmat17, power laws with 10 edges a vertex; mesh400 and mesh1000,
 * 5-point meshes; uni15, 2^15 vertices with 10 edges each. The searches begin at the vertex
 * that has most edges. The triangles of L·L' are counted by L<L>·L and L<L>·L' in
 * GraphBLAS, whichever is faster. A script is called as it would be: its def is compiled in
 * each call. What the session has converted of an operand serves later calls, so that
 * times, which are the least of a few calls, have no conversion in them; RUNS=1 has.
 */
#include "graphs.h"
#include <math.h>
#include <string.h>

enum { RUNS_USUAL = 5 };

static const char *const algorithm_name[ALGORITHMS] = {
    "bfs", "rank push", "rank pull", "triangles", "bellman-ford", "components"};

static const char script[] =
    "def bfs_run(G, source) -> level {\n"
    "  n = size(G, 0)\n"
    "  tensor level dense i32 [n]\n"
    "  level(i) = select(i == source, 0, -1)\n"
    "  tensor frontier svec bool [n]\n"
    "  frontier(i) = i == source\n"
    "  compact frontier\n"
    "  depth = 0\n"
    "  while (stored(frontier) > 0) {\n"
    "    depth += 1\n"
    "    frontier(j) = any(i: frontier(i) && G(i,j)) && level(j) < 0\n"
    "    compact frontier\n"
    "    level(j) = depth where frontier(j)\n"
    "  }\n"
    "}\n"
    "def bfs(G, source) -> sum_ {\n"
    "  level = bfs_run(G, source)\n"
    "  sum_ = sum(i: level(i))\n"
    "}\n"
    "def push(P) -> change {\n"
    "  n = size(P, 0)\n"
    "  rank(i in 0:n) = 1.0 / n\n"
    "  repeat 20 {\n"
    "    new(j) = 0.85 * sum(i: P(i,j) * rank(i)) + 0.15 / n\n"
    "    change = sum(j: abs(new(j) - rank(j)))\n"
    "    rank = new\n"
    "  }\n"
    "}\n"
    "def pull(T) -> change {\n"
    "  n = size(T, 0)\n"
    "  rank(i in 0:n) = 1.0 / n\n"
    "  repeat 20 {\n"
    "    new(j) = 0.85 * sum(i: T(j,i) * rank(i)) + 0.15 / n\n"
    "    change = sum(j: abs(new(j) - rank(j)))\n"
    "    rank = new\n"
    "  }\n"
    "}\n"
    "def triangles(L) -> count {\n"
    "  count = L(i,j) * L(j,k) * L(i,k)\n"
    "}\n"
    "def ford(W, source) -> reached {\n"
    "  n = size(W, 0)\n"
    "  way(i in 0:n) = select(i == source, 0.0, inf)\n"
    "  tensor front svec f64 [n] fill inf\n"
    "  front(i) = select(i == source, 0.0, inf)\n"
    "  compact front\n"
    "  while (stored(front) > 0) {\n"
    "    new(j) = min(i: front(i) + W(i,j))\n"
    "    front(j) = select(new(j) < way(j), new(j), inf)\n"
    "    compact front\n"
    "    way(j) min= front(j)\n"
    "  }\n"
    "  reached = sum(i: select(way(i) < inf, way(i), 0.0))\n"
    "}\n"
    "def components(S) -> sum_ {\n"
    "  n = size(S, 0)\n"
    "  group(i in 0:n) = i\n"
    "  changed = true\n"
    "  while (changed) {\n"
    "    new(i) = min(group(i), min(j: group(j) where S(i,j)))\n"
    "    up(i) = new(new(i))\n"
    "    changed = any(i: up(i) != group(i))\n"
    "    group = up\n"
    "  }\n"
    "  sum_ = sum(i: group(i))\n"
    "}\n";

static const char *const call[ALGORITHMS] = {
    "out = bfs(G, source)", "out = push(P)",         "out = pull(T)",
    "out = triangles(L)",   "out = ford(W, source)", "out = components(S)"};

/* ---- graphs -------------------------------------------------------------------------- */

static const char *const graph_name[] = {"rmat14", "rmat17", "mesh400", "mesh1000",
                                         "uni15"};
enum { GRAPHS = sizeof graph_name / sizeof *graph_name };

static graph make_graph(int k)
{
    switch (k) {
    case 0:
        return graph_of(gen_rmat(14, 10, 23));
    case 1:
        return graph_of(gen_rmat(17, 10, 21));
    case 2:
        return graph_of(gen_lap(400, 1));
    case 3:
        return graph_of(gen_lap(1000, 1));
    default:
        return graph_of(gen_uni(1 << 15, 10, 11));
    }
}

/* ---- stcvm's side -------------------------------------------------------------------- */

typedef struct session {
    stc_machine *m;
    stc_session *s;
} session;

static bool put(const session *x, const char *name, const csr *a, stc_type type,
                void *values, double fill)
{
    stc_tensor *t = NULL;
    const int64_t shape[2] = {a->rows, a->cols};
    const stc_value fill_value = {.f = fill};
    const stc_array pos = {.data = a->pos, .length = a->rows + 1, .width = 4, .stride = 4},
                    crd = {.data = a->crd, .length = a->nnz, .width = 4, .stride = 4};
    return !stc_tensor_new(x->m, "csr", type, 2, shape, fill != 0 ? &fill_value : NULL,
                           &t) &&
           !stc_tensor_lend(t, 1, STC_POS, pos) && !stc_tensor_lend(t, 1, STC_CRD, crd) &&
           !stc_tensor_lend_values(t, values, a->nnz) && !stc_session_put(x->s, name, t);
}

static bool session_open(session *x, const graph *g)
{
    char source[64];
    *x = (session){0};
    snprintf(source, sizeof source, "source = %lld", (long long)g->source);
    return !stc_open(NULL, &x->m) && !stc_session_open(x->m, &x->s) &&
           put(x, "G", &g->g, STC_BOOL, g->some, 0) &&
           put(x, "W", &g->g, STC_F64, g->g.val, INFINITY) &&
           put(x, "P", &g->p, STC_F64, g->p.val, 0) &&
           put(x, "T", &g->pt, STC_F64, g->pt.val, 0) &&
           put(x, "S", &g->s, STC_BOOL, g->some, 0) &&
           put(x, "L", &g->l, STC_F64, g->l.val, 0) &&
           !stc_session_exec(x->s, script, "graphs") &&
           !stc_session_exec(x->s, source, "graphs");
}

static double session_run(const session *x, int algorithm)
{
    const stc_tensor *t;
    double out = NAN;
    if (stc_session_exec(x->s, call[algorithm], "graphs") ||
        stc_session_exec(x->s, "result = f64(out)", "graphs") ||
        stc_session_get(x->s, "result", &t) || stc_tensor_to_dense(t, &out))
        printf("failed: %s\n", stc_error(x->m)->message);
    return out;
}

static void session_close(session *x)
{
    stc_session_close(x->s);
    stc_close(x->m);
}

/* ---- rows ---------------------------------------------------------------------------- */

enum { STCVM, GRB, LOOPS, SIDES };

typedef struct sides {
    graph g;
    session ours;
    grb_side *grb;
} sides;

static double timed(const sides *x, int side, int algorithm, double *least)
{
    const double start = own_ns();
    const double result = side == STCVM ? session_run(&x->ours, algorithm)
                          : side == GRB ? grb_run(x->grb, algorithm)
                                        : graph_ref(algorithm, &x->g);
    const double ns = own_ns() - start;
    if (ns < *least) *least = ns;
    return result;
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fabs(b) + 1e-12;
}

typedef struct means {
    mean grb, loops;
} means;

static bool run_row(const sides *x, const char *input, int algorithm, bool csv, means *all)
{
    const int runs = runs_asked(RUNS_USUAL);
    double ns[SIDES] = {1e300, 1e300, 1e300}, result[SIDES];
    char label[64];
    for (int k = 0; k < runs; k++)
        for (int side = 0; side < SIDES; side++)
            result[side] =
                side == GRB && !x->grb ? NAN : timed(x, side, algorithm, &ns[side]);
    const bool same =
        near(result[STCVM], result[LOOPS]) && (!x->grb || near(result[GRB], result[LOOPS]));
    const double to_grb = x->grb ? ns[STCVM] / ns[GRB] : 0, to_c = ns[STCVM] / ns[LOOPS];
    printf(csv ? "%s,%s,%.3f,%.3f,%.3f,%.2f,%.2f%s\n"
               : "%-13s %-9s %9.2f %9.2f %9.2f %8.2f %8.2f%s\n",
           algorithm_name[algorithm], input, ns[STCVM] * 1e-6, x->grb ? ns[GRB] * 1e-6 : 0,
           ns[LOOPS] * 1e-6, to_grb, to_c, same ? "" : "  RESULTS DIFFER");
    fflush(stdout);
    snprintf(label, sizeof label, "%s %s", algorithm_name[algorithm], input);
    mean_add(&all->grb, label, to_grb);
    mean_add(&all->loops, label, to_c);
    return same;
}

static bool wanted(const char *only, int algorithm, int input)
{
    char label[64];
    snprintf(label, sizeof label, " %s %s", algorithm_name[algorithm], graph_name[input]);
    return strstr(label, only) != NULL;
}

static bool run_graph(int input, const char *only, bool csv, means *all)
{
    bool any = false, same = true;
    for (int k = 0; k < ALGORITHMS; k++)
        any |= wanted(only, k, input);
    if (!any) return true;
    sides x = {.g = make_graph(input)};
    x.grb = grb_open(&x.g);
    if (!session_open(&x.ours, &x.g)) {
        printf("%s failed: %s\n", graph_name[input],
               x.ours.m ? stc_error(x.ours.m)->message : "no machine");
        same = false;
    }
    for (int k = 0; same && k < ALGORITHMS; k++)
        if (wanted(only, k, input)) same &= run_row(&x, graph_name[input], k, csv, all);
    session_close(&x.ours);
    grb_close(x.grb);
    graph_free(&x.g);
    return same;
}

int bench_graphs(const char *filter, bool csv)
{
    if (!filter || strncmp(filter, "graphs", 6)) return 0;
    const char *only = filter + 6;
    means all = {0};
    bool same = true;
    printf(
        csv ? "algorithm,graph,stcvm_ms,graphblas_ms,c_ms,to_graphblas,to_c\n"
            : "algorithm     graph         stcvm GraphBLAS         C  to GrB.     to C\n");
    for (int k = 0; k < GRAPHS; k++)
        same &= run_graph(k, only, csv, &all);
    mean_print(&all.grb, "algorithms to GraphBLAS", csv);
    mean_print(&all.loops, "algorithms to C", csv);
    return !same;
}
