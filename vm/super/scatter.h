/* scatter.h: loops that add scaled fibers to a workspace of one index, row by
 * row (Gustavson's algorithm and its kin).
 *
 * A *scatter* is the loop over k in
 *
 *     for k: for j in fiber(k): w(j) fold= term(factors(k), value(k,j))
 *
 * or the loop over j alone; what is walked may be fiber(k) where a row of its own has
 * coordinates, too (super_sift.c). It is matched when linking (super_scatter.c), for
 * any operands of the loop over k whose fibers are tables. Loops around it that only open
 * what is walked below them, as that over j in A(i,j) * B(j,k) * C(k,l), go on with the
 * same row; super_rows.c runs the loop from which rows are appended in order.
 */
#ifndef STC_VM_SCATTER_H
#define STC_VM_SCATTER_H

#include "../nest/fuse.h"
#include "../work/ws.h"

enum { SCATTER_OPERANDS = 4, SCATTER_FACTORS = 4, SCATTER_AROUND = 4, SCATTER_CHUNK = 256 };

/* An operand of the loop over k: a fiber of coordinates, or a range. */
typedef struct scatter_operand {
    uint16_t cursor;            /* its register                                    */
    uint16_t tensor, level, up; /* up: the cursor above it, or ROOT                */
    /* of this run */
    bool coords;
    bool searched; /* coordinates can be, in order; else they are all gone through */
    bool gaps;     /* VIEW_GAPS                                                    */
    bool same;     /* a searched one has one fiber in all rows                     */
    fiber_table f;
    int64_t lo, size; /* a range's first coordinate, and how many  */
    /* of this row: its positions; a range has the coordinate lo at `begin` */
    int64_t begin, end;
} scatter_operand;

typedef enum factor_kind {
    FACTOR_OPERAND,
    FACTOR_FIXED,
    FACTOR_LIVE,
    FACTOR_CONST
} factor_kind;
typedef struct scatter_factor {
    uint8_t kind;
    uint16_t a; /* operand; cursor; register; constant */
    uint16_t tensor;
    int16_t fn; /* of it alone, -1: it is taken as it is */
} scatter_factor;

typedef struct scatter scatter;

/* A row whose coordinates are in [lo, hi), while it is open (super_window.c). */
typedef struct row_window {
    bool open;
    bool whole;   /* all places have got something */
    uint8_t size; /* bytes of a value */
    int misses;   /* rows one after the other that weren't in it */
    int idle;     /* so many more aren't looked at               */
    value empty;  /* what places begin with */
    int64_t lo, hi;
    struct window_room *room; /* NULL: there is none yet */
} row_window;

/* A row that is listed (super_list.c): coordinates and values, and slots that lead to
 * them, as number + base; what is below base is empty. */
enum { RANK_MAX = 96, RANK_PAD = 32 };
typedef struct row_list {
    int row; /* of scatter.def */
    uint8_t size;
    int shift;
    int64_t n, cap, extent;
    int64_t *coord;
    void *val;
    int64_t *head, heads, base;
    ws_record *record;
    int64_t record_cap;
    int64_t rows; /* that had entries, for reports */
} row_list;
typedef void (*list_kernel)(const scatter *sc, row_list *l, int n);
typedef void (*scatter_kernel)(scatter *sc, workspace *w, int n);

/* A fiber that the row has once, which says at which coordinates something is scattered
 * (super_sift.c); what it leaves of the others' elements. */
typedef struct sieve {
    bool there, valued;                 /* its values are factors                       */
    uint16_t cursor, tensor, level, up; /* up: the cursor above it, or ROOT     */
    /* of this run */
    fiber_table f;
    const void *vals;
    const void *all, *all_vals; /* what is sifted                               */
    int64_t places;             /* coordinates, if they can be marked; else 0   */
    int64_t p, e;               /* of this row                                  */
    bool marked;
    int64_t cap, *own, *met; /* positions in fibers, and in this one         */
    void *left, *val, *by;   /* coordinates, values, and factors of these    */
    size_t size;             /* bytes of `own`, with which the others lie    */
} sieve;

struct scatter {
    super base;
    super *other;                 /* what runs the loop where this can't; owned */
    loop *mid, *inner;            /* mid NULL: one fiber a row */
    loop *around[SCATTER_AROUND]; /* mid's are rows of theirs; the outermost last */
    int naround;
    uint16_t work, tensor, level;
    int16_t owner; /* the operand below which the fibers are; -1: cursor `below` */
    uint16_t below;
    bool valued; /* the fiber's values take part */
    uint8_t cls;
    int16_t type; /* of all that is loaded; -1: nothing was, so far */
    int16_t term, fold;
    const lop *at; /* ws.add */
    int noperand, nfactor;
    uint8_t everywhere; /* a bit for each operand that some mask produces without */
    scatter_operand operand[SCATTER_OPERANDS];
    scatter_factor factor[SCATTER_FACTORS];
    sieve sieve;
    scatter_kernel narrow, wide;
    int row[2];         /* their rows of scatter.def                              */
    row_list *list;     /* where rows are listed; NULL: they are accumulated */
    row_window *window; /* where rows are that lie close together; NULL: there is none */
    /* of this run */
    scatter_kernel kernel;
    bool mixed;   /* the last lanes met some coordinates for the first time, others again */
    bool guess;   /* whether these do can be guessed                                     */
    bool brief;   /* by those before, as their fibers are short                          */
    int ahead;    /* fibers so far ahead are asked for                                   */
    bool settled; /* all that the row has met so far                                     */
    bool ordered; /* the fibers' coordinates are                                       */
    bool lines;   /* fibers have all coordinates of [lo, hi), and no list of them      */
    const scatter_factor *usual; /* how rows are gone through: by this factor; or NULL */
    int64_t lo, hi, places;      /* of the workspace                                      */
    fiber_table f;               /* what is scattered */
    const void *crd, *vals;
    /* lanes: fibers and factors of up to SCATTER_CHUNK k */
    int64_t *from, *to, *key, *pos[SCATTER_OPERANDS]; /* key: the coordinates k */
    char *by, *room;
    int64_t length; /* of the fibers of all lanes */
    int held;       /* so many lanes before those, of rounds of the loops around */
    void *block;
    size_t block_size;
};

/* Matches the loop over k, of which the one inside is all; the loop over j alone; or such
 * loops around that over k. It is put before *out, what else can run the loop, or NULL. */
stc_status scatter_fuse(machine *mc, const loop_tree *t, super **out);
/* Whether loop l is a scatter into workspace `work`. */
scatter *scatter_of(const loop *l, int work);
/* Tables of this run; false: some operand has none, or the workspace isn't dense,
 * and rows aren't listed. */
bool scatter_ready(machine *mc, scatter *sc, bool listed);
/* All of it, for the row at which the cursors around stand. */
stc_status scatter_row(machine *mc, scatter *sc);

/* super_sift.c: tables of this run; the fiber of this row, false: it is empty; what it
 * leaves of the first *n of so many fibers, as there is room, takes their place, *rounds:
 * how many elements were looked at; those n go, the others are the first; behind the row.
 */
bool sieve_ready(machine *mc, scatter *sc, int64_t lo, int64_t hi);
bool sieve_open(machine *mc, scatter *sc);
stc_status sieve_fibers(machine *mc, scatter *sc, int *n, int64_t *rounds);
void sieve_next(scatter *sc, int n, int all);
void sieve_close(machine *mc, scatter *sc);
void sieve_free(ctx *cx, sieve *v);

/* super_drain.c: appends what is in an accumulator of one index to the last level of a
 * result, in order, below `up` (NULL: the root), and empties it. */
typedef struct drain {
    uint16_t work, result, level;
    const lop *at; /* `at` of the last level, for messages */
    mcursor *cursor;
} drain;
bool drain_ready(const machine *mc, const drain *d);
/* Whether one can that isn't a workspace of the program's, over so many coordinates. */
bool drain_serves(const machine *mc, const drain *d, int64_t places, stc_type type);
stc_status drain_sums(machine *mc, const drain *d, workspace *w, const mcursor *up);
/* The same for a row that is listed. */
stc_status drain_list(machine *mc, const drain *d, row_list *l, const mcursor *up);
/* The same for a row in a window. */
stc_status drain_window(machine *mc, const drain *d, row_window *w, const mcursor *up);
/* rank[k] = how many of n keys are smaller than key[k], n <= RANK_MAX; both have
 * RANK_PAD elements behind those. */
void rank_keys(const machine *mc, int32_t *key, int n, int32_t *rank);

/* super_list.c: whether rows of this run can be listed; n fibers of so many entries more;
 * what the window has, as a list; the row's coordinates in order, and the number of each
 * one's value; the next row. */
bool list_ready(machine *mc, const scatter *sc, row_list *l);
stc_status list_fibers(machine *mc, const scatter *sc, row_list *l, int n, int64_t most);
stc_status list_window(ctx *cx, row_list *l, row_window *w);
stc_status list_sort(machine *mc, row_list *l, const int64_t **index);
void list_clear(row_list *l);
void list_free(ctx *cx, row_list *l);

/* super_window.c: whether there is one in this run; whether n fibers more were put into the
 * window, which opens for the first of a row; how many places it has got, which, in order
 * (NULL: all), and the value of each: until it opens again. */
bool window_ready(machine *mc, const scatter *sc, row_window *w);
bool window_fibers(machine *mc, const scatter *sc, row_window *w, int n, int64_t all);
int64_t window_close(row_window *w, const int64_t **at, const void **val);
/* What is in it goes to the list, or, without one, the accumulator; both have nothing. */
stc_status window_spread(machine *mc, row_window *from, row_list *l, workspace *w);
void window_free(ctx *cx, row_window *w);

/* super_rows.c: gives loops around scatters to the handler that drains them. */
stc_status rows_fuse(machine *mc);

#endif
