/* host_functions.c: functions of the host's own, for the fuzzer: bodies with the
 * properties that they have. Each is one expression, which the machine gets as a loop
 * in C and the oracle as a definition in the language.
 */
#include "case.h"
#include <string.h>

/* ROW(name, type, element, what is true of it, the expression) */
#define ROWS(ROW)                                                                          \
    ROW(h1, I64, int64_t, "commutative, associative, idempotent, annihilator(0)", (x & y)) \
    ROW(h2, I64, int64_t, "commutative, associative, identity(0)", (x ^ y))                \
    ROW(h3, I64, int64_t, "identity(0, 1)", (x ^ (y & 5)))                                 \
    ROW(h4, U64, uint64_t, "commutative, associative, idempotent, identity(0)", (x | y))   \
    ROW(h5, U64, uint64_t, "annihilator(0, 0)", (x & (y + 3)))                             \
    ROW(h6, F64, double, "commutative, annihilator(0)", (x * y))                           \
    ROW(h7, F64, double, "identity(0, 1)", (x + y * 2))

#define CALL(name, type, element, properties, expression)                                  \
    static stc_status call_##name(void *context, int64_t n, const void *const *args,       \
                                  void *out, const char **why)                             \
    {                                                                                      \
        (void)context, (void)why;                                                          \
        for (int64_t k = 0; k < n; k++) {                                                  \
            const element x = ((const element *)args[0])[k];                               \
            const element y = ((const element *)args[1])[k];                               \
            ((element *)out)[k] = expression;                                              \
        }                                                                                  \
        return STC_OK;                                                                     \
    }
ROWS(CALL)

static const struct given {
    const char *name, *head, *text;
    stc_signature as;
} given[] = {
#define GIVEN(name, type, element, properties, expression)                                 \
    {#name,                                                                                \
     #name "(x, y) with " properties,                                                      \
     "fn " #name "(x, y) = " #expression " with " properties "\n",                         \
     {{STC_##type, STC_##type}, STC_##type, call_##name}},
    ROWS(GIVEN)};
enum { GIVEN_COUNT = sizeof given / sizeof *given };

stc_status host_functions_register(stc_machine *m)
{
    stc_status st = STC_OK;
    for (int k = 0; st == STC_OK && k < GIVEN_COUNT; k++) {
        const stc_function f = {
            .size = sizeof f, .head = given[k].head, .count = 1, .signature = &given[k].as};
        st = stc_function_register(m, &f);
    }
    return st;
}

const char *host_function_of(stc_type domain, int which)
{
    int n = 0;
    for (int k = 0; k < GIVEN_COUNT; k++)
        n += given[k].as.result == domain;
    for (int k = 0; k < GIVEN_COUNT; k++)
        if (given[k].as.result == domain && which-- % n == 0) return given[k].name;
    return NULL;
}

void host_functions_define(oworld *w, const char *text)
{
    for (int k = 0; k < GIVEN_COUNT; k++)
        if (strstr(text, given[k].name))
            oracle_define_host(w, given[k].text, given[k].as.result);
}
