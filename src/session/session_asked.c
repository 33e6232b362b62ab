/* session_asked.c: what a statement asks of the session: clock(), size(A,k), stored(A).
 * Binding made scalar operands of them, named as they are written (bind_asked.c).
 */
#include "session.h"

#include <stdlib.h>
#include <string.h>

/* The k of size(A,k): a number, or a scalar's name. */
static stc_status mode_of(stc_session *s, const char *text, const tensor *t, int *out)
{
    ctx *cx = &s->m->cx;
    char name[200];
    int64_t k = -1;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text, ")"), text);
    if (*name >= '0' && *name <= '9') {
        k = strtoll(name, NULL, 10);
    } else {
        variable *v = session_find(s, name);
        tensor *scalar = NULL;
        const stc_status st = v ? session_tensor(s, v, &scalar) : STC_OK;
        if (st) return st;
        if (!scalar || scalar->order || type_class(scalar->type) != CLASS_I64)
            return fail(cx, STC_ERR_PROGRAM, "%s, the number of a mode, is no integer",
                        name);
        k = tensor_get(scalar, NULL).i64;
    }
    if (k < 0 || k >= t->order)
        return fail(cx, STC_ERR_SHAPE,
                    "mode %lld is asked for, and the tensor has %d; they count from 0",
                    (long long)k, t->order);
    *out = (int)k;
    return STC_OK;
}

static stc_status about_tensor(stc_session *s, const char *call, int64_t *out)
{
    char name[200];
    const char *open = strchr(call, '(') + 1;
    const size_t n = strcspn(open, ",)");
    tensor *t = NULL;
    int mode = 0;
    snprintf(name, sizeof name, "%.*s", (int)n, open);
    variable *v = session_find(s, name);
    if (!v) return fail(&s->m->cx, STC_ERR_PROGRAM, "%s has no value", name);
    stc_status st = session_tensor(s, v, &t);
    if (st) return st;
    if (open[n] != ',') {
        *out = tensor_stored(t);
        return STC_OK;
    }
    if (!(st = mode_of(s, open + n + 1, t, &mode))) *out = t->shape[mode];
    return st;
}

stc_status session_asked(stc_session *s, const prog_tensor *row, tensor **out)
{
    value v = {0};
    stc_status st = STC_OK;
    if (row->type == STC_F64) {
        v.f64 = now_us() * 1e-6;
    } else {
        st = about_tensor(s, row->name, &v.i64);
    }
    if (st) return st;
    if (!*out)
        return tensor_constant(&s->m->cx, &row->fmt, row->type, NULL, v, (value){0}, out);
    if (class_equal(type_class(row->type), tensor_get(*out, NULL), v)) return STC_OK;
    type_store(row->type, (*out)->vals, 0, v);
    (*out)->checked = ++(*out)->generation;
    return STC_OK;
}
