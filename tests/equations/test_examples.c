/* The worked examples of docs/equation-examples.md (examples/equations/): each runs, and ends where an independent source says. Closed solutions and
 * conserved quantities are computed here or in the comment; "SciPy" is solve_ivp of SciPy 1.10 with DOP853 at rtol 1e-13 (Radau where said), computed once;
 * "Taylor" is a series of order 40 in 40 digits (mpmath). */
#include "files.h"

#include <daedalus/daedalus.h>

typedef struct expected {
    const char *file, *name; /* a component, or a named expression */
    double t;                /* NAN: at the end */
    double value, tolerance; /* relative, absolute below 1 */
} expected;

static const expected number[] = {
    {"decay_chain", "B", NAN, 0.0663745655406808, 1e-9},         /* k1/(k2 - k1) (e^-k1t - e^-k2t) */
    {"enzyme", "P", 5, 0.645134966246199, 1e-8},                 /* SciPy */
    {"reactor", "T", 2, 331.484716411742, 1e-9},                 /* SciPy, restarted at t = 1 */
    {"predator_prey", "invariant", NAN, 1.54612236050893, 1e-9}, /* its value at the start */
    {"predator_prey", "x", NAN, 15.2340813129806, 1e-7},         /* SciPy */
    {"epidemic", "S", NAN, 0.107208572076473, 1e-8},             /* log(S0/S) = 2.5 (1 - S) */
    {"nerve", "V", 18, -12.0408440181761, 1e-6},                 /* SciPy */
    {"doses", "blood", NAN, 5.27022499618964e-05, 1e-12},        /* six closed solutions, in kg */
    {"oscillating_circuit", "u", NAN, 0.0276305165346635, 1e-8}, /* U e^-dt (cos wt + d/w sin wt) */
    {"source_and_capacitor", "source", NAN, -0.00314159265358979,
     1e-12},                                          /* C U om cos(om t) + U/R sin(om t) */
    {"rectifier", "u", NAN, 4.51243033602522, 1e-6},  /* SciPy Radau, the current by Lambert's W */
    {"chua", "x", 10, 1.10366647236242, 1e-6},        /* SciPy, restarted at the kinks */
    {"motor", "w", 0.55, 99.2472436492124, 1e-7},     /* SciPy, restarted at t = 0.5 */
    {"motor", "i", NAN, 0.42, 1e-7},                  /* at rest: (d w + load)/k */
    {"sampled", "x", 1, 0.748822077459668, 1e-9},     /* x <- e^-aT x + (1 - e^-aT) u/a, five times */
    {"balance", "phi", 1, -0.0534691616769012, 1e-7}, /* SciPy */
    {"thermostat", "T", NAN, 20.5116443497259,
     1e-8},                                      /* exponentials between the switches: 10.008 and 13.353 s */
    {"double_pendulum", "energy", NAN, 0, 1e-7}, /* as at the start */
    {"bounces", "h", NAN, 0.0424335478026276, 1e-8}, /* the parabola after the fourth bounce */
    {"bounces", "count", NAN, 4, 0},                 /* at sqrt(2/g) (1 + 2 sum of e^k) */
    {"brake", "x", NAN, 0.679578661230037, 1e-9},    /* v^2/(2 mu g) */
    {"orbit", "x", NAN, 0.4, 1e-7},                  /* after ten periods */
    {"orbit", "v", NAN, 2, 1e-7},
    {"rocket", "v", NAN, 3042.59478108525, 1e-8},        /* c log(m0/m1) - g t */
    {"heat_rod", "u[20]", NAN, 0.138943295881846, 1e-8}, /* e^(-4/dx^2 sin^2(pi dx/2) t) sin(20 pi dx) */
    {"radiation", "T", NAN, 176.92036348887, 1e-8},      /* (T0^-3 + 3 k t)^(-1/3) */
    {"two_tanks", "h1", NAN, 0.0130212327719919, 1e-8},  /* sqrt(h) falls linearly */
    /* tried from the tutorial alone, by textbooks */
    {"fitzhugh", "v", NAN, -1.9261933837282457, 1e-7},        /* SciPy */
    {"repressilator", "p[1]", NAN, 10.522140109152463, 1e-8}, /* SciPy */
    {"brusselator", "x", NAN, 0.6184299068256495, 1e-8},      /* SciPy */
    {"distillation", "x", NAN, 0.25449291729483814,
     1e-9}, /* log(L/L0) = (log(x/x0) + alpha log((1-x0)/(1-x)))/(alpha - 1) */
    {"bead", "x", NAN, 0.8523733134811206, 1e-8},   /* SciPy on (1 + 4a^2x^2)x'' + 4a^2xx'^2 + 2agx = 0 */
    {"atwood", "x", NAN, 0.6990686077976488, 1e-8}, /* SciPy in length and angle of the rope */
    {"bungee", "h", NAN, 26.13997033284845, 1e-9},  /* SciPy, restarted where the rope gets taut or slack */
    {"buck", "u", NAN, 5.057778902564087, 1e-8},    /* 200 matrix exponentials */
    {"relaxation", "u", NAN, 1.0073342784537003, 1e-8}, /* switches at RC (log 2 + n log 3) */
    {"relaxation", "switches", NAN, 18, 0},
    {"cruise", "v", NAN, 20.00064786527073, 1e-9}, /* SciPy, restarted at t = 5 */
    {"wall", "T[5]", NAN, 290.5316536896866,
     1e-9},                             /* periodic part by phasors, the rest by a matrix exponential */
    {"chemostat", "S", NAN, 0.2, 1e-7}, /* at rest: Ks D/(mu - D), in kg/m^3 */
    {"chemostat", "X", NAN, 2.4, 1e-7}, /* Y (S0 - S) */
    {"elastic_pendulum", "E", NAN, -10.6492675074119, 1e-8}, /* as at the start */
    {"bridge", "i", NAN, -0.00396825396780799, 1e-6},        /* by Thevenin's theorem and exp(-t R/L) */
    {"crane", "crane.cart.x", NAN, 1, 1e-4},                 /* at rest at its target */
    {"swing_up", "car.cart.x", 4, -0.0427771052,
     1e-7}, /* Runge-Kutta of order 4, steps of 2e-5, restarted at the catch */
    /* a second ten, by somebody else */
    {"stick_slip", "x", 17.001031294829367, 1, 1e-8}, /* SciPy, restarted where it slips and sticks */
    {"stick_slip", "x", 9.295999525479766, -0.54100635386992, 1e-8},
    {"fault_clearing", "delta", NAN, 0.0656392175396471, 1e-8}, /* SciPy from asin(Pm/before), restarted */
    {"fault_clearing", "w", NAN, 3.04525574840848, 1e-8},
    {"arm", "T1", 0.7, 10.274447102077, 1e-7}, /* law of cosines, then J a'' = x'' - J' a' */
    {"arm", "T2", 0.7, -0.977918066682517, 1e-7},
    {"arm", "b", NAN, 1.60080082861837, 1e-9},
    {"semibatch", "T", 7200, 307.286101317746, 1e-8}, /* SciPy, restarted at 2 h; in mol */
    {"semibatch", "A", NAN, 379.60425184047, 1e-7},
    {"adsorber", "c[40]", 600, 35.032163395502, 1e-6}, /* SciPy, restarted at 600 s; in mol/m^3 */
    {"adsorber", "c[40]", NAN, 9.56384613324877, 1e-6},
    {"glucose", "G", NAN, 87.14833548733, 1e-9},    /* SciPy, restarted at every measurement */
    {"measles", "S", 10, 0.0612706786505071, 1e-7}, /* SciPy, restarted at every holiday */
    {"measles", "I", 10, 0.000255896824888251, 1e-8},
    {"quadruple_tank", "t2.h", 440, 0.0915009748891192, 1e-8}, /* SciPy, steps of at most 0.02 s */
    {"quadruple_tank", "t3.h", 440, 0.000560474297826417, 1e-8},
    {"quadruple_tank", "t1.h", NAN, 0.2, 1e-6}, /* at the level that was wanted */
    {"quadruple_tank", "t2.h", NAN, 0.08, 1e-5},
    {"wien_bridge", "out", NAN, -0.328839604647634, 1e-7}, /* SciPy, the node by brentq */
    {"air_tank", "m", NAN, 0.130182287725527, 1e-8}, /* SciPy, restarted where the speed of sound is left */
    {"air_tank", "T", NAN, 270.352885644331, 1e-8},
    {"lorenz", "x", NAN, 13.7931995951286, 1e-3}, /* Taylor; errors grow e^(0.9 t) */
};

static double value_of(const dae_problem *p, const dae_sample *at, const char *name)
{
    double column[64];
    int i = dae_component_find(p, name);
    if (i >= 0) return at->y[i];
    assert_true(p->derived.ncolumn <= 64);
    assert_int_equal(p->derived.columns(p, 1, &at->t, at->y, NULL, NULL, column), 0);
    for (int k = 0; k < p->derived.ncolumn; k++) {
        if (!strcmp(p->derived.column[k], name)) return column[k];
    }
    fail_msg("%s has no %s", p->info->name, name);
    return NAN;
}

static dae_run_result *run(const dae_problem *p, double t)
{
    dae_error err = {0};
    dae_run_options o = dae_run_options_default(p);
    if (t == t) o.at = &t, o.nat = 1;
    dae_run_result *r = dae_run(p, &o, &err);
    if (!r || r->status < 0) fail_msg("%s: %s", p->info->name, r ? r->error.text : err.text);
    return r;
}

static dae_problem *open_example(const char *name)
{
    char path[100];
    dae_error err = {0};
    snprintf(path, sizeof path, "examples/equations/%s.deq", name);
    dae_problem *p = dae_problem_open(path, NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    return p;
}

static void examples_end_where_they_should(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof number / sizeof *number; k++) {
        const expected *x = &number[k];
        dae_problem *p = open_example(x->file);
        dae_run_result *r = run(p, x->t);
        double got = value_of(p, x->t == x->t ? &r->at[0] : &r->last, x->name);
        if (!(fabs(got - x->value) <= x->tolerance * fmax(1, fabs(x->value))))
            fail_msg("%s: %s = %.15g, expected %.15g", x->file, x->name, got, x->value);
        dae_run_destroy(r);
        dae_problem_destroy(p);
    }
}

/* A pendulum from the horizontal is at its lowest point after K(1/2)/sqrt(g/L) = 0.59196048689406 s. */
static void swing_passes_its_lowest_point(void **state)
{
    (void)state;
    dae_problem *p = open_example("swing");
    dae_run_result *r = run(p, NAN);
    assert_true(r->nevent >= 1);
    assert_near(r->event[0].t, 0.5919604868940593, 1e-9);
    dae_run_destroy(r);
    dae_problem_destroy(p);
}

/* Steps that events end inside leave no gaps: all 401 points are there, and the temperature stays between its two switches. */
static void points_before_events_are_kept(void **state)
{
    (void)state;
    dae_error err = {0};
    dae_problem *p = open_example("thermostat");
    dae_run_options o = dae_run_options_default(p);
    o.trajectory = DAE_TRAJECTORY_EQUIDISTANT;
    o.points = 401;
    dae_run_result *r = dae_run(p, &o, &err);
    assert_true(r && r->status >= 0);
    assert_int_equal(r->npoint, 401);
    for (int k = 0; k < r->npoint; k++) {
        assert_near(r->point_t[k], 0.5 * k, 1e-12);
        assert_true(r->point_y[2 * k] > 18.99 && r->point_y[2 * k] < 21.01);
    }
    dae_run_destroy(r);
    dae_problem_destroy(p);
}

typedef struct {
    char *text;
    size_t length;
} memory;

static int remember(const char *text, size_t n, void *user)
{
    memory *m = user;
    m->text = realloc(m->text, m->length + n + 1);
    memcpy(m->text + m->length, text, n);
    m->text[m->length += n] = 0;
    return 0;
}

/* What plot names may be a let: its column is drawn; where it has no value there is a gap. */
static void a_let_is_drawn(void **state)
{
    (void)state;
    static const char root[] =
        "var x = 1 [m]\nlet root = sqrt(x)\nx' = -1[m/s]\nsolve t = 0 .. 2 [s]\nplot root\n";
    dae_error err = {0};
    for (int k = 0; k < 2; k++) {
        dae_problem *p = k ? dae_equations_problem(root, strlen(root), "root.deq", NULL, 0, &err)
                           : open_example("fault_clearing");
        if (!p) fail_msg("%s", err.text);
        int n = dae_system_size(&p->system);
        assert_int_equal(p->nplot, 0);
        assert_int_equal(p->ndrawn, 1);
        assert_string_equal(p->derived.column[p->drawn[0] - n], k ? "root" : "degrees");
        dae_run_options o = dae_run_options_default(p);
        o.trajectory = DAE_TRAJECTORY_EQUIDISTANT;
        o.points = 5;
        dae_run_result *r = dae_run(p, &o, &err);
        assert_true(r && r->status >= 0);
        memory m = {0};
        assert_int_equal(dae_run_plot(r, "svg", remember, &m), DAE_OK);
        assert_non_null(strstr(m.text, k ? "root" : "degrees"));
        /* delta(0) = asin(0.8/1.8); the root of -1 */
        assert_non_null(strstr(m.text, k ? "\n2 ?\n" : "\n0 26.3878"));
        free(m.text);
        dae_run_destroy(r);
        dae_problem_destroy(p);
    }
}

/* Behind steps in which the diode does not conduct, and the iteration ends at once, one increment of 1e5 tolerances was believed to be the last
 * by radau: the diode stood at 4 V, and nothing went on from there (1e-3, 1e-6, 1e-7). */
static void a_diode_conducts_at_every_tolerance(void **state)
{
    (void)state;
    dae_problem *p = open_example("rectifier");
    for (int k = 0; k < 2 * 15; k++) {
        dae_run_options o = dae_run_options_default(p);
        dae_error err;
        o.options.method = k % 2 ? "radau5" : "radau";
        o.options.rtol = o.options.atol = pow(10, -2 - 0.5 * (k / 2));
        dae_run_result *r = dae_run(p, &o, &err);
        assert_non_null(r);
        if (r->status != DAE_OK) fail_msg("%s at %g: %s", o.options.method, o.options.rtol, r->error.text);
        assert_near(r->last.y[dae_component_find(p, "u")], 4.51243033602522, 10 * o.options.rtol + 1e-8);
        dae_run_destroy(r);
    }
    dae_problem_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples_end_where_they_should), cmocka_unit_test(swing_passes_its_lowest_point),
        cmocka_unit_test(a_diode_conducts_at_every_tolerance),
        cmocka_unit_test(points_before_events_are_kept), cmocka_unit_test(a_let_is_drawn)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
