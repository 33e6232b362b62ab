/* stt_write.c: writes .stt files (stt.h): a tensor's levels and values as they are.
 *
 * The arrays are summed first, so that the file is written from its beginning to its end,
 * also to a pipe; those in files have had their sums made while they were written, where
 * that can be. Levels that share a buffer share one in the file.
 *
 * Arrays that were too large for memory lie in a file already (spill.h). That file takes
 * the name then, if it can, and only what it lacks is written. The tensor keeps its arrays
 * where they are in memory, but they are the file's now, as if it had been read.
 */
#include "files.h"
#include "output.h"
#include "stt.h"
#include "../../formats/base/job.h"
#include "../../formats/base/spill.h"
#include <errno.h>
#include <string.h>

typedef struct stt_array {
    int level, role;
    array_span span; /* in memory                                        */
    int32_t stride;  /* in the file                                      */
    int64_t offset;
    int shared, member; /* of a buffer that `shared` levels share; which */
    size_t owned;       /* bytes of the tensor's own block, 0: it is another's */
    bool there;         /* in the file already                           */
    uint64_t sum;
} stt_array;

typedef struct stt_writer {
    const tensor *t;
    int count;
    stt_array array[STT_ARRAYS];
    int64_t header, size;
    int64_t there; /* where the arrays end that are in the file already; 0: none are */
} stt_writer;

/* ---- where everything goes --------------------------------------------------- */

/* How many levels from l on share their buffer as an array of structs. */
static int shared_levels(const tensor *t, int l)
{
    const index_array *first = &t->level[l].a[STC_CRD];
    int n = 1;
    if (!(t->fmt.level[l].flags & FMT_INTERLEAVED)) return 1;
    for (; l + n < t->fmt.levels; n++) {
        const level_kind *k = t->fmt.level[l + n].kind;
        const index_array *a = &t->level[l + n].a[STC_CRD];
        if (!(k->props & PROP_BRANCHLESS) || !(k->arrays >> STC_CRD & 1)) break;
        if (a->width != first->width || a->len != first->len) return 1;
    }
    return n;
}

static void list_level(stt_writer *w, int l, int member, int shared)
{
    const level *lv = &w->t->level[l];
    for (int r = 0; r < 3; r++) {
        const index_array *a = &lv->a[r];
        if (!(lv->kind->arrays >> r & 1)) continue;
        const bool in = r == STC_CRD && shared > 1;
        w->array[w->count++] = (stt_array){
            .level = l,
            .role = r,
            .span = {a->data, a->len, a->width, a->stride},
            .stride = in ? a->width * shared : a->width,
            .shared = in ? shared : 1,
            .member = in ? member : 0,
            .owned = a->owned ? (size_t)a->cap * (size_t)a->stride : 0,
        };
    }
}

static void list_arrays(stt_writer *w)
{
    const tensor *t = w->t;
    int shared = 0, first = 0;
    for (int l = 0; l < t->fmt.levels; l++) {
        if (l >= first + shared) {
            first = l;
            shared = shared_levels(t, l);
        }
        list_level(w, l, l - first, shared);
    }
    const int32_t size = (int32_t)type_size(t->type);
    w->array[w->count++] =
        (stt_array){.level = STT_VALUES,
                    .span = {t->vals, t->nvals, size, size},
                    .stride = size,
                    .shared = 1,
                    .owned = t->vals_owned ? (size_t)(t->vals_cap * size) : 0};
}

static int64_t align(int64_t n)
{
    return (n + STT_ALIGN - 1) / STT_ALIGN * STT_ALIGN;
}

static int version_of(const format *f)
{
    for (int l = 0; l < f->levels; l++)
        if (f->level[l].number) return STT_VERSION;
    return STT_PLAIN;
}

/* Offsets; memory holds all of it, so no sum overflows. */
static void place_arrays(stt_writer *w)
{
    const tensor *t = w->t;
    const int levels = stt_level_bytes(version_of(&t->fmt)) * t->fmt.levels;
    w->header = align(STT_MODES + 8 * t->order + levels + STT_ARRAY * w->count);
    w->size = w->there ? w->there : w->header;
    for (int k = 0; k < w->count; k++) {
        stt_array *a = &w->array[k];
        if (a->there) continue;
        if (a->member) { /* inside the block of the first one */
            int first = k;
            while (w->array[first].level + a->member > a->level ||
                   w->array[first].role != STC_CRD)
                first--;
            a->offset = w->array[first].offset + a->member * a->span.width;
            continue;
        }
        a->offset = align(w->size);
        w->size = a->offset + a->span.n * a->stride;
    }
}

/* ---- the header ---------------------------------------------------------------- */

static void put_level(unsigned char *p, const level_spec *s, int version)
{
    const coded_map m = map_code(&s->map);
    p[0] = s->flags;
    p[1] = m.op;
    p[2] = m.mode;
    p[3] = m.mode2;
    p[4] = m.modes;
    stt_put(p + 8, 8, (uint64_t)m.k);
    memcpy(p + 16, s->kind->name, strlen(s->kind->name)); /* below 64, see kinds */
    if (version > STT_PLAIN) stt_put(p + 16 + STT_KIND, 8, (uint64_t)s->number);
}

static void put_array(unsigned char *p, const stt_array *a)
{
    p[0] = (unsigned char)a->level;
    p[1] = (unsigned char)a->role;
    p[2] = (unsigned char)a->span.width;
    stt_put(p + 4, 4, (uint64_t)a->stride);
    stt_put(p + 8, 8, (uint64_t)a->offset);
    stt_put(p + 16, 8, (uint64_t)a->span.n);
    stt_put(p + 24, 8, a->sum);
}

static void write_header(const stt_writer *w, output *o)
{
    const tensor *t = w->t;
    const int version = version_of(&t->fmt);
    unsigned char header[STT_MODES + STC_MAX_ORDER * (8 + STT_LEVEL) +
                         STT_ARRAYS * STT_ARRAY + STT_ALIGN] = {0};
    unsigned char *p = header + STT_MODES;
    memcpy(header, STT_MAGIC, 8);
    stt_put(header + 8, 4, (uint64_t)version);
    stt_put(header + 12, 4, (uint64_t)w->header);
    stt_put(header + 16, 8, (uint64_t)w->size);
    header[32] = (unsigned char)t->type;
    header[33] = (unsigned char)t->order;
    header[34] = (unsigned char)t->fmt.levels;
    stt_put(header + 36, 4, (uint64_t)w->count);
    type_store(t->type, header + 40, 0, t->fill);
    for (int m = 0; m < t->order; m++, p += 8)
        stt_put(p, 8, (uint64_t)t->shape[m]);
    for (int l = 0; l < t->fmt.levels; l++, p += stt_level_bytes(version))
        put_level(p, &t->fmt.level[l], version);
    for (int k = 0; k < w->count; k++, p += STT_ARRAY)
        put_array(p, &w->array[k]);
    stt_put(header + 24, 8, stt_sum_bytes(version, header, (size_t)w->header));
    output_bytes(o, header, (size_t)w->header);
}

/* ---- the arrays ------------------------------------------------------------------ */

static void write_zeros(output *o, int64_t n)
{
    static const char zeros[STT_ALIGN];
    if (n > 0) output_bytes(o, zeros, (size_t)n);
}

/* Array k and those that share its block. */
static void write_array(const stt_writer *w, int k, output *o)
{
    const stt_array *a = &w->array[k];
    const array_span *s = &a->span;
    if (a->shared == 1 && s->stride == s->width) {
        output_bytes(o, s->data, (size_t)(s->n * s->width));
        return;
    }
    const array_span *member[STC_MAX_ORDER] = {s};
    for (int m = 1, at = k; m < a->shared; at++)
        if (w->array[at].member == m) member[m++] = &w->array[at].span;
    for (int64_t i = 0; i < s->n && !o->status; i++)
        for (int m = 0; m < a->shared; m++)
            output_bytes(o, member[m]->data + i * member[m]->stride, (size_t)s->width);
}

/* ---- arrays that are in a file already --------------------------------------------- */

/* The arrays that lie in files, with the numbers that they have here. */
static int list_parts(const stt_writer *w, spill_part *part, int *number)
{
    int n = 0;
    for (int k = 0; k < w->count; k++) {
        const array_span *s = &w->array[k].span;
        if (w->array[k].shared > 1 || s->stride != s->width || s->n == 0) continue;
        if (!mem_in_file(w->t->cx, s->data, w->array[k].owned)) continue;
        part[n] = (spill_part){(void *)(uintptr_t)s->data, (size_t)(s->n * s->width), 0};
        number[n++] = k;
    }
    return n;
}

/* Array k isn't the tensor's own any more. */
static void lend_array(stt_writer *w, int k, tensor_backing *file)
{
    tensor *t = (tensor *)(uintptr_t)w->t; /* what it holds stays */
    const stt_array *a = &w->array[k];
    stt_view_add(file, (void *)(uintptr_t)a->span.data, a->owned);
    if (a->level == STT_VALUES) {
        t->vals_owned = false;
        t->vals_cap = t->nvals;
    } else {
        index_array *own = &t->level[a->level].a[a->role];
        own->owned = false;
        own->cap = own->len;
    }
}

/* The file that they lie in becomes the one that is written, if that can be; there is a
 * `file` then, which the tensor has from here on. */
static stc_status use_parts(stt_writer *w, output *o, tensor_backing **file)
{
    ctx *cx = w->t->cx;
    spill_part part[STT_ARRAYS];
    int number[STT_ARRAYS];
    *file = NULL;
    if (!cx->spill || w->t->backing) return STC_OK;
    const int n = list_parts(w, part, number), fd = spill_shared(cx, part, n);
    if (fd < 0) return STC_OK;
    tensor_backing *views;
    if (stt_view_new(cx, o->path, fd, &views)) return cx->diag.status;
    if (!output_adopt(o, fd)) {
        views->end(cx, views);
        return STC_OK;
    }
    bool viewed;
    if (!spill_take(cx, part, n, &viewed))
        o->status =
            fail_file(cx, STC_ERR_IO, o->path, 0, "can't be written: %s", strerror(errno));
    if (!viewed) {
        views->end(cx, views);
        return o->status;
    }
    for (int k = 0; k < n; k++) {
        stt_array *a = &w->array[number[k]];
        const int64_t end = (int64_t)part[k].offset + (int64_t)part[k].used;
        lend_array(w, number[k], views);
        a->there = true;
        a->offset = (int64_t)part[k].offset;
        if (end > w->there) w->there = end;
    }
    ((tensor *)(uintptr_t)w->t)->backing = *file = views;
    return o->status;
}

/* ---- all of it --------------------------------------------------------------------- */

static stc_status sum_arrays(stt_writer *w)
{
    const tensor *t = w->t;
    const array_span *array[STT_ARRAYS];
    void *in[STT_ARRAYS] = {NULL}, *block[STT_ARRAYS];
    uint64_t sum[STT_ARRAYS];
    spill_part part[STT_ARRAYS];
    int number[STT_ARRAYS], left = 0;
    const int filed = t->cx->spill && !t->backing ? list_parts(w, part, number) : 0;
    for (int k = 0; k < filed; k++)
        in[number[k]] = part[k].block;
    for (int k = 0; k < w->count; k++) {
        stt_array *a = &w->array[k];
        const size_t size = (size_t)(a->span.n * a->span.width);
        if (in[k] && t->summed == t->generation && spill_summed(in[k], size, &a->sum))
            continue;
        array[left] = &a->span;
        block[left] = in[k];
        number[left++] = k;
    }
    if (stt_sums(t->cx, STT_VERSION, left, array, block, sum)) return t->cx->diag.status;
    for (int k = 0; k < left; k++)
        w->array[number[k]].sum = sum[k];
    return STC_OK;
}

static void write_arrays(const stt_writer *w, output *o)
{
    int64_t at = w->header;
    if (w->there) output_at(o, at = w->there);
    for (int k = 0; k < w->count && !o->status; k++) {
        const stt_array *a = &w->array[k];
        if (a->member || a->there) continue;
        write_zeros(o, a->offset - at);
        write_array(w, k, o);
        at = a->offset + a->span.n * a->stride;
    }
}

static stc_status write_all(stt_writer *w, output *o, tensor_backing **file)
{
    list_arrays(w);
    place_arrays(w);
    const bool job = job_begin(o->cx, "bytes written", w->size);
    job_expect(o->cx, w->size / 64, 0.2); /* the sums ahead of the writing */
    o->total = w->size;
    stc_status s = sum_arrays(w);
    job_expect(o->cx, 0, 1);
    if (!s) s = use_parts(w, o, file);
    if (!s && *file) place_arrays(w); /* behind those that are there */
    if (!s) write_header(w, o);
    if (!s) write_arrays(w, o);
    if (job) job_end(o->cx);
    return s;
}

stc_status stt_write(const tensor *t, const char *path)
{
    stt_writer w = {.t = t};
    tensor_backing *file = NULL;
    output o;
    stc_status s = STC_OK;
    if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
        return fail_file(t->cx, STC_ERR_ARGUMENT, path, 0,
                         "a machine with big-endian numbers can't write .stt files");
    if ((s = output_open(&o, t->cx, path))) return s;
    s = output_close(&o, write_all(&w, &o, &file));
    if (file) stt_view_done(file);
    return s;
}
