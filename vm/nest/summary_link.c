/* summary_link.c: hangs a loop into the body of the loop around it.
 *
 * What the inner loop finds there when it starts (registers, cursors) is looked
 * up among what the outer body has made so far; what it makes of these alone,
 * and can't fault, is worked out in the outer body, once a round. What it
 * reduces is a node of the outer body.
 */
#include "summary.h"

bool reduction_start(int fn, vclass cls, value *out)
{
    const fn_prop *id = &fn_at(fn)->identity[0];
    if (id->position != AT_ANY) return false;
    return fn_constant(id->value, cls, class_type(cls), out);
}

bool reduction_keeps(int fn, vclass cls, value v)
{
    value start, out;
    if ((cls != CLASS_I64 && cls != CLASS_U64) || !reduction_start(fn, cls, &start))
        return true;
    fn_scalar_of(fn, cls)(&out, &v, &start, NULL);
    return class_equal(cls, out, v);
}

/* ---- places -------------------------------------------------------------------- */

/* Below which outer place an operand is, and what is added to its coordinate. */
static bool link_operand(reader *r, const loop_summary *in, nest_links *links, int k)
{
    const merge_desc *m = in->l->merge;
    const place *p = &in->place[k];
    const merge_operand *o = &m->operand[p->operand];
    if (o->role == MERGE_LOCATE) {
        for (int b = 0; b < m->count; b++)
            if (m->operand[b].role != MERGE_KNOWN && m->operand[b].cursor == o->up)
                return false; /* below another operand of the same loop */
        links->up[k] = summary_read_place(r, o->up);
        if (o->shift != ROOT) links->shift[k] = summary_read_integer(r, o->shift);
        return !summary_unstood(r, links->up[k]);
    }
    links->up[k] = summary_read_place(r, p->cursor); /* opened for the loop to move */
    return summary_unstood(r, links->up[k]);
}

static bool link_places(reader *r, const loop_summary *in, nest_links *links)
{
    links->up[0] = PLACE_ROOT;
    links->shift[0] = UNLINKED;
    for (int k = 1; k < in->nplace; k++) {
        const place *p = &in->place[k];
        links->up[k] = links->shift[k] = UNLINKED;
        if (p->kind == PLACE_FIXED) {
            links->up[k] = summary_read_place(r, p->cursor);
            if (summary_unstood(r, links->up[k])) return false;
        } else if (p->kind == PLACE_OPERAND) {
            if (!link_operand(r, in, links, k)) return false;
        } else if (p->kind == PLACE_AT && in->place[p->up].kind == PLACE_FIXED) {
            links->up[k] = links->up[p->up];
        }
    }
    return true;
}

static void link_icols(reader *r, const loop_summary *in, nest_links *links)
{
    for (int k = 0; k < in->nicol; k++)
        links->icol[k] = in->icol[k].kind == ICOL_FIXED
                             ? summary_read_integer(r, in->icol[k].a)
                             : UNLINKED;
}

/* ---- values -------------------------------------------------------------------- */

/* Whether node k of the inner body can be worked out in the outer one: not what
 * could fault, as the loop may have no rounds. */
static bool movable(const loop_summary *in, const nest_links *links, int k)
{
    const node *x = &in->node[k];
    if (x->varies || x->kind == NODE_INNER || x->kind == NODE_CALL) return false;
    if (x->kind == NODE_INDEX) return links->icol[x->a] != UNLINKED;
    if (x->kind == NODE_LOAD) return links->up[x->b] != UNLINKED;
    return x->kind != NODE_FN || !(fn_at(x->fn)->flags & FP_FAULTS);
}

static void link_live(reader *r, const node *x, uint16_t *to)
{
    *to = summary_read_value(r, x->a);
    r->s->node[*to].uses++;
    summary_settle(r, *to, (vclass)x->cls);
}

static void link_node(reader *r, const loop_summary *in, nest_links *links, int k)
{
    node x = in->node[k];
    x.uses = 1; /* by the loop inside */
    if (x.kind == NODE_LIVE) {
        link_live(r, &x, &links->node[k]);
        return;
    }
    if (x.kind == NODE_INDEX) {
        x.a = links->icol[x.a];
        x.varies = r->s->icol[x.a].varies;
    }
    if (x.kind == NODE_LOAD) {
        x.b = links->up[x.b];
        x.varies = r->s->place[x.b].varies;
    }
    for (int j = 0; j < x.nargs; j++) {
        x.arg[j] = links->node[x.arg[j]];
        r->s->node[x.arg[j]].uses++;
        x.varies |= r->s->node[x.arg[j]].varies;
    }
    links->node[k] = summary_new_node(r, x);
    summary_new_step(r, (step){.kind = STEP_NODE, .a = links->node[k]});
}

/* An accumulator of the inner loop: nothing else of it has to do with that. */
static bool accumulator(const loop_summary *in, int k)
{
    if (in->node[k].kind != NODE_LIVE) return false;
    for (int j = 0; j < in->nsink; j++)
        if (in->sink[j].kind == SINK_REDUCE && in->sink[j].a == in->node[k].a) return true;
    return false;
}

static void link_nodes(reader *r, loop_summary *in, nest_links *links)
{
    for (int k = 0; k < in->nnode; k++) {
        node *x = &in->node[k];
        links->node[k] = UNLINKED;
        if (accumulator(in, k)) continue;
        for (int j = 0; j < x->nargs && x->kind != NODE_INNER; j++)
            x->varies |= in->node[x->arg[j]].varies;
        if (movable(in, links, k)) {
            link_node(r, in, links, k);
        } else {
            x->varies = true;
        }
    }
}

/* ---- reductions ---------------------------------------------------------------- */

/* Whether what loops further in reduce may be reduced in parts, from what register x->a
 * holds when the loop begins: a constant that a part without terms leaves alone, or
 * anything, if the function leaves all values alone. */
static bool begins_neutral(const reader *r, const loop_summary *in, const sink *x)
{
    static const value no_normal_form = {.i64 = -4};
    const vclass cls = (vclass)x->cls;
    const node *from = &r->s->node[r->v[x->a]];
    if (in->node[x->node].kind != NODE_INNER || reduction_keeps(x->fn, cls, no_normal_form))
        return true;
    return from->kind == NODE_CONST && from->cls == x->cls &&
           reduction_keeps(x->fn, cls, r->mc->p->konst[from->a].v);
}

/* The result of a reduction is a node of the outer body. If it goes on across
 * rounds of the outer loop, each round starts from the neutral value, and what
 * it gives is reduced in its turn. */
static bool link_reduction(reader *r, const loop_summary *in, const sink *x,
                           uint16_t *result)
{
    node n = {.kind = NODE_INNER,
              .cls = x->cls,
              .fn = (int16_t)x->fn,
              .nargs = 1,
              .varies = true,
              .at = x->at};
    if (fn_at(x->fn)->flags & FP_FAULTS) return false;
    if (r->v[x->a] != UNSET) {
        if (!begins_neutral(r, in, x)) return false;
        n.arg[0] = r->v[x->a];
        r->s->node[n.arg[0]].uses++;
        summary_settle(r, n.arg[0], (vclass)x->cls);
        r->v[x->a] = *result = summary_new_node(r, n);
        return true;
    }
    value start;
    if (x->right || !(fn_at(x->fn)->flags & FP_ASSOCIATIVE) ||
        !reduction_start(x->fn, (vclass)x->cls, &start))
        return false;
    const uint16_t own = summary_read_value(r, x->a);
    n.arg[0] = summary_new_node(
        r, (node){.kind = NODE_START, .cls = x->cls, .fn = (int16_t)x->fn, .uses = 1});
    summary_new_step(r, (step){.kind = STEP_NODE, .a = n.arg[0]});
    *result = summary_new_node(r, n);
    r->s->node[own].uses += 2;
    r->s->node[own].cls = x->cls;
    r->s->node[*result].uses++;
    sink out = *x;
    out.node = *result;
    summary_new_sink(r, out);
    r->sunk = true;
    return true;
}

/* Two sinks into one register: the second goes on where the first ended. */
static bool link_reductions(reader *r, const loop_summary *in, nest_links *links)
{
    for (int k = 0; k < SINK_MAX; k++)
        links->results[k] = UNLINKED;
    for (int k = 0; k < in->nsink; k++) {
        const sink *x = &in->sink[k];
        if (x->kind == SINK_HOST) return false;
        if (x->kind != SINK_REDUCE) continue;
        for (int j = 0; j < k; j++)
            if (in->sink[j].kind == SINK_REDUCE && in->sink[j].a == x->a)
                links->results[k] = links->results[j];
        if (links->results[k] == UNLINKED && !link_reduction(r, in, x, &links->results[k]))
            return false;
    }
    links->result = links->results[0];
    return true;
}

bool summary_link(reader *r, loop_tree *inner)
{
    loop_summary *in = &inner->s;
    nest_links *links = &inner->link;
    if (r->t->nchild == CHILD_MAX) return false;
    link_icols(r, in, links);
    if (!link_places(r, in, links)) return false;
    link_nodes(r, in, links);
    if (!link_reductions(r, in, links)) return false;
    r->sunk |= in->effects;
    r->s->effects |= in->effects;
    r->t->child[r->t->nchild] = inner;
    summary_new_step(r, (step){.kind = STEP_INNER,
                               .a = (uint16_t)r->t->nchild++,
                               .b = (uint16_t)r->s->nnode});
    return true;
}
