/* fuzzing.c: options, clock, allocator and damage of the fuzzers. */
#include "fuzzing.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

double fuzzing_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void fuzzing_begin(fuzzing *f, int argc, char **argv)
{
    int plain = 0;
    *f = (fuzzing){.seconds = 5, .seed = 1};
    for (int k = 1; k < argc; k++) {
        const bool named = argv[k][0] == '-' && k + 1 < argc;
        if (strcmp(argv[k], "--seconds") == 0 && named)
            f->seconds = atof(argv[++k]);
        else if (strcmp(argv[k], "--seed") == 0 && named)
            f->seed = strtoull(argv[++k], NULL, 0);
        else if (plain++ == 0)
            f->seconds = atof(argv[k]);
        else
            f->seed = strtoull(argv[k], NULL, 0);
    }
    if (f->seed == 0) f->seed = (uint64_t)time(NULL);
    f->g = (gen){.c = &f->none, .state = f->seed};
    f->until = fuzzing_now() + f->seconds;
}

bool fuzzing_on(const fuzzing *f)
{
    alarm(60);
    return fuzzing_now() < f->until;
}

void *fuzzing_alloc(void *context, void *block, size_t old, size_t size)
{
    int64_t *held = context;
    void *p = NULL;
    if (size)
        p = realloc(block, size);
    else
        free(block);
    if (p || !size) *held += (int64_t)size - (int64_t)old;
    return p;
}

static const uint64_t extremes[] = {
    0, 1, 0x7f, 0x80, 0xff, 0x7fffffff, 0x80000000, UINT32_MAX, INT64_MAX, UINT64_MAX};

static size_t damage_one(gen *g, unsigned char *b, size_t size, size_t room)
{
    if (size == 0) return 0;
    const size_t at = (size_t)(gen_next(g) % size), left = size - at;
    size_t n = 1 + (size_t)gen_below(g, 16);
    switch (gen_below(g, 9)) {
    case 0:
        b[at] ^= (unsigned char)(1 << gen_below(g, 8));
        return size;
    case 1:
        b[at] = (unsigned char)gen_next(g);
        return size;
    case 2: { /* a number of 1, 2, 4 or 8 bytes */
        const size_t width = (size_t)1 << gen_below(g, 4);
        memcpy(b + at, &extremes[gen_below(g, 10)], width < left ? width : left);
        return size;
    }
    case 6:
    case 7:
    case 8: /* one digit for another, if there is one from here on */
        for (size_t k = at; k < size; k++)
            if (b[k] >= '0' && b[k] <= '9') {
                b[k] = (unsigned char)('0' + gen_below(g, 10));
                break;
            }
        return size;
    case 3: /* out */
        n = n < left ? n : left;
        memmove(b + at, b + at + n, left - n);
        return size - n;
    case 4: /* twice */
        n = n < left ? n : left;
        if (n > room - size) return size;
        memmove(b + at + n, b + at, left);
        return size + n;
    default: { /* over another place */
        const size_t to = (size_t)(gen_next(g) % size);
        n = n < left ? n : left;
        memmove(b + to, b + at, n < size - to ? n : size - to);
        return size;
    }
    }
}

size_t fuzzing_damage(gen *g, unsigned char *bytes, size_t size, size_t room)
{
    for (int k = gen_chance(g, 40) ? gen_below(g, 4) : 0; k >= 0; k--)
        size = damage_one(g, bytes, size, room);
    return size;
}
