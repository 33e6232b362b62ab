/* streams.c: rows of runs for streams that loops over modes meet.
 *
 * `flat(i,j,c) : rle` is one loop where all operands and the result are such streams
 * (native.c). Where one has other modes, or other levels, a stream is read from rows whose
 * runs lie along one mode, (i: dense, j: rle, c: dense), and a result is assembled so: one
 * is converted into the other run by run (formats/convert_runs.c).
 */
#include "plan.h"

static bool keeps_runs(const level_kind *k)
{
    return k->caps & CAP_APPEND_REGION;
}

/* The level of a stream, all of whose modes lie in order; -1: it is none. */
static int stream_level(const format *f)
{
    int at = -1, mode = 0;
    for (int l = 0; l < f->levels; l++) {
        const level_map *m = &f->level[l].map;
        const bool flat = m->op == MAP_FLAT;
        if ((!flat && m->op != MAP_MODE) || m->mode != mode) return -1;
        if (!(format_props(f, l) & PROP_FULL) || keeps_runs(f->level[l].kind) != flat ||
            (flat && at >= 0))
            return -1;
        if (flat) at = l;
        mode += flat ? m->modes : 1;
    }
    return at;
}

/* The indices of the modes along which runs of a tensor may lie: those that its last level
 * of runs has, and those above; all, if it has none, or is a vector. */
static uint64_t along(const plan *pl, int slot, const affine *sub)
{
    const format *f = &pl->p->tensor[slot].fmt;
    uint64_t set = 0, found = UINT64_MAX;
    for (int l = 0; l < f->levels && f->order > 1; l++) {
        const level_map *m = &f->level[l].map;
        for (int k = m->mode; k <= m->mode + (m->op == MAP_FLAT ? m->modes - 1 : 0); k++)
            set |= plan_indices(pl, &sub[k]);
        if (keeps_runs(f->level[l].kind)) found = set;
    }
    return found;
}

/* Subscripts that are one index each, of which none is computed. */
static bool bare(const plan *pl, const affine *sub, int order)
{
    uint64_t seen = pl->computed_set;
    for (int m = 0; m < order; m++) {
        if (!affine_is_bare(&sub[m]) || affine_indices(&sub[m]) & seen) return false;
        seen |= affine_indices(&sub[m]);
    }
    return true;
}

/* Rows of the mode that the most of what is read or made has runs along. */
bool plan_stream_rows(const plan *pl, const format *f, const affine *sub, format *out)
{
    const int at = stream_level(f);
    if (at < 0 || !bare(pl, sub, f->order)) return false;
    uint64_t shared = along(pl, pl->s->target, pl->s->sub);
    for (int k = 0; k < pl->naccess; k++)
        shared &= along(pl, pl->access[k].source, pl->access[k].sub);
    int mode = f->order - 1;
    while (mode > 0 && !(affine_indices(&sub[mode]) & shared))
        mode--;
    if (!(affine_indices(&sub[mode]) & shared)) mode = f->order - 1;
    format_all(out, f->order, level_full());
    format_set(out, mode, f->level[at].kind, mode, 0);
    return true;
}

/* Nothing is gained where no runs are read; and what threads share is made in parts. */
bool plan_stream_made(const plan *pl, const format *f, const affine *sub, format *out)
{
    bool runs = false;
    for (int k = 0; k < pl->naccess; k++) {
        const format *read = &pl->p->tensor[pl->access[k].source].fmt;
        for (int l = 0; l < read->levels; l++)
            runs |= keeps_runs(read->level[l].kind);
    }
    if (!runs || !plan_stream_rows(pl, f, sub, out)) return false;
    return !pl->schedule.shared || f->level[stream_level(f)].kind->join_room;
}
