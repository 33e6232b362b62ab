/* join.h: one tensor from parts of others of the same format and shape. */
#ifndef STC_FORMATS_JOIN_H
#define STC_FORMATS_JOIN_H

#include "tensor.h"

/* What a part takes of each level, and where it comes to lie. */
typedef struct tensor_part {
    const tensor *from;
    struct {
        int64_t begin, end, to; /* positions */
    } at[STC_MAX_ORDER];
} tensor_part;

typedef struct tensor_join {
    tensor *to;
    tensor_part *part;
    int n;
    append_room room[STC_MAX_ORDER];
} tensor_join;

/* Whether tensors of a format can be joined: every level computes its positions,
 * or is appended to in bulk. */
bool join_possible(const format *f);
/* Makes room in `to`, which has been begun and may have been appended to, for parts
 * whose at[0].begin and at[0].end are set: in order, the first level's positions of
 * one followed by those of the next. Sources are whole. */
stc_status join_begin(tensor_join *j);
/* Copies part k; several at once may be copied, by several threads. */
void join_part(const tensor_join *j, int k);
/* When all are there. `to` is as after appending what they hold, not finished. */
void join_end(tensor_join *j);

#endif
