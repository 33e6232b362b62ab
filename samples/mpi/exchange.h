/* exchange.h: tensors that lie on several ranks: their entries gathered, and counted in bytes.
 *
 * A tensor has its whole shape on every rank. Held whole, all have the same entries; held cut,
 * each has those of its own range of one mode.
 */
#ifndef STCVM_MPI_EXCHANGE_H
#define STCVM_MPI_EXCHANGE_H

#include <mpi.h>
#include <stcvm.h>

extern int rank, ranks;
/* What was received from other ranks, in bytes, and what the splits said beforehand. */
extern int64_t bytes_moved, bytes_told;

/* Ends all ranks, with what happened. */
void die(const char *what) __attribute__((noreturn));
/* The same, with the machine's error, unless st is STC_OK. */
void must(stc_machine *m, stc_status st);

/* A tensor like t of its entries with coordinates in [lo, hi) of a mode. */
stc_tensor *between(const stc_tensor *t, int mode, int64_t lo, int64_t hi);
/* A tensor of all ranks' entries, on all: of those with coordinates in [lo, hi) of a mode; or
 * of all that each has (mode -1), what several have combined by fn. */
stc_tensor *gather(const stc_tensor *t, int mode, int64_t lo, int64_t hi, const char *fn);
/* The bytes of so many entries, as they are sent: 8 a mode and the element. */
int64_t bytes_of(const stc_tensor *t, int64_t entries);

#endif
