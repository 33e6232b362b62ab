/* bind_host.c: the host's functions, for the types of a call.
 *
 * Takes the arguments' types and whether they are literals', gives the function
 * with the types of the signature that is taken: the first whose parameters have
 * the arguments' classes, else the first that they all promote to.
 */
#include "bind.h"

#include <string.h>

static bool promotes(stc_type from, bool weak, stc_type to)
{
    bexpr arg[2] = {{.type = to}, {.type = from, .mark = weak ? WEAK : 0}};
    return bind_common((bexpr *[]){&arg[0], &arg[1]}, 2) == to;
}

static bool takes(const host_form *form, const stc_type *types, unsigned weak, bool exactly)
{
    for (int k = 0; k < form->of->params; k++) {
        const stc_type to = form->sig.param[k];
        const bool adapts = weak >> k & 1;
        const bool same = type_class(to) == type_class(types[k]) &&
                          (to != STC_BOOL || types[k] == STC_BOOL);
        if (exactly && !adapts ? !same : !same && !promotes(types[k], adapts, to))
            return false;
    }
    return true;
}

static const host_form *choose(const host_fn *h, const stc_type *types, unsigned weak)
{
    for (int exactly = 1; exactly >= 0; exactly--)
        for (int k = 0; k < h->count; k++)
            if (takes(&h->form[k], types, weak, exactly)) return &h->form[k];
    return NULL;
}

static bfunction *no_signature(binder *b, const host_fn *h, const stc_type *types, span at)
{
    char list[128];
    size_t n = 0;
    list[0] = 0;
    for (int k = 0; k < h->params && n < sizeof list; k++)
        n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", k ? ", " : "",
                              type_name(types[k]));
    return bind_null(b, at, "`%s` isn't defined for (%s)", h->name, list);
}

bfunction *bind_host(binder *b, definition *d, const stc_type *types, unsigned weak,
                     span at)
{
    const host_form *const form = choose(d->host, types, weak);
    if (!form) return no_signature(b, d->host, types, at);
    for (specialised *known = b->fns; known; known = known->next)
        if (known->f->host == form) return known->f;
    bfunction *f = arena_alloc(b->a, sizeof *f);
    specialised *mine = arena_alloc(b->a, sizeof *mine);
    if (!f || !mine) return NULL;
    f->name = d->name;
    f->id = -1;
    f->nparams = form->of->params;
    f->result = form->sig.result;
    f->host = form;
    memcpy(f->param, form->sig.param, (size_t)f->nparams * sizeof *f->param);
    const source *const src = b->src;
    b->src = &d->src;
    const bool fine = bind_properties(b, f, d->node);
    b->src = src;
    if (!fine) return NULL;
    *mine = (specialised){d, 0, f, b->fns};
    b->fns = mine;
    return f;
}
