/* Equation files against hand-written C, in one run: ns per f and per Jacobian, least of many interleaved rounds, by machine code and by
 * the portable levels; what reading costs. Run from the root of the source (it reads problems/).
 *
 * Wanted: machine code 1.5 times C on hires, pollu, emep, 3 on medakzo; levels 15 and 6; medakzo N = 2000 read in 0.1 s, 1e5 equations in 2 s. */
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
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
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
    return 0;
}
