/* check_faults.c: every allocation is made to fail in turn, in each of a set of
 * scenarios: a clean error, everything freed, and the machine still works. */
#include "check.h"
#include <stdlib.h>
#include <string.h>

typedef stc_status (*scenario)(stc_machine *m);

/* Frees what there is of these, whatever failed. */
typedef struct things {
    stc_tensor *a, *b;
    stc_program *p;
    stc_session *s;
    void *bytes;
    char *text;
} things;

static stc_status finish(stc_machine *m, things *t, stc_status st)
{
    const stc_status kept = st;
    if (t->bytes) stc_text_free(m, t->bytes);
    if (t->text) stc_text_free(m, t->text);
    stc_program_free(t->p);
    if (t->s) stc_session_close(t->s);
    stc_tensor_free(t->a);
    stc_tensor_free(t->b);
    return kept;
}

static stc_status matrix(stc_machine *m, const char *name, stc_tensor **out)
{
    static const int64_t shape[] = {4, 5};
    return stc_tensor_from_dense(m, name, STC_F64, 2, shape, NULL, sample_dense, out);
}

static stc_status tensors(stc_machine *m)
{
    static const char *const formats[] = {"csr", "coo", "bcsr(2,2)", "hash",
                                          "rle", "dia", "ell",       "dense"};
    stc_status st = STC_OK;
    for (size_t k = 0; k < sizeof formats / sizeof *formats && !st; k++) {
        things t = {0};
        st = matrix(m, formats[k], &t.a);
        if (!st) st = stc_tensor_check(t.a);
        if (!st) st = stc_tensor_convert(t.a, "csc", STC_F32, &t.b);
        st = finish(m, &t, st);
    }
    return st;
}

static stc_status run_text(stc_machine *m, const char *text, const char *format_a,
                           const char *format_c)
{
    things t = {0};
    const stc_decl d[] = {{0, "A", format_a, STC_F64, NULL, 2},
                          {0, "C", format_c, STC_F64, NULL, -1}};
    stc_status st = matrix(m, format_a, &t.a);
    if (!st) st = stc_compile(m, text, d, format_c ? 2 : 1, &t.p);
    if (!st) st = stc_bind(t.p, "A", t.a);
    if (!st) st = stc_run(t.p);
    if (!st) st = stc_run(t.p);
    if (!st) st = stc_take(t.p, "C", &t.b);
    return finish(m, &t, st);
}

static stc_status products(stc_machine *m)
{
    return run_text(m, "C(i,j) = A(i,k) * A(j,k)", "csr", "csr");
}

static stc_status unions(stc_machine *m)
{
    return run_text(m, "C(j,i) = A(i,j) + A(i,j) * A(i,j) - 2 * A(i,j)", "coo", "dcsr");
}

static stc_status blocks(stc_machine *m)
{
    return run_text(m, "C(i,j) = A(i,j) + 1", "bcsr(2,2)", NULL);
}

static stc_status functions(stc_machine *m)
{
    return run_text(m,
                    "fn f(x, y) { while (x > 4) { x = x - y }; return x + y }\n"
                    "C(i) = min(j: f(A(i,j), 3))",
                    "csr", NULL);
}

static stc_status bytes(stc_machine *m)
{
    things t = {0};
    size_t size;
    stc_program *q = NULL;
    const stc_decl d = {0, "A", "csr", STC_F64, NULL, 2};
    stc_status st = stc_compile(m, "y(i) = A(i,j) * A(i,j)", &d, 1, &t.p);
    if (!st) st = stc_program_encode(t.p, &t.bytes, &size);
    if (!st) st = stc_program_decode(m, t.bytes, size, &q);
    stc_program_free(q);
    q = NULL;
    if (!st) st = stc_program_dump(t.p, &t.text);
    if (!st) st = stc_program_assemble(m, t.text, "x", &q);
    stc_program_free(q);
    if (t.text) stc_text_free(m, t.text);
    t.text = NULL;
    if (!st) st = stc_program_explain(t.p, "plan", &t.text);
    if (t.text) stc_text_free(m, t.text);
    t.text = NULL;
    if (!st) st = stc_program_explain(t.p, "code", &t.text);
    return finish(m, &t, st);
}

/* A loaded program's result is checked, and the check of unordered ones takes memory. */
static stc_status loaded(stc_machine *m)
{
    things t = {0};
    size_t size;
    const stc_decl d[] = {
        {0, "A", "csr", STC_F64, NULL, 2},
        {0, "y", "(i) -> (i : compressed(unordered))", STC_F64, NULL, -1}};
    stc_status st = stc_compile(m, "y(i) = A(i,j) * A(i,j)", d, 2, &t.p);
    if (!st) st = stc_program_encode(t.p, &t.bytes, &size);
    stc_program_free(t.p);
    t.p = NULL;
    if (!st) st = stc_program_decode(m, t.bytes, size, &t.p);
    if (!st) st = matrix(m, "csr", &t.a);
    if (!st) st = stc_bind(t.p, "A", t.a);
    if (!st) st = stc_run(t.p);
    if (!st) st = stc_take(t.p, "y", &t.b);
    return finish(m, &t, st);
}

static stc_status scripts(stc_machine *m)
{
    things t = {0};
    stc_status st = stc_session_open(m, &t.s);
    if (!st)
        st = stc_session_exec(t.s,
                              "format mine = (i,j) -> (j : dense, i : compressed)\n"
                              "fn sq(x) = x * x\n"
                              "tensor A mine f64 [3,3] = { (0,1): 3, (2,2): 1, (0,1): 2 }\n"
                              "tensor R csr f64 [3,3] = random(density=0.5, seed=3)\n"
                              "B(i,j) = sq(A(i,j)) + R(j,i)\n"
                              "repeat 2 { B(i,j) = B(i,j) + A(i,j) }\n"
                              "s = B(i,j)\nif (s > 1) { s = 2 }\ncompact B\ndrop R\n",
                              "x");
    return finish(m, &t, st);
}

static stc_status schedules(stc_machine *m)
{
    things t = {0};
    stc_status st = stc_session_open(m, &t.s);
    if (!st)
        st = stc_session_exec(
            t.s,
            "tensor A csr f64 [5,4] = random(density=0.5, seed=3)\n"
            "tensor B csr f64 [4,6] = random(density=0.5, seed=4)\n"
            "tensor T ss f64\nT(j,i) = A(i,k) * B(k,j)\n"
            "  with reorder(i,k,j), fuse(i,k,f), pos(f,p,A(i,k)), split(p,p0,p1,4), "
            "reorder(p0,p1,j), precompute(A(i,k) * B(k,j), W, {i,j}, {io,jo}, hash, "
            "2)\n"
            "C(i,j) = A(i,k) * B(k,j)\n"
            "  with split(j,j0,j1,4), fuse(i,k,f), split(f,f0,f1,3), reorder(j0,f0)\n",
            "x");
    return finish(m, &t, st);
}

static stc_status files(stc_machine *m)
{
    static const char *const name[] = {"fault.mtx", "fault.tns", "fault.npy"};
    char path[SCRATCH_PATH];
    stc_status st = STC_OK;
    for (int k = 0; k < 3 && !st; k++) {
        things t = {0};
        scratch(path, name[k]);
        st = matrix(m, "csr", &t.a);
        if (!st) st = stc_tensor_write(t.a, path);
        if (!st) st = stc_tensor_read(m, path, "dcsr", STC_F32, NULL, &t.b);
        st = finish(m, &t, st);
        remove(path);
    }
    return st;
}

/* Duplicates are added in one, and combined by a function in the other; what was put before
 * a failure is there after it. */
static stc_status built(stc_machine *m)
{
    static const char *const name[] = {"csr", "dcsr", "dense", "hash"};
    static const int64_t shape[] = {-1, 20};
    stc_status st = STC_OK;
    for (int way = 0; way < 8 && !st; way++) {
        things t = {0};
        stc_builder *b = NULL;
        int64_t put = 0;
        st = stc_builder_open(m, name[way / 2], STC_F64, 2, shape, NULL,
                              way % 2 ? "max" : NULL, &b);
        for (int64_t k = 0; k < 300 && !st; k++, put += !st)
            st = stc_builder_put(b, (int64_t[]){k * 7 % 23, k * 5 % 20},
                                 &(double){(double)k});
        if (!st) st = stc_builder_finish(b, &t.a);
        ck_assert_int_eq(stc_builder_count(b), t.a ? 0 : put);
        if (t.a) ck_assert_int_eq(stc_tensor_shape(t.a)[0], 23);
        stc_builder_free(b);
        st = finish(m, &t, st);
    }
    return st;
}

static stc_status iterated(stc_machine *m)
{
    static const char *const name[] = {"csr", "bcsr(2,2)", "rle"};
    stc_status st = STC_OK;
    for (int k = 0; k < 3 && !st; k++) {
        things t = {0};
        stc_iter *it = NULL;
        stc_block b = {.count = 1};
        int64_t n = 0;
        st = matrix(m, name[k], &t.a);
        if (!st) st = stc_iter_open(t.a, 4, &it);
        for (; !st && b.count; n += st ? 0 : b.count)
            st = stc_iter_next(it, &b);
        if (!st) ck_assert_int_ge(n, 6);
        stc_iter_free(it);
        st = finish(m, &t, st);
    }
    return st;
}

static stc_status errors(stc_machine *m)
{
    things t = {0};
    stc_status st = stc_compile(m, "y(i) = nope(i) + 1", NULL, 0, &t.p);
    st = finish(m, &t, st);
    return st == STC_ERR_PROGRAM ? STC_OK : st;
}

/* One statement for each way to run: what it takes is declared first. */
#define OPERANDS                                                                           \
    "tensor A csr f64 [9,9]\nA(i,j) = (i * 3 + j) % 4 == 1\ncompact A\n"                   \
    "tensor B dcsr f64 [9,9]\nB(i,j) = (i + 2 * j) % 3 == 0\ncompact B\n"                  \
    "tensor P rle i64 [9,9]\nP(i,j) = j // 3\ntensor L lz77 f64 [9,9]\nL(i,j) = j % 3\n"   \
    "tensor X dense f64 [9,9]\nX(i,j) = i - j\ntensor v svec f64 [9]\nv(i) = i % 2\n"      \
    "tensor F dense f64 [3]\nF(i) = i\ntensor T csf f64 [5,5,5]\n"                         \
    "T(i,j,k) = (i + j + k) % 3 == 0\ncompact T\n"

static stc_status execute(stc_machine *m, const char *text)
{
    things t = {0};
    stc_status st = stc_session_open(m, &t.s);
    if (!st) st = stc_session_exec(t.s, text, "x");
    return finish(m, &t, st);
}

/* What is refused says why, for which it takes memory, too. */
static stc_status refusals(stc_machine *m)
{
    static const int64_t three = 3;
    static const double v[3] = {1, 2, 3};
    things t = {0};
    const stc_decl d[] = {{0, "A", "csr", STC_F64, NULL, 2},
                          {0, "x", "dense", STC_F64, NULL, 1}};
    stc_status st = stc_compile(m, "y(i) = A(i,j) * x(j)", d, 2, &t.p);
    if (!st) st = matrix(m, "dcsr", &t.a);
    if (!st) st = stc_tensor_from_dense(m, "dense", STC_F64, 1, &three, NULL, v, &t.b);
    if (!st) st = stc_bind(t.p, "A", t.a);
    if (st == STC_ERR_ARGUMENT) { /* another format */
        stc_tensor_free(t.a);
        t.a = NULL;
        st = matrix(m, "csr", &t.a);
    }
    if (!st) st = stc_bind(t.p, "A", t.a);
    if (!st) st = stc_bind(t.p, "x", t.b);
    if (!st) st = stc_run(t.p);
    return finish(m, &t, st == STC_ERR_SHAPE ? STC_OK : st);
}

static stc_status profiles(stc_machine *m)
{
    things t = {0};
    machine_profile_runs(m);
    stc_status st = stc_session_open(m, &t.s);
    if (!st)
        st = stc_session_exec(t.s,
                              OPERANDS
                              "tensor C csr\nC(i,j) = A(i,k) * B(k,j) with reorder(k,i,j), "
                              "workspace(coord, 2)\ns = A(i,j) * X(i,j)\n",
                              "x");
    if (!st) st = stc_session_profile(t.s, &t.text);
    return finish(m, &t, st);
}

/* More registers than a small table has room for, and a result packed from another. */
static stc_status registers(stc_machine *m)
{
    things t = {0};
    stc_status st = matrix(m, "csr", &t.a);
    if (!st)
        st = stc_program_assemble(
            m,
            ".registers v 200 i 2 m 2 c 4\n"
            ".tensor t0 \"A\" input f64 (0) format 2 dense(0) compressed(1)\n"
            ".tensor t1 \"C\" output f64 (0) [e0 e1] format 2 dense(0) compressed(1)\n"
            ".tensor t2 \"s\" output f64 (0) [] format 0\n"
            ".extent e0 dim t0 0\n.extent e1 dim t0 1\n.const k0 f64 0\n"
            ".merge g0 lo root hi e0 universe produce 0x3 { locate c0 t0 0 root root 1 }\n"
            ".merge g1 lo root hi e1 produce 0x2 { walk c1 }\n.code\n"
            "const v0, k0\nloop i0, m0, g0\nopen c1, t0, 1, c0\nloop i1, m1, g1\n"
            "load v1, t0, c1\nfn2 v0, add, f64, v0, v1\nend\nend\nbegin t2\n"
            "store t2, root, v0\nfinish t2\npack t1, t0\nhalt\n",
            "x", &t.p);
    if (!st) st = stc_bind(t.p, "A", t.a);
    if (!st) st = stc_run(t.p);
    if (!st) st = stc_take(t.p, "C", &t.b);
    return finish(m, &t, st);
}

/* A program that runs again with operands of another shape. */
static stc_status reshaped(stc_machine *m)
{
    static const int64_t shape[] = {7, 2};
    static const double values[14] = {1, 0, 2, 0, 0, 3, 4};
    const stc_decl d[] = {{0, "A", "csr", STC_F64, NULL, 2},
                          {0, "C", "csr", STC_F64, NULL, -1}};
    things t = {0};
    stc_status st = matrix(m, "csr", &t.a);
    if (!st) st = stc_tensor_from_dense(m, "csr", STC_F64, 2, shape, NULL, values, &t.b);
    if (!st)
        st = stc_compile(m,
                         "C(i,l) = A(i,j) * A(k,l) with reorder(i,j,k,l), "
                         "workspace(dense)",
                         d, 2, &t.p);
    for (int k = 0; k < 4 && !st; k++) {
        st = stc_bind(t.p, "A", k % 2 ? t.a : t.b);
        if (!st) st = stc_run(t.p);
    }
    return finish(m, &t, st);
}

#define DS "(i,j) -> (i : compressed, j : dense)\n"
#define LIST(name, seed)                                                                   \
    "tensor " name " svec f64 [900] = random(density=0.5, seed=" seed ")\n"
#define NARROW "tensor N csr f64 [200,1]\nN(i,j) = i % 5 == 1\ncompact N\n"

/* What has no function is a script, run with so many threads. */
static const struct {
    const char *name;
    scenario run;
    const char *text;
    int threads;
} all[] = {
    {"tensors", tensors, NULL, 0},
    {"products", products, NULL, 0},
    {"unions", unions, NULL, 0},
    {"blocks", blocks, NULL, 0},
    {"functions", functions, NULL, 0},
    {"bytes", bytes, NULL, 0},
    {"loaded", loaded, NULL, 0},
    {"scripts", scripts, NULL, 0},
    {"schedules", schedules, NULL, 0},
    {"files", files, NULL, 0},
    {"built", built, NULL, 0},
    {"iterated", iterated, NULL, 0},
    {"errors", errors, NULL, 0},
    {"refusals", refusals, NULL, 0},
    {"profiles", profiles, NULL, 0},
    {"reshaped", reshaped, NULL, 0},
    {"registers", registers, NULL, 0},
    {"seven lists", NULL,
     LIST("p", "1") LIST("q", "2") LIST("r", "3") LIST("s", "4") LIST("t", "5") LIST(
         "u", "6") LIST("v", "7") "a = p(i) * q(i) * r(i) * s(i) * t(i) * u(i) * v(i)\n",
     0},
    {"cascades", NULL,
     OPERANDS "C(i,j) = max(A(i,j), B(i,j)) * v(j)\ns(i) = A(i,j) * B(i,j)\n"
              "R(i,l) = T(i,j,k) * X(j(0:5),l) * X(k(2:7),l)\n"
              "U(i,j,k) = T(i,j,k) * v(k(0:5)) + T(i,j,k)\n"
              "V(i,j) = A(i(1:8:2), j(0:4)) + A(i(0:4), j(2:6))\n",
     0},
    {"windows", NULL,
     OPERANDS "a(i) = A(i,j(0:9:2)) * X(i,j(0:5))\nC(i,j) = B(i,j(1:9:3)) * 2\n"
              "D(i,j) = T(i,j,k(0:5:2)) * v(k(0:3))\n",
     0},
    {"steps", NULL,
     OPERANDS "tensor H hash f64 [9,9]\nH(i,j) = (i + j) % 3 == 0\ncompact H\n"
              "C(i,j) = A(i,j) + H(i,j) * v(j)\na(i) = H(i,j) * v(j) * A(i,j)\n",
     0},
    {"rows", NULL,
     OPERANDS "tensor C " DS "C(i,j) = B(i,k) * X(k,j)\nD(i,j) = A(i,k) * X(k,j)\n"
              "tensor E " DS "E(i,l) = T(i,j,k) * X(k(0:5),l) * X(j(0:5),l)\n",
     0},
    {"nests", NULL,
     OPERANDS "a(i) = A(i,j) * X(i,j)\nb(j) = A(i,j) * X(i,j)\n"
              "C(i,j) = A(i,k) * X(k,j)\nD(i,j) = X(i,k) * X(k,j)\n"
              "tensor E csr\nE(i,j) = A(i,j) + A(i,j) * 2\n"
              "e = min(i,j: A(i,j) + X(i,j))\n",
     0},
    {"scattered", NULL,
     "tensor A csr f64 [2,40] = ones\n"
     "tensor B csr f64 [40,110]\nB(i,j) = (i * 7 + j) % 40 == 0\ncompact B\n"
     "tensor C csr\nC(i,j) = A(i,k) * B(k,j) with workspace(hash)\n"
     "tensor D csr\nD(i,j) = A(i,k) * B(k,j)\ntensor G csr\nG(i,j) = D(i,j) + C(i,j)\n"
     "tensor E ell f64 [9,9]\nE(i,j) = (i * 3 + j) % 4 == 1\ncompact E\n"
     "tensor x dense f64 [9]\nx(i) = i\na(i) = E(i,j) * x(j)\nb(j) = C(i,j)\n",
     0},
    {"workspaces", NULL,
     OPERANDS "tensor C csr\nC(i,j) = A(i,k) * B(k,j)\n"
              "tensor D coo\nD(j,i) = A(i,k) * B(k,j) with workspace(coord)\n"
              "tensor E csr\nE(i,j) = A(i,k) * B(k,j) with workspace(hash)\n"
              "tensor G csr\nG(i,j) = A(i,k) * B(k,j) with workspace(bucket)\n"
              "fn h(x, y) = x + y with commutative, associative\n"
              "tensor H csr\nH(i,j) = h(k: A(i,k) * B(k,j))\n",
     0},
    {"workspaces on two threads", NULL,
     OPERANDS "tensor C coo\nC(j,i) = A(i,k) * B(k,j) with reorder(k,i,j), "
              "workspace(coord, 8)\n"
              "tensor E coo\nE(j,i) = A(i,k) * B(k,j) with reorder(k,i,j), "
              "workspace(bucket, 6)\n",
     2},
    {"an accumulator after all", NULL,
     NARROW "tensor C csr\nC(i,j) = N(i,k) * N(j,k) with reorder(k,i,j)\n", 0},
    {"intervals", NULL,
     OPERANDS "tensor C rle\nC(i,j) = P(i,j) + P(j,i)\na(i) = P(i,j) * P(i,j)\n"
              "tensor D lz77\nD(i,j) = L(i,j) * 2 + L(i,j)\n"
              "tensor E csr\nE(i,j) = P(i,j) * A(i,j)\n"
              "tensor G dense\nG(i,j) = L(i,j) + P(i,j)\n"
              "b(i) = P(i,j) * L(i,j) * X(i,j)\n",
     0},
    {"blocked", NULL,
     "tensor A bcsr(2,3) f64 [9,9]\nA(i,j) = (i * 3 + j) % 4 == 1\ncompact A\n"
     "tensor D dia f64 [9,9]\nD(i,j) = (i - j) * (i - j) < 5\ncompact D\n"
     "tensor x dense f64 [9]\nx(i) = i\na(i) = A(i,j) * x(j)\nb(j) = A(i,j) * x(i)\n"
     "c(i) = D(i,j) * x(j)\n",
     0},
    {"convolutions", NULL,
     OPERANDS "a(i) = v(i+j) * F(j)\nC(i,j) = A(i+k,j) * F(k)\n"
              "tensor D csr\nD(i,j) = A(i+k,j+l) * F(k) * F(l)\n"
              "E(i,j) = X(i+k,j+l) * F(k) * F(l)\n",
     0},
    {"shared", NULL,
     OPERANDS "tensor C csr\nC(i,j) = A(i,k) * B(k,j)\na(i) = A(i,j) * v(j)\n"
              "b(j) = A(i,j) * X(i,j)\ns = A(i,j) * X(i,j)\n"
              "D(i,j) = X(i,k) * A(k,j)\n",
     2},
};
enum { ALL = sizeof all / sizeof *all };

static stc_status perform(int k, stc_machine *m)
{
    if (all[k].run) return all[k].run(m);
    if (all[k].threads) machine_share(m, all[k].threads);
    return execute(m, all[k].text);
}

static stc_machine *faulty(heap *h, bool no_super)
{
    const stc_config config = {
        .alloc = heap_alloc, .alloc_context = h, .no_super = no_super};
    stc_machine *m = NULL;
    return stc_open(&config, &m) == STC_OK ? m : NULL;
}

/* One failing call, then a second try on the same machine. */
static bool fail_one(int k, int64_t at, bool lasting, bool no_super)
{
    heap h = {.fail_at = 0};
    stc_machine *m = faulty(&h, no_super);
    ck_assert_ptr_nonnull(m);
    h.fail_at = h.calls + at;
    h.lasting = lasting;
    const stc_status st = perform(k, m);
    const bool failed = h.failed;
    /* A shortage may be lived with (a smaller workspace), but never hidden. */
    if (st != STC_OK)
        ck_assert_msg(st == STC_ERR_MEMORY, "%s, allocation %lld: %s (%s)", all[k].name,
                      (long long)at, stc_status_name(st), stc_error(m)->message);
    if (st != STC_OK) ck_assert_int_eq(stc_error(m)->status, STC_ERR_MEMORY);
    h.fail_at = 0;
    const stc_status again = perform(k, m);
    ck_assert_msg(again == STC_OK, "%s, after allocation %lld failed: %s (%s)", all[k].name,
                  (long long)at, stc_status_name(again), stc_error(m)->message);
    stc_close(m);
    ck_assert_msg(h.held == 0, "%s, allocation %lld: %lld bytes are still held",
                  all[k].name, (long long)at, (long long)h.held);
    return failed;
}

START_TEST(each_allocation)
{
    for (int no_super = 0; no_super < 2; no_super++) {
        int64_t at = 1;
        while (fail_one(_i, at, false, no_super))
            at++;
        ck_assert_int_gt(at, 3);
        for (int64_t k = 1 + no_super; k < at; k += 7)
            fail_one(_i, k, true, no_super);
    }
}
END_TEST

/* A run that may take so many steps, and no more, in each family: it ends, or says so. */
START_TEST(each_limit)
{
    for (uint64_t steps = 1; steps < 5000; steps += 1 + steps / 3) {
        heap h = {.fail_at = 0};
        const stc_config config = {
            .alloc = heap_alloc, .alloc_context = &h, .max_steps = steps};
        stc_machine *m;
        ck_assert_int_eq(stc_open(&config, &m), STC_OK);
        const stc_status st = perform(_i, m);
        ck_assert_msg(!st || st == STC_ERR_STEPS, "%s, %llu steps: %s", all[_i].name,
                      (unsigned long long)steps, stc_status_name(st));
        machine_shut(m, &h);
    }
}
END_TEST

START_TEST(opening)
{
    for (int64_t at = 1; at < 10; at++) {
        heap h = {.fail_at = at};
        stc_machine *m = faulty(&h, false);
        if (m) stc_close(m);
        ck_assert_int_eq(h.held, 0);
    }
}
END_TEST

Suite *suite_faults(void)
{
    Suite *s = suite_create("faults");
    TCase *c = tcase_create("faults");
    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, each_allocation, 0, ALL);
    tcase_add_loop_test(c, each_limit, 0, ALL);
    tcase_add_test(c, opening);
    suite_add_tcase(s, c);
    return s;
}
