/* check.h: what the suites share: the list of them, and helpers to run small
 * programs and scripts and to compare what comes out.
 *
 * A suite is one file check_NAME.c that defines suite_NAME; check_main.c runs
 * them all. Helpers fail the running test themselves.
 */
#ifndef TESTS_CHECK_H
#define TESTS_CHECK_H

#include "../formats/tensor.h"
#include "../include/stcvm.h"
#include <check.h>
#undef fail /* the context has one */

/* Check's own note where a test is at each assertion that holds, by a system call: loops
 * over elements would mostly do that. ck_ok notes it. */
#undef ck_assert
#undef ck_assert_msg
#define ck_assert(expr) ck_assert_msg(expr, "Assertion '%s' failed", #expr)
#define ck_assert_msg(expr, ...) ((expr) ? (void)0 : ck_abort_msg(__VA_ARGS__))

/* Builds that check each result when it is finished count that as work. */
#ifdef STC_SAN
enum { STEPS_TELL = false };
#else
enum { STEPS_TELL = true };
#endif

#define SUITES(SUITE)                                                                      \
    SUITE(types)                                                                           \
    SUITE(memory)                                                                          \
    SUITE(levels)                                                                          \
    SUITE(format)                                                                          \
    SUITE(tensor)                                                                          \
    SUITE(claims)                                                                          \
    SUITE(pack)                                                                            \
    SUITE(convert)                                                                         \
    SUITE(assembly)                                                                        \
    SUITE(functions)                                                                       \
    SUITE(numbers)                                                                         \
    SUITE(parser)                                                                          \
    SUITE(bind)                                                                            \
    SUITE(program)                                                                         \
    SUITE(machine)                                                                         \
    SUITE(verify)                                                                          \
    SUITE(unsafe)                                                                          \
    SUITE(damage)                                                                          \
    SUITE(io)                                                                              \
    SUITE(stt)                                                                             \
    SUITE(packed)                                                                          \
    SUITE(csv)                                                                             \
    SUITE(lines)                                                                           \
    SUITE(api)                                                                             \
    SUITE(api_decls)                                                                       \
    SUITE(structs)                                                                         \
    SUITE(builder)                                                                         \
    SUITE(iter)                                                                            \
    SUITE(lend_result)                                                                     \
    SUITE(refusals)                                                                        \
    SUITE(session)                                                                         \
    SUITE(texts)                                                                           \
    SUITE(opt)                                                                             \
    SUITE(rounds)                                                                          \
    SUITE(look)                                                                            \
    SUITE(network)                                                                         \
    SUITE(motifs)                                                                          \
    SUITE(masks)                                                                           \
    SUITE(ranges)                                                                          \
    SUITE(scripts)                                                                         \
    SUITE(gather)                                                                          \
    SUITE(rows)                                                                            \
    SUITE(grad)                                                                            \
    SUITE(graph)                                                                           \
    SUITE(schedule)                                                                        \
    SUITE(workspace)                                                                       \
    SUITE(columns)                                                                         \
    SUITE(threads)                                                                         \
    SUITE(split)                                                                           \
    SUITE(intervals)                                                                       \
    SUITE(pairs)                                                                           \
    SUITE(deterministic)                                                                   \
    SUITE(patterns)                                                                        \
    SUITE(merge)                                                                           \
    SUITE(slots)                                                                           \
    SUITE(lookup)                                                                          \
    SUITE(small)                                                                           \
    SUITE(flat)                                                                            \
    SUITE(streams)                                                                         \
    SUITE(faults)                                                                          \
    SUITE(bad)                                                                             \
    SUITE(data)                                                                            \
    SUITE(kernels)                                                                         \
    SUITE(host_levels)                                                                     \
    SUITE(host_policies)                                                                   \
    SUITE(join)                                                                            \
    SUITE(limits)                                                                          \
    SUITE(held)                                                                            \
    SUITE(host)                                                                            \
    SUITE(super)                                                                           \
    SUITE(sweep)                                                                           \
    SUITE(mutants)                                                                         \
    SUITE(near)                                                                            \
    SUITE(near_super)                                                                      \
    SUITE(near_rows)                                                                       \
    SUITE(near_threads)                                                                    \
    SUITE(strips)                                                                          \
    SUITE(terms)                                                                           \
    SUITE(early)                                                                           \
    SUITE(counted)                                                                         \
    SUITE(ends)                                                                            \
    SUITE(errors)                                                                          \
    SUITE(convolution)                                                                     \
    SUITE(visits)                                                                          \
    SUITE(blocks)                                                                          \
    SUITE(affine)                                                                          \
    SUITE(lanes)                                                                           \
    SUITE(made)                                                                            \
    SUITE(turns)                                                                           \
    SUITE(stops)                                                                           \
    SUITE(edited)                                                                          \
    SUITE(over)                                                                            \
    SUITE(calls)

#define SUITE(name) Suite *suite_##name(void);
SUITES(SUITE)
#undef SUITE

/* The path of a file of this process's, for a test to write and to remove. */
enum { SCRATCH_PATH = 64 };
const char *scratch(char path[SCRATCH_PATH], const char *name);

/* A context that counts what it holds; closing it checks that all came back. */
typedef struct heap {
    int64_t held;    /* bytes                                                   */
    int64_t calls;   /* allocations so far                                      */
    int64_t fail_at; /* the call to fail, and all after it if `lasting`; 0: none */
    bool lasting, failed;
} heap;
void *heap_alloc(void *context, void *block, size_t old, size_t size);
ctx *ctx_open(heap *h);
void ctx_close(ctx *cx, heap *h);

/* Does it with all memory there is, after it failed for want of memory in every
 * possible way: from the first allocation on, from the second one on, …; then and
 * between them nothing is held but what was before. */
void each_shortage(ctx *cx, heap *h, stc_status (*job)(ctx *cx, void *what), void *what);
/* A tensor of n entries with fill 0 and values 1, 2, …; coordinates entry by entry. */
tensor *tensor_of(ctx *cx, const char *format, stc_type type, int order,
                  const int64_t *shape, int64_t n, const int64_t *coords);

/* A machine on a counting heap. */
stc_machine *machine_open(heap *h, bool no_super);
void machine_shut(stc_machine *m, heap *h);
/* Threads for its runs, for loops of any size. */
void machine_share(stc_machine *m, int threads);
/* As on a processor without AVX2. */
void machine_plain(stc_machine *m);
/* Profiles for the programs that it compiles from here on. */
void machine_profile_runs(stc_machine *m);
/* Whether a profile tells of calls of that row of super.def or scatter.def. */
bool profile_has_row(const char *profile, const char *row);

/* Runs a script in a session, with and without superinstructions, and on threads; the named
 * tensor must then hold these elements, row-major, converted to double. */
void expect_dense(const char *script, const char *name, const double *want, int64_t n);
/* A script runs, in no more than so many steps: rounds of loops, on whatever tier. */
void expect_within(const char *script, uint64_t steps);

#define EXPECT(script, name, ...)                                                          \
    do {                                                                                   \
        const double want_[] = {__VA_ARGS__};                                              \
        expect_dense(script, name, want_, (int64_t)(sizeof want_ / sizeof *want_));        \
    } while (0)
/* A tensor of a session that is one real number. */
double session_number(stc_machine *m, stc_session *s, const char *name);
/* The plan that a session makes of a statement behind `declare` has all the words. */
void expect_plan(const char *declare, const char *text, const char *words);
/* Running it must fail with that status, and a message that has all the words
 * given (separated by |). */
void expect_error(const char *script, stc_status status, const char *words);
bool has_words(const char *text, const char *words);
/* Runs a script in a session that prints, and has to end with that status: what it printed,
 * and then its error's line and message, must be `want`. echo: it prints values too. */
void expect_printed(bool echo, const char *script, stc_status status, const char *want);

/* A statement that makes y, and what it runs after. */
typedef struct tiers_case {
    const char *declare, *text;
    const char *note; /* what runs its loops; NULL: no affine nest */
} tiers_case;
/* It gives on the tiers, without wide vectors and on two threads what base operations
 * give, twice each from the same operands; its loops run as the note says. */
void statement_agrees(const tiers_case *s);
/* Every allocation of a run in turn fails: the run is right nevertheless, or says so. */
void statement_starves(const tiers_case *s);

/* One element of any real type, from a dense array. */
double element(stc_type t, const void *base, int64_t k);
/* A small csr matrix [4,5] with 6 entries, and its dense elements. */
stc_tensor *sample_matrix(stc_machine *m, const char *name);
extern const double sample_dense[20];

/* The folder of the test data: STC_DATA, or ../shared/data, or the little in tests/data;
 * and whether a file is there: a test that needs it is skipped else, and that is said. */
const char *data_dir(void);
bool data_has(const char *file);
/* The directory of this project's own test files: STC_TESTS, or tests. */
const char *tests_dir(void);
/* The whole file, 0-terminated; NULL if it can't be read. */
char *read_text(const char *path, size_t *size);
/* The text of one of the project's own test files, whose parts blank lines part; the
 * next part, 0-terminated, and *at behind it; NULL: there are no more. */
char *read_parts(const char *name);
char *next_part(char **at);

/* Runs a program's text by base operations, on the faster tiers and on two threads, with
 * operands that are made for it; its result R is the same. words: what the dump with tiers
 * has, unless NULL (check_mutants.c). */
void tiers_agree(const char *what, const char *text, const char *words);

#define ck_ok(m, call)                                                                     \
    do {                                                                                   \
        const stc_status st_ = (call);                                                     \
        mark_point();                                                                      \
        ck_assert_msg(st_ == STC_OK, "%s: %s: %s", #call, stc_status_name(st_),            \
                      stc_error(m)->message);                                              \
    } while (0)
#define ck_ctx(cx, call)                                                                   \
    do {                                                                                   \
        const stc_status st_ = (call);                                                     \
        ck_assert_msg(st_ == STC_OK, "%s: %s: %s", #call, stc_status_name(st_),            \
                      (cx)->diag.message);                                                 \
    } while (0)

#endif
