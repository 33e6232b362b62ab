/* print_bound.c: a bound assignment as text, for `explain --stage=bound`: the
 * statement with its types and explicit reductions, then its tensors and the
 * ranges of its indices.
 *
 *     y(i):f64 = sum(j: A(i,j) * x(j))
 */
#include "lang.h"

static void print_extent(const program *p, int id, textbuf *out);

static void print_both(const program *p, const extent *e, const char *begin,
                       const char *between, const char *end, textbuf *out)
{
    text_add(out, "%s", begin);
    print_extent(p, e->a, out);
    text_add(out, "%s", between);
    print_extent(p, e->b, out);
    text_add(out, "%s", end);
}

static void print_extent(const program *p, int id, textbuf *out)
{
    const extent *const e = &p->ext[id];
    switch ((ext_op)e->op) {
    case EXT_CONST:
        text_add(out, "%lld", (long long)e->k);
        break;
    case EXT_DIM:
        text_add(out, "%s.%d", p->tensor[e->a].name, e->b);
        break;
    case EXT_ADD:
        print_both(p, e, "", " + ", "", out);
        break;
    case EXT_MULC:
        text_add(out, "%lld*(", (long long)e->k);
        print_extent(p, e->a, out);
        text_add(out, ")");
        break;
    case EXT_ADDC:
        print_extent(p, e->a, out);
        text_add(out, e->k < 0 ? " - %llu" : " + %llu",
                 e->k < 0 ? 0 - (unsigned long long)e->k : (unsigned long long)e->k);
        break;
    case EXT_FLOORDIV:
        text_add(out, "(");
        print_extent(p, e->a, out);
        text_add(out, ")/%lld", (long long)e->k);
        break;
    case EXT_MIN:
        print_both(p, e, "min(", ", ", ")", out);
        break;
    case EXT_MUL:
        print_both(p, e, "(", ")*(", ")", out);
        break;
    case EXT_SPAN:
        text_add(out, "a count of positions");
        break;
    case EXT_MAX0:
        text_add(out, "max(");
        print_extent(p, e->a, out);
        text_add(out, ", 0)");
        break;
    }
}

void affine_print(const affine *f, const bindex *index, textbuf *out)
{
    bool any = false;
    for (int t = 0; t < f->terms; t++) {
        const long long c = f->term[t].coef;
        const char *const name = index[f->term[t].index].name;
        if (c == 1)
            text_add(out, any ? "+%s" : "%s", name);
        else if (c == -1)
            text_add(out, "-%s", name);
        else
            text_add(out, any && c > 0 ? "+%lld*%s" : "%lld*%s", c, name);
        any = true;
    }
    if (f->constant || !any)
        text_add(out, any && f->constant > 0 ? "+%lld" : "%lld", (long long)f->constant);
}

void subs_print(const affine *sub, int n, const bindex *index, textbuf *out)
{
    for (int k = 0; k < n; k++) {
        text_add(out, k ? "," : "(");
        affine_print(&sub[k], index, out);
    }
    if (n) text_add(out, ")");
}

static void print_expr(const bstmt *s, const program *p, const bexpr *e, textbuf *out);

static void print_args(const bstmt *s, const program *p, const bexpr *e, const char *name,
                       textbuf *out)
{
    text_add(out, "%s(", name);
    for (int i = 0; i < e->nargs; i++) {
        if (i) text_add(out, ", ");
        print_expr(s, p, e->args[i], out);
    }
    text_add(out, ")");
}

static void print_operand(const bstmt *s, const program *p, const bexpr *e, textbuf *out)
{
    const bool brackets = e->kind == B_CALL && fn_at(e->fn)->symbol;
    if (brackets) text_add(out, "(");
    print_expr(s, p, e, out);
    if (brackets) text_add(out, ")");
}

static void print_call(const bstmt *s, const program *p, const bexpr *e, textbuf *out)
{
    const char *const symbol = fn_at(e->fn)->symbol;
    if (!symbol || e->nargs > 2) {
        print_args(s, p, e, fn_at(e->fn)->name, out);
        return;
    }
    if (e->nargs == 2) {
        print_operand(s, p, e->args[0], out);
        text_add(out, " %s ", symbol);
    } else {
        text_add(out, "%s", symbol);
    }
    print_operand(s, p, e->args[e->nargs - 1], out);
}

const char *bound_reducer(const bexpr *e)
{
    if (e->ufn) return e->ufn->name;
    switch (e->fn) {
    case FN_ADD:
        return "sum";
    case FN_MUL:
        return "prod";
    case FN_OR:
        return "any";
    case FN_AND:
        return "all";
    case FN_BITXOR:
        return "xor";
    default:
        return fn_at(e->fn)->name;
    }
}

static void print_expr(const bstmt *s, const program *p, const bexpr *e, textbuf *out)
{
    char number[96];
    switch (e->kind) {
    case B_CONST:
        type_print(e->type, e->value, number, sizeof number);
        text_add(out, type_is_complex(e->type) ? "(%s):%s" : "%s:%s", number,
                 type_name(e->type));
        break;
    case B_ACCESS:
        text_add(out, "%s%s", e->pad ? "pad " : "",
                 *p->tensor[e->tensor].name ? p->tensor[e->tensor].name : "temp");
        subs_print(e->sub, p->tensor[e->tensor].order, s->index, out);
        break;
    case B_INDEX:
        text_add(out, "%s", s->index[e->index].name);
        break;
    case B_CALL:
        print_call(s, p, e, out);
        break;
    case B_USER:
        print_args(s, p, e, e->ufn->name, out);
        break;
    case B_CONV:
        print_args(s, p, e, type_name(e->type), out);
        break;
    case B_REDUCE:
        text_add(out, "%s(", bound_reducer(e));
        for (int i = 0; i < e->nindex; i++)
            text_add(out, i ? ",%s" : "%s", s->index[e->indices[i]].name);
        text_add(out, ": ");
        print_expr(s, p, e->args[0], out);
        text_add(out, ")");
        break;
    case B_EXTENT:
        print_extent(p, e->index, out);
        break;
    case B_LOCAL:
        text_add(out, "local %d", e->index);
        break;
    }
}

static void print_tensor(const bstmt *s, const program *p, int slot, textbuf *out)
{
    static const char *const role[] = {"input", "output", "in and out", "temporary",
                                       "workspace"};
    const prog_tensor *const t = &p->tensor[slot];
    char fill[96];
    text_add(out, "  tensor %s : ", t->name[0] ? t->name : "_");
    if (slot != s->target || s->format_given)
        format_print(&t->fmt, out);
    else
        text_add(out, "(format to be chosen)");
    text_add(out, " %s", type_name(t->type));
    if (slot != s->target || s->fill_given) {
        type_print(t->type, t->fill, fill, sizeof fill);
        text_add(out, " fill %s", fill);
    }
    if (t->role == ROLE_INPUT || t->role == ROLE_INOUT) {
        text_add(out, "  # %s\n", role[t->role]);
        return;
    }
    text_add(out, " [");
    for (int k = 0; k < t->order; k++) {
        if (k) text_add(out, ", ");
        print_extent(p, t->shape[k], out);
    }
    text_add(out, "]  # %s\n", role[t->role]);
}

void bound_line(const bstmt *s, const program *p, textbuf *out)
{
    const prog_tensor *const target = &p->tensor[s->target];
    text_add(out, "%s", target->name[0] ? target->name : "_");
    subs_print(s->sub, s->nsub, s->index, out);
    text_add(out, ":%s ", type_name(target->type));
    if (s->op >= 0)
        text_add(out, "%s",
                 fn_at(s->op)->symbol ? fn_at(s->op)->symbol : fn_at(s->op)->name);
    text_add(out, "= ");
    print_expr(s, p, s->value, out);
    if (s->mask) {
        text_add(out, " where ");
        print_expr(s, p, s->mask, out);
    }
    text_add(out, "\n");
}

void bound_print(const bstmt *s, const program *p, textbuf *out)
{
    bound_line(s, p, out);
    for (int t = 0; t < p->ntensor; t++)
        if (t == s->target || expr_reading(s->value, t) ||
            (s->mask && expr_reading(s->mask, t)))
            print_tensor(s, p, t, out);
    for (int i = 0; i < s->nindex; i++) {
        text_add(out, "  index %s in ", s->index[i].name);
        if (s->index[i].lo < 0)
            text_add(out, "0");
        else
            print_extent(p, s->index[i].lo, out);
        text_add(out, ":");
        print_extent(p, s->index[i].hi, out);
        text_add(out, s->index[i].reduced ? "  # reduced\n" : "\n");
    }
}
