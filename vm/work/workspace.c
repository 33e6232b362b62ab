/* workspace.c: results that come in any order: insert, sort, merge.
 *
 * ws.add takes coordinates in any order; ws.end gives an ordinary tensor with
 * each of them once, sorted, duplicates merged. (Workspaces paper, §4: the
 * template; §5: the policies, which are the files ws_*.c behind ws.h.) Here
 * are the steps that all have in common, the choice of a policy, and the
 * compression of what was collected into the tensor's levels.
 *
 * Nothing is cleared or sorted beyond what was touched, so that a workspace
 * within a loop costs what is put in.
 */
#include "ws.h"
#include "../code/policies.h"
#include <string.h>

/* Beyond this many coordinates an accumulator isn't worth its memory: for one index,
 * unless there are only so many to each entry of the operands, and for several. Of these
 * there may be so many to each entry: measured on products over rates of deduplication
 * (bench, workspaces). */
#define VECTOR_MAX ((int64_t)1 << 20)
#define VECTOR_PER_ENTRY 8
#define DENSE_MAX ((int64_t)1 << 23)
#define DENSE_PER_ENTRY 64
/* Several indices whose entries turn out to be many go on in an accumulator, once there
 * is one for so many coordinates: so its memory is in proportion to what was done. No
 * accumulator has more coordinates. */
#define TURN_MAX ((int64_t)1 << 26)
#define TURN_PER_ENTRY 40

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

const char *ws_rule(int order)
{
    _Static_assert(VECTOR_MAX == 1048576 && DENSE_MAX == 8388608 && TURN_MAX == 67108864,
                   "as the texts have them");
    if (order <= 1)
        return "dense over at most 1048576 coordinates, or over 67108864 if the largest "
               "operand has an entry for each " TEXT(VECTOR_PER_ENTRY) " of them, else by "
                                                                       "hash";
    return "dense over at most 8388608 coordinates if the largest operand has an entry for "
           "each " TEXT(DENSE_PER_ENTRY) " of them, else coord; then dense over at most "
                                         "67108864 once an entry came for each " TEXT(
                                             TURN_PER_ENTRY);
}

static const ws_kind *kind_at(int policy)
{
    static const ws_kind *const kinds[WS_POLICY_COUNT] = {
        NULL,
#define WS_POLICY(NAME, name, meaning) &ws_kind_##name,
#include "../code/ws_policies.def"
    };
    return policy < WS_POLICY_COUNT ? kinds[policy] : &ws_kind_host;
}

void ws_free(machine *mc, slot *s)
{
    workspace *w = s->ws;
    ctx *cx = mc->cx;
    if (!w) return;
    ws_pipe_free(cx, w);
#define WS_POLICY(NAME, name, meaning)                                                     \
    if (ws_kind_##name.free) ws_kind_##name.free(cx, w);
#include "../code/ws_policies.def"
    ws_kind_host.free(cx, w);
    ws_kind_runs.free(cx, w);
    ws_list_free(cx, w, &w->acc);
    ws_list_free(cx, w, &w->all);
    ws_list_free(cx, w, &w->other);
    mem_free(cx, w->record, (size_t)w->record_cap * 2 * sizeof *w->record);
    for (int m = 0; m < s->row->order; m++)
        mem_free(cx, w->coord[m], (size_t)w->coord_cap * sizeof *w->coord[m]);
    mem_free(cx, w->pos, (size_t)w->pos_cap * sizeof *w->pos);
    mem_free(cx, w, sizeof *w);
    s->ws = NULL;
}

/* ---- begin --------------------------------------------------------------------- */

/* Lays the modes out in words, the innermost in the lowest bits of the last. */
static void form_labels(const slot *s, ws_label *f)
{
    const tensor *t = s->own;
    int word = 0, at = 0, words;
    memset(f, 0, sizeof *f);
    for (int l = t->fmt.levels - 1; l >= 0; l--) {
        const int m = t->fmt.level[l].map.mode;
        const int64_t n = t->shape[m];
        const int bits = n <= 1 ? 0 : 64 - __builtin_clzll((uint64_t)n - 1);
        if (at + bits > 64) {
            word++;
            at = 0;
        }
        f->word[m] = (uint8_t)word;
        f->shift[m] = (uint8_t)(at & 63);
        f->bits[m] = (uint8_t)bits;
        at += bits;
        f->used[word] = (uint8_t)at;
        f->outer = (uint8_t)m;
    }
    words = f->words = word + 1;
    for (int m = 0; m < t->order; m++) /* the most significant comes first */
        f->word[m] = (uint8_t)(words - 1 - f->word[m]);
    for (int k = 0; k < words / 2; k++) {
        const uint8_t swap = f->used[k];
        f->used[k] = f->used[words - 1 - k];
        f->used[words - 1 - k] = swap;
    }
}

/* Coordinates in all; INT64_MAX if there are more than that. */
static int64_t places(const tensor *t)
{
    int64_t n = 1;
    for (int m = 0; m < t->order; m++)
        if (!size_mul(n, t->shape[m] > 0 ? t->shape[m] : 1, &n)) return INT64_MAX;
    return n;
}

/* The tensor is made of runs, whatever it was kept by. */
static bool ws_has_runs(const slot *s)
{
    const format *f = &s->row->fmt;
    return f->levels == 1 && f->level[0].kind->append_regions;
}

static const ws_kind *choose(const machine *mc, const slot *s)
{
    const int64_t n = places(s->own);
    workspace *w = s->ws;
    if (ws_has_runs(s)) {
        w->why = "it is read as runs";
        return &ws_kind_runs;
    }
    if (s->row->policy != WS_AUTO) {
        w->why = "asked for";
        w->policy = policy_host(mc->cx, s->row->policy);
        return kind_at(s->row->policy);
    }
    const int64_t stored = ws_operands(mc);
    const bool crowded = n <= TURN_MAX && n / VECTOR_PER_ENTRY <= stored;
    if (s->row->order == 1 ? n <= VECTOR_MAX || crowded
                           : n <= DENSE_MAX && n / DENSE_PER_ENTRY <= stored) {
        w->why = "few coordinates for the operands' entries";
        return &ws_kind_dense;
    }
    w->why = "more coordinates than an accumulator is worth";
    if (s->row->order > 1 && n <= TURN_MAX) w->turn_at = n / TURN_PER_ENTRY + 1;
    return s->row->order == 1 ? &ws_kind_hash : &ws_kind_coord;
}

static stc_status make(machine *mc, slot *s)
{
    workspace *w = s->ws = mem_zero(mc->cx, 1, sizeof *w);
    if (!w) return mc->cx->diag.status;
    w->cls = (uint8_t)type_class(s->row->type);
    w->size = (uint8_t)type_size(class_type(w->cls));
    w->fn = -1;
    w->base = 1;
    return STC_OK;
}

/* Lists are laid out by the form of labels, which follows from the shape. */
static void ready_lists(machine *mc, slot *s)
{
    workspace *w = s->ws;
    ws_label form;
    form_labels(s, &form);
    if (form.words != w->form.words) {
        ws_pipe_free(mc->cx, w);
        ws_list_free(mc->cx, w, &w->acc);
        ws_list_free(mc->cx, w, &w->all);
        ws_list_free(mc->cx, w, &w->other);
    }
    w->form = form;
    w->capacity = s->row->capacity ? s->row->capacity : ws_default_capacity(mc);
}

stc_status ws_begin(machine *mc, slot *s)
{
    if (asm_own(mc, s) || (!s->ws && make(mc, s))) return mc->cx->diag.status;
    workspace *w = s->ws;
    ws_pipe_drop(w);
    if (w->kind && w->kind->clear)
        w->kind->clear(w); /* a run may have failed in the middle */
    w->acc.n = w->all.n = w->about = w->batches = w->merged = w->listed = 0;
    w->single = s->row->single;
    w->turn = false;
    w->turn_at = 0;
    w->kind = choose(mc, s);
    if (w->kind != &ws_kind_dense) ready_lists(mc, s);
    if (!w->kind->ready || w->kind->ready(mc, s)) return STC_OK;
    w->why = "no room for another"; /* these need nothing beforehand */
    w->kind = ws_has_runs(s) ? &ws_kind_runs : &ws_kind_coord;
    ready_lists(mc, s);
    return STC_OK;
}

/* ---- add ----------------------------------------------------------------------- */

fn_fault ws_fold(const workspace *w, void *array, int64_t i, const value *v)
{
    if (w->fn == FN_ADD && w->cls == CLASS_F64) {
        ((double *)array)[i] += v->f64;
        return FAULT_NONE;
    }
    const stc_type t = class_type(w->cls);
    value x = type_load(t, array, i);
    fn_fault fault = FAULT_NONE;
    if (w->apply)
        fault = w->apply(&x, &x, v, NULL);
    else if (machine_call(w->mc, w->call, w->host, (value[]){x, *v}, &x))
        fault = FAULT_HOST;
    if (!fault) type_store(t, array, i, x);
    return fault;
}

fn_fault ws_fold_all(const void *ws, void *x, const void *y, int n)
{
    const workspace *w = ws;
    fn_fault fault = FAULT_NONE;
    if (w->apply) return fn_array_of(w->fn, w->cls)(x, x, y, NULL, n);
    for (int k = 0; k < n && !fault; k++) {
        const value v = type_load(class_type(w->cls), y, k);
        fault = ws_fold(w, x, k, &v);
    }
    return fault;
}

stc_status ws_use(machine *mc, workspace *w, int fn, const lop *at)
{
    if (fn == w->fn) return STC_OK;
    if ((w->acc.n && ws_flush(mc, w, at, false)) || ws_pipe_wait(mc, w, at) ||
        ws_settle_runs(mc, w, at))
        return mc->cx->diag.status;
    w->fn = fn;
    if (fn < 0) { /* a user's */
        const user_fn *f = at->u.ufn;
        w->apply = NULL;
        w->mc = mc;
        w->call = at;
        w->regroup = at->arg[4];
        w->host = f->host ? host_find(mc->cx, f->name, f->params, f->cls, f->result) : NULL;
        return STC_OK;
    }
    w->apply = fn_scalar_of(fn, w->cls);
    w->regroup = fn_at(fn)->flags & FP_ASSOCIATIVE;
    return STC_OK;
}

stc_status ws_turn_dense(machine *mc, slot *s, const lop *at)
{
    workspace *w = s->ws;
    w->turn = false;
    w->turn_at = 0;
    if ((w->acc.n && ws_flush(mc, w, at, false)) || ws_pipe_wait(mc, w, at))
        return mc->cx->diag.status;
    w->turn = false;
    if (!ws_kind_dense.ready(mc, s)) return STC_OK;
    const ws_list *all = &w->all;
    if (ws_touch_room(mc, w, all->n)) return mc->cx->diag.status;
    for (int64_t k = 0; k < all->n; k++) {
        int64_t i = 0;
        for (int m = 0; m < s->row->order; m++)
            i += ws_label_coord(&w->form, ws_label_of(w, all, k), m) * w->stride[m];
        w->set[i >> 6] |= UINT64_C(1) << (i & 63);
        w->touched[k] = i;
        memcpy((char *)w->dense + i * w->size, all->val + k * w->size, w->size);
    }
    w->n = all->n;
    w->alike = false;
    w->all.n = w->about = 0;
    w->kind = &ws_kind_dense;
    w->why = "entries turned out to be many for the coordinates";
    return STC_OK;
}

/* Into the accumulation array. What mustn't be regrouped waits until all that came before
 * it is merged. */
static stc_status insert_listed(machine *mc, slot *s, const int64_t *coords, const value *v,
                                const lop *at)
{
    workspace *w = s->ws;
    uint64_t label[STC_MAX_ORDER];
    ws_label_put(&w->form, s->row->order, coords, label);
    const int64_t old = w->regroup ? w->kind->find(w, label) : NONE;
    if (old != NONE) {
        const fn_fault fault = ws_fold(w, w->acc.val, old, v);
        return fault ? machine_fault(mc, at, fault) : STC_OK;
    }
    if (ws_room(mc, s, at)) return mc->cx->diag.status;
    const int64_t id = ws_append(w, label, v);
    return w->kind->enter ? w->kind->enter(mc->cx, w, id) : STC_OK;
}

stc_status ws_outside(machine *mc, const slot *s, int m, int64_t coord, const lop *at)
{
    return machine_fail(mc, at, STC_ERR_SHAPE,
                        "coordinate %lld is outside 0:%lld, mode %d of a workspace",
                        (long long)coord, (long long)s->own->shape[m], m);
}

stc_status ws_add(machine *mc, slot *s, const int64_t *coords, int fn, vclass cls,
                  const value *v, const lop *at)
{
    workspace *w = s->ws;
    (void)cls;
    if (fn != w->fn && ws_use(mc, w, fn, at)) return mc->cx->diag.status;
    for (int m = 0; m < s->row->order; m++)
        if (coords[m] < 0 || coords[m] >= s->own->shape[m])
            return ws_outside(mc, s, m, coords[m], at);
    if (w->turn && ws_turn_dense(mc, s, at)) return mc->cx->diag.status;
    return (w->kind->insert ? w->kind->insert : insert_listed)(mc, s, coords, v, at);
}

/* ---- end: compression ------------------------------------------------------------ */

/* The tensor's levels from n sorted coordinates, and places for the values. */
static stc_status pack_levels(machine *mc, slot *s, int64_t n, int64_t *const *coord)
{
    workspace *w = s->ws;
    tensor *t = s->own;
    ctx *cx = mc->cx;
    if (w->pos_cap < n && mem_grow(cx, &w->pos, &w->pos_cap, n, sizeof *w->pos))
        return cx->diag.status;
    if (n) memset(w->pos, 0, (size_t)n * sizeof *w->pos);
    int64_t parents = 1;
    const int levels = t->fmt.levels;
    for (int l = 0; l < levels; l++) {
        level *lv = &t->level[l];
        const int64_t *below[STC_MAX_ORDER];
        for (int d = l + 1; d < levels; d++)
            below[d - l - 1] = coord[t->fmt.level[d].map.mode];
        pack_in in = {.count = n,
                      .coord = coord[t->fmt.level[l].map.mode],
                      .pos = w->pos,
                      .parents = parents,
                      .deeper = levels - l - 1,
                      .below = below,
                      .type = t->type,
                      .fill = t->fill};
        if (lv->kind->pack(cx, lv, &in)) return cx->diag.status;
        parents = lv->size;
    }
    t->nvals = 0;
    t->unmade = false;
    if (n == parents) { /* each place has its entry: nothing to be filled */
        if (tensor_reserve_values(t, n)) return cx->diag.status;
        t->nvals = n;
        return STC_OK;
    }
    return tensor_extend_values(t, parents);
}

/* Room for n coordinates of each mode. */
static stc_status coord_room(ctx *cx, workspace *w, int order, int64_t n)
{
    mem_row row[STC_MAX_ORDER];
    for (int m = 0; m < order; m++)
        row[m] = (mem_row){(void **)&w->coord[m], sizeof *w->coord[m]};
    return mem_grow_rows(cx, row, order, &w->coord_cap, n);
}

static stc_status end_dense(machine *mc, slot *s)
{
    workspace *w = s->ws;
    tensor *t = s->own;
    const int64_t n = w->n;
    int64_t *const *coord = &w->touched;
    if (ws_sort_touched(mc->cx, w)) return mc->cx->diag.status;
    if (t->order != 1) {
        if (coord_room(mc->cx, w, t->order, n)) return mc->cx->diag.status;
        for (int m = 0; m < t->order; m++) {
            const int64_t stride = w->stride[m], size = t->shape[m];
            for (int64_t k = 0; k < n; k++)
                w->coord[m][k] = w->touched[k] / stride % size;
        }
        coord = w->coord;
    }
    if (pack_levels(mc, s, n, coord)) return mc->cx->diag.status;
    ws_give_values(w, t, 0, w->pos);
    ws_untouch(w);
    return STC_OK;
}

static stc_status end_lists(machine *mc, slot *s, const lop *at)
{
    workspace *w = s->ws;
    const tensor *t = s->own;
    if ((w->acc.n && ws_flush(mc, w, at, false)) || ws_pipe_wait(mc, w, at))
        return mc->cx->diag.status;
    const int64_t n = w->all.n;
    if (w->batches > 1) { /* what merging took isn't needed beside what comes now */
        ws_list_free(mc->cx, w, &w->other);
        ws_list_free(mc->cx, w, &w->acc);
    }
    if (coord_room(mc->cx, w, t->order, n)) return mc->cx->diag.status;
    for (int m = 0; m < t->order; m++) {
        int64_t k = 0;
        for (int64_t end; (end = ws_block(mc->cx, k, n)) > k;)
            for (; k < end; k++)
                w->coord[m][k] = ws_label_coord(&w->form, ws_label_of(w, &w->all, k), m);
        if (k < n) return mc->cx->diag.status;
    }
    if (pack_levels(mc, s, n, w->coord)) return mc->cx->diag.status;
    ws_put_values(t->type, t->vals, w->pos, w->all.val, NULL, n, false);
    w->all.n = 0;
    return STC_OK;
}

stc_status ws_end(machine *mc, slot *s, const lop *at)
{
    if (ws_has_runs(s)) return ws_end_runs(mc, s, at);
    if (s->ws->kind == &ws_kind_dense ? end_dense(mc, s) : end_lists(mc, s, at))
        return mc->cx->diag.status;
    s->own->generation++;
    s->own->checked = s->own->generation;
    return STC_OK;
}
