/* daedalus new: a commented equation file to begin with. */
#include "cli.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const lines[] = {
    " \"a mass on a spring, with friction\"",
    "",
    "# Parameters can be set from outside: daedalus run FILE --set k=50[N/m]. Units stand in brackets after "
    "numbers.",
    "param m = 1 [kg], k = 20 [N/m], d = 0.4 [N s/m] in 0 .. 100 \"damping\"",
    "",
    "# Variables: \"=\" is an initial value that is kept, \"~\" a guess. What is algebraic and what is not "
    "is found out.",
    "var x = 1 [m], v = 0 [m/s]",
    "",
    "# let names an expression; it is available as output.",
    "let energy = m*v^2/2 + k*x^2/2",
    "",
    "# Equations in any order and form; x' is the derivative by time.",
    "x' = v",
    "m*v' = -k*x - d*v",
    "",
    "# Something that happens: when x passes 0 downwards",
    "when x < 0 \"through the middle\": record",
    "",
    "solve t = 0 .. 10 [s], rtol = 1e-8",
    "plot x, v",
    "",
    "# daedalus check FILE    what it is: index, degrees of freedom, start",
    "# daedalus run FILE --plot plot.svg",
};

static int is_name(const char *text)
{
    if (!isalpha((unsigned char)text[0])) return 0;
    for (size_t i = 0; text[i]; i++) {
        if (!isalnum((unsigned char)text[i]) && text[i] != '_') return 0;
    }
    return strlen(text) <= 60;
}

static int run(cli_args *args)
{
    char path[80], name[80];
    snprintf(name, sizeof name, "%.70s", args->argument[0]);
    size_t n = strlen(name);
    if (n > 4 && !strcmp(name + n - 4, ".deq")) name[n - 4] = 0;
    if (!is_name(name))
        return cli_wrong(args, "%s: a name begins with a letter and consists of letters, digits and _",
                         args->argument[0]);
    snprintf(path, sizeof path, "%.62s.deq", name);
    FILE *f = fopen(path, "wx");
    if (!f && errno == EEXIST) return cli_wrong(args, "%s exists already; nothing was written", path);
    if (!f) return cli_wrong(args, "%s cannot be written: %s", path, strerror(errno));
    fprintf(f, "model %s", name);
    for (size_t k = 0; k < sizeof lines / sizeof *lines; k++) {
        const char *place = strstr(lines[k], "FILE");
        if (place) fprintf(f, "%.*s%s%s\n", (int)(place - lines[k]), lines[k], path, place + 4);
        else fprintf(f, "%s\n", lines[k]);
    }
    int bad = ferror(f);
    if (fclose(f) || bad) return cli_wrong(args, "%s cannot be written: %s", path, strerror(errno));
    printf("wrote %s; next: daedalus check %s, daedalus run %s\n", path, path, path);
    return EXIT_DONE;
}

static const cli_option options[] = {{NULL, NULL, NULL, NULL}};
static const char *const examples[] = {"new spring",
                                       "your own equations: spring.deq, a commented file to change ...",
                                       "run spring.deq --plot spring.svg", "... and its solution", NULL};
const cli_command cli_new = {
    "new", "write a commented equation file to begin with", "NAME", NULL, 1, 1, options, examples, NULL, run};
