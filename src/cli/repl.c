/* repl.c: the REPL: gathers statements and commands, and runs them.
 *
 * On a terminal there are prompts, and an error leaves everything as it was.
 * From a pipe or a file there are none; results go to standard output, errors
 * to standard error with the line of the input, what follows an error still
 * runs, and the exit status is 1 if anything failed. A line is a statement
 * unless it ends in `\` or in the middle of one. Without a terminal a statement
 * also waits for the next line, which may begin with `with` or `over`; one that
 * ends in `;` doesn't wait.
 */
#include "repl.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char blanks[] = " \t\r\n";

static void clear(repl *r)
{
    r->length = 0;
    r->text[0] = 0;
}

static void add(repl *r, const char *text, size_t n)
{
    if (r->length + n + 1 > r->room) {
        r->room = 2 * (r->length + n) + 256;
        r->text = xrealloc(r->text, r->room);
    }
    memcpy(r->text + r->length, text, n);
    r->length += n;
    r->text[r->length] = 0;
}

/* The next line, in r->ahead. */
static line_result next_line(repl *r, const char *prompt)
{
    const char *line;
    size_t n;
    if (r->ahead) return LINE_READ;
    const line_result result = lineedit_read(r->edit, prompt, &line, &n);
    if (result != LINE_READ) return result;
    if (strlen(line) != n)
        line = "\x01"; /* a zero byte is no more a text than this is          */
    r->ahead = xstrndup(line, strlen(line));
    return LINE_READ;
}

/* Takes r->ahead into the text; true if its end asks for another line. */
static bool take_line(repl *r)
{
    size_t n = strlen(r->ahead);
    const bool more = n && r->ahead[n - 1] == '\\';
    r->line++;
    if (!r->length) r->first = r->line;
    if (more) r->ahead[n - 1] = ' ';
    add(r, r->ahead, n);
    free(r->ahead);
    r->ahead = NULL;
    return more;
}

static bool is_command(const repl *r)
{
    return r->text[strspn(r->text, blanks)] == ':';
}

static bool ends_statement(const repl *r)
{
    size_t n = r->length;
    while (n && strchr(blanks, r->text[n - 1]))
        n--;
    return !n || r->text[n - 1] == ';';
}

static bool continues(const char *line)
{
    line += strspn(line, blanks);
    for (int i = 0; i < 2; i++) {
        const char *word = i ? "over" : "with";
        if (!strncmp(line, word, 4) && !name_valid(line, 5)) return true;
    }
    return false;
}

/* How long a statement may be. It is there a few times while it is read, in memory that
 * isn't the machine's: of a cap, a part has to do. */
static size_t longest(const repl *r)
{
    const uint64_t cap = r->c->opt.max_memory;
    return cap ? (size_t)(cap / 64) + (1 << 20) : SIZE_MAX / 4;
}

/* Gathers one statement or command; LINE_ENDED only if there is nothing. */
static line_result gather(repl *r)
{
    line_result result;
    clear(r);
    for (;;) {
        result = next_line(r, r->length ? "  ...> " : "stcvm> ");
        if (result == LINE_CANCELLED || result == LINE_LONG) return result;
        if (result == LINE_ENDED) return r->length ? LINE_READ : LINE_ENDED;
        const bool more = take_line(r);
        if (r->length > longest(r)) return LINE_LONG;
        if (more) continue;
        if (is_command(r)) return LINE_READ;
        if (stc_session_incomplete(r->text)) {
            add(r, "\n", 1);
            continue;
        }
        if (lineedit_prompts(r->edit) || ends_statement(r)) return LINE_READ;
        result = next_line(r, "");
        if (result == LINE_LONG) return result;
        if (result != LINE_READ || !continues(r->ahead)) return LINE_READ;
        add(r, "\n", 1);
    }
}

int repl_first(const repl *r)
{
    return lineedit_prompts(r->edit) ? 0 : r->first;
}

/* After work: Ctrl-C only ends a person's line again; it ends a session that
 * reads a pipe. */
static void repl_idle(const repl *r)
{
    if (lineedit_prompts(r->edit))
        signals_open(NULL, true);
    else
        signals_close();
}

/* Whether the text is a name alone. */
static bool bare_name(const char *text)
{
    text += strspn(text, blanks);
    const size_t n = strcspn(text, " \t\r\n;#");
    const char *rest = text + n + strspn(text + n, " \t\r\n;");
    return name_valid(text, n) && (!*rest || *rest == '#');
}

/* On a terminal, what a name by itself shows is folded, and large values are cut short
 * (`print A` isn't). */
int repl_statement(repl *r, const char *text)
{
    enum { SHOWN = 30 };
    cli *c = r->c;
    const bool person = lineedit_prompts(r->edit);
    folding f;
    const bool folds = person && bare_name(text);
    FILE *out = folds ? fold_begin(&f, stdout) : stdout;
    stc_session_output(r->s, out);
    stc_session_echo(r->s, true, person ? SHOWN : 0);
    if (person) stc_set_width(c->machine, terminal_columns(STDOUT_FILENO));
    const stc_status status = stc_session_exec(r->s, text, "stdin");
    if (folds) fold_end(&f, out);
    stc_session_output(r->s, stdout);
    progress_end(&c->progress);
    report_notes(c, repl_first(r));
    if (status == STC_OK) return STATUS_OK;
    if (status == STC_ERR_INTERRUPT && !lineedit_prompts(r->edit)) r->quit = true;
    return report_error(c, repl_first(r));
}

static bool is_word(const char *text, const char *word)
{
    const size_t n = strlen(word);
    text += strspn(text, blanks);
    return !strncmp(text, word, n) && !text[n + strspn(text + n, " \t\r\n;")];
}

/* quit, exit and help, as a person may try them first, unless they name tensors. */
static int plain_command(repl *r)
{
    static const struct {
        const char *word, *command;
    } row[] = {{"quit", ":quit"}, {"exit", ":quit"}, {"help", ":help"}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const stc_tensor *t;
        if (!is_word(r->text, row[i].word)) continue;
        if (stc_session_get(r->s, row[i].word, &t) == STC_OK) return -1;
        return repl_command(r, row[i].command);
    }
    return -1;
}

static int run_statement(repl *r)
{
    int status = plain_command(r);
    if (status >= 0) return status;
    status = repl_statement(r, r->text);
    if (status == STATUS_OK && r->c->opt.time) {
        const stc_times times = session_times(r->s);
        report_times(&times);
    }
    return status;
}

/* Whatever it is, Ctrl-C ends it. */
static int run_text(repl *r)
{
    signals_open(r->c->machine, lineedit_prompts(r->edit));
    const int status = is_command(r) ? repl_command(r, r->text + strspn(r->text, blanks))
                                     : run_statement(r);
    repl_idle(r);
    return status;
}

static bool is_blank(const char *text)
{
    text += strspn(text, " \t\r\n;");
    return !*text || (*text == '#' && !strchr(text, '\n'));
}

/* What took several lines is remembered as one, too, where blanks may stand for their
 * ends: outside of braces, and without comments. */
static void remember(repl *r)
{
    if (!lineedit_prompts(r->edit) || r->line == r->first || strpbrk(r->text, "{#")) return;
    char *line = xstrndup(r->text, r->length);
    for (char *s = line; (s = strchr(s, '\n'));)
        *s = ' ';
    history_add(&r->past, line);
    free(line);
}

static void loop(repl *r)
{
    while (!r->quit) {
        const line_result result = gather(r);
        if (result == LINE_ENDED) break;
        if (result == LINE_LONG) {
            report_fault("stdin",
                         "a statement of more than %zu bytes, which is too long under "
                         "--max-memory; expected shorter ones, or a script",
                         longest(r));
            r->failed = true;
            break;
        }
        if (result == LINE_READ) remember(r);
        if (result == LINE_READ && !is_blank(r->text) && run_text(r) != STATUS_OK)
            r->failed = true;
        fflush(stdout);
    }
}

char *expand_home(const char *path)
{
    const char *home = getenv("HOME");
    if (path[0] != '~' || path[1] != '/' || !home) return xstrndup(path, strlen(path));
    const size_t n = strlen(home), m = strlen(path + 1);
    char *out = xrealloc(NULL, n + m + 1);
    memcpy(out, home, n);
    memcpy(out + n, path + 1, m + 1);
    return out;
}

int cmd_repl(cli *c, const args *a)
{
    repl r = {.c = c};
    (void)a;
    if (stc_session_open(c->machine, &r.s) != STC_OK) return report_error(c, 0);
    stc_session_output(r.s, stdout);
    stc_session_repeat(r.s, c->opt.repeat);
    add(&r, "", 0);
    r.edit = lineedit_new(&r.past, repl_complete, &r, longest(&r));
    const bool person = lineedit_prompts(r.edit);
    if (person) {
        const bool keeps = getenv("HOME") && !c->opt.no_files;
        history_open(&r.past, keeps ? expand_home("~/.stcvm_history") : NULL);
        if (!c->opt.quiet)
            fputs("stcvm " STC_VERSION ". A line is a statement or a command; :help "
                  "explains both.\n",
                  stderr);
    }
    repl_idle(&r);
    loop(&r);
    lineedit_free(r.edit);
    history_close(&r.past);
    stc_session_close(r.s);
    free(r.ahead);
    free(r.text);
    return r.failed && !person ? STATUS_FAULT : STATUS_OK;
}
