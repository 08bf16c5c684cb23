/* The report for people, in the layout of the example runs in [TESTSET] (figures I.1.1 to I.9.1), and the text
 * of a failure: what, where, pose, why, try, kept. */
#include "core/text.h"

#include "core/number.h"

#include <daedalus/experiment.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { value_width = 23, digits_width = 9, label_width = 33, pose_positions = 24 };

typedef struct digits {
    double mixed, absolute, relative; /* -log10 of the error; INFINITY: none at all, NAN: cannot be said */
} digits;

static digits component_digits(const dae_run_result *r, int i)
{
    double truth = r->problem->reference[i], error = fabs(r->last.y[i] - truth);
    double floor = r->rtol_vec[i] > 0 ? r->atol_vec[i] / r->rtol_vec[i] : 0;
    digits d = {-log10(error / (floor + fabs(truth))), -log10(error),
                truth != 0 ? -log10(error / fabs(truth)) : NAN};
    if (floor + fabs(truth) == 0) d.mixed = NAN;
    return d;
}

static int is_scored(const dae_problem *p, int i)
{
    return !p->no_scd && (!p->scored || p->scored[i]);
}

static int has_score(const dae_run_result *r)
{
    return r->status == DAE_OK && r->problem->reference && r->t_end == r->problem->t_end;
}

/* One cell of the digits columns. */
static void cell(dae_text *x, double d)
{
    if (isnan(d)) {
        dae_text_print(x, "%*s", digits_width, "-");
    } else if (isinf(d)) {
        dae_text_print(x, "%*s", digits_width, d > 0 ? "exact" : "-");
    } else {
        dae_text_print(x, "%*.2f", digits_width, d);
    }
}

/* Which components are shown: 1 for each. With too many, those with the fewest mixed digits (or the
 * first). */
static unsigned char *choose_components(const dae_run_result *r, int max, int scored)
{
    int n = r->n;
    unsigned char *show = calloc((size_t)n + 1, 1);
    if (!show) return NULL;
    for (int k = 0; k < n && (max <= 0 || k < max); k++) {
        int best = -1;
        double fewest = INFINITY;
        for (int i = 0; i < n; i++) {
            if (show[i]) continue;
            double d = scored && max > 0 && n > max ? component_digits(r, i).mixed : 0;
            if (best < 0 || d < fewest) {
                best = i;
                fewest = d;
            }
        }
        show[best] = 1;
    }
    return show;
}

static int name_width(const dae_run_result *r, const unsigned char *show)
{
    size_t width = 4;
    char buffer[24];
    for (int i = 0; i < r->n; i++) {
        size_t k = show[i] ? strlen(dae_component_name(r->problem, i, buffer, sizeof buffer)) : 0;
        if (k > width) width = k;
    }
    return width < 40 ? (int)width : 40;
}

static void put_header(dae_text *x, int left)
{
    dae_text_print(x, "%*s%*s\n", left, "", 2 * digits_width + 1, "scd");
    dae_text_print(x, "%*s   ------------------------     ignore\n", left,
                   "     solution component              reference      ");
    dae_text_print(x, "%*s%*s%*s%*s   mix - abs,rel\n", left, "", digits_width, "mixed", digits_width, "abs",
                   digits_width, "rel");
    dae_text_print(x, "%*s%*s%*s%*s   -------------\n", left, "", digits_width, "-----", digits_width,
                   "-----", digits_width, "-----");
}

/* The largest error of each kind over the components that count, as digits. */
static digits least_digits(const dae_run_result *r, int *known, int *used)
{
    digits least = {INFINITY, INFINITY, INFINITY};
    *known = *used = 0;
    for (int i = 0; i < r->n; i++) {
        digits d = component_digits(r, i);
        *known += !isnan(r->problem->reference[i]);
        least.mixed = fmin(least.mixed, d.mixed);
        if (!is_scored(r->problem, i)) continue;
        least.absolute = fmin(least.absolute, d.absolute);
        least.relative = fmin(least.relative, d.relative);
        ++*used;
    }
    if (*used == 0) least.absolute = least.relative = NAN;
    return least;
}

static void put_summary(dae_text *x, const dae_run_result *r, int left)
{
    const dae_problem *p = r->problem;
    int known, used;
    digits least = least_digits(r, &known, &used);
    dae_text_print(x, "\n%-*s%*d%*d%*d\n", left, "used components for scd", digits_width, known, digits_width,
                   used, digits_width, used);
    dae_text_print(x, "%-*s", left, "scd of Y (maximum norm)");
    cell(x, least.mixed);
    cell(x, least.absolute);
    cell(x, least.relative);
    dae_text_print(x, "\n\n%-*s", left, "using mixed error yields mescd");
    cell(x, r->mescd);
    if (p->no_scd) {
        dae_text_put(x, "\nscd is not used for this problem\n");
        return;
    }
    dae_text_print(x, "\n%-*s%*s", left,
                   p->absolute_scd ? "using absolute error yields scd" : "using relative error yields scd",
                   (p->absolute_scd ? 1 : 2) * digits_width, "");
    cell(x, r->scd);
    dae_text_put(x, "\n");
}

static void put_solution(dae_text *x, const dae_run_result *r, int max)
{
    int scored = has_score(r), hidden = 0;
    unsigned char *show = choose_components(r, max, scored);
    if (!show) {
        x->failed = DAE_TEXT_STARVED;
        return;
    }
    int width = name_width(r, show), left = width + 3 + value_width + (scored ? value_width + 1 : 0);
    dae_text_print(x, "Numerical solution at t = %.10g:\n\n", r->last.t);
    if (scored) {
        put_header(x, left);
    } else {
        dae_text_put(x, "     solution component\n");
    }
    for (int i = 0; i < r->n; i++) {
        char buffer[24];
        if (!show[i]) {
            hidden++;
            continue;
        }
        dae_text_print(x, "%-*s = %*.16e", width, dae_component_name(r->problem, i, buffer, sizeof buffer),
                       value_width, r->last.y[i]);
        if (scored) {
            digits d = component_digits(r, i);
            if (isnan(r->problem->reference[i])) dae_text_print(x, " %*s", value_width, "-");
            else dae_text_print(x, " %*.16e", value_width, r->problem->reference[i]);
            cell(x, d.mixed);
            cell(x, d.absolute);
            cell(x, d.relative);
            if (!is_scored(r->problem, i)) dae_text_put(x, "              x");
        } else if (dae_component_unit(r->problem, i)[0]) {
            dae_text_print(x, "  %s", dae_component_unit(r->problem, i));
        }
        dae_text_put(x, "\n");
    }
    if (hidden) {
        dae_text_print(x, "... and %d more components%s (--full shows all)\n", hidden,
                       scored ? ", all with at least as many mixed digits" : "");
    }
    if (scored) put_summary(x, r, left);
    free(show);
}

/* The wanted times as a table: one line per component, as many columns as fit. */
static void put_samples(dae_text *x, const dae_run_result *r, int max)
{
    enum { columns = 4 };
    int rows = max > 0 && max < r->n ? max : r->n;
    for (int first = 0; first < r->nat; first += columns) {
        int last = first + columns < r->nat ? first + columns : r->nat;
        dae_text_print(x, "\n%-16s", "t =");
        for (int k = first; k < last; k++) dae_text_print(x, " %20.12g", r->at[k].t);
        dae_text_put(x, "\n");
        for (int i = 0; i < rows; i++) {
            char buffer[24];
            dae_text_print(x, "%-16s", dae_component_name(r->problem, i, buffer, sizeof buffer));
            for (int k = first; k < last; k++) dae_text_print(x, " %20.12e", r->at[k].y[i]);
            dae_text_put(x, "\n");
        }
        if (rows < r->n) dae_text_print(x, "... and %d more components (--full shows all)\n", r->n - rows);
    }
}

static void count_line(dae_text *x, const char *label, long count)
{
    dae_text_print(x, "   %-*s%10ld\n", label_width, label, count);
}

static void put_characteristics(dae_text *x, const dae_run_result *r)
{
    const dae_stats *s = &r->stats;
    dae_text_put(x, "\nIntegration characteristics:\n\n");
    count_line(x, "number of integration steps", s->steps);
    count_line(x, "number of accepted steps", s->accepted);
    count_line(x, "number of f evaluations", s->f);
    count_line(x, "number of Jacobian evaluations", s->jac);
    count_line(x, "number of LU decompositions", s->lu);
    if (s->f_jac) count_line(x, "f evaluations for Jacobians", s->f_jac);
    if (s->krylov) count_line(x, "iterations of GMRES", s->krylov);
    if (s->undefined) count_line(x, "f could not be evaluated", s->undefined);
    if (s->restarts) count_line(x, "restarts at discontinuities", s->restarts);
    if (s->charts) count_line(x, "changes of coordinates", s->charts);
    for (int i = 0; i < r->nevent && i < 20; i++) {
        const char *name = r->event_name ? r->event_name[r->event[i].index] : NULL;
        dae_text_print(x, "   event %s at t = %.10g\n", name ? name : "(no name)", r->event[i].t);
    }
    if (r->nevent > 20) dae_text_print(x, "   ... and %d more events\n", r->nevent - 20);
    if (r->formulation) { /* a mechanical system */
        dae_text_print(x, "   %-*s%10.2e\n", label_width, "largest position residual", s->position_residual);
        dae_text_print(x, "   %-*s%10.2e\n", label_width, "largest velocity residual", s->velocity_residual);
    }
    if (s->user_seconds > 0 || s->linalg_seconds > 0) { /* profiled */
        dae_text_print(x, "   %-*s%10.6f sec\n", label_width, "time in the equations", s->user_seconds);
        dae_text_print(x, "   %-*s%10.6f sec\n", label_width, "time in linear algebra", s->linalg_seconds);
    }
    dae_text_print(x, "\n%-*s%10.*f sec", label_width + 3, "CPU-time used:", r->cpu_seconds < 0.1 ? 6 : 4,
                   r->cpu_seconds);
    if (r->repeat > 2) dae_text_print(x, "   (%d runs, largest and smallest dropped, median)", r->repeat);
    else if (r->repeat == 1 && r->npoint > 0) dae_text_put(x, "   (with the output of the trajectory)");
    dae_text_put(x, "\n");
}

dae_status dae_run_report(const dae_run_result *r, int max_components, dae_write_fn *write, void *user)
{
    dae_text x = {.write = write, .user = user};
    const dae_problem *p = r->problem;
    dae_text_print(&x, "Solving Problem %s using %s\n\n", r->name, r->solver);
    if (p->info && p->info->title) {
        dae_text_print(&x, "   problem   %s\n", p->info->title);
    }
    dae_text_print(&x, "   system    %s, n = %d", dae_kind_name(p->system.kind), r->n);
    if (dae_system_index(&p->system) > 0) dae_text_print(&x, ", index %d", dae_system_index(&p->system));
    if (r->formulation) dae_text_print(&x, ", formulation %s", r->formulation);
    dae_text_print(&x, ", t = %g .. %g\n", r->t0, r->t_end);
    if (r->solver_title && r->solver_title[0]) dae_text_print(&x, "   method    %s\n", r->solver_title);
    if (r->reason[0]) dae_text_print(&x, "   chosen    %s\n", r->reason);
    if (r->warnings && r->warnings[0]) dae_text_print(&x, "   warning   %s\n", r->warnings);
    if (r->form_text && r->form_text[0]) dae_text_print(&x, "   form      %s\n", r->form_text);
    if (r->linear_algebra && r->linear_algebra[0]) dae_text_print(&x, "   algebra   %s\n", r->linear_algebra);
    dae_text_print(&x, "   tolerance rtol = %g, atol = %g", r->rtol, r->atol);
    if (r->h0 > 0) {
        dae_text_print(&x, ", h0 = %g\n\n", r->h0);
    } else {
        dae_text_put(&x, ", first step chosen by the method\n\n");
    }
    if (r->started && r->last.y) put_solution(&x, r, max_components);
    put_samples(&x, r, max_components);
    put_characteristics(&x, r);
    return dae_text_end(&x);
}

/* ---- Failure --------------------------------------------------------------------------------------- */

static void put_where(dae_text *x, const dae_run_result *r)
{
    const dae_stats *s = &r->stats;
    char buffer[24];
    dae_text_print(x, "  where   t = %.10g of %g .. %g, last step %.3g, order %d", r->last.t, r->t0, r->t_end,
                   s->h_last, s->order_last);
    if (r->worst_component >= 0) {
        dae_text_print(x, "; fastest component %s = %.6g",
                       dae_component_name(r->problem, r->worst_component, buffer, sizeof buffer),
                       r->last.y[r->worst_component]);
    }
    dae_text_put(x, "\n");
}

/* The positions of a mechanism by their names, where the equations themselves failed. */
static void put_pose(dae_text *x, const dae_run_result *r)
{
    const dae_problem *p = r->problem;
    const double *y = r->started && r->last.y ? r->last.y : p->y0;
    int np = p->system.kind == DAE_KIND_MECH ? p->system.mech.np : 0,
        shown = np < pose_positions ? np : pose_positions, column = 0;
    if (!y || !shown || !(r->status == DAE_ERR_SINGULAR || r->undefined || r->stats.undefined > 0)) return;
    for (int i = 0; i < shown; i++) {
        char name[24], item[64];
        int width =
            dae_snprintf(item, sizeof item, "%s = %.6g", dae_component_name(p, i, name, sizeof name), y[i]);
        if (i == 0 || column + width > 98) {
            dae_text_print(x, "%s  %-8s", i ? ",\n" : "", i ? "" : "pose");
            column = 10;
        } else {
            dae_text_put(x, ", ");
        }
        dae_text_put(x, item);
        column += width + 2;
    }
    dae_text_put(x, shown < np ? ", ...\n" : "\n");
}

static void put_why(dae_text *x, const dae_run_result *r)
{
    const dae_stats *s = &r->stats;
    if (r->undefined) {
        dae_text_print(x,
                       "  why     the equations cannot be evaluated at the last point (%ld evaluations were "
                       "refused in all)\n",
                       s->undefined);
    } else if (s->undefined > s->rejected && s->undefined > s->newton_failures) {
        dae_text_print(x,
                       "  why     %ld evaluations were refused by the equations: the solution comes near the "
                       "edge of their domain\n",
                       s->undefined);
    } else if (s->newton_failures > s->rejected) {
        dae_text_print(x,
                       "  why     Newton's iteration failed %ld times (the error test rejected %ld steps)\n",
                       s->newton_failures, s->rejected);
    } else if (s->steps > 0) {
        dae_text_print(x,
                       "  why     %ld of %ld steps were accepted, %ld rejected by the error test; steps were "
                       "%.2g to %.2g long\n",
                       s->accepted, s->steps, s->rejected, s->h_smallest, s->h_largest);
    }
}

static void put_try(dae_text *x, const dae_run_result *r)
{
    const dae_method_info *m = dae_method_find(r->solver);
    int explicit_method = m && !m->implicit && dae_method_find("radau5");
    const char *sep = "  try     ";
    if (r->status == DAE_CANCELLED) {
        dae_text_print(x, "%s%s\n", sep,
                       r->checkpoint ? "--resume with the checkpoint goes on"
                                     : "--checkpoint FILE keeps the state for --resume FILE");
        return;
    }
    if (strstr(r->error.text, "singular configuration")) {
        dae_text_print(x,
                       "%s--tend %.6g; where the motion should go on (dead point, change point): --solver "
                       "phem56 or mexx\n",
                       sep, 0.999 * r->last.t);
        return;
    }
    if (explicit_method && strstr(r->error.text, "the problem is stiff")) {
        dae_text_print(x, "%s--solver auto\n", sep);
        return;
    }
    if (r->status == DAE_ERR_MAX_STEPS) {
        dae_text_print(x, "%s--max-steps %ld", sep, 10 * (r->stats.steps > 0 ? r->stats.steps : 1));
        sep = " | ";
    }
    if (r->status == DAE_ERR_MAX_SECONDS) {
        dae_text_print(x, "%s--max-seconds %.3g", sep,
                       10 * (r->stats.cpu_seconds > 0.1 ? r->stats.cpu_seconds : 0.1));
        sep = " | ";
    }
    if (explicit_method && r->problem->system.kind <= DAE_KIND_DAE) {
        dae_text_print(x, "%s--solver radau5 (the equations may be stiff)", sep);
        sep = " | ";
    }
    if (r->status == DAE_ERR_MAX_STEPS || r->status == DAE_ERR_MAX_SECONDS) {
        dae_text_print(x, "%s--rtol %g", sep, r->rtol * 100);
    } else if (r->undefined || r->stats.undefined > 0) {
        dae_text_print(x, "%s--hmax %.2g", sep,
                       r->stats.h_largest > 0 ? r->stats.h_largest / 10 : fabs(r->t_end - r->t0) / 1000);
    } else {
        dae_text_print(x, "%s%s", sep, dae_status_hint(r->status));
    }
    dae_text_put(x, "\n");
}

dae_status dae_run_failure(const dae_run_result *r, const char *kept, dae_write_fn *write, void *user)
{
    dae_text x = {.write = write, .user = user};
    const char *code = dae_status_name(r->status);
    if (r->started && r->stats.steps > 0) {
        dae_text_print(&x, "%s %s  %s: integration stopped at t = %.6g after %ld accepted steps\n",
                       r->status == DAE_CANCELLED ? "interrupted" : "error", code, r->name, r->last.t,
                       r->stats.accepted);
    } else {
        dae_text_print(&x, "error %s  %s: the run did not start\n", code, r->name);
    }
    dae_text_print(&x, "  what    %s\n", r->error.text[0] ? r->error.text : dae_status_text(r->status));
    if (r->started && r->stats.steps > 0) {
        put_where(&x, r);
        if (r->status < 0) {
            put_pose(&x, r);
            put_why(&x, r);
        }
        put_try(&x, r);
    } else {
        put_pose(&x, r);
        if (dae_status_hint(r->status)[0]) dae_text_print(&x, "  try     %s\n", dae_status_hint(r->status));
    }
    if (kept && kept[0]) dae_text_print(&x, "  kept    %s (up to t = %.6g)\n", kept, r->last.t);
    return dae_text_end(&x);
}
