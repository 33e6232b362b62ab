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
/* Ends the process by a signal when it has computed for so many seconds from now on: a
 * hang is a failure. By the wall's clock (threads that wait for each other don't compute)
 * it has 15 times as long, as it may be stopped, or have little of a busy machine. */
void fuzzing_patience(int seconds);
/* Whether there is time left. Each call gives the next try a minute. */
bool fuzzing_on(const fuzzing *f);

/* An stc_alloc_fn whose context is an int64_t: the bytes that are held. */
void *fuzzing_alloc(void *context, void *block, size_t old, size_t size);

/* Changes 1 to 4 places: bits, bytes, pieces taken out, doubled or put elsewhere,
 * extreme numbers in binary. Never longer than `room`; gives the new size. */
size_t fuzzing_damage(gen *g, unsigned char *bytes, size_t size, size_t room);
/* Puts the sums of a damaged .stt, .npz or .gz file right. */
void fuzzing_sums(unsigned char *bytes, size_t size);

/* What is wrong with a tensor that the library made, or NULL: its levels are checked
 * afresh, it is converted on and back, printed and read. What a limit stops is passed
 * over. */
const char *fuzzing_unsound(gen *g, const stc_tensor *t);
bool fuzzing_is_single(stc_type type);
/* What two results of one statement differ in, or NULL. `single`: values of single
 * precision took part, so that sums may be rounded as theirs; `scale`: magnitudes that
 * may have cancelled. */
const char *fuzzing_differ(const stc_tensor *a, const stc_tensor *b, bool single,
                           double scale);
/* The largest magnitude of a float in t; 0: none, or t is too large to look at. */
double fuzzing_largest(const stc_tensor *t);

/* How a machine runs what is compiled from now on. */
enum { TIER_ALL, TIER_BASE, TIER_PLAIN, TIER_THREADS, TIERS };
void fuzzing_tier(stc_machine *m, int tier);

#endif
