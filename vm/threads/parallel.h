/* parallel.h: loops whose rounds threads share.
 *
 * Which loops may be shared is read off the verified program (parallel_find.c):
 * a loop outside all others, no round of which needs what another did. Its
 * range is cut into chunks of about equal work (parallel_split.c), and threads
 * take chunks in order, each on a worker: a machine of its own, linked from the
 * same program, in which the loop has the chunk's range (parallel.c). What rounds
 * share is one of
 *
 *   places   results in which every place is known beforehand: each coordinate
 *            of the loop has places of its own, written directly; in rows, if
 *            those of a chunk follow each other: then its worker fills them
 *   parts    results that are appended to: each worker assembles those of its
 *            chunks, and they are joined in the loop's order (parallel_join.c)
 *   sums     registers reduced by an associative and commutative function:
 *            one for each chunk, combined in the loop's order
 *   meets    results and workspaces to which all rounds add by an associative
 *            function: one for each chunk, combined in the loop's order
 *            (parallel_meet.c). There is a chunk for each thread then, and none
 *            if combining is worth the time; and what else would do goes first.
 *
 * Where rounds of the outermost loop store into the same places, but a faster tier runs
 * the nest in an order of its own anyway, a loop inside may do: each worker runs all
 * of the outer one, with part of the inner one's range.
 *
 * Where the program marks loops with `share`, those are shared and no others,
 * however little there is to do.
 *
 * So results depend on how the range was cut, which the data and the number of
 * threads decide, and not on who was faster. On a machine that is deterministic the data
 * alone decide, and one thread takes the same chunks.
 */
#ifndef STC_VM_PARALLEL_H
#define STC_VM_PARALLEL_H

#include "../core/machine.h"
#include "../core/pool.h"

enum { PARALLEL_SUMS = 8, PARALLEL_PARTS = 4, CHUNKS_MAX = 1024 };

/* How a shared loop uses a tensor. */
typedef enum sharing {
    SHARE_READ,   /* not written by it, or not used                 */
    SHARE_OWN,    /* begun and used up within a round               */
    SHARE_PLACES, /* see above                                      */
    SHARE_ROWS,   /* places in rows                                 */
    SHARE_PARTS,
    SHARE_MEET,
} sharing;

typedef struct parallel_loop {
    int first;        /* lop of the outermost `loop`                    */
    int whole;        /* its number in mc->loops                        */
    int number;       /* of the loop whose range is cut: it, or one inside */
    uint16_t op;      /* what the lop was                              */
    bool asked;       /* by `share`                                    */
    bool ran;         /* threads shared it, when it ran last           */
    const char *why;  /* it can't be shared                            */
    int64_t step;     /* rounds have blocks of so many coordinates     */
    uint8_t *sharing; /* per tensor                               */
    int nparts;
    uint16_t parts[PARALLEL_PARTS]; /* tensors of SHARE_PARTS      */
    int nrows;
    uint16_t rows[PARALLEL_PARTS]; /* of SHARE_ROWS                 */
    int nsum;
    struct {
        uint16_t reg, cls;
        int fn;
        value identity;
    } sum[PARALLEL_SUMS];
    int nmeet;
    struct {
        uint16_t tensor;
        int fn;         /* as ws_add takes it                         */
        int at;         /* the lop of one that adds                   */
        value identity; /* of a result: what a chunk's begins with    */
    } meet[PARALLEL_PARTS];
    int nweight;
    struct {
        uint16_t tensor;
        int64_t coef;
    } weight[MERGE_TABLE_MAX]; /* tensors whose first level is read at so many times the
                                  loop's coordinates, or near it: their elements tell how
                                  much a range is worth                       */
} parallel_loop;

/* Fills *out for the loop that begins at lop `first`; false if its rounds can't
 * be shared: out->why says why. out->sharing has room for every tensor. */
bool parallel_find(const machine *mc, int first, parallel_loop *out);

/* Cuts [lo, hi) into at most `chunks` ranges, *bound[0] = lo … bound[n] = hi, and
 * returns their number; 1 if there is too little to do. */
int parallel_split(const machine *mc, const parallel_loop *pl, int64_t lo, int64_t hi,
                   int threads, int64_t *bound);
/* How much work is worth a chunk beside what is to be combined in the end. */
int64_t parallel_meet_grain(const machine *mc, const parallel_loop *pl);

/* Finds the program's shared loops and puts LOP_PARALLEL in front of them. */
stc_status parallel_prepare(machine *mc);
/* An error if a loop that the program marks can't be shared. */
stc_status parallel_check(machine *mc);
/* For the linker of a worker: its shared loops have ranges of their own, in
 * extents behind the program's. */
void parallel_narrow(machine *mc);
int parallel_loops(const machine *mc); /* how many, in a worker; else 0 */
void parallel_free(machine *mc);
/* At such a loop: runs it on threads (*next: where to go on), or says which
 * handler to go on with (*next NULL). */
stc_status parallel_run(machine *mc, const lop *at, const lop **next, unsigned *op);
/* machine_poll of a worker. */
stc_status parallel_poll(machine *mc);

#endif
