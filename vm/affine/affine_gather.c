/* affine_gather.c: an affine nest that adds rows of a dense factor to rows of a dense
 * result, as a layer of features does, a row of the result at a time.
 *
 *     C(n,h,w,f) += A(n,h+r,w+q,c) * F(r,q,c,f)
 *
 * Where entries are scattered (affine_walk.c), a row of the result is read and written
 * once for each fiber of channels around it. Here the fibers of the level above, lines of
 * pixels, are listed first, each for all rows of the filter that lead from it into the
 * result; then each line of the result is gone through with the lines that lead into it
 * side by side, merged by their pixels (affine_merge.c). What is around one place is one
 * stretch of that, which affine_rows.c adds. (The convolutions paper's loop i → p, Fig. 19,
 * with subsections of all of the filter's rows at once; places without any are passed
 * over.)
 *
 * Lines come from affine_lines.c; strides, dilations and shifts may be any. Rows that
 * nothing was stored into aren't filled again (stains.c).
 */
#include "affine_gather.h"
#include "../super/super.h"
#include <string.h>

enum { INPUTS = GATHER_INPUTS };

/* ---- a line of the result ----------------------------------------------------------- */

/* Moves a window to the pixels from `least` to `most`. */
static void slide(const affine_level *mid, gather_input *in, int64_t least, int64_t most)
{
    while (in->here < in->last && gather_pixel(mid, in->first, in->here) < least)
        in->here++;
    if (in->there < in->here) in->there = in->here;
    while (in->there < in->last && gather_pixel(mid, in->first, in->there) <= most)
        in->there++;
}

/* Moves windows to index x, and sets where its entries are: how many. */
static int64_t enter(const gather *g, gather_input *in, int n, int64_t x,
                     gather_stretch *out)
{
    const affine_level *mid = &g->a->level[g->mid], *leaf = mid + 1;
    const int64_t y = g->base + g->step * x, z = g->step * (x - g->a->lo[mid->solved]);
    int64_t count = 0;
    for (int k = 0; k < n; k++) {
        gather_input *i = &in[k];
        int64_t begin, end;
        if (i->begin) {
            begin = i->begin[z];
            end = i->begin[z + g->span];
        } else {
            slide(mid, i, y + i->least, y + i->most);
            begin = affine_children(leaf, i->here);
            end = affine_children(leaf, i->there);
        }
        out[k] = (gather_stretch){begin, end - begin, i->at};
        count += end - begin;
    }
    return count;
}

/* The next index after x with anything in a window without a table. */
static int64_t next_index(const gather *g, const gather_input *in, int n, int64_t x)
{
    const affine_level *mid = &g->a->level[g->mid];
    int64_t next = INT64_MAX;
    for (int k = 0; k < n; k++) {
        if (in[k].begin) return x + 1;
        if (in[k].here == in[k].last) continue;
        const int64_t far =
            gather_pixel(mid, in[k].first, in[k].here) - in[k].most - g->base;
        const int64_t y = far <= 0 ? far / g->step : (far - 1) / g->step + 1;
        if (y < next) next = y;
    }
    return next > x ? next : x + 1;
}

/* Whether nothing was stored into rows yet, and all of them will be; if the last run's
 * stains are known, they are whole lines of these without a gap. */
static bool untouched(const affine_room *room, const gather_rows *r)
{
    const int64_t inside = (1 << room->shift) - 1;
    if (r->to < room->tensor->nvals) return false;
    if (!room->tensor->stains.old) return r->by >= r->width;
    return room->mark && r->by == r->width && !((r->to | r->width) & inside);
}

static void mark(const affine_room *room, int64_t begin, int64_t end)
{
    const int64_t first = begin >> room->shift, last = (end - 1) >> room->shift;
    if (room->mark) memset(room->mark + first, 1, (size_t)(last - first + 1));
}

/* Sees to the places of rows, which are marked if there are marks: true if all of a row
 * is for who adds to it to write. */
static bool open_rows(machine *mc, affine *a, const gather_rows *r)
{
    const affine_room *room = &a->room;
    tensor *t = room->tensor;
    const bool fresh = untouched(room, r);
    if (fresh && t->stains.old) {
        tensor_fill_to(t, r->to);
        stains_rows(t, r->indices, r->width >> room->shift, r->count);
        return true;
    }
    for (int k = 0; k < r->n; k++) {
        const int64_t begin = r->to + r->by * r->x[k], end = begin + r->width;
        if (fresh) {
            tensor_fill_to(t, begin);
            t->nvals = end;
        } else {
            (void)asm_value(mc, &mc->slot[a->sink.a], end - 1); /* there is room */
        }
        mark(room, begin, end); /* after that: what is filled isn't marked any more */
    }
    return fresh;
}

/* `all` entries lead into rows. */
static stc_status add_rows(machine *mc, affine *a, gather_adder *add, gather_rows *r,
                           int64_t all)
{
    if (!all) return STC_OK;
    a->rounds += all * r->width;
    if (a->append) return affine_append_rows(mc, a, add, r);
    r->fresh = open_rows(mc, a, r);
    add(a, r);
    return STC_OK;
}

/* How many rows' cells a block has room for. */
static int64_t most_rows(const gather *g)
{
    const int64_t n = (GATHER_CELLS - g->span) / g->step + 1;
    return n < GATHER_ROWS ? n : GATHER_ROWS;
}

/* Row x of r, by itself: how many entries lead there. */
static int64_t add_row(machine *mc, const gather *g, gather_adder *add,
                       const gather_rows *r, gather_input *in, int inputs, int64_t x)
{
    const int32_t none = 0;
    const int64_t far = x - g->a->lo[g->a->level[g->mid].solved];
    gather_stretch stretch[INPUTS];
    gather_rows one = *r;
    const int64_t all = enter(g, in, inputs, x, stretch);
    const int32_t count = (int32_t)all;
    one.x = &none;
    one.count = &count;
    one.n = one.indices = 1;
    one.at += r->factor_step * far;
    one.to += r->by * far;
    if (all > GATHER_PAIRS) {
        one.stretch = stretch;
        one.stretches = inputs;
    } else if (all) {
        g->join(g->a->gather, stretch, inputs);
    }
    return add_rows(mc, g->a, add, &one, all) ? -1 : all;
}

/* Rows of which all inputs have tables, as many at a time as the block holds. */
static stc_status add_by_tables(machine *mc, const gather *g, gather_adder *add,
                                const gather_rows *line, gather_input *in, int inputs)
{
    const int solved = g->a->level[g->mid].solved;
    const int64_t first = g->a->lo[solved], indices = g->a->hi[solved] - first;
    const int64_t most = most_rows(g);
    int32_t count[GATHER_ROWS], x[GATHER_ROWS];
    gather_rows r = *line;
    r.x = x;
    r.count = count;
    for (int64_t done = 0; done < indices; done += r.indices) {
        const int64_t left = indices - done;
        r.indices = g->merge(g->a->gather, in, inputs, g->step * done,
                             (int)(left < most ? left : most));
        if (r.indices) {
            const int64_t all = g->list(g, &r, count, x);
            r.at = line->at + r.factor_step * done;
            r.to = line->to + r.by * done;
            if (add_rows(mc, g->a, add, &r, all)) return mc->cx->diag.status;
        } else if (r.indices++, add_row(mc, g, add, line, in, inputs, first + done) < 0) {
            return mc->cx->diag.status;
        }
    }
    return STC_OK;
}

/* Rows one by one, of inputs some of which have no table. */
static stc_status add_by_search(machine *mc, const gather *g, gather_adder *add,
                                const gather_rows *r, gather_input *in, int inputs)
{
    const int solved = g->a->level[g->mid].solved;
    for (int64_t x = g->a->lo[solved]; x < g->a->hi[solved];) {
        const int64_t count = add_row(mc, g, add, r, in, inputs, x);
        if (count < 0) return mc->cx->diag.status;
        x = count ? x + 1 : next_index(g, in, inputs, x);
    }
    return STC_OK;
}

/* All that leads into one line of the result, or into the same one once more. */
static stc_status add_line(machine *mc, const gather *g, gather_adder *add,
                           gather_input *in, int n, int64_t to)
{
    affine *a = g->a;
    const int solved = a->level[g->mid].solved, rest = a->rest[0];
    const int64_t first = a->lo[solved], by = a->line[0].coef[solved];
    bool tables = true;
    for (int k = 0; k < n; k++)
        tables &= in[k].begin != NULL;
    gather_rows r = {
        .step = g->step,
        .at = g->factor_step * first - gather_scaled(g->slope, g->base + g->step * first),
        .factor_step = g->factor_step - gather_scaled(g->slope, g->step),
        .to = to + a->lo[rest] + by * first,
        .by = by,
        .width = a->hi[rest] - a->lo[rest],
    };
    if (tables ? add_by_tables(mc, g, add, &r, in, n)
               : add_by_search(mc, g, add, &r, in, n))
        return mc->cx->diag.status;
    a->rounds += n;
    return super_poll(mc, &a->rounds);
}

/* ---- a run -------------------------------------------------------------------------- */

/* A line seen through a window. */
static gather_input input_of(const gather *g, const gather_line *x, const gather_window *w)
{
    const affine *a = g->a;
    const int64_t from = g->base + g->step * a->lo[a->level[g->mid].solved] + w->least;
    return (gather_input){
        .here = x->begin,
        .there = x->begin,
        .last = x->end,
        .first = x->first,
        .from = from - g->low,
        .least = w->least,
        .most = w->most,
        .at = x->from + w->at - gather_scaled(g->slope, w->least),
        .begin = x->table == NONE ? NULL : g->table + x->table + (from - g->low),
    };
}

stc_status affine_gather_run(machine *mc, affine *a, int64_t last)
{
    const gather *g = a->gather;
    slot *s = &mc->slot[a->sink.a];
    gather_adder *add = gather_adder_of(mc, (vclass)a->cls);
    gather_input in[INPUTS];
    a->rounds = 1;
    if (a->append)
        affine_append_begin(mc, a);
    else if (s->stores++, affine_room_rows(mc, a, last))
        return mc->cx->diag.status;
    machine_saw(mc, SEEN_FIBERS, g->nline);
    gather_weigh(a);
    gather_mergers(mc, a->gather, type_size(a->room.tensor->type));
    for (int64_t k = 0; k < g->nline;) {
        const int64_t to = g->line[k].to;
        int n = 0;
        for (; k < g->nline && g->line[k].to == to && n + g->nwindow <= INPUTS; k++)
            for (int w = 0; w < g->nwindow; w++)
                in[n++] = input_of(g, &g->line[k], &g->window[w]);
        if (add_line(mc, g, add, in, n, to)) return mc->cx->diag.status;
    }
    if (a->append && affine_append_close(mc, a->gather, 0)) return mc->cx->diag.status;
    return machine_count(mc, a->rounds);
}
