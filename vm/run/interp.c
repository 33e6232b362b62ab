/* interp.c: the dispatch loop: what each base instruction does.
 *
 * Takes linked code and runs it until halt, return or a fault. Threaded by
 * computed goto; with STC_SWITCH the same bodies are the cases of a switch,
 * for compilers without labels as values. Trusts the verifier for registers,
 * operands and nesting; what depends on data (coordinates of results, depth of
 * calls, faults of arithmetic) is checked here or in what is called.
 */
#include "../nest/fuse.h"
#include "../strips/strip.h"
#include "../core/open.h"
#include "../threads/parallel.h"
#include <math.h>
#include <string.h>

/* ---- instructions that aren't one line ----------------------------------------- */

static value load_at(const tensor *t, const mcursor *c)
{
    if (!c) return type_load(t->type, t->vals, 0);
    if (c->c.at == NONE) return t->fill;
    return load_sum(t, c->c.at, c->c.at_end);
}

/* v reduced with itself n times. Sums and products of floats have their closed
 * form; other associative functions double; the rest are applied in turn. */
static stc_status fold(machine *mc, const lop *at, int fn, vclass cls, value *v, int64_t n)
{
    const fn_info *f = fn_at(fn);
    fn_scalar apply = fn_scalar_of(fn, cls);
    if (n <= 0) {
        if (reduction_start(fn, cls, v)) return STC_OK;
        return machine_fail(mc, at, STC_ERR_ARITHMETIC,
                            "%s over nothing: it has no identity", f->name);
    }
    if (n == 1 || f->flags & FP_IDEMPOTENT) return STC_OK;
    bool real = cls == CLASS_F32 || cls == CLASS_F64;
    if ((fn == FN_ADD || fn == FN_MUL) && real) {
        value count = class_convert(cls, CLASS_I64, (value){.i64 = n});
        fn_scalar_of(fn == FN_ADD ? FN_MUL : FN_POW, cls)(v, v, &count, NULL);
        return STC_OK;
    }
    value x = *v;
    if (f->flags & FP_ASSOCIATIVE) {
        for (n--; n > 0; n >>= 1) {
            if (n & 1) apply(v, v, &x, NULL);
            apply(&x, &x, &x, NULL);
        }
        return STC_OK;
    }
    for (n--; n > 0; n--) {
        fn_fault fault = apply(v, v, &x, NULL);
        if (fault) return machine_fault(mc, at, fault);
        if (machine_count(mc, 1)) return mc->cx->diag.status;
    }
    return STC_OK;
}

static stc_status store(machine *mc, const lop *at, value v)
{
    slot *s = &mc->slot[at->arg[0]];
    int64_t pos;
    if (asm_place(mc, s, at->arg[1] == ROOT ? NULL : &mc->c[at->arg[1]], at, &pos) ||
        asm_value(mc, s, pos))
        return mc->cx->diag.status;
    type_store(s->t->type, s->t->vals, pos, v);
    return STC_OK;
}

static stc_status accumulate(machine *mc, const lop *at, value v)
{
    slot *s = &mc->slot[at->arg[0]];
    int64_t pos;
    if (asm_place(mc, s, at->arg[1] == ROOT ? NULL : &mc->c[at->arg[1]], at, &pos) ||
        asm_value(mc, s, pos))
        return mc->cx->diag.status;
    value x = type_load(s->t->type, s->t->vals, pos);
    fn_fault fault = at->u.fn(&x, &x, &v, NULL);
    if (fault) return machine_fault(mc, at, fault);
    type_store(s->t->type, s->t->vals, pos, x);
    return STC_OK;
}

/* Whether a step's result, which is there by now, has other entries than thought. */
static bool stops(machine *mc, int id)
{
    const slot *s = &mc->slot[id];
    if (!s->row->most || mc->looks_away) return false;
    if (s->t->nvals >= s->row->least && s->t->nvals <= s->row->most) return false;
    mc->stopped = id;
    return true;
}

/* Registers of a call, one block per depth, kept for the next call. */
static value *call_frame(machine *mc, const lop *at, const user_fn *f)
{
    if (mc->depth >= CALL_DEPTH_MAX) {
        machine_fail(mc, at, STC_ERR_ARITHMETIC, "%s calls itself more than %d deep",
                     f->name, CALL_DEPTH_MAX);
        return NULL;
    }
    if (!mc->frames) mc->frames = mem_zero(mc->cx, CALL_DEPTH_MAX, sizeof *mc->frames);
    if (!mc->frames) return NULL;
    frame *fr = &mc->frames[mc->depth];
    if (fr->cap < f->nv && mem_grow(mc->cx, &fr->v, &fr->cap, f->nv, sizeof *fr->v))
        return NULL;
    return fr->v;
}

/* ---- the loop ------------------------------------------------------------------ */

#define V(k) v[pc->arg[k]]
#define INT(k) mc->i[pc->arg[k]]
#define M(k) mc->m[pc->arg[k]]
#define C(k) (&mc->c[pc->arg[k]])
#define C_OR_ROOT(k) (pc->arg[k] == ROOT ? NULL : &mc->c[pc->arg[k]])
#define SLOT(k) (&mc->slot[pc->arg[k]])
#define TRY(e)                                                                             \
    do {                                                                                   \
        if ((e) != STC_OK) return mc->cx->diag.status;                                     \
    } while (0)
#define STEP()                                                                             \
    do {                                                                                   \
        if (--mc->left <= 0) TRY(machine_poll(mc));                                        \
    } while (0)
#define FAULTS(e)                                                                          \
    do {                                                                                   \
        fn_fault fault_ = (e);                                                             \
        if (__builtin_expect(fault_ != FAULT_NONE, 0))                                     \
            return machine_fault(mc, pc, fault_);                                          \
    } while (0)

#ifdef STC_SWITCH
#define CASE(NAME) case LOP_##NAME:
#define GOTO(target)                                                                       \
    do {                                                                                   \
        pc = (target);                                                                     \
        op = pc->op;                                                                       \
        goto dispatch;                                                                     \
    } while (0)
#define REDO(code)                                                                         \
    do {                                                                                   \
        op = (code);                                                                       \
        goto dispatch;                                                                     \
    } while (0)
#else
#define CASE(NAME) L_##NAME:
#define GOTO(target)                                                                       \
    do {                                                                                   \
        pc = (target);                                                                     \
        goto * pc->label;                                                                  \
    } while (0)
#define REDO(code) goto *labels[code]
#endif
#define NEXT() GOTO(pc + 1)

static stc_status run(machine *mc, const lop *pc, value *v, value *result);

static stc_status call(machine *mc, const lop *pc, const value *args, value *out)
{
    const user_fn *f = pc->u.ufn;
    value *frame_v = call_frame(mc, pc, f);
    if (!frame_v) return mc->cx->diag.status;
    for (int k = 0; k < f->params; k++)
        frame_v[k] = args[k];
    if (mc->depth++ == 0) mc->call_site = pc;
    stc_status status = run(mc, &mc->code[mc->entry[pc->arg[1]]], frame_v, out);
    mc->depth--;
    return status;
}

static stc_status call_host(machine *mc, const lop *pc, const host_form *host,
                            const value *args, value *out)
{
    const char *why;
    const stc_status status = host_call_one(host, args, out, &why);
    return status ? machine_host_failed(mc, pc, status, why) : STC_OK;
}

stc_status machine_call(machine *mc, const lop *at, const host_form *host,
                        const value *args, value *out)
{
    return host ? call_host(mc, at, host, args, out) : call(mc, at, args, out);
}

/* With mc NULL, result receives the address of the label table. */
static stc_status run(machine *mc, const lop *pc, value *v, value *result)
{
#ifdef STC_SWITCH
    unsigned op = pc->op;
dispatch:
    switch (op) {
#else
    static const void *const labels[LOP_COUNT] = {
#define OP(NAME, text, operands, effect) &&L_##NAME,
#include "../code/opcodes.def"
#define TYPE(NAME, name, ctype, CLASS, rank) &&L_LOAD_##NAME,
#include "../../formats/base/types.def"
        &&L_HOST,
        &&L_SUPER,
        &&L_PROFILE,
        &&L_PARALLEL,
    };
    if (!mc) {
        result->u64 = (uintptr_t)labels;
        return STC_OK;
    }
    GOTO(pc);
#endif
        /* control */
        CASE(HALT) return STC_OK;
        CASE(LOOP)
        {
            loop *l = pc->u.loop;
            if (mc->profile) machine_saw(mc, SEEN_FIBERS, loop_fibers(l));
            loop_state state = loop_start(mc, l);
            if (state == LOOP_FAILED) return mc->cx->diag.status;
            GOTO(state == LOOP_ON ? l->body : l->exit);
        }
        CASE(END)
        {
            loop *l = pc->u.loop;
            STEP();
            loop_state state = loop_next(mc, l);
            if (state == LOOP_FAILED) return mc->cx->diag.status;
            GOTO(state == LOOP_ON ? l->body : l->exit);
        }
        CASE(SKIP)
        {
            if (!merge_produces(&mc->p->merge[pc->arg[1]], M(0))) GOTO(pc->u.to);
            NEXT();
        }
        CASE(WITHIN)
        {
            if (INT(0) < 0 || INT(0) >= mc->ext[pc->arg[1]]) GOTO(pc->u.to);
            NEXT();
        }
        CASE(REQUIRE)
        {
            if (!V(0).i64)
                return machine_fail(mc, pc, STC_ERR_ARITHMETIC,
                                    "a reduction over nothing, by a function that has no "
                                    "identity to give");
            NEXT();
        }
        CASE(BREAK)
        {
            if (V(0).i64) GOTO(pc->u.to);
            NEXT();
        }
        CASE(IF)
        {
            if (!V(0).i64) GOTO(pc->u.to);
            NEXT();
        }
        CASE(ELSE) GOTO(pc->u.to);
        CASE(ENDIF) NEXT();
        CASE(WHILE) NEXT();
        CASE(TEST)
        {
            if (!V(0).i64) GOTO(pc->u.to);
            NEXT();
        }
        CASE(ENDWHILE)
        {
            STEP();
            GOTO(pc->u.to);
        }
        CASE(CALL)
        {
            value out;
            TRY(call(mc, pc, &V(2), &out));
            V(0) = out;
            NEXT();
        }
        CASE(HOST)
        {
            value out;
            TRY(call_host(mc, pc, pc->u.host, &V(2), &out));
            V(0) = out;
            NEXT();
        }
        CASE(RETURN)
        {
            *result = V(0);
            return STC_OK;
        }
        /* cursors */
        CASE(OPEN)
        {
            open_cursor(C(0), SLOT(1)->t, pc->arg[2], C_OR_ROOT(3), 1, 0);
            NEXT();
        }
        CASE(OPENAT)
        {
            open_cursor(C(0), SLOT(1)->t, pc->arg[2], C_OR_ROOT(3), pc->u.k->v.i64, INT(4));
            NEXT();
        }
        CASE(SUBSECT)
        {
            TRY(open_subsections(mc, pc));
            NEXT();
        }
        CASE(LOCATE)
        {
            const mcursor *up = C_OR_ROOT(3);
            cursor_locate_any(&C(0)->c, &SLOT(1)->t->level[pc->arg[2]], up ? &up->c : NULL,
                              INT(4));
            NEXT();
        }
        CASE(SPAN)
        {
            const mcursor *up = C_OR_ROOT(4);
            span_find(SLOT(2)->t, pc->arg[3], up ? &up->c : NULL, pc->arg[5], &INT(0),
                      &mc->ext[pc->arg[1]]);
            mc->ext[pc->arg[1]] = span_blocks(mc->ext[pc->arg[1]], pc->u.k->v.i64);
            NEXT();
        }
        CASE(POSITION)
        {
            const mcursor *up = C_OR_ROOT(4);
            position_stand(&C(1)->c, SLOT(2)->t, pc->arg[3], up ? &up->c : NULL, INT(5),
                           pc->arg[6], &INT(0));
            NEXT();
        }
        CASE(IDIV)
        {
            const int64_t by = mc->ext[pc->arg[2]];
            INT(0) = by > 0 ? INT(1) / by : 0;
            NEXT();
        }
        CASE(IMOD)
        {
            const int64_t by = mc->ext[pc->arg[2]];
            INT(0) = by > 0 ? INT(1) % by : 0;
            NEXT();
        }
        CASE(SEEK)
        {
            seek_index(C(0), INT(1));
            NEXT();
        }
        CASE(PRESENT)
        {
            uint64_t bit = (uint64_t)1 << pc->arg[1];
            const mcursor *c = C_OR_ROOT(2);
            M(0) = !c || c->c.at != NONE ? M(0) | bit : M(0) & ~bit;
            NEXT();
        }
        CASE(BOUND)
        {
            const int64_t at = V(1).i64, most = INT64_C(1) << 62;
            mc->ext[pc->arg[0]] = at < 0 ? 0 : at > most ? most : at;
            NEXT();
        }
        CASE(MARK)
        {
            uint64_t bit = (uint64_t)1 << pc->arg[1];
            M(0) = V(2).i64 ? M(0) | bit : M(0) & ~bit;
            NEXT();
        }
        CASE(FILLBIT)
        {
            const tensor *t = SLOT(2)->t;
            if (class_equal(type_class(t->type), load_at(t, C_OR_ROOT(3)), t->fill))
                M(0) &= ~((uint64_t)1 << pc->arg[1]);
            NEXT();
        }
        /* integers */
        CASE(ICONST)
        {
            INT(0) = pc->u.k->v.i64;
            NEXT();
        }
        CASE(IMULADD)
        {
            int64_t x;
            if (__builtin_mul_overflow(INT(1), pc->u.k->v.i64, &x) ||
                __builtin_add_overflow(x, INT(3), &INT(0)))
                return machine_fail(mc, pc, STC_ERR_OVERFLOW,
                                    "a coordinate is beyond 64 bits");
            NEXT();
        }
        CASE(IEXTENT)
        {
            INT(0) = mc->ext[pc->arg[1]];
            NEXT();
        }
        CASE(IVALUE)
        {
            V(0).i64 = INT(1);
            NEXT();
        }
        CASE(INDEX)
        {
            INT(0) = V(1).i64;
            NEXT();
        }
        CASE(BOUNDED)
        {
            if (INT(0) < 0 || INT(0) >= mc->ext[pc->arg[1]])
                return machine_unbounded(mc, pc, INT(0));
            NEXT();
        }
        CASE(EXTENT)
        {
            V(0).i64 = mc->ext[pc->arg[1]];
            NEXT();
        }
        /* values */
        CASE(CONST)
        {
            V(0) = pc->u.k->v;
            NEXT();
        }
        CASE(MOV)
        {
            V(0) = V(1);
            NEXT();
        }
        CASE(LOAD)
        {
            V(0) = load_at(SLOT(1)->t, NULL); /* below a cursor: LOAD_ its type */
            NEXT();
        }
#define CLASS_OF_I64 i64
#define CLASS_OF_U64 u64
#define CLASS_OF_F32 f32
#define CLASS_OF_F64 f64
#define CLASS_OF_C64 c64
#define CLASS_OF_C128 c128
#define TYPE(NAME, name, ctype, CLS, rank)                                                 \
    CASE(LOAD_##NAME)                                                                      \
    {                                                                                      \
        const tensor *t = SLOT(1)->t;                                                      \
        const cursor *c = &C(2)->c;                                                        \
        if (c->at == NONE) {                                                               \
            V(0) = t->fill;                                                                \
        } else if (c->at_end - c->at > 1) {                                                \
            V(0) = load_sum(t, c->at, c->at_end);                                          \
        } else {                                                                           \
            const ctype x = ((const ctype *)t->vals)[c->at];                               \
            V(0).CLASS_OF_##CLS = rank == 1 ? x != 0 : x; /* any byte but 0 is true */     \
        }                                                                                  \
        NEXT();                                                                            \
    }
#include "../../formats/base/types.def"
        CASE(FN1)
        {
            pc->u.fn(&V(0), &V(3), NULL, NULL); /* those of two arguments fault */
            NEXT();
        }
        CASE(FN2)
        {
            FAULTS(pc->u.fn(&V(0), &V(3), &V(4), NULL));
            NEXT();
        }
        CASE(FN3)
        {
            pc->u.fn(&V(0), &V(3), &V(4), &V(5));
            NEXT();
        }
        CASE(CONV)
        {
            V(0) = class_convert(pc->arg[1], pc->arg[2], V(3));
            NEXT();
        }
        CASE(WRAP)
        {
            V(0) = type_round(pc->arg[1], V(2));
            NEXT();
        }
        CASE(FOLD)
        {
            value x = V(3);
            TRY(fold(mc, pc, pc->arg[1], pc->arg[2], &x, mc->ext[pc->arg[4]]));
            V(0) = x;
            NEXT();
        }
        /* results */
        CASE(BEGIN)
        {
            TRY(asm_begin(mc, SLOT(0)));
            NEXT();
        }
        CASE(SETFILL)
        {
            SLOT(0)->fill = type_round(SLOT(0)->row->type, V(1));
            NEXT();
        }
        CASE(AT)
        {
            TRY(asm_at(mc, SLOT(1), pc->arg[2], C(0), C_OR_ROOT(3), INT(4), pc));
            NEXT();
        }
        CASE(KEEP)
        {
            TRY(asm_keep(mc, SLOT(0), pc->arg[1], C(2), pc));
            NEXT();
        }
        CASE(STORE)
        {
            TRY(store(mc, pc, V(2)));
            NEXT();
        }
        CASE(ACC)
        {
            TRY(accumulate(mc, pc, V(4)));
            NEXT();
        }
        CASE(FINISH)
        {
            TRY(asm_finish(mc, SLOT(0)));
            if (stops(mc, pc->arg[0])) return STC_OK;
            NEXT();
        }
        CASE(MOVE)
        {
            TRY(asm_move(mc, SLOT(0), SLOT(1)));
            if (stops(mc, pc->arg[0])) return STC_OK;
            NEXT();
        }
        CASE(CONVERT)
        {
            TRY(asm_convert(mc, SLOT(0), SLOT(1)));
            if (stops(mc, pc->arg[0])) return STC_OK;
            NEXT();
        }
        CASE(UPDATE)
        {
            TRY(strip_update(mc, SLOT(0), SLOT(1), pc->arg[2], pc));
            NEXT();
        }
        CASE(BLOCK)
        {
            TRY(strip_block(mc, SLOT(0), SLOT(1), pc->arg[2], &INT(4), pc));
            NEXT();
        }
        CASE(PACK)
        {
            TRY(asm_pack(mc, SLOT(0), SLOT(1)));
            if (stops(mc, pc->arg[0])) return STC_OK;
            NEXT();
        }
        /* workspaces */
        CASE(WSBEGIN)
        {
            TRY(ws_begin(mc, SLOT(0)));
            NEXT();
        }
        CASE(WSADD)
        {
            TRY(ws_add(mc, SLOT(0), &INT(1), pc->arg[2], pc->arg[3], &V(4), pc));
            NEXT();
        }
        CASE(WSCALL)
        {
            const int fn = ws_user_fn(pc->arg[1], pc->arg[4]);
            TRY(ws_add(mc, SLOT(0), &INT(2), fn, type_class(SLOT(0)->row->type), &V(3),
                       pc));
            NEXT();
        }
        CASE(WSEND)
        {
            TRY(ws_end(mc, SLOT(0), pc));
            NEXT();
        }
        CASE(SHARE) NEXT();
        /* what linking puts in */
        CASE(SUPER)
        {
            super *s = pc->u.super;
            const int64_t fibers = mc->profile ? loop_fibers(s->loop) : 0;
            stc_status status = s->run(mc, s);
            for (; status == SUPER_REPLAY && s->behind; status = s->run(mc, s))
                s = s->behind;
            machine_saw(mc, SEEN_FIBERS, fibers);
            if (status == STC_OK) GOTO(s->next);
            if (status != SUPER_REPLAY) return status;
            loop_state state = loop_start(mc, s->loop);
            if (state == LOOP_FAILED) return mc->cx->diag.status;
            GOTO(state == LOOP_ON ? s->loop->body : s->loop->exit);
        }
        CASE(PROFILE)
        {
            machine_profile_step(mc, (int)(pc - mc->code));
            REDO(mc->profile[pc - mc->code].op);
        }
        CASE(PARALLEL)
        {
            const lop *next;
            unsigned as;
            TRY(parallel_run(mc, pc, &next, &as));
            if (next) GOTO(next);
            REDO(as);
        }
#ifdef STC_SWITCH
    }
    return STC_OK;
#endif
}

const void *const *machine_labels(void)
{
#ifdef STC_SWITCH
    return NULL;
#else
    value table;
    run(NULL, NULL, NULL, &table);
    return (const void *const *)(uintptr_t)table.u64;
#endif
}

stc_status machine_dispatch(machine *mc, const lop *from)
{
    value none;
    mc->depth = 0;
    return run(mc, from, mc->v, &none);
}
