/* check_grad.c: derivatives: every function with a rule, and statements of all kinds,
 * against central differences; the texts of stc_gradient; what has no derivative. */
#include "check.h"
#include "../vm/fn/functions.h"
#include "slopes.h"

#include <stdlib.h>
#include <string.h>

#define DATA                                                                               \
    "tensor A csr f64 [3,4] = { (0,1): 0.71, (0,3): 1.13, (1,0): 0.47, (2,2): -0.83, "     \
    "(2,3): 0 }\n"                                                                         \
    "tensor B csc f64 [4,3] = { (0,1): 0.88, (1,0): -0.53, (3,2): 1.21 }\n"                \
    "tensor x dense f64 [4] = [0.61,1.32,-0.45,0.93]\n"                                    \
    "tensor y dense f64 [3] = [1.21,0.53,-0.82]\n"                                         \
    "tensor U dense f64 [3,2] = [[0.3,0.5],[0.7,-0.2],[1.1,0.4]]\n"                        \
    "tensor V dense f64 [2,4] = [[0.9,0.1,-0.6,0.8],[0.35,0.65,0.15,-0.25]]\n"             \
    "tensor W csr f64 [3,4] fill inf = { (0,1): 3.1, (1,2): 1.2, (2,0): 0.7 }\n"           \
    "tensor p dense i64 [5] = [2,0,2,1,2]\n"                                               \
    "tensor c f64 = 0.77\n"

/* s, which the script makes of DATA, by these names (parted by blanks). */
static void agrees(const char *script, const char *grad, const char *names)
{
    char list[100], *next = list;
    const char *by[10];
    slopes s = {.given = DATA, .script = script, .grad = grad, .by = by, .seed = 7};
    snprintf(list, sizeof list, "%s", names);
    for (char *one; (one = strsep(&next, " ")) != NULL;)
        by[s.n++] = one;
    for (unsigned how = 0; how < 2; how++) {
        s.how = how ? RUN_NOSUPER : 0;
        const slope out = slopes_compare(&s);
        ck_assert_msg(out == SLOPE_AGREES, "%s(%d) %s", script, out, s.why);
    }
}

/* A call of a built-in at values inside of where it is smooth. */
static void try_function(int id, int k)
{
    static const char *const at[3] = {"0.37", "0.62", "0.81"};
    const fn_info *const f = fn_at(id);
    char call[200], text[300];
    int n = snprintf(call, sizeof call, "%s(", f->name);
    for (int i = 0; i < f->arity; i++)
        n += snprintf(call + n, sizeof call - (size_t)n, "%s%s", i ? ", " : "",
                      i == k           ? "a"
                      : id == FN_LDEXP ? "3"
                                       : at[i]);
    strcat(call, ")");
    if (f->symbol && f->arity == 1)
        snprintf(call, sizeof call, "%sa", f->symbol);
    else if (f->symbol)
        snprintf(call, sizeof call, "%s %s %s", k ? at[0] : "a", f->symbol,
                 k ? "a" : at[1]);
    const bool beyond = id == FN_ACOSH;
    snprintf(text, sizeof text, "tensor a f64 = %s\n", beyond ? "1.7" : "0.44");
    char script[300];
    snprintf(script, sizeof script, "s = 1.5 * f64(%s) + 0.3 * a\n", call);
    slopes s = {.given = text,
                .script = script,
                .grad = "s",
                .by = (const char *[]){"a"},
                .n = 1,
                .seed = 3};
    const slope out = slopes_compare(&s);
    ck_assert_msg(out == SLOPE_AGREES, "%s%s(%d) %s", text, script, out, s.why);
}

START_TEST(functions)
{
    int tried = 0;
    for (int id = 0; id < FN_COUNT; id++) {
        const int reals = 1 << CLASS_F64;
        if (!(fn_at(id)->classes & reals)) continue;
        for (int k = 0; k < fn_at(id)->arity; k++) {
            if (!*fn_derivative(id, k) || id == FN_SAMPLED || id == FN_SELECT) continue;
            try_function(id, k);
            tried++;
        }
    }
    ck_assert_int_gt(tried, 90);
}
END_TEST

/* All real functions have a rule, but for these. */
START_TEST(all_rules)
{
    static const int none[] = {FN_FLOORDIV, FN_NEXTAFTER, FN_TGAMMA, FN_LGAMMA,
                               FN_ILOGB,    FN_LRINT,     FN_LROUND, FN_ARG};
    for (int id = 0; id < FN_COUNT; id++) {
        bool without = fn_at(id)->typing == TY_CAST && id != FN_F32 && id != FN_F64;
        for (size_t k = 0; k < sizeof none / sizeof *none; k++)
            without |= none[k] == id;
        if (!(fn_at(id)->classes >> CLASS_F64 & 1) || without) continue;
        ck_assert_msg(*fn_derivative(id, 0), "%s has no rule", fn_at(id)->name);
    }
}
END_TEST

START_TEST(products)
{
    /* the value that a minimum is compared with is rounded as it was */
    agrees(
        "t(i) = -9 * y(i)**2\nt(i) max= sin(y(i)) * (y(i) * cos(y(i)))\ns = sum(i: t(i))\n",
        "s", "y");
    /* the range of j follows from an access with another index */
    agrees("t(a in 0:2,b in 0:2) = sum(j: pad x(b-j+1) * x(a+j))\ns = sum(i,j: t(i,j))\n",
           "s", "x");
    agrees("s = A(i,j) * x(j) * y(i)\n", "s", "A x y");
    agrees("s = sum(i,j: (A(i,j) - sum(k: U(i,k) * V(k,j)))**2 where A(i,j))\n", "s",
           "U V");
    agrees("s = sum(i,j: sampled(A(i,j), (A(i,j) - sum(k: U(i,k) * V(k,j)))**2))\n", "s",
           "A U V");
    agrees("s = (A(i,j) * B(j,k) - U(i,l) * U(k,l))**2 * y(i)\n", "s", "A B U y");
    agrees("C(i,k) = A(i,j) * B(j,k)\ns = C(i,k) * C(k,i) + c * C(i,i)\n", "s", "A B c");
    agrees("s = A(i,j) / (1 + x(j)**2) - c ** y(i) * U(i,k)\n", "s", "A x c y U");
}
END_TEST

START_TEST(nested)
{
    agrees("s = sum(i: log(sum(j: exp(A(i,j) * x(j)))))\n", "s", "A x");
    agrees("s = mean(i: norm(j: 1 + A(i,j)) * y(i))\n", "s", "A y");
    agrees("s = prod(j: x(j) * sum(i: U(i,0) * A(i,j) + c))\n", "s", "x U A c");
    agrees("s = prod(j: x(j) - 1.32) + prod(j: (x(j) - 1.32) * (x(j) - 0.61))\n", "s", "x");
    agrees("s = sum(i: max(j: A(i,j) + x(j)) * y(i)) + min(j: V(0,j) * x(j))\n", "s",
           "A x y V");
    agrees("s = min(i: sum(j: (A(i,j) - x(j))**2))\n", "s", "A x");
    agrees("s = sum(i,j: select(A(i,j) > 0.5, log(A(i,j)), 0) * x(j))\n", "s", "A x");
    agrees("s = sum(i,j: tanh(x(j)) * (i + 2 * j) where A(i,j))\n", "s", "x");
    /* i's range is of two accesses */
    agrees("s = sum(i: sum(j: x(i+j) * V(j,0)) where x(3-i) <= c)\n", "s", "x V");
    /* i's range is of k, too, which the middle sum's derivative has to keep */
    agrees("s = sum(k in 0:2: sum(i: sum(j: pad x(3*i-2) * y(j)) * x(i+k)))\n", "s", "y");
}
END_TEST

START_TEST(subscripts)
{
    agrees("d(i) = x(i+q) * V(q,0)\ns = d(i) * d(i)\n", "s", "x V");
    agrees("tensor d dense f64 [4]\nd(i) = pad x(i+q-1) * V(q,1)\ns = d(i)**3\n", "s",
           "x V");
    agrees("s = sum(e: x(p(e)) * y(p(e))**2) + sum(e: A(p(e), p(e) + 1) * e)\n", "s",
           "x y A");
    agrees("s = A(i,j) * x(3) + y(0) * A(2,3) + A(1,1) * c + A(2,0)\n", "s", "A x y c");
    agrees("s = V(k, j(1:4:2)) * x(2*j) + max(q in 1:3: x(q) * c)\n", "s", "V x c");
    agrees("s = sum(k in 0:3: sum(l in 0:k+1: x(l))**2)\n", "s", "x");
    agrees("s = prod(a in 0:2, b in 0:2: x(a+b) + 2) + sum(i,j: x(i+j) * V(0,j))\n", "s",
           "x V");
}
END_TEST

START_TEST(statements)
{
    agrees("tensor t dense f64 [3]\nt(p(e)) += x(p(e)) * e\nt(i) -= y(i)\ns = t(i)**2\n",
           "s", "x y");
    agrees("t(i) = sin(y(i))\nt(i(1:3)) = c * y(0)\ns = t(i)**2 * y(i)\n", "s", "y c");
    agrees("t(j) = x(j) * c\nt(j) = x(j)**2 where x(j) > 0.7\ns = exp(t(j))\n", "s", "x c");
    agrees("t(j) = x(j)\nt(j) min= sum(i: A(i,j)) * c\ns = t(j) * x(j)\n", "s", "x A c");
    agrees("t(j) = x(j)\nt(j) *= 3\nt(j) /= 2 + x(j)\ns = t(j) * x(j)\n", "s", "x");
    agrees("tensor t dense f64 [4]\nt(j) max= A(i,j) * c\ns = t(j) * x(j)\n", "s", "A c x");
    agrees("s = x(j)**2\ns += 0.1 * y(i)**4\ns -= c\ns = 2 * s\n", "s", "x y c");
    agrees("E(i,j) = exp(A(i,j) * x(j))\nF = E\ns = F(i,j) * x(j)\n", "s", "A x");
    agrees("s = 0\nrepeat 3 { s += x(j)**3 * c }\n", "s", "x c");
    agrees("m(j) = x(j) > 0.5\ns = sum(j: x(j)**2 where m(j)) + sum(j: x(j) * m(j))\n", "s",
           "x");
    agrees("def f(a, b) -> r { t(i) = a(i,j) * b(j); r = t(i)**2 }\ns = f(A, x)\n",
           "f(A, x)", "A x");
    agrees("s = sum(i,j: W(i,j) * x(j) where W(i,j) < 2)\n",
           "sum(i,j: W(i,j) * x(j) where W(i,j) < 2)", "W x");
    agrees("s = x(j)**2\n", "sum(j: x(j)**2)", "x");
}
END_TEST

START_TEST(users_functions)
{
    agrees("fn f(u, v) { t = u * v; if (t > 0) { t = t * t } else { return u - v }; return "
           "t }\n"
           "s = f(x(j), V(0,j)) + f(c, y(i))\n",
           "s", "x V c y");
    agrees("fn g(u) = u ** 3\nfn h(u, v) = g(u) * g(v) + g(g(u))\ns = h(x(j), c)\n", "s",
           "x c");
    agrees(
        "fn k(u) { t = 1; for i in 0:3 { t *= u }; return t } with derivative(3 * u**2)\n"
        "s = k(x(j)) * c\n",
        "s", "x c");
    agrees("fn k(u, v) = u * v * 2 with derivative(d * 2 * v, 0), derivative(f / v, 1)\n"
           "s = k(x(j), c)**2\n",
           "s", "x c");
}
END_TEST

/* At explicit zeros there is a derivative, elsewhere there is none. */
#define MEANS                                                                              \
    "tensor A csr f64 [1,2] = { (0,1): 1 }\ntensor x dense f64 = [3,5]\n"                  \
    "tensor z dense f64 = [1,3]\ntensor y svec f64 [2] = { (0): 1, (1): 1 }\n"

START_TEST(stored_places)
{
    EXPECT("tensor A csr f64 [2,2] = { (0,0): 0, (1,0): 2 }\ntensor x dense f64 = [3,5]\n"
           "G = grad(sum(i,j: (A(i,j) - x(j))**2), A)\nn = stored(G)\nG(i,j) += 0\n"
           "y(i) = G(i,0)\n",
           "y", -6, -2);
    EXPECT("tensor x dense f64 = [0, 4]\n"
           "g = grad(sum(i: select(x(i) > 0, sqrt(x(i)), 0)), x)\n",
           "g", 0, 0.25);
    EXPECT("tensor x dense f64 = [2, 2, 1]\ng = grad(max(i: x(i)), x)\n", "g", 0.5, 0.5, 0);
    EXPECT("tensor x dense f32 = [1, 2]\ng = grad(sum(i: x(i)**2), x)\n", "g", 2, 4);
    EXPECT("tensor x dense f64 = [1, 2]\nrepeat 20 { l = sum(i: (x(i) - 3)**2); "
           "g = grad(l, x); x(i) -= 0.5 * g(i) }\n",
           "x", 3, 3);
    /* a mean over nothing isn't computed for another operand's sake: not for a constant's
     * (sampled), not for what is added to, nor for the places of what is asked for */
    EXPECT(MEANS "g = grad(sum(i: mean(j: x(j) where A(0,i)) * sampled(x(0), x(i))), x)\n",
           "g", 2.5, 6.5);
    EXPECT(MEANS "s = sum(i: mean(j: z(j) where A(0,i)) * x(i) * x(i))\ng = grad(s, x)\n",
           "g", 0, 20);
    EXPECT(MEANS "G = grad(sum(i: mean(j: x(j) where A(0,i)) * y(i)), y)\nG(i) += 0\n", "G",
           0, 4);
}
END_TEST

/* What would take for ever if it was written out. */
#define AGAIN "u = u * u + u; u = u * u + u; u = u * u + u; "
#define LONG AGAIN AGAIN AGAIN AGAIN AGAIN AGAIN AGAIN AGAIN
#define TWICE(n, m) "fn f" n "(u) = f" m "(u) * f" m "(u + 1) * f" m "(u); "

START_TEST(refusals)
{
    static const char x[] = "tensor x dense f64 = [1,2]\ntensor k dense i64 = [1,2]\n"
                            "tensor z dense c128 = [1,2]\ntensor y dense f64 = [1,2]\n";
    static const struct {
        const char *text, *words;
    } bad[] = {
        {"g = grad(sum(i: x(i) // 2), x)", "`//`"},
        {"g = grad(sum(i: tgamma(x(i))), x)", "tgamma"},
        {"g = grad(sum(i: f64(i64(x(i)))), x)", "i64"},
        {"g = grad(sum(i: f64(i64(x(i)) & 3)), x)", "i64"},
        {"g = grad(sum(i: k(i) * x(i)), k)", "k holds i64"},
        {"g = grad(sum(i: real(z(i))), z)", "z holds c128"},
        {"g = grad(sum(i: abs(x(i) * 1j)), x)", "complex"},
        {"g = grad(x, x)", "scalar"},
        {"g = grad(x(0), q)", "no tensor named q"},
        {"g = grad(x(0), y)", "doesn't depend on y"},
        {"g(i) = grad(x(0), x)", "to a name alone"},
        {"(g, h) = grad(x(0), x)", "1 tensor, not 2"},
        {"(g, h) = grad(x(0), x, x)", "twice"},
        {"g = grad(x(0))", "grad(e, A)"},
        {"g = grad(x(0), x(1))", "names"},
        {"s = sum(i: x(i)); x(i) = 2 * x(i); g = grad(s, x)",
         "doesn't depend on x as it is now"},
        {"t(i) = x(i)**2; s = sum(i: t(i)); t(i) = y(i); g = grad(s, x)",
         "t has changed since"},
        {"t(i) = x(i)**2; t(i) = t(i)**2; g = grad(sum(i: t(i)), x)", "as it is here"},
        {"tensor t dense f64 [2]; t(k(i) - 1) = x(i); g = grad(sum(i: t(i)), x)",
         "computed"},
        {"p(i) = order(x(i)); def f(a) -> r { r = a(0)**2 }; s = f(x); g = grad(s, x)",
         "call of a def"},
        {"def f(a) -> r, t { r = 1; t = 2 }; g = grad(f(x), x)", "2 results"},
        {"def f(a) -> r { r = a(0)**2 }; g = grad(f(x), y)", "no argument of f"},
        {"fn f(u) { t = 0; while (t < u) { t += 1 }; return t }; g = grad(sum(i: f(x(i))), "
         "x)",
         "derivative"},
        {"fn f(u) { " LONG "return u }; g = grad(sum(i: f(x(i))), x)", "too long"},
        {"fn f0(u) = u * u; " TWICE("1", "0") TWICE("2", "1") TWICE("3", "2")
             TWICE("4", "3") TWICE("5", "4") TWICE("6", "5") TWICE("7", "6") TWICE("8", "7")
                 TWICE("9", "8") "g = grad(sum(i: f9(f9(x(i)))), x)",
         "too large"},
        {"fn f(u, v) = u with derivative(1)", "derivative(y, 0)"},
        {"fn f(u) = u with derivative(w)", "parameter"},
        {"fn f(u) = u with derivative(1, 1)", "no such argument"},
        {"g = grad(hypot(i: x(i)), x)", "hypot"},
        {"tensor w dense f64 = [1,2,3]; g = grad(sum(j in 0:1: sum(i: w(i+j)) * x(j)), x)",
         "the range of i by itself"},
        {"g = grad(sum(k in 0:2: norm(i: fmax(mean(j: pad x(3*i-2) * y(j)), x(i+k)))), y)",
         "the range of i by itself"},
        {"t(i) = x(i); compact t; g = grad(sum(i: t(i)), x)", "compact"},
    };
    char chain[2000] = "tensor W csr f64 [2,2] = 1\ng = grad(sum(";
    size_t n = strlen(chain);
    for (int k = 0; k < 70; k++)
        n += (size_t)snprintf(chain + n, sizeof chain - n, "%si%d", k ? "," : "", k);
    for (int k = 0; k < 69; k++)
        n += (size_t)snprintf(chain + n, sizeof chain - n, "%sW(i%d,i%d)", k ? "*" : ": ",
                              k, k + 1);
    snprintf(chain + n, sizeof chain - n, "), W)\n");
    expect_error(chain, STC_ERR_PROGRAM, "at most 64 indices");
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        char text[1200];
        snprintf(text, sizeof text, "%s%s\n", x, bad[k].text);
        expect_error(text, STC_ERR_PROGRAM, bad[k].words);
    }
}
END_TEST

/* A statement that a loop comes back to stands where it stood. */
START_TEST(places_in_loops)
{
    expect_printed(false,
                   "tensor x dense f64 = [1,2]\ntensor y dense f64 = [1,2]\na(i) = x(i)\n"
                   "repeat 3 {\n\n  t(i) = a(i)**2\n  t(i) += a(i)\n}\na(i) = y(i)\n"
                   "g = grad(sum(i: t(i)), x)\n",
                   STC_ERR_PROGRAM,
                   "6: a has changed since t was made of it: the derivative needs what it "
                   "was");
}
END_TEST

/* The text compiles, with the same decls, and computes d_A. */
START_TEST(in_c)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_tensor *A = sample_matrix(m, "csr"), *x;
    const stc_decl decls[] = {{.name = "A", .format = "csr"}, {.name = "x"}};
    const char *const by[] = {"x", "A"};
    const double ones[5] = {1, 1, 1, 1, 1};
    char *text = NULL;
    stc_program *p;
    const stc_tensor *d;
    ck_ok(m, stc_tensor_from_dense(m, "dense", STC_F64, 1, (int64_t[]){5}, NULL, ones, &x));
    ck_ok(m, stc_gradient(m, "y(i) = A(i,j) * x(j)\ns = y(i)**2", decls, 2, "s", by, 2,
                          &text));
    ck_ok(m, stc_compile(m, text, decls, 2, &p));
    ck_ok(m, stc_bind(p, "A", A));
    ck_ok(m, stc_bind(p, "x", x));
    ck_ok(m, stc_run(p));
    ck_ok(m, stc_result(p, "d_x", &d));
    for (int64_t j = 0; j < 5; j++) {
        double want = 0;
        stc_value v;
        for (int i = 0; i < 4; i++) {
            double row = 0;
            for (int k = 0; k < 5; k++)
                row += sample_dense[i * 5 + k];
            want += 2 * row * sample_dense[i * 5 + j];
        }
        ck_ok(m, stc_tensor_get(d, &j, &v));
        ck_assert_double_eq_tol(v.f, want, 1e-12);
    }
    ck_ok(m, stc_result(p, "d_A", &d));
    ck_assert_str_eq(stc_tensor_format(d), "csr");
    ck_assert_int_eq(stc_tensor_stored(d), stc_tensor_stored(A));
    stc_text_free(m, text);
    char *none = NULL;
    const char *const unknown[] = {"q"};
    ck_assert_int_eq(stc_gradient(m, "s = x(i)", decls, 2, "s", unknown, 1, &none),
                     STC_ERR_ARGUMENT);
    ck_assert_int_eq(stc_gradient(m, "y(i) = x(i)", decls, 2, "y", by, 1, &none),
                     STC_ERR_ARGUMENT);
    ck_assert_int_eq(stc_gradient(m, "s = x(i)", decls, 2, "t", by, 1, &none),
                     STC_ERR_ARGUMENT);
    ck_assert_int_eq(stc_gradient(m, "s = x(i", decls, 2, "s", by, 1, &none),
                     STC_ERR_SYNTAX);
    ck_assert_int_eq(stc_gradient(m, "s = x(i)", decls, 2, "s", by, 0, &none),
                     STC_ERR_ARGUMENT);
    ck_assert_int_eq(
        stc_gradient(m, "d_x = 1; s = x(i) * d_x", decls, 2, "s", by, 1, &none),
        STC_ERR_ARGUMENT);
    ck_assert_int_eq(stc_gradient(m, "s = x(i) // 2", decls, 2, "s", by, 1, &none),
                     STC_ERR_PROGRAM);
    ck_assert_int_eq(stc_gradient(m, NULL, decls, 2, "s", by, 1, &none), STC_ERR_ARGUMENT);
    ck_assert_ptr_null(none);
    stc_program_free(p);
    stc_tensor_free(A);
    stc_tensor_free(x);
    machine_shut(m, &h);
}
END_TEST

Suite *suite_grad(void)
{
    Suite *s = suite_create("grad");
    TCase *t = tcase_create("grad");
    tcase_add_test(t, functions);
    tcase_add_test(t, all_rules);
    tcase_add_test(t, products);
    tcase_add_test(t, nested);
    tcase_add_test(t, subscripts);
    tcase_add_test(t, statements);
    tcase_add_test(t, users_functions);
    tcase_add_test(t, stored_places);
    tcase_add_test(t, refusals);
    tcase_add_test(t, places_in_loops);
    tcase_add_test(t, in_c);
    suite_add_tcase(s, t);
    return s;
}
