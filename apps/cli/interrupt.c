/* Interruption: the first signal lets the present step end and keeps the results; the second ends the program. */
#include "cli.h"

#include <signal.h>

static dae_integrator *volatile current;
static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
    interrupted = number;
    if (current) dae_integrator_cancel(current);
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
