/* Tables 4 and 6 of [RNY], the double pendulum with stiff spring-dampers from rest (case T): largest errors of theta1 and theta1' at the
 * ends of the steps of rosnys4 at tolerances 1e-2 .. 1e-5, divided by the printed ones, in several settings. The first three errors of
 * table 4 are printed ten times as large as its relative errors and means say: both readings are shown. */
#include <daedalus/daedalus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct run {
    dae_problem *p;
    dae_formulation *f;
    dae_integrator *it;
} run;

static const double table4[4] = {5.223e-2, 4.198e-3, 4.916e-4, 1.902e-5},
                    table6[4] = {4.061e-2, 3.792e-3, 8.652e-4, 2.343e-4};

static run begin(const char *method, const char *model, double tol, const dae_setting *setting, int nsetting)
{
    const dae_setting parameter[] = {{"model", model}, {"theta2dot0", "0"}};
    dae_error err = {0};
    dae_options opt = dae_options_default(), inner;
    double y[4];
    run r = {.p = dae_problem_create("double-pendulum", parameter, 2, &err)};
    opt.method = method;
    opt.formulation = "statespace";
    opt.rtol = opt.atol = tol;
    opt.setting = setting;
    opt.nsetting = nsetting;
    if (r.p) r.f = dae_formulation_open(&r.p->system, &opt, &inner, &err);
    if (r.f) r.it = dae_integrator_create(dae_formulation_system(r.f), &inner, &err);
    if (!r.it || dae_formulation_attach(r.f, r.it, &err) < 0 ||
        dae_formulation_lift(r.f, 0, r.p->y0, y, &err) < 0 ||
        dae_integrator_start(r.it, 0, 2, y, NULL, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    return r;
}

static void end(run r)
{
    dae_integrator_destroy(r.it);
    dae_formulation_destroy(r.f);
    dae_problem_destroy(r.p);
}

/* Largest errors, against radau5 in the two angles with 1e-10; returns the steps. */
static long errors(const char *model, double tol, const dae_setting *setting, int nsetting, double *angle,
                   double *speed)
{
    static const dae_setting angles[] = {{"independent", "3,6"}};
    run r = begin("rosnys4", model, tol, setting, nsetting),
        exact = begin("radau5", "planar", 1e-10, angles, 1);
    double pvu[26], known[12];
    int spatial = model[0] == 's';
    *angle = *speed = 0;
    while (dae_integrator_time(r.it) < 2) {
        if (dae_integrator_step(r.it, NULL) < 0) exit(1);
        double t = dae_integrator_time(r.it);
        if (dae_integrator_advance(exact.it, t, NULL) < 0) exit(1);
        dae_formulation_lower(r.f, t, dae_integrator_state(r.it), pvu, NULL, NULL, NULL);
        dae_formulation_lower(exact.f, t, dae_integrator_state(exact.it), known, NULL, NULL, NULL);
        double theta = spatial ? 2 * atan2(pvu[6], pvu[3]) : pvu[2], omega = spatial ? pvu[19] : pvu[8];
        *angle = fmax(*angle, fabs(remainder(theta - known[2], 6.283185307179586)));
        *speed = fmax(*speed, fabs(omega - known[8]));
    }
    long steps = dae_integrator_stats(r.it)->accepted;
    end(r);
    end(exact);
    return steps;
}

int main(void)
{
    static const dae_setting angles[] = {{"independent", "3,6"}}, parts[] = {{"norm", "parts"}},
                             careful[] = {{"norm", "parts"}, {"safety", "0.8"}},
                             most[] = {{"norm", "parts"}, {"safety", "0.707"}};
    static const struct {
        const char *model, *text;
        const dae_setting *setting;
        int nsetting;
    } set[] = {{"planar", "angles", angles, 1},
               {"planar", "pivoting", NULL, 0},
               {"spatial", "", NULL, 0},
               {"spatial", "norm=parts", parts, 1},
               {"spatial", "norm=parts safety=0.8", careful, 2},
               {"spatial", "norm=parts safety=0.707", most, 2}};
    printf("| model, settings | steps | theta1 / a tenth of table 4 | theta1 / table 4 as printed | theta1' "
           "/ table 6 |\n|---|---|---|---|---|\n");
    for (size_t k = 0; k < sizeof set / sizeof *set; k++) {
        long steps[4];
        double a[4], v[4];
        for (int i = 0; i < 4; i++)
            steps[i] = errors(set[k].model, pow(10, -2 - i), set[k].setting, set[k].nsetting, &a[i], &v[i]);
        printf("| %s %s |", set[k].model, set[k].text);
        for (int i = 0; i < 4; i++) printf(" %ld", steps[i]);
        printf(" |");
        for (int i = 0; i < 4; i++) printf(" %.2f", a[i] / table4[i] * (i < 3 ? 10 : 1));
        printf(" |");
        for (int i = 0; i < 4; i++) printf(" %.2f", a[i] / table4[i]);
        printf(" |");
        for (int i = 0; i < 4; i++) printf(" %.2f", v[i] / table6[i]);
        printf(" |\n");
    }
    return 0;
}
