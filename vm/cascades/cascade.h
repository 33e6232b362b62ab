/* cascade.h: strips across any number of loops.
 *
 * Each loop of a tree of loops is a stage. The lanes of a stage's strip expand
 * into a string of elements of the loop inside, `row` telling the lane of each;
 * the body of that loop is evaluated over the string, and so on inwards. What a
 * loop reduces is folded back by row. So every loop costs by the element and
 * none by the fiber: columnar evaluation of the tree of iterations.
 *
 * An innermost loop may run by a kernel of super.def, for all lanes of the loop around.
 */
#ifndef STC_VM_CASCADE_H
#define STC_VM_CASCADE_H

#include "../nest/fibers.h"
#include "../super/nest.h"

enum { STAGE_MAX = 12, WALK_MAX = MERGE_TABLE_MAX };

typedef struct stage stage;
typedef struct cascade cascade;
typedef struct window window; /* cascade_window.c */

/* An operand that is walked: below each lane of the stage around, a fiber. */
typedef struct stage_walk {
    uint16_t place; /* in the stage's summary; its number in the merge is one less */
    const level *lv;
    const column *parent; /* positions of the lanes' parents                       */
    const column *shift;  /* coordinate = index + shift; NULL: they are the same   */
    bool tabled, dups, trims;
    fiber_table t;
    fiber_view v;     /* of the lane where filling stands; end: what is not filled */
    int64_t p, ahead; /* position reached; shift                                   */
    window *window;   /* NULL: it has had none so far                              */
    /* merging by keys (cascade_keys.c) */
    bool sifts;         /* coordinates outside the loop's range are left out    */
    int64_t *from, *to; /* of each lane around: what is left of its fiber       */
    int64_t *key;       /* of the string: lane and coordinate                   */
    int64_t *at, *end;  /* their positions, where they don't follow each other;
                           one past duplicates                                  */
    int nkey;
    bool follows;          /* positions are base, base + 1, …                      */
    int64_t base, reached; /* position that the string's keys go up to             */
} stage_walk;

/* How a stage's lane is filled. */
typedef enum lane_way {
    LANE_NONE,
    LANE_FIBER,
    LANE_RANGE,
    LANE_MERGE,
    LANE_STEPS
} lane_way;

/* A level of a result on the way to where a sink stores. */
typedef struct rung {
    stage *at; /* its coordinate is that of place `place` in this stage */
    uint16_t place, level;
    bool insert;
    int64_t lo, extent; /* insert: position = parent's * extent + coordinate - lo */
    int64_t last;       /* append: the serial of the lane with the newest entry   */
} rung;

typedef enum sink_way {
    SINK_BY_LANE,  /* as base operations do it                            */
    SINK_BY_PLACE, /* every place is a column                            */
    SINK_APPENDED, /* some levels get their entries in bulk              */
} sink_way;

typedef struct stage_sink {
    uint8_t way;
    uint16_t above; /* the cursor, not of the cascade, that the rungs are below */
    int nrung;
    rung rung[STC_MAX_ORDER];
} stage_sink;

struct stage {
    strip *g;    /* its strip                                             */
    nest *pair;  /* a kernel that runs it for all lanes of the loop around */
    bool paired; /* in this run                                           */
    bool plain;  /* so were all that there is inside of it, in the last run */
    cascade *all;
    stage *out; /* the loop around */
    nest_links link;
    int nchild;
    stage *child[CHILD_MAX];
    nest *inside[CHILD_MAX]; /* theirs */
    /* filling */
    int nwalk, walks; /* in this run; that have room */
    uint8_t simple;   /* stage_simple_way, in this strip of the loop around */
    bool unordered;
    bool keyable;         /* fibers may be merged by keys, in this run   */
    bool loose;           /* all coordinates of a range, whatever produces */
    bool asked, keyed;    /* … below the lanes up to `lanes`              */
    uint64_t table, must; /* maybe, by walkers; those that produce needs */
    int *length;          /* of all fibers of a lane, STRIP + 1 at most  */
    void *key_block;
    size_t key_size;
    int64_t lo, hi, next;
    uint64_t maybe, live; /* produce, for any presence of what is located; what goes on */
    uint64_t located, known;
    bool always;     /* nothing walks, and all coordinates produce, whatever is located */
    int lane, lanes; /* of the strip around: where filling stands; as far as it can go */
    bool windowed;   /* … which is as far as the windows of its walkers go             */
    uint8_t way;
    bool open, every; /* in the middle of that lane; all coordinates of the range */
    cursor *stand;    /* stepping: the cursors above the operands */
    bool stepped;     /* this string was                          */
    bool faultless;   /* nothing in it or in the loops inside can fail */
    int most;         /* elements of a long lane in a string: fewer while lanes end early */
    bool linear;      /* nothing in it but lines: cascade_lines.c               */
    bool rowwise;     /* … which need no string: cascade_rows.c                 */
    bool lined, lines;  /* its strings may be lines; this one is                  */
    bool whole;         /* … none of them cut, in lanes that follow each other    */
    struct line_terms { /* what is added to lines at once: cascade_terms.c          */
        const struct line_kernel *kernel; /* NULL: it isn't like that                */
        uint64_t unread;                  /* nodes that aren't read as columns then  */
        bool wide;                        /* no other node is a column               */
        uint64_t retype; /* those that aren't, once operands are in the lines' type   */
        uint8_t cls, nfactor, nrow;
        uint16_t factor[NEST_SCALARS], row[NEST_LOADS];
        const void *vals[NEST_LOADS]; /* … these                                     */
    } terms;
    /* coordinates are copied by who appends them, and not made (cascade_late.c): as
     * linked, in this run, in this string; elements need to know their lane, or have
     * values from it; nothing but values are asked for that the loops around have */
    bool late_body, copies, late, late_rows, late_given, late_apart;
    bool late_sums;                /* … nothing is appended: all is reduced */
    bool shares;                   /* the result has the operand's arrays      */
    int *row;                      /* of each element                          */
    int *run_lane, *run_end, runs; /* elements of one lane; 0: not looked for;
                                      stale if they don't end with the string    */
    bool same;                     /* they all have the same                   */
    int64_t serial;                /* of the strip's first lane                */
    bool read[PLACE_MAX];          /* places whose columns somebody reads                */
    /* for a loop inside whose lines need no string: places that it does without; located
     * ones of which it needs but coordinates, in this string; nodes that it reads itself */
    bool spared[PLACE_MAX], bare[PLACE_MAX];
    bool loaded[PLACE_MAX]; /* located places of which nothing but values are asked      */
    uint64_t unread;
    /* sinks */
    bool column[PLACE_MAX]; /* places in results whose positions are a column     */
    bool turn[PLACE_MAX];   /* places in results that cursors stand at, lane by lane */
    int64_t stood;          /* the serial at which its cursors in results stand */
    /* as many as there are; set up when they are of use */
    stage_walk walk[WALK_MAX];
    stage_sink sink[SINK_MAX];
    strip own;
};

struct cascade {
    super base;
    int nstage;
    bool forks;          /* some loop has several inside                     */
    stage *stage;        /* outermost first, each before those inside it */
    struct sink_list {   /* entries of a rung that get something, in order */
        bool all;        /* one of each lane of its stage; else: lane[]    */
        int *lane, *end; /* end: of what belongs to it in the next list  */
        int64_t *pos;
        int n;
    } list[STC_MAX_ORDER + 1];
    void *block;
    size_t block_size;
};

/* Of each lane's run: the lane, and behind a nought where it ends; rows; and what writing
 * these by blocks writes beyond. */
enum { ROW_BLOCK = 8, ROW_INTS = 3 * STRIP + 2 * ROW_BLOCK };
/* A lane so long makes strings of its own: all that it has in common stays one value. */
enum { LONG_LANE = STRIP > 64 ? STRIP / 8 : STRIP / 2 };

/* cascade_simple.c */
typedef enum stage_simple_way {
    SIMPLE_NOT,
    SIMPLE_FIBERS,
    SIMPLE_GROUPS,
    SIMPLE_CHILDREN,
    SIMPLE_RANGES,
} stage_simple_way;
stage_simple_way stage_simple(const stage *st);
int stage_fill_simple(stage *st);
/* The coordinates of the string's first n elements, each and `add`. */
void stage_coords(const stage *st, int64_t *at, int n, int64_t add);
/* Somebody asks for the coordinates of a late string (cascade_late.c). */
void stage_late_spell(stage *st);

/* cascade_ends.c: how long the first string of a long lane is; the lane that filling is in
 * the middle of has come to its end, if all that is reduced in it is settled. */
void stage_ends_prepare(stage *st);
void stage_end_lane(const machine *mc, stage *st);

/* cascade_lines.c: whether this run's strings may be lines; the string again, element by
 * element. Positions of lines below others (`up`, by the lanes of the loop around) in a
 * level from lo to hi, false if some aren't there. */
void stage_lines_prepare(machine *mc, stage *st);
int stage_fill_lines(stage *st);
void stage_lines_spell(stage *st);
bool stage_lines_locate(const stage *st, column *c, const column *up, const column *shift,
                        int64_t lo, int64_t hi);

/* cascade_terms.c: when linked; a string of lines to lines of a result. */
void stage_terms_match(const machine *mc, stage *st);
uint64_t stage_terms_bare(const machine *mc, const stage *st);
/* Whether positions of lines have 32 bits: it can't do with others. */
bool stage_terms_fit(const machine *mc, const stage *st);
void stage_terms_prepare(machine *mc, stage *st);
void stage_terms_add(machine *mc, stage *st, void *to, const int64_t *into);

/* Where lines of lanes go: those of runs of lanes, to the elements of t from `into` on; ~
 * that: nothing was written there yet. */
typedef struct row_runs {
    tensor *t;
    int n;
    int64_t *into;
    int *end;
    bool lone; /* a run is a lane, whatever `end` says */
} row_runs;
void stage_terms_rows(machine *mc, stage *st, const row_runs *to);

/* cascade_keys.c. start: sets `keyed` for the lanes from `lane` up to `lanes`. */
bool stage_keyable(const stage *st);
stc_status stage_keys_start(machine *mc, stage *st);
int stage_fill_keys(stage *st);

/* cascade_fill.c */
void stage_fill_prepare(machine *mc, stage *st);
void stage_fill_start(stage *st);
stc_status stage_fill(machine *mc, stage *st, bool *more);

/* cascade_window.c: walkers of this run get windows; the next lanes that fit into
 * them; positions in windows become the operands'. */
void stage_windows_prepare(machine *mc, stage *st);
stc_status stage_windows_next(machine *mc, stage *st);
void stage_windows_places(stage *st, int n);
void stage_windows_free(machine *mc, stage *st);

/* The lane of the strip of `around` to which lane k of st's strip belongs. */
static inline int stage_lane_in(const stage *st, const stage *around, int k)
{
    for (; st != around; st = st->out)
        k = st->row[k];
    return k;
}

/* What opened a walker, in the loop around. */
static inline const place *stage_opened(const stage *st, const stage_walk *w)
{
    return &st->out->g->s.place[st->link.up[w->place]];
}

/* cascade_rows.c: whether lines of this run need no string; … nor coordinates of the loop
 * around; adds all of a strip's, or does nothing. */
void stage_rows_prepare(const machine *mc, stage *st);
bool stage_rows_late(const stage *st);
/* Positions below which an operand's lines are: of the loop around; by_lane: of its lanes.
 */
const column *stage_rows_above(const stage *st, uint16_t of, bool *by_lane);
stc_status stage_rows_run(machine *mc, stage *st, bool *done);

/* Whether so many elements come in long runs of one lane: what these have from it is
 * written a run at a time then. */
static inline bool stage_long_runs(const stage *st, int n)
{
    return st->runs <= n / 8;
}

/* cascade_spread.c. match: when linked, which places somebody reads. */
void stage_spread_match(stage *st);
stc_status stage_settle(machine *mc, stage *st);
void stage_spread(machine *mc, stage *st);

/* cascade_place.c: whether sinks of t, a part of a tree of loops, can be done out of turn;
 * how this run does them. */
bool stage_sinks_match(const machine *mc, const loop_tree *t, const loop_tree *root);
void stage_sinks_prepare(machine *mc, stage *st);
void stage_results_turn(stage *st, uint16_t result);
stc_status stage_results_leave(machine *mc, stage *st);
stc_status stage_results_stand(machine *mc, stage *st, int k);

/* cascade_fold.c: a string's positions and runs, where the lanes' fibers are between
 * bounds. */
int stage_fill_positions(stage *st);
void stage_find_runs(stage *st);
fn_fold stage_fold_of(const sink *x); /* NULL: it is reduced element by element */
void stage_reductions_start(stage *st);
void stage_reduce(stage *st, const sink *x, uint16_t result);

/* cascade_late.c: when linked; in a run; a lane's coordinate, n from lane `from` on. */
void stage_late_match(stage *st);
void stage_late_prepare(const machine *mc, stage *st);
int64_t stage_late_coord(const stage *st, int k);
void stage_late_coords(const stage *st, const append_room *room, int from, int64_t n);

/* cascade_whole.c: the result gets the operand's arrays, if it may have them; whether all
 * below the strip's lanes may be copied at once; does so,
 * or nothing. */
stc_status stage_share(machine *mc, stage *st);
bool stage_whole(const stage *st);
stc_status stage_copy(machine *mc, stage *st, bool *done);

/* cascade_sink.c; values_room: for n that go to pos and on, if they may overwrite nothing
 * without a fill. */
stc_status stage_sinks(machine *mc, stage *st);
stc_status stage_values_room(machine *mc, slot *r, int64_t pos, int64_t n);

/* The list in which a stage's lanes that get entries over so many rungs are put;
 * and these entries: the list gets their positions, or only the first one's, which the
 * others follow. */
struct sink_list *stage_own_list(const stage *from, const stage_sink *to, int rungs);
stc_status stage_append_places(machine *mc, slot *r, stage *from, stage_sink *to, int rungs,
                               bool all);

/* Positions of a place in a result, if they are a column in this run. */
stc_status cascade_place(machine *mc, stage *st, int id);

#endif
