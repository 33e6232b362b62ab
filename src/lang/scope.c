/* scope.c: what names mean: tensors, formats, functions, defs, each kind in a table of
 * its own (names.h). The scope of a def's body has tensors of its own, and its outer
 * scope's definitions.
 */
#include "scope.h"
#include "names.h"

#include <string.h>

struct scope {
    ctx *cx;
    names tensors, formats, functions, defs;
    scope *outer; /* whose definitions it has, NULL: its own */
};

/* ---- tensors ------------------------------------------------------------------- */

/* An entry, with its name behind it. */
static scope_tensor *tensor_entry_new(ctx *cx, const char *name)
{
    const size_t len = strlen(name) + 1;
    scope_tensor *t = mem_alloc(cx, sizeof *t + len);
    if (t) t->name = memcpy(t + 1, name, len);
    return t;
}

static void tensor_entry_free(ctx *cx, scope_tensor *t)
{
    mem_free(cx, t, sizeof *t + strlen(t->name) + 1);
}

scope_tensor *scope_find_tensor(const scope *s, const char *name)
{
    return names_find(&s->tensors, name);
}

scope_tensor *scope_put_tensor(scope *s, const char *name)
{
    scope_tensor *t = scope_find_tensor(s, name);
    if (!t) {
        t = names_room(s->cx, &s->tensors) ? tensor_entry_new(s->cx, name) : NULL;
        if (!t) return NULL;
        names_add(&s->tensors, t);
    }
    *t = (scope_tensor){.name = t->name, .order = -1, .type = STC_F64, .slot = -1};
    return t;
}

void scope_drop_tensor(scope *s, const char *name)
{
    scope_tensor *t = scope_find_tensor(s, name);
    if (!t) return;
    names_remove(&s->tensors, t);
    tensor_entry_free(s->cx, t);
}

int scope_tensor_count(const scope *s)
{
    return (int)s->tensors.count;
}

scope_tensor *scope_tensor_at(scope *s, int i)
{
    return i >= 0 && i < s->tensors.count ? (scope_tensor *)s->tensors.item[i] : NULL;
}

void scope_clear_slots(scope *s, const program *p)
{
    for (int i = 0; p && i < p->ntensor; i++) {
        scope_tensor *t = scope_find_tensor(s, p->tensor[i].name);
        if (t) t->slot = -1;
    }
}

enum { DEFINITION_FIRST = 1024 }; /* bytes of a definition's arena, as a rule */

/* ---- definitions ------------------------------------------------------------------ */

static void definition_free(ctx *cx, definition *d)
{
    if (!d) return;
    arena_free(&d->a);
    mem_strfree(cx, (char *)d->src.text);
    mem_strfree(cx, (char *)d->src.file);
    mem_strfree(cx, d->name);
    mem_free(cx, d, sizeof *d);
}

static void definitions_free(ctx *cx, names *t)
{
    for (int64_t i = 0; i < t->count; i++)
        definition_free(cx, (definition *)t->item[i]);
    names_free(cx, t);
}

static void scope_empty(scope *s)
{
    for (int64_t i = 0; i < s->tensors.count; i++)
        tensor_entry_free(s->cx, (scope_tensor *)s->tensors.item[i]);
    names_free(s->cx, &s->tensors);
    definitions_free(s->cx, &s->formats);
    definitions_free(s->cx, &s->functions);
    definitions_free(s->cx, &s->defs);
}

/* What the host's functions are defined in: a part of the machine's context. */
static void host_scope_end(ctx *cx, void *part)
{
    scope *host = part;
    if (host->cx == cx) scope_empty(host);
}

static const part_kind host_scope = {sizeof(scope), host_scope_end};

static names *definitions_of(scope *s, ast_kind kind)
{
    if (s->outer) s = s->outer;
    return kind == N_FN ? &s->functions : kind == N_DEF ? &s->defs : &s->formats;
}

static const names *definitions(const scope *s, ast_kind kind)
{
    return definitions_of((scope *)s, kind);
}

definition *scope_find(const scope *s, const char *name, ast_kind kind)
{
    const scope *const host = ctx_has_part(s->cx, &host_scope);
    definition *const d = names_find(definitions(s, kind), name);
    return d || !host ? d : names_find(definitions(host, kind), name);
}

definition *scope_definition_at(const scope *s, ast_kind kind, int i)
{
    const names *const t = definitions(s, kind);
    if (i < t->count) return (definition *)t->item[i];
    const scope *const host = ctx_has_part(s->cx, &host_scope);
    return host && host != s ? scope_definition_at(host, kind, i - (int)t->count) : NULL;
}

enum { INDENT_MAX = 400 }; /* of a line that is shown in an error */

/* The text of a definition, after as many blanks as put it at the column that it has
 * in the original; of many columns, some are only counted. */
static char *definition_text(ctx *cx, const char *text, span at, source *src, int32_t *from)
{
    int32_t column = 0;
    while (column < at.begin && text[at.begin - column - 1] != '\n')
        column++;
    const int32_t before = column < INDENT_MAX ? column : INDENT_MAX;
    const size_t len = (size_t)(at.end - at.begin);
    char *const out = mem_alloc(cx, (size_t)before + len + 1);
    if (!out) return NULL;
    memset(out, ' ', (size_t)before);
    memcpy(out + before, text + at.begin, len);
    out[(size_t)before + len] = 0;
    src->column = column - before;
    *from = before;
    return out;
}

static definition *definition_new(ctx *cx, const source *src, const ast *node)
{
    definition *d = mem_zero(cx, 1, sizeof *d);
    if (!d) return NULL;
    arena_init(&d->a, cx);
    d->a.first = DEFINITION_FIRST;
    d->src.cx = cx;
    d->name = mem_strdup(cx, node->name);
    d->src.file = mem_strdup(cx, src->file ? src->file : "");
    int32_t from = 0;
    d->src.line = (int)node->u;
    d->src.text = definition_text(cx, src->text, node->at, &d->src, &from);
    ast *script = NULL;
    if (d->name && d->src.file && d->src.text &&
        parse_script_from(&d->a, &d->src, from, &script) == STC_OK && script->count == 1) {
        d->node = script->child[0];
        return d;
    }
    definition_free(cx, d);
    return NULL;
}

/* Each name of a list once. */
static stc_status check_names(const source *src, const ast *list, const char *what)
{
    for (int i = 0; i < list->count; i++) {
        for (int k = 0; k < i; k++)
            if (!strcmp(list->child[i]->name, list->child[k]->name))
                return fail_source(src, STC_ERR_PROGRAM, list->child[i]->at,
                                   "the %s `%s` is there twice", what,
                                   list->child[i]->name);
    }
    if (list->count > DEF_MAX_NAMES)
        return fail_source(src, STC_ERR_PROGRAM, list->at, "%d %ss; expected at most %d",
                           list->count, what, DEF_MAX_NAMES);
    return STC_OK;
}

static stc_status check_def(scope *s, const source *src, const ast *node)
{
    const definition *const old = scope_find(s, node->name, N_DEF);
    if (old && old->busy)
        return fail_source(src, STC_ERR_PROGRAM, node->at,
                           "%s is being called, and can't be defined anew until it ends",
                           node->name);
    const stc_status status = check_names(src, node->child[0], "parameter");
    return status ? status : check_names(src, node->child[1], "result");
}

stc_status scope_define(scope *s, const source *src, const ast *node)
{
    ctx *const cx = s->cx;
    format f;
    stc_status status = STC_OK;
    if (node->kind == N_FN)
        status = fn_check_definition(src, node);
    else if (node->kind == N_DEF)
        status = check_def(s, src, node);
    else if (!node->child[0])
        status = scope_format(s, src, node->child[1], -1, &f);
    if (status != STC_OK) return status;
    names *const t = definitions_of(s, (ast_kind)node->kind);
    definition *const old = names_find(t, node->name);
    if (!names_room(cx, t)) return cx->diag.status;
    definition *const d = definition_new(cx, src, node);
    if (!d) return cx->diag.status;
    if (node->kind == N_FN && node->child[3] &&
        (status = fn_check_algebra(s, d)) != STC_OK) {
        definition_free(cx, d);
        return status;
    }
    if (old) {
        names_remove(t, old);
        definition_free(cx, old);
    }
    names_add(t, d);
    return STC_OK;
}

/* ---- functions of the host's ------------------------------------------------------ */

/* The head is the definition's whole text. */
static definition *host_definition(ctx *cx, const char *head)
{
    definition *d = mem_zero(cx, 1, sizeof *d);
    ast *node = NULL;
    if (!d) return NULL;
    arena_init(&d->a, cx);
    d->src.cx = cx;
    d->src.file = mem_strdup(cx, "function");
    d->src.text = mem_strdup(cx, head);
    if (d->src.file && d->src.text && !parse_host_function(&d->a, &d->src, &node) &&
        !fn_check_definition(&d->src, node) && (d->name = mem_strdup(cx, node->name))) {
        d->node = node;
        return d;
    }
    definition_free(cx, d);
    return NULL;
}

/* What ends reductions by h, in each signature that can reduce: an annihilator in
 * the first position, or in any. */
static stc_status host_annihilator(const definition *d, host_fn *h, const ast *prop)
{
    const bool first = !prop->child[1] || prop->child[1]->u == 0;
    if (!first && !(h->flags & FP_COMMUTATIVE)) return STC_OK;
    for (int k = 0; k < h->count; k++) {
        host_form *f = &h->form[k];
        const stc_type t = f->sig.result;
        if (h->params != 2 || f->sig.param[0] != t || f->sig.param[1] != t) continue;
        const stc_status status =
            literal_value(&d->src, prop->child[0], t, &f->annihilator);
        if (status) return status;
        f->absorbs = true;
    }
    return STC_OK;
}

/* Values of properties must fit the types of what they are said of. */
static stc_status check_values(const definition *d, const stc_function *f, const ast *props)
{
    const int params = d->node->child[0]->count;
    for (int i = 0; props && i < props->count; i++) {
        const ast *const p = props->child[i];
        const int at = p->count && p->child[1] ? (int)p->child[1]->u : 0;
        const bool valued =
            p->count && (!strcmp(p->name, "annihilator") || !strcmp(p->name, "identity"));
        for (int k = 0; valued && f->signature && k < f->count && at < params; k++) {
            const stc_type t = f->signature[k].param[at];
            value v;
            if ((unsigned)t >= TYPE_COUNT) break; /* told by host_register */
            const stc_status status = literal_value(&d->src, p->child[0], t, &v);
            if (status) return status;
        }
    }
    return STC_OK;
}

static unsigned host_flags(const ast *props)
{
    unsigned flags = 0;
    for (int i = 0; props && i < props->count; i++)
        flags |= fn_property_flag(props->child[i]);
    return flags;
}

stc_status scope_define_host(ctx *cx, const stc_function *f)
{
    scope *const host = ctx_part(cx, &host_scope);
    if (!host) return cx->diag.status;
    host->cx = cx;
    names *const t = &host->functions;
    if (!names_room(cx, t)) return cx->diag.status;
    definition *const d = host_definition(cx, f->head);
    if (!d) return cx->diag.status;
    const ast *const props = d->node->child[2];
    host_fn *h = NULL;
    stc_status status = check_values(d, f, props);
    if (!status)
        status =
            host_register(cx, f, d->name, d->node->child[0]->count, host_flags(props), &h);
    if (status) {
        definition_free(cx, d);
        return status;
    }
    d->host = h;
    names_add(t, d);
    for (int i = 0; props && i < props->count && !status; i++)
        if (props->child[i]->count && props->child[i]->name[0] == 'a')
            status = host_annihilator(d, h, props->child[i]);
    return status;
}

/* ---- the scope ---------------------------------------------------------------------- */

scope *scope_new(ctx *cx)
{
    scope *s = mem_zero(cx, 1, sizeof *s);
    if (s) s->cx = cx;
    return s;
}

scope *scope_inner(scope *outer)
{
    scope *const s = scope_new(outer->cx);
    if (s) s->outer = outer->outer ? outer->outer : outer;
    return s;
}

void scope_free(scope *s)
{
    if (!s) return;
    scope_empty(s);
    mem_free(s->cx, s, sizeof *s);
}
