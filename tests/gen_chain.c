/* gen_chain.c: a reduction of several indices over a product of several operands, in
 * each pair of functions of which functions.def has that one distributes over the other,
 * and in one that nearly does, and sums and differences of such products, and the same
 * twice: what src/opt takes apart. */
#include "../vm/fn/functions.h"
#include "gen.h"

typedef struct pair {
    int product, sum; /* the functions */
} pair;

enum { PAIRS = 32 };

/* The pairs for a class; of truth values those that have them, too. */
static int pairs_of(vclass cls, bool truths, pair *out)
{
    int n = 0;
    for (int f = 0; f < FN_COUNT; f++)
        for (int over = 0; over < FN_COUNT; over++) {
            const int typing = fn_at(f)->typing;
            const bool logic = typing == TY_LOGIC;
            if (truths ? logic || typing == TY_BITS : !logic)
                if (fn_distributes(f, over, cls) && n < PAIRS) out[n++] = (pair){f, over};
        }
    if (!truths && cls == CLASS_F64)
        out[n++] = (pair){FN_MUL, FN_MAX}; /* if not negative */
    return n;
}

static pair pick(gen *g, want w)
{
    pair all[PAIRS + 1];
    const bool integers = w == WANT_BOOL || g->domain == D_INT || g->domain == D_UINT;
    const vclass cls = integers                 ? CLASS_I64
                       : g->domain == D_COMPLEX ? CLASS_C128
                                                : CLASS_F64;
    const int n = pairs_of(cls, w == WANT_BOOL, all);
    if (!integers && gen_chance(g, 40)) return (pair){FN_MUL, FN_ADD};
    return all[gen_below(g, n)];
}

static void factors(gen *g, want w, pair s, int n, char *out, size_t size)
{
    if (n == 1) {
        if (gen_chance(g, 8))
            gen_expr(g, w, 1, out, size);
        else
            gen_access(g, w, out, size);
        return;
    }
    const int left = 1 + gen_below(g, n - 1);
    const fn_info *const f = fn_at(s.product);
    gen_say(out, size, "%s(", f->symbol ? "" : f->name);
    factors(g, w, s, left, out, size);
    gen_say(out, size, f->symbol ? " %s " : "%s, ", f->symbol ? f->symbol : "");
    factors(g, w, s, n - left, out, size);
    gen_say(out, size, ")");
}

/* A product, or what a reduction may go through, of products. */
static void terms(gen *g, want w, pair s, char *out, size_t size)
{
    const bool sum = s.sum == FN_ADD, ring = sum || s.sum == FN_BITXOR;
    const bool floats = w != WANT_BOOL && g->domain != D_INT && g->domain != D_UINT;
    const int n = ring && gen_chance(g, 30) ? 2 : 1;
    if (sum && gen_chance(g, 10)) gen_say(out, size, "-");
    for (int k = 0; k < n; k++) {
        if (k) gen_say(out, size, "%s", !sum ? " ^ " : gen_chance(g, 50) ? " + " : " - ");
        gen_say(out, size, "(");
        factors(g, w, s, (n > 1 ? 1 : 3) + gen_below(g, 3), out, size);
        gen_say(out, size, ")");
    }
    if (sum && floats && gen_chance(g, 10))
        gen_say(out, size, " / %d", 1 + gen_below(g, 3));
}

void gen_chain(gen *g, want w, char *out, size_t size)
{
    char body[1200] = "", all[1400] = "";
    const pair s = pick(g, w);
    const int n = 1 + gen_below(g, 3), first = g->nbound;
    for (int k = 0; k < n; k++) {
        const int x = g->nbound++;
        g->bound_extent[x] = 1 + gen_below(g, 4);
        if (gen_has(g, FEATURE_SHAPES) && gen_chance(g, 25)) g->bound_extent[x] = 0;
        g->bound_bare[x] = false;
        snprintf(g->bound_name[x], sizeof g->bound_name[x], "p%d", ++g->names % 100);
    }
    terms(g, w, s, body, sizeof body);
    gen_say(all, sizeof all, "%s(", fn_at(s.sum)->name);
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
