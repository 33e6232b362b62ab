/* splits.c: an assignment as parts, one for each rank.
 *
 * stc_program_split tells for each index what a part of its range needs and makes: the
 * index for which the fewest bytes have to be exchanged is taken, and each rank runs the
 * program of its own part, made by rank 0 and sent as bytecode. A plan is kept for the next
 * time: it holds as long as its operands lie as they did, and matrices are the same.
 */
#include "variables.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 32, PLANS = 128 };

typedef struct choice {
    stc_split row[ROWS];
    ranges_of *want[ROWS]; /* of operands that don't lie as they are needed; NULL */
    int n;
    char name[64];
    bool is_result;
    int mode;
    int64_t coef;
    const int64_t *bound; /* in coordinates of the index times coef */
    int64_t bytes;
} choice;

typedef struct plan {
    char *text;
    uint64_t state;
    choice c;
    stc_program *whole, *part;
} plan;

static plan plans[PLANS];
static int nplan;

/* ---- what an index asks for -----------------------------------------------------------
 */

static bool exactly(const stc_split *r)
{
    return r->how == STC_SPLIT_CUT && r->before >= 0 && r->after < r->coef;
}

static bool cut_as(const stc_split *r, const held *h, const choice *c)
{
    return h->mode >= 0 && exactly(r) && h->mode == r->mode && h->bound == c->bound;
}

/* Bounds for the split: those that an operand has already, or new ones by the operand with
 * the most entries. False: the operands' blocks don't fit. */
static bool set_bounds(choice *c)
{
    const stc_tensor *most = NULL;
    int mode = 0;
    bool parts = false;
    c->bound = NULL;
    c->coef = 1;
    for (int k = 0; k < c->n; k++) {
        const stc_split *r = &c->row[k];
        if (r->how == STC_SPLIT_CUT && r->coef > c->coef) c->coef = r->coef;
    }
    for (int k = 0; k < c->n; k++) {
        const stc_split *r = &c->row[k];
        if (r->is_result || r->how != STC_SPLIT_CUT) continue;
        const stc_tensor *t = variable(r->name);
        const held *h = find(r->name);
        if (r->coef != c->coef) return false;
        if (h->mode == r->mode && !c->bound) c->bound = h->bound;
        if (most && stc_tensor_stored(t) <= stc_tensor_stored(most)) continue;
        most = t;
        mode = r->mode;
        parts = h->mode >= 0 && c->coef == 1;
    }
    if (!most && !c->is_result) {
        most = variable(c->name);
        mode = c->mode;
    }
    if (!c->bound && most) c->bound = bounds_of(stc_tensor_shape(most)[mode]);
    if (!c->bound && most) c->bound = make_bounds(most, mode, c->coef, parts);
    if (!c->bound) return false;
    for (int r = 1; r < ranks; r++)
        if (c->bound[r] % c->coef) return false;
    return true;
}

static range rounds(const choice *c, int r)
{
    return (range){c->bound[r] / c->coef, (c->bound[r + 1] + c->coef - 1) / c->coef};
}

/* Coordinates that a part of these rounds needs of a mode of `size`. */
static range asked(const stc_split *r, range of, int64_t size)
{
    if (of.hi <= of.lo || !r->coef) return (range){0, 0};
    range out = {r->coef * of.lo + r->before, r->coef * (of.hi - 1) + r->after + 1};
    if (out.lo < 0) out.lo = 0;
    if (out.hi > size) out.hi = size;
    return out.hi > out.lo ? out : (range){0, 0};
}

static range both(range a, range b)
{
    if (a.hi <= a.lo) return b;
    if (b.hi <= b.lo) return a;
    return (range){a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
}

/* What parts need of an operand along another one, which is cut as they are: for each rank
 * the range of what its own entries have there. */
static bool needed_along(const choice *c, const stc_split *r, ranges_of *want)
{
    const stc_split *by = NULL;
    for (int k = 0; k < c->n; k++)
        if (!c->row[k].is_result && strcmp(c->row[k].name, r->along) == 0) by = &c->row[k];
    if (!by || !exactly(by)) return false;
    if (find(by->name)->mode >= 0 && !cut_as(by, find(by->name), c)) return false;
    const range own = {c->bound[rank], c->bound[rank + 1]};
    const int64_t size = stc_tensor_shape(variable(r->name))[r->mode];
    const range mine = reach(variable(by->name), by->mode, own, r->along_mode);
    want->mode = r->mode;
    if (alone) { /* what others need isn't known, and not asked for */
        for (int k = 0; k < ranks; k++)
            want->of[k] = mine;
    } else {
        MPI_Allgather(&mine, 2, MPI_INT64_T, want->of, 2, MPI_INT64_T, MPI_COMM_WORLD);
    }
    bool less = false;
    for (int k = 0; k < ranks; k++) {
        want->of[k] = both(want->of[k], asked(r, rounds(c, k), size));
        less |= want->of[k].hi - want->of[k].lo < size;
    }
    return less;
}

/* What ranks want of each operand that doesn't lie as it is needed, and what that takes. */
static int64_t set_wants(choice *c)
{
    int64_t bytes = 0;
    for (int k = 0; k < c->n; k++) {
        const stc_split *r = &c->row[k];
        c->want[k] = NULL;
        if (r->is_result) {
            if (r->how == STC_SPLIT_REDUCE) bytes += c->bound[ranks];
            continue;
        }
        const held *h = find(r->name);
        if (h->mode < 0 || cut_as(r, h, c)) continue;
        const stc_tensor *t = variable(r->name);
        ranges_of *want = room(sizeof *want);
        want->mode = -1;
        if (r->how == STC_SPLIT_CUT) {
            want->mode = r->mode;
            for (int q = 0; q < ranks; q++)
                want->of[q] = asked(r, rounds(c, q), stc_tensor_shape(t)[r->mode]);
        } else if (r->along && !needed_along(c, r, want)) {
            want->mode = -1;
        }
        c->want[k] = want;
        const ranges_of have = had(h);
        bytes += outgoing(t, &have, want);
    }
    return total(bytes);
}

static void drop_wants(choice *c)
{
    for (int k = 0; k < c->n; k++) {
        free(c->want[k]);
        c->want[k] = NULL;
    }
}

/* By each mode of each name; the best, or false, and why none will do. */
static bool choose(const stc_program *p, choice *best, char *why, size_t size)
{
    bool any = false, result;
    const char *name;
    snprintf(why, size, "nothing to split");
    for (int k = 0; (name = stc_program_name(p, k, &result)); k++) {
        stc_decl d = {.size = sizeof d};
        must(m, stc_program_decl(p, name, &d));
        for (int mode = 0; mode < d.order; mode++) {
            choice c = {.is_result = result, .mode = mode};
            snprintf(c.name, sizeof c.name, "%s", name);
            if (stc_program_split(p, name, mode, c.row, ROWS, &c.n)) {
                snprintf(why, size, "%s", stc_error(m)->message);
                continue;
            }
            if (c.n > ROWS || !set_bounds(&c)) continue;
            c.bytes = set_wants(&c);
            if (any && c.bytes >= best->bytes) {
                drop_wants(&c);
                continue;
            }
            if (any) drop_wants(best);
            *best = c;
            any = true;
        }
    }
    return any;
}

/* ---- parts ----------------------------------------------------------------------------
 */

static void part_of(const stc_program *p, const choice *c, int r, stc_program **out)
{
    const range of = rounds(c, r);
    must(m, stc_program_part(p, c->name, c->mode, of.lo, of.hi, out));
}

/* Rank 0 makes the parts, and sends them as bytecode. */
static stc_program *own_part(const stc_program *p, const choice *c)
{
    stc_program *mine = NULL, *part;
    void *bytes;
    size_t size;
    if (rank == 0 || alone) part_of(p, c, rank, &mine);
    for (int r = 1; r < ranks && rank == 0 && !alone; r++) {
        part_of(p, c, r, &part);
        must(m, stc_program_encode(part, &bytes, &size));
        MPI_Send(bytes, (int)size, MPI_BYTE, r, 0, MPI_COMM_WORLD);
        stc_text_free(m, bytes);
        stc_program_free(part);
    }
    if (rank && !alone) {
        MPI_Status st;
        int n;
        MPI_Probe(0, 0, MPI_COMM_WORLD, &st);
        MPI_Get_count(&st, MPI_BYTE, &n);
        bytes = room((size_t)n);
        MPI_Recv(bytes, n, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &st);
        must(m, stc_program_decode(m, bytes, (size_t)n, &mine));
        free(bytes);
    }
    return mine;
}

/* The operand as this rank's part needs it: the variable itself, cut or gathered for good;
 * or one for this run, which *own is then. */
static stc_tensor *operand(const choice *c, int k, stc_tensor **own)
{
    const stc_split *r = &c->row[k];
    const held *h = find(r->name);
    const ranges_of have = had(h), *want = c->want[k];
    stc_tensor *t = variable(r->name);
    const bool matrix = stc_tensor_order(t) >= 2;
    *own = NULL;
    if (h->mode < 0 && !h->stays && exactly(r) && matrix)
        hold(r->name, between(t, r->mode, (range){c->bound[rank], c->bound[rank + 1]}),
             r->mode, c->bound);
    if (!want) return variable(r->name);
    if (want->mode < 0) {
        make_whole(r->name);
        return variable(r->name);
    }
    bytes_told += outgoing(t, &have, want);
    stc_tensor *made = exchange(t, &have, want, NULL);
    if (!exactly(r) || !matrix) return *own = made;
    hold(r->name, made, r->mode, c->bound);
    return variable(r->name);
}

static void run_part(stc_program *part, const choice *c)
{
    stc_tensor *own[ROWS] = {NULL};
    for (int k = 0; k < c->n; k++)
        if (!c->row[k].is_result)
            must(m, stc_bind(part, c->row[k].name, operand(c, k, &own[k])));
    must(m, stc_run(part));
    for (int k = 0; k < c->n; k++)
        stc_tensor_free(own[k]);
}

/* A cut result has its own entries alone, but for dense ones, where others do no harm. */
static void keep_results(stc_program *part, const choice *c)
{
    for (int k = 0; k < c->n; k++) {
        const stc_split *r = &c->row[k];
        stc_tensor *t;
        if (!r->is_result) continue;
        must(m, stc_take(part, r->name, &t));
        stc_tensor *made = NULL;
        const range own = {c->bound[rank], c->bound[rank + 1]};
        if (r->how == STC_SPLIT_REDUCE) made = reduce(t, r->fn);
        if (r->how == STC_SPLIT_CUT && strcmp(stc_tensor_format(t), "dense"))
            made = between(t, r->mode, own);
        if (made) stc_tensor_free(t);
        const bool cut = r->how == STC_SPLIT_CUT;
        hold(r->name, made ? made : t, cut ? r->mode : -1, cut ? c->bound : NULL);
    }
}

/* ---- plans ----------------------------------------------------------------------------
 */

static uint64_t stir(uint64_t h, uint64_t x)
{
    return (h ^ x) * 0x9e3779b97f4a7c15u + (h >> 29);
}

/* All that a plan depends on: how its variables lie, their formats, types, shapes and fills
 * (of complex ones the real part), and which matrices they are. */
static uint64_t state_of(const stc_program *p)
{
    uint64_t h = stir(1, (uint64_t)definitions);
    bool result;
    const char *name;
    for (int k = 0; (name = stc_program_name(p, k, &result)); k++) {
        const stc_tensor *t = variable_or_null(name);
        const held *v = find(name);
        h = stir(h, (uint64_t)k + (t != NULL));
        if (!t) continue;
        h = stir(h, (uint64_t)(v->mode + 1) << 8 | (unsigned)stc_tensor_type(t));
        h = stir(h, (uint64_t)(uintptr_t)v->bound + v->stays);
        const stc_value fill = stc_tensor_fill(t);
        h = stir(h, fill.u);
        for (const char *at = stc_tensor_format(t); *at; at++)
            h = stir(h, (unsigned char)*at);
        for (int d = 0; d < stc_tensor_order(t); d++)
            h = stir(h, (uint64_t)stc_tensor_shape(t)[d]);
        if (!result && stc_tensor_order(t) > 1) h = stir(h, (uint64_t)v->version);
    }
    return h;
}

static void forget(plan *p)
{
    free(p->text);
    drop_wants(&p->c);
    stc_program_free(p->part);
    stc_program_free(p->whole);
}

void forget_plans(void)
{
    while (nplan)
        forget(&plans[--nplan]);
}

static plan *plan_of(const char *text)
{
    for (int k = 0; k < nplan; k++)
        if (strcmp(plans[k].text, text) == 0) return &plans[k];
    if (nplan == PLANS) forget(&plans[--nplan]);
    plan *p = &plans[nplan++];
    *p = (plan){.text = strdup(text)};
    if (!p->text) die("there is no memory");
    return p;
}

bool run_split(const char *text, char *what, size_t size)
{
    stc_program *p = NULL;
    if (stc_session_compile(s, text, &p)) return false;
    plan *pl = plan_of(text);
    const uint64_t state = state_of(p);
    if (!pl->part || pl->state != state) {
        drop_wants(&pl->c);
        stc_program_free(pl->part);
        stc_program_free(pl->whole);
        pl->part = NULL;
        pl->whole = p; /* names are its text */
        pl->state = state;
        if (choose(p, &pl->c, what, size)) pl->part = own_part(p, &pl->c);
    } else {
        stc_program_free(p);
    }
    if (pl->part) {
        run_part(pl->part, &pl->c);
        keep_results(pl->part, &pl->c);
        snprintf(what, size, "by mode %d of %s", pl->c.mode, pl->c.name);
    } else {
        everywhere(text);
    }
    return true;
}
