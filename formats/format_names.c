/* format_names.c: formats by name: the table of those that are built in, TACO's short
 * strings, and printing.
 */
#include "format.h"
#include <inttypes.h>
#include <string.h>

/* Levels by letter: each kind's own, and u for compressed nonunique. */
static level_spec level_of(char c)
{
    level_spec out = {.flags = c == 'u' ? FMT_NONUNIQUE : 0};
    if (c == 'u') c = 's';
    for (int k = 0; k < LEVEL_COUNT && !out.kind; k++)
        if (level_kind_at(k)->letter == c) out.kind = level_kind_at(k);
    return out;
}

/* ---- the built-in formats -------------------------------------------------------- */

enum { ANY_ORDER = 0 };

/* A format's name, the letters of its levels, the order, and who makes it of these. */
typedef struct builtin builtin;
struct builtin {
    const char *name, *letters;
    bool (*make)(const builtin *b, int order, const int64_t *args, format *out);
    int order, nargs; /* ANY_ORDER: any; parameters, as in bcsr(r,c) */
    uint8_t mode[3];  /* of each level */
};

static void set_level(const builtin *b, format *out, int l)
{
    const level_spec s = level_of(b->letters[l]);
    format_set(out, l, s.kind, b->mode[l], s.flags);
}

/* Modes in the order that the row says. */
static bool make_plain(const builtin *b, int order, const int64_t *args, format *out)
{
    (void)args;
    format_init(out, order);
    for (int l = 0; l < order; l++)
        set_level(b, out, l);
    return true;
}

/* The first letter for all levels but the last, the second for that one; a third says that
 * a tensor of order 0 may have the format. */
static bool make_any(const builtin *b, int order, const int64_t *args, format *out)
{
    (void)args;
    if (order < !b->letters[2]) return false;
    format_all(out, order, level_of(b->letters[0]).kind);
    if (order) out->level[order - 1].kind = level_of(b->letters[1]).kind;
    return true;
}

/* The first level, then singletons, all but the last of which aren't unique. */
static bool make_coo(const builtin *b, int order, const int64_t *args, format *out)
{
    (void)args;
    if (order < 1) return false;
    format_all(out, order, level_of(b->letters[1]).kind);
    out->level[0].kind = level_of(b->letters[0]).kind;
    for (int l = 0; l + 1 < order; l++)
        out->level[l].flags = FMT_NONUNIQUE;
    return true;
}

/* Blocks of r x c: the grid's levels, then those inside a block. */
static bool make_blocks(const builtin *b, int order, const int64_t *args, format *out)
{
    if (args[0] < 1 || args[1] < 1) return false;
    format_init(out, order);
    out->levels = 4;
    for (int l = 0; l < 4; l++) {
        const level_spec s = level_of(b->letters[l]);
        format_set(out, l, s.kind, l % 2, s.flags);
        const int64_t size = args[l % 2];
        out->level[l].map = l < 2 ? map_part(l % 2, size, 0) : map_part(l % 2, 1, size);
    }
    return true;
}

static bool make_dia(const builtin *b, int order, const int64_t *args, format *out)
{
    (void)b, (void)args;
    format_init(out, order);
    out->levels = 3;
    format_set(out, 0, level_kind_at(LEVEL_compressed), 1, 0);
    out->level[0].map = (level_map){.op = MAP_DIFF, .mode = 1, .mode2 = 0};
    format_set(out, 1, level_kind_at(LEVEL_range), 0, 0);
    format_set(out, 2, level_kind_at(LEVEL_offset), 1, 0);
    return true;
}

static bool make_ell(const builtin *b, int order, const int64_t *args, format *out)
{
    (void)args;
    format_init(out, order);
    out->levels = 3;
    for (int l = 0; l < 3; l++)
        set_level(b, out, l);
    out->level[0].map.op = MAP_COUNT;
    return true;
}

/* A format that two rows make has the name of the first. */
static const builtin builtins[] = {
    {"dense", "dd0", make_any, ANY_ORDER, 0, {0}},
    {"svec", "s", make_plain, 1, 0, {0}},
    {"csr", "ds", make_plain, 2, 0, {0, 1}},
    {"csc", "ds", make_plain, 2, 0, {1, 0}},
    {"dcsr", "ss", make_plain, 2, 0, {0, 1}},
    {"dcsc", "ss", make_plain, 2, 0, {1, 0}},
    {"csf", "ss", make_any, ANY_ORDER, 0, {0}},
    {"hash", "dh", make_any, ANY_ORDER, 0, {0}},
    {"rle", "dr", make_any, ANY_ORDER, 0, {0}},
    {"lz77", "dz", make_any, ANY_ORDER, 0, {0}},
    {"bytemap", "db", make_any, ANY_ORDER, 0, {0}},
    {"coo", "sq", make_coo, ANY_ORDER, 0, {0}},
    {"dia", "", make_dia, 2, 0, {0}},
    {"ell", "ddq", make_ell, 2, 0, {0, 0, 1}},
    {"bcsr", "dsdd", make_blocks, 2, 2, {0}},
    {"csb", "dduq", make_blocks, 2, 2, {0}},
};

#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

const char *format_name_at(int k)
{
    return k >= 0 && k < COUNT(builtins) ? builtins[k].name : NULL;
}

static bool make(const builtin *b, int order, const int64_t *args, format *out)
{
    if (b->order != ANY_ORDER && order < 0) order = b->order;
    if (order > STC_MAX_ORDER || (b->order != ANY_ORDER && order != b->order)) return false;
    return b->make(b, order, args, out);
}

bool format_builtin(const char *name, size_t len, int order, const int64_t *args, int nargs,
                    format *out)
{
    for (int k = 0; k < COUNT(builtins); k++) {
        const builtin *b = &builtins[k];
        if (strlen(b->name) == len && !memcmp(b->name, name, len) && b->nargs == nargs)
            return make(b, order, args, out);
    }
    return false;
}

bool format_short(const char *s, size_t len, const int *modes, format *out)
{
    if (!len || len > STC_MAX_ORDER) return false;
    format_init(out, (int)len);
    uint32_t seen = 0;
    for (int l = 0; l < (int)len; l++) {
        const bool letter = s[l] == 'd' || s[l] == 's' || s[l] == 'q' || s[l] == 'u';
        const int mode = modes ? modes[l] : l;
        if (!letter || mode < 0 || mode >= (int)len || seen >> mode & 1) return false;
        const bool inner = s[l] == 'q' && l + 1 < (int)len && s[l + 1] == 'q';
        seen |= 1u << mode;
        const level_spec spec = level_of(s[l]);
        format_set(out, l, spec.kind, mode, inner ? FMT_NONUNIQUE : spec.flags);
    }
    char why[128];
    return format_valid(out, why, sizeof why);
}

/* ---- printing ------------------------------------------------------------------- */

static const char mode_names[] = "ijklmnopqrstuvwx";

static void print_coordinate(const level_map *m, textbuf *out)
{
    const char c = mode_names[m->mode];
    switch ((map_op)m->op) {
    case MAP_MODE:
        text_add(out, "%c", c);
        break;
    case MAP_PART:
        text_add(out, "%c", c);
        if (m->k > 1 || !m->n) text_add(out, "/%" PRId64, m->k);
        if (m->n) text_add(out, "%%%" PRId64, m->n);
        break;
    case MAP_DIFF:
        text_add(out, "%c-%c", c, mode_names[m->mode2]);
        break;
    case MAP_COUNT:
        text_add(out, "#%c", c);
        break;
    case MAP_FLAT:
        text_add(out, "flat(");
        for (int t = 0; t < m->modes; t++) {
            text_add(out, "%s%c", t ? "," : "", mode_names[m->mode + t]);
        }
        text_add(out, ")");
        break;
    }
}

static void print_level(const level_spec *s, textbuf *out)
{
    static const char *const names[] = {"nonunique", "unordered", "index32", "index64",
                                        "interleaved"};
    const char *before = "(";
    text_add(out, "%s", s->kind->name);
    if (s->number) {
        text_add(out, "(%" PRId64, s->number);
        before = ", ";
    }
    for (int b = 0; b < COUNT(names); b++) {
        if (!(s->flags >> b & 1)) continue;
        text_add(out, "%s%s", before, names[b]);
        before = ", ";
    }
    if (s->number || s->flags) text_add(out, ")");
}

void format_print_map(const format *f, textbuf *out)
{
    text_add(out, "(");
    for (int m = 0; m < f->order; m++)
        text_add(out, "%s%c", m ? "," : "", mode_names[m]);
    text_add(out, ") -> (");
    for (int l = 0; l < f->levels; l++) {
        const level_spec *s = &f->level[l];
        if (l) text_add(out, ", ");
        print_coordinate(&s->map, out);
        text_add(out, " : ");
        print_level(s, out);
    }
    text_add(out, ")");
}

void format_print(const format *f, textbuf *out)
{
    for (int k = 0; k < COUNT(builtins); k++) {
        const builtin *b = &builtins[k];
        format made;
        if (b->nargs && (f->order != 2 || f->levels != 4)) continue;
        const int64_t args[2] = {f->level[0].map.k, f->level[1].map.k};
        if (!make(b, f->order, args, &made) || !format_equal(f, &made)) continue;
        text_add(out, "%s", b->name);
        if (b->nargs) text_add(out, "(%" PRId64 ",%" PRId64 ")", args[0], args[1]);
        return;
    }
    format_print_map(f, out);
}
