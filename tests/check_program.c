/* check_program.c: bytecode: texts and bytes that give the same program back,
 * damage that is refused, and the reference that is generated from the opcodes. */
#include "../src/api/api.h"
#include "check.h"
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *text;
    stc_decl d[4];
    int n;
} sample[] = {
    {"y(i) = A(i,j) * x(j)",
     {{0, "A", "csr", STC_F64, NULL, 2}, {0, "x", "dense", STC_F64, NULL, 1}},
     2},
    {"C(i,j) = A(i,k) * B(k,j)",
     {{0, "A", "csr", STC_F64, NULL, 2},
      {0, "B", "csr", STC_F64, NULL, 2},
      {0, "C", "csr", STC_F64, NULL, 2}},
     3},
    {"C(i,j) = A(i,j) + B(i,j)",
     {{0, "A", "coo", STC_F32, NULL, 2}, {0, "B", "csc", STC_I32, NULL, 2}},
     2},
    {"a = min(i, j: A(i,j) + A(j,i))", {{0, "A", "dcsr", STC_I64, NULL, 2}}, 1},
    {"y(i) += A(i,j) * x(j)\nz = y(i) * y(i)",
     {{0, "A", "bcsr(2,2)", STC_F64, NULL, 2}, {0, "x", "svec", STC_F64, NULL, 1}},
     2},
    {"z = A(i) * x(i)",
     {{0, "A", "(i) -> (i/12 : dense, i%12/3 : compressed, i%3 : dense)", STC_F64, NULL, 1},
      {0, "x", "dense", STC_F64, NULL, 1}},
     2},
    {"y(i) = select(x(i) > 1 && w(i) != 0, x(i) / w(i), -1)",
     {{0, "w", "svec", STC_F64, NULL, 1}, {0, "x", "dense", STC_F64, NULL, 1}},
     2},
    {"y(p(i)) += x(p(i))",
     {{0, "y", "dense", STC_F64, NULL, 1},
      {0, "p", "dense", STC_I64, NULL, 1},
      {0, "x", "dense", STC_F64, NULL, 1}},
     3},
    {"s(i) = x(i+j) * f(j)",
     {{0, "x", "dense", STC_F64, NULL, 1}, {0, "f", "dense", STC_F64, NULL, 1}},
     2},
    {"fn g(x, y) { x, 0 => abs(x)\n0, y => abs(y)\nx, y => { while (x != 0) { t = x; x = y "
     "% x; "
     "y = t }; return abs(y) } } over {x != 0} | {y != 0}\nz(i) = g(u(i), v(i))",
     {{0, "u", "svec", STC_I64, NULL, 1}, {0, "v", "svec", STC_I64, NULL, 1}},
     2},
};
enum { SAMPLES = sizeof sample / sizeof *sample };

static stc_program *compile(stc_machine *m, int k)
{
    stc_program *p = NULL;
    ck_ok(m, stc_compile(m, sample[k].text, sample[k].d, sample[k].n, &p));
    return p;
}

START_TEST(bytes_read_back)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_program *p = compile(m, _i), *q;
    void *a, *b;
    size_t na, nb;
    ck_ok(m, stc_program_encode(p, &a, &na));
    ck_ok(m, stc_program_decode(m, a, na, &q));
    ck_ok(m, stc_program_encode(q, &b, &nb));
    ck_assert_uint_eq(na, nb);
    ck_assert(memcmp(a, b, na) == 0);
    stc_text_free(m, a);
    stc_text_free(m, b);
    stc_program_free(p);
    stc_program_free(q);
    machine_shut(m, &h);
}
END_TEST

START_TEST(text_reads_back)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_program *p = compile(m, _i), *q;
    char *text, *again;
    void *a, *b;
    size_t na, nb;
    ck_ok(m, stc_program_dump(p, &text));
    ck_ok(m, stc_program_assemble(m, text, "dump", &q));
    ck_ok(m, stc_program_dump(q, &again));
    ck_assert_str_eq(text, again);
    ck_ok(m, stc_program_encode(p, &a, &na));
    ck_ok(m, stc_program_encode(q, &b, &nb));
    ck_assert_uint_eq(na, nb);
    ck_assert(memcmp(a, b, na) == 0);
    stc_text_free(m, a);
    stc_text_free(m, b);
    stc_text_free(m, text);
    stc_text_free(m, again);
    stc_program_free(p);
    stc_program_free(q);
    machine_shut(m, &h);
}
END_TEST

/* Every prefix, and every byte changed without the checksum, is refused; but for
 * those of the minor version, which a reader needn't know. */
START_TEST(damage)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_program *p = compile(m, _i), *q = NULL;
    void *bytes;
    size_t n;
    ck_ok(m, stc_program_encode(p, &bytes, &n));
    for (size_t k = 0; k < n; k += 1 + k / 64) {
        char *part = malloc(k + 1);
        memcpy(part, bytes, k);
        ck_assert_int_eq(stc_program_decode(m, part, k, &q), STC_ERR_CORRUPT);
        free(part);
        if (k == 10 || k == 11) continue;
        ((char *)bytes)[k] ^= 0x41;
        const stc_status st = stc_program_decode(m, bytes, n, &q);
        ck_assert_msg(st == STC_ERR_CORRUPT, "byte %zu: %s", k, stc_status_name(st));
        ((char *)bytes)[k] ^= 0x41;
    }
    ck_assert_ptr_null(q);
    ck_assert_int_eq(stc_program_decode(m, bytes, 0, &q), STC_ERR_CORRUPT);
    stc_text_free(m, bytes);
    stc_program_free(p);
    machine_shut(m, &h);
}
END_TEST

/* Lines left out of a dump, or doubled, don't crash and mostly don't pass. */
START_TEST(texts_cut_up)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_program *p = compile(m, _i), *q;
    char *text;
    ck_ok(m, stc_program_dump(p, &text));
    const size_t len = strlen(text);
    char *cut = malloc(2 * len + 2);
    for (size_t at = 0; at < len;) {
        const size_t line = strcspn(text + at, "\n") + 1,
                     end = at + line > len ? len : at + line;
        memcpy(cut, text, at);
        strcpy(cut + at, text + end);
        if (stc_program_assemble(m, cut, "cut", &q) == STC_OK) stc_program_free(q);
        memcpy(cut, text, end);
        strcpy(cut + end, text + at);
        if (stc_program_assemble(m, cut, "doubled", &q) == STC_OK) stc_program_free(q);
        at = end;
    }
    free(cut);
    ck_assert_int_ne(stc_program_assemble(m, "nonsense", "x", &q), STC_OK);
    ck_assert_int_ne(stc_program_assemble(m, "", "x", &q), STC_OK);
    stc_text_free(m, text);
    stc_program_free(p);
    machine_shut(m, &h);
}
END_TEST

START_TEST(stages)
{
    static const char *const stage[] = {"ast", "bound", "plan", "lattice", "code"};
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_program *p = compile(m, _i);
    for (int k = 0; k < 5; k++) {
        char *text;
        ck_ok(m, stc_program_explain(p, stage[k], &text));
        ck_assert_msg(strlen(text) > 5, "%s: %s", stage[k], text);
        stc_text_free(m, text);
    }
    char *text;
    ck_assert_int_eq(stc_program_explain(p, "nothing", &text), STC_ERR_ARGUMENT);
    stc_program_free(p);
    machine_shut(m, &h);
}
END_TEST

START_TEST(files)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_program *p = compile(m, _i), *q;
    char path[SCRATCH_PATH], none[SCRATCH_PATH];
    ck_ok(m, stc_program_save(p, scratch(path, "p.stb")));
    ck_ok(m, stc_program_load(m, path, &q));
    stc_program_free(q);
    ck_assert_int_eq(stc_program_load(m, scratch(none, "none.stb"), &q), STC_ERR_IO);
    ck_assert_int_eq(stc_program_save(p, "/nowhere/x.stb"), STC_ERR_IO);
    ck_assert_int_eq(remove(path), 0);
    stc_program_free(p);
    machine_shut(m, &h);
}
END_TEST

/* A file's plans for other data have the program's operands and results, just so, and pass
 * the verifier. */
START_TEST(plans_have_the_same_slots)
{
    static const char *const declared[] = {"csr", "csc", "csr", "csr", "csr", "csr", "csr"};
    static const char *const text[] = {"y(i) = A(i,j)*B(j,k)*x(k)",
                                       "y(i) = A(i,j)*B(j,k)*x(k)",
                                       "y(i) = A(i,j)*B(j,k)*x(k)",
                                       "y(i) = A(i,j)*B(j,k)*z(k)",
                                       "y(i) = A(i,j)*B(j,k)*B(k,l)",
                                       "w(i) = A(i,j)*B(j,k)*x(k)",
                                       "y(i) = A(i,j)*B(j,k)*x(k)\nw(i) = 2*y(i)"};
    static const char *const other[] = {NULL, "A", "A", "z", "x", "w", "w"};
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_program *p[2], *q = NULL;
    void *bytes;
    size_t size;
    char said[80];
    for (int k = 0; k < 2; k++) {
        const stc_decl d[] = {
            {0, "A", declared[k * _i], _i == 2 && k ? STC_F32 : -1, NULL, 2},
            {0, "B", "csr", -1, NULL, 2},
            {0, "x", "dense", STC_F64, NULL, 1},
            {0, "z", "dense", STC_F64, NULL, 1}};
        ck_ok(m, stc_compile(m, text[k * _i], d, 4, &p[k]));
        p[k]->p->like = (uint64_t)k + 1;
    }
    program *list[] = {p[0]->p, p[1]->p};
    ck_ok(m, plans_encode(list, 2, &bytes, &size));
    const stc_status st = stc_program_decode(m, bytes, size, &q);
    ck_assert_int_eq(st, other[_i] ? STC_ERR_CORRUPT : STC_OK);
    snprintf(said, sizeof said, "tensor %s of its plan 1 for other data", other[_i]);
    if (st) ck_assert_msg(has_words(stc_error(m)->message, said), "%s", said);
    ck_assert_int_eq(st ? 0 : 1, q && q->variants);
    mem_free(&m->cx, bytes, size);
    for (int k = 0; k < 2; k++)
        stc_program_free(p[k]);
    stc_program_free(q);
    machine_shut(m, &h);
}
END_TEST

/* What its plan for other data does is proved like the rest. */
START_TEST(plans_are_verified)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_program *p, *q = NULL;
    void *bytes;
    size_t size;
    const stc_decl d[] = {{0, "A", "csr", -1, NULL, 2}, {0, "B", "csr", -1, NULL, 2}};
    ck_ok(m, stc_compile(m, "y(i) = A(i,j)*B(j,k)*A(k,l)", d, 2, &p));
    program *list[] = {p->p, p->p};
    p->p->like = 1;
    program other = *p->p;
    list[1] = &other;
    other.ncode--; /* no halt */
    ck_ok(m, plans_encode(list, 2, &bytes, &size));
    ck_assert_int_eq(stc_program_decode(m, bytes, size, &q), STC_ERR_CORRUPT);
    ck_assert_msg(has_words(stc_error(m)->message, "halt"), "%s", stc_error(m)->message);
    ck_assert_ptr_null(q);
    mem_free(&m->cx, bytes, size);
    stc_program_free(p);
    machine_shut(m, &h);
}
END_TEST

Suite *suite_program(void)
{
    Suite *s = suite_create("program");
    TCase *c = tcase_create("program");
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, bytes_read_back, 0, SAMPLES);
    tcase_add_loop_test(c, text_reads_back, 0, SAMPLES);
    tcase_add_loop_test(c, damage, 0, SAMPLES);
    tcase_add_loop_test(c, texts_cut_up, 0, SAMPLES);
    tcase_add_loop_test(c, stages, 0, SAMPLES);
    tcase_add_loop_test(c, files, 0, SAMPLES);
    tcase_add_loop_test(c, plans_have_the_same_slots, 0, 7);
    tcase_add_test(c, plans_are_verified);
    suite_add_tcase(s, c);
    return s;
}
