/* daedalus plot: draws any result file. What it is shows in its first bytes: a table (CSV, HDF5), a continuous solution,
 * or records of runs (JSON lines), which become work-precision diagrams. */
#include "workprec.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { most_columns = 36, default_columns = 12, solution_points = 600, max_files = 12, most_fields = 4096 };

typedef struct file {
    const char *path;
    char *text;
    size_t length;
    dae_table *table; /* or NULL: JSON lines */
} file;

typedef struct picture {
    cli_args *args;
    file file[max_files];
    int nfile;
    const char *title;
    char default_title[256], out[1024];
    int log_x, log_y;

    const dae_table *table; /* one, or all of them together */
    int x, y[most_columns], ny;
    dae_sweep_plot_options sweep;

    dae_measurement *m;
    int count, mescd;
} picture;

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* ---- Reading --------------------------------------------------------------------------------------- */

/* The continuous solution as a table. */
static int read_solution(picture *p, file *f)
{
    dae_error err = {0};
    dae_solution *s = dae_solution_read(f->text, f->length, &err);
    if (!s) return cli_wrong(p->args, "%s: %s", f->path, err.text);
    const dae_solution_info *info = dae_solution_about(s);
    double *t = malloc(solution_points * sizeof *t);
    for (int i = 0; t && i < solution_points; i++) {
        double part = (double)i / (solution_points - 1);
        t[i] = i == solution_points - 1 ? info->t_end : info->t0 + part * (info->t_end - info->t0);
    }
    if (t) f->table = dae_solution_table(s, t, solution_points, &err);
    if (!f->table) cli_wrong(p->args, "%s: %s", f->path, t ? err.text : "out of memory");
    free(t);
    dae_solution_destroy(s);
    return f->table ? 0 : EXIT_USAGE;
}

/* An equation file is run as it stands. */
static int run_equations(picture *p, file *f)
{
    dae_error err = {0};
    dae_problem *q = dae_problem_open(f->path, NULL, 0, &err);
    if (!q) return cli_wrong(p->args, "%s", err.text);
    dae_run_options o = dae_run_options_default(q);
    o.trajectory = DAE_TRAJECTORY_EQUIDISTANT;
    o.points = solution_points;
    dae_run_result *r = dae_run(q, &o, &err);
    if (r && r->status < 0) err = r->error;
    else if (r) f->table = dae_run_table(r, &err);
    dae_run_destroy(r);
    dae_problem_destroy(q);
    return f->table ? 0 : cli_wrong(p->args, "%s: %s", f->path, err.text);
}

/* A folder of a sweep stands for its runs. */
static int read_file(picture *p, file *f, const char *name)
{
    struct stat what;
    char path[1024];
    dae_error err = {0};
    f->path = name;
    const char *dot = strrchr(name, '.');
    if (dot && !strcmp(dot, ".deq")) return run_equations(p, f);
    snprintf(path, sizeof path, stat(name, &what) == 0 && S_ISDIR(what.st_mode) ? "%s/runs.csv" : "%s", name);
    f->text = cli_read_file(path, &f->length);
    if (!f->text) return cli_wrong(p->args, "%s: %s", path, strerror(errno));
    size_t k = strspn(f->text, " \t\r\n");
    if (k == f->length) return cli_wrong(p->args, "%s: the file is empty", path);
    if (!strncmp(f->text, "daedalus solution", 17)) return read_solution(p, f);
    if (f->text[k] == '{') { /* a table, or lines of records */
        f->table =
            strncmp(f->text + k, "{\"attributes\"", 13) ? NULL : dae_table_read(f->text, f->length, &err);
        return err.status < 0 ? cli_wrong(p->args, "%s: %s", path, err.text) : 0;
    }
    f->table = cli_read_table(f->text, f->length, &err);
    if (!f->table) return cli_wrong(p->args, "%s: %s; expected a file that daedalus wrote", path, err.text);
    return 0;
}

/* ---- Records --------------------------------------------------------------------------------------- */

static int add_records(picture *p, const file *f)
{
    int lines = 1, line = 0;
    for (const char *c = f->text; *c; c++) lines += *c == '\n';
    dae_measurement *all = realloc(p->m, (size_t)(p->count + lines) * sizeof *all);
    if (!all) return cli_wrong(p->args, "out of memory");
    p->m = all;
    for (const char *c = f->text; *c;) {
        size_t n = strcspn(c, "\n");
        dae_error err = {0};
        line++;
        if (n > strspn(c, " \r\t")) {
            if (dae_measurement_parse(c, n, &all[p->count], &err) < 0)
                return cli_wrong(p->args,
                                 "%s: line %d is no record of a run (%s); records come from workprec, scale "
                                 "and matrix, and "
                                 "trajectories from run --out",
                                 f->path, line, err.text);
            p->count++;
        }
        c += n + (c[n] == '\n');
    }
    return 0;
}

/* Tables of `table --format csv` have runs of solvers in their lines. */
static int add_rows(picture *p, const dae_table *t)
{
    int problem = dae_table_find(t, "problem"), solver = dae_table_find(t, "solver"),
        status = dae_table_find(t, "status"), rtol = dae_table_find(t, "rtol"),
        scd = dae_table_find(t, "scd"), mescd = dae_table_find(t, "mescd"),
        cpu = dae_table_find(t, "cpu_seconds"), f = dae_table_find(t, "f");
    dae_measurement *all = realloc(p->m, (size_t)(p->count + t->nrow + 1) * sizeof *all);
    if (!all) return cli_wrong(p->args, "out of memory");
    p->m = all;
    for (long i = 0; i < t->nrow; i++) {
        dae_measurement *m = &all[p->count++];
        double evaluations = t->value[f * t->nrow + i];
        *m = (dae_measurement){.rtol = t->value[rtol * t->nrow + i],
                               .scd = t->value[scd * t->nrow + i],
                               .mescd = t->value[mescd * t->nrow + i],
                               .cpu_seconds = t->value[cpu * t->nrow + i],
                               .f = evaluations >= 0 ? (long)evaluations : 0};
        if (strcmp(t->text[status * t->nrow + i], "ok") != 0) m->status = DAE_ERR_STEP_TOO_SMALL;
        snprintf(m->problem, sizeof m->problem, "%s", t->text[problem * t->nrow + i]);
        snprintf(m->solver, sizeof m->solver, "%s", t->text[solver * t->nrow + i]);
    }
    return 0;
}

static int has_rows(const dae_table *t)
{
    static const char *const names[] = {"problem", "solver", "status",      "rtol",
                                        "scd",     "mescd",  "cpu_seconds", "f"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        if (dae_table_find(t, names[k]) < 0) return 0;
    }
    return t->text != NULL;
}

/* Of several problems one has to be named. */
static int choose_problem(picture *p)
{
    const char *wanted = cli_value(p->args, "problem");
    char names[400] = "";
    int count = 0, several = 0;
    if (!p->count) return cli_wrong(p->args, "%s: there are no runs in it", p->file[0].path);
    for (int i = 0; i < p->count; i++) {
        if (!strstr(names, p->m[i].problem) && strlen(names) + 40 < sizeof names) {
            if (names[0]) strcat(names, ", ");
            strcat(names, p->m[i].problem);
        }
        several |= strcmp(p->m[i].problem, p->m[0].problem) != 0;
        if (!wanted || !strcmp(wanted, p->m[i].problem)) p->m[count++] = p->m[i];
    }
    if (several && !wanted)
        return cli_wrong(p->args, "the files have runs of %s; choose with --problem", names);
    if (!count) return cli_wrong(p->args, "--problem %s: the files have runs of %s", wanted, names);
    p->count = count;
    return 0;
}

/* Loose to tight, as a line of the diagram goes. */
static int by_rtol(const void *a, const void *b)
{
    double x = ((const dae_measurement *)a)->rtol, y = ((const dae_measurement *)b)->rtol;
    return (x < y) - (x > y);
}

static dae_status draw_records(const void *what, const char *terminal, dae_write_fn *write, void *user)
{
    const picture *p = what;
    const dae_problem_info *info = dae_problem_find(p->m[0].problem);
    char title[256];
    snprintf(title, sizeof title, "%s%s%s", p->m[0].problem, info ? ": " : "", info ? info->title : "");
    dae_workprec_plot_options o = {.title = p->title ? p->title : title,
                                   .terminal = terminal,
                                   .work = DAE_WORK_BOTH,
                                   .mescd = p->mescd,
                                   .most_lines = 12};
    return dae_workprec_plot(p->m, p->count, &o, write, user);
}

/* "N=8 linear-algebra=dense": the one number that differs between the settings is the size of a study of growth. */
static int size_in(const char *settings, double *size, char *rest, size_t room, char *name)
{
    size_t n = strcspn(settings, " "), equal = strcspn(settings, "=");
    char *end;
    if (equal >= n || n >= 64) return 0;
    *size = strtod(settings + equal + 1, &end);
    snprintf(rest, room, "%s", settings[n] ? settings + n + 1 : "");
    memcpy(name, settings, equal);
    name[equal] = 0;
    return end == settings + n && *size > 0;
}

typedef struct growth {
    char label[12][128];
    double size[12][64], cost[12][64];
    dae_growth_line line[12];
    int count;
    char name[64];
    const char *title;
} growth;

static int find_growth(const picture *p, growth *g)
{
    double first = NAN;
    int several = 0;
    for (int i = 0; i < p->count; i++) {
        char rest[160], label[128];
        double size;
        int k = 0;
        if (p->m[i].rtol != p->m[0].rtol || !size_in(p->m[i].settings, &size, rest, sizeof rest, g->name))
            return 0;
        if (isnan(first)) first = size;
        several |= size != first;
        const char *mode = strncmp(rest, "linear-algebra=", 15) ? rest : rest + 15;
        snprintf(label, sizeof label, "%.60s%s%.60s", p->m[i].solver,
                 mode[0] && strcmp(mode, "auto") ? ", " : "", strcmp(mode, "auto") ? mode : "");
        while (k < g->count && strcmp(g->label[k], label) != 0) k++;
        if (k == 12) continue;
        if (k == g->count) {
            memcpy(g->label[k], label, sizeof label);
            g->line[g->count++] = (dae_growth_line){g->label[k], g->size[k], g->cost[k], 0};
        }
        int at = g->line[k].n;
        if (at == 64) continue;
        g->size[k][at] = size;
        g->cost[k][at] = p->m[i].status == DAE_OK ? p->m[i].cpu_seconds : NAN;
        g->line[k].n++;
    }
    return several;
}

static dae_status draw_growth(const void *what, const char *terminal, dae_write_fn *write, void *user)
{
    const growth *g = what;
    return dae_growth_plot(g->line, g->count, g->title, g->name, terminal, write, user);
}

static int plot_records(picture *p)
{
    int status = choose_problem(p);
    if (status) return status;
    growth *g = calloc(1, sizeof *g);
    if (!g) return cli_wrong(p->args, "out of memory");
    if (find_growth(p, g)) {
        char title[192];
        snprintf(title, sizeof title, "%s: growth of CPU time with %s", p->m[0].problem, g->name);
        g->title = p->title ? p->title : title;
        status = cli_plot(p->args, "--plot", p->out, draw_growth, g);
    } else {
        int scored = 0;
        for (int i = 0; i < p->count; i++) scored += isfinite(p->m[i].scd);
        p->mescd = cli_has(p->args, "mescd") || !scored;
        qsort(p->m, (size_t)p->count, sizeof *p->m, by_rtol);
        status = cli_plot(p->args, "--plot", p->out, draw_records, p);
    }
    free(g);
    return status;
}

/* ---- Tables ---------------------------------------------------------------------------------------- */

static int find_column(const picture *p, const dae_table *t, const char *option, const char *name,
                       size_t length, int *k)
{
    char word[128], list[600] = "";
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    *k = dae_table_find(t, word);
    if (*k >= 0) return 0;
    for (int i = 0; i < t->ncol && strlen(list) + strlen(t->name[i]) + 8 < sizeof list; i++) {
        if (i) strcat(list, ", ");
        strcat(list, t->name[i]);
    }
    return cli_wrong(p->args, "--%s %s: there is no such column; the file has %s", option, word, list);
}

static int choose_columns(picture *p, const dae_table *t)
{
    const char *x = cli_value(p->args, "x"), *y = cli_value(p->args, "y");
    p->x = 0;
    if (x && find_column(p, t, "x", x, strlen(x), &p->x)) return EXIT_USAGE;
    if (!y) {
        p->ny = dae_table_plot_choose(t, p->x, p->y, default_columns);
        return p->ny ? 0 : cli_wrong(p->args, "%s: no column has numbers that vary", p->file[0].path);
    }
    for (;; y++) {
        size_t n = strcspn(y, ",");
        if (p->ny == most_columns)
            return cli_wrong(p->args, "--y: more than %d columns are not drawn", most_columns);
        if (find_column(p, t, "y", y, n, &p->y[p->ny++])) return EXIT_USAGE;
        y += n;
        if (!*y) return 0;
    }
}

static dae_status draw_table(const void *what, const char *terminal, dae_write_fn *write, void *user)
{
    const picture *p = what;
    dae_table_plot_options o = {.x = p->x,
                                .y = p->y,
                                .ny = p->ny,
                                .log_x = p->log_x,
                                .log_y = p->log_y,
                                .lines = p->nfile > 1 || !strcmp(p->table->name[0], "t"),
                                .apart = cli_has(p->args, "apart"),
                                .title = p->title ? p->title : p->default_title,
                                .terminal = terminal};
    return dae_table_plot(p->table, &o, write, user);
}

static dae_status draw_sweep(const void *what, const char *terminal, dae_write_fn *write, void *user)
{
    picture p = *(const picture *)what;
    p.sweep.terminal = terminal;
    return dae_sweep_plot(p.table, &p.sweep, write, user);
}

/* Lines of a sweep: the picture that was asked for, or the first that the table has the columns for; 1: there is none. */
static int plot_sweep(picture *p, const dae_table *t)
{
    static const struct {
        const char *name;
        dae_sweep_picture kind;
    } kinds[] = {{"bands", DAE_SWEEP_BANDS}, {"heat", DAE_SWEEP_HEAT}, {"scatter", DAE_SWEEP_SCATTER}};
    const char *wanted = cli_value(p->args, "kind");
    int status = dae_table_find(t, "status");
    p->table = t;
    for (int k = 0; k < 3; k++) {
        if (wanted && strcmp(wanted, kinds[k].name) != 0) continue;
        p->sweep = (dae_sweep_plot_options){
            .picture = kinds[k].kind, .width = status - 1, .title = p->title ? p->title : p->default_title};
        if (dae_sweep_can_plot(t, &p->sweep)) return cli_plot(p->args, "--plot", p->out, draw_sweep, p);
    }
    if (wanted) return cli_wrong(p->args, "--kind %s: the sweep does not have what it needs", wanted);
    return 1;
}

static int is_sweep(const dae_table *t)
{
    return t->ncol > 3 && !strcmp(t->name[0], "run") && dae_table_find(t, "status") > 1 &&
           dae_table_find(t, "t") > 0;
}

/* The chosen columns of all files under each other, each file with columns of its own: "name (file)". */
static int plot_together(picture *p)
{
    int ny = p->ny, ncol = 1 + ny * p->nfile, status = 0;
    long nrow = 0, row = 0;
    for (int j = 0; j < p->nfile; j++) nrow += p->file[j].table->nrow;
    const char **name = calloc(2 * (size_t)ncol, sizeof *name), **unit = name ? name + ncol : NULL;
    double *value = malloc((size_t)ncol * (size_t)nrow * sizeof *value);
    char *text = malloc((size_t)ncol * 200);
    if (!name || !value || !text || ncol - 1 > most_columns) {
        status =
            ncol - 1 > most_columns
                ? cli_wrong(p->args, "%d columns are too many for one picture; choose with --y", ncol - 1)
                : cli_wrong(p->args, "out of memory");
        goto end;
    }
    for (long i = 0; i < ncol * nrow; i++) value[i] = NAN;
    name[0] = p->file[0].table->name[p->x];
    unit[0] = p->file[0].table->unit[p->x];
    for (int j = 0; j < p->nfile && !status; j++) {
        const dae_table *t = p->file[j].table;
        int x;
        status = find_column(p, t, "x", name[0], strlen(name[0]), &x);
        for (int k = 0; k < ny && !status; k++) {
            const char *wanted = p->file[0].table->name[p->y[k]];
            int c, at = 1 + k * p->nfile + j;
            status = find_column(p, t, "y", wanted, strlen(wanted), &c);
            if (status) break;
            snprintf(text + 200 * at, 200, "%.90s (%.90s)", wanted, base_name(p->file[j].path));
            name[at] = text + 200 * at;
            unit[at] = t->unit[c];
            memcpy(value + at * nrow + row, t->value + c * t->nrow, (size_t)t->nrow * sizeof *value);
        }
        if (!status) memcpy(value + row, t->value + x * t->nrow, (size_t)t->nrow * sizeof *value);
        row += t->nrow;
    }
    if (!status) {
        dae_table all = {.ncol = ncol, .nrow = nrow, .name = name, .unit = unit, .value = value};
        p->table = &all;
        p->x = 0;
        p->ny = ncol - 1;
        for (int k = 0; k < p->ny; k++) p->y[k] = k + 1;
        status = cli_plot(p->args, "--plot", p->out, draw_table, p);
    }
end:
    free(name);
    free(value);
    free(text);
    return status;
}

/* ---- Parts, fields, paths ---------------------------------------------------------------------------- */

/* "theta" or "u*": the column of that name, or all that begin so and go on with a number. */
static int add_columns(const picture *p, const dae_table *t, const char *option, const char *word,
                       size_t length, int *list, int *count, int most)
{
    int k, found = 0;
    if (length < 2 || word[length - 1] != '*') {
        if (*count == most)
            return cli_wrong(p->args, "--%s: more than %d columns are not drawn", option, most);
        if (find_column(p, t, option, word, length, &k)) return EXIT_USAGE;
        list[(*count)++] = k;
        return 0;
    }
    for (k = 0; k < t->ncol; k++) {
        const char *rest = t->name[k] + length - 1;
        if (strncmp(t->name[k], word, length - 1) != 0 || rest[strspn(rest, "0123456789")] || !rest[0])
            continue;
        if (*count == most)
            return cli_wrong(p->args, "--%s: more than %d columns are not drawn", option, most);
        list[(*count)++] = k;
        found = 1;
    }
    return found ? 0
                 : cli_wrong(p->args, "--%s %.*s: no column begins so and ends with a number", option,
                             (int)length, word);
}

static int columns_of(const picture *p, const dae_table *t, const char *option, int *list, int *count,
                      int most)
{
    *count = 0;
    for (const char *word = cli_value(p->args, option); word; word = *word ? word + 1 : NULL) {
        size_t n = strcspn(word, ",");
        if (add_columns(p, t, option, word, n, list, count, most)) return EXIT_USAGE;
        word += n;
        if (!*word) return 0;
    }
    return 0;
}

/* --from, --to, --modulo: every table becomes its part. */
static int cut(picture *p)
{
    int angle[most_columns], nangle;
    double from = -INFINITY, to = INFINITY;
    if (cli_real(p->args, "from", -1e300, 1e300, &from) || cli_real(p->args, "to", -1e300, 1e300, &to))
        return EXIT_USAGE;
    if (!(to > from)) return cli_wrong(p->args, "--from and --to: nothing lies between them");
    if (isinf(from) && isinf(to) && !cli_has(p->args, "modulo")) return 0;
    for (int i = 0; i < p->nfile; i++) {
        if (columns_of(p, p->file[i].table, "modulo", angle, &nangle, most_columns)) return EXIT_USAGE;
        dae_table *part = dae_table_part(p->file[i].table, 0, from, to, angle, nangle);
        if (!part) return cli_wrong(p->args, "out of memory");
        dae_table_destroy(p->file[i].table);
        p->file[i].table = part;
        if (part->nrow < 2)
            return cli_wrong(p->args, "%s: no two rows lie between --from and --to", p->file[i].path);
    }
    return 0;
}

typedef struct field {
    const picture *p;
    dae_field_options o;
} field;

static dae_status draw_field(const void *what, const char *terminal, dae_write_fn *write, void *user)
{
    const field *f = what;
    dae_field_options o = f->o;
    o.terminal = terminal;
    return dae_field_plot(f->p->file[0].table, &o, write, user);
}

static const struct {
    const char *name;
    dae_field_picture kind;
    int axes; /* 1: y, 2: x and y, 3: points of (x, y, z), given as one list */
} fields[] = {{"map", DAE_FIELD_MAP, 1},
              {"surface", DAE_FIELD_SURFACE, 1},
              {"paths", DAE_FIELD_PATHS, 2},
              {"shapes", DAE_FIELD_SHAPES, 2},
              {"sphere", DAE_FIELD_SPHERE, 3}};

static int field_number(const char *kind)
{
    int n = sizeof fields / sizeof *fields;
    for (int k = 0; kind && k < n; k++) {
        if (!strcmp(fields[k].name, kind)) return k;
    }
    return -1;
}

static int plot_field(picture *p, int kind)
{
    const dae_table *t = p->file[0].table;
    int *x = malloc(3 * (size_t)most_fields * sizeof *x), *y = x ? x + most_fields : NULL,
        *z = y ? y + most_fields : NULL;
    int nx = 0, ny = 0, nz = 0, status = x ? 0 : cli_wrong(p->args, "out of memory");
    double *at = NULL, width = 0;
    if (!status && p->nfile > 1)
        status = cli_wrong(p->args, "--kind %s is drawn of one file", fields[kind].name);
    if (!status && !cli_has(p->args, "y"))
        status = cli_wrong(p->args, "--kind %s: give its columns with --y, 'u*' for u1, u2, ...",
                           fields[kind].name);
    if (!status) status = columns_of(p, t, "y", y, &ny, most_fields);
    if (!status) status = columns_of(p, t, "x", x, &nx, most_fields);
    if (!status) status = cli_real(p->args, "width", 0, 1e300, &width);
    field f = {p, {.picture = fields[kind].kind, .t = 0, .y = y, .n = ny, .width = width}};
    f.o.title = p->title ? p->title : p->default_title;
    if (!status && fields[kind].axes == 3) { /* x1 y1 z1 x2 ... */
        for (int k = 0; k + 2 < ny; k += 3) {
            x[nz] = y[k];
            z[nz] = y[k + 2];
            y[nz++] = y[k + 1];
        }
        f.o.n = nz;
    } else if (!status && nx > 0 && nx != ny) {
        status = cli_wrong(p->args, "--kind %s: %d columns of --x and %d of --y", fields[kind].name, nx, ny);
    }
    if (!status && fields[kind].axes == 2 && nx == 0 && fields[kind].kind == DAE_FIELD_PATHS)
        status = cli_wrong(p->args, "--kind paths: give the abscissas with --x, as many as --y");
    if (!status) status = cli_times(p->args, t->value[0], t->value[t->nrow - 1], &at, &f.o.nat);
    f.o.at = at;
    f.o.x = nx > 0 || nz > 0 ? x : NULL;
    f.o.z = nz > 0 ? z : NULL;
    if (!status) status = cli_plot(p->args, "--plot", p->out, draw_field, &f);
    free(at);
    free(x);
    return status;
}

static int plot_tables(picture *p)
{
    int kind = field_number(cli_value(p->args, "kind")), wrong = cut(p);
    if (wrong) return wrong;
    if (kind >= 0) return plot_field(p, kind);
    const dae_table *t = p->file[0].table;
    int chosen = cli_has(p->args, "x") || cli_has(p->args, "y");
    if (is_sweep(t) && !chosen && p->nfile == 1) {
        int status = plot_sweep(p, t);
        if (status != 1) return status;
    }
    if (cli_has(p->args, "kind"))
        return cli_wrong(p->args, "--kind is for the runs of a sweep, without --x and --y");
    if (choose_columns(p, t)) return EXIT_USAGE;
    if (p->nfile > 1 && !chosen && p->ny > default_columns / p->nfile) p->ny = default_columns / p->nfile;
    if (p->ny < 1) p->ny = 1;
    if (p->nfile > 1) return plot_together(p);
    p->table = t;
    return cli_plot(p->args, "--plot", p->out, draw_table, p);
}

/* ---- The command ----------------------------------------------------------------------------------- */

static int set_output(picture *p)
{
    const char *out = cli_value(p->args, "out"), *log = cli_value(p->args, "log"),
               *kind = cli_value(p->args, "kind");
    p->title = cli_value(p->args, "title");
    if (log && strcmp(log, "x") != 0 && strcmp(log, "y") != 0 && strcmp(log, "xy") != 0)
        return cli_wrong(p->args, "--log %s: expected x, y or xy", log);
    p->log_x = log && strchr(log, 'x');
    p->log_y = log && strchr(log, 'y');
    if (kind && strcmp(kind, "bands") != 0 && strcmp(kind, "heat") != 0 && strcmp(kind, "scatter") != 0 &&
        field_number(kind) < 0)
        return cli_wrong(
            p->args, "--kind %s: expected scatter, bands, heat, map, surface, paths, shapes or sphere", kind);
    if (out) {
        snprintf(p->out, sizeof p->out, "%s", out);
    } else { /* here, with the name of the first file */
        const char *name = base_name(p->args->argument[0]), *dot = strrchr(name, '.');
        int n = dot ? (int)(dot - name) : (int)strcspn(name, "/");
        snprintf(p->out, sizeof p->out, "%.*s.svg", n, name);
    }
    return 0;
}

static int draw(picture *p)
{
    int tables = 0, status = 0;
    for (int i = 0; i < p->args->count && !status; i++) {
        if (i == max_files) return cli_wrong(p->args, "more than %d files are not drawn together", max_files);
        status = read_file(p, &p->file[p->nfile++], p->args->argument[i]);
    }
    if (!status) status = set_output(p);
    if (!status) status = cli_plot_check(p->args, "--plot", p->out);
    if (status) return status;
    snprintf(p->default_title, sizeof p->default_title, "%s", p->nfile > 1 ? "" : base_name(p->file[0].path));
    int chosen = cli_has(p->args, "x") || cli_has(p->args, "y");
    for (int i = 0; i < p->nfile; i++) tables += p->file[i].table && (chosen || !has_rows(p->file[i].table));
    if (tables == p->nfile) return plot_tables(p);
    if (tables) return cli_wrong(p->args, "tables and records of runs cannot be drawn in one picture");
    for (int i = 0; i < p->nfile && !status; i++)
        status = p->file[i].table ? add_rows(p, p->file[i].table) : add_records(p, &p->file[i]);
    return status ? status : plot_records(p);
}

static int run(cli_args *args)
{
    picture *p = calloc(1, sizeof *p);
    if (!p) return cli_wrong(args, "out of memory");
    p->args = args;
    int status = draw(p);
    if (!status && !cli_has(args, "quiet")) fprintf(stderr, "wrote %s\n", p->out);
    for (int i = 0; i < p->nfile; i++) {
        dae_table_destroy(p->file[i].table);
        free(p->file[i].text);
    }
    free(p->m);
    free(p);
    return status;
}

static const cli_option options[] = {
    {"x", "COLUMN", NULL, "the abscissa; default: the first column"},
    {"y", "A,B,...", NULL, "what is drawn; default: the first twelve columns that vary"},
    {"out", "FILE", "file", "the picture: .svg, .png or .pdf; default: NAME.svg in this folder"},
    {"log", "AXES", "x|y|xy", "logarithmic axes"},
    {"apart", NULL, NULL, "a panel for every column; else those of one unit and of like size share one"},
    {"title", "TEXT", NULL, "above the picture; default: the name of the file"},
    {"kind", "KIND", "scatter|bands|heat|map|surface|paths|shapes|sphere",
     "of a sweep: which picture; default: the first that it has the columns for; of a trajectory: u(x,t) as "
     "map or surface, paths "
     "--y over --x, shapes at the times --at, points on the sphere"},
    {"from", "T", NULL, "only what is behind T on the first column"},
    {"to", "T", NULL, "only what is before T"},
    {"modulo", "A,B,...", NULL, "angles modulo 2 pi"},
    {"at", "T1,T2,...", NULL, "of --kind shapes: the times"},
    {"width", "X", NULL, "of --kind map and surface: where the last column lies, the first at 0"},
    {"problem", "NAME", "problems", "of records of several problems: which"},
    {"mescd", NULL, NULL, "digits by the mixed error instead of the relative one"},
    {"quiet", NULL, NULL, "do not tell what was written"},
    {NULL, NULL, NULL, NULL},
};
static const char notes[] =
    "FILE is what `run --out`, `run --dump`, `workprec --out`, `scale --out`, `matrix`, `table --format csv` "
    "or a sweep\n"
    "wrote (CSV, HDF5, JSON lines, or the folder of the sweep). Columns of one unit and of like size share a "
    "panel.\n"
    "Several trajectories are drawn over each other, records of several files in one diagram. 'u*' stands "
    "for the columns u1, u2, ...\n"
    "with --kind map, surface, paths, shapes and sphere, and in --modulo.\n";
static const char *const examples[] = {
    "run hires --out h.csv --quiet",
    "a trajectory ...",
    "plot h.csv --y Pr,E --log x",
    "... and its picture, h.svg",
    "workprec orego --solvers radau5,vode --repeat 1 --out o.jsonl --quiet",
    "records ...",
    "plot o.jsonl --out diagram.png",
    "... as a work-precision diagram",
    "run medakzo --out m.csv --points 200 --quiet",
    "a solution u(x,t) ...",
    "plot m.csv --kind map --y 'u*' --width 1",
    "... as a map of space and time",
    NULL};
const cli_command cli_plot_command = {
    "plot",    "draw any result file: trajectories, sweeps, records of runs",
    "FILE...", "file",
    1,         max_files,
    options,   examples,
    notes,     run};
