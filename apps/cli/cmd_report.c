/* daedalus report: a page per problem or model, made of results that are stored, so that it can be made again without a
 * run. What is missing is computed first. */
#include "report.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { most_values = 300000, table_seconds = 20 };

typedef struct report {
    cli_args *args;
    const char *folder;
    int render_only, json;
} report;

void cli_page_path(const cli_page *p, const char *ending, char *path, size_t size)
{
    snprintf(path, size, "%s/data/%s.%s", p->folder, p->name, ending);
}

/* ---- Files ------------------------------------------------------------------------------------------- */

static int begin(const cli_page *p, const char *ending, cli_draft *d)
{
    char path[1100];
    cli_page_path(p, ending, path, sizeof path);
    return cli_draft_begin(p->args, d, "--out:", path);
}

static int write_about(const cli_page *p)
{
    cli_draft d;
    if (begin(p, "json", &d)) return EXIT_USAGE;
    int bad = json_dumpf(p->about, d.file, JSON_COMPACT | JSON_REAL_PRECISION(17)) != 0;
    fputc('\n', d.file);
    return cli_draft_end(p->args, &d, bad);
}

static char *read_part(const cli_page *p, const char *ending, size_t *length)
{
    char path[1100];
    cli_page_path(p, ending, path, sizeof path);
    return cli_read_file(path, length);
}

/* ---- The run ------------------------------------------------------------------------------------------- */

static void hash_text(const cli_page *p, char *out, size_t size)
{
    snprintf(out, size, "%016llx", p->study.problem->hash);
}

/* 1: the stored run is of this program and this model. */
static int run_is_current(const cli_page *p)
{
    char hash[24];
    const char *version = json_string_value(json_object_get(p->about, "version")),
               *kept = json_string_value(json_object_get(p->about, "hash"));
    hash_text(p, hash, sizeof hash);
    return version && kept && !strcmp(version, dae_version()) && !strcmp(kept, hash);
}

static int compute_run(cli_page *p)
{
    const dae_problem *q = p->study.problem;
    dae_run_options o = dae_run_options_default(q);
    dae_error err = {0};
    cli_text json = {0}, text = {0};
    cli_draft csv;
    char hash[24];
    o.trajectory = DAE_TRAJECTORY_STEPS;
    o.max_values = most_values;
    o.running = cli_running;
    o.repeat = 3;
    o.repeat_seconds = 2;
    dae_run_result *r = dae_run(q, &o, &err);
    if (!r) return cli_wrong(p->args, "%s: %s", p->name, err.text);
    int status = r->status == DAE_CANCELLED ? EXIT_INTERRUPTED : 0;
    if (!status) status = begin(p, "csv", &csv);
    if (!status) {
        int bad = dae_run_csv(r, cli_write_file, csv.file) < 0;
        status = cli_draft_end(p->args, &csv, bad);
    }
    dae_run_json(r, cli_write_text, &json);
    dae_run_report(r, 60, cli_write_text, &text);
    if (r->status < 0) dae_run_failure(r, "", cli_write_text, &text);
    hash_text(p, hash, sizeof hash);
    json_error_t where;
    json_t *run = json.text ? json_loadb(json.text, json.length, 0, &where) : NULL;
    json_decref(p->about);
    p->about = json_pack("{s:s,s:s,s:s,s:b,s:o,s:s}", "name", p->name, "version", dae_version(), "hash", hash,
                         "model", q->hash != 0, "run", run, "report", text.text ? text.text : "");
    if (!status && !p->about) status = cli_wrong(p->args, "out of memory");
    if (!status) status = write_about(p);
    free(json.text);
    free(text.text);
    dae_run_destroy(r);
    return status;
}

static int read_trajectory(cli_page *p)
{
    size_t length;
    dae_error err = {0};
    char path[1100];
    int n = dae_system_size(&p->study.problem->system);
    cli_page_path(p, "csv", path, sizeof path);
    char *text = cli_read_file(path, &length);
    if (!text)
        return cli_wrong(p->args, "%s: %s; without --render-only it is computed", path, strerror(errno));
    dae_table *t = dae_table_read(text, length, &err);
    free(text);
    if (!t) return cli_wrong(p->args, "%s: %s", path, err.text);
    int status = t->ncol >= n + 1
                     ? 0
                     : cli_wrong(p->args, "%s: %d columns instead of %d; remove it", path, t->ncol, n + 1);
    p->t = malloc((size_t)t->nrow * sizeof *p->t + 1);
    p->y = malloc((size_t)t->nrow * (size_t)n * sizeof *p->y + 1);
    if (!p->t || !p->y) status = cli_wrong(p->args, "out of memory");
    for (long i = 0; !status && i < t->nrow; i++) {
        p->t[i] = t->value[i];
        for (int k = 0; k < n; k++) p->y[i * n + k] = t->value[(k + 1) * t->nrow + i];
    }
    p->npoint = (int)t->nrow;
    dae_table_destroy(t);
    return status;
}

static int get_run(cli_page *p, int render_only)
{
    size_t length;
    json_error_t where;
    char path[1100];
    char *text = read_part(p, "json", &length);
    int there = text != NULL;
    if (text) p->about = json_loadb(text, length, 0, &where);
    free(text);
    cli_page_path(p, "csv", path, sizeof path);
    if (render_only && !p->about) {
        cli_page_path(p, "json", path, sizeof path);
        return cli_wrong(p->args, "%s: %s; without --render-only it is computed", path,
                         there ? "it is damaged" : "there is no stored run");
    }
    int status =
        !render_only && (!p->about || !run_is_current(p) || access(path, R_OK) != 0) ? compute_run(p) : 0;
    if (status) return status;
    const char *kept = json_string_value(json_object_get(p->about, "report"));
    p->report = kept ? strdup(kept) : NULL;
    return read_trajectory(p);
}

/* ---- Run characteristics ------------------------------------------------------------------------------- */

typedef struct keeper {
    cli_page *page;
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
static int get_rows(cli_page *p, int render_only)
{
    char path[1100];
    keeper k = {.page = p};
    cli_page_path(p, "table.jsonl", path, sizeof path);
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

/* "name" of a model file, which is the name of its page. */
static int name_of(cli_page *p, const char *argument)
{
    if (!dae_problem_is_file(argument)) {
        const dae_problem_info *info = dae_problem_find(argument);
        if (!info) return cli_open(p->args, argument) ? EXIT_USAGE : p->args->status; /* has told */
        snprintf(p->name, sizeof p->name, "%s", info->name);
        return 0;
    }
    size_t length = 0;
    char *text = cli_read_file(argument, &length);
    p->model = text ? json_loadb(text, length, 0, NULL) : NULL;
    free(text);
    const char *name = json_string_value(json_object_get(p->model, "name"));
    const char *base = strrchr(argument, '/') ? strrchr(argument, '/') + 1 : argument;
    dae_file_name(name ? name : base, p->name, sizeof p->name);
    return 0;
}

/* Kept, so that the page can be made again when the model is somewhere else. */
static int keep_model(const cli_page *p, const char *argument)
{
    char path[1100];
    size_t length;
    cli_draft d;
    cli_page_path(p, "model.json", path, sizeof path);
    char *text = strcmp(path, argument) ? cli_read_file(argument, &length) : NULL;
    int status = text ? begin(p, "model.json", &d) : 0;
    if (text && !status) {
        fwrite(text, 1, length, d.file);
        status = cli_draft_end(p->args, &d, 0);
    }
    free(text);
    return status;
}

static int get_study(cli_page *p, const char *argument, int render_only)
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
    else cli_page_path(p, "workprec.jsonl", path, sizeof path);
    int status = cli_study_run(s, render_only && access(path, R_OK) != 0 ? NULL : path, NULL);
    return status == EXIT_FAILED && s->problem ? 0 : status; /* without a reference: no diagram */
}

static void page_free(cli_page *p)
{
    cli_study_free(&p->study);
    json_decref(p->about);
    json_decref(p->model);
    free(p->report);
    free(p->t);
    free(p->y);
    free(p->row);
}

/* --json: one line per page. */
static void tell_page(const cli_page *p)
{
    char path[1100];
    snprintf(path, sizeof path, "%s/%s.html", p->folder, p->name);
    json_t *o =
        json_pack("{s:s, s:s, s:O?}", "name", p->name, "page", path, "run", json_object_get(p->about, "run"));
    json_dumpf(o, stdout, JSON_COMPACT | JSON_REAL_PRECISION(17));
    putchar('\n');
    json_decref(o);
}

static int make_page(const char *argument, void *user)
{
    const report *r = user;
    cli_page p = {.args = r->args, .folder = r->folder};
    p.args->json = 0;
    int status = name_of(&p, argument);
    if (!status) status = get_study(&p, argument, r->render_only);
    if (!status && p.study.problem->hash && !r->render_only) status = keep_model(&p, argument);
    if (!status) status = get_run(&p, r->render_only);
    if (!status) status = get_rows(&p, r->render_only);
    if (!status) status = cli_page_write(&p);
    if (!status) status = write_about(&p);
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
        size_t n = strlen(e->d_name);
        if (n < 12 || strcmp(e->d_name + n - 11, ".model.json") != 0) continue;
        snprintf(path, sizeof path, "%s/%s", data, e->d_name);
        (*list)[count++] = strdup(path);
    }
    if (folder) closedir(folder);
    return count;
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
    bad = cli_page_index(args, r->folder);
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
    "pages/hires.html and pages/index.html", "report hires --render-only --out pages",
    "the same page from what is stored", NULL};
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
