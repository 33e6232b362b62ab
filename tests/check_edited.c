/* check_edited.c: programs that were compiled, with one thing in their text changed: what
 * matchers of loops over intervals and at affine coordinates look for
 * (vm/intervals/interval_match.c, affine_match.c), and what runs of them
 * look at again, isn't as compilers write it. On the faster tiers and on threads each gives
 * what base operations give, value for value and error for error. */
#include "check.h"
#include <stdlib.h>
#include <string.h>

enum { MACHINES = 3, INPUTS = 8, TEXT = 1 << 14 };

#define P "tensor P rle i64 [6,40]\nP(i,j) = (i + 1) * (j // 3) % 5\n"
#define Q "tensor Q rle i64 [6,40]\nQ(i,j) = (i + j // 7) % 4\n"
#define L "tensor L lz77 i64 [6,40]\nL(i,j) = i + j % 3 * (j > 9)\n"
#define A "tensor A csr i64 [6,40]\nA(i,j) = (i * 5 + j * 3) % 7 == 2\ncompact A\n"
#define C "tensor c dense i64 [40]\nc(j) = j % 6 + 1\n"
#define F "tensor F dense i64 [3,3]\nF(i,j) = 1 + i + 2 * j\n"
#define V                                                                                  \
    "tensor u svec i64 [40]\nu(j) = (j % 7 == 2) * (j + 1)\ncompact u\n"                   \
    "tensor f dense i64 [3] = [1,2,3]\n"
#define H "tensor h hash i64 [40]\nh(j) = (j % 7 == 2) * (j + 1)\ncompact h\n"
#define M A F
#define E "tensor E csr bool [6,200] = 1\n" TO("dense")
#define ALL "R(i) = all(k: E(i,k) && k + i > 2)"
#define ALL_IN_ALL "R = all(i,k: E(i,k) && k + i > 2)"
#define CONV "R(i,j) = A(i+p,j+q) * F(p,q) with reorder(i,j,p,q)"
#define FIVE(x) x x x x x
#define BIG "k0 i64 1\n.const k1 i64 4611686018427387904"
#define TO(format) "tensor R " format " i64\n"
/* Extents of 50, 3 and 20, the first of which is number a. */
#define MORE(a, b, c)                                                                      \
    ".merge g0", ".extent e" #a " const 50\n.extent e" #b " const 3\n.extent e" #c         \
                 " const 20\n.merge g0"
/* The result's shape isn't that of the loops: it has more or less rows or columns. */
#define SHAPES(declare, text, now)                                                         \
    {declare, text, {now, "[e0 e0]"}}, {declare, text, {now, "[e1 e1]"}},                  \
    {                                                                                      \
        declare, text,                                                                     \
        {                                                                                  \
            now, "[e1 e0]"                                                                 \
        }                                                                                  \
    }

/* Of each pair the first, where it is in the text, becomes the second. */
static const struct edit {
    const char *declare, *text, *change[16];
} edits[] = {
    SHAPES(P TO("rle"), "R(i,j) = P(i,j) * 2", "[e0 e1]"),
    SHAPES(P TO("dense"), "R(i,j) = P(i,j) * 2", "[e0 e1]"),
    SHAPES(P TO("csr"), "R(i,j) = P(i,j) * 2", "[e0 e1]"),
    SHAPES(L TO("lz77"), "R(i,j) = L(i,j) * 2", "[e0 e1]"),
    SHAPES(L C TO("rle"), "R(i,j) = L(i,j) * c(j)", "[e0 e1]"),
    SHAPES(L C TO("dense"), "R(i,j) = L(i,j) * c(j)", "[e0 e1]"),
    SHAPES(P A TO("csr"), "R(i,j) = P(i,j) * A(i,j)", "[e0 e1]"),
    SHAPES(P A TO("dense"), "R(i,j) = P(i,j) * A(i,j)", "[e0 e1]"),
    SHAPES(P A TO("rle"), "R(i,j) = P(i,j) * A(i,j)", "[e0 e1]"),
    SHAPES(P A TO("csr"), "R(i,j) = P(i,j) + A(i,j) + j", "[e0 e1]"),
    SHAPES(P Q TO("(i,j) -> (i : compressed, j : rle)"), "R(i,j) = P(i,j) + Q(i,j)",
           "[e0 e1]"),
    SHAPES(P TO("(i,j) -> (i : dense, j : hashed)"), "R(i,j) = P(i,j) * 2", "[e0 e1]"),
    /* merges that leave out, and that need not be there */
    {P TO("rle"), "R(i,j) = P(i,j) * 2", {"0x3 { follow", "0x1 { follow"}},
    {P TO("dense"), "R(i,j) = P(i,j) * 2", {"0x3 { follow", "0x2 { follow"}},
    {P C TO("rle"), "R(i,j) = P(i,j) * c(j)", {"0xf { follow", "0x7 { follow"}},
    {P C, "R(i) = P(i,j) * c(j)", {"0xf { follow", "0x7 { follow"}},
    {P A TO("csr"), "R(i,j) = P(i,j) * A(i,j)", {"0xc { follow", "0x4 { follow"}},
    {P A TO("csr"),
     "R(i,j) = P(i,j) * A(i,j)",
     {"0xc { follow c3, walk c4", "0xc { follow c4, walk c3"}},
    {P Q TO("rle"), "R(i,j) = P(i,j) + Q(i,j)", {"0xf { follow", "0x8 { follow"}},
    {P Q TO("rle"), "R(i,j) = P(i,j) + Q(i,j)", {"0xf { follow", "0x7 { follow"}},
    {P A TO("dense"), "R(i,j) = P(i,j) + A(i,j)", {"0xf { follow", "0x7 { follow"}},
    {P C TO("rle"),
     "R(i,j) = P(i,j) * c(j)",
     {"c3 t1 0 root root 1", "c3 t1 0 root root 2"}},
    /* a loop over a part, in which fibers begin before it and end behind it */
    {P TO("rle"),
     "R(i,j) = P(i,j) * 2",
     {MORE(2, 3, 4), "hi e1 universe", "hi e4 universe"}},
    {P TO("rle"), "R(i,j) = P(i,j) * 2", {MORE(2, 3, 4), "lo root hi e1", "lo e3 hi e1"}},
    {P TO("dense"), "R(i,j) = P(i,j) * 2", {MORE(2, 3, 4), "lo root hi e1", "lo e3 hi e4"}},
    {P TO("rle"),
     "R(i,j) = P(i,j) * 2",
     {MORE(2, 3, 4), "hi e1 universe", "hi e2 universe", "[e0 e1]", "[e0 e2]"}},
    {L TO("lz77"),
     "R(i,j) = L(i,j) * 2",
     {MORE(2, 3, 4), "hi e1 universe", "hi e2 universe", "[e0 e1]", "[e0 e2]"}},
    {P C, "R(i) = P(i,j) * c(j)", {MORE(3, 4, 5), "hi e1 universe", "hi e3 universe"}},
    {P C TO("rle"),
     "R(i,j) = P(i,j) * c(j)",
     {MORE(3, 4, 5), "hi e1 universe", "hi e3 universe", "[e0 e1]", "[e0 e3]"}},
    {P C, "R(i) = P(i,j) * c(j)", {MORE(3, 4, 5), "hi e1 universe", "hi e4 universe"}},
    {P C,
     "R(i) = P(i,j) * c(j)",
     {MORE(3, 4, 5), "lo root hi e1 universe", "lo e3 hi e4 universe"}},
    {P A TO("csr"),
     "R(i,j) = P(i,j) * A(i,j)",
     {MORE(4, 5, 6), "hi e1 produce", "hi e6 produce"}},
    {P A TO("csr"),
     "R(i,j) = P(i,j) * A(i,j)",
     {MORE(4, 5, 6), "hi e1 produce", "hi e4 produce"}},
    /* bodies */
    {A H, "R(i) = A(i,j) * h(j)", {"mul, i64, v2, v3", "mul, i64, v3, v3"}},
    {P C, "R(i) = P(i,j) * c(j)", {"add, i64, v0, v3", "add, i64, v3, v0"}},
    {P C, "R(i) = P(i,j) * c(j)", {"add, i64, v0, v3", "sub, i64, v3, v0"}},
    {P C, "R(i) = P(i,j) * c(j)", {"add, i64, v0, v3", "floordiv, i64, v0, v3"}},
    {P C, "R(i) = P(i,j) * c(j)", {"add, i64, v0, v3", "gt, i64, v0, v3"}},
    {P C, "R(i) = P(i,j) * c(j)", {"mul, i64, v1, v2", "mul, i64, v2, v2"}},
    {P C, "R(i) = P(i,j) * c(j)", {"mul, i64, v1, v2", "floordiv, i64, v1, v2"}},
    {P C, "R(i) = P(i,j) * c(j)", {"mul, i64, v1, v2", "max, i64, v1, v2"}},
    {P C, "R(i) = P(i,j) * c(j)", {"mul, i64, v1, v2", "mul, i64, v2, v1"}},
    {P C,
     "R(i) = P(i,j) * c(j)",
     {"v 4 i 2", "v 4 i 3", "load       v2, t1, c3",
      "imuladd i2, i1, k0, i1\nivalue v2, i2"}},
    {P TO("rle"), "R(i,j) = P(i,j) * 2", {"mul, i64, v0, v1", "add, i64, v0, v0"}},
    {P TO("rle"), "R(i,j) = P(i,j) * 2", {"mul, i64, v0, v1", "mul, i64, v1, v1"}},
    {P TO("rle"), "R(i,j) = P(i,j) * 2", {"store      t1, c3, v2", "mov v0, v2"}},
    {P TO("dense"),
     "R(i,j) = P(i,j) * 2",
     {"store      t1, c3, v2", "store t1, c3, v0\nstore t1, c3, v2"}},
    {P TO("dense"),
     "R(i,j) = P(i,j) * 2",
     {"store      t1, c3, v2", "acc t1, c3, add, i64, v2\nacc t1, c3, mul, i64, v2"}},
    {P TO("dense"),
     "R(i,j) = P(i,j) * 2",
     {"store      t1, c3, v2", "acc t1, c3, max, i64, v2"}},
    {P TO("dense"),
     "R(i,j) = P(i,j) * 2",
     {"store      t1, c3, v2", "acc t1, c3, floordiv, i64, v2"}},
    {P TO("rle"),
     "R(i,j) = P(i,j) * 2",
     {"store      t1, c3, v2", "acc t1, c3, add, i64, v2"}},
    /* places */
    {P TO("dense"),
     "R(i,j) = P(i,j) * 2",
     {"m 2 c 4", "m 2 c 5", "at         c3, t1, 1, c1, i1",
      "at c4, t1, 1, c1, i1\nat c3, t1, 1, c1, i1"}},
    {P TO("dense"),
     "R(i,j) = P(i,j) * 2",
     {"at         c3, t1, 1, c1, i1", "at c3, t1, 1, c1, i0"}},
    {P TO("dense"),
     "R(i,j) = P(i,j) * 2",
     {"at         c1, t1, 0, root, i0", "const v1, k0", "at         c3",
      "at c1, t1, 0, root, i0\nat c3", "keep       t1, 0, c1", "const v1, k0"}},
    {P TO("dense"),
     "R(i,j) = P(i,j) * 2",
     {"[e0 e1]", "[e1 e1]", "at         c1, t1, 0, root, i0", "const v1, k0",
      "at         c3", "at c1, t1, 0, root, i1\nat c3", "keep       t1, 0, c1",
      "const v1, k0"}},
    {P TO("dense"),
     "R(i,j) = P(i,j) * 2",
     {"v 3 i 2", "v 3 i 3", "at         c1, t1, 0, root, i0",
      "iconst i2, k0\nat c1, t1, 0, root, i2"}},
    {P TO("rle"),
     "R(i,j) = P(i,j) * 2",
     {"v 3 i 2", "v 3 i 3", "at         c1, t1, 0, root, i0",
      "iconst i2, k0\nat c1, t1, 0, root, i2"}},
    /* a nest that is run again into the same result */
    {P A TO("csr"),
     "R(i,j) = P(i,j) * A(i,j)",
     {"i 2 m 2", "i 4 m 4", "loop       i0",
      "loop i2, m2, g0\nloop i3, m3, g0\nend\nloop i0", "finish", "end\nfinish"}},
    {P A TO("dense"),
     "R(i,j) = P(i,j) * A(i,j)",
     {"i 2 m 2", "i 4 m 4", "loop       i0",
      "loop i2, m2, g0\nloop i3, m3, g0\nend\nloop i0", "finish", "end\nfinish"}},
    {P TO("rle"),
     "R(i,j) = P(i,j) * 2",
     {"i 2 m 2", "i 4 m 4", "loop       i0",
      "loop i2, m2, g0\nloop i3, m3, g0\nend\nloop i0", "finish", "end\nfinish"}},
    {L TO("csr"),
     "R(i,j) = L(i,j) * 2",
     {"i 2 m 2", "i 4 m 4", "loop       i0",
      "loop i2, m2, g0\nloop i3, m3, g0\nend\nloop i0", "finish", "end\nfinish"}},
    {P TO("dense"),
     "R(i,j) = P(i,j) * 2",
     {"i 2 m 2", "i 3 m 3", "loop       i0", "loop i2, m2, g0\nloop i0", "finish",
      "end\nfinish"}},
    {L TO("csr"),
     "R(i,j) = L(i,j) * 2",
     {"i 2 m 2", "i 3 m 3", "loop       i0", "loop i2, m2, g0\nloop i0", "finish",
      "end\nfinish"}},
    {P A TO("csr"),
     "R(i,j) = P(i,j) * A(i,j)",
     {"i 2 m 2", "i 3 m 3", "loop       i0", "loop i2, m2, g0\nloop i0", "finish",
      "end\nfinish"}},
    {P C TO("csr"),
     "R(i,j) = P(i,j) * c(j)",
     {"i 2 m 2", "i 3 m 3", "loop       i0", "loop i2, m2, g0\nloop i0", "finish",
      "end\nfinish"}},
    /* reduced outside as well, where lanes are long */
    {"tensor O (i,j) -> (i : rle, j : dense) i64 [9,4]\nO(i,j) = i // 3 + j\n" TO("dense"),
     "R(i,j) = O(i,j) * 2",
     {"v 3 i 2", "v 5 i 2", "begin", "const v3, k0\nconst v4, k0\nbegin", "keep",
      "fn2 v3, add, i64, v3, v4\nkeep"}},
    /* ---- at affine coordinates: sums, products, and what is added to ---- */
    {V TO("dense"), "R(i) = u(i+p) * f(p)", {"[e5]", "[e0]"}},
    {V TO("dense"), "R(i) = u(i+p) * f(p)", {"[e5]", "[e1]"}},
    {V TO("dense"), "R(i) = u(i+p) * f(p)", {"add, i64, v2", "max, i64, v2"}},
    {V TO("dense"), "R(i) = u(i+p) * f(p)", {"add, i64, v2", "add, i64, v0"}},
    {V TO("dense"), "R(i) = u(i+p) * f(p)", {"mul, i64, v0, v1", "mul, i64, v0, v0"}},
    {V TO("dense"), "R(i) = u(i+p) * f(p)", {"mul, i64, v0, v1", "add, i64, v0, v1"}},
    {V TO("dense"),
     "R(i) = u(i+p) * f(p)",
     {"v 3 i", "v 4 i", "acc ", "const v3, k0\nfn2 v2, mul, i64, v2, v3\nacc "}},
    {V TO("dense"),
     "R(i) = u(i+p) * f(p)",
     {"v 3 i", "v 4 i", "acc ",
      "const v3, k0\nfn2 v2, mul, i64, v2, v3\nfn2 v2, mul, i64, v2, v3\nacc "}},
    {V TO("dense"),
     "R(i) = u(i+p) * f(p)",
     {"v 3 i", "v 4 i", "acc ", FIVE("const v3, k0\nfn2 v2, mul, i64, v2, v3\n") "acc "}},
    {V TO("dense"),
     "R(i) = u(i+p) * f(p)",
     {"v 3 i", "v 4 i", "acc ", "const v3, k0\nacc "}},
    {V TO("dense"), "R(i) = u(i+p) * f(p)", {"acc ", "acc t2, c2, add, i64, v2\nacc "}},
    {V TO("dense"),
     "R(i) = u(i+p) * f(p)",
     {"load       v0", FIVE(FIVE("load v0, t0, c1\n")) "load v0"}},
    {V TO("dense"),
     "R(i) = u(i+p) * f(p)",
     {"at         c2",
      FIVE(FIVE("at c2, t2, 0, root, i0\n")) FIVE("at c2, t2, 0, root, i0\n") "at c2"}},
    /* integers */
    {V TO("dense"),
     "R(i) = u(i+p) * f(p)",
     {"i 2 m", "i 3 m", "load       v0",
      FIVE(FIVE("imuladd i2, i0, k0, i1\n"))
          FIVE(FIVE("imuladd i2, i0, k0, i1\n")) "load v0"}},
    {V TO("dense"),
     "R(i) = u(i+p) * f(p)",
     {"i 2 m", "i 4 m", "load       v0",
      "iextent i2, e0\nimuladd i3, i2, k0, i1\nload v0"}},
    {V TO("dense"),
     "R(i) = u(i+p) * f(p)",
     {"i 2 m", "i 4 m", "load       v0",
      "iextent i2, e0\nimuladd i3, i1, k0, i2\nload v0"}},
    {V TO("dense"),
     "R(i) = u(i+p) * f(p)",
     {"i 2 m", "i 3 m", "load       v0", "iextent i2, e0\nwithin i2, e1\nload v0"}},
    {V TO("dense"),
     "R(i) = u(i+p) * f(p)",
     {"load       v0", FIVE("within i1, e0\n") "load v0"}},
    {V TO("dense"), "R(i) = u(i+p) * f(p)", {"load       v0", "within i1, e0\nload v0"}},
    {V TO("dense"),
     "R(i) = u(i+p) * f(p)",
     {"i 2 m", "i 9 m", "begin",
      "iconst i2, k0\niconst i3, k0\niconst i4, k0\niconst i5, k0\niconst i6, k0\n"
      "begi"
      "n",
      "load       v0",
      "imuladd i7, i2, k0, i3\nimuladd i7, i7, k0, i4\nimuladd i7, i7, k0, i5\nimuladd i7, "
      "i7, k0, i6\nload v0"}},
    {V TO("dense"),
     "R(i) = u(i+p) * f(p)",
     {"i 2 m", "i 3 m", "k0 i64 1", "k0 i64 1\n.const k1 i64 9223372036854775807",
      "load       v0", "imuladd i2, i0, k1, i1\nimuladd i2, i2, k1, i1\nload v0"}},
    /* cursors */
    {V TO("dense"),
     "R(i) = u(i+p) * f(p)",
     {"c 3", "c 4", "load       v0", "open c3, t1, 0, root\nload v0"}},
    {V TO("dense"),
     "R(i) = u(i+p) * f(p)",
     {"c 3", "c 4", "load       v0", "open c3, t1, 0, root\nseek c3, i1\nload v0"}},
    {V TO("dense"),
     "R(i) = u(i+p) * f(p)",
     {"c 3", "c 4", "load       v0", "locate c3, t1, 0, root, i1\nload v0"}},
    {V TO("dense"),
     "R(i) = u(i+p) * f(p)",
     {"c 3", "c 4", "load       v1, t1, c0",
      "locate c3, t1, 0, root, i1\nload v1, t1, c3"}},
    {V TO("dense"),
     "R(i) = u(i+p) * f(p)",
     {"c 3", "c 4", "load       v1, t1, c0",
      "locate c3, t1, 0, root, i0\nload v1, t1, c3"}},
    {V TO("dense"),
     "R(i) = u(i+p) * f(p)",
     {"load       v0", "present m1, 0, c0\nload v0"}},
    {V TO("dense"),
     "R(i) = u(i+p) * f(p)",
     {"load       v0", "present m1, 0, c1\nload v0"}},
    {V TO("dense"),
     "R(i) = u(i+p) * f(p)",
     {"load       v0", "present m1, 0, c0\nskip m1, g0\nload v0"}},
    /* merges */
    {V TO("dense"), "R(i) = u(i+p) * f(p)", {"0x3 { locate c0", "0x1 { locate c0"}},
    {V TO("dense"), "R(i) = u(i+p) * f(p)", {"0x3 { locate c0", "0x2 { locate c0"}},
    {V TO("dense"),
     "R(i) = u(i+p) * f(p)",
     {"produce 0x2 { walk c1", "universe produce 0x3 { walk c1"}},
    {V TO("dense"),
     "R(i) = u(i+p) * f(p)",
     {"produce 0x2 { walk c1", "universe produce 0x1 { walk c1"}},
    {V TO("dense"), "R(i) = u(i+p) * f(p)", {"c0 t1 0 root root 1", "c0 t1 0 root root 2"}},
    {V TO("dense"),
     "R(i) = u(i+p) * f(p)",
     {"c0 t1 0 root root 1", "c0 t1 0 root root -1"}},
    {M TO("dense"),
     "R(i,j) = A(i+p,j+q) * F(p,q)",
     {"i 4 m", "i 5 m", "loop       i3", "iextent i4, e12\nloop i3", "c1 t1 1 c0 root 1",
      "c1 t1 1 c0 i4 1"}},
    {M TO("dense"),
     "R(i,j) = A(i+p,j+q) * F(p,q)",
     {"c 6", "c 7", "loop       i3", "locate c6, t1, 0, root, i2\nloop i3",
      "c1 t1 1 c0 root 1", "c1 t1 1 c6 root 1"}},
    {M TO("dense"), "R(i,j) = A(i+p,j+q) * F(p,q)", {"[e6 e11]", "[e0 e11]"}},
    {M TO("dense"), "R(i,j) = A(i+p,j+q) * F(p,q)", {"[e6 e11]", "[e6 e0]"}},
    {M TO("dense"), "R(i,j) = A(i+p,j+q) * F(p,q)", {"[e6 e11]", "[e11 e11]"}},
    /* coordinates beyond 64 bits in a later row */
    {M TO("csr"),
     "R(i,j) = A(i+p,j+q) * F(p,q)",
     {"i 4 m", "i 5 m", "k0 i64 1", BIG, "open.at    c4, t0, 1, c1, i3",
      "imuladd i4, i0, k1, i0\nopen.at c4, t0, 1, c1, i4"}},
    {M TO("csr"),
     "R(i,j) = A(i+p,j+q) * F(p,q)",
     {"i 4 m", "i 5 m", "k0 i64 1", BIG, "loop       i3", "imuladd i4, i0, k1, i0\nloop i3",
      "c3 t1 1 c2 root 1", "c3 t1 1 c2 i4 1"}},
    {M TO("csr"),
     "R(i,j) = A(i+p,j+q) * F(p,q)",
     {"i 4 m", "i 5 m", "k0 i64 1", BIG, "ws.add     t3, i1",
      "imuladd i4, i0, k1, i0\nws.add t3, i4"}},
    {M TO("csr"),
     "R(i,j) = A(i+p,j+q) * F(p,q)",
     {"i 4 m", "i 5 m", "k0 i64 1", BIG, "ws.add ",
      "imuladd i4, i0, k1, i0\nwithin i4, e11\nws.add "}},
    {M TO("csr"),
     "R(i,j) = A(i+p,j+q) * F(p,q)",
     {"i 4 m", "i 5 m", "ws.add     t3, i1", "iextent i4, e12\nws.add t3, i4"}},
    {M TO("csr"), "R(i,j) = A(i+p,j+q) * F(p,q)", {"[e11]", "[e0]"}},
    {M TO("csr"),
     "R(i,j) = A(i+p,j+q) * F(p,q)",
     {"ws.add     t3, i1, add", "ws.add t3, i1, max"}},
    /* sums that are stored: from what they begin, whether, and where */
    {M TO("dense"), CONV, {"store      t2, c3, v0", "const v0, k1"}},
    {M TO("csr"), CONV, {"store      t2, c3, v0", "const v0, k1"}},
    {M TO("dense"), CONV, {"add, i64, v0, v3", "add, i64, v3, v0"}},
    {M TO("dense"), CONV, {"add, i64, v0, v3", "max, i64, v0, v3"}},
    {M TO("dense"), CONV, {"const      v0, k1", "const v0, k0"}},
    {M TO("csr"), CONV, {"const      v0, k1", "const v0, k0"}},
    {M TO("dense"), CONV, {"universe produce 0x1 { }", "universe produce 0x0 { }"}},
    {M TO("dense"), CONV, {"produce 0xa { walk", "produce 0x8 { walk"}},
    {M TO("dense"), CONV, {"produce 0xa { walk", "produce 0x2 { walk"}},
    {M TO("csr"), CONV, {"[e6 e11]", "[e6 e0]"}},
    {M TO("csr"), CONV, {"[e6 e11]", "[e0 e11]"}},
    {M TO("csr"), CONV, {"[e6 e11]", "[e6 e12]"}},
    /* two results */
    {P TO("dense"),
     "R(i,j) = P(i,j) * 2",
     {"m 2 c 4", "m 2 c 6", ".extent e0",
      ".tensor t2 \"S\" output i64 (0) [e0 e1] format 2 dense(0) dense(1)\n.extent e0",
      "begin", "begin t2\nbegin", "at         c1", "at c4, t2, 0, root, i0\nat c1",
      "at         c3", "at c5, t2, 1, c4, i1\nat c3", "store", "store t2, c5, v0\nstore",
      "finish", "finish t2\nfinish"}},
    {P TO("rle"),
     "R(i,j) = P(i,j) * 2",
     {"m 2 c 4", "m 2 c 6", ".extent e0",
      ".tensor t2 \"S\" output i64 (0) [e0 e1] format 2 dense(0) dense(1)\n.extent e0",
      "begin", "begin t2\nbegin", "at         c1", "at c4, t2, 0, root, i0\nat c1",
      "at         c3", "at c5, t2, 1, c4, i1\nat c3", "finish", "finish t2\nfinish"}},
    /* a loop around goes through the rows again: no fiber of the result takes up what
     * comes before what it has, and one row has nothing before it */
    {A V TO("dcsr"),
     "R(i,j) = A(i,j) * sum(k: u(k))",
     {"  end @0:30\n  loop       i0", "  loop       i0", "  finish", "  end\n  finish"}},
    {A V TO("dcsr") "u(j) = u(j) * (j == 2)\ncompact u\n",
     "R(i,j) = A(i,j) * sum(k: u(k))",
     {"  end @0:30\n  loop       i0", "  loop       i0", "  finish", "  end\n  finish"}},
    /* what is counted beside what is settled (summary_moot.c), and asked for after all */
    {E, ALL, {"store      t1, c1, v7", "store t1, c1, v8"}},
    {E, ALL, {"store      t1, c1, v7", "store t1, c1, v18"}},
    {E, ALL, {"fn2        v7, and, i64, v7, v19", "fn2 v7, add, i64, v7, v8"}},
    {E, ALL, {"fn2        v7, and, i64, v7, v19", "fn2 v7, and, i64, v18, v19"}},
    {E, ALL, {"fn2        v7, and, i64, v7, v19", "fn2 v7, or, i64, v7, v18"}},
    {E, ALL, {"store      t1, c1, v7", "mov v20, v8\nstore t1, c1, v20"}},
    {E, ALL, {"store      t1, c1, v7", "if v18\nstore t1, c1, v7\nendif"}},
    {E, ALL, {"extent     v17, e1", "const v7, k1\nextent v17, e1"}},
    {E,
     ALL,
     {"k2 i64 2", "k2 i64 2\n.const k3 i64 800", "begin ", "const v8, k0\nbegin ",
      "    const      v8, k0", "    const v20, k0", "extent     v17, e1", "const v17, k3"}},
    {E, ALL_IN_ALL, {"store      t1, root, v13", "store t1, root, v14"}},
    {E, ALL_IN_ALL, {"    open       c1", "const v13, k1\nopen c1"}},
    {E, ALL_IN_ALL, {"  end @0:33\n  end @0:33", "end\nmov v24, v14\nend"}},
    {E, ALL_IN_ALL, {"const      v31, k0", "mov v31, v14"}},
};
enum { EDITS = sizeof edits / sizeof *edits };

typedef struct lab {
    heap h;
    stc_machine *m;
    stc_session *s;
    stc_program *p;
    stc_status status;
    char message[300];
} lab;

/* The program's text, changed. */
static char *edited(lab *l, const struct edit *e)
{
    char *text, *out = malloc(TEXT);
    ck_assert_ptr_nonnull(out);
    ck_ok(l->m, stc_session_exec(l->s, e->declare, "declarations"));
    const stc_status st = stc_session_compile(l->s, e->text, &l->p);
    ck_assert_msg(!st, "%s\n%s: %s", e->declare, e->text, stc_error(l->m)->message);
    ck_ok(l->m, stc_program_dump(l->p, &text));
    stc_program_free(l->p);
    snprintf(out, TEXT, "%s", text);
    for (const char *const *c = e->change; *c; c += 2) {
        char *at = strstr(out, c[0]);
        ck_assert_msg(at, "%s\n%s: nowhere `%s`\n%s", e->declare, e->text, c[0], out);
        const size_t was = strlen(c[0]), is = strlen(c[1]);
        ck_assert_uint_lt(strlen(out) + is, TEXT);
        memmove(at + is, at + was, strlen(at + was) + 1);
        memcpy(at, c[1], is);
    }
    stc_text_free(l->m, text);
    return out;
}

/* Runs it twice, the second time from what the first one left. */
static void run(lab *l, const struct edit *e, int which)
{
    l->m = machine_open(&l->h, which == 0);
    if (which == 2) machine_share(l->m, 2);
    ck_ok(l->m, stc_session_open(l->m, &l->s));
    char *text = edited(l, e);
    const char *name;
    bool result;
    const stc_status st = stc_program_assemble(l->m, text, "edited", &l->p);
    ck_assert_msg(!st, "%s\n%s", stc_error(l->m)->message, text);
    for (int k = 0; (name = stc_program_name(l->p, k, &result)); k++) {
        const stc_tensor *t;
        if (result) continue;
        ck_ok(l->m, stc_session_get(l->s, name, &t));
        ck_ok(l->m, stc_bind(l->p, name, (stc_tensor *)t));
    }
    for (int k = 0; k < 2; k++)
        l->status = stc_run(l->p);
    snprintf(l->message, sizeof l->message, "%s", stc_error(l->m)->message);
    free(text);
}

static void end(lab *l)
{
    stc_program_free(l->p);
    stc_session_close(l->s);
    machine_shut(l->m, &l->h);
}

/* R's elements, to be freed. */
static void *elements(const lab *l, size_t *size)
{
    const stc_tensor *r;
    ck_ok(l->m, stc_result(l->p, "R", &r));
    ck_ok(l->m, stc_tensor_check((stc_tensor *)r));
    *size = stc_type_size(stc_tensor_type(r));
    for (int d = 0; d < stc_tensor_order(r); d++)
        *size *= (size_t)stc_tensor_shape(r)[d];
    void *out = malloc(*size + 1);
    ck_assert_ptr_nonnull(out);
    ck_ok(l->m, stc_tensor_to_dense(r, out));
    return out;
}

START_TEST(edited_programs)
{
    const struct edit *e = &edits[_i];
    lab l[MACHINES] = {0};
    void *want = NULL;
    size_t size = 0;
    for (int k = 0; k < MACHINES; k++) {
        size_t n = 0;
        run(&l[k], e, k);
        ck_assert_msg(l[k].status == l[0].status, "%s\n%s, %s: %s, not %s", e->declare,
                      e->text, e->change[1], l[k].message, l[0].message);
        ck_assert_ptr_null(strstr(l[k].message, "malformed"));
        if (l[0].status == STC_ERR_ARITHMETIC) ck_assert_str_eq(l[k].message, l[0].message);
        if (l[k].status) continue;
        void *got = elements(&l[k], &n);
        if (!want) want = got, size = n;
        ck_assert_uint_eq(n, size);
        ck_assert_msg(!memcmp(got, want, size), "%s\n%s, %s: machine %d has another result",
                      e->declare, e->text, e->change[1], k);
        if (got != want) free(got);
    }
    free(want);
    for (int k = 0; k < MACHINES; k++)
        end(&l[k]);
}
END_TEST

Suite *suite_edited(void)
{
    Suite *s = suite_create("edited");
    TCase *c = tcase_create("edited");
    tcase_add_loop_test(c, edited_programs, 0, EDITS);
    suite_add_tcase(s, c);
    return s;
}
