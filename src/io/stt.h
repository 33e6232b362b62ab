/* stt.h: .stt, the tensor file that loses nothing: what its writer and its reader share.
 *
 * Everything is little-endian. A file is a header of `header` bytes, a multiple of 64,
 * and behind it the arrays, each beginning at a multiple of 64. The header:
 *
 *      0   8  magic     93 53 54 54 0d 0a 1a 0a
 *      8   4  version   2, or 3 if a level has a number; of 1 other sums are read, too
 *     12   4  header    its bytes
 *     16   8  file      the bytes of the whole file
 *     24   8  sum       of the header, these 8 bytes taken as 0
 *     32   1  type      as in stc_type
 *     33   1  order
 *     34   1  levels
 *     35   1  0
 *     36   4  arrays
 *     40  16  fill      as an element is stored, zeros behind it
 *     56   4  name      its bytes
 *     60   4  0
 *     64   8  a mode    its extent: `order` of these
 *         80  a level   `levels` of these (in version 3, 88)
 *         32  an array  `arrays` of these
 *             the name, and zeros up to `header`
 *
 *     level:  0 1 flags, 1 1 op, 2 1 mode, 3 1 mode2, 4 1 modes, 5 3 zeros, 8 8 k,
 *             16 64 the kind's name, zeros behind it, 80 8 the number that the kind takes
 *     array:  0 1 level (255: the values), 1 1 role, 2 1 width, 3 1 zero, 4 4 stride,
 *             8 8 offset in the file, 16 8 elements, 24 8 sum of its elements
 *
 * src/io/README.md has the meaning of each, and the sum.
 */
#ifndef STC_IO_STT_H
#define STC_IO_STT_H

#include "../../formats/tensor.h"
#include "span.h"

#define STT_MAGIC "\x93STT\r\n\x1a\n"

enum {
    STT_VERSION = 3, /* the last */
    STT_PLAIN = 2,   /* the last whose levels have no number: written where none has */
    STT_MODES = 64,  /* where the modes begin */
    STT_LEVEL = 88,  /* at most: stt_level_bytes */
    STT_KIND = 64,   /* bytes of a kind's name, with a zero */
    STT_ARRAY = 32,
    STT_ALIGN = 64,
    STT_VALUES = 255,
    STT_ARRAYS = 3 * STC_MAX_ORDER + 1, /* at most */
    STT_HEADER_MAX = 1 << 16
};

/* The sums of n arrays, as files of that version have them: of each the elements, one after
 * the other without what lies between them. Threads share large ones. block: those of files
 * which the arrays lie in, NULL for others; or NULL. */
stc_status stt_sums(ctx *cx, int version, int n, const array_span *const *array,
                    void *const *block, uint64_t *sum);
uint64_t stt_sum_bytes(int version, const void *bytes, size_t size);

/* What a tensor has whose arrays became a file's in place (spill_take): the file, open as
 * fd, and its blocks, which are freed with it. `done`, once the file is as it stays, notes
 * that. */
stc_status stt_view_new(ctx *cx, const char *path, int fd, tensor_backing **out);
void stt_view_add(tensor_backing *b, void *block, size_t size);
void stt_view_done(tensor_backing *b);

/* Of a level's record, whose last eight are its number. */
static inline int stt_level_bytes(int version)
{
    return version > STT_PLAIN ? STT_LEVEL : STT_LEVEL - 8;
}

static inline void stt_put(unsigned char *p, int bytes, uint64_t v)
{
    for (int k = 0; k < bytes; k++)
        p[k] = (unsigned char)(v >> 8 * k);
}

static inline uint64_t stt_get(const unsigned char *p, int bytes)
{
    uint64_t v = 0;
    for (int k = bytes; k-- > 0;)
        v = v << 8 | p[k];
    return v;
}

#endif
