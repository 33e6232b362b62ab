/* fuzz_stb.c: damaged programs: bytes of real ones are changed at random, and the sections'
 * sizes and the checksum put right again; or lines of their printed form are taken out,
 * doubled, moved, and repeated. What is accepted runs on every tier and on threads, on
 * tensors of the formats that the damaged program itself declares, under limits on steps
 * and memory (fuzz_stb_ways.c).
 *
 *     fuzz_stb [SECONDS [SEED]] [--seconds N] [--seed N] [--only KIND]
 *              [--first N] [--count N]
 *
 * Kinds are bytes and lines; `keep` damages where results are placed and kept, `subsect`
 * chains of subsections, `notation` programs that are planned anew for their operands,
 * `plans` those that have several plans, mostly in one of these. Each
 * mutant has a number: --first N --count 1 makes one again. With STC_LAST=FILE each is
 * written there before it is loaded. A sanitizer's complaint, a crash, a hang, memory not
 * given back, a malformed result, one that is another after conversion or on another tier
 * are failures.
 */
#include "fuzz_stb.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER = 32, CORPUS = 60 };

typedef struct bytes {
    uint8_t *data;
    size_t size;
    char *text; /* the printed form */
} bytes;
/* ---- the container: header of 32 bytes, then tag, size, rows for each section ---- */

static uint64_t get(const uint8_t *p, int n)
{
    uint64_t v = 0;
    for (int k = n - 1; k >= 0; k--)
        v = v << 8 | p[k];
    return v;
}

static void put(uint8_t *p, uint64_t v, int n)
{
    for (int k = 0; k < n; k++, v >>= 8)
        p[k] = (uint8_t)v;
}

static void mend(bytes *b)
{
    uint64_t h = 0xcbf29ce484222325; /* FNV-1a */
    put(b->data + 16, b->size, 8);
    for (size_t k = HEADER; k < b->size; k++)
        h = (h ^ b->data[k]) * 0x100000001b3;
    put(b->data + 24, h, 8);
}

/* A section's rows; false past the last. Tags have 4 bytes, sizes 8. */
static bool section(const bytes *b, int which, size_t *begin, size_t *end)
{
    size_t at = HEADER;
    for (int k = 0; at + 12 <= b->size; k++) {
        uint64_t size = get(b->data + at + 4, 8);
        at += 12;
        if (size > b->size - at) return false;
        *begin = at;
        *end = at + (size_t)size;
        if (k == which) return true;
        at = *end;
    }
    return false;
}

/* The file of a plan for other data, which is in the last section; false: there is none. */
static bool plan_within(gen *g, const bytes *b, bytes *out)
{
    enum { LAST = 12 };
    size_t begin, end;
    for (int k = 0; section(b, k, &begin, &end); k++) {
        if (get(b->data + begin - 12, 4) != LAST || end - begin < 4) continue;
        size_t at = begin + 4;
        uint64_t n = get(b->data + begin, 4), turn = n ? gen_next(g) % n : 0;
        for (; at + 8 + HEADER <= end; turn--) {
            *out = (bytes){.data = b->data + at + 8, .size = get(b->data + at, 8)};
            if (out->size < HEADER || out->size > end - at - 8) return false;
            if (!turn) return true;
            at += 8 + out->size;
        }
    }
    return false;
}

static void change_one(gen *g, bytes *b)
{
    size_t begin, end;
    int sections = 0;
    while (section(b, sections, &begin, &end))
        sections++;
    int which = gen_below(g, sections + 1);
    if (gen_chance(g, 40)) which = sections > 1 ? sections - 2 : 0; /* code */
    if (!section(b, which, &begin, &end) || end == begin) {
        begin = HEADER;
        end = b->size;
    }
    size_t at = begin + (size_t)(gen_next(g) % (end - begin));
    switch (gen_below(g, 6)) {
    case 0:
        b->data[at] ^= (uint8_t)(1 << gen_below(g, 8));
        break;
    case 1:
        b->data[at] = (uint8_t)gen_below(g, 8);
        break;
    case 2:
        b->data[at] = (uint8_t)(b->data[at] + 1);
        break;
    case 3:
        b->data[at] = (uint8_t)gen_next(g);
        break;
    case 4: { /* one two-byte operand for another: registers of the same file */
        size_t to = begin + ((at - begin) & ~(size_t)1);
        size_t from = begin + ((size_t)(gen_next(g) % (end - begin)) & ~(size_t)1);
        if (to + 2 <= end && from + 2 <= end) memmove(b->data + to, b->data + from, 2);
        break;
    }
    default: { /* one instruction for another */
        size_t to = begin + (at - begin) / 16 * 16;
        size_t from = begin + (size_t)(gen_next(g) % (end - begin)) / 16 * 16;
        if (to + 16 <= end && from + 16 <= end) memmove(b->data + to, b->data + from, 16);
    }
    }
}

/* ---- a corpus of good programs ------------------------------------------------------ */

/* Plans for operands of two sizes, of which the mutants' runs have one. */
static void plan_for_two(stc_machine *m, stc_program *p, uint64_t seed)
{
    stc_tensor *held[64];
    for (int k = 0; k < 2; k++) {
        const int n = bind_many(m, p, seed, k ? 3 * MANY_SIZE : MANY_SIZE, held);
        (void)stc_program_plan(p);
        for (int t = 0; t < n; t++)
            stc_tensor_free(held[t]);
    }
}

static bool encode(const fcase *c, family of, bytes *out)
{
    stc_machine *m;
    stc_program *p = NULL;
    stc_decl d[CASE_TENSORS];
    stc_value fill[CASE_TENSORS];
    int n = 0;
    for (int k = 0; k < c->count; k++) {
        const ctensor *t = &c->t[k];
        fill[k] = ov_public(&t->fill);
        d[n++] = (stc_decl){0,
                            t->name,
                            t->format.text[0] ? t->format.text : "dense",
                            (int)t->type,
                            t->has_fill ? &fill[k] : NULL,
                            t->order};
    }
    char text[sizeof c->defs + sizeof c->stmt + 2];
    snprintf(text, sizeof text, "%s%s\n", c->defs, c->stmt);
    if (stc_open(NULL, &m) != STC_OK) return false;
    void *data = NULL;
    char *dump = NULL;
    bool ok = stc_compile(m, text, d, n, &p) == STC_OK;
    if (ok && of == FAMILY_PLANS) plan_for_two(m, p, 1);
    ok = ok && stc_program_encode(p, &data, &out->size) == STC_OK &&
         stc_program_dump(p, &dump) == STC_OK;
    *out = (bytes){.size = out->size};
    if (ok && (out->data = malloc(out->size))) memcpy(out->data, data, out->size);
    if (ok) out->text = strdup(dump);
    if (data) stc_text_free(m, data);
    if (dump) stc_text_free(m, dump);
    stc_close(m);
    return out->data && out->text;
}

/* Cases that have what is damaged. */
static int make_corpus(uint64_t seed, family of, bytes *corpus)
{
    const uint64_t forced = of == FAMILY_SUBSECT    ? FEATURE_BIT << FEATURE_CONVOLVE
                            : of >= FAMILY_NOTATION ? FEATURE_BIT << FEATURE_CHAIN
                                                    : 0;
    static const char *const words[] = {"", " keep ", " subsect ", ".notation ",
                                        "; its file has a plan"};
    const char *has = words[of];
    int n = 0;
    for (uint64_t k = 0; n < CORPUS && k < 40 * CORPUS; k++) {
        fcase c;
        gen_case(&c, seed * 7919 + k, ALL_FEATURES, forced, 0);
        if (strlen(c.stmt) < 300 && encode(&c, of, &corpus[n])) {
            if (strstr(corpus[n].text, has)) {
                n++;
            } else {
                free(corpus[n].data);
                free(corpus[n].text);
            }
        }
        case_free(&c);
    }
    return n;
}

/* ---- mutants ------------------------------------------------------------------------ */

/* What runs now, for whoever comes after a crash: a file named by STC_LAST. */
static void keep_last(const mutant *x)
{
    const char *path = getenv("STC_LAST");
    FILE *f = path ? fopen(path, "wb") : NULL;
    if (!f) return;
    if (fwrite(x->data, 1, x->size, f) != x->size) remove(path);
    fclose(f);
}

static mutant by_bytes(gen *g, const bytes *from, family of)
{
    bytes b = {.data = malloc(from->size), .size = from->size};
    if (!b.data) abort();
    memcpy(b.data, from->data, b.size);
    const int changes = 1 + (gen_chance(g, 30) ? gen_below(g, 4) : 0);
    for (int k = 0; k < changes; k++) {
        bytes in;
        const bool within =
            of == FAMILY_PLANS && gen_chance(g, 80) && plan_within(g, &b, &in);
        change_one(g, within ? &in : &b);
        if (within) mend(&in);
    }
    mend(&b);
    return (mutant){.data = (char *)b.data, .size = b.size};
}

static mutant by_lines(gen *g, const bytes *from, family of)
{
    char *text = damage_lines(g, from->text, of);
    return (mutant){.data = text, .size = strlen(text), .text = true};
}

/* ---- the fuzzer ----------------------------------------------------------------- */

enum { BYTES, LINE_DAMAGE, KEEP, SUBSECT, NOTATION, PLANS, KINDS };
static const char *const kind_name[KINDS] = {"bytes",   "lines",    "keep",
                                             "subsect", "notation", "plans"};
static const family kind_family[KINDS] = {FAMILY_ANY,     FAMILY_ANY,      FAMILY_KEEP,
                                          FAMILY_SUBSECT, FAMILY_NOTATION, FAMILY_PLANS};

typedef struct options {
    int only; /* a kind, or KINDS: all */
    uint64_t first, count;
} options;

/* Takes its own options out of the command line; false: one of them makes no sense. */
static bool take_options(options *o, int *argc, char **argv)
{
    int n = 1;
    *o = (options){.only = KINDS, .count = UINT64_MAX};
    for (int k = 1; k < *argc; k++) {
        const char *name = argv[k], *x = k + 1 < *argc ? argv[k + 1] : "";
        if (strcmp(name, "--first") == 0) {
            o->first = strtoull(x, NULL, 0);
        } else if (strcmp(name, "--count") == 0) {
            o->count = strtoull(x, NULL, 0);
        } else if (strcmp(name, "--only") == 0) {
            for (o->only = 0; o->only < KINDS && strcmp(x, kind_name[o->only]); o->only++)
                ;
            if (o->only == KINDS) return false;
        } else {
            argv[n++] = argv[k];
            continue;
        }
        k++;
    }
    *argc = n;
    return true;
}

int main(int argc, char **argv)
{
    fuzzing f;
    options o;
    if (!take_options(&o, &argc, argv)) {
        fprintf(stderr,
                "fuzz_stb: --only bytes, lines, keep, subsect, notation or plans\n");
        return 2;
    }
    fuzzing_begin(&f, argc, argv);
    if (o.count != UINT64_MAX) f.until = HUGE_VAL;
    static bytes corpus[FAMILY_PLANS + 1][CORPUS];
    int n[FAMILY_PLANS + 1] = {0};
    tally t[KINDS] = {0};
    uint64_t failed = 0;
    for (uint64_t k = o.first; k - o.first < o.count && fuzzing_on(&f) && !failed; k++) {
        gen g = {.c = &f.none, .state = f.seed * 0x9e3779b97f4a7c15u + k};
        const int dice = gen_below(&g, 11);
        const int kind = o.only < KINDS ? o.only
                         : dice < 4     ? BYTES
                         : dice < 7     ? LINE_DAMAGE
                         : dice < 8     ? KEEP
                         : dice < 9     ? NOTATION
                         : dice < 10    ? SUBSECT
                                        : PLANS;
        const family of = kind_family[kind];
        if (!n[of] && !(n[of] = make_corpus(f.seed, of, corpus[of]))) {
            printf("fuzz_stb: no program to begin with\n");
            return 1;
        }
        const bytes *from = &corpus[of][gen_below(&g, n[of])];
        const bool as_bytes = kind == BYTES || kind == NOTATION || kind == PLANS;
        const mutant x = as_bytes ? by_bytes(&g, from, of) : by_lines(&g, from, of);
        keep_last(&x);
        judge_mutant(&x, gen_next(&g), &t[kind]);
        failed = t[kind].failed;
        if (failed)
            printf("fuzz_stb: seed %" PRIu64 ", mutant %" PRIu64 " (%s)\n", f.seed, k,
                   kind_name[kind]);
        free(x.data);
    }
    for (int k = 0; k < KINDS; k++)
        if (t[k].tried)
            printf("fuzz_stb: seed %" PRIu64 ", %s: %" PRIu64 " tried, %" PRIu64
                   " refused, %" PRIu64 " accepted, %" PRIu64 " to their end, %" PRIu64
                   " compared, %" PRIu64 " converted, %" PRIu64 " planned anew, %" PRIu64
                   " by another plan of theirs, %" PRIu64 " failed\n",
                   f.seed, kind_name[k], t[k].tried, t[k].refused, t[k].accepted,
                   t[k].finished, t[k].compared, t[k].converted, t[k].planned, t[k].found,
                   t[k].failed);
    for (int of = 0; of <= FAMILY_PLANS; of++)
        for (int k = 0; k < n[of]; k++) {
            free(corpus[of][k].data);
            free(corpus[of][k].text);
        }
    return failed ? 1 : 0;
}
