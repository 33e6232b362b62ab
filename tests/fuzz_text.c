/* fuzz_text.c: damaged texts: random statements, scripts of every kind and the inputs
 * of messages.txt, which lead to each error of the language, with pieces left out,
 * doubled, swapped or replaced are executed in a session.
 *
 *     fuzz_text [SECONDS [SEED]] [--seconds N] [--seed N]
 *
 * Whatever happens must be an answer: no complaint of a sanitizer, no hang, no
 * memory kept, and every refusal with a message and a place. Every tensor that a
 * session then has is checked afresh, converted, printed and read back, and another
 * tier must say and have the same. Numbers at the ends of 31 to 64 bits are among the
 * words that damage puts in.
 */
#include "fuzzing.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH = 6000, KEPT = 500 };

static const char *const seeds[] = {
    "tensor A csr f64 [4,5] = { (0,1): 3, (2,4): 1 }\ny(i) = A(i,j) * A(i,j)\nprint y\n",
    "format blk(r,c) = (i,j) -> (i/r : dense, j/c : compressed, i%r : dense, j%c : dense)\n"
    "tensor B blk(2,2) f32 [4,4] = { (0,1): 3 }\nC(i,j) = B(j,i) + 1\ncompact C\n",
    "fn g(x, y) {\n x, 0 => abs(x)\n 0, y => abs(y)\n x, y => { while (x != 0) { t = x; x "
    "= y % x; y "
    "= t }; return abs(y) }\n} over {x != 0} | {y != 0}\na = g(12, 18)\n",
    "x = 1\nrepeat 3 { x = x * 2 }\nwhile (x > 1) { x = x - 1 }\nif (x == 1) { z = 2 } "
    "else { z = 3 "
    "}\n",
    "tensor M dense i32 = [[1,2,3],[4,5,6]]\nP(i) = max(p in 0:2: M(i,p)) + sum(q: "
    "M(i,q))\n"
    "M(i,i(0:2)) = 0\ndrop P\n",
    "tensor R csr f64 [9,9] = random(density=0.3, seed=7)\nS(i,j) = R(i,k) * R(k,j)\n  "
    "with "
    "reorder(i,k,j), workspace(hash, 16)\n",
    "format ell2 = (i,j) -> (#i : dense, i : dense, j : singleton)\ntensor E ell2 f64 "
    "[3,3]\n"
    "E(i,j) = select(i == j && i > 0, 1, 0)\n",
    "tensor z c128 dense [2] = 1+2j\nw(i) = conj(z(i)) * z(1-i) + pad z(i+1)\n",
};

static const char *const words[] = {
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ";",
    ":",
    "=",
    "+=",
    "min=",
    "->",
    "**",
    "<<",
    "&&",
    "%",
    "~",
    "tensor",
    "format",
    "fn",
    "with",
    "over",
    "pad",
    "in",
    "fill",
    "print",
    "repeat",
    "while",
    "if",
    "else",
    "inf",
    "nan",
    "true",
    "0",
    "-1",
    "99999999999999999999",
    "1e400",
    "0.5",
    "2j",
    "i",
    "A",
    "csr",
    "dense",
    "compressed(nonunique)",
    "singleton",
    "hashed",
    "hashed(4)",
    "hashed(",
    "rle",
    "lz77",
    "offset",
    "\n",
    "sum(i: ",
    "return",
    "break",
    "\"x\"",
    "random(density=2)",
    "0:3",
    "#",
    "\\",
    "reorder(i,j)",
    "split(i,i0,i1,2)",
    "workspace(dense)",
    "c64",
    "u8",
    "9223372036854775807",
    "9223372036854775806",
    "4611686018427387904",
    "4611686018427387903",
    "2305843009213693951",
    "4294967296",
    "4294967295",
    "2147483648",
    "2147483647",
    "i+9223372036854775806",
    "2*i-9223372036854775807",
    "4611686018427387904*i",
    "i-j",
    "pad ",
};
enum { SEEDS = sizeof seeds / sizeof *seeds, WORDS = sizeof words / sizeof *words };

static void splice(char *text, size_t at, size_t drop, const char *with)
{
    size_t len = strlen(text), add = strlen(with);
    if (at > len) at = len;
    if (drop > len - at) drop = len - at;
    if (len - drop + add >= LENGTH) return;
    memmove(text + at + add, text + at + drop, len - at - drop + 1);
    memcpy(text + at, with, add);
}

/* A number becomes one near an end of 31 to 64 bits, which leaves the text in order. */
static void stretch(gen *g, char *text)
{
    static const int bits[] = {31, 32, 33, 60, 61, 62, 63};
    const size_t len = strlen(text), from = len ? (size_t)(gen_next(g) % len) : 0;
    const size_t at = from + strcspn(text + from, "0123456789");
    const size_t digits = strspn(text + at, "0123456789");
    char number[32];
    if (!digits) return;
    const uint64_t end = (uint64_t)1 << bits[gen_below(g, 7)];
    snprintf(number, sizeof number, "%" PRIu64, end + (uint64_t)gen_below(g, 5) - 2);
    splice(text, at, digits, number);
}

static void damage(gen *g, char *text)
{
    size_t len = strlen(text), at = len ? (size_t)(gen_next(g) % len) : 0;
    char part[64];
    switch (gen_below(g, 6)) {
    case 0:
        splice(text, at, (size_t)gen_below(g, 8), "");
        break;
    case 1:
        splice(text, at, 0, words[gen_below(g, WORDS)]);
        break;
    case 2:
        splice(text, at, 1 + (size_t)gen_below(g, 3), words[gen_below(g, WORDS)]);
        break;
    case 3:
        snprintf(part, sizeof part, "%.*s", 1 + gen_below(g, 40), text + at);
        splice(text, len ? (size_t)(gen_next(g) % len) : 0, 0, part);
        break;
    case 4:
        part[0] = (char)(1 + gen_below(g, 255));
        part[1] = 0;
        splice(text, at, 1, part);
        break;
    default:
        text[at] = text[at] >= '0' && text[at] < '9' ? (char)(text[at] + 1) : text[at];
    }
}

typedef struct corpus {
    char *text[KEPT];
    int count;
} corpus;

/* Each paragraph's lines after "> ", as one text. */
static void read_kept(corpus *c, const char *path)
{
    FILE *f = fopen(path, "r");
    char *line = NULL;
    size_t size = 0;
    bool open = false;
    while (f && getline(&line, &size, f) >= 0) {
        const bool input = strncmp(line, "> ", 2) == 0;
        if (input && !open && c->count < KEPT) c->text[c->count++] = calloc(1, LENGTH);
        char *to = input && c->count ? c->text[c->count - 1] : NULL;
        if (to && strlen(to) + strlen(line) < LENGTH) strcat(to, line + 2);
        open = input;
    }
    free(line);
    if (f) fclose(f);
}

static void begin(gen *g, const corpus *kept, char *text)
{
    const int dice = gen_below(g, 100);
    if (dice < 50) {
        const bool old = dice < 25 && kept->count > 0;
        snprintf(text, LENGTH, "%s",
                 old ? kept->text[gen_below(g, kept->count)] : seeds[gen_below(g, SEEDS)]);
        return;
    }
    fcase c;
    gen_case(&c, gen_next(g), ALL_FEATURES, 0, 0);
    char *script = case_script(&c, "");
    snprintf(text, LENGTH, "%s", script ? script : "");
    free(script);
    case_free(&c);
}

typedef struct tally {
    uint64_t tried, accepted, compared;
} tally;

/* A text in a machine of its own. */
typedef struct execution {
    int64_t held;
    stc_machine *m;
    stc_session *s;
    stc_status status;
} execution;

static bool execute(execution *x, const char *text, int tier, FILE *sink)
{
    *x = (execution){0};
    const stc_config config = {.alloc = fuzzing_alloc,
                               .alloc_context = &x->held,
                               .max_memory = 1 << 24,
                               .max_steps = 20000,
                               .no_files = true};
    if (stc_open(&config, &x->m) != STC_OK) return false;
    fuzzing_tier(x->m, tier);
    if (stc_session_open(x->m, &x->s) != STC_OK) return false;
    stc_session_output(x->s, sink);
    x->status = stc_session_exec(x->s, text, "fuzz");
    return true;
}

static const char *finish(execution *x)
{
    if (x->s) stc_session_close(x->s);
    if (x->m) stc_close(x->m);
    return x->held ? "bytes are still held" : NULL;
}

static bool is_limit(stc_status st)
{
    return st == STC_ERR_MEMORY || st == STC_ERR_STEPS;
}

static const char *placed(const execution *x)
{
    const stc_error_info *e = stc_error(x->m);
    const bool has_place = e->line > 0 || is_limit(x->status) || x->status == STC_ERR_IO;
    if (x->status == STC_OK || (e->status == x->status && e->message[0] && has_place &&
                                !strstr(e->message, "unsafe bytecode")))
        return NULL;
    printf("fuzz_text: %s: `%s` at line %d\n", stc_status_name(x->status), e->message,
           e->line);
    return "an answer without place or sense";
}

/* All that a session has is sound. */
static const char *sound(gen *g, const execution *x)
{
    const char *name, *wrong = NULL;
    const stc_tensor *t;
    for (int k = 0; !wrong && (name = stc_session_name(x->s, k)); k++)
        if (stc_session_get(x->s, name, &t) == STC_OK) wrong = fuzzing_unsound(g, t);
    return wrong;
}

/* It was a tier's own matter how large an array it asked for. */
static bool too_large(const execution *x)
{
    return x->status == STC_ERR_OVERFLOW && strstr(stc_error(x->m)->message, "an array of");
}

/* Two tiers say the same, and have the same. */
static const char *same(const execution *a, const execution *b, const char *text)
{
    const bool single = strstr(text, "f32") || strstr(text, "c64");
    if (is_limit(a->status) || is_limit(b->status)) return NULL; /* tiers differ in these */
    if (too_large(a) && too_large(b)) return NULL;
    if (a->status != b->status ||
        (a->status && strcmp(stc_error(a->m)->message, stc_error(b->m)->message) != 0)) {
        printf("fuzz_text: `%s` but `%s`\n", stc_error(a->m)->message,
               stc_error(b->m)->message);
        return "two tiers answer differently";
    }
    const char *name, *wrong = NULL;
    const stc_tensor *t, *u;
    double scale = 0; /* of what was computed with: large terms may have cancelled */
    for (int k = 0; (name = stc_session_name(a->s, k)); k++)
        if (stc_session_get(a->s, name, &t) == STC_OK)
            scale = fmax(scale, fuzzing_largest(t));
    for (int k = 0; !wrong && (name = stc_session_name(a->s, k)); k++)
        if (stc_session_get(a->s, name, &t) == STC_OK &&
            stc_session_get(b->s, name, &u) == STC_OK &&
            (wrong = fuzzing_differ(t, u, single, scale)))
            printf("fuzz_text: in %s\n", name);
    return wrong;
}

/* NULL, or what is wrong with the answer. */
static const char *run(gen *g, const char *text, tally *n, FILE *sink)
{
    execution x, y = {0};
    const int tier = 1 + gen_below(g, TIERS - 1);
    const char *wrong = "there is no machine", *left;
    n->tried++;
    if (execute(&x, text, TIER_ALL, sink)) {
        n->accepted += x.status == STC_OK;
        wrong = placed(&x);
        if (!wrong && x.status != STC_ERR_SYNTAX && execute(&y, text, tier, sink)) {
            n->compared++;
            if ((wrong = same(&x, &y, text))) printf("fuzz_text: tier %d\n", tier);
        }
        if (!wrong) wrong = sound(g, &x);
    }
    if ((left = finish(&x))) wrong = left;
    if ((left = finish(&y))) wrong = left;
    return wrong;
}

/* What runs now, for whoever comes after a crash or a hang: a file named by STC_LAST. */
static void keep_last(const char *text)
{
    const char *path = getenv("STC_LAST");
    FILE *to = path ? fopen(path, "w") : NULL;
    if (!to) return;
    fputs(text, to);
    fclose(to);
}

int main(int argc, char **argv)
{
    fuzzing f;
    tally n = {0};
    int bad = 0;
    FILE *sink = fopen("/dev/null", "w");
    static char text[LENGTH + 1];
    static corpus kept;
    fuzzing_begin(&f, argc, argv);
    read_kept(&kept, "tests/messages.txt");
    while (sink && fuzzing_on(&f) && bad < 5) {
        begin(&f.g, &kept, text);
        const bool numbers = gen_chance(&f.g, 40);
        for (int k = gen_below(&f.g, numbers ? 3 : 5); k >= 0; k--)
            numbers ? stretch(&f.g, text) : damage(&f.g, text);
        keep_last(text);
        const char *wrong = run(&f.g, text, &n, sink);
        if (wrong) {
            bad++;
            printf("---- FAIL: %s\n%s\n----\n", wrong, text);
        }
    }
    if (sink) fclose(sink);
    while (kept.count > 0)
        free(kept.text[--kept.count]);
    printf("fuzz_text: seed %" PRIu64 ": %" PRIu64 " texts, %" PRIu64 " accepted, %" PRIu64
           " compared, %d wrong answers\n",
           f.seed, n.tried, n.accepted, n.compared, bad);
    return bad ? 1 : 0;
}
