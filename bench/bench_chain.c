/* Cost of one acceleration evaluation of chains: N bodies on revolute joints, planar and spatial, N = 2 .. 1024.
 *
 *   joint coordinates   one right-hand side of the formulation "joint": positions of the bodies, forces, rates of the
 *                       joint velocities
 *   recursive_...       the same in coordinates of the bodies: positions, forces, constraints G, the bias gamma, and the
 *                       solution of [M G^T; G 0] (a; lambda) = (f; -gamma) by elimination over the tree
 *
 * The exponent is the slope of log(time) over log(N) from 64 bodies on. Then whole runs of 1 s: the largest tolerance
 * 10^-k with which the error at the end, against a run at 1e-13, is below 1e-8, and what it costs. All times are the
 * best of many; use a quiet machine and OPENBLAS_NUM_THREADS=1. Arguments: "chains", "bodies" (constraint form), "runs". */
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

static mbs_mechanism *built_chain(int n, int space, double *built, double **y)
{
    dae_error err = {0};
    double start = now();
    mbs_model *m = chain(n, space);
    mbs_mechanism *c = mbs_mechanism_create(m, &err);
    mbs_model_destroy(m);
    *y = c ? reals(dae_system_size(mbs_mechanism_system(c))) : NULL;
    if (!c || mbs_mechanism_initial(c, *y, &err) < 0) {
        printf("%d bodies: %s\n", n, err.text);
        exit(1);
    }
    *built = now() - start;
    return c;
}

static double body_chain(int n, int space, const char *mode)
{
    dae_error err = {0};
    double built, *y;
    mbs_mechanism *c = built_chain(n, space, &built, &y);
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

/* ---- Joint coordinates -------------------------------------------------------------------------------- */

static double joint_chain(int n, int space, const char *mode)
{
    double built, *y, best = INFINITY;
    mbs_mechanism *c = built_chain(n, space, &built, &y);
    const dae_mech *s = &mbs_mechanism_system(c)->mech;
    const dae_joint_form *j = s->joint;
    int size = j->nq + j->ns, calls = 1 + 2000 / n;
    double *z = reals(size), *zp = reals(size);
    void *work = aligned_alloc(64, (j->work_size + 63) / 64 * 64);
    (void)mode;
    if (!work) exit(1);
    memset(work, 0, j->work_size);
    j->from_absolute(0, y, y + s->np, z, z + j->nq, work, j->user);
    for (int k = 0; k < j->ns; k++) z[j->nq + k] = 0.1 * sin(k);
    for (int run = 0; run < 100; run++) {
        double start = now();
        for (int k = 0; k < calls; k++) {
            z[0] += 1e-15;
            if (j->rates(0, z, zp, work, j->user)) exit(1);
        }
        best = fmin(best, (now() - start) / calls);
    }
    printf("%6d %12.2f %12.3f %12s %12s %10.1f\n", n, best, best / n, "", "", built / 1000);
    free(y), free(z), free(zp), free(work);
    mbs_mechanism_destroy(c);
    return best;
}

static void chains(const char *what, int space, const char *mode, double (*one)(int, int, const char *))
{
    double sx = 0, sy = 0, sxx = 0, sxy = 0, points = 0;
    printf("\n%s chains, %s\n", what, mode);
    printf("%6s %12s %12s %12s %12s %10s\n", "N", "us", "us/body", "functions", "solver", "build ms");
    for (int n = 2; n <= largest; n *= 2) {
        double x = log(n), time = log(one(n, space, mode));
        if (n < fit_from) continue;
        points++, sx += x, sy += time, sxx += x * x, sxy += x * time;
    }
    printf("exponent %.3f\n", (points * sxy - sx * sy) / (points * sxx - sx * sx));
}

/* ---- Whole runs ------------------------------------------------------------------------------------------- */

typedef struct case_of {
    const char *name, *method, *formulation;
} case_of;

static double solve(const dae_system *sys, const case_of *c, double tol, const double *y0, double *y,
                    double *closed)
{
    dae_error err = {0};
    dae_options o = dae_options_default();
    dae_stats stats = {0};
    static const dae_setting project = {"formulation.project", "1"};
    int n = dae_system_size(sys);
    o.method = c->method;
    o.formulation = c->formulation;
    o.rtol = o.atol = tol;
    if (c->formulation && !strcmp(c->formulation, "joint")) o.setting = &project, o.nsetting = 1;
    memcpy(y, y0, (size_t)n * sizeof *y);
    double start = now();
    if (dae_solve(sys, &o, 0, 1, y, closed ? &stats : NULL, &err) < 0) {
        printf("%s: %s\n", c->name, err.text);
        exit(1);
    }
    if (closed) *closed = stats.position_residual;
    return now() - start;
}

static void whole_run(const char *what, const dae_system *sys, const double *y0, const case_of *c)
{
    int n = dae_system_size(sys), np = sys->mech.np;
    double *exact = reals(n), *y = reals(n), error = INFINITY, best = INFINITY, closed = 0, tol = 0;
    solve(sys, &(case_of){"reference", "dop853", "index1"}, 1e-13, y0, exact, NULL);
    for (int k = 13; k <= 28; k++) { /* half decades */
        double t = pow(10, -0.5 * k);
        error = 0;
        solve(sys, c, t, y0, y, &closed);
        for (int i = 0; i < np; i++) error = fmax(error, fabs(y[i] - exact[i]));
        tol = t;
        if (error <= 1e-8) break;
    }
    for (int run = 0; run < 50; run++) best = fmin(best, solve(sys, c, tol, y0, y, NULL));
    printf("%-16s %-8s %-12s %10.1e %10.1e %10.1e %10.3f\n", what, c->method, c->formulation, tol, error,
           closed, best / 1000);
    free(exact), free(y);
}

/* models/double_pendulum.json, models/four_bar.json and a chain, released at rest. */
static mbs_model *double_pendulum(void)
{
    mbs_model *m = mbs_model_create("double pendulum", MBS_PLANAR);
    mbs_model_set_gravity(m, 0, -9.81, 0);
    int upper = mbs_model_add_body(
        m, &(mbs_body){.name = "upper", .mass = 1, .inertia = {0, 0, 1 / 12.0}, .center = {0.5}});
    int lower = mbs_model_add_body(
        m, &(mbs_body){.name = "lower", .mass = 1, .inertia = {0, 0, 1 / 12.0}, .center = {1.5}});
    mbs_model_add_joint(m, &(mbs_joint){.name = "pin", .type = "revolute", .a = MBS_GROUND, .b = upper});
    mbs_model_add_joint(m,
                        &(mbs_joint){.name = "elbow", .type = "revolute", .a = upper, .b = lower, .at = {1}});
    return m;
}

static void rod(mbs_model *m, const char *name, double length, double x, double y, double angle,
                const char *fix)
{
    mbs_model_add_body(m, &(mbs_body){.name = name,
                                      .mass = length,
                                      .inertia = {0, 0, length * length * length / 12},
                                      .center = {x, y},
                                      .angle = angle,
                                      .fix = fix});
}

static mbs_model *four_bar(void)
{
    static const double length[] = {1, 2.5, 2};
    static const char *const joint[][3] = {
        {"J1", "O", "A1"}, {"J2", "B1", "A2"}, {"J3", "B2", "B3"}, {"J4", "Q", "A3"}};
    const double degree = 0.017453292519943295769;
    mbs_model *m = mbs_model_create("four-bar", MBS_PLANAR);
    mbs_model_set_gravity(m, 0, -9.81, 0);
    rod(m, "crank", length[0], 0, 0.5, 90 * degree, "angle");
    rod(m, "coupler", length[1], 1.2, 1.4, 20 * degree, NULL);
    rod(m, "rocker", length[2], 2.7, 0.9, 70 * degree, NULL);
    mbs_model_add_point(m, &(mbs_point){.name = "O"});
    mbs_model_add_point(m, &(mbs_point){.name = "Q", .r = {3}});
    for (int k = 1; k <= 3; k++) {
        char a[] = {'A', (char)('0' + k), 0}, b[] = {'B', (char)('0' + k), 0};
        mbs_model_add_point(m, &(mbs_point){.name = a, .body = k, .r = {-length[k - 1] / 2}});
        mbs_model_add_point(m, &(mbs_point){.name = b, .body = k, .r = {length[k - 1] / 2}});
    }
    for (int k = 0; k < 4; k++)
        mbs_model_add_joint(
            m, &(mbs_joint){
                   .name = joint[k][0], .type = "revolute", .point_a = joint[k][1], .point_b = joint[k][2]});
    return m;
}

static void runs(const char *what, mbs_model *m)
{
    static const case_of cases[] = {{"auto", "auto", "auto"},
                                    {"joint", "dop853", "joint"},
                                    {"bodies", "dop853", "index1"},
                                    {"bodies", "mexx", "descriptor"}};
    dae_error err = {0};
    mbs_mechanism *c = mbs_mechanism_create(m, &err);
    double *y = c ? reals(dae_system_size(mbs_mechanism_system(c))) : NULL;
    mbs_model_destroy(m);
    if (!c || mbs_mechanism_initial(c, y, &err) < 0) {
        printf("%s: %s\n", what, err.text);
        exit(1);
    }
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        whole_run(what, mbs_mechanism_system(c), y, &cases[k]);
    free(y);
    mbs_mechanism_destroy(c);
}

int main(int argc, char **argv)
{
    const char *only = argc > 1 ? argv[1] : "";
    if (!*only || !strcmp(only, "chains")) {
        chains("planar", MBS_PLANAR, "joint coordinates", joint_chain);
        chains("spatial", MBS_SPATIAL, "joint coordinates", joint_chain);
    }
    if (!*only || !strcmp(only, "bodies")) {
        chains("planar", MBS_PLANAR, "recursive_constraint", body_chain);
        chains("planar", MBS_PLANAR, "recursive_joint", body_chain);
        chains("spatial", MBS_SPATIAL, "recursive_constraint", body_chain);
        chains("spatial", MBS_SPATIAL, "recursive_joint", body_chain);
    }
    if (!*only || !strcmp(only, "runs")) {
        printf("\nwhole runs of 1 s, error 1e-8\n%-16s %-8s %-12s %10s %10s %10s %10s\n", "model", "method",
               "form", "tol", "error", "|g|", "ms");
        runs("double pendulum", double_pendulum());
        runs("four-bar", four_bar());
        runs("chain of 16", chain(16, MBS_PLANAR));
    }
    return 0;
}
