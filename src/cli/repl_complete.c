/* repl_complete.c: what the word before the cursor could become: a command, a
 * topic, a file, a tensor's name, or a word of the language.
 */
#include "repl.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool name_byte(char c)
{
    return name_valid(&c, 1) || (c >= '0' && c <= '9');
}

static void offer(completions *out, const char *prefix, const char *text)
{
    if (!strncmp(prefix, text, strlen(prefix))) completions_add(out, text);
}

static bool is_directory(const char *folder, const char *name)
{
    struct stat s;
    const size_t n = strlen(folder), m = strlen(name);
    char *path = xrealloc(NULL, n + m + 1);
    memcpy(path, folder, n);
    memcpy(path + n, name, m + 1);
    const bool yes = !stat(path, &s) && S_ISDIR(s.st_mode);
    free(path);
    return yes;
}

/* The files that begin with `typed`; `end` follows a file's name. */
static void offer_files(completions *out, const char *typed, const char *end)
{
    const char *slash = strrchr(typed, '/');
    const size_t folder_length = slash ? (size_t)(slash - typed) + 1 : 0;
    char *shown = xstrndup(typed, folder_length);
    char *folder = folder_length ? expand_home(shown) : xstrndup("./", 2);
    const char *prefix = typed + folder_length;
    DIR *dir = opendir(folder);
    for (struct dirent *d; dir && (d = readdir(dir));) {
        if (strncmp(d->d_name, prefix, strlen(prefix)) || (d->d_name[0] == '.' && !*prefix))
            continue;
        const char *tail = is_directory(folder, d->d_name) ? "/" : end;
        const size_t n = folder_length + strlen(d->d_name) + strlen(tail) + 1;
        char *text = xrealloc(NULL, n);
        snprintf(text, n, "%s%s%s", shown, d->d_name, tail);
        completions_add(out, text);
        free(text);
    }
    if (dir) closedir(dir);
    free(folder);
    free(shown);
}

static void offer_tensors(const repl *r, completions *out, const char *prefix)
{
    for (int i = 0; stc_session_name(r->s, i); i++)
        offer(out, prefix, stc_session_name(r->s, i));
}

static void offer_settings(completions *out, const char *prefix)
{
    static const char *const names[] = {"threads",    "repeat",        "time",
                                        "as_written", "deterministic", "digits"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        offer(out, prefix, names[i]);
}

/* Whatever there is help on: topics, commands, and words if one was begun. */
static void offer_help(completions *out, const char *prefix)
{
    for (int i = 0; help_topic(i); i++)
        offer(out, prefix, help_topic(i));
    for (int i = 0; repl_command_name(i); i++)
        offer(out, prefix, repl_command_name(i));
    for (int i = 0; *prefix && stc_word(i); i++)
        offer(out, prefix, stc_word(i));
}

/* Which kind of operands the command in the line has (repl.h); 0: none. */
static char command_kind(const char *word, size_t n)
{
    static const struct {
        const char *name;
        char kind;
    } row[] = {
#define C(name, operands, summary, kind) {#name, kind},
        REPL_COMMANDS(C)
#undef C
    };
    for (size_t i = 0; n && i < sizeof row / sizeof *row; i++)
        if (!strncmp(row[i].name, word, n)) return row[i].kind;
    return 0;
}

/* How many words of the text end before its last blank. */
static int words_before(const char *text)
{
    int words = 0;
    for (; *text; text++)
        words += (text[0] != ' ') && text[1] == ' ';
    return words;
}

/* Where the word that ends at the end of `text` begins. */
static size_t word_start(const char *text, bool until_blank)
{
    size_t at = strlen(text);
    while (at > 0 && (until_blank ? text[at - 1] != ' ' : name_byte(text[at - 1])))
        at--;
    return at;
}

/* The start of an open string, with the quote; NULL if there is none. */
static const char *open_quote(const char *text)
{
    const char *open = NULL;
    for (; *text; text++)
        if (*text == '"') open = open ? NULL : text;
    return open;
}

static void complete_command(const repl *r, const char *text, completions *out)
{
    const size_t n = strcspn(text + 1, " ");
    const char *operands = text + 1 + n;
    if (!*operands) {
        out->start = 0;
        for (int i = 0; repl_command_name(i); i++) {
            char name[32];
            snprintf(name, sizeof name, ":%s", repl_command_name(i));
            offer(out, text, name);
        }
        return;
    }
    const char kind = command_kind(text + 1, n);
    const int words = words_before(text);
    const bool file = kind == 'l' && words >= 2;
    out->start = word_start(text, file);
    const char *word = text + out->start;
    if (file && words == 2)
        offer_files(out, word, "");
    else if (kind == 'h')
        offer_help(out, word);
    else if (kind == 't' && words == 1)
        offer_settings(out, word);
    else if (kind == 's' || kind == 'l')
        offer_tensors(r, out, word);
    if (kind == 's')
        for (int i = 0; *word && stc_word(i); i++)
            offer(out, word, stc_word(i));
}

void repl_complete(void *context, const char *line, size_t cursor, completions *out)
{
    const repl *r = context;
    const size_t skip = strspn(line, " ") < cursor ? strspn(line, " ") : cursor;
    char *text = xstrndup(line + skip, cursor - skip);
    const char *quote = open_quote(text);
    if (quote) {
        out->start = (size_t)(quote - text) + 1;
        offer_files(out, quote + 1, "\"");
    } else if (*text == ':') {
        complete_command(r, text, out);
    } else {
        out->start = word_start(text, false);
        const char *word = text + out->start;
        offer_tensors(r, out, word);
        for (int i = 0; *word && stc_word(i); i++)
            offer(out, word, stc_word(i));
    }
    out->start += skip;
    free(text);
}
