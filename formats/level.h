/* level.h: the interface of a level kind, and the cursor that walks one.
 *
 * A tensor is a stack of levels; a level stores, for each position of its
 * parent level, a *fiber*: a set of coordinates, each with a position of its
 * own. What a kind can do it states as capabilities, what its data looks like
 * as properties (formats paper, §3.2–3.4); planning, lowering and running
 * ask for these and never for a kind by name. One kind is one file in this
 * folder and one row in levels.def.
 *
 * Cursors. A cursor stands on an interval [lo, hi) of coordinates on which
 * its level is uniform, and knows where that is stored:
 *
 *     position of coordinate i in [lo, hi)  =  pos + (i - lo) mod period
 *
 * A stored coordinate of a compressed level is [c, c+1); a dense fiber is one
 * interval [0, n) with an endless period; a run of rle is [lo, hi) with period
 * 1; a repeat of lz77 has the period of its pattern. Between intervals the
 * operand is absent. lo == CURSOR_END when the fiber is used up.
 *
 * `at` is the position for the coordinate at which a loop stands, NONE where
 * the operand is absent there; at_end is one past the last duplicate (nonunique
 * levels: [at, at_end) are the positions that share the coordinate). A cursor
 * is opened from its parent's at: on NONE it opens empty.
 */
#ifndef STC_FORMATS_LEVEL_H
#define STC_FORMATS_LEVEL_H

#include "base/context.h"
#include "base/types.h"

#define CURSOR_END INT64_MAX
#define PERIOD_ENDLESS INT64_MAX
#define NONE ((int64_t)-1)

/* What a level kind can do. */
enum {
    CAP_ITER = 1 << 0,          /* open, next: coordinates in storage order           */
    CAP_SEEK = 1 << 1,          /* seek: skip ahead in less than linear time           */
    CAP_LOCATE = 1 << 2,        /* locate: position of a coordinate, about constant    */
    CAP_INSERT = 1 << 3,        /* results are written at any coordinate in any order:
                                   every fiber is VIEW_RANGE, base … base + extent      */
    CAP_APPEND = 1 << 4,        /* results are appended in order                       */
    CAP_PACK = 1 << 5,          /* assembled at once from sorted entries               */
    CAP_CHAIN = 1 << 6,         /* opens over a range of parent positions, in order    */
    CAP_REGION = 1 << 7,        /* its cursor stands on intervals longer than one:
                                   fill_region of the compression paper               */
    CAP_APPEND_REGION = 1 << 8, /* append_fill_region                           */
    CAP_POSITION = 1 << 10,     /* positions have coordinates of their own: every view
                                   is VIEW_RANGE or VIEW_COORDS; or none, and there is
                                   one for each coordinate, which `locate` knows, or
                                   one a parent (branchless), which `open` knows   */
    CAP_SUBSECT = 1 << 9,       /* its subsections can be visited: where a cursor opens
                                   depends on its parent's position alone             */
};

/* What its data looks like. */
enum {
    PROP_FULL = 1 << 0, /* every coordinate is there                      */
    PROP_ORDERED = 1 << 1,
    PROP_UNIQUE = 1 << 2,
    PROP_BRANCHLESS = 1 << 3, /* one child per parent position                  */
    PROP_COMPACT = 1 << 4,    /* no unlabeled positions                         */
};

typedef struct level level;
typedef struct level_kind level_kind;
typedef struct cursor cursor;

/* An index array. Elements have 4 or 8 bytes and are signed; stride lets an
 * interleaved COO share one buffer. Owned ones have cap elements; a shared one is a
 * pattern's (pattern.c), which nobody changes: who grows it gets a copy. */
typedef struct index_array {
    void *data;
    int64_t len, cap;
    int32_t width, stride;
    bool owned, shared;
} index_array;

static inline int64_t index_get(const index_array *a, int64_t i)
{
    const char *p = (const char *)a->data + i * a->stride;
    return a->width == 4 ? *(const int32_t *)p : *(const int64_t *)p;
}
/* Appends, growing an owned array and widening it to 64 bits where it must. */
stc_status index_push(ctx *cx, index_array *a, int64_t v);
stc_status index_resize(ctx *cx, index_array *a, int64_t len);        /* new part unset */
stc_status index_reserve(ctx *cx, index_array *a, int64_t cap);       /* room, unset    */
stc_status index_widen(ctx *cx, index_array *a);                      /* to 8 bytes     */
void index_set(index_array *a, int64_t i, int64_t v);                 /* v must fit     */
void index_fill(index_array *a, int64_t from, int64_t to, int64_t v); /* the same */
/* At least `len` elements; new ones are v. A step is 64 bytes. */
stc_status index_cover(ctx *cx, index_array *a, int64_t len, int64_t v);
void index_free(ctx *cx, index_array *a);
/* Gives back room that is far more than the length, if the allocator takes it. */
void index_trim(ctx *cx, index_array *a);
/* An empty owned array wide enough for values up to `largest`. */
void index_init(index_array *a, int64_t largest, int force_width);
/* The same for an array in use: what it owns is kept if it serves, borrowed
 * memory is given up; ready: it gets `len` unset elements. */
void index_empty(ctx *cx, index_array *a, int64_t largest, int force_width);
stc_status index_ready(ctx *cx, index_array *a, int64_t largest, int force_width,
                       int64_t len);

struct level {
    const level_kind *kind;
    uint32_t props;       /* PROP_ bits that hold for this level               */
    uint8_t width;        /* index width asked for: 0 (choose), 4, 8           */
    bool whole;           /* none of its positions is left out, though some could be */
    int64_t base, extent; /* its coordinates lie in [base, base + extent)      */
    int64_t size;         /* number of positions, unlabeled ones included      */
    index_array a[3];     /* STC_POS, STC_CRD, STC_AUX as the kind says        */
    int64_t param[2];     /* the kind's own; the first, the number that it takes */
    int64_t open_count;   /* append: entries that already have their edge      */
    int64_t edges;        /* append: parents already closed                    */
};

struct cursor {
    int64_t lo, hi;       /* the interval it stands on; lo == CURSOR_END: used up */
    int64_t pos, pos_end; /* position of lo; one past its last duplicate          */
    int64_t period;
    int64_t at, at_end; /* where the loop stands; NONE: absent                  */
    int64_t coord;      /* the level's own coordinate where the loop stands     */
    int64_t p, end;     /* positions left to visit: the kind's own use          */
    int64_t aux[2];     /* the kind's own use                                   */
    const level *lv;
    const cursor *up; /* the parent level's cursor, NULL at the root          */
};

/* A fiber as plain memory, for handlers that run whole loops. Over a chain of
 * parents at … at_end-1 the first one's begin and the last one's end bound the
 * whole. lo and hi are set for every shape: the bounds of its coordinates. */
typedef enum view_shape {
    VIEW_NONE,   /* the kind offers none: use the cursor                            */
    VIEW_RANGE,  /* coordinates lo, lo+1, …, hi-1 at positions begin, begin+1, …    */
    VIEW_COORDS, /* coordinates crd[begin … end) at positions begin … end-1,
                    ascending and unique if the level is ordered and unique         */
    VIEW_GAPS,   /* tables only: as VIEW_COORDS, but a coordinate of lo - 1 marks a
                    position that has none                                          */
    VIEW_RUNS,   /* runs begin at crd[p] and end where the next one begins, the
                    last one at hi; run p is position p, begin <= p < end           */
    VIEW_TOKENS, /* tables only: as VIEW_RUNS, but run p begins at position
                    aux[2p], and goes round aux[2p + 1] positions (0: one each)     */
} view_shape;

typedef struct fiber_view {
    view_shape shape;
    const void *crd;
    int32_t width, stride;
    int64_t begin, end;
    int64_t lo, hi;
} fiber_view;

/* Sorted entries being assembled: see pack below. */
typedef struct pack_in {
    int64_t count;        /* entries: duplicates are summed already              */
    const int64_t *coord; /* the level coordinate of each                        */
    int64_t *pos;         /* in: parent position of each; out: its own position,
                             or NONE: another entry stands for it                */
    int64_t parents;      /* number of parent positions                          */
    /* What lies below this level, for kinds that store equal things once:
     * coordinates of the levels below, and values. Positions that no entry has
     * get the fill, or empty fibers. */
    int deeper;
    int chain; /* how many of them are branchless, right below        */
    const int64_t *const *below;
    const void *vals;
    stc_type type;
    value fill;
} pack_in;

/* All fibers of a level at once, for handlers that run two loops: what view()
 * gives for each parent position p, without a call. */
typedef struct fiber_table {
    view_shape shape; /* VIEW_NONE: ask view() fiber by fiber              */
    const void *crd;  /* VIEW_COORDS: coordinates by position              */
    int32_t width, stride;
    const void *bounds;   /* VIEW_COORDS: fiber p is at bounds[p] … bounds[p+1]-1;
                             NULL: as many positions a parent as there are slots */
    int64_t slots;        /* 0: one, p itself                                  */
    int32_t bounds_width; /* bytes, also the stride                            */
    int64_t lo, hi;       /* bounds of the coordinates; VIEW_RANGE: at
                             positions p*(hi-lo) …                             */
    const void *aux;      /* VIEW_TOKENS: two numbers a run, of aux_width bytes */
    int32_t aux_width;
} fiber_table;

/* Room for appending in bulk: the caller writes n coordinates from crd on
 * (positions pos, pos+1, …), and the ends of the fibers of parents closed, closed+1, …
 * from bounds on, and then calls append_done. */
typedef struct append_room {
    void *crd;
    int32_t width;
    int64_t pos;
    void *bounds; /* NULL: the level keeps none                        */
    int32_t bounds_width;
    int64_t closed; /* parents that have their bound already             */
} append_room;

/* The fibers before that of `parent` that aren't closed end at position `end`. */
static inline void room_close(append_room *room, int64_t parent, int64_t end)
{
    const int64_t n = parent > room->closed ? parent - room->closed : 0;
    if (room->bounds_width == 4) {
        for (int64_t k = 0; k < n; k++)
            ((int32_t *)room->bounds)[k] = (int32_t)end;
    } else {
        for (int64_t k = 0; k < n; k++)
            ((int64_t *)room->bounds)[k] = end;
    }
    room->bounds = (char *)room->bounds + n * room->bounds_width;
    room->closed += n;
}

struct level_kind {
    const char *name;
    char letter; /* TACO's short string; 0: none                       */
    uint32_t caps;
    uint32_t props;    /* the properties of an unadorned level               */
    uint32_t fixed;    /* those a format may not take away                   */
    uint8_t arrays;    /* bit r: the kind uses array role r (stc_array_role) */
    const char *takes; /* what the number is that formats give it, as in hashed(16):
                          "width"; NULL: none. With one it is another kind than the
                          one of the same name without                              */

    /* Reading. open: the fiber below up->at … up->at_end (root: one fiber,
     * position 0; at NONE: empty), standing on its first interval.
     * next: the following interval. seek: the first interval with hi > i
     * (kinds without CAP_SEEK may leave it NULL: cursor_seek then steps).
     * locate: sets at/at_end/coord to coordinate i below the parent, or NONE. */
    void (*open)(cursor *c, const level *lv, const cursor *up);
    void (*next)(cursor *c);
    void (*seek)(cursor *c, int64_t i);
    void (*locate)(cursor *c, const level *lv, const cursor *up, int64_t i);
    /* Optional: locate for n coordinates below one parent position, read from crd
     * (elements of 4 or 8 bytes): pos[k] is the k-th one's position, NONE where it
     * is absent or outside the extent. Gives how many are there. crd may be pos. */
    int64_t (*locate_many)(const level *lv, int64_t parent, const void *crd, int32_t width,
                           int32_t stride, int64_t n, int64_t *pos);
    /* Optional: stores coordinate i, which lies in the extent and isn't stored, below one
     * parent position, where nothing else moves and nothing can fail: its position. That is
     * there already, with the fill as its value, or, in kinds that have put_room, the one
     * after the last. put_room makes room for n more; `room`: false if these arrays can't
     * grow so. Kinds whose fibers may be full give NONE then, and have `unput`: it takes
     * back what was put last. put_range (optional): n coordinates from i on at once. */
    stc_status (*put_room)(ctx *cx, level *lv, int64_t n, bool *room);
    int64_t (*put)(level *lv, int64_t parent, int64_t i);
    void (*put_range)(level *lv, int64_t parent, int64_t i, int64_t n);
    void (*unput)(level *lv, int64_t pos);
    /* Optional, in kinds whose positions are in the order of coordinates: the same for n of
     * them, ascending by parent and coordinate; positions behind each move up by one. Gives
     * which position, as they were, each comes before. */
    stc_status (*put_between)(ctx *cx, level *lv, int64_t n, const int64_t *parent,
                              const int64_t *i, int64_t *before, bool *room);
    /* The fiber below one parent position as memory; VIEW_NONE where it has no
     * such form. parent_coord: the parent level's coordinate (offset, range). */
    void (*view)(const level *lv, int64_t parent, int64_t parent_coord, fiber_view *v);

    /* Number of positions for so many parents, where that is known without
     * data (dense, singleton); NONE otherwise. */
    int64_t (*size)(const level *lv, int64_t parents);

    /* Appending, in order (formats paper §3.4); kinds with CAP_INSERT have these
     * as well, but for edges: each coordinate has its place. init: empty, for `parents`
     * parents (NONE: not known yet). coord: stores coordinate i as a new
     * position, given in *pos; while appending, lv->size is the position that
     * the next coordinate gets, so that what is below can be stored first.
     * edges: everything appended since the last call belongs to `parent`;
     * parents skipped over have empty fibers. finish: closes what remains, with
     * the final number of parents, and sets lv->size. Positions may be skipped
     * (dense levels, gaps of rle): their values are the fill, as
     * tensor_extend_values makes them. regions (CAP_APPEND_REGION): n intervals
     * of one fiber, in order; coordinates lo[k] … lo[k]+len[k]-1 are one position,
     * pos[k], whose value they share. repeat (optional): coordinates lo … hi-1 go
     * round the `size` positions from `start` on. fibers (optional): intervals that
     * cover the fibers of n parents from `parent` on without a gap: those of the
     * k-th begin at lo[start[k]] … lo[start[k+1]-1], each ends where the next one
     * begins, and the last of all at `next`. They go on in the fiber that is open, if
     * that is the first parent's. Positions follow each other from that which append_next
     * gives; their values, of `size` bytes, are taken from `from` to there (`vals`: that
     * of position 0; there is room), and what is equal to the one before it is joined
     * with it. */
    stc_status (*append_init)(ctx *cx, level *lv, int64_t parents);
    stc_status (*append_coord)(ctx *cx, level *lv, int64_t parent, int64_t i, int64_t *pos);
    stc_status (*append_edges)(ctx *cx, level *lv, int64_t parent);
    stc_status (*append_finish)(ctx *cx, level *lv, int64_t parents);
    stc_status (*append_regions)(ctx *cx, level *lv, int64_t parent, int64_t n,
                                 const int64_t *lo, const int64_t *len, int64_t *pos);
    stc_status (*append_repeat)(ctx *cx, level *lv, int64_t parent, int64_t lo, int64_t hi,
                                int64_t start, int64_t size);
    stc_status (*append_fibers)(ctx *cx, level *lv, int64_t parent, int n, const int *start,
                                const int32_t *lo, int64_t next, const void *from,
                                void *vals, size_t size);
    /* After append_finish of a whole level, and not of a part of one that threads assemble:
     * what is found out from all of its coordinates, as where to search for each. Optional.
     */
    stc_status (*append_seal)(ctx *cx, level *lv, int64_t parents);
    /* The position that coordinate i of `parent` would get, where what is passed over
     * gets some as well; NULL: lv->size. */
    int64_t (*append_next)(const level *lv, int64_t parent, int64_t i);
    /* After append_finish: joins what the values show to be equal, `size` bytes
     * a position, moving values along; sets lv->size. Optional. */
    stc_status (*append_join)(ctx *cx, level *lv, void *vals, size_t size);

    /* All at once: entries sorted by (parent position, coordinate) as the
     * level's order and uniqueness ask. Every kind has it. */
    stc_status (*pack)(ctx *cx, level *lv, pack_in *in);

    /* The claims of the data, against `parents` parent positions; fills size.
     * Messages begin with the position: the caller puts the level before them. */
    stc_status (*check)(ctx *cx, level *lv, int64_t parents);

    /* Optional, NULL where the data has no such form. table: every fiber of the
     * level. append_room: room for n more coordinates, and for the bounds of
     * parents below `parents` (0: none will be written). append_done: n
     * coordinates were written, and bounds for all parents below `parents`
     * (0: none), so that the single steps above may go on from there. */
    void (*table)(const level *lv, fiber_table *out);
    stc_status (*append_room)(ctx *cx, level *lv, int64_t n, int64_t parents,
                              append_room *out);
    void (*append_done)(level *lv, int64_t n, int64_t parents);
    /* Optional: the same for what threads assembled apart and put behind each other
     * (join.h): whole fibers, each of which is as the kind wants it. join_again: all of
     * them are forgotten, their memory serves again, and what follows is below `parent` and
     * those behind it: the first bound in memory is its. */
    stc_status (*join_room)(ctx *cx, level *lv, int64_t n, int64_t parents,
                            append_room *out);
    void (*join_done)(level *lv, int64_t n, int64_t parents);
    void (*join_again)(level *lv, int64_t parent);
};

/* levels.def lists the kinds; the order is their number in .stb files. */
typedef enum level_kind_id {
#define LEVEL(name) LEVEL_##name,
#include "levels.def"
    LEVEL_COUNT
} level_kind_id;

const level_kind *level_kind_at(int id); /* NULL: no such id   */
/* Of a name there may be a kind that takes a number, and one that takes none. */
const level_kind *level_kind_named(const char *name, size_t len, bool takes);
int level_kind_number(const level_kind *k); /* -1: the host's own  */
/* The first of levels.def with these capabilities and properties that lacks those others;
 * NULL: none. What plans make tensors of: a place for each coordinate, coordinates in
 * order, runs that are appended. */
const level_kind *level_kind_with(uint32_t caps, uint32_t props, uint32_t without);
const level_kind *level_full(void);
const level_kind *level_sparse(void);
const level_kind *level_runs(void);
/* Built-in or of the host's own. */
const level_kind *level_kind_find(const ctx *cx, const char *name, size_t len, bool takes);
const level_kind *level_kind_host(const ctx *cx, int i); /* NULL past the end    */
stc_status level_kind_register(ctx *cx, const stc_level_kind *kind);

/* Uniform steps over any kind. */
static inline void cursor_open(cursor *c, const level *lv, const cursor *up)
{
    lv->kind->open(c, lv, up);
}
static inline void cursor_next(cursor *c)
{
    c->lv->kind->next(c);
}
void cursor_seek(cursor *c, int64_t i); /* the first interval with hi > i */
/* Makes `c` stand at coordinate i, position p; NONE: on nothing. */
static inline void cursor_place(cursor *c, const level *lv, const cursor *up, int64_t i,
                                int64_t p)
{
    c->lv = lv;
    c->up = up;
    c->at = p;
    c->at_end = p == NONE ? NONE : p + 1;
    c->coord = i;
}
/* Sets at, at_end and coord for coordinate i; i >= the last one asked. True if
 * the operand is present there. The cursor must already stand on the first
 * interval with hi > i. */
static inline bool cursor_stand(cursor *c, int64_t i)
{
    if (i < c->lo || c->lo == CURSOR_END) {
        c->at = c->at_end = NONE;
        return false;
    }
    int64_t off = i - c->lo;
    if (c->period != PERIOD_ENDLESS && off >= c->period) off %= c->period;
    c->at = c->pos + off;
    c->at_end = c->pos_end + off;
    c->coord = i;
    return true;
}

#endif
