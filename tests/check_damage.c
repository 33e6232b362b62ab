/* check_damage.c: programs as text and as bytes. Every opcode with operands of every
 * kind, and every kind of row, reads back to itself; changed in one place, a text is
 * refused at that place, and bytes are refused or are another program that reads back
 * to itself. Nothing here is verified or run: the assembler, the disassembler and the
 * decoder by themselves. */
#include "../vm/code/text.h"
#include "check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every directive, with every word that it can have. */
static const char rows[] =
    ".file \"a \\\"file\\\"\\\\\"\n"
    ".source \"y(i) = x(i)\\n\\x09\\x7f\"\n"
    ".registers v 3 i 1 m 1 c 2\n"
    ".tensor t0 \"x\" input f64 (0x3ff0000000000000) format 2 dense(0) compressed(1) "
    "nonunique unordered index32\n"
    ".tensor t1 \"\" work c64 (0x3f800000 0x40000000) later [e0 e1] policy hash 12 single "
    "while t0 format 2 compressed(0/4) index64 interleaved dense(1%4)\n"
    ".tensor t2 \"z\" output u64 (18446744073709551615) [e0] format 1 range(#0) "
    "offset(1-0) "
    "singleton(0..1)\n"
    ".tensor t3 \"s\" inout c128 (0x4000000000000000 0x4008000000000000) [] format 0\n"
    ".tensor t4 \"b\" temp f32 (0x40490fdb) [] format 0\n"
    ".tensor t5 \"n\" temp i8 (-128) [e0 e0 e0] format 3\n"
    ".tensor t6 \"m\" work f64 (0) [e0] policy auto 12 format 1 compressed(0)\n"
    ".tensor t7 \"a\\nb\" temp f32 (0) [] format 0\n" /* a name that no comment takes */
    ".notation 0xfedcba9876543210 { t0 format type, t2, t3 fill }\n"
    ".extent e0 const -9223372036854775808\n"
    ".extent e1 dim t0 1\n"
    ".extent e2 add e0 e1\n"
    ".extent e3 mulc e0 3\n"
    ".extent e4 addc e0 -3\n"
    ".extent e5 floordiv e1 2\n"
    ".extent e6 min e0 e1\n"
    ".extent e7 max0 e6\n"
    ".extent e8 mul e0 e1\n"
    ".extent e9 span\n"
    ".check e0 eq e1 @1:20 \"%a isn't %b\"\n"
    ".check e0 le e1 @0:0 \"\"\n"
    ".const k0 i64 9223372036854775807\n"
    ".const k1 u64 7\n"
    ".const k2 f32 0x7fc00000\n"
    ".const k3 f64 0x8000000000000000\n"
    ".const k4 c64 0x00000000 0x3f800000\n"
    ".const k5 c128 0x0000000000000000 0x3ff0000000000000\n"
    ".merge g0 lo root hi e1 universe produce 0x8 { walk c0, locate c1 t0 1 root i0 -4 }\n"
    ".merge g1 lo e0 hi e1 postfix (0 1 and 2 or not true false) { known c0, follow c1, "
    "known root, known c2, known c3, known c4, locate c5 t1 0 c4 root 1 }\n"
    ".merge g2 lo e0 hi e1 produce 0x0 { }\n"
    ".fn f0 \"f\" (i64 c128) u64 registers 4 code 0:2\n"
    ".fn f1 \"host\" () f32 host registers 0 code 2:2\n";

static program *assemble(ctx *cx, const char *text)
{
    program *p = NULL;
    ck_ctx(cx, program_assemble(cx, text, "text", &p));
    return p;
}

static char *printed(ctx *cx, const program *p)
{
    textbuf t;
    text_init(&t, cx);
    ck_ctx(cx, program_dump(p, &t));
    return text_take(&t);
}

/* Three operands of each kind: the first, one further on, the last that can be named. */
static uint16_t operand_of(char letter, int turn)
{
    static const uint16_t number[] = {0, 7, ROOT - 1};
    switch (letter) {
    case 'F':
        return (uint16_t)(turn == 2 ? FN_COUNT - 1 : turn);
    case 'Y':
        return (uint16_t)(turn == 2 ? CLASS_COUNT - 1 : turn);
    case 'Z':
        return (uint16_t)(turn == 2 ? TYPE_COUNT - 1 : turn);
    case 'c':
        return turn == 2 ? ROOT : number[turn];
    default:
        return number[turn];
    }
}

/* The rows above, and each opcode three times. */
static program *everything(ctx *cx)
{
    program *p = assemble(cx, rows);
    for (int op = 0; op < OP_COUNT; op++)
        for (int turn = 0; turn < 3; turn++) {
            const char *letters = op_at(op)->operands;
            const int n = (int)strlen(letters);
            uint16_t arg[7];
            for (int k = 0; k < n; k++)
                arg[k] = operand_of(letters[k], (turn + k) % 3);
            const span at = {turn * op, turn ? op + 1 : 0};
            ck_assert_int_ge(program_emit(p, at, (opcode)op, arg, n), 0);
        }
    return p;
}

/* Text gives the program back, and so do bytes; one of no text, too. */
START_TEST(reads_back)
{
    heap h;
    ctx *cx = ctx_open(&h);
    program *p = _i ? assemble(cx, "halt\n") : everything(cx), *q = NULL, *r = NULL;
    char *text = printed(cx, p);
    q = assemble(cx, text);
    char *again = printed(cx, q);
    ck_assert_str_eq(text, again);
    mem_strfree(cx, again);
    void *bytes;
    size_t size;
    ck_ctx(cx, program_encode(q, &bytes, &size));
    ck_ctx(cx, program_decode(cx, bytes, size, &r));
    again = printed(cx, r);
    ck_assert_str_eq(text, again);
    for (int k = 0; k < p->ncode; k++)
        ck_assert(!memcmp(&p->code[k], &r->code[k], sizeof *p->code));
    mem_free(cx, bytes, size);
    mem_strfree(cx, again);
    mem_strfree(cx, text);
    program_free(p);
    program_free(q);
    program_free(r);
    ctx_close(cx, &h);
}
END_TEST

/* What no row has is printed, too: dumps are for programs that aren't sound. */
START_TEST(unknown)
{
    heap h;
    ctx *cx = ctx_open(&h);
    program *p = assemble(cx, "halt\n");
    const uint16_t arg[7] = {0, ROOT - 1, ROOT - 1, ROOT - 1};
    program_emit(p, (span){0, 0}, OP_FN1, arg, 4);
    program_emit(p, (span){0, 0}, OP_WRAP, arg, 3);
    program_emit(p, (span){0, 0}, OP_END, arg, 0);
    program_emit(p, (span){0, 0}, OP_ELSE, arg, 0);
    program_emit(p, (span){0, 0}, (opcode)OP_COUNT, arg, 0);
    char *text = printed(cx, p), want[80];
    snprintf(want, sizeof want, "?, ?, v65534|wrap       v0, ?, |; opcode %d", OP_COUNT);
    ck_assert_msg(has_words(text, want), "%s", text);
    mem_strfree(cx, text);
    program_free(p);
    ctx_close(cx, &h);
}
END_TEST

/* ---- texts ----------------------------------------------------------------------- */

static size_t word_at(const char *s)
{
    return strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-");
}

/* Past a comment or a quoted text that begins here. */
static const char *past(const char *s)
{
    if (*s == ';') return s + strcspn(s, "\n");
    if (*s != '"') return s;
    for (s++; *s != '"'; s++)
        s += *s == '\\';
    return s + 1;
}

/* `with` instead of the len bytes at `at`: refused there, at that character's line. */
static void refused_at(ctx *cx, char *text, size_t at, size_t len, const char *with,
                       bool here)
{
    const size_t size = strlen(text);
    char *changed = malloc(size + strlen(with) + 1);
    ck_assert_ptr_nonnull(changed);
    memcpy(changed, text, at);
    strcpy(changed + at, with);
    strcat(changed + at, text + at + len);
    program *p = NULL;
    const stc_status st = program_assemble(cx, changed, "changed", &p);
    ck_assert_msg(st == STC_ERR_SYNTAX || !here, "%.40s: %s", changed + at,
                  stc_status_name(st));
    program_free(p);
    if (here) {
        int line = 1, column = 1;
        for (size_t k = 0; k < at; k++) {
            column = changed[k] == '\n' ? 1 : column + 1;
            line += changed[k] == '\n';
        }
        ck_assert_msg(cx->diag.line == line && cx->diag.column == column,
                      "%.40s: %s: at %d:%d, not at %d:%d", changed + at, cx->diag.message,
                      cx->diag.line, cx->diag.column, line, column);
    }
    free(changed);
}

/* Every word that is none, every mark that is another, every end that comes too soon. */
START_TEST(words)
{
    heap h;
    ctx *cx = ctx_open(&h);
    program *p = everything(cx);
    char *text = printed(cx, p);
    for (char *s = text; *s;) {
        const char *next = past(s);
        if (next != s) {
            if (*s == '"') refused_at(cx, text, (size_t)(s - text), 1, "?", true);
            s = (char *)next;
            continue;
        }
        const size_t n = word_at(s);
        if (n) refused_at(cx, text, (size_t)(s - text), n, "?", true);
        if (n > 1) refused_at(cx, text, (size_t)(s - text), n, "\n", false);
        if (!n && strchr("(){},:#/%@", *s))
            refused_at(cx, text, (size_t)(s - text), 1, "?", *s != '#' && *s != '%');
        s += n ? n : 1;
    }
    mem_strfree(cx, text);
    program_free(p);
    ctx_close(cx, &h);
}
END_TEST

static const struct {
    const char *text, *words; /* NULL: it is a program */
} texts[] = {
    {".extent e0 const 9223372036854775808\n", "an integer of 64 bits"},
    {".extent e0 const 99999999999999999999\n", "an integer of 64 bits"},
    {".extent e0 const 18446744073709551616\n", "an integer of 64 bits"},
    {".extent e0 const -9223372036854775808\n", NULL},
    {".extent e0 const -9223372036854775809\n", "an integer of 64 bits"},
    {".extent e0 const -\n", "an integer"},
    {".registers v 65536\n", "a number in range"},
    {".registers v -1\n", "a number in range"},
    {"mov v65535, v0\n", "a number in range"},
    {".extent e1 const 0\n", "rows in order, from 0"},
    {".const k0 f64 x\n", "a number"},
    {".const k0 i65 1\n", "a class: i64"},
    {".tensor t0 \"x\" input f65\n", "an element type"},
    {".tensor t0 \"x\ny\" input f64\n", "a closing quote"},
    {".file \"x\\", "a closing quote"},
    {".file \"x\\xfg\\x00\\xg0\\xAA\\q\\x-0\"\n", NULL},
    {".file \"x\"\n.file \"y\"\n", "one such line"},
    {".source \"x\"\n.source \"y\"\n", "one such line"},
    {".nothing\n", "a directive"},
    {"halt halt\n", "the end of the line"},
    {"halt ; halt\n\r\n\t; what follows\n;", NULL},
    {"halt @1:2\nhalt @-1:2", NULL},
    {"halt @1;2\n", "':'"},
    {"halt @99999999999:2\n", "a number in range"},
    {"nothing\n", "an instruction"},
    {"no_thing\n", "an instruction"},
    {"halt{\n", "the end of the line"},
    {"halt[\n", "the end of the line"},
    {"mov v, v0\n", "v0 ..."},
    {"mov vx, v0\n", "v0 ..."},
    {"fn1 v0, nothing, f64, v0\n", "a function"},
    {"fn1 v0, sin, nothing, v0\n", "a class"},
    {"wrap v0, nothing, v0\n", "an element type"},
    {"break v0, 65536\n", "a number in range"},
    {".tensor t0 \"x\" input f64 (0) format 1 dense(17)\n", "a number in range"},
    {".tensor t0 \"x\" input f64 (0) format 1 dense(0/x)\n", "an integer"},
    {".tensor t0 \"x\" input f64 (0) format 1 dense(0%x)\n", "an integer"},
    {".tensor t0 \"x\" input f64 (0) format 1 dense(0-x)\n", "an integer"},
    {".tensor t0 \"x\" input f64 (0) format 1 dense(0..x)\n", "an integer"},
    {".tensor t0 \"x\" input f64 (0) format 1 dense(0.1)\n", "'.'"},
    {".tensor t0 \"x\" input f64 (0) format 17\n", "a number in range"},
    {".tensor t0 \"x\" input f64 (0) format 1 dents(0)\n", "a level kind"},
#define D4 "dense(0) dense(0) dense(0) dense(0) "
    {".tensor t0 \"x\" input f64 (0) format 1 " D4 D4 D4 D4 "\n", NULL},
    {".tensor t0 \"x\" input f64 (0) format 1 rle:2(0)\n",
     "a level kind that takes a number"},
    {".tensor t0 \"x\" input f64 (0) format 1 hashed:(0)\n", "an integer"},
    {".tensor t0 \"x\" input f64 (0) format 1 hashed:99999999999999999999(0)\n",
     "an integer of 64 bits"},
    {".tensor t0 \"x\" input f64 (0) format 1 " D4 D4 D4 D4 "dense(0)\n", "no more levels"},
#define E8 "e0 e0 e0 e0 e0 e0 e0 e0 "
    {".tensor t0 \"x\" temp f64 (0) [" E8 E8 "] format 0\n", NULL},
    {".tensor t0 \"x\" temp f64 (0) [" E8 E8 "e0] format 0\n", "]"},
    {".tensor t0 \"x\" temp f64 (0) [] policy nothing 3 format 0\n", "a policy"},
    {".tensor t0 \"x\" temp f64 (0) [] policy auto x format 0\n", "an integer"},
    {".fn f0 \"f\" (f64 f64 f64 f64 f64 f64 f64 f64) f64 registers 8 code 0:1\n", NULL},
    {".fn f0 \"f\" (f64 f64 f64 f64 f64 f64 f64 f64 f64) f64 registers 8 code 0:1\n", ")"},
    {".fn f0 \"f\" () f64 registers 65536 code 0:1\n", "a number in range"},
    {".fn f0 \"f\" () f64 registers 1 code 0:99999999999\n", "a number in range"},
    {".merge g0 lo root hi e0 postfix (64) { }\n", "a number in range"},
    {".merge g0 lo root hi e0 postfix (nor) { }\n", "an operand, and, or"},
    {".merge g0 lo root hi e0 produce 0 { walk c0 known c0 }\n", "}"},
#define K8 "known c0, known c0, known c0, known c0, known c0, known c0, known c0, known c0"
#define K64 K8 ", " K8 ", " K8 ", " K8 ", " K8 ", " K8 ", " K8 ", " K8
    {".merge g0 lo root hi e0 postfix (0) { " K64 " }\n", NULL},
    {".merge g0 lo root hi e0 postfix (0) { " K64 ", known c0 }\n", "}"},
};

START_TEST(complaints)
{
    heap h;
    ctx *cx = ctx_open(&h);
    program *p = NULL;
    const stc_status st = program_assemble(cx, texts[_i].text, "t", &p);
    if (!texts[_i].words) {
        ck_assert_msg(st == STC_OK, "%s: %s", texts[_i].text, cx->diag.message);
        program_free(p);
    } else {
        ck_assert_msg(st == STC_ERR_SYNTAX, "%s: accepted", texts[_i].text);
        ck_assert_msg(has_words(cx->diag.message, "expected"), "%s", cx->diag.message);
        ck_assert_msg(has_words(cx->diag.message, texts[_i].words), "%s: %s",
                      texts[_i].text, cx->diag.message);
    }
    ctx_close(cx, &h);
}
END_TEST

/* A table of more steps than any needs. */
START_TEST(long_tables)
{
    heap h;
    ctx *cx = ctx_open(&h);
    for (int n = 1024; n <= 1025; n++) {
        char text[4000] = ".merge g0 lo root hi e0 postfix (";
        program *p = NULL;
        for (int k = 0; k < n; k++)
            strcat(text, "0 ");
        strcat(text, ") { }\n");
        const stc_status st = program_assemble(cx, text, "t", &p);
        ck_assert_int_eq(st, n == 1024 ? STC_OK : STC_ERR_SYNTAX);
        program_free(p);
    }
    ctx_close(cx, &h);
}
END_TEST

/* ---- want of memory, and of rows ---------------------------------------------------- */

/* A table of so many rows; its number stands for each %d. */
static char *many_rows(const char *row, int n)
{
    char *text = malloc((size_t)n * (strlen(row) + 16) + 1), *end = text;
    ck_assert_ptr_nonnull(text);
    *end = 0;
    for (int k = 0; k < n; k++)
        end += sprintf(end, row, k);
    return text;
}

/* There and back in both forms, as far as memory lasts. */
static stc_status text_and_bytes(ctx *cx, void *text)
{
    program *p = NULL, *q = NULL;
    void *bytes = NULL;
    size_t size;
    stc_status st = program_assemble(cx, text, "rows", &p);
    if (!st) st = program_encode(p, &bytes, &size);
    if (!st) {
        st = program_decode(cx, bytes, size, &q);
        mem_free(cx, bytes, size);
    }
    if (!st) ck_assert_int_eq(p->ncode + p->next, q->ncode + q->next);
    program_free(p);
    program_free(q);
    return st;
}

#define X50 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#define X1K X50 X50 X50 X50 X50 X50 X50 X50 X50 X50 X50 X50 X50 X50 X50 X50 X50 X50 X50 X50
#define X9K X1K X1K X1K X1K X1K X1K X1K X1K X1K
#define NOT8 "not not not not not not not not "
#define NOT64 NOT8 NOT8 NOT8 NOT8 NOT8 NOT8 NOT8 NOT8

/* Tables that outgrow what a program begins with, each in the ways that it can. */
static const struct {
    const char *row;
    int n;
} tables[] = {
    {".const k%d i64 1\n", 1500},
    {".extent e%d span\n", 1500},
    {".check e0 le e0 \"%d\"\n", 400},
    {".check e0 le e%d \"" X9K "\"\n", 2},
    {".tensor t%d \"t\" input f64 (0) format 0\n", 60},
    {".tensor t%d \"" X9K "\" input f64 (0) format 0\n", 2},
    {".fn f%d \"f\" () f64 registers 1 code 0:1\n", 400},
    {".fn f%d \"" X9K "\" () f64 registers 1 code 0:1\n", 2},
    {".merge g%d lo root hi e0 produce 0 { }\n", 400},
    {".merge g%d lo root hi e0 postfix (0) { " K64 " }\n", 30},
    {".merge g%d lo root hi e0 postfix (" NOT64 NOT64 NOT64 NOT64 ") { }\n", 60},
    {".file \"" X9K "\" ; %d\n", 1},
    {"halt ; %d\n", 3000},
};

START_TEST(shortages)
{
    heap h;
    ctx *cx = ctx_open(&h);
    char *text = many_rows(tables[_i].row, tables[_i].n);
    each_shortage(cx, &h, text_and_bytes, text);
    free(text);
    ctx_close(cx, &h);
}
END_TEST

/* A table has as many rows as an operand can name, a program 2^22 instructions. */
START_TEST(too_many_rows)
{
    static const struct {
        const char *row;
        int most;
    } full[] = {{".check e0 le e0 \"%d\"\n", 0xffff}, {"endif\n", 1 << 22}};
    heap h;
    ctx *cx = ctx_open(&h);
    for (int more = 0; more < 2; more++) {
        char *text = many_rows(full[_i].row, full[_i].most + more);
        program *p = NULL;
        const stc_status st = program_assemble(cx, text, "rows", &p);
        ck_assert_int_eq(st, more ? STC_ERR_PROGRAM : STC_OK);
        if (more) ck_assert(has_words(cx->diag.message, "the program is too large"));
        program_free(p);
        free(text);
    }
    ctx_close(cx, &h);
}
END_TEST

/* ---- bytes ----------------------------------------------------------------------- */

enum { HEADER = 32 };

static void put(uint8_t *p, uint64_t v)
{
    for (int k = 0; k < 8; k++)
        p[k] = (uint8_t)(v >> 8 * k);
}

/* The size and the checksum (FNV-1a) that the bytes should have. */
static void mend(uint8_t *bytes, size_t size)
{
    uint64_t h = 0xcbf29ce484222325;
    for (size_t k = HEADER; k < size; k++)
        h = (h ^ bytes[k]) * 0x100000001b3;
    put(bytes + 16, size);
    put(bytes + 24, h);
}

/* Refused as unsound; or a program, whose bytes are these. */
static bool accepted(ctx *cx, const uint8_t *bytes, size_t size, size_t at)
{
    program *p[PLANS_MAX] = {NULL};
    int plans;
    const stc_status st = plans_decode(cx, bytes, size, p, &plans);
    if (st != STC_OK) {
        ck_assert_msg(st == STC_ERR_CORRUPT, "byte %zu: %s", at, stc_status_name(st));
        return false;
    }
    void *again;
    size_t n;
    ck_ctx(cx, plans_encode(p, plans, &again, &n));
    ck_assert_msg(n == size && !memcmp(again, bytes, n), "byte %zu: another form", at);
    mem_free(cx, again, n);
    while (plans-- > 0)
        program_free(p[plans]);
    return true;
}

START_TEST(bytes_changed)
{
    static const uint8_t change[] = {0x01, 0x04, 0x40, 0x80, 0xff};
    heap h;
    ctx *cx = ctx_open(&h);
    program *p = everything(cx);
    void *data;
    size_t size;
    int good = 0;
    ck_ctx(cx, program_encode(p, &data, &size));
    uint8_t *bytes = data;
    ck_assert(accepted(cx, bytes, size, 0));
    for (size_t k = 8; k < size; k += k < size / 2 ? 1 : 3) {
        if ((k >= 10 && k < 12) || (k >= 16 && k < HEADER)) continue; /* minor, mended */
        const uint8_t was = bytes[k];
        for (size_t c = 0; c < sizeof change; c++) {
            bytes[k] = was ^ change[c];
            mend(bytes, size);
            good += accepted(cx, bytes, size, k);
        }
        bytes[k] = was;
    }
    ck_assert_int_gt(good, 100);
    for (size_t k = HEADER; k < size; k += 1 + k / 100) {
        uint8_t *part = malloc(k);
        memcpy(part, bytes, k);
        mend(part, k);
        accepted(cx, part, k, k);
        free(part);
    }
    mem_free(cx, data, size);
    program_free(p);
    ctx_close(cx, &h);
}
END_TEST

/* ---- plans for other data --------------------------------------------------------- */

enum { ALL = PLANS_MAX };
static const char other_plan[] = ".tensor t0 \"x\" input f64 (0) format 0\n"
                                 ".notation 0x7 { t0 type }\n"
                                 ".const k0 f64 0x0000000000000000\n"
                                 "  const v0, k0\n  halt\n";

/* The rows of before, and so many plans; the caller's, as the first n of p. */
static void with_plans(ctx *cx, int n, program *p[ALL])
{
    p[0] = everything(cx);
    for (int k = 1; k <= n; k++)
        p[k] = assemble(cx, other_plan);
}

static void free_plans(program *p[ALL], int n)
{
    while (n >= 0)
        program_free(p[n--]);
}

/* As bytes_changed, within the plan; and cut short. Its text is the program's. */
START_TEST(plans_changed)
{
    heap h;
    ctx *cx = ctx_open(&h);
    program *p[ALL], *read[ALL];
    void *data;
    size_t size, alone;
    int good = 0, n;
    with_plans(cx, 1, p);
    ck_ctx(cx, program_encode(p[0], &data, &alone));
    mem_free(cx, data, alone);
    ck_ctx(cx, plans_encode(p, 2, &data, &size));
    uint8_t *bytes = data;
    ck_ctx(cx, plans_decode(cx, bytes, size, read, &n));
    ck_assert_int_eq(n, 2);
    ck_assert_str_eq(read[1]->source, p[0]->source);
    ck_assert_uint_eq(read[1]->like, 7);
    free_plans(read, 1);
    const size_t begin = alone + 12 + 4 + 8; /* the section, how many, how long */
    for (size_t k = alone; k < size; k++)
        for (int bit = 0; bit < 8; bit++) {
            const bool minor = k == begin + 10 || k == begin + 11;
            if (minor || (k >= begin + 16 && k < begin + HEADER)) continue;
            bytes[k] ^= (uint8_t)(1 << bit);
            if (k >= begin) mend(bytes + begin, size - begin);
            mend(bytes, size);
            good += accepted(cx, bytes, size, k);
            bytes[k] ^= (uint8_t)(1 << bit);
            if (k >= begin) mend(bytes + begin, size - begin);
        }
    ck_assert_int_gt(good, 100);
    mem_free(cx, data, size);
    free_plans(p, 1);
    ctx_close(cx, &h);
}
END_TEST

/* A plan that has plans itself, one that can't be planned anew, too many; and the words. */
START_TEST(plans_refused)
{
    heap h;
    ctx *cx = ctx_open(&h);
    program *p[ALL], *read[ALL];
    void *data;
    size_t size, one, alone;
    int n;
    with_plans(cx, ALL - 1, p);
    p[1]->notation = _i != 1;
    ck_ctx(cx, program_encode(p[0], &data, &alone));
    mem_free(cx, data, alone);
    ck_ctx(cx, plans_encode(p, 2, &data, &one));
    mem_free(cx, data, one);
    ck_ctx(cx, plans_encode(p, ALL, &data, &size));
    uint8_t *bytes = data;
    const size_t begin = alone + 12 + 4 + 8;
    if (_i == 0) bytes[begin + 10] = 1, bytes[begin + 12] = 12;
    if (_i == 2) bytes[begin - 12] = ALL;
    if (_i == 3) bytes[begin + HEADER + 12] = 1; /* a text of its own, of no bytes */
    mend(bytes + begin, one - begin);
    mend(bytes, size);
    static const char *const said[] = {
        "its plan 1 for other data: it has an unknown number of sections",
        "a section holds what can't be", "a section holds what can't be",
        "its plan 1 for other data: a section holds what can't be"};
    const stc_status st = plans_decode(cx, bytes, size, read, &n);
    ck_assert_int_eq(st, STC_ERR_CORRUPT);
    ck_assert_msg(has_words(cx->diag.message, said[_i]), "%s", cx->diag.message);
    mem_free(cx, data, size);
    free_plans(p, ALL - 1);
    ctx_close(cx, &h);
}
END_TEST

/* All plans there and back, as far as memory lasts. */
static stc_status plans_there_and_back(ctx *cx, void *what)
{
    program *const *p = what, *read[ALL];
    void *bytes = NULL;
    size_t size;
    int n;
    stc_status st = plans_encode(p, ALL, &bytes, &size);
    if (!st) {
        st = plans_decode(cx, bytes, size, read, &n);
        mem_free(cx, bytes, size);
    }
    if (st) return st;
    ck_assert_int_eq(n, ALL);
    free_plans(read, n - 1);
    return st;
}

START_TEST(plans_starve)
{
    heap h;
    ctx *cx = ctx_open(&h);
    program *p[ALL];
    with_plans(cx, ALL - 1, p);
    each_shortage(cx, &h, plans_there_and_back, p);
    free_plans(p, ALL - 1);
    ctx_close(cx, &h);
}
END_TEST

/* A later minor version may have sections that this one doesn't know; this one's may not.
 */
START_TEST(later_versions)
{
    heap h;
    ctx *cx = ctx_open(&h);
    program *p = everything(cx), *q;
    void *data;
    size_t size;
    ck_ctx(cx, program_encode(p, &data, &size));
    uint8_t *bytes = malloc(size + 12);
    memcpy(bytes, data, size);
    memcpy(bytes + size, "\x63\0\0\0\0\0\0\0\0\0\0\0", 12);
    bytes[12]++;
    mend(bytes, size + 12);
    ck_assert_int_eq(program_decode(cx, bytes, size + 12, &q), STC_ERR_CORRUPT);
    ck_assert(has_words(cx->diag.message, "an unknown number of sections"));
    bytes[10] = 99;
    ck_ctx(cx, program_decode(cx, bytes, size + 12, &q));
    ck_assert_int_eq(q->ncode, p->ncode);
    program_free(q);
    free(bytes);
    mem_free(cx, data, size);
    program_free(p);
    ctx_close(cx, &h);
}
END_TEST

Suite *suite_damage(void)
{
    Suite *s = suite_create("damage");
    TCase *c = tcase_create("damage");
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, reads_back, 0, 2);
    tcase_add_test(c, unknown);
    tcase_add_test(c, words);
    tcase_add_loop_test(c, complaints, 0, (int)(sizeof texts / sizeof *texts));
    tcase_add_test(c, long_tables);
    tcase_add_loop_test(c, shortages, 0, (int)(sizeof tables / sizeof *tables));
    tcase_add_loop_test(c, too_many_rows, 0, 2);
    tcase_add_test(c, bytes_changed);
    tcase_add_test(c, later_versions);
    tcase_add_test(c, plans_changed);
    tcase_add_loop_test(c, plans_refused, 0, 4);
    tcase_add_test(c, plans_starve);
    suite_add_tcase(s, c);
    return s;
}
