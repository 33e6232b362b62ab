/* suggest.c: near names by edit distance (insert, drop, change, swap), in one
 * table of three rows. Only short names are compared: others aren't typing
 * errors of each other. */
#include "suggest.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define NAME_MAX_LEN 40

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

static int edit_distance(const char *a, const char *b)
{
    const int n = (int)strlen(a), m = (int)strlen(b);
    int rows[3][NAME_MAX_LEN + 1];
    int *before = rows[0], *last = rows[1], *row = rows[2];
    if (n > NAME_MAX_LEN || m > NAME_MAX_LEN) return INT_MAX;
    for (int j = 0; j <= m; j++)
        last[j] = before[j] = j;
    for (int i = 1; i <= n; i++) {
        row[0] = i;
        for (int j = 1; j <= m; j++) {
            row[j] = smaller(smaller(last[j], row[j - 1]) + 1,
                             last[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = smaller(row[j], before[j - 2] + 1);
        }
        int *const free_row = before;
        before = last;
        last = row;
        row = free_row;
    }
    return last[m];
}

void suggest_begin(suggestion *s, const char *wanted)
{
    s->wanted = wanted;
    s->best = NULL;
    const int len = (int)strlen(wanted);
    s->distance = (len + 2) / 3 + 1; /* the first that is too far */
}

void suggest_try(suggestion *s, const char *name)
{
    const bool by_case = strcasecmp(s->wanted, name) == 0; /* `a` for `A`, however short */
    const int d = by_case ? 0 : edit_distance(s->wanted, name);
    if (d >= s->distance || d >= (int)strlen(name)) return;
    s->distance = d;
    s->best = name;
}

const char *suggest_text(const suggestion *s, char *buf, size_t size)
{
    if (!s->best) return "";
    snprintf(buf, size, "; did you mean `%s`?", s->best);
    return buf;
}
