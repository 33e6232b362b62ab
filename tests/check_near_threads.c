/* check_near_threads.c: loops outside all others, in bytecode that the compiler doesn't
 * write and that differs in one respect from what threads share
 * (vm/threads/parallel_find.c): rounds that need each other, results that can't be joined,
 * cursors from before the loop. near.h tells how each is judged.
 */
#include "near.h"

/* What a shared loop may write, and what others read of it. */
#define SHARE(body, after)                                                                 \
    ".code / begin t2 / const v0, k0 / loop i0, m0, g0 / at c1, t2, 0, root, i0 / open "   \
    "c2, t0, 1, c0 / const v8, k4 / " body                                                 \
    "store t2, c1, v8 / end / finish t2 / begin t6 / " after                               \
    "store t6, root, v0 / finish t6 / halt / "
#define INNER(body) "loop i1, m1, g1 / load v1, t0, c2 / " body "end / "

static const near_case rounds[] = {
    {"a sum", SHARE(INNER(ADD), ""), 0, true},
    {"a sum in two places", SHARE("mov v1, v8 / " ADD INNER(ADD), ""), 0, true},
    {"a sum in two loops",
     ".merge g7 lo root hi e1 produce 0x2 { walk c5 } / " SHARE(
         INNER(ADD) "open c5, t0, 1, c0 / loop i1, m1, g7 / load v1, t0, c5 / " ADD
                    "end / ",
         ""),
     0, true},
    {"a sum and a product",
     SHARE("mov v1, v8 / fn2 v0, mul, f64, v0, v1 / " INNER(ADD), ""), 0, false},
    {"a difference", SHARE(INNER("fn2 v0, sub, f64, v0, v1 / "), ""), 0, false},
    {"a largest one that has no identity", SHARE(INNER("fn2 v0, fmax, f64, v0, v1 / "), ""),
     0, false},
    {"nine sums",
     ".code / const v0, k0 / const v2, k0 / const v3, k0 / const v4, k0 / const v5, k0 / "
     "const v6, k0 / const v7, k0 / const v8, k0 / const v9, k0 / open c7, t4, 0, root / "
     "loop i0, m0, g0 / open c2, t0, 1, c0 / " INNER(
         ADD
         "fn2 v2, add, f64, v2, v1 / fn2 v3, add, f64, v3, v1 / fn2 v4, add, f64, v4, v1 / "
         "fn2 v5, add, f64, v5, v1 / fn2 v6, add, f64, v6, v1 / fn2 v7, add, f64, v7, v1 / "
         "fn2 v8, add, f64, v8, v1 / fn2 v9, add, f64, v9, v1 / ") "end / fn2 v0, add, "
                                                                   "f64, v0, v9 / begin t6 "
                                                                   "/ store t6, root, v0 / "
                                                                   "finish t6 / halt / ",
     0, false},
    {"sums as they grow", SHARE(INNER(ADD) "mov v8, v0 / ", ""), 0, false},
    {"a sum begun anew", SHARE(INNER(ADD) "mov v0, v8 / ", ""), 0, false},
    {"from before the first round on",
     ".extent e4 addc e0 -20 / .merge g7 lo e4 hi e0 universe produce 0x1 { } / .code / "
     "begin t2 / const v0, k4 / loop i0, m0, g7 / at c1, t2, 0, root, i0 / store t2, c1, "
     "v0 / end / finish t2 / halt / ",
     0, true},
    /* blocks */
    {"written in both branches",
     SHARE("ivalue v2, i0 / if v2 / const v3, k0 / else / const v3, k4 / endif / mov v8, "
           "v3 / ",
           ""),
     0, true},
    {"written in both branches, and before",
     ".code / begin t2 / const v3, k0 / loop i0, m0, g0 / at c1, t2, 0, root, i0 / ivalue "
     "v2, i0 / if v2 / const v3, k0 / else / const v3, k4 / endif / store t2, c1, v3 / end "
     "/ finish t2 / halt / ",
     0, true},
    {"written in a branch, and before",
     ".code / begin t2 / const v3, k0 / loop i0, m0, g0 / at c1, t2, 0, root, i0 / ivalue "
     "v2, i0 / if v2 / const v3, k4 / endif / store t2, c1, v3 / end / finish t2 / halt / ",
     0, false},
    {"written in branches of branches",
     ".code / begin t2 / const v3, k0 / const v4, k1 / loop i0, m0, g0 / at c1, t2, 0, "
     "root, i0 / ivalue v2, i0 / if v2 / const v3, k0 / else / if v4 / const v3, k4 / else "
     "/ const v3, k0 / endif / endif / store t2, c1, v3 / end / finish t2 / halt / ",
     0, false},
    {"a while inside",
     SHARE("extent v5, e2 / while / test v5 / const v5, k2 / endwhile / ", ""), 0, true},
    {"left by a loop inside",
     SHARE("extent v5, e2 / loop i1, m1, g1 / break v5, 1 / end / ", ""), 0, true},
    {"left from inside",
     SHARE("extent v5, e2 / loop i1, m1, g1 / break v5, 2 / end / ", ""), 0, false},
    {"a while after it",
     SHARE(INNER(ADD), "extent v5, e2 / while / test v5 / const v5, k2 / endwhile / "), 0,
     true},
/* tensors */
#define FIVE(form)                                                                         \
    ".tensor t13 \"p\" output f64 (0) [e0 e1] format 2 " form "(0) " form "(1) / .tensor " \
    "t14 \"q\" output f64 (0) [e0 e1] format 2 " form "(0) " form "(1) / .tensor t15 "     \
    "\"r\" output f64 (0) [e0 e1] format 2 " form "(0) " form "(1) / .tensor t16 \"u\" "   \
    "output f64 (0) [e0 e1] format 2 " form "(0) " form "(1) / .tensor t17 \"D2\" output " \
    "f64 (0) [e0 e1] format 2 " form "(0) " form "(1) / .code / begin t13 / begin t14 / "  \
    "begin t15 / begin t16 / begin t17 / const v0, k4 / loop i0, m0, g4 / " INTO("t13")    \
        INTO("t14") INTO("t15") INTO("t16") INTO(                                          \
            "t17") "end / finish t13 / finish t14 / finish t15 / finish t16 / finish "     \
                   "t17 / halt / "
#define INTO(t)                                                                            \
    "at c4, " t ", 0, root, i0 / at c6, " t ", 1, c4, i0 / store " t ", c6, v0 / keep " t  \
    ", 0, c4 / "
    {"five results in places", FIVE("dense"), 0, true},
    {"five results in parts", FIVE("compressed"), 0, false},
    {"a temporary of each round",
     ".code / begin t2 / loop i0, m0, g0 / at c1, t2, 0, root, i0 / const v0, k0 / begin "
     "t9 / loop i1, m1, g3 / at c8, t9, 0, root, i1 / ivalue v1, i1 / conv v1, f64, i64, "
     "v1 / store t9, c8, v1 / end / finish t9 / open c5, t9, 0, root / seek c5, i0 / load "
     "v0, t9, c5 / store t2, c1, v0 / end / finish t2 / halt / ",
     0, true},
    {"a temporary that is begun twice",
     ".code / begin t2 / loop i0, m0, g0 / at c1, t2, 0, root, i0 / const v0, k4 / begin "
     "t9 / finish t9 / begin t9 / finish t9 / store t2, c1, v0 / end / finish t2 / halt / ",
     0, true},
    {"a temporary that is read before it",
     ".merge g7 lo root hi e1 universe produce 0x3 { locate c8 t9 0 root root 1 } / .code "
     "/ begin t9 / finish t9 / const v0, k0 / loop i1, m1, g7 / load v1, t9, c8 / fn2 v0, "
     "sub, f64, v0, v1 / end / begin t2 / loop i0, m0, g0 / at c1, t2, 0, root, i0 / const "
     "v0, k4 / begin t9 / finish t9 / store t2, c1, v0 / end / finish t2 / halt / ",
     0, false},
    {"a workspace of each round",
     ".merge g7 lo root hi e1 produce 0x2 { walk c8 } / .code / begin t2 / loop i0, m0, g0 "
     "/ at c1, t2, 0, root, i0 / const v0, k0 / ws.begin t3 / open c2, t0, 1, c0 / loop "
     "i1, m1, g1 / load v1, t0, c2 / ws.add t3, i1, add, f64, v1 / end / ws.end t3 / open "
     "c8, t3, 0, root / loop i1, m1, g7 / load v1, t3, c8 / " ADD
     "end / store t2, c1, v0 / end / finish t2 / halt / ",
     0, true},
    {"a workspace for all rounds",
     ".merge g7 lo root hi e1 produce 0x2 { walk c8 } / .code / const v0, k0 / ws.begin t3 "
     "/ loop i0, m0, g0 / "
     "open c2, t0, 1, c0 / loop i1, m1, g1 / load v1, t0, c2 / ws.add t3, i1, add, f64, v1 "
     "/ end / end / ws.end t3 / "
     "open c8, t3, 0, root / loop i1, m1, g7 / load v1, t3, c8 / fn2 v0, sub, f64, v0, v1 "
     "/ end / begin t6 / "
     "store t6, root, v0 / finish t6 / halt / ",
     0, true},
    {"a result begun in it",
     ".code / loop i0, m0, g4 / begin t2 / at c1, t2, 0, root, i0 / const v0, k4 / store "
     "t2, c1, v0 / finish t2 / end / halt / ",
     0, false},
    {"a scalar stored by each",
     ".code / begin t6 / loop i0, m0, g0 / const v0, k4 / store t6, root, v0 / end / "
     "finish t6 / halt / ",
     0, false},
    {"places that aren't its own",
     ".code / begin t2 / loop i0, m0, g4 / iconst i3, k1 / at c1, t2, 0, root, i3 / const "
     "v0, k4 / store t2, c1, v0 / end / finish t2 / halt / ",
     0, false},
    {"its own rows, and its own columns",
     ".code / begin t8 / const v0, k4 / const v1, k0 / loop i0, m0, g4 / loop i1, m1, g4 / "
     "at c1, t8, 0, root, i0 / at c4, t8, 1, c1, i1 / store t8, c4, v0 / at c5, t8, 0, "
     "root, i1 / at c6, t8, 1, c5, i0 / store t8, c6, v1 / end / end / finish t8 / halt / ",
     0, false},
    {"every other coordinate",
     ".const k7 i64 2 / .extent e4 const 7 / .merge g7 lo root hi e4 universe produce 0x1 "
     "{ "
     "} / .code / begin t2 / const v0, k4 / iconst i4, k2 / loop i0, m0, g7 / imuladd i3, "
     "i0, k7, i4 / at c1, t2, 0, root, i3 / store t2, c1, v0 / end / finish t2 / halt / ",
     0, false},
    {"every other coordinate, as found in each",
     ".const k7 i64 2 / .extent e4 const 7 / .merge g7 lo root hi e4 universe produce 0x1 "
     "{ "
     "} / .code / begin t2 / const v0, k4 / loop i0, m0, g7 / iconst i4, k2 / imuladd i3, "
     "i0, k7, i4 / at c1, t2, 0, root, i3 / store t2, c1, v0 / end / finish t2 / halt / ",
     0, true},
    {"narrow integers that come together",
     ".code / begin t10 / loop i0, m0, g4 / iconst i3, k1 / const v1, k1 / at c1, t10, 0, "
     "root, i3 / acc t10, c1, max, i64, v1 / end / finish t10 / halt / ",
     0, true},
    {"wide integers that come together as narrow ones",
     ".code / begin t10 / loop i0, m0, g4 / iconst i3, k1 / const v2, k1 / ivalue v1, i0 / "
     "at c1, t10, 0, root, i3 / acc t10, c1, max, i64, v2 / acc t10, c1, max, i64, v1 / "
     "end "
     "/ finish t10 / halt / ",
     0, false},
    {"its own rows of a result in parts",
     ".code / begin t5 / loop i0, m0, g4 / at c4, t5, 0, root, i0 / const v0, k4 / iconst "
     "i3, k1 / at c6, t5, 1, c4, i3 / store t5, c6, v0 / keep t5, 0, c4 / end / finish t5 "
     "/ halt / ",
     0, true},
    {"a row from outside of a result in parts",
     ".code / begin t5 / iconst i3, k1 / at c4, t5, 0, root, i3 / loop i0, m0, g4 / const "
     "v0, k4 / at c6, t5, 1, c4, i0 / store t5, c6, v0 / end / keep t5, 0, c4 / finish t5 "
     "/ halt / ",
     0, true},
    {"a row that isn't its own of a result in parts",
     ".code / begin t5 / iconst i3, k1 / loop i0, m0, g4 / const v0, k4 / at c4, t5, 0, "
     "root, i3 / at c6, t5, 1, c4, i0 / store t5, c6, v0 / keep t5, 0, c4 / end / finish "
     "t5 / halt / ",
     0, false},
    {"one place of two kinds",
     ".code / begin t2 / iconst i3, k1 / loop i0, m0, g4 / const v0, k4 / at c1, t2, 0, "
     "root, i0 / store t2, c1, v0 / at c1, t2, 0, root, i3 / store t2, c1, v0 / end / "
     "finish t2 / halt / ",
     0, false},
/* blocks of coordinates: what `split` makes */
#define BLOCKS(set, index, more)                                                           \
    ".extent e4 floordiv e0 4 / .extent e5 const 4 / .extent e6 const 2 / .const k7 i64 "  \
    "4 / .const k8 i64 2 / .merge g7 lo root hi e4 universe produce 0x1 { } / .merge g8 "  \
    "lo root hi e5 universe produce 0x1 { } / .merge g9 lo root hi e6 universe produce "   \
    "0x1 { } / .code / begin t2 / loop i0, m0, g7 / " set                                  \
    "imuladd i4, i0, k7, i3 / loop i1, m1, g8 / " index                                    \
    "at c1, t2, 0, root, i5 / ivalue v1, i5 / conv v0, f64, i64, v1 / store t2, c1, v0 / " \
    "end / " more "end / finish t2 / halt / "
    {"blocks", BLOCKS("iconst i3, k2 / ", "imuladd i5, i1, k1, i4 / ", ""), 0, true},
    {"blocks that begin at 1", BLOCKS("iconst i3, k1 / ", "imuladd i5, i1, k1, i4 / ", ""),
     0, false},
    {"blocks whose begin is set twice, to 0 last",
     BLOCKS("iconst i3, k1 / iconst i3, k2 / ", "imuladd i5, i1, k1, i4 / ", ""), 0, true},
    {"blocks whose begin is set twice, to 1 last",
     BLOCKS("iconst i3, k2 / iconst i3, k1 / ", "imuladd i5, i1, k1, i4 / ", ""), 0, false},
    {"blocks whose begin is set in a branch, too",
     BLOCKS("iconst i3, k1 / ivalue v9, i0 / if v9 / iconst i3, k2 / endif / ",
            "imuladd i5, i1, k1, i4 / ", ""),
     0, false},
    {"blocks by an index that was something else",
     BLOCKS("iconst i3, k2 / iconst i5, k2 / ", "imuladd i5, i1, k1, i4 / ", ""), 0, true},
    {"blocks by an index of which another one is made",
     BLOCKS("iconst i3, k2 / ", "imuladd i5, i1, k1, i4 / imuladd i5, i5, k1, i1 / ", ""),
     0, false},
    {"blocks in two sizes",
     BLOCKS("iconst i3, k2 / imuladd i6, i0, k8, i3 / const v9, k4 / ",
            "imuladd i5, i1, k1, i4 / ",
            "loop i2, m1, g9 / imuladd i7, i2, k1, i6 / at c1, t2, 0, root, i7 / store t2, "
            "c1, v9 / end / "),
     0, false},
    {"two sizes of blocks, each in a result",
     BLOCKS("iconst i3, k2 / imuladd i6, i0, k8, i3 / const v9, k4 / ",
            "imuladd i5, i1, k1, i4 / ",
            "loop i2, m1, g9 / imuladd i7, i2, k1, i6 / end / "),
     0, true},
    {"an operand read backwards",
     ".extent e4 addc e0 -1 / .merge g7 lo root hi e0 universe produce 0x3 { locate c8 t1 "
     "0 root i3 -1 } / .code / begin t2 / iextent i3, e4 / loop i0, m0, g7 / at c1, t2, 0, "
     "root, i0 / load v0, t1, c8 / store t2, c1, v0 / end / finish t2 / halt / ",
     0, true},
    {"nothing to share",
     ".extent e4 const 1 / .merge g7 lo root hi e4 universe produce 0x3 { locate c0 t0 0 "
     "root root 1 } / .code / begin t2 / loop i0, m0, g7 / at c1, t2, 0, root, i0 / open "
     "c2, t0, 1, c0 / const v0, k0 / " INNER(
         ADD) "store t2, c1, v0 / end / finish t2 / halt / ",
     0, true},
};
enum { ROUNDS = sizeof rounds / sizeof *rounds };

START_TEST(near_rounds)
{
    near_judge(&rounds[_i]);
}
END_TEST

Suite *suite_near_threads(void)
{
    Suite *s = suite_create("near_threads");
    TCase *c = tcase_create("near_threads");
    tcase_add_loop_test(c, near_rounds, 0, ROUNDS);
    suite_add_tcase(s, c);
    return s;
}
