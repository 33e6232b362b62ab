/* suggest.h: "did you mean": the known name nearest to an unknown one. */
#ifndef STC_LANG_SUGGEST_H
#define STC_LANG_SUGGEST_H

#include <stddef.h>

typedef struct suggestion {
    const char *wanted;
    const char *best; /* NULL: nothing is near */
    int distance;
} suggestion;

void suggest_begin(suggestion *s, const char *wanted);
void suggest_try(suggestion *s, const char *name);
/* "; did you mean `x`?" or "", in buf. */
const char *suggest_text(const suggestion *s, char *buf, size_t size);

#endif
