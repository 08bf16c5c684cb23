/* Derivatives of mechanisms by their parameters, against differences of eighth order of runs with the same fixed steps: both are the derivative
 * of the same program, whatever the accuracy of its steps. */
#include <daedalus/daedalus.h>

#include "sensitivity/numbers.h"
#include "test.h"

#include <stdio.h>

static dae_problem *open_with(const char *what, const char *name, double value)
{
    char text[40];
    dae_error err = {0};
    snprintf(text, sizeof text, "%.17g", value);
    dae_problem *p = dae_problem_open(what, name ? &(dae_setting){name, text} : NULL, name != NULL, &err);
    if (!p) fail_msg("%s: %s", what, err.text);
    return p;
}

typedef struct trial {
    const char *model, *method, *form, *name;
    double end, step, tolerance;
    const char *kind;    /* what is told */
    const char *project; /* the option of the form, NULL: as it is */
} trial;

static void set_options(const trial *x, const dae_setting *project, dae_options *o)
{
    o->method = x->method;
    o->formulation = x->form;
    o->fixed_step = x->step;
    o->rtol = o->atol = 1e-12;
    o->setting = project;
    o->nsetting = x->project != NULL;
}

static void end_of(const trial *x, double value, double *y)
{
    dae_error err = {0};
    dae_problem *p = open_with(x->model, x->name, value);
    dae_simulation_options o = dae_simulation_options_default(p);
    const dae_setting project = {"project", x->project};
    set_options(x, &project, &o.options);
    o.t_end = x->end;
    dae_simulation *s = dae_simulation_open(p, &o, &err);
    if (!s || dae_simulation_start(s, &err) < 0 || dae_simulation_advance(s, x->end, &err) < 0)
        fail_msg("%s %s: %s", x->model, x->method, err.text);
    memcpy(y, dae_simulation_state(s), (size_t)dae_system_size(&p->system) * sizeof *y);
    dae_simulation_close(s);
    dae_problem_destroy(p);
}

static void compare(const trial *x)
{
    static const double weight[] = {1.0 / 280, -4.0 / 105, 1.0 / 5, -4.0 / 5};
    dae_error err = {0};
    dae_problem *p = open_with(x->model, NULL, 0);
    int n = dae_system_size(&p->system);
    double y[200], exact[200] = {0}, value = p->parameter[dae_parameter_find(p, x->name)], d = value / 512,
                   size = 0, worst = 0;
    assert_true(n <= 200);
    for (int k = 0; k < 8; k++) {
        int at = k < 4 ? k - 4 : k - 3;
        end_of(x, value + at * d, y);
        for (int i = 0; i < n; i++) exact[i] += (at < 0 ? weight[at + 4] : -weight[4 - at]) * y[i] / d;
    }
    dae_sensitivity_options o = dae_sensitivity_options_default(p);
    const dae_setting project = {"project", x->project};
    set_options(x, &project, &o.simulation.options);
    o.simulation.t_end = x->end;
    const char *mode = "", *name[] = {x->name};
    dae_sensitivity *s = dae_sensitivity_open(p, &o, name, 1, &err);
    if (!s || dae_sensitivity_start(s, &err) < 0 || dae_sensitivity_advance(s, x->end, &err) < 0)
        fail_msg("%s %s: %s", x->model, x->method, err.text);
    dae_sensitivity_choice(s, &mode);
    assert_string_equal(dae_sensitivity_kind(s, 0), x->kind);
    for (int i = 0; i < n; i++) size = fmax(size, fabs(exact[i]));
    for (int i = 0; i < n; i++) worst = fmax(worst, fabs(dae_sensitivity_values(s)[i] - exact[i]) / size);
    if (getenv("SHOW"))
        printf("%-34.34s %-8s %-10s %-8s d/d%-8s %.1e\n", x->model, x->method, x->form ? x->form : "", mode,
               x->name, worst);
    else if (!(worst < x->tolerance)) fail_msg("%s by %s, d/d%s: %g", x->model, x->method, x->name, worst);
    dae_sensitivity_close(s);
    dae_problem_destroy(p);
}

static void mechanisms(void **state)
{
    /* 1e-13 to 2e-12; rssp, whose loop is badly conditioned, 6e-11; abreast, with two neighbours, 1e-10 */
    static const trial all[] = {
        {"models/pendulum.json", "dop853", "joint", "L", 1, 0.02, 1e-11, "differences", NULL},
        {"models/pendulum.json", "dop853", "statespace", "L", 1, 0.02, 1e-11, "differences", NULL},
        {"models/pendulum.json", "dop853", "index1", "L", 1, 0.02, 1e-11, "differences", NULL},
        {"models/pendulum.json", "dop853", "index1", "L", 1, 0.02, 1e-11, "differences", "1"},
        {"models/pendulum.json", "phem56", NULL, "L", 1, 0.02, 1e-9, "differences", NULL},
        {"models/pendulum.json", "radau5", "ggl", "L", 1, 0.02, 1e-9, "differences", NULL},
        {"models/spring_mass_damper.json", "dop853", "joint", "m", 1, 0.02, 1e-11, "differences", NULL},
        {"models/spring_mass_damper.json", "dop853", "joint", "k", 1, 0.02, 1e-11, "differences", NULL},
        {"models/spring_mass_damper.json", "dop853", "joint", "c", 1, 0.02, 1e-11, "differences", NULL},
        {"models/four_bar.json", "dop853", "joint", "a", 0.3, 0.005, 1e-11, "differences", NULL},
        {"models/four_bar.json", "dop853", "joint", "b", 0.3, 0.005, 1e-11, "differences", NULL},
        {"models/four_bar.json", "dop853", "joint", "ground_length", 0.3, 0.005, 1e-11, "differences", NULL},
        {"models/four_bar.json", "dop853", "index1", "a", 0.3, 0.005, 1e-11, "differences", "1"},
        {"models/slider_crank.json", "dop853", "index1", "M", 0.2, 0.005, 1e-11, "differences", NULL},
        {"models/slider_crank.json", "dop853", "index1", "L2", 0.2, 0.005, 5e-11, "differences", NULL},
        /* masses, with states beside the mechanism: relatives take over the coordinates, not the mass matrix. df/dz is that of the form, 1e-10 */
        {"models/cart_control.json", "dop853", "statespace", "M", 0.5, 0.01, 1e-9, "differences", NULL},
        {"models/cart_control.json", "dop853", "statespace", "m", 0.5, 0.01, 1e-9, "differences", NULL},
        {"models/rssp.json", "dop853", "joint", "L1", 0.2, 0.002, 2e-10, "differences", NULL},
        {"models/rssp.json", "dop853", "joint", "h", 0.2, 0.002, 5e-11, "differences", NULL},
        {"models/peaucellier.json", "dop853", "joint", "L", 0.2, 0.005, 1e-11, "differences", NULL},
        {"models/stiff_double_pendulum.json", "radau5", "joint", "L1", 0.05, 0.001, 1e-9, "differences",
         NULL},
        {"models/rssp.json", "phem56", NULL, "L1", 0.2, 0.002, 1e-9, "differences", NULL},
        {"models/rssp.json", "radau5", "index2", "L1", 0.2, 0.002, 1e-9, "differences", NULL},
    };
    (void)state;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) compare(&all[k]);
}

static const char pendulum[] =
    "model pendulum\nparam g = 9.81, L = 1, m = 1\nvar x = L, y ~ 0, vx = 0, vy = 0, lam\nx' = vx\ny' = vy\n"
    "m*vx' = -lam*x\nm*vy' = -lam*y - m*g\nrod: x^2 + y^2 = L^2\n"
    "solve t = 0 .. 2, rtol = 1e-10, atol = 1e-10\n";
static const char circuit[] = "model circuit\nparam R = 2, C = 0.5, K = 3\nvar u = 1, w, i\nC*u' = -i\nR*i + "
                              "K*w^3 = u\nw + 0.2*sin(w) = i\n"
                              "solve t = 0 .. 2, rtol = 1e-10, atol = 1e-10\n";
/* Nine voltages at a time. */
static const char ladder[] =
    "model ladder\nparam K = 0.5, C = 2, N = 9\nvar u = 1, w[N] ~ 0.1\nC*u' = w[1] - u + 0.3*sin(t)\n"
    "K*w[1]^3 = u - 2*w[1] + w[2]\nfor k in 2..N-1: K*w[k]^3 = w[k-1] - 2*w[k] + w[k+1]\n"
    "K*w[N]^3 = w[N-1] - 2*w[N] + 0.1*w[1]*w[N]\nsolve t = 0 .. 2, rtol = 1e-10, atol = 1e-10\n";
static const char masses[] =
    "model masses\nparam a = 2, b = 0.5, k = 3\nvar x = 1, y = 0.5\na*x' + b*y' = -k*x\n"
    "b*x' + (a + k)*y' = -y + sin(t)\nsolve t = 0 .. 2, rtol = 1e-10, atol = 1e-10\n";

/* dM/dp is no combination of rows of M. */
static const char turning[] =
    "model turning\nparam p = 0.5, k = 3\nvar x = 1, y\nx' + p*y' = -k*x\nx + y^2 = 2\n"
    "solve t = 0 .. 2, rtol = 1e-10, atol = 1e-10\n";

/* Equations in the forms that they are brought into, by their expressions; descriptor is abreast, 1e-10. */
static void forms_of_equations(void **state)
{
    static const trial all[] = {
        {pendulum, "dop853", "statespace", "L", 0.4, 0.01, 1e-12, "exact", NULL},
        {pendulum, "dop853", "statespace", "m", 0.4, 0.01, 1e-12, "exact", NULL},
        {pendulum, "radau5", "index1", "L", 0.4, 0.01, 1e-12, "exact", NULL},
        {pendulum, "rodas5p", "index1", "L", 0.4, 0.01, 1e-12, "exact", NULL},
        {pendulum, "dop853", "projected", "L", 0.4, 0.01, 1e-12, "exact", NULL},
        {pendulum, "dop853", "projected", "g", 0.4, 0.01, 1e-12, "exact", NULL},
        /* steps that the projection moves by 1e-3; 0.02 would meet a corner of its weights, max(|z|, 1) */
        {pendulum, "bs23", "projected", "g", 0.4, 0.1, 1e-10, "exact", NULL},
        {pendulum, "phem56", "descriptor", "L", 0.4, 0.01, 1e-9, "differences", NULL},
        {circuit, "radau5", NULL, "K", 1, 0.02, 1e-11, "exact", NULL},
        {circuit, "rodas5p", "index1", "C", 1, 0.02, 1e-12, "exact", NULL},
        {circuit, "radau5", "index1", "K", 1, 0.02, 2e-11, "exact", NULL},
        {circuit, "dop853", "statespace", "R", 1, 0.02, 1e-12, "exact", NULL},
        {circuit, "dop853", "projected", "K", 1, 0.02, 1e-11, "exact", NULL},
        {ladder, "dop853", "statespace", "K", 1, 0.02, 1e-11, "exact", NULL},
        {ladder, "dop853", "projected", "K", 1, 0.02, 1e-11, "exact", NULL},
        {masses, "dop853", "statespace", "b", 1, 0.02, 5e-12, "exact", NULL},
        {masses, "radau5", "mass", "a", 1, 0.02, 1e-12, "exact", NULL},
        {masses, "rodas5p", "mass", "k", 1, 0.02, 1e-12, "exact", NULL},
        {circuit, "rodas5p", "mass", "C", 1, 0.02, 1e-11, "exact", NULL},
        {circuit, "radau5", "mass", "C", 1, 0.02, 1e-11, "exact", NULL},
        {turning, "radau5", "mass", "p", 1, 0.02, 5e-9, "differences", NULL},
    };
    (void)state;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) compare(&all[k]);
}

/* The pendulum passes places where a coordinate is no state: others take over, with exact columns. */
static void states_change_hands(void **state)
{
    static const char *const name[] = {"L"};
    static const double end = 2;
    dae_error err = {0};
    dae_stats stats;
    double y[5], s[5];
    (void)state;
    dae_problem *p = open_with(pendulum, NULL, 0);
    dae_sensitivity_options o = dae_sensitivity_options_default(p);
    o.simulation.options.method = "dop853";
    o.simulation.options.formulation = "statespace";
    o.simulation.options.rtol = o.simulation.options.atol = 1e-13;
    if (dae_sensitivity_run(p, &o, name, 1, &end, 1, y, s, &stats, &err) < 0) fail_msg("%s", err.text);
    assert_true(stats.charts > 0);
    for (int i = 0; i < 5; i++) {
        if (getenv("SHOW")) printf("charts %ld: %.1e\n", stats.charts, s[i] / pendulum_s[1][i] - 1);
        assert_near(s[i] / pendulum_s[1][i], 1, 1e-10);
    }
    dae_problem_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(mechanisms), cmocka_unit_test(forms_of_equations),
                                       cmocka_unit_test(states_change_hands)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
