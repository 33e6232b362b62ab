/* check_terms.c: sums of products whose factors are scalars and lines of dense operands
 * (cascade_terms.c): each element type, lines of any width, factors of every sort, into
 * results and workspaces; lines of another type than the sums; and lines some of which
 * aren't there. They give what base operations give, to the bit. */
#include "../formats/base/types.h"
#include "../vm/fn/functions.h"
#include "check.h"
#include <stdlib.h>
#include <string.h>

enum { ROWS = 13, INNER = 17 };

/* A is sparse over i and j; X, Z and the result have lines over k. */
static const struct statement {
    const char *text, *a, *x;
    bool lines, real; /* it says that it runs so; only of types that aren't complex */
    const char *r;    /* the result's format; NULL: dense                           */
    bool narrow;      /* X has a type that goes into that of the sums               */
} statements[] = {
    {"R(i,k) = A(i,j) * X(j,k)", "csc", "dense", true, false, NULL, false},
    {"R(i,k) = X(j,k) * A(i,j)", "coo", "dense", true, false, NULL, false},
    {"R(i,k) = A(i,j) * X(j,k)", "csr", "dense", true, false, NULL, false},
    {"R(i,k) = A(i,j) * X(j,k)", "csr", "dense", true, false, NULL, true},
    {"R(i,k) = A(i,j) * v(i) * X(j,k)", "dcsr", "dense", true, false,
     "(i,j) -> (i : compressed, j : dense)", false},
    {"R(i,k) = A(i,j) * X(j,k) * Z(i,k)", "csr", "dense", true, true, NULL, false},
    {"R(i,k) = A(i,j) * X(j,k)", "csr", "(i,j) -> (i : hashed, j : dense)", false, false,
     NULL, false},
    {"R(i,k) = A(i,j) * X(j,k) * Z(j,k)", "csr", "dense", true, true, "csr", false},
    {"R(i,k) = A(i,j) * conj(X(j,k)) * Z(j,k)", "csr", "dense", false, false, "csr", false},
    {"R(i,k) = A(i,j) * X(j,k)", "csc", "dense", true, false, NULL, true},
    {"R(i,k) = A(i,j) * X(j,k) * Z(j,k)", "csr", "dense", true, true, "csr", true},
    {"R(i,k) = A(i,j) * X(j,k) * Z(j,k)", "csc", "dense", true, true, NULL, false},
    {"R(i,k) = A(i,j) * X(j,k) * A(i,j) * v(j) * Z(i,k)", "csc", "dense", true, true, NULL,
     false},
    {"R(i,k) = conj(A(i,j) * v(i)) * X(j,k)", "csr", "dense", true, false, NULL, false},
    {"R(i,k) = A(i,j) * conj(X(j,k))", "csc", "dense", false, false, NULL, false},
    {"R(i,k) = A(i,j) * X(j,k)", "csc", "(i,j) -> (i : compressed, j : dense)", false,
     false, NULL, false},
    {"R(i,k) = A(i,j) * X(j,k)", "csc", "(i,j) -> (i : hashed, j : dense)", false, false,
     NULL, false},
};
static const int widths[] = {1, 2, 3, 4, 8, 9, 31, 32, 65, 150};
enum {
    STATEMENTS = sizeof statements / sizeof *statements,
    WIDTHS = sizeof widths / sizeof *widths
};

/* Integers of any bits, so that sums wrap; small ones else: no sum of those is rounded.
 * Some complex ones are infinite, which products that are nan by the formula are made of.
 */
static void put(stc_type t, void *vals, int64_t k, uint64_t dice)
{
    const vclass cls = type_class(t);
    value v = {.u64 = dice * 0x9e3779b97f4a7c15u};
    if (cls != CLASS_I64 && cls != CLASS_U64)
        v = class_convert(cls, CLASS_I64, (value){.i64 = (int64_t)(dice % 7) - 3});
    if (cls == CLASS_C64)
        v.c64 = __builtin_complex(dice % 61 ? 2.0f : INFINITY, crealf(v.c64));
    if (cls == CLASS_C128)
        v.c128 = __builtin_complex(dice % 61 ? 2.0 : INFINITY, creal(v.c128));
    type_store(t, vals, k, v);
}

/* Every row of X that isn't a multiple of 3 has something if `how` is sparse. */
static stc_tensor *operand(stc_machine *m, const char *how, stc_type t, int order,
                           int64_t rows, int64_t columns, int every)
{
    const int64_t shape[] = {rows, columns}, most = rows * columns;
    int64_t *coords = calloc((size_t)(most * 2), sizeof *coords), n = 0;
    char *vals = calloc((size_t)most, sizeof(value));
    for (int64_t k = 0; k < most; k++) {
        const uint64_t dice = (uint64_t)(k + order + every) * 0x9e3779b97f4a7c15u >> 33;
        if (every == 2 ? dice % 2 : every == 3 && k / columns % 3 == 0) continue;
        put(t, vals, n, dice);
        coords[n++] = k;
    }
    int64_t *split = calloc((size_t)(n * order + 1), sizeof *split);
    for (int64_t k = 0; k < n; k++) {
        split[k] = order == 1 ? coords[k] : coords[k] / columns;
        if (order == 2) split[n + k] = coords[k] % columns;
    }
    stc_tensor *out = NULL;
    ck_ok(m, stc_tensor_from_coords(m, how, t, order, shape, NULL, n, split, vals, &out));
    free(coords);
    free(split);
    free(vals);
    return out;
}

/* A sum of bool goes into no bool. */
static stc_type summed(stc_type t)
{
    return t == STC_BOOL ? STC_I64 : t;
}

/* A type that has other elements, all of which are in t, or would wrap alike. */
static stc_type narrower(stc_type t)
{
    static const stc_type to[CLASS_COUNT] = {
        [CLASS_I64] = STC_I8,  [CLASS_U64] = STC_U16, [CLASS_F32] = STC_I8,
        [CLASS_F64] = STC_F32, [CLASS_C64] = STC_F32, [CLASS_C128] = STC_I32};
    return t == STC_BOOL ? t : to[type_class(t)];
}

typedef enum way { BASE, FAST, PLAIN } way;

/* The result's values, and whether its loops run by lines. */
static void *run(const struct statement *s, stc_type t, int width, way how, bool *lines)
{
    static const char *const names[] = {"A", "X", "Z", "v"};
    heap h;
    stc_machine *m = machine_open(&h, how == BASE);
    if (how == PLAIN) machine_plain(m);
    const stc_type of_x = s->narrow ? narrower(t) : t;
    const stc_decl d[] = {{0, "A", s->a, t, NULL, -1},
                          {0, "X", s->x, of_x, NULL, -1},
                          {0, "Z", "dense", t, NULL, -1},
                          {0, "v", "dense", t, NULL, -1},
                          {0, "R", s->r ? s->r : "dense", summed(t), NULL, -1}};
    const int64_t inner = strstr(s->text, "Z(i") ? ROWS : INNER;
    stc_tensor *in[] = {
        operand(m, s->a, t, 2, ROWS, INNER, 2),
        operand(m, s->x, of_x, 2, INNER, width, strcmp(s->x, "dense") ? 3 : 1),
        operand(m, "dense", t, 2, inner, width, 1),
        operand(m, "dense", t, 1, strstr(s->text, "v(i") ? ROWS : INNER, 1, 1)};
    stc_program *p;
    const stc_status st = stc_compile(m, s->text, d, 5, &p);
    ck_assert_msg(st == STC_OK, "%s: %s", s->text, stc_error(m)->message);
    for (int k = 0; k < 4; k++) {
        char name[] = {names[k][0], '(', 0};
        if (strstr(s->text, name)) ck_ok(m, stc_bind(p, names[k], in[k]));
    }
    const stc_tensor *got;
    char *text;
    ck_ok(m, stc_run(p));
    ck_ok(m, stc_result(p, "R", &got));
    ck_ok(m, stc_program_explain(p, "code", &text));
    *lines = strstr(text, ", a line at once") != NULL;
    void *vals = calloc((size_t)ROWS * (size_t)width, sizeof(value));
    ck_ok(m, stc_tensor_to_dense(got, vals));
    stc_text_free(m, text);
    stc_program_free(p);
    for (int k = 0; k < 4; k++)
        stc_tensor_free(in[k]);
    machine_shut(m, &h);
    return vals;
}

START_TEST(sums_of_lines)
{
    const struct statement *s = &statements[_i % STATEMENTS];
    const stc_type t = (stc_type)(_i / STATEMENTS);
    const bool pairs = type_class(t) >= CLASS_C64;
    for (int w = 0; w < WIDTHS; w++) {
        bool base, fast, plain;
        const size_t bytes = (size_t)(ROWS * widths[w]) * type_size(summed(t));
        char *want = run(s, t, widths[w], BASE, &base);
        char *got = run(s, t, widths[w], FAST, &fast);
        char *other = run(s, t, widths[w], PLAIN, &plain);
        ck_assert(!base && fast == plain);
        const bool exact = !s->narrow || class_type(type_class(t)) == t;
        if (s->lines && exact && !(s->real && pairs) && t != STC_BOOL)
            ck_assert_msg(fast, "%s of %s: not by lines", s->text, type_name(t));
        for (size_t k = 0; k < bytes; k += type_size(summed(t)))
            ck_assert_msg(!memcmp(want + k, got + k, type_size(summed(t))) &&
                              !memcmp(want + k, other + k, type_size(summed(t))),
                          "%s of %s, %d wide: element %zu", s->text, type_name(t),
                          widths[w], k / type_size(summed(t)));
        free(want);
        free(got);
        free(other);
    }
}
END_TEST

/* An operand that is known in the loop of lines, of a level that may repeat coordinates,
 * stands at its lane's place: lines have no rows to say which. (Before, rows that nobody
 * had written were read; seen where memory is checked.) */
START_TEST(known_operands)
{
    const char *const script =
        "format twice = (i,j) -> (i : dense, j : compressed(nonunique))\n"
        "tensor A twice f64 [9,9] = { (0,0): 1, (0,4): 3, (2,1): 5, (3,8): 8, (7,0): 9 }\n"
        "tensor D dense f64 [9,9,12] = 1\n"
        "w(i) = sum(j,k: max(A(j,k), D(j,k,i)))\n";
    for (int k = 0; k < 2; k++) {
        heap h;
        stc_machine *m = machine_open(&h, k > 0);
        stc_session *s;
        const stc_tensor *w;
        const void *values;
        int64_t n;
        ck_ok(m, stc_session_open(m, &s));
        ck_ok(m, stc_session_exec(s, script, "test"));
        ck_ok(m, stc_session_get(s, "w", &w));
        ck_ok(m, stc_tensor_values(w, &values, &n));
        ck_assert_int_eq(n, 12);
        for (int64_t i = 0; i < n; i++)
            ck_assert_double_eq(((const double *)values)[i], 81 + 2 + 4 + 7 + 8);
        stc_session_close(s);
        machine_shut(m, &h);
    }
}
END_TEST

/* A statement that is compiled without data, and run with what a session has of that. */
typedef struct apart {
    stc_machine *m;
    stc_session *s;
    stc_program *p;
} apart;

/* Opens all, and makes the tensors. */
static apart apart_of(const char *tensors, bool as_written)
{
    const stc_config config = {.as_written = as_written};
    apart x = {0};
    ck_assert_int_eq(stc_open(&config, &x.m), STC_OK);
    ck_ok(x.m, stc_session_open(x.m, &x.s));
    ck_ok(x.m, stc_session_exec(x.s, tensors, "test"));
    return x;
}

static void apart_close(apart *x)
{
    stc_program_free(x->p);
    stc_session_close(x->s);
    stc_close(x->m);
}

/* The result, which is declared last; `lent`, if it isn't NULL, is the operand before it.
 */
static const stc_tensor *apart_run(apart *x, const char *text, const stc_decl *d, int n,
                                   stc_tensor *lent)
{
    const stc_tensor *t;
    ck_ok(x->m, stc_compile(x->m, text, d, n, &x->p));
    for (int k = 0; k + 1 < n; k++) {
        const bool own = lent && k + 2 == n;
        if (!own) ck_ok(x->m, stc_session_get(x->s, d[k].name, &t));
        ck_ok(x->m, stc_bind(x->p, d[k].name, own ? lent : (stc_tensor *)t));
    }
    ck_ok(x->m, stc_run(x->p));
    ck_ok(x->m, stc_result(x->p, d[n - 1].name, &t));
    return t;
}

/* A workspace's new line begins with the identity of what it is added by. Where another
 * term has gone through part of a row, the rest of that gets its fill. */
static const struct begun {
    const char *tensors, *text;
    stc_decl d[5];
    int n;
    int64_t shape[2];
} begun[] = {
    {"tensor D sd:0,1 f64 [1,6] = { (0,2): 1 }\n"
     "tensor F coo f64 [1,3]\ntensor H coo f64 [1,1,4,1]\n",
     "y(j,k) = min(p, q: D(p,i) + (H(p,p,j,k) + F(p,q)))",
     {{0, "D", "sd:0,1", STC_F64, NULL, -1},
      {0, "F", "coo", STC_F64, NULL, -1},
      {0, "H", "coo", STC_F64, NULL, -1},
      {0, "y", "dense", STC_F64, NULL, -1}},
     4,
     {4, 1}},
    {"tensor A csr f64 [300,300] = random(density=0.01, seed=1)\n"
     "tensor B dense f64 [300] = 1\ntensor C coo f64 [300,300,5] = { (3,3,3): 0 }\n"
     "tensor D csr f64 [300,5]\n",
     "y(j,k) = A(j,k) + (B(k) - (C(j,k,i))) + D(j,i)",
     {{0, "A", "csr", STC_F64, NULL, -1},
      {0, "B", "dense", STC_F64, NULL, -1},
      {0, "C", "coo", STC_F64, NULL, -1},
      {0, "D", "csr", STC_F64, NULL, -1},
      {0, "y", "dense", STC_F64, NULL, -1}},
     5,
     {300, 300}},
};

START_TEST(lines_begun)
{
    const struct begun *x = &begun[_i];
    apart a = apart_of(x->tensors, _i == 1);
    const stc_tensor *y = apart_run(&a, x->text, x->d, x->n, NULL);
    for (int64_t k = 0; k < x->shape[0] * x->shape[1]; k++) {
        const int64_t at[] = {k / x->shape[1], k % x->shape[1]};
        stc_value v;
        ck_ok(a.m, stc_tensor_get(y, at, &v));
        ck_assert_double_ge(v.f, 1);
    }
    apart_close(&a);
}
END_TEST

/* What a constant annihilates has no terms, also where it is computed once for all. */
START_TEST(terms_of_nothing)
{
    const stc_decl d[] = {{0, "A", "dense", STC_I16, NULL, -1},
                          {0, "D", "csr", STC_I16, NULL, -1},
                          {0, "E", "dense", STC_I64, NULL, -1},
                          {0, "y", "coo", STC_I8, NULL, -1}};
    apart a = apart_of("tensor A dense i16 [2]\ntensor D csr i16 [4,3]\n"
                       "tensor E dense i64 [4] = 5\n",
                       false);
    const stc_tensor *y =
        apart_run(&a, "y(k,l,j) = A(1-j) * D(k,i) + 0 * E(l)", d, 4, NULL);
    ck_assert_int_eq(stc_tensor_stored(y), 0);
    apart_close(&a);
}
END_TEST

/* All bits of a u32 where nothing is reduced, also as a step, which has a wider type. */
START_TEST(bits_of_nothing)
{
    const stc_decl d[] = {{0, "A", "dense", STC_U32, NULL, -1},
                          {0, "C", "dense", STC_U8, NULL, -1},
                          {0, "y", "dense", STC_U64, NULL, -1}};
    apart a = apart_of("tensor A dense u32 [] = 0\ntensor C dense u8 [0,1]\n", false);
    const stc_tensor *y =
        apart_run(&a, "y = 1 + bitand(p, q in 0:2: A | C(p,j))", d, 3, NULL);
    stc_value v;
    ck_ok(a.m, stc_tensor_get(y, NULL, &v));
    ck_assert(v.u == UINT64_C(1) << 32);
    apart_close(&a);
}
END_TEST

/* A factor that stands outside of two loops is the sum of all that is stored at its place.
 */
START_TEST(duplicates_around)
{
    const stc_decl d[] = {{0, "A", "csf", STC_F32, NULL, -1},
                          {0, "B", "(i) -> (i : compressed(nonunique))", STC_F32, NULL, -1},
                          {0, "y", "svec", STC_F32, NULL, -1}};
    int32_t bounds[] = {0, 3}, at[] = {1, 2, 2};
    float vals[] = {5, 3, 4};
    const int64_t n = 3;
    const void *got;
    int64_t ngot;
    stc_tensor *b;
    apart a = apart_of("tensor A csf f32 [3,2,2] = { (2,1,0): 2, (2,1,1): 3 }\n", false);
    ck_ok(a.m, stc_tensor_new(a.m, d[1].format, STC_F32, 1, &n, NULL, &b));
    ck_ok(a.m, stc_tensor_lend(b, 0, STC_POS, (stc_array){bounds, 2, 4, 0}));
    ck_ok(a.m, stc_tensor_lend(b, 0, STC_CRD, (stc_array){at, 3, 4, 0}));
    ck_ok(a.m, stc_tensor_lend_values(b, vals, 3));
    const stc_tensor *y = apart_run(&a, "y(k) = A(i,j,k) * B(i)", d, 3, b);
    ck_ok(a.m, stc_tensor_values(y, &got, &ngot));
    ck_assert_int_eq(ngot, 2);
    ck_assert_float_eq(((const float *)got)[0], 14);
    ck_assert_float_eq(((const float *)got)[1], 21);
    stc_program_free(a.p);
    a.p = NULL;
    stc_tensor_free(b);
    apart_close(&a);
}
END_TEST

/* Two levels of a result may have their coordinates from one loop. */
START_TEST(levels_of_one_loop)
{
    double want[45] = {[3 * 3 + 1] = 2, [30 + 4 * 3 + 2] = 1};
    expect_dense("tensor A dense f32 [3,5,3] = { (0,3,1): 2, (2,4,2): 1 }\n"
                 "format f = (i,j,k) -> (i : compressed, k : dense, j : dense)\n"
                 "tensor y f f32\ny(i,j,k) = A(i,j,k)\n",
                 "y", want, 45);
    double one[15] = {[14] = 1};
    expect_dense("tensor A dense f32 [3,5,1] = { (2,4,0): 1 }\n"
                 "format f = (i,j,k) -> (i : compressed, j : dense, k : dense)\n"
                 "tensor y f f32\ny(i,k,j) = A(i,j,k)\n",
                 "y", one, 15);
}
END_TEST

/* A row that the outermost loop has once, below loops that are lines' lanes. */
START_TEST(row_of_all_loops)
{
    double want[6] = {[3] = 40, 80, 120};
    expect_dense("tensor t dense f64 [2,3] = [[1,2,3],[10,20,30]]\n"
                 "tensor d dense f64 [2,3] = 1\ntensor e dense f64 [2,3] = 0\n"
                 "e(1,i) += 2 * t(1,i) * d(k,i)\n",
                 "e", want, 6);
}
END_TEST

Suite *suite_terms(void)
{
    Suite *s = suite_create("terms");
    TCase *c = tcase_create("terms");
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, sums_of_lines, 0, STATEMENTS * TYPE_COUNT);
    tcase_add_test(c, known_operands);
    tcase_add_loop_test(c, lines_begun, 0, 2);
    tcase_add_test(c, terms_of_nothing);
    tcase_add_test(c, bits_of_nothing);
    tcase_add_test(c, duplicates_around);
    tcase_add_test(c, levels_of_one_loop);
    tcase_add_test(c, row_of_all_loops);
    suite_add_tcase(s, c);
    return s;
}
