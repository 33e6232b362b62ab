/* case_check.c: a case in the oracle's world, and the comparison. */
#include "case.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Formats that store what they are given, and nothing besides. */
static bool leaves_out(const char *format)
{
    static const char *const some[] = {"svec", "csr", "csc", "dcsr",
                                       "dcsc", "coo", "csf", "hash"};
    for (size_t k = 0; k < sizeof some / sizeof *some; k++)
        if (!strcmp(format, some[k])) return true;
    return false;
}

static bool enter(const ctensor *t, oworld *w)
{
    otensor *o = oworld_put(w, t->name, t->type, t->order, t->shape, t->fill);
    bool *seen = calloc((size_t)(o ? o->count + 1 : 1), 1);
    if (!o || !seen) {
        free(seen);
        return false;
    }
    int add = of_find("add", 3, 2);
    unsigned flags = 0;
    const oreach rest = !strcmp(t->format.text, "dense") ? REACH_YES
                        : leaves_out(t->format.text)     ? REACH_NO
                                                         : REACH_PERHAPS;
    o->stored = malloc((size_t)o->count + 1);
    if (o->stored) memset(o->stored, rest, (size_t)o->count + 1);
    for (int64_t e = 0; e < t->n; e++) {
        int64_t at = 0;
        for (int k = 0; k < t->order; k++)
            at = at * t->shape[k] + t->coord[e * t->order + k];
        oval two[2] = {o->data[at], t->value[e]};
        o->data[at] = seen[at] ? ov_store(of_call(add, two, &flags), t->type) : t->value[e];
        seen[at] = true;
        if (o->stored && rest != REACH_PERHAPS) o->stored[at] = REACH_YES;
        if (o->stored && rest == REACH_PERHAPS) /* what pads can't be told from the fill */
            o->stored[at] = ov_agrees(&o->data[at], &o->fill) ? REACH_PERHAPS : REACH_YES;
    }
    free(seen);
    o->has_data = t->has_data;
    o->keeps_type = o->keeps_fill = true;
    o->keeps_shape = t->has_data || t->shaped;
    if (!t->has_data) o->keeps_fill = t->has_fill;
    return true;
}

bool case_world(const fcase *c, oworld *w)
{
    for (int k = 0; k < c->count; k++) {
        const ctensor *t = &c->t[k];
        if ((t->has_data || t->declared) && !enter(t, w)) return false;
    }
    return true;
}

static void say(judged *j, cverdict v, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void say(judged *j, cverdict v, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(j->why, sizeof j->why, format, args);
    va_end(args);
    j->verdict = v;
}

static void coordinates(const otensor *t, int64_t at, char *buf, size_t size)
{
    int64_t c[STC_MAX_ORDER];
    for (int k = t->order - 1; k >= 0; k--) {
        c[k] = at % t->shape[k];
        at /= t->shape[k];
    }
    size_t len = (size_t)snprintf(buf, size, "(");
    for (int k = 0; k < t->order && len < size; k++)
        len += (size_t)snprintf(buf + len, size - len, "%s%" PRId64, k ? "," : "", c[k]);
    if (len < size) snprintf(buf + len, size - len, ")");
}

static oval fill_value(const outcome *o)
{
    if (ot_complex(o->type)) return ov_complex(o->type, o->fill.c[0], o->fill.c[1]);
    if (ot_float(o->type)) return ov_real(o->type, o->fill.f);
    return ov_int(o->type, o->fill.i);
}

static void compare(const otensor *want, const outcome *got, judged *j)
{
    if (want->type != got->type) {
        say(j, CASE_FAIL, "type is %s, expected %s", stc_type_name(got->type),
            stc_type_name(want->type));
        return;
    }
    bool same = want->order == got->order;
    for (int k = 0; k < want->order && same; k++)
        same = want->shape[k] == got->shape[k];
    if (!same) {
        say(j, CASE_FAIL, "shape is off: order %d, count %" PRId64, got->order, got->count);
        return;
    }
    char where[120], a[80], b[80];
    for (int64_t k = 0; k < want->count; k++) {
        oval x = ov_store(want->data[k], got->type), y = ov_load(got->type, got->dense, k);
        j->elements++;
        j->poisoned += ov_is_any(&x);
        if (ov_agrees(&x, &y)) continue;
        coordinates(want, k, where, sizeof where);
        ov_print(&x, a, sizeof a);
        ov_print(&y, b, sizeof b);
        say(j, CASE_FAIL, "at %s: got %s, expected %s (tolerance %g), in %s", where, b, a,
            x.err, got->format);
        return;
    }
    for (int64_t k = 0; want->stored && got->stored_at && k < want->count; k++) {
        const oreach r = (oreach)want->stored[k];
        if (r == REACH_PERHAPS || !leaves_out(got->format)) continue;
        j->places++;
        if (got->stored_at[k] == (r == REACH_YES)) continue;
        coordinates(want, k, where, sizeof where);
        say(j, CASE_FAIL, "%s is %sstored, in %s", where, got->stored_at[k] ? "" : "not ",
            got->format);
        return;
    }
    oval f = fill_value(got), wf = ov_store(want->fill, got->type);
    if (!want->fill_unknown && !ov_agrees(&wf, &f)) {
        ov_print(&wf, a, sizeof a);
        ov_print(&f, b, sizeof b);
        say(j, CASE_FAIL, "fill is %s, expected %s", b, a);
    }
}

static void judge(const oworld *w, overdict v, bool scheduled, const outcome *o, judged *j)
{
    bool endless = o->status == STC_ERR_STEPS && w->flags & OV_HAZARD; /* while (nan) */
    /* Formats that pad may take more than a case's cap for a long index. */
    const otensor *t0 = oworld_find(w, w->target ? w->target : "");
    bool padded = o->status == STC_ERR_MEMORY && t0 && t0->count > 1000;
    /* Fibers with more entries than a format's width. */
    bool narrow = o->status == STC_ERR_OVERFLOW && strstr(o->message, "its width");
    bool placeless = strstr(o->message, "levels find a place") != NULL;
    bool late = scheduled && o->status == STC_ERR_STEPS; /* loops in a poor order */
    bool sound = endless || padded || narrow || late || o->status == STC_OK ||
                 o->status == STC_ERR_PROGRAM || o->status == STC_ERR_SHAPE ||
                 o->status == STC_ERR_ARITHMETIC || o->status == STC_ERR_SYNTAX;
    if (o->leak != 0) {
        say(j, CASE_FAIL, "%" PRId64 " bytes are still held", (int64_t)o->leak);
    } else if (!sound || strstr(o->message, "unsafe bytecode") ||
               strstr(o->message, "internal:")) { /* ours, whoever's the statement is */
        say(j, CASE_FAIL, "status %s: %s", stc_status_name(o->status), o->message);
    } else if (v == ORACLE_OK && placeless) {
        say(j, CASE_REFUSED, "%s", o->message);
    } else if (v == ORACLE_OK && o->status == STC_ERR_PROGRAM &&
               (w->flags & OV_LITERAL || strstr(o->message, "fit the type"))) {
        say(j, CASE_REFUSED, "%s", o->message);
    } else if (v == ORACLE_UNSURE) {
        say(j, CASE_UNSURE, "%s", w->why);
    } else if (v == ORACLE_ERROR) {
        if (o->status == STC_OK)
            say(j, CASE_FAIL, "accepted, but: %s", w->why);
        else
            say(j, CASE_REFUSED, "%s / %s", w->why, o->message);
    } else if (endless || padded || narrow) {
        say(j, CASE_UNSURE, "%s", o->message);
    } else if (scheduled && (o->status == STC_ERR_PROGRAM || o->status == STC_ERR_STEPS)) {
        say(j, CASE_UNSURE, "%s", o->message);
    } else if (o->status == STC_ERR_ARITHMETIC && w->flags & OV_FAULT) {
        say(j, CASE_REFUSED, "%s", o->message);
    } else if (o->status == STC_ERR_ARITHMETIC && w->empty) {
        say(j, CASE_UNSURE, "%s, ahead of a loop over nothing", o->message);
    } else if (o->status != STC_OK) {
        say(j, CASE_FAIL, "status %s: %s", stc_status_name(o->status), o->message);
    } else {
        j->verdict = CASE_PASS;
        snprintf(j->result_format, sizeof j->result_format, "%s", o->format);
        const otensor *t = oworld_find(w, w->target);
        if (t)
            compare(t, o, j);
        else
            say(j, CASE_FAIL, "the oracle has no result");
    }
}

void case_judge(const fcase *c, unsigned how, judged *out)
{
    *out = (judged){.verdict = CASE_UNSURE};
    static const ctx blank;
    ctx *cx = malloc(sizeof *cx);
    if (!cx) return;
    memcpy(cx, &blank, sizeof *cx);
    oworld w;
    oworld_init(&w, cx);
    w.limit = 400000;
    char text[sizeof c->defs + sizeof c->stmt + 2];
    snprintf(text, sizeof text, "%s%s\n", c->defs, c->stmt);
    if (case_world(c, &w)) {
        host_functions_define(&w, c->stmt);
        overdict v = oracle_exec(&w, text);
        otensor *made = w.target ? oworld_find(&w, w.target) : NULL;
        if (made && c->scheduled) { /* schedules may store more */
            free(made->stored);
            made->stored = NULL;
        }
        outcome o;
        case_run(c, how, &o);
        judge(&w, v, c->scheduled, &o, out);
        outcome_free(&o);
    }
    oworld_free(&w);
    free(cx);
}
