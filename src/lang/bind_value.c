/* bind_value.c: expressions by themselves, as they stand at the prompt and in `print`.
 *
 * Such an expression has no left side that says which indices it is over: all of its free
 * ones are, in the order in which they appear. A name is an index unless a reduction binds
 * it, it is a tensor's, or a function's (which stands before a parenthesis).
 */
#include "bind.h"

#include <string.h>

typedef struct appearing {
    const binder *b;
    const ast *name[STC_MAX_ORDER];
    int n;
    const ast *beyond; /* one more than a tensor can have, NULL: none */
} appearing;

/* In subscripts all names but scalars' are indices. */
static void note(appearing *f, const around *in, const ast *e, bool subscript)
{
    const scope_tensor *const t = scope_find_tensor(f->b->s, e->name);
    if (around_binds(in, e->name) || (t && (!subscript || t->order == 0))) return;
    for (int i = 0; i < f->n; i++)
        if (!strcmp(f->name[i]->name, e->name)) return;
    if (f->n == STC_MAX_ORDER) {
        f->beyond = e;
        return;
    }
    f->name[f->n++] = e;
}

static void look(appearing *f, const around *in, const ast *e, bool subscript)
{
    if (!e || (e->kind == N_CALL && call_is_asked(e))) return;
    if (e->kind == N_NAME || e->kind == N_SLICE) note(f, in, e, subscript);
    const around inner = {e, in};
    const bool below =
        subscript || (e->kind == N_CALL && scope_find_tensor(f->b->s, e->name));
    for (int i = 0; i < e->count; i++)
        look(f, e->kind == N_REDUCE ? &inner : in, e->child[i], below);
}

stc_status bind_appearing(binder *b, const ast *e)
{
    appearing f = {.b = b};
    look(&f, NULL, e, false);
    if (f.beyond)
        return bind_fail(b, f.beyond->at, "a value has at most %d free indices",
                         STC_MAX_ORDER);
    if (!f.n) return STC_OK;
    b->nsub = f.n;
    b->sub = arena_array(b->a, f.n, sizeof *b->sub);
    b->left_access = arena_array(b->a, f.n, sizeof *b->left_access);
    if (!b->sub || !b->left_access) return b->p->cx->diag.status;
    for (int k = 0; k < f.n; k++) {
        const int i = bind_index_named(b, f.name[k], true);
        if (i < 0) return b->p->cx->diag.status;
        b->sub[k].terms = 1;
        b->sub[k].term[0].index = i;
        b->sub[k].term[0].coef = 1;
        b->left_access[k] = (access){.sub = &b->sub[k],
                                     .name = "the value",
                                     .mode = k,
                                     .hi = -1,
                                     .left = true,
                                     .at = f.name[k]->at};
    }
    b->nleft = b->nindex;
    b->nterm = 0;
    return STC_OK;
}
