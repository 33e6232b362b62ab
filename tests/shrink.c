/* shrink.c: smaller cases by removing entries, simplifying formats and values,
 * and putting a part of an expression in the place of the whole. Each try runs
 * in a process of its own, so that crashes shrink like wrong results. */
#include "shrink.h"
#include "../src/lang/lang.h"
#include "fuzzing.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

bool fails(const fcase *c, unsigned how, char *why, size_t size)
{
    judged *j =
        mmap(NULL, sizeof *j, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (j == MAP_FAILED) return false;
    j->verdict = CASE_PASS;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        if (!freopen("/dev/null", "w", stderr)) _exit(0);
        fuzzing_patience(20);
        case_judge(c, how, j);
        _exit(0);
    }
    int status = 0;
    bool bad = false;
    if (pid > 0 && waitpid(pid, &status, 0) == pid) {
        bool died = WIFSIGNALED(status) || (WIFEXITED(status) && WEXITSTATUS(status) != 0);
        bad = died || j->verdict == CASE_FAIL;
        if (died && WIFSIGNALED(status))
            snprintf(why, size, "died of signal %d (%s)", WTERMSIG(status),
                     strsignal(WTERMSIG(status)));
        else if (died)
            snprintf(why, size, "exited with %d", WEXITSTATUS(status));
        else if (bad)
            snprintf(why, size, "%s", j->why);
    }
    munmap(j, sizeof *j);
    return bad;
}

typedef struct shrinker {
    fcase *c;
    unsigned how;
    int tries;
    time_t until;  /* large cases take long */
    char kind[40]; /* how it fails, so that it goes on to fail that way */
} shrinker;

/* The first words of a failure: a status with its message, a wrong element. */
static void kind_of(const char *why, char *kind, size_t size)
{
    size_t n = strncmp(why, "status", 6) == 0 ? size - 1 : 4, len = 0;
    for (; *why && len < n; why++) {
        bool name = *why >= '0' && *why <= '9';
        if (!name) kind[len++] = *why;
    }
    kind[len] = 0;
}

/* Keeps the changed copy if it still fails. */
static bool attempt(shrinker *s, fcase *changed)
{
    char why[1200], kind[sizeof s->kind] = "";
    if (time(NULL) > s->until) s->tries = 0;
    bool bad = s->tries-- > 0 && fails(changed, s->how, why, sizeof why);
    if (bad) kind_of(why, kind, sizeof kind);
    if (bad && strcmp(kind, s->kind) == 0) {
        case_free(s->c);
        *s->c = *changed;
        return true;
    }
    case_free(changed);
    return false;
}

static void drop_entries(shrinker *s, int k)
{
    for (int64_t part = s->c->t[k].n; part >= 1; part = part / 2) {
        for (int64_t at = 0; at < s->c->t[k].n && s->tries > 0;) {
            fcase d;
            if (!case_copy(s->c, &d)) return;
            ctensor *t = &d.t[k];
            int64_t n = part < t->n - at ? part : t->n - at, rest = t->n - at - n;
            memmove(t->coord + at * t->order, t->coord + (at + n) * t->order,
                    (size_t)(rest * t->order) * sizeof *t->coord);
            memmove(t->value + at, t->value + at + n, (size_t)rest * sizeof *t->value);
            t->n -= n;
            if (!attempt(s, &d)) at += part;
        }
    }
}

static void simplify_tensor(shrinker *s, int k)
{
    static const char *const plain[] = {"dense", "csr", "coo"};
    for (int f = 0; f < 3; f++) {
        fcase d;
        if (strcmp(s->c->t[k].format.text, plain[f]) == 0 || !case_copy(s->c, &d)) break;
        snprintf(d.t[k].format.text, sizeof d.t[k].format.text, "%s", plain[f]);
        d.t[k].lend = d.t[k].format.raw.possible = false;
        if (attempt(s, &d)) break;
    }
    fcase d;
    if (case_copy(s->c, &d)) {
        ctensor *t = &d.t[k];
        for (int64_t e = 0; e < t->n; e++)
            t->value[e] = t->type >= STC_F32 ? ov_real(t->type, 1) : ov_int(t->type, 1);
        attempt(s, &d);
    }
    if (s->c->t[k].has_fill && case_copy(s->c, &d)) {
        ctensor *t = &d.t[k];
        t->has_fill = false;
        t->fill = t->type >= STC_F32 ? ov_real(t->type, 0) : ov_int(t->type, 0);
        attempt(s, &d);
    }
}

/* Replaces [begin, end) of the statement. */
static bool replaced(shrinker *s, span at, const char *with, int len)
{
    fcase d;
    if (!case_copy(s->c, &d)) return false;
    const char *old = s->c->stmt;
    snprintf(d.stmt, sizeof d.stmt, "%.*s%s%.*s%s%s", at.begin, old, len > 1 ? "(" : "",
             len, with, len > 1 ? ")" : "", old + at.end);
    if (strlen(d.stmt) >= strlen(old)) {
        case_free(&d);
        return false;
    }
    return attempt(s, &d);
}

static bool simplify_node(shrinker *s, const ast *e, bool access)
{
    if (!e || s->tries <= 0) return false;
    bool operand = e->kind == N_CALL && case_tensor(s->c, e->name) != NULL;
    const char *text = s->c->stmt;
    if (!access && e->kind != N_REDUCE && !operand) {
        for (int k = 0; k < e->count; k++) {
            const ast *c = e->child[k];
            if (!c || c->kind == N_BINDING) continue;
            if (replaced(s, e->at, text + c->at.begin, c->at.end - c->at.begin))
                return true;
        }
    }
    if (!access && replaced(s, e->at, "1", 1)) return true;
    if (e->kind == N_CALL && operand) return false;
    for (int k = 0; k < e->count; k++)
        if (simplify_node(s, e->child[k], e->child[k] && e->child[k]->kind == N_BINDING))
            return true;
    return false;
}

static bool simplify_statement(shrinker *s)
{
    static const ctx blank;
    ctx *cx = malloc(sizeof *cx);
    if (!cx) return false;
    memcpy(cx, &blank, sizeof *cx);
    arena memory;
    arena_init(&memory, cx);
    const source src = {.cx = cx, .file = "shrink", .text = s->c->stmt};
    ast *tree;
    bool done = false;
    if (parse_script(&memory, &src, &tree) == STC_OK && tree->count == 1 &&
        tree->child[0]->kind == N_ASSIGN)
        done = simplify_node(s, tree->child[0]->child[1], false);
    arena_free(&memory);
    free(cx);
    return done;
}

static bool named_in(const char *text, const char *name)
{
    for (const char *p = text; (p = strstr(p, name)); p++) {
        char after = p[strlen(name)];
        bool word = p > text && (p[-1] == '_' || (p[-1] | 32) >= 'a');
        if (!word && !((after | 32) >= 'a' && (after | 32) <= 'z')) return true;
    }
    return false;
}

static void drop_unused(shrinker *s)
{
    for (int k = s->c->count - 1; k >= 0; k--) {
        fcase d;
        if (named_in(s->c->stmt, s->c->t[k].name) || !case_copy(s->c, &d)) continue;
        free(d.t[k].coord);
        free(d.t[k].value);
        for (int j = k; j + 1 < d.count; j++)
            d.t[j] = d.t[j + 1];
        d.count--;
        attempt(s, &d);
    }
    fcase d;
    if (s->c->defs[0] && case_copy(s->c, &d)) {
        d.defs[0] = 0;
        attempt(s, &d);
    }
}

void shrink(fcase *c, unsigned how)
{
    shrinker s = {.c = c, .how = how, .tries = 600, .until = time(NULL) + 20};
    char why[1200];
    if (!fails(c, how, why, sizeof why)) return;
    kind_of(why, s.kind, sizeof s.kind);
    while (s.tries > 0 && simplify_statement(&s))
        continue;
    drop_unused(&s);
    for (int k = 0; k < c->count; k++)
        drop_entries(&s, k);
    for (int k = 0; k < c->count; k++)
        simplify_tensor(&s, k);
    while (s.tries > 0 && simplify_statement(&s))
        continue;
}
