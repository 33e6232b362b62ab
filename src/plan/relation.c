/* relation.c: loops over indices that stand in place of others.
 *
 *     split(i,i0,i1,n)    i = n*i0 + i1, blocks of n
 *     fuse(i,j,f)         f counts the pairs (i,j)
 *     pos(i,p,A(i,k))     p counts what A stores; also pos(f,p,A(i,k)) after fuse, which
 *                         is over all of A's indices if its levels aren't modes
 *
 * (Workspaces paper, §6.2; the provenance graphs of TACO.) The statement keeps
 * its indices: one that isn't looped over any more is *derived* from those
 * that are, as soon as they are bound, just as the modes of a blocked format
 * are from its levels (native.c). Subscripts are rewritten only by split, so
 * that operands are walked within a block.
 *
 * A fused index, or one of positions, that no split takes apart needs no
 * arithmetic: its loop is the two loops, one right inside the other, or the
 * loop that walks A. Such relations are not `real`; they only bind the order. Levels
 * that aren't modes are no loops' but those of their positions, which are real therefore.
 */
#include "schedule.h"
#include "../../vm/code/build.h"
#include <string.h>

enum { BLOCK_MAX = INT32_MAX };

static int order_of(const plan *pl, const relation *r)
{
    return pl->p->tensor[r->access->tensor].order;
}

static const char *tensor_name(const plan *pl, const relation *r)
{
    return pl->p->tensor[r->access->tensor].name;
}

/* ---- new indices -------------------------------------------------------------------- */

stc_status schedule_new_name(const plan *pl, const ast *command, const ast *at)
{
    for (int i = 0; i < pl->s->nindex; i++)
        if (strcmp(index_name(pl, i), at->name) == 0)
            return command_fail(pl, at, "%s: %s is an index already; a new one is expected",
                                command->name, at->name);
    return STC_OK;
}

/* Argument k must be a new name. */
static stc_status new_name(const plan *pl, const ast *c, int k, const char *usage)
{
    if (k >= c->count || c->child[k]->kind != N_NAME)
        return command_fail(pl, c, "expected %s", usage);
    return schedule_new_name(pl, c, c->child[k]);
}

int schedule_add_index(plan *pl, const ast *at, bindex like)
{
    bstmt *s = pl->s;
    if (s->nindex == 64) {
        command_fail(pl, at, "a statement has at most 64 indices");
        return -1;
    }
    bindex *index = arena_array(pl->a, s->nindex + 1, sizeof *index);
    if (!index) return -1;
    memcpy(index, s->index, (size_t)s->nindex * sizeof *index);
    like.name = at->name;
    like.at = at->at;
    index[s->nindex] = like;
    s->index = index;
    return s->nindex++;
}

static relation *add_relation(plan *pl, relation r)
{
    schedule *s = &pl->schedule;
    if (s->nrel == RELATIONS_MAX) {
        command_fail(pl, r.at, "a schedule takes at most %d indices apart", RELATIONS_MAX);
        return NULL;
    }
    for (int k = 0; k < 2; k++)
        if (r.parent[k] >= 0) s->gone |= UINT64_C(1) << r.parent[k];
    s->rel[s->nrel] = r;
    return &s->rel[s->nrel++];
}

/* The relation that made an index; NULL: the statement did. */
static relation *maker(plan *pl, int index)
{
    for (int r = 0; r < pl->schedule.nrel; r++)
        for (int k = 0; k < 2; k++)
            if (pl->schedule.rel[r].child[k] == index) return &pl->schedule.rel[r];
    return NULL;
}

const relation *relation_user(const plan *pl, int index)
{
    const schedule *s = &pl->schedule;
    for (int r = 0; r < s->nrel; r++)
        if (s->rel[r].parent[0] == index || s->rel[r].parent[1] == index) return &s->rel[r];
    return NULL;
}

int plan_length(plan *pl, int index)
{
    const bindex *b = &pl->s->index[index];
    if (b->lo < 0) return b->hi;
    extent minus = {.op = EXT_MULC, .a = (uint16_t)b->lo, .k = -1};
    int low = program_extent(pl->p, minus);
    if (low < 0) return -1;
    extent sum = {.op = EXT_ADD, .a = (uint16_t)b->hi, .b = (uint16_t)low};
    int length = program_extent(pl->p, sum);
    if (length < 0) return -1;
    return program_extent(pl->p, (extent){.op = EXT_MAX0, .a = (uint16_t)length});
}

/* ---- split --------------------------------------------------------------------------- */

static int blocks_of(plan *pl, int index, int64_t n)
{
    int length = plan_length(pl, index);
    if (length < 0) return -1;
    extent up = {.op = EXT_ADDC, .a = (uint16_t)length, .k = n - 1};
    int e = program_extent(pl->p, up);
    if (e < 0) return -1;
    return program_extent(pl->p, (extent){.op = EXT_FLOORDIV, .a = (uint16_t)e, .k = n});
}

/* Blocks of positions are counted only when their loop begins. */
static stc_status check_counted(plan *pl, const ast *c, int i)
{
    const relation *from = maker(pl, i);
    if (!from || from->kind != REL_SPLIT || from->child[0] != i) return STC_OK;
    const relation *p = maker(pl, from->parent[0]);
    if (!p || p->kind != REL_POS) return STC_OK;
    return command_fail(pl, c,
                        "split: %s counts blocks of positions, whose number is known only "
                        "when its loop begins; split %s instead",
                        index_name(pl, i), index_name(pl, from->child[1]));
}

/* Whether an index is a part of one of positions. */
static bool counts_positions(plan *pl, int i)
{
    const relation *r = maker(pl, i);
    while (r && r->kind == REL_SPLIT)
        r = maker(pl, r->parent[0]);
    return r && r->kind == REL_POS;
}

/* A fused index has as many values as there are pairs. */
static int fused_extent(plan *pl, const ast *c, const relation *r)
{
    int length[2];
    for (int k = 0; k < 2; k++) {
        if (counts_positions(pl, r->parent[k])) {
            command_fail(pl, c, "split: %s is made of %s, which counts positions",
                         index_name(pl, r->child[0]), index_name(pl, r->parent[k]));
            return -1;
        }
        const relation *of = maker(pl, r->parent[k]);
        bool fused = of && of->kind == REL_FUSE;
        length[k] = fused ? fused_extent(pl, c, of) : plan_length(pl, r->parent[k]);
        if (length[k] < 0) return -1;
    }
    extent all = {.op = EXT_MUL, .a = (uint16_t)length[0], .b = (uint16_t)length[1]};
    return pl->s->index[r->child[0]].hi = program_extent(pl->p, all);
}

static stc_status split_one(plan *pl, const ast *c, int i)
{
    const relation *from = maker(pl, i);
    const int64_t n = (int64_t)c->child[3]->u;
    const int lo = pl->s->index[i].lo;
    if (check_counted(pl, c, i)) return STC_ERR_PROGRAM;
    if (lo >= 0 && pl->p->ext[lo].op != EXT_CONST)
        return command_fail(pl, c, "split: the range of %s doesn't begin at a constant",
                            index_name(pl, i));
    bool counted = from && from->kind == REL_POS;
    extent count = {.op = EXT_SPAN}, size = {.op = EXT_CONST, .k = n};
    if (counted) pl->s->index[i].hi = program_push_extent(pl->p, count);
    if (from && from->kind == REL_FUSE && fused_extent(pl, c, from) < 0)
        return pl->p->cx->diag.status;
    bindex like = pl->s->index[i];
    int blocks = counted ? program_push_extent(pl->p, count) : blocks_of(pl, i, n);
    int within = program_extent(pl->p, size);
    if (blocks < 0 || within < 0 || pl->s->index[i].hi < 0) return STC_ERR_MEMORY;
    like.lo = -1;
    like.hi = blocks;
    int i0 = schedule_add_index(pl, c->child[1], like);
    like.hi = within;
    int i1 = i0 < 0 ? -1 : schedule_add_index(pl, c->child[2], like);
    relation r = {REL_SPLIT, {i, -1}, {i0, i1}, .size = n, .at = c};
    return i1 >= 0 && add_relation(pl, r) ? STC_OK : pl->p->cx->diag.status;
}

stc_status schedule_split(plan *pl, const ast *c)
{
    static const char usage[] = "split(i,i0,i1,n)";
    uint64_t set = schedule_argument(pl, c, 0, usage);
    if (!set) return STC_ERR_PROGRAM;
    stc_status st = new_name(pl, c, 1, usage);
    if (!st) st = new_name(pl, c, 2, usage);
    if (st) return st;
    if (strcmp(c->child[1]->name, c->child[2]->name) == 0)
        return command_fail(pl, c->child[2], "split: %s stands twice", c->child[2]->name);
    if (c->count != 4 || c->child[3]->kind != N_INT || c->child[3]->u == 0 ||
        c->child[3]->u > BLOCK_MAX)
        return command_fail(pl, c, "split: expected a size of blocks from 1 to %d",
                            BLOCK_MAX);
    for (; set && !st; set &= set - 1)
        st = split_one(pl, c, __builtin_ctzll(set));
    schedule_replace(pl, c->child[0]->name, c->child[1]->name, c->child[2]->name);
    return st;
}

/* ---- fuse --------------------------------------------------------------------------- */

static stc_status fuse_two(plan *pl, const ast *c, int i, int j)
{
    const bindex *index = pl->s->index;
    for (int k = 0; k < 2; k++) {
        const relation *of = maker(pl, k ? j : i);
        if (of && of->kind == REL_POS)
            return command_fail(pl, c->child[k],
                                "fuse: %s counts positions: fuse before pos",
                                c->child[k]->name);
        if ((k ? index[j].lo : index[i].lo) >= 0 &&
            pl->p->ext[k ? index[j].lo : index[i].lo].op != EXT_CONST)
            return command_fail(pl, c->child[k],
                                "fuse: the range of %s doesn't begin at a constant",
                                c->child[k]->name);
    }
    bindex like = {.lo = -1, .hi = index[i].hi};
    like.reduced = index[i].reduced && index[j].reduced;
    int f = schedule_add_index(pl, c->child[2], like);
    relation r = {REL_FUSE, {i, j}, {f, -1}, .at = c};
    return f >= 0 && add_relation(pl, r) ? STC_OK : pl->p->cx->diag.status;
}

stc_status schedule_fuse(plan *pl, const ast *c)
{
    static const char usage[] = "fuse(i,j,f)";
    uint64_t outer = schedule_argument(pl, c, 0, usage);
    uint64_t inner = outer ? schedule_argument(pl, c, 1, usage) : 0;
    if (!inner) return STC_ERR_PROGRAM;
    stc_status st = c->count == 3 ? new_name(pl, c, 2, usage)
                                  : command_fail(pl, c, "expected %s", usage);
    if (st) return st;
    const char *i = c->child[0]->name, *j = c->child[1]->name;
    if (outer == inner) return command_fail(pl, c, "fuse: %s stands twice", i);
    int pi = schedule_place(pl, i), pj = schedule_place(pl, j);
    if (pi >= 0 && pj >= 0 && pj != pi + 1)
        return command_fail(pl, c, "fuse: the loop over %s isn't right inside that over %s",
                            j, i);
    for (uint64_t a = outer; a && !st; a &= a - 1)
        for (uint64_t b = inner; b && !st; b &= b - 1)
            st = fuse_two(pl, c, __builtin_ctzll(a), __builtin_ctzll(b));
    schedule_replace(pl, pi >= 0 ? i : j, c->child[2]->name, NULL);
    if (pi >= 0) schedule_replace(pl, j, NULL, NULL);
    return st;
}

/* ---- pos ---------------------------------------------------------------------------- */

/* The indices of the statement that a fused one is made of, outermost first;
 * 0: not only of such. */
static int statement_indices(plan *pl, int i, int *out)
{
    const relation *r = maker(pl, i);
    if (!r) {
        *out = i;
        return 1;
    }
    if (r->kind != REL_FUSE) return 0;
    int a = statement_indices(pl, r->parent[0], out);
    int b = a ? statement_indices(pl, r->parent[1], out + a) : 0;
    return b ? a + b : 0;
}

int relation_first(const plan *pl, int index)
{
    const schedule *s = &pl->schedule;
    for (int k = s->nrel - 1; k >= 0; k--)
        if (s->rel[k].child[0] == index || s->rel[k].child[1] == index)
            index = s->rel[k].parent[0];
    return index;
}

static bool same_access(const plan *pl, const bexpr *a, const bexpr *b)
{
    for (int m = 0; m < pl->p->tensor[a->tensor].order; m++)
        if (!affine_equal(&a->sub[m], &b->sub[m])) return false;
    return a->tensor == b->tensor;
}

/* Whether e is the access that is written in the command. */
static bool as_written(const plan *pl, const bexpr *e, const ast *at)
{
    const prog_tensor *t = &pl->p->tensor[e->tensor];
    if (strcmp(t->name, at->name) != 0) return false;
    if (at->kind == N_NAME) return true;
    if (at->count != t->order) return false;
    for (int m = 0; m < t->order; m++) {
        const affine *f = &e->sub[m];
        if (at->child[m]->kind != N_NAME || f->terms != 1) return false;
        int i = f->term[0].index;
        if (!affine_bare(f, i) || strcmp(index_name(pl, i), at->child[m]->name) != 0)
            return false;
    }
    return true;
}

/* Whether the n indices are those at which all modes of e's tensor are read. */
static bool walks_modes(const plan *pl, const bexpr *e, const int *index, int n)
{
    const int order = pl->p->tensor[e->tensor].order;
    int m = 0;
    for (; m < order && n == order; m++) {
        int k = 0;
        while (k < n && !affine_bare(&e->sub[m], index[k]))
            k++;
        for (int before = 0; before < m; before++)
            if (affine_equal(&e->sub[before], &e->sub[m])) return false;
        if (k == n) return false;
    }
    return m == n;
}

/* The level of e's tensor that the n indices walk, one a level: -1 if none. Levels that
 * aren't modes are walked all together. */
static int walked_level(const plan *pl, const bexpr *e, const int *index, int n)
{
    const format *f = &pl->p->tensor[e->tensor].fmt;
    if (!format_is_plain(f)) return walks_modes(pl, e, index, n) ? 0 : -1;
    for (int l = 0; l + n <= f->levels; l++) {
        int k = 0;
        while (k < n && affine_bare(&e->sub[f->level[l + k].map.mode], index[k]))
            k++;
        if (k == n) return l;
    }
    return -1;
}

typedef struct pos_search {
    const ast *at;
    const int *index;
    int n, first, other; /* other: accesses of that name that don't serve   */
    const bexpr *found;
    bool several, mapped; /* mapped: the levels of one of the others aren't modes */
} pos_search;

static void find_walked(const plan *pl, const bexpr *e, pos_search *s)
{
    if (e->kind == B_ACCESS && as_written(pl, e, s->at)) {
        int first = walked_level(pl, e, s->index, s->n);
        s->other += first < 0;
        s->mapped |= first < 0 && !format_is_plain(&pl->p->tensor[e->tensor].fmt);
        if (first >= 0) {
            s->several |= s->found && !same_access(pl, s->found, e);
            s->found = e;
            s->first = first;
        }
    }
    for (int k = 0; k < e->nargs; k++)
        find_walked(pl, e->args[k], s);
}

/* The statement's indices for the levels of positions; own ones come when all relations
 * are known. */
static int *indices_of_levels(plan *pl, const int *index, int n)
{
    int *own = arena_array(pl->a, STC_MAX_ORDER + n, sizeof *own);
    if (own) memcpy(own, index, (size_t)n * sizeof *own);
    return own;
}

static stc_status pos_one(plan *pl, const ast *c, int i, int *other)
{
    int index[64], n = statement_indices(pl, i, index);
    pos_search s = {.at = c->child[2], .index = index, .n = n};
    if (n == 0)
        return command_fail(pl, c->child[0], "pos: %s is no subscript of %s",
                            c->child[0]->name, s.at->name);
    for (int k = 0; k < n; k++)
        if (pl->s->index[index[k]].lo >= 0)
            return command_fail(pl, c->child[0], "pos: the range of %s is narrowed",
                                index_name(pl, index[k]));
    find_walked(pl, pl->s->value, &s);
    for (int k = 0; k < pl->npre; k++)
        find_walked(pl, pl->pre[k].value, &s);
    *other += s.other;
    if (!s.found && s.mapped)
        return command_fail(pl, c,
                            "pos: the levels of %s aren't its modes, so that its positions "
                            "are those of all of them: fuse all indices of %s first",
                            s.at->name, s.at->name);
    if (!s.found) return STC_OK;
    if (s.several)
        return command_fail(pl, s.at,
                            "pos: %s stands at several places: say which, as in "
                            "pos(i,p,A(i,k))",
                            s.at->name);
    int p = schedule_add_index(pl, c->child[1], pl->s->index[i]);
    const format *f = &pl->p->tensor[s.found->tensor].fmt;
    relation r = {REL_POS, {i, -1}, {p, -1}, .access = s.found, .split = -1, .at = c};
    r.level = s.first;
    r.levels = format_is_plain(f) ? n : f->levels;
    r.own = p < 0 ? NULL : indices_of_levels(pl, index, n);
    return r.own && add_relation(pl, r) ? STC_OK : pl->p->cx->diag.status;
}

stc_status schedule_pos(plan *pl, const ast *c)
{
    static const char usage[] = "pos(i,p,A(i,k))";
    uint64_t set = schedule_argument(pl, c, 0, usage);
    if (!set) return STC_ERR_PROGRAM;
    stc_status st = new_name(pl, c, 1, usage);
    if (st) return st;
    if (c->count != 3 || (c->child[2]->kind != N_NAME && c->child[2]->kind != N_CALL))
        return command_fail(pl, c, "expected %s", usage);
    int before = pl->schedule.nrel, other = 0;
    for (; set && !st; set &= set - 1)
        st = pos_one(pl, c, __builtin_ctzll(set), &other);
    if (st) return st;
    if (pl->schedule.nrel == before && other)
        return command_fail(pl, c, "pos: no levels of %s are walked by %s, in that order",
                            c->child[2]->name, c->child[0]->name);
    if (pl->schedule.nrel == before)
        return command_fail(pl, c->child[2], "pos: the right side doesn't read that");
    schedule_replace(pl, c->child[0]->name, c->child[1]->name, NULL);
    return STC_OK;
}

/* ---- all of them together ----------------------------------------------------------- */

static void derive(plan *pl, derived_index d)
{
    pl->derived_set |= UINT64_C(1) << d.index;
    pl->derived[pl->nderived++] = d;
}

static int64_t low_end(const plan *pl, int index)
{
    int lo = pl->s->index[index].lo;
    return lo < 0 ? 0 : pl->p->ext[lo].k;
}

static stc_status derive_split(plan *pl, const relation *r)
{
    int i = r->parent[0];
    affine at = {2, {{r->child[0], r->size}, {r->child[1], 1}}, 0};
    int length = plan_length(pl, i);
    if (length < 0) return STC_ERR_MEMORY;
    derive(pl, (derived_index){DERIVED_AFFINE, i, at, low_end(pl, i), length, NULL});
    return STC_OK;
}

static void derive_fused(plan *pl, const relation *r)
{
    int i = r->parent[0], j = r->parent[1], inner = plan_length(pl, j);
    affine at = {1, {{r->child[0], 1}}, 0};
    derive(pl, (derived_index){DERIVED_QUOTIENT, i, at, low_end(pl, i), inner, NULL});
    derive(pl, (derived_index){DERIVED_REMAINDER, j, at, low_end(pl, j), inner, NULL});
}

/* The coordinates of levels from positions, and from them, where they aren't modes, those
 * of these. */
static stc_status derive_stored(plan *pl, relation *r)
{
    const bool mapped = !format_is_plain(&pl->p->tensor[r->access->tensor].fmt);
    stc_status st = mapped ? native_own_levels(pl, r) : STC_OK;
    affine at = {1, {{r->child[0], 1}}, 0};
    for (int k = 0; k < r->levels && !st; k++)
        derive(pl, (derived_index){DERIVED_POSITION, r->own[k], at, 0, r->level + k, r});
    return st || !mapped ? st : native_derive_modes(pl, r);
}

/* Down from e to the one access of that tensor, as a factor of what is added up: *sums has
 * the indices of the sums around it. False: it isn't so, or there are several. */
static bool adds_up(const bexpr *e, int slot, uint64_t *sums)
{
    int with = 0, in = -1;
    if (e->kind == B_ACCESS) return e->tensor == slot;
    for (int k = 0; k < e->nargs; k++)
        if (expr_reading(e->args[k], slot)) {
            with++;
            in = k;
        }
    const bool sum = e->kind == B_REDUCE && !e->ufn && e->fn == FN_ENTRIES;
    const bool factor =
        e->kind == B_CALL && (fn_distributes(e->fn, FN_ENTRIES, e->cls) ||
                              (e->nargs == 1 && fn_splits(e->fn, FN_ENTRIES, e->cls) == 1));
    if (with != 1 || !(sum || factor || (e->kind == B_CONV && e->type != STC_BOOL)))
        return false;
    for (int k = 0; sum && k < e->nindex; k++)
        *sums |= UINT64_C(1) << e->indices[k];
    return adds_up(e->args[in], slot, sums);
}

/* Whether a tensor's entries can be taken one by one though coordinates repeat above: all
 * levels are counted, and either no two entries have the same ones, or some of these are
 * added up over. Narrow numbers are added up in their own type, where that matters. */
static bool one_by_one(const plan *pl, const relation *r)
{
    const prog_tensor *t = &pl->p->tensor[r->access->tensor];
    uint64_t sums = 0;
    const bool exact = type_is_float(t->type) || type_is_complex(t->type) ||
                       (t->type != STC_BOOL && type_size(t->type) == sizeof(int64_t));
    bool unique = true; /* what a level repeats, those with one child a parent tell apart */
    for (int l = 0; l < t->fmt.levels; l++) {
        const uint32_t props = format_props(&t->fmt, l);
        if (!(props & PROP_ORDERED)) return false;
        if (props & PROP_UNIQUE) continue;
        unique &= l + 1 < t->fmt.levels && format_props(&t->fmt, l + 1) & PROP_BRANCHLESS;
    }
    if (r->level || r->levels != t->fmt.levels) return false;
    if (unique) return true;
    return exact && !pl->npre && adds_up(pl->s->value, r->access->tensor, &sums) &&
           (expr_indices(pl, r->access) & sums);
}

/* Positions of own levels without blocks are counted once, when their loop begins. */
static stc_status count_positions(plan *pl, const relation *r)
{
    if (r->split >= 0) return STC_OK;
    const int count = program_push_extent(pl->p, (extent){.op = EXT_SPAN});
    pl->s->index[r->child[0]].hi = count;
    return count < 0 ? pl->p->cx->diag.status : STC_OK;
}

static stc_status check_positions(const plan *pl, const relation *r)
{
    const format *f = &pl->p->tensor[r->access->tensor].fmt;
    if (pl->s->nindex + f->levels + f->order > 64)
        return command_fail(pl, r->at, "a statement has at most 64 indices");
    if (!native_strides_agree(pl, r->access->tensor, r->access->sub))
        return command_fail(
            pl, r->at,
            "pos: modes of %s share a coordinate, which its sizes count, and "
            "the loops have others",
            tensor_name(pl, r));
    for (int l = r->level; l < r->level + r->levels; l++) {
        const uint32_t props = format_props(f, l);
        const char *why = NULL;
        if (!(f->level[l].kind->caps & CAP_POSITION))
            why = f->level[l].kind->caps & CAP_REGION
                      ? "a position is that of a run, which is at many coordinates"
                      : "positions have no coordinates of their own";
        if (!(props & PROP_UNIQUE) && !one_by_one(pl, r)) why = "coordinates repeat";
        if (why)
            return command_fail(pl, r->at, "pos: in level %d of %s, which is %s, %s", l,
                                tensor_name(pl, r), f->level[l].kind->name, why);
    }
    return STC_OK;
}

/* Children come after their parents: the last relations are the first that can
 * be computed. */
stc_status relation_settle(plan *pl)
{
    schedule *s = &pl->schedule;
    for (int k = s->nrel - 1; k >= 0; k--) {
        relation *r = &s->rel[k];
        const relation *user = relation_user(pl, r->child[0]);
        const bool mapped =
            r->kind == REL_POS && !format_is_plain(&pl->p->tensor[r->access->tensor].fmt);
        r->real = r->kind == REL_SPLIT || mapped || (user && user->real);
        stc_status st = STC_OK;
        if (r->kind == REL_SPLIT) st = derive_split(pl, r);
        if (r->kind == REL_FUSE && r->real && user->kind != REL_POS) derive_fused(pl, r);
        if (r->kind == REL_POS && user) r->split = (int)(user - s->rel);
        r->sub = r->access ? r->access->sub : NULL;
        if (r->kind == REL_POS) st = loops_subscripts(pl, &r->sub, order_of(pl, r));
        if (r->kind == REL_POS && r->real && !st) st = check_positions(pl, r);
        if (r->kind == REL_POS && r->real && !st) st = count_positions(pl, r);
        if (r->kind == REL_POS && r->real && !st) st = derive_stored(pl, r);
        if (st) return st;
    }
    return STC_OK;
}

/* ---- the order ---------------------------------------------------------------------- */

/* The statement's index or real child that an index stands for, first or last of
 * the loops that are one right inside the other. */
int relation_loop(const plan *pl, int index, bool last)
{
    const schedule *s = &pl->schedule;
    for (int k = s->nrel - 1; k >= 0; k--) {
        const relation *r = &s->rel[k];
        if (r->real || r->child[0] != index) continue;
        index = r->parent[last && r->kind == REL_FUSE];
        return relation_loop(pl, index, last);
    }
    return index;
}
