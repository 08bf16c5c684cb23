/* daedalus build: a problem in the format of the test set report, or what `export --to c` wrote, compiled so that every command
 * takes it. */
#include "cli.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const char *const fortran[] = {".f", ".for", ".f90", ".F", NULL}, *const c_source[] = {".c", NULL};

static int ends_with(const char *text, const char *ending)
{
    size_t n = strlen(text), k = strlen(ending);
    return n > k && !strcmp(text + n - k, ending);
}

static int is_one_of(const char *file, const char *const *ending)
{
    for (; *ending; ending++) {
        if (ends_with(file, *ending)) return 1;
    }
    return 0;
}

int cli_is_source(const char *file)
{
    return is_one_of(file, fortran) || is_one_of(file, c_source);
}

/* The compiler: FC or CC of the environment, else what Debian calls it. */
static const char *compiler(const char *file, const char **package)
{
    int is_fortran = is_one_of(file, fortran);
    const char *given = getenv(is_fortran ? "FC" : "CC");
    *package = is_fortran ? "gfortran" : "gcc";
    return given && given[0] ? given : is_fortran ? "gfortran" : "cc";
}

/* "-I" with a folder that holds the headers, seen from this program: PREFIX/bin beside PREFIX/include, or a build in the source. */
static int include_option(char *out, size_t size, const char *from_program)
{
    char self[3000], header[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0) return 0;
    self[n] = 0;
    char *slash = strrchr(self, '/');
    if (!slash) return 0;
    *slash = 0;
    snprintf(out, size, "-I%s/%s", self, from_program);
    snprintf(header, sizeof header, "%s/%s/daedalus", self, from_program);
    return access(header, R_OK) == 0;
}

const char *cli_compiler(const char *source, const char *out, const char *argv[CLI_COMPILER_WORDS])
{
    static char here[4096], above[4096];
    const char *package, *program = compiler(source, &package);
    const char *words[CLI_COMPILER_WORDS] = {program, "-shared", "-fPIC", "-O2", "-o", out, source, "-lm"};
    int n = 8;
    if (is_one_of(source, c_source)) {
        words[n++] = "-DDAEDALUS_BUILD";
        words[n++] = "-ffp-contract=off"; /* the same numbers as without a compiler */
        if (include_option(here, sizeof here, "include")) words[n++] = here;
        if (include_option(above, sizeof above, "../include")) words[n++] = above;
    }
    memcpy(argv, words, sizeof words);
    return package;
}

/* Runs it without a shell; its messages go to standard error. Its exit status, or -1: it could not be started (errno). */
static int compile(const char *const *argv)
{
    pid_t pid;
    int status = 0, bad = posix_spawnp(&pid, argv[0], NULL, NULL, (char *const *)argv, environ);
    if (bad) {
        errno = bad;
        return -1;
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int cli_compile(const cli_args *args, const char *source, const char *out)
{
    const char *argv[CLI_COMPILER_WORDS], *package = cli_compiler(source, out, argv);
    int status = compile(argv);
    if (status == -1 || status == 127)
        return cli_wrong(
            args, "the compiler %s could not be started: %s; install the package %s, or name another in %s",
            argv[0], strerror(status == -1 ? errno : ENOENT), package,
            is_one_of(source, fortran) ? "FC" : "CC");
    if (status) {
        fprintf(stderr, "daedalus %s: %s could not be compiled\n", args->command->name, source);
        return EXIT_FAILED;
    }
    return EXIT_DONE;
}

/* DIR/NAME.so beside the source, unless --out says otherwise. */
static int target(const cli_args *args, const char *source, char *out, size_t size)
{
    const char *given = cli_value(args, "out");
    size_t n = strlen(source);
    const char *dot = strrchr(source, '.');
    if (dot) n = (size_t)(dot - source);
    int used = given ? snprintf(out, size, "%s%s", strchr(given, '/') ? "" : "./", given)
                     : snprintf(out, size, "%s%.*s.so", strchr(source, '/') ? "" : "./", (int)n, source);
    if (used < 0 || (size_t)used >= size) return cli_wrong(args, "the name of the file is too long");
    return ends_with(out, ".so") ? 0 : cli_wrong(args, "--out %s: the name must end with .so", out);
}

static int run(cli_args *args)
{
    const char *source = args->argument[0];
    char out[4096];
    if (!cli_is_source(source))
        return cli_wrong(args, "%s: expected Fortran (.f, .for, .f90) or C (.c)", source);
    if (access(source, R_OK) != 0) return cli_wrong(args, "%s: %s", source, strerror(errno));
    if (source[0] == '-')
        return cli_wrong(args, "%s: a name that begins with a dash; write ./%s", source, source);
    if (target(args, source, out, sizeof out)) return EXIT_USAGE;
    int status = cli_compile(args, source, out);
    if (status) return status;
    dae_error err = {0};
    dae_problem *p = dae_problem_open(out, NULL, 0, &err);
    if (!p) return cli_wrong(args, "%s was compiled, but: %s", out, err.text);
    printf("%s: %s, %s of %d equations%s; daedalus run %s\n", out, p->info->title,
           dae_kind_name(p->system.kind), dae_system_size(&p->system),
           p->reference ? ", with a reference solution" : "", out);
    dae_problem_destroy(p);
    return EXIT_DONE;
}

static const cli_option options[] = {
    {"out", "FILE.so", NULL, "where to put it; default: beside the source"},
    {NULL, NULL, NULL, NULL},
};
static const char notes[] =
    "The source has the routines PROB, INIT, SETTOLERANCES, SETOUTPUT, FEVAL, JEVAL, MEVAL and SOLUT of the "
    "test\n"
    "set report (section IV.3), in Fortran or C, or it was written by `daedalus export`. What is built is "
    "code: it can do whatever you can.\n"
    "FC and CC name other compilers than gfortran and cc.\n";
static const char *const examples[] = {"build examples/own-problem/kinetics.c --out ./kinetics.so",
                                       "then: daedalus run ./kinetics.so", NULL};
const cli_command cli_build = {"build",
                               "compile a problem written in Fortran or C",
                               "SOURCE.f|SOURCE.c",
                               "file",
                               1,
                               1,
                               options,
                               examples,
                               notes,
                               run};
