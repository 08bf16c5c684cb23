/* Which system calls a run may use: a computation needs few. The filter is made once; loading it costs microseconds. */
#include "server.h"

#include <errno.h>
#include <seccomp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

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

/* A sweep has a folder for its logs; uploaded programs need none. */
static const int folders[] = {SCMP_SYS(mkdir), SCMP_SYS(mkdirat), SCMP_SYS(getdents64)};

/* What libraries try and can do without: they are told that there is no such thing. */
static const int absent[] = {SCMP_SYS(mbind), SCMP_SYS(set_mempolicy), SCMP_SYS(get_mempolicy),
                             SCMP_SYS(sched_setaffinity), SCMP_SYS(prctl)};

/* A program that is started behind the filter has a loader before it, and bubblewrap, which waits for it. Starting others gains
 * it nothing: there is one process. */
static const int loading[] = {SCMP_SYS(execve),          SCMP_SYS(arch_prctl), SCMP_SYS(set_tid_address),
                              SCMP_SYS(set_robust_list), SCMP_SYS(rseq),       SCMP_SYS(getppid),
                              SCMP_SYS(wait4),           SCMP_SYS(getgid),     SCMP_SYS(getegid)};

static int allow(scmp_filter_ctx c, const int *list, size_t n)
{
    int bad = 0;
    for (size_t i = 0; i < n && !bad; i++) bad = seccomp_rule_add(c, SCMP_ACT_ALLOW, list[i], 0) < 0;
    return bad;
}

int filter_file(int starts_program)
{
    scmp_filter_ctx c = seccomp_init(SCMP_ACT_KILL_PROCESS);
    int file = memfd_create("filter", MFD_CLOEXEC);
    int bad = !c || file < 0 || allow(c, harmless, sizeof harmless / sizeof *harmless) ||
              (starts_program ? allow(c, loading, sizeof loading / sizeof *loading)
                              : allow(c, folders, sizeof folders / sizeof *folders));
    for (size_t i = 0; i < sizeof absent / sizeof *absent && !bad; i++) {
        bad = seccomp_rule_add(c, SCMP_ACT_ERRNO(ENOSYS), absent[i], 0) < 0;
    }
    bad = bad || seccomp_rule_add(c, SCMP_ACT_ERRNO(ENOTTY), SCMP_SYS(ioctl), 0) < 0 ||
          seccomp_rule_add(c, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(prlimit64), 0) < 0 ||
          seccomp_export_bpf(c, file) < 0 || lseek(file, 0, SEEK_SET) != 0;
    if (c) seccomp_release(c);
    if (!bad) return file;
    if (file >= 0) close(file);
    return -1;
}

struct sock_fprog *filter_program(void)
{
    int file = filter_file(0);
    off_t size = file < 0 ? 0 : lseek(file, 0, SEEK_END);
    struct sock_fprog *p = size > 0 ? malloc(sizeof *p + (size_t)size) : NULL;
    if (p) {
        p->len = (unsigned short)((size_t)size / sizeof(struct sock_filter));
        p->filter = (struct sock_filter *)(p + 1);
        if (pread(file, p->filter, (size_t)size, 0) != size) {
            free(p);
            p = NULL;
        }
    }
    if (file >= 0) close(file);
    return p;
}
