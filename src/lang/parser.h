/* parser.h: what the parts of the parser share: the current token, building
 * nodes, and saying what was expected. By recursive descent, one token ahead;
 * operators by precedence climbing. Every function gives NULL (or false) after
 * an error, and the diag is filled.
 */
#ifndef STC_LANG_PARSER_H
#define STC_LANG_PARSER_H

#include "lexer.h"

#define PARSE_MAX_DEPTH 200 /* calls of the parser within each other */
#define PARSE_INLINE 64

typedef struct parser {
    arena *a;
    const source *src;
    lexer lx;
    token tok;     /* the current one                                      */
    int32_t ended; /* where the token before it ended                      */
    int depth;
    uint32_t nodes; /* made: where the call is looked at                   */
    bool in_fn;     /* a function's body: it has statements of its own        */
    bool in_def;    /* a def's body: `return` is a statement                  */
    bool left;      /* the reference being read is the left side of a statement */
    bool listed;    /* an argument is being read: `in` after a name gives it a range */
    int loops;      /* around the current place: `break` is a statement       */
    ast **stack;    /* children being collected                             */
    int64_t count, cap;
    ast *room[PARSE_INLINE];
} parser;

/* Moving on. */
void parse_advance(parser *p);
void parse_newlines(parser *p); /* skips them */
static inline bool parse_at(const parser *p, token_kind kind)
{
    return p->tok.kind == kind;
}
static inline bool parse_at_word(const parser *p, keyword k)
{
    return p->tok.kind == T_KEYWORD && p->tok.word == k;
}
static inline bool parse_at_op(const parser *p, ast_op op)
{
    return p->tok.kind == T_OP && p->tok.word == op;
}
bool parse_at_text(const parser *p, const char *name); /* a name, and this one */
bool parse_accept(parser *p, token_kind kind);
bool parse_accept_word(parser *p, keyword k);
bool parse_expect(parser *p, token_kind kind, const char *what);
/* The token after the current one. */
token parse_peek(const parser *p);
/* After a newline: true, and on it, if the next line begins with the word. */
bool parse_continues(parser *p, keyword k);

/* Errors: both give NULL. */
void *parse_expected(parser *p, const char *what);
void *parse_fail(parser *p, span at, const char *message, ...) ERROR_LIKE(3, 4);
bool parse_enter(parser *p); /* one call deeper; false if that is too deep */
static inline void parse_leave(parser *p)
{
    p->depth--;
}

/* Nodes. */
ast *parse_node(parser *p, ast_kind kind, span at);
ast *parse_named(parser *p, ast_kind kind, span at, span name);
/* Gives n children to node, and moves its end to the token before. */
ast *parse_children(parser *p, ast *node, ast *const *child, int n);
ast *parse_adopt(parser *p, ast *node, int64_t mark); /* those pushed since mark */
bool parse_push(parser *p, ast *child);               /* false if child is NULL  */
ast *parse_name(parser *p, ast_kind kind, const char *what);
ast *parse_string(parser *p);
ast *parse_integer(parser *p, bool sign, const char *what);
/* Names separated by commas up to a closing sign, which is taken. */
ast *parse_names(parser *p, token_kind close, const char *what);

/* The grammar. */
ast *parse_statement(parser *p);
ast *parse_assignment(parser *p);
ast *parse_value(parser *p);        /* an expression by itself */
ast *parse_flow(parser *p);         /* the statement that a reserved word begins    */
bool parse_at_end(const parser *p); /* of a statement */
ast *parse_block(parser *p);
ast *parse_expression(parser *p);
ast *parse_constant(parser *p, const char *what);  /* a signed literal */
ast *parse_reference(parser *p, const char *what); /* NAME or CALL    */
ast *parse_tensor(parser *p);
bool parse_at_data(const parser *p); /* NAME = data */
ast *parse_data(parser *p);
ast *parse_format(parser *p);
ast *parse_format_use(parser *p);
ast *parse_fn(parser *p);
ast *parse_schedule(parser *p);

bool parser_init(parser *p, arena *a, const source *src, int32_t from);
void parser_done(parser *p);

#endif
