/* outer_replay.c: rows after the first one of a nest by lanes, done as that was.
 *
 *     for i                         row 2: steps are recorded        row 3, 4, …: replayed
 *       for j = 0 … 99                t = max of 4 rows of A,          the same from where
 *         C(i, j) = max of a window   into C at row 2                  these have moved to
 *
 * Where rows are short, finding out what is to be done costs more than doing it. But one
 * row is done as the one before, each operand so far from where it was: so what is worked
 * out in a row, folds and functions of columns, is written down as a list of steps, with
 * what each pointer moves by. (A trace, after Bala, Duesterwald, Banerjia: Dynamo, PLDI
 * 2000.) That is so as long as no loop leaves anything out, nothing that is one value for
 * all lanes differs from row to row, and no operand comes to its edge: rows at edges, and
 * whatever isn't recorded, are done as ever.
 */
#include "outer.h"
#include "../super/super.h"
#include <string.h>

/* ---- what a place moves by ----------------------------------------------------------- */

typedef struct motion {
    int64_t by;     /* positions; coordinates in a line */
    int64_t parent; /* of a line: positions of what it is below */
} motion;

/* As loop `around` goes on by one; o->room: how often it may, from here. */
static bool moves(outer *o, int k, motion *out)
{
    const outer_stand *s = &o->stand[k];
    const outer_loop *l = &o->loop[o->lane];
    const int64_t by = s->lv ? s->line.coef[l->around] : 0;
    motion up = {0};
    *out = up;
    if (!s->lv) return true;
    if ((!s->range && !s->leaf) || (s->up && !moves(o, s->up, &up))) return false;
    int64_t c = s->line.base, end = c;
    for (int d = 0; d < o->nloop; d++)
        if (d != o->lane) c += s->line.coef[d] * o->at[d];
    const int64_t n = s->line.coef[o->lane], first = c + n * l->lo;
    const int64_t last = c + n * (l->hi - 1);
    c = first < last ? first : last;
    end = first < last ? last : first;
    if (by && (c < s->lo || end >= s->hi)) return false;
    int64_t room = INT64_MAX;
    if (by > 0) room = (s->hi - 1 - end) / by;
    if (by < 0) room = (c - s->lo) / -by;
    if (room < o->room) o->room = room;
    out->by = by;
    out->parent = up.by;
    if (s->range) out->by += (int64_t)((uint64_t)up.by * (uint64_t)(s->hi - s->lo));
    return true;
}

/* ---- recording -------------------------------------------------------------------- */

void outer_record(outer *o)
{
    const outer_loop *l = &o->loop[o->lane];
    o->recording = o->steady && o->tries && l->hi - l->lo <= OUTER_LANES;
    o->tries -= o->recording;
    o->nstep = 0;
    o->room = INT64_MAX;
}

void outer_record_term(outer *o, int k, outer_term *x, size_t size)
{
    const outer_stand *s = &o->stand[k];
    motion m;
    if (!o->recording) return;
    o->recording = moves(o, k, &m);
    x->by_row = m.by * (int64_t)size;
    x->lines = s->range ? NULL : s->lines;
    x->offset = x->lines ? (const char *)x->x - (const char *)s->vals : 0;
    x->parent = s->parent;
    x->parent_by_row = m.parent;
}

void outer_record_one(outer *o, int k)
{
    motion m;
    if (o->recording) o->recording = moves(o, k, &m) && !m.by && !m.parent;
}

/* Room for one step more. */
static outer_step *new_step(outer *o)
{
    if (o->nstep == OUTER_STEPS) {
        o->recording = false;
        return NULL;
    }
    outer_step *x = &o->step[o->nstep++];
    x->fn = NULL;
    x->out = NULL;
    x->stored = NULL;
    return x;
}

void outer_record_late(outer *o, int v, void *out)
{
    outer_step *x = new_step(o);
    if (!x) return;
    x->late = o->late[v];
    x->out = out;
}

void outer_record_fn(outer *o, const outer_op *fn, const void *const *arg, void *out)
{
    outer_step *x = new_step(o);
    if (!x) return;
    x->fn = fn;
    x->out = out;
    x->late.n = fn->nargs;
    x->late.first = (outer_term){0};
    for (int k = 0; k < fn->nargs; k++) {
        const outer_term *e = outer_in_place(o, fn->arg[k]);
        x->late.term[k] = e ? *e : (outer_term){.x = arg[k]};
    }
}

void outer_record_store(outer *o, const outer_op *store)
{
    motion m;
    if (!o->recording) return;
    o->recording = moves(o, store->b, &m);
    outer_step *x = &o->step[o->nstep - 1];
    x->stored = store;
    x->at = o->stand[store->b].base + o->x;
    x->at_by_row = m.by;
}

/* ---- replaying -------------------------------------------------------------------- */

static void move_term(outer *o, outer_term *e)
{
    const uint8_t *there;
    if (e->lines) {
        e->parent += e->parent_by_row;
        e->offset += e->by_row;
        e->x = (const char *)outer_line(o, e->lines, e->parent, &there) + e->offset;
    } else if (e->by_row) {
        e->x = (const char *)e->x + e->by_row;
    }
}

static bool stays(const outer_term *e)
{
    return !e->lines || outer_line_is(e->lines, (const char *)e->x - e->offset, e->parent);
}

/* Terms of a step where they are in the next row; false: a line was written over that of
 * another. */
static bool move_terms(outer *o, outer_late *x)
{
    move_term(o, &x->first);
    for (int k = 0; k < x->n; k++)
        move_term(o, &x->term[k]);
    bool all = stays(&x->first);
    for (int k = 0; k < x->n; k++)
        all &= stays(&x->term[k]);
    return all;
}

/* Where a step stores in the next row. */
static stc_status move_result(machine *mc, outer *o, outer_step *x)
{
    slot *r = &mc->slot[x->stored->a];
    x->at += x->at_by_row;
    const stc_status st = outer_have_places(mc, r, x->at, o->n, true);
    r->stores += (uint64_t)o->n;
    x->out = (char *)r->t->vals + x->at * (int64_t)type_size(r->t->type);
    return st;
}

static bool call(const outer_step *x, int n)
{
    const void *arg[3] = {NULL};
    for (int k = 0; k < x->late.n; k++)
        arg[k] = x->late.term[k].x;
    return x->fn->array(x->out, arg[0], arg[1], arg[2], n);
}

static stc_status replay_row(machine *mc, outer *o)
{
    for (int k = 0; k < o->nstep; k++) {
        outer_step *x = &o->step[k];
        if (x->stored && move_result(mc, o, x)) return mc->cx->diag.status;
        if (!move_terms(o, &x->late)) return SUPER_REPLAY;
        if (!x->fn)
            outer_late_at(o, &x->late, x->out);
        else if (call(x, o->n))
            return SUPER_REPLAY;
    }
    return STC_OK;
}

stc_status outer_replay(machine *mc, outer *o, int64_t most, int64_t *done)
{
    const outer_loop *l = &o->loop[o->lane];
    *done = 0;
    if (!o->recording) return STC_OK;
    o->recording = false;
    o->tries = OUTER_TRIES;
    o->x = l->lo;
    o->n = (int)(l->hi - l->lo);
    o->replaying = true;
    stc_status st = STC_OK;
    while (*done < most && *done < o->room) {
        st = replay_row(mc, o);
        if (st) break;
        ++*done;
        o->rounds += o->row_rounds;
        st = super_poll(mc, &o->rounds);
        if (st) break;
    }
    if (st == SUPER_REPLAY) st = STC_OK; /* the next row is done as ever */
    o->replaying = false;
    o->x = 0;
    o->n = 1;
    return st;
}
