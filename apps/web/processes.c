/* A page has no processes: what wants to start one (gnuplot) is told so, as fork is by the C library there. */
#include <errno.h>
#include <spawn.h>

int posix_spawnp(pid_t *restrict pid, const char *restrict file, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *restrict attributes, char *const argv[restrict],
                 char *const envp[restrict])
{
    (void)pid, (void)file, (void)actions, (void)attributes, (void)argv, (void)envp;
    return ENOSYS;
}
