/* stt.c: opens .stt files (stt.h): the header is checked, the arrays are lent to the
 * tensor where they lie in the mapped file.
 *
 * What the arrays hold is looked at when the tensor is first used: their sums, then the
 * claims of the levels, as for a host's arrays (tensor_check). So opening takes as long
 * for any file. A file that is cut short, or was written to since it was opened, is an
 * error before each run; changes in the middle of one go unnoticed.
 */
#include "files.h"
#include "stt.h"
#include "../../formats/base/job.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

typedef struct stt_row {
    int level, role;
    array_span span;
    uint64_t sum;
} stt_row;

/* What a tensor keeps of its file. */
typedef struct stt_file {
    tensor_backing backing; /* the first, so that one is the other */
    file_bytes bytes;
    int64_t written[2]; /* when: seconds and their billionths */
    int version, count;
    stt_row row[STT_ARRAYS];
    int views; /* blocks that became the file's, where it wasn't mapped */
    struct {
        void *block;
        size_t size;
    } view[STT_ARRAYS];
} stt_file;

typedef struct stt_reader {
    ctx *cx;
    const char *path;
    const unsigned char *begin;
    int64_t len, header;
    int version, order, levels, arrays;
    tensor *t;
    stt_file *file;
} stt_reader;

static stc_status damaged(const stt_reader *r, const char *what)
{
    return fail_file(r->cx, STC_ERR_DATA, r->path, 0, "%s", what);
}

/* ---- the file behind a tensor --------------------------------------------------- */

static void modified(const file_bytes *b, int64_t when[2])
{
    struct stat st;
    when[0] = when[1] = 0;
    if (b->fd < 0 || fstat(b->fd, &st) != 0) return;
    when[0] = st.st_mtim.tv_sec;
    when[1] = st.st_mtim.tv_nsec;
}

static stc_status stt_present(ctx *cx, const tensor_backing *b)
{
    const stt_file *f = (const stt_file *)b;
    int64_t now, when[2];
    if (!file_present(&f->bytes, &now))
        return fail_file(cx, STC_ERR_DATA, b->path, 0,
                         "the file has %lld bytes now, it had %lld when it was opened",
                         (long long)now, (long long)f->bytes.len);
    modified(&f->bytes, when);
    if (when[0] != f->written[0] || when[1] != f->written[1])
        return fail_file(cx, STC_ERR_DATA, b->path, 0,
                         "the file was written to after it was opened; read it anew");
    return STC_OK;
}

static stc_status check_sums(ctx *cx, const stt_file *f)
{
    const array_span *array[STT_ARRAYS];
    uint64_t sums[STT_ARRAYS];
    for (int k = 0; k < f->count; k++)
        array[k] = &f->row[k].span;
    if (stt_sums(cx, f->version, f->count, array, NULL, sums)) return cx->diag.status;
    for (int k = 0; k < f->count; k++) {
        const stt_row *row = &f->row[k];
        const uint64_t sum = sums[k];
        if (sum == row->sum) continue;
        static const char *const roles[] = {"positions", "coordinates", "auxiliary array"};
        if (row->level == STT_VALUES)
            return fail_file(cx, STC_ERR_DATA, f->backing.path, 0,
                             "the values aren't those that were written: their sum is "
                             "%016llx, expected %016llx",
                             (unsigned long long)sum, (unsigned long long)row->sum);
        return fail_file(cx, STC_ERR_DATA, f->backing.path, 0,
                         "the %s of level %d aren't those that were written: their sum is "
                         "%016llx, expected %016llx",
                         roles[row->role], row->level, (unsigned long long)sum,
                         (unsigned long long)row->sum);
    }
    return STC_OK;
}

static stc_status stt_sound(ctx *cx, const tensor_backing *b)
{
    const stt_file *f = (const stt_file *)b;
    const bool job = job_begin(cx, "bytes checked", f->bytes.len);
    job_expect(cx, f->bytes.len / 64, 1);
    const stc_status s = check_sums(cx, f);
    if (job) job_end(cx);
    return s;
}

static void stt_end(ctx *cx, tensor_backing *b)
{
    stt_file *f = (stt_file *)b;
    for (int k = 0; k < f->views; k++)
        mem_free(cx, f->view[k].block, f->view[k].size);
    file_release(cx, &f->bytes);
    mem_strfree(cx, (char *)(uintptr_t)b->path);
    mem_free(cx, f, sizeof *f);
}

/* A backing without a file yet. */
static stc_status file_new(ctx *cx, const char *path, stt_file **out)
{
    stt_file *f = mem_zero(cx, 1, sizeof *f);
    char *own = f ? mem_strdup(cx, path) : NULL;
    if (!own) {
        mem_free(cx, f, sizeof *f);
        return cx->diag.status;
    }
    f->backing = (tensor_backing){
        .present = stt_present, .sound = stt_sound, .end = stt_end, .path = own};
    f->bytes.fd = -1;
    *out = f;
    return STC_OK;
}

stc_status stt_view_new(ctx *cx, const char *path, int fd, tensor_backing **out)
{
    stt_file *f;
    if (file_new(cx, path, &f)) return cx->diag.status;
    *out = &f->backing;
    f->bytes.fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (f->bytes.fd >= 0) return STC_OK;
    stt_end(cx, *out);
    return fail_file(cx, STC_ERR_IO, path, 0, "can't be opened: %s", strerror(errno));
}

void stt_view_add(tensor_backing *b, void *block, size_t size)
{
    stt_file *f = (stt_file *)b;
    f->view[f->views].block = block;
    f->view[f->views++].size = size;
}

void stt_view_done(tensor_backing *b)
{
    stt_file *f = (stt_file *)b;
    struct stat st;
    if (fstat(f->bytes.fd, &st) == 0) f->bytes.len = st.st_size;
    modified(&f->bytes, f->written);
}

/* ---- the header -------------------------------------------------------------------- */

bool stt_sniff(const char *p, int64_t len)
{
    return len >= 8 && !memcmp(p, STT_MAGIC, 8);
}

/* Its sum, with the eight bytes where that stands taken as zeros. */
static uint64_t header_sum(const stt_reader *r, unsigned char *copy)
{
    memcpy(copy, r->begin, (size_t)r->header);
    memset(copy + 24, 0, 8);
    return stt_sum_bytes(r->version, copy, (size_t)r->header);
}

static stc_status read_frame(stt_reader *r)
{
    const unsigned char *b = r->begin;
    unsigned char copy[STT_HEADER_MAX];
    if (!stt_sniff((const char *)b, r->len))
        return damaged(r, "isn't a .stt file: expected \\x93STT at its beginning");
    if (r->len < STT_MODES) return damaged(r, "the file ends inside its header");
    const uint64_t version = stt_get(b + 8, 4), size = stt_get(b + 16, 8);
    if (version < 1 || version > STT_VERSION)
        return fail_file(r->cx, STC_ERR_DATA, r->path, 0,
                         "version %llu of .stt files, expected 1 to %d",
                         (unsigned long long)version, STT_VERSION);
    r->version = (int)version;
    if (size != (uint64_t)r->len)
        return fail_file(r->cx, STC_ERR_DATA, r->path, 0,
                         "the file has %lld bytes, its header says %llu", (long long)r->len,
                         (unsigned long long)size);
    r->header = (int64_t)stt_get(b + 12, 4);
    if (r->header > r->len || r->header < STT_MODES || r->header > STT_HEADER_MAX)
        return damaged(r, "the header's length doesn't fit the file");
    if (header_sum(r, copy) != stt_get(b + 24, 8))
        return damaged(r, "the header isn't the one that was written: its sum differs");
    r->order = b[33];
    r->levels = b[34];
    const uint64_t arrays = stt_get(b + 36, 4), name = stt_get(b + 56, 4);
    if (b[32] >= TYPE_COUNT) return damaged(r, "the header has an unknown element type");
    if (r->order > STC_MAX_ORDER || r->levels > STC_MAX_ORDER ||
        arrays > 3 * STC_MAX_ORDER + 1)
        return damaged(r, "the header has more modes, levels or arrays than there can be");
    r->arrays = (int)arrays;
    const int64_t used = STT_MODES + 8 * r->order +
                         stt_level_bytes(r->version) * r->levels + STT_ARRAY * r->arrays;
    if (used > r->header || name > (uint64_t)(r->header - used))
        return damaged(r, "the header is too short for what it tells");
    return STC_OK;
}

static stc_status read_levels(const stt_reader *r, format *f)
{
    const unsigned char *p = r->begin + STT_MODES + 8 * r->order;
    char why[256];
    *f = (format){.order = r->order, .levels = r->levels};
    for (int l = 0; l < r->levels; l++, p += stt_level_bytes(r->version)) {
        const char *name = (const char *)p + 16;
        const size_t n = strnlen(name, STT_KIND);
        level_spec *s = &f->level[l];
        if (r->version > STT_PLAIN) s->number = (int64_t)stt_get(p + 16 + STT_KIND, 8);
        s->kind = n < STT_KIND ? level_kind_find(r->cx, name, n, s->number) : NULL;
        if (!s->kind) {
            char shown[STT_KIND + 1] = "";
            memcpy(shown, name, n);
            return fail_file(r->cx, STC_ERR_DATA, r->path, 0,
                             "level %d is of kind '%s'%s, which there isn't here", l, shown,
                             s->number ? " with a number" : "");
        }
        s->flags = p[0];
        const coded_map map = {.op = p[1],
                               .mode = p[2],
                               .mode2 = p[3],
                               .modes = p[4],
                               .k = (int64_t)stt_get(p + 8, 8)};
        if (s->flags >= 2 * FMT_INTERLEAVED || !map_decode(&map, &s->map) ||
            s->map.mode >= r->order || s->map.mode2 >= r->order)
            return fail_file(r->cx, STC_ERR_DATA, r->path, 0,
                             "level %d has a map or flags that there aren't", l);
    }
    if (format_valid(f, why, sizeof why)) return STC_OK;
    return fail_file(r->cx, STC_ERR_DATA, r->path, 0, "the format can't be: %s", why);
}

/* A tensor without arrays, of no extent until it has them: nothing of the shape's size
 * is made for it. */
static stc_status make_tensor(stt_reader *r)
{
    const int64_t none[STC_MAX_ORDER] = {0};
    const unsigned char *p = r->begin + STT_MODES;
    const stc_type type = (stc_type)r->begin[32];
    int64_t shape[STC_MAX_ORDER], fill[2]; /* aligned for any type */
    format f;
    stc_status s = read_levels(r, &f);
    if (s) return s;
    memcpy(fill, r->begin + 40, sizeof fill);
    if ((s = tensor_new(r->cx, &f, type, none, type_load(type, fill, 0), &r->t))) return s;
    for (int m = 0; m < r->order; m++)
        shape[m] = (int64_t)stt_get(p + 8 * m, 8);
    if ((s = tensor_set_shape(r->t, shape))) return s;
    for (int l = 0; l < r->levels; l++)
        for (int k = 0; k < 3; k++)
            index_free(r->cx, &r->t->level[l].a[k]);
    mem_free(r->cx, r->t->vals, (size_t)r->t->vals_cap * type_size(type));
    r->t->vals = NULL;
    r->t->nvals = r->t->vals_cap = 0;
    r->t->vals_owned = false;
    return STC_OK;
}

/* ---- the arrays --------------------------------------------------------------------- */

/* Whether the elements lie in the file, behind its header, aligned. */
static bool span_fits(const stt_reader *r, int64_t offset, int64_t n, int64_t width,
                      int64_t stride)
{
    const int64_t part = width < 8 ? width : 8;
    int64_t bytes;
    if (n < 0 || stride < width || stride > 1 << 10 || stride % part || offset % part)
        return false;
    if (offset < r->header || offset > r->len) return false;
    if (n == 0) return true;
    return size_mul(n - 1, stride, &bytes) && size_add(bytes, width, &bytes) &&
           bytes <= r->len - offset;
}

static stc_status lend_array(stt_reader *r, const unsigned char *p, stt_row *row)
{
    tensor *t = r->t;
    const int width = p[2];
    const int64_t stride = (int64_t)stt_get(p + 4, 4), offset = (int64_t)stt_get(p + 8, 8),
                  n = (int64_t)stt_get(p + 16, 8);
    *row = (stt_row){.level = p[0], .role = p[1], .sum = stt_get(p + 24, 8)};
    const bool values = row->level == STT_VALUES;
    const bool known =
        values ? width == (int)type_size(t->type) && stride == width && row->role == 0
               : row->level < r->levels && row->role <= STC_AUX &&
                     t->level[row->level].kind->arrays >> row->role & 1 &&
                     (width == 4 || width == 8);
    if (!known || !span_fits(r, offset, n, width, stride))
        return fail_file(r->cx, STC_ERR_DATA, r->path, 0,
                         "array %d of the header (level %d, role %d) isn't one of the "
                         "format's, or not within the file",
                         (int)(row - r->file->row), row->level, row->role);
    char *const data = (char *)(uintptr_t)r->begin + offset;
    row->span = (array_span){data, n, width, (int32_t)stride};
    if (values) {
        t->vals = data;
        t->nvals = t->vals_cap = n;
        return STC_OK;
    }
    t->level[row->level].a[row->role] = (index_array){
        .data = data, .len = n, .cap = n, .width = width, .stride = (int32_t)stride};
    return STC_OK;
}

/* Every array that the format has, each once. */
static stc_status lend_arrays(stt_reader *r)
{
    const unsigned char *p =
        r->begin + STT_MODES + 8 * r->order + stt_level_bytes(r->version) * r->levels;
    uint8_t seen[STC_MAX_ORDER + 1] = {0}, want[STC_MAX_ORDER + 1] = {0};
    for (int k = 0; k < r->arrays; k++, p += STT_ARRAY) {
        stt_row *row = &r->file->row[k];
        const stc_status s = lend_array(r, p, row);
        if (s) return s;
        const int l = row->level == STT_VALUES ? r->levels : row->level;
        if (seen[l] >> row->role & 1)
            return damaged(r, "the header has the same array twice");
        seen[l] |= (uint8_t)(1 << row->role);
        r->file->count++;
    }
    want[r->levels] = 1;
    for (int l = 0; l < r->levels; l++)
        want[l] = r->t->level[l].kind->arrays;
    return memcmp(seen, want, sizeof seen)
               ? damaged(r, "the header lacks an array of the format")
               : STC_OK;
}

/* The tensor takes the bytes. */
static stc_status back_tensor(stt_reader *r, input *in)
{
    stt_file *f;
    if (file_new(r->cx, r->path, &f)) return r->cx->diag.status;
    f->bytes = in->file;
    in->file = (file_bytes){.fd = -1};
    modified(&f->bytes, f->written);
    f->version = r->version;
    r->file = f;
    r->t->backing = &f->backing;
    return STC_OK;
}

stc_status stt_read(input *in, int type, io_result *out)
{
    (void)type; /* the levels are as they are; packing converts */
    stt_reader r = {.cx = in->cx,
                    .path = in->path,
                    .begin = (const unsigned char *)in->begin,
                    .len = in->end - in->begin};
    if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
        return damaged(&r, "a machine with big-endian numbers can't read .stt files");
    stc_status s = read_frame(&r);
    if (!s && (s = make_tensor(&r)) && !in->cx->diag.file[0])
        s = fail_file(in->cx, s, in->path, 0, "%s", in->cx->diag.message);
    out->whole = r.t; /* io_free has it from here on */
    if (!s) s = back_tensor(&r, in);
    if (!s) s = lend_arrays(&r);
    if (s) return s;
    r.t->vouched = in->cx->trust_files;
    r.t->generation++;
    out->kind = IO_ARRAY;
    out->type = r.t->type;
    out->order = r.order;
    memcpy(out->shape, r.t->shape, sizeof out->shape);
    return STC_OK;
}
