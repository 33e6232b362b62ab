/* check_flat.c: maps in which modes share a level, of every kind, in every place, beside
 * levels that are split: what operands of one map give to each other is what they give as
 * dense tensors, in any order of subscripts, of any extents, as part of a result or whole.
 */
#include "check.h"

/* Of three modes; compressed and dense ones are walked as they are, others are sorted. */
static const char *const maps[] = {
    "flat(i,j,k) : dense",
    "flat(i,j,k) : compressed",
    "flat(i,j,k) : compressed(unordered)",
    "flat(i,j,k) : compressed(nonunique)",
    "flat(i,j,k) : hashed",
    "flat(i,j,k) : rle",
    "flat(i,j,k) : lz77",
    "flat(i,j,k) : bytemap",
    "flat(i,j) : hashed, k : compressed",
    "flat(i,j) : compressed(nonunique, unordered), k : singleton",
    "k : compressed(nonunique), flat(i,j) : singleton",
    "i : dense, flat(j,k) : lz77",
    "flat(j,k) : compressed, i : hashed",
    "flat(j,k) : dense, i/4 : compressed, i%4 : compressed",
    "i/7 : compressed, flat(j,k) : compressed, i%7 : dense",
    "i%2 : hashed, flat(j,k) : rle, i/2 : compressed(unordered)",
    "flat(i,j) : dense, k%3 : compressed, k/3 : compressed",
    ("k/2 : compressed(nonunique, unordered), k%2 : singleton(nonunique), "
     "flat(i,j) : singleton"),
};
enum { MAPS = sizeof maps / sizeof *maps };

/* What is computed: of A and B [3,4,5], C [5,3,4] and E [5,6,5] as they stand, and a dense
 * copy of each in small letters; y is [3,4,5], z [3,3,3], s a scalar. */
static const struct {
    const char *mapped, *dense;
} statements[] = {
    {"y(i,j,k) = A(i,j,k)", "w(i,j,k) = a(i,j,k)"},
    {"y(i,j,k) = A(i,j,k) * B(i,j,k)", "w(i,j,k) = a(i,j,k) * b(i,j,k)"},
    {"y(i,j,k) = A(i,j,k) - B(i,j,k)", "w(i,j,k) = a(i,j,k) - b(i,j,k)"},
    {"y(i,j,k) = A(i,j,k) + C(k,i,j)", "w(i,j,k) = a(i,j,k) + c(k,i,j)"},
    {"y(i,j,k) = A(i,j,k) + E(i(:3),j(1:5),k)", "w(i,j,k) = a(i,j,k) + e(i(:3),j(1:5),k)"},
    {"y(i,j,k) = E(i(:3),j(0:4),k) - A(i,j,k)", "w(i,j,k) = e(i(:3),j(0:4),k) - a(i,j,k)"},
    {"y(i,j,k) = E(i(2:),j(0:4),k) * A(i,j,k)", "w(i,j,k) = e(i(2:),j(0:4),k) * a(i,j,k)"},
    {"y(i,j,k) += E(i(:5:2),j(0:4),k)", "w(i,j,k) += e(i(:5:2),j(0:4),k)"},
    {"y(i,j(0:2),k) = A(i,j(1:3),k)", "w(i,j(0:2),k) = a(i,j(1:3),k)"},
    {"y(i,i(0:3),i(0:3)) = A(i,i(1:4),i(2:5))", "w(i,i(0:3),i(0:3)) = a(i,i(1:4),i(2:5))"},
    {"z(i,j,k) = A(i,j(1:),k(:3)) + A(k,j(:3),i(2:))",
     "v(i,j,k) = a(i,j(1:),k(:3)) + a(k,j(:3),i(2:))"},
    {"z(k,j,i) = A(i,j(1:),k(:3)) + C(k(:3),j,i(:3))",
     "v(k,j,i) = a(i,j(1:),k(:3)) + c(k(:3),j,i(:3))"},
    {"s = sum(k, j, i: A(i,j,k)) + 2", "t = sum(k, j, i: a(i,j,k)) + 2"},
    {"s = min(A(i,j,k), A(i,j,k))", "t = min(a(i,j,k), a(i,j,k))"},
    {"s = A(i,j,k) * B(i,j,k) + A(i,j,k)", "t = a(i,j,k) * b(i,j,k) + a(i,j,k)"},
    {"s = A(i,j,k) - C(k,i,j)", "t = a(i,j,k) - c(k,i,j)"},
    {"s = max(A(i,j,k), C(k,i,j)) + max(i,j,k: B(i,j,k))",
     "t = max(a(i,j,k), c(k,i,j)) + max(i,j,k: b(i,j,k))"},
    {"s = max(i in 0:2, j, k in 1:3: A(i,j,k) + E(i(:3),j(0:4),k))",
     "t = max(i in 0:2, j, k in 1:3: a(i,j,k) + e(i(:3),j(0:4),k))"},
    {"s = min(i, j, k: A(i,j,k) + 1 + E(i(:3),j(0:4),k))",
     "t = min(i, j, k: a(i,j,k) + 1 + e(i(:3),j(0:4),k))"},
    {"s = prod(i, j, k: 1 + A(i,j,k)) + sum(i in 1:3, j, k: E(i,j,k))",
     "t = prod(i, j, k: 1 + a(i,j,k)) + sum(i in 1:3, j, k: e(i,j,k))"},
    {"s = sum(i: E(i,i(0:5),i)) - E(i,j,i)", "t = sum(i: e(i,i(0:5),i)) - e(i,j,i)"},
};
enum { STATEMENTS = sizeof statements / sizeof *statements };

START_TEST(as_dense)
{
    char text[4000];
    for (int k = 0; k < STATEMENTS; k++) {
        snprintf(
            text, sizeof text,
            "format map = (i,j,k) -> (%s)\n"
            "tensor a dense i64 [3,4,5]\na(i,j,k) = (i + 3*j + k) %% 5 // 2\n"
            "tensor b dense i64 [3,4,5]\nb(i,j,k) = (7*i + j * k) %% 3\n"
            "tensor c dense i64 [5,3,4]\nc(i,j,k) = (i * j + k + 1) %% 4\n"
            "tensor e dense i64 [5,6,5]\ne(i,j,k) = (i + j * k) %% 3\n"
            "tensor A map i64\nA(i,j,k) = a(i,j,k)\ntensor B map i64\n"
            "B(i,j,k) = b(i,j,k)\ntensor C map i64\nC(i,j,k) = c(i,j,k)\n"
            "tensor E map i64\nE(i,j,k) = e(i,j,k)\n"
            "tensor y map i64\ny(i,j,k) = B(i,j,k)\ntensor z map i64 [3,3,3]\n"
            "tensor w dense i64\nw(i,j,k) = b(i,j,k)\ntensor v dense i64 [3,3,3]\n"
            "z(i,j,k) = i\nv(i,j,k) = i\ns = 0\nt = 0\n%s\n%s\n"
            "n = sum(i,j,k: y(i,j,k) != w(i,j,k)) + sum(i,j,k: z(i,j,k) != v(i,j,k)) + "
            "(s != t)",
            maps[_i], statements[k].mapped, statements[k].dense);
        EXPECT(text, "n", 0);
    }
}
END_TEST

/* Where an operand's own levels are walked, but not in their order, it is sorted into
 * levels of the same map. */
START_TEST(sorted_by_its_own_levels)
{
    static const stc_decl decls[] = {
        {0, "A", "(i,j) -> (flat(i,j) : hashed)", STC_I64, NULL, 2},
        {0, "y", "(i,j) -> (flat(i,j) : hashed)", STC_I64, NULL, 2}};
    stc_machine *m;
    stc_program *p;
    char *text;
    ck_assert_int_eq(stc_open(NULL, &m), STC_OK);
    ck_ok(m, stc_compile(m, "y(i,j) = A(i,j)", decls, 2, &p));
    ck_ok(m, stc_program_explain(p, "plan", &text));
    ck_assert(has_words(text, "A is converted to (i,j) -> (flat(i,j) : compressed)"));
    stc_text_free(m, text);
    stc_program_free(p);
    stc_close(m);
}
END_TEST

Suite *suite_flat(void)
{
    Suite *s = suite_create("flat");
    TCase *c = tcase_create("flat");
    tcase_add_loop_test(c, as_dense, 0, MAPS);
    tcase_add_test(c, sorted_by_its_own_levels);
    suite_add_tcase(s, c);
    return s;
}
