/* calc.c: a calculator for sparse arrays, over a session: each line is a
 * statement of the language; a line that is only a name prints it. Errors
 * change nothing, and say where.
 *
 *     $ build/samples/calc -
 *     tensor A csr f64 [2,2] = { (0,0): 2, (1,0): 1 }
 *     B(i,j) = A(i,j) + A(j,i)
 *     B
 */
#include <stcvm.h>
#include <stdio.h>
#include <string.h>

static const char *const demo[] = {
    "tensor A csr f64 [3,3] = { (0,0): 2, (1,0): 1, (2,1): -1 }",
    "B(i,j) = A(i,j) + A(j,i)",
    "B",
    "s = B(i,j) * B(i,j)",
    "s",
    "s = B(i)", /* a mistake: B has two subscripts */
};

static void complain(const stc_machine *m)
{
    const stc_error_info *e = stc_error(m);
    fprintf(stderr, "%d:%d: %s\n", e->line, e->column, e->message);
}

/* Prints the tensor if the line is nothing but its name. */
static bool print_name(stc_session *s, const char *line)
{
    const stc_tensor *t;
    for (int i = 0; stc_session_name(s, i); i++) {
        if (strcmp(stc_session_name(s, i), line) != 0) continue;
        if (stc_session_get(s, line, &t) == STC_OK) stc_tensor_print(t, stdout, 50);
        return true;
    }
    return false;
}

int main(int argc, char **argv)
{
    stc_machine *m;
    stc_session *s;
    if (stc_open(NULL, &m) != STC_OK || stc_session_open(m, &s) != STC_OK) return 1;
    stc_session_output(s, stdout);
    char line[4096];
    const bool interactive = argc > 1 && strcmp(argv[1], "-") == 0;
    for (size_t i = 0; interactive || i < sizeof demo / sizeof *demo; i++) {
        if (interactive) {
            if (!fgets(line, sizeof line, stdin)) break;
            line[strcspn(line, "\n")] = 0;
        } else {
            snprintf(line, sizeof line, "%s", demo[i]);
            printf("> %s\n", line);
        }
        if (!print_name(s, line) && stc_session_exec(s, line, "stdin") != STC_OK)
            complain(m);
    }
    stc_close(m); /* the session goes with it */
    return 0;
}
