/* check_slots.c: hashed levels with a width: where coordinates go, as in the formats paper;
 * what is computed with them and into them; fibers with more coordinates than that; places
 * put later; and the width in texts, programs and files.
 */
#include "../formats/tensor.h"
#include "../src/io/stt.h"
#include "check.h"
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- where they go ------------------------------------------------------------------- */

/* The hash map of figure 2: W is 6. */
static const int32_t figure[] = {0, 1, 6, -1, 4, -1};
enum { W = sizeof figure / sizeof *figure };

START_TEST(as_in_the_paper)
{
    static const int64_t shape[] = {7}, at[] = {4, 0, 6, 1};
    heap h;
    ctx *cx = ctx_open(&h);
    tensor *t = tensor_of(cx, "(i) -> (i : hashed(6))", STC_F64, 1, shape, 4, at);
    const index_array *crd = &t->level[0].a[STC_CRD];
    ck_assert_int_eq(crd->len, W);
    ck_assert_int_eq(t->nvals, W);
    ck_assert_int_eq(tensor_stored(t), 4);
    for (int k = 0; k < W; k++)
        ck_assert_int_eq(index_get(crd, k), figure[k]);
    ck_assert(((double *)t->vals)[2] == 3 && ((double *)t->vals)[3] == 0);
    tensor_free(t);
    ctx_close(cx, &h);
}
END_TEST

/* Arrays of the host's, where they lie. */
START_TEST(lent)
{
    static const int64_t shape[] = {7};
    double values[W] = {1, 2, 3, 0, 5, 0}, full[7];
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_tensor *t;
    ck_ok(m, stc_tensor_new(m, "(i) -> (i : hashed(6))", STC_F64, 1, shape, NULL, &t));
    ck_ok(m,
          stc_tensor_lend(t, 0, STC_CRD, (stc_array){(void *)(uintptr_t)figure, W, 4, 4}));
    ck_ok(m, stc_tensor_lend_values(t, values, W));
    ck_ok(m, stc_tensor_check(t));
    ck_ok(m, stc_tensor_to_dense(t, full));
    ck_assert(full[0] == 1 && full[1] == 2 && full[4] == 5 && full[6] == 3 && full[2] == 0);
    ck_ok(m, stc_tensor_lend(t, 0, STC_CRD,
                             (stc_array){(void *)(uintptr_t)figure, W - 1, 4, 4}));
    ck_assert_int_eq(stc_tensor_check(t), STC_ERR_DATA);
    ck_assert(has_words(stc_error(m)->message, "slots: 5 elements, expected 6"));
    stc_tensor_free(t);
    machine_shut(m, &h);
}
END_TEST

/* Lent arrays in which coordinates come several times: each is all of its positions. */
static void lend_repeated(stc_machine *m, stc_tensor *t, int role, const int32_t *of, int n)
{
    ck_ok(m, stc_tensor_lend(t, 0, (stc_array_role)role,
                             (stc_array){(void *)(uintptr_t)of, n, 4, 4}));
}

START_TEST(repeated_slots)
{
    static const int32_t twice[] = {0, 1, 6, 0, 4, -1}, torn[] = {0, 1, -1, 0, 4, -1};
    static const int64_t shape[] = {7}, zero[] = {0};
    double values[W] = {1, 2, 3, 10, 5, 0}, full[7];
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_tensor *t;
    stc_value v;
    ck_ok(m, stc_tensor_new(m, "(i) -> (i : hashed(6, nonunique))", STC_F64, 1, shape, NULL,
                            &t));
    lend_repeated(m, t, STC_CRD, twice, W);
    ck_ok(m, stc_tensor_lend_values(t, values, W));
    ck_ok(m, stc_tensor_check(t));
    ck_ok(m, stc_tensor_to_dense(t, full));
    ck_assert(full[0] == 11 && full[1] == 2 && full[4] == 5 && full[6] == 3 &&
              full[2] == 0);
    ck_ok(m, stc_tensor_get(t, zero, &v));
    ck_assert(v.f == 11);
    lend_repeated(m, t, STC_CRD, torn, W);
    ck_assert_int_eq(stc_tensor_check(t), STC_ERR_DATA);
    ck_assert(has_words(stc_error(m)->message,
                        "coordinate 0 is in slot 3, and the search for it ends at slot 2"));
    stc_tensor_free(t);
    ck_ok(m, stc_tensor_new(m, "(i) -> (i : hashed(6))", STC_F64, 1, shape, NULL, &t));
    lend_repeated(m, t, STC_CRD, twice, W);
    ck_ok(m, stc_tensor_lend_values(t, values, W));
    ck_assert_int_eq(stc_tensor_check(t), STC_ERR_DATA);
    stc_tensor_free(t);
    machine_shut(m, &h);
}
END_TEST

/* Slots that go round: what is behind the last one is the first. */
START_TEST(repeated_around)
{
    static const int32_t around[] = {5, 5, -1, 3, 5, 5}, cut[] = {5, -1, 5, 3, 5, 5},
                         all[] = {5, 5, 5, 5, 5, 5};
    static const int32_t *const arrays[] = {around, cut, all};
    static const int64_t shape[] = {6}, five[] = {5};
    double values[W] = {1, 1, 1, 1, 1, 1};
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_tensor *t;
    stc_value v;
    ck_ok(m, stc_tensor_new(m, "(i) -> (i : hashed(6, nonunique))", STC_F64, 1, shape, NULL,
                            &t));
    ck_ok(m, stc_tensor_lend_values(t, values, W));
    for (int k = 0; k < 3; k++) {
        lend_repeated(m, t, STC_CRD, arrays[k], W);
        if (k == 0) { /* coordinate 5 is at home in slot 5, and none of the others is */
            ck_assert_int_eq(stc_tensor_check(t), STC_ERR_DATA);
            continue;
        }
        ck_assert_int_eq(stc_tensor_check(t), k == 1 ? STC_ERR_DATA : STC_OK);
    }
    ck_ok(m, stc_tensor_get(t, five, &v));
    ck_assert(v.f == W);
    static const int32_t good[] = {5, 5, -1, 3, -1, 5};
    lend_repeated(m, t, STC_CRD, good, W);
    ck_ok(m, stc_tensor_check(t));
    ck_ok(m, stc_tensor_get(t, five, &v));
    ck_assert(v.f == 3);
    stc_tensor_free(t);
    machine_shut(m, &h);
}
END_TEST

/* Without a width equal coordinates are neighbours, and the first has a bucket. */
START_TEST(repeated_buckets)
{
    static const int32_t pos[] = {0, 4}, crd[] = {3, 3, 3, 1}, apart[] = {3, 1, 3, 3};
    static const int64_t shape[] = {5};
    double values[] = {1, 2, 3, 4}, full[5];
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_tensor *t;
    ck_ok(m,
          stc_tensor_new(m, "(i) -> (i : hashed(nonunique))", STC_F64, 1, shape, NULL, &t));
    int32_t buckets[8];
    for (int b = 0; b < 64; b++) { /* of 8 places, those that the check takes */
        for (int k = 0; k < 8; k++)
            buckets[k] = k == b / 8 ? 0 : k == b % 8 ? 3 : -1;
        lend_repeated(m, t, STC_POS, pos, 2);
        lend_repeated(m, t, STC_CRD, crd, 4);
        lend_repeated(m, t, STC_AUX, buckets, 8);
        ck_ok(m, stc_tensor_lend_values(t, values, 4));
        if (stc_tensor_check(t) == STC_OK) break;
    }
    ck_ok(m, stc_tensor_check(t));
    ck_ok(m, stc_tensor_to_dense(t, full));
    ck_assert(full[3] == 6 && full[1] == 4 && full[0] == 0);
    lend_repeated(m, t, STC_CRD, apart, 4);
    ck_assert_int_eq(stc_tensor_check(t), STC_ERR_DATA);
    stc_tensor_free(t);
    machine_shut(m, &h);
}
END_TEST

/* ---- what is computed --------------------------------------------------------------- */

/* Of two modes, [37,41]; fibers of any of them have no more coordinates than that. */
static const char *const maps[] = {
    "i : dense, j : hashed(41)",
    "i : dense, j : hashed(53, index64)",
    "j : dense, i : hashed(64)",
    "i : compressed, j : hashed(41)",
    "i : hashed(40), j : compressed",
    "i : hashed(37), j : dense",
    "j : hashed(41), i : hashed(99)",
    "flat(i,j) : hashed(1600)",
    "i/4 : hashed(10), j : compressed, i%4 : hashed(4)",
    "j-i : hashed(80), i : range, j : offset",
    "i : hashed(37), j : rle",
    "i : compressed(nonunique), j : hashed(41)",
    "#i : dense, i : hashed(64), j : singleton",
    "i : dense, j : hashed(53, nonunique)",
    "i : dense, j : hashed(nonunique)",
    "i : hashed(nonunique), j : singleton",
    "j : hashed(1600, nonunique), i : singleton",
    "i : hashed(nonunique, interleaved), j : singleton",
    "i/4 : hashed(nonunique), j : compressed, i%4 : hashed(4, nonunique)",
    "i/4 : hashed(nonunique), j/3 : singleton, i%4 : dense, j%3 : dense",
};
enum { MAPS = sizeof maps / sizeof *maps };

static const char *const statements[] = {
    "y(i) = A(i,j) * x(j)",
    "y(j) = A(i,j) * v(i)",
    "y(i,j) = A(i,j) + B(i,j)",
    "y(i,j) = A(i,j) * B(i,j)",
    "y(i,j) = A(i,j) * D(i,j)",
    "y(i,k) = A(i,j) * C(j,k)",
    "y(j,i) = A(i,j)",
    "y = sum(i,j: A(i,j))",
    "y(i) = max(j: A(i,j))",
    "y(i,j) = A(i,j) - A(i,j) * B(i,j) + 2",
    "y(i,j) = A(i(1:30),j(2:)) * B(i(3:32),j(:39))",
};
enum { STATEMENTS = sizeof statements / sizeof *statements };

START_TEST(tiers)
{
    for (int k = 0; k < STATEMENTS; k++) {
        char data[1200];
        snprintf(
            data, sizeof data,
            "format map = (i,j) -> (%s)\n"
            "tensor d dense i64 [37,41]\nd(i,j) = (i * 7 + j * 5) %% 11 // 8 * (i + j)\n"
            "tensor A map i64\nA(i,j) = d(i,j)\n"
            "tensor B csr i64 [37,41]\nB(i,j) = d(i,j) %% 2 * j\n"
            "tensor C csr i64 [41,20]\nC(i,j) = (i + j) %% 7 // 5\n"
            "tensor D dense i64 [37,41]\nD(i,j) = i - j\n"
            "tensor x dense i64 [41]\nx(i) = i\n"
            "tensor v svec i64 [37]\nv(i) = i %% 3",
            maps[_i]);
        statement_agrees(&(tiers_case){data, statements[k], NULL});
    }
}
END_TEST

/* Results, appended and packed, and operands, in each map: what dense ones give. */
START_TEST(as_dense)
{
    static const char *const pairs[][2] = {
        {"R(i,j) = A(i,j)", "r(i,j) = a(i,j)"},
        {"R(i,j) = A(i,j) + B(i,j)", "r(i,j) = a(i,j) + b(i,j)"},
        {"R(i,j) = A(i,j) * B(i,j)", "r(i,j) = a(i,j) * b(i,j)"},
        {"R(i,j) = S(j,i) + A(i,j)", "r(i,j) = S(j,i) + a(i,j)"},
        {"R(i,j) = A(i,j)\nR(i,j) += S(j,i)", "r(i,j) = a(i,j) + S(j,i)"},
        {"R(i,j) = A(i,j)\nR(i,j) = 3 * j where m(i,j)",
         "r(i,j) = a(i,j)\nr(i,j) = 3 * j where m(i,j)"},
        {"R(i,j) = A(i,j)\nR(p(i), j) += 1", "r(i,j) = a(i,j)\nr(p(i), j) += 1"},
        {"R(i,j) = A(i,j)\nR(i(2:5), j) = 7", "r(i,j) = a(i,j)\nr(i(2:5), j) = 7"},
        {"R(i,j) = sum(k: A(i,k) * S(k,i)) * B(i,j)",
         "r(i,j) = sum(k: a(i,k) * S(k,i)) * b(i,j)"},
    };
    char text[1600];
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        if (_i + 2 >= MAPS && k > 2) continue; /* coordinates repeat: none has a place */
        snprintf(
            text, sizeof text,
            "format map = (i,j) -> (%s)\n"
            "tensor a dense i64 [37,41]\na(i,j) = (i * 7 + j * 5) %% 11 // 8 * (i + j)\n"
            "tensor b dense i64 [37,41]\nb(i,j) = a(i,j) %% 2 * j\n"
            "tensor A map i64\nA(i,j) = a(i,j)\ntensor B map i64\nB(i,j) = b(i,j)\n"
            "tensor S csr i64 [41,37]\nS(j,i) = a(i,j) // 9\n"
            "tensor m coo bool [37,41] = { (1,2): true, (30,40): true }\n"
            "tensor p dense i64 [37]\np(i) = (i * 5) %% 37\n"
            "tensor R map i64 [37,41]\ntensor r dense i64 [37,41]\n%s\n%s\n"
            "n = sum(i,j: R(i,j) != r(i,j))",
            maps[_i], pairs[k][0], pairs[k][1]);
        EXPECT(text, "n", 0);
    }
}
END_TEST

/* ---- more than the width ----------------------------------------------------------------
 */

#define NARROW                                                                             \
    "tensor h (i,j) -> (i : dense, j : hashed(2)) i64 [3,9] = "                            \
    "{ (0,1): 1, (0,3): 2, (1,1): 5 }\n"                                                   \
    "tensor s csr i64 [3,9] = { (1,2): 1, (2,1): 1, (2,3): 1, (2,8): 4 }\n"                \
    "tensor p dense i64 = [4, 5, 6]\n"

/* It is said where, and how many there are; nothing has changed. */
START_TEST(too_narrow)
{
    static const char packed[] =
        "fiber 2 has 3 coordinates, and its width is 2: expected no more",
                      said[] = "its width";
    static const struct {
        const char *text, *words;
    } row[] = {
        {"h(i,j) = s(i,j)", said},
        {"h(i,j) = 2 * s(i,j)", said},
        {"h(i,j) += s(i,j)", packed},
        {"h(i,j) = i + j", said},
        {"h(2, p(i)) = 1", packed},
        {"h(i,j) = 7 where s(i,j) > 0", packed},
        {"tensor g (i,j) -> (i : hashed(2), j : compressed) i64\ng(i,j) = s(i,j) + h(i,j)",
         "level 0 (hashed)|fiber 0 has 3 coordinates"},
        {"tensor g (i) -> (i : hashed(2)) i64 = [1,2,3]", said},
    };
    stc_machine *m;
    stc_session *s;
    ck_assert_int_eq(stc_open(NULL, &m), STC_OK);
    ck_ok(m, stc_session_open(m, &s));
    ck_ok(m, stc_session_exec(s, NARROW, "t"));
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        ck_assert_msg(stc_session_exec(s, row[k].text, "t") == STC_ERR_OVERFLOW, "%s: %s",
                      row[k].text, stc_error(m)->message);
        ck_assert_msg(has_words(stc_error(m)->message, row[k].words), "%s: %s", row[k].text,
                      stc_error(m)->message);
        ck_ok(m, stc_session_exec(s,
                                  "assert stored(h) == 3 && h(0,3) == 2 && h(1,1) == 5 && "
                                  "h(2,1) == 0 && sum(i,j: h(i,j)) == 8",
                                  "t"));
    }
    ck_ok(m, stc_session_exec(s, "h(2,4) = 6\nh(2,8) = 1\nassert stored(h) == 5", "t"));
    stc_session_close(s);
    stc_close(m);
}
END_TEST

/* ---- put later
 * --------------------------------------------------------------------------- */

/* New places of a matrix cost what is new. */
START_TEST(grows_in_place)
{
    static const char *const kinds[] = {"i : dense, j : hashed(256)",
                                        "j : dense, i : hashed(300, index64)"};
    for (int k = 0; k < 2; k++) {
        char text[1000];
        snprintf(text, sizeof text,
                 "n = 300\ntensor h (i,j) -> (%s) f64 [n,n] fill 1\n"
                 "tensor d dense f64 [n,n] = 1\n"
                 "for k in 0:2000 {\nh(k // 7, k %% 7) = k\nd(k // 7, k %% 7) = k\n"
                 "tensor one coo i16 [n,n]\none(k %% 9, k // 9 + 8) = k\n"
                 "h(i,j) += one(i,j)\nd(i,j) += one(i,j)\n"
                 "tensor m coo bool [n,n]\nm(n - 1 - k // 7, k %% 7) = true\n"
                 "h(i,j) = 3 where m(i,j)\nd(i,j) = 3 where m(i,j)\n}\n"
                 "assert all(i,j: h(i,j) == d(i,j)) && stored(h) >= 2000",
                 kinds[k]);
        expect_within(text, 1500000);
    }
}
END_TEST

/* Elements of rows that are compressed cost no pass over all that is stored. */
START_TEST(grows_between)
{
    static const char *const kinds[] = {"i : dense, j : compressed",
                                        "j : dense, i : compressed(index64)"};
    char text[600];
    snprintf(text, sizeof text,
             "n = 300\ntensor h (i,j) -> (%s) f64 [n,n]\n"
             "h(i,j) = i where (i + j) %% 3 == 0\nassert stored(h) == 30000\n"
             "for k in 0:2000 {\nh(k %% n, k * 7 // n) = k + 1\n}\n"
             "assert stored(h) > 30000 && h(1999 %% 300, 13993 // 300) == 2000",
             kinds[_i]);
    expect_within(text, 400000);
}
END_TEST

/* Between others, where rows are there and where they aren't; an array that others share.
 */
START_TEST(put_between_others)
{
    static const char *const kinds[] = {"i : dense, j : compressed",
                                        "i : compressed, j : compressed",
                                        "j : compressed(index64), i : compressed"};
    for (int k = 0; k < 3; k++) {
        char text[1400];
        snprintf(text, sizeof text,
                 "n = 40\ntensor A (i,j) -> (%s) f64 [n,n]\n"
                 "A(i,j) = i * 100 + j where (i * 7 + j * 3) %% 11 == 0\n"
                 "tensor B (i,j) -> (%s) f64 [n,n]\nB(i,j) = 2 * A(i,j)\n"
                 "tensor T (i,j) -> (%s) f64 [n,n]\n"
                 "tensor d dense f64 [n,n]\nd(i,j) = B(i,j)\nwas = stored(A)\n"
                 "tensor old dense f64 [n,n]\nold(i,j) = A(i,j)\n"
                 "for k in 0:60 {\n"
                 "B(k * 17 %% n, k * 29 %% n) += k\nd(k * 17 %% n, k * 29 %% n) += k\n"
                 "tensor m coo f64 [n,n]\nm(k * 3 %% n, i) = i where i %% 13 == k %% 13\n"
                 "B(i,j) += m(i,j)\nd(i,j) += m(i,j)\nT(i,j) = 3 * B(i,j)\n}\n"
                 "assert all(i,j: B(i,j) == d(i,j)) && stored(B) > was\n"
                 "assert all(i,j: T(i,j) == 3 * d(i,j)) && stored(T) == stored(B)\n"
                 "assert all(i,j: A(i,j) == old(i,j)) && stored(A) == was\n"
                 "tensor C dense f64 [n,n]\nC(i,j) = sum(k: B(i,k) * B(k,j))\n"
                 "assert all(i,j: C(i,j) == sum(k: d(i,k) * d(k,j)))",
                 kinds[k], kinds[k], kinds[k]);
        expect_within(text, 10000000);
    }
}
END_TEST

/* ---- texts, programs, files
 * ---------------------------------------------------------------- */

START_TEST(said)
{
    stc_machine *m;
    stc_session *s;
    const stc_tensor *t;
    ck_assert_int_eq(stc_open(NULL, &m), STC_OK);
    ck_ok(m, stc_session_open(m, &s));
    ck_ok(m, stc_session_exec(
                 s,
                 "format table(w,v) = (i,j) -> (i/v : dense, j : hashed(w, index64), i%v : "
                 "dense)\ntensor A table(5,2) f64 [2,9] = { (1,2): 3 }\nB = A",
                 "t"));
    ck_ok(m, stc_session_get(s, "B", &t));
    ck_assert_str_eq(stc_tensor_format(t),
                     "(i,j) -> (i/2 : dense, j : hashed(5, index64), i%2 : dense)");
    stc_session_close(s);
    stc_close(m);
    expect_error("format table(w) = (i) -> (i : hashed(w))\ntensor A table(0) f64 [2]",
                 STC_ERR_PROGRAM, "a format's argument is a positive integer");
    expect_error("tensor A (i) -> (i : compressed(3)) f64 [2]", STC_ERR_PROGRAM,
                 "levels of kind `compressed` take no number");
}
END_TEST

/* The width is a program's, in its text and in its file. */
START_TEST(programs)
{
    static const stc_decl decls[] = {
        {0, "A", "(i,j) -> (i : dense, j : hashed(12))", STC_F64, NULL, 2},
        {0, "R", "(i,j) -> (j : dense, i : hashed(7))", STC_F64, NULL, 2}};
    static const int64_t shape[] = {3, 5};
    char path[SCRATCH_PATH], *text;
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_program *p, *q;
    stc_tensor *a;
    const stc_tensor *r;
    ck_ok(m, stc_compile(m, "R(i,j) = 2 * A(i,j)", decls, 2, &p));
    ck_ok(m, stc_program_save(p, scratch(path, "slots.stb")));
    stc_program_free(p);
    ck_ok(m, stc_program_load(m, path, &q));
    unlink(path);
    ck_ok(m, stc_program_explain(q, "code", &text));
    ck_assert_msg(has_words(text, "dense(0) hashed:12(1)|dense(1) hashed:7(0)"), "%s",
                  text);
    stc_text_free(m, text);
    ck_ok(m, stc_tensor_new(m, decls[0].format, STC_F64, 2, shape, NULL, &a));
    ck_ok(m, stc_bind(q, "A", a));
    ck_ok(m, stc_run(q));
    ck_ok(m, stc_result(q, "R", &r));
    ck_assert_str_eq(stc_tensor_format(r), decls[1].format);
    stc_program_free(q);
    stc_tensor_free(a);
    machine_shut(m, &h);
}
END_TEST

static void write_file(const char *path, unsigned char *b, size_t size)
{
    stt_put(b + 24, 8, 0);
    stt_put(b + 24, 8, stt_sum_bytes((int)b[8], b, stt_get(b + 12, 4)));
    FILE *f = fopen(path, "wb");
    ck_assert(f && fwrite(b, 1, size, f) == size && fclose(f) == 0);
}

/* Version 3 has it, and what has none stays in version 2; widths that can't be, or that
 * aren't those of the slots, are refused. */
START_TEST(files)
{
    static const int64_t shape[] = {3, 5};
    static const struct {
        int64_t width, rows;
        const char *words;
        bool opens;
    } row[] = {
        {7, 3, NULL, true},
        {0, 3, "the header lacks an array of the format", false},
        {-1, 3, "less than 1 or more than 2^40", false},
        {((int64_t)1 << 40) + 1, 3, "less than 1 or more than 2^40", false},
        {6, 3, "slots: 21 elements, expected 18", true},
        {8, 3, "slots: 21 elements, expected 24", true},
        {21, 1, "coordinate", true},
        {7, (int64_t)1 << 60, "", true},
        {(int64_t)1 << 40, (int64_t)1 << 40, "slots are more than 64 bits can count", true},
    };
    char path[SCRATCH_PATH];
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_tensor *t;
    const int64_t at[] = {0, 1, 2, 2, 2, 2, 1, 4, 0, 1, 3, 4}; /* mode by mode */
    const double x[] = {1, 2, 3, 4, 5, 6};
    scratch(path, "slots.stt");
    ck_ok(m, stc_tensor_from_coords(m, "(i,j) -> (i : dense, j : hashed(7))", STC_F64, 2,
                                    shape, NULL, 6, at, x, &t));
    ck_ok(m, stc_tensor_write(t, path));
    stc_tensor_free(t);
    size_t size;
    unsigned char *const b = (unsigned char *)read_text(path, &size);
    ck_assert_uint_eq(b[8], 3);
    unsigned char *const number = b + STT_MODES + 8 * 2 + STT_LEVEL + 16 + STT_KIND;
    ck_assert_uint_eq(stt_get(number, 8), 7);
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        stt_put(number, 8, (uint64_t)row[k].width);
        stt_put(b + STT_MODES, 8, (uint64_t)row[k].rows);
        write_file(path, b, size);
        stc_status st = stc_tensor_read(m, path, NULL, -1, NULL, &t);
        ck_assert_msg((st == STC_OK) == row[k].opens, "row %d: %s", (int)k,
                      stc_error(m)->message);
        if (!st) {
            st = stc_tensor_check(t);
            stc_tensor_free(t);
        }
        ck_assert_msg((st == STC_OK) == !row[k].words, "row %d", (int)k);
        if (st)
            ck_assert_msg(has_words(stc_error(m)->message, row[k].words), "row %d: %s",
                          (int)k, stc_error(m)->message);
    }
    free(b);
    ck_ok(m, stc_tensor_from_coords(m, "hash", STC_F64, 2, shape, NULL, 6, at, x, &t));
    ck_ok(m, stc_tensor_write(t, path));
    stc_tensor_free(t);
    unsigned char *const plain = (unsigned char *)read_text(path, &size);
    ck_assert_uint_eq(plain[8], 2);
    free(plain);
    unlink(path);
    machine_shut(m, &h);
}
END_TEST

Suite *suite_slots(void)
{
    Suite *s = suite_create("slots");
    TCase *c = tcase_create("slots");
    tcase_add_test(c, as_in_the_paper);
    tcase_add_test(c, lent);
    tcase_add_test(c, repeated_slots);
    tcase_add_test(c, repeated_around);
    tcase_add_test(c, repeated_buckets);
    tcase_add_loop_test(c, tiers, 0, MAPS);
    tcase_add_loop_test(c, as_dense, 0, MAPS);
    tcase_add_test(c, too_narrow);
    tcase_add_test(c, grows_in_place);
    tcase_add_loop_test(c, grows_between, 0, 2);
    tcase_add_test(c, put_between_others);
    tcase_add_test(c, said);
    tcase_add_test(c, programs);
    tcase_add_test(c, files);
    suite_add_tcase(s, c);
    return s;
}
