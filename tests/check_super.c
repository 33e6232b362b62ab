/* check_super.c: every row of super.def is run by a statement that is written for it,
 * which the machine's tally of rows says, and gives what base operations give. */
#include "../vm/fn/functions.h"
#include "../vm/super/super.h"
#include "../vm/super/super_ranks.h"
#include "check.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is stored: a third, at odds in A and B; an element or two a fiber; the same
 * places in both. */
typedef enum picture { THIRDS, FEW, ALIKE } picture;

/* What a kernel is written for, and what its loops tell apart: P and T in the text are
 * the body's functions, `#` in a format is where an index's width goes. */
static const struct statement {
    const char *kernel, *text, *a, *b, *r;
    picture stored;
} statements[] = {
    {"dot_fiber", "R(i) = P(j: T(A(i,j), B(j)))", "(i,j) -> (i : dense, j : compressed#)",
     "dense", "dense", THIRDS},
    {"dot_fiber", "R(i) = P(j: T(A(i,j), B(j)))", "(i,j) -> (i : dense, j : compressed#)",
     "dense", "dense", FEW},
    {"dot_fiber", "R(i) = P(j: T(A(i,j), B(j)))", "(i,j) -> (i : dense, j : compressed#)",
     "hash", "dense", THIRDS},
    {"dot_fiber", "R(i) = P(j: T(T(A(i,j), B(j)), B(j)))",
     "(i,j) -> (i : dense, j : compressed#)", "dense", "dense", THIRDS},
    {"dot_fiber", "R(i) = P(j: T(T(B(i), A(i,j)), B(j)))",
     "(i,j) -> (i : dense, j : compressed#)", "dense", "dense", THIRDS},
    {"dot_fiber", "R(i) = P(j: T(T(B(i), A(i,j)), B(j)))",
     "(i,j) -> (i : dense, j : compressed#)", "hash", "dense", FEW},
    {"fold_chosen", "R(i) = P(j: B(j) where A(i,j))",
     "(i,j) -> (i : dense, j : compressed#)", "dense", "dense", THIRDS},
    {"fold_chosen", "R(i) = P(j: B(i,j) where A(i,j))",
     "(i,j) -> (i : compressed#, j : compressed#)", "dense", "dense", FEW},
    {"dot_range", "R(i) = P(j: T(A(i,j), B(j)))", "dense", "dense", "dense", THIRDS},
    {"dot_merge", "R(i) = P(j: T(A(i,j), B(i,j)))", "(i,j) -> (i : dense, j : compressed#)",
     "(i,j) -> (i : dense, j : compressed#)", "dense", THIRDS},
    {"dot_merge", "R(i) = P(j: T(A(i,j), B(i,j)))", "(i,j) -> (i : dense, j : compressed#)",
     "(i,j) -> (i : dense, j : compressed#)", "dense", FEW},
    {"dot_merge", "R(i) = P(j: T(A(i,j), B(i,j)))", "(i,j) -> (i : dense, j : compressed#)",
     "(i,j) -> (i : dense, j : compressed#)", "dense", ALIKE},
    {"scatter_fiber", "R(i) = P(j: T(A(i,j), B(j)))",
     "(i,j) -> (j : dense, i : compressed#)", "dense", "dense", THIRDS},
    {"dot_into", "R(i) = P(j: T(A(i,j), B(j)))",
     "(i,j) -> (#i : dense, i : dense, j : singleton#)", "dense", "dense", THIRDS},
    {"dot_into", "R(i) = P(j: T(A(i,j), B(i)))",
     "(i,j) -> (#i : dense, i : dense, j : singleton#)", "dense", "dense", THIRDS},
    {"merge_fibers", "R(i,j) = T(A(i,j), B(i,j))", "(i,j) -> (i : dense, j : compressed#)",
     "(i,j) -> (i : dense, j : compressed#)", "(i,j) -> (i : dense, j : compressed#)",
     THIRDS},
    {"merge_fibers", "R(i,j) = T(A(i,j), B(i,j))", "(i,j) -> (i : dense, j : compressed#)",
     "(i,j) -> (i : dense, j : compressed#)", "(i,j) -> (i : dense, j : compressed#)",
     ALIKE},
};
enum { STATEMENTS = sizeof statements / sizeof *statements };

static const struct row {
    const char *name, *kernel, *body;
    stc_type type;
    int index;
} rows[] = {
#define SUPER(kernel, TYPE, body, index)                                                   \
    {#kernel " " #TYPE " " #body ", " #index " bits", #kernel, #body, STC_##TYPE, index},
#include "../vm/super/super.def"
};
enum { ROWS = sizeof rows / sizeof *rows };

#define FN_NONE -1
static const struct body {
    const char *name;
    int plus, times;
} bodies[] = {
#define BODY(name, PLUS, TIMES) {#name, PLUS, TIMES},
#include "../vm/super/super.def"
};

static const struct body *body_of(const char *name)
{
    for (size_t k = 0; k < sizeof bodies / sizeof *bodies; k++)
        if (!strcmp(bodies[k].name, name)) return &bodies[k];
    ck_abort_msg("no body %s", name);
}

/* The text with the body's functions in it. */
static void text_of(const struct statement *s, const struct body *b, char *out)
{
    for (const char *p = s->text; *p; p++) {
        const int fn = *p == 'P' ? b->plus : *p == 'T' ? b->times : FN_NONE;
        if (fn < 0) {
            *out++ = *p;
            continue;
        }
        out += sprintf(out, "%s", fn == FN_ADD && *p == 'P' ? "sum" : fn_at(fn)->name);
    }
    *out = 0;
}

static void format_of(const char *text, int index, char *out)
{
    for (; *text; text++)
        if (*text == '#' && text[1] != 'i') {
            out += sprintf(out, "%s", index == 64 ? "(index64)" : "");
        } else {
            *out++ = *text;
        }
    *out = 0;
}

/* What isn't stored leaves a reduction alone. */
static stc_value fill_of(const struct body *b, stc_type t)
{
    stc_value v = {0};
    if (b->plus != FN_MIN && b->plus != FN_MAX) return v;
    if (type_class(t) == CLASS_F64 || type_class(t) == CLASS_F32) {
        v.f = b->plus == FN_MIN ? INFINITY : -INFINITY;
    } else if (type_class(t) != CLASS_U64 || b->plus == FN_MIN) {
        v.i = b->plus == FN_MIN ? INT64_MAX : INT64_MIN;
    }
    return v;
}

enum { SIDE = 43 }; /* no multiple of what a vector holds */

/* In an order of magnitude that every type has; thirds: more in some rows, nothing in
 * others; coordinates mode by mode. */
static stc_tensor *operand(stc_machine *m, const char *how, picture stored, stc_type t,
                           int order, const stc_value *fill, int seed)
{
    const int64_t shape[] = {SIDE, SIDE};
    const int64_t n = order == 1 ? SIDE : SIDE * SIDE;
    int64_t *coords = calloc((size_t)(n * order), sizeof *coords), count = 0;
    char *vals = calloc((size_t)n, sizeof(value));
    const bool all = !strcmp(how, "dense");
    for (int64_t k = 0; k < n; k++) {
        const uint64_t dice = (uint64_t)(k + seed) * 0x9e3779b97f4a7c15u >> 33;
        const uint64_t spot = (uint64_t)k * 0x9e3779b97f4a7c15u >> 33;
        const int64_t row = k / SIDE;
        const uint64_t every = stored == FEW ? 29 : row % 4 ? 3 : 2;
        if (!all && (row % 8 == 5 || (stored == ALIKE ? spot : dice) % every)) continue;
        coords[count] = order == 1 ? k : row;
        coords[n * (order - 1) + count] = k % SIDE;
        value v = {.i64 = (int64_t)(dice / 3 % 5)};
        v = class_convert(type_class(t), CLASS_I64, v);
        type_store(t, vals, count++, v);
    }
    memmove(coords + count * (order - 1), coords + n * (order - 1),
            (size_t)count * sizeof *coords);
    stc_tensor *out = NULL;
    ck_ok(m,
          stc_tensor_from_coords(m, how, t, order, shape, fill, count, coords, vals, &out));
    free(coords);
    free(vals);
    return out;
}

typedef struct made {
    double *vals;
    int64_t n;
    bool ran; /* the row */
} made;

static made run_row(const struct row *r, const struct statement *s, bool no_super)
{
    heap h;
    char text[100], a[80], b[80], to[80], *profile;
    const struct body *body = body_of(r->body);
    const stc_value fill = fill_of(body, r->type);
    stc_machine *m = machine_open(&h, no_super);
    machine_profile_runs(m);
    text_of(s, body, text);
    format_of(s->a, r->index, a);
    format_of(s->b, r->index, b);
    format_of(s->r, r->index, to);
    /* a sum of bool goes into no bool */
    const bool adds = r->type == STC_BOOL && body->plus == FN_ADD;
    const stc_type result = adds ? STC_I64 : r->type;
    const bool chooses = !strcmp(r->kernel, "fold_chosen");
    const stc_type chosen = chooses ? STC_BOOL : r->type;
    const stc_value none = chooses ? (stc_value){0} : fill;
    const stc_decl d[] = {{0, "A", a, chosen, &none, -1},
                          {0, "B", b, r->type, &fill, -1},
                          {0, "R", to, result, &fill, -1}};
    stc_program *p;
    const stc_status st = stc_compile(m, text, d, 3, &p);
    ck_assert_msg(st == STC_OK, "%s: %s", text, stc_error(m)->message);
    stc_tensor *ta = operand(m, a, s->stored, chosen, 2, &none, 1), *dense;
    stc_tensor *tb =
        operand(m, b, s->stored, r->type,
                strstr(text, " B(i,") || strstr(text, "B(j,") ? 2 : 1, &fill, 7);
    const stc_tensor *got;
    ck_ok(m, stc_bind(p, "A", ta));
    ck_ok(m, stc_bind(p, "B", tb));
    ck_ok(m, stc_run(p));
    ck_ok(m, stc_result(p, "R", &got));
    ck_ok(m, stc_tensor_convert(got, "dense", STC_F64, &dense));
    ck_ok(m, stc_program_profile(p, &profile));
    made out = {.n = stc_tensor_order(got) == 1 ? SIDE : SIDE * SIDE,
                .ran = profile_has_row(profile, r->name)};
    out.vals = calloc((size_t)out.n, sizeof *out.vals);
    ck_ok(m, stc_tensor_to_dense(dense, out.vals));
    stc_text_free(m, profile);
    stc_tensor_free(dense);
    stc_tensor_free(ta);
    stc_tensor_free(tb);
    stc_program_free(p);
    machine_shut(m, &h);
    return out;
}

static void row_runs(const struct row *r, const struct statement *s)
{
    made fast = run_row(r, s, false), base = run_row(r, s, true);
    ck_assert_msg(fast.ran && !base.ran, "%s: not run by %s", r->name, s->text);
    for (int64_t k = 0; k < fast.n; k++)
        ck_assert_msg(class_equal(CLASS_F64, (value){.f64 = fast.vals[k]},
                                  (value){.f64 = base.vals[k]}),
                      "%s: element %lld is %g, not %g", r->name, (long long)k, fast.vals[k],
                      base.vals[k]);
    free(fast.vals);
    free(base.vals);
}

START_TEST(each_row)
{
    int n = 0;
    for (int k = 0; k < STATEMENTS; k++)
        if (strcmp(statements[k].kernel, rows[_i].kernel) == 0 && ++n)
            row_runs(&rows[_i], &statements[k]);
    ck_assert_msg(n > 0, "no statement for %s", rows[_i].kernel);
}
END_TEST

/* Sums of one type stored as another: no row writes elements of its own type. */
START_TEST(narrow_result)
{
    EXPECT("tensor A csr i64 [2,3]\nA(i,j) = i + j\ntensor B csr i64 [2,3]\n"
           "B(i,j) = 70000 * i\ntensor R csr i16\nR(i,j) = A(i,j) + B(i,j)",
           "R", 0, 1, 2, 4465, 4466, 4467);
}
END_TEST

/* Truth values are counted, and may be multiplied by what is none. */
START_TEST(truth_by_numbers)
{
    EXPECT("tensor A csr bool [2,3] = { (0,0): true, (0,2): true }\n"
           "tensor x dense i64 [3] = { (0): 4, (2): 5 }\ntensor y dense i64\n"
           "y(i) = 3 * A(i,j) + 1\ntensor z dense i64\nz(i) = A(i,j) * x(j)",
           "y", 7, 1);
}
END_TEST

/* What is the same for a lane's terms doesn't count where there are none: no 0 * inf. */
START_TEST(scaled_by_infinity)
{
    char text[500];
    snprintf(text, sizeof text,
             "tensor A csr f64 [90,90]\nA(i,j) = (i %% 3 == 0 && j < i) * (j + 1)\n"
             "compact A\ntensor B csr f64 [90,90]\nB(i,j) = j < 30\ncompact B\n"
             "tensor x %s f64 [90]\nx(j) = 2\nw(i in 0:90) = %s\n"
             "y(i) = sum(j: w(i) * A(i,j) * x(j))\nz(i) = sum(j: w(i) * A(i,j) * B(i,j))\n"
             "tensor c dense f64 [4]\nc(0) = y(3)\nc(1) = y(4)\nc(2) = z(3)\nc(3) = z(4)",
             _i % 2 ? "hash" : "dense", _i / 2 ? "inf" : "0.5 * i");
    if (_i / 2)
        EXPECT(text, "c", INFINITY, 0, INFINITY, 0);
    else
        EXPECT(text, "c", 18, 0, 9, 0);
}
END_TEST

enum { MOST = 40 };

/* Ascending and unique, often up to the greatest that there is. */
static int64_t some_coordinates(uint64_t *seed, int32_t *to)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    const int64_t n = 1 + (int64_t)(*seed >> 33) % MOST;
    int64_t at = INT32_MAX;
    for (int64_t k = n - 1; k >= 0; k--) {
        to[k] = (int32_t)at;
        *seed = *seed * 6364136223846793005u + 1442695040888963407u;
        at -= 1 + (int64_t)(*seed >> 33) % 3;
    }
    return n;
}

/* Where ranks put the coordinates of two fibers, a merge has the same; nothing is
 * read beyond the room, which ends with the allocation. */
START_TEST(ranks_are_those_of_a_merge)
{
    if (!HAS_WIDE) return;
    uint64_t seed = (uint64_t)_i + 1;
    int32_t x[2][MOST], merged[2 * MOST], placed[2 * MOST];
    const int64_t na = some_coordinates(&seed, x[0]), nb = some_coordinates(&seed, x[1]);
    int32_t *a = malloc((size_t)na * sizeof *a), *b = malloc((size_t)nb * sizeof *b);
    memcpy(a, x[0], (size_t)na * sizeof *a);
    memcpy(b, x[1], (size_t)nb * sizeof *b);
    int64_t p = 0, q = 0, z = 0, n = 0;
    while (p < na && q < nb) {
        ranks r;
        ranks_find(a + p, na - p, na - p, b + q, nb - q, nb - q, &r);
        ck_assert(r.na + r.nb > 0);
        for (int j = 0; j < r.na; j++)
            placed[n + r.at_a[j]] = a[p + j];
        for (int j = 0; j < r.nb; j++) {
            const bool both = r.same >> j & 1;
            ck_assert(!both || a[p + r.below[j]] == b[q + j]);
            placed[n + r.at_b[j]] = b[q + j];
        }
        n += r.n, p += r.na, q += r.nb;
    }
    const int64_t end_a = p, end_b = q;
    for (p = q = 0; p < end_a || q < end_b; z++) {
        const int64_t i = p < end_a ? a[p] : INT64_MAX, k = q < end_b ? b[q] : INT64_MAX;
        merged[z] = (int32_t)(i < k ? i : k);
        p += i <= k, q += k <= i;
    }
    ck_assert_int_eq(n, z);
    ck_assert(!memcmp(placed, merged, (size_t)n * sizeof *merged));
    free(a);
    free(b);
}
END_TEST

/* Rows with one pattern in both operands, some of them empty. */
START_TEST(alike_rows)
{
    EXPECT("tensor A csr [5,4]\nA(1,1) = 3\nA(1,3) = 4\nA(3,0) = 5\nA(4,2) = 6\n"
           "tensor B csr\nB(i,j) = A(i,j) * 10\ntensor R csr\nR(i,j) = A(i,j) + B(i,j)",
           "R", 0, 0, 0, 0, 0, 33, 0, 44, 0, 0, 0, 0, 55, 0, 0, 0, 0, 0, 66, 0);
}
END_TEST

/* Products of a 3-tensor, most of whose fibers have an element or two, with rows of any
 * width: added up along slices, along fibers, and with a scalar for each fiber. */
enum { T_I = 7, T_K = 9, T_L = 11 };
static const int widths[] = {1, 3, 7, 8, 19, 37};
static const char *const row_types[] = {"f64", "f32", "i64"};
static const struct {
    const char *text, *format;
    bool by_fiber, scaled;
} row_sums[] = {
    {"R(i,j) = A(i,k,l) * C(k,j) * D(l,j)", "dense", false, false},
    {"R(i,j) = D(l,j) * A(i,k,l) * C(k,j)", "dense", false, false},
    {"R(i,k,j) = A(i,k,l) * D(l,j)",
     "(i,k,j) -> (i : compressed, k : compressed, j : dense)", true, false},
    {"R(i,j) = x(k) * A(i,k,l) * D(l,j)", "dense", false, true},
};
enum {
    WIDTHS = sizeof widths / sizeof *widths,
    ROW_TYPES = sizeof row_types / sizeof *row_types,
    ROW_SUMS = sizeof row_sums / sizeof *row_sums
};

/* What is stored at a place of the 3-tensor; 0: nothing. Some slices are long. */
static int stored_at(int i, int k, int l)
{
    const uint32_t dice = (uint32_t)(i * 131 + k * 31 + l * 7 + 5) * 2654435761u >> 20;
    return dice % (i == 3 ? 2 : 8) ? 0 : 1 + (int)(dice % 5);
}

START_TEST(short_fibers)
{
    const int n = widths[_i % WIDTHS], which = _i / WIDTHS / ROW_TYPES;
    const char *type = row_types[_i / WIDTHS % ROW_TYPES];
    static char script[1 << 14];
    static double want[T_I * T_K * 37];
    char *at = script;
    memset(want, 0, sizeof want);
    at += sprintf(at,
                  "tensor C dense %s [%d,%d]\nC(k,j) = k + j\ntensor D dense %s [%d,%d]\n"
                  "D(l,j) = 2 * l - j\ntensor x dense %s [%d]\nx(k) = 1 + k\n"
                  "tensor A csf %s [%d,%d,%d]\n",
                  type, T_K, n, type, T_L, n, type, T_K, type, T_I, T_K, T_L);
    for (int e = 0; e < T_I * T_K * T_L; e++) {
        const int i = e / (T_K * T_L), k = e / T_L % T_K, l = e % T_L;
        const int v = stored_at(i, k, l);
        if (v == 0) continue;
        at += sprintf(at, "A(%d,%d,%d) = %d\n", i, k, l, v);
        for (int j = 0; j < n; j++) {
            const int by = row_sums[which].by_fiber ? 1
                           : row_sums[which].scaled ? 1 + k
                                                    : k + j;
            want[(row_sums[which].by_fiber ? i * T_K + k : i) * n + j] +=
                v * by * (2 * l - j);
        }
    }
    sprintf(at, "tensor R %s %s\n%s", row_sums[which].format, type, row_sums[which].text);
    expect_dense(script, "R", want, (row_sums[which].by_fiber ? T_I * T_K : T_I) * n);
}
END_TEST

/* Fibers of an element or two: with a vector, and with those of another tensor, with
 * which they seldom share one. */
START_TEST(few_elements)
{
    static const char *const types[] = {"f64", "f32", "i64", "i32"};
    static char script[1 << 14];
    static double products[T_I * T_K], all;
    char *at = script, *b, other[1 << 13];
    memset(products, 0, sizeof products);
    all = 0;
    b = other + sprintf(other, "tensor B csf %s [%d,%d,%d]\n", types[_i], T_I, T_K, T_L);
    at += sprintf(at, "tensor y dense %s [%d]\ny(l) = 3 - l\ntensor A csf %s [%d,%d,%d]\n",
                  types[_i], T_L, types[_i], T_I, T_K, T_L);
    for (int e = 0; e < T_I * T_K * T_L; e++) {
        const int i = e / (T_K * T_L), k = e / T_L % T_K, l = e % T_L;
        const int v = stored_at(i + 10, k, l),
                  w = v && e % 4 == 0 ? 2 : stored_at(i + 20, k, l);
        if (v) at += sprintf(at, "A(%d,%d,%d) = %d\n", i, k, l, v);
        if (w) b += sprintf(b, "B(%d,%d,%d) = %d\n", i, k, l, w);
        products[i * T_K + k] += v * (3 - l);
        all += v * w;
    }
    ck_assert(all > 0);
    sprintf(at, "%stensor R dense %s\nR(i,k) = A(i,k,l) * y(l)\n%s", other, types[_i],
            "s = A(i,k,l) * B(i,k,l)");
    expect_dense(script, "R", products, T_I * T_K);
    expect_dense(script, "s", &all, 1);
}
END_TEST

/* Rows of 0, 1, ..., 39 elements: their sums, and with a vector. */
enum { LONG_ROWS = 40 };
static const char *const long_types[] = {"bool", "i8",  "u8",  "i16", "u16", "i32",
                                         "u32",  "i64", "u64", "f32", "f64", "c128"};

START_TEST(long_rows)
{
    static char script[1 << 10];
    static double count[LONG_ROWS], twice[LONG_ROWS];
    const char *type = long_types[_i];
    for (int i = 0; i < LONG_ROWS; i++) {
        count[i] = i;
        twice[i] = 2 * i;
    }
    sprintf(script,
            "tensor A csr %s [%d,%d]\nA(i,j) = j < i\ncompact A\ntensor x dense i32 [%d]\n"
            "x(j) = 2\ntensor n dense\nn(i) = sum(j: A(i,j))\ntensor d dense\n"
            "d(i) = A(i,j) * x(j)",
            type, LONG_ROWS, LONG_ROWS, LONG_ROWS);
    expect_dense(script, "n", count, LONG_ROWS);
    expect_dense(script, "d", twice, LONG_ROWS);
}
END_TEST

/* Rows of none to three elements and a vector of 300, or rows of 300 and a vector of
 * three: what both have, on either side, in coordinates of 32 and of 64 bits. */
START_TEST(fibers_of_unlike_lengths)
{
    enum { N = 40, BROAD = 600 };
    static char script[1 << 11];
    static double y[N], z[N], c[N * BROAD];
    const bool wide = _i & 1, turned = _i & 2;
    const char *const row = wide ? "(i,j) -> (i : dense, j : compressed(index64))" : "csr";
    const char *const list = wide ? "(i) -> (i : compressed(index64))" : "svec";
    memset(c, 0, sizeof c);
    for (int i = 0; i < N; i++) {
        y[i] = z[i] = 0;
        for (int j = 0; j < BROAD; j++) {
            const int a = j % 199 == i ? j + 1 : 0, x = j % 2 ? j : 0;
            const int l = (i + j) % 2 ? j + 1 : 0, s = j % 250 == 7 ? j : 0;
            y[i] += a * x;
            z[i] += l * s;
            c[i * BROAD + j] = a * x;
        }
    }
    sprintf(script,
            "tensor A %s f64 [%d,%d]\nA(i,j) = (j %% 199 == i) * (j + 1)\ncompact A\n"
            "tensor x %s f64 [%d]\nx(j) = (j %% 2) * j\ncompact x\n"
            "tensor L %s f64 [%d,%d]\nL(i,j) = ((i + j) %% 2) * (j + 1)\ncompact L\n"
            "tensor s %s f64 [%d]\ns(j) = (j %% 250 == 7) * j\ncompact s\n"
            "tensor y dense\ny(i) = %s\ntensor z dense\nz(i) = %s\n"
            "tensor C csr\nC(i,j) = %s\ntensor c dense\nc(i,j) = C(i,j)\n",
            row, N, BROAD, list, BROAD, row, N, BROAD, list, BROAD,
            turned ? "x(j) * A(i,j)" : "A(i,j) * x(j)",
            turned ? "s(j) * L(i,j)" : "L(i,j) * s(j)",
            turned ? "x(j) * A(i,j)" : "A(i,j) * x(j)");
    expect_dense(script, "y", y, N);
    expect_dense(script, "z", z, N);
    expect_dense(script, "c", c, N * BROAD);
}
END_TEST

/* Short rows of a product whose columns are near each other, or just not: each of twelve
 * products meets others, at the left end of many columns, at their right one, and within.
 */
START_TEST(near_columns)
{
    enum { ROWS_N = 9, K = 6, EACH = 4, BROAD = 40, ALL = 1 << 21 };
    static const int spans[] = {1, 4, 11, 12, 13, BROAD};
    static const char *const types[] = {"f64", "f32", "i32", "i64"};
    static char script[1 << 13];
    static double c[ROWS_N * BROAD], d[ROWS_N][K], e[K][BROAD];
    const int width = spans[_i / 12], begin = _i / 4 % 3 * ((ALL - BROAD) / 2);
    const char *const type = types[_i % 4];
    char *at = script;
    memset(c, 0, sizeof c);
    memset(d, 0, sizeof d);
    memset(e, 0, sizeof e);
    at += sprintf(at, "tensor D csr %s [%d,%d] = { (0,0): 1", type, ROWS_N, K);
    d[0][0] = 1;
    for (int i = 1; i < ROWS_N; i++)
        for (int k = i % 2; k < K; k += 2) {
            d[i][k] = i + k;
            at += sprintf(at, ", (%d,%d): %d", i, k, i + k);
        }
    at += sprintf(at, " }\ntensor E csr %s [%d,%d] = { ", type, K, ALL);
    for (int k = 0; k < K; k++)
        for (int q = 0; q < EACH && q < width; q++) {
            const int j = (k * 7 + q * (width > 8 ? width / EACH : 1)) % width;
            if (e[k][j] != 0) continue;
            e[k][j] = k * 3 + q + 1;
            at += sprintf(at, "%s(%d,%d): %d", k + q ? ", " : "", k, begin + j,
                          k * 3 + q + 1);
        }
    for (int i = 0; i < ROWS_N; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < BROAD; j++)
                c[i * BROAD + j] += d[i][k] * e[k][j];
    sprintf(at,
            " }\ntensor C csr %s\nC(i,j) = D(i,k) * E(k,j)\ntensor at dense i64 "
            "[%d]\nat(j) = j + %d\n"
            "tensor c dense\nc(i,j) = C(i,at(j))\n",
            type, BROAD, begin);
    expect_dense(script, "c", c, ROWS_N * BROAD);
}
END_TEST

/* Bounds of 64 bits over coordinates of 32, as results of more entries than 2^31 have
 * them: kernels run all the same, whether the lanes' fibers follow each other, are those of
 * some rows, or one for all lanes.
 */
static const struct {
    const char *text, *row;
} wide_statements[] = {
    {"tensor R csr\nR(i,j) = L(i,k) * L(k,j)", "scatter F64 MUL ADD, 32 bits"},
    {"tensor R csr\nR(i,j) = L(i,k) * L(k,j) with reorder(i,k,j), workspace(hash)",
     "list F64 MUL ADD, 32 bits"},
    {"tensor R csr\nR(i,j) = M(i,k) * L(k,j)", "scatter F64 MUL ADD, 32 bits"},
    {"tensor R csr\nR(i,j) = L(i,k) * M(k,j)", "scatter F64 MUL ADD, 32 bits"},
    {"R(i) = L(i,j) * x(j)", "dot_fiber F64 plus_times, 32 bits"},
    {"tensor R dense\nR(i) = N(i,j) * x(j)", "dot_fiber F64 plus_times, 32 bits"},
    {"R(i) = M(i,j) * V(j) with as_written", "dot_merge F64 plus_times, 32 bits"},
    {"R(i) = L(i,j) * M(i,j)", "dot_merge F64 plus_times, 32 bits"},
    {"R(i) = M(i,j) * L(i,j)", "dot_merge F64 plus_times, 32 bits"},
    {"R(i) = L(i,j) * N(i,j)", "dot_merge F64 plus_times, 32 bits"},
    {"tensor R dense\nR(j) = L(i,j) * y(i)", "scatter_fiber F64 plus_times, 32 bits"},
    {"tensor R csr\nR(i,j) = L(i,j) + M(i,j)", "merge_fibers F64 add, 32 bits"},
    {"tensor R csr\nR(i,j) = M(i,j) - L(i,j)", "merge_fibers F64 sub, 32 bits"},
    {"tensor R csr\nR(i,j) = max(M(i,j), L(i,j))", "merge_fibers F64 max, 32 bits"},
};
enum { WIDE_STATEMENTS = sizeof wide_statements / sizeof *wide_statements };

/* The same tensor, csr, dcsr or svec, its last level's bounds in 64 bits. */
static stc_tensor *widened(stc_machine *m, const char *how, const stc_tensor *of,
                           int64_t *bounds)
{
    const int order = stc_tensor_order(of), last = strcmp(how, "svec") ? 1 : 0;
    stc_array pos, crd;
    const void *vals;
    int64_t n;
    stc_tensor *t;
    ck_ok(m, stc_tensor_new(m, how, STC_F64, order, stc_tensor_shape(of), NULL, &t));
    if (!strcmp(how, "dcsr")) {
        ck_ok(m, stc_tensor_array(of, 0, STC_POS, &pos));
        ck_ok(m, stc_tensor_array(of, 0, STC_CRD, &crd));
        ck_ok(m, stc_tensor_lend(t, 0, STC_POS, pos));
        ck_ok(m, stc_tensor_lend(t, 0, STC_CRD, crd));
    }
    ck_ok(m, stc_tensor_array(of, last, STC_POS, &pos));
    ck_ok(m, stc_tensor_array(of, last, STC_CRD, &crd));
    ck_ok(m, stc_tensor_values(of, &vals, &n));
    ck_assert(pos.width == 4 && crd.width == 4);
    for (int64_t k = 0; k < pos.length; k++)
        bounds[k] = ((const int32_t *)pos.data)[k];
    ck_ok(m, stc_tensor_lend(t, last, STC_POS, (stc_array){bounds, pos.length, 8, 0}));
    ck_ok(m, stc_tensor_lend(t, last, STC_CRD, crd));
    ck_ok(m, stc_tensor_lend_values(t, (void *)(uintptr_t)vals, n));
    return t;
}

START_TEST(bounds_of_64_bits)
{
    heap h;
    char *profile, text[300], *at;
    static const char *const names[] = {"L", "N", "V"}, *const how[] = {"csr", "dcsr",
                                                                        "svec"};
    int64_t bounds[3][SIDE + 1];
    stc_tensor *of[3];
    stc_machine *m = machine_open(&h, false);
    stc_session *s;
    machine_profile_runs(m);
    ck_ok(m, stc_session_open(m, &s));
    for (int k = 0; k < 3; k++) {
        of[k] = operand(m, how[k], THIRDS, STC_F64, k < 2 ? 2 : 1, NULL, 1 + 6 * k);
        ck_ok(m, stc_session_put(s, names[k], widened(m, how[k], of[k], bounds[k])));
    }
    snprintf(
        text, sizeof text,
        "tensor M csr\nM(i,j) = L(i,j) * 3\ntensor x dense f64 [%d]\nx(j) = 2 * j + 1\n"
        "tensor y dense f64 [%d]\ny(i) = i %% 3\nc = 0",
        SIDE, SIDE);
    ck_ok(m, stc_session_exec(s, text, "setup"));
    ck_ok(m, stc_session_exec(s, wide_statements[_i].text, "wide"));
    ck_ok(m, stc_session_profile(s, &profile));
    ck_assert_msg(profile_has_row(profile, wide_statements[_i].row), "%s: not by %s\n%s",
                  wide_statements[_i].text, wide_statements[_i].row, profile);
    stc_text_free(m, profile);
    /* the same of tensors with narrow bounds */
    for (int k = 0; k < 3; k++)
        ck_ok(m, stc_session_put(s, names[k], of[k]));
    snprintf(text, sizeof text, "%s", wide_statements[_i].text);
    if ((at = strstr(text, "R csr")) || strstr(text, "R dense"))
        strstr(text, "R ")[0] = 'Q';
    *strstr(text, "R(") = 'Q';
    ck_ok(m, stc_session_exec(s, text, "narrow"));
    ck_ok(m, stc_session_exec(
                 s, at ? "c = sum(i,j: Q(i,j) != R(i,j))" : "c = sum(i: Q(i) != R(i))",
                 "compare"));
    ck_assert(session_number(m, s, "c") == 0);
    stc_session_close(s);
    machine_shut(m, &h);
}
END_TEST

/* What has all coordinates of a range is scattered a line at once, and gives what a list
 * of the same coordinates gives: into rows that are empty, or have places already; of a
 * dense tensor (@ is X, T) and a sparse one (E, U).
 */
static const struct {
    const char *target, *text, *row;
} line_statements[] = {
    {"%s csr f64 [n,p]", "%s(i,j) = L(i,k) * @(k,j)", "scatter F64 MUL ADD, 32 bits"},
    {"%s dcsr f64 [n,p]", "%s(i,j) = @(k,j) * 2 * L(k,i) * x(k)",
     "scatter F64 MUL ADD, 32 bits"},
    {"%s csr f64 [n,p]", "%s(i,j) = L(i,k) * K(k,j) + L(i,k) * @(k,j)",
     "scatter F64 MUL ADD, 32 bits"},
    {"%s csr f64 [n,p]", "%s(i,j) += L(i,k) * @(k,j)", "scatter F64 MUL ADD, 32 bits"},
    {"%s csr f64 [n,p] fill inf", "%s(i,j) = min(k: M(i,k) + @(k,j))",
     "scatter F64 ADD MIN, 32 bits"},
    {"%s csr bool [n,p]", "%s(i,j) or= P(i,k) && $(k,j)", "scatter BOOL AND OR, 32 bits"},
};
enum { LINE_STATEMENTS = sizeof line_statements / sizeof *line_statements };

static void with_names(char *out, size_t size, const char *text, bool dense)
{
    snprintf(out, size, text, dense ? "R" : "Q");
    for (char *c = out; *c; c++) {
        if (*c == '@') *c = dense ? 'X' : 'E';
        if (*c == '$') *c = dense ? 'T' : 'U';
    }
}

START_TEST(lines_of_dense_rows)
{
    static const char setup[] =
        "n = 90\n"
        "tensor L csr f64 [n,n]\nL(i,j) = ((i * 7 + j * 13) % 23 < 2) * (i + j)\ncompact "
        "L\n"
        "tensor K csr f64 [n,p]\nK(i,j) = ((i + j) % 5 == 0) * j\ncompact K\n"
        "tensor X dense f64 [n,p]\nX(i,j) = (i * 3 + j * 5) % 11\n"
        "tensor E csr f64 [n,p]\nE(i,j) = X(i,j)\n"
        "tensor T dense bool [n,p]\nT(i,j) = X(i,j) > 3\n"
        "tensor U csr bool [n,p]\nU(i,j) = T(i,j)\n"
        "tensor M csr f64 [n,n] fill inf\nM(i,j) = L(i,j) + 1\n"
        "tensor P csr bool [n,n]\nP(i,j) = L(i,j) != 0\n"
        "tensor x dense f64 [n]\nx(i) = i % 4\nc = 0\n";
    static const int across[] = {1, 64, 131};
    heap h;
    char text[2000], target[100], statement[100], *profile;
    stc_machine *m = machine_open(&h, false);
    stc_session *s;
    const stc_tensor *t[2];
    machine_profile_runs(m);
    ck_ok(m, stc_session_open(m, &s));
    snprintf(text, sizeof text, "p = %d\n%s", across[_i % 3], setup);
    ck_ok(m, stc_session_exec(s, text, "setup"));
    for (int dense = 1; dense >= 0; dense--) {
        with_names(target, sizeof target, line_statements[_i / 3].target, dense);
        with_names(statement, sizeof statement, line_statements[_i / 3].text, dense);
        snprintf(text, sizeof text, "tensor %s\n%s", target, statement);
        ck_ok(m, stc_session_exec(s, text, "statement"));
        if (!dense) continue;
        ck_ok(m, stc_session_profile(s, &profile));
        ck_assert_msg(profile_has_row(profile, line_statements[_i / 3].row),
                      "%s: not by %s\n%s", text, line_statements[_i / 3].row, profile);
        stc_text_free(m, profile);
    }
    ck_ok(m, stc_session_exec(s, "c = sum(i,j: Q(i,j) != R(i,j))", "compare"));
    ck_ok(m, stc_session_get(s, "Q", &t[0]));
    ck_ok(m, stc_session_get(s, "R", &t[1]));
    ck_assert(session_number(m, s, "c") == 0);
    ck_assert(stc_tensor_stored(t[0]) == stc_tensor_stored(t[1]));
    stc_session_close(s);
    machine_shut(m, &h);
}
END_TEST

/* Rows that are groups of equal coordinates give what rows with bounds give, whatever lies
 * beside their coordinates: of so many entries that those of a strip are just packed, or
 * just not, and with rows that have none, or all of the strip's. */
START_TEST(groups_as_rows)
{
    static const char *const coo[] = {
        "(i,j) -> (i : compressed(nonunique), j : singleton)",
        "(i,j) -> (i : compressed(nonunique, interleaved), j : singleton)"};
    static const int each[] = {1, 7, 8, 9, 40};
    static const char *const type[] = {"f64", "f32", "i32"};
    char text[2000];
    snprintf(text, sizeof text,
             "format aos = %s\ntensor L csr %s [3000,500]\n"
             "L(i,j) = (((i * 11 + j * 3) %% 500 < %d && i %% 50 != 7) || i == 1234) * "
             "((i + j) %% 9 + 1)\ncompact L\n"
             "tensor G aos %s [3000,500]\nG(i,j) = L(i,j)\n"
             "tensor x dense %s [500]\nx(j) = j %% 7 - 3\n"
             "tensor z dense %s [3000]\nz(i) = i %% 5\n"
             "tensor c dense f64 [4]\na(i) = L(i,j) * x(j)\nb(i) = G(i,j) * x(j)\n"
             "c(0) = sum(i: a(i) != b(i))\n"
             "a(i) = max(j: L(i,j) * x(j))\nb(i) = max(j: G(i,j) * x(j))\n"
             "c(1) = sum(i: a(i) != b(i))\n"
             "a(i) = z(i) * L(i,j) * x(j)\nb(i) = z(i) * G(i,j) * x(j)\n"
             "c(2) = sum(i: a(i) != b(i))\nc(3) = stored(L) != stored(G)",
             coo[_i % 2], type[_i / 2 % 3], each[_i / 6], type[_i / 2 % 3],
             type[_i / 2 % 3], type[_i / 2 % 3]);
    EXPECT(text, "c", 0, 0, 0, 0);
}
END_TEST

/* What leads a scatter is gone through in any order: between gaps, or below groups; of what
 * follows there is a copy by rows. */
START_TEST(scattered_in_any_order)
{
    static const char *const leads[] = {
        "(i,j) -> (i : compressed(nonunique), j : singleton)",
        "(i,j) -> (i : dense, j : hashed)",
        "(i,j) -> (i : hashed, j : hashed(97))",
        "(i,j) -> (i : dense, j : compressed(unordered))",
        "(i,j) -> (i : dense, j : compressed(index64))",
        "(i,j) -> (i : compressed, j : compressed)"};
    static const char *const text[] = {"L(i,k) * K(k,j)", "x(k) * K(k,j) * L(i,k) * z(i)",
                                       "K(i,k) * L(k,j)"};
    static const char setup[] =
        "n = 300\ntensor K csr f64 [n,n]\nK(i,j) = ((i + j) %% 19 == 0) * (j - 40)\n"
        "compact K\ntensor C csr f64 [n,n]\n"
        "C(i,j) = ((i * 7 + j * 13) %% 23 < 2 && i %% 9 != 4) * (i - j)\ncompact C\n"
        "tensor L %s f64 [n,n]\nL(i,j) = C(i,j)\n"
        "tensor x dense f64 [n]\nx(i) = i %% 4\ntensor z dense f64 [n]\nz(i) = i %% 3\nc = "
        "0\n"
        "tensor Q csr [n,n]\ntensor R csr [n,n]\n";
    heap h;
    char all[2000], *profile, *lead;
    stc_machine *m = machine_open(&h, false);
    stc_session *s;
    machine_profile_runs(m);
    ck_ok(m, stc_session_open(m, &s));
    snprintf(all, sizeof all, setup, leads[_i / 3]);
    ck_ok(m, stc_session_exec(s, all, "setup"));
    snprintf(all, sizeof all, "R(i,j) = %s", text[_i % 3]);
    ck_ok(m, stc_session_exec(s, all, "statement"));
    ck_ok(m, stc_session_profile(s, &profile));
    ck_assert_msg(strstr(profile, "superinstruction scatter F64 MUL ADD"), "%s", profile);
    stc_text_free(m, profile);
    while ((lead = strstr(all, "L(")))
        *lead = 'C';
    all[0] = 'Q';
    ck_ok(m, stc_session_exec(s, all, "of csr"));
    ck_ok(m, stc_session_exec(s, "c = sum(i,j: Q(i,j) != R(i,j))", "compare"));
    ck_assert(session_number(m, s, "c") == 0);
    stc_session_close(s);
    machine_shut(m, &h);
}
END_TEST

Suite *suite_super(void)
{
    Suite *s = suite_create("super");
    TCase *t = tcase_create("rows");
    tcase_add_loop_test(t, each_row, 0, ROWS);
    tcase_add_test(t, narrow_result);
    tcase_add_test(t, truth_by_numbers);
    tcase_add_loop_test(t, scaled_by_infinity, 0, 4);
    tcase_add_test(t, alike_rows);
    tcase_add_loop_test(t, few_elements, 0, 4);
    tcase_add_loop_test(t, bounds_of_64_bits, 0, WIDE_STATEMENTS);
    tcase_add_loop_test(t, groups_as_rows, 0, 30);
    tcase_add_loop_test(t, scattered_in_any_order, 0, 18);
    tcase_add_loop_test(t, lines_of_dense_rows, 0, 3 * LINE_STATEMENTS);
    tcase_add_loop_test(t, long_rows, 0, sizeof long_types / sizeof *long_types);
    tcase_add_loop_test(t, fibers_of_unlike_lengths, 0, 4);
    tcase_add_loop_test(t, near_columns, 0, 72);
    tcase_add_loop_test(t, short_fibers, 0, WIDTHS * ROW_TYPES * ROW_SUMS);
    tcase_add_loop_test(t, ranks_are_those_of_a_merge, 0, 200);
    suite_add_tcase(s, t);
    return s;
}
