/* check_columns.c: rows of runs that are reduced: the columns' sums, of a matrix, of each
 * row's own, and of rows that entries pick (vm/work/ws_runs.c), are those of elements,
 * however long runs are; and cost what there is in runs.
 */
#include "../src/api/api.h"
#include "case.h"
#include "check.h"
#include <string.h>

/* Over so many rows and columns, in stretches of so many equal elements; each length of
 * them takes another way: all by runs, elements from the first row on, from some row on. */
static const struct {
    int rows, columns, stretch;
} shapes[] = {{1, 5, 2},    {3, 1, 1},     {2, 300, 100}, {9, 300, 1},  {40, 300, 60},
              {40, 300, 9}, {64, 700, 20}, {33, 260, 17}, {5, 2000, 3}, {0, 20, 1}};
static const char *const formats[] = {"rle", "lz77"}, *const results[] = {"rle", "lz77",
                                                                          "dense"};
static const struct {
    const char *type, *reduce;
} ways[] = {{"f64", "sum(i: %s)"},   {"i64", "sum(i: %s)"},
            {"i32", "max(i: %s)"},   {"f32", "min(i: %s)"},
            {"i64", "prod(i: %s)"},  {"u8", "sum(i: %s)"},
            {"c64", "sum(i: %s)"},   {"bool", "any(i: %s)"},
            {"i64", "bitor(i: %s)"}, {"f64", "sum(i: 2 * %s + v(i))"},
            {"i64", "cap(i: %s)"}};
enum { SHAPES = sizeof shapes / sizeof *shapes, WAYS = sizeof ways / sizeof *ways };

static void run(stc_machine *m, stc_session *s, const char *text)
{
    const stc_status st = stc_session_exec(s, text, "test");
    ck_assert_msg(st == STC_OK, "%s\n%s", text, stc_error(m)->message);
}

/* What `left` is given in formats of runs is what it is given in dense ones. */
static void same(stc_machine *m, stc_session *s, int way, const char *left, const char *of,
                 const char *to, int shape)
{
    char term[80], text[900];
    const char *type = ways[way].type;
    snprintf(term, sizeof term, ways[way].reduce, of);
    const char *mode = strchr(left, ',') ? "l,j" : "j", *n = strchr(left, ',') ? "3," : "";
    snprintf(text, sizeof text,
             "tensor y %s %s [%s%d]\ntensor z dense %s [%s%d]\n%s = %s\n", to, type, n,
             shapes[shape].columns, type, n, shapes[shape].columns, left, term);
    run(m, s, text);
    for (char *at = term; (at = strchr(at, 'S')); at++)
        *at = 'D';
    snprintf(text, sizeof text, "z%s = %s\nn = sum(%s: y(%s) != z(%s))", left + 1, term,
             mode, mode, mode);
    run(m, s, text);
    ck_assert_msg(session_number(m, s, "n") == 0, "%s %s [%d,%d] by %d: %s = %s: %g differ",
                  to, type, shapes[shape].rows, shapes[shape].columns,
                  shapes[shape].stretch, left, term, session_number(m, s, "n"));
}

static void each_shape(int way, bool base)
{
    static const char *const cap =
        "fn cap(a, b) { r = a + b; if (r > 9) { return 9 }; return r }\n"
        "  with commutative, associative, identity(0)\n";
    for (int k = 0; k < SHAPES * 2; k++) {
        const int shape = k / 2, r = shapes[shape].rows, c = shapes[shape].columns;
        const stc_config config = {.no_super = base};
        char text[1200];
        stc_machine *m;
        stc_session *s;
        ck_assert_int_eq(stc_open(&config, &m), STC_OK);
        ck_ok(m, stc_session_open(m, &s));
        run(m, s, cap);
        snprintf(text, sizeof text,
                 "tensor S %s %s [%d,%d]; tensor D dense %s [%d,%d]\n"
                 "tensor S3 %s %s [3,%d,%d]; tensor D3 dense %s [3,%d,%d]\n"
                 "tensor P csr bool [3,%d] = random(density=0.5, seed=4)\n"
                 "tensor v dense i64 [%d] = 1\n"
                 "D(i,j) = %s((i * 7 + (j + 11 * i) // %d) %% 5 %s)\nS(i,j) = D(i,j)\n"
                 "D3(l,i,j) = %s(D(i,j) * (l %% 2 == 0))\nS3(l,i,j) = D3(l,i,j)\n",
                 formats[k % 2], ways[way].type, r, c, ways[way].type, r, c, formats[k % 2],
                 ways[way].type, r, c, ways[way].type, r, c, r, r, ways[way].type,
                 shapes[shape].stretch, strcmp(ways[way].type, "bool") ? "" : "== 1",
                 ways[way].type);
        run(m, s, text);
        for (int to = 0; to < 3; to++) {
            same(m, s, way, "y(j)", "S(i,j)", results[to], shape);
            same(m, s, way, "y(l,j)", "S3(l,i,j)", results[to], shape);
            if (strcmp(ways[way].type, "bool"))
                same(m, s, way, "y(l,j)", "P(l,i) * S(i,j)", results[to], shape);
        }
        stc_session_close(s);
        stc_close(m);
    }
}

START_TEST(columns_of_runs)
{
    each_shape(_i, false);
}
END_TEST

START_TEST(columns_by_base_operations)
{
    each_shape(_i, true);
}
END_TEST

static const char *const long_rows = "tensor A rle i64 [50,n]\n"
                                     "A(i,j) = (i + j * 6 // n) % 3\n"
                                     "tensor y rle i64 [n]\n";

/* As many steps for rows of a thousand elements as of a hundred thousand. */
START_TEST(columns_cost_runs)
{
    static const char *const statement[] = {"y(j) = A(i,j)", "y(j) = max(i: A(i,j))"};
    uint64_t steps[2];
    for (int k = 0; k < 2; k++) {
        stc_machine *m;
        stc_session *s;
        ck_assert_int_eq(stc_open(NULL, &m), STC_OK);
        ck_ok(m, stc_session_open(m, &s));
        run(m, s, k ? "n = 100000" : "n = 1000");
        run(m, s, long_rows);
        run(m, s, statement[_i]);
        steps[k] = m->cx.steps;
        stc_session_close(s);
        stc_close(m);
    }
    ck_assert_uint_lt(steps[0], 2000);
    ck_assert_uint_le(steps[1], steps[0] + 64);
}
END_TEST

/* Into a dense result they cost that, and to write the result: of 40 elements a column, or
 * of another type or fill than the sum's, no more is looked at. */
START_TEST(columns_written_once)
{
    static const struct {
        const char *from, *to, *statement;
    } cases[] = {{"rle f64", "f64", "y(j) = A(i,j)"},
                 {"lz77 i64", "i64", "y(j) = A(i,j)"},
                 {"rle u8", "f64", "y(j) = A(i,j)"},
                 {"rle i32", "i32", "y(j) = max(i: A(i,j) * 2)"},
                 {"rle f32", "f32", "y(j) = A(i,j) * B(i,j)"},
                 {"rle bool", "bool", "y(j) = any(i: A(i,j))"},
                 {"lz77 i64", "i64", "y(j) = prod(i: A(i,j+3))"}};
    const int k = _i, n = 100000;
    const char *type = strchr(cases[k].from, ' ') + 1;
    stc_machine *m;
    stc_session *s;
    char text[500];
    ck_assert_int_eq(stc_open(NULL, &m), STC_OK);
    ck_ok(m, stc_session_open(m, &s));
    snprintf(text, sizeof text,
             "tensor A %s [40,%d]\ntensor B %s [40,%d]\ntensor y dense %s [%d]\n"
             "A(i,j) = %s((i + j * 6 // %d) %% 3%s)\nB(i,j) = %s((i + j * 5 // %d) %% 4%s)",
             cases[k].from, n, cases[k].from, n, cases[k].to, k == 6 ? n - 3 : n, type, n,
             k == 5 ? " == 1" : "", type, n, k == 5 ? " == 1" : "");
    run(m, s, text);
    run(m, s, cases[k].statement);
    const uint64_t steps = m->cx.steps;
    ck_assert_msg(steps < (uint64_t)n * 3, "%s: %llu steps", cases[k].statement,
                  (unsigned long long)steps);
    stc_session_close(s);
    stc_close(m);
}
END_TEST

/* Rows of runs times floats cost runs, and lose no more than sums of elements do: not where
 * the largest of the floats would hide the others either. */
START_TEST(rows_times_floats)
{
    static const char *const types[] = {"f64", "f32"};
    static const double eps[] = {0x1p-52, 0x1p-23};
    const bool hidden = _i / 2;
    const char *type = types[_i % 2];
    stc_machine *m;
    stc_session *s;
    char text[700];
    ck_assert_int_eq(stc_open(NULL, &m), STC_OK);
    ck_ok(m, stc_session_open(m, &s));
    snprintf(text, sizeof text,
             "tensor A rle %s [80,3000]; tensor D dense %s [80,3000]\n"
             "tensor x dense %s [3000]; tensor y dense %s [80]; tensor z dense f64 [80]\n"
             "tensor w dense f64 [80]\n"
             "D(i,j) = %s((i + j // 60) %% 7) * (j >= 60)\nA(i,j) = D(i,j)\n"
             "x(j) = %s(1 / (j + 3) - 0.01 + (j == 5) * %s)",
             type, type, type, type, type, type, hidden ? "1e30" : "0");
    run(m, s, text);
    run(m, s, "y(i) = A(i,j) * x(j)");
    if (!hidden) ck_assert_uint_lt(m->cx.steps, 10000);
    run(m, s, "z(i) = f64(D(i,j)) * f64(x(j))\nw(i) = abs(f64(D(i,j)) * f64(x(j)))");
    snprintf(text, sizeof text, "n = sum(i: abs(f64(y(i)) - z(i)) > 3000 * %g * w(i))",
             eps[_i % 2]);
    run(m, s, text);
    ck_assert_msg(session_number(m, s, "n") == 0, "%s: %g rows lost more", type,
                  session_number(m, s, "n"));
    stc_session_close(s);
    stc_close(m);
}
END_TEST

Suite *suite_columns(void)
{
    Suite *s = suite_create("columns");
    TCase *c = tcase_create("columns");
    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, columns_of_runs, 0, WAYS);
    tcase_add_loop_test(c, columns_by_base_operations, 0, WAYS);
    tcase_add_loop_test(c, columns_cost_runs, 0, 2);
    tcase_add_loop_test(c, columns_written_once, 0, 7);
    tcase_add_loop_test(c, rows_times_floats, 0, 4);
    suite_add_tcase(s, c);
    return s;
}
