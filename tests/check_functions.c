/* check_functions.c: built-in functions: scalar implementations against the
 * oracle's, array ones against scalar ones, and declared properties against
 * what the functions compute. */
#include "../vm/fn/functions.h"
#include "check.h"
#include "oracle_value.h"
#include <math.h>
#include <string.h>

static const stc_type class_types[CLASS_COUNT] = {STC_I64, STC_U64, STC_F32,
                                                  STC_F64, STC_C64, STC_C128};

static value to_value(const oval *o)
{
    return value_from_public(o->type, ov_public(o));
}

static oval from_value(stc_type t, value v)
{
    char block[16];
    type_store(t, block, 0, v);
    return ov_load(t, block, 0);
}

static oval sample(stc_type t, int k)
{
    static const double real[] = {0, 1, -1, 0.5, -2.25, 3, 7, 1e6};
    if (t == STC_I64) return ov_int(t, (int64_t)(real[k % 8] * 2));
    if (t == STC_U64) return ov_int(t, k % 8 + (k == 7 ? 1000 : 0));
    return ov_complex(t, real[k % 8], t >= STC_C64 ? real[(k + 3) % 8] : 0);
}

/* Where the oracle makes a claim, the function must agree. */
static void against_oracle(int id, int cls)
{
    const fn_info *f = fn_at(id);
    const int of = of_find(f->name, strlen(f->name), f->arity);
    fn_scalar run = fn_scalar_of(id, (vclass)cls);
    if (of < 0 || !run || f->typing == TY_SELECT || f->typing == TY_FLOATINT) return;
    const stc_type t = class_types[cls];
    const stc_type rt = class_type(fn_result_class(id, (vclass)cls));
    for (int k = 0; k < 8 * 8; k++) {
        const oval a[3] = {sample(t, k % 8), sample(t, k / 8), sample(t, k % 5)};
        const value v[3] = {to_value(&a[0]), to_value(&a[1]), to_value(&a[2])};
        value out;
        memset(&out, 0, sizeof out);
        unsigned flags = 0;
        const fn_fault fault = run(&out, &v[0], &v[1], &v[2]);
        oval want = of_call(of, a, &flags);
        if (flags & OV_FAULT) {
            const bool one = fault == FAULT_NONE && !(flags & OV_FAULT);
            ck_assert_msg(one || fault != FAULT_NONE || strcmp(f->name, "pow") == 0,
                          "%s should fault", f->name);
            continue;
        }
        const oval got = from_value(rt, out);
        if (want.type != rt) want = ov_convert(want, rt);
        char x[64], y[64];
        ov_print(&want, x, sizeof x);
        ov_print(&got, y, sizeof y);
        ck_assert_msg(ov_agrees(&want, &got), "%s in %s, sample %d: %s, expected %s",
                      f->name, class_name((vclass)cls), k, y, x);
    }
}

START_TEST(scalars)
{
    for (int id = 0; id < FN_COUNT; id++)
        for (int cls = 0; cls < CLASS_COUNT; cls++)
            against_oracle(id, cls);
}
END_TEST

static void arrays_against_scalars(int id, int cls)
{
    enum { N = 40 };
    const fn_info *f = fn_at(id);
    fn_scalar one = fn_scalar_of(id, (vclass)cls);
    fn_array many = fn_array_of(id, (vclass)cls);
    ck_assert_msg(!one == !many, "%s: one of scalar and array is missing", f->name);
    if (!one) return;
    char in[3][N * 16], out[N * 16];
    const vclass rc = fn_result_class(id, (vclass)cls);
    fn_fault fault = FAULT_NONE;
    value want[N];
    for (int k = 0; k < N; k++) {
        value v[3];
        for (int p = 0; p < 3; p++) {
            const vclass pc =
                p < f->arity ? fn_operand_class(id, (vclass)cls, p) : (vclass)cls;
            const oval o = sample(class_types[pc], k * (p + 1) + p);
            v[p] = to_value(&o);
            type_store(class_types[pc], in[p], k, v[p]);
        }
        const fn_fault g = one(&want[k], &v[0], &v[1], &v[2]);
        if (g != FAULT_NONE) fault = g;
    }
    const fn_fault got = many(out, in[0], in[1], in[2], N);
    ck_assert_msg((got != FAULT_NONE) == (fault != FAULT_NONE), "%s: faults differ",
                  f->name);
    for (int k = 0; k < N && fault == FAULT_NONE; k++) {
        const value g = type_load(class_types[rc], out, k);
        ck_assert_msg(class_equal(rc, g, want[k]), "%s in %s: element %d", f->name,
                      class_name((vclass)cls), k);
    }
}

/* Three runs, one of them empty, into elements that stand otherwise. */
static void folds_against_scalars(int id, int cls, bool in_order)
{
    enum { N = 40 };
    static const int lane[] = {2, 0, 1}, end[] = {7, 7, N};
    static const uint16_t other[] = {1, 2, 0};
    const fn_fold many = fn_fold_of(id, (vclass)cls);
    if (!many) return;
    const fn_scalar one = fn_scalar_of(id, (vclass)cls);
    char in[N * 16], out[3 * 16];
    value want[3];
    for (int k = 0; k < N; k++) {
        const oval o = sample(class_types[cls], 3 * k + 1);
        type_store(class_types[cls], in, k, to_value(&o));
        if (k < 3) type_store(class_types[cls], out, k, want[k] = to_value(&o));
    }
    for (int r = 0, k = 0; r < 3; r++)
        for (; k < end[r]; k++) {
            const value x = want[lane[r]], y = type_load(class_types[cls], in, k);
            ck_assert_int_eq(one(&want[lane[r]], &x, &y, NULL), FAULT_NONE);
        }
    many(out, in, lane, end, in_order ? NULL : other, 3);
    for (int k = 0; k < 3; k++) {
        const value got = type_load(class_types[cls], out, k);
        ck_assert_msg(class_equal((vclass)cls, got, want[k]), "%s in %s: element %d",
                      fn_at(id)->name, class_name((vclass)cls), k);
    }
}

START_TEST(folds)
{
    for (int id = 0; id < FN_COUNT; id++)
        for (int cls = 0; cls < CLASS_COUNT; cls++)
            for (int in_order = 0; in_order < 2; in_order++)
                folds_against_scalars(id, cls, in_order);
    ck_assert_ptr_null(fn_fold_of(FN_DIV, CLASS_I64));
    ck_assert_ptr_null(fn_fold_of(FN_LT, CLASS_F64));
}
END_TEST

START_TEST(arrays)
{
    for (int id = 0; id < FN_COUNT; id++)
        for (int cls = 0; cls < CLASS_COUNT; cls++)
            arrays_against_scalars(id, cls);
}
END_TEST

/* An identity gives the other operand back, an annihilator itself, for finite
 * samples at least. */
static void property(int id, int cls, const fn_prop *p, bool identity)
{
    const fn_info *f = fn_at(id);
    fn_scalar run = fn_scalar_of(id, (vclass)cls);
    value c;
    if (p->value == FC_NONE || f->arity != 2 || !run || !(p->classes >> cls & 1)) return;
    if (!fn_constant(p->value, (vclass)cls, class_types[cls], &c)) return;
    for (int at = 0; at < 2; at++) {
        if (p->position != AT_ANY && p->position != at) continue;
        for (int k = 0; k < 8; k++) {
            const oval o = sample(class_types[cls], k);
            value x = to_value(&o), out;
            if (run(&out, at ? &x : &c, at ? &c : &x, &x) != FAULT_NONE) continue;
            const value want = identity ? x : c;
            if (isnan(from_value(class_type(fn_result_class(id, (vclass)cls)), out).re))
                continue; /* 0 / 0 and its kin */
            ck_assert_msg(class_equal(fn_result_class(id, (vclass)cls), out, want),
                          "%s in %s: %s at %d, sample %d", f->name, class_name((vclass)cls),
                          identity ? "identity" : "annihilator", at, k);
        }
    }
}

START_TEST(properties)
{
    for (int id = 0; id < FN_COUNT; id++) {
        const fn_info *f = fn_at(id);
        for (int k = 1; k < 3; k++) /* call_annihilators counts up to the first gap */
            ck_assert_msg(f->annihilator[k].value == FC_NONE ||
                              f->annihilator[k - 1].value != FC_NONE,
                          "%s has an annihilator behind a gap", f->name);
        if (f->typing == TY_LOGIC) continue;    /* theirs hold for truth values */
        if (f->flags & FP_NORMALISES) continue; /* … of normal forms */
        if (id == FN_SAMPLED) continue;         /* … of what isn't stored alone */
        const bool rounds = strcmp(f->name, "pow") == 0;
        for (int cls = 0; cls < CLASS_COUNT; cls++) {
            if (rounds && cls >= CLASS_C64) continue;
            for (int k = 0; k < 2; k++)
                property(id, cls, &f->identity[k], true);
            for (int k = 0; k < 3; k++)
                property(id, cls, &f->annihilator[k], false);
        }
    }
}
END_TEST

/* What comes of literals alone adapts as a literal does: 2**24 + 1 is no f32. */
START_TEST(literals)
{
    EXPECT("tensor x f32 = 0\ny = x + abs(-16777217)\n", "y", 16777216);
    EXPECT("fn same(v) = v\ntensor x f32 = 0\ny = x + same(16777217)\n", "y", 16777216);
    EXPECT("tensor k i8 = 100\ny = k + max(100, 3)\n", "y", -56);
    EXPECT("tensor k i8 = 100\nfn more(a) { if (a > 2) { a = a + 1 }; return a }\n"
           "y = k + more(99)\n",
           "y", -56);
    EXPECT("tensor k i8 = 100\ny = k + select(k > 3, 100, 1)\n", "y", 200);
    EXPECT("tensor u dense u8 [3] = 200\ny += u(i)\n", "y", 600);
    EXPECT("tensor m dense bool [3] = true\ny *= m(i)\n", "y", 1);
    expect_error("tensor u u8 = 1\ny = u + max(300, 2)\n", STC_ERR_PROGRAM, "300|u8");
    expect_error("tensor u u8 = 1\ny = u - (-2)\n", STC_ERR_PROGRAM, "-2|u8");
    expect_error("fn f(a, b) { a = b; return a }\ntensor u u8 = 1\ny = f(-2, u)\n",
                 STC_ERR_PROGRAM, "-2|u8");
    expect_error("fn half(v) = v / 2.0\ntensor u u8 = 1\ny ^= half(u)\n", STC_ERR_PROGRAM,
                 "^|f64");
}
END_TEST

/* Loops square by a product; other powers, and those of complex numbers, are powers. */
START_TEST(squares_in_loops)
{
    EXPECT("tensor a i8 [4] = { (0): 12, (1): -7, (3): 127 }\ntensor y dense i8\n"
           "y(i) = a(i) ** 2\n",
           "y", -112, 49, 0, 1);
    EXPECT("tensor a csr f64 [2,2] = { (0,0): -1.5, (1,1): inf }\ntensor y dense f64\n"
           "y(i) = a(i,j) ** 2\n",
           "y", 2.25, INFINITY);
    EXPECT("tensor a csr u64 [2,2] = { (0,1): 3, (1,1): 4 }\ntensor y dense u64\n"
           "y(i) = a(i,j) ** 3 + a(i,j) ** 2\n",
           "y", 36, 80);
    EXPECT("tensor a dense c128 [2] = { (0): 3, (1): 2 }\ntensor y dense f64\n"
           "y(i) = round(abs(a(i) ** 2))\n",
           "y", 9, 4);
}
END_TEST

START_TEST(integer_rules)
{
    EXPECT("tensor a i64 = 0\ntensor b i64 = 0\nc = isnan(a / b)\n", "c", 1);
    EXPECT("tensor a i64 = 7\nc = a / -2\n", "c", -3.5);
    EXPECT("tensor a i64 = 7\nc = a // -2\n", "c", -4);
    EXPECT("tensor a i64 = -7\nc = a % 3\n", "c", 2);
    EXPECT("tensor a i64 = 7\nc = a % -3\n", "c", -2);
    EXPECT("tensor a f64 = -7.5\nc = a % 2 + 10 * (a // 2)\n", "c", -39.5);
    EXPECT("tensor a u8 = 200\nc = a // 3 + a % 7\n", "c", 70);
    EXPECT("tensor a i64 = 2\nc = a ** 10\n", "c", 1024);
    EXPECT("tensor a f64 = 0\nc = a ** 0\n", "c", 1);
    EXPECT("tensor a f64 = 2\nc = a ** -1\n", "c", 0.5);
    EXPECT("tensor a f64 = 2.5\nc = round(a)\n", "c", 2);
    EXPECT("tensor a i64 = 12\nc = gcd(a, -18)\n", "c", 6);
    EXPECT("x = lrint(2.5) + 10 * lround(2.5) + 100 * ilogb(9) + 1000 * llrint(-0.5)\n",
           "x", 332);
    EXPECT(
        "x = lrint(inf) == 9223372036854775807 && lrint(nan) == 0 && isunordered(1, nan)\n",
        "x", 1);
    EXPECT("x = fabs(-3) + scalbn(3, 2) + nearbyint(1.5) + (isgreater(3, 2) && isless(2, "
           "3))\n",
           "x", 18);
    EXPECT(
        "x = arg(-2) == arg(-2 + 0j) && carg(1j) == atan2(1, 0) && real(proj(3j)) == 0\n",
        "x", 1);
    EXPECT("tensor v csr i64 [2,3] = { (0,1): -4, (1,2): -6, (0,2): 9 }\n"
           "tensor g dense i64 [3]\ng(j) = gcd(i: v(i,j))\n",
           "g", 0, 4, 3);
    EXPECT("tensor a i8 = 100\ntensor c i8 = 0\nc = a + a\n", "c", -56);
    expect_error("tensor a i64 = 1\ntensor b i64 = 0\nc = a // b\n", STC_ERR_ARITHMETIC,
                 "zero");
    expect_error("tensor a i64 = 0\ntensor b i64 = 0\nc = a // b\n", STC_ERR_ARITHMETIC,
                 "zero");
    expect_error("tensor a u8 = 0\ntensor b u8 = 0\nc = a % b\n", STC_ERR_ARITHMETIC,
                 "zero");
    expect_error("tensor a i64 = 2\ntensor b i64 = -1\nc = a ** b\n", STC_ERR_ARITHMETIC,
                 "negative");
}
END_TEST

#define SIDES                                                                              \
    "fn u(x, y) = x * y + 1\n"                                                             \
    "fn idle(x, y) { while (x == x) { y += 1 }; return y }\n"                              \
    "tensor x dense i64 [3] = [1, 2, 3]\ntensor k dense i64 [3] = [1, 0, 3]\n"             \
    "tensor m dense bool [4] = [0, 1, 0, 1]\ntensor no dense bool [4] = 0\n"               \
    "tensor none dense i64 [0] = {}\ntensor E csr i64 [4,0] = {}\n"                        \
    "tensor A csr i64 [4,3] = { (1,0): 2, (1,2): 3, (3,1): 4 }\n"

/* A side that isn't taken isn't evaluated, reductions in it neither. */
START_TEST(sides_not_taken)
{
    EXPECT(SIDES "y = select(x(i) > 9, u(j: none(j)), 7)\n", "y", 21);
    EXPECT(SIDES "y = all(i: x(i) < 9) || u(j: none(j)) > 0\n", "y", 1);
    EXPECT(SIDES "y = any(i: no(i)) && u(j: none(j)) > 0\n", "y", 0);
    EXPECT(SIDES "y(i) = select(no(i), sum(j: 10 // k(j)), 5)\n", "y", 5, 5, 5, 5);
    EXPECT(SIDES "y(i) = select(no(i) && any(j: 2 ** -k(j) > 1), 1, 5)\n", "y", 5, 5, 5, 5);
    EXPECT(SIDES "y(i) = select(no(i), idle(j: k(j)), i)\n", "y", 0, 1, 2, 3);
    EXPECT(SIDES "y(i) = select(m(i), u(j: x(j)), -1)\n", "y", -1, 10, -1, 10);
    EXPECT(SIDES "y(i) = select(m(i), u(j: A(i,j)), -1)\n", "y", -1, 4, -1, 1);
    EXPECT(SIDES "s = sum(i: select(m(i), u(j: x(j)), 0))\n", "s", 20);
    EXPECT(SIDES "y(i) = select(m(i), select(no(i), u(j: E(i,j)), u(j: x(j)) + i), -1)\n",
           "y", -1, 11, -1, 13);
    EXPECT(SIDES
           "y(i) = select(m(i), sum(j: select(x(j) > 1, u(p: x(p) * j + i), 0)), -1)\n",
           "y", -1, 142, -1, 452);
    EXPECT(SIDES "C(i,j) = select(A(i,j) > 2, u(p: x(p)), u(p: x(p) + i))\n", "C", 10, 10,
           10, 29, 29, 10, 66, 66, 66, 127, 10, 127);
    EXPECT(SIDES "C(i,j) = select(m(i), u(p: x(p) + A(i,p)), 0) * A(i,j)\n", "C", 0, 0, 0,
           86, 0, 129, 0, 0, 0, 0, 88, 0);
    EXPECT(SIDES "y(i) = select(m(i), u(j: x(j)), -1) with parallelize(i)\n", "y", -1, 10,
           -1, 10);
    expect_error(SIDES "y(i) = select(m(i), i, u(j: none(j)))\n", STC_ERR_ARITHMETIC,
                 "over nothing|(0)");
    expect_error(SIDES "y(i) = select(u(j: none(j)) > 0, x(i), k(i))\n", STC_ERR_ARITHMETIC,
                 "over nothing");
    expect_error(SIDES "y(i) = u(j: E(i,j)) + select(m(i), 1, 2)\n", STC_ERR_ARITHMETIC,
                 "over nothing");
}
END_TEST

/* Divisions and powers there are by 1, and no loop branches for them. */
START_TEST(divisions_not_taken)
{
    static const stc_decl decl[] = {{0, "k", "dense", STC_I64, NULL, -1},
                                    {0, "y", "dense", STC_I64, NULL, -1}};
    EXPECT(SIDES "y(i) = select(k(i) != 0, 7 // k(i), -1)\n", "y", 7, -1, 2);
    EXPECT(SIDES "y(i) = select(k(i) == 0, -1, 7 % k(i))\n", "y", 0, -1, 1);
    EXPECT(SIDES "y(i) = k(i) != 0 && 6 % k(i) == 0\n", "y", 1, 0, 1);
    EXPECT(SIDES "y(i) = k(i) == 0 || 7 % k(i) == 0\n", "y", 1, 1, 0);
    EXPECT(SIDES "y(i) = select(k(i) > 0, x(i) ** (k(i) - 1), 9)\n", "y", 1, 9, 9);
    EXPECT(SIDES "y(i) = select(k(i) > 0, select(k(i) > 1, 8 // (k(i) - 1), 5), 9)\n", "y",
           5, 9, 4);
    EXPECT(SIDES "y(i) = k(i) != 0 && (k(i) == 1 || 6 // (k(i) - 1) > 2)\n", "y", 1, 0, 1);
    EXPECT(SIDES "y(i) = select(k(i) != 0, 7 // (k(i) + 7 // k(i)), -1)\n", "y", 0, -1, 1);
    EXPECT(SIDES "tensor f dense f32 [3]\nf(i) = k(i)\n"
                 "y(i) = select(f(i) != 0, f64(i64(7) // i64(f(i))), 0.5)\n",
           "y", 7, 0.5, 2);
    expect_error(SIDES "y(i) = select(k(i) != 1, 7 // k(i), -1)\n", STC_ERR_ARITHMETIC,
                 "division by zero|(1)");
    expect_error(SIDES "y(i) = k(i) == 1 || 7 % k(i) > 2\n", STC_ERR_ARITHMETIC, "(1)");
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_program *p;
    char *text;
    ck_ok(m, stc_compile(m, "y(i) = select(k(i) != 0, 7 // k(i), -1)", decl, 2, &p));
    ck_ok(m, stc_program_dump(p, &text));
    ck_assert_ptr_null(strstr(text, "else"));
    stc_text_free(m, text);
    stc_program_free(p);
    machine_shut(m, &h);
}
END_TEST

/* What a function that can't be evaluated on fills is over nothing is known all the same.
 */
START_TEST(fill_over_nothing)
{
    EXPECT("tensor A svec i64 [3] = {}\ny(i) = prod(p in 1:1: 3 // A(i))\n", "y", 1, 1, 1);
    EXPECT("tensor A csr u64 [1,1] = {}\ny = prod(p, q in 1:1: 3 // A(p,p))\n"
           "tensor B csr u64 [2,2]\nB(i,j) = y\n",
           "B", 1, 1, 1, 1);
}
END_TEST

#define THREE                                                                              \
    "tensor A svec i64 [6] = { (1): 4, (2): 5 }\n"                                         \
    "tensor B svec i64 [6] = { (1): 6, (3): -7 }\n"                                        \
    "tensor C svec i64 [6] = { (1): 5, (4): 8 }\ntensor R svec i64\n"                      \
    "fn top(x, y) = select(x > y, x, y) with commutative, associative, idempotent\n"

/* Functions of three have properties, too: what isn't stored isn't computed. */
START_TEST(of_three)
{
    EXPECT(THREE "fn mid(a, b, c) = max(min(a, b), min(max(a, b), c)) with commutative, "
                 "idempotent\nR(i) = mid(A(i), B(i), C(i))\nn = stored(R)\n",
           "n", 4);
    EXPECT(THREE "fn mid(a, b, c) = max(min(a, b), min(max(a, b), c)) with commutative, "
                 "idempotent\ny(i in 0:6) = mid(A(i), B(i), C(i))\n",
           "y", 0, 5, 0, 0, 0, 0);
    EXPECT(THREE "fn all3(a, b, c) = a * b * c with commutative, annihilator(0, 2)\n"
                 "R(i) = all3(A(i), 2, 3)\nn = stored(R)\n",
           "n", 2);
    /* its body is too long to be evaluated ahead: what it says of itself is taken */
    EXPECT(THREE
           "fn slow(a, b, c) { s = 0; for k in 0:30000 { s += 0 }\n"
           "return max(a, max(b, c)) + s } with commutative, associative, idempotent\n"
           "R(i) = slow(A(i), B(i), C(i))\nn = stored(R) + 10 * R(4)\n",
           "n", 84);
    EXPECT(THREE "R(i) = top(A(i), B(i), C(i), A(i))\nn = stored(R) + 10 * R(1)\n", "n",
           64);
    expect_error(THREE "fn less(x, y) = x - y\nR(i) = less(A(i), B(i), C(i))\n",
                 STC_ERR_PROGRAM, "2 arguments");
    expect_error("fn one(x) = x with idempotent\n", STC_ERR_PROGRAM, "two or more");
    expect_error("fn f(x, y, z) = x with distributes(min)\n", STC_ERR_PROGRAM,
                 "function of two");
}
END_TEST

/* An idempotent reduction without an identity takes what isn't stored once. */
START_TEST(first_of_all)
{
#define ROWS3 "tensor D csr i64 [3,100] fill -2 = { (0,7): -5, (0,9): 3, (1,4): -6 }\n"
    EXPECT(THREE ROWS3 "y(i) = top(j: D(i,j))\n", "y", 3, -2, -2);
    EXPECT(THREE ROWS3 "y(i) = top(j: -D(i,j))\n", "y", 5, 6, 2);
    EXPECT(THREE ROWS3 "s = top(i,j: D(i,j) * 2 + 1)\n", "s", 7);
    EXPECT(THREE ROWS3 "y(i) = top(j in 4:5: D(i,j))\n", "y", -2, -6, -2);
    EXPECT(THREE "tensor F csr i64 [2,40]\nF(i,j) = -1 - j\ny(i) = top(j: F(i,j))\n", "y",
           -1, -1);
    expect_error(THREE "tensor Z csr i64 [2,0]\ny(i) = top(j: Z(i,j))\n",
                 STC_ERR_ARITHMETIC, "over nothing");
}
END_TEST

/* What the machine takes for granted: functions of two arguments alone fault, and only a
 * first identity holds on either side, in each class that its function has. */
START_TEST(rows)
{
    for (int id = 0; id < FN_COUNT; id++) {
        const fn_info *f = fn_at(id);
        ck_assert_msg(f->arity == 2 || !(f->flags & FP_FAULTS), "%s", f->name);
        ck_assert_msg(f->identity[1].position != AT_ANY, "%s", f->name);
        if (f->flags & FP_FAULTS)
            ck_assert_msg(!(f->flags & (FP_ASSOCIATIVE | FP_COMMUTATIVE)), "%s", f->name);
        for (int cls = 0; cls < CLASS_COUNT && f->identity[0].position == AT_ANY; cls++) {
            value v;
            if (!fn_scalar_of(id, (vclass)cls)) continue;
            ck_assert_msg(
                fn_constant(f->identity[0].value, (vclass)cls, class_type((vclass)cls), &v),
                "%s", f->name);
        }
    }
}
END_TEST

START_TEST(constants)
{
    value v;
    ck_assert(!fn_constant(FC_NONE, CLASS_F64, STC_F64, &v));
    ck_assert(!fn_constant(FC_ONES, CLASS_F64, STC_F64, &v));
    ck_assert(!fn_constant(FC_ONES, CLASS_I64, STC_U64, &v));
    ck_assert(!fn_constant(FC_INF, CLASS_I64, STC_U8, &v));
    ck_assert(!fn_constant(FC_INF, CLASS_C64, STC_C64, &v));
    ck_assert(!fn_constant(FC_NINF, CLASS_C128, STC_C128, &v));
    ck_assert(fn_constant(FC_NINF, CLASS_I64, STC_I8, &v) && v.i64 == -128);
    ck_assert(fn_constant(FC_INF, CLASS_F32, STC_F32, &v) && v.f32 == INFINITY);
    ck_assert_int_eq(fn_named("cabs", 4, 2), -1);
    ck_assert_int_eq(fn_named("cabs", 4, 1), FN_ABS);
    ck_assert_int_eq(fn_named("cabs", 4, -1), FN_ABS);
}
END_TEST

Suite *suite_functions(void)
{
    Suite *s = suite_create("functions");
    TCase *c = tcase_create("functions");
    tcase_add_test(c, rows);
    tcase_add_test(c, constants);
    tcase_add_test(c, scalars);
    tcase_add_test(c, arrays);
    tcase_add_test(c, folds);
    tcase_add_test(c, properties);
    tcase_add_test(c, literals);
    tcase_add_test(c, squares_in_loops);
    tcase_add_test(c, integer_rules);
    tcase_add_test(c, sides_not_taken);
    tcase_add_test(c, divisions_not_taken);
    tcase_add_test(c, fill_over_nothing);
    tcase_add_test(c, of_three);
    tcase_add_test(c, first_of_all);
    suite_add_tcase(s, c);
    return s;
}
