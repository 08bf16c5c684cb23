/* daedalus export: an equation file as a C source for the public interface. */
#include "cli.h"

#include <daedalus/equations.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int cli_export_c(cli_args *args, const char *option, const char *path)
{
    const char *file = strcmp(args->argument[0], "-") ? args->argument[0] : NULL;
    size_t length = 0, end = file ? strlen(file) : 0;
    dae_setting *setting = NULL;
    int count = 0, status = EXIT_USAGE;
    dae_error err = {0};
    if (file && (end < 5 || strcmp(file + end - 4, ".deq") != 0))
        return cli_wrong(args, "%s is no equation file (.deq): only those can be written as C", file);
    char *own = file ? cli_read_file(file, &length) : NULL;
    const char *text = file ? own : cli_input(args, &length);
    cli_draft d = {0};
    if (!text && file) cli_wrong(args, "%s cannot be read (%s)", file, strerror(errno));
    else if (text && !cli_all_settings(args, &setting, &count) &&
             (!path || !cli_draft_begin(args, &d, option, path))) {
        dae_status s = dae_equations_write_c(text, length, file, setting, count, cli_write_file,
                                             path ? d.file : stdout, &err);
        if (s < 0) {
            if (path) cli_draft_drop(&d);
            cli_wrong(args, "%s", err.text);
        } else {
            status = path ? cli_draft_end(args, &d, 0) : EXIT_DONE;
        }
    }
    free(setting);
    free(own);
    return status;
}

static int run(cli_args *args)
{
    const char *to = cli_value(args, "to"), *out = cli_value(args, "out");
    if (!to || strcmp(to, "c") != 0) return cli_wrong(args, "--to c is the only form that there is");
    int status = cli_export_c(args, "--out", out);
    if (status == EXIT_DONE && out)
        printf("wrote %s; next: cc -O2 %s -ldaedalus -lm, or daedalus build %s\n", out, out, out);
    return status;
}

static const cli_option options[] = {
    {"to", "c", "c", "the language"},
    {"out", "FILE.c", "file", "where to put it; default: standard output"},
    {"set", "NAME=VALUE", NULL, "a parameter of the file; can be repeated"},
    CLI_START,
    {NULL, NULL, NULL, NULL},
};
static const char notes[] =
    "The source holds f, its Jacobian, switches, events, start and names as one dae_problem, and a main that "
    "runs it.\n"
    "Compiled by `daedalus build` it is taken by every command. `run FILE.deq --compile FILE.c` does all of "
    "it at once.\n";
static const char *const examples[] = {
    "export models/heater.deq --to c --out heater.c", "then: cc -O2 heater.c -ldaedalus -lm",
    "export models/ball.deq --to c --set e=0.5", "to standard output, with another parameter", NULL};
const cli_command cli_export = {
    "export", "write an equation file as C", "FILE.deq", "file", 1, 1, options, examples, notes, run};
