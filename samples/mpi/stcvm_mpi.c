/* stcvm_mpi.c: a script on several machines.
 *
 *     mpirun -n 4 stcvm-mpi [-v] script.stc
 *     stcvm-mpi --share 2/100 script.stc
 *
 * Every rank has a session and goes through the script. An assignment runs in parts where
 * the data are (splits.c), and tensors of order 2 and more are kept in ranges of about as
 * many entries each as soon as a statement needs no more of them (variables.c). What can't
 * be split runs everywhere alike, and so does all that is no assignment: declarations (but
 * of Matrix Market files, of which each rank reads a part: files.c), prints (rank 0's are
 * shown). `repeat` and `while` are loops of this program.
 *
 * -v tells of each statement what was done, and the bytes that were told and moved. --share
 * runs the share of one rank of many in one process, whose others have as much as it has,
 * and tells what it would take: results are that rank's own, and nothing else in them is
 * right.
 */
#include "variables.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static bool verbose;

static void block(const char *text, const char *end);

static void statement(const char *text)
{
    char what[400] = "everywhere";
    const int64_t moved = bytes_moved, told = bytes_told;
    if (read_in_ranges(text)) {
        snprintf(what, sizeof what, "read in ranges");
    } else if (alone && make_own_rows(text)) {
        snprintf(what, sizeof what, "own rows");
    } else if (!run_split(text, what, sizeof what)) {
        definitions += strncmp(text, "print", 5) != 0;
        everywhere(text);
        return;
    }
    if (verbose && (rank == 0 || alone))
        fprintf(stderr, "%s\n  %s; %lld bytes told, %lld received\n", text, what,
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
        const bool is_loop =
            brace && (!strncmp(text, "repeat ", 7) || !strncmp(text, "while ", 6) ||
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

/* What a share takes, by a network of so many bytes a second and seconds a message. */
static void tell_share(double cpu)
{
    const double each = 1e9, message = 2e-5;
    const double moving = (double)bytes_moved / each + (double)messages * message;
    printf("rank %d of %d: %.3f s of its processor, %lld bytes told, %lld received in %lld "
           "messages: %.3f s at 1 GB/s and 20 us\n",
           rank, ranks, cpu, (long long)bytes_told, (long long)bytes_moved,
           (long long)messages, moving);
}

static void tell_all(double cpu)
{
    int64_t sums[2] = {bytes_told, bytes_moved}, all[2];
    double most;
    MPI_Reduce(sums, all, 2, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&cpu, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        fprintf(stderr,
                "stcvm-mpi: %d ranks, %lld bytes told, %lld received, %.3f s at most of "
                "a rank's processor\n",
                ranks, (long long)all[0], (long long)all[1], most);
}

/* Options, up to the script's name. */
static void options(int argc, char **argv)
{
    int at = 1;
    for (; at < argc - 1 && argv[at][0] == '-'; at++) {
        if (strcmp(argv[at], "-v") == 0) {
            verbose = true;
        } else if (strcmp(argv[at], "--share") == 0 && at + 1 < argc - 1 &&
                   sscanf(argv[at + 1], "%d/%d", &rank, &ranks) == 2 && rank >= 0 &&
                   rank < ranks) {
            alone = true;
            at++;
        } else {
            break;
        }
    }
    if (at != argc - 1) die("usage: stcvm-mpi [-v] [--share RANK/RANKS] SCRIPT");
    if (ranks > RANKS) die("too many ranks");
    script = argv[at];
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    options(argc, argv);
    char *text = read_script(script);
    if (stc_open(NULL, &m)) die("there is no memory");
    must(m, stc_session_open(m, &s));
    FILE *out = rank == 0 && !alone ? stdout : fopen("/dev/null", "w");
    if (!out) die("/dev/null can't be opened");
    stc_session_output(s, out);
    block(text, text + strlen(text));
    fflush(out);
    const double cpu = (double)clock() / CLOCKS_PER_SEC;
    if (alone)
        tell_share(cpu);
    else
        tell_all(cpu);
    forget_plans();
    stc_session_close(s);
    stc_close(m);
    free(text);
    MPI_Finalize();
    return 0;
}
