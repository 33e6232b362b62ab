/* case.h: one test of the whole system: tensors, definitions, one statement.
 *
 * A case is plain data without pointers into the system, so that it can be
 * printed as a script, shrunk by editing, run in several ways (by the API with
 * and without superinstructions, through .stb bytes, by a session, as a
 * script), and handed to the oracle.
 */
#ifndef TESTS_CASE_H
#define TESTS_CASE_H

#include "oracle.h"

enum { CASE_TENSORS = 10, CASE_ORDER = 4, CASE_LEVELS = 8 };

/* A format whose arrays can be built by hand and lent: dense levels, then one
 * compressed level, then singletons, then dense ones again. */
typedef struct craw {
    bool possible;
    int levels, dense, below; /* the first `dense` are, and `below` behind the others */
    int mode[CASE_LEVELS];
    bool nonunique, unordered, interleaved; /* duplicates; no order; one buffer */
    bool wide; /* 64-bit indices                              */
} craw;

typedef struct cformat {
    char text[240]; /* "" for none: chosen by the system           */
    craw raw;
} cformat;

typedef struct ctensor {
    char name[8];
    cformat format;
    stc_type type;
    int order;
    int64_t shape[CASE_ORDER];
    bool has_fill;
    oval fill;
    bool has_data;  /* an operand, or a target with old values     */
    bool lend;      /* arrays built by hand, duplicates kept       */
    bool declared;  /* a result with declared format, type, fill   */
    bool shaped;    /* … and shape: needs a session                */
    uint64_t seed;  /* of the arrangement of lent arrays           */
    int64_t n;      /* entries                                     */
    int64_t *coord; /* n × order                                   */
    oval *value;
} ctensor;

typedef struct fcase {
    ctensor t[CASE_TENSORS];
    int count;
    char defs[1200]; /* fn definitions                              */
    char stmt[1600];
    char target[8];
    bool scheduled;    /* it may be refused: an impossible schedule is an error */
    uint64_t features; /* bits of gen.h */
    int wide;          /* 0, or how long its long indices are */
    uint64_t seed;
} fcase;

enum {
    RUN_NOSUPER = 1,
    RUN_STB = 2,         /* encoded and decoded again before it runs             */
    RUN_SESSION = 4,     /* declared and executed in a session                   */
    RUN_SCRIPT = 8,      /* the printed script, operands too                     */
    RUN_AGAIN = 16,      /* it runs on other data before, and once more after    */
    RUN_THREADS = 32,    /* loops are shared, however little there is to do      */
    RUN_AS_WRITTEN = 64, /* no reduction is taken earlier than the text says     */
    RUN_PARTS = 128,     /* in parts by some index, if that can be (in_parts.h)     */
};

typedef struct outcome {
    stc_status status;
    char message[800];
    bool present;
    stc_type type;
    int order;
    int64_t shape[STC_MAX_ORDER], count, stored;
    stc_value fill;
    void *dense;
    bool *stored_at; /* of each element */
    char format[160];
    uint64_t leak; /* bytes held after everything was freed       */
} outcome;

typedef enum cverdict { CASE_PASS, CASE_FAIL, CASE_REFUSED, CASE_UNSURE } cverdict;

void case_free(fcase *c);
bool case_copy(const fcase *from, fcase *to);
ctensor *case_tensor(fcase *c, const char *name);
/* Sets the entries: takes both arrays. */
void ctensor_entries(ctensor *t, int64_t n, int64_t *coord, oval *value);
/* A script that reproduces the case; the caller frees it. */
char *case_script(const fcase *c, const char *note);

/* case_run.c: on a machine of its own, or on one that goes on living (out->leak is
 * then not known, and RUN_NOSUPER is the machine's). */
void case_run(const fcase *c, unsigned how, outcome *out);
void case_run_on(stc_machine *m, const fcase *c, unsigned how, outcome *out);
void outcome_free(outcome *o);
/* The ways that suit the case; at most 8. */
int case_ways(const fcase *c, unsigned *how);

/* An allocator that counts: an stc_alloc_fn whose context is a case_heap. */
typedef struct case_heap {
    int64_t held;            /* bytes                                         */
    uint64_t calls, fail_at; /* allocations; the one that fails, 0: none      */
} case_heap;
void *case_alloc(void *context, void *block, size_t old, size_t size);
/* A machine on such a heap, with the limits, level kinds and functions of the cases. */
stc_status case_machine(case_heap *h, unsigned how, stc_machine **out);

/* host_levels.c: the level kinds `hosted` and `walked` for this machine. */
stc_status host_levels_register(stc_machine *m);

/* host_policies.c: the policy `lined` of workspaces for this machine. */
stc_status host_policies_register(stc_machine *m);

/* host_functions.c: functions of the host's for this machine; one of those with such
 * operands and results (STC_I64, STC_U64, STC_F64); those that the text names, for the
 * oracle. */
stc_status host_functions_register(stc_machine *m);
const char *host_function_of(stc_type type, int which);
void host_functions_define(oworld *w, const char *text);

/* case_check.c: what the oracle makes of it, and whether they agree. */
typedef struct judged {
    cverdict verdict;
    char why[1200];
    int64_t elements, poisoned; /* compared, and not compared                 */
    int64_t places;             /* of which it was compared whether they are stored */
    char result_format[160];
} judged;
bool case_world(const fcase *c, oworld *w);
void case_judge(const fcase *c, unsigned how, judged *out);

/* case_build.c */
typedef struct lent {
    void *block[CASE_LEVELS * 2 + 1];
    int count;
} lent;
void lent_free(lent *l);
stc_status case_build(stc_machine *m, const ctensor *t, lent *l, stc_tensor **out);

#endif
