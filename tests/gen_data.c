/* gen_data.c: random values, types, fills and entries. */
#include "gen.h"
#include <stdlib.h>

oval gen_value(gen *g, stc_type t)
{
    if (t == STC_BOOL) return ov_int(t, gen_below(g, 2));
    if (ot_unsigned(t)) return ov_int(t, gen_below(g, 7));
    if (ot_integer(t)) return ov_int(t, gen_below(g, 10) - 4);
    bool rough = gen_has(g, FEATURE_ROUGH);
    double re =
        rough ? (gen_below(g, 2001) - 1000) / 321.0 : (gen_below(g, 25) - 12) * 0.25;
    if (!ot_complex(t)) return ov_real(t, re);
    double im = rough ? (gen_below(g, 2001) - 1000) / 321.0 : (gen_below(g, 17) - 8) * 0.5;
    return ov_complex(t, re, im);
}

oval gen_fill(gen *g, stc_type t)
{
    oval zero = t >= STC_F32 ? ov_real(t, 0) : ov_int(t, 0);
    if (!gen_has(g, FEATURE_FILL) || gen_chance(g, 40)) return zero;
    if (ot_float(t) && gen_chance(g, 20))
        return ov_real(t, gen_chance(g, 70) ? INFINITY : -INFINITY);
    if (t >= STC_I8 && t <= STC_U64 && gen_chance(g, 15)) {
        oval limit;
        of_identity(of_find(gen_chance(g, 50) ? "min" : "max", 3, 2), t, &limit);
        return limit;
    }
    if (gen_chance(g, 40)) return t >= STC_F32 ? ov_real(t, 1) : ov_int(t, 1);
    return gen_value(g, t);
}

stc_type gen_type(gen *g, want w)
{
    static const stc_type ints[] = {STC_I64, STC_I32, STC_I16, STC_I8};
    static const stc_type uints[] = {STC_U64, STC_U32, STC_U16, STC_U8};
    if (w == WANT_BOOL) return STC_BOOL;
    switch (g->domain) {
    case D_BOOL:
        return gen_chance(g, 70) ? STC_BOOL : ints[gen_below(g, 4)];
    case D_INT:
        return gen_chance(g, 10) ? STC_BOOL : ints[gen_below(g, 4)];
    case D_UINT:
        return gen_chance(g, 10) ? STC_BOOL : uints[gen_below(g, 4)];
    default:
        break;
    }
    if (w == WANT_INT) return ints[gen_below(g, 4)];
    switch (g->domain) {
    case D_SINGLE:
        return STC_F32;
    case D_COMPLEX:
        if (w == WANT_REAL || gen_chance(g, 30)) return STC_F64;
        return gen_chance(g, 50) ? STC_C128 : STC_C64;
    case D_MIXED: {
        static const stc_type mix[] = {STC_F64,  STC_F32, STC_I64, STC_I32, STC_U8,
                                       STC_BOOL, STC_I8,  STC_U32, STC_I16};
        return mix[gen_below(g, 9)];
    }
    default:
        return STC_F64;
    }
}

static int64_t volume(const ctensor *t)
{
    int64_t n = 1;
    for (int k = 0; k < t->order; k++)
        n *= t->shape[k];
    return n;
}

static void coordinates(const ctensor *t, int64_t at, int64_t *out)
{
    for (int k = t->order - 1; k >= 0; k--) {
        out[k] = at % t->shape[k];
        at /= t->shape[k];
    }
}

/* Long equal runs, so that run-length levels have something to hold. */
static oval next_value(gen *g, const ctensor *t, const oval *last)
{
    if (last && gen_has(g, FEATURE_KINDS) && gen_chance(g, 60)) return *last;
    if (gen_chance(g, 6)) return t->fill; /* an explicit fill */
    return gen_value(g, t->type);
}

/* Of a long operand of a wide case: entries so far apart as ratio says, or all of them, in
 * runs of 64 and more, some of which are the fill's. */
static void wide_entries(gen *g, ctensor *t, int64_t all)
{
    const bool runs = all < 200000 && !t->lend && gen_chance(g, 40);
    const int apart = runs ? 1 : g->c->wide == 2000 ? 200 : 20;
    int64_t n = 0, run = 0;
    int64_t *coord = malloc((size_t)(all / apart * 2 + 8) * CASE_ORDER * sizeof *coord);
    oval *value = malloc((size_t)(all / apart * 2 + 8) * sizeof *value), same = t->fill;
    if (!coord || !value) abort();
    for (int64_t at = 0; at < all && n < all / apart * 2;
         at += runs ? 1 : 1 + gen_below(g, 2 * apart - 1)) {
        if (runs && run-- == 0) {
            run = 63 + gen_below(g, 200);
            same = gen_chance(g, 25) ? t->fill : gen_value(g, t->type);
        }
        coordinates(t, at, coord + n * t->order);
        value[n] = runs ? same : next_value(g, t, n > 0 ? &value[n - 1] : NULL);
        n++;
    }
    ctensor_entries(t, n, coord, value);
}

void gen_entries(gen *g, ctensor *t)
{
    static const int densities[] = {0, 10, 20, 35, 35, 50, 70, 100};
    int64_t all = volume(t), n = 0;
    if (g->c->wide && all > 1000) {
        wide_entries(g, t, all);
        return;
    }
    int density = densities[gen_below(g, 8)];
    int64_t *coord = malloc((size_t)(2 * all + 1) * CASE_ORDER * sizeof *coord);
    oval *value = malloc((size_t)(2 * all + 1) * sizeof *value);
    if (!coord || !value) abort();
    bool twice = t->format.raw.nonunique || !t->lend;
    for (int64_t at = 0; at < all; at++) {
        if (!gen_chance(g, t->order == 0 ? 100 : density)) continue;
        int times =
            twice && t->type != STC_BOOL && t->order > 0 && gen_chance(g, 8) ? 2 : 1;
        for (int k = 0; k < times; k++) {
            coordinates(t, at, coord + n * t->order);
            value[n] = next_value(g, t, n > 0 ? &value[n - 1] : NULL);
            n++;
        }
    }
    bool shuffle = gen_chance(g, 30);
    for (int64_t e = n - 1; e > 0 && shuffle; e--) {
        int64_t f = gen_below(g, (int)e + 1);
        for (int k = 0; k < t->order; k++) {
            int64_t x = coord[e * t->order + k];
            coord[e * t->order + k] = coord[f * t->order + k];
            coord[f * t->order + k] = x;
        }
        oval v = value[e];
        value[e] = value[f];
        value[f] = v;
    }
    ctensor_entries(t, n, coord, value);
}
