/* fuzz_stb_lines.c: damage to programs by whole lines of their printed form. */
#include "fuzz_stb.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 40000, LINE = 400 };

typedef struct lines {
    char **at;   /* each with an allocation of its own */
    int n, code; /* the first line of code         */
} lines;

static char *copy_of(const char *s, size_t n)
{
    char *out = malloc(n + 1);
    if (!out) abort();
    memcpy(out, s, n);
    out[n] = 0;
    return out;
}

static void insert(lines *l, int k, const char *line)
{
    if (l->n == LINES) return;
    if (k > l->n) k = l->n;
    memmove(l->at + k + 1, l->at + k, (size_t)(l->n - k) * sizeof *l->at);
    l->at[k] = copy_of(line, strlen(line));
    l->n++;
}

static void take_out(lines *l, int k)
{
    free(l->at[k]);
    memmove(l->at + k, l->at + k + 1, (size_t)(l->n - k - 1) * sizeof *l->at);
    l->n--;
}

static void split(lines *l, const char *text)
{
    *l = (lines){.at = malloc(LINES * sizeof *l->at)};
    if (!l->at) abort();
    while (*text && l->n < LINES) {
        const size_t n = strcspn(text, "\n");
        l->at[l->n++] = copy_of(text, n);
        text += n + (text[n] == '\n');
        if (strcmp(l->at[l->n - 1], ".code") == 0) l->code = l->n;
    }
}

static char *join(lines *l)
{
    size_t size = 1;
    for (int k = 0; k < l->n; k++)
        size += strlen(l->at[k]) + 1;
    char *out = malloc(size), *end = out;
    if (!out) abort();
    for (int k = 0; k < l->n; k++) {
        end = stpcpy(end, l->at[k]);
        *end++ = '\n';
        free(l->at[k]);
    }
    *end = 0;
    free(l->at);
    return out;
}

/* ---- which line ----------------------------------------------------------------- */

static bool is_op(const char *line, const char *op)
{
    line += strspn(line, " ");
    const size_t n = strlen(op);
    return strncmp(line, op, n) == 0 && (line[n] == ' ' || !line[n]);
}

/* A line of code with one of the opcodes (at random among them); -1: there is none. */
static int line_of(gen *g, const lines *l, const char *const *op)
{
    int found = -1, n = 0;
    for (int k = l->code; k < l->n; k++)
        for (int o = 0; op[o]; o++)
            if (is_op(l->at[k], op[o]) && gen_below(g, ++n) == 0) found = k;
    return found;
}

static const char *const any_op[] = {NULL}, *const placing[] = {"at", "keep", NULL},
                         *const results[] = {"at",    "keep",   "store",
                                             "begin", "finish", NULL},
                         *const windows[] = {"subsect", NULL},
                         *const around[] = {"subsect", "seek", "open", "locate", NULL};

static int choose(gen *g, const lines *l, family of)
{
    const char *const *op = of == FAMILY_KEEP      ? gen_chance(g, 70) ? placing : results
                            : of == FAMILY_SUBSECT ? gen_chance(g, 70) ? windows : around
                                                   : any_op;
    const int k = line_of(g, l, op);
    if (k >= 0) return k;
    return gen_chance(g, 90) ? l->code + gen_below(g, l->n - l->code) : gen_below(g, l->n);
}

/* ---- operands ------------------------------------------------------------------- */

/* Registers of file `letter` that the program has (its ".registers" line), more of them by
 * `more`. */
static int registers(lines *l, char letter, int more)
{
    for (int k = 0; k < l->code; k++) {
        if (strncmp(l->at[k], ".registers", 10) != 0) continue;
        int n[4] = {0};
        for (char *p = l->at[k] + 10; *p; p++)
            for (int f = 0; f < 4; f++)
                if (*p == "vimc"[f] && p[1] == ' ') n[f] = atoi(p + 2);
        const int was = n[strchr("vimc", letter) - "vimc"];
        if (!more) return was;
        n[strchr("vimc", letter) - "vimc"] += more;
        char line[LINE];
        snprintf(line, sizeof line, ".registers v %d i %d m %d c %d", n[0], n[1], n[2],
                 n[3]);
        free(l->at[k]);
        l->at[k] = copy_of(line, strlen(line));
        return was;
    }
    return 0;
}

/* One number of a line becomes another small one, or `root`. */
static void change_operand(gen *g, lines *l, int k)
{
    int places = 0, at = 0;
    char *line = l->at[k], out[LINE + 40];
    const size_t end = strcspn(line, "@;");
    for (size_t p = 1; p < end; p++)
        if (isdigit((unsigned char)line[p]) && !isdigit((unsigned char)line[p - 1]) &&
            gen_below(g, ++places) == 0)
            at = (int)p;
    if (!places || strlen(line) >= LINE) return;
    const size_t digits = strspn(line + at, "0123456789");
    snprintf(out, sizeof out, "%.*s%d%s", at, line, gen_below(g, 8), line + at + digits);
    free(line);
    l->at[k] = copy_of(out, strlen(out));
}

/* n more subsections after one, each below the one before it, in registers of their own. */
static void chain(gen *g, lines *l, int k, int n)
{
    int c, t, level, i, konst, e;
    char up[16], line[LINE];
    if (sscanf(l->at[k], " subsect c%d, t%d, %d, %15[^,], i%d, k%d, e%d", &c, &t, &level,
               up, &i, &konst, &e) != 7)
        return;
    const int first = registers(l, 'c', n);
    for (int x = 0; x < n; x++) {
        snprintf(line, sizeof line, "subsect c%d, t%d, %d, c%d, i%d, k%d, e%d", first + x,
                 t, level, x ? first + x - 1 : c, i, konst, e);
        insert(l, k + 1 + 2 * x, line);
        snprintf(line, sizeof line, "seek c%d, i%d", x ? first + x - 1 : c, i);
        if (x || gen_chance(g, 50)) insert(l, k + 1 + 2 * x, line);
    }
    if (gen_chance(g, 50)) return; /* else: what follows stands below the last one */
    snprintf(up, sizeof up, ", c%d,", c);
    for (int x = k + 1 + n; x < l->n; x++) {
        char *at = strstr(l->at[x], up);
        if (!at || !is_op(l->at[x], "subsect")) continue;
        snprintf(line, sizeof line, "%.*s, c%d,%s", (int)(at - l->at[x]), l->at[x],
                 first + n - 1, at + strlen(up));
        free(l->at[x]);
        l->at[x] = copy_of(line, strlen(line));
        return;
    }
}

/* ---- damage --------------------------------------------------------------------- */

static void move_line(gen *g, lines *l, int k, bool stays)
{
    char *line = copy_of(l->at[k], strlen(l->at[k]));
    if (!stays) take_out(l, k);
    insert(l, l->code + gen_below(g, l->n - l->code + 1), line);
    free(line);
}

static void repeat_line(gen *g, lines *l, int k)
{
    const int n = gen_chance(g, 80) ? 1 + gen_below(g, 80) : gen_below(g, 8000);
    char *line = copy_of(l->at[k], strlen(l->at[k]));
    for (int x = 0; x < n; x++)
        insert(l, k, line);
    free(line);
}

static void damage_one(gen *g, lines *l, family of)
{
    const int k = choose(g, l, of);
    if (of == FAMILY_SUBSECT && gen_chance(g, 30)) {
        chain(g, l, k, 1 + (gen_chance(g, 90) ? gen_below(g, 70) : gen_below(g, 3000)));
        return;
    }
    switch (gen_below(g, 8)) {
    case 0:
    case 1:
        if (l->n > l->code + 1) take_out(l, k);
        break;
    case 2:
        move_line(g, l, k, false);
        break;
    case 3:
        move_line(g, l, k, true);
        break;
    case 4:
        if (gen_chance(g, 30))
            repeat_line(g, l, k);
        else
            insert(l, k, l->at[k]);
        break;
    default:
        change_operand(g, l, k);
    }
}

char *damage_lines(gen *g, const char *text, family of)
{
    lines l;
    split(&l, text);
    const int n = 1 + (gen_chance(g, 50) ? gen_below(g, 3) : 0);
    for (int k = 0; k < n && l.n > l.code; k++)
        damage_one(g, &l, k && gen_chance(g, 50) ? FAMILY_ANY : of);
    return join(&l);
}
