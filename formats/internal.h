/* internal.h: what the files of formats/ share among themselves, beyond the
 * headers that others may include.
 */
#ifndef STC_FORMATS_INTERNAL_H
#define STC_FORMATS_INTERNAL_H

#include "recipe.h"
#include "tensor.h"

/* Sorts entries by `count` of their modes, the first most significant; stable.
 * Coordinates lie in [base, base + extent), or it is an error. The last
 * `sorted` of the modes are known to be in order among equal others. */
typedef struct sort_order {
    int count, sorted;
    int mode[STC_MAX_ORDER];
    int64_t base[STC_MAX_ORDER], extent[STC_MAX_ORDER]; /* per place in `mode` */
} sort_order;
stc_status entries_sort_by(entries *e, const sort_order *order);
/* Sums neighbours with equal coordinates. */
void entries_sum(entries *e);
void entries_drop(entries *e, value v); /* those that equal v */
/* n values in another type. */
stc_status convert_elements(ctx *cx, stc_type to, void *out, stc_type from,
                            const void *vals, int64_t n);
stc_status entries_retype(entries *e, stc_type type);
stc_status entries_in_shape(const entries *e, const int64_t *shape);

/* The modes by which the entries of t are in order, the first most
 * significant, as far as its levels are ordered. */
int tensor_held_order(const tensor *t, int *held);
/* tensor_pack for entries in the order `held` of modes (NULL: none known). */
stc_status tensor_pack_held(tensor *t, entries *e, const int *held);

/* Fills t, made by tensor_new, from entries, if counting serves its format: done tells.
 * The entries stay as they are. */
stc_status pack_by_counting(tensor *t, const entries *e, bool *done);

/* Gives back room that is far more than the values. */
void tensor_trim_values(tensor *t);

/* Fills c, made by tensor_new with t's shape and fill, from t, if both have a
 * form for which counting serves: done tells. */
stc_status convert_by_counting(const tensor *t, tensor *c, bool *done);
/* The same if c is a list of entries, in the order in which t has them. */
stc_status convert_to_list(const tensor *t, tensor *c, bool *done);
/* The same for elements that both have in one order, in runs or repeats. */
stc_status convert_by_runs(const tensor *t, tensor *c, bool *done);

/* format_apart, of a tensor's level that has another below it. */
static inline bool level_apart(const level *lv)
{
    return !(lv->props & PROP_UNIQUE) && !(lv[1].kind->caps & CAP_CHAIN);
}

/* Walks the stored entries in storage order. Entries gather in `batch`; `full`
 * is called whenever many have (it empties the batch), NULL: they all stay. */
typedef struct walk {
    const tensor *t;
    entries *batch;
    stc_status (*full)(struct walk *w);
    void *context;
    /* Entries in the batch at which it pauses, which is no failure; 0: never. The next call
     * goes on from there, if the tensor and the walk are where and what they were. */
    int64_t most;
    bool paused;
    /* private */
    bool plain, drop;
    recipe recipe;
    int64_t coord[STC_MAX_ORDER]; /* of the levels above the last */
    int64_t paced;                /* entries and fibers since the last look at limits */
    value fill;
    /* where it stands, by level, and in the last one */
    bool again;
    cursor cur[STC_MAX_ORDER];
    int64_t at[STC_MAX_ORDER], twin[STC_MAX_ORDER]; /* coordinate, and duplicate of it */
    enum { IN_RANGE, IN_COORDS, IN_CURSOR } in;
    fiber_view view; /* of IN_COORDS: what is left */
    struct walk_rest {
        int64_t first, step, pos, n;
    } rest;            /* of a stretch that wasn't put as a whole */
    int64_t to, inner; /* of IN_CURSOR: the coordinate to go on at, the place below it */
} walk;
stc_status tensor_walk(walk *w);

/* Copies elements of `size` bytes; fills n of them with one. */
void copy_element(void *to, int64_t i, const void *from, int64_t j, size_t size);
/* Entry i to place n of the list. */
void entries_move(entries *e, int64_t n, int64_t i);
void fill_elements(void *to, int64_t begin, int64_t end, const void *one, size_t size);
/* stains.c: at tensor_begin, of what had that generation and will have so many values
 * if that is known (else NONE); fills values [begin, end) or a few more, and gives the
 * end; at tensor_finish. */
void stains_begin(tensor *t, uint64_t generation, int64_t values);
int64_t stains_fill(tensor *t, int64_t begin, int64_t end, const void *one);
void stains_fill_to(tensor *t, int64_t begin, int64_t end, const void *one); /* no more */
void stains_finish(tensor *t);
void stains_free(tensor *t);
/* tensor_finish, which joins what is equal, or without that. */
stc_status tensor_close(tensor *t, bool join);
/* Joins the coordinates of interleaved levels into arrays of structs. */
stc_status tensor_interleave(tensor *t);
/* Puts the level before what its kind said in an error, and returns status. */
stc_status fail_level(const tensor *t, int l, stc_status status);
/* The sum of two values as values of type t. */
value value_add(stc_type t, value a, value b);

#endif
