/* Cost of one acceleration evaluation of chains: N bodies on revolute joints, planar and spatial, N = 2 .. 1024. An
 * evaluation is what a method asks for at one point: positions of the bodies, forces, constraints G, the bias gamma, and
 * the solution of [M G^T; G 0] (a; lambda) = (f; -gamma) by elimination over the tree. Best of many runs; use a quiet
 * machine and OPENBLAS_NUM_THREADS=1. The exponent is the slope of log(time) over log(N) from 64 bodies on. */
#include <daedalus/daedalus.h>

#include "core/arena.h"
#include "linalg/saddle.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { largest = 1024, fit_from = 64 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

/* Rods of mass 1 and length 1, each turned against the one before; spatial: axes of the joints are y and z in turn. */
static mbs_model *chain(int n, int space)
{
    mbs_model *m = mbs_model_create("chain", space);
    double end[2] = {0, 0};
    mbs_model_set_gravity(m, 0, -9.81, 0);
    for (int k = 0; k < n; k++) {
        char body[16], joint[16];
        double angle = 0.3 * sin(0.7 * k), c = cos(angle), s = sin(angle), spatial = space == MBS_SPATIAL;
        snprintf(body, sizeof body, "b%d", k + 1);
        snprintf(joint, sizeof joint, "j%d", k + 1);
        mbs_model_add_body(m, &(mbs_body){.name = body,
                                          .mass = 1,
                                          .inertia = {0.01, 1 / 12.0, 1 / 12.0},
                                          .center = {end[0] + c / 2, end[1] + s / 2},
                                          .angle = angle,
                                          .q = {cos(angle / 2), 0, 0, sin(angle / 2)}});
        mbs_model_add_joint(m, &(mbs_joint){.name = joint,
                                            .type = "revolute",
                                            .a = k,
                                            .b = k + 1,
                                            .at = {end[0], end[1]},
                                            .axis = {0, spatial * (k % 2), spatial * (1 - k % 2)}});
        end[0] += c;
        end[1] += s;
    }
    return m;
}

typedef struct evaluation {
    const dae_mech *mech;
    dae_mech_point at;
    dae_saddle *saddle;
    double *M, *G, *a, *l;
} evaluation;

static void evaluate_functions(evaluation *e)
{
    const dae_mech *s = e->mech;
    s->constraint_sparse(&e->at, NULL, e->G, s->user);
    s->gamma(&e->at, e->l, s->user);
    s->force(&e->at, e->a, s->user);
    for (int i = 0; i < s->nlambda; i++) e->l[i] = -e->l[i];
}

static int evaluate(evaluation *e, double *y)
{
    y[0] += 1e-15; /* another point: nothing may be kept from the last evaluation */
    evaluate_functions(e);
    int bad = dae_saddle_factor(e->saddle, e->M, e->G, NULL);
    if (!bad) dae_saddle_solve(e->saddle, e->a, e->l);
    return bad;
}

/* The best time of one call, in microseconds, and that of the functions of the mechanism alone. */
static double measure(evaluation *e, double *y, int n, double *functions)
{
    int calls = 1 + 2000 / n;
    double best = INFINITY;
    *functions = INFINITY;
    for (int run = 0; run < 60; run++) {
        double start = now();
        for (int k = 0; k < calls; k++) {
            if (evaluate(e, y)) return NAN;
        }
        double middle = now();
        for (int k = 0; k < calls; k++) {
            y[0] += 1e-15;
            evaluate_functions(e);
        }
        best = fmin(best, (middle - start) / calls);
        *functions = fmin(*functions, (now() - middle) / calls);
    }
    return best;
}

static double *reals(int n)
{
    double *x = calloc((size_t)n + 1, sizeof *x);
    if (!x) exit(1);
    return x;
}

static double one_chain(int n, int space, const char *mode)
{
    dae_error err = {0};
    double start = now();
    mbs_model *m = chain(n, space);
    mbs_mechanism *c = mbs_mechanism_create(m, &err);
    mbs_model_destroy(m);
    double *y = c ? reals(dae_system_size(mbs_mechanism_system(c))) : NULL;
    if (!c || mbs_mechanism_initial(c, y, &err) < 0) {
        printf("%d bodies: %s\n", n, err.text);
        exit(1);
    }
    double built = now() - start;
    const dae_mech *s = &mbs_mechanism_system(c)->mech;
    for (int k = 0; k < s->nv; k++) y[s->np + k] = 0.1 * sin(k);
    dae_arena *arena = dae_arena_create();
    int *block = calloc((size_t)n, sizeof *block), size = space == MBS_PLANAR ? 3 : 6;
    evaluation e = {.mech = s,
                    .at = {.t = 0, .p = y, .v = y + s->np, .cache = calloc(1, s->cache_size)},
                    .M = reals(n * size * size),
                    .G = reals(s->G_colptr[s->nv]),
                    .a = reals(s->nv),
                    .l = reals(s->nlambda)};
    for (int k = 0; k < n; k++) {
        block[k] = size;
        for (int i = 0; i < size; i++) {
            double d = i < (space == MBS_PLANAR ? 2 : 3) ? 1
                       : space == MBS_SPATIAL && i == 3  ? 0.01
                                                         : 1 / 12.0;
            e.M[(k * size + i) * size + i] = d;
        }
    }
    dae_saddle_spec spec = {.mode = mode,
                            .nv = s->nv,
                            .nl = s->nlambda,
                            .block = block,
                            .nblock = n,
                            .colptr = s->G_colptr,
                            .rowind = s->G_rowind,
                            .parent = s->parent,
                            .row_joint = s->row_joint};
    e.saddle = dae_saddle_create(&spec, arena, &err);
    if (!e.saddle) {
        printf("%d bodies, %s: %s\n", n, mode, err.text);
        exit(1);
    }
    double functions, time = measure(&e, y, n, &functions);
    printf("%6d %12.2f %12.3f %12.3f %12.3f %10.1f\n", n, time, time / n, functions / n,
           (time - functions) / n, built / 1000);
    dae_saddle_destroy(e.saddle);
    dae_arena_destroy(arena);
    free(block), free(e.at.cache), free(e.M), free(e.G), free(e.a), free(e.l), free(y);
    mbs_mechanism_destroy(c);
    return time;
}

static void chains(const char *what, int space, const char *mode)
{
    double sx = 0, sy = 0, sxx = 0, sxy = 0, points = 0;
    printf("\n%s chains, %s\n", what, mode);
    printf("%6s %12s %12s %12s %12s %10s\n", "N", "us", "us/body", "functions", "solver", "build ms");
    for (int n = 2; n <= largest; n *= 2) {
        double x = log(n), time = log(one_chain(n, space, mode));
        if (n < fit_from) continue;
        points++, sx += x, sy += time, sxx += x * x, sxy += x * time;
    }
    printf("exponent %.3f\n", (points * sxy - sx * sy) / (points * sxx - sx * sx));
}

int main(void)
{
    chains("planar", MBS_PLANAR, "recursive_constraint");
    chains("planar", MBS_PLANAR, "recursive_joint");
    chains("spatial", MBS_SPATIAL, "recursive_constraint");
    chains("spatial", MBS_SPATIAL, "recursive_joint");
    return 0;
}
