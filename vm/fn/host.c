/* host.c: the functions of the host's own: registering, finding, calling them.
 *
 * Takes a stc_function and what its head says, keeps a copy in a list, which is
 * a part of the machine's context. A function is trusted as the host's level kinds are; its
 * results aren't: truth values are made 0 or 1, and a status that is none is an error too.
 */
#include "host.h"
#include "functions.h"
#include <string.h>

static bool plain_type(stc_type t)
{
    return t == STC_BOOL || ((unsigned)t < TYPE_COUNT && class_type(type_class(t)) == t);
}

/* Signature k against itself and those before it; NULL: fine. */
static const char *wrong_signature(const stc_function *f, int k, int params)
{
    const stc_signature *s = &f->signature[k];
    if (!s->call) return "a signature has no function";
    bool plain = plain_type(s->result);
    for (int i = 0; i < params; i++)
        plain = plain && plain_type(s->param[i]);
    if (!plain)
        return "a signature has a type besides bool, i64, u64, f32, f64, c64 and c128";
    for (int other = 0; other < k; other++) {
        bool same = true;
        for (int i = 0; i < params; i++)
            same =
                same && type_class(f->signature[other].param[i]) == type_class(s->param[i]);
        if (same) return "two signatures take arguments of the same classes";
    }
    return NULL;
}

typedef struct host_fns {
    host_fn *first;
} host_fns;

static void free_one(ctx *cx, host_fn *h)
{
    mem_strfree(cx, h->name);
    mem_free(cx, h->form, (size_t)h->count * sizeof *h->form);
    mem_free(cx, h, sizeof *h);
}

static void fns_end(ctx *cx, void *part)
{
    host_fns *all = part;
    while (all->first) {
        host_fn *h = all->first;
        all->first = h->next;
        free_one(cx, h);
    }
}

static const part_kind fns_kind = {sizeof(host_fns), fns_end};

static host_fn *fn_of(const ctx *cx, const char *name)
{
    const host_fns *all = ctx_has_part(cx, &fns_kind);
    host_fn *h = all ? all->first : NULL;
    while (h && strcmp(h->name, name))
        h = h->next;
    return h;
}

static stc_status refused(ctx *cx, const stc_function *f, const char *name, int params)
{
    const char *why = NULL;
    if (f->count < 1 || f->count > 64 || !f->signature) why = "it needs 1 to 64 signatures";
    for (int k = 0; !why && k < f->count; k++)
        why = wrong_signature(f, k, params);
    if (!why && fn_of(cx, name)) why = "there is one of that name already";
    return why ? fail(cx, STC_ERR_ARGUMENT, "the function `%s` can't be registered: %s",
                      name, why)
               : STC_OK;
}

stc_status host_register(ctx *cx, const stc_function *f, const char *name, int params,
                         unsigned flags, host_fn **out)
{
    if (refused(cx, f, name, params)) return cx->diag.status;
    host_fns *all = ctx_part(cx, &fns_kind);
    host_fn *h = all ? mem_zero(cx, 1, sizeof *h) : NULL;
    if (!h) return cx->diag.status;
    *h = (host_fn){.params = params, .flags = flags, .context = f->context};
    h->name = mem_strdup(cx, name);
    h->form = mem_zero(cx, f->count, sizeof *h->form);
    h->count = h->form ? f->count : 0;
    if (!h->name || !h->form) {
        free_one(cx, h);
        return cx->diag.status;
    }
    for (int k = 0; k < f->count; k++) {
        host_form *form = &h->form[k];
        *form = (host_form){.of = h, .sig = f->signature[k]};
        form->result = (uint8_t)type_class(form->sig.result);
        for (int i = 0; i < params; i++)
            form->cls[i] = (uint8_t)type_class(form->sig.param[i]);
    }
    h->next = all->first;
    all->first = h;
    *out = h;
    return STC_OK;
}

const host_form *host_find(const ctx *cx, const char *name, int params, const uint8_t *cls,
                           uint8_t result)
{
    const host_fn *h = fn_of(cx, name);
    if (!h || h->params != params) return NULL;
    for (int k = 0; k < h->count; k++)
        if (h->form[k].result == result && !memcmp(h->form[k].cls, cls, (size_t)params))
            return &h->form[k];
    return NULL;
}

/* ---- calls --------------------------------------------------------------------- */

stc_status host_call(const host_form *f, int64_t n, const void *const *args, void *out,
                     const char **why)
{
    *why = NULL;
    const stc_status status = f->sig.call(f->of->context, n, args, out, why);
    if (status) return (unsigned)status <= STC_ERR_OVERFLOW ? status : STC_ERR_ARGUMENT;
    if (f->sig.result == STC_BOOL)
        for (int64_t k = 0; k < n; k++)
            ((int64_t *)out)[k] = ((int64_t *)out)[k] != 0;
    return STC_OK;
}

stc_status host_call_one(const host_form *f, const value *args, value *out,
                         const char **why)
{
    const void *arg[8];
    value v;
    memset(&v, 0, sizeof v);
    for (int k = 0; k < f->of->params; k++)
        arg[k] = &args[k];
    const stc_status status = host_call(f, 1, arg, &v, why);
    if (!status) *out = v;
    return status;
}
