/* convolution_ref.c: the C loops that the rows of convolution.c are held against: over all
 * elements, or over the nonzeros as a sparse compiler would emit them, one thread.
 */
#include "convolution.h"
#include <math.h>
#include <string.h>

void convolution_dense_1d(conv_data *s)
{
    const int64_t n = s->shape[0] - s->width + 1;
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t p = 0; p < s->width; p++)
            sum += s->a[i + p] * s->f[p];
        s->out[i] = sum;
    }
}

void convolution_dense_2d(conv_data *s)
{
    const int64_t w = s->shape[1], n = s->shape[0] - s->width + 1, m = w - s->width + 1;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) {
            double sum = 0;
            for (int64_t p = 0; p < s->width; p++)
                for (int64_t q = 0; q < s->width; q++)
                    sum += s->a[(i + p) * w + j + q] * s->f[p * s->width + q];
            s->out[i * m + j] = sum;
        }
}

void convolution_dense_3d(conv_data *s)
{
    const int64_t w = s->shape[0], n = w - s->width + 1;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            for (int64_t k = 0; k < n; k++) {
                double sum = 0;
                for (int64_t p = 0; p < s->width; p++)
                    for (int64_t q = 0; q < s->width; q++)
                        for (int64_t r = 0; r < s->width; r++)
                            sum += s->a[((i + p) * w + j + q) * w + k + r] *
                                   s->f[(p * s->width + q) * s->width + r];
                s->out[(i * n + j) * n + k] = sum;
            }
}

/* As a sparse compiler has it in the order p, q, i, j. */
void convolution_sparse_to_dense(conv_data *s)
{
    const int64_t n = s->shape[0] - s->width + 1, m = s->shape[1] - s->width + 1;
    memset(s->out, 0, (size_t)(n * m) * sizeof *s->out);
    for (int64_t p = 0; p < s->width; p++)
        for (int64_t q = 0; q < s->width; q++)
            for (int64_t i = 0; i < n; i++)
                for (int32_t e = s->nz.pos[i + p]; e < s->nz.pos[i + p + 1]; e++) {
                    const int64_t j = s->nz.crd[e] - q;
                    if (j < 0) continue;
                    if (j >= m) break;
                    s->out[i * m + j] += s->nz.val[e] * s->f[p * s->width + q];
                }
}

/* A row at a time, through a dense line with flags, which is scanned; the result's
 * arrays are as large as they can get, and are kept. */
void convolution_sparse_to_csr(conv_data *s)
{
    const int64_t n = s->shape[0] - s->width + 1, m = s->shape[1] - s->width + 1;
    s->stored = 0;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t p = 0; p < s->width; p++)
            for (int64_t q = 0; q < s->width; q++)
                for (int32_t e = s->nz.pos[i + p]; e < s->nz.pos[i + p + 1]; e++) {
                    const int64_t j = s->nz.crd[e] - q;
                    if (j < 0) continue;
                    if (j >= m) break;
                    s->line[j] = (s->set[j] ? s->line[j] : 0) +
                                 s->nz.val[e] * s->f[p * s->width + q];
                    s->set[j] = true;
                }
        for (int64_t j = 0; j < m; j++) {
            if (!s->set[j]) continue;
            s->set[j] = false;
            s->crd[s->stored] = (int32_t)j;
            s->out[s->stored++] = s->line[j];
        }
    }
}

/* Rows of nz are pixels, columns channels. */
void convolution_layer(conv_data *s)
{
    const int64_t n = s->shape[1], m = s->side, width = s->width;
    memset(s->out, 0, (size_t)(m * m * CONV_FEATURES) * sizeof *s->out);
    for (int64_t r = 0; r < width; r++)
        for (int64_t q = 0; q < width; q++)
            for (int64_t h = 0; h < m; h++)
                for (int64_t w = 0; w < m; w++) {
                    const int64_t y = h * s->stride + r * s->dilate - s->pad;
                    const int64_t x = w * s->stride + q * s->dilate - s->pad;
                    if (y < 0 || y >= n || x < 0 || x >= n) continue;
                    const int64_t pixel = y * n + x;
                    double *out = s->out + (h * m + w) * CONV_FEATURES;
                    for (int32_t e = s->nz.pos[pixel]; e < s->nz.pos[pixel + 1]; e++) {
                        const int64_t c = s->nz.crd[e];
                        const double v = s->nz.val[e];
                        const double *f =
                            s->f + ((r * width + q) * CONV_CHANNELS + c) * CONV_FEATURES;
                        for (int64_t k = 0; k < CONV_FEATURES; k++)
                            out[k] += v * f[k];
                    }
                }
}

/* The same a row of the result at a time, of which those to which something leads are
 * stored one behind the other, and their coordinates. */
void convolution_layer_stored(conv_data *s)
{
    const int64_t n = s->shape[1], m = s->side, width = s->width;
    double *out = s->out;
    int64_t rows = 0;
    for (int64_t h = 0; h < m; h++)
        for (int64_t w = 0; w < m; w++) {
            bool any = false;
            for (int64_t r = 0; r < width; r++) {
                const int64_t p = (h + r) * n + w;
                const int32_t begin = s->nz.pos[p], end = s->nz.pos[p + width];
                if (begin == end) continue;
                if (!any) memset(out, 0, CONV_FEATURES * sizeof *out);
                any = true;
                for (int64_t q = 0; q < width; q++)
                    for (int32_t e = s->nz.pos[p + q]; e < s->nz.pos[p + q + 1]; e++) {
                        const double v = s->nz.val[e];
                        const double *f =
                            s->f + ((r * width + q) * CONV_CHANNELS + s->nz.crd[e]) *
                                       CONV_FEATURES;
                        for (int64_t k = 0; k < CONV_FEATURES; k++)
                            out[k] += v * f[k];
                    }
            }
            if (!any) continue;
            s->crd[rows++] = (int32_t)w;
            out += CONV_FEATURES;
        }
    s->stored = rows * CONV_FEATURES;
}

/* Windows of 2 x 2, of all elements. */
void convolution_max_pool(conv_data *s)
{
    const int64_t n = s->shape[0] / 2, w = s->shape[1], m = w / 2;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) {
            const double *a = s->a + 2 * i * w + 2 * j;
            double most = a[0];
            if (a[1] > most) most = a[1];
            if (a[w] > most) most = a[w];
            if (a[w + 1] > most) most = a[w + 1];
            s->out[i * m + j] = most;
        }
}

void convolution_mean_pool(conv_data *s)
{
    const int64_t n = s->shape[0] / 2, w = s->shape[1], m = w / 2;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) {
            const double *a = s->a + 2 * i * w + 2 * j;
            s->out[i * m + j] = (a[0] + a[1] + a[w] + a[w + 1]) / 4;
        }
}

/* A dense image under a filter of which the nonzeros are listed: nz's columns are the
 * filter's, and a is the image. */
void convolution_sparse_filter(conv_data *s)
{
    const int64_t w = s->shape[1], n = s->shape[0] - s->width + 1, m = w - s->width + 1;
    memset(s->out, 0, (size_t)(n * m) * sizeof *s->out);
    for (int64_t i = 0; i < n; i++)
        for (int64_t p = 0; p < s->width; p++)
            for (int64_t q = 0; q < s->width; q++) {
                const double f = s->f[p * s->width + q];
                if (f == 0) continue;
                const double *a = s->a + (i + p) * w + q;
                for (int64_t j = 0; j < m; j++)
                    s->out[i * m + j] += a[j] * f;
            }
}

void convolution_either(conv_data *s)
{
    const int64_t n = s->width, m = s->shape[0] - n + 1;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++)
            s->out[i * m + j] = s->f[i] + s->a[i + j];
}

void convolution_either_max(conv_data *s)
{
    const int64_t n = s->width, m = s->shape[0] - n + 1;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++)
            s->out[i * m + j] = s->f[i] > s->a[i + j] ? s->f[i] : s->a[i + j];
}

void convolution_either_three(conv_data *s)
{
    const int64_t n = s->width, m = s->shape[0] - n + 1;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++)
            s->out[i * m + j] = s->f[i] + s->a[i + j] + s->f[j];
}

void convolution_either_2d(conv_data *s)
{
    const int64_t n = s->width, w = s->shape[1], m = s->shape[0] - n + 1;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++)
            for (int64_t k = 0; k < w; k++)
                s->out[(i * m + j) * w + k] = s->f[i * w + k] + s->a[(i + j) * w + k];
}

void convolution_min_plus(conv_data *s)
{
    const int64_t w = s->shape[1], n = s->shape[0] - s->width + 1, m = w - s->width + 1;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) {
            double least = HUGE_VAL;
            for (int64_t p = 0; p < s->width; p++)
                for (int64_t q = 0; q < s->width; q++) {
                    const double x = s->a[(i + p) * w + j + q] + s->f[p * s->width + q];
                    if (x < least) least = x;
                }
            s->out[i * m + j] = least;
        }
}

void convolution_or_and(conv_data *s)
{
    const int64_t w = s->shape[1], n = s->shape[0] - s->width + 1, m = w - s->width + 1;
    const uint8_t *a = s->truth, *f = s->truth + s->all;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) {
            uint8_t any = 0;
            for (int64_t p = 0; p < s->width; p++)
                for (int64_t q = 0; q < s->width; q++)
                    any |= a[(i + p) * w + j + q] & f[p * s->width + q];
            s->bits[i * m + j] = any;
        }
}

/* Neighbours beyond the edge are 0. */
static double near(const conv_data *s, int64_t i, int64_t j)
{
    const int64_t n = s->shape[0], m = s->shape[1];
    return i < 0 || j < 0 || i >= n || j >= m ? 0 : s->a[i * m + j];
}

void convolution_five_points(conv_data *s)
{
    const int64_t n = s->shape[0], m = s->shape[1];
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++)
            s->out[i * m + j] = near(s, i - 1, j) + near(s, i + 1, j) + near(s, i, j - 1) +
                                near(s, i, j + 1) - 4 * s->a[i * m + j];
}

static double near3(const conv_data *s, int64_t i, int64_t j, int64_t k)
{
    const int64_t w = s->shape[0];
    return i < 0 || j < 0 || k < 0 || i >= w || j >= w || k >= w
               ? 0
               : s->a[(i * w + j) * w + k];
}

void convolution_seven_points(conv_data *s)
{
    const int64_t w = s->shape[0];
    for (int64_t i = 0; i < w; i++)
        for (int64_t j = 0; j < w; j++)
            for (int64_t k = 0; k < w; k++)
                s->out[(i * w + j) * w + k] =
                    near3(s, i - 1, j, k) + near3(s, i + 1, j, k) + near3(s, i, j - 1, k) +
                    near3(s, i, j + 1, k) + near3(s, i, j, k - 1) + near3(s, i, j, k + 1) -
                    6 * s->a[(i * w + j) * w + k];
}
