/* check_lanes.c: nests that run a row of lanes at a time (vm/outer*.c) give what base
 * operations give: each fold of outer_fold.def, rows that are put off, recorded and done
 * as the one before, lines written out, lanes that are left out; and where a nest isn't
 * such a one, or not in this run. */
#include "check.h"
#include "../src/api/api.h"
#include <stdio.h>
#include <string.h>

#define ON(format, shape, fill)                                                            \
    "tensor A " format " f64 " shape " " fill " = random(density=0.2, seed=3)\n"           \
    "tensor B dense f64 [2,3] = random(density=1, seed=4)\n"                               \
    "tensor F dense f64 [40] = random(density=1, seed=5)\n"                                \
    "tensor S svec f64 [40] = random(density=0.3, seed=6)\n"                               \
    "tensor G dense f64 [6] = random(density=1, seed=7)\n"                                 \
    "tensor T svec f64 [6] = random(density=0.5, seed=8)\ntensor y dense "
#define PLANE(format) ON(format, "[12,90]", "")
#define OF_TYPE(type, format)                                                              \
    "tensor A " format " " type " [12,90] = { (0,3): 2, (1,3): 1, (1,40): 3, (5,41): 1, "  \
    "(5,42): 2, (7,89): 3, (11,0): 1, (11,88): 2 }\ntensor y dense " type
#define FEW_OF(type)                                                                       \
    "tensor A csr " type " [12,90] = random(density=0.1, seed=3)\n"                        \
    "tensor y dense f64"
#define FEW_LANES(type)                                                                    \
    "tensor C svec " type " [60] = { (3): 2, (17): 1, (18): 3, (40): 1, (59): 2 }\n"       \
    "tensor F dense " type " [60] = random(density=1, seed=5)\ntensor y dense "
#define WINDOW "p in 0:2, q in 0:3: A(2*i+p,2*j+q)"
#define LANES "rows of lanes"
#define STORED "y(i,j) = sum(p in 0:2, q in 0:3: abs(A(2*i+p,2*j+q))) * 3"
/* Each fold of outer_fold.def for a type. */
#define ALL_FOLDS(type)                                                                    \
    {OF_TYPE(type, "dense") " [12,90]",                                                    \
     "y(i,j) = A(i,j) - pad A(i-1,j) - 2 * pad A(i+1,j) - pad A(i,j+2) + "                 \
     "3 * pad A(i,j-1) + pad A(i,j+1)",                                                    \
     LANES},                                                                               \
        {OF_TYPE(type, "dense") " [12,90]",                                                \
         "y(i,j) = max(max(1 + pad A(i,j+2), A(i,j)), 2 + pad A(i-1,j)) - "                \
         "min(min(A(i,j), 2 + pad A(i,j-2)), 1 + pad A(i+1,j))",                           \
         LANES},                                                                           \
    {                                                                                      \
        OF_TYPE(type, "dense") " [12,90]", "y(i,j) = (2 * A(i,j)) * (1 + A(i,j))", NULL    \
    }
#define POOLED "y(i,j) = max(" WINDOW ")"
#define FIVE "pad A(i-1,j) + pad A(i+1,j) + pad A(i,j-1) + pad A(i,j+1) - 4 * A(i,j)"

/* Rows of lanes (vm/rows/outer.h), with loops inside or without; which operands are written
 * out, and which lanes are left out; and what isn't such a nest, or not in this run. */
static const tiers_case rows_of_lanes[] = {
    {PLANE("dense") "f64", POOLED, LANES},
    {PLANE("csr") "f64", POOLED, LANES},
    {PLANE("dcsr") "f64", POOLED, LANES},
    {PLANE("csc") "f64", POOLED, LANES},
    {PLANE("coo") "f64", POOLED, LANES},
    {PLANE("dd:1,0") "f64", POOLED, LANES},
    {PLANE("sd") "f64", POOLED, LANES},
    {ON("csr", "[12,90]", "fill 0.5") "f64", POOLED, LANES},
    {ON("csr", "[12,90]", "fill inf") "f64", "y(i,j) = min(" WINDOW ")", "affine nest"},
    {ON("csr", "[4,2400]", "") "f64", POOLED, LANES},
    {ON("dense", "[4,2400]", "") "f64", "y(i,j) = min(" WINDOW ")", LANES},
    {PLANE("dense") "f64", "y(i,j) = sum(" WINDOW ") / 6", LANES},
    {PLANE("csr") "f64", "y(i,j) = sum(" WINDOW ") / 6", LANES},
    {PLANE("csr") "f64", "y(i,j) = prod(" WINDOW ")", LANES},
    {PLANE("csr") "f64", "y(j,i) = max(" WINDOW ")", LANES},
    {PLANE("csr") "f64", "y(i,j) = max(p in 0:2, q in 0:3: A(i+3*p,3*j+2*q+1))", LANES},
    {PLANE("csr") "f64", "y(i,j) = max(p in 0:2, q in 0:3: A(11-i-p,j+q))", LANES},
    {PLANE("dense") "f64", "y(i,j) = max(p in 0:2, q in 0:3: A(i+p,89-j-q))", LANES},
    {PLANE("csr") "f64", "y(i,j) = max(q in 0:3, p in 0:2: A(2*i+p,2*j+q))", LANES},
    {PLANE("csr") "f64", "y(i,j) = G(i) * sum(" WINDOW ")", LANES},
    {PLANE("csr") "f64", "y(i,j) = S(j) * max(" WINDOW ")", LANES},
    {PLANE("csr") "f64", "y(i,j) = max(p, q: A(i+p,j+q) * B(p,q))", LANES},
    {PLANE("csr") "f64", "y(i,j) = min(p, q: A(i+p,j+q) + B(p,q))", LANES},
    {PLANE("dense") "f64", "y(i,j) = min(p, q: A(i+p,j+q) + B(p,q))", LANES},
    {PLANE("dense") "f64", "y(i,j) = A(i+p,j+q) * B(p,q)", LANES},
    {PLANE("dense") "f64", "y(i,j) += A(i+p,j+q) * B(p,q)", LANES},
    {PLANE("dense") "f64", "y(i,j) max= A(i+p,j+q) * B(p,q)", LANES},
    {OF_TYPE("i64", "dense"), POOLED, LANES},
    {OF_TYPE("i64", "csr"), POOLED, LANES},
    {OF_TYPE("i32", "csr"), "y(i,j) = sum(" WINDOW ")", NULL},
    {OF_TYPE("u8", "dense"), POOLED, LANES},
    {OF_TYPE("u8", "csr"), POOLED, LANES},
    {OF_TYPE("f32", "csr"), POOLED, LANES},
    {OF_TYPE("bool", "csr"), "y(i,j) = or(" WINDOW ")", "affine nest"},
    {OF_TYPE("i64", "dense"), "y(i,j) = sum(p in 0:2: 6 // (A(i+p,j+2) + 1))", LANES},
    {PLANE("dense") "f64 [12,90]", "y(i,j) = " FIVE, LANES},
    {PLANE("csr") "f64 [12,90]", "y(i,j) = " FIVE, LANES},
    {PLANE("dcsr") "f64 [12,90]", "y(i,j) = " FIVE, LANES},
    {PLANE("coo") "f64 [12,90]", "y(i,j) = " FIVE, LANES},
    {ON("csr", "[12,90]", "fill 2") "f64 [12,90]", "y(i,j) = " FIVE, LANES},
    {PLANE("csr") "f64 [12,90]", "y(i,j) = pad A(i-1,j) * pad A(i+1,j+1)", LANES},
    {PLANE("csr") "f64 [12,90]", "y(i,j) = cos(pad A(i-1,j) + A(i,j))", LANES},
    /* what is put off until it is read: other orders, steps, edges, more terms than one
     * kernel takes, values read twice, and rows longer than there is room for many */
    {PLANE("dense") "f64", "y(i,j) = max(p in 0:3, q in 0:3: A(3*i+p,3*j+q))", LANES},
    {PLANE("csr") "f64", "y(i,j) = sum(p in 0:3, q in 0:3: A(2*i+p,2*j+q)) / 9", LANES},
    {PLANE("csr") "f64", "y(i,j) = max(p in 0:6, q in 0:6: A(i+p,j+q))", LANES},
    {OF_TYPE("f32", "dense"), "y(i,j) = min(" WINDOW ")", LANES},
    {OF_TYPE("i32", "dense"), POOLED, LANES},
    {ON("dense", "[12,90]", "fill 2") "f64 [12,90]",
     "y(i,j) = -4 * A(i,j) + pad A(i,j+1) + pad A(i,j-1) + pad A(i-1,j) + pad A(i+1,j)",
     LANES},
    {ON("csr", "[3,700]", "fill 2") "f64 [3,700]", "y(i,j) = " FIVE, LANES},
    {ON("dense", "[3,700]", "") "f64 [3,700]", "y(i,j) = pad A(i-1,j-17) - pad A(i,j+16)",
     LANES},
    {ON("csr", "[3,2048]", "") "f64 [3,2048]",
     "y(i,j) = pad A(i-1,j+1) + (A(i,j) - pad A(i,j-1)) * (A(i,j) - pad A(i,j+1))", LANES},
    {PLANE("dense") "f64 [12,90]",
     "y(i,j) = 2 * pad A(i-1,j) + 3 * pad A(i+1,j) - A(i,j) * G(0) + (1 + A(i,j)) + "
     "(A(i,j) + A(i,j))",
     LANES},
    {PLANE("dense") "f64 [12,90]",
     "y(i,j) = max(max(2, pad A(i,j-1)), 1 + pad A(i,j+1)) * (3 - pad A(i-1,j))", LANES},
    {ON("csr", "[6,60000]", "") "f64 [6,60000]",
     "y(i,j) = pad A(i-1,j) + pad A(i+1,j) - 2 * A(i,j)", LANES},
    {OF_TYPE("f64", "dense"), "y(i,j) = prod(" WINDOW ")", LANES},
    {OF_TYPE("f32", "dense"), "y(i,j) = prod(" WINDOW ")", LANES},
    {OF_TYPE("i64", "dense"), "y(i,j) = min(" WINDOW ")", LANES},
    {OF_TYPE("i32", "dense"), "y(i,j) = min(" WINDOW ")", LANES},
    ALL_FOLDS("f64"),
    ALL_FOLDS("f32"),
    ALL_FOLDS("i64"),
    ALL_FOLDS("i32"),
    /* rows done as the one before, at edges and where that isn't so */
    {ON("dense", "[9,8]", "") "f64 [9,8]", "y(i,j) = " FIVE, LANES},
    {ON("csr", "[30,8]", "fill 2") "f64 [30,8]", "y(i,j) = " FIVE, LANES},
    {ON("dense", "[18,24]", "") "f64", POOLED, LANES},
    {ON("csr", "[18,24]", "") "f64", "y(i,j) = sum(" WINDOW ") / 6", LANES},
    {ON("csr", "[40,10]", "") "f64", "y(i,j) = max(p in 0:6, q in 0:3: A(i+5*p,j+q))",
     LANES},
    {ON("csr", "[20,10]", "") "f64", "y(i,j) = max(p in 0:6, q in 0:3: A(19-i-p,j+q))",
     LANES},
    {ON("dense", "[9,8]", "") "f64 [9,8]",
     "y(i,j) = abs(A(i,j)) * pad A(i-1,j) - pad G(i-1)", LANES},
    {ON("dense", "[9,8]", "") "f64 [9,8]",
     "y(i,j) = abs(pad A(i-1,j)) / abs(pad A(i,j+1) - 3) * abs(A(i,j) - abs(A(i,j) / 7)) + "
     "abs(1 / (A(i,j) + 2)) * abs(2 / (A(i,j) + 3)) * abs(3 / (A(i,j) + 4))",
     LANES},
    {ON("dense", "[5,6,8]", "") "f64",
     "y(i,j,k) = max(p in 0:2, q in 0:2, r in 0:2: A(i+p,j+q,k+r))", LANES},
    {ON("csf", "[5,6,8]", "") "f64",
     "y(i,j,k) = max(p in 0:2, q in 0:2, r in 0:2: A(i+p,j+q,k+r))", LANES},
    {ON("dds", "[5,6,8]", "") "f64 [5,6,8]",
     "y(i,j,k) = pad A(i-1,j,k) + pad A(i+1,j,k) + pad A(i,j-1,k) + pad A(i,j+1,k) + "
     "pad A(i,j,k-1) + pad A(i,j,k+1) - 6 * A(i,j,k)",
     LANES},
    {ON("csr", "[12,8]", "") "f64 [12,9,8]", "y(i,j,k) = A(i,k) + pad A(i+j-3,k)", LANES},
    {OF_TYPE("u8", "dense"), "y(i,j) = max(p in 0:2: A(i+p,j+84))", LANES},
    {PLANE("csr") "f64", "y(i,j) = G(i) + F(i+j)", LANES},
    {PLANE("csr") "f64", "y(i,j) = G(i) + S(i+j)", LANES},
    {PLANE("csr") "f64", "y(i,j) = S(i+j) + G(i)", LANES},
    {PLANE("csr") "f64", "y(i,j) = T(i) + S(i+j)", LANES},
    {PLANE("csr") "f64", "y(i,j) = max(T(i), S(i+j))", LANES},
    {PLANE("csr") "f64", "y(i,j) = T(i) + S(i+j) with parallelize(i)", LANES},
    {PLANE("csr") "f64", "y(i,j) = T(i) + S(i+j) + S(j+2)", LANES},
    {PLANE("csr") "f64", "y(i,j) = A(i,j+3) - A(i,j+60)", LANES},
    {PLANE("csr") "f64", "y(i,j) = T(i) * S(i+j)", LANES},
    {PLANE("csr") "f64 [6,4]", "y(i,j) = T(i) + S(i+j)", LANES},
    /* edges from both sides in the same lanes */
    {ON("dense", "[9,3]", "") "f64 [9,3]", "y(i,j) = pad A(i,j-2) + pad A(i,j+2)", LANES},
    {ON("dense", "[9,20]", "") "f64 [9,20]", "y(i,j) = pad A(i,j-12) + pad A(i,j+12)",
     LANES},
    {ON("dense", "[9,3]", "") "f64 [9,3]", "y(i,j) = A(i,j) + pad A(i,j-2) + pad A(i,j+2)",
     LANES},
    {ON("dense", "[9,20]", "") "f64 [9,20]",
     "y(i,j) = A(i,j) + pad A(i,j-12) + pad A(i,j+12)", LANES},
    /* lanes in both of an operand's coordinates */
    {ON("dense", "[40,30]", "") "f64", "y(i,j) = A(i+j,j+1) + 1", LANES},
    {ON("dense", "[20,30]", "") "f64", "y(j) = A(j+1,j+2) * 2", LANES},
    /* a scalar; more steps than are recorded */
    {"tensor c f64 = 3\n" ON("dense", "[9,20]", "") "f64", "y(i,j) = c * A(i,j+1) + c",
     LANES},
    {ON("dense", "[9,20]", "") "f64 [9,20]",
     "y(i,j) = abs(A(i,j)) * abs(pad A(i-1,j)) * abs(pad A(i+1,j)) * abs(pad A(i,j+1)) * "
     "abs(pad A(i,j-1)) * abs(A(i,j)) * abs(A(i,j)) * abs(A(i,j)) * abs(A(i,j)) * "
     "abs(A(i,j))",
     LANES},
    {ON("dense", "[20,12]", "") "f64 [20,12]",
     "y(i,j) = A(i,j) * abs(pad A(i-1,j)) * A(i,j) * abs(pad A(i+1,j)) * A(i,j) * "
     "abs(pad A(i,j+1)) * A(i,j) * abs(pad A(i,j-1)) * A(i,j) * abs(A(i,j)) * A(i,j) * "
     "abs(A(i,j)) * A(i,j) * abs(A(i,j)) * A(i,j) * abs(A(i,j)) * A(i,j) * abs(A(i,j)) + 1",
     LANES},
    {ON("dense", "[20,17]", "") "f64",
     "y(i,j) = cos(A(i,j+1)) * abs(A(i,j+1)) * cos(A(i,j+2)) * abs(A(i,j+2)) * "
     "cos(A(i,j+3)) * abs(A(i,j+3)) * cos(A(i,j+4)) * abs(A(i,j+4)) * "
     "cos(A(i,j+5)) * abs(A(i,j+5)) * cos(A(i,j+6)) * abs(A(i,j+6)) * "
     "cos(A(i,j+7)) * abs(A(i,j+7))",
     LANES},
    /* positions of fibers; loops side by side, of nothing, of many rounds */
    {ON("csf", "[5,6,18]", "") "f64 [5,6,18]",
     "y(i,j,k) = pad A(i-1,j,k) + pad A(i+1,j,k) + pad A(i,j-1,k) + pad A(i,j+1,k) + "
     "pad A(i,j,k-1) + pad A(i,j,k+1) - 6 * A(i,j,k)",
     LANES},
    {PLANE("csr") "f64", "y(i,j) = max(p in 0:2: A(i+p+1,j+1)) * sum(q in 0:3: A(i+1,j+q))",
     LANES},
    {PLANE("dense") "f64",
     "y(i,j) = max(p in 0:2: A(i+p+1,j+1)) * sum(q in 0:3: A(i+1,j+q))", LANES},
    {ON("dense", "[0,90]", "") "f64", "y(i) = G(0) + max(p: A(p,i+1))", NULL},
    {ON("dcsr", "[0,90]", "") "f64", "y(i) = G(0) + max(p: A(p,i+1))", NULL},
    {ON("csc", "[43,60]", "") "f64", "y(i,j) = max(p in 0:40, q in 0:30: A(i+p,j+q))",
     LANES},
    {ON("csr", "[43,60]", "") "f64", "y(i,j) = max(p in 0:40, q in 0:30: A(i+p,j+q))",
     LANES},
    /* lanes left out: where two have nothing, in a list, at an edge, of complex numbers */
    {PLANE("csr") "f64", "y(j) = sum(p in 0:3: S(j+p) + S(j+2*p+1))", LANES},
    {PLANE("csr") "f64", "y(j) = sum(p in 0:3: S(j+p) * S(j+2*p+1))", LANES},
    {PLANE("csr") "f64", "y(i,j) = sum(p in 0:3: A(i,j+p) + S(j+2*p+1))", LANES},
    {FEW_LANES("f64") "f64", "y(j) = sum(p in 0:3: abs(C(j+p) * F(j+p)))", LANES},
    {FEW_LANES("i32") "i64", "y(j) = sum(p in 0:3: abs(C(j+p) * F(j+p)))", LANES},
    {FEW_LANES("c128") "c128", "y(j) = sum(p in 0:3: C(j+p) * F(j+p))", LANES},
    {FEW_LANES("c128") "c128", "y(j) = sum(p in 0:3: C(j+p) * F(j+p+1))", LANES},
    {OF_TYPE("c128", "csr"), "y(i,j) = sum(" WINDOW ")", LANES},
    {OF_TYPE("c64", "csr"), "y(i,j) = sum(" WINDOW ")", LANES},
    {OF_TYPE("c64", "dense"), "y(i,j) = sum(" WINDOW ")", LANES},
    {OF_TYPE("c128", "csr"), "y(i,j) = prod(" WINDOW ")", LANES},
    {OF_TYPE("c128", "csr"), "y(i,j) = sum(" WINDOW ") * 3 + 1", LANES},
    {OF_TYPE("c128", "dense"), "y(i,j) = sum(" WINDOW ") * 3 + 1", LANES},
    {OF_TYPE("c64", "csr"), "y(i,j) = sum(" WINDOW ") * 3 + 1", LANES},
    {PLANE("csr") "f64",
     "y(i,j) = sum(p in 0:2, q in 0:3: abs(A(2*i+p,2*j+q) * pad F(j+q-5)))", LANES},
    {PLANE("csr") "f64",
     "y(i,j) = sum(p in 0:2, q in 0:3: abs(A(2*i+p,2*j+q)) + pad F(j+q-5))", LANES},
    {ON("csr", "[12,40]", "") "f64", "y(i,j) = S(j) * max(p in 0:2: A(i+p,j))", LANES},
    {ON("dense", "[12,40]", "") "f64", "y(i,j) = S(j) * max(p in 0:2: A(i+p,j))", LANES},
    {PLANE("csr") "f64 [6,40]", "y(i,j) = S(j) * pad F(j+1+i) * pad B(i,j)", LANES},
    {PLANE("csr") "f64 [6,40]", "y(i,j) += S(j) * pad F(j-1-i) * F(j)", LANES},
    {"tensor C csr c128 [9,40] = random(density=0.1, seed=6)\n" PLANE("csr") "f64",
     "y(i,j) = S(j) * abs(sum(p in 0:3: C(i+p,j)))", LANES},
    {FEW_OF("bool"), STORED, LANES},
    {FEW_OF("i8"), STORED, LANES},
    {FEW_OF("i16"), STORED, LANES},
    {FEW_OF("i32"), STORED, LANES},
    {FEW_OF("i64"), STORED, LANES},
    {FEW_OF("u8"), STORED, LANES},
    {FEW_OF("u16"), STORED, LANES},
    {FEW_OF("u32"), STORED, LANES},
    {FEW_OF("u64"), STORED, LANES},
    {FEW_OF("f32"), STORED, LANES},
    {FEW_OF("c64"), STORED, LANES},
    {FEW_OF("c128"), STORED, LANES},
};
enum { ROWS_OF_LANES = sizeof rows_of_lanes / sizeof *rows_of_lanes };

/* Folds of outer_fold.def: a term and the next ones, each joined with one value or not. */
static const struct fold {
    const char *begin, *between, *joined, *end; /* begin first between joined term end */
} folds[] = {
    {"", " + ", "", ""},     {"", " + ", "3 * ", ""},     {"", " - ", "", ""},
    {"", " - ", "3 * ", ""}, {"", " * ", "", ""},         {"min(", ", ", "", ")"},
    {"max(", ", ", "", ")"}, {"min(", ", ", "2 + ", ")"}, {"max(", ", ", "2 + ", ")"},
};
enum { FOLDS = sizeof folds / sizeof *folds, STEPS = 3 };
static const char *const fold_types[] = {"f64", "f32", "i64", "i32"};
enum { FOLD_TYPES = sizeof fold_types / sizeof *fold_types };

#define FOLDED                                                                             \
    "tensor A dense %s [5,80]\nA(i,j) = (i * 7 + j * 13) %% 11 - 5\ntensor y dense %s"

/* So many terms more than the first one: a kernel takes four at most. */
START_TEST(terms_are_folded)
{
    static const int more[] = {1, 2, 7};
    const struct fold *f = &folds[_i / STEPS];
    const int step = _i % STEPS + 1;
    for (int t = 0; t < FOLD_TYPES; t++)
        for (size_t k = 0; k < sizeof more / sizeof *more; k++) {
            char declare[200], text[600] = "y(i,j) = ";
            const tiers_case s = {declare, text, LANES};
            size_t at = strlen(text);
            snprintf(declare, sizeof declare, FOLDED, fold_types[t], fold_types[t]);
            for (int n = 0; n < more[k]; n++)
                at += (size_t)snprintf(text + at, sizeof text - at, "%s", f->begin);
            for (int n = 0; n <= more[k]; n++)
                at += (size_t)snprintf(text + at, sizeof text - at, "%s%sA(i+%d,%d*j+%d)%s",
                                       n ? f->between : "", n ? f->joined : "", n % 2 + 1,
                                       step, n + 1, n ? f->end : "");
            statement_agrees(&s);
        }
}
END_TEST

/* Terms that are joined with one value, and not folded. */
START_TEST(terms_are_joined)
{
    static const char *const joins[] = {"2 + ", "3 * "};
    for (int t = 0; t < FOLD_TYPES; t++)
        for (int k = 0; k < 2; k++) {
            char declare[200], text[60];
            const tiers_case s = {declare, text, LANES};
            snprintf(declare, sizeof declare, FOLDED, fold_types[t], fold_types[t]);
            snprintf(text, sizeof text, "y(i,j) = %sA(i+1,%d*j+1)", joins[k], _i);
            statement_agrees(&s);
        }
}
END_TEST

/* A loop in the lanes' that visits subsections counts others in each lane. */
START_TEST(subsections_by_lane)
{
    EXPECT("tensor A csf f32 [400,6000]\ntensor y dense f32 [5000] fill -2\n"
           "y(j) max= max(p in 0:1, q in 0:2: A(i+p+1,j+q))\ns = sum(j: y(j))",
           "s", 0);
    EXPECT("tensor A csf f32 [400,6000]\nA(3,7) = 1\nA(300,4000) = -1\n"
           "tensor y dense f32 [5000] fill -2\n"
           "y(j) max= max(p in 0:1, q in 0:2: A(i+p+1,j+q))\ns = sum(j: y(j))",
           "s", 2);
}
END_TEST

/* What is written out of long fibers isn't kept from run to run. */
START_TEST(long_lines_are_freed)
{
    heap h;
    stc_session *s;
    stc_machine *m = machine_open(&h, false);
    stc_program *p;
    const stc_tensor *u, *w;
    ck_ok(m, stc_session_open(m, &s));
    ck_ok(m, stc_session_exec(s,
                              "tensor u svec f64 [700000] = random(0.7); "
                              "tensor w dense f64 [3] = [1,2,3]",
                              "lines"));
    ck_ok(m, stc_session_get(s, "u", &u));
    ck_ok(m, stc_session_get(s, "w", &w));
    const stc_decl decl[] = {{0, "u", "svec", STC_F64, NULL, 1},
                             {0, "w", "dense", STC_F64, NULL, 1},
                             {0, "y", "dense", STC_F64, NULL, 1}};
    const int64_t before = h.held;
    ck_ok(m, stc_compile(m, "y(i) = max(j: u(i+j) + w(j))", decl, 3, &p));
    ck_ok(m, stc_bind(p, "u", (stc_tensor *)u));
    ck_ok(m, stc_bind(p, "w", (stc_tensor *)w));
    for (int k = 0; k < 2; k++)
        ck_ok(m, stc_run(p));
    char *code;
    ck_ok(m, stc_program_explain(p, "code", &code));
    ck_assert(strstr(code, "rows of lanes"));
    stc_text_free(m, code);
    ck_assert_int_lt(h.held - before, 700000 * 8 + (2 << 20));
    stc_program_free(p);
    stc_session_close(s);
    machine_shut(m, &h);
}
END_TEST

START_TEST(lanes_are_rows)
{
    statement_agrees(&rows_of_lanes[_i]);
}
END_TEST

/* Nests that no statement leads to: R(i,j) = B(j) - A(i+1,j+1), and something else `around`
 * the lanes' loop, or in it. */
#define BY_HAND(around, inside)                                                            \
    ".registers v 9 i 5 m 3 c 7\n"                                                         \
    ".tensor t0 \"v\" input f64 (0x0000000000000000) format 1 dense(0)\n"                  \
    ".tensor t1 \"A\" input f64 (0x0000000000000000) format 2 dense(0) dense(1)\n"         \
    ".tensor t2 \"R\" output f64 (0x0000000000000000) [e2 e2] format 2 dense(0) "          \
    "dense(1)\n"                                                                           \
    ".tensor t3 \"x\" input f64 (0x0000000000000000) format 0\n"                           \
    ".tensor t4 \"w\" input f64 (0x0000000000000000) format 1 compressed(0)\n"             \
    ".extent e0 dim t0 0\n.extent e1 addc e0 -1\n.extent e2 max0 e1\n.extent e3 const "    \
    "3\n.const k0 i64 1\n"                                                                 \
    ".const k1 f64 0x4000000000000000\n"                                                   \
    ".merge g0 lo root hi e2 universe produce 0x3 { locate c0 t1 0 root i2 1 }\n"          \
    ".merge g1 lo root hi e2 universe produce 0xf { locate c2 t0 0 root root 1, "          \
    "locate c3 t1 1 c0 i3 1 }\n"                                                           \
    ".merge g2 lo root hi e2 universe produce 0x3 { locate c5 t0 0 root root 1 }\n"        \
    ".merge g3 lo root hi e3 produce 0x2 { walk c6 }\n"                                    \
    ".code\nbegin t2\niconst i2, k0\nloop i0, m0, g0\nat c1, t2, 0, root, i0\n"            \
    "iconst i3, k0\n" around                                                               \
    "loop i1, m1, g1\nat c4, t2, 1, c1, i1\nload v0, t0, c2\nload v1, t1, c3\n" inside     \
    "end\nkeep t2, 0, c1\nend\nfinish t2\nhalt\n"
static const struct {
    const char *what, *text;
} by_hand[] = {
    {"as it should be", BY_HAND("", "fn2 v2, sub, f64, v0, v1\nstore t2, c4, v2\n")},
    {"a value moved", BY_HAND("", "fn2 v2, sub, f64, v0, v1\nmov v3, v2\n"
                                  "store t2, c4, v3\n")},
    {"a constant moved", BY_HAND("", "const v2, k1\nmov v3, v2\nfn2 v4, sub, f64, v3, v1\n"
                                     "store t2, c4, v4\n")},
    {"a value rounded",
     BY_HAND("", "fn2 v2, mul, f64, v0, v1\nconv v3, i64, f64, v2\nwrap v4, i8, v3\n"
                 "conv v5, f64, i64, v4\nstore t2, c4, v5\n")},
    {"a constant rounded",
     BY_HAND("", "const v2, k0\nwrap v3, i8, v2\nconv v4, f64, i64, v3\n"
                 "fn2 v5, sub, f64, v4, v1\nstore t2, c4, v5\n")},
    {"a value read twice",
     BY_HAND("",
             "fn2 v2, sub, f64, v0, v1\nfn1 v3, abs, f64, v2\nfn2 v4, mul, f64, v3, v2\n"
             "store t2, c4, v4\n")},
    {"another is stored", BY_HAND("", "fn1 v3, abs, f64, v1\nfn2 v2, sub, f64, v0, v1\n"
                                      "store t2, c4, v3\n")},
    {"a constant before the row",
     BY_HAND("const v5, k1\n", "fn2 v2, sub, f64, v1, v5\nstore t2, c4, v2\n")},
    {"a function before the row", BY_HAND("const v5, k1\nfn1 v6, neg, f64, v5\n",
                                          "fn2 v2, sub, f64, v1, v6\nstore t2, c4, v2\n")},
    {"a loop before the row",
     BY_HAND(
         "const v5, k1\nloop i4, m2, g2\nload v6, t0, c5\nfn2 v5, add, f64, v5, v6\nend\n",
         "fn2 v2, sub, f64, v1, v5\nstore t2, c4, v2\n")},
    {"a scalar", BY_HAND("", "load v2, t3, root\nfn2 v4, sub, f64, v2, v1\n"
                             "store t2, c4, v4\n")},
    {"a column goes on where lanes are left out",
     BY_HAND("", "load v2, t0, c2\nopen.at c6, t4, 0, root, i1, k0\n"
                 "loop i4, m2, g3\nload v3, t4, c6\n"
                 "fn2 v2, add, f64, v2, v3\nend\nfn2 v4, sub, f64, v2, v1\n"
                 "store t2, c4, v4\n")},
    {"a list, of which some lanes have elements",
     BY_HAND("", "load v2, t0, c2\nopen.at c6, t4, 0, root, i1, k0\n"
                 "loop i4, m2, g3\nload v3, t4, c6\n"
                 "fn2 v2, max, f64, v2, v3\nend\nfn2 v4, sub, f64, v2, v1\n"
                 "store t2, c4, v4\n")},
    {"a list, of complex numbers",
     BY_HAND("", "conv v2, c128, f64, v0\nopen.at c6, t4, 0, root, i1, k0\n"
                 "loop i4, m2, g3\nload v3, t4, c6\nconv v5, c128, f64, v3\n"
                 "fn2 v2, mul, c128, v2, v5\nend\nfn1 v6, abs, c128, v2\n"
                 "fn2 v4, sub, f64, v6, v1\nstore t2, c4, v4\n")},
};
enum { BY_HANDS = sizeof by_hand / sizeof *by_hand };

START_TEST(programs_are_lanes)
{
    tiers_agree(by_hand[_i].what, by_hand[_i].text, LANES);
}
END_TEST

/* Rounds are counted, and a limit holds, where rows are done as the one before. */
START_TEST(steps_end)
{
    heap h;
    stc_session *s;
    stc_machine *m = machine_open(&h, false);
    ck_ok(m, stc_session_open(m, &s));
    ck_ok(m,
          stc_session_exec(s,
                           _i ? "tensor A dense f64 [20000,20] = ones; tensor y dense f64"
                              : "tensor A dense f64 [40000,11] = ones; tensor y dense f64",
                           "declarations"));
    m->cx.max_steps = 100000;
    ck_assert_int_eq(stc_session_exec(s, "y(i,j) = 1 - A(i+1,j+1)", "statement"),
                     STC_ERR_STEPS);
    m->cx.max_steps = 0;
    ck_ok(m, stc_session_exec(s, "y(i,j) = 1 - A(i+1,j+1)", "statement"));
    stc_session_close(s);
    machine_shut(m, &h);
}
END_TEST

START_TEST(memory_ends)
{
    statement_starves(&rows_of_lanes[_i]);
}
END_TEST

Suite *suite_lanes(void)
{
    Suite *s = suite_create("lanes");
    TCase *c = tcase_create("lanes");
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, lanes_are_rows, 0, ROWS_OF_LANES);
    tcase_add_loop_test(c, terms_are_folded, 0, FOLDS * STEPS);
    tcase_add_loop_test(c, terms_are_joined, 1, STEPS + 1);
    tcase_add_test(c, subsections_by_lane);
    tcase_add_test(c, long_lines_are_freed);
    tcase_add_loop_test(c, programs_are_lanes, 0, BY_HANDS);
    tcase_add_loop_test(c, steps_end, 0, 2);
    tcase_add_loop_test(c, memory_ends, 1, 3);
    suite_add_tcase(s, c);
    return s;
}
