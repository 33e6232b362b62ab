/* bind.c: an assignment → bstmt. bind.h has the order of its steps. */
#include "bind.h"

#include <string.h>

stc_status bind_fail(const binder *b, span at, const char *message, ...)
{
    char text[512];
    va_list args;
    va_start(args, message);
    vsnprintf(text, sizeof text, message, args);
    va_end(args);
    return fail_source(b->src, STC_ERR_PROGRAM, at, "%s", text);
}

void *bind_null(const binder *b, span at, const char *message, ...)
{
    char text[512];
    va_list args;
    va_start(args, message);
    vsnprintf(text, sizeof text, message, args);
    va_end(args);
    bind_fail(b, at, "%s", text);
    return NULL;
}

bool bind_grow(binder *b, void *array, int *cap, int count, size_t size)
{
    void *old;
    if (count <= *cap) return true;
    const int room = count > 8 ? 2 * count : 16;
    void *const grown = arena_room(b->a, room, size);
    if (!grown) return false;
    memcpy(&old, array, sizeof old);
    if (*cap) memcpy(grown, old, (size_t)*cap * size);
    memcpy(array, &grown, sizeof grown);
    *cap = room;
    return true;
}

/* Everything but the arrays, which are written before they are read. */
static void begin(binder *b, arena *a, scope *s, const source *src, program *p)
{
    b->a = a;
    b->s = s;
    b->src = src;
    b->p = p;
    b->tensors = p->ntensor;
    b->extents = p->next;
    b->checks = p->ncheck;
    b->undo = NULL;
    b->old_slot = -1;
    b->old_role = 0;
    b->nindex = b->nfamily = b->nbound = b->nterm = b->nleft = 0;
    b->access = NULL;
    b->naccess = b->access_cap = b->nodes = 0;
    b->env = NULL;
    b->fns = NULL;
    b->contradicted = false;
    b->left = NULL;
    b->nsub = 0;
    b->sub = NULL;
    b->left_access = NULL;
    b->keeps_shape = false;
}

/* Leaves program and scope as they were. */
static stc_status undo(binder *b)
{
    program *const p = b->p;
    if (b->old_slot >= 0) p->tensor[b->old_slot].role = b->old_role;
    program_rewind(p, b->tensors, b->extents, b->checks);
    for (touched *u = b->undo; u; u = u->next) {
        u->t->slot = u->slot;
        u->t->order = u->order;
        if (u->open) u->t->fmt = *u->open;
    }
    return p->cx->diag.status;
}

/* After the right side: target, ranges, sizes. */
static stc_status settle(binder *b, bstmt *st, int op, bexpr *val)
{
    if (!val) return b->p->cx->diag.status;
    stc_status status = bind_target(b, st, op, val);
    if (status != STC_OK) return status;
    const scope_tensor *const t = b->left ? scope_find_tensor(b->s, b->left->name) : NULL;
    const bool shaped = !st->fresh || b->keeps_shape || (t && t->has_shape);
    if ((status = bind_ranges(b, st->target, shaped)) != STC_OK) return status;
    if (!shaped && (status = bind_left_sizes(b, st->target)) != STC_OK) return status;
    if (!st->whole && !st->computed && (status = bind_injective(b, st, op)) != STC_OK)
        return status;
    st->nsub = b->nsub;
    st->sub = b->sub;
    st->nindex = b->nindex;
    st->index = arena_array(b->a, b->nindex ? b->nindex : 1, sizeof *st->index);
    if (!st->index) return b->p->cx->diag.status;
    memcpy(st->index, b->index, (size_t)b->nindex * sizeof *st->index);
    return STC_OK;
}

/* The scope learns of the target. */
static stc_status enter_target(binder *b, const bstmt *st)
{
    prog_tensor *const row = &b->p->tensor[st->target];
    scope_tensor *t = scope_find_tensor(b->s, b->left->name);
    if (!t && !(t = scope_put_tensor(b->s, b->left->name))) return b->p->cx->diag.status;
    if (t->slot >= 0 && t->slot != st->target && b->p->tensor[t->slot].role == ROLE_OUTPUT)
        b->p->tensor[t->slot].role = ROLE_TEMP; /* nobody can ask for it any more */
    t->slot = st->target;
    t->order = row->order;
    t->has_data = true;
    if (!t->has_type) {
        t->type = row->type;
        if (t->has_fill) t->fill = row->fill;
    }
    return STC_OK;
}

stc_status bind_assignment(arena *a, scope *s, const source *src, program *p,
                           const ast *statement, bstmt **out)
{
    binder b;
    begin(&b, a, s, src, p);
    const int op = statement->op;
    bstmt *st = arena_alloc(a, sizeof *st);
    if (!st) return p->cx->diag.status;
    st->at = statement->at;
    st->schedule = statement->child[2];
    stc_status status = bind_left(&b, statement->child[0]);
    if (status == STC_OK) {
        /* a - x - y is a - (x + y), and so for quotients */
        const int joined = op == OPR_SUB ? FN_ADD : op == OPR_DIV ? FN_MUL : bind_op_fn(op);
        const ast *right = statement->child[1], *mask = NULL;
        if (right->kind == N_WHERE) {
            mask = right->child[1];
            right = right->child[0];
        }
        bexpr *val = op ? bind_one_term(&b, right, joined) : bind_terms(&b, right);
        if (val && mask && !(st->mask = bind_left_mask(&b, mask))) val = NULL;
        status = settle(&b, st, op, val);
    }
    if (status == STC_OK) status = enter_target(&b, st);
    if (status != STC_OK) return undo(&b);
    *out = st;
    return STC_OK;
}

stc_status bind_value(arena *a, scope *s, const source *src, program *p,
                      const ast *expression, bool scalar, bstmt **out)
{
    binder b;
    begin(&b, a, s, src, p);
    bstmt *st = arena_alloc(a, sizeof *st);
    if (!st) return p->cx->diag.status;
    st->at = expression->at;
    stc_status status = scalar ? STC_OK : bind_appearing(&b, expression);
    if (status == STC_OK) status = settle(&b, st, OPR_NONE, bind_terms(&b, expression));
    if (status != STC_OK) return undo(&b);
    *out = st;
    return STC_OK;
}
