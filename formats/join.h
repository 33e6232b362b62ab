/* join.h: one tensor from parts of others of the same format and shape, in order. */
#ifndef STC_FORMATS_JOIN_H
#define STC_FORMATS_JOIN_H

#include "tensor.h"

/* What a part takes of each level, and where it comes to lie. */
typedef struct tensor_part {
    tensor *from;
    struct {
        int64_t begin, end, to; /* positions */
    } at[STC_MAX_ORDER];
} tensor_part;

typedef struct tensor_join {
    tensor *to;
    bool begun; /* a part has its place */
    append_room room[STC_MAX_ORDER];
    int64_t end[STC_MAX_ORDER]; /* positions that what is there and parts take         */
    /* those for which there is room, and parents whose bounds have some */
    int64_t room_end[STC_MAX_ORDER], parents[STC_MAX_ORDER];
} tensor_join;

/* Whether tensors of a format can be joined: every level computes its positions,
 * or can be put together from parts, and some level is. */
bool join_possible(const format *f);

/* Parts behind what `to` has, which is being assembled. */
stc_status join_begin(tensor_join *j, tensor *to);
/* Of a part whose at[0].begin and at[0].end are set: what lies below, on each level. Its
 * tensor is whole up to there, and may be appended to. */
stc_status join_close(tensor_part *p);
/* The part's places, behind all that have theirs; false: there is no room, and join_room
 * makes some, which moves what is there. */
bool join_fits(const tensor_join *j, tensor_part *p);
stc_status join_room(tensor_join *j, tensor_part *p);
void join_place(tensor_join *j, const tensor_part *p);
/* Copies a part that has its place; several threads may copy at once. */
void join_copy(const tensor_join *j, const tensor_part *p);
/* Nothing of it is needed any more: what is appended from here on begins anew, at position
 * `first` of a first level that computes positions. A part keeps nothing for what is before
 * it, wherever it lies in the whole. */
void join_again(tensor *from, int64_t first);
/* When all are there. `to` is as after appending what they hold, not finished. */
void join_end(tensor_join *j);

#endif
