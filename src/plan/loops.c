/* loops.c: which loops stand for a statement's indices under a schedule.
 *
 * Takes sets and lists of the statement's indices; gives those of the loops,
 * where the relations that are real (relation.c) apply. A relation of two
 * indices applies only where both are looped over together, and one of
 * positions only where its access is read.
 */
#include "schedule.h"
#include <string.h>

bool loops_read(const plan *pl, const relation *r, int access)
{
    const paccess *x = &pl->access[access];
    if (x->source != r->access->tensor || x->pad) return false;
    for (int m = 0; m < pl->p->tensor[x->source].order; m++)
        if (!affine_equal(&x->sub[m], &r->sub[m])) return false;
    return true;
}

const relation *loops_all_levels(const plan *pl, int access)
{
    const format *f = &pl->p->tensor[pl->access[access].source].fmt;
    for (int k = 0; k < pl->schedule.nrel; k++) {
        const relation *r = &pl->schedule.rel[k];
        if (r->kind == REL_POS && r->real && r->level == 0 && r->levels == f->levels &&
            loops_read(pl, r, access))
            return r;
    }
    return NULL;
}

/* Whether a relation of positions, or the one that fuses for it, has something to
 * walk among `uses`. */
static bool applies(const plan *pl, const relation *r, uint64_t uses)
{
    if (!r->real) return false;
    const relation *user = relation_user(pl, r->child[0]);
    if (r->kind == REL_FUSE && user && user->kind != REL_SPLIT)
        return applies(pl, user, uses);
    for (int k = 0; r->kind == REL_POS && k < pl->naccess; k++)
        if (((uses >> k) & 1) && loops_read(pl, r, k)) return true;
    return r->kind != REL_POS;
}

static int find(const int *seq, int n, int index)
{
    for (int k = 0; k < n; k++)
        if (seq[k] == index) return k;
    return -1;
}

static int drop(int *seq, int n, int at)
{
    memmove(seq + at, seq + at + 1, (size_t)(n - at - 1) * sizeof *seq);
    return n - 1;
}

int loops_list(const plan *pl, const int *index, int n, uint64_t uses, int *seq)
{
    memcpy(seq, index, (size_t)n * sizeof *seq);
    for (int k = 0; k < pl->schedule.nrel; k++) {
        const relation *r = &pl->schedule.rel[k];
        int a = find(seq, n, r->parent[0]), b = find(seq, n, r->parent[1]);
        if (a < 0 || (r->kind == REL_FUSE && b < 0) || !applies(pl, r, uses)) continue;
        seq[a] = r->child[0];
        if (r->kind == REL_FUSE) n = drop(seq, n, b);
        if (r->kind != REL_SPLIT) continue;
        memmove(seq + a + 2, seq + a + 1, (size_t)(n++ - a - 1) * sizeof *seq);
        seq[a + 1] = r->child[1];
    }
    return n;
}

uint64_t loops_set(const plan *pl, uint64_t set, uint64_t uses)
{
    int index[64], seq[64], n = 0;
    uint64_t loops = 0;
    for (int k = 0; k < 64; k++)
        if ((set >> k) & 1) index[n++] = k;
    n = loops_list(pl, index, n, uses, seq);
    for (int k = 0; k < n; k++)
        loops |= UINT64_C(1) << seq[k];
    return loops;
}

/* ---- the result's loops ----------------------------------------------------------- */

/* Appends the loops of one result index in the order of its values; false if
 * there is no such order. */
static bool append_loops(const plan *pl, const bindex *index, int i, uint64_t uses,
                         bool shared, result_loops *out)
{
    for (int k = 0; k < pl->schedule.nrel; k++) {
        const relation *r = &pl->schedule.rel[k];
        if (!r->real || (r->parent[0] != i && r->parent[1] != i)) continue;
        if (r->kind == REL_SPLIT)
            return append_loops(pl, index, r->child[0], uses, shared, out) &&
                   append_loops(pl, index, r->child[1], uses, shared, out);
        const format *f = &pl->p->tensor[r->access ? r->access->tensor : 0].fmt;
        if (r->kind == REL_FUSE || shared || !applies(pl, r, uses) || r->levels > 1 ||
            !(format_props(f, r->level) & PROP_ORDERED))
            return false;
        return append_loops(pl, index, r->child[0], uses, shared, out);
    }
    out->index[out->n++] = i;
    return true;
}

void loops_of_result(const plan *pl, const int *result, int n, uint64_t uses, bool shared,
                     result_loops *out)
{
    out->n = out->cover[0] = 0; /* index and cover: as many as there are */
    out->levels = n;
    out->complete = out->apart = false;
    for (int l = 0; l < n; l++) {
        int before = out->n;
        if (!append_loops(pl, pl->s->index, result[l], uses, shared, out)) {
            out->n = before;
            return;
        }
        for (int k = before + 1; k < out->n; k++)
            out->cover[k] = l;
        out->cover[out->n] = l + 1;
    }
    out->complete = true;
}

/* ---- subscripts ------------------------------------------------------------------- */

/* f with index i as size * c0 + c1 + low; false if that has too many terms. */
static bool split_affine(affine *f, const relation *r, int64_t low)
{
    for (int t = 0; t < f->terms; t++) {
        if (f->term[t].index != r->parent[0]) continue;
        int64_t coef = f->term[t].coef, add;
        if (f->terms == (int)(sizeof f->term / sizeof *f->term)) return false;
        if (__builtin_mul_overflow(coef, low, &add) ||
            __builtin_add_overflow(f->constant, add, &f->constant) ||
            __builtin_mul_overflow(coef, r->size, &f->term[t].coef))
            return false;
        f->term[t].index = r->child[0];
        f->term[f->terms].index = r->child[1];
        f->term[f->terms++].coef = coef;
        return true;
    }
    return true;
}

stc_status loops_subscripts(plan *pl, const affine **sub, int order)
{
    uint64_t has = 0;
    for (int m = 0; m < order; m++)
        has |= affine_indices(&(*sub)[m]);
    if (!(has & pl->schedule.gone)) return STC_OK;
    affine *own = arena_array(pl->a, order, sizeof *own);
    if (!own) return STC_ERR_MEMORY;
    memcpy(own, *sub, (size_t)order * sizeof *own);
    for (int k = 0; k < pl->schedule.nrel; k++) {
        const relation *r = &pl->schedule.rel[k];
        if (r->kind != REL_SPLIT) continue;
        int lo = pl->s->index[r->parent[0]].lo;
        for (int m = 0; m < order; m++)
            if (!split_affine(&own[m], r, lo < 0 ? 0 : pl->p->ext[lo].k))
                return command_fail(pl, r->at,
                                    "split: a subscript of %s would have more "
                                    "than 6 terms",
                                    pl->s->index[r->parent[0]].name);
    }
    *sub = own;
    return STC_OK;
}

/* ---- what positions need ---------------------------------------------------------- */

stc_status loops_check_space(const plan *pl, uint64_t set, const pset *space, uint64_t uses)
{
    for (int r = 0; r < pl->schedule.nrel; r++) {
        const relation *rel = &pl->schedule.rel[r];
        int outer = relation_first(pl, rel->parent[0]);
        bool looped = rel->kind == REL_POS && ((set >> outer) & 1);
        for (int k = 0; looped && k < pl->naccess; k++)
            if (((uses >> k) & 1) && loops_read(pl, rel, k) && !pset_requires(space, k))
                return command_fail(pl, rel->at,
                                    "pos: there are results where %s stores nothing",
                                    pl->p->tensor[rel->access->tensor].name);
    }
    return STC_OK;
}
