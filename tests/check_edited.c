/* check_edited.c: programs that were compiled, with one thing in their text changed: what
 * matchers of loops over intervals and at affine coordinates look for (vm/interval_match.c,
 * affine_match.c, affine_read.c), and what runs of them look at again, isn't as compilers
 * write it. On the faster tiers and on threads each gives what base operations give, value
 * for value and error for error. */
#include "check.h"
#include <stdlib.h>
#include <string.h>

enum { MACHINES = 3, INPUTS = 8, TEXT = 1 << 14 };

/* Of each pair the first, where it is in the text, becomes the second. */
static const struct edit {
    const char *declare, *text, *change[8];
} edits[] = {
    {"tensor P rle i64 [6,40]\nP(i,j) = (i + 1) * (j / 3) % 5",
     "R(i) = P(i,j)",
     {"add, i64", "sub, i64"}},
};
enum { EDITS = sizeof edits / sizeof *edits };

typedef struct lab {
    heap h;
    stc_machine *m;
    stc_session *s;
    stc_program *p;
    stc_status status;
    char message[300];
} lab;

/* The program's text, changed. */
static char *edited(lab *l, const struct edit *e)
{
    char *text, *out = malloc(TEXT);
    ck_assert_ptr_nonnull(out);
    ck_ok(l->m, stc_session_exec(l->s, e->declare, "declarations"));
    const stc_status st = stc_session_compile(l->s, e->text, &l->p);
    ck_assert_msg(!st, "%s\n%s: %s", e->declare, e->text, stc_error(l->m)->message);
    ck_ok(l->m, stc_program_dump(l->p, &text));
    stc_program_free(l->p);
    snprintf(out, TEXT, "%s", text);
    for (const char *const *c = e->change; *c; c += 2) {
        char *at = strstr(out, c[0]);
        ck_assert_msg(at, "%s\n%s: nowhere `%s`\n%s", e->declare, e->text, c[0], out);
        const size_t was = strlen(c[0]), is = strlen(c[1]);
        ck_assert_uint_lt(strlen(out) + is, TEXT);
        memmove(at + is, at + was, strlen(at + was) + 1);
        memcpy(at, c[1], is);
    }
    stc_text_free(l->m, text);
    return out;
}

/* Runs it twice, the second time from what the first one left. */
static void run(lab *l, const struct edit *e, int which)
{
    l->m = machine_open(&l->h, which == 0);
    if (which == 2) machine_share(l->m, 2);
    ck_ok(l->m, stc_session_open(l->m, &l->s));
    char *text = edited(l, e);
    const char *name;
    bool result;
    const stc_status st = stc_program_assemble(l->m, text, "edited", &l->p);
    ck_assert_msg(!st, "%s\n%s", stc_error(l->m)->message, text);
    for (int k = 0; (name = stc_program_name(l->p, k, &result)); k++) {
        const stc_tensor *t;
        if (result) continue;
        ck_ok(l->m, stc_session_get(l->s, name, &t));
        ck_ok(l->m, stc_bind(l->p, name, (stc_tensor *)t));
    }
    for (int k = 0; k < 2; k++)
        l->status = stc_run(l->p);
    snprintf(l->message, sizeof l->message, "%s", stc_error(l->m)->message);
    free(text);
}

static void end(lab *l)
{
    stc_program_free(l->p);
    stc_session_close(l->s);
    machine_shut(l->m, &l->h);
}

/* R's elements, to be freed. */
static void *elements(const lab *l, size_t *size)
{
    const stc_tensor *r;
    ck_ok(l->m, stc_result(l->p, "R", &r));
    ck_ok(l->m, stc_tensor_check((stc_tensor *)r));
    *size = stc_type_size(stc_tensor_type(r));
    for (int d = 0; d < stc_tensor_order(r); d++)
        *size *= (size_t)stc_tensor_shape(r)[d];
    void *out = malloc(*size + 1);
    ck_assert_ptr_nonnull(out);
    ck_ok(l->m, stc_tensor_to_dense(r, out));
    return out;
}

START_TEST(edited_programs)
{
    const struct edit *e = &edits[_i];
    lab l[MACHINES] = {0};
    void *want = NULL;
    size_t size = 0;
    for (int k = 0; k < MACHINES; k++) {
        size_t n = 0;
        run(&l[k], e, k);
        ck_assert_msg(l[k].status == l[0].status && !strcmp(l[k].message, l[0].message),
                      "%s\n%s, %s: %s, not %s", e->declare, e->text, e->change[1],
                      l[k].message, l[0].message);
        if (l[0].status) continue;
        void *got = elements(&l[k], &n);
        if (!k) want = got, size = n;
        ck_assert_uint_eq(n, size);
        ck_assert_msg(!memcmp(got, want, size), "%s\n%s, %s: machine %d has another result",
                      e->declare, e->text, e->change[1], k);
        if (k) free(got);
    }
    free(want);
    for (int k = 0; k < MACHINES; k++)
        end(&l[k]);
}
END_TEST

Suite *suite_edited(void)
{
    Suite *s = suite_create("edited");
    TCase *c = tcase_create("edited");
    tcase_add_loop_test(c, edited_programs, 0, EDITS);
    suite_add_tcase(s, c);
    return s;
}
