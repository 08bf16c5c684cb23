/* Mechanisms that are not smooth: stops and dry friction, by every method, against one equation for the crank angle that
 * was derived by hand and integrated in 1e5 and more Runge-Kutta steps. With an argument: all methods on all random
 * cranks, and what they came to. */
#include "mechanics.h"
#include "slider_crank.h"

static int everything; /* 1: the long study */

static int takes(const dae_method_info *m, const slider_crank *s)
{
    return m->order_max >= 3 && dae_formulation_choose(m->name) &&
           !(s->mu > 0 && !strcmp(m->name, "phem56")); /* refuses forces that depend on lambda */
}

#define ALLOWED 100 /* in units of rtol x conditioning */

/* The error by method m in units of tol*conditioning; NAN: it failed. */
static double error_of(const mbs_mechanism *c, const slider_crank *s, const dae_method_info *m, double tol,
                       double conditioning, const double *right, dae_stats *stats, dae_error *err)
{
    double out[2];
    if (crank_solve(c, s, m->name, tol, out, stats, err) < 0) return NAN;
    return fmax(fabs(out[0] - right[0]), fabs(out[1] - right[1])) / (tol * conditioning);
}

/* Every method at 1e-6 and 1e-9 within 100 x rtol x conditioning. */
static void every_method(const char *name, const slider_crank *s, double angle, double speed, int switches)
{
    double right[2], conditioning = crank_conditioning(s, 50000);
    crank_reference(s, 400000, right);
    assert_near(right[0], angle, 1e-8); /* the numbers are golden: found with steps of half the size too */
    assert_near(right[1], speed, 1e-7);
    mbs_mechanism *c = crank_mechanism(s);
    for (int i = 0; i < dae_method_count(); i += sanitized_stride) {
        const dae_method_info *m = dae_method_get(i);
        for (double tol = 1e-6; takes(m, s) && tol > 1e-10; tol /= 1e3) {
            dae_stats st = {0};
            dae_error err = {0};
            double e = error_of(c, s, m, tol, conditioning, right, &st, &err);
            if (everything)
                printf("%s %-12s %g: %8.3f, %ld steps, %ld switches\n", name, m->name, tol, e, st.accepted,
                       st.switches);
            if (!(e < ALLOWED))
                fail_msg("%s, %s at %g: %.3g x rtol x conditioning off %s", name, m->name, tol, e, err.text);
            if (st.switches < switches)
                fail_msg("%s, %s at %g: %ld switches", name, m->name, tol, st.switches);
        }
    }
    mbs_mechanism_destroy(c);
}

/* 2e5 N/m: stepped over without switches. */
static void stop_is_met_by_every_method(void **state)
{
    (void)state;
    slider_crank s = crank_plain;
    s.stop = 0.44, s.k = 2e5;
    every_method("stop", &s, 4.7317491339, -31.7573306902, 6);
}

static void damped_stop_pushes_and_never_pulls(void **state)
{
    (void)state;
    slider_crank s = crank_plain;
    s.stop = 0.44, s.k = 2e5, s.c = 20;
    every_method("damped stop", &s, 5.3817664652, 30.3896685314, 4);
}

/* |N| has a corner where the normal force changes its sign, tanh(v/v_s) is as good as one where the slider turns. */
static void dry_friction_turns_with_the_slider(void **state)
{
    (void)state;
    slider_crank s = crank_plain;
    s.mu = 0.2, s.v_s = 1e-3;
    every_method("friction", &s, 29.8239637631, 57.1581183948, 36);
}

/* The same measure without a stop, for comparison. */
static void smooth_crank_shows_what_methods_keep(void **state)
{
    (void)state;
    every_method("smooth", &crank_plain, 32.6894545267, 63.3150159735835, 0);
}

static double between(double a, double b)
{
    return a + (b - a) * (random_number() + 1) / 2;
}

static slider_crank random_crank(void)
{
    slider_crank s = {.t1 = 0.3};
    s.L1 = between(0.05, 0.2);
    s.L2 = s.L1 * between(1.5, 4);
    s.m1 = between(0.1, 2), s.I1 = s.m1 * s.L1 * s.L1 / 12;
    s.m2 = between(0.1, 1), s.I2 = s.m2 * s.L2 * s.L2 / 12;
    s.m3 = between(0.05, 1);
    s.torque = between(-2, 2);
    s.angle = between(0.5, 2.5);
    s.speed = -between(5, 40); /* towards the stop */
    s.stop = s.L2 + s.L1 * between(0.3, 0.98);
    crank_geometry g = crank_at(&s, s.angle);
    if (s.stop < g.x + 1e-3) s.stop = g.x + 1e-3;
    s.k = pow(10, between(3, 6));
    s.c = random_number() > 0 ? 0 : between(0, 30);
    return s;
}

static void random_slider_cranks_with_a_stop(void **state)
{
    (void)state;
    double worst[64] = {0};
    int next = 0, met = 0;
    mechanics_seed = 19;
    for (int n = 0; n < 200; n += sanitized_stride) {
        slider_crank s = random_crank();
        double right[2], conditioning = crank_conditioning(&s, 3000);
        crank_reference(&s, 60000, right);
        mbs_mechanism *c = crank_mechanism(&s);
        for (int k = 0; k < (everything ? dae_method_count() : 2); next++) {
            const dae_method_info *m = dae_method_get(next % dae_method_count());
            k += everything || takes(m, &s);
            for (double tol = 1e-6; takes(m, &s) && tol > 1e-10; tol /= 1e3) {
                dae_stats st = {0};
                dae_error err = {0};
                double e = error_of(c, &s, m, tol, conditioning, right, &st, &err);
                met += st.switches > 0;
                if (everything && !(e < ALLOWED))
                    printf("crank %d, %s at %g: %.3g %s\n", n, m->name, tol, e, err.text);
                else if (!(e < ALLOWED))
                    fail_msg("crank %d, %s at %g: %.3g x rtol x conditioning off %s", n, m->name, tol, e,
                             err.text);
                if (!(e <= worst[next % dae_method_count()])) worst[next % dae_method_count()] = e;
            }
        }
        mbs_mechanism_destroy(c);
    }
    assert_true(met > 300 / sanitized_stride);
    for (int i = 0; everything && i < dae_method_count(); i++)
        printf("%-12s worst %.3g\n", dae_method_get(i)->name, worst[i]);
}

/* Friction by sign(v) has no answer at rest: it is told which force it is, and when. */
static void chatter_names_the_force(void **state)
{
    (void)state;
    dae_error err = {0};
    double y[16];
    mbs_model *m = mbs_model_create("block", MBS_PLANAR);
    mbs_model_add_body(m, &(mbs_body){.name = "block", .mass = 1, .inertia = {0, 0, 1}, .v = {1}});
    mbs_model_add_point(m, &(mbs_point){.name = "O"});
    mbs_model_add_point(m, &(mbs_point){.name = "B", .body = 1});
    mbs_model_add_joint(
        m, &(mbs_joint){.name = "J", .type = "prismatic", .point_a = "O", .point_b = "B", .axis = {1}});
    mbs_model_add_force(
        m, &(mbs_force){
               .name = "rub", .type = "force", .joint = "J", .value = {"-5*sign(J.speed)"}, .count = 1});
    mbs_mechanism *c = compile(m);
    assert_int_equal(mbs_mechanism_initial(c, y, &err), DAE_OK);
    dae_options opt = dae_options_default();
    assert_int_equal(dae_solve(mbs_mechanism_system(c), &opt, 0, 1, y, NULL, &err), DAE_ERR_EVENT);
    assert_near(err.t, 0.2, 1e-9);
    assert_non_null(strstr(err.text, "force \"rub\" switched 100 times within"));
    mbs_mechanism_destroy(c);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(smooth_crank_shows_what_methods_keep),
        cmocka_unit_test(stop_is_met_by_every_method),
        cmocka_unit_test(damped_stop_pushes_and_never_pulls),
        cmocka_unit_test(dry_friction_turns_with_the_slider),
        cmocka_unit_test(random_slider_cranks_with_a_stop),
        cmocka_unit_test(chatter_names_the_force),
    };
    everything = argc > 1 && !strcmp(argv[1], "all");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
