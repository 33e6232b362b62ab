/* session_order.c: p(i) = order(x(i)): the permutation that sorts.
 *
 * p(0) is where the least element stands, and equal ones stay in their order; nan comes
 * last, as in NumPy. It is a statement of its own: what it gives isn't a sum of terms, or
 * anything else that loops over elements compute one by one.
 */
#include "../lang/scope.h"
#include "session.h"

#include <math.h>
#include <string.h>

typedef struct keyed {
    value key; /* i64, u64, or f64 */
    int64_t at;
} keyed;

static int by_place(const keyed *x, const keyed *y)
{
    return (x->at > y->at) - (x->at < y->at);
}

static int by_signed(const void *a, const void *b)
{
    const keyed *x = a, *y = b;
    const int order = (x->key.i64 > y->key.i64) - (x->key.i64 < y->key.i64);
    return order ? order : by_place(x, y);
}

static int by_unsigned(const void *a, const void *b)
{
    const keyed *x = a, *y = b;
    const int order = (x->key.u64 > y->key.u64) - (x->key.u64 < y->key.u64);
    return order ? order : by_place(x, y);
}

static int by_real(const void *a, const void *b)
{
    const keyed *x = a, *y = b;
    const bool none = isnan(x->key.f64), other = isnan(y->key.f64);
    if (none || other) return none && other ? by_place(x, y) : none - other;
    const int order = (x->key.f64 > y->key.f64) - (x->key.f64 < y->key.f64);
    return order ? order : by_place(x, y);
}

/* The places of t's elements, sorted, as the values of out. */
static stc_status sorted(ctx *cx, const tensor *t, tensor *out)
{
    const int64_t n = t->shape[0];
    const vclass cls = type_class(t->type);
    const vclass as = cls == CLASS_F32 ? CLASS_F64 : cls;
    stc_status st = STC_OK;
    keyed *const k = mem_array(cx, n ? n : 1, sizeof *k);
    if (!k) return cx->diag.status;
    for (int64_t i = 0; i < n && !st; i++) {
        k[i] = (keyed){class_convert(as, cls, type_load(t->type, t->vals, i)), i};
        if (work_due(cx, i)) st = cx->diag.status;
    }
    if (!st) st = work_done(cx, (uint64_t)n); /* the sort can't be interrupted */
    if (!st)
        st = mem_sort(cx, k, n, sizeof *k,
                      as == CLASS_I64   ? by_signed
                      : as == CLASS_U64 ? by_unsigned
                                        : by_real);
    for (int64_t i = 0; i < n && !st; i++)
        type_store(STC_I64, out->vals, i, (value){.i64 = k[i].at});
    mem_free(cx, k, (size_t)(n ? n : 1) * sizeof *k);
    return st;
}

static stc_status order_of(ctx *cx, const tensor *t, tensor **out)
{
    format dense;
    tensor *full = NULL;
    stc_status st = format_parse(cx, NULL, "dense", 1, &dense);
    if (!st) st = tensor_convert(t, &dense, t->type, t->fill, &full);
    if (!st)
        st = tensor_constant(cx, &dense, STC_I64, t->shape, (value){0}, (value){0}, out);
    if (!st && (st = sorted(cx, full, *out))) {
        tensor_free(*out);
        *out = NULL;
    }
    tensor_free(full);
    return st;
}

bool session_orders(const stc_session *s, const ast *call)
{
    return call->kind == N_CALL && call->count == 1 && !strcmp(call->name, "order") &&
           !scope_find_tensor(s->f.sc, call->name) &&
           !scope_find(s->f.sc, call->name, N_FN);
}

stc_status session_order(stc_session *s, const script *in, const ast *n)
{
    const ast *const left = n->child[0], *const call = n->child[1],
                     *const e = call->child[0];
    if (n->op != OPR_NONE || n->child[2] || left->count > 1 ||
        (left->count == 1 && left->child[0]->kind != N_NAME))
        return session_fail(in, STC_ERR_PROGRAM, n,
                            "what `order` gives goes to a whole tensor, as in p(i) = "
                            "order(x(i))");
    const ast value_of = {
        .kind = N_VALUE, .at = e->at, .count = 1, .child = (ast *[]){(ast *)e}};
    tensor *t = NULL, *p = NULL;
    const bool whole = e->kind == N_NAME;
    stc_status st =
        whole ? session_named(s, in, e, &t) : session_value(s, in, &value_of, &t);
    if (!st && t->order != 1)
        st = fail_source(&in->src, STC_ERR_PROGRAM, e->at,
                         "`order` sorts one mode, and this has %d", t->order);
    if (!st && type_is_complex(t->type))
        st = session_fail(in, STC_ERR_PROGRAM, e, "complex numbers have no order");
    if (!st) st = order_of(&s->m->cx, t, &p);
    if (!whole) tensor_free(t);
    return st ? st : session_give(s, in, n->at, left->name, p);
}
