/* note.c: prints and reads the notes of text files (note.h).
 */
#include "note.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD "stcvm "

void note_print(const tensor *t, char text[NOTE_SIZE])
{
    textbuf name;
    text_init(&name, t->cx);
    format_print(&t->fmt, &name);
    char *format_name = text_take(&name);
    const bool named = format_name && format_name[0] != '(' && strlen(format_name) < 40;
    snprintf(text, NOTE_SIZE, WORD "%s %d%s%s", type_name(t->type), t->order,
             named ? " " : "", named ? format_name : "");
    mem_strfree(t->cx, format_name);
}

/* A built-in format, with numbers in parentheses or without. */
static bool read_format(char *name, int order, format *f)
{
    int64_t args[2];
    int n = 0;
    char *p = strchr(name, '(');
    const size_t length = p ? (size_t)(p - name) : strlen(name);
    for (; p && *p != ')' && n < 2; n++) {
        char *end;
        args[n] = strtoll(p + 1, &end, 10);
        if (end == p + 1 || (*end != ',' && *end != ')')) return false;
        p = end;
    }
    return format_builtin(name, length, order, args, n, f);
}

void note_read(const char *text, note *out)
{
    char line[NOTE_SIZE], type[16], name[48] = "";
    const size_t n = strcspn(text, "\r\n");
    *out = (note){.found = false};
    if (strncmp(text, WORD, strlen(WORD)) != 0 || n >= sizeof line) return;
    memcpy(line, text, n);
    line[n] = 0;
    const int words = sscanf(line + strlen(WORD), "%15s %2d %47s", type, &out->order, name);
    if (words < 2 || out->order < 0 || out->order > STC_MAX_ORDER ||
        !type_parse(type, strlen(type), &out->type))
        return;
    out->found = true;
    out->formatted = words == 3 && read_format(name, out->order, &out->fmt);
}
