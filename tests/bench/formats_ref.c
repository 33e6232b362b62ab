/* formats_ref.c: C loops over the arrays of matrices in each format, as the
 * formats paper's figures and hand-written libraries have them; and converters
 * by hand. `raw` (formats.h) is a tensor's own arrays. */
#include "formats.h"
#include <string.h>

static void clear(double *y, int64_t n)
{
    memset(y, 0, (size_t)n * sizeof *y);
}

/* ---- y = A x ---------------------------------------------------------------------- */

void loop_csr(const raw *a, const raw *x, double *y)
{
    for (int64_t i = 0; i < a->rows; i++) {
        double t = 0;
        for (int32_t p = a->pos[1][i]; p < a->pos[1][i + 1]; p++)
            t += a->val[p] * x->val[a->crd[1][p]];
        y[i] = t;
    }
}

void loop_csc(const raw *a, const raw *x, double *y)
{
    clear(y, a->rows);
    for (int64_t j = 0; j < a->cols; j++)
        for (int32_t p = a->pos[1][j]; p < a->pos[1][j + 1]; p++)
            y[a->crd[1][p]] += a->val[p] * x->val[j];
}

void loop_dcsr(const raw *a, const raw *x, double *y)
{
    clear(y, a->rows);
    for (int32_t q = a->pos[0][0]; q < a->pos[0][1]; q++) {
        double t = 0;
        for (int32_t p = a->pos[1][q]; p < a->pos[1][q + 1]; p++)
            t += a->val[p] * x->val[a->crd[1][p]];
        y[a->crd[0][q]] = t;
    }
}

void loop_coo(const raw *a, const raw *x, double *y)
{
    const int64_t s = a->stride[0], t = a->stride[1];
    clear(y, a->rows);
    for (int64_t p = 0; p < a->n; p++)
        y[a->crd[0][p * s]] += a->val[p] * x->val[a->crd[1][p * t]];
}

void loop_dia(const raw *a, const raw *x, double *y)
{
    clear(y, a->rows);
    for (int64_t d = 0; d < a->pos[0][1]; d++) {
        const int64_t k = a->crd[0][d], lo = k < 0 ? -k : 0;
        const int64_t hi = a->rows < a->cols - k ? a->rows : a->cols - k;
        const double *v = a->val + d * a->rows;
        for (int64_t i = lo; i < hi; i++)
            y[i] += v[i] * x->val[i + k];
    }
}

void loop_ell(const raw *a, const raw *x, double *y)
{
    const int64_t slots = a->rows ? a->n / a->rows : 0;
    clear(y, a->rows);
    for (int64_t s = 0; s < slots; s++)
        for (int64_t i = 0; i < a->rows; i++) {
            const int32_t j = a->crd[2][s * a->rows + i];
            if (j >= 0) y[i] += a->val[s * a->rows + i] * x->val[j];
        }
}

void loop_bcsr(const raw *a, const raw *x, double *y)
{
    const int64_t grid = (a->rows + BLOCK - 1) / BLOCK;
    clear(y, a->rows);
    for (int64_t bi = 0; bi < grid; bi++)
        for (int32_t p = a->pos[1][bi]; p < a->pos[1][bi + 1]; p++) {
            const int64_t i0 = bi * BLOCK, j0 = (int64_t)a->crd[1][p] * BLOCK;
            const double *v = a->val + (int64_t)p * BLOCK * BLOCK;
            const int64_t h = a->rows - i0 < BLOCK ? a->rows - i0 : BLOCK;
            const int64_t w = a->cols - j0 < BLOCK ? a->cols - j0 : BLOCK;
            for (int64_t i = 0; i < h; i++)
                for (int64_t j = 0; j < w; j++)
                    y[i0 + i] += v[i * BLOCK + j] * x->val[j0 + j];
        }
}

void loop_csb(const raw *a, const raw *x, double *y)
{
    const int64_t down = (a->rows + GRID - 1) / GRID, across = (a->cols + GRID - 1) / GRID;
    const int64_t s = a->stride[2], t = a->stride[3];
    clear(y, a->rows);
    for (int64_t b = 0; b < down * across; b++) {
        double *to = y + b / across * GRID;
        const double *from = x->val + b % across * GRID;
        for (int32_t p = a->pos[2][b]; p < a->pos[2][b + 1]; p++)
            to[a->crd[2][p * s]] += a->val[p] * from[a->crd[3][p * t]];
    }
}

/* ---- y = A v, v in a sparse format -------------------------------------------------- */

void loop_svec(const raw *a, const raw *v, double *y)
{
    const int32_t end = v->pos[0][1];
    for (int64_t i = 0; i < a->rows; i++) {
        int32_t p = a->pos[1][i], q = 0;
        double t = 0;
        while (p < a->pos[1][i + 1] && q < end) {
            const int32_t j = a->crd[1][p], k = v->crd[0][q];
            if (j == k) t += a->val[p] * v->val[q];
            p += j <= k;
            q += k <= j;
        }
        y[i] = t;
    }
}

static int32_t find(const raw *v, int32_t i)
{
    const int64_t buckets = 2 * v->n;
    uint64_t h = (uint64_t)i * 0x9e3779b97f4a7c15u;
    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93u;
    for (int64_t b = (int64_t)((h >> 32) * (uint64_t)buckets >> 32);;) {
        const int32_t p = v->aux[0][b];
        if (p < 0 || v->crd[0][p] == i) return p;
        if (++b == buckets) b = 0;
    }
}

void loop_hashed(const raw *a, const raw *v, double *y)
{
    for (int64_t i = 0; i < a->rows; i++) {
        double t = 0;
        for (int32_t p = a->pos[1][i]; v->n && p < a->pos[1][i + 1]; p++) {
            const int32_t q = find(v, a->crd[1][p]);
            if (q >= 0) t += a->val[p] * v->val[q];
        }
        y[i] = t;
    }
}

void loop_bytes(const raw *a, const raw *v, double *y)
{
    const uint8_t *there = (const uint8_t *)v->aux[0];
    for (int64_t i = 0; i < a->rows; i++) {
        double t = 0;
        for (int32_t p = a->pos[1][i]; p < a->pos[1][i + 1]; p++) {
            const int32_t j = a->crd[1][p];
            if (there[j]) t += a->val[p] * v->val[j];
        }
        y[i] = t;
    }
}

/* ---- conversions -------------------------------------------------------------------- */

void convert_coo_csr(const raw *a, made *b)
{
    memset(b->pos, 0, (size_t)(a->rows + 1) * sizeof *b->pos);
    for (int64_t p = 0; p < a->n; p++)
        b->pos[a->crd[0][p] + 1]++;
    for (int64_t i = 0; i < a->rows; i++)
        b->pos[i + 1] += b->pos[i];
    memcpy(b->crd, a->crd[1], (size_t)a->n * sizeof *b->crd);
    memcpy(b->val, a->val, (size_t)a->n * sizeof *b->val);
    b->n = a->n;
}

void convert_transpose(const raw *a, made *b)
{
    const int64_t rows = a->first, cols = a->rows + a->cols - a->first;
    memset(b->pos, 0, (size_t)(cols + 1) * sizeof *b->pos);
    for (int64_t p = 0; p < a->n; p++)
        b->pos[a->crd[1][p] + 1]++;
    for (int64_t j = 0; j < cols; j++)
        b->pos[j + 1] += b->pos[j];
    for (int64_t i = 0; i < rows; i++)
        for (int32_t p = a->pos[1][i]; p < a->pos[1][i + 1]; p++) {
            const int32_t q = b->pos[a->crd[1][p]]++;
            b->crd[q] = (int32_t)i;
            b->val[q] = a->val[p];
        }
    memmove(b->pos + 1, b->pos, (size_t)cols * sizeof *b->pos);
    b->pos[0] = 0;
    b->n = a->n;
}

/* As scipy's csr_tobsr: the place of each block column in this block row. */
void convert_csr_bcsr(const raw *a, made *b)
{
    const int64_t grid = (a->rows + BLOCK - 1) / BLOCK;
    int32_t n = 0;
    memset(b->mark, -1, (size_t)(a->cols / BLOCK + 1) * sizeof *b->mark);
    b->pos[0] = 0;
    for (int64_t bi = 0; bi < grid; bi++) {
        const int32_t first = n;
        const int64_t last = (bi + 1) * BLOCK < a->rows ? (bi + 1) * BLOCK : a->rows;
        for (int64_t i = bi * BLOCK; i < last; i++)
            for (int32_t p = a->pos[1][i]; p < a->pos[1][i + 1]; p++) {
                const int32_t j = a->crd[1][p], bj = j / BLOCK;
                if (b->mark[bj] < first) {
                    b->mark[bj] = n;
                    b->crd[n] = bj;
                    memset(b->val + (int64_t)n * BLOCK * BLOCK, 0,
                           BLOCK * BLOCK * sizeof *b->val);
                    n++;
                }
                b->val[((int64_t)b->mark[bj] * BLOCK + i % BLOCK) * BLOCK + j % BLOCK] =
                    a->val[p];
            }
        b->pos[bi + 1] = n;
    }
    b->n = (int64_t)n * BLOCK * BLOCK;
}

void convert_csr_dia(const raw *a, made *b)
{
    const int64_t all = a->rows + a->cols - 1;
    int32_t n = 0;
    memset(b->mark, 0, (size_t)all * sizeof *b->mark);
    for (int64_t i = 0; i < a->rows; i++)
        for (int32_t p = a->pos[1][i]; p < a->pos[1][i + 1]; p++)
            b->mark[a->crd[1][p] - i + a->rows - 1] = 1;
    for (int64_t d = 0; d < all; d++)
        if (b->mark[d]) {
            b->crd[n] = (int32_t)(d - a->rows + 1);
            b->mark[d] = n++;
        }
    memset(b->val, 0, (size_t)(n * a->rows) * sizeof *b->val);
    for (int64_t i = 0; i < a->rows; i++)
        for (int32_t p = a->pos[1][i]; p < a->pos[1][i + 1]; p++)
            b->val[b->mark[a->crd[1][p] - i + a->rows - 1] * a->rows + i] = a->val[p];
    b->n = n * a->rows;
}
