/* Wishes that a user can add to a run: nonnegative components, own error weights, M(t,y), an own linear solver. Every method
 * that takes the system takes them. */
#include <daedalus/integrator.h>
#include <daedalus/method.h>

#include "test.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int takes_ode(const dae_method_info *m)
{
    return (m->kinds & 1u << DAE_KIND_ODE) && !m->no_velocities;
}

/* ---- Nonnegative ------------------------------------------------------------------------------------- */

/* y1' = -|y1|: below 0 it runs to -infinity. y2' = y1 is far from 0. */
static int decay(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = -fabs(y[0]);
    f[1] = y[0];
    return 0;
}

static int decay_jac(double t, const double *y, double *jac, void *user)
{
    (void)t, (void)user;
    jac[0] = y[0] > 0 ? -1 : 1;
    jac[1] = 1;
    return 0;
}

static int robertson(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = -0.04 * y[0] + 1e4 * y[1] * y[2];
    f[2] = 3e7 * y[1] * y[1];
    f[1] = -f[0] - f[2];
    return 0;
}

static int see_negative(double t, const double *y, int n, void *user)
{
    (void)t, (void)n;
    *(int *)user |= !(y[0] >= 0);
    return 0;
}

static void nonnegative_components_stay_nonnegative(void **state)
{
    static const int both[] = {0, 1};
    (void)state;
    for (int k = 0; k < 3 * dae_method_count(); k++) {
        const dae_method_info *m = dae_method_get(k / 3);
        if (!takes_ode(m)) continue;
        dae_system sys = {.kind = DAE_KIND_ODE,
                          .ode = {.n = 2, .f = decay, .jac = k % 3 == 2 ? decay_jac : NULL}};
        dae_options opt = dae_options_default();
        opt.method = m->name;
        opt.rtol = opt.atol = k % 3 ? 1e-3 : 1e-5;
        opt.nonnegative = both;
        opt.nnonnegative = 2;
        dae_error err = {0};
        dae_integrator *it = dae_integrator_create(&sys, &opt, &err);
        assert_non_null(it);
        int negative = 0;
        dae_output out = {.mode = DAE_OUTPUT_STEPS, .count = 3, .write = see_negative, .user = &negative};
        assert_int_equal(dae_integrator_set_output(it, &out, &err), DAE_OK);
        assert_int_equal(dae_integrator_start(it, 0, 60, (double[]){1, 0}, NULL, &err), DAE_OK);
        while (dae_integrator_time(it) < 60) {
            if (dae_integrator_step(it, &err) < 0) fail_msg("%s: %s", m->name, err.text);
            double a = dae_integrator_previous_time(it), b = dae_integrator_time(it), y[2], yp[2];
            assert_true(dae_integrator_state(it)[0] >= 0);
            for (int j = 0; j <= 8; j++) {
                double t = a + (b - a) * j / 8;
                assert_int_equal(dae_integrator_interpolate(it, t, y, yp), DAE_OK);
                if (!(y[0] >= 0)) fail_msg("%s: y1 = %g at %g", m->name, y[0], t);
                double most = j == 8 ? 100 : 1000; /* f has a corner at 0 */
                if (!(fabs(y[0] - exp(-t)) <= most * opt.rtol))
                    fail_msg("%s: y1 = %g at %g", m->name, y[0], t);
            }
        }
        if (negative) fail_msg("%s: a negative value is written", m->name);
        const double *y = dae_integrator_state(it);
        if (!(fabs(y[1] - 1) <= 200 * opt.rtol)) fail_msg("%s: y2 = %g", m->name, y[1]);
        dae_integrator_destroy(it);
    }
}

/* The classic case: at loose tolerances y2 turns negative and the solution runs away. */
static void nonnegative_robertson_ends_where_it_should(void **state)
{
    static const int all[] = {0, 1, 2};
    (void)state;
    for (int i = 0; i < dae_method_count(); i++) {
        const dae_method_info *m = dae_method_get(i);
        if (!takes_ode(m) || !m->implicit) continue;
        dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 3, .f = robertson}};
        dae_options opt = dae_options_default();
        opt.method = m->name;
        opt.rtol = 1e-3;
        opt.atol = 1e-5;
        opt.nonnegative = all;
        opt.nnonnegative = 3;
        double y[3] = {1, 0, 0};
        dae_error err = {0};
        dae_status s = dae_solve(&sys, &opt, 0, 4e7, y, NULL, &err);
        if (s != DAE_OK) fail_msg("%s: %s", m->name, err.text);
        /* y3(4e7) = 0.99994856 [HW96] */
        if (!(y[0] >= 0 && y[1] >= 0 && fabs(y[2] - 0.99994856) < 2e-2))
            fail_msg("%s: %g %g %g", m->name, y[0], y[1], y[2]);
    }
}

static void nonnegative_wishes_are_checked(void **state)
{
    static const int far[] = {2}, first[] = {0};
    static const double one[] = {1, 1};
    (void)state;
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = decay}};
    dae_options opt = dae_options_default();
    dae_error err = {0};
    double y[2] = {-1, 0};
    opt.nonnegative = far;
    opt.nnonnegative = 1;
    assert_int_equal(dae_solve(&sys, &opt, 0, 1, y, NULL, &err), DAE_ERR_INPUT);
    assert_non_null(strstr(err.text, "no component 2"));
    opt.nonnegative = first;
    assert_int_equal(dae_solve(&sys, &opt, 0, 1, y, NULL, &err), DAE_ERR_INPUT);
    assert_non_null(strstr(err.text, "component 1 is -1"));
    sys = (dae_system){.kind = DAE_KIND_DAE, .dae = {.n = 2, .mass = dae_diagonal(2, one), .f = decay}};
    y[0] = 1;
    assert_int_equal(dae_solve(&sys, &opt, 0, 1, y, NULL, &err), DAE_ERR_UNSUPPORTED);
}

/* ---- Error weights ----------------------------------------------------------------------------------- */

static int turn(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = y[1];
    f[1] = -y[0];
    return 0;
}

static int spring(const dae_mech_point *x, double *f, void *user)
{
    (void)user;
    f[0] = -x->p[0];
    return 0;
}

/* (cos t, -sin t) as the method takes it. */
static dae_system turning(const dae_method_info *m)
{
    static const double one[] = {1};
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = turn}};
    sys.structure.second_order = sys.structure.no_velocities = m->no_velocities;
    if (!(m->kinds & 1u << DAE_KIND_ODE))
        sys = (dae_system){.kind = DAE_KIND_MECH,
                           .mech = {.np = 1, .nv = 1, .mass = dae_diagonal(1, one), .force = spring}};
    return sys;
}

typedef struct weights {
    double tolerance, first;
    long calls;
} weights;

static int allow(double t, const double *y, double *tolerance, void *user)
{
    weights *w = user;
    (void)t, (void)y;
    if (w->calls++ == 0) w->first = tolerance[0];
    for (int i = 0; i < 2; i++) tolerance[i] = w->tolerance;
    return 0;
}

static double turn_error(const char *method, double given, weights *w, dae_stats *stats)
{
    const dae_method_info *m = dae_method_find(method);
    double T = m->no_velocities ? 20 : 5; /* some steps, at orders 8 and 12, too */
    dae_system sys = turning(m);
    dae_options opt = dae_options_default();
    dae_error err = {0};
    opt.method = method;
    opt.rtol = opt.atol = given;
    opt.error_weight = w ? allow : NULL;
    opt.error_weight_user = w;
    dae_integrator *it = dae_integrator_create(&sys, &opt, &err);
    if (!it || dae_integrator_start(it, 0, T, (double[]){1, 0}, NULL, &err) ||
        dae_integrator_advance(it, T, &err))
        fail_msg("%s: %s", method, err.text);
    const double *y = dae_integrator_state(it);
    double e = hypot(y[0] - cos(T), y[1] + sin(T));
    *stats = *dae_integrator_stats(it);
    dae_integrator_destroy(it);
    return e;
}

/* What the function says counts, not what the options say: as many steps as with that atol, to half and twice; a hundred times the
 * tolerance costs less (at order 12 of rkn12 not always). */
static void error_weights_are_obeyed(void **state)
{
    (void)state;
    for (int i = 0; i < dae_method_count(); i++) {
        const dae_method_info *m = dae_method_get(i);
        if (!strcmp(m->name, "rattle")) continue; /* constant steps */
        for (int k = 0; k < 2; k++) {
            double tol = k ? 1e-6 : 1e-4;
            weights w = {.tolerance = tol};
            dae_stats own = {0}, plain = {0};
            double e = turn_error(m->name, tol, &w, &own), p = turn_error(m->name, tol, NULL, &plain);
            assert_true(fabs(w.first - 2 * tol) < 1e-15); /* what the options would say */
            assert_true(w.calls > own.accepted);
            if (!(e <= 3 * p + 30 * tol)) fail_msg("%s at %g: %g, with atol %g", m->name, tol, e, p);
            if (own.steps < plain.steps / 2 || own.steps > 4 * plain.steps)
                fail_msg("%s at %g: %ld steps, with atol %ld", m->name, tol, own.steps, plain.steps);
            weights loose = {.tolerance = 100 * tol};
            dae_stats fewer = {0};
            turn_error(m->name, tol, &loose, &fewer);
            if (fewer.f > own.f || (k && fewer.f == own.f && m->order_max <= 9))
                fail_msg("%s: %ld and %ld evaluations", m->name, fewer.f, own.f);
        }
    }
}

static int allow_nothing(double t, const double *y, double *tolerance, void *user)
{
    (void)y, (void)user;
    tolerance[1] = t > 1 ? 0 : 1e-6;
    return t > 2 ? -1 : 0;
}

static void error_weights_are_checked(void **state)
{
    (void)state;
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = turn}};
    dae_options opt = dae_options_default();
    dae_error err = {0};
    double y[2] = {1, 0};
    opt.method = "dopri5";
    opt.error_weight = allow_nothing;
    assert_int_equal(dae_solve(&sys, &opt, 0, 5, y, NULL, &err), DAE_ERR_INPUT);
    assert_non_null(strstr(err.text, "component 2 is 0"));
    assert_true(err.t >= 1);
    assert_int_equal(dae_solve(&sys, &opt, 3, 5, y, NULL, &err), DAE_ERR_CALLBACK);
}

/* ---- M(t,y) ------------------------------------------------------------------------------------------ */

static void fill_mass(double t, const double *y, double *a, double *b, double *c, double *d)
{
    *a = 2 + sin(t);
    *b = y[0];
    *c = 0.5 * y[1];
    *d = 1 + y[0] * y[0];
}

static int moving_f(double t, const double *y, double *f, void *user)
{
    double a, b, c, d;
    (void)user;
    fill_mass(t, y, &a, &b, &c, &d);
    f[0] = -a * y[1] + b * y[0];
    f[1] = -c * y[1] + d * y[0];
    return 0;
}

static int moving_dense(double t, const double *y, double *M, void *user)
{
    (void)user;
    fill_mass(t, y, M, M + 2, M + 1, M + 3);
    return 0;
}

static int moving_banded(double t, const double *y, double *M, void *user)
{
    (void)user;
    fill_mass(t, y, M + 1, M + 3, M + 2, M + 4);
    return 0;
}

static int moving_diagonal_f(double t, const double *y, double *f, void *user)
{
    (void)user;
    f[0] = -(2 + sin(t)) * y[1];
    f[1] = (1 + y[0] * y[0]) * y[0];
    return 0;
}

static int moving_diagonal(double t, const double *y, double *M, void *user)
{
    (void)user;
    M[0] = 2 + sin(t);
    M[1] = 1 + y[0] * y[0];
    return 0;
}

static const int moving_colptr[] = {0, 2, 4}, moving_rowind[] = {0, 1, 0, 1};

static dae_system moving(int which)
{
    dae_system sys = {.kind = DAE_KIND_DAE, .dae = {.n = 2, .f = moving_f, .mass_fn = moving_dense}};
    dae_pattern banded = {.storage = DAE_BANDED, .lower = 1, .upper = 1};
    dae_pattern sparse = {.storage = DAE_SPARSE, .colptr = moving_colptr, .rowind = moving_rowind};
    if (which == 1) {
        sys.dae.mass_fn = moving_banded;
        sys.dae.mass.pattern = sys.structure.jacobian = banded;
    } else if (which == 2) {
        sys.dae.f = moving_diagonal_f;
        sys.dae.mass_fn = moving_diagonal;
        sys.dae.mass.pattern.storage = DAE_DIAGONAL;
    } else if (which == 3) {
        sys.dae.mass.pattern = sys.structure.jacobian = sparse;
    }
    return sys;
}

/* (cos t, sin t) by every method, with M in every storage. */
static void moving_mass_matrices_are_taken_by_every_method(void **state)
{
    int taken = 0;
    (void)state;
    for (int k = 0; k < 4 * (dae_method_count() + 1); k++) {
        const dae_method_info *m = k / 4 < dae_method_count() ? dae_method_get(k / 4) : NULL;
        dae_system sys = moving(k % 4);
        if (m && !dae_method_takes(m, &sys)) continue;
        dae_options opt = dae_options_default();
        dae_error err = {0};
        double y[2] = {1, 0}, tol = m && (!strcmp(m->name, "wnys2") || !strcmp(m->name, "rkc")) ? 1e-5 : 1e-7;
        opt.method = m ? m->name : "auto";
        opt.rtol = opt.atol = tol;
        if (dae_solve(&sys, &opt, 0, 3, y, NULL, &err)) fail_msg("%s %d: %s", opt.method, k % 4, err.text);
        double e = hypot(y[0] - cos(3), y[1] - sin(3));
        if (!(e <= 500 * tol)) fail_msg("%s, storage %d: error %g", opt.method, k % 4, e);
        taken++;
    }
    assert_true(taken >= 4 * 20);
}

/* (1 + t^2 y2) y1' = -y1, 0 = y2 - 1 - y1^2: index 1. */
static int singular_f(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = -y[0];
    f[1] = y[1] - 1 - y[0] * y[0];
    return 0;
}

static int singular_mass(double t, const double *y, double *M, void *user)
{
    (void)user;
    M[0] = 1 + t * t * y[1];
    return 0;
}

static int singular_as_ode(double t, const double *y, double *f, void *user)
{
    (void)user;
    f[0] = -y[0] / (1 + t * t * (1 + y[0] * y[0]));
    return 0;
}

static void singular_moving_mass_matrices_need_the_implicit_form(void **state)
{
    dae_system ode = {.kind = DAE_KIND_ODE, .ode = {.n = 1, .f = singular_as_ode}};
    dae_system sys = {.kind = DAE_KIND_DAE, .dae = {.n = 2, .f = singular_f, .mass_fn = singular_mass}};
    dae_options opt = dae_options_default();
    double exact = 1;
    int right = 0;
    (void)state;
    opt.method = "dop853";
    opt.rtol = opt.atol = 1e-12;
    assert_int_equal(dae_solve(&ode, &opt, 0, 2, &exact, NULL, NULL), DAE_OK);
    opt.rtol = opt.atol = 1e-7;
    for (int i = -1; i < dae_method_count(); i++) {
        const dae_method_info *m = i < 0 ? NULL : dae_method_get(i);
        if (m && !dae_method_takes(m, &sys)) continue;
        dae_error err = {0};
        double y[2] = {1, 2};
        opt.method = m ? m->name : "auto";
        dae_status s = dae_solve(&sys, &opt, 0, 2, y, NULL, &err);
        if (m && !(m->kinds & 1u << DAE_KIND_IDE)) {
            assert_int_equal(s, DAE_ERR_UNSUPPORTED);
            assert_non_null(strstr(err.text, "singular"));
            continue;
        }
        if (s) fail_msg("%s: %s", opt.method, err.text);
        if (!(fabs(y[0] - exact) < 2e-5 && fabs(y[1] - 1 - y[0] * y[0]) < 1e-5))
            fail_msg("%s: %.10g instead of %.10g", opt.method, y[0], exact);
        right++;
    }
    assert_true(right >= 4);
}

static void moving_mass_matrices_are_checked(void **state)
{
    dae_system sys = moving(1);
    dae_options opt = dae_options_default();
    dae_error err = {0};
    double y[2] = {1, 0};
    (void)state;
    sys.structure.jacobian.upper = 0; /* does not contain M */
    opt.method = "dassl";
    assert_int_equal(dae_solve(&sys, &opt, 0, 1, y, NULL, &err), DAE_ERR_INPUT);
    assert_non_null(strstr(err.text, "outside the Jacobian pattern"));
    sys.dae.mass.pattern.upper = 7;
    assert_int_equal(dae_solve(&sys, &opt, 0, 1, y, NULL, &err), DAE_ERR_INPUT);
}

/* ---- An own linear solver ------------------------------------------------------------------------------ */

typedef struct counts {
    int created, destroyed, broken;
    long factored, solved;
} counts;

typedef struct gauss {
    counts *c;
    int n, is_complex;
    dae_pattern pattern;
    dae_matrix mass;
    double complex a[100];
    int pivot[10];
} gauss;

static void *gauss_create(int n, const dae_pattern *p, const dae_matrix *mass, int is_complex, void *user)
{
    counts *c = user;
    gauss *g = calloc(1, sizeof *g);
    if (!g || n > 10 || p->storage != DAE_DENSE) return free(g), NULL;
    g->c = c;
    g->n = n;
    g->is_complex = is_complex;
    g->pattern = *p;
    g->mass = *mass;
    c->created++;
    return g;
}

static double mass_at(const gauss *g, int i, int j)
{
    if (!g->mass.n || g->mass.pattern.storage == DAE_DIAGONAL)
        return i != j ? 0 : g->mass.n ? g->mass.a[i] : 1;
    return g->mass.a[i + j * g->n];
}

static int gauss_factor(void *self, double re, double im, const double *J)
{
    gauss *g = self;
    int n = g->n;
    double complex lambda = re + im * I;
    g->c->factored++;
    if (g->c->broken) return 1;
    assert_true(g->is_complex || im == 0);
    for (int k = 0; k < n * n; k++) g->a[k] = lambda * mass_at(g, k % n, k / n) - J[k];
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++) {
            if (cabs(g->a[i + k * n]) > cabs(g->a[best + k * n])) best = i;
        }
        g->pivot[k] = best;
        if (g->a[best + k * n] == 0) return k + 1;
        for (int j = 0; j < n; j++) {
            double complex x = g->a[k + j * n];
            g->a[k + j * n] = g->a[best + j * n];
            g->a[best + j * n] = x;
        }
        for (int i = k + 1; i < n; i++) {
            double complex l = g->a[i + k * n] /= g->a[k + k * n];
            for (int j = k + 1; j < n; j++) g->a[i + j * n] -= l * g->a[k + j * n];
        }
    }
    return 0;
}

static int gauss_solve(void *self, double *re, double *im)
{
    gauss *g = self;
    int n = g->n;
    double complex x[10];
    g->c->solved++;
    assert_true(g->is_complex == (im != NULL));
    for (int i = 0; i < n; i++) x[i] = re[i] + (im ? im[i] : 0) * I;
    for (int k = 0; k < n; k++) {
        double complex swap = x[k];
        x[k] = x[g->pivot[k]];
        x[g->pivot[k]] = swap;
    }
    for (int k = 0; k < n; k++) {
        for (int i = k + 1; i < n; i++) x[i] -= g->a[i + k * n] * x[k];
    }
    for (int k = n - 1; k >= 0; k--) {
        x[k] /= g->a[k + k * n];
        for (int i = 0; i < k; i++) x[i] -= g->a[i + k * n] * x[k];
    }
    for (int i = 0; i < n; i++) {
        re[i] = creal(x[i]);
        if (im) im[i] = cimag(x[i]);
    }
    return 0;
}

static void gauss_destroy(void *self)
{
    gauss *g = self;
    g->c->destroyed++;
    free(g);
}

/* x'' + x' + x + x^3 = 0 as y1' = y2, stiffly coupled to y3. */
static int oscillator(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = y[1];
    f[1] = -y[1] - y[0] - y[0] * y[0] * y[0] + 0.1 * y[2];
    f[2] = -1e4 * (y[2] - y[0] * y[1]);
    return 0;
}

static int oscillator_ide(double t, const double *y, const double *yp, double *F, void *user)
{
    oscillator(t, y, F, user);
    for (int i = 0; i < 3; i++) F[i] -= yp[i];
    return 0;
}

static const double unit_mass[] = {1, 1, 1};

static dae_system oscillator_as(dae_kind kind)
{
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 3, .f = oscillator}};
    if (kind == DAE_KIND_DAE)
        sys =
            (dae_system){.kind = kind, .dae = {.n = 3, .mass = dae_diagonal(3, unit_mass), .f = oscillator}};
    if (kind == DAE_KIND_IDE) sys = (dae_system){.kind = kind, .ide = {.n = 3, .residual = oscillator_ide}};
    if (kind == DAE_KIND_ODE) sys.structure.second_order = 1;
    return sys;
}

static void linear_solvers_of_the_user_do_the_work(void **state)
{
    int runs = 0;
    (void)state;
    for (int k = 0; k < 3 * dae_method_count(); k++) {
        const dae_method_info *m = dae_method_get(k / 3);
        dae_kind kind = (dae_kind)(k % 3);
        dae_system sys = oscillator_as(kind);
        if (!dae_method_takes(m, &sys) || !m->implicit) continue;
        counts c = {0};
        dae_linear_solver mine = {gauss_create, gauss_factor, gauss_solve, gauss_destroy,
                                  "Gauss",      &c,           NULL,        NULL};
        dae_options opt = dae_options_default();
        dae_error err = {0};
        dae_stats own = {0}, plain = {0};
        double y[3] = {1, 0, 0}, z[3] = {1, 0, 0};
        opt.method = m->name;
        opt.rtol = opt.atol = 1e-6;
        if (dae_solve(&sys, &opt, 0, 4, z, &plain, &err)) fail_msg("%s: %s", m->name, err.text);
        opt.linear_solver = &mine;
        if (dae_solve(&sys, &opt, 0, 4, y, &own, &err)) fail_msg("%s: %s", m->name, err.text);
        assert_int_equal(c.created, c.destroyed);
        assert_true(c.created >= 1 && c.factored >= 1 && c.solved >= c.factored / 2);
        assert_true(own.steps > plain.steps - 5 && own.steps < plain.steps + 5);
        for (int i = 0; i < 3; i++) {
            if (!(fabs(y[i] - z[i]) <= 3e-6)) fail_msg("%s: y%d = %g and %g", m->name, i + 1, y[i], z[i]);
        }
        runs++;
    }
    assert_true(runs >= 20);
}

static void linear_solvers_of_the_user_may_fail(void **state)
{
    (void)state;
    dae_system sys = oscillator_as(DAE_KIND_ODE);
    counts c = {.broken = 1};
    dae_linear_solver mine = {gauss_create, gauss_factor, gauss_solve, gauss_destroy, NULL, &c, NULL, NULL};
    dae_options opt = dae_options_default();
    dae_error err = {0};
    double y[3] = {1, 0, 0};
    opt.method = "radau5";
    opt.linear_solver = &mine;
    assert_true(dae_solve(&sys, &opt, 0, 4, y, NULL, &err) < 0);
    assert_int_equal(c.created, c.destroyed);
    c.broken = 0;
    dae_integrator *it = dae_integrator_create(&sys, &opt, &err);
    assert_int_equal(dae_integrator_start(it, 0, 4, (double[]){1, 0, 0}, NULL, &err), DAE_OK);
    assert_string_equal(dae_integrator_linear_algebra(it), "user's solver 3");
    assert_int_equal(dae_integrator_save(it, NULL, 0), 0);
    assert_non_null(strstr(dae_integrator_why_not_saved(it), "linear solver"));
    dae_integrator_destroy(it);
    mine.solve = NULL;
    assert_null(dae_integrator_create(&sys, &opt, &err));
    assert_non_null(strstr(err.text, "one is NULL"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nonnegative_components_stay_nonnegative),
        cmocka_unit_test(nonnegative_robertson_ends_where_it_should),
        cmocka_unit_test(nonnegative_wishes_are_checked),
        cmocka_unit_test(error_weights_are_obeyed),
        cmocka_unit_test(error_weights_are_checked),
        cmocka_unit_test(moving_mass_matrices_are_taken_by_every_method),
        cmocka_unit_test(singular_moving_mass_matrices_need_the_implicit_form),
        cmocka_unit_test(moving_mass_matrices_are_checked),
        cmocka_unit_test(linear_solvers_of_the_user_do_the_work),
        cmocka_unit_test(linear_solvers_of_the_user_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
