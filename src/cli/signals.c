/* signals.c: Ctrl-C stops the machine's work, not the tool.
 *
 * The first SIGINT calls stc_interrupt, so that what is being written is taken
 * back and the tensors stay; another one while the work still hasn't ended
 * takes the default action, unless a session would be lost by it. A handler
 * has no argument, hence the file's variables: the only ones of the tool.
 */
#include "cli.h"

#include <signal.h>
#include <stdatomic.h>

static _Atomic(stc_machine *) running;
static volatile sig_atomic_t pressed, session;

static void on_interrupt(int number)
{
    stc_machine *m = atomic_load(&running);
    if (pressed && !session) {
        signal(number, SIG_DFL);
        raise(number);
        return;
    }
    pressed = 1;
    if (m) stc_interrupt(m);
}

/* At the prompt (no machine) a read must end with EINTR; during work the
 * library's reads and writes must not. */
void signals_open(stc_machine *m, bool keep)
{
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = m ? SA_RESTART : 0};
    sigemptyset(&action.sa_mask);
    pressed = 0;
    session = keep;
    atomic_store(&running, m);
    sigaction(SIGINT, &action, NULL);
}

void signals_close(void)
{
    atomic_store(&running, NULL);
    signal(SIGINT, SIG_DFL);
}

bool signals_taken(void)
{
    const bool was = pressed;
    pressed = 0;
    return was;
}
