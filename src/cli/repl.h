/* repl.h: what the REPL's files share: one session, fed line by line.
 */
#ifndef STCVM_REPL_H
#define STCVM_REPL_H

#include "cli.h"
#include "lineedit.h"

typedef struct repl {
    cli *c;
    stc_session *s;
    lineedit *edit;
    history past;
    char *text; /* the input being gathered: a statement or a command    */
    size_t length, room;
    char *ahead;     /* a line read too early; NULL: none                     */
    int line, first; /* lines read so far; where `text` began                 */
    bool failed, quit;
    int digits; /* of :set; 0: auto                                       */
} repl;

/* The commands: name, operands, what it does, what its first operand is for
 * completion. */
#define REPL_COMMANDS(C)                                                                   \
    C(help, "[TOPIC]", "help, with examples", 'h')                                         \
    C(list, "", "the tensors of this session", 0)                                          \
    C(explain, "STATEMENT", "the loop nest that a statement becomes", 's')                 \
    C(code, "STATEMENT", "the bytecode that a statement becomes", 's')                     \
    C(time, "STATEMENT", "run a statement and tell what took how long", 's')               \
    C(info, "A", "shape, type, format, density and memory of A", 's')                      \
    C(spy, "A", "a picture of A's nonzeros", 's')                                          \
    C(load, "A FILE [FORMAT]", "read a file into A", 'l')                                  \
    C(save, "A FILE", "write A to a file", 'l')                                            \
    C(set, "[NAME VALUE]", "settings: threads, repeat, digits, time, …", 't')              \
    C(quit, "", "leave (so does Ctrl-D)", 0)

/* Carries out a command, `text` beginning with its colon; STATUS_FAULT after a
 * message. */
int repl_command(repl *r, const char *text);
/* Runs a statement of the session, interruptible; STATUS_FAULT after a message. */
int repl_statement(repl *r, const char *text);
/* The line that errors count from; 0 for a person, who sees each input alone. */
int repl_first(const repl *r);
/* The name of the i-th command, NULL past the end. */
const char *repl_command_name(int i);
/* What repl_command completes to (complete_fn). */
void repl_complete(void *context, const char *line, size_t cursor, completions *out);
/* "~/x" with the home directory in place of ~; the caller frees it. */
char *expand_home(const char *path);

#endif
