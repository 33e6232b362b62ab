/* check_mutants.c: programs that no compiler makes. Bytes of code, merges and tensors of
 * good programs are changed one at a time; what the verifier takes is run, by base
 * operations, on the faster tiers and on threads, which may take nothing for granted but
 * what they looked at: it ends in an error or in results that are whole tensors, the same
 * on all of them, and leaves nothing behind. Of some it is the plan that their file has for
 * such data that is changed. So do those that are kept in mutants.txt: each
 * reached something that no other program did. */
#include "../src/api/api.h"
#include "../vm/code/program.h"
#include "check.h"
#include <stdlib.h>
#include <string.h>

enum { HEADER = 32, MACHINES = 3, SIDE = 9, STEPS = 20000 };
enum { TENSORS = 3, MERGES = 7, CODE = 9, PLANS = 12 }; /* tags of sections, stb.c */

/* Operands by name; what isn't declared is dense. */
static const struct sample {
    const char *text, *a, *b, *r;
} samples[] = {
    {"R(i) = A(i,j) * x(j)", "csr", NULL, "dense"},
    {"R(i) = A(i,j) * x(j) * y(i)", "dcsr", NULL, NULL},
    {"R(i) = y(i) * (abs(A(i,j)) * x(j))", "csr", NULL, "svec"},
    {"R(j) = abs(A(i,j)) * x(i)", "(i,j) -> (i : dense, j : compressed(index64))", NULL,
     "dense"},
    {"R(j) = A(i,j) * x(i)", "csr", NULL, "dense"},
    {"R(i) = A(i,j) * B(i,j)", "csr", "csr", "dense"},
    {"R(i,j) = A(i,j) + B(i,j)", "csr", "csr", "csr"},
    {"R(i,j) = A(i,j) * B(i,j)", "coo", "csr", "coo"},
    {"R(i,j) = A(i,j) * X(i,j)", "hash", NULL, "csr"},
    {"R(i,j) = A(i,k) * B(k,j)", "csr", "csr", "csr"},
    {"R(i,j) = A(i,k) * B(k,j)", "csr", "csr", "dense"},
    {"R(i,j) = A(i,k) * X(k,j)", "csr", NULL, "dense"},
    {"R(i,j) = X(i,k) * Y(k,j)", NULL, NULL, "dense"},
    {"R(i,j) = B(i,j) * X(i,k) * Y(j,k)", NULL, "csr", "csr"},
    {"R(i,j) = min(k: A(i,k) + B(k,j))", "csr", "dcsr", "csr"},
    {"R(i,j) = A(j,i)", "csr", NULL, "csr"},
    {"R(i) = max(A(i,j), B(i,j)) * x(j)", "csr", "dcsr", NULL},
    {"R(i,j) = A(i,j) * B(i,j)", "rle", "rle", "rle"},
    {"R(i) = A(i,j) * B(i,j) * x(j)", "rle", "rle", NULL},
    {"R(i,j) = A(i,j) + B(i,j)", "lz77", "lz77", "lz77"},
    {"R(i,j) = A(i,j) * B(i,j)", "rle", "csr", "csr"},
    {"R(i) = A(i,i+j) * w(j)", "csr", NULL, "dense"},
    {"R(i) = v(i+j) * w(j)", NULL, NULL, "svec"},
    {"R(i,j) = A(i+k,j+l) * W(k,l)", "csr", NULL, "csr"},
    {"R(i,j) = A(i+k,j) * w(k)", "dcsr", NULL, "csr"},
    {"R(i) = select(v(i) > 1, v(i), x(i)) + i", NULL, NULL, "dense"},
    {"R(i,j) = A(i(1:6:2), j(0:4))", "csr", NULL, "csr"},
    {"a = A(i,j) * B(i,j)\nR(i) = v(i) * a", "csr", "coo", NULL},
    {"R(i) = v(i) * v(i) / 2", NULL, NULL, "svec"},
    {"R(i,j,k) = T(i,j,k) * x(k) + T(i,j,k)", NULL, NULL, NULL},
    {"R(i,l) = T(i,j,k) * X(j,l) * Y(k,l)", NULL, NULL, "dense"},
    {"R(i,j) = T(i,j,k) * v(k)", NULL, NULL, "csr"},
    {"fn f(x, y) { while (x > 4) { x = x - y - 1 }; return x }\nR(i) = f(v(i), x(i))", NULL,
     NULL, NULL},
    {"R(i,j) = A(i,k) * B(k,j) with split(k,k0,k1,3), reorder(k0,i,k1,j)", "csr", "csr",
     "csr"},
    {"R(i) = A(i,j) * x(j) with fuse(i,j,f), pos(f,p,A(i,j)), split(p,p0,p1,4)", "csr",
     NULL, "dense"},
    {"R(i) = A(i,j) * x(j) with fuse(i,j,f), pos(f,p,A(i,j)), split(p,p0,p1,4)", "dia",
     NULL, "dense"},
    {"R(i,j) = 2 * A(i,j) with fuse(i,j,f), pos(f,p,A(i,j))", "ell", NULL, "csr"},
    {"R(i) = A(i,j) * x(j) with fuse(i,j,f), pos(f,p,A(i,j)), split(p,p0,p1,3)",
     "(i,j) -> (i/2 : compressed(nonunique), j/3 : dense, i%2 : dense, j%3 : dense)", NULL,
     "dense"},
    {"R(i) = x(i64(y(i)))", NULL, NULL, "dense"},
    {"R(i,j) = pad A(i64(3 * y(i)), j)", "csr", NULL, "csr"},
    {"R(i) = v(i64(y(i))) * X(i, i64(v(i)))", NULL, NULL, "dense"},
    {"h(j) = x(j)\nh(i64(y(i))) += v(i)\nR(j) = h(j)", NULL, NULL, "dense"},
    {"h(i,j) = A(i,j)\nh(i64(y(i)), j) += X(i,j)\nR(i,j) = h(i,j)", "csr", NULL, "csr"},
    {"A(i64(y(i)), j) += X(i,j)\nR(i) = A(i,j) * x(j)", "(i,j) -> (flat(i,j) : hashed)",
     NULL, "dense"},
    {"R(i) = A(i,j) * x(j)",
     "(i,j) -> (i/6 : dense, j/4 : compressed, i%6/2 : dense, i%2 : dense, j%4 : dense)",
     NULL, "dense"},
    {"R(i) = argmax(j: A(i,j))", "csr", NULL, NULL},
    {"R(i) = sum(j: (j <= i) * x(j)) + sum(k in i-1:i+2: y(k))", NULL, NULL, "dense"},
    {"R(i) = sum(j: (j >= i64(y(i))) * x(j) * x(j))", NULL, NULL, "dense"},
    {"R(j) = sum(i: (i64(y(i)) == j) * v(j))", NULL, NULL, "dense"},
    {"R(i) = x(i) + sum(j: (i64(y(i)) == j) * v(j))", NULL, NULL, "dense"},
    {"R(i) = x(i) + sum(j: (i64(y(i)) == j) * A(i,j))", "csr", NULL, "svec"},
    {"R(i) = T(i,j,k) * X(j,l) * Y(k,l)", NULL, NULL, "dense"},
    {"R(i,l) = sum(j,k: T(i,j,k) * T(j,k,l))", NULL, NULL, "csr"},
};
/* The last ones read enough to be planned for. */
enum { SAMPLES = sizeof samples / sizeof *samples, PLANNED = 2 };

/* ---- bytes ----------------------------------------------------------------------- */

static uint64_t get(const uint8_t *p, int n)
{
    uint64_t v = 0;
    for (int k = n - 1; k >= 0; k--)
        v = v << 8 | p[k];
    return v;
}

static void mend(uint8_t *bytes, size_t size)
{
    uint64_t h = 0xcbf29ce484222325; /* FNV-1a */
    for (size_t k = HEADER; k < size; k++)
        h = (h ^ bytes[k]) * 0x100000001b3;
    for (int k = 0; k < 8; k++)
        bytes[24 + k] = (uint8_t)(h >> 8 * k);
}

/* Where the rows of a section begin and end, after their number. */
static void section(const uint8_t *bytes, size_t size, uint32_t tag, size_t *from,
                    size_t *to)
{
    size_t at = HEADER;
    while (at < size && get(bytes + at, 4) != tag)
        at += 12 + (size_t)get(bytes + at + 4, 8);
    ck_assert_uint_lt(at, size);
    *from = at + 16;
    *to = at + 12 + (size_t)get(bytes + at + 4, 8);
}

/* ---- a run ----------------------------------------------------------------------- */

/* A third of the places, small whole numbers. */
static stc_tensor *operand(stc_machine *m, const stc_decl *d)
{
    int64_t shape[STC_MAX_ORDER], n = 1, coord[3 * SIDE * SIDE * SIDE], count = 0;
    if (d->order < 0 || d->order > 3) return NULL;
    for (int k = 0; k < d->order; k++) {
        shape[k] = d->name[0] == 'w' || d->name[0] == 'W' ? 3 : SIDE;
        n *= shape[k];
    }
    char vals[16 * SIDE * SIDE * SIDE];
    for (int64_t e = 0; e < n; e++) {
        const uint64_t dice = (uint64_t)(e + d->name[0]) * 0x9e3779b97f4a7c15u >> 33;
        if (d->order && dice % 3) continue;
        for (int64_t k = d->order - 1, at = e; k >= 0; at /= shape[k--])
            coord[count * d->order + k] = at % shape[k];
        const value v = {.i64 = (int64_t)(1 + dice / 3 % 4)};
        type_store((stc_type)d->type, vals, count++,
                   class_convert(type_class((stc_type)d->type), CLASS_I64, v));
    }
    stc_tensor *t = NULL;
    if (stc_tensor_from_coords(m, d->format, (stc_type)d->type, d->order, shape, d->fill,
                               count, coord, vals, &t))
        return NULL;
    return t;
}

/* Operands for a program; how many they are. */
static int bind_all(stc_machine *m, stc_program *p, stc_tensor *held[16])
{
    const char *name;
    bool result;
    int n = 0;
    for (int k = 0; n < 16 && (name = stc_program_name(p, k, &result)); k++) {
        stc_decl d = {.size = sizeof d};
        if (result || stc_program_decl(p, name, &d)) continue;
        held[n] = operand(m, &d);
        if (held[n]) stc_bind(p, name, held[n++]);
    }
    return n;
}

typedef struct outcome {
    stc_status status;
    size_t size; /* bytes of the result, 0: there is none */
    void *dense;
} outcome;

/* Runs it on what there is to bind; what it made is in order. */
static outcome run(stc_machine *m, stc_program *p)
{
    outcome out = {0};
    stc_tensor *held[16];
    const stc_tensor *r;
    const int n = bind_all(m, p, held);
    out.status = stc_run(p);
    ck_assert_msg(!out.status || stc_error(m)->message[0], "%s without a word",
                  stc_status_name(out.status));
    if (!out.status && !stc_result(p, "R", &r)) {
        ck_ok(m, stc_tensor_check((stc_tensor *)r));
        out.size = stc_type_size(stc_tensor_type(r));
        for (int d = 0; d < stc_tensor_order(r); d++)
            out.size *= (size_t)stc_tensor_shape(r)[d];
        out.dense = malloc(out.size + 1);
        ck_ok(m, stc_tensor_to_dense(r, out.dense));
    }
    for (int k = 0; k < n; k++)
        stc_tensor_free(held[k]);
    return out;
}

/* ---- mutants ---------------------------------------------------------------------- */

typedef struct lab {
    heap h[MACHINES];
    stc_machine *m[MACHINES]; /* base operations, faster tiers, two threads */
    int tried, taken;
    uint8_t *bytes, *in; /* a file; the one that is changed: itself, or a plan in it */
    size_t size, part;
} lab;

static void lab_open(lab *l)
{
    memset(l, 0, sizeof *l);
    for (int k = 0; k < MACHINES; k++) {
        const stc_config config = {.alloc = heap_alloc,
                                   .alloc_context = &l->h[k],
                                   .no_super = k == 0,
                                   .max_steps = STEPS,
                                   .max_memory = 1 << 24};
        ck_assert_int_eq(stc_open(&config, &l->m[k]), STC_OK);
    }
    machine_share(l->m[2], 2);
}

/* All of them make the same of it. */
static void same(const outcome is[MACHINES], const char *what, const char *text)
{
    for (int k = 1; k < MACHINES; k++) {
        ck_assert_msg(is[k].status == is[0].status,
                      "%s: machine %d: %s, by base operations %s:\n%s", what, k,
                      stc_status_name(is[k].status), stc_status_name(is[0].status), text);
        ck_assert_uint_eq(is[k].size, is[0].size);
        ck_assert_msg(!is[k].size || !memcmp(is[k].dense, is[0].dense, is[0].size),
                      "%s: machine %d has another result:\n%s", what, k, text);
    }
    for (int k = 0; k < MACHINES; k++)
        free(is[k].dense);
}

/* If it is a program. */
static void judge(lab *l)
{
    stc_program *p[MACHINES];
    outcome is[MACHINES];
    char *text;
    if (l->in != l->bytes) mend(l->in, l->part);
    mend(l->bytes, l->size);
    l->tried++;
    if (stc_program_decode(l->m[0], l->bytes, l->size, &p[0])) return;
    l->taken++;
    is[0] = run(l->m[0], p[0]);
    for (int k = 1; k < MACHINES; k++) {
        ck_ok(l->m[k], stc_program_decode(l->m[k], l->bytes, l->size, &p[k]));
        is[k] = run(l->m[k], p[k]);
    }
    ck_ok(l->m[0], stc_program_dump(p[0], &text));
    same(is, "changed in one place", text);
    stc_text_free(l->m[0], text);
    for (int k = 0; k < MACHINES; k++)
        stc_program_free(p[k]);
}

/* Each byte of a section with its lower bits changed. */
static void change_bytes(lab *l, uint32_t tag)
{
    uint8_t *const bytes = l->in;
    size_t from, to;
    section(bytes, l->part, tag, &from, &to);
    for (size_t k = from; k < to; k++) {
        const uint8_t was = bytes[k];
        for (uint8_t x = 1; x < 8; x = (uint8_t)(x < 3 ? x + 1 : x + 2)) {
            bytes[k] = was ^ x;
            judge(l);
        }
        bytes[k] = was;
    }
}

/* Operands that are the root or no register, instructions twice or in another order. */
static void change_code(lab *l)
{
    uint8_t *const bytes = l->in;
    size_t from, to;
    section(bytes, l->part, CODE, &from, &to);
    for (size_t k = from; k < to; k += 16) {
        uint8_t was[32], *in = bytes + k;
        const bool last = k + 16 >= to;
        memcpy(was, in, last ? 16 : 32);
        for (int a = 2; a < 16; a += 2) {
            memset(in + a, 0xff, 2);
            judge(l);
            memcpy(in + a, was + a, 2);
        }
        if (last) continue;
        memcpy(in, was + 16, 16);
        judge(l);
        memcpy(in + 16, was, 16);
        judge(l);
        memcpy(in, was, 16);
        judge(l);
        memcpy(in + 16, was + 16, 16);
    }
}

/* The file of a program, the first of the lab's to be changed; with a plan for what there
 * is to bind, if it is to have one: then that is. */
static void begin(lab *l, stc_program *p, bool plans)
{
    stc_tensor *held[16];
    const int n = plans ? bind_all(l->m[0], p, held) : 0;
    void *bytes;
    if (plans) {
        size_t from, to;
        ck_ok(l->m[0], stc_program_plan(p));
        ck_assert_ptr_nonnull(p->variants);
        program *const list[] = {p->p, p->variants->p};
        p->p->like = 1; /* other data's */
        ck_ok(l->m[0], plans_encode(list, 2, &bytes, &l->size));
        section(bytes, l->size, PLANS, &from, &to);
        l->part = (size_t)get((uint8_t *)bytes + from, 8);
        l->in = (uint8_t *)bytes + from + 8;
    } else {
        ck_ok(l->m[0], stc_program_encode(p, &bytes, &l->size));
        l->part = l->size;
        l->in = bytes;
    }
    l->bytes = bytes;
    stc_program_free(p);
    for (int k = 0; k < n; k++)
        stc_tensor_free(held[k]);
}

START_TEST(mutants)
{
    const struct sample *s = &samples[_i];
    lab l;
    stc_program *p;
    lab_open(&l);
    const stc_decl d[] = {{0, "A", s->a ? s->a : "dense", STC_F64, NULL, 2},
                          {0, "x", "dense", STC_F64, NULL, 1},
                          {0, "y", "dense", STC_F64, NULL, 1},
                          {0, "v", "svec", STC_F64, NULL, 1},
                          {0, "w", "dense", STC_F64, NULL, 1},
                          {0, "W", "dense", STC_F64, NULL, 2},
                          {0, "X", "dense", STC_F64, NULL, 2},
                          {0, "Y", "dense", STC_F64, NULL, 2},
                          {0, "T", "csf", STC_F64, NULL, 3},
                          {0, "B", s->b, STC_F64, NULL, 2},
                          {0, "R", s->r, STC_F64, NULL, -1}};
    stc_decl used[11];
    int n = 0;
    for (int k = 0; k < 11; k++)
        if (d[k].format && strstr(s->text, d[k].name)) used[n++] = d[k];
    const stc_status st = stc_compile(l.m[0], s->text, used, n, &p);
    ck_assert_msg(st == STC_OK, "%s: %s", s->text, stc_error(l.m[0])->message);
    const bool plans = _i >= SAMPLES - PLANNED;
    begin(&l, p, plans);
    judge(&l);
    ck_assert_int_eq(l.taken, 1);
    change_bytes(&l, CODE);
    change_code(&l);
    change_bytes(&l, MERGES);
    change_bytes(&l, TENSORS);
    ck_assert_int_gt(l.taken, l.tried / 50);
    if (plans)
        mem_free(&l.m[0]->cx, l.bytes, l.size);
    else
        stc_text_free(l.m[0], l.bytes);
    for (int k = 0; k < MACHINES; k++)
        machine_shut(l.m[k], &l.h[k]);
}
END_TEST

/* ---- mutants that were kept --------------------------------------------------------- */

static outcome run_text(stc_machine *m, const char *text, const char *words)
{
    stc_program *p;
    const stc_status st = stc_program_assemble(m, text, "mutants.txt", &p);
    ck_assert_msg(!st, "%s\n%s", stc_error(m)->message, text);
    const outcome out = run(m, p);
    if (words) {
        char *dump;
        ck_ok(m, stc_program_explain(p, "code", &dump));
        ck_assert_msg(strstr(dump, words), "no \"%s\" in\n%s", words, dump);
        stc_text_free(m, dump);
    }
    stc_program_free(p);
    return out;
}

/* What all of them say. */
static stc_status agree(lab *l, const char *what, const char *text, const char *words)
{
    outcome is[MACHINES];
    for (int k = 0; k < MACHINES; k++)
        is[k] = run_text(l->m[k], text, k ? words : NULL);
    same(is, what, text);
    return is[0].status;
}

static void lab_close(lab *l)
{
    for (int k = 0; k < MACHINES; k++)
        machine_shut(l->m[k], &l->h[k]);
}

void tiers_agree(const char *what, const char *text, const char *words)
{
    lab l;
    lab_open(&l);
    const stc_status st = agree(&l, what, text, words);
    ck_assert_msg(st != STC_ERR_ARGUMENT, "%s: an operand is missing", what);
    lab_close(&l);
}

START_TEST(kept)
{
    char *text = read_parts("mutants.txt"), *at = text, *part;
    lab l;
    lab_open(&l);
    while ((part = next_part(&at)))
        agree(&l, "mutants.txt", part, NULL);
    lab_close(&l);
    free(text);
}
END_TEST

Suite *suite_mutants(void)
{
    Suite *s = suite_create("mutants");
    TCase *c = tcase_create("mutants");
    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, mutants, 0, SAMPLES);
    tcase_add_test(c, kept);
    suite_add_tcase(s, c);
    return s;
}
