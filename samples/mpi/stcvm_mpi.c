/* stcvm_mpi.c: a script on several machines.
 *
 *     mpirun -n 4 stcvm-mpi [-v] script.stc
 *
 * Every rank has a session and goes through the script. An assignment becomes a program, and
 * stc_program_split tells for each index what a part of its range needs and makes: the index
 * for which the fewest bytes have to be exchanged is taken, each rank runs the program of its
 * own part (made by rank 0 and sent as bytecode), and results stay where they are made, or
 * are reduced. Tensors of order 2 and more are kept in ranges, of about as many entries each,
 * as soon as a statement needs no more of them; vectors that a statement reads whole are
 * gathered. What can't be split runs everywhere alike, and so does all that is no assignment:
 * declarations, prints (rank 0's are shown). `repeat` and `while` are loops of this program.
 * -v tells of each statement what was done, and the bytes that were told and moved.
 */
#include "exchange.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NAMES = 128, ROWS = 32, RANKS = 256, CUTS = 16 };

/* How a variable is held: whole, or cut in a mode at bounds. */
typedef struct held {
    char name[64];
    int mode; /* -1: whole */
    const int64_t *bound;
    bool stays; /* it was needed whole once, and isn't cut again */
} held;

static stc_machine *m;
static stc_session *s;
static held table[NAMES];
static int count;
static int64_t cuts[CUTS][RANKS + 1]; /* bounds in use, by the size that they end with */
static int ncut;
static bool verbose;
static const char *script;

static held *find(const char *name)
{
    for (int k = 0; k < count; k++)
        if (strcmp(table[k].name, name) == 0) return &table[k];
    if (count == NAMES || strlen(name) >= sizeof table->name) die("too many names");
    held *h = &table[count++];
    snprintf(h->name, sizeof h->name, "%s", name);
    h->mode = -1;
    h->bound = NULL;
    return h;
}

static stc_tensor *variable(const char *name)
{
    const stc_tensor *t;
    must(m, stc_session_get(s, name, &t));
    return (stc_tensor *)t;
}

static void hold(const char *name, stc_tensor *t, int mode, const int64_t *bound)
{
    held *h = find(name);
    must(m, stc_session_put(s, name, t));
    h->mode = mode;
    h->bound = bound;
    h->stays = false;
}

/* What all other ranks' entries of it come to. */
static int64_t missing(const stc_tensor *t, const held *h)
{
    int64_t n[RANKS], own, all;
    must(m, stc_tensor_counts(t, h->mode, ranks, h->bound, n));
    own = n[rank];
    MPI_Allreduce(&own, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    return bytes_of(t, all - own);
}

static void make_whole(const char *name)
{
    held *h = find(name);
    if (h->mode < 0) return;
    stc_tensor *t = variable(name);
    bytes_told += missing(t, h);
    hold(name, gather(t, h->mode, h->bound[rank], h->bound[rank + 1], NULL), -1, NULL);
    find(name)->stays = true;
}

/* ---- a split ------------------------------------------------------------------------- */

typedef struct choice {
    stc_split row[ROWS];
    int n;
    char name[64];
    bool is_result;
    int mode;
    int64_t coef;
    const int64_t *bound; /* in coordinates of the index times coef */
    int64_t bytes;
} choice;

static bool cut_as(const stc_split *r, const held *h, const choice *c)
{
    return h->mode >= 0 && r->how == STC_SPLIT_CUT && h->mode == r->mode &&
           h->bound == c->bound && r->before >= 0 && r->after < r->coef;
}

/* Bounds for the split: those that an operand has already, or new ones by the operand with
 * the most entries. False: the operands' blocks don't fit. */
static bool set_bounds(choice *c)
{
    const stc_tensor *most = NULL;
    int mode = 0;
    c->bound = NULL;
    c->coef = 1;
    for (int k = 0; k < c->n; k++) {
        const stc_split *r = &c->row[k];
        if (r->how == STC_SPLIT_CUT && r->coef > c->coef) c->coef = r->coef;
    }
    for (int k = 0; k < c->n; k++) {
        const stc_split *r = &c->row[k];
        if (r->is_result || r->how != STC_SPLIT_CUT) continue;
        const stc_tensor *t = variable(r->name);
        const held *h = find(r->name);
        if (r->coef != c->coef) return false;
        if (h->mode == r->mode && !c->bound) c->bound = h->bound;
        if (most && stc_tensor_stored(t) <= stc_tensor_stored(most)) continue;
        most = t;
        mode = r->mode;
    }
    if (!most && !c->is_result) {
        most = variable(c->name);
        mode = c->mode;
    }
    for (int k = 0; k < ncut && !c->bound && most; k++)
        if (cuts[k][ranks] == stc_tensor_shape(most)[mode]) c->bound = cuts[k];
    if (!c->bound && (!most || ncut == CUTS)) return false;
    if (!c->bound) {
        must(m, stc_tensor_bounds(most, mode, ranks, c->coef, cuts[ncut]));
        MPI_Bcast(cuts[ncut], ranks + 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
        c->bound = cuts[ncut++];
    }
    for (int r = 1; r < ranks; r++)
        if (c->bound[r] % c->coef) return false;
    return true;
}

/* What the ranks receive, together: of operands, and of dense results that are reduced. */
static int64_t cost(const choice *c)
{
    int64_t bytes = 0, all;
    for (int k = 0; k < c->n; k++) {
        const stc_split *r = &c->row[k];
        if (r->is_result) {
            if (r->how == STC_SPLIT_REDUCE) bytes += c->bound[ranks];
            continue;
        }
        const held *h = find(r->name);
        if (h->mode >= 0 && !cut_as(r, h, c)) bytes += missing(variable(r->name), h);
    }
    MPI_Allreduce(&bytes, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

/* By each mode of each name; the best, or false, and why none will do. */
static bool choose(const stc_program *p, choice *best, char *why, size_t size)
{
    bool any = false, result;
    const char *name;
    snprintf(why, size, "nothing to split");
    for (int k = 0; (name = stc_program_name(p, k, &result)); k++) {
        stc_decl d = {.size = sizeof d};
        must(m, stc_program_decl(p, name, &d));
        for (int mode = 0; mode < d.order; mode++) {
            choice c = {.is_result = result, .mode = mode};
            snprintf(c.name, sizeof c.name, "%s", name);
            if (stc_program_split(p, name, mode, c.row, ROWS, &c.n)) {
                snprintf(why, size, "%s", stc_error(m)->message);
                continue;
            }
            if (c.n > ROWS || !set_bounds(&c)) continue;
            c.bytes = cost(&c);
            if (any && c.bytes >= best->bytes) continue;
            *best = c;
            any = true;
        }
    }
    return any;
}

/* Rank 0 makes the parts, and sends them as bytecode. */
static stc_program *own_part(const stc_program *p, const choice *c)
{
    stc_program *mine = NULL;
    for (int r = 0; r < ranks && rank == 0; r++) {
        stc_program *part;
        void *bytes;
        size_t size;
        must(m, stc_program_part(p, c->name, c->mode, c->bound[r] / c->coef,
                                 (c->bound[r + 1] + c->coef - 1) / c->coef, &part));
        if (r == 0) {
            mine = part;
            continue;
        }
        must(m, stc_program_encode(part, &bytes, &size));
        MPI_Send(bytes, (int)size, MPI_BYTE, r, 0, MPI_COMM_WORLD);
        stc_text_free(m, bytes);
        stc_program_free(part);
    }
    if (rank) {
        MPI_Status st;
        int size;
        MPI_Probe(0, 0, MPI_COMM_WORLD, &st);
        MPI_Get_count(&st, MPI_BYTE, &size);
        void *bytes = malloc((size_t)size);
        if (!bytes) die("there is no memory");
        MPI_Recv(bytes, size, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &st);
        must(m, stc_program_decode(m, bytes, (size_t)size, &mine));
        free(bytes);
    }
    return mine;
}

static void bring_operands(const choice *c)
{
    for (int k = 0; k < c->n; k++) {
        const stc_split *r = &c->row[k];
        if (r->is_result) continue;
        const held *h = find(r->name);
        if (h->mode >= 0 && !cut_as(r, h, c)) make_whole(r->name);
        const bool ours = r->before >= 0 && r->after < r->coef;
        if (find(r->name)->mode >= 0 || find(r->name)->stays || r->how != STC_SPLIT_CUT || !ours) continue;
        const stc_tensor *t = variable(r->name);
        if (stc_tensor_order(t) < 2) continue;
        hold(r->name, between(t, r->mode, c->bound[rank], c->bound[rank + 1]), r->mode,
             c->bound);
    }
}

static void keep_results(stc_program *part, const choice *c)
{
    for (int k = 0; k < c->n; k++) {
        const stc_split *r = &c->row[k];
        stc_tensor *t;
        if (!r->is_result) continue;
        must(m, stc_take(part, r->name, &t));
        if (r->how == STC_SPLIT_WHOLE) hold(r->name, t, -1, NULL);
        if (r->how == STC_SPLIT_CUT) {
            stc_tensor *own = between(t, r->mode, c->bound[rank], c->bound[rank + 1]);
            hold(r->name, own, r->mode, c->bound);
            stc_tensor_free(t);
        }
        if (r->how == STC_SPLIT_REDUCE) {
            int64_t one[2] = {0, INT64_MAX}, own = 0, all;
            if (stc_tensor_order(t)) {
                must(m, stc_tensor_counts(t, 0, 1, one, &own));
            } else {
                own = 1;
            }
            MPI_Allreduce(&own, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
            bytes_told += bytes_of(t, all - own);
            hold(r->name, gather(t, -1, 0, 0, r->fn), -1, NULL);
            stc_tensor_free(t);
        }
    }
}

/* ---- statements ------------------------------------------------------------------------ */

/* Gathers what a text mentions. */
static void need_names(const char *text)
{
    for (const char *at = text; *at;) {
        char word[64];
        size_t n = 0;
        if (!isalpha((unsigned char)*at) && *at != '_') {
            at++;
            continue;
        }
        while (isalnum((unsigned char)at[n]) || at[n] == '_')
            n++;
        if (n < sizeof word) {
            memcpy(word, at, n);
            word[n] = 0;
            for (int k = 0; k < count; k++)
                if (strcmp(table[k].name, word) == 0) make_whole(word);
        }
        at += n;
    }
}

static void everywhere(const char *text)
{
    need_names(text);
    must(m, stc_session_exec(s, text, script));
}

static void bind_all(stc_program *p, const choice *c)
{
    for (int k = 0; k < c->n; k++)
        if (!c->row[k].is_result)
            must(m, stc_bind(p, c->row[k].name, variable(c->row[k].name)));
}

static void statement(const char *text)
{
    stc_program *p = NULL;
    static choice best;
    char why[400];
    const int64_t moved = bytes_moved, told = bytes_told;
    if (stc_session_compile(s, text, &p)) {
        everywhere(text);
        return;
    }
    if (choose(p, &best, why, sizeof why)) {
        bring_operands(&best);
        stc_program *part = own_part(p, &best);
        bind_all(part, &best);
        must(m, stc_run(part));
        keep_results(part, &best);
        stc_program_free(part);
        snprintf(why, sizeof why, "by mode %d of %s", best.mode, best.name);
    } else {
        everywhere(text);
    }
    stc_program_free(p);
    if (verbose && rank == 0)
        fprintf(stderr, "%s\n  %s; %lld bytes told, %lld received\n", text, why,
                (long long)(bytes_told - told), (long long)(bytes_moved - moved));
}

static double number(const char *text)
{
    char line[1100];
    const stc_tensor *t;
    stc_value v;
    need_names(text);
    snprintf(line, sizeof line, "_told = f64(%s)", text);
    must(m, stc_session_exec(s, line, script));
    must(m, stc_session_get(s, "_told", &t));
    must(m, stc_tensor_get(t, NULL, &v));
    return v.f;
}

static void block(const char *text, const char *end);

/* `repeat N {` and `while (e) {`; `body` to `end` is what is between the braces. */
static void loop(const char *head, const char *body, const char *end)
{
    char what[1000];
    const char *at = head + (strncmp(head, "while", 5) == 0 ? 5 : 6);
    const char *brace = body - 1;
    snprintf(what, sizeof what, "%.*s", (int)(brace - at), at);
    if (strncmp(head, "while", 5) == 0) {
        while (number(what) != 0)
            block(body, end);
        return;
    }
    for (double n = number(what); n > 0; n--)
        block(body, end);
}

static const char *closing(const char *at)
{
    int depth = 1;
    for (; *at; at++) {
        if (*at == '#') at += strcspn(at, "\n");
        depth += (*at == '{') - (*at == '}');
        if (!depth) return at;
        if (!*at) break;
    }
    die("a block that isn't closed");
}

static void block(const char *text, const char *end)
{
    while (text < end) {
        text += strspn(text, " \t\n;");
        if (text >= end) return;
        const size_t line = strcspn(text, "\n");
        const char *brace = memchr(text, '{', line);
        const bool is_loop = brace && (!strncmp(text, "repeat ", 7) ||
                                       !strncmp(text, "while ", 6) ||
                                       !strncmp(text, "while(", 6));
        if (is_loop) {
            const char *close = closing(brace + 1);
            loop(text, brace + 1, close);
            text = close + 1;
            continue;
        }
        size_t n = line;
        char *one;
        for (;;) { /* to the end of the statement, lines later perhaps */
            if (text + n > end) n = (size_t)(end - text);
            if (!(one = strndup(text, n))) die("there is no memory");
            if (text + n >= end || !stc_session_incomplete(one)) break;
            free(one);
            n += 1 + strcspn(text + n + 1, "\n");
        }
        if (*one != '#') statement(one);
        free(one);
        text += n;
    }
}

static char *read_script(const char *path)
{
    FILE *f = fopen(path, "r");
    if (!f) die("the script can't be opened");
    size_t n = 0, room = 1 << 16;
    char *text = malloc(room);
    for (size_t got; text && (got = fread(text + n, 1, room - n - 1, f)) > 0;) {
        n += got;
        if (room - n < 2) text = realloc(text, room *= 2);
    }
    fclose(f);
    if (!text) die("there is no memory");
    text[n] = 0;
    return text;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc > 1 && strcmp(argv[1], "-v") == 0) {
        verbose = true;
        argv++;
        argc--;
    }
    if (argc != 2) die("usage: stcvm-mpi [-v] SCRIPT");
    if (ranks > RANKS) die("too many ranks");
    script = argv[1];
    char *text = read_script(script);
    if (stc_open(NULL, &m)) die("there is no memory");
    must(m, stc_session_open(m, &s));
    FILE *out = rank == 0 ? stdout : fopen("/dev/null", "w");
    if (!out) die("/dev/null can't be opened");
    stc_session_output(s, out);
    block(text, text + strlen(text));
    fflush(out);
    int64_t sums[2] = {bytes_told, bytes_moved}, all[2];
    MPI_Reduce(sums, all, 2, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    double cpu = (double)clock() / CLOCKS_PER_SEC, most;
    MPI_Reduce(&cpu, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        fprintf(stderr,
                "stcvm-mpi: %d ranks, %lld bytes told, %lld received, %.3f s at most of "
                "a rank's processor\n",
                ranks, (long long)all[0], (long long)all[1], most);
    stc_session_close(s);
    stc_close(m);
    free(text);
    MPI_Finalize();
    return 0;
}
