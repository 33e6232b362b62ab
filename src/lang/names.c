/* names.c: things by name (names.h).
 *
 * Removing moves what follows in the cluster to where it is found without the
 * gap, so that no bucket is ever marked as deleted.
 */
#include "names.h"
#include <string.h>

static const char *name_of(const void *item)
{
    return ((const named *)item)->name;
}

static uint32_t hash_name(const char *s)
{
    uint32_t h = 2166136261u; /* FNV-1a */
    for (; *s; s++)
        h = (h ^ (uint8_t)*s) * 16777619u;
    return h;
}

static int64_t home_of(const names *t, const char *name)
{
    return hash_name(name) & (t->buckets - 1);
}

/* The bucket that holds the name, or the free one where it belongs. */
static int64_t bucket_of(const names *t, const char *name)
{
    int64_t b = home_of(t, name);
    while (t->bucket[b] && strcmp(name_of(t->item[t->bucket[b] - 1]), name) != 0)
        b = (b + 1) & (t->buckets - 1);
    return b;
}

void *names_find(const names *t, const char *name)
{
    if (!t->count) return NULL;
    const int32_t at = t->bucket[bucket_of(t, name)];
    return at ? t->item[at - 1] : NULL;
}

static void index_all(names *t)
{
    memset(t->bucket, 0, (size_t)t->buckets * sizeof *t->bucket);
    for (int64_t i = 0; i < t->count; i++)
        t->bucket[bucket_of(t, name_of(t->item[i]))] = (int32_t)i + 1;
}

bool names_room(ctx *cx, names *t)
{
    if (mem_grow(cx, &t->item, &t->cap, t->count + 1, sizeof *t->item) != STC_OK)
        return false;
    if (2 * (t->count + 1) <= t->buckets) return true;
    const int64_t buckets = t->buckets ? 2 * t->buckets : 16;
    int32_t *const bucket = mem_array(cx, buckets, sizeof *bucket);
    if (!bucket) return false;
    mem_free(cx, t->bucket, (size_t)t->buckets * sizeof *bucket);
    t->bucket = bucket;
    t->buckets = buckets;
    index_all(t);
    return true;
}

void names_add(names *t, void *item)
{
    t->bucket[bucket_of(t, name_of(item))] = (int32_t)t->count + 1;
    t->item[t->count++] = item;
}

/* Bucket b becomes free: items that would be looked for through it move up. */
static void free_bucket(names *t, int64_t b)
{
    const int64_t last = t->buckets - 1;
    for (int64_t k = (b + 1) & last; t->bucket[k]; k = (k + 1) & last) {
        const int64_t home = home_of(t, name_of(t->item[t->bucket[k] - 1]));
        if (((k - home) & last) < ((k - b) & last)) continue; /* found without b */
        t->bucket[b] = t->bucket[k];
        b = k;
    }
    t->bucket[b] = 0;
}

void names_remove(names *t, const void *item)
{
    const int64_t b = bucket_of(t, name_of(item));
    const int32_t at = t->bucket[b]; /* its number + 1: that of the next one */
    free_bucket(t, b);
    if (at == t->count--) return;
    memmove(t->item + at - 1, t->item + at, (size_t)(t->count + 1 - at) * sizeof *t->item);
    for (int64_t k = 0; k < t->buckets; k++)
        t->bucket[k] -= t->bucket[k] > at;
}

void names_free(ctx *cx, names *t)
{
    mem_free(cx, t->item, (size_t)t->cap * sizeof *t->item);
    mem_free(cx, t->bucket, (size_t)t->buckets * sizeof *t->bucket);
    *t = (names){0};
}
