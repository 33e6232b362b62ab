/* fuzzing.h: what the fuzzers of damaged input share: options, the clock, an
 * allocator that knows what is held, damage to bytes.
 */
#ifndef TESTS_FUZZING_H
#define TESTS_FUZZING_H

#include "gen.h"

typedef struct fuzzing {
    double seconds;
    uint64_t seed;
    double until; /* by fuzzing_now */
    gen g;
    fcase none; /* g draws for no case */
} fuzzing;

/* From the command line: [SECONDS [SEED]] [--seconds N] [--seed N]; seed 0 is
 * the clock's. The clock starts. */
void fuzzing_begin(fuzzing *f, int argc, char **argv);
double fuzzing_now(void);
/* Whether there is time left. Each call gives the next try a minute: a hang is a
 * failure too. */
bool fuzzing_on(const fuzzing *f);

/* An stc_alloc_fn whose context is an int64_t: the bytes that are held. */
void *fuzzing_alloc(void *context, void *block, size_t old, size_t size);

/* Changes 1 to 4 places: bits, bytes, pieces taken out, doubled or put elsewhere,
 * extreme numbers in binary. Never longer than `room`; gives the new size. */
size_t fuzzing_damage(gen *g, unsigned char *bytes, size_t size, size_t room);

#endif
