/* functions.c: a program that brings functions of its own: what the machine
 * computes with is the host's, where it computes is the language's.
 *
 * Weather is a chain of hidden states; how likely a week of observations is, is
 * a sum over all ways through it. Products of many probabilities underflow, so
 * one works with their logarithms: `+` multiplies, and `logadd` adds. It is
 * commutative and associative with identity -inf, which is the fill of the sparse
 * matrix of ways: so `logadd(i: …)` visits the ways that there are, and no others.
 * A function may also fail, and then its statement does, with its message.
 */
#include <math.h>
#include <stcvm.h>
#include <stdio.h>

/* log(exp(x) + exp(y)), for n pairs. */
static stc_status logadd(void *context, int64_t n, const void *const *args, void *out,
                         const char **why)
{
    const double *x = args[0], *y = args[1];
    double *sum = out;
    (void)context, (void)why;
    for (int64_t k = 0; k < n; k++) {
        const double high = fmax(x[k], y[k]), low = fmin(x[k], y[k]);
        sum[k] = low == -INFINITY ? high : high + log1p(exp(low - high));
    }
    return STC_OK;
}

/* The logarithm of the chance to see umbrella (1) or none (0) in a state. */
typedef struct chances {
    double log[3][2];
} chances;

static stc_status seen(void *context, int64_t n, const void *const *args, void *out,
                       const char **why)
{
    const chances *c = context;
    const int64_t *state = args[0], *what = args[1];
    double *to = out;
    for (int64_t k = 0; k < n; k++) {
        if (state[k] < 0 || state[k] > 2 || what[k] < 0 || what[k] > 1) {
            *why = "there are three states, and an umbrella is there or isn't";
            return STC_ERR_DATA;
        }
        to[k] = c->log[state[k]][what[k]];
    }
    return STC_OK;
}

static int failed(const stc_machine *m)
{
    const stc_error_info *e = stc_error(m);
    printf("%s:%d:%d: %s\n", e->file, e->line, e->column, e->message);
    return 1;
}

static stc_status bring(stc_machine *m, chances *c)
{
    const stc_signature add = {{STC_F64, STC_F64}, STC_F64, logadd};
    const stc_signature see = {{STC_I64, STC_I64}, STC_F64, seen};
    const stc_function of[] = {
        {.size = sizeof(stc_function),
         .head = "logadd(x, y) with commutative, associative, identity(-inf)",
         .count = 1,
         .signature = &add},
        {.size = sizeof(stc_function),
         .head = "seen(state, what)",
         .count = 1,
         .signature = &see,
         .context = c},
    };
    const stc_status st = stc_function_register(m, &of[0]);
    return st ? st : stc_function_register(m, &of[1]);
}

int main(void)
{
    chances c;
    const double umbrella[3] = {0.05, 0.3, 0.9}; /* in sun, clouds, rain */
    for (int s = 0; s < 3; s++) {
        c.log[s][0] = log(1 - umbrella[s]);
        c.log[s][1] = log(umbrella[s]);
    }
    stc_machine *m;
    stc_session *s;
    if (stc_open(NULL, &m) || bring(m, &c) || stc_session_open(m, &s)) return failed(m);
    stc_session_output(s, stdout);

    /* From sun to rain, and back, leads no way but through clouds. */
    const char *forward = "tensor P csr f64 [3,3] = { (0,0): 0.7, (0,1): 0.3, (1,0): 0.3,\n"
                          "  (1,1): 0.4, (1,2): 0.3, (2,1): 0.5, (2,2): 0.5 }\n"
                          "tensor W csr f64 [3,3] fill -inf\n"
                          "W(i,j) = log(P(i,j))\n"
                          "tensor week dense i64 [7] = [0, 0, 1, 1, 1, 0, 1]\n"
                          "tensor way dense f64 [3] = [0, -inf, -inf]\n"
                          "day = 0\n"
                          "while (day < 7) {\n"
                          "  today = week(d) * (d == day)\n"
                          "  way(j) = logadd(i: way(i) + W(i,j)) + seen(j, today)\n"
                          "  day += 1\n"
                          "}\n"
                          "likely = exp(logadd(j: way(j)))\n"
                          "print way\n"
                          "print likely\n";
    if (stc_session_exec(s, forward, "forward")) return failed(m);
    printf("and a state that isn't there: ");
    if (stc_session_exec(s, "odd(i) = seen(i + 2, 0) + way(i)", "odd")) failed(m);
    stc_session_close(s);
    stc_close(m);
    return 0;
}
