/* json.h: JSON texts (RFC 8259), checked once and then looked into where they stand.
 */
#ifndef STC_IO_JSON_H
#define STC_IO_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A value: where it begins in a checked text, with nothing before it. NULL: there is none.
 */
typedef const char *json;

/* Whether the n bytes, which a zero byte follows, are one value and no more; *at is where
 * that can be seen if they aren't. Values in values up to JSON_DEEP times. */
enum { JSON_DEEP = 64 };
json json_check(const char *text, size_t n, const char **at);

json json_member(json object, const char *name); /* of an object; the first of that name */
/* The first element of an array, and the one behind an element. */
json json_first(json array);
json json_next(json element);
bool json_integer(json v, int64_t *out); /* not below 0, without a fraction */
bool json_true(json v);
/* A text without escapes that fits; else false. */
bool json_text(json v, char *out, size_t size);
bool json_is_text(json v, const char *text);

#endif
