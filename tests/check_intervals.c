/* check_intervals.c: computing on what is compressed: work that goes with runs,
 * results that stay compressed, and streams that no one should be able to read. */
#include "check.h"
#include <string.h>

#define BIG INT64_C(1000000000000) /* far more elements than steps are allowed */

static stc_machine *bounded(void)
{
    const stc_config o = {.max_steps = 10000};
    stc_machine *m;
    ck_assert_int_eq(stc_open(&o, &m), STC_OK);
    return m;
}

/* A vector of BIG elements: 3 up to a third, then 5, then 0. */
static stc_tensor *long_runs(stc_machine *m, int64_t *pos, int64_t *crd, double *val)
{
    const int64_t n = BIG;
    stc_tensor *t;
    ck_assert_int_eq(stc_tensor_new(m, "rle", STC_F64, 1, &n, NULL, &t), STC_OK);
    pos[0] = 0, pos[1] = 3;
    crd[0] = 0, crd[1] = BIG / 4, crd[2] = BIG / 2;
    val[0] = 3, val[1] = 5, val[2] = 0;
    ck_assert_int_eq(stc_tensor_lend(t, 0, STC_POS, (stc_array){pos, 2, 8, 8}), STC_OK);
    ck_assert_int_eq(stc_tensor_lend(t, 0, STC_CRD, (stc_array){crd, 3, 8, 8}), STC_OK);
    ck_assert_int_eq(stc_tensor_lend_values(t, val, 3), STC_OK);
    ck_assert_int_eq(stc_tensor_check(t), STC_OK);
    return t;
}

static const stc_tensor *result(stc_machine *m, const char *text, const char *as,
                                stc_tensor *x, stc_program **p)
{
    const stc_decl d[] = {{0, "x", "rle", STC_F64, NULL, 1},
                          {0, "y", as, STC_F64, NULL, -1}};
    const stc_tensor *y = NULL;
    ck_assert_int_eq(stc_compile(m, text, d, 2, p), STC_OK);
    ck_assert_int_eq(stc_bind(*p, "x", x), STC_OK);
    ck_assert_msg(stc_run(*p) == STC_OK, "%s: %s", text, stc_error(m)->message);
    ck_assert_int_eq(stc_result(*p, "y", &y), STC_OK);
    return y;
}

#define RLE_STREAM "(i,j) -> (flat(i,j) : rle)"
#define LZ77_STREAM "(i,j) -> (flat(i,j) : lz77)"

/* Sums take runs at once, idempotent functions once. */
START_TEST(reductions_take_runs)
{
    static const struct {
        const char *text;
        double want;
    } row[] = {
        {"y = sum(i: x(i))", 3.0 * (BIG / 4) + 5.0 * (BIG / 4)},
        {"y = max(i: x(i))", 5},
        {"y = sum(i: x(i) * x(i))", 9.0 * (BIG / 4) + 25.0 * (BIG / 4)},

    };
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        int64_t pos[2], crd[3], n;
        double val[3];
        const void *v;
        stc_machine *m = bounded();
        stc_program *p;
        stc_tensor *x = long_runs(m, pos, crd, val);
        const stc_tensor *y = result(m, row[k].text, "dense", x, &p);
        ck_assert_int_eq(stc_tensor_values(y, &v, &n), STC_OK);
        ck_assert_double_eq_tol(*(const double *)v, row[k].want, 1e-6 * row[k].want);
        stc_program_free(p);
        stc_tensor_free(x);
        stc_close(m);
    }
}
END_TEST

/* Results are runs, and equal neighbours are one. */
START_TEST(results_stay_runs)
{
    static const struct {
        const char *text, *format;
        int64_t stored;
    } row[] = {
        {"y(i) = x(i) * 2", "rle", 3},
        {"y(i) = x(i) + x(i)", "lz77", 3},
        {"y(i) = x(i) > 1", "rle", 2},
        {"y(i) = min(x(i), 3)", "rle", 2},
    };
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        int64_t pos[2], crd[3];
        double val[3];
        stc_machine *m = bounded();
        stc_program *p;
        stc_tensor *x = long_runs(m, pos, crd, val);
        const stc_tensor *y = result(m, row[k].text, row[k].format, x, &p);
        ck_assert_int_eq(stc_tensor_stored(y), row[k].stored);
        stc_program_free(p);
        stc_tensor_free(x);
        stc_close(m);
    }
}
END_TEST

/* A run above a dense mode is of whole pixels, and its result is one as well; equal
 * pixels become one run. */
START_TEST(pixels_stay_runs)
{
    static const struct {
        const char *text, *format;
        int64_t stored;
        uint8_t green; /* of the last pixel */
    } row[] = {
        {"y(i,c) = x(i,c) * 2", "(i,c) -> (i : rle, c : dense)", 9, 0},
        {"y(i,c) = min(x(i,c), 1)", "(i,c) -> (i : rle, c : dense)", 6, 0},
        {"y(i,c) = max(x(i,c), 0) + 1", "(i,c) -> (i : lz77, c : dense)", 9, 1},
    };
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        const int64_t shape[2] = {BIG, 3};
        int64_t pos[2] = {0, 3}, crd[3] = {0, 7, BIG / 2}, n;
        uint8_t val[9] = {1, 2, 3, 3, 2, 1, 1, 0, 1};
        const void *v;
        stc_machine *m = bounded();
        stc_tensor *x;
        const stc_tensor *y;
        stc_program *p;
        const stc_decl d[] = {{0, "x", "(i,c) -> (i : rle, c : dense)", STC_U8, NULL, 2},
                              {0, "y", row[k].format, STC_U8, NULL, -1}};
        ck_assert_int_eq(stc_tensor_new(m, d[0].format, STC_U8, 2, shape, NULL, &x),
                         STC_OK);
        ck_assert_int_eq(stc_tensor_lend(x, 0, STC_POS, (stc_array){pos, 2, 8, 8}), STC_OK);
        ck_assert_int_eq(stc_tensor_lend(x, 0, STC_CRD, (stc_array){crd, 3, 8, 8}), STC_OK);
        ck_assert_int_eq(stc_tensor_lend_values(x, val, 9), STC_OK);
        ck_assert_msg(!stc_tensor_check(x), "%s", stc_error(m)->message);
        ck_assert_int_eq(stc_compile(m, row[k].text, d, 2, &p), STC_OK);
        ck_assert_int_eq(stc_bind(p, "x", x), STC_OK);
        ck_assert_msg(!stc_run(p), "%s: %s", row[k].text, stc_error(m)->message);
        ck_assert_int_eq(stc_result(p, "y", &y), STC_OK);
        ck_assert_int_eq(stc_tensor_values(y, &v, &n), STC_OK);
        ck_assert_int_eq(n, row[k].stored);
        ck_assert_int_eq(((const uint8_t *)v)[n - 2], row[k].green);
        stc_program_free(p);
        stc_tensor_free(x);
        stc_close(m);
    }
}
END_TEST

/* Patterns of 2 and 3 elements repeat together after 6; of BIG elements no more
 * are computed, and the rest is a repeat. */
START_TEST(patterns_meet)
{
    stc_machine *m = bounded();
    const int64_t n = BIG;
    int64_t pos[2] = {0, 1}, crd[1] = {0}, aux[2][2] = {{0, 2}, {0, 3}};
    double val[3] = {1, 2, 4};
    stc_tensor *t[2];
    const stc_decl d[] = {{0, "a", "lz77", STC_F64, NULL, 1},
                          {0, "b", "lz77", STC_F64, NULL, 1},
                          {0, "y", "lz77", STC_F64, NULL, -1}};
    const char *const name[2] = {"a", "b"};
    static const char *const text[2] = {"y(i) = a(i) * b(i)", "y = sum(i: a(i) * b(i))"};
    for (int k = 0; k < 2; k++) {
        ck_assert_int_eq(stc_tensor_new(m, "lz77", STC_F64, 1, &n, NULL, &t[k]), STC_OK);
        ck_assert_int_eq(stc_tensor_lend(t[k], 0, STC_POS, (stc_array){pos, 2, 8, 8}),
                         STC_OK);
        ck_assert_int_eq(stc_tensor_lend(t[k], 0, STC_CRD, (stc_array){crd, 1, 8, 8}),
                         STC_OK);
        ck_assert_int_eq(stc_tensor_lend(t[k], 0, STC_AUX, (stc_array){aux[k], 2, 8, 8}),
                         STC_OK);
        ck_assert_int_eq(stc_tensor_lend_values(t[k], val, 3), STC_OK);
        ck_assert_int_eq(stc_tensor_check(t[k]), STC_OK);
    }
    for (int e = 0; e < 2; e++) {
        stc_program *p;
        const stc_tensor *y;
        const void *v;
        int64_t count;
        ck_assert_int_eq(stc_compile(m, text[e], d, e ? 2 : 3, &p), STC_OK);
        for (int k = 0; k < 2; k++)
            ck_assert_int_eq(stc_bind(p, name[k], t[k]), STC_OK);
        ck_assert_msg(stc_run(p) == STC_OK, "%s", stc_error(m)->message);
        ck_assert_int_eq(stc_result(p, "y", &y), STC_OK);
        ck_assert_int_eq(stc_tensor_values(y, &v, &count), STC_OK);
        if (e) { /* 1 4 4 2 2 8, and on 10^12 = 4 mod 6 elements */
            ck_assert_double_eq_tol(*(const double *)v, 21.0 * ((BIG - 4) / 6) + 11, 1e3);
        } else {
            ck_assert_int_eq(count, 6);
            ck_assert_mem_eq(v, ((double[]){1, 4, 4, 2, 2, 8}), 6 * sizeof(double));
        }
        stc_program_free(p);
    }
    stc_tensor_free(t[0]);
    stc_tensor_free(t[1]);
    stc_close(m);
}
END_TEST

/* Tokens that read what isn't there, overlap, leave gaps or go round nothing. */
START_TEST(corrupt_tokens_are_refused)
{
    static const int64_t shape[3] = {8, 2, 4}; /* of a vector, and of a stream */
    static const struct {
        int64_t crd[2], aux[4];
        const char *said;
    } row[] = {
        {{1, 4}, {0, 0, 0, 2}, "expected it to begin at 0"},
        {{0, 0}, {0, 0, 0, 2}, "token 0 covers"},
        {{0, 9}, {0, 0, 0, 2}, "token"},
        {{0, 4}, {0, 0, -1, 2}, "start"},
        {{0, 4}, {0, 0, 0, -2}, "size"},
        {{0, 4}, {0, 0, 3, 2}, "values: 4 elements, expected 5"},
        {{0, 4}, {INT64_MAX, 0, 0, 2}, "start"},
    };
    for (size_t j = 0; j < 2 * (sizeof row / sizeof *row); j++) {
        const size_t k = j / 2;
        const bool stream = j % 2;
        stc_machine *m;
        stc_tensor *t;
        int64_t pos[2] = {0, 2}, crd[2], aux[4];
        double val[4] = {1, 2, 3, 4};
        memcpy(crd, row[k].crd, sizeof crd);
        memcpy(aux, row[k].aux, sizeof aux);
        ck_assert_int_eq(stc_open(NULL, &m), STC_OK);
        ck_assert_int_eq(stc_tensor_new(m, stream ? LZ77_STREAM : "lz77", STC_F64,
                                        1 + stream, shape + stream, NULL, &t),
                         STC_OK);
        ck_assert_int_eq(stc_tensor_lend(t, 0, STC_POS, (stc_array){pos, 2, 8, 8}), STC_OK);
        ck_assert_int_eq(stc_tensor_lend(t, 0, STC_CRD, (stc_array){crd, 2, 8, 8}), STC_OK);
        ck_assert_int_eq(stc_tensor_lend(t, 0, STC_AUX, (stc_array){aux, 4, 8, 8}), STC_OK);
        ck_assert_int_eq(stc_tensor_lend_values(t, val, 4), STC_OK);
        ck_assert_int_eq(stc_tensor_check(t), STC_ERR_DATA);
        ck_assert_msg(strstr(stc_error(m)->message, row[k].said), "%zu: %s", k,
                      stc_error(m)->message);
        stc_tensor_free(t);
        stc_close(m);
    }
}
END_TEST

/* A stream's repeats span rows, and so do its results'. */
START_TEST(streams_span_rows)
{
    /* runs of 16 bytes each, some of one element, into tokens */
    EXPECT("tensor C rle c128 [6,50]\nC(i,j) = j // 7 * (i < 4) + (j % 9 == 3)\n"
           "tensor A lz77 c128\nA(i,j) = C(i,j) + C(i,j) * C(i,j)\n"
           "y = sum(i,j: real(A(i,j)))",
           "y", 3584);
    /* rounds that are alike, and add to the same places, count one by one */
    EXPECT("format fB = (i,j) -> (j : compressed, i : rle)\ntensor B fB bool [3,2]\n"
           "tensor D dense bool [] = true\nz(j) = xor(D, B(j,l))",
           "z", 2, 2, 2);
    EXPECT("tensor A (i,j) -> (flat(i,j) : lz77) i32 [40,10]\nA(i,j) = 3 * j + 1\n"
           "tensor B (i,j) -> (flat(i,j) : lz77) i32\nB(i,j) = A(i,j) * A(i,j)\n"
           "y = sum(i,j: B(i,j))",
           "y", 40 * (10 + 6 * 45 + 9 * 285));
}
END_TEST

/* ---- rows of runs, strip after strip -------------------------------------------- */

enum { ROWS = 90, COLUMNS = 400 };

static uint32_t draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/* A row whose first strip goes element by element, behind rows that are left out, is
 * gone on with in bulk. */
START_TEST(open_behind_empty_rows)
{
    EXPECT("tensor A lz77 f64 [7,1500]\nA(i,j) = (j > 2) * j + i\ntensor u svec f64 [7]\n"
           "u(0) = 1\nu(5) = 2\ntensor R csr f64\nR(i,j) = A(i,j) * u(i)\ny(i) = R(i,j)",
           "y", 1124247, 0, 0, 0, 0, 2263494, 0);
}
END_TEST

/* Runs of 1 … longest elements that go on from row to row, in a format. */
static stc_tensor *drawn(stc_machine *m, const char *as, stc_type type, int order,
                         uint32_t longest, uint64_t seed)
{
    const int64_t shape[2] = {order == 1 ? COLUMNS : ROWS, COLUMNS};
    const int64_t n = order == 1 ? COLUMNS : ROWS * COLUMNS;
    static int32_t v[ROWS * COLUMNS];
    stc_tensor *dense, *t;
    for (int64_t k = 0; k < n;) {
        const int32_t e = (int32_t)(draw(&seed) % 7);
        for (uint32_t left = 1 + draw(&seed) % longest; left > 0 && k < n; left--)
            v[k++] = e;
    }
    ck_assert_int_eq(stc_tensor_new(m, "dense", STC_I32, order, shape, NULL, &dense),
                     STC_OK);
    ck_assert_int_eq(stc_tensor_lend_values(dense, v, n), STC_OK);
    ck_assert_int_eq(stc_tensor_convert(dense, as, (int)type, &t), STC_OK);
    stc_tensor_free(dense);
    return t;
}

/* What a program makes of drawn operands in the given formats, densely. */
static stc_tensor *made_of(stc_machine *m, const char *text, const char *const *as,
                           stc_type type, const uint32_t *longest)
{
    static const char *const name[] = {"B", "C", "D", "c"};
    stc_decl d[5];
    stc_tensor *in[4], *dense;
    const stc_tensor *y;
    stc_program *p;
    for (int k = 0; k < 4; k++)
        d[k] = (stc_decl){0, name[k], as[k], type, NULL, -1};
    /* its type is that of what is computed */
    d[4] = (stc_decl){0, "A", text[3] == ')' ? "dense" : as[4], -1, NULL, -1};
    ck_assert_msg(!stc_compile(m, text, d, 5, &p), "%s: %s", text, stc_error(m)->message);
    for (int k = 0; k < 4; k++) {
        in[k] = drawn(m, as[k], type, k == 3 ? 1 : 2, longest[k], 11 + (uint64_t)k);
        stc_bind(p, name[k], in[k]); /* refused where the text doesn't name it */
    }
    ck_assert_msg(!stc_run(p), "%s: %s", text, stc_error(m)->message);
    ck_assert_int_eq(stc_result(p, "A", &y), STC_OK);
    ck_assert_int_eq(stc_tensor_check((stc_tensor *)y), STC_OK);
    ck_assert_int_eq(stc_tensor_convert(y, "dense", -1, &dense), STC_OK);
    stc_program_free(p);
    for (int k = 0; k < 4; k++)
        stc_tensor_free(in[k]);
    return dense;
}

/* Whatever the formats of operands and result, the dense loops' values. */
static void same_as_dense(const char *text, const char *const *formats, stc_type type,
                          const uint32_t *longest)
{
    static const char *const plain[] = {"dense", "dense", "dense", "dense", "dense"};
    stc_machine *m;
    ck_assert_int_eq(stc_open(NULL, &m), STC_OK);
    stc_tensor *a = made_of(m, text, formats, type, longest);
    stc_tensor *b = made_of(m, text, plain, type, longest);
    const void *x, *y;
    int64_t nx, ny;
    const size_t size = stc_type_size(stc_tensor_type(a));
    stc_tensor_values(a, &x, &nx);
    stc_tensor_values(b, &y, &ny);
    ck_assert_int_eq(nx, ny);
    ck_assert_msg(!memcmp(x, y, (size_t)nx * size), "%s, %s %s, type %d, runs up to %d",
                  text, formats[0], formats[2], (int)type, (int)longest[0]);
    stc_tensor_free(a);
    stc_tensor_free(b);
    stc_close(m);
}

START_TEST(rows_of_runs)
{
    static const char *const text[] = {
        "A(i,j) = B(i,j) * 3",
        "A(i,j) = min(B(i,j), 3) + C(i,j)",
        "A(i,j) = B(i,j) * C(i,j) - D(i,j)",
        "A(i,j) = B(i,j) * C(i,j)",
        "A(i,j) = 7 - B(i,j) + 5 * C(i,j) * C(i,j)",
        "A(i,j) = B(i,j) + c(j)",
        "A(i,j) = B(i,j) * D(i,j)",
        "A(i,j) = B(i,j) * (D(i,j) - c(j)) + C(i,j)",
        "A(i) = B(i,j) * c(j)",
        "A(i) = 3 * sum(j: B(i,j) * c(j))",
        "A(i) = sum(j: c(j) * (B(i,j) + 1))",
        "A(i) = sum(j: c(j) * (B(i,j) - C(i,j)))",
        "A(i) = max(j: B(i,j) - C(i,j))",
        "A(i) = D(i,j) * c(j) * B(i,j)",
        "A(j) = B(i,j) + C(i,j)",
        "A(i,j) = B(i,j) * C(i,j) with split(j,j0,j1,37), split(i,i0,i1,2)",
        "A(i,j) = B(i,j) + c(j) * D(i,j) with split(j,p,q,5), split(p,r,s,7)",
        "A(i,j) = B(i,j) + i * C(i,j) with split(i,i0,i1,3), split(j,j0,j1,64)",
        "A(i) = B(i,j) * C(i,j) with split(j,j0,j1,30), reorder(i,j0,j1)",
    };
    static const char *const formats[][5] = {
        {"rle", "rle", "rle", "rle", "rle"},
        {"rle", "rle", "csr", "rle", "csr"},
        {"rle", "rle", "rle", "dense", "dense"},
        {"lz77", "rle", "dense", "rle", "lz77"},
        {RLE_STREAM, RLE_STREAM, RLE_STREAM, "rle", RLE_STREAM},
        {LZ77_STREAM, RLE_STREAM, LZ77_STREAM, "lz77", LZ77_STREAM},
        {"rle", "rle", "dcsr", "svec", "csr"},
        {"lz77", "lz77", "rle", "lz77", "lz77"},
        {"rle", "dense", "lz77", "dense", "rle"},
        {"lz77", "rle", "dense", "dense", "dense"},
        {"(i,j) -> (i : dense, j : lz77(index64))", "lz77", "lz77", "rle",
         "(i,j) -> (i : dense, j : lz77(index64))"},
        {"rle", "rle", "rle", "lz77", "(i,j) -> (i : dense, j : lz77(index64))"},
    };
    static const uint32_t longest[][4] = {{1, 1, 2, 1},
                                          {40, 40, 40, 40},
                                          {3, 60, 2, 400},
                                          {900, 2, 300, 5},
                                          {200, 200, 9, 9}};
    static const stc_type types[] = {STC_I32, STC_U8,   STC_F64, STC_I16, STC_F32, STC_I64,
                                     STC_I8,  STC_BOOL, STC_U16, STC_U32, STC_U64};
    for (size_t e = 0; e < sizeof text / sizeof *text; e++)
        for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
            const uint32_t *n = longest[(e + f) % (sizeof longest / sizeof *longest)];
            for (size_t by = 0; by < 2; by++, n = longest[(e + 2 * f + by) % 5])
                same_as_dense(text[e], formats[f], types[(by + e + f) % 11], n);
        }
}
END_TEST

/* Sparse coordinates lead, in rows of 1 … 400 runs. */
START_TEST(coordinates_lead)
{
    static const char *const text[] = {
        "A(i,j) = B(i,j) * D(i,j)",
        "A(i,j) = c(j) * D(i,j) * (C(i,j) + B(i,j))",
        "A(i,j) = min(3, D(i,j)) * (B(i,j) + i)",
        "A(i,j) = B(i,j) * (D(i,j) * j)",
        "A(i) = D(i,j) * B(i,j)",
        "A(i) = max(j: D(i,j) * B(i,j))",
    };
    static const char *const formats[][5] = {
        {"rle", "lz77", "csr", "dense", "csr"},
        {"lz77", "rle", "dcsr", "dense", "dcsr"},
        {"rle", "rle", "hash", "rle", "dense"},
        {"lz77", "dense", "csr", "dense", "rle"},
        {"rle", "lz77", "coo", "lz77", "coo"},
        {"rle", "dense", "(i,j) -> (i : dense, j : compressed(index64))", "dense", "csr"},
    };
    static const uint32_t longest[][4] = {{1, 2, 3, 1},      {4, 12, 9, 9},
                                          {12, 30, 2, 400},  {30, 60, 300, 5},
                                          {60, 400, 40, 90}, {9999, 4, 40, 9999}};
    static const stc_type types[] = {STC_I32, STC_F64, STC_U8};
    for (size_t e = 0; e < sizeof text / sizeof *text; e++)
        for (size_t f = 0; f < sizeof formats / sizeof *formats; f++)
            for (size_t n = e + f; n < e + f + (e == 0 ? 6 : 2); n++)
                same_as_dense(text[e], formats[f], types[n % 3], longest[n % 6]);
}
END_TEST

/* … below two loops, and in rows of more coordinates than 16 bits tell apart. */
START_TEST(coordinates_lead_far)
{
    EXPECT("tensor B (i,j,k) -> (i : dense, j : dense, k : rle) f64 [2,3,40]\n"
           "B(i,j,k) = (k > 20) + i + j\n"
           "tensor D (i,j,k) -> (i : dense, j : dense, k : compressed) f64 [2,3,40]\n"
           "D(1,2,5) = 2\nD(0,1,39) = 3\nD(0,1,3) = 1\n"
           "tensor R (i,j,k) -> (i : dense, j : dense, k : compressed) f64\n"
           "R(i,j,k) = B(i,j,k) * D(i,j,k)\ny(i,j) = R(i,j,k)",
           "y", 0, 7, 0, 0, 0, 6);
    EXPECT("tensor B rle i32 [2,40000]\nB(i,j) = (j > 20000) + 2 * (j > 39000) + i\n"
           "tensor D csr i32 [2,40000]\nD(0,5) = 1\nD(0,20001) = 2\nD(0,39999) = 3\n"
           "D(1,0) = 4\nD(1,39000) = 5\ntensor R csr i32\nR(i,j) = B(i,j) * D(i,j)\n"
           "y(i) = R(i,j)",
           "y", 11, 14);
}
END_TEST

/* Rows of runs of each integer type, times a factor, added up in 32 bits. */
START_TEST(rows_are_added_up)
{
    static const char *const types[][2] = {{"bool", "i32"}, {"i8", "i32"},  {"i16", "i32"},
                                           {"i32", "i32"},  {"i64", "i32"}, {"u8", "u32"},
                                           {"u16", "u32"},  {"u32", "u32"}, {"u64", "u32"}};
    const char *const *t = types[_i];
    char text[300];
    snprintf(text, sizeof text,
             "tensor B rle %s [5,90]\nB(i,j) = (j // 7) %% 2 == i %% 2\n"
             "tensor c dense %s [90]\nc(j) = %s(j + 1)\n"
             "tensor y dense %s\ny(i) = B(i,j) * c(j)",
             t[0], t[1], t[1], t[1]);
    EXPECT(text, "y", 2163, 1932, 2163, 1932, 2163);
}
END_TEST

/* Tokens that go round a pattern of two, as runs and element by element, with numbers of
 * either width. */
START_TEST(patterns_are_written_out)
{
    static const char *const text[] = {"A(i,j) = B(i,j) * 3", "A(i,j) = B(i,j) * C(i,j)"};
    static const double one[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    static const double row[8] = {1, 2, 1, 2, 1, 2, 2, 2};
    for (int k = 0; k < 4; k++) {
        const int64_t shape[2] = {2, 8};
        int32_t pos[3] = {0, 3, 4}, crd[4] = {0, 2, 6, 0},
                aux[8] = {0, 0, 0, 2, 1, 1, 2, 1};
        int64_t wide[8] = {0, 0, 0, 2, 1, 1, 2, 1}, n;
        double val[3] = {1, 2, 5};
        const void *v;
        stc_machine *m;
        stc_tensor *b, *c, *d;
        const stc_tensor *a;
        stc_program *p;
        const stc_decl decl[] = {{0, "B", "lz77", STC_F64, NULL, 2},
                                 {0, "A", k < 2 ? "rle" : "dense", STC_F64, NULL, 2},
                                 {0, "C", "dense", STC_F64, NULL, 2}};
        ck_assert_int_eq(stc_open(NULL, &m), STC_OK);
        ck_assert_int_eq(stc_tensor_new(m, "lz77", STC_F64, 2, shape, NULL, &b), STC_OK);
        stc_tensor_lend(b, 1, STC_POS, (stc_array){pos, 3, 4, 4});
        stc_tensor_lend(b, 1, STC_CRD, (stc_array){crd, 4, 4, 4});
        stc_tensor_lend(b, 1, STC_AUX,
                        k % 2 ? (stc_array){wide, 8, 8, 8} : (stc_array){aux, 8, 4, 4});
        stc_tensor_lend_values(b, val, 3);
        ck_assert_int_eq(stc_tensor_check(b), STC_OK);
        ck_assert_int_eq(stc_tensor_new(m, "dense", STC_F64, 2, shape, NULL, &c), STC_OK);
        stc_tensor_lend_values(c, (void *)one, 16);
        ck_assert_int_eq(stc_compile(m, text[k / 2], decl, 2 + k / 2, &p), STC_OK);
        stc_bind(p, "B", b);
        stc_bind(p, "C", c); /* refused where the text doesn't name it */
        ck_assert_msg(!stc_run(p), "%s", stc_error(m)->message);
        ck_assert_int_eq(stc_result(p, "A", &a), STC_OK);
        ck_assert_int_eq(stc_tensor_convert(a, "dense", -1, &d), STC_OK);
        ck_assert_int_eq(stc_tensor_values(d, &v, &n), STC_OK);
        for (int e = 0; e < 16; e++)
            ck_assert_double_eq(((const double *)v)[e],
                                (e < 8 ? row[e] : 5) * (k < 2 ? 3 : 1));
        stc_program_free(p);
        stc_tensor_free(d);
        stc_tensor_free(c);
        stc_tensor_free(b);
        stc_close(m);
    }
}
END_TEST

/* Reductions of streams, as those of what isn't compressed: in order where that matters,
 * and where something else is read, too. */
START_TEST(streams_as_others)
{
    static const char *const text[] = {
        "y = after(i,j: A(i,j))",
        "y = after(j,i: A(i,j))",
        "y = after(i,j: A(i,j)) + sum(j,i: A(i,j))",
        "y = sum(i,j: A(i,j) * i)",
        "y = 1 + sum(i,j: A(i,j) * B(i,j))",
        "y = sum(i: A(i,1)) + sum(i,j: A(i,j))",
        "y = max(i: sum(j: A(i,j)))",
        "y = sum(i,j: A(i,j)) - s",
        "y = sum(i,j: A(i,j)) * sum(i,j: B(i,j))",
        "y = sum(i,j: A(i,j)) - sum(k: u(k))",
    };
    static const char *const as[] = {"dense", RLE_STREAM, LZ77_STREAM};
    static const int64_t shape[2] = {5, 7}, four = 4;
    for (size_t k = 0; k < sizeof text / sizeof *text; k++) {
        double want = 0;
        for (int f = 0; f < 3; f++) {
            char all[200];
            double val[35], u[4] = {1, 2, 3, 4}, s = 5;
            const void *v;
            int64_t n;
            stc_machine *m = bounded();
            stc_tensor *d, *a = NULL, *du, *ds;
            const stc_tensor *y;
            stc_program *p;
            for (int e = 0; e < 35; e++)
                val[e] = e % 9 / 3 + 1;
            const stc_decl decl[] = {{0, "A", as[f], STC_F64, NULL, 2},
                                     {0, "B", "dense", STC_F64, NULL, 2},
                                     {0, "u", "dense", STC_F64, NULL, 1},
                                     {0, "s", "dense", STC_F64, NULL, 0},
                                     {0, "y", "dense", STC_F64, NULL, 0}};
            snprintf(all, sizeof all, "fn after(a, b) = a // 2 + b; %s", text[k]);
            ck_assert_int_eq(stc_tensor_new(m, "dense", STC_F64, 2, shape, NULL, &d), 0);
            ck_assert_int_eq(stc_tensor_lend_values(d, val, 35), STC_OK);
            ck_assert_int_eq(stc_tensor_convert(d, as[f], -1, &a), STC_OK);
            ck_assert_int_eq(stc_tensor_new(m, "dense", STC_F64, 1, &four, NULL, &du), 0);
            ck_assert_int_eq(stc_tensor_lend_values(du, u, 4), STC_OK);
            ck_assert_int_eq(stc_tensor_new(m, "dense", STC_F64, 0, NULL, NULL, &ds), 0);
            ck_assert_int_eq(stc_tensor_lend_values(ds, &s, 1), STC_OK);
            ck_assert_msg(!stc_compile(m, all, decl, 5, &p), "%s", stc_error(m)->message);
            ck_assert_int_eq(stc_bind(p, "A", a), STC_OK);
            (void)(stc_bind(p, "B", d) || stc_bind(p, "u", du) || stc_bind(p, "s", ds));
            (void)stc_bind(p, "u", du);
            (void)stc_bind(p, "s", ds);
            ck_assert_msg(!stc_run(p), "%s: %s", text[k], stc_error(m)->message);
            ck_assert_int_eq(stc_result(p, "y", &y), STC_OK);
            ck_assert_int_eq(stc_tensor_values(y, &v, &n), STC_OK);
            if (f == 0) want = *(const double *)v;
            ck_assert_double_eq_tol(*(const double *)v, want, 1e-9);
            stc_program_free(p);
            stc_tensor_free(a);
            stc_tensor_free(d);
            stc_tensor_free(du);
            stc_tensor_free(ds);
            stc_close(m);
        }
    }
}
END_TEST

/* All of a stream is reduced as one loop, a pattern of 10^12 elements at once. */
START_TEST(streams_are_reduced)
{
    static const struct {
        const char *text;
        double want;
    } row[] = {
        {"y = sum(i,j: A(i,j))", 7.0 * 333333333333 + 1},
        {"y = A(i,j) * A(i,j)", 21.0 * 333333333333 + 1},
        {"y = max(j,i: A(i,j) - 1)", 3},
        {"y = min(i,j: 2 - A(i,j))", -2},
        {"y = 3 + sum(i,j: A(i,j))", 7.0 * 333333333333 + 4},
        {"y = 2 * sum(i,j: A(i,j)) - A(i,j)", 7.0 * 333333333333 + 1},
        {"y = sqrt(max(i,j: A(i,j)) * min(j,i: A(i,j)))", 2},
    };
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        const int64_t shape[2] = {1000000, 1000000};
        int64_t pos[2] = {0, 1}, crd[1] = {0}, aux[2] = {0, 3}, n;
        double val[3] = {1, 2, 4};
        const void *v;
        stc_machine *m = bounded();
        stc_tensor *t;
        const stc_tensor *y;
        stc_program *p;
        const stc_decl d[] = {{0, "A", LZ77_STREAM, STC_F64, NULL, 2},
                              {0, "y", "dense", STC_F64, NULL, 0}};
        ck_assert_int_eq(stc_tensor_new(m, LZ77_STREAM, STC_F64, 2, shape, NULL, &t),
                         STC_OK);
        ck_assert_int_eq(stc_tensor_lend(t, 0, STC_POS, (stc_array){pos, 2, 8, 8}), STC_OK);
        ck_assert_int_eq(stc_tensor_lend(t, 0, STC_CRD, (stc_array){crd, 1, 8, 8}), STC_OK);
        ck_assert_int_eq(stc_tensor_lend(t, 0, STC_AUX, (stc_array){aux, 2, 8, 8}), STC_OK);
        ck_assert_int_eq(stc_tensor_lend_values(t, val, 3), STC_OK);
        ck_assert_int_eq(stc_compile(m, row[k].text, d, 2, &p), STC_OK);
        ck_assert_int_eq(stc_bind(p, "A", t), STC_OK);
        ck_assert_msg(!stc_run(p), "%s: %s", row[k].text, stc_error(m)->message);
        ck_assert_int_eq(stc_result(p, "y", &y), STC_OK);
        ck_assert_int_eq(stc_tensor_values(y, &v, &n), STC_OK);
        ck_assert_double_eq_tol(*(const double *)v, row[k].want, 1e-3);
        stc_program_free(p);
        stc_tensor_free(t);
        stc_close(m);
    }
}
END_TEST

/* Runs, long ones and single elements in turn, are added onto dense rows of each type. */
START_TEST(runs_are_added_onto_rows)
{
    static const char *const kinds[] = {"rle", "lz77"};
    char text[1200];
    for (int t = STC_BOOL; t <= STC_C128; t++) {
        const char *type = stc_type_name((stc_type)t), *kind = kinds[_i];
        const char *sum = t == STC_BOOL ? "i64" : type;
        snprintf(text, sizeof text,
                 "tensor A %s %s [5,7]\nA(i,k) = i + 2*k > 9\ntensor B %s %s [7,900]\n"
                 "B(k,j) = %s(select(j %% 450 < 20, (j + k) %% 3, k %% 2))\n"
                 "tensor a dense %s [5,7]\na(i,k) = A(i,k)\ntensor b dense %s [7,900]\n"
                 "b(k,j) = B(k,j)\ntensor C dense %s\nC(i,j) = A(i,k) * B(k,j)\n"
                 "tensor c dense %s\nc(i,j) = a(i,k) * b(k,j)\n"
                 "n = sum(i,j: C(i,j) != c(i,j))",
                 kind, type, kind, type, type, type, type, sum, sum);
        EXPECT(text, "n", 0);
    }
}
END_TEST

/* Rows of a length at which one to three are merged at once, in parts: of two operands,
 * with runs that end together, of one element, and over whole rows. */
START_TEST(rows_in_parts)
{
    static const char *const types[] = {"u8", "i16", "i32", "f32", "i64", "f64"};
    static const int columns[] = {500, 900, 1400, 3100};
    char text[800];
    for (int k = 0; k < 12; k++) {
        const char *type = types[_i];
        const int n = columns[k % 4], b = 1 + k / 3, c = 1 + k % 7;
        snprintf(
            text, sizeof text,
            "tensor B rle %s [23,%d]\nB(i,j) = %s((j + i) // %d %% (2 + i %% 5))\n"
            "tensor C rle %s [23,%d]\nC(i,j) = %s(select(i == 9, 3, (j // %d + i) %% 4))\n"
            "tensor A rle %s\nA(i,j) = B(i,j) * C(i,j) + B(i,j)\n"
            "tensor D dense i64 [23,%d]\nD(i,j) = ((j + i) // %d) %% (2 + i %% 5)\n"
            "tensor E dense i64 [23,%d]\nE(i,j) = select(i == 9, 3, (j // %d + i) %% 4)\n"
            "n = sum(i,j: A(i,j) != D(i,j) * E(i,j) + D(i,j))",
            type, n, type, b, type, n, type, c, type, n, b, n, c);
        EXPECT(text, "n", 0);
    }
}
END_TEST

/* A row that isn't there, as no row of an empty tensor is, has no elements to be spelt. */
START_TEST(no_rows_to_spell)
{
    EXPECT("fn u1(x, y) = x + 2 * y\ntensor B sd:0,1 i16 [4,4] = { }\n"
           "tensor C lz77 bool [3,4] = { }\ntensor D dense i64 [4,4] = { }\n"
           "tensor y dense i32\ny(j,i) = (u1(B(j,k), C(i,k))) + u1(p: D(p,j))",
           "y", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
}
END_TEST

Suite *suite_intervals(void)
{
    Suite *s = suite_create("intervals");
    TCase *c = tcase_create("intervals");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, open_behind_empty_rows);
    tcase_add_test(c, reductions_take_runs);
    tcase_add_loop_test(c, runs_are_added_onto_rows, 0, 2);
    tcase_add_loop_test(c, rows_in_parts, 0, 6);
    tcase_add_test(c, no_rows_to_spell);
    tcase_add_test(c, results_stay_runs);
    tcase_add_test(c, pixels_stay_runs);
    tcase_add_test(c, patterns_meet);
    tcase_add_test(c, corrupt_tokens_are_refused);
    tcase_add_test(c, streams_span_rows);
    tcase_add_test(c, rows_of_runs);
    tcase_add_test(c, coordinates_lead);
    tcase_add_test(c, coordinates_lead_far);
    tcase_add_loop_test(c, rows_are_added_up, 0, 9);
    tcase_add_test(c, patterns_are_written_out);
    tcase_add_test(c, streams_are_reduced);
    tcase_add_test(c, streams_as_others);
    suite_add_tcase(s, c);
    return s;
}
