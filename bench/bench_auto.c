/* The regret of "auto": its time over the time of the best method at equal accuracy.
 *
 * Every method that takes a problem, and auto, runs over a ladder of tolerances. For each run of auto the best of the others
 * is the cheapest run that has at least its digits. One row per problem and tolerance, a summary at the end: in how many rows
 * the ratio is at most 1.3, and at most 2. Times are the best of several repetitions; runs above a second are not repeated.
 *
 *     bench_auto [PROBLEM ...] */
#include <daedalus/daedalus.h>
#include <daedalus/problem.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *const standard[] = {"hires", "pollu", "vdpol-mu", "vdpol-eps", "rober",   "orego",
                                       "e5",    "plei",  "chemakzo", "transamp",  "medakzo", "caraxis"};
enum { TOLERANCES = 7, MOST = 40 * TOLERANCES }; /* 1e-3 .. 1e-9 */
static const double slow = 2;                    /* seconds: the longest run */
static const double patience = 0.03;             /* seconds: short runs are repeated for so long */

typedef struct point {
    const char *method;
    double digits, seconds;
} point;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* One run; digits NAN: it failed. name: the method that was taken. */
static point run(const dae_problem *p, const char *method, double rtol)
{
    int n = dae_system_size(&p->system);
    double *vec = malloc(2 * (size_t)n * sizeof *vec), atol = p->atol * (rtol / p->rtol);
    point out = {method, NAN, NAN};
    if (!vec) return out;
    if (!strcmp(p->info->name, "e5")) atol = p->atol; /* the test set keeps it */
    for (int i = 0; i < n; i++) {
        vec[i] = rtol * (p->rtol_factor ? p->rtol_factor[i] : 1);
        vec[n + i] = atol * (p->atol_factor ? p->atol_factor[i] : 1);
    }
    dae_options opt = dae_options_default();
    opt.method = method;
    opt.rtol = rtol;
    opt.atol = atol;
    opt.rtol_vec = vec;
    opt.atol_vec = vec + n;
    opt.discontinuity = p->discontinuity;
    opt.ndiscontinuity = p->ndiscontinuity;
    opt.max_seconds = slow;
    double begin = now();
    dae_integrator *it = dae_integrator_create(&p->system, &opt, NULL);
    if (it && dae_integrator_start(it, p->t0, p->t_end, p->y0, p->yp0, NULL) == DAE_OK &&
        dae_integrator_advance(it, p->t_end, NULL) == DAE_OK) {
        out.seconds = now() - begin;
        out.method = dae_integrator_method(it)->name;
        out.digits = dae_problem_score(p, &opt, p->reference, dae_integrator_state(it)).mescd;
    }
    dae_integrator_destroy(it);
    free(vec);
    return out;
}

static point measure(const dae_problem *p, const char *method, double rtol)
{
    double begin = now();
    point best = run(p, method, rtol);
    while (!isnan(best.digits) && now() - begin < patience) {
        point next = run(p, method, rtol);
        if (next.seconds < best.seconds) best = next;
    }
    return best;
}

typedef struct tally {
    int rows, good, fair;
    double worst;
} tally;

static void study(const char *name, tally *t)
{
    dae_error err = {0};
    dae_problem *p = dae_problem_create(name, NULL, 0, &err);
    if (!p || !p->reference) {
        fprintf(stderr, "%s: %s\n", name, p ? "it has no reference solution" : err.text);
        dae_problem_destroy(p);
        return;
    }
    point all[MOST];
    int count = 0;
    for (int i = 0; i < dae_method_count() && count + TOLERANCES <= MOST; i++) {
        const dae_method_info *m = dae_method_get(i);
        if (!dae_method_takes(m, &p->system) || (p->info->stiff && !m->implicit)) continue;
        double rtol = 1e-3;
        for (int k = 0; k < TOLERANCES; k++, rtol /= 10) {
            all[count] = measure(p, m->name, rtol);
            if (isnan(all[count].digits)) break; /* failed, or too slow: so will the next be */
            count++;
        }
    }
    double rtol = 1e-3;
    for (int k = 0; k < TOLERANCES; k++, rtol /= 10) {
        point a = measure(p, "auto", rtol), best = a;
        for (int i = 0; i < count; i++) {
            if (all[i].digits >= a.digits && all[i].seconds < best.seconds) best = all[i];
        }
        double ratio = a.seconds / best.seconds;
        printf("%-10s %7.0e  %-9s %6.2f %10.1f us   %-9s %6.2f %10.1f us  %6.2f\n", name, rtol, a.method,
               a.digits, 1e6 * a.seconds, best.method, best.digits, 1e6 * best.seconds, ratio);
        t->rows++;
        t->good += ratio <= 1.3;
        t->fair += ratio <= 2;
        if (!(ratio <= t->worst)) t->worst = ratio;
    }
    fflush(stdout);
    dae_problem_destroy(p);
}

int main(int argc, char **argv)
{
    tally t = {0};
    printf("%-10s %7s  %-9s %6s %13s   %-9s %6s %13s  %6s\n", "problem", "rtol", "auto", "digits", "time",
           "best", "digits", "time", "ratio");
    for (int i = 1; i < argc; i++) study(argv[i], &t);
    for (size_t i = 0; argc < 2 && i < sizeof standard / sizeof *standard; i++) study(standard[i], &t);
    if (t.rows)
        printf("%d rows: at most 1.3 in %d (%d %%), at most 2 in %d (%d %%), worst %.2f\n", t.rows, t.good,
               100 * t.good / t.rows, t.fair, 100 * t.fair / t.rows, t.worst);
    return t.rows ? 0 : 1;
}
