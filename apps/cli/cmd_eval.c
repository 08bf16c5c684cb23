/* daedalus eval: the functions of a problem at a given point. */
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static char *read_state(const cli_args *args, size_t *length)
{
    const char *path = cli_value(args, "state");
    if (!path) {
        cli_wrong(args, "--state is missing: give a JSON file, or - for standard input");
        return NULL;
    }
    FILE *file = strcmp(path, "-") ? fopen(path, "rb") : stdin;
    if (!file) {
        cli_wrong(args, "--state %s: %s", path, strerror(errno));
        return NULL;
    }
    errno = 0;
    char *text = cli_read_open(file, length);
    if (!text) cli_wrong(args, "--state %s: %s", path, errno ? strerror(errno) : "cannot be read");
    if (file != stdin) fclose(file);
    return text;
}

static int run(cli_args *args)
{
    dae_problem *p = cli_open_problem(args);
    if (!p) return args->status;
    size_t length;
    int status = EXIT_USAGE;
    char *state = read_state(args, &length);
    if (state) {
        dae_error err = {0};
        dae_status s = dae_eval_json(p, state, length, cli_has(args, "jac"), cli_write_file, stdout, &err);
        if (s == DAE_ERR_INPUT) {
            status = cli_wrong(args, "--state %s: %s", cli_value(args, "state"), err.text);
        } else if (s < 0) {
            fprintf(stderr, "daedalus eval: %s\n", err.text);
            status = EXIT_FAILED;
        } else {
            status = EXIT_DONE;
        }
    }
    free(state);
    dae_problem_destroy(p);
    return status;
}

static const cli_option options[] = {
    {"state", "FILE|-", "file",
     "JSON: {\"t\":0,\"y\":[..]}; IDEs also \"yprime\"; mechanical systems p, v, u, lambda"},
    {"set", "NAME=VALUE", NULL, "a parameter of the problem; can be given more than once"},
    CLI_START,
    {"index", "K", "1|2|3", "state the problem with this index, where it can be"},
    {"formulation", "F", "formulations", "state the problem in this form, where it can be"},
    {"jac", NULL, NULL, "also the Jacobian, by rows (null where the problem has no analytic one)"},
    {"json", NULL, NULL, "the answer is JSON in any case; with this also wrong input is answered in JSON"},
    {NULL, NULL, NULL, NULL},
};
static const char notes[] = "The answer is one JSON object: f is the right-hand side of ODEs and DAEs and "
                            "the residual of IDEs; mass, g, G\n"
                            "come with it where the system has them; {\"status\":\"undefined\"} means that "
                            "it cannot be evaluated there.\n"
                            "Without \"t\" the start of the interval is taken.\n";
static const char *const examples[] = {"eval rober --state state.json", "f at the point in a file", NULL};
const cli_command cli_eval = {
    "eval", "f, mass and constraints at a given point", "PROBLEM", "problems", 1, 1, options, examples, notes,
    run};
