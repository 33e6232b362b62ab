/* bind_words.c: reductions that are made of others: mean, norm, argmin, argmax.
 *
 *     mean(i: e)    sum(i: e) / sum(i: 1), the second over the first one's range
 *     norm(i: e)    sqrt(sum(i: abs(e) ** 2))
 *     argmin(j: e)  min(j: select(e == min(j: e), j, the largest i64)): the first; of nan,
 *                   which wins as in min, the first, too
 *
 * A mask on the body, `where m`, is one on each of these reductions.
 *
 * Takes the reduction as written, gives a bound expression of what is there already.
 */
#include "bind.h"
#include "lexer.h"

#include <string.h>

typedef enum made { MADE_mean, MADE_norm, MADE_argmin, MADE_argmax, MADE_NONE } made;

static made which(const char *name)
{
#define WORD(word)                                                                         \
    if (!strcmp(name, #word)) return MADE_##word;
    LANG_DERIVED(WORD)
#undef WORD
    return MADE_NONE;
}

bool bind_is_derived(const char *name)
{
    return which(name) != MADE_NONE;
}

static bexpr *call1(binder *b, span at, int fn, bexpr *x)
{
    return x ? bind_call(b, at, fn, &x, 1) : NULL;
}

static bexpr *call2(binder *b, span at, int fn, bexpr *x, bexpr *y)
{
    return x && y ? bind_call(b, at, fn, (bexpr *[]){x, y}, 2) : NULL;
}

static bexpr *integer(binder *b, span at, int64_t k)
{
    return bind_const(b, at, STC_I64, (value){.i64 = k});
}

/* Each index once more, for another loop over the same range. */
static bool again(binder *b, const ast *e, const int *index, int n, int *out)
{
    for (int i = 0; i < n; i++)
        if ((out[i] = bind_index_new(b, e->child[i], b->family_of[index[i]])) < 0)
            return false;
    return true;
}

/* A reduction of val where the mask, if there is one, is true. */
static bexpr *reduce(binder *b, span at, int fn, const int *index, int n, bexpr *val,
                     bexpr *mask)
{
    bexpr *const r = val ? bind_reduce(b, at, fn, NULL, index, n, val) : NULL;
    return r && mask ? bind_where_reduced(b, r, mask) : r;
}

/* The body, or its mask, as a function of other indices of the same names and ranges. */
static const ast *body_of(const ast *e, int n)
{
    return e->child[n]->kind == N_WHERE ? e->child[n]->child[0] : e->child[n];
}

static bexpr *mask_at(binder *b, const ast *e, const int *index, int n)
{
    const int from = b->nbound;
    for (int k = 0; k < n; k++)
        b->bound[b->nbound++] = (uint16_t)index[k];
    bexpr *const mask = bind_mask(b, e->child[n]->child[1]);
    b->nbound = from;
    return mask;
}

static bexpr *mean(binder *b, const ast *e, const int *index, int n, bexpr *val,
                   bexpr *mask)
{
    int other[BIND_MAX_INDEX];
    bexpr *counted = NULL, *const one = integer(b, e->at, 1);
    if (!one || !again(b, e, index, n, other)) return NULL;
    if (mask && !(counted = mask_at(b, e, other, n))) return NULL;
    bexpr *const sum = reduce(b, e->at, FN_ADD, index, n, val, mask);
    return call2(b, e->at, FN_DIV, sum, reduce(b, e->at, FN_ADD, other, n, one, counted));
}

static bexpr *norm(binder *b, const ast *e, const int *index, int n, bexpr *val,
                   bexpr *mask)
{
    bexpr *const two = integer(b, e->at, 2);
    if (two) two->mark = WEAK;
    bexpr *const square = call2(b, e->at, FN_POW, call1(b, e->at, FN_ABS, val), two);
    return call1(b, e->at, FN_SQRT, reduce(b, e->at, FN_ADD, index, n, square, mask));
}

static bexpr *body_at(binder *b, const ast *e, int index)
{
    b->bound[b->nbound++] = (uint16_t)index;
    bexpr *const val = bind_strong(b, bind_expr(b, body_of(e, 1)));
    b->nbound--;
    return val;
}

static bexpr *first(binder *b, const ast *e, const int *index, bexpr *val, bexpr *mask,
                    int by)
{
    int at;
    if (!again(b, e, index, 1, &at)) return NULL;
    bexpr *const best = reduce(b, e->at, by, index, 1, bind_strong(b, val), mask);
    if (best && type_is_integer(best->type)) /* as what it is compared with is computed */
        best->type = class_type(type_class(best->type));
    bexpr *is = call2(b, e->at, FN_EQ, body_at(b, e, at), best);
    if (is && type_is_float(is->args[0]->type)) {
        bexpr *const nan = call1(b, e->at, FN_ISNAN, body_at(b, e, at));
        is = call2(b, e->at, FN_OR, is, nan);
    }
    if (mask) is = call2(b, e->at, FN_AND, mask_at(b, e, &at, 1), is);
    bexpr *const place = bind_node(b, B_INDEX, STC_I64, e->at);
    bexpr *const none = integer(b, e->at, INT64_MAX);
    if (!is || !place || !none) return NULL;
    place->index = at;
    bexpr *const pick = bind_call(b, e->at, FN_SELECT, (bexpr *[]){is, place, none}, 3);
    return pick ? bind_reduce(b, e->at, FN_MIN, NULL, &at, 1, pick) : NULL;
}

bexpr *bind_derived(binder *b, const ast *e, const int *index, int n, bexpr *val,
                    bexpr *mask)
{
    const made m = which(e->name);
    if (m == MADE_mean) return mean(b, e, index, n, val, mask);
    if (m == MADE_norm) return norm(b, e, index, n, val, mask);
    if (n != 1)
        return bind_null(b, e->at, "`%s` has one index, the one that it gives", e->name);
    return first(b, e, index, val, mask, m == MADE_argmin ? FN_MIN : FN_MAX);
}
