/* stains.c: which lines of a result's values may differ from its fill, so that
 * the next assembly has no others to fill.
 *
 * Results that are the same buffer from run to run are filled first and then
 * stored into at a few places only, if the operands are sparse enough; filling
 * takes longer than all else then. A tier that stores may ask for marks, a byte
 * a line (64 bytes), and sets those of all lines it stores into. The marks hold as long
 * as the tensor is what tensor_finish left: same buffer, same generation, same
 * fill. Then tensor_extend_values fills marked lines only, and takes the marks
 * away. Without marks everything is filled.
 */
#include "internal.h"
#include <string.h>

static int64_t lines_of(const tensor *t, int64_t values)
{
    return (values * (int64_t)type_size(t->type) + STAIN_LINE - 1) / STAIN_LINE;
}

static void drop(tensor *t)
{
    mem_free(t->cx, t->stains.line, (size_t)t->stains.lines);
    t->stains.line = NULL;
    t->stains.lines = 0;
}

void stains_free(tensor *t)
{
    if (t->stains.line) drop(t);
}

void stains_begin(tensor *t, uint64_t generation, int64_t values)
{
    stains *s = &t->stains;
    value one = {0};
    if (!s->line) return;
    type_store(t->type, &one, 0, t->fill);
    s->on = false;
    s->old = s->generation == generation && s->vals == t->vals && s->n == values &&
             !memcmp(&s->one, &one, sizeof one);
    if (!s->old) drop(t);
}

/* The marks of up to a block of lines as bits, which are taken away. */
static uint64_t take_marks(uint8_t *line, int64_t n)
{
    uint64_t bits = 0;
    for (int k = 0; k < STAIN_BLOCK && k < n; k += 8) {
        uint64_t x; /* a byte is 0 or 1: they meet in the highest one */
        memcpy(&x, line + k, sizeof x);
        bits |= (x * UINT64_C(0x0102040810204080) >> 56) << k;
    }
    if (n < STAIN_BLOCK) bits &= (UINT64_C(1) << n) - 1;
    if (bits) memset(line, 0, (size_t)(n < STAIN_BLOCK ? n : STAIN_BLOCK));
    return bits;
}

/* Values from the beginning of a line on, a block of lines at a time; of the last line what
 * there is. */
static void fill_marked(tensor *t, int64_t begin, int64_t end, const void *one)
{
    const size_t width = type_size(t->type);
    const int64_t size = end * (int64_t)width, last = lines_of(t, end);
    char fill[STAIN_LINE], *to = t->vals;
    fill_elements(fill, 0, (int64_t)(STAIN_LINE / width), one, width);
    for (int64_t l = lines_of(t, begin); l < last; l += STAIN_BLOCK)
        for (uint64_t bits = take_marks(t->stains.line + l, last - l); bits;
             bits &= bits - 1) {
            const int64_t at = (l + __builtin_ctzll(bits)) * STAIN_LINE;
            if (size - at >= STAIN_LINE)
                memcpy(to + at, fill, STAIN_LINE);
            else
                memcpy(to + at, fill, (size_t)(size - at));
        }
}

void stains_fill_to(tensor *t, int64_t begin, int64_t end, const void *one)
{
    if (t->stains.old)
        fill_marked(t, begin, end, one);
    else
        fill_elements(t->vals, begin, end, one, type_size(t->type));
}

int64_t stains_fill(tensor *t, int64_t begin, int64_t end, const void *one)
{
    const int64_t per = STAIN_BLOCK * STAIN_LINE / (int64_t)type_size(t->type);
    if (t->stains.old) { /* whole blocks: what is stored next marks them anew */
        end = (end + per - 1) / per * per;
        if (end > t->stains.n) end = t->stains.n;
    }
    stains_fill_to(t, begin, end, one);
    return end;
}

/* `all` of eight bytes, as far as there are so many lines. */
static uint64_t eight(uint64_t all, int64_t lines)
{
    return lines < 8 ? all & ((UINT64_C(1) << 8 * lines) - 1) : all;
}

/* Whether marks from `mark` on, so many a row, are those of the rows that are written. */
static inline __attribute__((always_inline)) bool
marked(const uint8_t *mark, int64_t rows, size_t lines, const int32_t *written)
{
    const uint64_t ones = eight(UINT64_C(0x0101010101010101), (int64_t)lines);
    uint64_t differ = 0;
    for (int64_t k = 0; k < rows; k++) {
        uint64_t old = 0;
        memcpy(&old, mark + (size_t)k * lines, lines);
        differ |= old ^ (-(uint64_t)(written[k] != 0) & ones);
    }
    return differ == 0;
}

void stains_rows(tensor *t, int64_t rows, int64_t lines, const int32_t *written)
{
    const size_t width = type_size(t->type);
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const int64_t first = lines_of(t, t->nvals);
    uint8_t *mark = t->stains.line + first;
    value one = {0};
    char fill[STAIN_LINE];
    t->nvals += rows * lines * (int64_t)(STAIN_LINE / width);
    if ((lines == 8 && marked(mark, rows, 8, written)) ||
        (lines == 4 && marked(mark, rows, 4, written)))
        return; /* the same rows as before: the most frequent widths at once */
    type_store(t->type, &one, 0, t->fill);
    fill_elements(fill, 0, (int64_t)(STAIN_LINE / width), &one, width);
    for (int64_t k = 0; k < rows; k++)
        for (int64_t l = 0; l < lines; l += 8) {
            const uint64_t all = -(uint64_t)(written[k] != 0); /* which can't be foreseen */
            uint64_t old, now = eight(all & ones, lines - l);
            memcpy(&old, mark + k * lines + l, 8);
            uint64_t stained = eight(old, lines - l) & ~now;
            now |= old & ~eight(UINT64_MAX, lines - l);
            memcpy(mark + k * lines + l, &now, 8);
            for (; stained; stained &= stained - 1) {
                const int64_t at = first + k * lines + l + __builtin_ctzll(stained) / 8;
                memcpy((char *)t->vals + at * STAIN_LINE, fill, STAIN_LINE);
            }
        }
}

uint8_t *stains_ask(tensor *t, int64_t values)
{
    stains *s = &t->stains;
    if (s->on) return s->line;
    if (t->nvals || s->never) return NULL; /* something may be stored already */
    if (!s->line) {
        s->lines = lines_of(t, values) + STAIN_BLOCK;
        s->line = mem_zero(t->cx, s->lines, 1);
        if (!s->line) {
            diag_clear(t->cx); /* there is another way */
            return NULL;
        }
    }
    s->on = true;
    return s->line;
}

void stains_finish(tensor *t)
{
    stains *s = &t->stains;
    if (s->line && !s->on) drop(t);
    s->old = s->on = false;
    if (!s->line) return;
    s->one = (value){0};
    type_store(t->type, &s->one, 0, t->fill);
    s->vals = t->vals;
    s->n = t->nvals;
    s->generation = t->generation;
}
