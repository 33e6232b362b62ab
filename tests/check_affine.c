/* check_affine.c: affine nests (vm/affine*.c) give what base operations give:
 * in all the ways that they are run, in which filters and strides are told apart, and where
 * a nest is nearly one, but isn't. Each statement runs on base operations, on the tiers,
 * and on two threads, twice each from the same operands. */
#include "check.h"
#include <stdlib.h>
#include <string.h>

#define LAYER_OF(format, shape, filter)                                                    \
    "tensor A " format " f64 " shape " = random(density=0.2, seed=3)\n"                    \
    "tensor F dense f64 " filter " = random(density=1, seed=4)\n"                          \
    "tensor y dense f64 "
#define ADDED "affine nest of 4 -> accumulate"
#define LAYER "y(n,h,w,f) = A(n,h+r,w+q,c) * F(r,q,c,f)"
#define ADDS "affine nest of 7 -> accumulate"

/* The same into a result that stores rows with something in them only. */
#define STORED_OF(format, to, shape, filter)                                               \
    "tensor A " format " f64 " shape " = random(density=0.05, seed=3)\n"                   \
    "tensor F dense f64 " filter " = random(density=1, seed=4)\n"                          \
    "tensor y " to " f64"

#define WIDE_ROWS                                                                          \
    "(n,h,w,f) -> (n : dense, h : compressed, w : compressed(index64), f : dense)"
#define RLE_ROWS "(n,h,w,f) -> (n : dense, h : compressed, w : rle, f : dense)"

#define FEW(type, shape, entries)                                                          \
    "tensor A dsss " type " " shape " = { " entries " }\n"                                 \
    "tensor F dense " type " [2,3,6,37] = 3\ntensor y dense " type

/* More entries lead to a row than are taken at a time. */
#define LONG(type)                                                                         \
    {                                                                                      \
        "tensor A dsss " type " [1,3,4,200] = random(density=1, seed=3)\n"                 \
        "tensor F dense " type " [3,2,200,40] = 3\ntensor y dense " type,                  \
            LAYER, ADDS                                                                    \
    }

/* Rows of the result that are gathered (vm/affine/affine_gather.c), or almost. */
static const tiers_case layers[] = {
    {LAYER_OF("dsss", "[2,9,11,6]", "[3,2,6,37]"), LAYER, ADDS},
    {LAYER_OF("ddds", "[1,9,11,6]", "[3,2,6,64]"), LAYER, ADDS},
    {LAYER_OF("dsds", "[1,9,11,6]", "[3,3,6,7]"), LAYER, ADDS},
    {LAYER_OF("coo", "[2,9,11,6]", "[3,3,6,8]"), LAYER, ADDS},
    {LAYER_OF("ssss", "[1,9,11,6]", "[1,1,6,32]"), LAYER, ADDS},
    {LAYER_OF("dsss", "[1,9,400,6]", "[3,3,6,8]"), LAYER, ADDS},
    {LAYER_OF("dsss", "[2,9,11,6]", "[3,2,6,9]"),
     "y(n,h,w,f) = A(n,2*h+r,3*w+q,c) * F(r,q,c,f)", ADDS},
    {LAYER_OF("dsss", "[2,9,13,6]", "[3,3,6,9]"),
     "y(n,h,w,f) = A(n,h+2*r,w+2*q+1,c) * F(r,q,c,f)", ADDS},
    {LAYER_OF("dsss", "[2,9,11,6]", "[3,3,6,9]") "[2,9,11,9]",
     "y(n,h,w,f) = pad A(n,h+r-1,w+q-1,c) * F(r,q,c,f)", "affine nest"},
    {LAYER_OF("dsss", "[2,9,11,6]", "[3,2,6,9]"),
     "y(n,h,w,f) = A(n,8-h-r,w+q,c) * F(r,q,c,f)", "affine nest"},
    {LAYER_OF("dsss", "[2,9,11,6]", "[3,2,6,9]"),
     "y(n,h,w,f) = A(n,h+r,10-w-q,c) * F(r,q,c,f)", "affine nest"},
    {LAYER_OF("dsss", "[2,9,11,6]", "[3,2,6,9]"),
     "y(n,h,w,f) = A(n,h+r,w-q+1,c) * F(r,q,c,f)", ADDS},
    {LAYER_OF("dsss", "[2,9,11,6]", "[3,2,6,9]"), "y(w,f) = A(n,h+r,w+q,c) * F(r,q,c,f)",
     ADDS},
    {LAYER_OF("dsss", "[2,9,11,6]", "[3,2,6,9]"), "y(h,f) = A(n,h+r,w+q,c) * F(r,q,c,f)",
     ADDS},
    {LAYER_OF("dsss", "[2,9,11,6]", "[3,2,6,9]"),
     "y(n,h,f,w) = A(n,h+r,w+q,c) * F(r,q,c,f)", ADDS},
    {LAYER_OF("dsss", "[2,9,11,6]", "[9,2,6,9]"), "y(n,h,w,f) = A(n,h,w+q,c) * F(h,q,c,f)",
     "affine nest of 6 -> accumulate"},
    {LAYER_OF("dsss", "[2,9,11,6]", "[9,2,10,9]"), "y(n,h,w,f) = A(n,h,w+q,c) * F(h,q,w,f)",
     "affine nest of 6 -> accumulate"},
    {LAYER_OF("dsss", "[2,9,11,6]", "[3,2,4,9]"),
     "y(n,h,w,f) = A(n,h+r,w+q,c+1) * F(r,q,c,f)", ADDS},
    {LAYER_OF("dsss", "[2,9,11,6]", "[3,2,2,9]"),
     "y(n,h,w,f) = A(n,h+r,w+q,h+c) * F(r,q,c,f)", ADDS},
    {LAYER_OF("dsss", "[2,9,11,6]", "[3,2,3,9]"),
     "y(n,h,w,f) = A(n,h+r,w+q,2*c) * F(r,q,c,f)", ADDS},
    {LAYER_OF("dsss", "[1,9,90,6]", "[3,70,6,9]"), LAYER, ADDS},
    {LAYER_OF("dsss", "[1,9,11,6]", "[3,2,6,9]") "fill 2", LAYER, ADDS},
    {LAYER_OF("dsss", "[1,9,11,6]", "[3,2,6,9]") "[1,7,10,9] = 1",
     "y(n,h,w,f) += A(n,h+r,w+q,c) * F(r,q,c,f)", "affine nest"},
    {LAYER_OF("dsss", "[2,3,3,6]", "[7,7,6,9]") "[2,9,9,9]",
     "y(n,h,w,f) = pad A(n,h+r-6,w+q-6,c) * F(r,q,c,f)", "affine nest"},
    {LAYER_OF("dsss", "[2,3,3,6]", "[7,7,6,9]") "[2,9,5,9]",
     "y(n,h,w,f) = pad A(n,h+r-6,w+q-6,c) * F(r,q,c,f)", "affine nest"},
    {FEW("f32", "[1,4,90,6]", "(0,1,5,2): 1, (0,1,6,3): 2, (0,2,0,0): 3, (0,3,89,5): 1"),
     LAYER, ADDS},
    {FEW("i64", "[1,4,90,6]", "(0,1,5,2): 1, (0,1,6,3): 2, (0,2,0,0): 3, (0,3,89,5): 1"),
     LAYER, ADDS},
    {FEW("f64", "[1,4,2000,6]",
         "(0,1,5,2): 1, (0,1,1900,3): 2, (0,2,0,0): 3, (0,2,1999,5): 1"),
     LAYER, ADDS},
    {FEW("f64", "[1,4,2000,6]",
         "(0,1,5,2): 1, (0,1,1900,3): 2, (0,2,0,0): 3, (0,2,1999,5): 1"),
     "y(n,h,w,f) = A(n,h+r,3*w+2*q+1,c) * F(r,q,c,f)", ADDS},
    {FEW("f64", "[1,4,2000,6]", ""), LAYER, ADDS},
    {STORED_OF("dsss", "dssd", "[2,9,11,6]", "[3,2,6,37]"), LAYER, ADDS},
    {STORED_OF("dsss", WIDE_ROWS, "[2,9,11,6]", "[3,2,6,37]"), LAYER, ADDS},
    {STORED_OF("dsss", RLE_ROWS, "[2,9,11,6]", "[3,2,6,37]"), LAYER, ADDS},
    {STORED_OF("dsss", "dsdd", "[2,9,11,6]", "[3,2,6,37]"), LAYER, ADDS},
    {STORED_OF("ssss", "sssd", "[3,9,11,6]", "[3,2,6,4]"), LAYER, ADDS},
    {STORED_OF("dsss", "ddsd", "[2,9,300,6]", "[3,2,6,4]"), LAYER, ADDS},
    {STORED_OF("dsss", "dssd", "[2,9,11,6]", "[3,2,6,9]"),
     "y(n,h,w,f) = A(n,2*h+r,3*w+q,c) * F(r,q,c,f)", ADDS},
    {STORED_OF("dsss", "ssd", "[2,9,11,6]", "[3,2,6,9]"),
     "y(h,w,f) = A(n,h+r,w+q,c) * F(r,q,c,f)", ADDS},
    {STORED_OF("dsss", "dssd", "[2,9,11,6]", "[3,2,6,9]"),
     "y(n,w,h,f) = A(n,h+r,w+q,c) * F(r,q,c,f)", ADDS},
    {STORED_OF("dsss", "dssd", "[2,9,11,6]", "[9,2,6,9]") " [2,9,10,9]",
     "y(n,h,w,f) = A(n,h,w+q,c) * F(h,q,c,f)", "affine nest of 6 -> accumulate"},
    {STORED_OF("dsss", "dssd", "[1,70,11,6]", "[65,2,6,9]"), LAYER, ADDS},
    {STORED_OF("dsss", "dssd", "[1,4,2000,2]", "[2,3,2,9]"), LAYER, ADDS},
    LONG("f64"),
    LONG("f32"),
    LONG("i64"),
    {LAYER_OF("dsss", "[1,5,300,6]", "[3,3,6,64]"), LAYER, ADDS},
    {LAYER_OF("dsss", "[1,5,300,6]", "[3,3,6,40]"),
     "y(n,h,w,f) = A(n,h+r,2*w+q,c) * F(r,q,c,f)", ADDS},
    {"tensor A dsss f64 [1,8,600,6] = random(density=0.0013, seed=5)\n"
     "tensor F dense f64 [3,2,6,9] = random(density=1, seed=4)\ntensor y dense f64",
     LAYER, ADDS},
    /* the factor in another order, levels at one coordinate, a part of the channels, other
     * orders of the operand, more choices than are listed, and steps that aren't even */
    {LAYER_OF("dsss", "[2,9,11,6]", "[3,2,9,6]"),
     "y(n,h,w,f) = A(n,h+r,w+q,c) * F(r,q,f,c)", ADDS},
    {LAYER_OF("dsss", "[2,9,11,6]", "[3,6,9]"), "y(n,h,f) = A(n,h+r,4,c) * F(r,c,f)",
     "affine nest"},
    {LAYER_OF("dsss", "[2,9,11,6]", "[3,2,6,9]"),
     "y(n,h,w,f) = sum(r in 0:3, q in 0:2, c in 0:4: A(n,h+r,w+q,c) * F(r,q,c,f))", ADDS},
    {LAYER_OF("(n,h,w,c) -> (n : dense, h : compressed, w : compressed(unordered), c : "
              "compressed)",
              "[2,9,11,6]", "[3,2,6,9]"),
     LAYER, "affine nest"},
    {LAYER_OF("(n,h,w,c) -> (n : dense, h : compressed(unordered), w : compressed, c : "
              "compressed(unordered))",
              "[2,9,11,6]", "[3,2,6,9]"),
     LAYER, "affine nest"},
    {LAYER_OF("dsss", "[1,6,200,6]", "[3,70,6,9]"), LAYER, ADDS},
    {LAYER_OF("dsss", "[1,150,6,6]", "[70,2,6,9]"), LAYER, ADDS},
    {LAYER_OF("dsss", "[2,9,11,6]", "[3,2,2,6,9]"),
     "y(n,h,w,f) = A(n,h+r,w+q+2*s,c) * F(r,q,s,c,f)", "affine nest of 8 -> accumulate"},
    {LAYER_OF("dsss", "[1,30,11,6]", "[20,2,2,6,9]"),
     "y(n,h,w,f) = A(n,h+r,w+q+2*s,c) * F(r,q,s,c,f)", "affine nest of 8 -> accumulate"},
    {LAYER_OF("dsss", "[2,9,11,6]", "[1,2,6,9]"),
     "y(n,h,w,f) = A(n,2*h+r,2*w+q,c) * F(r,q,c,f)", ADDS},
    {LAYER_OF("dsss", "[1,9,11,6]", "[3,2,6,80]"), LAYER, ADDS},
    {LAYER_OF("dsss", "[2,9,31,6]", "[3,2,6,80]"), LAYER, ADDS},
};
enum { LAYERS = sizeof layers / sizeof *layers };

#define SPARSE_TO(format, shape, filter)                                                   \
    "tensor A " format " f64 " shape " = random(density=0.003, seed=3)\n"                  \
    "tensor F dense f64 " filter " = random(density=1, seed=4)\ntensor y dense f64"
#define FULL_TO(format, shape, filter, to)                                                 \
    "tensor A " format " f64 " shape " = random(density=0.3, seed=3)\n"                    \
    "tensor F dense f64 " filter " = random(density=1, seed=4)\ntensor y " to " f64"
#define WHOLE(type, to)                                                                    \
    "tensor A svec " type " [12] = { (1): 3, (2): 1, (7): 2, (11): 5 }\n"                  \
    "tensor F dense " type " [3] = [1,2,3]\ntensor y " to " " type
#define NEST2 "affine nest of 2 -> accumulate"
/* Few entries, some at the ends. */
#define ENDS                                                                               \
    "tensor A svec f64 [9000] = { (0): 1, (1): 2, (4500): 3, (8998): 1, (8999): 5 }\n"     \
    "tensor F dense f64 [3] = [1,2,3]\ntensor y dense f64"
/* Rows of which those 4,096 apart aren't alike. */
#define FAR_ROWS                                                                           \
    "tensor A csr f64 [4200,60]\n"                                                         \
    "A(i,j) = (i < 4096) * (j > i % 2 * 15) + (i > 4095) * (j == 30 + i % 7)\ncompact A\n" \
    "tensor F dense f64 [3,3] = 2\ntensor y dense f64"

#define ROWS_OF(type)                                                                      \
    {"tensor A svec " type " [60] = { (1): 2, (7): 1, (59): 4 }\n"                         \
     "tensor F dense " type " [59,37] = 3\ntensor y dense " type,                          \
     "y(f) = A(c+1) * F(c,f)", NEST2},                                                     \
        {"tensor A svec " type " [60] = { (1): 2, (7): 1, (59): 4 }\n"                     \
         "tensor F dense " type " [3,37] = 3\ntensor y dense " type,                       \
         "y(i,f) = A(2*i+p) * F(p,f)", "affine nest of 3 -> accumulate"},                  \
        {FEW(type, "[1,4,90,7]", "(0,1,5,2): 1, (0,1,6,0): 2, (0,3,89,6): 1"),             \
         "y(n,h,w,f) = A(n,h+r,w+q,c+1) * F(r,q,c,f)", ADDS},

/* Entries that are scattered: few over many places, which are marked; filters whose rows
 * are long, or aren't there, or move; strides and shifts at each level. */
static const tiers_case scattered[] = {
    {SPARSE_TO("svec", "[6000]", "[3]"), "y(i) = A(i+p) * F(p)", NEST2},
    {SPARSE_TO("svec", "[6000]", "[3]"), "y(i) = 2 * A(i+p) * F(p)", NEST2},
    {SPARSE_TO("svec", "[6000]", "[30]"), "y(i) = A(i+p) * F(p)", NEST2},
    {SPARSE_TO("svec", "[6000]", "[5]"), "y(i) = A(i+p) * F(p)", NEST2},
    {SPARSE_TO("svec", "[6000]", "[3]"), "y(i) = A(2*i+p) * F(p)", NEST2},
    {SPARSE_TO("svec", "[6000]", "[3]"), "y(i) = A(i+40*p) * F(p)", NEST2},
    {SPARSE_TO("svec", "[6000]", "[3]"), "y(i) = A(5999-i-p) * F(p)", NULL},
    {SPARSE_TO("svec", "[6000]", "[3]"), "y(i) = A(5999-3*i-p) * F(p)", NULL},
    {SPARSE_TO("svec", "[6000]", "[3]"), "y(i) = sum(p in 0:3: A(i+p))", "affine nest"},
    {SPARSE_TO("svec", "[6000]", "[3,4]"), "y(i,f) = A(i+p) * F(p,f)",
     "affine nest of 3 -> accumulate"},
    {SPARSE_TO("svec", "[6000]", "[3,4]"), "y(f,i) = A(i+p) * F(p,f)",
     "affine nest of 3 -> accumulate"},
    {SPARSE_TO("svec", "[6000]", "[3,20]"), "y(i,f) = A(2*i+p) * F(p,f)",
     "affine nest of 3 -> accumulate"},
    {SPARSE_TO("csr", "[70,90]", "[3,3]"), "y(i,j) = A(i+p,j+q) * F(p,q)",
     "affine nest of 4 -> accumulate"},
    {SPARSE_TO("csr", "[70,90]", "[3,3]"), "y(j,i) = A(i+p,j+q) * F(p,q)",
     "affine nest of 4 -> accumulate"},
    {SPARSE_TO("csr", "[70,90]", "[70,3]"), "y(i,j) = A(i,j+q) * F(i,q)",
     "affine nest of 3 -> accumulate"},
    {SPARSE_TO("csr", "[70,90]", "[88,3]"), "y(i,j) = A(i,j+q) * F(j,q)",
     "affine nest of 3 -> accumulate"},
    {SPARSE_TO("dcsr", "[70,90]", "[3,3]"), "y(i,j) = A(2*i+p,2*j+q) * F(p,q)",
     "affine nest of 4 -> accumulate"},
    {SPARSE_TO("coo", "[70,90]", "[3,3]"), "y(i,j) = A(i+p,69-j-q) * F(p,q)", NULL},
    {SPARSE_TO("coo", "[70,90]", "[9,9]"), "y(i,j) = A(i+p,j+q) * F(p,q)",
     "affine nest of 4 -> accumulate"},
    {SPARSE_TO("svec", "[6000]", "[3]") "\ntensor B dense f64 [3] = [1,2,3]",
     "y(i) = A(i+p) * F(p) * B(p)", NEST2},
    {SPARSE_TO("csr", "[70,90]", "[3]"), "y(i) = A(i+p,i+2*p) * F(p)", NULL},
    {SPARSE_TO("csr", "[70,90]", "[3]"), "y(i,j) = A(i+p,i+j) * F(p)", "affine nest"},
    {SPARSE_TO("svec", "[6000]", "[3]"), "y(i,j) = A(i+3*j+p) * F(p) * F(j)",
     "affine nest"},
    {SPARSE_TO("svec", "[6000]", "[3]"), "y(i) = A(100*i+70*p) * F(p)", NEST2},
    {SPARSE_TO("svec", "[9000]", "[5000]"), "y(i) = A(i+2*p) * F(p)", NEST2},
    {WHOLE("f32", "dense"), "y(i) = A(i+p) * F(p)", NEST2},
    {WHOLE("i64", "dense"), "y(i) = A(i+p) * F(p)", NEST2},
    {WHOLE("f32", "svec"), "y(i) = A(i+p) * F(p)", "affine nest"},
    {WHOLE("i64", "svec"), "y(i) = A(2*i+p) * F(p)", "affine nest"},
    {FULL_TO("csr", "[9,90]", "[3,3]", "csr"),
     "y(i,j) = A(i+p,j+q) * F(p,q) with reorder(i,j,p,q)", "affine nest"},
    {FULL_TO("csr", "[9,90]", "[3,3]", "csr"),
     "y(i,j) = A(i+p,j+q) * F(p,q) with reorder(i,p,j,q)", "affine nest"},
    {FULL_TO("csr", "[9,90]", "[3,3]", "csr"),
     "y(i,j) = A(i+p,2*j+3*q) * F(p,q) with reorder(i,j,p,q)", "affine nest"},
    {FULL_TO("csr", "[9,90]", "[3,3]", "csr"),
     "y(i,j) = A(i+p,2*j+q) * F(p,q) with reorder(i,j,p,q)", "affine nest"},
    {FULL_TO("svec", "[90]", "[3]", "svec"),
     "y(i) = A(i+p+2*q) * F(p) * F(q) with reorder(i,p,q)", "affine nest"},
    {FULL_TO("csr", "[9,90]", "[3,3]", "dense"),
     "y(i,j) = A(i+p,j+q) * F(p,q) with reorder(i,j,p,q)", "affine nest"},
    {ENDS, "y(i) = A(2*i+p) * F(p)", NEST2},
    {ENDS, "y(i) = A(8999-2*i-p) * F(p)", NULL},
    {ENDS, "y(i) = A(3*i+2*p) * F(p)", NEST2},
    {ENDS, "y(i) = A(2*i-p+2) * F(p)", NEST2},
    {ENDS, "y(i) = A(i-2*p+7) * F(p)", NEST2},
    {ENDS, "y(i) = A(i+9*p+50) * F(p)", NEST2},
    {ENDS, "y(i) = A(7*i+9*p+50) * F(p)", NEST2},
    {ENDS " [9000]", "y(8999-i) = A(i+p) * F(p)", ""},
    {ENDS " [9000]", "y(2*i+1) = A(i+p) * F(p)", ""},
    {ENDS " [8998,3]", "y(i,2-f) = A(i+p) * F(p) * F(f)", ""},
    {FULL_TO("svec", "[6000]", "[3]", "dense"), "y(i) = A(i+p) * F(p)", NEST2},
    {FULL_TO("svec", "[6000]", "[3]", "dense"), "y(i) = A(2*i+p) * F(p)", NEST2},
    {FULL_TO("(i) -> (i : compressed(unordered))", "[90]", "[3]", "dense"),
     "y(i) = A(i+p+4) * F(p)", NEST2},
    {FULL_TO("(i,j) -> (i : compressed(unordered), j : compressed)", "[30,40]", "[3,3]",
             "dense"),
     "y(i,j) = A(i+p+4,j+q+4) * F(p,q)", "affine nest of 4 -> accumulate"},
    {FULL_TO("ell", "[30,40]", "[3,3]", "dense"), "y(i,j) = A(i+p,j+q) * F(p,q)", ""},
    {FULL_TO("coo", "[30,40]", "[3,3]", "dense"), "y(i,j) = A(i+p+4,j+q+4) * F(p,q)",
     "affine nest of 4 -> accumulate"},
    {FULL_TO("csr", "[70,60]", "[3]", "dense"), "y(i) = A(i+p,40) * F(p)", NULL},
    {FULL_TO("csr", "[70,60]", "[3]", "dense"), "y(i) = A(i+p,i) * F(p)", NULL},
    {FAR_ROWS, "y(i,j) = A(i+p,j+q+20) * F(p,q)", "affine nest of 4 -> accumulate"},
    {"tensor A svec f64 [30000] = { (7): 1, (20000): 2, (29000): 1 }\n"
     "tensor F dense f64 [70,70] = random(density=1, seed=4)\n"
     "tensor B dense f64 [3] = [1,2,3]\ntensor y dense f64",
     "y(i) = A(i+3*p+250*q+s) * F(p,q) * B(s)", "affine nest"},
    {"tensor A svec f64 [30] = { (7): 1, (20): 2 }\n"
     "tensor F dense f64 [1,4] = [[1,2,3,4]]\ntensor y dense f64",
     "y(i) = A(i+q) * F(4611686018427387904*p,q)", "affine nest"},
    {"tensor A svec f64 [30] = { (7): 1, (20): 2 }\n"
     "tensor F dense f64 [1,16] = 2\ntensor y dense f64",
     "y(i) = sum(p in 1:2, q in 0:4: A(i+q) * "
     "F(1152921504606846976*p-1152921504606846976,q))",
     "affine nest"},
    ROWS_OF("f64") ROWS_OF("f32") ROWS_OF("i64")};
enum { SCATTERED = sizeof scattered / sizeof *scattered };

/* What isn't such a nest, or only nearly. */
static const tiers_case others[] = {
    {WHOLE("f64", "dense"), "y(i) = A(i+p) + F(p)", NULL},
    {WHOLE("f64", "dense"), "y(i) = max(p: A(i+p) * F(p))", NULL},
    {WHOLE("f64", "dense"), "y(i) = A(i+p) * A(i+p) * F(p)", NULL},
    {WHOLE("f64", "dense"), "y(i) = F(p) * A(i+p) * F(p)", NULL},
    {WHOLE("f64", "dense"), "y(i) = sum(p in 0:3: A(i+p) * A(i+p+1))", NULL},
    {WHOLE("f64", "dense"), "y(i) = A(i+p) * F(p) * i", NULL},
    {WHOLE("f64", "dense"), "y(i) = A(i+p) / F(p)", NULL},
    {WHOLE("f64", "dense"), "y(i) = A(i+p) * F(p) * F(p) * F(p) * F(p)", NULL},
    {WHOLE("i32", "dense"), "y(i) = A(i+p) * F(p)", NULL},
    {WHOLE("f64", "dense") " fill 1", "y(i) = A(i+p) * F(p)", "affine nest"},
    {WHOLE("f64", "dense"), "y(i) = 1 + A(i+p) * F(p)", NULL},
    {WHOLE("f64", "dense"), "y(i) = A(i+p) * F(p) + A(i+q) * F(q)", "affine nest"},
    {WHOLE("f64", "dense"), "y(i) = A(11-i)", NULL},
    {WHOLE("f64", "hash"), "y(i) = A(i+p) * F(p)", "affine nest"},
    {WHOLE("f64", "rle"), "y(i) = A(i+p) * F(p)", "affine nest"},
    {SPARSE_TO("svec", "[6000]", "[3]"), "y(i) = A(100*i+70*p+30*q) * F(p) * F(q)", ""},
    {SPARSE_TO("csr", "[300,300]", "[3,3]"), "y(i,j) = A(10*i+p,10*j+q) * F(p,q)", ""},
    {SPARSE_TO("csr", "[70,60]", "[3]"), "y(i) = A(i+p,i) * F(p)", ""},
    {SPARSE_TO("csr", "[70,90]", "[3]"), "y(i) = A(i+p,40) * F(p)", ""},
    {"tensor A csf f64 [90,90,5] = random(density=0.001, seed=3)\n"
     "tensor F dense f64 [80,80,2] = random(density=1, seed=4)\ntensor y dense f64",
     "y(i,j,k) = A(i+p,j+q,k+r) * F(p,q,r)", ""},
    {"tensor A svec f64 [2300000] = { (7): 1, (1150000): 2, (2200001): 3 }\n"
     "tensor y dense f64",
     "y(i) = sum(p in 0:1100000: A(2*i+p))", ""},
    {"tensor A svec f64 [2000000000000000001] = { (7): 1, (2000000000000000000): 2 }\n"
     "tensor F dense f64 [3] = [1,2,3]\ntensor y dense f64",
     "y(i) = A(500000000000000000*i+500000000000000000*p) * F(p)", ""},
    {"tensor A svec f64 [2000000000000000001] = { (7): 1, (2000000000000000000): 2 }\n"
     "tensor F dense f64 [3] = [1,2,3]\ntensor y dense f64",
     "y(i) = A(i+900000000000000000*p) * F(p) * F(i)", ""},
    {"tensor A svec f64 [60] = random(density=0.2, seed=3)\n"
     "tensor F dense f64 [3] = [1,2,3]\ntensor B dense f64 [60] = 1\ntensor y dense f64 "
     "[10]",
     "y(i) = A(i+p) * "
     "F(p)*B(i+1)*B(i+2)*B(i+3)*B(i+4)*B(i+5)*B(i+6)*B(i+7)*B(i+8)*B(i+9)*B(i+10)*B(i+11)*"
     "B(i+12)*B(i+13)*B(i+14)*B(i+15)*B(i+16)*B(i+17)*B(i+18)*B(i+19)*B(i+20)*B(i+21)*B(i+"
     "22)*B(i+23)*B(i+24)*B(i+25)*B(i+26)*B(i+27)*B(i+28)*B(i+29)*B(i+30)*B(i+31)*B(i+32)*"
     "B(i+33)*B(i+34)*B(i+35)*B(i+36)*B(i+37)*B(i+38)*B(i+39)*B(i+40)*B(i+41)*B(i+42)*B(i+"
     "43)*B(i+44)",
     NULL},
    {"tensor A svec f64 [60] = random(density=0.2, seed=3)\n"
     "tensor F dense f64 [3] = [1,2,3]\na = 2.0\nb = 3.0\nc = 0.5\nd = 1.5\ne = "
     "4.0\ntensor y dense f64",
     "y(i) = a * A(i+p) * F(p) * b * c * d * e", NULL},
    {"tensor A csr f64 [9,9] = random(density=0.2, seed=3)\ntensor y dense f64",
     "y(i,j) = sum(o in 0:2, p in 0:2, q in 0:2, r in 0:2, s in 0:2, t in 0:2, u in 0:2, "
     "v in 0:2, w in 0:2, x in 0:2: A(i+o+p+q+r+s,j+t+u+v+w+x))",
     ""},
};
enum { OTHERS = sizeof others / sizeof *others };

/* Pairs of functions besides + and *: rows of affine.def. */
#define PAIR(type, fill, format, result)                                                   \
    "tensor A " format " " type " [12,90] fill " fill " = { (0,3): 2, (1,3): 1, (1,40): "  \
    "3, (5,41): 1, (5,42): 2, (7,89): 3, (11,0): 1, (11,88): 2, (5,43): 1, (6,1): 1 }\n"   \
    "tensor B dense " type " [2,3] = { (0,0): 1, (0,2): 4, (1,1): 2 }\n"                   \
    "tensor D dense " type " [2,3,40] = random(density=1, seed=3)\ntensor y " result       \
    " " type
#define ADD_PAIR "y(i,j) = min(p,q: A(i+p,j+q) + B(p,q))"
#define MAX_PAIR "y(i,j) = max(p,q: A(i+p,j+q) + B(p,q))"
#define OR_PAIR "y(i,j) = or(p,q: A(i+p,j+q) && B(p,q))"
#define WIDE_CSR "(i,j) -> (i : dense, j : compressed(index64))"
/* More taps than are listed. */
#define MANY_TAPS(type, fill, result)                                                      \
    "tensor A svec " type " [2300000] fill " fill " = { (7): 1, (1150000): 2, (2200001): " \
    "3 }\ntensor y " result " " type
static const tiers_case pairs[] = {
    {PAIR("f64", "inf", "csr", "dense"), ADD_PAIR, ADDED},
    {PAIR("f64", "inf", "csr", "csr"), ADD_PAIR, "affine nest of"},
    {PAIR("f64", "inf", "csc", "dense"), ADD_PAIR, ADDED},
    {PAIR("f64", "inf", "dcsr", "dcsr"), ADD_PAIR, "affine nest of"},
    {PAIR("f64", "inf", "coo", "dense"), ADD_PAIR, ADDED},
    {PAIR("f64", "inf", "csr", "dense"), "y(i,j) = min(p,q: B(p,q) + A(i+p,2*j+q) + 3)",
     ADDED},
    {PAIR("f64", "inf", "csr", "dense"), "y(j,i) = min(q,p: B(p,q) + A(i+p,2*j+q))", ADDED},
    {PAIR("f64", "inf", "csr", "dense"), "y(i,f) = min(p,q: A(i+p,q+2) + D(p,q,f))", ADDED},
    {PAIR("f64", "-inf", "csr", "dense"), MAX_PAIR, ADDED},
    {PAIR("f64", "-inf", "csr", "csr"), "y(i,j) = max(p in 0:2, q in 0:3: A(2*i+p,2*j+q))",
     "affine nest"},
    {PAIR("f64", "-inf", "dcsr", "dense"), "y(i,f) = max(p,q: A(i+p,q+2) + D(p,q,f))",
     ADDED},
    {PAIR("f64", "inf", WIDE_CSR, "dense"), ADD_PAIR, "affine nest of"},
    {PAIR("f64", "inf", WIDE_CSR, "csr"), ADD_PAIR, "affine nest of"},
    {PAIR("f64", "-inf", WIDE_CSR, "dense"), MAX_PAIR, "affine nest of"},
    {PAIR("f64", "-inf", WIDE_CSR, "csr"), MAX_PAIR, "affine nest of"},
    {PAIR("f64", "-inf", "csr", "csr"), MAX_PAIR, "affine nest of"},
    {PAIR("bool", "false", WIDE_CSR, "dense"), OR_PAIR, "affine nest of"},
    {PAIR("f64", "inf", "csr", "dense"), "y(i,j,f) = min(p,q: A(i+p,j+q) + D(p,q,f))",
     "affine nest of"},
    {PAIR("f64", "inf", "csr", "csf"), "y(i,j,f) = min(p,q: A(i+p,j+q) + D(p,q,f))",
     "affine nest of"},
    {PAIR("f64", "-inf", "csr", "dense"), "y(i,j,f) = max(p,q: A(i+p,j+q) + D(p,q,f))",
     "affine nest of"},
    {PAIR("f64", "-inf", "csr", "csf"), "y(i,j,f) = max(p,q: A(i+p,j+q) + D(p,q,f))",
     "affine nest of"},
    {PAIR("bool", "false", "csr", "dense"), "y(i,j,f) = or(p,q: A(i+p,j+q) && D(p,q,f))",
     "affine nest of"},
    {MANY_TAPS("f64", "inf", "dense"), "y(i) = min(p in 0:1100000: A(2*i+p))",
     "affine nest of"},
    {MANY_TAPS("f64", "inf", "svec"), "y(i) = min(p in 0:1100000: A(2*i+p))",
     "affine nest of"},
    {MANY_TAPS("f64", "-inf", "dense"), "y(i) = max(p in 0:1100000: A(2*i+p))",
     "affine nest of"},
    {MANY_TAPS("f64", "-inf", "svec"), "y(i) = max(p in 0:1100000: A(2*i+p))",
     "affine nest of"},
    {MANY_TAPS("bool", "false", "dense"), "y(i) = or(p in 0:1100000: A(2*i+p))",
     "affine nest of"},
    {PAIR("i64", "9223372036854775807", "csr", "dense"), ADD_PAIR, NULL},
    {PAIR("bool", "false", "csr", "dense"), OR_PAIR, ADDED},
    {PAIR("bool", "false", "csr", "csr"), OR_PAIR, NULL},
    {PAIR("bool", "false", "dcsr", "dense"), "y(i,f) = or(p,q: A(i+p,q+2) && D(p,q,f))",
     ADDED},
};
enum { PAIRS = sizeof pairs / sizeof *pairs };

START_TEST(rows_are_gathered)
{
    statement_agrees(&layers[_i]);
}
END_TEST

/* A layer's input of 1 x 6 x 200 x 4 and filter of 2 x 3 x 4 x `features`. */
typedef struct change {
    stc_type type;
    int64_t features;
    double fill;
} change;
static const change changes[] = {{STC_F64, 64, 0}, {STC_F64, 40, 0}, {STC_F64, 16, 2},
                                 {STC_F64, 9, 0},  {STC_F32, 64, 0}, {STC_F32, 16, 3},
                                 {STC_I64, 72, 1}, {STC_I64, 9, 0}};
enum { CHANGES = sizeof changes / sizeof *changes };

/* An element in `every`, or so, is there. */
static stc_tensor *layer_input(stc_machine *m, const change *c, int every)
{
    const int64_t shape[] = {1, 6, 200, 4};
    enum { ALL = 6 * 200 * 4 };
    double dense[ALL];
    stc_tensor *whole, *t;
    for (int64_t k = 0; k < ALL; k++)
        dense[k] = k * 2654435761 % 4096 * every < 4096 ? (double)(k % 5 + 1) : 0;
    ck_ok(m, stc_tensor_from_dense(m, "dsss", STC_F64, 4, shape, NULL, dense, &whole));
    ck_ok(m, stc_tensor_convert(whole, "dsss", c->type, &t));
    stc_tensor_free(whole);
    return t;
}

static stc_program *layer_program(stc_machine *m, const change *c, stc_tensor **filter)
{
    const int64_t shape[] = {2, 3, 4, c->features};
    const int64_t n = 2 * 3 * 4 * c->features;
    const stc_value fill =
        c->type == STC_I64 ? (stc_value){.i = (int64_t)c->fill} : (stc_value){.f = c->fill};
    double *dense = malloc((size_t)n * sizeof *dense);
    stc_tensor *whole;
    stc_program *p;
    ck_assert_ptr_nonnull(dense);
    for (int64_t k = 0; k < n; k++)
        dense[k] = (double)(k % 7 - 3);
    ck_ok(m, stc_tensor_from_dense(m, "dense", STC_F64, 4, shape, NULL, dense, &whole));
    ck_ok(m, stc_tensor_convert(whole, "dense", c->type, filter));
    stc_tensor_free(whole);
    free(dense);
    const stc_decl decl[] = {{0, "A", "dsss", c->type, NULL, -1},
                             {0, "F", "dense", c->type, NULL, -1},
                             {0, "y", "dense", c->type, &fill, -1}};
    ck_ok(m, stc_compile(m, LAYER, decl, 3, &p));
    ck_ok(m, stc_bind(p, "F", *filter));
    return p;
}

/* Rows that the last run stored into, and this one doesn't, are filled again: runs of a
 * program whose operand changes give what base operations give for each. */
START_TEST(operands_change)
{
    const change *c = &changes[_i];
    static const int every[] = {3, 3, 1000, 1000, 200, 4096, 50, 1, 400};
    heap h[3];
    stc_machine *m[3];
    stc_program *p[3];
    stc_tensor *f[3];
    for (int k = 0; k < 3; k++) {
        m[k] = machine_open(&h[k], k == 1);
        if (k == 2) machine_plain(m[k]);
        p[k] = layer_program(m[k], c, &f[k]);
    }
    for (size_t r = 0; r < sizeof every / sizeof *every; r++) {
        const void *v[3];
        int64_t n[3];
        stc_tensor *a[3];
        for (int k = 0; k < 3; k++) {
            const stc_tensor *y;
            a[k] = layer_input(m[k], c, every[r]);
            ck_ok(m[k], stc_bind(p[k], "A", a[k]));
            ck_ok(m[k], stc_run(p[k]));
            ck_ok(m[k], stc_result(p[k], "y", &y));
            ck_ok(m[k], stc_tensor_values(y, &v[k], &n[k]));
        }
        for (int k = 0; k < 3; k += 2) {
            const size_t size = c->type == STC_F32 ? 4 : 8;
            ck_assert_int_eq(n[k], n[1]);
            ck_assert_int_eq(memcmp(v[k], v[1], (size_t)n[k] * size), 0);
        }
        for (int k = 0; k < 3; k++)
            stc_tensor_free(a[k]);
    }
    for (int k = 0; k < 3; k++) {
        stc_program_free(p[k]);
        stc_tensor_free(f[k]);
        machine_shut(m[k], &h[k]);
    }
}
END_TEST

START_TEST(entries_are_scattered)
{
    statement_agrees(&scattered[_i]);
}
END_TEST

START_TEST(others_are_left)
{
    statement_agrees(&others[_i]);
}
END_TEST

START_TEST(functions_are_pairs)
{
    statement_agrees(&pairs[_i]);
}
END_TEST

START_TEST(memory_ends)
{
    statement_starves(_i % 2 ? &layers[0] : &scattered[_i / 2 ? SCATTERED - 6 : 0]);
}
END_TEST

/* Blocks of a tensor with all places are taken over whole, with the values that the loops
 * as they are written give, which go to their places one by one. */
START_TEST(blocks_by_loops)
{
    static const char script[] = "n = 160\n"
                                 "tensor F dense f64 [n,n] = random(density=1, seed=13)\n"
                                 "tensor I dense i32 [n,n]\n"
                                 "I(i,j) = 7*i - j\n"
                                 "tensor K dense f64 [2*n+1,n+4]\n"
                                 "K(a,b) = a + 0.5*b\n"
                                 "tensor L dense f64 [2*n+1,n+4]\n"
                                 "L(a,b) = K(a,b)\n"
                                 "K(i+1,j+3) = F(i,j) + i\n"
                                 "L(i+1,j+3) = F(i,j) + i with as_written\n"
                                 "assert all(a,b: K(a,b) == L(a,b)), \"a\"\n"
                                 "K(i+n,j(4:164)) += F(i,j) * K(i+3,j+2)\n"
                                 "L(i+n,j(4:164)) += F(i,j) * L(i+3,j+2) with as_written\n"
                                 "assert all(a,b: K(a,b) == L(a,b)), \"b\"\n"
                                 "K(i(20:180),j+4) = F(i,j) + I(j,i)\n"
                                 "L(i(20:180),j+4) = F(i,j) + I(j,i) with as_written\n"
                                 "assert all(a,b: K(a,b) == L(a,b)), \"d\"\n"
                                 "K(i+1,j+1) max= 2*i-F(i,j)\n"
                                 "L(i+1,j+1) max= 2*i-F(i,j) with as_written\n"
                                 "assert all(a,b: K(a,b) == L(a,b)), \"e\"\n"
                                 "K(i+7,2) = 5\n";
    stc_machine *m;
    stc_session *s;
    char *text;
    int blocks = 0, places = 0;
    const stc_config config = {.profile = true};
    ck_assert_int_eq(stc_open(&config, &m), STC_OK);
    ck_ok(m, stc_session_open(m, &s));
    ck_ok(m, stc_session_exec(s, script, "blocks"));
    ck_ok(m, stc_session_profile(s, &text));
    for (const char *at = text; (at = strstr(at, "# K(i")); blocks++) {
        const char *const end = strstr(++at, "\n#");
        const char *const taken = strstr(at, "block ");
        places += taken && (!end || taken < end);
    }
    ck_assert_int_eq(blocks, 5);
    ck_assert_int_eq(places, 5);
    stc_text_free(m, text);
    stc_session_close(s);
    stc_close(m);
}
END_TEST

/* Sums of indices on the left, each in a mode of its own: what is named in a mode is
 * collected for itself, and not for all pairs. Elements between stay as they are. */
START_TEST(sums_named_by_mode)
{
    static const char *const formats[] = {"csr", "csc", "coo", "dcsr"};
    char script[900];
    for (int k = 0; k < 4; k++) {
        snprintf(script, sizeof script,
                 "n = 1500\ntensor A csr f64 [n,n] = random(density=0.002, seed=1)\n"
                 "tensor W dense f64 = [[1,2],[3,4]]\n"
                 "tensor K %s f64 [2*n,2*n] = { (7,1): 1 }\n"
                 "K(2*i+a,2*j+b) = A(i,j) * W(a,b)\nassert stored(K) == 4 * stored(A)\n",
                 formats[k]);
        expect_within(script, 2000000);
        snprintf(script, sizeof script,
                 "n = 12\ntensor A %s f64 [n,n] = random(density=0.2, seed=1)\n"
                 "tensor W dense f64 = [[1,2],[3,4]]\n"
                 "tensor K %s f64 [36,36] = random(density=0.3, seed=2)\n"
                 "tensor L dense f64\nL(i,j) = K(i,j)\n"
                 "K(3*i+a,3*j+b) = A(i,j) * W(a,b)\nL(3*i+a,3*j+b) = A(i,j) * W(a,b)\n"
                 "K(2*i+a,5) = W(a,a)*A(i,i)\nL(2*i+a,5) = W(a,a)*A(i,i)\n"
                 "wrong = sum(i,j: K(i,j) != L(i,j))",
                 formats[k], formats[k]);
        EXPECT(script, "wrong", 0);
    }
}
END_TEST

Suite *suite_affine(void)
{
    Suite *s = suite_create("affine");
    TCase *c = tcase_create("affine");
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, rows_are_gathered, 0, LAYERS);
    tcase_add_loop_test(c, operands_change, 0, CHANGES);
    tcase_add_loop_test(c, entries_are_scattered, 0, SCATTERED);
    tcase_add_loop_test(c, others_are_left, 0, OTHERS);
    tcase_add_loop_test(c, functions_are_pairs, 0, PAIRS);
    tcase_add_loop_test(c, memory_ends, 0, 3);
    tcase_add_test(c, blocks_by_loops);
    tcase_add_test(c, sums_named_by_mode);
    suite_add_tcase(s, c);
    return s;
}
