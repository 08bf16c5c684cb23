/* The truck against the reference values of its sheet, by both half-explicit methods and in all linear algebra modes. */
#include "test.h"

#include <daedalus/daedalus.h>

enum { NP = 11 };

static const struct reference {
    const char *road;
    double t, lambda, p[NP], v[NP];
} reference[] = {
    {"sine",
     1,
     63309.483784,
     {0.50259780954207, 0.55163692506535, 2.0266219804529, 0.0021959206448751, 2.2328084345889,
      0.0021776540078069, 2.9256518864721, -0.0018697063336985, 3.2723087089363, 2.926850917824,
      0.0028530761912924},
     {-0.01913301059902, 0.08014991967149, -0.3326009843451, 0.1840218868195, 0.1652104204987,
      0.1876946666618, 0.4590118529379, 0.2199226327048, 0.5073266886229, -0.3884234338986, 0.1926199890326}},
    {"sine",
     5,
     47015.2668895,
     {0.50834495067107, 0.5511897496604, 2.0610242654516, -0.0077558860285286, 2.2408665763613,
      -0.0078932518135572, 2.9210161113755, -0.013301115671348, 3.2614395315033, 2.9669335590743,
      -0.0058858965404727},
     {0.00768043457654, 0.07348151280764, -0.2480270986926, 0.1520756081147, 0.1655851828039, 0.1551658333434,
      0.4182886231869, 0.1790793103592, 0.4066561734348, -0.2891889431103, 0.1614695784779}},
    {"sine",
     10,
     91227.98648,
     {0.54067522444706, 0.49917839777006, 2.0094878310869, 0.0047312601405439, 2.2220461562985,
      0.0049597732280062, 2.9378799686306, 0.011094448267221, 3.3932981541121, 2.90268955966,
      0.0016153009905962},
     {0.09578491868884, -0.0724109407373, 0.2984702486957, -0.1685078595171, -0.1556905710408,
      -0.1737875885408, -0.3848792928574, -0.1758187719176, -0.3802352283927, 0.3499715793711,
      -0.1760775179085}},
    {"fourier",
     5,
     89437.5704688,
     {0.50468953114475, 0.49495557511437, 1.9856649507313, 0.0094306300477539, 2.2109329299543,
      0.0096266885667914, 2.9309170680853, 0.01380372775663, 3.3446557335646, 2.881419251129,
      0.0090190213937453},
     {-0.008115573547026, -0.2077699631469, 0.007610312888357, -0.05577609146735, -0.1879102012799,
      -0.06169542537144, -0.1791483484111, -0.03758142548713, 0.1408415603969, 0.03463457781718,
      -0.05228454142384}},
    {"fourier",
     10,
     67541.5169816,
     {0.50023008125908, 0.49986652931274, 2.001358869853, -0.0004952930814906, 2.2000257195687,
      -0.00050293853021421, 2.8992394856554, -0.00084586205540001, 3.2977168502491, 2.9017167753201,
      -0.00038861586100863},
     {-0.007075126455571, -0.0001634282882828, -0.03537502155798, 0.008544343032105, -0.01292048284764,
      0.008718399484828, -0.004395122672103, 0.01063140929786, -0.01833884873969, -0.04203742957727,
      0.006400096746467}},
    {"fourier",
     15,
     68184.5617148,
     {0.49995295922406, 0.50000134582268, 1.9997965693919, 5.9383172956488e-05, 2.1999537190264,
      6.043035003176e-05, 2.9000289763112, 7.6697868085132e-05, 3.300019144795, 2.8997539910075,
      4.6806014337411e-05},
     {0.0001566007934687, -3.074014855536e-07, 0.0004369022083694, -0.0001144151266772, 0.0001366627693679,
      -0.0001173710863838, 2.623905666842e-05, -5.44031571531e-05, 0.0001546497335443, 0.0004864299652924,
      -0.0001103761355914}},
    {"hump",
     5,
     67957.8876405,
     {0.59428546138131, 0.60238597077462, 2.0962401290678, 0.001910802894973, 2.3013472611468,
      0.0019109710377358, 3.0036678240127, 0.0019084403294536, 3.4034539965016, 2.9955704812667,
      0.0019421706533905},
     {0.02963633946892, 0.02379510032656, 0.02851535163723, -0.001376627387975, 0.02484565235392,
      -0.001376936707061, 0.02325195300288, -0.001384025050335, 0.02362310271745, 0.02904496900419,
      -0.001370655216902}},
    {"hump",
     20,
     68056.6951934,
     {0.50017826446079, 0.50014443644771, 2.0001700305749, -7.9132660029368e-06, 2.2001488861663,
      -7.912304782141e-06, 2.9001393265278, -7.8760495866466e-06, 3.3001403674122, 2.9001728052406,
      -8.0379203051577e-06},
     {-0.0001236109961259, -0.0001008267863662, -0.0001180941736546, 5.331329178499e-06, -0.0001038495402597,
      5.330739817097e-06, -9.74152068434e-05, 5.307833146015e-06, -9.813324911849e-05, -0.0001199678169173,
      5.412632004903e-06}}};

enum { COUNT = sizeof reference / sizeof *reference };

static dae_integrator *start(const dae_problem *p, const char *method, double tol, const char *mode)
{
    dae_error err = {0};
    dae_setting setting = {"linear_algebra", mode};
    dae_options opt = dae_options_default();
    opt.method = method;
    double atol[2 * NP];
    for (int i = 0; i < 2 * NP; i++) atol[i] = tol * p->atol_factor[i];
    opt.rtol = tol;
    opt.atol_vec = atol;
    opt.h0 = p->h0;
    opt.discontinuity = p->discontinuity;
    opt.ndiscontinuity = p->ndiscontinuity;
    opt.setting = &setting;
    opt.nsetting = 1;
    dae_integrator *it = dae_integrator_create(&p->system, &opt, &err);
    if (!it || dae_integrator_start(it, p->t0, p->t_end, p->y0, NULL, &err)) fail_msg("%s", err.text);
    return it;
}

static dae_problem *truck(const char *road)
{
    dae_error err = {0};
    dae_problem *p = dae_problem_create("truck", &(dae_setting){"road", road}, 1, &err);
    if (!p) fail_msg("%s", err.text);
    return p;
}

static void starts_in_equilibrium(void **state)
{
    (void)state;
    dae_problem *p = truck("hump");
    const dae_mech *m = &p->system.mech;
    double f[NP], g[1], G[NP] = {0};
    dae_mech_point x = {.p = p->y0, .v = p->y0 + NP};
    assert_int_equal(m->force(&x, f, m->user), 0);
    assert_int_equal(m->constraint(&x, g, G, m->user), 0);
    assert_near(g[0], 0, 1e-15);
    for (int i = 0; i < NP; i++) assert_near(f[i], G[i] * 68056.2088888889, 1e-8);
    dae_problem_destroy(p);
}

/* d/dt (G v) by differences along the motion. */
static void gamma_is_the_derivative_of_the_velocity_constraint(void **state)
{
    (void)state;
    dae_problem *p = truck("sine");
    const dae_mech *m = &p->system.mech;
    double q[NP], v[NP], gamma[1], sum[2] = {0, 0}, h = 1e-6;
    for (int i = 0; i < NP; i++) {
        q[i] = p->y0[i] + 0.1 * sin(i);
        v[i] = cos(3 * i);
    }
    m->gamma(&(dae_mech_point){.p = q, .v = v}, gamma, m->user);
    for (int k = 0; k < 2; k++) {
        double moved[NP], G[NP] = {0};
        for (int i = 0; i < NP; i++) moved[i] = q[i] + (k ? h : -h) * v[i];
        m->constraint(&(dae_mech_point){.p = moved}, NULL, G, m->user);
        for (int i = 0; i < NP; i++) sum[k] += G[i] * v[i];
    }
    assert_near((sum[1] - sum[0]) / (2 * h), gamma[0], 1e-8);
    dae_problem_destroy(p);
}

/* Tolerance 1e-9: everything to 1e-6 of its size; velocities below 1e-5 (one) to 1e-11. */
static void reference_values_are_met(void **state)
{
    static const char *const method[] = {"mexx", "phem56"};
    (void)state;
    for (int m = 0; m < 2; m++) {
        dae_problem *p = NULL;
        dae_integrator *it = NULL;
        double worst = 0;
        for (int k = 0; k < COUNT; k++) {
            const struct reference *r = &reference[k];
            if (k == 0 || strcmp(r->road, reference[k - 1].road) != 0) {
                dae_integrator_destroy(it);
                dae_problem_destroy(p);
                p = truck(r->road);
                it = start(p, method[m], 1e-9, "auto");
            }
            dae_error err = {0};
            if (dae_integrator_advance(it, r->t, &err) < 0) fail_msg("%s", err.text);
            const double *y = dae_integrator_state(it);
            double a[NP], lambda[1];
            assert_int_equal(dae_integrator_multipliers(it, r->t, a, lambda), DAE_OK);
            for (int i = 0; i < NP; i++) {
                worst = fmax(worst, fabs(y[i] / r->p[i] - 1));
                /* speeds below 0.03 mm/s count against that: 1e-6 of it is far below the tolerance */
                worst = fmax(worst, fabs(y[NP + i] - r->v[i]) / fmax(fabs(r->v[i]), 3e-5));
            }
            worst = fmax(worst, fabs(lambda[0] / r->lambda - 1));
            assert_between(worst, 0, 1e-6);
            assert_true(dae_integrator_stats(it)->position_residual < 1e-13);
            assert_true(dae_integrator_stats(it)->velocity_residual < 1e-13);
        }
        dae_integrator_destroy(it);
        dae_problem_destroy(p);
    }
}

/* Errors within 30 rtol of the size of the parts, 1e-5 .. 1e-9. */
static void errors_follow_the_tolerance(void **state)
{
    static const char *const method[] = {"mexx", "phem56"}, *const road[] = {"sine", "fourier", "hump"};
    (void)state;
    for (int m = 0; m < 2; m++) {
        for (int k = 0; k < 3; k++) {
            dae_problem *p = truck(road[k]);
            for (double tol = 1e-5; tol > 5e-10; tol /= 100) {
                dae_integrator *it = start(p, method[m], tol, "auto");
                dae_error err = {0};
                if (dae_integrator_advance(it, p->t_end, &err) < 0) fail_msg("%s", err.text);
                const double *y = dae_integrator_state(it);
                for (int i = 0; i < 2 * NP; i++)
                    assert_near(y[i], p->reference[i], 30 * tol * (i < NP ? 3.3 : 1));
                dae_integrator_destroy(it);
            }
            dae_problem_destroy(p);
        }
    }
}

static void all_linear_algebra_gives_the_same_trajectory(void **state)
{
    static const char *const mode[] = {"dense_lu",          "sparse_lu",       "recursive_constraint",
                                       "dense_ldlt",        "range_space",     "null_space",
                                       "block_elimination", "recursive_joint", "pcg"};
    (void)state;
    for (int m = 0; m < 2; m++) {
        dae_problem *p = truck("sine");
        double first[2 * NP];
        for (int k = 0; k < (m ? 3 : 9); k++) {
            dae_integrator *it = start(p, m ? "phem56" : "mexx", 1e-9, mode[k]);
            dae_error err = {0};
            if (dae_integrator_advance(it, 2, &err) < 0) fail_msg("%s: %s", mode[k], err.text);
            const double *y = dae_integrator_state(it);
            if (k == 0) memcpy(first, y, sizeof first);
            for (int i = 0; i < 2 * NP; i++) assert_near(y[i], first[i], 1e-8);
            dae_integrator_destroy(it);
        }
        dae_problem_destroy(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_in_equilibrium),
        cmocka_unit_test(gamma_is_the_derivative_of_the_velocity_constraint),
        cmocka_unit_test(reference_values_are_met),
        cmocka_unit_test(errors_follow_the_tolerance),
        cmocka_unit_test(all_linear_algebra_gives_the_same_trajectory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
