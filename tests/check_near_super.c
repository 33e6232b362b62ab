/* check_near_super.c: bytecode that differs in one respect from what superinstructions take
 * over: nests of two loops (nest.c), and coordinates at the ends of 64 bits (merge.c). Each
 * program gives what base operations give, and is taken over just where that is right.
 */
#include "check.h"
#include "near_super.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    {"a factor made before, and a copy of the sum that nobody reads",
     VECTOR SUMS("open c2, t0, 1, c0 / const v0, k0 / ", "loop i1, m1, g2 / ",
                 "mov v5, v0 / load v1, t0, c2 / fn1 v4, abs, f64, v1 / load v2, t2, c3 / "
                 "fn2 v3, mul, f64, v4, v2 / " ADD("v3")),
     "nest fiber -> sum of values made before"},
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
     "-> accumulate, a line at once"},
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
    {"squares by a constant",
     BEGINS("g6", "open c2, t0, 1, c0 / const v6, k10 / ", "g1",
            "load v1, t0, c2 / load v2, t0, c2 / fn2 v3, mul, f64, v1, v2 / fn2 v5, mul, "
            "f64, v3, v6 / " ADD("v5")),
     "nest fiber -> sum"},
/* lanes of which some have nothing */
#define EARLY(of, before, loop, body)                                                      \
    ".merge g6 lo root hi e5 universe produce 0xf { locate c0 t0 0 root root 1, locate "   \
    "c5 "                                                                                  \
    "t5 0 root root 1 } / .merge g7 lo root hi e1 universe produce 0x2 { locate c6 t5 1 "  \
    "c5 "                                                                                  \
    "root 1 } / .merge g8 lo root hi e1 produce 0x2 { walk c2 } / " R(of)                  \
        CODE("loop i0, m0, g6 / " before "loop i1, m1, " loop " / " body "end / end / ")
    {"rows that end early into a row",
     EARLY("[e1] format 1 dense(0)", "", "g7",
           "load v1, t5, c6 / at c9, t8, 0, root, i1 / acc t8, c9, add, f64, v1 / "),
     "-> accumulate, a line at once"},
    {"fibers that end early into a row",
     EARLY("[e1] format 1 dense(0)", "open c2, t0, 1, c0 / ", "g8",
           "load v1, t0, c2 / at c9, t8, 0, root, i1 / acc t8, c9, add, f64, v1 / "),
     "nest fiber -> accumulate"},
    {"fibers that end early into a row, which is kept",
     EARLY("[e1] format 1 dense(0)", "open c2, t0, 1, c0 / ", "g8",
           "load v1, t0, c2 / at c9, t8, 0, root, i1 / acc t8, c9, add, f64, v1 / keep t8, "
           "0, "
           "c9 / "),
     NULL},
    {"fibers that end early into each lane's place",
     EARLY("[e5] format 1 dense(0)", "at c9, t8, 0, root, i0 / open c2, t0, 1, c0 / ", "g8",
           "load v1, t0, c2 / acc t8, c9, add, f64, v1 / "),
     "nest fiber -> accumulate"},
/* slots of rows, one child a parent */
#define SLOTS(by, walks)                                                                   \
    ".extent e7 const 9223372036854775806 / .merge g6 lo root hi e7 produce 0x2 { walk "   \
    "c20 "                                                                                 \
    "} / .merge g7 lo root hi e0 universe produce 0x3 { locate c21 t9 1 c20 root 1 } / "   \
    ".merge g8 lo root hi e1 produce 0x8 { walk c22, locate c7 t5 1 c6 root 1 } / .merge " \
    "g9 "                                                                                  \
    "lo root hi e1 produce 0x2 { walk c22 } / " VECTOR                                     \
    ".tensor t9 \"E\" input f64 (0) format 2 dense(#0) dense(0) singleton(1) / " CODE(     \
        "iconst i3, " by                                                                   \
        " / locate c6, t5, 0, root, i3 / open c20, t9, 0, root / loop i2, "                \
        "m2, g6 / loop i0, m0, g7 / at c9, t8, 0, root, i0 / open c22, t9, 2, c21 / loop " \
        "i1, "                                                                             \
        "m1, " walks "end / end / end / ")
    {"slots by a row",
     SLOTS("k1", "g8 / load v1, t9, c22 / load v2, t5, c7 / fn2 v3, mul, f64, v1, v2 / acc "
                 "t8, c9, add, f64, v3 / "),
     "nest fiber -> accumulate"},
    {"slots by a row that isn't there",
     SLOTS("k6", "g8 / load v1, t9, c22 / load v2, t5, c7 / fn2 v3, mul, f64, v1, v2 / acc "
                 "t8, c9, add, f64, v3 / "),
     "nest fiber -> accumulate"},
    {"slots, their square",
     SLOTS("k1",
           "g9 / load v1, t9, c22 / load v2, t9, c22 / fn2 v3, mul, f64, v1, v2 / acc "
           "t8, c9, add, f64, v3 / "),
     NULL},
    {"slots into sums",
     ".extent e7 const 9223372036854775806 / .merge g6 lo root hi e7 produce 0x2 { walk "
     "c20 "
     "} / .merge g7 lo root hi e0 universe produce 0x3 { locate c21 t9 1 c20 root 1 } / "
     ".merge g8 lo root hi e1 produce 0x2 { walk c22 } / " R(
         "[] format 0") ".tensor t9 \"E\" input f64 (0) format 2 dense(#0) dense(0) "
                        "singleton(1) / " CODE(
                            "const v0, k0 / open c20, t9, 0, root / "
                            "loop i2, m2, g6 / loop i0, m0, g7 / open "
                            "c22, t9, 2, c21 / loop i1, m1, g8 / load "
                            "v1, t9, c22 / " ADD("v1") "end / end / end "
                                                       "/ store t8, root, v0 / "),
     NULL},
/* what has rounds even where an operand is absent must be there */
#define MUSTS(outer, inner, before, more)                                                  \
    ".merge g6 lo root " outer " / .merge g7 lo root hi e1 universe produce " inner        \
    " / " more                                                                             \
    CODE(before                                                                            \
         "loop i0, m0, g6 / within i0, e0 / at c9, t8, 0, root, i0 / const v0, k0 / "      \
         "loop i1, m1, g7 / load v1, t5, c6 / " ADD("v1") "end / store t8, c9, v0 / "      \
                                                          "end / ")
#define BELOW "0x3 { locate c6 t5 1 c5 root 1 }"
    {"rows, all there",
     MUSTS("hi e0 universe produce 0x3 { locate c5 t5 0 root root 1 }", BELOW, "", VECTOR),
     "nest range -> sum"},
    {"rows that end early",
     MUSTS("hi e5 universe produce 0x3 { locate c5 t5 0 root root 1 }", BELOW, "", VECTOR),
     "nest range -> sum"},
    {"every second row",
     MUSTS("hi e0 universe produce 0x3 { locate c5 t5 0 root root 2 }", BELOW, "", VECTOR),
     "nest range -> sum"},
    {"rows that are there where another is",
     MUSTS("hi e5 produce 0x8 { locate c5 t5 0 root root 1, walk c12 }", BELOW,
           "open c12, t4, 0, root / ", VECTOR),
     NULL},
    {"rows walked",
     MUSTS("hi e0 universe produce 0x3 { walk c5 }", BELOW, "open c5, t5, 0, root / ",
           VECTOR),
     "nest range -> sum"},
    {"rows walked, which end early",
     MUSTS("hi e5 universe produce 0x3 { walk c5 }", BELOW, "open c5, t5, 0, root / ",
           VECTOR),
     "nest range -> sum"},
    {"a row from outside",
     MUSTS("hi e0 universe produce 0x1 { }", BELOW,
           "iconst i3, k1 / locate c5, t5, 0, root, i3 / ", VECTOR),
     "nest range -> sum"},
    {"a row from outside that isn't there",
     MUSTS("hi e0 universe produce 0x1 { }", BELOW,
           "iconst i3, k6 / locate c5, t5, 0, root, i3 / ", VECTOR),
     "nest range -> sum"},
    {"rows among seven operands",
     MUSTS(
         "hi e0 universe postfix (0 1 or true or) { locate c5 t5 0 root root 1, locate c12 "
         "t2 0 root root 1, locate c13 t3 0 root root 1, locate c14 t2 0 root root 1, "
         "locate "
         "c15 t3 0 root root 1, locate c16 t2 0 root root 1, locate c17 t3 0 root root 1 }",
         BELOW, "", VECTOR),
     "nest range -> sum"},
    {"a vector's range",
     MUSTS("hi e0 universe produce 0x3 { locate c5 t5 0 root root 1 }",
           "0xf { locate c6 t5 1 c5 root 1, locate c7 t2 0 root root 1 }", "", VECTOR),
     "nest range -> sum"},
#define MUSTS3(hi, at)                                                                     \
    ".merge g6 lo root hi " hi                                                             \
    " universe produce 0x3 { locate c5 t9 1 c12 root 1 } / .merge "                        \
    "g7 lo root hi e1 universe produce 0x3 { locate c6 t9 2 c5 root 1 } / " VECTOR         \
    ".tensor t9 \"Q\" input f64 (0) format 3 dense(0) dense(1) dense(2) / " CODE(          \
        "iconst i3, " at                                                                   \
        " / locate c12, t9, 0, root, i3 / loop i0, m0, g6 / within i0, e0 / "              \
        "at c9, t8, 0, root, i0 / const v0, k0 / loop i1, m1, g7 / load v1, t9, c6 "       \
        "/ " ADD("v1") "end / store t8, c9, v0 / end / ")
    {"rows of a slice", MUSTS3("e0", "k1"), "nest range -> sum"},
    {"rows of a slice that end early", MUSTS3("e5", "k1"), "nest range -> sum"},
    {"rows of a slice that isn't there", MUSTS3("e0", "k6"), "nest range -> sum"},
#define INSIDE(first, second)                                                              \
    ".merge g6 lo root hi e0 universe produce 0x3 { locate c5 t9 0 root root 1 } / "       \
    ".merge g7 "                                                                           \
    "lo root hi " first                                                                    \
    " universe produce 0x3 { locate c6 t9 1 c5 root 1 } / .merge g8 lo "                   \
    "root hi " second                                                                      \
    " universe produce 0x3 { locate c7 t9 2 c6 root 1 } / .merge g9 lo root "              \
    "hi e5 universe produce 0x3 { locate c6 t5 0 root root 1 } / .merge g10 lo root hi "   \
    "e1 universe produce 0x3 { locate c7 t5 1 c6 root 1 } / " VECTOR                       \
    ".tensor t9 \"Q\" input f64 (0) format 3 dense(0) dense(1) dense(2) / "
    {"rows of slices",
     INSIDE("e0", "e1") CODE(
         "loop i0, m0, g6 / at c9, t8, 0, root, i0 / const v0, k0 / loop i1, m1, g7 / loop "
         "i2, "
         "m2, g8 / load v1, t9, c7 / " ADD("v1") "end / end / store t8, c9, v0 / end / "),
     NULL},
    {"rows in each round",
     INSIDE("e0", "e1") CODE(
         "loop i0, m0, g6 / at c9, t8, 0, root, i0 / const v0, k0 / loop i1, m1, g9 / loop "
         "i2, "
         "m2, g10 / load v1, t5, c7 / " ADD("v1") "end / end / store t8, c9, v0 / end / "),
     NULL},
    /* two fibers, appended */
    {"merged", CSR MERGED("", ROW, KEPT, ""), "nest merge -> store"},
    {"merged, the second before the first",
     CSR CODE(
         "loop i0, m0, g3 / " ROW "open c2, t0, 1, c0 / open c3, t1, 1, c1 / loop i1, m1, "
         "g4 / load v1, t0, c2 / load v2, t1, c3 / fn2 v3, sub, f64, v2, v1 / at c11, t8, "
         "1, c10, i1 / store t8, c11, v3 / end / " KEPT "end / "),
     "nest merge -> store"},
    {"merged with rows in another order",
     ".merge g6 lo root hi e0 universe produce 0xf { locate c0 t0 0 root root 1, locate c1 "
     "t9 0 "
     "root root 1 } / " CSR
     ".tensor t9 \"Ah\" input f64 (0) format 2 hashed(0) compressed(1) / " CODE(
         "loop i0, m0, g6 / " ROW "open c2, t0, 1, c0 / open c3, t9, 1, c1 / loop i1, m1, "
         "g4 / load v1, t0, c2 / load v2, t9, c3 / fn2 v3, add, f64, v2, v1 / at c11, t8, "
         "1, c10, i1 / store t8, c11, v3 / end / " KEPT "end / "),
     "nest merge -> store"},
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

/* ---- coordinates at the ends of 64 bits --------------------------------------------- */

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
    {"positions from -1 on",
     ".merge g6 lo root hi e0 universe produce 0x1 { } / " VECTOR CODE(
         "iconst i3, k3 / loop i0, m0, g6 / imuladd i4, i0, k1, i3 / position i5, c12, t0, "
         "0, "
         "root, i4, 1 / position i6, c13, t0, 1, c12, i4, 1 / load v1, t0, c13 / at c9, "
         "t8, 0, "
         "root, i0 / store t8, c9, v1 / end / "),
     NULL},
    {"positions of a row that isn't there",
     ".extent e7 span / .merge g6 lo root hi e5 universe produce 0x3 { locate c12 t1 0 "
     "root "
     "root 1 } / .merge g7 lo root hi e7 universe produce 0x1 { } / " R("[] format 0")
         CODE("const v0, k0 / loop i0, m0, g6 / span i3, e7, t1, 1, c12, 1, k1 / loop i1, "
              "m1, g7 / "
              "imuladd i4, i1, k1, i3 / position i5, c13, t1, 1, c12, i4, 1 / load v1, t1, "
              "c13 / " ADD("v1") "end / end / store t8, root, v0 / "),
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

void near_super_judge(const near_case *c)
{
    const size_t size = sizeof NEAR_SUPER_HEAD + strlen(c->code);
    char *text = malloc(size);
    ck_assert_ptr_nonnull(text);
    snprintf(text, size, "%s%s", NEAR_SUPER_HEAD, c->code);
    for (char *at = text; *at; at++)
        if (at[0] == ' ' && at[1] == '/' && at[2] == ' ') at[1] = '\n';
    tiers_agree(c->what, text, c->dump);
    free(text);
}

START_TEST(near_nests)
{
    near_super_judge(&nests[_i]);
}
END_TEST

START_TEST(near_merges)
{
    near_super_judge(&merges[_i]);
}
END_TEST

Suite *suite_near_super(void)
{
    Suite *s = suite_create("near_super");
    TCase *c = tcase_create("near");
    tcase_add_loop_test(c, near_nests, 0, NESTS);
    tcase_add_loop_test(c, near_merges, 0, MERGES);
    suite_add_tcase(s, c);
    return s;
}
