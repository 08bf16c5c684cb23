/* The matrix of all solvers, problems and tolerances: which runs, in which order, what they say together. */
#include <daedalus/matrix.h>

#include "core/number.h"
#include "core/text.h"
#include "study/solver.h"

#include <daedalus/provenance.h>
#include <daedalus/version.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int in_list(const char *name, const char *const *list, int n)
{
    for (int i = 0; i < n; i++) {
        if (!strcmp(list[i], name)) return 1;
    }
    return !list;
}

/* ---- Which runs ---------------------------------------------------------------------------------------- */

dae_status dae_matrix_plan(const dae_matrix_choice *choice, dae_matrix_runs *out, dae_error *err)
{
    const dae_matrix_choice all = {0};
    *out = (dae_matrix_runs){.choice = choice ? *choice : all};
    const dae_matrix_choice *c = &out->choice;
    int every = c->every > 1 ? c->every : 1;
    for (int i = 0; i < dae_problem_count(); i++) {
        const dae_problem_info *p = dae_problem_get(i);
        if (!in_list(p->name, c->problem, c->nproblem)) continue;
        dae_result_row *more = NULL;
        int n = dae_results_plan(p->name, DAE_RESULTS_RANGE, &(dae_results_choice){.own = c->own}, &more);
        dae_result_row *longer =
            n > 0 ? realloc(out->row, (size_t)(out->count + n) * sizeof *longer) : out->row;
        if (n < 0 || (n > 0 && !longer)) {
            free(more);
            goto starved;
        }
        out->row = longer;
        for (int k = 0; k < n; k++) {
            if (more[k].m % every == 0 && in_list(more[k].run.solver, c->solver, c->nsolver))
                longer[out->count++] = more[k];
        }
        free(more);
    }
    out->finished = calloc((size_t)out->count + 1, 1);
    if (out->finished) return DAE_OK;
starved:
    dae_matrix_free(out);
    return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
}

void dae_matrix_free(dae_matrix_runs *x)
{
    free(x->row);
    free(x->finished);
    *x = (dae_matrix_runs){0};
}

/* Tolerances of the problem's range at which a solver that takes it has no run for its cost. */
static int left_out(const dae_problem_info *p, const dae_method_info *m)
{
    const dae_tolerance_range *r = dae_tolerance_range_find(p->name);
    int n = 0;
    if (!r || dae_matrix_exclusion(p, m)) return 0;
    for (int k = 0; k <= r->last; k++) n += pow(10, -(r->a + k * r->b)) < dae_matrix_least_rtol(p, m);
    return n;
}

/* Number of tolerances per solver and problem, or why there are none. */
dae_status dae_matrix_eligible(const dae_matrix_runs *x, dae_write_fn *write, void *user)
{
    dae_text text = {.write = write, .user = user}, *out = &text;
    dae_text_print(out, "%-12s %-12s %s\n", "PROBLEM", "SOLVER", "RUNS");
    for (int i = 0; i < dae_problem_count(); i++) {
        const dae_problem_info *p = dae_problem_get(i);
        if (!in_list(p->name, x->choice.problem, x->choice.nproblem) || !dae_tolerance_range_find(p->name))
            continue;
        for (int k = 0; dae_solver_method_at(x->choice.own, k); k++) {
            const dae_method_info *m = dae_solver_method_at(x->choice.own, k);
            if (!in_list(m->name, x->choice.solver, x->choice.nsolver)) continue;
            const char *why = dae_matrix_exclusion(p, m);
            int runs = 0;
            for (int j = 0; j < x->count; j++)
                runs += !strcmp(x->row[j].run.problem, p->name) && !strcmp(x->row[j].run.solver, m->name);
            if (why) dae_text_print(out, "%-12s %-12s - (%s)\n", p->name, m->name, why);
            else dae_text_print(out, "%-12s %-12s %d", p->name, m->name, runs);
            if (!why && left_out(p, m))
                dae_text_print(out, " (none below %.3g for their cost)", dae_matrix_least_rtol(p, m));
            if (!why) dae_text_put(out, "\n");
        }
    }
    return dae_text_end(out);
}

/* ---- Running ------------------------------------------------------------------------------------------- */

/* Whether a line is of this version, also one of before there was a provenance. */
static int of_this_version(const char *line, size_t length)
{
    char version[64];
    int n = snprintf(version, sizeof version, "\"version\":\"%s\"", dae_version());
    for (size_t i = 0; i + (size_t)n <= length; i++) {
        if (!memcmp(line + i, version, (size_t)n)) return 1;
    }
    return 0;
}

void dae_matrix_take(dae_matrix_runs *x, const char *line, size_t length, int retry)
{
    dae_measurement m;
    if (!of_this_version(line, length) || dae_measurement_parse(line, length, &m, NULL) < 0) return;
    for (int i = 0; i < x->count; i++) {
        if (dae_result_take(&x->row[i], &m)) x->finished[i] = x->row[i].run.status == DAE_OK || !retry;
    }
}

/* Steps through the runs with a stride without common divisor, so that the mean time of the first ones is that of
 * all, and the time that is left can be told. Returns how many are to be run. */
static int make_order(const dae_matrix_runs *x, int *order)
{
    long stride = 1, n = x->count;
    int todo = 0;
    for (stride = (long)(0.618 * (double)n) + 1; n > 1; stride++) {
        long a = stride, b = n;
        while (b) {
            long r = a % b;
            a = b;
            b = r;
        }
        if (a == 1) break;
    }
    for (long k = 0; k < n; k++) {
        int i = (int)(k * stride % n);
        if (!x->finished[i]) order[todo++] = i;
    }
    return todo;
}

/* Marks what is finished before the caller is told. */
typedef struct marker {
    dae_matrix_runs *x;
    const dae_results_options *opt;
} marker;

static int on_done(const dae_result_row *row, void *user)
{
    const marker *m = user;
    int bad = m->opt->done ? m->opt->done(row, m->opt->user) : 0;
    for (int i = 0; !bad && i < m->x->count; i++) {
        const dae_result_row *r = &m->x->row[i];
        if (r->m == row->m && !strcmp(r->run.problem, row->run.problem) &&
            !strcmp(r->run.solver, row->run.solver))
            m->x->finished[i] = 1;
    }
    return bad;
}

static int look(int done, int failed, int count, void *user)
{
    const marker *m = user;
    return m->opt->look ? m->opt->look(done, failed, count, m->opt->user) : 0;
}

dae_status dae_matrix_run(dae_matrix_runs *x, const dae_results_options *opt, dae_error *err)
{
    const dae_results_options standard = {0};
    marker m = {x, opt ? opt : &standard};
    dae_results_options o = *m.opt;
    int *order = calloc((size_t)x->count + 1, sizeof *order);
    if (!order) return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    o.done = on_done;
    o.look = look;
    o.user = &m;
    dae_status s = dae_results_run(x->row, order, make_order(x, order), &o, err);
    free(order);
    return s;
}

dae_matrix_sum dae_matrix_total(const dae_matrix_runs *x)
{
    dae_matrix_sum sum = {0};
    for (int i = 0; i < x->count; i++) {
        const dae_measurement *m = &x->row[i].run;
        if (!x->finished[i]) continue;
        sum.done++;
        sum.failed += m->status != DAE_OK;
        if (isfinite(m->cpu_seconds)) sum.cpu_seconds += m->cpu_seconds;
    }
    return sum;
}

/* ---- What they say ------------------------------------------------------------------------------------- */

/* All runs of a solver on a problem; they stand together. */
typedef struct group {
    int planned, runs, failed;
    double least, most, cpu; /* digits: scd, or mescd where it is not used */
} group;

static group group_of(const dae_matrix_runs *x, const char *problem, const char *solver)
{
    group g = {.least = INFINITY, .most = -INFINITY};
    for (int i = 0; i < x->count; i++) {
        const dae_result_row *r = &x->row[i];
        if (strcmp(r->run.problem, problem) != 0 || strcmp(r->run.solver, solver) != 0) continue;
        g.planned++;
        if (!x->finished[i]) continue;
        double digits = isfinite(r->run.scd) ? r->run.scd : r->run.mescd;
        g.runs++;
        g.failed += r->run.status != DAE_OK;
        if (isfinite(digits)) {
            g.least = fmin(g.least, digits);
            g.most = fmax(g.most, digits);
        }
        if (isfinite(r->run.cpu_seconds)) g.cpu += r->run.cpu_seconds;
    }
    return g;
}

/* What is left out for its cost: never counted, but told. */
static int print_limits(dae_text *out, const dae_matrix_runs *x, const char *head, const char *format)
{
    int n = 0;
    for (int i = 0; i < dae_problem_count(); i++) {
        const dae_problem_info *p = dae_problem_get(i);
        for (int k = 0; dae_solver_method_at(x->choice.own, k) &&
                        in_list(p->name, x->choice.problem, x->choice.nproblem);
             k++) {
            const dae_method_info *m = dae_solver_method_at(x->choice.own, k);
            if (!in_list(m->name, x->choice.solver, x->choice.nsolver) || !left_out(p, m)) continue;
            dae_text_print(out, "%s", n++ ? "" : head);
            dae_text_print(out, format, m->name, p->name, dae_matrix_least_rtol(p, m), m->order_max,
                           left_out(p, m));
        }
    }
    return n;
}

/* The failed run after run i; count: there is none. */
static int next_failed(const dae_matrix_runs *x, int i)
{
    while (++i < x->count && (!x->finished[i] || x->row[i].run.status == DAE_OK)) continue;
    return i;
}

static const char *published_too(const dae_result_row *r)
{
    return dae_published_failed(r->run.problem, r->run.solver, r->m) ? ", failed in the report too" : "";
}

dae_status dae_matrix_summary(const dae_matrix_runs *x, dae_write_fn *write, void *user)
{
    dae_text text = {.write = write, .user = user}, *out = &text;
    dae_matrix_sum sum = dae_matrix_total(x);
    dae_text_print(out, "%-12s %-12s %5s %6s  %-15s %s\n", "PROBLEM", "SOLVER", "RUNS", "FAILED", "SCD",
                   "CPU SECONDS");
    for (int i = 0; i < x->count;) {
        const dae_result_row *r = &x->row[i];
        group g = group_of(x, r->run.problem, r->run.solver);
        char span[32] = "-";
        if (g.least <= g.most) dae_snprintf(span, sizeof span, "%.1f .. %.1f", g.least, g.most);
        dae_text_print(out, "%-12s %-12s %5d %6d  %-15s %.3f\n", r->run.problem, r->run.solver, g.runs,
                       g.failed, span, g.cpu);
        i += g.planned;
    }
    print_limits(out, x, "\nLeft out for their cost\n", "  %s on %s below %.3g, order %d: %d runs\n");
    if (sum.failed) dae_text_print(out, "\nFailed runs\n");
    for (int i = -1; (i = next_failed(x, i)) < x->count;) {
        const dae_result_row *r = &x->row[i];
        dae_text_print(out, "  %s, %s, rtol %.3g (m = %d%s): %s\n", r->run.problem, r->run.solver,
                       r->run.rtol, r->m, published_too(r), r->run.message);
        dae_text_print(out, "    daedalus run %s --solver %s --rtol %.17g --atol %.17g --h0 %.17g\n",
                       r->run.problem, r->run.solver, r->run.rtol, r->run.atol, r->run.h0);
    }
    dae_text_print(out, "\n%d of %d runs, %d failed, %.0f s of CPU time", sum.done, x->count, sum.failed,
                   sum.cpu_seconds);
    return dae_text_end(out);
}

typedef void cell_fn(dae_text *out, const group *g);

static void runs_cell(dae_text *out, const group *g)
{
    if (g->runs < g->planned) dae_text_print(out, " %d of %d", g->runs, g->planned);
    else dae_text_print(out, " %d", g->runs);
    if (g->failed) dae_text_print(out, ", **%d failed**", g->failed);
}

static void digits_cell(dae_text *out, const group *g)
{
    if (g->least <= g->most) dae_text_print(out, " %.1f..%.1f", g->least, g->most);
    else dae_text_put(out, " -");
}

/* Problems down, solvers across: those that have runs. */
static void cross(dae_text *out, const dae_matrix_runs *x, cell_fn *cell)
{
    int column[64], n = 0;
    dae_text_put(out, "| problem |");
    for (int k = 0; dae_solver_method_at(x->choice.own, k) && n < 64; k++) {
        const char *name = dae_solver_method_at(x->choice.own, k)->name;
        int any = 0;
        for (int i = 0; i < x->count; i++) any |= !strcmp(x->row[i].run.solver, name);
        if (!any) continue;
        column[n++] = k;
        dae_text_print(out, " %s |", name);
    }
    dae_text_put(out, "\n|---|");
    for (int k = 0; k < n; k++) dae_text_put(out, "---:|");
    for (int j = 0; j < dae_problem_count(); j++) {
        const char *name = dae_problem_get(j)->name;
        int any = 0;
        for (int i = 0; i < x->count; i++) any |= !strcmp(x->row[i].run.problem, name);
        if (!any) continue;
        dae_text_print(out, "\n| %s |", name);
        for (int k = 0; k < n; k++) {
            group g = group_of(x, name, dae_solver_method_at(x->choice.own, column[k])->name);
            if (g.planned) cell(out, &g);
            else dae_text_put(out, " ");
            dae_text_put(out, " |");
        }
    }
    dae_text_put(out, "\n");
}

dae_status dae_matrix_page(const dae_matrix_runs *x, dae_write_fn *write, void *user)
{
    dae_text text = {.write = write, .user = user}, *out = &text;
    dae_matrix_sum sum = dae_matrix_total(x);
    dae_provenance p;
    char about[1024];
    dae_provenance_now(&p);
    dae_provenance_text(&p, about, sizeof about);
    dae_text_print(
        out,
        "# Every solver on every problem of the test set\n\n"
        "Made by `daedalus matrix --condensed`, version %s: each solver on each problem that it takes, at "
        "the\n"
        "tolerances rtol = 10^-(a + m b) of the problem's work-precision diagram in the test set report.\n\n"
        "**%d of %d runs, %d failed**, %.0f s of CPU time.\n\nComputed with %s.\n\n"
        "A blank cell: the solver does not take the equations, is explicit and the problem stiff, or is a "
        "BDF code\n"
        "for index 1 (`daedalus matrix --eligible` tells which).\n",
        dae_version(), sum.done, x->count, sum.failed, sum.cpu_seconds, about);
    if (!print_limits(
            out, x, "",
            "Left out for their cost: %s on %s below %.3g, whose order %d takes more than 1.5e8 steps "
            "each there: %d runs.\n"))
        dae_text_put(out, "No run is left out for its cost.\n");
    dae_text_put(out, "\n## Runs\n\n");
    cross(out, x, runs_cell);
    dae_text_put(
        out,
        "\n## Digits\n\nLeast and most correct digits over the tolerances: scd, or mescd where the report "
        "does not use "
        "scd.\n\n");
    cross(out, x, digits_cell);
    if (sum.failed)
        dae_text_put(
            out,
            "\n## Failed runs\n\nA run has failed too where it used up the CPU time that the call gave it "
            "(`--max-seconds`; `make matrix` gives 15 s, and wnys2, of order 2, 300 s).\n\n| problem | "
            "solver | rtol | what happened "
            "|\n|---|---|---:|---|\n");
    for (int i = -1; (i = next_failed(x, i)) < x->count;) {
        const dae_result_row *r = &x->row[i];
        dae_text_print(out, "| %s | %s | %.3g%s | %s |\n", r->run.problem, r->run.solver, r->run.rtol,
                       published_too(r), r->run.message);
    }
    return dae_text_end(out);
}

dae_table *dae_matrix_table(const dae_matrix_runs *x, dae_error *err)
{
    dae_result_row *list = calloc((size_t)x->count + 1, sizeof *list);
    int n = 0;
    for (int i = 0; list && i < x->count; i++) {
        if (x->finished[i]) list[n++] = x->row[i];
    }
    dae_table *t = list ? dae_results_table(list, n, err) : NULL;
    if (!list) dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    free(list);
    return t;
}
