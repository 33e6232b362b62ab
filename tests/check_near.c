/* check_near.c: bytecode that differs in one respect from what the faster tiers take loops
 * over for, and the judge of such programs, which others use as well (near.h). Each gives
 * what base operations give, on each tier; and is taken over just where that is right.
 */
#include "near.h"
#include "../src/api/api.h"
#include <stdlib.h>
#include <string.h>

enum { ROWS = 14, COLUMNS = 20 };

/* For each row: what is before the loop over its entries, in it, and after it. */
#define ROWWISE(before, body, after)                                                       \
    ".code / begin t2 / loop i0, m0, g0 / at c1, t2, 0, root, i0 / open c2, t0, 1, c0 "    \
    "/ " before "loop i1, m1, g2 / " body "end / " after "end / finish t2 / halt / "
/* y(i) is v0, summed over the entries. */
#define SUM(before, body, after)                                                           \
    ROWWISE("const v0, k0 / " before, "load v1, t0, c2 / load v2, t1, c3 / " body,         \
            after "store t2, c1, v0 / ")
static const near_case loops[] = {
    {"as it should be", SUM("", ADD, ""), '3', true},
    /* accumulators */
    {"added to itself", SUM("", ADD "mov v3, v0 / fn2 v0, add, f64, v0, v3 / ", ""), '1',
     true},
    {"added to what it was", SUM("", "mov v3, v0 / fn2 v0, add, f64, v0, v3 / " ADD, ""),
     '1', true},
    {"read otherwise",
     SUM("const v4, k0 / ", ADD "fn2 v4, add, f64, v4, v0 / ",
         "fn2 v0, add, f64, v0, v4 / "),
     '1', true},
    {"read before it is added to", SUM("", "fn1 v3, neg, f64, v0 / " ADD, ""), '1', true},
    {"written over", SUM("", ADD "mov v0, v2 / ", ""), '1', true},
    {"by a power of two",
     SUM("const v0, k4 / ", "ivalue v3, i1 / fn2 v0, ldexp, f64, v0, v3 / ", ""), '1',
     true},
    {"added to twice", SUM("", ADD ADD2, ""), '4', true},
    {"added to, then multiplied", SUM("", ADD "fn2 v0, mul, f64, v0, v2 / ", ""), '1',
     true},
    {"one of two",
     SUM("const v4, k0 / ", ADD "fn2 v4, add, f64, v4, v2 / ",
         "fn2 v0, mul, f64, v0, v4 / "),
     '4', true},
    {"the last one stays", SUM("", "mov v0, v1 / ", ""), '1', true},
    {"taken from twice",
     SUM("", "fn2 v0, sub, f64, v0, v1 / fn2 v0, sub, f64, v0, v2 / ", ""), '1', true},
    {"read before the loop in the next round",
     ".code / const v0, k0 / const v1, k4 / loop i0, m0, g0 / fn2 v0, add, f64, v0, v1 / "
     "open c2, t0, 1, c0 / loop i1, m1, g1 / load v1, t0, c2 / end / end / begin t6 / "
     "store "
     "t6, root, v0 / finish t6 / halt / ",
     '1', false},
    {"from the right, over all rows",
     ".code / const v0, k0 / loop i0, m0, g0 / open c2, t0, 1, c0 / loop i1, m1, g1 / load "
     "v1, t0, c2 / fn2 v0, sub, f64, v1, v0 / end / end / begin t6 / store t6, root, v0 / "
     "finish t6 / halt / ",
     0, false},
    {"read in the next round",
     SUM("mov v3, v0 / ", "fn2 v0, add, f64, v0, v3 / mov v3, v1 / ", ""), '1', true},
    {"begun from another", SUM("const v9, k4 / mov v0, v9 / ", ADD, ""), '3', true},
    {"divided by", SUM("const v0, k4 / ", "fn2 v0, div, f64, v0, v1 / ", ""), '4', true},
    {"from the right", SUM("", "fn2 v0, sub, f64, v1, v0 / ", ""), '4', true},
    /* registers from outside, of which only the use tells the class */
    {"rounded",
     SUM("const v5, k4 / ", ADD "wrap v6, f64, v5 / fn2 v0, add, f64, v0, v6 / ", ""), '4',
     true},
    {"converted",
     SUM("const v5, k1 / ", ADD "conv v6, f64, i64, v5 / fn2 v0, add, f64, v0, v6 / ", ""),
     '4', true},
    {"moved and never used", SUM("const v5, k1 / ", ADD "mov v6, v5 / ", ""), '1', true},
    /* cursors */
    {"sought",
     SUM("",
         "open c5, t1, 0, root / seek c5, i1 / load v3, t1, c5 / " ADD
         "fn2 v0, add, f64, v0, v3 / ",
         ""),
     '4', true},
    {"read at a distance, and sought",
     SUM("iconst i3, k1 / ",
         "open.at c5, t1, 0, root, i3, k1 / seek c5, i1 / load v3, t1, c5 / " ADD
         "fn2 v0, add, f64, v0, v3 / ",
         ""),
     '1', true},
    /* integers */
    {"set and read",
     SUM("",
         "iconst i3, k5 / imuladd i3, i3, k5, i1 / ivalue v3, i3 / conv v4, f64, i64, v3 / "
         "fn2 v0, add, f64, v0, v4 / ",
         ""),
     0, true},
    /* masks */
    {"kept by another mask", SUM("", "skip m0, g0 / " ADD, ""), '1', true},
    /* after the loop */
    {"calls read what it leaves",
     ".fn f0 \"f\" (f64) f64 registers 2 code 0:2 / .code / fn2 v1, add, f64, v0, v0 / "
     "return v1 / begin t2 / loop i0, m0, g0 / at c1, t2, 0, root, i0 / open c2, t0, 1, c0 "
     "/ const v0, k0 / const v1, k0 / loop i1, m1, g2 / load v1, t0, c2 / fn2 v0, add, "
     "f64, v0, v1 / end / call v3, f0, v1, 1 / fn2 v0, add, f64, v0, v3 / store t2, c1, v0 "
     "/ end / finish t2 / halt / ",
     '1', true},
    {"calls after it that read other registers",
     ".fn f0 \"f\" (f64) f64 registers 2 code 0:2 / .code / fn2 v1, add, f64, v0, v0 / "
     "return v1 / begin t2 / loop i0, m0, g0 / at c1, t2, 0, root, i0 / open c2, t0, 1, c0 "
     "/ const v0, k0 / loop i1, m1, g2 / load v1, t0, c2 / load v9, t1, c3 / fn2 v0, add, "
     "f64, v0, v9 / end / const v8, k4 / call v3, f0, v8, 1 / const v1, k4 / const v9, k4 "
     "/ "
     "fn2 v0, add, f64, v0, v1 / fn2 v0, add, f64, v0, v9 / fn2 v0, add, f64, v0, v3 / "
     "store "
     "t2, c1, v0 / end / finish t2 / halt / ",
     0, true},
    {"calls in the loop",
     ".fn f0 \"f\" (f64) f64 registers 2 code 0:2 / .code / fn2 v1, add, f64, v0, v0 / "
     "return v1 / begin t2 / loop i0, m0, g0 / at c1, t2, 0, root, i0 / open c2, t0, 1, c0 "
     "/ const v0, k0 / loop i1, m1, g2 / load v1, t0, c2 / call v3, f0, v1, 1 / fn2 v0, "
     "add, f64, v0, v3 / end / store t2, c1, v0 / end / finish t2 / halt / ",
     '4', true},
    {"a while after it that may set what it leaves",
     SUM("const v1, k0 / extent v5, e2 / ", ADD,
         "while / test v5 / const v5, k2 / const v1, k0 / endwhile / fn2 v0, add, f64, v0, "
         "v1 / "),
     '1', true},
    {"a while after it that sets what it leaves",
     SUM("const v1, k0 / extent v5, e2 / ", ADD,
         "const v1, k4 / while / test v5 / const v5, k2 / fn2 v0, add, f64, v0, v1 / "
         "endwhile / "),
     0, true},
    {"branches after it that set what it leaves",
     SUM("const v1, k0 / extent v5, e2 / ", ADD,
         "if v5 / const v1, k4 / else / const v1, k0 / endif / fn2 v0, add, f64, v0, v1 "
         "/ "),
     0, true},
    {"a branch after it that reads what it leaves",
     SUM("const v1, k0 / extent v5, e2 / ", ADD,
         "if v5 / const v3, k4 / else / fn2 v0, add, f64, v0, v1 / endif / "),
     '1', true},
    /* places in a result */
    {"kept twice",
     ".code / begin t5 / loop i0, m0, g0 / at c4, t5, 0, root, i0 / open c2, t0, 1, c0 / "
     "loop i1, m1, g1 / load v1, t0, c2 / at c6, t5, 1, c4, i1 / store t5, c6, v1 / keep "
     "t5, 1, c6 / keep t5, 1, c6 / end / keep t5, 0, c4 / end / finish t5 / halt / ",
     '1', true},
    {"left out after it was stored",
     ".code / begin t5 / loop i0, m0, g0 / at c4, t5, 0, root, i0 / open c2, t0, 1, c0 / "
     "loop i1, m1, g1 / load v1, t0, c2 / at c6, t5, 1, c4, i1 / store t5, c6, v1 / within "
     "i1, e2 / store t5, c6, v1 / end / keep t5, 0, c4 / end / finish t5 / halt / ",
     '1', true},
    {"a mask after it was stored",
     ".code / begin t5 / loop i0, m0, g0 / at c4, t5, 0, root, i0 / open c2, t0, 1, c0 / "
     "loop i1, m1, g1 / load v1, t0, c2 / at c6, t5, 1, c4, i1 / store t5, c6, v1 / "
     "present m1, 1, c2 / end / keep t5, 0, c4 / end / finish t5 / halt / ",
     '1', true},
    /* operands of one loop below each other: the diagonal */
    {"located below what it walks",
     ".merge g7 lo root hi e0 produce 0xa { walk c7, locate c8 t4 1 c7 root 1 } / .code / "
     "const v0, k0 / open c7, t4, 0, root / loop i0, m0, g7 / load v1, t4, c8 / " ADD
     "end / begin t6 / store t6, root, v0 / finish t6 / halt / ",
     0, true},
    {"located below what it walks, in a loop",
     ".merge g7 lo root hi e0 produce 0xa { walk c7, locate c8 t4 1 c7 root 1 } / .code / "
     "const v0, k0 / loop i1, m1, g5 / open c7, t4, 0, root / loop i0, m0, g7 / load v1, "
     "t4, c8 / " ADD "end / end / begin t6 / store t6, root, v0 / finish t6 / halt / ",
     0, true},
};
enum { LOOPS = sizeof loops / sizeof *loops };

/* Sums that go straight into the result: e rows of them, i3 being where. */
#define SUMS(set, e, index, from)                                                          \
    ".extent e4 addc e0 -20 / .const k7 i64 13 / .merge g7 lo " from " hi " e              \
    " universe produce 0x3 { locate c0 t0 0 root root 1 } / .code / begin t2 / " set       \
    "loop i0, m0, g7 / " index "at c1, t2, 0, root, i3 / open c2, t0, 1, c0 / const v0, "  \
    "k0 / loop i1, m1, g2 / load v1, t0, c2 / load v2, t1, c3 / " ADD                      \
    "end / store t2, c1, v0 / end / finish t2 / halt / "
/* Two loops side by side below each row, over the same fibers: what they do. */
#define TWO(first, second)                                                                 \
    ".const k7 i64 10 / .merge g7 lo root hi e1 produce 0x2 { walk c5 } / .merge g8 lo "   \
    "root hi e1 produce 0x2 { walk c8 } / .fn f0 \"f\" "                                   \
    "(f64 f64) f64 registers 3 code 0:2 / .code / fn2 v2, sub, f64, v0, v1 / return v2 / " \
    "begin t5 / begin t8 / begin t11 / ws.begin t3 / iconst i5, k7 / loop i0, m0, g0 / "   \
    "at "                                                                                  \
    "c1, t8, 0, root, i0 / at c4, t5, 0, root, i0 / open c2, t0, 1, c0 / open c5, t0, 1, " \
    "c0 / loop i1, m1, g1 / load v1, t0, c2 / " first                                      \
    "end / loop i2, m2, g7 / load v2, t0, c5 / " second                                    \
    "end / keep t5, 0, c4 / end / ws.end t3 / finish t5 / finish t8 / finish t11 / open "  \
    "c8, t3, 0, root / const v0, k0 / loop i1, m1, g8 / load v1, t3, c8 / " ADD            \
    "end / begin t6 / store t6, root, v0 / finish t6 / halt / "
#define INTO_D(i, c, what) "at " c ", t8, 1, c1, " i " / " what " / "
/* A loop inside of which the place is another, or isn't in range. */
#define BELOW(set, merge, body)                                                            \
    ".extent e4 addc e0 -20 / .const k7 i64 13 / .const k8 i64 -2 / .merge g7 lo e4 hi "   \
    "e1 universe produce 0x1 { } / .code / begin t2 / begin t5 / begin t8 / begin t11 "    \
    "/ " set "loop i0, m0, g0 / open c2, t0, 1, c0 / loop i1, m1, " merge                  \
    " / ivalue v1, i1 / "                                                                  \
    "conv v1, f64, i64, v1 / " body                                                        \
    "end / end / finish t2 / finish t5 / finish t8 / finish t11 / halt / "
#define EACH(index, body)                                                                  \
    ".const k7 i64 13 / .code / begin t5 / begin t11 / iconst i5, k7 / loop i0, m0, g0 / " \
    "imuladd i3, i0, k3, i5 / open c2, t0, 1, c0 / " body                                  \
    "end / finish t5 / finish t11 / halt / "

/* Two fibers, the second one read at k * i + shift, in a range. */
#define FAR(lo, hi, shift, k)                                                              \
    ".extent e4 " lo " / .extent e5 " hi " / .const k7 i64 2 / .const k8 i64 0 / .const "  \
    "k9 i64 0 / .const k10 i64 4611686018427387904 / .const k11 i64 9223372036854775807 "  \
    "/ .merge g7 lo e4 hi e5 produce 0x8 { walk c2, walk c5 } / .code / begin t2 / "       \
    "iconst "                                                                              \
    "i3, " shift " / loop i0, m0, g0 / at c1, t2, 0, root, i0 / open c2, t0, 1, c0 / "     \
    "open.at c5, t0, 1, c0, i3, " k " / const v0, k0 / loop i1, m1, g7 / load v1, t0, c2 " \
    "/ load v2, t0, c5 / fn2 v3, max, f64, v1, v2 / fn2 v0, add, f64, v0, v3 / end / "     \
    "store t2, c1, v0 / end / finish t2 / halt / "
/* What is located at a shift, below each row. */
#define AWAY(shift)                                                                        \
    ".extent e4 const 1 / .const k7 i64 2 / .const k8 i64 -4611686018427387904 / .const "  \
    "k9 i64 0 / .const k10 "                                                               \
    "i64 4611686018427387904 / .const k11 i64 9223372036854775807 / .merge g7 lo e4 hi "   \
    "e2 universe produce 0x3 { locate c5 t1 0 root i3 1 } / .code / begin t2 / iconst "    \
    "i3, " shift                                                                           \
    " / loop i0, m0, g0 / at c1, t2, 0, root, i0 / const v0, k0 / loop i1, m1, g7 / "      \
    "load v1, t1, c5 / fn1 v1, cos, f64, v1 / fn2 v0, add, f64, v0, v1 / end / store t2, " \
    "c1, v0 / end / finish t2 / halt / "
/* Rows along a fiber, into a result like that. */
#define ROWS3(result, after)                                                               \
    ".tensor t13 \"r\" output f64 (0) " result " / .merge g7 lo root hi e1 produce 0xa { " \
    "walk c2, locate c8 t12 0 root root 1 } / .merge g8 lo root hi e1 universe produce "   \
    "0x3 { locate c9 t12 1 c8 root 1 } / .code / begin t13 / loop i0, m0, g0 / at c1, "    \
    "t13, 0, root, i0 / open c2, t0, 1, c0 / loop i1, m1, g7 / loop i2, m2, g8 / at c6, "  \
    "t13, 1, c1, i2 / load v1, t0, c2 / load v2, t12, c9 / fn2 v3, mul, f64, v1, v2 / "    \
    "acc "                                                                                 \
    "t13, c6, add, f64, v3 / end / end / " after "end / finish t13 / halt / "
/* Sums of rows, each into its place of a result of that extent. */
#define INTO_SHORT(extent)                                                                 \
    ".tensor t13 \"r\" output f64 (0) " extent " format 1 dense(0) / .code / begin t13 / " \
    "loop i0, m0, g0 / at c1, t13, 0, root, i0 / open c2, t0, 1, c0 / loop i1, m1, g2 / "  \
    "load v1, t0, c2 / load v2, t1, c3 / fn2 v3, mul, f64, v1, v2 / acc t13, c1, add, "    \
    "f64, v3 / end / end / finish t13 / halt / "
/* The rows of t5, appended. */
#define AGAIN                                                                              \
    "loop i0, m0, g0 / at c4, t5, 0, root, i0 / open c2, t0, 1, c0 / loop i1, m1, g1 / "   \
    "load v1, t0, c2 / fn1 v2, neg, f64, v1 / fn1 v2, abs, f64, v2 / at c6, t5, 1, c4, "   \
    "i1 "                                                                                  \
    "/ store t5, c6, v2 / end / keep t5, 0, c4 / end / "

static const near_case sinks[] = {
    /* sums */
    {"sums", SUMS("iconst i5, k2 / ", "e0", "imuladd i3, i0, k1, i5 / ", "root"), '3',
     false},
    {"sums from the third place on",
     SUMS("iconst i5, k5 / ", "e3", "imuladd i3, i0, k1, i5 / ", "root"), '3', false},
    {"sums beyond the end",
     SUMS("iconst i5, k5 / ", "e0", "imuladd i3, i0, k1, i5 / ", "root"), '3', false},
    {"sums before the beginning",
     SUMS("iconst i5, k3 / ", "e0", "imuladd i3, i0, k1, i5 / ", "root"), '3', false},
    {"sums at one place", SUMS("iconst i5, k2 / iconst i3, k1 / ", "e0", "", "root"), '3',
     false},
    {"sums into a scalar",
     ".code / begin t6 / loop i0, m0, g0 / open c2, t0, 1, c0 / const v0, k0 / loop i1, "
     "m1, g2 / load v1, t0, c2 / load v2, t1, c3 / " ADD
     "end / store t6, root, v0 / end / finish t6 / halt / ",
     '3', false},
    {"sums, and what isn't stored", SUM("", ADD, "fn2 v5, mul, f64, v0, v0 / "), 0, true},
    /* two loops into one result */
    {"into two results",
     TWO(INTO_D("i1", "c6", "store t8, c6, v1"),
         "at c7, t5, 1, c4, i2 / store t5, c7, v2 / "),
     '4', true},
    {"stored twice",
     TWO(INTO_D("i1", "c6", "store t8, c6, v1"), INTO_D("i2", "c7", "store t8, c7, v2")),
     '1', true},
    {"stored, then accumulated",
     TWO(INTO_D("i1", "c6", "store t8, c6, v1"),
         INTO_D("i2", "c7", "acc t8, c7, add, f64, v2")),
     '1', true},
    {"accumulated, then stored",
     TWO(INTO_D("i1", "c6", "acc t8, c6, add, f64, v1"),
         INTO_D("i2", "c7", "store t8, c7, v2")),
     '1', true},
    {"accumulated twice",
     TWO(INTO_D("i1", "c6", "acc t8, c6, add, f64, v1"),
         INTO_D("i2", "c7", "acc t8, c7, add, f64, v2")),
     '4', true},
    {"accumulated by two functions",
     TWO(INTO_D("i1", "c6", "acc t8, c6, add, f64, v1"),
         INTO_D("i2", "c7", "acc t8, c7, max, f64, v2")),
     '1', true},
    {"accumulated by one that minds the order",
     TWO(INTO_D("i1", "c6", "acc t8, c6, sub, f64, v1"),
         INTO_D("i2", "c7", "acc t8, c7, sub, f64, v2")),
     '1', true},
    {"accumulated where places are appended",
     TWO("within i1, e2 / at c6, t5, 1, c4, i1 / acc t5, c6, add, f64, v1 / ",
         "imuladd i3, i2, k1, i5 / within i3, e1 / at c7, t5, 1, c4, i3 / acc t5, "
         "c7, add, f64, v2 / "),
     '1', true},
    {"into a workspace twice",
     TWO("ws.add t3, i1, add, f64, v1 / ", "ws.add t3, i2, add, f64, v2 / "), '4', true},
    {"called into a workspace twice",
     TWO("ws.call t3, f0, i1, v1, 0 / ", "ws.call t3, f0, i2, v2, 0 / "), '1', true},
    /* places */
    {"beyond the end of a row",
     BELOW("iconst i5, k5 / ", "g1",
           "imuladd i3, i1, k1, i5 / at c1, t8, 0, root, i0 / at c6, t8, 1, c1, i3 / store "
           "t8, c6, v1 / "),
     0, true},
    {"beyond the end of a result",
     BELOW("", "g3", "at c1, t2, 0, root, i1 / store t2, c1, v1 / "), 0, false},
    {"before the beginning of a result",
     BELOW("", "g7", "at c1, t2, 0, root, i1 / store t2, c1, v1 / "), 0, false},
    {"before the beginning of a row",
     BELOW("", "g7", "at c1, t8, 0, root, i0 / at c6, t8, 1, c1, i1 / store t8, c6, v1 / "),
     0, true},
    {"at each fourth column, a row further each time",
     BELOW("", "g5",
           "imuladd i3, i1, k5, i1 / at c1, t8, 0, root, i1 / at c6, t8, 1, c1, i3 / store "
           "t8, c6, v1 / "),
     0, false},
    {"kept, and not stored",
     EACH("", "at c4, t5, 0, root, i0 / loop i1, m1, g1 / at c6, t5, 1, c4, i1 / keep t5, "
              "1, c6 / end / keep t5, 0, c4 / "),
     0, true},
    {"row and place kept, and not stored",
     EACH("", "loop i1, m1, g1 / at c4, t5, 0, root, i0 / at c6, t5, 1, c4, i1 / keep t5, "
              "1, c6 / keep t5, 0, c4 / end / "),
     0, true},
    {"kept, and not stored, where nothing is before it",
     ".code / begin t5 / iconst i5, k5 / at c4, t5, 0, root, i5 / loop i1, m1, g3 / at c6, "
     "t5, 1, c4, i1 / keep t5, 1, c6 / end / keep t5, 0, c4 / finish t5 / halt / ",
     0, true},
    {"before the beginning of an appended row",
     BELOW("", "g7",
           "at c4, t5, 0, root, i0 / at c6, t5, 1, c4, i1 / store t5, c6, v1 / keep t5, 0, "
           "c4 / "),
     0, true},
    {"all at one place",
     BELOW("iconst i5, k5 / ", "g1",
           "at c1, t8, 0, root, i5 / at c6, t8, 1, c1, i5 / store t8, c6, v1 / "),
     0, false},
    {"rows accumulated where they are appended",
     ROWS3("[e0 e1] format 2 dense(0) compressed(1)", "keep t13, 0, c1 / "), 0, true},
    {"rows accumulated", ROWS3("[e0 e1] format 2 dense(0) dense(1)", ""), '4', true},
    {"rows accumulated beyond their ends", ROWS3("[e0 e0] format 2 dense(0) dense(1)", ""),
     0, true},
    {"sums accumulated", INTO_SHORT("[e0]"), 0, true},
    {"sums accumulated beyond the end", INTO_SHORT("[e3]"), 0, true},
    /* folds without a kernel, and of one value */
    {"differences", SUM("", "fn2 v0, sub, f64, v0, v1 / ", ""), '4', true},
    {"angles", SUM("", "fn2 v0, atan2, f64, v0, v1 / ", ""), '4', true},
    {"counted from the right",
     ".code / begin t2 / loop i0, m0, g0 / at c1, t2, 0, root, i0 / open c2, t0, 1, c0 / "
     "const v0, k0 / const v8, k4 / loop i1, m1, g1 / fn2 v0, sub, f64, v8, v0 / end / "
     "store t2, c1, v0 / end / finish t2 / halt / ",
     0, true},
    {"counted without a sign",
     ".const k7 u64 3 / .const k8 u64 0 / .code / begin t2 / loop i0, m0, g0 / at c1, t2, "
     "0, root, i0 / open c2, t0, 1, c0 / const v0, k8 / const v8, k7 / loop i1, m1, g1 / "
     "fn2 v0, add, u64, v0, v8 / end / conv v9, f64, u64, v0 / store t2, c1, v9 / end / "
     "finish t2 / halt / ",
     0, true},
    {"counted in dense rows",
     ".merge g7 lo root hi e0 universe produce 0x3 { locate c0 t12 0 root root 1 } / .code "
     "/ begin t2 / loop i0, m0, g7 / at c1, t2, 0, root, i0 / open c2, t12, 1, c0 / const "
     "v0, k0 / const v8, k4 / loop i1, m1, g1 / fn2 v0, add, f64, v0, v8 / end / store t2, "
     "c1, v0 / end / finish t2 / halt / ",
     0, true},
    /* far off: both fibers, one at a shift */
    {"from far below on", FAR("addc e1 -4611686018427387904", "addc e1 0", "k2", "k1"), 0,
     true},
    {"far beyond", FAR("const 0", "addc e1 4611686018427387904", "k2", "k1"), 0, true},
    {"from far below to far beyond",
     FAR("addc e1 -4611686018427387904", "addc e1 4611686018427387904", "k2", "k1"), 0,
     true},
    {"in a wide range", FAR("const 0", "addc e1 1125899906842624", "k2", "k1"), 0, true},
    {"far apart", FAR("const 0", "addc e1 0", "k10", "k1"), 0, true},
    {"farther apart", FAR("const 0", "addc e1 0", "k11", "k1"), 0, true},
    {"far apart, in twos", FAR("const 0", "addc e1 0", "k10", "k7"), 0, true},
    {"apart", FAR("const 0", "addc e1 0", "k5", "k1"), 0, true},
    {"in twos, in a far range", FAR("const 0", "addc e1 1152921504606846976", "k5", "k7"),
     0, true},
    {"located in range", AWAY("k5"), 0, true},
    {"located far below", AWAY("k8"), 0, true},
    {"located far off", AWAY("k10"), 0, true},
    {"located farther off", AWAY("k11"), 0, true},
    /* workspaces */
    {"before the beginning of a workspace",
     ".code / ws.begin t3 / iconst i5, k3 / loop i0, m0, g0 / open c2, t0, 1, c0 / loop "
     "i1, "
     "m1, g1 / load v1, t0, c2 / imuladd i3, i1, k1, i5 / ws.add t3, i3, add, f64, v1 / "
     "end "
     "/ end / ws.end t3 / halt / ",
     '4', true},
    {"beyond the end of a workspace",
     ".code / ws.begin t3 / iconst i5, k5 / loop i0, m0, g0 / open c2, t0, 1, c0 / loop "
     "i1, "
     "m1, g1 / load v1, t0, c2 / imuladd i3, i1, k1, i5 / ws.add t3, i3, add, f64, v1 / "
     "end "
     "/ end / ws.end t3 / halt / ",
     '4', true},
/* Some of what is merged is divided by 0. */
#define FAULTS(policy)                                                                     \
    ".tensor t13 \"\" work i64 (0) [e1] policy " policy                                    \
    " format 1 compressed(0) / .merge "                                                    \
    "g7 lo root hi e1 universe produce 0x3 { locate c3 t7 0 root root 1 } / .code / "      \
    "ws.begin t13 / loop i1, m1, g7 / load v2, t7, c3 / const v3, k1 / ws.add t13, i1, "   \
    "add, i64, v3 / ws.add t13, i1, mod, i64, v2 / end / ws.end t13 / halt / "
    {"a fault when it merges", FAULTS("coord 4"), 0, false},
    {"a fault when buckets merge", FAULTS("bucket 4"), 0, false},
    {"a fault in an accumulator", FAULTS("dense 4"), 0, false},
    {"a fault in a hash table", FAULTS("hash 4"), 0, false},
    /* order */
    {"rows once more, by one thread",
     ".code / share / loop i0, m0, g4 / end / begin t5 / " AGAIN AGAIN
     "finish t5 / halt / ",
     0, true},
    {"rows from the last one on",
     EACH("", "at c4, t5, 0, root, i3 / loop i1, m1, g1 / load v1, t0, c2 / at c6, t5, 1, "
              "c4, i1 / store t5, c6, v1 / end / keep t5, 0, c4 / "),
     0, false},
    {"appended rows from the last one on",
     EACH("", "at c4, t11, 0, root, i3 / loop i1, m1, g1 / load v1, t0, c2 / at c6, t11, "
              "1, c4, i1 / store t11, c6, v1 / end / keep t11, 0, c4 / "),
     0, false},
};
enum { SINKS = sizeof sinks / sizeof *sinks };

/* ---- a run ------------------------------------------------------------------------- */

enum { MACHINES = 3, RESULTS = 7, INPUTS = 5 };
static const char *const results[RESULTS] = {"y", "C", "s", "D", "k", "E", "r"};

typedef struct lab {
    heap h;
    stc_machine *m;
    stc_tensor *in[INPUTS];
    stc_program *p;
    stc_status status;
    char message[300];
} lab;

/* Small whole numbers, so that sums don't hang on their order. */
static void lab_open(lab *l, bool no_super, int threads)
{
    static const char *const form[] = {"csr", "dense", "dcsr", "dense", "dense"};
    static const int64_t matrix[] = {ROWS, COLUMNS}, square[] = {COLUMNS, COLUMNS};
    double f64[COLUMNS * COLUMNS];
    int64_t i64[COLUMNS];
    l->m = machine_open(&l->h, no_super);
    machine_share(l->m, threads);
    for (int t = 0; t < INPUTS; t++) {
        for (int k = 0; k < COLUMNS * COLUMNS; k++)
            f64[k] = (k * 7 + t) % 3 ? 0 : 1 + k % 5;
        for (int k = 0; k < COLUMNS; k++)
            i64[k] = k % 4;
        ck_ok(l->m, stc_tensor_from_dense(l->m, form[t], t == 3 ? STC_I64 : STC_F64,
                                          t % 2 ? 1 : 2, t % 2 || t == 4 ? square : matrix,
                                          NULL, t == 3 ? (void *)i64 : f64, &l->in[t]));
    }
}

static void lab_run(lab *l, const near_case *c)
{
    static const char *const name[] = {"A", "x", "B", "n", "X"};
    const size_t size = sizeof HEAD + strlen(c->code);
    char *text = malloc(size);
    ck_assert_ptr_nonnull(text);
    snprintf(text, size, "%s%s", HEAD, c->code);
    for (char *at = text; *at; at++)
        if (*at == '/') *at = '\n';
    const stc_status st = stc_program_assemble(l->m, text, "near", &l->p);
    ck_assert_msg(st == STC_OK, "%s: %s", c->what, stc_error(l->m)->message);
    free(text);
    for (int t = 0; t < INPUTS; t++)
        ck_ok(l->m, stc_bind(l->p, name[t], l->in[t]));
    for (int k = 0; k < 2; k++)
        l->status = stc_run(l->p);
    snprintf(l->message, sizeof l->message, "%s", stc_error(l->m)->message);
}

static void lab_close(lab *l)
{
    stc_program_free(l->p);
    for (int t = 0; t < INPUTS; t++)
        stc_tensor_free(l->in[t]);
    machine_shut(l->m, &l->h);
}

static void same_result(lab *base, lab *l, const near_case *c, const char *name)
{
    const stc_tensor *x, *y;
    double a[ROWS * COLUMNS] = {0}, b[ROWS * COLUMNS] = {0};
    const stc_status st = stc_result(base->p, name, &x);
    ck_assert_int_eq(stc_result(l->p, name, &y), st);
    if (st) return;
    ck_ok(l->m, stc_tensor_check((stc_tensor *)y));
    ck_assert_msg(x->nvals == y->nvals, "%s: %s has %lld entries, not %lld", c->what, name,
                  (long long)y->nvals, (long long)x->nvals);
    ck_ok(base->m, stc_tensor_to_dense(x, a));
    ck_ok(l->m, stc_tensor_to_dense(y, b));
    ck_assert_msg(memcmp(a, b, sizeof a) == 0, "%s: %s differs%s: %g, not %g", c->what,
                  name,
                  l->m->cx.no_super      ? ""
                  : l->m->cx.threads > 1 ? " on threads"
                                         : " on faster tiers",
                  b[0], a[0]);
}

void near_judge(const near_case *c)
{
    lab l[MACHINES] = {0};
    char *code;
    for (int k = 0; k < MACHINES; k++) {
        lab_open(&l[k], k == 0, k == 2 ? 2 : 1);
        lab_run(&l[k], c);
        ck_assert_msg(l[k].status == l[0].status, "%s: %s, not %s", c->what, l[k].message,
                      l[0].message);
        ck_assert_msg(!l[k].status || !strcmp(l[k].message, l[0].message), "%s: %s, not %s",
                      c->what, l[k].message, l[0].message);
        for (int r = 0; r < RESULTS; r++)
            same_result(&l[0], &l[k], c, results[r]);
    }
    ck_ok(l[2].m, stc_program_explain(l[2].p, "code", &code));
    const char *tier = strstr(code, "; tier ");
    const bool shared = strstr(code, "; shared by threads");
    ck_assert_msg(shared == c->shared, "%s: %s", c->what, shared ? "shared" : "not shared");
    if (c->tier)
        ck_assert_msg(tier && tier[7] == c->tier, "%s: not on tier %c", c->what, c->tier);
    stc_text_free(l[2].m, code);
    for (int k = 0; k < MACHINES; k++)
        lab_close(&l[k]);
}

START_TEST(near_loops)
{
    near_judge(&loops[_i]);
}
END_TEST

START_TEST(near_sinks)
{
    near_judge(&sinks[_i]);
}
END_TEST

Suite *suite_near(void)
{
    Suite *s = suite_create("near");
    TCase *c = tcase_create("near");
    tcase_add_loop_test(c, near_loops, 0, LOOPS);
    tcase_add_loop_test(c, near_sinks, 0, SINKS);
    suite_add_tcase(s, c);
    return s;
}
