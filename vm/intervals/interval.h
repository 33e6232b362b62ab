/* interval.h: loops that step over intervals: runs of equal elements, repeats of
 * a pattern, and single elements where nothing else will do.
 *
 * Compressed operands (compression paper, §III and §IV) are constant, or go
 * round a pattern, on intervals [lo, hi) of their coordinates. Here a lane of a
 * strip is such an interval: the body is computed once for it, a reduction
 * takes it by its length, and a result takes it as a run. So time goes with
 * the number of runs, not of elements.
 *
 *     fill (interval_fill.c)   intervals on which every operand is constant
 *     eval (strip_eval.c)      the body, once a lane
 *     sink (interval_sink.c)   n·v into a register, a run into a result
 *
 * A nest of loops is a stack of strips: the lanes of an inner one are strung
 * together across the lanes of the one around it, so short rows are cheap too.
 * Which levels have intervals is asked of their tables (level.h), when the loop
 * runs; what a table doesn't know is left to other tiers.
 */
#ifndef STC_VM_INTERVAL_H
#define STC_VM_INTERVAL_H

#include "../../formats/base/wide.h"
#include "../core/ahead.h"
#include "../nest/fibers.h"
#include "../strips/strip.h"
#include "../work/run_fold.h"

enum { IVL_LOOPS = INTERVAL_LOOPS, IVL_WALKS = 8 };
/* Lanes of a strip whose elements are narrower than columns' values: interval_pairs.c. */
enum { IVL_STRUNG = 2 * STRIP };

/* An operand of a loop: its fibers, and the interval [lo, hi) of the loop's index that it
 * stands on. Index i is at coordinate coef * i + shift, which is `first` + coef * (i - lo)
 * behind the one that pos is for: at position pos + that mod period. */
typedef struct ivl_walk {
    fiber_table t;
    uint16_t place; /* of the loop's summary                            */
    bool drives;    /* coordinates that only it has are visited         */
    bool absent;    /* in some lane of this strip                       */
    uint64_t bit;
    const column *parent; /* by lane of the loop outside; NULL: root */
    int64_t root;
    int64_t size;   /* positions of its level                             */
    int64_t runs;   /* … and entries, whatever they are                   */
    int64_t fibers; /* … and parents, as far as its bounds say          */
    bool plain;     /* coef 1, shift 0, and so first 0                   */
    int64_t coef, shift, first;
    int64_t own; /* shift, in a loop with windows, where it is the same in all rounds */
    int64_t p, end, lo, hi, pos, period;
    int64_t last, span; /* alone: the last row's last run; runs of a fiber that is
                           every row's, else 0 */
    /* Tokens written out as runs (interval_tokens.c): their elements, else NULL; what t
     * and parent were; and where they are. */
    const void *vals;
    fiber_table tokens;
    const column *below;
    struct ivl_runs {
        int32_t *crd;
        int64_t *bounds;
        char *vals;
        int64_t crd_cap, bounds_cap, vals_cap;
    } out;
} ivl_walk;

/* How far from the position of its interval the element at index i is. */
static inline int64_t walk_offset(const ivl_walk *w, int64_t i)
{
    const int64_t off = w->plain ? i - w->lo : w->first + w->coef * (i - w->lo);
    return w->period == PERIOD_ENDLESS || off < w->period ? off : off % w->period;
}

static inline int64_t walk_parent(const ivl_walk *w, int row)
{
    return w->parent ? column_get(w->parent, row) : w->root;
}

/* After the first `after` lanes of a strip: coordinates up to hi repeat `size`
 * ones: the last ones, or those of a stretch, from the skip-th on. */
typedef struct ivl_repeat {
    int after, row;
    int64_t lo, hi, size;
    int64_t stretch, skip; /* stretch: its number, or NONE */
} ivl_repeat;

/* Elements that were computed one by one, n of them: where each operand was, and
 * where they went. Where the operands are there again, the result repeats. */
typedef struct ivl_stretch {
    int64_t n, out;
    int64_t pos[IVL_WALKS];
    uint32_t steps; /* bit k: operand k goes on from element to element */
    int lane;       /* of the strip in which it began                   */
} ivl_stretch;

/* What is asked of the lanes of rows of runs, besides values. */
typedef enum ivl_bare {
    BARE_NOT,     /* all there is                 */
    BARE_LENGTHS, /* their fibers and lengths     */
    BARE_FIBERS,  /* their fibers                 */
} ivl_bare;

typedef struct ivl_pair ivl_pair;
typedef struct interval interval;
typedef struct ivl_loop {
    strip g; /* its body */
    interval *of;
    int depth;               /* 0: the outermost                                      */
    nest_links link;         /* to the loop outside                                   */
    bool outside[PLACE_MAX]; /* places that the outer loops set               */
    bool whole;              /* lanes may be longer than one coordinate               */
    bool weighs;             /* what it makes is reduced: patterns are taken by weight */
    bool repeats;            /* … or stored where patterns can be repeated            */
    bool remembers;          /* … and stretches, too                                  */
    bool sieves;             /* its body leaves lanes out                             */
    bool fails;              /* … can fail, and then in which lane is asked           */
    int64_t *len;            /* of each lane                                          */
    int64_t unseen;          /* elements put since it was last asked whether to stop  */
    int *row;                /* the outer loop's lane it belongs to                   */
    ivl_repeat *rep;         /* of this strip                                         */
    int nrep;
    int nwalk;
    ivl_walk walk[IVL_WALKS];
    ivl_stretch *stretch;
    int64_t nstretch, stretch_cap, settled; /* settled: those whose place is known */
    int32_t *seen[IVL_WALKS];               /* by position: stretch, or -1        */
    int64_t seen_cap[IVL_WALKS];
    uint64_t known;     /* bits of this row that don't depend on the loop */
    int64_t begin, end; /* its range                                      */
    int lane, lanes;    /* of the loop outside: where filling stands      */
    bool open;          /* in the middle of that lane                     */
    bool spelt;         /* lanes of this strip are parts of an interval    */
    int64_t i;          /* the next coordinate                            */
    int64_t left, turn; /* of the interval being spelt out: elements left,
                           and of which pattern                           */
    int64_t until;      /* … its end                                      */
    uint64_t here;      /* … who is present                               */
    ivl_walk *led;      /* whose coordinates alone are visited (interval_lead.c)     */
    uint16_t window,
        bound;          /* interval_window.c: the integer at which coordinates begin in a
                           round of the loop outside, the extent that they are
                           within; UNLINKED: there is none             */
    int64_t until_lane; /* … where they end in the lane that is open; else `end` */
    bool alone;         /* rows of runs end to end (interval_runs.c): then a strip   */
    int nfiber;         /* has so many fibers, whose outer lanes are fiber[k], and   */
    int *fiber, *start; /* whose own begin with start[k]; start[nfiber]: all of them */
    int32_t *at;        /* … lanes' coordinates                                      */
    int64_t next;       /* … and where the last lane ends                            */
    bool steps;   /* all coordinates are visited, at positions in steps (interval_fill.c) */
    bool regions; /* some operand of it has runs, or repeats*/
    bool folds;   /* … rows of runs are folded before they are added (interval_fold.c)  */
    bool spelt_out;  /* … or rows of elements (interval_spell.c), likewise        */
    uint8_t bare;    /* … how little of its lanes is asked for: ivl_bare          */
    uint16_t summed; /* … the node whose factor is summed beforehand              */
    int64_t *sums;   /* … its running sums,                                       */
    int64_t sums_cap;
    uint16_t sums_node; /* … and of which fiber they are: node's, position; or UNLINKED */
    int64_t sums_up;
    uint8_t narrow;      /* … bytes of integers in which all is evaluated, or 0:     */
    int narrowed;        /* … lanes in which what doesn't vary is there in that width, */
    const void *elems;   /* … the strip's results                                    */
    ivl_pair *pair;      /* … two operands that are merged from four places, if     */
    void *pair_block;    /* (its memory)                                            */
    uint8_t element;     /* their elements have so many bytes (0: they aren't),     */
    const void *vals[2]; /* and are here                                            */
} ivl_loop;

/* A result: its places, level by level, each in a loop. */
typedef struct ivl_target {
    const sink *x;
    int loop; /* of the sink */
    int n;
    bool direct; /* outer levels have a place for every coordinate: interval_parent */
    int64_t base, parent; /* direct: the first parent; the last one stored below     */
    struct {
        int64_t lo, extent;
    } outer[IVL_LOOPS];
    struct {
        int loop, lane; /* lane: of that loop, whose place is open; -1: none */
        uint16_t place;
    } at[IVL_LOOPS];
} ivl_target;

struct interval {
    super base;
    super *other; /* who runs the nest if this can't; NULL: base operations */
    void *block;
    size_t block_size;
    bool sparse;    /* its intervals are those without an entry, if these are most */
    int64_t *pos;   /* scratch: a position a lane      */
    bool folds_not; /* in this run: a row that was to be folded has short runs */
    run_fold fold;  /* rows that wait to be added from position fold_base on  */
    int64_t fold_base;
    int ntarget; /* 1 or 0: there is none */
    ivl_target target;
    int loops;
    ivl_loop loop[];
};

/* interval.c. run, release: of the superinstruction; inside: all rounds of the loop in a
 * strip's, for its lanes. */
stc_status interval_run(machine *mc, super *base);
void interval_release(machine *mc, super *base);
stc_status interval_inside(machine *mc, strip *s, int child);

/* interval_fill.c: lanes for the next strip, from the lanes of the loop outside; start:
 * whether these are all coordinates, positions with them. */
bool steps_start(ivl_loop *v);
stc_status interval_fill(machine *mc, ivl_loop *v);

/* interval_window.c. find: of a loop around `in` (NULL: none is in it): makes its
 * coordinates those of a window, which begins at the integer that it gives and is within an
 * extent; UNLINKED: it is none. prepare: bounds for all windows, and whether where they and
 * an operand begin can be worked out; open: the one below v->lane, its begin and *end;
 * begin: where counting began for lane `row` outside. */
uint16_t window_find(loop_summary *s, const loop_summary *in, nest_links *link,
                     uint16_t *bound);
bool window_prepare(const machine *mc, ivl_loop *v);
bool window_reads(const machine *mc, const ivl_loop *v, const ivl_walk *w);
int64_t window_open(const machine *mc, ivl_loop *v, int64_t *end);
int64_t window_begin(const machine *mc, const ivl_loop *v, int row);

/* interval_runs.c. start: whether all rows of the lanes outside can be merged end to
 * end; then fill makes the next strip. */
bool runs_start(ivl_loop *v);
void runs_fill(ivl_loop *v);
/* … whether parents of n lanes outside follow each other, or are one. */
bool runs_follow(const column *c, int64_t n, bool *one);
/* interval_spell.c. start: whether rows go element by element; fill: the next strip of
 * them; join: lanes, whose elements these are, become runs, whose values are given. */
bool spell_start(const machine *mc, ivl_loop *v);
void spell_fill(const machine *mc, ivl_loop *v);
const void *spell_join(ivl_loop *v, const void *elems, size_t size);
/* interval_tokens.c. start: where all operands are runs, or tokens that aren't many more
 * runs, they are made runs for the lanes outside; end: back to how they were. */
stc_status tokens_start(machine *mc, ivl_loop *v);
void tokens_end(ivl_loop *v);
void tokens_free(machine *mc, ivl_loop *v);
/* The tensor that is loaded at a place, NULL: none is; and where its elements are. */
const tensor *interval_loaded(const machine *mc, const ivl_loop *v, uint16_t at);
static inline const void *walk_vals(const ivl_walk *w, const tensor *t)
{
    return w->vals ? w->vals : t->vals;
}
/* interval_pairs.c. start: for a loop that is alone: whether two operands can be merged
 * with their elements; fill: the next strip's lanes and fibers, or 0: not this way. */
stc_status pairs_start(machine *mc, ivl_loop *v);
int pairs_fill(ivl_loop *v);
void pairs_free(machine *mc, ivl_loop *v);
/* interval_narrow.c. start: whether strips of a loop that is alone are evaluated in the
 * width of its result's elements; eval: a strip, as elements of that width. */
void narrow_start(const machine *mc, ivl_loop *v);
const void *narrow_eval(const machine *mc, ivl_loop *v);
/* interval_lead.c. The same for loops that one operand's coordinates lead. spread: lanes'
 * coordinates, lengths and rows, which a strip that is bare hasn't; coords: the first of
 * these alone. */
bool lead_start(ivl_loop *v);
void lead_fill(const machine *mc, ivl_loop *v);
void lead_spread(ivl_loop *v);
void lead_coords(const ivl_loop *v, int32_t *to);
/* interval_ranks.c: positions in an operand of runs or tokens, of the strip's lanes. */
void ranks_of_rows(const ivl_loop *v, const ivl_walk *w, int64_t *pos);

/* interval_sums.c. start: which factor is summed beforehand, if one is; then the loop is
 * alone. end: back to how it was. */
stc_status sums_start(machine *mc, ivl_loop *v);
void sums_fill(ivl_loop *v);
void sums_end(ivl_loop *v);
/* interval_rows.c: all rows of a loop with such a factor at once, if it can. */
stc_status sums_rows(machine *mc, ivl_loop *v);

/* interval_memo.c: stretches. begin: before a run, for a loop that remembers. find:
 * for [v->i, e), of which `size` elements are to be spelt out: how many
 * coordinates a repeat takes, which is added to the strip; 0: none. note: they
 * will be, from lane n on. */
stc_status memo_begin(machine *mc, ivl_loop *v);
int64_t memo_find(ivl_loop *v, int n, int64_t e, int64_t size, uint64_t mask);
stc_status memo_note(machine *mc, ivl_loop *v, int n, int64_t e, int64_t size,
                     uint64_t mask);
void memo_free(machine *mc, ivl_loop *v);

/* interval_bulk.c. takes_elements: whether what a loop makes is taken from rows of elements
 * of which nothing else is asked. bare: whether lanes of a loop that is alone go where only
 * their fibers are asked for. parent: below outer levels that have a place for every
 * coordinate, the position for lane `row` of the loop outside the sink's. put_bulk: *done:
 * the strip was stored as a whole; else nothing was. */
bool interval_takes_elements(const machine *mc, const ivl_loop *v);
/* … every: the last level has a place for every coordinate of the loop. */
bool interval_takes_every(const machine *mc, const ivl_loop *v, const ivl_target *t);
ivl_bare interval_bare(const machine *mc, const ivl_loop *v);
int64_t interval_parent(const interval *iv, const ivl_target *t, int row);
stc_status interval_put_bulk(machine *mc, ivl_loop *v, ivl_target *t, bool *done);

/* interval_fold.c. start: whether rows are folded before they are added to the result. add:
 * lanes of a row, to elements from position base + coordinate on. finish: all that waits.
 */
bool folds_start(const machine *mc, const ivl_loop *v);
stc_status folds_add(machine *mc, ivl_loop *v, const sink *x, int64_t base, int from,
                     int to);
stc_status folds_finish(machine *mc, interval *iv);

/* interval_sink.c */
bool interval_folds(const sink *x); /* a run is reduced at once */
bool interval_adds(const sink *x);  /* … by adding, in a loop of its own */
void interval_start(ivl_loop *v);   /* the outer lanes' reductions */
/* Elements [pos, pos + n) of t and those of an array, by the sink's function. */
void interval_add(ivl_loop *v, const sink *x, tensor *t, int64_t pos, const char *in,
                  int n);
/* Runs, n of them, and what is there from position base + lo[k] on. */
stc_status interval_add_runs(machine *mc, ivl_loop *v, const sink *x, int64_t base,
                             const int64_t *lo, const int64_t *len, const char *in, int n);
stc_status interval_sink(machine *mc, ivl_loop *v, const sink *x);
stc_status interval_close(machine *mc, interval *iv, int from); /* places of its lanes */
stc_status interval_finish(machine *mc, ivl_target *t);         /* what is open then */

#endif
