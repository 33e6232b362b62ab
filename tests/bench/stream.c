/* stream.c: the bandwidth of memory, to set the rows beside: a[i] = b[i] + s * c[i]
 * over arrays far larger than caches (STREAM's triad), by one thread or by several at
 * once, each on a part of its own.
 */
#include "bench.h"
#include <pthread.h>
#include <stdlib.h>

enum { ELEMENTS = 4000000, TRIES = 10 };

struct stream {
    double *a, *b, *c;
};

typedef struct part {
    const stream *s;
    pthread_barrier_t *ready;
    int64_t begin, end;
} part;

static void triad(double *restrict a, const double *restrict b, const double *restrict c,
                  int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        a[i] = b[i] + 3 * c[i];
}

static void *run_part(void *context)
{
    const part *p = context;
    const stream *s = p->s;
    if (p->ready) pthread_barrier_wait(p->ready);
    triad(s->a + p->begin, s->b + p->begin, s->c + p->begin, p->end - p->begin);
    return NULL;
}

stream *stream_open(void)
{
    stream *s = xalloc(sizeof *s);
    *s = (stream){gen_dense(ELEMENTS, 1), gen_dense(ELEMENTS, 2), gen_dense(ELEMENTS, 3)};
    return s;
}

void stream_close(stream *s)
{
    free(s->a);
    free(s->b);
    free(s->c);
    free(s);
}

double stream_ns(const stream *s, int threads)
{
    pthread_t thread[STREAM_THREADS];
    part p[STREAM_THREADS];
    pthread_barrier_t ready;
    if (threads > STREAM_THREADS) threads = STREAM_THREADS;
    if (pthread_barrier_init(&ready, NULL, (unsigned)threads)) abort();
    for (int t = 0; t < threads; t++) {
        p[t] = (part){s, &ready, (int64_t)ELEMENTS * t / threads,
                      (int64_t)ELEMENTS * (t + 1) / threads};
        if (t && pthread_create(&thread[t], NULL, run_part, &p[t])) abort();
    }
    pthread_barrier_wait(&ready); /* they are all there */
    p[0].ready = NULL;
    const double t0 = now_ns();
    run_part(&p[0]);
    for (int t = 1; t < threads; t++)
        pthread_join(thread[t], NULL);
    const double ns = now_ns() - t0;
    pthread_barrier_destroy(&ready);
    return ns;
}

void print_stream(bool csv)
{
    stream *s = stream_open();
    double best = 1e300;
    for (int k = 0; k < TRIES; k++) {
        const double t = stream_ns(s, 1);
        if (t < best) best = t;
    }
    const double gbs = 3.0 * sizeof(double) * ELEMENTS / best;
    printf(csv ? "stream triad,,,,,%.2f,\n" : "stream (triad) %45.1f GB/s\n", gbs);
    stream_close(s);
}
