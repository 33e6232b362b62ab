/* check_motifs.c: small patterns counted in real graphs, as sums of products over all their
 * vertices (a pattern in each of its orders, vertices that needn't differ may be the same),
 * against counting by hand along lists of neighbours. Skipped where there are no such data.
 */
#include "check.h"
#include <stdlib.h>
#include <string.h>

typedef struct graph {
    int64_t n;
    int *begin, *to;
    char *edge; /* n * n */
} graph;

static bool edge(const graph *g, int64_t a, int64_t b)
{
    return g->edge[a * g->n + b];
}

static void read_graph(const stc_tensor *t, graph *g)
{
    g->n = stc_tensor_shape(t)[0];
    g->edge = calloc((size_t)(g->n * g->n), 1);
    g->begin = calloc((size_t)g->n + 1, sizeof *g->begin);
    g->to = calloc((size_t)stc_tensor_stored(t) + 1, sizeof *g->to);
    int n = 0;
    for (int64_t a = 0; a < g->n; a++) {
        for (int64_t b = 0; b < g->n; b++) {
            stc_value v = {.i = 0};
            (void)stc_tensor_get(t, (int64_t[]){a, b}, &v);
            if (!v.i) continue;
            g->edge[a * g->n + b] = 1;
            g->to[n++] = (int)b;
        }
        g->begin[a + 1] = n;
    }
}

static void drop_graph(graph *g)
{
    free(g->edge);
    free(g->begin);
    free(g->to);
}

/* The neighbours of a vertex, and where they end. */
static const int *near(const graph *g, int a)
{
    return g->to + g->begin[a];
}

static const int *end(const graph *g, int a)
{
    return g->to + g->begin[a + 1];
}

static int64_t triangles(const graph *g)
{
    int64_t n = 0;
    for (int a = 0; a < g->n; a++)
        for (const int *b = near(g, a); b < end(g, a); b++)
            for (const int *c = near(g, *b); c < end(g, *b); c++)
                n += edge(g, *c, a);
    return n;
}

/* Walks a b c d a: of those from a to c by way of b there are as many by way of d. */
static int64_t four_cycles(const graph *g)
{
    int64_t n = 0, *by = calloc((size_t)g->n, sizeof *by);
    for (int a = 0; a < g->n; a++) {
        memset(by, 0, (size_t)g->n * sizeof *by);
        for (const int *b = near(g, a); b < end(g, a); b++)
            for (const int *c = near(g, *b); c < end(g, *b); c++)
                by[*c]++;
        for (int c = 0; c < g->n; c++)
            n += by[c] * by[c];
    }
    free(by);
    return n;
}

/* A triangle a b c, and d and e that are neighbours of all three, but needn't be of each
 * other. */
static int64_t five_cliques_but_an_edge(const graph *g)
{
    int64_t n = 0;
    for (int a = 0; a < g->n; a++)
        for (const int *b = near(g, a); b < end(g, a); b++)
            for (const int *c = near(g, *b); c < end(g, *b); c++) {
                int64_t with = 0;
                if (!edge(g, *c, a)) continue;
                for (const int *d = near(g, a); d < end(g, a); d++)
                    with += edge(g, *b, *d) && edge(g, *c, *d);
                n += with * with;
            }
    return n;
}

static const char *const graphs[] = {"karate", "jazz", "cora", "Erdos971"};

static const struct {
    const char *text;
    int64_t (*count)(const graph *);
} motif[] = {
    {"y = A(a,b)*A(b,c)*A(c,a)", triangles},
    {"y = A(a,b)*A(b,c)*A(c,d)*A(d,a)", four_cycles},
    {"y = A(a,b)*A(b,c)*A(a,c)*A(a,d)*A(b,d)*A(c,d)*A(a,e)*A(b,e)*A(c,e)",
     five_cliques_but_an_edge},
};

START_TEST(motifs_in_graphs)
{
    char text[600];
    heap h;
    stc_session *s;
    const stc_tensor *t;
    stc_value v = {.i = -1};
    graph g;
    snprintf(text, sizeof text, "matrices/%s.mtx", graphs[_i]);
    if (!data_has(text)) return;
    stc_machine *m = machine_open(&h, false);
    ck_ok(m, stc_session_open(m, &s));
    snprintf(text, sizeof text,
             "tensor M csr f64 = \"%s/matrices/%s.mtx\"\n"
             "tensor A csr i64; A(i,j) = i64(M(i,j) != 0 && i != j)\n",
             data_dir(), graphs[_i]);
    ck_ok(m, stc_session_exec(s, text, "test"));
    ck_ok(m, stc_session_get(s, "A", &t));
    read_graph(t, &g);
    for (size_t k = 0; k < sizeof motif / sizeof *motif; k++) {
        const int64_t want = motif[k].count(&g);
        ck_assert_int_gt(want, 0);
        ck_ok(m, stc_session_exec(s, motif[k].text, "test"));
        ck_ok(m, stc_session_get(s, "y", &t));
        ck_ok(m, stc_tensor_get(t, NULL, &v));
        ck_assert_msg(v.i == want, "%s, %s: %lld, not %lld", graphs[_i], motif[k].text,
                      (long long)v.i, (long long)want);
    }
    drop_graph(&g);
    stc_session_close(s);
    machine_shut(m, &h);
}
END_TEST

Suite *suite_motifs(void)
{
    Suite *s = suite_create("motifs");
    TCase *t = tcase_create("graphs");
    if (!data_dir()) printf("motifs: no real data (STC_DATA, ../shared/data): skipped\n");
    tcase_add_loop_test(t, motifs_in_graphs, 0, sizeof graphs / sizeof *graphs);
    suite_add_tcase(s, t);
    return s;
}
