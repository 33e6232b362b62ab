/* near.h: bytecode near to what the faster tiers and the threads take loops over for: what
 * its programs share, and the judge of them (check_near.c), which runs one by base
 * operations, on all tiers and on two threads: results and errors are the same, and the
 * program is taken over, and shared, as it says. A slash stands for the end of a line.
 */
#ifndef TESTS_NEAR_H
#define TESTS_NEAR_H

#include "check.h"

/* A and B are 14 rows of 20, x and n have 20 elements. */
#define HEAD                                                                               \
    ".registers v 24 i 12 m 4 c 24\n"                                                      \
    ".tensor t0 \"A\" input f64 (0) format 2 dense(0) compressed(1)\n"                     \
    ".tensor t1 \"x\" input f64 (0) format 1 dense(0)\n"                                   \
    ".tensor t2 \"y\" output f64 (0) [e0] format 1 dense(0)\n"                             \
    ".tensor t3 \"\" work f64 (0) [e1] format 1 compressed(0)\n"                           \
    ".tensor t4 \"B\" input f64 (0) format 2 compressed(0) compressed(1)\n"                \
    ".tensor t5 \"C\" output f64 (0) [e0 e1] format 2 dense(0) compressed(1)\n"            \
    ".tensor t6 \"s\" output f64 (0) [] format 0\n"                                        \
    ".tensor t7 \"n\" input i64 (0) format 1 dense(0)\n"                                   \
    ".tensor t8 \"D\" output f64 (0) [e0 e1] format 2 dense(0) dense(1)\n"                 \
    ".tensor t9 \"\" temp f64 (0) [e1] format 1 dense(0)\n"                                \
    ".tensor t10 \"k\" output i32 (0) [e0] format 1 dense(0)\n"                            \
    ".tensor t11 \"E\" output f64 (0) [e0 e1] format 2 compressed(0) compressed(1)\n"      \
    ".tensor t12 \"X\" input f64 (0) format 2 dense(0) dense(1)\n"                         \
    ".extent e0 dim t0 0\n.extent e1 dim t0 1\n.extent e2 const 4\n.extent e3 const 3\n"   \
    ".const k0 f64 0\n.const k1 i64 1\n.const k2 i64 0\n.const k3 i64 -1\n"                \
    ".const k4 f64 4611686018427387904\n.const k5 i64 3\n.const k6 f32 0\n"                \
    ".merge g0 lo root hi e0 universe produce 0x3 { locate c0 t0 0 root root 1 }\n"        \
    ".merge g1 lo root hi e1 produce 0x2 { walk c2 }\n"                                    \
    ".merge g2 lo root hi e1 produce 0xa { walk c2, locate c3 t1 0 root root 1 }\n"        \
    ".merge g3 lo root hi e1 universe produce 0x1 { }\n"                                   \
    ".merge g4 lo root hi e0 universe produce 0x1 { }\n"                                   \
    ".merge g5 lo root hi e2 universe produce 0x1 { }\n"                                   \
    ".merge g6 lo root hi e3 universe produce 0x1 { }\n"
#define ADD "fn2 v0, add, f64, v0, v1 / "
#define ADD2 "fn2 v0, add, f64, v0, v2 / "

typedef struct near_case {
    const char *what, *code;
    char tier; /* of the outermost loop; 0: whatever */
    bool shared;
} near_case;

void near_judge(const near_case *c);

#endif
