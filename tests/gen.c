/* gen.c: random numbers, and statements: the pool of indices, the terms of the
 * right side, and the left side that fits it. */
#include "gen.h"
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

static const struct {
    const char *name;
    int percent;
} feature[] = {
#define FEATURE(NAME, text, percent) {text, percent},
    FEATURES(FEATURE)
#undef FEATURE
};

const char *feature_name(int k)
{
    return feature[k].name;
}
int feature_percent(int k)
{
    return feature[k].percent;
}

uint64_t gen_next(gen *g)
{
    uint64_t z = g->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

int gen_below(gen *g, int n)
{
    return n > 0 ? (int)(gen_next(g) >> 33) % n : 0;
}
bool gen_chance(gen *g, int percent)
{
    return gen_below(g, 100) < percent;
}
bool gen_has(const gen *g, int k)
{
    return g->c->features >> k & 1;
}

void gen_say(char *to, size_t size, const char *format, ...)
{
    size_t len = strlen(to);
    va_list args;
    va_start(args, format);
    vsnprintf(to + len, size - len, format, args);
    va_end(args);
}

/* ---- statements ------------------------------------------------------------------- */

static const char pool[] = "ijklmn";

/* Half of the wide cases are of what the papers promise about work (tests/papers): windows
 * under an index of the left side, runs under tests and in slices, what leaves a reduction
 * early, blocks below a nonunique level, operands that follow others, fills that are
 * summed. */
static void steer(gen *g)
{
#define BIT(NAME) (FEATURE_BIT << FEATURE_##NAME)
    static const struct {
        uint64_t features;
        bool runs, stacked;
    } kinds[] = {
        {BIT(AFFINE) | BIT(CONVOLVE), false, false},
        {BIT(KINDS) | BIT(LOGIC) | BIT(SELECT), true, false},
        {BIT(KINDS) | BIT(SLICE) | BIT(PAD), true, false},
        {BIT(REDUCE) | BIT(LOGIC), false, false},
        {BIT(BLOCKS), false, true},
        {BIT(CHAIN), false, false},
        {BIT(FILL) | BIT(REDUCE), false, false},
    };
#undef BIT
    const int kind = gen_below(g, 2 * (int)(sizeof kinds / sizeof *kinds));
    if (kind >= (int)(sizeof kinds / sizeof *kinds)) return;
    g->c->features |= kinds[kind].features & g->allowed;
    g->runs |= kinds[kind].runs;
    g->stacked = kinds[kind].stacked && gen_has(g, FEATURE_BLOCKS);
}

/* Sizes at which the fast tiers run, with few entries or long runs (gen_data.c): two long
 * indices, three of a hundred, or rarely two of two thousand, which the oracle's loops over
 * everything take seconds for. */
static void make_wide(gen *g)
{
    const int pick = gen_below(g, 100);
    g->c->wide = pick < 4 ? 2000 : pick < 30 ? 100 : 300;
    g->nindex = g->c->wide == 2000 ? 2 : 3;
    steer(g);
    for (int k = 0; k < 3; k++)
        g->extent[k] = g->c->wide - gen_below(g, 3);
    if (g->c->wide == 300) g->extent[gen_below(g, 3)] = 1 + gen_below(g, 3);
    if (g->c->wide == 2000)
        g->c->features &= ~(FEATURE_BIT << FEATURE_REDUCE | FEATURE_BIT << FEATURE_NESTED |
                            FEATURE_BIT << FEATURE_CHAIN);
}

static void make_pool(gen *g)
{
    g->nindex = 2 + gen_below(g, 3);
    for (int k = 0; k < g->nindex; k++) {
        g->extent[k] = 2 + gen_below(g, 5);
        if (gen_has(g, FEATURE_SHAPES) && gen_chance(g, 30)) g->extent[k] = gen_below(g, 2);
        if (g->nindex == 4 && g->extent[k] > 4) g->extent[k] = 4;
    }
    if (gen_has(g, FEATURE_NEST) && gen_chance(g, 35)) {
        gen_nest_pool(g);
        return;
    }
    if (!gen_has(g, FEATURE_LARGE)) return;
    if (gen_chance(g, g->wide)) {
        make_wide(g);
        return;
    }
    if (g->nindex > 3) g->nindex = 3;
    for (int k = 0; k < g->nindex; k++)
        g->extent[k] = 1 + gen_below(g, 3);
    g->extent[gen_below(g, g->nindex)] = 700 + gen_below(g, 2000);
}

static void right_side(gen *g, char *out, size_t size)
{
    int terms = gen_has(g, FEATURE_TERMS) ? 2 + gen_below(g, 2) : 1;
    want w =
        g->domain == D_BOOL && terms == 1 && gen_chance(g, 60) ? WANT_BOOL : WANT_NUMBER;
    if (gen_has(g, FEATURE_TERMS) && gen_chance(g, 10)) gen_say(out, size, "-");
    for (int k = 0; k < terms; k++) {
        if (k) gen_say(out, size, " %c ", gen_chance(g, 75) ? '+' : '-');
        bool paren = gen_chance(g, 6);
        if (paren) gen_say(out, size, "(");
        if (gen_has(g, FEATURE_CONVOLVE) && gen_chance(g, 75))
            gen_convolution(g, w, out, size);
        else if (gen_has(g, FEATURE_CHAIN) && gen_chance(g, 75))
            gen_chain(g, w, out, size);
        else if (gen_has(g, FEATURE_NEST) && gen_chance(g, 85))
            gen_nest(g, w, out, size);
        else
            gen_expr(g, w, terms > 1 ? 1 + gen_below(g, 2) : 1 + gen_below(g, 3), out,
                     size);
        if (paren) gen_say(out, size, ")");
    }
}

/* Some of the indices that have a range, in some order. */
static int choose_left(gen *g, int *left)
{
    int n = 0;
    for (int k = 0; k < g->nindex; k++) {
        if (g->bare[k] && n < 3 && gen_chance(g, 65)) left[n++] = k;
    }
    for (int k = n - 1; k > 0; k--) {
        int j = gen_below(g, k + 1), x = left[k];
        left[k] = left[j];
        left[j] = x;
    }
    return n;
}

/* Mostly one that anything of the domain goes into; others are refused, or just fit. */
static stc_type target_type(gen *g)
{
    static const int least[D_COUNT] = {
        [D_INT] = STC_I8,     [D_UINT] = STC_U8,   [D_REAL] = STC_F32,
        [D_SINGLE] = STC_F32, [D_MIXED] = STC_F32, [D_COMPLEX] = STC_C64};
    const int end = g->domain == D_COMPLEX ? 13 : 11;
    if (gen_chance(g, 20)) return gen_type(g, WANT_NUMBER);
    const int from = gen_chance(g, 12) ? 0 : least[g->domain];
    return (stc_type)(from + gen_below(g, end - from));
}

static void add_declared(gen *g, int order, const int64_t *shape, bool data)
{
    fcase *c = g->c;
    if (c->count == CASE_TENSORS) return;
    ctensor *t = &c->t[c->count++];
    *t = (ctensor){.declared = true, .order = order, .has_data = data};
    snprintf(t->name, sizeof t->name, "%s", c->target);
    t->type = target_type(g);
    for (int k = 0; k < order; k++)
        t->shape[k] = shape[k];
    gen_format(g, order, shape, true, &t->format);
    if (data && order && (g->meets || (gen_has(g, FEATURE_KINDS) && gen_chance(g, 40))))
        gen_format_found(g, order, &t->format);
    t->fill = t->type >= STC_F32 ? ov_real(t->type, 0) : ov_int(t->type, 0);
    t->has_fill = gen_chance(g, 40);
    if (t->has_fill || data) t->fill = gen_fill(g, t->type);
    if (data) t->has_fill = true;
    t->seed = gen_next(g);
    if (data) gen_entries(g, t);
}

static const char *op_for(gen *g)
{
    static const char *const number[] = {"+=", "+=", "-=", "*=", "min=", "max="};
    static const char *const whole[] = {"+=", "|=", "&=", "^=", "min=", "max="};
    static const char *const truth[] = {"or=", "and=", "|=", "&=", "^=", "+="};
    /* what is no bool doesn't accumulate truths: an element takes one */
    const bool number_target = g->meets && g->c->t[g->c->count - 1].type != STC_BOOL;
    if (g->domain == D_BOOL && number_target) return truth[2 + gen_below(g, 4)];
    if (g->domain == D_COMPLEX) return number[gen_below(g, 4)];
    if (g->domain == D_BOOL) return truth[gen_below(g, 6)];
    if (g->domain == D_INT || g->domain == D_UINT) return whole[gen_below(g, 6)];
    return number[gen_below(g, 6)];
}

/* A left side that names only some elements of a target with old values. */
static void partial_left(gen *g, const int *left, int n, char *out, size_t size)
{
    int64_t shape[CASE_ORDER] = {0};
    gen_say(out, size, "y(");
    int order = 0;
    for (int k = 0; k < n && order < CASE_ORDER; k++) {
        int x = left[k];
        int64_t e = g->extent[x];
        gen_say(out, size, "%s", order ? ", " : "");
        int how = gen_below(g, 6);
        if (gen_has(g, FEATURE_GATHER) && gen_chance(g, 60)) {
            shape[order++] = gen_computed(g, out, size) + gen_below(g, 2);
            continue;
        }
        if (how == 5 && order + 1 < CASE_ORDER) { /* one row of the tensor */
            const int row = gen_below(g, 3);
            shape[order++] = row + 1 + gen_below(g, 2);
            gen_say(out, size, "%d, ", row);
        }
        if (how == 4 && k + 1 < n && e * g->extent[left[k + 1]] < 200) {
            const int y = left[++k]; /* x counts blocks of y, or they meet under op= */
            const bool meet = gen_has(g, FEATURE_OPASSIGN) && gen_chance(g, 70);
            const int whole = (int)g->extent[y], c = gen_below(g, 2);
            const int block = meet ? 1 + gen_below(g, 3) : 2 + whole;
            g->meets |= meet;
            shape[order++] = e * block + whole + c;
            gen_say(out, size, "%d*%c+%c+%d", block, pool[x], pool[y], c);
        } else if (how == 0 && e < 50 && order + 1 < CASE_ORDER && n < 3) {
            gen_say(out, size, "%c, %c", pool[x], pool[x]);
            shape[order++] = e;
            shape[order++] = e;
        } else if (how == 1) {
            int stride = 1 + gen_below(g, 2), lo = gen_below(g, 3);
            int64_t hi = lo + (e > 0 ? (e - 1) * stride + 1 : 0);
            shape[order++] = hi + gen_below(g, 2);
            gen_say(out, size, "%c(%d:%" PRId64 ":%d)", pool[x], lo, hi, stride);
        } else if (how == 2) {
            int c = 1 + gen_below(g, 2);
            shape[order++] = e + c + gen_below(g, 2);
            gen_say(out, size, "%c+%d", pool[x], c);
        } else {
            shape[order++] = e;
            gen_say(out, size, "%c", pool[x]);
        }
    }
    gen_say(out, size, ")");
    add_declared(g, order, shape, true);
}

static void left_side(gen *g, char *out, size_t size)
{
    int *const left = g->left, n = g->nleft = choose_left(g, left);
    int64_t shape[CASE_ORDER] = {0};
    bool op = gen_has(g, FEATURE_OPASSIGN);
    if (gen_has(g, FEATURE_PARTIAL) && n > 0 && n < 3) {
        partial_left(g, left, n, out, size);
    } else {
        bool broadcast = gen_has(g, FEATURE_BROADCAST) && n < 3 && !op;
        gen_say(out, size, n || broadcast ? "y(" : "y");
        for (int k = 0; k < n; k++) {
            gen_say(out, size, "%s%c", k ? "," : "", pool[left[k]]);
            shape[k] = g->extent[left[k]];
        }
        if (broadcast) {
            gen_say(out, size, "%sz", n ? "," : "");
            shape[n++] = 1 + gen_below(g, 3);
        }
        if (n) gen_say(out, size, ")");
        const bool masked = gen_has(g, FEATURE_WHERE) && !broadcast && gen_chance(g, 80);
        if (gen_has(g, FEATURE_DECLARED) || broadcast || masked)
            add_declared(g, n, shape, op || gen_has(g, FEATURE_WHERE));
        if (broadcast) g->c->t[g->c->count - 1].shaped = true;
    }
    gen_say(out, size, " %s ", op ? op_for(g) : "=");
}

/* One operand of a mask over some of the left side's indices. */
static void mask_operand(gen *g, char *out, size_t size)
{
    ctensor t = {.has_data = true};
    char name[16] = "";
    const bool truth = gen_chance(g, 60);
    gen_say(name, sizeof name, "%c", "ABCDEFGH"[g->c->count]);
    if (!truth && gen_chance(g, 40)) gen_say(out, size, "%d < ", gen_below(g, 3));
    gen_say(out, size, "%s%s(", truth && gen_chance(g, 30) ? "!" : "", name);
    for (int k = 0; k < g->nleft && t.order < 2; k++) {
        if (k && gen_chance(g, 30)) continue;
        gen_say(out, size, "%s%c", t.order ? "," : "", pool[g->left[k]]);
        t.shape[t.order++] = g->extent[g->left[k]];
    }
    gen_say(out, size, ")");
    gen_operand(g, truth ? WANT_BOOL : WANT_REAL, &t);
}

/* Behind the right side. */
static void left_mask(gen *g, char *out, size_t size)
{
    if (!g->nleft || g->c->count > CASE_TENSORS - 3) return;
    gen_say(out, size, " where ");
    mask_operand(g, out, size);
    if (g->c->count > CASE_TENSORS - 3 || gen_chance(g, 60)) return;
    gen_say(out, size, gen_chance(g, 60) ? " && " : " || ");
    mask_operand(g, out, size);
}

#define CASES "fn u1(x, y) { x, 0 => abs(x)\n 0, y => abs(y)\n x, y => "
#define UNION " } over {x != 0} | {y != 0}\n"

static const char *const real_functions[] = {
    "fn u1(x, y) = x * y + x\n",
    "fn u1(x, y) = max(x, y) - min(x, y) with commutative\n",
    (CASES "{ if (x < y) { return x + y } else { return x - y } }" UNION),
    "fn u1(x, y) = x * y with annihilator(0)\n",
    ("fn u1(x, y) { t = x; s = y - y; for (n = 0; n < 3; n = n + 1) { if (n == 1) { "
     "continue }; s = s + t }; return s + y }\n"),
    /* what workspaces may merge by */
    "fn u1(x, y) = x + y with commutative, associative, identity(0)\n",
    ("fn u1(x, y) { while (x < y) { t = x; x = y; y = t }; return x } with commutative, "
     "associative, idempotent, identity(-inf)\n"),
};
static const char *const whole_functions[] = {
    "fn u1(x, y) = x & y with commutative, annihilator(0)\n",
    (CASES "{ while (x != 0) { t = x; x = y % x; y = t }; return abs(y) }" UNION),
    "fn u1(x, y) = x ^ y with commutative\n",
    "fn u1(x, y) = x + 2 * y\n",
    ("fn u1(x, y) { for (n = 0; n < 1; n = n + 1) { x = x ^ y }; return x } with "
     "commutative, associative, identity(0)\n"),
};
enum {
    REAL_FUNCTIONS = sizeof real_functions / sizeof *real_functions,
    WHOLE_FUNCTIONS = sizeof whole_functions / sizeof *whole_functions
};

/* An algebra of complements, and the same as a condition. */
static void sets(gen *g, const int *constant, int depth, char *over, char *when,
                 size_t size)
{
    static const char params[] = "xyz";
    const int pick = depth ? gen_below(g, 10) : 0;
    if (pick < 3) {
        const int p = gen_below(g, g->user_params);
        gen_say(over, size, "{%c != %d}", params[p], constant[p]);
        gen_say(when, size, "(%c != %d)", params[p], constant[p]);
        return;
    }
    gen_say(over, size, pick < 6 ? "~" : "(");
    gen_say(when, size, pick < 6 ? "!" : "(");
    sets(g, constant, depth - 1, over, when, size);
    if (pick < 6) return;
    gen_say(over, size, pick < 8 ? " & " : " | ");
    gen_say(when, size, pick < 8 ? " && " : " || ");
    sets(g, constant, depth - 1, over, when, size);
    gen_say(over, size, ")");
    gen_say(when, size, ")");
}

/* A function that is one value wherever a random algebra leaves it out, which its body
 * tells plainly, or by what nobody can settle ahead. */
static void random_over(gen *g)
{
    static const char *const inner[][2] = {{"x * y", "x * y + z"},
                                           {"x + y", "x + y * z"},
                                           {"max(x, y)", "min(x, y) + z"},
                                           {"x", "z"},
                                           {"x * 2", "select(x < y, z, y)"}};
    char over[400] = "", when[400] = "";
    const int rests = g->domain == D_BOOL ? 2 : 4;
    int constant[3], rest = gen_below(g, 2) * gen_below(g, rests);
    g->user_params = 2 + gen_chance(g, 40);
    for (int k = 0; k < 3; k++)
        constant[k] = gen_chance(g, 60) ? 0 : gen_below(g, rests);
    sets(g, constant, 3, over, when, sizeof over);
    const char *in = inner[gen_below(g, 5)][g->user_params - 2];
    char *const out = g->c->defs;
    const size_t size = sizeof g->c->defs;
    gen_say(out, size, "fn u1(x, y%s) ", g->user_params == 3 ? ", z" : "");
    switch (gen_below(g, 4)) {
    case 0:
        gen_say(out, size, "= select(%s, %s, %d)", when, in, rest);
        break;
    case 1:
        gen_say(out, size, "{ if (!%s) { return %d }; return %s }", when, rest, in);
        break;
    case 2:
        gen_say(out, size, "{ r = %s; if (!%s) { r = %d }; return r }", in, when, rest);
        break;
    default:
        gen_say(out, size, "= select(%s, %s, select(x < x, 1, %d))", when, in, rest);
    }
    gen_say(out, size, " over %s\n", over);
}

static void define_functions(gen *g)
{
    bool ints = g->domain == D_INT || g->domain == D_UINT || g->domain == D_BOOL;
    g->user_params = 2;
    if (gen_chance(g, 30)) {
        const stc_type type = g->domain == D_UINT ? STC_U64 : ints ? STC_I64 : STC_F64;
        g->user = host_function_of(type, gen_below(g, 6));
        return;
    }
    g->user = "u1";
    if (gen_chance(g, 50)) {
        random_over(g);
        return;
    }
    gen_say(g->c->defs, sizeof g->c->defs, "%s",
            ints ? whole_functions[gen_below(g, WHOLE_FUNCTIONS)]
                 : real_functions[gen_below(g, REAL_FUNCTIONS)]);
}

void gen_case(fcase *c, uint64_t seed, uint64_t allowed, uint64_t forced, int wide)
{
    *c = (fcase){.seed = seed, .target = "y"};
    gen g = {.c = c, .state = seed, .allowed = allowed, .wide = wide};
    for (int k = 0; k < FEATURE_COUNT; k++) {
        bool on = gen_chance(&g, feature[k].percent);
        if ((on && allowed >> k & 1) || forced >> k & 1) c->features |= FEATURE_BIT << k;
    }
    static const int domains[] = {D_BOOL, D_INT,  D_INT,    D_UINT, D_REAL,
                                  D_REAL, D_REAL, D_SINGLE, D_MIXED};
    g.domain = gen_has(&g, FEATURE_COMPLEX) ? D_COMPLEX : domains[gen_below(&g, 9)];
    if (gen_has(&g, FEATURE_NEST) && g.domain != D_COMPLEX && gen_chance(&g, 60))
        g.domain = D_MIXED;
    if (g.domain == D_COMPLEX)
        c->features &= ~(FEATURE_BIT << FEATURE_USER | FEATURE_BIT << FEATURE_BITS);
    bool ints = g.domain == D_INT || g.domain == D_UINT || g.domain == D_BOOL;
    if (!ints) c->features &= ~(FEATURE_BIT << FEATURE_BITS);
    g.runs = gen_has(&g, FEATURE_KINDS) && gen_chance(&g, 30);
    make_pool(&g);
    if (gen_has(&g, FEATURE_USER)) define_functions(&g);
    char right[1200] = "";
    right_side(&g, right, sizeof right);
    left_side(&g, c->stmt, sizeof c->stmt);
    gen_say(c->stmt, sizeof c->stmt, "%s", right);
    if (gen_has(&g, FEATURE_WHERE) && gen_chance(&g, 70))
        left_mask(&g, c->stmt, sizeof c->stmt);
    if (gen_has(&g, FEATURE_CONVOLVE) && !gen_has(&g, FEATURE_SCHEDULE) &&
        gen_chance(&g, 50))
        gen_window_order(&g, c->stmt, sizeof c->stmt);
    if (gen_has(&g, FEATURE_SCHEDULE)) gen_schedule(&g, pool, c->stmt, sizeof c->stmt);
}
