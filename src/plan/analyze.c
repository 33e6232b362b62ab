/* analyze.c: what each loop iterates, and how.
 *
 * Walks the tree of loops with the state of every access: how many of its
 * levels stand on a coordinate, and whether it is certainly stored there. At a
 * loop, the levels whose coordinate the loop binds become operands of its
 * merge; levels whose coordinate is known already are placed after it. Roles
 * follow from capabilities and properties (formats paper, §4.2–4.4, fig. 8):
 * a smallest set of cursors that meets every producing mask walks, the others
 * are located, or sought.
 *
 * An access that can't be read this way is marked with the reason, converted
 * to a plain format in loop order, and the analysis starts again.
 */
#include "../../formats/recipe.h"
#include "pin.h"
#include "work.h"
#include <string.h>

typedef struct state {
    plan *pl;
    uint64_t bound;
    uint64_t certain; /* accesses that are stored, as far as resolved   */
    uint64_t empty;   /* … that are their fill, all levels resolved     */
    bool again;       /* something was marked for conversion            */
    int nseq;
    const cin *around; /* the innermost loop, and how it sees accesses; NULL: none */
    const loop_bits *bits;
    /* as many as there are */
    int depth[PLAN_ACCESSES]; /* levels resolved                                */
    int seq[64];              /* the loops around                               */
} state;

static void state_init(state *st, plan *pl)
{
    memset(st, 0, offsetof(state, depth));
    memset(st->depth, 0, (size_t)pl->naccess * sizeof *st->depth);
    st->pl = pl;
    st->certain = UINT64_MAX;
}

static void state_copy(state *to, const state *from)
{
    memcpy(to, from, offsetof(state, depth));
    memcpy(to->depth, from->depth, (size_t)from->pl->naccess * sizeof *to->depth);
    memcpy(to->seq, from->seq, (size_t)from->nseq * sizeof *to->seq);
}

static bool in(uint64_t set, int k)
{
    return (set >> k) & 1;
}

static int64_t coef_of(const affine *f, int index)
{
    for (int t = 0; t < f->terms; t++)
        if (f->term[t].index == index) return f->term[t].coef;
    return 0;
}

/* ---- conversion --------------------------------------------------------------- */

static int same_conversion(const plan *pl, int slot, const format *f)
{
    for (int k = 0; k < pl->naccess; k++)
        if (pl->access[k].converted && pl->access[k].source == slot &&
            format_equal(&pl->p->tensor[pl->access[k].tensor].fmt, f))
            return pl->access[k].tensor;
    return -1;
}

/* The loop after which a subscript is known, derived indices included; -1: before
 * all. */
static int known_after(const state *st, const affine *sub)
{
    uint64_t bound = 0;
    int k = -1;
    while (!affine_bound(sub, plan_bound(st->pl, bound)) && ++k < st->nseq)
        bound |= UINT64_C(1) << st->seq[k];
    return k;
}

/* Modes in the order in which the loops bind their coordinates. */
static void loop_order(const state *st, const paccess *x, int order, int *mode)
{
    int at[STC_MAX_ORDER];
    for (int m = 0; m < order; m++) {
        at[m] = known_after(st, &x->sub[m]);
        int place = m;
        while (place > 0 && at[mode[place - 1]] > at[m]) {
            mode[place] = mode[place - 1];
            place--;
        }
        mode[place] = m;
    }
}

/* A vector of which a copy pays is searched: the copy finds places. */
const level_kind *converted_level(const format *f, const paccess *x, int l)
{
    const int order = f->order;
    bool full = true;
    if (order == 1 && x->copied & COPY_PAYS)
        return level_kind_with(CAP_LOCATE | CAP_APPEND, PROP_ORDERED, PROP_FULL);
    for (int k = 0; k < f->levels; k++)
        full = full && (format_props(f, k) & PROP_FULL);
    const bool rows =
        order > 1 && l == 0 && (format_props(f, 0) & PROP_FULL || x->copied & COPY_ROWS);
    return full || rows ? level_full() : level_sparse();
}

/* An operand that is read by its own levels keeps them, in order and each coordinate
 * once; what follows from a difference of modes stays as it is. */
static void ordered_levels(format *f)
{
    bool changed = false;
    for (int l = 0; l < f->levels; l++) {
        const uint32_t props = format_props(f, l);
        int diff, other;
        changed |= !(props & PROP_ORDERED) || !(props & PROP_UNIQUE);
        if (format_implied(f, l, &diff, &other)) continue;
        if (props & PROP_ORDERED && props & PROP_UNIQUE &&
            !(changed && props & PROP_BRANCHLESS))
            continue;
        f->level[l].kind = level_sparse();
        f->level[l].number = 0;
    }
    for (int l = 0; l < f->levels; l++)
        f->level[l].flags = 0;
}

/* Rows that are stored whole stay so, if their modes are the last ones as before: each of
 * their elements counts as stored, and one by one those that equal the fill would not. */
static void keep_rows(const format *from, const int *mode, format *f)
{
    if (!format_is_plain(from)) return;
    for (int l = from->order - 1; l > 0 && from->level[l].map.mode == mode[l]; l--) {
        if (!(format_props(from, l) & PROP_FULL)) return;
        format_set(f, l, level_full(), mode[l], 0);
    }
}

static void converted_format(const state *st, const paccess *x, format *f)
{
    const prog_tensor *t = &st->pl->p->tensor[x->source];
    int mode[STC_MAX_ORDER];
    if (x->native) {
        *f = t->fmt;
        ordered_levels(f);
        return;
    }
    loop_order(st, x, t->order, mode);
    bool in_order = !x->pad && !st->pl->nderived;
    for (int l = 0; l < t->order; l++)
        in_order = in_order && mode[l] == l;
    if (in_order && plan_stream_rows(st->pl, &t->fmt, x->sub, f)) return;
    format_init(f, t->order);
    for (int l = 0; l < t->order; l++)
        format_set(f, l, converted_level(&t->fmt, x, l), mode[l], 0);
    keep_rows(&t->fmt, mode, f);
}

/* At a leaf, where all loops around are known: converts what is marked. */
static stc_status convert_marked(state *st, uint64_t uses)
{
    plan *pl = st->pl;
    for (int k = 0; k < pl->naccess; k++) {
        paccess *x = &pl->access[k];
        const int n = st->nseq;
        if (in(uses, k) && !x->converted && n > 0 &&
            access_turns(x, st->seq[0], st->seq[n - 1]))
            x->why = access_strides(x, st->seq[n - 1])
                         ? "its rows are read across, many times"
                     : x->levels > 1 ? "its rows are searched, many times"
                                     : "it is searched, many times";
        if (!in(uses, k) || !x->why) continue;
        st->again = true;
        if (pl->p->tensor[x->source].role == ROLE_WORK || precompute_of(pl, x->source)) {
            const char *name = pl->p->tensor[x->source].name;
            return schedule_fail(pl,
                                 "loops that read %s have another order than its indices",
                                 name[0] ? name : "a workspace");
        }
        if (x->converted && pl->schedule.nrel)
            return schedule_fail(pl, "loops that read %s have several orders",
                                 pl->p->tensor[x->source].name);
        if (x->converted)
            return fail(pl->p->cx, STC_ERR_PROGRAM, "internal: %s was converted and %s",
                        pl->p->tensor[x->source].name, x->why);
        prog_tensor t = pl->p->tensor[x->source];
        converted_format(st, x, &t.fmt);
        int slot = same_conversion(pl, x->source, &t.fmt);
        if (slot < 0) {
            for (int m = 0; m < t.order; m++) {
                const extent size = {
                    .op = EXT_DIM, .a = (uint16_t)x->source, .b = (uint16_t)m};
                const int e = program_extent(pl->p, size);
                if (e < 0) return pl->p->cx->diag.status;
                t.shape[m] = (uint16_t)e;
            }
            t.keep_while = t.role == ROLE_INPUT;
            t.source = (uint16_t)x->source;
            t.role = ROLE_TEMP;
            t.name = "";
            slot = program_tensor(pl->p, &t);
            if (slot < 0) return STC_ERR_MEMORY;
        }
        const char *why = x->why;
        x->tensor = slot;
        x->converted = true;
        stc_status s = access_set_format(pl, x, &pl->p->tensor[slot].fmt);
        if (s) return s;
        if (pl->why) {
            text_add(pl->why, "%s is converted to ", pl->p->tensor[x->source].name);
            format_print(&t.fmt, pl->why);
            text_add(pl->why, ": %s\n", why);
        }
    }
    return STC_OK;
}

/* ---- what an access can do --------------------------------------------------------- */

/* A nonunique level is read only if its duplicates chain: what is below has
 * one child per position, in order (formats paper, §4.3). */
static void check_chains(paccess *x)
{
    for (int l = 0; l < x->levels; l++) {
        if (x->level[l].props & PROP_UNIQUE) continue;
        if (!(x->level[l].props & PROP_ORDERED)) x->why = "its duplicates are unordered";
        for (int d = l + 1; d < x->levels; d++)
            if (!(x->level[d].props & PROP_BRANCHLESS) ||
                !(x->level[d].kind->caps & CAP_CHAIN))
                x->why = "what is below its duplicates can't be chained";
    }
}

/* Whether the loops inside assemble result levels in order of this index. */
static bool appends_in_order(const plan *pl, const cin *c, int index)
{
    for (; c; c = c->next) {
        if (c->kind == CIN_FORALL && appends_in_order(pl, c->body, index)) return true;
        if (c->kind != CIN_STORE || !c->append) continue;
        const format *f = &pl->p->tensor[c->target].fmt;
        for (int l = 0; l < c->nsub; l++)
            if (!(f->level[l].kind->caps & CAP_INSERT)) return true;
    }
    return false;
}

/* ---- levels placed after a loop ----------------------------------------------------- */

static stc_status place_late(state *st, uint64_t uses, uint64_t before, loop_late *late,
                             int *n)
{
    plan *pl = st->pl;
    for (int k = 0; k < pl->naccess; k++) {
        paccess *x = &pl->access[k];
        if (!in(uses, k) || x->why) continue;
        while (st->depth[k] < x->levels &&
               affine_bound(&x->level[st->depth[k]].at, st->bound)) {
            const plevel *lv = &x->level[st->depth[k]];
            bool located = lv->kind->caps & CAP_LOCATE;
            if (!located && !(lv->props & PROP_ORDERED)) {
                x->why = "an unordered level would be searched";
                break;
            }
            if (!located && plan_indices(pl, &lv->at) && affine_bound(&lv->at, before)) {
                x->why = "the loops bind its levels in another order";
                break;
            }
            if (!(lv->props & PROP_FULL) || x->pad) st->certain &= ~(UINT64_C(1) << k);
            late[(*n)++] = (loop_late){k, st->depth[k]++, located, NULL, -1};
        }
    }
    return STC_OK;
}

/* Levels whose positions the loop has settled: their coordinates are read there. */
static stc_status place_stored(state *st, uint64_t uses, uint64_t before, loop_late *late,
                               int *n)
{
    plan *pl = st->pl;
    for (int m = 0; m < pl->schedule.nrel; m++) {
        const relation *r = &pl->schedule.rel[m];
        if (r->kind != REL_POS || !r->real || in(before, r->child[0]) ||
            !in(st->bound, r->child[0]))
            continue;
        for (int k = 0; k < pl->naccess; k++) {
            if (!in(uses, k) || !loops_read(pl, r, k)) continue;
            const paccess *x = &pl->access[k];
            if (x->why || x->converted || st->depth[k] != r->level)
                return command_fail(
                    pl, r->at,
                    "pos: the levels of %s above those counted by %s must be bound "
                    "by loops outside of it",
                    pl->p->tensor[x->source].name, pl->s->index[r->child[0]].name);
            while (st->depth[k] < r->level + r->levels)
                late[(*n)++] = (loop_late){k, st->depth[k]++, false, r, -1};
        }
    }
    return STC_OK;
}

/* ---- one loop ----------------------------------------------------------------------- */

typedef struct candidates {
    int n, here; /* the first `here` have a level at this loop       */
    uint64_t accesses;
    loop_operand op[PLAN_ACCESSES];
} candidates;

static void collect(state *st, const cin *loop, uint64_t before, candidates *c)
{
    plan *pl = st->pl;
    uint64_t shown = pset_accesses(loop->space);
    c->n = 0;
    c->accesses = 0;
    for (int k = 0; k < pl->naccess; k++) {
        paccess *x = &pl->access[k];
        if (!in(loop->uses, k) || x->why || st->depth[k] >= x->levels) continue;
        const affine *at = &x->level[st->depth[k]].at;
        const int subsect =
            plan_subsect(pl, x, st->depth[k], in(st->certain, k), before, loop->index);
        if (subsect < 0 && (!affine_bound(at, st->bound) || coef_of(at, loop->index) <= 0))
            continue;
        c->op[c->n++] = (loop_operand){.access = k,
                                       .level = subsect < 0 ? st->depth[k] : subsect,
                                       .role = MERGE_WALK,
                                       .affine = !affine_bare(at, loop->index),
                                       .subsect = subsect >= 0,
                                       .root = st->depth[k]};
        c->accesses |= UINT64_C(1) << k;
    }
    c->here = c->n;
    for (int k = 0; k < pl->naccess; k++) {
        if (!in(shown & loop->uses, k) || in(c->accesses | st->certain | st->empty, k))
            continue;
        if (st->depth[k] == 0 || pl->access[k].why) continue;
        c->op[c->n++] =
            (loop_operand){.access = k, .level = st->depth[k] - 1, .role = MERGE_KNOWN};
        c->accesses |= UINT64_C(1) << k;
    }
}

/* Full levels under a certain parent are everywhere: their bit says nothing. */
static bool everywhere(const state *st, const loop_operand *o)
{
    const paccess *x = &st->pl->access[o->access];
    return !o->subsect && in(st->certain, o->access) && !x->pad &&
           (x->level[o->level].props & PROP_FULL);
}

static bool locates(const plan *pl, const loop_operand *o)
{
    return !o->subsect && pl->access[o->access].level[o->level].kind->caps & CAP_LOCATE;
}

static bool ordered(const plan *pl, const loop_operand *o)
{
    return pl->access[o->access].level[o->level].props & PROP_ORDERED;
}

/* Whether a coordinate of o is found in less than linear time, wherever it stood before. */
static bool searches(const plan *pl, const loop_operand *o)
{
    const plevel *lv = &pl->access[o->access].level[o->level];
    const uint32_t found = PROP_ORDERED | PROP_UNIQUE;
    return !o->subsect && lv->kind->caps & CAP_SEEK && (lv->props & found) == found;
}

/* What it costs to walk o, as far as levels tell; inner: others are below what loops around
 * have bound, so that they are short where a first level is walked again from its begin. */
static int walk_cost(const state *st, const loop_operand *o, bool inner)
{
    const bool sought = locates(st->pl, o);
    const int again = sought ? 20 : searches(st->pl, o) ? 4 : 0;
    return 4 + (sought ? 2 : 0) + (inner && !o->level ? again : 0) +
           (ordered(st->pl, o) ? 0 : 1) + o->subsect + (everywhere(st, o) ? 40 : 0);
}

/* The best set of walkers: few, and none that could be located instead. */
static uint64_t choose_drive(const state *st, const candidates *c, const lattice_table *t)
{
    uint64_t best = 0, all = 0;
    int best_cost = 1 << 20;
    bool inner = false;
    for (int k = 0; k < c->here; k++) {
        all |= UINT64_C(1) << k;
        inner = inner || c->op[k].level > 0;
    }
    if (c->here > MERGE_TABLE_MAX) return all;
    for (uint64_t set = 1; set <= all; set++) {
        int cost = 0;
        for (int k = 0; k < c->here; k++)
            if (in(set, k)) cost += walk_cost(st, &c->op[k], inner);
        if (cost < best_cost && lattice_driven(t, c->n, set)) {
            best = set;
            best_cost = cost;
        }
    }
    return best ? best : all;
}

static bool universe_needed(const candidates *c, const lattice_table *t)
{
    uint64_t known = 0;
    for (int k = c->here; k < c->n; k++)
        known |= UINT64_C(1) << k;
    if (lattice_produces(t, known) || lattice_produces(t, 0)) return true;
    for (int k = c->here; k < c->n; k++)
        if (lattice_produces(t, UINT64_C(1) << k)) return true;
    return false;
}

/* Whether what is walked is one operand alone that others can't be walked beside: it isn't
 * in order, or has a single coordinate for each parent (no chain of duplicates'), for which
 * others, which are walked from their begin, would be gone through. These are searched,
 * then, as if located. */
static bool walks_apart(const state *st, const candidates *c, uint64_t drive)
{
    if (!drive || drive & (drive - 1)) return false;
    const loop_operand *o = &c->op[__builtin_ctzll(drive)];
    if (!o->level || o->subsect) return false;
    const plevel *lv = &st->pl->access[o->access].level[o->level];
    const bool single = lv->props & PROP_BRANCHLESS && lv[-1].props & PROP_UNIQUE;
    return !ordered(st->pl, o) || single;
}

static void assign_roles(state *st, const cin *loop, candidates *c, const loop_info *info)
{
    plan *pl = st->pl;
    uint64_t drive = info->universe ? 0 : choose_drive(st, c, &info->loop_table);
    const bool apart = walks_apart(st, c, drive);
    int walkers = 0, sought = 0;
    for (int k = 0; k < c->here; k++) {
        loop_operand *o = &c->op[k];
        const bool located = locates(pl, o) || (apart && searches(pl, o));
        o->role = in(drive, k) ? MERGE_WALK : located ? MERGE_LOCATE : MERGE_FOLLOW;
        walkers += o->role == MERGE_WALK;
        sought += o->role == MERGE_FOLLOW;
    }
    bool lone = walkers == 1 && sought == 0 && !info->universe &&
                !appends_in_order(pl, loop->body, loop->index);
    for (int k = 0; k < c->here; k++) {
        loop_operand *o = &c->op[k];
        if (o->role == MERGE_LOCATE || ordered(pl, o)) continue;
        if (lone && o->role == MERGE_WALK && !o->affine) continue;
        pl->access[o->access].why = "an unordered level would be merged";
    }
}

static void bits_of(const state *st, const candidates *c, loop_bits *b, uint64_t shown)
{
    b->late = b->exact = 0;
    memset(b->bit, -1, (size_t)st->pl->naccess * sizeof *b->bit);
    for (int k = 0; k < c->n; k++) {
        const loop_operand *o = &c->op[k];
        if (k < c->here && everywhere(st, o) && !in(shown, o->access)) continue;
        b->bit[o->access] = k;
    }
}

static uint64_t complemented(const pset *s)
{
    if (s->op == PS_AND || s->op == PS_OR) return complemented(s->a) | complemented(s->b);
    bool exact = s->op == PS_ABSENT || (s->op == PS_STORED && s->exact);
    return exact ? UINT64_C(1) << s->access : 0;
}

/* Bits of late operands and of exact complements, and the table over them. */
static stc_status second_table(state *st, const cin *loop, loop_info *info, loop_bits *b)
{
    plan *pl = st->pl;
    uint64_t shown = pset_accesses(loop->space), exact = complemented(loop->space);
    for (int k = 0; k < info->late_count; k++) {
        loop_late *l = &info->late[k];
        bool last = k + 1 == info->late_count || info->late[k + 1].access != l->access;
        if (!last || !in(shown, l->access) || in(st->certain, l->access)) continue;
        if (b->bit[l->access] < 0) b->bit[l->access] = info->bits++;
        b->late |= UINT64_C(1) << l->access;
        l->bit = b->bit[l->access];
    }
    info->fill = arena_array(pl->a, pl->naccess + 1, sizeof *info->fill);
    if (!info->fill) return STC_ERR_MEMORY;
    for (int k = 0; k < pl->naccess; k++) {
        if (!in(exact & loop->uses, k) || b->bit[k] < 0) continue;
        if (st->depth[k] < pl->access[k].levels) continue;
        info->fill[info->fill_count].bit = b->bit[k];
        info->fill[info->fill_count++].access = k;
        b->exact |= UINT64_C(1) << k;
    }
    info->skip = b->late || info->fill_count;
    if (!info->skip) return STC_OK;
    return lattice_table_make(pl, loop->space, b, true, info->bits, &info->skip_table);
}

static void note_certain(state *st, const loop_info *info, const loop_bits *b)
{
    const lattice_table *t = info->skip ? &info->skip_table : &info->loop_table;
    const int bits = info->skip ? info->bits : info->count;
    uint64_t sure = lattice_certain(t, bits), never = lattice_never(t, bits);
    for (int k = 0; k < info->count; k++) {
        const loop_operand *o = &info->operand[k];
        uint64_t bit = UINT64_C(1) << o->access;
        if (o->subsect) continue; /* it may be there: further in that is decided */
        if (in(never, k) && b->bit[o->access] == k &&
            st->depth[o->access] == st->pl->access[o->access].levels)
            st->empty |= bit;
        if (in(sure, k) && b->bit[o->access] == k)
            st->certain |= bit;
        else if (o->role != MERGE_KNOWN && !everywhere(st, o))
            st->certain &= ~bit;
    }
}

/* Where a loop goes through all coordinates only for operands of whose levels below one is
 * looked up at a coordinate that loops around have bound: most are absent, and where all
 * are, nothing is produced. What is stored costs less, in the order of the loops. */
static void refuse_lookups(const state *st, const loop_info *info, const loop_bits *b,
                           uint64_t before)
{
    plan *pl = st->pl;
    if (!info->universe || !info->skip || lattice_produces(&info->skip_table, 0)) return;
    for (int k = 0; k < info->late_count; k++) {
        const loop_late *l = &info->late[k];
        paccess *x = &pl->access[l->access];
        const plevel *lv = &x->level[l->level];
        if (!l->located || lv->props & PROP_FULL || b->bit[l->access] < 0 ||
            !plan_indices(pl, &lv->at) || !affine_bound(&lv->at, before))
            continue;
        if (!x->converted && !x->native && pl->p->tensor[x->source].role != ROLE_WORK &&
            !precompute_of(pl, x->source))
            x->why = "it would be looked up at all coordinates of a loop";
    }
}

/* Room for every level of every access. */
static loop_late *late_room(plan *pl)
{
    int64_t n = 1;
    for (int k = 0; k < pl->naccess; k++)
        n += pl->access[k].levels;
    return arena_array(pl->a, n, sizeof(loop_late));
}

static stc_status analyze_list(state *st, cin *c);

/* What the loop merges, and the table of its merge. */
static stc_status merge_operands(state *st, const cin *loop, loop_info *info,
                                 uint64_t before, loop_bits *bits)
{
    plan *pl = st->pl;
    candidates c;
    collect(st, loop, before, &c);
    bits_of(st, &c, bits, complemented(loop->space));
    stc_status s = lattice_table_make(pl, loop->space, bits, false, c.n, &info->loop_table);
    if (s) return s;
    info->universe = info->pin.to || universe_needed(&c, &info->loop_table);
    assign_roles(st, loop, &c, info);
    info->count = info->bits = c.n;
    info->operand = arena_array(pl->a, c.n + 1, sizeof *info->operand);
    if (!info->operand) return STC_ERR_MEMORY;
    memcpy(info->operand, c.op, (size_t)c.n * sizeof *c.op);
    for (int k = 0; k < c.here; k++)
        if (!c.op[k].subsect) st->depth[c.op[k].access] = c.op[k].level + 1;
    note_certain(st, info, bits);
    return STC_OK;
}

static stc_status analyze_loop(state *st, cin *loop)
{
    plan *pl = st->pl;
    state inner;
    loop_bits bits;
    state_copy(&inner, st);
    loop_info *info = arena_alloc(pl->a, sizeof *info);
    if (!info) return STC_ERR_MEMORY;
    loop->info = info;
    inner.bound = plan_bound(pl, st->bound | UINT64_C(1) << loop->index);
    inner.seq[inner.nseq++] = loop->index;
    inner.again = false;
    inner.around = loop;
    inner.bits = &bits;
    const pinned_reads reads = {st->bound, inner.bound, st->certain, st->depth};
    info->pin = pin_of(pl, loop, &reads, st->around);
    info->late = late_room(pl);
    if (!info->late) return STC_ERR_MEMORY;
    stc_status s = STC_OK;
    if (info->pin.way != PIN_ROUND) { /* the mask is that of the loop around */
        bits = *st->bits;
        info->bits = st->around->info->bits;
    } else {
        s = merge_operands(&inner, loop, info, st->bound, &bits);
    }
    if (!s) s = place_stored(&inner, loop->uses, st->bound, info->late, &info->late_count);
    if (!s) s = place_late(&inner, loop->uses, st->bound, info->late, &info->late_count);
    if (!s && info->pin.way != PIN_CHOSEN) s = second_table(&inner, loop, info, &bits);
    if (s) return s;
    if (info->pin.way == PIN_ROUND) refuse_lookups(&inner, info, &bits, st->bound);
    if (info->skip) note_certain(&inner, info, &bits);
    s = reach_tables(pl, loop->body, &bits, info->bits);
    if (s) return s;
    s = analyze_list(&inner, loop->body);
    st->again |= inner.again;
    return s;
}

static stc_status analyze_list(state *st, cin *c)
{
    for (; c && !st->again; c = c->next) { /* a conversion starts it all again */
        const bool holds = c->kind == CIN_LAZY || c->kind == CIN_WHEN;
        const uint64_t reads = c->kind != CIN_WHEN ? c->uses : expr_uses(c->value);
        stc_status s = c->kind == CIN_FORALL ? analyze_loop(st, c)
                       : c->kind == CIN_LAZY ? STC_OK
                                             : convert_marked(st, reads);
        if (!s && holds) s = analyze_list(st, c->body);
        if (s) return s;
    }
    return STC_OK;
}

/* With what computed subscripts read: these stand before what is read there. */
static uint64_t with_subscripts(const plan *pl, uint64_t uses)
{
    for (int k = pl->naccess - 1; k >= 0 && pl->computed_set; k--)
        if (in(uses, k)) uses |= pl->access[k].reads;
    return uses;
}

static uint64_t note_uses(const plan *pl, cin *c)
{
    uint64_t all = 0;
    for (; c; c = c->next) {
        if (c->kind == CIN_WHEN)
            c->uses = note_uses(pl, c->body) | expr_uses(c->value);
        else if (c->kind == CIN_FORALL || c->kind == CIN_LAZY)
            c->uses = note_uses(pl, c->body);
        else if (c->kind == CIN_UPDATE)
            c->uses = with_subscripts(pl, c->needs);
        else if (c->value && c->kind != CIN_TEMP && c->kind != CIN_REST)
            c->uses = expr_uses(c->value) | (c->guard ? expr_uses(c->guard) : 0) |
                      with_subscripts(pl, c->needs);
        all |= c->uses;
    }
    return all;
}

stc_status plan_analyze(plan *pl)
{
    uint64_t uses = note_uses(pl, pl->root);
    for (int k = 0; k < pl->naccess; k++)
        if (!pl->access[k].why && !loops_all_levels(pl, k)) check_chains(&pl->access[k]);
    for (int round = 0; round <= 2 * PLAN_ACCESSES; round++) {
        state st;
        state_init(&st, pl);
        st.bound = plan_bound(pl, 0);
        pl->nbefore = 0;
        pl->before = late_room(pl);
        if (!pl->before) return STC_ERR_MEMORY;
        stc_status s = place_late(&st, uses, 0, pl->before, &pl->nbefore);
        if (!s) s = analyze_list(&st, pl->root);
        if (s) return s;
        if (!st.again) return STC_OK;
    }
    return fail(pl->p->cx, STC_ERR_PROGRAM, "internal: the analysis doesn't settle");
}
