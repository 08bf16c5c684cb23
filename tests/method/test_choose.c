#include "method/runs.h"

static const dae_method_info *choose(const char *problem, double rtol, char *reason, size_t size)
{
    dae_error err = {0};
    dae_problem *p = dae_problem_create(problem, NULL, 0, &err);
    if (!p) fail_msg("%s: %s", problem, err.text);
    dae_options opt = dae_options_default();
    opt.rtol = rtol;
    const dae_method_info *m = dae_method_choose(&p->system, &opt, p->t0, p->t_end, p->y0, reason, size);
    dae_problem_destroy(p);
    return m;
}

static void stiff_problems_get_an_implicit_method(void **state)
{
    (void)state;
    static const char *const problems[] = {"hires", "vdpol", "rober", "orego", "e5"};
    for (size_t k = 0; k < sizeof problems / sizeof *problems; k++) {
        for (double rtol = 1e-3; rtol > 1e-11; rtol /= 1e4) {
            char reason[256] = "";
            const dae_method_info *m = choose(problems[k], rtol, reason, sizeof reason);
            if (!m || !m->implicit)
                fail_msg("%s at %g: %s: %s", problems[k], rtol, m ? m->name : "none", reason);
            assert_non_null(strstr(reason, "treated as stiff"));
        }
    }
}

static void nonstiff_problems_get_an_explicit_method_by_tolerance(void **state)
{
    (void)state;
    char reason[256];
    assert_string_equal(choose("plei", 1e-4, reason, sizeof reason)->name, "rkn8");
    assert_non_null(strstr(reason, "not stiff; y'' = f(t,y)"));
    assert_string_equal(choose("plei", 1e-7, reason, sizeof reason)->name, "rkn8");
    assert_string_equal(choose("plei", 1e-9, reason, sizeof reason)->name, "rkn12");
    dae_system sys = oscillator(NULL);
    static const double tol[] = {0.05, 1e-6, 1e-10};
    static const char *const name[] = {"dopri5", "dop853", "vern9"};
    for (int k = 0; k < 3; k++) {
        dae_options o = dae_options_default();
        o.rtol = tol[k];
        assert_string_equal(dae_method_choose(&sys, &o, 0, 10, oscillator_y0, reason, sizeof reason)->name,
                            name[k]);
    }
    dae_options opt = dae_options_default();
    opt.rtol = 0.05;
    opt.rtol_vec = (double[]){0.05, 1e-10}; /* the sharpest component decides */
    assert_string_equal(dae_method_choose(&sys, &opt, 0, 10, oscillator_y0, reason, sizeof reason)->name,
                        "vern9");
    opt.rtol_vec = (double[]){1e-10, 0.05};
    assert_string_equal(dae_method_choose(&sys, &opt, 0, 10, oscillator_y0, reason, sizeof reason)->name,
                        "vern9");
}

/* Small stiff systems: Rosenbrock methods where J is exact, radau at tight tolerances, radau5 where J is a difference or
 * digits of variables are asked for that have died out. */
static void stiff_problems_get_a_method_by_tolerance_and_jacobian(void **state)
{
    (void)state;
    char reason[256];
    assert_string_equal(choose("hires", 1e-4, reason, sizeof reason)->name, "rodas4p2");
    assert_non_null(strstr(reason, "one LU per step"));
    assert_string_equal(choose("hires", 1e-6, reason, sizeof reason)->name, "rodas5p");
    assert_string_equal(choose("hires", 1e-7, reason, sizeof reason)->name, "rodas5p");
    assert_string_equal(choose("hires", 1e-9, reason, sizeof reason)->name, "radau");
    static const struct {
        const char *problem;
        double rtol;
        const char *method;
    } row[] = {{"orego", 1e-2, "rodas4p2"},  {"orego", 1e-3, "radau5"},    {"orego", 1e-4, "radau5"},
               {"orego", 2e-5, "radau5"},    {"orego", 1e-6, "radau"},     {"orego", 1e-7, "radau"},
               {"medakzo", 1e-2, "rosnys4"}, {"medakzo", 1e-6, "rodas5p"}, {"beam", 1e-4, "radau5"},
               {"beam", 1e-6, "radau5"},     {"beam", 5e-7, "radau"},      {"beam", 1e-7, "rodas5p"}};
    for (size_t k = 0; k < sizeof row / sizeof *row; k++)
        assert_string_equal(choose(row[k].problem, row[k].rtol, reason, sizeof reason)->name, row[k].method);
    dae_error err = {0};
    dae_problem *p = dae_problem_create("hires", NULL, 0, &err);
    assert_non_null(p);
    dae_options opt = dae_options_default();
    opt.rtol = opt.atol = 1e-4;
    opt.jacobian = "difference";
    assert_string_equal(
        dae_method_choose(&p->system, &opt, p->t0, p->t_end, p->y0, reason, sizeof reason)->name, "radau");
    opt.jacobian = NULL;
    opt.atol = 1e-20;
    assert_string_equal(
        dae_method_choose(&p->system, &opt, p->t0, p->t_end, p->y0, reason, sizeof reason)->name, "radau5");
    dae_problem_destroy(p);
    p = dae_problem_create("medakzo", NULL, 0, &err); /* 400 equations, a narrow band */
    assert_non_null(p);
    opt.atol = 1e-4;
    assert_string_equal(
        dae_method_choose(&p->system, &opt, p->t0, p->t_end, p->y0, reason, sizeof reason)->name, "rodas5p");
    assert_non_null(strstr(reason, "a narrow band"));
    opt.jacobian = "difference";
    assert_string_equal(
        dae_method_choose(&p->system, &opt, p->t0, p->t_end, p->y0, reason, sizeof reason)->name, "radau5");
    dae_problem_destroy(p);
}

static void daes_and_ides_get_methods_that_take_them(void **state)
{
    (void)state;
    char reason[256];
    const dae_method_info *m = choose("transamp", 1e-6, reason, sizeof reason);
    assert_true(m && m->kinds & 1u << DAE_KIND_DAE);
    assert_non_null(strstr(reason, "index 1"));
    assert_string_equal(m->name, "rodas5p");
    assert_string_equal(choose("transamp", 1e-7, reason, sizeof reason)->name, "radau5");
    assert_string_equal(choose("chemakzo", 1e-4, reason, sizeof reason)->name, "rodas5p");
    assert_string_equal(choose("chemakzo", 1e-5, reason, sizeof reason)->name, "radau5");
    assert_string_equal(choose("chemakzo", 1e-6, reason, sizeof reason)->name, "radau5");
    assert_string_equal(choose("transamp", 1e-4, reason, sizeof reason)->name, "rodas5p");
    assert_string_equal(choose("transamp", 1e-2, reason, sizeof reason)->name, "rodas4p2");
    assert_string_equal(choose("transamp", 1e-8, reason, sizeof reason)->name, "radau");
    m = choose("caraxis", 1e-6, reason, sizeof reason);
    assert_true(m && m->max_index == 3);
    assert_non_null(strstr(reason, "index 3"));
    m = choose("nand", 1e-6, reason, sizeof reason);
    if (m) assert_true(m->kinds & 1u << DAE_KIND_IDE);
    else assert_string_equal(reason, "no method for IDE systems of index 1");
}

static void reason_is_cut_to_its_size(void **state)
{
    (void)state;
    char reason[8] = "xxxxxxx";
    assert_non_null(choose("hires", 1e-6, reason, 6));
    assert_int_equal(strlen(reason), 5);
}

static int undefined(double t, const double *y, double *f, void *user)
{
    (void)t, (void)y, (void)f, (void)user;
    return 1;
}

static void system_that_cannot_be_evaluated_still_gets_an_answer(void **state)
{
    (void)state;
    char reason[256];
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 1, .f = undefined}};
    dae_options opt = dae_options_default();
    assert_non_null(dae_method_choose(&sys, &opt, 0, 1, (double[]){1}, reason, sizeof reason));
    double y = 1;
    dae_error err = {0};
    assert_int_equal(dae_solve(&sys, &opt, 0, 1, &y, NULL, &err), DAE_ERR_UNDEFINED);
    assert_string_equal(err.text, "t = 0: the right-hand side cannot be evaluated at the initial values");
}

/* From (1, 0), where the damping vanishes, it does not look stiff; a moment later it is. */
static int van_der_pol(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = y[1];
    f[1] = 1000 * (1 - y[0] * y[0]) * y[1] - y[0];
    return 0;
}

static int towards(double t, const double *y, double *f, void *user)
{
    const double *push = user;
    f[0] = 1 - y[0] + *push * sin(t);
    return 0;
}

static int shaken(double t, const double *y, double *f, void *user)
{
    (void)user;
    f[0] = y[1];
    f[1] = y[0] + fabs(sin(3.14159265358979323846 * t)); /* 0 at every whole t */
    return 0;
}

/* Nothing moves: steps grow from small ones, so few stages. What is pushed later is not at rest. */
static void what_rests_gets_few_stages(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        double push = k;
        dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 1, .f = towards, .user = &push}};
        dae_options opt = with_method("auto", 1e-9);
        dae_integrator *it = create(&sys, &opt);
        start(it, 0, 20, (double[]){1});
        assert_string_equal(dae_integrator_method(it)->name, k ? "vern9" : "dopri5");
        advance(it, 20, DAE_OK);
        double exact = 1 + push * (sin(20) - cos(20) + exp(-20)) / 2;
        assert_near(dae_integrator_state(it)[0], exact, 1e-8);
        if (!k) assert_true(dae_integrator_stats(it)->f <= 80);
        dae_integrator_destroy(it);
    }
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = shaken}};
    dae_options opt = with_method("auto", 1e-5);
    dae_integrator *it = create(&sys, &opt);
    start(it, 0, 20, (double[]){0, 0});
    assert_string_equal(dae_integrator_method(it)->name, "dop853");
    dae_integrator_destroy(it);

    /* nor what is told to jump later */
    double push = 0;
    sys = (dae_system){.kind = DAE_KIND_ODE, .ode = {.n = 1, .f = towards, .user = &push}};
    opt = with_method("auto", 1e-9);
    opt.discontinuity = (double[]){3};
    opt.ndiscontinuity = 1;
    it = create(&sys, &opt);
    start(it, 0, 20, (double[]){1});
    assert_string_equal(dae_integrator_method(it)->name, "dop853");
    dae_integrator_destroy(it);
}

static void explicit_run_that_meets_stiffness_changes_to_the_method_of_the_rules(void **state)
{
    (void)state;
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = van_der_pol}};
    for (double rtol = 1e-4; rtol > 1e-8; rtol /= 1e3) {
        dae_options opt = with_method("auto", rtol);
        dae_integrator *it = create(&sys, &opt);
        start(it, 0, 200, (double[]){1, 0});
        assert_false(dae_integrator_method(it)->implicit);
        advance(it, 0.001, DAE_OK);
        advance(it, 200, DAE_OK);
        const char *implicit = "radau";
        char says[64], met[64];
        snprintf(says, sizeof says, "so %s goes on from there", implicit);
        snprintf(met, sizeof met, "%s met stiffness at t = ", rtol > 2e-7 ? "dop853" : "vern9");
        assert_string_equal(dae_integrator_method(it)->name, implicit);
        assert_non_null(strstr(dae_integrator_reason(it), met));
        assert_non_null(strstr(dae_integrator_reason(it), says));
        double y[] = {1, 0};
        dae_options sharp = with_method("radau5", 1e-11);
        assert_int_equal(dae_solve(&sys, &sharp, 0, 200, y, NULL, NULL), DAE_OK);
        assert_near(dae_integrator_state(it)[0], y[0], 20 * rtol);
        assert_near(dae_integrator_state(it)[1], y[1], 20 * rtol);
        dae_integrator_destroy(it);
    }
}

/* DETEST stiff D2: nothing is fast at the start. At tight tolerances the stages of a step do not show the fast motion. */
static int becomes_stiff(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = -0.04 * y[0] + 0.01 * y[1] * y[2];
    f[1] = 400 * y[0] - 100 * y[1] * y[2] - 3000 * y[1] * y[1];
    f[2] = 30 * y[1] * y[1];
    return 0;
}

static void decay_that_begins_in_the_run_is_found_soon_at_every_tolerance(void **state)
{
    (void)state;
    static const double end[] = {7.158270687193941e-01, 9.185534764557338e-02, 2.841637457458413e+01};
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 3, .f = becomes_stiff}};
    for (double rtol = 1e-3; rtol > 0.9e-10; rtol /= 10) {
        dae_options opt = with_method("auto", rtol);
        dae_integrator *it = create(&sys, &opt);
        start(it, 0, 40, (double[]){1, 0, 0});
        advance(it, 40, DAE_OK);
        assert_true(dae_integrator_method(it)->implicit);
        /* 7166 at 1e-9 without a look at the eigenvalues */
        assert_in_range(dae_integrator_stats(it)->steps, 10, 200);
        for (int i = 0; i < 3; i++)
            assert_near(dae_integrator_state(it)[i], end[i], 30 * rtol * (1 + fabs(end[i])));
        dae_integrator_destroy(it);
    }
}

static int follows(double t, const double *y, double *f, void *user)
{
    const double *rate = user; /* and how much faster from afar */
    double d = y[0] - cos(t);
    f[0] = -rate[0] * d * (1 + rate[1] * d * d);
    return 0;
}

/* Stability bounds explicit steps. Few time constants that decay are cheaper by an explicit method, thousands are not; of some hundred nobody
 * knows at the start whether the motion is one that is followed, unless f is linear: the run looks at it and changes. */
static void motion_that_decays_is_stiff_by_its_time_constants(void **state)
{
    (void)state;
    static const double rate[][2] = {{5, 0}, {20, 1}, {100, 0}}, y0 = 1;
    static const char *const first[] = {"dop853", "dop853", "radau"}, *const last[] = {"dop853", "radau",
                                                                                       "radau"};
    for (int k = 0; k < 3; k++) {
        double a[] = {rate[k][0], rate[k][1]}, t = 20,
               exact = (a[0] * a[0] * cos(t) + a[0] * sin(t)) / (a[0] * a[0] + 1); /* of the linear ones */
        dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 1, .f = follows, .user = a}};
        dae_options opt = with_method("auto", 1e-4);
        char reason[256];
        const dae_method_info *m = dae_method_choose(&sys, &opt, 0, t, &y0, reason, sizeof reason);
        assert_string_equal(m->name, first[k]);
        assert_non_null(strstr(reason, k == 2 ? "treated as stiff" : "not stiff"));
        dae_integrator *it = create(&sys, &opt);
        start(it, 0, t, &y0);
        advance(it, t, DAE_OK);
        assert_string_equal(dae_integrator_method(it)->name, last[k]);
        assert_near(dae_integrator_state(it)[0], exact, 1e-3);
        dae_integrator_destroy(it);
    }
}

/* The butterfly's fastest motion decays all the time (456 time constants), but the solution moves as fast: no implicit method. */
static int lorenz(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = 10 * (y[1] - y[0]);
    f[1] = y[0] * (28 - y[2]) - y[1];
    f[2] = y[0] * y[1] - 8.0 / 3 * y[2];
    return 0;
}

static int lorenz_jacobian(double t, const double *y, double *J, void *user)
{
    (void)t, (void)user;
    const double by_row[] = {-10, 10, 0, 28 - y[2], -1, -y[0], y[1], y[0], -8.0 / 3};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) J[i + 3 * j] = by_row[3 * i + j];
    }
    return 0;
}

/* A light damping: 60 time constants of a motion that oscillates, and has to be followed. */
static int swinging(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = y[1];
    f[1] = -9 * y[0] - 0.2 * y[1];
    return 0;
}

static int swinging_jacobian(double t, const double *y, double *J, void *user)
{
    (void)t, (void)y, (void)user;
    J[0] = 0, J[1] = -9, J[2] = 1, J[3] = -0.2;
    return 0;
}

/* x' = y - x + product x y + drive cos(t), y' = -8 y. */
typedef struct drain {
    double product, drive;
} drain;

static int drained(double t, const double *y, double *f, void *user)
{
    const drain *d = user;
    f[0] = y[1] - y[0] + d->product * y[0] * y[1] + d->drive * cos(t);
    f[1] = -8 * y[1];
    return 0;
}

static int drained_jacobian(double t, const double *y, double *J, void *user)
{
    const drain *d = user;
    (void)t;
    J[0] = -1 + d->product * y[1];
    J[1] = 0;
    J[2] = 1 + d->product * y[0];
    J[3] = -8;
    return 0;
}

/* Of a linear system what decays goes on to: 80 time constants are enough for an implicit method, where 500 are asked for else (an explicit
 * run looks again on its way). Of one that is driven fewer do at tight tolerances, of one in pieces more; 32 here. */
static void linear_motion_that_decays_is_stiff_sooner(void **state)
{
    (void)state;
    static const struct {
        drain d;
        int jacobian, borders;
        double end, rtol;
        const char *name;
    } is[] = {{{0, 0}, 1, 0, 10, 1e-5, "radau"},    {{0.1, 0}, 1, 0, 10, 1e-5, "dop853"},
              {{0, 0}, 1, 0, 4, 1e-5, "dop853"},    {{0, 0}, 0, 0, 10, 1e-5, "radau"},
              {{0.1, 0}, 0, 0, 10, 1e-5, "dop853"}, {{0, 1}, 1, 0, 4, 1e-3, "dop853"},
              {{0, 1}, 1, 0, 4, 1e-6, "radau"},     {{0, 0}, 1, 0, 4, 1e-6, "dop853"},
              {{0, 1}, 1, 1, 4, 1e-6, "dop853"},    {{0, 0}, 1, 0, 4, 1e-8, "dop853"},
              {{0.1, 0}, 1, 0, 4, 1e-8, "vern9"}};
    for (size_t k = 0; k < sizeof is / sizeof *is; k++) {
        drain d = is[k].d;
        double border = 2;
        dae_system sys = {
            .kind = DAE_KIND_ODE,
            .ode = {.n = 2, .f = drained, .jac = is[k].jacobian ? drained_jacobian : NULL, .user = &d}};
        dae_options opt = with_method("auto", is[k].rtol);
        opt.discontinuity = &border;
        opt.ndiscontinuity = is[k].borders;
        dae_integrator *it = create(&sys, &opt);
        start(it, 0, is[k].end, (double[]){1, 2});
        if (strcmp(dae_integrator_method(it)->name, is[k].name) != 0)
            fail_msg("case %zu: %s: %s", k, dae_integrator_method(it)->name, dae_integrator_reason(it));
        dae_integrator_destroy(it);
    }
}

static void motion_that_is_followed_stays_with_an_explicit_method(void **state)
{
    (void)state;
    static const struct {
        dae_ode ode;
        double t_end, y0[3];
    } is[] = {{{.n = 3, .f = lorenz, .jac = lorenz_jacobian}, 20, {1, 1, 1}},
              {{.n = 2, .f = swinging, .jac = swinging_jacobian}, 20, {1, 0}}};
    for (int k = 0; k < 2; k++) {
        for (double rtol = 1e-3; rtol > 0.9e-9; rtol /= 10) {
            dae_system sys = {.kind = DAE_KIND_ODE, .ode = is[k].ode};
            dae_options opt = with_method("auto", rtol);
            dae_integrator *it = create(&sys, &opt);
            start(it, 0, is[k].t_end, is[k].y0);
            advance(it, is[k].t_end, DAE_OK);
            assert_string_equal(dae_integrator_method(it)->name, rtol > 1.5e-7 ? "dop853" : "vern9");
            dae_integrator_destroy(it);
        }
    }
}

static int passes_zero(double t, const double *y, const double *yp, double *phi, void *user)
{
    (void)t, (void)yp, (void)user;
    phi[0] = y[0];
    return 0;
}

static int passes_five(double t, const double *y, const double *yp, double *phi, void *user)
{
    (void)y, (void)yp, (void)user;
    phi[0] = t - 5;
    return 0;
}

/* Events by the state ask for dense output in every step, which is cheapest by dop853; also where y'' = f(t,y). Those by time alone do not, nor do
 * borders. */
static void pieces_get_cheap_dense_output(void **state)
{
    (void)state;
    static const double tol[] = {1e-3, 1e-6, 1e-8, 1e-10}, at[] = {1, 2, 3, 4};
    static const struct {
        int no_state, second_order, borders;
        const char *name[4];
    } is[] = {{0, 0, 0, {"dop853", "dop853", "dop853", "vern9"}},
              {0, 1, 0, {"dop853", "dop853", "dop853", "rkn12"}},
              {1, 0, 0, {"dop853", "dop853", "dop853", "vern9"}},
              {1, 1, 0, {"rkn8", "rkn12", "rkn12", "rkn12"}},
              {1, 0, 3, {"dop853", "dop853", "dop853", "vern9"}},
              {1, 0, 4, {"dop853", "dop853", "dop853", "vern9"}},
              {0, 0, 4, {"dop853", "dop853", "dop853", "vern9"}}};
    for (size_t i = 0; i < sizeof is / sizeof *is; i++) {
        for (int k = 0; k < 4; k++) {
            dae_system sys = oscillator(NULL);
            dae_event event = {.name = "zero"};
            dae_events events = {.count = 1,
                                 .event = &event,
                                 .phi = is[i].no_state ? passes_five : passes_zero,
                                 .no_state = is[i].no_state};
            dae_options opt = with_method("auto", tol[k]);
            sys.structure.second_order = sys.structure.no_velocities = is[i].second_order;
            opt.discontinuity = at;
            opt.ndiscontinuity = is[i].borders;
            dae_integrator *it = create(&sys, &opt);
            assert_int_equal(dae_integrator_set_events(it, &events, NULL), DAE_OK);
            start(it, 0, 10, oscillator_y0);
            assert_string_equal(dae_integrator_method(it)->name, is[i].name[k]);
            if (!i && !k)
                assert_non_null(strstr(dae_integrator_reason(it), "dense output for events or switches"));
            advance(it, 10, DAE_OK);
            dae_integrator_destroy(it);
        }
    }
}

static void named_method_is_never_changed(void **state)
{
    (void)state;
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = van_der_pol}};
    dae_options opt = with_method("dopri5", 1e-4);
    dae_integrator *it = create(&sys, &opt);
    start(it, 0, 2, (double[]){1, 0});
    advance(it, 2, DAE_OK);
    assert_string_equal(dae_integrator_method(it)->name, "dopri5");
    assert_string_equal(dae_integrator_reason(it), "");
    dae_integrator_destroy(it);
}

/* The evidence names what was measured, the rule that held and why others do not. */
static void evidence_tells_the_rule_and_the_others(void **state)
{
    dae_error err = {0};
    (void)state;
    dae_problem *p = dae_problem_create("hires", NULL, 0, &err);
    assert_non_null(p);
    dae_simulation_options o = dae_simulation_options_default(p);
    o.options.method = "auto";
    o.options.rtol = o.options.atol = 1e-6;
    dae_simulation *s = dae_simulation_open(p, &o, &err);
    assert_non_null(s);
    assert_int_equal(dae_simulation_start(s, &err), DAE_OK);
    char text[4096];
    size_t length = dae_simulation_explain(s, NULL, 0);
    assert_true(length > 200 && length < sizeof text);
    assert_int_equal(dae_simulation_explain(s, text, sizeof text), length);
    assert_int_equal(strlen(text), length);
    assert_non_null(strstr(text, "ODE, 8 equations"));
    assert_non_null(strstr(text, "fast ones in the interval: stiff (stiff above 1000)"));
    assert_non_null(strstr(text, "taken     rodas5p"));
    assert_non_null(strstr(text, "rule      rodas4p2            no: rtol is below 3e-05"));
    assert_non_null(strstr(text, "holds too: the next choice"));
    assert_non_null(strstr(text, "rule      dop853              no: stiff"));
    assert_string_equal(dae_simulation_choice(s).method, "rodas5p");
    char part[50]; /* cut, never beyond */
    assert_int_equal(dae_simulation_explain(s, part, sizeof part), length);
    assert_int_equal(strncmp(part, text, sizeof part - 1), 0);
    assert_int_equal(strlen(part), sizeof part - 1);
    dae_simulation_close(s);
    o.options.method = "radau5";
    s = dae_simulation_open(p, &o, &err);
    assert_int_equal(dae_simulation_start(s, &err), DAE_OK);
    assert_int_equal(dae_simulation_explain(s, text, sizeof text), 0);
    dae_simulation_close(s);
    dae_problem_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stiff_problems_get_an_implicit_method),
        cmocka_unit_test(stiff_problems_get_a_method_by_tolerance_and_jacobian),
        cmocka_unit_test(nonstiff_problems_get_an_explicit_method_by_tolerance),
        cmocka_unit_test(daes_and_ides_get_methods_that_take_them),
        cmocka_unit_test(reason_is_cut_to_its_size),
        cmocka_unit_test(system_that_cannot_be_evaluated_still_gets_an_answer),
        cmocka_unit_test(explicit_run_that_meets_stiffness_changes_to_the_method_of_the_rules),
        cmocka_unit_test(what_rests_gets_few_stages),
        cmocka_unit_test(decay_that_begins_in_the_run_is_found_soon_at_every_tolerance),
        cmocka_unit_test(motion_that_decays_is_stiff_by_its_time_constants),
        cmocka_unit_test(motion_that_is_followed_stays_with_an_explicit_method),
        cmocka_unit_test(linear_motion_that_decays_is_stiff_sooner),
        cmocka_unit_test(pieces_get_cheap_dense_output),
        cmocka_unit_test(named_method_is_never_changed),
        cmocka_unit_test(evidence_tells_the_rule_and_the_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
