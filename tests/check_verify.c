/* check_verify.c: programs written by hand in the printed form: what runs, and
 * what the verifier refuses; and that vm/README.md lists the opcodes as they
 * are.
 */
#include "../vm/code/program.h"
#include "../vm/code/text.h"
#include "check.h"
#include <stdlib.h>
#include <string.h>

/* t0 A csr, t1 x dense, t2 y dense, t3 a workspace, t4 B hashed, t5 C csr. */
#define HEAD                                                                               \
    ".registers v 6 i 4 m 4 c 8\n"                                                         \
    ".tensor t0 \"A\" input f64 (0) format 2 dense(0) compressed(1)\n"                     \
    ".tensor t1 \"x\" input f64 (0) format 1 dense(0)\n"                                   \
    ".tensor t2 \"y\" output f64 (0) [e1] format 1 dense(0)\n"                             \
    ".tensor t3 \"\" work f64 (0) [e1] format 1 compressed(0)\n"                           \
    ".tensor t4 \"B\" input f64 (0) format 2 dense(0) hashed(1)\n"                         \
    ".tensor t5 \"C\" output f64 (0) [e0 e1] format 2 dense(0) compressed(1)\n"            \
    ".extent e0 dim t0 0\n"                                                                \
    ".extent e1 dim t0 1\n"                                                                \
    ".const k0 f64 0\n"                                                                    \
    ".const k1 i64 1\n"                                                                    \
    ".const k2 i64 -1\n"                                                                   \
    ".merge g0 lo root hi e0 universe produce 0x3 { locate c0 t0 0 root root 1 }\n"        \
    ".merge g1 lo root hi e1 produce 0xa { walk c2, locate c3 t1 0 root root 1 }\n"        \
    ".merge g2 lo root hi e1 produce 0x2 { walk c2 }\n"                                    \
    ".merge g3 lo root hi e1 produce 0xe { walk c2, walk c4 }\n"                           \
    ".merge g4 lo root hi e1 produce 0x8 { walk c2, walk c2 }\n"                           \
    ".merge g5 lo root hi e1 produce 0x2 { walk c6 }\n"                                    \
    ".merge g6 lo root hi e0 universe produce 0x3 { locate c1 t4 0 root root 1 }\n"        \
    ".code\n"

/* y(j): the sums of the columns of A times x(j), through the workspace. */
#define COLUMNS                                                                            \
    "ws.begin t3\n"                                                                        \
    "loop i0, m0, g0\n"                                                                    \
    "  open c2, t0, 1, c0\n"                                                               \
    "  loop i1, m1, g1\n"                                                                  \
    "    load v0, t0, c2\n"                                                                \
    "    load v1, t1, c3\n"                                                                \
    "    fn2 v2, mul, f64, v0, v1\n"                                                       \
    "    ws.add t3, i1, add, f64, v2\n"                                                    \
    "  end\n"                                                                              \
    "end\n"                                                                                \
    "ws.end t3\n"                                                                          \
    "begin t2\n"                                                                           \
    "open c6, t3, 0, root\n"                                                               \
    "loop i1, m1, g5\n"                                                                    \
    "  load v0, t3, c6\n"                                                                  \
    "  at c7, t2, 0, root, i1\n"                                                           \
    "  store t2, c7, v0\n"                                                                 \
    "end\n"                                                                                \
    "finish t2\n"                                                                          \
    "begin t5\n"                                                                           \
    "finish t5\n"                                                                          \
    "halt\n"

/* C = B's rows, of which each is walked as its hash has it, by the workspace. */
#define HASHED                                                                             \
    "begin t2\n"                                                                           \
    "finish t2\n"                                                                          \
    "begin t5\n"                                                                           \
    "loop i0, m0, g6\n"                                                                    \
    "  at c5, t5, 0, root, i0\n"                                                           \
    "  ws.begin t3\n"                                                                      \
    "  open c2, t4, 1, c1\n"                                                               \
    "  loop i1, m1, g2\n"                                                                  \
    "    load v0, t4, c2\n"                                                                \
    "    ws.add t3, i1, add, f64, v0\n"                                                    \
    "  end\n"                                                                              \
    "  ws.end t3\n"                                                                        \
    "  open c6, t3, 0, root\n"                                                             \
    "  loop i1, m1, g5\n"                                                                  \
    "    at c7, t5, 1, c5, i1\n"                                                           \
    "    load v0, t3, c6\n"                                                                \
    "    store t5, c7, v0\n"                                                               \
    "  end\n"                                                                              \
    "  keep t5, 0, c5\n"                                                                   \
    "end\n"                                                                                \
    "finish t5\n"                                                                          \
    "halt\n"

static const struct {
    const char *code, *words; /* NULL: it is sound */
} programs[] = {
    {COLUMNS, NULL},
    {HASHED, NULL},
    /* registers */
    {"load v0, t0, root\nhalt\n", "isn't a scalar"},
    {"mov v0, v1\nhalt\n", "v1 is read before"},
    {"ivalue v0, i0\nhalt\n", "i0 is read before"},
    {"const v9, k0\nhalt\n", "no v9"},
    {"const v0, k9\nhalt\n", "no k9"},
    {"iconst i0, k0\nhalt\n", "isn't an i64"},
    {"const v0, k0\nfn1 v1, bitnot, f64, v0\nhalt\n", "bitnot"},
    {"const v0, k0\nfn1 v1, neg, i64, v0\nhalt\n", "v0 is f64"},
    {"const v0, k0\nif v0\nendif\nhalt\n", "v0 is f64"},
    {"const v0, k1\nif v0\nconst v1, k0\nendif\nmov v2, v1\nhalt\n", "v1 is read before"},
    {"const v0, k1\nif v0\nconst v1, k0\nelse\nconst v1, k1\nendif\nmov v2, v1\nhalt\n",
     "v1 is read before"},
    {"const v0, k1\nif v0\nconst v1, k0\nelse\nconst v1, k0\nendif\nmov v2, v1\nhalt\n",
     NULL},
    {"const v0, k1\nwhile\ntest v0\nmov v1, v0\nconst v0, k0\nendwhile\nhalt\n",
     "differs in its next round"},
    {"const v0, k1\nwhile\ntest v0\nconst v1, k0\nendwhile\nmov v2, v1\nhalt\n",
     "v1 is read before"},
    /* blocks */
    {"end\nhalt\n", "closes nothing"},
    {"loop i0, m0, g0\nhalt\n", "halt"},
    {"loop i0, m0, g0\nendif\nend\nhalt\n", "closes nothing"},
    {"const v0, k1\nbreak v0, 1\nhalt\n", "no loop"},
    {"const v0, k1\nif v0\nelse\nelse\nendif\nhalt\n", "second else"},
    {"halt\nhalt\n", "second halt"},
    {"const v0, k0\n", "last instruction"},
    {"const v0, k0\nreturn v0\nhalt\n", "only functions return"},
    /* cursors */
    {"open c1, t0, 1, root\nhalt\n", "needs a cursor"},
    {"open c2, t0, 2, root\nhalt\n", "no level 2"},
    {"loop i0, m0, g0\nopen c2, t0, 1, c0\nseek c2, i0\nload v0, t1, c2\nend\nhalt\n",
     "last level of t1"},
    {"loop i0, m0, g0\nopen c2, t0, 1, c0\nend\nload v0, t0, c2\nhalt\n", "isn't open"},
    {"loop i1, m1, g2\nend\nhalt\n", "isn't open"},
    {"loop i0, m0, g0\nseek c0, i0\nend\nhalt\n", "can't move"},
    {"loop i0, m0, g0\nopen c2, t0, 1, c0\nloop i1, m1, g4\nend\nend\nhalt\n",
     "merged twice"},
    {"loop i0, m0, g0\nopen c2, t0, 1, c0\nloop i1, m1, g2\nopen c2, t0, 1, c0\nend\nend\n"
     "halt\n",
     "c2"},
    {"loop i0, m0, g0\nopen c2, t0, 1, c0\nloop i1, m1, g2\nseek c2, i1\nend\nend\nhalt\n",
     "placed already"},
    {"loop i0, m0, g6\nopen c2, t4, 1, c1\nopen c4, t4, 1, c1\nloop i1, m1, g3\nend\nend\n"
     "halt\n",
     "unordered"},
    {"locate c1, t1, 0, root, i0\nhalt\n", "i0 is read before"},
    /* results and workspaces */
    {"iconst i0, k1\nat c1, t2, 0, root, i0\nhalt\n", "being assembled"},
    {"begin t0\nhalt\n", "isn't a result"},
    {"begin t2\nconst v0, k0\nstore t2, root, v0\nfinish t2\nhalt\n", "isn't a place"},
    {"begin t2\nfinish t2\nfinish t2\nhalt\n", "being assembled"},
    {"begin t2\niconst i0, k1\nat c1, t2, 0, root, i0\nbegin t2\nconst v0, k0\n"
     "store t2, c1, v0\nfinish t2\nhalt\n",
     "isn't open here"},
    {"begin t2\niconst i0, k1\nat c1, t2, 0, root, i0\nconst v0, k1\nstore t2, c1, v0\n"
     "finish t2\nhalt\n",
     "v0 is i64"},
    {"open c6, t3, 0, root\nhalt\n", "isn't whole"},
    {"ws.begin t3\nopen c6, t3, 0, root\nhalt\n", "isn't whole"},
    {"ws.begin t3\nws.end t3\nopen c6, t3, 0, root\nws.begin t3\nws.end t3\n"
     "load v0, t3, c6\nhalt\n",
     "isn't open here"},
    {"ws.end t3\nhalt\n", "being collected"},
    {"const v0, k1\nif v0\nws.begin t3\nws.end t3\nelse\nws.begin t3\nws.end t3\nendif\n"
     "open c6, t3, 0, root\nhalt\n",
     NULL},
    {"const v0, k1\nif v0\nws.begin t3\nws.end t3\nendif\nopen c6, t3, 0, root\nhalt\n",
     "isn't whole"},
    {"ws.begin t3\nws.end t3\nopen c6, t3, 0, root\nconst v0, k1\nif v0\nws.begin t3\n"
     "ws.end t3\nendif\nload v1, t3, c6\nhalt\n",
     "isn't open here"},
    {"ws.begin t2\nhalt\n", "isn't a workspace"},
    {"move t2, t0\nhalt\n", "different orders"},
    {"convert t5, t2\nhalt\n", "different orders"},
    {"move t5, t0\nhalt\n", "isn't the program's own"},
};

START_TEST(proofs)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    const size_t size = sizeof HEAD + strlen(programs[_i].code);
    char *text = malloc(size);
    ck_assert_ptr_nonnull(text);
    snprintf(text, size, "%s%s", HEAD, programs[_i].code);
    stc_program *p = NULL;
    const stc_status st = stc_program_assemble(m, text, "t", &p);
    if (!programs[_i].words) {
        ck_assert_msg(st == STC_OK, "%s: %s", programs[_i].code, stc_error(m)->message);
    } else {
        ck_assert_msg(st == STC_ERR_CORRUPT, "%s: accepted, or %s", programs[_i].code,
                      stc_error(m)->message);
        ck_assert_msg(has_words(stc_error(m)->message, programs[_i].words), "%s: %s",
                      programs[_i].code, stc_error(m)->message);
    }
    stc_program_free(p);
    free(text);
    machine_shut(m, &h);
}
END_TEST

static void run_by_hand(stc_machine *m, const char *text, const char *name, double *out)
{
    stc_program *p = NULL;
    stc_tensor *x = NULL;
    const double v[5] = {1, 2, 3, 4, 5};
    const int64_t n = 5;
    ck_ok(m, stc_program_assemble(m, text, "t", &p));
    stc_tensor *a = sample_matrix(m, "csr"), *b = sample_matrix(m, "hash");
    ck_ok(m, stc_tensor_from_dense(m, "dense", STC_F64, 1, &n, NULL, v, &x));
    ck_ok(m, stc_bind(p, "A", a));
    ck_ok(m, stc_bind(p, "B", b));
    ck_ok(m, stc_bind(p, "x", x));
    for (int round = 0; round < 2; round++) {
        const stc_tensor *t;
        ck_ok(m, stc_run(p));
        ck_ok(m, stc_result(p, name, &t));
        ck_ok(m, stc_tensor_to_dense(t, out));
    }
    stc_program_free(p);
    stc_tensor_free(a);
    stc_tensor_free(b);
    stc_tensor_free(x);
}

START_TEST(by_hand)
{
    heap h;
    stc_machine *m = machine_open(&h, _i == 1);
    double y[5], c[20];
    run_by_hand(m, HEAD COLUMNS, "y", y);
    for (int j = 0; j < 5; j++) {
        double sum = 0;
        for (int i = 0; i < 4; i++)
            sum += sample_dense[5 * i + j] * (j + 1);
        ck_assert_msg(y[j] == sum, "y(%d) is %g, expected %g", j, y[j], sum);
    }
    run_by_hand(m, HEAD HASHED, "C", c);
    for (int k = 0; k < 20; k++)
        ck_assert_msg(c[k] == sample_dense[k], "element %d is %g", k, c[k]);
    machine_shut(m, &h);
}
END_TEST

/* UPDATE=1 in the environment writes the table anew. */
START_TEST(reference_is_current)
{
    heap h;
    ctx *cx = ctx_open(&h);
    textbuf t;
    text_init(&t, cx);
    opcode_reference(&t);
    char *want = text_take(&t);
    ck_assert_ptr_nonnull(want);
    char path[4096];
    size_t size;
    snprintf(path, sizeof path, "%s/../vm/README.md", tests_dir());
    char *have = read_text(path, &size);
    ck_assert_msg(have != NULL, "%s isn't there", path);
    char *begin = strstr(have, "<!-- opcodes"), *end = strstr(have, "<!-- end -->");
    ck_assert(begin && end);
    begin = strchr(begin, '\n') + 1;
    bool same = (size_t)(end - begin) == strlen(want) && !memcmp(begin, want, strlen(want));
    if (!same && getenv("UPDATE")) {
        FILE *f = fopen(path, "w");
        ck_assert_ptr_nonnull(f);
        fprintf(f, "%.*s%s%s", (int)(begin - have), have, want, end);
        fclose(f);
        same = true;
    }
    ck_assert_msg(same,
                  "the opcodes of %s aren't those of vm/code/opcodes.def: run this with "
                  "UPDATE=1",
                  path);
    free(have);
    mem_strfree(cx, want);
    ctx_close(cx, &h);
}
END_TEST

/* As far as memory lasts: as many cells, and as many changes of them, as make its lists
 * grow just where each of these stands. */
static stc_status verify(ctx *cx, void *what)
{
    (void)cx;
    return program_verify(what);
}

START_TEST(shortages)
{
    static const struct {
        int registers, more, writes; /* each time so many more registers, or else writes */
        const char *before, *after;
    } cases[] = {
        {600, 0, 250, "", "loop i0, m0, g0\nend\n"},
        {600, 0, 250, "", "begin t1\nfinish t1\nmove t0, t1\n"},
        {600, 0, 250, "if v0\n", "endif\n"},
        {600, 0, 250, "if v0\n", "else\nconst v599, k0\nendif\n"},
        {1100, 100, 1050, "if v0\n", "else\nendif\n"},
    };
    heap h;
    ctx *cx = ctx_open(&h);
    for (int k = 0; k < 15; k++) {
        const int more = cases[_i].more, writes = cases[_i].writes + (more ? 0 : k);
        char text[32000], *end = text;
        end += sprintf(end,
                       ".registers v %d i 1 m 1 c 0\n"
                       ".tensor t0 \"a\" output f64 (0) [] format 0\n"
                       ".tensor t1 \"b\" temp f64 (0) [] format 0\n"
                       ".extent e0 const 3\n.const k0 i64 1\n"
                       ".merge g0 lo root hi e0 universe produce 0x1 { }\n"
                       ".code\nconst v0, k0\n%s",
                       cases[_i].registers + k * more, cases[_i].before);
        for (int v = 1; v < writes; v++)
            end += sprintf(end, "const v%d, k0\n", v);
        sprintf(end, "%shalt\n", cases[_i].after);
        program *p;
        ck_ctx(cx, program_assemble(cx, text, "t", &p));
        each_shortage(cx, &h, verify, p);
        program_free(p);
    }
    ctx_close(cx, &h);
}
END_TEST

/* ---- subsections, one in the other ---------------------------------------------- */

/* A loop that reads at a cursor which the next round opens on another tensor, behind a
 * branch that opens n subsections, each below `depth` others of one level: clocks of 32
 * bits came round here, and the read went unseen. */
static char *chained(int depth, int n)
{
    char *text = malloc(sizeof HEAD + 2000 + 70 * (size_t)(depth + n)), *end;
    ck_assert_ptr_nonnull(text);
    end = stpcpy(text, ".registers v 6 i 4 m 4 c 100\n");
    end = stpcpy(end, strchr(HEAD, '\n') + 1);
    end = stpcpy(end, ".tensor t6 \"z\" input f64 (0) format 1 compressed(0)\n"
                      "iconst i0, k1\nconst v0, k1\nsubsect c0, t6, 0, root, i0, k1, e0\n"
                      "seek c0, i0\n");
    for (int k = 1; k < depth; k++)
        end += sprintf(end, "subsect c%d, t6, 0, c%d, i0, k1, e0\nseek c%d, i0\n", k, k - 1,
                       k);
    end = stpcpy(end, "if v0\n");
    for (int k = 0; k < n; k++)
        end += sprintf(end, "subsect c99, t6, 0, c%d, i0, k1, e0\n", depth - 1);
    strcpy(end, "endif\nhalt\n");
    return text;
}

static int stop_at_steps(void *context, const char *what, uint64_t done, uint64_t total)
{
    (void)done;
    (void)total;
    *(int *)context += strcmp(what, "steps") == 0;
    return *(int *)context > 1;
}

/* Chains are short, and what it takes to prove a program is the machine's work. */
START_TEST(chains)
{
    heap h;
    stc_machine *m = machine_open(&h, false);
    stc_program *p = NULL;
    char *text = chained(63, 20000);
    ck_ok(m, stc_program_assemble(m, text, "63 in each other", &p));
    stc_program_free(p);
    free(text);
    text = chained(64, 1);
    ck_assert_int_eq(stc_program_assemble(m, text, "65", &p), STC_ERR_CORRUPT);
    ck_assert_ptr_nonnull(
        strstr(stc_error(m)->message, "more than 64 subsections of level 0"));
    free(text);
    machine_shut(m, &h);
    int asked = 0;
    const stc_config config = {.progress = stop_at_steps, .progress_context = &asked};
    ck_assert_int_eq(stc_open(&config, &m), STC_OK);
    text = chained(63, 200000);
    ck_assert_int_eq(stc_program_assemble(m, text, "long", &p), STC_ERR_INTERRUPT);
    ck_assert_int_eq(asked, 2);
    free(text);
    stc_close(m);
}
END_TEST

Suite *suite_verify(void)
{
    Suite *s = suite_create("verify");
    TCase *t = tcase_create("verify");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, proofs, 0, (int)(sizeof programs / sizeof *programs));
    tcase_add_loop_test(t, by_hand, 0, 2);
    tcase_add_test(t, reference_is_current);
    tcase_add_loop_test(t, shortages, 0, 5);
    tcase_add_test(t, chains);
    suite_add_tcase(s, t);
    return s;
}
