/* verify_cursor.c: cursors stand where they should: opened on a level of a
 * tensor that is whole, below a cursor of the level above; results are stored
 * at places of the very assembly that is going on.
 */
#include "verify.h"

/* The cell of the place in level l of result t; -1 if the level needs none: it is the last
 * one, whose stores append, or every coordinate below it has its place beforehand. */
static int place_of(const verifier *vf, int t, int l)
{
    const format *f = &vf->p->tensor[t].fmt;
    if (l + 1 >= f->levels ||
        (f->level[l].kind->caps & f->level[l + 1].kind->caps & CAP_INSERT))
        return -1;
    return vf->place[t] + l;
}

bool cursor_valid(verifier *vf, int c)
{
    for (;;) {
        const cell *k = &vf->cell[vf->c0 + c];
        vf->work++;
        if (!k->v) return false;
        int t = vf->t0 + cursor_tensor(k->v);
        if (vf->cell[t].v != k->t_v) return false;
        cell_read(vf, vf->c0 + c);
        cell_read(vf, t);
        const int at = cursor_kind(k->v) == C_RESULT
                           ? place_of(vf, cursor_tensor(k->v), cursor_level(k->v))
                           : -1;
        if (at >= 0) {
            if (vf->cell[at].v != k->v) return false;
            cell_read(vf, at);
        }
        if (k->up == ROOT) return true;
        if (vf->cell[vf->c0 + k->up].v != k->up_v) return false;
        c = k->up;
    }
}

stc_status tensor_state(verifier *vf, int t, int state)
{
    const cell *c = &vf->cell[vf->t0 + t];
    static const char *const words[] = {"", "whole", "being assembled", "being collected"};
    if ((int)(c->v & T_MASK) != state)
        return refuse(vf, "t%d isn't %s here", t, words[state]);
    cell_read(vf, vf->t0 + t);
    return STC_OK;
}

static stc_status tensor_become(verifier *vf, int t, int state)
{
    return cell_set(vf, vf->t0 + t, (cell){.v = state ? tensor_value(vf, state) : 0});
}

static stc_status define_cursor(verifier *vf, int c, int kind, int t, int l, int up)
{
    const cell *above = up == ROOT ? NULL : &vf->cell[vf->c0 + up];
    const bool nested = kind == C_SUBSECT && above && cursor_kind(above->v) == C_WINDOW &&
                        cursor_level(above->v) == l;
    cell k = {.v = cursor_value(vf, kind, t, l),
              .t_v = vf->cell[vf->t0 + t].v,
              .up_v = above ? above->v : 0,
              .up = (uint16_t)up,
              .chain = (uint16_t)(nested ? above->chain + 1 : 1)};
    if (up == c) return refuse(vf, "c%d can't be its own parent", c);
    if (k.chain > SUBSECT_CHAIN)
        return refuse(vf, "more than %d subsections of level %d of t%d, one in the other",
                      SUBSECT_CHAIN, l, t);
    return cell_set(vf, vf->c0 + c, k);
}

/* An open cursor moves: it stands where it is put, once, so that what is opened below it
 * afterwards stays where it is. */
static stc_status move_cursor(verifier *vf, int c)
{
    cell k = vf->cell[vf->c0 + c];
    k.v = cursor_value(vf, cursor_kind(k.v) == C_OPEN ? C_PLACED : C_WINDOW,
                       cursor_tensor(k.v), cursor_level(k.v));
    return cell_set(vf, vf->c0 + c, k);
}

/* What is below several positions of one coordinate is read as one fiber. */
static stc_status check_chained(verifier *vf, int t, int l)
{
    if (!l || !format_apart(&vf->p->tensor[t].fmt, l - 1)) return STC_OK;
    return refuse(vf, "level %d of t%d can't be read below one that isn't unique", l, t);
}

/* up must be the cursor of the level above (kind C_RESULT or one that stands in
 * what is read), or ROOT above the first. */
static stc_status check_up(verifier *vf, int t, int l, int up, bool result)
{
    if (up == ROOT) {
        if (l == 0) return STC_OK;
        return refuse(vf, "level %d of t%d needs a cursor of the level above it", l, t);
    }
    if (up >= vf->p->nc) return refuse(vf, "there is no c%d", up);
    uint64_t v = vf->cell[vf->c0 + up].v;
    if (!cursor_valid(vf, up) || cursor_tensor(v) != t || cursor_level(v) != l - 1 ||
        cursor_kind(v) != (result ? C_RESULT : C_PLACED))
        return refuse(vf, "c%d isn't a cursor of the level above level %d of t%d", up, l,
                      t);
    return STC_OK;
}

/* A loop remembers the interval on which a cursor that it walks stands, and moves those
 * that follow ahead: nothing else may move them. The outermost `depth` blocks are looked
 * at. */
static stc_status check_free(verifier *vf, int c, int depth)
{
    for (int d = 0; d < depth; d++) {
        const merge_desc *m = vf->block[d].merge;
        if (m && verify_spend(vf, m->count)) return vf->cx->diag.status;
        for (int k = 0; m && k < m->count; k++)
            if (m->operand[k].role <= MERGE_FOLLOW && m->operand[k].cursor == c)
                return refuse(vf, "c%d is moved by a loop around it", c);
    }
    return STC_OK;
}

/* ---- reading ------------------------------------------------------------------- */

static stc_status check_below(verifier *vf, int t, int l, int up)
{
    if (tensor_state(vf, t, T_READY)) return vf->cx->diag.status;
    if (l >= vf->p->tensor[t].fmt.levels) return refuse(vf, "t%d has no level %d", t, l);
    return check_up(vf, t, l, up, false);
}

static stc_status check_located(verifier *vf, int t, int l, int up)
{
    const stc_status status = check_below(vf, t, l, up);
    return status ? status : check_chained(vf, t, l);
}

static stc_status check_coefficient(verifier *vf, int k, int64_t least)
{
    const constant *x = &vf->p->konst[k];
    if (x->cls == CLASS_I64 && x->v.i64 != 0 && x->v.i64 >= least) return STC_OK;
    return refuse(vf, "the coefficient must be an i64, %s",
                  least > 0 ? "positive" : "not 0, and with a negative");
}

/* Subsections hang below a cursor that stands on a coordinate, or below other
 * subsections: of the level above, or wider ones of the same level. */
static stc_status check_subsections(verifier *vf, const uint16_t *a)
{
    const int t = a[1], l = a[2], up = a[3];
    if (check_coefficient(vf, a[5], -INT64_MAX) || tensor_state(vf, t, T_READY) ||
        check_chained(vf, t, l))
        return vf->cx->diag.status;
    const level_spec *of = &vf->p->tensor[t].fmt.level[l];
    if (!(of->kind->caps & CAP_SUBSECT) ||
        !(format_props(&vf->p->tensor[t].fmt, l) & PROP_ORDERED))
        return refuse(vf, "level %d of t%d has no subsections in order", l, t);
    const uint64_t v = up == ROOT ? 0 : vf->cell[vf->c0 + up].v;
    const bool nested = up != ROOT && cursor_kind(v) == C_WINDOW;
    if (!nested && check_up(vf, t, l, up, false)) return vf->cx->diag.status;
    if (nested &&
        (cursor_tensor(v) != t || (cursor_level(v) != l - 1 && cursor_level(v) != l)))
        return refuse(vf,
                      "c%d isn't at subsections of level %d of t%d, or of the one above it",
                      up, l, t);
    return define_cursor(vf, a[0], C_SUBSECT, t, l, up);
}

/* Levels l … last of t, whose positions are counted: one by one, where coordinates repeat.
 */
static stc_status check_spanned(verifier *vf, int t, int l, int up, int last)
{
    if (check_below(vf, t, l, up)) return vf->cx->diag.status;
    const format *f = &vf->p->tensor[t].fmt;
    if (last < l || last >= f->levels) return refuse(vf, "t%d has no level %d", t, last);
    for (int k = l; k <= last; k++)
        if (!(f->level[k].kind->caps & CAP_POSITION))
            return refuse(vf, "positions of level %d of t%d have no coordinates", k, t);
    return STC_OK;
}

stc_status verify_cursor(verifier *vf, const insn *in)
{
    const uint16_t *a = in->arg;
    switch (in->op) {
    case OP_SUBSECT:
        return check_subsections(vf, a);
    case OP_OPENAT:
        if (check_coefficient(vf, a[5], 1)) return vf->cx->diag.status;
        /* fall through */
    case OP_OPEN:
        if (check_located(vf, a[1], a[2], a[3])) return vf->cx->diag.status;
        return define_cursor(vf, a[0], C_OPEN, a[1], a[2], a[3]);
    case OP_LOCATE:
        if (check_located(vf, a[1], a[2], a[3])) return vf->cx->diag.status;
        return define_cursor(vf, a[0], C_PLACED, a[1], a[2], a[3]);
    case OP_SPAN:
        if (vf->p->ext[a[1]].op != EXT_SPAN)
            return refuse(vf, "e%d isn't counted by a span", a[1]);
        if (vf->p->konst[a[6]].cls != CLASS_I64 || vf->p->konst[a[6]].v.i64 <= 0)
            return refuse(vf, "the divisor must be a positive i64");
        return check_spanned(vf, a[2], a[3], a[4], a[5]);
    case OP_POSITION:
        if (check_spanned(vf, a[2], a[3], a[4], a[6])) return vf->cx->diag.status;
        return define_cursor(vf, a[1], C_PLACED, a[2], a[3], a[4]);
    case OP_SEEK:
        return move_cursor(vf, a[0]);
    default: { /* load and fill.bit */
        int t = in->op == OP_LOAD ? a[1] : a[2], c = in->op == OP_LOAD ? a[2] : a[3];
        int levels = vf->p->tensor[t].fmt.levels;
        if (tensor_state(vf, t, T_READY)) return vf->cx->diag.status;
        if (c == ROOT) return levels == 0 ? STC_OK : refuse(vf, "t%d isn't a scalar", t);
        uint64_t v = vf->cell[vf->c0 + c].v;
        if (cursor_tensor(v) != t || cursor_level(v) != levels - 1 ||
            cursor_kind(v) == C_WINDOW)
            return refuse(vf, "c%d isn't a cursor of the last level of t%d", c, t);
        return STC_OK;
    }
    }
}

/* ---- merges -------------------------------------------------------------------- */

static bool level_ordered(const verifier *vf, uint64_t v)
{
    const format *f = &vf->p->tensor[cursor_tensor(v)].fmt;
    return format_props(f, cursor_level(v)) & PROP_ORDERED;
}

static stc_status check_walker(verifier *vf, const merge_desc *m, const merge_operand *o)
{
    uint64_t v = vf->cell[vf->c0 + o->cursor].v;
    if (cursor_kind(v) != C_OPEN && cursor_kind(v) != C_SUBSECT)
        return refuse(vf, "c%d isn't open: it can't be walked or followed", o->cursor);
    if (level_ordered(vf, v)) return STC_OK;
    if (o->role == MERGE_FOLLOW || m->universe)
        return refuse(vf, "c%d walks an unordered level: nothing can be merged with it",
                      o->cursor);
    for (int k = 0; k < m->count; k++)
        if (&m->operand[k] != o && m->operand[k].role <= MERGE_FOLLOW)
            return refuse(vf, "c%d walks an unordered level: nothing can be merged with it",
                          o->cursor);
    return STC_OK;
}

static stc_status check_operand(verifier *vf, const merge_operand *o)
{
    if (o->cursor >= vf->p->nc) return refuse(vf, "there is no c%d", o->cursor);
    if (o->role == MERGE_LOCATE) {
        if (o->tensor >= vf->p->ntensor) return refuse(vf, "there is no t%d", o->tensor);
        if (o->shift != ROOT && (o->shift >= vf->p->ni || !vf->cell[vf->i0 + o->shift].v))
            return refuse(vf, "i%d is read before it is written", o->shift);
        if (o->shift != ROOT) cell_read(vf, vf->i0 + o->shift); /* in each round */
        if (check_located(vf, o->tensor, o->level, o->up)) return vf->cx->diag.status;
        return define_cursor(vf, o->cursor, C_PLACED, o->tensor, o->level, o->up);
    }
    if (!cursor_valid(vf, o->cursor))
        return refuse(vf, "c%d isn't open where it is merged", o->cursor);
    const int state = cursor_kind(vf->cell[vf->c0 + o->cursor].v);
    if (o->role == MERGE_KNOWN && (state == C_OPEN || state == C_SUBSECT))
        return refuse(vf, "c%d is open, and hasn't moved to a coordinate yet", o->cursor);
    return STC_OK;
}

/* What the loop moves, before it begins: cursors that are open, and that no loop around
 * it moves. */
static stc_status check_moved(verifier *vf, const merge_desc *m, const merge_operand *o)
{
    if (o->cursor >= vf->p->nc) return refuse(vf, "there is no c%d", o->cursor);
    if (!cursor_valid(vf, o->cursor))
        return refuse(vf, "c%d isn't open where it is merged", o->cursor);
    if (check_free(vf, o->cursor, vf->depth) || check_walker(vf, m, o))
        return vf->cx->diag.status;
    return move_cursor(vf, o->cursor);
}

/* Cursors that the loop moves: each one once, and whether it is there isn't known before.
 */
static stc_status check_distinct(verifier *vf, const merge_desc *m)
{
    vf->pass++;
    for (int k = 0; k < m->count; k++) {
        const merge_operand *o = &m->operand[k];
        if (o->role == MERGE_KNOWN || o->cursor >= vf->p->nc) continue;
        uint64_t *seen = &vf->seen[vf->c0 + o->cursor];
        if (*seen == vf->pass) return refuse(vf, "c%d is merged twice", o->cursor);
        *seen = vf->pass;
    }
    for (int k = 0; k < m->count; k++) {
        const merge_operand *o = &m->operand[k];
        if (o->role == MERGE_KNOWN && o->cursor < vf->p->nc &&
            vf->seen[vf->c0 + o->cursor] == vf->pass)
            return refuse(vf, "c%d is moved by the loop that knows it beforehand",
                          o->cursor);
    }
    return STC_OK;
}

/* Without the universe a loop visits only where a walker stands, so that its table must
 * not promise more: what may be there without one is left out, whatever it follows. */
static stc_status check_driven(verifier *vf, const merge_desc *m)
{
    uint64_t walks = 0;
    for (int k = 0; k < m->count; k++)
        if (m->operand[k].role == MERGE_WALK) walks |= UINT64_C(1) << k;
    if (m->universe || !merge_may(m, walks, 0)) return STC_OK;
    return refuse(vf, "its table has coordinates that no operand leads to");
}

static stc_status loop_open(verifier *vf, const insn *in)
{
    const merge_desc *m = &vf->p->merge[in->arg[2]];
    if (verify_spend(vf, m->count + m->postfix_len) || check_distinct(vf, m) ||
        check_driven(vf, m) || verify_own(vf, FILE_I, in->arg[0]) ||
        verify_own(vf, FILE_M, in->arg[1]))
        return vf->cx->diag.status;
    for (int k = 0; k < m->count; k++)
        if (m->operand[k].role <= MERGE_FOLLOW && check_moved(vf, m, &m->operand[k]))
            return vf->cx->diag.status;
    if (block_push(vf, OP_LOOP, m)) return vf->cx->diag.status;
    for (int k = 0; k < m->count; k++) /* before located ones are defined */
        if (m->operand[k].role != MERGE_LOCATE && check_operand(vf, &m->operand[k]))
            return vf->cx->diag.status;
    for (int k = 0; k < m->count; k++)
        if (m->operand[k].role == MERGE_LOCATE && check_operand(vf, &m->operand[k]))
            return vf->cx->diag.status;
    if (cell_known(vf, vf->i0 + in->arg[0])) return vf->cx->diag.status;
    return mask_known(vf, in->arg[1], merge_bits(m));
}

static bool is_located(verifier *vf, const merge_desc *m, int c)
{
    vf->work += m->count;
    for (int k = 0; k < m->count; k++)
        if (m->operand[k].role == MERGE_LOCATE && m->operand[k].cursor == c) return true;
    return false;
}

/* What has been walked is at its end: it must be opened anew before it is used again. */
static stc_status use_up(verifier *vf, const merge_desc *m)
{
    for (int k = 0; k < m->count; k++)
        if (m->operand[k].role <= MERGE_FOLLOW &&
            cell_put(vf, vf->c0 + m->operand[k].cursor, 0))
            return vf->cx->diag.status;
    return STC_OK;
}

/* The end moves the loop's cursors again: they must be what they were. */
static stc_status loop_end(verifier *vf)
{
    const vblock *b = &vf->block[vf->depth - 1];
    for (int k = 0; k < b->merge->count; k++) {
        const merge_operand *o = &b->merge->operand[k];
        if (o->role == MERGE_KNOWN) continue;
        int c = o->cursor;
        if (o->role == MERGE_LOCATE) {
            const cell *t = &vf->cell[vf->t0 + o->tensor];
            if ((t->v & T_MASK) != T_READY || t->stamp > b->start)
                return refuse(vf, "t%d changes in a loop that locates in it", o->tensor);
            if (o->up == ROOT || is_located(vf, b->merge, o->up)) continue;
            c = o->up;
        }
        if (!cursor_valid(vf, c) || vf->cell[vf->c0 + c].stamp > b->start)
            return refuse(vf, "c%d changes in the loop that moves it", c);
    }
    return loop_close(vf) ? vf->cx->diag.status : use_up(vf, b->merge);
}

stc_status verify_loop(verifier *vf, const insn *in)
{
    return in->op == OP_LOOP ? loop_open(vf, in) : loop_end(vf);
}

/* ---- results ------------------------------------------------------------------- */

static stc_status check_place(verifier *vf, int t, int l, int c)
{
    uint64_t v = c == ROOT ? 0 : vf->cell[vf->c0 + c].v;
    if (c == ROOT || cursor_kind(v) != C_RESULT || cursor_tensor(v) != t ||
        cursor_level(v) != l)
        return refuse(vf, "the cursor isn't a place in level %d of t%d", l, t);
    return STC_OK;
}

static stc_status check_target(verifier *vf, int t)
{
    if (vf->p->tensor[t].role == ROLE_INPUT || vf->p->tensor[t].role == ROLE_WORK)
        return refuse(vf, "t%d isn't a result", t);
    return STC_OK;
}

/* No coordinate is open in the places of levels l and below. */
static stc_status check_closed(verifier *vf, int t, int l)
{
    for (; l + 1 < vf->p->tensor[t].fmt.levels; l++) {
        const int at = place_of(vf, t, l);
        if (at < 0) continue;
        if (vf->cell[at].v != P_CLOSED)
            return refuse(vf,
                          "a coordinate in level %d of t%d is open on some path to here: "
                          "expected `keep` before",
                          l, t);
        cell_read(vf, at);
    }
    return STC_OK;
}

/* Every place of t is closed: nothing is stored yet. */
static stc_status close_all(verifier *vf, int t)
{
    for (int l = 0; l + 1 < vf->p->tensor[t].fmt.levels; l++)
        if (place_of(vf, t, l) >= 0 && cell_put(vf, place_of(vf, t, l), P_CLOSED))
            return vf->cx->diag.status;
    return STC_OK;
}

static stc_status check_keep(verifier *vf, int t, int l, int c)
{
    if (tensor_state(vf, t, T_ASSEMBLING) || check_place(vf, t, l, c) ||
        check_closed(vf, t, l + 1))
        return vf->cx->diag.status;
    const int at = place_of(vf, t, l);
    return at < 0 ? STC_OK : cell_put(vf, at, P_CLOSED);
}

/* The last level's place, or the root of a scalar. */
static stc_status check_store(verifier *vf, int t, int c)
{
    int levels = vf->p->tensor[t].fmt.levels;
    if (tensor_state(vf, t, T_ASSEMBLING)) return vf->cx->diag.status;
    if (levels == 0) return c == ROOT ? STC_OK : refuse(vf, "t%d is a scalar", t);
    return check_place(vf, t, levels - 1, c);
}

/* Whole-tensor operations: a is made from b. */
static stc_status check_made(verifier *vf, const insn *in)
{
    const prog_tensor *a = &vf->p->tensor[in->arg[0]], *b = &vf->p->tensor[in->arg[1]];
    if (in->arg[0] == in->arg[1]) return refuse(vf, "both tensors are the same");
    if (a->order != b->order) return refuse(vf, "the tensors have different orders");
    if (in->op != OP_CONVERT && a->type != b->type)
        return refuse(vf, "the tensors have different types");
    if (in->op == OP_MOVE) {
        if (b->role == ROLE_INPUT || b->role == ROLE_INOUT)
            return refuse(vf, "t%d isn't the program's own", in->arg[1]);
        int mode[STC_MAX_ORDER];
        if (!format_renumbers(&a->fmt, &b->fmt, mode))
            return refuse(vf, "the tensors have different formats");
    }
    if (tensor_state(vf, in->arg[1], T_READY)) return vf->cx->diag.status;
    if (in->op == OP_MOVE && tensor_become(vf, in->arg[1], 0)) return vf->cx->diag.status;
    return tensor_become(vf, in->arg[0], T_READY);
}

/* A tensor's values and those of another one become a function's of both. */
static stc_status check_combined(verifier *vf, const insn *in)
{
    const uint16_t *a = in->arg;
    const prog_tensor *to = &vf->p->tensor[a[0]], *from = &vf->p->tensor[a[1]];
    if (type_class(to->type) != type_class(from->type) || type_class(to->type) != a[3])
        return refuse(vf, "t%d has another class", a[0]);
    if (!fn_scalar_of(a[2], (vclass)a[3]) || fn_at(a[2])->arity != 2 ||
        fn_result_class(a[2], (vclass)a[3]) != a[3] ||
        fn_operand_class(a[2], (vclass)a[3], 1) != a[3])
        return refuse(vf, "values can't be combined by that");
    if (tensor_state(vf, a[0], T_READY) || tensor_state(vf, a[1], T_READY))
        return vf->cx->diag.status;
    return tensor_become(vf, a[0], T_READY);
}

/* Whether entries are each of them there once. */
static bool has_each_once(const format *f)
{
    bool all = format_appends(f);
    for (int l = 0; l < f->levels; l++)
        all = all && format_props(f, l) & PROP_UNIQUE;
    return all;
}

/* A whole tensor, all of whose places can be found, and its values: of a workspace, or a
 * tensor of the program's own. */
static stc_status check_update(verifier *vf, const insn *in)
{
    const uint16_t *a = in->arg;
    const prog_tensor *to = &vf->p->tensor[a[0]], *from = &vf->p->tensor[a[1]];
    const bool own = from->role == ROLE_TEMP && has_each_once(&from->fmt);
    if (from->role != ROLE_WORK && !own)
        return refuse(vf, "t%d is no workspace, nor made in order", a[1]);
    if (to->fmt.order != from->order || !from->order)
        return refuse(vf, "t%d has other levels than t%d has modes", a[0], a[1]);
    if (!format_finds_places(&to->fmt))
        return refuse(vf, "places of t%d can't be found", a[0]);
    return check_combined(vf, in);
}

/* A whole tensor that has a place for each coordinate, and another one that is the
 * program's own. */
static stc_status check_block(verifier *vf, const insn *in)
{
    const uint16_t *a = in->arg;
    const prog_tensor *to = &vf->p->tensor[a[0]], *from = &vf->p->tensor[a[1]];
    if (a[0] == a[1]) return refuse(vf, "both tensors are the same");
    if (from->role != ROLE_TEMP) return refuse(vf, "t%d isn't the program's own", a[1]);
    if (to->order != from->order || !to->order)
        return refuse(vf, "the tensors have different orders");
    if (!format_inserts(&to->fmt) || !format_inserts(&from->fmt))
        return refuse(vf, "t%d and t%d don't have a place for each coordinate", a[0], a[1]);
    if (verify_integers(vf, a[4], 2 * to->order)) return vf->cx->diag.status;
    return check_combined(vf, in);
}

static stc_status check_at(verifier *vf, const insn *in)
{
    const uint16_t *a = in->arg;
    if (tensor_state(vf, a[1], T_ASSEMBLING) || check_up(vf, a[1], a[2], a[3], true) ||
        check_closed(vf, a[1], a[2]) || define_cursor(vf, a[0], C_RESULT, a[1], a[2], a[3]))
        return vf->cx->diag.status;
    const int at = place_of(vf, a[1], a[2]);
    return at < 0 ? STC_OK : cell_put(vf, at, vf->cell[vf->c0 + a[0]].v);
}

/* What is assembled already has been told its fill. */
static stc_status check_fill(verifier *vf, int t)
{
    if (!vf->p->tensor[t].fill_later)
        return refuse(vf, "the fill of t%d is known: it can't be set", t);
    if ((vf->cell[vf->t0 + t].v & T_MASK) == T_ASSEMBLING)
        return refuse(vf, "the fill of t%d is set while t%d is being assembled", t, t);
    cell_read(vf, vf->t0 + t);
    return STC_OK;
}

stc_status verify_result(verifier *vf, const insn *in)
{
    const uint16_t *a = in->arg;
    int r = in->op == OP_AT ? a[1] : a[0];
    if (check_target(vf, r)) return vf->cx->diag.status;
    switch (in->op) {
    case OP_BEGIN:
        if (!format_appends(&vf->p->tensor[r].fmt))
            return refuse(vf, "the format of t%d can't be assembled in order", r);
        return close_all(vf, r) ? vf->cx->diag.status : tensor_become(vf, r, T_ASSEMBLING);
    case OP_AT:
        return check_at(vf, in);
    case OP_KEEP:
        return check_keep(vf, r, a[1], a[2]);
    case OP_STORE:
    case OP_ACC:
        return check_store(vf, r, a[1]);
    case OP_FINISH:
        if (tensor_state(vf, r, T_ASSEMBLING) || check_closed(vf, r, 0))
            return vf->cx->diag.status;
        return tensor_become(vf, r, T_READY);
    case OP_MOVE:
    case OP_CONVERT:
    case OP_PACK:
        return check_made(vf, in);
    case OP_UPDATE:
        return check_update(vf, in);
    case OP_BLOCK:
        return check_block(vf, in);
    default: /* set.fill */
        return check_fill(vf, r);
    }
}
