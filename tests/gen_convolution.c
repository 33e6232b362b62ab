/* gen_convolution.c: random convolutions and poolings: an operand read at sums of
 * an index of the pool and one of a window, with strides, dilations, reversed
 * windows and a constant, times a filter, or under a reduction.
 *
 * Windows are called p, q, r and have one size in a statement, so that several
 * terms agree on them. */
#include "gen.h"
#include <inttypes.h>
#include <string.h>

enum { WINDOWS = 3 };

static const char window[] = "pqr";

static int64_t window_size(const gen *g, int k)
{
    return 1 + (int64_t)(g->c->seed >> (20 + 3 * k)) % 3;
}

/* c*x + d*w + k; the size that it needs. */
static int64_t subscript(gen *g, int x, int w, char *out, size_t size)
{
    static const int strides[] = {1, 1, 1, 1, 2, 3}, steps[] = {1, 1, 1, 2, 3, -1, -2};
    const int c = strides[gen_below(g, 6)], d = steps[gen_below(g, 7)];
    const int64_t n = window_size(g, w), reach = d * (n - 1);
    const int64_t k = gen_below(g, 2) - (reach < 0 ? reach : 0);
    if (c != 1) gen_say(out, size, "%d*", c);
    gen_say(out, size, "%c%s", "ijklmn"[x], d < 0 ? "-" : "+");
    if (d != 1 && d != -1) gen_say(out, size, "%d*", d < 0 ? -d : d);
    gen_say(out, size, "%c", window[w]);
    if (k) gen_say(out, size, "+%" PRId64, k);
    g->bare[x] = true; /* its range is what fits */
    return c * (g->extent[x] - 1) + k + (reach > 0 ? reach : 0) + 1;
}

/* The operand: some modes by windows, at most one by a bare index. */
static int image(gen *g, ctensor *t, char *out, size_t size)
{
    int windows = 1 + gen_below(g, g->nindex < WINDOWS ? g->nindex : WINDOWS);
    if (gen_has(g, FEATURE_LARGE)) windows = 1;
    const int bare =
        windows < g->nindex && gen_chance(g, 30) ? gen_below(g, windows + 1) : -1;
    int x = gen_has(g, FEATURE_LARGE) ? 0 : gen_below(g, g->nindex - windows + 1);
    gen_say(out, size, "%s(", t->name);
    for (int k = 0, w = 0; w < windows || k == bare; k++) {
        gen_say(out, size, "%s", k ? "," : "");
        if (k != bare) {
            t->shape[t->order++] = subscript(g, x++ % g->nindex, w, out, size);
            w++;
            continue;
        }
        const int b = g->nindex - 1;
        gen_say(out, size, "%c", "ijklmn"[b]);
        g->bare[b] = true;
        t->shape[t->order++] = g->extent[b];
    }
    gen_say(out, size, ")");
    return windows;
}

static void filter(gen *g, want w, int windows, char *out, size_t size)
{
    ctensor t = {.order = windows};
    gen_say(out, size, " * %c(", "ABCDEFGH"[g->c->count]);
    for (int k = 0; k < windows; k++) {
        gen_say(out, size, "%s%c", k ? "," : "", window[k]);
        t.shape[k] = window_size(g, k);
    }
    gen_say(out, size, ")");
    gen_operand(g, w, &t);
}

void gen_convolution(gen *g, want w, char *out, size_t size)
{
    ctensor t = {.order = 0};
    char text[300] = "";
    bool empty = false; /* an operand can't tell a range without values */
    for (int k = 0; k < g->nindex; k++)
        empty |= g->extent[k] == 0;
    if (empty || g->c->count + 2 >= CASE_TENSORS - 2) {
        gen_access(g, w, out, size);
        return;
    }
    snprintf(t.name, sizeof t.name, "%c", "ABCDEFGH"[g->c->count]);
    const int windows = image(g, &t, text, sizeof text);
    gen_operand(g, w, &t);
    if (gen_chance(g, 65)) {
        gen_say(out, size, "%s", text);
        filter(g, w, windows, out, size);
        return;
    }
    const bool ordered = g->domain != D_COMPLEX && g->domain != D_BOOL;
    gen_say(out, size, "%s(", ordered && gen_chance(g, 50) ? "max" : "sum");
    for (int k = 0; k < windows; k++)
        gen_say(out, size, "%s%c in 0:%" PRId64, k ? ", " : "", window[k],
                window_size(g, k));
    gen_say(out, size, ": %s)", text);
}

/* Loops over some of the pool and of the windows in any order, as a schedule. */
void gen_window_order(gen *g, char *out, size_t size)
{
    char names[16] = "";
    int n = 0;
    for (int k = 0; k < WINDOWS; k++)
        if (strchr(out, window[k]) && !strstr(out, "in 0:")) names[n++] = window[k];
    for (int k = 0; k < g->nindex; k++) {
        const char *at = strchr(out, "ijklmn"[k]);
        if (at && (at[-1] == '(' || at[-1] == ',')) names[n++] = "ijklmn"[k];
    }
    if (n < 2) return;
    for (int k = n - 1; k > 0; k--) {
        const int j = gen_below(g, k + 1);
        const char swap = names[k];
        names[k] = names[j];
        names[j] = swap;
    }
    for (int k = 0; k < n; k++)
        gen_say(out, size, "%s%c", k ? "," : "\n  with reorder(", names[k]);
    gen_say(out, size, ")");
    g->c->scheduled = true;
}
