/* daedalus fit: parameters and initial values from measured data. */
#include "cli.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { max_data = 64, max_settings = 32 };

typedef struct fitting {
    cli_args *args;
    dae_problem *p;
    cli_free free;
    dae_fit_experiment *data[max_data];
    int ndata;
    dae_fit_options opt;
    dae_fit_point *resume;
    cli_records log;
    pthread_mutex_t lock;
    int shown, lines;
} fitting;

/* ---- What is asked for ------------------------------------------------------------------------------------------ */

/* "FILE" or "FILE:T=300,u=2": the experiment and its own settings. */
static int read_data(fitting *f, const char *given)
{
    cli_args *args = f->args;
    dae_setting list[max_settings];
    int count = 0, status = 0;
    char *copy = strdup(given), *colon = copy ? strrchr(copy, ':') : NULL;
    dae_error err = {0};
    if (!copy) return cli_wrong(args, "out of memory");
    if (colon && !strchr(colon, '=')) colon = NULL;
    if (colon) *colon = 0;
    for (char *word = colon ? colon + 1 : NULL, *next; word && !status; word = next) {
        char *equal = strchr(word, '=');
        next = strchr(word, ',');
        if (next) *next++ = 0;
        if (!equal || count == max_settings)
            status = cli_wrong(args, "--data %s: expected FILE:NAME=VALUE,...", given);
        else *equal = 0, list[count++] = (dae_setting){word, equal + 1};
    }
    size_t length = 0;
    char *text = status ? NULL : cli_read_file(copy, &length);
    if (!status && !text) status = cli_wrong(args, "--data %s: %s", copy, strerror(errno));
    if (!status && f->ndata == max_data) status = cli_wrong(args, "--data: more than %d files", max_data);
    if (!status) {
        f->data[f->ndata] = dae_fit_read(f->p, text, length, copy, list, count, &err);
        if (f->data[f->ndata]) f->ndata++;
        else status = cli_wrong(args, "%s", err.text);
    }
    free(text);
    free(copy);
    return status;
}

static int read_options(fitting *f)
{
    cli_args *args = f->args;
    dae_fit_options *o = &f->opt;
    dae_options *a = &o->sensitivity.simulation.options;
    long starts = 1, seed = 1, jobs = sysconf(_SC_NPROCESSORS_ONLN), iterations = o->max_iterations,
         intervals = 1;
    if (cli_whole(args, "starts", 1, 128, &starts) || cli_whole(args, "seed", 0, 1l << 30, &seed) ||
        cli_whole(args, "jobs", 1, 256, &jobs) || cli_whole(args, "max-iterations", 1, 100000, &iterations) ||
        cli_whole(args, "intervals", 1, 1000, &intervals) ||
        cli_real(args, "tolerance", 1e-15, 1, &o->tolerance) ||
        cli_real(args, "level", 0.01, 0.9999, &o->level))
        return EXIT_USAGE;
    cli_tolerances_given(args, f->p, a);
    o->starts = (int)starts;
    o->seed = (unsigned long)seed;
    o->threads = (int)jobs;
    o->max_iterations = (int)iterations;
    o->intervals = (int)intervals;
    o->profile = cli_has(args, "profile");
    if (cli_value(args, "loss")) o->loss = cli_value(args, "loss");
    if (cli_value(args, "solver")) {
        if (cli_check_solver(args, cli_value(args, "solver"))) return EXIT_USAGE;
        a->method = cli_value(args, "solver");
    }
    if (cli_value(args, "formulation")) {
        if (cli_check_formulation(args, cli_value(args, "formulation"))) return EXIT_USAGE;
        a->formulation = cli_value(args, "formulation");
    }
    return 0;
}

/* ---- The record of iterations: a fit that was ended goes on ------------------------------------------------------- */

static dae_fit_record record_of(const fitting *f)
{
    return (dae_fit_record){.p = f->p,
                            .free = f->free.list,
                            .count = f->free.count,
                            .experiment = (const dae_fit_experiment *const *)f->data,
                            .nexperiment = f->ndata,
                            .opt = &f->opt};
}

static int append(fitting *f, dae_status got, cli_text *line)
{
    int status = got < 0 ? cli_wrong(f->args, "out of memory")
                         : cli_records_append(f->args, &f->log, line->text, line->length);
    free(line->text);
    return status;
}

static int open_log(fitting *f)
{
    const char *path = cli_value(f->args, "log");
    dae_fit_record r = record_of(f);
    dae_error err = {0};
    f->log.fd = -1;
    if (!path) return 0;
    int status = cli_records_open(f->args, path, &f->log);
    if (status) return status;
    if (f->log.length == 0) {
        cli_text line = {0};
        return append(f, dae_fit_record_head(&r, cli_write_text, &line), &line);
    }
    if (dae_fit_record_read(&r, f->log.text, &f->resume, &f->opt.nresume, &err) < 0)
        return cli_wrong(f->args, "--log %s is %s; name another file", path, err.text);
    f->opt.resume = f->resume;
    if (f->opt.nresume && !f->args->json)
        fprintf(stderr, "goes on after iteration %d\n", f->resume[0].iteration);
    return 0;
}

static int progress(const dae_fit_progress *at, void *user)
{
    fitting *f = user;
    pthread_mutex_lock(&f->lock);
    if (f->log.fd >= 0) {
        cli_text line = {0};
        append(f, dae_fit_record_line(at, cli_write_text, &line), &line);
    }
    if (f->shown) {
        fprintf(stderr, "\r%s%d of %d, iteration %d: cost %.6g, gradient %.1e   ",
                at->starts > 1 ? "start " : "fit ", at->start + 1, at->starts, at->iteration, at->cost,
                at->gradient);
        f->lines = 1;
    }
    pthread_mutex_unlock(&f->lock);
    return cli_interrupted();
}

/* ---- What comes out -------------------------------------------------------------------------------------------------- */

typedef struct picture {
    const fitting *f;
    const dae_fit_result *r;
} picture;

static dae_status script(const void *what, const char *terminal, dae_write_fn *write, void *user)
{
    const picture *x = what;
    return dae_fit_plot(x->r, x->f->p, (const dae_fit_experiment *const *)x->f->data, terminal, write, user);
}

static int answer(fitting *f, const dae_fit_result *r)
{
    picture x = {f, r};
    const char *plot = cli_value(f->args, "plot");
    const dae_fit_experiment *const *data = (const dae_fit_experiment *const *)f->data;
    int status = cli_value(f->args, "out") ? cli_tables_write(f->args, dae_fit_table(r, f->p, data)) : 0;
    if (!status && plot) status = cli_plot(f->args, "--plot", plot, script, &x);
    if (status) return status;
    if (f->args->json) {
        char *text = dae_fit_json(r, f->free.list, f->p, data);
        if (!text) return cli_wrong(f->args, "out of memory");
        puts(text);
        free(text);
    } else {
        dae_fit_text(r, f->free.list, f->p, cli_write_file, stdout);
    }
    if (r->status == DAE_CANCELLED) return cli_ended_by(EXIT_INTERRUPTED);
    return r->status < 0 ? EXIT_FAILED : EXIT_DONE;
}

static int work(fitting *f)
{
    cli_args *args = f->args;
    int status = cli_free_read(args, &f->free);
    if (!status && !cli_value(args, "data"))
        status = cli_wrong(args, "--data is missing: a table with a column t and measured columns");
    for (int k = 0; !status && cli_value_at(args, "data", k); k++)
        status = read_data(f, cli_value_at(args, "data", k));
    f->opt = dae_fit_options_default(f->p);
    if (!status) status = read_options(f);
    if (!status) status = cli_tables_check(args, 0);
    if (!status && cli_value(args, "plot")) status = cli_plot_check(args, "--plot", cli_value(args, "plot"));
    if (!status) status = open_log(f);
    if (status) return status;
    dae_error err = {0};
    f->shown = !args->json && !cli_has(args, "quiet") && isatty(2);
    f->opt.progress = progress;
    f->opt.user = f;
    f->opt.sensitivity.simulation.options.stop = cli_stop;
    cli_catch_signals();
    dae_fit_result *r = dae_fit(f->p, f->free.list, f->free.count, (const dae_fit_experiment *const *)f->data,
                                f->ndata, &f->opt, &err);
    if (f->lines) fprintf(stderr, "\n");
    if (!r) {
        status = cli_wrong(args, "%s", err.text);
        return err.status == DAE_ERR_INPUT || err.status == DAE_ERR_UNSUPPORTED ? status : EXIT_FAILED;
    }
    status = answer(f, r);
    dae_fit_destroy(r);
    return status;
}

static int run(cli_args *args)
{
    fitting *f = calloc(1, sizeof *f);
    if (!f) return cli_wrong(args, "out of memory");
    f->args = args;
    f->log.fd = -1;
    pthread_mutex_init(&f->lock, NULL);
    f->p = cli_open_problem(args);
    int status = f->p ? work(f) : args->status;
    if (f->log.fd >= 0) {
        int closed = cli_records_close(args, &f->log);
        status = status ? status : closed;
    }
    for (int k = 0; k < f->ndata; k++) dae_fit_experiment_destroy(f->data[k]);
    dae_problem_destroy(f->p);
    pthread_mutex_destroy(&f->lock);
    cli_free_drop(&f->free);
    free(f->resume);
    free(f);
    return status;
}

static const cli_option options[] = {
    {"data", "FILE[:NAME=VALUE,...]", "file",
     "measured values: a column t, columns named as components or sensors, sd(x) for standard "
     "deviations; several files are several experiments, each with its own settings"},
    {"free", "NAME[=START][[MIN..MAX]],...", NULL, "what may vary: parameters, or initial values as x(0)"},
    {"set", "NAME=VALUE", NULL, "a parameter that stays; can be given more than once"},
    CLI_START,
    {"loss", "L", "square|huber", "huber: outliers count linearly"},
    {"starts", "N", NULL, "starting points: the given one, others within the bounds (1)"},
    {"seed", "N", NULL, "of the other starting points (1)"},
    {"jobs", "N", NULL, "starts at the same time (the number of processors)"},
    {"intervals", "N", NULL, "multiple shooting: cut the time of each experiment so often (1)"},
    {"profile", NULL, NULL, "intervals of confidence from profiles of the likelihood too"},
    {"level", "P", NULL, "of confidence (0.95)"},
    {"max-iterations", "N", NULL, "per start (100)"},
    {"tolerance", "X", NULL, "relative change of parameters at which it ends (1e-8)"},
    {"solver", "S", "solvers", "integrator; default: auto"},
    {"formulation", "F", "formulations", "of a mechanism; default: auto"},
    CLI_TOLERANCES,
    {"log", "FILE", "file", "record of the iterations; a fit that was ended goes on from it"},
    {"out", "FILE", "file",
     "data, model and residuals: .csv, .json, .h5, .gp, .svg, .png or .pdf; - is standard output; can be "
     "given more than once"},
    {"plot", "FILE", "file", "picture of data, fit and residuals: .svg, .png, .pdf"},
    {"json", NULL, NULL, "one JSON object on standard output"},
    {"quiet", NULL, NULL, "no progress"},
    {NULL, NULL, NULL, NULL},
};
static const char *const examples[] = {
    "fit examples/fitting/enzyme.deq --data examples/fitting/enzyme.csv --free Vm,Km", "two parameters",
    "fit examples/fitting/lynx_hare.deq --data examples/fitting/lynx_hare.csv --free "
    "'a,b,c,d,hare(0)[0..100]' "
    "--loss huber --intervals 4",
    "an initial value too, outliers, multiple shooting", NULL};
const cli_command cli_fit = {"fit",
                             "parameters from measured data, with their certainty",
                             "PROBLEM|FILE",
                             "problems",
                             1,
                             1,
                             options,
                             examples,
                             "docs/fitting.md begins with data and ends with an interval of confidence.\n",
                             run};
