/* Under mpirun a sweep is done by the program daedalus-mpi, which lies beside this one: MPI is only loaded where it is
 * used. */
#include "sweep.h"

#include <stdlib.h>
#include <string.h>

/* Processes that were started together: OpenMPI, then others that speak PMI. */
static long processes(void)
{
    const char *text = getenv("OMPI_COMM_WORLD_SIZE");
    if (!text) text = getenv("PMI_SIZE");
    return text ? strtol(text, NULL, 10) : 1;
}

int cli_sweep_enter(cli_args *args, sweep_role *role)
{
    *role = SWEEP_LOCAL;
    if (processes() < 2) return 0;
    int why = cli_hand_over(args, "daedalus-mpi");
    return cli_wrong(
        args,
        "a sweep under mpirun needs the program daedalus-mpi (%s); build it with OpenMPI (Debian: "
        "libopenmpi-dev; make extras), or leave mpirun away: one machine's cores are used without it",
        strerror(why));
}

int cli_sweep_agree(sweep_job *s, int status)
{
    (void)s;
    return status;
}

int cli_sweep_manage(sweep_job *s)
{
    return cli_sweep_local(s);
}

int cli_sweep_serve(sweep_job *s)
{
    (void)s;
    return EXIT_DONE;
}

void cli_sweep_leave(void)
{
}
