/* daedalus scale: how the CPU time grows with the size of a problem, per solver and linear algebra. */
#include "workprec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { max_sizes = 64, max_modes = 5 };

typedef struct scale {
    cli_args *args;
    char parameter[64];           /* "N" */
    char *list;                   /* "8,16,32", cut into */
    const char *value[max_sizes]; /* these */
    int nvalue;
    int given, mode_at; /* which of args->given has the sizes, the storage */
    const char *mode[max_modes];
    int nmode;
    cli_study study; /* its records and progress */
    dae_scale *got;
    int json;
    const char *title;
} scale;

/* ---- What is asked for ------------------------------------------------------------------------------- */

/* The --set that has a list of values. */
static int find_sizes(scale *s)
{
    cli_args *args = s->args;
    const char *values = NULL;
    s->given = -1;
    for (int i = 0; i < args->ngiven; i++) {
        const char *v = args->given[i].value, *equal = v ? strchr(v, '=') : NULL;
        if (strcmp(args->given[i].option->name, "set") != 0 || !equal || !strchr(equal, ',')) continue;
        if (s->given >= 0)
            return cli_wrong(args, "--set %s: only one parameter can have a list of values", v);
        if ((size_t)(equal - v) >= sizeof s->parameter)
            return cli_wrong(args, "--set %s: the name is too long", v);
        memcpy(s->parameter, v, (size_t)(equal - v));
        values = equal + 1;
        s->given = i;
    }
    if (s->given < 0) return cli_wrong(args, "the sizes are missing; expected --set NAME=8,16,32,...");
    s->list = strdup(values);
    if (!s->list) return cli_wrong(args, "out of memory");
    for (char *v = s->list, *next; v; v = next) {
        next = strchr(v, ',');
        if (next) *next++ = 0;
        char *end;
        double size = strtod(v, &end);
        if (s->nvalue == max_sizes) return cli_wrong(args, "--set: more than %d sizes", max_sizes);
        if (!*v || *end || !(size > 0))
            return cli_wrong(args, "--set %s: expected positive numbers with commas between",
                             args->given[s->given].value);
        s->value[s->nvalue++] = v;
    }
    return 0;
}

static int find_modes(scale *s)
{
    static const char *const known[] = {"auto", "dense", "banded", "sparse", "krylov"};
    const char *list = cli_value(s->args, "linear-algebra");
    if (!list) list = "auto";
    for (;; list++) {
        size_t n = strcspn(list, ",");
        int k = 0, count = (int)(sizeof known / sizeof *known);
        while (k < count && (strlen(known[k]) != n || strncmp(known[k], list, n) != 0)) k++;
        if (k == count || s->nmode == max_modes)
            return cli_wrong(s->args,
                             "--linear-algebra %.*s: expected some of auto, dense, banded, sparse, krylov",
                             (int)n, list);
        s->mode[s->nmode++] = known[k];
        list += n;
        if (!*list) return 0;
    }
}

/* ---- Runs -------------------------------------------------------------------------------------------- */

static dae_problem *open_size(const char *value, const char *mode, char *settings, size_t size, void *user,
                              dae_error *err)
{
    scale *s = user;
    cli_args *args = s->args;
    const char *given = args->given[s->given].value;
    char set[160];
    snprintf(set, sizeof set, "%s=%s", s->parameter, value);
    args->given[s->given].value = set;
    args->given[s->mode_at].value = mode;
    args->json = s->json;
    dae_problem *p = cli_open(args, args->argument[0]);
    if (p) cli_study_settings(args, p, settings, size);
    args->given[s->given].value = given;
    args->json = 0;                      /* runs are told as lines of text or not at all */
    if (!p) err->status = DAE_ERR_INPUT; /* told already */
    return p;
}

static int on_done(const dae_measurement *m, void *user)
{
    cli_study *s = user;
    s->failed += m->status < 0;
    s->count++;
    s->status = cli_study_record(s, m, 1);
    return s->status || cli_interrupted();
}

static int on_taken(const dae_measurement *m, void *user)
{
    cli_study *s = user;
    s->failed += m->status < 0;
    return cli_interrupted();
}

static void on_running(dae_integrator *it, void *user)
{
    (void)user;
    cli_running(it, NULL);
}

static int run_sizes(scale *s)
{
    cli_args *args = s->args;
    cli_study *study = &s->study;
    const char *out = cli_records_path(args), *jacobian = cli_value(args, "jacobian");
    dae_setting option = {"jacobian", jacobian};
    dae_status got = DAE_OK;
    dae_error err = {0};
    long reps = 3;
    double seconds = 30;
    if (cli_whole(args, "repeat", 1, 100000, &reps) || cli_real(args, "max-seconds", 1e-3, 1e9, &seconds))
        return EXIT_USAGE;
    if (cli_add(args, "linear-algebra", "auto")) return EXIT_USAGE;
    s->mode_at = args->ngiven - 1;
    int status = out ? cli_records_open(args, out, &study->records) : 0;
    if (!status && out) status = cli_measurements(args, out, study->records.text, &study->old, &study->nold);
    dae_scale_options o = {.parameter = s->parameter,
                           .value = s->value,
                           .nvalue = s->nvalue,
                           .mode = s->mode,
                           .nmode = s->nmode,
                           .solvers = cli_value(args, "solvers"),
                           .open = open_size,
                           .user = s,
                           .runs = {.repeat = (int)reps,
                                    .max_seconds = seconds,
                                    .option = &option,
                                    .noption = jacobian != NULL,
                                    .own = cli_own(),
                                    .known = study->old,
                                    .nknown = study->nold,
                                    .begin = cli_study_begin,
                                    .done = on_done,
                                    .taken = on_taken,
                                    .running = on_running,
                                    .user = study}};
    study->begin = cli_wall();
    s->json = args->json;
    if (!status) s->got = dae_scale_run(&o, &got, &err);
    args->json = s->json;
    cli_study_progress_end(study);
    if (!status && study->status) status = study->status;
    else if (!status && !s->got) status = err.text[0] ? cli_wrong(args, "%s", err.text) : args->status;
    else if (!status && (got == DAE_CANCELLED || cli_interrupted())) status = EXIT_INTERRUPTED;
    if (study->records.fd >= 0 && cli_records_close(args, &study->records) && !status) status = EXIT_USAGE;
    if (status == EXIT_INTERRUPTED)
        fprintf(stderr, "interrupted after %d runs%s%s\n", study->count, out ? "; kept in " : "",
                out ? out : "");
    return status;
}

/* ---- What is shown ----------------------------------------------------------------------------------- */

static dae_status script(const void *what, const char *terminal, dae_write_fn *write, void *user)
{
    const scale *s = what;
    return dae_scale_plot(s->got, s->args->argument[0], s->title, terminal, write, user);
}

static int write_tables(const scale *s)
{
    int count;
    const dae_scale_line *l = dae_scale_lines(s->got, &count);
    dae_table *t = dae_scale_table(s->parameter, l, count, NULL);
    if (t) dae_table_note(t, "problem", s->args->argument[0], 0);
    return cli_tables_write(s->args, t);
}

static int show(scale *s)
{
    const char *plot = cli_value(s->args, "plot");
    int usable = 0, count;
    const dae_scale_line *l = dae_scale_lines(s->got, &count);
    for (int j = 0; j < count; j++) usable += l[j].fit.count > 1;
    if (s->args->json) dae_scale_json(s->args->argument[0], s->parameter, l, count, cli_write_file, stdout);
    else if (!cli_has(s->args, "quiet")) dae_scale_text(s->got, s->args->argument[0], cli_write_file, stdout);
    if (!usable) {
        fprintf(stderr, "daedalus scale: no solver finished at two sizes, so that there is no exponent\n");
        return EXIT_FAILED;
    }
    if (!plot) return 0;
    int status = cli_plot(s->args, "--plot", plot, script, s);
    if (!status && !cli_has(s->args, "quiet") && !s->args->json) fprintf(stderr, "wrote %s\n", plot);
    return status;
}

static int run(cli_args *args)
{
    scale *s = calloc(1, sizeof *s);
    const char *plot = cli_value(args, "plot");
    const dae_problem_info *info = dae_problem_find(args->argument[0]);
    cli_catch_signals();
    if (!s) return cli_wrong(args, "out of memory");
    s->args = args;
    s->title = info ? info->title : "";
    s->study = (cli_study){.args = args,
                           .name = args->argument[0],
                           .quiet = args->json || cli_has(args, "quiet"),
                           .records = {.fd = -1}};
    int status = find_sizes(s);
    if (!status) status = find_modes(s);
    if (!status && plot) status = cli_plot_check(args, "--plot", plot);
    if (!status) status = cli_tables_check(args, 1);
    if (!status) status = run_sizes(s);
    if (s->got && cli_tables_wanted(args) && write_tables(s)) status = EXIT_USAGE; /* also when interrupted */
    if (!status) status = show(s);
    dae_scale_destroy(s->got);
    cli_study_free(&s->study);
    free(s->list);
    free(s);
    return status;
}

static const cli_option options[] = {
    {"set", "NAME=8,16,...", NULL, "the sizes; --set NAME=VALUE: other parameters"},
    {"solvers", "A,B,...", "solvers", "as in workprec; all (default)"},
    {"linear-algebra", "MODE,...", NULL,
     "storage of Jacobians and factors: some of auto (default), dense, banded, sparse"},
    CLI_START,
    CLI_TOLERANCES,
    {"repeat", "N", NULL, "measurements of CPU time per run (3)"},
    {"max-seconds", "S", NULL, "limit on the CPU time of a run, and of its repetitions (30)"},
    {"index", "K", "1|2|3", "state the problem with this index, where it can be"},
    {"jacobian", "MODE", "auto|difference", "auto: analytic where the problem has one; difference: never"},
    {"out", "FILE.jsonl", "file",
     "append one line per run; runs that are there already are not repeated; or the table: .csv, .json, .h5, "
     ".gp, .svg"},
    {"plot", "FILE", "file", "both axes logarithmic, exponents in the key: .svg, .png or .pdf"},
    {"json", NULL, NULL, "one JSON object on standard output"},
    {"quiet", NULL, NULL, "no table, no progress"},
    {NULL, NULL, NULL, NULL},
};
static const char notes[] =
    "The exponent p is that of a fit of time = c * size^p to all sizes, with its standard error; \"last\" is "
    "the one\n"
    "between the two largest sizes, and \"per step\" that of the time of a step, which is what linear "
    "algebra\n"
    "costs where the number of steps grows too. Runs that fail are left out of the fit.\n";
static const char *const examples[] = {"scale medakzo --set N=25,50,100 --solvers radau5 --linear-algebra "
                                       "dense,banded --repeat 1 --plot growth.svg",
                                       "what banded linear algebra is worth",
                                       "scale insulator-chain --set N=5,10,20 --solvers mexx --json",
                                       "for programs", NULL};
const cli_command cli_scale = {"scale",   "how CPU time grows with the size of a problem",
                               "PROBLEM", "problems",
                               1,         1,
                               options,   examples,
                               notes,     run};
