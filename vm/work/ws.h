/* ws.h: workspaces: what the policies share, and the interface of one.
 *
 * Insert, sort, merge (workspaces paper, §4). Entries are inserted into the
 * *accumulation array*, in which none moves; what is sorted are their numbers,
 * the accumulation indices (§5.1). When the array is full it is sorted and
 * merged into the *all array*, which is in order and has each coordinate once,
 * and begins anew. At the end the all array becomes an ordinary tensor.
 *
 * Coordinates are *labels*: the bits of all of them in one word if they fit,
 * the mode that is stored outermost first, so that labels sort as coordinates
 * do. Otherwise a label has several words, the most significant first.
 *
 * Duplicates are merged in the order in which they came. A policy may merge
 * them as they are inserted if the function is associative (`regroup`); other
 * functions are applied to the all array's value, one entry after the other.
 */
#ifndef STC_VM_WS_H
#define STC_VM_WS_H

#include "../core/machine.h"
#include "run_fold.h"

typedef struct ws_kind ws_kind;

/* Where a mode is in a label. */
typedef struct ws_label {
    int words;
    uint8_t word[STC_MAX_ORDER], shift[STC_MAX_ORDER], bits[STC_MAX_ORDER];
    uint8_t used[STC_MAX_ORDER]; /* bits of each word */
    uint8_t outer;               /* the mode stored outermost */
} ws_label;

/* Entries: `words` words of label each, and values of the workspace's class. */
typedef struct ws_list {
    int64_t n, cap;
    uint64_t *label;
    char *val;
} ws_list;

typedef struct ws_record {
    uint64_t key;
    int64_t id;
} ws_record;

typedef struct ws_pipe ws_pipe; /* ws_pipe.c */

struct workspace {
    const ws_kind *kind;
    const stc_workspace_policy *policy; /* the host's, if it is kept by one */
    void *state;                        /* that one's own                   */
    uint8_t cls;     /* of the values: the class of the tensor's type     */
    uint8_t size;    /* bytes of one                                      */
    bool regroup;    /* fn is associative                                 */
    bool single;     /* one all array: merges go through a copy           */
    int fn;          /* what merges duplicates: that of the last ws.add, or
                        ws_user_fn of the last ws.call                    */
    fn_scalar apply; /* the same; NULL: a user's function                 */
    machine *mc;     /* calls the user's function of ws.call `call`: the host's
                        form, or NULL                                     */
    const lop *call;
    const host_form *host;
    ws_label form;
    ws_list acc, all, other; /* other: the second all array                   */
    int64_t capacity;        /* of the accumulation array, this time          */
    ws_record *record;       /* two times record_cap                          */
    int64_t record_cap;
    ws_pipe *pipe;   /* merges on a thread of its own; NULL: none yet */
    int64_t about;   /* at most so many entries are in the all array */
    int64_t batches; /* merges since ws.begin                         */
    int64_t merged;  /* entries that were handed over to be merged, in all */
    int64_t turn_at; /* after so many an accumulator is worth it; 0: never */
    bool turn;       /* it is by now                                       */
    /* dense: bit i is set: coordinate i was touched, and has value acc[i] */
    uint64_t *set;
    void *dense;
    bool alike;     /* all that were touched have the value `one`, and acc lacks it */
    value one;      /* … its first bytes, of the class               */
    int64_t extent; /* what both are allocated for                   */
    int64_t *touched, n, cap; /* in order of first touch                      */
    int64_t *scratch, scratch_cap;
    int64_t stride[STC_MAX_ORDER]; /* of a mode in the numbering of coordinates */
    /* bucket and hash: slots that lead to accumulation indices, as index + base
     * (what is below base is of an earlier batch, and so empty) */
    int64_t *head, *next, heads, next_cap, base;
    int down;      /* bucket: bits of the outermost coordinate left out */
    run_fold runs; /* runs: what came, in rows */
    /* compression */
    int64_t *coord[STC_MAX_ORDER], coord_cap, *pos, pos_cap;
    const char *why; /* the policy was chosen, for reports */
    int64_t listed;  /* rows that were (super_list.c)      */
};

/* A policy. */
struct ws_kind {
    const char *name;
    /* Each may be NULL: there is nothing to be done. Room for the shape of this run;
     * false: there is none, the diag is clear. */
    bool (*ready)(machine *mc, slot *s);
    /* In place of the accumulation array. */
    stc_status (*insert)(machine *mc, slot *s, const int64_t *coords, const value *v,
                         const lop *at);
    /* An entry of that array that has the label, as far as it is looked for; NONE. Entry
     * `id` is new there. */
    int64_t (*find)(const workspace *w, const uint64_t *label);
    stc_status (*enter)(ctx *cx, workspace *w, int64_t id);
    /* Numbers of the accumulation array's entries in order, into w->record: its
     * keys are of no use to anyone. Equal labels stay in order of insertion. */
    stc_status (*sort)(machine *mc, workspace *w);
    void (*clear)(workspace *w); /* forgets what has been inserted */
    void (*free)(ctx *cx, workspace *w);
};

extern const ws_kind ws_kind_host; /* any that the host registered */
extern const ws_kind ws_kind_runs; /* of what is read as runs       */
#define WS_POLICY(NAME, name, meaning) extern const ws_kind ws_kind_##name;
#include "../code/ws_policies.def"

/* ---- labels, values ------------------------------------------------------------- */

static inline void ws_label_put(const ws_label *f, int order, const int64_t *coords,
                                uint64_t *label)
{
    for (int k = 0; k < f->words; k++)
        label[k] = 0;
    for (int m = 0; m < order; m++)
        label[f->word[m]] |= (uint64_t)coords[m] << f->shift[m];
}

static inline int64_t ws_label_coord(const ws_label *f, const uint64_t *label, int m)
{
    if (!f->bits[m]) return 0;
    return (int64_t)(label[f->word[m]] >> f->shift[m] &
                     (~UINT64_C(0) >> (64 - f->bits[m])));
}

static inline bool ws_label_equal(const workspace *w, const uint64_t *a, const uint64_t *b)
{
    for (int k = 0; k < w->form.words; k++)
        if (a[k] != b[k]) return false;
    return true;
}

static inline int ws_label_compare(const workspace *w, const uint64_t *a, const uint64_t *b)
{
    for (int k = 0; k < w->form.words; k++)
        if (a[k] != b[k]) return a[k] < b[k] ? -1 : 1;
    return 0;
}

static inline const uint64_t *ws_label_of(const workspace *w, const ws_list *l, int64_t k)
{
    return l->label + k * w->form.words;
}

/* array[i] = fn(array[i], v), values of the workspace's class. FAULT_HOST: a user's
 * function failed, the diag says how. */
fn_fault ws_fold(const workspace *w, void *array, int64_t i, const value *v);
/* The same of n values, x[k] and y[k]: a run_apply. */
fn_fault ws_fold_all(const void *ws, void *x, const void *y, int n);

/* What was collected goes into an accumulator, and what comes after it; nothing is done if
 * there is no memory for one. */
stc_status ws_turn_dense(machine *mc, slot *s, const lop *at);

/* ---- the accumulation array and the all array (ws_merge.c) ------------------------ */

stc_status ws_list_reserve(ctx *cx, const workspace *w, ws_list *l, int64_t n);
void ws_list_free(ctx *cx, const workspace *w, ws_list *l);
/* Appends to the accumulation array: `room` first, which merges it if it is full. */
stc_status ws_room(machine *mc, slot *s, const lop *at);
int64_t ws_append(workspace *w, const uint64_t *label, const value *v);
/* What comes now is merged by fn, `at` adds it: what came before for another is
 * merged first. */
stc_status ws_use(machine *mc, workspace *w, int fn, const lop *at);
/* Sorts and merges what is in the accumulation array. With `more` to come that
 * may go on while this returns. */
stc_status ws_flush(machine *mc, workspace *w, const lop *at, bool more);
/* The most entries that an operand of this run has. */
int64_t ws_operands(const machine *mc);
/* A capacity for when none is given, from what the program's operands have. */
int64_t ws_default_capacity(const machine *mc);

/* Merges another list, in order and each label once, behind what there is. */
stc_status ws_merge_sorted(machine *mc, workspace *w, ws_list *sorted, const lop *at);

/* Merges n entries of `acc`, in the order of `record`, with the all array. Both
 * all arrays have room for all of them. If the call has to end, which is asked again then,
 * it is left halfway; cx NULL, on a thread of its own: it isn't. */
fn_fault ws_merge(ctx *cx, workspace *w, const ws_list *acc, const ws_record *record);

/* ---- merging on another thread (ws_pipe.c) ------------------------------------------ */

/* Hands the accumulation array over to be sorted and merged, and gives an empty
 * one back, once what was handed over before is done. False: nothing has been
 * done, the caller does it itself; or *st is a failure. */
bool ws_pipe_flush(machine *mc, workspace *w, const lop *at, stc_status *st);
/* Waits for what was handed over; a failure there is raised here. */
stc_status ws_pipe_wait(machine *mc, workspace *w, const lop *at);
/* Waits, and forgets a failure. */
void ws_pipe_drop(workspace *w);
void ws_pipe_free(ctx *cx, workspace *w);

/* The end of the next block of entries, which were counted when they were added; `at`:
 * there is none, or the call that cx counts for, if it isn't NULL, has to end. */
static inline int64_t ws_block(ctx *cx, int64_t at, int64_t n)
{
    if (!cx || at >= n) return n;
    if (work_done(cx, 1)) return at;
    return n - at < WORK_BLOCK ? n : at + WORK_BLOCK;
}

/* ---- sorting (ws_sort.c) ----------------------------------------------------------- */

/* w->record = the accumulation array's entries in order of their labels; stable. */
stc_status ws_sort_labels(machine *mc, workspace *w);
stc_status ws_record_room(ctx *cx, workspace *w, int64_t n);
/* The same without memory of its own: record has two halves of `half` records,
 * half >= l->n; the result is in the first. False: the call has to end; cx NULL, on a
 * thread of its own: it doesn't. */
bool ws_sort_list(ctx *cx, const workspace *w, const ws_list *l, ws_record *record,
                  int64_t half);
/* Records by the lowest `bits` bits of their keys; room for as many. */
void ws_sort_records(ws_record *r, int64_t n, ws_record *room, int bits);
/* A few records by their keys: stable, in time n * n. */
void ws_sort_few(ws_record *r, int64_t n);
/* Sorts coordinates below `limit`; `room` has as many. */
void ws_sort_coords(int64_t *coord, int64_t *room, int64_t n, int64_t limit);

/* ---- dense workspaces as handlers see them (ws_dense.c) ------------------------------ */

/* Whether w is one over a single index. */
bool ws_is_vector(const slot *s);
/* Room for n more touched coordinates. */
stc_status ws_touch_room(machine *mc, workspace *w, int64_t n);
enum { WS_STRING = 1024 }; /* entries of a call of ws_add_vector at most */
/* Adds n values of the workspace's class, as ws_add does one by one. False: nothing
 * was done, for what only ws_add can do. */
bool ws_add_vector(machine *mc, slot *s, const int64_t *coords, const void *vals, int n,
                   int fn, const lop *at, stc_status *st);
/* All n coordinates are touched, of none. */
void ws_touch_all(workspace *w, int64_t n);
/* Adds n elements from coordinate lo on, which are inside, by the function that is used. */
stc_status ws_add_line(machine *mc, slot *s, int64_t lo, const void *vals, int64_t n,
                       const lop *at);
/* n coordinates from lo on, which are inside, are touched: those that weren't have what a
 * sum begins with that leaves any first term as it is, -0 too. */
stc_status ws_touch_line(machine *mc, slot *s, int64_t lo, int64_t n);
/* Puts the touched coordinates in order. */
stc_status ws_sort_touched(ctx *cx, workspace *w);
/* Their values, one after the other or at these places, from element `first` of t's on. */
void ws_give_values(const workspace *w, tensor *t, int64_t first, const int64_t *place);
/* Before their values are read or added to one by one: acc has them, if it lacks them. */
void ws_spell_out(workspace *w);

/* ---- workspaces that are read as runs (ws_runs.c) ------------------------------------ */

/* Adds n runs, as ws_add does their elements one by one: values of the workspace's class.
 */
stc_status ws_add_runs(machine *mc, slot *s, int n, const int64_t *lo, const int64_t *len,
                       const void *vals, int fn, const lop *at);
/* … elements from coordinate lo on, of which an accumulator is worth it from now on. */
stc_status ws_add_elements(machine *mc, slot *s, int64_t lo, int n, const void *vals,
                           int fn, const lop *at);
stc_status ws_settle_runs(machine *mc, workspace *w, const lop *at);
stc_status ws_end_runs(machine *mc, slot *s, const lop *at);
stc_status ws_outside(machine *mc, const slot *s, int m, int64_t coord, const lop *at);

/* ws_values.c: n values of the type's class, from[index[k]], to vals[place[k]]; NULL: k.
 * alike: from[0] to all of them. */
void ws_put_values(stc_type type, void *vals, const int64_t *place, const void *from,
                   const int64_t *index, int64_t n, bool alike);
/* Forgets them. */
void ws_untouch(workspace *w);

#endif
