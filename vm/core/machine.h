/* machine.h: a linked program: threaded code, registers, loop frames, tensor
 * slots. What the dispatch loop (interp.c), the linker (link.c), assembly
 * (assemble.c), workspaces (workspace.c) and the faster tiers share.
 *
 * Life: machine_new links once (one block for all fixed-size state, so linking
 * costs little); each machine_run evaluates extents, checks what is bound, and
 * dispatches. Nothing is allocated in a run except what results, workspaces
 * and conversions grow to, and that is kept for the next run.
 *
 * Linked code. One lop per instruction: main code first, in order, the bodies
 * of user functions after it; origin[] leads back to the instruction. A faster
 * tier takes over a loop by giving the loop's lop a `super` (machine_fuse in
 * fuse.c, called at the end of linking unless the context says no_super); the
 * loop's own lops stay behind it, for replaying what faults.
 */
#ifndef STC_VM_MACHINE_H
#define STC_VM_MACHINE_H

#include "../fn/functions.h"
#include "../fn/host.h"
#include "../code/program.h"
#include "subsect.h"

typedef struct lop lop;
typedef struct loop loop;
typedef struct super super;
typedef struct slot slot;

/* ---- linked instructions ------------------------------------------------------- */

/* Handlers: those of the base opcodes, then what linking specialises. */
typedef enum lop_code {
#define OP(NAME, text, operands, effect) LOP_##NAME,
#include "../code/opcodes.def"
#define TYPE(NAME, name, ctype, CLASS, rank) LOP_LOAD_##NAME,
#include "../../formats/base/types.def"
    LOP_HOST,     /* a call of a function of the host's                        */
    LOP_SUPER,    /* a loop that a faster tier runs                            */
    LOP_PROFILE,  /* counts, then does what the instruction is                 */
    LOP_PARALLEL, /* a loop that threads may share (parallel.h)               */
    LOP_COUNT
} lop_code;

struct lop {
    const void *label; /* where dispatch jumps; unused in the switch build */
    uint16_t op;       /* lop_code                                         */
    uint16_t arg[7];   /* as in insn                                       */
    union {
        const lop *to;         /* if, else, break, skip, test, endwhile     */
        loop *loop;            /* loop, end                                 */
        fn_scalar fn;          /* fn1 … fn3, acc                            */
        const constant *k;     /* const, iconst, open.at, imuladd           */
        super *super;          /* a loop on a faster tier                   */
        const user_fn *ufn;    /* call, ws.call                             */
        const host_form *host; /* call of a function of the host's       */
        subsect *sub;          /* subsect                                   */
    } u;
};

/* ---- cursors ------------------------------------------------------------------- */

/* A cursor register. The level's coordinate is coef * index + shift, where
 * index is what the loop over it counts (1 and 0 but for open.at). For the
 * cursors of `at` c.at is the place in the result, which holds only once
 * `kept`; c.coord its coordinate. */
typedef struct mcursor {
    cursor c;
    int64_t coef, shift;
    uint64_t stores;  /* at: the result's count of stores when it was placed */
    bool plain;       /* coef 1, shift 0                                     */
    bool kept;        /* at: the coordinate has been appended                */
    bool subsections; /* opened by subsect                                  */
} mcursor;

/* ---- loops --------------------------------------------------------------------- */

/* One operand of a running merge. */
typedef struct lane {
    mcursor *c;
    int64_t lo, hi; /* walk: its interval in values of the index; lo is
                       CURSOR_END when it is used up. Of a steady loop's
                       operands lo is the position at index 0               */
    uint64_t bit;   /* its bit in the mask                                  */
    const merge_operand *op;
} lane;

/* The frame of one `loop` instruction; loops nest statically, so each has one. */
struct loop {
    const merge_desc *merge;
    lane *lane; /* all operands; walkers first, then follow and
                   locate, then known                              */
    int nwalk, nplace, nknown;
    uint64_t placed;        /* bits of follow and locate                       */
    int64_t i, begin, end;  /* where it stands; the range                       */
    uint64_t produce, live; /* tables with the known bits put in (count <= 6) */
    uint64_t known;         /* the known bits that are set, this time          */
    uint64_t needed;        /* bits of followers without which nothing produces */
    uint64_t subsections;   /* bits of operands that are subsections           */
    uint64_t visited;       /* subsections visited in this run                 */
    bool part;              /* a worker's, of a range whose first part is another's */
    bool universe;          /* visits every coordinate, this time              */
    bool unordered;         /* its only walker's coordinates come in any order */
    bool steady;            /* what it locates moves on by one with each round */
    bool alone;             /* in no other block: it is run once in a run        */
    uint16_t index, mask;   /* registers                                       */
    const lop *body, *exit;
    loop *outer;
    super *super;    /* what runs it on a faster tier, owned             */
    int first, last; /* lops of loop and end                            */
};

/* ---- faster tiers -------------------------------------------------------------- */

#define SUPER_REPLAY ((stc_status)-1) /* not done: run the loop by base operations */

/* A loop taken over. run does all of it, ends included, and returns STC_OK, a
 * failure with the diag filled, or SUPER_REPLAY with nothing changed that base
 * operations would not overwrite. It counts its work by machine_count. */
struct super {
    stc_status (*run)(machine *mc, super *s);
    void (*free)(machine *mc, super *s); /* all but the block itself               */
    void (*describe)(const super *s, textbuf *out); /* for dumps, when they are asked for */
    const lop *next; /* where to go on: as a rule loop->exit                   */
    super *behind;   /* what runs the loop if this one can't: NULL: base operations */
    loop *loop;
    int tier;       /* 2, 3 or 4                                              */
    bool sure;      /* never asks for a replay                                */
    bool any_order; /* its loops are as good in any order, but for rounding         */
    size_t size;    /* of the block, for mem_free                             */
};

/* ---- tensors ------------------------------------------------------------------- */

/* Assembly of one level of a result. */
typedef struct asm_level {
    bool insert;    /* every coordinate has its place; else appended in order */
    int64_t parent; /* append: that of the last entry; NONE at first           */
    int64_t again;  /* coordinates that one which was taken away had, if many  */
} asm_level;

/* What is added in any order, between ws.begin and ws.end (ws.h); after it the
 * slot's tensor has the entries. */
typedef struct workspace workspace;

/* A fiber that loops look coordinates up in, and what was learnt of it (lookup.c). */
typedef struct lookup {
    const tensor *t;
    const level *lv;
    int64_t parent, size;
    uint64_t generation, bindings; /* when all of this was so                   */
    int64_t asked;                 /* coordinates, since then                   */
    int32_t *at;                   /* positions, by coordinate - base, if made  */
    int64_t room;
    bool made;
} lookup;

/* An operand's values in another type, and what was learnt of it
 * (../strips/strip_retype.c). */
typedef struct retyped {
    const tensor *t;
    uint64_t generation, bindings; /* when all of this was so                   */
    int64_t asked;                 /* values, since then                        */
    void *vals;                    /* if made                                   */
    size_t room;
    uint8_t type;
    bool made;
} retyped;

/* Whether all of an operand's values are a function's identity (lookup.c). */
typedef struct units {
    const tensor *t;
    uint64_t generation, bindings; /* when that was so */
    int16_t fn;
    bool all;
} units;

struct slot {
    const prog_tensor *row;
    tensor *t;                /* what instructions see: bound or own                 */
    tensor *bound;            /* the host's                                          */
    tensor *own;              /* the machine's, made when first assembled            */
    const tensor *seen;       /* what was bound when the last run began,           */
    uint64_t seen_generation; /* and its generation                         */
    value fill;               /* of what is assembled                                */
    uint64_t stores;          /* counts store and acc since begin                    */
    bool joined;              /* one of them put together what chunks had            */
    bool given;               /* bound may be changed in place                       */
    bool open;                /* between begin and finish: own is no whole tensor      */
    bool taken;               /* … the last one was taken away: it is asked for again  */
    asm_level *lev;           /* one per level                                       */
    int64_t again;            /* values that one which was taken away had, if many   */
    workspace *ws;
    void *lent;           /* the host's memory for the values, NULL: none        */
    int64_t nlent;        /* elements                                            */
    bool lent_room;       /* they are assembled there; else copied in the end    */
    int64_t places;       /* a worker's: where the rows of its chunk end; else 0 */
    index_array *lent_at; /* … and for the levels' arrays, three a level         */
    lookup lookup;
    retyped retyped;
    units units;
    const tensor *from;       /* keep_while: what own was converted from; of an operand: */
    uint64_t from_generation; /* what kept code read; and its generation            */
    bool asked;               /* keep_while: a run before has converted the same         */
};

/* ---- the machine --------------------------------------------------------------- */

/* What loops visit besides rounds, told apart for profiles: stretches on which compressed
 * operands are constant, blocks that are stored, and fibers of coordinates. Who visits
 * them counts them (machine_saw). */
typedef enum seen_kind { SEEN_RUNS, SEEN_BLOCKS, SEEN_FIBERS, SEEN_KINDS } seen_kind;

typedef struct profile_row {
    uint64_t count, nanoseconds;
    uint64_t rounds; /* that loops made since it began, its own and those inside */
    uint64_t seen[SEEN_KINDS]; /* … what they visited                           */
    uint16_t op;               /* the handler behind LOP_PROFILE */
} profile_row;

#define CALL_DEPTH_MAX 200

typedef struct frame {
    value *v;
    int64_t cap;
} frame;

struct machine {
    ctx *cx;
    const program *p;
    lop *code;
    int ncode, nmain; /* lops in all; those of the main code            */
    uint32_t *origin; /* instruction of each lop                        */
    uint32_t *named;  /* how often the program names each tensor        */
    int *entry;       /* first lop of each user function                */
    value *v;         /* the register files of the main code            */
    int64_t *i;
    uint64_t *m;
    mcursor *c;
    int64_t *ext; /* extents of this run                            */
    slot *slot;
    loop *loops;
    int nloop;
    lane *lanes;
    subsect *subs;
    int nsub;
    /* Steps are counted down from `slice`; when it is spent, machine_poll
     * charges them to the call (work_done), which may have to end. */
    int64_t left, slice;
    uint64_t steps; /* counted at the last poll                       */
    frame *frames;  /* by depth of calls; made by the first call */
    int depth;
    const void *const *labels;
    const lop *call_site; /* the outermost call, while depth > 0          */
    profile_row *profile; /* one per lop, NULL unless profiled            */
    uint64_t *tally;      /* calls by tally_row; NULL as well */
    int ntally;
    int profile_last;
    uint64_t profile_since, profile_rounds;
    struct parallel *parallel; /* shared loops, once looked for; NULL before */
    struct worker *worker;     /* this machine runs for a thread; NULL: the host's */
    bool reads_bound;  /* loops read nothing that the run makes itself              */
    bool settled;      /* extents are those of what was seen                        */
    bool lends;        /* the host wants, or wanted, some result in memory of its own */
    uint64_t bindings; /* counts changes of what is bound (machine_knows)           */
    void *marks;       /* places of coordinates, nought between kernels (super_marks.h) */
    size_t marks_size;
    bool kept;         /* what the program's first code made is there still,         */
    int64_t *kept_ext; /* … of these extents                                        */
    bool left_out;     /* … and the last run left it out                            */
    bool looks_away;   /* no run ends behind a slot                                 */
    int stopped;       /* the slot behind which the last run ended, -1: it is done  */
    void *block;       /* all of the fixed-size state                               */
    size_t block_size;
    uint64_t seen[SEEN_KINDS]; /* since the last step that was profiled */
};

/* Whether what was found out about a loop's operands when so many bindings had been
 * counted still holds: repeated runs on the same data don't look at them again. */
static inline bool machine_knows(const machine *mc, const loop *l, uint64_t since)
{
    return since == mc->bindings && mc->reads_bound && l->alone;
}

/* link.c: allocates the block and fills the lops. */
stc_status machine_link(machine *mc);
/* fuse.c: gives loops to faster tiers; STC_OK if there is none to give. */
stc_status machine_fuse(machine *mc);
/* tiers.c: makes lop `at` do what handler op does; what its operands lead to stays. */
void machine_patch(machine *mc, lop *at, int op);
/* Puts s in front of its loop, and of what took that before; the machine frees
 * it. For machine_fuse. */
void machine_give(machine *mc, super *s);
/* Frees what loop l was given: base operations run it. */
void machine_take_back(machine *mc, loop *l);

/* interp.c: runs from lop `from` (the first) to halt. */
stc_status machine_dispatch(machine *mc, const lop *from);
/* Calls the user's function that lop `at` names, its operand b, on a frame of its
 * own; host: its form, if it is the host's. */
stc_status machine_call(machine *mc, const lop *at, const host_form *host,
                        const value *args, value *out);
/* The labels by lop_code; NULL in the switch build. */
const void *const *machine_labels(void);

/* run.c: steps. */
stc_status machine_poll(machine *mc);
/* n more rounds were done; n may be anything >= 0. */
static inline stc_status machine_count(machine *mc, int64_t n)
{
    mc->left -= n;
    return mc->left > 0 ? STC_OK : machine_poll(mc);
}
/* n of a kind were visited. */
static inline void machine_saw(machine *mc, seen_kind kind, int64_t n)
{
    mc->seen[kind] += (uint64_t)n;
}
/* faults.c: fails with the place of lop `at` in the source, and the coordinates at
 * which the loops around it stand. */
stc_status machine_fault(machine *mc, const lop *at, fn_fault fault);
/* A computed subscript, i, leaves its tensor at the `bounded` that `at` is. */
stc_status machine_unbounded(machine *mc, const lop *at, int64_t i);
stc_status machine_fail(machine *mc, const lop *at, stc_status status, const char *format,
                        ...) ERROR_LIKE(4, 5);
/* What the host's function of call `at` said; why may be NULL. */
stc_status machine_host_failed(machine *mc, const lop *at, stc_status status,
                               const char *why);

/* profile.c: what was done since the last lop that was profiled belongs to that one; the
 * next one (-1: there is none) begins. */
void machine_profile_step(machine *mc, int next);
/* What another machine of the same program counted, one of so many that shared the loop at
 * lop `first`, is this one's. */
void machine_profile_add(machine *mc, machine *from, int first, int threads);

/* extent.c: evaluates all extents and checks from the shapes of what is bound;
 * sets `settled`. */
stc_status machine_extents(machine *mc);

/* merge.c: the loop over a merge. start: from its lower bound; next: after
 * the present coordinate. Sets the registers and stands all of its cursors;
 * LOOP_FAILED with the diag filled when a limit was hit on the way. */
typedef enum loop_state { LOOP_DONE, LOOP_ON, LOOP_FAILED } loop_state;
loop_state loop_start(machine *mc, loop *l);
/* The fibers of stored coordinates that what walks or follows in it was opened on; of those
 * that threads share, the first part has them. */
int64_t loop_fibers(const loop *l);
/* Puts the bits that are fixed during the loop into its tables, and finds out
 * whether coordinates without any walker can produce. Linking does it once
 * for loops without known operands. */
void loop_tables(loop *l);
loop_state loop_next(machine *mc, loop *l);
/* Stands c at coordinate x of a level, or on nothing; levels that can't locate
 * are walked. */
bool cursor_locate_any(cursor *c, const level *lv, const cursor *up, int64_t x);
/* lookup.c: level_kind's locate_many below one parent position, in level lv of what slot
 * `which` has; of a fiber that is asked often, by a table. */
int64_t machine_look_up(machine *mc, int which, const level *lv, int64_t parent,
                        const void *crd, int32_t width, int32_t stride, int64_t n,
                        int64_t *pos);
void lookup_free(machine *mc, lookup *k);
/* Whether all values of the host's operand in slot `which` are what a function leaves
 * others as they are by, as 1 is for products: what is stored then says it all. */
bool machine_units(machine *mc, int which, int fn);
/* ../strips/strip_retype.c */
void strip_retyped_free(machine *mc, retyped *r);
/* position.c: the sum of positions [at, at_end) of t, in t's class. */
value load_sum(const tensor *t, int64_t at, int64_t at_end);
/* The positions of level `last` that lie below cursor up, which stands
 * above level l: the first, and how many; so many in blocks of n. */
void span_find(const tensor *t, int l, const cursor *up, int last, int64_t *first,
               int64_t *count);
int64_t span_blocks(int64_t count, int64_t n);
/* Stands c in level l where position p of level `last` is, or lies below; on nothing
 * where there is no such position. */
void position_stand(cursor *c, const tensor *t, int l, const cursor *up, int64_t p,
                    int last, int64_t *coord);
/* assemble.c: results. A result's values are valid up to nvals while it is
 * assembled: asm_value makes position pos valid, and fills what it skips. */
stc_status asm_begin(machine *mc, slot *s);
/* ../run/deliver.c: what of results has to be copied to the host's memory, after a run. */
stc_status deliver_results(machine *mc);
void deliver_free(machine *mc, slot *s);
void asm_taken(slot *s, tensor *t); /* its own tensor t leaves the machine */
stc_status asm_at(machine *mc, slot *s, int l, mcursor *c, const mcursor *up, int64_t coord,
                  const lop *at);
stc_status asm_keep(machine *mc, slot *s, int l, mcursor *c, const lop *at);
/* The same for a level that takes regions: `len` coordinates from c's on. */
stc_status asm_keep_run(machine *mc, slot *s, int l, mcursor *c, int64_t len,
                        const lop *at);
/* The place of the value at c (NULL: the root of a scalar), appended if new. */
stc_status asm_place(machine *mc, slot *s, mcursor *c, const lop *at, int64_t *pos);
stc_status asm_value(machine *mc, slot *s, int64_t pos);
stc_status asm_finish(machine *mc, slot *s);
stc_status asm_move(machine *mc, slot *to, slot *from);
stc_status asm_convert(machine *mc, slot *to, slot *from);
stc_status asm_pack(machine *mc, slot *to, slot *from);
/* Shows the machine's own tensor in the slot: made if need be, with the shape
 * and fill of this run, its contents as they were; of a new one nothing is there. */
stc_status asm_own(machine *mc, slot *s);
/* The same, without entries, and whole: every level closed. */
stc_status asm_empty(machine *mc, slot *s);

/* workspace.c */
stc_status ws_begin(machine *mc, slot *s);
stc_status ws_add(machine *mc, slot *s, const int64_t *coords, int fn, vclass cls,
                  const value *v, const lop *at);
stc_status ws_end(machine *mc, slot *s, const lop *at);
/* The number by which ws_add takes a user's function: below those of built-ins. */
static inline int ws_user_fn(int f, bool associative)
{
    return -2 - 2 * f - associative;
}
void ws_free(machine *mc, slot *s);

#endif
