/* cliffs.h: what the rows of cliffs.c and their C loops (cliffs_ref.c) share. */
#ifndef STC_TESTS_BENCH_CLIFFS_H
#define STC_TESTS_BENCH_CLIFFS_H

#include "bench.h"

enum { COLUMNS = 32, BLOCK = 4, CLIFF_OPERANDS = 4 };

/* The arrays of a tensor, as they are. */
typedef struct packed {
    int64_t n, m; /* the first two extents */
    const int32_t *pos[4], *crd[4];
    const void *val;
    int64_t stored;
} packed;

/* Operands in the order of the row, and what the C loop writes: room for as many elements
 * as the machine's result has. */
typedef struct cliff {
    packed in[CLIFF_OPERANDS];
    int32_t *pos, *crd;
    void *out;
    int64_t length; /* of `out`, in elements */
} cliff;

typedef void cliff_loop(cliff *c);

#define ROW(name, ...) cliff_loop cliff_##name;
#include "cliffs.def"
#undef ROW

#endif
