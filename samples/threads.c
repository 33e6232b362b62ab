/* threads.c: many machines on many threads. Machines share nothing, so nothing
 * has to be locked: each thread opens its own, loads the same bytecode, and
 * lends it the same matrix, of which there is one copy.
 */
#include <pthread.h>
#include <stcvm.h>
#include <stdio.h>

enum { THREADS = 8, N = 2000, ROUNDS = 200 };

static int32_t row_begin[N + 1], column[3 * N];
static double value[3 * N];

typedef struct job {
    const void *bytes; /* of the program                                      */
    size_t size;
    double seed, sum;
    stc_status status;
} job;

static void make_matrix(void)
{
    int n = 0;
    for (int i = 0; i < N; i++) {
        for (int j = i > 0 ? i - 1 : 0; j < N && j <= i + 1; j++) {
            column[n] = j;
            value[n++] = i == j ? 2 : -1;
        }
        row_begin[i + 1] = n;
    }
}

static stc_status lend(stc_machine *m, stc_tensor **A)
{
    const int64_t shape[2] = {N, N};
    stc_status st = stc_tensor_new(m, "csr", STC_F64, 2, shape, NULL, A);
    if (!st) st = stc_tensor_lend(*A, 1, STC_POS, (stc_array){row_begin, N + 1, 4, 0});
    if (!st) st = stc_tensor_lend(*A, 1, STC_CRD, (stc_array){column, row_begin[N], 4, 0});
    if (!st) st = stc_tensor_lend_values(*A, value, row_begin[N]);
    return st;
}

static stc_status work(job *j, stc_machine *m, stc_tensor **A)
{
    stc_program *p;
    const stc_tensor *s;
    stc_value v;
    const stc_source x = {
        .kind = STC_SOURCE_VALUE, .value.f = j->seed, .value_type = STC_F64, .type = -1};
    stc_status st = lend(m, A);
    if (!st) st = stc_program_decode(m, j->bytes, j->size, &p);
    if (!st) st = stc_bind(p, "A", *A);
    if (!st) st = stc_bind_source(p, "x", &x);
    for (int k = 0; !st && k < ROUNDS; k++)
        st = stc_run(p);
    if (!st) st = stc_result(p, "s", &s);
    if (!st) st = stc_tensor_get(s, NULL, &v);
    if (!st) j->sum = v.f;
    return st;
}

static void *run(void *context)
{
    job *j = context;
    stc_machine *m;
    stc_tensor *A = NULL;
    j->status = stc_open(NULL, &m);
    if (j->status) return NULL;
    j->status = work(j, m, &A);
    if (j->status) fprintf(stderr, "threads: %s\n", stc_error(m)->message);
    stc_tensor_free(A);
    stc_close(m);
    return NULL;
}

int main(void)
{
    static const stc_decl decls[] = {{.name = "A", .format = "csr"}, {.name = "x"}};
    stc_machine *m;
    stc_program *p;
    pthread_t thread[THREADS];
    job jobs[THREADS] = {{0}};
    void *bytes;
    size_t size;
    int bad = 0;
    make_matrix();
    if (stc_open(NULL, &m)) return 1;
    if (stc_compile(m, "s = A(i,j) * x(j)", decls, 2, &p)) return 1;
    if (stc_program_encode(p, &bytes, &size)) return 1;
    for (int k = 0; k < THREADS; k++) {
        jobs[k] = (job){.bytes = bytes, .size = size, .seed = k + 1};
        if (pthread_create(&thread[k], NULL, run, &jobs[k])) return 1;
    }
    for (int k = 0; k < THREADS; k++) {
        pthread_join(thread[k], NULL);
        printf("machine %d: %d runs, sum %g\n", k, ROUNDS, jobs[k].sum);
        bad |= jobs[k].status || jobs[k].sum != 2 * jobs[k].seed;
    }
    stc_text_free(m, bytes);
    stc_close(m);
    return bad;
}
