/* options.c: takes a command line apart.
 *
 * Options may stand anywhere, `--name value` and `--name=value` alike; `--`
 * ends them. Everything else is an operand, the first one the command (or a
 * script). One table lists the options, so that parsing, help and the
 * messages can't disagree.
 */
#include "cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

typedef enum option_kind { FLAG, COUNT, LIMIT, SIZE, FOLDER, OUT, LIKE, STAGE } option_kind;

/* spelling, kind, field of options (quiet stands in where there is none) */
#define OPTIONS(O)                                                                         \
    O("--threads", COUNT, threads)                                                         \
    O("--repeat", COUNT, repeat)                                                           \
    O("--max-memory", SIZE, max_memory)                                                    \
    O("--spill", FOLDER, spill)                                                            \
    O("--max-steps", LIMIT, max_steps)                                                     \
    O("--time", FLAG, time)                                                                \
    O("--profile", FLAG, profile)                                                          \
    O("--no-super", FLAG, no_super)                                                        \
    O("--no-files", FLAG, no_files)                                                        \
    O("--deterministic", FLAG, deterministic)                                              \
    O("--as-written", FLAG, as_written)                                                    \
    O("--run", FLAG, run)                                                                  \
    O("--trust", FLAG, trust)                                                              \
    O("--quiet", FLAG, quiet)                                                              \
    O("-o", OUT, quiet)                                                                    \
    O("--like", LIKE, quiet)                                                               \
    O("--stage", STAGE, quiet)

typedef struct option_row {
    const char *name;
    option_kind kind;
    size_t field;
} option_row;

static const option_row option_table[] = {
#define O(name, kind, field) {name, kind, offsetof(options, field)},
    OPTIONS(O)
#undef O
};
enum { OPTION_COUNT = sizeof option_table / sizeof *option_table };

int usage_error(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fputs("stcvm: ", stderr);
    print_shown(format, list);
    va_end(list);
    return STATUS_USAGE;
}

/* The number of edits between two short words (Levenshtein), 99 for long ones. */
static int edit_distance(const char *a, const char *b)
{
    const size_t n = strlen(a), m = strlen(b);
    int row[32];
    if (n > 30 || m > 30) return 99;
    for (size_t j = 0; j <= m; j++)
        row[j] = (int)j;
    for (size_t i = 1; i <= n; i++) {
        int corner = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= m; j++) {
            const int keep = corner + (a[i - 1] != b[j - 1]);
            corner = row[j];
            const int drop = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            row[j] = keep < drop ? keep : drop;
        }
    }
    return row[m];
}

const char *near_name(const char *word, const char *const *names)
{
    const char *best = NULL;
    int least = strlen(word) < 4 ? 2 : 3; /* only what is closer than this */
    for (; *names; names++) {
        const int d = edit_distance(word, *names);
        if (d < least) {
            least = d;
            best = *names;
        }
    }
    return best;
}

/* A whole number, with a suffix K, M, G or T (powers of 1024) if `sizes`. */
static bool parse_count(const char *text, bool sizes, uint64_t *out)
{
    char *end;
    if (*text < '0' || *text > '9') return false;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    if (errno) return false;
    if (sizes && *end) {
        static const char suffix[] = "KMGT";
        const char upper = *end >= 'a' ? (char)(*end - 'a' + 'A') : *end;
        const char *at = strchr(suffix, upper);
        if (!at) return false;
        const int shift = 10 * (int)(at - suffix + 1);
        if (n > UINT64_MAX >> shift) return false;
        n <<= shift;
        end++;
        if (*end == 'B' || *end == 'b') end++;
    }
    *out = n;
    return !*end;
}

static int set_option(args *a, const option_row *row, const char *value)
{
    void *field = (char *)&a->opt + row->field;
    uint64_t n = 0;
    switch (row->kind) {
    case FLAG:
        *(bool *)field = true;
        return STATUS_OK;
    case COUNT:
        if (!parse_count(value, false, &n) || n < 1 || n > 1000000)
            return usage_error("%s takes a whole number from 1 to 1000000, not '%s'",
                               row->name, value);
        *(int *)field = (int)n;
        return STATUS_OK;
    case LIMIT:
    case SIZE:
        if (!parse_count(value, row->kind == SIZE, &n) || n < 1)
            return usage_error("%s takes %s, not '%s'", row->name,
                               row->kind == SIZE ? "a number of bytes such as 500M or 2G"
                                                 : "a whole number from 1",
                               value);
        *(uint64_t *)field = n;
        return STATUS_OK;
    case FOLDER:
        *(const char **)field = value;
        return STATUS_OK;
    case OUT:
        a->out[a->outs++] = value;
        return STATUS_OK;
    case LIKE:
        a->like[a->likes++] = value;
        return STATUS_OK;
    case STAGE:
        a->stage = value;
        return STATUS_OK;
    }
    return STATUS_OK;
}

static int unknown_option(const char *word)
{
    const char *names[OPTION_COUNT + 3] = {NULL};
    for (int i = 0; i < OPTION_COUNT; i++)
        names[i] = option_table[i].name;
    names[OPTION_COUNT] = "--help";
    names[OPTION_COUNT + 1] = "--version";
    const char *near = near_name(word, names);
    if (near) return usage_error("unknown option '%s'; did you mean %s?", word, near);
    return usage_error("unknown option '%s'; `stcvm --help` lists them", word);
}

/* The option in argv[*i]; *i moves over its value where that stands apart. */
static int parse_option(int argc, char **argv, int *i, args *a)
{
    const char *word = argv[*i];
    const char *equals = word[1] == '-' ? strchr(word, '=') : NULL;
    const size_t length = equals ? (size_t)(equals - word) : strlen(word);
    if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
        a->help = true;
        return STATUS_OK;
    }
    if (!strcmp(word, "--version")) {
        a->version = true;
        return STATUS_OK;
    }
    for (int k = 0; k < OPTION_COUNT; k++) {
        const option_row *row = &option_table[k];
        if (strlen(row->name) != length || strncmp(row->name, word, length)) continue;
        if (row->kind == FLAG)
            return equals ? usage_error("%s takes no value", row->name)
                          : set_option(a, row, NULL);
        const char *value = equals ? equals + 1 : *i + 1 < argc ? argv[++*i] : NULL;
        if (!value || !*value) return usage_error("%s needs a value", row->name);
        return set_option(a, row, value);
    }
    return unknown_option(word);
}

int args_parse(int argc, char **argv, args *a)
{
    const size_t room = ((size_t)argc + 1) * sizeof(char *);
    bool only_operands = false;
    *a = (args){.opt = {.repeat = 1}};
    a->operand = xrealloc(NULL, room);
    a->out = xrealloc(NULL, room);
    a->like = xrealloc(NULL, room);
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (!only_operands && word[0] == '-' && word[1] && word[1] != '.') {
            if (!strcmp(word, "--")) {
                only_operands = true;
                continue;
            }
            const int status = parse_option(argc, argv, &i, a);
            if (status != STATUS_OK) {
                args_free(a);
                return status;
            }
        } else if (!a->command) {
            a->command = word;
        } else {
            a->operand[a->operands++] = word;
        }
    }
    return STATUS_OK;
}

void args_free(args *a)
{
    free(a->operand);
    free(a->out);
    free(a->like);
    a->operand = a->out = a->like = NULL;
}
