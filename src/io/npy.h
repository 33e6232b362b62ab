/* npy.h: NumPy's arrays, in files of their own and in archives.
 */
#ifndef STC_IO_NPY_H
#define STC_IO_NPY_H

#include "files.h"
#include "span.h"
#include "zip.h"

/* ---- reading (npy.c, npz.c) -------------------------------------------------- */

/* An array of one text, bytes or Unicode below 128, that fits. */
stc_status npy_text(input *in, char *out, size_t size);

/* Arrays with names: a .npz archive, or a folder of .npy files. */
typedef struct array_store {
    ctx *cx;
    const char *path;
    bool folder;
    zip zip;
    char where[512]; /* path and member, for messages */
} array_store;

/* NAME.npy, which there has to be; freed by io_free. */
stc_status store_array(array_store *a, const char *name, io_result *out);
stc_status store_text(array_store *a, const char *name, char *out, size_t size);
/* The same for whole numbers: an array of order 1 with `least` elements or more. */
stc_status store_integers(array_store *a, const char *name, int64_t least, io_result *out);
/* Element i of such an array; what doesn't fit is -1. */
int64_t integer_at(const io_result *a, int64_t i);

stc_status scipy_read(array_store *a, io_result *out);

/* ---- writing (npy_write.c, npz.c) --------------------------------------------- */

enum { NPY_HEADER = 128 + 24 * STC_MAX_ORDER, NPY_DESCR = 16 };
/* The header of an array, `descr` as NumPy writes its type; gives the bytes. */
int npy_header(char text[NPY_HEADER], const char *descr, int order, const int64_t *shape);
void npy_descr(stc_type t, char descr[NPY_DESCR]);
/* An array as a member NAME.npy. */
stc_status npz_put(zip_writer *w, const char *name, const char *descr, int order,
                   const int64_t *shape, const array_span *elements);

#endif
