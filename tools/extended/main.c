/* reference_extended [--max-seconds S] [--set NAME=VALUE ...] [PROBLEM ...]: reference solutions in 80 bit arithmetic.
 *
 * Radau IIA of order 13, and for comparison of order 9, at tolerances below what double precision allows; implicit
 * equations F(t,y,y') = 0 by pside and, for comparison, mebdfi. Tells for every component the digits on which the two
 * agree, and those in common with the reference of the library and with the printed vector. */
#include <daedalus/integrator.h>
#include <daedalus/problem.h>

/* Digits in common; of absolute errors where scd counts those. */
static double digits(const dae_problem *p, double a, double b)
{
    double error = fabs(a - b), scale = p->absolute_scd ? 1 : fabs(a);
    if (error <= LDBL_EPSILON * scale) return 19;
    return scale > 0 ? fmin(19, fmax(0, -log10(error / scale))) : 0;
}

/* The two runs that must agree. Radau works with 0.1 rtol^(8/14) in order 13 and 0.1 rtol^(6/10) in order 9: 3e-14 and
 * 6e-15 at 1e-22. The other two take the tolerance as it is. */
typedef struct plan {
    const char *name[2], *method[2], *order[2];
    double rtol; /* the tightest tolerance that is tried */
} plan;
static const plan explicit_derivatives = {{"order 13", "order 9"}, {"radau", "radau"}, {"13", "9"}, 1e-22};
static const plan implicit_derivatives = {{"pside", "mebdfi"}, {"pside", "mebdfi"}, {NULL, NULL}, 1e-17};

static dae_status solve(const dae_problem *p, const plan *plan, int k, double rtol, double max_seconds,
                        double *y, dae_stats *stats, dae_error *err)
{
    int n = dae_system_size(&p->system);
    double *tolerance = malloc(2 * (size_t)n * sizeof *tolerance);
    if (!tolerance) return DAE_ERR_MEMORY;
    dae_setting setting[] = {{"order_min", plan->order[k]}, {"order_max", plan->order[k]}};
    dae_options o = dae_options_default();
    double atol =
        rtol * (p->rtol > 0 && p->atol > 0 ? p->atol / p->rtol : 1) * 1e-2; /* for small components */
    o.method = plan->method[k];
    o.linear_algebra = "dense";
    o.setting = setting;
    o.nsetting = plan->order[k] ? 2 : 0;
    o.discontinuity = p->discontinuity;
    o.ndiscontinuity = p->ndiscontinuity;
    o.max_steps = 0;
    o.max_seconds = max_seconds;
    for (int i = 0; i < n; i++) {
        tolerance[i] = atol * (p->atol_factor ? p->atol_factor[i] : 1);
        tolerance[n + i] = rtol * (p->rtol_factor ? p->rtol_factor[i] : 1);
    }
    o.rtol = rtol;
    o.atol = atol;
    o.atol_vec = tolerance;
    o.rtol_vec = tolerance + n;
    memcpy(y, p->y0, (size_t)n * sizeof *y);
    dae_integrator *it = dae_integrator_create(&p->system, &o, err);
    dae_status s = it ? dae_integrator_start(it, p->t0, p->t_end, y, p->yp0, err) : err->status;
    if (s >= 0) s = dae_integrator_advance(it, p->t_end, err);
    if (s >= 0) memcpy(y, dae_integrator_state(it), (size_t)n * sizeof *y);
    if (it) *stats = *dae_integrator_stats(it);
    dae_integrator_destroy(it);
    free(tolerance);
    return s;
}

/* 0: done; 1: a run failed. */
static int reference(const dae_problem_info *info, const dae_setting *set, int nset, double max_seconds)
{
    dae_error err = {0};
    dae_stats stats[2] = {{0}};
    dae_problem *p = dae_problem_create(info->name, set, nset, &err);
    const plan *plan = info->kind == DAE_KIND_IDE ? &implicit_derivatives : &explicit_derivatives;
    int n = p ? dae_system_size(&p->system) : 0, failed = 1;
    double *y[2] = {calloc((size_t)n + 1, sizeof **y), calloc((size_t)n + 1, sizeof **y)};
    double least = 19, stored = 19, printed = 19, rtol = 0;
    if (!p) fprintf(stderr, "reference_extended: %s\n", err.text);
    if (!p || !y[0] || !y[1]) goto end;
    dae_status s = DAE_ERR_INTERNAL;
    for (int try = 0; try < 6 && s != DAE_OK; try++) {
        rtol = plan->rtol * pow(10, (plan->order[0] ? 2 : 1) * try);
        s = DAE_OK;
        for (int k = 0; k < 2 && s == DAE_OK; k++) {
            s = solve(p, plan, k, rtol, max_seconds, y[k], &stats[k], &err);
            if (s != DAE_OK)
                printf("%s: %s at rtol %.0Le failed: %s\n", info->name, plan->name[k], rtol, err.text);
        }
        if (s == DAE_ERR_MAX_SECONDS) break;
    }
    if (s != DAE_OK) {
        printf("\n");
        goto end;
    }
    printf("%s: rtol %.0Le, %s (%ld steps, %.1Lf s) and %s (%ld steps, %.1Lf s)\n", info->name, rtol,
           plan->name[0], stats[0].steps, stats[0].cpu_seconds, plan->name[1], stats[1].steps,
           stats[1].cpu_seconds);
    printf("%-14s %26s %8s %8s %8s\n", "component", "value", "agree", "stored", "printed");
    for (int i = 0; i < n; i++) {
        double agree = digits(p, y[0][i], y[1][i]),
               with = p->reference ? digits(p, y[0][i], p->reference[i]) : NAN,
               old = p->published ? digits(p, y[0][i], p->published[i]) : NAN;
        int scored = (!p->scored || p->scored[i]) &&
                     (p->absolute_scd || fabs(y[0][i]) > 1e-200); /* smaller ones have no digits, as in scd */
        if (p->component && p->component[i]) printf("%-14s", p->component[i]);
        else printf("y%-13d", i + 1);
        printf(" %26.18Le %8.1Lf %8.1Lf %8.1Lf%s\n", y[0][i], agree, with, old,
               scored ? "" : "   (not scored)");
        if (!scored) continue;
        least = fmin(least, agree);
        stored = fmin(stored, with); /* fmin leaves NAN out */
        printed = fmin(printed, old);
    }
    printf("%s: fewest digits over the scored components: %.1Lf agree, %.1Lf in common with the stored "
           "reference",
           info->name, least, stored);
    if (p->published) printf(", %.1Lf with the printed one", printed);
    printf("\n\n");
    fflush(stdout);
    failed = 0;
end:
    free(y[0]);
    free(y[1]);
    dae_problem_destroy(p);
    return failed;
}

int main(int argc, char **argv)
{
    double max_seconds = 120;
    int named = 0, failed = 0, nset = 0;
    dae_setting set[8];
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--max-seconds") && i + 1 < argc) {
            max_seconds = strtod(argv[++i], NULL);
            continue;
        }
        if (!strcmp(argv[i], "--set") && i + 1 < argc && nset < 8 && strchr(argv[i + 1], '=')) {
            char *value = strchr(argv[++i], '=');
            *value = 0;
            set[nset++] = (dae_setting){argv[i], value + 1};
            continue;
        }
        const dae_problem_info *info = dae_problem_find(argv[i]);
        if (!info) {
            fprintf(stderr, "reference_extended: there is no problem \"%s\"\n", argv[i]);
            return 2;
        }
        named = 1;
        failed += reference(info, set, nset, max_seconds);
    }
    for (int i = 0; !named && i < dae_problem_count(); i++) {
        const dae_problem_info *info = dae_problem_get(i);
        if (info->kind != DAE_KIND_MECH) failed += reference(info, NULL, 0, max_seconds);
    }
    return failed > 0;
}
