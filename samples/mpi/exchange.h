/* exchange.h: tensors that lie on several ranks: what each has and needs of them, told in
 * bytes before it is sent, and counted when it has come.
 *
 * A tensor has its whole shape on every rank. Held whole, all have the same entries; held
 * cut, each has those of its own range of one mode, and whatever in what a dense one has
 * elsewhere.
 */
#ifndef STCVM_MPI_EXCHANGE_H
#define STCVM_MPI_EXCHANGE_H

#include <mpi.h>
#include <stcvm.h>

enum { RANKS = 256 };

extern int rank, ranks;
/* One process that is `rank` of `ranks` in name: others are taken to have as much. */
extern bool alone;
/* What was received from other ranks, in bytes and messages, and what was told beforehand.
 */
extern int64_t bytes_moved, bytes_told, messages;

/* Ends all ranks, with what happened. */
void die(const char *what) __attribute__((noreturn));
/* The same, with the machine's error, unless st is STC_OK. */
void must(stc_machine *m, stc_status st);
/* size bytes; ends all ranks where there aren't any. */
void *room(size_t size);
/* n, of all ranks together. */
int64_t total(int64_t n);

/* Coordinates from lo to before hi. */
typedef struct range {
    int64_t lo, hi;
} range;
/* For each rank a range of one mode; mode -1: everything. Of what is had so, a range of a
 * sparse tensor's has nothing but that rank's. */
typedef struct ranges_of {
    int mode;
    range of[RANKS];
} ranges_of;

ranges_of by_bounds(int mode, const int64_t *bound);
/* The smallest range that has the coordinates in mode `of` of the entries in a range of
 * mode `mode`; mode -1: of all. */
range reach(const stc_tensor *t, int mode, range r, int of);
/* A tensor like t of its entries in a range of a mode. */
stc_tensor *between(const stc_tensor *t, int mode, range r);
/* What this rank has to send to others, in bytes; alone, what it would receive. */
int64_t outgoing(const stc_tensor *t, const ranges_of *have, const ranges_of *want);
/* A tensor of what this rank wants of all ranks' tensors; what comes from several is
 * combined by fn (NULL: nothing does). */
stc_tensor *exchange(const stc_tensor *t, const ranges_of *have, const ranges_of *want,
                     const char *fn);
/* All ranks' tensors combined by fn, on all: by MPI where it has that function for dense
 * ones of the type. What it says as bytes_told, too. */
stc_tensor *reduce(const stc_tensor *t, const char *fn);

#endif
