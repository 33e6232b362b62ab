/* mtx.c: reads Matrix Market files (Boisvert, Pozo, Remington, "The Matrix
 * Market exchange formats", NISTIR 5935, 1996).
 *
 *     %%MatrixMarket matrix coordinate real general
 *     % comments, blank lines
 *     rows columns entries
 *     row column value        one entry a line, coordinates from 1
 *
 * The first line gives object (matrix, vector, or TACO's tensor of any order),
 * layout (coordinate, or array: column-major values), field and symmetry, in
 * any case. Beyond the letter of the paper we take comments and blank lines
 * anywhere, any line ends, and Fortran's exponents.
 *
 * Decisions: duplicates are kept here and summed by packing. Numbers beyond
 * the largest f64 are infinities, integers beyond 64 bits are errors. A file
 * with symmetry lists one triangle, either one: the other is filled in; one
 * with entries on both sides of the diagonal is refused, since they may or may
 * not be meant twice. The diagonal of a skew-symmetric matrix may only hold
 * zeros, that of a hermitian one reals.
 */
#include "files.h"
#include "lines.h"
#include "note.h"
#include "number.h"
#include <assert.h>
#include <string.h>
#include <strings.h>

typedef enum field { REAL, INTEGER, UNSIGNED, COMPLEX, PATTERN } field;
typedef enum symmetry { GENERAL, SYMMETRIC, SKEW, HERMITIAN } symmetry;
typedef enum object { MATRIX, VECTOR, TENSOR } object;

typedef struct mtx {
    input in;
    io_result *out;
    object object;
    bool coordinate;
    field field;
    symmetry symmetry;
    vclass cls;           /* of the values read */
    int64_t claimed;      /* entries */
    const char *size_at;  /* where the size line is */
    const char *triangle; /* the first entry off the diagonal */
    bool upper;           /* which side that was on */
} mtx;

typedef struct keyword {
    const char *text;
    int value;
} keyword;

static const keyword objects[] = {
    {"matrix", MATRIX}, {"vector", VECTOR}, {"tensor", TENSOR}};
static const keyword layouts[] = {{"coordinate", true}, {"array", false}};
static const keyword fields[] = {{"real", REAL},       {"double", REAL},
                                 {"integer", INTEGER}, {"unsigned-integer", UNSIGNED},
                                 {"complex", COMPLEX}, {"pattern", PATTERN}};
static const keyword symmetries[] = {{"general", GENERAL},
                                     {"symmetric", SYMMETRIC},
                                     {"skew-symmetric", SKEW},
                                     {"hermitian", HERMITIAN}};

#define COUNT(table) ((int)(sizeof(table) / sizeof(table)[0]))

/* Takes the next word of the first line, which must be one of a table's. */
static stc_status take_word(mtx *m, const char *what, const keyword *table, int count,
                            int *chosen)
{
    input *const in = &m->in;
    input_skip_blanks(in);
    const char *end = in->p;
    while (end < in->end && !is_space(*end))
        end++;
    const size_t n = (size_t)(end - in->p);
    for (int i = 0; i < count; i++) {
        if (strlen(table[i].text) != n || strncasecmp(in->p, table[i].text, n)) continue;
        *chosen = table[i].value;
        in->p = end;
        return STC_OK;
    }
    char known[128] = "";
    for (int i = 0; i < count; i++) {
        const size_t len = strlen(known);
        snprintf(known + len, sizeof known - len, "%s%s", i ? ", " : "", table[i].text);
    }
    return input_fail(in, in->p, "found %s, expected %s: one of %s",
                      input_word(in, in->p).text, what, known);
}

#define BANNER "%%MatrixMarket"

bool mtx_sniff(const char *p, int64_t len)
{
    return len > (int64_t)strlen(BANNER) && !strncasecmp(p, BANNER, strlen(BANNER));
}

static stc_status read_banner(mtx *m)
{
    input *const in = &m->in;
    static const keyword banner[] = {{BANNER, 0}};
    int ignored = 0, o = MATRIX, l = true, f = REAL, s = GENERAL;
    stc_status st;
    if ((st = take_word(m, "the header of a Matrix Market file", banner, 1, &ignored)) ||
        (st = take_word(m, "the kind of object", objects, COUNT(objects), &o)) ||
        (st = take_word(m, "the layout", layouts, COUNT(layouts), &l)) ||
        (st = take_word(m, "the field", fields, COUNT(fields), &f)))
        return st;
    const char *const at = in->p;
    if ((st = take_word(m, "the symmetry", symmetries, COUNT(symmetries), &s))) return st;
    input_skip_blanks(in);
    if (!input_at_line_end(in))
        return input_fail(in, in->p, "found %s after the header's five words",
                          input_word(in, in->p).text);
    m->object = (object)o;
    m->coordinate = l;
    m->field = (field)f;
    m->symmetry = (symmetry)s;
    if (m->field == PATTERN && !m->coordinate)
        return input_fail(in, at, "an array can't be of field pattern");
    if (m->symmetry == HERMITIAN && m->field != COMPLEX)
        return input_fail(in, at, "only complex matrices can be hermitian");
    if (m->symmetry == SKEW && (m->field == PATTERN || m->field == UNSIGNED))
        return input_fail(in, at, "a skew-symmetric matrix needs values with a sign");
    if (m->symmetry != GENERAL && m->object != MATRIX)
        return input_fail(in, at, "only a matrix can have symmetry");
    return STC_OK;
}

/* What our own files say below the first line, if the field can be of that type. */
static void take_note(mtx *m)
{
    io_result *const out = m->out;
    const char *p = m->in.p;
    note n;
    while (is_line_end(*p))
        p++;
    if (*p != '%') return;
    note_read(p + 1, &n);
    const bool real = type_is_float(n.type), pair = type_is_complex(n.type);
    if (!n.found || n.order > 2 || real != (m->field == REAL) ||
        pair != (m->field == COMPLEX))
        return;
    out->noted = true;
    out->noted_type = n.type;
    out->noted_order = n.order;
    out->formatted = n.formatted;
    out->fmt = n.fmt;
}

static stc_status read_size(mtx *m)
{
    input *const in = &m->in;
    io_result *const out = m->out;
    if (!input_next(in, '%'))
        return input_fail(in, in->p, "the file ends before the line with the sizes");
    m->size_at = in->p;
    int64_t size[STC_MAX_ORDER + 1];
    int n = 0;
    for (; input_skip_blanks(in), !input_at_line_end(in); n++) {
        const char *const at = in->p;
        if (n == STC_MAX_ORDER + m->coordinate)
            return input_fail(in, at, "too many sizes: the largest order is %d",
                              STC_MAX_ORDER);
        const char *const after = scan_i64(at, &size[n]);
        if (!after || !input_word_ends(in, after) || size[n] < 0)
            return input_fail(in, at, "found %s, expected a size", input_word(in, at).text);
        in->p = after;
    }
    out->order = n - m->coordinate;
    const int expected = m->object == MATRIX ? 2 : m->object == VECTOR ? 1 : out->order;
    if (out->order != expected || out->order < 1)
        return input_fail(in, m->size_at, "found %d numbers, expected %s%s of the %s", n,
                          m->object == MATRIX ? "rows and columns" : "the sizes",
                          m->coordinate ? " and the number of entries" : "",
                          objects[m->object].text);
    memcpy(out->shape, size, (size_t)out->order * sizeof size[0]);
    if (m->coordinate) m->claimed = size[n - 1];
    if (m->symmetry != GENERAL && out->shape[0] != out->shape[1])
        return input_fail(in, m->size_at, "a %s matrix must be square",
                          symmetries[m->symmetry].text);
    return STC_OK;
}

/* The class values are read in, and so the type of the result. */
static void choose_class(mtx *m, int type)
{
    static const stc_type natural[] = {[REAL] = STC_F64,
                                       [INTEGER] = STC_I64,
                                       [UNSIGNED] = STC_U64,
                                       [COMPLEX] = STC_C128,
                                       [PATTERN] = STC_F64};
    stc_type t = natural[m->field];
    if (type >= 0 && (m->field != COMPLEX || type_is_complex((stc_type)type)))
        t = (stc_type)type;
    m->cls = type_class(t);
    m->out->type = class_type(m->cls);
}

static stc_status bad_value(const mtx *m, const char *at)
{
    const input_quote word = input_word(&m->in, at);
    int64_t i;
    double d;
    const char *after;
    if (m->field != INTEGER && m->field != UNSIGNED)
        return input_fail(&m->in, at, "found %s, expected a number", word.text);
    if (!scan_i64(at, &i) && (after = scan_f64(at, &d)) && input_word_ends(&m->in, after) &&
        !memchr(at, '.', (size_t)(after - at)))
        return input_fail(&m->in, at, "%s is beyond the integers of 64 bits", word.text);
    return input_fail(&m->in, at, "found %s, expected an integer", word.text);
}

/* One value at the reader's place, which moves behind it. */
static inline stc_status read_value(mtx *m, value *v)
{
    input *const in = &m->in;
    const char *const at = in->p, *after = NULL;
    switch (m->field) {
    case REAL:
        after = m->cls == CLASS_F64 ? scan_f64(at, &v->f64) : scan_value(m->cls, at, v);
        break;
    case INTEGER:
    case UNSIGNED: {
        value w;
        if ((after = scan_i64(at, &w.i64)))
            *v = m->cls == CLASS_I64 ? w : class_convert(m->cls, CLASS_I64, w);
        else if ((m->field == UNSIGNED || m->cls == CLASS_U64) &&
                 (after = scan_u64(*at == '+' ? at + 1 : at, &w.u64)))
            *v = class_convert(m->cls, CLASS_U64, w);
        if (m->field == UNSIGNED && *at == '-') after = NULL;
        break;
    }
    case COMPLEX: {
        value re, im;
        const vclass part = m->cls == CLASS_C64 ? CLASS_F32 : CLASS_F64;
        after = scan_value(part, at, &re);
        if (!after || !input_word_ends(in, after)) break;
        in->p = after;
        input_skip_blanks(in);
        const char *const second = in->p;
        after = scan_value(part, second, &im);
        if (!after || !input_word_ends(in, after))
            return input_fail(in, second, "found %s, expected the imaginary part",
                              input_word(in, second).text);
        *v = part == CLASS_F32 ? value_complex(CLASS_C64, re.f32, im.f32)
                               : value_complex(CLASS_C128, re.f64, im.f64);
        break;
    }
    case PATTERN:
        *v = class_convert(m->cls, CLASS_I64, (value){.i64 = 1});
        return STC_OK;
    }
    if (!after || !input_word_ends(in, after)) return bad_value(m, at);
    in->p = after;
    return STC_OK;
}

static value class_negate(vclass c, value v)
{
    switch (c) {
    case CLASS_F64:
        return (value){.f64 = -v.f64};
    case CLASS_F32:
        return (value){.f32 = -v.f32};
    case CLASS_C64:
        return (value){.c64 = -v.c64};
    case CLASS_C128:
        return (value){.c128 = -v.c128};
    default:
        return (value){.u64 = 0 - v.u64};
    }
}

/* The value on the other side of the diagonal; `at` is where this one stands. */
static stc_status mirrored(const mtx *m, const char *at, value v, value *out)
{
    *out = v;
    if (m->symmetry == SKEW && m->cls == CLASS_I64 && v.i64 == INT64_MIN)
        return input_fail(&m->in, at,
                          "%lld has no negative in 64 bits, which a skew-symmetric matrix "
                          "has on the other side of the diagonal",
                          (long long)v.i64);
    if (m->symmetry == SKEW)
        *out = class_negate(m->cls, v);
    else if (m->symmetry == HERMITIAN && m->cls == CLASS_C64)
        out->c64 = conjf(v.c64);
    else if (m->symmetry == HERMITIAN)
        out->c128 = conj(v.c128);
    return STC_OK;
}

static stc_status check_diagonal(const mtx *m, const char *at, value v)
{
    if (m->symmetry == SKEW && !class_is_zero(m->cls, v))
        return input_fail(&m->in, at, "a value on the diagonal of a skew-symmetric matrix");
    if (m->symmetry == HERMITIAN &&
        (m->cls == CLASS_C64 ? cimagf(v.c64) != 0 : cimag(v.c128) != 0))
        return input_fail(&m->in, at,
                          "an imaginary part on the diagonal of a hermitian matrix");
    return STC_OK;
}

/* Both triangles of a symmetric file, or it is refused. */
static stc_status push_mirrored(mtx *m, const char *at, int64_t i, int64_t j, value v)
{
    entries *const e = &m->out->e;
    if (i == j) return check_diagonal(m, at, v);
    const bool upper = i < j;
    if (!m->triangle) {
        m->triangle = at;
        m->upper = upper;
    }
    if (m->upper != upper)
        return input_fail(&m->in, at,
                          "entry (%lld,%lld) is %s the diagonal and the one in line %lld "
                          "isn't: a %s file lists one triangle",
                          (long long)i + 1, (long long)j + 1, upper ? "above" : "below",
                          (long long)input_line(&m->in, m->triangle),
                          symmetries[m->symmetry].text);
    const stc_status s = mirrored(m, at, v, &v);
    if (s) return s;
    e->coord[0][e->n] = j;
    e->coord[1][e->n] = i;
    class_put(m->cls, e->vals, e->n++, v);
    return STC_OK;
}

static stc_status bad_index(const mtx *m, const char *at, int mode)
{
    const char *const name = m->object != MATRIX ? "coordinate"
                             : mode              ? "column index"
                                                 : "row index";
    int64_t i;
    const char *const after = scan_i64(at, &i);
    if (!after || !input_word_ends(&m->in, after))
        return input_fail(&m->in, at, "found %s, expected a %s",
                          input_word(&m->in, at).text, name);
    return input_fail(&m->in, at, "%s %lld isn't in 1..%lld", name, (long long)i,
                      (long long)m->out->shape[mode]);
}

/* Behind an entry's, or an element's, last word. */
static inline stc_status line_ends(mtx *m)
{
    input *const in = &m->in;
    input_skip_blanks(in);
    if (input_at_line_end(in)) return STC_OK;
    return input_fail(in, in->p, "found %s, expected the end of the line after %s",
                      input_word(in, in->p).text,
                      m->field == PATTERN ? "the coordinates" : "the value");
}

/* One entry; the reader stands at its first word. */
static inline stc_status read_entry(mtx *m)
{
    input *const in = &m->in;
    io_result *const out = m->out;
    entries *const e = &out->e;
    const char *const at = in->p;
    const int64_t n = e->n;
    for (int k = 0; k < out->order; k++) {
        int64_t i = 0;
        input_skip_blanks(in);
        const char *const after = scan_index(in->p, &i);
        if (!after || !input_word_ends(in, after) || i < 1 || i > out->shape[k])
            return bad_index(m, in->p, k);
        in->p = after;
        e->coord[k][n] = i - 1;
    }
    input_skip_blanks(in);
    value v;
    stc_status s = read_value(m, &v);
    if (s) return s;
    if ((s = line_ends(m))) return s;
    class_put(m->cls, e->vals, n, v);
    e->n = n + 1;
    return m->symmetry == GENERAL ? STC_OK
                                  : push_mirrored(m, at, e->coord[0][n], e->coord[1][n], v);
}

/* Room for what the file claims, but no more than its bytes can hold, and for
 * one more that turns out to be incomplete. */
static stc_status reserve_entries(mtx *m)
{
    const int words = m->out->order + (m->field == PATTERN   ? 0
                                       : m->field == COMPLEX ? 2
                                                             : 1);
    const int64_t possible = (m->in.end - m->in.p + 1) / (2 * words);
    int64_t n = (m->claimed < possible ? m->claimed : possible) + 1;
    if (m->symmetry != GENERAL) n *= 2;
    entries_init(&m->out->e, m->in.cx, m->out->order, m->out->type);
    return entries_reserve(&m->out->e, n);
}

/* Whether values are read as lines.h does. */
static bool has_lines(const mtx *m)
{
    return (m->field == REAL && m->cls == CLASS_F64) ||
           (m->field == INTEGER && m->cls == CLASS_I64) || m->field == PATTERN;
}

/* Ones from the entry `from` on. */
static void fill_pattern(mtx *m, int64_t from)
{
    entries *const e = &m->out->e;
    for (int64_t i = from; m->field == PATTERN && i < e->n; i++)
        class_put(m->cls, e->vals, i, class_convert(m->cls, CLASS_I64, (value){.i64 = 1}));
}

/* Entries as most files have them, by blocks; gives how many. */
static stc_status read_blocks(mtx *m, int64_t *n)
{
    entries *const e = &m->out->e;
    const int64_t before = e->n, room = e->cap - e->n, left = m->claimed - *n;
    if (m->symmetry != GENERAL || !has_lines(m)) return STC_OK;
    const line_form f = {.values = m->field != PATTERN, .base = 1, .limit = m->out->shape};
    const stc_status s = lines_read(&m->in, e, &f, left < room ? left : room);
    *n += e->n - before;
    fill_pattern(m, before);
    return s;
}

enum { ANY_LINES = 1 << 10 }; /* between two tries to go on by blocks */

static stc_status read_coordinates(mtx *m)
{
    input *const in = &m->in;
    stc_status s = reserve_entries(m);
    for (int64_t n = 0; !s && n < m->claimed; n++) {
        if (n % ANY_LINES == 0 && input_next(in, '%')) {
            if ((s = read_blocks(m, &n))) return s;
            if (n == m->claimed) break;
        }
        if (!input_next(in, '%'))
            return input_fail(
                in, m->size_at, "the header claims %lld %s, the file ends after %lld",
                (long long)m->claimed, m->claimed == 1 ? "entry" : "entries", (long long)n);
        assert(m->out->e.n < m->out->e.cap);
        s = read_entry(m);
        if (!s && input_due(in)) s = input_tick(in);
    }
    if (s) return s;
    if (input_next(in, '%'))
        return input_fail(in, in->p,
                          "found %s, expected the end of the file after %lld %s, as the "
                          "header claims",
                          input_word(in, in->p).text, (long long)m->claimed,
                          m->claimed == 1 ? "entry" : "entries");
    return STC_OK;
}

/* Values are listed mode 0 fastest; strides are those of row-major storage. */
typedef struct walk {
    int64_t at[STC_MAX_ORDER], stride[STC_MAX_ORDER], place;
} walk;

static void walk_start(walk *w, const io_result *r)
{
    *w = (walk){0};
    if (r->count == 0) return; /* the product of the others may overflow */
    int64_t stride = 1;
    for (int k = r->order - 1; k >= 0; k--) {
        w->stride[k] = stride;
        stride *= r->shape[k];
    }
}

static void walk_next(walk *w, const io_result *r)
{
    for (int k = 0; k < r->order; k++) {
        w->place += w->stride[k];
        if (++w->at[k] < r->shape[k]) return;
        w->place -= w->stride[k] * r->shape[k];
        w->at[k] = 0;
    }
}

static stc_status store_listed(mtx *m, const walk *w)
{
    io_result *const out = m->out;
    input *const in = &m->in;
    const char *const at = in->p;
    value v;
    stc_status s = read_value(m, &v);
    if (!s) s = line_ends(m);
    if (s) return s;
    class_put(m->cls, out->dense, w->place, v);
    if (m->symmetry == GENERAL) return STC_OK;
    const int64_t i = w->at[0], j = w->at[1];
    if (i == j) return check_diagonal(m, at, v);
    if ((s = mirrored(m, at, v, &v))) return s;
    class_put(m->cls, out->dense, j * out->shape[1] + i, v);
    return STC_OK;
}

/* Arrays with symmetry list the lower triangle; the diagonal of a
 * skew-symmetric one is left out. */
static bool is_listed(const mtx *m, const walk *w)
{
    if (m->symmetry == GENERAL) return true;
    return m->symmetry == SKEW ? w->at[0] > w->at[1] : w->at[0] >= w->at[1];
}

static stc_status read_array(mtx *m)
{
    input *const in = &m->in;
    io_result *const out = m->out;
    const int64_t possible = (in->end - in->p + 1) / (m->field == COMPLEX ? 4 : 2);
    if (!size_product(out->shape, out->order, &out->count))
        return input_fail(in, m->size_at, "an array with more than 2^63 elements");
    /* Where there is symmetry: at least a triangle without its diagonal. */
    const int64_t least =
        m->symmetry == GENERAL ? out->count : (out->count - out->shape[0]) / 2;
    if (least > possible)
        return input_fail(
            in, m->size_at,
            "an array of %lld elements can't be in the %lld bytes that follow",
            (long long)out->count, (long long)(in->end - in->p));
    stc_status s = dense_alloc(out);
    if (s) return s;
    walk w;
    walk_start(&w, out);
    for (int64_t n = 0; !s && n < out->count; n++, walk_next(&w, out)) {
        if (!is_listed(m, &w)) {
            if (w.at[0] == w.at[1])
                class_put(m->cls, out->dense, w.place,
                          class_convert(m->cls, CLASS_I64, (value){0}));
            continue;
        }
        if (!input_next(in, '%'))
            return input_fail(
                in, in->p, "the file ends before column %lld, row %lld of the array",
                (long long)(out->order > 1 ? w.at[1] + 1 : 1), (long long)w.at[0] + 1);
        s = store_listed(m, &w);
        if (!s && input_due(in)) s = input_tick(in);
    }
    if (s) return s;
    if (input_next(in, '%'))
        return input_fail(in, in->p, "found %s after the last element of the array",
                          input_word(in, in->p).text);
    return STC_OK;
}

/* ---- the whole --------------------------------------------------------------------- */

/* The lines ahead of the entries. */
static stc_status read_head(mtx *m, int type)
{
    io_result *const out = m->out;
    stc_status s;
    if ((s = read_banner(m)) || (take_note(m), s = read_size(m))) return s;
    if (type < 0 && out->noted && out->noted_type != STC_BOOL) type = (int)out->noted_type;
    out->kind = m->object == TENSOR ? IO_TENSOR : IO_MATRIX;
    out->sparse = m->coordinate;
    choose_class(m, type);
    return STC_OK;
}

/* The other triangle of entries that were streamed; false: they aren't one triangle, or its
 * diagonal has what it may not have. */
static stc_status add_mirrored(mtx *m, bool *whole)
{
    entries *const e = &m->out->e;
    const int64_t n = e->n;
    int64_t below = 0, above = 0;
    if (m->symmetry == GENERAL) return STC_OK;
    for (int64_t i = 0, end; (end = work_block(e->cx, i, n)) > i;)
        for (; i < end; i++) {
            below += e->narrow[0][i] > e->narrow[1][i];
            above += e->narrow[0][i] < e->narrow[1][i];
        }
    if ((below && above) || (m->symmetry == SKEW && below + above < n)) *whole = false;
    if (!*whole || entries_reserve(e, n + below + above)) return e->cx->diag.status;
    for (int64_t i = 0, end; (end = work_block(e->cx, i, n)) > i;)
        for (; i < end; i++) {
            value v = type_load(e->type, e->vals, i);
            if (e->narrow[0][i] == e->narrow[1][i]) continue;
            if (m->symmetry == SKEW && m->cls == CLASS_I64 && v.i64 == INT64_MIN)
                *whole = false;
            if (m->symmetry == SKEW) v = class_negate(m->cls, v);
            e->narrow[0][e->n] = e->narrow[1][i];
            e->narrow[1][e->n] = e->narrow[0][i];
            type_store(e->type, e->vals, e->n++, v);
        }
    return work_done(e->cx, 0);
}

/* Of a file that isn't in memory: its entries, if all of its lines are ordinary ones. */
static stc_status stream(mtx *m, int type, bool *whole)
{
    io_result *const out = m->out;
    entries *const e = &out->e;
    *whole = !read_head(m, type) && m->coordinate && out->order > 1 && has_lines(m) &&
             input_next(&m->in, '%');
    diag_clear(m->in.cx);
    for (int k = 0; k < out->order; k++)
        *whole &= out->shape[k] <= INT32_MAX;
    *whole &= !out->noted || input_ended(&m->in);
    if (!*whole || m->symmetry == HERMITIAN) return STC_OK;
    const line_form f = {.values = m->field != PATTERN, .base = 1, .limit = out->shape};
    const int64_t possible =
        (m->in.size - (m->in.p - m->in.begin) + 1) / (2 * (out->order + f.values));
    if (m->claimed > possible) *whole = false;
    entries_init(e, m->in.cx, out->order, out->type);
    e->is_narrow = true;
    if (!*whole || entries_reserve(e, m->claimed)) return m->in.cx->diag.status;
    stc_status s = lines_stream(&m->in, e, &f, m->claimed, whole);
    if (!s && *whole) fill_pattern(m, 0);
    if (!s && *whole) s = add_mirrored(m, whole);
    return s;
}

stc_status mtx_read(input *in, int type, io_result *out)
{
    mtx m = {.in = *in, .out = out};
    bool whole = false;
    stc_status s = STC_OK;
    if (in->fd >= 0 && ((s = stream(&m, type, &whole)) || whole)) return s;
    io_restart(out);
    if ((s = input_complete(in))) return s;
    m = (mtx){.in = *in, .out = out};
    if ((s = read_head(&m, type))) return s;
    s = m.coordinate ? read_coordinates(&m) : read_array(&m);
    return s || !out->noted ? s : input_whole(&m.in, -1, 0);
}
