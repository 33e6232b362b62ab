/* nest.h: a loop inside another, which runs by strips (strip.c): a superinstruction runs it
 * for all lanes of the strip.
 *
 * What the inner loop leaves alone is a column of the outer strip: parent
 * positions of its fibers, scalars, starting values. A kernel is handed these
 * and the fibers as tables, and does for each lane what the inner loop does
 * for that round of the outer one. Kernels are rows of super.def.
 */
#ifndef STC_VM_NEST_H
#define STC_VM_NEST_H

#include "../strips/strip.h"

enum { NEST_LOADS = 3, NEST_WALKS = 2, NEST_SCALARS = 4, FN_NONE = -1 };

/* The inner loop's fibers, as a kernel sees them. */
typedef enum nest_shape {
    NEST_FIBER, /* one fiber of coordinates                    */
    NEST_RANGE, /* all coordinates of the loop's range         */
    NEST_MERGE, /* two fibers of coordinates                   */
} nest_shape;

/* A fiber of coordinates per lane: [bounds[parent], bounds[parent + 1]). */
typedef struct nest_walk {
    const void *bounds, *crd; /* bounds NULL: one child a parent, at its position */
    const int64_t *wide;      /* not NULL: bounds, wider than coordinates (nest_bounds.c) */
    int step;                 /* from coordinate to coordinate, in widths         */
    bool gaps;                /* some positions have no coordinate: one below the range */
    bool grouped;    /* no table of bounds: the parent's lanes are groups (nest_bounds.c) */
    int64_t entries; /* in all fibers                                  */
    const column *parent;
    uint16_t place; /* of the inner loop */
} nest_walk;

/* A factor of the inner loop's value. */
typedef struct nest_load {
    const void *vals;
    int walk;             /* the walk whose position it is at; -1: by coordinate */
    const column *parent; /* by coordinate i: at parent * extent + i - lo      */
    int64_t extent, lo;
    const level *probe; /* not NULL: by coordinate, each looked for below parent    */
    int slot;           /* … in what this one has */
    int64_t nvals;
    uint16_t node; /* of the inner loop */
    bool made;     /* of what is walked: nest_made.c */
} nest_load;

typedef struct nest nest;
typedef struct nest_made nest_made;
typedef struct nest_bounds nest_bounds;

typedef struct row_places {
    int64_t base;
    level *leaf;
    slot *r;
} row_places;
typedef stc_status (*nest_kernel)(machine *mc, nest *ns);
typedef struct super_instance super_instance; /* of super.def, see super.h */

struct nest {
    uint8_t shape, cls, type; /* nest_shape, vclass, stc_type of what is loaded       */
    int16_t plus, times;      /* of the sink (STORE: none); of the factors, FN_NONE:
                                 there is only one. STORE: of the two loads           */
    const super_instance *narrow, *wide; /* for 32-bit and 64-bit indices */
    const super_instance *kernel; /* of this run                                    */
    uint64_t since; /* … and of those while so many bindings are counted   */
    int nwalk, nload, nscalar;
    nest_walk walk[NEST_WALKS];
    nest_load load[NEST_LOADS];
    uint16_t scalar[NEST_SCALARS]; /* outer nodes                                         */
    uint64_t must;                 /* inner operands whose absence kernels can't do       */
    bool chooses;       /* the first load is a truth value, and chooses the second    */
    bool by_lane;       /* ACC: into the place that the outer loop set            */
    bool probes;        /* the kernel can do with located operands that aren't ranges */
    bool gaps;          /* in this strip, lanes lack a located operand         */
    bool far;           /* what is walked comes from memory (ahead.h)          */
    bool units;         /* NEST_MERGE: all factors are nothing but 1, terms are counted */
    value fill[2];      /* NEST_MERGE into a result: of the two loads          */
    bool both, only[2]; /* NEST_MERGE: what produces                           */
    int64_t lo, hi;     /* the inner loop's range                              */
    int64_t end[NEST_WALKS]; /* NEST_MERGE: where a walk's last fiber ends          */
    int width;               /* bytes of coordinates and bounds, 0 if there are none */
    int from, to;            /* lanes that a kernel is to run                       */
    bool vectors;            /* the processor has it                                */
    int64_t rounds;          /* of the inner loop, counted by the kernel            */
    const void *limit_of;    /* fold_chosen: values whose least (greatest) is known:  */
    value limit;             /* a sum that has come to it is settled                  */
    nest_made *made;         /* a factor that is made, not loaded; NULL: there is none */
    bool widens;             /* some walk has wide bounds, or none                   */
    nest_bounds *bounds;     /* of each walk, for some lanes; NULL: never needed      */
    bool tells;              /* a second sink: whether there was a term             */
    int64_t *told;           /* NULL if not; all bits of lanes that had a term      */
    nest_links link;
    loop_summary in; /* the inner loop's  */
    strip *o;        /* of the outer loop */
};

/* Lane k's parent; NONE: the fiber is empty. */
static inline int64_t walk_parent(const nest_walk *w, int k)
{
    return column_get(w->parent, k);
}
static inline int64_t load_base(const nest_load *x, int k)
{
    return column_get(x->parent, k) * x->extent - x->lo;
}

/* Whether lane k has what is located; without it there are no rounds. */
bool nest_lane_there(const nest *ns, int k);
static inline bool nest_lane(const nest *ns, int k)
{
    return !ns->gaps || nest_lane_there(ns, k);
}

/* The level of an inner operand, and the column of positions it is below. */
const level *nest_level(const machine *mc, const nest *ns, int place, const tensor **t);

/* nest.c. Matching, in a strip that is set up for the outer loop as it stands: *out stays
 * NULL if super.def has no row. prepare: false if
 * this run's fibers aren't as the kernel needs them. gaps: for a new strip. */
stc_status nest_match(machine *mc, strip *outer, const loop_tree *inner, nest **out);
bool nest_prepare(machine *mc, nest *ns);
void nest_gaps(nest *ns);
void nest_count_fibers(machine *mc, const nest *ns); /* of the lanes it is to run */

/* nest_tell.c */
bool nest_tells(const machine *mc, const loop_summary *in);
void nest_tell_none(nest *ns);
static inline void nest_tell(nest *ns, int k, bool term)
{
    if (ns->told && term) ns->told[k] = -1;
}

/* nest_made.c: whether a node is a factor that can be made, which then is one; in elements
 * of type t. Once all is matched: what it takes. */
bool nest_makes(nest *ns, int id);
bool nest_made_fits(const machine *mc, const nest *ns, stc_type t);
stc_status nest_made_ready(machine *mc, nest *ns);
bool nest_made_holds(const nest *ns);
bool nest_made_far(const machine *mc, const nest *ns);
stc_status nest_made_run(machine *mc, nest *ns);
void nest_made_free(machine *mc, nest_made *m);

/* nest_bounds.c: the kernel for lanes of walks some of which have wide bounds. */
stc_status nest_bounds_run(machine *mc, nest *ns);
void nest_bounds_free(machine *mc, nest_bounds *b);

static inline bool nest_load_walked(const nest *ns, int k, int w)
{
    return ns->load[k].made || ns->in.node[ns->load[k].node].b == ns->walk[w].place;
}

void nest_free(machine *mc, nest *ns);
void nest_describe(const nest *ns, textbuf *out);

/* super.c: the kernels for a matched nest; false if no row has it. Whether all that its
 * kernel multiplies are ones, or what is that to the kernel's products. */
bool super_choose(const machine *mc, nest *ns);
bool super_units(machine *mc, const nest *ns);

#endif
