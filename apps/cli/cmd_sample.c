/* daedalus sample: the solution at any times, from the file that `daedalus run --dump` wrote. */
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static dae_solution *open_solution(const cli_args *args)
{
    const char *path = args->argument[0];
    FILE *file = strcmp(path, "-") ? fopen(path, "rb") : stdin;
    size_t length = 0;
    if (!file) {
        cli_wrong(args, "%s: %s", path, strerror(errno));
        return NULL;
    }
    errno = 0;
    char *data = cli_read_open(file, &length);
    if (file != stdin) fclose(file);
    if (!data) {
        cli_wrong(args, "%s: %s", path, errno ? strerror(errno) : "cannot be read");
        return NULL;
    }
    dae_error err = {0};
    dae_solution *s = dae_solution_read(data, length, &err);
    if (!s) cli_wrong(args, "%s: %s", path, err.text);
    free(data);
    return s;
}

/* --at, or --points equidistant ones. */
static int wanted(const cli_args *args, const dae_solution_info *about, double **t, int *count)
{
    const char *points = cli_value(args, "points");
    if (cli_has(args, "at") == (points != NULL)) return cli_wrong(args, "give either --at or --points");
    if (!points) return cli_times(args, about->t0, about->t_end, t, count);
    char *end;
    long n = strtol(points, &end, 10);
    if (end == points || *end || n < 2 || n > 10000000)
        return cli_wrong(args, "--points %s: expected a whole number, 2 .. 10000000", points);
    *t = calloc((size_t)n, sizeof **t);
    if (!*t) return cli_wrong(args, "out of memory");
    for (long k = 0; k < n; k++)
        (*t)[k] =
            k == n - 1 ? about->t_end : about->t0 + (about->t_end - about->t0) * (double)k / (double)(n - 1);
    *count = (int)n;
    return 0;
}

static int run(cli_args *args)
{
    dae_solution *s = open_solution(args);
    if (!s) return EXIT_USAGE;
    double *t = NULL;
    int count = 0, status = wanted(args, dae_solution_about(s), &t, &count);
    dae_error err = {0};
    if (!status) status = cli_tables_check(args, 0);
    if (!status && args->json) {
        if (dae_solution_json(s, t, count, cli_write_file, stdout, &err) < 0)
            status = cli_wrong(args, "%s: %s", args->argument[0], err.text);
    }
    if (!status && (!args->json || cli_has(args, "out"))) {
        dae_table *table = dae_solution_table(s, t, count, &err);
        if (!table) status = cli_wrong(args, "%s: %s", args->argument[0], err.text);
        else if (cli_has(args, "out")) status = cli_tables_write(args, table);
        else {
            status = cli_table_write(args, "-", table);
            dae_table_destroy(table);
        }
    }
    free(t);
    dae_solution_destroy(s);
    return status;
}

static const cli_option options[] = {
    {"at", "T1,T2,...", NULL, "at these times"},
    {"points", "N", NULL, "at N equidistant times from the start to the end of the solution"},
    {"out", "FILE", "file",
     "a table in this file instead: .csv, .json, .h5, .gp, .svg, .png or .pdf; can be given more than once"},
    {"json", NULL, NULL, "one JSON object; mechanical problems with accelerations and multipliers"},
    {NULL, NULL, NULL, NULL},
};
static const char notes[] =
    "Without --json the answer is comma-separated, as that of run --out. Between the steps of the "
    "run the solution\nis its dense output; nothing is integrated again.\n";
static const char *const examples[] = {
    "run andrews --dump andrews.sol --quiet", "keep the continuous solution ...",
    "sample andrews.sol --at 0.01,0.02 --json", "... and look at it later", NULL};
const cli_command cli_sample = {"sample", "the solution at any times, from the file of run --dump",
                                "FILE",   "file",
                                1,        1,
                                options,  examples,
                                notes,    run};
