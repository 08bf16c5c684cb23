/* Interruption: the first signal lets the present step end and keeps the results; the second ends the program. */
#include "cli.h"

#include <signal.h>
#include <stdatomic.h>

/* Set in a handler and read by other threads, too: atomic, and without a lock, as a handler wants it. */
static _Atomic(dae_integrator *) current;
static atomic_int interrupted;
_Static_assert(ATOMIC_INT_LOCK_FREE == 2 && ATOMIC_POINTER_LOCK_FREE == 2, "a handler may not wait");

static void on_signal(int number)
{
    dae_integrator *it = current;
    interrupted = number;
    if (it) dae_integrator_cancel(it);
}

void cli_catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

void cli_catch_time_limit(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(SIGXCPU, &action, NULL);
}

void cli_running(dae_integrator *it, void *user)
{
    (void)user;
    current = it;
    if (it && interrupted) dae_integrator_cancel(it);
}

int cli_ended_by(int status)
{
    return status == EXIT_INTERRUPTED && interrupted == SIGTERM ? EXIT_TERMINATED : status;
}

int cli_interrupted(void)
{
    return interrupted != 0;
}

int cli_stop(void *user)
{
    (void)user;
    return cli_interrupted();
}

void cli_note_signal(int number)
{
    interrupted = number;
}
