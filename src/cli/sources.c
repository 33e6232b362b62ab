/* sources.c: takes NAME=SOURCE[:FORMAT[:TYPE]][:fill=V] apart.
 *
 * A path ends after the last known extension that is followed by a colon or
 * the end, so other colons belong to it; colons inside parentheses belong to
 * a format, and so does a mode order (`ds:1,0`), the only part that begins
 * with a digit. Everything wrong here shows on the command line alone; whether
 * a format's name exists is for the program to say, since it may define it.
 */
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool name_valid(const char *name, size_t length)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
    if (!length || !*name || !strchr(letters, *name)) return false;
    for (size_t i = 1; i < length; i++)
        if (!strchr(letters, name[i]) && (name[i] < '0' || name[i] > '9')) return false;
    return true;
}

/* The length of the path that text begins with, 0 if it isn't a known file. */
static size_t path_length(const char *text)
{
    for (size_t n = strlen(text); n; n--)
        if ((!text[n] || text[n] == ':') && stc_file_known(text, n, false)) return n;
    return 0;
}

bool path_known(const char *path, bool written)
{
    return stc_file_known(path, strlen(path), written);
}

int path_refused(const char *path)
{
    return usage_error("'%s' has to end in one of %s, or be -", path, stc_file_types());
}

/* Cuts text at its first colon that stands outside parentheses and isn't
 * followed by a digit; returns what follows, NULL if nothing does. */
static char *cut_part(char *text, bool *balanced)
{
    int depth = 0;
    *balanced = true;
    for (; *text; text++) {
        depth += (*text == '(') - (*text == ')');
        if (depth < 0) break;
        if (*text == ':' && !depth && (text[1] < '0' || text[1] > '9')) {
            *text = 0;
            return text + 1;
        }
    }
    *balanced = !depth;
    return NULL;
}

/* FORMAT[:TYPE][:fill=V] from `rest` (NULL: nothing) into the spec. */
static int parse_parts(const char *operand, char *rest, spec *s)
{
    stc_source *const source = &s->source;
    bool balanced = true, has_format = false;
    stc_type type;
    while (rest) {
        char *part = rest;
        rest = cut_part(part, &balanced);
        if (!balanced) return usage_error("'%s': the parentheses don't match", operand);
        if (!strncmp(part, "fill=", 5)) {
            if (source->fill) return usage_error("'%s': fill is given twice", operand);
            if (!value_parse(part + 5, &s->fill, &source->fill_type))
                return usage_error("'%s': fill=%s is not a number", operand, part + 5);
            source->fill = &s->fill;
        } else if (source->fill) {
            return usage_error("'%s': fill comes last, '%s' follows it", operand, part);
        } else if (source->type < 0 && stc_type_parse(part, &type)) {
            source->type = (int)type;
            source->has_type = true;
        } else if (source->type < 0 && !has_format) {
            has_format = true;
            source->format = *part ? part : NULL;
        } else {
            return usage_error(
                "'%s': '%s' is not an element type; those are bool i8 i16 i32 "
                "i64 u8 u16 u32 u64 f32 f64 c64 c128",
                operand, part);
        }
    }
    if (s->source.fill && source->type >= 0) {
        if (!value_convert(&s->fill, source->fill_type, (stc_type)source->type))
            return usage_error("'%s': the fill is not a value of type %s", operand,
                               stc_type_name((stc_type)source->type));
        source->fill_type = (stc_type)source->type;
    }
    return STATUS_OK;
}

/* random, random(0.01), random(density=0.01, seed=7). Without a seed, equal
 * names have equal numbers, and others don't. */
static bool parse_random(char *text, const char *name, stc_source *source)
{
    char *end;
    if (strncmp(text, "random", 6)) return false;
    text += 6;
    source->kind = STC_SOURCE_RANDOM;
    source->density = 1;
    source->seed = UINT64_C(0xcbf29ce484222325);
    for (; *name; name++)
        source->seed = (source->seed ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    if (!*text) return true;
    if (*text++ != '(') return false;
    if (!strncmp(text, "density=", 8)) text += 8;
    source->density = strtod(text, &end);
    if (end == text || !(source->density >= 0 && source->density <= 1)) return false;
    text = end + strspn(end, " ");
    if (*text == ',') {
        text += 1 + strspn(text + 1, " ");
        if (strncmp(text, "seed=", 5) || text[5] < '0' || text[5] > '9') return false;
        errno = 0;
        source->seed = strtoull(text + 5, &end, 10);
        if (errno) return false;
        text = end;
    }
    return !strcmp(text, ")");
}

/* What stands before the first part, no longer than itself. */
static int parse_source(const char *operand, char *text, spec *s)
{
    stc_source *const source = &s->source;
    if (path_length(text) == strlen(text) && *text) {
        source->kind = STC_SOURCE_FILE;
        source->path = text;
        return STATUS_OK;
    }
    if (!strcmp(text, "ones") || !strcmp(text, "zeros")) {
        source->kind = STC_SOURCE_VALUE;
        source->value.f = *text == 'o';
        source->value_type = STC_F64;
        return STATUS_OK;
    }
    if (parse_random(text, s->name, source)) return STATUS_OK;
    if (!strncmp(text, "random", 6))
        return usage_error("'%s': random takes a density from 0 to 1, random(0.01)",
                           operand);
    if (value_parse(text, &source->value, &source->value_type)) {
        source->kind = STC_SOURCE_VALUE;
        source->scalar = true;
        return STATUS_OK;
    }
    return usage_error("'%s': '%s' is not a source; one is a file (%s), ones, zeros, "
                       "random, random(DENSITY), or a number",
                       operand, text, stc_file_types());
}

static int parse_spec(const char *operand, spec_kind kind, spec *s)
{
    const char *equals = strchr(operand, '=');
    const size_t length = equals ? (size_t)(equals - operand) : 0;
    if (!equals || !name_valid(operand, length))
        return usage_error("'%s' is not NAME=%s", operand,
                           kind == SPEC_FORMAT ? "FORMAT" : "SOURCE");
    *s = (spec){.text = xstrndup(operand, strlen(operand)), .source = {.type = -1}};
    s->name = s->text;
    s->text[length] = 0;
    char *text = s->text + length + 1, *rest = NULL;
    bool balanced;
    if (!*text) return usage_error("'%s': nothing follows the '='", operand);
    const size_t path = path_length(text);
    if (kind == SPEC_FORMAT) {
        if (path)
            return usage_error("'%s': a format is wanted here (%s=csr); data come with "
                               "`stcvm eval` or `stcvm run`",
                               operand, s->name);
        return parse_parts(operand, text, s);
    }
    if (path) {
        rest = text[path] ? text + path + 1 : NULL;
        text[path] = 0;
    } else {
        rest = cut_part(text, &balanced);
    }
    const int status = parse_source(operand, text, s);
    if (status != STATUS_OK) return status;
    if (rest && kind == SPEC_BOUND)
        return usage_error("'%s': formats, types and fills are the program's; give %s=%s",
                           operand, s->name, text);
    return parse_parts(operand, rest, s);
}

bool spec_has_data(const char *operand)
{
    const char *equals = strchr(operand, '=');
    if (!equals) return false;
    bool balanced;
    char *text = xstrndup(equals + 1, strlen(equals + 1));
    stc_source source;
    const bool file = path_length(text) > 0;
    if (!file) cut_part(text, &balanced);
    const bool data = file || !strcmp(text, "ones") || !strcmp(text, "zeros") ||
                      parse_random(text, "", &source);
    free(text);
    return data;
}

int specs_parse(const args *a, int first, spec_kind kind, spec **out, int *count)
{
    const int n = a->operands - first;
    spec *specs = xrealloc(NULL, (size_t)(n > 0 ? n : 1) * sizeof *specs);
    int status = STATUS_OK, i;
    for (i = 0; i < n && status == STATUS_OK; i++) {
        specs[i] = (spec){0};
        status = parse_spec(a->operand[first + i], kind, &specs[i]);
        for (int k = 0; k < i && status == STATUS_OK; k++)
            if (!strcmp(specs[k].name, specs[i].name))
                status = usage_error("%s is given twice", specs[i].name);
    }
    if (status != STATUS_OK) {
        specs_free(specs, i);
        return status;
    }
    *out = specs;
    *count = n > 0 ? n : 0;
    return STATUS_OK;
}

void specs_free(spec *specs, int count)
{
    for (int i = 0; i < count; i++)
        free(specs[i].text);
    free(specs);
}

int spec_format(char *text, const char **format, int *type)
{
    spec s = {.source = {.type = -1}};
    char *copy = xstrndup(text, strlen(text));
    const int status = parse_parts(copy, text, &s);
    free(copy);
    if (status != STATUS_OK) return status;
    if (s.source.fill) return usage_error("a fill can't be given here, only FORMAT[:TYPE]");
    *format = s.source.format;
    *type = s.source.type;
    return STATUS_OK;
}

int outputs_parse(const args *a, output **out)
{
    output *o = xrealloc(NULL, (size_t)(a->outs + 1) * sizeof *o);
    for (int i = 0; i < a->outs; i++) {
        char *text = xstrndup(a->out[i], strlen(a->out[i]));
        char *equals = strchr(text, '=');
        o[i] = (output){.name = text, .path = equals ? equals + 1 : NULL};
        if (equals) *equals = 0;
        int status = STATUS_OK;
        if (!name_valid(text, strlen(text)))
            status = usage_error("-o takes NAME or NAME=PATH, not '%s'", a->out[i]);
        else if (equals && !path_known(equals + 1, true))
            status = path_refused(equals + 1);
        if (status != STATUS_OK) {
            outputs_free(o, i + 1);
            return status;
        }
    }
    *out = o;
    return STATUS_OK;
}

void outputs_free(output *o, int count)
{
    for (int i = 0; i < count; i++)
        free(o[i].name);
    free(o);
}
