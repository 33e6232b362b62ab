/* parallel_places.c: where the rounds of a shared loop store: which results are written
 * below a round's own coordinates alone, and which of them in rows that follow each other.
 * For parallel_find.c.
 */
#include "parallel_find.h"
#include "../../formats/join.h"
#include "../code/text.h"
#include "../nest/uses.h"
#include "../work/ws_pour.h"

/* Every place is known before anything is stored, and storing moves nothing. */
static bool has_places(const format *fmt)
{
    for (int l = 0; l < fmt->levels; l++) {
        const level_kind *k = fmt->level[l].kind;
        if (!(k->caps & CAP_INSERT) || k->arrays) return false;
    }
    return fmt->levels > 0;
}

static bool share(finder *f, uint16_t t, sharing how)
{
    uint8_t *as = &f->out->sharing[t];
    if (*as == how) return true;
    if (how == SHARE_PARTS) {
        if (f->out->nparts == PARALLEL_PARTS) return false;
        f->out->parts[f->out->nparts++] = t;
    }
    *as = (uint8_t)how;
    return true;
}

/* `at`. Parts are appended in the loop's order: below its own coordinates of the first
 * level, or to one row from outside. */
static bool find_place(finder *f, const insn *in)
{
    const uint16_t *a = in->arg;
    const format *fmt = &f->p->tensor[a[1]].fmt;
    if (f->out->sharing[a[1]] == SHARE_OWN) return true;
    rounds_open(&f->r, a[0], a[1], a[2]);
    rounds_place(&f->r, in);
    if (has_places(fmt)) return true;
    if (!join_possible(fmt))
        return not_shared(f, "the result's format can't be put together from parts");
    const bool row = a[2] && f->r.cursor[a[3]].own == PLACE_UNSET;
    return f->r.cursor[a[0]].own == 0 || (row && a[2] + 1 == fmt->levels) ||
           not_shared(f, "the result's outermost coordinates aren't the loop's own");
}

/* What begins as the function's identity, and is combined with others by it. */
static bool meet_place(finder *f, const insn *in, value *identity)
{
    const fn_info *fn = fn_at(in->arg[2]);
    const stc_type type = f->p->tensor[in->arg[0]].type;
    const vclass cls = (vclass)in->arg[3];
    if (!(fn->flags & FP_ASSOCIATIVE) || fn->flags & FP_FAULTS)
        return not_shared(f, "several write to the same places of a result, and what "
                             "combines them isn't associative");
    if (!(fn->identity[0].classes >> cls & 1) ||
        !fn_constant(fn->identity[0].value, cls, type, identity))
        return not_shared(f, "what combines them has no identity to start with");
    return (type_class(type) == cls &&
            values_meet(in->arg[2], values_of(f, in->arg[4]), type)) ||
           not_shared(f, "the result's type cuts what they combine");
}

static bool meet_workspace(finder *f, const insn *in)
{
    const bool own = in->op == OP_WSCALL;
    if (!(own ? in->arg[4] : fn_at(in->arg[2])->flags & FP_ASSOCIATIVE))
        return not_shared(f, "they add to one workspace, and what combines them isn't "
                             "associative");
    return ws_pours(&f->p->tensor[in->arg[0]]) ||
           not_shared(f, "they add to one workspace of runs, or of the host's");
}

/* Rounds add to the same places: each chunk to some of its own. */
static bool meets(finder *f, const insn *in)
{
    parallel_loop *o = f->out;
    const uint16_t t = in->arg[0];
    const int fn =
        in->op == OP_WSCALL ? ws_user_fn(in->arg[1], in->arg[4]) : (int)in->arg[2];
    value identity = {0};
    if (in->op == OP_ACC ? !meet_place(f, in, &identity) : !meet_workspace(f, in))
        return false;
    for (int k = 0; k < o->nmeet; k++)
        if (o->meet[k].tensor == t)
            return o->meet[k].fn == fn || not_shared(f, "they combine in several ways");
    if (o->sharing[t] != SHARE_READ || o->nmeet == PARALLEL_PARTS)
        return not_shared(f, "they store into too many results, or in several ways");
    o->meet[o->nmeet].tensor = t;
    o->meet[o->nmeet].fn = fn;
    o->meet[o->nmeet].at = f->at;
    o->meet[o->nmeet++].identity = identity;
    return share(f, t, SHARE_MEET);
}

/* Below a round's own coordinates, of one level by all that store there. */
static bool stores(finder *f, const insn *in, uint16_t at)
{
    const uint16_t t = in->arg[0];
    const bool places = has_places(&f->p->tensor[t].fmt);
    const cursor_at *c = at == ROOT ? NULL : &f->r.cursor[at];
    stored_at *to = &f->stored[t];
    if (f->out->sharing[t] == SHARE_OWN) return true;
    if (!c || c->own < 0 || f->out->sharing[t] == SHARE_MEET ||
        (to->coef && (to->coef != c->coef || to->level != c->own)))
        return f->meets && in->op == OP_ACC && places
                   ? meets(f, in)
                   : not_shared(f, "several write to the same places of a result");
    *to = (stored_at){c->coef, c->own};
    if (f->out->step == 1) f->out->step = c->coef;
    return share(f, t, places ? SHARE_PLACES : SHARE_PARTS);
}

static bool find_tensor(finder *f, const insn *in)
{
    const uint16_t *a = in->arg;
    switch (in->op) {
    case OP_BEGIN:
    case OP_WSBEGIN: {
        const uint8_t role = f->p->tensor[a[0]].role;
        if ((role != ROLE_TEMP && role != ROLE_WORK) || named_outside(f->mc, f->l, a[0]))
            return false;
        f->out->sharing[a[0]] = SHARE_OWN;
        return true;
    }
    case OP_FINISH:
        return f->out->sharing[a[0]] == SHARE_OWN;
    case OP_WSADD:
    case OP_WSCALL:
    case OP_WSEND:
        if (f->out->sharing[a[0]] == SHARE_OWN) return true;
        return f->meets && in->op != OP_WSEND ? meets(f, in)
                                              : not_shared(f, "they add to one workspace");
    case OP_AT:
        return find_place(f, in);
    case OP_KEEP:
        return stores(f, in, a[2]);
    case OP_STORE:
    case OP_ACC:
        return stores(f, in, a[1]);
    case OP_BOUND:
        return not_shared(f, "its rounds set the range of a loop inside");
    case OP_SPAN:
    case OP_SETFILL:
    case OP_MOVE:
    case OP_CONVERT:
    case OP_PACK:
    case OP_UPDATE:
    case OP_BLOCK:
        return not_shared(f, "positions are counted, or a tensor converted, in each");
    default:
        return true;
    }
}

/* Kinds and functions of the host's own may not be called from threads that it
 * doesn't know. */
static bool all_built_in(const machine *mc)
{
    const program *p = mc->p;
    for (int k = 0; k < p->nfn; k++)
        if (p->fn[k].host) return false;
    for (int t = 0; t < p->ntensor; t++)
        for (int l = 0; l < p->tensor[t].fmt.levels; l++)
            if (level_kind_number(p->tensor[t].fmt.level[l].kind) < 0) return false;
    return true;
}

bool find_tensors(finder *f, int first, int last)
{
    if (!all_built_in(f->mc))
        return not_shared(f,
                          "functions and formats of the host's can't be used by threads");
    parallel_loop *o = f->out;
    rounds_begin(&f->r, f->mc);
    rounds_inside(&f->r, rounds_step(&f->r, f->l->first));
    for (int k = first; k < last; k++) {
        rounds_step(&f->r, k);
        f->at = k;
        if (!find_tensor(f, insn_of(f->mc, k))) return false;
    }
    if (o->nmeet && o->nparts)
        return not_shared(f, "one result is put together from parts, and they add to "
                             "the same places of another");
    for (int t = 0; t < f->p->ntensor; t++) {
        const bool as_others = f->stored[t].coef == o->step;
        if (o->sharing[t] == SHARE_PARTS && !as_others)
            return not_shared(f,
                              "rounds have more coordinates of one result than of another");
        if (o->sharing[t] != SHARE_PLACES || !as_others || f->stored[t].level ||
            o->nrows == PARALLEL_PARTS)
            continue;
        o->sharing[t] = SHARE_ROWS;
        o->rows[o->nrows++] = (uint16_t)t;
    }
    return true;
}

/* ---- weights ----------------------------------------------------------------------- */

/* It was opened before the loop, and not as subsections: those are asked for first. */
int walked_tensor(const finder *f, uint16_t walker)
{
    const insn *in = cursor_opened(f->mc, f->l->first, walker);
    return in && in->op == OP_OPEN && in->arg[2] == 0 ? in->arg[1] : -1;
}

void find_weights(finder *f)
{
    const merge_desc *m = f->l->merge;
    parallel_loop *o = f->out;
    for (int b = 0; b < m->count && o->nweight < MERGE_TABLE_MAX; b++) {
        const merge_operand *x = &m->operand[b];
        int t = -1;
        int64_t coef = 1;
        if (x->role == MERGE_LOCATE && x->level == 0 && x->coef > 0) {
            t = x->tensor;
            coef = x->coef;
        }
        if (x->role == MERGE_WALK) t = walked_tensor(f, x->cursor);
        if (t < 0) continue;
        o->weight[o->nweight].tensor = (uint16_t)t;
        o->weight[o->nweight++].coef = coef;
    }
}
