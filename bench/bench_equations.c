/* Equation files against hand-written C: ns per f and per Jacobian, least of many interleaved rounds; and the time from text to problem.
 * Run from the root of the source (it reads problems/). */
#include <daedalus/daedalus.h>

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

static void measure(const dae_problem *p, timing *least)
{
    int n = dae_system_size(&p->system), calls = 200000 / (n + 10) + 10;
    size_t entries = (size_t)dae_pattern_count(&p->system.structure.jacobian, n);
    double *f = calloc((size_t)n, sizeof *f), *jac = calloc(entries + 1, sizeof *jac);
    const dae_ode *o = &p->system.ode;
    double begin = now();
    for (int k = 0; k < calls; k++) o->f(p->t0, p->y0, f, o->user);
    double f_time = (now() - begin) / calls * 1e9;
    begin = now();
    for (int k = 0; k < calls; k++) o->jac(p->t0, p->y0, jac, o->user);
    double jac_time = (now() - begin) / calls * 1e9;
    if (f_time < least->f) least->f = f_time;
    if (jac_time < least->jac) least->jac = jac_time;
    free(f);
    free(jac);
}

int main(void)
{
    static const char *const name[] = {"hires", "pollu", "orego", "ringmod", "plei", "medakzo"};
    printf("%-10s %10s %10s %8s %10s %10s %8s %10s\n", "", "f C", "f text", "ratio", "jac C", "jac text",
           "ratio", "open ms");
    for (size_t k = 0; k < sizeof name / sizeof *name; k++) {
        char path[100];
        dae_error err;
        snprintf(path, sizeof path, "problems/%s.deq", name[k]);
        double begin = now();
        dae_problem *p = dae_problem_open(path, NULL, 0, &err),
                    *q = dae_problem_create(name[k], NULL, 0, &err);
        double open = now() - begin;
        if (!p || !q) return fprintf(stderr, "%s\n", err.text), 1;
        timing text = {1e99, 1e99}, c = {1e99, 1e99};
        for (int round = 0; round < 20; round++) {
            measure(p, &text);
            if (q->system.ode.jac) measure(q, &c);
        }
        printf("%-10s %10.1f %10.1f %8.2f %10.1f %10.1f %8.2f %10.2f\n", name[k], c.f, text.f, text.f / c.f,
               c.jac, text.jac, text.jac / c.jac, 1e3 * open);
        dae_problem_destroy(p);
        dae_problem_destroy(q);
    }
    return 0;
}
