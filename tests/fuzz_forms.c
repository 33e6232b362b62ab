/* fuzz_forms.c: one product in several forms gives one result.
 *
 *     fuzz_forms [SECONDS [SEED]] [--seconds N] [--seed N]
 *
 * A case is a network: factors over a few of up to 60 indices, of which some are on the
 * left and the others are reduced, by one of several pairs of functions, in integers or
 * truths, so that every order gives the same bits. It is written again and again with its
 * operands permuted, its indices renamed, put between other parentheses, and with some
 * reductions taken earlier by hand; values and fill must be the same, and where the target
 * is declared what is stored. Small ones run as written, too. With STC_CASE=N only that
 * case is made, and printed.
 */
#include "fuzzing.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    FACTORS = 50,
    INDICES = 60,
    FORMS = 4,
    ORDER = 3,
    TEXT = 20000,
    MOST_STEPS = 5000000
};

typedef struct pair {
    const char *sum, *times, *type, *fill; /* fill: the sum's identity               */
    bool infix;
} pair;

static const pair pairs[] = {
    {"sum", "*", "i64", "0", true},      {"xor", "&", "i64", "0", true},
    {"any", "&&", "bool", "0", true},    {"all", "||", "bool", "1", true},
    {"min", "max", "f64", "inf", false}, {"max", "min", "f64", "-inf", false},
    {"min", "+", "f64", "inf", true},
};

typedef struct network {
    const pair *p;
    int n, indices, left[ORDER], nleft;
    int extent[INDICES];
    int tensor[FACTORS], order[FACTORS], index[FACTORS][ORDER];
    bool late[INDICES]; /* reduced further in, by hand                         */
    char target[80];
} network;

typedef struct maker {
    gen *g;
    const network *w;
    int name[INDICES], factor[FACTORS];
    char text[TEXT], declare[TEXT];
    bool grouped; /* some reductions stand further in                          */
} maker;

/* ---- a network --------------------------------------------------------------------- */

/* Extents are those of a kind of index, so that tensors fit: index i has kind i % 3. */
static int extent_of_kind(const network *w, int kind)
{
    return w->extent[kind];
}

static void draw_network(gen *g, network *w)
{
    const bool large = gen_chance(g, 25);
    *w = (network){.p = &pairs[gen_below(g, 7)]};
    w->n = large ? 20 + gen_below(g, FACTORS - 20) : 1 + gen_below(g, 6);
    w->indices = large ? 20 + gen_below(g, INDICES - 20) : 1 + gen_below(g, 6);
    for (int k = 0; k < 3; k++)
        w->extent[k] = gen_chance(g, 5) ? 0 : 1 + gen_below(g, large ? 3 : 5);
    for (int i = 3; i < INDICES; i++)
        w->extent[i] = w->extent[i % 3];
    for (int k = 0; k < w->n; k++) {
        w->order[k] = 1 + gen_below(g, ORDER);
        for (int m = 0; m < w->order[k]; m++) {
            /* near each other, so that few are open at a time */
            int i = large ? k * w->indices / w->n + gen_below(g, 4) : gen_below(g, 6);
            if (i >= w->indices) i = w->indices - 1;
            w->index[k][m] = i;
            for (int o = 0; o < m; o++)
                if (w->index[k][o] == i) w->order[k] = m; /* no diagonals */
        }
        if (w->order[k] < 1) w->order[k] = 1;
    }
    for (int k = 0; k < w->n && w->nleft < ORDER; k++)
        for (int m = 0; m < w->order[k] && w->nleft < ORDER; m++) {
            bool there = false;
            for (int l = 0; l < w->nleft; l++)
                there = there || w->left[l] == w->index[k][m];
            if (!there && gen_chance(g, large ? 3 : 20))
                w->left[w->nleft++] = w->index[k][m];
        }
}

/* A tensor for each combination of kinds that a factor has, in a format of its own. */
static void declare(maker *k, network *w)
{
    static const char *const format[ORDER][5] = {{"dense", "svec", "hash", "dense", "svec"},
                                                 {"dense", "csr", "csc", "dcsr", "coo"},
                                                 {"dense", "csf", "coo", "csf", "hash"}};
    gen *g = k->g;
    *k->declare = 0;
    for (int f = 0; f < w->n; f++) {
        w->tensor[f] = f;
        char shape[40] = "";
        for (int m = 0; m < w->order[f]; m++)
            gen_say(shape, sizeof shape, "%s%d", m ? "," : "",
                    extent_of_kind(w, w->index[f][m] % 3));
        const char *how = format[w->order[f] - 1][gen_below(g, 5)];
        const bool whole = !strcmp(w->p->type, "f64");
        gen_say(k->declare, TEXT, "tensor R dense %s [%s] = random(density=%s, seed=%d)\n",
                w->p->type, shape, gen_chance(g, 50) ? "0.5" : "0.9", gen_below(g, 1000));
        gen_say(k->declare, TEXT, "tensor T%d %s %s [%s] fill %s\n", f, how, w->p->type,
                shape, w->p->fill);
        char at[20] = "";
        for (int m = 0; m < w->order[f]; m++)
            gen_say(at, sizeof at, "%s%c", m ? "," : "", 'a' + m);
        gen_say(k->declare, TEXT,
                whole ? "T%d(%s) = floor(9 * R(%s))\n" : "T%d(%s) = R(%s)\n", f, at, at);
    }
    if (!gen_chance(g, 50)) return;
    gen_say(w->target, sizeof w->target, "tensor y %s %s fill %s\n",
            w->nleft ? format[w->nleft - 1][gen_below(g, 5)] : "dense", w->p->type,
            w->p->fill);
}

/* ---- a form of it --------------------------------------------------------------- */

static bool is_left(const network *w, int i)
{
    for (int l = 0; l < w->nleft; l++)
        if (w->left[l] == i) return true;
    return false;
}

static bool has(const network *w, int f, int i)
{
    for (int m = 0; m < w->order[f]; m++)
        if (w->index[f][m] == i) return true;
    return false;
}

static void say_factor(maker *k, int f)
{
    gen_say(k->text, TEXT, "T%d(", f);
    for (int m = 0; m < k->w->order[f]; m++)
        gen_say(k->text, TEXT, "%si%d", m ? "," : "", k->name[k->w->index[f][m]]);
    gen_say(k->text, TEXT, ")");
}

static void say_product(maker *k, int from, int n);

/* Which indices all factors but these have no part in, if they are reduced: by a reduction
 * of their own. */
static int own_indices(const maker *k, int from, int n, const bool *gone, int *own)
{
    int count = 0;
    for (int i = 0; i < k->w->indices; i++) {
        bool in = false, out = is_left(k->w, i) || gone[i];
        for (int f = 0; f < k->w->n; f++) {
            const bool inside = f >= from && f < from + n;
            if (!has(k->w, k->factor[f], i)) continue;
            in = in || inside;
            out = out || !inside;
        }
        if (in && !out) own[count++] = i;
    }
    return count;
}

static bool gone[INDICES]; /* reduced by a reduction that is open                     */

static void say_reduced(maker *k, int from, int n, const int *own, int count)
{
    gen_say(k->text, TEXT, "%s(", k->w->p->sum);
    for (int c = 0; c < count; c++) {
        gone[own[c]] = true;
        gen_say(k->text, TEXT, "%si%d", c ? "," : "", k->name[own[c]]);
    }
    gen_say(k->text, TEXT, ": ");
    say_product(k, from, n);
    gen_say(k->text, TEXT, ")");
}

static void say_part(maker *k, int from, int n)
{
    int own[INDICES];
    const int count =
        k->grouped && gen_chance(k->g, 40) ? own_indices(k, from, n, gone, own) : 0;
    if (count)
        say_reduced(k, from, n, own, count);
    else
        say_product(k, from, n);
}

static void say_product(maker *k, int from, int n)
{
    if (n == 1) {
        say_factor(k, k->factor[from]);
        return;
    }
    const pair *p = k->w->p;
    const int left = gen_chance(k->g, 50) ? n - 1 : 1 + gen_below(k->g, n - 1);
    gen_say(k->text, TEXT, "%s(", p->infix ? "" : p->times);
    say_part(k, from, left);
    gen_say(k->text, TEXT, "%s", p->infix ? " " : ", ");
    if (p->infix) gen_say(k->text, TEXT, "%s ", p->times);
    say_part(k, from + left, n - left);
    gen_say(k->text, TEXT, ")");
}

static void shuffle(gen *g, int *list, int n)
{
    for (int k = n - 1; k > 0; k--) {
        const int m = gen_below(g, k + 1), was = list[k];
        list[k] = list[m];
        list[m] = was;
    }
}

static void say_form(maker *k, int form)
{
    const network *w = k->w;
    int own[INDICES];
    for (int f = 0; f < w->n; f++)
        k->factor[f] = f;
    for (int i = 0; i < w->indices; i++)
        k->name[i] = i;
    memset(gone, 0, sizeof gone);
    *k->text = 0;
    k->grouped = form > 1;
    if (form) shuffle(k->g, k->factor, w->n);
    if (form) shuffle(k->g, k->name, w->indices);
    gen_say(k->text, TEXT, "%sy", w->target);
    for (int l = 0; l < w->nleft; l++)
        gen_say(k->text, TEXT, "%si%d", l ? "," : "(", k->name[w->left[l]]);
    gen_say(k->text, TEXT, w->nleft ? ") = " : " = ");
    const int count = own_indices(k, 0, w->n, gone, own);
    if (form) shuffle(k->g, own, count);
    if (count)
        say_reduced(k, 0, w->n, own, count);
    else
        say_product(k, 0, w->n);
    gen_say(k->text, TEXT, "\n");
}

/* ---- a case --------------------------------------------------------------------- */

typedef struct counts {
    uint64_t cases, forms, equal, refused;
} counts;

/* What is different between two results; NULL: nothing. */
static const char *differ(const network *w, const stc_tensor *a, const stc_tensor *b)
{
    const char *why = fuzzing_differ(a, b, false, 0);
    if (!why && *w->target && stc_tensor_stored(a) != stc_tensor_stored(b))
        why = "another number of entries is stored";
    return why;
}

static bool is_small(const network *w)
{
    double places = 1;
    for (int i = 0; i < w->indices; i++)
        places *= w->extent[i] > 1 ? w->extent[i] : 1;
    return places < 1e5 && w->indices < 12;
}

typedef struct run {
    stc_machine *m;
    stc_session *s;
    const stc_tensor *y;
} run;

static stc_status start(run *r, const maker *k, bool as_written)
{
    *r = (run){0};
    const stc_config config = {.as_written = as_written, .max_steps = MOST_STEPS};
    stc_status st = stc_open(&config, &r->m);
    if (!st) st = stc_session_open(r->m, &r->s);
    if (!st) st = stc_session_exec(r->s, k->declare, "declare");
    if (!st) st = stc_session_exec(r->s, k->text, "form");
    if (!st) st = stc_session_get(r->s, "y", &r->y);
    return st;
}

static void stop(run *r)
{
    if (r->s) stc_session_close(r->s);
    if (r->m) stc_close(r->m);
}

static bool one(gen *g, uint64_t seed, counts *n, bool shown)
{
    static network w;
    static maker k;
    run first = {0}, other = {0};
    const char *why = NULL;
    draw_network(g, &w);
    k.g = g;
    k.w = &w;
    declare(&k, &w);
    n->cases++;
    say_form(&k, 0);
    if (shown) printf("%s%s", k.declare, k.text);
    stc_status st = start(&first, &k, is_small(&w) && gen_chance(g, 70));
    n->refused += st == STC_ERR_STEPS;
    if (st && st != STC_ERR_STEPS) {
        why = stc_error(first.m)->message;
        printf("---- FAIL (STC_CASE=%" PRIu64 "): %s\n%s%s----\n", seed, why, k.declare,
               k.text);
    }
    if (st && shown) printf("%s\n", stc_error(first.m)->message);
    for (int form = 1; !st && !why && form < FORMS; form++) {
        say_form(&k, form);
        if (shown) printf("%s", k.text);
        n->forms++;
        if ((st = start(&other, &k, false)) == STC_ERR_STEPS)
            n->refused++;
        else if (st)
            why = stc_error(other.m)->message;
        else
            why = differ(&w, first.y, other.y);
        n->equal += !why && !st;
        if (why)
            printf("---- FAIL (STC_CASE=%" PRIu64 "): form %d: %s\n%s%s----\n", seed, form,
                   why, k.declare, k.text);
        stop(&other);
    }
    stop(&first);
    return !why;
}

int main(int argc, char **argv)
{
    fuzzing f;
    counts n = {0};
    int bad = 0;
    const char *const only = getenv("STC_CASE");
    fuzzing_begin(&f, argc, argv);
    for (uint64_t seed = f.seed * 1000003; bad < 5 && fuzzing_on(&f); seed++) {
        if (only) seed = strtoull(only, NULL, 10);
        f.g.state = seed * 0x9e3779b97f4a7c15u + 1;
        for (int k = 0; k < 4; k++)
            gen_below(&f.g, 100);
        bad += !one(&f.g, seed, &n, only != NULL);
        if (only) break;
    }
    printf("fuzz_forms: seed %" PRIu64 ": %" PRIu64 " cases, %" PRIu64
           " other forms, %" PRIu64 " equal, %" PRIu64 " refused, %d wrong\n",
           f.seed, n.cases, n.forms, n.equal, n.refused, bad);
    return bad ? 1 : 0;
}
