/* json.c: JSON texts: a check of the whole by its grammar, after which looking into it
 * needs none.
 */
#include "json.h"
#include <string.h>

static const char *skip_space(const char *p)
{
    while (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r')
        p++;
    return p;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* ---- checking ------------------------------------------------------------------- */

/* Each gives the place behind what it found, or NULL, with *at where that isn't. */
static const char *check_value(const char *p, int deep, const char **at);

static const char *check_string(const char *p, const char **at)
{
    for (p++; *p != '"'; p++) {
        if ((unsigned char)*p < ' ') break;
        if (*p != '\\') continue;
        if (!*++p || !strchr("\"\\/bfnrtu", *p)) break;
        for (int k = 0; *p == 'u' && k < 4; k++)
            if (!p[1 + k] || !strchr("0123456789abcdefABCDEF", p[1 + k])) goto bad;
    }
    if (*p == '"') return p + 1;
bad:
    *at = p;
    return NULL;
}

static const char *check_digits(const char *p)
{
    if (!is_digit(*p)) return NULL;
    while (is_digit(*p))
        p++;
    return p;
}

static const char *check_number(const char *p, const char **at)
{
    *at = p;
    if (*p == '-') p++;
    if (*p == '0' && is_digit(p[1])) return NULL;
    if (!(p = check_digits(p))) return NULL;
    if (*p == '.' && !(p = check_digits(p + 1))) return NULL;
    if (*p != 'e' && *p != 'E') return p;
    p++;
    return check_digits(*p == '+' || *p == '-' ? p + 1 : p);
}

/* What stands between brackets: values, or names and values. */
static const char *check_group(const char *p, int deep, const char **at)
{
    const bool object = *p == '{';
    const char close = object ? '}' : ']';
    p = skip_space(p + 1);
    if (*p == close) return p + 1;
    for (;;) {
        *at = p;
        if (object) {
            if (*p != '"' || !(p = check_string(p, at))) return NULL;
            p = skip_space(p);
            *at = p;
            if (*p++ != ':') return NULL;
        }
        if (!(p = check_value(skip_space(p), deep + 1, at))) return NULL;
        p = skip_space(p);
        *at = p;
        if (*p == close) return p + 1;
        if (*p++ != ',') return NULL;
        p = skip_space(p);
    }
}

static const char *check_value(const char *p, int deep, const char **at)
{
    static const char *const words[] = {"true", "false", "null"};
    *at = p;
    if (deep > JSON_DEEP) return NULL;
    if (*p == '{' || *p == '[') return check_group(p, deep, at);
    if (*p == '"') return check_string(p, at);
    for (int k = 0; k < 3; k++)
        if (!strncmp(p, words[k], strlen(words[k]))) return p + strlen(words[k]);
    return check_number(p, at);
}

json json_check(const char *text, size_t n, const char **at)
{
    const char *const begin = skip_space(text);
    const char *p = check_value(begin, 0, at);
    if (!p) return NULL;
    *at = p = skip_space(p);
    return p == text + n ? begin : NULL;
}

/* ---- looking, in what was checked ------------------------------------------------- */

static const char *skip_string(const char *p)
{
    for (p++; *p != '"'; p++)
        p += *p == '\\';
    return p + 1;
}

static const char *skip_value(const char *p)
{
    int deep = 0;
    do {
        if (*p == '"') {
            p = skip_string(p);
        } else {
            deep += (*p == '{' || *p == '[') - (*p == '}' || *p == ']');
            p++;
        }
    } while (deep > 0 || !strchr(",]} \t\r\n", *p));
    return p;
}

static json following(const char *p)
{
    p = skip_space(p);
    return *p == ',' ? skip_space(p + 1) : NULL;
}

json json_member(json object, const char *name)
{
    const size_t n = strlen(name);
    if (!object || *object != '{') return NULL;
    json p = skip_space(object + 1);
    for (p = *p == '"' ? p : NULL; p;) {
        const char *const end = skip_string(p);
        json v = skip_space(skip_space(end) + 1); /* behind the colon */
        if ((size_t)(end - p) == n + 2 && !memcmp(p + 1, name, n)) return v;
        p = following(skip_value(v));
    }
    return NULL;
}

json json_first(json array)
{
    if (!array || *array != '[') return NULL;
    json p = skip_space(array + 1);
    return *p == ']' ? NULL : p;
}

json json_next(json element)
{
    return following(skip_value(element));
}

bool json_integer(json v, int64_t *out)
{
    uint64_t n = 0;
    if (!v || !is_digit(*v)) return false;
    for (; is_digit(*v); v++)
        if (__builtin_mul_overflow(n, 10u, &n) ||
            __builtin_add_overflow(n, (uint64_t)(*v - '0'), &n) || n > INT64_MAX)
            return false;
    *out = (int64_t)n;
    return *v != '.' && *v != 'e' && *v != 'E';
}

bool json_true(json v)
{
    return v && *v == 't';
}

bool json_text(json v, char *out, size_t size)
{
    if (!v || *v != '"') return false;
    const size_t n = (size_t)(skip_string(v) - v) - 2;
    if (n >= size || memchr(v + 1, '\\', n)) return false;
    memcpy(out, v + 1, n);
    out[n] = 0;
    return true;
}

bool json_is_text(json v, const char *text)
{
    char found[64];
    return json_text(v, found, sizeof found) && !strcmp(found, text);
}
