/* daedalus: the command line. Dispatch and help; every command has a file of its own. */
#include "cli.h"

#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const cli_command *const commands[] = {
#define COMMAND(name) &cli_##name,
#include "commands.def"
#undef COMMAND
};

const cli_command *cli_command_at(int i)
{
    return i >= 0 && (size_t)i < sizeof commands / sizeof *commands ? commands[i] : NULL;
}

const cli_command *cli_command_find(const char *name)
{
    for (int i = 0; cli_command_at(i); i++) {
        if (!strcmp(cli_command_at(i)->name, name)) return cli_command_at(i);
    }
    return NULL;
}

static const char *command_name(int i)
{
    return cli_command_at(i) ? cli_command_at(i)->name : NULL;
}

static void print_examples(const cli_command *c, FILE *out)
{
    for (const char *const *e = c->examples; e && e[0]; e += 2) {
        fprintf(out, "  $ daedalus %-50s # %s\n", e[0], e[1]);
    }
}

static void print_options(const cli_command *c, FILE *out)
{
    for (const cli_option *o = c->options; o && o->name; o++) {
        char left[64];
        snprintf(left, sizeof left, "--%s%s%s", o->name, o->value ? " " : "", o->value ? o->value : "");
        fprintf(out, "  %-26s %s\n", left, o->help);
    }
}

static void print_program_help(FILE *out)
{
    fprintf(out,
            "daedalus %s: integrates ODEs, DAEs and mechanisms, says how accurate the answer is, and shows "
            "it.\n\n"
            "  daedalus COMMAND [ARGUMENTS] [OPTIONS]\n\nCommands\n",
            dae_version());
    for (int i = 0; cli_command_at(i); i++)
        fprintf(out, "  %-26s %s\n", command_name(i), cli_command_at(i)->summary);
    fprintf(out, "\nFirst steps\n");
    print_examples(&cli_new, out);
    print_examples(&cli_run, out);
    fprintf(
        out,
        "\n`daedalus help COMMAND` tells more; `daedalus --version` prints the version; `man daedalus` is "
        "the manual.\n"
        "Exit status: 0 done, 1 integration failed, 2 wrong usage or input, 3 no consistent initial values,\n"
        "4 a limit was hit, 130 interrupted, 143 terminated. NO_COLOR and redirected output are "
        "respected.\n");
}

void cli_print_help(const cli_command *c, FILE *out)
{
    if (!c) {
        print_program_help(out);
        return;
    }
    fprintf(out, "daedalus %s: %s\n\n  daedalus %s %s [OPTIONS]\n", c->name, c->summary, c->name,
            c->arguments);
    if (c->options && c->options->name) {
        fprintf(out, "\nOptions\n");
        print_options(c, out);
    }
    if (c->notes) fprintf(out, "\n%s", c->notes);
    if (c->examples) {
        fprintf(out, "\nExamples\n");
        print_examples(c, out);
    }
}

static int run_help(cli_args *args)
{
    const cli_command *c = NULL;
    if (args->count == 1) {
        c = cli_command_find(args->argument[0]);
        if (!c) {
            char near[200];
            cli_nearest(args->argument[0], command_name, near, sizeof near);
            return cli_wrong(args, "there is no command \"%s\"%s%s%s", args->argument[0],
                             near[0] ? "; did you mean " : "", near, near[0] ? "?" : "");
        }
    }
    cli_print_help(c, stdout);
    return EXIT_DONE;
}

static const cli_option no_options[] = {{NULL, NULL, NULL, NULL}};
static const char *const help_examples[] = {"help run", "all options of run", NULL};
const cli_command cli_help = {"help",      "what a command does, its options, examples",
                              "[COMMAND]", "commands",
                              0,           1,
                              no_options,  help_examples,
                              NULL,        run_help};

static int unknown_command(const char *word)
{
    char near[200];
    cli_args none = {0};
    cli_nearest(word, command_name, near, sizeof near);
    if (near[0]) return cli_wrong(&none, "there is no command \"%s\"; did you mean %s?", word, near);
    if (dae_problem_find(word))
        return cli_wrong(&none, "there is no command \"%s\"; did you mean `daedalus run %s`?", word, word);
    return cli_wrong(&none, "there is no command \"%s\"; `daedalus help` lists them", word);
}

int cli_dispatch(int argc, char **argv)
{
    if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
        cli_print_help(NULL, argc < 2 ? stderr : stdout);
        return argc < 2 ? EXIT_USAGE : EXIT_DONE;
    }
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
        printf("daedalus %s\n", dae_version());
        return EXIT_DONE;
    }
    const cli_command *c = cli_command_find(argv[1]);
    if (!c) return unknown_command(argv[1]);
    for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            cli_print_help(c, stdout);
            return EXIT_DONE;
        }
    }
    cli_args args;
    int status = cli_parse(&args, c, argc - 2, argv + 2);
    if (!status) status = cli_plugins_open(&args);
    if (!status) status = c->run(&args);
    cli_plugins_close();
    cli_args_free(&args);
    return status;
}

/* The systems here are small or sparse: threads of the BLAS only cost time, unless somebody asked for them. */
#if defined(__GNUC__)
extern void openblas_set_num_threads(int threads) __attribute__((weak));
#endif

static void quiet_blas(void)
{
#if defined(__GNUC__)
    if (openblas_set_num_threads && !getenv("OPENBLAS_NUM_THREADS")) openblas_set_num_threads(1);
#endif
}

/* JSON leaves out what it has no memory for; here it is noticed. */
static void *noting_malloc(size_t size)
{
    void *p = malloc(size);
    if (!p && !cli_starved(0)) cli_starved(2);
    return p;
}

/* 1: standard output is a pipe, and its reader (head, a pager) has seen enough. */
static int nobody_reads(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
}

int main(int argc, char **argv)
{
    quiet_blas();
    json_set_alloc_funcs(noting_malloc, free);
    signal(SIGPIPE, SIG_IGN); /* a closed pipe is a write error, not a silent end */
    int status = cli_ended_by(cli_with_memory(cli_dispatch(argc, argv)));
    if ((fflush(stdout) != 0 || ferror(stdout)) && status == EXIT_DONE) {
        if (nobody_reads()) return EXIT_DONE;
        fprintf(stderr, "daedalus: standard output could not be written\n");
        return EXIT_USAGE;
    }
    return status;
}
