/* What the interface promises, for every method: missing arguments are refused, absolute control, weights that are zero, intervals
 * of a few rounding units, right-hand sides that end somewhere, switching functions that are zero for a while. */
#include "test.h"

#include <daedalus/daedalus.h>

#include <float.h>
#include <string.h>

static int turn(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = y[1];
    f[1] = -y[0];
    return 0;
}

static int turn_ide(double t, const double *y, const double *yp, double *F, void *user)
{
    (void)turn(t, y, F, user);
    for (int i = 0; i < 2; i++) F[i] = yp[i] - F[i];
    return 0;
}

static int no_force(const dae_mech_point *x, double *f, void *user)
{
    (void)x, (void)user;
    f[0] = f[1] = 0;
    return 0;
}

static int circle(const dae_mech_point *x, double *g, double *G, void *user)
{
    (void)user;
    if (g) g[0] = (x->p[0] * x->p[0] + x->p[1] * x->p[1] - 1) / 2;
    for (int i = 0; G && i < 2; i++) G[i] = x->p[i];
    return 0;
}

/* (cos t, -sin t) as the first kind of system that the method takes. */
static dae_system rotation(const dae_method_info *m)
{
    static const double unit[] = {1, 1};
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = turn}};
    if (m->kinds & 1u << DAE_KIND_ODE) {
        sys.structure.second_order = sys.structure.no_velocities = 1;
    } else if (m->kinds & 1u << DAE_KIND_DAE) {
        sys = (dae_system){.kind = DAE_KIND_DAE, .dae = {.n = 2, .mass = dae_diagonal(2, unit), .f = turn}};
    } else if (m->kinds & 1u << DAE_KIND_IDE) {
        sys = (dae_system){.kind = DAE_KIND_IDE, .ide = {.n = 2, .residual = turn_ide}};
    } else {
        sys = (dae_system){.kind = DAE_KIND_MECH,
                           .mech = {.np = 2,
                                    .nv = 2,
                                    .ng = 1,
                                    .nlambda = 1,
                                    .mass = dae_diagonal(2, unit),
                                    .force = no_force,
                                    .constraint = circle}};
    }
    return sys;
}

static dae_status run(const dae_method_info *m, double rtol, double atol, double t0, double t1, double *y,
                      dae_error *err)
{
    dae_system sys = rotation(m);
    dae_options opt = dae_options_default();
    opt.method = m->name;
    opt.rtol = rtol;
    opt.atol = atol;
    return dae_solve(&sys, &opt, t0, t1, y, NULL, err);
}

static void set_start(double *y, double t)
{
    y[0] = cos(t), y[1] = -sin(t), y[2] = -sin(t), y[3] = -cos(t);
}

/* ---- Missing arguments ------------------------------------------------------------------------------------------ */

static void integrators_refuse_what_is_missing(void **state)
{
    (void)state;
    dae_error err = {0};
    double y[4] = {1, 0};
    int count = 7;
    assert_null(dae_integrator_create(NULL, NULL, &err));
    assert_int_equal(dae_integrator_start(NULL, 0, 1, y, NULL, &err), DAE_ERR_INPUT);
    assert_string_equal(err.text, "the integrator is NULL");
    assert_int_equal(dae_integrator_advance(NULL, 1, NULL), DAE_ERR_INPUT);
    assert_int_equal(dae_integrator_step(NULL, &err), DAE_ERR_INPUT);
    assert_int_equal(dae_integrator_interpolate(NULL, 0, y, NULL), DAE_ERR_INPUT);
    assert_int_equal(dae_integrator_multipliers(NULL, 0, y, y), DAE_ERR_INPUT);
    assert_true(isnan(dae_integrator_time(NULL)) && isnan(dae_integrator_previous_time(NULL)));
    assert_null(dae_integrator_state(NULL));
    assert_int_equal(dae_integrator_stats(NULL)->steps, 0);
    assert_null(dae_integrator_method(NULL));
    assert_string_equal(dae_integrator_reason(NULL), "");
    assert_string_equal(dae_integrator_linear_algebra(NULL), "");
    assert_null(dae_integrator_events(NULL, &count));
    assert_int_equal(count, 0);
    assert_int_equal(dae_integrator_save(NULL, NULL, 0), 0);
    assert_int_equal(dae_integrator_load(NULL, y, sizeof y, &err), DAE_ERR_INPUT);
    assert_int_equal(dae_integrator_load_changed(NULL, y, sizeof y, "rtol", &err), DAE_ERR_INPUT);
    assert_int_equal(dae_integrator_set_output(NULL, NULL, &err), DAE_ERR_INPUT);
    assert_int_equal(dae_integrator_set_events(NULL, NULL, &err), DAE_ERR_INPUT);
    assert_int_equal(dae_integrator_set_projection(NULL, NULL, NULL, &err), DAE_ERR_INPUT);
    assert_int_equal(dae_integrator_set_fingerprint(NULL, NULL, &err), DAE_ERR_INPUT);
    dae_integrator_set_pieces(NULL, NULL, NULL);
    dae_integrator_set_chart(NULL, NULL, NULL);
    dae_integrator_set_progress(NULL, NULL, NULL);
    dae_integrator_set_memory(NULL, NULL);
    dae_integrator_cancel(NULL);
    dae_integrator_destroy(NULL);
    for (int k = 0; k < dae_method_count(); k++) {
        const dae_method_info *m = dae_method_get(k);
        dae_system sys = rotation(m);
        dae_options opt = dae_options_default();
        opt.method = m->name;
        assert_int_equal(dae_solve(&sys, &opt, 0, 1, NULL, NULL, &err), DAE_ERR_INPUT);
        assert_string_equal(err.text, "y is NULL");
        dae_integrator *it = dae_integrator_create(&sys, &opt, &err);
        assert_int_equal(dae_integrator_start(it, 0, 1, NULL, NULL, &err), DAE_ERR_INPUT);
        assert_string_equal(err.text, "y0 is NULL");
        set_start(y, 0);
        assert_int_equal(dae_integrator_start(it, 0, 1, y, NULL, &err), DAE_OK);
        assert_int_equal(dae_integrator_step(it, &err), DAE_OK);
        assert_int_equal(dae_integrator_interpolate(it, dae_integrator_time(it), NULL, NULL), DAE_ERR_INPUT);
        dae_integrator_destroy(it);
    }
    assert_int_equal(dae_solve(NULL, NULL, 0, 1, y, NULL, NULL), DAE_ERR_INPUT);
}

static void simulations_and_formulations_refuse_what_is_missing(void **state)
{
    (void)state;
    dae_error err = {0};
    dae_options opt = dae_options_default(), inner;
    double y[8] = {0}, r[3];
    dae_energy energy;
    int count = 7;
    assert_true(dae_simulation_options_default(NULL).options.rtol > 0);
    assert_null(dae_simulation_open(NULL, NULL, &err));
    assert_string_equal(err.text, "the problem is NULL");
    assert_int_equal(dae_simulation_start(NULL, &err), DAE_ERR_INPUT);
    assert_int_equal(dae_simulation_advance(NULL, 1, &err), DAE_ERR_INPUT);
    assert_int_equal(dae_simulation_step(NULL, &err), DAE_ERR_INPUT);
    assert_int_equal(dae_simulation_interpolate(NULL, 1, y, y, &err), DAE_ERR_INPUT);
    assert_int_equal(dae_simulation_multipliers(NULL, 1, y, y, &err), DAE_ERR_INPUT);
    assert_int_equal(dae_simulation_residuals(NULL, r, &err), DAE_ERR_INPUT);
    assert_int_equal(dae_simulation_energy(NULL, &energy, &err), DAE_ERR_INPUT);
    assert_int_equal(dae_simulation_load(NULL, y, 8, NULL, &err), DAE_ERR_INPUT);
    assert_int_equal(dae_simulation_save(NULL, NULL, 0), 0);
    assert_true(isnan(dae_simulation_time(NULL)) && isnan(dae_simulation_previous_time(NULL)));
    assert_null(dae_simulation_state(NULL));
    assert_null(dae_simulation_events(NULL, &count));
    assert_int_equal(count, 0);
    assert_int_equal(dae_simulation_stats(NULL).steps, 0);
    assert_string_equal(dae_simulation_choice(NULL).method, "");
    dae_simulation_cancel(NULL);
    dae_simulation_close(NULL);

    assert_null(dae_formulation_create(NULL, "index1", NULL, 0, &err));
    assert_null(dae_formulation_open(NULL, &opt, &inner, &err));
    assert_string_equal(err.text, "the system is NULL");
    assert_null(dae_formulation_type_of(NULL));
    assert_null(dae_formulation_system(NULL));
    assert_string_equal(dae_formulation_describe(NULL), "");
    assert_int_equal(dae_formulation_lift(NULL, 0, y, y, &err), DAE_ERR_INPUT);
    assert_int_equal(dae_formulation_lower(NULL, 0, y, y, NULL, NULL, &err), DAE_ERR_INPUT);
    assert_int_equal(dae_formulation_project(NULL, 0, y, &err), DAE_ERR_INPUT);
    assert_int_equal(dae_formulation_residuals(NULL, 0, y, NULL, r, &err), DAE_ERR_INPUT);
    assert_int_equal(dae_formulation_attach(NULL, NULL, &err), DAE_ERR_INPUT);
    const dae_method_info *mexx = dae_method_find("mexx");
    dae_system sys = rotation(mexx);
    for (int k = 0; k < dae_formulation_count(); k++) {
        dae_formulation *f = dae_formulation_create(&sys, dae_formulation_get(k)->name, NULL, 0, &err);
        if (!f) continue; /* joint coordinates need joints */
        assert_int_equal(dae_formulation_lift(f, 0, NULL, y, &err), DAE_ERR_INPUT);
        assert_string_equal(err.text, "pvu is NULL");
        assert_int_equal(dae_formulation_lift(f, 0, y, NULL, &err), DAE_ERR_INPUT);
        assert_int_equal(dae_formulation_lower(f, 0, NULL, y, NULL, NULL, &err), DAE_ERR_INPUT);
        assert_int_equal(dae_formulation_project(f, 0, NULL, &err), DAE_ERR_INPUT);
        assert_int_equal(dae_formulation_residuals(f, 0, y, NULL, NULL, &err), DAE_ERR_INPUT);
        assert_int_equal(dae_formulation_attach(f, NULL, &err), DAE_ERR_INPUT);
        dae_formulation_destroy(f);
    }
}

/* ---- Tolerances -------------------------------------------------------------------------------------------------- */

/* rtol = 0 is absolute control: the errors are those of a run with both, and follow atol. */
static void absolute_control_works_with_every_method(void **state)
{
    (void)state;
    int bad = 0;
    for (int k = 0; k < dae_method_count(); k++) {
        const dae_method_info *m = dae_method_get(k);
        double error[2][2];
        for (int tight = 0; tight < 2; tight++) {
            for (int both = 0; both < 2; both++) {
                double y[4], tol = tight ? 1e-7 : 1e-4;
                dae_error err = {0};
                set_start(y, 0);
                dae_status s = run(m, both ? tol : 0, tol, 0, 2, y, &err);
                if (s != DAE_OK) print_error("%s: %s\n", m->name, err.text);
                error[tight][both] = s == DAE_OK ? fmax(fabs(y[0] - cos(2)), fabs(y[1] + sin(2))) : INFINITY;
            }
            if (!(error[tight][0] < 5 * error[tight][1] + (tight ? 1e-6 : 1e-3))) {
                print_error("%s: error %.2e, with rtol %.2e\n", m->name, error[tight][0], error[tight][1]);
                bad++;
            }
        }
        if (!(error[1][0] < error[0][0] / 3)) {
            print_error("%s: errors %.2e and %.2e\n", m->name, error[0][0], error[1][0]);
            bad++;
        }
    }
    assert_int_equal(bad, 0);
}

static void tolerances_that_are_nothing_name_the_component(void **state)
{
    (void)state;
    for (int k = 0; k < dae_method_count(); k++) {
        const dae_method_info *m = dae_method_get(k);
        dae_error err = {0};
        double y[4];
        set_start(y, 0);
        dae_status s = run(m, 1e-6, 0, 0, 1, y, &err);
        if (rotation(m).kind == DAE_KIND_MECH) { /* the size of all positions counts: a right answer */
            assert_int_equal(s, DAE_OK);
            assert_near(y[0], cos(1), 1e-4);
            assert_near(y[1], -sin(1), 1e-4);
            continue;
        }
        assert_int_equal(s, DAE_ERR_INPUT);
        if (!strstr(err.text, "component 2 is zero and its atol too")) fail_msg("%s: %s", m->name, err.text);
        assert_near(err.t, 0, 0);
        assert_int_equal(run(m, 0, 0, 0, 1, y, &err), DAE_ERR_INPUT);
        assert_non_null(strstr(err.text, "rtol and atol of component 1 are both 0"));
        assert_int_equal(run(m, -1e-6, 1e-6, 0, 1, y, &err), DAE_ERR_INPUT);
        assert_non_null(strstr(err.text, "rtol = -1e-06 must not be negative"));
    }
}

/* ---- Intervals of a few rounding units ---------------------------------------------------------------------------- */

static void intervals_of_rounding_size_are_crossed(void **state)
{
    (void)state;
    int bad = 0;
    for (int k = 0; k < dae_method_count(); k++) {
        const dae_method_info *m = dae_method_get(k);
        for (int units = 1; units <= 64; units *= 2) {
            for (int back = 0; back < 2; back++) {
                double y[4], t0 = 1, t1 = t0 + (back ? -1 : 1) * units * DBL_EPSILON;
                dae_error err = {0};
                set_start(y, t0);
                dae_status s = run(m, 1e-6, 1e-6, t0, t1, y, &err);
                double error = fmax(fabs(y[0] - cos(t1)), fabs(y[1] + sin(t1)));
                if (s == DAE_OK && error < 1e-12) continue;
                if (!strcmp(m->name, "ida") && units <= 4 && s == DAE_ERR_INPUT &&
                    strstr(err.text, "too short to start"))
                    continue; /* one clear status */
                print_error("%s, %d units%s: %s: %s, error %.2e\n", m->name, units, back ? " back" : "",
                            dae_status_name(s), err.text, error);
                bad++;
            }
        }
    }
    assert_int_equal(bad, 0);
}

/* ---- Right-hand sides that end ------------------------------------------------------------------------------------ */

#define BORDER 0.7

static int up_to_border(double t, const double *y, double *f, void *user)
{
    return t > BORDER ? 1 : turn(t, y, f, user);
}

static int nan_behind_border(double t, const double *y, double *f, void *user)
{
    turn(t, y, f, user);
    if (t > BORDER) f[1] = NAN;
    return 0;
}

static int ide_up_to_border(double t, const double *y, const double *yp, double *F, void *user)
{
    return t > BORDER ? 1 : turn_ide(t, y, yp, F, user);
}

static int ide_nan_behind_border(double t, const double *y, const double *yp, double *F, void *user)
{
    turn_ide(t, y, yp, F, user);
    if (t > BORDER) F[1] = NAN;
    return 0;
}

static int force_up_to_border(const dae_mech_point *x, double *f, void *user)
{
    return x->t > BORDER ? 1 : no_force(x, f, user);
}

static int force_nan_behind_border(const dae_mech_point *x, double *f, void *user)
{
    no_force(x, f, user);
    if (x->t > BORDER) f[1] = NAN;
    return 0;
}

/* The status says so, the time is where it ends, and the state that comes back is the one of that time. */
static void runs_end_where_the_right_hand_side_does(void **state)
{
    (void)state;
    int bad = 0;
    for (int k = 0; k < dae_method_count(); k++) {
        const dae_method_info *m = dae_method_get(k);
        for (int form = 0; form < 2; form++) {
            dae_system sys = rotation(m);
            if (sys.kind == DAE_KIND_ODE) sys.ode.f = form ? nan_behind_border : up_to_border;
            if (sys.kind == DAE_KIND_DAE) sys.dae.f = form ? nan_behind_border : up_to_border;
            if (sys.kind == DAE_KIND_IDE) sys.ide.residual = form ? ide_nan_behind_border : ide_up_to_border;
            if (sys.kind == DAE_KIND_MECH)
                sys.mech.force = form ? force_nan_behind_border : force_up_to_border;
            dae_options opt = dae_options_default();
            opt.method = m->name;
            double y[4];
            dae_error err = {0};
            set_start(y, 0);
            dae_status s = dae_solve(&sys, &opt, 0, 2, y, NULL, &err);
            double error = fmax(fabs(y[0] - cos(err.t)), fabs(y[1] + sin(err.t)));
            if (s == DAE_ERR_UNDEFINED && fabs(err.t - BORDER) < 1e-3 && error < 5e-3) continue;
            print_error("%s, %s: %s: t %.10g, error %.2e: %s\n", m->name, form ? "NaN" : "refusal",
                        dae_status_name(s), err.t, error, err.text);
            bad++;
        }
    }
    assert_int_equal(bad, 0);
}

/* ---- Switching functions that are zero for a while ------------------------------------------------------------------ */

#define ZERO_FROM 0.5
#define ZERO_TO 1.25

static int zero_for_a_while(double t, const double *y, const double *yp, double *phi, void *user)
{
    (void)y, (void)yp, (void)user;
    phi[0] = t < ZERO_FROM ? ZERO_FROM - t : t > ZERO_TO ? ZERO_TO - t : 0;
    return 0;
}

static void events_lie_where_the_function_becomes_zero(void **state)
{
    (void)state;
    int bad = 0;
    for (int k = 0; k < dae_method_count(); k++) {
        const dae_method_info *m = dae_method_get(k);
        dae_system sys = rotation(m);
        dae_event event = {.name = "zero"};
        dae_events events = {.count = 1, .event = &event, .phi = zero_for_a_while};
        dae_options opt = dae_options_default();
        opt.method = m->name;
        double y[4];
        int count = 0;
        dae_error err = {0};
        set_start(y, 0);
        dae_integrator *it = dae_integrator_create(&sys, &opt, &err);
        assert_int_equal(dae_integrator_set_events(it, &events, &err), DAE_OK);
        assert_int_equal(dae_integrator_start(it, 0, 2, y, NULL, &err), DAE_OK);
        assert_int_equal(dae_integrator_advance(it, 2, &err), DAE_OK);
        const dae_event_record *r = dae_integrator_events(it, &count);
        if (count != 1 || !(fabs(r[0].t - ZERO_FROM) < 1e-12) || r[0].rising) {
            print_error("%s: %d events, the first at %.16g\n", m->name, count, count ? r[0].t : NAN);
            bad++;
        }
        dae_integrator_destroy(it);
    }
    assert_int_equal(bad, 0);
}

/* ---- Checkpoints ---------------------------------------------------------------------------------------------------- */

static void runs_can_be_saved_or_say_why_not(void **state)
{
    (void)state;
    assert_string_equal(dae_integrator_why_not_saved(NULL), "the integrator is NULL");
    assert_string_equal(dae_simulation_why_not_saved(NULL), "the simulation is NULL");
    for (int k = 0; k < dae_method_count(); k++) {
        const dae_method_info *m = dae_method_get(k);
        dae_system sys = rotation(m);
        dae_options opt = dae_options_default();
        opt.method = m->name;
        double y[4];
        dae_error err = {0};
        set_start(y, 0);
        dae_integrator *it = dae_integrator_create(&sys, &opt, &err);
        assert_non_null(strstr(dae_integrator_why_not_saved(it), "was not started"));
        assert_int_equal(dae_integrator_save(it, NULL, 0), 0);
        assert_int_equal(dae_integrator_start(it, 0, 1, y, NULL, &err), DAE_OK);
        const char *why = dae_integrator_why_not_saved(it);
        int sundials = !strncmp(m->name, "cvode", 5) || !strcmp(m->name, "ida");
        assert_int_equal(dae_integrator_save(it, NULL, 0) > 0, !sundials);
        if (sundials) assert_non_null(strstr(why, "SUNDIALS"));
        else assert_string_equal(why, "");
        dae_integrator_destroy(it);
    }
}

/* y' = 1, -1, 1, ... between whole numbers, y(0) = 1e6: error tests fail again and again at jumps that nobody told. y stays within
 * [1e6, 1e6 + 1]; whatever a method does there, it asks for f at points of that size, and not at differences or rates. */
typedef struct seen {
    double lowest, highest;
} seen;

static int square_wave(double t, const double *y, double *f, void *user)
{
    seen *s = user;
    s->lowest = fmin(s->lowest, y[0]);
    s->highest = fmax(s->highest, y[0]);
    f[0] = (long)floor(t) % 2 ? -1 : 1;
    return 0;
}

/* Spikes of height 1e6 and width 4e-7: steps are repeated until the history is given up. */
static int spikes(double t, const double *y, double *f, void *user)
{
    (void)square_wave(t, y, f, user);
    f[0] = 1 / (1e-6 + fabs(sin(5 * t)));
    return 0;
}

static void histories_that_are_given_up_begin_at_the_solution(void **state)
{
    (void)state;
    static const char *const name[] = {"mebdfdae", "mebdfi", "vode", "dassl"};
    for (size_t k = 0; k < sizeof name / sizeof *name; k++) {
        seen s = {1e6, 1e6};
        dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 1, .f = spikes, .user = &s}};
        dae_options opt = dae_options_default();
        dae_error err = {0};
        double y = 1e6;
        opt.method = name[k];
        opt.rtol = 0;
        opt.atol = 1e-3;
        if (dae_solve(&sys, &opt, 0, 5, &y, NULL, &err) < 0) fail_msg("%s: %s", name[k], err.text);
        if (!(s.lowest > 0.9e6 && s.highest < 1.1e6))
            fail_msg("%s: f was asked for at %g .. %g", name[k], s.lowest, s.highest);
    }
}

static void f_is_asked_for_near_the_solution_only(void **state)
{
    (void)state;
    for (int k = 0; k < dae_method_count(); k++) {
        const dae_method_info *m = dae_method_get(k);
        if (!(m->kinds & 1u << DAE_KIND_ODE) || m->no_velocities) continue;
        for (double tol = 1e-3; tol > 1e-8; tol /= 100) {
            seen s = {1e6, 1e6};
            dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 1, .f = square_wave, .user = &s}};
            dae_options opt = dae_options_default();
            dae_error err = {0};
            double y = 1e6;
            opt.method = m->name;
            opt.rtol = 0;
            opt.atol = tol;
            opt.h_max = 0.3; /* no step may miss a whole wave */
            if (dae_solve(&sys, &opt, 0, 7.5, &y, NULL, &err) < 0) fail_msg("%s: %s", m->name, err.text);
            if (!(s.lowest > 0.9e6 && s.highest < 1.1e6))
                fail_msg("%s at %g: f was asked for at %g .. %g", m->name, tol, s.lowest, s.highest);
        }
    }
}

/* ---- Units and clocks --------------------------------------------------------------------------------------------- */

typedef struct units {
    double y, t, t0; /* of y, of t, and where t begins */
} units;

/* In units: x' = 3 cos 3s - 2 (x - sin 3s) (x - sin 3s + 1), whose solution from 0 is sin 3s; a DAE has 0 = z (1 + z/3) behind it, where z
 * belongs to x - sin 3s = 0 and another root is at -3. */
static int follow(double t, const double *y, double *f, void *user)
{
    const units *u = user;
    double s = (t - u->t0) / u->t, e = y[0] / u->y - sin(3 * s);
    f[0] = u->y / u->t * (3 * cos(3 * s) - 2 * e * (e + 1));
    return 0;
}

static int follow_dae(double t, const double *y, double *f, void *user)
{
    const units *u = user;
    double s = (t - u->t0) / u->t, z = y[1] / u->y - cos(s);
    (void)follow(t, y, f, user);
    f[1] = u->y * (z * (1 + z / 3) + 0.5 * (y[0] / u->y - sin(3 * s)));
    return 0;
}

/* Over 2 units of time; *error in units of y. Methods for y'' = f do not take it. */
static dae_status followed(const dae_method_info *m, units u, double tol, int dae, double *error,
                           dae_error *err)
{
    static const double mass[] = {1, 0};
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 1, .f = follow, .user = &u}};
    dae_options o = dae_options_default();
    double y[2] = {0, u.y};
    if (dae)
        sys = (dae_system){.kind = DAE_KIND_DAE,
                           .dae = {.n = 2, .mass = dae_diagonal(2, mass), .f = follow_dae, .user = &u}};
    o.method = m->name;
    o.rtol = tol;
    o.atol = tol * u.y;
    o.max_steps = 100000;
    dae_status r = dae_solve(&sys, &o, u.t0, u.t0 + 2 * u.t, y, NULL, err);
    double s = (u.t0 + 2 * u.t - u.t0) / u.t;
    *error = fabs(y[0] / u.y - sin(3 * s));
    if (dae) *error = fmax(*error, fabs(y[1] / u.y - cos(s)));
    return r;
}

static int takes(const dae_method_info *m, dae_kind kind)
{
    return (m->kinds & 1u << kind) && strncmp(m->name, "rkn", 3) != 0;
}

/* A system is as good in units in which it is 1e-149 or 1e149, or takes microseconds: increments of differences, weights and first
 * steps follow it. */
static void units_change_nothing(void **state)
{
    static const units u[] = {{1e-149, 1, 0}, {1e149, 1, 0}, {1, 1e-11, 0}, {1e-20, 1e9, 0}};
    (void)state;
    for (int k = 0; dae_method_get(k); k++) {
        const dae_method_info *m = dae_method_get(k);
        for (size_t j = 0; j < sizeof u / sizeof *u; j++) {
            for (int dae = 0; dae < 2; dae++) {
                dae_error err = {0};
                double error;
                if (!takes(m, dae ? DAE_KIND_DAE : DAE_KIND_ODE)) continue;
                if (followed(m, u[j], 1e-4, dae, &error, &err) != DAE_OK)
                    fail_msg("%s, units %g and %g: %s", m->name, u[j].y, u[j].t, err.text);
                if (!(error < 1e-2))
                    fail_msg("%s, units %g and %g, %s: error %g", m->name, u[j].y, u[j].t,
                             dae ? "DAE" : "ODE", error);
            }
        }
    }
}

/* Next to the smallest numbers tolerances are counted too, not replaced by 1e-300. */
static void errors_next_to_nothing_are_controlled(void **state)
{
    static const char *const method[] = {"dopri5", "dop853", "vern8", "vern9", "bs23", "radau5"};
    (void)state;
    for (size_t k = 0; k < sizeof method / sizeof *method; k++) {
        dae_error err = {0};
        double error;
        if (followed(dae_method_find(method[k]), (units){1e-299, 1, 0}, 1e-7, 0, &error, &err) != DAE_OK)
            fail_msg("%s: %s", method[k], err.text);
        if (!(error < 1e-5)) fail_msg("%s: error %g", method[k], error);
    }
}

/* t begins at 1e10, where a rounding unit is 1.9e-6: 1e-3 is reached by all; what t does not resolve is a step that is too small, no
 * fault of the method. */
static void time_far_from_zero_is_resolved_or_told(void **state)
{
    (void)state;
    for (int k = 0; dae_method_get(k); k++) {
        const dae_method_info *m = dae_method_get(k);
        for (int dae = 0; dae < 2; dae++) {
            dae_error err = {0};
            double error;
            if (!takes(m, dae ? DAE_KIND_DAE : DAE_KIND_ODE)) continue;
            if (followed(m, (units){1, 1, 1e10}, 1e-3, dae, &error, &err) != DAE_OK)
                fail_msg("%s: %s", m->name, err.text);
            if (!(error < 2e-2)) fail_msg("%s: error %g", m->name, error);
            dae_status r = followed(m, (units){1, 1e-4, 1e10}, 1e-9, dae, &error, &err);
            if (r != DAE_OK && r != DAE_ERR_STEP_TOO_SMALL && r != DAE_ERR_MAX_STEPS)
                fail_msg("%s: %s", m->name, err.text);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(histories_that_are_given_up_begin_at_the_solution),
        cmocka_unit_test(f_is_asked_for_near_the_solution_only),
        cmocka_unit_test(integrators_refuse_what_is_missing),
        cmocka_unit_test(simulations_and_formulations_refuse_what_is_missing),
        cmocka_unit_test(absolute_control_works_with_every_method),
        cmocka_unit_test(tolerances_that_are_nothing_name_the_component),
        cmocka_unit_test(intervals_of_rounding_size_are_crossed),
        cmocka_unit_test(runs_end_where_the_right_hand_side_does),
        cmocka_unit_test(events_lie_where_the_function_becomes_zero),
        cmocka_unit_test(runs_can_be_saved_or_say_why_not),
        cmocka_unit_test(units_change_nothing),
        cmocka_unit_test(errors_next_to_nothing_are_controlled),
        cmocka_unit_test(time_far_from_zero_is_resolved_or_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
