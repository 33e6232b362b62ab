/* program.c: building and freeing programs.
 *
 * Tables grow by doubling; constants and extents that are equal share a row,
 * so that lowering may ask for them as often as it likes. A program owns all
 * that its rows point to: it is one arena, which small programs fit into at once;
 * what a table leaves when it grows stays there, less than the table itself.
 */
#include "build.h"
#include <string.h>

enum { PROGRAM_FIRST = 8192 }; /* bytes of the arena's first block */

/* Moves a table to where it has room for `next` rows. */
static stc_status move(program *p, void *table, int count, int next, size_t size)
{
    void **block = table;
    void *b = arena_room(&p->own, next, size);
    if (!b) return p->cx->diag.status;
    if (count) memcpy(b, *block, (size_t)count * size);
    *block = b;
    return STC_OK;
}

/* Makes room for one more row. */
static stc_status grow(program *p, void *table, int *cap, int count, int max, size_t size)
{
    if (count >= max)
        return fail(p->cx, STC_ERR_PROGRAM,
                    "the program is too large: more than %d rows of "
                    "one kind",
                    max);
    if (count < *cap) return STC_OK;
    const int next = *cap ? 2 * *cap : 4;
    if (move(p, table, count, next, size)) return p->cx->diag.status;
    *cap = next;
    return STC_OK;
}

#define GROW(table, cap, count) grow(p, &(table), &(cap), count, TABLE_MAX, sizeof *(table))

program *program_new(ctx *cx)
{
    arena own;
    arena_init(&own, cx);
    own.first = PROGRAM_FIRST;
    program *p = arena_alloc(&own, sizeof *p);
    if (!p) return NULL;
    p->cx = cx;
    p->own = own;
    return p;
}

void program_free(program *p)
{
    if (!p) return;
    arena own = p->own; /* p is in it */
    arena_free(&own);
}

char *program_text(program *p, const char *s)
{
    return arena_text(&p->own, s, strlen(s));
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
    if (move(p, &p->code, p->ncode, cap, sizeof *p->code) ||
        move(p, &p->at, p->ncode, cap, sizeof *p->at))
        return p->cx->diag.status;
    p->code_cap = cap;
    return STC_OK;
}

int program_emit(program *p, span at, opcode op, const uint16_t *args, int n)
{
    if (program_reserve(p, p->ncode + 1)) return -1;
    insn *i = &p->code[p->ncode];
    *i = (insn){.op = (uint16_t)op};
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

bool extent_value(const extent *e, int64_t a, int64_t b, int64_t *out)
{
    switch ((ext_op)e->op) {
    case EXT_CONST:
        *out = e->k;
        return true;
    case EXT_ADD:
        return !__builtin_add_overflow(a, b, out);
    case EXT_MULC:
        return !__builtin_mul_overflow(a, e->k, out);
    case EXT_ADDC:
        return !__builtin_add_overflow(a, e->k, out);
    case EXT_FLOORDIV:
        if (e->k <= 0) return false;
        *out = a / e->k - (a % e->k < 0);
        return true;
    case EXT_MIN:
        *out = a < b ? a : b;
        return true;
    case EXT_MAX0:
        *out = a > 0 ? a : 0;
        return true;
    case EXT_MUL:
        return !__builtin_mul_overflow(a, b, out);
    default:
        return false;
    }
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
    c.text = program_text(p, c.text);
    if (!c.text) return -1;
    p->check[p->ncheck] = c;
    return p->ncheck++;
}

int program_tensor(program *p, const prog_tensor *t)
{
    if (GROW(p->tensor, p->tensor_cap, p->ntensor)) return -1;
    char *name = program_text(p, t->name);
    if (!name) return -1;
    p->tensor[p->ntensor] = *t;
    p->tensor[p->ntensor].name = name;
    return p->ntensor++;
}

int program_merge(program *p, const merge_desc *m)
{
    if (GROW(p->merge, p->merge_cap, p->nmerge)) return -1;
    merge_desc row = *m;
    row.operand = NULL;
    row.postfix = NULL;
    if (m->count) {
        row.operand = arena_room(&p->own, m->count, sizeof *row.operand);
        if (!row.operand) return -1;
        memcpy(row.operand, m->operand, m->count * sizeof *row.operand);
    }
    if (m->postfix_len > 0) {
        row.postfix = arena_room(&p->own, m->postfix_len, 1);
        if (!row.postfix) return -1;
        memcpy(row.postfix, m->postfix, (size_t)m->postfix_len);
    }
    p->merge[p->nmerge] = row;
    return p->nmerge++;
}

int program_fn(program *p, const user_fn *f)
{
    if (GROW(p->fn, p->fn_cap, p->nfn)) return -1;
    user_fn row = *f;
    row.name = program_text(p, f->name);
    if (!row.name) return -1;
    p->fn[p->nfn] = row;
    return p->nfn++;
}

void program_rewind(program *p, int tensors, int extents, int checks)
{
    if (p->ntensor > tensors) p->ntensor = tensors;
    if (p->next > extents) p->next = extents;
    if (p->ncheck > checks) p->ncheck = checks;
}
