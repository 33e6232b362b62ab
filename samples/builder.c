/* builder.c: a matrix from a stream of unknown length and size, with a function of the
 * host's own for what comes twice, and its entries read back in blocks: who last called
 * whom, of calls that come in any order.
 */
#include <stcvm.h>
#include <stdio.h>

#define CALLS 200000
#define PEOPLE 300

/* A call, as a stream would bring it: the same each time this program runs. */
static double next_call(uint32_t *state, int64_t *who)
{
    for (int k = 0; k < 2; k++) {
        *state = *state * 1664525 + 1013904223;
        who[k] = (int64_t)(*state >> 8) % PEOPLE;
    }
    return (double)(*state >> 8) / 16; /* when */
}

static stc_status later(void *context, int64_t n, const void *const *args, void *out,
                        const char **why)
{
    const double *a = (const double *)args[0], *b = (const double *)args[1];
    (void)context, (void)why;
    for (int64_t k = 0; k < n; k++)
        ((double *)out)[k] = a[k] > b[k] ? a[k] : b[k];
    return STC_OK;
}

static stc_status build(stc_machine *m, double (*expected)[PEOPLE], stc_tensor **out)
{
    const stc_signature sig = {{STC_F64, STC_F64}, STC_F64, later};
    const stc_function f = {sizeof(stc_function),
                            "later(a, b) with commutative, associative, idempotent", 1,
                            &sig, NULL};
    stc_builder *b = NULL;
    stc_status st = stc_function_register(m, &f);
    if (!st) st = stc_builder_open(m, "csr", STC_F64, 2, NULL, NULL, "later", &b);
    uint32_t state = 1;
    for (int k = 0; k < CALLS && !st; k++) {
        int64_t who[2];
        const double when = next_call(&state, who);
        double *seen = &expected[who[0]][who[1]];
        if (when > *seen) *seen = when;
        st = stc_builder_put(b, who, &when);
    }
    if (!st) st = stc_builder_finish(b, out);
    stc_builder_free(b);
    return st;
}

/* How many entries differ from what they should be; there is one for each pair. */
static stc_status compare(const stc_tensor *t, double (*expected)[PEOPLE], int64_t *wrong)
{
    stc_iter *it = NULL;
    stc_block b;
    stc_status st = stc_iter_open(t, 1000, &it);
    b.count = 1;
    *wrong = 0;
    while (!st && b.count) {
        st = stc_iter_next(it, &b);
        for (int64_t e = 0; e < b.count && !st; e++) {
            double *want = &expected[b.coord[0][e]][b.coord[1][e]];
            *wrong += ((const double *)b.values)[e] != *want;
            *want = 0;
        }
    }
    for (int i = 0; i < PEOPLE; i++)
        for (int j = 0; j < PEOPLE; j++)
            *wrong += expected[i][j] != 0; /* no entry came for it */
    stc_iter_free(it);
    return st;
}

int main(void)
{
    static double expected[PEOPLE][PEOPLE];
    stc_machine *m;
    stc_tensor *t = NULL;
    int64_t wrong = 0;
    if (stc_open(NULL, &m) != STC_OK) return 1;
    stc_status st = build(m, expected, &t);
    if (!st) st = compare(t, expected, &wrong);
    if (st) {
        fprintf(stderr, "builder: %s\n", stc_error(m)->message);
        return 1;
    }
    printf("%d calls among %lld people: %lld pairs, %lld of them wrong\n", CALLS,
           (long long)stc_tensor_shape(t)[0], (long long)stc_tensor_stored(t),
           (long long)wrong);
    stc_tensor_free(t);
    stc_close(m);
    return wrong != 0;
}
