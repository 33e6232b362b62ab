/* bind_extent.c: the ranges of indices as extents over shapes, and what shapes
 * must satisfy.
 *
 * Ranges come, in this order, from bare subscripts (which must agree), from
 * `in lo:hi` (which narrows), and then from the largest value that the affine
 * accesses of an index allow, as soon as all other indices in one of them are
 * known: the largest box in which nothing is read outside, found in rounds, as in
 * Tensor Comprehensions (Vasilache et al., 2018), to which the paper of the affine
 * subscripts leaves ranges (Liu et al., 2024). Where there are several such boxes, as
 * for A(2*i+3*j) alone, these two ask. Here indices of the left side take equal shares of
 * what the subscript has room for, which makes the box that has most elements: nothing
 * is left out of a result unseen, as it could be of a sum. Every access that doesn't say
 * `pad` is then checked to stay in its tensor, by relations that hold when tensors are
 * bound; where an index of the access has no values, the access doesn't happen, and the
 * relation holds.
 */
#include "bind.h"

#include <string.h>

/* ---- extents ---------------------------------------------------------------------- */

int bind_constant_extent(binder *b, int64_t k)
{
    return program_extent(b->p, (extent){.op = EXT_CONST, .k = k});
}

static int unary_extent(binder *b, ext_op op, int x, int64_t k)
{
    if (x < 0) return -1;
    return program_extent(b->p, (extent){.op = (uint8_t)op, .a = (uint16_t)x, .k = k});
}

static int binary_extent(binder *b, ext_op op, int x, int y)
{
    if (x < 0 || y < 0) return -1;
    return program_extent(b->p,
                          (extent){.op = (uint8_t)op, .a = (uint16_t)x, .b = (uint16_t)y});
}

static bool is_constant(const binder *b, int x, int64_t *k)
{
    if (b->p->ext[x].op != EXT_CONST) return false;
    *k = b->p->ext[x].k;
    return true;
}

int bind_size(binder *b, int slot, int mode)
{
    const prog_tensor *const t = &b->p->tensor[slot];
    if (t->role != ROLE_INPUT && t->role != ROLE_INOUT) return t->shape[mode];
    return program_extent(
        b->p, (extent){.op = EXT_DIM, .a = (uint16_t)slot, .b = (uint16_t)mode});
}

int bind_linear(binder *b, const int *ext, const int64_t *coef, int n, int64_t plus)
{
    int sum = -1;
    for (int i = 0; i < n; i++) {
        int64_t k, product;
        if (ext[i] < 0) return -1;
        if (is_constant(b, ext[i], &k) && !__builtin_mul_overflow(k, coef[i], &product) &&
            !__builtin_add_overflow(plus, product, &product)) {
            plus = product;
            continue;
        }
        const int term = coef[i] == 1 ? ext[i] : unary_extent(b, EXT_MULC, ext[i], coef[i]);
        sum = sum < 0 ? term : binary_extent(b, EXT_ADD, sum, term);
        if (sum < 0) return -1;
    }
    if (sum < 0) return bind_constant_extent(b, plus);
    return plus ? unary_extent(b, EXT_ADDC, sum, plus) : sum;
}

static const char *bind_source_text(const binder *b, span at, char *buf, size_t size)
{
    int len = at.end - at.begin;
    if (len > 32 || len >= (int)size) return "…";
    memcpy(buf, b->src->text + at.begin, (size_t)len);
    buf[len] = 0;
    return strchr(buf, '\n') ? "…" : buf;
}

stc_status bind_relation(binder *b, ext_rel rel, int x, int y, span at, const char *text)
{
    if (x < 0 || y < 0) return b->p->cx->diag.status;
    int64_t k, l;
    if (x == y) return STC_OK;
    if (is_constant(b, x, &k) && is_constant(b, y, &l) && (rel == REL_EQ ? k == l : k <= l))
        return STC_OK;
    const ext_check c = {.rel = (uint8_t)rel,
                         .a = (uint16_t)x,
                         .b = (uint16_t)y,
                         .at = at,
                         .text = (char *)text};
    return program_check(b->p, c) < 0 ? b->p->cx->diag.status : STC_OK;
}

/* ---- texts: names put between words without a format's cost ------------------- */

typedef struct words {
    char text[400];
    size_t len;
} words;

static void say(words *w, const char *s)
{
    const size_t n = strlen(s), room = sizeof w->text - 1 - w->len;
    const size_t take = n < room ? n : room;
    memcpy(w->text + w->len, s, take);
    w->len += take;
    w->text[w->len] = 0;
}

static void say_mode(words *w, const access *x)
{
    const char digits[3] = {x->mode > 9 ? (char)('0' + x->mode / 10)
                                        : (char)('0' + x->mode % 10),
                            x->mode > 9 ? (char)('0' + x->mode % 10) : 0, 0};
    say(w, "dimension ");
    say(w, digits);
    say(w, " of ");
    say(w, x->name);
}

/* ---- bare subscripts and given ranges ------------------------------------------- */

static bool is_bare(const access *x)
{
    return x->slice ||
           (x->sub->terms == 1 && x->sub->term[0].coef == 1 && x->sub->constant == 0);
}

static family *family_at(binder *b, const access *x, int term)
{
    return &b->family[b->family_of[x->sub->term[term].index]];
}

/* How many values a bare subscript or a slice gives its index. */
static int bare_extent(binder *b, const access *x)
{
    if (!x->slice) return bind_size(b, x->tensor, x->mode);
    if (x->hi >= 0)
        return bind_constant_extent(b, x->hi > x->lo ? (x->hi - x->lo - 1) / x->stride + 1
                                                     : 0);
    const int size = bind_size(b, x->tensor, x->mode), one = 1;
    const int rest =
        size < 0 ? -1 : bind_linear(b, &size, &(int64_t){one}, 1, x->stride - 1 - x->lo);
    return x->stride == 1 ? rest : unary_extent(b, EXT_FLOORDIV, rest, x->stride);
}

/* lo <= hi <= size: what of it isn't known yet. */
static stc_status slice_inside(binder *b, const access *x)
{
    words w;
    w.len = 0;
    char buf[40];
    say(&w, "the slice ");
    say(&w, bind_source_text(b, x->at, buf, sizeof buf));
    say(&w, " goes to %a, and ");
    say_mode(&w, x);
    say(&w, " has size %b");
    const int64_t to = x->hi >= 0 ? x->hi : x->lo;
    if (to == 0) return STC_OK;
    return bind_relation(b, REL_LE, bind_constant_extent(b, to),
                         bind_size(b, x->tensor, x->mode), x->at, w.text);
}

static stc_status bare_subscript(binder *b, access *x)
{
    family *const f = family_at(b, x, 0);
    /* Only with an end of its own can a slice begin behind what there is. */
    const bool inside = x->slice && !(x->pad && x->hi >= 0);
    stc_status status = inside ? slice_inside(b, x) : STC_OK;
    const int n = status == STC_OK ? bare_extent(b, x) : -1;
    if (n < 0) return b->p->cx->diag.status;
    x->done = true;
    if (!f->bare) {
        f->bare = x;
        f->hi = n;
        f->known = true;
        return STC_OK;
    }
    if (f->hi == n) return STC_OK;
    words w;
    w.len = 0;
    say(&w, "index ");
    say(&w, f->name);
    say(&w, " runs to %a in ");
    say_mode(&w, f->bare);
    say(&w, ", but to %b in ");
    say_mode(&w, x);
    return bind_relation(b, REL_EQ, f->hi, n, x->at, w.text);
}

/* `in lo:hi` after bare subscripts narrows the range they gave. */
static stc_status given_range(binder *b, family *f, bool shaped)
{
    const int hi = bind_constant_extent(b, f->to > f->lo ? f->to : f->lo);
    if (hi < 0) return b->p->cx->diag.status;
    stc_status status = STC_OK;
    if (f->bare && f->to > f->lo) {
        words w;
        w.len = 0;
        if (f->lo < 0)
            return fail_source(b->src, STC_ERR_SHAPE, f->at,
                               "index %s begins at %lld, and dimension %d of %s at 0",
                               f->name, (long long)f->lo, f->bare->mode, f->bare->name);
        say(&w, "index ");
        say(&w, f->name);
        say(&w, " runs to %a, and ");
        say_mode(&w, f->bare);
        say(&w, " has size %b");
        status = bind_relation(b, f->on_left && shaped ? REL_EQ : REL_LE, hi, f->hi, f->at,
                               w.text);
    }
    f->hi = hi;
    f->known = true;
    return status;
}

static stc_status ranges_of_bare(binder *b, bool shaped)
{
    for (int pad = 0; pad < 2; pad++)
        for (int i = 0; i < b->naccess; i++) {
            access *const x = &b->access[i];
            if (x->pad != pad || x->tensor < 0 || !is_bare(x)) continue;
            if (pad && family_at(b, x, 0)->known) continue;
            const stc_status status = bare_subscript(b, x);
            if (status != STC_OK) return status;
        }
    for (int i = 0; i < b->nfamily; i++)
        if (b->family[i].given) {
            const stc_status status = given_range(b, &b->family[i], shaped);
            if (status != STC_OK) return status;
        }
    return STC_OK;
}

/* ---- affine subscripts ----------------------------------------------------------- */

/* The number of unknown indices in a subscript; *which is the last one's term. */
static int unknown_terms(binder *b, const access *x, int *which)
{
    int n = 0;
    for (int t = 0; t < x->sub->terms; t++)
        if (!family_at(b, x, t)->known) {
            *which = t;
            n++;
        }
    return n;
}

/* The largest (or smallest) value of the subscript over its indices, plus k, where
 * those that aren't known are 0. */
int bind_reach(binder *b, const access *x, bool largest, int64_t k)
{
    int ext[BIND_MAX_TERMS], n = 0;
    int64_t coef[BIND_MAX_TERMS], sum = 0, part;
    bool wide = __builtin_add_overflow(x->sub->constant, k, &sum);
    for (int t = 0; t < x->sub->terms; t++) {
        const int64_t c = x->sub->term[t].coef;
        const family *const f = family_at(b, x, t);
        if (!f->known) continue;
        if ((c > 0) == largest) { /* at hi - 1 */
            ext[n] = f->hi;
            coef[n++] = c;
            wide |= __builtin_sub_overflow(sum, c, &sum);
        } else {
            wide |= __builtin_mul_overflow(c, f->lo, &part) ||
                    __builtin_add_overflow(sum, part, &sum);
        }
    }
    if (wide) {
        bind_fail(b, x->at, "the subscript's numbers are too large");
        return -1;
    }
    return bind_linear(b, ext, coef, n, sum);
}

int bind_rooms(binder *b, int room, int64_t k)
{
    if (k > 1) room = unary_extent(b, EXT_FLOORDIV, room, k);
    return unary_extent(b, EXT_MAX0, room, 0);
}

/* How many indices the room of the one in term t is for: those that aren't known
 * either and lead to the same end of the mode. */
static int sharers(binder *b, const access *x, int t)
{
    int n = 0;
    for (int s = 0; s < x->sub->terms; s++)
        n += !family_at(b, x, s)->known &&
             (x->sub->term[s].coef > 0) == (x->sub->term[t].coef > 0);
    return n;
}

/* How many values from 0 on the access allows the index in term t: its share of the
 * way from where the known ones lead to an end of the mode, in steps of its coefficient. */
static int allowed(binder *b, const access *x, int t)
{
    const int64_t c = x->sub->term[t].coef;
    int64_t step;
    if (__builtin_mul_overflow(c, (int64_t)sharers(b, x, t), &step) || step == INT64_MIN) {
        bind_fail(b, x->at, "the subscript's numbers are too large");
        return -1;
    }
    int room;
    if (c > 0) { /* floor((size - 1 - rest) / step) + 1 */
        const int ext[2] = {bind_size(b, x->tensor, x->mode), bind_reach(b, x, true, 0)};
        room = bind_linear(b, ext, (int64_t[]){1, -1}, 2, step - 1);
    } else { /* floor(rest / -step) + 1 */
        const int rest = bind_reach(b, x, false, 0);
        room = bind_linear(b, &rest, &(int64_t){1}, 1, -step);
    }
    return bind_rooms(b, room, c > 0 ? step : -step);
}

static bool of_left(const binder *b, const family *f)
{
    for (int k = 0; k < b->nleft; k++)
        if (&b->family[b->family_of[k]] == f) return true;
    return false;
}

/* Whether every unknown index of a subscript is one of the left side. */
static bool all_left(binder *b, const access *x)
{
    for (int t = 0; t < x->sub->terms; t++)
        if (!family_at(b, x, t)->known && !of_left(b, family_at(b, x, t))) return false;
    return true;
}

/* What an index is found from, best first: all of its accesses, where it alone is unknown
 * in each; those in which it is; those whose unknown ones are all of the left side. */
typedef enum { FROM_ALL, FROM_SOME, FROM_SHARES, FROM_NONE } found_from;

/* The extent of a family: the least that its accesses allow; *hi is -1 if there are none
 * of that kind. */
static stc_status solve_family(binder *b, int fam, found_from from, int *hi)
{
    *hi = -1;
    for (int i = 0; i < b->naccess; i++) {
        access *const x = &b->access[i];
        int t = 0, which = 0;
        while (t < x->sub->terms && b->family_of[x->sub->term[t].index] != fam)
            t++;
        if (x->pad || x->tensor < 0 || t == x->sub->terms) continue;
        const bool alone = unknown_terms(b, x, &which) == 1;
        if (!alone && from == FROM_ALL) {
            *hi = -1;
            return STC_OK;
        }
        if (from == FROM_SHARES ? !all_left(b, x) : !alone) continue;
        const int values = allowed(b, x, t);
        *hi = *hi < 0 || values < 0 ? values : binary_extent(b, EXT_MIN, *hi, values);
        if (*hi < 0) return b->p->cx->diag.status;
        x->done |= x->sub->term[t].coef > 0; /* it can't pass the end */
    }
    return STC_OK;
}

/* Families that are found from accesses of one kind: the first one, or all that share. */
static stc_status solve_families(binder *b, found_from from, bool *progress)
{
    bool found[BIND_MAX_INDEX] = {false};
    for (int i = 0; i < b->nfamily && !(*progress && from != FROM_SHARES); i++) {
        int hi;
        if (b->family[i].known) continue;
        const stc_status status = solve_family(b, i, from, &hi);
        if (status != STC_OK) return status;
        if (hi < 0) continue;
        b->family[i].hi = hi;
        found[i] = *progress = true;
    }
    for (int i = 0; i < b->nfamily; i++)
        b->family[i].known |= found[i];
    return STC_OK;
}

static stc_status no_range(binder *b, const family *f)
{
    suggestion near;
    char text[96];
    for (int i = 0; i < b->naccess; i++) {
        const access *const x = &b->access[i];
        int which = 0, first = 0;
        if (x->pad || unknown_terms(b, x, &which) < 2) continue;
        while (family_at(b, x, first)->known)
            first++;
        const family *const one = family_at(b, x, first), *const two =
                                                              family_at(b, x, which);
        const bool left = of_left(b, one) || of_left(b, two);
        return bind_fail(b, x->at,
                         "the ranges of %s and %s aren't known, and this subscript allows "
                         "several: give that of %s by `in lo:hi`%s",
                         one->name, two->name, two->name,
                         left ? ", or declare the result with its shape" : "");
    }
    suggest_begin(&near, f->name);
    for (int i = 0; i < scope_tensor_count(b->s); i++)
        suggest_try(&near, scope_tensor_at(b->s, i)->name);
    return bind_fail(
        b, f->at,
        "%s has no range: it is no tensor, and no subscript gives an index of that "
        "name a range%s",
        f->name, suggest_text(&near, text, sizeof text));
}

static stc_status ranges_of_affine(binder *b)
{
    for (;;) {
        bool progress = false;
        const family *unknown = NULL;
        for (int i = b->nfamily - 1; i >= 0; i--)
            if (!b->family[i].known) unknown = &b->family[i];
        if (!unknown) return STC_OK;
        stc_status status = STC_OK;
        for (found_from from = FROM_ALL; from < FROM_NONE && !progress && !status; from++) {
            if (from == FROM_SHARES) status = bind_range_ends(b, &progress);
            if (!status && !progress) status = solve_families(b, from, &progress);
        }
        if (status != STC_OK) return status;
        if (!progress) return no_range(b, unknown);
    }
}

/* ---- staying inside -------------------------------------------------------------- */

/* min(x, 0) where an index of the access has no values, else x. */
static int unless_empty(binder *b, const access *x, int ext)
{
    for (int t = 0; t < x->sub->terms && ext >= 0; t++) {
        const family *const f = family_at(b, x, t);
        int64_t hi;
        if (is_constant(b, f->hi, &hi) && hi > f->lo) continue;
        const int values = bind_linear(b, &f->hi, &(int64_t){1}, 1, -f->lo);
        const int some = binary_extent(b, EXT_MIN, values, bind_constant_extent(b, 1));
        ext =
            binary_extent(b, EXT_MIN, ext, unary_extent(b, EXT_MULC, some, INT64_MAX / 2));
    }
    return ext;
}

static const char *first_index(binder *b, const access *x)
{
    return x->sub->terms ? family_at(b, x, 0)->name : NULL;
}

static void say_leaves(binder *b, words *w, const access *x)
{
    char buf[40];
    if (first_index(b, x)) {
        say(w, "index ");
        say(w, first_index(b, x));
        say(w, ": ");
    } else {
        say(w, "the subscript ");
    }
    say(w, bind_source_text(b, x->at, buf, sizeof buf));
    say(w, " leaves ");
    say_mode(w, x);
}

static stc_status inside(binder *b, const access *x)
{
    const int least = bind_reach(b, x, false, 0);
    int64_t k;
    if (least < 0) return b->p->cx->diag.status;
    words w;
    w.len = 0;
    say_leaves(b, &w, x);
    if (is_constant(b, least, &k)) {
        if (k < 0)
            return fail_source(
                b->src, STC_ERR_SHAPE, x->at,
                "%s: it goes down to %lld (write `pad` before the tensor to read "
                "its fill there)",
                w.text, (long long)k);
    } else {
        words below = w;
        say(&below, ": it goes down to -%a");
        const int under = unless_empty(b, x, bind_linear(b, &least, &(int64_t){-1}, 1, 0));
        const stc_status status =
            bind_relation(b, REL_LE, under, bind_constant_extent(b, 0), x->at, below.text);
        if (status != STC_OK) return status;
    }
    if (x->done) return STC_OK;
    say(&w, ": it needs size %a, and there is %b");
    const int past = unless_empty(b, x, bind_reach(b, x, true, 1));
    return bind_relation(b, REL_LE, past, bind_size(b, x->tensor, x->mode), x->at, w.text);
}

/* The sizes of a new tensor: as large as the left side's subscripts reach. */
stc_status bind_left_sizes(binder *b, int target)
{
    for (int k = 0; k < b->nsub; k++) {
        access *const x = &b->left_access[k];
        int n;
        x->tensor = target;
        x->done = true;
        if (x->slice && x->hi >= 0) {
            n = bind_constant_extent(b, x->hi);
        } else if (!x->slice && is_bare(x)) {
            n = family_at(b, x, 0)->hi;
        } else {
            const stc_status status = inside(b, x);
            if (status != STC_OK) return status;
            n = unary_extent(b, EXT_MAX0, unless_empty(b, x, bind_reach(b, x, true, 1)), 0);
        }
        if (n < 0) return b->p->cx->diag.status;
        b->p->tensor[target].shape[k] = (uint16_t)n;
    }
    return STC_OK;
}

/* ---- the whole ---------------------------------------------------------------------- */

stc_status bind_ranges(binder *b, int target, bool target_has_shape)
{
    if (b->nsub && target_has_shape) { /* the left side's subscripts count as well */
        if (!bind_grow(b, &b->access, &b->access_cap, b->naccess + b->nsub,
                       sizeof *b->access))
            return b->p->cx->diag.status;
        for (int k = 0; k < b->nsub; k++) {
            b->left_access[k].tensor = target;
            b->access[b->naccess++] = b->left_access[k];
        }
    }
    stc_status status = ranges_of_bare(b, target_has_shape);
    if (status == STC_OK) status = ranges_of_affine(b);
    for (int i = 0; i < b->naccess && status == STC_OK; i++) {
        const access *const x = &b->access[i];
        if (!x->pad && !is_bare(x)) status = inside(b, x);
    }
    for (int i = 0; i < b->nindex && status == STC_OK; i++) {
        const family *const f = &b->family[b->family_of[i]];
        b->index[i].hi = f->hi;
        b->index[i].lo = f->lo ? bind_constant_extent(b, f->lo) : -1;
        if (f->lo && b->index[i].lo < 0) status = b->p->cx->diag.status;
    }
    return status;
}
