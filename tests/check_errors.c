/* check_errors.c: which error is told where several things fail: that of the first round,
 * in the order in which base operations do things, whatever tier runs the loops. The faster
 * ones do a loop inside for many rounds of the loop around at once (vm/cascades/cascade.c),
 * and have to look whether what comes behind it fails before that. */
#include "check.h"
#include <string.h>

/* Row 2 of A/X fails at (2,2); z is 0 in row 2. */
#define OPERANDS                                                                           \
    "tensor A csr i64 [4,4] = [[1,2,3,4],[5,6,7,8],[9,8,7,6],[1,1,1,1]]\n"                 \
    "tensor X dense i64 [4,4] = [[1,2,3,4],[5,1,7,8],[9,8,0,6],[1,1,1,1]]\n"               \
    "tensor z dense i64 [4] = [1,1,0,1]\n"                                                 \
    "tensor y dense i64\n"                                                                 \
    "tensor P rle i64 [4,4] = [[2,2,1,1],[2,2,2,2],[1,1,0,0],[0,0,1,1]]\n"                 \
    "tensor q rle i64\n"                                                                   \
    "fn down(x) { k = 0; while (k < 3) { k = k + 6 // x + 1 }; return k }\n"

static const struct {
    const char *text, *words;
} errors[] = {
    {"y(i) = sum(j: A(i,j) // X(i,j)) + 7 // (z(i) + 1)", "1:15: zero at (2,2)"},
    {"y(i) = sum(j: A(i,j) // X(i,j)) + 7 // (i - 2)", "1:15: zero at (2,2)"},
    {"y(i) = sum(j: A(i,j) // X(i,j)) + 7 // (i - 3)", "1:15: zero at (2,2)"},
    {"y(i) = sum(j: A(i,j) // X(i,j)) + 7 // (i - 1)", "1:35: zero at (1)"},
    {"y(i) = 7 // (i - 1) + sum(j: A(i,j) // X(i,j))", "1:8: zero at (1)"},
    {"y(i) = 7 // (i - 3) + sum(j: A(i,j) // X(i,j))", "1:30: zero at (2,2)"},
    /* the sums of rows that come first are whole */
    {"y(i) = sum(j: A(i,j) // X(i,j)) // (sum(j: A(i,j) // 1) - 10)", "1:8: zero at (0)"},
    {"y(i) = sum(j: A(i,j) // X(i,j)) // (sum(j: A(i,j) // 1) - 26)", "1:8: zero at (1)"},
    {"y(i) = 1 // sum(j: A(i,j) // X(i,j))", "1:20: zero at (2,2)"},
    /* a row of lanes at a time, the first one and one that is done as it was */
    {"y(i,j) = 7 // (X(i,j+1) - 2)", "1:10: zero at (0,0)"},
    {"y(i,j) = 7 // X(i,j+1)", "1:10: zero at (2,1)"},
    {"y(i,j) = 7 // X(i,j+1) + A(i,j+1)", "1:10: zero at (2,1)"},
    /* two loops inside */
    {"y(i) = sum(j: A(i,j) // X(i,j)) + sum(j: A(i,j) // (z(i) + j - 3))",
     "1:42: zero at (0,2)"},
    {"y(i) = sum(j: A(i,j) // (z(i) + j - 3)) + sum(j: A(i,j) // X(i,j))",
     "1:15: zero at (0,2)"},
    {"y(i) = sum(j: A(i,j) // X(i,j)) + sum(j: A(i,j) // (z(i) + j))",
     "1:15: zero at (2,2)"},
    {"y(i) = sum(j: A(i,j) // (i - j - 3)) + sum(j: A(i,j) // X(i,j))",
     "1:47: zero at (2,2)"},
    /* three loops, each in the one before */
    {"y(i) = sum(j: sum(k: A(i,k) // X(j,k)) // (X(i,j) - 8)) // (i - 1)",
     "1:22: zero at (0,2,2)"},
    {"y(i) = sum(j: sum(k: A(i,k) // X(j,k)) // (X(i,j) - 2))", "1:15: zero at (0,1)"},
    {"y(i) = sum(j: sum(k: A(i,k) // X(j,k)) // (X(i,j) - 3))", "1:22: zero at (0,2,2)"},
    /* once a run: at its first element */
    {"q(i,j) = 7 // P(i,j)", "1:10: zero at (2,2)"},
    {"q(i,j) = 7 // P(i+1,j)", "1:10: zero at (1,2)"},
    {"q(i,j) = P(i,j+1) % (P(i,j+1) - 1)", "1:10: zero at (0,1)"},
    {"q(i,j) = 7 // P(i,j) + 7 // (P(i,j) - 1)", "1:24: zero at (0,2)"},
    {"q(i,j) = 7 // (P(i,j) - 1) + 7 // P(i,j)", "1:10: zero at (0,2)"},
    {"y(i) = sum(j: 7 // P(i,j))", "1:15: zero at (2,2)"},
    {"y(i) = sum(j: P(i,j) // z(i))", "1:15: zero at (2,0)"},
    /* functions with loops */
    {"q(i,j) = down(P(i,j))", "1:10: zero at (2,2)"},
    {"q(i,j) = down(P(i,j)) + 7 // (P(i,j) - 1)", "1:25: zero at (0,2)"},
    {"q(i,j) = down(P(i,j)) + 7 // P(i,j)", "1:10: zero at (2,2)"},
    {"y(i,j) = down(X(i,j)) + 7 // (X(i,j) - 4)", "1:25: zero at (0,3)"},
    {"y(i) = sum(j: down(X(i,j)))", "1:15: zero at (2,2)"},
    {"y(i) = sum(j: down(X(i,j))) // (z(i) - 1)", "1:8: zero at (0)"},
    {"y(i) = 7 // (z(i) - 1) + sum(j: down(X(i,j)))", "1:8: zero at (0)"},
};
enum { ERRORS = sizeof errors / sizeof *errors };

/* Where and what of the message. */
static void told(bool no_super, const char *text, char *out, size_t size)
{
    heap h;
    stc_session *s;
    stc_machine *m = machine_open(&h, no_super);
    ck_ok(m, stc_session_open(m, &s));
    ck_ok(m, stc_session_exec(s, OPERANDS, "operands"));
    ck_assert_int_eq(stc_session_exec(s, text, "statement"), STC_ERR_ARITHMETIC);
    const stc_error_info *e = stc_error(m);
    const char *what = strstr(e->message, "zero");
    ck_assert_ptr_nonnull(what);
    snprintf(out, size, "%d:%d: %s", e->line, e->column, what);
    stc_session_close(s);
    machine_shut(m, &h);
}

START_TEST(first_error)
{
    char base[200], tiers[200];
    told(true, errors[_i].text, base, sizeof base);
    told(false, errors[_i].text, tiers, sizeof tiers);
    ck_assert_msg(!strcmp(base, errors[_i].words), "%s: %s", errors[_i].text, base);
    ck_assert_msg(!strcmp(tiers, base), "%s: %s, but base operations tell %s",
                  errors[_i].text, tiers, base);
}
END_TEST

Suite *suite_errors(void)
{
    Suite *s = suite_create("errors");
    TCase *c = tcase_create("errors");
    tcase_add_loop_test(c, first_error, 0, ERRORS);
    suite_add_tcase(s, c);
    return s;
}
