/* gen_schedule.c: random schedules, which may or may not be possible: values don't
 * depend on them. Every command is drawn; names made by one are used by later ones.
 */
#include "gen.h"
#include <string.h>

#define WORD "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

enum { LOOPS = 24, NAME = 8 };

typedef struct drawn {
    gen *g;
    char loop[LOOPS][NAME]; /* the names that are loops by now */
    int n, made;
    char text[700];
} drawn;

static void say_command(drawn *d)
{
    gen_say(d->text, sizeof d->text, "%s", d->text[0] ? ", " : "");
}

static const char *fresh(drawn *d, char *name)
{
    snprintf(name, NAME, "s%d", ++d->made % 100);
    return name;
}

/* Loop k becomes a, and b inside of it, if there is one. */
static void replace(drawn *d, int k, const char *a, const char *b)
{
    memcpy(d->loop[k], a, NAME);
    if (!b || d->n == LOOPS) return;
    memmove(d->loop[k + 2], d->loop[k + 1], (size_t)(d->n++ - k - 1) * NAME);
    memcpy(d->loop[k + 1], b, NAME);
}

static void drop(drawn *d, int k)
{
    memmove(d->loop[k], d->loop[k + 1], (size_t)(--d->n - k) * NAME);
}

static int find(const drawn *d, const char *name, size_t len)
{
    for (int k = 0; k < d->n; k++)
        if (strlen(d->loop[k]) == len && memcmp(d->loop[k], name, len) == 0) return k;
    return -1;
}

static void split(drawn *d, int k)
{
    char a[NAME], b[NAME];
    say_command(d);
    gen_say(d->text, sizeof d->text, "split(%s,%s,%s,%d)", d->loop[k], fresh(d, a),
            fresh(d, b), 1 + gen_below(d->g, 4));
    replace(d, k, a, b);
}

static int fuse(drawn *d, int i, int j)
{
    char f[NAME];
    say_command(d);
    gen_say(d->text, sizeof d->text, "fuse(%s,%s,%s)", d->loop[i], d->loop[j], fresh(d, f));
    replace(d, i, f, NULL);
    drop(d, j);
    return find(d, f, strlen(f));
}

/* An access of the right side with bare subscripts: its text, and the loops of its
 * subscripts; their number, 0 if there is none. */
static int choose_access(const drawn *d, char *text, int *loop)
{
    const char *right = strchr(d->g->c->stmt, '=');
    int count = d->g->c->count, first = gen_below(d->g, count);
    for (int t = 0; right && t < count; t++) {
        const ctensor *x = &d->g->c->t[(first + t) % count];
        size_t len = strlen(x->name);
        for (const char *at = right; (at = strstr(at, x->name)); at++) {
            int n = 0;
            const char *s = at + len;
            if (*s != '(') continue;
            while ((*s == '(' || *s == ',') && n < 4 &&
                   (loop[n] = find(d, s + 1, 1)) >= 0) {
                s += 2;
                n++;
            }
            if (*s != ')' || n != x->order || s - at >= 60) continue;
            memcpy(text, at, (size_t)(s + 1 - at));
            text[s + 1 - at] = 0;
            return n;
        }
    }
    return 0;
}

/* Positions of one subscript of an access, or of two that are fused before. */
static void positions(drawn *d)
{
    char text[64], p[NAME];
    int loop[4], n = choose_access(d, text, loop);
    if (n == 0) return;
    int k = loop[n - 1];
    bool two = n > 1 && loop[n - 2] != loop[n - 1] && gen_chance(d->g, 60);
    if (two) k = fuse(d, loop[n - 2], loop[n - 1]);
    say_command(d);
    gen_say(d->text, sizeof d->text, "pos(%s,%s,%s)", d->loop[k], fresh(d, p), text);
    replace(d, k, p, NULL);
    if (gen_chance(d->g, 75)) split(d, k);
}

static void say_policy(drawn *d, const char *before)
{
    static const char *const policy[] = {"dense", "coord", "bucket", "hash", "lined"};
    static const int capacity[] = {1, 2, 7, 16, 1000};
    gen_say(d->text, sizeof d->text, "%s%s", before, policy[gen_below(d->g, 5)]);
    if (gen_chance(d->g, 50))
        gen_say(d->text, sizeof d->text, ", %d", capacity[gen_below(d->g, 5)]);
}

/* Whether a text in parentheses is an expression: no list, reduction or slice. */
static bool is_expression(const char *text)
{
    int depth = 0;
    for (const char *s = text; *s; s++) {
        depth += (*s == '(') - (*s == ')');
        if (depth == 0 && (*s == ',' || *s == ':')) return false;
    }
    return *text != 0;
}

/* A part of the right side, as written: what is in parentheses, or before them, too.
 * False if there is none. */
static bool choose_part(const drawn *d, char *text, size_t size)
{
    const char *right = strchr(d->g->c->stmt, '='), *open[40];
    int n = 0, depth = 0;
    for (const char *s = right; s && *s && n < 40; s++)
        if (*s == '(') open[n++] = s;
    if (n == 0) return false;
    const char *begin = open[gen_below(d->g, n)], *end = begin;
    do
        depth += (*end == '(') - (*end == ')');
    while (*end++ && depth > 0);
    bool named = begin > right && begin[-1] >= 'A' && begin[-1] <= 'Z';
    begin += named ? -1 : 1;
    size_t len = (size_t)(end - begin) - !named;
    if (depth || len >= size) return false;
    memcpy(text, begin, len);
    text[len] = 0;
    return is_expression(text);
}

static bool alone(const char *text, const char *at)
{
    return (at == text || !strchr(WORD, at[-1])) && (!at[1] || !strchr(WORD, at[1]));
}

/* A part of the right side first, over some of its indices; new names for them. */
static void precompute(drawn *d, const char *names)
{
    char text[300], list[40] = "", name[NAME];
    int n = 0;
    if (!choose_part(d, text, sizeof text)) return;
    for (int k = 0; k < d->g->nindex; k++) {
        const char *at = strchr(text, names[k]);
        while (at && !alone(text, at))
            at = strchr(at + 1, names[k]);
        if (at && gen_chance(d->g, 75))
            gen_say(list, sizeof list, "%s%c", n++ ? "," : "", names[k]);
    }
    if (n == 0) return;
    say_command(d);
    gen_say(d->text, sizeof d->text, "precompute(%s, W%d, {%s}", text, ++d->made % 100,
            list);
    if (gen_chance(d->g, 25)) {
        for (int k = 0; k < n; k++)
            gen_say(d->text, sizeof d->text, "%s%s", k ? "," : ", {", fresh(d, name));
        gen_say(d->text, sizeof d->text, "}");
    }
    if (gen_chance(d->g, 40)) say_policy(d, ", ");
    gen_say(d->text, sizeof d->text, ")");
}

static void reorder(drawn *d)
{
    for (int k = d->n - 1; k > 0; k--) {
        char swap[NAME];
        int j = gen_below(d->g, k + 1);
        memcpy(swap, d->loop[k], NAME);
        memcpy(d->loop[k], d->loop[j], NAME);
        memcpy(d->loop[j], swap, NAME);
    }
    int n = gen_chance(d->g, 70) ? d->n : 1 + gen_below(d->g, d->n);
    say_command(d);
    gen_say(d->text, sizeof d->text, "reorder(");
    for (int k = 0; k < n; k++)
        gen_say(d->text, sizeof d->text, "%s%s", k ? "," : "", d->loop[k]);
    gen_say(d->text, sizeof d->text, ")");
}

static void workspace(drawn *d)
{
    say_command(d);
    say_policy(d, "workspace(");
    const char last = d->text[strlen(d->text) - 1]; /* of a capacity, if it was given */
    if (last >= '0' && last <= '9' && gen_chance(d->g, 30))
        gen_say(d->text, sizeof d->text, ", single");
    gen_say(d->text, sizeof d->text, ")");
}

void gen_schedule(gen *g, const char *names, char *out, size_t size)
{
    drawn d = {.g = g};
    for (int k = 0; k < g->nindex; k++)
        if (g->bare[k]) d.loop[d.n++][0] = names[k];
    if (d.n && gen_chance(g, 40)) reorder(&d);
    if (gen_chance(g, 30)) precompute(&d, names);
    for (int steps = gen_below(g, 4); steps > 0 && d.n; steps--) {
        int k = gen_below(g, d.n);
        int j = gen_chance(g, 75) ? k + 1 : gen_below(g, d.n); /* most likely inside k */
        switch (gen_below(g, 3)) {
        case 0:
            split(&d, k);
            break;
        case 1:
            if (k != j && j < d.n) fuse(&d, k, j);
            break;
        default:
            positions(&d);
        }
    }
    if (d.n && gen_chance(g, 40)) reorder(&d);
    if (gen_chance(g, 10)) precompute(&d, names);
    if (d.n && gen_chance(g, 10)) {
        say_command(&d);
        int k = gen_chance(g, 75) ? 0 : gen_below(g, d.n); /* most likely outermost */
        gen_say(d.text, sizeof d.text, "parallelize(%s)", d.loop[k]);
    }
    if (!d.text[0] || gen_chance(g, 30)) workspace(&d);
    gen_say(out, size, "\n  with %s", d.text);
    g->c->scheduled = true;
}
