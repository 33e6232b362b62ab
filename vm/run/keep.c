/* keep.c: runs that leave out the code at a program's beginning, since its operands are
 * what they were in the run before, and so the machine still has what it made.
 */
#include "keep.h"

/* Extents that the code itself gives hold for a while only: kept code has none. */
static bool same_extents(const machine *mc)
{
    for (int e = 0; e < mc->p->next; e++)
        if (mc->p->ext[e].op != EXT_SPAN && mc->ext[e] != mc->kept_ext[e]) return false;
    return true;
}

bool keep_holds(const machine *mc)
{
    if (!mc->kept) return false;
    for (int i = 0; i < mc->p->ntensor; i++) {
        const slot *s = &mc->slot[i];
        const uint8_t in = mc->p->in_kept[i];
        if (in & KEPT_MADE) {
            if (s->row->role == ROLE_TEMP && (!s->own || s->open)) return false;
        } else if (in && (s->from != s->t || s->from_generation != s->t->generation)) {
            return false;
        }
    }
    return same_extents(mc);
}

void keep_note(machine *mc)
{
    for (int i = 0; i < mc->p->ntensor; i++) {
        slot *s = &mc->slot[i];
        if (mc->p->in_kept[i] != KEPT_READ) continue;
        s->from = s->t;
        s->from_generation = s->t->generation;
    }
    for (int e = 0; e < mc->p->next; e++)
        mc->kept_ext[e] = mc->ext[e];
    mc->kept = true;
}

const lop *keep_end(const machine *mc)
{
    int k = 0;
    while (k < mc->nmain && (int)mc->origin[k] < mc->p->kept)
        k++;
    return &mc->code[k];
}
