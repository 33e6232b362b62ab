/* check_streams.c: streams, rows of runs, and runs of pixels: each is converted into each
 * other, whatever repeats in it and wherever that is cut; what statements give whose
 * streams meet operands of other modes; and that either costs runs, not elements.
 */
#include "../src/api/api.h"
#include "../src/lang/lang.h"
#include "check.h"

static const char *const formats[] = {
    "(i,j,k) -> (flat(i,j,k) : rle)",
    "(i,j,k) -> (flat(i,j,k) : lz77)",
    "(i,j,k) -> (i : dense, j : dense, k : rle)",
    "(i,j,k) -> (i : dense, j : dense, k : lz77)",
    "(i,j,k) -> (i : dense, j : rle, k : dense)",
    "(i,j,k) -> (i : dense, j : lz77, k : dense)",
    "(i,j,k) -> (i : rle, j : dense, k : dense)",
    "(i,j,k) -> (i : lz77(index64), j : dense, k : dense)",
    "(i,j,k) -> (flat(i,j) : lz77, k : dense)",
    "(i,j,k) -> (i : dense, flat(j,k) : rle(index64))",
};
enum {
    FORMATS = sizeof formats / sizeof *formats,
    ROWS = 5,
    COLUMNS = 12,
    DEPTH = 3,
    ALL = ROWS * COLUMNS * DEPTH
};
static const int64_t shape[] = {ROWS, COLUMNS, DEPTH};

/* What repeats: runs that end anywhere, rounds of each length up to some rows, rows and
 * pixels that are equal, all, nothing. */
enum { PATTERNS = 10 };
static double at(int pattern, int n)
{
    static const int round[] = {2, 3, 5, 6, 36, 50};
    if (pattern < 6) return 1 + (n + n / 97) % round[pattern] % 7 + n / 70;
    if (pattern == 6) return n / 11;
    if (pattern == 7) return n / DEPTH % 4 == 1 ? n % DEPTH : 8;
    return pattern == 8 ? 4 : n;
}

static heap h;
static stc_machine *m;

static void setup(void)
{
    m = machine_open(&h, false);
}

static void teardown(void)
{
    machine_shut(m, &h);
}

static tensor *sample(const format *f, int pattern)
{
    tensor *t;
    entries e;
    ctx *cx = &m->cx;
    ck_ctx(cx, tensor_new(cx, f, STC_F64, shape, (value){.f64 = 0}, &t));
    entries_init(&e, cx, 3, STC_F64);
    for (int n = 0; n < ALL; n++) {
        const int64_t c[] = {n / (COLUMNS * DEPTH), n / DEPTH % COLUMNS, n % DEPTH};
        ck_ctx(cx, entries_push(&e, c, (value){.f64 = at(pattern, n)}));
    }
    ck_ctx(cx, tensor_pack(t, &e));
    entries_free(&e);
    return t;
}

typedef struct pair {
    tensor *from;
    format to;
    int pattern, names[2];
} pair;

static stc_status convert(ctx *cx, void *what)
{
    const pair *p = what;
    tensor *t;
    (void)cx;
    if (tensor_convert(p->from, &p->to, STC_F64, (value){.f64 = 0}, &t))
        return p->from->cx->diag.status;
    const stc_status st = tensor_check_afresh(t);
    for (int n = 0; n < ALL && !st; n++) {
        const int64_t c[] = {n / (COLUMNS * DEPTH), n / DEPTH % COLUMNS, n % DEPTH};
        ck_assert_msg(tensor_get(t, c).f64 == at(p->pattern, n), "%s to %s, pattern %d: %d",
                      formats[p->names[0]], formats[p->names[1]], p->pattern, n);
    }
    tensor_free(t);
    return st;
}

START_TEST(every_pair)
{
    const int from = _i / PATTERNS, pattern = _i % PATTERNS;
    pair p = {.pattern = pattern, .names = {from}};
    ck_ctx(&m->cx, format_parse(&m->cx, NULL, formats[from], 3, &p.to));
    p.from = sample(&p.to, pattern);
    for (p.names[1] = 0; p.names[1] < FORMATS; p.names[1]++) {
        ck_ctx(&m->cx, format_parse(&m->cx, NULL, formats[p.names[1]], 3, &p.to));
        each_shortage(&m->cx, &h, convert, &p);
    }
    tensor_free(p.from);
}
END_TEST

/* ---- statements ---------------------------------------------------------------------- */

static const char *const kinds[] = {"rle", "lz77"};

/* Streams F [4,9,3], M and S [4,9], and the same dense in small letters; y and z are what
 * a statement makes of either. */
static const char *const declared =
    "format three = (i,j,k) -> (flat(i,j,k) : %s)\n"
    "format two = (i,j) -> (flat(i,j) : %s)\n"
    "format pixels = (i,j,k) -> (i : dense, j : %s, k : dense)\n"
    "tensor f dense i64 [4,9,3]\n"
    "tensor s dense i64 [4,9]\n"
    "tensor v dense i64 [9] = [1,1,1,4,4,2,2,2,9]\n"
    "tensor A csr i64 [4,9] = random(density=0.4, seed=3)\n"
    "tensor u dense i64 [3] = [7,7,8]\n"
    "f(i,j,k) = (i * 27 + j * 3 + k) // 8 + (k - 1) * (i == 2)\n"
    "s(i,j) = (i * 9 + j) // 5 %% 4 + (j %% 2) * (i == 3)\n"
    "tensor F three i64\nF(i,j,k) = f(i,j,k)\n"
    "tensor S two i64\nS(i,j) = s(i,j)\n"
    "tensor P pixels i64\nP(i,j,k) = f(i,j,k) %% 5\n"
    "tensor Y three i64\ntensor Z two i64\ntensor C csr i64\n";

/* F and S are written f and s for the dense ones. */
static const char *const statements[] = {
    "Y(i,j,k) = F(i,j,k) * (S(i,j) == 1) + S(i,j) * (S(i,j) != 1)",
    "Y(i,j,k) = F(i,j,k) + v(j)",
    "Y(i,j,k) = F(i,j,k) * P(i,j,k)",
    "Y(i,j,k) = select(S(i,j) > 1, F(i,j,k), u(k))",
    "Y(i,j,k) = F(i,j,k) + F(3-i,j,k)",
    "Y(i,j,k) = F(i,j,k) * i + k",
    "Y(i,j,k) = F(i,j,k) where S(i,j) > 1",
    "Z(i,j) = S(i,j) * v(j)",
    "Z(i,j) = S(i,j) * A(i,j)",
    "Z(i,j) = A(i,j)",
    "Z(i,j) = S(i,j) + pad S(i,j-1)",
    "Z(i,j) = S(i(::2),j(1:)) + S(i(1:3),j(1:))",
    "Z(i,j) = sum(k: F(i,j,k)) - S(i,j)",
    "Z(i,k) = F(i,j,k) * v(j)",
    "Z(j,i) = S(i,j) + v(j)",
    "Z(i,j) = S(i,v(j) % 4)",
    "C(i,j) = A(i,j) * S(i,j)",
    "Z(j,k) = S(i,j) * S(i,k)",
    "Z(i,j) = S(i,j) * v(j) with split(j,j0,j1,4)",
    "Z(i,j) = S(i,j) * v(j) with reorder(j,i)",
    "Z(i,j) = S(i,j) * v(j) with parallelize(i)",
};
enum { STATEMENTS = sizeof statements / sizeof *statements };

START_TEST(as_dense_ones)
{
    char script[4096];
    const char *text = statements[_i / 2], *kind = kinds[_i % 2];
    int n = snprintf(script, sizeof script, declared, kind, kind, kind);
    n += snprintf(script + n, sizeof script - (size_t)n, "%s\n", text);
    n += snprintf(script + n, sizeof script - (size_t)n, "tensor d dense i64\n");
    for (const char *c = text; *c && strncmp(c, " with", 5); c++) {
        const bool stream = c[1] == '(' && strchr("FSYZC", *c);
        script[n++] = (char)(!stream ? *c : strchr("YZC", *c) ? 'd' : *c - 'A' + 'a');
    }
    snprintf(script + n, sizeof script - (size_t)n, "\nb = sum(%s: %c(%s) != d(%s))\n",
             *text == 'Y' ? "i,j,k" : "i,j", *text, *text == 'Y' ? "i,j,k" : "i,j",
             *text == 'Y' ? "i,j,k" : "i,j");
    EXPECT(script, "b", 0);
}
END_TEST

/* 40,000 elements of eight runs, met by a row of pixels, a column, and themselves. */
START_TEST(by_runs)
{
    static const char *const texts[] = {
        "tensor Y three u8 [4,n,3]\nY(i,j,k) = F(i,j,k) * !M(i,j)\n",
        "tensor Z two u8 [4,n]\nZ(i,j) = S(i,j) * w(i)\n",
        "tensor R rle u8 [4,n]\nR(i,j) = S(i,j)\n",
        "tensor Z two u8 [4,n]\nZ(i,j) = R(i,j)\n",
    };
    char script[2048];
    for (int k = 0; k < 2; k++) {
        const int n = snprintf(script, sizeof script,
                               "n = 10000\n"
                               "format three = (i,j,k) -> (flat(i,j,k) : %s)\n"
                               "format two = (i,j) -> (flat(i,j) : %s)\n"
                               "tensor F three u8 [4,n,3] = 3\n"
                               "tensor S two u8 [4,n] = 5\n"
                               "tensor M two bool [4,n] = 1\n"
                               "tensor R %s u8 [4,n] = 5\n"
                               "tensor w dense u8 [4] = 2\n",
                               kinds[k], kinds[k], kinds[k]);
        for (int t = 0; t < 4; t++) {
            snprintf(script + n, sizeof script - (size_t)n, "%s", texts[t]);
            expect_within(script, 1000);
        }
    }
}
END_TEST

Suite *suite_streams(void)
{
    Suite *s = suite_create("streams");
    TCase *c = tcase_create("streams");
    tcase_set_timeout(c, 60);
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, every_pair, 0, FORMATS * PATTERNS);
    tcase_add_loop_test(c, as_dense_ones, 0, 2 * STATEMENTS);
    tcase_add_test(c, by_runs);
    suite_add_tcase(s, c);
    return s;
}
