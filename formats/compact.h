/* compact.h: entries that equal the fill are dropped where they lie.
 *
 * For who owns a tensor and drops in each round what the next one makes again, as a search
 * does with its frontier: its arrays keep their room. Elsewhere: tensor_compact (tensor.h).
 */
#ifndef STC_FORMATS_COMPACT_H
#define STC_FORMATS_COMPACT_H

#include "tensor.h"

/* *done: it was, and t has another generation unless all stayed. Else, and on failure, t
 * is as it was: its format isn't rows, its arrays aren't its own, or it is too large to be
 * changed without asking whether the call has to end. */
stc_status tensor_compact_within(tensor *t, bool *done);

#endif
