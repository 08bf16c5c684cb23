/* daedalus report: a page per problem or model, made of results that are stored, so that it can be made again without a
 * run. What is missing is computed first. */
#include "workprec.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { most_values = 300000, table_seconds = 20, max_parameters = 64 };

typedef struct report {
    cli_args *args;
    const char *folder;
    int render_only, json;
} report;

typedef struct page {
    cli_args *args;
    const char *folder; /* pages; what they are made of is in folder/data */
    char name[64];      /* of the problem or model */
    cli_study study;    /* with the problem; its measurements may be none */
    char *run, *layout; /* the run as `run --json` writes it, and in the layout of the test set */
    char *model;        /* the model file, or NULL */
    double *t, *y;      /* trajectory: npoint, and n each */
    double *s;          /* derivatives: n for each name and point; or NULL */
    int npoint;
    char *names;                    /* of --sens, taken apart in place; or NULL */
    const char *by[max_parameters]; /* --sens */
    int nby;
    dae_result_row *row; /* run characteristics beside those printed */
    int nrow;
} page;

/* folder/data/NAME.ending */
static void path_of(const page *p, const char *ending, char *path, size_t size)
{
    snprintf(path, size, "%s/data/%s.%s", p->folder, p->name, ending);
}

/* ---- Files ------------------------------------------------------------------------------------------- */

static int begin(const page *p, const char *ending, cli_draft *d)
{
    char path[1100];
    path_of(p, ending, path, sizeof path);
    return cli_draft_begin(p->args, d, "--out:", path);
}

/* Draws data/NAME.what and reads it back; what is wrong is told. */
static dae_status draw(const char *what, dae_script_fn *script, const void *data, dae_write_fn *write,
                       void *to, void *user)
{
    const page *p = user;
    char path[1100];
    size_t length;
    path_of(p, what, path, sizeof path);
    if (cli_plot(p->args, "--plot", path, script, data)) return DAE_ERR_FILE;
    char *svg = cli_read_file(path, &length);
    dae_status s = !svg ? DAE_ERR_FILE : write(svg, length, to) < 0 ? DAE_ERR_MEMORY : DAE_OK;
    if (!svg) cli_wrong(p->args, "%s: %s", path, strerror(errno));
    free(svg);
    return s;
}

/* All that the page is made of. */
static dae_report report_of(const page *p)
{
    const cli_study *s = &p->study;
    return (dae_report){.name = p->name,
                        .problem = s->problem,
                        .run = p->run,
                        .layout = p->layout,
                        .model = p->model,
                        .t = p->t,
                        .y = p->y,
                        .s = p->s,
                        .npoint = p->npoint,
                        .m = s->m,
                        .count = s->count,
                        .mescd = s->mescd,
                        .most_lines = s->most_lines,
                        .settings = s->settings,
                        .row = p->row,
                        .nrow = p->nrow,
                        .own = cli_own(),
                        .draw = draw,
                        .user = (void *)p};
}

/* failed: -1: the page is not finished. */
static int write_about(const page *p, int failed)
{
    cli_draft d;
    dae_report r = report_of(p);
    if (begin(p, "json", &d)) return EXIT_USAGE;
    return cli_draft_end(p->args, &d, dae_report_about(&r, failed, cli_write_file, d.file) < 0);
}

static int write_page(const page *p)
{
    char path[1100];
    int failed = 0;
    cli_draft d;
    dae_report r = report_of(p);
    snprintf(path, sizeof path, "%s/%s.html", p->folder, p->name);
    if (cli_draft_begin(p->args, &d, NULL, path)) return EXIT_USAGE;
    dae_status s = dae_report_page(&r, cli_write_file, d.file, &failed);
    if (s < 0) {
        cli_draft_drop(&d);
        if (s == DAE_ERR_MEMORY) cli_wrong(p->args, "out of memory");
        return EXIT_USAGE;
    }
    int status = cli_draft_end(p->args, &d, 0);
    return status ? status : write_about(p, failed);
}

static char *read_part(const page *p, const char *ending, size_t *length)
{
    char path[1100];
    path_of(p, ending, path, sizeof path);
    return cli_read_file(path, length);
}

/* ---- The run ------------------------------------------------------------------------------------------- */

/* 1: the kept run was differentiated by the names that are asked for. */
static int has_derivatives(const page *p)
{
    json_t *run = json_loads(p->run, 0, NULL), *kept = json_object_get(run, "sensitivity");
    int same = json_object_size(kept) == (size_t)p->nby;
    for (int k = 0; k < p->nby; k++) same = same && json_object_get(kept, p->by[k]);
    json_decref(run);
    return same;
}

/* The kept run of this program and this model; 0: there is none. *damaged: what is there cannot be read. */
static int take_run(page *p, int any_version, int *damaged)
{
    size_t length;
    char *text = read_part(p, "json", &length);
    int good = dae_report_kept(text, length, p->study.problem, any_version, &p->run, &p->layout, damaged);
    if (good && !any_version && !(p->run && has_derivatives(p))) {
        free(p->run);
        free(p->layout);
        p->run = p->layout = NULL;
        good = 0;
    }
    free(text);
    return good;
}

static int compute_run(page *p)
{
    const dae_problem *q = p->study.problem;
    dae_run_options o = dae_run_options_default(q);
    dae_error err = {0};
    cli_text json = {0}, text = {0};
    cli_draft csv;
    o.trajectory = DAE_TRAJECTORY_STEPS;
    o.max_values = most_values;
    o.running = cli_running;
    o.repeat = 3;
    o.repeat_seconds = 2;
    o.sensitivity = p->by;
    o.nsensitivity = p->nby;
    dae_run_result *r = dae_run(q, &o, &err);
    if (!r) return cli_wrong(p->args, "%s: %s", p->name, err.text);
    int status = r->status == DAE_CANCELLED ? EXIT_INTERRUPTED : 0;
    if (p->nby && r->status == DAE_ERR_INPUT)
        status = cli_wrong(p->args, "%s: --sens: %s", p->name, r->error.text);
    if (!status) status = begin(p, "csv", &csv);
    if (!status) {
        int bad = dae_run_csv(r, cli_write_file, csv.file) < 0;
        status = cli_draft_end(p->args, &csv, bad);
    }
    cli_wrote(dae_run_json(r, cli_write_text, &json));
    cli_wrote(dae_run_report(r, 60, cli_write_text, &text));
    if (r->status < 0) dae_run_failure(r, "", cli_write_text, &text);
    p->run = json.text;
    p->layout = text.text;
    if (!status && (!json.text || !text.text)) status = cli_wrong(p->args, "out of memory");
    if (!status) status = write_about(p, -1);
    dae_run_destroy(r);
    return status;
}

/* Names that the run was differentiated by. */
static int count_names(const page *p)
{
    json_t *run = p->run ? json_loads(p->run, 0, NULL) : NULL;
    int count = (int)json_object_size(json_object_get(run, "sensitivity"));
    json_decref(run);
    return count;
}

static int read_trajectory(page *p)
{
    size_t length;
    dae_error err = {0};
    char path[1100];
    int n = dae_system_size(&p->study.problem->system);
    path_of(p, "csv", path, sizeof path);
    char *text = cli_read_file(path, &length);
    if (!text)
        return cli_wrong(p->args, "%s: %s; without --render-only it is computed", path, strerror(errno));
    dae_table *t = dae_table_read(text, length, &err);
    free(text);
    if (!t) return cli_wrong(p->args, "%s: %s", path, err.text);
    int first = 1 + n + p->study.problem->derived.ncolumn, ns = count_names(p);
    if (t->ncol < first + ns * n) ns = 0;
    int status = t->ncol >= n + 1
                     ? 0
                     : cli_wrong(p->args, "%s: %d columns instead of %d; remove it", path, t->ncol, n + 1);
    p->t = malloc((size_t)t->nrow * sizeof *p->t + 1);
    p->y = malloc((size_t)t->nrow * (size_t)n * sizeof *p->y + 1);
    p->s = ns ? malloc((size_t)t->nrow * (size_t)(n * ns) * sizeof *p->s + 1) : NULL;
    if (!p->t || !p->y || (ns && !p->s)) status = cli_wrong(p->args, "out of memory");
    for (long i = 0; !status && i < t->nrow; i++) {
        p->t[i] = t->value[i];
        for (int k = 0; k < n; k++) p->y[i * n + k] = t->value[(k + 1) * t->nrow + i];
        for (int k = 0; k < ns * n; k++) p->s[i * ns * n + k] = t->value[(first + k) * t->nrow + i];
    }
    p->npoint = (int)t->nrow;
    dae_table_destroy(t);
    return status;
}

static int get_run(page *p, int render_only)
{
    char path[1100];
    int damaged = 0, there = take_run(p, render_only, &damaged), status = 0;
    if (render_only && !there) {
        path_of(p, "json", path, sizeof path);
        return cli_wrong(p->args, "%s: %s; without --render-only it is computed", path,
                         damaged ? "it is damaged" : "there is no stored run");
    }
    path_of(p, "csv", path, sizeof path);
    if (!render_only && there && access(path, R_OK) != 0) {
        free(p->run);
        free(p->layout);
        p->run = p->layout = NULL;
        there = 0;
    }
    if (!there) status = compute_run(p);
    return status ? status : read_trajectory(p);
}

/* ---- Run characteristics ------------------------------------------------------------------------------- */

typedef struct keeper {
    const page *page;
    cli_records records;
} keeper;

static int keep_row(const dae_result_row *row, void *user)
{
    keeper *k = user;
    cli_text line = {0};
    int bad = dae_result_json(row, cli_write_text, &line) < 0 || cli_write_text("\n", 1, &line) < 0 ||
              cli_records_append(k->page->args, &k->records, line.text, line.length);
    free(line.text);
    return bad ? -1 : 0;
}

/* Rows that the file has are taken from there; the others run. */
static int get_rows(page *p, int render_only)
{
    char path[1100];
    keeper k = {.page = p};
    path_of(p, "table.jsonl", path, sizeof path);
    p->nrow = p->study.problem->hash ? 0 : dae_results_plan(p->name, DAE_RESULTS_PUBLISHED, NULL, &p->row);
    if (p->nrow < 0) return cli_wrong(p->args, "out of memory");
    if (p->nrow == 0 || (render_only && access(path, R_OK) != 0)) {
        p->nrow = 0;
        return 0;
    }
    if (cli_records_open(p->args, path, &k.records)) return EXIT_USAGE;
    int *order = calloc((size_t)p->nrow, sizeof *order), todo = 0;
    char *found = calloc((size_t)p->nrow, 1);
    int status = order && found ? 0 : cli_wrong(p->args, "out of memory");
    for (const char *c = k.records.text; !status && *c;) {
        size_t n = strcspn(c, "\n");
        dae_measurement m;
        int is_row = dae_measurement_parse(c, n, &m, NULL) >= 0;
        for (int i = 0; is_row && i < p->nrow; i++) found[i] |= (char)dae_result_take(&p->row[i], &m);
        c += n + (c[n] == '\n');
    }
    for (int i = 0; !status && i < p->nrow; i++) {
        if (!found[i]) order[todo++] = i;
    }
    if (!status && todo > 0 && !render_only) {
        cli_jobs jobs = {.jobs = 1, .max_seconds = table_seconds, .repeat = 1, .done = keep_row, .user = &k};
        status = cli_jobs_run(p->args, p->row, order, todo, &jobs);
    } else if (todo > 0) { /* only those that are there */
        int count = 0;
        for (int i = 0; i < p->nrow; i++) {
            if (found[i]) p->row[count++] = p->row[i];
        }
        p->nrow = count;
    }
    free(order);
    free(found);
    int closed = cli_records_close(p->args, &k.records);
    return status ? status : closed;
}

/* ---- One page ------------------------------------------------------------------------------------------ */

/* What is kept of a model ends so: its text, and what it is. */
static const char *kept_ending(const char *path)
{
    size_t n = strlen(path);
    return n > 4 && !strcmp(path + n - 4, ".deq") ? "model.deq" : "model.json";
}

/* Where ".model.json" or ".model.deq" begins; NULL: path is no kept model. */
static const char *kept_part(const char *path)
{
    size_t n = strlen(path), m = strlen(kept_ending(path)) + 1;
    return n > m && path[n - m] == '.' && !strcmp(path + n - m + 1, kept_ending(path)) ? path + n - m : NULL;
}

/* "name" of a model file, which is the name of its page. */
static int name_of(page *p, const char *argument)
{
    if (!dae_problem_is_file(argument)) {
        const dae_problem_info *info = dae_problem_find(argument);
        if (!info) return cli_open(p->args, argument) ? EXIT_USAGE : p->args->status; /* has told */
        snprintf(p->name, sizeof p->name, "%s", info->name);
        return 0;
    }
    size_t length = 0;
    p->model = cli_read_file(argument, &length);
    json_t *model = p->model ? json_loadb(p->model, length, 0, NULL) : NULL;
    const char *name = json_string_value(json_object_get(model, "name"));
    const char *base = strrchr(argument, '/') ? strrchr(argument, '/') + 1 : argument;
    dae_file_name(name ? name : base, p->name, sizeof p->name);
    if (!name && kept_part(p->name)) p->name[kept_part(p->name) - p->name] = 0;
    json_decref(model);
    return 0;
}

/* Kept, so that the page can be made again when the model is somewhere else. */
static int keep_model(const page *p, const char *argument)
{
    char path[1100];
    size_t length;
    cli_draft d;
    path_of(p, kept_ending(argument), path, sizeof path);
    char *text = strcmp(path, argument) ? cli_read_file(argument, &length) : NULL;
    int status = text ? begin(p, kept_ending(argument), &d) : 0;
    if (text && !status) {
        fwrite(text, 1, length, d.file);
        status = cli_draft_end(p->args, &d, 0);
    }
    free(text);
    return status;
}

static int get_study(page *p, const char *argument, int render_only)
{
    char path[1100];
    const char *records = cli_value(p->args, "records");
    cli_study *s = &p->study;
    *s = (cli_study){.args = p->args,
                     .name = argument,
                     .reps = 5,
                     .max_seconds = 1.5,
                     .budget = 4,
                     .range = "::0.5",
                     .quiet = 1,
                     .records_only = render_only};
    if (records) snprintf(path, sizeof path, "%s/%s.jsonl", records, p->name);
    else path_of(p, "workprec.jsonl", path, sizeof path);
    int status = cli_study_run(s, render_only && access(path, R_OK) != 0 ? NULL : path, NULL);
    return status == EXIT_FAILED && s->problem ? 0 : status; /* without a reference: no diagram */
}

static void page_free(page *p)
{
    cli_study_free(&p->study);
    free(p->run);
    free(p->layout);
    free(p->model);
    free(p->t);
    free(p->y);
    free(p->s);
    free(p->names);
    free(p->row);
}

/* --json: one line per page. */
static void tell_page(const page *p)
{
    char path[1100];
    snprintf(path, sizeof path, "%s/%s.html", p->folder, p->name);
    dae_report r = report_of(p);
    cli_wrote(dae_report_json(&r, path, cli_write_file, stdout));
}

static int make_page(const char *argument, void *user)
{
    const report *r = user;
    page p = {.args = r->args, .folder = r->folder};
    p.args->json = 0;
    int status = cli_split(p.args, "sens", p.by, max_parameters, &p.nby, &p.names);
    if (!status) status = name_of(&p, argument);
    if (!status) status = get_study(&p, argument, r->render_only);
    if (!status && p.study.problem->hash && !r->render_only) status = keep_model(&p, argument);
    if (!status) status = get_run(&p, r->render_only);
    if (!status) status = get_rows(&p, r->render_only);
    if (!status) status = write_page(&p);
    if (!status && r->json) tell_page(&p);
    page_free(&p);
    return status;
}

/* ---- All ----------------------------------------------------------------------------------------------- */

/* Every problem, and the models that data holds; with --render-only those problems that have a stored run. */
static int find_all(const report *r, char ***list)
{
    char data[1024], path[1300];
    int count = 0;
    snprintf(data, sizeof data, "%s/data", r->folder);
    *list = calloc((size_t)dae_problem_count() + 512, sizeof **list);
    for (int i = 0; *list && cli_problem_name(i); i++) {
        snprintf(path, sizeof path, "%s/%s.json", data, cli_problem_name(i));
        if (!r->render_only || access(path, R_OK) == 0) (*list)[count++] = strdup(cli_problem_name(i));
    }
    DIR *folder = *list ? opendir(data) : NULL;
    for (const struct dirent *e; folder && (e = readdir(folder)) && count < dae_problem_count() + 500;) {
        if (!kept_part(e->d_name)) continue;
        snprintf(path, sizeof path, "%s/%s", data, e->d_name);
        (*list)[count++] = strdup(path);
    }
    if (folder) closedir(folder);
    return count;
}

enum { most_pages = 1024 };

/* folder/index.html, of all pages that data knows. */
static int write_index(const cli_args *args, const char *folder)
{
    char path[1100], **about = calloc(most_pages, sizeof *about);
    int count = 0;
    cli_draft d;
    snprintf(path, sizeof path, "%s/data", folder);
    DIR *data = opendir(path);
    int status = data && about ? 0 : cli_wrong(args, "%s: %s", path, strerror(errno));
    for (const struct dirent *e; !status && (e = readdir(data)) && count < most_pages;) {
        size_t n = strlen(e->d_name), length;
        if (n < 6 || strcmp(e->d_name + n - 5, ".json") != 0 || kept_part(e->d_name)) continue;
        snprintf(path, sizeof path, "%.500s/data/%.255s", folder, e->d_name);
        if ((about[count] = cli_read_file(path, &length))) count++;
    }
    if (data) closedir(data);
    snprintf(path, sizeof path, "%s/index.html", folder);
    if (!status) status = cli_draft_begin(args, &d, NULL, path);
    if (!status) {
        dae_status s = dae_report_index((const char *const *)about, count, cli_write_file, d.file);
        status = cli_draft_end(args, &d, s < 0);
    }
    for (int i = 0; i < count; i++) free(about[i]);
    free(about);
    return status;
}

static int make_pages(report *r)
{
    char data[1024], probe[1100];
    char **all = NULL;
    long jobs = 1;
    cli_args *args = r->args;
    snprintf(data, sizeof data, "%s/data", r->folder);
    int bad = r->render_only ? (access(data, R_OK) ? errno : 0) : cli_make_folder(data);
    if (bad)
        return cli_wrong(args, "--out %s: %s%s", r->folder, strerror(bad),
                         r->render_only ? "; --render-only needs results that are stored there" : "");
    snprintf(probe, sizeof probe, "%s/.probe.svg", data);
    if (cli_whole(args, "jobs", 1, 64, &jobs) || cli_plot_check(args, "--plot", probe)) return EXIT_USAGE;
    remove(probe);
    int count = args->count;
    if (!count) count = find_all(r, &all);
    int status = cli_each(args, count && all ? (const char *const *)all : args->argument, count, (int)jobs, 0,
                          make_page, r);
    for (int i = 0; all && i < count; i++) free(all[i]);
    free(all);
    if (status == EXIT_INTERRUPTED) {
        fprintf(stderr, "interrupted; what was computed is kept in %s\n", data);
        return status;
    }
    bad = write_index(args, r->folder);
    if (!bad) fprintf(stderr, "wrote %s/index.html\n", r->folder);
    return status ? status : bad;
}

static int run(cli_args *args)
{
    report r = {args, cli_value(args, "out"), cli_has(args, "render-only"), args->json};
    if (!cli_progress_mode(args)) return EXIT_USAGE;
    if (!r.folder) r.folder = "report";
    cli_catch_signals();
    if (!args->count && !cli_has(args, "all"))
        return cli_wrong(args, "PROBLEM is missing; usage: daedalus report PROBLEM|MODEL.json...|--all");
    if (args->count && cli_has(args, "all"))
        return cli_wrong(args, "--all and %s: give one of them", args->argument[0]);
    for (int i = 0; i < args->count; i++) { /* before anything runs */
        dae_problem *p = cli_open(args, args->argument[i]);
        if (!p) return args->status;
        dae_problem_destroy(p);
    }
    return make_pages(&r);
}

static const cli_option options[] = {
    {"out", "DIR", "file", "the folder of the pages (report); results are kept in DIR/data"},
    {"all", NULL, NULL, "every problem, and the models that DIR holds"},
    {"render-only", NULL, NULL, "make the pages of stored results, run nothing"},
    {"solvers", "A,B,...", "solvers", "of the work-precision diagram, as in workprec; all (default)"},
    {"range", "FROM:TO:STEP", NULL, "its tolerances; default: those of the test set by steps of 1/2"},
    {"repeat", "N", NULL, "measurements of CPU time per run (5)"},
    {"max-seconds", "S", NULL, "limit on the CPU time of a run of the diagram (1.5)"},
    {"budget", "S", NULL, "CPU seconds per solver of the diagram (4)"},
    {"lines", "N", NULL, "solvers in the diagram, as in workprec (12)"},
    {"records", "DIR", "file",
     "take the runs of the diagram from (and add to) DIR/NAME.jsonl, as workprec --all --out DIR"},
    {"sens", "P,Q,...", NULL,
     "differentiate the solution by these parameters and initial values (NAME(0)): a table of the end and a "
     "picture "
     "with bands"},
    {"set", "NAME=VALUE", NULL, "a parameter of the problem; can be given more than once"},
    CLI_START,
    CLI_RATIOS,
    {"jobs", "N", NULL, "pages at a time (1)"},
    {"json", NULL, NULL, "one JSON object per page on standard output: name, page, run (as run --json)"},
    {"quiet", NULL, NULL, "no progress"},
    CLI_PROGRESS,
    {NULL, NULL, NULL, NULL},
};
static const char notes[] = "A page has the description with equations, the solution, the run "
                            "characteristics beside those of the test set\n"
                            "report, the work-precision diagram with the time per digits, and the runs that "
                            "failed; that of a mechanism also\n"
                            "bodies, joints, energies and constraint residuals. It needs nothing but itself: "
                            "no network, no scripts. What was\n"
                            "computed is not computed again; --render-only computes nothing at all.\n";
static const char *const examples[] = {
    "report hires --solvers radau5,vode --range 5:8:1 --repeat 1 --out pages",
    "pages/hires.html and pages/index.html",
    "report hires --render-only --out pages",
    "the same page from what is stored",
    "report hires --solvers radau5 --range 5:6:1 --repeat 1 --sens k1,k2 --out pages",
    "with the derivatives of the solution by k1 and k2",
    NULL};
const cli_command cli_report = {"report",
                                "a self-contained HTML page per problem or model",
                                "[PROBLEM|MODEL.json...|--all]",
                                "problems",
                                0,
                                64,
                                options,
                                examples,
                                notes,
                                run};
