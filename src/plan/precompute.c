/* precompute.c: a part of the right side evaluated first, into a workspace.
 *
 *     precompute(e, W, {i,j} [, {io,jo}] [, policy [, capacity [, single]]])
 *
 * The statement becomes `… W(i,j) … where W(i,j) = e` (workspaces paper, §6.1):
 * e's place is taken by an access of W, and e is produced by loops of its own
 * where the indices that it has besides are bound. Reduction indices that e alone
 * uses and W doesn't have move into the producer: W(i,j) = sum(k: e). That needs
 * a reduction that may be reassociated, and that goes through the products
 * around e, or is e. {io,jo} are new names for i and j on the consumer's side.
 *
 * What is made of operands with regions (rle, lz77) is no workspace, if nothing is asked of
 * one: it is assembled in order, and has their regions.
 *
 * To the consumer W is an operand like others, stored where e's space says; it
 * is read in the order of its levels, so loops that would need another aren't
 * considered.
 */
#include "schedule.h"
#include <string.h>

static const char usage[] =
    "precompute(e, W, {i,j} [, {io,jo}] [, policy [, capacity [, single]]])";

bool way_down(way *w, bexpr **at)
{
    if (w->n == WAY_MAX) return false;
    w->at[w->n++] = at;
    return true;
}

/* ---- what is meant ------------------------------------------------------------------ */

/* Whether two places of the text say the same, blanks apart. */
static bool same_text(const char *text, span a, span b)
{
    for (;;) {
        while (a.begin < a.end && strchr(" \t\r\n", text[a.begin]))
            a.begin++;
        while (b.begin < b.end && strchr(" \t\r\n", text[b.begin]))
            b.begin++;
        if (a.begin >= a.end || b.begin >= b.end)
            return a.begin >= a.end && b.begin >= b.end;
        if (text[a.begin++] != text[b.begin++]) return false;
    }
}

/* The innermost node that is written so; of a reduction, what it reduces. */
static bool find_written(const plan *pl, bexpr **at, span text, way *w)
{
    if (!way_down(w, at)) return false;
    for (int k = 0; k < (*at)->nargs; k++)
        if (find_written(pl, &(*at)->args[k], text, w)) return true;
    if (same_text(pl->src->text, (*at)->at, text))
        return (*at)->kind != B_REDUCE || way_down(w, &(*at)->args[0]);
    w->n--;
    return false;
}

/* Reading argument 2 or 3: {i,j}. */
static bool is_names(const ast *c, int k)
{
    return k < c->count && c->child[k]->kind == N_NAMES && c->child[k]->count > 0;
}

/* The indices of e that W has, by name. */
static stc_status read_indices(const plan *pl, const ast *names, uint64_t has,
                               precomputed *p)
{
    if (names->count > STC_MAX_ORDER)
        return command_fail(pl, names, "precompute: more than %d indices", STC_MAX_ORDER);
    for (int k = 0; k < names->count; k++) {
        int found = -1;
        for (int i = 0; i < pl->s->nindex; i++)
            if (((has >> i) & 1) &&
                strcmp(pl->s->index[i].name, names->child[k]->name) == 0)
                found = i;
        if (found < 0)
            return command_fail(pl, names->child[k],
                                "precompute: what is to be computed has no index %s",
                                names->child[k]->name);
        for (int m = 0; m < k; m++)
            if (p->index[m] == found)
                return command_fail(pl, names->child[k], "precompute: %s stands twice",
                                    names->child[k]->name);
        p->index[p->order++] = found;
        p->vars |= UINT64_C(1) << found;
    }
    return STC_OK;
}

/* ---- reductions that move ----------------------------------------------------------- */

/* Whether e may be summed before what is around it, down the way from `from`. */
static const char *blocks_move(const plan *pl, const way *w, int from, int index)
{
    const bexpr *r = *w->at[from];
    const uint8_t need = FP_ASSOCIATIVE | FP_COMMUTATIVE;
    value identity;
    if ((reduce_flags(r) & need) != need) return "the reduction can't be reassociated";
    const bool begins = reduce_identity(r, &identity);
    for (int k = from + 1; k + 1 < w->n; k++) {
        const bexpr *x = *w->at[k], *inner = *w->at[k + 1];
        const bool product = (x->kind == B_CALL || x->kind == B_USER) && begins &&
                             call_is_product(x, r, identity) &&
                             type_class(inner->type) == r->cls;
        if (x->kind == B_CONV && k + 2 == w->n) continue; /* e with its conversion */
        if (!product) return "it isn't a factor of what is summed";
        for (int m = 0; m < x->nargs; m++)
            if (x->args[m] != inner && ((expr_indices(pl, x->args[m]) >> index) & 1))
                return "other factors have that index, too";
    }
    return NULL;
}

/* The reduction around e that binds an index: its place on the way, -1: none. */
static int binder_of(const way *w, int index)
{
    for (int k = w->n - 2; k >= 0; k--)
        for (int m = 0; m < (*w->at[k])->nindex; m++)
            if ((*w->at[k])->kind == B_REDUCE && (*w->at[k])->indices[m] == index) return k;
    return -1;
}

static void unbind(bexpr *r, int index)
{
    int n = 0;
    for (int k = 0; k < r->nindex; k++)
        if (r->indices[k] != index) r->indices[n++] = r->indices[k];
    r->nindex = n;
}

/* Each index of e that W doesn't have is one of the result's, outside of W's loops,
 * or moves. */
static stc_status sort_indices(plan *pl, const ast *c, way *w, uint64_t rest,
                               precomputed *p)
{
    int from = -1;
    for (; rest; rest &= rest - 1) {
        int i = __builtin_ctzll(rest), k = binder_of(w, i);
        if (k < 0) {
            p->outer |= UINT64_C(1) << i;
            continue;
        }
        const char *why = blocks_move(pl, w, k, i);
        if (!why && from >= 0 && from != k) why = "another reduction moves already";
        if (why)
            return command_fail(pl, c,
                                "precompute: %s is reduced around it, but can't be reduced "
                                "before: %s; name it in {…}",
                                pl->s->index[i].name, why);
        from = k;
        p->moved |= UINT64_C(1) << i;
    }
    if (from < 0) return STC_OK;
    bexpr *r = *w->at[from];
    p->fn = r->fn;
    p->ufn = r->ufn;
    if ((*w->at[w->n - 2])->kind == B_CONV) w->n--; /* what is summed has r's type */
    p->type = r->type;
    for (uint64_t set = p->moved; set; set &= set - 1)
        unbind(r, __builtin_ctzll(set));
    if (r->nindex == 0) {
        bexpr *body = expr_conv(pl->a, r->args[0], r->type);
        if (!body) return STC_ERR_MEMORY;
        *w->at[from] = body;
        w->at[from + 1] = body == r->args[0] ? w->at[from] : &body->args[0];
    }
    return STC_OK;
}

/* ---- names on the consumer's side --------------------------------------------------- */

static stc_status rename_subs(plan *pl, affine **sub, int order, int from, int to)
{
    affine *own = arena_array(pl->a, order + 1, sizeof *own);
    if (!own) return STC_ERR_MEMORY;
    for (int m = 0; m < order; m++) {
        own[m] = (*sub)[m];
        for (int t = 0; t < own[m].terms; t++)
            if (own[m].term[t].index == from) own[m].term[t].index = to;
    }
    *sub = own;
    return STC_OK;
}

static stc_status rename_index(plan *pl, bexpr *e, int from, int to)
{
    stc_status st = STC_OK;
    if (e->kind == B_ACCESS)
        st = rename_subs(pl, &e->sub, pl->p->tensor[e->tensor].order, from, to);
    if (e->kind == B_INDEX && e->index == from) e->index = to;
    for (int k = 0; e->kind == B_REDUCE && k < e->nindex; k++)
        if (e->indices[k] == from) e->indices[k] = to;
    for (int k = 0; k < e->nargs && !st; k++)
        st = rename_index(pl, e->args[k], from, to);
    return st;
}

/* What is produced inside of the renamed loop, for the consumer, reads its index. */
static stc_status rename_outer(plan *pl, int from, int to)
{
    stc_status st = STC_OK;
    for (int k = 0; k < pl->npre && !st; k++) {
        precomputed *p = &pl->pre[k];
        if (!((p->outer >> from) & 1) || !expr_reading(pl->s->value, p->slot)) continue;
        p->outer ^= UINT64_C(1) << from | UINT64_C(1) << to;
        st = rename_index(pl, p->value, from, to);
    }
    return st;
}

/* What reads W gets indices of its own. */
static stc_status rename_consumer(plan *pl, const ast *names, const precomputed *p)
{
    if (names->count != p->order)
        return command_fail(pl, names, "precompute: expected %d new names", p->order);
    for (int k = 0; k < p->order; k++) {
        int from = p->index[k];
        if (strcmp(names->child[k]->name, pl->s->index[from].name) == 0) continue;
        stc_status st = schedule_new_name(pl, p->at, names->child[k]);
        int to = st ? -1 : schedule_add_index(pl, names->child[k], pl->s->index[from]);
        if (to < 0) return st ? st : pl->p->cx->diag.status;
        st = rename_index(pl, pl->s->value, from, to);
        if (!st) st = rename_subs(pl, &pl->s->sub, pl->s->nsub, from, to);
        if (!st) st = rename_outer(pl, from, to);
        if (st) return st;
    }
    return STC_OK;
}

/* ---- the command -------------------------------------------------------------------- */

static stc_status read_policy(plan *pl, const ast *c, int k, prog_tensor *w)
{
    if (k < c->count) {
        int policy = schedule_policy(pl->p->cx, c->child[k]);
        if (policy < 0)
            return command_fail(pl, c->child[k],
                                "precompute: expected dense, coord, bucket or hash");
        w->policy = (uint8_t)policy;
    }
    if (++k < c->count) {
        const ast *n = c->child[k];
        if (n->kind != N_INT || n->u == 0 || n->u > INT64_MAX / 64)
            return command_fail(pl, n, "precompute: expected a capacity of at least 1");
        w->capacity = (int64_t)n->u;
    }
    if (++k < c->count) {
        const ast *word = c->child[k];
        if (word->kind != N_NAME || strcmp(word->name, "single"))
            return command_fail(pl, word,
                                "precompute: expected `single` after the capacity");
        w->single = true;
    }
    return ++k < c->count ? command_fail(pl, c, "expected %s", usage) : STC_OK;
}

/* W itself: the name, and how it is kept, are there. */
static stc_status workspace_of(plan *pl, prog_tensor *w, precomputed *p)
{
    stc_type type = p->moved ? p->type : p->value->type;
    w->role = ROLE_WORK;
    w->type = type == STC_BOOL ? STC_BOOL : class_type(type_class(type));
    w->order = p->order;
    for (int k = 0; k < p->order; k++) {
        if (pl->s->index[p->index[k]].lo >= 0)
            return command_fail(pl, p->at, "precompute: the range of %s is narrowed",
                                pl->s->index[p->index[k]].name);
        w->shape[k] = (uint16_t)pl->s->index[p->index[k]].hi;
    }
    format_all(&w->fmt, w->order, level_sparse());
    p->slot = program_tensor(pl->p, w);
    return p->slot < 0 ? STC_ERR_MEMORY : STC_OK;
}

static stc_status new_tensor_name(const plan *pl, const ast *c)
{
    if (c->count < 3 || c->child[1]->kind != N_NAME || !is_names(c, 2))
        return command_fail(pl, c, "expected %s", usage);
    for (int t = 0; t < pl->p->ntensor; t++)
        if (strcmp(pl->p->tensor[t].name, c->child[1]->name) == 0)
            return command_fail(
                pl, c->child[1],
                "precompute: %s is a tensor already; a new name is expected",
                c->child[1]->name);
    return STC_OK;
}

/* The reduction that W stands for. */
static bexpr *moved_reduction(plan *pl, const precomputed *p)
{
    bexpr *r = expr_new(pl->a, B_REDUCE, p->type, p->value->at, 1);
    if (!r) return NULL;
    r->args[0] = p->value;
    r->fn = p->fn;
    r->ufn = p->ufn;
    r->cls = type_class(p->type);
    r->indices = arena_array(pl->a, 64, sizeof *r->indices);
    for (int k = 0; r->indices && k < 64; k++)
        if ((p->moved >> k) & 1) r->indices[r->nindex++] = k;
    return r->indices ? r : NULL;
}

void precompute_begin(precomputed *p, const way *w, const ast *at)
{
    *p = (precomputed){.slot = -1,
                       .value = *w->at[w->n - 1],
                       .fn = FN_UNMET,
                       .depth = PRECOMPUTE_LATER,
                       .at = at};
}

stc_status precompute_part(plan *pl, way *w, prog_tensor *like, precomputed *p)
{
    stc_status st = sort_indices(pl, p->at, w, expr_indices(pl, p->value) & ~p->vars, p);
    if (st) return st;
    p->value = p->whole = *w->at[w->n - 1];
    if (p->moved && !(p->whole = moved_reduction(pl, p))) return STC_ERR_MEMORY;
    bool part = w->n > 1 && !p->moved;
    for (int k = 0; k + 1 < w->n; k++)
        part = part || ((*w->at[k])->kind != B_REDUCE && (*w->at[k])->kind != B_CONV);
    if (part && expr_may_fault(p->value))
        return command_fail(pl, p->at->kind == N_CALL ? p->at->child[0] : p->at,
                            "precompute: this may fail where it isn't needed");
    st = workspace_of(pl, like, p);
    if (st) return st;
    affine *sub = bare_subs(pl->a, p->index, p->order);
    bexpr *read = sub ? expr_access(pl->a, pl->p, p->slot, sub, p->value->at) : NULL;
    stc_type type = p->moved ? p->type : p->value->type;
    read = expr_conv(pl->a, read, type);
    if (!read) return STC_ERR_MEMORY;
    *w->at[w->n - 1] = read;
    pl->npre++;
    return STC_OK;
}

stc_status schedule_precompute(plan *pl, const ast *c)
{
    stc_status st = new_tensor_name(pl, c);
    if (st) return st;
    if (pl->computed_set)
        return command_fail(pl, c, "precompute: a subscript of the statement is computed");
    if (pl->s->mask) return command_fail(pl, c, "precompute: the statement has a mask");
    if (pl->npre == PRECOMPUTED_MAX)
        return command_fail(pl, c, "a schedule precomputes at most %d parts",
                            PRECOMPUTED_MAX);
    way w = {.n = 0};
    if (!find_written(pl, &pl->s->value, c->child[0]->at, &w))
        return command_fail(pl, c->child[0],
                            "precompute: that isn't a part of the right side");
    precomputed *p = &pl->pre[pl->npre];
    const bool renamed = is_names(c, 3);
    prog_tensor like = {.name = (char *)c->child[1]->name};
    precompute_begin(p, &w, c);
    st = read_indices(pl, c->child[2], expr_indices(pl, p->value), p);
    if (!st) st = read_policy(pl, c, 3 + renamed, &like);
    if (!st) st = precompute_part(pl, &w, &like, p);
    return !st && renamed ? rename_consumer(pl, c->child[3], p) : st;
}

/* ---- planning ----------------------------------------------------------------------- */

/* The level of the result that a subscript walks, STC_MAX_ORDER: none. */
static int result_level(const plan *pl, const affine *sub)
{
    const format *f = &pl->p->tensor[pl->s->target].fmt;
    for (int l = 0; l < f->levels && format_is_plain(f); l++)
        if (affine_equal(sub, &pl->s->sub[f->level[l].map.mode])) return l;
    return STC_MAX_ORDER;
}

/* W's modes in the order of the result's levels, those of other indices after them:
 * the consumer's loops will most likely be so. */
static void order_modes(plan *pl, precomputed *p, bexpr *read)
{
    prog_tensor *w = &pl->p->tensor[p->slot];
    for (int m = 1; m < p->order; m++)
        for (int k = m; k > 0; k--) {
            affine *a = &read->sub[k - 1], *b = &read->sub[k], sub = *b;
            if (result_level(pl, a) <= result_level(pl, b)) break;
            int i = p->index[k];
            uint16_t n = w->shape[k];
            *b = *a, *a = sub;
            p->index[k] = p->index[k - 1], p->index[k - 1] = i;
            w->shape[k] = w->shape[k - 1], w->shape[k - 1] = n;
        }
}

/* Whether all that e reads has regions and covers its coordinates: *last is how. */
static bool made_of_regions(const plan *pl, const bexpr *e, const level_kind **last)
{
    enum { REGIONS = CAP_REGION | CAP_APPEND_REGION };
    const format *f = e->kind == B_ACCESS ? &pl->p->tensor[e->tensor].fmt : NULL;
    if (e->kind == B_INDEX || e->kind == B_REDUCE) return false;
    if (f) {
        const int l = f->levels - 1;
        if (l < 0) return true;
        *last = f->level[l].kind;
        return format_is_plain(f) && ((*last)->caps & REGIONS) == REGIONS &&
               format_props(f, l) & PROP_FULL;
    }
    for (int k = 0; k < e->nargs; k++)
        if (!made_of_regions(pl, e->args[k], last)) return false;
    return true;
}

/* Where nothing is asked of loops and workspaces, and the part is made of regions, W is
 * made of these, too: appended in the order of its levels, and read so. */
static void append_regions(const plan *pl, precomputed *p, prog_tensor *w)
{
    const level_kind *last = NULL;
    if (p->moved || w->policy != WS_AUTO || pl->schedule.nseq || pl->schedule.nrel ||
        !p->order || !made_of_regions(pl, p->value, &last) || !last)
        return;
    format_all(&w->fmt, p->order, level_full());
    format_set(&w->fmt, p->order - 1, last, p->order - 1, 0);
    w->role = ROLE_TEMP;
    p->appended = true;
}

/* What a producer reads, in a group of its own: its loops have another order. */
stc_status precompute_accesses(plan *pl)
{
    for (int k = 0; k < pl->npre; k++) {
        precomputed *p = &pl->pre[k];
        prog_tensor *w = &pl->p->tensor[p->slot];
        pl->group = PLAN_ACCESSES + k;
        stc_status st = plan_accesses(pl, p->value);
        if (st) return st;
        value id;
        fillval f = expr_fill(pl, p->value);
        if (p->moved && !reduce_identity(p->whole, &id))
            return command_fail(pl, p->at, "precompute: the reduction has no identity");
        p->space = p->moved               ? expr_space(pl, p->value, &id)
                   : f.kind == FILL_KNOWN ? expr_space(pl, p->value, NULL)
                                          : pset_all();
        if (!p->space) return STC_ERR_MEMORY;
        w->fill = p->moved ? id : f.kind == FILL_KNOWN ? f.v : (value){0};
        bexpr *read = expr_reading(pl->s->value, p->slot);
        if (read) order_modes(pl, p, read);
        append_regions(pl, p, w);
        st = loops_check_space(pl, p->vars | p->moved, p->space, expr_uses(p->value));
        if (st) return st;
    }
    pl->group = 0;
    return STC_OK;
}

const precomputed *precompute_of(const plan *pl, int slot)
{
    for (int k = 0; k < pl->npre; k++)
        if (pl->pre[k].slot == slot) return &pl->pre[k];
    return NULL;
}

uint64_t precompute_outer(const plan *pl, int slot)
{
    const precomputed *p = precompute_of(pl, slot);
    return p ? p->outer : 0;
}

const pset *precompute_space(plan *pl, const pset *s, int depth)
{
    if (!s || !pl->npre) return s;
    if (s->op == PS_AND || s->op == PS_OR)
        return pset_make(pl, s->op, precompute_space(pl, s->a, depth),
                         precompute_space(pl, s->b, depth));
    if (s->op != PS_STORED && s->op != PS_ABSENT) return s;
    for (int k = 0; k < pl->npre; k++) {
        const precomputed *p = &pl->pre[k];
        if (p->slot != pl->access[s->access].source || p->depth <= depth) continue;
        return s->op == PS_STORED ? p->space : pset_all();
    }
    return s;
}

static stc_status produce(plan *pl, const precomputed *p, uint64_t bound, list *out)
{
    int index[64], seq[64], n = 0;
    uint64_t uses = expr_uses(p->value);
    uint64_t loops = loops_set(pl, p->vars | p->moved, uses);
    /* also where a loop around it gives the index by arithmetic (relation.c) */
    const uint64_t above = loops & plan_bound(pl, bound);
    for (int k = 0; k < 64; k++)
        if ((loops >> k) & 1) index[n++] = k;
    if (p->appended)
        memcpy(seq, p->index, (size_t)n * sizeof *seq);
    else
        plan_inner_order(pl, p->space, uses, bound, index, n, seq);
    cin *leaf = cin_sink(pl, p->appended ? CIN_STORE : CIN_WSADD, p->slot, p->value,
                         p->order, bare_subs(pl->a, p->index, p->order));
    if (!leaf || !leaf->sub) return STC_ERR_MEMORY;
    if (above)
        return command_fail(pl, p->at,
                            "precompute: the loop over %s would have to be around "
                            "what is computed and in it",
                            pl->s->index[__builtin_ctzll(above)].name);
    leaf->fn = p->fn;
    leaf->ufn = p->ufn;
    leaf->cls = type_class(pl->p->tensor[p->slot].type);
    leaf->append = p->appended;
    list_add(out, cin_target(pl, p->appended ? CIN_BEGIN : CIN_WSBEGIN, p->slot));
    /* where it isn't known what is there when nothing is stored, all is; and so in a table
     * that stores all, whose fill isn't what searches find where nothing is stored */
    const prog_tensor *w = &pl->p->tensor[p->slot];
    const bool all = p->appended && format_stores_all(&w->fmt);
    stc_status st = STC_OK;
    if (!all && (p->moved || expr_fill(pl, p->value).kind == FILL_KNOWN))
        st = reach_ask(pl, leaf, p->value, p->moved ? &w->fill : NULL);
    if (!st) st = nest_build(pl, seq, n, p->space, bound, p->value, leaf, out);
    list_add(out, cin_target(pl, p->appended ? CIN_FINISH : CIN_WSEND, p->slot));
    return st;
}

stc_status precompute_emit(plan *pl, uint64_t bound, uint64_t uses, int depth, list *out)
{
    uint64_t known = plan_bound(pl, bound);
    for (int k = 0; k < pl->npre; k++) {
        precomputed *p = &pl->pre[k];
        bool used = depth < PRECOMPUTE_INSIDE;
        for (int a = 0; a < pl->naccess && !used; a++)
            used = ((uses >> a) & 1) && pl->access[a].source == p->slot;
        if (p->depth < PRECOMPUTE_LATER || (p->outer & ~known) || !used) continue;
        p->depth = depth;
        remark_precomputed(pl, p);
        stc_status st = produce(pl, p, bound, out);
        if (st) return st;
    }
    return STC_OK;
}
