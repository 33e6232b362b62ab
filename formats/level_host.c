/* level_host.c: level kinds that the host registers at run time.
 *
 * Takes a stc_level_kind and gives a level_kind whose functions call the
 * host's, over a view of the level made for the call. The kinds of a machine
 * are a list, a part of its context; level_kind_find looks them up by name.
 */
#include "kinds.h"
#include <string.h>

typedef struct host_kind {
    level_kind kind; /* first: a level's kind is one of these */
    stc_level_kind host;
    struct host_kind *next;
    char name[64];
} host_kind;

/* The list is a part of the machine's context. */
typedef struct host_kinds {
    host_kind *first;
} host_kinds;

static void kinds_end(ctx *cx, void *part)
{
    host_kinds *all = part;
    while (all->first) {
        host_kind *h = all->first;
        all->first = h->next;
        mem_free(cx, h, sizeof *h);
    }
}

static const part_kind kinds_kind = {sizeof(host_kinds), kinds_end};

static const host_kind *first_of(const ctx *cx)
{
    const host_kinds *all = ctx_has_part(cx, &kinds_kind);
    return all ? all->first : NULL;
}

static const stc_level_kind *host_of(const level *lv)
{
    return &((const host_kind *)lv->kind)->host;
}

/* What `internal` points to while the host assembles or checks. */
typedef struct assembly {
    ctx *cx;
    level *lv;
} assembly;

static void show(const level *lv, int64_t parents, assembly *as, stc_level *out)
{
    *out = (stc_level){.base = lv->base,
                       .extent = lv->extent,
                       .parents = parents,
                       .size = lv->size,
                       .internal = as};
    for (int r = 0; r < 3; r++) {
        const index_array *a = &lv->a[r];
        out->array[r] = (stc_array){a->data, a->len, a->width, a->stride};
    }
}

/* ---- reading ----------------------------------------------------------------------- */

static void host_seek(cursor *c, int64_t i)
{
    const stc_level_kind *h = host_of(c->lv);
    stc_level lv;
    stc_interval found;
    if (c->lo == CURSOR_END) return;
    show(c->lv, NONE, NULL, &lv);
    if (!h->seek(h->context, &lv, c->p, i, &found)) {
        cursor_used_up(c);
        return;
    }
    c->lo = found.lo;
    c->hi = found.hi;
    c->pos = found.position;
    c->pos_end = found.position + 1;
}

static void host_open(cursor *c, const level *lv, const cursor *up)
{
    if (!fiber_opens(c, lv, up, &c->p)) return;
    c->lo = c->hi = lv->base;
    host_seek(c, lv->base);
}

static void host_next(cursor *c)
{
    host_seek(c, c->hi);
}

static void host_locate(cursor *c, const level *lv, const cursor *up, int64_t i)
{
    const stc_level_kind *h = host_of(lv);
    int64_t parent, end, p = NONE;
    stc_level view;
    if (parent_range(up, &parent, &end) && in_extent(lv, i)) {
        show(lv, NONE, NULL, &view);
        p = h->locate(h->context, &view, parent, i);
    }
    cursor_place(c, lv, up, i, p < 0 ? NONE : p);
}

static int64_t host_locate_many(const level *lv, int64_t parent, const void *crd,
                                int32_t width, int32_t stride, int64_t n, int64_t *pos)
{
    const stc_level_kind *h = host_of(lv);
    stc_level view;
    int64_t count = 0;
    show(lv, NONE, NULL, &view);
    for (int64_t k = 0; k < n; k++) {
        const int64_t i = crd_at(crd, width, stride, k);
        const int64_t p = in_extent(lv, i) ? h->locate(h->context, &view, parent, i) : NONE;
        pos[k] = p < 0 ? NONE : p;
        count += p >= 0;
    }
    return count;
}

/* ---- assembly and checks ------------------------------------------------------------- */

static stc_status settled(ctx *cx, level *lv, const stc_level *view, stc_status st)
{
    if (st) {
        if (cx->diag.status == STC_OK) {
            return fail(cx, st, "the level kind `%s` refused: %s", lv->kind->name,
                        stc_status_name(st));
        }
        return cx->diag.status;
    }
    if (view->size < 0) {
        return fail(cx, STC_ERR_DATA, "the level kind `%s` counts %lld positions",
                    lv->kind->name, (long long)view->size);
    }
    lv->size = view->size;
    return STC_OK;
}

static stc_status host_pack(ctx *cx, level *lv, pack_in *in)
{
    const stc_level_kind *h = host_of(lv);
    assembly as = {cx, lv};
    stc_level view;
    int64_t *mine = NULL, n = 0;
    /* Entries with one coordinate but different ones below it are one here. */
    show(lv, in->parents, &as, &view);
    int64_t *coord = mem_array(cx, in->count, sizeof *coord);
    if (coord) mine = mem_array(cx, in->count, sizeof *mine);
    stc_status st = mine ? STC_OK : STC_ERR_MEMORY;
    for (int64_t e = 0; !st && e < in->count; e++) {
        if (n && mine[n - 1] == in->pos[e] && coord[n - 1] == in->coord[e]) continue;
        mine[n] = in->pos[e];
        coord[n++] = in->coord[e];
    }
    const size_t bytes = (size_t)in->count * sizeof *coord;
    int64_t *parent = NULL;
    if (!st && !(parent = mem_array(cx, in->count, sizeof *parent))) st = STC_ERR_MEMORY;
    if (!st) {
        memcpy(parent, mine, (size_t)n * sizeof *parent);
        st = settled(cx, lv, &view, h->pack(h->context, &view, n, coord, mine));
        if (!st) st = settled(cx, lv, &view, STC_OK);
    }
    for (int64_t e = 0, k = -1; !st && e < in->count; e++) {
        if (k < 0 || parent[k] != in->pos[e] || coord[k] != in->coord[e]) k++;
        in->pos[e] = mine[k];
        if (mine[k] < 0 || mine[k] >= lv->size) {
            st = fail(cx, STC_ERR_DATA, "the level kind `%s` gave position %lld of %lld",
                      lv->kind->name, (long long)mine[k], (long long)lv->size);
        }
    }
    mem_free(cx, parent, bytes);
    mem_free(cx, mine, bytes);
    mem_free(cx, coord, bytes);
    return st;
}

static stc_status host_check(ctx *cx, level *lv, int64_t parents)
{
    const stc_level_kind *h = host_of(lv);
    assembly as = {cx, lv};
    stc_level view;
    for (int r = 0; r < 3; r++) {
        if (lv->kind->arrays >> r & 1 && check_array(cx, &lv->a[r], "an array", -1)) {
            return cx->diag.status;
        }
    }
    show(lv, parents, &as, &view);
    const stc_status st = h->check(h->context, &view);
    return settled(cx, lv, &view, st);
}

void *stc_level_array(stc_level *lv, stc_array_role role, int width, int64_t length)
{
    const assembly *as = lv ? lv->internal : NULL;
    if (!as || (unsigned)role > STC_AUX || !(as->lv->kind->arrays >> role & 1) ||
        (width != 4 && width != 8) || length < 0) {
        return NULL;
    }
    index_array *a = &as->lv->a[role];
    if (index_ready(as->cx, a, 0, width, length ? length : 1)) return NULL;
    a->len = length;
    lv->array[role] = (stc_array){a->data, a->len, a->width, a->stride};
    return a->data;
}

stc_status stc_level_fail(stc_level *lv, stc_status status, const char *message)
{
    const assembly *as = lv ? lv->internal : NULL;
    return as ? fail(as->cx, status, "%s", message) : status;
}

/* ---- the list ------------------------------------------------------------------------ */

const level_kind *level_kind_find(const ctx *cx, const char *name, size_t len, bool takes)
{
    const level_kind *k = level_kind_named(name, len, takes);
    for (const host_kind *h = k || takes ? NULL : first_of(cx); h && !k; h = h->next) {
        if (strlen(h->name) == len && !memcmp(h->name, name, len)) k = &h->kind;
    }
    return k;
}

const level_kind *level_kind_host(const ctx *cx, int i)
{
    const host_kind *h = first_of(cx);
    for (; h && i > 0; i--)
        h = h->next;
    return h ? &h->kind : NULL;
}

static stc_status refused(ctx *cx, const stc_level_kind *k)
{
    const char *why = NULL;
    if (!k->name || !k->seek || !k->pack || !k->check) {
        why = "it needs a name, seek, pack and check";
    } else if (!(k->arrays & 7) || k->arrays > 7) {
        why = "it needs at least one of the three arrays";
    } else if (level_kind_find(cx, k->name, strlen(k->name), false)) {
        why = "there is a level kind of that name already";
    } else {
        why = host_name_fault(k->name, sizeof((host_kind *)0)->name);
    }
    return why ? fail(cx, STC_ERR_ARGUMENT, "the level kind can't be registered: %s", why)
               : STC_OK;
}

stc_status level_kind_register(ctx *cx, const stc_level_kind *kind)
{
    if (refused(cx, kind)) return cx->diag.status;
    host_kinds *all = ctx_part(cx, &kinds_kind);
    host_kind *h = all ? mem_zero(cx, 1, sizeof *h) : NULL;
    if (!h) return cx->diag.status;
    h->host = *kind;
    memcpy(h->name, kind->name, strlen(kind->name));
    h->host.name = h->name;
    const uint32_t always = PROP_ORDERED | PROP_UNIQUE;
    const uint32_t props = always | (kind->flags & STC_KIND_FULL ? PROP_FULL : 0) |
                           (kind->flags & STC_KIND_COMPACT ? PROP_COMPACT : 0);
    h->kind = (level_kind){
        .name = h->name,
        .caps =
            CAP_ITER | CAP_SEEK | CAP_PACK | CAP_SUBSECT | (kind->locate ? CAP_LOCATE : 0),
        .props = props,
        .fixed = props,
        .arrays = (uint8_t)kind->arrays,
        .open = host_open,
        .next = host_next,
        .seek = host_seek,
        .locate = kind->locate ? host_locate : NULL,
        .locate_many = kind->locate ? host_locate_many : NULL,
        .view = no_view,
        .size = segments_size,
        .pack = host_pack,
        .check = host_check,
    };
    h->next = all->first;
    all->first = h;
    return STC_OK;
}
