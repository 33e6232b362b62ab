/* split.c: reads a program once, with some loops chosen, whose rounds parts share.
 *
 * Takes a linked program, which the verifier accepted. A register that rounds of a chosen
 * loop reduce is partial from there on: it may be stored, and nothing else, since every
 * part has but its share. A tensor that is written at coordinates of a round's own is cut;
 * one that is added to elsewhere is a sum, and may only be copied. What is left is the same
 * in each part. Registers are followed in the order of the text, and once more for each
 * loop that ends with other ones partial than it began with.
 */
#include "split.h"
#include "../code/text.h"
#include <string.h>

bool split_refuse(splitter *s, int at, const char *why)
{
    if (s->why) return false;
    s->why = why;
    s->at = at;
    return false;
}

/* ---- what tensors are read at ------------------------------------------------------ */

/* All of the k coordinates of which e is the block. */
static spread in_block(spread e, int64_t k)
{
    const spread unknown = {.loop = UNKNOWN};
    if (e.loop == UNKNOWN || __builtin_mul_overflow(e.coef, k, &e.coef) ||
        __builtin_mul_overflow(e.lo, k, &e.lo) || __builtin_mul_overflow(e.hi, k, &e.hi) ||
        __builtin_add_overflow(e.hi, k - 1, &e.hi))
        return unknown;
    return e;
}

/* Whether a level has a mode's coordinates, or blocks of them: where e is one of the level,
 * it is then those of the mode. */
static bool of_mode(const level_map *map, spread *e)
{
    if (map->op == MAP_PART && !map->n) *e = in_block(*e, map->k);
    return map->op == MAP_MODE || (map->op == MAP_PART && !map->n);
}

/* It is read at e where something else has an entry, too: always the same, or not noted. */
static void note_along(splitter *s, int t, mode_use *u, spread e)
{
    const bool as_is = e.loop >= 0 && e.coef == 1 && !e.lo && !e.hi;
    for (int k = 0; as_is && k < DRIVERS; k++) {
        const loop_driver *d = &s->driver[e.loop * DRIVERS + k];
        if (d->tensor < 0 || d->tensor == t) continue;
        if (u->along && (u->along != 1 + d->tensor || u->along_mode != d->mode)) continue;
        u->along = 1 + d->tensor;
        u->along_mode = d->mode;
        u->others++;
        return;
    }
}

static void use_mode(splitter *s, int t, int mode, spread e)
{
    const bool before = s->p->tensor[t].role == ROLE_INOUT && !s->made[t].made;
    mode_use *u = before ? split_had(s, t, mode) : split_use(s, t, mode);
    if (e.loop >= 0 && !u->by) u->by = 1 + e.loop;
    const bool own = e.loop >= 0 && e.loop == s->r->inside && e.coef >= 1;
    if (!own && e.loop >= 0) u->elsewhere = 1 + e.loop;
    if (!own || (u->own && u->coef != e.coef)) {
        u->other++;
        note_along(s, t, u, e);
        return;
    }
    split_own(u, e.coef, e.lo, e.hi);
}

/* Level l of t is read at e. */
static void touch(splitter *s, int t, int l, spread e)
{
    const prog_tensor *row = &s->p->tensor[t];
    const level_map *map = &row->fmt.level[l].map;
    const spread unknown = {.loop = UNKNOWN};
    if (of_mode(map, &e)) use_mode(s, t, map->mode, e);
    /* of what remains, what is divided is read elsewhere */
    const bool others = map->op != MAP_MODE && map->op != MAP_PART && map->op != MAP_COUNT;
    for (int m = 0; others && m < row->order; m++)
        use_mode(s, t, m, unknown);
}

static void touch_all(splitter *s, int t)
{
    for (int l = 0; l < s->p->tensor[t].fmt.levels; l++)
        touch(s, t, l, (spread){.loop = UNKNOWN});
}

static bool open_cursor(splitter *s, int c, int t, int l, int at)
{
    return rounds_open(s->r, c, t, l) ||
           split_refuse(s, at, "a cursor is opened in one branch of several");
}

/* A mode of t is written at e: whether that is a round's own coordinate. */
static bool write_mode(splitter *s, int t, int mode, spread e)
{
    mode_use *u = split_use(s, t, mode);
    if (e.loop >= 0 && !u->by) u->by = 1 + e.loop;
    if (!spread_fills(e)) return false;
    if (e.loop != s->r->inside) u->writer = 1 + e.loop;
    return e.loop == s->r->inside;
}

/* A place of a result. */
static bool open_place(splitter *s, const insn *in, int at)
{
    const uint16_t *a = in->arg;
    const level_map *map = &s->p->tensor[a[1]].fmt.level[a[2]].map;
    spread e = rounds_index(s->r, a[4]);
    if (!open_cursor(s, a[0], a[1], a[2], at)) return false;
    rounds_place(s->r, in);
    if (of_mode(map, &e)) write_mode(s, a[1], map->mode, e);
    return true;
}

/* The mode of t whose coordinates a place lies below, coef a round of them; -1: none. */
static int own_mode(const splitter *s, int t, uint16_t at, int64_t *coef)
{
    const cursor_at *c = &s->r->cursor[at];
    if (c->own < 0) return -1;
    const level_map *map = &s->p->tensor[t].fmt.level[c->own].map;
    spread e = {s->r->inside, c->coef, 0, 0};
    if (!of_mode(map, &e)) return -1;
    *coef = e.coef;
    return e.loop == UNKNOWN ? -1 : map->mode;
}

/* ---- what is written --------------------------------------------------------------- */

static bool split_made(splitter *s, int t, split_row row, int at)
{
    tensor_made *m = &s->made[t];
    if (m->round) return true;
    if (!m->made) {
        m->made = true;
        m->at = at;
        m->row = row;
        return true;
    }
    if (m->row.how != row.how || m->row.mode != row.mode || m->row.fn != row.fn ||
        m->row.coef != row.coef) {
        /* all of it by one, and its own coordinates by another */
        if (m->row.how == SPLIT_WHOLE && row.how == SPLIT_CUT)
            s->also = split_use(s, t, row.mode)->writer;
        if (row.how == SPLIT_WHOLE && m->row.how == SPLIT_CUT)
            s->also = split_use(s, t, m->row.mode)->writer;
        return split_refuse(s, at, "a tensor is made in several ways");
    }
    return true;
}

static bool has_identity(const fn_info *fn, const prog_tensor *row)
{
    const vclass cls = type_class(row->type);
    value v;
    if (row->fill_later || !(fn->identity[0].classes >> cls & 1)) return false;
    if (!fn_constant(fn->identity[0].value, cls, row->type, &v)) return false;
    return memcmp(&v, &row->fill, type_size(class_type(cls))) == 0;
}

/* Whether the fill stays what it is where parts are combined that store nothing. `from`:
 * the parts were entries of a tensor, and some have what others lack: that is to be seen.
 * Otherwise all store at the same places, or begin there with the fill. */
static bool fill_stays(const splitter *s, const prog_tensor *row, int fn, bool from)
{
    if (has_identity(fn_at(fn), row) || row->role == ROLE_WORK) return true;
    if (from) return format_stores_entries(&row->fmt);
    if (s->r->depth == 0 && row->order == 0) return true;
    return fn_at(fn)->flags & FP_IDEMPOTENT && !format_drops_fill(&row->fmt);
}

/* Parts of these values come together in t. */
static bool sum_into(splitter *s, int t, int fn, bool from, span_of values, int at)
{
    const prog_tensor *row = &s->p->tensor[t];
    if (row->role == ROLE_INOUT)
        return split_refuse(s, at, "what parts sum up is merged with what was there");
    if (!values_meet(fn, values, row->type))
        return split_refuse(s, at,
                            "parts would be cut to the type before they are summed up");
    if (!fill_stays(s, row, fn, from))
        return split_refuse(s, at,
                            "where nothing is stored, the fill would be reduced, too");
    return split_made(s, t, (split_row){.how = SPLIT_SUM, .fn = fn}, at);
}

/* A value goes into tensor t, merged there by fn (-1: stored), at coordinates of a round's
 * own in `mode` (-1: elsewhere). */
static bool put(splitter *s, int t, int reg, int fn, int mode, int64_t coef, int at)
{
    if (s->made[t].round) return true;
    const int part = s->reg[reg].partial;
    if (part == LOST) return split_refuse(s, at, "it is what some round left there");
    if (s->r->inside < 0 && part) {
        if (fn >= 0 && fn != part - 1)
            return split_refuse(s, at, "what parts sum up is merged in another way");
        return sum_into(s, t, part - 1, s->reg[reg].merged, values_of(&s->f, reg), at);
    }
    if (s->copying) return split_refuse(s, at, "parts of a sum are read with other values");
    if (s->r->inside < 0) return split_made(s, t, (split_row){.how = SPLIT_WHOLE}, at);
    if (part) return split_refuse(s, at, "what parts sum up is needed by them");
    if (mode >= 0)
        return split_made(s, t, (split_row){.how = SPLIT_CUT, .mode = mode, .coef = coef},
                          at);
    const int both = FP_COMMUTATIVE | FP_ASSOCIATIVE;
    if (fn < 0) return split_refuse(s, at, "several write to the same places of a result");
    if ((fn_at(fn)->flags & both) != both)
        return split_refuse(s, at, "what combines them isn't associative and commutative");
    return sum_into(s, t, fn, s->p->tensor[t].role == ROLE_WORK, values_of(&s->f, reg), at);
}

/* Entries of a workspace: a mode that has a round's own coordinate, if there is one. */
static bool put_entry(splitter *s, const insn *in, int fn, int at)
{
    const uint16_t *a = in->arg;
    const bool call = in->op == OP_WSCALL;
    const int t = a[0], first = call ? a[2] : a[1], reg = call ? a[3] : a[4];
    int mode = -1;
    int64_t coef = 0;
    for (int m = 0; m < s->p->tensor[t].order; m++) {
        const spread e = rounds_index(s->r, first + m);
        if (!write_mode(s, t, m, e) || mode >= 0) continue;
        mode = m;
        coef = e.coef;
    }
    return put(s, t, reg, fn, mode, coef, at);
}

/* r = t, in whatever format. */
static bool copy(splitter *s, const insn *in, int at)
{
    const int r = in->arg[0], t = in->arg[1];
    if (s->made[r].round) return true;
    if (s->r->inside >= 0) return split_refuse(s, at, "a tensor is converted in each");
    if (!s->made[r].made && s->r->depth == 0)
        s->made[r].anew = in->op == OP_MOVE || in->op == OP_CONVERT;
    if (!s->made[t].made || s->made[t].row.how == SPLIT_WHOLE)
        return split_made(s, r, (split_row){.how = SPLIT_WHOLE}, at);
    split_row row = s->made[t].row;
    if (row.how == SPLIT_CUT) {
        row.mode = split_made_mode(s, in, row.mode);
        return split_made(s, r, row, at);
    }
    if (in->op == OP_UPDATE)
        return split_refuse(s, at, "what parts sum up is merged with what was there");
    const stc_type type = s->p->tensor[t].type;
    if (type_class(type) != type_class(s->p->tensor[r].type))
        return split_refuse(s, at, "what parts sum up is converted to another type");
    return sum_into(s, r, row.fn, true, values_of_type(type), at);
}

static bool begin(splitter *s, int t, int at)
{
    if (s->made[t].made) return split_refuse(s, at, "a tensor is made twice");
    s->made[t].round = s->r->inside >= 0;
    const uint8_t role = s->p->tensor[t].role;
    return s->r->inside < 0 || role == ROLE_TEMP || role == ROLE_WORK ||
           split_refuse(s, at, "a result is begun in each");
}

/* ---- loops ------------------------------------------------------------------------- */

static bool is_sum(const splitter *s, int reg)
{
    for (int k = 0; k < s->sums.nsum; k++)
        if (s->sums.sum[k].reg == reg) return true;
    return false;
}

/* What a chosen loop's accumulators have at its beginning is in every part. */
static bool sums_begin(splitter *s, int at)
{
    for (int k = 0; k < s->sums.nsum; k++) {
        const int reg = s->sums.sum[k].reg, fn = s->sums.sum[k].fn;
        const vclass cls = (vclass)s->sums.sum[k].cls;
        if (s->reg[reg].partial == 1 + fn) continue;
        if (!s->reg[reg].partial && fn_at(fn)->flags & FP_IDEMPOTENT) continue;
        const constant *c = s->reg[reg].konst ? &s->p->konst[s->reg[reg].konst - 1] : NULL;
        if (!c || s->reg[reg].partial || c->cls != cls ||
            memcmp(&c->v, &s->sums.sum[k].identity, type_size(class_type(cls))) != 0)
            return split_refuse(s, at, "what is reduced begins with something else");
    }
    return true;
}

/* Operands of the program without an entry of which the loop has no round. */
static void find_drivers(splitter *s, int number)
{
    const merge_desc *m = s->mc->loops[number].merge;
    loop_driver *out = &s->driver[number * DRIVERS];
    int n = 0;
    for (int k = 0; k < DRIVERS; k++)
        out[k].tensor = -1;
    for (int b = 0; b < m->count && !m->universe && n < DRIVERS; b++) {
        const int c = m->operand[b].cursor;
        if (m->operand[b].role != MERGE_WALK || merge_may(m, UINT64_C(1) << b, 0)) continue;
        const int t = s->r->cursor[c].tensor;
        if (t < 0 || s->p->tensor[t].role != ROLE_INPUT || s->r->cursor[c].moved) continue;
        const level_map *map = &s->p->tensor[t].fmt.level[s->r->cursor[c].level].map;
        if (map->op == MAP_MODE) out[n++] = (loop_driver){t, map->mode};
    }
}

static spread located_at(splitter *s, uint16_t index, const merge_operand *o)
{
    const linear_form *i = linear_form_of(&s->r->forms, index), *shift = NULL;
    linear_form x = {.k = 0};
    if (o->shift != ROOT) shift = linear_form_of(&s->r->forms, o->shift);
    const bool known = i && (shift || o->shift == ROOT) && linear_add(&x, i, o->coef) &&
                       (!shift || linear_add(&x, shift, 1));
    return rounds_spread(s->r, known ? &x : NULL);
}

static bool loop_begins(splitter *s, const insn *in, int number, int at)
{
    const loop *l = &s->mc->loops[number];
    const merge_desc *m = l->merge;
    bool walks = false;
    for (int r = 0; r < s->p->nv; r++)
        if (!s->reg[r].partial) s->reg[r].partial = s->again[number * s->p->nv + r];
    if (s->chosen[number]) {
        if (s->r->inside >= 0 || s->copying)
            return split_refuse(s, at, "the index is that of a loop around, too");
        for (int d = 0; d < s->r->depth; d++)
            if (s->r->open[d] == FIXED)
                return split_refuse(s, at, "it is in a branch, or repeated");
        if (m->lo != ROOT) return split_refuse(s, at, "its range begins elsewhere");
        if (s->p->ext[m->hi].op == EXT_SPAN)
            return split_refuse(s, at, "how far it runs is found out on the way");
        if (!parallel_registers(&s->f, l, s->r->depth - 1, &s->sums))
            return split_refuse(s, at, s->sums.why);
        if (!sums_begin(s, at)) return false;
        rounds_inside(s->r, number);
    }
    find_drivers(s, number);
    for (int b = 0; b < m->count; b++) {
        const merge_operand *o = &m->operand[b];
        if (o->role == MERGE_KNOWN) continue;
        spread e = rounds_index(s->r, in->arg[0]);
        if (o->role == MERGE_LOCATE) {
            e = located_at(s, in->arg[0], o);
            if (!open_cursor(s, o->cursor, o->tensor, o->level, at)) return false;
        }
        const cursor_at *c = &s->r->cursor[o->cursor];
        if (c->tensor < 0 && s->chosen[number])
            return split_refuse(s, at, "it visits subsections");
        if (c->tensor < 0) continue;
        touch(s, c->tensor, c->level, e);
        walks |= s->made[c->tensor].made && s->made[c->tensor].row.how == SPLIT_SUM;
    }
    if (walks && s->r->inside >= 0)
        return split_refuse(s, at, "what parts sum up is needed by them");
    if (walks && !s->copying) s->copying = s->r->depth;
    return true;
}

static void lose(void *who, int reg)
{
    splitter *s = who;
    if (reg < s->p->nv) s->reg[reg].partial = LOST;
}

static void loop_ends(splitter *s, int number)
{
    const loop *l = &s->mc->loops[number];
    if (s->copying == s->r->depth + 1) s->copying = 0;
    if (s->r->inside == number) {
        rounds_inside(s->r, -1);
        for (int k = l->first + 1; k < l->last; k++)
            insn_each_write(s->p, insn_of(s->mc, k), lose, s);
        for (int k = 0; k < s->sums.nsum; k++) {
            s->reg[s->sums.sum[k].reg].partial = 1 + s->sums.sum[k].fn;
            s->reg[s->sums.sum[k].reg].merged = false;
        }
        s->sums.nsum = 0;
    }
    for (int r = 0; r < s->p->nv; r++) {
        int *again = &s->again[number * s->p->nv + r];
        if (*again || !s->reg[r].partial) continue;
        *again = s->reg[r].partial;
        s->more = true;
    }
}

/* ---- instructions ------------------------------------------------------------------ */

static bool reads_whole(void *who, const insn *in, int reg)
{
    splitter *s = who;
    (void)in;
    return reg >= s->p->nv || !s->reg[reg].partial || (s->r->inside >= 0 && is_sum(s, reg));
}

static void written(void *who, int reg)
{
    splitter *s = who;
    if (reg >= s->p->nv) return;
    s->reg[reg].konst = 0;
    if (s->r->forms.branches || (s->r->inside >= 0 && is_sum(s, reg))) return;
    s->reg[reg].partial = 0;
}

/* A loop that copies parts of a sum does nothing else. */
static bool copies(const splitter *s, const insn *in)
{
    switch (in->op) {
    case OP_LOOP:
    case OP_END:
    case OP_OPEN:
    case OP_AT:
    case OP_STORE:
    case OP_KEEP:
        return true;
    case OP_LOAD:
        return s->made[in->arg[1]].made && s->made[in->arg[1]].row.how == SPLIT_SUM;
    default:
        return false;
    }
}

static bool load(splitter *s, const insn *in, int at)
{
    const tensor_made *m = &s->made[in->arg[1]];
    if (!m->made || m->row.how != SPLIT_SUM) return true;
    if (s->r->inside >= 0 || s->r->forms.branches)
        return split_refuse(s, at, "what parts sum up is needed by them");
    s->reg[in->arg[0]].partial = 1 + m->row.fn;
    s->reg[in->arg[0]].merged = true;
    return true;
}

static bool step_tensor(splitter *s, const insn *in, int at)
{
    const uint16_t *a = in->arg;
    switch (in->op) {
    case OP_BEGIN:
    case OP_WSBEGIN:
        return begin(s, a[0], at);
    case OP_OPEN:
        return open_cursor(s, a[0], a[1], a[2], at);
    case OP_OPENAT:
        touch(s, a[1], a[2], (spread){.loop = UNKNOWN});
        if (!open_cursor(s, a[0], a[1], a[2], at)) return false;
        return s->r->cursor[a[0]].moved = true;
    case OP_LOCATE:
        touch(s, a[1], a[2], rounds_index(s->r, a[4]));
        return open_cursor(s, a[0], a[1], a[2], at);
    case OP_SEEK:
        if (s->r->cursor[a[0]].tensor >= 0)
            touch(s, s->r->cursor[a[0]].tensor, s->r->cursor[a[0]].level,
                  rounds_index(s->r, a[1]));
        return true;
    case OP_SUBSECT:
        touch_all(s, a[1]);
        s->r->cursor[a[0]].tensor = -1;
        return true;
    case OP_SPAN:
        touch_all(s, a[2]);
        return true;
    case OP_POSITION:
        touch_all(s, a[2]);
        if (!open_cursor(s, a[1], a[2], a[3], at)) return false;
        return s->r->cursor[a[1]].moved = true;
    case OP_AT:
        return open_place(s, in, at);
    case OP_STORE:
    case OP_ACC: {
        int64_t coef = 0;
        const int mode = a[1] == ROOT ? -1 : own_mode(s, a[0], a[1], &coef);
        const bool acc = in->op == OP_ACC;
        return put(s, a[0], acc ? a[4] : a[2], acc ? a[2] : -1, mode, coef, at);
    }
    case OP_WSADD:
        return put_entry(s, in, a[2], at);
    case OP_WSCALL:
        return put_entry(s, in, -1, at);
    case OP_MOVE:
    case OP_CONVERT:
    case OP_PACK:
    case OP_UPDATE:
        return copy(s, in, at);
    case OP_BLOCK:
        return split_refuse(s, at, "a block of a tensor is written");
    default:
        return true;
    }
}

static bool read_insn(splitter *s, int at)
{
    const insn *in = insn_of(s->mc, at);
    const bool puts = in->op == OP_STORE || in->op == OP_ACC || in->op == OP_WSADD;
    if (op_closes(in->op)) {
        const int number = rounds_step(s->r, at);
        if (number >= 0) loop_ends(s, number);
        return true;
    }
    if (s->copying && !copies(s, in))
        return split_refuse(s, at, "parts of a sum are read with other values");
    if (!puts && !insn_each_read(s->p, in, reads_whole, s))
        return split_refuse(s, at, "what parts sum up is needed before all of it is there");
    insn_each_write(s->p, in, written, s);
    if (in->op == OP_CONST && !s->r->forms.branches)
        s->reg[in->arg[0]].konst = 1 + in->arg[1];
    if (in->op == OP_LOAD) return load(s, in, at);
    const int number = rounds_step(s->r, at);
    return number < 0 ? step_tensor(s, in, at) : loop_begins(s, in, number, at);
}

bool split_scan(splitter *s)
{
    const program *p = s->p;
    memset(s->use, 0, 2 * (size_t)p->ntensor * STC_MAX_ORDER * sizeof *s->use);
    memset(s->made, 0, (size_t)p->ntensor * sizeof *s->made);
    memset(s->reg, 0, (size_t)p->nv * sizeof *s->reg);
    rounds_begin(s->r, s->mc);
    s->copying = s->also = 0;
    s->sums.nsum = 0;
    for (int k = 0; k < s->mc->nmain; k++)
        if (!read_insn(s, k)) return false;
    return true;
}
