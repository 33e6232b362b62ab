/* native.c: blocked, diagonal and slotted formats, iterated by their own levels.
 *
 * The levels of `(i,j) -> (i/4 : dense, j/4 : compressed, i%4 : dense, …)` aren't
 * modes. Instead of converting such an operand, the loops can run over its
 * levels: each level that isn't a mode gets an index of its own, and the modes'
 * indices are *derived* from those, i = 4*i0 + i2, of as many parts as the format has; the
 * diagonals' j = i + d
 * (formats paper, §2 and fig. 4: such formats are stacks of more levels). A
 * derived index is bound as soon as what it is made of is bound; there, other
 * operands are located, and results inserted. Padding outside the shape is
 * skipped by a test on each derived index.
 *
 * Modes that share a level (`flat(i,j)`) lose their indices altogether: the
 * stream is one loop, if all operands are such streams, and the result too; or if the
 * result is one value, and all that reads streams in it reduces all of them. A coordinate
 * that modes share depends on their sizes, so the indices must run over these sizes:
 * `B(i,j(0:3))` of a B with four columns has other coordinates than the loops.
 *
 * This serves where one map reaches: all operands that touch a derived index
 * have the same map, or can be located; and the result inserts, or has the
 * same map too. Otherwise the operand is converted, as ever. Where its levels are walked
 * but have no order, it is converted to ordered levels of the same map (analyze.c).
 */
#include "build.h"
#include "../../formats/recipe.h"
#include <string.h>

/* ---- which access --------------------------------------------------------------- */

/* Whether the index runs over just the coordinates of a tensor's mode. */
static bool runs_over(const plan *pl, int index, int slot, int mode)
{
    const program *p = pl->p;
    const prog_tensor *t = &p->tensor[slot];
    const extent dim = {.op = EXT_DIM, .a = (uint16_t)slot, .b = (uint16_t)mode};
    const bool given = t->role == ROLE_INPUT || t->role == ROLE_INOUT;
    const int size = given ? program_extent(pl->p, dim) : t->shape[mode];
    const int hi = pl->s->index[index].hi;
    if (hi == size) return true;
    for (int k = 0; k < p->ncheck; k++) {
        const ext_check *c = &p->check[k];
        if (c->rel != REL_EQ) continue;
        if ((c->a == hi && c->b == size) || (c->a == size && c->b == hi)) return true;
    }
    return false;
}

bool native_strides_agree(const plan *pl, int slot, const affine *sub)
{
    const format *f = &pl->p->tensor[slot].fmt;
    for (int l = 0; l < f->levels; l++) {
        const level_map *m = &f->level[l].map;
        for (int t = m->mode + 1; m->op == MAP_FLAT && t < m->mode + m->modes; t++)
            if (!runs_over(pl, sub[t].term[0].index, slot, t)) return false;
    }
    return true;
}

static bool bare_distinct(const plan *pl, const affine *sub, int n)
{
    uint64_t seen = 0;
    for (int m = 0; m < n; m++) {
        if (!affine_is_bare(&sub[m])) return false;
        int i = sub[m].term[0].index;
        if (((seen >> i) & 1) || pl->s->index[i].lo >= 0) return false;
        seen |= UINT64_C(1) << i;
    }
    return true;
}

static bool same_subs(const affine *a, const affine *b, int n)
{
    for (int m = 0; m < n; m++)
        if (!affine_is_bare(&b[m]) || !affine_bare(&a[m], b[m].term[0].index)) return false;
    return true;
}

/* As many terms as an affine subscript has room for. */
enum { AFFINE_TERMS = sizeof((affine *)0)->term / sizeof((affine *)0)->term[0] };

static bool has_map(const format *f, map_op op)
{
    for (int l = 0; l < f->levels; l++)
        if (f->level[l].map.op == op) return true;
    return false;
}

/* Whether each mode is a sum that an index can be derived by. */
static bool parts_fit(const format *f)
{
    int parts[STC_MAX_ORDER] = {0};
    for (int l = 0; l < f->levels; l++)
        if (f->level[l].map.op == MAP_PART && ++parts[f->level[l].map.mode] > AFFINE_TERMS)
            return false;
    return true;
}

/* Whether loops over the levels of an access visit what its subscripts name. */
static bool has_own_loops(const plan *pl, const paccess *x)
{
    return !x->pad && parts_fit(&pl->p->tensor[x->source].fmt) &&
           bare_distinct(pl, x->sub, pl->p->tensor[x->source].order) &&
           native_strides_agree(pl, x->source, x->sub);
}

/* Whether an access can share loops over levels with one of format f at sub. */
static bool shares_loops(const plan *pl, const paccess *x, const format *f,
                         const affine *sub)
{
    return format_equal(&pl->p->tensor[x->source].fmt, f) &&
           same_subs(x->sub, sub, f->order) && has_own_loops(pl, x);
}

static int find_access(const plan *pl)
{
    for (int k = 0; k < pl->naccess; k++) {
        const prog_tensor *t = &pl->p->tensor[pl->access[k].source];
        if (format_is_plain(&t->fmt) || pl->access[k].native) continue;
        return has_own_loops(pl, &pl->access[k]) ? k : -1;
    }
    return -1;
}

/* ---- level indices ------------------------------------------------------------------ */

static int extent_of_level(plan *pl, const level_map *m, const affine *sub, bool low)
{
    program *p = pl->p;
    int n = pl->s->index[sub[m->mode].term[0].index].hi, e;
    switch ((map_op)m->op) {
    case MAP_PART:
        if (m->n) return program_extent(p, (extent){.op = EXT_CONST, .k = m->n});
        e = program_extent(p, (extent){.op = EXT_ADDC, .a = (uint16_t)n, .k = m->k - 1});
        if (e < 0) return -1;
        return program_extent(p, (extent){.op = EXT_FLOORDIV, .a = (uint16_t)e, .k = m->k});
    case MAP_FLAT:
        for (int t = m->mode + 1; n >= 0 && t < m->mode + m->modes; t++) {
            e = pl->s->index[sub[t].term[0].index].hi;
            n = program_extent(p,
                               (extent){.op = EXT_MUL, .a = (uint16_t)n, .b = (uint16_t)e});
        }
        return n;
    case MAP_DIFF:
        if (!low) return n;
        n = pl->s->index[sub[m->mode2].term[0].index].hi;
        e = program_extent(p, (extent){.op = EXT_MULC, .a = (uint16_t)n, .k = -1});
        if (e < 0) return -1;
        return program_extent(p, (extent){.op = EXT_ADDC, .a = (uint16_t)e, .k = 1});
    default: /* slots: as many as there are; the level knows */
        return program_extent(p, (extent){.op = EXT_CONST, .k = INT64_MAX - 1});
    }
}

/* An index for each level: the mode's own, or a new one. */
static stc_status level_indices(plan *pl, const format *f, const affine *sub, int *own)
{
    bstmt *s = pl->s;
    bindex *index = arena_array(pl->a, s->nindex + f->levels + 1, sizeof *index);
    if (!index) return STC_ERR_MEMORY;
    int n = s->nindex;
    for (int k = 0; k < n; k++)
        index[k] = s->index[k];
    for (int l = 0; l < f->levels; l++) {
        const level_map *m = &f->level[l].map;
        own[l] = sub[m->mode].term[0].index;
        if (m->op == MAP_MODE) continue;
        bool low = m->op == MAP_DIFF;
        index[n] = (bindex){.name = "level", .lo = -1, .at = s->at};
        index[n].hi = extent_of_level(pl, m, sub, false);
        if (low) index[n].lo = extent_of_level(pl, m, sub, true);
        if (index[n].hi < 0 || (low && index[n].lo < 0)) return STC_ERR_MEMORY;
        own[l] = n++;
    }
    s->index = index;
    s->nindex = n;
    return STC_OK;
}

/* An index from those of levels, or of positions' levels: of relation `of`. */
static void derive(plan *pl, derived_kind kind, int index, affine at, int by,
                   const relation *of)
{
    pl->derived[pl->nderived++] =
        (derived_index){.kind = kind, .index = index, .at = at, .by = by, .rel = of};
    pl->derived_set |= UINT64_C(1) << index;
}

static void derive_sum(plan *pl, int index, affine at, const relation *of)
{
    derive(pl, DERIVED_AFFINE, index, at, pl->s->index[index].hi, of);
}

/* Modes that share a level have no index of their own any more. */
static void drop_flat(plan *pl, const format *f, const affine *sub)
{
    for (int l = 0; l < f->levels; l++) {
        const level_map *m = &f->level[l].map;
        for (int t = m->mode; m->op == MAP_FLAT && t < m->mode + m->modes; t++)
            pl->dropped |= UINT64_C(1) << sub[t].term[0].index;
    }
    pl->derived_set |= pl->dropped;
}

/* The modes' indices from the levels', which positions may be of. */
static void derive_indices(plan *pl, const format *f, const affine *sub, const int *own,
                           const relation *of)
{
    recipe r;
    format_recipe(f, &r);
    affine sum = {0};
    for (int k = 0; k < r.count; k++) {
        const mode_recipe *m = &r.step[k];
        int mode = sub[m->mode].term[0].index;
        if (m->op == MAP_PART) {
            if (!m->b) sum.terms = 0;
            sum.term[sum.terms].index = own[m->a];
            sum.term[sum.terms++].coef = m->k;
            if (m->k == 1) derive_sum(pl, mode, sum, of);
        }
        if (m->op == MAP_DIFF)
            derive_sum(pl, mode,
                       (affine){2, {{sub[m->b].term[0].index, 1}, {own[m->a], m->k}}, 0},
                       of);
    }
    for (int l = 0; l < f->levels; l++) {
        int diff, other;
        if (f->level[l].map.op != MAP_MODE || !format_implied(f, l, &diff, &other))
            continue;
        if (other < 0 || ((pl->derived_set >> own[l]) & 1)) continue;
        const level_map *d = &f->level[diff].map;
        int sign = d->mode == f->level[l].map.mode ? 1 : -1;
        derive_sum(pl, own[l], (affine){2, {{own[other], 1}, {own[diff], sign}}, 0}, of);
    }
}

/* ---- positions of own levels ------------------------------------------------------- */

stc_status native_own_levels(plan *pl, relation *r)
{
    return level_indices(pl, &pl->p->tensor[r->access->tensor].fmt, r->access->sub, r->own);
}

/* Modes m … m+n-1 from a level that they share: what is left of its coordinate after each
 * has an index, too. */
static stc_status derive_shared(plan *pl, const relation *r, int of, int m, int n)
{
    const affine *sub = r->access->sub;
    bindex *index = arena_array(pl->a, pl->s->nindex + n, sizeof *index);
    if (!index) return STC_ERR_MEMORY;
    memcpy(index, pl->s->index, (size_t)pl->s->nindex * sizeof *index);
    pl->s->index = index;
    affine rest = {1, {{r->own[of], 1}}, 0};
    for (int t = m + n - 1; t > m; t--) {
        const int i = sub[t].term[0].index, by = index[i].hi;
        const int left = t - 1 > m ? pl->s->nindex++ : sub[m].term[0].index;
        if (t - 1 > m) index[left] = index[r->own[of]];
        derive(pl, DERIVED_REMAINDER, i, rest, by, r);
        derive(pl, DERIVED_QUOTIENT, left, rest, by, r);
        rest.term[0].index = left;
    }
    if (n == 1) derive_sum(pl, sub[m].term[0].index, rest, r);
    return STC_OK;
}

stc_status native_derive_modes(plan *pl, const relation *r)
{
    const format *f = &pl->p->tensor[r->access->tensor].fmt;
    stc_status st = STC_OK;
    derive_indices(pl, f, r->access->sub, r->own, r);
    for (int l = 0; l < f->levels && !st; l++) {
        const level_map *m = &f->level[l].map;
        if (m->op == MAP_FLAT) st = derive_shared(pl, r, l, m->mode, m->modes);
    }
    return st;
}

/* ---- the decision ------------------------------------------------------------------- */

/* Whether access k, of another format, can be read at derived indices. */
static bool locatable(const paccess *x, uint64_t derived)
{
    bool late = false;
    if (x->why) return false;
    for (int l = 0; l < x->levels; l++) {
        late = late || (affine_indices(&x->level[l].at) & derived);
        if (late && !(x->level[l].kind->caps & CAP_LOCATE)) return false;
    }
    return true;
}

/* The modes whose index the format would derive. */
static uint64_t would_derive(const format *f, const affine *sub)
{
    uint64_t set = 0;
    for (int l = 0; l < f->levels; l++) {
        int diff, other;
        const level_map *m = &f->level[l].map;
        bool implied =
            m->op == MAP_MODE && format_implied(f, l, &diff, &other) && other >= 0;
        if (m->op == MAP_PART || implied) set |= UINT64_C(1) << sub[m->mode].term[0].index;
    }
    return set;
}

static bool others_agree(const plan *pl, const format *f, int first, uint64_t derived)
{
    const affine *sub = pl->access[first].sub;
    for (int k = 0; k < pl->naccess; k++) {
        const paccess *x = &pl->access[k];
        const bool same = shares_loops(pl, x, f, sub);
        if (same && k != first && has_map(f, MAP_COUNT)) return false;
        if (!same && x->levels && has_map(f, MAP_FLAT)) return false;
        if (!same && !locatable(x, derived)) return false;
    }
    return true;
}

static bool result_agrees(const builder *b, const format *f, const affine *sub,
                          bool inserts)
{
    const plan *pl = b->pl;
    const prog_tensor *t = &pl->p->tensor[pl->s->target];
    if (inserts && !has_map(f, MAP_FLAT)) return true;
    if (!format_equal(&t->fmt, f) || !same_subs(pl->s->sub, sub, f->order) ||
        !native_strides_agree(pl, pl->s->target, sub))
        return false;
    return !b->reduces && !has_map(f, MAP_COUNT) && format_appends(f);
}

static bool is_product(const bexpr *e)
{
    return e->kind == B_ACCESS || e->kind == B_CONST ||
           (e->kind == B_CALL && e->fn == FN_MUL && is_product(e->args[0]) &&
            is_product(e->args[1]));
}

/* Loops over blocks are short, and what else they do is done for each of them: only sums
 * of products over the operand's own indices are faster so than from entries that were
 * converted first. */
static bool worth_converting(const builder *b, const format *f, const affine *sub)
{
    const plan *pl = b->pl;
    uint64_t own = 0, named = 0;
    for (int m = 0; m < f->order; m++)
        own |= affine_indices(&sub[m]);
    for (int k = 0; k < pl->naccess; k++)
        for (int m = 0; m < pl->p->tensor[pl->access[k].source].order; m++)
            named |= affine_indices(&pl->access[k].sub[m]);
    return has_map(f, MAP_PART) && b->reduces &&
           ((named & ~own) || !is_product(b->term[0].value));
}

static void read_by_levels(plan *pl, const format *f, const affine *sub, const int *own)
{
    for (int k = 0; k < pl->naccess; k++) {
        paccess *x = &pl->access[k];
        if (!shares_loops(pl, x, f, sub)) continue;
        x->why = NULL;
        x->native = true;
        for (int l = 0; l < x->levels; l++) {
            x->level[l].at = (affine){1, {{own[l], 1}}, 0};
            if (f->level[l].map.op == MAP_COUNT) x->level[l].props &= ~(uint32_t)PROP_FULL;
        }
    }
}

/* For explain: what becomes of an operand whose levels aren't its modes. */
static stc_status remark(const plan *pl, int access, const char *what)
{
    if (pl->why && access >= 0)
        text_add(pl->why, "%s %s\n", pl->p->tensor[pl->access[access].source].name, what);
    return STC_OK;
}

static int first_mapped(const plan *pl)
{
    for (int k = 0; k < pl->naccess; k++)
        if (!format_is_plain(&pl->p->tensor[pl->access[k].source].fmt) &&
            !pl->access[k].native)
            return k;
    return -1;
}

/* What keeps loops over levels from a statement; NULL: nothing. */
static const char *schedule_refuses(const plan *pl)
{
    if (pl->schedule.nseq || pl->schedule.nrel || pl->npre || pl->schedule.shared)
        return "isn't iterated by its own levels: the schedule is about loops over "
               "its modes";
    return NULL;
}

static const char *statement_refuses(const builder *b)
{
    const plan *pl = b->pl;
    if (!pl->s->whole)
        return "isn't iterated by its own levels: the left side names "
               "only some elements";
    if (b->nterm != 1 || expr_has(b->term[0].value, B_REDUCE))
        return "isn't iterated by its own levels: the right side has "
               "several sums";
    return NULL;
}

/* ---- streams that are reduced ------------------------------------------------------ */

/* The reductions of a right side whose value is one, all of streams of format f, each at
 * the same subscripts throughout; ok: it reads nothing else that has levels, and no index.
 */
typedef struct stream_sums {
    const plan *pl;
    const format *f;
    bexpr *sum[STREAM_SUMS];
    const affine *sub[STREAM_SUMS]; /* NULL: it reads no stream               */
    int n;
    bool ok;
} stream_sums;

/* Whether the last reduction takes all of what access x reads, in an order that is as
 * good. */
static bool reduces_all(stream_sums *z, const paccess *x)
{
    const bexpr *r = z->sum[z->n - 1];
    const affine **sub = &z->sub[z->n - 1];
    if (!*sub) *sub = x->sub;
    if (!shares_loops(z->pl, x, z->f, *sub) || r->nindex != z->f->order) return false;
    uint64_t read = 0;
    bool same = z->f->levels == 1;
    for (int m = 0; m < z->f->order; m++) {
        read |= affine_indices(&x->sub[m]);
        same &= x->sub[m].term[0].index == r->indices[m];
    }
    const bool free = !r->ufn && fn_at(r->fn)->flags & FP_ASSOCIATIVE;
    return read == reduce_indices(r) && (same || free);
}

static void find_sums(stream_sums *z, bexpr *e, bool inside)
{
    if (e->kind == B_REDUCE) {
        z->ok &= !inside && z->n < STREAM_SUMS;
        if (!z->ok) return;
        z->sub[z->n] = NULL;
        z->sum[z->n++] = e;
        inside = true;
    }
    if (e->kind == B_INDEX) z->ok = false;
    if (e->kind == B_ACCESS && z->pl->access[e->mark].levels)
        z->ok = z->ok && inside && reduces_all(z, &z->pl->access[e->mark]);
    for (int k = 0; k < e->nargs; k++)
        find_sums(z, e->args[k], inside);
}

/* The loops of a reduction that reads streams, which take the place of those over its
 * indices: reductions at the same subscripts share accesses, and so their loops' indices.
 */
static stc_status stream_loops(plan *pl, const format *f, const affine *sub, const bexpr *r)
{
    stream *to = &pl->stream[pl->nstream++];
    *to = (stream){.sum = r, .sub = sub, .n = f->levels};
    for (const stream *of = pl->stream; of < to; of++)
        if (same_subs(of->sub, sub, f->order)) {
            memcpy(to->index, of->index, sizeof to->index);
            return STC_OK;
        }
    const stc_status st = level_indices(pl, f, sub, to->index);
    if (st) return st;
    derive_indices(pl, f, sub, to->index, NULL);
    drop_flat(pl, f, sub);
    read_by_levels(pl, f, sub, to->index);
    return STC_OK;
}

/* Each is reduced over its levels; the right side is worked out as a whole. */
static stc_status reduce_streams(builder *b, const stream_sums *z)
{
    for (int k = 0; k < z->n; k++) {
        if (!z->sub[k]) continue;
        const stc_status st = stream_loops(b->pl, z->f, z->sub[k], z->sum[k]);
        if (st) return st;
    }
    b->native = NATIVE_LEVELS;
    b->reduces = false;
    b->ufn = NULL;
    b->sum = b->root;
    b->nterm = 1;
    b->term[0] = (term){.value = b->root};
    return STC_OK;
}

stc_status plan_native(builder *b, bool inserts)
{
    plan *pl = b->pl;
    if (pl->computed_set)
        return remark(pl, first_mapped(pl),
                      "isn't iterated by its own levels: a subscript is computed");
    int first = find_access(pl), own[STC_MAX_ORDER];
    if (first < 0)
        return remark(pl, first_mapped(pl),
                      "isn't iterated by its own levels: a subscript isn't a bare index of "
                      "its own");
    const format *f = &pl->p->tensor[pl->access[first].source].fmt;
    const char *refused = schedule_refuses(pl);
    if (refused) return remark(pl, first, refused);
    if (has_map(f, MAP_FLAT) && pl->s->nsub == 0) {
        stream_sums z = {.pl = pl, .f = f, .ok = true};
        find_sums(&z, b->root, false);
        if (!z.ok || pl->s->nindex + z.n * f->levels > 64)
            return remark(pl, first,
                          "isn't iterated by its own levels: another operand has other "
                          "levels, not all of it is reduced, or an index is read");
        remark(pl, first, "is iterated by its own levels: all of it is reduced");
        return reduce_streams(b, &z);
    }
    refused = statement_refuses(b);
    if (refused) return remark(pl, first, refused);
    const affine *sub = pl->access[first].sub;
    uint64_t derived = would_derive(f, sub);
    const value *from = b->reduces ? &b->identity : b->fill;
    const pset *space = expr_space(pl, b->term[0].value, from);
    if (!space) return STC_ERR_MEMORY;
    if (has_map(f, MAP_COUNT) && !pset_requires(space, first))
        return remark(pl, first,
                      "isn't iterated by its own levels: there are results where "
                      "it has no slot");
    if (has_map(f, MAP_FLAT) && expr_has(b->term[0].value, B_INDEX))
        return remark(pl, first,
                      "isn't iterated by its own levels: an index of a mode that "
                      "shares its level is read");
    if (pl->s->nindex + f->levels > 64 || !others_agree(pl, f, first, derived))
        return remark(pl, first,
                      "isn't iterated by its own levels: another operand has "
                      "other levels and can't be located");
    if (!result_agrees(b, f, sub, inserts))
        return remark(pl, first,
                      "isn't iterated by its own levels: the result neither "
                      "inserts nor has the same levels");
    if (inserts && worth_converting(b, f, sub))
        return remark(pl, first,
                      "isn't iterated by its own levels: more than a product of what its "
                      "own indices name is summed, which entries are better for");
    stc_status st = level_indices(pl, f, sub, own);
    if (st) return st;
    derive_indices(pl, f, sub, own, NULL);
    drop_flat(pl, f, sub);
    read_by_levels(pl, f, sub, own);
    const bool insert = inserts && !has_map(f, MAP_FLAT);
    b->native = insert ? NATIVE_INSERT : NATIVE_LEVELS;
    remark(pl, first,
           insert ? "is iterated by its own levels: the result inserts"
                  : "is iterated by its own levels: the result has the same");
    for (int l = 0; l < f->levels; l++) {
        b->result[l] = own[l];
        b->loops |= UINT64_C(1) << own[l];
    }
    for (int m = 0; m < pl->s->nsub; m++)
        b->loops |= affine_indices(&pl->s->sub[m]);
    b->loops &= ~pl->derived_set;
    return STC_OK;
}
