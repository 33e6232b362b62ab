/* span.h: the elements of an array in memory, perhaps with others between them.
 */
#ifndef STC_IO_SPAN_H
#define STC_IO_SPAN_H

#include <stdint.h>
#include <string.h>

typedef struct array_span {
    const char *data;
    int64_t n;
    int32_t width, stride; /* bytes of one, and to the next */
} array_span;

/* Elements [at, at + n) one after the other: where they are, or put together in `room`. */
static inline const char *span_gather(const array_span *s, int64_t at, int64_t n,
                                      char *room)
{
    if (s->stride == s->width) return s->data + at * s->width;
    for (int64_t i = 0; i < n; i++)
        memcpy(room + i * s->width, s->data + (at + i) * s->stride, (size_t)s->width);
    return room;
}

#endif
