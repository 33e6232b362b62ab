/* lexer.h: text → tokens, one at a time.
 *
 * The lexer is a small value: copying it saves a place to come back to. It
 * keeps the open brackets, because they decide whether a newline ends a
 * statement (nowhere open, or in braces) or is a blank (in others, and after an
 * operator, which wants an operand), and whether `#` starts a comment
 * (everywhere but inside a format's parentheses).
 */
#ifndef STC_LANG_LEXER_H
#define STC_LANG_LEXER_H

#include "lang.h"

typedef enum token_kind {
    T_END,     /* of the text                     */
    T_NEWLINE, /* one or more of them             */
    T_NAME,
    T_INT,
    T_REAL,
    T_IMAG,
    T_STRING,
    T_KEYWORD, /* token.word says which           */
    T_OP,      /* token.word: ast_op of a symbol  */
    T_OPSET,   /* += and its like; token.word: ast_op */
    T_SET,     /* =                               */
    T_ARROW,   /* ->                              */
    T_GIVES,   /* =>                              */
    T_LPAREN,
    T_RPAREN,
    T_LBRACKET,
    T_RBRACKET,
    T_LBRACE,
    T_RBRACE,
    T_COMMA,
    T_COLON,
    T_SEMI,
    T_NOT,
    T_TILDE,
    T_HASH,  /* in a format's parentheses       */
    T_ERROR, /* lexer.error says what is wrong  */
} token_kind;

#define LANG_KEYWORDS(KEYWORD)                                                             \
    KEYWORD(tensor)                                                                        \
    KEYWORD(format)                                                                        \
    KEYWORD(fn)                                                                            \
    KEYWORD(def)                                                                           \
    KEYWORD(with)                                                                          \
    KEYWORD(over)                                                                          \
    KEYWORD(pad)                                                                           \
    KEYWORD(in)                                                                            \
    KEYWORD(fill)                                                                          \
    KEYWORD(print)                                                                         \
    KEYWORD(assert)                                                                        \
    KEYWORD(save)                                                                          \
    KEYWORD(compact)                                                                       \
    KEYWORD(drop)                                                                          \
    KEYWORD(include)                                                                       \
    KEYWORD(repeat)                                                                        \
    KEYWORD(for)                                                                           \
    KEYWORD(while)                                                                         \
    KEYWORD(if)                                                                            \
    KEYWORD(else)                                                                          \
    KEYWORD(break)                                                                         \
    KEYWORD(continue)                                                                      \
    KEYWORD(return )                                                                       \
    KEYWORD(inf)                                                                           \
    KEYWORD(nan)                                                                           \
    KEYWORD(true)                                                                          \
    KEYWORD(false)

/* Words for operators where they reduce, that aren't the names of functions. */
#define LANG_REDUCTIONS(WORD) WORD(sum) WORD(prod) WORD(any) WORD(all) WORD(xor) WORD(pow)

/* Reductions that are made of others (bind_words.c). */
#define LANG_DERIVED(WORD) WORD(mean) WORD(norm) WORD(argmin) WORD(argmax)

/* What can be asked of the session, with how many operands (bind_asked.c). */
#define LANG_ASKED(ASKED) ASKED(clock, 0) ASKED(size, 2) ASKED(stored, 1)

typedef enum keyword {
#define KEYWORD(name) K_##name,
    LANG_KEYWORDS(KEYWORD)
#undef KEYWORD
        K_COUNT
} keyword;

typedef struct token {
    uint8_t kind, word;
    span at;
    union { /* of numbers */
        uint64_t u;
        double f;
    };
} token;

#define LEX_MAX_OPEN 192 /* brackets open at once */

typedef struct lexer {
    const char *text;
    int32_t at, end;
    int32_t lines;   /* newlines before `at`                                */
    int open;        /* brackets open                                       */
    int format_open; /* `open` inside a format's parentheses, 0: not in one */
    uint8_t before;  /* kind of the token before                            */
    const char *error;
    uint64_t brace[LEX_MAX_OPEN / 64]; /* bit k: the k-th open bracket is a brace */
} lexer;

/* False if the text is too long for spans. */
bool lexer_init(lexer *lx, const char *text);
void lexer_next(lexer *lx, token *t);
const char *keyword_name(int k);

#endif
