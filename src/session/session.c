/* session.c: sessions: their variables, and the public calls around them.
 */
#include "session.h"
#include "../api/structs.h"
#include "../io/io.h"
#include <string.h>

/* ---- variables ------------------------------------------------------------------- */

static variable *session_at(const stc_session *s, int64_t i)
{
    return s->f.vars.item[i];
}

variable *session_find(const stc_session *s, const char *name)
{
    return names_find(&s->f.vars, name);
}

const tensor *session_known(const void *of, const char *name)
{
    const variable *v = session_find(of, name);
    return v ? v->t : NULL;
}

void session_clear(stc_session *s, variable *v)
{
    if (v->has_origin) {
        s->f.waiting -= !v->t;
        origin_free(&s->m->cx, &v->from);
    }
    if (!v->lent && v->t) {
        session_turned_drop(s, v->t);
        tensor_free(v->t);
    }
    v->t = NULL;
    v->has_origin = v->lent = false;
}

variable *session_var(stc_session *s, const char *name)
{
    ctx *cx = &s->m->cx;
    variable *v = session_find(s, name);
    if (v) return v;
    if (!names_room(cx, &s->f.vars)) return NULL;
    v = mem_zero(cx, 1, sizeof *v);
    if (!v) return NULL;
    v->name = mem_strdup(cx, name);
    if (!v->name) {
        mem_free(cx, v, sizeof *v);
        return NULL;
    }
    names_add(&s->f.vars, v);
    s->named++;
    return v;
}

void session_remove(stc_session *s, const char *name)
{
    ctx *cx = &s->m->cx;
    scope_drop_tensor(s->f.sc, name);
    s->named++;
    if (s->f.last && strcmp(s->f.last, name) == 0) {
        mem_strfree(cx, s->f.last);
        s->f.last = NULL;
    }
    variable *v = session_find(s, name);
    if (!v) return;
    names_remove(&s->f.vars, v);
    session_clear(s, v);
    tape_free(cx, v->tape);
    mem_strfree(cx, v->name);
    mem_free(cx, v, sizeof *v);
}

void session_set(stc_session *s, variable *v, tensor *t)
{
    const bool summed = v->t != t && t->summed == t->generation; /* else it was changed */
    if (v->t != t) {
        session_clear(s, v);
        v->t = t;
    } else if (t->sharers) {
        tensor_free(t); /* A = A: it has been taken twice */
    }
    /* What comes here was made by the library or has been checked, or lies in a file and
     * will be when it is used; and caches keyed by generation must never take one tensor
     * for another. One that another variable has, too, is as it was. */
    const bool pending = t->backing && t->checked != t->generation;
    const uint64_t born = ++s->generation;
    if (!t->sharers) {
        session_turned_drop(s, t);
        t->generation = born;
        t->summed = summed ? born : 0;
    }
    v->before = v->born;
    v->born = born;
    t->checked = pending ? t->generation - 1 : t->generation;
    scope_tensor *e = scope_find_tensor(s->f.sc, v->name);
    if (!e) return;
    if ((e->order == 0) != (t->order == 0)) s->named++;
    e->order = t->order;
    e->fmt = t->fmt;
    e->type = t->type;
    e->fill = t->fill;
    e->has_data = true;
    e->slot = -1;
}

stc_status session_set_last(stc_session *s, const char *name)
{
    if (s->f.last && strcmp(s->f.last, name) == 0) return STC_OK;
    char *copy = mem_strdup(&s->m->cx, name);
    if (!copy) return s->m->cx.diag.status;
    mem_strfree(&s->m->cx, s->f.last);
    s->f.last = copy;
    return STC_OK;
}

stc_status session_reserve(stc_session *s, const char *name, variable **v, bool *fresh)
{
    *v = session_find(s, name);
    *fresh = !*v;
    if (!*v) *v = session_var(s, name);
    if (!*v) return s->m->cx.diag.status;
    if (!scope_find_tensor(s->f.sc, name) && !scope_put_tensor(s->f.sc, name)) {
        if (*fresh) session_remove(s, name);
        return s->m->cx.diag.status;
    }
    return STC_OK;
}

/* What was declared of a name, applied to the tensor that it is to have. */
static stc_status as_declared(const script *in, span at, const scope_tensor *e,
                              const tensor *t, tensor **out)
{
    if (e->order >= 0 && (e->has_shape || e->has_format) && e->order != t->order)
        return fail_source(&in->src, STC_ERR_PROGRAM, at,
                           "%s has %d mode%s, and what it is assigned has %d", e->name,
                           e->order, e->order == 1 ? "" : "s", t->order);
    for (int k = 0; e->has_shape && k < t->order; k++) {
        if (e->shape[k] == t->shape[k]) continue;
        return fail_source(&in->src, STC_ERR_SHAPE, at,
                           "dimension %d of %s has size %lld, and %lld in what it is "
                           "assigned",
                           k, e->name, (long long)e->shape[k], (long long)t->shape[k]);
    }
    format f = e->has_format ? e->fmt : t->fmt;
    if (e->has_format && !format_close(&f, t->order))
        return fail_source(&in->src, STC_ERR_PROGRAM, at,
                           "%s has a format of %d modes, and what it is assigned has %d",
                           e->name, e->fmt.order, t->order);
    const stc_type type = e->has_type ? e->type : t->type;
    if (!type_keeps_kind(type, t->type))
        return fail_source(&in->src, STC_ERR_PROGRAM, at,
                           "%s is %s and this is %s, which doesn't fit; %s(…) casts it",
                           e->name, type_name(type), type_name(t->type), type_name(type));
    const value fill = e->has_fill ? type_convert(type, e->type, e->fill)
                                   : type_convert(type, t->type, t->fill);
    return tensor_convert(t, &f, type, fill, out);
}

stc_status session_fit(stc_session *s, const script *in, span at, const char *name,
                       tensor **t)
{
    const scope_tensor *e = scope_find_tensor(s->f.sc, name);
    tensor *own = NULL;
    if (!e || !(e->has_format || e->has_type || e->has_fill || e->has_shape)) return STC_OK;
    const stc_status st = as_declared(in, at, e, *t, &own);
    if (st) return st;
    tensor_free(*t);
    *t = own;
    return STC_OK;
}

stc_status session_give(stc_session *s, const script *in, span at, const char *name,
                        tensor *t)
{
    variable *v;
    bool fresh = false;
    stc_status st = session_fit(s, in, at, name, &t);
    if (!st) st = session_reserve(s, name, &v, &fresh);
    /* a value that was shown isn't a result to show */
    if (!st && strcmp(name, "_") != 0) st = session_set_last(s, name);
    if (!st) {
        session_set(s, v, t);
        return STC_OK;
    }
    tensor_free(t);
    if (fresh) session_remove(s, name);
    return st;
}

/* ---- variables that wait ------------------------------------------------------------- */

/* Reads the file; what the source gave of format, type and fill is declared. */
static stc_status read_file(stc_session *s, variable *v, int order)
{
    ctx *cx = &s->m->cx;
    const origin *o = &v->from;
    format f;
    stc_status st;
    if (o->format && (st = format_parse(cx, s->f.sc, o->format, -1, &f))) return st;
    const double start = now_us();
    tensor *t = NULL;
    st = origin_load(cx, o->path, order, o->format ? &f : NULL, o->type, o, &t);
    s->times.load += now_us() - start;
    if (st) return st;
    scope_tensor *e = scope_find_tensor(s->f.sc, v->name);
    e->has_format = o->format != NULL;
    e->has_type = o->type >= 0;
    e->has_fill = o->has_fill;
    session_set(s, v, t);
    return STC_OK;
}

/* A generated one whose shape isn't known: its entry, for binding. */
static stc_status enter_origin(stc_session *s, variable *v, int order)
{
    ctx *cx = &s->m->cx;
    const origin *o = &v->from;
    format f;
    stc_status st = format_parse(cx, s->f.sc, o->format ? o->format : "dense", -1, &f);
    if (st) return st;
    if (!format_close(&f, order))
        return fail(cx, STC_ERR_PROGRAM,
                    "%s is used as a tensor of order %d, its format %s has order %d",
                    v->name, order, o->format ? o->format : "dense", f.order);
    if (o->scalar && order)
        return fail(cx, STC_ERR_SHAPE,
                    "%s is used as a tensor of order %d; a number has order 0", v->name,
                    order);
    scope_tensor *e = scope_find_tensor(s->f.sc, v->name);
    e->order = order;
    e->fmt = f;
    e->type = origin_type(o);
    e->fill = origin_fill(o, e->type);
    e->has_format = o->format != NULL;
    e->has_type = o->type >= 0;
    e->has_fill = o->has_fill;
    e->has_data = true;
    return STC_OK;
}

stc_status session_resolve(stc_session *s, const ast *statement)
{
    for (int64_t i = 0; s->f.waiting && i < s->f.vars.count; i++) {
        variable *v = session_at(s, i);
        if (v->t || !v->has_origin) continue;
        const int order = ast_use_order(statement, v->name);
        if (order < 0) continue;
        stc_status st = v->from.kind == STC_SOURCE_FILE ? read_file(s, v, order)
                                                        : enter_origin(s, v, order);
        if (st) return st;
    }
    return STC_OK;
}

stc_status session_tensor(stc_session *s, variable *v, tensor **out)
{
    ctx *cx = &s->m->cx;
    const scope_tensor *e = v->t ? NULL : scope_find_tensor(s->f.sc, v->name);
    stc_status st = STC_OK;
    if (!v->t && v->has_origin && v->from.kind == STC_SOURCE_FILE) {
        st = read_file(s, v, -1);
    } else if (!v->t && e && (e->has_shape || (v->has_origin && v->from.scalar))) {
        tensor *t = NULL;
        format f = e->fmt;
        const int order = e->has_shape ? e->order : 0;
        if (!e->has_format || !format_close(&f, order))
            st = format_parse(cx, NULL, "dense", order, &f);
        const origin zero = {.kind = STC_SOURCE_VALUE, .v = e->fill, .value_type = e->type};
        const origin *o = v->has_origin ? &v->from : &zero;
        const stc_type type = v->has_origin ? origin_type(o) : e->type;
        if (!st) st = origin_make(cx, o, &f, type, e->shape, e->fill, &t);
        if (!st) session_set(s, v, t);
    }
    if (st) return st;
    if (!v->t)
        return fail(cx, STC_ERR_SHAPE,
                    "%s has no value yet: its shape comes from the statement that uses it",
                    v->name);
    if (v->t->backing && (st = tensor_check(v->t))) return st;
    *out = v->t;
    return STC_OK;
}

/* ---- the public calls --------------------------------------------------------------- */

stc_status stc_session_open(stc_machine *m, stc_session **out)
{
    API_CALL(m, &m->cx);
    if (!out) return fail_null(cx, "out");
    stc_session *s = mem_zero(cx, 1, sizeof *s);
    if (!s) return cx->diag.status;
    s->f.sc = scope_new(cx);
    if (!s->f.sc) {
        mem_free(cx, s, sizeof *s);
        return cx->diag.status;
    }
    s->m = m;
    s->repeat = 1;
    s->generation = (uint64_t)1 << 32;
    s->shelf.cx = cx;
    s->next = m->sessions;
    if (s->next) s->next->prev = s;
    m->sessions = s;
    *out = s;
    return STC_OK;
}

stc_status session_frame(stc_session *s, scope *outer, frame *out)
{
    *out = (frame){.sc = scope_inner(outer)};
    return out->sc ? STC_OK : s->m->cx.diag.status;
}

void session_frame_end(stc_session *s, frame *f)
{
    ctx *cx = &s->m->cx;
    for (int64_t i = 0; i < f->vars.count; i++) {
        variable *v = f->vars.item[i];
        if (!v->lent && v->t) {
            session_turned_drop(s, v->t);
            tensor_free(v->t);
        }
        if (v->has_origin) origin_free(cx, &v->from);
        tape_free(cx, v->tape);
        mem_strfree(cx, v->name);
        mem_free(cx, v, sizeof *v);
    }
    names_free(cx, &f->vars);
    mem_strfree(cx, f->last);
    scope_free(f->sc);
    *f = (frame){0};
}

void session_drop(stc_session *s)
{
    ctx *cx = &s->m->cx;
    session_forget_more(s, true);
    session_texts_free(s);
    session_frame_end(s, &s->f);
    session_turned_drop(s, NULL);
    session_unprofile(s);
    if (s->next) s->next->prev = s->prev;
    if (s->prev) {
        s->prev->next = s->next;
    } else {
        s->m->sessions = s->next;
    }
    mem_free(cx, s, sizeof *s);
}

stc_machine *stc_session_machine(const stc_session *s)
{
    return s ? s->m : NULL;
}

void stc_session_close(stc_session *s)
{
    if (s && api_free_to(&s->m->cx)) session_drop(s);
}

void stc_session_output(stc_session *s, FILE *out)
{
    if (s) s->out = out;
}

void stc_session_echo(stc_session *s, bool on, int64_t limit)
{
    if (!s) return;
    s->echo = on;
    s->echo_limit = limit < 0 ? 0 : limit;
}

bool stc_session_incomplete(const char *text)
{
    return text && parse_incomplete(text);
}

static bool name_ok(const char *name)
{
    if (!name || !*name || (*name >= '0' && *name <= '9')) return false;
    for (const char *c = name; *c; c++) {
        const bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z');
        if (!letter && *c != '_' && !(*c >= '0' && *c <= '9')) return false;
    }
    return true;
}

/* Variable and scope entry for a name, both there or neither. */
static variable *enter_name(stc_session *s, const char *name)
{
    variable *v = session_var(s, name);
    if (!v) return NULL;
    if (scope_put_tensor(s->f.sc, name)) return v;
    if (!v->t && !v->has_origin) session_remove(s, name);
    return NULL;
}

stc_status stc_session_put(stc_session *s, const char *name, stc_tensor *t)
{
    API_CALL(s, &s->m->cx);
    if (!name_ok(name))
        return fail(cx, STC_ERR_ARGUMENT, "'%s' can't be a name", name ? name : "");
    if (!t) return fail_null(cx, "the tensor");
    if (t->cx != cx)
        return fail(cx, STC_ERR_ARGUMENT, "the tensor for %s belongs to another machine",
                    name);
    stc_status st = tensor_check(t);
    if (st) return st;
    variable *v = enter_name(s, name);
    if (!v) return cx->diag.status;
    session_set(s, v, t);
    return STC_OK;
}

stc_status stc_session_put_source(stc_session *s, const char *name, const stc_source *from)
{
    API_CALL(s, &s->m->cx);
    if (!name_ok(name))
        return fail(cx, STC_ERR_ARGUMENT, "'%s' can't be a name", name ? name : "");
    if (!from) return fail_null(cx, "the source");
    origin o;
    stc_status st = origin_copy(cx, from, &o);
    if (st) return st;
    variable *v = enter_name(s, name);
    if (!v) {
        origin_free(cx, &o);
        return cx->diag.status;
    }
    session_clear(s, v);
    v->from = o;
    v->has_origin = true;
    s->f.waiting++;
    return STC_OK;
}

stc_status stc_session_get(const stc_session *s, const char *name, const stc_tensor **out)
{
    API_CALL_LIMITED(s, &s->m->cx);
    if (!name) return fail_null(cx, "name");
    if (!out) return fail_null(cx, "out");
    variable *v = session_find(s, name);
    if (!v)
        return fail_file(cx, STC_ERR_ARGUMENT, s->file, 0, "there is no tensor named %s",
                         name);
    tensor *t;
    stc_status st = session_tensor((stc_session *)s, v, &t); /* it may wait */
    if (!st) *out = t;
    return st;
}

const char *stc_session_unused(const stc_session *s)
{
    for (int64_t i = 0; s && s->f.waiting && i < s->f.vars.count; i++) {
        const variable *v = session_at(s, i);
        if (v->has_origin && !v->t) return v->name;
    }
    return NULL;
}

const char *stc_session_name(const stc_session *s, int i)
{
    return s && i >= 0 && i < s->f.vars.count ? session_at(s, i)->name : NULL;
}

const char *stc_session_last(const stc_session *s)
{
    return s ? s->f.last : NULL;
}

void stc_session_times(const stc_session *s, stc_times *out)
{
    const stc_times times = s ? times_told(s->m, s->times) : (stc_times){0};
    if (out) struct_give(out, TIMES_0_2, &times, sizeof times);
}

void stc_session_repeat(stc_session *s, int n)
{
    if (s) s->repeat = n < 1 ? 1 : n;
}

stc_status stc_session_profile(const stc_session *s, char **text)
{
    API_CALL(s, &s->m->cx);
    if (!text) return fail_null(cx, "text");
    textbuf b;
    text_init(&b, cx);
    return api_text_of(&b, session_profile_print(s, &b), text);
}
