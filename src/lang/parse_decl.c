/* parse_decl.c: declarations of tensors and formats → syntax tree.
 *
 *     tensor NAME [format] [type] [shape] [fill v] [= initial] the first two in any order
 *     format NAME [(parameters)] = (modes) -> (coordinate : kind[(flags)], …)
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

static ast *map_level(parser *p)
{
    ast *part[2] = {level_coordinate(p)};
    if (!part[0] || !parse_expect(p, T_COLON, "`:` and the kind of the level")) return NULL;
    ast *node = parse_name(p, N_LEVEL, "the kind of the level");
    if (!node) return NULL;
    if (parse_accept(p, T_LPAREN) &&
        !(part[1] = parse_names(p, T_RPAREN, "a property of the level")))
        return NULL;
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

static ast *shape(parser *p)
{
    ast *node = parse_node(p, N_SHAPE, p->tok.at);
    const int64_t mark = p->count;
    parse_advance(p);
    if (!parse_at(p, T_RBRACKET)) {
        do {
            if (!parse_push(p, parse_integer(p, false, "a size"))) return NULL;
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

/* random, random(0.01), random(density=0.01, seed=7) */
static ast *random_data(parser *p)
{
    ast *node = parse_node(p, N_RANDOM, p->tok.at), *part[2] = {0};
    parse_advance(p);
    if (!parse_accept(p, T_LPAREN)) return parse_children(p, node, part, 2);
    while (!parse_at(p, T_RPAREN)) {
        const bool seed = parse_at_text(p, "seed");
        const bool named = seed || parse_at_text(p, "density");
        if (part[seed])
            return named ? parse_fail(p, p->tok.at, "this is given twice")
                         : parse_expected(p, "`seed=`");
        if (named) parse_advance(p);
        if (named && !parse_expect(p, T_SET, "`=`")) return NULL;
        part[seed] =
            parse_constant(p, named ? "a number" : "the density, `density=` or `seed=`");
        if (!part[seed]) return NULL;
        if (!parse_accept(p, T_COMMA)) break;
    }
    if (!parse_expect(p, T_RPAREN, "`,` or `)`")) return NULL;
    return parse_children(p, node, part, 2);
}

/* ones, zeros: reals, where no type is given */
static ast *filled(parser *p, double with)
{
    ast *node = parse_node(p, N_REAL, p->tok.at);
    if (node) node->f = with;
    parse_advance(p);
    return node;
}

static ast *initial(parser *p)
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
    if (parse_at_text(p, "random")) return random_data(p);
    if (parse_at_text(p, "ones")) return filled(p, 1);
    if (parse_at_text(p, "zeros")) return filled(p, 0);
    return parse_constant(p, "the tensor's data: a file in quotes, a number, `{…}`, `[…]`, "
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
    if (parse_accept_word(p, K_fill) &&
        !(part[3] = parse_constant(p, "the fill, a number")))
        return NULL;
    if (parse_accept(p, T_SET) && !(part[4] = initial(p))) return NULL;
    return parse_children(p, node, part, 5);
}
