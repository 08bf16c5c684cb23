/* Under mpirun a sweep is done by the program daedalus-mpi, which lies beside this one: MPI is only loaded where it is
 * used. */
#include "sweep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Processes that were started together: OpenMPI, then others that speak PMI. */
static long processes(void)
{
    const char *text = getenv("OMPI_COMM_WORLD_SIZE");
    if (!text) text = getenv("PMI_SIZE");
    return text ? strtol(text, NULL, 10) : 1;
}

int cli_sweep_enter(cli_args *args, sweep_role *role)
{
    char path[1024];
    *role = SWEEP_LOCAL;
    if (processes() < 2) return 0;
    int n = 0;
    while (args->argv[n]) n++;
    const char **argv = calloc((size_t)n + 3, sizeof *argv);
    if (!argv) return cli_wrong(args, "out of memory");
    argv[0] = "daedalus-mpi";
    argv[1] = args->command->name;
    memcpy(argv + 2, args->argv, (size_t)n * sizeof *argv);
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 16);
    if (length > 0) {
        path[length] = 0;
        char *slash = strrchr(path, '/');
        strcpy(slash ? slash + 1 : path, "daedalus-mpi");
        execv(path, (char *const *)argv);
    }
    execvp("daedalus-mpi", (char *const *)argv);
    int why = errno;
    free(argv);
    return cli_wrong(
        args,
        "a sweep under mpirun needs the program daedalus-mpi (%s); build it with OpenMPI (Debian: "
        "libopenmpi-dev), or leave mpirun away: one machine's cores are used without it",
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
