/* Dense output of every method is as good between the steps as at them. */
#include "method/runs.h"

enum { POINTS = 20 };

typedef void solution_of(int k, double t, double *y);

/* Smooth problems with known solutions: a rotation, y' = y cos t, and two components with a forcing. */
static int growth(double t, const double *y, double *f, void *user)
{
    (void)user;
    f[0] = y[0] * cos(t);
    return 0;
}

static int forced(double t, const double *y, double *f, void *user)
{
    (void)user;
    f[0] = -(y[0] - sin(t)) + cos(t);
    f[1] = -y[1] * y[1] * y[0];
    return 0;
}

static void solution(int k, double t, double *y)
{
    if (k == 0) y[0] = cos(t), y[1] = -sin(t);
    if (k == 1) y[0] = exp(sin(t));
    if (k == 2) y[0] = sin(t), y[1] = 1 / (2 - cos(t));
}

/* The same for one coordinate q, y = (q, q'), where methods want q'' = a(t, q): q = cos t, exp(sin t), 1/(2 - cos t). */
static double pull(int k, double t, double q)
{
    double c = cos(t), s = sin(t), g = 1 / (2 - c);
    if (k == 1) return (c * c - s) * q;
    if (k == 2) return -(q - g) + (2 * s * s * g - c) * g * g;
    return -q;
}

static int pulled(double t, const double *y, double *f, void *user)
{
    f[0] = y[1];
    f[1] = pull(*(const int *)user, t, y[0]);
    return 0;
}

static int pulled_body(const dae_mech_point *x, double *f, void *user)
{
    f[0] = pull(*(const int *)user, x->t, x->p[0]);
    return 0;
}

static void motion(int k, double t, double *y)
{
    double g = 1 / (2 - cos(t));
    solution(k, t, y);
    if (k == 1) y[1] = y[0] * cos(t);
    if (k == 2) y[0] = g, y[1] = -sin(t) * g * g;
}

/* The largest error at the steps and between them. */
static void errors(dae_integrator *it, solution_of *exact, int k, int n, double t_end, double *at,
                   double *between)
{
    double y[2], x[2];
    *at = *between = 0;
    while (dae_integrator_time(it) < t_end) {
        assert_true(dae_integrator_step(it, NULL) >= 0);
        double a = dae_integrator_previous_time(it), b = dae_integrator_time(it);
        exact(k, b, x);
        for (int i = 0; i < n; i++) *at = fmax(*at, fabs(dae_integrator_state(it)[i] - x[i]));
        for (int j = 1; j < POINTS; j++) {
            double t = a + (b - a) * j / POINTS;
            assert_int_equal(dae_integrator_interpolate(it, t, y, NULL), DAE_OK);
            exact(k, t, x);
            for (int i = 0; i < n; i++) *between = fmax(*between, fabs(y[i] - x[i]));
        }
    }
}

/* Problem k as the method takes it: an ODE, q'' = a(t, q), or a body. *start gives its solution. */
static dae_system smooth(const dae_method_info *m, const int *k, solution_of **start)
{
    static dae_rhs *const f[] = {oscillator_f, growth, forced};
    static const int n[] = {2, 1, 2};
    static const double one[] = {1};
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = n[*k], .f = f[*k]}};
    *start = solution;
    if (m->no_velocities) {
        sys.ode = (dae_ode){.n = 2, .f = pulled, .user = (void *)k};
        sys.structure.second_order = sys.structure.no_velocities = 1;
    } else if (!(m->kinds & 1u << DAE_KIND_ODE)) {
        sys = (dae_system){
            .kind = DAE_KIND_MECH,
            .mech = {
                .np = 1, .nv = 1, .mass = dae_diagonal(1, one), .force = pulled_body, .user = (void *)k}};
    }
    if (sys.kind == DAE_KIND_MECH || m->no_velocities) *start = motion;
    return sys;
}

static void between_steps_every_method_is_as_good_as_at_them(void **state)
{
    static const double tol[] = {1e-4, 1e-7, 1e-10};
    static const int problem[] = {0, 1, 2};
    (void)state;
    for (int i = 0; i < dae_method_count(); i++) {
        const dae_method_info *m = dae_method_get(i);
        for (int k = 0; k < 3; k++) {
            solution_of *exact;
            dae_system sys = smooth(m, &problem[k], &exact);
            int n = sys.kind == DAE_KIND_ODE ? sys.ode.n : 2;
            for (int j = 0; j < 3; j++) {
                /* a million steps of order 2 are enough in a hundredth of the time */
                double t_end = !strcmp(m->name, "wnys2") && tol[j] < 1e-8 ? 0.1 : 10;
                dae_options opt = with_method(m->name, tol[j]);
                dae_integrator *it = create(&sys, &opt);
                double y0[2], at, between;
                exact(k, 0, y0);
                start(it, 0, t_end, y0);
                errors(it, exact, k, n, t_end, &at, &between);
                if (!(between <= 5 * at + tol[j]))
                    fail_msg("%s, problem %d, %g: error %g at the steps, %g between them", m->name, k + 1,
                             tol[j], at, between);
                dae_integrator_destroy(it);
            }
        }
    }
}

static int write_nothing(double t, const double *y, int n, void *user)
{
    (void)t, (void)y, (void)n, (void)user;
    return 0;
}

/* What is written changes no step: neither its end nor how many there are. */
static void steps_do_not_depend_on_output(void **state)
{
    static const int problem = 2;
    (void)state;
    for (int i = 0; i < dae_method_count(); i++) {
        const dae_method_info *m = dae_method_get(i);
        double end[2][2], y0[2];
        long steps[2];
        for (int k = 0; k < 2; k++) {
            solution_of *exact;
            dae_system sys = smooth(m, &problem, &exact);
            dae_options opt = with_method(m->name, 1e-7);
            dae_output output = {.mode = DAE_OUTPUT_EQUIDISTANT, .count = 301, .write = write_nothing};
            dae_integrator *it = create(&sys, &opt);
            if (k) assert_int_equal(dae_integrator_set_output(it, &output, NULL), DAE_OK);
            exact(problem, 0, y0);
            start(it, 0, 10, y0);
            advance(it, 10, DAE_OK);
            memcpy(end[k], dae_integrator_state(it), sizeof end[k]);
            steps[k] = dae_integrator_stats(it)->steps;
            dae_integrator_destroy(it);
        }
        if (memcmp(end[0], end[1], sizeof end[0]) || steps[0] != steps[1])
            fail_msg("%s: %ld steps to %.17g, with output %ld to %.17g", m->name, steps[0], end[0][0],
                     steps[1], end[1][0]);
    }
}

/* A chemostat with Monod's law, at rest at S = 0.2, X = 2.4; pole at S = -0.2. */
static int chemostat(double t, const double *y, double *f, void *user)
{
    double growth = 0.8 * y[0] / (0.2 + y[0]);
    (void)t, (void)user;
    f[0] = 0.4 * (5 - y[0]) - 2 * growth * y[1];
    f[1] = (growth - 0.4) * y[1];
    return 0;
}

static int near_rest(double t, const double *y, int n, void *user)
{
    double *worst = user;
    (void)n;
    (void)t;
    *worst = fmax(*worst, fabs(y[0] - 0.2));
    return 0;
}

/* Sweeps that mend the polynomial of a stiff step can end at another solution, here beyond the pole: S = -30 between two steps with 0.2. */
static void dense_output_of_stiff_steps_stays_with_them(void **state)
{
    static const char *const methods[] = {"rodas4p2", "rodas5p", "seulex"};
    static const double S[] = {0.18, 0.1965, 0.21, 0.22};
    (void)state;
    for (int k = 0; k < 3 * 12; k++) {
        dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = chemostat}};
        dae_options o = with_method(methods[k / 12], pow(10, -2 - 0.5 * (k / 4 % 3)));
        double y[] = {S[k % 4], 2.4}, worst = 0;
        dae_output out = {.mode = DAE_OUTPUT_EQUIDISTANT, .count = 500, .write = near_rest, .user = &worst};
        o.h0 = 1.35;
        dae_integrator *it = create(&sys, &o);
        assert_int_equal(dae_integrator_set_output(it, &out, NULL), DAE_OK);
        start(it, 0, 48, y);
        advance(it, 48, DAE_OK);
        if (!(worst <= 0.1)) fail_msg("%s at %g: off by %g", o.method, o.rtol, worst);
        dae_integrator_destroy(it);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(between_steps_every_method_is_as_good_as_at_them),
        cmocka_unit_test(steps_do_not_depend_on_output),
        cmocka_unit_test(dense_output_of_stiff_steps_stays_with_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
