/* program.c: building and freeing programs.
 *
 * Tables grow by doubling; constants and extents that are equal share a row,
 * so that lowering may ask for them as often as it likes. A program owns all
 * that its rows point to.
 */
#include "build.h"
#include <string.h>

/* Makes room for one more row. */
static stc_status grow(program *p, void *table, int *cap, int count, int max, size_t size)
{
    void **block = table;
    if (count >= max)
        return fail(p->cx, STC_ERR_PROGRAM,
                    "the program is too large: more than %d rows of "
                    "one kind",
                    max);
    if (count < *cap) return STC_OK;
    int next = *cap ? 2 * *cap : 4;
    void *b = mem_resize(p->cx, *block, (size_t)*cap * size, (size_t)next * size);
    if (!b) return p->cx->diag.status;
    *block = b;
    *cap = next;
    return STC_OK;
}

#define GROW(table, cap, count) grow(p, &(table), &(cap), count, TABLE_MAX, sizeof *(table))

program *program_new(ctx *cx)
{
    program *p = mem_zero(cx, 1, sizeof *p);
    if (p) p->cx = cx;
    return p;
}

static void free_merge(ctx *cx, merge_desc *m)
{
    mem_free(cx, m->operand, m->count * sizeof *m->operand);
    mem_free(cx, m->postfix, (size_t)m->postfix_len);
}

void program_free(program *p)
{
    if (!p) return;
    ctx *cx = p->cx;
    for (int i = 0; i < p->ntensor; i++)
        mem_strfree(cx, p->tensor[i].name);
    for (int i = 0; i < p->ncheck; i++)
        mem_strfree(cx, p->check[i].text);
    for (int i = 0; i < p->nmerge; i++)
        free_merge(cx, &p->merge[i]);
    for (int i = 0; i < p->nfn; i++)
        mem_strfree(cx, p->fn[i].name);
    if (!p->source_lent) mem_strfree(cx, p->source);
    mem_strfree(cx, p->file);
    mem_free(cx, p->code, (size_t)p->code_cap * sizeof *p->code);
    mem_free(cx, p->at, (size_t)p->code_cap * sizeof *p->at);
    mem_free(cx, p->tensor, (size_t)p->tensor_cap * sizeof *p->tensor);
    mem_free(cx, p->ext, (size_t)p->ext_cap * sizeof *p->ext);
    mem_free(cx, p->check, (size_t)p->check_cap * sizeof *p->check);
    mem_free(cx, p->konst, (size_t)p->const_cap * sizeof *p->konst);
    mem_free(cx, p->merge, (size_t)p->merge_cap * sizeof *p->merge);
    mem_free(cx, p->fn, (size_t)p->fn_cap * sizeof *p->fn);
    mem_free(cx, p, sizeof *p);
}

/* ---- code ---------------------------------------------------------------------- */

/* code and at grow together and share code_cap. */
stc_status program_reserve(program *p, int n)
{
    if (n <= p->code_cap) return STC_OK;
    if (n > CODE_MAX)
        return fail(p->cx, STC_ERR_PROGRAM,
                    "the program is too large: more than %d instructions", CODE_MAX);
    int cap = p->code_cap ? 2 * p->code_cap : 64;
    if (cap < n) cap = n;
    insn *code = mem_alloc(p->cx, (size_t)cap * sizeof *code);
    span *at = code ? mem_alloc(p->cx, (size_t)cap * sizeof *at) : NULL;
    if (!at) {
        mem_free(p->cx, code, (size_t)cap * sizeof *code);
        return p->cx->diag.status;
    }
    if (p->ncode) {
        memcpy(code, p->code, (size_t)p->ncode * sizeof *code);
        memcpy(at, p->at, (size_t)p->ncode * sizeof *at);
    }
    mem_free(p->cx, p->code, (size_t)p->code_cap * sizeof *p->code);
    mem_free(p->cx, p->at, (size_t)p->code_cap * sizeof *p->at);
    p->code = code;
    p->at = at;
    p->code_cap = cap;
    return STC_OK;
}

int program_emit(program *p, span at, opcode op, const uint16_t *args, int n)
{
    if (program_reserve(p, p->ncode + 1)) return -1;
    insn *i = &p->code[p->ncode];
    memset(i, 0, sizeof *i);
    i->op = (uint16_t)op;
    for (int k = 0; k < n; k++)
        i->arg[k] = args[k];
    p->at[p->ncode] = at;
    return p->ncode++;
}

/* ---- tables -------------------------------------------------------------------- */

int program_push_const(program *p, constant k)
{
    if (GROW(p->konst, p->const_cap, p->nconst)) return -1;
    p->konst[p->nconst] = k;
    return p->nconst++;
}

/* Bit for bit: 0.0 and -0.0 are two constants, and one NaN is one. */
static bool same_const(const constant *a, vclass cls, const value *v)
{
    if (a->cls != cls) return false;
    switch (cls) {
    case CLASS_F32:
        return memcmp(&a->v.f32, &v->f32, sizeof v->f32) == 0;
    case CLASS_C128:
        return memcmp(&a->v.c128, &v->c128, sizeof v->c128) == 0;
    default:
        return a->v.u64 == v->u64;
    }
}

int program_const(program *p, vclass cls, value v)
{
    for (int i = 0; i < p->nconst; i++)
        if (same_const(&p->konst[i], cls, &v)) return i;
    constant k;
    memset(&k, 0, sizeof k);
    k.cls = (uint8_t)cls;
    k.v = v;
    return program_push_const(p, k);
}

int program_push_extent(program *p, extent e)
{
    if (GROW(p->ext, p->ext_cap, p->next)) return -1;
    p->ext[p->next] = e;
    return p->next++;
}

int program_extent(program *p, extent e)
{
    for (int i = 0; i < p->next; i++) {
        const extent *x = &p->ext[i];
        if (x->op == e.op && x->a == e.a && x->b == e.b && x->k == e.k) return i;
    }
    return program_push_extent(p, e);
}

int program_check(program *p, ext_check c)
{
    if (GROW(p->check, p->check_cap, p->ncheck)) return -1;
    c.text = mem_strdup(p->cx, c.text);
    if (!c.text) return -1;
    p->check[p->ncheck] = c;
    return p->ncheck++;
}

int program_tensor(program *p, const prog_tensor *t)
{
    if (GROW(p->tensor, p->tensor_cap, p->ntensor)) return -1;
    prog_tensor row = *t;
    row.name = mem_strdup(p->cx, t->name);
    if (!row.name) return -1;
    p->tensor[p->ntensor] = row;
    return p->ntensor++;
}

int program_merge(program *p, const merge_desc *m)
{
    if (GROW(p->merge, p->merge_cap, p->nmerge)) return -1;
    merge_desc row = *m;
    row.operand = NULL;
    row.postfix = NULL;
    if (m->count) {
        row.operand = mem_alloc(p->cx, m->count * sizeof *row.operand);
        if (!row.operand) return -1;
        memcpy(row.operand, m->operand, m->count * sizeof *row.operand);
    }
    if (m->postfix_len > 0) {
        row.postfix = mem_alloc(p->cx, (size_t)m->postfix_len);
        if (!row.postfix) {
            mem_free(p->cx, row.operand, m->count * sizeof *row.operand);
            return -1;
        }
        memcpy(row.postfix, m->postfix, (size_t)m->postfix_len);
    }
    p->merge[p->nmerge] = row;
    return p->nmerge++;
}

int program_fn(program *p, const user_fn *f)
{
    if (GROW(p->fn, p->fn_cap, p->nfn)) return -1;
    user_fn row = *f;
    row.name = mem_strdup(p->cx, f->name);
    if (!row.name) return -1;
    p->fn[p->nfn] = row;
    return p->nfn++;
}

void program_rewind(program *p, int tensors, int extents, int checks)
{
    while (p->ntensor > tensors)
        mem_strfree(p->cx, p->tensor[--p->ntensor].name);
    while (p->ncheck > checks)
        mem_strfree(p->cx, p->check[--p->ncheck].text);
    if (p->next > extents) p->next = extents;
}
