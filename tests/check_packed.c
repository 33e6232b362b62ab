/* check_packed.c: compressed files: gzip's, with deflate's three kinds of blocks, and how
 * much may come out of them; archives of SciPy's and Binsparse's. */
#include "check.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[SCRATCH_PATH];

static void setup(void)
{
    scratch(path, "t.tns.gz");
}

static void teardown(void)
{
    unlink(path);
}

static void spill(const void *bytes, size_t size)
{
    FILE *f = fopen(path, "wb");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(bytes, 1, size, f), size);
    fclose(f);
}

static stc_tensor *kept(stc_machine *m, const char *name)
{
    char where[400];
    stc_tensor *t;
    snprintf(where, sizeof where, "%s/%s", tests_dir(), name);
    ck_ok(m, stc_tensor_read(m, where, "dense", -1, NULL, &t));
    return t;
}

static void same(const stc_tensor *a, const stc_tensor *b)
{
    ck_assert_int_eq(a->nvals, b->nvals);
    ck_assert_int_gt(a->nvals, 0);
    ck_assert_mem_eq(a->vals, b->vals, (size_t)a->nvals * 8);
}

START_TEST(kinds_of_blocks)
{
    static const char *const pairs[][2] = {
        {"files/stored.mtx.gz", "../samples/links.mtx"},
        {"files/fixed.mtx.gz", "../samples/links.mtx"},
        {"files/dynamic.tns.gz", "files/dynamic.tns"}, /* two members */
    };
    heap h;
    stc_machine *m = machine_open(&h, false);
    for (int k = 0; k < 3; k++) {
        stc_tensor *a = kept(m, pairs[k][0]), *b = kept(m, pairs[k][1]);
        same(a, b);
        stc_tensor_free(a);
        stc_tensor_free(b);
    }
    machine_shut(m, &h);
}
END_TEST

/* Every prefix is refused but the one that ends with a member; no bit turned is taken for
 * what was written. (Ten bytes of the header tell nothing that matters.) */
START_TEST(damaged)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    char where[400];
    size_t size;
    snprintf(where, sizeof where, "%s/files/dynamic.tns.gz", tests_dir());
    char *bytes = read_text(where, &size);
    stc_tensor *want = kept(m, "files/dynamic.tns"), *t;
    int whole = 0;
    for (size_t n = 0; n < size; n++) {
        spill(bytes, n);
        if (stc_tensor_read(m, path, "dense", -1, NULL, &t) != STC_OK) continue;
        stc_tensor_free(t);
        whole++;
    }
    ck_assert_int_le(whole, 1);
    for (size_t n = 0; n < size; n++) {
        bytes[n] ^= (char)(1 << n % 8);
        spill(bytes, size);
        bytes[n] ^= (char)(1 << n % 8);
        if (stc_tensor_read(m, path, "dense", -1, NULL, &t) != STC_OK) continue;
        same(t, want);
        stc_tensor_free(t);
    }
    free(bytes);
    stc_tensor_free(want);
    machine_shut(m, &h);
}
END_TEST

typedef struct bits {
    unsigned char byte[1 << 17];
    size_t n; /* bits */
} bits;

static void put(bits *b, unsigned v, int n) /* the lowest bit first */
{
    for (; n > 0; n--, v >>= 1, b->n++)
        b->byte[b->n / 8] |= (unsigned char)((v & 1) << b->n % 8);
}

/* A length of 258 and a distance of 1 with a bit each: 1032 times as much comes out. */
static void short_codes(bits *b)
{
    put(b, 5, 3);  /* the last block, codes of its own */
    put(b, 29, 5); /* 286 lengths */
    put(b, 0, 5);  /* one distance */
    put(b, 14, 4); /* 18 lengths of lengths: of 18 two bits, of 1 and 2 two and one */
    for (int k = 0; k < 18; k++)
        put(b, k == 2 ? 2 : k == 15 ? 2 : k == 17 ? 1 : 0, 3);
    /* 1 is 0 now, 2 is 10, 18 is 11 */
    put(b, 3, 2), put(b, 35 - 11, 7); /* nothing before '#' */
    put(b, 1, 2);                     /* '#': two bits */
    put(b, 3, 2), put(b, 138 - 11, 7);
    put(b, 3, 2), put(b, 82 - 11, 7);
    put(b, 1, 2); /* the end: two bits */
    put(b, 3, 2), put(b, 28 - 11, 7);
    put(b, 0, 1); /* 258 bytes: one bit */
    put(b, 0, 1); /* one back: one bit */
}

/* What would be a thousand times as large is refused long before, and nothing is held. */
START_TEST(bombs)
{
    static bits b; /* '#', then repeats of 258 bytes, one byte back */
    static const unsigned char header[10] = {0x1f, 0x8b, 8};
    memcpy(b.byte, header, sizeof header);
    b.n = 80;
    short_codes(&b);
    put(&b, 1, 2); /* '#' is 10, the end 11, 258 bytes 0 */
    while (b.n < 8 * (sizeof b.byte - 1))
        put(&b, 0, 2);
    heap h = {0};
    const stc_config config = {
        .alloc = heap_alloc, .alloc_context = &h, .max_memory = 4 << 20};
    for (int limited = 0; limited < 2; limited++) {
        stc_machine *m;
        stc_tensor *t;
        ck_assert_int_eq(stc_open(limited ? &config : NULL, &m), STC_OK);
        spill(b.byte, sizeof b.byte);
        const stc_status status = stc_tensor_read(m, path, NULL, -1, NULL, &t);
        ck_assert_int_eq(status, limited ? STC_ERR_MEMORY : STC_ERR_DATA);
        if (!limited) ck_assert(has_words(stc_error(m)->message, "expected at most 64 MB"));
        stc_close(m);
    }
    ck_assert_int_eq(h.held, 0);
}
END_TEST

/* The archives in files/, some of them the specification's examples, hold what the arrays
 * beside them do. */
START_TEST(archives)
{
    static const char *const pairs[][3] = {
        {"files/csr.npz", "files/scipy.npy", "csr"},
        {"files/csc.npz", "files/scipy.npy", "csc"},
        {"files/coo.npz", "files/scipy.npy", "coo"},
        {"files/bsr.npz", "files/scipy.npy", "bcsr(2,2)"},
        {"files/dia.npz", "files/scipy.npy", "dia"},
        {"files/iso.bsp.npz", "files/iso.npy", "csr"},
        {"files/lower.bsp.npz", "files/lower.npy", "csr"},
        {"files/folder.bspnpy", "files/lower.npy", "csr"},
        {"files/upper.bsp.npz", "files/upper.npy", "coo"},
        {"files/custom.bsp.npz", "files/custom.npy", "k : dense"},
    };
    heap h;
    stc_machine *m = machine_open(&h, false);
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        char where[400];
        stc_tensor *a, *b = kept(m, pairs[k][1]), *dense;
        snprintf(where, sizeof where, "%s/%s", tests_dir(), pairs[k][0]);
        ck_ok(m, stc_tensor_read(m, where, NULL, -1, NULL, &a));
        ck_assert_ptr_nonnull(strstr(stc_tensor_format(a), pairs[k][2]));
        ck_assert_int_eq(a->type, b->type);
        ck_ok(m, stc_tensor_convert(a, "dense", -1, &dense));
        ck_assert_int_eq(dense->nvals, b->nvals);
        ck_assert_mem_eq(dense->vals, b->vals, (size_t)b->nvals * type_size(b->type));
        stc_tensor_free(a);
        stc_tensor_free(b);
        stc_tensor_free(dense);
    }
    machine_shut(m, &h);
}
END_TEST

/* What stcvm writes for SciPy it reads back, in the same format. */
START_TEST(archives_again)
{
    static const char *const formats[] = {"csr", "csc", "coo", "dia", "bcsr(2,1)"};
    char where[SCRATCH_PATH];
    scratch(where, "t.npz");
    heap h;
    stc_machine *m = machine_open(&h, false);
    for (int k = 0; k < 5; k++)
        for (int type = 0; type < TYPE_COUNT; type++) {
            stc_tensor *s = sample_matrix(m, "csr"), *a, *b, *x, *y;
            ck_ok(m, stc_tensor_convert(s, formats[k], type, &a));
            ck_ok(m, stc_tensor_write(a, where));
            ck_ok(m, stc_tensor_read(m, where, NULL, -1, NULL, &b));
            ck_assert_str_eq(stc_tensor_format(a), stc_tensor_format(b));
            ck_assert_int_eq(a->type, b->type);
            ck_ok(m, stc_tensor_convert(a, "dense", -1, &x));
            ck_ok(m, stc_tensor_convert(b, "dense", -1, &y));
            ck_assert_mem_eq(x->vals, y->vals, (size_t)x->nvals * type_size(x->type));
            stc_tensor_free(s);
            stc_tensor_free(a);
            stc_tensor_free(b);
            stc_tensor_free(x);
            stc_tensor_free(y);
        }
    unlink(where);
    machine_shut(m, &h);
}
END_TEST

/* An archive cut short anywhere is refused; no byte changed is a fault of ours. */
START_TEST(damaged_archives)
{
    static const char *const names[] = {"csr.npz", "bsr.npz", "dia.npz", "lower.bsp.npz",
                                        "custom.bsp.npz"};
    char from[400], where[SCRATCH_PATH];
    size_t size;
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_tensor *t;
    snprintf(from, sizeof from, "%s/files/%s", tests_dir(), names[_i]);
    scratch(where, "t.npz");
    char *bytes = read_text(from, &size);
    for (size_t n = 0; n < 2 * size; n++) {
        const size_t at = n % size;
        if (n >= size) bytes[at] ^= (char)(1 << at % 8);
        FILE *f = fopen(where, "wb");
        ck_assert_uint_eq(fwrite(bytes, 1, n < size ? n : size, f), n < size ? n : size);
        fclose(f);
        if (n >= size) bytes[at] ^= (char)(1 << at % 8);
        if (stc_tensor_read(m, where, NULL, -1, NULL, &t) != STC_OK) {
            ck_assert(stc_error(m)->message[0] != 0);
            continue;
        }
        ck_assert_uint_ge(n, size);
        stc_tensor_free(t);
    }
    unlink(where);
    free(bytes);
    machine_shut(m, &h);
}
END_TEST

Suite *suite_packed(void)
{
    Suite *s = suite_create("packed");
    TCase *c = tcase_create("packed");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_set_timeout(c, 120);
    tcase_add_test(c, kinds_of_blocks);
    tcase_add_test(c, damaged);
    tcase_add_test(c, bombs);
    tcase_add_test(c, archives);
    tcase_add_test(c, archives_again);
    tcase_add_loop_test(c, damaged_archives, 0, 5);
    suite_add_tcase(s, c);
    return s;
}
