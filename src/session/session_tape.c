/* session_tape.c: tapes: how variables got their values, as far as derivatives go back.
 *
 * A tape is a list of statements as they were written, the last one first. One that makes
 * its target anew begins a tape; one that changes a part of it, adds to it or reads it goes
 * onto what is there. What a statement read is found by its names: a variable still has the
 * value that was read if it was born before the statement ran.
 *
 * In a loop the same statement writes the same record again: nothing is allocated.
 */
#include "session.h"

#include <string.h>

enum { DEPTH_MAX = 64 };

void tape_free(ctx *cx, tape *t)
{
    while (t) {
        tape *const prev = t->prev;
        mem_free(cx, t, t->size);
        t = prev;
    }
}

/* Whether a tree reads a name: the left side alone doesn't. */
static bool tape_reads(const ast *n, const char *name)
{
    if (!n) return false;
    if ((n->kind == N_NAME || n->kind == N_CALL) && !strcmp(n->name, name)) return true;
    const bool assigns = n->kind == N_ASSIGN;
    for (int k = 0; assigns && k < n->child[0]->count; k++)
        if (tape_reads(n->child[0]->child[k], name)) return true;
    for (int k = assigns; k < n->count - assigns; k++)
        if (tape_reads(n->child[k], name)) return true;
    return false;
}

/* Whether all of the target is new, and nothing of what it was goes into it. */
static bool makes_anew(const ast *n, const char *name)
{
    if (n->kind != N_ASSIGN) return n->kind == N_RESULTS;
    const ast *const left = n->child[0];
    if (n->op != OPR_NONE || n->child[1]->kind == N_WHERE) return false;
    for (int k = 0; k < left->count; k++) {
        const ast *const i = left->child[k]; /* a slice has sides that aren't there */
        if (!i || (i->kind != N_NAME && i->kind != N_BINDING)) return false;
        for (int j = 0; j < k; j++)
            if (!strcmp(left->child[j]->name, i->name)) return false;
    }
    return !tape_reads(n, name);
}

static bool same_text(const tape *t, const char *text, size_t n)
{
    return t && !strncmp(t->text + t->column, text, n) && !t->text[t->column + n];
}

/* The place of a statement in its file: lines are counted from where the one before was,
 * which is near in a loop, too. */
static void place_of(stc_session *s, const source *src, int32_t at, tape *t)
{
    enum { FAR = 200 };
    place_seen *const p = &s->seen;
    int32_t line = at; /* where it begins */
    if (p->text != src->text) *p = (place_seen){.text = src->text};
    for (; p->at < at; p->at++)
        p->line += src->text[p->at] == '\n';
    for (; p->at > at; p->at--)
        p->line -= src->text[p->at - 1] == '\n';
    while (line > 0 && src->text[line - 1] != '\n')
        line--;
    t->line = src->line + p->line;
    t->column = at - line + (p->line ? 0 : src->column);
    if (t->column > FAR) t->column = 0;
}

stc_status tape_begin(stc_session *s, const script *in, const ast *n, const char *name,
                      taping *out)
{
    ctx *const cx = &s->m->cx;
    variable *const v = session_find(s, name);
    const char *const text = in->src.text + n->at.begin;
    const size_t length = (size_t)(n->at.end - n->at.begin);
    const tape *const before = v && v->tape && v->tape->made == v->born ? v->tape : NULL;
    *out = (taping){v, s->named, NULL};
    if (v && same_text(v->tape, text, length) && (v->tape->anew || (before && before->cut)))
        return STC_OK;
    tape here = {0};
    place_of(s, &in->src, n->at.begin, &here);
    const size_t column = (size_t)here.column, file = strlen(in->src.file) + 1;
    const size_t size = sizeof(tape) + file + column + length + 1;
    tape *const t = mem_alloc(cx, size);
    if (!t) return cx->diag.status;
    char *const own = (char *)(t + 1);
    *t = here;
    t->size = size;
    t->file = own;
    t->text = own + file;
    memcpy(own, in->src.file, file);
    memset(own + file, ' ', column); /* so that places in it have their column */
    memcpy(own + file + column, text, length);
    own[size - sizeof(tape) - 1] = 0;
    t->anew = makes_anew(n, name);
    t->depth = before && !t->anew ? before->depth + 1 : 1;
    if (before && !t->anew && (before->cut || t->depth > DEPTH_MAX)) {
        t->cut = true;
        t->depth = 1;
    }
    out->t = t;
    return STC_OK;
}

void tape_end(stc_session *s, const char *name, taping at)
{
    variable *const v = at.v && at.named == s->named ? at.v : session_find(s, name);
    tape *t = at.t;
    if (!v || !v->t || !(t || v->tape)) { /* what it calls may have dropped it */
        tape_free(&s->m->cx, t);
        return;
    }
    if (!t) {
        t = v->tape;
    } else if (t->depth > 1) {
        t->prev = v->tape;
        v->tape = t;
    } else {
        tape_free(&s->m->cx, v->tape);
        v->tape = t;
    }
    t->made = v->born;
    t->before = v->before;
}
