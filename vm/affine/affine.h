/* affine.h: whole nests of loops that read one sparse operand at affine
 * coordinates, as convolutions do, driven by what that operand stores.
 *
 *     out(i, j, …) += A(i+p, j+q, …) * F(p, q, …) * …
 *
 * However the loops are ordered, such a nest adds a product to a place of the
 * result for each tuple of its indices at which A stores something, and places
 * of the result and of dense factors are linear in the indices. So the stored
 * entries are walked once, each level's coordinate is solved for the indices
 * in it (all but one tried, the last one computed), and the product scattered:
 * work in proportion to the nonzeros and the filter, in storage order. (The
 * convolutions paper iterates input subsections, §3.1; this is its loop
 * p → i, Fig. 19, for all filter elements at once.)
 *
 * What is tried at all levels together is a *tap*, an element of the filter.
 * Where an entry's taps lead to, relative to the entry, is the same for all
 * entries; so they are listed once, and an entry whose taps all lie inside
 * needs no looking at them one by one.
 */
#ifndef STC_VM_AFFINE_H
#define STC_VM_AFFINE_H

#include "../core/coords.h"
#include "../nest/fuse.h"
#include "../nest/linear.h"

enum { AFFINE_INDICES = LINEAR_INDICES, AFFINE_LOADS = 4 };
enum { AFFINE_FORMS = AFFINE_LOADS + STC_MAX_ORDER };
enum { AFFINE_BOUNDS = 4 };
enum { AFFINE_CLASSES = 256, AFFINE_FILTER = 64 };

typedef struct affine_load {
    uint16_t tensor, place;
} affine_load;

/* A linear form with everything but the nest's indices put in. */
typedef struct affine_line {
    int64_t base, coef[AFFINE_INDICES];
} affine_line;

/* A level of the sparse operand in a run: its fibers, and how its coordinate is
 * solved. */
typedef struct affine_level {
    bool walked, ordered, grouped; /* grouped: duplicates are one coordinate   */
    bool viewed;  /* for blocks.c: each fiber is a range of its own          */
    bool implied; /* the same: one child a parent, where others say          */
    const level *at;
    const char *crd, *bounds; /* bounds NULL: one child a parent          */
    int32_t width, stride, bounds_width;
    int64_t lo, extent; /* not walked: coordinate x of parent p is at
                           p * extent + x - lo                                */
    int line;           /* of its coordinate                                  */
    int solved;         /* the index that follows from the others, -1: none   */
    int tried[AFFINE_INDICES], ntried;
    int64_t min, max; /* what its free indices add to the coordinate          */
} affine_level;

/* With taps: a level's coordinate of y more than its base is step * x + r, 0 <= r <
 * |step|: x is the solved index where the tap's `back` is 0, and r times radix its
 * part of the class. */
typedef struct affine_window {
    int64_t step, radix;
    int64_t some_lo, some_hi; /* elsewhere x is of no tap                     */
    int64_t all_lo, all_hi;   /* here of all of them                          */
    int64_t min, max;         /* of y                                         */
} affine_window;

/* n taps in a row: k more than the first one, they add at + k * hop to the lines
 * of result and factors, and the solved index of level l is x - back - k * turn. */
typedef struct affine_tap {
    int64_t n, at[AFFINE_LOADS], hop[AFFINE_LOADS];
    int64_t back[STC_MAX_ORDER], turn[STC_MAX_ORDER];
    int class; /* they serve coordinates of one remainder at each level      */
} affine_tap;

/* Where the walk stands in a level: the coordinates' class so far, and the levels
 * at which not all taps lie inside, as bits. */
typedef struct affine_stand {
    int class;
    uint32_t edges;
} affine_stand;

/* Taps that all entries of a fiber have, in rows of one length, and their values;
 * rows 0: it isn't so simple. */
typedef struct affine_filter {
    int rows, taps;
    bool moved; /* each fiber has its own values                                 */
    int64_t hop, to[AFFINE_FILTER]; /* in the result                            */
    value value[AFFINE_FILTER];     /* room for as many of the nest's class      */
} affine_filter;

/* The result's values while the nest runs (affine_room.c). */
typedef struct affine_room {
    tensor *tensor;
    int64_t places;  /* in all                  */
    int64_t tap_max; /* how far taps lead       */
    int shift;       /* places a line           */
    uint8_t *mark;   /* NULL: nothing is marked */
} affine_room;

typedef struct affine affine;
struct affine {
    super base;
    /* What the program says. */
    int nindex, nplace, nload, nscalar;
    loop *index[AFFINE_INDICES];
    linear_place place[LINEAR_PLACES];
    affine_load load[AFFINE_LOADS]; /* the first one is the sparse operand's */
    struct {
        bool constant;
        uint16_t id; /* constant or register */
    } scalar[AFFINE_LOADS];
    uint8_t cls;
    int kernel; /* row of affine.def                                          */
    sink sink;  /* ACC: b is its place; WSADD                       */
    linear_form workspace[STC_MAX_ORDER]; /* WSADD: the coordinates             */
    int nbound;
    struct { /* rounds that aren't within [0, extent) of these add nothing       */
        linear_form at;
        uint16_t extent;
        affine_line line; /* in this run, */
        int64_t hi;       /* and the extent */
    } bound[AFFINE_BOUNDS];
    bool append;     /* in this run: the result appends coordinates of rows        */
    bool alone;      /* nothing else is stored into what it adds to               */
    bool told;       /* … where there was a term                                    */
    bool stored;     /* it stores sums that begin with a constant: the fill, or   */
    uint16_t start;  /* the nest isn't run so                                     */
    uint16_t cursor; /* STORE: the register that stands at the place          */
    workspace *sums; /* STORE: an accumulator of the nest's own               */
    /* One run. Lines: 0 the result's position, 1 … the factors', then levels. */
    int64_t lo[AFFINE_INDICES], hi[AFFINE_INDICES];
    int nlevel, nrest;
    affine_level level[STC_MAX_ORDER];
    affine_line line[AFFINE_FORMS];
    int rest[AFFINE_INDICES]; /* indices that the operand doesn't have          */
    const void *vals[AFFINE_LOADS];
    void *out;
    affine_room room;
    workspace *ws;
    value factor;       /* of the scalars                                   */
    int64_t begin, end; /* the sparse operand's first parents         */
    /* The taps by class, first[c] … first[c+1]-1, and what they were listed for. */
    affine_tap *tap, *draft;
    int64_t ntap, tap_cap, draft_cap;
    int64_t first[AFFINE_CLASSES + 1];
    affine_line listed[AFFINE_FORMS];
    int64_t listed_lo[AFFINE_INDICES], listed_hi[AFFINE_INDICES];
    bool tapped, untapped; /* untapped: they can't be listed for these             */
    affine_window window[STC_MAX_ORDER];
    affine_filter filter;
    affine_stand stand[STC_MAX_ORDER];
    int64_t x[STC_MAX_ORDER]; /* of each level's coordinate, see affine_window */
    void (*fiber)(affine *a, const int64_t *at, int64_t begin, int64_t end);
    void (*entry)(affine *a, const int64_t *at, int64_t pos);
    int64_t rounds;
    struct affine_gather *gather; /* affine_gather.c */
};

/* Loop l and all inside it; *out stays NULL if it isn't such a nest, as none of most
 * programs' is. */
bool affine_possible(const program *p);
stc_status affine_fuse(machine *mc, loop *l, const value_reads *reads, super **out);

/* affine.c */
stc_status affine_run(machine *mc, super *base);
void affine_release(machine *mc, super *base);

/* blocks.c: of a nest with bounds that has been prepared; the last place of the result. */
stc_status blocks_run(machine *mc, affine *a, int64_t last);
/* Place x's level has one child for each parent, where levels above say, and it is
 * located there; a level without a table that blocks_run can do with. */
bool blocks_implied(const machine *mc, const affine *a, const linear_place *x);
bool blocks_level(const machine *mc, const affine *a, const linear_place *x,
                  affine_level *out);

/* affine_taps.c: lists the taps, and sets `tapped` if they can be; else other tiers run
 * the nest. */
stc_status affine_list_taps(machine *mc, affine *a);

/* Whether tap k of row t is inside at the levels in `edges`. */
static inline bool affine_inside(const affine *a, const affine_tap *t, int64_t k,
                                 uint32_t edges)
{
    for (; edges; edges &= edges - 1) {
        const int l = __builtin_ctz(edges), d = a->level[l].solved;
        const int64_t i = a->x[l] - t->back[l] - k * t->turn[l];
        if (i < a->lo[d] || i >= a->hi[d]) return false;
    }
    return true;
}

/* affine_room.c: opens the result, whose last place is `last`; before a fiber's entries
 * up to coordinate `last` are added, and after that, if there are marks. */
stc_status affine_room_open(machine *mc, affine *a, int64_t last);
stc_status affine_room_rows(machine *mc, affine *a, int64_t last); /* affine_gather.c's */
stc_status affine_room_fill(machine *mc, affine *a, const int64_t *at, int64_t last);
void affine_room_mark(const affine *a, const int64_t *at, int64_t begin, int64_t end);

static inline int64_t affine_coord(const affine_level *lv, int64_t p)
{
    return coord_at(lv->crd, lv->width, lv->stride, p);
}

/* Where the children of position p begin. */
static inline int64_t affine_children(const affine_level *lv, int64_t p)
{
    return lv->bounds ? index_at(lv->bounds, lv->bounds_width, p) : p;
}

/* affine_walk.c: level 0 below the first parents, and so on. */
stc_status affine_walk(machine *mc, affine *a);

/* affine_lines.c, affine_gather.c: whether this run's rows can be gathered so (then lines
 * are listed); the run, of a result whose last place is `last`. */
bool affine_gathers(machine *mc, affine *a);
stc_status affine_gather_run(machine *mc, affine *a, int64_t last);
void affine_gather_release(machine *mc, affine *a);

/* affine_store.c: whether this run's sums can be stored so; the accumulator, before the
 * walk; the result's entries, after it. */
bool affine_store_ready(machine *mc, affine *a);
stc_status affine_store_begin(machine *mc, affine *a);
stc_status affine_store_end(machine *mc, affine *a);
void affine_store_release(machine *mc, affine *a);

/* affine.c, with this run's registers: a form as a line; whether a line stays within
 * [lo, hi). */
bool affine_line_of(const machine *mc, const linear_form *f, affine_line *out);
bool affine_within(const affine *a, const affine_line *x, int64_t lo, int64_t hi);
/* out = out * n + x - lo; false: that is too large. */
bool affine_descend(affine_line *out, int64_t n, const affine_line *x, int64_t lo);
/* affine_append.c: the lines of a result that appends, as if all were dense; false: its
 * rows aren't appended in order. */
bool affine_append_ready(const machine *mc, affine *a);
/* The most places that the nest can add to, of `all`. */
int64_t affine_most_touched(const machine *mc, const affine *a, int64_t all);

/* affine_leaf.c: the row of affine.def for elements of a type and two functions (times
 * FN_NONE: any), or -1; that row's second function. */
int affine_kernel(stc_type type, int plus, int times);
int affine_times(const affine *a);
/* Sets a->fiber (NULL: entry by entry) and a->entry. */
void affine_choose(affine *a);

#endif
