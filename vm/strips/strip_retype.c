/* strip_retype.c: all of an operand's values in another type, for loops that read each of
 * them again and again: products of a matrix of bytes and one of doubles, or of narrow
 * integers whose sums are wide.
 *
 * They are converted once a run, when as many have been asked for as there are: a loop that
 * reads few of a large operand's never pays for all. Without memory for them, loops go on
 * converting what they read.
 */
#include "strip.h"

/* So many values at most, of up to 16 bytes each. */
#define RETYPED_MAX ((int64_t)1 << 22)

static bool is_known(const machine *mc, const retyped *r, const tensor *t)
{
    return r->t == t && r->generation == t->generation && r->bindings == mc->bindings;
}

static void write_out(machine *mc, retyped *r)
{
    const tensor *t = r->t;
    const vclass from = type_class(t->type), to = type_class(r->type);
    const size_t room = (size_t)t->nvals * type_size(r->type);
    value in[STRIP], out[STRIP];
    if (r->room < room) {
        strip_retyped_free(mc, r);
        if (!(r->vals = mem_alloc(mc->cx, room))) {
            diag_clear(mc->cx); /* without it, then */
            r->asked = INT64_MIN;
            return;
        }
        r->room = room;
    }
    for (int64_t p = 0; p < t->nvals; p += STRIP) {
        const int n = t->nvals - p < STRIP ? (int)(t->nvals - p) : STRIP;
        const column at = {.form = COL_STEP, .base = p, .full = true};
        strip_load(t->type, in, t->vals, &at, n, t->fill);
        if (from != to) strip_conv(to, from, out, in, n);
        strip_store(r->type, r->vals, p, from != to ? out : in, to, n);
    }
    r->made = true;
}

const void *strip_retyped(machine *mc, int which, stc_type type, int64_t n)
{
    slot *s = &mc->slot[which];
    retyped *r = &s->retyped;
    const tensor *t = s->t;
    if (s->row->role != ROLE_INPUT || t != s->bound || t->nvals > RETYPED_MAX) return NULL;
    if (!is_known(mc, r, t)) {
        r->t = t;
        r->generation = t->generation;
        r->bindings = mc->bindings;
        r->asked = 0;
        r->type = (uint8_t)type;
        r->made = false;
    }
    if (r->type != type) return NULL; /* that other one is in use */
    r->asked += n;
    if (!r->made && r->asked > 0 && r->asked >= t->nvals) write_out(mc, r);
    return r->made ? r->vals : NULL;
}

void strip_retyped_free(machine *mc, retyped *r)
{
    mem_free(mc->cx, r->vals, r->room);
    r->vals = NULL;
    r->room = 0;
}
