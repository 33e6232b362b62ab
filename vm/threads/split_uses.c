/* split_uses.c: what parts of a program need and make, from what split.c has read.
 *
 * What parts make may be read again by a loop over the same index alone, at the coordinates
 * that the part itself made: that loop is then chosen, too. Of an operand a part needs a
 * range of a mode if chosen loops alone read the level of that mode, and the levels above
 * have all of their coordinates, since what is there would otherwise depend on the part;
 * else all of it. What is converted is needed as its copies are.
 */
#include "../code/text.h"
#include "split.h"
#include <string.h>

static bool is_cut(const splitter *s, int t)
{
    return s->made[t].made && s->made[t].row.how != SPLIT_WHOLE;
}

/* Whether all above the levels of a mode is the same, whatever is stored of it. */
static bool full_above(const format *fmt, int mode)
{
    for (int l = 0; l < fmt->levels; l++) {
        const level_map *m = &fmt->level[l].map;
        const bool first = m->op == MAP_MODE || (m->op == MAP_PART && !m->n);
        if (first && m->mode == mode) return true;
        if (!(format_props(fmt, l) & PROP_FULL)) return false;
    }
    return false;
}

static bool cut_by(const splitter *s, int t, int mode, const mode_use *u)
{
    return u->own && !u->other && full_above(&s->p->tensor[t].fmt, mode);
}

static bool can_be_cut(const splitter *s, int t, int mode)
{
    return cut_by(s, t, mode, split_use(s, t, mode));
}

int split_made_mode(const splitter *s, const insn *in, int m)
{
    const format *to = &s->p->tensor[in->arg[0]].fmt, *from = &s->p->tensor[in->arg[1]].fmt;
    int mode[STC_MAX_ORDER];
    if (in->op == OP_UPDATE) return format_entry_mode(to, m);
    return in->op == OP_MOVE && format_renumbers(from, to, mode) ? mode[m] : m;
}

/* r is made of t, which the program doesn't make, or makes later: what is read of r is
 * needed of t. */
static void pass_on(splitter *s, const insn *in, bool before)
{
    const int r = in->arg[0], t = in->arg[1];
    const uint8_t role = s->p->tensor[r].role;
    const bool result = role == ROLE_OUTPUT || role == ROLE_INOUT;
    for (int m = 0; m < s->p->tensor[t].order; m++) {
        const int made = split_made_mode(s, in, m);
        const mode_use *from = split_use(s, r, made);
        mode_use *to = before ? split_had(s, t, m) : split_use(s, t, m);
        if (!to->by) to->by = from->by;
        if (result || !can_be_cut(s, r, made) || (to->own && to->coef != from->coef)) {
            to->other++;
            continue;
        }
        split_own(to, from->coef, from->lo, from->hi);
    }
}

/* What is read of a tensor before and after it is made, together. */
static void fold(splitter *s, int t)
{
    for (int m = 0; m < s->p->tensor[t].order; m++) {
        const mode_use *from = split_had(s, t, m);
        mode_use *to = split_use(s, t, m);
        const bool differ = to->own && from->own && to->coef != from->coef;
        if (!to->by) to->by = from->by;
        if (!to->elsewhere) to->elsewhere = from->elsewhere;
        to->other += from->other + differ;
        if (from->own) split_own(to, to->own ? to->coef : from->coef, from->lo, from->hi);
    }
}

static void pass_all(splitter *s)
{
    for (int k = s->mc->nmain; k-- > 0;) {
        const insn *in = insn_of(s->mc, k);
        const bool copies = in->op == OP_MOVE || in->op == OP_CONVERT ||
                            in->op == OP_PACK || in->op == OP_UPDATE;
        if (!copies) continue;
        const tensor_made *of = &s->made[in->arg[1]];
        const bool before =
            s->p->tensor[in->arg[1]].role == ROLE_INOUT && (!of->made || k < of->at);
        if (before || !is_cut(s, in->arg[1])) pass_on(s, in, before);
    }
    for (int t = 0; t < s->p->ntensor; t++)
        if (s->p->tensor[t].role == ROLE_INOUT && !s->made[t].anew) fold(s, t);
    for (int k = 0; k < s->mc->nmain; k++) {
        const insn *in = insn_of(s->mc, k);
        const int r = in->arg[0], t = in->arg[1];
        if (in->op != OP_UPDATE && in->op != OP_PACK && in->op != OP_MOVE) continue;
        for (int m = 0; m < s->p->tensor[t].order; m++) {
            mode_use *to = split_use(s, r, split_made_mode(s, in, m));
            if (!to->by) to->by = split_use(s, t, m)->by;
        }
    }
}

/* Whether two extents are the same number, as the program checks. */
static bool same_extent(const program *p, int a, int b, int depth)
{
    if (a == b) return true;
    for (int k = 0; k < p->ncheck && depth; k++) {
        const ext_check *c = &p->check[k];
        if (c->rel != REL_EQ || (c->a != a && c->b != a)) continue;
        if (same_extent(p, c->a == a ? c->b : c->a, b, depth - 1)) return true;
    }
    return false;
}

static bool choose_too(splitter *s, int number, bool *more)
{
    const loop *l = &s->mc->loops[number];
    for (int k = 0; k < s->mc->nloop; k++)
        if (s->chosen[k] && !same_extent(s->p, s->mc->loops[k].merge->hi, l->merge->hi, 4))
            return split_refuse(s, l->first, "its loops have different ranges");
    return s->chosen[number] = *more = true;
}

/* Tensor t is made in parts: it is read by its own part alone, or not at all. */
static bool read_by_parts(splitter *s, int t, bool *more)
{
    const split_row *row = &s->made[t].row;
    const mode_use *u = split_use(s, t, row->mode);
    if (row->how != SPLIT_CUT || s->made[t].round) return true;
    bool read = u->own || u->other;
    for (int m = 0; m < s->p->tensor[t].order; m++)
        read |= split_use(s, t, m)->other > 0;
    if (!read) return true;
    if (!u->other && u->coef == row->coef && u->lo >= 0 && u->hi < row->coef &&
        full_above(&s->p->tensor[t].fmt, row->mode))
        return true;
    if (u->elsewhere && !s->chosen[u->elsewhere - 1])
        return choose_too(s, u->elsewhere - 1, more);
    return split_refuse(
        s, s->mc->nmain - 1,
        "what parts make of a tensor is needed whole, or by their neighbours");
}

/* What is needed of an operand. */
static split_row needed(const splitter *s, int t, const mode_use *use)
{
    const prog_tensor *p = &s->p->tensor[t];
    split_row row = {.how = SPLIT_WHOLE};
    for (int m = 0; m < p->order; m++) {
        const mode_use *u = &use[m];
        if (cut_by(s, t, m, u))
            return (split_row){SPLIT_CUT, m, 0, u->coef, u->lo, u->hi, 0, 0};
    }
    for (int m = 0; m < p->order && !row.along; m++) {
        const mode_use *u = &use[m];
        if (!u->along || u->others != u->other || !full_above(&p->fmt, m)) continue;
        row = (split_row){SPLIT_WHOLE, m, 0, 0, 0, 0, u->along, u->along_mode};
        if (!u->own) continue;
        row.coef = u->coef;
        row.before = u->lo;
        row.after = u->hi;
    }
    return row;
}

static split_row conclude(const splitter *s, int t)
{
    const uint8_t role = s->p->tensor[t].role;
    split_row row = s->made[t].row;
    if (role == ROLE_INPUT) return needed(s, t, split_use(s, t, 0));
    if (role != ROLE_OUTPUT && role != ROLE_INOUT && role != ROLE_WORK)
        return (split_row){.how = SPLIT_WHOLE};
    row.before = 0;
    row.after = row.coef - 1;
    return row;
}

/* What only the part itself reads of a tensor need not be made by the others, if that can
 * be: a loop that makes it is tried. */
static void make_less(splitter *s, int t, bool *more)
{
    const uint8_t role = s->p->tensor[t].role;
    if (s->made[t].round || s->made[t].row.how != SPLIT_WHOLE || role == ROLE_INPUT) return;
    for (int m = 0; m < s->p->tensor[t].order && !*more; m++) {
        const int by = split_use(s, t, m)->by;
        if (!by || s->chosen[by - 1] || s->never[by - 1] || !can_be_cut(s, t, m)) continue;
        if (choose_too(s, by - 1, more)) {
            s->tried = by;
        } else {
            s->why = NULL;
            s->never[by - 1] = true;
        }
    }
}

/* After a scan. *more: a loop was chosen in addition, and all is to be read
 * again. */
static bool split_close(splitter *s, split_row *row, bool *more)
{
    pass_all(s);
    for (int t = 0; t < s->p->ntensor; t++)
        if (s->made[t].made && !read_by_parts(s, t, more)) return false;
    for (int t = 0; t < s->p->ntensor && !*more; t++)
        if (s->made[t].made) make_less(s, t, more);
    for (int t = 0; t < s->p->ntensor; t++)
        row[t] = row[s->p->ntensor + t] = conclude(s, t);
    for (int t = 0; t < s->p->ntensor; t++)
        if (s->p->tensor[t].role == ROLE_INOUT && s->made[t].anew)
            row[s->p->ntensor + t] = needed(s, t, split_had(s, t, 0));
    return true;
}

/* The first loop that has the index, or a conversion's that has it. */
static bool choose(splitter *s, int of, int mode)
{
    if (!split_scan(s)) return false;
    pass_all(s);
    const int before = split_had(s, of, mode)->by;
    const int by = before ? before : split_use(s, of, mode)->by;
    memset(s->again, 0, (size_t)s->mc->nloop * (size_t)s->p->nv * sizeof *s->again);
    if (!by) return split_refuse(s, 0, "no loop has that index alone");
    return s->chosen[by - 1] = true;
}

/* Reads the code until nothing new comes of it. */
static bool settle(splitter *s)
{
    do {
        s->more = false;
        if (!split_scan(s)) return false;
    } while (s->more);
    return true;
}

static bool find(splitter *s, int of, int mode, split_row *row)
{
    bool more = true;
    if (!choose(s, of, mode)) return false;
    while (more) {
        more = false;
        if (settle(s) && split_close(s, row, &more)) continue;
        if (s->tried) {
            s->chosen[s->tried - 1] = false;
            s->never[s->tried - 1] = more = true;
            s->tried = 0;
            s->why = NULL;
        } else if (s->also && !s->chosen[s->also - 1]) {
            s->why = NULL;
            if (!choose_too(s, s->also - 1, &more)) return false;
        } else {
            return false;
        }
        memset(s->again, 0, (size_t)s->mc->nloop * (size_t)s->p->nv * sizeof *s->again);
    }
    return true;
}

stc_status split_find(machine *mc, int of, int mode, split_row *row, bool *chosen)
{
    const program *p = mc->p;
    ctx *cx = mc->cx;
    splitter s = {.mc = mc, .p = p, .chosen = chosen, .f = {.mc = mc, .p = p}};
    memset(chosen, 0, (size_t)mc->nloop);
    stc_status st = finder_open(&s.f) ? STC_OK : cx->diag.status;
    arena *const a = &s.f.room;
    s.r = &s.f.r;
    s.use = arena_array(a, 2 * p->ntensor * STC_MAX_ORDER + 1, sizeof *s.use);
    s.made = arena_array(a, p->ntensor + 1, sizeof *s.made);
    s.reg = arena_array(a, p->nv + 1, sizeof *s.reg);
    s.driver = arena_array(a, mc->nloop * DRIVERS + 1, sizeof *s.driver);
    s.again = arena_array(a, (int64_t)mc->nloop * p->nv + 1, sizeof *s.again);
    s.never = arena_array(a, mc->nloop + 1, sizeof *s.never);
    s.sums.sharing = arena_array(a, p->ntensor + 1, 1);
    if (!st) st = cx->diag.status;
    if (!st && !find(&s, of, mode, row))
        st = machine_fail(mc, &mc->code[s.at], STC_ERR_PROGRAM,
                          "parts can't share the rounds of this index: %s", s.why);
    finder_close(&s.f);
    return st;
}
