/* check_assembly.c: results as their levels are appended to: one coordinate at a time,
 * by intervals, by fibers and by repeats, in bulk. What comes out, whatever allocation
 * fails on the way, and what each kind refuses. */
#include "../src/lang/lang.h"
#include "check.h"
#include <string.h>

/* Again and again: two rows with runs, an empty one, and one that is full. */
enum { ROWS = 4, COLUMNS = 6, MANY = 40 };
static const int64_t shape[] = {ROWS, COLUMNS}, tall[] = {MANY, COLUMNS};
static const int matrix[ROWS][COLUMNS] = {
    {0, 3, 3, 3, 0, 1}, {2, 0, 0, 2, 2, 2}, {0}, {1, 2, 3, 3, 2, 1}};

static const int *row_of(int64_t i)
{
    return matrix[i % ROWS];
}

static tensor *begun(ctx *cx, const char *name, stc_type type, const int64_t *size)
{
    format f;
    tensor *t = NULL;
    const value zero = {0};
    ck_ctx(cx, format_parse(cx, NULL, name, 2, &f));
    const stc_status st = tensor_new(cx, &f, type, size, zero, &t);
    ck_assert_int_eq(st, STC_OK);
    return t;
}

static void expect_matrix(const tensor *t, const char *what)
{
    for (int64_t i = 0; i < t->shape[0]; i++)
        for (int64_t j = 0; j < COLUMNS; j++) {
            const value v = tensor_get(t, (const int64_t[]){i, j});
            const int got = (int)class_convert(CLASS_I64, type_class(t->type), v).i64;
            ck_assert_msg(got == row_of(i)[j], "%s: (%d,%d) is %d", what, (int)i, (int)j,
                          got);
        }
}

/* ---- one coordinate at a time -------------------------------------------------------- */

static stc_status put(tensor *t, int64_t pos, int x)
{
    if (tensor_extend_values(t, pos + 1)) return t->cx->diag.status;
    const value v = type_convert(t->type, STC_I64, (value){.i64 = x});
    type_store(t->type, t->vals, pos, v);
    return STC_OK;
}

/* Row i below position `parent` of level 1 (or of the root, if rows are above). */
static stc_status put_row(tensor *t, int64_t parent, int64_t i)
{
    level *lv = &t->level[1];
    for (int64_t j = 0; j < COLUMNS; j++) {
        int64_t pos;
        if (!row_of(i)[j]) continue;
        if (lv->kind->append_coord(t->cx, lv, parent, j, &pos) || put(t, pos, row_of(i)[j]))
            return t->cx->diag.status;
    }
    return STC_OK;
}

/* What is below is stored first, for the position that the row will get. */
static stc_status put_rows(tensor *t)
{
    level *top = &t->level[0], *lv = &t->level[1];
    const bool insert = top->kind->caps & CAP_INSERT,
               keeps = !(lv->kind->caps & CAP_INSERT);
    for (int64_t i = 0; i < t->shape[0]; i++) {
        int64_t pos =
            top->kind->append_next ? top->kind->append_next(top, 0, i) : top->size;
        if (!insert && i % ROWS == 2) continue; /* the empty one */
        if (insert && top->kind->append_coord(t->cx, top, 0, i, &pos))
            return t->cx->diag.status;
        int64_t at = pos;
        if (put_row(t, pos, i)) return t->cx->diag.status;
        if (!insert && top->kind->append_coord(t->cx, top, 0, i, &at))
            return t->cx->diag.status;
        ck_assert_int_eq(at, pos);
        if (keeps && i % ROWS != 2 && lv->kind->append_edges(t->cx, lv, pos))
            return t->cx->diag.status;
    }
    return STC_OK;
}

static stc_status by_coordinates(ctx *cx, void *what)
{
    tensor *t = what;
    (void)cx;
    if (tensor_begin(t) || put_rows(t) || tensor_finish(t)) return t->cx->diag.status;
    t->generation++; /* look at it */
    return tensor_check(t);
}

static const char *const appended[] = {
    "dense",
    "csr",
    "dcsr",
    "(i,j) -> (i : dense, j : compressed(index64))",
    "(i,j) -> (i : compressed(index64), j : dense)",
    "(i,j) -> (i : dense, j : compressed(nonunique))",
    "(i,j) -> (i : dense, j : compressed(unordered))",
    "(i,j) -> (i : dense, j : hashed)",
    "(i,j) -> (i : dense, j : hashed(nonunique))",
    "(i,j) -> (i : dense, j : hashed(6, nonunique))",
    "(i,j) -> (i : compressed, j : hashed(index64))",
    "(i,j) -> (i : hashed, j : compressed)",
    "(i,j) -> (i : dense, j : hashed(6))",
    "(i,j) -> (i : compressed, j : hashed(9, index64))",
    "(i,j) -> (i : dense, j : bytemap)",
    "(i,j) -> (i : compressed, j : bytemap)",
    "(i,j) -> (i : dense, j : rle)",
    "(i,j) -> (i : compressed, j : rle(index64))",
    "(i,j) -> (i : rle, j : dense)",
    "(i,j) -> (i : dense, j : lz77)",
    "(i,j) -> (i : compressed, j : lz77(index64))",
    "(i,j) -> (i : lz77, j : dense)",
};
enum { APPENDED = sizeof appended / sizeof *appended };

START_TEST(each_coordinate)
{
    static const stc_type types[] = {STC_F64, STC_I8, STC_U16, STC_F32, STC_C128};
    heap h;
    ctx *cx = ctx_open(&h);
    for (int k = 0; k < 5; k++) {
        tensor *t = begun(cx, appended[_i], types[k], tall);
        ck_ctx(cx, by_coordinates(cx, t)); /* and once more, in the same arrays */
        ck_ctx(cx, by_coordinates(cx, t));
        expect_matrix(t, appended[_i]);
        tensor_free(t);
    }
    ctx_close(cx, &h);
}
END_TEST

typedef struct work {
    const char *format;
    stc_type type;
    stc_status (*fill)(ctx *cx, void *t);
    bool tall;
} work;

/* From nothing to the whole, or to the failure. */
static stc_status assemble(ctx *cx, void *what)
{
    const work *w = what;
    format f;
    tensor *t;
    const value zero = {0};
    stc_status st = format_parse(cx, NULL, w->format, 2, &f);
    if (!st) st = tensor_new(cx, &f, w->type, w->tall ? tall : shape, zero, &t);
    if (st) return st;
    st = w->fill(cx, t);
    if (!st) expect_matrix(t, w->format);
    tensor_free(t);
    return st;
}

START_TEST(short_of_memory)
{
    heap h;
    ctx *cx = ctx_open(&h);
    work w = {appended[_i], STC_F64, by_coordinates, true};
    each_shortage(cx, &h, assemble, &w);
    ctx_close(cx, &h);
}
END_TEST

/* One coordinate far down, after many empty fibers, or none. */
typedef struct lonely {
    const char *format;
    int64_t row;
} lonely;

static stc_status put_one(ctx *cx, void *what)
{
    const lonely *x = what;
    const value zero = {0};
    format f;
    tensor *t;
    int64_t pos;
    stc_status st = format_parse(cx, NULL, x->format, 2, &f);
    if (!st) st = tensor_new(cx, &f, STC_F64, tall, zero, &t);
    if (st) return st;
    level *lv = &t->level[1];
    st = tensor_begin(t);
    if (!st && x->row >= 0) st = lv->kind->append_coord(cx, lv, x->row, 2, &pos);
    if (!st && x->row >= 0) st = put(t, pos, 5);
    if (!st && x->row >= 0) st = lv->kind->append_edges(cx, lv, x->row);
    if (!st) st = tensor_finish(t);
    t->generation++;
    if (!st) st = tensor_check(t);
    for (int64_t i = 0; !st && i < MANY; i++)
        ck_assert(tensor_get(t, (const int64_t[]){i, 2}).f64 == (i == x->row ? 5 : 0));
    tensor_free(t);
    return st;
}

START_TEST(empty_fibers)
{
    static const char *const formats[] = {"csr",
                                          "(i,j) -> (i : dense, j : hashed)",
                                          "(i,j) -> (i : dense, j : bytemap)",
                                          "(i,j) -> (i : dense, j : rle)",
                                          "(i,j) -> (i : dense, j : lz77)",
                                          "(i,j) -> (i : dense, j : hashed(2))"};
    static const int64_t rows[] = {-1, 20, MANY - 1};
    heap h;
    ctx *cx = ctx_open(&h);
    for (int k = 0; k < 6; k++)
        for (int r = 0; r < 3; r++) {
            lonely x = {formats[k], rows[r]};
            each_shortage(cx, &h, put_one, &x);
        }
    ctx_close(cx, &h);
}
END_TEST

/* ---- intervals, fibers, repeats ----------------------------------------------------- */

/* All of a row's runs in one call, some rows element by element; gaps are left out in
 * all rows but the second ones. */
static stc_status by_regions(ctx *cx, void *what)
{
    tensor *t = what;
    level *lv = &t->level[1];
    if (tensor_begin(t)) return cx->diag.status;
    for (int64_t i = 0; i < t->shape[0]; i++) {
        int64_t lo[COLUMNS], len[COLUMNS], pos[COLUMNS];
        const int *x = row_of(i);
        int n = 0;
        for (int64_t j = 0, e; j < COLUMNS; j = e) {
            for (e = j + 1; e < COLUMNS && x[e] == x[j] && (i < 1 || i > 4);)
                e++;
            if (!x[j] && i % ROWS != 1) continue;
            lo[n] = j;
            len[n++] = e - j;
        }
        if (!n) continue;
        if (lv->kind->append_regions(cx, lv, i, n, lo, len, pos)) return cx->diag.status;
        for (int k = 0; k < n; k++)
            if (put(t, pos[k], x[lo[k]])) return cx->diag.status;
    }
    if (tensor_finish(t)) return cx->diag.status;
    t->generation++;
    return tensor_check(t);
}

/* n fibers from the p-th on, their values first: equal neighbours are joined. */
static stc_status put_whole(ctx *cx, tensor *t, int64_t p, int n)
{
    static const int start[] = {0, 6, 12, 18};
    int32_t lo[18];
    level *lv = &t->level[1];
    for (int k = 0; k < 18; k++)
        lo[k] = k % COLUMNS;
    const int64_t pos = lv->kind->append_next(lv, p, 0);
    for (int k = 0; k < n * COLUMNS; k++)
        if (put(t, pos + k, row_of(p + k / COLUMNS)[k % COLUMNS])) return cx->diag.status;
    const size_t size = type_size(t->type);
    return lv->kind->append_fibers(cx, lv, p, n, start, lo, COLUMNS,
                                   (char *)t->vals + (size_t)pos * size, t->vals, size);
}

/* Fibers whole, element by element, three at a time after the first. */
static stc_status by_fibers(ctx *cx, void *what)
{
    tensor *t = what;
    if (tensor_begin(t)) return cx->diag.status;
    for (int64_t i = 0; i < t->shape[0]; i += i ? 3 : 1)
        if (put_whole(cx, t, i, i ? 3 : 1)) return cx->diag.status;
    if (tensor_finish(t)) return cx->diag.status;
    t->generation++;
    return tensor_check(t);
}

/* What came before, again; some of it is stored. */
static stc_status by_repeats(ctx *cx, void *what)
{
    /* size 0: stored, an element each; else positions start … start + size - 1 */
    static const struct {
        int64_t row, lo, hi, start, size;
    } step[] = {
        {0, 0, 2, 0, 0}, {0, 2, 4, 1, 1}, {0, 4, 5, 0, 1}, {0, 5, 6, 0, 0}, /* 0 3 | 1 */
        {1, 0, 1, 0, 0}, {1, 1, 3, 0, 1}, {1, 3, 6, 3, 1},                  /* 2       */
        {3, 0, 2, 2, 2}, {3, 2, 4, 1, 1}, {3, 4, 5, 3, 1}, {3, 5, 6, 2, 1},
    };
    tensor *t = what;
    level *lv = &t->level[1];
    if (tensor_begin(t)) return cx->diag.status;
    for (size_t k = 0; k < sizeof step / sizeof *step; k++) {
        for (int64_t j = step[k].lo; !step[k].size && j < step[k].hi; j++) {
            int64_t pos;
            if (lv->kind->append_coord(cx, lv, step[k].row, j, &pos) ||
                put(t, pos, matrix[step[k].row][j]))
                return cx->diag.status;
        }
        if (step[k].size &&
            lv->kind->append_repeat(cx, lv, step[k].row, step[k].lo, step[k].hi,
                                    step[k].start, step[k].size))
            return cx->diag.status;
    }
    if (tensor_finish(t)) return cx->diag.status;
    t->generation++;
    return tensor_check(t);
}

static const work bulks[] = {
    {"(i,j) -> (i : dense, j : rle)", STC_F64, by_regions, true},
    {"(i,j) -> (i : dense, j : rle)", STC_I8, by_regions, true},
    {"(i,j) -> (i : dense, j : rle)", STC_U16, by_regions, true},
    {"(i,j) -> (i : dense, j : rle)", STC_F32, by_regions, true},
    {"(i,j) -> (i : dense, j : rle)", STC_C128, by_regions, true},
    {"(i,j) -> (i : dense, j : rle(index64))", STC_F64, by_regions, true},
    {"(i,j) -> (i : dense, j : rle)", STC_I64, by_fibers, true},
    {"(i,j) -> (i : dense, j : rle(index64))", STC_I16, by_fibers, true},
    {"(i,j) -> (i : dense, j : rle)", STC_U8, by_fibers, true},
    {"(i,j) -> (i : dense, j : lz77)", STC_F64, by_regions, true},
    {"(i,j) -> (i : dense, j : lz77)", STC_I8, by_regions, true},
    {"(i,j) -> (i : dense, j : lz77(index64))", STC_C128, by_regions, true},
    {"(i,j) -> (i : dense, j : lz77)", STC_F64, by_repeats, false},
    {"(i,j) -> (i : dense, j : lz77(index64))", STC_I16, by_repeats, false},
};
enum { BULKS = sizeof bulks / sizeof *bulks };

START_TEST(in_bulk)
{
    heap h;
    ctx *cx = ctx_open(&h);
    work w = bulks[_i];
    ck_ctx(cx, assemble(cx, &w));
    each_shortage(cx, &h, assemble, &w);
    ctx_close(cx, &h);
}
END_TEST

/* ---- what is refused ---------------------------------------------------------------- */

#define ROWWISE(kind) "(i,j) -> (i : dense, j : " kind ")"

typedef enum call { COORD, EDGES, FINISH, REGION, FIBERS, REPEAT, ROOM } call;

static stc_status do_call(ctx *cx, level *lv, call what, int64_t a, int64_t b, int64_t n)
{
    static const int start[] = {0, 1};
    static const int32_t lo[] = {0};
    double vals[4 * COLUMNS] = {0};
    int64_t pos[4];
    append_room room;
    switch (what) {
    case COORD:
        return lv->kind->append_coord(cx, lv, a, b, pos);
    case EDGES:
        return lv->kind->append_edges(cx, lv, a);
    case FINISH:
        return lv->kind->append_finish(cx, lv, a);
    case REGION:
        return lv->kind->append_regions(cx, lv, a, 1, &b, &n, pos);
    case FIBERS:
        return lv->kind->append_fibers(cx, lv, a, 1, start, lo, COLUMNS, vals, vals, 8);
    case REPEAT:
        return lv->kind->append_repeat(cx, lv, a, b, b + 1, n, 1);
    case ROOM:
        return lv->kind->append_room(cx, lv, n, 1, &room);
    }
    return STC_OK;
}

/* Each after (0,3), and after fiber 0 was closed where that is asked for. */
static const struct {
    const char *format;
    bool closed;
    call call;
    int64_t a, b, n;
    const char *words;
} refusals[] = {
    {"dense", false, COORD, 0, 6, 0, "coordinate 6 of a result is outside 0:6"},
    {"dense", false, COORD, INT64_MAX, 0, 0, "more than 64 bits can count"},
    {"dense", false, FINISH, INT64_MAX, 0, 0, "more than 64 bits can count"},
    {"csr", false, COORD, 0, -1, 0, "coordinate -1 of a result is outside 0:6"},
    {"csr", false, COORD, 0, 2, 0, "coordinate 2 of a result was appended after 3"},
    {"csr", false, COORD, 0, 3, 0, "coordinate 3 of a result was appended after 3"},
    {"csr", true, EDGES, 0, 0, 0, "fiber 0 of a result was closed after fiber 0"},
    {"csr", true, FINISH, 0, 0, 0, "a result has 1 fibers for 0 parents"},
    {"csr", false, FINISH, 0, 0, 0, "a result has 0 fibers for 0 parents"},
    {"csr", false, ROOM, 0, 0, INT64_MAX, "a level has more than 2^63 positions"},
    {"csr", false, ROOM, 0, 0, (int64_t)1 << 60, "out of memory: no block of"},
    {ROWWISE("compressed(nonunique)"), false, COORD, 0, 3, 0, NULL},
    {ROWWISE("compressed(nonunique)"), false, COORD, 0, 2, 0, "was appended after 3"},
    {ROWWISE("compressed(unordered)"), false, COORD, 0, 2, 0, NULL},
    {ROWWISE("hashed"), false, COORD, 0, 6, 0, "coordinate 6 of a result is outside 0:6"},
    {ROWWISE("hashed"), false, COORD, 0, 3, 0, "was appended after 3"},
    {ROWWISE("hashed"), true, FINISH, 0, 0, 0, "a result has 1 fibers for 0 parents"},
    {ROWWISE("hashed(nonunique)"), false, COORD, 0, 3, 0, NULL},
    {ROWWISE("hashed(nonunique)"), false, COORD, 0, 2, 0, "was appended after 3"},
    {ROWWISE("hashed(1, nonunique)"), false, COORD, 0, 3, 0,
     "more than the 1 coordinates of its width"},
    {ROWWISE("hashed(1)"), false, COORD, 0, 6, 0, "outside 0:6"},
    {ROWWISE("hashed(1)"), false, COORD, 0, 3, 0, NULL},
    {ROWWISE("hashed(2)"), false, COORD, 0, 2, 0, NULL},
    {ROWWISE("hashed(1)"), false, COORD, 0, 2, 0,
     "fiber 0 of a result has more than the 1 coordinates of its width: there is no slot "
     "for "
     "coordinate 2"},
    {ROWWISE("hashed(6)"), false, COORD, INT64_MAX / 2, 0, 0,
     "more than 64 bits can count"},
    {ROWWISE("hashed(6)"), false, COORD, INT64_MAX / 6, 0, 0,
     "more than 64 bits can count"},
    {ROWWISE("hashed(6)"), false, FINISH, INT64_MAX / 2, 0, 0,
     "more than 64 bits can count"},
    {ROWWISE("hashed(6)"), false, FINISH, 0, 0, 0, "a result has 4 fibers for 0 parents"},
    {ROWWISE("bytemap"), false, COORD, 0, 6, 0, "outside 0:6"},
    {ROWWISE("bytemap"), false, COORD, INT64_MAX / 2, 0, 0, "more than 64 bits can count"},
    {ROWWISE("bytemap"), false, COORD, INT64_MAX / 6, 0, 0, "too many positions"},
    {ROWWISE("bytemap"), false, FINISH, INT64_MAX / 6, 0, 0, "too many positions"},
    {ROWWISE("bytemap"), false, FINISH, INT64_MAX / 2, 0, 0, "more than 64 bits can count"},
    {ROWWISE("rle"), false, COORD, 0, 6, 0, "outside 0:6"},
    {ROWWISE("rle"), false, REGION, 0, 2, 1,
     "coordinate 2 of a result was appended after 3"},
    {ROWWISE("rle"), false, REGION, 0, 4, 0,
     "coordinate 3 of a result was appended after 3"},
    {ROWWISE("rle"), false, REGION, 0, 4, 3, "coordinate 6 of a result is outside 0:6"},
    {ROWWISE("rle"), true, REGION, 0, 4, 1, "fiber 0 of a result was closed after fiber 0"},
    {ROWWISE("rle"), true, FIBERS, 0, 0, 0, "fiber 0 of a result was closed after fiber 0"},
    {ROWWISE("rle"), true, EDGES, 0, 0, 0, "fiber 0 of a result was closed after fiber 0"},
    {ROWWISE("lz77"), false, COORD, 0, 6, 0, "outside 0:6"},
    {ROWWISE("lz77"), false, REGION, 0, 2, 1,
     "coordinate 2 of a result was appended after 3"},
    {ROWWISE("lz77"), false, REGION, 0, 4, 0, "was appended after 4"},
    {ROWWISE("lz77"), false, REGION, 0, 4, 3, "coordinate 6 of a result is outside 0:6"},
    {ROWWISE("lz77"), true, REGION, 0, 4, 1,
     "fiber 0 of a result was closed after fiber 0"},
    {ROWWISE("lz77"), false, REPEAT, 0, 4, 2, "a repeat of positions 2:3, where 2 are"},
    {ROWWISE("lz77"), false, REPEAT, 0, 4, -1, "a repeat of positions -1:0, where 2 are"},
    {ROWWISE("lz77"), false, REPEAT, 0, 3, 0, "was appended after 3"},
    {ROWWISE("lz77"), true, EDGES, 0, 0, 0, "fiber 0 of a result was closed after fiber 0"},
};
enum { REFUSALS = sizeof refusals / sizeof *refusals };

START_TEST(refused)
{
    heap h;
    ctx *cx = ctx_open(&h);
    int64_t pos;
    tensor *t = begun(cx, refusals[_i].format, STC_F64, shape);
    level *lv = &t->level[1];
    ck_ctx(cx, tensor_begin(t));
    ck_ctx(cx, lv->kind->append_coord(cx, lv, 0, 3, &pos));
    if (refusals[_i].closed) ck_ctx(cx, lv->kind->append_edges(cx, lv, 0));
    const stc_status st =
        do_call(cx, lv, refusals[_i].call, refusals[_i].a, refusals[_i].b, refusals[_i].n);
    const char *said = cx->diag.message, *words = refusals[_i].words;
    ck_assert_msg((st == STC_OK) == !words, "row %d: %s", _i, said);
    if (words) ck_assert_msg(has_words(said, words), "%s, expected %s", said, words);
    tensor_free(t);
    ctx_close(cx, &h);
}
END_TEST

START_TEST(refused_as_a_whole)
{
    heap h;
    ctx *cx = ctx_open(&h);
    tensor *t = begun(cx, "coo", STC_F64, shape);
    ck_assert_int_eq(tensor_begin(t), STC_ERR_ARGUMENT);
    ck_assert(has_words(cx->diag.message, "can't be assembled by appending"));
    tensor_free(t);
    t = begun(cx, ROWWISE("compressed(index32)"), STC_F64, shape);
    ck_ctx(cx, tensor_begin(t));
    ck_ctx(cx, index_widen(cx, &t->level[1].a[STC_POS])); /* as large positions would */
    ck_assert_int_eq(tensor_finish(t), STC_ERR_OVERFLOW);
    ck_assert(has_words(cx->diag.message, "positions of a level don't fit its index32"));
    tensor_free(t);
    const level_kind *map = level_kind_at(LEVEL_bytemap);
    level lv = {.kind = map, .extent = 6};
    ck_assert_int_eq(map->append_init(cx, &lv, INT64_MAX), STC_ERR_OVERFLOW);
    ck_assert_int_eq(map->append_init(cx, &lv, INT64_MAX / 6), STC_ERR_OVERFLOW);
    ck_ctx(cx, map->append_init(cx, &lv, NONE));
    index_free(cx, &lv.a[STC_AUX]);
    ctx_close(cx, &h);
}
END_TEST

Suite *suite_assembly(void)
{
    Suite *s = suite_create("assembly");
    TCase *c = tcase_create("assembly");
    tcase_add_loop_test(c, each_coordinate, 0, APPENDED);
    tcase_add_loop_test(c, short_of_memory, 0, APPENDED);
    tcase_add_test(c, empty_fibers);
    tcase_add_loop_test(c, in_bulk, 0, BULKS);
    tcase_add_loop_test(c, refused, 0, REFUSALS);
    tcase_add_test(c, refused_as_a_whole);
    suite_add_tcase(s, c);
    return s;
}
