/* daedalus run: integrates a problem, reports, writes files. */
#include "cli.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { report_components = 40 }; /* lines of the solution in the report, unless --full */
enum { max_events = 64 };
enum { max_parameters = 256, max_integrals = 64 }; /* of --sens, --integral */

/* All that a run needs and that has to be given back. */
typedef struct job {
    cli_args *args;
    dae_problem *problem;
    dae_run_options options;
    dae_setting *setting, *extended; /* --opt; and --project */
    double *at;                      /* --at */
    dae_switching *switching;        /* --event */
    dae_events watched;              /* with --event-points or --event-residual */
    dae_event *event;
    const char *by[max_parameters]; /* --sens */
    const char *integral[max_integrals];
    char *by_text;
    void *resume;
    cli_draft dump;  /* --dump */
    cli_draft steps; /* --steps */
    cli_progress progress;
    dae_reference *reference; /* from the cache, or NULL */
    dae_run_result *result;
    dae_table *table;   /* of --out, when one was made */
    dae_balance energy; /* of a model; result->energy points here */
    char kept[1024];
} job;

/* ---- Options --------------------------------------------------------------------------------------- */

/* Options of the command line that are lines of the library's own table. */
static const char *const same[][2] = {{"solver", "method"},
                                      {"h0", "h0"},
                                      {"hmax", "h_max"},
                                      {"max-steps", "max_steps"},
                                      {"max-seconds", "max_seconds"},
                                      {"jacobian", "jacobian"},
                                      {"linear-algebra", "linear_algebra"},
                                      {"preconditioner", "preconditioner"},
                                      {"preconditioner-band", "preconditioner_band"},
                                      {"krylov-vectors", "krylov_vectors"},
                                      {"threads", "threads"}};

static int set_options(job *j)
{
    dae_options *o = &j->options.options;
    o->own = cli_own();
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        const char *value = cli_value(j->args, same[i][0]);
        dae_error err = {0};
        if (value && dae_options_set(o, same[i][1], value, &err) < 0)
            return cli_wrong(j->args, "--%s %s: %s", same[i][0], value, err.text);
    }
    if (cli_has(j->args, "profile")) o->profile = 1;
    const char *end = cli_value(j->args, "end");
    if (end && strcmp(end, "stop") != 0 && strcmp(end, "pass") != 0)
        return cli_wrong(j->args, "--end %s: expected pass or stop", end);
    o->stop_at_end = end && !strcmp(end, "stop");
    const char *solver = cli_value(j->args, "solver");
    if (solver && strcmp(solver, "auto") != 0 && cli_check_solver(j->args, solver)) return EXIT_USAGE;
    int status = cli_settings(j->args, "opt", &j->setting, &o->nsetting);
    o->setting = j->setting;
    return status;
}

/* --project is an option of the formulation. */
static int set_projection(job *j)
{
    dae_options *o = &j->options.options;
    if (!cli_has(j->args, "project")) return 0;
    j->extended = malloc(((size_t)o->nsetting + 1) * sizeof *j->extended);
    if (!j->extended) return cli_wrong(j->args, "out of memory");
    if (o->nsetting) memcpy(j->extended, o->setting, (size_t)o->nsetting * sizeof *j->extended);
    j->extended[o->nsetting++] = (dae_setting){"formulation.project", "1"};
    o->setting = j->extended;
    return 0;
}

static int set_formulation(job *j)
{
    const char *f = cli_value(j->args, "formulation");
    if (!f) return 0;
    for (const dae_parameter *q = j->problem->info->parameter; q && q->name; q++) {
        if (!strcmp(q->name, "formulation")) return 0; /* the problem has taken it */
    }
    if (strcmp(f, "auto") != 0 && cli_check_formulation(j->args, f)) return EXIT_USAGE;
    j->options.options.formulation = f;
    return 0;
}

static int set_at(job *j)
{
    dae_run_options *o = &j->options;
    int status = cli_times(j->args, j->problem->t0, o->t_end, &j->at, &o->nat);
    o->at = j->at;
    return status;
}

/* The number of points with a given distance. */
static long every_points(const job *j, double every)
{
    double n = 1 + floor((j->options.t_end - j->problem->t0) / every + 0.5);
    return n < 2 ? 2 : n > 1e6 ? 1000000 : (long)n;
}

static int set_output(job *j)
{
    dae_run_options *o = &j->options;
    const char *out = cli_value(j->args, "out"), *plot = cli_value(j->args, "plot"),
               *dump = cli_value(j->args, "dump");
    long points = 0, per_step = 0, repeat = 1;
    if (cli_whole(j->args, "points", 2, 10000000, &points) ||
        cli_whole(j->args, "per-step", 1, 1000000, &per_step) ||
        cli_real(j->args, "max-gap", DBL_MIN, DBL_MAX, &o->interval) ||
        cli_whole(j->args, "repeat", 1, 1000000, &repeat))
        return EXIT_USAGE;
    if ((points > 0) + (per_step > 0) + (o->interval > 0) > 1)
        return cli_wrong(j->args, "--points, --per-step and --max-gap exclude each other");
    if (cli_has(j->args, "components") && !out)
        return cli_wrong(j->args, "--components chooses columns of --out FILE");
    const char *animate = cli_value(j->args, "animate");
    if (animate && !mbs_problem_mechanism(j->problem))
        return cli_wrong(j->args, "--animate: only model files have something to show");
    double every = j->problem->every;
    if (every > 0 && !points && !per_step && !(o->interval > 0) && (out || plot || animate))
        points = every_points(j, every);
    if (out || plot || animate || j->problem->derived.energy)
        o->trajectory = points            ? DAE_TRAJECTORY_EQUIDISTANT
                        : o->interval > 0 ? DAE_TRAJECTORY_MAX_INTERVAL
                                          : DAE_TRAJECTORY_STEPS;
    if (points || per_step) o->points = (int)(points ? points : per_step);
    o->repeat = (int)repeat;
    o->checkpoint = cli_has(j->args, "checkpoint");
    if (o->checkpoint && cli_checkpoint_check(j->args, cli_value(j->args, "checkpoint"), o->options.method))
        return EXIT_USAGE;
    if (plot && cli_plot_check(j->args, "--plot", plot)) return EXIT_USAGE;
    for (int k = 0; (out = cli_value_at(j->args, "out", k)); k++) {
        if (!strcmp(out, "-") && j->args->json)
            return cli_wrong(j->args, "--out - and --json both want standard output");
        if (cli_table_check(j->args, out)) return EXIT_USAGE;
    }
    if (dump && !strcmp(dump, "-"))
        return cli_wrong(j->args, "--dump -: expected the name of a file; what is in it is not text");
    if (dump) {
        if (cli_draft_begin(j->args, &j->dump, "--dump", dump)) return EXIT_USAGE;
        o->solution = cli_write_file;
        o->solution_user = j->dump.file;
    }
    return 0;
}

static void on_log(dae_log_level level, const char *text, void *user)
{
    static const char *const name[] = {"none", "error", "warn", "info", "step", "iter"};
    (void)user;
    fprintf(stderr, "%s %s\n", name[level], text);
}

static int set_log(job *j)
{
    static const char *const name[] = {"none", "error", "warn", "info", "step", "iter"};
    const char *level = cli_value(j->args, "log");
    if (level && !strcmp(level, "time")) { /* the time monitor: a line at the end */
        j->options.options.profile = 1;
        level = "info";
    }
    for (int i = 0; level && i < 6; i++) {
        if (strcmp(level, name[i]) != 0) continue;
        j->options.options.log = on_log;
        j->options.options.log_level = (dae_log_level)i;
        return 0;
    }
    return level ? cli_wrong(j->args, "--log %s: expected none, error, warn, info, time, step or iter", level)
                 : 0;
}

/* --steps: a line for every accepted step, as it is taken. */
static int on_step(const dae_integrator *it, double t, double t_end, void *user)
{
    job *j = user;
    double t_old = dae_integrator_previous_time(it);
    if (t != t_old)
        fprintf(j->steps.file, "%.17g,%.9g,%d\n", t, fabs(t - t_old), dae_integrator_stats(it)->order_last);
    return j->progress.enabled ? cli_progress_step(it, t, t_end, &j->progress) : 0;
}

static int set_steps(job *j)
{
    const char *path = cli_value(j->args, "steps"),
               *unit = j->problem->time_unit ? j->problem->time_unit : "";
    if (!path) return 0;
    if (j->options.repeat > 1) return cli_wrong(j->args, "--steps and --repeat exclude each other");
    if (cli_draft_begin(j->args, &j->steps, "--steps", path)) return EXIT_USAGE;
    fprintf(j->steps.file, "t,h,order\n# %s,%s,\n", unit, unit);
    j->options.progress = on_step;
    j->options.progress_user = j;
    return 0;
}

static int set_progress(job *j)
{
    const char *mode = cli_progress_mode(j->args);
    if (!mode) return EXIT_USAGE;
    cli_progress_start(&j->progress, mode, j->problem->t0);
    if (j->progress.enabled) {
        j->options.progress = cli_progress_step;
        j->options.progress_user = &j->progress;
    }
    return set_steps(j);
}

/* The functions of --event, after those of the problem that change its state; without --event all of the problem. */
static int name_events(job *j)
{
    const char *given[max_events];
    int count = 0;
    for (const char *v; (v = cli_value_at(j->args, "event", count)); count++) {
        if (count == max_events) return cli_wrong(j->args, "--event: at most %d of them", max_events);
        given[count] = v;
    }
    if (!count) return 0;
    if (!dae_problem_switches(j->problem)) j->options.events = NULL;
    if (count == 1 && !strcmp(given[0], "none")) return 0;
    dae_error err = {0};
    j->switching =
        dae_switching_create(j->problem, j->options.options.atol, given, count, j->options.events, &err);
    if (!j->switching) return cli_wrong(j->args, "--event: %s", err.text);
    j->options.events = dae_switching_events(j->switching);
    return 0;
}

/* --event-points, --event-residual: n_c and phi_res of [MEXX] section 4.2. */
static int set_events(job *j)
{
    long points = -1;
    double residual = -1;
    if (name_events(j)) return EXIT_USAGE;
    if (cli_whole(j->args, "event-points", 0, 10000, &points) ||
        cli_real(j->args, "event-residual", 0, DBL_MAX, &residual))
        return EXIT_USAGE;
    if (points < 0 && residual < 0) return 0;
    const dae_events *given = j->options.events;
    if (!given || !given->count)
        return cli_wrong(j->args, "--event-points and --event-residual: nothing is watched; give --event");
    j->event = malloc((size_t)given->count * sizeof *j->event);
    if (!j->event) return cli_wrong(j->args, "out of memory");
    memcpy(j->event, given->event, (size_t)given->count * sizeof *j->event);
    j->watched = *given;
    j->watched.event = j->event;
    if (points >= 0) j->watched.check_points = (int)points;
    for (int i = 0; i < given->count && residual >= 0; i++) j->event[i].residual = residual;
    j->options.events = &j->watched;
    return 0;
}

/* --sens a,b,...: the names. */
static int set_sensitivity(job *j)
{
    if (cli_split(j->args, "sens", j->by, max_parameters, &j->options.nsensitivity, &j->by_text))
        return EXIT_USAGE;
    if (j->options.nsensitivity) j->options.sensitivity = j->by;
    return 0;
}

static int set_integrals(job *j)
{
    int count = 0;
    for (; cli_value_at(j->args, "integral", count); count++) {
        if (count == max_integrals) return cli_wrong(j->args, "more than %d integrals", max_integrals);
        j->integral[count] = cli_value_at(j->args, "integral", count);
    }
    j->options.integral = j->integral;
    j->options.nintegral = count;
    return 0;
}

static int prepare(job *j)
{
    const char *resume = cli_value(j->args, "resume"), *tend = cli_value(j->args, "tend");
    const void *bytes = NULL;
    size_t size = 0;
    if (resume && cli_checkpoint_read(j->args, resume, &j->resume, &bytes, &size)) return EXIT_USAGE;
    j->problem = cli_open_problem(j->args);
    if (!j->problem) return j->args->status;
    if (cli_reference_use(j->args, j->problem, &j->reference)) return EXIT_USAGE;
    j->options = dae_run_options_default(j->problem);
    j->options.resume = bytes;
    j->options.resume_size = size;
    if (cli_has(j->args, "change-tolerances")) {
        if (!resume) return cli_wrong(j->args, "--change-tolerances goes with --resume");
        j->options.resume_changes = "rtol,atol";
    }
    j->options.running = cli_running;
    j->options.options.stop = cli_stop; /* the second run of --sens and --integral too */
    if (resume && cli_has(j->args, "repeat"))
        return cli_wrong(j->args, "--repeat and --resume exclude each other");
    if (tend && cli_number(j->args, "tend", tend, &j->options.t_end)) return EXIT_USAGE;
    if (j->options.t_end == j->problem->t0 && tend)
        return cli_wrong(j->args, "--tend %s: the interval would be empty, the run starts there", tend);
    if (j->options.t_end == j->problem->t0)
        return cli_wrong(j->args, "--t0 %s: the interval would be empty, the run ends there",
                         cli_value(j->args, "t0"));
    if (set_options(j) || set_projection(j) || set_formulation(j) || set_at(j) || set_events(j) ||
        set_log(j) || set_output(j) || set_sensitivity(j) || set_integrals(j))
        return EXIT_USAGE;
    return set_progress(j);
}

/* ---- Results --------------------------------------------------------------------------------------- */

static int exit_status(dae_status s)
{
    switch (s) {
    case DAE_CANCELLED: return EXIT_INTERRUPTED;
    case DAE_ERR_INPUT:
    case DAE_ERR_UNSUPPORTED:
    case DAE_ERR_FILE: return EXIT_USAGE;
    case DAE_ERR_INCONSISTENT: return EXIT_INCONSISTENT;
    case DAE_ERR_MAX_STEPS:
    case DAE_ERR_MAX_SECONDS: return EXIT_LIMIT;
    default: return s < 0 ? EXIT_FAILED : EXIT_DONE;
    }
}

static dae_status script(const void *result, const char *terminal, dae_write_fn *write, void *user)
{
    return dae_run_plot(result, terminal, write, user);
}

static void note_kept(job *j, const char *path)
{
    size_t used = strlen(j->kept);
    snprintf(j->kept + used, sizeof j->kept - used, "%s%s", used ? ", " : "", path);
}

/* The trajectory, or the columns of --components of it. */
static int write_out(job *j, const char *out)
{
    dae_error err = {0};
    if (!j->table) { /* one for all files */
        j->table =
            dae_run_table_of(j->result, cli_value(j->args, "components"), cli_has(j->args, "drift"), &err);
        if (j->table) dae_table_note(j->table, "problem", j->args->argument[0], 0);
    }
    if (!j->table)
        return err.status == DAE_ERR_INPUT ? cli_wrong(j->args, "--out %s: --components %s", out, err.text)
                                           : cli_wrong(j->args, "--out %s: %s", out, err.text);
    return cli_table_write(j->args, out, j->table);
}

/* Files; what was computed is kept also when the run failed. */
static int write_files(job *j)
{
    const char *out, *plot = cli_value(j->args, "plot"), *checkpoint = cli_value(j->args, "checkpoint"),
                     *animate = cli_value(j->args, "animate");
    int status = 0;
    for (int k = 0; (out = cli_value_at(j->args, "out", k)); k++) {
        if (write_out(j, out)) status = EXIT_USAGE;
        else note_kept(j, out);
    }
    if (j->dump.file) {
        if (cli_draft_end(j->args, &j->dump, 0)) status = EXIT_USAGE;
        else note_kept(j, cli_value(j->args, "dump"));
    }
    if (plot && (j->result->npoint > 1 || j->result->status >= 0)) {
        if (cli_plot(j->args, "--plot", plot, script, j->result)) status = EXIT_USAGE;
        else note_kept(j, plot);
    }
    if (animate && j->result->npoint > 0) {
        cli_draft page;
        int bad = cli_draft_begin(j->args, &page, "--animate", animate);
        if (!bad) {
            const char *dot = strrchr(animate, '.'), *viewer = cli_value(j->args, "viewer");
            const dae_run_result *r = j->result;
            mbs_track motion = {r->npoint, r->point_t, r->point_y, r->event, r->nevent, r->event_name};
            mbs_show show = dot && !strcmp(dot, ".json")         ? MBS_SHOW_SCENE
                            : viewer && !strcmp(viewer, "small") ? MBS_SHOW_SMALL
                                                                 : MBS_SHOW_PAGE;
            dae_status s = mbs_write_motion(j->problem, &motion, show, cli_write_file, page.file);
            bad = cli_draft_end(j->args, &page, s < 0);
        }
        if (bad) status = EXIT_USAGE;
        else note_kept(j, animate);
    }
    if (j->steps.file) {
        if (cli_draft_end(j->args, &j->steps, ferror(j->steps.file))) status = EXIT_USAGE;
        else note_kept(j, cli_value(j->args, "steps"));
    }
    if (checkpoint && j->result->started) {
        if (cli_checkpoint_write(j->args, j->result, checkpoint)) status = EXIT_USAGE;
        else note_kept(j, checkpoint);
    }
    return status;
}

/* Structure and balance of energy of a mechanism. */
static void report_mechanism(const job *j)
{
    const dae_balance *b = j->result->energy;
    mbs_topology top = mbs_mechanism_topology(mbs_problem_mechanism(j->problem));
    printf("\n   mechanism   %d bod%s, %d joint%s, %d loop%s, %d degree%s of freedom", top.bodies,
           top.bodies == 1 ? "y" : "ies", top.joints, top.joints == 1 ? "" : "s", top.loops,
           top.loops == 1 ? "" : "s", top.freedom, top.freedom == 1 ? "" : "s");
    printf("\n");
    if (top.redundant) {
        printf("   redundant  ");
        for (int i = 0, row; i < top.redundant; i++) {
            const char *name = mbs_mechanism_redundant(mbs_problem_mechanism(j->problem), i, &row);
            printf("%s row %d of %s", i ? "," : "", row + 1, name);
        }
        printf(": left out; reactions are those of least norm\n");
    }
    for (int i = 0; j->problem->warning && j->problem->warning[i]; i++)
        printf("   warning     %s\n", j->problem->warning[i]);
    for (int i = 0; j->problem->note && j->problem->note[i]; i++)
        printf("   note        %s\n", j->problem->note[i]);
    if (b)
        printf("   energy      %.6g -> %.6g J, work %.6g J, balance off by at most %.1e J\n", b->start,
               b->end, b->work, b->largest);
    if (b && b->allowed > 0 && b->largest > b->allowed)
        printf("   warning     the balance of energy is off by more than the tolerances explain (%.1e J), "
               "most of it near "
               "t = %.6g%s%s%s: check what acts there, or take smaller tolerances\n",
               b->allowed, b->t, b->element[0] ? ", where the work of \"" : "", b->element,
               b->element[0] ? "\" does not fit" : "");
}

/* One line per component. */
static void list_sensitivity(const dae_run_result *r, const double *values, int most)
{
    char name[200];
    for (int i = 0; i < r->n && i < most; i++) {
        for (int k = 0; k < r->nsensitivity; k++)
            printf("   %-20s %.12g\n", dae_run_sensitivity_name(r, k, i, name, sizeof name),
                   values[i + k * r->n]);
    }
}

/* Those of sensors and reactions. */
static void list_derived(const dae_run_result *r, int most)
{
    int count = r->derived_s_end ? r->problem->derived.ncolumn : 0;
    char name[200];
    for (int i = 0; i < count && i < most; i++) {
        for (int k = 0; k < r->nsensitivity; k++)
            printf("   %-20s %.12g\n", dae_run_sensitivity_name(r, k, r->n + i, name, sizeof name),
                   r->derived_s_end[i + k * count]);
    }
}

/* Derivatives at the end. */
static void report_sensitivity(const dae_run_result *r, int most)
{
    printf("\n   derivatives at t = %.10g\n", r->last.t);
    list_sensitivity(r, r->sensitivity_end, most);
    list_derived(r, most);
    if (r->sensitivity_total) {
        printf("   those of the event that ended the run, and of the state there, which moves with it\n");
        for (int k = 0; k < r->nsensitivity; k++)
            printf("   dt/d%-16s %.12g\n", r->sensitivity[k],
                   r->event_s[(r->nevent - 1) * r->nsensitivity + k]);
        list_sensitivity(r, r->sensitivity_total, most);
    }
    int columns = r->derived_s_end ? r->problem->derived.ncolumn : 0;
    if (r->n > most || columns > most)
        printf("   (the first %d of %d components%s; --full for all)\n", r->n > most ? most : r->n, r->n,
               columns > most ? ", and of sensors and reactions" : "");
}

static void report_integrals(const dae_run_result *r)
{
    printf("\n   integrals from t = %.10g to %.10g (error of the formula)\n", r->t0, r->last.t);
    for (int k = 0; k < r->nintegral; k++) {
        printf("   %-20s %.12g (%.1e)\n", r->integral[k], r->integral_end[k], r->integral_error[k]);
        for (int j = 0; j < r->nsensitivity && r->integral_s; j++)
            printf("     d/d%-15s %.12g\n", r->sensitivity[j], r->integral_s[k + r->nintegral * j]);
    }
}

static int finish(job *j)
{
    const dae_run_result *r = j->result;
    int quiet = cli_has(j->args, "quiet"), status = exit_status(r->status);
    if (status == EXIT_USAGE) return cli_wrong(j->args, "%s: %s", r->name, r->error.text);
    j->args->json =
        0; /* files that cannot be written are told on standard error: the answer is still the run's */
    int files = write_files(j);
    int to_csv = cli_value(j->args, "out") && !strcmp(cli_value(j->args, "out"), "-");
    if (cli_has(j->args, "json")) {
        cli_wrote(dae_run_json(r, cli_write_file, stdout));
    } else if (!quiet && !to_csv && (r->status >= 0 || r->stats.accepted > 0)) {
        cli_wrote(
            dae_run_report(r, cli_has(j->args, "full") ? 0 : report_components, cli_write_file, stdout));
        if (cli_has(j->args, "explain"))
            printf("\n%s",
                   r->evidence[0] ? r->evidence : "nothing was left open: method and form were named\n");
        if (r->sensitivity_end) report_sensitivity(r, cli_has(j->args, "full") ? r->n : report_components);
        if (r->integral_end) report_integrals(r);
        if (mbs_problem_mechanism(j->problem)) report_mechanism(j);
        fflush(stdout);
    }
    if (r->status < 0 || r->status == DAE_CANCELLED) {
        dae_run_failure(r, j->kept, cli_write_file, stderr);
    } else if (j->kept[0] && !quiet) {
        if (r->npoint > 0) fprintf(stderr, "wrote %s (%d points)\n", j->kept, r->npoint);
        else fprintf(stderr, "wrote %s\n", j->kept);
    }
    if (!status && cli_interrupted()) status = EXIT_INTERRUPTED; /* while its time was measured once more */
    return status ? status : files;
}

/* --along: [RNY] section 3.1, at 1000 times between the start and the end. */
static dae_status write_path(const job *j, const dae_path *path, const dae_path_error *e, const char *file,
                             FILE *out, dae_error *err)
{
    static const char *const head[] = {"component", "largest", "t", "relative", "mean"}, *const unit[] = {
                                                                                             "", "", "", "%",
                                                                                             ""};
    int n = dae_system_size(&j->problem->system);
    dae_table *t = dae_table_create(5, n);
    if (!t) return DAE_ERR_MEMORY;
    for (int k = 0; k < 5; k++) dae_table_column(t, k, head[k], unit[k]);
    for (int i = 0; i < n; i++) {
        char buffer[24];
        const double value[] = {e[i].largest, e[i].t, e[i].relative, e[i].mean};
        dae_table_set_text(t, i, 0, dae_component_name(j->problem, i, buffer, sizeof buffer));
        for (int k = 0; k < 4; k++) dae_table_set(t, i, k + 1, value[k]);
    }
    dae_table_note(t, "path", dae_path_source(path), 0);
    dae_table_format format = dae_table_format_of(file);
    dae_status s = dae_table_write(t, format ? format : DAE_TABLE_CSV, cli_write_file, out, err);
    dae_table_destroy(t);
    return s;
}

static int show_path(job *j)
{
    const char *file = cli_value(j->args, "along");
    int n = dae_system_size(&j->problem->system), status = 0;
    dae_error err = {0};
    dae_run_options o = j->options;
    double scd = NAN, mescd = NAN;
    dae_path *path = dae_path_create(j->problem, o.t_end, 0, &err);
    dae_path_error *e = calloc((size_t)n + 1, sizeof *e);
    dae_run_result *r = NULL;
    if (path && e) {
        o.progress = NULL;
        o.solution = NULL;
        o.checkpoint = 0;
        o.repeat = 1;
        dae_path_ask(path, &o);
        r = dae_run(j->problem, &o, &err);
    }
    if (!r || dae_path_compare(path, r, e, &scd, &mescd) < 0)
        status =
            cli_wrong(j->args, "--along %s: %s", file, err.text[0] ? err.text : "the run cannot be compared");
    cli_draft d;
    if (!status) status = cli_draft_begin(j->args, &d, "--along", file);
    if (!status) status = cli_draft_end(j->args, &d, write_path(j, path, e, file, d.file, &err) < 0);
    if (!status && !j->args->json && !cli_has(j->args, "quiet"))
        printf("\nalong the trajectory (against %s): scd %.2f, mescd %.2f; per component in %s\n",
               dae_path_source(path), scd, mescd, file);
    dae_run_destroy(r);
    free(e);
    dae_path_destroy(path);
    return status;
}

static int run(cli_args *args)
{
    job j = {.args = args};
    int status = prepare(&j);
    if (!status) {
        dae_error err = {0};
        cli_catch_signals();
        j.result = dae_run(j.problem, &j.options, &err);
        cli_progress_end(&j.progress);
        status = j.result ? finish(&j) : cli_wrong(args, "%s", err.text);
        if (!status && cli_has(args, "along")) status = show_path(&j);
    }
    cli_draft_drop(&j.dump);
    dae_table_destroy(j.table);
    dae_run_destroy(j.result);
    dae_problem_destroy(j.problem);
    dae_reference_destroy(j.reference);
    free(j.setting);
    free(j.extended);
    cli_draft_drop(&j.steps);
    free(j.event);
    free(j.at);
    free(j.by_text);
    free(j.resume);
    dae_switching_destroy(j.switching);
    return status;
}

static const cli_option options[] = {
    {"solver", "S", "solvers", "the integrator; auto (default) picks one and says why"},
    {"formulation", "F", "formulations", "form in which a mechanical system is integrated"},
    {"project", NULL, NULL, "project every accepted point onto the position and velocity constraints"},
    CLI_TOLERANCES,
    {"h0", "H", NULL, "first step; 0: the method chooses"},
    {"hmax", "H", NULL, "largest step"},
    {"end", "MODE", "pass|stop",
     "multistep methods may pass the end and interpolate (default), or must stop at it"},
    {"tend", "T", NULL, "another end of the interval (there is no score then)"},
    {"set", "NAME=VALUE", NULL, "a parameter of the problem; can be given more than once"},
    {"compile", "FILE.c", "file", "equation files: write them as C, compile that with cc and run it"},
    CLI_START,
    {"index", "K", "1|2|3", "state the problem with this index, where it can be"},
    {"opt", "NAME=VALUE", NULL,
     "an option of the solver or the formulation (`daedalus info NAME` lists them)"},
    {"at", "T1,T2,...", NULL, "times at which the solution is wanted too"},
    {"sens", "P,Q,...", NULL,
     "differentiate the solution, sensors and reactions by these parameters and initial values (NAME(0)): "
     "columns dx/dp in --out, \"sensitivity\" (components) and \"derived_sensitivity\" in --json, bands of 5 "
     "% "
     "of each in --plot; t is held fixed, also at an event that ends the run, where \"sensitivity_total\" "
     "moves "
     "with it"},
    {"integral", "EXPR", NULL,
     "integrate it along the run: of components, sensors, t and parameters; its derivatives too with --sens; "
     "a "
     "column in --out, \"integral\" in --json; can be given more than once"},
    {"event", "SPEC", NULL,
     "tell when NAME or NAME=VALUE happens, NAME a component, a sensor or signal (spring.force), the "
     "derivative NAME' of a component, "
     "or p1, v1, a1, ...; with "
     ":stop end there, "
     "with :rising or :falling only then; can be given more than once; none: not those of the problem "
     "either"},
    {"event-points", "N", NULL,
     "points inside each step at which changes of sign are looked for, besides its ends"},
    {"event-residual", "R", NULL,
     "values within R of zero have no sign; default 1e-6, or atol where that is less"},
    {"out", "FILE", "file",
     "write the trajectory with names and units: .csv (also other endings), .json, .h5, .gp, .svg, .png or "
     ".pdf; - is "
     "standard output; can be given more than once"},
    {"plot", "FILE", "file", "draw it with gnuplot: .svg, .png or .pdf"},
    {"points", "N", NULL,
     "N equidistant points in --out and --plot instead of every step and 3 points between"},
    {"per-step", "N", NULL, "every step and N - 1 points between instead (4)"},
    {"max-gap", "DT", NULL, "every step, and points between so that they are DT apart at most"},
    {"components", "A,B,...", NULL, "only these columns in --out FILE"},
    {"drift", NULL, NULL,
     "also columns of the energies and of the residuals of the constraints in --out FILE, where there are "
     "any"},
    {"steps", "FILE", "file", "write time, size and order of every accepted step (CSV)"},
    {"along", "FILE", "file",
     "errors along the trajectory against a tight run, for each component: largest, where, relative, mean "
     "(CSV, JSON, HDF5)"},
    {"dump", "FILE", "file", "write the continuous solution, for `daedalus sample`"},
    {"json", NULL, NULL, "one JSON object on standard output"},
    {"full", NULL, NULL, "all components in the report, however many"},
    {"quiet", NULL, NULL, "no report, no progress; failures are still told"},
    CLI_PROGRESS,
    {"animate", "FILE", "file",
     "model files: a page that shows the motion (HTML, nothing else needed); FILE.json: its data only"},
    {"viewer", "MODE", "auto|small",
     "of --animate; auto: solids in 3D where the program has them (make viewer), small: the small page"},
    {"reference", "MODE", "auto|none",
     "auto: score by the problem's reference or the cached one; none: no score"},
    {"repeat", "N", NULL,
     "CPU time of N runs, largest and smallest dropped, median (short runs: of N batches)"},
    {"max-steps", "N", NULL, "limit on step attempts; 0: none"},
    {"max-seconds", "S", NULL, "limit on CPU time; 0: none"},
    {"jacobian", "MODE", "auto|difference", "auto: analytic where the problem has one; difference: never"},
    {"linear-algebra", "MODE", "auto|dense|banded|sparse|krylov",
     "storage of Jacobians and factors; krylov: GMRES without factors"},
    {"preconditioner", "MODE", "auto|none|band|ilu", "of GMRES; auto: by the pattern of the Jacobian"},
    {"preconditioner-band", "N", NULL, "diagonals on each side of --preconditioner band"},
    {"krylov-vectors", "N", NULL, "vectors that GMRES keeps (10)"},
    {"explain", NULL, NULL,
     "with --solver auto: what was measured, which rule held and why the others do not"},
    {"threads", "N", NULL, "threads, for solvers that can use them"},
    {"profile", NULL, NULL, "measure the time in the equations and in linear algebra"},
    {"log", "LEVEL", "none|error|warn|info|time|step|iter",
     "what happens, on standard error; time: and where the time went; step: every step; iter: every row or "
     "iteration"},
    {"checkpoint", "FILE", "file", "keep the state at the end, also of a failed or interrupted run"},
    {"resume", "FILE", "file", "go on from a checkpoint; its options are taken over"},
    {"change-tolerances", NULL, NULL,
     "with --resume: --rtol and --atol may be others; the method starts afresh there"},
    CLI_PLUGIN,
    {NULL, NULL, NULL, NULL},
};
static const char notes[] = "The report has the layout of the test set's: digits are -log10 of the error at "
                            "the end; scd counts relative\n"
                            "errors, mescd errors relative to atol/rtol + |y|. Ctrl-C ends the run after the "
                            "present step, keeps what was\n"
                            "computed and exits with 130.\n";
static const char *const examples[] = {"run andrews",
                                       "the seven-body mechanism, with a report",
                                       "run andrews --plot andrews.svg --out andrews.csv",
                                       "and a picture and the numbers",
                                       "run hires --out hires.h5",
                                       "an HDF5 file with units and settings",
                                       "run hires --solver radau5 --rtol 1e-8 --json",
                                       "for programs",
                                       "run vdpol-mu --set mu=10 --tend 20 --at 5,10,20",
                                       "another parameter, chosen times",
                                       "run rober --max-steps 20 --checkpoint r.ckpt",
                                       "stop at a limit ...",
                                       "run rober --resume r.ckpt",
                                       "... and go on from there",
                                       NULL};
const cli_command cli_run = {"run",
                             "integrate a problem: report, plot, CSV, HDF5, JSON",
                             "PROBLEM|MODEL.json",
                             "problems",
                             1,
                             1,
                             options,
                             examples,
                             notes,
                             run};
