/* gen_expr.c: random expressions as text, and the operands they need. */
#include "gen.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 900, BOUND = 100 }; /* ids from BOUND on are bound indices */

/* ---- indices ------------------------------------------------------------------------ */

static int pick_index(gen *g)
{
    if (g->nbound > 0 && gen_chance(g, 60)) return BOUND + gen_below(g, g->nbound);
    return gen_below(g, g->nindex);
}

static int64_t extent_of(const gen *g, int x)
{
    return x >= BOUND ? g->bound_extent[x - BOUND] : g->extent[x];
}

static const char *name_of(const gen *g, int x, char buf[2])
{
    if (x >= BOUND) return g->bound_name[x - BOUND];
    buf[0] = "ijklmn"[x];
    buf[1] = 0;
    return buf;
}

static void mark(gen *g, int x)
{
    if (x >= BOUND)
        g->bound_bare[x - BOUND] = true;
    else
        g->bare[x] = true;
}

static bool is_bare(const gen *g, int x)
{
    return x >= BOUND ? g->bound_bare[x - BOUND] : g->bare[x];
}

static void say_index(gen *g, int x, char *out, size_t size)
{
    char buf[2];
    gen_say(out, size, "%s", name_of(g, x, buf));
}

/* ---- accesses ----------------------------------------------------------------------- */

static bool suits(const ctensor *t, want w)
{
    switch (w) {
    case WANT_BOOL:
        return t->type == STC_BOOL;
    case WANT_INT:
        return t->type <= STC_U64;
    case WANT_REAL:
        return !ot_complex(t->type);
    default:
        return true;
    }
}

int64_t gen_bare(gen *g, char *out, size_t size)
{
    const int x = pick_index(g);
    say_index(g, x, out, size);
    mark(g, x);
    return extent_of(g, x);
}

bool gen_ranged(gen *g, char *out, size_t size)
{
    const int x = pick_index(g);
    if (is_bare(g, x)) say_index(g, x, out, size);
    return is_bare(g, x);
}

/* A tensor that is there already, accessed by other indices. */
static bool again(gen *g, want w, char *out, size_t size)
{
    if (g->c->count == 0) return false;
    const ctensor *t = &g->c->t[gen_below(g, g->c->count)];
    if (!suits(t, w) || t->order == 0) return false;
    int x[CASE_ORDER];
    for (int k = 0; k < t->order; k++) {
        bool found = false;
        for (int tries = 0; tries < 6 && !found; tries++) {
            x[k] = pick_index(g);
            found = extent_of(g, x[k]) == t->shape[k];
        }
        if (!found) return false;
    }
    gen_say(out, size, "%s(", t->name);
    for (int k = 0; k < t->order; k++) {
        gen_say(out, size, "%s", k ? "," : "");
        say_index(g, x[k], out, size);
        mark(g, x[k]);
    }
    gen_say(out, size, ")");
    return true;
}

/* c*x (+ d*y) + k with the size that keeps it inside, or nearly with pad. */
static int64_t affine(gen *g, bool pad, char *out, size_t size)
{
    int x = pick_index(g), y = pick_index(g);
    for (int tries = 0; tries < 8 && !is_bare(g, x); tries++)
        x = pick_index(g);
    bool two = gen_chance(g, 60) && is_bare(g, y) && x != y;
    static const int coefs[] = {1, 1, 1, 2, 2, 3, -1, -2};
    int c = coefs[gen_below(g, 8)], d = two ? coefs[gen_below(g, 8)] : 0;
    int64_t a = c * (extent_of(g, x) - 1), b = d * (extent_of(g, y) - 1);
    int64_t lo = (a < 0 ? a : 0) + (b < 0 ? b : 0), hi = (a > 0 ? a : 0) + (b > 0 ? b : 0);
    int64_t shift = -lo + (pad ? gen_below(g, 4) - 2 : gen_below(g, 2));
    if (c == 1 && !two && shift == 0) { /* bare after all */
        say_index(g, x, out, size);
        if (!pad) mark(g, x);
        return extent_of(g, x);
    }
    if (c == 1)
        say_index(g, x, out, size);
    else if (gen_chance(g, 80))
        gen_say(out, size, "%d*", c), say_index(g, x, out, size);
    else
        say_index(g, x, out, size), gen_say(out, size, "*%d", c);
    if (two) {
        gen_say(out, size, "%s", d < 0 ? "-" : "+");
        if (d != 1 && d != -1) gen_say(out, size, "%d*", d < 0 ? -d : d);
        say_index(g, y, out, size);
    }
    if (shift) gen_say(out, size, "%+" PRId64, shift);
    int64_t n = hi + shift + 1 + (pad ? gen_below(g, 4) - 2 : gen_below(g, 2));
    return n < 0 ? 0 : n;
}

static int64_t slice(gen *g, char *out, size_t size)
{
    int x = pick_index(g);
    int64_t e = extent_of(g, x), lo = gen_below(g, 3), stride = 1 + gen_below(g, 3);
    int64_t hi = lo + (e > 0 ? (e - 1) * stride + 1 + gen_below(g, (int)stride) : 0);
    int64_t n = hi + gen_below(g, 2);
    say_index(g, x, out, size);
    gen_say(out, size, "(");
    if (lo || gen_chance(g, 50)) gen_say(out, size, "%" PRId64, lo);
    gen_say(out, size, ":");
    if (hi != n || gen_chance(g, 50)) gen_say(out, size, "%" PRId64, hi);
    if (stride != 1 || gen_chance(g, 30)) gen_say(out, size, ":%" PRId64, stride);
    gen_say(out, size, ")");
    mark(g, x);
    return n;
}

static int64_t subscript(gen *g, bool pad, const int *used, int n, char *out, size_t size)
{
    if (pad || (gen_has(g, FEATURE_AFFINE) && gen_chance(g, 40)))
        return affine(g, pad, out, size);
    if (gen_has(g, FEATURE_SLICE) && gen_chance(g, 35)) return slice(g, out, size);
    int x = pick_index(g);
    for (int k = 0; k < n; k++) {
        if (used[k] == x && !(gen_has(g, FEATURE_REPEAT) && gen_chance(g, 50))) {
            x = pick_index(g);
            k = -1;
            if (gen_chance(g, 20)) break;
        }
    }
    say_index(g, x, out, size);
    mark(g, x);
    return extent_of(g, x);
}

static bool some_bare(const gen *g)
{
    for (int k = 0; k < g->nindex; k++)
        if (g->bare[k]) return true;
    return false;
}

/* A new tensor, as it is accessed; its shape follows. */
static void new_access(gen *g, ctensor *t, char *out, size_t size)
{
    static const int orders[] = {0, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 4};
    t->order = orders[gen_below(g, 12)];
    bool pad = gen_has(g, FEATURE_PAD) && t->order > 0 && some_bare(g) && gen_chance(g, 40);
    if (pad) gen_say(out, size, "pad ");
    gen_say(out, size, "%s%s", t->name, t->order ? "(" : "");
    int used[CASE_ORDER];
    for (int k = 0; k < t->order; k++) {
        gen_say(out, size, "%s", k ? "," : "");
        size_t before = strlen(out);
        t->shape[k] = subscript(g, pad, used, k, out, size);
        used[k] = -1;
        for (int x = 0; x < g->nindex; x++)
            if (out[before] == "ijklmn"[x] && out[before + 1] == 0) used[k] = x;
    }
    if (t->order) gen_say(out, size, ")");
}

static int64_t volume(const ctensor *t)
{
    int64_t n = 1;
    for (int k = 0; k < t->order; k++)
        n *= t->shape[k];
    return n;
}

/* How many elements an operand may have; of a wide case as many as make it wide, of the
 * widest one of them: the oracle has some 80 bytes for each. */
static int64_t volume_most(const gen *g)
{
    enum { USUAL = 20000, WIDEST = 2000 };
    const int64_t wide = g->c->wide;
    for (int k = 0; k < g->c->count && wide == WIDEST; k++)
        if (volume(&g->c->t[k]) > USUAL) return USUAL;
    const int64_t most = wide == WIDEST ? wide * wide : 3 * wide * wide;
    return most > USUAL ? most : USUAL;
}

void gen_operand(gen *g, want w, ctensor *t)
{
    snprintf(t->name, sizeof t->name, "%c", "ABCDEFGH"[g->c->count]);
    t->has_data = true;
    t->type = gen_type(g, w);
    t->fill = gen_fill(g, t->type);
    oval zero = t->type >= STC_F32 ? ov_real(t->type, 0) : ov_int(t->type, 0);
    t->has_fill = !ov_agrees(&zero, &t->fill) || gen_chance(g, 20);
    t->seed = gen_next(g);
    t->format = (cformat){.text = ""};
    if (g->format)
        gen_say(t->format.text, sizeof t->format.text, "%s", g->format);
    else
        gen_format(g, t->order, t->shape, false, &t->format);
    t->lend = t->format.raw.possible && gen_has(g, FEATURE_LEND);
    int64_t block = 1; /* beside each entry zeros are stored */
    for (int l = t->order - t->format.raw.below; l < t->order; l++)
        block *= t->shape[t->format.raw.mode[l]];
    if (t->format.raw.below && (t->has_fill || block > 100)) t->lend = false;
    gen_entries(g, t);
    g->c->t[g->c->count++] = *t;
}

void gen_access(gen *g, want w, char *out, size_t size)
{
    fcase *c = g->c;
    if (gen_chance(g, gen_has(g, FEATURE_REPEAT) ? 40 : 10) && again(g, w, out, size))
        return;
    if (c->count >= CASE_TENSORS - 2) {
        if (!again(g, w, out, size)) gen_say(out, size, w == WANT_BOOL ? "true" : "2");
        return;
    }
    ctensor t = {.has_data = true};
    snprintf(t.name, sizeof t.name, "%c", "ABCDEFGH"[c->count]);
    const size_t start = strlen(out);
    const gen saved = *g;
    do { /* until it isn't too large */
        const uint64_t state = g->state;
        *g = saved;
        g->state = state;
        out[start] = 0;
        new_access(g, &t, out, size);
    } while (volume(&t) > volume_most(g));
    gen_operand(g, w, &t);
}

/* ---- leaves ------------------------------------------------------------------------- */

static void literal(gen *g, want w, char *out, size_t size)
{
    bool real = g->domain == D_REAL || g->domain == D_SINGLE || g->domain == D_COMPLEX ||
                g->domain == D_MIXED;
    if (w == WANT_BOOL)
        gen_say(out, size, "%s", gen_chance(g, 50) ? "true" : "false");
    else if (w == WANT_NUMBER && g->domain == D_COMPLEX && gen_chance(g, 40))
        gen_say(out, size, "%dj", 1 + gen_below(g, 3));
    else if (w != WANT_INT && real && gen_chance(g, 60))
        gen_say(out, size, "%g", (gen_below(g, 13) + 1) * 0.25);
    else
        gen_say(out, size, "%d", gen_below(g, 5));
}

static void leaf(gen *g, want w, char *out, size_t size)
{
    if (gen_has(g, FEATURE_INDEX) && w != WANT_BOOL && gen_chance(g, 15)) {
        int x = pick_index(g);
        if (is_bare(g, x)) {
            say_index(g, x, out, size);
            return;
        }
    }
    if (gen_chance(g, 10))
        literal(g, w, out, size);
    else if (gen_has(g, FEATURE_GATHER) && gen_chance(g, 50))
        gen_gather(g, w, out, size);
    else
        gen_access(g, w, out, size);
}

/* ---- operators ---------------------------------------------------------------------- */

static void two(gen *g, want w, int depth, const char *op, char *out, size_t size)
{
    gen_say(out, size, "(");
    gen_expr(g, w, depth, out, size);
    gen_say(out, size, " %s ", op);
    gen_expr(g, w, depth, out, size);
    gen_say(out, size, ")");
}

static void call(gen *g, want w, int depth, const char *fn, int args, char *out,
                 size_t size)
{
    gen_say(out, size, "%s(", fn);
    for (int k = 0; k < args; k++) {
        gen_say(out, size, "%s", k ? ", " : "");
        gen_expr(g, w, depth, out, size);
    }
    gen_say(out, size, ")");
}

static void reduction(gen *g, want w, int depth, char *out, size_t size)
{
    static const char *const number[] = {"sum", "sum", "prod", "min", "max"};
    static const char *const whole[] = {"sum", "xor", "min", "max", "gcd"};
    static const char *const truth[] = {"any", "all", "xor"};
    int n = gen_chance(g, 75) ? 1 : 2, first = g->nbound;
    if (first + n > 8 || g->names > 20) {
        leaf(g, w, out, size);
        return;
    }
    for (int k = 0; k < n; k++) {
        int x = g->nbound++;
        g->bound_extent[x] = 1 + gen_below(g, 4);
        if (gen_has(g, FEATURE_SHAPES) && gen_chance(g, 25)) g->bound_extent[x] = 0;
        g->bound_bare[x] = false;
        snprintf(g->bound_name[x], sizeof g->bound_name[x], "p%d", ++g->names % 100);
    }
    const char *f = w == WANT_BOOL  ? truth[gen_below(g, 3)]
                    : w == WANT_INT ? whole[gen_below(g, 5)]
                                    : number[gen_below(g, 5)];
    if (g->domain == D_COMPLEX && w == WANT_NUMBER) f = number[gen_below(g, 3)];
    if (w != WANT_BOOL && w != WANT_INT && gen_chance(g, 15))
        f = gen_chance(g, 50) ? "mean" : "norm";
    if (w != WANT_BOOL && n == 1 && g->domain != D_COMPLEX && gen_chance(g, 10))
        f = gen_chance(g, 50) ? "argmin" : "argmax";
    if (g->user && g->user_params == 2 && w != WANT_BOOL && gen_chance(g, 30)) f = g->user;
    const bool bits = f == g->user || strcmp(f, "xor") == 0 || strcmp(f, "gcd") == 0;
    want inside = w == WANT_INT && bits ? WANT_INT : w;
    char body[TEXT] = "";
    gen_expr(g, inside, depth, body, sizeof body);
    if (gen_has(g, FEATURE_WHERE) && gen_chance(g, 50)) {
        gen_say(body, sizeof body, " where ");
        gen_expr(g, WANT_BOOL, 0, body, sizeof body);
    }
    gen_say(out, size, "%s(", f);
    for (int k = first; k < g->nbound; k++) {
        gen_say(out, size, "%s%s", k > first ? ", " : "", g->bound_name[k]);
        int e = (int)g->bound_extent[k];
        const int x = gen_below(g, g->nindex);
        const bool derived =
            !strcmp(f, "mean") || !strcmp(f, "norm") || !strncmp(f, "arg", 3);
        if (gen_has(g, FEATURE_INDEX) && g->bound_bare[k] && !derived && g->bare[x] &&
            gen_chance(g, 60)) {
            char other[2];
            if (gen_chance(g, 70))
                gen_say(out, size, " in 0:%s+%d", name_of(g, x, other), gen_below(g, 2));
            else
                gen_say(out, size, " in %s:%d", name_of(g, x, other), e);
            continue;
        }
        if (g->bound_bare[k] && !gen_chance(g, 12)) continue;
        int lo = gen_chance(g, 60) ? 0 : gen_below(g, e + 1);
        int hi = gen_chance(g, 60) ? e : lo + gen_below(g, e - lo + 1);
        gen_say(out, size, " in %d:%d", lo, hi);
    }
    gen_say(out, size, ": %s)", body);
    g->nbound = first;
}

static void divisor(gen *g, want w, char *out, size_t size)
{
    if (gen_chance(g, 70))
        gen_say(out, size, "%d", 1 + gen_below(g, 4));
    else if (gen_chance(g, 85)) /* never zero */
        gen_say(out, size, "("),
            call(g, w == WANT_NUMBER ? WANT_REAL : w, 0, "abs", 1, out, size),
            gen_say(out, size, " + 1)");
    else
        gen_expr(g, w, 0, out, size);
}

static void math(gen *g, want w, int depth, char *out, size_t size)
{
    static const char *const real[] = {"abs",  "floor", "ceil", "round", "trunc",
                                       "sign", "sqrt",  "exp",  "sin",   "tanh",
                                       "cbrt", "atan",  "cos",  "erf"};
    static const char *const pair[] = {"hypot", "fdim", "min", "max", "fmin"};
    static const char *const complex[] = {"abs", "conj", "real", "imag", "abs"};
    if (w == WANT_NUMBER && g->domain == D_COMPLEX)
        call(g, w, depth, complex[gen_below(g, 5)], 1, out, size);
    else if (gen_chance(g, 15))
        gen_say(out, size, "("), gen_expr(g, w, depth, out, size),
            gen_say(out, size, " ** %d)", gen_below(g, 4));
    else if (gen_chance(g, 25))
        call(g, WANT_REAL, depth, pair[gen_below(g, 5)], 2, out, size);
    else
        call(g, WANT_REAL, depth, real[gen_below(g, 14)], 1, out, size);
}

static void cast(gen *g, want w, int depth, char *out, size_t size)
{
    static const char *const name[] = {"i8",  "i16", "i32", "i64", "u8",  "u16", "u32",
                                       "u64", "i64", "f32", "f64", "c64", "c128"};
    const int last = w == WANT_INT ? 9 : w == WANT_REAL ? 11 : 13;
    gen_say(out, size, "%s(",
            name[gen_below(g, g->domain == D_COMPLEX ? last
                              : last == 13           ? 11
                                                     : last)]);
    gen_expr(g, w == WANT_INT ? WANT_NUMBER : w, depth, out, size);
    gen_say(out, size, ")");
}

static void bits(gen *g, int depth, char *out, size_t size)
{
    static const char *const op[] = {"&", "|", "^", "&", "^"};
    int pick = gen_below(g, 10);
    if (pick < 6)
        two(g, WANT_INT, depth, op[gen_below(g, 5)], out, size);
    else if (pick < 7)
        gen_say(out, size, "~"), gen_access(g, WANT_INT, out, size);
    else if (pick < 8)
        call(g, WANT_INT, depth, "gcd", 2, out, size);
    else
        gen_say(out, size, "("), gen_expr(g, WANT_INT, depth, out, size),
            gen_say(out, size, " %s %d)", gen_chance(g, 50) ? "<<" : ">>", gen_below(g, 5));
}

static void truth(gen *g, int depth, char *out, size_t size)
{
    static const char *const compare[] = {"<", "<=", ">", ">=", "==", "!="};
    static const char *const logic[] = {"&&", "||", "&&", "^", "&", "|"};
    int pick = gen_below(g, 10);
    if (pick < 4)
        two(g, WANT_REAL, depth, compare[gen_below(g, 6)], out, size);
    else if (pick < 8)
        two(g, WANT_BOOL, depth, logic[gen_below(g, 6)], out, size);
    else if (pick < 9)
        call(g, WANT_BOOL, depth, "xor", 2, out, size);
    else
        gen_say(out, size, "!"), gen_access(g, WANT_BOOL, out, size);
}

static void selection(gen *g, want w, int depth, char *out, size_t size)
{
    gen_say(out, size, "select(");
    gen_expr(g, WANT_BOOL, depth, out, size);
    gen_say(out, size, ", ");
    gen_expr(g, w, depth, out, size);
    gen_say(out, size, ", ");
    gen_expr(g, w, depth, out, size);
    gen_say(out, size, ")");
}

/* What the features add; false if it is none of them this time. */
static bool special(gen *g, want w, int depth, char *out, size_t size)
{
    bool reduced = g->nbound > 0;
    if (gen_has(g, FEATURE_REDUCE) && gen_chance(g, 30) &&
        (!reduced || gen_has(g, FEATURE_NESTED))) {
        reduction(g, w, depth, out, size);
        return true;
    }
    if (gen_has(g, FEATURE_SELECT) && gen_chance(g, 25)) {
        selection(g, w, depth, out, size);
        return true;
    }
    if (gen_has(g, FEATURE_WHERE) && gen_chance(g, 20)) {
        gen_say(out, size, "(");
        gen_expr(g, w, depth, out, size);
        gen_say(out, size, " where ");
        gen_expr(g, WANT_BOOL, depth, out, size);
        gen_say(out, size, ")");
        return true;
    }
    if (gen_has(g, FEATURE_INDEX) && gen_chance(g, 30)) {
        static const char *const compare[] = {"<", "<=", ">", ">=", "==", "=="};
        const int a = pick_index(g), c = pick_index(g);
        if (is_bare(g, a) && is_bare(g, c)) {
            gen_say(out, size, "(");
            say_index(g, a, out, size);
            gen_say(out, size, " %s ", compare[gen_below(g, 6)]);
            say_index(g, c, out, size);
            gen_say(out, size, "%+d)", gen_below(g, 4) - 1);
            return true;
        }
    }
    if (w == WANT_BOOL) return false;
    if (gen_has(g, FEATURE_BITS) && gen_chance(g, 40)) {
        bits(g, depth, out, size);
        return true;
    }
    if (gen_has(g, FEATURE_DIVIDE) && gen_chance(g, 30)) {
        static const char *const by[] = {" / ", " // ", " % "};
        const int which = g->domain == D_COMPLEX ? 0 : gen_below(g, 3);
        gen_say(out, size, "(");
        gen_expr(g, w, depth, out, size);
        gen_say(out, size, "%s", by[w == WANT_INT && !which ? 1 : which]);
        divisor(g, w, out, size);
        gen_say(out, size, ")");
        return true;
    }
    if (gen_has(g, FEATURE_USER) && gen_chance(g, 40)) {
        call(g, w, depth, g->user, g->user_params, out, size);
        return true;
    }
    if (gen_has(g, FEATURE_MATH) && gen_chance(g, 20)) {
        cast(g, w, depth, out, size);
        return true;
    }
    if (gen_has(g, FEATURE_MATH) && w != WANT_INT && gen_chance(g, 40)) {
        math(g, w, depth, out, size);
        return true;
    }
    if (gen_has(g, FEATURE_LOGIC) && gen_chance(g, 25)) {
        truth(g, depth, out, size);
        return true;
    }
    return false;
}

void gen_expr(gen *g, want w, int depth, char *out, size_t size)
{
    if (strlen(out) > TEXT / 2 || depth <= 0) {
        leaf(g, w, out, size);
        return;
    }
    if (special(g, w, depth - 1, out, size)) return;
    int pick = gen_below(g, 100);
    if (w == WANT_BOOL) {
        truth(g, depth - 1, out, size);
    } else if (pick < 45) {
        gen_expr(g, w, depth - 1, out, size);
        gen_say(out, size, " * ");
        gen_expr(g, w, depth - 1, out, size);
    } else if (pick < 70) {
        two(g, w, depth - 1, gen_chance(g, 70) ? "+" : "-", out, size);
    } else if (pick < 80 && g->domain != D_COMPLEX) {
        call(g, w, depth - 1, gen_chance(g, 50) ? "min" : "max", 2, out, size);
    } else if (pick < 85) {
        gen_say(out, size, "(-");
        gen_expr(g, w, 0, out, size);
        gen_say(out, size, ")");
    } else {
        leaf(g, w, out, size);
    }
}
