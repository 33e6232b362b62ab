/* strip.h: the strip engine: any straight-line innermost loop, a strip of up to
 * STRIP coordinates at a time.
 *
 *     fill (strip_fill.c)   coordinates, presence masks, a position per operand
 *     eval (strip_eval.c)   every node of the body once, over arrays
 *     sink (strip_sink.c)   the strip into a register, a result, a workspace
 *
 * After numexpr's blocks; the fill is the iteration lattice run ahead of the
 * arithmetic. Columns that are consecutive positions, or one value, are kept
 * as such and never written out, so the common loads cost nothing.
 */
#ifndef STC_VM_STRIP_H
#define STC_VM_STRIP_H

#include "../core/coords.h"
#include "../nest/fuse.h"

#ifdef STC_SAN
enum { STRIP = 8 }; /* small, so that small cases cross from strip to strip */
#else
enum { STRIP = 1024 };
#endif
enum { STRIP_FEW = STRIP < 64 ? 4 : 8 }; /* fewer lanes are reduced in order */

/* A column of integers: positions (NONE: absent) or coordinates. */
typedef enum col_form {
    COL_FIXED, /* `base` in every lane              */
    COL_STEP,  /* base, base+1, …                   */
    COL_ARRAY, /* data[lane]                        */
    COL_LINES, /* data[r] + how far the lane is in line r of the strip */
    COL_LIES,  /* base + crd[lane]: for loads alone */
} col_form;
typedef struct column {
    uint8_t form;
    bool full; /* positions: none is NONE           */
    int64_t base;
    int64_t *data;      /* its buffer, STRIP elements        */
    int64_t *end;       /* positions: one past duplicates; NULL where there are none */
    bool ranged;        /* `end` holds for this strip        */
    const int32_t *crd; /* coordinates where they lie in an operand */
    const void *vals;   /* what is at these positions; NULL: the tensor's values */
} column;

static inline int64_t column_get(const column *c, int k)
{
    return c->form == COL_ARRAY ? c->data[k] : c->form == COL_STEP ? c->base + k : c->base;
}

static inline int64_t column_end(const column *c, int k)
{
    return c->end[c->form == COL_FIXED ? 0 : k];
}

/* A column of values, in its node's class. */
typedef struct vcolumn {
    const void *p; /* the lanes; NULL: `one` in all of them */
    void *data;    /* its buffer                            */
    value one;
    int spread; /* lanes of data that hold `one`         */
} vcolumn;

enum { STRIP_WALKS = MERGE_TABLE_MAX };

typedef struct strip strip;
struct strip {
    super base;
    uint64_t *mask; /* presence                           */
    bool masks;     /* some step reads it                 */
    bool ends;      /* it is through when all that it reduces is settled */
    uint64_t
        unread;    /* nodes that aren't evaluated: what they are for reads their operands */
    int *keep;     /* lanes that a skip leaves           */
    int64_t *len;  /* of each, where lanes are intervals */
    char *scratch; /* STRIP values, for sinks            */
    int done;      /* nodes evaluated in this strip      */
    /* the column of what is stored, computed where it goes, from position `aim` on; its own
     * room; some went elsewhere in this run (strip_sink.c) */
    vcolumn *aimed;
    void *room;
    int64_t aim;
    bool astray;
    void *block;
    size_t block_size;
    int n;                     /* lanes                              */
    bool entered;              /* columns that don't vary are there  */
    int fill;                  /* FILL_… of this time                */
    uint64_t since;            /* … and while so many bindings are counted */
    int64_t first, next, last; /* coordinates, or positions left  */
    struct strip_walk {
        const char *crd;
        int32_t width, stride;
        int64_t p, end;
        uint16_t operand;
        int64_t lo, hi;
        int64_t shift; /* coordinate - index */
        bool dups;
        int64_t *key, *at, *ends; /* strip_keys.c: coordinates, positions, ends of groups */
    } walk[STRIP_WALKS];
    int nwalk;
    uint64_t produce, known, located;
    uint64_t maybe; /* produce, for some presence of what is located */
    int64_t resume; /* stepping: the coordinate of the next lane          */
    bool more;      /* stepping: loop_start or loop_next said so */
    bool failed;    /* … or failed: the diag is filled           */
    bool told;      /* a loop inside has failed in some lane     */
    int fault_lane;
    fn_fault fault;
    const lop *fault_at;
    stc_status host_status; /* FAULT_HOST: what the host said */
    const char *host_why;
    /* What a cascade adds: runs loop number `child` inside, for all lanes. */
    stc_status (*inner)(machine *mc, strip *s, int child);
    struct stage *stage;
    const int *line_end; /* where each of the strip's lines ends: cascade_lines.c */
    int lines;
    int64_t *serial; /* the stage's: that of the strip's first lane */
    stc_status (*result_place)(machine *mc, struct stage *stage, int place);
    const strip *around;    /* the strip of the loop around it,              */
    const nest_links *link; /* how this one hangs in that,                   */
    int *rows;              /* and the lane of it that each lane belongs to  */
    /* as many of each as the loop has */
    column icol[ICOL_MAX], place[PLACE_MAX];
    vcolumn node[NODE_MAX];
    loop_summary s;
};

/* The index at position p of a fiber. */
static inline int64_t strip_coord(const struct strip_walk *w, int64_t p)
{
    return coord_at(w->crd, w->width, w->stride, p) - w->shift;
}

/* strip.c */
bool strip_evaluable(const loop_summary *s);
bool strip_faultless(const loop_summary *s); /* no operation of its own can fail */
/* All that the loop reduces (for this lane of the strip around, if there is one) is what it
 * will be: it is settled, or doesn't matter any more. Asked once a strip. */
bool strip_through(const machine *mc, const strip *s, int at_lane);
void strip_setup(strip *s, const loop_summary *sum);
stc_status strip_allocate(machine *mc, strip *s);
stc_status strip_rounds(machine *mc, strip *s); /* fill, eval and sink to the end */
void strip_free(machine *mc, super *base);

/* strip_fill.c */
bool strip_enter(machine *mc, strip *s); /* false: nothing to do        */
bool strip_next(machine *mc, strip *s);  /* false: no more; else n lanes */
void strip_compact(strip *s, int n);     /* to the lanes in keep        */
bool strip_settled(const merge_desc *m, uint64_t located, uint64_t sure, uint64_t maybe);
void strip_masks(strip *s, uint64_t sure, uint64_t maybe);

/* strip_keys.c */
void strip_fill_keys(strip *s);
void strip_fill_every(strip *s);

/* strip_eval.c */
/* Whether the first n coordinates are all in lo:lo+wide. */
bool column_within(const column *i, int n, int64_t lo, int64_t wide);
/* Coordinates of an array, all of them in lo:lo+wide, as positions from `to` on; false:
 * they aren't, and nothing was done. out may be where they are. */
bool column_moved(const column *i, int n, int64_t lo, int64_t wide, int64_t to,
                  int64_t *out);
stc_status strip_eval(machine *mc, strip *s);
void strip_eval_unread(machine *mc, strip *s); /* somebody asks for these nodes after all */
const void *strip_spread(strip *s, int node);  /* as an array of n lanes */
void strip_at_lane(machine *mc, const strip *s, int lane);
/* A loop inside that is run for all lanes has failed in one of them, and told what. */
void strip_fault_inside(strip *s, int at_lane);
/* All lanes' values folded into one, halves onto each other until one is left: the same
 * order every time. NULL: they can't be in that order, or the host's function failed. */
const void *strip_halves(strip *s, const sink *x, const void *values);
/* Adds all lanes to a workspace of one index at once; false: nothing was done, for what
 * only ws_add can do. */
bool strip_add_string(machine *mc, strip *s, const sink *x, stc_status *st);
/* Before values are computed: those that are stored as they are, behind all that a result
 * has, are computed where they go, with no copy between. strip_unaim: after they are
 * stored, or (keep) where they go elsewhere. */
stc_status strip_aim(machine *mc, strip *s);
void strip_unaim(strip *s, bool keep);
int64_t strip_place_coord(const machine *mc, const strip *s, int place, int lane);
/* Positions of coordinates i in level lv of slot `which` below parents, each run of lanes
 * below one parent at once; rows: the lane of `up` that each is below, NULL: its own.
 * False: not in this level. */
bool strip_locate_runs(machine *mc, int which, const level *lv, const column *up,
                       const int *rows, const column *i, int n, column *c);
/* A cursor that stands where a place does in a lane, and those above it; c has
 * room for all levels. NULL: the root. */
const cursor *strip_stand(const machine *mc, const strip *s, int place, int lane,
                          cursor *c);

/* strip_load.c */
/* The end of the stretch of consecutive positions that begins at lane k; whether
 * stretches are so long that going by them pays. */
int strip_stretch(const int64_t *at, int k, int n);
bool strip_stretches(const int64_t *at, int n);
void strip_load(stc_type t, void *out, const void *vals, const column *at, int n,
                value fill);
/* The same of lines of positions, each of which ends at the lane given. */
void strip_load_lines(stc_type t, void *out, const void *vals, const int64_t *first,
                      const int *end, int lines);
void strip_store(stc_type t, void *vals, int64_t pos, const void *from, vclass cls, int n);
void strip_scatter(stc_type t, void *vals, int64_t pos, const int64_t *at, const void *from,
                   int n);
/* strip_retype.c: all values of an operand, the program's slot `which`, in a type: once n
 * more of them have been asked for so often that it pays; NULL: not yet, or never. */
const void *strip_retyped(machine *mc, int which, stc_type type, int64_t n);
/* strip_into.c: values in their class, folded into elements at so many places; NULL: there
 * is none for that. */
typedef void (*strip_into)(void *vals, const void *from, const int64_t *at, int n);
strip_into strip_into_of(int fn, stc_type t);
void strip_conv(vclass to, vclass from, void *out, const void *in, int n);
/* update.c: to's values at from's entries become fn of both, in place; all or none. */
stc_status strip_update(machine *mc, slot *to, slot *from, int fn, const lop *at);
/* What is bound is copied before it is changed, unless it was given for that; an entry lies
 * outside; the first of n values for which the function faults says how. */
stc_status update_own(slot *s);
stc_status update_outside(machine *mc, const lop *at);
stc_status update_fault(machine *mc, int fn, vclass cls, const void *old, const void *x,
                        int n, const lop *at);
/* block.c: a block of to becomes fn of what it is and what `from` is, element by element:
 * in mode m it begins at first[m] and goes on by steps of first[order + m]. */
stc_status strip_block(machine *mc, slot *to, slot *from, int fn, const int64_t *first,
                       const lop *at);
value class_get(vclass cls, const void *p, int64_t k);
void class_put(vclass cls, void *p, int64_t k, value v);
size_t class_size(vclass cls);
void class_fill(vclass cls, void *p, int64_t from, int64_t to, value v);
/* Elements of[k] of `from`, n of them; to may be from, if none comes from before it. */
void class_gather(vclass cls, void *to, const void *from, const int *of, int n);
/* Elements of[r] of `from`, each up to end[r]. */
void class_repeat(vclass cls, void *to, const void *from, const int *of, const int *end,
                  int runs);

/* strip_sink.c */
void strip_put_coords(const append_room *room, const column *i, int from, int n);
/* Everything that base operations do to store lane k. */
stc_status strip_store_lane(machine *mc, strip *s, const sink *x, int k);
stc_status strip_sink(machine *mc, strip *s, const sink *x);

#endif
