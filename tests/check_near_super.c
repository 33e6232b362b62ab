/* check_near_super.c: bytecode that differs in one respect from what superinstructions take
 * over: nests of two loops (nest.c), scattered rows (super_scatter.c, super_rows.c,
 * super_drain.c), coordinates at the ends of 64 bits (merge.c). Each program gives what
 * base operations give, and is taken over just where that is right.
 */
#include "check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Operands have nine coordinates a mode, a third of them stored. The case declares R, t8,
 * and what else it has. */
#define HEAD                                                                               \
    ".registers v 16 i 12 m 6 c 40\n"                                                      \
    ".tensor t0 \"A\" input f64 (0) format 2 dense(0) compressed(1)\n"                     \
    ".tensor t1 \"B\" input f64 (0) format 2 dense(0) compressed(1)\n"                     \
    ".tensor t2 \"x\" input f64 (0) format 1 dense(0)\n"                                   \
    ".tensor t3 \"y\" input f64 (0) format 1 dense(0)\n"                                   \
    ".tensor t4 \"H\" input f64 (0) format 1 hashed(0)\n"                                  \
    ".tensor t5 \"X\" input f64 (0) format 2 dense(0) dense(1)\n"                          \
    ".tensor t6 \"U\" input f64 (0) format 1 compressed(0) unordered\n"                    \
    ".tensor t7 \"Z\" input f64 (0) format 2 dense(1-0) range(0) offset(1)\n"              \
    ".extent e0 dim t0 0\n.extent e1 dim t0 1\n.extent e2 const 4\n.extent e3 const 1\n"   \
    ".extent e4 const -3\n.extent e5 const 100\n.extent e6 const 3\n"                      \
    ".const k0 f64 0\n.const k1 i64 1\n.const k2 i64 0\n.const k3 i64 -1\n"                \
    ".const k4 i64 4611686018427387904\n.const k5 i64 9223372036854775807\n"               \
    ".const k6 i64 100\n.const k7 i64 2\n.const k8 i64 4611686018427387903\n"              \
    ".const k9 i64 -9223372036854775806\n"                                                 \
    ".merge g0 lo root hi e0 universe produce 0x3 { locate c0 t0 0 root root 1 }\n"        \
    ".merge g1 lo root hi e1 produce 0x2 { walk c2 }\n"                                    \
    ".merge g2 lo root hi e1 produce 0x8 { walk c2, locate c3 t2 0 root root 1 }\n"        \
    ".merge g3 lo root hi e0 universe produce 0xf { locate c0 t0 0 root root 1, locate "   \
    "c1 t1 0 root root 1 }\n"                                                              \
    ".merge g4 lo root hi e1 produce 0xe { walk c2, walk c3 }\n"                           \
    ".merge g5 lo root hi e1 universe produce 0x1 { }\n"

typedef struct near_case {
    const char *what, *code, *dump; /* what the program's dump says; NULL: whatever */
} near_case;

/* R, of a format; what it is made of. */
#define R(of) ".tensor t8 \"R\" output f64 (0) " of " / "
#define VECTOR R("[e0] format 1 dense(0)")
#define DENSE R("[e0 e1] format 2 dense(0) dense(1)")
#define CSR R("[e0 e1] format 2 dense(0) compressed(1)")
#define CODE(body) ".code / begin t8 / " body "finish t8 / halt / "
#define ADD(v) "fn2 v0, add, f64, v0, " v " / "

/* ---- nests of two loops -------------------------------------------------------------- */

/* R(i) is v0, summed by the loop inside. */
#define SUMS(before, loop, body)                                                           \
    CODE("loop i0, m0, g0 / at c9, t8, 0, root, i0 / " before loop body                    \
         "end / store t8, c9, v0 / end / ")
#define ALONG_A "open c2, t0, 1, c0 / const v0, k0 / loop i1, m1, g2 / load v1, t0, c2 / "
/* From A's rows and B's, appended: `at` to `keep`. */
#define MERGED(before, at, keep, after)                                                    \
    CODE(before "loop i0, m0, g3 / " at "open c2, t0, 1, c0 / open c3, t1, 1, c1 / loop "  \
                "i1, m1, g4 / load v1, t0, c2 / load v2, t1, c3 / fn2 v3, add, f64, v1, "  \
                "v2 / at c11, t8, 1, c10, i1 / store t8, c11, v3 / end / " keep            \
                "end / " after)
#define ROW "at c10, t8, 0, root, i0 / "
#define KEPT "keep t8, 0, c10 / "
/* The same into a result of three modes. */
#define MERGED3(of, before, row, after)                                                    \
    R("[e0 e0 e1] format 3 " of)                                                           \
    CODE(before "loop i0, m0, g3 / " row "open c2, t0, 1, c0 / open c3, t1, 1, c1 / loop " \
                "i1, m1, g4 / load v1, t0, c2 / load v2, t1, c3 / fn2 v3, add, f64, v1, "  \
                "v2 / at c12, t8, 2, c11, i1 / store t8, c12, v3 / end / keep t8, 1, c11 " \
                "/ " after)
#define FIRST "iconst i3, k1 / at c10, t8, 0, root, i3 / "
#define SECOND "at c11, t8, 1, c10, i0 / "
/* Rows of X that aren't there: located beyond its end, outside. */
#define NO_ROW                                                                             \
    ".merge g6 lo root hi e1 produce 0x8 { walk c2, locate c7 t5 1 c6 root 1 } / "         \
    ".merge g7 lo root hi e1 universe produce 0x2 { locate c7 t5 1 c6 root 1 } / "         \
    ".merge g8 lo root hi e1 produce 0x80 { walk c2, locate c7 t5 1 c6 root 1, locate c3 " \
    "t2 0 root root 1 } / "
#define BEYOND "iconst i3, k6 / locate c6, t5, 0, root, i3 / "

static const near_case nests[] = {
    {"a sum",
     VECTOR SUMS(ALONG_A, "", "load v2, t2, c3 / fn2 v3, mul, f64, v1, v2 / " ADD("v3")),
     "nest fiber -> sum"},
    {"a function of another class than its result's",
     ".tensor t8 \"R\" output i64 (0) [e0] format 1 dense(0) / " SUMS(
         "open c2, t0, 1, c0 / const v0, k2 / ", "loop i1, m1, g2 / ",
         "load v1, t0, c2 / load v2, t2, c3 / fn2 v3, and, f64, v1, v2 / fn2 v0, or, i64, "
         "v0, v3 / "),
     NULL},
    {"six operands",
     ".merge g6 lo root hi e1 produce 0x8000000000000000 { walk c2, locate c3 t2 0 root "
     "root "
     "1, locate c4 t3 0 root root 1, locate c5 t2 0 root root 1, locate c6 t3 0 root root "
     "1, "
     "locate c7 t2 0 root root 1 } / " VECTOR SUMS(
         "open c2, t0, 1, c0 / const v0, k0 / ", "loop i1, m1, g6 / ",
         "load v1, t0, c2 / load v2, t2, c3 / fn2 v3, mul, f64, v1, v2 / " ADD("v3")),
     "nest fiber -> sum"},
    {"what isn't loaded ends early",
     ".merge g6 lo root hi e5 produce 0x8 { walk c2, locate c3 t2 0 root root 1 } / " VECTOR
         SUMS("open c2, t0, 1, c0 / const v0, k0 / ", "loop i1, m1, g6 / ",
              "load v1, t0, c2 / " ADD("v1")),
     "nest fiber -> sum"},
/* what lanes begin with */
#define BEGUN                                                                              \
    ".merge g6 lo root hi e0 universe produce 0x80 { locate c0 t0 0 root root 1, locate "  \
    "c4 "                                                                                  \
    "t3 0 root root 1, locate c1 t1 0 root root 1 } / .merge g7 lo root hi e1 universe "   \
    "produce 0x8 { locate c6 t5 1 c5 root 1, locate c3 t2 0 root root 1 } / .merge g8 lo " \
    "root hi e0 universe produce 0x8 { locate c5 t5 0 root root 1, locate c4 t3 0 root "   \
    "root 1 } / .merge g9 lo root hi e1 produce 0x8 { walk c2, locate c3 t4 0 root root "  \
    "1 } / "                                                                               \
    ".merge g10 lo root hi e1 produce 0x8 { walk c2, walk c3 } / " VECTOR
#define BEGINS(outer, before, inner, body)                                                 \
    BEGUN CODE("loop i0, m0, " outer                                                       \
               " / at c9, t8, 0, root, i0 / load v0, t3, c4 / " before                     \
               "loop i1, m1, " inner " / " body "end / store t8, c9, v0 / end / ")
#define MUL12 "fn2 v3, mul, f64, v1, v2 / " ADD("v3")
    {"fibers from another sum each",
     BEGINS("g6", "open c2, t0, 1, c0 / ", "g2",
            "load v1, t0, c2 / load v2, t2, c3 / " MUL12),
     "nest fiber -> sum"},
    {"sought from another sum each",
     BEGINS("g6", "open c2, t0, 1, c0 / ", "g9",
            "load v1, t0, c2 / load v2, t4, c3 / " MUL12),
     "nest fiber -> sum"},
    {"squares from another sum each",
     BEGINS("g6", "open c2, t0, 1, c0 / ", "g1",
            "load v1, t0, c2 / load v2, t0, c2 / " MUL12),
     "nest fiber -> sum"},
    {"rows from another sum each",
     BEGINS("g8", "", "g7", "load v1, t5, c6 / load v2, t2, c3 / " MUL12),
     "nest range -> sum"},
    {"two fibers from another sum each",
     BEGINS("g6", "open c2, t0, 1, c0 / open c3, t1, 1, c1 / ", "g10",
            "load v1, t0, c2 / load v2, t1, c3 / " MUL12),
     "nest merge -> sum"},
    {"squares by the lane's own",
     BEGINS("g6", "open c2, t0, 1, c0 / load v4, t3, c4 / ", "g1",
            "load v1, t0, c2 / load v2, t0, c2 / fn2 v3, mul, f64, v1, v2 / fn2 v5, mul, "
            "f64, v3, v4 / " ADD("v5")),
     "nest fiber -> sum"},
    {"two fibers by the lane's own",
     BEGINS("g6", "open c2, t0, 1, c0 / open c3, t1, 1, c1 / load v4, t3, c4 / ", "g10",
            "load v1, t0, c2 / load v2, t1, c3 / fn2 v3, mul, f64, v1, v2 / fn2 v5, mul, "
            "f64, v3, v4 / " ADD("v5")),
     "nest merge -> sum"},
    /* rows that aren't there */
    {"a fiber by a row that isn't there",
     NO_ROW VECTOR SUMS(BEYOND "open c2, t0, 1, c0 / const v0, k0 / ", "loop i1, m1, g6 / ",
                        "load v1, t0, c2 / load v2, t5, c7 / " MUL12),
     "nest fiber -> sum"},
    {"a square by a row that isn't there",
     NO_ROW VECTOR SUMS(
         BEYOND "open c2, t0, 1, c0 / const v0, k0 / ", "loop i1, m1, g6 / ",
         "load v1, t0, c2 / load v2, t5, c7 / fn2 v3, mul, f64, v1, v2 / fn2 "
         "v4, mul, f64, v3, v1 / " ADD("v4")),
     "nest fiber -> sum"},
    {"a fiber by two rows, one of which isn't there",
     NO_ROW VECTOR SUMS(
         BEYOND "open c2, t0, 1, c0 / const v0, k0 / ", "loop i1, m1, g8 / ",
         "load v1, t0, c2 / load v2, t5, c7 / fn2 v3, mul, f64, v1, v2 / load "
         "v4, t2, c3 / fn2 v5, mul, f64, v3, v4 / " ADD("v5")),
     "nest fiber -> sum"},
    {"the sum of a row that isn't there",
     NO_ROW VECTOR SUMS(BEYOND "const v0, k0 / ", "loop i1, m1, g7 / ",
                        "load v1, t5, c7 / " ADD("v1")),
     "nest range -> sum"},
    {"a row that isn't there into a row",
     NO_ROW R("[e1] format 1 dense(0)") CODE(
         BEYOND "loop i0, m0, g0 / loop i1, m1, g7 / load v1, t5, c7 / at c9, t8, 0, root, "
                "i1 / acc t8, c9, add, f64, v1 / end / end / "),
     "nest range -> accumulate"},
    {"fibers by a row that isn't there, into each lane's place",
     NO_ROW VECTOR CODE(
         BEYOND
         "loop i0, m0, g0 / at c9, t8, 0, root, i0 / open c2, t0, 1, c0 / loop i1, m1, g6 "
         "/ "
         "load v1, t0, c2 / load v2, t5, c7 / fn2 v3, mul, f64, v1, v2 / acc t8, c9, add, "
         "f64, v3 / end / end / "),
     "nest fiber -> accumulate"},
/* into each lane's place */
#define INTO(of, before, at, after)                                                        \
    R(of)                                                                                  \
    CODE(before                                                                            \
         "loop i0, m0, g0 / " at "open c2, t0, 1, c0 / loop i1, m1, g2 / load "            \
         "v1, t0, c2 / load v2, t2, c3 / fn2 v3, mul, f64, v1, v2 / acc t8, c9, add, "     \
         "f64, v3 / end / " after)
    {"into each lane's place",
     INTO("[e0] format 1 dense(0)", "", "at c9, t8, 0, root, i0 / ", "end / "),
     "nest fiber -> accumulate"},
    {"into each lane's place, the vector first",
     R("[e0] format 1 dense(0)") CODE(
         "loop i0, m0, g0 / at c9, t8, 0, root, i0 / open c2, t0, 1, c0 / loop i1, m1, g2 "
         "/ "
         "load v2, t2, c3 / load v1, t0, c2 / fn2 v3, mul, f64, v2, v1 / acc t8, c9, add, "
         "f64, v3 / end / end / "),
     "nest fiber -> accumulate"},
    {"into each lane's place, which is kept",
     INTO("[e0] format 1 dense(0)", "", "at c9, t8, 0, root, i0 / ",
          "keep t8, 0, c9 / end / "),
     NULL},
    {"into each lane's place in a row",
     INTO("[e0 e0] format 2 dense(0) dense(1)",
          "iconst i3, k1 / at c10, t8, 0, root, i3 / ", "at c9, t8, 1, c10, i0 / ",
          "end / "),
     NULL},
    {"into places that are appended",
     INTO("[e0] format 1 compressed(0)", "", "at c9, t8, 0, root, i0 / ", "end / "), NULL},
    {"into too few places",
     INTO("[e2] format 1 dense(0)", "", "at c9, t8, 0, root, i0 / ", "end / "), NULL},
    {"into a row, while another result is stored",
     R("[e1] format 1 dense(0)") ".tensor t9 \"S\" output f64 (0) [e0] format 1 dense(0) "
                                 "/ " CODE("begin t9 / loop i0, m0, g0 / at c9, t9, 0, "
                                           "root, i0 / open c2, t0, 1, c0 / loop "
                                           "i1, m1, g1 / load v1, t0, c2 / at c10, t8, 0, "
                                           "root, i1 / acc t8, c10, add, f64, v1 "
                                           "/ end / const v2, k0 / store t9, c9, v2 / end "
                                           "/ finish t9 / "),
     NULL},
    /* two fibers, appended */
    {"merged", CSR MERGED("", ROW, KEPT, ""), "nest merge -> store"},
    {"merged, rows not kept", CSR MERGED("", ROW, "", ""), NULL},
    {"merged into a row from outside",
     ".merge g6 lo root hi e3 universe produce 0xf { locate c0 t0 0 root root 1, locate c1 "
     "t1 "
     "0 root root 1 } / " CSR CODE(
         "iconst i3, k1 / at c10, t8, 0, root, i3 / loop i0, m0, g6 / open c2, t0, 1, c0 / "
         "open c3, t1, 1, c1 / loop i1, m1, g4 / load v1, t0, c2 / load v2, t1, c3 / fn2 "
         "v3, "
         "add, f64, v1, v2 / at c11, t8, 1, c10, i1 / store t8, c11, v3 / end / end / keep "
         "t8, 0, c10 / "),
     NULL},
    {"merged into rows at a distance",
     CSR CODE(
         "iconst i3, k1 / loop i0, m0, g3 / imuladd i4, i0, k1, i3 / within i4, e0 / at "
         "c10, t8, 0, root, i4 / open c2, t0, 1, c0 / open c3, t1, 1, c1 / loop i1, m1, "
         "g4 / load v1, t0, c2 / load v2, t1, c3 / fn2 v3, add, f64, v1, v2 / at c11, "
         "t8, 1, c10, i1 / store t8, c11, v3 / end / keep t8, 0, c10 / end / "),
     NULL},
    {"merged into too few columns",
     R("[e0 e2] format 2 dense(0) compressed(1)") MERGED("", ROW, KEPT, ""), NULL},
    {"merged into rows of a slice",
     MERGED3("dense(0) dense(1) compressed(2)", FIRST, SECOND, "end / keep t8, 0, c10 / "),
     NULL},
    {"merged into rows of a slice that isn't kept yet",
     MERGED3("compressed(0) dense(1) compressed(2)", FIRST, SECOND,
             "end / keep t8, 0, c10 / "),
     NULL},
    {"merged into a slice each",
     MERGED3("dense(0) dense(1) compressed(2)", "",
             "at c10, t8, 0, root, i0 / at c11, t8, 1, c10, i0 / ",
             "keep t8, 0, c10 / end / "),
     NULL},
    {"merged, one of two with a row",
     ".merge g6 lo root hi e1 produce 0x80 { walk c2, walk c3, locate c7 t5 1 c6 root 1 } "
     "/ "
     ".merge g7 lo root hi e0 universe produce 0x80 { locate c0 t0 0 root root 1, locate "
     "c1 "
     "t1 0 root root 1, locate c6 t5 0 root root 1 } / " CSR CODE(
         "loop i0, m0, g7 / at c10, t8, 0, root, i0 / open c2, t0, 1, c0 / open c3, t1, 1, "
         "c1 / loop i1, m1, g6 / load v1, t0, c2 / load v2, t5, c7 / fn2 v3, mul, f64, v1, "
         "v2 / at c11, t8, 1, c10, i1 / store t8, c11, v3 / end / keep t8, 0, c10 / end "
         "/ "),
     NULL},
};
enum { NESTS = sizeof nests / sizeof *nests };

/* ---- scattered rows ------------------------------------------------------------------ */

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

static const near_case scatters[] = {
    {"scattered", PRODUCT CSR WORK("") WS_ROWS(FILL, LIST("") DRAIN), "rows: 1 scattered"},
    {"scattered by hash", PRODUCT CSR WORK("policy hash 0 ") WS_ROWS(FILL, LIST("") DRAIN),
     "rows: 1 scattered"},
    {"a branch between opening and walking",
     PRODUCT CSR WORK("") WS_ROWS(
         "open c2, t0, 1, c0 / ivalue v9, i0 / if v9 / endif / loop i1, m1, g6 / " TERMS
         "end / ",
         LIST("") DRAIN),
     NULL},
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
    "c12 t2 0 root root 1 } / .const k10 f64 4611686018427387904 / " CSR WORK("")          \
        WS_ROWS("open c2, t0, 1, c0 / const v10, k10 / loop i1, m1, g9 / load v1, t0, c2 " \
                "/ "                                                                       \
                "load v5, t2, c12 / open c6, t1, 1, c5 / " more                            \
                "loop i2, m2, g7 / load v2, t1, c6 / fn2 v3, mul, f64, v6, v2 / ws.add "   \
                "t9, i2, add, f64, v3 / end / end / ",                                     \
                LIST("") DRAIN)
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
#define RANGE(lo, hi)                                                                      \
    ".extent e7 const " lo " / .extent e8 const " hi " / .merge g9 lo e7 hi e8 universe "  \
    "produce 0x3 { locate c1 t1 0 root root 1 } / .merge g10 lo root hi e1 produce 0x2 { " \
    "walk c6 } / "
#define ONE_ROW(range, policy)                                                             \
    PRODUCT range R("[e1] format 1 compressed(0)") WORK(policy) CODE(                      \
        "loop i0, m0, g9 / ws.begin t9 / open c6, t1, 1, c1 / loop i2, m2, g10 / load "    \
        "v2, "                                                                             \
        "t1, c6 / ws.add t9, i2, add, f64, v2 / end / ws.end t9 / open c8, t9, 0, root / " \
        "loop i3, m3, g8 / at c11, t8, 0, root, i3 / load v4, t9, c8 / store t8, c11, v4 " \
        "/ "                                                                               \
        "end / end / ")
    {"a row that goes on", ONE_ROW(RANGE("1", "3"), ""), NULL},
    {"a row that goes on, by hash", ONE_ROW(RANGE("1", "3"), "policy hash 0 "), NULL},
    {"a row that goes on before its end", ONE_ROW(RANGE("1", "9"), ""), NULL},
    {"a row that goes on before its end, by hash",
     ONE_ROW(RANGE("1", "9"), "policy hash 0 "), NULL},
    {"one row", ONE_ROW(RANGE("1", "2"), ""), NULL},
    {"one row, by hash", ONE_ROW(RANGE("1", "2"), "policy hash 0 "), NULL},
};
enum { SCATTERS = sizeof scatters / sizeof *scatters };

/* ---- coordinates at the ends of 64 bits ------------------------------------------------
 */

/* R(i) = what c2 reads there, where the table says so. */
#define READS(merge, open)                                                                 \
    merge VECTOR CODE(open                                                                 \
                      "loop i0, m0, g6 / load v1, t2, c2 / within i0, e0 / at c9, t8, "    \
                      "0, root, i0 / store t8, c9, v1 / end / ")
#define WALKED(lo, hi) ".merge g6 lo " lo " hi " hi " produce 0x2 { walk c2 } / "
#define AT(shift, by) "iconst i3, " shift " / open.at c2, t2, 0, root, i3, " by " / "
static const near_case merges[] = {
    {"by 2^62, from 4 on", READS(WALKED("e2", "e1"), AT("k2", "k4")), NULL},
    {"by 2^62, from -3 on", READS(WALKED("e4", "e1"), AT("k2", "k4")), NULL},
    {"up to the last coordinate", READS(WALKED("e3", "e1"), AT("k8", "k4")), NULL},
    {"followed beyond the end",
     ".merge g6 lo root hi e0 universe produce 0xc { follow c3, locate c2 t2 0 root root 1 "
     "} / " VECTOR CODE(
         "iconst i3, k5 / open.at c3, t2, 0, root, i3, k1 / loop i0, m0, g6 / load v1, "
         "t2, c2 / at c9, t8, 0, root, i0 / store t8, c9, v1 / end / "),
     NULL},
    {"located beyond the end",
     ".merge g6 lo root hi e0 universe produce 0xf { locate c3 t2 0 root i3 1, locate c2 "
     "t3 0 "
     "root root 1 } / " VECTOR CODE(
         "iconst i3, k5 / loop i0, m0, g6 / load v1, t2, c3 / load v2, t3, c2 / fn2 "
         "v3, add, f64, v1, v2 / at c9, t8, 0, root, i0 / store t8, c9, v3 / end / "),
     NULL},
    {"from 2^62 on, twice that at a distance",
     ".extent e7 const 4611686018427387903 / .extent e8 const 4611686018427387906 / " READS(
         WALKED("e7", "e8"), AT("k9", "k7")),
     NULL},
    {"diagonals at a distance",
     ".merge g6 lo root hi e0 produce 0x2 { walk c2 } / " VECTOR CODE(
         "iconst i3, k5 / open.at c2, t7, 0, root, i3, k1 / loop i0, m0, g6 / const v1, k0 "
         "/ at c9, t8, 0, root, i0 / store t8, c9, v1 / end / "),
     NULL},
    {"unordered, where another has something",
     ".merge g6 lo root hi e0 produce 0x8 { walk c2, locate c3 t4 0 root root 1 } / .merge "
     "g7 "
     "lo root hi e3 universe produce 0x1 { } / " R("[] format 0")
         CODE("const v0, k0 / loop i1, m1, g7 / open c2, t6, 0, root / loop i0, m0, g6 / "
              "load v1, "
              "t6, c2 / load v2, t4, c3 / fn2 v3, mul, f64, v1, v2 / " ADD(
                  "v3") "end / end / "
                        "store t8, root, v0 / "),
     NULL},
    {"seven operands, by all that tables have",
     ".merge g6 lo root hi e1 universe postfix (0 1 and 2 3 or true and false or 4 not 5 "
     "or and "
     "or 6 not true and or) { walk c2, walk c3, locate c4 t2 0 root root 1, locate c5 t3 0 "
     "root root 1, locate c6 t4 0 root root 1, known c0, known c7 } / " CSR CODE(
         "loop i0, m0, g0 / locate c7, t4, 0, root, i0 / at c10, t8, 0, root, i0 / open "
         "c2, "
         "t0, 1, c0 / open c3, t0, 1, c0 / loop i1, m1, g6 / load v1, t0, c2 / at c11, t8, "
         "1, "
         "c10, i1 / store t8, c11, v1 / end / keep t8, 0, c10 / end / "),
     NULL},
};
enum { MERGES = sizeof merges / sizeof *merges };

static void judge(const near_case *c)
{
    const size_t size = sizeof HEAD + strlen(c->code);
    char *text = malloc(size);
    ck_assert_ptr_nonnull(text);
    snprintf(text, size, "%s%s", HEAD, c->code);
    for (char *at = text; *at; at++)
        if (at[0] == ' ' && at[1] == '/' && at[2] == ' ') at[1] = '\n';
    tiers_agree(c->what, text, c->dump);
    free(text);
}

START_TEST(near_nests)
{
    judge(&nests[_i]);
}
END_TEST

START_TEST(near_scatters)
{
    judge(&scatters[_i]);
}
END_TEST

START_TEST(near_merges)
{
    judge(&merges[_i]);
}
END_TEST

Suite *suite_near_super(void)
{
    Suite *s = suite_create("near_super");
    TCase *c = tcase_create("near");
    tcase_add_loop_test(c, near_nests, 0, NESTS);
    tcase_add_loop_test(c, near_scatters, 0, SCATTERS);
    tcase_add_loop_test(c, near_merges, 0, MERGES);
    suite_add_tcase(s, c);
    return s;
}
