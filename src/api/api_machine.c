/* api_machine.c: machines, errors, element types: the part of the public API
 * that belongs to no tensor and no program.
 */
#include "structs.h"
#include "../../formats/base/spill.h"
#include "../../vm/code/policies.h"
#include "../lang/lang.h"
#include <string.h>

const char *stc_version(void)
{
    return STC_VERSION;
}

int stc_version_number(void)
{
    return STC_VERSION_NUMBER;
}

stc_status stc_open(const stc_config *given, stc_machine **out)
{
    if (!out) return STC_ERR_ARGUMENT;
    ctx boot = {0};
    stc_config own;
    if (given && !struct_taken(given, CONFIG_0_2, &own, sizeof own))
        return STC_ERR_ARGUMENT;
    const stc_config *const config = given ? &own : NULL;
    if (config) {
        boot.alloc = config->alloc;
        boot.alloc_context = config->alloc_context;
        boot.max_memory = config->max_memory;
        boot.max_steps = config->max_steps;
        boot.threads = config->threads;
        boot.no_super = config->no_super;
        boot.profile = config->profile;
        boot.progress = config->progress;
        boot.progress_context = config->progress_context;
        boot.no_files = config->no_files;
        boot.trust_files = config->trust_files;
        boot.deterministic = config->deterministic;
        boot.as_written = config->as_written;
    }
    stc_machine *m = mem_zero(&boot, 1, sizeof *m);
    if (!m) return STC_ERR_MEMORY;
    memcpy(&m->cx, &boot, sizeof boot);
    diag_clear(&m->cx);
    m->open_ticks = now_ticks();
    m->open_us = now_us();
    if (config && config->spill && !config->alloc) {
        char *folder = mem_strdup(&m->cx, config->spill);
        if (!folder) {
            stc_close(m);
            return STC_ERR_MEMORY;
        }
        m->cx.spill_least = spill_least(config->max_memory);
        m->cx.spill = folder;
    }
    *out = m;
    return STC_OK;
}

void stc_close(stc_machine *m)
{
    if (!m || !api_free_to(&m->cx)) return;
    while (m->sessions)
        session_drop(m->sessions);
    while (m->programs)
        program_drop(m->programs);
    ctx_end_parts(&m->cx);
    ctx last;
    memcpy(&last, &m->cx, sizeof last);
    mem_free(&last, m, sizeof *m);
    mem_strfree(&last, (char *)(uintptr_t)last.spill);
    mem_release(&last);
}

const char *stc_notes(const stc_machine *m)
{
    return m ? notes_text(&m->cx) : "";
}

/* A null machine is the one that couldn't be opened. */
const stc_error_info *stc_error(const stc_machine *m)
{
    static const stc_error_info none = {
        .status = STC_ERR_MEMORY,
        .file = "",
        .message = "the machine could not be opened: no memory, or a config of "
                   "another version",
        .text = "",
    };
    static const stc_error_info inside = {
        .status = STC_ERR_ARGUMENT,
        .file = "",
        .message = "the machine was called by a function of the host's that it is calling: "
                   "expected no calls until that has returned",
        .text = "",
    };
    if (!m) return &none;
    if (m->cx.entered && atomic_load(&((stc_machine *)m)->cx.refused)) return &inside;
    stc_error_info *info = &((stc_machine *)m)->info; /* a view of diag */
    const diag *d = &m->cx.diag;
    *info = (stc_error_info){.status = d->status, .file = "", .message = "", .text = ""};
    if (d->status == STC_OK) return info;
    info->file = d->file;
    info->line = d->line;
    info->column = d->column;
    info->length = d->length > 0 ? d->length : 1;
    info->message = d->message;
    info->text = d->text;
    return info;
}

/* Of what is called, no pointer may be missing. */
static stc_status check_whole(ctx *cx, const char *what, size_t size, size_t least)
{
    if (!size || size >= least) return STC_OK;
    return fail(cx, STC_ERR_ARGUMENT,
                "%s can't be registered: its struct has %zu bytes, of another version; "
                "expected %zu",
                what, size, least);
}

stc_status stc_level_register(stc_machine *m, const stc_level_kind *kind)
{
    API_CALL(m, &m->cx);
    if (!kind) return fail(&m->cx, STC_ERR_ARGUMENT, "the level kind is NULL");
    stc_level_kind own;
    stc_status st = check_whole(&m->cx, "the level kind", kind->size, LEVEL_KIND_0_2);
    if (!st)
        st = struct_take(&m->cx, "the level kind", kind, LEVEL_KIND_0_2, &own, sizeof own);
    return st ? st : level_kind_register(&m->cx, &own);
}

stc_status stc_workspace_register(stc_machine *m, const stc_workspace_policy *policy)
{
    API_CALL(m, &m->cx);
    const char *const what = "the workspace policy";
    if (!policy) return fail(&m->cx, STC_ERR_ARGUMENT, "%s is NULL", what);
    stc_workspace_policy own;
    stc_status st = check_whole(&m->cx, what, policy->size, POLICY_0_2);
    if (!st) st = struct_take(&m->cx, what, policy, POLICY_0_2, &own, sizeof own);
    return st ? st : policy_register(&m->cx, &own);
}

stc_status stc_function_register(stc_machine *m, const stc_function *f)
{
    API_CALL(m, &m->cx);
    if (!f) return fail(&m->cx, STC_ERR_ARGUMENT, "the function is NULL");
    stc_function own;
    stc_status st = check_whole(&m->cx, "the function", f->size, FUNCTION_0_2);
    if (!st) st = struct_take(&m->cx, "the function", f, FUNCTION_0_2, &own, sizeof own);
    if (st) return st;
    if (!own.head) return fail_null(&m->cx, "head");
    return scope_define_host(&m->cx, &own);
}

void stc_interrupt(stc_machine *m)
{
    if (m) atomic_store_explicit(&m->cx.stop, WORK_INTERRUPTED, memory_order_relaxed);
}

uint64_t stc_memory_used(const stc_machine *m)
{
    return m ? atomic_load(&((stc_machine *)m)->cx.used) : 0;
}

uint64_t stc_memory_peak(const stc_machine *m)
{
    return m ? atomic_load(&((stc_machine *)m)->cx.peak) : 0;
}

stc_status stc_set_threads(stc_machine *m, int threads)
{
    API_CALL(m, &m->cx);
    if (threads < 0 || threads > 1024)
        return fail(&m->cx, STC_ERR_ARGUMENT,
                    "%d threads were asked for; expected 0 to 1024", threads);
    m->cx.threads = threads;
    return STC_OK;
}

stc_status stc_set_as_written(stc_machine *m, int on)
{
    API_CALL(m, &m->cx);
    if (on != 0 && on != 1)
        return fail(&m->cx, STC_ERR_ARGUMENT, "as written: %d; expected 0 or 1", on);
    m->cx.as_written = on;
    return STC_OK;
}

stc_status stc_set_deterministic(stc_machine *m, bool on)
{
    API_CALL(m, &m->cx);
    m->cx.deterministic = on;
    return STC_OK;
}

stc_status stc_set_digits(stc_machine *m, int digits)
{
    API_CALL(m, &m->cx);
    if (digits < 0 || digits > 17)
        return fail(&m->cx, STC_ERR_ARGUMENT, "%d digits; expected 1 to 17, or 0", digits);
    return print_digits(&m->cx, digits);
}

stc_status stc_set_width(stc_machine *m, int columns)
{
    API_CALL(m, &m->cx);
    if (columns < 0)
        return fail(&m->cx, STC_ERR_ARGUMENT, "%d columns; expected 1 or more, or 0",
                    columns);
    return print_width(&m->cx, columns);
}

const char *stc_type_name(stc_type type)
{
    return (unsigned)type < TYPE_COUNT ? type_name(type) : "?";
}

bool stc_type_parse(const char *name, stc_type *type)
{
    return name && type && type_parse(name, strlen(name), type);
}

size_t stc_type_size(stc_type type)
{
    return (unsigned)type < TYPE_COUNT ? type_size(type) : 0;
}

/* Blocks for the host know their size: they may hold zeros. */
typedef struct host_block {
    _Alignas(16) size_t size;
    char data[];
} host_block;

stc_status api_text(ctx *cx, const void *data, size_t n, void *out)
{
    host_block *b = mem_alloc(cx, sizeof *b + n + 1);
    if (!b) return cx->diag.status;
    b->size = sizeof *b + n + 1;
    if (n) memcpy(b->data, data, n);
    b->data[n] = 0;
    *(void **)out = b->data;
    return STC_OK;
}

stc_status api_text_of(textbuf *b, stc_status status, char **out)
{
    char *text = text_take(b);
    if (!status)
        status = text ? api_text(b->cx, text, strlen(text), out) : b->cx->diag.status;
    mem_strfree(b->cx, text);
    return status;
}

void stc_text_free(stc_machine *m, void *text)
{
    if (!m || !text || !api_free_to(&m->cx)) return;
    host_block *b = (void *)((char *)text - offsetof(host_block, data));
    mem_free(&m->cx, b, b->size);
}

stc_status fail_null(ctx *cx, const char *what)
{
    return fail(cx, STC_ERR_ARGUMENT, "%s is NULL", what);
}

void shape_print(const int64_t *shape, int order, char *buf, size_t size)
{
    size_t n = (size_t)snprintf(buf, size, "[");
    for (int k = 0; k < order && n < size; k++)
        n += (size_t)snprintf(buf + n, size - n, "%s%lld", k ? "," : "",
                              (long long)shape[k]);
    if (n < size) snprintf(buf + n, size - n, "]");
}
