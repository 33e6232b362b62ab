/* bind_words.c: reductions that are made of others: mean, norm, argmin, argmax.
 *
 *     mean(i: e)    sum(i: e) / sum(i: 1), the second over the first one's range
 *     norm(i: e)    sqrt(sum(i: abs(e) ** 2))
 *     argmin(j: e)  min(j: select(e == min(j: e), j, the largest i64)): the first; of nan,
 *                   which wins as in min, the first, too
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

static bexpr *mean(binder *b, const ast *e, const int *index, int n, bexpr *val)
{
    int other[BIND_MAX_INDEX];
    bexpr *const one = again(b, e, index, n, other) ? integer(b, e->at, 1) : NULL;
    if (!one) return NULL;
    bexpr *const sum = bind_reduce(b, e->at, FN_ADD, NULL, index, n, val);
    return call2(b, e->at, FN_DIV, sum, bind_reduce(b, e->at, FN_ADD, NULL, other, n, one));
}

static bexpr *norm(binder *b, const ast *e, const int *index, int n, bexpr *val)
{
    bexpr *const two = integer(b, e->at, 2);
    if (two) two->mark = WEAK;
    bexpr *const square = call2(b, e->at, FN_POW, call1(b, e->at, FN_ABS, val), two);
    return square ? call1(b, e->at, FN_SQRT,
                          bind_reduce(b, e->at, FN_ADD, NULL, index, n, square))
                  : NULL;
}

/* The body as a function of one more index of the same name and range. */
static bexpr *body_at(binder *b, const ast *e, int index)
{
    b->bound[b->nbound++] = (uint16_t)index;
    bexpr *const val = bind_strong(b, bind_expr(b, e->child[1]));
    b->nbound--;
    return val;
}

static bexpr *first(binder *b, const ast *e, const int *index, bexpr *val, int by)
{
    int at;
    if (!again(b, e, index, 1, &at)) return NULL;
    bexpr *const best = bind_reduce(b, e->at, by, NULL, index, 1, bind_strong(b, val));
    if (best && type_is_integer(best->type)) /* as what it is compared with is computed */
        best->type = class_type(type_class(best->type));
    bexpr *is = call2(b, e->at, FN_EQ, body_at(b, e, at), best);
    if (is && type_is_float(is->args[0]->type)) {
        bexpr *const nan = call1(b, e->at, FN_ISNAN, body_at(b, e, at));
        is = call2(b, e->at, FN_OR, is, nan);
    }
    bexpr *const place = bind_node(b, B_INDEX, STC_I64, e->at);
    bexpr *const none = integer(b, e->at, INT64_MAX);
    if (!is || !place || !none) return NULL;
    place->index = at;
    bexpr *const pick = bind_call(b, e->at, FN_SELECT, (bexpr *[]){is, place, none}, 3);
    return pick ? bind_reduce(b, e->at, FN_MIN, NULL, &at, 1, pick) : NULL;
}

bexpr *bind_derived(binder *b, const ast *e, const int *index, int n, bexpr *val)
{
    const made m = which(e->name);
    if (m == MADE_mean) return mean(b, e, index, n, val);
    if (m == MADE_norm) return norm(b, e, index, n, val);
    if (n != 1)
        return bind_null(b, e->at, "`%s` has one index, the one that it gives", e->name);
    return first(b, e, index, val, m == MADE_argmin ? FN_MIN : FN_MAX);
}
