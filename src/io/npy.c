/* npy.c: NumPy's array files, versions 1 to 3 (NEP 1): reads them.
 *
 *     \x93NUMPY major minor, length of the header (2 or 4 bytes)
 *     {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }   then spaces, \n
 *     the elements
 *
 * All element types that we have, in either byte order, C or Fortran order.
 * What isn't an element of the shape isn't passed over: a file with bytes
 * left at its end is refused like one that is too short.
 */
#include "npy.h"
#include "number.h"
#include <string.h>

#define MAGIC "\x93NUMPY"
#define MAGIC_LENGTH 6

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define NATIVE_ORDER '>'
#else
#define NATIVE_ORDER '<'
#endif

/* NumPy's letters for a type: kind and bytes. */
typedef struct npy_type {
    char kind;
    int size;
    stc_type type;
} npy_type;

static const npy_type npy_types[] = {
    {'b', 1, STC_BOOL}, {'i', 1, STC_I8},  {'i', 2, STC_I16}, {'i', 4, STC_I32},
    {'i', 8, STC_I64},  {'u', 1, STC_U8},  {'u', 2, STC_U16}, {'u', 4, STC_U32},
    {'u', 8, STC_U64},  {'f', 4, STC_F32}, {'f', 8, STC_F64}, {'c', 8, STC_C64},
    {'c', 16, STC_C128}};

#define NPY_TYPES ((int)(sizeof npy_types / sizeof npy_types[0]))

typedef struct npy {
    input in;
    io_result *out;
    const char *header_end;
    bool swapped, fortran;
    bool has_descr, has_order, has_shape;
    bool texts; /* they are wanted */
    int text;   /* bytes of one    */
} npy;

/* ---- reading the header ----------------------------------------------- */

static stc_status bad_header(const npy *r, const char *expected)
{
    char found[24];
    size_t n = 0;
    for (const char *p = r->in.p; p < r->header_end && n < sizeof found - 1; p++)
        found[n++] = *p >= 32 && *p < 127 ? *p : '?';
    found[n] = 0;
    return fail_file(r->in.cx, STC_ERR_DATA, r->in.path, 0,
                     "byte %lld of the NumPy header: found '%s', expected %s",
                     (long long)(r->in.p - r->in.begin), found, expected);
}

bool npy_sniff(const char *p, int64_t len)
{
    return len > MAGIC_LENGTH && !memcmp(p, MAGIC, MAGIC_LENGTH);
}

static stc_status read_prefix(npy *r)
{
    input *const in = &r->in;
    const unsigned char *const b = (const unsigned char *)in->begin;
    const int64_t size = in->end - in->begin;
    if (size < 10 || memcmp(b, MAGIC, MAGIC_LENGTH) != 0)
        return fail_file(in->cx, STC_ERR_DATA, in->path, 0,
                         "isn't a NumPy file: expected \\x93NUMPY at its beginning");
    const int major = b[6];
    if (major < 1 || major > 3)
        return fail_file(in->cx, STC_ERR_DATA, in->path, 0,
                         "version %d of NumPy's format, expected 1 to 3", major);
    int64_t begin = 10, length = b[8] | b[9] << 8;
    if (major > 1) {
        begin = 12;
        if (size >= 12) length |= (int64_t)b[10] << 16 | (int64_t)b[11] << 24;
    }
    if (size < begin || length > size - begin)
        return fail_file(in->cx, STC_ERR_DATA, in->path, 0,
                         "the NumPy header should have %lld bytes, the file ends before",
                         (long long)length);
    in->p = in->begin + begin;
    r->header_end = in->p + length;
    return STC_OK;
}

static void skip_spaces(npy *r)
{
    while (r->in.p < r->header_end && is_space(*r->in.p))
        r->in.p++;
}

/* Takes one character, over spaces before it. */
static bool take(npy *r, char c)
{
    skip_spaces(r);
    if (r->in.p == r->header_end || *r->in.p != c) return false;
    r->in.p++;
    return true;
}

static bool take_word(npy *r, const char *word)
{
    const size_t n = strlen(word);
    skip_spaces(r);
    if ((size_t)(r->header_end - r->in.p) < n || memcmp(r->in.p, word, n) != 0)
        return false;
    r->in.p += n;
    return true;
}

/* A quoted text without escapes. */
static bool take_quoted(npy *r, char *buf, size_t size)
{
    skip_spaces(r);
    if (r->in.p == r->header_end || (*r->in.p != '\'' && *r->in.p != '"')) return false;
    const char quote = *r->in.p;
    const char *p = r->in.p + 1;
    size_t n = 0;
    while (p < r->header_end && *p != quote && n + 1 < size)
        buf[n++] = *p++;
    if (p == r->header_end || *p != quote) return false;
    buf[n] = 0;
    r->in.p = p + 1;
    return true;
}

static stc_status read_descr(npy *r)
{
    char text[16];
    skip_spaces(r);
    const char *const at = r->in.p;
    if (!take_quoted(r, text, sizeof text))
        return bad_header(r, "a simple element type in quotes");
    const char order = text[0];
    const bool ordered = order == '<' || order == '>' || order == '|' || order == '=';
    const char *const kind = text + ordered;
    uint64_t size;
    const char *const after = *kind ? scan_u64(kind + 1, &size) : NULL;
    for (int i = 0; after && !*after && i < NPY_TYPES; i++) {
        if (npy_types[i].kind != *kind || (uint64_t)npy_types[i].size != size) continue;
        r->out->type = npy_types[i].type;
        r->swapped = (order == '<' || order == '>') && order != NATIVE_ORDER && size > 1;
        return STC_OK;
    }
    if (r->texts && after && !*after && (*kind == 'S' || *kind == 'U') && size < 1 << 10) {
        r->text = (int)size;
        r->text *= *kind == 'U' ? 4 : 1; /* characters of 32 bits */
        return STC_OK;
    }
    if (strcmp(text, "?") == 0) {
        r->out->type = STC_BOOL;
        return STC_OK;
    }
    r->in.p = at;
    return bad_header(r, "one of b1 i1 i2 i4 i8 u1 u2 u4 u8 f4 f8 c8 c16");
}

static stc_status read_shape(npy *r)
{
    if (!take(r, '(')) return bad_header(r, "the shape in parentheses");
    int n = 0;
    /* As in Python: (4) is a number in parentheses, (4,) a shape. */
    while (!(n != 1 && take(r, ')'))) {
        if (n > 0 && !take(r, ',')) return bad_header(r, n > 1 ? "',' or ')'" : "','");
        if (n > 0 && take(r, ')')) break;
        skip_spaces(r);
        if (n == STC_MAX_ORDER) return bad_header(r, "no more than 16 sizes");
        /* The file ends in a zero byte, and the header within the file. */
        uint64_t size;
        const char *const after = scan_u64(r->in.p, &size);
        if (!after || after > r->header_end || size > INT64_MAX)
            return bad_header(r, "a size");
        r->in.p = after;
        r->out->shape[n++] = (int64_t)size;
    }
    r->out->order = n;
    return STC_OK;
}

static stc_status read_order(npy *r)
{
    r->fortran = take_word(r, "True");
    if (r->fortran || take_word(r, "False")) return STC_OK;
    return bad_header(r, "True or False");
}

static stc_status read_header(npy *r)
{
    if (!take(r, '{')) return bad_header(r, "'{'");
    while (!take(r, '}')) {
        char key[24];
        stc_status s;
        if (!take_quoted(r, key, sizeof key)) return bad_header(r, "a key in quotes");
        if (!take(r, ':')) return bad_header(r, "':'");
        if (strcmp(key, "descr") == 0) {
            s = read_descr(r);
            r->has_descr = true;
        } else if (strcmp(key, "fortran_order") == 0) {
            s = read_order(r);
            r->has_order = true;
        } else if (strcmp(key, "shape") == 0) {
            s = read_shape(r);
            r->has_shape = true;
        } else {
            s = bad_header(r, "one of the keys descr, fortran_order, shape");
        }
        if (s) return s;
        if (take(r, ',')) continue;
        if (!take(r, '}')) return bad_header(r, "',' or '}'");
        break;
    }
    if (!r->has_descr || !r->has_order || !r->has_shape)
        return bad_header(r, "the keys descr, fortran_order and shape");
    skip_spaces(r);
    return r->in.p == r->header_end ? STC_OK : bad_header(r, "the end of the header");
}

/* ---- reading the elements --------------------------------------------- */

static stc_status swap_parts(ctx *cx, char *p, int64_t n, size_t size)
{
    for (int64_t i = 0; i < n; i++, p += size) {
        if (work_due(cx, i)) return cx->diag.status;
        for (size_t a = 0, b = size - 1; a < b; a++, b--) {
            const char c = p[a];
            p[a] = p[b];
            p[b] = c;
        }
    }
    return STC_OK;
}

/* Elements that come with mode 0 fastest, into row-major order. */
static stc_status transpose(const npy *r, const char *from)
{
    const io_result *const out = r->out;
    const size_t size = type_size(out->type);
    int64_t stride[STC_MAX_ORDER], at[STC_MAX_ORDER] = {0}, place = 0, s = 1;
    for (int k = 0; k < out->order; s *= out->shape[k++])
        stride[k] = s;
    char *to = out->dense;
    for (int64_t i = 0; i < out->count; i++, to += size) {
        if (work_due(out->cx, i)) return out->cx->diag.status;
        memcpy(to, from + (size_t)place * size, size);
        for (int k = out->order - 1; k >= 0; k--) {
            place += stride[k];
            if (++at[k] < out->shape[k]) break;
            place -= stride[k] * out->shape[k];
            at[k] = 0;
        }
    }
    return STC_OK;
}

static stc_status read_elements(npy *r)
{
    io_result *const out = r->out;
    const size_t size = type_size(out->type);
    const int64_t have = r->in.end - r->header_end;
    int64_t count, bytes;
    if (!size_product(out->shape, out->order, &count) ||
        !size_mul(count, (int64_t)size, &bytes))
        return fail_file(r->in.cx, STC_ERR_OVERFLOW, r->in.path, 0,
                         "the shape has more than 2^63 bytes");
    if (bytes != have)
        return fail_file(r->in.cx, STC_ERR_DATA, r->in.path, 0,
                         "found %lld bytes after the header, expected %lld: %lld elements "
                         "of %d",
                         (long long)have, (long long)bytes, (long long)count, (int)size);
    stc_status s = dense_alloc(out);
    if (s || count == 0) return s;
    s = r->fortran && out->order > 1
            ? transpose(r, r->header_end)
            : work_copy(out->cx, out->dense, r->header_end, (size_t)bytes);
    if (!s && r->swapped) {
        const bool pair = type_is_complex(out->type);
        s = swap_parts(out->cx, out->dense, pair ? 2 * count : count,
                       pair ? size / 2 : size);
    }
    uint8_t *const b = out->dense;
    for (int64_t i = 0; !s && out->type == STC_BOOL && i < count; i++) {
        b[i] = b[i] != 0;
        if (work_due(out->cx, i)) s = out->cx->diag.status;
    }
    return s;
}

stc_status npy_read(input *in, int type, io_result *out)
{
    (void)type; /* elements are read as they are */
    npy r = {.in = *in, .out = out};
    out->kind = IO_ARRAY;
    stc_status s;
    if (!(s = read_prefix(&r)) && !(s = read_header(&r))) s = read_elements(&r);
    return s;
}

stc_status npy_text(input *in, char *out, size_t size)
{
    io_result shape = {.cx = in->cx, .path = in->path};
    npy r = {.in = *in, .out = &shape, .texts = true};
    stc_status s;
    if ((s = read_prefix(&r)) || (s = read_header(&r))) return s;
    size_t n = 0;
    for (int k = 0; k < r.text && r.in.end - r.header_end == r.text; k++)
        if (r.header_end[k] && n < size) out[n++] = r.header_end[k];
    if (!n || n == size)
        return fail_file(in->cx, STC_ERR_DATA, in->path, 0,
                         "expected one short text in this array");
    out[n] = 0;
    return STC_OK;
}

void npy_descr(stc_type t, char descr[NPY_DESCR])
{
    int n = 0;
    while (npy_types[n].type != t)
        n++;
    const npy_type *const nt = &npy_types[n];
    snprintf(descr, NPY_DESCR, "%c%c%d", nt->size == 1 ? '|' : NATIVE_ORDER, nt->kind,
             nt->size);
}
