/* daedalus sweep: parameter studies and ensembles, on all cores, resumable. */
#include "sweep.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { max_options = 16, max_jobs = 1024, max_noted = 1024, max_shown = 32 };

/* ---- Options --------------------------------------------------------------------------------------- */

/* Options of the command line that are lines of the library's own table. */
static const char *const same[][2] = {{"solver", "method"},
                                      {"h0", "h0"},
                                      {"hmax", "h_max"},
                                      {"max-steps", "max_steps"},
                                      {"max-seconds", "max_seconds"},
                                      {"formulation", "formulation"}};

static int add_specs(sweep_job *s, const char *option,
                     dae_status (*add)(dae_design *, const char *, dae_error *))
{
    const char *v;
    for (int k = 0; (v = cli_value_at(s->args, option, k)); k++) {
        dae_error err = {0};
        if (add(s->design, v, &err) < 0) return cli_wrong(s->args, "--%s: %s", option, err.text);
    }
    return 0;
}

static int add_list(sweep_job *s, char **text)
{
    const char *path = cli_value(s->args, "list");
    size_t length;
    dae_error err = {0};
    if (!path) return 0;
    *text = cli_read_file(path, &length);
    if (!*text) return cli_wrong(s->args, "--list %s: %s", path, strerror(errno));
    if (dae_design_list(s->design, *text, length, &err) < 0)
        return cli_wrong(s->args, "--list %s: %s", path, err.text);
    return 0;
}

static int set_shard(sweep_job *s)
{
    const char *text = cli_value(s->args, "shard");
    int end = 0;
    s->nshard = 1;
    if (!text) return 0;
    if (sscanf(text, "%ld/%ld%n", &s->shard, &s->nshard, &end) != 2 || text[end] || s->nshard < 1 ||
        s->shard < 1 || s->shard > s->nshard || s->nshard > 1000000)
        return cli_wrong(s->args, "--shard %s: expected I/N with 1 <= I <= N", text);
    s->shard--;
    return 0;
}

/* Everything that decides the numbers; a sweep goes on only with the same. */
static char *describe(const sweep_job *s, const char *problem, const char *list)
{
    static const char *const names[] = {"vary",   "sample", "sobol", "saltelli", "set", "seed", "record",
                                        "points", "tend",   "index", "init",     "t0",  "rtol", "atol"};
    dae_sweep_setting list_of[max_noted] = {{"problem", problem, 0}, {"version", dae_version(), 0}};
    int n = 2;
    const char *v;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        for (int k = 0; n < max_noted - 16 && (v = cli_value_at(s->args, names[i], k)); k++)
            list_of[n++] = (dae_sweep_setting){names[i], v, 1};
    }
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        if ((v = cli_value(s->args, same[i][0]))) list_of[n++] = (dae_sweep_setting){same[i][0], v, 0};
    }
    if (list) list_of[n++] = (dae_sweep_setting){"list", list, 0};
    if (s->model) list_of[n++] = (dae_sweep_setting){"model", s->model, 0};
    return dae_sweep_settings(list_of, n);
}

/* DIR/sweep.json: written, or compared with what is there. */
static int claim_folder(sweep_job *s)
{
    const char *text = s->settings;
    char path[1024];
    size_t length;
    int bad = cli_make_folder(s->folder);
    if (bad) return cli_wrong(s->args, "--out %s: %s", s->folder, strerror(bad));
    snprintf(path, sizeof path, "%s/sweep.json", s->folder);
    char *old = cli_read_file(path, &length);
    if (old) {
        char differs[64];
        int other = dae_sweep_settings_differ(old, text, differs, sizeof differs);
        free(old);
        if (other)
            return cli_wrong(
                s->args, "--out %s: the folder holds another sweep (%s%s differs); give another folder",
                s->folder, strcmp(differs, "problem") && strcmp(differs, "model") ? "--" : "the ",
                differs[0] ? differs : "?");
        if (!cli_has(s->args, "resume") && s->nshard == 1)
            return cli_wrong(s->args,
                             "--out %s: the folder holds this sweep already; --resume goes on with it",
                             s->folder);
        return 0;
    }
    if (errno != ENOENT) return cli_wrong(s->args, "%s: %s", path, strerror(errno));
    cli_draft d;
    if (cli_draft_begin(s->args, &d, NULL, path)) return EXIT_USAGE;
    int wrong = fputs(text, d.file) < 0 || fputc('\n', d.file) == EOF;
    return cli_draft_end(s->args, &d, wrong);
}

/* --out DIR, or FILE.h5, FILE.csv, FILE.json, ... with the folder FILE.sweep beside it. */
static int set_folder(sweep_job *s)
{
    const char *out = cli_value(s->args, "out"), *dot = out ? strrchr(out, '.') : NULL;
    if (!out) return cli_wrong(s->args, "--out DIR is missing: the folder for the results");
    if (strlen(out) + 8 > sizeof s->folder) return cli_wrong(s->args, "--out %s: the name is too long", out);
    strcpy(s->folder, out);
    if (cli_is_records(out)) return 0; /* no table: a folder */
    struct stat what;
    dae_error err = {0};
    if (stat(out, &what) == 0 && S_ISDIR(what.st_mode))
        return cli_wrong(s->args, "--out %s: %s", out, strerror(EISDIR));
    if (cli_is_hdf5(out) && cli_hdf5_check(&err) < 0)
        return cli_wrong(s->args, "--out %s: %s", out, err.text);
    s->file = out;
    strcpy(s->folder + (dot - out), ".sweep");
    return 0;
}

/* The problem or model file, and the design over its parameters. */
static int open_design(sweep_job *s, const char **name)
{
    dae_problem *p = cli_open_problem(s->args); /* says what is wrong with names and --set */
    size_t length;
    if (!p) return s->args->status;
    s->problem = p;
    *name = p->info->name;
    if (p->hash) {
        s->model = cli_read_file(s->args->argument[0], &length);
        if (!s->model) return cli_wrong(s->args, "%s: %s", s->args->argument[0], strerror(errno));
    }
    s->design = dae_design_create(p->info, (unsigned long long)s->seed);
    if (!s->design) return cli_wrong(s->args, "out of memory");
    return add_specs(s, "vary", dae_design_vary) || add_specs(s, "sample", dae_design_sample) ||
                   add_specs(s, "sobol", dae_design_sobol) || add_specs(s, "saltelli", dae_design_saltelli)
               ? EXIT_USAGE
               : 0;
}

static int prepare(sweep_job *s)
{
    long jobs = sysconf(_SC_NPROCESSORS_ONLN), points = 0;
    dae_setting option[max_options], *setting = NULL, *all = NULL;
    dae_sweep_options o = {.record = cli_value(s->args, "record")};
    char *list = NULL;
    const char *v, *name = NULL;
    s->seed = 1;
    s->quiet = cli_has(s->args, "quiet");
    int status = cli_progress_mode(s->args) ? set_folder(s) : EXIT_USAGE;
    if (status) return status;
    if (jobs < 1) jobs = 1;
    if (cli_whole(s->args, "jobs", 0, max_jobs, &jobs) ||
        cli_whole(s->args, "seed", 0, 2000000000, &s->seed) ||
        cli_whole(s->args, "points", 2, 100000, &points) ||
        cli_real(s->args, "tend", -1e300, 1e300, &o.t_end) || set_shard(s))
        return EXIT_USAGE;
    s->jobs = (int)jobs;
    o.points = (int)points;
    status = open_design(s, &name);
    if (status) return status;
    o.problem = name;
    o.model = s->model;
    o.file = s->model ? s->args->argument[0] : NULL;
    o.like = s->problem;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        if ((v = cli_value(s->args, same[i][0]))) option[o.noption++] = (dae_setting){same[i][1], v};
    }
    if ((v = cli_value(s->args, "solver")) && strcmp(v, "auto") != 0 && cli_check_solver(s->args, v))
        return EXIT_USAGE;
    if ((v = cli_value(s->args, "formulation")) && strcmp(v, "auto") != 0 &&
        cli_check_formulation(s->args, v))
        return EXIT_USAGE;
    status = add_list(s, &list);
    if (!status)
        status = s->model ? cli_all_settings(s->args, &setting, &o.nsetting)
                          : cli_settings(s->args, "set", &setting, &o.nsetting);
    all = calloc((size_t)o.nsetting + 1 + max_shown, sizeof *all);
    if (!status && !all) status = cli_wrong(s->args, "out of memory");
    if (!status) {
        if (o.nsetting) memcpy(all, setting, (size_t)o.nsetting * sizeof *all);
        if ((v = cli_value(s->args, "index"))) all[o.nsetting++] = (dae_setting){"index", v};
        o.nsetting += cli_shown_signals(s->problem, all + o.nsetting, max_shown);
        dae_error err = {0};
        o.setting = all;
        o.option = option;
        s->sweep = dae_sweep_create(&o, s->design, &err);
        if (!s->sweep) status = cli_wrong(s->args, "%s", err.text);
    }
    if (!status) {
        s->logs = dae_sweep_logs_create(s->sweep, s->design, s->shard, s->nshard);
        s->settings = describe(s, s->model ? s->args->argument[0] : name, list);
        if (!s->logs || !s->settings) status = cli_wrong(s->args, "out of memory");
    }
    free(all);
    free(setting);
    free(list);
    return status;
}

/* ---- Results --------------------------------------------------------------------------------------- */

static int not_written(sweep_job *s, const char *path, const char *why)
{
    return cli_wrong(s->args, "%s: %s; the finished runs are kept in %s, --resume goes on", path, why,
                     s->folder);
}

/* A CSV file from the logs, in the order of runs. */
static int write_runs(sweep_job *s, const char *path)
{
    cli_draft d;
    if (cli_draft_begin(s->args, &d, NULL, path)) return EXIT_USAGE;
    int bad = dae_sweep_logs_csv(s->logs, cli_write_file, d.file) < 0;
    bad = cli_draft_finish(&d, bad);
    return bad ? not_written(s, path, strerror(bad)) : 0;
}

/* What the table says about itself. */
static void note_sweep(const sweep_job *s, dae_table *t)
{
    dae_table_note(t, "problem", s->args->argument[0], 0);
    dae_table_note(t, "title", s->problem->info->title ? s->problem->info->title : "", 0);
    dae_table_note(t, "settings", s->settings, 0);
    dae_table_note(t, "seed", NULL, (double)s->seed);
    dae_table_note(t, "runs", NULL, (double)s->logs->count);
    dae_table_mark_words(t, "status");
    dae_table_mark_words(t, "reason");
    cli_table_describe(s->args, t);
}

/* The same as HDF5. Without the library it is left out, unless it was asked for (then that was told at once). */
static int write_hdf5(sweep_job *s, const dae_table *t, const char *path)
{
    cli_draft d;
    dae_error err = {0};
    if (cli_hdf5_check(&err) < 0) return 0;
    if (cli_draft_begin(s->args, &d, NULL, path)) return EXIT_USAGE;
    dae_status got = dae_table_hdf5(t, cli_write_file, d.file, &err);
    int bad = cli_draft_finish(&d, got < 0);
    if (got < 0 && got != DAE_ERR_FILE) return not_written(s, path, err.text);
    return bad ? not_written(s, path, strerror(bad)) : 0;
}

/* Failed runs by their reason's first words: numbers in the text differ from run to run. */
static void print_failures(const dae_table *t)
{
    int status = dae_table_find(t, "status"), reason = dae_table_find(t, "reason");
    const char *first[4] = {0};
    for (long i = 0; i < t->nrow; i++) {
        const char *word = t->text[(long)status * t->nrow + i], *why = t->text[(long)reason * t->nrow + i];
        if (!strcmp(word, "ok") || !strcmp(word, "event")) continue;
        for (int k = 0; k < 4; k++) {
            if (first[k] && strncmp(first[k], why, 12) != 0) continue;
            if (!first[k]) first[k] = why;
            break;
        }
    }
    if (first[0]) printf("failed, for example:\n");
    for (int k = 0; k < 4 && first[k]; k++) printf("  %s\n", first[k]);
}

static void print_statistics(const sweep_job *s, const dae_table *t)
{
    int from = dae_table_find(t, "t"), first = 1;
    for (int k = 1; k < t->ncol; k++) {
        dae_statistics x;
        if (strchr(t->name[k], '@') || (k > dae_design_width(s->design) && k < from)) continue;
        if (dae_statistics_of(t->value + (long)k * t->nrow, t->nrow, &x) < 0 || x.count == 0) continue;
        if (first)
            printf("%-14s %12s %12s %12s %12s %12s %12s %12s\n", "", "mean", "sd", "min", "5 %", "median",
                   "95 %", "max");
        first = 0;
        printf("%-14s %12.5g %12.5g %12.5g %12.5g %12.5g %12.5g %12.5g\n", t->name[k], x.mean, x.sd, x.min,
               x.percentile[0], x.percentile[2], x.percentile[4], x.max);
    }
}

static int summarize(sweep_job *s, const dae_table *t, const dae_table *indices)
{
    char path[1024];
    cli_draft d;
    int width = dae_design_width(s->design);
    if (!s->args->json) print_failures(t);
    if (!s->quiet && !s->args->json) print_statistics(s, t);
    if (s->args->json) {
        cli_wrote(dae_sweep_summary_json(t, width, indices, cli_write_file, stdout));
        putchar('\n');
    }
    snprintf(path, sizeof path, "%s/summary.json", s->folder);
    if (cli_draft_begin(s->args, &d, NULL, path)) return EXIT_USAGE;
    return cli_draft_end(s->args, &d, dae_sweep_summary_json(t, width, indices, cli_write_file, d.file) < 0);
}

/* --saltelli: the indices; *out stays NULL where there are none. */
static int find_indices(sweep_job *s, const dae_table *runs, dae_table **out)
{
    dae_error err = {0};
    double a, b, t_end = 0;
    if (!dae_design_interval(s->design, 0, &a, &b)) return 0;
    if (cli_value(s->args, "tend") && cli_real(s->args, "tend", -1e300, 1e300, &t_end)) return EXIT_USAGE;
    *out = dae_sweep_indices(runs, s->design, s->problem, t_end, &err);
    return *out ? 0 : cli_wrong(s->args, "%s", err.text);
}

/* Printed and in indices.csv. */
static int tell_indices(const sweep_job *s, dae_table *t)
{
    char path[1024];
    if (!s->quiet && !s->args->json) {
        printf("\npart of the variance   %-12s %10s %10s %10s\n", "parameter", "first", "total", "local");
        for (long i = 0; i < t->nrow; i++) {
            if (isnan(t->value[2 * t->nrow + i])) continue; /* it does not vary */
            printf("  %-20s %-12s %10.4f %10.4f %10.4f\n", t->text[i], t->text[t->nrow + i],
                   t->value[2 * t->nrow + i], t->value[3 * t->nrow + i], t->value[4 * t->nrow + i]);
        }
    }
    snprintf(path, sizeof path, "%s/indices.csv", s->folder);
    return cli_table_write(s->args, path, t);
}

typedef struct picture {
    const dae_table *table;
    dae_sweep_plot_options options;
} picture;

static dae_status script(const void *what, const char *terminal, dae_write_fn *write, void *user)
{
    picture p = *(const picture *)what;
    p.options.terminal = terminal;
    return dae_sweep_plot(p.table, &p.options, write, user);
}

static int draw(sweep_job *s, const dae_table *t)
{
    static const struct {
        const char *name;
        dae_sweep_picture kind;
    } kinds[] = {{"bands", DAE_SWEEP_BANDS}, {"scatter", DAE_SWEEP_SCATTER}, {"heat", DAE_SWEEP_HEAT}};
    const char *end = cli_value(s->args, "plot");
    for (int k = 0; end && k < 3; k++) {
        picture p = {t,
                     {.picture = kinds[k].kind,
                      .width = dae_design_width(s->design),
                      .title = s->problem->info->name}};
        char path[1024];
        if (!dae_sweep_can_plot(t, &p.options)) continue;
        snprintf(path, sizeof path, "%s/%s.%s", s->folder, kinds[k].name, end);
        if (cli_plot(s->args, "--plot", path, script, &p)) return EXIT_USAGE;
        if (!s->quiet) fprintf(stderr, "wrote %s\n", path);
    }
    return 0;
}

/* All files from the logs. */
static int finish(sweep_job *s)
{
    char path[1024], hdf5[1024];
    size_t length;
    dae_error err = {0};
    int status = 0, quiet = s->quiet || s->args->json;
    snprintf(path, sizeof path, "%s/runs.csv", s->folder);
    snprintf(hdf5, sizeof hdf5, "%s/runs.h5", s->folder);
    if (!status) status = write_runs(s, path);
    char *text = status ? NULL : cli_read_file(path, &length);
    if (!status && !text) status = cli_wrong(s->args, "%s: %s", path, strerror(errno));
    dae_table *t = text ? cli_read_table(text, length, &err) : NULL;
    if (text && !t) status = cli_wrong(s->args, "%s: %s", path, err.text);
    if (t) note_sweep(s, t);
    if (t) status = write_hdf5(s, t, hdf5);
    if (t && !status && s->file)
        status =
            cli_has_ending(s->file, ".csv") ? write_runs(s, s->file) : cli_table_write(s->args, s->file, t);
    if (t && !status && t->nrow > 0) {
        if (!quiet)
            printf("%s: %ld of %ld runs finished, %ld failed\n", s->args->argument[0], s->logs->done,
                   s->logs->done + s->logs->npending, s->logs->failed);
        dae_table *indices = NULL;
        status = find_indices(s, t, &indices);
        if (!status) status = summarize(s, t, indices);
        if (!status && indices) status = tell_indices(s, indices);
        dae_table_destroy(indices);
        if (!status) status = draw(s, t);
        if (!quiet && s->file) fprintf(stderr, "wrote %s\n", s->file);
        else if (!quiet) fprintf(stderr, "wrote %s%s\n", path, access(hdf5, F_OK) == 0 ? " and runs.h5" : "");
    }
    dae_table_destroy(t);
    free(text);
    return status;
}

static void sweep_free(sweep_job *s)
{
    dae_sweep_logs_destroy(s->logs);
    dae_sweep_destroy(s->sweep);
    dae_design_destroy(s->design);
    free(s->settings);
    free(s->model);
    dae_problem_destroy(s->problem);
}

/* Workers that died can leave runs that nobody has: they are done in another round. */
static int run_pending(sweep_job *s)
{
    int status = cli_sweep_read_logs(s);
    s->before = s->logs->done;
    for (long left = -1; !status && s->logs->npending > 0 && s->logs->npending != left;) {
        left = s->logs->npending;
        status = cli_sweep_manage(s);
        if (!status) status = cli_sweep_read_logs(s);
    }
    if (!status && s->logs->npending > 0)
        status = cli_wrong(s->args, "%ld runs could not be finished; try --resume", s->logs->npending);
    return status;
}

static int compute(sweep_job *s)
{
    int status = run_pending(s);
    if (status && status != EXIT_INTERRUPTED) return status;
    int written = status ? cli_sweep_read_logs(s) : 0;
    if (!written) written = finish(s);
    if (!status) return written;
    fprintf(stderr, "interrupted; %ld of %ld runs are kept in %s, --resume goes on\n", s->logs->done,
            s->logs->count, s->folder);
    return status;
}

static int run(cli_args *args)
{
    sweep_job s = {.args = args};
    const char *plot = cli_value(args, "plot");
    char name[16] = "x.";
    if (plot) {
        strncat(name, plot, 8);
        if (!cli_plot_terminal(name)) return cli_wrong(args, "--plot %s: expected svg, png or pdf", plot);
    }
    sweep_role role;
    int status = cli_sweep_enter(args, &role);
    if (status) return status;
    status = prepare(&s);
    if (!status && role != SWEEP_WORKER) status = claim_folder(&s);
    status = cli_sweep_agree(&s, status);
    if (!status) {
        cli_catch_signals();
        status = role == SWEEP_WORKER ? cli_sweep_serve(&s) : compute(&s);
    }
    cli_sweep_leave();
    sweep_free(&s);
    return status;
}

static const cli_option options[] = {
    {"vary", "NAME=A:B:N", NULL,
     "N values from A to B (A:B:N:log: equal ratios), or NAME=V1,V2,...; several: all combinations"},
    {"sample", "NAME~DIST:N", NULL,
     "N random values: uniform(a,b), loguniform(a,b), normal(m,s), lognormal(m,s)"},
    {"sobol", "NAME=A:B:N", NULL, "N points of a Sobol sequence; several: its coordinates"},
    {"saltelli", "NAME=A:B:N", NULL,
     "N (d + 2) runs for d such parameters: how much of the variance each makes, alone and with others "
     "(indices.csv)"},
    {"list", "FILE.csv", "file", "a line of names, then one line of values per run"},
    {"seed", "S", NULL, "of the random numbers (1)"},
    {"jobs", "N", NULL, "worker processes; default: as many as cores; 0: none, this process computes"},
    {"out", "DIR", "file",
     "folder for logs, runs.csv, runs.h5, summary.json and plots; or FILE.csv, .h5, .json, .gp, .svg "
     "(folder FILE.sweep)"},
    {"resume", NULL, NULL, "go on with the sweep that the folder holds"},
    {"shard", "I/N", NULL, "do part I of N: for job arrays; one folder for all"},
    {"plot", "KIND", "svg|png|pdf", "draw scatter, percentile bands (with --points), heat map (two --vary)"},
    {"record", "A,B,...", NULL,
     "components and sensors to keep; default: components, all of 20 or fewer, else those worth plotting"},
    {"points", "N", NULL, "keep them at N equidistant times too"},
    {"set", "NAME=VALUE", NULL, "a parameter that is the same in all runs; can be given more than once"},
    {"index", "K", "1|2|3", "state the problem with this index, where it can be"},
    {"solver", "S", "solvers", "the integrator; auto (default)"},
    {"formulation", "F", "formulations", "form in which a mechanical system is integrated"},
    CLI_START,
    CLI_TOLERANCES,
    {"h0", "H", NULL, "first step; 0: the method chooses"},
    {"hmax", "H", NULL, "largest step"},
    {"tend", "T", NULL, "another end of the interval"},
    {"max-steps", "N", NULL, "limit on step attempts of a run; 0: none"},
    {"max-seconds", "S", NULL, "limit on the CPU time of a run; 0: none"},
    {"json", NULL, NULL, "the summary as one JSON object on standard output"},
    {"quiet", NULL, NULL, "no summary, no progress"},
    CLI_PROGRESS,
    {NULL, NULL, NULL, NULL},
};
static const char notes[] =
    "A run is recorded as soon as it is finished, a failed one with its reason: "
    "killed at any time, the sweep loses nothing\n"
    "that was finished, and --resume goes on. Run k gets the same parameters whoever "
    "computes it. Every point of a grid gets\n"
    "the same random numbers. Under mpirun one process hands out the runs and the others compute "
    "(mpirun -n 16 daedalus sweep ...).\n";
static const char *const examples[] = {
    "sweep cable-drum --sample 'mu~normal(0.25,0.05):200' --seed 1 --out drum",
    "Monte Carlo",
    "sweep vdpol-mu --vary mu=1:100:5:log --tend 20 --points 50 --out vdpol --plot svg",
    "a grid, with plots",
    "sweep vdpol-mu --vary mu=1:100:5:log --tend 20 --points 50 --out vdpol --resume",
    "go on after a kill",
    "sweep vdpol-mu --sobol mu=1:10:32 --tend 20 --out sobol.h5",
    "one HDF5 file",
    NULL};
const cli_command cli_sweep = {"sweep",
                               "parameter studies and Monte Carlo ensembles on all cores",
                               "PROBLEM|MODEL.json",
                               "problems",
                               1,
                               1,
                               options,
                               examples,
                               notes,
                               run};
