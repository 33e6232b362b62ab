/* fuzz_stb.h: what the parts of fuzz_stb share: damage to a program's printed form, and
 * runs of one damaged program on every tier.
 */
#ifndef TESTS_FUZZ_STB_H
#define TESTS_FUZZ_STB_H

#include "fuzzing.h"

/* A program, as the bytes of a .stb file or as assembly text that ends in 0. */
typedef struct mutant {
    char *data;
    size_t size;
    bool text;
} mutant;

typedef struct tally {
    uint64_t tried, refused, accepted, finished, compared, converted, planned, failed;
    uint64_t found; /* ran a plan of its file's for other data than the program's */
} tally;

/* What is damaged: anything, or what one claim of the verifier is about. */
typedef enum family {
    FAMILY_ANY,
    FAMILY_KEEP,
    FAMILY_SUBSECT,
    FAMILY_NOTATION,
    FAMILY_PLANS
} family;

/* The extents of operands that programs are planned for. */
enum { MANY_SIZE = 16 };

/* Binds operands of so many entries that plans are made for them, extents being `same`. How
 * many it has made: held. */
int bind_many(stc_machine *m, stc_program *p, uint64_t seed, int64_t same,
              stc_tensor *held[64]);

/* Damages assembly text by whole lines: out, twice, elsewhere, thousands of times, or
 * with another operand. A new text, to be freed. */
char *damage_lines(gen *g, const char *text, family of);

/* Loads the mutant, and runs what is accepted on every tier and on threads, with operands
 * that `seed` makes: results are well-formed, convert to other formats, and are the
 * same on all of them. Failures are printed, and counted. */
void judge_mutant(const mutant *x, uint64_t seed, tally *t);

#endif
