/* pnm.c: grey and colour images of the Netpbm project: reads P2 and P5 (PGM),
 * P3 and P6 (PPM), and writes P5 and P6.
 *
 *     P5  # comments run to the end of their line
 *     width height
 *     maxval                  then one space, and the samples by rows
 *
 * A PGM is a tensor [h,w], a PPM [h,w,3]; u8 where maxval is below 256, else
 * u16 (in binary files big-endian). Samples are taken as they are, without
 * scaling by maxval. The first two bytes decide, whatever the extension says.
 *
 * Writing takes what lies in 0..65535 once rounded to the nearest integer.
 * maxval tells readers the type again: 255 for u8, 65535 for u16, 1 for bool;
 * other types have 255 if all their values fit, else 65535.
 */
#include "files.h"
#include "number.h"
#include "output.h"
#include <math.h>
#include <string.h>

#define MAXVAL 65535

typedef struct pnm {
    input in;
    io_result *out;
    bool plain;
    int64_t maxval;
} pnm;

/* ---- reading ---------------------------------------------------------- */

/* A number of the header or a plain sample, after spaces and comments. */
static stc_status read_number(pnm *r, const char *what, int64_t least, int64_t most,
                              int64_t *out)
{
    input *const in = &r->in;
    input_next(in, '#');
    const char *const at = in->p;
    uint64_t v;
    const char *const after = scan_u64(at, &v);
    if (!after || !(input_word_ends(in, after) || *after == '#'))
        return input_fail(in, at, "found %s, expected %s", input_word(in, at).text, what);
    if (v < (uint64_t)least || v > (uint64_t)most)
        return input_fail(in, at, "%s is %llu, expected %lld..%lld", what,
                          (unsigned long long)v, (long long)least, (long long)most);
    in->p = after;
    *out = (int64_t)v;
    return STC_OK;
}

bool pnm_sniff(const char *p, int64_t len)
{
    return len > 2 && p[0] == 'P' && p[1] > '0' && p[1] < '7' && is_space(p[2]);
}

static stc_status read_header(pnm *r)
{
    input *const in = &r->in;
    io_result *const out = r->out;
    const char digit = in->end - in->p >= 2 && in->p[0] == 'P' ? in->p[1] : 0;
    if (digit == '1' || digit == '4')
        return input_fail(in, in->p,
                          "a bitmap (P%c), expected grey or colour: P2, P3, P5 "
                          "or P6",
                          digit);
    if (digit != '2' && digit != '3' && digit != '5' && digit != '6')
        return input_fail(in, in->p, "isn't a PGM or PPM image: expected P2, P3, P5 or P6");
    in->p += 2;
    r->plain = digit < '4';
    const bool colour = digit == '3' || digit == '6';
    out->kind = IO_IMAGE;
    out->order = colour ? 3 : 2;
    out->shape[2] = colour ? 3 : 0;
    stc_status s;
    if ((s = read_number(r, "the width", 1, INT32_MAX, &out->shape[1])) ||
        (s = read_number(r, "the height", 1, INT32_MAX, &out->shape[0])) ||
        (s = read_number(r, "the largest value", 1, MAXVAL, &r->maxval)))
        return s;
    out->type = r->maxval > 255 ? STC_U16 : STC_U8;
    return STC_OK;
}

static void put_sample(const io_result *out, int64_t i, int64_t v)
{
    if (out->type == STC_U8)
        ((uint8_t *)out->dense)[i] = (uint8_t)v;
    else
        ((uint16_t *)out->dense)[i] = (uint16_t)v;
}

static stc_status read_plain(pnm *r)
{
    input *const in = &r->in;
    io_result *const out = r->out;
    /* A sample takes a digit and a space, the last one perhaps only the digit. */
    if (out->count > (in->end - in->p + 1) / 2)
        return input_fail(in, in->end, "the file is too short for %lld samples",
                          (long long)out->count);
    stc_status s = dense_alloc(out);
    for (int64_t i = 0; !s && i < out->count; i++) {
        int64_t v = 0;
        s = read_number(r, "a sample", 0, r->maxval, &v);
        put_sample(out, i, v);
        if (!s && input_due(in)) s = input_tick(in);
    }
    if (!s && input_next(in, '#'))
        s = input_fail(in, in->p, "found %s after the last sample",
                       input_word(in, in->p).text);
    return s;
}

static stc_status read_binary(pnm *r)
{
    input *const in = &r->in;
    io_result *const out = r->out;
    if (!is_space(*in->p))
        return input_fail(in, in->p, "expected a space between the header and the samples");
    const unsigned char *const b = (const unsigned char *)in->p + 1;
    const int64_t size = out->type == STC_U8 ? 1 : 2;
    const int64_t have = (const unsigned char *)in->end - b;
    if (have < 0 || out->count > have / size)
        return fail_file(in->cx, STC_ERR_DATA, in->path, 0,
                         "found %lld bytes of samples, expected %lld samples of %lld",
                         (long long)(have < 0 ? 0 : have), (long long)out->count,
                         (long long)size);
    stc_status s = dense_alloc(out);
    if (s) return s;
    for (int64_t i = 0; i < out->count; i++) {
        const int64_t v = size == 1 ? b[i] : b[2 * i] << 8 | b[2 * i + 1];
        if (work_due(in->cx, i)) return in->cx->diag.status;
        if (v > r->maxval)
            return fail_file(in->cx, STC_ERR_DATA, in->path, 0,
                             "sample %lld is %lld, expected 0..%lld", (long long)i,
                             (long long)v, (long long)r->maxval);
        put_sample(out, i, v);
    }
    in->p = (const char *)b + out->count * size;
    while (is_space(*in->p))
        in->p++;
    if (in->p < in->end)
        return fail_file(in->cx, STC_ERR_DATA, in->path, 0,
                         "found %lld bytes after the last sample",
                         (long long)(in->end - in->p));
    return STC_OK;
}

stc_status pnm_read(input *in, int type, io_result *out)
{
    (void)type; /* samples are read as they are */
    pnm r = {.in = *in, .out = out};
    stc_status s = read_header(&r);
    if (!s && !size_product(out->shape, out->order, &out->count))
        s = input_fail(&r.in, r.in.begin, "an image with more than 2^63 samples");
    if (!s) s = r.plain ? read_plain(&r) : read_binary(&r);
    return s;
}

/* ---- writing ---------------------------------------------------------- */

/* A value as a sample, or -1 if it is out of range. */
static int sample_of(stc_type t, value v)
{
    double d;
    switch (type_class(t)) {
    case CLASS_I64:
        return v.i64 >= 0 && v.i64 <= MAXVAL ? (int)v.i64 : -1;
    case CLASS_U64:
        return v.u64 <= MAXVAL ? (int)v.u64 : -1;
    case CLASS_F32:
        d = rint(v.f32);
        break;
    default:
        d = rint(v.f64);
        break;
    }
    return d >= 0 && d <= MAXVAL ? (int)d : -1;
}

static stc_status bad_sample(const tensor *t, const char *path, int64_t i, value v)
{
    char text[80], coords[24 * 3] = "";
    type_print(t->type, v, text, sizeof text);
    int64_t at[3];
    for (int k = t->order - 1; k >= 0; k--) {
        at[k] = i % t->shape[k];
        i /= t->shape[k];
    }
    for (int k = 0; k < t->order; k++) {
        const size_t len = strlen(coords);
        snprintf(coords + len, sizeof coords - len, "%s%lld", k ? "," : "",
                 (long long)at[k]);
    }
    return fail_file(t->cx, STC_ERR_DATA, path, 0,
                     "the value %s at (%s) can't be written as a sample, expected 0..%d",
                     text, coords, MAXVAL);
}

/* In colour, a grey sample three times. */
static stc_status write_samples(output *o, const tensor *t, const dense_view *d,
                                bool colour)
{
    int most = 0;
    for (int64_t i = 0; i < d->count; i++) {
        const value v = type_load(t->type, d->vals, i);
        const int sample = sample_of(t->type, v);
        if (work_due(t->cx, i)) return t->cx->diag.status;
        if (sample < 0) return bad_sample(t, o->path, i, v);
        if (sample > most) most = sample;
    }
    const int maxval = t->type == STC_BOOL                ? 1
                       : t->type == STC_U16 || most > 255 ? MAXVAL
                                                          : 255;
    output_text(o, "P%c\n%lld %lld\n%d\n", colour ? '6' : '5', (long long)t->shape[1],
                (long long)t->shape[0], maxval);
    for (int64_t i = 0; i < d->count && !o->status; i++) {
        const int sample = sample_of(t->type, type_load(t->type, d->vals, i));
        for (int k = 0; k < (colour && t->order == 2 ? 3 : 1); k++) {
            if (maxval > 255) output_char(o, (char)(sample >> 8));
            output_char(o, (char)(sample & 255));
        }
    }
    return STC_OK;
}

static stc_status check_image(const tensor *t, const char *path, bool colour)
{
    if (t->order != 2 && !(colour && t->order == 3 && t->shape[2] == 3))
        return fail_file(t->cx, STC_ERR_ARGUMENT, path, 0,
                         "a tensor of order %d can't be written as an image, expected %s",
                         t->order, colour ? "[h,w,3] or [h,w]" : "[h,w]");
    if (t->shape[0] == 0 || t->shape[1] == 0)
        return fail_file(t->cx, STC_ERR_ARGUMENT, path, 0,
                         "a tensor without elements can't be written as an image");
    if (type_is_complex(t->type))
        return fail_file(t->cx, STC_ERR_ARGUMENT, path, 0,
                         "complex values can't be written as an image");
    return STC_OK;
}

static stc_status image_write(const tensor *t, const char *path, bool colour)
{
    stc_status s = check_image(t, path, colour);
    if (s) return s;
    output o;
    if ((s = output_open(&o, t->cx, path))) return s;
    dense_view d;
    if (!(s = dense_open(t, &d))) {
        s = write_samples(&o, t, &d, colour);
        dense_close(&d);
    }
    return output_close(&o, s);
}

stc_status pgm_write(const tensor *t, const char *path)
{
    return image_write(t, path, false);
}

stc_status ppm_write(const tensor *t, const char *path)
{
    return image_write(t, path, true);
}
