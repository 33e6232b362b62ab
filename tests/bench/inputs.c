/* inputs.c: the inputs, made the same on every run: splitmix64 with a seed. */
#include "bench.h"
#include <stdlib.h>
#include <string.h>

static uint64_t next_random(uint64_t *s)
{
    uint64_t z = (*s += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

static uint64_t below(uint64_t *s, uint64_t n)
{
    return (uint64_t)(((unsigned __int128)next_random(s) * n) >> 64);
}

void *xalloc(size_t size)
{
    void *p = malloc(size ? size : 1);
    if (!p) {
        fprintf(stderr, "bench: no memory for %zu bytes\n", size);
        exit(1);
    }
    return p;
}

static int compare_keys(const void *pa, const void *pb)
{
    uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;
    return (a > b) - (a < b);
}

static int64_t sort_unique(uint64_t *key, int64_t n)
{
    qsort(key, (size_t)n, sizeof *key, compare_keys);
    int64_t out = 0;
    for (int64_t i = 0; i < n; i++)
        if (i == 0 || key[i] != key[i - 1]) key[out++] = key[i];
    return out;
}

double *gen_dense(int64_t n, uint64_t seed)
{
    double *v = xalloc((size_t)n * sizeof *v);
    for (int64_t i = 0; i < n; i++)
        v[i] = (double)(1 + below(&seed, 1024)) / 1024;
    return v;
}

/* keys are row << 32 | column, sorted and unique; takes them. */
static csr from_keys(int64_t rows, int64_t cols, uint64_t *key, int64_t nnz, uint64_t seed)
{
    csr a = {rows, cols, nnz, NULL, NULL, NULL};
    a.pos = xalloc((size_t)(rows + 1) * sizeof *a.pos);
    memset(a.pos, 0, (size_t)(rows + 1) * sizeof *a.pos);
    a.crd = xalloc((size_t)nnz * sizeof *a.crd);
    for (int64_t p = 0; p < nnz; p++) {
        a.pos[(key[p] >> 32) + 1]++;
        a.crd[p] = (int32_t)(key[p] & 0xffffffffu);
    }
    for (int64_t i = 0; i < rows; i++)
        a.pos[i + 1] += a.pos[i];
    a.val = gen_dense(nnz, seed ^ 0xABCDEF);
    free(key);
    return a;
}

csr gen_lap(int64_t side, uint64_t seed)
{
    int64_t n = side * side, z = 0;
    uint64_t *key = xalloc((size_t)n * 5 * sizeof *key);
    for (int64_t y = 0; y < side; y++) {
        for (int64_t x = 0; x < side; x++) {
            uint64_t r = (uint64_t)(y * side + x), row = r << 32;
            if (y > 0) key[z++] = row | (r - (uint64_t)side);
            if (x > 0) key[z++] = row | (r - 1);
            key[z++] = row | r;
            if (x < side - 1) key[z++] = row | (r + 1);
            if (y < side - 1) key[z++] = row | (r + (uint64_t)side);
        }
    }
    return from_keys(n, n, key, z, seed);
}

csr gen_uni(int64_t n, int per_row, uint64_t seed)
{
    uint64_t s = seed;
    uint64_t *key = xalloc((size_t)n * (size_t)per_row * sizeof *key);
    int64_t z = 0;
    for (int64_t i = 0; i < n; i++) {
        uint64_t *row = key + z;
        int64_t have = 0;
        while (have < per_row) {
            for (int64_t q = have; q < per_row; q++)
                row[q] = (uint64_t)i << 32 | below(&s, (uint64_t)n);
            have = sort_unique(row, per_row);
        }
        z += have;
    }
    return from_keys(n, n, key, z, seed);
}

csr gen_rmat(int scale, int degree, uint64_t seed)
{
    uint64_t s = seed;
    int64_t n = (int64_t)1 << scale, edges = n * degree;
    uint64_t *key = xalloc((size_t)edges * sizeof *key);
    for (int64_t e = 0; e < edges; e++) {
        uint64_t row = 0, col = 0;
        for (int l = 0; l < scale; l++) {
            uint64_t q = below(&s, 100);
            row = row << 1 | (q >= 76);
            col = col << 1 | ((q >= 57 && q < 76) || q >= 95);
        }
        key[e] = row << 32 | col;
    }
    return from_keys(n, n, key, sort_unique(key, edges), seed);
}

csr gen_band(int64_t n, int lo, int hi, uint64_t seed)
{
    uint64_t *key = xalloc((size_t)n * (size_t)(hi - lo + 1) * sizeof *key);
    int64_t z = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + lo; j <= i + hi; j++)
            if (j >= 0 && j < n) key[z++] = (uint64_t)i << 32 | (uint64_t)j;
    return from_keys(n, n, key, z, seed);
}

/* Splits sorted keys (i * dim + j) * dim + k into three compressed levels. */
static void build_levels(csf *t, const uint64_t *key, int64_t nnz)
{
    uint64_t dim = (uint64_t)t->dim;
    for (int l = 0; l < 3; l++) {
        t->crd[l] = xalloc((size_t)nnz * sizeof(int32_t));
        t->pos[l] = xalloc((size_t)(nnz + 2) * sizeof(int32_t));
        t->n[l] = 0;
    }
    for (int64_t e = 0; e < nnz; e++) {
        uint64_t i = key[e] / (dim * dim), j = key[e] / dim % dim;
        bool new_i = e == 0 || key[e - 1] / (dim * dim) != i;
        bool new_j = new_i || key[e - 1] / dim % dim != j;
        if (new_i) {
            t->pos[1][t->n[0]] = (int32_t)t->n[1];
            t->crd[0][t->n[0]++] = (int32_t)i;
        }
        if (new_j) {
            t->pos[2][t->n[1]] = (int32_t)t->n[2];
            t->crd[1][t->n[1]++] = (int32_t)j;
        }
        t->crd[2][t->n[2]++] = (int32_t)(key[e] % dim);
    }
    t->pos[0][0] = 0;
    t->pos[0][1] = (int32_t)t->n[0];
    t->pos[1][t->n[0]] = (int32_t)t->n[1];
    t->pos[2][t->n[1]] = (int32_t)t->n[2];
}

/* The least of `skew` coordinates: 1 is uniform, with more the small ones crowd. */
static uint64_t below_skewed(uint64_t *s, uint64_t dim, int skew)
{
    uint64_t least = below(s, dim);
    for (int k = 1; k < skew; k++) {
        const uint64_t x = below(s, dim);
        if (x < least) least = x;
    }
    return least;
}

csf gen_ten(int64_t dim, int64_t nnz, int skew, uint64_t seed)
{
    uint64_t s = seed;
    const uint64_t d = (uint64_t)dim;
    uint64_t *key = xalloc((size_t)nnz * sizeof *key);
    int64_t z = 0;
    while (z < nnz) {
        for (int64_t e = z; e < nnz; e++)
            key[e] = (below_skewed(&s, d, skew) * d + below_skewed(&s, d, skew)) * d +
                     below_skewed(&s, d, skew);
        z = sort_unique(key, nnz);
    }
    csf t = {.dim = dim};
    build_levels(&t, key, nnz);
    t.val = gen_dense(nnz, seed ^ 0xABCDEF);
    free(key);
    return t;
}

void csr_free(csr *a)
{
    free(a->pos);
    free(a->crd);
    free(a->val);
    *a = (csr){0};
}

void csf_free(csf *a)
{
    for (int l = 0; l < 3; l++) {
        free(a->pos[l]);
        free(a->crd[l]);
    }
    free(a->val);
    *a = (csf){0};
}
