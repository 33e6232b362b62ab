/* format.c: what a format's map says: whether it is a permutation, what its
 * levels' properties are, and whether it makes sense at all.
 */
#include "recipe.h"
#include <stdio.h>
#include <string.h>

void format_init(format *f, int order)
{
    memset(f, 0, sizeof *f);
    f->order = order;
    f->levels = order;
}

void format_set(format *f, int l, const level_kind *kind, int mode, uint8_t flags)
{
    f->level[l] = (level_spec){
        .kind = kind, .flags = flags, .map = {.op = MAP_MODE, .mode = (uint8_t)mode}};
}

void format_all(format *f, int order, const level_kind *kind)
{
    format_init(f, order);
    for (int l = 0; l < order; l++)
        format_set(f, l, kind, l, 0);
}

bool format_is_plain(const format *f)
{
    uint32_t seen = 0;
    if (f->levels != f->order) return false;
    for (int l = 0; l < f->levels; l++) {
        if (f->level[l].map.op != MAP_MODE) return false;
        seen |= 1u << f->level[l].map.mode;
    }
    return seen == (1u << f->order) - 1;
}

bool format_stores_all(const format *f)
{
    for (int l = 0; l < f->levels; l++)
        if (!(format_props(f, l) & PROP_FULL)) return false;
    return true;
}

bool format_inserts(const format *f)
{
    bool all = format_is_plain(f) && format_stores_all(f);
    for (int l = 0; l < f->levels && all; l++)
        all = f->level[l].kind->caps & CAP_INSERT;
    return all;
}

/* All levels are modes, or modes that are flattened. */
static bool is_flat(const format *f)
{
    for (int l = 0; l < f->levels; l++)
        if (f->level[l].map.op != MAP_MODE && f->level[l].map.op != MAP_FLAT) return false;
    return true;
}

bool format_finds_places(const format *f)
{
    for (int l = 0; l < f->levels; l++) {
        const uint32_t caps = f->level[l].kind->caps, props = format_props(f, l);
        const bool places = caps & CAP_INSERT && props & PROP_FULL;
        const bool grows = caps & CAP_APPEND && !(caps & CAP_REGION);
        if (!(caps & CAP_LOCATE) && !(props & PROP_ORDERED)) return false;
        if (!(props & PROP_UNIQUE) || (!places && !grows)) return false;
    }
    return f->levels > 0 && is_flat(f);
}

int format_entry_mode(const format *f, int k)
{
    return format_is_plain(f) ? f->level[k].map.mode : k;
}

bool format_is_dense(const format *f)
{
    bool dense = format_is_plain(f);
    for (int l = 0; l < f->levels && dense; l++)
        dense = f->level[l].kind == level_kind_at(LEVEL_dense);
    return dense;
}

bool map_equal(const level_map *a, const level_map *b)
{
    if (a->op != b->op || a->mode != b->mode) return false;
    switch ((map_op)a->op) {
    case MAP_PART:
        return a->k == b->k && a->n == b->n;
    case MAP_DIFF:
        return a->mode2 == b->mode2;
    case MAP_FLAT:
        return a->modes == b->modes;
    default:
        return true;
    }
}

/* Whether they store the same, but for their maps. */
static bool same_level(const level_spec *x, const level_spec *y)
{
    return x->kind == y->kind && x->flags == y->flags && x->number == y->number;
}

bool format_equal(const format *a, const format *b)
{
    if (a->order != b->order || a->levels != b->levels) return false;
    for (int l = 0; l < a->levels; l++) {
        const level_spec *x = &a->level[l], *y = &b->level[l];
        if (!same_level(x, y) || !map_equal(&x->map, &y->map)) return false;
    }
    return true;
}

/* a's mode m is b's mode n, and no other. */
static bool pair_modes(int *mode, uint32_t *taken, int m, int n)
{
    if (mode[m] < 0 && !(*taken >> n & 1)) mode[m] = n;
    *taken |= 1u << n;
    return mode[m] == n;
}

bool format_renumbers(const format *a, const format *b, int *mode)
{
    uint32_t taken = 0;
    if (a->order != b->order || a->levels != b->levels) return false;
    for (int m = 0; m < STC_MAX_ORDER; m++)
        mode[m] = -1;
    for (int l = 0; l < a->levels; l++) {
        const level_spec *x = &a->level[l], *y = &b->level[l];
        level_map same = y->map;
        const int modes = x->map.op == MAP_FLAT ? x->map.modes : 1;
        same.mode = x->map.mode;
        same.mode2 = x->map.mode2;
        if (!same_level(x, y) || !map_equal(&x->map, &same)) return false;
        for (int k = 0; k < modes; k++)
            if (!pair_modes(mode, &taken, x->map.mode + k, y->map.mode + k)) return false;
        if (x->map.op == MAP_DIFF && !pair_modes(mode, &taken, x->map.mode2, y->map.mode2))
            return false;
    }
    return taken == (1u << a->order) - 1;
}

bool format_renumber(const format *f, const int *mode, format *out)
{
    *out = *f;
    for (int l = 0; l < f->levels; l++) {
        level_map *const map = &out->level[l].map;
        const int first = map->mode;
        map->mode = (uint8_t)mode[first];
        if (map->op == MAP_DIFF) map->mode2 = (uint8_t)mode[map->mode2];
        for (int k = 1; map->op == MAP_FLAT && k < map->modes; k++)
            if (mode[first + k] != mode[first] + k) return false;
    }
    return true;
}

/* Chains of branchless levels below a nonunique one: all but the last repeat
 * coordinates too, or there would be nothing to be nonunique for. */
static bool repeats(const format *f, int l)
{
    if (f->level[l].flags & FMT_NONUNIQUE) return true;
    if (l == 0 || l + 1 == f->levels) return false;
    if (!(f->level[l].kind->props & PROP_BRANCHLESS)) return false;
    if (!(f->level[l + 1].kind->props & PROP_BRANCHLESS)) return false;
    return repeats(f, l - 1) && f->level[l].kind->caps & CAP_CHAIN;
}

/* Whether level l has positions that no entry leads to. */
static bool has_padding(const format *f, int l)
{
    for (; l >= 0; l--) {
        const uint32_t props = f->level[l].kind->props;
        if (props & PROP_FULL || !(props & PROP_COMPACT)) return true;
        if (!(props & PROP_BRANCHLESS)) return false;
    }
    return false;
}

/* The last level that doesn't follow from those above it; -1: none. */
static int last_own(const format *f)
{
    int l = f->levels - 1;
    while (l > 0 && f->level[l].kind->props & PROP_BRANCHLESS && !f->level[l].kind->arrays)
        l--;
    return l;
}

bool format_drops_fill(const format *f)
{
    const int l = last_own(f);
    return !format_is_plain(f) && l >= 0 && !f->level[l].kind->arrays;
}

bool format_stores_entries(const format *f)
{
    const int l = last_own(f);
    return l >= 0 && f->level[l].kind->arrays && !(format_props(f, l) & PROP_FULL);
}

uint32_t format_props(const format *f, int l)
{
    const level_spec *s = &f->level[l];
    uint32_t props = s->kind->props;
    if (s->flags & FMT_UNORDERED) props &= ~(uint32_t)PROP_ORDERED;
    if (repeats(f, l)) props &= ~(uint32_t)PROP_UNIQUE;
    if (props & PROP_BRANCHLESS && l > 0 && has_padding(f, l - 1)) {
        props &= ~(uint32_t)PROP_COMPACT;
    }
    return props;
}

bool format_places_below(const format *f, int l)
{
    for (l++; l < f->levels; l++) {
        const level_kind *k = f->level[l].kind;
        if (!(k->caps & CAP_INSERT) || k->arrays || !(k->props & PROP_FULL) ||
            f->level[l].map.op == MAP_COUNT) /* its extent is data */
            return false;
    }
    return true;
}

bool format_appends(const format *f)
{
    for (int l = 0; l < f->levels; l++) {
        const level_kind *k = f->level[l].kind;
        if (!(k->caps & (CAP_APPEND | CAP_INSERT)) || k->props & PROP_BRANCHLESS)
            return false;
        if (f->level[l].map.op == MAP_COUNT) return false; /* its extent is data */
        /* where positions may be skipped, what is below can't be stored first */
        if (k->caps & CAP_INSERT || l + 1 == f->levels) continue;
        if (k->caps & CAP_APPEND_REGION && k->append_next && format_places_below(f, l))
            continue; /* but for kinds that tell which */
        if (k->caps & CAP_APPEND_REGION || !(k->props & PROP_COMPACT)) return false;
    }
    return true;
}

/* ---- the inverse map ---------------------------------------------------------- */

/* Levels that have the rest of a mode whose multiples of k are known: one that counts what
 * k is made of, and those that have what is left. They go behind the `n` steps that there
 * are; 0: there are none. */
static int recipe_parts(const format *f, int mode, int64_t k, mode_recipe *r, int n)
{
    if (k == 1) return n;
    for (int l = 0; l < f->levels; l++) {
        const level_map *m = &f->level[l].map;
        if (m->op != MAP_PART || m->mode != mode || m->n < 2 || k % m->n ||
            m->k != k / m->n)
            continue;
        r[n] = (mode_recipe){.op = MAP_PART, .mode = mode, .a = l, .b = n > 0, .k = m->k};
        const int all = recipe_parts(f, mode, m->k, r, n + 1);
        if (all) return all;
    }
    return 0;
}

/* The steps that make a mode from levels and modes that are known; 0: none can. */
static int recipe_of(const format *f, int mode, uint32_t known, mode_recipe *r)
{
    for (int l = 0; l < f->levels; l++) {
        if (f->level[l].map.op != MAP_MODE || f->level[l].map.mode != mode) continue;
        *r = (mode_recipe){.op = MAP_MODE, .mode = mode, .a = l};
        return 1;
    }
    for (int l = 0; l < f->levels; l++) {
        const level_map *m = &f->level[l].map;
        if (m->op == MAP_PART && m->mode == mode && !m->n) {
            r[0] = (mode_recipe){.op = MAP_PART, .mode = mode, .a = l, .k = m->k};
            const int all = recipe_parts(f, mode, m->k, r, 1);
            if (all) return all;
        }
        if (m->op == MAP_FLAT && mode >= m->mode && mode < m->mode + m->modes) {
            *r = (mode_recipe){MAP_FLAT, mode, l, m->mode, m->modes, 0};
            return 1;
        }
        if (m->op != MAP_DIFF || (m->mode != mode && m->mode2 != mode)) continue;
        const int other = m->mode == mode ? m->mode2 : m->mode;
        if (!(known >> other & 1)) continue;
        *r = (mode_recipe){MAP_DIFF, mode, l, other, 0, m->mode == mode ? 1 : -1};
        return 1;
    }
    return 0;
}

int format_recipe(const format *f, recipe *r)
{
    uint32_t known = 0;
    r->count = 0;
    for (bool more = true; more;) {
        more = false;
        for (int m = 0; m < f->order; m++) {
            const int n = known >> m & 1 ? 0 : recipe_of(f, m, known, &r->step[r->count]);
            if (!n) continue;
            r->count += n;
            known |= 1u << m;
            more = true;
        }
    }
    for (int m = 0; m < f->order; m++) {
        if (!(known >> m & 1)) return m;
    }
    return -1;
}

/* ---- in files ------------------------------------------------------------------- */

/* Their numbers for ops. A part is one of three: i/k and i%k have their k, one in the midst
 * has k in the low half and n in the high one. */
enum { FILE_MODE, FILE_DIV, FILE_MOD, FILE_DIFF, FILE_COUNT, FILE_FLAT, FILE_PART };
enum { HALF = 32 };

coded_map map_code(const level_map *m)
{
    coded_map out = {.op = FILE_MODE, .mode = m->mode};
    switch ((map_op)m->op) {
    case MAP_MODE:
        break;
    case MAP_PART:
        out.op = !m->n ? FILE_DIV : m->k == 1 ? FILE_MOD : FILE_PART;
        out.k = !m->n ? m->k : m->k == 1 ? m->n : m->k | m->n << HALF;
        break;
    case MAP_DIFF:
        out.op = FILE_DIFF;
        out.mode2 = m->mode2;
        break;
    case MAP_COUNT:
        out.op = FILE_COUNT;
        break;
    case MAP_FLAT:
        out.op = FILE_FLAT;
        out.modes = m->modes;
        break;
    }
    return out;
}

bool map_decode(const coded_map *from, level_map *m)
{
    static const uint8_t op[] = {MAP_MODE,  MAP_PART, MAP_PART, MAP_DIFF,
                                 MAP_COUNT, MAP_FLAT, MAP_PART};
    if (from->op > FILE_PART) return false;
    *m = (level_map){op[from->op], from->mode, from->mode2, from->modes, 0, 0};
    if (from->op == FILE_DIV) m->k = from->k;
    if (from->op == FILE_MOD) m->k = 1, m->n = from->k;
    if (from->op == FILE_PART) {
        m->k = (int64_t)((uint64_t)from->k & UINT32_MAX);
        m->n = (int64_t)((uint64_t)from->k >> HALF);
    }
    const coded_map again = map_code(m);
    return again.op == from->op && again.mode2 == from->mode2 &&
           again.modes == from->modes && again.k == from->k;
}

/* ---- what can't be -------------------------------------------------------------- */

static const char *map_fault(const format *f, const level_map *m)
{
    const bool mode_ok = m->mode < f->order;
    switch ((map_op)m->op) {
    case MAP_MODE:
    case MAP_COUNT:
        return mode_ok ? NULL : "its mode isn't on the left";
    case MAP_PART:
        if (m->k < 1 || m->k > (int64_t)1 << 40 || m->n < 0 || m->n > (int64_t)1 << 40)
            return "it divides by less than 1 or more than 2^40";
        if (m->k > 1 && m->n && (m->k > INT32_MAX || m->n > INT32_MAX))
            return "it is a part of a part, and these end at 2^31";
        return mode_ok ? NULL : "its mode isn't on the left";
    case MAP_DIFF:
        if (!mode_ok || m->mode2 >= f->order) return "its mode isn't on the left";
        return m->mode == m->mode2 ? "it subtracts a mode from itself" : NULL;
    case MAP_FLAT:
        return m->modes >= 1 && m->mode + m->modes <= f->order
                   ? NULL
                   : "it flattens modes that aren't on the left";
    }
    return "its map is unknown";
}

bool format_implied(const format *f, int l, int *diff, int *other)
{
    const level_map *m = &f->level[l].map;
    if (m->op != MAP_MODE) return false;
    for (*diff = l - 1; *diff >= 0; --*diff) {
        const level_map *d = &f->level[*diff].map;
        if (d->op != MAP_DIFF || (d->mode != m->mode && d->mode2 != m->mode)) continue;
        const int wanted = d->mode == m->mode ? d->mode2 : d->mode;
        for (*other = l - 1; *other >= 0; --*other) {
            const level_map *o = &f->level[*other].map;
            if (o->op == MAP_MODE && o->mode == wanted) break;
        }
        return true;
    }
    return false;
}

uint8_t level_flags(const level_kind *k, uint8_t flags)
{
    if (k->fixed & PROP_UNIQUE) flags &= (uint8_t)~FMT_NONUNIQUE;
    if (k->fixed & PROP_ORDERED) flags &= (uint8_t)~FMT_UNORDERED;
    return flags;
}

static const char *flags_fault(const format *f, int l)
{
    const level_spec *s = &f->level[l];
    const level_kind *k = s->kind, *next = l + 1 < f->levels ? f->level[l + 1].kind : NULL;
    if (s->flags & FMT_NONUNIQUE && k->fixed & PROP_UNIQUE) return "it can't be nonunique";
    if (s->flags & FMT_UNORDERED && k->fixed & PROP_ORDERED) return "it can't be unordered";
    if (s->flags & FMT_UNORDERED && !(k->props & PROP_ORDERED)) {
        return "it is unordered as it is";
    }
    if (s->flags & FMT_INDEX32 && s->flags & FMT_INDEX64) {
        return "it can't be index32 and index64 at once";
    }
    if (s->flags & (FMT_INDEX32 | FMT_INDEX64) && !k->arrays) return "it stores no indices";
    if (s->flags & FMT_INTERLEAVED && !(s->flags & FMT_NONUNIQUE && next &&
                                        next->props & PROP_BRANCHLESS && next->arrays)) {
        return "only a nonunique level above singletons can be interleaved";
    }
    return NULL;
}

bool format_apart(const format *f, int l)
{
    return l + 1 < f->levels && !(format_props(f, l) & PROP_UNIQUE) &&
           !(f->level[l + 1].kind->caps & CAP_CHAIN);
}

/* Whether some level below l leaves coordinates out. */
static bool leaves_out_below(const format *f, int l)
{
    for (l++; l < f->levels; l++)
        if (f->level[l].kind && !(f->level[l].kind->props & PROP_FULL)) return true;
    return false;
}

static const char *level_fault(const format *f, int l)
{
    const level_spec *s = &f->level[l];
    int diff, other;
    if (!s->kind) return "it has no kind";
    if (!s->kind->takes && s->number) return "it has a number, and its kind takes none";
    if (s->kind->takes && (s->number < 1 || s->number > (int64_t)1 << 40))
        return "the number that it takes is less than 1 or more than 2^40";
    const char *fault = map_fault(f, &s->map);
    if (fault) return fault;
    if (l == 0 && s->kind->props & PROP_BRANCHLESS) {
        return "it has one coordinate for each parent, and at the root there is none";
    }
    const bool computed = !s->kind->arrays && !(s->kind->props & PROP_FULL);
    if (computed && !format_implied(f, l, &diff, &other)) {
        return "no level above it has the difference of its mode and another";
    }
    if (computed && s->kind->props & PROP_BRANCHLESS && other < 0) {
        return "no level above it has the other mode of the difference";
    }
    if (s->map.op == MAP_COUNT && !leaves_out_below(f, l))
        return "it counts entries, and each slot would have all coordinates";
    return flags_fault(f, l);
}

bool format_valid(const format *f, char *why, size_t size)
{
    if (f->order < 0 || f->order > STC_MAX_ORDER || f->levels < 0 ||
        f->levels > STC_MAX_ORDER) {
        snprintf(why, size, "a format has at most %d modes and %d levels", STC_MAX_ORDER,
                 STC_MAX_ORDER);
        return false;
    }
    for (int l = 0; l < f->levels; l++) {
        const char *fault = level_fault(f, l);
        if (!fault) continue;
        const level_kind *k = f->level[l].kind;
        snprintf(why, size, "level %d (%s): %s", l, k ? k->name : "?", fault);
        return false;
    }
    recipe r;
    const int lost = format_recipe(f, &r);
    if (lost < 0) return true;
    snprintf(why, size, "no level determines mode %d (%c)", lost, "ijklmnopqrstuvwx"[lost]);
    return false;
}
