/* check_strips.c: loops alone, in bytecode that the compiler doesn't write, which run a
 * strip at a time: integers, places, faults, results. near.h tells how each is judged.
 */
#include "near.h"

/* A loop alone, over a dense vector: c2 walks it, c3 is located in n. */
#define ALONE(before, body, after)                                                         \
    ".merge g7 lo root hi e0 universe produce 0xf { locate c2 t1 0 root root 1, locate "   \
    "c3 t7 0 root root 1 } / "                                                             \
    ".merge g8 lo root hi e1 produce 0x2 { walk c2 } / .const k7 i64 4294967296 / .const " \
    "k8 i64 -2 / "                                                                         \
    ".const k9 i64 13 / .const k10 i64 4611686018427387904 / .const k11 i64 "              \
    "9223372036854775807 / .const k12 i64 -9223372036854775808 / .const k13 i64 "          \
    "-9223372036854775800 / .const k14 i64 -4611686018427387904 / .const k15 i64 "         \
    "2305843009213693952 / .code / const v0, k0 "                                          \
    "/ " before body after "halt / "
#define RANGE "loop i0, m0, g7 / load v1, t1, c2 / load v2, t7, c3 / "
#define WALKS "open c2, t1, 0, root / loop i1, m0, g8 / load v1, t1, c2 / "
#define SCALAR "begin t6 / store t6, root, v0 / finish t6 / "
#define AS_F64(i) "ivalue v3, " i " / conv v4, f64, i64, v3 / fn2 v0, add, f64, v0, v4 / "
#define INTO_Y(i) "at c8, t2, 0, root, " i " / store t2, c8, v1 / "

/* The range of t1, or the rows of t4, read so far ahead of the loop's index. */
#define AHEAD(by)                                                                          \
    ALONE("iconst i5, " by " / open.at c2, t1, 0, root, i5, k1 / ",                        \
          "loop i1, m0, g8 / load v1, t1, c2 / " ADD AS_F64("i1") "end / ", SCALAR)
#define AHEAD_OF_ROWS(by)                                                                  \
    ALONE("iconst i5, " by " / open.at c2, t4, 0, root, i5, k1 / ",                        \
          "loop i1, m0, g8 / " AS_F64("i1") "end / ", SCALAR)
/* x, or a copy of it, located at three times the index and almost 2^63. */
#define LOCATED(t, format)                                                                 \
    ".tensor t13 \"\" temp f64 (0) [e1] format 1 " format " / .merge g7 lo root hi e0 "    \
    "universe produce 0x3 { locate c5 " t " 0 root i5 3 } / .const k7 i64 "                \
    "9223372036854775803 / .code / convert t13, t1 / const v0, k0 / iconst i5, k7 / loop " \
    "i0, m0, g7 / load v1, " t ", c5 / " ADD "end / iconst i5, k2 / loop i0, m0, g7 / "    \
    "load v1, " t ", c5 / " ADD "end / " SCALAR "halt / "
/* The diagonals of A: where what each has in row i0 is, a i0 + b beside it. */
#define DIAGONAL(a, b)                                                                     \
    ".tensor t13 \"\" temp f64 (0) [e0 e1] format 2 compressed(1-0) range(0) offset(1) / " \
    ".merge g7 lo root hi e0 produce 0x2 { walk c5 } / .extent e4 const -13 / .merge g8 "  \
    "lo e4 hi e1 produce 0x2 { walk c2 } / .code / convert t13, t0 / const v0, k0 / "      \
    "open c2, t13, 0, root / loop i1, m1, g8 / iconst i4, k1 / iconst i5, " b " / "        \
    "imuladd i4, i4, k2, i1 / imuladd i4, i5, k1, i4 / open c5, t13, 1, c2 / "             \
    "loop i0, m0, g7 / imuladd i3, i0, " a ", i4 / locate c6, t13, 2, c5, i3 / load v1, "  \
    "t13, c6 / " ADD "end / end / " SCALAR "halt / "

static const near_case strips[] = {
    {"alone", ALONE("", RANGE ADD "end / ", SCALAR), '4', true},
    {"alone, from the right", ALONE("", RANGE "fn2 v0, sub, f64, v1, v0 / end / ", SCALAR),
     '4', false},
    {"located where it doesn't vary",
     ALONE("iconst i3, k5 / ",
           WALKS "locate c5, t1, 0, root, i3 / load v5, t1, c5 / " ADD
                 "fn2 v0, add, f64, v0, v5 / end / ",
           SCALAR),
     '4', true},
    {"sought where it doesn't vary",
     ALONE("iconst i3, k5 / ",
           WALKS "open c5, t1, 0, root / seek c5, i3 / load v5, t1, c5 / " ADD
                 "fn2 v0, add, f64, v0, v5 / end / ",
           SCALAR),
     '4', true},
    /* integers: steps, arrays, large ones */
    {"twice its index and itself",
     ALONE("", RANGE "imuladd i3, i0, k5, i0 / " AS_F64("i3") "end / ", SCALAR), '4', true},
    {"sums of coordinates",
     ALONE("",
           WALKS "imuladd i3, i1, k5, i1 / imuladd i4, i3, k3, i1 / " AS_F64("i4") "end / ",
           SCALAR),
     '4', true},
    {"times a large one",
     ALONE("", WALKS "imuladd i3, i1, k7, i1 / " AS_F64("i3") "end / ", SCALAR), '4', true},
    {"a large one times",
     ALONE("",
           WALKS "imuladd i3, i1, k7, i1 / imuladd i4, i3, k5, i1 / " AS_F64("i4") "end / ",
           SCALAR),
     '4', true},
    {"plus a large one",
     ALONE("",
           WALKS "iconst i5, k10 / imuladd i3, i1, k5, i5 / ivalue v3, i3 / "
                 "conv v4, f64, i64, v3 / fn2 v0, max, f64, v0, v4 / end / ",
           SCALAR),
     '4', true},
    {"what doesn't vary",
     ALONE("iconst i3, k5 / ", WALKS "imuladd i4, i3, k5, i3 / " AS_F64("i4") "end / ",
           SCALAR),
     '4', true},
    {"beyond 64 bits in a later strip",
     ALONE("",
           RANGE "iconst i5, k11 / imuladd i3, i0, k2, i5 / "
                 "imuladd i4, i0, k7, i3 / " AS_F64("i4") "end / ",
           SCALAR),
     '4', true},
    {"steps that end beyond 64 bits",
     ALONE("iconst i5, k11 / ", RANGE "imuladd i3, i0, k1, i5 / " AS_F64("i3") "end / ",
           SCALAR),
     '4', true},
    {"steps from beyond 64 bits",
     ALONE("iconst i5, k10 / ", RANGE "imuladd i3, i5, k5, i0 / " AS_F64("i3") "end / ",
           SCALAR),
     '4', true},
    /* what walks or is located at a distance at which coordinates could overflow */
    {"a range far below", AHEAD("k11"), '4', false},
    {"a range whose end is beyond 64 bits", AHEAD("k13"), '4', false},
    {"a range beyond 64 bits", AHEAD("k12"), '4', false},
    {"coordinates far below", AHEAD_OF_ROWS("k10"), '4', false},
    {"coordinates far above", AHEAD_OF_ROWS("k14"), '4', false},
    {"located beyond the end",
     ALONE("iconst i5, k9 / ",
           RANGE "imuladd i3, i0, k1, i5 / locate c5, t1, 0, root, i3 / load v5, t1, c5 / "
                 "fn2 v0, add, f64, v0, v5 / end / ",
           SCALAR),
     '4', true},
    {"located beyond 64 bits", LOCATED("t1", "dense(0)"), '4', true},
    {"located in bytes beyond 64 bits", LOCATED("t13", "bytemap(0)"), '4', true},
    {"on diagonals", DIAGONAL("k1", "k2"), 0, true},
    {"beside diagonals", DIAGONAL("k1", "k1"), 0, true},
    {"across diagonals", DIAGONAL("k5", "k2"), 0, true},
    {"on diagonals stored in full",
     ".tensor t13 \"\" temp f64 (0) [e0 e1] format 2 compressed(1-0) dense(0) offset(1) / "
     ".extent e4 const -13 / .merge g7 lo e4 hi e1 produce 0x2 { walk c2 } / .code / "
     "convert "
     "t13, t0 / const v0, k0 / open c2, t13, 0, root / loop i1, m1, g7 / loop i0, m0, g4 / "
     "locate c5, t13, 1, c2, i0 / imuladd i3, i0, k1, i1 / locate c6, t13, 2, c5, i3 / "
     "load "
     "v1, t13, c6 / " ADD "end / end / " SCALAR "halt / ",
     0, true},
    {"located in the rows of a short list",
     ".tensor t13 \"\" temp f64 (0) [e0 e1] format 2 dense(#0) dense(0) singleton(1) / "
     ".merge g7 lo root hi e0 produce 0x2 { walk c5 } / .code / convert t13, t0 / const "
     "v0, k0 / iconst i4, k1 / locate c2, t13, 0, root, i4 / open c5, t13, 1, c2 / loop "
     "i0, m0, g7 / locate c6, t13, 2, c5, i0 / load v1, t13, c6 / " ADD "end / " SCALAR
     "halt / ",
     '4', false},
    {"located below what is known, alone",
     ".tensor t13 \"\" temp f64 (0) [e0 e1] format 2 dense(0) dense(1) / .merge g7 lo root "
     "hi e1 universe produce 0xf { known c5, locate c6 t13 1 c5 root 1 } / .code / convert "
     "t13, t0 / const v0, k0 / iconst i4, k5 / locate c5, t13, 0, root, i4 / loop i1, m1, "
     "g7 / load v1, t13, c6 / " ADD "end / " SCALAR "halt / ",
     '4', true},
    {"located below what is known",
     ".tensor t13 \"\" temp f64 (0) [e0 e1] format 2 dense(0) dense(1) / .merge g7 lo root "
     "hi e0 universe produce 0x3 { locate c5 t13 0 root root 1 } / .merge g8 lo root hi e1 "
     "universe produce 0xf { known c5, locate c6 t13 1 c5 root 1 } / .code / convert t13, "
     "t0 / const v0, k0 / loop i0, m0, g7 / loop i1, m1, g8 / load v1, t13, c6 / " ADD
     "end / end / " SCALAR "halt / ",
     0, true},
    /* left out */
    {"kept by what isn't the fill",
     ALONE("", RANGE "fill.bit m0, 0, t1, c2 / skip m0, g2 / " ADD "end / ", SCALAR), '4',
     true},
    {"left by what is found",
     ALONE("", RANGE ADD "fn2 v5, gt, i64, v2, v2 / break v5, 1 / end / ", SCALAR), 0,
     false},
    {"nothing", ALONE("", RANGE "end / ", SCALAR), 0, true},
    {"within", ALONE("", RANGE "within i0, e2 / " ADD "end / ", SCALAR), '4', true},
    {"within, below",
     ALONE("iconst i5, k3 / ",
           RANGE "imuladd i3, i0, k1, i5 / within i3, e0 / " ADD "end / ", SCALAR),
     '4', true},
    {"within, of coordinates",
     ALONE("iconst i5, k3 / ",
           WALKS "imuladd i3, i1, k1, i5 / within i3, e2 / " ADD "end / ", SCALAR),
     '4', true},
    {"within, never",
     ALONE("iconst i5, k9 / ",
           RANGE "imuladd i3, i0, k1, i5 / within i3, e2 / " ADD "end / ", SCALAR),
     '4', true},
    /* faults */
    {"a fault in a later lane",
     ALONE("const v5, k5 / iconst i5, k8 / ",
           RANGE "imuladd i3, i0, k1, i5 / ivalue v6, i3 / fn2 v7, mod, i64, v5, v6 / conv "
                 "v4, f64, i64, v7 / fn2 v0, add, f64, v0, v4 / end / ",
           SCALAR),
     '4', true},
    {"two faults, the second in an earlier lane",
     ALONE("const v5, k5 / iconst i5, k8 / iconst i6, k3 / ",
           RANGE
           "imuladd i3, i0, k1, i5 / ivalue v6, i3 / fn2 v7, mod, i64, v5, v6 / "
           "imuladd i4, i0, k1, i6 / "
           "ivalue v8, i4 / fn2 v9, floordiv, i64, v5, v8 / conv v4, f64, i64, v7 / fn2 "
           "v0, add, f64, v0, v4 / end / ",
           SCALAR),
     '4', true},
    {"two faults, the second in a later lane",
     ALONE("const v5, k5 / iconst i5, k8 / iconst i6, k3 / ",
           RANGE "imuladd i4, i0, k1, i6 / ivalue v8, i4 / fn2 v9, floordiv, i64, v5, v8 / "
                 "imuladd i3, i0, k1, i5 / "
                 "ivalue v6, i3 / fn2 v7, mod, i64, v5, v6 / conv v4, f64, i64, v7 / fn2 "
                 "v0, add, f64, v0, v4 / end / ",
           SCALAR),
     '4', true},
    {"beyond 64 bits in a lane behind a fault",
     ALONE("const v5, k5 / iconst i5, k8 / ",
           RANGE "imuladd i3, i0, k1, i5 / ivalue v6, i3 / iconst i6, k2 / imuladd i4, i0, "
                 "k15, i6 / fn2 v7, mod, i64, v5, v6 / " AS_F64("i4") "end / ",
           SCALAR),
     '4', true},
    {"beyond 64 bits in a lane before a fault",
     ALONE("const v5, k5 / iconst i5, k8 / ",
           RANGE "imuladd i3, i0, k1, i5 / ivalue v6, i3 / fn2 v7, mod, i64, v5, v6 / "
                 "iconst i6, k10 / imuladd i4, i0, k10, i6 / " AS_F64("i4") "end / ",
           SCALAR),
     '4', true},
    {"a fault, then lanes that are left out",
     ALONE("const v5, k5 / iconst i5, k8 / iconst i7, k3 / ",
           RANGE "imuladd i3, i0, k1, i5 / ivalue v6, i3 / fn2 v7, mod, i64, v5, v6 / "
                 "imuladd i4, i0, k1, i7 / within i4, e0 / " AS_F64("i4") "end / ",
           SCALAR),
     '4', true},
    {"beyond 64 bits, then lanes that are left out",
     ALONE("iconst i7, k3 / ",
           RANGE "iconst i6, k10 / imuladd i3, i0, k10, i6 / imuladd i4, i0, k1, i7 / "
                 "within i4, e0 / " AS_F64("i3") "end / ",
           SCALAR),
     '4', true},
    {"a fault of what doesn't vary",
     ALONE("const v5, k5 / const v6, k2 / ",
           RANGE
           "fn2 v7, floordiv, i64, v5, v6 / conv v4, f64, i64, v7 / fn2 v0, add, f64, v0, "
           "v4 / end / ",
           SCALAR),
     '4', true},
    {"a fault in what it has stored",
     ALONE("begin t10 / const v5, k3 / ",
           RANGE "at c8, t10, 0, root, i0 / acc t10, c8, pow, i64, v5 / end / ",
           "finish t10 / "),
     '4', true},
    {"a fault in what it stores, and in a later lane one in what it computes",
     ALONE("begin t10 / const v5, k3 / iconst i5, k8 / ",
           RANGE "imuladd i3, i0, k1, i5 / ivalue v6, i3 / fn2 v7, mod, i64, v5, v6 / "
                 "at c8, t10, 0, root, i0 / acc t10, c8, pow, i64, v5 / end / ",
           "finish t10 / "),
     '4', true},
    {"nought by nought in what it stores",
     ALONE("begin t10 / ",
           RANGE "at c8, t10, 0, root, i0 / acc t10, c8, floordiv, i64, v2 / end / ",
           "finish t10 / "),
     '4', true},
    {"a fault before a loop inside, in the first lane",
     ".code / begin t2 / const v5, k5 / loop i0, m0, g0 / at c1, t2, 0, root, i0 / open "
     "c2, "
     "t0, 1, c0 / ivalue v6, i0 / fn2 v7, mod, i64, v5, v6 / conv v0, f64, i64, v7 / loop "
     "i1, m1, g2 / load v1, t0, c2 / " ADD
     "end / store t2, c1, v0 / end / finish t2 / halt / ",
     0, true},
    {"a fault before a loop inside",
     ".const k7 i64 -2 / .code / begin t2 / const v5, k5 / iconst i5, k7 / loop i0, m0, g0 "
     "/ at c1, t2, 0, root, i0 / open c2, t0, 1, c0 / "
     "imuladd i3, i0, k1, i5 / ivalue v6, i3 / fn2 v7, mod, i64, v5, v6 / conv v0, f64, "
     "i64, v7 / loop i1, m1, g2 / load v1, t0, c2 / " ADD
     "end / store t2, c1, v0 / end / finish t2 / halt / ",
     0, true},
    /* into results */
    {"stored", ALONE("begin t2 / ", RANGE INTO_Y("i0") "end / ", "finish t2 / "), '4',
     true},
    {"stored backwards",
     ALONE("begin t2 / iconst i5, k9 / ",
           RANGE "imuladd i3, i0, k3, i5 / " INTO_Y("i3") "end / ", "finish t2 / "),
     '4', false},
    {"stored at one place",
     ALONE("begin t2 / iconst i5, k5 / ",
           RANGE "imuladd i3, i0, k2, i5 / " INTO_Y("i3") "end / ", "finish t2 / "),
     '4', false},
    {"stored from walked coordinates",
     ALONE("begin t2 / ", WALKS "within i1, e0 / " INTO_Y("i1") "end / ", "finish t2 / "),
     '4', true},
    {"stored beyond the end",
     ALONE("begin t2 / ", WALKS INTO_Y("i1") "end / ", "finish t2 / "), '4', true},
    {"accumulated",
     ALONE("begin t2 / ",
           RANGE "at c8, t2, 0, root, i0 / acc t2, c8, add, f64, v1 / end / ",
           "finish t2 / "),
     '4', true},
    {"accumulated in 32 bits",
     ALONE("begin t10 / ",
           RANGE "at c8, t10, 0, root, i0 / acc t10, c8, add, i64, v2 / end / ",
           "finish t10 / "),
     '4', true},
    {"accumulated from walked coordinates",
     ALONE("begin t2 / ",
           WALKS
           "within i1, e0 / at c8, t2, 0, root, i1 / acc t2, c8, add, f64, v1 / end / ",
           "finish t2 / "),
     '4', true},
    {"two results",
     ALONE("begin t2 / begin t10 / ",
           RANGE "at c8, t2, 0, root, i0 / at c9, t10, 0, root, i0 / store t2, c8, v1 / "
                 "store t10, c9, v2 / end / ",
           "finish t2 / finish t10 / "),
     '4', true},
    {"two results, one kept",
     ALONE("begin t5 / begin t10 / iconst i5, k1 / ",
           RANGE "at c8, t5, 0, root, i0 / at c7, t5, 1, c8, i5 / at c9, t10, 0, root, i0 "
                 "/ store t5, c7, v1 / keep t5, 0, c8 / store t10, c9, v2 / end / ",
           "finish t5 / finish t10 / "),
     '4', true},
    {"below a place that doesn't vary",
     ALONE("begin t8 / iconst i5, k5 / ",
           RANGE
           "at c8, t8, 0, root, i5 / at c9, t8, 1, c8, i0 / store t8, c9, v1 / end / ",
           "finish t8 / "),
     '4', true},
    {"appended at a distance",
     ALONE("begin t5 / iconst i5, k5 / at c8, t5, 0, root, i5 / ",
           RANGE
           "imuladd i3, i0, k1, i5 / at c9, t5, 1, c8, i3 / store t5, c9, v1 / end / ",
           "keep t5, 0, c8 / finish t5 / "),
     '4', false},
    {"appended beyond the end",
     ALONE("begin t5 / iconst i5, k9 / at c8, t5, 0, root, i5 / ",
           RANGE
           "imuladd i3, i0, k1, i5 / at c9, t5, 1, c8, i3 / store t5, c9, v1 / end / ",
           "keep t5, 0, c8 / finish t5 / "),
     '4', false},
    {"called into a workspace",
     ".fn f0 \"f\" (f64 f64) f64 registers 3 code 0:2 / .merge g7 lo root hi e1 produce "
     "0x2 { walk c8 } / .merge g8 lo root hi e1 produce 0x2 { walk c2 } / "
     ".code / fn2 v2, sub, f64, v0, v1 / return v2 / const v0, k0 / ws.begin t3 / open c2, "
     "t1, 0, root / loop i1, m1, g8 / load v1, t1, c2 / ws.call t3, f0, i1, v1, 0 / "
     "end / ws.end t3 / open c8, t3, 0, root / loop i1, m1, g7 / load v1, t3, c8 / " ADD
     "end / " SCALAR "halt / ",
     '4', true},
};
enum { STRIPS = sizeof strips / sizeof *strips };

START_TEST(near_strips)
{
    near_judge(&strips[_i]);
}
END_TEST

Suite *suite_strips(void)
{
    Suite *s = suite_create("strips");
    TCase *c = tcase_create("strips");
    tcase_add_loop_test(c, near_strips, 0, STRIPS);
    suite_add_tcase(s, c);
    return s;
}
