/* tns.c: FROSTT's text files: reads and writes them (Smith et al., "FROSTT:
 * the formidable repository of open sparse tensors and tools", 2017).
 *
 *     # shape 3 4 5 entries 2
 *     1 1 2 0.5
 *     3 4 5 -1e-3
 *
 * An entry a line: coordinates from 1, then the value. The order is what the
 * first entry shows, the shape the largest coordinates, unless the first line
 * is the comment that we write: then it gives both, coordinates are held
 * against it, and a complex value has two numbers. How many entries
 * there are may stand there, too, which shows that a file was cut short. Lines
 * that begin with # and blank ones are passed over.
 *
 * Decisions: a coordinate 0 is an error, since a file that counts from 0 can't
 * be told from a faulty one. ParTI's dialect, with a line for the order and
 * one for the sizes, is refused with a hint: its first line is an entry of
 * order 0 in this one.
 */
#include "files.h"
#include "number.h"
#include "output.h"
#include <string.h>

typedef struct tns {
    input in;
    io_result *out;
    bool shaped;     /* the shape was given */
    bool pairs;      /* values are complex: two numbers */
    int64_t claimed; /* entries; -1: it isn't said      */
    vclass cls;
} tns;

/* ---- reading ---------------------------------------------------------- */

/* Of these files only the ones that tell their shape tell what they are. */
bool tns_sniff(const char *p, int64_t len)
{
    return len > 8 && !memcmp(p, "# shape", 7) && is_space(p[7]);
}

/* How many entries there are, as the line with the shape says. */
static stc_status read_claim(tns *r, const char *at)
{
    input *const in = &r->in;
    const char *const after = scan_i64(at, &r->claimed);
    if (!after || r->claimed < 0 || !(is_line_end(*after) || after == in->end))
        return input_fail(in, at, "found %s, expected the number of entries",
                          input_word(in, at).text);
    in->p = after;
    return STC_OK;
}

/* The first line, if it is "# shape n m … entries n". Any other comment is left alone. */
static stc_status read_shape(tns *r)
{
    input *const in = &r->in;
    if (*in->p != '#') return STC_OK;
    const char *const first = in->p++;
    input_skip_blanks(in);
    if (strncmp(in->p, "shape", 5) != 0 || !input_word_ends(in, in->p + 5)) {
        in->p = first;
        return STC_OK;
    }
    in->p += 5;
    stc_status s = STC_OK;
    int n = 0;
    for (; input_skip_blanks(in), !input_at_line_end(in); n++) {
        const char *const at = in->p;
        int64_t size;
        const char *const after = scan_i64(at, &size);
        const bool number = is_digit(at[*at == '-' || *at == '+']);
        if (!strncmp(at, "entries ", 8) && is_digit(at[8])) {
            s = read_claim(r, at + 8);
            break;
        }
        if (n == 0 && !number) { /* prose that begins with the word */
            in->p = first;
            return STC_OK;
        }
        if (!after || !input_word_ends(in, after) || size < 0)
            return input_fail(in, at, "found %s, expected a size", input_word(in, at).text);
        if (n == STC_MAX_ORDER)
            return input_fail(in, at, "too many sizes: the largest order is %d",
                              STC_MAX_ORDER);
        r->out->shape[n] = size;
        in->p = after;
    }
    r->out->order = n;
    r->shaped = true;
    if (s || in->p < in->end) return s;
    return input_fail(in, in->p, "the file ends in the line with its shape");
}

/* The words on the line at p; *end is set behind it. */
static int count_words(const input *in, const char *p, const char **end)
{
    int n = 0;
    for (;;) {
        while (is_blank(*p))
            p++;
        if (is_line_end(*p) || p == in->end) break;
        n++;
        while (!is_space(*p) && p < in->end)
            p++;
    }
    *end = p;
    return n;
}

/* A single number in the first line: an order, as ParTI writes it? */
static stc_status lone_number(const tns *r)
{
    const input *const in = &r->in;
    const char *end;
    int64_t order = 0;
    const char *const after = scan_i64(in->p, &order);
    input next = *in;
    count_words(in, in->p, &end);
    next.p = end;
    if (after && input_word_ends(in, after) && input_next(&next, '#') &&
        count_words(in, next.p, &end) == order)
        return input_fail(in, in->p,
                          "found the order and the sizes before the entries, as ParTI "
                          "writes them; expected FROSTT's entries only: replace the two "
                          "lines by '# shape' and the sizes");
    return input_fail(in, in->p,
                      "found one number, expected coordinates and a value (a tensor of "
                      "order 0 needs a first line '# shape')");
}

/* The order, and whether values are complex, from the first entry. */
static stc_status read_first(tns *r)
{
    input *const in = &r->in;
    io_result *const out = r->out;
    if (!input_next(in, '#')) {
        if (r->shaped) return STC_OK;
        return input_fail(in, in->p,
                          "the file has no entries, so that its order isn't known; "
                          "expected some, or a first line '# shape' with the sizes");
    }
    const char *end;
    const int words = count_words(in, in->p, &end);
    if (r->shaped) {
        r->pairs = words == out->order + 2;
        return STC_OK;
    }
    if (words == 1) return lone_number(r);
    if (words - 1 > STC_MAX_ORDER)
        return input_fail(in, in->p, "found %d numbers: the largest order is %d", words,
                          STC_MAX_ORDER);
    out->order = words - 1;
    return STC_OK;
}

/* Room for what is left of the file: by its lines, or if those are empty by
 * its bytes. */
static stc_status reserve_entries(tns *r)
{
    const int words = r->out->order + 1 + r->pairs;
    const int64_t lines = input_lines_left(&r->in);
    const int64_t possible = (r->in.end - r->in.p) / (2 * words) + 1;
    entries_init(&r->out->e, r->in.cx, r->out->order, r->out->type);
    return entries_reserve(&r->out->e, lines < possible ? lines : possible);
}

static stc_status bad_line(const tns *r, const char *line)
{
    const char *end;
    const int expected = r->out->order + 1 + r->pairs;
    const int found = count_words(&r->in, line, &end);
    return input_fail(&r->in, line, "found %d numbers, expected %d: order %d and %s", found,
                      expected, r->out->order, r->pairs ? "a complex value" : "a value");
}

static stc_status bad_index(const tns *r, const char *at, int mode)
{
    int64_t i;
    const char *const after = scan_i64(at, &i);
    if (!after || !input_word_ends(&r->in, after))
        return input_fail(&r->in, at, "found %s, expected a coordinate",
                          input_word(&r->in, at).text);
    if (i < 1)
        return input_fail(&r->in, at,
                          "coordinate %lld of mode %d: coordinates count from 1",
                          (long long)i, mode + 1);
    return input_fail(&r->in, at, "coordinate %lld of mode %d isn't in 1..%lld",
                      (long long)i, mode + 1, (long long)r->out->shape[mode]);
}

/* The value at the reader's place, one number or two. */
static inline const char *read_number(const tns *r, const char *p, value *v)
{
    if (!r->pairs)
        return r->cls == CLASS_F64 ? scan_f64(p, &v->f64) : scan_value(r->cls, p, v);
    value re, im;
    const vclass part = r->cls == CLASS_C64 ? CLASS_F32 : CLASS_F64;
    if (!(p = scan_value(part, p, &re)) || !is_blank(*p)) return NULL;
    while (is_blank(*p))
        p++;
    if (!(p = scan_value(part, p, &im))) return NULL;
    *v = part == CLASS_F32 ? value_complex(CLASS_C64, re.f32, im.f32)
                           : value_complex(CLASS_C128, re.f64, im.f64);
    return p;
}

static inline stc_status read_entry(tns *r)
{
    input *const in = &r->in;
    io_result *const out = r->out;
    entries *const e = &out->e;
    const char *const line = in->p;
    for (int k = 0; k < out->order; k++) {
        int64_t i = 0;
        input_skip_blanks(in);
        if (input_at_line_end(in)) return bad_line(r, line);
        const char *const after = scan_index(in->p, &i);
        if (!after || !input_word_ends(in, after) || i < 1 ||
            (r->shaped && i > out->shape[k]))
            return bad_index(r, in->p, k);
        if (i > out->shape[k]) out->shape[k] = i;
        in->p = after;
        e->coord[k][e->n] = i - 1;
    }
    input_skip_blanks(in);
    if (input_at_line_end(in)) return bad_line(r, line);
    value v;
    const char *const after = read_number(r, in->p, &v);
    if (!after || !input_word_ends(in, after))
        return input_fail(in, in->p, "found %s, expected a %svalue",
                          input_word(in, in->p).text, r->pairs ? "complex " : "");
    in->p = after;
    input_skip_blanks(in);
    if (!input_at_line_end(in)) return bad_line(r, line);
    class_put(r->cls, e->vals, e->n++, v);
    return STC_OK;
}

static stc_status read_entries(tns *r)
{
    input *const in = &r->in;
    entries *const e = &r->out->e;
    stc_status s = reserve_entries(r);
    while (!s && input_next(in, '#')) {
        if (e->n == e->cap) s = entries_reserve(e, 2 * e->cap);
        if (!s) s = read_entry(r);
        if (!s && input_due(in)) s = input_tick(in);
    }
    return s || r->claimed < 0 ? s : input_whole(in, r->claimed, e->n);
}

stc_status tns_read(input *in, int type, io_result *out)
{
    tns r = {.in = *in, .out = out, .claimed = -1};
    stc_status s;
    if ((s = read_shape(&r)) || (s = read_first(&r))) return s;
    stc_type t = r.pairs ? STC_C128 : STC_F64;
    if (type >= 0 && (!r.pairs || type_is_complex((stc_type)type))) t = (stc_type)type;
    r.cls = type_class(t);
    out->type = class_type(r.cls);
    out->kind = IO_TENSOR;
    out->sparse = true;
    return read_entries(&r);
}

/* ---- writing ---------------------------------------------------------- */

typedef struct tns_writer {
    output o;
    const tensor *t;
} tns_writer;

static int write_entry(void *context, const int64_t *coords, stc_value v)
{
    tns_writer *const w = context;
    for (int k = 0; k < w->t->order; k++) {
        output_index(&w->o, coords[k] + 1);
        output_char(&w->o, ' ');
    }
    output_value(&w->o, w->t->type, value_from_public(w->t->type, v));
    output_char(&w->o, '\n');
    return w->o.status != STC_OK;
}

static void write_count(void *context, int64_t n)
{
    tns_writer *const w = context;
    output_text(&w->o, " entries %lld\n", (long long)n);
}

stc_status tns_write(const tensor *t, const char *path)
{
    tns_writer w = {.t = t};
    stc_status s = output_open(&w.o, t->cx, path);
    if (s) return s;
    output_text(&w.o, "# shape");
    for (int k = 0; k < t->order; k++)
        output_text(&w.o, " %lld", (long long)t->shape[k]);
    s = entries_write(t, write_count, write_entry, &w);
    return output_close(&w.o, s);
}
