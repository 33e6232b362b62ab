/* check_levels.c: level kinds through their cursors: walking, seeking and
 * locating must agree with each other and with the entries packed. */
#include "../src/lang/lang.h"
#include "check.h"
#include <stdlib.h>
#include <string.h>

enum { N = 12 };
static const int64_t stored[] = {1, 2, 5, 6, 7, 11};
enum { STORED = sizeof stored / sizeof *stored };

static const char *const formats1[] = {
    "dense",
    "svec",
    "hash",
    "rle",
    "bytemap",
    "(i) -> (i : hashed(6))",
    "(i) -> (i : hashed(20))",
    "(i) -> (i : hashed(nonunique))",
    "(i) -> (i : hashed(7, nonunique))",
    "(i) -> (i : compressed(index64))",
    "(i) -> (i : compressed(nonunique))",
    "(i) -> (i : compressed(unordered))",
    "(i) -> (i/3 : compressed, i%3 : dense)",
};

static tensor *vector(ctx *cx, const char *text)
{
    format f;
    tensor *t;
    entries e;
    const int64_t shape[] = {N};
    ck_ctx(cx, format_parse(cx, NULL, text, 1, &f));
    ck_ctx(cx, tensor_new(cx, &f, STC_I64, shape, (value){.i64 = 0}, &t));
    entries_init(&e, cx, 1, STC_I64);
    for (int k = 0; k < STORED; k++)
        ck_ctx(cx, entries_push(&e, &stored[k], (value){.i64 = stored[k] * 10}));
    ck_ctx(cx, tensor_pack(t, &e));
    entries_free(&e);
    ck_ctx(cx, tensor_check(t));
    return t;
}

static int64_t at_value(const tensor *t, int64_t p)
{
    return p == NONE ? 0 : type_load(t->type, t->vals, p).i64;
}

/* Walks the first level of a one-level tensor over [0, N). */
START_TEST(walking)
{
    heap h;
    ctx *cx = ctx_open(&h);
    tensor *t = vector(cx, formats1[_i]);
    const level *lv = &t->level[0];
    if (t->fmt.levels == 1 && lv->kind->caps & CAP_ITER &&
        format_props(&t->fmt, 0) & PROP_ORDERED) {
        cursor c;
        cursor_open(&c, lv, NULL);
        int64_t before = -1;
        for (int64_t i = 0; i < N; i++) {
            while (c.lo != CURSOR_END && c.hi <= i) {
                cursor_next(&c);
                ck_assert_int_ge(c.lo, before);
                before = c.lo;
            }
            bool here = cursor_stand(&c, i), want = tensor_get(t, &i).i64 != 0;
            ck_assert_int_eq(here ? at_value(t, c.at) : 0, tensor_get(t, &i).i64);
            ck_assert(here || !want);
        }
        for (int64_t from = 0; from < N; from++) {
            cursor_open(&c, lv, NULL);
            cursor_seek(&c, from);
            const bool here = cursor_stand(&c, from);
            ck_assert_int_eq(here ? at_value(t, c.at) : 0, tensor_get(t, &from).i64);
        }
    }
    if (t->fmt.levels == 1 && lv->kind->caps & CAP_LOCATE) {
        for (int64_t i = 0; i < N; i++) {
            cursor c;
            memset(&c, 0, sizeof c);
            lv->kind->locate(&c, lv, NULL, i);
            ck_assert_int_eq(at_value(t, c.at), tensor_get(t, &i).i64);
        }
    }
    tensor_free(t);
    ctx_close(cx, &h);
}
END_TEST

/* The position of one coordinate, by location or by a look at each. */
static int64_t found_at(const level *lv, const cursor *up, int64_t i)
{
    cursor c = {0};
    if (lv->kind->locate) {
        lv->kind->locate(&c, lv, up, i);
        return c.at;
    }
    for (cursor_open(&c, lv, up); c.lo != CURSOR_END; cursor_next(&c))
        if (c.lo == i) return c.pos;
    return NONE;
}

/* Many at once are what each of them is; those outside the extent are absent. */
START_TEST(locating_many)
{
    static const char *const texts[] = {"hash",
                                        "bytemap",
                                        "(i) -> (i : hashed(index64))",
                                        "(i) -> (i/3 : compressed, i%3 : bytemap)",
                                        "(i) -> (i/3 : dense, i%3 : hashed)",
                                        "(i) -> (i : hashed(6))",
                                        "(i) -> (i : hashed(7, index64))",
                                        "(i) -> (i/3 : dense, i%3 : hashed(4))",
                                        "svec",
                                        "(i) -> (i : compressed(index64))",
                                        "(i) -> (i : compressed(unordered))",
                                        "(i) -> (i/3 : dense, i%3 : compressed)"};
    heap h;
    ctx *cx = ctx_open(&h);
    tensor *t = vector(cx, texts[_i]);
    const level *lv = &t->level[t->fmt.levels - 1];
    const int64_t parents = t->fmt.levels > 1 ? t->level[0].size : 1;
    int32_t narrow[3 * N];
    int64_t wide[N], pos[N], apart2[2 * N];
    for (int k = 0; k < N; k++) { /* not in order, some outside */
        wide[k] = (k * 7 + 2) % (N + 3) - 1;
        narrow[3 * k] = (int32_t)wide[k];
    }
    for (int64_t p = 0; p < parents; p++) {
        int64_t there = 0, apart[N];
        const cursor up = {.at = p, .at_end = p + 1};
        for (int k = 0; k < N; k++) {
            apart[k] = found_at(lv, &up, wide[k]);
            there += apart[k] != NONE;
        }
        ck_assert_int_eq(lv->kind->locate_many(lv, p, narrow, 4, 12, N, pos), there);
        ck_assert(!memcmp(pos, apart, sizeof pos));
        memcpy(pos, wide, sizeof pos);
        ck_assert_int_eq(lv->kind->locate_many(lv, p, pos, 8, 8, N, pos), there);
        ck_assert(!memcmp(pos, apart, sizeof pos));
        for (int k = 0; k < N; k++)
            apart2[2 * k] = wide[k];
        ck_assert_int_eq(lv->kind->locate_many(lv, p, apart2, 8, 16, N, pos), there);
        ck_assert(!memcmp(pos, apart, sizeof pos));
        if (p == 0) ck_ctx(cx, index_widen(cx, &t->level[t->fmt.levels - 1].a[STC_AUX]));
    }
    tensor_free(t);
    ctx_close(cx, &h);
}
END_TEST

static bool is_range(tensor *t)
{
    const level *lv = &t->level[0];
    fiber_table f;
    fiber_view v;
    ck_ctx(t->cx, tensor_check(t));
    lv->kind->table(lv, &f);
    lv->kind->view(lv, 0, 0, &v);
    ck_assert_int_eq(f.shape, v.shape);
    return f.shape == VIEW_RANGE && f.lo == 0 && f.hi == N && v.begin == 0 && v.end == N;
}

/* A map of bytes that are all set is plain memory, and not if one isn't any more, or if
 * nobody has looked since. */
START_TEST(whole_maps)
{
    const int64_t shape[] = {N};
    heap h;
    ctx *cx = ctx_open(&h);
    format f;
    tensor *t;
    entries e;
    ck_ctx(cx, format_parse(cx, NULL, "bytemap", 1, &f));
    ck_ctx(cx, tensor_new(cx, &f, STC_I64, shape, (value){.i64 = 0}, &t));
    ck_assert(!is_range(t));
    entries_init(&e, cx, 1, STC_I64);
    for (int64_t k = 0; k < N; k++)
        ck_ctx(cx, entries_push(&e, &k, (value){.i64 = 1}));
    ck_ctx(cx, tensor_pack(t, &e));
    entries_free(&e);
    ck_assert(is_range(t));
    ck_assert(is_range(t));
    uint8_t *flag = t->level[0].a[STC_AUX].data;
    for (int64_t k = 0; k < N; k += N - 1) {
        flag[k] = 0;
        t->generation++;
        ck_assert(!is_range(t));
        flag[k] = 1;
        t->generation++;
        ck_assert(is_range(t));
    }
    t->vouched = true;
    t->generation++;
    ck_assert(!is_range(t));
    tensor_free(t);
    ctx_close(cx, &h);
}
END_TEST

/* Below an absent parent every kind is empty. */
START_TEST(below_nothing)
{
    for (int k = 0; k < LEVEL_COUNT; k++) {
        const level_kind *kind = level_kind_at(k);
        ck_assert_ptr_nonnull(kind);
        ck_assert_int_eq(level_kind_number(kind), k);
        ck_assert_ptr_eq(level_kind_named(kind->name, strlen(kind->name), kind->takes),
                         kind);
        ck_assert_ptr_nonnull(kind->pack);
        ck_assert_ptr_nonnull(kind->check);
        if (kind->caps & CAP_LOCATE) ck_assert_ptr_nonnull(kind->locate);
        if (kind->caps & CAP_ITER) ck_assert_ptr_nonnull(kind->open);
    }
    ck_assert_ptr_null(level_kind_at(LEVEL_COUNT));
    ck_assert_ptr_null(level_kind_at(-1));
    ck_assert_ptr_null(level_kind_named("densest", 7, false));
    heap h;
    ctx *cx = ctx_open(&h);
    for (size_t k = 0; k < sizeof formats1 / sizeof *formats1; k++) {
        tensor *t = vector(cx, formats1[k]);
        cursor up, c;
        memset(&up, 0, sizeof up);
        up.at = up.at_end = NONE;
        cursor_open(&c, &t->level[0], &up);
        ck_assert_msg(c.lo == CURSOR_END, "%s", formats1[k]);
        tensor_free(t);
    }
    ctx_close(cx, &h);
}
END_TEST

START_TEST(index_arrays)
{
    heap h;
    ctx *cx = ctx_open(&h);
    index_array a;
    index_init(&a, 100, 0);
    ck_assert_int_eq(a.width, 4);
    for (int64_t k = 0; k < 100; k++)
        ck_ctx(cx, index_push(cx, &a, k));
    ck_ctx(cx, index_push(cx, &a, INT64_C(1) << 40));
    ck_assert_int_eq(a.width, 8);
    for (int64_t k = 0; k < 100; k++)
        ck_assert_int_eq(index_get(&a, k), k);
    ck_assert_int_eq(index_get(&a, 100), INT64_C(1) << 40);
    index_free(cx, &a);
    index_init(&a, INT64_C(1) << 33, 0);
    ck_assert_int_eq(a.width, 8);
    index_free(cx, &a);
    ck_ctx(cx, index_push(cx, &a, 7));
    h.fail_at = h.calls + 1;
    h.lasting = true;
    ck_assert_int_eq(index_push(cx, &a, (int64_t)INT32_MIN - 1), STC_ERR_MEMORY);
    h.fail_at = 0;
    ck_ctx(cx, index_push(cx, &a, (int64_t)INT32_MIN - 1));
    ck_ctx(cx, index_push(cx, &a, INT64_MIN));
    ck_assert(index_get(&a, 0) == 7 && index_get(&a, 1) == (int64_t)INT32_MIN - 1);
    index_free(cx, &a);
    ctx_close(cx, &h);
}
END_TEST

/* A tensor without entries is whole and reads as its fill. */
START_TEST(new_is_whole)
{
    static const char *const texts[] = {"csr", "dcsr", "csf", "dense"};
    heap h;
    ctx *cx = ctx_open(&h);
    format f;
    tensor *t;
    const int64_t shape[] = {5, 6};
    ck_ctx(cx, format_parse(cx, NULL, texts[_i], 2, &f));
    ck_ctx(cx, tensor_new(cx, &f, STC_F64, shape, (value){.f64 = 0}, &t));
    ck_ctx(cx, tensor_check(t));
    ck_assert_int_eq(tensor_get(t, (const int64_t[]){4, 5}).f64 == 0, 1);
    tensor_free(t);
    ctx_close(cx, &h);
}
END_TEST

/* ---- every kind, as any reader may use it -------------------------------------------- */

static const char *const formats2[] = {
    "dense",
    "csr",
    "dcsr",
    "coo",
    "dia",
    "ell",
    "(i,j) -> (i : dense, j : hashed)",
    "(i,j) -> (i : hashed, j : dense)",
    "(i,j) -> (i : dense, j : hashed(4))",
    "(i,j) -> (i : hashed(3), j : dense)",
    "(i,j) -> (j : hashed(5), i : hashed(3))",
    "(i,j) -> (j : hashed(5, nonunique), i : hashed(nonunique))",
    "(i,j) -> (i : dense, j : hashed(nonunique, index64))",
    "(i,j) -> (j-i : hashed(7), i : range, j : offset)",
    "(i,j) -> (i : dense, j : compressed(unordered))",
    "(i,j) -> (i : dense, j : compressed(nonunique))",
    "(i,j) -> (i : compressed(nonunique, interleaved), j : singleton)",
    "(i,j) -> (j-i : dense, i : range, j : offset)",
    "(i,j) -> (j-i : dense, j : range, i : offset)",
    "(i,j) -> (i-j : compressed, i : range, j : offset)",
    "(i,j) -> (j-i : compressed, i/2 : dense, i : range, i%2 : dense, j : offset)",
    "(i,j) -> (i/2 : compressed, j/3 : bytemap, i%2 : dense, j%3 : dense)",
    "(i,j) -> (flat(i,j) : bytemap)",
    "(i,j) -> (i : dense, j : rle)",
    "(i,j) -> (i : rle, j : compressed)",
    "(i,j) -> (i : dense, j : lz77)",
    "(i,j) -> (i : lz77, j : dense)",
};
enum { FORMATS2 = sizeof formats2 / sizeof *formats2 };

/* Locating and seeking agree with where the cursor stands. */
static void expect_here(const cursor *c, const level *lv, const cursor *up, int64_t i)
{
    cursor other = {0};
    if (lv->kind->locate) {
        lv->kind->locate(&other, lv, up, i);
        ck_assert_int_eq(other.at, c->at);
    }
    cursor_open(&other, lv, up);
    cursor_seek(&other, i);
    if (!(lv->props & PROP_ORDERED)) return;       /* stops at the first one behind it */
    if (lv->kind->seek) lv->kind->seek(&other, i); /* it stands there already */
    ck_assert(cursor_stand(&other, i));
    ck_assert_int_eq(other.at, c->at);
    cursor_seek(&other, lv->base + lv->extent); /* past all of them */
    ck_assert(other.lo == CURSOR_END || other.lo >= lv->base + lv->extent);
    if (lv->kind->seek) lv->kind->seek(&other, lv->base);
    ck_assert(other.lo == CURSOR_END || other.lo >= lv->base + lv->extent);
}

static void expect_view(const level *lv, const cursor *up, const cursor *c)
{
    fiber_view v;
    lv->kind->view(lv, up ? up->at : 0, up ? up->coord : 0, &v);
    if (v.shape == VIEW_NONE || (up && up->at_end > up->at + 1)) return;
    ck_assert_int_le(v.begin, c->at);
    ck_assert(v.shape == VIEW_RANGE || v.shape == VIEW_RUNS || c->at < v.end);
    if (v.shape != VIEW_COORDS) return;
    const char *crd = (const char *)v.crd + c->at * v.stride;
    ck_assert_int_eq(v.width == 4 ? *(const int32_t *)crd : *(const int64_t *)crd,
                     c->coord);
}

/* The sum of what is stored below, padding and unlabeled places apart. */
static double walk_all(const tensor *t, int l, const cursor *up)
{
    const level *lv = &t->level[l];
    double sum = 0;
    cursor c, none = {.at = NONE, .at_end = NONE};
    for (cursor_open(&c, lv, up); c.lo != CURSOR_END; cursor_next(&c))
        for (int64_t i = c.lo; i < c.hi; i++) {
            ck_assert(i >= lv->base && i - lv->base < lv->extent);
            ck_assert(cursor_stand(&c, i));
            expect_here(&c, lv, up, i);
            expect_view(lv, up, &c);
            if (l + 1 < t->fmt.levels) {
                sum += walk_all(t, l + 1, &c);
                continue;
            }
            for (int64_t p = c.at; p < c.at_end; p++)
                sum += type_load(t->type, t->vals, p).f64;
        }
    if (lv->kind->locate) {
        static const int64_t beyond[] = {INT64_MIN / 2, INT64_MAX / 2};
        for (int k = 0; k < 4; k++) {
            lv->kind->locate(&c, lv, k < 2 ? up : &none, k < 2 ? beyond[k] : lv->base);
            ck_assert_int_eq(c.at, NONE);
        }
    }
    cursor_open(&c, lv, &none);
    ck_assert(c.lo == CURSOR_END);
    cursor_seek(&c, lv->base);
    ck_assert(c.lo == CURSOR_END);
    return sum;
}

START_TEST(read_in_all_ways)
{
    static const int64_t shape[] = {4, 6},
                         at[] = {0, 1, 0, 5, 1, 1, 2, 0, 2, 3, 2, 4, 2, 5};
    heap h;
    ctx *cx = ctx_open(&h);
    for (int wide = 0; wide < 2; wide++) {
        tensor *t = tensor_of(cx, formats2[_i], STC_F64, 2, shape, 7, at);
        for (int l = 0; wide && l < t->fmt.levels; l++)
            for (int r = 0; r < 3; r++) {
                index_array *a = &t->level[l].a[r];
                if (a->stride == a->width) ck_ctx(cx, index_widen(cx, a));
            }
        ck_assert(walk_all(t, 0, NULL) == 28);
        for (int l = 0; l < t->fmt.levels; l++) {
            const level *lv = &t->level[l];
            const int64_t one = lv->kind->size(lv, 1);
            ck_assert_int_eq(lv->kind->size(lv, 0), 0);
            ck_assert_int_eq(lv->kind->size(lv, NONE), NONE);
            if (one > 1) ck_assert_int_eq(lv->kind->size(lv, INT64_MAX), NONE);
        }
        tensor_free(t);
    }
    ctx_close(cx, &h);
}
END_TEST

/* Nothing to find in a level without coordinates. */
START_TEST(no_extent)
{
    heap h;
    ctx *cx = ctx_open(&h);
    static const int64_t none[] = {3, 0};
    for (int k = 0; k < FORMATS2; k++) {
        tensor *t = tensor_of(cx, formats2[k], STC_F64, 2, none, 0, NULL);
        const level *lv = &t->level[t->fmt.levels - 1];
        int64_t i = 0, p;
        ck_ctx(cx, tensor_check(t));
        ck_assert(walk_all(t, 0, NULL) == 0);
        if (lv->kind->locate_many && lv->a[STC_POS].len != 1)
            ck_assert_int_eq(lv->kind->locate_many(lv, 0, &i, 8, 8, 1, &p), 0);
        tensor_free(t);
    }
    ctx_close(cx, &h);
}
END_TEST

Suite *suite_levels(void)
{
    Suite *s = suite_create("levels");
    TCase *c = tcase_create("levels");
    tcase_add_loop_test(c, walking, 0, sizeof formats1 / sizeof *formats1);
    tcase_add_loop_test(c, locating_many, 0, 9);
    tcase_add_test(c, below_nothing);
    tcase_add_test(c, whole_maps);
    tcase_add_loop_test(c, read_in_all_ways, 0, FORMATS2);
    tcase_add_test(c, no_extent);
    tcase_add_test(c, index_arrays);
    tcase_add_loop_test(c, new_is_whole, 0, 4);
    suite_add_tcase(s, c);
    return s;
}
