/* outer.c: a run of a nest by lanes: whether it can be done so and pays, and its loops.
 *
 * What can fail is found out first, or as it comes, and then base operations do the run
 * again: what was stored by then are values that they store as well. Sums into a result
 * can't be begun again; so nothing that may fault is added so (outer_match.c).
 */
#include "../nest/fibers.h"
#include "outer.h"
#include "../super/super.h"
#include <string.h>

/* ---- memory ------------------------------------------------------------------------ */

/* Columns of lanes and bytes of masks, once. */
static bool ready(machine *mc, outer *o)
{
    enum { MASKS = AFFINE_INDICES + OUTER_OPERANDS + 2, ASIDE = 3 };
    const size_t row = OUTER_COLUMN;
    if (o->block) return true;
    o->block_size = (size_t)(o->ncolumn + ASIDE) * row + MASKS * OUTER_LANES;
    char *at = o->block = mem_alloc(mc->cx, o->block_size);
    if (!at) {
        diag_clear(mc->cx); /* there is another way */
        return false;
    }
    for (int k = 0; k < o->nvalue; k++)
        o->value[k].data = at + o->column[k] * row;
    at += (size_t)o->ncolumn * row;
    o->scratch = at;
    o->index = (int64_t *)(at + row);
    o->one.data = at + 2 * row;
    at += 3 * row;
    for (int d = 0; d < AFFINE_INDICES; d++, at += OUTER_LANES)
        o->mask[d] = (uint8_t *)at;
    for (int b = 0; b < OUTER_OPERANDS; b++, at += OUTER_LANES)
        o->bits[b] = (uint8_t *)at;
    o->seen = (uint8_t *)at;
    o->stored = (uint8_t *)at + OUTER_LANES;
    return true;
}

void outer_free(machine *mc, super *base)
{
    outer *o = (outer *)base;
    outer_lines_free(mc, o);
    mem_free(mc->cx, o->block, o->block_size);
}

/* ---- whether it pays ---------------------------------------------------------------- */

/* The part of its elements that a tensor stores. */
static double density(const tensor *t)
{
    double all = 1;
    for (int m = 0; m < t->order; m++)
        all *= (double)t->shape[m];
    return all > 0 ? (double)t->nvals / all : 1;
}

/* The part of a loop's rounds that it makes, if what is stored is anywhere alike. */
static double part_made(const machine *mc, const outer *o, int d, double window)
{
    const outer_loop *l = &o->loop[d];
    double any = 0, each = 1;
    bool alone = false;
    if (l->always) return 1;
    for (int b = 0; b < l->count; b++) {
        const outer_stand *s = &o->stand[l->operand[b]];
        double part = s->sparse ? density(s->t) : 1;
        if (!l->operand[b]) part = density(mc->slot[o->partly].t) * window;
        alone |= outer_makes(l->l->merge, UINT64_C(1) << b) && part < 1;
        any += part;
        each *= part;
    }
    const double part = alone ? any : each;
    return part < 1 ? part : 1;
}

/* Rounds that a lane makes of ops from … end-1, each counted. */
static double ops_of(const outer *o, int from, int end)
{
    double n = 0;
    for (int k = from; k < end; k++) {
        const outer_op *x = &o->op[k];
        n++;
        if (x->kind != OUTER_LOOP) continue;
        const outer_loop *l = &o->loop[x->a];
        if (l->hi > l->lo) n += (double)(l->hi - l->lo) * ops_of(o, k + 1, x->end);
        k = x->end - 1;
    }
    return n;
}

/* The op that begins the lanes' loop. */
static int lanes_op(const outer *o)
{
    int k = 0;
    while (o->op[k].kind != OUTER_LOOP || o->op[k].a != o->lane)
        k++;
    return k;
}

/* About so many nanoseconds an op of a lane here, for all lanes; and for those that are
 * visited, an op, or a lane and a round inside it, of what goes from one to the next. */
static bool pays(const machine *mc, const outer *o)
{
    const double here = 0.2, lane_subsect = 400, lane_loops = 40, round = 3;
    const double few = 1.2, many = 8, every = 0.3; /* operands, and nothing walked */
    const outer_loop *l = &o->loop[o->lane];
    const int body = lanes_op(o);
    const double ops = ops_of(o, body + 1, o->op[body].end);
    double made = 1;
    const double part = part_made(mc, o, o->lane, ops);
    double there = ops * (l->always ? every : l->count <= MERGE_TABLE_MAX ? few : many);
    if (o->nloop - 1 > o->lane) {
        for (int d = o->lane + 1; d < o->nloop; d++)
            made *= (double)(o->loop[d].hi - o->loop[d].lo) * part_made(mc, o, d, 1);
        there = (o->partly == ROOT ? lane_loops : lane_subsect) + round * made;
    }
    there *= part;
    for (int d = 0; d < o->lane; d++)
        if (o->loop[d].either) there *= part_made(mc, o, d, (double)(l->hi - l->lo));
    if (l->l->merge->universe && there < ops * every) there = ops * every;
    return OUTER_ALWAYS || here * ops <= there;
}

/* ---- loops -------------------------------------------------------------------------- */

static stc_status body(machine *mc, outer *o, int from, int end, const uint8_t *in);

/* The loop of op k, whose rounds are of all lanes in `in`. */
static stc_status rounds(machine *mc, outer *o, int k, const uint8_t *in)
{
    const int d = o->op[k].a;
    outer_loop *l = &o->loop[d];
    const bool rows = d == o->loop[o->lane].around;
    if (rows) o->tries = OUTER_TRIES;
    for (int64_t i = l->lo; i < l->hi; i++) {
        const uint8_t *visited;
        o->at[d] = i;
        outer_places_move(mc, o, d);
        o->rounds += o->n;
        if (!outer_visits(o, d, in, &visited)) continue;
        const int64_t before = o->rounds;
        if (rows) outer_record(o);
        stc_status st = body(mc, o, k + 1, o->op[k].end, visited);
        if (rows && !st) {
            int64_t done;
            o->row_rounds = o->rounds - before + 1;
            o->recording &= o->row_rounds > 0; /* else they were counted meanwhile */
            st = outer_replay(mc, o, l->hi - 1 - i, &done);
            i += done;
        }
        if (st || super_poll(mc, &o->rounds)) return st ? st : mc->cx->diag.status;
    }
    return STC_OK;
}

/* The lanes' loop, part by part. */
static stc_status lanes(machine *mc, outer *o, int k)
{
    const outer_loop *l = &o->loop[o->lane];
    for (o->x = l->lo; o->x < l->hi; o->x += o->n) {
        const uint8_t *visited;
        o->n = l->hi - o->x < OUTER_LANES ? (int)(l->hi - o->x) : OUTER_LANES;
        o->rounds += o->n;
        if (o->partial) memset(o->seen, 0, (size_t)o->n);
        if (!outer_visits(o, o->lane, NULL, &visited)) continue;
        const stc_status st = body(mc, o, k + 1, o->op[k].end, visited);
        outer_forget(o);
        if (st || super_poll(mc, &o->rounds)) return st ? st : mc->cx->diag.status;
    }
    o->x = 0; /* a lane, for the loops around: they visit all or none */
    o->n = 1;
    return STC_OK;
}

static stc_status body(machine *mc, outer *o, int from, int end, const uint8_t *in)
{
    for (int k = from; k < end; k++) {
        const outer_op *x = &o->op[k];
        stc_status st;
        if (x->sinks && outer_sink(mc, o, x, in, &st)) {
            k++;
        } else if (x->kind != OUTER_LOOP) {
            st = outer_eval(mc, o, x, in);
        } else {
            st = x->a == o->lane ? lanes(mc, o, k) : rounds(mc, o, k, in);
            k = x->end - 1;
        }
        if (st) return st;
    }
    return STC_OK;
}

/* ---- a run ------------------------------------------------------------------------- */

/* Where subsections are looked into: by one operand, around the lanes, which settles what
 * is visited, or inside, and then by nothing else that may be missing. */
static bool sees_all(const machine *mc, outer *o)
{
    const tensor *t = o->subsections ? mc->slot[o->partly].t : NULL;
    int leaves = 0;
    bool others = false;
    o->partial = false;
    for (int d = 0; d < o->nloop; d++)
        for (int b = 0; b < o->loop[d].count; b++) {
            const outer_stand *s = &o->stand[o->loop[d].operand[b]];
            const bool leaf = s->sparse && s->leaf && s->t == t;
            leaves += leaf;
            o->partial |= leaf && d > o->lane;
            others |= s->sparse && s->t != t && d > o->lane;
        }
    return !o->subsections || (leaves == 1 && !(o->partial && others));
}

/* Whether a round that loop d doesn't make would change nothing: what its operand has is
 * folded, by a function that the operand's fill is neutral to. (A sum that begins with -0
 * would become 0.) */
static bool neutral(const machine *mc, const outer *o, int k)
{
    const outer_loop *l = &o->loop[o->op[k].a];
    const outer_op *x = &o->op[k + 1], *f = x + 1;
    value v;
    if (!l->inner || l->count != 1 || o->op[k].end != k + 3 || x->kind != OUTER_LOAD ||
        x->b != l->operand[0] || f->kind != OUTER_FN || f->nargs != 2 ||
        f->arg[0] != f->to || f->arg[1] != x->to)
        return false;
    const tensor *t = mc->slot[x->a].t;
    const fn_prop *p = &fn_at(f->fn)->identity[0];
    return p->position == AT_ANY && p->classes >> f->fn_cls & 1 &&
           fn_constant(p->value, (vclass)f->fn_cls, t->type, &v) &&
           class_equal((vclass)f->fn_cls, v, t->fill);
}

/* Place k drives a loop. */
static bool drives(const outer *o, int k)
{
    bool found = false;
    for (int d = 0; d < o->nloop; d++)
        found |= memchr(o->loop[d].operand, k, (size_t)o->loop[d].count) != NULL;
    return found;
}

/* What a lane gets in which nothing is stored of what the lanes' loop visits. */
typedef struct empty_lane {
    const machine *mc;
    const outer *o;
    const tensor *t; /* of subsections; NULL: the loop's operands are what is missing */
    int left;        /* ops that it may take                                         */
    value v[OUTER_VALUES];
} empty_lane;

static bool empty_load(const empty_lane *e, const outer_op *x)
{
    const outer_loop *l = &e->o->loop[e->o->lane];
    const outer_stand *s = &e->o->stand[x->b];
    if (!e->t) return memchr(l->operand, x->b, (size_t)l->count) != NULL;
    return s->sparse && s->leaf && s->t == e->t && drives(e->o, x->b);
}

static bool empty_store(const empty_lane *e, const outer_op *x)
{
    const tensor *t = e->mc->slot[x->a].t;
    value to = {0}, fill = {0};
    type_store(t->type, &to, 0, e->v[x->arg[0]]);
    type_store(t->type, &fill, 0, t->fill);
    return !memcmp(&to, &fill, sizeof to);
}

/* false: it isn't known, or isn't the result's fill. */
static bool empty_ops(empty_lane *e, int from, int end)
{
    const outer *o = e->o;
    for (int k = from; k < end; k++) {
        const outer_op *x = &o->op[k];
        value a[3] = {{0}};
        if (!e->left--) return false;
        for (int j = 0; j < x->nargs; j++)
            a[j] = e->v[x->arg[j]];
        if (x->kind == OUTER_LOOP) {
            const outer_loop *l = &o->loop[x->a];
            if (!l->always && !l->neutral) return false;
            for (int64_t i = l->lo; i < l->hi; i++)
                if (!empty_ops(e, k + 1, x->end)) return false;
            k = x->end - 1;
        } else if (x->kind == OUTER_CONST) {
            e->v[x->to] = e->mc->p->konst[x->a].v;
        } else if (x->kind == OUTER_LOAD && empty_load(e, x)) {
            e->v[x->to] = e->mc->slot[x->a].t->fill;
        } else if (x->kind == OUTER_FN) {
            if (x->scalar(&e->v[x->to], &a[0], &a[1], &a[2])) return false;
        } else if (x->kind != OUTER_STORE || !empty_store(e, x)) {
            return false;
        }
    }
    return true;
}

/* Whether lanes that the lanes' loop doesn't visit would get what they have anyway: it
 * visits all that any operand has, and of nothing but fills comes the result's fill. */
static bool fills_rest(const machine *mc, const outer *o)
{
    enum { AT_MOST = 1000 };
    const outer_loop *l = &o->loop[o->lane];
    const bool partly = l->partial && l->count == 1;
    empty_lane e = {.mc = mc, .o = o, .left = AT_MOST};
    if (!partly && !(l->any && l->inner)) return false;
    if (partly) e.t = mc->slot[o->partly].t;
    for (int k = 0; k < o->nvalue; k++)
        e.v[k] = o->value[k].one;
    const int body = lanes_op(o);
    return empty_ops(&e, body + 1, o->op[body].end);
}

/* Whether rows are alike: all loops from the one around the lanes on do all of their
 * rounds, and outside of the lanes' loop there are constants at most. */
static bool leaves_nothing_out(const outer *o)
{
    const int around = o->loop[o->lane].around;
    if (around < 0 || o->partial || !o->loop[around].always) return false;
    for (int d = o->lane; d < o->nloop; d++) {
        const outer_loop *l = &o->loop[d];
        if (!l->always && !l->neutral && !l->whole) return false;
    }
    for (int k = 0; k < o->nop; k++) {
        const outer_op *x = &o->op[k];
        if (x->kind == OUTER_LOOP && x->a == o->lane)
            k = x->end - 1;
        else if (x->kind == OUTER_LOOP ? x->a > o->lane
                                       : x->kind != OUTER_CONST && x->kind != OUTER_EXTENT)
            return false;
    }
    return true;
}

/* false: not this way. *none: there is nothing to do. */
static bool prepare(machine *mc, outer *o, bool *none)
{
    *none = false;
    o->all = 1;
    for (int d = 0; d < o->nloop; d++) {
        outer_loop *l = &o->loop[d];
        const merge_desc *m = l->l->merge;
        merge_range(mc, m, &l->lo, &l->hi);
        l->pattern = OUTER_UNKNOWN;
        int64_t n;
        if (__builtin_sub_overflow(l->hi, l->lo, &n)) return false;
        if (n > 0) o->all *= (double)n;
    }
    bool empty = false; /* what loops around do before one may fail still */
    for (int d = o->lane; d >= 0; d = o->loop[d].around)
        empty |= *none = o->loop[d].lo >= o->loop[d].hi;
    const outer_loop *l = &o->loop[o->lane];
    if (*none) return true;
    if (empty || l->hi - l->lo < OUTER_FEW || !outer_places_prepare(mc, o)) return false;
    if (!sees_all(mc, o) || !pays(mc, o) || !ready(mc, o) || !outer_lines_ready(mc, o))
        return false;
    outer_places_move(mc, o, -1);
    for (int k = 0; k < o->nvalue; k++) {
        o->value[k].p = NULL;
        o->value[k].spread = 0;
        o->owner[k] = UNLINKED;
        if (o->given[k]) o->value[k].one = mc->v[o->reg[k]];
    }
    outer_forget(o);
    o->one.spread = 0;
    for (int k = 0; k < o->nop; k++)
        if (o->op[k].kind == OUTER_LOOP) o->loop[o->op[k].a].neutral = neutral(mc, o, k);
    o->loop[o->lane].whole = fills_rest(mc, o);
    if (o->loop[o->lane].whole) o->partial = false;
    o->steady = leaves_nothing_out(o);
    o->recording = false;
    o->wide = super_wide(mc);
    return true;
}

stc_status outer_run(machine *mc, super *base)
{
    outer *o = (outer *)base;
    bool none;
    if (!prepare(mc, o, &none)) return SUPER_REPLAY;
    if (none) return machine_count(mc, 1);
    o->x = 0;
    o->n = 1;
    o->rounds = o->fibers = 0;
    const stc_status st = body(mc, o, 0, o->nop, NULL);
    outer_lines_release(mc, o);
    machine_saw(mc, SEEN_FIBERS, o->fibers);
    return st ? st : machine_count(mc, o->rounds);
}
