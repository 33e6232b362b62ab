/* check_bad.c: the corpus of malformed files in tests/bad: each must give an
 * error with a message, from this place in the text where the file says so.
 *
 * A program (.stc) begins with `# expect STATUS [LINE[:COLUMN]] [words]`; what is said of
 * data stands in messages.txt, each file's to the letter, and of bytecode here. */
#include "check.h"
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static void expect_line(const char *text, const char *path, stc_machine *m)
{
    const stc_error_info *e = stc_error(m);
    char status[32] = "", words[160] = "";
    char first[300];
    int line = 0, column = 0;
    snprintf(first, sizeof first, "%.*s", (int)strcspn(text, "\n"), text);
    text = first;
    if (sscanf(text, "# expect %31s %d:%d %159[^\n]", status, &line, &column, words) < 2)
        sscanf(text, "# expect %31s %159[^\n]", status, words);
    ck_assert_msg(strcmp(stc_status_name(e->status), status) == 0,
                  "%s: %s (%s), expected %s", path, stc_status_name(e->status), e->message,
                  status);
    if (line) ck_assert_msg(e->line == line, "%s: line %d (%s)", path, e->line, e->message);
    if (column)
        ck_assert_msg(e->column == column, "%s: column %d (%s)", path, e->column,
                      e->message);
    ck_assert_msg(has_words(e->message, words), "%s: `%s` lacks `%s`", path, e->message,
                  words);
}

static void bad_program(const char *path)
{
    size_t size;
    char *text = read_text(path, &size);
    ck_assert_msg(text, "%s", path);
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_session *s;
    ck_ok(m, stc_session_open(m, &s));
    ck_assert_msg(stc_session_exec(s, text, path) != STC_OK, "%s runs", path);
    expect_line(text, path, m);
    stc_session_close(s);
    machine_shut(m, &h);
    free(text);
}

static char *messages; /* of tests/messages.txt */

static void bad_data(const char *path)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_tensor *t = NULL;
    ck_assert_msg(stc_tensor_read(m, path, NULL, -1, NULL, &t) != STC_OK, "%s is read",
                  path);
    ck_assert_ptr_null(t);
    const char *const name = strstr(path, "bad/");
    ck_assert_msg(name && strstr(messages, name), "%s isn't in tests/messages.txt", path);
    machine_shut(m, &h);
}

static void bad_bytes(const char *path)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_program *p = NULL;
    ck_assert_msg(stc_program_load(m, path, &p) != STC_OK, "%s is loaded", path);
    ck_assert_int_eq(stc_error(m)->status, STC_ERR_CORRUPT);
    ck_assert_msg(has_words(stc_error(m)->message, "the magic number of .stb files"),
                  "%s: %s", path, stc_error(m)->message);
    machine_shut(m, &h);
}

START_TEST(corpus)
{
    char folder[300], path[600];
    snprintf(folder, sizeof folder, "%s/bad", tests_dir());
    DIR *dir = opendir(folder);
    ck_assert_msg(dir, "%s: not there (run from the project's folder, or set STC_TESTS)",
                  folder);
    int seen = 0;
    snprintf(path, sizeof path, "%s/messages.txt", tests_dir());
    messages = read_text(path, NULL);
    ck_assert_ptr_nonnull(messages);
    for (struct dirent *e; (e = readdir(dir));) {
        const char *dot = strrchr(e->d_name, '.');
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (!dot || e->d_name[0] == '.') continue;
        seen++;
        if (strcmp(dot, ".stc") == 0)
            bad_program(path);
        else if (strcmp(dot, ".stb") == 0)
            bad_bytes(path);
        else
            bad_data(path);
    }
    closedir(dir);
    free(messages);
    ck_assert_int_ge(seen, 155);
}
END_TEST

Suite *suite_bad(void)
{
    Suite *s = suite_create("bad");
    TCase *c = tcase_create("bad");
    tcase_add_test(c, corpus);
    suite_add_tcase(s, c);
    return s;
}
