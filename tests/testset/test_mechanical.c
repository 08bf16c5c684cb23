/* The mechanical problems: every derivative that they give against differences, sparse against dense, initial values,
 * and the numbers that the sources print. */
#include "test.h"

#include <daedalus/daedalus.h>

enum { MOST = 220 }; /* velocities */

static const struct {
    const char *problem, *name, *value;
} entry[] = {{"cable-drum", "mu", "0.5"},
             {"seven-body", NULL, NULL},
             {"insulator-chain", "N", "5"},
             {"insulator-chain", "N", "32"},
             {"double-pendulum", "model", "planar"}};
enum { COUNT = sizeof entry / sizeof *entry };

static dae_problem *create(int k)
{
    dae_error err = {0};
    dae_problem *p = dae_problem_create(entry[k].problem, &(dae_setting){entry[k].name, entry[k].value},
                                        entry[k].name != NULL, &err);
    if (!p) fail_msg("%s", err.text);
    return p;
}

/* A point near the initial values, where nothing vanishes by accident. */
typedef struct point {
    double p[MOST], v[MOST], lambda[MOST];
    dae_mech_point x;
} point;

static point near_start(const dae_problem *pr)
{
    const dae_mech *m = &pr->system.mech;
    point k;
    for (int i = 0; i < m->np; i++) k.p[i] = pr->y0[i] + 0.1 * sin(1.3 * i + 0.4);
    for (int i = 0; i < m->nv; i++) k.v[i] = cos(2.1 * i + 0.7);
    for (int i = 0; i < m->nlambda; i++) k.lambda[i] = sin(0.9 * i + 0.2);
    k.x = (dae_mech_point){.t = 0.3};
    return k;
}

static dae_mech_point at(const point *k)
{
    dae_mech_point x = k->x;
    x.p = k->p;
    x.v = k->v;
    x.lambda = k->lambda;
    return x;
}

static double G[MOST * MOST], G2[MOST * MOST], M[MOST * MOST], M2[MOST * MOST];

static void constraint_jacobians_match_differences(void **state)
{
    (void)state;
    for (int k = 0; k < COUNT; k++) {
        dae_problem *p = create(k);
        const dae_mech *m = &p->system.mech;
        point z = near_start(p);
        double lo[MOST], hi[MOST];
        memset(G, 0, sizeof G);
        assert_int_equal(m->constraint(&(dae_mech_point){.t = z.x.t, .p = z.p}, NULL, G, m->user), 0);
        for (int j = 0; j < m->np; j++) {
            double keep = z.p[j], h = 1e-6;
            z.p[j] = keep - h;
            m->constraint(&(dae_mech_point){.t = z.x.t, .p = z.p}, lo, NULL, m->user);
            z.p[j] = keep + h;
            m->constraint(&(dae_mech_point){.t = z.x.t, .p = z.p}, hi, NULL, m->user);
            z.p[j] = keep;
            for (int i = 0; i < m->ng; i++)
                assert_near(G[i + m->nlambda * j], (hi[i] - lo[i]) / (2 * h), 1e-8);
        }
        dae_problem_destroy(p);
    }
}

static void sparse_forms_match_dense_ones(void **state)
{
    (void)state;
    for (int k = 0; k < COUNT; k++) {
        dae_problem *p = create(k);
        const dae_mech *m = &p->system.mech;
        point z = near_start(p);
        dae_mech_point x = {.t = z.x.t, .p = z.p};
        memset(G, 0, sizeof G);
        m->constraint(&x, NULL, G, m->user);
        if (m->G_colptr) {
            double g[MOST], gs[MOST];
            memset(G2, 0, sizeof G2);
            m->constraint_sparse(&x, gs, G2, m->user);
            m->constraint(&x, g, NULL, m->user);
            assert_memory_equal(g, gs, (size_t)m->ng * sizeof *g);
            for (int j = 0; j < m->nv; j++) {
                for (int e = m->G_colptr[j]; e < m->G_colptr[j + 1]; e++) {
                    assert_true(G[m->G_rowind[e] + m->nlambda * j] == G2[e]);
                    G[m->G_rowind[e] + m->nlambda * j] = 0;
                }
            }
            for (int i = 0; i < m->nlambda * m->nv; i++) assert_true(G[i] == 0);
        }
        if (m->mass_blocks) {
            memset(M, 0, sizeof M);
            memset(M2, 0, sizeof M2);
            m->mass_fn(&x, M, m->user);
            m->mass_blocks(&x, M2, m->user);
            double *b = M2;
            for (int c = 0, first = 0; c < m->nblock; first += m->mass_block[c++]) {
                for (int j = 0; j < m->mass_block[c]; j++) {
                    for (int i = 0; i < m->mass_block[c]; i++) {
                        assert_true(M[first + i + m->nv * (first + j)] == *b++);
                        M[first + i + m->nv * (first + j)] = 0;
                    }
                }
            }
            for (int i = 0; i < m->nv * m->nv; i++) assert_true(M[i] == 0);
        }
        dae_problem_destroy(p);
    }
}

/* gamma = d/dt (G v) along p' = v (T = I in all of them). */
static void gamma_matches_differences(void **state)
{
    (void)state;
    for (int k = 0; k < COUNT; k++) {
        dae_problem *p = create(k);
        const dae_mech *m = &p->system.mech;
        point z = near_start(p);
        double gamma[MOST], r[2][MOST], q[MOST], h = 1e-5;
        dae_mech_point x = at(&z);
        assert_int_equal(m->gamma(&x, gamma, m->user), 0);
        for (int side = 0; side < 2; side++) {
            for (int i = 0; i < m->np; i++) q[i] = z.p[i] + (side ? h : -h) * z.v[i];
            memset(G, 0, sizeof G);
            m->constraint(&(dae_mech_point){.t = z.x.t + (side ? h : -h), .p = q}, NULL, G, m->user);
            for (int i = 0; i < m->nlambda; i++) {
                r[side][i] = 0;
                for (int j = 0; j < m->nv; j++) r[side][i] += G[i + m->nlambda * j] * z.v[j];
            }
        }
        for (int i = 0; i < m->nlambda; i++) assert_near(gamma[i], (r[1][i] - r[0][i]) / (2 * h), 1e-7);
        dae_problem_destroy(p);
    }
}

static void friction_jacobian_matches_differences(void **state)
{
    (void)state;
    for (int k = 0; k < COUNT; k++) {
        dae_problem *p = create(k);
        const dae_mech *m = &p->system.mech;
        point z = near_start(p);
        dae_mech_point x = at(&z);
        double f0[MOST], f1[MOST];
        memset(G, 0, sizeof G);
        if (m->dfdlambda) m->dfdlambda(&x, G, m->user);
        m->force(&x, f0, m->user);
        for (int j = 0; j < m->nlambda; j++) {
            z.lambda[j] += 0.5;
            m->force(&x, f1, m->user);
            z.lambda[j] -= 0.5;
            for (int i = 0; i < m->nv; i++) assert_near(G[i + m->nv * j], (f1[i] - f0[i]) / 0.5, 1e-9);
        }
        dae_problem_destroy(p);
    }
}

static void initial_values_are_consistent(void **state)
{
    (void)state;
    for (int k = 0; k < COUNT; k++) {
        dae_problem *p = create(k);
        const dae_mech *m = &p->system.mech;
        double g[MOST];
        memset(G, 0, sizeof G);
        m->constraint(&(dae_mech_point){.t = p->t0, .p = p->y0}, g, G, m->user);
        for (int i = 0; i < m->ng; i++) assert_near(g[i], 0, 1e-14);
        for (int i = 0; i < m->nlambda; i++) {
            double r = 0;
            for (int j = 0; j < m->nv; j++) r += G[i + m->nlambda * j] * p->y0[m->np + j];
            assert_near(r, 0, 1e-14);
        }
        dae_problem_destroy(p);
    }
}

static void insulator_chain_has_the_printed_structure(void **state)
{
    (void)state;
    for (int N = 16; N <= 64; N *= 2) {
        char text[16];
        snprintf(text, sizeof text, "%d", N);
        dae_problem *p = dae_problem_create("insulator-chain", &(dae_setting){"N", text}, 1, NULL);
        const dae_mech *m = &p->system.mech;
        int entries = m->G_colptr[m->nv], mass = 0;
        for (int i = 0; i < m->nv; i++) mass += m->mass.a[i] != 0;
        assert_int_equal(entries, 8 * N + 10);
        assert_int_equal(2 * entries + mass, 327 + 19 * (N - 16)); /* [MEXX] table 5.4: 327, 631, 1239 */
        dae_problem_destroy(p);
    }
    dae_problem *p = dae_problem_create("insulator-chain", NULL, 0, NULL); /* N = 32 */
    assert_near(p->y0[0], -0.320429399400242, 1e-15);
    assert_near(p->y0[1], -6.995, 1e-14);
    assert_near(p->y0[3], -6.625, 1e-14);
    assert_near(p->y0[3 * 33], -0.16, 1e-15);
    dae_problem_destroy(p);
}

/* Initial multipliers that the sheets print, and Newton's law for the massless point: lambda_1,2 = f0. */
static void initial_multipliers_are_the_printed_ones(void **state)
{
    static const double chain[6] = {
        0, -230000, -18601.48392369, -113866.9399712, -3957.890077606, -113866.9399712};
    (void)state;
    for (int k = 0; k < 2; k++) {
        dae_problem *p = dae_problem_create(k ? "seven-body" : "insulator-chain", NULL, 0, NULL);
        dae_options opt = dae_options_default();
        opt.method = "mexx";
        dae_integrator *it = dae_integrator_create(&p->system, &opt, NULL);
        double a[MOST], lambda[MOST];
        assert_int_equal(dae_integrator_start(it, 0, p->t_end, p->y0, NULL, NULL), DAE_OK);
        assert_int_equal(dae_integrator_multipliers(it, 0, a, lambda), DAE_OK);
        if (k == 0) {
            for (int i = 0; i < 6; i++) assert_near(lambda[i], chain[i], 1e-6);
        } else {
            assert_near(a[0], 14222.4439199541, 1e-8);
            assert_near(a[1], -10666.8329399656, 1e-8);
            for (int i = 2; i < 7; i++) assert_near(a[i], 0, 1e-7);
            assert_near(lambda[0], 98.5668703962411, 1e-10);
            assert_near(lambda[1], -6.12268834425566, 1e-11);
        }
        dae_integrator_destroy(it);
        dae_problem_destroy(p);
    }
}

/* The closed solution of the drum solves the equations of motion: the values that its sheet prints. */
static void cable_drum_solution_is_the_printed_one(void **state)
{
    static const char *const mu[] = {"0", "0.25", "0.5", "1", "1.5"};
    static const double y1[] = {-6.46583212387666, -6.08687370507928, -5.38538154196924, 8,
                                -11.0791886101139};
    static const double v1[] = {-3.04856071601121, -2.87468761425771, -2.55121820483590, 4,
                                -5.11510142373577};
    (void)state;
    for (int k = 0; k < 5; k++) {
        dae_problem *p = dae_problem_create("cable-drum", &(dae_setting){"mu", mu[k]}, 1, NULL);
        assert_near(p->reference[0], y1[k], 2e-13);
        assert_near(p->reference[4], v1[k], 2e-13);
        assert_near(p->reference[3], y1[k] - 1, 2e-13);
        dae_problem_destroy(p);
    }
    dae_error err = {0};
    assert_null(dae_problem_create("cable-drum", &(dae_setting){"mu", "1.1"}, 1, &err));
    assert_non_null(strstr(err.text, "mu"));
    dae_setting all[] = {{"m1", "7"},   {"m2", "2"}, {"I2", "0.3"}, {"r1", "0.8"}, {"r2", "0.1"},
                         {"g", "9.81"}, {"c", "3"},  {"p0", "1"},   {"v0", "-2"},  {"mu", "0.3"}};
    dae_problem *p = dae_problem_create("cable-drum", all, 10, &err);
    dae_options opt = dae_options_default();
    opt.method = "mexx";
    opt.rtol = opt.atol = 1e-10;
    double y[8];
    memcpy(y, p->y0, sizeof y);
    assert_near(y[0], 1, 0);
    assert_near(y[4], -2, 0);
    assert_int_equal(dae_solve(&p->system, &opt, 0, p->t_end, y, NULL, &err), DAE_OK);
    for (int i = 0; i < 8; i++) assert_near(y[i], p->reference[i], 1e-7);
    dae_problem_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constraint_jacobians_match_differences),
        cmocka_unit_test(sparse_forms_match_dense_ones),
        cmocka_unit_test(gamma_matches_differences),
        cmocka_unit_test(friction_jacobian_matches_differences),
        cmocka_unit_test(initial_values_are_consistent),
        cmocka_unit_test(insulator_chain_has_the_printed_structure),
        cmocka_unit_test(initial_multipliers_are_the_printed_ones),
        cmocka_unit_test(cable_drum_solution_is_the_printed_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
