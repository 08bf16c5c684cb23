/* Tables of run characteristics in the columns of [TESTSET]: ours beside the printed figures.
 *
 * A cell reads "ours (printed)"; counts are followed by their ratio. What is worse than the allowance is marked. */
#include "core/escape.h"
#include "core/number.h"
#include "core/text.h"
#include "study/json.h"
#include "study/solver.h"

#include <daedalus/path.h>
#include <daedalus/plugin.h>
#include <daedalus/study.h>
#include <daedalus/version.h>

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Which methods stand beside which -------------------------------------------------------------- */

/* The report's solver, and ours that are compared with its rows. */
static const struct {
    const char *printed, *ours;
} counterparts[] = {
    {"bimd", "bimd"},   {"dassl", "dassl"},       {"dassl", "ida"},     {"dopri5", "dopri5"},
    {"gamd", "gamd"},   {"mebdfdae", "mebdfdae"}, {"mebdfi", "mebdfi"}, {"pside", "pside"},
    {"radau", "radau"}, {"radau", "radau5"},      {"radau5", "radau5"}, {"vode", "vode"},
    {"vode", "cvode"},
};

static int is_one_of(const char *solver, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!strcmp(names[i], solver)) return 1;
    }
    return 0;
}

/* Whether the report gives a first step to solvers of this sort. */
static int takes_h0(const char *solver)
{
    static const char *const names[] = {"bimd", "gamd", "mebdfdae", "mebdfi", "radau", "radau5"};
    return is_one_of(solver, names, sizeof names / sizeof *names);
}

/* Whether the report's program is told to stop at the end; others pass it and interpolate, or end there anyway. */
static int stops_at_end(const char *solver)
{
    static const char *const names[] = {"dassl", "ida", "vode", "cvode"};
    return is_one_of(solver, names, sizeof names / sizeof *names);
}

static int is_counterpart(const char *printed, const char *ours)
{
    for (size_t i = 0; i < sizeof counterparts / sizeof *counterparts; i++) {
        if (!strcmp(counterparts[i].printed, printed) && !strcmp(counterparts[i].ours, ours)) return 1;
    }
    return 0;
}

static int has_counterpart(const char *problem, const char *ours)
{
    for (int i = 0; i < dae_published_count(); i++) {
        const dae_published_row *p = dae_published_get(i);
        if (!strcmp(p->problem, problem) && is_counterpart(p->solver, ours)) return 1;
    }
    return 0;
}

/* ---- Planning ------------------------------------------------------------------------------------- */

typedef struct plan {
    dae_result_row *row;
    int count, capacity, failed;
} plan;

/* A row that is not run yet: who it is, and the options of its run. */
static void add(plan *x, const char *problem, const char *solver, double rtol, double atol, double h0,
                dae_result_row row)
{
    if (x->count >= x->capacity) {
        int capacity = 2 * x->capacity + 64;
        dae_result_row *longer = realloc(x->row, (size_t)capacity * sizeof *longer);
        if (!longer) {
            x->failed = 1;
            return;
        }
        x->row = longer;
        x->capacity = capacity;
    }
    row.run = (dae_measurement){.rtol = rtol, .atol = atol, .h0 = h0, .status = DAE_ERR_INTERNAL};
    snprintf(row.run.problem, sizeof row.run.problem, "%s", problem);
    snprintf(row.run.solver, sizeof row.run.solver, "%s", solver);
    strcpy(row.run.message, "not run");
    x->row[x->count++] = row;
}

static int wanted(const char *name, const dae_results_choice *c)
{
    for (int i = 0; i < c->nsolver; i++) {
        if (!strcmp(name, c->solver[i])) return 1;
    }
    return !c->solver;
}

static int takes(const dae_method_info *m, const dae_problem_info *p)
{
    return (m->kinds & 1u << p->kind) && m->max_index >= p->index && (!m->no_velocities || p->no_velocities);
}

static const dae_method_info *method_of(const dae_results_choice *c, const char *name)
{
    return dae_options_method(&(dae_options){.own = c->own}, name);
}

/* The rows of the report with their counterparts; a solver without any gets the problem's tolerances. */
static void plan_published(plan *x, const dae_problem_info *problem, const dae_results_choice *c)
{
    for (int i = 0; i < dae_published_count(); i++) {
        const dae_published_row *p = dae_published_get(i);
        if (strcmp(p->problem, problem->name) != 0) continue;
        for (int k = 0; k < dae_method_count(); k++) {
            const char *name = dae_method_get(k)->name;
            if (!is_counterpart(p->solver, name) || !wanted(name, c)) continue;
            add(x, problem->name, name, p->rtol, p->atol, isfinite(p->h0) ? p->h0 : 0,
                (dae_result_row){.published = p, .m = -1});
        }
    }
    for (int k = 0; c->solver && k < c->nsolver; k++) {
        const dae_method_info *m = method_of(c, c->solver[k]);
        if (!m || !takes(m, problem) || has_counterpart(problem->name, m->name)) continue;
        double last = 0;
        for (int i = 0; i < dae_published_count(); i++) {
            const dae_published_row *p = dae_published_get(i);
            if (strcmp(p->problem, problem->name) != 0 || p->example || p->rtol == last) continue;
            int seen = 0;
            for (int j = 0; j < x->count; j++)
                seen |= !strcmp(x->row[j].run.solver, m->name) && x->row[j].run.rtol == p->rtol;
            last = p->rtol;
            if (seen) continue;
            add(x, problem->name, m->name, p->rtol, p->atol, 0, (dae_result_row){.own = c->own, .m = -1});
        }
    }
}

static const dae_published_row *published_at(const char *problem, const char *solver, double rtol)
{
    for (int i = 0; i < dae_published_count(); i++) {
        const dae_published_row *p = dae_published_get(i);
        if (!strcmp(p->problem, problem) && !p->example && !p->variant && is_counterpart(p->solver, solver) &&
            fabs(p->rtol - rtol) < 1e-9 * rtol)
            return p;
    }
    return NULL;
}

static void plan_range(plan *x, const dae_problem_info *problem, const dae_results_choice *c)
{
    const dae_tolerance_range *r = dae_tolerance_range_find(problem->name);
    const dae_method_info *method;
    for (int k = 0; r && (method = dae_solver_method_at(c->own, k)); k++) {
        if (!wanted(method->name, c)) continue;
        if (c->solver ? !takes(method, problem) : dae_matrix_exclusion(problem, method) != NULL) continue;
        for (int m = 0; m <= r->last; m++) {
            double rtol = pow(10, -(r->a + m * r->b)), h0 = r->h0_fixed ? r->h0 : r->h0 * rtol;
            if (!c->solver && rtol < dae_matrix_least_rtol(problem, method)) continue;
            add(x, problem->name, method->name, rtol, r->atol_fixed ? r->atol : r->atol * rtol,
                takes_h0(method->name) ? h0 : 0,
                (dae_result_row){
                    .own = c->own, .m = m, .published = published_at(problem->name, method->name, rtol)});
        }
    }
}

/* A problem of the caller: by the report's solvers, or those that are named. */
static void plan_given(plan *x, dae_results_rows what, const dae_results_choice *c)
{
    static const double report[] = {4, 7, 10}; /* -log10 of the tolerances of [TESTSET]'s tables */
    const dae_problem *p = c->given;
    dae_ladder ladder = dae_ladder_default(p);
    double ratio = p->rtol > 0 && p->atol > 0 ? p->atol / p->rtol : 1;
    int range = what == DAE_RESULTS_RANGE, rungs = range ? dae_ladder_count(&ladder) : 3;
    const dae_method_info *m;
    for (int k = 0; (m = dae_solver_method_at(c->own, k)); k++) {
        if (!wanted(m->name, c) || (!c->solver && !is_counterpart(m->name, m->name)) ||
            !dae_solver_takes(m, p, c->own))
            continue;
        for (int i = 0; i < rungs; i++) {
            dae_options o = {.rtol = pow(10, -report[range ? 0 : i]), .h0 = takes_h0(m->name) ? p->h0 : 0};
            o.atol = ratio * o.rtol;
            if (range) dae_ladder_rung(&ladder, i, m, &o);
            add(x, p->info && p->info->name ? p->info->name : "problem", m->name, o.rtol, o.atol, o.h0,
                (dae_result_row){.given = p, .own = c->own, .m = range ? i : -1});
        }
    }
}

int dae_results_plan(const char *problem, dae_results_rows what, const dae_results_choice *choice,
                     dae_result_row **row)
{
    plan x = {0};
    const dae_results_choice all = {0}, *c = choice ? choice : &all;
    const dae_problem_info *info = c->given ? NULL : dae_problem_find(problem);
    *row = NULL;
    if (c->given) plan_given(&x, what, c);
    else if (!info) return 0;
    else if (what == DAE_RESULTS_PUBLISHED) plan_published(&x, info, c);
    else plan_range(&x, info, c);
    if (x.failed) {
        free(x.row);
        return -1;
    }
    *row = x.row;
    return x.count;
}

/* ---- Running --------------------------------------------------------------------------------------- */

/* What is left of the record of a run that gave no result. */
static void note_failure(dae_measurement *m, dae_status status, const char *text)
{
    m->status = status < 0 ? status : DAE_ERR_INTERNAL;
    m->t = m->mescd = m->scd = m->cpu_seconds = NAN;
    m->steps = m->accepted = m->f = m->f_jac = m->jac = m->lu = m->solves = 0;
    snprintf(m->message, sizeof m->message, "%s", text[0] ? text : dae_status_text(status));
}

void dae_result_run(dae_result_row *row, double max_seconds, int repeat)
{
    dae_error err = {0};
    dae_measurement *m = &row->run;
    dae_problem *created = row->given ? NULL : dae_problem_create(m->problem, NULL, 0, &err);
    const dae_problem *p = row->given ? row->given : created;
    if (!p) {
        note_failure(m, err.status, err.text);
        return;
    }
    dae_run_options o = dae_run_options_default(p);
    o.options.own = row->own;
    o.options.method = m->solver;
    o.options.rtol = m->rtol;
    o.options.atol = m->atol;
    o.options.h0 = m->h0;
    o.options.stop_at_end = stops_at_end(m->solver);
    o.options.max_steps = 0;
    o.options.max_seconds = max_seconds;
    o.repeat = repeat;
    if (row->path) dae_path_ask(row->path, &o);
    dae_run_result *r = dae_run(p, &o, &err);
    if (!r) {
        note_failure(m, err.status, err.text);
    } else {
        dae_measurement got = dae_measurement_of(r);
        memcpy(got.problem, m->problem, sizeof got.problem);
        memcpy(got.solver, m->solver, sizeof got.solver);
        got.max_seconds = max_seconds;
        if (row->path && r->status == DAE_OK) dae_path_compare(row->path, r, NULL, &got.scd, &got.mescd);
        if (r->status > 0) got.status = DAE_ERR_INTERNAL; /* stopped on the way: no row of a table */
        if (r->status != DAE_OK && !got.message[0])
            snprintf(got.message, sizeof got.message, "%s", dae_status_text(r->status));
        *m = got;
    }
    dae_run_destroy(r);
    dae_problem_destroy(created);
}

/* ---- Judging --------------------------------------------------------------------------------------- */

int dae_result_marks(const dae_result_row *row)
{
    const dae_published_row *p = row->published;
    if (row->run.status != DAE_OK) return DAE_MARK_FAILED;
    if (!p) return 0;
    int wide = !strcmp(row->run.solver, "radau5") || !strcmp(row->run.solver, "radau") ||
               !strcmp(row->run.solver, "ida") || !strcmp(row->run.solver, "cvode");
    double digits = wide ? 0.7 : 0.5, factor = wide ? 1.6 : 1.3;
    int marks = 0;
    if (row->run.mescd < p->mescd - digits) marks |= DAE_MARK_MESCD;
    if (row->run.scd < p->scd - digits) marks |= DAE_MARK_SCD; /* false where scd is not used: NAN */
    if (p->steps >= 0 && (double)row->run.steps > factor * (double)p->steps) marks |= DAE_MARK_STEPS;
    if (p->f >= 0 && (double)row->run.f > factor * (double)p->f) marks |= DAE_MARK_F;
    return marks;
}

/* ---- Cells ----------------------------------------------------------------------------------------- */

enum { columns = 12, cell_size = 48 };
static const char *const heads[columns] = {"solver", "rtol",     "atol", "h0",  "mescd", "scd",
                                           "steps",  "accepted", "f",    "Jac", "LU",    "CPU"};

typedef struct cells {
    char text[columns][cell_size];
    int marked[columns];
} cells;

static void put_digits(char *out, double ours, const double *printed)
{
    char a[16] = "-", b[16] = "-";
    if (isfinite(ours)) dae_snprintf(a, sizeof a, "%.2f", ours);
    if (printed && isfinite(*printed)) dae_snprintf(b, sizeof b, "%.2f", *printed);
    snprintf(out, cell_size, printed ? "%s (%s)" : "%s", a, b);
}

static void put_count(char *out, long ours, const long *printed)
{
    if (!printed || *printed < 0) snprintf(out, cell_size, "%ld", ours);
    else if (*printed == 0) snprintf(out, cell_size, "%ld (0)", ours);
    else dae_snprintf(out, cell_size, "%ld (%ld) %.2f", ours, *printed, (double)ours / (double)*printed);
}

static void put_seconds(char *out, double ours, const double *printed)
{
    char a[16] = "-";
    if (isfinite(ours)) dae_snprintf(a, sizeof a, ours < 0.1 ? "%.5f" : "%.3f", ours);
    if (printed && isfinite(*printed)) dae_snprintf(out, cell_size, "%s (%.4f)", a, *printed);
    else snprintf(out, cell_size, "%s", a);
}

static void fill(const dae_result_row *r, cells *c)
{
    const dae_published_row *p = r->published;
    int marks = dae_result_marks(r);
    *c = (cells){0};
    snprintf(c->text[0], cell_size, p && strcmp(p->solver, r->run.solver) != 0 ? "%s (%s)%s%s" : "%s%.0s%s%s",
             r->run.solver, p ? p->solver : "", p && p->variant ? " " : "",
             p && p->variant ? p->variant : "");
    dae_snprintf(c->text[1], cell_size, "%.3g", r->run.rtol);
    dae_snprintf(c->text[2], cell_size, "%.3g", r->run.atol);
    if (r->run.h0 > 0) dae_snprintf(c->text[3], cell_size, "%.3g", r->run.h0);
    else strcpy(c->text[3], "-");
    put_digits(c->text[4], r->run.mescd, p ? &p->mescd : NULL);
    put_digits(c->text[5], r->run.scd, p ? &p->scd : NULL);
    put_count(c->text[6], r->run.steps, p ? &p->steps : NULL);
    put_count(c->text[7], r->run.accepted, p ? &p->accepted : NULL);
    put_count(c->text[8], r->run.f, p ? &p->f : NULL);
    put_count(c->text[9], r->run.jac, p ? &p->jac : NULL);
    put_count(c->text[10], r->run.lu, p ? &p->lu : NULL);
    put_seconds(c->text[11], r->run.cpu_seconds, p ? &p->cpu_seconds : NULL);
    c->marked[0] = (marks & DAE_MARK_FAILED) != 0;
    c->marked[4] = (marks & DAE_MARK_MESCD) != 0;
    c->marked[5] = (marks & DAE_MARK_SCD) != 0;
    c->marked[6] = (marks & DAE_MARK_STEPS) != 0;
    c->marked[8] = (marks & DAE_MARK_F) != 0;
    if (marks & DAE_MARK_FAILED) strcpy(c->text[4], "failed");
}

/* ---- Markdown and LaTeX ---------------------------------------------------------------------------- */

static void widths(const dae_result_row *row, int count, int *width)
{
    for (int k = 0; k < columns; k++) width[k] = (int)strlen(heads[k]);
    for (int i = 0; i < count; i++) {
        cells c;
        fill(&row[i], &c);
        for (int k = 0; k < columns; k++) {
            int w = (int)strlen(c.text[k]) + 4 * c.marked[k];
            if (w > width[k]) width[k] = w;
        }
    }
}

static const char *title(const char *problem)
{
    const dae_problem_info *p = dae_problem_find(problem);
    return p && p->title ? p->title : "";
}

static void markdown(dae_text *x, const dae_result_row *row, int count)
{
    int width[columns];
    widths(row, count, width);
    dae_text_print(x, "## %s: %s\n\n", row->run.problem, title(row->run.problem));
    for (int k = 0; k < columns; k++) dae_text_print(x, "| %-*s ", width[k], heads[k]);
    dae_text_put(x, "|\n");
    for (int k = 0; k < columns; k++) {
        dae_text_put(x, "|");
        dae_text_fill(x, '-', width[k] + (k ? 1 : 2));
        if (k) dae_text_put(x, ":");
    }
    dae_text_put(x, "|\n");
    for (int i = 0; i < count; i++) {
        cells c;
        fill(&row[i], &c);
        for (int k = 0; k < columns; k++) {
            char text[cell_size + 8];
            snprintf(text, sizeof text, c.marked[k] ? "**%s**" : "%s", c.text[k]);
            dae_text_print(x, k ? "| %*s " : "| %-*s ", width[k], text);
        }
        dae_text_put(x, "|\n");
    }
    for (int i = 0; i < count; i++) {
        if (row[i].run.status != DAE_OK)
            dae_text_print(x, "\n%s at rtol %.3g failed: %s\n", row[i].run.solver, row[i].run.rtol,
                           row[i].run.message);
    }
    dae_text_put(x, "\n");
}

static void latex(dae_text *x, const dae_result_row *row, int count)
{
    dae_text_put(x, "\\begin{table}\n\\caption{");
    dae_escape_latex(row->run.problem, strlen(row->run.problem), dae_text_write, x);
    dae_text_put(x, ": ");
    dae_escape_latex(title(row->run.problem), strlen(title(row->run.problem)), dae_text_write, x);
    dae_text_put(x, "}\n\\begin{tabular}{l");
    dae_text_fill(x, 'r', columns - 1);
    dae_text_put(x, "}\n\\hline\n");
    for (int k = 0; k < columns; k++) dae_text_print(x, "%s%s", k ? " & " : "", heads[k]);
    dae_text_put(x, " \\\\\n\\hline\n");
    for (int i = 0; i < count; i++) {
        cells c;
        fill(&row[i], &c);
        for (int k = 0; k < columns; k++) {
            dae_text_put(x, k ? " & " : "");
            dae_text_put(x, c.marked[k] ? "\\textbf{" : "");
            dae_escape_latex(c.text[k], strlen(c.text[k]), dae_text_write, x);
            dae_text_put(x, c.marked[k] ? "}" : "");
        }
        dae_text_put(x, " \\\\\n");
    }
    dae_text_put(x, "\\hline\n\\end{tabular}\n\\end{table}\n\n");
}

static const struct {
    int bit;
    const char *name;
} mark_names[] = {{DAE_MARK_FAILED, "failed"},
                  {DAE_MARK_MESCD, "mescd"},
                  {DAE_MARK_SCD, "scd"},
                  {DAE_MARK_STEPS, "steps"},
                  {DAE_MARK_F, "f"}};
enum { nmarks = sizeof mark_names / sizeof *mark_names };

/* ---- The page ---------------------------------------------------------------------------------------- */

static void put_head(dae_text *x, const dae_result_row *row, int count, const char *command)
{
    int failed = 0, marked = 0, compared = 0, printed = 0;
    dae_provenance p;
    char about[1024];
    dae_provenance_now(&p);
    dae_provenance_text(&p, about, sizeof about);
    for (int i = 0; i < count; i++) {
        int marks = dae_result_marks(&row[i]);
        failed += (marks & DAE_MARK_FAILED) != 0;
        marked += marks != 0 && row[i].published;
        compared += row[i].published != NULL;
        printed += row[i].published && (i == 0 || row[i].published != row[i - 1].published);
    }
    dae_text_print(
        x,
        "# Run characteristics beside those of the test set report\n\n"
        "Made by `daedalus %s`, version %s. A cell reads: ours (printed), counts with their ratio. The "
        "printed\n"
        "CPU seconds are those of a 667 MHz Alpha. **Bold**: digits more than 0.7 (radau5, radau, ida, "
        "cvode) or\n"
        "0.5 (others) below the printed ones, steps or f above 1.6 or 1.3 times them, or a failed run. A "
        "solver\n"
        "that stands beside another's rows has that one's name in brackets. accepted, Jac, LU and CPU are "
        "shown\n"
        "and not judged. No first step (-): the method chooses it. As in the report, dassl, ida, vode and "
        "cvode\n"
        "stop at the end of the interval (`run --end stop`).\n\n"
        "%d runs beside %d printed rows: %d without a mark, %d with one, %d failed.\n\nComputed with %s.\n\n",
        command, dae_version(), compared, printed, compared - marked, marked, failed, about);
}

/* Every marked row in one line, with what is worse. */
static void put_marked(dae_text *x, const dae_result_row *row, int count)
{
    dae_text_put(x, "## Marked rows\n\n| problem | solver | rtol | what |\n|---|---|---:|---|\n");
    for (int i = 0; i < count; i++) {
        const dae_measurement *m = &row[i].run;
        const dae_published_row *p = row[i].published;
        int marks = dae_result_marks(&row[i]);
        if (!marks) continue;
        dae_text_print(x, "| %s | %s | %.3g |", m->problem, m->solver, m->rtol);
        for (int k = 0; k < nmarks; k++) {
            if (!(marks & mark_names[k].bit)) continue;
            dae_text_print(x, " %s", mark_names[k].name);
            if (mark_names[k].bit == DAE_MARK_MESCD) dae_text_print(x, " %+.2f", m->mescd - p->mescd);
            if (mark_names[k].bit == DAE_MARK_SCD) dae_text_print(x, " %+.2f", m->scd - p->scd);
            if (mark_names[k].bit == DAE_MARK_STEPS)
                dae_text_print(x, " x%.2f", (double)m->steps / (double)p->steps);
            if (mark_names[k].bit == DAE_MARK_F) dae_text_print(x, " x%.2f", (double)m->f / (double)p->f);
        }
        dae_text_put(x, " |\n");
    }
    dae_text_put(x, "\n");
}

dae_status dae_results_page(const dae_result_row *row, int count, const char *command, int list_marked,
                            dae_write_fn *write, void *user)
{
    dae_text x = {.write = write, .user = user};
    put_head(&x, row, count, command);
    dae_status s = dae_text_end(&x);
    if (s >= 0) s = dae_results_write(row, count, "md", write, user);
    if (s < 0 || !list_marked) return s;
    put_marked(&x, row, count);
    return dae_text_end(&x);
}

/* ---- HTML ------------------------------------------------------------------------------------------- */

/* "ours (printed) ratio": ours in the line, the rest small below it. */
static void html_cell(dae_text *x, const char *text, int marked, int number)
{
    const char *rest = number ? strchr(text, ' ') : NULL;
    dae_text_put(x, marked ? "<td class=\"worse\">" : "<td>");
    dae_escape_html(text, rest ? (size_t)(rest - text) : strlen(text), dae_text_write, x);
    if (rest) {
        const char *close = strchr(rest, ')'), *ratio = close && close[1] ? close + 2 : NULL;
        dae_text_put(x, "<small>");
        if (close) dae_escape_html(rest + 2, (size_t)(close - rest - 2), dae_text_write, x);
        if (ratio) {
            dae_text_put(x, " &middot; \303\227");
            dae_escape_html(ratio, strlen(ratio), dae_text_write, x);
        }
        dae_text_put(x, "</small>");
    }
    dae_text_put(x, "</td>");
}

static void html(dae_text *x, const dae_result_row *row, int count)
{
    dae_text_put(x, "<table class=\"runs\">\n<thead><tr>");
    for (int k = 0; k < columns; k++) dae_text_print(x, "<th>%s</th>", heads[k]);
    dae_text_put(x, "</tr></thead>\n<tbody>\n");
    for (int i = 0; i < count; i++) {
        cells c;
        fill(&row[i], &c);
        dae_text_put(x, i > 0 && strcmp(row[i].run.solver, row[i - 1].run.solver) != 0
                            ? "<tr class=\"first\">"
                            : "<tr>");
        for (int k = 0; k < columns; k++) html_cell(x, c.text[k], c.marked[k], k > 3);
        dae_text_put(x, "</tr>\n");
    }
    dae_text_put(x, "</tbody></table>\n");
}

/* ---- Tables and JSON ---------------------------------------------------------------------------------- */

/* A number, or an empty cell where there is none. */
static void put_real(dae_table *t, long row, int *k, double value)
{
    if (isfinite(value)) dae_table_set(t, row, *k, value);
    else dae_table_set_text(t, row, *k, "");
    ++*k;
}

static void table_figures(dae_table *t, long row, int *k, double mescd, double scd, const long *count,
                          double cpu)
{
    put_real(t, row, k, mescd);
    put_real(t, row, k, scd);
    for (int i = 0; i < 5; i++) put_real(t, row, k, count[i] >= 0 ? (double)count[i] : NAN);
    put_real(t, row, k, cpu);
}

static void table_row(dae_table *t, long i, const dae_result_row *r)
{
    const dae_published_row *p = r->published;
    char marked[64] = "";
    int k = 0, marks = dae_result_marks(r);
    dae_table_set_text(t, i, k++, r->run.problem);
    dae_table_set_text(t, i, k++, r->run.solver);
    dae_table_set_text(t, i, k++, p ? p->solver : "");
    dae_table_set_text(t, i, k++, p && p->variant ? p->variant : "");
    put_real(t, i, &k, r->run.rtol);
    put_real(t, i, &k, r->run.atol);
    put_real(t, i, &k, r->run.h0);
    dae_table_set_text(t, i, k++, dae_run_status_word(r->run.status));
    table_figures(t, i, &k, r->run.mescd, r->run.scd,
                  (long[]){r->run.steps, r->run.accepted, r->run.f, r->run.jac, r->run.lu},
                  r->run.cpu_seconds);
    table_figures(t, i, &k, p ? p->mescd : NAN, p ? p->scd : NAN,
                  p ? (long[]){p->steps, p->accepted, p->f, p->jac, p->lu} : (long[]){-1, -1, -1, -1, -1},
                  p ? p->cpu_seconds : NAN);
    for (int m = 0; m < nmarks; m++) {
        if (!(marks & mark_names[m].bit)) continue;
        if (marked[0]) strcat(marked, " ");
        strcat(marked, mark_names[m].name);
    }
    dae_table_set_text(t, i, k, marked);
}

dae_table *dae_results_table(const dae_result_row *row, int count, dae_error *err)
{
    static const char *const names[] = {"problem",
                                        "solver",
                                        "published_solver",
                                        "variant",
                                        "rtol",
                                        "atol",
                                        "h0",
                                        "status",
                                        "mescd",
                                        "scd",
                                        "steps",
                                        "accepted",
                                        "f",
                                        "jac",
                                        "lu",
                                        "cpu_seconds",
                                        "published_mescd",
                                        "published_scd",
                                        "published_steps",
                                        "published_accepted",
                                        "published_f",
                                        "published_jac",
                                        "published_lu",
                                        "published_cpu_seconds",
                                        "marks"};
    enum { n = sizeof names / sizeof *names };
    dae_table *t = dae_table_create(n, count);
    for (int k = 0; t && k < n; k++) dae_table_column(t, k, names[k], strstr(names[k], "seconds") ? "s" : "");
    for (int i = 0; t && i < count; i++) table_row(t, i, &row[i]);
    if (t) {
        t->no_units = 1;
        for (int k = 2; k < 4; k++) dae_table_mark_words(t, names[k]);
        dae_table_mark_words(t, "marks");
    }
    if (t && !t->failed) return t;
    dae_table_destroy(t);
    dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    return NULL;
}

static json_t *count_or_null(long k)
{
    return k >= 0 ? json_integer(k) : json_null();
}

static void put_figures(json_t *o, double mescd, double scd, const long *count, double cpu)
{
    static const char *const name[] = {"steps", "accepted", "f", "jac", "lu"};
    json_object_set_new(o, "mescd", dae_json_real(mescd));
    json_object_set_new(o, "scd", dae_json_real(scd));
    for (int k = 0; k < 5; k++) json_object_set_new(o, name[k], count_or_null(count[k]));
    json_object_set_new(o, "cpu_seconds", dae_json_real(cpu));
}

static json_t *published_object(const dae_published_row *p)
{
    if (!p) return json_null();
    json_t *o = json_object();
    json_object_set_new(o, "solver", json_string(p->solver));
    json_object_set_new(o, "variant", p->variant ? json_string(p->variant) : json_null());
    put_figures(o, p->mescd, p->scd, (long[]){p->steps, p->accepted, p->f, p->jac, p->lu}, p->cpu_seconds);
    return o;
}

static json_t *row_object(const dae_result_row *r)
{
    json_t *o = json_object(), *marks = json_array();
    int bits = dae_result_marks(r);
    json_object_set_new(o, "problem", json_string(r->run.problem));
    json_object_set_new(o, "solver", json_string(r->run.solver));
    json_object_set_new(o, "m", r->m >= 0 ? json_integer(r->m) : json_null());
    json_object_set_new(o, "rtol", dae_json_real(r->run.rtol));
    json_object_set_new(o, "atol", dae_json_real(r->run.atol));
    json_object_set_new(o, "h0", r->run.h0 > 0 ? json_real(r->run.h0) : json_null());
    json_object_set_new(o, "status", json_string(dae_run_status_word(r->run.status)));
    json_t *text = r->run.message[0] ? json_string(r->run.message) : json_null();
    json_object_set_new(o, "message", text ? text : json_null());
    put_figures(o, r->run.mescd, r->run.scd,
                (long[]){r->run.steps, r->run.accepted, r->run.f, r->run.jac, r->run.lu}, r->run.cpu_seconds);
    json_object_set_new(o, "published", published_object(r->published));
    if (r->m >= 0)
        json_object_set_new(o, "published_failed",
                            json_boolean(dae_published_failed(r->run.problem, r->run.solver, r->m)));
    for (int k = 0; k < nmarks; k++) {
        if (bits & mark_names[k].bit) json_array_append_new(marks, json_string(mark_names[k].name));
    }
    json_object_set_new(o, "marks", marks);
    json_object_set_new(o, "code", json_string(dae_status_name(r->run.status)));
    json_object_set_new(o, "version", json_string(dae_version()));
    json_object_set_new(o, "provenance", dae_provenance_object());
    return o;
}

dae_status dae_result_json(const dae_result_row *row, dae_write_fn *write, void *user)
{
    return dae_json_write(row_object(row), write, user);
}

static int same_real(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fabs(b);
}

int dae_result_take(dae_result_row *row, const dae_measurement *m)
{
    const dae_measurement *planned = &row->run;
    if (strcmp(m->problem, planned->problem) != 0 || strcmp(m->solver, planned->solver) != 0 ||
        !same_real(m->rtol, planned->rtol) || !same_real(m->atol, planned->atol) ||
        !same_real(m->h0, planned->h0))
        return 0;
    double rtol = planned->rtol, atol = planned->atol, h0 = planned->h0;
    row->run = *m;
    row->run.rtol = rtol;
    row->run.atol = atol;
    row->run.h0 = h0;
    return 1;
}

dae_status dae_results_write(const dae_result_row *row, int count, const char *format, dae_write_fn *write,
                             void *user)
{
    dae_text x = {.write = write, .user = user};
    int tables = !strcmp(format, "md") || !strcmp(format, "latex") || !strcmp(format, "html");
    for (int i = 0, n; tables && i < count; i += n) {
        for (n = 1; i + n < count && !strcmp(row[i].run.problem, row[i + n].run.problem);) n++;
        if (format[0] == 'm') markdown(&x, row + i, n);
        else if (format[0] == 'h') html(&x, row + i, n);
        else latex(&x, row + i, n);
    }
    if (!strcmp(format, "csv")) {
        dae_table *t = dae_results_table(row, count, NULL);
        dae_status s = t ? dae_table_csv(t, write, user) : DAE_ERR_MEMORY;
        dae_table_destroy(t);
        return s;
    } else if (!strcmp(format, "json")) {
        json_t *o = json_object(), *list = json_array();
        for (int i = 0; i < count; i++) {
            json_t *line = row_object(&row[i]);
            json_object_del(line, "provenance"); /* once for all */
            json_array_append_new(list, line);
        }
        json_object_set_new(o, "rows", list);
        json_object_set_new(o, "provenance", dae_provenance_object());
        return dae_json_line(o, write, user);
    } else if (!tables) {
        return DAE_ERR_INPUT;
    }
    return dae_text_end(&x);
}
