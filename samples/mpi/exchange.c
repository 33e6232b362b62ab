/* exchange.c: tensors that lie on several ranks; see exchange.h. */
#include "exchange.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int rank, ranks;
int64_t bytes_moved, bytes_told;

void die(const char *what)
{
    fprintf(stderr, "stcvm-mpi: rank %d: %s\n", rank, what);
    fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

void must(stc_machine *m, stc_status st)
{
    char text[600];
    if (!st) return;
    const stc_error_info *e = stc_error(m);
    snprintf(text, sizeof text, "%s:%d:%d: %s", e->file ? e->file : "", e->line, e->column,
             e->message);
    die(text);
}

static void *room(size_t size)
{
    void *p = malloc(size ? size : 1);
    if (!p) die("there is no memory");
    return p;
}

int64_t bytes_of(const stc_tensor *t, int64_t entries)
{
    return entries * (int64_t)(sizeof(int64_t) * (size_t)stc_tensor_order(t) +
                               stc_type_size(stc_tensor_type(t)));
}

static stc_builder *builder_like(const stc_tensor *t, const char *fn)
{
    stc_machine *m = stc_tensor_machine(t);
    const stc_value fill = stc_tensor_fill(t);
    stc_builder *b;
    must(m, stc_builder_open(m, stc_tensor_format(t), stc_tensor_type(t),
                             stc_tensor_order(t), stc_tensor_shape(t), &fill, fn, &b));
    return b;
}

static stc_tensor *finish(stc_machine *m, stc_builder *b)
{
    stc_tensor *out;
    must(m, stc_builder_finish(b, &out));
    stc_builder_free(b);
    return out;
}

stc_tensor *between(const stc_tensor *t, int mode, int64_t lo, int64_t hi)
{
    stc_machine *m = stc_tensor_machine(t);
    const int order = stc_tensor_order(t);
    const size_t size = stc_type_size(stc_tensor_type(t));
    stc_builder *b = builder_like(t, NULL);
    stc_iter *it;
    stc_block block;
    must(m, stc_iter_open(t, 0, &it));
    for (;;) {
        must(m, stc_iter_next(it, &block));
        if (!block.count) break;
        for (int64_t e = 0; e < block.count; e++) {
            int64_t at[STC_MAX_ORDER];
            if (block.coord[mode][e] < lo || block.coord[mode][e] >= hi) continue;
            for (int k = 0; k < order; k++)
                at[k] = block.coord[k][e];
            must(m, stc_builder_put(b, at, (const char *)block.values + (size_t)e * size));
        }
    }
    stc_iter_free(it);
    return finish(m, b);
}

/* The entries of t in a range, one after the other: coordinates, then the element; *n is
 * how many. */
static char *packed(const stc_tensor *t, int mode, int64_t lo, int64_t hi, int64_t *n)
{
    stc_machine *m = stc_tensor_machine(t);
    const int order = stc_tensor_order(t);
    const size_t size = stc_type_size(stc_tensor_type(t));
    size_t have = 1 << 12, at = 0;
    const size_t one = (size_t)bytes_of(t, 1);
    char *out = room(have);
    stc_iter *it;
    stc_block block;
    must(m, stc_iter_open(t, 0, &it));
    for (;;) {
        must(m, stc_iter_next(it, &block));
        if (!block.count) break;
        for (int64_t e = 0; e < block.count; e++) {
            if (mode >= 0 && (block.coord[mode][e] < lo || block.coord[mode][e] >= hi))
                continue;
            while (have - at < one)
                if (!(out = realloc(out, have *= 2))) die("there is no memory");
            for (int k = 0; k < order; k++, at += sizeof(int64_t))
                memcpy(out + at, &block.coord[k][e], sizeof(int64_t));
            memcpy(out + at, (const char *)block.values + (size_t)e * size, size);
            at += size;
        }
    }
    stc_iter_free(it);
    *n = (int64_t)(at / one);
    return out;
}

stc_tensor *gather(const stc_tensor *t, int mode, int64_t lo, int64_t hi, const char *fn)
{
    stc_machine *m = stc_tensor_machine(t);
    const int order = stc_tensor_order(t);
    int64_t own;
    char *from = packed(t, mode, lo, hi, &own), *to;
    const int64_t one = bytes_of(t, 1), mine = own * one;
    int64_t *length = room((size_t)ranks * sizeof *length), all = 0;
    int *count = room((size_t)ranks * sizeof *count);
    int *begin = room((size_t)ranks * sizeof *begin);
    MPI_Allgather(&mine, 1, MPI_INT64_T, length, 1, MPI_INT64_T, MPI_COMM_WORLD);
    for (int r = 0; r < ranks; r++) {
        if (all + length[r] > INT_MAX) die("more than 2 GB at once");
        begin[r] = (int)all;
        count[r] = (int)length[r];
        all += length[r];
    }
    to = room((size_t)all);
    MPI_Allgatherv(from, (int)mine, MPI_BYTE, to, count, begin, MPI_BYTE, MPI_COMM_WORLD);
    bytes_moved += all - mine;
    stc_builder *b = builder_like(t, fn);
    for (const char *at = to; at < to + all; at += one) {
        int64_t coords[STC_MAX_ORDER + 1];
        memcpy(coords, at, (size_t)order * sizeof *coords);
        must(m, stc_builder_put(b, coords, at + (size_t)order * sizeof *coords));
    }
    free(from);
    free(to);
    free(length);
    free(count);
    free(begin);
    return finish(m, b);
}
