/* affine_gather.c: an affine nest that adds rows of a dense factor to rows of a dense
 * result, as a layer of features does, a row of the result at a time.
 *
 *     C(n,h,w,f) += A(n,h+r,w+q,c) * F(r,q,c,f)
 *
 * Where entries are scattered (affine_walk.c), a row of the result is read and written
 * once for each fiber of channels around it. Here the fibers of the level above, lines of
 * pixels, are listed first, each for all rows of the filter that lead from it into the
 * result; then each line of the result is gone through with the lines that lead into it
 * side by side, in the order of their pixels. What is around one place is a few stretches
 * of entries, which affine_rows.c adds. (The convolutions paper's loop i → p, Fig. 19,
 * with subsections of all of the filter's rows at once; places without any are passed
 * over.)
 *
 * Lines come from affine_lines.c; strides, dilations and shifts may be any. Rows that
 * nothing was stored into aren't filled again (stains.c).
 */
#include "affine_gather.h"
#include "super.h"
#include <string.h>

enum { INPUTS = GATHER_INPUTS, BLOCK = 128 };

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

/* Moves windows without tables to index x, and sets where its entries begin and end:
 * how many there are. */
static int32_t enter(const gather *g, gather_input *in, int n, int64_t x, int32_t *begin,
                     int32_t *end)
{
    const affine_level *mid = &g->a->level[g->mid], *leaf = mid + 1;
    const int64_t y = g->base + g->step * x, z = g->step * (x - g->a->lo[mid->solved]);
    int32_t count = 0;
    for (int k = 0; k < n; k++) {
        gather_input *i = &in[k];
        if (i->begin) {
            begin[k] = i->begin[z];
            end[k] = i->end[z];
        } else {
            slide(mid, i, y + i->least, y + i->most);
            begin[k] = (int32_t)gather_children(leaf, i->here);
            end[k] = (int32_t)gather_children(leaf, i->there);
        }
        count += end[k] - begin[k];
    }
    return count;
}

/* How many entries windows with tables have at the first n indices, and
 * at all. */
static int64_t count_entries(const gather *g, const gather_input *in, int inputs, int n,
                             int32_t *restrict count)
{
    int64_t all = 0;
    memset(count, 0, (size_t)n * sizeof *count);
    for (int w = 0; w < inputs; w++) {
        const int32_t *begin = in[w].begin, *end = in[w].end;
        if (g->step == 1) {
            for (int k = 0; k < n; k++)
                count[k] += end[k] - begin[k];
        } else {
            for (int k = 0; k < n; k++)
                count[k] += end[k * g->step] - begin[k * g->step];
        }
    }
    for (int k = 0; k < n; k++)
        all += count[k];
    return all;
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

/* Rows of which all inputs have tables, a block of indices at a time. */
static stc_status add_by_tables(machine *mc, const gather *g, gather_adder *add,
                                gather_rows r, gather_input *in, int64_t indices)
{
    int32_t count[BLOCK], x[BLOCK];
    r.x = x;
    r.count = count;
    for (int64_t done = 0; done < indices; done += BLOCK) {
        const int n = (int)(indices - done < BLOCK ? indices - done : BLOCK);
        const int64_t all = count_entries(g, in, r.inputs, n, count);
        r.n = 0;
        r.indices = n;
        for (int k = 0; k < n; k++) {
            x[r.n] = k;
            r.n += count[k] > 0; /* which can't be foreseen */
        }
        if (add_rows(mc, g->a, add, &r, all)) return mc->cx->diag.status;
        for (int k = 0; k < r.inputs; k++) {
            in[k].begin += r.step * BLOCK;
            in[k].end += r.step * BLOCK;
        }
        r.at += r.factor_step * BLOCK;
        r.to += r.by * BLOCK;
    }
    return STC_OK;
}

/* Rows one by one, of inputs some of which have no table. */
static stc_status add_by_search(machine *mc, const gather *g, gather_adder *add,
                                gather_rows *r, gather_input *in)
{
    const int solved = g->a->level[g->mid].solved;
    const int64_t first = g->a->lo[solved];
    const int32_t none = 0;
    int32_t begin[INPUTS], end[INPUTS], count;
    gather_input here[INPUTS];
    gather_rows one = *r;
    for (int k = 0; k < r->inputs; k++)
        here[k] = (gather_input){.begin = &begin[k], .end = &end[k], .at = in[k].at};
    one.in = here;
    one.x = &none;
    one.count = &count;
    one.n = one.indices = 1;
    for (int64_t x = first; x < g->a->hi[solved];) {
        count = enter(g, in, r->inputs, x, begin, end);
        one.at = r->at + r->factor_step * (x - first);
        one.to = r->to + r->by * (x - first);
        if (add_rows(mc, g->a, add, &one, count)) return mc->cx->diag.status;
        x = count ? x + 1 : next_index(g, in, r->inputs, x);
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
        .in = in,
        .inputs = n,
        .step = g->step,
        .at = g->factor_step * first - gather_scaled(g->slope, g->base + g->step * first),
        .factor_step = g->factor_step - gather_scaled(g->slope, g->step),
        .to = to + a->lo[rest] + by * first,
        .by = by,
        .width = a->hi[rest] - a->lo[rest],
    };
    if (tables ? add_by_tables(mc, g, add, r, in, a->hi[solved] - first)
               : add_by_search(mc, g, add, &r, in))
        return mc->cx->diag.status;
    a->rounds += n;
    if (a->rounds < SUPER_POLL) return STC_OK;
    const int64_t rounds = a->rounds;
    a->rounds = 0;
    return machine_count(mc, rounds);
}

/* ---- a run -------------------------------------------------------------------------- */

/* A line seen through a window. */
static gather_input input_of(const gather *g, const gather_line *x, const gather_window *w)
{
    const affine *a = g->a;
    const int64_t from = g->base + g->step * a->lo[a->level[g->mid].solved] + w->least;
    const int32_t *begin = x->table == NONE ? NULL : g->table + x->table + (from - g->low);
    return (gather_input){
        .here = x->begin,
        .there = x->begin,
        .last = x->end,
        .first = x->first,
        .least = w->least,
        .most = w->most,
        .at = x->from + w->at - gather_scaled(g->slope, w->least),
        .begin = begin,
        .end = begin ? begin + (w->most - w->least + 1) : NULL,
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
    gather_weigh(a);
    for (int64_t k = 0; k < g->nline;) {
        const int64_t to = g->line[k].to;
        int n = 0;
        for (; k < g->nline && g->line[k].to == to && n + g->nwindow <= INPUTS; k++)
            for (int w = 0; w < g->nwindow; w++)
                in[n++] = input_of(g, &g->line[k], &g->window[w]);
        if (add_line(mc, g, add, in, n, to)) return mc->cx->diag.status;
    }
    if (a->append && affine_append_end(mc, a)) return mc->cx->diag.status;
    return machine_count(mc, a->rounds);
}
