/* check_format.c: formats: names, short strings and maps, what is refused, and
 * that printing gives the same format back. */
#include "../src/lang/lang.h"
#include "check.h"
#include <string.h>

static stc_status parse(ctx *cx, const char *text, int order, format *out)
{
    return format_parse(cx, NULL, text, order, out);
}

static const char *const good[] = {
    "dense",
    "csr",
    "csc",
    "dcsr",
    "dcsc",
    "coo",
    "csf",
    "svec",
    "bcsr(2,3)",
    "csb(2,2)",
    "dia",
    "ell",
    "hash",
    "rle",
    "ds",
    "ss",
    "sd:1,0",
    "dss:1,0,2",
    "u",
    "(i) -> (i : compressed)",
    "(i,j) -> (i : dense, j : compressed)",
    "(i,j) -> (j : dense, i : compressed(unordered))",
    "(i,j) -> (i : compressed(nonunique), j : singleton)",
    "(i,j) -> (i : compressed(nonunique, interleaved), j : singleton)",
    ("(i,j,k) -> (k : compressed(nonunique, index64), i : singleton(nonunique), j : "
     "singleton)"),
    "(i,j) -> (i/2 : dense, j/3 : compressed, i%2 : dense, j%3 : dense)",
    "(i,j) -> (j-i : compressed, i : range, j : offset)",
    "(i,j) -> (#i : dense, i : dense, j : singleton)",
    "(i,j) -> (flat(i,j) : compressed)",
    "(i,j) -> (i : hashed, j : rle)",
};

START_TEST(printing_reads_back)
{
    heap h;
    ctx *cx = ctx_open(&h);
    for (size_t k = 0; k < sizeof good / sizeof *good; k++) {
        format f, g;
        char why[200] = "";
        /* open ones (dense, coo, …) take the order of their use */
        ck_assert_msg((parse(cx, good[k], -1, &f) == STC_OK && f.order >= 0) ||
                          parse(cx, good[k], 2, &f) == STC_OK,
                      "%s: %s", good[k], cx->diag.message);
        ck_assert_msg(format_valid(&f, why, sizeof why), "%s: %s", good[k], why);
        for (int map = 0; map < 2; map++) {
            textbuf t;
            text_init(&t, cx);
            if (map)
                format_print_map(&f, &t);
            else
                format_print(&f, &t);
            char *s = text_take(&t);
            ck_assert_ptr_nonnull(s);
            ck_assert_msg(parse(cx, s, f.order, &g) == STC_OK, "%s prints as %s: %s",
                          good[k], s, cx->diag.message);
            ck_assert_msg(format_equal(&f, &g), "%s prints as %s", good[k], s);
            mem_strfree(cx, s);
        }
    }
    ctx_close(cx, &h);
}
END_TEST

static const char *const bad[] = {
    "",
    "nothing",
    "csr(2)",
    "bcsr(0,2)",
    "bcsr(2)",
    "ds:0,0",
    "ds:0",
    "ds:0,2",
    "dx",
    "(i,j) -> (i : dense)",
    "(i,j) -> (i : dense, i : compressed)",
    "(i,j) -> (i : dense, j : compressed",
    "(i,j) -> (i : dense, k : compressed)",
    "(i,i) -> (i : dense)",
    "(i) -> (i : singleton)",
    "(i) -> (i : offset)",
    "(i) -> (i : range)",
    "(i,j) -> (i : dense(nonunique), j : dense)",
    "(i,j) -> (i : dense, j : compressed(index32, index64))",
    "(i,j) -> (i : dense, j : compressed(interleaved))",
    "(i,j) -> (i : dense, j : wrong)",
    "(i,j) -> (i : dense, j : compressed(wrong))",
    "(i,j) -> (i/0 : dense, i%0 : dense, j : dense)",
    "(i,j) -> (i/2 : dense, i%3 : dense, j : dense)",
    "(i,j) -> (i : compressed(nonunique), j : dense)",
    "(i,j) -> (j-j : compressed, i : range, j : offset)",
    "(i,j) -> (i : dense, j : compressed) and more",
};

START_TEST(refused)
{
    heap h;
    ctx *cx = ctx_open(&h);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        format f;
        cx->diag.message[0] = 0;
        const stc_status st = parse(cx, bad[k], -1, &f);
        ck_assert_msg(st != STC_OK, "%s is accepted", bad[k]);
        ck_assert_msg(cx->diag.message[0] != 0, "%s: no message", bad[k]);
    }
    ctx_close(cx, &h);
}
END_TEST

START_TEST(properties)
{
    heap h;
    ctx *cx = ctx_open(&h);
    format f;
    ck_ctx(cx, parse(cx, "coo", 3, &f));
    ck_assert_int_eq(f.order, 3);
    ck_assert_uint_eq(format_props(&f, 0) & PROP_UNIQUE, 0);
    ck_assert_uint_eq(format_props(&f, 1) & PROP_UNIQUE, 0);
    ck_assert_uint_ne(format_props(&f, 2) & PROP_UNIQUE, 0);
    ck_assert_uint_ne(format_props(&f, 2) & PROP_BRANCHLESS, 0);
    ck_ctx(cx, parse(cx, "csr", 2, &f));
    ck_assert(format_is_plain(&f));
    ck_assert_uint_ne(format_props(&f, 0) & PROP_FULL, 0);
    ck_assert_uint_eq(format_props(&f, 1) & PROP_FULL, 0);
    ck_ctx(cx, parse(cx, "bcsr(2,2)", 2, &f));
    ck_assert(!format_is_plain(&f));
    ck_assert_int_eq(f.levels, 4);
    ck_ctx(cx, parse(cx, "(i) -> (i : compressed(unordered))", 1, &f));
    ck_assert_uint_eq(format_props(&f, 0) & PROP_ORDERED, 0);
    ctx_close(cx, &h);
}
END_TEST

Suite *suite_format(void)
{
    Suite *s = suite_create("format");
    TCase *c = tcase_create("format");
    tcase_add_test(c, printing_reads_back);
    tcase_add_test(c, refused);
    tcase_add_test(c, properties);
    suite_add_tcase(s, c);
    return s;
}
