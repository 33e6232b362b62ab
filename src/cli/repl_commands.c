/* repl_commands.c: what the REPL's commands do (`:name …`; the table is in
 * repl.h). A command may be shortened as long as it stays the only one.
 */
#include "repl.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct command_row {
    const char *name, *operands, *summary;
    int (*run)(repl *r, char *rest);
} command_row;

static const char blanks[] = " \t\r\n";

/* The next word of *rest, or what stands in double quotes; NULL at the end. */
static char *take_word(char **rest)
{
    char *s = *rest + strspn(*rest, blanks), *end;
    if (!*s) return NULL;
    if (*s == '"') {
        s++;
        end = s + strcspn(s, "\"");
    } else {
        end = s + strcspn(s, blanks);
    }
    *rest = *end ? end + 1 : end;
    *end = 0;
    return s;
}

static char *take_rest(char *rest)
{
    rest += strspn(rest, blanks);
    size_t n = strlen(rest);
    while (n && strchr(blanks, rest[n - 1]))
        rest[--n] = 0;
    return rest;
}

/* Faults of a command, with its place in a pipe. */
static int fault(repl *r, const char *message, const char *what)
{
    char file[40] = "stdin";
    if (repl_first(r)) snprintf(file, sizeof file, "stdin:%d", repl_first(r));
    return report_fault(file, message, what);
}

static int library_fault(repl *r)
{
    return report_error(r->c, repl_first(r));
}

static int find(repl *r, const char *name, const stc_tensor **t)
{
    if (!name) return fault(r, "%s", "a tensor's name is missing; :list shows them");
    return stc_session_get(r->s, name, t) == STC_OK ? STATUS_OK : library_fault(r);
}

static int run_help(repl *r, char *rest)
{
    char *topic = take_word(&rest);
    if (topic && *topic == ':') topic++;
    folding f;
    FILE *out = fold_begin(&f, stdout);
    const bool known = help_print(topic, out);
    f.pages = true;
    fold_end(&f, out);
    if (!known) return fault(r, "there is no help on '%s'; :help lists the topics", topic);
    return STATUS_OK;
}

static int run_list(repl *r, char *rest)
{
    const char *name;
    int widest = 1;
    folding f;
    (void)rest;
    for (int i = 0; (name = stc_session_name(r->s, i)); i++)
        widest = (int)strlen(name) > widest ? (int)strlen(name) : widest;
    FILE *out = fold_begin(&f, stdout);
    for (int i = 0; (name = stc_session_name(r->s, i)); i++) {
        const stc_tensor *t;
        fprintf(out, "%-*s  ", widest, name);
        if (stc_session_get(r->s, name, &t) == STC_OK)
            print_summary(t, out);
        else
            fputs("no data yet", out);
        fputc('\n', out);
    }
    fold_end(&f, out);
    return STATUS_OK;
}

/* The statement behind a command's name, moved to the column where it stands
 * in the line, so that errors point there. */
static char *padded(const repl *r, const char *rest)
{
    char *text = xstrndup(r->text, r->length);
    const size_t skipped = r->length - strlen(rest);
    memset(text, ' ', skipped < r->length ? skipped : r->length);
    return text;
}

static int explain(repl *r, const char *rest, const char *stage)
{
    stc_program *p;
    rest += strspn(rest, " ");
    const bool run = !strncmp(rest, "--run ", 6);
    char *statement = padded(r, rest + (run ? 6 : 0)), *text;
    if (!run && !strcmp(stage, "plan")) {
        folding f;
        FILE *out = fold_begin(&f, stdout);
        const int told = print_explained(r->c, r->s, statement, "stdin", out);
        f.pages = true;
        fold_end(&f, out);
        free(statement);
        return told == STATUS_OK ? told : library_fault(r);
    }
    stc_status status = stc_session_compile(r->s, statement, &p);
    free(statement);
    if (status != STC_OK) return library_fault(r);
    if (run && run_in_session(r->s, p) != STC_OK) {
        status = library_fault(r);
        stc_program_free(p);
        return status;
    }
    if (stc_program_explain(p, stage, &text) == STC_OK) {
        folding f;
        FILE *out = fold_begin(&f, stdout);
        const size_t n = strlen(text);
        fputs(text, out);
        if (n && text[n - 1] != '\n') fputc('\n', out);
        f.pages = true;
        fold_end(&f, out);
        stc_text_free(r->c->machine, text);
        stc_program_free(p);
        return STATUS_OK;
    }
    const int fault_status = library_fault(r);
    stc_program_free(p);
    return fault_status;
}

static int run_explain(repl *r, char *rest)
{
    return explain(r, rest, "plan");
}

static int run_code(repl *r, char *rest)
{
    return explain(r, rest, "code");
}

static void print_duration(const char *stage, double us, FILE *out)
{
    if (us < 1000)
        fprintf(out, "%-7s %8.1f µs\n", stage, us);
    else if (us < 1e6)
        fprintf(out, "%-7s %8.2f ms\n", stage, us * 1e-3);
    else
        fprintf(out, "%-7s %8.2f s\n", stage, us * 1e-6);
}

static int run_time(repl *r, char *rest)
{
    char *statement = padded(r, rest);
    const double start = now_us();
    const int status = repl_statement(r, statement);
    const double total = now_us() - start;
    free(statement);
    if (status != STATUS_OK) return status;
    const stc_times t = session_times(r->s);
    const struct {
        const char *stage;
        double us;
    } row[] = {{"parse", t.parse},   {"bind", t.bind}, {"plan", t.plan}, {"lower", t.lower},
               {"verify", t.verify}, {"load", t.load}, {"run", t.run},   {"save", t.save}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        if (row[i].us > 0) print_duration(row[i].stage, row[i].us, stdout);
    print_duration("in all", total, stdout);
    return STATUS_OK;
}

static int run_info(repl *r, char *rest)
{
    const stc_tensor *t;
    const int status = find(r, take_word(&rest), &t);
    if (status != STATUS_OK) return status;
    folding f;
    FILE *out = fold_begin(&f, stdout);
    print_info(t, out);
    fold_end(&f, out);
    return status;
}

static int run_spy(repl *r, char *rest)
{
    const stc_tensor *t;
    const int status = find(r, take_word(&rest), &t);
    if (status != STATUS_OK) return status;
    const bool screen = isatty(STDOUT_FILENO);
    const int columns = screen ? terminal_columns(STDOUT_FILENO) : 80;
    const int rows = screen ? terminal_rows(STDOUT_FILENO) - 5 : 40;
    folding f;
    FILE *out = fold_begin(&f, stdout);
    print_summary(t, out);
    fputc('\n', out);
    fold_end(&f, out);
    if (spy_draw(t, columns < 82 ? columns : 82, rows, stdout) != STC_OK)
        return library_fault(r);
    return STATUS_OK;
}

/* What is typed here may name files, unless the command line says otherwise. */
static int files_allowed(repl *r, const char *command)
{
    if (!r->c->opt.no_files) return STATUS_OK;
    return fault(r, "%s: this session may not read or write files", command);
}

static int run_load(repl *r, char *rest)
{
    cli *c = r->c;
    stc_tensor *t;
    const char *format = NULL;
    int type = -1;
    const char *name = take_word(&rest), *file = take_word(&rest);
    char *parts = take_rest(rest);
    if (files_allowed(r, ":load") != STATUS_OK) return STATUS_FAULT;
    if (!file) return fault(r, "%s", ":load A FILE [FORMAT] reads a file into A");
    if (!name_valid(name, strlen(name)))
        return fault(r, "'%s' can't be a tensor's name", name);
    if (*parts && spec_format(parts, &format, &type) != STATUS_OK) return STATUS_FAULT;
    char *path = expand_home(file);
    stc_status status = stc_tensor_read(c->machine, path, format, type, NULL, &t);
    free(path);
    if (status == STC_OK && (status = stc_session_put(r->s, name, t)) != STC_OK)
        stc_tensor_free(t);
    if (status != STC_OK) return library_fault(r);
    progress_end(&c->progress);
    if (lineedit_prompts(r->edit) && !c->opt.quiet) {
        fprintf(stderr, "%s: ", name);
        print_summary(t, stderr);
        fputc('\n', stderr);
    }
    return STATUS_OK;
}

static int run_save(repl *r, char *rest)
{
    const stc_tensor *t;
    const int found = find(r, take_word(&rest), &t);
    const char *file = found == STATUS_OK ? take_word(&rest) : NULL;
    if (files_allowed(r, ":save") != STATUS_OK) return STATUS_FAULT;
    if (found != STATUS_OK) return found;
    if (!file) return fault(r, "%s", ":save A FILE writes A to a file");
    char *path = expand_home(file);
    const stc_status status = stc_tensor_write(t, path);
    free(path);
    progress_end(&r->c->progress);
    return status == STC_OK ? STATUS_OK : library_fault(r);
}

static int run_set(repl *r, char *rest)
{
    options *o = &r->c->opt;
    const char *name = take_word(&rest), *value = take_word(&rest);
    if (!name) {
        printf("threads %d\nrepeat %d\ntime %s\nas_written %s\ndeterministic %s\n",
               o->threads ? o->threads : 1, o->repeat, o->time ? "on" : "off",
               o->as_written ? "on" : "off", o->deterministic ? "on" : "off");
        printf(r->digits ? "digits %d\n" : "digits auto\n", r->digits);
        return STATUS_OK;
    }
    char *end = NULL;
    const long n = value ? strtol(value, &end, 10) : 0;
    const bool counts = value && end != value && !*end && n >= 1 && n <= 1000000;
    if (!strcmp(name, "threads") && counts) {
        if (stc_set_threads(r->c->machine, (int)n) != STC_OK) return library_fault(r);
        o->threads = (int)n;
        return STATUS_OK;
    }
    if (!strcmp(name, "repeat") && counts) {
        stc_session_repeat(r->s, (int)n);
        o->repeat = (int)n;
        return STATUS_OK;
    }
    const bool chosen = value && !strcmp(value, "auto");
    if (!strcmp(name, "digits") && (chosen || (counts && n <= 17))) {
        r->digits = chosen ? 0 : (int)n;
        return stc_set_digits(r->c->machine, r->digits) == STC_OK ? STATUS_OK
                                                                  : library_fault(r);
    }
    const bool switches = value && (!strcmp(value, "on") || !strcmp(value, "off"));
    if (!strcmp(name, "time") && switches) {
        o->time = value[1] == 'n';
        return STATUS_OK;
    }
    if (!strcmp(name, "as_written") && switches) {
        o->as_written = value[1] == 'n';
        const stc_status st = stc_set_as_written(r->c->machine, o->as_written);
        return st == STC_OK ? STATUS_OK : library_fault(r);
    }
    if (!strcmp(name, "deterministic") && switches) {
        o->deterministic = value[1] == 'n';
        const stc_status st = stc_set_deterministic(r->c->machine, o->deterministic);
        return st == STC_OK ? STATUS_OK : library_fault(r);
    }
    return fault(
        r, "%s",
        ":set threads N, :set repeat N, :set time on|off, :set as_written on|off, :set "
        "deterministic on|off, or :set digits N|auto");
}

static int run_quit(repl *r, char *rest)
{
    (void)rest;
    r->quit = true;
    return STATUS_OK;
}

static const command_row commands[] = {
#define C(name, operands, summary, kind) {#name, operands, summary, run_##name},
    REPL_COMMANDS(C)
#undef C
};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

const char *repl_command_name(int i)
{
    return i >= 0 && i < COMMAND_COUNT ? commands[i].name : NULL;
}

static int unknown_command(repl *r, const char *word)
{
    const char *names[COMMAND_COUNT + 1] = {NULL};
    for (int i = 0; i < COMMAND_COUNT; i++)
        names[i] = commands[i].name;
    const char *near = near_name(word, names);
    char what[160];
    if (near)
        snprintf(what, sizeof what, "':%.60s'; did you mean :%s?", word, near);
    else
        snprintf(what, sizeof what, "':%.60s'; :help commands lists them", word);
    return fault(r, "there is no command %s", what);
}

/* Several commands begin so: which. */
static int many_commands(repl *r, const char *word)
{
    char what[200];
    const size_t n = strlen(word);
    size_t at = (size_t)snprintf(what, sizeof what, "':%.60s' could be", word);
    int last = 0;
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (!strncmp(commands[i].name, word, n)) last = i;
    bool first = true;
    for (int i = 0; i < COMMAND_COUNT && at < sizeof what; i++) {
        if (strncmp(commands[i].name, word, n)) continue;
        at += (size_t)snprintf(what + at, sizeof what - at, "%s:%s",
                               first       ? " "
                               : i == last ? " or "
                                           : ", ",
                               commands[i].name);
        first = false;
    }
    return fault(r, "%s", what);
}

int repl_command(repl *r, const char *text)
{
    const size_t n = strcspn(++text, blanks);
    const command_row *row = NULL;
    int found = 0, status;
    for (int i = 0; i < COMMAND_COUNT && n; i++) {
        if (strncmp(commands[i].name, text, n)) continue;
        row = &commands[i];
        found++;
        if (strlen(row->name) == n) {
            found = 1;
            break;
        }
    }
    char *word = xstrndup(text, n);
    if (found != 1) {
        status = found ? many_commands(r, word) : unknown_command(r, word);
        free(word);
        return status;
    }
    free(word);
    char *rest = xstrndup(text + n, strlen(text + n));
    status = row->run(r, rest);
    free(rest);
    return status;
}
