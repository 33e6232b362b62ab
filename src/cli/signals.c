/* signals.c: Ctrl-C stops the machine's work, not the tool; SIGTERM and SIGHUP
 * stop both, in this order.
 *
 * The first signal calls stc_interrupt, so that what is being written is taken
 * back and the tensors stay. SIGTERM and SIGHUP end the tool when the work has
 * ended, or after some seconds at the latest. Another signal while the work still
 * hasn't ended takes the default action, except for Ctrl-C where a session would be
 * lost by it. A handler
 * has no argument, hence the file's variables: the only ones of the tool.
 */
#include "cli.h"

#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

enum { PATIENCE = 2 }; /* seconds */

static _Atomic(stc_machine *) running;
static volatile sig_atomic_t pressed, session, ending;

static void on_alarm(int number)
{
    (void)number;
    signal(ending, SIG_DFL);
    raise(ending);
}

static void on_signal(int number)
{
    stc_machine *m = atomic_load(&running);
    const bool again = number == SIGINT ? pressed && !session : ending;
    if (again) {
        signal(number, SIG_DFL);
        raise(number);
        return;
    }
    if (number == SIGINT)
        pressed = 1;
    else
        ending = number;
    if (ending) {
        signal(SIGALRM, on_alarm);
        alarm(PATIENCE);
    }
    if (m) stc_interrupt(m);
}

static void handle(int number, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags}, old;
    sigemptyset(&action.sa_mask);
    /* What `nohup` ignores stays ignored. */
    if (number != SIGINT && !sigaction(number, NULL, &old) && old.sa_handler == SIG_IGN)
        return;
    sigaction(number, &action, NULL);
}

static void end_if_asked(void)
{
    if (!ending) return;
    signal(ending, SIG_DFL);
    raise(ending);
}

/* At the prompt (no machine) a read must end with EINTR; during work Ctrl-C leaves
 * the library's reads and writes alone. */
void signals_open(stc_machine *m, bool keep)
{
    pressed = 0;
    session = keep;
    atomic_store(&running, m);
    handle(SIGINT, on_signal, m ? SA_RESTART : 0);
    handle(SIGTERM, m ? on_signal : SIG_DFL, 0);
    handle(SIGHUP, m ? on_signal : SIG_DFL, 0);
    if (!m) end_if_asked();
}

void signals_close(void)
{
    atomic_store(&running, NULL);
    signal(SIGINT, SIG_DFL);
    handle(SIGTERM, SIG_DFL, 0);
    handle(SIGHUP, SIG_DFL, 0);
    end_if_asked();
}

bool signals_taken(void)
{
    const bool was = pressed;
    pressed = 0;
    return was;
}
