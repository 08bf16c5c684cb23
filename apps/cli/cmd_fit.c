/* daedalus fit: parameters and initial values from measured data. */
#include "cli.h"

#include <errno.h>
#include <jansson.h>
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
    double *resumed; /* their values */
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

/* What the record belongs to. */
static char *head(const fitting *f)
{
    json_t *o = json_object(), *names = json_array(), *data = json_array();
    for (int j = 0; j < f->free.count; j++) {
        json_array_append_new(names,
                              json_pack("[s,f,f,f]", f->free.list[j].name,
                                        isnan(f->free.list[j].start) ? 0 : f->free.list[j].start,
                                        fmax(f->free.list[j].min, -1e308), fmin(f->free.list[j].max, 1e308)));
    }
    for (int k = 0; k < f->ndata; k++) {
        double sum = 0;
        for (int i = 0; i < f->data[k]->ntime * f->data[k]->ncolumn; i++) {
            double v = f->data[k]->value[i];
            sum += isnan(v) ? 0 : v * (1 + i % 97);
        }
        json_array_append_new(
            data, json_pack("[s,i,f]", f->data[k]->name, f->data[k]->ntime * f->data[k]->ncolumn, sum));
    }
    json_object_set_new(o, "fit", json_string(f->p->info ? f->p->info->name : ""));
    json_object_set_new(o, "hash", json_integer((json_int_t)(f->p->hash >> 1)));
    json_object_set_new(o, "free", names);
    json_object_set_new(o, "data", data);
    json_object_set_new(o, "loss", json_string(f->opt.loss));
    json_object_set_new(o, "starts", json_integer(f->opt.starts));
    json_object_set_new(o, "seed", json_integer((json_int_t)f->opt.seed));
    char *text = json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(17) | JSON_PRESERVE_ORDER);
    json_decref(o);
    return text;
}

/* The newest line of each start is where it goes on. */
static int take_lines(fitting *f, const char *text)
{
    f->resume = calloc((size_t)f->opt.starts, sizeof *f->resume);
    f->resumed = calloc((size_t)f->opt.starts * (size_t)f->free.count + 1, sizeof *f->resumed);
    if (!f->resume || !f->resumed) return cli_wrong(f->args, "out of memory");
    for (const char *line = strchr(text, '\n'); line && line[1]; line = strchr(line + 1, '\n')) {
        const char *end = strchr(line + 1, '\n');
        json_t *o = end ? json_loadb(line + 1, (size_t)(end - line - 1), 0, NULL) : NULL,
               *v = json_object_get(o, "value");
        int start = (int)json_integer_value(json_object_get(o, "start"));
        if (json_is_array(v) && (int)json_array_size(v) == f->free.count && start >= 0 &&
            start < f->opt.starts) {
            int k = 0;
            while (k < f->opt.nresume && f->resume[k].start != start) k++;
            if (k == f->opt.nresume) f->opt.nresume++;
            double *to = f->resumed + (size_t)k * (size_t)f->free.count;
            for (int j = 0; j < f->free.count; j++) to[j] = json_number_value(json_array_get(v, (size_t)j));
            f->resume[k] = (dae_fit_point){start, (int)json_integer_value(json_object_get(o, "iteration")),
                                           json_number_value(json_object_get(o, "damping")), to};
        }
        json_decref(o);
    }
    f->opt.resume = f->resume;
    if (f->opt.nresume && !f->args->json)
        fprintf(stderr, "goes on after iteration %d\n", f->resume[0].iteration);
    return 0;
}

static int open_log(fitting *f)
{
    const char *path = cli_value(f->args, "log");
    f->log.fd = -1;
    if (!path) return 0;
    int status = cli_records_open(f->args, path, &f->log);
    char *own = status ? NULL : head(f), *line = NULL;
    if (!status && !own) status = cli_wrong(f->args, "out of memory");
    if (!status && f->log.length == 0) {
        size_t n = strlen(own);
        line = malloc(n + 2);
        if (line) snprintf(line, n + 2, "%s\n", own);
        status =
            line ? cli_records_append(f->args, &f->log, line, n + 1) : cli_wrong(f->args, "out of memory");
    } else if (!status) {
        size_t n = strcspn(f->log.text, "\n");
        if (n != strlen(own) || strncmp(own, f->log.text, n) != 0)
            status = cli_wrong(f->args,
                               "--log %s is the record of another fit (problem, data, free parameters or "
                               "loss differ); name another file",
                               path);
        else status = take_lines(f, f->log.text);
    }
    free(own);
    free(line);
    return status;
}

static int progress(const dae_fit_progress *at, void *user)
{
    fitting *f = user;
    pthread_mutex_lock(&f->lock);
    if (f->log.fd >= 0) {
        json_t *v = json_array();
        for (int j = 0; j < at->count; j++) json_array_append_new(v, json_real(at->value[j]));
        json_t *o = json_pack("{s:i,s:i,s:f,s:f,s:o}", "start", at->start, "iteration", at->iteration, "cost",
                              isfinite(at->cost) ? at->cost : 1e308, "damping", at->damping, "value", v);
        char *text = o ? json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
        if (text) {
            size_t n = strlen(text);
            char *line = malloc(n + 2);
            if (line) {
                snprintf(line, n + 2, "%s\n", text);
                cli_records_append(f->args, &f->log, line, n + 1);
            }
            free(line);
        }
        free(text);
        json_decref(o);
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

/* One row per measured value: experiment, column, t, data, model, residual. */
static int write_residuals(const fitting *f, const dae_fit_result *r)
{
    const char *path = cli_value(f->args, "out");
    cli_draft d;
    if (!path) return 0;
    if (cli_draft_begin(f->args, &d, "--out", path)) return EXIT_USAGE;
    fprintf(d.file, "experiment,column,t,data,model,residual\n");
    for (int k = 0; k < f->ndata; k++) {
        const dae_fit_experiment *e = f->data[k];
        for (int i = 0; i < e->ncolumn * e->ntime; i++) {
            if (isnan(e->value[i])) continue;
            fprintf(d.file, "%d,\"%s\",%.17g,%.17g,%.17g,%.17g\n", k + 1, e->column[i / e->ntime],
                    e->t[i % e->ntime], e->value[i], r->model[k][i], r->residual[k][i]);
        }
    }
    return cli_draft_end(f->args, &d, 0);
}

static int answer(fitting *f, const dae_fit_result *r)
{
    picture x = {f, r};
    const char *plot = cli_value(f->args, "plot");
    int status = write_residuals(f, r);
    if (!status && plot) status = cli_plot(f->args, "--plot", plot, script, &x);
    if (status) return status;
    if (f->args->json) {
        char *text = dae_fit_json(r, f->free.list, f->p, (const dae_fit_experiment *const *)f->data);
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
    free(f->resumed);
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
    {"out", "FILE.csv", "file", "data, model and residuals"},
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
