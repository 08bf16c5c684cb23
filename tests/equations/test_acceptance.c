/* Runs of the models of acceptance.json: digits at least those that an independent prototype reached at the same tolerance with the same kind
 * of method, states, repairs and warnings as it found them, ring modulator without its capacities, redundant rods. */
#include <daedalus/daedalus.h>
#include <daedalus/equations.h>
#include <daedalus/simulation.h>

#include "files.h"

#include <jansson.h>

static dae_problem *open_file(const char *folder, const char *name)
{
    char path[200];
    dae_error err = {0};
    snprintf(path, sizeof path, "%s/%s.deq", folder, name);
    dae_problem *p = dae_problem_open(path, NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    return p;
}

static dae_problem *open_model(const char *name)
{
    return open_file("tests/equations/models", name);
}

/* ---- Digits ----------------------------------------------------------------------------------------------------------------- */

static double digits_between(double found, double expected, int absolute)
{
    double e = fabs(found - expected) / (absolute ? 1 : fabs(expected));
    return -log10(e + 1e-16);
}

/* Fewest digits of the components that the problem of the test set counts (all: of all that it has values of), by their names. */
static double digits_of_problem(const dae_problem *p, const double *y, const char *problem, int all)
{
    dae_problem *q = open_file("problems", problem);
    double worst = 17;
    int n = dae_system_size(&q->system), counted = 0;
    assert_non_null(q->reference);
    for (int i = 0; i < n; i++) {
        int k = dae_component_find(p, q->component[i]);
        if (k < 0 || q->reference[i] == 0 || !(all || !q->scored || q->scored[i])) continue;
        worst = fmin(worst, digits_between(y[k], q->reference[i], 0));
        counted++;
    }
    assert_true(counted > 0);
    dae_problem_destroy(q);
    return worst;
}

/* phi'' = -g sin(phi): x = sin(phi), y = -cos(phi). */
static int one_angle(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = y[1];
    f[1] = -9.81 * sin(y[0]);
    return 0;
}

/* Two angles a, b from the downward vertical, m1 = 1, m2 = 2, L1 = 1, L2 = 0.7:
 * (m1+m2) L1 a'' + m2 L2 cos(a-b) b'' = -m2 L2 b'^2 sin(a-b) - (m1+m2) g sin(a), L1 cos(a-b) a'' + L2 b'' = L1 a'^2 sin(a-b) - g sin(b). */
static int two_angles(double t, const double *y, double *f, void *user)
{
    const double m1 = 1, m2 = 2, L1 = 1, L2 = 0.7, g = 9.81, c = cos(y[0] - y[1]), s = sin(y[0] - y[1]);
    (void)t, (void)user;
    double A = (m1 + m2) * L1, B = m2 * L2 * c, C = L1 * c, D = L2;
    double r = -m2 * L2 * y[3] * y[3] * s - (m1 + m2) * g * sin(y[0]),
           q = L1 * y[2] * y[2] * s - g * sin(y[1]);
    f[0] = y[2];
    f[1] = y[3];
    f[2] = (r * D - B * q) / (A * D - B * C);
    f[3] = (A * q - r * C) / (A * D - B * C);
    return 0;
}

/* x' + x y' = y and x x' + x^2 y' = sin x give y = sin(x)/x, so that x' (1 + x d(sin(x)/x)/dx) = sin(x)/x. */
static int one_variable(double t, const double *y, double *f, void *user)
{
    double x = y[0], s = sin(x) / x;
    (void)t, (void)user;
    f[0] = s / (1 + cos(x) - s);
    return 0;
}

static void integrate(dae_rhs *rhs, int n, double t, double *y)
{
    dae_system ode = {.kind = DAE_KIND_ODE, .ode = {.n = n, .f = rhs}};
    dae_options o = dae_options_default();
    o.method = "dop853";
    o.rtol = o.atol = 1e-14;
    assert_int_equal(dae_solve(&ode, &o, 0, t, y, NULL, NULL), DAE_OK);
}

static double digits_of_pendulum(const dae_problem *p, const double *y)
{
    double phi[] = {acos(-1) / 2, 0};
    integrate(one_angle, 2, p->t_end, phi);
    return fmin(digits_between(y[dae_component_find(p, "x")], sin(phi[0]), 1),
                digits_between(y[dae_component_find(p, "y")], -cos(phi[0]), 1));
}

static double digits_of_dpend(const dae_problem *p, const double *y)
{
    double a[] = {acos(-1) / 2, acos(-1) / 2, 0, 0};
    integrate(two_angles, 4, p->t_end, a);
    const double x2 = sin(a[0]) + 0.7 * sin(a[1]), y2 = -cos(a[0]) - 0.7 * cos(a[1]);
    double first = fmin(digits_between(y[dae_component_find(p, "x1")], sin(a[0]), 1),
                        digits_between(y[dae_component_find(p, "y1")], -cos(a[0]), 1));
    double second = fmin(digits_between(y[dae_component_find(p, "x2")], x2, 1),
                         digits_between(y[dae_component_find(p, "y2")], y2, 1));
    return fmin(first, second);
}

static double digits_of_matlab(const dae_problem *p, const double *y)
{
    double x = p->y0[dae_component_find(p, "x")];
    integrate(one_variable, 1, p->t_end, &x);
    return digits_between(y[dae_component_find(p, "x")], x, 0);
}

/* -x1 = sin t + cos t - exp(-t) - cos 2t + 2 sin 2t: what its two combinations leave (test_forms.c has the other equations). */
static double digits_of_scholz(const dae_problem *p, const double *y)
{
    double t = p->t_end;
    return digits_between(y[dae_component_find(p, "x1")],
                          exp(-t) + cos(2 * t) - 2 * sin(2 * t) - sin(t) - cos(t), 1);
}

static double digits_of_amp(const dae_problem *p, const double *y)
{
    static const char *const name[] = {"s1.a", "s1.b", "s1.e", "s1.c", "s2.b", "s2.e", "s2.c", "out"};
    dae_error err = {0};
    dae_problem *q = dae_problem_create("transamp", NULL, 0, &err);
    double worst = 17;
    for (int i = 0; i < 8; i++)
        worst = fmin(worst, digits_between(y[dae_component_find(p, name[i])], q->reference[i], 0));
    dae_problem_destroy(q);
    return worst;
}

typedef double digits_fn(const dae_problem *p, const double *y);

/* What the prototype did by DOP853 is done at its tolerances (atol is over rtol). Where it had SciPy's Radau in the chosen states, ours is radau in
 * the form that suits it, whose error at one tolerance is less strictly controlled: at what it needs for the printed digits. No run may take
 * more steps than the prototype by a third, which is what andrews needs: its 10.36 digits in 98 steps were luck (9.46 in 100, 10.78 in 128). */
static const struct row {
    const char *name, *problem;
    digits_fn *digits;
    const char *method, *form;
    double rtol, atol, least; /* least: 0: what acceptance.json has */
    int all;                  /* 1: with velocities and multipliers */
    double most;              /* times the prototype's accepted steps; 0: 4/3 */
} row[] = {
    {"vdpol", "vdpol", NULL, "radau", "explicit", 1e-12, 1e-3, 0, 0, 0},
    {"hires", "hires", NULL, "radau", "explicit", 1e-11, 1e-4, 0, 0, 0},
    {"rober", "rober", NULL, "radau", "mass", 1e-9, 1e-6, 0, 0, 0},
    {"chemakzo", "chemakzo", NULL, "radau", "mass", 1e-11, 1e-3, 0, 0, 0},
    {"transamp", "transamp", NULL, "radau", "mass", 1e-9, 1e-2, 0, 0, 0},
    {"transamp", "transamp", NULL, "radau", "mass", 1e-10, 1e-2, 9.2, 0, 0},
    {"amp", NULL, digits_of_amp, "radau", "mass", 3e-9, 1e-2, 0, 0, 0}, /* 1e-8: 7.1 .. 9.4 nearby */
    {"pump", "pump", NULL, "dop853", "statespace", 1e-8, 1, 0, 0, 0},
    {"water", "water", NULL, "radau", "index1", 1e-10, 1e-4, 0, 0, 0},
    {"fekete3", "fekete", NULL, "dop853", "statespace", 1e-7, 1e-3, 0, 0, 0},
    {"pendulum", NULL, digits_of_pendulum, "dop853", "statespace", 1e-11, 1e-3, 0, 0, 0},
    {"dpend", NULL, digits_of_dpend, "dop853", "statespace", 1e-11, 1e-3, 0, 0, 0},
    {"caraxis", "caraxis", NULL, "dop853", "statespace", 1e-10, 1e-3, 0, 1, 0},
    /* shorter steps of which fewer are refused: 1959 evaluations, 2046 when errors were not predicted */
    {"andrews", "andrews", NULL, "dop853", "statespace", 1e-11, 1, 0, 0, 1.6},
    {"crank", "crank", NULL, "dop853", "statespace", 1e-10, 1e-2, 0, 0, 0},
    {"wheel", "wheel", NULL, "radau", "index1", 1e-8, 1e-2, 0, 1, 0},
    {"scholz", NULL, digits_of_scholz, "dop853", "statespace", 1e-8, 1, 0, 0, 0},
    {"matlab", NULL, digits_of_matlab, "dop853", "statespace", 1e-10, 1e-3, 0, 0, 0},
};

static json_t *models(void)
{
    json_error_t err;
    json_t *all = json_load_file("tests/equations/acceptance.json", 0, &err);
    if (!all) fail_msg("acceptance.json: %s", err.text);
    return all;
}

static void digits_are_at_least_those_printed(void **state)
{
    json_t *all = models(), *m;
    const char *name;
    (void)state;
    json_object_foreach(json_object_get(all, "models"), name, m)
    {
        int found = !json_object_get(m, "reached"); /* of the others none may be left out */
        for (size_t k = 0; k < sizeof row / sizeof *row; k++) found |= !strcmp(row[k].name, name);
        if (!found) fail_msg("%s is not run", name);
    }
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        const struct row *r = &row[k];
        const json_t *reached =
            json_object_get(json_object_get(json_object_get(all, "models"), r->name), "reached");
        double printed = json_number_value(json_array_get(json_object_get(reached, "digits"), 0)),
               least = r->least > 0 ? r->least : printed;
        long steps = (long)json_integer_value(json_object_get(reached, "steps")),
             rhs = (long)json_integer_value(json_object_get(reached, "rhs"));
        dae_problem *p = open_model(r->name);
        dae_simulation *s;
        const double *y = run_to_end(p, r->method, r->form, r->rtol, r->rtol * r->atol, &s);
        double digits = r->digits ? r->digits(p, y) : digits_of_problem(p, y, r->problem, r->all);
        dae_stats taken = dae_simulation_stats(s);
        if (!(digits >= least)) fail_msg("%s: %.2f digits, %.2f are printed", r->name, digits, least);
        if (steps > 1) { /* scholz has no states */
            if ((double)taken.accepted > (r->most > 0 ? r->most : 4.0 / 3) * (double)steps)
                fail_msg("%s: %ld steps, the prototype took %ld", r->name, (long)taken.accepted, steps);
            if (taken.f > rhs + rhs / 3)
                fail_msg("%s: %ld evaluations, the prototype took %ld", r->name, (long)taken.f, rhs);
        }
        dae_simulation_close(s);
        dae_problem_destroy(p);
    }
    json_decref(all);
}

/* ---- What check says ------------------------------------------------------------------------------------------------------------ */

static json_t *check_model(const char *name)
{
    static buffer b;
    char path[200];
    size_t length;
    dae_error err = {0};
    json_error_t bad;
    snprintf(path, sizeof path, "tests/equations/models/%s.deq", name);
    char *text = read_text(path, &length);
    b.used = 0;
    if (dae_equations_check(text, length, path, NULL, 0, 1, collect, &b, &err) < 0)
        fail_msg("%s: %s", name, err.text);
    free(text);
    json_t *o = json_loads(b.text, 0, &bad);
    if (!o) fail_msg("%s: %s", bad.text, b.text);
    return o;
}

static int holds_word(const json_t *list, const char *word)
{
    for (size_t k = 0; k < json_array_size(list); k++) {
        if (!strcmp(json_string_value(json_array_get(list, k)), word)) return 1;
    }
    return 0;
}

/* The states at the start. Of water there is a choice between equal pivots, and it is another. */
static void states_are_the_same(void **state)
{
    json_t *all = models(), *m;
    const char *name;
    (void)state;
    json_object_foreach(json_object_get(all, "models"), name, m)
    {
        const json_t *expected = json_object_get(json_object_get(m, "start"), "states");
        if (!expected) continue;
        json_t *o = check_model(name);
        const json_t *found = json_object_get(o, "states");
        assert_int_equal(json_array_size(found), json_array_size(expected));
        for (size_t k = 0; k < json_array_size(expected) && strcmp(name, "water") != 0; k++) {
            const char *word = json_string_value(json_array_get(expected, k));
            if (!holds_word(found, word)) fail_msg("%s: %s is no state", name, word);
        }
        json_decref(o);
    }
    json_decref(all);
}

/* The next term of a combination: "(line 7)" with what stands before it, "-1*" and "+ -1*" or "-". 0: no more. */
static int next_term(const char **at, char *name, size_t size, int *sign)
{
    const char *open = strchr(*at, '('), *close = open ? strchr(open, ')') : NULL;
    if (!open || !close || strncmp(open, "(line ", 6) != 0) return 0;
    *sign = 1;
    for (const char *c = *at; c < open; c++) *sign = *c == '-' ? -*sign : *sign;
    snprintf(name, size, "%.*s%s", (int)(close - open) - 1, open + 1, close[1] == '\'' ? "'" : "");
    *at = close + 1;
    return 1;
}

/* Repairs: the same equations take the place of others, by the same combinations (all signs may be the other ones); where the dependence changes
 * with the state, the same equation on the same others. No other warnings, but for the rods that are redundant at the start. */
static void repairs_and_warnings_are_the_same(void **state)
{
    json_t *all = models(), *m;
    const char *name;
    int repairs = 0;
    (void)state;
    json_object_foreach(json_object_get(all, "models"), name, m)
    {
        const json_t *expected = json_object_get(json_object_get(m, "expected"), "notes"),
                     *note = json_object_get(json_object_get(m, "start"), "note");
        if (!expected) continue;
        json_t *o = check_model(name);
        const json_t *found = json_object_get(o, "warnings");
        assert_int_equal(json_array_size(found), json_array_size(expected) + (note != NULL));
        for (size_t k = 0; k < json_array_size(expected); k++, repairs++) {
            const char *theirs = json_string_value(json_array_get(expected, k)),
                       *ours = json_string_value(json_object_get(json_array_get(found, k), "text")),
                       *where = json_string_value(json_object_get(json_array_get(found, k), "where"));
            assert_int_equal(strncmp(theirs, "equation line ", 14), 0);
            if (strncmp(theirs + 9, where, strlen(where)) != 0) fail_msg("%s: %s", name, where);
            if (strstr(theirs, "augmented by 1")) {
                assert_non_null(strstr(ours, "line 4 depends on line 3; 1 variable added"));
                continue;
            }
            const char *a = strstr(theirs, "replaced by ") + 12, *b = ours + strlen("hidden dependence: ");
            char first[40], second[40];
            int sign, other, turned = 0;
            while (next_term(&a, first, sizeof first, &sign)) {
                if (!next_term(&b, second, sizeof second, &other)) fail_msg("%s: %s", name, ours);
                assert_string_equal(first, second);
                if (!turned) turned = sign * other;
                assert_int_equal(sign, turned * other);
            }
            assert_int_equal(strncmp(b, ", that is 0 = ", 14), 0);
        }
        if (note) {
            const char *text =
                json_string_value(json_object_get(json_array_get(found, json_array_size(expected)), "text"));
            assert_non_null(strstr(json_string_value(note),
                                   "rank 5 of 6; dependent: line 10[1], line 10[2], line 10[3]"));
            assert_string_equal(text, "at the start line 10[1], line 10[2], line 10[3] depend on each other "
                                      "(the system Jacobian has rank 5 of 6)");
        }
        json_decref(o);
    }
    assert_int_equal(repairs, 7);
    json_decref(all);
}

/* Instants of time that are known in advance (besides the end, where one may lie): 39 corners of the pump's voltages, one jump of medakzo's
 * boundary. */
static void instants_are_known(void **state)
{
    static const struct {
        const char *name;
        int count;
        double first;
    } list[] = {{"pump", 39, 5e-8}, {"medakzo", 1, 5}};
    (void)state;
    for (int k = 0; k < 2; k++) {
        dae_problem *p = open_model(list[k].name);
        int inside = 0;
        for (int i = 0; i < p->ndiscontinuity; i++) inside += p->discontinuity[i] < p->t_end;
        assert_int_equal(inside, list[k].count);
        assert_near(p->discontinuity[0], list[k].first, 1e-15 * list[k].first);
        dae_problem_destroy(p);
    }
}

/* ---- What the prototype could not run --------------------------------------------------------------------------------------------- */

/* Without its parasitic capacities the ring modulator starts, by the text without them and by --set Cs=0, and both get to the same end; so does
 * the C version, which can be run as it stands (index 2) with few digits only. */
static void ring_modulator_without_capacities(void **state)
{
    dae_error err = {0};
    dae_setting none = {"Cs", "0"};
    dae_problem *p[] = {open_model("ringmod0"), dae_problem_open("problems/ringmod.deq", &none, 1, &err),
                        dae_problem_create("ringmod", &none, 1, &err)};
    double end[15];
    (void)state;
    for (int k = 0; k < 3; k++) {
        dae_simulation *s;
        if (!p[k]) fail_msg("%s", err.text);
        double rtol = k < 2 ? 1e-8 : p[k]->rtol, near = k < 2 ? 1e-6 : 1e-3;
        const double *y =
            run_to_end(p[k], NULL, NULL, rtol, k < 2 ? 1e-10 : p[k]->atol, &s); /* as auto runs it */
        if (!k) memcpy(end, y, sizeof end);
        for (int i = 0; i < 15; i++) assert_near(y[i], end[i], near * (1e-2 + fabs(end[i])));
        dae_simulation_close(s);
        dae_problem_destroy(p[k]);
    }
}

/* The platform on three parallel rods moves as a pendulum of their length; its rods share the force of the one in three equal parts. All
 * forms but the mechanical one refuse it by name. */
static void redundant_rods_carry_equal_parts(void **state)
{
    static const char *const form[] = {"statespace", "index1", "projected"};
    dae_problem *p = open_model("parallel");
    dae_error err = {0};
    (void)state;
    for (int k = 0; k < 3; k++) {
        dae_simulation_options o = dae_simulation_options_default(p);
        o.options.formulation = form[k];
        dae_simulation *s = dae_simulation_open(p, &o, &err);
        assert_true(!s || dae_simulation_start(s, &err) < 0);
        if (!strstr(err.text, "line 10[1], line 10[2], line 10[3] depend on each other"))
            fail_msg("%s", err.text);
        dae_simulation_close(s);
    }
    dae_simulation *s;
    const double *y = run_to_end(p, NULL, NULL, 1e-10, 1e-10, &s);
    assert_string_equal(dae_simulation_choice(s).formulation, "descriptor");
    double phi[] = {asin(0.6), 0};
    integrate(one_angle, 2, p->t_end, phi);
    assert_near(y[dae_component_find(p, "x")], sin(phi[0]), 1e-8);
    assert_near(y[dae_component_find(p, "y")], -cos(phi[0]), 1e-8);
    assert_near(y[dae_component_find(p, "phi")], 0, 1e-12);
    static const char *const rod[] = {"T[1]", "T[2]", "T[3]"};
    for (int k = 0; k < 3; k++) /* the force of a pendulum of mass 1 and length 1 */
        assert_near(y[dae_component_find(p, rod[k])], (phi[1] * phi[1] + 9.81 * cos(phi[0])) / 3, 1e-7);
    dae_simulation_close(s);
    dae_problem_destroy(p);
}

/* Rods that are parallel at the start only, of different lengths, hold a platform still: nothing follows, and it is refused. */
static void rods_that_are_redundant_once_are_refused(void **state)
{
    static const char text[] =
        "param px[3] = [-1, 0, 1], L[3] = [1, 2, 1]\nvar x = 0, y ~ 0, phi = 0, T[3]\ninit x' = 0, y' = 0, "
        "phi' = 0\n"
        "let X[i in 1..3] = x + px[i]*cos(phi) - px[i], Y[i in 1..3] = y + px[i]*sin(phi) - L[i]\n"
        "x'' = -sum(i in 1..3, T[i]*X[i])\ny'' = -sum(i in 1..3, T[i]*Y[i]) - 9.81\n"
        "phi'' = -sum(i in 1..3, T[i]*(-X[i]*px[i]*sin(phi) + Y[i]*px[i]*cos(phi)))\n"
        "for i in 1..3: X[i]^2 + Y[i]^2 = L[i]^2\nsolve t = 0 .. 1\n";
    dae_error err = {0};
    (void)state;
    dae_problem *p = dae_equations_problem(text, strlen(text), NULL, NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    dae_simulation_options o = dae_simulation_options_default(p);
    dae_simulation *s = dae_simulation_open(p, &o, &err);
    assert_true(!s || dae_simulation_start(s, &err) < 0);
    assert_non_null(strstr(err.text, "depend on each other"));
    dae_simulation_close(s);
    dae_problem_destroy(p);
}

/* An angle that is 0 and stays so has no size that Newton's corrections could be small against. */
static void values_that_stay_zero(void **state)
{
    static const char text[] =
        "param px[2] = [-1, 1]\nvar x = 0.6, y ~ -0.8, phi = 0, T[2]\ninit x' = 0, y' = 0, phi' = 0\n"
        "let X[i in 1..2] = x + px[i]*cos(phi) - px[i], Y[i in 1..2] = y + px[i]*sin(phi)\n"
        "x'' = -sum(i in 1..2, T[i]*X[i])\ny'' = -sum(i in 1..2, T[i]*Y[i]) - 9.81\n"
        "phi'' = -sum(i in 1..2, T[i]*(-X[i]*px[i]*sin(phi) + Y[i]*px[i]*cos(phi)))\n"
        "for i in 1..2: X[i]^2 + Y[i]^2 = 1\nsolve t = 0 .. 1\n";
    dae_error err = {0};
    dae_simulation *s;
    (void)state;
    dae_problem *p = dae_equations_problem(text, strlen(text), NULL, NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    const double *y = run_to_end(p, "dop853", "statespace", 1e-10, 1e-10, &s);
    double phi[] = {asin(0.6), 0};
    integrate(one_angle, 2, p->t_end, phi);
    assert_near(y[dae_component_find(p, "x")], sin(phi[0]), 1e-8);
    assert_int_equal(dae_simulation_stats(s).undefined, 0);
    dae_simulation_close(s);
    dae_problem_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digits_are_at_least_those_printed),
        cmocka_unit_test(states_are_the_same),
        cmocka_unit_test(repairs_and_warnings_are_the_same),
        cmocka_unit_test(instants_are_known),
        cmocka_unit_test(ring_modulator_without_capacities),
        cmocka_unit_test(redundant_rods_carry_equal_parts),
        cmocka_unit_test(rods_that_are_redundant_once_are_refused),
        cmocka_unit_test(values_that_stay_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
