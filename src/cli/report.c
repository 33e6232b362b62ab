/* report.c: opening and closing a run of the tool, and what it says of faults.
 *
 * A note is a line on standard error, unless --quiet. A fault is printed as `stcvm:
 * FILE:LINE:COLUMN: error: …`, then the offending line and a caret below the place. Only
 * the part around the caret of a very long line is shown. What a message quotes may come
 * from anywhere: what can't be shown safely on a terminal is escaped, here or in the
 * library.
 */
#include "cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SHOWN = 8192 }; /* the most of what a message quotes */

void *xrealloc(void *block, size_t size)
{
    void *p = realloc(block, size ? size : 1);
    if (!p) {
        fputs("stcvm: error: out of memory\n", stderr);
        exit(STATUS_FAULT);
    }
    return p;
}

char *xstrndup(const char *text, size_t length)
{
    char *copy = xrealloc(NULL, length + 1);
    memcpy(copy, text, length);
    copy[length] = 0;
    return copy;
}

int cli_open(cli *c, const options *opt, const char *subject)
{
    *c = (cli){.opt = *opt, .subject = subject};
    c->progress.on = !opt->quiet && isatty(STDERR_FILENO);
    const stc_config config = {
        .max_memory = opt->max_memory,
        .max_steps = opt->max_steps,
        .threads = opt->threads,
        .no_super = opt->no_super,
        .profile = opt->profile || opt->run, /* explain tells what each step took */
        .progress = progress_show,
        .progress_context = &c->progress,
        .no_files = opt->no_files,
        .trust_files = opt->trust,
        .spill = opt->spill,
        .deterministic = opt->deterministic,
        .as_written = opt->as_written,
    };
    const stc_status status = stc_open(&config, &c->machine);
    if (status == STC_ERR_MEMORY)
        return report_fault(NULL, "%s",
                            opt->max_memory ? "--max-memory leaves too little to start with"
                                            : "there is no memory to start with");
    if (status != STC_OK)
        return report_fault(NULL, "the machine can't start: %s", stc_status_name(status));
    signals_open(c->machine, false);
    return STATUS_OK;
}

int cli_close(cli *c, int status)
{
    progress_end(&c->progress);
    signals_close();
    stc_close(c->machine);
    c->machine = NULL;
    return status;
}

int output_flush(int status)
{
    errno = 0;
    if (!fflush(stdout) && !ferror(stdout)) return status;
    if (status != STATUS_OK) return status;
    return report_fault("standard output", "can't be written: %s",
                        errno ? strerror(errno) : "write error");
}

void print_shown(const char *format, va_list list)
{
    char text[SHOWN], shown[SHOWN];
    vsnprintf(text, sizeof text, format, list);
    for (char *line = text, *end; line; line = end) {
        if ((end = strchr(line, '\n'))) *end++ = 0;
        stc_text_show(shown, sizeof shown, line);
        fprintf(stderr, "%s\n", shown);
    }
}

int report_fault(const char *file, const char *format, ...)
{
    va_list list;
    char shown[SHOWN] = "";
    va_start(list, format);
    fflush(stdout);
    if (file) stc_text_show(shown, sizeof shown, file);
    fprintf(stderr, "stcvm: %s%serror: ", shown, file ? ": " : "");
    print_shown(format, list);
    va_end(list);
    return STATUS_FAULT;
}

static bool is_start(char byte)
{
    return ((unsigned char)byte & 0xc0) != 0x80;
}

/* The line, at most `room` columns of it around the caret, and the caret. */
static void show_place(const stc_error_info *e, int room)
{
    const int length = (int)strnlen(e->text, 1 << 20);
    int at = e->column > 0 ? e->column - 1 : 0;
    int begin = 0, end = length;
    if (at > length) at = length;
    if (length > room) {
        begin = at > room * 2 / 3 ? at - room * 2 / 3 : 0;
        while (begin < at && !is_start(e->text[begin]))
            begin++;
        end = begin + room < length ? begin + room : length;
    }
    fputs(begin ? "  ..." : "  ", stderr);
    for (int i = begin; i < end; i++)
        fputc(e->text[i] == '\t' ? ' ' : e->text[i], stderr);
    fputs(end < length ? "...\n" : "\n", stderr);
    if (e->column < 1) return;
    fputs(begin ? "     " : "  ", stderr);
    for (int i = begin; i < at; i++)
        if (is_start(e->text[i])) fputc(' ', stderr);
    fputc('^', stderr);
    for (int i = at + 1; i < at + e->length && i < end; i++)
        if (is_start(e->text[i])) fputc('~', stderr);
    fputc('\n', stderr);
}

int report_error(cli *c, int first)
{
    return report_info(c, stc_error(c->machine), first);
}

int report_info(cli *c, const stc_error_info *e, int first)
{
    const bool nowhere = !e->file || !*e->file;
    char shown[SHOWN];
    stc_text_show(shown, sizeof shown, nowhere ? c->subject : e->file);
    const char *file = shown;
    int line = nowhere ? 0 : e->line;
    /* A terminal has shown ^C where the message would begin. */
    if (e->status == STC_ERR_INTERRUPT && !c->progress.shown && isatty(STDERR_FILENO))
        fputc('\n', stderr);
    progress_end(&c->progress);
    fflush(stdout);
    if (first > 0 && !strcmp(file, "stdin")) line = line > 0 ? line + first - 1 : first;
    folding f;
    FILE *out = fold_begin(&f, stderr);
    fprintf(out, "stcvm: %s:", file);
    if (line > 0) fprintf(out, "%d:", line);
    if (line > 0 && !nowhere && e->column > 0) fprintf(out, "%d:", e->column);
    fprintf(out, " error: %s\n", e->message);
    fold_end(&f, out);
    if (e->text && *e->text) {
        int room = isatty(STDERR_FILENO) ? terminal_columns(STDERR_FILENO) - 9 : 150;
        show_place(e, room < 20 ? 20 : room);
    }
    return STATUS_FAULT;
}

void report_notes(cli *c, int first)
{
    const char *line = c->opt.quiet ? "" : stc_notes(c->machine), *end;
    char shown[SHOWN];
    if (!*line) return;
    progress_end(&c->progress);
    fflush(stdout);
    folding f;
    FILE *out = fold_begin(&f, stderr);
    for (; *line; line = *end ? end + 1 : end) {
        end = line + strcspn(line, "\n");
        char *const one = xstrndup(line, (size_t)(end - line));
        int at = 0, row;
        if (first > 0 && sscanf(one, "stdin:%d%n", &row, &at) == 1 && at)
            fprintf(out, "stcvm: stdin:%d", row + first - 1);
        else
            fputs("stcvm: ", out);
        stc_text_show(shown, sizeof shown, one + at);
        fprintf(out, "%s\n", shown);
        free(one);
    }
    fold_end(&f, out);
}

stc_times program_times(const stc_program *p)
{
    stc_times t = {.size = sizeof t};
    stc_program_times(p, &t);
    return t;
}

stc_times session_times(const stc_session *s)
{
    stc_times t = {.size = sizeof t};
    stc_session_times(s, &t);
    return t;
}

void report_times(const stc_times *t)
{
    const struct {
        const char *stage;
        double us;
    } row[] = {
        {"parse", t->parse},   {"bind", t->bind}, {"plan", t->plan}, {"lower", t->lower},
        {"verify", t->verify}, {"load", t->load}, {"run", t->run},   {"save", t->save},
    };
    fflush(stdout);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        fprintf(stderr, "time %s %.1f\n", row[i].stage, row[i].us);
}

const char *format_bytes(uint64_t bytes, char out[16])
{
    static const char *const unit[] = {"B", "KB", "MB", "GB", "TB", "PB", "EB"};
    double v = (double)bytes;
    int k = 0;
    while (v >= 1024 && k < 6) {
        v /= 1024;
        k++;
    }
    snprintf(out, 16, "%.*f %s", k && v < 100 ? 1 : 0, v, unit[k]);
    return out;
}

void print_summary(const stc_tensor *t, FILE *out)
{
    char bytes[16];
    const int order = stc_tensor_order(t);
    const int64_t *shape = stc_tensor_shape(t);
    fprintf(out, "%s %s [", stc_tensor_format(t), stc_type_name(stc_tensor_type(t)));
    for (int k = 0; k < order; k++)
        fprintf(out, "%s%lld", k ? "," : "", (long long)shape[k]);
    fprintf(out, "], %lld stored, %s", (long long)stc_tensor_stored(t),
            format_bytes(stc_tensor_bytes(t), bytes));
}

void print_info(const stc_tensor *t, FILE *out)
{
    char bytes[16];
    const int order = stc_tensor_order(t);
    const int64_t *shape = stc_tensor_shape(t);
    double places = 1;
    fprintf(out, "shape    [");
    for (int k = 0; k < order; k++) {
        fprintf(out, "%s%lld", k ? "," : "", (long long)shape[k]);
        places *= (double)shape[k];
    }
    const int64_t stored = stc_tensor_stored(t);
    fprintf(out, "]\ntype     %s\nformat   %s\nstored   %lld",
            stc_type_name(stc_tensor_type(t)), stc_tensor_format(t), (long long)stored);
    if (places > 0)
        fprintf(out, " (%.3g%% of %.15g places)", 100 * (double)stored / places, places);
    const uint64_t held = stc_tensor_bytes(t);
    const double flat = places * (double)stc_type_size(stc_tensor_type(t));
    fprintf(out, "\nbytes    %llu", (unsigned long long)held);
    if (held >= 1024) fprintf(out, " (%s)", format_bytes(held, bytes));
    if (held && flat > 0) {
        const double times = flat / (double)held;
        fprintf(out, "; dense: %.*f times that", times < 10 ? 2 : 0, times);
    }
    fputc('\n', out);
}

char *read_text(const cli *c, const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t length = 0, room = 0, got;
    /* The tool's own copy doesn't count as the machine's: it has to be a small part. */
    const uint64_t cap = c->opt.max_memory,
                   most = cap ? cap / 16 + (4 << 20) : SIZE_MAX / 4;
    if (!file) {
        report_fault(path, "can't be opened: %s", strerror(errno));
        return NULL;
    }
    do {
        room = room ? 2 * room : 8192;
        text = xrealloc(text, room + 1);
        got = fread(text + length, 1, room - length, file);
        length += got;
    } while (length == room && length <= most);
    const bool failed = ferror(file);
    const int why = errno;
    fclose(file);
    text[length] = 0;
    if (!failed && length <= most && strlen(text) == length) return text;
    if (!failed && length > most)
        report_fault(path,
                     "out of memory: a text of more than %llu bytes is too long under "
                     "--max-memory",
                     (unsigned long long)most);
    else if (failed)
        report_fault(path, "can't be read: %s", strerror(why));
    else
        report_fault(path, "holds a zero byte at offset %zu, so it isn't a text",
                     strlen(text));
    free(text);
    return NULL;
}
