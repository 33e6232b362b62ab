/* fuzzing.c: options, clock, allocator and damage of the fuzzers, and what they look
 * for in results. */
#include "fuzzing.h"
#include "../src/api/api.h"
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
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

void fuzzing_patience(int seconds)
{
    const struct itimerval t = {.it_value.tv_sec = seconds};
    setitimer(ITIMER_PROF, &t, NULL);
    alarm(15 * (unsigned)seconds);
}

bool fuzzing_on(const fuzzing *f)
{
    fuzzing_patience(60);
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

/* ---- what comes out ----------------------------------------------------------- */

enum { PLACES = 4096 };

/* Whether a call that only has to succeed was stopped by a limit of its machine. */
static bool was_limited(stc_machine *m)
{
    const stc_status st = stc_error(m)->status;
    return st == STC_ERR_MEMORY || st == STC_ERR_STEPS || st == STC_ERR_INTERRUPT;
}

/* The full check, also of what the library trusts because it made it. */
static bool checks_afresh(const stc_tensor *t)
{
    tensor *own = (tensor *)t;
    const bool vouched = own->vouched;
    const uint64_t checked = own->checked;
    own->vouched = false;
    own->checked = own->generation - 1;
    const bool ok = tensor_check(own) == STC_OK;
    own->vouched = vouched;
    own->checked = checked;
    return ok || was_limited((stc_machine *)own->cx);
}

/* All elements, row-major; NULL: too many, or no memory. *n in bytes. */
static char *elements(const stc_tensor *t, size_t *n)
{
    int64_t places;
    if (!size_product(stc_tensor_shape(t), stc_tensor_order(t), &places) || places > PLACES)
        return NULL;
    *n = (size_t)places * stc_type_size(stc_tensor_type(t));
    char *all = calloc(1, *n + 1);
    if (all && stc_tensor_to_dense(t, all) == STC_OK) return all;
    free(all);
    return NULL;
}

bool fuzzing_is_single(stc_type type)
{
    return type == STC_F32 || type == STC_C64;
}

/* The parts of floats, one or two an element; exact types have none. */
static int parts_of(stc_type type)
{
    return type == STC_F32 || type == STC_F64 ? 1 : type_is_complex(type) ? 2 : 0;
}

static size_t count_parts(stc_type type, size_t bytes)
{
    return bytes / (fuzzing_is_single(type) ? sizeof(float) : sizeof(double));
}

static double part_of(stc_type type, const char *all, size_t k)
{
    if (fuzzing_is_single(type)) return ((const float *)(const void *)all)[k];
    return ((const double *)(const void *)all)[k];
}

/* The same values; what equals a fill may have taken the sign of its zero. */
static bool same_bits(stc_type type, const char *a, const char *b, size_t n)
{
    if (memcmp(a, b, n) == 0) return true;
    if (!parts_of(type)) return false;
    for (size_t k = 0; k < count_parts(type, n); k++) {
        const double x = part_of(type, a, k), y = part_of(type, b, k);
        if (!(isnan(x) && isnan(y)) && x != y) return false;
    }
    return true;
}

/* The same elements, bit by bit, in another format: NULL, or what is wrong. */
static const char *same_elements(const stc_tensor *t, const char *all, size_t n)
{
    size_t bytes = 0;
    char *other = elements(t, &bytes);
    const bool same =
        !other || (bytes == n && same_bits(stc_tensor_type(t), other, all, n));
    free(other);
    if (!checks_afresh(t)) return "what was made of a result fails its check";
    return same ? NULL : "what was made of a result has other elements";
}

/* Even a tensor without places may need an array that is too large: of one bound for each
 * row. */
static bool may_overflow(const stc_tensor *t)
{
    for (int k = 0; k < stc_tensor_order(t); k++)
        if (stc_tensor_shape(t)[k] > INT32_MAX) return true;
    return false;
}

/* In another format, and from there in its own again. */
static const char *converts(const stc_tensor *t, const char *all, size_t n,
                            const char *other)
{
    stc_machine *m = (stc_machine *)((const tensor *)t)->cx;
    stc_tensor *there = NULL, *back = NULL;
    const char *wrong = NULL;
    const stc_status st = stc_tensor_convert(t, other, -1, &there);
    if (st == STC_ERR_OVERFLOW && may_overflow(t)) return NULL;
    if (st != STC_OK) return was_limited(m) ? NULL : "a result can't be converted";
    wrong = same_elements(there, all, n);
    if (!wrong && stc_tensor_convert(there, stc_tensor_format(t), -1, &back) == STC_OK)
        wrong = same_elements(back, all, n);
    stc_tensor_free(back);
    stc_tensor_free(there);
    return wrong;
}

/* `tensor back …` with what is printed of t. */
static char *statement_of(const stc_tensor *t)
{
    char *text = NULL, *printed = NULL;
    size_t size, length;
    FILE *to = open_memstream(&printed, &length);
    if (!to) return NULL;
    const stc_status st = stc_tensor_print(t, to, 0);
    fclose(to);
    char *line = printed ? strchr(printed, '\n') : NULL, *fill;
    /* A table is for the eye: it has no header, or no coordinates below it. */
    const bool listed = line && line - printed > 7 && !strncmp(line - 7, " stored", 7) &&
                        (!line[1] || line[1] == '(');
    if (st || !listed || !(to = open_memstream(&text, &size))) {
        free(printed);
        return NULL;
    }
    *line++ = 0;
    fprintf(to, "tensor back %s %s [", stc_tensor_format(t),
            stc_type_name(stc_tensor_type(t)));
    for (int k = 0; k < stc_tensor_order(t); k++)
        fprintf(to, "%s%lld", k ? "," : "", (long long)stc_tensor_shape(t)[k]);
    fill = strstr(printed, "] fill ");
    fprintf(to, "]%.*s = {", fill ? (int)strcspn(fill + 1, ",") : 0, fill ? fill + 1 : "");
    for (char *end; *line; line = end + 1) {
        char *after = strchr(line, ')');
        end = strchr(line, '\n');
        *end = 0;
        if (after) *after = 0;
        fprintf(to, "%s%s): %s", line == printed ? "" : " ", line, after ? after + 2 : "");
        if (end[1]) fputc(',', to);
    }
    fputs(" }\n", to);
    fclose(to);
    free(printed);
    return text;
}

/* What is printed of t is read again by the language. */
static const char *reads_back(const stc_tensor *t, const char *all, size_t n)
{
    stc_machine *m = (stc_machine *)((const tensor *)t)->cx;
    char *text = statement_of(t);
    stc_session *s = NULL;
    const stc_tensor *back = NULL;
    const char *wrong = NULL;
    if (text && stc_session_open(m, &s) == STC_OK) {
        if (stc_session_exec(s, text, "back") != STC_OK)
            wrong = was_limited(m) ? NULL : "what was printed can't be read";
        else if (stc_session_get(s, "back", &back) == STC_OK)
            wrong = same_elements(back, all, n);
        stc_session_close(s);
    }
    if (wrong) printf("%s%s\n", text, stc_error(m)->message);
    free(text);
    return wrong;
}

const char *fuzzing_unsound(gen *g, const stc_tensor *t)
{
    static const char *const formats[] = {"dense", "hash", "csf", "coo"};
    const int order = stc_tensor_order(t);
    const char *wrong = checks_afresh(t) ? NULL : "a result fails its check";
    size_t n = 0;
    char *all = wrong ? NULL : elements(t, &n);
    if (!all || order == 0) {
        free(all);
        return wrong;
    }
    wrong = converts(t, all, n, formats[gen_below(g, 4)]);
    /* Complex values are printed as two numbers, as files have them. */
    if (!wrong && !type_is_complex(stc_tensor_type(t))) wrong = reads_back(t, all, n);
    free(all);
    return wrong;
}

/* ---- two results that should be the same --------------------------------------- */

static bool near_float(double a, double b, double unit, double scale)
{
    if (!isfinite(a) || !isfinite(b)) return true; /* what overflows depends on the order */
    const double most = fmax(fmax(fabs(a), fabs(b)), scale);
    return fabs(a - b) <= unit * most;
}

static double largest(stc_type type, const char *all, size_t n)
{
    double most = 0;
    for (size_t k = 0; parts_of(type) && k < count_parts(type, n); k++)
        if (isfinite(part_of(type, all, k))) most = fmax(most, fabs(part_of(type, all, k)));
    return most;
}

double fuzzing_largest(const stc_tensor *t)
{
    size_t n = 0;
    char *all = elements(t, &n);
    const double most = all ? largest(stc_tensor_type(t), all, n) : 0;
    free(all);
    return most;
}

static bool alike(stc_type type, bool single, double scale, const char *a, const char *b,
                  size_t n)
{
    if (!parts_of(type)) return memcmp(a, b, n) == 0;
    const double unit = single || fuzzing_is_single(type) ? 1e-4 : 1e-10;
    const size_t count = count_parts(type, n);
    scale = fmax(scale, largest(type, a, n));
    for (size_t k = 0; k < count; k++)
        if (!near_float(part_of(type, a, k), part_of(type, b, k), unit, scale))
            return false;
    return true;
}

/* Equal values are stored once, where the tier finds that they are equal: how many are
 * stored depends on the tier, and on rounding. */
static bool compresses(const stc_tensor *t)
{
    const format *f = &((const tensor *)t)->fmt;
    for (int l = 0; l < f->levels; l++)
        if (f->level[l].kind->caps & CAP_REGION) return true;
    return false;
}

typedef struct place_map {
    const stc_tensor *t;
    char *stored;
} place_map;

static int mark_place(void *context, const int64_t *coords, stc_value v)
{
    const place_map *m = context;
    int64_t at = 0;
    (void)v;
    for (int k = 0; k < stc_tensor_order(m->t); k++)
        at = at * stc_tensor_shape(m->t)[k] + coords[k];
    m->stored[at] = 1;
    return 0;
}

/* A byte for each of the places, row-major: 1 where one is stored; NULL: no memory. */
static char *places_of(const stc_tensor *t, size_t places)
{
    place_map m = {t, calloc(1, places + 1)};
    if (m.stored && stc_tensor_visit(t, mark_place, &m) == STC_OK) return m.stored;
    free(m.stored);
    return NULL;
}

static bool same_places(const stc_tensor *a, const stc_tensor *b, size_t places)
{
    char *x = places_of(a, places), *y = places_of(b, places);
    const bool same = !x || !y || memcmp(x, y, places) == 0;
    free(x);
    free(y);
    return same;
}

const char *fuzzing_differ(const stc_tensor *a, const stc_tensor *b, bool single,
                           double scale)
{
    const int order = stc_tensor_order(a);
    const stc_type type = stc_tensor_type(a);
    if (order != stc_tensor_order(b) || type != stc_tensor_type(b) ||
        strcmp(stc_tensor_format(a), stc_tensor_format(b)) != 0)
        return "two tiers make tensors of other kinds";
    if (memcmp(stc_tensor_shape(a), stc_tensor_shape(b), (size_t)order * sizeof(int64_t)))
        return "two tiers make other shapes";
    if (!compresses(a) && stc_tensor_stored(a) != stc_tensor_stored(b))
        return "two tiers store other places";
    size_t n = 0, m = 0;
    char *x = elements(a, &n), *y = elements(b, &m);
    const bool small = x && y;
    const bool same = !small || (n == m && alike(type, single, scale, x, y, n));
    free(x);
    free(y);
    if (!same) return "two tiers compute other values";
    return !small || same_places(a, b, n / stc_type_size(type))
               ? NULL
               : "two tiers store other places";
}

void fuzzing_tier(stc_machine *m, int tier)
{
    m->cx.no_super = tier == TIER_BASE;
    m->cx.plain = tier == TIER_PLAIN;
    m->cx.grain = tier == TIER_THREADS ? 1 : 0;
    stc_set_threads(m, tier == TIER_THREADS ? 3 : 1);
}
