/* check_stt.c: .stt files, and Binsparse's: what is written comes back to the bit, for
 * every type, format and fill; damage is told, wherever it is; a file that changes while
 * it is open, too. */
#include "../src/api/api.h"
#include "check.h"
#include "../formats/base/spill.h"
#include "../formats/base/sum.h"
#include "../src/io/stt.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static char path[SCRATCH_PATH];

static char archive[SCRATCH_PATH];

static void setup(void)
{
    scratch(path, "t.stt");
    scratch(archive, "t.bsp.npz");
}

static void teardown(void)
{
    unlink(path);
    unlink(archive);
}

static void spill(const void *bytes, size_t size)
{
    FILE *f = fopen(path, "wb");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(bytes, 1, size, f), size);
    fclose(f);
}

/* Every array has the same elements, of the same width. */
static void same(const tensor *a, const tensor *b, const char *what)
{
    ck_assert_msg(format_equal(&a->fmt, &b->fmt), "%s: the format", what);
    ck_assert_int_eq(a->type, b->type);
    ck_assert_msg(class_equal(type_class(a->type), a->fill, b->fill), "%s: the fill", what);
    ck_assert_int_eq(a->order, b->order);
    for (int m = 0; m < a->order; m++)
        ck_assert_int_eq(a->shape[m], b->shape[m]);
    for (int l = 0; l < a->fmt.levels; l++)
        for (int r = 0; r < 3; r++) {
            const index_array *x = &a->level[l].a[r], *y = &b->level[l].a[r];
            if (!(a->level[l].kind->arrays >> r & 1)) continue;
            ck_assert_msg(x->len == y->len && x->width == y->width &&
                              x->stride == y->stride,
                          "%s: level %d role %d: %lld of %d every %d, not %lld, %d, %d",
                          what, l, r, (long long)y->len, y->width, y->stride,
                          (long long)x->len, x->width, x->stride);
            for (int64_t i = 0; i < x->len; i++)
                ck_assert_int_eq(index_get(x, i), index_get(y, i));
        }
    ck_assert_int_eq(a->nvals, b->nvals);
    ck_assert_msg(!a->nvals ||
                      !memcmp(a->vals, b->vals, (size_t)a->nvals * type_size(a->type)),
                  "%s: the values", what);
}

static const struct {
    int order;
    const char *format;
} stacks[] = {
    {0, "dense"},
    {1, "dense"},
    {1, "svec"},
    {2, "dense"},
    {2, "csr"},
    {2, "csc"},
    {2, "dcsr"},
    {2, "dcsc"},
    {2, "coo"},
    {2, "csf"},
    {2, "bcsr(2,3)"},
    {2, "csb(2,3)"},
    {2, "dia"},
    {2, "ell"},
    {2, "hash"},
    {2, "rle"},
    {2, "lz77"},
    {2, "bytemap"},
    {3, "dense"},
    {3, "coo"},
    {3, "csf"},
    {3, "hash"},
    {3, "rle"},
    {3, "lz77"},
    {3, "bytemap"},
    {2, "(i,j) -> (i : dense, j : compressed(index64))"},
    {2, "(i,j) -> (i : compressed(nonunique, interleaved), j : singleton)"},
    {2, "(i,j) -> (flat(i,j) : lz77)"},
    {2, "(i,j) -> (i/4 : dense, i%4/2 : compressed, i%2 : dense, j : compressed)"},
    {2, "(i,j) -> (j : compressed, i : dense)"},
    {1, "(i) -> (i : hashed(6))"},
    {2, "(i,j) -> (i : dense, j : hashed(5))"},
    {2, "(i,j) -> (j/2 : hashed(16), j%2 : dense, i : hashed(8))"},
    {3, "(i,j,k) -> (k : hashed(3), i : compressed, j : hashed(7))"},
};
enum { STACKS = sizeof stacks / sizeof *stacks };

/* Some entries in [4,5], [4,5,3], [9], or one value. */
static stc_tensor *make(stc_machine *m, int order, const char *name, stc_type type,
                        double fill)
{
    static const int64_t shapes[4][3] = {{0}, {9}, {4, 5}, {4, 5, 3}};
    static const double values[] = {1, 2, 3, 5, 1, 1};
    int64_t coords[18];
    const int64_t n = order ? 6 : 1;
    for (int k = 0; k < order; k++)
        for (int e = 0; e < 6; e++)
            coords[k * 6 + e] = order == 1 ? e + 2 : (e * (k + 1) + k) % shapes[order][k];
    stc_tensor *t, *own;
    const stc_value none = {.f = fill};
    ck_ok(m, stc_tensor_from_coords(m, name, STC_F64, order, shapes[order], &none, n,
                                    coords, values, &t));
    ck_ok(m, stc_tensor_convert(t, NULL, (int)type, &own));
    stc_tensor_free(t);
    return own;
}

/* What Binsparse has no levels for comes back as coo, with its elements. */
static void equal_or_listed(const tensor *a, const tensor *b, const char *name)
{
    static const char *const kept[] = {"dense", "svec", "csr", "csc",
                                       "dcsr",  "dcsc", "coo", "csf"};
    char x[60 * 16], y[60 * 16];
    for (size_t k = 0; k < sizeof kept / sizeof *kept; k++)
        if (!strcmp(name, kept[k]) || strstr(name, "j : compressed, i")) {
            same(a, b, name);
            return;
        }
    size_t size = type_size(a->type);
    for (int d = 0; d < a->order; d++)
        size *= (size_t)a->shape[d];
    ck_assert_int_eq(stc_tensor_to_dense(a, x), STC_OK);
    ck_assert_int_eq(stc_tensor_to_dense(b, y), STC_OK);
    ck_assert_mem_eq(x, y, size);
    ck_assert_int_eq(a->type, b->type);
    ck_assert(class_equal(type_class(a->type), a->fill, b->fill));
}

START_TEST(every_type_format_and_fill)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    for (int k = 0; k < STACKS; k++)
        for (int type = 0; type < TYPE_COUNT; type++)
            for (int fill = 0; fill < 2; fill++) {
                stc_tensor *a =
                    make(m, stacks[k].order, stacks[k].format, (stc_type)type, fill);
                stc_tensor *b;
                ck_ok(m, stc_tensor_write(a, path));
                ck_ok(m, stc_tensor_read(m, path, NULL, -1, NULL, &b));
                ck_ok(m, stc_tensor_check(b));
                same(a, b, stacks[k].format);
                stc_tensor_free(b);
                ck_ok(m, stc_tensor_write(a, archive));
                ck_ok(m, stc_tensor_read(m, archive, NULL, -1, NULL, &b));
                equal_or_listed(a, b, stacks[k].format);
                stc_tensor_free(b);
                stc_tensor_free(a);
            }
    machine_shut(m, &h);
}
END_TEST

/* Read as something else: elements stay, also where the fill is another. */
START_TEST(read_as)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_tensor *a = make(m, 2, "csr", STC_F64, 0), *b = NULL;
    double want[20], got[20];
    ck_ok(m, stc_tensor_to_dense(a, want));
    ck_ok(m, stc_tensor_write(a, path));
    static const char *const formats[] = {"csc", "dense", "bcsr(2,2)", "csr"};
    for (int k = 0; k < 4; k++) {
        const stc_value one = {.f = 1};
        ck_ok(m, stc_tensor_read(m, path, formats[k], -1, k == 3 ? &one : NULL, &b));
        ck_ok(m, stc_tensor_to_dense(b, got));
        ck_assert_mem_eq(want, got, sizeof want);
        ck_assert(stc_tensor_fill(b).f == (k == 3));
        stc_tensor_free(b);
    }
    ck_assert_int_eq(stc_tensor_read(m, path, "csf", -1, NULL, &b), STC_OK);
    stc_tensor_free(b);
    ck_assert_int_eq(stc_tensor_read(m, path, "svec", -1, NULL, &b), STC_ERR_PROGRAM);
    stc_tensor_free(a);
    machine_shut(m, &h);
}
END_TEST

/* Levels are checked on another thread than the bytes, however few there are. */
static void check_at_once(stc_machine *m)
{
    m->cx.threads = 2;
    m->cx.grain = 1;
}

/* Cut short anywhere, and with any bit turned: refused when it is opened or, if that is
 * in the arrays, when it is used; never taken. */
START_TEST(damaged)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    static const int kinds[] = {4, 10, 12, 14, 16, 0, 26};
    const int k = kinds[_i / 2];
    if (_i % 2) check_at_once(m);
    stc_tensor *a = make(m, stacks[k].order, stacks[k].format, STC_F32, 0), *t;
    size_t size;
    ck_ok(m, stc_tensor_write(a, path));
    char *bytes = read_text(path, &size);
    for (size_t n = 0; n < size; n++) {
        spill(bytes, n);
        ck_assert_int_eq(stc_tensor_read(m, path, NULL, -1, NULL, &t), STC_ERR_DATA);
        ck_assert(has_words(stc_error(m)->file, "t.stt"));
    }
    int between = 0;
    for (size_t n = 0; n < size; n++) {
        bytes[n] ^= (char)(1 << n % 8);
        spill(bytes, size);
        bytes[n] ^= (char)(1 << n % 8);
        if (stc_tensor_read(m, path, NULL, -1, NULL, &t) != STC_OK) continue;
        const stc_status status = stc_tensor_check(t);
        if (status == STC_OK) { /* a zero between two arrays */
            same(a, t, "between the arrays");
            between++;
        } else {
            ck_assert_int_eq(status, STC_ERR_DATA);
            ck_assert(has_words(stc_error(m)->message, "aren't those that were written"));
        }
        stc_tensor_free(t);
    }
    ck_assert_int_lt(between, 64 * 5);
    free(bytes);
    stc_tensor_free(a);
    machine_shut(m, &h);
}
END_TEST

/* A tensor outlives its file's name, but not a change of the file. */
START_TEST(changed_below)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_tensor *a = make(m, 2, "csr", STC_F64, 0), *t, *other;
    double want[20], got[20];
    ck_ok(m, stc_tensor_to_dense(a, want));
    ck_ok(m, stc_tensor_write(a, path));
    ck_ok(m, stc_tensor_read(m, path, NULL, -1, NULL, &t));
    other = make(m, 2, "dense", STC_F64, 1);
    ck_ok(m, stc_tensor_write(other, path)); /* takes its place: a file of its own */
    ck_ok(m, stc_tensor_to_dense(t, got));
    ck_assert_mem_eq(want, got, sizeof want);
    stc_tensor_free(t);
    ck_ok(m, stc_tensor_read(m, path, NULL, -1, NULL, &t));
    ck_ok(m, stc_tensor_check(t));
    ck_assert_int_eq(truncate(path, 100), 0);
    ck_assert_int_eq(stc_tensor_to_dense(t, got), STC_ERR_DATA);
    ck_assert(has_words(stc_error(m)->message, "has 100 bytes now"));
    stc_program *p;
    const stc_value one = {.f = 1};
    const stc_decl decl[] = {
        {.name = "A", .format = "dense", .type = -1, .fill = &one, .order = 2}};
    ck_ok(m, stc_compile(m, "s = sum(i,j: A(i,j))", decl, 1, &p));
    ck_ok(m, stc_bind(p, "A", t));
    ck_assert_int_eq(stc_run(p), STC_ERR_DATA);
    stc_program_free(p);
    stc_tensor_free(t);
    stc_tensor_free(a);
    stc_tensor_free(other);
    machine_shut(m, &h);
}
END_TEST

/* A file whose sums are right and whose levels aren't is refused like a host's arrays;
 * with trust_files it is taken. */
START_TEST(levels_are_checked)
{
    heap h = {0};
    for (int trust = 0; trust < 2; trust++) {
        const stc_config config = {
            .alloc = heap_alloc, .alloc_context = &h, .trust_files = trust};
        stc_machine *m;
        ck_assert_int_eq(stc_open(&config, &m), STC_OK);
        if (_i) check_at_once(m);
        stc_tensor *a = make(m, 2, "csr", STC_F64, 0), *t;
        index_array *crd = &a->level[1].a[STC_CRD];
        const int64_t kept = index_get(crd, 0);
        index_set(crd, 0, 4711); /* after the check: nobody has seen it */
        ck_ok(m, stc_tensor_write(a, path));
        index_set(crd, 0, kept);
        ck_ok(m, stc_tensor_read(m, path, NULL, -1, NULL, &t));
        ck_assert_int_eq(stc_tensor_check(t), trust ? STC_OK : STC_ERR_DATA);
        if (!trust) {
            ck_assert(has_words(stc_error(m)->message, "level 1 (compressed)|4711"));
            ck_assert(has_words(stc_error(m)->file, "t.stt"));
        }
        stc_tensor_free(t);
        stc_tensor_free(a);
        stc_close(m);
    }
    ck_assert_int_eq(h.held, 0);
}
END_TEST

/* Sessions: format and fill are the file's, assigning changes the tensor, not the file. */
START_TEST(in_a_session)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_tensor *a = make(m, 2, "csc", STC_F32, 1);
    stc_session *s;
    char text[512];
    double v;
    size_t before, after;
    ck_ok(m, stc_tensor_write(a, path));
    char *was = read_text(path, &before);
    ck_ok(m, stc_session_open(m, &s));
    snprintf(text, sizeof text,
             "tensor A = \"%s\"\nn = sum(i,j: A(i,j))\nA(i,j) += 1\nk = sum(i,j: A(i,j))\n"
             "d = k - n\nsave A \"%s\"\n",
             path, path);
    ck_ok(m, stc_session_exec(s, text, "test"));
    const stc_tensor *t;
    ck_ok(m, stc_session_get(s, "A", &t));
    ck_assert_str_eq(stc_tensor_format(t), "csc");
    ck_assert(stc_tensor_fill(t).f == 2 || stc_tensor_fill(t).f == 1);
    ck_ok(m, stc_session_get(s, "d", &t));
    float d;
    ck_ok(m, stc_tensor_to_dense(t, &d));
    v = d;
    ck_assert(v == 20);
    stc_session_close(s);
    char *now = read_text(path, &after);
    ck_assert(before != after || memcmp(was, now, before));
    free(was);
    free(now);
    stc_tensor_free(a);
    machine_shut(m, &h);
}
END_TEST

/* A diagonal whose arrays lie in files: n values v. */
static stc_tensor *spilled(stc_machine *m, int64_t n, double v)
{
    stc_builder *b;
    stc_tensor *t;
    const int64_t shape[] = {n, n};
    ck_ok(m, stc_builder_open(m, "csr", STC_F64, 2, shape, NULL, NULL, &b));
    for (int64_t i = 0; i < n; i++)
        ck_ok(m, stc_builder_put(b, (const int64_t[]){i, i}, &v));
    ck_ok(m, stc_builder_finish(b, &t));
    stc_builder_free(b);
    return t;
}

/* Bytes of a block that lies in a file are written and read past the system's cache, from
 * any byte to any other: what is ahead of them, behind them, and seen in memory stays
 * right. */
START_TEST(written_past_the_cache)
{
    enum { SIZE = 3 << 20, AT = 4093, BYTES = SIZE - 9000 };
    char folder[SCRATCH_PATH];
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
    const stc_config config = {.spill = folder};
    stc_machine *m;
    ck_assert_int_eq(stc_open(&config, &m), STC_OK);
    char *block = spill_resize(&m->cx, NULL, SIZE), *from = malloc(SIZE);
    ck_assert(block && from);
    for (int k = 0; k < SIZE; k++)
        from[k] = (char)(k * 7 + k / 255);
    memset(block, 1, SIZE); /* pages that are there, and changed */
    ck_assert(spill_write(block, block + AT, from, BYTES));
    ck_assert(memcmp(block + AT, from, BYTES) == 0);
    ck_assert(block[AT - 1] == 1 && block[AT + BYTES] == 1 && block[SIZE - 1] == 1);
    block[SPILL_ROOM + 5] = 77;     /* not on the disk yet */
    char *room = spill_room(block); /* NULL: the system can't */
    for (size_t at = 0; room && at < SIZE; at += SPILL_ROOM) {
        const size_t n = SIZE - at < SPILL_ROOM ? SIZE - at : SPILL_ROOM;
        ck_assert(spill_read(block, at, room, n));
        ck_assert(memcmp(room, block + at, n) == 0);
    }
    spill_room_leave(block, room);
    spill_free(block);
    free(from);
    stc_close(m);
}
END_TEST

/* What lies in files already becomes the file of a tensor, which keeps its arrays where
 * they are; other tensors there stay what they are; what is changed later isn't in the
 * file; one that takes no name, or a full disk, is an error of the writing alone. */
START_TEST(written_in_place)
{
    enum { N = 40000 };
    char folder[SCRATCH_PATH];
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
    const stc_config config = {.spill = folder, .max_memory = 8 << 20};
    stc_machine *m;
    ck_assert_int_eq(stc_open(&config, &m), STC_OK);
    stc_tensor *a = spilled(m, N, 3), *other = _i & 1 ? spilled(m, N / 8, 5) : NULL, *t;
    ck_assert(spill_takes(a->cx, (size_t)N * sizeof(double)));
    const void *const vals = a->vals, *const crd = a->level[1].a[STC_CRD].data;
    if (_i & 2) ck_assert_int_eq(stc_tensor_write(a, "/nowhere/at/all.stt"), STC_ERR_IO);
    ck_ok(m, stc_tensor_write(a, path));
    ck_assert_ptr_eq(a->vals, vals);
    ck_assert_ptr_eq(a->level[1].a[STC_CRD].data, crd);
    ck_ok(m, stc_tensor_check(a));
    ck_ok(m, stc_tensor_read(m, path, NULL, -1, NULL, &t));
    ck_ok(m, stc_tensor_check(t));
    same(a, t, "as it was written");
    stc_tensor_free(t);
    if (a->backing) { /* the file system can do it */
        ((double *)a->vals)[7] = 4;
        ck_ok(m, stc_tensor_read(m, path, NULL, -1, NULL, &t));
        ck_ok(m, stc_tensor_check(t));
        ck_assert(((const double *)t->vals)[7] == 3);
        stc_tensor_free(t);
    }
    ck_ok(m, stc_tensor_write(a, path)); /* over the file that it lies in */
    ck_ok(m, stc_tensor_check(a));
    ck_ok(m, stc_tensor_read(m, path, NULL, -1, NULL, &t));
    same(a, t, "written again");
    stc_tensor_free(t);
    stc_tensor_free(a);
    for (int64_t i = 0; other && i < other->nvals; i++)
        ck_assert(((const double *)other->vals)[i] == 5);
    stc_tensor_free(other);
    stc_close(m);
}
END_TEST

/* Scattered entries, several a row; half of them in the first columns, if those are
 * crowded.
 */
static stc_tensor *scattered(stc_machine *m, uint64_t seed, bool crowded)
{
    enum { N = 7000, EACH = 70 };
    static int64_t at[2 * N * EACH];
    static double v[N * EACH];
    const int64_t shape[] = {N, N};
    stc_tensor *t;
    for (int64_t k = 0; k < N * EACH; k++) {
        at[2 * k] = k / EACH;
        at[2 * k + 1] = k % EACH * (N / EACH) + (int64_t)(seed >> 40) % (N / EACH);
        if (crowded && k % EACH < EACH / 2) at[2 * k + 1] = k % EACH;
        v[k] = (double)(seed >> 60) + 1;
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    }
    ck_ok(m,
          stc_tensor_from_coords(m, "csr", STC_F64, 2, shape, NULL, N * EACH, at, v, &t));
    return t;
}

static stc_tensor *made(stc_machine *m, const char *text, bool crowded)
{
    stc_tensor *a = scattered(m, 1, crowded), *b = scattered(m, 2, false), *c;
    const stc_decl d[] = {{.name = "A", .format = "csr", .type = -1, .order = -1},
                          {.name = "C", .format = "csr", .type = -1, .order = -1},
                          {.name = "B", .format = "csr", .type = -1, .order = -1}};
    const bool two = strchr(text, 'B') != NULL;
    stc_program *p;
    m->cx.grain = 1 << 16;
    ck_ok(m, stc_compile(m, text, d, two ? 3 : 2, &p));
    ck_ok(m, stc_bind(p, "A", a));
    if (two) ck_ok(m, stc_bind(p, "B", b));
    ck_ok(m, stc_run(p));
    ck_ok(m, stc_take(p, "C", &c));
    ck_ok(m, stc_tensor_check(c));
    stc_program_free(p);
    stc_tensor_free(a);
    stc_tensor_free(b);
    return c;
}

/* A sum is the same from whatever pieces, in any order; what changes shows. */
START_TEST(sums_of_pieces)
{
    enum { SIZE = 5000 };
    char bytes[SIZE];
    uint64_t seed = 12345;
    for (int k = 0; k < SIZE; k++)
        bytes[k] = (char)(k * 31 + k / 251);
    const uint64_t whole = sum_whole(sum_piece(bytes, SIZE, 0), SIZE);
    for (int round = 0; round < 100; round++) {
        uint64_t pieces = 0;
        for (size_t end = SIZE, n; end > 0; end -= n) {
            seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
            n = 1 + (size_t)(seed >> 33) % (round % 2 ? 7 : 1500);
            if (n > end) n = end;
            pieces += sum_piece(bytes + end - n, n, end - n);
        }
        ck_assert_uint_eq(sum_whole(pieces, SIZE), whole);
    }
    for (int k = 0; k < SIZE; k++) {
        bytes[k] ^= (char)(1 << k % 8);
        ck_assert_uint_ne(sum_whole(sum_piece(bytes, SIZE, 0), SIZE), whole);
        bytes[k] ^= (char)(1 << k % 8);
    }
    ck_assert_uint_ne(sum_whole(sum_piece(bytes, SIZE - 1, 0), SIZE - 1), whole);
}
END_TEST

/* The file with the sums of version 1 is read, too; and not with those of the other. */
static void as_version_1(stc_machine *m, const char *file)
{
    size_t size;
    stc_tensor *t;
    unsigned char *const b = (unsigned char *)read_text(file, &size);
    const size_t rows =
        STT_MODES + 8 * (size_t)b[33] + (size_t)stt_level_bytes(b[8]) * b[34];
    for (int last = 0; last < 2; last++) {
        b[8] = last ? 1 : 2;
        for (unsigned k = 0; k < b[36]; k++) {
            unsigned char *const row = b + rows + STT_ARRAY * (size_t)k;
            stt_put(row + 24, 8,
                    stt_sum_bytes(1, b + stt_get(row + 8, 8),
                                  stt_get(row + 16, 8) * stt_get(row + 4, 4)));
        }
        stt_put(b + 24, 8, 0);
        stt_put(b + 24, 8, stt_sum_bytes(b[8], b, stt_get(b + 12, 4)));
        FILE *f = fopen(file, "wb");
        ck_assert(f && fwrite(b, 1, size, f) == size && fclose(f) == 0);
        ck_ok(m, stc_tensor_read(m, file, NULL, -1, NULL, &t));
        ck_assert_int_eq(stc_tensor_check(t), last ? STC_OK : STC_ERR_DATA);
        stc_tensor_free(t);
    }
    free(b);
}

/* The sums that threads have made of what they wrote are those of the file; who changes the
 * tensor makes them void. */
static void written_with_sums(stc_machine *m, stc_tensor *c, bool changed)
{
    stc_tensor *t;
    uint64_t sum;
    if (!c->backing && m->cx.spilled) {
        ck_assert(c->summed == c->generation);
        ck_assert(spill_summed(c->vals, (size_t)c->nvals * sizeof(double), &sum));
        ck_assert_uint_eq(
            sum, stt_sum_bytes(STT_VERSION, c->vals, (size_t)c->nvals * sizeof(double)));
    }
    if (changed) {
        ((double *)c->vals)[c->nvals / 2] += 1;
        stc_tensor_touch_values(c);
    }
    ck_ok(m, stc_tensor_write(c, path));
    ck_ok(m, stc_tensor_read(m, path, NULL, -1, NULL, &t));
    ck_ok(m, stc_tensor_check(t));
    same(c, t, "with its sums");
    stc_tensor_free(t);
    if (!changed) as_version_1(m, path);
}

/* A result that is changed where it lies after it was put there. */
START_TEST(changed_in_files)
{
    static const char *const changes[] = {
        "C(0,0) += 1\n", "C(i,j) = 2 * C(i,j)\n",
        "for k in 0:2 {\n  C(k,0) += 1\n  C(j,i) = A(i,j)\n  C(k,k) += 3\n}\n"};
    char text[512];
    const stc_config config = {.spill = "/tmp", .max_memory = 8 << 20, .threads = 2};
    stc_machine *m;
    stc_session *s;
    stc_tensor *a, *t;
    ck_assert_int_eq(stc_open(&config, &m), STC_OK);
    m->cx.grain = 1 << 16;
    a = scattered(m, 1, false);
    ck_ok(m, stc_tensor_write(a, path));
    stc_tensor_free(a);
    ck_ok(m, stc_session_open(m, &s));
    snprintf(text, sizeof text,
             "tensor A = \"%s\"\ntensor C csr f64 [7000,7000]\nC(j,i) = A(i,j)\n"
             "C(i,j) = A(i,j) + C(i,j)\n%ssave C \"%s\"\n",
             path, changes[_i], path);
    ck_ok(m, stc_session_exec(s, text, "test"));
    ck_ok(m, stc_tensor_read(m, path, NULL, -1, NULL, &t));
    ck_ok(m, stc_tensor_check(t));
    stc_tensor_free(t);
    stc_session_close(s);
    stc_close(m);
}
END_TEST

/* What parts of results go to files, and by which way, changes nothing of them. */
START_TEST(made_in_files)
{
    enum { TEXTS = 4 };
    static const char *const texts[] = {"C(j,i) = A(i,j)", "C(i,j) = A(i,j) + B(i,j)",
                                        "C(i,j) = A(i,j) * A(i,j)", "C(j,i) = A(i,j)"};
    const stc_config config = {.spill = "/tmp", .max_memory = 8 << 20, .threads = 2};
    stc_machine *small, *large;
    ck_assert_int_eq(stc_open(&config, &small), STC_OK);
    ck_assert_int_eq(stc_open(NULL, &large), STC_OK);
    const char *const text = texts[_i % TEXTS];
    const bool crowded = _i % TEXTS == TEXTS - 1;
    stc_tensor *c = made(small, text, crowded), *other = made(large, text, crowded);
    ck_assert(spill_takes(c->cx, (size_t)c->nvals * sizeof(double)));
    same(c, other, text);
    written_with_sums(small, c, _i >= TEXTS);
    stc_tensor_free(c);
    stc_tensor_free(other);
    stc_close(small);
    stc_close(large);
}
END_TEST

/* Bytes of the process's memory that it may write to and that aren't a file's; 0: who
 * knows. */
static rlim_t written_to(void)
{
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    unsigned long long kilobytes = 0;
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "VmData: %llu", &kilobytes) == 1) break;
    if (f) fclose(f);
    return (rlim_t)kilobytes << 10;
}

/* Memory that may be written to is limited: what is a file's, and private, counts as such.
 * The writing is an error, and the tensor what it was. */
START_TEST(written_without_memory)
{
    enum { N = 200000, MORE = 1 << 20 };
    char folder[SCRATCH_PATH];
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
    const stc_config config = {.spill = folder, .max_memory = 4 << 20};
    struct rlimit before, least;
    stc_machine *m;
    ck_assert_int_eq(stc_open(&config, &m), STC_OK);
    stc_tensor *a = spilled(m, N, 3);
    const int64_t edge[] = {N - 1, N - 1};
    ck_assert_int_eq(getrlimit(RLIMIT_DATA, &before), 0);
    least = before;
    const rlim_t now = written_to();
    if (now) least = (struct rlimit){now + MORE, before.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_DATA, &least), 0);
    const stc_status st = stc_tensor_write(a, path);
    ck_assert_int_eq(setrlimit(RLIMIT_DATA, &before), 0);
    if (st) { /* else the file system can't take it, or the system doesn't count so */
        ck_assert_msg(st == STC_ERR_IO, "%s", stc_error(m)->message);
        ck_assert_ptr_null(a->backing);
        ck_assert_int_ne(access(path, F_OK), 0);
    }
    ck_ok(m, stc_tensor_check(a));
    ck_assert(tensor_get(a, edge).f64 == 3);
    ck_ok(m, stc_tensor_write(a, path));
    stc_tensor_free(a);
    stc_close(m);
}
END_TEST

Suite *suite_stt(void)
{
    Suite *s = suite_create("stt");
    TCase *c = tcase_create("stt");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_set_timeout(c, 60);
    tcase_add_test(c, every_type_format_and_fill);
    tcase_add_test(c, read_as);
    tcase_add_loop_test(c, damaged, 0, 2 * 7);
    tcase_add_test(c, changed_below);
    tcase_add_loop_test(c, levels_are_checked, 0, 2);
    tcase_add_test(c, in_a_session);
    tcase_add_test(c, written_past_the_cache);
    tcase_add_loop_test(c, written_in_place, 0, 4);
    tcase_add_test(c, sums_of_pieces);
    tcase_add_loop_test(c, made_in_files, 0, 8);
    tcase_add_loop_test(c, changed_in_files, 0, 3);
    tcase_add_test(c, written_without_memory);
    suite_add_tcase(s, c);
    return s;
}
