/* A program whose allocations fail on demand, run again and again without being loaded again.
 *
 * Preloaded into a program (or, with STARVE_WRAP, linked into it with --wrap=main,malloc,calloc,realloc: the sanitizers keep malloc for
 * themselves) it serves on two descriptors, STARVE_IN and STARVE_OUT, instead of calling main: for every line "K ON" that it reads it
 * forks, and the child calls main with allocation K after its begin failing, and with ON = 1 all after it, too. Standard output
 * and error go to the files "out" and "err" of the working directory, which are overwritten. The answer is one line "STATUS COUNT FAILED":
 * the exit status as a shell tells it (128 + signal; 124 if it took more than STARVE_SECONDS), the number of allocations and whether
 * one failed. Programs that the child starts are left alone. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct {
    atomic_long count;
    atomic_int failed;
} * seen; /* shared with the children */
static atomic_int armed;
static long at;
static int on;

static int opening; /* in dlopen */

/* The loader asks for the thread-local data of a library when it is touched first, and ends the program where there is none: who
 * touches it makes sure before that there is (settle, src/fit/optimize.c). */
static int is_loaders(void *caller)
{
    Dl_info who;
    return !opening && dladdr(caller, &who) && who.dli_fname && strstr(who.dli_fname, "ld-linux");
}

static int fails(void *caller)
{
    if (!atomic_load_explicit(&armed, memory_order_relaxed) || is_loaders(caller)) return 0;
    long k = atomic_fetch_add(&seen->count, 1) + 1;
    if (at <= 0 || k < at || (k > at && !on)) return 0;
    atomic_store(&seen->failed, 1);
    errno = ENOMEM;
    return 1;
}

static int redirected(const char *path, int to)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    int r = fd < 0 || dup2(fd, to) < 0;
    if (fd > 2) close(fd);
    return !r;
}

static int number(const char *name, int otherwise)
{
    const char *text = getenv(name);
    return text ? atoi(text) : otherwise;
}

static void serve(int (*program)(int, char **, char **), int argc, char **argv, char **environment)
{
    int in = number("STARVE_IN", -1), out = number("STARVE_OUT", -1), limit = number("STARVE_SECONDS", 60);
    char line[64];
    FILE *orders = fdopen(in, "r");
    seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!orders || seen == MAP_FAILED) exit(125);
    unsetenv("LD_PRELOAD");
    unsetenv("STARVE_IN");
    while (fgets(line, sizeof line, orders)) {
        if (sscanf(line, "%ld %d", &at, &on) != 2) exit(125);
        atomic_store(&seen->count, 0);
        atomic_store(&seen->failed, 0);
        pid_t child = fork();
        if (child == 0) {
            int null = open("/dev/null", O_RDONLY);
            setpgid(0, 0);
            close(in); /* and not fclose: it would move the position that the parent shares */
            close(out);
            if (null < 0 || dup2(null, 0) < 0 || !redirected("out", 1) || !redirected("err", 2)) _exit(125);
            if (null > 2) close(null);
            atomic_store(&armed, 1);
            int status = program(argc, argv, environment);
            atomic_store(&armed, 0);
            exit(status);
        }
        int status = 0, waited = 0;
        struct timespec begin, now, nap = {0, 200000};
        clock_gettime(CLOCK_MONOTONIC, &begin);
        while (child > 0 && (waited = waitpid(child, &status, WNOHANG)) == 0) {
            clock_gettime(CLOCK_MONOTONIC, &now);
            if (now.tv_sec - begin.tv_sec > limit) break;
            nanosleep(&nap, NULL);
        }
        int code = waited <= 0 ? 124 : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        if (child > 0) kill(-child, SIGKILL);
        if (child > 0 && waited <= 0) waitpid(child, &status, 0);
        int n = snprintf(line, sizeof line, "%d %ld %d\n", code, atomic_load(&seen->count),
                         atomic_load(&seen->failed));
        if (write(out, line, (size_t)n) != n) exit(125);
    }
    _exit(0);
}

#ifdef STARVE_WRAP

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
int __real_main(int argc, char **argv, char **environment);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);
int __wrap_main(int argc, char **argv, char **environment);

void *__wrap_malloc(size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __real_realloc(old, size);
}

int __wrap_main(int argc, char **argv, char **environment)
{
    if (!getenv("STARVE_IN")) return __real_main(argc, argv, environment);
    serve(__real_main, argc, argv, environment);
    return 0;
}

#else

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);

void *malloc(size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(old, size);
}

/* HDF5 brings libraries that do not live without memory, and is left out where it cannot be loaded. */
void *dlopen(const char *name, int flags)
{
    void *(*next)(const char *, int);
    *(void **)&next = dlsym(RTLD_NEXT, "dlopen");
    opening++;
    void *library = next(name && strstr(name, "hdf5") ? "not-while-starving" : name, flags);
    opening--;
    return library;
}

static int (*program)(int, char **, char **);

static int from_here(int argc, char **argv, char **environment)
{
    serve(program, argc, argv, environment);
    return 0;
}

int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void *stack_end);
int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
    int (*next)(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void), void (*)(void),
                void *);
    *(void **)&next = dlsym(RTLD_NEXT, "__libc_start_main");
    program = main;
    return next(getenv("STARVE_IN") ? from_here : main, argc, argv, init, fini, rtld_fini, stack_end);
}

#endif
