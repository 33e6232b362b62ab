/* variables.h: the session's tensors, and which of them lie on the ranks in parts. */
#ifndef STCVM_MPI_VARIABLES_H
#define STCVM_MPI_VARIABLES_H

#include "exchange.h"

/* How a variable is held: whole, or cut in a mode at bounds. */
typedef struct held {
    char name[64];
    int mode; /* -1: whole */
    const int64_t *bound;
    bool stays;      /* it was needed whole once, and isn't cut again */
    int64_t version; /* another one for each value */
} held;

extern stc_machine *m;
extern stc_session *s;
extern const char *script;
/* How many texts may have defined something that others mean. */
extern int64_t definitions;

held *find(const char *name);
/* NULL: there is none of that name. */
stc_tensor *variable_or_null(const char *name);
stc_tensor *variable(const char *name);
/* t is the variable's value, which this gives to the session. */
void hold(const char *name, stc_tensor *t, int mode, const int64_t *bound);
/* What each rank has of it. */
ranges_of had(const held *h);
/* Gathers it, if it is cut. */
void make_whole(const char *name);
/* Gathers what a text mentions; then the text may change it. */
void need_names(const char *text);
/* Runs a text on every rank alike. */
void everywhere(const char *text);

/* Bounds of a mode that has so many coordinates, if there are some already; NULL. */
const int64_t *bounds_of(int64_t size);
/* New ones, in multiples of step: ranges have about as many entries of t each, which is
 * whole or (`parts`) whose entries all ranks have some of. NULL: there is no room for more.
 */
const int64_t *make_bounds(const stc_tensor *t, int mode, int64_t step, bool parts);

/* files.c: a declaration of a tensor from a file that ranks read in ranges, a part each.
 * False: it is another text, or no such file. */
bool read_in_ranges(const char *text);
/* Alone: a declaration of random entries, of which this rank makes its own rows. */
bool make_own_rows(const char *text);

/* splits.c: an assignment, each rank its part. False: it is no assignment. */
bool run_split(const char *text, char *what, size_t size);
void forget_plans(void);

#endif
