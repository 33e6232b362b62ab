/* print_ast.c: a syntax tree as text, for `explain --stage=ast`: one node a
 * line, children indented below, "-" for a part that was left out. */
#include "ast.h"

#include "../../formats/base/types.h"

#include <math.h>

static const char *const kind_text[AST_KIND_COUNT] = {
#define NODE(NAME, text, children) [N_##NAME] = text,
    AST_NODES(NODE)
#undef NODE
};

static const char *const op_text[OPR_COUNT] = {[OPR_NONE] = "",
#define OPERATOR(NAME, symbol, precedence) [OPR_##NAME] = symbol,
                                               AST_OPERATORS(OPERATOR)
#undef OPERATOR
};

const char *ast_kind_name(int kind)
{
    return kind >= 0 && kind < AST_KIND_COUNT ? kind_text[kind] : "?";
}

const char *ast_op_symbol(int op)
{
    return op > 0 && op < OPR_COUNT ? op_text[op] : "";
}

static void print_payload(const ast *n, textbuf *out)
{
    char number[64];
    switch (n->kind) {
    case N_INT:
        text_add(out, " %lld", (long long)n->u);
        break;
    case N_BOOL:
        text_add(out, " %s", n->u ? "true" : "false");
        break;
    case N_REAL:
    case N_IMAG:
        type_print(STC_F64, (value){.f64 = n->f}, number, sizeof number);
        text_add(out, " %s%s", number, n->kind == N_IMAG ? "j" : "");
        break;
    case N_STRING:
        text_add(out, " \"%s\"", n->name);
        break;
    case N_ASSIGN:
        text_add(out, " %s=", ast_op_symbol(n->op));
        break;
    case N_UNARY:
    case N_BINARY:
        text_add(out, " %s", ast_op_symbol(n->op));
        break;
    default:
        if (n->name[0]) text_add(out, " %s", n->name);
    }
}

static void print_node(const ast *n, int depth, textbuf *out)
{
    for (int i = 0; i < depth; i++)
        text_add(out, "  ");
    if (!n) {
        text_add(out, "-\n");
        return;
    }
    text_add(out, "%s", ast_kind_name(n->kind));
    print_payload(n, out);
    text_add(out, "\n");
    int last = n->count;
    while (last && !n->child[last - 1])
        last--;
    for (int i = 0; i < last; i++)
        print_node(n->child[i], depth + 1, out);
}

void ast_print(const ast *tree, textbuf *out)
{
    print_node(tree, 0, out);
}
