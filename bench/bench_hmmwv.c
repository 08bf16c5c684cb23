/* The HMMWV over a bump: CPU times of implicit and explicit integration of the state-space form, as tables 7 and 8 of [RNY].
 *   (nothing)   table 8 (rosnys4, wnys2, radau5), and what one f and one Jacobian cost
 *   tables      table 8 and table 7 (cvode-adams and dopri5, 4 s at four tolerances): 20 minutes; Markdown on standard output
 *   METHOD ...  the columns of these methods alone
 * Both with absolute and relative tolerance 10^k on positions and velocities; cumulative times at 1, 2, 3 and 4 s. */
#include <daedalus/daedalus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECONDS 4
#define TOLERANCES 4

static double cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct column {
    double time[SECONDS]; /* cumulative */
    dae_stats stats;
    double error; /* largest of the height of the chassis at 1 and 2 s */
    int failed;
} column;

static void stop(const dae_error *err)
{
    fprintf(stderr, "%s\n", err->text);
    exit(1);
}

static column run(const char *method, double tol)
{
    static const double height[2] = {0.70392593288, 0.71103197107};
    dae_error err = {0};
    column c = {0};
    dae_problem *p = dae_problem_create("hmmwv", NULL, 0, &err);
    if (!p) stop(&err);
    dae_options opt = dae_options_default(), inner;
    opt.method = method;
    opt.formulation = "statespace";
    opt.rtol = opt.atol = tol;
    opt.h0 = p->h0;
    opt.max_steps = 0;
    opt.discontinuity = p->discontinuity;
    opt.ndiscontinuity = p->ndiscontinuity;
    double start = cpu();
    dae_formulation *f = dae_formulation_open(&p->system, &opt, &inner, &err);
    if (!f) stop(&err);
    dae_integrator *it = dae_integrator_create(dae_formulation_system(f), &inner, &err);
    double y[64], pvu[182];
    if (!it || dae_formulation_attach(f, it, &err) < 0 || dae_formulation_lift(f, 0, p->y0, y, &err) < 0 ||
        dae_integrator_start(it, 0, SECONDS, y, NULL, &err) < 0) {
        stop(&err);
    }
    for (int k = 0; k < SECONDS; k++) {
        if (dae_integrator_advance(it, k + 1, &err) < 0) {
            fprintf(stderr, "%s, %g: %s\n", method, tol, err.text);
            c.failed = 1;
            break;
        }
        c.time[k] = cpu() - start;
        if (k > 1) continue;
        dae_formulation_lower(f, k + 1, dae_integrator_state(it), pvu, NULL, NULL, &err);
        c.error = fmax(c.error, fabs(pvu[2] - height[k]));
    }
    c.stats = *dae_integrator_stats(it);
    dae_integrator_destroy(it);
    dae_formulation_destroy(f);
    dae_problem_destroy(p);
    return c;
}

/* One table; times of 1 s .. 4 s, steps and evaluations per tolerance. Returns the column of 1e-3. */
static column table(const char *method)
{
    static const double tol[TOLERANCES] = {1e-2, 1e-3, 1e-4, 1e-5};
    column c[TOLERANCES];
    printf("| %-12s | 1e-2 | 1e-3 | 1e-4 | 1e-5 |\n|---|---:|---:|---:|---:|\n", method);
    for (int k = 0; k < TOLERANCES; k++) c[k] = run(method, tol[k]);
    for (int s = 0; s < SECONDS; s++) {
        printf("| %d s |", s + 1);
        for (int k = 0; k < TOLERANCES; k++) printf(" %.3g |", c[k].time[s]);
        printf("\n");
    }
    printf("| accepted steps |");
    for (int k = 0; k < TOLERANCES; k++) printf(" %ld |", c[k].stats.accepted);
    printf("\n| rejected |");
    for (int k = 0; k < TOLERANCES; k++) printf(" %ld |", c[k].stats.steps - c[k].stats.accepted);
    printf("\n| f evaluations |");
    for (int k = 0; k < TOLERANCES; k++) printf(" %ld |", c[k].stats.f);
    const dae_method_info *m = dae_method_find(method);
    if (m && !m->implicit) {
        printf("\n| microseconds per f |");
        for (int k = 0; k < TOLERANCES; k++)
            printf(" %.0f |", 1e6 * c[k].time[SECONDS - 1] / (double)c[k].stats.f);
    }
    printf("\n| mean step, s |");
    for (int k = 0; k < TOLERANCES; k++) printf(" %.2g |", SECONDS / (double)c[k].stats.accepted);
    printf("\n| error of z1, m |");
    for (int k = 0; k < TOLERANCES; k++) printf(" %.1e |", c[k].error);
    printf("\n\n");
    fflush(stdout);
    return c[1];
}

/* What one right-hand side and one Jacobian cost; returns the first. */
static double costs(void)
{
    dae_error err = {0};
    dae_problem *p = dae_problem_create("hmmwv", NULL, 0, &err);
    if (!p) stop(&err);
    dae_formulation *f = dae_formulation_create(&p->system, "statespace", NULL, 0, &err);
    double y[64], out[64], J[36 * 36], best_f = INFINITY, best_J = INFINITY;
    if (!f || dae_formulation_lift(f, 0, p->y0, y, &err) < 0) stop(&err);
    const dae_ode *s = &dae_formulation_system(f)->ode;
    for (int k = 0; k < 20; k++) {
        double start = cpu();
        for (int i = 0; i < 100; i++) s->f(0, y, out, s->user);
        best_f = fmin(best_f, (cpu() - start) / 100);
        start = cpu();
        for (int i = 0; i < 10; i++) {
            memset(J, 0, sizeof J);
            s->f(1e-9 * i, y, out, s->user); /* another point: nothing is kept */
            s->jac(0, y, J, s->user);
        }
        best_J = fmin(best_J, (cpu() - start) / 10);
    }
    printf("One evaluation of f takes %.1f microseconds, one Jacobian (J1 and J2, 18 by 18 each) %.0f.\n\n",
           1e6 * best_f, 1e6 * (best_J - best_f));
    dae_formulation_destroy(f);
    dae_problem_destroy(p);
    return best_f;
}

int main(int argc, char **argv)
{
    int all = argc > 1 && !strcmp(argv[1], "tables");
    for (int k = 1; !all && k < argc; k++) {
        if (!dae_method_find(argv[k])) {
            fprintf(stderr, "usage: bench_hmmwv [tables | METHOD ...]\n");
            return 2;
        }
        table(argv[k]);
    }
    if (!all && argc > 1) return 0;
    printf("CPU seconds, cumulative, at 1, 2, 3 and 4 s of simulated time.\n\n**Implicit (table 8)**\n\n");
    double implicit = table("rosnys4").time[SECONDS - 1];
    table("wnys2");
    table("radau5");
    double one = costs();
    if (!all) return 0;
    printf("**Explicit (table 7)**\n\n");
    column adams = table("cvode-adams"), dopri5 = table("dopri5");
    printf("At 1e-3, 4 s: explicit / implicit = %.0f (cvode-adams / rosnys4), %.0f (dopri5 / rosnys4); "
           "[RNY]: 14771/37 = 400. With the\n"
           "time that one evaluation of f takes alone, whatever else the machine does in these minutes: %.0f "
           "and %.0f.\n",
           adams.time[SECONDS - 1] / implicit, dopri5.time[SECONDS - 1] / implicit,
           one * (double)adams.stats.f / implicit, one * (double)dopri5.stats.f / implicit);
    return 0;
}
