/* check_blocks.c: nests over blocks and diagonals (vm/affine/blocks.c) give what base
 * operations give: blocks that hang over edges, all ways in which the innermost steps
 * run, types, factors, and loops that threads share. */
#include "check.h"
#include <stdlib.h>
#include <string.h>

static const char *const formats[] = {
    "bcsr(4,4)",
    "bcsr(2,8)",
    "bcsr(3,5)",
    "dia",
    "csb(4,4)",
    "csb(3,7)",
    "(i,j) -> (j/4 : dense, i/4 : compressed, i%4 : dense, j%4 : dense)",
    "(i,j) -> (i/2 : compressed, j/3 : compressed, j%3 : dense, i%2 : dense)",
    "bcsr(2,4)",
    "bcsr(4,2)",
    "(i,j) -> (i/4 : dense, j/4 : compressed(index64), i%4 : dense, j%4 : dense)",
    ("(i,j) -> (i/4 : dense, j/4 : compressed, i%4 : compressed(nonunique, index64), "
     "j%4 : singleton(index64))"),
    "(i,j) -> (i/2 : dense, j : compressed, i%2 : dense)",
    "(i,j) -> (i/4 : dense, i%4 : dense, j/4 : compressed, j%4 : compressed)",
    ("(i,j) -> (i/8 : dense, j/8 : compressed, i%8/2 : dense, j%8/2 : dense, i%2 : dense, "
     "j%2 : dense)"),
    ("(i,j) -> (i/6 : compressed, j/4 : compressed, i/2%3 : compressed, i%2 : dense, "
     "j%4 : dense)"),
};
enum { FORMATS = sizeof formats / sizeof *formats };

static const char *const statements[] = {
    "R(i) = A(i,j) * x(j)",
    "R(j) = A(i,j) * z(i)",
    "R(i) = 3 * A(i,j) * x(j) * z(i)",
    "R(i,k) = A(i,j) * B(j,k)",
    "R(k,j) = A(i,j) * C(i,k)",
    "R(i) = A(i,j)",
    "R(j) = A(i,j)",
    "R(i) = A(i,j) * Y(i,j)",
    "R(j) = A(i,j) * Y(i,j)",
    "R(i) = A(i,j) * z(i)",
    "R(j) = A(i,j) * x(j)",
    "R = A(i,j)",
    "R = A(i,j) * x(j)",
    "R = z(i) * A(i,j) * x(j)",
    "R = x(j) * A(i,j) * z(i)",
};
enum { STATEMENTS = sizeof statements / sizeof *statements };

static const int64_t shapes[][2] = {{11, 9}, {16, 24}, {1, 1}, {3, 40}, {40, 2}, {0, 5}};
enum { SHAPES = sizeof shapes / sizeof *shapes, INNER = 5, PLACES = 40 * 40, IN = 6 };
static const stc_type types[] = {STC_F64, STC_F32, STC_I64, STC_I32};

static stc_tensor *operand(stc_machine *m, const char *how, stc_type t, int order,
                           int64_t rows, int64_t cols, int every)
{
    const int64_t shape[] = {rows, cols}, n = order == 1 ? rows : rows * cols;
    int64_t *coords = calloc((size_t)(n * order + 1), sizeof *coords), count = 0;
    char *vals = calloc((size_t)n + 1, 8);
    for (int64_t k = 0; k < n; k++) { /* row by row, all rows before all columns */
        const uint64_t dice = (uint64_t)(k + every) * 0x9e3779b97f4a7c15u >> 33;
        if (dice % (uint64_t)every) continue;
        coords[count] = order == 1 ? k : k / cols;
        if (order == 2) coords[n + count] = k % cols;
        const value v = {.i64 = (int64_t)(dice / 3 % 9) - 3};
        type_store(t, vals, count++, class_convert(type_class(t), CLASS_I64, v));
    }
    if (order == 2) memmove(coords + count, coords + n, (size_t)count * sizeof *coords);
    stc_tensor *out = NULL;
    ck_ok(m,
          stc_tensor_from_coords(m, how, t, order, shape, NULL, count, coords, vals, &out));
    free(coords);
    free(vals);
    return out;
}

/* R's elements; whether its loops were taken over. */
static bool run(const char *text, const char *how, stc_type t, const int64_t *shape,
                bool no_super, int threads, double *out)
{
    heap h;
    stc_machine *m = machine_open(&h, no_super);
    ck_ok(m, stc_set_threads(m, threads));
    const stc_decl d[] = {{0, "A", how, t, NULL, 2},     {0, "x", "dense", t, NULL, 1},
                          {0, "z", "dense", t, NULL, 1}, {0, "B", "dense", t, NULL, 2},
                          {0, "C", "dense", t, NULL, 2}, {0, "Y", "dense", t, NULL, 2},
                          {0, "R", "dense", t, NULL, -1}};
    stc_tensor *in[] = {operand(m, how, t, 2, shape[0], shape[1], 3),
                        operand(m, "dense", t, 1, shape[1], 0, 1),
                        operand(m, "dense", t, 1, shape[0], 0, 1),
                        operand(m, "dense", t, 2, shape[1], INNER, 1),
                        operand(m, "dense", t, 2, shape[0], INNER, 1),
                        operand(m, "dense", t, 2, shape[0], shape[1], 1)};
    stc_program *p;
    const stc_status st = stc_compile(m, text, d, IN + 1, &p);
    ck_assert_msg(st == STC_OK, "%s, %s: %s", text, how, stc_error(m)->message);
    for (int k = 0; k < IN; k++)
        if (strstr(strchr(text, '='), (char[]){d[k].name[0], '(', 0}))
            ck_ok(m, stc_bind(p, d[k].name, in[k]));
    const stc_tensor *got;
    stc_tensor *dense;
    char *code;
    memset(out, 0, PLACES * sizeof *out);
    for (int round = 0; round < 2; round++)
        ck_ok(m, stc_run(p));
    ck_ok(m, stc_result(p, "R", &got));
    ck_ok(m, stc_tensor_convert(got, "dense", STC_F64, &dense));
    ck_ok(m, stc_tensor_to_dense(dense, out));
    ck_ok(m, stc_program_explain(p, "code", &code));
    const bool taken = strstr(code, "blocks nest of") != NULL;
    stc_text_free(m, code);
    stc_tensor_free(dense);
    stc_program_free(p);
    for (int k = 0; k < IN; k++)
        stc_tensor_free(in[k]);
    machine_shut(m, &h);
    return taken;
}

START_TEST(as_base_operations)
{
    const char *how = formats[_i % FORMATS], *text = statements[_i / FORMATS];
    const bool converted = strchr(text, 'k') && strcmp(how, "dia"); /* src/plan/native.c */
    static double want[PLACES], got[PLACES];
    for (int s = 0; s < SHAPES; s++)
        for (int t = 0; t < 4; t++) {
            run(text, how, types[t], shapes[s], true, 1, want);
            for (int threads = 1; threads < 3; threads++) {
                const bool taken = run(text, how, types[t], shapes[s], false, threads, got);
                for (int k = 0; k < PLACES; k++)
                    ck_assert_msg(got[k] == want[k], "%s, %s, %d x %d: %d is %g, not %g",
                                  text, how, (int)shapes[s][0], (int)shapes[s][1], k,
                                  got[k], want[k]);
                ck_assert_msg(taken == (!converted && types[t] != STC_I32), "%s, %s", text,
                              how);
            }
        }
}
END_TEST

Suite *suite_blocks(void)
{
    Suite *s = suite_create("blocks");
    TCase *c = tcase_create("blocks");
    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, as_base_operations, 0, FORMATS * STATEMENTS);
    suite_add_tcase(s, c);
    return s;
}
