/* check_near_rows.c: bytecode that differs in one respect from what is scattered into a
 * workspace, or listed, and appended row by row (super_scatter.c, super_list.c,
 * super_rows.c, super_drain.c). Each program gives what base operations give.
 */
#include "check.h"
#include "near_super.h"

#define WORK(policy) ".tensor t9 \"\" work f64 (0) [e1] " policy "format 1 compressed(0) / "
#define PRODUCT                                                                            \
    ".merge g6 lo root hi e1 produce 0x8 { walk c2, locate c5 t1 0 root root 1 } / "       \
    ".merge "                                                                              \
    "g7 lo root hi e1 produce 0x2 { walk c6 } / .merge g8 lo root hi e1 produce 0x2 { "    \
    "walk "                                                                                \
    "c8 } / "
/* C(i,j) = A(i,k) B(k,j), row by row. */
#define LIST(before) "open c8, t9, 0, root / " before "loop i3, m3, g8 / "
#define DRAIN "at c11, t8, 1, c10, i3 / load v4, t9, c8 / store t8, c11, v4 / end / "
#define TERMS                                                                              \
    "load v1, t0, c2 / open c6, t1, 1, c5 / loop i2, m2, g7 / load v2, t1, c6 / fn2 v3, "  \
    "mul, f64, v1, v2 / ws.add t9, i2, add, f64, v3 / end / "
#define FILL "open c2, t0, 1, c0 / loop i1, m1, g6 / " TERMS "end / "
#define WS_ROWS(fill, drain)                                                               \
    CODE("loop i0, m0, g3 / " ROW "ws.begin t9 / " fill "ws.end t9 / " drain KEPT "end "   \
         "/ ")

/* The same where another fiber is, which is a factor. */
#define SIFTED(walks, mask, below)                                                         \
    PRODUCT ".merge g9 lo root hi e1 produce 0x8 { " walks " } / " CSR WORK("") WS_ROWS(   \
        "open c2, t0, 1, c0 / loop i1, m1, g6 / load v1, t0, c2 / open c6, t1, 1, c5 / "   \
        "open " mask ", t1, 1, " below " / loop i2, m2, g9 / load v2, t1, c6 / fn2 v3, "   \
        "mul, f64, v1, v2 / load v5, t1, " mask                                            \
        " / fn2 v6, mul, f64, v3, v5 / ws.add t9, "                                        \
        "i2, add, f64, v6 / end / end / ",                                                 \
        LIST("") DRAIN)

static const near_case scatters[] = {
    {"scattered", PRODUCT CSR WORK("") WS_ROWS(FILL, LIST("") DRAIN), "rows: 1 scattered"},
    {"scattered by hash", PRODUCT CSR WORK("policy hash 0 ") WS_ROWS(FILL, LIST("") DRAIN),
     "rows: 1 scattered"},
    {"scattered where another fiber is", SIFTED("walk c7, walk c6", "c7", "c1"),
     "where another fiber is"},
    {"the other one first, which follows", SIFTED("walk c6, follow c7", "c7", "c1"),
     "where another fiber is"},
    {"where a fiber of the same row is", SIFTED("walk c7, walk c6", "c7", "c5"), NULL},
    {"where both are fibers of one row",
     PRODUCT ".merge g9 lo root hi e1 produce 0x8 { walk c7, walk c6 } / " CSR WORK("")
         WS_ROWS("open c2, t0, 1, c0 / loop i1, m1, g6 / load v1, t0, c2 / open c6, t1, 1, "
                 "c1 / open c7, t0, 1, c0 / loop i2, m2, g9 / load v2, t1, c6 / fn2 v3, "
                 "mul, f64, v1, v2 / ws.add t9, i2, add, f64, v3 / end / end / ",
                 LIST("") DRAIN),
     NULL},
    {"where a fiber is, or it is",
     PRODUCT ".merge g9 lo root hi e1 produce 0xc { walk c7, walk c6 } / " CSR WORK("")
         WS_ROWS("open c2, t0, 1, c0 / loop i1, m1, g6 / load v1, t0, c2 / open c6, t1, 1, "
                 "c5 / open c7, t1, 1, c1 / loop i2, m2, g9 / load v2, t1, c6 / fn2 v3, "
                 "mul, f64, v1, v2 / ws.add t9, i2, add, f64, v3 / end / end / ",
                 LIST("") DRAIN),
     NULL},
    {"a branch between opening and walking",
     PRODUCT CSR WORK("") WS_ROWS(
         "open c2, t0, 1, c0 / ivalue v9, i0 / if v9 / endif / loop i1, m1, g6 / " TERMS
         "end / ",
         LIST("") DRAIN),
     NULL},
    {"terms without values by hash",
     PRODUCT CSR WORK("policy hash 0 ") WS_ROWS(
         "open c2, t0, 1, c0 / loop i1, m1, g6 / load v1, t0, c2 / open c6, t1, 1, c5 / "
         "loop i2, m2, g7 / ws.add t9, i2, add, f64, v1 / end / end / ",
         LIST("") DRAIN),
     "rows: 1 scattered"},
    {"another opened in between",
     PRODUCT CSR WORK("") WS_ROWS(
         "open c2, t0, 1, c0 / open c12, t1, 1, c1 / loop i1, m1, g6 / " TERMS "end / ",
         LIST("") DRAIN),
     NULL},
    {"located below what it walks",
     PRODUCT
     ".merge g9 lo root hi e1 produce 0x8 { walk c2, locate c5 t10 1 c2 root 1 } / .merge "
     "g10 "
     "lo root hi e1 produce 0x2 { walk c6 } / " CSR WORK(
         "") ".tensor t10 \"D\" input f64 (0) format 3 compressed(0) compressed(1) "
             "compressed(2) / " WS_ROWS(
                 "open c2, t10, 0, root / loop i1, m1, g9 / open c6, t10, 2, c5 / "
                 "loop i2, m2, "
                 "g10 / load v2, t10, c6 / ws.add t9, i2, add, f64, v2 / end / end / ",
                 LIST("") DRAIN),
     NULL},
    {"a fiber for each of nothing",
     PRODUCT CSR WORK("") WS_ROWS(
         "open c6, t0, 1, c0 / loop i1, m1, g5 / open c2, t0, 1, c0 / loop i2, m2, g1 / "
         "load v2, t0, c2 / ws.add t9, i2, add, f64, v2 / end / end / ",
         LIST("") DRAIN),
     NULL},
    {"five operands",
     PRODUCT
     ".merge g9 lo root hi e1 produce 0x80000000 { walk c2, locate c5 t1 0 root root 1, "
     "locate c12 t2 0 root root 1, locate c13 t3 0 root root 1, locate c14 t2 0 root root "
     "1 "
     "} / " CSR WORK("")
         WS_ROWS("open c2, t0, 1, c0 / loop i1, m1, g9 / " TERMS "end / ", LIST("") DRAIN),
     NULL},
#define FACTORS(more)                                                                      \
    PRODUCT                                                                                \
    ".merge g9 lo root hi e1 produce 0x80 { walk c2, locate c5 t1 0 root root 1, "         \
    "locate "                                                                              \
    "c12 t2 0 root root 1 } / " CSR WORK("")                                               \
        WS_ROWS("open c2, t0, 1, c0 / const v10, k10 / loop i1, m1, g9 / load v1, t0, c2 " \
                "/ "                                                                       \
                "load v5, t2, c12 / open c6, t1, 1, c5 / " more                            \
                "loop i2, m2, g7 / load v2, t1, c6 / fn2 v3, mul, f64, v6, v2 / ws.add "   \
                "t9, i2, add, f64, v3 / end / end / ",                                     \
                LIST("") DRAIN)
    {"fibers of one row each time",
     PRODUCT CSR WORK("") WS_ROWS(
         "open c2, t0, 1, c0 / loop i1, m1, g6 / load v1, t0, c2 / open c6, t1, 1, c1 / "
         "loop i2, m2, g7 / load v2, t1, c6 / fn2 v3, mul, f64, v1, v2 / ws.add t9, i2, "
         "add, f64, v3 / end / end / ",
         LIST("") DRAIN),
     "rows: 1 scattered"},
    {"fibers of a row that isn't there",
     PRODUCT CSR WORK("") WS_ROWS(
         "iconst i5, k6 / locate c12, t1, 0, root, i5 / open c2, t0, 1, c0 / loop i1, m1, "
         "g6 / load v1, t0, c2 / open c6, t1, 1, c12 / loop i2, m2, g7 / load v2, t1, c6 / "
         "fn2 v3, mul, f64, v1, v2 / ws.add t9, i2, add, f64, v3 / end / end / ",
         LIST("") DRAIN),
     NULL},
#define TRUTHS(before, term)                                                               \
    ".merge g6 lo root hi e1 produce 0x8 { walk c2, locate c5 t11 0 root root 1 } / "      \
    ".merge "                                                                              \
    "g7 lo root hi e1 produce 0x2 { walk c6 } / .merge g8 lo root hi e1 produce 0x2 { "    \
    "walk "                                                                                \
    "c8 } / .merge g9 lo root hi e5 universe produce 0x3 { locate c0 t10 0 root root 1 } " \
    "/ "                                                                                   \
    ".tensor t8 \"R\" output bool (0) [e5 e1] format 2 dense(0) compressed(1) / .tensor "  \
    "t9 \"\" "                                                                             \
    "work bool (0) [e1] format 1 compressed(0) / .tensor t10 \"K\" input bool (0) format " \
    "2 "                                                                                   \
    "dense(0) compressed(1) / .tensor t11 \"L\" input bool (0) format 2 dense(0) "         \
    "compressed(1) / " CODE(                                                               \
        before "loop i0, m0, g9 / " ROW                                                    \
               "ws.begin t9 / open c2, t10, 1, c0 / loop i1, m1, g6 "                      \
               "/ load v1, t10, c2 / open c6, t11, 1, c5 / loop i2, m2, g7 / " term        \
               "end / end / ws.end t9 / " LIST("") DRAIN KEPT "end / ")
    {"truths",
     TRUTHS("",
            "load v2, t11, c6 / fn2 v3, and, i64, v1, v2 / ws.add t9, i2, or, i64, v3 / "),
     NULL},
    {"truths without values", TRUTHS("", "ws.add t9, i2, or, i64, v1 / "), NULL},
    {"truths by a constant",
     TRUTHS("const v9, k1 / ",
            "load v2, t11, c6 / fn2 v3, and, i64, v9, v2 / ws.add t9, i2, or, i64, v3 / "),
     NULL},
    {"integers into a narrower workspace",
     ".merge g6 lo root hi e1 produce 0x8 { walk c2, locate c5 t11 0 root root 1 } / "
     ".merge "
     "g7 lo root hi e1 produce 0x2 { walk c6 } / .merge g8 lo root hi e1 produce 0x2 { "
     "walk "
     "c8 } / .merge g9 lo root hi e0 universe produce 0x3 { locate c0 t10 0 root root 1 } "
     "/ "
     ".tensor t8 \"R\" output i32 (0) [e0 e1] format 2 dense(0) compressed(1) / .tensor t9 "
     "\"\" work i32 (0) [e1] policy hash 0 format 1 compressed(0) / .tensor t10 \"K\" "
     "input "
     "i64 (0) format 2 dense(0) compressed(1) / .tensor t11 \"L\" input i64 (0) format 2 "
     "dense(0) compressed(1) / " CODE(
         "loop i0, m0, g9 / " ROW
         "ws.begin t9 / open c2, t10, 1, c0 / loop i1, m1, g6 / load "
         "v1, t10, c2 / open c6, t11, 1, c5 / loop i2, m2, g7 / load v2, t11, c6 / fn2 v3, "
         "mul, i64, v1, v2 / ws.add t9, i2, add, i64, v3 / end / end / ws.end t9 / " LIST(
             "") DRAIN KEPT "end / "),
     NULL},
    {"three factors", FACTORS("fn2 v7, mul, f64, v1, v5 / fn2 v6, mul, f64, v7, v10 / "),
     NULL},
    {"five factors",
     FACTORS(
         "fn2 v7, mul, f64, v1, v5 / fn2 v8, mul, f64, v7, v10 / fn2 v9, mul, f64, v8, v5 "
         "/ fn2 v6, mul, f64, v9, v1 / "),
     NULL},
    {"a factor that is a root",
     FACTORS("fn1 v7, abs, f64, v5 / fn2 v6, mul, f64, v1, v7 / "), NULL},
    {"a sum beside it",
     PRODUCT CSR WORK("") WS_ROWS(
         "const v0, k0 / open c2, t0, 1, c0 / loop i1, m1, g6 / load v1, t0, c2 / " ADD(
             "v1") "open c6, t1, 1, c5 / loop i2, m2, g7 / load v2, t1, c6 / fn2 v3, "
                   "mul, f64, v1, v2 / ws.add t9, i2, add, f64, v3 / end / end / ws.add "
                   "t9, i0, add, f64, v0 / ",
         LIST("") DRAIN),
     NULL},
    {"a fiber that begins before 0",
     PRODUCT ".merge g9 lo e4 hi e1 produce 0x2 { walk c6 } / " CSR WORK("") WS_ROWS(
         "open c2, t0, 1, c0 / loop i1, m1, g6 / load v1, t0, c2 / open c6, t1, 1, c5 / "
         "loop i2, m2, g9 / load v2, t1, c6 / fn2 v3, mul, f64, v1, v2 / ws.add t9, i2, "
         "add, f64, v3 / end / end / ",
         LIST("") DRAIN),
     NULL},
    {"a fiber beyond the accumulator",
     PRODUCT ".merge g9 lo root hi e5 produce 0x2 { walk c6 } / " CSR WORK("") WS_ROWS(
         "open c2, t0, 1, c0 / loop i1, m1, g6 / load v1, t0, c2 / open c6, t1, 1, c5 / "
         "loop i2, m2, g9 / load v2, t1, c6 / fn2 v3, mul, f64, v1, v2 / ws.add t9, i2, "
         "add, f64, v3 / end / end / ",
         LIST("") DRAIN),
     NULL},
    {"scattered elsewhere",
     PRODUCT CSR
         WORK("") ".tensor t10 \"\" work f64 (0) [e1] format 1 compressed(0) / " CODE(
             "ws.begin t10 / loop i0, m0, g0 / " ROW
             "ws.begin t9 / open c2, t0, 1, c0 / loop "
             "i1, m1, g1 / load v1, t0, c2 / ws.add t10, i1, add, f64, v1 / end / ws.end "
             "t9 / " LIST("") DRAIN KEPT "end / ws.end t10 / "),
     NULL},
    {"two workspaces in one loop",
     PRODUCT CSR
         WORK("") ".tensor t10 \"\" work f64 (0) [e1] format 1 compressed(0) / " CODE(
             "ws.begin t10 / loop i0, m0, g0 / " ROW
             "ws.begin t9 / open c2, t0, 1, c0 / loop "
             "i1, m1, g1 / load v1, t0, c2 / ws.add t9, i1, add, f64, v1 / ws.add t10, i1, "
             "add, "
             "f64, v1 / end / ws.end t9 / " LIST("") DRAIN KEPT "end / ws.end t10 / "),
     NULL},
    {"a result stored while it fills",
     PRODUCT CSR WORK("") ".tensor t10 \"S\" output f64 (0) [e1] format 1 dense(0) / " CODE(
         "begin t10 / loop i0, m0, g0 / " ROW "ws.begin t9 / open c2, t0, 1, c0 / loop "
         "i1, m1, g1 / load v1, t0, c2 / ws.add t9, i1, add, f64, v1 / at c12, t10, 0, "
         "root, "
         "i1 / acc t10, c12, add, f64, v1 / end / ws.end t9 / " LIST("") DRAIN KEPT
         "end / finish t10 / "),
     NULL},
    {"drained from the middle on",
     PRODUCT ".merge g9 lo e6 hi e1 produce 0x2 { walk c8 } / " CSR WORK("")
         WS_ROWS(FILL, "open c8, t9, 0, root / loop i3, m3, g9 / " DRAIN),
     NULL},
    {"drained twice",
     PRODUCT CSR WORK("")
         WS_ROWS(FILL, LIST("") DRAIN "open c8, t9, 0, root / loop i3, m3, g8 / " DRAIN),
     NULL},
    {"another opened before it is drained",
     PRODUCT CSR WORK("") WS_ROWS(FILL, LIST("open c12, t1, 1, c1 / ") DRAIN), NULL},
    {"something located in each row",
     PRODUCT CSR WORK("") WS_ROWS(
         "locate c12, t2, 0, root, i0 / locate c13, t1, 0, root, i0 / locate c14, t1, 1, "
         "c13, i0 / " FILL,
         LIST("") DRAIN),
     NULL},
    {"the workspace located elsewhere, too",
     PRODUCT
     ".merge g9 lo root hi e1 universe produce 0x3 { locate c12 t9 0 root root 1 } / " CSR
         WORK("") WS_ROWS(FILL, LIST("") DRAIN "loop i4, m4, g9 / end / "),
     NULL},
    {"nothing scattered", PRODUCT CSR WORK("") WS_ROWS("", LIST("") DRAIN), NULL},
    {"a cursor opened that is located later",
     PRODUCT
     ".merge g9 lo root hi e1 produce 0x8 { walk c2, locate c5 t1 0 root root 1 } / " CSR
         WORK("") WS_ROWS(
             "open c5, t1, 1, c1 / open c2, t0, 1, c0 / loop i1, m1, g9 / " TERMS "end / ",
             LIST("") DRAIN),
     NULL},
#define OPENS(a, b) "open c2" a ", t0, 1, c0 / open c3" b ", t1, 1, c1 / "
    {"many opened",
     PRODUCT CSR WORK("") WS_ROWS(
         OPENS("0", "0") OPENS("1", "1") OPENS("2", "2") OPENS("3", "3") OPENS("4", "4")
             OPENS("5", "5") OPENS("6", "6") OPENS("7", "7") OPENS("8", "8") OPENS("9", "9")
                 OPENS("0", "0") OPENS("1", "1") FILL,
         LIST("") DRAIN),
     NULL},
/* rows that go on where others ended */
/* The rows 1 + 2 i of a matrix that have the coordinates 0 and 1; 2, 5, 6, 7; 8; 5. */
#define ONE_ROW(hi, policy)                                                                \
    PRODUCT                                                                                \
    ".extent e7 const " hi " / .merge g9 lo root hi e7 universe produce 0x3 { "            \
    "locate c1 t10 0 root i4 2 } / .merge g10 lo root hi e1 produce 0x2 { walk c6 "        \
    "} / " R("[e1] format 1 compressed(0)")                                                \
        WORK(policy) ".tensor t10 \"Z2\" input f64 (0) format 2 dense(0) "                 \
                     "compressed(1) / " CODE("iconst i4, k1 / loop i0, m0, g9 / "          \
                                             "ws.begin t9 / open c6, t10, 1, c1 / "        \
                                             "loop i2, m2, g10 / load v2, t10, c6 / "      \
                                             "ws.add t9, i2, add, f64, v2 / "              \
                                             "end / ws.end t9 / open c8, t9, 0, root "     \
                                             "/ loop i3, m3, g8 / at c11, "                \
                                             "t8, 0, root, i3 / load v4, t9, c8 / "        \
                                             "store t8, c11, v4 / end / end / ")
    {"one row", ONE_ROW("1", ""), "rows: 1 scattered"},
    {"one row, by hash", ONE_ROW("1", "policy hash 0 "), "rows: 1 scattered"},
    {"a row that goes on", ONE_ROW("3", ""), "rows: 1 scattered"},
    {"a row that goes on, by hash", ONE_ROW("3", "policy hash 0 "), "rows: 1 scattered"},
    {"a row that goes on before its end", ONE_ROW("4", ""), "rows: 1 scattered"},
    {"a row that goes on before its end, by hash", ONE_ROW("4", "policy hash 0 "),
     "rows: 1 scattered"},
};
enum { SCATTERS = sizeof scatters / sizeof *scatters };

START_TEST(near_rows)
{
    near_super_judge(&scatters[_i]);
}
END_TEST

Suite *suite_near_rows(void)
{
    Suite *s = suite_create("near_rows");
    TCase *c = tcase_create("near");
    tcase_add_loop_test(c, near_rows, 0, SCATTERS);
    suite_add_tcase(s, c);
    return s;
}
