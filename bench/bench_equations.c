/* Equation files against hand-written C, in one run: ns per f and per Jacobian, least of many interleaved rounds, by machine code and by
 * the portable levels; what reading costs. Run from the root of the source (it reads problems/).
 *
 * Wanted: machine code 1.5 times C on hires, pollu, emep, 3 on medakzo; levels 15 and 6; medakzo N = 2000 read in 0.1 s, 1e5 equations in
 * 2 s; a pendulum in x, y, lambda 3 times its hand-written state-space form. */
#include <daedalus/daedalus.h>

#include "equations/problem.h"
#include "language/program.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
#ifdef __EMSCRIPTEN__ /* the clock of the process counts milliseconds there */
    clock_gettime(CLOCK_MONOTONIC, &t);
#else
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
#endif
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct timing {
    double f, jac;
} timing;

static void keep_least(timing *least, double f, double jac)
{
    if (f < least->f) least->f = f;
    if (jac < least->jac) least->jac = jac;
}

static void measure(const dae_problem *p, double *out, timing *least)
{
    const dae_ode *o = &p->system.ode;
    int calls = 200000 / (o->n + 10) + 10;
    double t = p->t0 + 0.3 * (p->t_end - p->t0), begin = now();
    for (int k = 0; k < calls; k++) o->f(t, p->y0, out, o->user);
    double f_time = (now() - begin) / calls * 1e9;
    begin = now();
    for (int k = 0; k < calls; k++) o->jac(t, p->y0, out, o->user);
    keep_least(least, f_time, (now() - begin) / calls * 1e9);
}

/* The same programs by the levels, with the copy of y that they need. */
static double time_levels(const dae_problem *p, const dae_flow_parts *x, const dae_program *program,
                          double *out)
{
    int n = p->system.ode.n, calls = 20000 / (n + 10) + 10;
    double *work = calloc(dae_program_work(program) + 1, sizeof *work);
    dae_program_start(program, work);
    work[0] = p->t0 + 0.3 * (p->t_end - p->t0);
    memcpy(work + 1, x->parameter, (size_t)x->nparameter * sizeof *work);
    double begin = now();
    for (int k = 0; k < calls; k++) {
        memcpy(work + 1 + x->nparameter, p->y0, (size_t)n * sizeof *work);
        dae_program_run_levels(program, work, out);
    }
    double time = (now() - begin) / calls * 1e9;
    free(work);
    return time;
}

static void compare(const char *name)
{
    char path[100];
    dae_error err;
    snprintf(path, sizeof path, "problems/%s.deq", name);
    double begin = now();
    dae_problem *p = dae_problem_open(path, NULL, 0, &err);
    double open = now() - begin;
    dae_problem *q = dae_problem_create(name, NULL, 0, &err);
    if (!p || !q) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    dae_flow_parts x =
        dae_flow_look(((dae_equation_object *)dae_problem_object(p, dae_equation_object_destroy))->flow);
    size_t n = (size_t)p->system.ode.n;
    double *out = calloc(n * n + 1, sizeof *out);
    timing text = {1e99, 1e99}, c = text, levels = text;
    for (int round = 0; round < 20; round++) {
        measure(p, out, &text);
        measure(q, out, &c);
        keep_least(&levels, time_levels(p, &x, x.f, out), time_levels(p, &x, x.jacobian, out));
    }
    printf("%-9s %8.1f %8.1f   %8.1f %8.1f %6.2f %6.2f   %8.1f %8.1f %6.2f %6.2f   %6.2f\n", name, c.f, c.jac,
           text.f, text.jac, text.f / c.f, text.jac / c.jac, levels.f, levels.jac, levels.f / c.f,
           levels.jac / c.jac, 1e3 * open);
    free(out);
    dae_problem_destroy(p);
    dae_problem_destroy(q);
}

static void reading(const char *what, const char *text, const dae_setting *setting)
{
    dae_error err;
    double begin = now();
    dae_problem *p = dae_problem_open(text, setting, setting != NULL, &err);
    if (!p) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    printf("%-34s %8.3f s\n", what, now() - begin);
    dae_problem_destroy(p);
}

/* ---- A pendulum in x, y, lambda ------------------------------------------------------------------------ */

/* Typed naively (index 3) it must cost at most 3 times its hand-written state-space form, by the same method with the same digits after
 * 1000 s and hundreds of changes of states. Hand-written are: the parts of a mechanical system (M, f, g, G, gamma) in the form statespace,
 * which is what the file becomes; the two charts (x, vx) and (y, vy) as ODEs with all unknowns eliminated on paper; the angle. */
static const double gravity = 9.81, last = 1000;

static const char *const pendulum_text = "param g = 9.81, L = 1, m = 1\n"
                                         "var x = 1, y ~ 0, vx = 0, vy = 0, lam\n"
                                         "x' = vx\ny' = vy\nm*vx' = -lam*x\nm*vy' = -lam*y - m*g\n"
                                         "x^2 + y^2 = L^2\nsolve t = 0 .. 1000\n";

static int angle_rhs(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = y[1];
    f[1] = -gravity * sin(y[0]);
    return 0;
}

static int weight_force(const dae_mech_point *at, double *f, void *user)
{
    (void)at, (void)user;
    f[0] = 0;
    f[1] = -gravity;
    return 0;
}

static int rod(const dae_mech_point *at, double *g, double *G, void *user)
{
    (void)user;
    if (g) g[0] = at->p[0] * at->p[0] + at->p[1] * at->p[1] - 1;
    if (G) {
        G[0] = 2 * at->p[0];
        G[1] = 2 * at->p[1];
    }
    return 0;
}

static int rod_gamma(const dae_mech_point *at, double *gamma, void *user)
{
    (void)user;
    gamma[0] = 2 * (at->v[0] * at->v[0] + at->v[1] * at->v[1]);
    return 0;
}

/* z = (u, u'), u = x or y; the other one is w = side sqrt(1 - u^2), w' = -u u'/w, and lambda = v.v - g y. */
typedef struct hand_charts {
    int vertical; /* u is y */
    double side;
} hand_charts;

static void hand_other(const hand_charts *c, const double *z, double *w, double *wp)
{
    *w = c->side * sqrt(1 - z[0] * z[0]);
    *wp = -z[0] * z[1] / *w;
}

static int hand_rhs(double t, const double *z, double *f, void *user)
{
    const hand_charts *c = user;
    double w, wp;
    (void)t;
    if (fabs(z[0]) >= 1) return 1;
    hand_other(c, z, &w, &wp);
    double lambda = z[1] * z[1] + wp * wp - gravity * (c->vertical ? z[0] : w);
    f[0] = z[1];
    f[1] = -lambda * z[0] - (c->vertical ? gravity : 0);
    return 0;
}

static int hand_change(double t, double *z, void *user)
{
    hand_charts *c = user;
    double w, wp;
    (void)t;
    if (fabs(z[0]) < 0.9) return 0;
    hand_other(c, z, &w, &wp);
    *c = (hand_charts){!c->vertical, z[0] > 0 ? 1 : -1};
    z[0] = w;
    z[1] = wp;
    return 1;
}

typedef struct contender {
    const char *what, *method, *form;
    double rtol;
    double seconds, error, drift;
    dae_stats stats;
} contender;

static void finish(contender *c, double seconds, const double *position, double phi)
{
    if (seconds < c->seconds) c->seconds = seconds;
    c->error = hypot(position[0] - sin(phi), position[1] + cos(phi));
    c->drift = fabs(position[0] * position[0] + position[1] * position[1] - 1);
}

static void check(dae_status s, const dae_error *err)
{
    if (s >= 0) return;
    fprintf(stderr, "%s\n", err->text);
    exit(1);
}

static void by_text(contender *c, const dae_problem *p, double phi)
{
    dae_error err = {0};
    dae_simulation_options o = dae_simulation_options_default(p);
    o.options.method = c->method;
    o.options.formulation = c->form;
    o.options.rtol = o.options.atol = c->rtol;
    double begin = now();
    dae_simulation *s = dae_simulation_open(p, &o, &err);
    check(s ? dae_simulation_start(s, &err) : DAE_ERR_INPUT, &err);
    check(dae_simulation_advance(s, last, &err), &err);
    c->stats = dae_simulation_stats(s);
    finish(c, now() - begin, dae_simulation_state(s), phi);
    dae_simulation_close(s);
}

static void by_parts(contender *c, double phi)
{
    static const double mass[] = {1, 1};
    dae_error err = {0};
    double y[4] = {1, 0, 0, 0};
    dae_system sys = {.kind = DAE_KIND_MECH,
                      .mech = {.np = 2,
                               .nv = 2,
                               .ng = 1,
                               .nlambda = 1,
                               .force = weight_force,
                               .constraint = rod,
                               .gamma = rod_gamma}};
    sys.mech.mass = dae_diagonal(2, mass);
    dae_options o = dae_options_default();
    o.method = c->method;
    o.formulation = c->form;
    o.rtol = o.atol = c->rtol;
    double begin = now();
    check(dae_solve(&sys, &o, 0, last, y, &c->stats, &err), &err);
    finish(c, now() - begin, y, phi);
}

static void by_hand(contender *c, double phi)
{
    dae_error err = {0};
    hand_charts chart = {1, 1};
    double z[2] = {0, 0}, w, wp;
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = hand_rhs, .user = &chart}};
    dae_options o = dae_options_default();
    o.method = c->method;
    o.rtol = o.atol = c->rtol;
    double begin = now();
    dae_integrator *it = dae_integrator_create(&sys, &o, &err);
    if (!it) check(DAE_ERR_INPUT, &err);
    dae_integrator_set_chart(it, hand_change, &chart);
    check(dae_integrator_start(it, 0, last, z, NULL, &err), &err);
    check(dae_integrator_advance(it, last, &err), &err);
    c->stats = *dae_integrator_stats(it);
    const double *end = dae_integrator_state(it);
    hand_other(&chart, end, &w, &wp);
    finish(c, now() - begin, chart.vertical ? (double[]){w, end[0]} : (double[]){end[0], w}, phi);
    dae_integrator_destroy(it);
}

static void by_angle(contender *c, double *phi, double reference)
{
    dae_error err = {0};
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = angle_rhs}};
    dae_options o = dae_options_default();
    phi[0] = acos(-1) / 2;
    phi[1] = 0;
    o.method = c->method;
    o.rtol = o.atol = c->rtol;
    double begin = now();
    check(dae_solve(&sys, &o, 0, last, phi, &c->stats, &err), &err);
    finish(c, now() - begin, (double[]){sin(phi[0]), -cos(phi[0])}, reference);
}

static void pendulum(const char *method, double rtol)
{
    enum { TEXT, PARTS, HAND, ANGLE, COUNT };
    contender c[COUNT] = {{.what = "typed", .form = "statespace"},
                          {.what = "parts", .form = "statespace"},
                          {.what = "charts"},
                          {.what = "angle"}};
    contender exact = {.method = "dop853", .rtol = 1e-14, .seconds = 1e99};
    double phi[2], reference;
    dae_error err;
    by_angle(&exact, phi, 0);
    reference = phi[0];
    dae_problem *p = dae_problem_open(pendulum_text, NULL, 0, &err);
    if (!p) check(DAE_ERR_INPUT, &err);
    for (int k = 0; k < COUNT; k++) {
        c[k].method = method;
        c[k].rtol = rtol;
        c[k].seconds = 1e99;
    }
    for (int round = 0; round < 5; round++) {
        by_text(&c[TEXT], p, reference);
        by_parts(&c[PARTS], reference);
        by_hand(&c[HAND], reference);
        by_angle(&c[ANGLE], phi, reference);
    }
    for (int k = 0; k < COUNT; k++)
        printf("%-8s %-6s %8.2f %8ld %8ld %6ld %9.1e %9.1e %8.2f\n", method, c[k].what, 1e3 * c[k].seconds,
               c[k].stats.steps, c[k].stats.f, c[k].stats.charts, c[k].error, c[k].drift,
               c[TEXT].seconds / c[k].seconds);
    dae_problem_destroy(p);
}

int main(void)
{
    static const char *const name[] = {"hires", "pollu", "emep", "medakzo", "orego", "ringmod", "plei"};
    printf("%-9s %8s %8s   %8s %8s %6s %6s   %8s %8s %6s %6s   %6s\n", "ns", "f C", "jac C", "f code",
           "jac code", "ratio", "ratio", "f levels", "jac lev.", "ratio", "ratio", "open ms");
    for (size_t k = 0; k < sizeof name / sizeof *name; k++) compare(name[k]);
    reading("medakzo with N = 2000, 4000 equations", "problems/medakzo.deq", &(dae_setting){"N", "2000"});
    reading("1e5 equations, an ODE",
            "int N = 50000\nparam D = 0.1\nvar u[N] = 0, v[N] = 1\nlet u[0] = 1\nlet u[N+1] = u[N]\nfor i in "
            "1..N\n"
            "u[i]' = D*(u[i-1] - 2*u[i] + u[i+1])*N^2 - u[i]*v[i]\nv[i]' = -u[i]*v[i]\nend\n",
            NULL);
    reading("1e5 equations, a DAE",
            "int N = 33333\nvar u[N] = 0, w[N], q[N]\nlet u[0] = 1\nlet u[N+1] = u[N]\nfor i in 1..N\nu[i]' "
            "= q[i]\n"
            "q[i] = w[i] - 2*u[i] + u[i+1]\nw[i] = u[i-1] + 0.1*sin(u[i])\nend\n",
            NULL);
    printf("\n%-8s %-6s %8s %8s %8s %6s %9s %9s %8s\n", "pendulum", "", "ms", "steps", "f", "charts", "error",
           "drift", "typed is");
    pendulum("dop853", 1e-8);
    pendulum("radau5", 1e-8);
    return 0;
}
