/* file_types.c: from a path to the type of its file (files.def), and to its bytes.
 *
 * The ending decides. A path of `-` is standard input, whose first bytes decide, or
 * standard output; `-.tns` says which type it is. What is read may be compressed by gzip:
 * then .gz follows.
 */
#include "files.h"
#include "inflate.h"
#include "../../formats/base/job.h"
#include <string.h>
#include <strings.h>

static const file_type types[] = {
#define FILE_TYPE(ending, sniff, read, write, how) {ending, sniff, read, write, how},
#include "files.def"
};
enum { TYPES = sizeof types / sizeof *types };

/* Ties the endings together, in the table's order. */
static const char readable[] = ""
#define FILE_TYPE(ending, sniff, read, write, how) " " ending
#include "files.def"
    ;

static const file_type *type_of(const char *path, size_t n)
{
    const file_type *found = NULL;
    size_t longest = 0;
    for (int i = 0; i < TYPES; i++) {
        const size_t len = strlen(types[i].ending);
        if (n < len || len <= longest) continue;
        if (strncasecmp(path + n - len, types[i].ending, len)) continue;
        found = &types[i];
        longest = len;
    }
    return found;
}

/* Without the .gz at its end. */
static size_t plain_length(const char *path, size_t n)
{
    return n > 3 && !strncasecmp(path + n - 3, ".gz", 3) ? n - 3 : n;
}

bool io_known(const char *path, size_t n, bool written)
{
    if (n == 1 && *path == '-') return true;
    const file_type *const t = type_of(path, written ? n : plain_length(path, n));
    return t && strlen(t->ending) < n && (!written || t->write);
}

const char *io_endings(void)
{
    return readable + 1;
}

static stc_status unknown_type(ctx *cx, const char *path, bool written)
{
    char known[256] = "";
    for (int i = 0; i < TYPES; i++) {
        if (written && !types[i].write) continue;
        const size_t len = strlen(known);
        snprintf(known + len, sizeof known - len, "%s%s", len ? ", " : "", types[i].ending);
    }
    return fail_file(cx, STC_ERR_ARGUMENT, path, 0,
                     "the path doesn't end in a file type that can be %s: one of %s",
                     written ? "written" : "read", known);
}

/* The type whose beginning these bytes are. */
static const file_type *type_of_bytes(const input *in)
{
    for (int i = 0; i < TYPES; i++)
        if (types[i].sniff && types[i].sniff(in->p, in->end - in->p)) return &types[i];
    return NULL;
}

/* No type that is read begins like this. */
static bool is_packed(const input *in)
{
    return in->end - in->begin > 2 && !memcmp(in->begin, "\x1f\x8b", 2);
}

/* What is compressed takes its own place. */
static stc_status unpack(input *in)
{
    file_bytes plain;
    const stc_status s = gunzip(in->cx, in->path, &in->file, &plain);
    if (s) return s;
    file_release(in->cx, &in->file);
    input_over(in, in->cx, in->path, plain.data, plain.len);
    in->file = plain;
    return STC_OK;
}

static stc_status no_type(ctx *cx, const char *path)
{
    return fail_file(cx, STC_ERR_DATA, path, 0,
                     "its first bytes are of no file type that can be told by them; give "
                     "the type, as in -.tns");
}

stc_status file_open(ctx *cx, const char *path, input *in, const file_type **type)
{
    const bool any = strcmp(path, "-") == 0;
    const size_t length = strlen(path), plain = plain_length(path, length);
    *type = any ? NULL : type_of(path, plain);
    if (!*type && !any) return unknown_type(cx, path, false);
    const file_opening how = !*type || plain < length ? OPEN_READ : (*type)->how;
    if (how == OPEN_NOT) {
        input_over(in, cx, path, "", 0);
        return STC_OK;
    }
    /* how much of the work reading is, beside unpacking, parsing and packing */
    job_expect(cx, 0, plain < length ? 0.1 : how == OPEN_READ ? 0.7 : 0.2);
    stc_status s = how == OPEN_HEAD ? input_open_head(in, cx, path)
                                    : input_open(in, cx, path, how == OPEN_MAPPED);
    if (s) return s;
    if ((plain < length || is_packed(in)) && !(s = input_complete(in))) s = unpack(in);
    if (!s && !*type && !(*type = type_of_bytes(in))) s = no_type(cx, path);
    if (s) input_close(in);
    return s;
}

stc_status io_save(const tensor *t, const char *path)
{
    const bool any = strcmp(path, "-") == 0;
    const char *const text = t->order > 2 ? ".tns" : ".mtx"; /* for a reader's eyes */
    const char *const name = any ? text : path;
    const file_type *const type = type_of(name, strlen(name));
    if (!type || !type->write) return unknown_type(t->cx, path, true);
    return type->write(t, path);
}
