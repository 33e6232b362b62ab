/* gen_format.c: random formats of a given order: built-in names, short
 * strings, and maps of random level kinds, flags and mode orders. */
#include "gen.h"
#include <inttypes.h>
#include <string.h>

static void permutation(gen *g, int n, int *out)
{
    for (int k = 0; k < n; k++)
        out[k] = k;
    if (gen_chance(g, 50)) return;
    for (int k = n - 1; k > 0; k--) {
        int j = gen_below(g, k + 1), x = out[k];
        out[k] = out[j];
        out[j] = x;
    }
}

static bool named(gen *g, int order, cformat *out)
{
    static const char *const any[] = {"dense", "coo", "csf"};
    static const char *const two[] = {"csr", "csc", "dcsr", "dcsc", "csr"};
    static const char *const other[] = {"hash", "rle", "lz77", "bytemap"};
    const char *name = any[gen_below(g, 3)];
    if (order == 0) name = "dense";
    if (order == 1 && gen_chance(g, 60)) name = gen_chance(g, 70) ? "svec" : "dense";
    if (order == 2 && gen_chance(g, 70)) name = two[gen_below(g, 5)];
    if (gen_has(g, FEATURE_KINDS) && order > 0 && gen_chance(g, 50)) {
        name = other[gen_below(g, 4)];
        if (order == 2 && gen_chance(g, 50)) name = gen_chance(g, 60) ? "dia" : "ell";
    }
    if (gen_has(g, FEATURE_BLOCKS) && order == 2 && gen_chance(g, 60)) {
        gen_say(out->text, sizeof out->text, "%s(%d,%d)",
                gen_chance(g, 70) ? "bcsr" : "csb", 1 + gen_below(g, 3),
                1 + gen_below(g, 3));
        return true;
    }
    gen_say(out->text, sizeof out->text, "%s", name);
    return true;
}

static bool shorthand(gen *g, int order, cformat *out)
{
    int mode[CASE_ORDER];
    permutation(g, order, mode);
    for (int k = 0; k < order; k++)
        gen_say(out->text, sizeof out->text, "%c", gen_chance(g, 50) ? 'd' : 's');
    for (int k = 0; k < order; k++)
        gen_say(out->text, sizeof out->text, "%s%d", k ? "," : ":", mode[k]);
    return true;
}

static const char letters[] = "ijklmn";

static void heading(int order, cformat *out)
{
    gen_say(out->text, sizeof out->text, "(");
    for (int k = 0; k < order; k++)
        gen_say(out->text, sizeof out->text, "%s%c", k ? "," : "", letters[k]);
    gen_say(out->text, sizeof out->text, ") -> (");
}

/* Dense levels, one compressed with flags, singletons, dense ones: arrays can be lent. */
static void lendable(gen *g, int order, cformat *out)
{
    craw *r = &out->raw;
    *r = (craw){.possible = true, .levels = order};
    permutation(g, order, r->mode);
    r->dense = gen_chance(g, 50) ? 0 : gen_below(g, order);
    int singles = order - r->dense - 1;
    if (singles > 0 && gen_chance(g, 25)) r->below = 1 + gen_below(g, singles);
    singles -= r->below;
    r->nonunique = r->below || gen_chance(g, 60);
    r->unordered = gen_chance(g, 35);
    r->interleaved = singles > 0 && gen_chance(g, 35);
    r->wide = gen_chance(g, 30);
    heading(order, out);
    for (int l = 0; l < order; l++) {
        bool last = l == order - 1, chain = l >= r->dense && l < order - r->below;
        gen_say(out->text, sizeof out->text, "%s%c : %s", l ? ", " : "",
                letters[r->mode[l]],
                !chain          ? "dense"
                : l == r->dense ? "compressed"
                                : "singleton");
        char flags[80] = "";
        if (chain && (r->nonunique || !last)) gen_say(flags, sizeof flags, ", nonunique");
        if (chain && r->unordered) gen_say(flags, sizeof flags, ", unordered");
        if (chain && r->wide) gen_say(flags, sizeof flags, ", index64");
        if (l == r->dense && r->interleaved) gen_say(flags, sizeof flags, ", interleaved");
        if (flags[0]) gen_say(out->text, sizeof out->text, "(%s)", flags + 2);
    }
    gen_say(out->text, sizeof out->text, ")");
}

/* One level of a thousand slots is enough: wide ones below it are most of the memory. */
static const char *narrowed(const cformat *out, const char *kind)
{
    const bool below = strstr(out->text, "hashed(1000)") != NULL;
    const bool wide = !strcmp(kind, "hashed(1000)") || !strncmp(kind, "hashed(97", 9);
    return below && wide ? "hashed(5)" : kind;
}

/* Wide enough for most fibers; some aren't, so that it is refused or converted. */
static const char *hashed(gen *g, const cformat *out)
{
    static const char *const kinds[] = {"hashed",
                                        "hashed",
                                        "hashed(1000)",
                                        "hashed(97)",
                                        "hashed(16, index64)",
                                        "hashed(5)",
                                        "hashed(nonunique)",
                                        "hashed(97, nonunique)"};
    return narrowed(out, kinds[gen_below(g, 8)]);
}

static void mapped(gen *g, int order, bool result, cformat *out)
{
    int mode[CASE_ORDER];
    bool chain = false;
    permutation(g, order, mode);
    heading(order, out);
    for (int l = 0; l < order; l++) {
        bool last = l == order - 1;
        gen_say(out->text, sizeof out->text, "%s%c : ", l ? ", " : "", letters[mode[l]]);
        if (chain) {
            chain = !last && gen_chance(g, 60);
            gen_say(out->text, sizeof out->text, "%s%s", chain ? "singleton" : "singleton",
                    chain ? "(nonunique)" : "");
            if (!chain && !last) chain = true; /* singletons go on to the end */
            continue;
        }
        int kind = gen_below(g, 100);
        if (gen_has(g, FEATURE_KINDS) && kind < 33) {
            gen_say(out->text, sizeof out->text, "%s",
                    kind < 9    ? hashed(g, out)
                    : kind < 14 ? "rle"
                    : kind < 18 ? "lz77"
                    : kind < 25 ? "bytemap"
                    : kind < 30 ? "hosted"
                                : "walked");
        } else if (kind < 54) {
            gen_say(out->text, sizeof out->text, "dense");
        } else if (kind < 75 || last) {
            gen_say(out->text, sizeof out->text, "compressed%s",
                    gen_chance(g, 20)                     ? "(index64)"
                    : gen_chance(g, 12)                   ? "(unordered)"
                    : last && !result && gen_chance(g, 8) ? "(nonunique)"
                                                          : "");
        } else {
            chain = gen_chance(g, 75);
            gen_say(out->text, sizeof out->text, "compressed(nonunique%s)",
                    chain && gen_chance(g, 25) ? ", interleaved" : "");
        }
    }
    gen_say(out->text, sizeof out->text, ")");
}

/* A mode split twice, its levels above, between and below the others'. */
static void nested(gen *g, int order, cformat *out)
{
    static const char *const kinds[] = {"dense", "dense", "compressed", "compressed",
                                        "bytemap"};
    const int split = gen_below(g, order), k = 2 + gen_below(g, 2), n = 1 + gen_below(g, 3);
    const char c = letters[split];
    const bool folded = gen_chance(g, 50);
    heading(order, out);
    gen_say(out->text, sizeof out->text, "%c/%d : %s", c, k * n, kinds[gen_below(g, 5)]);
    for (int l = 0; l < order; l++)
        if (l != split)
            gen_say(out->text, sizeof out->text, ", %c : %s", letters[l],
                    kinds[gen_below(g, 4)]);
    if (folded)
        gen_say(out->text, sizeof out->text, ", %c/%d%%%d", c, k, n);
    else
        gen_say(out->text, sizeof out->text, ", %c%%%d/%d", c, k * n, k);
    gen_say(out->text, sizeof out->text, " : %s, %c%%%d : %s)", kinds[gen_below(g, 4)], c,
            k, gen_chance(g, 80) ? "dense" : "compressed");
}

/* Splits one or two modes into blocks, or flattens two into one level. */
static void blocked(gen *g, int order, cformat *out)
{
    int split = gen_below(g, order), k = 1 + gen_below(g, 3);
    if (gen_chance(g, 30)) {
        nested(g, order, out);
        return;
    }
    heading(order, out);
    if (order >= 2 && gen_chance(g, 30)) {
        gen_say(out->text, sizeof out->text, "flat(%c,%c) : %s", letters[0], letters[1],
                gen_chance(g, 50) ? "dense" : "compressed");
        for (int l = 2; l < order; l++)
            gen_say(out->text, sizeof out->text, ", %c : %s", letters[l],
                    gen_chance(g, 50) ? "dense" : "compressed");
        gen_say(out->text, sizeof out->text, ")");
        return;
    }
    for (int l = 0; l < order; l++) {
        const char *kind = gen_chance(g, 50) ? "dense" : "compressed";
        if (l == split)
            gen_say(out->text, sizeof out->text, "%s%c/%d : %s", l ? ", " : "", letters[l],
                    k, kind);
        else
            gen_say(out->text, sizeof out->text, "%s%c : %s", l ? ", " : "", letters[l],
                    kind);
    }
    gen_say(out->text, sizeof out->text, ", %c%%%d : %s)", letters[split], k,
            gen_chance(g, 80) ? "dense" : "compressed");
}

/* Blocks in a list: below a nonunique level and those of its chain (formats paper, fig. 4).
 */
static void stacked(gen *g, int order, cformat *out)
{
    int size[CASE_ORDER];
    heading(order, out);
    for (int l = 0; l < order; l++) {
        size[l] = 2 + gen_below(g, 3);
        gen_say(out->text, sizeof out->text, "%s%c/%d : %s", l ? ", " : "", letters[l],
                size[l],
                !l              ? "compressed(nonunique)"
                : l + 1 < order ? "singleton(nonunique)"
                                : "singleton");
    }
    for (int l = 0; l < order; l++)
        gen_say(out->text, sizeof out->text, ", %c%%%d : dense", letters[l], size[l]);
    gen_say(out->text, sizeof out->text, ")");
}

/* One level of a map; *chain: singletons go on to the end. */
static void any_level(gen *g, const char *coordinate, bool first, bool last, bool *chain,
                      cformat *out)
{
    static const char *const kinds[] = {"dense",
                                        "dense",
                                        "compressed",
                                        "compressed",
                                        "compressed(unordered)",
                                        "compressed(nonunique)",
                                        "compressed(nonunique, unordered)",
                                        "hashed",
                                        "hashed(1000)",
                                        "hashed(17)",
                                        "hashed(nonunique)",
                                        "hashed(97, nonunique)",
                                        "dense(unordered)",
                                        "rle",
                                        "lz77",
                                        "bytemap",
                                        "hosted",
                                        "walked"};
    enum { KINDS = sizeof kinds / sizeof *kinds };
    const char *kind = *chain ? last ? "singleton" : "singleton(nonunique)"
                              : narrowed(out, kinds[gen_below(g, KINDS)]);
    *chain = *chain || (strstr(kind, "nonunique") && gen_chance(g, 75));
    gen_say(out->text, sizeof out->text, "%s%s : %s", first ? "" : ", ", coordinate, kind);
}

/* Some modes share a level, one of the others may be split, the levels are in any order. */
static void flattened(gen *g, int order, cformat *out)
{
    char level[CASE_ORDER + 1][16] = {""};
    const int shared = 2 + gen_below(g, order - 1), from = gen_below(g, order - shared + 1);
    const bool split = gen_chance(g, 40);
    int n = 0, place[CASE_ORDER + 1];
    for (int m = 0; m < order; m++) {
        char *to = level[n++];
        const int k = 1 + gen_below(g, 8);
        if (m == from) {
            gen_say(to, sizeof *level, "flat(");
            for (; m < from + shared; m++)
                gen_say(to, sizeof *level, "%s%c", m > from ? "," : "", letters[m]);
            gen_say(to, sizeof *level, ")");
            m--;
        } else if (split && n < CASE_ORDER) {
            gen_say(to, sizeof *level, "%c/%d", letters[m], k);
            gen_say(level[n++], sizeof *level, "%c%%%d", letters[m], k);
        } else {
            gen_say(to, sizeof *level, "%c", letters[m]);
        }
    }
    permutation(g, n, place);
    heading(order, out);
    bool chain = false;
    for (int l = 0; l < n; l++)
        any_level(g, level[place[l]], l == 0, l == n - 1, &chain, out);
    gen_say(out->text, sizeof out->text, ")");
}

/* Mostly the map that other tensors of this order have. */
static void shared_map(gen *g, int order, cformat *out)
{
    char *map = g->map[order];
    if (map[0] && gen_chance(g, 80)) {
        gen_say(out->text, sizeof out->text, "%s", map);
        return;
    }
    flattened(g, order, out);
    memcpy(map, out->text, sizeof out->text);
}

/* Diagonals of two modes, stored as any kind, above or below the other modes;
 * or the entries of one mode in slots. */
static void computed(gen *g, int order, const int64_t *shape, cformat *out)
{
    int mode[CASE_ORDER], rest = order - 2;
    permutation(g, order, mode);
    const char a = letters[mode[0]], b = letters[mode[1]];
    const bool first = gen_chance(g, 50); /* the other modes come first */
    heading(order, out);
    for (int l = 0; first && l < rest; l++)
        gen_say(out->text, sizeof out->text, "%c : %s, ", letters[mode[2 + l]],
                gen_chance(g, 50) ? "dense" : "compressed");
    if (order > 2 || gen_chance(g, 75)) { /* slots of more modes are mostly padding */
        const bool minuend = gen_chance(g, 50);
        static const char *const stored[] = {"compressed", "compressed",   "hashed",
                                             "dense",      "hashed(1000)", "bytemap"};
        /* all diagonals of a long mode would be most of the memory */
        const bool few = !shape || (shape[mode[0]] < 200 && shape[mode[1]] < 200);
        gen_say(out->text, sizeof out->text, "%c-%c : %s, %c : range, %c : offset", a, b,
                stored[gen_below(g, few ? 6 : 2)], minuend ? a : b, minuend ? b : a);
    } else {
        gen_say(out->text, sizeof out->text, "#%c : dense, %c : dense, %c : singleton", a,
                a, b);
    }
    for (int l = 0; !first && l < rest; l++)
        gen_say(out->text, sizeof out->text, ", %c : %s", letters[mode[2 + l]],
                gen_chance(g, 50) ? "dense" : "compressed");
    gen_say(out->text, sizeof out->text, ")");
}

/* What is changed in place: elements are found, and new ones are put. */
void gen_format_found(gen *g, int order, cformat *out)
{
    *out = (cformat){.text = ""};
    if (order == 1 && gen_chance(g, 30))
        gen_say(out->text, sizeof out->text, "(i) -> (i : hashed(index%d))",
                gen_chance(g, 50) ? 32 : 64);
    else if (order > 0 && order < 3 && gen_chance(g, 25))
        gen_say(out->text, sizeof out->text, "%s : %s)",
                order == 1 ? "(i) -> (i" : "(i,j) -> (i : dense, j", hashed(g, out));
    else if (order == 2 && gen_chance(g, 40))
        gen_say(out->text, sizeof out->text, "(i,j) -> (flat(i,j) : %s)",
                gen_chance(g, 65) ? "hashed" : "bytemap");
    else
        gen_say(out->text, sizeof out->text, gen_chance(g, 65) ? "hash" : "bytemap");
}

void gen_format(gen *g, int order, const int64_t *shape, bool result, cformat *out)
{
    *out = (cformat){.text = ""};
    int pick = gen_below(g, 100);
    if (order == 0)
        named(g, order, out);
    else if (g->stacked && order >= 2 && !result && gen_chance(g, 70))
        stacked(g, order, out);
    else if (g->runs && gen_chance(g, 80))
        gen_say(out->text, sizeof out->text, gen_chance(g, 70) ? "rle" : "lz77");
    else if (gen_has(g, FEATURE_FLAT) && order >= 2 && gen_chance(g, 70))
        shared_map(g, order, out);
    else if (gen_has(g, FEATURE_BLOCKS) && pick < 20)
        blocked(g, order, out);
    else if (gen_has(g, FEATURE_KINDS) && order >= 2 && pick < 32)
        computed(g, order, shape, out);
    else if (gen_has(g, FEATURE_LEND) && pick < 60)
        lendable(g, order, out);
    else if (pick < 45)
        named(g, order, out);
    else if (pick < 60)
        shorthand(g, order, out);
    else
        mapped(g, order, result, out);
}
