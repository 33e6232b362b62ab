/* bind_asked.c: calls that ask the session for a number: clock(), size(A, k), stored(A).
 *
 * Each is a scalar operand of the program whose name is the call itself; who runs the
 * program sees that by the bracket, and binds what the answer then is. So a statement is
 * compiled once, and its answers are new in each round.
 */
#include "bind.h"
#include "lexer.h"

#include <stdio.h>
#include <string.h>

bool name_is_asked(const char *name)
{
    return strchr(name, '(') != NULL;
}

bool call_is_asked(const ast *e)
{
#define ASKED(word, operands)                                                              \
    if (e->count == (operands) && !strcmp(e->name, #word)) return true;
    LANG_ASKED(ASKED)
#undef ASKED
    return false;
}

/* The tensor that is asked about, and which of its modes: as they are written. */
static bool about(binder *b, const ast *e, char *name, size_t size)
{
    const ast *const a = e->child[0], *const k = e->count > 1 ? e->child[1] : NULL;
    if (a->kind != N_NAME || !scope_find_tensor(b->s, a->name)) {
        bind_fail(b, a->at, "`%s` is asked about a tensor's name", e->name);
        return false;
    }
    const scope_tensor *const scalar =
        k && k->kind == N_NAME ? scope_find_tensor(b->s, k->name) : NULL;
    if (k && k->kind != N_INT && !(scalar && scalar->order <= 0)) {
        bind_fail(b, k->at, "expected the number of a mode, from 0, or a scalar's name");
        return false;
    }
    const int n = !k ? snprintf(name, size, "%s(%s)", e->name, a->name)
                  : k->kind == N_INT
                      ? snprintf(name, size, "%s(%s,%llu)", e->name, a->name,
                                 (unsigned long long)k->u)
                      : snprintf(name, size, "%s(%s,%s)", e->name, a->name, k->name);
    if (n >= 0 && (size_t)n < size) return true;
    bind_fail(b, e->at, "the names here are too long");
    return false;
}

static int slot_of(binder *b, const char *name, stc_type type)
{
    prog_tensor row;
    for (int i = 0; i < b->p->ntensor; i++)
        if (!strcmp(b->p->tensor[i].name, name)) return i;
    memset(&row, 0, sizeof row);
    row.name = (char *)name;
    row.role = ROLE_INPUT;
    row.type = type;
    if (!format_builtin("dense", 5, 0, NULL, 0, &row.fmt)) return -1;
    return program_tensor(b->p, &row);
}

bexpr *bind_asked(binder *b, const ast *e)
{
    char name[200] = "clock()";
    const stc_type type = e->count ? STC_I64 : STC_F64;
    if (e->count && !about(b, e, name, sizeof name)) return NULL;
    const int slot = slot_of(b, name, type);
    bexpr *const x = slot < 0 ? NULL : bind_node(b, B_ACCESS, type, e->at);
    if (x) x->tensor = slot;
    return x;
}
