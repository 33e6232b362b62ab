/* files.h: what the file types of this folder share among themselves: a
 * reader and a writer each, and the table's row. A new type is a file with
 * these two functions, and one row in io.c.
 */
#ifndef STC_IO_FILES_H
#define STC_IO_FILES_H

#include "io.h"
#include <string.h>

/* `type` is what the result will be packed as, or -1. The result is already
 * cleared but for cx and path; on failure io.c frees what it holds. */
typedef stc_status (*file_reader)(ctx *cx, const char *path, int type, io_result *out);
typedef stc_status (*file_writer)(const tensor *t, const char *path);

stc_status mtx_read(ctx *cx, const char *path, int type, io_result *out);
stc_status tns_read(ctx *cx, const char *path, int type, io_result *out);
stc_status npy_read(ctx *cx, const char *path, int type, io_result *out);
stc_status pnm_read(ctx *cx, const char *path, int type, io_result *out);

stc_status mtx_write(const tensor *t, const char *path);
stc_status tns_write(const tensor *t, const char *path);
stc_status npy_write(const tensor *t, const char *path);
stc_status pgm_write(const tensor *t, const char *path);
stc_status ppm_write(const tensor *t, const char *path);

/* Sets out->dense to room for out->shape's elements and out->count. */
stc_status dense_alloc(io_result *out);

/* Every element of a tensor, row-major, without a copy where it is stored so.
 * `own` is what dense_close frees. */
typedef struct dense_view {
    const void *vals;
    int64_t count;
    tensor *own;
} dense_view;
stc_status dense_open(const tensor *t, dense_view *v);
void dense_close(dense_view *v);
/* True if some level leaves out coordinates: written as coordinates. */
bool tensor_is_sparse(const tensor *t);
/* True if places that aren't stored read as zero. */
bool tensor_fill_is_zero(const tensor *t);

/* A complex value of class C64 or C128 from its parts. (CMPLX isn't everywhere.) */
static inline value value_complex(vclass c, double re, double im)
{
    value v;
    memset(&v, 0, sizeof v);
    if (c == CLASS_C64)
        memcpy(&v.c64, (float[2]){(float)re, (float)im}, sizeof v.c64);
    else
        memcpy(&v.c128, (double[2]){re, im}, sizeof v.c128);
    return v;
}

/* Stores a value in an array of the type that represents its class. */
static inline void class_put(vclass c, void *base, int64_t i, value v)
{
    switch (c) {
#define CLASS(NAME, name, ctype)                                                           \
    case CLASS_##NAME:                                                                     \
        ((ctype *)base)[i] = v.name;                                                       \
        return;
#include "../../formats/base/types.def"
    case CLASS_COUNT:
        return;
    }
}

#endif
