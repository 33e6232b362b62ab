/* outer.h: nests that store one value a lane, run a row of lanes at a time, with the
 * loops inside taken round by round for all lanes at once.
 *
 *     for i                           for i
 *       for j                           for p, q            one round: a few
 *         t = 0            ==>            t[j] += A(2i+p, 2j+q)   operations on rows
 *         for p, q                      C(i, j) = t[j]
 *           t += A(2i+p, 2j+q)
 *         C(i, j) = t
 *
 * Windows of pooling, filters and stencils are short, and rows are long: so lanes run
 * along the innermost loop that stores (outer-loop vectorization: Nuzman and Zaks, PACT
 * 2008). Each lane still sees its rounds in their order: nothing is reassociated, and any
 * function will do. What is read moves by a fixed step from lane to lane; where that is
 * one, columns are the operand's own memory.
 *
 * Levels that aren't ranges are written out, a fiber as a row of values and of what is
 * there, or of positions (outer_lines.c). Loops that don't visit everything do their
 * rounds for the lanes that are visited, and leave the others as they were: so sums over
 * what is stored are right for any fill. It pays where that is a fair part of all; whether
 * it does is asked in each run, and otherwise the loops go the way they would without.
 */
#ifndef STC_VM_OUTER_H
#define STC_VM_OUTER_H

#include "../affine/affine.h"
#include "../strips/strip.h"

#ifdef STC_SAN
enum { OUTER_LONG = 4 };
enum { OUTER_LANES = 12, OUTER_FEW = 1, OUTER_ALWAYS = 1 }; /* small cases get there, too */
enum { OUTER_EDGE = 2 };
#else
enum { OUTER_LONG = 256 }; /* putting off pays in longer rows, or recorded ones */
enum { OUTER_LANES = 1024, OUTER_FEW = 16, OUTER_ALWAYS = 0 }; /* fewer aren't worth it */
enum { OUTER_EDGE = 16 };                                      /* lanes without elements at once */
#endif
enum { OUTER_OPS = 96, OUTER_VALUES = 48, OUTER_OPERANDS = 8, OUTER_LINES = 8 };
enum { OUTER_STEPS = 16, OUTER_TRIES = 8 }; /* of a recorded row; how often it may fail */
enum { OUTER_TERMS = 4 }; /* of a fold at once                           */
/* Bytes of a column: they lie apart by no power of two, which would crowd them into a few
 * sets of a cache. */
enum { OUTER_COLUMN = OUTER_LANES * sizeof(value) + 5 * 64 };

/* What happens, in the program's order. */
typedef enum outer_kind {
    OUTER_LOOP,   /* number a; its body ends before op `end`               */
    OUTER_CONST,  /* value `to` = constant a                               */
    OUTER_EXTENT, /* … extent a                                            */
    OUTER_MOV,    /* … arg[0]                                              */
    OUTER_LOAD,   /* … tensor a at place b                                 */
    OUTER_FN,     /* … fn in class fn_cls of arg[0 … nargs)                */
    OUTER_CONV,   /* … arg[0] from class fn_cls                            */
    OUTER_WRAP,   /* … arg[0] through element type a                       */
    OUTER_STORE,  /* tensor a at place b = arg[0]                          */
    OUTER_ACC,    /* tensor a at place b = fn(it, arg[0])                  */
} outer_kind;
/* A row of outer_fold.def, and which one was looked for. */
typedef struct outer_fold outer_fold;
typedef struct outer_memo {
    const outer_fold *row;
    int16_t join;
    uint8_t type;
    bool known;
} outer_memo;

typedef struct outer_op {
    uint8_t kind, cls, fn_cls, nargs;
    bool carried; /* `to` has a value from outside the loop that this is in */
    bool sinks;   /* a function whose value the next op stores, and nobody else reads */
    bool waits;   /* a function that can be put off, */
    bool turns;   /* and gives the same with its operands exchanged */
    uint8_t dies; /* arguments that nobody reads after it, as bits */
    outer_memo memo[2]; /* what joins, what folds */
    int16_t fn;
    uint16_t to, arg[3], a, b, end;
    uint8_t arg_cls[3];
    fn_array array; /* of fn */
    fn_scalar scalar;
} outer_op;

/* What lanes of a merge have in common: how their masks come from its operands'. */
typedef enum outer_pattern {
    OUTER_UNKNOWN,
    OUTER_NONE,
    OUTER_ALL,
    OUTER_ANY,
    OUTER_EACH,
    OUTER_TABLE
} outer_pattern;

typedef struct outer_loop {
    loop *l;
    int around; /* the loop around it; -1: none                               */
    int count;
    uint8_t operand[OUTER_OPERANDS]; /* places; 0: subsections                 */
    bool always;                     /* it visits all of its range             */
    bool any;                        /* … what some operand has                */
    bool inner;                      /* there is no loop in it                 */
    bool partial;                    /* it visits subsections, and only those  */
    bool either;                     /* … or what another operand has          */
    /* One run. */
    int64_t lo, hi;
    bool whole;   /* what it doesn't visit would store the fill                */
    bool neutral; /* … changes nothing                                         */
    int nplace;
    uint8_t place[LINEAR_PLACES]; /* that move with it                         */
    /* the pattern that was found last, of which bits are sure and which vary */
    uint64_t sure, vary;
    outer_pattern pattern;
    uint8_t table[1 << OUTER_OPERANDS];
} outer_loop;

/* Fibers of one level, written out. */
typedef struct outer_lines {
    const level *lv;
    const tensor *t;
    bool last;     /* its positions are values: a line has those, and what is there */
    int nplace;    /* that may stand on one of its lines                        */
    int64_t lo, n; /* coordinates lo … lo + n - 1                               */
    int64_t ways, *parent; /* which fiber each line is of; NONE                  */
    size_t width, size;    /* bytes of an element; of a line                    */
    char *data;
    void *block;
    size_t block_size;
} outer_lines;

/* A place: lane x is at base + step * x, if that is in [from, to) and there. */
typedef struct outer_stand {
    const level *lv; /* NULL: a cursor that stands, or the root               */
    const tensor *t;
    affine_line line;
    bool range, leaf, sparse; /* leaf: of the tensor's last level; sparse: a level
                                 of its chain isn't a range                    */
    int64_t lo, hi;
    outer_lines *lines;
    uint16_t up;
    int64_t base, step, from, to;
    int64_t parent;       /* of the line that it stands on */
    bool moving;          /* with the loop around the lanes, or one further in */
    const uint8_t *there; /* by position; NULL: all are                        */
    const void *vals;     /* NULL: the tensor's                                */
} outer_stand;

/* Elements at a step: that of lane `from` is at x, and there are some up to lane `to`;
 * other lanes, few, have the fill. Each is joined with c. */
typedef struct outer_term {
    const void *x;
    int from, to;
    value fill, c;
    /* outer_replay.c: what x moves by from row to row; a line's parent, and where in it */
    int64_t by_row;
    struct outer_lines *lines;
    int64_t offset, parent, parent_by_row;
} outer_term;

/* A value that is put off: terms folded and joined as the row says, from `first` (at NULL:
 * `one` in all lanes) on. No row: the elements of a term. */
typedef struct outer_late {
    const outer_fold *row;
    outer_term first;
    value one;
    int64_t by;
    int n;
    uint8_t type; /* of elements */
    outer_term term[OUTER_TERMS];
} outer_late;

/* A step of a row, recorded: what was put off, or a function of columns. */
typedef struct outer_step {
    const outer_op *fn;     /* NULL: `late` */
    const outer_op *stored; /* NULL: `out` is a column */
    void *out;
    int64_t at, at_by_row; /* in the result */
    outer_late late;       /* fn: its arguments are the terms */
} outer_step;

typedef struct outer {
    super base;
    /* What the program says. */
    int nloop, nop, nvalue, nplace, lane; /* lane: the loop that lanes run along */
    outer_loop loop[AFFINE_INDICES];
    outer_op op[OUTER_OPS];
    uint16_t reg[OUTER_VALUES]; /* of the program; values that aren't written here
                                   are taken from there                        */
    bool given[OUTER_VALUES];
    uint16_t column[OUTER_VALUES]; /* where lanes of a value go; some share one   */
    uint8_t cls[OUTER_VALUES];
    int ncolumn;
    uint64_t load_columns; /* that only loads write, only constants */
    uint64_t const_columns;
    linear_place place[LINEAR_PLACES];
    bool subsections; /* some loop is partial,                               */
    uint16_t partly;  /* … over this tensor                                  */
    bool faults;      /* some function may                                   */
    /* One run. */
    outer_stand stand[LINEAR_PLACES];
    outer_lines lines[OUTER_LINES];
    int nlines;
    double all;   /* rounds of all loops                                         */
    bool partial; /* whether a lane is visited is known after the loops inside */
    int64_t at[AFFINE_INDICES];
    int64_t x;      /* the first lane of the row's part that is worked on, */
    int n;          /* and how many they are                               */
    int64_t rounds; /* not counted yet                                 */
    int64_t fibers; /* written out                                     */
    vcolumn value[OUTER_VALUES];
    uint16_t owner[OUTER_VALUES]; /* the value that wrote to a column last */
    bool put_off[OUTER_VALUES];
    outer_late late[OUTER_VALUES];
    uint64_t late_reads; /* columns that these may read           */
    vcolumn one;         /* what a fold begins with, in all lanes */
    uint8_t one_cls;
    bool wide;   /* vectors of 32 bytes */
    bool steady; /* rows may be recorded: nothing is left out     */
    bool replaying;
    bool recording;   /* … and this one is                             */
    int tries, nstep; /* how often recording may fail                  */
    int64_t room;     /* rows for which that holds                     */
    int64_t row_rounds;
    outer_step step[OUTER_STEPS];
    uint8_t *mask[AFFINE_INDICES]; /* of each loop's round: bytes, 0 or 1 */
    uint8_t *bits[OUTER_OPERANDS]; /* of operands that vary               */
    uint8_t *seen, *stored;        /* lanes in whose subsections something is; that
                                      are stored                          */
    void *scratch;                 /* a column of any class               */
    int64_t *index;
    void *block;
    size_t block_size;
} outer;

/* Loop l and all inside it; *out stays NULL if it isn't such a nest. */
stc_status outer_fuse(machine *mc, loop *l, const value_reads *reads, super **out);

/* outer_share.c: gives each value its column. */
void outer_share(outer *o);

/* outer.c */
stc_status outer_run(machine *mc, super *base);
void outer_free(machine *mc, super *base);

/* outer_place.c: what places are in this run; false: not such that lanes can read them.
 * Those that move with loop d (-1: with none). */
bool outer_places_prepare(machine *mc, outer *o);
void outer_places_move(const machine *mc, outer *o, int d);

/* outer_lines.c: lines of level lv of t; NULL: not this way. Room for all that were asked
 * for since `begin`; false: there is none. The line below position `parent`, of values or
 * of positions; and what is there of values. */
outer_lines *outer_lines_of(outer *o, const tensor *t, const level *lv);
bool outer_lines_ready(machine *mc, outer *o);
void outer_lines_begin(outer *o);
const void *outer_line(outer *o, outer_lines *lines, int64_t parent, const uint8_t **there);
/* Whether that is still the line of `parent`. */
bool outer_line_is(const outer_lines *lines, const char *line, int64_t parent);
void outer_lines_release(machine *mc, outer *o); /* long ones, after a run */
void outer_lines_free(machine *mc, outer *o);

/* outer_mask.c: the lanes that a round of loop d visits, of those in `in` (NULL: all);
 * false: none. A loop around the lanes' visits all or none. */
bool outer_visits(outer *o, int d, const uint8_t *in, const uint8_t **out);
/* Whether a loop makes a round where so many of its operands are. */
bool outer_makes(const merge_desc *m, uint64_t present);

/* outer_eval.c: op k, which isn't a loop, for the lanes in `in`; SUPER_REPLAY: something
 * faults, and base operations are to say what. */
stc_status outer_eval(machine *mc, outer *o, const outer_op *x, const uint8_t *in);

/* Places at … at + n - 1 of a result; written: all of them are, now. */
stc_status outer_have_places(machine *mc, slot *r, int64_t at, int64_t n, bool written);

/* Op x and the next one, which stores it, at once; false: not this time. */
bool outer_sink(machine *mc, outer *o, const outer_op *x, const uint8_t *in,
                stc_status *st);

/* outer_fold.c: whether there is a kernel that takes function fn. Op x, two arguments for
 * all lanes, put off; false: it is to be done now. Value v, which is elements. */
bool outer_fold_has(int fn);
bool outer_put_off_function(outer *o, const outer_op *x);
void outer_put_off_load(outer *o, int v, const outer_term *x, int64_t by, stc_type type);
/* The elements that value v is, where they are, all lanes side by side; or NULL. */
const outer_term *outer_in_place(const outer *o, int v);
/* The column of value v, to be written; what reads it yet is worked out before. */
void *outer_column(outer *o, int v);
/* Lanes of a value, worked out if it was put off; NULL: one value for all. */
const void *outer_read(outer *o, int v);
/* What is put off, worked out in v's column, or where `out` says; what is in a line that is
 * written over is left in columns. At the end of a row's part, nothing is waited for. */
void outer_settle(outer *o, int v);
void outer_settle_at(outer *o, int v, void *out);
void outer_late_at(outer *o, const outer_late *x, void *out);
void outer_leave_line(outer *o, const char *line, size_t size);
void outer_forget(outer *o);

/* outer_replay.c: a row is recorded, if it may be: begins; a term that place k has, one
 * value that it has; what is put off, worked out; a function; the last step stored. */
void outer_record(outer *o);
void outer_record_term(outer *o, int k, outer_term *x, size_t size);
void outer_record_one(outer *o, int k);
void outer_record_late(outer *o, int v, void *out);
void outer_record_fn(outer *o, const outer_op *fn, const void *const *arg, void *out);
void outer_record_store(outer *o, const outer_op *store);
/* Rows after the recorded one, at most so many; *done: so many were. */
stc_status outer_replay(machine *mc, outer *o, int64_t most, int64_t *done);

/* outer_lane.c: n elements, `by` apart, from vals[at] on; columns of a class. */
void outer_load(stc_type t, void *out, const void *vals, int64_t at, int64_t by, int n);
/* Bytes in[0], in[by], … */
void outer_bytes(uint8_t *out, const uint8_t *in, int64_t by, int64_t n);
/* out = in where the mask is set. */
void outer_choose(size_t size, void *out, const void *in, const uint8_t *set, int n);
/* Bytes: out |= a, out &= a. */
void outer_or(uint8_t *out, const uint8_t *a, int n);
void outer_and(uint8_t *out, const uint8_t *a, int n);

#endif
