/* session.h: what the session*.c files share.
 *
 * A session's variables are tensors by name. The scope that binding sees has
 * an entry for each of them, kept in step: format, type, fill and what was
 * declared. A variable may wait for its tensor: a source that is read or made
 * when a statement first uses the name, or a declaration that only an
 * assignment gives a shape to.
 *
 * The body of a def has variables and a scope of its own, a frame; while it runs, it
 * takes the place of the session's.
 */
#ifndef STC_SESSION_H
#define STC_SESSION_H

#include "../api/decl.h"
#include "../lang/names.h"

/* A statement that gave a variable its value, and those whose work it changed: what
 * derivatives are taken of. Times are generations of tensors. */
typedef struct tape {
    struct tape *prev; /* what it changed was made by this; NULL: it needs nothing of it */
    uint64_t made, before; /* when it ran; the value that it replaced, 0: none     */
    bool anew;             /* the target is all new, whatever it was               */
    bool cut;              /* what was before isn't known any more                 */
    int depth;
    int line, column; /* in its file; as many blanks are before the text      */
    const char *file, *text;
    size_t size; /* of all this */
} tape;

typedef struct variable {
    char *name;
    tensor *t;       /* NULL: not made yet, or never assigned               */
    bool lent;       /* the tensor is the caller's of a def                 */
    bool has_origin; /* made from this when first used                      */
    origin from;
    uint64_t born, before; /* generations of its value, and of the one before it   */
    tape *tape;            /* how it was made, if tape->made is born                */
} variable;

/* Scalars in a statement's subscripts and ranges: what is written there, its value, and
 * the integer in its place. */
enum { FIXED_MAX = 16 };
typedef struct fixed_place {
    const ast *e;
    ast *node, *sign;
    int64_t value;
} fixed_place;
typedef struct fixed {
    int n;
    fixed_place at[FIXED_MAX];
} fixed;

/* The operands of a statement's runs, by the program's numbers. */
typedef struct operands {
    variable **of;  /* theirs, and the target's, as long as no name comes or goes: */
    uint64_t named; /* the session's when they were found                          */
    tensor **asked; /* answers, which later runs get, too                          */
    tensor **made;  /* for one run: the variables take them when it has succeeded */
    tensor **known;
    bool *want;
    int64_t (*shape)[STC_MAX_ORDER];
    void *block;
    size_t size;
    int n;
} operands;

/* A statement compiled once for all its rounds in a loop. */
typedef struct prepared {
    struct prepared *next;
    const ast *key;
    program *p;
    machine *mc;
    int target;
    scope_tensor before;         /* the target's entry when it was compiled          */
    bool known_before;           /* … and whether there was one                      */
    uint64_t definitions, named; /* the session's when it was compiled            */
    bool waits;                  /* its plan depends on what tensors hold …       */
    uint64_t statistics;         /* … which was this                             */
    bool converts;               /* it has conversions of operands               */
    bool pure;                   /* the same operands give the same result       */
    uint64_t made;               /* when its result came about, 0: it has none   */
    fixed scalars;               /* the values that it was compiled for           */
    bool told;         /* its plan was (session_explain.c), and its run is yet to be */
    opt_looks *looks;  /* what its steps stored beside what was thought; may be NULL */
    bool stays;        /* its text is a def's: it serves later execs                 */
    uint64_t settings; /* the machine's when it was compiled                        */
    bool rest;         /* p begins with what a run had made by then: it serves once  */
    operands o;
} prepared;

/* What a variable's tensor was converted to. */
enum { TURNED_MAX = 8 };
typedef struct turned {
    const tensor *from;
    uint64_t generation; /* of from, then */
    tensor *made;
} turned;

/* Statements that give a derivative, for all rounds of a loop. */
typedef struct gradient {
    struct gradient *next;
    const ast *key;
    char *text;
    arena a;
    ast *tree;
} gradient;

/* A place in a text that was counted last. */
typedef struct place_seen {
    const char *text;
    int32_t at;
    int line;
} place_seen;

/* A text that was executed (session_texts.c), and its tree from the second time on. */
enum { TEXTS_KNOWN = 8, TEXT_MOST = 1 << 12 };
typedef struct known_text {
    char *text, *file; /* NULL: none                        */
    arena a;
    ast *tree;     /* in a; NULL: it isn't kept yet     */
    uint64_t used; /* when it was executed last         */
} known_text;

/* The names that statements see; how many rounds a loop has that doesn't tell. */
enum { ROUNDS_EXPECTED = 10 };
typedef struct frame {
    scope *sc;
    names vars;      /* of variable                                           */
    int waiting;     /* variables that have no tensor yet                     */
    const ast *loop; /* the innermost one that runs, NULL: none               */
    double rounds;   /* … and how many it has, as far as that is known        */
    char *last;      /* the name assigned last, NULL if none                  */
} frame;

typedef struct profiled profiled;

struct stc_session {
    stc_machine *m;
    stc_session *next, *prev;
    frame f;          /* of the def that runs, or the session's own              */
    int calls, depth; /* defs that are being called; blocks within each other */
    FILE *out;
    bool echo; /* an expression by itself prints its value           */
    int64_t echo_limit;
    int repeat;
    stc_times times;      /* as in stc_program                                 */
    uint64_t generation;  /* of the tensors it makes: never used twice       */
    uint64_t definitions; /* counts format and fn statements                 */
    uint64_t plans;       /* counts statements that were compiled                */
    uint64_t named;       /* counts changes of which names there are, and are scalars */
    prepared *cache;      /* of the running exec, and what stays                 */
    const ast *body;      /* of the def that runs, NULL: none                    */
    gradient *gradients;  /* of the running exec                             */
    turned turned[TURNED_MAX]; /* the oldest first                           */
    int nturned;
    opt_shelf shelf; /* of the running exec                                  */
    known_text texts[TEXTS_KNOWN];
    uint64_t executed; /* counts texts                                         */
    opt_skews skews;   /* what its statements' operands have in common         */
    place_seen seen;
    bool untaped;      /* what runs is a derivative: how it came about isn't kept */
    char file[256];    /* names the last text executed, for errors        */
    profiled *profile; /* of the running exec, with --profile: one row a statement */
    int64_t nprofiled, profile_cap;
    textbuf *told; /* what is planned, and what came of it; NULL: nobody asks */
    bool dry;      /* nothing runs                                           */
};

/* A text being executed, and those that include it. */
typedef struct script {
    source src;
    const char *dir; /* where the text's file is, NULL if it has none     */
    const ast *kept; /* its tree, if that stays when it has run; else NULL */
    int loops;       /* how many loops are around the statement           */
    int includes;
    bool more; /* statements follow, and no loop is around this one       */
    enum { FLOW_ON, FLOW_BREAK, FLOW_CONTINUE, FLOW_RETURN } flow; /* what runs next */
} script;

/* session.c */
variable *session_find(const stc_session *s, const char *name);
/* The tensor that a variable has by now, NULL: none (of: a stc_session). */
const tensor *session_known(const void *of, const char *name);
/* Finds or makes a variable; a new one has neither tensor nor scope entry. */
variable *session_var(stc_session *s, const char *name);
/* The variable's tensor is t (taken); the scope's entry follows. Can't fail:
 * variable and entry are there. */
void session_set(stc_session *s, variable *v, tensor *t);
/* The variable has no tensor and waits for none. */
void session_clear(stc_session *s, variable *v);
stc_status session_set_last(stc_session *s, const char *name);
void session_remove(stc_session *s, const char *name);
/* The variable's tensor, made now if it waits, or an error. */
stc_status session_tensor(stc_session *s, variable *v, tensor **out);
/* Readies the waiting variables that a statement uses: files are read, the
 * others get an order. */
stc_status session_resolve(stc_session *s, const ast *statement);

/* The tensor goes to a name, as in B = A: a declared one keeps its format, type and
 * fill. t is taken, also after an error, whose place is `at`. */
stc_status session_give(stc_session *s, const script *in, span at, const char *name,
                        tensor *t);
/* What was declared of a name, applied to a tensor that it is to have: *t may be another
 * one then. */
stc_status session_fit(stc_session *s, const script *in, span at, const char *name,
                       tensor **t);
/* Both, for `count` names and n results of a call that ended with `st`; without names the
 * last one goes to `_`, and at the prompt all are printed. What isn't kept is freed. */
stc_status session_hand_out(stc_session *s, script *in, const ast *call,
                            const ast *const *name, int count, tensor **t, int n,
                            stc_status st);
/* Room for a target: variable, scope entry and name, all that can fail. */
stc_status session_reserve(stc_session *s, const char *name, variable **v, bool *fresh);
/* A frame without names, whose definitions are those of `outer`; and its end. */
stc_status session_frame(stc_session *s, scope *outer, frame *out);
void session_frame_end(stc_session *s, frame *f);

/* session_run.c */
stc_status session_assign(stc_session *s, const script *in, const ast *statement);
/* What a scalar expression gives: whether it isn't 0; an integer (what: of what, for
 * errors). */
stc_status session_condition(stc_session *s, const script *in, const ast *expression,
                             bool *out);
stc_status session_integer(stc_session *s, const script *in, const ast *expression,
                           const char *what, int64_t *out);
stc_status session_scalar(stc_session *s, const script *in, const ast *expression,
                          stc_type *type, value *out);
/* What an expression by itself (N_VALUE) gives; *out is the caller's. */
stc_status session_value(stc_session *s, const script *in, const ast *node, tensor **out);
/* Frees what was prepared, but for what stays; at the end of an exec, all of it, or what is
 * more than a little. */
void session_forget(stc_session *s);
void session_forget_more(stc_session *s, bool all);

/* What was prepared of the statements in a tree. */
void session_forget_tree(stc_session *s, const ast *tree);

/* session_texts.c: a text that was executed before, NULL: it wasn't, or isn't kept; its
 * tree; one that may be executed again; one that isn't to be kept after all; all go */
known_text *session_text_known(stc_session *s, const char *text, const char *file);
stc_status session_text_parse(stc_session *s, known_text *k, const source *src, ast **tree);
void session_text_note(stc_session *s, const char *text, const char *file);
void session_text_pass(stc_session *s, known_text *k);
void session_texts_free(stc_session *s);

/* session_turned.c: what is kept of a tensor's conversions goes, and of all (NULL); a
 * prepared statement gets those it needs; what it has converted is kept. */
void session_turned_drop(stc_session *s, const tensor *from);
void session_turned_give(stc_session *s, const prepared *c);
void session_turned_take(stc_session *s, const prepared *c);

/* session_scalars.c: an assignment, condition or value with integers in place of the
 * scalars in its subscripts and ranges; their values now */
stc_status session_scalars(stc_session *s, const script *in, arena *a, const ast *n,
                           fixed *f, const ast **out);
stc_status session_values(stc_session *s, const script *in, fixed *f);

/* session_fixed.c: a declaration (N_TENSOR) whose scalars are numbers */
stc_status session_fixed(stc_session *s, const script *in, arena *a, const ast *n,
                         const ast **out);

/* session_asked.c: the answer to an operand that asks for it, a scalar: *out is made, or
 * has an earlier answer, and gets this one. */
stc_status session_asked(stc_session *s, const prog_tensor *row, tensor **out);

/* session_profile.c: a statement has run, and took so long; mc NULL: it was done already;
 * all rows as a text; none */
stc_status session_profiled(stc_session *s, const script *in, const ast *node,
                            const machine *mc, double us);
stc_status session_profile_print(const stc_session *s, textbuf *out);
void session_unprofile(stc_session *s);

/* session_exec.c */
stc_status session_exec(stc_session *s, script *in, const ast *list);
stc_status session_statement(stc_session *s, script *in, const ast *n);
/* An error without a place in a text gets that of the node. */
stc_status session_place(const script *in, const ast *n, stc_status st);
stc_status session_fail(const script *in, stc_status status, const ast *n,
                        const char *what);
/* The tensor that a node names, or an error with a suggestion. */
stc_status session_named(stc_session *s, const script *in, const ast *n, tensor **out);
/* A statement's place and text, on one line; the table of all rows. */
void session_place_print(const script *in, const ast *node, textbuf *out);
stc_status session_profile_table(const stc_session *s, textbuf *out);

/* session_explain.c: a statement was compiled; a script is planned, without running. */
void session_tell_plan(stc_session *s, const script *in, const ast *statement,
                       const explain_texts *texts);
stc_status session_plan_list(stc_session *s, script *in, const ast *list);
/* session_run.c, for that: a statement is compiled; what the scope said of its target is
 * kept in c, and put back. */
stc_status session_plan(stc_session *s, const script *in, const ast *statement,
                        prepared *c);
void session_plan_undo(stc_session *s, const prepared *c, const char *name);
/* session_exec.c: whether an assignment is compiled as it stands; a text is executed. */
bool session_compiles(const stc_session *s, const ast *n);
stc_status session_text(stc_session *s, const char *text, const char *file);
/* The folder of a file's path, without it NULL; freed by mem_strfree. */
stc_status session_folder(ctx *cx, const char *file, char **out);

/* session_loop.c: repeat, while, for, if */
stc_status session_flow(stc_session *s, script *in, const ast *n);
/* Whether the loop that runs leaves a name's tensor as it is (of: a stc_session). */
bool session_steady(const void *of, const char *name);

/* session_print.c */
stc_status session_print(stc_session *s, script *in, const ast *n);
stc_status session_assert(stc_session *s, script *in, const ast *n);
/* An expression by itself: at the prompt it prints its value, which `_` then is. */
stc_status session_echo(stc_session *s, script *in, const ast *n);

/* session_order.c: p(i) = order(x(i)), the permutation that sorts: whether a call is one,
 * and the statement. */
bool session_orders(const stc_session *s, const ast *call);
stc_status session_order(stc_session *s, const script *in, const ast *n);

/* session_tape.c: the statement that is to run, as it will stand on its target's tape
 * (out->t NULL: it stands there already); and the same when it has run. */
typedef struct taping {
    variable *v; /* of the target, as long as no name comes or goes */
    uint64_t named;
    tape *t;
} taping;
stc_status tape_begin(stc_session *s, const script *in, const ast *n, const char *name,
                      taping *out);
void tape_end(stc_session *s, const char *name, taping at);
void tape_free(ctx *cx, tape *t);

/* session_grad.c: grad(e, A, …), the derivatives of a scalar by tensors: whether a call is
 * one, the statement that gives them to names (by itself it shows them), and the
 * derivatives by themselves, which are the caller's. */
bool session_grads(const stc_session *s, const ast *call);
stc_status session_grad(stc_session *s, script *in, const ast *call, const ast *const *name,
                        int count);
stc_status session_derive(stc_session *s, script *in, const ast *call, const ast *e,
                          const char *const *by, int n, tensor **out);
/* session_walk.c: the statements that e follows from by way of `by`, as the text of those
 * that give the derivatives, and their results' names; all in a. */
stc_status session_walk(stc_session *s, script *in, arena *a, const ast *e,
                        const char *const *by, int n, textbuf *text, const char **result);

/* session_def.c */
/* Another frame takes the place of the session's; a tensor lent to a name in it (or given).
 */
void session_swap(stc_session *s, frame *f);
stc_status session_lend(stc_session *s, const char *name, tensor *t, bool lent);
/* The derivatives of what a def gives by some of its arguments. */
stc_status session_derive_call(stc_session *s, script *in, const ast *call,
                               const char *const *by, int n, tensor **out);
/* Whether a call is one of a def; and the call, whose results go to names. */
bool session_calls_def(const stc_session *s, const ast *call);
stc_status session_call(stc_session *s, script *in, const ast *call, const ast *const *name,
                        int count);

#endif
