/* fuzz_faults.c: random cases (gen.h) in which allocations fail: each is run once
 * as it is, then again and again on a fresh machine with another allocation that
 * finds no memory, and at last on that machine with all of it.
 *
 *     fuzz_faults [SECONDS [SEED]] [--seconds N] [--seed N]
 *
 * A shortage may be lived with (a smaller workspace) or is a clean error; it never
 * changes a value, holds nothing back, and leaves a machine that works.
 */
#include "fuzzing.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { TRIES = 24 };

typedef struct told {
    uint64_t programs, tries, refused;
    char wrong[1000];
} told;

static bool wrong(told *t, const char *what, uint64_t at, const outcome *o)
{
    snprintf(t->wrong, sizeof t->wrong, "allocation %" PRIu64 ": %s: status %s %s", at,
             what, stc_status_name(o->status), o->message);
    return false;
}

/* Float sums may be in another order where less memory was at hand. */
static bool same(const outcome *a, const outcome *b)
{
    if (a->status != b->status) return false;
    if (a->status != STC_OK) return true;
    if (a->type != b->type || a->count != b->count) return false;
    return a->type >= STC_F32 ||
           memcmp(a->dense, b->dense, (size_t)a->count * stc_type_size(a->type)) == 0;
}

/* False: something is wrong, and t->wrong says what. */
static bool fail_at(told *t, const fcase *c, unsigned how, const outcome *right,
                    uint64_t at)
{
    case_heap h = {.fail_at = at};
    outcome o = {.status = STC_ERR_MEMORY}, again = {.status = STC_OK};
    stc_machine *m;
    bool ok = true;
    const bool opened = case_machine(&h, how, &m) == STC_OK;
    if (opened) case_run_on(m, c, how, &o);
    t->tries++;
    t->refused += o.status == STC_ERR_MEMORY;
    if (o.status == STC_ERR_MEMORY) {
        outcome_free(&o);
    } else if (!same(right, &o)) {
        ok = wrong(t, "another outcome", at, &o);
    }
    h.fail_at = 0;
    if (ok && opened) {
        case_run_on(m, c, how, &again);
        if (!same(right, &again)) ok = wrong(t, "not as before after it", at, &again);
        outcome_free(&again);
    }
    outcome_free(&o);
    stc_close(m);
    if (ok && h.held) ok = wrong(t, "bytes are still held", at, &o);
    return ok;
}

static bool each_way(told *t, gen *g, const fcase *c, unsigned how)
{
    case_heap h = {.fail_at = 0};
    outcome right;
    stc_machine *m;
    if (case_machine(&h, how, &m) != STC_OK) return true;
    case_run_on(m, c, how, &right);
    bool ok = true;
    for (int k = 0; k < TRIES && ok; k++)
        ok = fail_at(t, c, how, &right, 1 + gen_next(g) % h.calls);
    outcome_free(&right);
    stc_close(m);
    return ok;
}

int main(int argc, char **argv)
{
    fuzzing f;
    told t = {0};
    bool ok = true;
    fuzzing_begin(&f, argc, argv);
    while (ok && fuzzing_on(&f)) {
        fcase c;
        unsigned how[8];
        const uint64_t seed = gen_next(&f.g);
        gen_case(&c, seed, ~0u, 0);
        ok = each_way(&t, &f.g, &c, how[gen_below(&f.g, case_ways(&c, how))]);
        t.programs++;
        if (!ok) {
            char *script = case_script(&c, "");
            printf("fuzz_faults: %s\n%s", t.wrong, script ? script : "");
            free(script);
        }
        case_free(&c);
    }
    printf("fuzz_faults: seed %" PRIu64 ": %" PRIu64 " programs, %" PRIu64
           " failing allocations, %" PRIu64 " of them refused, %s\n",
           f.seed, t.programs, t.tries, t.refused, ok ? "0 wrong" : "1 wrong");
    return !ok;
}
