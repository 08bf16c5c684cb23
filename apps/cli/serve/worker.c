/* The process of a run: in an empty folder as its root, without network, with limits on time, memory and files, behind a
 * filter of system calls. It does not start a program: it goes on as the command line that this program is. */
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534
#define LARGEST_FILE (64l << 20)

/* What a computation needs; files only in its own folder. Anything else ends the process. */
static const int harmless[] = {SCMP_SYS(read),
                               SCMP_SYS(write),
                               SCMP_SYS(writev),
                               SCMP_SYS(readv),
                               SCMP_SYS(pread64),
                               SCMP_SYS(pwrite64),
                               SCMP_SYS(close),
                               SCMP_SYS(fstat),
                               SCMP_SYS(newfstatat),
                               SCMP_SYS(stat),
                               SCMP_SYS(lstat),
                               SCMP_SYS(statx),
                               SCMP_SYS(lseek),
                               SCMP_SYS(mmap),
                               SCMP_SYS(munmap),
                               SCMP_SYS(mremap),
                               SCMP_SYS(mprotect),
                               SCMP_SYS(madvise),
                               SCMP_SYS(brk),
                               SCMP_SYS(rt_sigaction),
                               SCMP_SYS(rt_sigprocmask),
                               SCMP_SYS(rt_sigreturn),
                               SCMP_SYS(sigaltstack),
                               SCMP_SYS(open),
                               SCMP_SYS(openat),
                               SCMP_SYS(access),
                               SCMP_SYS(faccessat),
                               SCMP_SYS(faccessat2),
                               SCMP_SYS(unlink),
                               SCMP_SYS(unlinkat),
                               SCMP_SYS(rename),
                               SCMP_SYS(renameat),
                               SCMP_SYS(renameat2),
                               SCMP_SYS(fchmod),
                               SCMP_SYS(umask),
                               SCMP_SYS(ftruncate),
                               SCMP_SYS(fcntl),
                               SCMP_SYS(dup),
                               SCMP_SYS(getcwd),
                               SCMP_SYS(readlink),
                               SCMP_SYS(readlinkat),
                               SCMP_SYS(fsync),
                               SCMP_SYS(fdatasync),
                               SCMP_SYS(getpid),
                               SCMP_SYS(gettid),
                               SCMP_SYS(getuid),
                               SCMP_SYS(geteuid),
                               SCMP_SYS(clock_gettime),
                               SCMP_SYS(clock_getres),
                               SCMP_SYS(clock_nanosleep),
                               SCMP_SYS(nanosleep),
                               SCMP_SYS(gettimeofday),
                               SCMP_SYS(times),
                               SCMP_SYS(getrusage),
                               SCMP_SYS(futex),
                               SCMP_SYS(sched_yield),
                               SCMP_SYS(sched_getaffinity),
                               SCMP_SYS(sysinfo),
                               SCMP_SYS(uname),
                               SCMP_SYS(getrandom),
                               SCMP_SYS(exit),
                               SCMP_SYS(exit_group),
                               SCMP_SYS(restart_syscall)};

/* What libraries try and can do without: they are told that there is no such thing. */
static const int absent[] = {SCMP_SYS(mbind), SCMP_SYS(set_mempolicy), SCMP_SYS(get_mempolicy),
                             SCMP_SYS(sched_setaffinity), SCMP_SYS(prctl)};

/* The filter is made once; loading it costs microseconds. */
static int make_filter(server *s)
{
    scmp_filter_ctx c = seccomp_init(SCMP_ACT_KILL_PROCESS);
    int bad = !c, file = memfd_create("filter", MFD_CLOEXEC);
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless && !bad; i++) {
        bad = seccomp_rule_add(c, SCMP_ACT_ALLOW, harmless[i], 0) < 0;
    }
    for (size_t i = 0; i < sizeof absent / sizeof *absent && !bad; i++) {
        bad = seccomp_rule_add(c, SCMP_ACT_ERRNO(ENOSYS), absent[i], 0) < 0;
    }
    bad = bad || seccomp_rule_add(c, SCMP_ACT_ERRNO(ENOTTY), SCMP_SYS(ioctl), 0) < 0 ||
          seccomp_rule_add(c, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(prlimit64), 0) < 0 ||
          seccomp_export_bpf(c, file) < 0;
    off_t size = bad ? 0 : lseek(file, 0, SEEK_END);
    s->filter = malloc(sizeof *s->filter + (size_t)size);
    if (s->filter && size > 0) {
        s->filter->len = (unsigned short)((size_t)size / sizeof(struct sock_filter));
        s->filter->filter = (struct sock_filter *)(s->filter + 1);
        bad = pread(file, s->filter->filter, (size_t)size, 0) != size;
    } else {
        bad = 1;
    }
    if (file >= 0) close(file);
    seccomp_release(c);
    return bad;
}

/* One second lies between the signal that can be told apart and the end. */
static void limit(int what, rlim_t value)
{
    struct rlimit r = {value, what == RLIMIT_CPU ? value + 1 : value};
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

/* The present folder becomes the root: root does it and then goes on as nobody, others in a user namespace of their own.
 * 0: done. */
static int jail(void)
{
    int root = geteuid() == 0, apart = CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;
    if (root) unshare(apart); /* containers may forbid it; the filter allows no sockets anyway */
    else if (unshare(CLONE_NEWUSER | apart) != 0) return -1;
    if (chroot(".") != 0 || chdir("/") != 0) return -1;
    if (!root) return 0;
    return setgroups(0, NULL) != 0 || setresgid(NOBODY, NOBODY, NOBODY) != 0 ||
           setresuid(NOBODY, NOBODY, NOBODY) != 0;
}

static int confine(const server *s)
{
    limit(RLIMIT_AS, mapped() + ((rlim_t)s->o->max_memory << 20));
    limit(RLIMIT_CPU, (rlim_t)s->o->max_seconds + 2);
    limit(RLIMIT_FSIZE, LARGEST_FILE);
    limit(RLIMIT_NOFILE, 32);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_NPROC, 0);
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
    setpgid(0, 0);
    if (chdir(folder) != 0 || redirect(errors) != 0) _exit(70);
    if (confine(s) != 0) {
        dprintf(2, "the run could not be confined: %s\n", strerror(errno));
        _exit(71);
    }
    signal(SIGPIPE, SIG_IGN);
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

int worker_prepare(server *s, char *message, size_t size)
{
    char name[] = "daedalus", list[] = "list", json[] = "--json";
    char *argv[] = {name, list, json, NULL};
    job j = {.argv = argv, .argc = 3};
    int status = 0, errors = -1;
    if (make_filter(s)) {
        snprintf(message, size, "the filter of system calls could not be made");
        return -1;
    }
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
    snprintf(message, size,
             "runs cannot be confined here (%s%.150s); user namespaces must be allowed, or the server be "
             "started as root",
             WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "", said);
    return -1;
}
