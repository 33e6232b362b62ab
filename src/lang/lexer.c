/* lexer.c: text → tokens (see lexer.h). Numbers are read without regard to
 * the host's locale: what fits 53 bits and a power of ten up to 22 is exact
 * by one multiplication or division (Clinger's fast path), the rest goes
 * through strtod with the locale's point put in.
 */
#include "lexer.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { IS_SPACE = 1, IS_DIGIT = 2, IS_NAME = 4 };

static const uint8_t class_of[256] = {
    [' '] = IS_SPACE,        ['\t'] = IS_SPACE,       ['\r'] = IS_SPACE,
    ['\v'] = IS_SPACE,       ['\f'] = IS_SPACE,       ['_'] = IS_NAME,
    ['a' ... 'z'] = IS_NAME, ['A' ... 'Z'] = IS_NAME, ['0' ... '9'] = IS_DIGIT | IS_NAME,
};

static inline int char_class(char c)
{
    return class_of[(uint8_t)c];
}

static const char *const keywords[K_COUNT] = {
#define KEYWORD(name) #name,
    LANG_KEYWORDS(KEYWORD)
#undef KEYWORD
};

const char *keyword_name(int k)
{
    return k >= 0 && k < K_COUNT ? keywords[k] : "?";
}

bool lexer_init(lexer *lx, const char *text)
{
    size_t len = strlen(text);
    *lx = (lexer){.text = text, .end = (int32_t)len, .before = T_NEWLINE};
    if (!strncmp(text, "\xef\xbb\xbf", 3)) lx->at = 3; /* a byte order mark */
    return len < INT32_MAX;
}

static bool in_braces(const lexer *lx)
{
    int top = lx->open - 1;
    return top < 0 || (lx->brace[top / 64] >> (top % 64) & 1);
}

/* After these an operand is missing: nothing ends there. */
static bool wants_more(uint8_t kind)
{
    return kind == T_OP || kind == T_OPSET || kind == T_SET || kind == T_NOT ||
           kind == T_TILDE || kind == T_COMMA || kind == T_ARROW || kind == T_GIVES;
}

/* Skips blanks and comments; true if a newline among them ends a statement. */
static bool skip_blank(lexer *lx)
{
    bool newline = false;
    const bool ends = !wants_more(lx->before);
    while (lx->at < lx->end) {
        const char c = lx->text[lx->at];
        if (c == '\n') {
            newline |= ends && in_braces(lx);
            lx->lines++;
        } else if (c == '#' && !lx->format_open) {
            while (lx->at < lx->end && lx->text[lx->at] != '\n')
                lx->at++;
            continue;
        } else if (c == '\\' &&
                   (lx->text[lx->at + 1] == '\n' ||
                    (lx->text[lx->at + 1] == '\r' && lx->text[lx->at + 2] == '\n'))) {
            lx->at += lx->text[lx->at + 1] == '\r' ? 2 : 1;
            lx->lines++;
        } else if (!(char_class(c) & IS_SPACE)) {
            break;
        }
        lx->at++;
    }
    return newline;
}

static token *bad(lexer *lx, token *t, const char *why)
{
    t->kind = T_ERROR;
    t->at.end = lx->at > t->at.begin ? lx->at : t->at.begin + 1;
    lx->error = why;
    return t;
}

/* A decimal number's value from its text, which is known to be well-formed. */
static double real_value(const char *s, int len)
{
    static const double ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                 1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    uint64_t m = 0;
    int exponent = 0, digits = 0, k = 0, written = 0;
    bool point = false, negative = false;
    for (; k < len && (s[k] == '.' || (s[k] >= '0' && s[k] <= '9')); k++) {
        if (s[k] == '.') {
            point = true;
            continue;
        }
        m = m * 10 + (uint64_t)(s[k] - '0');
        if (m) digits++;
        if (point) exponent--;
        if (digits > 18) break;
    }
    if (digits <= 15) {
        if (k < len) k++; /* e */
        if (k < len && (s[k] == '-' || s[k] == '+')) negative = s[k++] == '-';
        for (; k < len && written < 10000; k++)
            written = written * 10 + (s[k] - '0');
        exponent += negative ? -written : written;
        if (m == 0) return 0;
        if (exponent >= 0 && exponent <= 22) return (double)m * ten[exponent];
        if (exponent < 0 && exponent >= -22) return (double)m / ten[-exponent];
    }
    char buf[512];
    const char *dot = localeconv()->decimal_point;
    int n = 0;
    for (k = 0; k < len && n < (int)sizeof buf - 16; k++) {
        if (s[k] != '.') {
            buf[n++] = s[k];
            continue;
        }
        for (const char *d = dot; *d && d < dot + 8; d++)
            buf[n++] = *d;
    }
    buf[n] = 0;
    return strtod(buf, NULL);
}

static bool digit_at(const lexer *lx, int32_t at)
{
    return at < lx->end && lx->text[at] >= '0' && lx->text[at] <= '9';
}

static token *lex_hex(lexer *lx, token *t)
{
    lx->at += 2;
    int digits = 0;
    for (; lx->at < lx->end; lx->at++, digits++) {
        const char c = lx->text[lx->at];
        const int d = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
        if (d < 0) break;
        if (t->u >> 60) return bad(lx, t, "the number is too large for 64 bits");
        t->u = t->u * 16 + (uint64_t)d;
    }
    if (!digits) return bad(lx, t, "a hexadecimal number needs digits after 0x");
    t->kind = T_INT;
    return t;
}

static token *lex_number(lexer *lx, token *t)
{
    const char *const s = lx->text;
    if (s[lx->at] == '0' && (s[lx->at + 1] == 'x' || s[lx->at + 1] == 'X')) {
        lex_hex(lx, t);
    } else {
        bool real = false, large = false;
        for (; digit_at(lx, lx->at); lx->at++)
            large |= __builtin_mul_overflow(t->u, 10u, &t->u) ||
                     __builtin_add_overflow(t->u, (uint64_t)(s[lx->at] - '0'), &t->u);
        if (lx->at < lx->end && s[lx->at] == '.') {
            real = true;
            for (lx->at++; digit_at(lx, lx->at);)
                lx->at++;
        }
        if (lx->at < lx->end && (s[lx->at] | 32) == 'e') {
            const int32_t sign = s[lx->at + 1] == '-' || s[lx->at + 1] == '+';
            if (digit_at(lx, lx->at + 1 + sign)) {
                real = true;
                for (lx->at += 1 + sign; digit_at(lx, lx->at);)
                    lx->at++;
            }
        }
        const bool imag = lx->at < lx->end && s[lx->at] == 'j';
        if (large && !real && !imag)
            return bad(lx, t, "the number is too large for 64 bits");
        t->kind = imag ? T_IMAG : real ? T_REAL : T_INT;
        if (real || imag) t->f = real_value(s + t->at.begin, lx->at - t->at.begin);
        lx->at += imag;
    }
    if (t->kind != T_ERROR && lx->at < lx->end && (char_class(s[lx->at]) & IS_NAME)) {
        while (lx->at < lx->end && (char_class(s[lx->at]) & IS_NAME))
            lx->at++;
        return bad(lx, t, "a name can't begin with a digit, and a product needs its *");
    }
    return t;
}

static int keyword_find(const char *s, int len)
{
    /* the letters with which reserved words begin */
    const uint32_t first = 1u << ('t' - 'a') | 1u << ('f' - 'a') | 1u << ('w' - 'a') |
                           1u << ('o' - 'a') | 1u << ('p' - 'a') | 1u << ('i' - 'a') |
                           1u << ('s' - 'a') | 1u << ('c' - 'a') | 1u << ('d' - 'a') |
                           1u << ('r' - 'a') | 1u << ('e' - 'a') | 1u << ('n' - 'a') |
                           1u << ('a' - 'a') | 1u << ('b' - 'a');
    if (len < 2 || len > 8 || s[0] < 'a' || !(first >> (s[0] - 'a') & 1)) return -1;
    for (int k = 0; k < K_COUNT; k++)
        if (keywords[k][0] == s[0] && !strncmp(keywords[k], s, (size_t)len) &&
            !keywords[k][len])
            return k;
    return -1;
}

static token *lex_name(lexer *lx, token *t)
{
    const int32_t begin = lx->at;
    while (lx->at < lx->end && (char_class(lx->text[lx->at]) & IS_NAME))
        lx->at++;
    const int k = keyword_find(lx->text + begin, lx->at - begin);
    t->kind = k < 0 ? T_NAME : T_KEYWORD;
    t->word = k < 0 ? 0 : (uint8_t)k;
    return t;
}

static token *lex_string(lexer *lx, token *t)
{
    for (lx->at++; lx->at < lx->end && lx->text[lx->at] != '\n'; lx->at++) {
        if (lx->text[lx->at] == '\\' && lx->at + 1 < lx->end) {
            lx->at++;
        } else if (lx->text[lx->at] == '"') {
            lx->at++;
            t->kind = T_STRING;
            return t;
        }
    }
    return bad(lx, t, "this string has no closing quote");
}

static token *lex_open(lexer *lx, token *t, token_kind kind)
{
    if (lx->open == LEX_MAX_OPEN) return bad(lx, t, "brackets are nested too deeply");
    const uint64_t bit = 1ull << (lx->open % 64);
    if (kind == T_LBRACE)
        lx->brace[lx->open / 64] |= bit;
    else
        lx->brace[lx->open / 64] &= ~bit;
    lx->open++;
    if (kind == T_LPAREN && lx->before == T_ARROW && !lx->format_open)
        lx->format_open = lx->open;
    t->kind = (uint8_t)kind;
    return t;
}

static token *lex_close(lexer *lx, token *t, token_kind kind)
{
    if (lx->open == lx->format_open) lx->format_open = 0;
    if (lx->open) lx->open--;
    t->kind = (uint8_t)kind;
    return t;
}

/* Operators: the longest that fits. `c` is the first, `d` the second sign. */
static token *lex_operator(lexer *lx, token *t, char c, char d)
{
#define TWO(KIND, WORD) (lx->at++, t->kind = (KIND), t->word = (WORD), t)
#define ONE(KIND, WORD) (t->kind = (KIND), t->word = (WORD), t)
    const bool set = d == '=';
    switch (c) {
    case '+':
        return set ? TWO(T_OPSET, OPR_ADD) : ONE(T_OP, OPR_ADD);
    case '-':
        if (d == '>') return TWO(T_ARROW, 0);
        return set ? TWO(T_OPSET, OPR_SUB) : ONE(T_OP, OPR_SUB);
    case '*':
        if (d == '*') return TWO(T_OP, OPR_POW);
        return set ? TWO(T_OPSET, OPR_MUL) : ONE(T_OP, OPR_MUL);
    case '/':
        if (d == '/' && lx->text[lx->at + 1] == '=') {
            lx->at++;
            return TWO(T_OPSET, OPR_FLOORDIV);
        }
        if (d == '/') return TWO(T_OP, OPR_FLOORDIV);
        return set ? TWO(T_OPSET, OPR_DIV) : ONE(T_OP, OPR_DIV);
    case '%':
        return set ? TWO(T_OPSET, OPR_MOD) : ONE(T_OP, OPR_MOD);
    case '&':
        if (d == '&') return TWO(T_OP, OPR_AND);
        return set ? TWO(T_OPSET, OPR_BITAND) : ONE(T_OP, OPR_BITAND);
    case '|':
        if (d == '|') return TWO(T_OP, OPR_OR);
        return set ? TWO(T_OPSET, OPR_BITOR) : ONE(T_OP, OPR_BITOR);
    case '^':
        return set ? TWO(T_OPSET, OPR_BITXOR) : ONE(T_OP, OPR_BITXOR);
    case '<':
        if (d == '<') return TWO(T_OP, OPR_SHL);
        return set ? TWO(T_OP, OPR_LE) : ONE(T_OP, OPR_LT);
    case '>':
        if (d == '>') return TWO(T_OP, OPR_SHR);
        return set ? TWO(T_OP, OPR_GE) : ONE(T_OP, OPR_GT);
    case '=':
        if (d == '>') return TWO(T_GIVES, 0);
        return set ? TWO(T_OP, OPR_EQ) : ONE(T_SET, 0);
    case '!':
        return set ? TWO(T_OP, OPR_NE) : ONE(T_NOT, 0);
    case '?':
        return bad(lx, t, "there is no `?:`: select(condition, then, else) chooses");
    case '\'':
        return bad(lx, t,
                   "no quote stands here: A transposed is B(i,j) = A(j,i), and texts "
                   "are in double quotes");
    case '@':
        return bad(lx, t, "there is no `@`: a product is C(i,j) = sum(k: A(i,k) * B(k,j))");
    case '.':
        return bad(lx, t, "tensors have no attributes: A transposed is B(i,j) = A(j,i)");
    default:
        return bad(lx, t, "no token begins with this character");
    }
#undef TWO
#undef ONE
}

static token *lex_sign(lexer *lx, token *t, char c)
{
    lx->at++;
    switch (c) {
    case '(':
        return lex_open(lx, t, T_LPAREN);
    case '[':
        return lex_open(lx, t, T_LBRACKET);
    case '{':
        return lex_open(lx, t, T_LBRACE);
    case ')':
        return lex_close(lx, t, T_RPAREN);
    case ']':
        return lex_close(lx, t, T_RBRACKET);
    case '}':
        return lex_close(lx, t, T_RBRACE);
    case ',':
        t->kind = T_COMMA;
        return t;
    case ':':
        t->kind = T_COLON;
        return t;
    case ';':
        t->kind = T_SEMI;
        return t;
    case '~':
        t->kind = T_TILDE;
        return t;
    case '#':
        t->kind = T_HASH;
        return t;
    default:
        return lex_operator(lx, t, c, lx->text[lx->at]);
    }
}

void lexer_next(lexer *lx, token *t)
{
    *t = (token){.at = {lx->at, lx->at}};
    if (skip_blank(lx) && lx->before != T_NEWLINE) {
        t->kind = T_NEWLINE;
        t->at.end = t->at.begin + 1;
        lx->before = T_NEWLINE;
        return;
    }
    t->at.begin = t->at.end = lx->at;
    if (lx->at >= lx->end) {
        t->kind = T_END;
        return;
    }
    const char c = lx->text[lx->at];
    const int class = char_class(c);
    if (class & IS_DIGIT || (c == '.' && digit_at(lx, lx->at + 1)))
        lex_number(lx, t);
    else if (class & IS_NAME)
        lex_name(lx, t);
    else if (c == '"')
        lex_string(lx, t);
    else
        lex_sign(lx, t, c);
    if (t->kind != T_ERROR) t->at.end = lx->at;
    lx->before = t->kind;
}

bool parse_incomplete(const char *text)
{
    lexer lx;
    if (!lexer_init(&lx, text)) return false;
    token last = {.kind = T_NEWLINE};
    for (;;) {
        token t;
        lexer_next(&lx, &t);
        if (t.kind == T_ERROR) /* a backslash that ends the text continues the line */
            return text[t.at.begin] == '\\' && !text[t.at.begin + 1];
        if (t.kind == T_END) break;
        if (t.kind != T_NEWLINE) last = t;
    }
    return lx.open > 0 || wants_more(last.kind);
}
