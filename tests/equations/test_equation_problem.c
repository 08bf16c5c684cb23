/* Equation files as problems: right-hand sides against check points of the test set, runs against references, events. */
#include "files.h"

#include <daedalus/daedalus.h>

static dae_problem *open_model(const char *name, const dae_setting *setting, int nsetting)
{
    char path[200];
    size_t length;
    dae_error err = {0};
    snprintf(path, sizeof path, "tests/equations/models/%s.deq", name);
    char *text = read_text(path, &length);
    dae_problem *p = dae_equations_problem(text, length, path, setting, nsetting, &err);
    if (!p) fail_msg("%s", err.text);
    free(text);
    return p;
}

static dae_problem *open_text(const char *text)
{
    dae_error err = {0};
    dae_problem *p = dae_equations_problem(text, strlen(text), NULL, NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    return p;
}

static int rhs(const dae_problem *p, double t, const double *y, double *f)
{
    const dae_system *s = &p->system;
    return s->kind == DAE_KIND_ODE ? s->ode.f(t, y, f, s->ode.user) : s->dae.f(t, y, f, s->dae.user);
}

static int jacobian(const dae_problem *p, double t, const double *y, double *J)
{
    const dae_system *s = &p->system;
    int n = dae_system_size(s);
    double *values = calloc((size_t)dae_pattern_count(&s->structure.jacobian, n) + 1, sizeof *values);
    int r = s->kind == DAE_KIND_ODE ? s->ode.jac(t, y, values, s->ode.user)
                                    : s->dae.jac(t, y, values, s->dae.user);
    memset(J, 0, (size_t)n * (size_t)n * sizeof *J);
    const dae_pattern *q = &s->structure.jacobian;
    for (int j = 0; j < n; j++) {
        if (q->storage == DAE_SPARSE) {
            for (int k = q->colptr[j]; k < q->colptr[j + 1]; k++) J[q->rowind[k] + j * n] = values[k];
        } else {
            memcpy(J + j * n, values + j * n, (size_t)n * sizeof *J);
        }
    }
    free(values);
    return r;
}

/* The same numbers as the hand-written problem of the test set, at points around the start; order[i]: its component. */
static void agrees_with(const char *file, const char *name, const int *order)
{
    dae_error err;
    dae_problem *p = open_model(file, NULL, 0), *q = dae_problem_create(name, NULL, 0, &err);
    int n = dae_system_size(&p->system);
    assert_non_null(q);
    assert_int_equal(n, dae_system_size(&q->system));
    double *y = malloc((size_t)n * sizeof *y), *z = malloc((size_t)n * sizeof *z),
           *f = malloc((size_t)n * sizeof *f), *g = malloc((size_t)n * sizeof *g);
    for (int k = 0; k < 5; k++) {
        double t = q->t0 + 0.13 * k * (q->t_end - q->t0), scale = 0;
        for (int i = 0; i < n; i++) z[i] = q->y0[i] + (k ? 0.1 * fabs(q->y0[i]) + 1e-3 * (1 + i * k % 7) : 0);
        for (int i = 0; i < n; i++) y[i] = z[order ? order[i] : i];
        assert_int_equal(rhs(p, t, y, f), 0);
        assert_int_equal(rhs(q, t, z, g), 0);
        for (int i = 0; i < n; i++) scale = fmax(scale, fabs(g[i]));
        for (int i = 0; i < n; i++) assert_near(f[i], g[order ? order[i] : i], 1e-12 * scale);
    }
    free(y);
    free(z);
    free(f);
    free(g);
    dae_problem_destroy(p);
    dae_problem_destroy(q);
}

static void right_sides_agree_with_the_test_set(void **state)
{
    (void)state;
    int order[400];
    for (int i = 0; i < 200; i++) order[i] = 2 * i, order[200 + i] = 2 * i + 1; /* u and v alternate there */
    agrees_with("hires", "hires", NULL);
    agrees_with("medakzo", "medakzo", order);
}

static void jacobians_match_differences(void **state)
{
    (void)state;
    static const char *const name[] = {"vdpol", "hires", "rober", "chemakzo", "ball", "heater"};
    for (size_t k = 0; k < sizeof name / sizeof *name; k++) {
        dae_problem *p = open_model(name[k], NULL, 0);
        int n = dae_system_size(&p->system);
        double J[64], y[8], f[8], g[8];
        assert_true(n <= 8);
        for (int i = 0; i < n; i++) y[i] = p->y0[i] + 0.1 + 0.05 * i;
        assert_int_equal(jacobian(p, 0.3, y, J), 0);
        for (int j = 0; j < n; j++) {
            double keep = y[j], h = 1e-6;
            y[j] = keep + h, rhs(p, 0.3, y, f);
            y[j] = keep - h, rhs(p, 0.3, y, g);
            y[j] = keep;
            for (int i = 0; i < n; i++) {
                double d = (f[i] - g[i]) / (2 * h);
                if (name[k][0] == 'h' && name[k][2] == 'a' && j > 0) continue; /* heater: P, I are discrete */
                assert_near(J[i + j * n], d, 1e-4 * (1 + fabs(d)));
            }
        }
        dae_problem_destroy(p);
    }
}

static long switched; /* sides that the last run changed */

static dae_status run(const dae_problem *p, double rtol, double *y, double *t_end)
{
    dae_error err = {0};
    dae_options opt = dae_options_default();
    opt.rtol = opt.atol = rtol;
    opt.discontinuity = p->discontinuity;
    opt.ndiscontinuity = p->ndiscontinuity;
    if (p->method) opt.method = p->method;
    dae_integrator *it = dae_integrator_create(&p->system, &opt, &err);
    assert_non_null(it);
    if (p->events) assert_int_equal(dae_integrator_set_events(it, p->events, &err), DAE_OK);
    dae_status s = dae_integrator_start(it, p->t0, p->t_end, p->y0, p->yp0, &err);
    if (s >= 0) s = dae_integrator_advance(it, p->t_end, &err);
    if (s < 0) fail_msg("%s", err.text);
    memcpy(y, dae_integrator_state(it), (size_t)dae_system_size(&p->system) * sizeof *y);
    if (t_end) *t_end = dae_integrator_time(it);
    switched = dae_integrator_stats(it)->switches;
    dae_integrator_destroy(it);
    return s;
}

static void runs_reach_their_references(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double digits;
    } list[] = {{"vdpol", 8}, {"rober", 5}};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        dae_problem *p = open_model(list[k].name, NULL, 0);
        double y[8];
        assert_non_null(p->reference);
        run(p, k == 0 ? 1e-9 : 1e-10, y, NULL);
        assert_between(dae_problem_score(p, NULL, NULL, y).mescd, list[k].digits, 20);
        dae_problem_destroy(p);
    }
}

/* h = 1 - g t^2/2: impacts at t1 = sqrt(2/g), then intervals 2 e v1/g, 2 e^2 v1/g, ... */
static void when_bounces_a_ball(void **state)
{
    (void)state;
    dae_problem *p = open_text("param g = 9.81 [m/s^2], e = 0.8\n"
                               "var h = 1 [m], v = 0 [m/s]\n"
                               "h' = v\nv' = -g\n"
                               "when h < 0 \"bounce\": v := -e*v\n"
                               "solve t = 0 .. 1.5 [s]\n");
    double y[2], g = 9.81, t1 = sqrt(2 / g), v1 = g * t1, t2 = t1 + 2 * 0.8 * v1 / g, v2 = 0.64 * v1,
                 s = 1.5 - t2;
    run(p, 1e-10, y, NULL);
    assert_between(t2, 1, 1.5);
    assert_near(y[0], v2 * s - g * s * s / 2, 1e-9);
    assert_near(y[1], v2 - g * s, 1e-9);
    dae_problem_destroy(p);
}

/* A counter that a clock drives, and a switch that ends the run: x' = n with n = 0, 1, 2, ... in intervals of 0.5 from 0. */
static void clocks_and_stops(void **state)
{
    (void)state;
    dae_problem *p = open_text("discrete n = 0\nvar x = 0\nx' = n\n"
                               "every 0.5: n := n + 1\n"
                               "when x > 4: stop \"far enough\"\n"
                               "solve t = 0 .. 10\n");
    double y[2], t;
    assert_int_equal(run(p, 1e-8, y, &t), DAE_EVENT);
    /* n = 1 from the start, 2 after 0.5, ...: x = 0.5, 1.5, 3 at 0.5, 1, 1.5, then x' = 4 */
    assert_near(t, 1.75, 1e-12);
    assert_near(y[0], 4, 1e-12);
    assert_near(y[1], 4, 0);
    dae_problem_destroy(p);
}

/* Values of events that have indices, of two lists: zero until 1/4, then n = (1, 2, 3) and k = (10, 20, 30) until 1/2, then n = (3, 2, 1)
 * and k = (10, 60, 30):  x(1) = (1 + 4 + 9 + 1000 (10 + 40))/4 + (3 + 4 + 3 + 1000 (10 + 120))/2. */
static void lists_of_discrete_values(void **state)
{
    (void)state;
    dae_problem *p = open_text(
        "discrete n[3] = 0, k[3] = 0\nvar x = 0\n"
        "x' = n[1] + 2*n[2] + 3*n[3] + 1000*(k[1] + 2*k[2])\n"
        "at 0.25\n  n[1] := 1\n  n[2] := 2\n  n[3] := 3\n  k[1] := 10\n  k[2] := 20\n  k[3] := 30\nend\n"
        "at 0.5\n  n[1] := n[3]\n  n[3] := n[1]\n  k[2] := 3*k[2]\nend\n"
        "solve t = 0 .. 1\n");
    static const char *const name[] = {"x", "n[1]", "n[2]", "n[3]", "k[1]", "k[2]", "k[3]"};
    static const double end[] = {3.5 + 12500 + 5 + 65000, 3, 2, 1, 10, 60, 30};
    double y[7];
    run(p, 1e-8, y, NULL);
    for (int i = 0; i < 7; i++) {
        int c = dae_component_find(p, name[i]);
        assert_true(c >= 0);
        assert_near(y[c], end[i], i ? 0 : 1e-9); /* x: a straight line, 9e4 of 2e-16 in some steps */
    }
    dae_problem_destroy(p);
}

/* y(0) = 1, x(0) = 2 and sin(w(0)) = 1/2 follow from init equations in an ODE that needs no analysis. */
static void init_equations_of_an_ode_hold(void **state)
{
    (void)state;
    dae_problem *p = open_text("var x, y = 1, w ~ 0.4\nx' = -x\ny' = -y\nw'' = 0*t\n"
                               "init x + y = 3, sin(w) = 0.5, w' - x = 0\n");
    assert_near(p->y0[dae_component_find(p, "x")], 2, 1e-13);
    assert_near(p->y0[dae_component_find(p, "y")], 1, 0);
    assert_near(p->y0[dae_component_find(p, "w")], asin(0.5), 1e-13);
    assert_near(p->y0[dae_component_find(p, "w'")], 2, 1e-13);
    dae_problem_destroy(p);
}

/* h' = -sqrt(max(h, 0)): h = (1 - t/2)^2, empty at t = 2. Behind the end of its side the root is undefined, and its derivative
 * infinite; the same with the words of a choice. */
static void a_tank_runs_empty(void **state)
{
    (void)state;
    static const char *const text[] = {
        "var h = 1, z = 0\nh' = -sqrt(max(h, 0))\nz' = h\nsolve t = 0 .. 4, atol = 1e-9\n",
        "var h = 1, z = 0\nh' = if h > 0 then -sqrt(h) else 0\nz' = h\nsolve t = 0 .. 4, atol = 1e-9\n",
        "var h = 1, q, z = 0\nh' = -q\nq = sqrt(max(h, 0))\nz' = h\nsolve t = 0 .. 4, atol = 1e-9\n"};
    static const char *const method[] = {"dop853", "radau5", "rodas5p", "vode", "seulex", "dassl"};
    for (size_t k = 0; k < 3; k++) {
        for (size_t i = k == 2; i < sizeof method / sizeof *method; i++) {
            dae_problem *p = open_text(text[k]);
            dae_run_options o = dae_run_options_default(p);
            dae_error err = {0};
            o.options.method = method[i];
            dae_run_result *r = dae_run(p, &o, &err);
            if (!r || r->status < 0) fail_msg("%s: %s", method[i], r ? r->error.text : err.text);
            assert_near(r->last.y[dae_component_find(p, "h")], 0, 1e-9);
            assert_near(r->last.y[dae_component_find(p, "z")], 2.0 / 3, 1e-5);
            dae_run_destroy(r);
            dae_problem_destroy(p);
        }
    }
}

static void instants_of_time_are_found(void **state)
{
    (void)state;
    dae_problem *p = open_text("var x = 0, y = 0\n"
                               "x' = if t < 0.3 then 1 else -1\n"
                               "y' = mod(t, 0.25) + noevent(if t < 0.9 then 0 else 1)\n"
                               "solve t = 0 .. 1\n");
    static const double want[] = {0.25, 0.3, 0.5, 0.75};
    assert_int_equal(p->ndiscontinuity, 5); /* four, and the end, where one may lie */
    for (int k = 0; k < 4; k++) assert_near(p->discontinuity[k], want[k], 1e-15);
    dae_problem_destroy(p);
    p = open_model("pump", NULL, 0);
    dae_problem_destroy(p);
}

static void settings_reach_the_model(void **state)
{
    (void)state;
    dae_problem *p = open_model("medakzo", (dae_setting[]){{"N", "20"}, {"k", "50"}, {"u[1]", "=0.5"}}, 3);
    assert_int_equal(dae_system_size(&p->system), 40);
    assert_near(p->y0[0], 0.5, 0);
    assert_near(p->y0[20], 1, 0);
    dae_problem_destroy(p);
}

/* x'' = -sign(x) from x = 1: parabolas between zeros of x, one quarter takes sqrt(2). */
static double bang_error(const char *force, const char *method)
{
    char text[400];
    double y[2], quarter = sqrt(2), s = fmod(20.0, 4 * quarter), at;
    snprintf(text, sizeof text, "var x = 1, v = 0\nx' = v\nv' = %s\nsolve t = 0 .. 20, method = %s\n", force,
             method);
    dae_problem *p = open_text(text);
    run(p, 1e-9, y, NULL);
    dae_problem_destroy(p);
    int part = (int)(s / quarter); /* 0: falling from 1, 1: to -1, 2: back up to 0, 3: to 1 */
    s -= part * quarter;
    at = part == 0   ? 1 - s * s / 2
         : part == 1 ? -quarter * s + s * s / 2
         : part == 2 ? -1 + s * s / 2
                     : quarter * s - s * s / 2;
    return fabs(y[0] - at);
}

/* Stepping over a switch costs digits; located and frozen it does not, whatever the method and however it is written. dop853 sees what it
 * steps over (100 tolerances and more before). */
static void switches_are_located(void **state)
{
    (void)state;
    static const char *const force[] = {"-sign(x)", "if x > 0 then -1 else 1", "1 - 2*step(x)"};
    for (size_t k = 0; k < sizeof force / sizeof *force; k++) {
        assert_between(bang_error(force[k], "dop853"), 0, 2e-8);
        assert_int_equal(switched, 7); /* zeros at 1, 3, .. 13 quarters */
    }
    assert_between(bang_error(force[0], "radau5"), 0, 2e-6);
    double located = bang_error(force[0], "dop853"), literal = bang_error("noevent(-sign(x))", "dop853");
    assert_between(literal, 1000 * located, 2e-8); /* 4e-9 and 3e-14: the method sees jumps itself */
    assert_int_equal(switched, 0);
}

/* A chopper whose duty changes at events: conditions that hold both time and discrete values jump at instants (mod), switch between them, and are
 * decided anew at events that fall on an instant but for rounding (mod(0.3, 0.1) is 0.0999...). */
static void choppers_follow_their_duty(void **state)
{
    static const struct {
        const char *text;
        double end;
    } list[] = {{"discrete duty = 0.3\nat 0.55: duty := 0.6\n", 5 * 0.03 + 0.03 + 0.01 + 4 * 0.06},
                {"discrete duty = 1\nat 0.3: duty := 0.6\nat 0.6: duty := 0\nat 0.8: duty := 0.2\n",
                 0.3 + 3 * 0.06 + 2 * 0.02}};
    static const char *const method[] = {"dop853", "radau5", "vern9"};
    (void)state;
    for (int k = 0; k < 2; k++) {
        for (int c = 0; c < 3; c++) {
            char text[400];
            double y[2];
            snprintf(
                text, sizeof text,
                "%svar x = 0\nx' = if mod(t, 0.1) < duty*0.1 then 1 else 0\nsolve t = 0 .. 1, method = %s\n",
                list[k].text, method[c]);
            dae_problem *p = open_text(text);
            run(p, 1e-9, y, NULL);
            assert_near(y[0], list[k].end, 1e-12);
            dae_problem_destroy(p);
        }
    }
}

/* mod and floor of a variable: a sawtooth whose integral is known. x = t, y = integral of mod(x, 1) + floor(x). */
static void whole_numbers_switch(void **state)
{
    (void)state;
    dae_problem *p = open_text("var x = 0, y = 0, z = 0, w = 0\nx' = 1\ny' = mod(x, 1)\nz' = floor(x)\nw' = "
                               "ceil(x)\nsolve t = 0 .. 3.5\n");
    double y[4];
    run(p, 1e-9, y, NULL);
    assert_near(y[1], 3 * 0.5 + 0.125, 1e-10);
    assert_near(y[2], 0 + 1 + 2 + 1.5, 1e-10);
    assert_near(y[3], 1 + 2 + 3 + 2, 1e-10);
    dae_problem_destroy(p);
}

/* A table of a variable: corners are borders of steps. y' = hat(x), x = t: the hat has area 1. */
static void corners_of_tables_are_located(void **state)
{
    (void)state;
    dae_problem *p = open_text(
        "table hat = [(1, 0), (2, 1), (3, 0)] linear outside hold\nvar x = 0, y = 0\nx' = 1\ny' = hat(x)\n"
        "solve t = 0 .. 5\n");
    double y[2];
    assert_int_equal(p->system.switches.count, 1);
    run(p, 1e-6, y, NULL);
    assert_near(y[1], 1, 1e-12);
    dae_problem_destroy(p);
}

/* Named expressions along a solution; derivatives are what the equations say. */
static void lets_are_outputs(void **state)
{
    (void)state;
    dae_problem *p = open_text("param k = 3\nvar x = 2, v = 1\nx' = v\nv' = -k*x\nlet e = v^2/2 + k*x^2/2, a "
                               "= v'\nsolve t = 0 .. 1\n");
    double t = 0.5, y[] = {1.5, -2}, out[2];
    assert_int_equal(p->derived.ncolumn, 2);
    assert_string_equal(p->derived.column[0], "e");
    assert_int_equal(p->derived.columns(p, 1, &t, y, NULL, NULL, out), 0);
    assert_near(out[0], 2 + 1.5 * 2.25, 1e-14);
    assert_near(out[1], -4.5, 1e-14);
    dae_problem_destroy(p);
    p = open_text("var x = 2\nx' = -x\nlet a = 2*x, b = 3*x\noutput b\nsolve t = 0 .. 1\n");
    assert_int_equal(p->derived.ncolumn, 1);
    assert_string_equal(p->derived.column[0], "b");
    dae_problem_destroy(p);
}

/* After an event algebraic variables are consistent at once: gamd would go on with the old z. x falls from 1 to 0.5 and is put back. */
static void events_make_algebraic_variables_consistent(void **state)
{
    (void)state;
    static const char *const method[] = {"radau5", "gamd", "rodas5p"};
    for (size_t k = 0; k < sizeof method / sizeof *method; k++) {
        char text[300];
        double y[2], x = exp(-(2 - 2 * log(2)));
        snprintf(
            text, sizeof text,
            "var x = 1, z\nx' = -x\nz = x^2 + sin(x)\nwhen x < 0.5: x := 1\nsolve t = 0 .. 2, method = %s\n",
            method[k]);
        dae_problem *p = open_text(text);
        run(p, 1e-9, y, NULL);
        assert_near(y[0], x, 1e-6);
        assert_near(y[1], y[0] * y[0] + sin(y[0]), 1e-8);
        dae_problem_destroy(p);
    }
}

/* What no reference is known of does not count. */
static void references_of_some_variables_score_these(void **state)
{
    (void)state;
    dae_problem *p =
        open_text("var x = 1, v = 0\nx' = v\nv' = -x\nsolve t = 0 .. 3\nreference t = 3: x = -0.99\n");
    dae_score s = dae_problem_score(p, NULL, NULL, (double[]){-0.99 * (1 + 1e-5), 7});
    assert_near(s.scd, 5, 1e-9);
    assert_near(s.mescd, 5 - log10(0.99 / 1.99), 1e-9);
    dae_problem_destroy(p);
}

/* Sixty products of sums, each of which takes the one before twice: 2^60 ways through them, and sixty nodes. */
static void denominators_are_looked_at_once(void **state)
{
    (void)state;
    char text[8000];
    int n = snprintf(text, sizeof text, "param p = 0.9\nvar x = 1\nlet y0 = p\n");
    for (int k = 1; k <= 60; k++)
        n += snprintf(text + n, sizeof text - (size_t)n, "let y%d = (y%d + x^2)/(2*y%d + x^2)\n", k, k - 1,
                      k - 1);
    snprintf(text + n, sizeof text - (size_t)n, "x' = -x/y60\n");
    dae_problem *p = open_text(text);
    assert_int_equal(p->system.poles.count, 0);
    dae_problem_destroy(p);
}

/* What is divided by is known: Ks + S, not what keeps its sign, is constant or stands in a power of even order. */
static void poles_are_not_jumped_over(void **state)
{
    (void)state;
    dae_problem *p = open_text("param mu = 0.8, Ks = 0.2, D = 0.4\n"
                               "var S = 5, X = 0.1\n"
                               "let growth = mu*S/(Ks + S)*(1 + S^2)/(S^2 + 1)/exp(S)*exp(S)/Ks*Ks\n"
                               "S' = D*(5 - S) - 2*growth*X\n"
                               "X' = (growth - D)*X + 0/(1 + X^2) + 1e-9/(S + 7)^2\n"
                               "solve t = 0 .. 48\n");
    const dae_poles *poles = &p->system.poles;
    assert_int_equal(poles->count, 1);
    assert_string_equal(poles->name(0, poles->user), "Ks + S");
    double q;
    assert_int_equal(poles->values(0, (double[]){0.3, 7}, &q, poles->user), 0);
    assert_near(q, 0.5, 1e-15);
    static const char *const methods[] = {"dop853", "dopri5", "rodas4p2", "auto"};
    for (int k = 0; k < 12; k++) {
        dae_run_options o = dae_run_options_default(p);
        dae_error err;
        o.options.method = methods[k / 3];
        o.options.rtol = o.options.atol = pow(10, -1.5 - 0.5 * (k % 3));
        dae_run_result *r = dae_run(p, &o, &err);
        assert_non_null(r);
        assert_int_equal(r->status, DAE_OK);
        if (!(fabs(r->last.y[0] - 0.2) < 0.2 && fabs(r->last.y[1] - 2.4) < 0.2))
            fail_msg("%s at %g: %g %g", o.options.method, o.options.rtol, r->last.y[0], r->last.y[1]);
        dae_run_destroy(r);
    }
    dae_problem_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(references_of_some_variables_score_these),
                                       cmocka_unit_test(right_sides_agree_with_the_test_set),
                                       cmocka_unit_test(jacobians_match_differences),
                                       cmocka_unit_test(runs_reach_their_references),
                                       cmocka_unit_test(when_bounces_a_ball),
                                       cmocka_unit_test(clocks_and_stops),
                                       cmocka_unit_test(lists_of_discrete_values),
                                       cmocka_unit_test(init_equations_of_an_ode_hold),
                                       cmocka_unit_test(a_tank_runs_empty),
                                       cmocka_unit_test(instants_of_time_are_found),
                                       cmocka_unit_test(settings_reach_the_model),
                                       cmocka_unit_test(lets_are_outputs),
                                       cmocka_unit_test(events_make_algebraic_variables_consistent),
                                       cmocka_unit_test(switches_are_located),
                                       cmocka_unit_test(choppers_follow_their_duty),
                                       cmocka_unit_test(whole_numbers_switch),
                                       cmocka_unit_test(poles_are_not_jumped_over),
                                       cmocka_unit_test(denominators_are_looked_at_once),
                                       cmocka_unit_test(corners_of_tables_are_located)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
