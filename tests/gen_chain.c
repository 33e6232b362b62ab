/* gen_chain.c: a reduction of several indices over a product of several operands, in
 * any pair of functions of which one distributes over the other, or nearly does, and sums
 * and differences of such products, and the same twice: what src/opt takes apart. */
#include "gen.h"
#include <string.h>

typedef struct semiring {
    const char *sum, *product;
    bool infix;
} semiring;

static const semiring numbers[] = {
    {"sum", " * ", true},  {"min", " + ", true},  {"max", " + ", true},
    {"min", "max", false}, {"max", "min", false}, {"max", " * ", true},
};
static const semiring integers[] = {{"sum", " * ", true},
                                    {"xor", " & ", true},
                                    {"min", "max", false},
                                    {"max", "min", false}};
static const semiring truths[] = {{"any", " && ", true},
                                  {"all", " || ", true},
                                  {"any", " && ", true},
                                  {"xor", " & ", true}};

static const semiring *pick(gen *g, want w)
{
    if (w == WANT_BOOL) return &truths[gen_below(g, 4)];
    if (g->domain == D_COMPLEX) return &numbers[0];
    if (g->domain == D_INT || g->domain == D_UINT) return &integers[gen_below(g, 4)];
    return &numbers[gen_chance(g, 40) ? 0 : gen_below(g, 6)];
}

static void factors(gen *g, want w, const semiring *s, int n, char *out, size_t size)
{
    if (n == 1) {
        if (gen_chance(g, 8))
            gen_expr(g, w, 1, out, size);
        else
            gen_access(g, w, out, size);
        return;
    }
    const int left = 1 + gen_below(g, n - 1);
    gen_say(out, size, "%s(", s->infix ? "" : s->product);
    factors(g, w, s, left, out, size);
    gen_say(out, size, "%s", s->infix ? s->product : ", ");
    factors(g, w, s, n - left, out, size);
    gen_say(out, size, ")");
}

/* A product, or what a reduction may go through, of products. */
static void terms(gen *g, want w, const semiring *s, char *out, size_t size)
{
    const bool sum = s == numbers || s == integers,
               ring = sum || strcmp(s->sum, "xor") == 0;
    const int n = ring && gen_chance(g, 30) ? 2 : 1;
    if (sum && gen_chance(g, 10)) gen_say(out, size, "-");
    for (int k = 0; k < n; k++) {
        if (k) gen_say(out, size, "%s", !sum ? " ^ " : gen_chance(g, 50) ? " + " : " - ");
        gen_say(out, size, "(");
        factors(g, w, s, (n > 1 ? 1 : 3) + gen_below(g, 3), out, size);
        gen_say(out, size, ")");
    }
    if (s == numbers && gen_chance(g, 10)) gen_say(out, size, " / %d", 1 + gen_below(g, 3));
}

void gen_chain(gen *g, want w, char *out, size_t size)
{
    char body[1200] = "", all[1400] = "";
    const semiring *s = pick(g, w);
    const int n = 1 + gen_below(g, 3), first = g->nbound;
    for (int k = 0; k < n; k++) {
        const int x = g->nbound++;
        g->bound_extent[x] = 1 + gen_below(g, 4);
        if (gen_has(g, FEATURE_SHAPES) && gen_chance(g, 25)) g->bound_extent[x] = 0;
        g->bound_bare[x] = false;
        snprintf(g->bound_name[x], sizeof g->bound_name[x], "p%d", ++g->names % 100);
    }
    terms(g, w, s, body, sizeof body);
    gen_say(all, sizeof all, "%s(", s->sum);
    for (int k = first; k < g->nbound; k++) {
        gen_say(all, sizeof all, "%s%s", k > first ? ", " : "", g->bound_name[k]);
        if (!g->bound_bare[k])
            gen_say(all, sizeof all, " in 0:%d", (int)g->bound_extent[k]);
    }
    gen_say(all, sizeof all, ": %s)", body);
    g->nbound = first;
    /* twice the same part is computed once */
    if (gen_chance(g, 15))
        gen_say(out, size, w == WANT_BOOL ? "(%s && %s)" : "(%s + %s)", all, all);
    else
        gen_say(out, size, "%s", all);
}
