/* gen_nest.c: a product as nests of loops have it: one operand, whose levels are the loops,
 * and factors that are known a loop or two further out, or inside; in types of their own,
 * in any grouping, with functions around parts. Where rounds are small, lanes of several
 * are gone through together, and what a factor has from a loop around differs among them.
 */
#include "gen.h"
#include <string.h>

enum { TEXT = 900, FACTORS = 5 };

/* Long enough for strips to be filled by many rounds, in time for the oracle. */
void gen_nest_pool(gen *g)
{
    static const int longest[] = {30, 100, 300, 1100};
    g->nindex = 3;
    for (int k = 0; k < 3; k++)
        g->extent[k] = 1 + gen_below(g, k == 2 ? 3 : 6);
    g->extent[0] = longest[gen_below(g, 4)] - gen_below(g, 5);
}

/* x, or a function of it. */
static void around(gen *g, want w, int percent, const char *x, char *out, size_t size)
{
    static const char *const any[] = {"abs(%s)", "(-%s)", "(%s * 2)", "(%s + 1)"};
    static const char *const real[] = {
        "f32(%s)",     "f64(%s)",   "i64(%s)",    "(%s / 2)",
        "(%s ** 2)",   "floor(%s)", "max(%s, 1)", "select(%s > 0, 2, 3)",
        "(%s * 0.25)", "(%s > 0)"};
    static const char *const whole[] = {"i32(%s)", "i64(%s)", "max(%s, 1)"};
    const bool plain = g->domain == D_COMPLEX || g->domain == D_BOOL;
    const char *how = any[gen_below(g, plain ? 1 : 4)];
    if (!gen_chance(g, percent) || w == WANT_BOOL)
        how = "%s";
    else if (!plain && (w == WANT_INT || g->domain == D_INT || g->domain == D_UINT))
        how = gen_chance(g, 50) ? whole[gen_below(g, 3)] : how;
    else if (!plain && gen_chance(g, 70))
        how = real[gen_below(g, 10)];
    const char *at = strstr(how, "%s");
    gen_say(out, size, "%.*s%s%s", (int)(at - how), how, x, at + 2);
}

/* The operand that leads: of all the loops' indices, in their order. */
static const char *leading(gen *g, int n)
{
    static const char *const form[][3] = {
        {"csr", "dcsr", "(i,j) -> (i : compressed(index64), j : compressed(index64))"},
        {"csf", "(i,j,k) -> (i : dense, j : compressed, k : compressed)",
         "(i,j,k) -> (i : compressed, j : compressed, k : dense)"},
        {"csf", "(i,j,k,l) -> (i : dense, j : dense, k : compressed, l : compressed)",
         "coo"}};
    return gen_chance(g, 80) ? form[n - 2][gen_below(g, 3)] : NULL;
}

static void access(gen *g, want w, const int *loop, int n, unsigned which, char *out,
                   size_t size)
{
    ctensor t = {.order = 0};
    char text[80] = "";
    gen_say(text, sizeof text, "%c(", "ABCDEFGH"[g->c->count]);
    for (int k = 0; k < n; k++) {
        if (!(which >> k & 1)) continue;
        gen_say(text, sizeof text, "%s%c", t.order ? "," : "", "ijklmn"[loop[k]]);
        t.shape[t.order++] = g->extent[loop[k]];
        g->bare[loop[k]] = true;
    }
    gen_say(text, sizeof text, ")");
    const bool all = which == (1u << n) - 1;
    g->format = all ? leading(g, n) : gen_chance(g, 60) ? "dense" : NULL;
    gen_operand(g, w, &t);
    g->format = NULL;
    around(g, w, all ? 40 : 15, text, out, size);
}

static void product(gen *g, want w, char (*factor)[200], int n, char *out, size_t size)
{
    char part[2][TEXT] = {"", ""}, both[TEXT + 8] = "";
    if (n == 1) {
        gen_say(out, size, "%s", factor[0]);
        return;
    }
    const int left = 1 + gen_below(g, n - 1);
    product(g, w, factor, left, part[0], TEXT);
    product(g, w, factor + left, n - left, part[1], TEXT);
    gen_say(both, sizeof both, w == WANT_BOOL ? "(%s && %s)" : "(%s * %s)", part[0],
            part[1]);
    around(g, w, 20, both, out, size);
}

void gen_nest(gen *g, want w, char *out, size_t size)
{
    int loop[6], n = g->nindex < 4 || gen_chance(g, 30) ? g->nindex : 3;
    char factor[FACTORS][200] = {""};
    const int count = 2 + gen_below(g, FACTORS - 1), at = gen_below(g, count);
    if (n > 2 && gen_chance(g, 20)) n = 2;
    if (g->c->count + count > CASE_TENSORS - 2 || g->nindex < 2) {
        gen_access(g, w, out, size);
        return;
    }
    for (int k = 0; k < n; k++)
        loop[k] = k;
    for (int k = n - 1; k > 0 && gen_chance(g, 25); k--) {
        const int j = gen_below(g, k + 1), x = loop[k];
        loop[k] = loop[j];
        loop[j] = x;
    }
    for (int k = 0; k < count; k++) {
        unsigned which = 1u << gen_below(g, n);
        if (gen_chance(g, 25)) which |= 1u << gen_below(g, n);
        access(g, w, loop, n, k == at ? (1u << n) - 1 : which, factor[k], sizeof *factor);
    }
    product(g, w, factor, count, out, size);
}
