/* check_convolution.c: affine subscripts against the oracle: convolutions in all
 * loop orders, formats and results, strided, dilated, padded; pooling,
 * stencils, sparse filters; subsections merged with other operands; affine left
 * sides. And the work: the subsections that a loop visits are those that
 * aren't empty (convolutions paper, §3.1 and fig. 3). */
#include "case.h"
#include "check.h"
#include "gen.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OPERANDS = 3 };

typedef struct statement {
    const char *text;       /* assigns y, from A, and F and B where it has them     */
    const char *loops;      /* the indices to permute; NULL: no schedule            */
    int order;              /* of the result                                        */
    int shape[OPERANDS][4]; /* of A, F and B, ended by 0; none: not there      */
    int every;              /* takes each n-th of the loop orders                   */
    int y[4];               /* its shape, if it has old values or `pad` needs one   */
    bool old;
} statement;

static const statement statements[] = {
    {"y(i) = A(i+p) * F(p)", "ip", 1, {{9}, {3}}, 1, {0}, 0},
    {"y(i) = A(2*i+3*p+1) * F(p)", "ip", 1, {{14}, {3}}, 1, {0}, 0},
    {"y(i) = A(i-p+2) * F(p)", "ip", 1, {{8}, {3}}, 1, {0}, 0},
    {"y(i) = A(6+p-i) * F(p)", "ip", 1, {{9}, {3}}, 1, {0}, 0},
    {"y(i,j) = A(6-2*i+p,j-q+1) * F(p,q)", "ijpq", 2, {{8, 6}, {2, 2}}, 3, {0}, 0},
    {"y(i) = A(i+j+k) * F(j) * B(k)", "ijk", 1, {{12}, {3}, {2}}, 1, {0}, 0},
    {"y(i) = A(i+p) * F(p) * B(i)", "ip", 1, {{9}, {3}, {7}}, 1, {0}, 0},
    {"y(i) = A(i+p) * A(i+p+1) * F(p)", "ip", 1, {{10}, {3}}, 1, {0}, 0},
    {"y(i) = sum(p in 1:4: A(i+p)) - A(2*i)", NULL, 1, {{13}}, 1, {0}, 0},
    {"y(i) = max(p in 0:2: A(2*i+p))", NULL, 1, {{10}}, 1, {0}, 0},
    {"y(i) = A(8-i) + B(i)", NULL, 1, {{9}, {0}, {9}}, 1, {0}, 0},
    {"y(i,j) = B(i) + A(i+j)", "ij", 2, {{9}, {0}, {4}}, 1, {0}, 0},
    {"y(i) = any(p in 0:3: A(i+p) == 0 && B(i) != 0)", NULL, 1, {{9}, {0}, {7}}, 1, {0}, 0},
    {"y(i) = 1 + A(i,k,j+k)", NULL, 1, {{3, 4, 8}}, 1, {0}, 0},
    {"y(i,j) = 2 * A(i+p,j+q) * F(p,q)", "ijpq", 2, {{5, 5}, {2, 3}}, 3, {0}, 0},
    {"y(j,i) += A(i+p,j+q) * F(p,q)", "ijpq", 2, {{5, 5}, {2, 3}}, 3, {3, 4}, 1},
    {"y(i) = pad A(i+p-1) * F(p)", "ip", 1, {{7}, {3}}, 1, {7}, 0},
    {"y(2*i) = A(i)", NULL, 1, {{4}}, 1, {9}, 1},
    {"y(i+3) = A(i) * B(i)", NULL, 1, {{4}, {0}, {4}}, 1, {9}, 1},
    {"y(8-i) = A(i)", NULL, 1, {{9}}, 1, {9}, 1},
    {"y(3*i+1) += A(i+p) * F(p)", NULL, 1, {{6}, {4}}, 1, {9}, 1},
    {"y(i,j) = A(i+p,j+q) * F(p,q)", "ijpq", 2, {{6, 7}, {3, 3}}, 1, {0}, 0},
    {"y(i,j) = A(2*i+p,j+2*q) * F(p,q)", "ijpq", 2, {{7, 7}, {3, 2}}, 3, {0}, 0},
    {"y(i,j) = A(i+p,k) * F(p,j) * B(k)", "ijpk", 2, {{5, 6}, {3, 4}, {6}}, 2, {0}, 0},
    {"y(j,i) = A(i+p,j+p) * F(p)", "ijp", 2, {{6, 6}, {3}}, 1, {0}, 0},
    {"y(i,j) = pad A(i+p-1,j+q-1) * F(p,q)", "ijpq", 2, {{5, 5}, {3, 3}}, 3, {5, 5}, 0},
    {"y(i,j) = max(p in 0:2, q in 0:2: A(2*i+p,2*j+q))", NULL, 2, {{6, 6}}, 1, {0}, 0},
    {"y(i,j) = sum(p in 0:2, q in 0:2: A(2*i+p,2*j+q)) / 4", NULL, 2, {{6, 6}}, 1, {0}, 0},
    {"y(i,j) = pad A(i-1,j) + pad A(i+1,j) + pad A(i,j-1) + pad A(i,j+1) - 4 * A(i,j)",
     NULL,
     2,
     {{5, 6}},
     1,
     {0},
     0},
    {"y(i,j,k) = pad A(i-1,j,k) + pad A(i+1,j,k) + pad A(i,j-1,k) + pad A(i,j+1,k) + "
     "pad A(i,j,k-1) + pad A(i,j,k+1) - 6 * A(i,j,k)",
     NULL,
     3,
     {{3, 4, 3}},
     1,
     {0},
     0},
    {"y(i,j,k) = A(i+p,j+q,k+r) * F(p,q,r)",
     "ijkpqr",
     3,
     {{4, 4, 4}, {2, 2, 2}},
     29,
     {0},
     0},
    {"y(n,h,w,f) = A(n,2*h+r,2*w+q,c) * F(r,q,c,f)",
     NULL,
     4,
     {{2, 5, 5, 2}, {3, 3, 2, 2}},
     1,
     {0},
     0},
};
enum { STATEMENTS = sizeof statements / sizeof *statements };

static const char *const formats[5][8] = {
    {NULL},
    {"dense", "svec", "hash", "rle", "lz77", "bytemap", NULL},
    {"dense", "csr", "csc", "dcsr", "coo", "hash", "sd", NULL},
    {"dense", "csf", "coo", "dds", "sds", "sss:2,0,1", NULL},
    {"dense", "csf", "dsss", "coo", "dssd", NULL},
};
static const char *const results[5][5] = {
    {NULL},
    {"dense", "svec", NULL},
    {"dense", "csr", "csc", "coo", NULL},
    {"dense", "csf", "dss:1,0,2", NULL},
    {"dense", "dssd", NULL},
};

static int order_of(const int *shape)
{
    int n = 0;
    while (n < 4 && shape[n])
        n++;
    return n;
}

static uint64_t draw(uint64_t *s)
{
    *s = *s * 6364136223846793005u + 1442695040888963407u;
    return *s >> 33;
}

/* An operand of which about `filled` per cent is stored, in quarters. */
static void operand(fcase *c, const char *name, const char *stored, const int *shape,
                    int filled, uint64_t *seed)
{
    ctensor *t = &c->t[c->count++];
    int64_t all = 1, n = 0;
    snprintf(t->name, sizeof t->name, "%s", name);
    snprintf(t->format.text, sizeof t->format.text, "%s", stored);
    t->type = STC_F64;
    t->fill = ov_real(STC_F64, 0);
    t->order = order_of(shape);
    for (int k = 0; k < t->order; k++)
        all *= t->shape[k] = shape[k];
    t->has_data = true;
    int64_t *coord = malloc((size_t)(all * t->order) * sizeof *coord);
    oval *val = malloc((size_t)all * sizeof *val);
    for (int64_t at = 0; at < all; at++) {
        if ((int)(draw(seed) % 100) >= filled) continue;
        int64_t rest = at;
        for (int k = t->order - 1; k >= 0; k--) {
            coord[n * t->order + k] = rest % t->shape[k];
            rest /= t->shape[k];
        }
        val[n++] = ov_real(STC_F64, (double)(draw(seed) % 17) * 0.25 - 2);
    }
    ctensor_entries(t, n, coord, val);
}

static fcase *build(const statement *s, const char *a, const char *y, const char *loops,
                    uint64_t seed)
{
    fcase *c = calloc(1, sizeof *c);
    ck_assert_ptr_nonnull(c);
    operand(c, "A", a, s->shape[0], seed % 3 ? 30 : 70, &seed);
    if (s->shape[1][0])
        operand(c, "F", seed % 2 ? "dense" : formats[order_of(s->shape[1])][1], s->shape[1],
                80, &seed);
    if (s->shape[2][0])
        operand(c, "B", seed % 2 ? "dense" : "svec", s->shape[2], 50, &seed);
    if (s->old) {
        operand(c, "y", y, s->y, 40, &seed);
    } else {
        ctensor *t = &c->t[c->count++];
        *t = (ctensor){.name = "y", .type = STC_F64, .order = s->order};
        t->fill = ov_real(STC_F64, 0);
        t->shaped = s->y[0] > 0;
        for (int k = 0; k < s->order; k++)
            t->shape[k] = t->shaped ? s->y[k] : 0;
        snprintf(t->format.text, sizeof t->format.text, "%s", y);
    }
    c->t[c->count - 1].declared = true;
    if (strstr(s->text, "any(")) c->t[c->count - 1].type = STC_BOOL;
    snprintf(c->target, sizeof c->target, "y");
    int n = snprintf(c->stmt, sizeof c->stmt, "%s", s->text);
    for (int k = 0; loops && loops[k]; k++)
        n += snprintf(c->stmt + n, sizeof c->stmt - (size_t)n, "%s%c",
                      k ? "," : " with reorder(", loops[k]);
    if (loops) snprintf(c->stmt + n, sizeof c->stmt - (size_t)n, ")");
    return c;
}

static void expect_agreement(fcase *c)
{
    for (int k = 0; k < 2; k++) {
        judged j = {.verdict = CASE_PASS};
        case_judge(c, RUN_SESSION | (k ? RUN_NOSUPER : 0u), &j);
        if (j.verdict == CASE_PASS) continue;
        char *script = case_script(c, j.why);
        ck_abort_msg("%s\n%s", script, k ? "(on base operations)" : "");
    }
    case_free(c);
    free(c);
}

/* The n-th permutation of the letters; false: there are fewer. */
static bool permutation(const char *letters, int n, char *out)
{
    char left[16];
    int count = (int)strlen(letters), all = 1;
    snprintf(left, sizeof left, "%s", letters);
    for (int k = 2; k <= count; k++)
        all *= k;
    if (n >= all) return false;
    out[count] = 0;
    for (int k = 0; k < count; k++) {
        all /= count - k;
        const int pick = n / all;
        n %= all;
        out[k] = left[pick];
        memmove(left + pick, left + pick + 1, strlen(left + pick));
    }
    return true;
}

START_TEST(agrees_with_the_oracle)
{
    const statement *s = &statements[_i];
    const char *const *as = formats[order_of(s->shape[0])];
    char loops[16] = "";
    uint64_t seed = 1;
    for (int f = 0; as[f]; f++)
        for (int y = 0; results[s->order][y]; y++) {
            int n = (f + 3 * y) % s->every; /* others for each pair of formats */
            if (!s->loops)
                expect_agreement(build(s, as[f], results[s->order][y], NULL, seed++));
            for (; s->loops && permutation(s->loops, n, loops); n += s->every)
                expect_agreement(build(s, as[f], results[s->order][y], loops, seed++));
        }
}
END_TEST

/* ---- the work -------------------------------------------------------------------- */

/* How many of a kind (" fibers visited") were visited by the profile of the script's last
 * statement, in all; *ran: how many instructions were executed, if not NULL. */
static long visited(const char *script, const char *kind, bool no_super, long *ran)
{
    stc_machine *m;
    stc_session *s;
    char *text;
    const stc_config config = {.profile = true, .no_super = no_super};
    ck_assert_int_eq(stc_open(&config, &m), STC_OK);
    ck_ok(m, stc_session_open(m, &s));
    const stc_status st = stc_session_exec(s, script, "test");
    ck_assert_msg(st == STC_OK, "%s\n%s", script, stc_error(m)->message);
    ck_ok(m, stc_session_profile(s, &text));
    long sum = 0;
    for (const char *p = text; (p = strstr(p, kind)) != NULL; p++) {
        const char *digits = p;
        while (digits > text && digits[-1] >= '0' && digits[-1] <= '9')
            digits--;
        sum += strtol(digits, NULL, 10);
    }
    for (const char *p = text; ran && (p = strchr(p, '\n')) != NULL;)
        *ran += strtol(++p, NULL, 10);
    stc_text_free(m, text);
    stc_session_close(s);
    stc_close(m);
    return sum;
}

/* What base operations visit; and what other tiers do: those that need no subsections go
 * through fibers. */
static const char subsections[] = " subsections visited", fibers[] = " fibers visited";
static const struct {
    const char *script;
    long visits, seen, fibers;
} work[] = {
    /* fig. 3: offsets 1, 2, 7 and 8 */
    {"tensor C svec f64 [10] = { (2): 1, (8): 1, (9): 1 }\n"
     "tensor B dense f64 [2] = [1, 10]\n"
     "tensor S svec f64\n"
     "S(i) = C(i+j) * B(j) with reorder(i,j)",
     4, 0, 1},
    /* twice as far apart, from the third coordinate on */
    {"tensor C svec f64 [12] = { (2): 1, (5): 1, (11): 1 }\n"
     "tensor B dense f64 [2] = [1, 10]\n"
     "tensor S svec f64\n"
     "S(i) = C(2*i+j+2) * B(j) with reorder(i,j)",
     3, 0, 1},
    /* nothing stored: nothing visited, whatever the extent */
    {"tensor C svec f64 [1000000000000] = {}\n"
     "tensor B dense f64 [3] = 1\n"
     "tensor S svec f64\n"
     "S(i) = C(i+j) * B(j) with reorder(i,j)",
     0, 0, 0},
    /* rows 1 … 3 see the one at 3, then columns 4 and 5 that at 5, in each */
    {"tensor C dcsr f64 [9,9] = { (3,5): 1 }\n"
     "tensor B dense f64 [3,2] = 1\n"
     "tensor S dcsr f64\n"
     "S(i,j) = C(i+p,j+q) * B(p,q) with reorder(i,j,p,q)",
     3 + 3 * 2, 3, 6},
    /* a narrower window each time: 3 offsets of 4 wide, then those of 2 wide */
    {"tensor C svec f64 [20] = { (10): 1 }\n"
     "tensor B dense f64 [3] = 1\n"
     "tensor D dense f64 [2] = 1\n"
     "tensor S svec f64\n"
     "S(i) = C(i+j+k) * B(j) * D(k) with reorder(i,j,k)",
     4 + 1 + 2 + 2 + 1, 0, 1},
    /* backwards: windows that fall as i grows, and coordinates that do */
    {"tensor C svec f64 [10] = { (2): 1, (8): 1, (9): 1 }\n"
     "tensor B dense f64 [2] = 1\n"
     "tensor S svec f64\n"
     "S(i) = C(8+j-i) * B(j) with reorder(i,j)",
     4, 0, 1},
    {"tensor C svec f64 [10] = { (2): 1, (8): 1, (9): 1 }\n"
     "tensor S svec f64\n"
     "S(i) = C(9-i)",
     3, 3, 0},
    /* another operand leaves some of them out */
    {"tensor C svec f64 [10] = { (2): 1, (8): 1, (9): 1 }\n"
     "tensor B dense f64 [2] = 1\n"
     "tensor D svec f64 [9] = { (0): 1, (2): 1, (7): 1 }\n"
     "tensor S svec f64\n"
     "S(i) = C(i+j) * B(j) * D(i) with reorder(i,j)",
     2, 2, 3},
    /* a row of lanes at a time: 40 windows in each of two rows, none of them empty */
    {"tensor C csr f64 [4,42] = random(density=1, seed=3)\n"
     "tensor y dense f64\n"
     "y(i,j) = sum(p in 0:2, q in 0:3: C(2*i+p,j+q)) / 6",
     2 * 40, 0, 4},
};

START_TEST(visits_what_isnt_empty)
{
    const long seen = visited(work[_i].script, subsections, false, NULL);
    ck_assert_int_eq(visited(work[_i].script, subsections, true, NULL), work[_i].visits);
    ck_assert_int_eq(seen, work[_i].seen);
    ck_assert_int_eq(visited(work[_i].script, fibers, false, NULL), work[_i].fibers);
}
END_TEST

/* Half a million coordinates are walked backwards where they lie: a list of them would
 * take 8 MB. */
START_TEST(backwards_without_a_list)
{
    const stc_config config = {.max_memory = 12 << 20};
    stc_machine *m = NULL;
    stc_session *s = NULL;
    ck_assert(!stc_open(&config, &m) && !stc_session_open(m, &s));
    const stc_status st =
        stc_session_exec(s,
                         "tensor C svec f64 [2000000] = random(density=0.25, seed=1)\n"
                         "tensor B svec f64 [2000000] = { (7): 1, (1999999): 1 }\n"
                         "tensor S svec f64\n"
                         "S(i) = C(1999999-i) * B(i)\n",
                         "held");
    ck_assert_msg(!st, "%s", stc_error(m)->message);
    stc_session_close(s);
    stc_close(m);
}
END_TEST

/* … and isn't work either, however often it is gone through from another place on. */
START_TEST(backwards_within_limits)
{
    const stc_config config = {.max_steps = 4000000};
    stc_machine *m = NULL;
    stc_session *s = NULL;
    ck_assert(!stc_open(&config, &m) && !stc_session_open(m, &s));
    const stc_status st = stc_session_exec(
        s,
        "tensor B csf f64 [3000,4,11] = random(density=0.3, seed=3)\n"
        "tensor A coo f64 [3000,4,11]\nA(i,j,k) = B(i,j,k)\n"
        "y(k,i) += sum(p in 0:1, q in 0:1, r in 0:2: A(3*i-p+1,j+2*q+1,3*k+3*r+1))\n",
        "counted");
    ck_assert_msg(!st, "%s", stc_error(m)->message);
    stc_session_close(s);
    stc_close(m);
}
END_TEST

/* Convolutions of random operands, n coordinates a mode. */
static const struct {
    const char *format, *shape, *filter, *statement, *loops, *results[3];
    int order, n, every;
} random_work[] = {
    {"svec", "40", "3", "y(i) = A(i+p) * F(p)", "ip", {"dense", "svec"}, 1, 40, 1},
    {"csr",
     "9,9",
     "2,3",
     "y(i,j) = A(i+p,j+q) * F(p,q)",
     "ijpq",
     {"dense", "csr"},
     2,
     9,
     1},
    {"dcsr",
     "9,9",
     "3,2",
     "y(i,j) = A(2*i+p,j+2*q) * F(p,q)",
     "ijpq",
     {"dense", "csc", "dcsr"},
     2,
     9,
     1},
    {"csf",
     "6,6,6",
     "2,3,2",
     "y(i,j,k) = A(i+p,j+q,k+r) * F(p,q,r)",
     "ijkpqr",
     {"dense", "csf"},
     3,
     6,
     31},
    {"coo",
     "6,6,6",
     "2,2,3",
     "y(i,j,k) = A(i+p,j+q,k+r) * F(p,q,r)",
     "ijkpqr",
     {"dense", "coo"},
     3,
     6,
     31},
};

/* The script, with the entries whose bits are set in `there`. */
static void random_script(int which, const bool *there, const char *result,
                          const char *loops, char *out, size_t size)
{
    const int order = random_work[which].order, n = random_work[which].n;
    int all = 1;
    const char *between = "";
    for (int k = 0; k < order; k++)
        all *= n;
    *out = 0;
    gen_say(out, size, "tensor A %s f64 [%s] = {", random_work[which].format,
            random_work[which].shape);
    for (int e = 0; e < all; e++) {
        if (!there[e]) continue;
        gen_say(out, size, "%s (", between);
        for (int k = 0, part = all / n, rest = e; k < order; k++, part /= n) {
            gen_say(out, size, "%s%d", k ? "," : "", rest / part);
            rest %= part;
        }
        gen_say(out, size, "): 1");
        between = ",";
    }
    gen_say(out, size, " }\ntensor F dense f64 [%s] = 1\ntensor y %s f64\n%s with reorder(",
            random_work[which].filter, result, random_work[which].statement);
    for (int k = 0; loops[k]; k++)
        gen_say(out, size, "%s%c", k ? "," : "", loops[k]);
    gen_say(out, size, ")");
}

/* Base operations visit, in one dimension, the windows that hold an entry; other tiers
 * those as well, or some of them, or fibers instead. */
START_TEST(visits_on_all_tiers)
{
    enum { ROOM = 8192, PLACES = 216 };
    char script[ROOM], loops[16];
    gen g = {.state = 77 + (uint64_t)_i};
    for (int y = 0; y < 3 && random_work[_i].results[y]; y++)
        for (int n = 0; permutation(random_work[_i].loops, n, loops);
             n += random_work[_i].every) {
            bool there[PLACES];
            const int percent = gen_below(&g, 40);
            for (int e = 0; e < PLACES; e++)
                there[e] = gen_chance(&g, percent);
            random_script(_i, there, random_work[_i].results[y], loops, script, ROOM);
            const long base = visited(script, subsections, true, NULL),
                       ours = visited(script, subsections, false, NULL),
                       other = visited(script, fibers, false, NULL);
            ck_assert_msg(ours <= base && (ours + other > 0) >= (base > 0),
                          "%ld visits and %ld fibers, not %ld visits: %s", ours, other,
                          base, script);
            if (strcmp(loops, "ip") != 0) continue;
            long expect = 0, stored = 0;
            for (int i = 0; i < 40; i++) {
                stored += there[i];
                expect += i < 38 && (there[i] || there[i + 1] || there[i + 2]);
            }
            ck_assert_int_eq(base, expect);
            ck_assert_int_le(base, stored * 3 < 40 ? stored * 3 : 40);
        }
}
END_TEST

/* ---- results that are filled again ------------------------------------------------ */

/* Runs of one program on operands with few entries, elsewhere each time: what the last
 * run stored must be gone, though only that is filled again. */
START_TEST(forgets_the_last_run)
{
    enum { N = 5000, RUNS = 6 };
    const int64_t shape[] = {N}, width[] = {3};
    const double f[] = {1, 10, 100};
    static double a[N];
    stc_machine *m;
    stc_program *p;
    stc_tensor *filter, *operand[RUNS];
    const stc_decl decl[] = {{0, "A", "svec", STC_F64, NULL, -1},
                             {0, "F", "dense", STC_F64, NULL, -1},
                             {0, "y", "dense", STC_F64, NULL, -1}};
    ck_assert_int_eq(stc_open(NULL, &m), STC_OK);
    ck_ok(m, stc_compile(m, "y(i) = A(i+p) * F(p)", decl, 3, &p));
    ck_ok(m, stc_tensor_from_dense(m, "dense", STC_F64, 1, width, NULL, f, &filter));
    ck_ok(m, stc_bind(p, "F", filter));
    for (int k = 0; k < RUNS; k++) {
        const int64_t at[] = {0, 700 * k + 3, 700 * k + 4, 64 * k + 65, N - 1};
        const stc_tensor *y;
        const void *values;
        int64_t n;
        memset(a, 0, sizeof a);
        for (int j = k == 4 ? 4 : 0; j < 5; j++)
            a[at[j]] = k + j + 1;
        ck_ok(m, stc_tensor_from_dense(m, "svec", STC_F64, 1, shape, NULL, a, &operand[k]));
        ck_ok(m, stc_bind(p, "A", operand[k]));
        ck_ok(m, stc_run(p));
        ck_ok(m, stc_result(p, "y", &y));
        ck_ok(m, stc_tensor_values(y, &values, &n));
        ck_assert_int_eq(n, N - 2);
        for (int i = 0; i < N - 2; i++)
            ck_assert_msg(((const double *)values)[i] ==
                              a[i] * f[0] + a[i + 1] * f[1] + a[i + 2] * f[2],
                          "run %d, place %d", k, i);
    }
    for (int k = 0; k < RUNS; k++)
        stc_tensor_free(operand[k]);
    stc_tensor_free(filter);
    stc_program_free(p);
    stc_close(m);
}
END_TEST

/* A coordinate that is stored twice has the sum of both, whatever is taken of sums. */
START_TEST(duplicates_are_added)
{
    enum { N = 5, WINDOW = 2 };
    static int64_t pos[] = {0, 3}, crd[] = {1, 1, 3};
    static double vals[] = {1, 2, -5}, all[N] = {[1] = 3, [3] = -5};
    static const struct {
        const char *text;
        double fill;
    } rows[] = {{"y(i) = sum(p in 0:2: A(i+p))", 0},
                {"y(i) = max(p in 0:2: A(i+p))", -INFINITY},
                {"y(i) = min(p in 0:2: A(i+p))", INFINITY},
                {"y(i) = min(p in 0:2: A(i+p) + 1)", INFINITY},
                {"y(i) = max(p in 0:2: A(i+p) + 1)", -INFINITY}};
    const char *const stored = "(i) -> (i : compressed(nonunique, index64))";
    const stc_value fill = {.f = rows[_i / 2].fill};
    const stc_decl decl[] = {{0, "A", stored, STC_F64, &fill, -1},
                             {0, "y", "dense", STC_F64, NULL, -1}};
    stc_machine *m = NULL;
    stc_tensor *t = NULL;
    stc_program *p = NULL;
    const stc_tensor *y;
    const void *got;
    int64_t n;
    ck_assert_int_eq(stc_open(&(stc_config){.no_super = _i % 2}, &m), STC_OK);
    ck_ok(m, stc_tensor_new(m, stored, STC_F64, 1, (const int64_t[]){N}, &fill, &t));
    ck_ok(m, stc_tensor_lend(t, 0, STC_POS, (stc_array){pos, 2, 8, 0}));
    ck_ok(m, stc_tensor_lend(t, 0, STC_CRD, (stc_array){crd, 3, 8, 0}));
    ck_ok(m, stc_tensor_lend_values(t, vals, 3));
    ck_ok(m, stc_compile(m, rows[_i / 2].text, decl, 2, &p));
    ck_ok(m, stc_bind(p, "A", t));
    ck_ok(m, stc_run(p));
    ck_ok(m, stc_result(p, "y", &y));
    ck_ok(m, stc_tensor_values(y, &got, &n));
    ck_assert_int_eq(n, N - WINDOW + 1);
    for (int i = 0; i < n; i++) {
        double expected = fill.f;
        for (int q = i; q < i + WINDOW; q++) {
            const double a = (all[q] == 0 ? fill.f : all[q]) + (_i / 2 > 2);
            expected = fill.f == 0  ? expected + a
                       : fill.f < 0 ? fmax(expected, a)
                                    : fmin(expected, a);
        }
        ck_assert_msg(((const double *)got)[i] == expected, "%s: place %d",
                      rows[_i / 2].text, i);
    }
    stc_tensor_free(t);
    stc_program_free(p);
    stc_close(m);
}
END_TEST

/* Operands with an index in two subscripts: the loops go where their entries are, in an
 * order, or a conversion, that lets them be walked, and not over all coordinates. */
START_TEST(skewed_operands_are_walked)
{
    static const char *const script[] = {
        "tensor A dcsr f64 [1999,1000] = random(density=0.0002, seed=1)\n"
        "tensor B csr f64 [1000,1000] = random(density=0.0002, seed=2)\n"
        "y(j) = B(i,j) + A(j-i+999,i)",
        "format u = (i,j) -> (i : compressed(unordered), j : compressed(unordered))\n"
        "format h = (i,j) -> (j : compressed, i : hashed)\n"
        "tensor A u f64 [2000,1000] = random(density=0.0002, seed=1)\n"
        "tensor B h f64 [1000,1000] = random(density=0.0002, seed=2)\n"
        "tensor E u f64 [4996,1000] = random(density=0.0002, seed=3)\n"
        "y(j,i) = B(i,j) * A(1999-i-j,j) * E(3*i+2*j,j)",
        "tensor A csr f64 [1000,1000] = random(density=0.0002, seed=1)\n"
        "tensor B dcsr f64 [2998,1000] = random(density=0.0002, seed=2)\n"
        "y(i) = A(i,j) * B(2*i+j,j)",
    };
    long ran = 0;
    visited(script[_i], subsections, true, &ran);
    ck_assert_int_gt(ran, 0);
    ck_assert_msg(ran < 60000, "%s\n%ld instructions, of 1000000 places", script[_i], ran);
}
END_TEST

Suite *suite_convolution(void)
{
    Suite *s = suite_create("convolution");
    TCase *t = tcase_create("oracle");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, agrees_with_the_oracle, 0, STATEMENTS);
    suite_add_tcase(s, t);
    t = tcase_create("work");
    tcase_add_test(t, backwards_without_a_list);
    tcase_add_test(t, backwards_within_limits);
    tcase_add_loop_test(t, visits_what_isnt_empty, 0, sizeof work / sizeof *work);
    tcase_add_loop_test(t, visits_on_all_tiers, 0,
                        sizeof random_work / sizeof *random_work);
    tcase_add_loop_test(t, skewed_operands_are_walked, 0, 3);
    tcase_add_test(t, forgets_the_last_run);
    tcase_add_loop_test(t, duplicates_are_added, 0, 10);
    suite_add_tcase(s, t);
    return s;
}
