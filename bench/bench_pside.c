/* What threads bring pside: wall time of a run with 1, 2 and 4 threads, best of several runs, for systems of
 * growing size. The threads share out the four factorizations and the four solves of every iteration, and
 * with parallel_f the four evaluations. The last column says whether all final values agree in every bit.
 *
 *     bench_pside */
#include <daedalus/problem.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct job {
    const char *problem, *size; /* size: the number N of fekete, or NULL */
    double rtol;
    const char *parallel_f;
} job;

static const job jobs[] = {
    {"fekete", "5", 1e-4, "0"},  {"fekete", "10", 1e-4, "0"}, {"fekete", "20", 1e-4, "0"},
    {"fekete", "40", 1e-4, "0"}, {"fekete", "40", 1e-4, "1"}, {"fekete", "80", 1e-4, "0"},
    {"tba", NULL, 1e-4, "0"},    {"tba", NULL, 1e-4, "1"},
};

static const double patience = 2; /* seconds: repeat a run for so long */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds of one run, < 0: it failed; y: the final values. */
static double run(const dae_problem *p, const job *j, int threads, double *y)
{
    dae_setting setting[] = {{"parallel_f", j->parallel_f}, {"parallel_min", "1"}};
    dae_options opt = dae_options_default();
    opt.method = "pside";
    opt.rtol = opt.atol = j->rtol;
    opt.threads = threads;
    opt.setting = setting;
    opt.nsetting = 2;
    opt.discontinuity = p->discontinuity;
    opt.ndiscontinuity = p->ndiscontinuity;
    double seconds = -1;
    dae_integrator *it = dae_integrator_create(&p->system, &opt, NULL);
    if (it && dae_integrator_start(it, p->t0, p->t_end, p->y0, p->yp0, NULL) == DAE_OK) {
        double begin = now();
        if (dae_integrator_advance(it, p->t_end, NULL) == DAE_OK) seconds = now() - begin;
        memcpy(y, dae_integrator_state(it), (size_t)dae_system_size(&p->system) * sizeof *y);
    }
    dae_integrator_destroy(it);
    return seconds;
}

static double measure(const dae_problem *p, const job *j, int threads, double *y)
{
    double begin = now(), best = run(p, j, threads, y);
    while (best >= 0 && now() - begin < patience) {
        double next = run(p, j, threads, y);
        if (next < best) best = next;
    }
    return best;
}

int main(void)
{
    static const int threads[] = {1, 2, 4};
    printf("%-8s %5s %10s %10s %10s %10s %8s %8s  %s\n", "problem", "n", "parallel_f", "1 thread", "2", "4",
           "gain 2", "gain 4", "same bits");
    for (size_t k = 0; k < sizeof jobs / sizeof *jobs; k++) {
        const job *j = &jobs[k];
        dae_error err;
        dae_problem *p = dae_problem_create(j->problem, &(dae_setting){"N", j->size}, j->size != NULL, &err);
        if (!p) {
            fprintf(stderr, "%s: %s\n", j->problem, err.text);
            return 1;
        }
        size_t bytes = (size_t)dae_system_size(&p->system) * sizeof(double);
        double *first = malloc(bytes), *y = malloc(bytes), time[3];
        int same = 1;
        if (!first || !y) return 1;
        for (int i = 0; i < 3; i++) {
            time[i] = measure(p, j, threads[i], i ? y : first);
            if (time[i] < 0) {
                fprintf(stderr, "%s failed with %d threads\n", j->problem, threads[i]);
                return 1;
            }
            if (i) same &= !memcmp(first, y, bytes);
        }
        printf("%-8s %5d %10s %7.2f ms %7.2f ms %7.2f ms %8.2f %8.2f  %s\n", j->problem,
               dae_system_size(&p->system), j->parallel_f, 1e3 * time[0], 1e3 * time[1], 1e3 * time[2],
               time[0] / time[1], time[0] / time[2], same ? "yes" : "NO");
        fflush(stdout);
        free(first);
        free(y);
        dae_problem_destroy(p);
    }
    return 0;
}
