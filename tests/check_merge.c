/* check_merge.c: proofs of the interface: operands of every kind meeting in one
 * loop through cursors, and results that are assembled out of order; then what
 * earlier faults left behind. */
#include "../vm/strips/merge_keys.h"
#include "check.h"
#include <string.h>

#define RLE                                                                                \
    "tensor R rle f64 [2,6] = { (0,0): 1, (0,1): 1, (0,2): 1, (1,3): 2, (1,4): 2, (1,5): " \
    "2 }\n"
#define CSR "tensor A csr f64 [2,6] = { (0,1): 10, (1,0): 20, (1,5): 30 }\n"

START_TEST(rle_and_csr)
{
    EXPECT(RLE CSR "C(i,j) = R(i,j) + A(i,j)", "C", 1, 11, 1, 0, 0, 0, 20, 0, 0, 2, 2, 32);
    EXPECT(RLE CSR "C(i,j) = R(i,j) * A(i,j)", "C", 0, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 60);
    EXPECT(RLE "y(i) = R(i,j)", "y", 3, 6);
    EXPECT(RLE CSR "y(i) = max(j: R(i,j) + A(i,j))", "y", 11, 32);
}
END_TEST

START_TEST(affine_on_csr)
{
    EXPECT("tensor A csr f64 [2,5] = { (0,1): 10, (0,3): 5, (1,4): 30 }\n"
           "tensor f dense f64 = [1,100]\ny(r,i) = A(r,i+j) * f(j)",
           "y", 1000, 10, 500, 5, 0, 0, 0, 3000);
    EXPECT("tensor x svec f64 [5] = { (1): 10, (3): 5 }\ny(i) = x(2*i)", "y", 0, 0, 0);
    EXPECT("tensor x svec f64 [5] = { (1): 10, (3): 5 }\ny(i) = x(2*i+1)", "y", 10, 5);
    EXPECT("tensor x svec f64 [5] = { (1): 10, (3): 5 }\ny(i) = x(4-i)", "y", 0, 5, 0, 10,
           0);
}
END_TEST

START_TEST(xor_on_dcsr)
{
    EXPECT("tensor A dcsr bool [4,3] = { (0,0): true, (2,1): true, (2,2): true }\n"
           "tensor B dcsr bool [4,3] = { (2,1): true, (3,0): true }\n"
           "E(i,j) = xor(A(i,j), B(i,j))",
           "E", 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0);
    EXPECT("tensor A dcsr bool [2,2] = { (0,0): true, (1,1): true }\n"
           "tensor B dcsr bool [2,2] = { (0,0): true, (1,0): true }\n"
           "tensor R dcsr bool [2,2] = { (0,0): true, (1,0): true }\n"
           "E(i,j) = xor(A(i,j) && R(i,j), B(i,j) && R(i,j))",
           "E", 0, 0, 1, 0);
}
END_TEST

START_TEST(three_way_union)
{
    EXPECT("tensor A coo f64 [2,2,2] = { (0,0,1): 1, (1,1,1): 2 }\n"
           "tensor B coo f64 [2,2,2] = { (0,0,1): 10, (0,1,0): 20 }\n"
           "tensor C coo f64 [2,2,2] = { (0,0,0): 100, (1,1,1): 200 }\n"
           "D(i,j,k) = A(i,j,k) + B(i,j,k) + C(i,j,k)",
           "D", 100, 11, 20, 0, 0, 0, 0, 202);
    EXPECT("tensor A coo f64 [2,2,2] = { (0,0,1): 1, (1,1,1): 2 }\n"
           "tensor B coo f64 [2,2,2] = { (0,0,1): 10, (0,1,0): 20 }\n"
           "tensor C coo f64 [2,2,2] = { (0,0,0): 100, (1,1,1): 200 }\n"
           "s = A(i,j,k) * (B(i,j,k) + C(i,j,k))",
           "s", 410);
}
END_TEST

START_TEST(hashed_operand)
{
    EXPECT("tensor H hash f64 [3,4] = { (0,3): 1, (2,0): 2, (2,2): 3 }\n"
           "tensor A csr f64 [3,4] = { (0,3): 10, (1,1): 20, (2,2): 30 }\n"
           "C(i,j) = A(i,j) * H(i,j)",
           "C", 0, 0, 0, 10, 0, 0, 0, 0, 0, 0, 90, 0);
    EXPECT("tensor H hash f64 [3,4] = { (0,3): 1, (2,0): 2, (2,2): 3 }\n"
           "tensor A csr f64 [3,4] = { (0,3): 10, (1,1): 20, (2,2): 30 }\n"
           "C(i,j) = A(i,j) + H(i,j)",
           "C", 0, 0, 0, 11, 0, 20, 0, 0, 2, 0, 33, 0);
    EXPECT("tensor A csr f64 [3,4] = { (0,3): 10, (1,1): 20, (2,2): 30 }\n"
           "tensor C hash f64 [4,3]\nC(j,i) = A(i,j)",
           "C", 0, 0, 0, 0, 20, 0, 0, 0, 30, 10, 0, 0);
}
END_TEST

START_TEST(through_workspaces)
{
    EXPECT("tensor A csc f64 [2,3] = { (0,1): 3, (1,0): 2, (1,2): 5 }\n"
           "tensor B csr f64 [3,2] = { (0,0): 1, (1,1): 4, (2,0): 6 }\n"
           "tensor C csr f64 [2,2]\nC(i,j) = A(i,k) * B(k,j)",
           "C", 0, 12, 32, 0);
    EXPECT("tensor B csf f64 [2,2,2] = { (0,0,1): 1, (1,1,0): 2, (1,1,1): 3 }\n"
           "tensor C coo f64 [2,2]\nC(k,i) = B(i,j,k)",
           "C", 0, 2, 1, 3);
    EXPECT("tensor A csr f64 [2,2] = { (0,1): 3 }\ntensor D csr f64 [2,2] = { (1,1): 1 }\n"
           "tensor B csr f64 [2,2] = { (1,0): 2 }\ntensor C csr f64 [2,2]\n"
           "C(i,j) = A(i,k) * B(k,j) + D(i,j)",
           "C", 6, 0, 0, 1);
}
END_TEST

START_TEST(terms_of_their_own)
{
    EXPECT("tensor A csr f64 [2,3] = { (0,1): 3, (1,2): 5 }\ntensor x dense f64 = [1,2,3]\n"
           "tensor B csr f64 [2,2] = { (1,0): 7 }\ntensor z dense f64 = [10,20]\n"
           "tensor b dense f64 = [100,200]\n"
           "y(i) = A(i,j) * x(j) + B(i,k) * z(k) + b(i)",
           "y", 106, 285);
    EXPECT(
        "tensor A csr f64 [2,3] = { (0,1): 3, (1,2): 5 }\ny(i) = exp(sum(j: A(i,j)) - 3)",
        "y", 1, 7.3890560989306502);
    EXPECT("tensor A csr f64 [3,3] = { (0,1): 3, (1,0): 1, (1,2): 5 }\nC(i,j) = A(i,j) + "
           "A(j,i)",
           "C", 0, 4, 0, 4, 0, 5, 0, 5, 0);
    EXPECT("tensor A csr f64 [3,3] = { (0,1): 3, (1,1): 1, (1,2): 5 }\nt = A(i,i)", "t", 1);
}
END_TEST

START_TEST(tropical)
{
    EXPECT("tensor d csr f64 [3,3] fill inf = { (0,1): 3, (1,2): 1, (0,2): 9 }\n"
           "e(i,j) = min(k: d(i,k) + d(k,j))\ntensor f dense f64 [3,3]\n"
           "f(i,j) = select(isinf(e(i,j)), -1, e(i,j))",
           "f", -1, -1, 4, -1, -1, -1, -1, -1, -1);
}
END_TEST

/* Values that once came out wrong, each with what it is about. */
START_TEST(mended)
{
    /* an index of an operand without entries is summed over all of its coordinates */
    EXPECT("tensor Z csr bool [2,2] = { }\ntensor b i64 = -2\n"
           "y(i) = min(Z(i,k), b)",
           "y", -4, -4);
    /* a maximum of nothing is the least number of the operand's type, not the result's */
    EXPECT("tensor A coo i16 [3,3] = { }\ntensor y dense i32 [3]\ny(j) = max(p in 0:0: "
           "A(p,j))",
           "y", -32768, -32768, -32768);
    /* two affine subscripts of one operand, one of them descending by twos */
    EXPECT("tensor D coo i64 [4,6,9,3] = { (2,0,5,2): 1 }\ntensor y dense i64 [4,3]\n"
           "y(i,j) = 1 + D(i,-2*j+4,i*2+1,j)",
           "y", 1, 1, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1);
    /* a descending subscript that is summed over, beside a term without it */
    EXPECT("tensor C csr f64 [4,4] = { (2,1): 1 }\ny(l) = 1 + C(3-j,l)", "y", 1, 2, 1, 1);
    /* bools are shifted as integers, and what isn't stored as well */
    EXPECT("tensor A csr bool [4,3] = { (3,2): true }\ny(i) = max(p: A(i,p) << 0)", "y", 0,
           0, 0, 1);
    /* an operand filled with true, transposed into a result of another fill */
    EXPECT(
        "tensor A coo bool [2,2] fill true = { (1,0): false }\ntensor y dense i16 fill 3\n"
        "y(j,i) = A(i,j) * 1",
        "y", 1, 0, 1, 1);
    /* an operand beside its own diagonal, and that in a sum of one round */
    EXPECT("tensor A coo f64 [2,2] = { (0,0): 2, (0,1): 3 }\n"
           "y(i,j) = A(i,j) * A(i,i) - sum(p in 0:1: A(i,i))",
           "y", 2, 4, 0, 0);
    /* an annihilator of one type against a result of another */
    EXPECT("fn u(x, y) = x * y with annihilator(0)\ntensor A svec f32 [2] = { }\n"
           "tensor D dense i64 [2] = { }\n"
           "tensor F dense f64 [2] fill -inf = { (1): 1 }\ny(i) = u(A(i), D(i)) + F(i)",
           "y", -INFINITY, 1);
    /* strips that step go on where they were */
    EXPECT("tensor o svec i64 [1300] = { (1200): 3 }\ntensor v svec i64 [1300]\n"
           "v(i) = i + 0 * o(i)\ny = v(i)",
           "y", 844350);
    /* a conversion beside derived indices has its levels in the order they are known */
    EXPECT("format fA = (i,j,k) -> (i : dense, j-k : hashed, j : range, k : offset)\n"
           "tensor A fA f64 [2,3,3] = { (0,0,1): 2, (0,2,1): 3, (1,1,2): 4, (0,1,0): 5 }\n"
           "format fB = (i,j) -> (i : compressed(unordered), j : dense)\n"
           "tensor B fB f64 [2,3] = { (0,0): 1, (0,1): 2, (1,1): 6 }\n"
           "y(k,j) = max(A(j,k,l), B(i,l))",
           "y", 9, 9, 18, 17, 10, 9);
    /* a slice is no copy */
    EXPECT("tensor A coo f64 [3,2] = { (0,1): 2, (1,0): 3, (2,1): 4 }\n"
           "y(k,l) = A(k(:2),l)",
           "y", 0, 2, 3, 0);
    /* rows of blocks of which none is stored, before there is room for any */
    EXPECT("tensor A csr i8 [3,4]\nA(i,j) = 0 * 1\ntensor y bcsr(2,2) i64\n"
           "y(j,i) = A(i,j) + A(i,j)",
           "y", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    /* idempotent reductions: one fill for all that isn't stored */
    EXPECT("tensor T csr f64 [3,2] = { (0,0): -3, (0,1): -4, (1,0): -5 }\n"
           "y(i) = max(j: T(i,j))",
           "y", -3, 0, 0);
    /* a case's variables are its own: 0 - 3 of a u8 is still one in the first */
    EXPECT("fn u(x, y) {\n x, 0 => x // 2\n"
           " x, y => { while (x != 0) { t = x; x = y % x; y = t }; return y }\n}\n"
           "tensor A dense u8 [2] = [3, 4]\ntensor B dense i64 [2] = [0, 6]\n"
           "y(i) = u(0 * A(i) - A(i) + 0, B(i)) > 2 ** 62",
           "y", 1, 0);
}
END_TEST

/* Slices of compressed modes, of both operands, of one, and at other strides: lanes
 * of many strips, long fibers and empty ones. */
START_TEST(windows)
{
    EXPECT("tensor A csr f64 [3000,40]\nA(i,j) = select((i + 7 * j) % 5 == 0, i + j, 0)\n"
           "tensor B csr f64 [3000,40]\nB(i,j) = select((i + j) % 3 == 0, 1, 0)\n"
           "C(i,j) = A(i(1:3000:3),j(3::4)) + B(i(::3),j(:10))\n"
           "tensor s dense f64 [4]\n"
           "s(0) = sum(i, j: C(i,j))\n"
           "s(1) = sum(i, j: A(i(1:3000:3),j(3::4)))\n"
           "s(2) = sum(i, j: B(i(::3),j(:10)))\n"
           "s(3) = max(i: min(j: A(i,j(5:9))))",
           "s", 3045000, 3041000, 4000, 0);
    EXPECT("tensor A csr i64 [2,9000]\nA(i,j) = select(j % 4 == i, j, 0)\n"
           "y(i) = sum(j: A(i,j(1::4)) * A(i,j(1:9000:4)))\n"
           "z(i) = y(i) % 1000007",
           "z", 0, 324147);
}
END_TEST

/* Lists of keys against what each key has, asked one by one. */
START_TEST(keys)
{
    enum { MOST = 6, RANGE = 90, ROOM = MOST * RANGE };
    static int64_t key[MOST][RANGE + 1], to[MOST][ROOM], got[ROOM];
    uint64_t seed = 1234 + (uint64_t)_i;
    for (int round = 0; round < 200; round++) {
        const int lists = 2 + round % (MOST - 1);
        key_list x[MOST];
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const uint64_t table = round % 3 == 0 ? ~UINT64_C(1) : seed & ~UINT64_C(1);
        for (int w = 0; w < lists; w++) {
            int n = 0;
            for (int64_t i = 0; i < RANGE; i++) {
                seed = seed * 6364136223846793005u + 1442695040888963407u;
                if (seed >> 60 < (uint64_t)(3 * w + round % 7)) key[w][n++] = i;
            }
            key[w][n] = KEY_END;
            x[w] = (key_list){.key = key[w], .n = n, .base = 100 * w, .to = to[w]};
        }
        const int n = keys_merge(x, lists, table, got);
        int k = 0, next[MOST] = {0};
        for (int64_t i = 0; i < RANGE; i++) {
            uint64_t mask = 0;
            for (int w = 0; w < lists; w++)
                mask |= (uint64_t)(key[w][next[w]] == i) << w;
            if (mask && table >> mask & 1) {
                ck_assert_int_lt(k, n);
                ck_assert_int_eq(got[k], i);
                for (int w = 0; w < lists; w++)
                    ck_assert_int_eq(to[w][k], mask >> w & 1 ? 100 * w + next[w] : NONE);
                k++;
            }
            for (int w = 0; w < lists; w++)
                next[w] += (int)(mask >> w & 1);
        }
        ck_assert_int_eq(k, n);
    }
}
END_TEST

/* Unions and intersections of three: of fibers shorter and longer than a string, with
 * an operand that drives, with duplicates, with every coordinate of a range. */
START_TEST(several_fibers)
{
#define THREE(format)                                                                      \
    "tensor A csr i64 [40,3000]\nA(i,j) = select(j % (i + 2) == 0, j, 0)\n"                \
    "tensor B " format " i64 [40,3000]\nB(i,j) = select(j % (2 * i + 3) == 1, 1, 0)\n"     \
    "tensor D csr i64 [40,3000]\nD(i,j) = select((i * j) % 97 == 5, 2, 0)\n"               \
    "tensor U csr i64 [40,3000]\nU(i,j) = A(i,j) + B(i,j) + D(i,j)\n"                      \
    "tensor s dense i64 [5]\n"                                                             \
    "s(0) = sum(i, j: U(i,j) * (j % 7))\n"                                                 \
    "s(1) = sum(i, j: A(i,j) * (B(i,j) + D(i,j)))\n"                                       \
    "s(2) = sum(i, j: D(i,j) * (A(i,j) + B(i,j)))\n"                                       \
    "s(3) = sum(i, j: (A(i,j) != 0) ^ (B(i,j) != 0) ^ (D(i,j) != 0))\n"                    \
    "s(4) = sum(i, j: A(i,j) * B(i,j) + D(i,j))"
    EXPECT(THREE("csr"), "s", 40131204, 1942046, 266348, 14105, 1678200);
    EXPECT(THREE("coo"), "s", 40131204, 1942046, 266348, 14105, 1678200);
    EXPECT("tensor x svec i64 [5000]\nx(j) = select(j % 3 == 0, j, 0)\n"
           "tensor y svec i64 [5000]\ny(j) = select(j % 5 == 1, 1, 0)\n"
           "tensor z svec i64 [5000]\nz(j) = select(j % 7 < 2, 2, 0)\n"
           "tensor u svec i64 [5000]\nu(j) = x(j) + y(j) + z(j)\n"
           "tensor o dense i64 [5000]\no(j) = 1\n"
           "tensor e dense i64 [5000]\ne(j) = x(j) + y(j) + o(j)\n"
           "tensor s dense i64 [4]\n"
           "s(0) = sum(j: u(j) * (j % 11))\n"
           "s(1) = sum(j: x(j) * (y(j) + z(j)))\n"
           "s(2) = sum(j: x(j) * y(j) + z(j) != 0)\n"
           "s(3) = sum(j: e(j) * (j % 11))",
           "s", 20833487, 3217356, 1667, 20844172);
}
END_TEST

/* Pictures: keys that follow each other, in two operands, in three. */
START_TEST(stretches)
{
#define PICTURES                                                                           \
    "tensor F csr i64 [9,700]\nF(i,j) = select(j // 50 % 3 == i % 2, j, 0)\n"              \
    "tensor G csr i64 [9,700]\nG(i,j) = select((j + 7 * i) // 64 % 2 == 1, 2 * j, 0)\n"    \
    "tensor R csr i64 [9,700]\nR(i,j) = select(j > 20 * i && j < 690, 1, 0)\n"             \
    "tensor f dense i64 [9,700]\nf(i,j) = F(i,j)\ntensor g dense i64 [9,700]\n"            \
    "g(i,j) = G(i,j)\ntensor r dense i64 [9,700]\nr(i,j) = R(i,j)\n"
    EXPECT(PICTURES "C(i,j) = (F(i,j) ^ G(i,j)) * R(i,j)\n"
                    "y = sum(i, j: C(i,j) != (f(i,j) ^ g(i,j)) * r(i,j))",
           "y", 0);
    EXPECT(PICTURES "C(i,j) = F(i,j) - 3 * G(i,j)\n"
                    "y = sum(i, j: C(i,j) != f(i,j) - 3 * g(i,j))",
           "y", 0);
    EXPECT(PICTURES "C(i,j) = max(F(i,j) * G(i,j), R(i,j(0:700)))\n"
                    "y = sum(i, j: C(i,j) != max(f(i,j) * g(i,j), r(i,j)))",
           "y", 0);
}
END_TEST

/* One operand is walked and the other searched: rows that aren't in order, or have one
 * coordinate for each parent; sums that all meet in one value. */
#define ROWS_AND_VECTOR(rows, vector, type)                                                \
    "tensor A " rows " " type " [90,700] = random(density=0.1, seed=1)\n"                  \
    "tensor v " vector " " type " [700] = random(density=0.3, seed=2)\n"                   \
    "tensor x dense " type " [90] = random(density=1, seed=3)\n"                           \
    "tensor z dense " type " [700] = random(density=1, seed=4)\n"                          \
    "tensor y dense " type
#define TURNED_HASH "(i,j) -> (j : dense, i : hashed)"
#define LINES_OF "nest fiber -> accumulate, in a cascade of 3 loops"
static const tiers_case searched[] = {
    {ROWS_AND_VECTOR("hash", "svec", "f64"), "y(i) = A(i,j) * v(j)", "nest fiber -> sum"},
    {ROWS_AND_VECTOR("hash", "svec", "f32"), "y(i) = v(j) * A(i,j)", "nest fiber -> sum"},
    {ROWS_AND_VECTOR("hash", "svec", "i64"), "y(i) = A(i,j) * v(j)", "nest fiber -> sum"},
    {ROWS_AND_VECTOR("hash", "(j) -> (j : compressed(index64))", "f64"),
     "y(i) = A(i,j) * v(j)", "nest fiber -> sum"},
    {ROWS_AND_VECTOR("hash", "svec", "f64"), "y(i) = max(j: A(i,j) * v(j))", "cascade"},
    {ROWS_AND_VECTOR("hash", "svec", "f64"), "y(i) = A(i,j) + v(j)", "cascade"},
    {ROWS_AND_VECTOR("hash", "svec", "f64"), "y(i,j) = A(i,j) * v(j)", "cascade"},
    {ROWS_AND_VECTOR("hash", "svec", "f64"), "y(j) = max(i: A(i,j))", "cascade"},
    {ROWS_AND_VECTOR(TURNED_HASH, "svec", "f64"), "y(i) = min(j: A(i,j))", "cascade"},
    {ROWS_AND_VECTOR("ell", "svec", "f64"), "y(i) = A(i,j) * v(j)", LINES_OF},
    {ROWS_AND_VECTOR("ell", "svec", "i64"), "y(i) = A(i,j) * v(j)", LINES_OF},
    {ROWS_AND_VECTOR("ell", "(j) -> (j : compressed(index64))", "f64"),
     "y(i) = A(i,j) * v(j)", LINES_OF},
    {ROWS_AND_VECTOR("ell", "svec", "f64"), "y = A(i,j)", "cascade of 3 loops"},
    {ROWS_AND_VECTOR("ell", "svec", "f32"), "y = A(i,j)", "cascade of 3 loops"},
    {ROWS_AND_VECTOR("ell", "svec", "i64"), "y = A(i,j)", "cascade of 3 loops"},
    {ROWS_AND_VECTOR("ell", "svec", "f64"), "y = x(i) * A(i,j) * z(j)", "cascade of 3"},
    {ROWS_AND_VECTOR("ell", "svec", "f64"), "y = A(i,j) * v(j)", "cascade of 3"},
};
enum { SEARCHED = sizeof searched / sizeof *searched };

START_TEST(others_are_searched)
{
    statement_agrees(&searched[_i]);
}
END_TEST

/* Rows that are groups are merged as rows with bounds are, with such and with each other;
 * rows that have none lie between. */
START_TEST(groups_are_merged)
{
    static const struct {
        const char *text, *row;
    } all[] = {{"L(i,j) + K(i,j)", "merge_fibers F64 add, 32 bits"},
               {"K(i,j) - L(i,j)", "merge_fibers F64 sub, 32 bits"},
               {"max(L(i,j), M(i,j))", "merge_fibers F64 max, 32 bits"},
               {"M(i,j) * L(i,j)", "merge_fibers F64 mul, 32 bits"}};
    static const char setup[] =
        "n = 700\ntensor K csr f64 [n,n]\nK(i,j) = ((i + j) % 19 == 0) * (j - 40)\n"
        "compact K\ntensor C csr f64 [n,n]\n"
        "C(i,j) = ((i * 7 + j * 13) % 23 < 2 && i % 9 != 4) * (i - j)\ncompact C\n"
        "tensor L coo f64 [n,n]\nL(i,j) = C(i,j)\ntensor M coo f64 [n,n]\n"
        "M(i,j) = K(i,j) * (i < 500)\ncompact M\ntensor D csr f64 [n,n]\nD(i,j) = M(i,j)\n"
        "tensor Q csr [n,n]\ntensor R csr [n,n]\n";
    heap h;
    char text[200], *profile, *of;
    stc_machine *m = machine_open(&h, false);
    stc_session *s;
    machine_profile_runs(m);
    ck_ok(m, stc_session_open(m, &s));
    ck_ok(m, stc_session_exec(s, setup, "setup"));
    snprintf(text, sizeof text, "R(i,j) = %s", all[_i].text);
    ck_ok(m, stc_session_exec(s, text, "statement"));
    ck_ok(m, stc_session_profile(s, &profile));
    ck_assert_msg(strstr(profile, all[_i].row), "%s", profile);
    stc_text_free(m, profile);
    while ((of = strstr(text, "L(")) || (of = strstr(text, "M(")))
        *of = *of == 'L' ? 'C' : 'D';
    *text = 'Q';
    ck_ok(m, stc_session_exec(s, text, "of rows with bounds"));
    ck_ok(m,
          stc_session_exec(s, "c = sum(i,j: Q(i,j) != R(i,j)) + (stored(Q) != stored(R))",
                           "compared"));
    ck_assert(session_number(m, s, "c") == 0);
    stc_session_close(s);
    machine_shut(m, &h);
}
END_TEST

Suite *suite_merge(void)
{
    Suite *s = suite_create("merge");
    TCase *c = tcase_create("merge");
    tcase_add_test(c, rle_and_csr);
    tcase_add_test(c, affine_on_csr);
    tcase_add_test(c, xor_on_dcsr);
    tcase_add_test(c, three_way_union);
    tcase_add_test(c, hashed_operand);
    tcase_add_test(c, through_workspaces);
    tcase_add_test(c, terms_of_their_own);
    tcase_add_test(c, tropical);
    tcase_add_test(c, mended);
    tcase_add_test(c, windows);
    tcase_add_loop_test(c, keys, 0, 3);
    tcase_add_test(c, several_fibers);
    tcase_add_test(c, stretches);
    tcase_add_loop_test(c, others_are_searched, 0, SEARCHED);
    tcase_add_loop_test(c, groups_are_merged, 0, 4);
    suite_add_tcase(s, c);
    return s;
}
