/* near_super.h: what programs near those that superinstructions take have in common: the
 * operands, constants, extents and merges that they name, and the result.
 */
#ifndef TESTS_NEAR_SUPER_H
#define TESTS_NEAR_SUPER_H

/* Operands have nine coordinates a mode, a third of them stored. The case declares R, t8,
 * and what else it has. */
#define NEAR_SUPER_HEAD                                                                    \
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
    ".const k9 i64 -9223372036854775806\n.const k10 f64 4611686018427387904\n"             \
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
#define CSR R("[e0 e1] format 2 dense(0) compressed(1)")
#define CODE(body) ".code / begin t8 / " body "finish t8 / halt / "
#define ADD(v) "fn2 v0, add, f64, v0, " v " / "
/* A row of R, and its end. */
#define ROW "at c10, t8, 0, root, i0 / "
#define KEPT "keep t8, 0, c10 / "

/* Base operations, the faster tiers and threads agree about the program, whose lines end
 * with " / " (check_near_super.c). */
void near_super_judge(const near_case *c);

#endif
