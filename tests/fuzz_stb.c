/* fuzz_stb.c: damaged bytecode: bytes of real programs are changed at random,
 * the sections' sizes and the checksum are put right again, and what the
 * decoder and the verifier accept is run, on tensors of the formats that the
 * damaged program itself declares, under limits on steps and memory.
 *
 *     fuzz_stb [SECONDS [SEED]] [--seconds N] [--seed N]
 *
 * With STC_LAST=FILE each program is written there before it is decoded.
 * Nothing is compared: a sanitizer's complaint, a crash, a hang or memory not
 * given back is the failure. How many were accepted and run is printed.
 */
#include "fuzzing.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER = 32, CORPUS = 60 };

typedef struct bytes {
    uint8_t *data;
    size_t size;
} bytes;

typedef struct tally {
    uint64_t tried, accepted, bound, finished, refused, leaks;
} tally;

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

static bool encode(const fcase *c, bytes *out)
{
    stc_machine *m;
    stc_program *p = NULL;
    stc_decl d[CASE_TENSORS];
    stc_value fill[CASE_TENSORS];
    int n = 0;
    for (int k = 0; k < c->count; k++) {
        const ctensor *t = &c->t[k];
        fill[k] = ov_public(&t->fill);
        d[n++] = (stc_decl){t->name, t->format.text[0] ? t->format.text : "dense",
                            (int)t->type, t->has_fill ? &fill[k] : NULL, t->order};
    }
    char text[sizeof c->defs + sizeof c->stmt + 2];
    snprintf(text, sizeof text, "%s%s\n", c->defs, c->stmt);
    if (stc_open(NULL, &m) != STC_OK) return false;
    void *data = NULL;
    bool ok = stc_compile(m, text, d, n, &p) == STC_OK &&
              stc_program_encode(p, &data, &out->size) == STC_OK;
    if (ok && (out->data = malloc(out->size))) memcpy(out->data, data, out->size);
    if (data) stc_text_free(m, data);
    stc_close(m);
    return ok && out->data;
}

static int make_corpus(uint64_t seed, bytes *corpus)
{
    int n = 0;
    for (uint64_t k = 0; n < CORPUS && k < 4 * CORPUS; k++) {
        fcase c;
        gen_case(&c, seed * 7919 + k, ~0u, 0);
        if (strlen(c.stmt) < 300) n += encode(&c, &corpus[n]);
        case_free(&c);
    }
    return n;
}

/* ---- running what is accepted ------------------------------------------------------- */

/* A tensor of what the program says about the name, with random entries. */
static stc_tensor *operand(gen *g, stc_machine *m, const stc_decl *d)
{
    int64_t shape[STC_MAX_ORDER], coord[STC_MAX_ORDER * 8], n = gen_below(g, 8);
    if (d->order < 0 || d->order > STC_MAX_ORDER || d->type < 0) return NULL;
    int64_t same = 1 + gen_below(g, 4);
    for (int k = 0; k < d->order; k++) {
        shape[k] = gen_chance(g, 80) ? same : gen_below(g, 6);
        if (shape[k] == 0) n = 0;
    }
    for (int k = 0; k < d->order; k++)
        for (int64_t e = 0; e < n; e++)
            coord[k * n + e] = gen_below(g, (int)shape[k]);
    double vals[16];
    for (int k = 0; k < 16; k++)
        vals[k] = 0;
    for (int64_t e = 0; e < n; e++) {
        oval v = gen_value(g, (stc_type)d->type);
        ov_save(&v, vals, e);
    }
    stc_tensor *t = NULL;
    if (d->order == 0) n = 0;
    if (stc_tensor_from_coords(m, d->format, (stc_type)d->type, d->order, shape, d->fill, n,
                               coord, vals, &t) != STC_OK)
        return NULL;
    return t;
}

static void run_program(gen *g, stc_machine *m, stc_program *p, tally *t)
{
    stc_tensor *held[64];
    int n = 0;
    const char *name;
    bool result, all = true;
    for (int k = 0; (name = stc_program_name(p, k, &result)) && n < 64; k++) {
        stc_decl d;
        if (result || stc_program_decl(p, name, &d) != STC_OK) continue;
        stc_tensor *x = operand(g, m, &d);
        if (!x) {
            all = false;
            continue;
        }
        held[n++] = x;
        all = stc_bind(p, name, x) == STC_OK && all;
    }
    t->bound += all;
    stc_status st = stc_run(p);
    t->finished += st == STC_OK;
    for (int k = 0; st == STC_OK && (name = stc_program_name(p, k, &result)); k++) {
        const stc_tensor *r;
        if (result && stc_result(p, name, &r) == STC_OK) stc_tensor_check((stc_tensor *)r);
    }
    stc_program_free(p);
    for (int k = 0; k < n; k++)
        stc_tensor_free(held[k]);
}

/* What runs now, for whoever comes after a crash: a file named by STC_LAST. */
static void keep_last(const bytes *b)
{
    const char *path = getenv("STC_LAST");
    FILE *f = path ? fopen(path, "wb") : NULL;
    if (!f) return;
    if (fwrite(b->data, 1, b->size, f) != b->size) remove(path);
    fclose(f);
}

static void one(gen *g, const bytes *from, tally *t)
{
    bytes b = {malloc(from->size), from->size};
    if (!b.data) return;
    memcpy(b.data, from->data, b.size);
    int changes = 1 + (gen_chance(g, 30) ? gen_below(g, 4) : 0);
    for (int k = 0; k < changes; k++)
        change_one(g, &b);
    mend(&b);
    int64_t held = 0;
    const stc_config config = {.alloc = fuzzing_alloc,
                               .alloc_context = &held,
                               .max_memory = 1 << 24,
                               .max_steps = 20000,
                               .no_super = gen_chance(g, 50)};
    stc_machine *m;
    stc_program *p = NULL;
    t->tried++;
    keep_last(&b);
    if (stc_open(&config, &m) == STC_OK) {
        if (stc_program_decode(m, b.data, b.size, &p) == STC_OK) {
            t->accepted++;
            run_program(g, m, p, t);
        } else {
            t->refused++;
        }
        stc_close(m);
    }
    if (held != 0) {
        t->leaks++;
        printf("fuzz_stb: %" PRId64 " bytes are still held\n", held);
    }
    free(b.data);
}

int main(int argc, char **argv)
{
    fuzzing f;
    fuzzing_begin(&f, argc, argv);
    bytes corpus[CORPUS];
    int n = make_corpus(f.seed, corpus);
    if (n == 0) {
        printf("fuzz_stb: no program to begin with\n");
        return 1;
    }
    tally t = {0};
    while (fuzzing_on(&f) && t.leaks == 0)
        one(&f.g, &corpus[gen_below(&f.g, n)], &t);
    printf("fuzz_stb: seed %" PRIu64 ": %" PRIu64 " tried, %" PRIu64
           " accepted and run (%" PRIu64 " with every operand, %" PRIu64
           " to their end), %" PRIu64 " refused\n",
           f.seed, t.tried, t.accepted, t.bound, t.finished, t.refused);
    for (int k = 0; k < n; k++)
        free(corpus[k].data);
    return t.leaks ? 1 : 0;
}
