/* check_pairs.c: merges of two operands of runs, all at once: every width of elements,
 * rows and streams of many shapes, and rows whose host vouches for what doesn't hold; and
 * what rle makes of runs that are put behind others. Results are those of dense loops, with
 * no two equal neighbours. */
#include "../src/lang/lang.h"
#include "check.h"
#include <stdlib.h>
#include <string.h>

static uint32_t draw(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*seed >> 33);
}

#define STREAM "(i,j) -> (flat(i,j) : rle)"

typedef struct shaped {
    const char *as;
    int64_t shape[2];
    uint32_t longest[2]; /* runs of each operand */
    uint32_t kinds;      /* of elements          */
} shaped;

/* Rows that fit together, rows that don't, more and fewer runs than strips have lanes, the
 * last row's last run, joins from row to row, rows of one run, and streams. */
static const shaped shapes[] = {
    {"rle", {400, 50}, {9, 7}, 9},       {"rle", {900, 12}, {40, 3}, 2},
    {"rle", {40, 3000}, {30, 90}, 200},  {"rle", {3, 9000}, {2, 3}, 3},
    {"rle", {5000, 3}, {4, 9}, 2},       {"rle", {1, 20000}, {3, 3}, 5},
    {"rle", {2, 60000}, {9, 2000}, 100}, {"rle", {64, 4}, {3, 99}, 3},
    {"rle", {2000, 8}, {9999, 5}, 4},    {"rle", {3000, 2}, {9999, 9999}, 2},
    {STREAM, {400, 50}, {9, 7}, 9},      {STREAM, {100, 700}, {3, 20}, 2},
    {STREAM, {1, 40000}, {1, 1}, 3},     {STREAM, {7, 9}, {3, 2}, 3},
};
enum { SHAPES = sizeof shapes / sizeof *shapes, LARGEST = 120000 };

static stc_tensor *runs_of(stc_machine *m, const shaped *s, stc_type type, int k)
{
    const int64_t n = s->shape[0] * s->shape[1];
    int32_t *v = malloc((size_t)n * sizeof *v);
    uint64_t seed = 77 + (uint64_t)k;
    stc_tensor *dense, *t;
    for (int64_t e = 0; e < n;) {
        const int32_t x = (int32_t)(draw(&seed) % s->kinds);
        for (uint32_t left = 1 + draw(&seed) % s->longest[k]; left > 0 && e < n; left--)
            v[e++] = x;
    }
    ck_assert_int_eq(stc_tensor_new(m, "dense", STC_I32, 2, s->shape, NULL, &dense), 0);
    ck_assert_int_eq(stc_tensor_lend_values(dense, v, n), STC_OK);
    ck_assert_int_eq(stc_tensor_convert(dense, s->as, (int)type, &t), STC_OK);
    stc_tensor_free(dense);
    free(v);
    return t;
}

static size_t size_of(stc_type type)
{
    return type == STC_I8 || type == STC_U8                        ? 1
           : type == STC_I16 || type == STC_U16                    ? 2
           : type == STC_I64 || type == STC_U64 || type == STC_F64 ? 8
                                                                   : 4;
}

/* A statement's result from operands in their format or densely; where runs are as few as
 * can be, so many of them. */
static stc_tensor *made(stc_machine *m, const char *text, const shaped *s,
                        const stc_type *type, const char *as, int64_t *runs)
{
    const stc_decl d[] = {{0, "B", as, type[0], NULL, -1},
                          {0, "C", as, type[1], NULL, -1},
                          {0, "A", as, type[0], NULL, -1}};
    stc_tensor *in[2], *dense;
    const stc_tensor *y;
    const void *v;
    stc_program *p;
    const shaped drawn = {
        as, {s->shape[0], s->shape[1]}, {s->longest[0], s->longest[1]}, s->kinds};
    ck_assert_msg(!stc_compile(m, text, d, 3, &p), "%s: %s", text, stc_error(m)->message);
    for (int k = 0; k < 2; k++) {
        in[k] = runs_of(m, &drawn, type[k], k);
        ck_assert_int_eq(stc_bind(p, k ? "C" : "B", in[k]), STC_OK);
    }
    ck_assert_msg(!stc_run(p), "%s: %s", text, stc_error(m)->message);
    ck_assert_int_eq(stc_result(p, "A", &y), STC_OK);
    ck_assert_msg(!stc_tensor_check((stc_tensor *)y), "%s: %s", text,
                  stc_error(m)->message);
    stc_tensor_values(y, &v, runs);
    ck_assert_int_eq(stc_tensor_convert(y, "dense", -1, &dense), STC_OK);
    stc_program_free(p);
    for (int k = 0; k < 2; k++)
        stc_tensor_free(in[k]);
    return dense;
}

/* Runs of a dense matrix: rows begin new ones, those of a stream don't. */
static int64_t count_runs(const char *v, size_t size, const shaped *s)
{
    const int64_t n = s->shape[0] * s->shape[1];
    const bool rows = !strcmp(s->as, "rle");
    int64_t runs = 0;
    for (int64_t k = 0; k < n; k++)
        runs += k == 0 || (rows && k % s->shape[1] == 0) ||
                memcmp(v + (size_t)k * size, v + (size_t)(k - 1) * size, size) != 0;
    return runs;
}

static void as_dense_loops(const char *text, const shaped *s, stc_type type, stc_type other)
{
    const stc_type types[] = {type, other};
    stc_machine *m;
    int64_t runs, n, nx, ny;
    const void *x, *y;
    ck_assert_int_eq(stc_open(NULL, &m), STC_OK);
    stc_tensor *a = made(m, text, s, types, s->as, &runs);
    stc_tensor *b = made(m, text, s, types, "dense", &n);
    stc_tensor_values(a, &x, &nx);
    stc_tensor_values(b, &y, &ny);
    ck_assert_int_eq(nx, ny);
    ck_assert_msg(!memcmp(x, y, (size_t)nx * size_of(type)), "%s as %s, type %d, %d x %d",
                  text, s->as, (int)type, (int)s->shape[0], (int)s->shape[1]);
    ck_assert_int_eq(runs, count_runs(x, size_of(type), s));
    stc_tensor_free(a);
    stc_tensor_free(b);
    stc_close(m);
}

START_TEST(every_shape)
{
    static const char *const text[] = {
        "A(i,j) = B(i,j) * C(i,j)", "A(i,j) = 3 * B(i,j) - C(i,j)",
        "A(i,j) = min(C(i,j), B(i,j))", "A(i,j) = u16(0.4 * B(i,j) + 0.6 * C(i,j))"};
    static const stc_type types[] = {STC_I8,  STC_U8,  STC_I16, STC_U16, STC_I32,
                                     STC_U32, STC_I64, STC_F32, STC_F64};
    for (size_t e = 0; e < sizeof text / sizeof *text; e++)
        for (size_t k = 0; k < sizeof types / sizeof *types; k++)
            if (e == 0 || k == e || k == 4 + e)
                as_dense_loops(text[e], &shapes[_i], types[k], types[k]);
    as_dense_loops(text[0], &shapes[_i], STC_I32, STC_U8);
}
END_TEST

/* ---- what doesn't hold -------------------------------------------------------------- */

/* Rows that begin later than the level does, run into each other, go back, or go on beyond
 * its end, of runs or of tokens: nobody can say what comes out, but nothing else is read or
 * written. */
START_TEST(vouched_rows)
{
    enum { ROWS = 200, RUNS = 4, KINDS = 6, OPERANDS = 3 };
    static const char *const text[] = {
        "A(i,j) = B(i,j) * C(i,j)",
        "A(i,j) = B(i,j) * C(i,j) + D(i,j)",
        "A(i,j) = D(i,j) + 1",
        "A(i,j) = sum(k: B(i,k) * C(i,k)) * D(i,j)",
    };
    static const char *const name[] = {"B", "C", "D"};
    static const int64_t shape[2] = {ROWS, 50};
    static int32_t pos[ROWS + 1], crd[ROWS * RUNS], val[ROWS * RUNS], aux[2 * ROWS * RUNS];
    const int how = _i % KINDS;
    const char *const as = _i / KINDS % 2 ? "lz77" : "rle";
    for (int k = 0; k < ROWS * RUNS; k++) {
        crd[k] = how == 0   ? 1 + k % RUNS * 7
                 : how == 1 ? 0
                 : how == 2 ? k % 7
                 : how == 4 ? (RUNS - k % RUNS) * 11 % 44
                 : how == 5 ? k % RUNS * (k % 40 == 39 ? 30 : 11)
                            : 1;
        val[k] = k % 3;
        aux[2 * k] = k % (ROWS * RUNS - 100);
        aux[2 * k + 1] = k % 5 != 0;
    }
    for (int k = 0; k <= ROWS; k++)
        pos[k] = k * (how == 3 ? 1 : RUNS);
    stc_machine *m;
    stc_tensor *t[OPERANDS];
    stc_program *p;
    const stc_decl d[] = {{0, "B", as, STC_I32, NULL, -1},
                          {0, "C", as, STC_I32, NULL, -1},
                          {0, "D", as, STC_I32, NULL, -1},
                          {0, "A", as, STC_I32, NULL, -1}};
    ck_assert_int_eq(stc_open(NULL, &m), STC_OK);
    ck_assert_int_eq(stc_compile(m, text[_i / KINDS / 2], d, 4, &p), STC_OK);
    for (int k = 0; k < OPERANDS; k++) {
        const stc_array tokens = {aux, 2 * pos[ROWS], 4, 4};
        ck_assert_int_eq(stc_tensor_new(m, as, STC_I32, 2, shape, NULL, &t[k]), STC_OK);
        stc_tensor_lend(t[k], 1, STC_POS, (stc_array){pos, ROWS + 1, 4, 4});
        stc_tensor_lend(t[k], 1, STC_CRD, (stc_array){crd, pos[ROWS], 4, 4});
        if (*as == 'l') stc_tensor_lend(t[k], 1, STC_AUX, tokens);
        stc_tensor_lend_values(t[k], val, ROWS * RUNS);
        stc_tensor_vouch(t[k]);
        (void)stc_bind(p, name[k], t[k]);
    }
    (void)stc_run(p);
    stc_program_free(p);
    for (int k = 0; k < OPERANDS; k++)
        stc_tensor_free(t[k]);
    stc_close(m);
}
END_TEST

/* ---- runs behind others ----------------------------------------------------------- */

enum { LANES = 1300, EXTENT = 1000000 };
static const char *const widths[] = {"(i,j) -> (i : dense, j : rle)",
                                     "(i,j) -> (i : dense, j : rle(index64))"};

/* What a tensor gets: lanes of rows, `step` of them at a time, elsewhere or in place. */
typedef struct lanes {
    stc_type type;
    const char *as;
    int rows, n, step;
    bool here;
    int start[LANES + 1]; /* of rows     */
    int32_t lo[LANES];
    char x[8 * LANES];
} lanes;

static void draw_lanes(lanes *l, uint64_t *seed, uint32_t kinds)
{
    const size_t size = type_size(l->type);
    l->rows = 0;
    for (int k = 0; k < l->n; k++) {
        const bool begins = k == 0 || draw(seed) % 40 == 0;
        if (begins) l->start[l->rows++] = k;
        l->lo[k] = begins ? 0 : l->lo[k - 1] + 1 + (int32_t)(draw(seed) % 9);
        memset(l->x + (size_t)k * size, 0, size);
        l->x[(size_t)k * size + draw(seed) % 2 * (size - 1)] = (char)(draw(seed) % kinds);
    }
    l->start[l->rows] = l->n;
}

/* Appends rows [r, end), of lanes from `first` on, to a tensor that is being made. */
static stc_status put_lanes(ctx *cx, tensor *t, const lanes *l, int r, int end)
{
    level *lv = &t->level[1];
    const size_t size = type_size(t->type);
    const int from = l->start[r], n = l->start[end] - from;
    const int64_t pos = lv->kind->append_next(lv, r, 0);
    if (tensor_reserve_values(t, pos + n)) return cx->diag.status;
    const char *x = l->x + (size_t)from * size;
    char *to = (char *)t->vals + (size_t)pos * size;
    if (l->here) memcpy(to, x, (size_t)n * size);
    if (lv->kind->append_fibers(cx, lv, r, end - r, l->start + r, l->lo, EXTENT,
                                l->here ? to : x, t->vals, size))
        return cx->diag.status;
    t->nvals = lv->size;
    return STC_OK;
}

static void expect_lanes(const tensor *t, const lanes *l)
{
    const size_t size = type_size(l->type);
    const index_array *pos = &t->level[1].a[STC_POS], *crd = &t->level[1].a[STC_CRD];
    int64_t n = 0;
    for (int r = 0; r < l->rows; r++) {
        ck_assert_int_eq(index_get(pos, r), n);
        for (int k = l->start[r]; k < l->start[r + 1]; k++) {
            const char *x = l->x + (size_t)k * size;
            if (k > l->start[r] && !memcmp(x, x - size, size)) continue;
            ck_assert_int_eq(index_get(crd, n), l->lo[k]);
            ck_assert_msg(!memcmp((char *)t->vals + (size_t)n * size, x, size),
                          "lane %d of %d, type %d", k, l->n, (int)l->type);
            n++;
        }
    }
    ck_assert_int_eq(index_get(pos, l->rows), n);
    ck_assert_int_eq(crd->len, n);
}

static void join_lanes(ctx *cx, lanes *l, uint64_t *seed, uint32_t kinds)
{
    format f;
    tensor *t = NULL;
    draw_lanes(l, seed, kinds);
    const int64_t shape[] = {l->rows, EXTENT};
    ck_ctx(cx, format_parse(cx, NULL, l->as, 2, &f));
    ck_ctx(cx, tensor_new(cx, &f, l->type, shape, (value){0}, &t));
    ck_ctx(cx, tensor_begin(t));
    for (int r = 0; r < l->rows; r += l->step) {
        const int end = r + l->step < l->rows ? r + l->step : l->rows;
        ck_ctx(cx, put_lanes(cx, t, l, r, end));
    }
    ck_ctx(cx, tensor_finish(t));
    expect_lanes(t, l);
    tensor_free(t);
}

START_TEST(runs_behind_others)
{
    static const stc_type types[] = {STC_U8, STC_I16, STC_F32, STC_F64, STC_C64};
    static lanes l;
    heap h;
    ctx *cx = ctx_open(&h);
    uint64_t seed = 5;
    l.type = types[_i];
    for (int n = 1; n <= LANES; n += n < 40 ? 1 : n / 3)
        for (int k = 0; k < 12; k++) {
            l.n = n;
            l.as = widths[k == 11];
            l.step = k < 4 ? LANES : 1 + k % 4 * 2;
            l.here = k % 2;
            join_lanes(cx, &l, &seed, k % 3 == 0 ? 2 : k % 3 == 1 ? 100 : 5);
        }
    ctx_close(cx, &h);
}
END_TEST

Suite *suite_pairs(void)
{
    Suite *s = suite_create("pairs");
    TCase *c = tcase_create("pairs");
    tcase_add_loop_test(c, every_shape, 0, SHAPES);
    tcase_add_loop_test(c, vouched_rows, 0, 48);
    tcase_add_loop_test(c, runs_behind_others, 0, 5);
    suite_add_tcase(s, c);
    return s;
}
