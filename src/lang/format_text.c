/* format_text.c: formats as written → formats (formats/format.h).
 *
 * A name is looked up among the user's formats, the built-in ones, and TACO's
 * short strings, in this order. A map's coordinates are the few forms that
 * levels know: i, i-j, #i, flat(i,j), and i with `/` and `%` behind it, as many as there
 * are, which come to floor(i / k) mod n.
 */
#include "parser.h"
#include "scope.h"

#include <stdio.h>
#include <string.h>

/* What the names in a map stand for. */
typedef struct map_names {
    const source *src;
    const ast *modes, *params; /* NAMES; params may be NULL */
    const ast *args;           /* of the use: INTs, as many as params */
} map_names;

static stc_status bad(const source *src, const ast *at, const char *what, const char *name)
{
    return fail_source(src, STC_ERR_PROGRAM, at->at, what, name);
}

static int name_position(const ast *names, const char *name)
{
    for (int i = 0; names && i < names->count; i++)
        if (!strcmp(names->child[i]->name, name)) return i;
    return -1;
}

static stc_status map_mode(const map_names *m, const ast *e, uint8_t *out)
{
    const int mode =
        e->kind == N_NAME || e->kind == N_COUNT ? name_position(m->modes, e->name) : -1;
    if (mode < 0) return bad(m->src, e, "expected one of the format's modes here", "");
    *out = (uint8_t)mode;
    return STC_OK;
}

static stc_status map_number(const map_names *m, const ast *e, int64_t *out)
{
    int64_t k = 0;
    const int param = e->kind == N_NAME ? name_position(m->params, e->name) : -1;
    if (e->kind == N_INT)
        k = (int64_t)e->u;
    else if (param >= 0)
        k = m->args ? (int64_t)m->args->child[param]->u : 1;
    if (k < 1)
        return bad(m->src, e,
                   "expected a positive integer or a parameter of the format here", "");
    *out = k;
    return STC_OK;
}

static const char MAP_FORMS[] =
    "a level's coordinate is i, i/k, i%%k, i/k%%n, i-j, #i or flat(i,j)%s";

static stc_status map_flat(const map_names *m, const ast *e, level_map *out)
{
    out->op = MAP_FLAT;
    out->modes = (uint8_t)e->count;
    for (int i = 0; i < e->count; i++) {
        uint8_t mode = 0;
        const stc_status status = map_mode(m, e->child[i], &mode);
        if (status != STC_OK) return status;
        if (i == 0) out->mode = mode;
        if (mode != out->mode + i)
            return bad(m->src, e->child[i],
                       "flat takes modes that follow each other, in order", "");
    }
    return STC_OK;
}

/* What `/ by` or `% by` makes of a part of a mode: the same as one part, if one number
 * divides the other. */
static stc_status part_of(const map_names *m, const ast *e, int64_t by, level_map *out)
{
    const bool wraps = e->op == OPR_MOD;
    const int64_t k = out->k, n = out->n;
    if (n && n % by && !(wraps && by % n == 0))
        return fail_source(m->src, STC_ERR_PROGRAM, e->child[1]->at,
                           "%lld parts can't be taken %lld together: expected a divisor",
                           (long long)n, (long long)by);
    if (!wraps && k > INT64_MAX / by)
        return bad(m->src, e->child[1], "this divides by more than 2^63", "");
    if (!wraps) *out = map_part(out->mode, k * by, n / by);
    if (wraps && (!n || by < n)) out->n = by;
    return STC_OK;
}

/* i, then each / and % from the left. */
static stc_status map_parts(const map_names *m, const ast *e, level_map *out)
{
    int64_t by = 0;
    if (e->kind == N_NAME) {
        *out = map_part(0, 1, 0);
        return map_mode(m, e, &out->mode);
    }
    if (e->kind != N_BINARY ||
        (e->op != OPR_DIV && e->op != OPR_FLOORDIV && e->op != OPR_MOD))
        return bad(m->src, e, MAP_FORMS, "");
    stc_status status = map_parts(m, e->child[0], out);
    if (status == STC_OK) status = map_number(m, e->child[1], &by);
    return status == STC_OK ? part_of(m, e, by, out) : status;
}

static stc_status map_coordinate(const map_names *m, const ast *e, level_map *out)
{
    *out = (level_map){.op = MAP_MODE};
    stc_status status = STC_OK;
    switch (e->kind) {
    case N_NAME:
        return map_mode(m, e, &out->mode);
    case N_COUNT:
        out->op = MAP_COUNT;
        return map_mode(m, e, &out->mode);
    case N_CALL:
        if (!strcmp(e->name, "flat")) return map_flat(m, e, out);
        break;
    case N_BINARY:
        if (e->op == OPR_SUB) {
            out->op = MAP_DIFF;
            status = map_mode(m, e->child[0], &out->mode);
            return status == STC_OK ? map_mode(m, e->child[1], &out->mode2) : status;
        }
        return map_parts(m, e, out);
    default:
        break;
    }
    return bad(m->src, e, MAP_FORMS, "");
}

/* The properties of a level that its kind and its data have, whatever a format says. */
static bool is_followed(const char *name)
{
    static const char *const word[] = {"full", "ordered", "unique", "branchless",
                                       "compact"};
    for (unsigned k = 0; k < sizeof word / sizeof *word; k++)
        if (!strcmp(word[k], name)) return true;
    return false;
}

/* The names from number `from` on. */
static stc_status map_flags(const map_names *m, const ast *names, int from, uint8_t *out)
{
    static const struct {
        const char *name;
        uint8_t bit;
    } flag[] = {{"nonunique", FMT_NONUNIQUE},
                {"unordered", FMT_UNORDERED},
                {"index32", FMT_INDEX32},
                {"index64", FMT_INDEX64},
                {"interleaved", FMT_INTERLEAVED}};
    *out = 0;
    for (int i = from; names && i < names->count; i++) {
        unsigned k = 0;
        while (k < sizeof flag / sizeof *flag &&
               strcmp(flag[k].name, names->child[i]->name))
            k++;
        if (k == sizeof flag / sizeof *flag)
            return bad(
                m->src, names->child[i],
                is_followed(names->child[i]->name)
                    ? "`%s` follows from a level's kind and its data; a format says "
                      "nonunique, unordered, index32, index64, interleaved"
                    : "`%s` is no property of a level (nonunique, unordered, index32, "
                      "index64, interleaved)",
                names->child[i]->name);
        *out |= flag[k].bit;
    }
    return STC_OK;
}

static stc_status no_kind(const map_names *m, const ast *node)
{
    suggestion near;
    char text[96], kinds[160] = "";
    if (level_kind_find(m->src->cx, node->name, strlen(node->name), false))
        return bad(m->src, node, "levels of kind `%s` take no number", node->name);
    suggest_begin(&near, node->name);
    for (int i = 0; i < LEVEL_COUNT; i++) {
        const level_kind *const k = level_kind_at(i);
        const size_t at = strlen(kinds);
        suggest_try(&near, k->name);
        snprintf(kinds + at, sizeof kinds - at, "%s%s%s%s%s", i ? ", " : "", k->name,
                 k->takes ? "(" : "", k->takes ? k->takes : "", k->takes ? ")" : "");
    }
    return fail_source(m->src, STC_ERR_PROGRAM, node->at, "`%s` is no kind of level (%s)%s",
                       node->name, kinds, suggest_text(&near, text, sizeof text));
}

static stc_status map_level(const map_names *m, const ast *node, level_spec *out)
{
    const ast *const words = node->child[1];
    const ast *const first = words && words->count ? words->child[0] : NULL;
    const bool number =
        first && (first->kind == N_INT || name_position(m->params, first->name) >= 0);
    out->kind = level_kind_find(m->src->cx, node->name, strlen(node->name), number);
    if (!out->kind) return no_kind(m, node);
    stc_status status = map_coordinate(m, node->child[0], &out->map);
    if (status == STC_OK && number) status = map_number(m, first, &out->number);
    if (status == STC_OK) status = map_flags(m, words, number, &out->flags);
    out->flags = level_flags(out->kind, out->flags);
    return status;
}

static stc_status check_format(const source *src, const ast *node, const format *f)
{
    char why[256];
    if (format_valid(f, why, sizeof why)) return STC_OK;
    return bad(src, node, "this can't be a format: %s", why);
}

static stc_status map_format(const map_names *m, const ast *map, format *out)
{
    format f;
    memset(&f, 0, sizeof f);
    f.order = map->child[0]->count;
    f.levels = map->count - 1;
    if (f.order > STC_MAX_ORDER || f.levels > STC_MAX_ORDER)
        return fail_source(m->src, STC_ERR_PROGRAM, map->at,
                           "a format has at most %d modes and levels", STC_MAX_ORDER);
    for (int i = 0; i < f.order; i++)
        if (name_position(m->modes, m->modes->child[i]->name) < i)
            return bad(m->src, m->modes->child[i], "the mode `%s` is named twice",
                       m->modes->child[i]->name);
    for (int l = 0; l < f.levels; l++) {
        const stc_status status = map_level(m, map->child[l + 1], &f.level[l]);
        if (status != STC_OK) return status;
    }
    if (check_format(m->src, map, &f)) return m->src->cx->diag.status;
    *out = f;
    return STC_OK;
}

/* ---- uses ------------------------------------------------------------------------ */

/* An open format keeps its name in the map of level 0, where no level uses it. */
#define OPEN_NAME_MAX 8

bool format_is_open(const format *f)
{
    return f->order < 0;
}

static bool format_open(const char *name, size_t len, format *out)
{
    format probe;
    if (len > OPEN_NAME_MAX || !format_builtin(name, len, 1, NULL, 0, &probe) ||
        !format_builtin(name, len, 3, NULL, 0, &probe))
        return false;
    memset(out, 0, sizeof *out);
    out->order = -1;
    memcpy(&out->level[0].map.k, name, len);
    return true;
}

bool format_close(format *f, int order)
{
    if (!format_is_open(f)) return f->order == order;
    char name[OPEN_NAME_MAX + 1] = "";
    memcpy(name, &f->level[0].map.k, OPEN_NAME_MAX);
    return format_builtin(name, strlen(name), order, NULL, 0, f);
}

static stc_status unknown_format(const scope *s, const source *src, const ast *node)
{
    suggestion near;
    char text[96];
    format any;
    suggest_begin(&near, node->name);
    const definition *d;
    for (int i = 0; s && (d = scope_definition_at(s, N_FORMAT, i)) != NULL; i++)
        suggest_try(&near, d->name);
    for (int i = 0; format_name_at(i); i++)
        suggest_try(&near, format_name_at(i));
    const int64_t args[2] = {2, 2};
    for (int n = 0; n <= 2; n++)
        if (format_builtin(node->name, strlen(node->name), -1, args, n, &any) ||
            format_builtin(node->name, strlen(node->name), 2, args, n, &any)) {
            if (n == node->count && n > 0)
                return bad(src, node, "a format's argument is a positive integer", "");
            return fail_source(src, STC_ERR_PROGRAM, node->at,
                               "the format `%s` takes %d arguments, not %d", node->name, n,
                               node->count);
        }
    return fail_source(src, STC_ERR_PROGRAM, node->at, "there is no format `%s`%s",
                       node->name, suggest_text(&near, text, sizeof text));
}

static stc_status user_format(const definition *d, const source *src, const ast *node,
                              format *out)
{
    const ast *const params = d->node->child[0], *const map = d->node->child[1];
    const int wanted = params ? params->count : 0;
    if (node->count != wanted)
        return fail_source(src, STC_ERR_PROGRAM, node->at,
                           "the format `%s` takes %d arguments, not %d", node->name, wanted,
                           node->count);
    for (int i = 0; i < wanted; i++)
        if ((int64_t)node->child[i]->u < 1)
            return bad(src, node->child[i], "a format's argument is a positive integer",
                       "");
    const map_names m = {&d->src, map->child[0], params, node};
    return map_format(&m, map, out);
}

static stc_status short_format(const source *src, const ast *node, format *out)
{
    int modes[STC_MAX_ORDER];
    const size_t len = strlen(node->name);
    for (int i = 0; i < node->count && i < STC_MAX_ORDER; i++)
        modes[i] =
            node->child[i]->u < STC_MAX_ORDER ? (int)node->child[i]->u : STC_MAX_ORDER;
    if ((size_t)node->count != len || len > STC_MAX_ORDER ||
        !format_short(node->name, len, modes, out))
        return fail_source(
            src, STC_ERR_PROGRAM, node->at,
            "a short format is one of the letters d, s, q, u for each level, then "
            "the mode of each, as in dss:1,0,2");
    return STC_OK;
}

static stc_status named_format(const scope *s, const source *src, const ast *node,
                               int order, format *out)
{
    const size_t len = strlen(node->name);
    const definition *const d = s ? scope_find(s, node->name, N_FORMAT) : NULL;
    int64_t args[8];
    if (d) return user_format(d, src, node, out);
    if (node->count > 8) return unknown_format(s, src, node);
    for (int i = 0; i < node->count; i++)
        args[i] = (int64_t)node->child[i]->u;
    if (node->count == 0 && format_open(node->name, len, out)) {
        if (order < 0 || format_close(out, order)) return STC_OK;
    } else if (format_builtin(node->name, len, -1, args, node->count, out) ||
               (order >= 0 &&
                format_builtin(node->name, len, order, args, node->count, out)) ||
               (node->count == 0 && format_short(node->name, len, NULL, out))) {
        return check_format(src, node, out);
    }
    return unknown_format(s, src, node);
}

stc_status scope_format(const scope *s, const source *src, const ast *node, int order,
                        format *out)
{
    format f;
    stc_status status;
    if (node->kind == N_MAP) {
        const map_names m = {src, node->child[0], NULL, NULL};
        status = map_format(&m, node, &f);
    } else if (node->kind == N_SHORT) {
        status = short_format(src, node, &f);
    } else {
        status = named_format(s, src, node, order, &f);
    }
    if (status != STC_OK) return status;
    if (order >= 0 && f.order != order)
        return fail_source(
            src, STC_ERR_PROGRAM, node->at,
            "this format is for tensors of order %d, and the tensor has order %d", f.order,
            order);
    *out = f;
    return STC_OK;
}

stc_status format_parse(ctx *cx, const scope *s, const char *text, int order, format *out)
{
    arena a;
    parser p;
    const source src = {.cx = cx, .file = "", .text = text};
    arena_init(&a, cx);
    if (!parser_init(&p, &a, &src, 0)) return cx->diag.status;
    const ast *node = parse_format_use(&p);
    if (node && !parse_at(&p, T_END)) node = parse_expected(&p, "the end of the format");
    const stc_status status =
        node ? scope_format(s, &src, node, order, out) : cx->diag.status;
    parser_done(&p);
    arena_free(&a);
    return status;
}
