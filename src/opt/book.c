/* book.c: what statements of one program have computed, for those that follow.
 *
 * Steps, and results that are a reduction as they stand, are read again by later
 * statements, as long as what they read keeps its value. A reduction that isn't
 * a tensor, but stands in a statement, is noted, too: if another statement has it, and a
 * tensor for both is less work, it is wanted, and the program compiled once more with a
 * step for it. Functions of the user's are each statement's own, and aren't compared.
 */
#include "opt.h"
#include <string.h>

/* ---- copies -------------------------------------------------------------------- */

static bool calls_user(const bexpr *e)
{
    if (e->ufn) return true;
    for (int k = 0; k < e->nargs; k++)
        if (calls_user(e->args[k])) return true;
    return false;
}

/* The tensors that are read, each a bit that it may share with others. */
static uint64_t slots_of(const bexpr *e)
{
    uint64_t set = e->kind == B_ACCESS ? UINT64_C(1) << (e->tensor & 63) : 0;
    for (int k = 0; k < e->nargs; k++)
        set |= slots_of(e->args[k]);
    return set;
}

/* A row of the book whose value is e: it lives as long as the book. */
static stc_status add(opt_book *b, program *p, const bstmt *s, const bexpr *e, opt_step row)
{
    opt in_book = {.a = b->a, .p = p};
    if (calls_user(e)) return STC_OK;
    if (!b->step && !(b->step = arena_array(b->a, BOOK_ROWS, sizeof *b->step)))
        return STC_ERR_MEMORY;
    bindex *index = arena_array(b->a, s->nindex + 1, sizeof *index);
    affine *sub = arena_array(b->a, row.s.nsub + 1, sizeof *sub);
    bexpr *own = index && sub ? copy_of(&in_book, e) : NULL;
    if (!own) return STC_ERR_MEMORY;
    memcpy(index, s->index, (size_t)s->nindex * sizeof *index);
    if (row.s.nsub) memcpy(sub, row.s.sub, (size_t)row.s.nsub * sizeof *sub);
    row.s.sub = sub;
    row.s.index = index;
    row.s.nindex = s->nindex;
    row.s.value = own;
    row.key = share_key(own);
    row.statement = b->statement;
    row.reads = slots_of(own);
    if (b->n == BOOK_ROWS) {
        b->n = BOOK_ROWS / 2;
        memcpy(b->step, b->step + BOOK_ROWS / 2, (size_t)b->n * sizeof *b->step);
    }
    b->step[b->n++] = row;
    return STC_OK;
}

/* ---- looking it up ------------------------------------------------------------- */

static bool has_key(const opt_book *b, const bexpr *e)
{
    if (e->kind == B_REDUCE) {
        const uint64_t key = share_key(e);
        for (int k = 0; k < b->n; k++)
            if (b->step[k].key == key) return true;
    }
    for (int k = 0; k < e->nargs; k++)
        if (has_key(b, e->args[k])) return true;
    return false;
}

static bool is_wanted(const opt_book *b, int statement, span at)
{
    for (int k = 0; k < b->wants; k++)
        if (b->want[k].statement == statement && b->want[k].at.begin == at.begin &&
            b->want[k].at.end == at.end)
            return true;
    return false;
}

bool book_may(const opt_book *b, const bstmt *s)
{
    bool may = b->open && has_key(b, s->value);
    for (int k = 0; k < b->wants && !may; k++)
        may = b->want[k].statement == b->statement;
    return may && !s->schedule && s->whole && !expr_may_fault(s->value) &&
           !expr_gathers(s->value);
}

bool book_wants(const opt_book *b, const bexpr *r)
{
    return is_wanted(b, b->statement, r->at);
}

static stc_status want(opt_book *b, int statement, span at)
{
    if (is_wanted(b, statement, at)) return STC_OK;
    if (b->wants == BOOK_ROWS) return STC_OK;
    if (!b->want && !(b->want = arena_array(b->a, BOOK_ROWS, sizeof *b->want)))
        return STC_ERR_MEMORY;
    b->want[b->wants++] = (opt_want){statement, at};
    b->again = true;
    return STC_OK;
}

stc_status book_stands(opt *o, const bexpr *r)
{
    opt_book *b = o->known->book;
    if (!b->open) return STC_OK;
    const uint64_t key = share_key(r);
    product *x = arena_room(o->a, 1, sizeof *x);
    if (!x) return STC_ERR_MEMORY;
    if (!factors_of(o, r, x) || !share_pays(o, x)) return STC_OK;
    for (int k = 0; k < b->n; k++) {
        const opt_step *row = &b->step[k];
        if (row->key != key || !row->stands || row->statement == b->statement ||
            !share_same(o, row->s.index, row->s.value, r))
            continue;
        const stc_status st = want(b, row->statement, row->s.value->at);
        if (st) return st;
    }
    return add(b, o->p, o->s, r, (opt_step){.stands = true});
}

/* ---- writing it down ----------------------------------------------------------- */

/* What s gives another value to, and what was computed of it. */
static void forget(opt_book *b, const bstmt *s)
{
    const uint64_t slot = UINT64_C(1) << (s->target & 63);
    int kept = 0;
    for (int k = 0; k < b->n; k++) {
        const opt_step *row = &b->step[k];
        const bool own = row->is_result && row->statement == b->statement;
        const bool gone = row->is_result && row->s.target == s->target && !own;
        if (gone || (row->reads & slot)) continue;
        if (kept < k) b->step[kept] = *row;
        kept++;
    }
    b->n = kept;
}

/* Whether the target is the reduction that was its right side, and no more. */
static bool is_result(const bstmt *s)
{
    return s->fresh && s->bare && s->whole && s->op < 0 && s->value->kind == B_REDUCE;
}

/* ---- keys ---------------------------------------------------------------------- */

/* before: those of earlier statements */
static void see(opt_book *b, const bexpr *e, int before)
{
    const uint64_t key = share_key(e);
    if (calls_user(e)) return;
    for (int k = 0; k < before && k < b->nseen; k++)
        b->open = b->open || b->seen[k].key == key;
    if (b->nseen == BOOK_ROWS) {
        b->nseen = BOOK_ROWS / 2;
        memcpy(b->seen, b->seen + b->nseen, (size_t)b->nseen * sizeof *b->seen);
    }
    b->seen[b->nseen++] = (opt_seen){key, slots_of(e)};
}

static void see_reductions(opt_book *b, const bexpr *e, int before)
{
    if (e->kind == B_REDUCE) see(b, e, before);
    for (int k = 0; k < e->nargs; k++)
        see_reductions(b, e->args[k], before);
}

static void note_keys(opt_book *b, const bstmt *s, const opt *o)
{
    const int before = b->nseen;
    for (int k = 0; o && k < o->nstep; k++)
        if (o->step[k].key) see(b, o->step[k].s.value, before);
    see_reductions(b, s->value, before);
    int kept = 0;
    for (int k = 0; k < b->nseen; k++)
        if (!((b->seen[k].reads >> (s->target & 63)) & 1)) b->seen[kept++] = b->seen[k];
    b->nseen = kept;
    b->again = b->open;
}

stc_status book_note(opt_book *b, program *p, const bstmt *s, const opt *o)
{
    stc_status st = STC_OK;
    if (!b->open) {
        note_keys(b, s, o);
        return STC_OK;
    }
    for (int k = 0; o && k < o->nstep && !st; k++) {
        opt_step row = o->step[k];
        row.pattern = o->pattern && o->step[k].pattern;
        if (row.key) st = add(b, p, &row.s, row.s.value, row);
    }
    if (!st && is_result(s)) {
        const opt_step row = {.s = {.target = s->target, .nsub = s->nsub, .sub = s->sub},
                              .is_result = true};
        st = add(b, p, s, s->value, row);
    }
    forget(b, s);
    return st;
}
