/* io.h: data files: reading them, packing what they hold into a tensor, and
 * writing tensors.
 *
 *     .mtx  Matrix Market         coordinate or array
 *     .ttx  the same, for tensors of any order (TACO's extension; read only)
 *     .tns  FROSTT                coordinate
 *     .npy  NumPy                 array
 *     .pgm .ppm                   images: u8 or u16, [h,w] or [h,w,3]
 *
 * The ending chooses the type (files.def has the table). Files are untrusted:
 * nothing is allocated by what a header claims beyond what the file's size
 * can hold, and a fault names the file and, in a text, the line and column.
 *
 * A caller reads (io_read_as), looks at the result, as formats may depend on the
 * file's order and fills on its type, then packs it (io_pack), and frees it.
 */
#ifndef STC_IO_IO_H
#define STC_IO_IO_H

#include "../../formats/tensor.h"

typedef enum io_kind { IO_MATRIX, IO_TENSOR, IO_ARRAY, IO_IMAGE } io_kind;

/* What a file holds. Duplicates are as listed, symmetry is expanded. */
typedef struct io_result {
    ctx *cx;
    const char *path; /* the caller's; for messages */
    io_kind kind;
    bool sparse;   /* entries are listed; else every element is              */
    stc_type type; /* of the values as read                                  */
    int order;
    int64_t shape[STC_MAX_ORDER];
    entries e;   /* sparse: coordinates from 0                             */
    void *dense; /* else: `count` elements, row-major, at least one byte   */
    int64_t count;
    tensor *whole; /* instead of both: levels as the file has them, unchecked */
    bool noted;    /* the file tells the type and the order it is from, as which
                      it is packed if no others are asked for                */
    stc_type noted_type;
    int noted_order;
    bool formatted; /* the file tells a format, which is the default           */
    format fmt;
    bool job; /* reading began one (job.h), which ends with this           */
} io_result;

/* Reads for a caller who will pack as `type`: numbers in a text are then read straight
 * into that type's class, without a detour that could round. out->type is the type to be
 * converted from. -1: the file's own type, f64 for real and pattern, i64 for integer, u64
 * for unsigned-integer, c128 for complex, f64 for .tns (c128 where two values follow the
 * coordinates of a `# shape`), an array's or image's own. */
stc_status io_read_as(ctx *cx, const char *path, int type, io_result *out);
void io_free(io_result *r);

/* The type as which it is packed if `type` is asked for, or -1. */
stc_type io_type(const io_result *r, int type);
/* Reshapes a matrix of one row or one column to order 1, one of a single
 * element to order 0. False, with nothing changed, where that can't be. */
bool io_reshape(io_result *r, int order);
/* Packs into a new tensor. f NULL: the default format; else a matrix is
 * reshaped to f's order where it can be. type -1: r->type. fill NULL: 0; else
 * it is in the class of the tensor's type. Elements of an array that equal the
 * fill aren't stored in a sparse format, listed entries always are. Sorts r's
 * entries. */
stc_status io_pack(io_result *r, const format *f, int type, const value *fill,
                   tensor **out);

/* Writes by the path's ending, `-` to standard output as text; a file is written to a
 * temporary beside the target that is then renamed: the file is complete, or it isn't there
 * (an older one stays as it was). A tensor whose fill isn't zero is written in full. */
stc_status io_save(const tensor *t, const char *path);

/* Whether the n bytes at `path` are `-` or end in a type that can be read, or written
 * (in any case); and all endings that can be read, with spaces between them. */
bool io_known(const char *path, size_t n, bool written);
const char *io_endings(void);

#endif
