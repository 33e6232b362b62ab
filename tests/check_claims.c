/* check_claims.c: what tensor_check finds in arrays that aren't what the format claims:
 * a good tensor, a change or two of its arrays, and what is said about it, for every
 * refusal of every level kind, in arrays of 32 bits and of 64. */
#include "check.h"
#include <string.h>

/* 3 x 4: rows of 2, 0 and 3 entries. */
enum { ROWS = 3, COLUMNS = 4, STORED = 5 };
static const int64_t shape[] = {ROWS, COLUMNS};
static const int64_t cells[] = {0, 1, 0, 3, 2, 0, 2, 2, 2, 3};

/* Element `at` of an array becomes `to`; CUT: the last one is gone; VALUES as a role. */
enum { CUT = -1, VALUES = 3 };
typedef struct change {
    int level, role;
    int64_t at, to;
} change;

typedef struct claim {
    const char *format;
    int changes;
    change change[3];
    const char *words; /* NULL: it is still what it claims */
} claim;

#define CSR "csr"
#define HASHED "(i,j) -> (i : dense, j : hashed)"
#define SLOTS "(i,j) -> (i : dense, j : hashed(3))"
#define RLE "(i,j) -> (i : dense, j : rle)"
#define LZ77 "(i,j) -> (i : dense, j : lz77)"
#define BYTEMAP "(i,j) -> (i : dense, j : bytemap)"
#define COO "(i,j) -> (i : compressed(nonunique), j : singleton)"
#define UNORDERED "(i,j) -> (i : dense, j : compressed(unordered))"
#define NONUNIQUE "(i,j) -> (i : dense, j : compressed(nonunique))"
#define ELL "(i,j) -> (#i : dense, i : dense, j : singleton)"

static const claim claims[] = {
    {CSR, 1, {{1, STC_POS, CUT, 0}}, "positions: 3 elements, expected 4"},
    {CSR, 1, {{1, STC_POS, 0, 1}}, "positions[0] is 1, expected 0"},
    {CSR, 1, {{1, STC_POS, 2, 1}}, "positions[2] is 1, below the 2 before it"},
    {CSR, 1, {{1, STC_POS, 3, 4}}, "positions end at 4, but there are 5 coordinates"},
    {CSR, 1, {{1, STC_CRD, 4, 4}}, "coordinate 4 at position 4 is outside 0:4"},
    {CSR, 1, {{1, STC_CRD, 0, -1}}, "coordinate -1 at position 0 is outside 0:4"},
    {CSR,
     1,
     {{1, STC_CRD, 1, 0}},
     "coordinate 0 at position 1 follows 1; expected ascending"},
    {CSR, 1, {{1, STC_CRD, 1, 1}}, "position 1 follows 1; expected no duplicates"},
    {CSR, 1, {{0, VALUES, CUT, 0}}, "values: 4 elements, expected 5"},
    {UNORDERED, 2, {{1, STC_CRD, 0, 3}, {1, STC_CRD, 1, 1}}, NULL},
    {UNORDERED,
     1,
     {{1, STC_CRD, 4, 0}},
     "coordinate 0 is at positions 2 and 4 of one fiber"},
    {NONUNIQUE, 1, {{1, STC_CRD, 1, 1}}, NULL},
    {NONUNIQUE, 1, {{1, STC_CRD, 1, 0}}, "follows 1; expected ascending"},
    {HASHED, 1, {{1, STC_POS, 0, 1}}, "positions[0] is 1"},
    {HASHED, 1, {{1, STC_AUX, CUT, 0}}, "buckets: 9 elements, expected 10"},
    {HASHED,
     1,
     {{1, STC_AUX, 0, 2}},
     "bucket 0 holds position 2, which is outside its fiber 0:2"},
    {HASHED,
     1,
     {{1, STC_AUX, 9, -2}},
     "bucket 9 holds position -2, which is outside its fiber"},
    {HASHED, 1, {{1, STC_CRD, 0, 4}}, "coordinate 4 at position 0 is outside 0:4"},
    {HASHED, 1, {{1, STC_CRD, 1, 1}}, "coordinate 1 at position 1 occurs twice"},
    {SLOTS, 1, {{1, STC_CRD, CUT, 0}}, "slots: 8 elements, expected 9"},
    {SLOTS, 1, {{1, STC_CRD, 0, -1}}, NULL},
    {SLOTS, 1, {{1, STC_CRD, 2, 2}}, NULL},
    {SLOTS, 1, {{1, STC_CRD, 0, 4}}, "coordinate 4 at position 0 is outside 0:4"},
    {SLOTS, 1, {{1, STC_CRD, 0, -2}}, "coordinate -2 at position 0 is outside 0:4"},
    {SLOTS,
     1,
     {{1, STC_CRD, 3, 1}},
     "coordinate 1 is in slot 0, and the search for it ends at slot 1 of fiber 1"},
    {SLOTS,
     1,
     {{1, STC_CRD, 7, 0}},
     "coordinate 0 is in slot 1, and the search for it ends at slot 0 of fiber 2"},
    {SLOTS, 1, {{0, VALUES, CUT, 0}}, "values: 8 elements, expected 9"},
    {RLE, 1, {{1, STC_POS, 1, 0}}, "fiber 0 has no runs, expected them to cover 0:4"},
    {RLE, 1, {{1, STC_CRD, 0, 1}}, "the run at position 0 begins at 1, expected 0"},
    {RLE,
     1,
     {{1, STC_CRD, 1, 0}},
     "the run at position 1 begins at 0, expected more than 0"},
    {RLE, 1, {{1, STC_CRD, 1, 7}}, "coordinate 7 at position 1 is outside 0:4"},
    {RLE, 1, {{1, STC_POS, CUT, 0}}, "positions: 3 elements, expected 4"},
    {RLE, 1, {{0, VALUES, CUT, 0}}, "values:"},
    {LZ77, 1, {{1, STC_POS, 1, 0}}, "fiber 0 has 0 tokens, expected them to cover 0:4"},
    {LZ77,
     1,
     {{1, STC_CRD, 0, 1}},
     "token 0 covers 1:|expected it to begin at 0 and to end by 4"},
    {LZ77, 1, {{1, STC_AUX, 1, -1}}, "token 0 has start 0 and size -1"},
    {LZ77, 1, {{1, STC_AUX, 0, -7}}, "token 0 has start -7 and size 0"},
    {LZ77, 1, {{1, STC_AUX, CUT, 0}}, "starts and sizes:"},
    {LZ77, 1, {{1, STC_POS, 3, 9}}, "positions end at 9"},
    {LZ77, 1, {{0, VALUES, CUT, 0}}, "values:"},
    {BYTEMAP, 1, {{1, STC_AUX, 0, 2}}, "the flag of position 0 is 2, expected 0 or 1"},
    {BYTEMAP,
     1,
     {{1, STC_AUX, 1, (int64_t)1 << 40}},
     "position 13 is 1, expected 0 after the last"},
    {BYTEMAP, 1, {{1, STC_AUX, CUT, 0}}, "flags, in words,: 1 elements, expected 2"},
    {COO, 1, {{1, STC_CRD, 1, 9}}, "coordinate 9 at position 1 is outside 0:4"},
    {COO, 1, {{1, STC_CRD, 1, -1}}, "coordinate -1 at position 1 is outside 0:4"},
    {COO, 1, {{1, STC_CRD, CUT, 0}}, "coordinates: 4 elements, expected 5"},
    {COO,
     1,
     {{1, STC_CRD, 1, 0}},
     "coordinate 0 at position 1 follows 1; expected ascending ones"},
    {COO,
     1,
     {{1, STC_CRD, 1, 1}},
     "follows 1; expected no duplicates below equal coordinates, or an unordered level"},
    {ELL, 1, {{2, STC_CRD, 1, 2}}, NULL},
    {ELL, 1, {{2, STC_CRD, 1, 4}}, "coordinate 4 at position 1 is outside 0:4"},
    {ELL, 1, {{2, STC_CRD, CUT, 0}}, "positions below it are no multiple of 3"},
    {"dia", 1, {{0, STC_CRD, 0, -3}}, "coordinate -3 at position 0 is outside -2:4"},
    {"dia", 1, {{0, VALUES, CUT, 0}}, "values:"},
    {"dense", 1, {{0, VALUES, CUT, 0}}, "values: 11 elements, expected 12"},
};
enum { CLAIMS = sizeof claims / sizeof *claims };

static void make(tensor *t, const change *c)
{
    if (c->role == VALUES) {
        t->nvals--;
        return;
    }
    index_array *a = &t->level[c->level].a[c->role];
    if (c->at == CUT) {
        a->len--;
    } else {
        index_set(a, c->at, c->to);
    }
}

static void widen_all(ctx *cx, tensor *t)
{
    for (int l = 0; l < t->fmt.levels; l++)
        for (int r = 0; r < 3; r++)
            ck_ctx(cx, index_widen(cx, &t->level[l].a[r]));
}

START_TEST(each_claim)
{
    const claim *c = &claims[_i];
    heap h;
    ctx *cx = ctx_open(&h);
    for (int wide = 0; wide < 2; wide++) {
        tensor *t = tensor_of(cx, c->format, STC_F64, 2, shape, STORED, cells);
        if (wide) widen_all(cx, t);
        t->generation++;
        ck_ctx(cx, tensor_check(t));
        for (int k = 0; k < c->changes; k++)
            make(t, &c->change[k]);
        t->generation++;
        const int64_t nvals = t->nvals;
        const stc_status st = tensor_check(t);
        ck_assert_msg((st == STC_OK) == !c->words, "%s: %s", c->format, cx->diag.message);
        ck_assert_msg(!c->words || has_words(cx->diag.message, c->words), "%s, expected %s",
                      cx->diag.message, c->words);
        ck_assert_int_eq(t->nvals, nvals);
        tensor_free(t);
    }
    ctx_close(cx, &h);
}
END_TEST

/* Chains of more than two levels: what is below equal coordinates, of all of them. */
START_TEST(long_chains)
{
    static const int64_t cube[] = {4, 4, 4}, at[] = {1, 1, 1, 1, 1, 3, 1, 2, 0, 3, 0, 2};
    static const struct {
        int level;
        int64_t at, to;
        const char *words;
    } row[] = {
        {0, 0, 1, NULL},
        {2, 1, 0,
         "level 2 (singleton): coordinate 0 at position 1 follows 1; expected ascending"},
        {2, 1, 1, "expected no duplicates below equal coordinates"},
        {2, 2, 3, NULL},
        {1, 2, 0, "level 1 (singleton): coordinate 0 at position 2 follows 1"},
    };
    heap h;
    ctx *cx = ctx_open(&h);
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        tensor *t = tensor_of(cx, "coo", STC_I32, 3, cube, 4, at);
        index_set(&t->level[row[k].level].a[STC_CRD], row[k].at, row[k].to);
        t->generation++;
        const stc_status st = tensor_check(t);
        ck_assert_msg((st == STC_OK) == !row[k].words, "row %zu: %s", k, cx->diag.message);
        if (st)
            ck_assert_msg(has_words(cx->diag.message, row[k].words), "%s",
                          cx->diag.message);
        tensor_free(t);
    }
    ctx_close(cx, &h);
}
END_TEST

/* Arrays that can't be read at all, which lending would refuse. */
START_TEST(odd_arrays)
{
    static const struct {
        int width, stride, shift;
        const char *words;
    } row[] = {
        {3, 8, 0, "3 bytes an element, 8 apart; expected 4 or 8"},
        {8, 4, 0, "8 bytes an element, 4 apart"},
        {8, 8, 4, "not aligned to its 8 bytes"},
        {4, 6, 0, "not aligned to its 4 bytes"},
    };
    static int64_t data[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    heap h;
    ctx *cx = ctx_open(&h);
    tensor *t = tensor_of(cx, CSR, STC_C64, 2, shape, STORED, cells);
    const index_array sound = t->level[1].a[STC_CRD];
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        t->level[1].a[STC_CRD] = (index_array){
            (char *)data + row[k].shift, 5, 5, row[k].width, row[k].stride, false, false};
        t->generation++;
        ck_assert_int_eq(tensor_check(t), STC_ERR_DATA);
        ck_assert_msg(has_words(cx->diag.message, row[k].words), "%s", cx->diag.message);
    }
    t->level[1].a[STC_CRD] = (index_array){NULL, 5, 0, 4, 4, true, false};
    ck_assert_int_eq(tensor_check(t), STC_ERR_DATA);
    ck_assert(has_words(cx->diag.message, "coordinates: 0 elements, expected"));
    t->level[1].a[STC_CRD] = (index_array){data, -1, 0, 4, 4, false, false};
    ck_assert_int_eq(tensor_check(t), STC_ERR_DATA);
    t->level[1].a[STC_CRD] = sound;
    void *const vals = t->vals;
    t->vals = (char *)vals + 2;
    ck_assert_int_eq(tensor_check(t), STC_ERR_DATA);
    ck_assert(has_words(cx->diag.message, "values: not aligned to their type, c64"));
    t->vals = NULL;
    ck_assert_int_eq(tensor_check(t), STC_ERR_DATA);
    ck_assert(has_words(cx->diag.message, "values: 0 elements, expected 5"));
    t->vals = vals;
    ck_ctx(cx, tensor_check(t));
    tensor_free(t);
    ctx_close(cx, &h);
}
END_TEST

/* A level that counts entries has as many as what is below it tells. */
#define COUNTED "(i,j) -> (#i : dense, i : dense, j : singleton)"

START_TEST(counted)
{
    static const struct {
        const char *format;
        int64_t shape[2], nvals;
        const char *words;
    } row[] = {
        {COUNTED, {3, 4}, 0, NULL},
        {COUNTED, {3, 4}, 23, "no multiple of 3"},
        {COUNTED, {0, 4}, 0, NULL},
        {COUNTED, {0, 4}, 3, "no multiple of 0"},
        {"(i,j) -> (#i : dense, i : dense, j : compressed)", {3, 4}, 0, NULL},
    };
    static double vals[24];
    heap h;
    ctx *cx = ctx_open(&h);
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        tensor *t = tensor_of(cx, row[k].format, STC_F64, 2, row[k].shape, 0, NULL);
        mem_free(cx, t->vals, (size_t)t->vals_cap * sizeof *vals);
        t->vals = vals;
        t->vals_owned = false;
        t->nvals = row[k].nvals;
        if (row[k].nvals) t->level[2].a[STC_CRD].len = row[k].nvals;
        t->generation++;
        const stc_status st = tensor_check(t);
        t->level[2].a[STC_CRD].len = 0;
        ck_assert_msg((st == STC_OK) == !row[k].words, "row %zu: %s", k, cx->diag.message);
        if (st)
            ck_assert_msg(has_words(cx->diag.message, row[k].words), "%s",
                          cx->diag.message);
        tensor_free(t);
    }
    tensor *t = tensor_of(cx, row[4].format, STC_F64, 2, shape, 0, NULL);
    t->level[2].a[STC_POS].len = 0;
    t->generation++;
    ck_assert_int_eq(tensor_check(t), STC_ERR_DATA);
    tensor_free(t);
    ctx_close(cx, &h);
}
END_TEST

/* Counts of positions that 64 bits can't hold: whoever checks first says so. */
START_TEST(beyond_counting)
{
    static const struct {
        const char *format;
        const char *words;
    } row[] = {
        {"svec", "more positions above than 64 bits can count"},
        {"hash", "more positions above than 64 bits can count"},
        {"rle", "more positions above than 64 bits can count"},
        {"(i) -> (i : lz77)", "more positions above than 64 bits can count"},
        {"dense", "positions of a dense level are more than 64 bits can count"},
        {"bytemap", "positions of a dense level are more than 64 bits can count"},
        {"(i) -> (i : hashed(4))",
         "9223372036854775807 fibers of 4 slots are more than 64 bits can count"},
    };
    const int64_t n = 4, one = 1;
    heap h;
    ctx *cx = ctx_open(&h);
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        tensor *t = tensor_of(cx, row[k].format, STC_F64, 1, &n, 1, &one);
        level *lv = &t->level[0];
        pack_in in = {.parents = INT64_MAX, .type = STC_F64};
        ck_assert_int_eq(lv->kind->check(cx, lv, INT64_MAX), STC_ERR_OVERFLOW);
        ck_assert_msg(has_words(cx->diag.message, row[k].words), "%s", cx->diag.message);
        if (k != 3) { /* lz77 goes from parent to parent */
            ck_assert_int_eq(lv->kind->pack(cx, lv, &in), STC_ERR_OVERFLOW);
            ck_assert_msg(has_words(cx->diag.message, row[k].words), "%s",
                          cx->diag.message);
        }
        tensor_free(t);
    }
    ctx_close(cx, &h);
}
END_TEST

/* Bytes that are no bool, among the first ones and far behind them; with a word of the
 * host's for them they aren't looked at. */
START_TEST(truths)
{
    const int64_t n = 100000, at[] = {0, 7, 99999};
    heap h;
    ctx *cx = ctx_open(&h);
    for (int k = 0; k < 3; k++) {
        tensor *t = tensor_of(cx, "dense", STC_BOOL, 1, &n, 1, at);
        uint8_t *const v = t->vals;
        v[at[k]] = 1;
        t->generation++;
        ck_ctx(cx, tensor_check(t));
        v[at[k]] = 2;
        t->generation++;
        ck_assert_int_eq(tensor_check(t), STC_ERR_DATA);
        char words[64];
        snprintf(words, sizeof words, "element %lld is 2; a bool is 0 or 1",
                 (long long)at[k]);
        ck_assert_msg(has_words(cx->diag.message, words), "%s", cx->diag.message);
        t->vouched = true;
        ck_ctx(cx, tensor_check(t));
        tensor_free(t);
    }
    ctx_close(cx, &h);
    /* what is in the host's room ahead of a result isn't looked at */
    stc_machine *m = machine_open(&h, false);
    stc_tensor *t;
    uint8_t room[] = {7, 7};
    ck_ok(m, stc_tensor_new(m, "svec", STC_BOOL, 1, (const int64_t[]){2}, NULL, &t));
    ck_ok(m, stc_tensor_to_dense(t, room));
    ck_assert(room[0] == 0 && room[1] == 0);
    stc_tensor_free(t);
    machine_shut(m, &h);
}
END_TEST

/* What the host vouches for isn't looked at, and has the sizes that its arrays tell. */
START_TEST(vouched)
{
    static const char *const formats[] = {"dense", CSR,  HASHED,    RLE,   LZ77,
                                          BYTEMAP, COO,  ELL,       "dia", "csf",
                                          "coo",   "ds", "bytemap", SLOTS};
    heap h;
    ctx *cx = ctx_open(&h);
    for (size_t k = 0; k < sizeof formats / sizeof *formats; k++) {
        tensor *t = tensor_of(cx, formats[k], STC_I16, 2, shape, STORED, cells);
        int64_t size[STC_MAX_ORDER];
        for (int l = 0; l < t->fmt.levels; l++) {
            size[l] = t->level[l].size;
            t->level[l].size = 0;
        }
        t->vouched = true;
        t->generation++;
        ck_ctx(cx, tensor_check(t));
        for (int l = 0; l < t->fmt.levels; l++)
            ck_assert_msg(t->level[l].size == size[l], "%s, level %d: %lld", formats[k], l,
                          (long long)t->level[l].size);
        ck_assert_int_eq(tensor_get(t, (const int64_t[]){2, 3}).i64, 5);
        tensor_free(t);
    }
    ctx_close(cx, &h);
}
END_TEST

Suite *suite_claims(void)
{
    Suite *s = suite_create("claims");
    TCase *c = tcase_create("claims");
    tcase_add_loop_test(c, each_claim, 0, CLAIMS);
    tcase_add_test(c, long_chains);
    tcase_add_test(c, odd_arrays);
    tcase_add_test(c, counted);
    tcase_add_test(c, beyond_counting);
    tcase_add_test(c, truths);
    tcase_add_test(c, vouched);
    suite_add_tcase(s, c);
    return s;
}
