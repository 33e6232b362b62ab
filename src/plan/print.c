/* print.c: plans as people read them.
 *
 *     for i in A & x:                 walk A.0
 *       t0 = 0
 *       for j in A & x:               walk A.1, locate x.0
 *         t0 = add(t0, A(i,j) * x(j))
 *       y(i) = t0
 */
#include "plan.h"

static const char *name_of(const plan *pl, int slot)
{
    const prog_tensor *t = &pl->p->tensor[slot];
    return t->name && t->name[0] ? t->name : t->role == ROLE_WORK ? "w" : "temp";
}

static void print_call(const plan *pl, const char *name, const char *symbol, const bexpr *e,
                       textbuf *out)
{
    bool infix = symbol && e->nargs == 2;
    text_add(out, "%s(", infix ? "" : symbol && e->nargs == 1 ? symbol : name);
    for (int k = 0; k < e->nargs; k++) {
        if (k) text_add(out, infix ? " %s " : ", ", symbol);
        expr_print(pl, e->args[k], out);
    }
    text_add(out, ")");
}

void expr_print(const plan *pl, const bexpr *e, textbuf *out)
{
    char number[96];
    switch (e->kind) {
    case B_CONST:
        type_print(e->type, e->value, number, sizeof number);
        text_add(out, "%s", number);
        break;
    case B_ACCESS:
        text_add(out, "%s%s", e->pad ? "pad " : "", name_of(pl, e->tensor));
        subs_print(e->sub, pl->p->tensor[e->tensor].order, pl->s->index, out);
        break;
    case B_INDEX:
        text_add(out, "%s", index_name(pl, e->index));
        break;
    case B_LOCAL:
        text_add(out, "local %d", e->index);
        break;
    case B_EXTENT:
        text_add(out, "extent %d", e->index);
        break;
    case B_CALL:
        print_call(pl, fn_at(e->fn)->name, fn_at(e->fn)->symbol, e, out);
        break;
    case B_USER:
        print_call(pl, e->ufn->name, NULL, e, out);
        break;
    case B_CONV:
        print_call(pl, type_name(e->type), NULL, e, out);
        break;
    case B_REDUCE:
        text_add(out, "t%d", e->mark);
        break;
    }
}

static void print_operands(const plan *pl, const cin *loop, textbuf *out)
{
    const loop_info *info = loop->info;
    static const char *const role[] = {[MERGE_WALK] = "walk",
                                       [MERGE_FOLLOW] = "seek",
                                       [MERGE_LOCATE] = "locate",
                                       [MERGE_KNOWN] = "given"};
    const char *sep = "   # ";
    if (info->pin.to) {
        text_add(out, "%s%s = ", sep, index_name(pl, loop->index));
        expr_print(pl, info->pin.to, out);
        sep = ", ";
    } else if (info->universe) {
        text_add(out, "%severy coordinate", sep);
        sep = ", ";
    }
    for (int k = 0; k < info->count; k++) {
        const loop_operand *o = &info->operand[k];
        text_add(out, "%s%s %s%s.%d", sep, role[o->role],
                 o->subsect ? "subsections of " : "",
                 name_of(pl, pl->access[o->access].tensor), o->level);
        sep = ", ";
    }
    for (int k = 0; k < info->late_count; k++) {
        const loop_late *l = &info->late[k];
        text_add(out, "%sthen %s %s.%d", sep,
                 l->stored    ? "stand in"
                 : l->located ? "locate"
                              : "seek",
                 name_of(pl, pl->access[l->access].tensor), l->level);
        sep = ", ";
    }
}

static void print_sink(const plan *pl, const cin *c, textbuf *out)
{
    const prog_tensor *t = &pl->p->tensor[c->target];
    text_add(out, "%s", name_of(pl, c->target));
    subs_print(c->sub, c->nsub, pl->s->index, out);
    if (c->nsub > 1 && !format_is_plain(&t->fmt)) text_add(out, " by level");
    if (c->kind == CIN_STORE)
        text_add(out, " = ");
    else
        text_add(out, " %s= ", c->ufn ? c->ufn->name : fn_at(c->fn)->name);
    expr_print(pl, c->value, out);
    if (!c->reach) return;
    text_add(out, "   # where ");
    pset_print(pl, c->reach->set, out);
}

static void print_list(const plan *pl, const cin *c, int depth, textbuf *out)
{
    for (; c; c = c->next) {
        text_add(out, "%*s", 2 * depth, "");
        switch (c->kind) {
        case CIN_FORALL:
            text_add(out, "for %s in ", index_name(pl, c->index));
            pset_print(pl, c->space, out);
            if (c->info) print_operands(pl, c, out);
            text_add(out, c->since ? ", from where it was\n" : "\n");
            print_list(pl, c->body, depth + 1, out);
            continue;
        case CIN_TEMP:
            text_add(out, "t%d = identity of %s", c->temp,
                     c->ufn ? c->ufn->name : fn_at(c->fn)->name);
            break;
        case CIN_REDUCE:
            text_add(out, "t%d %s= ", c->temp, c->ufn ? c->ufn->name : fn_at(c->fn)->name);
            expr_print(pl, c->value, out);
            if (c->stops) text_add(out, ", and the loop ends once there is one");
            break;
        case CIN_REST:
            text_add(out, "t%d gets the fill, unless t%d has all", c->temp, c->count);
            break;
        case CIN_REQUIRE:
            text_add(out, "t%d must have begun", c->temp);
            break;
        case CIN_LAZY:
            text_add(out, "where t%d is read%s:\n", c->temp, c->once ? " first" : "");
            print_list(pl, c->body, depth + 1, out);
            continue;
        case CIN_WHEN:
            text_add(out, "if ");
            expr_print(pl, c->value, out);
            text_add(out, ":\n");
            print_list(pl, c->body, depth + 1, out);
            continue;
        case CIN_ONLY:
            text_add(out, "only if ");
            expr_print(pl, c->value, out);
            break;
        case CIN_SINCE:
            text_add(out, "%s begins", index_name(pl, c->index));
            break;
        case CIN_BEGIN:
            text_add(out, "begin %s", name_of(pl, c->target));
            break;
        case CIN_STORE:
        case CIN_ACC:
        case CIN_WSADD:
            print_sink(pl, c, out);
            break;
        case CIN_FINISH:
            text_add(out, "finish %s", name_of(pl, c->target));
            break;
        case CIN_WSBEGIN:
            text_add(out, "workspace %s is empty", name_of(pl, c->target));
            break;
        case CIN_WSEND:
            text_add(out, "sort and merge %s", name_of(pl, c->target));
            break;
        case CIN_CONVERT:
            text_add(out, "%s = %s in format ", name_of(pl, c->target),
                     name_of(pl, c->source));
            format_print(&pl->p->tensor[c->target].fmt, out);
            break;
        case CIN_UPDATE:
            text_add(out, "%s is changed in place, by %s, where %s %s",
                     name_of(pl, c->target), fn_at(c->fn)->name, name_of(pl, c->source),
                     c->nsub ? "goes" : "has entries");
            break;
        case CIN_MOVE:
            text_add(out, "%s takes %s", name_of(pl, c->target), name_of(pl, c->source));
            break;
        }
        text_add(out, "\n");
    }
}

void plan_print(const plan *pl, textbuf *out)
{
    const prog_tensor *t = &pl->p->tensor[pl->s->target];
    text_add(out, "# %s: ", name_of(pl, pl->s->target));
    format_print(&t->fmt, out);
    char number[96];
    type_print(t->type, t->fill, number, sizeof number);
    text_add(out, " %s, fill %s\n", type_name(t->type),
             t->fill_later ? "known later" : number);
    print_list(pl, pl->root, 0, out);
}

/* ---- lattices ------------------------------------------------------------------- */

static void print_table(const char *what, const lattice_table *t, int bits, textbuf *out)
{
    text_add(out, "  %s ", what);
    if (t->postfix)
        text_add(out, "a postfix program of %d steps", t->postfix_len);
    else {
        text_add(out, "0b");
        for (int m = (1 << bits) - 1; m >= 0; m--)
            text_add(out, "%d", (int)((t->produce >> m) & 1));
    }
    text_add(out, "\n");
}

void lattice_print(const plan *pl, const cin *c, textbuf *out)
{
    for (; c; c = c->next) {
        if (c->kind == CIN_LAZY || c->kind == CIN_WHEN) lattice_print(pl, c->body, out);
        if (c->kind != CIN_FORALL || !c->info) continue;
        text_add(out, "loop %s over ", index_name(pl, c->index));
        pset_print(pl, c->space, out);
        print_operands(pl, c, out);
        text_add(out, "\n");
        print_table("produce", &c->info->loop_table, c->info->count, out);
        if (c->info->skip)
            print_table("then skip unless", &c->info->skip_table, c->info->bits, out);
        lattice_print(pl, c->body, out);
    }
}
