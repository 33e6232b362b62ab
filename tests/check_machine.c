/* check_machine.c: running: limits, interrupts, running again, what is bound,
 * and that base operations and superinstructions give the same. */
#include "check.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static stc_tensor *vector(stc_machine *m, const char *name, int64_t n)
{
    double *v = malloc((size_t)(n + 1) * sizeof *v);
    for (int64_t k = 0; k < n; k++)
        v[k] = (double)(k % 7) - 3;
    stc_tensor *t = NULL;
    ck_ok(m, stc_tensor_from_dense(m, name, STC_F64, 1, &n, NULL, v, &t));
    free(v);
    return t;
}

static stc_program *spmv(stc_machine *m)
{
    const stc_decl d[] = {{0, "A", "csr", STC_F64, NULL, 2},
                          {0, "x", "dense", STC_F64, NULL, 1}};
    stc_program *p = NULL;
    ck_ok(m, stc_compile(m, "y(i) = A(i,j) * x(j)", d, 2, &p));
    return p;
}

START_TEST(runs_again)
{
    heap h;
    stc_machine *m = machine_open(&h, _i == 1);
    stc_program *p = spmv(m);
    stc_tensor *a = sample_matrix(m, "csr"), *x = vector(m, "dense", 5);
    ck_ok(m, stc_bind(p, "A", a));
    ck_ok(m, stc_bind(p, "x", x));
    double y[4];
    for (int round = 0; round < 3; round++) {
        const stc_tensor *t;
        ck_ok(m, stc_run(p));
        ck_ok(m, stc_result(p, "y", &t));
        ck_ok(m, stc_tensor_to_dense(t, y));
        const double right[] = {0, 0, -13, 6};
        for (int k = 0; k < 4; k++)
            ck_assert_msg(y[k] == right[k], "y(%d) is %g", k, y[k]);
    }
    stc_tensor *taken;
    ck_ok(m, stc_take(p, "y", &taken));
    ck_ok(m, stc_run(p));
    stc_program_free(p);
    ck_ok(m, stc_tensor_to_dense(taken, y));
    ck_assert(y[3] == 6);
    stc_tensor_free(taken);
    stc_tensor_free(a);
    stc_tensor_free(x);
    machine_shut(m, &h);
}
END_TEST

/* A diagonal, by a loop that locates an operand below another of its own: that one is
 * elsewhere in each round. */
START_TEST(locates_below_its_own)
{
    static const char text[] =
        ".registers v 2 i 1 m 1 c 3\n"
        ".tensor t0 \"A\" input f64 (0) format 2 dense(0) dense(1)\n"
        ".tensor t1 \"y\" output f64 (0) [e0] format 1 dense(0)\n"
        ".extent e0 dim t0 0\n"
        ".extent e1 dim t0 1\n"
        ".check e0 eq e1 \"A is %a by %b\"\n"
        ".merge g0 lo root hi e0 universe produce 0xf { locate c0 t0 0 root root 1, "
        "locate c1 t0 1 c0 root 1 }\n"
        ".code\n"
        "  begin t1\n"
        "  loop i0, m0, g0\n"
        "    at c2, t1, 0, root, i0\n"
        "    load v0, t0, c1\n"
        "    store t1, c2, v0\n"
        "  end\n"
        "  finish t1\n"
        "  halt\n";
    heap h;
    stc_machine *m = machine_open(&h, _i == 1);
    const int64_t shape[] = {3, 3};
    double a[9], y[3];
    stc_tensor *t = NULL;
    const stc_tensor *got;
    stc_program *p = NULL;
    for (int k = 0; k < 9; k++)
        a[k] = k;
    ck_ok(m, stc_tensor_from_dense(m, "dense", STC_F64, 2, shape, NULL, a, &t));
    ck_ok(m, stc_program_assemble(m, text, "text", &p));
    ck_ok(m, stc_bind(p, "A", t));
    ck_ok(m, stc_run(p));
    ck_ok(m, stc_result(p, "y", &got));
    ck_ok(m, stc_tensor_to_dense(got, y));
    for (int k = 0; k < 3; k++)
        ck_assert_msg(y[k] == 4 * k, "y(%d) is %g", k, y[k]);
    stc_program_free(p);
    stc_tensor_free(t);
    machine_shut(m, &h);
}
END_TEST

static double sum_of(stc_machine *m, stc_program *p, int n)
{
    const stc_tensor *t;
    double y[16], sum = 0;
    ck_ok(m, stc_run(p));
    ck_ok(m, stc_result(p, "y", &t));
    ck_assert_int_eq((int)stc_tensor_shape(t)[0], n);
    ck_ok(m, stc_tensor_to_dense(t, y));
    for (int k = 0; k < n; k++)
        sum += y[k];
    return sum;
}

/* What a run knows of its operands isn't used when they are others, have been lent
 * other arrays, or the last binding was refused. */
START_TEST(changes_between_runs)
{
    heap h;
    stc_machine *m = machine_open(&h, _i == 1);
    stc_program *p = spmv(m);
    int32_t pos[] = {0, 1, 3}, crd[] = {2, 0, 1}, pos2[] = {0, 2, 3}, crd2[] = {0, 1, 2};
    double val[] = {1, 2, 3}, val2[] = {10, 20, 30}, ones[] = {1, 1, 1, 1},
           other[] = {5, 7};
    const int64_t shape[] = {2, 3}, wide[] = {3, 2}, three = 3, two = 2;
    const int64_t coords[] = {0, 1, 2, 2, 0, 1, 0, 1};
    stc_tensor *a = NULL, *b = NULL, *x = NULL, *z = NULL;
    ck_ok(m, stc_tensor_new(m, "csr", STC_F64, 2, shape, NULL, &a));
    ck_ok(m, stc_tensor_from_dense(m, "dense", STC_F64, 1, &three, NULL, ones, &x));
    ck_ok(m, stc_tensor_from_dense(m, "dense", STC_F64, 1, &two, NULL, other, &z));
    ck_ok(m, stc_tensor_from_coords(m, "csr", STC_F64, 2, wide, NULL, 4, coords, ones, &b));
    for (int round = 0; round < 2; round++) {
        ck_ok(m, stc_tensor_lend(a, 1, STC_POS, (stc_array){pos, 3, 4, 4}));
        ck_ok(m, stc_tensor_lend(a, 1, STC_CRD, (stc_array){crd, 3, 4, 4}));
        ck_ok(m, stc_tensor_lend_values(a, val, 3));
        ck_ok(m, stc_bind(p, "A", a));
        ck_ok(m, stc_bind(p, "x", x));
        ck_assert(sum_of(m, p, 2) == 6 && sum_of(m, p, 2) == 6);
        ck_ok(m, stc_tensor_lend(a, 1, STC_POS, (stc_array){pos2, 3, 4, 4}));
        ck_ok(m, stc_tensor_lend(a, 1, STC_CRD, (stc_array){crd2, 3, 4, 4}));
        ck_ok(m, stc_tensor_lend_values(a, val2, 3));
        ck_assert(sum_of(m, p, 2) == 60 && sum_of(m, p, 2) == 60);
        crd2[2] = 3; /* which is outside */
        stc_tensor_touch(a);
        ck_assert_int_eq(stc_run(p), STC_ERR_DATA);
        crd2[2] = 2;
        ck_assert(sum_of(m, p, 2) == 60);
        ck_ok(m, stc_bind(p, "A", b));
        ck_assert_int_eq(stc_run(p), STC_ERR_SHAPE); /* x is too long */
        ck_ok(m, stc_bind(p, "x", z));
        ck_assert(sum_of(m, p, 3) == 24 && sum_of(m, p, 3) == 24);
        ck_ok(m, stc_bind(p, "x", NULL));
        ck_assert_int_eq(stc_run(p), STC_ERR_ARGUMENT);
        ck_ok(m, stc_bind(p, "x", z));
        ck_assert(sum_of(m, p, 3) == 24);
    }
    stc_program_free(p);
    stc_tensor_free(a);
    stc_tensor_free(b);
    stc_tensor_free(x);
    stc_tensor_free(z);
    machine_shut(m, &h);
}
END_TEST

/* What a program converts for itself is converted again when the host says that it changed
 * it, and only then. */
START_TEST(converts_anew)
{
    heap h;
    stc_machine *m = machine_open(&h, _i == 1);
    const stc_decl d[] = {{0, "A", "csc", STC_F64, NULL, 2},
                          {0, "B", "csr", STC_F64, NULL, 2}};
    int32_t pos[] = {0, 1, 2, 3}, crd[] = {0, 1, 1};
    double val[] = {1, 2, 3}, ones[] = {1, 1, 1, 1, 1, 1};
    const int64_t shape[] = {2, 3};
    stc_tensor *a = NULL, *b = NULL;
    stc_program *p = NULL;
    char *code;
    ck_ok(m, stc_compile(m, "y(i) = A(i,j) * B(i,j)", d, 2, &p));
    ck_ok(m, stc_program_explain(p, "code", &code));
    ck_assert(strstr(code, "convert"));
    stc_text_free(m, code);
    ck_ok(m, stc_tensor_new(m, "csc", STC_F64, 2, shape, NULL, &a));
    ck_ok(m, stc_tensor_lend(a, 1, STC_POS, (stc_array){pos, 4, 4, 4}));
    ck_ok(m, stc_tensor_lend(a, 1, STC_CRD, (stc_array){crd, 3, 4, 4}));
    ck_ok(m, stc_tensor_lend_values(a, val, 3));
    ck_ok(m, stc_tensor_from_dense(m, "csr", STC_F64, 2, shape, NULL, ones, &b));
    ck_ok(m, stc_bind(p, "A", a));
    ck_ok(m, stc_bind(p, "B", b));
    ck_assert(sum_of(m, p, 2) == 6 && sum_of(m, p, 2) == 6);
    for (int k = 0; k < 3; k++)
        val[k] *= 10;
    stc_tensor_touch_values(a);
    ck_assert(sum_of(m, p, 2) == 60 && sum_of(m, p, 2) == 60);
    crd[0] = 1; /* to the other row */
    stc_tensor_touch(a);
    ck_assert(sum_of(m, p, 2) == 60);
    const stc_tensor *t;
    double y[2];
    ck_ok(m, stc_result(p, "y", &t));
    ck_ok(m, stc_tensor_to_dense(t, y));
    ck_assert(y[0] == 0 && y[1] == 60);
    stc_program_free(p);
    stc_tensor_free(a);
    stc_tensor_free(b);
    machine_shut(m, &h);
}
END_TEST

/* A tensor that is read and written, the host's where it is bound: what the program left
 * alone isn't its to give away. */
START_TEST(read_and_written)
{
    static const struct {
        double n, y, want;
        bool bound, taken;
    } runs[] = {{3, 0, 3, false, false},
                {0, 5, 5, true, false},
                {4, 5, 4, true, true},
                {0, 5, 5, true, false},
                {0, 0, 0, false, true}};
    heap h;
    stc_machine *m = machine_open(&h, _i == 1);
    stc_program *p;
    ck_ok(m, stc_program_assemble(m,
                                  ".registers v 2 i 0 m 0 c 0\n"
                                  ".tensor t0 \"n\" input f64 (0) format 0\n"
                                  ".tensor t1 \"y\" inout f64 (0) [] format 0\n.code\n"
                                  "load v0, t0, root\nfn1 v1, not, f64, v0\nif v1\nelse\n"
                                  "begin t1\nstore t1, root, v0\nfinish t1\nendif\nhalt\n",
                                  "branches", &p));
    for (size_t k = 0; k < sizeof runs / sizeof *runs; k++) {
        stc_tensor *n, *y, *taken;
        const stc_tensor *r;
        stc_value v;
        ck_ok(m, stc_tensor_from_dense(m, "dense", STC_F64, 0, NULL, NULL, &runs[k].n, &n));
        ck_ok(m, stc_tensor_from_dense(m, "dense", STC_F64, 0, NULL, NULL, &runs[k].y, &y));
        ck_ok(m, stc_bind(p, "n", n));
        ck_ok(m, stc_bind(p, "y", runs[k].bound ? y : NULL));
        ck_ok(m, stc_run(p));
        ck_ok(m, stc_result(p, "y", &r));
        ck_ok(m, stc_tensor_get(r, NULL, &v));
        ck_assert_msg(v.f == runs[k].want, "run %zu: %g", k, v.f);
        if (runs[k].bound && !runs[k].n) ck_assert_ptr_eq(r, y);
        const stc_status st = runs[k].taken || r == y ? stc_take(p, "y", &taken) : STC_OK;
        ck_assert_int_eq(st, r == y ? STC_ERR_ARGUMENT : STC_OK);
        if (runs[k].taken) stc_tensor_free(taken);
        ck_ok(m, stc_bind(p, "n", NULL));
        ck_ok(m, stc_bind(p, "y", NULL));
        stc_tensor_free(n);
        stc_tensor_free(y);
    }
    stc_program_free(p);
    machine_shut(m, &h);
}
END_TEST

/* Results that branches begin: one that a failed run left open is no fault of a run that
 * doesn't begin it; one that a run leaves open is. */
START_TEST(begun_by_a_branch)
{
    static const struct {
        int64_t n;
        stc_status status;
    } runs[] = {{0, STC_OK},
                {1, STC_ERR_ARITHMETIC},
                {0, STC_OK},
                {2, STC_ERR_CORRUPT},
                {0, STC_OK}};
    heap h;
    stc_machine *m = machine_open(&h, _i == 1);
    stc_program *p;
    ck_ok(m, stc_program_assemble(m,
                                  ".registers v 6 i 0 m 0 c 0\n"
                                  ".tensor t0 \"n\" input i64 (0) format 0\n"
                                  ".tensor t1 \"y\" output i64 (0) [] format 0\n"
                                  ".const k0 i64 1\n.const k1 i64 2\n.code\n"
                                  "load v0, t0, root\nconst v1, k0\nconst v2, k1\n"
                                  "if v0\nbegin t1\nfn2 v3, sub, i64, v0, v1\n"
                                  "fn2 v4, mod, i64, v2, v3\nendif\nhalt\n",
                                  "branches", &p));
    for (size_t k = 0; k < sizeof runs / sizeof *runs; k++) {
        stc_tensor *n;
        const stc_tensor *y;
        ck_ok(m, stc_tensor_from_dense(m, "dense", STC_I64, 0, NULL, NULL, &runs[k].n, &n));
        ck_ok(m, stc_bind(p, "n", n));
        ck_assert_int_eq(stc_run(p), runs[k].status);
        ck_assert_int_eq(stc_result(p, "y", &y), STC_ERR_ARGUMENT);
        ck_ok(m, stc_bind(p, "n", NULL));
        stc_tensor_free(n);
    }
    stc_program_free(p);
    machine_shut(m, &h);
}
END_TEST

/* A profile of a run that ended in its first loop says nothing of the next one's. */
START_TEST(profile_of_a_failure)
{
    static const int64_t zeros[5];
    heap h;
    stc_machine *m = machine_open(&h, true);
    machine_profile_runs(m);
    const int64_t five = 5, two = 2;
    const stc_decl d[] = {{0, "A", "dcsr", STC_F64, NULL, 2},
                          {0, "n", "dense", STC_I64, NULL, 1},
                          {0, "w", "dense", STC_F64, NULL, 1},
                          {0, "R", "csr", STC_F64, NULL, 2}};
    stc_tensor *a = sample_matrix(m, "dcsr"), *n, *w = vector(m, "dense", two);
    stc_program *p;
    char *profile;
    ck_ok(m,
          stc_compile(m, "a = n(i) % n(i) + 1 % n(i)\nR(i,j) = A(i+k,j) * w(k)", d, 4, &p));
    ck_ok(m, stc_tensor_from_dense(m, "dense", STC_I64, 1, &five, NULL, zeros, &n));
    ck_ok(m, stc_bind(p, "A", a));
    ck_ok(m, stc_bind(p, "n", n));
    ck_ok(m, stc_bind(p, "w", w));
    ck_assert_int_eq(stc_run(p), STC_ERR_ARITHMETIC);
    ck_ok(m, stc_program_profile(p, &profile));
    ck_assert(strstr(profile, "loop") && !strstr(profile, "subsections visited"));
    stc_text_free(m, profile);
    stc_program_free(p);
    stc_tensor_free(a);
    stc_tensor_free(n);
    stc_tensor_free(w);
    machine_shut(m, &h);
}
END_TEST

START_TEST(wrong_bindings)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_program *p = spmv(m);
    stc_tensor *a = sample_matrix(m, "csr"), *c = sample_matrix(m, "csc");
    stc_tensor *x = vector(m, "dense", 5), *wide = vector(m, "dense", 6);
    ck_assert_int_eq(stc_run(p), STC_ERR_ARGUMENT);
    ck_assert_int_ne(stc_bind(p, "A", c), STC_OK);
    ck_assert_int_ne(stc_bind(p, "A", x), STC_OK);
    ck_assert_int_eq(stc_bind(p, "nope", x), STC_ERR_ARGUMENT);
    ck_ok(m, stc_bind(p, "A", a));
    ck_ok(m, stc_bind(p, "x", wide));
    ck_assert_int_eq(stc_run(p), STC_ERR_SHAPE);
    ck_assert(has_words(stc_error(m)->message, "5|6"));
    ck_ok(m, stc_bind(p, "x", x));
    ck_ok(m, stc_run(p));
    ck_ok(m, stc_bind(p, "x", NULL));
    ck_assert_int_eq(stc_run(p), STC_ERR_ARGUMENT);
    stc_program_free(p);
    stc_tensor_free(a);
    stc_tensor_free(c);
    stc_tensor_free(x);
    stc_tensor_free(wide);
    machine_shut(m, &h);
}
END_TEST

START_TEST(steps_are_limited)
{
    heap h = {0};
    const stc_config config = {
        .alloc = heap_alloc, .alloc_context = &h, .max_steps = 100, .no_super = _i == 1};
    stc_machine *m;
    ck_assert_int_eq(stc_open(&config, &m), STC_OK);
    const stc_decl d = {0, "x", "svec", STC_F64, NULL, 1};
    stc_program *p;
    ck_ok(m, stc_compile(m, "a = sin(x(i)) * x(i) + x(i)", &d, 1, &p));
    stc_tensor *small = vector(m, "svec", 10), *large = vector(m, "svec", 10000);
    ck_ok(m, stc_bind(p, "x", small));
    ck_ok(m, stc_run(p));
    ck_ok(m, stc_bind(p, "x", large));
    ck_assert_int_eq(stc_run(p), STC_ERR_STEPS);
    ck_ok(m, stc_bind(p, "x", small));
    ck_ok(m, stc_run(p));
    stc_program_free(p);
    stc_tensor_free(small);
    stc_tensor_free(large);
    machine_shut(m, &h);
}
END_TEST

START_TEST(endless_function)
{
    heap h = {0};
    const stc_config config = {
        .alloc = heap_alloc, .alloc_context = &h, .max_steps = 10000, .no_super = _i == 1};
    stc_machine *m;
    ck_assert_int_eq(stc_open(&config, &m), STC_OK);
    const stc_decl d = {0, "x", "dense", STC_F64, NULL, 1};
    stc_program *p;
    ck_ok(m,
          stc_compile(m, "fn f(x) { while (true) { x = x + 1 }; return x }\ny(i) = f(x(i))",
                      &d, 1, &p));
    stc_tensor *x = vector(m, "dense", 3);
    ck_ok(m, stc_bind(p, "x", x));
    ck_assert_int_eq(stc_run(p), STC_ERR_STEPS);
    stc_program_free(p);
    stc_tensor_free(x);
    machine_shut(m, &h);
}
END_TEST

typedef struct stopper {
    stc_machine *m;
    int calls;
} stopper;

static int stop(void *context, const char *what, uint64_t done, uint64_t total)
{
    stopper *s = context;
    (void)what, (void)done, (void)total;
    return ++s->calls > 0;
}

START_TEST(interrupted)
{
    heap h;
    stc_machine *m = machine_open(&h, _i == 1);
    stc_program *p = spmv(m);
    stc_tensor *a = sample_matrix(m, "csr"), *x = vector(m, "dense", 5);
    ck_ok(m, stc_bind(p, "A", a));
    ck_ok(m, stc_bind(p, "x", x));
    ck_ok(m, stc_run(p));
    stc_program_free(p);
    stc_tensor_free(a);
    stc_tensor_free(x);
    machine_shut(m, &h);
    stopper s = {NULL, 0};
    h = (heap){0};
    const stc_config config = {.alloc = heap_alloc,
                               .alloc_context = &h,
                               .no_super = _i == 1,
                               .progress = stop,
                               .progress_context = &s};
    ck_assert_int_eq(stc_open(&config, &m), STC_OK);
    const stc_decl d = {0, "x", "dense", STC_F64, NULL, 1};
    ck_ok(m, stc_compile(m, "a = max(i, j, k: cos(x(i) + x(j) * x(k)))", &d, 1, &p));
    x = vector(m, "dense", 600);
    ck_ok(m, stc_bind(p, "x", x));
    const stc_status st = stc_run(p);
    ck_assert_msg(st == STC_ERR_INTERRUPT, "%s after %d calls", stc_status_name(st),
                  s.calls);
    stc_program_free(p);
    stc_tensor_free(x);
    machine_shut(m, &h);
}
END_TEST

START_TEST(memory_is_capped)
{
    heap h = {0};
    const stc_config config = {
        .alloc = heap_alloc, .alloc_context = &h, .max_memory = 1 << 20};
    stc_machine *m;
    ck_assert_int_eq(stc_open(&config, &m), STC_OK);
    const stc_decl d = {0, "x", "dense", STC_F64, NULL, 1};
    stc_program *p;
    ck_ok(m, stc_compile(m, "y(i,j) = x(i) * x(j)", &d, 1, &p));
    stc_tensor *x = vector(m, "dense", 1000);
    ck_ok(m, stc_bind(p, "x", x));
    ck_assert_int_eq(stc_run(p), STC_ERR_MEMORY);
    ck_assert_uint_le(stc_memory_peak(m), 1 << 20);
    stc_tensor *small = vector(m, "dense", 10);
    ck_ok(m, stc_bind(p, "x", small));
    ck_ok(m, stc_run(p));
    stc_program_free(p);
    stc_tensor_free(x);
    stc_tensor_free(small);
    machine_shut(m, &h);
}
END_TEST

START_TEST(faults_name_their_place)
{
    expect_error(
        "tensor x dense i64 = [4,3,0]\ntensor z dense i64 = [1,1,0]\ny(i) = z(i) // x(i)\n"
        "tensor w dense i64 = [1,1,5]\ny(i) = w(i) // x(i)",
        STC_ERR_ARITHMETIC, "zero|2");
}
END_TEST

/* Operations that lowering doesn't need, in what it made: `from` becomes `to` in the
 * program's text. y then has these elements, by base operations, too. */
static void rewritten(bool base, const char *text, const stc_decl *d,
                      stc_tensor *(*operand)(stc_machine *), const char *from,
                      const char *to, int64_t n, const double *want)
{
    heap h;
    stc_machine *m = machine_open(&h, base);
    stc_program *p, *q;
    char *dump, *at, edited[4000];
    const stc_tensor *y;
    double got[25];
    ck_ok(m, stc_compile(m, text, d, 1, &p));
    ck_ok(m, stc_program_dump(p, &dump));
    ck_assert_ptr_nonnull(at = strstr(dump, from));
    snprintf(edited, sizeof edited, "%.*s%s%s", (int)(at - dump), dump, to,
             at + strlen(from));
    if ((at = strstr(edited, " while t0"))) memset(at, ' ', strlen(" while t0"));
    ck_ok(m, stc_program_assemble(m, edited, "edited", &q));
    stc_tensor *x = operand(m), *dense;
    ck_ok(m, stc_bind(q, "x", x));
    ck_ok(m, stc_run(q));
    ck_ok(m, stc_result(q, "y", &y));
    ck_ok(m, stc_tensor_convert(y, "dense", STC_F64, &dense));
    ck_ok(m, stc_tensor_to_dense(dense, got));
    for (int64_t k = 0; k < n; k++)
        ck_assert_msg(got[k] == want[k], "%s: element %d is %g", to, (int)k, got[k]);
    stc_text_free(m, dump);
    stc_tensor_free(dense);
    stc_tensor_free(x);
    stc_program_free(q);
    stc_program_free(p);
    machine_shut(m, &h);
}

static stc_tensor *hundreds(stc_machine *m)
{
    const int64_t n = 3, v[] = {1, 100, -500};
    stc_tensor *t = NULL;
    ck_ok(m, stc_tensor_from_dense(m, "dense", STC_I64, 1, &n, NULL, v, &t));
    return t;
}

static stc_tensor *full(stc_machine *m)
{
    return sample_matrix(m, "dense");
}

/* Rows found again in the innermost loop: sums on the diagonal only. */
START_TEST(rows_from_inside)
{
    const stc_decl x = {0, "x", "dense", STC_F64, NULL, 2};
    double want[25] = {0};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 5; j++)
            for (int k = 0; k < 5; k++)
                want[6 * k] += sample_dense[5 * i + j] * sample_dense[5 * i + k];
    rewritten(_i, "y(j,k) = x(i,j) * x(i,k)", &x, full, "at         c5, t1, 1, c0, i1",
              "at c0, t1, 0, root, i1\n at c5, t1, 1, c0, i1", 25, want);
}
END_TEST

static stc_tensor *matrix(stc_machine *m)
{
    return sample_matrix(m, "csr");
}

START_TEST(other_operations)
{
    const stc_decl x = {0, "x", "dense", STC_I64, NULL, 1},
                   a = {0, "x", "csr", STC_F64, NULL, 2};
    const double wrapped[] = {45, -112, 56};
    double twice[20];
    for (int k = 0; k < 20; k++)
        twice[k] = 2 * sample_dense[k];
    rewritten(_i, "y(i) = x(i) + 300", &x, hundreds, "    store ",
              "    wrap v2, i8, v2\n    store ", 3, wrapped);
    rewritten(_i, "tensor y csc\ny(i,j) = x(i,j) + x(i,j)", &a, matrix, "  convert ",
              "  pack ", 20, twice);
}
END_TEST

Suite *suite_machine(void)
{
    Suite *s = suite_create("machine");
    TCase *c = tcase_create("machine");
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, runs_again, 0, 2);
    tcase_add_loop_test(c, locates_below_its_own, 0, 2);
    tcase_add_loop_test(c, changes_between_runs, 0, 2);
    tcase_add_loop_test(c, converts_anew, 0, 2);
    tcase_add_loop_test(c, read_and_written, 0, 2);
    tcase_add_loop_test(c, begun_by_a_branch, 0, 2);
    tcase_add_test(c, profile_of_a_failure);
    tcase_add_test(c, wrong_bindings);
    tcase_add_loop_test(c, steps_are_limited, 0, 2);
    tcase_add_loop_test(c, endless_function, 0, 2);
    tcase_add_loop_test(c, interrupted, 0, 2);
    tcase_add_test(c, memory_is_capped);
    tcase_add_test(c, faults_name_their_place);
    tcase_add_loop_test(c, other_operations, 0, 2);
    tcase_add_loop_test(c, rows_from_inside, 0, 2);
    suite_add_tcase(s, c);
    return s;
}
