/* verify_tables.c: the tables of a program, without its code: every reference
 * leads to a row that is there, and every row makes sense by itself.
 */
#include "verify.h"
#include "../code/policies.h"

static stc_status bad(const program *p, const char *table, int row, const char *why)
{
    return fail(p->cx, STC_ERR_CORRUPT, "unsafe bytecode: %s%d: %s", table, row, why);
}

static stc_status check_extent(const program *p, int id)
{
    const extent *e = &p->ext[id];
    switch ((ext_op)e->op) {
    case EXT_CONST:
    case EXT_SPAN:
        return STC_OK;
    case EXT_DIM:
        if (e->a >= p->ntensor || e->b >= p->tensor[e->a].order)
            return bad(p, "e", id, "there is no such mode");
        return STC_OK;
    case EXT_ADD:
    case EXT_MIN:
    case EXT_MUL:
        if (e->b >= id) return bad(p, "e", id, "it refers to a later extent");
        /* fall through */
    case EXT_MULC:
    case EXT_ADDC:
    case EXT_FLOORDIV:
    case EXT_MAX0:
        if (e->a >= id) return bad(p, "e", id, "it refers to a later extent");
        if (e->op == EXT_FLOORDIV && e->k <= 0)
            return bad(p, "e", id, "it divides by no size");
        return STC_OK;
    }
    return bad(p, "e", id, "there is no such operation");
}

/* Runs are for one index, and kept in their own way (vm/work/ws_runs.c). */
static stc_status check_workspace_format(const program *p, int id)
{
    const format *f = &p->tensor[id].fmt;
    const bool runs = f->levels == 1 && p->tensor[id].policy == WS_AUTO;
    for (int l = 0; l < f->levels; l++)
        if (f->level[l].kind->caps & CAP_REGION &&
            !(runs && f->level[l].kind->append_regions))
            return bad(p, "t", id, "a workspace can't have this format");
    return format_appends(f) ? STC_OK
                             : bad(p, "t", id, "a workspace can't have this format");
}

static stc_status check_tensor(const program *p, int id)
{
    const prog_tensor *t = &p->tensor[id];
    char why[256];
    if (t->role > ROLE_WORK || (unsigned)t->type >= TYPE_COUNT ||
        !policy_name(p->cx, t->policy))
        return bad(p, "t", id, "there is no such role, type or policy");
    if (t->order < 0 || t->order > STC_MAX_ORDER || t->fmt.order != t->order)
        return bad(p, "t", id, "its order isn't its format's");
    if (!format_valid(&t->fmt, why, sizeof why)) return bad(p, "t", id, why);
    if (t->role != ROLE_INPUT)
        for (int m = 0; m < t->order; m++) {
            if (t->shape[m] >= p->next)
                return bad(p, "t", id, "its shape has no such extent");
            /* threads begin their parts later than the result is begun */
            if (t->role != ROLE_WORK && p->ext[t->shape[m]].op == EXT_SPAN)
                return bad(p, "t", id, "its shape is found out on the way");
        }
    if (t->keep_while && t->source >= p->ntensor)
        return bad(p, "t", id, "its source isn't there");
    if (t->declared && !*t->name) return bad(p, "t", id, "it is declared, and has no name");
    return t->role == ROLE_WORK ? check_workspace_format(p, id) : STC_OK;
}

/* Postfix programs: operands in range, one result, at most 64 on the stack. */
static stc_status check_postfix(const program *p, int id)
{
    const merge_desc *m = &p->merge[id];
    int depth = 0;
    for (int i = 0; i < m->postfix_len; i++) {
        uint8_t x = m->postfix[i];
        if (x == PF_AND || x == PF_OR) {
            if (--depth < 1) return bad(p, "g", id, "its table lacks operands");
        } else if (x == PF_NOT) {
            if (depth < 1) return bad(p, "g", id, "its table lacks operands");
        } else {
            if (x > PF_FALSE || (x < 64 && x >= m->count))
                return bad(p, "g", id, "its table has no such operand");
            if (++depth > 64) return bad(p, "g", id, "its table nests too deep");
        }
    }
    return depth == 1 ? STC_OK : bad(p, "g", id, "its table has no result");
}

static stc_status check_merge(const program *p, int id)
{
    const merge_desc *m = &p->merge[id];
    if (m->count > 64) return bad(p, "g", id, "more than 64 operands");
    if ((m->lo != ROOT && m->lo >= p->next) || m->hi >= p->next)
        return bad(p, "g", id, "its range has no such extent");
    for (int k = 0; k < m->count; k++) {
        if (m->operand[k].role > MERGE_KNOWN)
            return bad(p, "g", id, "there is no such role");
        if (m->operand[k].role == MERGE_LOCATE && m->operand[k].coef == 0)
            return bad(p, "g", id, "a coefficient of 0");
    }
    if (m->count <= MERGE_TABLE_MAX)
        return m->postfix_len ? bad(p, "g", id, "two tables") : STC_OK;
    return check_postfix(p, id);
}

static stc_status check_fn(const program *p, int id)
{
    const user_fn *f = &p->fn[id];
    uint32_t after = id ? p->fn[id - 1].end : 0;
    if (f->begin < after || f->end < f->begin || f->end > (uint32_t)p->ncode ||
        (f->end == f->begin) != f->host)
        return bad(p, "f", id, "its code overlaps another's, or is out of range");
    if (f->params > 8 || f->nv < f->params || f->result >= CLASS_COUNT)
        return bad(p, "f", id, "its parameters or result make no sense");
    if ((uint32_t)(f->nv - f->params) > f->end - f->begin)
        return bad(p, "f", id, "it has registers that nothing writes");
    for (int k = 0; k < f->params; k++)
        if (f->cls[k] >= CLASS_COUNT) return bad(p, "f", id, "there is no such class");
    return STC_OK;
}

static bool registers_fit(const program *p)
{
    return p->nv >= 0 && p->ni >= 0 && p->nm >= 0 && p->nc >= 0 && p->nv <= ROOT &&
           p->ni <= ROOT && p->nm <= ROOT && p->nc <= ROOT;
}

stc_status verify_tables(const program *p)
{
    stc_status status = STC_OK;
    if (!registers_fit(p)) return bad(p, "registers ", 0, "more than operands can name");
    if (p->notation && !p->source)
        return bad(p, "notation ", 0, "the program has no source");
    for (int i = 0; i < p->next && !status; i++)
        status = check_extent(p, i);
    for (int i = 0; i < p->ntensor && !status; i++)
        status = check_tensor(p, i);
    for (int i = 0; i < p->nmerge && !status; i++)
        status = check_merge(p, i);
    for (int i = 0; i < p->nfn && !status; i++)
        status = check_fn(p, i);
    for (int i = 0; i < p->nconst && !status; i++)
        if (p->konst[i].cls >= CLASS_COUNT)
            status = bad(p, "k", i, "there is no such class");
    for (int i = 0; i < p->ncheck && !status; i++) {
        const ext_check *c = &p->check[i];
        if (c->rel > REL_LE || c->a >= p->next || c->b >= p->next || !c->text)
            status = bad(p, "check ", i, "there is no such extent or relation");
    }
    return status;
}
