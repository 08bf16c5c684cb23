/* Uploaded C and Fortran [the test set report, IV.2.5]: compiled, then run, each inside bubblewrap.
 *
 *     compiler   sees the system read-only, the source, a temporary folder of its own in memory; nothing of the code is
 *                executed here
 *     program    sees the system read-only, the shared object, a temporary folder of its own in memory; its one process is
 *                behind the filter of system calls: no other process, no socket, no ptrace
 *
 * Both are nobody without capabilities, in namespaces of their own (files, processes, network, users), with limits on time,
 * memory and size of files. What comes out is standard output, standard error, and what is written into one pipe. This process keeps
 * them: it passes the table on, and ends a program that sleeps. */
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    PROGRAM = 3, /* files that bubblewrap and the program inherit */
    FILTER = 4,
    TABLE = 5,
    MATERIAL = 6,
    MOST_WORDS = 500,
    LOOK = 50, /* ms between looks at the time */
};
#define TEMPORARY "67108864"  /* bytes of the temporary folder */
#define HEADROOM (512l << 20) /* address space that programs and libraries take before they do anything */

typedef struct words {
    const char *list[MOST_WORDS];
    int n;
} words;

static void add(words *w, const char *const *more)
{
    while (*more && w->n < MOST_WORDS - 1) w->list[w->n++] = *more++;
    w->list[w->n] = NULL;
}

/* What both see: the system read-only, no variables, nothing of the machine's processes and network. */
static void add_system(words *w)
{
    add(w, (const char *[]){"bwrap", "--unshare-all", "--die-with-parent", "--cap-drop", "ALL", "--clearenv",
                            "--setenv", "PATH", "/usr/bin:/bin", "--setenv", "OPENBLAS_NUM_THREADS", "1",
                            "--ro-bind", "/usr", "/usr", NULL});
    static const char *const link[][2] = {
        {"usr/lib", "/lib"}, {"usr/lib64", "/lib64"}, {"usr/bin", "/bin"}, {"usr/lib32", "/lib32"}};
    for (size_t i = 0; i < sizeof link / sizeof *link; i++)
        add(w, (const char *[]){"--symlink", link[i][0], link[i][1], NULL});
    static const char *const shared[] = {"/etc/alternatives", "/etc/ld.so.cache"};
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
        add(w, (const char *[]){"--ro-bind-try", shared[i], shared[i], NULL});
    add(w,
        (const char *[]){"--proc", "/proc", "--dev", "/dev", "--size", TEMPORARY, "--tmpfs", "/tmp", NULL});
}

static void __attribute__((noreturn)) leave(int status, const char *what)
{
    dprintf(2, "daedalus serve: %s: %s\n", what, strerror(errno));
    _exit(status);
}

static pid_t start(const words *w)
{
    pid_t pid = fork();
    if (pid == 0) {
        char *none[] = {NULL}; /* bubblewrap's own process can be looked at from inside: it knows nothing */
        execvpe("bwrap", (char *const *)(size_t)w->list, none);
        dprintf(2, "bwrap: %s\n", strerror(errno));
        _exit(71);
    }
    if (pid < 0) leave(71, "no process for bubblewrap");
    return pid;
}

/* Waits for pid while what it writes into the pipe goes to the file; the exit status of bubblewrap, 128 + signal for signals.
 * A program that does not compute does not use up its processor time: the time counts as well, but only while it may run. */
static int keep(const server *s, pid_t pid, int table, int file)
{
    long spent = 0, most = 1000 * (4 * s->o->max_seconds + 2), written = 0;
    char block[16384];
    int status = 0;
    for (;;) {
        struct pollfd p = {.fd = table, .events = POLLIN};
        int ready = poll(&p, 1, LOOK);
        if (ready == 0) spent += LOOK;
        ssize_t n = ready > 0 ? read(table, block, sizeof block) : -1;
        if (n > 0 && written < LARGEST_FILE && write(file, block, (size_t)n) == n) written += n;
        if (ready > 0 && n <= 0) table = -1; /* closed: poll then only waits */
        if (waitpid(pid, &status, WNOHANG) == pid) break;
        if (spent <= most) continue;
        kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
        return CODE_TOO_LONG;
    }
    for (ssize_t n; table >= 0 && (n = read(table, block, sizeof block)) > 0 && written < LARGEST_FILE;
         written += n) {
        if (write(file, block, (size_t)n) != n) break;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The pipe, whose end TABLE programs inherit; what is read from. */
static int open_table(void)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) leave(71, "no pipe");
    int from = fcntl(ends[0], F_DUPFD_CLOEXEC, MATERIAL + 1),
        into = fcntl(ends[1], F_DUPFD_CLOEXEC, MATERIAL + 1);
    close(ends[0]);
    close(ends[1]);
    if (from < 0 || into < 0 || dup2(into, TABLE) < 0) leave(71, "no pipe");
    close(into);
    return from;
}

/* The descriptor `number`, inherited by programs. */
static void place(int file, int number, const char *what)
{
    if (file < 0) leave(71, what);
    if (file != number && dup2(file, number) < 0) leave(71, what);
    if (file == number) fcntl(file, F_SETFD, 0);
    else close(file);
}

/* Compiles the text in a sandbox that knows nothing of the folder: source in by a file, shared object out by the pipe. */
static void compile(const server *s, const job *j)
{
    words w = {.n = 0};
    const char *argv[CLI_COMPILER_WORDS], *object = j->argv[2], *package;
    char source[160];
    snprintf(source, sizeof source, "/job/%s", j->name);
    unsetenv("CC");
    unsetenv("FC");
    package = cli_compiler(source, "/tmp/object", argv);
    place(open(j->name, O_RDONLY), MATERIAL, j->name);
    int table = open_table(), file = open(object, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    add_system(&w);
    add(&w, (const char *[]){"--ro-bind-data", "6", source, "--chdir", "/tmp", "--", "sh", "-c",
                             "\"$@\" && exec cat /tmp/object >&5", "sh", NULL});
    add(&w, argv);
    pid_t pid = start(&w);
    close(TABLE);
    int status = keep(s, pid, table, file);
    close(table);
    close(file);
    if (status == 127) dprintf(2, "the compiler %s is missing (Debian: %s)\n", argv[0], package);
    if (status) _exit(status == CODE_TOO_LONG ? status : CODE_NOT_COMPILED);
}

static void confine(const server *s)
{
    place(open("/proc/self/exe", O_RDONLY), PROGRAM, "the program");
    worker_limit(RLIMIT_AS, ((rlim_t)s->o->max_memory << 20) + HEADROOM);
    worker_limit(RLIMIT_CPU, (rlim_t)s->o->max_seconds + 2);
    worker_limit(RLIMIT_FSIZE, LARGEST_FILE);
    worker_limit(RLIMIT_NOFILE, 64);
    worker_limit(RLIMIT_CORE, 0);
    signal(SIGXFSZ, SIG_IGN);
    if (worker_become_nobody() != 0) leave(71, "the run could not be confined");
}

/* Ends as the program did. */
static void __attribute__((noreturn)) end_as(int status)
{
    if (status > 128 && status < 160) {
        signal(status - 128, SIG_DFL);
        raise(status - 128);
    }
    _exit(status);
}

/* The page goes out through the pipe; pictures are drawn by gnuplot, which finds its letters in /etc/fonts. Nothing that was
 * uploaded is executed: there is no filter of system calls, only the walls. */
void code_report(const server *s, const job *j)
{
    static const char script[] = "/daedalus \"$@\" --out /tmp/report || exit\n"
                                 "for page in /tmp/report/*.html; do\n"
                                 "    [ \"$page\" = /tmp/report/index.html ] || cat \"$page\" >&5\n"
                                 "done";
    words w = {.n = 0};
    char inside[160];
    confine(s);
    snprintf(inside, sizeof inside, "/job/%s", j->name);
    add_system(&w);
    add(&w, (const char *[]){"--ro-bind-try", "/etc/fonts", "/etc/fonts", "--setenv", "XDG_CACHE_HOME",
                             "/tmp", "--setenv", "HOME", "/tmp", NULL});
    if (j->text) {
        place(open(j->name, O_RDONLY), MATERIAL, j->name);
        add(&w, (const char *[]){"--ro-bind-data", "6", inside, NULL});
    }
    int table = open_table(), file = open("out.html", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    add(&w, (const char *[]){"--perms", "0555", "--ro-bind-data", "3", "/daedalus", "--dir", "/job",
                             "--chdir", "/job", "--remount-ro", "/dev", "--remount-ro", "/", "--", "sh", "-c",
                             script, "sh", NULL});
    add(&w, (const char *const *)(j->argv + 1));
    pid_t pid = start(&w);
    close(TABLE);
    end_as(keep(s, pid, table, file));
}

void code_run(const server *s, const job *j)
{
    words w = {.n = 0};
    place(filter_file(1), FILTER, "the filter of system calls");
    confine(s);
    char inside[160] = "";
    if (j->text) {
        compile(s, j);
        place(open(j->argv[2], O_RDONLY), MATERIAL, j->argv[2]);
        snprintf(inside, sizeof inside, "/job/%s", j->argv[2] + 2); /* without its ./ */
    }
    add_system(&w);
    if (j->text) add(&w, (const char *[]){"--perms", "0555", "--ro-bind-data", "6", inside, NULL});
    int table = open_table(), file = open("out.csv", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    add(&w, (const char *[]){"--perms", "0555", "--ro-bind-data", "3", "/daedalus", "--dir", "/job",
                             "--chdir", "/job", NULL});
    add(&w, (const char *[]){"--remount-ro", "/dev", "--remount-ro", "/", "--seccomp", "4", "--", "/daedalus",
                             NULL});
    add(&w, (const char *const *)(j->argv + 1));
    pid_t pid = start(&w);
    close(TABLE);
    end_as(keep(s, pid, table, file));
}
