/* tensor.h: a tensor: shape, type, fill, and a stack of levels with values.
 *
 * Positions of the last level index vals. A scalar (order 0) has no levels and
 * one value. Values are borrowed from the host or owned; owned ones grow in
 * place while results are appended.
 */
#ifndef STC_FORMATS_TENSOR_H
#define STC_FORMATS_TENSOR_H

#include "format.h"
#include "base/types.h"

/* Marks of the lines that were stored into, see stains.c. */
enum { STAIN_LINE = 64, STAIN_BLOCK = 64 }; /* bytes, lines */
typedef struct stains {
    uint8_t *line; /* NULL: no marks were asked for; else 1: marked               */
    int64_t lines; /* a block more than there are                               */
    bool on;       /* this assembly marks what it stores into                          */
    bool never;    /* it may not: it is one of several into these values               */
    bool old;      /* values that aren't there yet are the fill, but for marked lines  */
    /* what they hold for */
    uint64_t generation;
    const void *vals;
    int64_t n;
    value one; /* the fill as it is stored */
} stains;

/* What the borrowed arrays of a tensor lie in, if that is the tensor's own: a file.
 * present: it is what it was when it was opened; sound: its bytes are those that were
 * written, asked once; end: gives it back. Those that can fail fill the diag. */
typedef struct tensor_backing {
    stc_status (*present)(ctx *cx, const struct tensor_backing *b);
    stc_status (*sound)(ctx *cx, const struct tensor_backing *b);
    void (*end)(ctx *cx, struct tensor_backing *b);
    bool left;        /* the tensor has other arrays by now */
    const char *path; /* for errors */
} tensor_backing;

struct stc_tensor {
    ctx *cx;
    format fmt;
    stc_type type;
    int order;
    int64_t shape[STC_MAX_ORDER];
    value fill; /* in the type's class                            */
    level level[STC_MAX_ORDER];
    void *vals;
    int64_t nvals, vals_cap; /* elements                                       */
    int64_t few; /* while assembled: its values, if they are so few that all are filled
                    when one is stored; else 0                                */
    bool vals_owned;
    bool vals_room;      /* borrowed, and results may be stored there   */
    bool vouched;        /* the host answers for the arrays                */
    uint64_t generation; /* counts changes of data                         */
    uint64_t checked;    /* the generation that tensor_check passed        */
    uint64_t summed;     /* that whose arrays are as they were put in files, see spill.h */
    char *fmt_text;      /* cache of stc_tensor_format                     */
    stains stains;
    tensor_backing *backing; /* NULL: owned, or the host's */
    bool unmade;             /* nothing of it is there yet: tensor_check makes it empty */
    void (*release)(void *context); /* frees what was lent, with it; NULL: not freed */
    void *release_context;
    int sharers; /* how many others have it: it isn't changed then, and each frees it */
    struct stc_tensor *pattern; /* has the arrays that are shared, with others; else NULL */
};
typedef struct stc_tensor tensor;

/* An empty, valid tensor: no entries, dense levels full of fill. */
stc_status tensor_new(ctx *cx, const format *f, stc_type type, const int64_t *shape,
                      value fill, tensor **out);
void tensor_free(tensor *t);
/* The same, but that its arrays aren't made before tensor_check; or never, if it is
 * assembled, or others are lent. */
stc_status tensor_new_unmade(ctx *cx, const format *f, stc_type type, const int64_t *shape,
                             value fill, tensor **out);
/* None of its arrays are the host's, or a file's. */
bool tensor_owns_arrays(const tensor *t);
/* A copy that isn't to be changed: t itself with one more owner, if its arrays are its
 * own; else as tensor_copy. */
stc_status tensor_share(tensor *t, tensor **out);
/* pattern.c: whether another tensor of its format and shape may have its index arrays, too;
 * t, which has no entries, gets them, and no values yet; t doesn't have them any more. */
bool tensor_shares_pattern(const tensor *t);
stc_status tensor_take_pattern(tensor *t, tensor *from);
void tensor_leave_pattern(tensor *t);
/* t has copies of what it shared. */
stc_status tensor_own_pattern(tensor *t);
/* Level extents and bases from shape and format; overflow is an error. */
stc_status tensor_set_shape(tensor *t, const int64_t *shape);
/* Empties it for assembly: owned buffers are kept for reuse. */
void tensor_reset(tensor *t);
/* Levels 0 … l hold each coordinate once: positions there stand alone. */
bool tensor_unique(const tensor *t, int l);
/* Room for n values: only the capacity changes, new ones are unset. */
stc_status tensor_reserve_values(tensor *t, int64_t n);
/* Results are assembled in the host's n elements from now on, as long as they fit; again in
 * memory of its own, with no values at first. */
void tensor_give_room(tensor *t, void *vals, int64_t n);
void tensor_leave_room(tensor *t);
/* At least n values: nvals becomes n if it was less (or a few more, where there are
 * stains), new ones are the fill. */
stc_status tensor_extend_values(tensor *t, int64_t n);
/* The same where the caller writes all that is new, at once. */
stc_status tensor_extend_unfilled(tensor *t, int64_t n);
/* Values up to `end`, for which there is room, are the fill where they were missing, and
 * no others: with stains, if lines end there. */
void tensor_fill_to(tensor *t, int64_t end);
/* The frame of an assembly by append and insert: begin empties t and starts
 * every level (those of formats without append are refused); finish closes
 * the levels from the root on, and makes nvals the last level's size. Between
 * the two, levels are filled by their kinds' append functions, and values
 * stored after tensor_extend_values. */
stc_status tensor_begin(tensor *t);
stc_status tensor_finish(tensor *t);
/* stains.c, for results with few values stored, between tensor_begin and the first
 * value: marks for so many values, or NULL if there are none this time. All lines
 * that are stored into until tensor_finish must be marked. */
uint8_t *stains_ask(tensor *t, int64_t values);
/* With marks that hold from before: rows of whole lines each, from the end of what there
 * is on. Those that are `written` are marked, for who writes all of them now; of the
 * others, what was marked is filled. */
void stains_rows(tensor *t, int64_t rows, int64_t lines, const int32_t *written);
/* Whether a format's results can be assembled that way; whether the levels below l have
 * a place for every coordinate, known without data. */
bool format_appends(const format *f);
bool format_places_below(const format *f, int l);
/* Swaps the contents (not the context) of two tensors. */
void tensor_swap(tensor *a, tensor *b);
/* Its mode m is mode[m] from now on, as format f has it: nothing moves. */
void tensor_renumber(tensor *t, const format *f, const int *mode);
stc_status tensor_copy(const tensor *t, tensor **out);
stc_status tensor_check(tensor *t);
/* How many positions a level has by what its arrays' lengths say, none of which was looked
 * at; NONE: only looking tells. */
int64_t tensor_level_says(const tensor *t, int l, int64_t parents);
/* The same, though it may have passed before. */
stc_status tensor_check_afresh(tensor *t);
int64_t tensor_stored(const tensor *t);
/* Of the last level, as far as its kinds say so beforehand; else NONE. */
int64_t tensor_places(const tensor *t);
uint64_t tensor_bytes(const tensor *t);

/* Entries: coordinates by mode, and values, all plain arrays. Who lists many may do so
 * with coordinates of 32 bits; tensor_pack takes both, all others ask for the wide ones. */
typedef struct entries {
    ctx *cx;
    int order;
    stc_type type;
    bool is_narrow; /* coordinates are in `narrow`, else in `coord`; the others are NULL */
    int64_t n, cap;
    int64_t *coord[STC_MAX_ORDER];
    int32_t *narrow[STC_MAX_ORDER];
    void *vals;
} entries;
void entries_init(entries *e, ctx *cx, int order, stc_type type);
/* Coordinates of 64 bits from now on; on failure nothing has changed. */
stc_status entries_widen(entries *e);
stc_status entries_reserve(entries *e, int64_t n);
stc_status entries_push(entries *e, const int64_t *coords, value v);
void entries_free(entries *e);
/* Sorts by the given modes, first most significant; stable; extents are by
 * mode, coordinates outside them are an error. Linear, with memory of the order
 * of n, and none if the entries are in order already. */
stc_status entries_sort(entries *e, const int *modes, int count, const int64_t *extents);

/* Stored entries of any tensor, in storage order, padding of blocks left out,
 * explicit fills and duplicates as they are. */
stc_status tensor_entries(const tensor *t, entries *out);
/* Fills t (made by tensor_new) from entries in any order; duplicates are
 * summed. The entries are sorted in place, and their values may be moved. On
 * failure t is left without entries. */
stc_status tensor_pack(tensor *t, entries *e);
/* A tensor from entries that come in batches (stream.c): they are put in place or
 * appended as they come, where the format allows that, so that there is no list of them.
 * `held` are all modes, the first most significant, if the entries ascend by them, else
 * NULL; unique: none comes twice, else they are summed; expected: how many, -1 if that
 * isn't known. t was made by tensor_new; after a failure it is only fit to be freed. */
typedef struct entry_stream {
    tensor *t;
    enum { STREAM_LISTS, STREAM_PLACES, STREAM_APPENDS } how;
    const int *held;
    entries list;
    uint8_t *mark; /* a bit a place that has its value */
    int64_t nmark;
    int64_t last; /* the place stored to last, + 1 */
    bool any;
    int64_t at[STC_MAX_ORDER], coord[STC_MAX_ORDER]; /* by level: of the last entry */
} entry_stream;
stc_status stream_begin(entry_stream *s, tensor *t, const int *held, bool unique,
                        int64_t expected);
stc_status stream_put(entry_stream *s,
                      const entries *batch); /* of any type, inside the shape */
stc_status stream_finish(entry_stream *s);
void stream_free(entry_stream *s); /* in any case; of zeros, too */
/* Every element is v: v is stored everywhere unless it is the fill. */
stc_status tensor_constant(ctx *cx, const format *f, stc_type type, const int64_t *shape,
                           value v, value fill, tensor **out);
/* By streams of entries; what is stored densely and equals the new fill is left out
 * where the target can leave it out. */
stc_status tensor_convert(const tensor *t, const format *f, stc_type type, value fill,
                          tensor **out);
/* Said before t, a file's, is looked at for the first time: it will be converted so, for
 * which pages can be made ready meanwhile; premade_end frees those that weren't used. */
void convert_ahead(const tensor *t, const format *f);
/* Entries of t into c, another tensor of its shape, made by tensor_new; drop: without
 * what equals t's fill. */
stc_status tensor_transfer(const tensor *t, tensor *c, bool drop);
/* Entries with lo <= coordinate < hi in each mode, into c, which is of that shape. */
stc_status tensor_cut(const tensor *t, const int64_t *lo, const int64_t *hi, tensor *c);
/* Drops entries whose value equals the fill. */
stc_status tensor_compact(const tensor *t, tensor **out);
/* The same where they lie, for who owns a tensor and drops in each round what the next one
 * makes again, as a search does with its frontier: its arrays keep their room. *done: it
 * was, and t has another generation unless all stayed. Else, and on failure, t is as it
 * was: its format isn't rows, its arrays aren't its own, or it is too large to be changed
 * without asking whether the call has to end. */
stc_status tensor_compact_within(tensor *t, bool *done);
/* One element, duplicates summed, fill where it isn't stored. */
value tensor_get(const tensor *t, const int64_t *coords);
stc_status tensor_visit(const tensor *t, stc_visit_fn visit, void *context);
/* The same in blocks of up to `most` entries that are asked for (iterate.c); the next
 * block is in *out until the one after it, without entries: there are no more. Nothing is
 * allocated after open. t stays where it is and as it is until free, or next fails. */
stc_status tensor_iter_open(const tensor *t, int64_t most, stc_iter **out);
stc_status tensor_iter_next(stc_iter *it, const entries **out);
ctx *tensor_iter_ctx(const stc_iter *it);
void tensor_iter_free(stc_iter *it);

#endif
