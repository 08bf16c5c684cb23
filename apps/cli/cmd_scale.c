/* daedalus scale: how the CPU time grows with the size of a problem, per solver and linear algebra. */
#include "workprec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { max_sizes = 64, max_modes = 5, max_lines = 64 };

typedef struct line {
    char label[96];
    const char *mode;
    double size[max_sizes], cost[max_sizes], per_step[max_sizes];
    long n[max_sizes], steps[max_sizes];
    char message[256]; /* of the first run that failed */
    int count, failed;
    dae_growth fit, step; /* of the time, and of the time of a step */
} line;

typedef struct scale {
    cli_args *args;
    char parameter[64]; /* "N" */
    const char *values; /* "8,16,32" */
    int given;          /* which of args->given has them */
    char mode[max_modes][16];
    int nmode;
    line *line;
    int nline;
    const char *title;
} scale;

/* ---- What is asked for ------------------------------------------------------------------------------- */

/* The --set that has a list of values. */
static int find_sizes(scale *s)
{
    cli_args *args = s->args;
    s->given = -1;
    for (int i = 0; i < args->ngiven; i++) {
        const char *v = args->given[i].value, *equal = v ? strchr(v, '=') : NULL;
        if (strcmp(args->given[i].option->name, "set") != 0 || !equal || !strchr(equal, ',')) continue;
        if (s->given >= 0)
            return cli_wrong(args, "--set %s: only one parameter can have a list of values", v);
        if ((size_t)(equal - v) >= sizeof s->parameter)
            return cli_wrong(args, "--set %s: the name is too long", v);
        memcpy(s->parameter, v, (size_t)(equal - v));
        s->values = equal + 1;
        s->given = i;
    }
    if (s->given < 0) return cli_wrong(args, "the sizes are missing; expected --set NAME=8,16,32,...");
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
        strcpy(s->mode[s->nmode++], known[k]);
        list += n;
        if (!*list) return 0;
    }
}

/* ---- Runs -------------------------------------------------------------------------------------------- */

static line *find_line(scale *s, const char *solver, const char *mode)
{
    char label[96];
    snprintf(label, sizeof label, s->nmode > 1 ? "%s, %s" : "%s", solver, mode);
    for (int j = 0; j < s->nline; j++) {
        if (!strcmp(s->line[j].label, label)) return &s->line[j];
    }
    if (s->nline == max_lines) return NULL;
    line *l = &s->line[s->nline++];
    memcpy(l->label, label, sizeof label);
    l->mode = mode;
    return l;
}

static void take(scale *s, const cli_study *study, const char *mode, double size)
{
    for (int i = 0; i < study->count; i++) {
        const dae_measurement *m = &study->m[i];
        line *l = find_line(s, m->solver, mode);
        if (!l || l->count == max_sizes) continue;
        int k = l->count++, good = m->status == DAE_OK;
        l->size[k] = size;
        l->n[k] = dae_system_size(&study->problem->system);
        l->steps[k] = m->steps;
        l->cost[k] = good ? m->cpu_seconds : NAN;
        l->per_step[k] = good && m->steps > 0 ? m->cpu_seconds / (double)m->steps : NAN;
        if (!good && !l->failed++)
            snprintf(l->message, sizeof l->message, "%.200s (at %g)", m->message, size);
    }
}

static int run_sizes(scale *s)
{
    cli_args *args = s->args;
    const char *given = args->given[s->given].value, *out = cli_records_path(args), *v;
    int status = 0, mode_at = -1;
    if (cli_add(args, "linear-algebra", "auto")) return EXIT_USAGE;
    mode_at = args->ngiven - 1;
    for (v = s->values; !status;) {
        size_t n = strcspn(v, ",");
        char set[160], *end;
        double size = strtod(v, &end);
        if (n == 0 || end != v + n || !(size > 0)) {
            status = cli_wrong(args, "--set %s: expected positive numbers with commas between", given);
            break;
        }
        snprintf(set, sizeof set, "%s=%.*s", s->parameter, (int)n, v);
        args->given[s->given].value = set;
        for (int k = 0; k < s->nmode && !status; k++) {
            args->given[mode_at].value = s->mode[k];
            cli_study study = {.args = args,
                               .name = args->argument[0],
                               .unscored = 1,
                               .reps = 3,
                               .max_seconds = 30,
                               .quiet = args->json};
            dae_problem *p = cli_open(args, study.name);
            if (!p) {
                status = args->status;
                break;
            }
            study.rtol = p->rtol;
            study.atol = p->atol;
            dae_problem_destroy(p);
            int json = args->json;
            args->json = 0;
            status = cli_study_run(&study, out, NULL);
            args->json = json;
            if (!status) take(s, &study, s->mode[k], size);
            if (study.problem && !s->title)
                s->title = dae_problem_find(study.name) ? dae_problem_find(study.name)->title : "";
            cli_study_free(&study);
        }
        v += n;
        if (!*v) break;
        v++;
    }
    args->given[s->given].value = given;
    return status;
}

/* ---- What is shown ----------------------------------------------------------------------------------- */

static void print_table(const scale *s)
{
    int width = 12, sizes = 0;
    for (int j = 0; j < s->nline; j++) {
        if ((int)strlen(s->line[j].label) > width) width = (int)strlen(s->line[j].label);
        if (s->line[j].count > s->line[sizes].count) sizes = j;
    }
    const line *most = &s->line[sizes];
    printf("%s: CPU seconds against %s, and the exponent of their growth\n\n%-*s", s->args->argument[0],
           s->parameter, width, s->parameter);
    for (int k = 0; k < most->count; k++) printf(" %9g", most->size[k]);
    printf("   exponent       last   per step\n%-*s", width, "equations");
    for (int k = 0; k < most->count; k++) printf(" %9ld", most->n[k]);
    putchar('\n');
    for (int j = 0; j < s->nline; j++) {
        const line *l = &s->line[j];
        printf("%-*s", width, l->label);
        for (int k = 0; k < most->count; k++) {
            int i = 0;
            while (i < l->count && l->size[i] != most->size[k]) i++;
            if (i < l->count && isfinite(l->cost[i])) printf(" %9.3g", l->cost[i]);
            else printf(" %9s", i < l->count ? "failed" : "-");
        }
        if (l->fit.count > 1) {
            printf("   %5.2f", l->fit.exponent);
            if (isfinite(l->fit.error)) printf(" +-%4.2f", l->fit.error);
            else printf("       ");
            printf(" %6.2f %10.2f", l->fit.last, l->step.exponent);
        }
        putchar('\n');
    }
    for (int j = 0; j < s->nline; j++) {
        if (s->line[j].failed)
            printf("\n%s failed %d times: %s\n", s->line[j].label, s->line[j].failed, s->line[j].message);
    }
}

/* The lines as the library takes them; solver: room for their names. */
static void fill_lines(const scale *s, dae_scale_line *out, char (*solver)[96])
{
    for (int j = 0; j < s->nline; j++) {
        const line *l = &s->line[j];
        snprintf(solver[j], 96, "%.*s", (int)strcspn(l->label, ","), l->label);
        out[j] =
            (dae_scale_line){solver[j], l->mode, l->size, l->cost, l->n, l->steps, l->count, l->fit, l->step};
    }
}

static dae_status script(const void *what, const char *terminal, dae_write_fn *write, void *user)
{
    const scale *s = what;
    dae_growth_line l[max_lines];
    char title[256], label[80];
    for (int j = 0; j < s->nline; j++)
        l[j] = (dae_growth_line){s->line[j].label, s->line[j].size, s->line[j].cost, s->line[j].count};
    snprintf(title, sizeof title, "%s%s%s: growth of CPU time with %s", s->args->argument[0],
             s->title && s->title[0] ? ", " : "", s->title ? s->title : "", s->parameter);
    snprintf(label, sizeof label, "%s", s->parameter);
    return dae_growth_plot(l, s->nline, title, label, terminal, write, user);
}

static int show(scale *s)
{
    const char *plot = cli_value(s->args, "plot");
    int usable = 0;
    for (int j = 0; j < s->nline; j++) {
        line *l = &s->line[j];
        usable += dae_growth_fit(l->size, l->cost, l->count, &l->fit) == DAE_OK;
        dae_growth_fit(l->size, l->per_step, l->count, &l->step);
    }
    dae_scale_line lines[max_lines];
    char solver[max_lines][96];
    fill_lines(s, lines, solver);
    if (cli_tables_wanted(s->args)) {
        dae_table *t = dae_scale_table(s->parameter, lines, s->nline, NULL);
        if (t) dae_table_note(t, "problem", s->args->argument[0], 0);
        if (cli_tables_write(s->args, t)) return EXIT_USAGE;
    }
    if (s->args->json)
        dae_scale_json(s->args->argument[0], s->parameter, lines, s->nline, cli_write_file, stdout);
    else if (!cli_has(s->args, "quiet")) print_table(s);
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
    scale s = {.args = args};
    const char *plot = cli_value(args, "plot");
    cli_catch_signals();
    s.line = calloc(max_lines, sizeof *s.line);
    int status = s.line ? 0 : cli_wrong(args, "out of memory");
    if (!status) status = find_sizes(&s);
    if (!status) status = find_modes(&s);
    if (!status && plot) status = cli_plot_check(args, "--plot", plot);
    if (!status) status = cli_tables_check(args, 1);
    if (!status) status = run_sizes(&s);
    if (!status) status = show(&s);
    free(s.line);
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
