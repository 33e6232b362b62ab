/* parallel_places.c: where the rounds of a shared loop store: which registers have
 * coordinates that are each round's own, which results are written below such alone,
 * and which of them in rows that follow each other. For parallel_find.c.
 */
#include "parallel_find.h"
#include "../../formats/join.h"
#include "../code/text.h"
#include <string.h>

/* ---- coordinates ------------------------------------------------------------------- */

static void count_write(finder *f, int cell)
{
    const int reg = cell - f->i0;
    if (reg >= 0 && reg < f->p->ni && f->writes[reg] < 2) f->writes[reg]++;
}

static bool is_zero(const finder *f, int reg)
{
    for (int k = f->l->first + 1; k < f->l->last; k++)
        if (find_at(f, k)->op == OP_ICONST && find_at(f, k)->arg[0] == reg)
            return f->writes[reg] == 1 && f->p->konst[find_at(f, k)->arg[1]].v.i64 == 0;
    return false;
}

/* r = a * k + d: a multiple of the loop's index; or a coordinate within the block
 * that begins there. */
static void combine(finder *f, const uint16_t *a)
{
    const int64_t k = f->p->konst[a[2]].v.i64;
    if (f->writes[a[0]] != 1) return;
    if (a[1] == f->l->index && k >= 1 && is_zero(f, a[3])) f->block[a[0]] = k;
    const int64_t block = f->block[a[3]];
    if (k != 1 || !block || !f->within[a[1]] || f->within[a[1]] > block) return;
    if (f->out->step > 1 && f->out->step != block) return;
    f->out->step = block;
    f->own[a[0]] = OWN_BLOCK;
}

/* The registers that have the loop's own coordinate, or one of a block of them:
 * what `split` makes of a loop. Written once, they hold for all of the round. */
void own_coordinates(finder *f)
{
    const loop *l = f->l;
    int open[BLOCKS_MAX], depth = 0;
    for (int k = l->first + 1; k < l->last; k++)
        each_write(f, find_at(f, k), count_write);
    f->out->step = 1;
    f->own[l->index] = OWN_INDEX;
    for (int k = l->first + 1; k < l->last; k++) {
        const insn *in = find_at(f, k);
        if (in->op == OP_IMULADD) combine(f, in->arg);
        if (in->op == OP_LOOP) {
            const merge_desc *m = &f->p->merge[in->arg[2]];
            const extent *hi = &f->p->ext[m->hi];
            const bool known = m->lo == ROOT && hi->op == EXT_CONST;
            if (known && f->writes[in->arg[0]] == 1) f->within[in->arg[0]] = hi->k;
            open[depth++] = in->arg[0];
        }
        if (in->op == OP_END) f->within[open[--depth]] = 0;
    }
}

/* ---- tensors ----------------------------------------------------------------------- */

/* The tensors that an instruction names. */
static int tensors_of(const finder *f, const insn *in, uint16_t *t)
{
    const char *letters = op_at(in->op)->operands;
    int n = 0;
    for (int k = 0; letters[k]; k++)
        if (strchr("TRW", letters[k])) t[n++] = in->arg[k];
    if (in->op != OP_LOOP) return n;
    const merge_desc *m = &f->p->merge[in->arg[2]];
    for (int b = 0; b < m->count; b++) /* at most 64, as many as there is room for */
        if (m->operand[b].role == MERGE_LOCATE) t[n++] = m->operand[b].tensor;
    return n;
}

static bool used_outside(const finder *f, uint16_t t)
{
    uint16_t named[64];
    for (int k = 0; k < f->mc->nmain; k++) {
        if (k >= f->l->first && k <= f->l->last) continue;
        const int n = tensors_of(f, find_at(f, k), named);
        for (int j = 0; j < n; j++)
            if (named[j] == t) return true;
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
    const bool here = f->own[in->arg[4]];
    const uint16_t up = in->arg[3];
    if (f->out->sharing[in->arg[1]] == SHARE_OWN) return true;
    const uint8_t first = f->out->step > 1 ? OWN_BLOCK : OWN_INDEX;
    const bool apart = in->arg[2] ? f->below[up] != 1 : f->own[in->arg[4]] != first;
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

static bool stores(finder *f, uint16_t t, uint16_t place)
{
    if (f->out->sharing[t] == SHARE_OWN) return true;
    if (place == ROOT || f->below[place] != 1)
        return not_shared(f, "several write to the same places of a result");
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
        return not_shared(f, "they add to one workspace");
    case OP_AT:
        return find_place(f, in);
    case OP_KEEP:
        return stores(f, a[0], a[2]);
    case OP_STORE:
    case OP_ACC:
        return stores(f, a[0], a[1]);
    case OP_BOUND:
        return not_shared(f, "its rounds set the range of a loop inside");
    case OP_SPAN:
    case OP_SETFILL:
    case OP_MOVE:
    case OP_CONVERT:
    case OP_PACK:
    case OP_UPDATE:
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
    for (int k = first; k < last; k++)
        if (!find_tensor(f, find_at(f, k))) return false;
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
    int k = f->l->first - 1;
    const insn *in = find_at(f, k);
    while ((in->op != OP_OPEN && in->op != OP_OPENAT) || in->arg[0] != walker)
        in = find_at(f, --k);
    return in->op == OP_OPEN && in->arg[2] == 0 ? in->arg[1] : -1;
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
