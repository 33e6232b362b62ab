/* ast.h: the syntax tree: what a text says, before any name has a meaning.
 *
 * One node type for everything. A node has a kind, the place it came from,
 * children, and where its kind says so a name, a number or an operator. A
 * child that may be left out is NULL and keeps its place. Nodes live in an
 * arena; names are 0-terminated and don't point into the text.
 *
 * A name with parentheses is N_CALL whether it is a tensor's element or a
 * function's value: binding knows which. Format maps and sets of an algebra
 * are written with the same expression nodes.
 */
#ifndef STC_LANG_AST_H
#define STC_LANG_AST_H

#include "../../formats/base/context.h"

/* NODE(NAME, "printed as", children and payload) */
#define AST_NODES(NODE)                                                                    \
    /* statements */                                                                       \
    NODE(SCRIPT, "script", "statements; the root")                                         \
    NODE(BLOCK, "block", "statements in braces")                                           \
    NODE(ASSIGN, "assign", "left (NAME, CALL), right, SCHEDULE or NULL; op: of op=")       \
    NODE(TENSOR, "tensor", "name; format, type (NAME), SHAPE, fill, initial; all or NULL") \
    NODE(FORMAT, "format", "name; parameters (NAMES) or NULL, MAP")                        \
    NODE(DEF, "def", "name; NAMES of parameters, NAMES of results, BLOCK")                 \
    NODE(FN, "fn", "name; NAMES, body (expression, BLOCK, CASES), PROPS, algebra or NULL") \
    NODE(VALUE, "value", "an expression by itself")                                        \
    NODE(RESULTS, "results", "NAMES, the CALL that gives them their values")               \
    NODE(PRINT, "print", "STRINGs and VALUEs")                                             \
    NODE(ASSERT, "assert", "condition, STRING or NULL")                                    \
    NODE(SAVE, "save", "name; STRING")                                                     \
    NODE(COMPACT, "compact", "name")                                                       \
    NODE(DROP, "drop", "name")                                                             \
    NODE(INCLUDE, "include", "STRING")                                                     \
    NODE(REPEAT, "repeat", "how often, BLOCK")                                             \
    NODE(EACH, "for", "name of the variable; first, end, step or NULL, BLOCK")             \
    NODE(WHILE, "while", "condition, BLOCK")                                               \
    NODE(IF, "if", "condition, BLOCK, BLOCK or IF or NULL")                                \
    NODE(FOR, "for", "ASSIGN, condition, ASSIGN, BLOCK")                                   \
    NODE(BREAK, "break", "")                                                               \
    NODE(CONTINUE, "continue", "")                                                         \
    NODE(RETURN, "return", "expression")                                                   \
    /* expressions */                                                                      \
    NODE(INT, "int", "u: its value")                                                       \
    NODE(REAL, "real", "f: its value; inf and nan too")                                    \
    NODE(IMAG, "imag", "f: the imaginary part")                                            \
    NODE(BOOL, "bool", "u: 0 or 1")                                                        \
    NODE(STRING, "string", "name: its text")                                               \
    NODE(NAME, "name", "name")                                                             \
    NODE(CALL, "call", "name; arguments or subscripts (expressions, SLICE)")               \
    NODE(SLICE, "slice", "name of the index; lo, hi, stride (expressions or NULL)")        \
    NODE(PAD, "pad", "CALL")                                                               \
    NODE(UNARY, "unary", "op; operand")                                                    \
    NODE(BINARY, "binary", "op; left, right")                                              \
    NODE(REDUCE, "reduce", "name of f; BINDINGs, then the expression")                     \
    NODE(WHERE, "where", "an expression, its mask")                                        \
    NODE(BINDING, "binding", "name of an index; lo, hi (expressions) or none")             \
    /* parts of declarations */                                                            \
    NODE(NAMES, "names", "NAMEs")                                                          \
    NODE(SHAPE, "shape", "INTs")                                                           \
    NODE(ARRAY, "array", "ARRAYs or constant expressions")                                 \
    NODE(ENTRIES, "entries", "ENTRYs")                                                     \
    NODE(ENTRY, "entry", "coordinates (INT), then the value")                              \
    NODE(RANDOM, "random", "name: the kind; density, seed, lo, hi; constants or NULL")     \
    NODE(MADE, "made", "name: eye, arange; the shape is the declaration's")                \
    NODE(FORMATREF, "formatref", "name; arguments (INT)")                                  \
    NODE(SHORT, "short", "name: TACO's letters; mode order (INT)")                         \
    NODE(MAP, "map", "NAMES, then LEVELs")                                                 \
    NODE(LEVEL, "level",                                                                   \
         "name of the kind; coordinate (expression, COUNT), NAMES (a number first) or "    \
         "NULL")                                                                           \
    NODE(COUNT, "count", "name: #name")                                                    \
    /* parts of functions and schedules */                                                 \
    NODE(CASES, "cases", "CASEs")                                                          \
    NODE(CASE, "case", "NAMES that may hold constants, then the body")                     \
    NODE(PROPS, "props", "PROPs")                                                          \
    NODE(PROP, "prop", "name; value, position; or none")                                   \
    NODE(SET, "set", "name of a parameter; constant c: {name != c}")                       \
    NODE(SCHEDULE, "schedule", "COMMANDs")                                                 \
    NODE(COMMAND, "command", "name; arguments (expressions, NAMES for {i,j})")

typedef enum ast_kind {
#define NODE(NAME, text, children) N_##NAME,
    AST_NODES(NODE)
#undef NODE
        AST_KIND_COUNT
} ast_kind;

/* OPERATOR(NAME, "symbol", precedence): binary ones from the weakest (1) to the
 * strongest. The last rows are unary, or stand only in op=. */
#define AST_OPERATORS(OPERATOR)                                                            \
    OPERATOR(OR, "||", 1)                                                                  \
    OPERATOR(AND, "&&", 2)                                                                 \
    OPERATOR(EQ, "==", 3)                                                                  \
    OPERATOR(NE, "!=", 3)                                                                  \
    OPERATOR(LT, "<", 3)                                                                   \
    OPERATOR(LE, "<=", 3)                                                                  \
    OPERATOR(GT, ">", 3)                                                                   \
    OPERATOR(GE, ">=", 3)                                                                  \
    OPERATOR(BITOR, "|", 4)                                                                \
    OPERATOR(BITXOR, "^", 5)                                                               \
    OPERATOR(BITAND, "&", 6)                                                               \
    OPERATOR(SHL, "<<", 7)                                                                 \
    OPERATOR(SHR, ">>", 7)                                                                 \
    OPERATOR(ADD, "+", 8)                                                                  \
    OPERATOR(SUB, "-", 8)                                                                  \
    OPERATOR(MUL, "*", 9)                                                                  \
    OPERATOR(DIV, "/", 9)                                                                  \
    OPERATOR(FLOORDIV, "//", 9)                                                            \
    OPERATOR(MOD, "%", 9)                                                                  \
    OPERATOR(POW, "**", 11)                                                                \
    OPERATOR(NEG, "-", 0)                                                                  \
    OPERATOR(NOT, "!", 0)                                                                  \
    OPERATOR(BITNOT, "~", 0)                                                               \
    OPERATOR(PLUS, "+", 0)                                                                 \
    OPERATOR(MIN, "min", 0)                                                                \
    OPERATOR(MAX, "max", 0)

#define PRECEDENCE_UNARY 10 /* - ! ~: between * and ** */

typedef enum ast_op {
    OPR_NONE,
#define OPERATOR(NAME, symbol, precedence) OPR_##NAME,
    AST_OPERATORS(OPERATOR)
#undef OPERATOR
        OPR_COUNT
} ast_op;
extern const uint8_t ast_precedence[OPR_COUNT];

typedef struct ast ast;
struct ast {
    uint8_t kind;    /* ast_kind                                               */
    uint8_t op;      /* ast_op; OPR_NONE where there is none                   */
    uint16_t height; /* of the tree below, so that walks can recurse           */
    int32_t count;
    span at;
    ast **child;
    const char *name; /* "" where there is none                                */
    union {
        uint64_t u;
        double f;
    };
};

/* No tree is higher, whatever the text. */
#define AST_MAX_HEIGHT 1050

const char *ast_kind_name(int kind);
const char *ast_op_symbol(int op);

#endif
