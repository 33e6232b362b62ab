/* stream.c: the bandwidth of memory, to set the rows' GB/s beside: a[i] = b[i] + s * c[i]
 * over arrays far larger than caches (STREAM's triad), the best of a few runs.
 */
#include "bench.h"
#include <stdlib.h>

enum { ELEMENTS = 4000000, TRIES = 10 };

static void triad(double *restrict a, const double *restrict b, const double *restrict c)
{
    for (int64_t i = 0; i < ELEMENTS; i++)
        a[i] = b[i] + 3 * c[i];
}

void print_stream(bool csv)
{
    double *a = gen_dense(ELEMENTS, 1), *b = gen_dense(ELEMENTS, 2),
           *c = gen_dense(ELEMENTS, 3), best = 1e300;
    for (int k = 0; k < TRIES; k++) {
        const double t0 = now_ns();
        triad(a, b, c);
        const double t = now_ns() - t0;
        if (t < best) best = t;
    }
    const double gbs = 3.0 * sizeof(double) * ELEMENTS / best;
    printf(csv ? "stream triad,,,,,%.2f,\n" : "stream (triad) %45.1f GB/s\n", gbs);
    free(a);
    free(b);
    free(c);
}
