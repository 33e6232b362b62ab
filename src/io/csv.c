/* csv.c: reads text tables (RFC 4180, with what is usual beyond it): fields between commas,
 * or tabs in a .tsv, quoted or not.
 *
 * Two kinds are told by the first line. A heading whose last name is `value` (or whose
 * last two are `real` and `imag`) is that of entries, coordinates from 0 before them:
 *
 *     i:3,j:4,value:f64:2        the sizes, the type and how many entries there are may
 *                                be left out
 *     0,1,2.5
 *
 * Anything else is a table, a row a line, under a heading or none. What is missing, an
 * empty field or NA, is the fill. A table of whole numbers is i64, others are f64.
 */
#include "files.h"
#include "lines.h"
#include "number.h"
#include <string.h>
#include <strings.h>

enum { FIELD = 64 }; /* no number, and no name that tells something, is longer */

typedef struct csv {
    input in;
    io_result *out;
    char separator;
    int fields; /* of each line */
    bool pairs; /* complex values */
    bool shaped[STC_MAX_ORDER];
    int64_t claimed; /* entries; -1: it isn't said */
    vclass cls;
    int64_t rows, missing; /* of a table */
    bool whole;            /* all of a table's numbers are */
} csv;

/* ---- fields ------------------------------------------------------------------------- */

/* A field: what is in it, without its quotes and the blanks around it. */
typedef struct field {
    const char *at; /* for messages */
    const char *text;
    char copy[FIELD];
} field;

static bool ends_field(const csv *r, const char *p)
{
    return *p == r->separator || is_line_end(*p) || p == r->in.end;
}

/* A quoted field at the reader's place; what doesn't fit is cut, since it is no number. */
static stc_status take_quoted(csv *r, field *f)
{
    input *const in = &r->in;
    const char *const at = in->p++;
    size_t n = 0;
    for (;; in->p++) {
        if (in->p == in->end) return input_fail(in, at, "a quoted field without its end");
        if (*in->p == '"' && *++in->p != '"') break;
        if (n + 1 < sizeof f->copy) f->copy[n++] = *in->p;
    }
    f->copy[n] = 0;
    f->text = f->copy;
    return STC_OK;
}

/* The field at the reader's place, which moves to what ends it. */
static stc_status take_field(csv *r, field *f)
{
    input *const in = &r->in;
    while (*in->p == ' ' || (*in->p == '\t' && r->separator != '\t'))
        in->p++;
    f->at = f->text = in->p;
    if (*in->p == '"') {
        const stc_status s = take_quoted(r, f);
        if (s) return s;
        input_skip_blanks(in);
        if (ends_field(r, in->p)) return STC_OK;
        return input_fail(in, in->p, "found %s after a quoted field",
                          input_word(in, in->p).text);
    }
    while (!ends_field(r, in->p))
        in->p++;
    return STC_OK;
}

/* Whether the field goes on behind a separator; the reader moves over that. */
static bool next_field(csv *r)
{
    if (*r->in.p != r->separator || r->in.p == r->in.end) return false;
    r->in.p++;
    return true;
}

static bool next_line(csv *r)
{
    while (is_line_end(*r->in.p) || (*r->in.p == ' ' && r->separator != ' '))
        r->in.p++;
    return r->in.p < r->in.end;
}

/* Whether nothing but blanks follows in the field. */
static bool ends_here(const csv *r, const field *f, const char *p)
{
    while (*p == ' ')
        p++;
    return f->text == f->copy ? !*p : ends_field(r, p);
}

static bool is_missing(const csv *r, const field *f)
{
    const bool word = !strncmp(f->text, "NA", 2) && ends_here(r, f, f->text + 2);
    return word || ends_here(r, f, f->text);
}

static const char *scan_field(const csv *r, const field *f, vclass c, value *v)
{
    const char *const after = scan_value(c, f->text, v);
    return after && ends_here(r, f, after) ? after : NULL;
}

static stc_status wrong_count(csv *r, const char *line, int found)
{
    return input_fail(&r->in, line, "found %d fields, expected %d, as in the first line",
                      found, r->fields);
}

/* ---- entries -------------------------------------------------------------------- */

/* `name:word` in two: the name remains, the word is given. */
static char *split(char *name)
{
    char *const colon = strchr(name, ':');
    if (!colon) return NULL;
    *colon = 0;
    return colon + 1;
}

static stc_status take_name(csv *r, char name[FIELD])
{
    field f;
    const stc_status s = take_field(r, &f);
    size_t n = (size_t)(r->in.p - f.text);
    if (s) return s;
    if (f.text == f.copy) n = strlen(f.copy);
    if (n >= FIELD) n = FIELD - 1;
    memcpy(name, f.text, n);
    while (n && name[n - 1] == ' ')
        n--;
    name[n] = 0;
    return STC_OK;
}

static bool is_name(const char *name, const char *word)
{
    const size_t n = strlen(word);
    return !strncasecmp(name, word, n) && (!name[n] || name[n] == ':');
}

/* The sizes and the type that a heading's names tell. */
static stc_status read_names(csv *r, char name[][FIELD], const char *at, int type)
{
    io_result *const out = r->out;
    stc_type t = r->pairs ? STC_C128 : STC_F64;
    out->order = r->fields - 1 - r->pairs;
    for (int k = 0; k < out->order; k++) {
        const char *size = split(name[k]), *after;
        if (!size) continue;
        r->shaped[k] = true;
        after = scan_i64(size, &out->shape[k]);
        if (!after || *after || out->shape[k] < 0)
            return input_fail(&r->in, at, "found '%s', expected the size of mode %d", size,
                              k);
    }
    char *word = split(name[r->fields - 1]);
    const char *count = word ? split(word) : NULL, *after;
    if (count && (!(after = scan_i64(count, &r->claimed)) || *after || r->claimed < 0))
        return input_fail(&r->in, at, "found '%s', expected the number of entries", count);
    if (word && !type_parse(word, strlen(word), &t))
        return input_fail(&r->in, at, "found '%s', expected an element type", word);
    if (r->pairs != type_is_complex(t))
        return input_fail(&r->in, at, "type %s has %s columns of values", type_name(t),
                          r->pairs ? "no two" : "two");
    if (type >= 0 && (!r->pairs || type_is_complex((stc_type)type))) t = (stc_type)type;
    r->cls = type_class(t);
    out->type = t;
    return STC_OK;
}

/* A heading that the file ends in isn't all of it. */
static stc_status heading_ends(const csv *r)
{
    if (r->in.p < r->in.end || r->in.fd >= 0) return STC_OK;
    return input_fail(&r->in, r->in.p, "the file ends in its heading");
}

/* The first line, if it is the heading of entries; else nothing is read. */
static stc_status read_heading(csv *r, int type, bool *listed)
{
    input *const in = &r->in;
    const char *const at = in->p;
    char name[STC_MAX_ORDER + 2][FIELD];
    int n = 0;
    stc_status s;
    *listed = false;
    do {
        if (n == STC_MAX_ORDER + 2) goto table;
        if ((s = take_name(r, name[n++]))) return s;
    } while (next_field(r));
    r->pairs = n > 1 && is_name(name[n - 1], "imag") && is_name(name[n - 2], "real");
    if (!r->pairs && !is_name(name[n - 1], "value")) goto table;
    *listed = true;
    r->fields = n;
    if ((s = read_names(r, name, at, type))) return s;
    return heading_ends(r);
table:
    in->p = at;
    return STC_OK;
}

static stc_status read_coordinate(csv *r, int k)
{
    io_result *const out = r->out;
    field f;
    int64_t i;
    const stc_status s = take_field(r, &f);
    if (s) return s;
    const char *const after = scan_i64(f.text, &i);
    if (!after || !ends_here(r, &f, after) || i < 0 || i == INT64_MAX)
        return input_fail(&r->in, f.at, "found %s, expected a coordinate from 0 on",
                          input_word(&r->in, f.at).text);
    if (r->shaped[k] && i >= out->shape[k])
        return input_fail(&r->in, f.at, "coordinate %lld of mode %d isn't in 0..%lld",
                          (long long)i, k, (long long)out->shape[k] - 1);
    if (i >= out->shape[k]) out->shape[k] = i + 1;
    out->e.coord[k][out->e.n] = i;
    return STC_OK;
}

/* One value, or both parts of one; missing: there is none. */
static stc_status read_value(csv *r, value *v, bool *missing)
{
    const vclass part = !r->pairs ? r->cls : r->cls == CLASS_C64 ? CLASS_F32 : CLASS_F64;
    value w[2] = {{0}};
    field f;
    for (int k = 0; k <= r->pairs; k++) {
        if (k && !next_field(r)) return wrong_count(r, r->in.p, r->fields - 1);
        const stc_status s = take_field(r, &f);
        if (s) return s;
        *missing = is_missing(r, &f);
        if (!*missing && !scan_field(r, &f, part, &w[k]))
            return input_fail(&r->in, f.at, "found %s, expected a number",
                              input_word(&r->in, f.at).text);
    }
    *v = !r->pairs           ? w[0]
         : part == CLASS_F32 ? value_complex(CLASS_C64, w[0].f32, w[1].f32)
                             : value_complex(CLASS_C128, w[0].f64, w[1].f64);
    return STC_OK;
}

static stc_status read_entry(csv *r)
{
    entries *const e = &r->out->e;
    const char *const line = r->in.p;
    value v;
    bool missing;
    stc_status s;
    for (int k = 0; k < r->out->order; k++) {
        if ((s = read_coordinate(r, k))) return s;
        if (!next_field(r)) return wrong_count(r, line, k + 1);
    }
    if ((s = read_value(r, &v, &missing))) return s;
    if (next_field(r)) return wrong_count(r, line, r->fields + 1);
    if (!missing) type_store(r->out->type, e->vals, e->n++, v);
    return STC_OK;
}

static stc_status read_entries(csv *r)
{
    entries *const e = &r->out->e;
    const int64_t lines = input_lines_left(&r->in),
                  possible = (r->in.end - r->in.p) / (2 * r->fields) + 1;
    r->out->sparse = true;
    r->out->kind = IO_TENSOR;
    entries_init(e, r->in.cx, r->out->order, r->out->type);
    stc_status s = entries_reserve(e, lines < possible ? lines : possible);
    while (!s && next_line(r)) {
        if (e->n == e->cap) s = entries_reserve(e, 2 * e->cap);
        if (!s) s = read_entry(r);
        if (!s && input_due(&r->in)) s = input_tick(&r->in);
    }
    return s || r->claimed < 0 ? s : input_whole(&r->in, r->claimed, e->n);
}

/* Sizes of modes that the heading doesn't tell, by the entries. */
static stc_status find_sizes(csv *r)
{
    io_result *const out = r->out;
    entries *const e = &out->e;
    for (int k = 0; k < out->order; k++) {
        int32_t most = -1;
        for (int64_t i = 0, end; (end = work_block(e->cx, i, e->n)) > i;)
            for (; i < end; i++)
                most = e->narrow[k][i] > most ? e->narrow[k][i] : most;
        if (!r->shaped[k]) out->shape[k] = (int64_t)most + 1;
    }
    return e->n ? work_done(e->cx, 0) : STC_OK;
}

/* Entries of a file that isn't in memory, if all of its lines are ordinary ones. */
static stc_status stream_entries(csv *r, bool *whole)
{
    io_result *const out = r->out;
    int64_t limit[STC_MAX_ORDER];
    *whole =
        out->order > 0 && next_line(r) && (out->type == STC_F64 || out->type == STC_I64);
    for (int k = 0; k < out->order; k++) {
        limit[k] = r->shaped[k] ? out->shape[k] : INT32_MAX;
        *whole &= limit[k] <= INT32_MAX;
    }
    if (!*whole) return STC_OK;
    const line_form f = {.separator = r->separator, .values = 1, .limit = limit};
    out->sparse = true;
    out->kind = IO_TENSOR;
    entries_init(&out->e, r->in.cx, out->order, out->type);
    out->e.is_narrow = true;
    const stc_status s = lines_stream(&r->in, &out->e, &f, r->claimed, whole);
    *whole &= r->claimed < 0 || input_ended(&r->in);
    return s || !*whole ? s : find_sizes(r);
}

/* ---- tables --------------------------------------------------------------------- */

/* Each field of the line at the reader's place to `take`. */
typedef stc_status (*field_taker)(csv *r, const field *f, int column);
static stc_status read_line(csv *r, field_taker take)
{
    const char *const line = r->in.p;
    int n = 0;
    do {
        field f;
        stc_status s = take_field(r, &f);
        if (!s) s = take(r, &f, n);
        if (s) return s;
        if (n++ == INT32_MAX - 1) return input_fail(&r->in, line, "too many fields");
    } while (next_field(r));
    if (!r->fields) r->fields = n;
    return n == r->fields ? STC_OK : wrong_count(r, line, n);
}

static stc_status look_at(csv *r, const field *f, int column)
{
    value v;
    int64_t i;
    const char *after;
    (void)column;
    if (is_missing(r, f)) {
        r->missing++;
        return STC_OK;
    }
    if ((after = scan_i64(f->text, &i)) && ends_here(r, f, after)) return STC_OK;
    r->whole = false;
    if (scan_field(r, f, CLASS_F64, &v)) return STC_OK;
    return input_fail(&r->in, f->at, "found %s, expected a number",
                      input_word(&r->in, f->at).text);
}

/* A missing element isn't an entry. */
static stc_status store_entry(csv *r, const field *f, int column)
{
    entries *const e = &r->out->e;
    value v = {0};
    if (is_missing(r, f)) return STC_OK;
    scan_field(r, f, r->cls, &v);
    e->coord[0][e->n] = r->rows;
    e->coord[1][e->n] = column;
    type_store(r->out->type, e->vals, e->n++, v);
    return STC_OK;
}

static stc_status store_element(csv *r, const field *f, int column)
{
    value v = {0};
    scan_field(r, f, r->cls, &v);
    type_store(r->out->type, r->out->dense, r->rows * r->fields + column, v);
    return STC_OK;
}

static stc_status read_lines(csv *r, field_taker take)
{
    stc_status s = STC_OK;
    for (r->rows = 0; !s && next_line(r); r->rows++) {
        s = read_line(r, take);
        if (!s && input_due(&r->in)) s = input_tick(&r->in);
    }
    return s;
}

static stc_status skip_name(csv *r, const field *f, int column)
{
    value v;
    (void)column;
    if (!is_missing(r, f) && !scan_field(r, f, CLASS_F64, &v)) r->whole = false;
    return STC_OK;
}

/* Past the first line, if it has anything but numbers. */
static stc_status skip_heading(csv *r)
{
    const char *const at = r->in.p;
    r->whole = true;
    stc_status s = read_line(r, skip_name);
    if (r->whole)
        r->in.p = at;
    else if (!s)
        s = heading_ends(r);
    return s;
}

/* Twice: the first time tells the size and the type. */
static stc_status read_table(csv *r, int type)
{
    io_result *const out = r->out;
    stc_status s = skip_heading(r);
    const char *const begin = r->in.p, *const tick = r->in.tick;
    r->whole = true;
    if (!s) s = read_lines(r, look_at);
    if (s) return s;
    const int64_t count = r->rows * r->fields; /* each has a byte of the file */
    out->type = type >= 0 ? (stc_type)type : r->whole ? STC_I64 : STC_F64;
    r->cls = type_class(out->type);
    out->order = 2;
    out->shape[0] = r->rows;
    out->shape[1] = r->fields;
    out->kind = IO_MATRIX;
    r->in.p = begin;
    r->in.tick = tick;
    if (!r->missing) return (s = dense_alloc(out)) ? s : read_lines(r, store_element);
    out->sparse = out->formatted = true;
    format_builtin("dense", 5, 2, NULL, 0, &out->fmt);
    entries_init(&out->e, r->in.cx, 2, out->type);
    if ((s = entries_reserve(&out->e, count - r->missing))) return s;
    return read_lines(r, store_entry);
}

/* The elements that were streamed become the array, in no more room than they need. */
static stc_status take_elements(csv *r, entries *e)
{
    io_result *const out = r->out;
    const size_t size = type_size(out->type);
    out->order = 2;
    out->shape[0] = e->n;
    out->shape[1] = r->fields;
    out->kind = IO_MATRIX;
    out->count = e->n * r->fields;
    out->dense =
        mem_resize(e->cx, e->vals, (size_t)e->cap * size, (size_t)out->count * size);
    if (!out->dense) return e->cx->diag.status;
    e->vals = NULL;
    e->cap = 0;
    return STC_OK;
}

/* A table that isn't in memory, if all of its lines are ordinary ones, and its numbers as
 * whole as those of the first line. */
static stc_status stream_table(csv *r, int type, bool *whole)
{
    *whole = !skip_heading(r);
    const char *const begin = r->in.p, *const tick = r->in.tick;
    r->whole = true;
    *whole &= next_line(r) && !read_line(r, look_at) && r->fields > 0 && !r->missing;
    const stc_type t = type >= 0 ? (stc_type)type : r->whole ? STC_I64 : STC_F64;
    if (!*whole || (t != STC_I64 && t != STC_F64)) return (*whole = false), STC_OK;
    r->in.p = begin;
    r->in.tick = tick;
    while (is_line_end(*r->in.p))
        r->in.p++;
    entries e;
    const line_form f = {.separator = r->separator, .values = r->fields};
    entries_init(&e, r->in.cx, 0, r->out->type = t);
    stc_status s = lines_stream(&r->in, &e, &f, -1, whole);
    *whole &= e.n > 0;
    if (!s && *whole) s = take_elements(r, &e);
    entries_free(&e);
    return s;
}

/* To the first line, and what kind of table it says there is. */
static stc_status read_kind(csv *r, int type, bool *listed)
{
    input *const in = &r->in;
    if (!next_line(r))
        return input_fail(in, in->p, "the file has no lines, expected a table");
    return read_heading(r, type, listed);
}

static stc_status table_read(input *in, int type, io_result *out, char separator)
{
    csv r = {.in = *in, .out = out, .separator = separator, .claimed = -1};
    bool listed = false, whole = false;
    stc_status s = STC_OK;
    if (in->fd >= 0) {
        if (!read_kind(&r, type, &listed))
            s = listed ? stream_entries(&r, &whole) : stream_table(&r, type, &whole);
        if (s || whole) return s;
        diag_clear(in->cx);
        io_restart(out);
        if ((s = input_complete(in))) return s;
        r = (csv){.in = *in, .out = out, .separator = separator, .claimed = -1};
    }
    if ((s = read_kind(&r, type, &listed))) return s;
    return listed ? read_entries(&r) : read_table(&r, type);
}

stc_status csv_read(input *in, int type, io_result *out)
{
    return table_read(in, type, out, ',');
}

stc_status tsv_read(input *in, int type, io_result *out)
{
    return table_read(in, type, out, '\t');
}
