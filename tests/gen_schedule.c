/* gen_schedule.c: random schedules, which may or may not be possible: values don't
 * depend on them. Every command is drawn; names made by one are used by later ones.
 */
#include "gen.h"
#include <string.h>

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

/* Loop k becomes a (and b, if it isn't empty). */
static void replace(drawn *d, int k, const char *a, const char *b)
{
    memcpy(d->loop[k], a, NAME);
    if (b && d->n < LOOPS) memcpy(d->loop[d->n++], b, NAME);
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
    static const char *const policy[] = {"dense", "coord", "bucket", "hash"};
    static const int capacity[] = {1, 2, 7, 16, 1000};
    say_command(d);
    gen_say(d->text, sizeof d->text, "workspace(%s", policy[gen_below(d->g, 4)]);
    if (gen_chance(d->g, 50))
        gen_say(d->text, sizeof d->text, ", %d", capacity[gen_below(d->g, 5)]);
    gen_say(d->text, sizeof d->text, ")");
}

void gen_schedule(gen *g, const char *names, char *out, size_t size)
{
    drawn d = {.g = g};
    for (int k = 0; k < g->nindex; k++)
        if (g->bare[k]) d.loop[d.n++][0] = names[k];
    if (d.n && gen_chance(g, 40)) reorder(&d);
    for (int steps = gen_below(g, 4); steps > 0 && d.n; steps--) {
        int k = gen_below(g, d.n), j = gen_below(g, d.n);
        switch (gen_below(g, 3)) {
        case 0:
            split(&d, k);
            break;
        case 1:
            if (k != j) fuse(&d, k, j);
            break;
        default:
            positions(&d);
        }
    }
    if (d.n && gen_chance(g, 40)) reorder(&d);
    if (d.n && gen_chance(g, 10)) {
        say_command(&d);
        gen_say(d.text, sizeof d.text, "parallelize(%s)", d.loop[gen_below(g, d.n)]);
    }
    if (!d.text[0] || gen_chance(g, 30)) workspace(&d);
    gen_say(out, size, "\n  with %s", d.text);
    g->c->scheduled = true;
}
