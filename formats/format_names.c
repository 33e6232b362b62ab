/* format_names.c: formats by name: the built-in ones, TACO's short strings,
 * and printing.
 */
#include "format.h"
#include <inttypes.h>
#include <string.h>

/* Levels by letter: d dense, s compressed, q singleton, h hashed, r rle,
 * z lz77, b bytemap, u compressed nonunique. */
static const level_kind *kind_of_letter(char c)
{
    switch (c) {
    case 'd':
        return level_kind_at(LEVEL_dense);
    case 's':
    case 'u':
        return level_kind_at(LEVEL_compressed);
    case 'q':
        return level_kind_at(LEVEL_singleton);
    case 'h':
        return level_kind_at(LEVEL_hashed);
    case 'r':
        return level_kind_at(LEVEL_rle);
    case 'z':
        return level_kind_at(LEVEL_lz77);
    case 'b':
        return level_kind_at(LEVEL_bytemap);
    default:
        return NULL;
    }
}

/* Of any order: `first` for all levels but the last, `last` for that one. */
static const struct any_order {
    const char *name;
    char first, last;
} any_order[] = {
    {"dense", 'd', 'd'}, {"csf", 's', 's'},  {"hash", 'd', 'h'},
    {"rle", 'd', 'r'},   {"lz77", 'd', 'z'}, {"bytemap", 'd', 'b'},
};

/* Plain ones of a fixed order: letters, and the mode of each level. */
static const struct fixed_order {
    const char *name, *letters;
    uint8_t mode[2];
} fixed_order[] = {
    {"svec", "s", {0, 0}},  {"csr", "ds", {0, 1}},  {"csc", "ds", {1, 0}},
    {"dcsr", "ss", {0, 1}}, {"dcsc", "ss", {1, 0}},
};

#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

static bool make_coo(int order, format *out)
{
    if (order < 1 || order > STC_MAX_ORDER) return false;
    format_all(out, order, level_kind_at(LEVEL_singleton));
    out->level[0].kind = level_kind_at(LEVEL_compressed);
    for (int l = 0; l + 1 < order; l++)
        out->level[l].flags = FMT_NONUNIQUE;
    return true;
}

/* Blocks of r x c: the grid's levels, then those inside a block. */
static bool make_blocks(const char *letters, int64_t r, int64_t c, format *out)
{
    if (r < 1 || c < 1) return false;
    format_init(out, 2);
    out->levels = 4;
    for (int l = 0; l < 4; l++) {
        format_set(out, l, kind_of_letter(letters[l]), l % 2,
                   letters[l] == 'u' ? FMT_NONUNIQUE : 0);
        out->level[l].map.op = l < 2 ? MAP_DIV : MAP_MOD;
        out->level[l].map.k = l % 2 ? c : r;
    }
    return true;
}

static void make_dia(format *out)
{
    format_init(out, 2);
    out->levels = 3;
    format_set(out, 0, level_kind_at(LEVEL_compressed), 1, 0);
    out->level[0].map = (level_map){.op = MAP_DIFF, .mode = 1, .mode2 = 0};
    format_set(out, 1, level_kind_at(LEVEL_range), 0, 0);
    format_set(out, 2, level_kind_at(LEVEL_offset), 1, 0);
}

static void make_ell(format *out)
{
    format_init(out, 2);
    out->levels = 3;
    format_set(out, 0, level_kind_at(LEVEL_dense), 0, 0);
    out->level[0].map.op = MAP_COUNT;
    format_set(out, 1, level_kind_at(LEVEL_dense), 0, 0);
    format_set(out, 2, level_kind_at(LEVEL_singleton), 1, 0);
}

static bool is(const char *name, size_t len, const char *word)
{
    return strlen(word) == len && !memcmp(word, name, len);
}

static bool builtin_plain(const char *name, size_t len, int order, format *out)
{
    for (int k = 0; k < COUNT(any_order); k++) {
        const struct any_order *a = &any_order[k];
        if (!is(name, len, a->name)) continue;
        if (order < (k > 0) || order > STC_MAX_ORDER) return false;
        format_all(out, order, kind_of_letter(a->first));
        if (order) out->level[order - 1].kind = kind_of_letter(a->last);
        return true;
    }
    for (int k = 0; k < COUNT(fixed_order); k++) {
        const struct fixed_order *x = &fixed_order[k];
        const int own = (int)strlen(x->letters);
        if (!is(name, len, x->name)) continue;
        if (order >= 0 && order != own) return false;
        format_init(out, own);
        for (int l = 0; l < own; l++) {
            format_set(out, l, kind_of_letter(x->letters[l]), x->mode[l], 0);
        }
        return true;
    }
    return is(name, len, "coo") && make_coo(order, out);
}

bool format_builtin(const char *name, size_t len, int order, const int64_t *args, int nargs,
                    format *out)
{
    if (nargs == 0 && builtin_plain(name, len, order, out)) return true;
    if (order >= 0 && order != 2) return false;
    if (nargs == 2 && is(name, len, "bcsr")) {
        return make_blocks("dsdd", args[0], args[1], out);
    }
    if (nargs == 2 && is(name, len, "csb")) {
        return make_blocks("dduq", args[0], args[1], out);
    }
    if (nargs == 0 && is(name, len, "dia")) {
        make_dia(out);
        return true;
    }
    if (nargs == 0 && is(name, len, "ell")) {
        make_ell(out);
        return true;
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
        format_set(out, l, kind_of_letter(s[l]), mode,
                   s[l] == 'u' || inner ? FMT_NONUNIQUE : 0);
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
    case MAP_DIV:
        text_add(out, "%c/%" PRId64, c, m->k);
        break;
    case MAP_MOD:
        text_add(out, "%c%%%" PRId64, c, m->k);
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

static void print_flags(unsigned flags, textbuf *out)
{
    static const char *const names[] = {"nonunique", "unordered", "index32", "index64",
                                        "interleaved"};
    const char *before = "(";
    for (int b = 0; b < COUNT(names); b++) {
        if (!(flags >> b & 1)) continue;
        text_add(out, "%s%s", before, names[b]);
        before = ", ";
    }
    if (flags) text_add(out, ")");
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
        text_add(out, " : %s", s->kind->name);
        print_flags(s->flags, out);
    }
    text_add(out, ")");
}

static bool named(const format *f, const char *name, const int64_t *args, int nargs)
{
    format b;
    return format_builtin(name, strlen(name), f->order, args, nargs, &b) &&
           format_equal(f, &b);
}

static const char *plain_name(const format *f)
{
    if (named(f, any_order[0].name, NULL, 0)) return any_order[0].name;
    for (int k = 0; k < COUNT(fixed_order); k++) {
        if (named(f, fixed_order[k].name, NULL, 0)) return fixed_order[k].name;
    }
    for (int k = 1; k < COUNT(any_order); k++) {
        if (named(f, any_order[k].name, NULL, 0)) return any_order[k].name;
    }
    static const char *const rest[] = {"coo", "dia", "ell"};
    for (int k = 0; k < COUNT(rest); k++) {
        if (named(f, rest[k], NULL, 0)) return rest[k];
    }
    return NULL;
}

void format_print(const format *f, textbuf *out)
{
    const char *name = plain_name(f);
    if (name) {
        text_add(out, "%s", name);
        return;
    }
    if (f->order == 2 && f->levels == 4) {
        const int64_t args[2] = {f->level[0].map.k, f->level[1].map.k};
        static const char *const blocks[] = {"bcsr", "csb"};
        for (int k = 0; k < COUNT(blocks); k++) {
            if (!named(f, blocks[k], args, 2)) continue;
            text_add(out, "%s(%" PRId64 ",%" PRId64 ")", blocks[k], args[0], args[1]);
            return;
        }
    }
    format_print_map(f, out);
}
