/* fuzz_faults.c: random cases (gen.h) in which allocations fail: each is run once
 * as it is, then again and again on a fresh machine with another allocation that
 * finds no memory, and at last on that machine with all of it.
 *
 *     fuzz_faults [SECONDS [SEED]] [--seconds N] [--seed N]
 *
 * Every eighth time it is a script that takes derivatives (`grad`), and the text of them
 * that stc_gradient writes, with operands in a format of any kind.
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

/* ---- derivatives -------------------------------------------------------------------- */

static const char *const losses[] = {
    "e(i,j) = sampled(A(i,j), sum(k: U(i,k) * V(j,k)) - A(i,j))\nloss = sum(i,j: "
    "e(i,j)**2)\n",
    "y(i) = A(i,j) * V(j,k)\nloss = sum(i: log1p(exp(y(i)))) / 7\n",
    "W(i,k) = max(j: A(i,j) * V(j,k))\nloss = W(i,k) * U(i,k)\n",
    "W(i,j) = select(A(i,j) > 2, A(i,j) * sum(k: V(j,k)), -A(i,j))\n"
    "loss = sqrt(sum(i,j: W(i,j)**2) + sum(i,k: U(i,k)**2))\n",
    "W(i,k) = U(i,k) + sum(j: A(i,j) * V(j,k))\nz(i) = W(i,0) / (1 + abs(W(i,1)))\n"
    "loss = z(i) * z(i)\n",
};
static const char *const kinds[] = {"csr",   "csc",  "coo",      "dcsr",
                                    "dense", "hash", "bcsr(2,2)"};
static const char given[] =
    "tensor A %s f64 [4,5] = { (0,1): 1.5, (0,3): 3, (1,0): -2, (3,2): 2.5, (3,4): 4 }\n"
    "tensor U dense f64 [4,2] = [[0.5,-1],[0.25,2],[1,1],[-0.5,0.75]]\n"
    "tensor V dense f64 [5,2] = [[1,0.5],[-0.75,2],[1.5,1],[0.5,0.5],[2,-1]]\n";

enum { PLACES = 20 };
typedef struct slopes {
    stc_status status;
    double by[2 * PLACES];
} slopes;

/* The derivatives by A and V, as the script has them, or through the text. */
static void derive(stc_machine *m, const char *script, const char *loss, const char *kind,
                   slopes *out)
{
    static const char *const by[] = {"A", "V"};
    const stc_decl d[] = {{.name = "A", .format = kind}, {.name = "U"}, {.name = "V"}};
    char *text = NULL;
    stc_session *s = NULL;
    stc_program *p = NULL;
    const stc_tensor *t;
    memset(out, 0, sizeof *out);
    out->status = stc_session_open(m, &s);
    for (int turn = 0; turn < 3 && !out->status; turn++) /* the last one finds it known */
        out->status = stc_session_exec(s, script, "faults");
    for (int k = 0; k < 2 && !out->status; k++) {
        out->status = stc_session_get(s, k ? "Q" : "P", &t);
        if (!out->status) out->status = stc_tensor_to_dense(t, out->by + k * PLACES);
    }
    if (!out->status) out->status = stc_gradient(m, loss, d, 3, "loss", by, 2, &text);
    if (!out->status) out->status = stc_compile(m, text, d, 3, &p);
    stc_text_free(m, text);
    stc_program_free(p);
    stc_session_close(s);
}

static bool near_slopes(const slopes *a, const slopes *b)
{
    if (a->status != b->status) return false;
    for (int k = 0; k < 2 * PLACES; k++) {
        const double x = a->by[k], y = b->by[k], off = x > y ? x - y : y - x;
        if (off > 1e-9 * (1 + (x > 0 ? x : -x))) return false;
    }
    return true;
}

static bool derivatives(told *t, gen *g)
{
    const char *const loss = losses[gen_below(g, sizeof losses / sizeof *losses)];
    const char *const kind = kinds[gen_below(g, sizeof kinds / sizeof *kinds)];
    char script[2000];
    const int n = snprintf(script, sizeof script, given, kind);
    snprintf(script + n, sizeof script - (size_t)n, "%s(P, Q) = grad(loss, A, V)\n", loss);
    case_heap h = {.fail_at = 0};
    slopes right, o, again;
    stc_machine *m;
    outcome none = {.status = STC_OK};
    if (case_machine(&h, 0, &m) != STC_OK) return true;
    const uint64_t before = h.calls;
    derive(m, script, loss, kind, &right);
    if (right.status) {
        snprintf(t->wrong, sizeof t->wrong, "%s: %.500s", stc_error(m)->message, script);
        return false;
    }
    const uint64_t calls = h.calls - before;
    for (int k = 0; k < TRIES; k++) {
        const uint64_t at = 1 + gen_next(g) % calls;
        h.fail_at = h.calls + at;
        derive(m, script, loss, kind, &o);
        h.fail_at = 0;
        t->tries++;
        t->refused += o.status == STC_ERR_MEMORY;
        none.status = o.status;
        snprintf(none.message, sizeof none.message, "%.700s", script);
        if (o.status != STC_ERR_MEMORY && !near_slopes(&right, &o))
            return wrong(t, "other derivatives", at, &none);
        derive(m, script, loss, kind, &again);
        if (!near_slopes(&right, &again)) {
            none.status = again.status;
            snprintf(none.message, sizeof none.message, "%s: %.600s",
                     again.status ? stc_error(m)->message : "", script);
        }
        if (!near_slopes(&right, &again))
            return wrong(t, "not as before after it", at, &none);
    }
    stc_close(m);
    return !h.held || wrong(t, "bytes are still held", 0, &none);
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
        if (t.programs % 8 == 7) {
            ok = derivatives(&t, &f.g);
            if (!ok) printf("fuzz_faults: %s\n", t.wrong);
            t.programs++;
            continue;
        }
        const uint64_t seed = gen_next(&f.g);
        gen_case(&c, seed, ALL_FEATURES, 0, 0);
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
