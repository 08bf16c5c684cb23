/* The process of a run: in an empty folder as its root, without network, with limits on time, memory and files, behind a
 * filter of system calls. It does not start a program: it goes on as the command line that this program is. */
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Between the signal that can be told apart (a study ends with what it has, the next one a second later ends it) and the end
 * lie two seconds. */
void worker_limit(unsigned what, rlim_t value)
{
    struct rlimit r = {value, what == RLIMIT_CPU ? value + 2 : value};
    setrlimit(what, &r);
}

/* The address space that the process has already: the limit counts from there. */
static rlim_t mapped(void)
{
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%lu", &pages) != 1) pages = 0;
    if (f) fclose(f);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

int worker_become_nobody(void)
{
    if (geteuid() == 0 && (setgroups(0, NULL) != 0 || setresgid(NOBODY, NOBODY, NOBODY) != 0 ||
                           setresuid(NOBODY, NOBODY, NOBODY) != 0))
        return -1;
    return prctl(PR_SET_PDEATHSIG, SIGKILL); /* again: changing the user has taken it back */
}

/* The present folder becomes the root: root does it and then goes on as nobody, others in a user namespace of their own.
 * 0: done. */
static int jail(void)
{
    int root = geteuid() == 0, apart = CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;
    if (root) unshare(apart); /* containers may forbid it; the filter allows no sockets anyway */
    else if (unshare(CLONE_NEWUSER | apart) != 0) return -1;
    if (chroot(".") != 0 || chdir("/") != 0) return -1;
    return worker_become_nobody();
}

static int confine(const server *s)
{
    worker_limit(RLIMIT_AS, mapped() + ((rlim_t)s->o->max_memory << 20));
    worker_limit(RLIMIT_CPU, (rlim_t)s->o->max_seconds + 2);
    worker_limit(RLIMIT_FSIZE, LARGEST_FILE);
    worker_limit(RLIMIT_NOFILE, 32);
    worker_limit(RLIMIT_CORE, 0);
    worker_limit(RLIMIT_NPROC, 0);
    signal(SIGXFSZ, SIG_IGN); /* a write that is too long is an error that can be told */
    return jail() != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, s->filter, 0, 0) != 0;
}

static int redirect(int errors)
{
    int in = open("/dev/null", O_RDONLY), out = open("answer", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (in < 0 || out < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(errors, 2) < 0) return -1;
    closefrom(3);
    return 0;
}

static void __attribute__((noreturn)) child(const server *s, const job *j, const char *folder, int errors)
{
    struct sigaction plain = {.sa_handler = SIG_DFL};
    for (int k = 1; k < 32; k++) sigaction(k, &plain, NULL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setsid(); /* a group of its own, which gets all signals, and no terminal */
    if (chdir(folder) != 0 || redirect(errors) != 0) _exit(70);
    if (j->report) code_report(s, j);
    if (j->code) code_run(s, j);
    if (confine(s) != 0) {
        dprintf(2, "the run could not be confined: %s\n", strerror(errno));
        _exit(71);
    }
    signal(SIGPIPE, SIG_IGN);
    setenv("XDG_CACHE_HOME", "/", 1); /* references that a study computes */
    if (j->study) cli_catch_time_limit();
    int status = cli_dispatch(j->argc, j->argv);
    if (fflush(stdout) != 0) status = status ? status : 74;
    fflush(stderr);
    _exit(status);
}

static int write_text(const char *folder, const job *j)
{
    char path[4400];
    snprintf(path, sizeof path, "%s/%s", folder, j->name);
    FILE *f = fopen(path, "wx");
    if (!f) return -1;
    int bad = fwrite(j->text, 1, j->text_length, f) != j->text_length;
    bad |= fclose(f) != 0;
    if (geteuid() == 0) bad |= chown(path, NOBODY, NOBODY) != 0;
    return bad ? -1 : 0;
}

pid_t worker_start(const server *s, job *j, int *errors)
{
    char folder[4200];
    int ends[2];
    if (store_job_folder(s, j, folder, sizeof folder)) return -1;
    if (j->text && write_text(folder, j)) return -1;
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    pid_t pid = fork();
    if (pid == 0) child(s, j, folder, ends[1]);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return -1;
    }
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    *errors = ends[0];
    return pid;
}

/* One run that must succeed. */
static int try_out(server *s, int code, const char *needs, char *message, size_t size)
{
    char name[] = "daedalus", list[] = "list", json[] = "--json";
    char *argv[] = {name, list, json, NULL};
    job j = {.argv = argv, .argc = 3, .code = code};
    int status = 0, errors = -1;
    strcpy(j.id, "first");
    pid_t pid = worker_start(s, &j, &errors);
    if (pid < 0 || waitpid(pid, &status, 0) != pid) {
        snprintf(message, size, "no process could be started: %s", strerror(errno));
        return -1;
    }
    char folder[4200], said[200] = "";
    ssize_t n = read(errors, said, sizeof said - 1);
    close(errors);
    if (!store_job_folder(s, &j, folder, sizeof folder)) store_remove_folder(folder);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return 0;
    if (n > 0) said[n] = 0;
    snprintf(message, size, "%s cannot be confined here (%s%.150s); %s", code ? "uploaded programs" : "runs",
             WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "", said, needs);
    return -1;
}

int worker_prepare(server *s, char *message, size_t size)
{
    s->filter = filter_program();
    if (!s->filter) {
        snprintf(message, size, "the filter of system calls could not be made");
        return -1;
    }
    if (try_out(s, 0, "user namespaces must be allowed, or the server be started as root", message, size))
        return -1;
    dae_error none = {0};
    s->hdf5 = cli_hdf5_check(&none) >= 0; /* loads the library, which runs could not */
    s->reports = !try_out(s, 1, "--allow-code needs bubblewrap (Debian: bubblewrap) and user namespaces",
                          message, size);
    return s->o->allow_code && !s->reports ? -1 : 0;
}
