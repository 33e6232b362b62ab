/* check_host_policies.c: workspaces that the host's own policies keep: what registering
 * refuses, that results are those of the plain statement whatever a policy answers, what is
 * said of those that don't keep their promises, and that programs have them by name. */
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

/* How a policy breaks its word is its context. */
typedef enum fault {
    SOUND,
    FINDS_ANY,     /* the last entry, whatever is asked for     */
    FINDS_OUTSIDE, /* one that isn't there                      */
    FAILS_TO_ENTER,
    FAILS_TO_SORT,
    SORTS_NOTHING,   /* the order stays as it was                 */
    SORTS_BACKWARDS, /* equal ones by descending numbers          */
    SORTS_OUTSIDE,
    SORTS_TWICE, /* one entry, again and again                */
} fault;

static int64_t find(void *context, const stc_workspace *w, const uint64_t *label)
{
    (void)label;
    switch (*(const fault *)context) {
    case FINDS_ANY:
        return w->entries - 1;
    case FINDS_OUTSIDE:
        return INT64_MAX;
    default:
        return -1;
    }
}

static stc_status enter(void *context, stc_workspace *w, int64_t number)
{
    ck_assert_int_eq(number, w->entries - 1);
    ck_assert_int_ge(w->capacity, w->entries);
    return *(const fault *)context == FAILS_TO_ENTER ? STC_ERR_MEMORY : STC_OK;
}

/* Few entries: each in turn goes behind those that it isn't before. */
static stc_status sort(void *context, stc_workspace *w, int64_t *order)
{
    const fault f = *(const fault *)context;
    if (f == FAILS_TO_SORT) return STC_ERR_IO;
    for (int64_t k = 0; k < w->entries && f != SORTS_NOTHING; k++) {
        int64_t at = k;
        for (; at > 0; at--) {
            const uint64_t a = w->labels[order[at - 1]], b = w->labels[k];
            if (f == SORTS_BACKWARDS ? a < b : a <= b) break;
            order[at] = order[at - 1];
        }
        order[at] = k;
    }
    for (int64_t k = 0; k < w->entries; k++) {
        if (f == SORTS_TWICE) order[k] = 0;
        if (f == SORTS_OUTSIDE) order[k] += w->entries;
    }
    return STC_OK;
}

static stc_workspace_policy policy_of(const char *name, fault *f)
{
    return (stc_workspace_policy){.size = sizeof(stc_workspace_policy),
                                  .name = name,
                                  .context = f,
                                  .find = find,
                                  .enter = enter,
                                  .sort = sort};
}

START_TEST(registering)
{
    static const char *const names[] = {"",   "auto", "hash", "lined",
                                        "2d", "a-b",  "a b",  NULL};
    fault f = SOUND;
    char name[80];
    ck_ok(m, host_policies_register(m));
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        const stc_workspace_policy p = policy_of(names[n], &f);
        expect(stc_workspace_register(m, &p), STC_ERR_ARGUMENT, "can't be registered");
    }
    stc_workspace_policy p = policy_of("fine", &f);
    p.size--;
    expect(stc_workspace_register(m, &p), STC_ERR_ARGUMENT, "another version");
    p.size++;
    p.find = NULL;
    p.sort = NULL;
    expect(stc_workspace_register(m, &p), STC_ERR_ARGUMENT, "it needs find or sort");
    expect(stc_workspace_register(m, NULL), STC_ERR_ARGUMENT, "is NULL");
    p.find = find;
    h.fail_at = h.calls + 1;
    expect(stc_workspace_register(m, &p), STC_ERR_MEMORY, "out of memory");
    h.fail_at = 0;
    int many = 0;
    for (stc_status st = STC_OK; !st && many < 300; many += !st) {
        snprintf(name, sizeof name, "p%d", many);
        p.name = name;
        st = stc_workspace_register(m, &p);
    }
    ck_assert_int_eq(many, 249);
    expect(STC_ERR_ARGUMENT, STC_ERR_ARGUMENT, "there are 250 already");
}
END_TEST

static const double matrix[20] = {1, 0, 2, 0, 0, 0, 3, 0, 4, 5,
                                  0, 0, 6, 0, 7, 8, 9, 0, 1, 2};

/* R(j,i) = sum over k, scattered, by a policy; compared with what was kept by `coord`. */
static stc_status multiply(const char *with, stc_type type, bool *same)
{
    static const int64_t shape[] = {4, 5};
    const stc_decl d[] = {{0, "A", "csr", STC_F64, NULL, 2},
                          {0, "R", "csr", type, NULL, 2}};
    double got[2][25];
    stc_status st = STC_OK;
    for (int k = 0; k < 2 && !st; k++) {
        stc_program *p = NULL;
        stc_tensor *a = NULL, *wide = NULL;
        const stc_tensor *r;
        char text[160];
        snprintf(text, sizeof text,
                 "R(j,i) = A(k,i) * A(k,j) with reorder(k,i,j), workspace(%s)",
                 k ? with : "coord");
        st = stc_tensor_from_dense(m, "csr", STC_F64, 2, shape, NULL, matrix, &a);
        if (!st) st = stc_compile(m, text, d, 2, &p);
        if (!st) st = stc_bind(p, "A", a);
        for (int round = 0; round < 2 && !st; round++)
            st = stc_run(p);
        if (!st) st = stc_result(p, "R", &r);
        if (!st) st = stc_tensor_convert(r, "dense", STC_F64, &wide);
        if (!st) st = stc_tensor_to_dense(wide, got[k]);
        stc_tensor_free(wide);
        stc_tensor_free(a);
        stc_program_free(p);
    }
    if (!st) *same = !memcmp(got[0], got[1], sizeof got[0]);
    return st;
}

START_TEST(answers)
{
    static const struct {
        fault f;
        stc_status st;
        const char *words;
    } row[] = {
        {SOUND, STC_OK, ""},
        {FINDS_ANY, STC_OK, ""},
        {FINDS_OUTSIDE, STC_OK, ""},
        {FAILS_TO_ENTER, STC_ERR_MEMORY, "the workspace policy `mine` failed"},
        {FAILS_TO_SORT, STC_ERR_IO, "the workspace policy `mine` failed"},
        {SORTS_NOTHING, STC_ERR_DATA, "`mine` sorted|they aren't in order"},
        {SORTS_BACKWARDS, STC_ERR_DATA, "they aren't in order"},
        {SORTS_OUTSIDE, STC_ERR_DATA, "they aren't in order"},
        {SORTS_TWICE, STC_ERR_DATA, "they aren't in order"},
    };
    fault f = row[_i].f;
    const stc_workspace_policy p = policy_of("mine", &f);
    bool same = false;
    ck_ok(m, stc_workspace_register(m, &p));
    expect(multiply("mine", STC_F64, &same), row[_i].st, row[_i].words);
    ck_assert(row[_i].st || same);
    f = SOUND; /* and nothing is left of it */
    ck_ok(m, multiply("mine, 3", STC_F64, &same));
    ck_assert(same);
}
END_TEST

/* Any allocation may fail: right, or an error that says so. */
START_TEST(starved)
{
    bool same = false, more = true;
    ck_ok(m, host_policies_register(m));
    for (int64_t k = 1; more; k++) {
        h.fail_at = h.calls + k;
        const stc_status st = multiply("lined, 4", STC_F64, &same);
        more = h.calls >= h.fail_at;
        h.fail_at = 0;
        ck_assert_msg(st == STC_ERR_MEMORY || (!st && same), "allocation %d: %s", (int)k,
                      stc_status_name(st));
    }
}
END_TEST

/* Files and texts of bytecode have the name, and a machine without it says no. */
START_TEST(by_name)
{
    const stc_decl d[] = {{0, "A", "csr", STC_F64, NULL, 2},
                          {0, "R", "csr", STC_F64, NULL, 2}};
    stc_program *p, *q;
    void *bytes;
    size_t size;
    char *code, *again;
    heap other_heap;
    ck_ok(m, host_policies_register(m));
    ck_ok(m, stc_compile(m, "R(j,i) = A(i,j) * 2 with reorder(i,j), workspace(lined, 7)", d,
                         2, &p));
    ck_ok(m, stc_program_dump(p, &code));
    ck_assert_msg(strstr(code, "policy lined 7") != NULL, "%s", code);
    ck_ok(m, stc_program_encode(p, &bytes, &size));
    ck_ok(m, stc_program_decode(m, bytes, size, &q));
    ck_ok(m, stc_program_dump(q, &again));
    ck_assert_str_eq(code, again);
    stc_program_free(q);
    ck_ok(m, stc_program_assemble(m, code, "x", &q));
    stc_machine *other = machine_open(&other_heap, false);
    stc_program *none = NULL;
    ck_assert_int_ne(stc_program_decode(other, bytes, size, &none), STC_OK);
    ck_assert_int_ne(stc_program_assemble(other, code, "x", &none), STC_OK);
    ck_assert_msg(has_words(stc_error(other)->message, "a policy"), "%s",
                  stc_error(other)->message);
    ck_assert_int_ne(
        stc_compile(other, "R(j,i) = A(i,j) * 2 with workspace(lined)", d, 2, &none),
        STC_OK);
    ck_assert_ptr_null(none);
    machine_shut(other, &other_heap);
    stc_text_free(m, code);
    stc_text_free(m, again);
    stc_text_free(m, bytes);
    stc_program_free(p);
    stc_program_free(q);
}
END_TEST

Suite *suite_host_policies(void)
{
    Suite *s = suite_create("host_policies");
    TCase *c = tcase_create("host_policies");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, registering);
    tcase_add_loop_test(c, answers, 0, 9);
    tcase_add_test(c, starved);
    tcase_add_test(c, by_name);
    suite_add_tcase(s, c);
    return s;
}
