/* graphs_ref.c: graphs for the bench, and the algorithms as loops in C: what one would
 * write by hand for the same rounds.
 */
#include "graphs.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- graphs -------------------------------------------------------------------------- */

static csr empty(int64_t n, int64_t nnz)
{
    csr a = {n, n, nnz, NULL, NULL, NULL};
    a.pos = xalloc((size_t)(n + 1) * sizeof *a.pos);
    a.crd = xalloc((size_t)nnz * sizeof *a.crd);
    a.val = xalloc((size_t)nnz * sizeof *a.val);
    memset(a.pos, 0, (size_t)(n + 1) * sizeof *a.pos);
    return a;
}

static csr turned(const csr *a)
{
    csr t = empty(a->cols, a->nnz);
    for (int64_t p = 0; p < a->nnz; p++)
        t.pos[a->crd[p] + 1]++;
    for (int64_t j = 0; j < t.rows; j++)
        t.pos[j + 1] += t.pos[j];
    for (int64_t i = 0; i < a->rows; i++)
        for (int32_t p = a->pos[i]; p < a->pos[i + 1]; p++) {
            const int32_t q = t.pos[a->crd[p]]++;
            t.crd[q] = (int32_t)i;
            t.val[q] = a->val[p];
        }
    for (int64_t j = t.rows; j > 0; j--)
        t.pos[j] = t.pos[j - 1];
    t.pos[0] = 0;
    return t;
}

static csr both_ways(const csr *a, const csr *t)
{
    csr s = empty(a->rows, a->nnz + t->nnz);
    int32_t n = 0;
    for (int64_t i = 0; i < a->rows; i++) {
        int32_t p = a->pos[i], q = t->pos[i];
        while (p < a->pos[i + 1] || q < t->pos[i + 1]) {
            const int32_t x = p < a->pos[i + 1] ? a->crd[p] : INT32_MAX;
            const int32_t y = q < t->pos[i + 1] ? t->crd[q] : INT32_MAX;
            const int32_t j = x < y ? x : y;
            p += x == j;
            q += y == j;
            if (j == i) continue;
            s.val[n] = 1;
            s.crd[n++] = j;
        }
        s.pos[i + 1] = n;
    }
    s.nnz = n;
    return s;
}

static csr lower(const csr *s)
{
    csr l = empty(s->rows, s->nnz);
    int32_t n = 0;
    for (int64_t i = 0; i < s->rows; i++) {
        for (int32_t p = s->pos[i]; p < s->pos[i + 1] && s->crd[p] < i; p++) {
            l.val[n] = 1;
            l.crd[n++] = s->crd[p];
        }
        l.pos[i + 1] = n;
    }
    l.nnz = n;
    return l;
}

graph graph_of(csr g)
{
    graph r = {.g = g};
    r.p = empty(g.rows, g.nnz);
    memcpy(r.p.pos, g.pos, (size_t)(g.rows + 1) * sizeof *g.pos);
    memcpy(r.p.crd, g.crd, (size_t)g.nnz * sizeof *g.crd);
    for (int64_t i = 0; i < g.rows; i++) {
        const int32_t degree = g.pos[i + 1] - g.pos[i];
        for (int32_t p = g.pos[i]; p < g.pos[i + 1]; p++)
            r.p.val[p] = 1.0 / degree;
        if (degree > g.pos[r.source + 1] - g.pos[r.source]) r.source = i;
    }
    r.pt = turned(&r.p);
    r.s = both_ways(&r.p, &r.pt);
    r.l = lower(&r.s);
    const int64_t most = g.nnz > r.s.nnz ? g.nnz : r.s.nnz;
    r.some = xalloc((size_t)most);
    memset(r.some, 1, (size_t)most);
    return r;
}

void graph_free(graph *g)
{
    csr_free(&g->g);
    csr_free(&g->p);
    csr_free(&g->pt);
    csr_free(&g->s);
    csr_free(&g->l);
    free(g->some);
}

/* ---- algorithms ---------------------------------------------------------------------- */

static double bfs(const graph *x)
{
    const csr *g = &x->g;
    int32_t *level = xalloc((size_t)g->rows * sizeof *level);
    int32_t *queue = xalloc((size_t)g->rows * sizeof *queue);
    for (int64_t i = 0; i < g->rows; i++)
        level[i] = -1;
    int64_t from = 0, to = 1;
    level[queue[0] = (int32_t)x->source] = 0;
    while (from < to) {
        const int32_t i = queue[from++];
        for (int32_t p = g->pos[i]; p < g->pos[i + 1]; p++) {
            const int32_t j = g->crd[p];
            if (level[j] >= 0) continue;
            level[j] = level[i] + 1;
            queue[to++] = j;
        }
    }
    double sum = 0;
    for (int64_t i = 0; i < g->rows; i++)
        sum += level[i];
    free(level);
    free(queue);
    return sum;
}

/* One round; what changed. */
static double rank_round(const graph *x, bool push, const double *old, double *new)
{
    const int64_t n = x->p.rows;
    const csr *a = push ? &x->p : &x->pt;
    if (push) memset(new, 0, (size_t)n * sizeof *new);
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int32_t p = a->pos[i]; p < a->pos[i + 1]; p++) {
            if (push)
                new[a->crd[p]] += a->val[p] * old[i];
            else
                sum += a->val[p] * old[a->crd[p]];
        }
        if (!push) new[i] = sum;
    }
    double change = 0;
    for (int64_t i = 0; i < n; i++) {
        new[i] = 0.85 * new[i] + 0.15 / (double)n;
        change += fabs(new[i] - old[i]);
    }
    return change;
}

static double page_rank(const graph *x, bool push)
{
    const int64_t n = x->p.rows;
    double *old = xalloc((size_t)n * sizeof *old), *new = xalloc((size_t)n * sizeof *new);
    double change = 0;
    for (int64_t i = 0; i < n; i++)
        old[i] = 1.0 / (double)n;
    for (int k = 0; k < RANK_ROUNDS; k++) {
        change = rank_round(x, push, old, new);
        double *t = old;
        old = new, new = t;
    }
    free(old);
    free(new);
    return change;
}

static double triangles(const csr *l)
{
    int32_t *mark = xalloc((size_t)l->rows * sizeof *mark);
    int64_t count = 0;
    for (int64_t i = 0; i < l->rows; i++)
        mark[i] = -1;
    for (int32_t i = 0; i < l->rows; i++) {
        for (int32_t p = l->pos[i]; p < l->pos[i + 1]; p++)
            mark[l->crd[p]] = i;
        for (int32_t p = l->pos[i]; p < l->pos[i + 1]; p++) {
            const int32_t j = l->crd[p];
            for (int32_t q = l->pos[j]; q < l->pos[j + 1]; q++)
                count += mark[l->crd[q]] == i;
        }
    }
    free(mark);
    return (double)count;
}

/* Only vertices that came nearer in a round push in the next one; a round reads what the
 * one before it left. */
static double ford(const graph *x)
{
    const csr *g = &x->g;
    const size_t n = (size_t)g->rows;
    double *way = xalloc(n * sizeof *way), *new = xalloc(n * sizeof *new), sum = 0;
    int32_t *now = xalloc(n * sizeof *now), *next = xalloc(n * sizeof *next), count = 1;
    for (size_t i = 0; i < n; i++)
        way[i] = new[i] = INFINITY;
    way[x->source] = new[x->source] = 0;
    now[0] = (int32_t)x->source;
    while (count > 0) {
        int32_t many = 0;
        for (int32_t k = 0; k < count; k++) {
            const int32_t i = now[k];
            for (int32_t p = g->pos[i]; p < g->pos[i + 1]; p++) {
                const int32_t j = g->crd[p];
                const double d = way[i] + g->val[p];
                if (d >= new[j]) continue;
                if (new[j] == way[j]) next[many++] = j;
                new[j] = d;
            }
        }
        for (int32_t k = 0; k < many; k++)
            way[next[k]] = new[next[k]];
        int32_t *t = now;
        now = next, next = t, count = many;
    }
    for (size_t i = 0; i < n; i++)
        if (way[i] < INFINITY) sum += way[i];
    free(way);
    free(new);
    free(now);
    free(next);
    return sum;
}

static double components(const csr *s)
{
    const size_t n = (size_t)s->rows;
    int64_t *group = xalloc(n * sizeof *group), *new = xalloc(n * sizeof *new);
    double sum = 0;
    bool changed = true;
    for (size_t i = 0; i < n; i++)
        group[i] = (int64_t)i;
    while (changed) {
        for (size_t i = 0; i < n; i++) {
            int64_t least = group[i];
            for (int32_t p = s->pos[i]; p < s->pos[i + 1]; p++)
                if (group[s->crd[p]] < least) least = group[s->crd[p]];
            new[i] = least;
        }
        changed = false;
        for (size_t i = 0; i < n; i++) {
            const int64_t up = new[new[i]];
            changed |= up != group[i];
            group[i] = up;
        }
    }
    for (size_t i = 0; i < n; i++)
        sum += (double)group[i];
    free(group);
    free(new);
    return sum;
}

double graph_ref(int algorithm, const graph *g)
{
    switch (algorithm) {
    case BFS:
        return bfs(g);
    case PUSHED:
    case PULLED:
        return page_rank(g, algorithm == PUSHED);
    case TRIANGLES:
        return triangles(&g->l);
    case FORD:
        return ford(g);
    default:
        return components(&g->s);
    }
}
