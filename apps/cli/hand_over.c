/* Parts of this program that need other libraries are programs of their own beside it (daedalus-mpi, daedalus-serve):
 * the libraries are only loaded where they are used. */
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int cli_hand_over(const cli_args *args, const char *program)
{
    char path[1024];
    int n = 0;
    while (args->argv[n]) n++;
    const char **argv = calloc((size_t)n + 3, sizeof *argv);
    if (!argv) return ENOMEM;
    argv[0] = program;
    argv[1] = args->command->name;
    memcpy(argv + 2, args->argv, (size_t)n * sizeof *argv);
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 32);
    if (length > 0) {
        path[length] = 0;
        char *slash = strrchr(path, '/');
        strcpy(slash ? slash + 1 : path, program);
        execv(path, (char *const *)argv);
    }
    execvp(program, (char *const *)argv);
    int why = errno;
    free(argv);
    return why;
}
