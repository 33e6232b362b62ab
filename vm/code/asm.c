/* asm.c: text to a program: the inverse of disasm.c.
 *
 * Takes what disasm.c writes, or a person (text.h shows the form): blanks and
 * comments don't matter, rows must come in order. Gives a program that is yet
 * to be verified: only what can't be stored is refused here, with its line.
 */
#include "build.h"
#include "policies.h"
#include "text.h"
#include <stdlib.h>
#include <string.h>

typedef struct assembler {
    ctx *cx;
    program *p;
    const char *text, *file;
    const char *at; /* the next character */
} assembler;

static stc_status complain(assembler *as, const char *what)
{
    int32_t begin = (int32_t)(as->at - as->text), end = begin;
    while (as->text[end] && !strchr(" \t\r\n,;(){}[]", as->text[end]))
        end++;
    return fail_text(as->cx, STC_ERR_SYNTAX, as->file, as->text,
                     (span){begin, end > begin ? end : begin + 1}, "expected %s", what);
}

/* ---- words --------------------------------------------------------------------- */

static void blanks(assembler *as)
{
    while (*as->at == ' ' || *as->at == '\t' || *as->at == '\r')
        as->at++;
    if (*as->at == ';')
        while (*as->at && *as->at != '\n')
            as->at++;
}

static bool accept(assembler *as, char c)
{
    blanks(as);
    if (*as->at != c) return false;
    as->at++;
    return true;
}

static stc_status expect(assembler *as, char c)
{
    if (accept(as, c)) return STC_OK;
    char what[] = {'\'', c, '\'', 0};
    return complain(as, what);
}

static bool word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_' || c == '.';
}

/* The word that stands here, of length *len; not taken. */
static const char *peek(assembler *as, size_t *len)
{
    blanks(as);
    *len = 0;
    while (word_char(as->at[*len]))
        ++*len;
    return as->at;
}

static bool accept_word(assembler *as, const char *word)
{
    size_t len;
    const char *s = peek(as, &len);
    if (strlen(word) != len || memcmp(s, word, len) != 0) return false;
    as->at += len;
    return true;
}

static stc_status expect_word(assembler *as, const char *word)
{
    return accept_word(as, word) ? STC_OK : complain(as, word);
}

static stc_status one_of(assembler *as, const char *const *words, const char *what,
                         int *out)
{
    for (int k = 0; words[k]; k++)
        if (accept_word(as, words[k])) {
            *out = k;
            return STC_OK;
        }
    return complain(as, what);
}

static stc_status integer(assembler *as, int64_t *out)
{
    blanks(as);
    bool minus = *as->at == '-';
    const char *s = as->at + minus;
    uint64_t v = 0;
    if (*s < '0' || *s > '9') return complain(as, "an integer");
    for (; *s >= '0' && *s <= '9'; s++)
        if (__builtin_mul_overflow(v, (uint64_t)10, &v) ||
            __builtin_add_overflow(v, (uint64_t)(*s - '0'), &v))
            return complain(as, "an integer of 64 bits");
    if (v > (uint64_t)INT64_MAX + minus) return complain(as, "an integer of 64 bits");
    as->at = s;
    *out = minus ? (int64_t)(0 - v) : (int64_t)v;
    return STC_OK;
}

static stc_status integer_in(assembler *as, int64_t lo, int64_t hi, int64_t *out)
{
    const char *start = as->at;
    if (integer(as, out)) return as->cx->diag.status;
    if (*out >= lo && *out <= hi) return STC_OK;
    as->at = start;
    blanks(as);
    return complain(as, "a number in range");
}

static stc_status unsigned64(assembler *as, uint64_t *out)
{
    blanks(as);
    char *end;
    if (*as->at < '0' || *as->at > '9') return complain(as, "a number");
    *out = strtoull(as->at, &end, as->at[0] == '0' && as->at[1] == 'x' ? 16 : 10);
    as->at = end;
    return STC_OK;
}

/* A reference such as e12; root where it may be. */
static stc_status ref(assembler *as, char letter, bool root, uint16_t *out)
{
    blanks(as);
    if (root && accept_word(as, "root")) {
        *out = ROOT;
        return STC_OK;
    }
    char what[] = {letter, '0', ' ', '.', '.', '.', 0};
    if (*as->at != letter || as->at[1] < '0' || as->at[1] > '9') return complain(as, what);
    as->at++;
    int64_t n;
    if (integer_in(as, 0, ROOT - 1, &n)) return as->cx->diag.status;
    *out = (uint16_t)n;
    return STC_OK;
}

/* The number of a row that must be the next of its table. */
static stc_status row(assembler *as, char letter, int next)
{
    const char *start = as->at;
    uint16_t n;
    if (ref(as, letter, false, &n)) return as->cx->diag.status;
    if (n == next) return STC_OK;
    as->at = start;
    blanks(as);
    return complain(as, "rows in order, from 0");
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
}

/* Text between quotes, allocated. */
static stc_status quoted(assembler *as, char **out)
{
    if (expect(as, '"')) return as->cx->diag.status;
    const char *s = as->at;
    size_t size = 0;
    for (; *s && *s != '"' && *s != '\n'; s += *s == '\\' && s[1] ? 2 : 1)
        size++;
    if (*s != '"') return complain(as, "a closing quote");
    char *buf = mem_alloc(as->cx, size + 1), *to = buf;
    if (!buf) return as->cx->diag.status;
    for (s = as->at; *s != '"'; s++) {
        if (*s != '\\') {
            *to++ = *s;
            continue;
        }
        s++;
        int high, low;
        if (*s == 'x' && (high = hex_digit(s[1])) >= 0 && (low = hex_digit(s[2])) >= 0 &&
            high + low > 0) {
            *to++ = (char)(16 * high + low);
            s += 2;
        } else {
            *to++ = *s == 'n' ? '\n' : *s;
        }
    }
    *to = 0;
    as->at = s + 1;
    *out = mem_strdup(as->cx, buf);
    mem_free(as->cx, buf, size + 1);
    return *out ? STC_OK : as->cx->diag.status;
}

static stc_status class_word(assembler *as, uint8_t *out)
{
    for (int c = 0; c < CLASS_COUNT; c++)
        if (accept_word(as, class_name((vclass)c))) {
            *out = (uint8_t)c;
            return STC_OK;
        }
    return complain(as, "a class: i64, u64, f32, f64, c64 or c128");
}

static stc_status type_word(assembler *as, stc_type *out)
{
    size_t len;
    const char *s = peek(as, &len);
    if (!type_parse(s, len, out)) return complain(as, "an element type");
    as->at += len;
    return STC_OK;
}

static stc_status value_bits(assembler *as, vclass cls, value *out)
{
    uint64_t bits[2] = {0};
    memset(out, 0, sizeof *out);
    if (cls == CLASS_I64) return integer(as, &out->i64);
    if (unsigned64(as, &bits[0])) return as->cx->diag.status;
    bool two = cls == CLASS_C64 || cls == CLASS_C128;
    if (two && unsigned64(as, &bits[1])) return as->cx->diag.status;
    if (cls == CLASS_F32 || cls == CLASS_C64) {
        uint32_t half[2] = {(uint32_t)bits[0], (uint32_t)bits[1]};
        memcpy(out, half, two ? 8 : 4);
    } else {
        memcpy(out, bits, two ? 16 : 8);
    }
    return STC_OK;
}

static stc_status place(assembler *as, span *out)
{
    int64_t a, b;
    *out = (span){0, 0};
    if (!accept(as, '@')) return STC_OK;
    if (integer_in(as, INT32_MIN, INT32_MAX, &a) || expect(as, ':') ||
        integer_in(as, INT32_MIN, INT32_MAX, &b))
        return as->cx->diag.status;
    *out = (span){(int32_t)a, (int32_t)b};
    return STC_OK;
}

/* ---- formats ------------------------------------------------------------------- */

static stc_status map(assembler *as, level_map *m)
{
    int64_t n, k = 0;
    *m = (level_map){0};
    if (expect(as, '(')) return as->cx->diag.status;
    bool count = accept(as, '#');
    if (integer_in(as, 0, STC_MAX_ORDER, &n)) return as->cx->diag.status;
    m->op = count ? MAP_COUNT : MAP_MODE;
    m->mode = (uint8_t)n;
    const bool divides = accept(as, '/');
    if (divides && integer(as, &m->k)) return as->cx->diag.status;
    const bool wraps = accept(as, '%');
    if (wraps && integer(as, &m->n)) return as->cx->diag.status;
    if (divides || wraps) {
        m->op = MAP_PART;
        if (!divides) m->k = 1;
        if (wraps && m->n < 1) return complain(as, "a positive integer");
    } else if (accept(as, '-')) {
        m->op = MAP_DIFF;
        if (integer_in(as, 0, STC_MAX_ORDER, &k)) return as->cx->diag.status;
        m->mode2 = (uint8_t)k;
    } else if (accept(as, '.')) {
        m->op = MAP_FLAT;
        if (expect(as, '.') || integer_in(as, 0, STC_MAX_ORDER, &k))
            return as->cx->diag.status;
        m->modes = (uint8_t)k;
    }
    return expect(as, ')');
}

/* A kind, and behind a colon the number that it takes. */
static stc_status level_words(assembler *as, const char *name, size_t len, level_spec *l)
{
    const bool takes = name[len] == ':';
    l->kind = level_kind_find(as->cx, name, len, takes);
    if (!l->kind)
        return complain(as, takes ? "a level kind that takes a number" : "a level kind");
    as->at += len + takes;
    return takes ? integer(as, &l->number) : STC_OK;
}

static stc_status format_words(assembler *as, format *f)
{
    int64_t order;
    memset(f, 0, sizeof *f);
    if (expect_word(as, "format") || integer_in(as, 0, STC_MAX_ORDER, &order))
        return as->cx->diag.status;
    f->order = (int)order;
    for (;;) {
        size_t len;
        const char *s = peek(as, &len);
        if (!len) return STC_OK;
        if (f->levels == STC_MAX_ORDER) return complain(as, "no more levels");
        level_spec *l = &f->level[f->levels];
        if (level_words(as, s, len, l) || map(as, &l->map)) return as->cx->diag.status;
        for (int b = 0; flag_words[b]; b++)
            if (accept_word(as, flag_words[b])) l->flags |= (uint8_t)(1 << b);
        f->levels++;
    }
}

/* ---- tables -------------------------------------------------------------------- */

static stc_status tensor_shape(assembler *as, prog_tensor *t)
{
    if (t->role == ROLE_INPUT) return STC_OK;
    if (expect(as, '[')) return as->cx->diag.status;
    for (int m = 0; !accept(as, ']'); m++) {
        if (m == STC_MAX_ORDER) return complain(as, "]");
        if (ref(as, 'e', false, &t->shape[m])) return as->cx->diag.status;
    }
    return STC_OK;
}

static stc_status tensor_rest(assembler *as, prog_tensor *t)
{
    int role = 0, policy = 0;
    if (one_of(as, role_words, "a role: input, output, inout, temp or work", &role) ||
        type_word(as, &t->type) || expect(as, '(') ||
        value_bits(as, type_class(t->type), &t->fill) || expect(as, ')'))
        return as->cx->diag.status;
    t->role = (uint8_t)role;
    t->fill_later = accept_word(as, "later");
    if (tensor_shape(as, t)) return as->cx->diag.status;
    if (accept_word(as, "policy")) {
        size_t len;
        const char *name = peek(as, &len);
        policy = policy_find(as->cx, name, len);
        if (policy < 0) return complain(as, "a policy");
        as->at += len;
        if (integer(as, &t->capacity)) return as->cx->diag.status;
        t->policy = (uint8_t)policy;
    }
    t->single = accept_word(as, "single");
    t->keep_while = accept_word(as, "while");
    if (t->keep_while && ref(as, 't', false, &t->source)) return as->cx->diag.status;
    if (format_words(as, &t->fmt)) return as->cx->diag.status;
    t->order = t->fmt.order;
    return STC_OK;
}

static stc_status tensor_row(assembler *as)
{
    prog_tensor t;
    memset(&t, 0, sizeof t);
    if (row(as, 't', as->p->ntensor) || quoted(as, &t.name)) return as->cx->diag.status;
    stc_status status = tensor_rest(as, &t);
    if (!status && program_tensor(as->p, &t) < 0) status = as->cx->diag.status;
    mem_strfree(as->cx, t.name);
    return status;
}

static stc_status extent_row(assembler *as)
{
    extent e = {0};
    int op = 0;
    if (row(as, 'e', as->p->next) || one_of(as, ext_words, "an operation of extents", &op))
        return as->cx->diag.status;
    e.op = (uint8_t)op;
    stc_status status = STC_OK;
    for (const char *l = ext_operands[op]; *l && !status; l++) {
        uint16_t *to = l == ext_operands[op] ? &e.a : &e.b;
        int64_t mode = 0;
        if (*l == 'k') {
            status = integer(as, &e.k);
        } else if (*l == 'm') {
            status = integer_in(as, 0, STC_MAX_ORDER, &mode);
            *to = (uint16_t)mode;
        } else {
            status = ref(as, *l, false, to);
        }
    }
    if (!status && program_push_extent(as->p, e) < 0) status = as->cx->diag.status;
    return status;
}

static stc_status check_row(assembler *as)
{
    ext_check c = {0};
    if (ref(as, 'e', false, &c.a)) return as->cx->diag.status;
    c.rel = accept_word(as, "eq") ? REL_EQ : REL_LE;
    if (c.rel == REL_LE && expect_word(as, "le")) return as->cx->diag.status;
    if (ref(as, 'e', false, &c.b) || place(as, &c.at) || quoted(as, &c.text))
        return as->cx->diag.status;
    int id = program_check(as->p, c);
    mem_strfree(as->cx, c.text);
    return id < 0 ? as->cx->diag.status : STC_OK;
}

static stc_status const_row(assembler *as)
{
    constant k;
    memset(&k, 0, sizeof k);
    if (row(as, 'k', as->p->nconst) || class_word(as, &k.cls) ||
        value_bits(as, k.cls, &k.v) || program_push_const(as->p, k) < 0)
        return as->cx->diag.status;
    return STC_OK;
}

static stc_status operand_words(assembler *as, merge_operand *o)
{
    int role = 0;
    int64_t l;
    memset(o, 0, sizeof *o);
    o->shift = ROOT;
    o->coef = 1;
    if (one_of(as, merge_words, "walk, follow, locate or known", &role) ||
        ref(as, 'c', true, &o->cursor))
        return as->cx->diag.status;
    o->role = (uint8_t)role;
    if (role != MERGE_LOCATE) return STC_OK;
    if (ref(as, 't', false, &o->tensor) || integer_in(as, 0, STC_MAX_ORDER, &l) ||
        ref(as, 'c', true, &o->up) || ref(as, 'i', true, &o->shift) ||
        integer(as, &o->coef))
        return as->cx->diag.status;
    o->level = (uint16_t)l;
    return STC_OK;
}

/* At most 1,024 steps: more than any table over 64 operands needs. */
static stc_status postfix_words(assembler *as, uint8_t *pf, int *len)
{
    static const char *const words[] = {"and", "or", "not", "true", "false", NULL};
    if (expect(as, '(')) return as->cx->diag.status;
    for (*len = 0; !accept(as, ')'); ++*len) {
        if (*len == 1024) return complain(as, ")");
        int64_t bit;
        int word = 0;
        blanks(as);
        if (*as->at >= '0' && *as->at <= '9') {
            if (integer_in(as, 0, 63, &bit)) return as->cx->diag.status;
            pf[*len] = (uint8_t)bit;
        } else {
            if (one_of(as, words, "an operand, and, or, not, true or false", &word))
                return as->cx->diag.status;
            pf[*len] = (uint8_t)(PF_AND + word);
        }
    }
    return STC_OK;
}

static stc_status merge_row(assembler *as)
{
    merge_operand operand[64];
    uint8_t pf[1024];
    merge_desc m = {.operand = operand, .postfix = pf};
    if (row(as, 'g', as->p->nmerge) || expect_word(as, "lo") || ref(as, 'e', true, &m.lo) ||
        expect_word(as, "hi") || ref(as, 'e', false, &m.hi))
        return as->cx->diag.status;
    m.universe = accept_word(as, "universe");
    if (accept_word(as, "postfix")) {
        if (postfix_words(as, pf, &m.postfix_len)) return as->cx->diag.status;
    } else if (expect_word(as, "produce") || unsigned64(as, &m.produce)) {
        return as->cx->diag.status;
    }
    if (expect(as, '{')) return as->cx->diag.status;
    while (!accept(as, '}')) {
        if (m.count == 64 || (m.count && expect(as, ','))) return complain(as, "}");
        if (operand_words(as, &operand[m.count++])) return as->cx->diag.status;
    }
    return program_merge(as->p, &m) < 0 ? as->cx->diag.status : STC_OK;
}

static stc_status fn_rest(assembler *as, user_fn *f)
{
    int64_t nv, begin, end;
    if (expect(as, '(')) return as->cx->diag.status;
    while (!accept(as, ')')) {
        if (f->params == 8) return complain(as, ")");
        if (class_word(as, &f->cls[f->params++])) return as->cx->diag.status;
    }
    if (class_word(as, &f->result)) return as->cx->diag.status;
    f->host = accept_word(as, "host");
    if (expect_word(as, "registers") || integer_in(as, 0, ROOT, &nv) ||
        expect_word(as, "code") || integer_in(as, 0, CODE_MAX, &begin) || expect(as, ':') ||
        integer_in(as, 0, CODE_MAX, &end))
        return as->cx->diag.status;
    f->nv = (uint16_t)nv;
    f->begin = (uint32_t)begin;
    f->end = (uint32_t)end;
    return STC_OK;
}

static stc_status fn_row(assembler *as)
{
    user_fn f;
    memset(&f, 0, sizeof f);
    if (row(as, 'f', as->p->nfn) || quoted(as, &f.name)) return as->cx->diag.status;
    stc_status status = fn_rest(as, &f);
    if (!status && program_fn(as->p, &f) < 0) status = as->cx->diag.status;
    mem_strfree(as->cx, f.name);
    return status;
}

static stc_status registers_row(assembler *as)
{
    static const char *const files[] = {"v", "i", "m", "c"};
    int *const to[] = {&as->p->nv, &as->p->ni, &as->p->nm, &as->p->nc};
    for (int k = 0; k < 4; k++) {
        int64_t n;
        if (expect_word(as, files[k]) || integer_in(as, 0, ROOT, &n))
            return as->cx->diag.status;
        *to[k] = (int)n;
    }
    return STC_OK;
}

static stc_status text_row(assembler *as, const char **to)
{
    char *text = NULL;
    if (*to) return complain(as, "one such line");
    if (quoted(as, &text)) return as->cx->diag.status;
    *to = program_text(as->p, text);
    mem_strfree(as->cx, text);
    return *to ? STC_OK : as->cx->diag.status;
}

static stc_status notation_row(assembler *as)
{
    uint16_t t;
    if (as->p->notation) return complain(as, "one such line");
    as->p->notation = true;
    if (unsigned64(as, &as->p->like) || expect(as, '{')) return as->cx->diag.status;
    for (int n = 0; !accept(as, '}'); n++) {
        if ((n && expect(as, ',')) || ref(as, 't', false, &t)) return as->cx->diag.status;
        if (t >= as->p->ntensor) return complain(as, "a tensor of the rows above");
        as->p->tensor[t].declared |= SAID_NAME;
        for (int b = 0; said_words[b]; b++)
            if (accept_word(as, said_words[b]))
                as->p->tensor[t].declared |= (uint8_t)(SAID_FORMAT << b);
    }
    return STC_OK;
}

static stc_status directive(assembler *as)
{
    if (accept_word(as, ".tensor")) return tensor_row(as);
    if (accept_word(as, ".extent")) return extent_row(as);
    if (accept_word(as, ".check")) return check_row(as);
    if (accept_word(as, ".const")) return const_row(as);
    if (accept_word(as, ".merge")) return merge_row(as);
    if (accept_word(as, ".fn")) return fn_row(as);
    if (accept_word(as, ".registers")) return registers_row(as);
    if (accept_word(as, ".source")) return text_row(as, &as->p->source);
    if (accept_word(as, ".file")) return text_row(as, &as->p->file);
    if (accept_word(as, ".notation")) return notation_row(as);
    if (accept_word(as, ".code")) return STC_OK;
    return complain(as, "a directive");
}

/* ---- code ---------------------------------------------------------------------- */

static stc_status function_word(assembler *as, uint16_t *out)
{
    size_t len;
    const char *s = peek(as, &len);
    int id = fn_named(s, len, -1);
    if (id < 0) return complain(as, "a function");
    as->at += len;
    *out = (uint16_t)id;
    return STC_OK;
}

static stc_status operand(assembler *as, char letter, uint16_t *out)
{
    const char prefix = operand_prefix(letter);
    uint8_t cls = 0;
    stc_type type = STC_F64;
    int64_t n = 0;
    if (prefix) return ref(as, prefix, prefix_of_registers(prefix), out);
    switch (letter) {
    case 'F':
        return function_word(as, out);
    case 'Y':
        if (class_word(as, &cls)) return as->cx->diag.status;
        *out = cls;
        return STC_OK;
    case 'Z':
        if (type_word(as, &type)) return as->cx->diag.status;
        *out = (uint16_t)type;
        return STC_OK;
    default:
        if (integer_in(as, 0, ROOT, &n)) return as->cx->diag.status;
        *out = (uint16_t)n;
        return STC_OK;
    }
}

static stc_status instruction(assembler *as)
{
    int op = 0;
    uint16_t arg[7] = {0};
    span at;
    while (op < OP_COUNT && !accept_word(as, op_at(op)->text))
        op++;
    if (op == OP_COUNT) return complain(as, "an instruction");
    const char *letters = op_at(op)->operands;
    for (int k = 0; letters[k]; k++)
        if ((k && expect(as, ',')) || operand(as, letters[k], &arg[k]))
            return as->cx->diag.status;
    if (place(as, &at) || program_emit(as->p, at, (opcode)op, arg, 7) < 0)
        return as->cx->diag.status;
    return STC_OK;
}

static stc_status lines(assembler *as)
{
    for (;;) {
        blanks(as);
        if (!*as->at) return STC_OK;
        if (*as->at == '\n') {
            as->at++;
            continue;
        }
        stc_status status = *as->at == '.' ? directive(as) : instruction(as);
        if (status) return status;
        blanks(as);
        if (*as->at && *as->at != '\n') return complain(as, "the end of the line");
    }
}

stc_status program_assemble(ctx *cx, const char *text, const char *file, program **out)
{
    if (strnlen(text, INT32_MAX) == INT32_MAX)
        return fail(cx, STC_ERR_SYNTAX, "the text is longer than 2 GB");
    assembler as = {.cx = cx, .text = text, .file = file, .at = text, .p = program_new(cx)};
    if (!as.p) return cx->diag.status;
    as.p->foreign = true;
    stc_status status = lines(&as);
    if (status) {
        program_free(as.p);
        return status;
    }
    *out = as.p;
    return STC_OK;
}
