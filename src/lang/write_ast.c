/* write_ast.c: expressions and assignments as the text that parses to the same tree.
 *
 * Brackets stand only where precedence needs them (ast.h), so that what is made of trees,
 * as derivatives are (src/grad), reads like what a user writes.
 */
#include "lang.h"

#include <math.h>

enum { WEAKEST = 0, COMPARISON = 3, STRONGEST = 12 };

const uint8_t ast_precedence[OPR_COUNT] = {
#define OPERATOR(NAME, symbol, precedence) [OPR_##NAME] = precedence,
    AST_OPERATORS(OPERATOR)
#undef OPERATOR
};

static void write(const ast *e, int least, textbuf *out);

/* How strongly an expression holds together by itself. */
static int strength(const ast *e)
{
    if (e->kind == N_WHERE) return WEAKEST;
    if (e->kind == N_UNARY) return PRECEDENCE_UNARY;
    return e->kind == N_BINARY ? ast_precedence[e->op] : STRONGEST;
}

static void write_binary(const ast *e, textbuf *out)
{
    const int own = ast_precedence[e->op];
    const bool power = e->op == OPR_POW;
    write(e->child[0], own + (power || own == COMPARISON), out);
    text_add(out, power ? "**" : " %s ", ast_op_symbol(e->op));
    write(e->child[1], power ? PRECEDENCE_UNARY : own + 1, out);
}

static void write_list(const ast *e, int from, int to, textbuf *out)
{
    for (int k = from; k < to; k++) {
        if (k > from) text_add(out, ", ");
        write(e->child[k], WEAKEST, out);
    }
}

static void write_reduction(const ast *e, textbuf *out)
{
    text_add(out, "%s(", e->name);
    for (int k = 0; k + 1 < e->count; k++) {
        const ast *const i = e->child[k];
        text_add(out, k ? ", %s" : "%s", i->name);
        if (!i->count) continue;
        text_add(out, " in ");
        write(i->child[0], WEAKEST + 1, out);
        text_add(out, ":");
        write(i->child[1], WEAKEST + 1, out);
    }
    text_add(out, ": ");
    write(e->child[e->count - 1], WEAKEST, out);
    text_add(out, ")");
}

static void write_number(const ast *e, textbuf *out)
{
    char number[64];
    if (e->kind == N_INT || e->kind == N_BOOL) {
        if (e->kind == N_INT)
            text_add(out, "%llu", (unsigned long long)e->u);
        else
            text_add(out, e->u ? "true" : "false");
        return;
    }
    type_print(STC_F64, (value){.f64 = e->f}, number, sizeof number);
    text_add(out, "%s%s", number, e->kind == N_IMAG ? "j" : "");
}

static void write_plain(const ast *e, textbuf *out)
{
    switch (e->kind) {
    case N_UNARY:
        text_add(out, "%s", ast_op_symbol(e->op));
        write(e->child[0], PRECEDENCE_UNARY, out);
        break;
    case N_BINARY:
        write_binary(e, out);
        break;
    case N_REDUCE:
        write_reduction(e, out);
        break;
    case N_WHERE:
        write(e->child[0], WEAKEST + 1, out);
        text_add(out, " where ");
        write(e->child[1], WEAKEST + 1, out);
        break;
    case N_PAD:
        text_add(out, "pad ");
        write(e->child[0], STRONGEST, out);
        break;
    case N_NAME:
        text_add(out, "%s", e->name);
        break;
    case N_CALL:
        text_add(out, "%s(", e->name);
        write_list(e, 0, e->count, out);
        text_add(out, ")");
        break;
    default:
        write_number(e, out);
    }
}

static void write(const ast *e, int least, textbuf *out)
{
    const bool brackets = strength(e) < least;
    if (brackets) text_add(out, "(");
    write_plain(e, out);
    if (brackets) text_add(out, ")");
}

void ast_write(const ast *e, textbuf *out)
{
    if (e->kind != N_ASSIGN) {
        write(e, WEAKEST, out);
        return;
    }
    write(e->child[0], STRONGEST, out);
    text_add(out, " %s= ", ast_op_symbol(e->op));
    write(e->child[1], WEAKEST, out);
}
