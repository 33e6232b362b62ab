/* files.h: what the file types of this folder share among themselves: a
 * reader and a writer each, and the table's row. A new type is a file with
 * these functions, declared here, and one row in files.def.
 */
#ifndef STC_IO_FILES_H
#define STC_IO_FILES_H

#include "bounded.h"
#include "io.h"
#include <string.h>

/* Whether a file of `len` bytes that begins at p is of the type. */
typedef bool (*file_sniffer)(const char *p, int64_t len);
/* What the type's `how` says is in `in`, which the caller closes. `type` is what the result
 * will be packed as, or -1. The result is already cleared but for cx and path; on failure
 * io.c frees what it holds. */
typedef stc_status (*file_reader)(input *in, int type, io_result *out);
typedef stc_status (*file_writer)(const tensor *t, const char *path);

/* What `in` has: all bytes and a zero byte behind them; the same, to be parsed; perhaps
 * those of the head alone (input_open_head); no such byte; a path alone, of a folder. */
typedef enum file_opening {
    OPEN_READ,
    OPEN_TEXT,
    OPEN_HEAD,
    OPEN_MAPPED,
    OPEN_NOT
} file_opening;

typedef struct file_type {
    const char *ending; /* what a path of this type ends in, ".mtx" */
    file_sniffer sniff;
    file_reader read;
    file_writer write;
    file_opening how;
} file_type;

/* The type of the file at a path and its bytes, in memory. */
stc_status file_open(ctx *cx, const char *path, input *in, const file_type **type);

bool npz_sniff(const char *p, int64_t len);
bool stt_sniff(const char *p, int64_t len);
bool mtx_sniff(const char *p, int64_t len);
bool tns_sniff(const char *p, int64_t len);
bool npy_sniff(const char *p, int64_t len);
bool pnm_sniff(const char *p, int64_t len);

stc_status npz_read(input *in, int type, io_result *out);
stc_status folder_read(input *in, int type, io_result *out);
stc_status stt_read(input *in, int type, io_result *out);
stc_status mtx_read(input *in, int type, io_result *out);
stc_status tns_read(input *in, int type, io_result *out);
stc_status csv_read(input *in, int type, io_result *out);
stc_status tsv_read(input *in, int type, io_result *out);
stc_status npy_read(input *in, int type, io_result *out);
stc_status pnm_read(input *in, int type, io_result *out);

stc_status npz_write(const tensor *t, const char *path);
stc_status binsparse_write(const tensor *t, const char *path);
stc_status stt_write(const tensor *t, const char *path);
stc_status mtx_write(const tensor *t, const char *path);
stc_status tns_write(const tensor *t, const char *path);
stc_status csv_write(const tensor *t, const char *path);
stc_status tsv_write(const tensor *t, const char *path);
stc_status npy_write(const tensor *t, const char *path);
stc_status pgm_write(const tensor *t, const char *path);
stc_status ppm_write(const tensor *t, const char *path);

/* Forgets what was read, for who begins again. */
void io_restart(io_result *r);
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
/* Calls `heading` with how many entries there are, then `entry` for each, until that gives
 * something but 0: for what is stored, or for every element if the fill isn't zero. */
stc_status entries_write(const tensor *t, void (*heading)(void *context, int64_t n),
                         int (*entry)(void *context, const int64_t *coords, stc_value v),
                         void *context);
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
