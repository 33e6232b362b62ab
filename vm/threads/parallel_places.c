/* parallel_places.c: where the rounds of a shared loop store: which registers have
 * coordinates that are each round's own, which results are written below such alone,
 * and which of them in rows that follow each other. For parallel_find.c.
 */
#include "parallel_find.h"
#include "../../formats/join.h"
#include "../code/text.h"
#include "../work/ws_pour.h"

/* ---- coordinates ------------------------------------------------------------------- */

/* Follows the integers of the loop's body; its own index is number 0. */
static void coordinates_begin(finder *f)
{
    linear_begin(&f->forms, f->mc, NULL, f->room);
    linear_index(&f->forms, f->l->index, 0);
    f->depth = 0;
}

static void coordinates_step(finder *f, const insn *in)
{
    f->forms.branches += in->op == OP_IF || in->op == OP_WHILE;
    f->forms.branches -= in->op == OP_ENDIF || in->op == OP_ENDWHILE;
    f->depth -= in->op == OP_END;
    if (in->op != OP_LOOP) {
        linear_integer(&f->forms, in);
        return;
    }
    linear_index(&f->forms, in->arg[0], ++f->depth);
    if (f->depth >= LINEAR_INDICES) return;
    const merge_desc *m = &f->p->merge[in->arg[2]];
    const extent *hi = &f->p->ext[m->hi];
    f->within[f->depth] = m->lo == ROOT && hi->op == EXT_CONST ? hi->k : 0;
}

/* Whether a register has the loop's own coordinate, or one of a block that begins at a
 * multiple of it: what `split` makes of a loop. Blocks are all as large as the first one.
 */
static int own(finder *f, uint16_t reg)
{
    const linear_form *x = linear_form_of(&f->forms, reg);
    int inner = 0, n = 0;
    if (!x || x->k || x->live || x->coef[0] < 1) return 0;
    for (int d = 1; d < LINEAR_INDICES; d++)
        if (x->coef[d]) n++, inner = d;
    const int64_t block = x->coef[0], within = f->within[inner];
    if (n == 0) return block == 1 ? OWN_INDEX : 0;
    if (n > 1 || x->coef[inner] != 1 || !within || within > block) return 0;
    if (f->out->step == 1) f->out->step = block;
    return f->out->step == block ? OWN_BLOCK : 0;
}

void own_coordinates(finder *f)
{
    coordinates_begin(f);
    f->out->step = 1;
    for (int k = f->l->first + 1; k < f->l->last; k++) {
        const insn *in = insn_of(f->mc, k);
        coordinates_step(f, in);
        if (in->op == OP_AT) (void)own(f, in->arg[4]);
    }
}

/* ---- tensors ----------------------------------------------------------------------- */

static bool used_outside(const finder *f, uint16_t t)
{
    for (int k = 0; k < f->mc->nmain; k++) {
        const bool outside = k < f->l->first || k > f->l->last;
        if (outside && insn_names_tensor(f->p, insn_of(f->mc, k), t)) return true;
    }
    return false;
}

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

/* `at`: whether the place, or one above it, is that of the loop's coordinate. */
static bool find_place(finder *f, const insn *in)
{
    const prog_tensor *row = &f->p->tensor[in->arg[1]];
    const int here = own(f, in->arg[4]);
    const uint16_t up = in->arg[3];
    if (f->out->sharing[in->arg[1]] == SHARE_OWN) return true;
    const int first = f->out->step > 1 ? OWN_BLOCK : OWN_INDEX;
    const bool apart = in->arg[2] ? f->below[up] != 1 : here != first;
    if (has_places(&row->fmt)) {
        f->apart[in->arg[1]] |= apart;
    } else {
        if (!join_possible(&row->fmt))
            return not_shared(f, "the result's format can't be put together from parts");
        if (apart && (in->arg[2] == 0 || in->arg[2] + 1 < row->fmt.levels))
            return not_shared(f,
                              "the result's outermost coordinates aren't the loop's own");
    }
    const bool below = here || (in->arg[2] && f->below[up] == 1);
    if (f->below[in->arg[0]] != 2) f->below[in->arg[0]] = below ? 1 : 2;
    return true;
}

/* An element of type t, whose class is cls, is the same whether it is cut to its type
 * before or after it is combined with others. */
static bool combines_cut(stc_type t, vclass cls, const fn_info *fn)
{
    const bool wraps = t != STC_BOOL && fn->flags & FP_WRAPS;
    return type_class(t) == cls && (class_type(cls) == t || wraps);
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
    return combines_cut(type, cls, fn) ||
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
    for (int k = 0; k < o->nmeet; k++)
        if (o->meet[k].tensor == t)
            return o->meet[k].fn == fn || not_shared(f, "they combine in several ways");
    if (o->sharing[t] != SHARE_READ || o->nmeet == PARALLEL_PARTS)
        return not_shared(f, "they store into too many results, or in several ways");
    if (in->op == OP_ACC ? !meet_place(f, in, &identity) : !meet_workspace(f, in))
        return false;
    o->meet[o->nmeet].tensor = t;
    o->meet[o->nmeet].fn = fn;
    o->meet[o->nmeet].at = f->at;
    o->meet[o->nmeet++].identity = identity;
    return share(f, t, SHARE_MEET);
}

static bool stores(finder *f, const insn *in, uint16_t at)
{
    const uint16_t t = in->arg[0];
    if (f->out->sharing[t] == SHARE_OWN) return true;
    if (at == ROOT || f->below[at] != 1 || f->out->sharing[t] == SHARE_MEET) {
        const bool may = f->meets && in->op == OP_ACC && has_places(&f->p->tensor[t].fmt);
        return may ? meets(f, in)
                   : not_shared(f, "several write to the same places of a result");
    }
    return share(f, t, has_places(&f->p->tensor[t].fmt) ? SHARE_PLACES : SHARE_PARTS);
}

bool only_reads(const insn *in)
{
    switch (in->op) {
    case OP_LOOP:
    case OP_END:
    case OP_OPEN:
    case OP_OPENAT:
    case OP_LOCATE:
    case OP_PRESENT:
    case OP_ICONST:
    case OP_IMULADD:
    case OP_CONST:
    case OP_LOAD:
    case OP_FN1:
    case OP_FN2:
    case OP_FN3:
    case OP_CONV:
        return true;
    default:
        return false;
    }
}

static bool find_tensor(finder *f, const insn *in)
{
    const uint16_t *a = in->arg;
    switch (in->op) {
    case OP_BEGIN:
    case OP_WSBEGIN: {
        const uint8_t role = f->p->tensor[a[0]].role;
        if ((role != ROLE_TEMP && role != ROLE_WORK) || used_outside(f, a[0])) return false;
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
    coordinates_begin(f);
    for (int k = first; k < last; k++) {
        const insn *in = insn_of(f->mc, k);
        coordinates_step(f, in);
        f->at = k;
        if (!find_tensor(f, in)) return false;
    }
    if (o->nmeet && o->nparts)
        return not_shared(f, "one result is put together from parts, and they add to "
                             "the same places of another");
    for (int t = 0; t < f->p->ntensor && o->nrows < PARALLEL_PARTS; t++) {
        if (o->sharing[t] != SHARE_PLACES || f->apart[t]) continue;
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
