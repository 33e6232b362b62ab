/* check_io.c: data files: what is written reads back, in every file type; the
 * small rules of the formats; and files that stay whole. */
#include "check.h"
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];

static void setup(void)
{
    snprintf(folder, sizeof folder, "/tmp/stc-check-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static const char *path_of(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void teardown(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static void write_file(const char *name, const char *text, size_t size)
{
    FILE *f = fopen(path_of(name), "wb");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(text, 1, size, f), size);
    fclose(f);
}

static void holds(const stc_tensor *t, const double *want, int64_t n)
{
    void *dense = malloc((size_t)n * 16 + 16);
    ck_assert_int_eq(stc_tensor_to_dense(t, dense), STC_OK);
    for (int64_t k = 0; k < n; k++) {
        const double got = element(stc_tensor_type(t), dense, k);
        ck_assert_msg(got == want[k], "element %lld is %.17g, expected %.17g", (long long)k,
                      got, want[k]);
    }
    free(dense);
}

START_TEST(round_trips)
{
    static const struct {
        const char *file, *name;
        stc_type type;
    } trip[] = {
        {"a.mtx", "csr", STC_F64},   {"b.mtx", "dense", STC_F64},
        {"c.tns", "csr", STC_F64},   {"d.npy", "dense", STC_F64},
        {"e.npy", "csr", STC_F32},   {"f.mtx", "coo", STC_I64},
        {"g.npy", "dense", STC_I8},  {"h.tns", "dense", STC_F32},
        {"i.npy", "dense", STC_I16}, {"j.mtx", "dcsc", STC_F32},
        {"k.npy", "csc", STC_C128},  {"l.mtx", "csr", STC_C64},
    };
    heap h;
    stc_machine *m = machine_open(&h, false);
    for (size_t k = 0; k < sizeof trip / sizeof *trip; k++) {
        stc_tensor *a = sample_matrix(m, "csr"), *b, *c;
        ck_ok(m, stc_tensor_convert(a, trip[k].name, (int)trip[k].type, &b));
        ck_ok(m, stc_tensor_write(b, path_of(trip[k].file)));
        ck_ok(m, stc_tensor_read(m, path_of(trip[k].file), NULL, -1, NULL, &c));
        holds(c, sample_dense, 20);
        stc_tensor_free(a);
        stc_tensor_free(b);
        stc_tensor_free(c);
    }
    machine_shut(m, &h);
}
END_TEST

START_TEST(exact_numbers)
{
    static const double odd[] = {0.1,    1.0 / 3, 1e300, 5e-324, 1.7976931348623157e308,
                                 -2.5e-9};
    const int64_t shape[] = {6};
    heap h;
    stc_machine *m = machine_open(&h, false);
    static const char *const file[] = {"a.mtx", "a.tns", "a.npy"};
    for (int k = 0; k < 3; k++) {
        stc_tensor *a, *b;
        ck_ok(m, stc_tensor_from_dense(m, "dense", STC_F64, 1, shape, NULL, odd, &a));
        ck_ok(m, stc_tensor_write(a, path_of(file[k])));
        ck_ok(m, stc_tensor_read(m, path_of(file[k]), "dense", -1, NULL, &b));
        holds(b, odd, 6);
        stc_tensor_free(a);
        stc_tensor_free(b);
    }
    machine_shut(m, &h);
}
END_TEST

START_TEST(images)
{
    static const double grey[] = {0, 128, 255, 7, 9, 11};
    const int64_t shape[] = {2, 3};
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_tensor *a, *b;
    ck_ok(m, stc_tensor_from_dense(m, "dense", STC_F64, 2, shape, NULL, grey, &a));
    ck_ok(m, stc_tensor_write(a, path_of("a.pgm")));
    ck_ok(m, stc_tensor_read(m, path_of("a.pgm"), NULL, -1, NULL, &b));
    ck_assert_int_eq(stc_tensor_type(b), STC_U8);
    holds(b, grey, 6);
    stc_tensor_free(a);
    stc_tensor_free(b);
    const double high[] = {0, 1, 2, 3, 4, 70000};
    ck_ok(m, stc_tensor_from_dense(m, "dense", STC_F64, 2, shape, NULL, high, &a));
    ck_assert_int_ne(stc_tensor_write(a, path_of("high.pgm")), STC_OK);
    ck_assert_int_ne(access(path_of("high.pgm"), F_OK), 0);
    stc_tensor_free(a);
    write_file("plain.pgm", "P2\n# a comment\n2 2\n255\n1 2\n3 4\n", 31);
    ck_ok(m, stc_tensor_read(m, path_of("plain.pgm"), NULL, -1, NULL, &a));
    holds(a, (const double[]){1, 2, 3, 4}, 4);
    stc_tensor_free(a);
    machine_shut(m, &h);
}
END_TEST

#define HEAD "%%MatrixMarket matrix coordinate "

START_TEST(matrix_market)
{
    static const struct {
        const char *text;
        double want[4];
    } file[] = {
        {HEAD "real general\n2 2 2\n1 2 5\n2 1 6\n", {0, 5, 6, 0}},
        {HEAD "real symmetric\n2 2 2\n1 1 1\n2 1 6\n", {1, 6, 6, 0}},
        {HEAD "real skew-symmetric\n2 2 1\n2 1 6\n", {0, -6, 6, 0}},
        {HEAD "pattern general\n2 2 1\n2 2\n", {0, 0, 0, 1}},
        {HEAD "integer general\n% c\n\n2 2 1\n1 1 -7\n", {-7, 0, 0, 0}},
        {"%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n", {1, 3, 2, 4}},
        {"%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n4\n", {1, 2, 2, 4}},
    };
    heap h;
    stc_machine *m = machine_open(&h, false);
    for (size_t k = 0; k < sizeof file / sizeof *file; k++) {
        stc_tensor *t;
        write_file("a.mtx", file[k].text, strlen(file[k].text));
        ck_ok(m, stc_tensor_read(m, path_of("a.mtx"), NULL, -1, NULL, &t));
        holds(t, file[k].want, 4);
        stc_tensor_free(t);
    }
    machine_shut(m, &h);
}
END_TEST

/* In front of any text, with a type that is told and one that its bytes tell. */
START_TEST(byte_order_marks)
{
    static const struct {
        const char *name, *text;
    } file[] = {
        {"a.mtx", HEAD "real general\n2 2 1\n2 2 5\n"},
        {"a.mtx", HEAD "real general\n% a comment\n2 2 1\n2 2 5 \n"},
        {"a.tns", "2 2 5\n"},
        {"a.tns", "# a comment\n2 2 5\n"},
        {"a.csv", "0,0\n0,5\n"},
        {"a.tsv", "x\ty\n0\t0\n0\t5\n"},
    };
    static const double want[] = {0, 0, 0, 5};
    heap h;
    stc_machine *m = machine_open(&h, false);
    for (size_t k = 0; k < sizeof file / sizeof *file; k++) {
        char text[128];
        stc_tensor *t;
        const int n = snprintf(text, sizeof text, "\xef\xbb\xbf%s", file[k].text);
        write_file(file[k].name, text, (size_t)n);
        ck_ok(m, stc_tensor_read(m, path_of(file[k].name), NULL, -1, NULL, &t));
        holds(t, want, 4);
        stc_tensor_free(t);
    }
    machine_shut(m, &h);
}
END_TEST

/* Any prefix of a good file, and any byte of it replaced, is read or refused
 * with a message, never more. */
START_TEST(damaged)
{
    static const char *const file[] = {"a.mtx", "b.mtx", "c.tns", "d.npy", "e.pgm"};
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_tensor *a = sample_matrix(m, _i == 1 || _i > 2 ? "dense" : "csr"), *t;
    stc_tensor *absolute;
    ck_ok(m, stc_tensor_convert(a, NULL, _i == 4 ? STC_U8 : -1, &absolute));
    if (_i == 4) {
        stc_tensor_free(absolute);
        static const uint8_t grey[20] = {1, 2, 3};
        ck_ok(m, stc_tensor_from_dense(m, "dense", STC_U8, 2, (const int64_t[]){4, 5}, NULL,
                                       grey, &absolute));
    }
    ck_ok(m, stc_tensor_write(absolute, path_of(file[_i])));
    size_t size;
    char *text = read_text(path_of(file[_i]), &size);
    ck_assert_ptr_nonnull(text);
    for (size_t n = 0; n < size; n++) {
        write_file(file[_i], text, n);
        if (stc_tensor_read(m, path_of(file[_i]), NULL, -1, NULL, &t) == STC_OK)
            stc_tensor_free(t);
        else
            ck_assert(stc_error(m)->message[0] != 0);
        const char old = text[n];
        static const char odd[] = {'-', '9', '\n', 0, (char)0xff};
        for (size_t b = 0; b < sizeof odd; b++) {
            text[n] = odd[b];
            write_file(file[_i], text, size);
            if (stc_tensor_read(m, path_of(file[_i]), NULL, -1, NULL, &t) == STC_OK)
                stc_tensor_free(t);
        }
        text[n] = old;
    }
    free(text);
    stc_tensor_free(a);
    stc_tensor_free(absolute);
    machine_shut(m, &h);
}
END_TEST

/* ---- files cut short ------------------------------------------------------------ */

/* Small files of each kind: written in a format from a sample, or the project's own. TOLD:
 * every cut is an error; COUNTED: those before the last line are, whose numbers may become
 * shorter ones; LINES: those in the middle of a line may be, as the file counts nothing. */
typedef enum promise { TOLD, COUNTED, LINES } promise;
static const struct {
    const char *name, *own, *format;
    promise promise;
} cuts[] = {
    {"a.stt", NULL, "csr", TOLD},
    {"a.npz", NULL, "csr", TOLD},
    {"a.bsp.npz", NULL, "csr", TOLD},
    {"a.npy", NULL, "dense", TOLD},
    {"a.pgm", NULL, "csr", TOLD},
    {"a.ppm", NULL, "dense", TOLD},
    {"a.mtx", NULL, "csr", TOLD},
    {"b.mtx", NULL, "dense", TOLD},
    {"a.tns", NULL, "csr", TOLD},
    {"b.tns", NULL, "dense", TOLD},
    {"a.csv", NULL, "csr", TOLD},
    {"a.tsv", NULL, "coo", TOLD},
    {"b.csv", NULL, "dense", LINES},
    {"b.mtx.gz", "files/stored.mtx.gz", NULL, TOLD},
    {"c.mtx.gz", "files/fixed.mtx.gz", NULL, TOLD},
    {"d.mtx", "files/counted.mtx", NULL, COUNTED},
    {"d.stt", "files/good.stt", NULL, TOLD},
    {"e.npz", "files/bsr.npz", NULL, TOLD},
    {"f.bsp.npz", "files/custom.bsp.npz", NULL, TOLD},
};

static size_t whole_file(stc_machine *m, size_t k, char *to, size_t room)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", tests_dir(), cuts[k].own ? cuts[k].own : "");
    if (!cuts[k].own) {
        static const double grey[] = {0, 128, 255, 7, 9, 11};
        const int64_t shape[] = {2, 3}, image[] = {1, 2, 3};
        const bool is_image = strstr(cuts[k].name, "ppm");
        stc_tensor *a;
        ck_ok(m, stc_tensor_from_dense(m, cuts[k].format, STC_F64, 2 + is_image,
                                       is_image ? image : shape, NULL, grey, &a));
        ck_ok(m, stc_tensor_write(a, path_of(cuts[k].name)));
        stc_tensor_free(a);
        snprintf(path, sizeof path, "%s", path_of(cuts[k].name));
    }
    FILE *f = fopen(path, "rb");
    ck_assert_ptr_nonnull(f);
    const size_t n = fread(to, 1, room, f);
    fclose(f);
    ck_assert_uint_lt(n, room);
    return n;
}

/* Reads it and looks at all it claims. */
static stc_status read_wholly(stc_machine *m, const char *name)
{
    stc_tensor *t;
    stc_status st = stc_tensor_read(m, path_of(name), NULL, -1, NULL, &t);
    if (st) return st;
    st = stc_tensor_check(t);
    stc_tensor_free(t);
    return st;
}

START_TEST(cut_short)
{
    static char bytes[1 << 16];
    heap h;
    stc_machine *m = machine_open(&h, false);
    const size_t n = whole_file(m, (size_t)_i, bytes, sizeof bytes);
    const char *name = cuts[_i].name;
    size_t last = n;
    while (cuts[_i].promise != TOLD && last > 1 && bytes[last - 2] != '\n')
        last--;
    write_file(name, bytes, n);
    ck_ok(m, read_wholly(m, name));
    for (size_t k = 0; k < last; k++) {
        write_file(name, bytes, k);
        if (read_wholly(m, name) == STC_OK)
            ck_assert_msg(cuts[_i].promise == LINES && k > 0,
                          "%s of %zu bytes, cut to %zu, is read without an error", name, n,
                          k);
    }
    machine_shut(m, &h);
}
END_TEST

START_TEST(files_stay_whole)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_tensor *a = sample_matrix(m, "csr"), *t = NULL;
    ck_assert_int_eq(stc_tensor_write(a, "/nowhere/at/all.mtx"), STC_ERR_IO);
    ck_assert_int_ne(stc_tensor_write(a, path_of("a.unknown")), STC_OK);
    ck_assert_int_eq(stc_tensor_read(m, path_of("missing.mtx"), NULL, -1, NULL, &t),
                     STC_ERR_IO);
    ck_assert_ptr_null(t);
    stc_tensor_free(a);
    machine_shut(m, &h);
}
END_TEST

/* A matrix of n entries in lines as usual; a comment before one of them. */
static void write_lines(const char *path, int n, int comment)
{
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fprintf(f, "%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n", n, n, n);
    for (int i = 1; i <= n; i++) {
        if (i == comment) fputs("% here\n", f);
        fprintf(f, "%d %d %d.5\n", i, n + 1 - i, i & 7);
    }
    fclose(f);
}

/* What progress was told, and from which part of the whole on it stops the work. */
typedef struct watch {
    const char *what;
    double stop, part; /* 2: never; the last part that was told */
    uint64_t done, all;
    int calls, faults;
} watch;

static int look(void *context, const char *what, uint64_t done, uint64_t all)
{
    watch *w = context;
    if (!w->what) return 0;
    w->faults += strcmp(what, w->what) != 0 || done < w->done || done > all;
    w->faults += w->calls && all != w->all;
    w->calls++;
    w->done = done;
    w->all = all;
    w->part = all ? (double)done / (double)all : 1;
    return w->part >= w->stop;
}

/* A file that is read in several passes has one progress: it grows to the end, of a total
 * that stays, whatever the passes are; and the host stops any of them. Nothing stays then.
 */
START_TEST(files_are_watched)
{
    enum { MANY = 9 << 20 }; /* of two bytes each: more than a step */
    static const struct {
        const char *name, *format;
        int comment; /* before this line: what is streamed begins anew; 0: none */
    } files[] = {{"large.mtx", "dense", 0},  {"large.tns", "svec", 0},
                 {"large.stt", "svec", 0},   {"large.npy", "dense", 0},
                 {"lines.mtx", "csr", 0},    {"lines.mtx", "coo", 0},
                 {"lines.mtx", "csc", 9000}, {"lines.mtx", "csr", 990000}};
    heap h = {0};
    watch w = {0};
    const stc_config config = {
        .alloc = heap_alloc, .alloc_context = &h, .progress = look, .progress_context = &w};
    const int64_t n = MANY;
    stc_machine *m;
    ck_assert_int_eq(stc_open(&config, &m), STC_OK);
    stc_tensor *a = NULL, *t = NULL;
    if (files[_i].name[1] == 'a') {
        ck_ok(m, stc_tensor_new(m, "dense", STC_BOOL, 1, &n, NULL, &a));
        ck_ok(m, stc_tensor_write(a, path_of(files[_i].name)));
        stc_tensor_free(a);
    } else {
        write_lines(path_of(files[_i].name), 1000000, files[_i].comment);
    }
    static const double parts[] = {0, 0.1, 0.3, 0.5, 0.75, 2};
    for (int k = 0; k < 6; k++) {
        w = (watch){.what = "bytes read", .stop = parts[k]};
        const stc_status st =
            stc_tensor_read(m, path_of(files[_i].name), files[_i].format, -1, NULL, &t);
        ck_assert_msg(!w.faults, "%s: told %s, or what isn't more", files[_i].name, w.what);
        if (st) {
            ck_assert_int_eq(st, STC_ERR_INTERRUPT);
            ck_assert_ptr_null(t);
            ck_assert(w.part >= w.stop);
        }
        if (w.stop < 0.6 && strcmp(files[_i].name, "large.stt") != 0) ck_assert(st);
        if (!st) stc_tensor_free(t);
        t = NULL;
    }
    ck_assert(w.part > 0.65 || !strcmp(files[_i].name, "large.stt"));
    unlink(path_of(files[_i].name));
    machine_shut(m, &h);
}
END_TEST

/* The same of writing. */
START_TEST(writing_is_watched)
{
    enum { MANY = 9 << 20 };
    heap h = {0};
    watch w = {0};
    const stc_config config = {
        .alloc = heap_alloc, .alloc_context = &h, .progress = look, .progress_context = &w};
    static const char *const names[] = {"large.stt", "large.npy"};
    const int64_t n = MANY;
    stc_machine *m;
    stc_tensor *a;
    ck_assert_int_eq(stc_open(&config, &m), STC_OK);
    ck_ok(m, stc_tensor_new(m, "dense", STC_BOOL, 1, &n, NULL, &a));
    for (int k = 0; k < 2; k++) {
        w = (watch){.what = "bytes written", .stop = 2};
        ck_ok(m, stc_tensor_write(a, path_of(names[k])));
        ck_assert_int_eq(w.faults, 0);
        ck_assert(w.calls > 4 && w.part > 0.9);
        unlink(path_of(names[k]));
        w = (watch){.what = "bytes written", .stop = 0.5};
        ck_assert_int_eq(stc_tensor_write(a, path_of(names[k])), STC_ERR_INTERRUPT);
        ck_assert(has_words(stc_error(m)->message, "writing was interrupted"));
        ck_assert_int_ne(access(path_of(names[k]), F_OK), 0);
    }
    stc_tensor_free(a);
    machine_shut(m, &h);
}
END_TEST

/* Files whose data isn't what is asked for. */
START_TEST(other_data)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_tensor *a = sample_matrix(m, "csr"), *b, *t = NULL;
    ck_ok(m, stc_tensor_convert(a, "csr", (int)STC_C64, &b));
    static const char *const files[] = {"c.npy", "c.tns", "c.mtx"};
    for (int k = 0; k < 3; k++) {
        ck_ok(m, stc_tensor_write(b, path_of(files[k]))); /* imaginary parts are 0 */
        ck_ok(m, stc_tensor_read(m, path_of(files[k]), "csr", STC_F64, NULL, &t));
        holds(t, sample_dense, 20);
        stc_tensor_free(t);
    }
    static const cfloat z[] = {1, 2 + 3 * I};
    static const int64_t n[] = {2};
    stc_tensor *c;
    ck_ok(m, stc_tensor_from_dense(m, "dense", STC_C64, 1, n, NULL, z, &c));
    ck_ok(m, stc_tensor_write(c, path_of("z.npy")));
    t = NULL;
    ck_assert_int_eq(stc_tensor_read(m, path_of("z.npy"), NULL, STC_F64, NULL, &t),
                     STC_ERR_DATA);
    ck_assert(
        has_words(stc_error(m)->message, "complex values, which type f64 can't hold"));
    ck_assert_int_eq(stc_tensor_read(m, path_of("c.npy"), "csf", -1, NULL, &t), STC_OK);
    stc_tensor_free(t);
    t = NULL;
    ck_assert_int_ne(
        stc_tensor_read(m, path_of("c.npy"), "(i) -> (i : dense)", -1, NULL, &t), STC_OK);
    ck_assert(has_words(stc_error(m)->message, "the tensor has order 2"));
    ck_assert_ptr_null(t);
    stc_tensor_free(a);
    stc_tensor_free(b);
    stc_tensor_free(c);
    machine_shut(m, &h);
}
END_TEST

/* A text file of ours comes back as what it was: type, order and format. */
START_TEST(notes)
{
    static const struct {
        const char *format;
        stc_type type;
        int order;
    } kind[] = {
        {"svec", STC_BOOL, 1},     {"dense", STC_I8, 1}, {"csc", STC_F32, 2},
        {"bcsr(2,2)", STC_U16, 2}, {"dia", STC_C64, 2},  {"dense", STC_U64, 2},
        {"dense", STC_BOOL, 0},
    };
    heap h;
    stc_machine *m = machine_open(&h, false);
    for (size_t k = 0; k < sizeof kind / sizeof *kind; k++) {
        static const int64_t shape[] = {4, 4}, coords[] = {1, 3, 2, 3};
        static const double one[] = {1, 1};
        stc_tensor *s, *a, *b;
        ck_ok(m, stc_tensor_from_coords(m, kind[k].format, STC_F64, kind[k].order, shape,
                                        NULL, kind[k].order ? 2 : 1, coords, one, &s));
        ck_ok(m, stc_tensor_convert(s, NULL, (int)kind[k].type, &a));
        ck_ok(m, stc_tensor_write(a, path_of("note.mtx")));
        ck_ok(m, stc_tensor_read(m, path_of("note.mtx"), NULL, -1, NULL, &b));
        ck_assert_int_eq(stc_tensor_order(b), kind[k].order);
        ck_assert_int_eq(stc_tensor_type(b), kind[k].type);
        ck_assert_str_eq(stc_tensor_format(b), kind[k].format);
        ck_assert_int_eq(stc_tensor_stored(a), stc_tensor_stored(b));
        stc_tensor_free(s);
        stc_tensor_free(a);
        stc_tensor_free(b);
    }
    machine_shut(m, &h);
}
END_TEST

/* A note, or an archive, that asks for more places than its entries are worth: it is read,
 * into another format; and a note that isn't one is a comment. */
START_TEST(wasteful_notes)
{
    static const char *const said[] = {
        "stcvm f64 2 dense",  "stcvm f64 2 bcsr(900000000,900000000)",
        "stcvm f64 2 dia",    "stcvm f64 2 ell",
        "stcvm f64 2 hash",   "stcvm f64 2 bytemap",
        "stcvm f64 2 lz77",   "stcvm f64 2 bcsr(9,",
        "stcvm f64 99 dense", "stcvm i64 2 dense",
        "stcvm f64 3 csf",    "stcvm f64",
    };
    heap h = {0};
    const stc_config config = {
        .alloc = heap_alloc, .alloc_context = &h, .max_memory = 1 << 22};
    stc_machine *m;
    ck_assert_int_eq(stc_open(&config, &m), STC_OK);
    for (size_t k = 0; k < sizeof said / sizeof *said; k++) {
        char text[200];
        stc_tensor *t;
        const int n = snprintf(text, sizeof text, "%sreal general\n%%%s\n%s", HEAD, said[k],
                               "1000000000 1000000000 1\n7 7 7\n");
        write_file("w.mtx", text, (size_t)n);
        ck_ok(m, stc_tensor_read(m, path_of("w.mtx"), NULL, -1, NULL, &t));
        ck_assert_str_eq(stc_tensor_format(t), "dcsr");
        ck_assert_int_eq(stc_tensor_type(t), STC_F64);
        stc_tensor_free(t);
    }
    stc_close(m);
    ck_assert_int_eq(h.held, 0);
}
END_TEST

Suite *suite_io(void)
{
    Suite *s = suite_create("io");
    TCase *c = tcase_create("io");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_set_timeout(c, 60);
    tcase_add_test(c, round_trips);
    tcase_add_test(c, exact_numbers);
    tcase_add_test(c, images);
    tcase_add_test(c, matrix_market);
    tcase_add_loop_test(c, damaged, 0, 5);
    tcase_add_loop_test(c, cut_short, 0, sizeof cuts / sizeof *cuts);
    tcase_add_test(c, files_stay_whole);
    tcase_add_loop_test(c, files_are_watched, 0, 8);
    tcase_add_test(c, writing_is_watched);
    tcase_add_test(c, other_data);
    tcase_add_test(c, byte_order_marks);
    tcase_add_test(c, notes);
    tcase_add_test(c, wasteful_notes);
    suite_add_tcase(s, c);
    return s;
}
