/* case.c: copying, freeing and printing of cases. */
#include "case.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void case_free(fcase *c)
{
    for (int k = 0; k < c->count; k++) {
        free(c->t[k].coord);
        free(c->t[k].value);
    }
    *c = (fcase){.count = 0};
}

bool case_copy(const fcase *from, fcase *to)
{
    *to = *from;
    bool ok = true;
    for (int k = 0; k < from->count; k++) {
        const ctensor *a = &from->t[k];
        ctensor *b = &to->t[k];
        size_t n = (size_t)(a->n ? a->n : 1);
        b->coord = malloc(n * CASE_ORDER * sizeof *b->coord);
        b->value = malloc(n * sizeof *b->value);
        ok = ok && b->coord && b->value;
        if (!b->coord || !b->value || a->n == 0) continue;
        memcpy(b->coord, a->coord, (size_t)(a->n * a->order) * sizeof *a->coord);
        memcpy(b->value, a->value, (size_t)a->n * sizeof *a->value);
    }
    if (!ok) case_free(to);
    return ok;
}

ctensor *case_tensor(fcase *c, const char *name)
{
    for (int k = 0; k < c->count; k++)
        if (strcmp(c->t[k].name, name) == 0) return &c->t[k];
    return NULL;
}

void ctensor_entries(ctensor *t, int64_t n, int64_t *coord, oval *value)
{
    free(t->coord);
    free(t->value);
    t->n = n;
    t->coord = coord;
    t->value = value;
}

/* ---- printing ------------------------------------------------------------------- */

typedef struct sink {
    char *data;
    size_t len, cap;
} sink;

static void put(sink *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(sink *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (s->len + (size_t)n + 1 > s->cap) {
        size_t cap = 2 * (s->len + (size_t)n + 256);
        char *more = realloc(s->data, cap);
        if (!more) return;
        s->data = more;
        s->cap = cap;
    }
    va_start(args, format);
    vsnprintf(s->data + s->len, s->cap - s->len, format, args);
    va_end(args);
    s->len += (size_t)n;
}

static void put_value(sink *s, const oval *v)
{
    if (v->type == STC_BOOL)
        put(s, "%s", v->i ? "true" : "false");
    else if (ot_complex(v->type))
        put(s, "%.17g%+.17gj", v->re, v->im);
    else if (ot_float(v->type))
        put(s, "%.17g", v->re);
    else if (ot_unsigned(v->type))
        put(s, "%" PRIu64, (uint64_t)v->i);
    else
        put(s, "%" PRId64, v->i);
}

static void put_tensor(sink *s, const ctensor *t)
{
    const char *format = t->format.text[0] ? t->format.text : "dense";
    char named[16];
    if (format[0] == '(') {
        snprintf(named, sizeof named, "f%s", t->name);
        put(s, "format %s = %s\n", named, format);
        format = named;
    }
    if (t->lend)
        put(s, "# the arrays of %s are lent: duplicates stay, seed %" PRIu64 "\n", t->name,
            t->seed);
    put(s, "tensor %s %s %s", t->name, format, stc_type_name(t->type));
    if (t->has_data || t->shaped) {
        put(s, " [");
        for (int k = 0; k < t->order; k++)
            put(s, "%s%" PRId64, k ? "," : "", t->shape[k]);
        put(s, "]");
    }
    if (t->has_fill) {
        put(s, " fill ");
        put_value(s, &t->fill);
    }
    if (t->has_data && t->order == 0) {
        put(s, " = ");
        put_value(s, t->n ? &t->value[0] : &t->fill);
    } else if (t->has_data) {
        put(s, " = { ");
        for (int64_t e = 0; e < t->n; e++) {
            put(s, "%s(", e ? ", " : "");
            for (int k = 0; k < t->order; k++)
                put(s, "%s%" PRId64, k ? "," : "", t->coord[e * t->order + k]);
            put(s, "): ");
            put_value(s, &t->value[e]);
        }
        put(s, " }");
    }
    put(s, "\n");
}

char *case_script(const fcase *c, const char *note)
{
    sink s = {0};
    put(&s, "%s", note ? note : "");
    put(&s, "%s", c->defs);
    for (int k = 0; k < c->count; k++) {
        const ctensor *t = &c->t[k];
        if (t->has_data || t->declared) put_tensor(&s, t);
    }
    put(&s, "%s\nprint %s\n", c->stmt, c->target);
    return s.data;
}
