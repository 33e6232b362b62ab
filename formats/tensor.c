/* tensor.c: making, emptying, assembling, copying and freeing tensors.
 *
 * A tensor owns what it allocated and borrows what the host lent; every array
 * knows which. Buffers that are owned are kept from one assembly to the next.
 */
#include "internal.h"
#include <string.h>

enum { FEW_VALUES = 512, FILL_BLOCK = 1 << 17 };

static void free_arrays(tensor *t)
{
    for (int l = 0; l < t->fmt.levels; l++) {
        for (int r = 0; r < 3; r++)
            index_free(t->cx, &t->level[l].a[r]);
    }
    if (t->vals_owned) mem_free(t->cx, t->vals, (size_t)t->vals_cap * type_size(t->type));
    t->vals = NULL;
    t->nvals = t->vals_cap = 0;
}

void tensor_free(tensor *t)
{
    if (!t) return;
    if (t->sharers) {
        t->sharers--;
        return;
    }
    free_arrays(t);
    tensor_leave_pattern(t);
    mem_strfree(t->cx, t->fmt_text);
    stains_free(t);
    if (t->backing) t->backing->end(t->cx, t->backing);
    if (t->release) t->release(t->release_context);
    mem_free(t->cx, t, sizeof *t);
}

stc_status fail_level(const tensor *t, int l, stc_status status)
{
    char said[sizeof t->cx->diag.message];
    memcpy(said, t->cx->diag.message, sizeof said);
    return fail(t->cx, status, "level %d (%s): %s", l, t->fmt.level[l].kind->name, said);
}

/* ---- shapes ----------------------------------------------------------------------- */

/* Where a computed level finds the difference and the other mode. */
static void set_implied(tensor *t, int l)
{
    level *lv = &t->level[l];
    const level_kind *k = lv->kind;
    int diff, other;
    if (k->arrays || k->props & PROP_FULL || !format_implied(&t->fmt, l, &diff, &other))
        return;
    const level_map *d = &t->fmt.level[diff].map, *m = &t->fmt.level[l].map;
    const bool minuend = d->mode == m->mode; /* this level's mode is a of a - b */
    if (k->props & PROP_BRANCHLESS) {
        lv->param[0] = minuend ? l - diff : diff - l;
        lv->param[1] = l - other;
    } else {
        lv->param[0] = t->shape[minuend ? d->mode2 : d->mode];
        lv->param[1] = minuend ? diff - l : l - diff;
    }
}

static stc_status set_level(tensor *t, int l)
{
    level *lv = &t->level[l];
    const level_spec *s = &t->fmt.level[l];
    lv->kind = s->kind;
    lv->param[0] = s->number;
    lv->props = format_props(&t->fmt, l);
    lv->width = s->flags & FMT_INDEX32 ? 4 : s->flags & FMT_INDEX64 ? 8 : 0;
    if (!map_bounds(&s->map, t->shape, &lv->base, &lv->extent)) {
        return fail(t->cx, STC_ERR_OVERFLOW, "level %d (%s): its extent is beyond 64 bits",
                    l, s->kind->name);
    }
    if (lv->width == 4 &&
        (lv->base < INT32_MIN + 1 || lv->base + lv->extent - 1 > INT32_MAX)) {
        return fail(t->cx, STC_ERR_OVERFLOW,
                    "level %d (%s): coordinates up to %lld don't fit its index32", l,
                    s->kind->name, (long long)(lv->base + lv->extent - 1));
    }
    set_implied(t, l);
    return STC_OK;
}

stc_status tensor_set_shape(tensor *t, const int64_t *shape)
{
    for (int m = 0; m < t->order; m++) {
        if (shape[m] >= 0 && shape[m] < (int64_t)1 << 61) continue;
        return fail(t->cx, STC_ERR_SHAPE, "mode %d has extent %lld, expected 0 to 2^61 - 1",
                    m, (long long)shape[m]);
    }
    if (t->order) memmove(t->shape, shape, (size_t)t->order * sizeof *shape);
    for (int l = 0; l < t->fmt.levels; l++) {
        if (set_level(t, l)) return t->cx->diag.status;
    }
    return STC_OK;
}

stc_status tensor_new(ctx *cx, const format *f, stc_type type, const int64_t *shape,
                      value fill, tensor **out)
{
    char why[256];
    if (!format_valid(f, why, sizeof why)) return fail(cx, STC_ERR_ARGUMENT, "%s", why);
    tensor *t = mem_zero(cx, 1, sizeof *t);
    if (!t) return cx->diag.status;
    t->cx = cx;
    t->fmt = *f;
    t->type = type;
    t->order = f->order;
    t->fill = type_round(type, fill);
    t->vals_owned = true;
    for (int l = 0; l < f->levels; l++) {
        for (int r = 0; r < 3; r++)
            index_init(&t->level[l].a[r], 0, 0);
    }
    entries none;
    entries_init(&none, cx, t->order, type);
    if (tensor_set_shape(t, shape) || tensor_pack(t, &none)) {
        tensor_free(t);
        return cx->diag.status;
    }
    *out = t;
    return STC_OK;
}

stc_status tensor_new_unmade(ctx *cx, const format *f, stc_type type, const int64_t *shape,
                             value fill, tensor **out)
{
    const int64_t none[STC_MAX_ORDER] = {0};
    int64_t n;
    tensor *t;
    if (!size_product(shape, f->order, &n) || !f->order || n == 0)
        return tensor_new(cx, f, type, shape, fill, out); /* which says what is wrong */
    stc_status st = tensor_new(cx, f, type, none, fill, &t);
    if (st) return st;
    if ((st = tensor_set_shape(t, shape))) {
        tensor_free(t);
        return st;
    }
    t->unmade = true;
    t->generation++;
    *out = t;
    return STC_OK;
}

/* ---- assembly ------------------------------------------------------------------------ */

void tensor_reset(tensor *t)
{
    for (int l = 0; l < t->fmt.levels; l++) {
        level *lv = &t->level[l];
        for (int r = 0; lv->kind->arrays && r < 3; r++) {
            index_array *a = &lv->a[r];
            if (!a->owned || a->stride != a->width) index_free(t->cx, a);
            a->len = 0;
        }
        lv->size = lv->open_count = lv->edges = 0;
    }
    tensor_leave_pattern(t);
    if (!t->vals_owned && !t->vals_room) {
        t->vals = NULL;
        t->vals_cap = 0;
        t->vals_owned = true;
    }
    t->nvals = 0;
    t->vouched = t->unmade = false;
    if (t->backing) t->backing->left = true;
    t->generation++;
}

bool tensor_unique(const tensor *t, int l)
{
    for (int k = 0; k <= l; k++)
        if (!(t->level[k].props & PROP_UNIQUE)) return false;
    return true;
}

/* The host's room isn't enough: an array of its own. */
static __attribute__((noinline)) stc_status outgrow_room(tensor *t, int64_t n)
{
    void *own = mem_array(t->cx, n, type_size(t->type));
    if (!own) return t->cx->diag.status;
    const int64_t had = t->nvals;
    if (had) memcpy(own, t->vals, (size_t)had * type_size(t->type));
    tensor_leave_room(t);
    t->vals = own;
    t->vals_cap = n;
    t->nvals = had;
    return STC_OK;
}

stc_status tensor_reserve_values(tensor *t, int64_t n)
{
    if (t->vals_room && n > t->vals_cap) return outgrow_room(t, n);
    return mem_grow(t->cx, &t->vals, &t->vals_cap, n, type_size(t->type));
}

/* Marks of what was stored into are no use: the host may write there, too. */
void tensor_give_room(tensor *t, void *vals, int64_t n)
{
    if (t->vals_owned) mem_free(t->cx, t->vals, (size_t)t->vals_cap * type_size(t->type));
    stains_free(t);
    t->stains.never = true;
    t->vals = vals;
    t->vals_cap = n;
    t->nvals = 0;
    t->vals_owned = false;
    t->vals_room = true;
}

void tensor_leave_room(tensor *t)
{
    t->stains.never = false;
    t->vals = NULL;
    t->nvals = t->vals_cap = 0;
    t->vals_owned = true;
    t->vals_room = false;
}

stc_status tensor_extend_values(tensor *t, int64_t n)
{
    if (n <= t->nvals) return STC_OK;
    if (n < t->few) n = t->few;
    if (n > t->vals_cap && tensor_reserve_values(t, n)) return t->cx->diag.status;
    value one;
    type_store(t->type, &one, 0, t->fill);
    while (n - t->nvals > FILL_BLOCK) { /* may take long */
        if (work_done(t->cx, FILL_BLOCK / 8)) return t->cx->diag.status;
        t->nvals = stains_fill(t, t->nvals, t->nvals + FILL_BLOCK, &one);
    }
    t->nvals = stains_fill(t, t->nvals, n, &one);
    return STC_OK;
}

stc_status tensor_extend_unfilled(tensor *t, int64_t n)
{
    if (t->stains.line || n <= t->few) return tensor_extend_values(t, n);
    if (n > t->vals_cap && tensor_reserve_values(t, n)) return t->cx->diag.status;
    if (n > t->nvals) t->nvals = n;
    return STC_OK;
}

void tensor_fill_to(tensor *t, int64_t end)
{
    value one;
    type_store(t->type, &one, 0, t->fill);
    stains_fill_to(t, t->nvals, end, &one);
    t->nvals = end;
}

/* Its arrays' sums in files begin anew. */
static void tensor_put_anew(tensor *t)
{
    const ctx *const root = t->cx->root ? t->cx->root : t->cx;
    if (!root->spill) return; /* nothing lies in files */
    for (int l = 0; l < t->fmt.levels; l++)
        for (int r = 0; r < 3; r++) {
            const index_array *a = &t->level[l].a[r];
            if (a->owned) mem_put_anew(t->cx, a->data, (size_t)(a->cap * a->stride));
        }
    if (t->vals_owned)
        mem_put_anew(t->cx, t->vals, (size_t)t->vals_cap * type_size(t->type));
}

stc_status tensor_begin(tensor *t)
{
    if (!format_appends(&t->fmt)) {
        return fail(t->cx, STC_ERR_ARGUMENT, "this format can't be assembled by appending");
    }
    const uint64_t generation = t->generation;
    tensor_reset(t);
    tensor_put_anew(t);
    int64_t parents = 1;
    for (int l = 0; l < t->fmt.levels; l++) {
        level *lv = &t->level[l];
        if (lv->kind->append_init(t->cx, lv, parents)) return t->cx->diag.status;
        parents = lv->kind->size(lv, parents);
    }
    /* Where every place is known beforehand, values may come in any order: there is
     * room for all, which gets its fills as far as something is stored, while that
     * part of it is in the cache anyway. */
    const stc_status status = parents == NONE ? STC_OK : tensor_reserve_values(t, parents);
    t->few = parents <= FEW_VALUES ? parents : 0;
    stains_begin(t, generation, parents);
    return status;
}

/* Equal neighbours on the last level that isn't computed, each with all that is below. */
static stc_status join_equal(tensor *t)
{
    int l = t->fmt.levels - 1;
    size_t size = type_size(t->type);
    while (l > 0 && !t->level[l].kind->arrays && format_places_below(&t->fmt, l - 1))
        size *= (size_t)t->level[l--].extent;
    if (l < 0 || !t->level[l].kind->append_join || !size) return STC_OK;
    if (t->level[l].kind->append_join(t->cx, &t->level[l], t->vals, size))
        return t->cx->diag.status;
    for (int d = l + 1; d < t->fmt.levels; d++)
        t->level[d].size = t->level[d].kind->size(&t->level[d], t->level[d - 1].size);
    t->nvals = t->level[t->fmt.levels - 1].size;
    return STC_OK;
}

stc_status tensor_finish(tensor *t)
{
    return tensor_close(t, true);
}

stc_status tensor_close(tensor *t, bool join)
{
    int64_t parents = 1;
    level *last = NULL;
    for (int l = 0; l < t->fmt.levels; l++) {
        last = &t->level[l];
        if (last->kind->append_finish(t->cx, last, parents) ||
            (last->kind->append_seal && last->kind->append_seal(t->cx, last, parents)))
            return t->cx->diag.status;
        parents = last->size;
    }
    if (tensor_extend_values(t, parents)) return t->cx->diag.status;
    t->nvals = parents;
    if (join && join_equal(t)) return t->cx->diag.status;
    if (tensor_interleave(t)) return t->cx->diag.status;
    t->generation++;
    t->checked = t->generation;
    stains_finish(t);
    return STC_OK;
}

/* One chain of interleaved levels, from l on, `count` of them. */
static stc_status interleave_chain(tensor *t, int l, int count)
{
    index_array *first = &t->level[l].a[STC_CRD];
    if (first->stride != first->width) return STC_OK; /* is so already */
    int width = 4;
    for (int k = 0; k < count; k++) {
        if (t->level[l + k].a[STC_CRD].width == 8) width = 8;
    }
    const int64_t n = first->len;
    index_array whole = {.width = width, .stride = width * count, .owned = true};
    if (index_resize(t->cx, &whole, n ? n : 1)) return t->cx->diag.status;
    for (int k = 0; k < count; k++) {
        index_array *from = &t->level[l + k].a[STC_CRD];
        index_array part = whole;
        part.data = (char *)whole.data + k * width;
        part.len = n;
        part.owned = k == 0;
        if (k) part.cap = 0;
        for (int64_t i = 0, end; (end = work_block(t->cx, i, n)) > i;)
            for (; i < end; i++)
                index_set(&part, i, index_get(from, i));
        index_free(t->cx, from);
        *from = part;
    }
    return n ? work_done(t->cx, 0) : STC_OK;
}

static bool is_interleaved(const format *f)
{
    int flags = 0;
    for (int l = 0; l < f->levels; l++)
        flags |= f->level[l].flags;
    return flags & FMT_INTERLEAVED;
}

stc_status tensor_interleave(tensor *t)
{
    for (int l = 0; is_interleaved(&t->fmt) && l < t->fmt.levels; l++) {
        if (!(t->fmt.level[l].flags & FMT_INTERLEAVED)) continue;
        int count = 1;
        while (l + count < t->fmt.levels) {
            const level_kind *k = t->fmt.level[l + count].kind;
            if (!(k->props & PROP_BRANCHLESS) || !k->arrays) break;
            count++;
        }
        if (interleave_chain(t, l, count)) return t->cx->diag.status;
        l += count - 1;
    }
    return STC_OK;
}

/* ---- the whole ---------------------------------------------------------------------- */

static void exchange(void *a, void *b, size_t size)
{
    char both[sizeof(tensor)];
    memcpy(both, a, size);
    memcpy(a, b, size);
    memcpy(b, both, size);
}

/* Of the levels, which are most of a tensor, those that one of both has. */
void tensor_swap(tensor *a, tensor *b)
{
    const int levels = a->fmt.levels > b->fmt.levels ? a->fmt.levels : b->fmt.levels;
    ctx *const ca = a->cx, *const cb = b->cx;
    exchange(a, b, offsetof(tensor, level) + (size_t)levels * sizeof *a->level);
    exchange(&a->vals, &b->vals, sizeof *a - offsetof(tensor, vals));
    a->cx = ca;
    b->cx = cb;
}

void tensor_renumber(tensor *t, const format *f, const int *mode)
{
    int64_t shape[STC_MAX_ORDER];
    memcpy(shape, t->shape, sizeof shape);
    for (int m = 0; m < t->order; m++)
        t->shape[mode[m]] = shape[m];
    t->fmt = *f;
    mem_strfree(t->cx, t->fmt_text);
    t->fmt_text = NULL;
}

static stc_status copy_array(ctx *cx, const index_array *from, index_array *to)
{
    index_init(to, 0, from->width);
    if (!from->len) return STC_OK;
    if (index_resize(cx, to, from->len)) return cx->diag.status;
    if (from->stride == from->width)
        return work_copy(cx, to->data, from->data, (size_t)from->len * (size_t)from->width);
    int64_t i = 0;
    for (int64_t end; (end = work_block(cx, i, from->len)) > i;)
        for (; i < end; i++)
            index_set(to, i, index_get(from, i));
    return i < from->len ? cx->diag.status : STC_OK;
}

stc_status tensor_copy(const tensor *t, tensor **out)
{
    ctx *cx = t->cx;
    tensor *c = mem_alloc(cx, sizeof *c);
    if (!c) return cx->diag.status;
    *c = *t;
    c->fmt_text = NULL;
    c->stains = (stains){0};
    c->backing = NULL;
    c->sharers = 0;
    c->pattern = NULL;
    c->release = NULL;
    c->vals = NULL;
    c->nvals = c->vals_cap = 0;
    c->vals_owned = true;
    c->vals_room = false;
    for (int l = 0; l < t->fmt.levels; l++) {
        for (int r = 0; r < 3; r++)
            index_init(&c->level[l].a[r], 0, 0);
    }
    for (int l = 0; l < t->fmt.levels; l++) {
        for (int r = 0; r < 3; r++) {
            if (copy_array(cx, &t->level[l].a[r], &c->level[l].a[r])) goto failed;
        }
    }
    if (tensor_reserve_values(c, t->nvals) || tensor_interleave(c)) goto failed;
    if (work_copy(cx, c->vals, t->vals, (size_t)t->nvals * type_size(t->type))) goto failed;
    c->nvals = t->nvals;
    *out = c;
    return STC_OK;
failed:
    tensor_free(c);
    return cx->diag.status;
}

bool tensor_owns_arrays(const tensor *t)
{
    if (!t->vals_owned || t->backing) return false;
    for (int l = 0; l < t->fmt.levels; l++)
        for (int r = 0; r < 3; r++)
            if (t->level[l].a[r].data && !t->level[l].a[r].owned &&
                !t->level[l].a[r].shared)
                return false;
    return true;
}

stc_status tensor_share(tensor *t, tensor **out)
{
    if (!tensor_owns_arrays(t)) return tensor_copy(t, out);
    t->sharers++;
    *out = t;
    return STC_OK;
}

/* Entries of a level that has a place for every coordinate, but not all of them
 * stored. */
static int64_t count_places(const level *lv)
{
    const int64_t fiber = lv->kind->size(lv, 1);
    int64_t n = 0;
    for (int64_t p = 0; fiber > 0 && p < lv->size / fiber; p++) {
        const cursor up = {.at = p, .at_end = p + 1};
        cursor c;
        for (cursor_open(&c, lv, &up); c.lo != CURSOR_END; cursor_next(&c))
            n += (c.hi - c.lo) * (c.pos_end - c.pos);
    }
    return n;
}

int64_t tensor_places(const tensor *t)
{
    int64_t places = 1;
    for (int l = 0; l < t->fmt.levels && places != NONE; l++)
        places = t->level[l].kind->size(&t->level[l], places);
    return places;
}

int64_t tensor_stored(const tensor *t)
{
    int64_t n = t->nvals;
    if (!t->fmt.levels) return n;
    const level *last = &t->level[t->fmt.levels - 1];
    const uint32_t places = PROP_FULL | PROP_BRANCHLESS | PROP_COMPACT;
    if (last->kind->arrays && !(last->kind->props & places)) return count_places(last);
    if (!(last->kind->arrays >> STC_CRD & 1) || last->props & PROP_COMPACT) return n;
    const index_array *crd = &last->a[STC_CRD]; /* may have unlabeled positions */
    for (int64_t p = 0; p < crd->len; p++)
        n -= index_get(crd, p) == last->base - 1;
    return n;
}

uint64_t tensor_bytes(const tensor *t)
{
    uint64_t sum = (uint64_t)t->nvals * type_size(t->type);
    for (int l = 0; l < t->fmt.levels; l++) {
        for (int r = 0; r < 3; r++) {
            const index_array *a = &t->level[l].a[r];
            sum += (uint64_t)a->len * (uint64_t)a->width;
        }
    }
    return sum;
}
