/* check_small.c: modes of 0 and 1 coordinates, and of more than 2^31, fills that aren't 0,
 * all types, memory and steps that run out: in what reads and writes at computed
 * subscripts, at shifted ones, under masks, sums down columns, and slots. Each statement
 * over sparse formats gives what it gives over dense ones.
 */
#include "../src/api/api.h"
#include "check.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Upper case: tensors of the formats tried; the same in lower case: dense ones. */
static const struct {
    const char *shape, *modes, *text;
} statement[] = {
    {"[n,m]", "i,j", "Y(i,j) = A(k(i),j)"},
    {"[n,m]", "i,j", "Y(i,j) = A(i,l(j))"},
    {"[n,m]", "i,j", "Y(i,j) = A(k(i),l(j)) * 2"},
    {"[n]", "i", "Y(i) = A(i,l(j)) * Z(j)"},
    {"", "", "Y = A(k(i),l(j)) * X(i)"},
    {"[n,m]", "i,j", "Y(k(i),j) = A(i,j)"},
    {"[n,m]", "i,j", "Y(i,l(j)) = A(i,j) * 2"},
    {"[n+1,m]", "i,j", "Y(i+1,j) = A(i,j)"},
    {"[n,m+3]", "i,j", "Y(i,j+2) = A(i,j) * 3"},
    {"[n,m]", "i,j", "Y(i,j) = A(i,j) where j > i"},
    {"[n,m]", "i,j", "Y(i,j) = A(i,j) * 2 where A(i,j) != 1"},
    {"[m]", "j", "Y(j) = A(i,j)"},
    {"[m]", "j", "Y(j) = A(i,j) * X(i)"},
    {"[m]", "j", "Y(j) += A(k(i),j)"},
};
enum { STATEMENTS = sizeof statement / sizeof *statement };

static const char *const formats[][2] = {
    {"csr", "svec"},
    {"csc", "hash"},
    {"coo", "bytemap"},
    {"(i,j) -> (i : dense, j : hashed(64))", "(i) -> (i : hashed(64))"},
    {"(i,j) -> (i : hashed(nonunique), j : singleton)", "(i) -> (i : hashed(nonunique))"},
    {"(i,j) -> (j : hashed(900, nonunique), i : singleton)", "rle"},
};
enum { FORMATS = sizeof formats / sizeof *formats };

/* What they read, n by m of that type and fill; `as`: values of the type. */
static void declare(char *text, size_t size, int f, int s, int n, int m, const char *type,
                    const char *fill)
{
    const char *const to = strchr(statement[s].modes, ',') ? formats[f][0]
                           : *statement[s].modes           ? formats[f][1]
                                                           : "dense";
    snprintf(
        text, size,
        "n = %d\nm = %d\n"
        "tensor k dense i64 [n]\ntensor l dense i32 [m]\n"
        "k(i) = n - 1 - i\nl(j) = (j + 1) %% max(m, 1)\n"
        "tensor a dense %s [n,m] fill %s\ntensor x dense %s [n]\ntensor z dense %s [m]\n"
        "a(i,j) = %s(select((i + 2 * j) %% 3 == 0, (i * 5 + j) %% 4, %s))\n"
        "x(i) = %s(i %% 3)\nz(j) = %s(j %% 2)\n"
        "tensor A %s %s [n,m] fill %s\ntensor X %s %s [n]\ntensor Z %s %s [m]\n"
        "A(i,j) = a(i,j)\nX(i) = x(i)\nZ(j) = z(j)\n"
        "tensor Y %s %s %s fill %s\ntensor y dense %s %s fill %s\n",
        n, m, type, fill, type, type, type, fill, type, type, formats[f][0], type, fill,
        formats[f][1], type, formats[f][1], type, to, type, statement[s].shape, fill, type,
        statement[s].shape, fill);
}

static void lower(const char *from, char *to)
{
    do
        *to++ = (char)tolower((unsigned char)*from);
    while (*from++);
}

static void compare(char *text, size_t size, int s)
{
    char dense[100];
    const size_t at = strlen(text);
    const char *const modes = statement[s].modes;
    lower(statement[s].text, dense);
    if (*modes)
        snprintf(text + at, size - at, "%s\n%s\nwrong = sum(%s: Y(%s) != y(%s))",
                 statement[s].text, dense, modes, modes, modes);
    else
        snprintf(text + at, size - at, "%s\n%s\nwrong = Y != y", statement[s].text, dense);
}

START_TEST(few_coordinates)
{
    static const int shape[][2] = {{0, 0}, {0, 1}, {1, 0}, {0, 9},
                                   {9, 0}, {1, 1}, {1, 9}, {9, 1}};
    char text[2000];
    for (int k = 0; k < 2 * FORMATS; k++) /* each format with two shapes and both fills */
        for (int n = k / FORMATS; n < 8; n += 4) {
            const int *const at = shape[(n + 2 * (k % FORMATS)) % 8];
            declare(text, sizeof text, k % FORMATS, _i, at[0], at[1], "i64",
                    k < FORMATS ? "0" : "3");
            compare(text, sizeof text, _i);
            EXPECT(text, "wrong", 0);
        }
}
END_TEST

START_TEST(types)
{
    static const char *const type[] = {"i8",  "i16", "i32", "i64", "u8",  "u16",
                                       "u32", "u64", "f32", "f64", "c64", "c128"};
    char text[2000];
    for (size_t k = 0; k < sizeof type / sizeof *type; k++) {
        declare(text, sizeof text, (int)k % FORMATS, _i, 23, 17, type[k],
                k % 2 ? "1" : "0");
        compare(text, sizeof text, _i);
        EXPECT(text, "wrong", 0);
    }
}
END_TEST

/* Each allocation of the statement fails, and all that follow; then there is memory again.
 */
START_TEST(memory)
{
    char text[2000];
    declare(text, sizeof text, _i % FORMATS, _i, 5, 4, "f64", "0");
    statement_starves(&(tiers_case){text, statement[_i].text, NULL});
}
END_TEST

static int stored(void *context, const int64_t *coords, stc_value v)
{
    uint64_t *sum = context; /* which wraps */
    (void)coords;
    *sum = *sum * 31 + (uint64_t)v.i + 1;
    return 0;
}

/* Steps run out at each step, or after some; what was there is there still. */
START_TEST(steps)
{
    char text[2000];
    for (int f = 0; f < FORMATS && *statement[_i].shape; f++) {
        heap h;
        stc_machine *m = machine_open(&h, false);
        stc_session *in;
        const stc_tensor *y;
        uint64_t before = 0;
        ck_ok(m, stc_session_open(m, &in));
        machine_share(m, 2);
        declare(text, sizeof text, f, _i, 30, 20, "i64", "0");
        ck_ok(m, stc_session_exec(in, text, "declarations"));
        ck_ok(m, stc_session_get(in, "Y", &y));
        ck_ok(m, stc_tensor_visit(y, stored, &before));
        stc_status st = STC_ERR_STEPS;
        for (uint64_t k = 1; st; k += k / 8 + 1) {
            uint64_t after = 0;
            m->cx.max_steps = k;
            st = stc_session_exec(in, statement[_i].text, "statement");
            m->cx.max_steps = 0;
            ck_assert_msg(!st || st == STC_ERR_STEPS, "%s: %s", statement[_i].text,
                          stc_error(m)->message);
            ck_ok(m, stc_session_get(in, "Y", &y));
            ck_ok(m, stc_tensor_visit(y, stored, &after));
            ck_assert_msg(!st || before == after, "%s, %d: changed", statement[_i].text, f);
        }
        stc_session_close(in);
        machine_shut(m, &h);
    }
}
END_TEST

/* Few entries in modes of 2^31 - 1, 2^31 and far more coordinates. */
START_TEST(many_coordinates)
{
    static const int64_t n[] = {INT32_MAX, (int64_t)INT32_MAX + 1, (int64_t)1 << 42};
    char text[2000];
    for (int k = 0; k < 3; k++) {
        const long long last = n[k] - 1;
        snprintf(
            text, sizeof text,
            "tensor A dcsr f64 [%lld,%lld] = { (0,1): 1, (%lld,%lld): 2 }\n"
            "tensor B (i,j) -> (i : hashed(8, nonunique), j : hashed(4)) f64 [%lld,%lld]\n"
            "B(i,j) = A(i,j)\n"
            "tensor k dense i64 = [%lld,0,5]\ntensor x dense f64 = [3,4,5]\n"
            "tensor s (i) -> (i : hashed(4)) f64 [%lld]\ns(k(i)) += x(i)\n"
            "tensor d svec f64 [%lld]\nd(j) = A(i,j)\ntensor F dcsr f64\n"
            "C(i,j) = A(k(i),j)\nF(i,j) = A(i,j) where j > i\n"
            "r = d(j) * s(j)\nt = B(i,j) * s(i)\nu = C(i,j)\nv = F(i,j)\n"
            "y(i) = d(k(i))\nw = y(i) * x(i)\nall = r + 100 * (t + 100 * (u + 100 * (v + "
            "100 * w)))",
            last + 1, last + 1, last, last, last + 1, last + 1, last, last + 1, last + 1);
        EXPECT(text, "all", 6 + 100.0 * (10 + 100.0 * (3 + 100.0 * (1 + 100.0 * 6))));
    }
}
END_TEST

Suite *suite_small(void)
{
    Suite *s = suite_create("small");
    TCase *few = tcase_create("few"), *all = tcase_create("types"),
          *ends = tcase_create("ends");
    tcase_add_loop_test(few, few_coordinates, 0, STATEMENTS);
    tcase_add_test(few, many_coordinates);
    tcase_add_loop_test(all, types, 0, STATEMENTS);
    tcase_add_loop_test(ends, memory, 0, STATEMENTS);
    tcase_add_loop_test(ends, steps, 0, STATEMENTS);
    suite_add_tcase(s, few);
    suite_add_tcase(s, all);
    suite_add_tcase(s, ends);
    return s;
}
