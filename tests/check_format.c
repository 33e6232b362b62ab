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
    "(i,j) -> (i : compressed(nonunique), j : dense)",
    "(i,j) -> (i : compressed(nonunique), j : hashed)",
    "(i,j) -> (i : compressed(nonunique, interleaved), j : singleton)",
    ("(i,j,k) -> (k : compressed(nonunique, index64), i : singleton(nonunique), j : "
     "singleton)"),
    "(i,j) -> (i/2 : dense, j/3 : compressed, i%2 : dense, j%3 : dense)",
    ("(i,j) -> (i/8 : dense, j/8 : compressed, i%8/2 : dense, j/2%4 : dense, i%2 : dense, "
     "j%2 : dense)"),
    "(i) -> (i/24%1 : dense, i//4//6 : compressed, i/2%12/6 : dense, i%12/2%6: dense, i%2 "
    ": dense)",
    "(i,j) -> (j-i : compressed, i : range, j : offset)",
    "(i,j) -> (#i : dense, i : dense, j : singleton)",
    "(i,j) -> (flat(i,j) : compressed)",
    "(i,j) -> (i : hashed, j : rle)",
    "(i,j) -> (i : hashed(1), j : hashed(1099511627776))",
    "(i,j) -> (i : hashed(nonunique), j : singleton)",
    "(i,j) -> (i : hashed(9, nonunique, index64), j : hashed(nonunique))",
    "(i,j) -> (i : hashed(nonunique, interleaved), j : singleton)",
    "(i,j) -> (i/2 : hashed(4, index64), i%2 : dense, j : hashed)",
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

static const struct {
    const char *text, *words;
} bad[] = {
    {"", ""},
    {"nothing", "nothing"},
    {"csr(2)", "csr"},
    {"bcsr(0,2)", ""},
    {"bcsr(2)", ""},
    {"ds:0,0", ""},
    {"ds:0", ""},
    {"ds:0,2", ""},
    {"dx", ""},
    {"(i,j) -> (i : dense)", "no level determines mode 1 (j)"},
    {"(i,j) -> (i : dense, i : compressed)", "no level determines mode 1 (j)"},
    {"(i,j) -> (i : dense, j/2 : compressed)", "no level determines mode 1 (j)"},
    {"(i,j) -> (i-j : compressed, j-i : compressed)", "no level determines mode 0 (i)"},
    {"(i,j) -> (i : dense, j : compressed", ""},
    {"(i,j) -> (i : dense, k : compressed)", "expected one of the format's modes here"},
    {"(i,i) -> (i : dense)", "i"},
    {"(i) -> (i : singleton)",
     "one coordinate for each parent, and at the root there is none"},
    {"(i) -> (i : offset)", "at the root there is none"},
    {"(i) -> (i : range)", "no level above it has the difference of its mode and another"},
    {"(i,j) -> (#j : dense, j : dense, i : dense)",
     "it counts entries, and each slot would have all coordinates"},
    {"(i,j) -> (j-i : dense, i : dense, j : range)", NULL},
    {"(i,j) -> (j-i : dense, j : offset, i : dense)",
     "no level above it has the other mode"},
    {"(i,j) -> (i : dense, j : compressed(full))", "`full` follows from a level's kind"},
    {"(i,j) -> (i : hashed(branchless), j : dense)",
     "`branchless` follows from a level's kind"},
    {"(i,j) -> (i : hashed(interleaved), j : singleton)", "only a nonunique level above"},
    {"(i,j) -> (i : bytemap(nonunique, interleaved), j : singleton)", "above singletons"},
    {"(i,j) -> (i : dense, j : hashed(unordered))", "it is unordered as it is"},
    {"(i) -> (i : hashed(0))", "expected a positive integer"},
    {"(i) -> (i : hashed(-1))", "expected a property of the level"},
    {"(i) -> (i : hashed(1099511627777))", "less than 1 or more than 2^40"},
    {"(i) -> (i : hashed(9223372036854775808))", "the number is too large"},
    {"(i) -> (i : hashed(99999999999999999999))", ""},
    {"(i) -> (i : hashed(index32, 4))", "expected a property of the level"},
    {"(i) -> (i : hashed(4, 4))", "expected a property of the level"},
    {"(i) -> (i : hashed(4, unordered))", "it is unordered as it is"},
    {"(i) -> (i : hashed(w))", "`w` is no property of a level"},
    {"(i) -> (i : compressed(4))", "levels of kind `compressed` take no number"},
    {"(i) -> (i : wrong(4))", "`wrong` is no kind of level|hashed(width)"},
    {"(i,j) -> (i : dense(index32), j : dense)", "it stores no indices"},
    {"(i,j) -> (i : dense, j : compressed(index32, index64))",
     "index32 and index64 at once"},
    {"(i,j) -> (i : dense, j : compressed(interleaved))", "only a nonunique level above"},
    {"(i,j) -> (i : compressed(nonunique, interleaved), j : compressed)",
     "above singletons"},
    {"(i,j) -> (i : dense, j : wrong)", "wrong"},
    {"(i,j) -> (i : dense, j : compressed(wrong))", "wrong"},
    {"(i,j) -> (i/0 : dense, i%0 : dense, j : dense)", ""},
    {"(i,j) -> (i/2 : dense, i%3 : dense, j : dense)", "no level determines mode 0"},
    {"(i) -> (i/8 : dense, i/2%2 : dense, i%2 : dense)", "no level determines mode 0"},
    {"(i) -> (i/8 : dense, i%8/3 : dense, i%3 : dense)",
     "8 parts can't be taken 3 together: expected a divisor"},
    {"(i) -> (i/8 : dense, i%8%3 : dense)", "8 parts can't be taken 3 together"},
    {"(i) -> (i/4294967296 : dense, i%4294967296/2 : dense, i%2 : dense)",
     "a part of a part, and these end at 2^31"},
    {"(i) -> (i/8 : dense, i%8/j : dense)", "expected a positive integer"},
    {"(i,j) -> (j-j : compressed, i : range, j : offset)", ""},
    {"(i,j) -> (i : dense, j : compressed) and more", ""},
};

START_TEST(refused)
{
    heap h;
    ctx *cx = ctx_open(&h);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        format f;
        cx->diag.message[0] = 0;
        const stc_status st = parse(cx, bad[k].text, -1, &f);
        ck_assert_msg((st == STC_OK) == !bad[k].words, "%s is accepted", bad[k].text);
        if (!st) continue;
        ck_assert_msg(cx->diag.message[0] != 0, "%s: no message", bad[k].text);
        ck_assert_msg(has_words(cx->diag.message, bad[k].words), "%s: %s, expected %s",
                      bad[k].text, cx->diag.message, bad[k].words);
    }
    ctx_close(cx, &h);
}
END_TEST

/* Where a kind's data keeps what a flag takes back, the format is that without the flag. */
START_TEST(flags_of_no_effect)
{
    static const char *const kind[] = {"dense", "bytemap", "rle", "lz77"};
    static const char *const flags[] = {"nonunique", "unordered", "nonunique, unordered"};
    heap h;
    ctx *cx = ctx_open(&h);
    for (int k = 0; k < 12; k++) {
        char text[100], plain[100];
        format f, g;
        snprintf(text, sizeof text, "(i,j) -> (i : compressed, j : %s(%s))", kind[k / 3],
                 flags[k % 3]);
        snprintf(plain, sizeof plain, "(i,j) -> (i : compressed, j : %s)", kind[k / 3]);
        ck_ctx(cx, parse(cx, text, 2, &f));
        ck_ctx(cx, parse(cx, plain, 2, &g));
        ck_assert_msg(format_equal(&f, &g), "%s", text);
    }
    for (int k = 0; k < 6; k++) {
        char text[100];
        format f;
        snprintf(text, sizeof text,
                 "(i,j) -> (j-i : compressed, i : range%s%s%s, j : offset%s%s%s)",
                 k < 3 ? "(" : "", k < 3 ? flags[k] : "", k < 3 ? ")" : "",
                 k < 3 ? "" : "(", k < 3 ? "" : flags[k - 3], k < 3 ? "" : ")");
        ck_ctx(cx, parse(cx, text, 2, &f));
        ck_assert_int_eq(f.level[1].flags | f.level[2].flags, 0);
    }
    ctx_close(cx, &h);
}
END_TEST

/* What no text can say, but bytecode could. */
START_TEST(refused_data)
{
    static const struct {
        int order, levels;
        level_map map;
        const char *words;
    } row[] = {
        {17, 1, {0}, "at most 16 modes and 16 levels"},
        {-1, 1, {0}, "at most 16 modes and 16 levels"},
        {1, 17, {0}, "at most 16 modes and 16 levels"},
        {1, -1, {0}, "at most 16 modes and 16 levels"},
        {1, 1, {.op = MAP_MODE, .mode = 1}, "its mode isn't on the left"},
        {1, 1, {.op = MAP_COUNT, .mode = 1}, "its mode isn't on the left"},
        {1, 1, {.op = MAP_PART, .mode = 1, .k = 2}, "its mode isn't on the left"},
        {1, 1, {.op = MAP_PART, .k = 0}, "it divides by less than 1 or more than 2^40"},
        {1,
         1,
         {.op = MAP_PART, .k = 1, .n = (int64_t)1 << 41},
         "it divides by less than 1"},
        {1, 1, {.op = MAP_DIFF, .mode2 = 1}, "its mode isn't on the left"},
        {1, 1, {.op = MAP_DIFF, .mode = 1}, "its mode isn't on the left"},
        {1, 1, {.op = MAP_DIFF}, "it subtracts a mode from itself"},
        {1, 1, {.op = MAP_FLAT, .modes = 2}, "it flattens modes that aren't on the left"},
        {1, 1, {.op = MAP_FLAT, .modes = 0}, "it flattens modes that aren't on the left"},
        {1, 1, {.op = 99}, "its map is unknown"},
        {1, 1, {.op = MAP_COUNT}, "each slot would have all coordinates"},
        {1, 1, {.op = MAP_PART, .k = 2}, "no level determines mode 0 (i)"},
    };
    char why[200];
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        format f;
        format_init(&f, 1);
        format_set(&f, 0, level_kind_at(LEVEL_compressed), 0, 0);
        f.order = row[k].order;
        f.levels = row[k].levels;
        f.level[0].map = row[k].map;
        ck_assert(!format_valid(&f, why, sizeof why));
        ck_assert_msg(has_words(why, row[k].words), "row %zu: %s", k, why);
    }
    format f;
    format_init(&f, 1);
    format_set(&f, 0, level_kind_at(LEVEL_compressed), 0, 0);
    f.level[0].number = 7;
    ck_assert(!format_valid(&f, why, sizeof why));
    ck_assert_str_eq(why, "level 0 (compressed): it has a number, and its kind takes none");
    format_set(&f, 0, level_kind_at(LEVEL_slots), 0, 0);
    ck_assert(!format_valid(&f, why, sizeof why));
    format_set(&f, 0, NULL, 0, 0);
    ck_assert(!format_valid(&f, why, sizeof why));
    ck_assert_str_eq(why, "level 0 (?): it has no kind");
}
END_TEST

/* TACO's letters, and names for orders that they have. */
START_TEST(short_names)
{
    static const struct {
        const char *s;
        int modes[4];
        bool ok;
    } row[] = {
        {"ds", {0, 1}, true},     {"ds", {1, 0}, true},
        {"uq", {0, 1}, true},     {"uqq", {0, 1, 2}, true},
        {"dqq", {0, 1, 2}, true}, {"duqq", {3, 1, 2, 0}, true},
        {"qd", {0, 1}, false},    {"ds", {0, 2}, false},
        {"ds", {-1, 0}, false},   {"ds", {1, 1}, false},
        {"ud", {0, 1}, true},     {"", {0}, false},
        {"d2", {0, 1}, false},    {"ddddddddddddddddd", {0}, false},
    };
    format f;
    for (size_t k = 0; k < sizeof row / sizeof *row; k++)
        ck_assert_msg(format_short(row[k].s, strlen(row[k].s), row[k].modes, &f) ==
                          row[k].ok,
                      "%s, row %zu", row[k].s, k);
    ck_assert(format_short("dss", 3, NULL, &f));
    const int64_t two[] = {2, 0};
    static const struct {
        const char *name;
        int order, nargs;
        bool ok;
    } named[] = {
        {"dense", 0, 0, true}, {"csf", 0, 0, false},  {"dense", 17, 0, false},
        {"coo", 0, 0, false},  {"coo", 17, 0, false}, {"coo", 1, 0, true},
        {"csr", 3, 0, false},  {"bcsr", 2, 2, false}, {"bcsr", 2, 1, false},
        {"dia", 3, 0, false},  {"ell", 2, 1, false},  {"rle", 1, 0, true},
    };
    for (size_t k = 0; k < sizeof named / sizeof *named; k++)
        ck_assert_msg(format_builtin(named[k].name, strlen(named[k].name), named[k].order,
                                     two, named[k].nargs, &f) == named[k].ok,
                      "%s, row %zu", named[k].name, k);
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
    tcase_add_test(c, refused_data);
    tcase_add_test(c, flags_of_no_effect);
    tcase_add_test(c, short_names);
    tcase_add_test(c, properties);
    suite_add_tcase(s, c);
    return s;
}
