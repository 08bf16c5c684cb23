/* --free: what a fit or a design may vary. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* "k1", "k2=1", "k2[0..5]", "x(0)=0.3[0..1]" */
static int read_one(const cli_args *args, cli_free *f, char *word)
{
    char *bracket = strchr(word, '['), *equal;
    dae_fit_free *a = &f->list[f->count];
    if (f->count == CLI_MAX_FREE) return cli_wrong(args, "--free: more than %d parameters", CLI_MAX_FREE);
    *a = (dae_fit_free){word, NAN, -INFINITY, INFINITY};
    if (bracket) {
        char *dots = strstr(bracket, ".."), *end = strchr(bracket, ']');
        if (!dots || !end || end < dots || end[1])
            return cli_wrong(args, "--free %s: expected bounds like [0..5]", word);
        *bracket = *dots = *end = 0;
        if (bracket[1] && cli_number(args, "--free", bracket + 1, &a->min)) return EXIT_USAGE;
        if (dots[2] && cli_number(args, "--free", dots + 2, &a->max)) return EXIT_USAGE;
    }
    equal = strchr(word, '=');
    if (equal) {
        *equal = 0;
        if (cli_number(args, "--free", equal + 1, &a->start)) return EXIT_USAGE;
    }
    if (!word[0]) return cli_wrong(args, "--free: a name is missing");
    f->count++;
    return 0;
}

int cli_free_read(const cli_args *args, cli_free *f)
{
    const char *given = cli_value(args, "free");
    int status = 0;
    if (!given)
        return cli_wrong(args, "--free is missing: which parameters may vary, as in --free k1,k2[0..5]");
    f->text = strdup(given);
    if (!f->text) return cli_wrong(args, "out of memory");
    for (char *word = f->text, *next; word && !status; word = next) {
        next = strchr(word, ',');
        if (next) *next++ = 0;
        status = read_one(args, f, word);
    }
    return status;
}

void cli_free_drop(cli_free *f)
{
    free(f->text);
    *f = (cli_free){0};
}
