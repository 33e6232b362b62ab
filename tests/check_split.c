/* check_split.c: programs in parts: what a split says of operands and results, what it
 * refuses and why, and that parts give what the whole does (as the fuzzer looks at for
 * statements of all kinds).
 */
#include "check.h"
#include "../formats/base/types.h"
#include "in_parts.h"
#include "near.h"
#include <stdio.h>
#include <string.h>

enum { ROWS = 13, OPERANDS = 5 };

static stc_program *compile(stc_machine *m, const char *text, const char *formats,
                            stc_type type)
{
    static char names[OPERANDS][8], fmt[OPERANDS][64];
    stc_decl d[OPERANDS];
    int n = 0, used = 0;
    const char *at = formats;
    while (sscanf(at, " %7[^=]=%63s%n", names[n], fmt[n], &used) == 2) {
        d[n] = (stc_decl){0, names[n], fmt[n], (int)type, NULL, -1};
        at += used;
        n++;
    }
    stc_program *p = NULL;
    ck_ok(m, stc_compile(m, text, d, n, &p));
    return p;
}

static void describe(const stc_split *s, int n, char *out, size_t size)
{
    out[0] = 0;
    for (int k = 0; k < n; k++) {
        char one[96];
        if (s[k].how == STC_SPLIT_WHOLE && s[k].along)
            snprintf(one, sizeof one, "%s %d along %s %d%s; ", s[k].name, s[k].mode,
                     s[k].along, s[k].along_mode, s[k].coef ? " and own" : "");
        else if (s[k].how == STC_SPLIT_WHOLE)
            snprintf(one, sizeof one, "%s whole; ", s[k].name);
        else if (s[k].how == STC_SPLIT_REDUCE)
            snprintf(one, sizeof one, "%s %s; ", s[k].name, s[k].fn);
        else
            snprintf(one, sizeof one, "%s %d*%d%+d%+d; ", s[k].name, s[k].mode,
                     (int)s[k].coef, (int)s[k].before, (int)s[k].after);
        strncat(out, one, size - strlen(out) - 1);
    }
}

/* A text, formats, the tensor and mode that have the index, and what a part needs and
 * makes: MODE*COEF BEFORE AFTER, `whole`, or what reduces it. */
static const struct {
    const char *text, *formats, *name;
    int mode;
    const char *split;
} splits[] = {
    {"y(i) = A(i,j) * x(j)", "A=csr x=dense", "A", 0,
     "A 0*1+0+0; x 0 along A 1; y 0*1+0+0; "},
    {"y(i) = A(i,j) * x(j)", "A=csr x=dense", "y", 0,
     "A 0*1+0+0; x 0 along A 1; y 0*1+0+0; "},
    {"y(i) = A(i,j) * x(j)", "A=csr x=dense", "A", 1, "A 1*1+0+0; x 0*1+0+0; y add; "},
    {"y(i) = A(i,j) * x(j)", "A=csc x=dense", "x", 0, "A 1*1+0+0; x 0*1+0+0; y add; "},
    {"y(i) = A(i,j) * x(j)", "A=csc x=dense", "y", 0, "A 0*1+0+0; x whole; y 0*1+0+0; "},
    {"y(i) = A(i,j) * x(j)", "A=coo x=dense", "A", 0,
     "A 0*1+0+0; x 0 along A 1; y 0*1+0+0; "},
    {"y(i) = A(i,j) * x(j)", "A=bcsr(4,4) x=dense", "A", 0,
     "A 0*4+0+3; x whole; y 0*4+0+3; "},
    /* by position: of the tensor, not of the one whose number the level has */
    {"y(i) = x(j) * z(i) * A(i,j) with pos(j,p,A(i,j)), split(p,p0,p1,4)",
     "x=dense z=dense A=csr", "A", 0, "x whole; z 0*1+0+0; A whole; y 0*1+0+0; "},
    {"y(i) = A(i,j) * x(j) + x(i)", "A=csr x=dense", "A", 0,
     "A 0*1+0+0; x 0 along A 1 and own; y 0*1+0+0; "},
    {"y(i) = 2 * x(i+1) + x(i+3)", "x=dense", "y", 0, "x 0*1+1+3; y 0*1+0+0; "},
    {"C(i,j) = A(i,k) * B(k,j)", "A=csr B=csr", "A", 0,
     "A 0*1+0+0; B 0 along A 1; C 0*1+0+0; "},
    {"C(i,j) = A(i,k) * B(k,j)", "A=csr B=csr", "B", 1, "A whole; B 1*1+0+0; C 1*1+0+0; "},
    {"D(i,j) = A(i,j) + B(j,i)", "A=csr B=csr", "A", 0,
     "A 0*1+0+0; B 1*1+0+0; D 0*1+0+0; "},
    {"s = x(i) * y(i)", "x=dense y=dense", "x", 0, "x 0*1+0+0; y 0*1+0+0; s add; "},
    {"s = max(i: x(i))", "x=dense", "x", 0, "x 0*1+0+0; s max; "},
    {"M(i,r) = T(i,j,k) * B(j,r) * C(k,r)", "T=csf B=dense C=dense", "T", 0,
     "T 0*1+0+0; B 0 along T 1; C 0 along T 2; M 0*1+0+0; "},
    {"t(i) = A(i,j) * x(j)\ns = t(i) * t(i)", "A=csr x=dense", "A", 0,
     "A 0*1+0+0; x 0 along A 1; t 0*1+0+0; s add; "},
    {"y(j) += A(i,j)", "A=csr y=dense", "A", 1, "A 1*1+0+0; y 0*1+0+0; y 0*1+0+0; "},
    {"y(i) = A(i,j) * x(j)", "A=dcsr x=dense", "A", 0,
     "A 0*1+0+0; x 0 along A 1; y 0*1+0+0; "},
    /* what r was is read whole, and what it becomes is cut */
    {"r(j) = 3 * P(j,i) * r(i) + 1", "P=csr r=dense", "P", 0,
     "P 0*1+0+0; r 0 along P 1; r 0*1+0+0; "},
    {"r(j) = 3 * P(j,i) * r(i) + 1", "P=csc r=dense", "P", 0,
     "P 0*1+0+0; r whole; r 0*1+0+0; "},
    {"C(i,j) = C(i,k) * C(k,j)", "C=csr", "C", 0, "C whole; C 0*1+0+0; "},
    /* B is walked from elsewhere on, which tells nothing of A's coordinates */
    {"y(k) = A(i(0:12),k) * B(i(1:13)) + C(j,k)", "A=dense B=svec C=dense", "C", 1,
     "A 1*1+0+0; B whole; C 1*1+0+0; y 0*1+0+0; "},
    /* x is read where B has no entry */
    {"y(i) = (A(i,j) + B(i,j)) * x(j)", "A=csr B=csr x=dense", "A", 0,
     "A 0*1+0+0; B 0*1+0+0; x whole; y 0*1+0+0; "},
    /* made by two loops, of which one has the index further in */
    {"y(i) = A(i,j) * x(j) + x(i)", "A=csc x=dense", "A", 0,
     "A 0*1+0+0; x whole; y 0*1+0+0; "},
    {"y(i) = b(i) + A(i,j) * x(j)", "A=csc x=dense b=dense", "y", 0,
     "b 0*1+0+0; A 0*1+0+0; x whole; y 0*1+0+0; "},
    /* converted as a whole, and its modes numbered anew */
    {"C(j,i) = A(i,j)\ny(j) = C(j,i) * x(i)", "A=csr C=csr x=dense", "y", 0,
     "A whole; x whole; C whole; y 0*1+0+0; "},
    {"C(i,j) = A(i,j) * B(i,j)\nD(j,i) = C(i,j)", "A=csr B=csr C=csr D=csr", "A", 0,
     "A 0*1+0+0; B 0*1+0+0; C 0*1+0+0; D 1*1+0+0; "},
    /* elements meet as registers would: of maxima no more than operands have, of sums the
     * low bits */
    {"tensor x dense i8; tensor s dense i8; s = max(i: x(i))", "", "x", 0,
     "x 0*1+0+0; s max; "},
    {"tensor x dense i8; tensor s dense i16; s = max(i, j: max(x(i), x(j)))", "", "x", 0,
     "x whole; s max; "},
    {"tensor x dense i8; tensor s dense bool; s = bitor(i: x(i) > 1)", "", "x", 0,
     "x 0*1+0+0; s bitor; "},
    {"tensor x dense i16; tensor s dense i8; s = x(i) * x(i)", "", "x", 0,
     "x 0*1+0+0; s add; "},
};

START_TEST(told)
{
    const int k = _i;
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_program *p = compile(m, splits[k].text, splits[k].formats, STC_F64);
    stc_split rows[8];
    char text[400];
    int n = 0;
    ck_ok(m, stc_program_split(p, splits[k].name, splits[k].mode, rows, 8, &n));
    describe(rows, n, text, sizeof text);
    ck_assert_str_eq(text, splits[k].split);
    stc_program_free(p);
    machine_shut(m, &h);
}
END_TEST

static const struct {
    const char *text, *formats, *name;
    int mode;
    const char *why;
} refused[] = {
    {"y(i) = A(i,j) * x(j) + b(i)", "A=csr x=dense b=dense", "x", 0, "before all of it"},
    /* each part would add all of x */
    {"y(i) = A(i,j) * x(j) + x(i) with as_written", "A=csc x=dense", "A", 1,
     "in several ways"},
    {"t(i) = A(i,j) * x(j)\ny(i) = A(i,j) * t(j)", "A=csr x=dense", "x", 0,
     "parts of a sum"},
    {"t(i) = A(i,j) * x(j)\nz(i) = B(i,j) * t(j)\ns = t(i) * z(i)", "A=csr B=csr x=dense",
     "A", 0, "what parts sum up is needed by them"},
    /* whether a row is there depends on all of its entries */
    {"y(i) = A(i,j) * x(j)", "A=dcsr x=dense", "A", 1, "before all of it"},
    {"y(j) += A(i,j)", "A=csr y=dense", "A", 0, "merged with what was there"},
    {"y(i) = sqrt(sum(j: A(i,j) * x(j)))", "A=csr x=dense", "x", 0, "before all of it"},
    /* k goes as far as i says */
    {"y(i) = b(i) + sum(k: x(k) * (k < i))", "x=dense b=dense", "x", 0,
     "found out on the way"},
    /* what is in the diagonals and equals the fill is padding to those who read them */
    {"tensor A dense i8 fill 1; tensor y dia i64; y(i,k) = A(j,k,i,j)\n"
     "  with split(j,s2,s1,2), reorder(i,s1,k,s2), workspace(dense, 16)",
     "", "A", 0, "the fill would be reduced"},
    {"tensor A dense i64 fill 1; tensor y dia i64; y(i,k) = min(j: A(j,k,i))", "", "A", 0,
     "the fill would be reduced"},
    /* rows are stored with all of their elements: fills, but in the part that has them */
    {"tensor A csr i64; tensor B csr i64\n"
     "tensor y (i,j) -> (i : compressed, j : dense) i64 fill 1; y(i,j) = A(i,k) * B(k,j)",
     "", "A", 1, "the fill would be reduced"},
    /* a part without a term has the least i64, which is no i16; and sums are cut late */
    {"tensor A dense bool; tensor C dense bool; tensor y dense i16\n"
     "y(i,j) = min(k: A(k) + C(j,i,k))",
     "", "A", 0, "cut to the type"},
    {"tensor A dense i8; tensor y coo i8; y(i,j) = max(k: A(i,k) + A(j,k))", "", "A", 1,
     "cut to the type"},
    {"tensor x dense i16; tensor s dense i8; s = max(i: x(i))", "", "x", 0,
     "cut to the type"},
};

START_TEST(refusals)
{
    const int k = _i;
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_program *p = NULL, *part = NULL;
    p = compile(m, refused[k].text, refused[k].formats, STC_F64);
    stc_split rows[8] = {{0}};
    int n = -1;
    ck_assert_int_eq(stc_program_split(p, refused[k].name, refused[k].mode, rows, 8, &n),
                     STC_ERR_PROGRAM);
    ck_assert_msg(strstr(stc_error(m)->message, refused[k].why), "%s",
                  stc_error(m)->message);
    ck_assert_int_eq(n, -1);
    ck_assert_ptr_null(rows[0].name);
    ck_assert_int_eq(stc_program_part(p, refused[k].name, refused[k].mode, 0, 1, &part),
                     STC_ERR_PROGRAM);
    ck_assert_ptr_null(part);
    stc_program_free(p);
    machine_shut(m, &h);
}
END_TEST

/* Bytecode that the compiler doesn't write, split by A's rows (near.h has what it names).
 */
static const struct {
    const char *code, *why;
} near_splits[] = {
    {".code / begin t2 / const v0, k4 / loop i0, m0, g0 / at c1, t2, 0, root, i0 / store "
     "t2, c1, v0 / end / finish t2 / halt / ",
     NULL},
    /* the other branch has the place from before */
    {".code / begin t2 / const v0, k4 / loop i0, m0, g0 / iconst i3, k2 / ivalue v1, i0 / "
     "at "
     "c1, t2, 0, root, i3 / if v1 / at c1, t2, 0, root, i0 / store t2, c1, v0 / else / "
     "store t2, c1, v0 / endif / end / finish t2 / halt / ",
     "several write to the same places"},
};

START_TEST(near)
{
    const int k = _i;
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_program *p = NULL;
    char text[4096];
    int n = 0;
    snprintf(text, sizeof text, "%s%s", HEAD, near_splits[k].code);
    for (char *at = text; *at; at++)
        if (*at == '/') *at = '\n';
    ck_ok(m, stc_program_assemble(m, text, "near", &p));
    const stc_status status = stc_program_split(p, "A", 0, NULL, 0, &n);
    if (near_splits[k].why) {
        ck_assert_int_eq(status, STC_ERR_PROGRAM);
        ck_assert_msg(strstr(stc_error(m)->message, near_splits[k].why), "%s",
                      stc_error(m)->message);
    } else {
        ck_ok(m, status);
    }
    stc_program_free(p);
    machine_shut(m, &h);
}
END_TEST

START_TEST(arguments)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_program *p = compile(m, "y(i) = A(i,j)", "A=csr", STC_F64), *part = NULL;
    stc_split rows[1];
    int n = 0;
    int64_t bound[3], count[2];
    ck_assert_int_eq(stc_program_split(p, "B", 0, rows, 1, &n), STC_ERR_ARGUMENT);
    ck_assert_int_eq(stc_program_split(p, "A", 2, rows, 1, &n), STC_ERR_ARGUMENT);
    ck_assert_int_eq(stc_program_split(p, "A", -1, rows, 1, &n), STC_ERR_ARGUMENT);
    ck_assert_int_eq(stc_program_split(p, NULL, 0, rows, 1, &n), STC_ERR_ARGUMENT);
    ck_ok(m, stc_program_split(p, "A", 0, NULL, 0, &n));
    ck_assert_int_eq(n, 2);
    ck_assert_int_eq(stc_program_part(p, "A", 0, 2, 1, &part), STC_ERR_ARGUMENT);
    ck_assert_int_eq(stc_program_part(p, "A", 0, -1, 1, &part), STC_ERR_ARGUMENT);
    const int64_t shape[2] = {6, 4}, coords[] = {0, 0, 0, 4, 5, 0, 1, 2, 0, 3};
    const double values[5] = {1, 1, 1, 1, 1};
    stc_tensor *A;
    ck_ok(m,
          stc_tensor_from_coords(m, "csr", STC_F64, 2, shape, NULL, 5, coords, values, &A));
    ck_ok(m, stc_tensor_bounds(A, 0, 2, 1, bound));
    ck_assert_int_eq(bound[1], 1); /* three of five entries are in row 0 */
    ck_assert_int_eq(bound[2], 6);
    ck_ok(m, stc_tensor_counts(A, 0, 2, bound, count));
    ck_assert_int_eq(count[0], 3);
    ck_assert_int_eq(count[1], 2);
    ck_ok(m, stc_tensor_bounds(A, 0, 2, 4, bound));
    ck_assert_int_eq(bound[1] % 4, 0);
    ck_assert_int_eq(stc_tensor_bounds(A, 2, 2, 1, bound), STC_ERR_ARGUMENT);
    ck_assert_int_eq(stc_tensor_bounds(A, 0, 0, 1, bound), STC_ERR_ARGUMENT);
    ck_ok(m, stc_tensor_bounds(A, 0, 2, INT64_MAX, bound)); /* one block */
    ck_assert_int_eq(bound[2], 6);
    stc_tensor_free(A);
    const int64_t most[1] = {(INT64_C(1) << 61) - 1};
    ck_ok(m, stc_tensor_new(m, "svec", STC_F64, 1, most, NULL, &A));
    ck_assert_int_eq(stc_tensor_bounds(A, 0, 2, 1, bound), STC_ERR_OVERFLOW);
    stc_tensor_free(A);
    stc_program_free(p);
    machine_shut(m, &h);
}
END_TEST

/* ---- what parts make ------------------------------------------------------------ */

typedef struct operands {
    stc_program *p;
    stc_tensor *t[OPERANDS];
    const char *name[OPERANDS];
    int n;
} operands;

static stc_tensor *operand(void *context, const char *name)
{
    operands *o = context;
    for (int k = 0; k < o->n; k++)
        if (strcmp(o->name[k], name) == 0) return o->t[k];
    return NULL;
}

static void fill(stc_machine *m, operands *o)
{
    const int64_t shape[4] = {ROWS, ROWS, ROWS, ROWS};
    bool result;
    const char *name;
    for (int k = 0; (name = stc_program_name(o->p, k, &result)); k++) {
        stc_decl d = {.size = sizeof d};
        stc_builder *b;
        if (result) continue;
        ck_ok(m, stc_program_decl(o->p, name, &d));
        ck_ok(m, stc_builder_open(m, d.format, (stc_type)d.type, d.order, shape, NULL, NULL,
                                  &b));
        for (int e = 0; e < ROWS * d.order + 2; e++) {
            int64_t at[4];
            for (int j = 0; j < d.order; j++)
                at[j] = (e * (5 + 2 * j + k) + e * e * j) % ROWS;
            char one[16];
            type_store((stc_type)d.type, one, 0, (value){.i64 = e % 7 - 3});
            ck_ok(m, stc_builder_put(b, at, one));
        }
        o->name[o->n] = name;
        ck_ok(m, stc_builder_finish(b, &o->t[o->n]));
        ck_ok(m, stc_bind(o->p, name, o->t[o->n++]));
        stc_builder_free(b);
    }
}

/* All elements, and which are stored. */
static void same(stc_machine *m, const stc_tensor *a, const stc_tensor *b, const char *what)
{
    const stc_type type = stc_tensor_type(a);
    static int64_t x[4096], y[4096];
    int64_t n = 1;
    for (int k = 0; k < stc_tensor_order(a); k++)
        n *= stc_tensor_shape(a)[k];
    ck_ok(m, stc_tensor_to_dense(a, x));
    ck_ok(m, stc_tensor_to_dense(b, y));
    for (int64_t k = 0; k < n; k++) {
        const int64_t u = type_load(type, x, k).i64, v = type_load(type, y, k).i64;
        ck_assert_msg(u == v, "%s: element %lld is %lld, and in parts %lld", what,
                      (long long)k, (long long)u, (long long)v);
    }
    ck_assert_int_eq(stc_tensor_stored(a), stc_tensor_stored(b));
}

START_TEST(equal)
{
    const int k = _i;
    static const int64_t bounds[][5] = {{0, 5, 1000}, {0, 0, 2, 9, 13}, {0, 1, 2, 3, 13}};
    static const int counts[] = {2, 4, 4};
    for (int b = 0; b < 3; b++) {
        heap h;
        stc_machine *m = machine_open(&h, false);
        operands o = {.p = compile(m, splits[k].text, splits[k].formats, STC_I64)};
        bool result;
        const char *name;
        fill(m, &o);
        ck_ok(m, stc_run(o.p));
        const parts x = {o.p, splits[k].name, splits[k].mode, counts[b], bounds[b], operand,
                         &o};
        for (int j = 0; (name = stc_program_name(o.p, j, &result)); j++) {
            const stc_tensor *whole;
            stc_tensor *joined;
            if (!result) continue;
            ck_ok(m, stc_result(o.p, name, &whole));
            ck_ok(m, run_in_parts(&x, name, &joined));
            same(m, whole, joined, name);
            stc_tensor_free(joined);
        }
        stc_program_free(o.p);
        for (int j = 0; j < o.n; j++)
            stc_tensor_free(o.t[j]);
        machine_shut(m, &h);
    }
}
END_TEST

Suite *suite_split(void)
{
    enum { SPLITS = sizeof splits / sizeof *splits };
    Suite *s = suite_create("split");
    TCase *c = tcase_create("split");
    tcase_add_loop_test(c, told, 0, SPLITS);
    tcase_add_loop_test(c, refusals, 0, sizeof refused / sizeof *refused);
    tcase_add_loop_test(c, near, 0, sizeof near_splits / sizeof *near_splits);
    tcase_add_test(c, arguments);
    tcase_add_loop_test(c, equal, 0, SPLITS);
    suite_add_tcase(s, c);
    return s;
}
