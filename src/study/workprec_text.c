/* What a work-precision study says in words: the cost of digits for people, the page of a gallery. */
#include "core/text.h"
#include "study/measurement.h"

#include <daedalus/study.h>

#include <math.h>
#include <string.h>

enum { most_digits = 14 };

static void put_digits(dae_text *x, double digits)
{
    if (isfinite(digits)) dae_text_print(x, "%6.2f ", digits);
    else dae_text_print(x, "%6s ", "-");
}

static void put_runs(dae_text *x, const dae_measurement *m, int count)
{
    dae_text_print(x, "%-22s %8s %8s %8s %6s %6s %7s %8s %6s %6s %10s  %s\n", "solver", "rtol", "atol", "h0",
                   "scd", "mescd", "steps", "f", "Jac", "LU", "CPU [s]", "status");
    for (int i = 0; i < count; i++, m++) {
        dae_text_print(x, "%-22s %8.1e %8.1e %8.1e ", m->solver, m->rtol, m->atol, m->h0);
        put_digits(x, m->scd);
        put_digits(x, m->mescd);
        dae_text_print(x, "%7ld %8ld %6ld %6ld %10.3e  %s\n", m->steps, m->f, m->jac, m->lu, m->cpu_seconds,
                       m->status == DAE_OK ? "ok" : dae_status_text(m->status));
    }
    dae_text_put(x, "\n");
}

static void put_time(dae_text *x, double seconds, int best)
{
    char text[24];
    if (!isfinite(seconds)) {
        dae_text_print(x, " %9s", "-");
        return;
    }
    dae_seconds_text(seconds, "us", text, sizeof text);
    dae_text_print(x, " %8s%s", text, best ? "*" : " ");
}

dae_cost_line dae_workprec_line(const dae_measurement *m, int count, const char *solver, int mescd, int from,
                                int to)
{
    dae_cost_line line = {.runs = 0};
    for (int i = 0; i < count; i++) {
        if (strcmp(m[i].solver, solver) != 0) continue;
        line.runs++;
        line.failed += m[i].status < 0;
    }
    for (int d = from; d <= to && d - from < DAE_COST_DIGITS; d++) {
        double mine = dae_workprec_cost(m, count, solver, d, mescd, DAE_WORK_SECONDS);
        int best = isfinite(mine);
        for (int j = 0; best && j < count; j++) {
            if (dae_measurement_first(m, j))
                best = !(dae_workprec_cost(m, count, m[j].solver, d, mescd, DAE_WORK_SECONDS) < mine);
        }
        line.seconds[d - from] = mine;
        line.best[d - from] = best;
    }
    return line;
}

static void put_solver(dae_text *x, const dae_measurement *m, int count, const char *solver, int mescd,
                       int from, int to)
{
    dae_cost_line line = dae_workprec_line(m, count, solver, mescd, from, to);
    dae_text_print(x, "%-22s", solver);
    for (int d = from; d <= to; d++) put_time(x, line.seconds[d - from], line.best[d - from]);
    dae_text_print(x, " %6d  %6d\n", line.runs, line.failed);
}

dae_status dae_workprec_text(const dae_measurement *m, int count, int mescd, int full, dae_write_fn *write,
                             void *user)
{
    dae_text x = {.write = write, .user = user};
    double most = 0;
    if (full) put_runs(&x, m, count);
    for (int i = 0; i < count; i++) most = fmax(most, dae_measurement_digits(&m[i], mescd));
    int to = most < most_digits ? (int)most : most_digits, from = to > 2 ? 2 : 1;
    dae_text_print(&x, "%s: CPU time for so many digits (%s), * least\n%-22s", count ? m[0].problem : "",
                   mescd ? "mescd" : "scd", "solver");
    for (int d = from; d <= to; d++) dae_text_print(&x, " %8d ", d);
    dae_text_put(&x, "   runs  failed\n");
    for (int k = 0; k < count; k++) {
        if (dae_measurement_first(m, k)) put_solver(&x, m, count, m[k].solver, mescd, from, to);
    }
    return dae_text_end(&x);
}

dae_status dae_workprec_gallery(const dae_measurement *m, int count, const char *folder,
                                int (*drawn)(const char *problem, void *user), void *drawn_user,
                                dae_write_fn *write, void *user)
{
    static const double digits[2] = {4, 7};
    dae_text x = {.write = write, .user = user};
    dae_text_put(
        &x,
        "# Work-precision diagrams\n\n"
        "Every problem with every solver that takes it: correct digits at the end of the interval against "
        "CPU\n"
        "seconds and against evaluations of f (those for difference Jacobians included), one point per\n"
        "tolerance of the test set's ladder. Lower and further right is better. Runs that failed, hit the "
        "time\n"
        "limit or have no correct digit stand in the gray strip at the work they cost. Of more than\n"
        "twelve solvers those are drawn that need least; the others are named beside the diagram. `make "
        "gallery`\n"
        "draws them anew; `daedalus workprec PROBLEM` makes one.\n\n"
        "## Places\n\n"
        "CPU time for 4 and for 7 correct digits. Per solver: the problems that it solved to so "
        "many digits, on how many of them\n"
        "it was the fastest, on how many within twice the time of the fastest, and the median of "
        "its time relative to that of the\n"
        "fastest; then the three fastest of every problem.\n\n");
    dae_status s = dae_text_end(&x);
    if (s >= 0) s = dae_workprec_places(m, count, digits, write, user);
    if (s < 0) return s;
    dae_text_put(&x, "\n");
    for (int i = 0; i < dae_problem_count(); i++) {
        const dae_problem_info *p = dae_problem_get(i);
        if (drawn && !drawn(p->name, drawn_user)) continue;
        dae_text_print(&x, "## %s: %s\n\n![%s](%s/%s.svg)\n\n", p->name, p->title, p->name, folder, p->name);
    }
    return dae_text_end(&x);
}
