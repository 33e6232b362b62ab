/* in_parts.c: programs run in parts; see in_parts.h. */
#include "in_parts.h"
#include "../vm/fn/functions.h"
#include <stdlib.h>
#include <string.h>

enum { NAMES = 32 };

/* Entries of a tensor, as stc_tensor_from_coords takes them, but mode by mode later on. */
typedef struct entries {
    int order;
    int64_t n, room;
    int64_t *coord; /* an entry's coordinates follow each other */
    stc_value *value;
    const stc_split *cut; /* only those in the range */
    int64_t first, last;
    int fn; /* what comes again is combined by; -1 */
    stc_type type;
    const struct entries *along; /* or where these are: rows[k].along              */
} entries;

static void free_entries(entries *e)
{
    free(e->coord);
    free(e->value);
}

static int combine(entries *e, const int64_t *coords, stc_value v)
{
    for (int64_t k = 0; k < e->n; k++) {
        if (memcmp(&e->coord[k * e->order], coords, (size_t)e->order * sizeof *coords))
            continue;
        const value b = value_from_public(e->type, v);
        value a = value_from_public(e->type, e->value[k]);
        fn_scalar_of(e->fn, type_class(e->type))(&a, &a, &b, NULL);
        e->value[k] = value_to_public(e->type, a);
        return 1;
    }
    return 0;
}

static bool needed(const entries *e, int64_t at)
{
    if (at >= e->first && at <= e->last) return true;
    for (int64_t k = 0; e->along && k < e->along->n; k++)
        if (e->along->coord[k * e->along->order + e->cut->along_mode] == at) return true;
    return false;
}

static int take(void *context, const int64_t *coords, stc_value v)
{
    entries *e = context;
    if (e->cut && !needed(e, coords[e->cut->mode])) return 0;
    if (e->fn >= 0 && combine(e, coords, v)) return 0;
    if (e->n == e->room) {
        e->room = e->room ? 2 * e->room : 64;
        e->coord = realloc(e->coord, (size_t)(e->room * (e->order + 1)) * sizeof *coords);
        e->value = realloc(e->value, (size_t)e->room * sizeof v);
    }
    memcpy(&e->coord[e->n * e->order], coords, (size_t)e->order * sizeof *coords);
    e->value[e->n++] = v;
    return 0;
}

static stc_status collect(const stc_tensor *t, entries *e)
{
    e->order = stc_tensor_order(t);
    return stc_tensor_visit(t, take, e);
}

/* A tensor like t with other entries. */
static stc_status make(stc_machine *m, const stc_tensor *t, const entries *e,
                       stc_tensor **out)
{
    const stc_value fill = stc_tensor_fill(t);
    const char *const format = stc_tensor_format(t);
    stc_builder *b;
    if (!*format) return STC_ERR_MEMORY;
    stc_status st = stc_builder_open(m, format, stc_tensor_type(t), stc_tensor_order(t),
                                     stc_tensor_shape(t), &fill, NULL, &b);
    if (st) return st;
    for (int64_t k = 0; k < e->n && !st; k++) {
        char one[16];
        type_store(stc_tensor_type(t), one, 0,
                   value_from_public(stc_tensor_type(t), e->value[k]));
        st = stc_builder_put(b, &e->coord[k * e->order], one);
    }
    if (!st) st = stc_builder_finish(b, out);
    stc_builder_free(b);
    return st;
}

static void range(const stc_split *s, int64_t lo, int64_t hi, entries *e)
{
    e->fn = -1;
    if (s->how != STC_SPLIT_CUT && !s->along) return;
    e->cut = s;
    e->first = s->coef * lo + s->before;
    e->last = hi > lo && s->coef ? s->coef * (hi - 1) + s->after : e->first - 1;
}

/* What a part needs of operands: those first that others are needed along. */
static stc_status narrow(const parts *x, const stc_split *rows, int n, const int64_t *bound,
                         stc_program *part, stc_tensor **own)
{
    entries e[NAMES] = {0};
    stc_status st = STC_OK;
    for (int k = 0; k < 2 * n && !st; k++) {
        const int j = k % n;
        if (rows[j].is_result || (rows[j].along != NULL) != (k >= n)) continue;
        stc_tensor *t = x->operand(x->context, rows[j].name);
        if (!t) continue;
        range(&rows[j], bound[0], bound[1], &e[j]);
        for (int a = 0; a < n && rows[j].along; a++)
            if (!rows[a].is_result && !strcmp(rows[a].name, rows[j].along) &&
                !rows[a].along)
                e[j].along = &e[a];
        if (rows[j].along && !e[j].along) e[j].cut = NULL;
        if (!(st = collect(t, &e[j])))
            st = make(stc_program_machine(x->p), t, &e[j], &own[j]);
        if (!st) st = stc_bind(part, rows[j].name, own[j]);
    }
    for (int j = 0; j < n; j++)
        free_entries(&e[j]);
    return st;
}

static stc_status run_part(const parts *x, const stc_split *rows, int n, int k,
                           const stc_split *target, entries *all, stc_tensor **like)
{
    stc_tensor *own[NAMES] = {NULL};
    const int64_t lo = x->bound[k], hi = x->bound[k + 1];
    stc_program *part = NULL;
    stc_status st = stc_program_part(x->p, x->name, x->mode, lo, hi, &part);
    if (!st) st = narrow(x, rows, n, &x->bound[k], part, own);
    const stc_tensor *made;
    if (!st) st = stc_run(part);
    if (!st) st = stc_result(part, target->name, &made);
    if (!st && (target->how != STC_SPLIT_WHOLE || k == 0)) {
        const int fn = all->fn;
        range(target, lo, hi, all);
        all->fn = fn;
        all->type = stc_tensor_type(made);
        st = collect(made, all);
        if (!st && !*like) st = stc_take(part, target->name, like);
    }
    stc_program_free(part);
    for (int j = 0; j < n; j++)
        stc_tensor_free(own[j]);
    return st;
}

stc_status run_in_parts(const parts *x, const char *target, stc_tensor **out)
{
    stc_split rows[NAMES];
    entries all = {.fn = -1};
    stc_tensor *like = NULL;
    int n = 0, at = -1;
    stc_status st = stc_program_split(x->p, x->name, x->mode, rows, NAMES, &n);
    for (int k = 0; k < n && !st; k++)
        if (rows[k].is_result && strcmp(rows[k].name, target) == 0) at = k;
    if (st) return st;
    if (rows[at].how == STC_SPLIT_REDUCE)
        all.fn = fn_named(rows[at].fn, strlen(rows[at].fn), -1);
    for (int k = 0; k < x->count && !st; k++)
        st = run_part(x, rows, n, k, &rows[at], &all, &like);
    if (!st) st = make(stc_program_machine(x->p), like, &all, out);
    free_entries(&all);
    stc_tensor_free(like);
    return st;
}
