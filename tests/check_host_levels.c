/* check_host_levels.c: level kinds of the host's own: what registering refuses, and what
 * is said of kinds that don't keep their promises. */
#include "../src/api/api.h"
#include "case.h"
#include "check.h"
#include <string.h>

static stc_machine *m;
static heap h;

static void setup(void)
{
    m = machine_open(&h, false);
}

static void teardown(void)
{
    machine_shut(m, &h);
}

static void expect(stc_status st, stc_status status, const char *words)
{
    ck_assert_msg(st == status && has_words(stc_error(m)->message, words),
                  "%s (%s), expected %s (%s)", stc_status_name(st), stc_error(m)->message,
                  stc_status_name(status), words);
}

/* A kind of one fiber and up to 4 coordinates; how it breaks its word is its context. */
typedef enum fault {
    SOUND,
    FAILS,    /* to pack, in silence             */
    EXPLAINS, /* why it fails                    */
    NEGATIVE, /* so many positions               */
    OUTSIDE,  /* positions that aren't there     */
    BELOW,    /* the first of them               */
    GREEDY,   /* arrays that it never said it uses */
} fault;

static int seek(void *context, const stc_level *lv, int64_t parent, int64_t i,
                stc_interval *out)
{
    const int64_t *crd = lv->array[STC_CRD].data;
    (void)context, (void)parent;
    for (int64_t p = 0; p < lv->size; p++) {
        if (crd[p] < i) continue;
        *out = (stc_interval){.lo = crd[p], .hi = crd[p] + 1, .position = p};
        return 1;
    }
    return 0;
}

static int64_t locate(void *context, const stc_level *lv, int64_t parent, int64_t i)
{
    stc_interval at;
    return seek(context, lv, parent, i, &at) && at.lo == i ? at.position : -1;
}

static stc_status pack(void *context, stc_level *lv, int64_t n, const int64_t *coord,
                       int64_t *pos)
{
    const fault f = *(const fault *)context;
    int64_t *crd = stc_level_array(lv, STC_CRD, 8, n);
    if (f == FAILS) return STC_ERR_DATA;
    if (f == EXPLAINS) return stc_level_fail(lv, STC_ERR_SHAPE, "no room for so many");
    if (f == GREEDY) {
        ck_assert_ptr_null(stc_level_array(lv, STC_POS, 8, n));
        ck_assert_ptr_null(stc_level_array(lv, (stc_array_role)3, 8, n));
        ck_assert_ptr_null(stc_level_array(lv, STC_CRD, 3, n));
        ck_assert_ptr_null(stc_level_array(lv, STC_CRD, 4, -1));
        ck_assert_ptr_nonnull(stc_level_array(lv, STC_CRD, 4, 0));
        crd = stc_level_array(lv, STC_CRD, 8, n);
    }
    if (!crd) return STC_ERR_MEMORY;
    for (int64_t e = 0; e < n; e++) {
        crd[e] = coord[e];
        pos[e] = f == OUTSIDE ? n : f == BELOW ? -1 : e;
    }
    lv->size = f == NEGATIVE ? -3 : n;
    return STC_OK;
}

static stc_status check(void *context, stc_level *lv)
{
    const fault f = *(const fault *)context;
    lv->size = f == NEGATIVE ? -2 : lv->array[STC_CRD].length;
    return f == FAILS ? STC_ERR_CORRUPT : STC_OK;
}

static stc_level_kind kind_of(const char *name, fault *f)
{
    return (stc_level_kind){.size = sizeof(stc_level_kind),
                            .name = name,
                            .flags = STC_KIND_COMPACT,
                            .arrays = 1u << STC_CRD,
                            .context = f,
                            .seek = seek,
                            .locate = locate,
                            .pack = pack,
                            .check = check};
}

START_TEST(registering)
{
    static const char longest[] =
        "a234567890123456789012345678901234567890123456789012345678901234";
    static const char *const names[] = {"", longest, "compressed", "2d", "a-b", "a b", "ä"};
    fault f = SOUND;
    stc_level_kind k = kind_of("fine_2", &f);
    ck_ok(m, stc_level_register(m, &k));
    expect(stc_level_register(m, &k), STC_ERR_ARGUMENT,
           "a level kind of that name already");
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        k.name = names[n];
        expect(stc_level_register(m, &k), STC_ERR_ARGUMENT,
               "the level kind can't be registered");
    }
    k.name = "other";
    for (int part = 0; part < 8; part++) {
        stc_level_kind less = k;
        if (part == 0) less.size--;
        if (part == 1) less.name = NULL;
        if (part == 2) less.seek = NULL;
        if (part == 3) less.pack = NULL;
        if (part == 4) less.check = NULL;
        if (part == 5) less.arrays = 0;
        if (part == 6) less.arrays = 9;
        if (part == 7) h.fail_at = h.calls + 1;
        expect(stc_level_register(m, &less), part < 7 ? STC_ERR_ARGUMENT : STC_ERR_MEMORY,
               part == 0   ? "another version"
               : part < 5  ? "it needs a name, seek, pack and check"
               : part == 7 ? "out of memory"
                           : "at least one of the three arrays");
    }
    h.fail_at = 0;
    ck_assert_ptr_nonnull(level_kind_find(&m->cx, "fine_2", 6, false));
    ck_assert_ptr_null(level_kind_find(&m->cx, "fine_3", 6, false));
    ck_assert_ptr_null(level_kind_find(&m->cx, "fine", 4, false));
    ck_assert_str_eq(level_kind_host(&m->cx, 0)->name, "fine_2");
    ck_assert_ptr_null(level_kind_host(&m->cx, 1));
    ck_assert_int_eq(level_kind_number(level_kind_host(&m->cx, 0)), -1);
    stc_level lone = {.internal = NULL};
    ck_assert_ptr_null(stc_level_array(NULL, STC_CRD, 8, 1));
    ck_assert_ptr_null(stc_level_array(&lone, STC_CRD, 8, 1));
    ck_assert_int_eq(stc_level_fail(&lone, STC_ERR_DATA, "lost"), STC_ERR_DATA);
    ck_assert_int_eq(stc_level_fail(NULL, STC_ERR_DATA, "lost"), STC_ERR_DATA);
}
END_TEST

static const struct {
    fault fault;
    stc_status status;
    const char *words;
} packs[] = {
    {FAILS, STC_ERR_DATA, "the level kind `mine` refused: data"},
    {EXPLAINS, STC_ERR_SHAPE, "no room for so many"},
    {NEGATIVE, STC_ERR_DATA, "the level kind `mine` counts -3 positions"},
    {OUTSIDE, STC_ERR_DATA, "the level kind `mine` gave position 2 of 2"},
    {BELOW, STC_ERR_DATA, "the level kind `mine` gave position -1 of 2"},
};

START_TEST(broken_packs)
{
    const int64_t n = 9, at[] = {2, 5};
    const double vals[] = {1, 2};
    fault f = SOUND;
    stc_tensor *t;
    const stc_level_kind k = kind_of("mine", &f);
    ck_ok(m, stc_level_register(m, &k));
    const char *text = "(i) -> (i : mine)";
    for (int sound = 0; sound < 2; sound++) {
        f = sound ? GREEDY : SOUND;
        ck_ok(m, stc_tensor_from_coords(m, text, STC_F64, 1, &n, NULL, 2, at, vals, &t));
        ck_ok(m, stc_tensor_check(t));
        stc_value v;
        ck_ok(m, stc_tensor_get(t, &at[1], &v));
        ck_assert(v.f == 2);
        stc_tensor_free(t);
    }
    f = packs[_i].fault;
    t = NULL;
    expect(stc_tensor_from_coords(m, text, STC_F64, 1, &n, NULL, 2, at, vals, &t),
           packs[_i].status, packs[_i].words);
    ck_assert_ptr_null(t);
}
END_TEST

START_TEST(broken_checks)
{
    const int64_t n = 9, at[] = {2, 5};
    const double vals[] = {1, 2};
    fault f = SOUND;
    stc_tensor *t;
    const stc_level_kind k = kind_of("mine", &f);
    ck_ok(m, stc_level_register(m, &k));
    ck_ok(m, stc_tensor_from_coords(m, "(i) -> (i : mine)", STC_F64, 1, &n, NULL, 2, at,
                                    vals, &t));
    stc_tensor_touch(t);
    f = FAILS;
    expect(stc_tensor_check(t), STC_ERR_CORRUPT, "level 0 (mine)|refused: corrupt");
    stc_tensor_touch(t);
    f = NEGATIVE;
    expect(stc_tensor_check(t), STC_ERR_DATA, "counts -2 positions");
    stc_tensor_touch(t);
    f = SOUND;
    t->level[0].a[STC_CRD].stride = 3;
    expect(stc_tensor_check(t), STC_ERR_DATA, "an array: 8 bytes an element, 3 apart");
    t->level[0].a[STC_CRD].stride = 8;
    stc_tensor_vouch(t);
    stc_tensor_touch(t);
    ck_ok(m, stc_tensor_check(t));
    stc_tensor_free(t);
}
END_TEST

/* What has no coordinates of the machine's is looked at even if it is vouched for. */
START_TEST(vouched)
{
    const int64_t n = 9, at[] = {2, 5};
    const double vals[] = {1, 2};
    fault f = SOUND;
    stc_tensor *t;
    stc_level_kind k = kind_of("mine", &f);
    k.arrays |= 1u << STC_AUX;
    ck_ok(m, stc_level_register(m, &k));
    ck_ok(m, stc_tensor_from_coords(m, "(i) -> (i : mine)", STC_F64, 1, &n, NULL, 2, at,
                                    vals, &t));
    ((level_kind *)(uintptr_t)t->level[0].kind)->arrays = 1u << STC_AUX;
    stc_tensor_vouch(t);
    stc_tensor_touch(t);
    f = FAILS;
    expect(stc_tensor_check(t), STC_ERR_CORRUPT, "level 0 (mine)|refused: corrupt");
    stc_tensor_free(t);
}
END_TEST

/* Many coordinates at once, as handlers ask for them. */
START_TEST(locating_many)
{
    const int64_t n = 9, at[] = {2, 5};
    const double vals[] = {1, 2};
    fault f = SOUND;
    stc_tensor *t;
    const stc_level_kind k = kind_of("mine", &f);
    ck_ok(m, stc_level_register(m, &k));
    ck_ok(m, stc_tensor_from_coords(m, "(i) -> (i : mine)", STC_F64, 1, &n, NULL, 2, at,
                                    vals, &t));
    const level *lv = &t->level[0];
    const int32_t narrow[] = {5, -1, 2, 9, 3};
    int64_t pos[5], wide[] = {5, -1, 2, 9, 3};
    ck_assert_int_eq(lv->kind->locate_many(lv, 0, narrow, 4, 4, 5, pos), 2);
    ck_assert_int_eq(lv->kind->locate_many(lv, 0, wide, 8, 8, 5, wide), 2);
    for (int e = 0; e < 5; e++) {
        ck_assert_int_eq(pos[e], e == 0 ? 1 : e == 2 ? 0 : NONE);
        ck_assert_int_eq(pos[e], wide[e]);
        cursor c, up = {.at = NONE, .at_end = NONE};
        lv->kind->locate(&c, lv, NULL, narrow[e]);
        ck_assert_int_eq(c.at, pos[e]);
        lv->kind->locate(&c, lv, &up, narrow[e]);
        ck_assert_int_eq(c.at, NONE);
    }
    cursor c, up = {.at = NONE, .at_end = NONE};
    cursor_open(&c, lv, &up);
    lv->kind->seek(&c, 0);
    ck_assert_int_eq(c.lo, CURSOR_END);
    ck_assert_int_eq(lv->kind->size(lv, 0), 0);
    ck_assert_int_eq(lv->kind->size(lv, 1), NONE);
    stc_tensor_free(t);
}
END_TEST

Suite *suite_host_levels(void)
{
    Suite *s = suite_create("host_levels");
    TCase *c = tcase_create("host_levels");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, registering);
    tcase_add_loop_test(c, broken_packs, 0, sizeof packs / sizeof *packs);
    tcase_add_test(c, broken_checks);
    tcase_add_test(c, vouched);
    tcase_add_test(c, locating_many);
    suite_add_tcase(s, c);
    return s;
}
