/* Plots: gnuplot as a child process that reads a script from a pipe and writes the picture to the file. */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

const char *cli_plot_terminal(const char *path)
{
    static const char *const known[] = {"svg", "png", "pdf"};
    const char *dot = strrchr(path, '.');
    for (int i = 0; dot && i < 3; i++) {
        if (!strcmp(dot + 1, known[i])) return known[i];
    }
    return NULL;
}

/* GNUPLOT names another program. */
static const char *program(void)
{
    const char *name = getenv("GNUPLOT");
    return name && name[0] ? name : "gnuplot";
}

static int exists(const char *name)
{
    const char *path = getenv("PATH");
    char full[1024];
    if (strchr(name, '/')) return access(name, X_OK) == 0;
    for (; path && *path;) {
        size_t n = strcspn(path, ":");
        snprintf(full, sizeof full, "%.*s/%s", (int)n, path, name);
        if (access(full, X_OK) == 0) return 1;
        path += n + (path[n] == ':');
    }
    return 0;
}

int cli_plot_check(const cli_args *args, const char *option, const char *path)
{
    if (!cli_plot_terminal(path))
        return cli_wrong(args, "%s %s: the file name must end in .svg, .png or .pdf", option, path);
    if (!exists(program())) {
        return cli_wrong(
            args,
            "%s %s needs the program %s, which was not found; install it (Debian: apt install gnuplot-nox) "
            "or use --out and plot the CSV file",
            option, path, program());
    }
    cli_draft d;
    if (cli_draft_begin(args, &d, option, path)) return EXIT_USAGE;
    cli_draft_drop(&d);
    return 0;
}

typedef struct child {
    pid_t pid;
    FILE *script; /* its standard input */
    FILE *said;   /* its standard error, in a temporary file */
} child;

static int start(child *c, const char *path)
{
    int pipe_ends[2];
    posix_spawn_file_actions_t actions;
    char *argv[] = {(char *)program(), NULL};
    c->said = tmpfile();
    if (!c->said || pipe(pipe_ends) != 0) {
        if (c->said) fclose(c->said);
        return errno ? errno : EIO;
    }
    fcntl(pipe_ends[1], F_SETFD, FD_CLOEXEC);
    int bad = posix_spawn_file_actions_init(&actions), made = !bad;
    if (!bad) bad = posix_spawn_file_actions_adddup2(&actions, pipe_ends[0], 0);
    if (!bad) bad = posix_spawn_file_actions_addopen(&actions, 1, path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (!bad) bad = posix_spawn_file_actions_adddup2(&actions, fileno(c->said), 2);
    if (!bad) bad = posix_spawn_file_actions_addclose(&actions, pipe_ends[0]);
    if (!bad) bad = posix_spawnp(&c->pid, argv[0], &actions, NULL, argv, environ);
    if (made) posix_spawn_file_actions_destroy(&actions);
    close(pipe_ends[0]);
    c->script = bad ? NULL : fdopen(pipe_ends[1], "w");
    if (c->script) return 0;
    close(pipe_ends[1]);
    fclose(c->said);
    if (bad) return bad;
    while (waitpid(c->pid, &bad, 0) < 0 && errno == EINTR) continue; /* it reads the end of its input */
    return ENOMEM;
}

/* Waits; 0 if it ended well. what: its first line of complaint. */
static int finish(child *c, char *what, size_t size)
{
    int status = 0;
    what[0] = 0;
    fclose(c->script);
    while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR) continue;
    rewind(c->said);
    while (fgets(what, (int)size, c->said)) {
        what[strcspn(what, "\n")] = 0;
        if (strspn(what, " ^\t") != strlen(what)) break;
    }
    fclose(c->said);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 1;
}

/* 1: the file ends as such pictures do. gnuplot says nothing of a full disk. */
static int is_whole(const char *path, const char *terminal)
{
    static const char *const last[][2] = {
        {"svg", "</svg>"}, {"png", "IEND\xae\x42\x60\x82"}, {"pdf", "%%EOF"}};
    char tail[32];
    int file = open(path, O_RDONLY | O_CLOEXEC), whole = 0;
    off_t size = file < 0 ? 0 : lseek(file, 0, SEEK_END);
    ssize_t n = size <= 0 ? 0 : pread(file, tail, sizeof tail, size > 32 ? size - 32 : 0);
    for (size_t i = 0; i < sizeof last / sizeof *last; i++) {
        ssize_t length = (ssize_t)strlen(last[i][1]);
        for (ssize_t k = 0; !strcmp(last[i][0], terminal) && k + length <= n; k++)
            whole |= !memcmp(tail + k, last[i][1], (size_t)length);
    }
    if (file >= 0) close(file);
    return whole;
}

int cli_plot(const cli_args *args, const char *option, const char *path, dae_script_fn *script,
             const void *picture)
{
    child c = {0};
    cli_draft d;
    char what[256];
    if (cli_draft_begin(args, &d, option, path)) return EXIT_USAGE;
    int bad = start(&c, d.part);
    if (bad) {
        cli_draft_drop(&d);
        return cli_wrong(args, "%s: %s could not be started: %s", option, program(), strerror(bad));
    }
    dae_status s = script(picture, cli_plot_terminal(path), cli_write_file, c.script);
    if (finish(&c, what, sizeof what) || s < 0) {
        cli_draft_drop(&d);
        if (s == DAE_ERR_MEMORY) return cli_wrong(args, "%s %s: out of memory", option, path);
        if (s == DAE_ERR_INPUT)
            return cli_wrong(args, "%s %s: there are too few points to draw", option, path);
        return cli_wrong(args, "%s %s: %s failed%s%s", option, path, program(), what[0] ? ": " : "", what);
    }
    if (!d.direct && !is_whole(d.part, cli_plot_terminal(path))) {
        cli_draft_drop(&d);
        return cli_wrong(args, "%s %s: could not be written as a whole; is the disk full?", option, path);
    }
    errno = 0;
    if (!d.direct && !strcmp(cli_plot_terminal(path), "svg")) errno = cli_svg_shorten(d.part);
    return cli_draft_end(args, &d, errno != 0);
}
