/* The HMMWV over a bump: counts, equilibrium, eigenvalues, reference, derivatives of the state-space form, explicit against
 * implicit integration. */
#include "test.h"

#include <daedalus/daedalus.h>

#include "hmmwv_grid.h"
#include "linalg/eigenvalues.h"

enum { NP = 98, NV = 84 };

static dae_problem *vehicle(int dof)
{
    dae_error err = {0};
    dae_problem *p = dae_problem_create("hmmwv", &(dae_setting){"dof", dof == 18 ? "18" : "10"}, 1, &err);
    if (!p) fail_msg("%s", err.text);
    return p;
}

/* A run in the state-space form. */
typedef struct session {
    dae_problem *p;
    dae_formulation *f;
    dae_integrator *it;
} session;

static session begin(int dof, const char *method, double tol, double t0, double t1)
{
    dae_error err = {0};
    session s = {.p = vehicle(dof)};
    dae_options opt = dae_options_default(), inner;
    double y[64];
    opt.method = method;
    opt.formulation = "statespace";
    opt.rtol = opt.atol = tol;
    opt.h0 = s.p->h0;
    opt.discontinuity = s.p->discontinuity;
    opt.ndiscontinuity = s.p->ndiscontinuity;
    while (opt.ndiscontinuity && opt.discontinuity[0] <= t0) opt.discontinuity++, opt.ndiscontinuity--;
    s.f = dae_formulation_open(&s.p->system, &opt, &inner, &err);
    if (!s.f) fail_msg("%s", err.text);
    s.it = dae_integrator_create(dae_formulation_system(s.f), &inner, &err);
    if (!s.it || dae_formulation_attach(s.f, s.it, &err) < 0 ||
        dae_formulation_lift(s.f, t0, s.p->y0, y, &err) < 0 ||
        dae_integrator_start(s.it, t0, t1, y, NULL, &err) < 0) {
        fail_msg("%s", err.text);
    }
    return s;
}

static void advance(session *s, double t, double *pvu)
{
    dae_error err = {0};
    if (dae_integrator_advance(s->it, t, &err) < 0) fail_msg("%s", err.text);
    assert_int_equal(dae_formulation_lower(s->f, t, dae_integrator_state(s->it), pvu, NULL, NULL, &err),
                     DAE_OK);
}

static void end(session *s)
{
    dae_integrator_destroy(s->it);
    dae_formulation_destroy(s->f);
    dae_problem_destroy(s->p);
}

/* ---- The model ---------------------------------------------------------------------------------------------------- */

/* 98 coordinates; with the 14 normalizations of the Euler parameters 80 and 88 constraints. */
static void hmmwv_has_the_counts_of_the_source(void **state)
{
    (void)state;
    for (int dof = 10; dof <= 18; dof += 8) {
        dae_problem *p = vehicle(dof);
        const dae_mech *m = &p->system.mech;
        assert_int_equal(m->np, NP);
        assert_int_equal(m->nv, NV);
        assert_int_equal(m->ng, NV - dof);
        assert_int_equal(m->nlambda, NV - dof);
        assert_int_equal(m->nquaternion, 14);
        static const double jump[4] = {0.5, 0.599527326, 1.238620705, 1.338148031};
        assert_int_equal(p->ndiscontinuity, 4);
        for (int k = 0; k < 4; k++) assert_near(p->discontinuity[k], jump[k], 1e-9);
        dae_problem_destroy(p);
    }
}

static void hmmwv_starts_at_rest(void **state)
{
    (void)state;
    for (int dof = 10; dof <= 18; dof += 8) {
        dae_problem *p = vehicle(dof);
        dae_error err = {0};
        dae_formulation *f = dae_formulation_create(&p->system, "index1", NULL, 0, &err);
        double y[400], pvu[182], a[NV], lambda[NV], residual[3];
        assert_int_equal(dae_formulation_lift(f, 0, p->y0, y, &err), DAE_OK);
        assert_int_equal(dae_formulation_lower(f, 0, y, pvu, a, lambda, &err), DAE_OK);
        assert_int_equal(dae_formulation_residuals(f, 0, p->y0, NULL, residual, &err), DAE_OK);
        assert_near(residual[0], 0, 3e-15);
        assert_near(residual[1], 0, 1e-14);
        for (int i = 0; i < NV; i++) assert_near(a[i], 0, 1e-8);
        assert_near(p->y0[2], dof == 18 ? 0.7100114628 : 0.7106761687, 1e-10);
        dae_formulation_destroy(f);
        dae_problem_destroy(p);
    }
}

static int larger(const void *a, const void *b)
{
    double x = fabs(*(const double *)a), y = fabs(*(const double *)b);
    return (x < y) - (x > y);
}

/* [RNY]: about -2.6e5. */
static void hmmwv_eigenvalues_at_rest(void **state)
{
    static const double known[2][4] = {{-257975, -255917, -173643, -172971}, {-5469, -5293, -4792, -4066}};
    (void)state;
    for (int k = 0; k < 2; k++) {
        dae_problem *p = vehicle(k ? 10 : 18);
        dae_error err = {0};
        dae_formulation *f = dae_formulation_create(&p->system, "statespace", NULL, 0, &err);
        double y[64], J[36 * 36] = {0}, re[36], im[36];
        int n = dae_system_size(dae_formulation_system(f));
        assert_int_equal(n, k ? 20 : 36);
        assert_int_equal(dae_formulation_lift(f, 0, p->y0, y, &err), DAE_OK);
        assert_int_equal(dae_formulation_system(f)->ode.jac(0, y, J, f), 0);
        assert_int_equal(dae_eigenvalues(n, J, re, im), 0);
        qsort(re, (size_t)n, sizeof *re, larger);
        for (int i = 0; i < 4; i++) assert_near(re[i], known[k][i], 0.6);
        dae_formulation_destroy(f);
        dae_problem_destroy(p);
    }
}

/* models/hmmwv.json is the same mechanism: accelerations at rest, over the bump, and at a disturbed state. */
static void hmmwv_model_file_agrees(void **state)
{
    dae_error err = {0};
    mbs_model *m = mbs_model_load("models/hmmwv.json", &err);
    if (!m) fail_msg("%s", err.text);
    mbs_mechanism *c = mbs_mechanism_create(m, &err);
    if (!c) fail_msg("%s", err.text);
    dae_problem *p = vehicle(18);
    const dae_system *sys[2] = {&p->system, mbs_mechanism_system(c)};
    double y[182], a[2][NV], lambda[NV];
    (void)state;
    assert_int_equal(mbs_mechanism_initial(c, y, &err), DAE_OK);
    for (int i = 0; i < 182; i++) assert_near(y[i], p->y0[i], 1e-13);
    for (int k = 0; k < 3; k++) {
        double t = k == 0 ? 0.2 : k == 1 ? 0.53 : 1.3;
        if (k == 2) {
            for (int i = 0; i < NV; i++) y[NP + i] += 0.01 * sin(3 * i);
        }
        for (int j = 0; j < 2; j++) {
            dae_formulation *f = dae_formulation_create(sys[j], "index1", NULL, 0, &err);
            double z[400], pvu[182];
            assert_int_equal(dae_formulation_lift(f, t, y, z, &err), DAE_OK);
            assert_int_equal(dae_formulation_lower(f, t, z, pvu, a[j], lambda, &err), DAE_OK);
            dae_formulation_destroy(f);
        }
        double size = 0;
        for (int i = 0; i < NV; i++) size = fmax(size, fabs(a[0][i]));
        assert_true(k == 0 || size > 10);
        for (int i = 0; i < NV; i++) assert_near(a[0][i], a[1][i], 1e-9 * (1 + size));
    }
    dae_problem_destroy(p);
    mbs_mechanism_destroy(c);
    mbs_model_destroy(m);
}

/* ---- Reference ------------------------------------------------------------------------------------------------------ */

/* Positions and velocities of all bodies at t = 1 and 2 (the left side mirrors the right one) and at the end. */
static void hmmwv_meets_the_reference(void **state)
{
    static const int body[8] = {0, 1, 2, 3, 7, 8, 9, 13}, mirror[8] = {0, 4, 5, 6, 10, 11, 12, 13};
    (void)state;
    for (int k = 0; k < 2; k++) {
        session s = begin(k ? 10 : 18, "radau5", 1e-10, 0, 5);
        double pvu[182], r[3];
        for (int t = 1; t <= 2; t++) {
            advance(&s, t, pvu);
            for (int b = 0; b < 8; b++) {
                const double *known = hmmwv_grid[k][t - 1][b];
                for (int i = 0; i < 13; i++) {
                    int odd = i == 1 || i == 4 || i == 6 || i == 8 || i == 10 || i == 12;
                    int at = i < 7 ? 7 * body[b] + i : NP + 6 * body[b] + i - 7;
                    int other = i < 7 ? 7 * mirror[b] + i : NP + 6 * mirror[b] + i - 7;
                    double tol = i < 7 ? 2e-9 : 2e-8;
                    assert_near(pvu[at], known[i], tol);
                    assert_near(pvu[other], (odd ? -1 : 1) * known[i], tol);
                }
            }
            assert_int_equal(dae_formulation_residuals(s.f, t, pvu, NULL, r, NULL), DAE_OK);
            assert_near(r[0], 0, 1e-13);
            assert_near(r[1], 0, 1e-12);
        }
        advance(&s, 5, pvu);
        for (int i = 0; i < 182; i++) assert_near(pvu[i], s.p->reference[i], i < NP ? 2e-9 : 2e-8);
        end(&s);
    }
}

/* Height and pitch of the chassis, its vertical velocity, heights of the right wheels. */
static const double times[8] = {0.6, 0.8, 1.0, 1.3, 1.5, 2.0, 3.0, 5.0};
static const double motion[8][5] = {
    {0.72289244113, -0.00540855556, 0.12762308, 0.49884211460, 0.46999824796},
    {0.71512627375, -0.00006428034, -0.10186639, 0.47061389710, 0.47328872560},
    {0.70392593288, 0.00080123436, 0.00695826, 0.46956394354, 0.47130238465},
    {0.71985027710, 0.00376309541, 0.25380403, 0.47010662721, 0.51655052526},
    {0.71274861490, -0.00249245432, -0.09873850, 0.47280169204, 0.46755505102},
    {0.71103197107, -0.00027092634, 0.00785287, 0.47143050662, 0.47236901403},
    {0.70998097006, 0.00001322202, -0.00068273, 0.47098147817, 0.47230787712},
    {0.71001158957, 0.00000893838, -0.00000260, 0.47099814899, 0.47231621299}};

/* At 1e-2 .. 1e-5; errors follow the tolerance, steps grow by a factor of less than 2 (order 4: 1.8). */
static void rosnys4_drives_over_the_bump(void **state)
{
    static const int at[5] = {2, 5, NP + 2, 23, 65};
    double tol = 1e-2;
    long last = 0;
    (void)state;
    for (int k = 0; k < 4; k++, tol /= 10) {
        session s = begin(18, "rosnys4", tol, 0, 5);
        double pvu[182], error[2] = {0};
        for (int j = 0; j < 8; j++) {
            advance(&s, times[j], pvu);
            for (int i = 0; i < 5; i++) error[i == 2] = fmax(error[i == 2], fabs(pvu[at[i]] - motion[j][i]));
        }
        const dae_stats *stats = dae_integrator_stats(s.it);
        assert_near(error[0], 0, 2 * tol);
        assert_near(error[1], 0, 5 * tol);
        assert_between((double)stats->accepted, 30, 300);
        assert_true(stats->accepted > last && (last == 0 || stats->accepted < 2 * last));
        assert_true(stats->rejected < stats->accepted / 4);
        last = stats->accepted;
        end(&s);
    }
}

/* Stability, not accuracy, limits the steps of an explicit method: h |lambda| about 3.3 at every tolerance. */
static void explicit_steps_do_not_depend_on_the_tolerance(void **state)
{
    long steps[2];
    (void)state;
    for (int k = 0; k < 2; k++) {
        session s = begin(18, "dopri5", k ? 1e-5 : 1e-2, 0.5, 0.51);
        double pvu[182];
        advance(&s, 0.51, pvu);
        steps[k] = dae_integrator_stats(s.it)->accepted;
        assert_between((double)steps[k], 0.01 * 258e3 / 3.6, 0.01 * 258e3 / 2);
        end(&s);
    }
    assert_near((double)steps[0], (double)steps[1], 0.1 * (double)steps[0]);
}

/* ---- Derivatives ----------------------------------------------------------------------------------------------------- */

/* J1, J2 and f_t at random consistent states, on and off the bump; relative to the largest element of J. */
static void hmmwv_jacobian_matches_differences(void **state)
{
    unsigned long long seed = 11;
    (void)state;
    for (int k = 0; k < 6; k++) {
        dae_problem *p = vehicle(k % 2 ? 10 : 18);
        dae_error err = {0};
        dae_formulation *f = dae_formulation_create(&p->system, "statespace", NULL, 0, &err);
        const dae_ode *s = &dae_formulation_system(f)->ode;
        int n = s->n;
        double t = k < 2   ? 0.2
                   : k < 4 ? 0.54
                           : 1.31,
               y[36], z[36], hi[36], lo[36], pvu[182], J[36 * 36] = {0}, ft[36], size[2] = {0};
        assert_int_equal(dae_formulation_lift(f, t, p->y0, y, &err), DAE_OK);
        for (int i = 0; i < n; i++) {
            seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
            y[i] += ((double)(seed >> 11) / 4503599627370496.0 - 1) * (i < n / 2 ? 0.01 : 0.3);
        }
        assert_int_equal(dae_formulation_lower(f, t, y, pvu, NULL, NULL, &err), DAE_OK);
        assert_int_equal(dae_formulation_lift(f, t, pvu, y, &err), DAE_OK);
        assert_int_equal(s->jac(t, y, J, s->user), 0);
        assert_int_equal(s->dfdt(t, y, ft, s->user), 0);
        for (int j = 0; j < n; j++) {
            for (int i = n / 2; i < n; i++) size[j >= n / 2] = fmax(size[j >= n / 2], fabs(J[i + n * j]));
        }
        for (int j = 0; j <= n; j++) { /* the last: time */
            double h = 1e-6;
            memcpy(z, y, sizeof z);
            if (j < n) z[j] = y[j] + h;
            assert_int_equal(s->f(j < n ? t : t + h, z, hi, s->user), 0);
            if (j < n) z[j] = y[j] - h;
            assert_int_equal(s->f(j < n ? t : t - h, z, lo, s->user), 0);
            for (int i = 0; i < n; i++) {
                double d = (hi[i] - lo[i]) / (2 * h);
                assert_near(j < n ? J[i + n * j] : ft[i], d, 1e-6 * size[j >= n / 2 && j < n]);
            }
        }
        dae_formulation_destroy(f);
        dae_problem_destroy(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hmmwv_has_the_counts_of_the_source),
        cmocka_unit_test(hmmwv_starts_at_rest),
        cmocka_unit_test(hmmwv_eigenvalues_at_rest),
        cmocka_unit_test(hmmwv_model_file_agrees),
        cmocka_unit_test(hmmwv_meets_the_reference),
        cmocka_unit_test(rosnys4_drives_over_the_bump),
        cmocka_unit_test(explicit_steps_do_not_depend_on_the_tolerance),
        cmocka_unit_test(hmmwv_jacobian_matches_differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
