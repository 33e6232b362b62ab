/* compile.c: one bound assignment through plan, lattice and lowering.
 *
 * The stages are functions from one structure to the next; this is where they
 * meet, are timed, and are printed where `explain` asks for them.
 */
#include "compile.h"
#include "lower.h"
#include <stddef.h>

static const tensor *find_operand(const program *p, const opt_known *known, int slot,
                                  bool inout)
{
    const prog_tensor *t = &p->tensor[slot];
    const bool read =
        *t->name && (t->role == ROLE_INPUT || (inout && t->role == ROLE_INOUT));
    const tensor *found = read ? known->find(known->of, t->name) : NULL;
    return found && found->order == t->order ? found : NULL;
}

/* The operands that are there, what the steps of `o` (or NULL) are thought to store, and
 * how far indices run of which tensors tell it. */
static stc_status note_operands(plan *pl, const opt_known *known, const opt *o)
{
    const program *p = pl->p;
    if (!known || !known->find || !p->ntensor) return STC_OK;
    pl->there = arena_array(pl->a, p->ntensor, sizeof *pl->there);
    pl->thought = arena_array(pl->a, p->ntensor, sizeof *pl->thought);
    if (!pl->there || !pl->thought) return STC_ERR_MEMORY;
    for (int k = 0; o && k < o->nstep; k++)
        pl->thought[o->step[k].s.target] = o->step[k].stored;
    pl->nthere = p->ntensor;
    for (int k = 0; k < p->ntensor; k++)
        pl->there[k] = find_operand(p, known, k, false);
    for (int k = 0; k < pl->s->nindex; k++) {
        const extent *hi = &p->ext[pl->s->index[k].hi];
        const tensor *t = hi->op == EXT_DIM ? find_operand(p, known, hi->a, true) : NULL;
        if (hi->op == EXT_CONST) pl->known[k] = hi->k;
        if (t) pl->known[k] = t->shape[hi->b];
    }
    return STC_OK;
}

/* A statement that is planned and lowered as it stands. */
static stc_status compile_step(arena *a, program *p, const source *src, bstmt *s,
                               const opt_known *known, const opt *o, stage_texts *texts,
                               stc_times *times)
{
    const uint64_t start = now_ticks();
    if (s->nindex > BOUND_INDICES)
        return fail_source(
            src, STC_ERR_PROGRAM, s->at,
            "a statement has at most %d indices, unless its sums can be taken "
            "early; split it in two",
            BOUND_INDICES);
    plan *pl = plan_new(a, p, src, s);
    if (!pl) return STC_ERR_MEMORY;
    pl->why = texts ? texts->plan : NULL;
    stc_status st = note_operands(pl, known, o);
    if (!st) st = plan_build(pl);
    if (!st) st = plan_analyze(pl);
    if (!st) st = schedule_check(pl);
    if (st) return st;
    if (texts && texts->plan) plan_print(pl, texts->plan);
    if (texts && texts->lattice) lattice_print(pl, pl->root, texts->lattice);
    const uint64_t planned = now_ticks();
    st = lower_plan(pl);
    if (times) {
        times->plan += (double)(planned - start);
        times->lower += (double)(now_ticks() - planned);
    }
    return st;
}

/* What the plan that follows is of. */
static void tell_step(const program *p, const bstmt *s, const opt_step *step,
                      stage_texts *texts)
{
    if (!texts || !texts->plan) return;
    text_add(texts->plan, "step: ");
    bound_line(s, p, texts->plan);
    if (step && step->visits > 0) /* else nothing was estimated */
        text_add(texts->plan, "  about %.3g entries, %.3g visited\n", step->stored,
                 step->visits);
}

/* Where it can't be settled as written: whether the result stores places as terms reach
 * them. */
static bool keeps_pattern(const opt *o)
{
    const prog_tensor *t = &o->p->tensor[o->s->target];
    if (!o->s->format_given) return o->s->nsub && reads_some(o->p, o->s->value);
    return !format_stores_all(&t->fmt);
}

/* Fill and format of what s gives, as it is written, and with them whether intermediates
 * keep to a pattern. What is too large for a plan has its format settled when it isn't any
 * more. */
static stc_status settle(opt *o, const source *src, bool too_large)
{
    bstmt *s = o->s;
    plan *pl = s->format_given && s->fill_given ? NULL : plan_new(o->a, o->p, src, s);
    if (!pl && !(s->format_given && s->fill_given)) return STC_ERR_MEMORY;
    const stc_status st = !pl ? STC_OK : too_large ? plan_settle_fill(pl) : plan_settle(pl);
    const prog_tensor *t = &o->p->tensor[s->target];
    if (!too_large && !format_stores_all(&t->fmt)) o->pattern = true;
    if (too_large) o->pattern = keeps_pattern(o);
    if (!st && too_large && t->fill_later && s->nsub)
        return fail_source(
            src, STC_ERR_PROGRAM, s->at,
            "the fill of %s would be known only when this runs, which is too "
            "large to run as it is written; declare it with a fill",
            *t->name ? t->name : "the result");
    return st;
}

/* For explain: which operands aren't there yet, and what of them decides. */
static void tell_what_waits(const opt *o)
{
    bool any = false;
    for (int k = 0; k < o->p->ntensor; k++) {
        const prog_tensor *t = &o->p->tensor[k];
        if ((t->role != ROLE_INPUT && t->role != ROLE_INOUT) || !*t->name) continue;
        if (o->known && o->known->find && o->known->find(o->known->of, t->name)) continue;
        text_add(o->why,
                 any ? ", %s"
                     : "waits for data: how large these are, and what they "
                       "store: %s",
                 t->name);
        any = true;
    }
    if (any) text_add(o->why, "\n");
}

/* Whether what a fill is made of is known by now, and nothing is a search that ends early
 * where it stands. */
static bool fills_known(const program *p, const bexpr *e)
{
    bool known =
        !(e->kind == B_ACCESS && p->tensor[e->tensor].fill_later) && !may_settle(e);
    for (int k = 0; k < e->nargs && known; k++)
        known = fills_known(p, e->args[k]);
    return known;
}

/* Takes what can be reduced earlier out of s. */
static stc_status take_steps(opt *o, const source *src)
{
    bstmt *s = o->s;
    const prog_tensor before = o->p->tensor[s->target];
    const bool too_large = network_only(s);
    bool cut = false;
    o->rounds = keep_rounds(o);
    look_begin(o);
    stc_status st = scatter_steps(o);
    if (!st) st = mask_step(o);
    if (!st) st = settle(o, src, too_large);
    if (st) return st;
    const bool later = !too_large && o->p->tensor[s->target].fill_later;
    /* steps may be filled otherwise, so that all places are computed */
    const bool all = format_stores_all(&o->p->tensor[s->target].fmt);
    const bool stays = later && !(all && fills_known(o->p, s->value));
    if (later && !stays && !(s->fill_of = gathered_copy(o, s->value)))
        return STC_ERR_MEMORY;
    if (stays && o->why)
        text_add(o->why, "reduced where it stands: the fill is known when it runs\n");
    if (o->why) tell_what_waits(o);
    st = gather_steps(o);
    const opt_book *book = o->known ? o->known->book : NULL;
    const bool reduces =
        !stays && (opt_reduces(o->p, s) || (book && !o->nstep && book_may(book, s)));
    if (reduces && !st && network_needed(s)) st = network(o);
    if (reduces && !st && s->nindex <= BOUND_INDICES) {
        cut = many_needed(o->p, s);
        st = cut ? opt_many(o) : opt_statement(o);
    }
    if (stays || (!o->nstep && !o->reads_earlier)) {
        o->p->tensor[s->target] = before;
        return st;
    }
    look_limits(o);
    s->fill_given = !later;
    s->format_given = s->format_given || !(too_large || cut);
    return st;
}

/* The steps that are kept, which read no others, or those that aren't. */
static stc_status compile_steps(arena *a, opt *o, const source *src, bool steady,
                                stage_texts *texts, stc_times *times)
{
    stc_status st = STC_OK;
    for (int k = 0; k < o->nstep && !st; k++) {
        opt_step *step = &o->step[k];
        if (step->steady != steady) continue;
        tell_step(o->p, &step->s, step, texts);
        st = compile_step(a, o->p, src, &step->s, NULL, NULL, texts, times);
    }
    return st;
}

/* A statement with the steps that are taken out of it. */
static stc_status compile_with_steps(arena *a, program *p, const source *src, bstmt *s,
                                     const opt_known *known, stage_texts *texts,
                                     stc_times *times)
{
    opt *o = NULL;
    stc_status st = STC_OK;
    opt_book *book = known && !p->cx->as_written ? known->book : NULL;
    if (book) book->statement++;
    if (!p->cx->as_written && !s->block && (opt_may(p, s) || (book && book_may(book, s)))) {
        if (known && known->waits) *known->waits = true;
        const uint64_t start = now_ticks();
        o = arena_alloc(a, sizeof *o);
        if (!o) return STC_ERR_MEMORY;
        o->a = a;
        o->p = p;
        o->s = s;
        o->known = known;
        o->why = texts ? texts->plan : NULL;
        st = take_steps(o, src);
        if (times) times->plan += (double)(now_ticks() - start);
        if (st) return st;
    }
    if (o && (st = compile_steps(a, o, src, true, texts, times))) return st;
    if (o && o->nstep && o->rounds > 1) p->kept = p->ncode;
    if (o && (st = compile_steps(a, o, src, false, texts, times))) return st;
    if (o && (o->nstep || o->reads_earlier)) tell_step(p, s, NULL, texts);
    if (book && (st = book_note(book, p, s, o))) return st;
    return compile_step(a, p, src, s, known, o, texts, times);
}

stc_status compile_assignment(arena *a, program *p, const source *src, bstmt *s,
                              const opt_known *known, stage_texts *texts, stc_times *times)
{
    bstmt values;
    stc_status st = STC_OK;
    if (block_may(p, s)) {
        st = block_apart(a, p, s, &values);
        if (!st) st = compile_with_steps(a, p, src, &values, known, texts, times);
    }
    return st ? st : compile_with_steps(a, p, src, s, known, texts, times);
}
