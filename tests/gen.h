/* gen.h: random cases. One generator, features that can be switched, and
 * counts of what came out.
 *
 * A statement is made right side first: expressions draw on a pool of indices
 * with extents, and each new access makes the tensor that fits it; then the
 * left side takes some of the indices that a bare subscript gave a range to.
 * What could meet a property taken at its word (zero divisors, 0 * inf) is
 * kept rare, and poisoned by the oracle where it happens.
 */
#ifndef TESTS_GEN_H
#define TESTS_GEN_H

#include "case.h"

/* FEATURE(NAME, "name", percent of the cases that have it) */
#define FEATURES(FEATURE)                                                                  \
    FEATURE(AFFINE, "affine", 12)                                                          \
    FEATURE(CONVOLVE, "convolve", 8)                                                       \
    FEATURE(SLICE, "slice", 10)                                                            \
    FEATURE(PAD, "pad", 6)                                                                 \
    FEATURE(REDUCE, "reduce", 25)                                                          \
    FEATURE(NESTED, "nested", 8)                                                           \
    FEATURE(TERMS, "terms", 40)                                                            \
    FEATURE(OPASSIGN, "opassign", 15)                                                      \
    FEATURE(PARTIAL, "partial", 8)                                                         \
    FEATURE(REPEAT, "repeat", 15)                                                          \
    FEATURE(FILL, "fill", 20)                                                              \
    FEATURE(MATH, "math", 20)                                                              \
    FEATURE(LOGIC, "logic", 20)                                                            \
    FEATURE(BITS, "bits", 12)                                                              \
    FEATURE(SELECT, "select", 12)                                                          \
    FEATURE(DIVIDE, "divide", 12)                                                          \
    FEATURE(COMPLEX, "complex", 6)                                                         \
    FEATURE(INDEX, "index", 8)                                                             \
    FEATURE(USER, "user", 8)                                                               \
    FEATURE(LEND, "lend", 20)                                                              \
    FEATURE(BLOCKS, "blocks", 10)                                                          \
    FEATURE(KINDS, "kinds", 15)                                                            \
    FEATURE(DECLARED, "declared", 50)                                                      \
    FEATURE(SHAPES, "shapes", 15) /* extents of 0 and 1 */                                 \
    FEATURE(ROUGH, "rough", 15)   /* floats that don't add exactly */                      \
    FEATURE(LARGE, "large", 4)    /* one index of a thousand or more */                    \
    FEATURE(SCHEDULE, "schedule", 10)                                                      \
    FEATURE(BROADCAST, "broadcast", 6)                                                     \
    FEATURE(CHAIN, "chain", 12)                                                            \
    FEATURE(FLAT, "flat", 8) /* modes that share levels, one map for most tensors */       \
    FEATURE(GATHER, "gather", 8)                                                           \
    FEATURE(WHERE, "where", 8)                                                             \
    FEATURE(NEST, "loops", 10)

enum {
#define FEATURE(NAME, text, percent) FEATURE_##NAME,
    FEATURES(FEATURE)
#undef FEATURE
        FEATURE_COUNT
};

/* Sets of features: bit k for feature k. */
#define FEATURE_BIT UINT64_C(1)
#define ALL_FEATURES (~UINT64_C(0))

const char *feature_name(int k);
int feature_percent(int k);

typedef struct gen {
    fcase *c;
    uint64_t state;
    uint64_t allowed, forced; /* features                                     */
    int nindex;               /* the pool: i, j, k, l, m                      */
    int64_t extent[6];
    bool bare[6]; /* some access gives it its range               */
    bool used[6];
    int bound[12], nbound; /* bound by reductions around: pool-like ids    */
    int64_t bound_extent[12];
    bool bound_bare[12];
    char bound_name[12][8];
    int names;    /* bound names made so far                      */
    int domain;   /* what numbers are about: D_                   */
    bool meets;   /* several terms may go to an element           */
    bool runs;    /* most tensors are of runs                     */
    bool stacked; /* … or of blocks below a nonunique level      */
    int wide;     /* percent of LARGE cases that have several long indices */
    int depth;
    char map[CASE_ORDER + 1][sizeof((cformat *)0)->text]; /* FLAT: of each order          */
    const char *format; /* that the next operand has; NULL: any */
    const char *user;   /* the function that is called: the text's, or the host's */
    int user_params;
    int left[6], nleft; /* the indices of the left side                 */
} gen;

enum { D_BOOL, D_INT, D_UINT, D_REAL, D_SINGLE, D_COMPLEX, D_MIXED, D_COUNT };
/* What an expression is wanted for. */
typedef enum want { WANT_NUMBER, WANT_REAL, WANT_INT, WANT_BOOL } want;

/* wide: percent of the LARGE cases that have sizes at which the fast tiers run. */
void gen_case(fcase *c, uint64_t seed, uint64_t allowed, uint64_t forced, int wide);

/* gen.c */
uint64_t gen_next(gen *g);
int gen_below(gen *g, int n); /* 0 … n-1 */
bool gen_chance(gen *g, int percent);
bool gen_has(const gen *g, int feature);
void gen_say(char *to, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4))); /* appends */

/* gen_data.c */
oval gen_value(gen *g, stc_type t);
oval gen_fill(gen *g, stc_type t);
stc_type gen_type(gen *g, want w);
void gen_entries(gen *g, ctensor *t);

/* gen_format.c */
void gen_format(gen *g, int order, const int64_t *shape, bool result, cformat *out);
void gen_format_found(gen *g, int order, cformat *out);

/* gen_expr.c */
void gen_expr(gen *g, want w, int depth, char *out, size_t size);
void gen_access(gen *g, want w, char *out, size_t size);
/* The name of some index as a bare subscript, which gives it its range: its extent. And of
 * one that has a range; false: none was found. */
int64_t gen_bare(gen *g, char *out, size_t size);
bool gen_ranged(gen *g, char *out, size_t size);
/* Takes t, named and shaped, for the next operand: draws the rest of it. */
void gen_operand(gen *g, want w, ctensor *t);

/* gen_convolution.c: a term; the order of its loops, if it's all of the statement. */
void gen_convolution(gen *g, want w, char *out, size_t size);
void gen_window_order(gen *g, char *out, size_t size);

/* gen_chain.c: a term that reduces a product of several operands. */
void gen_chain(gen *g, want w, char *out, size_t size);

/* gen_nest.c: a product as nests of loops have it; extents at which their rounds are strung
 * together. */
void gen_nest(gen *g, want w, char *out, size_t size);
void gen_nest_pool(gen *g);

/* gen_gather.c: an access at subscripts that are computed; a subscript, and the size that
 * holds all it may be. */
void gen_gather(gen *g, want w, char *out, size_t size);
int gen_computed(gen *g, char *out, size_t size);

/* gen_schedule.c: indices are called names[0], names[1], … */
void gen_schedule(gen *g, const char *names, char *out, size_t size);

#endif
