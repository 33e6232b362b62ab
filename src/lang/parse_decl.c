/* parse_decl.c: declarations of tensors and formats → syntax tree.
 *
 *     tensor NAME [format] [type] [shape] [fill v] [= initial] the first two in any order
 *     format NAME [(parameters)] = (modes) -> (coordinate : kind[(number, flags)], …)
 *
 * A type's name after `tensor NAME` may stand without a format.
 */
#include "parser.h"

#include <string.h>

/* ---- formats ------------------------------------------------------------------ */

/* #i, or an expression of modes: i, i/4, i%r, j-i, flat(i,j). */
static ast *level_coordinate(parser *p)
{
    if (!parse_at(p, T_HASH)) return parse_expression(p);
    const span at = p->tok.at;
    parse_advance(p);
    ast *n = parse_name(p, N_COUNT, "a mode after `#`");
    if (n) n->at.begin = at.begin;
    return n;
}

/* A number, if the kind takes one, and flags. */
static ast *level_words(parser *p)
{
    ast *list = parse_node(p, N_NAMES, p->tok.at);
    const int64_t mark = p->count;
    if (!list) return NULL;
    while (!parse_at(p, T_RPAREN)) {
        const bool number = p->count == mark && p->tok.kind == T_INT;
        if (!parse_push(p, number ? parse_integer(p, false, "a number")
                                  : parse_name(p, N_NAME, "a property of the level")))
            return NULL;
        if (!parse_accept(p, T_COMMA)) break;
    }
    if (!parse_expect(p, T_RPAREN, "`,` or the closing bracket")) return NULL;
    return parse_adopt(p, list, mark);
}

static ast *map_level(parser *p)
{
    ast *part[2] = {level_coordinate(p)};
    if (!part[0] || !parse_expect(p, T_COLON, "`:` and the kind of the level")) return NULL;
    ast *node = parse_name(p, N_LEVEL, "the kind of the level");
    if (!node) return NULL;
    if (parse_accept(p, T_LPAREN) && !(part[1] = level_words(p))) return NULL;
    return parse_children(p, node, part, 2);
}

/* (i,j) -> (i : dense, j : compressed) */
static ast *format_map(parser *p)
{
    ast *node = parse_node(p, N_MAP, p->tok.at);
    const int64_t mark = p->count;
    if (!node || !parse_expect(p, T_LPAREN, "`(` and the names of the modes")) return NULL;
    if (!parse_push(p, parse_names(p, T_RPAREN, "the name of a mode")) ||
        !parse_expect(p, T_ARROW, "`->`") ||
        !parse_expect(p, T_LPAREN, "`(` and the levels"))
        return NULL;
    if (!parse_at(p, T_RPAREN)) {
        do {
            if (!parse_push(p, map_level(p))) return NULL;
        } while (parse_accept(p, T_COMMA));
    }
    if (!parse_expect(p, T_RPAREN, "`,` or `)` after a level")) return NULL;
    return parse_adopt(p, node, mark);
}

/* ds:1,0 — the name is read, the colon is next. */
static ast *mode_order(parser *p, ast *node)
{
    const int64_t mark = p->count;
    parse_advance(p);
    node->kind = N_SHORT;
    for (;;) {
        if (!parse_push(p, parse_integer(p, false, "the number of a mode"))) return NULL;
        if (!parse_at(p, T_COMMA) || parse_peek(p).kind != T_INT) break;
        parse_advance(p);
    }
    return parse_adopt(p, node, mark);
}

/* A format where one is used: a name, with arguments, a short string, a map. */
ast *parse_format_use(parser *p)
{
    if (parse_at(p, T_LPAREN)) return format_map(p);
    ast *node = parse_name(p, N_FORMATREF, "a format");
    if (!node) return NULL;
    if (parse_at(p, T_COLON)) return mode_order(p, node);
    const int64_t mark = p->count;
    if (!parse_accept(p, T_LPAREN)) return node;
    do {
        if (!parse_push(p, parse_integer(p, false, "an integer argument of the format")))
            return NULL;
    } while (parse_accept(p, T_COMMA));
    if (!parse_expect(p, T_RPAREN, "`,` or `)`")) return NULL;
    return parse_adopt(p, node, mark);
}

ast *parse_format(parser *p)
{
    const span at = p->tok.at;
    const int32_t line = p->lx.lines;
    ast *part[2] = {0};
    parse_advance(p);
    ast *node = parse_name(p, N_FORMAT, "a name for the format");
    if (!node) return NULL;
    node->at.begin = at.begin;
    node->u = (uint64_t)line;
    if (parse_accept(p, T_LPAREN) && !(part[0] = parse_names(p, T_RPAREN, "a parameter")))
        return NULL;
    if (!parse_expect(p, T_SET, "`=` and the format's map")) return NULL;
    if (!(part[1] = format_map(p))) return NULL;
    return parse_children(p, node, part, 2);
}

/* ---- tensors -------------------------------------------------------------------- */

/* Whether the current token can begin an expression. */
static bool at_expression(const parser *p)
{
    switch (p->tok.kind) {
    case T_INT:
    case T_REAL:
    case T_IMAG:
    case T_NAME:
    case T_LPAREN:
    case T_NOT:
    case T_TILDE:
        return true;
    case T_KEYWORD:
        return p->tok.word >= K_inf;
    default:
        return parse_at_op(p, OPR_SUB) || parse_at_op(p, OPR_ADD);
    }
}

/* A number, or a scalar expression where a script is executed. */
static ast *scalar(parser *p, const char *what)
{
    return at_expression(p) ? parse_expression(p) : parse_expected(p, what);
}

static ast *size(parser *p)
{
    const bool minus = parse_at_op(p, OPR_SUB);
    ast *e = minus ? parse_expected(p, "a size") : scalar(p, "a size");
    if (e && e->kind == N_INT && e->u > INT64_MAX)
        return parse_fail(p, e->at, "the number is too large");
    return e;
}

static ast *shape(parser *p)
{
    ast *node = parse_node(p, N_SHAPE, p->tok.at);
    const int64_t mark = p->count;
    parse_advance(p);
    if (!parse_at(p, T_RBRACKET)) {
        do {
            if (!parse_push(p, size(p))) return NULL;
        } while (parse_accept(p, T_COMMA));
    }
    if (!parse_expect(p, T_RBRACKET, "`,` or `]` after a size")) return NULL;
    return parse_adopt(p, node, mark);
}

/* [[1,2],[3,4]] */
static ast *array(parser *p)
{
    ast *node = parse_node(p, N_ARRAY, p->tok.at);
    const int64_t mark = p->count;
    if (!node || !parse_enter(p)) return NULL;
    parse_advance(p);
    if (!parse_at(p, T_RBRACKET)) {
        do {
            ast *e =
                parse_at(p, T_LBRACKET) ? array(p) : parse_constant(p, "a number or `[`");
            if (!parse_push(p, e)) return NULL;
        } while (parse_accept(p, T_COMMA));
    }
    parse_leave(p);
    if (!parse_expect(p, T_RBRACKET, "`,` or `]`")) return NULL;
    return parse_adopt(p, node, mark);
}

/* (0,1): 3 */
static ast *entry(parser *p)
{
    ast *node = parse_node(p, N_ENTRY, p->tok.at);
    const int64_t mark = p->count;
    if (parse_accept(p, T_LPAREN)) {
        if (!parse_at(p, T_RPAREN)) {
            do {
                if (!parse_push(p, parse_integer(p, false, "a coordinate"))) return NULL;
            } while (parse_accept(p, T_COMMA));
        }
        if (!parse_expect(p, T_RPAREN, "`,` or `)` after a coordinate")) return NULL;
    } else if (!parse_push(p, parse_integer(p, false, "`(` and coordinates"))) {
        return NULL;
    }
    if (!parse_expect(p, T_COLON, "`:` and the value") ||
        !parse_push(p, parse_constant(p, "a number")))
        return NULL;
    return parse_adopt(p, node, mark);
}

/* { (0,1): 3, (2,0): 1 }; newlines are blanks, a last comma may stand. */
static ast *entries_list(parser *p)
{
    ast *node = parse_node(p, N_ENTRIES, p->tok.at);
    const int64_t mark = p->count;
    parse_advance(p);
    parse_newlines(p);
    while (!parse_at(p, T_RBRACE)) {
        if (!parse_push(p, entry(p))) return NULL;
        parse_newlines(p);
        if (!parse_accept(p, T_COMMA)) break;
        parse_newlines(p);
    }
    if (!parse_expect(p, T_RBRACE, "`,` or `}` after an entry")) return NULL;
    return parse_adopt(p, node, mark);
}

/* One argument of random(…): a part by its name, or the next size. */
static bool random_part(parser *p, ast **part, ast *shaped)
{
    const bool seed = parse_at_text(p, "seed");
    const bool named = seed || parse_at_text(p, "density");
    const bool other = !named && parse_at(p, T_NAME) && parse_peek(p).kind == T_SET;
    if (other) return parse_expected(p, "the density, `density=` or `seed=`");
    if (!named && shaped) { /* random(n, m, …) */
        ast *n = size(p);
        return parse_push(p, n);
    }
    if (part[seed]) {
        if (named) return parse_fail(p, p->tok.at, "this is given twice");
        return parse_expected(p, "`seed=`");
    }
    if (named) parse_advance(p);
    if (named && !parse_expect(p, T_SET, "`=`")) return false;
    part[seed] = scalar(p, named ? "a number" : "the density, `density=` or `seed=`");
    return part[seed] != NULL;
}

/* uniform, normal, integers(lo, hi): what the numbers are. 0: none of these; -1: failed. */
static int random_kind(parser *p, ast *node, ast **part)
{
    const bool plain = parse_at_text(p, "uniform") || parse_at_text(p, "normal");
    if (!plain && !(parse_at_text(p, "integers") && parse_peek(p).kind == T_LPAREN))
        return 0;
    ast *const kind = parse_reference(p, "the kind of the numbers");
    if (!kind) return -1;
    if (kind->count != (plain ? 0 : 2) || *node->name) {
        parse_fail(p, kind->at,
                   *node->name ? "this is given twice"
                               : "expected uniform, normal, or integers(lo, hi)");
        return -1;
    }
    node->name = kind->name;
    for (int k = 0; k < kind->count; k++)
        part[2 + k] = kind->child[k];
    return 1;
}

/* random, random(0.01), random(density=0.01, seed=7), random(normal); without a shape
 * before it, random(n, m, density=0.01): then *shape is made of the sizes. */
static ast *random_data(parser *p, ast **shape)
{
    ast *node = parse_node(p, N_RANDOM, p->tok.at), *part[4] = {0};
    ast *sizes = *shape ? NULL : parse_node(p, N_SHAPE, p->tok.at);
    const int64_t mark = p->count;
    parse_advance(p);
    if (!parse_accept(p, T_LPAREN)) return parse_children(p, node, part, 4);
    while (!parse_at(p, T_RPAREN)) {
        const int kind = random_kind(p, node, part);
        if (kind < 0 || (!kind && !random_part(p, part, sizes))) return NULL;
        if (!parse_accept(p, T_COMMA)) break;
    }
    if (!parse_expect(p, T_RPAREN, "`,` or `)`")) return NULL;
    if (p->count > mark && !(*shape = parse_adopt(p, sizes, mark))) return NULL;
    return parse_children(p, node, part, 4);
}

/* After `ones` and its like: their sizes, where the declaration has none before them. */
static bool sizes_of(parser *p, ast **shape, int most)
{
    ast *node = parse_node(p, N_SHAPE, p->tok.at);
    const int64_t mark = p->count;
    if (*shape || !parse_accept(p, T_LPAREN)) return node != NULL;
    do {
        if (p->count - mark == most) {
            parse_fail(p, p->tok.at, "there are at most %d sizes here", most);
            return false;
        }
        if (!parse_push(p, size(p))) return false;
    } while (parse_accept(p, T_COMMA));
    if (!parse_expect(p, T_RPAREN, "`,` or `)` after a size")) return false;
    return (*shape = parse_adopt(p, node, mark)) != NULL;
}

/* eye(n), eye(n, m), arange(n) */
static ast *made_data(parser *p, ast **shape, const char *name, int modes)
{
    const bool shaped = *shape != NULL;
    ast *node = parse_name(p, N_MADE, name);
    if (!node || !sizes_of(p, shape, modes)) return NULL;
    if (!*shape)
        return parse_fail(p, node->at, "expected its sizes, as in %s(%s)", name,
                          modes == 2 ? "n, m" : "n");
    ast *sizes = *shape;
    if (!shaped && sizes->count < modes) /* square */
        *shape = parse_children(p, parse_node(p, N_SHAPE, sizes->at),
                                (ast *[]){sizes->child[0], sizes->child[0]}, 2);
    return *shape ? node : NULL;
}

/* ones, zeros: reals, where no type is given */
static ast *filled(parser *p, ast **shape, double with)
{
    ast *node = parse_node(p, N_REAL, p->tok.at);
    if (node) node->f = with;
    parse_advance(p);
    return sizes_of(p, shape, STC_MAX_ORDER) ? node : NULL;
}

/* What comes after `=`; *shape is what stands before it, or NULL. */
static ast *initial(parser *p, ast **shape)
{
    switch (p->tok.kind) {
    case T_STRING:
        return parse_string(p);
    case T_LBRACKET:
        return array(p);
    case T_LBRACE:
        return entries_list(p);
    default:
        break;
    }
    if (parse_at_text(p, "random")) return random_data(p, shape);
    if (parse_at_text(p, "ones")) return filled(p, shape, 1);
    if (parse_at_text(p, "zeros")) return filled(p, shape, 0);
    const bool call = *shape || parse_peek(p).kind == T_LPAREN;
    if (call && parse_at_text(p, "eye")) return made_data(p, shape, "eye", 2);
    if (call && parse_at_text(p, "arange")) return made_data(p, shape, "arange", 1);
    return scalar(p, "the tensor's data: a file in quotes, a number, `{…}`, `[…]`, "
                     "`ones`, `zeros` or `random(…)`");
}

static bool at_type(const parser *p)
{
    stc_type t;
    return p->tok.kind == T_NAME &&
           type_parse(p->src->text + p->tok.at.begin,
                      (size_t)(p->tok.at.end - p->tok.at.begin), &t);
}

ast *parse_tensor(parser *p)
{
    const span at = p->tok.at;
    ast *part[5] = {0}; /* format, type, shape, fill, initial */
    parse_advance(p);
    ast *node = parse_name(p, N_TENSOR, "a name for the tensor");
    if (!node) return NULL;
    node->at.begin = at.begin;
    while (parse_at(p, T_NAME) || parse_at(p, T_LPAREN)) {
        const bool type = at_type(p);
        if (part[type]) break;
        if (!(part[type] = type ? parse_name(p, N_NAME, "a type") : parse_format_use(p)))
            return NULL;
    }
    if (parse_at(p, T_NAME))
        return parse_expected(
            p, "a type (bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 c64 c128)");
    if (parse_at(p, T_LBRACKET) && !(part[2] = shape(p))) return NULL;
    if (parse_accept_word(p, K_fill) && !(part[3] = scalar(p, "the fill, a number")))
        return NULL;
    if (parse_accept(p, T_SET) && !(part[4] = initial(p, &part[2]))) return NULL;
    return parse_children(p, node, part, 5);
}
