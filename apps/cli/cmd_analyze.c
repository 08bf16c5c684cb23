/* daedalus analyze: what a model does without integrating it. Equilibrium, small motions, kinematics, forces of drivers. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

enum { most_points = 1000000 };

/* FILE.csv, and FILE-modes-eigenvalues.csv where there are several tables. */
static int write_tables(const cli_args *args, const mbs_analysis *a, const char *path)
{
    const char *dot = strrchr(path, '.'), *kind, *name;
    dae_error err = {0};
    dae_table *second = mbs_analysis_table(a, 1, &kind, &name, &err), *t;
    int several = second != NULL, status = 0;
    dae_table_destroy(second);
    for (int k = 0; !status && (t = mbs_analysis_table(a, k, &kind, &name, &err)); k++) {
        char file[1024];
        if (several) snprintf(file, sizeof file, "%.*s-%s-%s%s", (int)(dot - path), path, kind, name, dot);
        else snprintf(file, sizeof file, "%s", path);
        dae_table_note(t, "problem", args->argument[0], 0);
        status = cli_table_write(args, file, t);
        dae_table_destroy(t);
        if (!status) fprintf(stderr, "wrote %s\n", file);
    }
    return err.status < 0 ? cli_wrong(args, "%s", err.text) : status;
}

static int show(cli_args *args, const mbs_analysis *a)
{
    const char *path;
    int csv = cli_value(args, "format") && !strcmp(cli_value(args, "format"), "csv"), status = 0;
    if ((args->json ? mbs_analysis_json(a, cli_write_file, stdout)
                    : mbs_analysis_text(a, csv, cli_write_file, stdout)) < 0)
        cli_starved(2);
    for (int k = 0; !status && (path = cli_value_at(args, "out", k)); k++)
        status = write_tables(args, a, path);
    return status;
}

/* Times of --at (to be freed), or --points. */
static int wanted(const cli_args *args, const dae_problem *p, double **t, mbs_analysis_options *o)
{
    long n = 0;
    if (cli_has(args, "at") && cli_has(args, "points"))
        return cli_wrong(args, "give either --at or --points");
    if (cli_whole(args, "points", 2, most_points, &n)) return EXIT_USAGE;
    if (cli_has(args, "at") && cli_times(args, p->t0, p->t_end, t, &o->count)) return EXIT_USAGE;
    o->time = *t;
    o->points = (int)n;
    return 0;
}

/* Words of the options; 0 or EXIT_USAGE after a message. */
static int check_words(const cli_args *args, mbs_analysis_options *o)
{
    const char *format = cli_value(args, "format"), *about = cli_value(args, "about");
    int i = 0;
    o->what = cli_value(args, "what");
    o->about_start = about && !strcmp(about, "start");
    o->about_turning = about && !strcmp(about, "turning");
    while (o->what && mbs_analysis_kind(i) && strcmp(mbs_analysis_kind(i), o->what) != 0) i++;
    if (o->what && !mbs_analysis_kind(i) && strcmp(o->what, "all") != 0) {
        char near[100];
        cli_nearest(o->what, mbs_analysis_kind, near, sizeof near);
        return cli_wrong(args, "--what %s: expected equilibrium, modes, kinematics, inverse or all%s%s%s",
                         o->what, near[0] ? "; did you mean " : "", near, near[0] ? "?" : "");
    }
    if (format && strcmp(format, "text") != 0 && strcmp(format, "csv") != 0)
        return cli_wrong(args, "--format %s: expected text or csv", format);
    if (about && strcmp(about, "equilibrium") != 0 && strcmp(about, "start") != 0 &&
        strcmp(about, "turning") != 0)
        return cli_wrong(args, "--about %s: expected equilibrium, start or turning", about);
    return 0;
}

static int exit_status(dae_status s)
{
    if (s == DAE_ERR_INPUT) return EXIT_USAGE;
    return s == DAE_ERR_INCONSISTENT ? EXIT_INCONSISTENT : EXIT_FAILED;
}

static int run(cli_args *args)
{
    mbs_analysis_options o = {0};
    double *time = NULL;
    dae_error err = {0};
    const char *mode = cli_progress_mode(args);
    if (!mode || check_words(args, &o) || cli_tables_check(args, 0)) return EXIT_USAGE;
    dae_problem *p = cli_open_problem(args);
    if (!p) return args->status;
    int status = wanted(args, p, &time, &o);
    cli_progress progress;
    mbs_watch watch = {cli_progress_search, &progress};
    cli_progress_start(&progress, mode, 0);
    o.watch = &watch;
    mbs_analysis *a = status ? NULL : mbs_analysis_create(p, &o, &err);
    cli_progress_end(&progress);
    if (a) status = show(args, a);
    else if (!status) {
        cli_wrong(args, "%s: %s", args->argument[0], err.text);
        status = exit_status(err.status);
    }
    mbs_analysis_destroy(a);
    free(time);
    dae_problem_destroy(p);
    return status;
}

static const cli_option options[] = {
    {"what", "W", "equilibrium|modes|kinematics|inverse|all",
     "equilibrium, modes, kinematics, inverse, or all that the model allows (default)"},
    {"at", "T1,T2,...", NULL, "at these times; equilibrium and modes: instead of the start"},
    {"points", "N", NULL, "kinematics and inverse: at N equidistant times (11)"},
    {"about", "STATE", "equilibrium|start|turning",
     "modes: about the equilibrium (default) or the start; turning: both where all turns as at the start"},
    {"set", "NAME=VALUE", NULL, "a parameter of the model; can be given more than once"},
    {"format", "F", "text|csv", "text (default) or csv, tables separated by empty lines"},
    {"out", "FILE", "file",
     "the tables too: .csv, .json, .h5, .gp, .svg, .png or .pdf; of several each gets its name behind a "
     "dash"},
    {"progress", "MODE", "auto|json|none",
     "of the search for an equilibrium; auto: a line on a terminal; json: objects on standard error; none"},
    {"json", NULL, NULL, "one JSON object on standard output"},
    {NULL, NULL, NULL, NULL},
};
static const char notes[] =
    "equilibrium  poses near the start in which all forces balance, reactions and forces of drivers there\n"
    "modes        eigenvalues of small motions, frequency in Hz, damping ratio -re/|eigenvalue|\n"
    "kinematics   poses, velocities, accelerations and sensors of a mechanism whose every freedom is driven\n"
    "inverse      forces and torques that its drivers need, and the reactions of the joints\n"
    "The equilibrium is searched downhill from the start; a start that balances stays, also where it is\n"
    "unstable. Where downhill leads nowhere the nearest balance is taken, stable or not.\n"
    "Currents of motors are those at rest. Text shows 0 for what is below 1e-9 of its table.\n"
    "Exit status 2: the analysis does not fit the model; 1: it found nothing; 3: a pose cannot be "
    "assembled.\n";
static const char *const examples[] = {"analyze models/pendulum.json",
                                       "where it comes to rest and how it swings there",
                                       "analyze models/web_cutter.json --what inverse --points 5",
                                       "torque of its motor",
                                       "analyze models/double_pendulum.json --what modes --json",
                                       "eigenvalues for a script",
                                       NULL};
const cli_command cli_analyze = {"analyze",
                                 "equilibrium, small motions, kinematics, forces of drivers",
                                 "MODEL.json",
                                 "file",
                                 1,
                                 1,
                                 options,
                                 examples,
                                 notes,
                                 run};
