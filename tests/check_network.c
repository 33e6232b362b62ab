/* check_network.c: products of hundreds of factors over hundreds of indices
 * (src/opt/network.c), against chains, messages in trees, variable elimination, and counts
 * that are known.
 *
 * Numbers are integers where the result is to be the same to the last bit (sums and
 * products wrap), and are compared with a tolerance where they are floats.
 */
#include "check.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct lab {
    heap h;
    stc_machine *m;
    stc_session *s;
    char *text;
    size_t n, room;
} lab;

static void lab_open(lab *b)
{
    *b = (lab){0};
    b->m = machine_open(&b->h, false);
    ck_ok(b->m, stc_session_open(b->m, &b->s));
}

static void lab_shut(lab *b)
{
    stc_session_close(b->s);
    machine_shut(b->m, &b->h);
    free(b->text);
}

__attribute__((format(printf, 2, 3))) static void say(lab *b, const char *form, ...)
{
    char part[300];
    va_list args;
    va_start(args, form);
    const size_t n = (size_t)vsnprintf(part, sizeof part, form, args);
    va_end(args);
    ck_assert_uint_lt(n, sizeof part);
    if (b->n + n + 1 > b->room) {
        b->room = 2 * b->room + n + 1;
        b->text = realloc(b->text, b->room);
        ck_assert_ptr_nonnull(b->text);
    }
    memcpy(b->text + b->n, part, n + 1);
    b->n += n;
}

static void done(lab *b)
{
    ck_ok(b->m, stc_session_exec(b->s, b->text, "test"));
    b->n = 0;
}

static const stc_tensor *get_named(lab *b, const char *name)
{
    const stc_tensor *t;
    ck_ok(b->m, stc_session_get(b->s, name, &t));
    return t;
}

static stc_value value_at(const stc_tensor *t, const int64_t *at)
{
    stc_value v = stc_tensor_fill(t);
    (void)stc_tensor_get(t, at, &v);
    return v;
}

/* The same numbers for the same seed, wherever. */
static uint64_t draw(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *seed >> 33;
}

/* ---- chains --------------------------------------------------------------------- */

enum { SIDE = 50 };

/* row = row * matrix, for all rows of `rows`. */
static void times(uint64_t *rows, const stc_tensor *t)
{
    static uint64_t out[SIDE * SIDE], m[SIDE * SIDE];
    for (int64_t i = 0; i < SIDE; i++)
        for (int64_t j = 0; j < SIDE; j++)
            m[i * SIDE + j] = (uint64_t)value_at(t, (int64_t[]){i, j}).i;
    memset(out, 0, sizeof out);
    for (int i = 0; i < SIDE; i++)
        for (int k = 0; k < SIDE; k++)
            for (int j = 0; j < SIDE; j++)
                out[i * SIDE + j] += rows[i * SIDE + k] * m[k * SIDE + j];
    memcpy(rows, out, sizeof out);
}

/* Chains of so many matrices; over the last of them in a declared sparse format, a trace.
 */
static const struct {
    int n;
    const char *format, *density, *left, *ends;
} chain[] = {
    {30, "dense", "1", "y(i0,i30)", ""},    {300, "dense", "1", "y(i0,i300)", ""},
    {300, "dense", "1", "y", ""},           {300, "csr", "0.1", "y(i0)", ""},
    {200, "csr", "0.05", "y(i0,i200)", ""}, {120, "dcsr", "0.1", "y(i120)", ""},
    {400, "dense", "1", "y", "trace"},
};

START_TEST(chains)
{
    const int n = chain[_i].n;
    const bool trace = *chain[_i].ends;
    lab b;
    lab_open(&b);
    for (int k = 0; k < n; k++)
        say(&b, "tensor M%d %s i64 [%d,%d] = random(density=%s, seed=%d)\n", k,
            chain[_i].format, SIDE, SIDE, chain[_i].density, k + 1);
    say(&b, "%s = ", chain[_i].left);
    for (int k = 0; k < n; k++)
        say(&b, "%sM%d(i%d,i%d)", k ? "*" : "", k, k, trace && k == n - 1 ? 0 : k + 1);
    done(&b);
    static uint64_t rows[SIDE * SIDE];
    memset(rows, 0, sizeof rows);
    for (int i = 0; i < SIDE; i++)
        rows[i * SIDE + i] = 1;
    for (int k = 0; k < n; k++) {
        char name[20];
        snprintf(name, sizeof name, "M%d", k);
        times(rows, get_named(&b, name));
    }
    const stc_tensor *y = get_named(&b, "y");
    const int order = stc_tensor_order(y);
    const bool first = strstr(chain[_i].left, "(i0") != NULL;
    uint64_t want[SIDE * SIDE] = {0};
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++)
            if (!trace || i == j)
                want[order == 2   ? i * SIDE + j
                     : order == 0 ? 0
                                  : (first ? i : j)] += rows[i * SIDE + j];
    for (int64_t i = 0; i < SIDE * SIDE; i++) {
        const int64_t at[2] = {order == 2 ? i / SIDE : i, i % SIDE};
        if (order < 2 && i >= (order ? SIDE : 1)) break;
        ck_assert_uint_eq((uint64_t)value_at(y, at).i, want[i]);
    }
    lab_shut(&b);
}
END_TEST

/* ---- a graphical model ---------------------------------------------------------- */

enum { VARIABLES = 60, FACTORS = 120, SCOPE = 5, TABLE = 1 << 20 };

/* A table over a few variables of two values each, the first one slowest. */
typedef struct table {
    int n, v[24];
    double *of;
    bool gone;
} table;

static int place(const table *t, int v)
{
    for (int k = 0; k < t->n; k++)
        if (t->v[k] == v) return k;
    return -1;
}

/* What the values of u's variables, bits in u's order, are in t. */
static double looked_up(const table *t, const table *u, unsigned bits)
{
    unsigned at = 0;
    for (int k = 0; k < t->n; k++)
        at = 2 * at + ((bits >> (u->n - 1 - place(u, t->v[k]))) & 1);
    return t->of[at];
}

/* Variable elimination in the order of their numbers, as in a textbook. */
static double eliminated(table *t, int n)
{
    double all = 1;
    for (int v = 0; v < VARIABLES; v++) {
        table u = {.n = 1, .v = {v}}, r = {0};
        bool used = false;
        for (int k = 0; k < n; k++)
            used = used || (!t[k].gone && place(&t[k], v) >= 0);
        if (!used) continue;
        for (int k = 0; k < n; k++)
            for (int i = 0; !t[k].gone && place(&t[k], v) >= 0 && i < t[k].n; i++)
                if (place(&u, t[k].v[i]) < 0) u.v[u.n++] = t[k].v[i];
        ck_assert_int_le(u.n, 20);
        r.n = u.n - 1;
        memcpy(r.v, u.v + 1, (size_t)r.n * sizeof *r.v);
        r.of = calloc((size_t)1 << r.n, sizeof *r.of);
        for (unsigned bits = 0; bits < 1u << u.n; bits++) {
            double product = 1;
            for (int k = 0; k < n; k++)
                if (!t[k].gone && place(&t[k], v) >= 0)
                    product *= looked_up(&t[k], &u, bits);
            r.of[bits & ((1u << r.n) - 1)] += product;
        }
        for (int k = 0; k < n; k++)
            if (!t[k].gone && place(&t[k], v) >= 0) t[k].gone = true;
        t[n++] = r;
    }
    for (int k = 0; k < n; k++) {
        if (!t[k].gone) all *= t[k].of[0];
        free(t[k].of);
    }
    return all;
}

/* Factors of up to five variables that are near each other, their tables drawn. */
START_TEST(partition_function)
{
    static table t[FACTORS + VARIABLES + 1];
    uint64_t seed = 17 + (uint64_t)_i;
    lab b;
    lab_open(&b);
    memset(t, 0, sizeof t);
    for (int k = 0; k < FACTORS; k++) {
        const int size = 1 + (int)(draw(&seed) % SCOPE), from = k % (VARIABLES - 6);
        while (t[k].n < size) {
            const int v = from + (int)(draw(&seed) % 7);
            if (place(&t[k], v) < 0) t[k].v[t[k].n++] = v;
        }
        t[k].of = calloc((size_t)1 << size, sizeof *t[k].of);
        say(&b, "tensor F%d dense f64 [", k);
        for (int i = 0; i < size; i++)
            say(&b, "%s2", i ? "," : "");
        say(&b, "] = random(density=1, seed=%d)\n", (int)(draw(&seed) % 1000));
    }
    done(&b);
    for (int k = 0; k < FACTORS; k++) {
        char name[20];
        snprintf(name, sizeof name, "F%d", k);
        const stc_tensor *f = get_named(&b, name);
        for (unsigned bits = 0; bits < 1u << t[k].n; bits++) {
            int64_t at[SCOPE];
            for (int i = 0; i < t[k].n; i++)
                at[i] = (bits >> (t[k].n - 1 - i)) & 1;
            t[k].of[bits] = value_at(f, at).f;
        }
    }
    say(&b, "y = ");
    for (int k = 0; k < FACTORS; k++) {
        say(&b, "%sF%d(", k ? "*" : "", k);
        for (int i = 0; i < t[k].n; i++)
            say(&b, "%sv%d", i ? "," : "", t[k].v[i]);
        say(&b, ")");
    }
    done(&b);
    const double y = value_at(get_named(&b, "y"), NULL).f, want = eliminated(t, FACTORS);
    ck_assert_msg(fabs(y - want) <= 1e-11 * fabs(want), "%.17g, not %.17g", y, want);
    lab_shut(&b);
}
END_TEST

/* ---- counting ------------------------------------------------------------------- */

/* Sets of places of a grid of which no two are neighbours, row by row. */
static int64_t independent(int rows, int columns)
{
    static int64_t now[1 << 10], next[1 << 10];
    int64_t all = 0;
    const unsigned sets = 1u << columns;
    memset(now, 0, sizeof now);
    now[0] = 1;
    for (int r = 0; r < rows; r++) {
        memset(next, 0, sizeof next);
        for (unsigned a = 0; a < sets; a++)
            for (unsigned c = 0; now[a] && c < sets; c++)
                if (!(c & (c >> 1)) && !(a & c)) next[c] += now[a];
        memcpy(now, next, sizeof now);
    }
    for (unsigned a = 0; a < sets; a++)
        all += now[a];
    return all;
}

/* The satisfying assignments of a formula: each of its clauses forbids that two variables
 * are both true, and its table is N. OEIS A006506 has squares. */
static const struct {
    int rows, columns;
    int64_t known; /* 0: by rows alone */
} grid[] = {{6, 10, 0}, {8, 8, INT64_C(660647962955)}, {3, 20, 0}, {1, 60, 4052739537881}};

START_TEST(satisfying_assignments)
{
    const int rows = grid[_i].rows, columns = grid[_i].columns;
    lab b;
    lab_open(&b);
    say(&b, "tensor N dense i64 [2,2] = [[1,1],[1,0]]\ny = ");
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++) {
            const char *and = r || c > 1 ? " * " : "";
            if (c) say(&b, "%sN(v%d_%d,v%d_%d)", and, r, c - 1, r, c);
            if (r) say(&b, " * N(v%d_%d,v%d_%d)", r - 1, c, r, c);
        }
    done(&b);
    const int64_t y = value_at(get_named(&b, "y"), NULL).i;
    if (grid[_i].known) ck_assert_int_eq(y, grid[_i].known);
    if (rows > 1) ck_assert_int_eq(y, independent(columns, rows));
    lab_shut(&b);
}
END_TEST

/* ---- sparse networks ------------------------------------------------------------ */

enum { NODES = 50, WIDE = 100 };

/* A tree of matrices that store one place in a hundred, and a tensor of three at its root:
 * messages go from the leaves to the root. */
START_TEST(sparse_trees)
{
    static uint64_t message[NODES + 1][WIDE];
    int parent[NODES + 1];
    uint64_t seed = 5 + (uint64_t)_i, want = 0;
    lab b;
    lab_open(&b);
    say(&b, "tensor R csf i64 [%d,%d,%d] = random(density=0.01, seed=99)\n", WIDE, WIDE,
        WIDE);
    for (int k = 3; k <= NODES; k++) {
        parent[k] = (int)(draw(&seed) % (uint64_t)k);
        say(&b, "tensor M%d csr i64 [%d,%d] = random(density=0.01, seed=%d)\n", k, WIDE,
            WIDE, k);
    }
    say(&b, "y = R(v0,v1,v2)");
    for (int k = NODES; k >= 3; k--)
        say(&b, "*M%d(v%d,v%d)", k, parent[k], k);
    done(&b);
    for (int k = 0; k <= NODES; k++)
        for (int i = 0; i < WIDE; i++)
            message[k][i] = 1;
    for (int k = NODES; k >= 3; k--) {
        char name[20];
        snprintf(name, sizeof name, "M%d", k);
        const stc_tensor *t = get_named(&b, name);
        for (int64_t i = 0; i < WIDE; i++) {
            uint64_t sum = 0;
            for (int64_t j = 0; j < WIDE; j++)
                sum += (uint64_t)value_at(t, (int64_t[]){i, j}).i * message[k][j];
            message[parent[k]][i] *= sum;
        }
    }
    const stc_tensor *t = get_named(&b, "R");
    for (int64_t i = 0; i < WIDE; i++)
        for (int64_t j = 0; j < WIDE; j++)
            for (int64_t k = 0; k < WIDE; k++)
                want += (uint64_t)value_at(t, (int64_t[]){i, j, k}).i * message[0][i] *
                        message[1][j] * message[2][k];
    ck_assert_uint_eq((uint64_t)value_at(get_named(&b, "y"), NULL).i, want);
    lab_shut(&b);
}
END_TEST

/* ---- other forms ---------------------------------------------------------------- */

enum { MANY = 90 };

/* Statements of MANY factors, and what they must be, made factor by factor. `list` says a
 * factor, its number being the first, the second and the third argument of a print. */
typedef struct form {
    const char *declare, *before, *list, *between, *after;
    const char *begin, *next; /* of z: for the last factor first                */
    const char *check;        /* 0 where y is as it must be                           */
} form;

#define OFF "off = sum(i: abs(y(i) - z(i)))\n"

static const form forms[] = {
    {"tensor y dense f64 fill inf\n", "y(i0) = min($: ", "W%d(i%d,i%d)", " + ", ")",
     "z(i) = 0.0*v(i)", "z(i) = min(j: W%d(i,j) + z(j))", OFF},
    {"", "y(i0) = any($: ", "P%d(i%d,i%d)", " && ", ")", "z(i) = v(i) > -1",
     "z(i) = any(j: P%d(i,j) && z(j))", "off = sum(i: abs(i64(y(i)) - i64(z(i))))\n"},
    {"y(i) = v(i)\n", "y(i0) += ", "A%d(i%d,i%d)", "*", "", "z(i) = 1 + 0*v(i)",
     "z(i) = A%d(i,j)*z(j)", "off = sum(i: abs(y(i) - v(i) - z(i)))\n"},
    {"", "y(i0) = v(i0) - ", "A%d(i%d,i%d)", "*", "", "z(i) = 1 + 0*v(i)",
     "z(i) = A%d(i,j)*z(j)", "off = sum(i: abs(v(i) - y(i) - z(i)))\n"},
    {"", "y(i0) = max(sum($: ", "A%d(i%d,i%d)", "*", "), 5)", "z(i) = 1 + 0*v(i)",
     "z(i) = A%d(i,j)*z(j)", "off = sum(i: abs(y(i) - max(z(i), 5)))\n"},
    {"tensor y svec i64 [20]\n", "y(i0) = ", "A%d(i%d,i%d)", "*", "",
     "tensor z svec i64 [20]\nz(i) = v(i)*0 + 1", "z(i) = A%d(i,j)*z(j)",
     "off = sum(i: abs(y(i) - z(i))) + abs(stored(y) - stored(z))\n"},
    {"", "y = ", "x%d(i)", "*", "", "z(i) = 1 + 0*v(i)", "z(i) = x%d(i)*z(i)",
     "off = abs(y - sum(i: z(i)))\n"},
    {"", "y(j) = v(j) * sum(i: ", "x%d(i)", "*", ")", "z(i) = 1 + 0*v(i)",
     "z(i) = x%d(i)*z(i)", "t = z(i)\noff = sum(j: abs(y(j) - v(j)*t))\n"},
    /* over nothing it is 0, whatever else is infinite */
    {"tensor N dense f64 [20,0]\ntensor I dense f64 [20] = 1/0.0\n"
     "tensor U dense f64 [20,20] = 1\n",
     "y(i0,a,b) = I(i0)*N(i1,k)*U(i1,a)*U(i1,b)*", "W%d(i%d,i%d)", "*", "", "", "",
     "off = sum(i,a,b: abs(y(i,a,b)))\n"},
};

/* $: indices 1, 2, … MANY. */
static void say_before(lab *b, const char *text)
{
    for (const char *c = text; *c; c++)
        for (int k = 1; *c == '$' ? k <= MANY : k == 1; k++)
            *c == '$' ? say(b, k < MANY ? "i%d," : "i%d", k) : say(b, "%c", *c);
}

static void say_form(lab *b, const form *f)
{
    say(b, "%s", f->declare);
    say_before(b, f->before);
    for (int k = 0; k < MANY; k++) {
        char part[100];
        snprintf(part, sizeof part, f->list, k, k, k + 1);
        say(b, "%s%s", k ? f->between : "", part);
    }
    say(b, "%s\n%s\n", f->after, f->begin);
    for (int k = MANY - 1; *f->next && k >= 0; k--) {
        char part[100];
        snprintf(part, sizeof part, f->next, k);
        say(b, "%s\n", part);
    }
    say(b, "%s", f->check);
}

START_TEST(other_forms)
{
    lab b;
    lab_open(&b);
    say(&b, "tensor v dense i64 [20] = random(density=0.9, seed=5)\n");
    for (int k = 0; k < MANY; k++)
        switch (forms[_i].list[0]) {
        case 'A':
            say(&b, "tensor A%d csr i64 [20,20] = random(density=0.2, seed=%d)\n", k, k);
            break;
        case 'P':
            say(&b, "tensor P%d csr bool [20,20] = random(density=0.1, seed=%d)\n", k, k);
            break;
        case 'W':
            say(&b,
                "tensor V dense f64 [20,20] = random(density=1, seed=%d)\n"
                "W%d(i,j) = floor(100 * V(i,j))\n",
                k, k);
            break;
        default:
            say(&b, "tensor x%d dense i64 [20] = random(density=0.999, seed=%d)\n", k, k);
            break;
        }
    done(&b);
    say_form(&b, &forms[_i]);
    done(&b);
    const stc_tensor *off = get_named(&b, "off");
    const stc_value v = value_at(off, NULL);
    const stc_type type = stc_tensor_type(off);
    ck_assert(type == STC_F64 ? v.f == 0 : v.i == 0);
    lab_shut(&b);
}
END_TEST

/* Sums of reductions, each with an index of its own: as many as one after the other. */
START_TEST(many_reductions)
{
    static const struct {
        const char *declare, *before, *between, *each, *after, *begin, *next;
    } c[] = {
        {"tensor y dense i64 [20]\n", "y(i) = ", " + ", "sum(j%d: A(i,j%d)*x(j%d)*%d)", "",
         "tensor z dense i64 [20]\n", "z(i) = z(i) + sum(j: A(i,j)*x(j)*%d)"},
        {"tensor y svec i64 [20]\n", "y(i) = ", " + ", "sum(j%d: A(i,j%d)*v(j%d)*%d)", "",
         "tensor z svec i64 [20]\n", "z(i) = z(i) + sum(j: A(i,j)*v(j)*%d)"},
        {"", "y = ", " - ", "sum(j%d: A(j%d,j%d)*%d)", "", "z = 0",
         "z = z %s sum(j: A(j,j)*%d)"},
        {"tensor y dense i64 [20] fill 0\n", "y(i) = max(", ", ",
         "max(j%d: A(i,j%d)+x(j%d)-%d)", ")", "tensor z dense i64 [20] = -1000\n",
         "z(i) = max(z(i), max(j: A(i,j)+x(j)-%d))"},
    };
    enum { REDUCTIONS = 90 };
    lab b;
    lab_open(&b);
    say(&b,
        "tensor A csr i64 [20,20] = random(density=0.1, seed=1)\n"
        "tensor x dense i64 [20] = random(density=0.9, seed=2)\n"
        "tensor v svec i64 [20] = random(density=0.3, seed=3)\n%s",
        c[_i].declare);
    done(&b);
    say(&b, "%s", c[_i].before);
    for (int k = 0; k < REDUCTIONS; k++) {
        char part[100];
        snprintf(part, sizeof part, c[_i].each, k, k, k, k);
        say(&b, "%s%s", k ? c[_i].between : "", part);
    }
    say(&b, "%s\n%s\n", c[_i].after, c[_i].begin);
    for (int k = 0; k < REDUCTIONS; k++) {
        char part[100];
        if (_i == 2)
            snprintf(part, sizeof part, c[_i].next, k ? "-" : "+", k);
        else
            snprintf(part, sizeof part, c[_i].next, k);
        say(&b, "%s\n", part);
    }
    say(&b, _i == 2 ? "same = y == z\n"
                    : "same = sum(i: abs(y(i) - z(i))) == 0 && stored(y) == stored(z)\n");
    done(&b);
    ck_assert_int_eq(value_at(get_named(&b, "same"), NULL).i, 1);
    lab_shut(&b);
}
END_TEST

/* What is too large nevertheless is refused, and leaves everything as it was. */
START_TEST(too_large)
{
    static const struct {
        const char *before, *list, *between, *after, *words;
        bool as_written;
    } c[] = {
        {"y(i0) = ", "A(i%d,i%d)", "*", "", "a statement has at most 64 indices", true},
        {"y(i0) = ", "A(i%d,i%d)", "*", " / 3.0 + exp(A(i0,k))",
         "a statement has at most 64 indices", true},
        {"y(i0) = min($: ", "A(i%d,i%d)", " + ", ")", "declare it with a fill", false},
        {"y = ", "A(i%d,i%d+0*i%d)", "+", "", "", true},
        {"y = sum(i0: ", "exp(A(i%d,i%d))", "+", ")", "a statement has at most 64 indices",
         false},
        {"y(i0) = ", "A(i%d,i%d)", "*", " with split(i0,a,b,2)",
         "a statement has at most 64 indices", false},
    };
    lab b;
    lab_open(&b);
    ck_ok(b.m, stc_set_as_written(b.m, c[_i].as_written));
    say(&b, "tensor A csr f64 [5,5] = random(density=0.5, seed=1)\ny = 7");
    done(&b);
    say_before(&b, c[_i].before);
    for (int k = 0; k < MANY; k++) {
        char part[100];
        snprintf(part, sizeof part, c[_i].list, k, k + 1, k);
        say(&b, "%s%s", k ? c[_i].between : "", part);
    }
    say(&b, "%s", c[_i].after);
    ck_assert_int_eq(stc_session_exec(b.s, b.text, "test"), STC_ERR_PROGRAM);
    ck_assert_msg(has_words(stc_error(b.m)->message, c[_i].words), "%s",
                  stc_error(b.m)->message);
    ck_assert(value_at(get_named(&b, "y"), NULL).i == 7);
    lab_shut(&b);
}
END_TEST

/* Whichever allocation fails, a chain is refused, or compiled. */
START_TEST(starves)
{
    static char name[MANY][8];
    stc_decl decl[MANY] = {{0}};
    lab b;
    lab_open(&b);
    say(&b, "y(i0) = ");
    for (int k = 0; k < MANY; k++) {
        snprintf(name[k], sizeof name[k], "A%d", k);
        decl[k] = (stc_decl){.name = name[k], .format = "csr", .type = STC_F64, .order = 2};
        say(&b, "%s%s(i%d,i%d)", k ? "*" : "", name[k], k, k + 1);
    }
    say(&b, " * sum(l,m: A0(i0,l)*A1(l,m))");
    int failures = 0;
    for (int k = 1; k == 1 || b.h.failed; k++) {
        stc_program *p = NULL;
        b.h.fail_at = b.h.calls + k;
        b.h.lasting = _i;
        b.h.failed = false;
        const stc_status st = stc_compile(b.m, b.text, decl, MANY, &p);
        b.h.fail_at = 0;
        ck_assert(!st || (b.h.failed && st == STC_ERR_MEMORY));
        failures += st != STC_OK;
        stc_program_free(p);
    }
    ck_assert_int_gt(failures, 20);
    lab_shut(&b);
}
END_TEST

Suite *suite_network(void)
{
    Suite *s = suite_create("network");
    TCase *t = tcase_create("network");
    tcase_add_loop_test(t, chains, 0, sizeof chain / sizeof *chain);
    tcase_add_loop_test(t, partition_function, 0, 4);
    tcase_add_loop_test(t, satisfying_assignments, 0, sizeof grid / sizeof *grid);
    tcase_add_loop_test(t, sparse_trees, 0, 3);
    tcase_add_loop_test(t, other_forms, 0, sizeof forms / sizeof *forms);
    tcase_add_loop_test(t, many_reductions, 0, 4);
    tcase_add_loop_test(t, too_large, 0, 6);
    tcase_add_loop_test(t, starves, 0, 2);
    suite_add_tcase(s, t);
    return s;
}
