/* check_made.c: factors that are made of a fiber's own values before a kernel runs
 * (vm/super/nest_made.c): where that is done, and that it gives what C gives, for fibers
 * of any length, which follow each other or don't, in 32-bit and 64-bit coordinates; and
 * those of products of sparse operands, which are steps of their own (src/opt/lift.c). */
#include "check.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 50, COLS = 2600 };

/* Row i has so many entries at most: some none, some more than a strip holds. */
static int length_of(int i)
{
    static const int lengths[] = {3, 0, 1, 17, 2600, 40, 9, 0, 1300, 5};
    return lengths[i % 10];
}

static double entry(int i, int j, bool truth)
{
    const double v = j < length_of(i) && (i + j) % 3 ? (i * 7 + j * 5) % 11 - 5 : 0;
    return truth ? v != 0 : v;
}

/* ---- what is made ---------------------------------------------------------------- */

static const struct made {
    const char *text, *type, *other; /* of A, and of x, z and R */
    bool made;
} statements[] = {
    {"R(i) = abs(A(i,j)) * x(j)", "f64", "f64", true},
    {"R(i) = A(i,j) * x(j)", "f64", "f64", false},
    {"R(i) = A(i,j) * x(j)", "f32", "f64", true},
    {"R(i) = A(i,j) * x(j)", "i16", "f64", true},
    {"R(i) = A(i,j) * x(j)", "bool", "f64", true},
    {"R(i) = A(i,j) * A(i,j) * x(j)", "f64", "f64", true},
    {"R(i) = x(j) * -A(i,j) * w(j)", "f64", "f64", true},
    {"R(i) = sum(j: abs(A(i,j) * 3))", "f64", "f64", true},
    {"R(j) = abs(A(i,j)) * z(i)", "f64", "f64", true},
    {"R(j) = abs(A(i,j)) * z(i)", "i8", "i8", true},
    {"R(j) = abs(A(i,j)) * z(i)", "i32", "i32", true},
    {"R(j) = A(i,j) * z(i)", "i8", "f32", true},
    {"R(i) = abs(A(i,j)) * z(i) * x(j)", "f64", "f64", true},
    {"R(i) = (A(i,j) // 2) * x(j)", "i64", "i64", false}, /* this could fail */
};
enum { STATEMENTS = sizeof statements / sizeof *statements };

static stc_type type_of(const char *name)
{
    stc_type t;
    ck_assert(stc_type_parse(name, &t));
    return t;
}

START_TEST(are_made)
{
    const struct made *x = &statements[_i];
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_program *p;
    char *code;
    stc_decl d[5] = {{.name = "A", .format = "csr", .type = type_of(x->type), .order = -1}};
    static const char *const names[] = {"x", "z", "w", "R"};
    int n = 1;
    for (int k = 0; k < 4; k++) {
        const char call[] = {names[k][0], '(', '\0'};
        if (!strstr(x->text, call)) continue;
        d[n++] = (stc_decl){
            .name = names[k], .format = "dense", .type = type_of(x->other), .order = -1};
    }
    ck_ok(m, stc_compile(m, x->text, d, n, &p));
    ck_ok(m, stc_program_explain(p, "code", &code));
    ck_assert_msg((strstr(code, "of values made before") != NULL) == x->made, "%s\n%s",
                  x->text, code);
    stc_text_free(m, code);
    stc_program_free(p);
    machine_shut(m, &h);
}
END_TEST

/* ---- what it gives ----------------------------------------------------------------- */

static const char *const formats[] = {"csr", "dcsr",
                                      "(i,j) -> (i : dense, j : compressed(index64))"};
static const char *const types[] = {"f64", "f32", "i16", "i32", "bool"};
enum { FORMATS = 3, TYPES = 5 };

/* A of the format and type, x along its columns, z along its rows, m in some rows. */
static char *operands(char *at, const char *as, const char *type)
{
    at += sprintf(at, "tensor l dense i64 [%d] = [", ROWS);
    for (int i = 0; i < ROWS; i++)
        at += sprintf(at, "%s%d", i ? ", " : "", length_of(i));
    return at +
           sprintf(at,
                   "]\ntensor A %s %s [%d,%d]\n"
                   "A(i,j) = %s((j < l(i) && (i + j) %% 3 != 0) * ((i * 7 + j * 5) %% 11 "
                   "- 5))\ncompact A\ntensor x dense f64 [%d]\nx(j) = j %% 4 + 1\n"
                   "tensor z dense f64 [%d]\nz(i) = i %% 3 - 1\n"
                   "tensor m svec f64 [%d]\nm(i) = i %% 4 == 3 || i %% 5 == 4\n"
                   "compact m\n",
                   as, type, ROWS, COLS, type, COLS, ROWS, ROWS);
}

START_TEST(give_what_c_gives)
{
    static char script[1 << 12];
    static double along[ROWS], some[ROWS], down[COLS], squares[ROWS];
    const char *type = types[_i % TYPES];
    const bool truth = !strcmp(type, "bool");
    memset(along, 0, sizeof along);
    memset(some, 0, sizeof some);
    memset(down, 0, sizeof down);
    memset(squares, 0, sizeof squares);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLS; j++) {
            const double a = entry(i, j, truth), x = j % 4 + 1, z = i % 3 - 1;
            along[i] += (2 * fabs(a) + (a != 0)) * x;
            if (i % 4 == 3 || i % 5 == 4) some[i] += fabs(a) * x;
            down[j] += fabs(a) * z;
            squares[i] += a * a * x * z;
        }
    char *at = operands(script, formats[_i / TYPES], type);
    sprintf(at, "tensor along dense\nalong(i) = (2 * abs(A(i,j)) + (A(i,j) != 0)) * x(j)\n"
                "tensor some dense\nsome(i) = m(i) * sum(j: abs(A(i,j)) * x(j))\n"
                "tensor down dense\ndown(j) = abs(A(i,j)) * z(i)\n"
                "tensor squares dense\n"
                "squares(i) = A(i,j) * A(i,j) * x(j) * z(i)\n");
    expect_dense(script, "along", along, ROWS);
    expect_dense(script, "some", some, ROWS);
    expect_dense(script, "down", down, COLS);
    expect_dense(script, "squares", squares, ROWS);
}
END_TEST

/* A value of the loop around, which the factor takes, is another in each round of it,
 * though lanes of several rounds are gone through together. */
START_TEST(take_a_value_a_round)
{
    enum { FEW = 30 };
    static double y[ROWS];
    memset(y, 0, sizeof y);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < FEW; j++)
            for (int k = 0; k < 4; k++)
                if ((i + j + k) % 3 == 0)
                    y[i] += (j % 5 + 0.5) * ((i % 7 - 3) * (double)((i * j + k) % 9 + 1));
    static char script[1 << 12];
    sprintf(script,
            "tensor D %s i32 [%d,%d,4]\n"
            "D(i,j,k) = i32(((i + j + k) %% 3 == 0) * ((i * j + k) %% 9 + 1))\ncompact D\n"
            "tensor c dense i32 [%d]\nc(i) = i %% 7 - 3\n"
            "tensor b dense f64 [%d]\nb(j) = j %% 5 + 0.5\n"
            "tensor y dense f64 [%d]\ny(i) = b(j) * (c(i) * D(i,j,k))\n",
            _i ? "(i,j,k) -> (i : dense, j : compressed, k : compressed)" : "csf", ROWS,
            FEW, ROWS, FEW, ROWS);
    expect_dense(script, "y", y, ROWS);
}
END_TEST

/* Factors in a wider type than the result has: only its bits count. */
START_TEST(wrap_as_elements_do)
{
    static char script[1 << 12];
    static double down[COLS];
    for (int j = 0; j < COLS; j++) {
        uint8_t sum = 0;
        for (int i = 0; i < ROWS; i++)
            sum += (uint8_t)(abs((int)entry(i, j, false)) * 50) * (uint8_t)(i % 3);
        down[j] = (int8_t)sum;
    }
    char *at = operands(script, formats[_i], "i8");
    sprintf(at,
            "tensor y dense i8 [%d]\ny(i) = i %% 3\ntensor down dense i8 [%d]\n"
            "down(j) = abs(A(i,j)) * 50 * y(i)\n",
            ROWS, COLS);
    expect_dense(script, "down", down, COLS);
}
END_TEST

/* What is computed of sparse operands, or converted, is made first where others go round
 * it: products are scattered then. d: behind names of what is stored everywhere. */
static const struct {
    const char *type, *text, *row;
} computed[] = {
    {"bool", "any(k: K%1$s(i,k) != 0 && L%1$s(k,j) != 0)", "scatter BOOL AND OR"},
    {"f64", "abs(K%1$s(i,k)) * L%1$s(k,j)", "scatter F64 MUL ADD"},
    {"f64", "K%1$s(i,k) * L%1$s(k,j)**2", "scatter F64 MUL ADD"},
    {"f64", "(K%1$s(i,k) - L%1$s(i,k)) * (L%1$s(k,j) + K%1$s(k,j))", "scatter F64 MUL ADD"},
    {"f64", "N%1$s(i,k) * K%1$s(k,j)", "scatter F64 MUL ADD"},
    {"f64", "K%1$s(i,k) * P%1$s(k,j)", "scatter F64 MUL ADD"},
    /* in loops around those that scatter; with the sign on a factor; terms apart */
    {"f64", "K%1$s(i,k) * L%1$s(k,m) * K%1$s(m,j)", "scatter F64 MUL ADD"},
    {"f64", "K%1$s(i,k) * L%1$s(k,m) * K%1$s(m,p) * L%1$s(p,j)", "scatter F64 MUL ADD"},
    {"f64", "L%1$s(i,j) - K%1$s(i,k) * L%1$s(k,j)", "scatter F64 MUL ADD"},
    {"f64", "sum(k: K%1$s(i,k) * L%1$s(k,j) - L%1$s(i,k) * K%1$s(k,j))",
     "rows: 2 scattered"},
};

START_TEST(computed_factors_are_scattered)
{
    static const char setup[] =
        "n = 200\ntensor K csr f64 [n,n]\nK(i,j) = ((i + j) %% 19 == 0) * (j - 40)\n"
        "compact K\ntensor L csr f64 [n,n]\n"
        "L(i,j) = ((i * 7 + j * 13) %% 23 < 2 && i %% 9 != 4) * (i - j)\ncompact L\n"
        "tensor N csr i32 [n,n]\nN(i,j) = i32(K(i,j))\n"
        "tensor P csr bool [n,n]\nP(i,j) = L(i,j) > 10\n"
        "tensor Kd dense [n,n]\nKd(i,j) = K(i,j)\ntensor Ld dense [n,n]\n"
        "Ld(i,j) = L(i,j)\ntensor Nd dense i32 [n,n]\nNd(i,j) = N(i,j)\n"
        "tensor Pd dense bool [n,n]\nPd(i,j) = P(i,j)\n"
        "tensor R csr %s [n,n]\nc = 0\n";
    heap h;
    char all[2000], text[200], *profile;
    stc_machine *m = machine_open(&h, false);
    stc_session *s;
    machine_profile_runs(m);
    ck_ok(m, stc_session_open(m, &s));
    snprintf(all, sizeof all, setup, computed[_i].type);
    ck_ok(m, stc_session_exec(s, all, "setup"));
    snprintf(text, sizeof text, computed[_i].text, "");
    snprintf(all, sizeof all, "R(i,j) = %s", text);
    ck_ok(m, stc_session_exec(s, all, "statement"));
    ck_ok(m, stc_session_profile(s, &profile));
    ck_assert_msg(strstr(profile, computed[_i].row), "%s", profile);
    stc_text_free(m, profile);
    snprintf(text, sizeof text, computed[_i].text, "d");
    snprintf(all, sizeof all, "W(i,j) = %s\nc = sum(i,j: W(i,j) != R(i,j))", text);
    ck_ok(m, stc_session_exec(s, all, "compare"));
    ck_assert(session_number(m, s, "c") == 0);
    stc_session_close(s);
    machine_shut(m, &h);
}
END_TEST

Suite *suite_made(void)
{
    Suite *s = suite_create("made");
    TCase *t = tcase_create("factors");
    tcase_add_loop_test(t, are_made, 0, STATEMENTS);
    tcase_add_loop_test(t, give_what_c_gives, 0, FORMATS * TYPES);
    tcase_add_loop_test(t, take_a_value_a_round, 0, 2);
    tcase_add_loop_test(t, wrap_as_elements_do, 0, FORMATS);
    tcase_add_loop_test(t, computed_factors_are_scattered, 0,
                        sizeof computed / sizeof *computed);
    suite_add_tcase(s, t);
    return s;
}
