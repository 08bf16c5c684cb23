/* CPU time of all methods at equal accuracy, and where the time goes.
 *
 * For each problem every method that takes it runs over a ladder of tolerances; the time at a given number
 * of correct digits is interpolated between runs (log of time over digits, best of several repetitions).
 * The last column is the share of the time that is spent neither in the equations nor in linear algebra (for
 * the Runge-Kutta methods that includes their block transformation), in the run that came nearest to the
 * lower number of digits. SUNDIALS' own vector operations count as outside. All figures are from one run.
 *
 * Where a native BDF code stands beside the packaged one of its kind, a line gives the ratio of their times, from
 * a straight line through each ladder (log of time over digits), which smooths the scatter of the digits.
 *
 *     bench_solvers [PROBLEM ...] */
#include <daedalus/problem.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 24 };

static const char *const standard[] = {"hires", "pollu",     "vdpol-mu", "rober",   "orego",   "e5",
                                       "plei",  "vdpol-eps", "transamp", "caraxis", "andrews", "nand"};
static const double slow = 2;       /* seconds: a run that takes longer ends the ladder */
static const double patience = 0.1; /* seconds: repeat short runs for so long */

typedef struct point {
    double digits, seconds, share; /* share outside equations and linear algebra */
} point;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* One run; digits NAN: it failed. */
static point run(const dae_problem *p, const char *method, double rtol, int profile)
{
    int n = dae_system_size(&p->system);
    double *rtol_vec = malloc((size_t)n * sizeof *rtol_vec), *atol_vec = malloc((size_t)n * sizeof *atol_vec);
    double atol = p->atol * (rtol / p->rtol);
    if (!strcmp(p->info->name, "e5")) atol = p->atol; /* the test set keeps it */
    for (int i = 0; i < n; i++) {
        rtol_vec[i] = rtol * (p->rtol_factor ? p->rtol_factor[i] : 1);
        atol_vec[i] = atol * (p->atol_factor ? p->atol_factor[i] : 1);
    }
    dae_options opt = dae_options_default();
    opt.method = method;
    opt.rtol = rtol;
    opt.atol = atol;
    opt.rtol_vec = rtol_vec;
    opt.atol_vec = atol_vec;
    opt.discontinuity = p->discontinuity;
    opt.ndiscontinuity = p->ndiscontinuity;
    opt.max_seconds = slow;
    opt.profile = profile;
    point out = {NAN, NAN, NAN};
    double begin = now();
    dae_integrator *it = dae_integrator_create(&p->system, &opt, NULL);
    if (it && dae_integrator_start(it, p->t0, p->t_end, p->y0, p->yp0, NULL) == DAE_OK &&
        dae_integrator_advance(it, p->t_end, NULL) == DAE_OK) {
        const dae_stats *s = dae_integrator_stats(it);
        dae_score score = dae_problem_score(p, &opt, p->reference, dae_integrator_state(it));
        double busy = s->cpu_seconds - s->profile_seconds;
        out.seconds = now() - begin;
        out.digits = p->no_scd ? score.mescd : score.scd;
        out.share = 1 - (s->user_seconds + s->linalg_seconds) / busy;
    }
    dae_integrator_destroy(it);
    free(rtol_vec);
    free(atol_vec);
    return out;
}

/* The best of as many runs as the patience allows. */
static point measure(const dae_problem *p, const char *method, double rtol)
{
    double begin = now();
    point best = run(p, method, rtol, 0), next;
    while (!isnan(best.digits) && now() - begin < patience) {
        next = run(p, method, rtol, 0);
        if (next.seconds < best.seconds) best = next;
    }
    if (!isnan(best.digits)) {
        point quiet = run(p, method, rtol, 1); /* the least disturbed of several */
        for (begin = now(); now() - begin < patience;) {
            next = run(p, method, rtol, 1);
            if (next.seconds < quiet.seconds) quiet = next;
        }
        best.share = quiet.share;
    }
    return best;
}

/* Time at so many digits, from the cheapest pair of runs around it; NAN: not reached. */
static double at_digits(const point *ladder, int count, double digits)
{
    double best = NAN;
    for (int k = 0; k + 1 < count; k++) {
        const point *a = &ladder[k], *b = &ladder[k + 1];
        if (!(fmin(a->digits, b->digits) <= digits && fmax(a->digits, b->digits) >= digits) ||
            a->digits == b->digits)
            continue;
        double w = (digits - a->digits) / (b->digits - a->digits);
        double seconds = exp((1 - w) * log(a->seconds) + w * log(b->seconds));
        if (!(best <= seconds)) best = seconds;
    }
    return best;
}

/* A line through the ladder near these digits: log(seconds) = at[0] + at[1] digits; 0 if there are too few points. */
static int fit(const point *ladder, int count, double low, double high, double at[2])
{
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (int k = 0; k < count; k++) {
        double d = ladder[k].digits, t = log(ladder[k].seconds);
        if (d < low - 1.5 || d > high + 1.5) continue;
        n += 1, x += d, y += t, xx += d * d, xy += d * t;
    }
    if (n < 3 || !(n * xx - x * x > 0)) return 0;
    at[1] = (n * xy - x * y) / (n * xx - x * x);
    at[0] = (y - at[1] * x) / n;
    return 1;
}

static void print_time(double seconds)
{
    if (isnan(seconds)) printf("%12s", "-");
    else printf("%12.1f", 1e6 * seconds);
}

/* The native codes and the package's of the same kind. */
static const char *const rivals[][2] = {{"vode", "cvode"}, {"dassl", "ida"}};
enum { PAIRS = sizeof rivals / sizeof *rivals };

static void bench(const char *name)
{
    dae_error err;
    dae_problem *p = dae_problem_create(name, NULL, 0, &err);
    if (!p) {
        printf("%s: %s\n", name, err.text);
        return;
    }
    double low = 4, high = 7, line[PAIRS][2][2];
    int fitted[PAIRS][2] = {{0}};
    if (!strcmp(name, "caraxis")) low = 2, high = 4;
    printf("\n%s (%s of %d equations)\n  %-12s %9.0f dig. %7.0f dig.      share outside\n", name,
           dae_kind_name(p->system.kind), dae_system_size(&p->system), "us for", low, high);
    for (int m = 0; m < dae_method_count(); m++) {
        const dae_method_info *info = dae_method_get(m);
        point ladder[MOST];
        int count = 0, nearest = -1;
        if (!(info->kinds & 1u << p->system.kind) || info->max_index < dae_system_index(&p->system)) continue;
        if (p->info->stiff && !info->implicit) continue;
        for (double e = 2; e <= 12 && count < MOST; e += 0.5) {
            double begin = now();
            point x = measure(p, info->name, pow(10, -e));
            if (!isnan(x.digits)) ladder[count++] = x;
            if (now() - begin > slow || (count && ladder[count - 1].digits > high + 1)) break;
        }
        for (int k = 0; k < count; k++) {
            if (nearest < 0 || fabs(ladder[k].digits - low) < fabs(ladder[nearest].digits - low)) nearest = k;
        }
        if (nearest < 0) continue;
        for (int k = 0; k < 2 * PAIRS; k++) {
            if (!strcmp(info->name, rivals[k / 2][k % 2]))
                fitted[k / 2][k % 2] = fit(ladder, count, low, high, line[k / 2][k % 2]);
        }
        printf("  %-12s", info->name);
        print_time(at_digits(ladder, count, low));
        print_time(at_digits(ladder, count, high));
        printf("%16.0f %%\n", 100 * ladder[nearest].share);
        fflush(stdout);
    }
    for (int k = 0; k < PAIRS; k++) {
        if (!fitted[k][0] || !fitted[k][1]) continue;
        double d0 = line[k][0][0] - line[k][1][0], d1 = line[k][0][1] - line[k][1][1];
        printf("  %s / %s: %.2f and %.2f times the time\n", rivals[k][0], rivals[k][1], exp(d0 + d1 * low),
               exp(d0 + d1 * high));
    }
    dae_problem_destroy(p);
}

int main(int argc, char **argv)
{
    printf("CPU time at equal accuracy (scd; e5: mescd). '-': not reached within rtol 1e-2 .. 1e-12 and %g s "
           "a run.\n",
           slow);
    if (argc > 1) {
        for (int k = 1; k < argc; k++) bench(argv[k]);
    } else {
        for (size_t k = 0; k < sizeof standard / sizeof *standard; k++) bench(standard[k]);
    }
    return 0;
}
