/* Impacts: momentum is kept, energy is lost as Newton's law says, also along a whole run. */
#include "mechanics.h"

#include "multibody/mechanism.h"

/* Two free discs that meet at an angle, the second one heavier. */
static mbs_mechanism *two_discs(void)
{
    mbs_model *m = mbs_model_create("discs", MBS_PLANAR);
    mbs_model_add_body(
        m, &(mbs_body){.name = "light", .mass = 2, .inertia = {0, 0, 0.3}, .v = {3, 1}, .omega = {0, 0, 2}});
    mbs_model_add_body(m, &(mbs_body){.name = "heavy",
                                      .mass = 5,
                                      .inertia = {0, 0, 0.7},
                                      .center = {0.8, 0.6},
                                      .v = {-1, 0.5},
                                      .omega = {0, 0, -1}});
    mbs_model_add_point(m, &(mbs_point){.name = "A", .body = 1});
    mbs_model_add_point(m, &(mbs_point){.name = "B", .body = 2});
    mbs_model_add_event(
        m, &(mbs_event){.name = "hit", .when = "t", .impact = 1, .point_a = "A", .point_b = "B"});
    return compile(m);
}

static void free_bodies_keep_momentum(void **state)
{
    (void)state;
    static const double restitution[] = {0, 0.5, 1};
    mbs_mechanism *c = two_discs();
    for (int k = 0; k < 3; k++) {
        double y[16], v[6], rebound, e = restitution[k];
        dae_energy before, after;
        mbs_mechanism_described(c, y);
        memcpy(v, y + 6, sizeof v);
        mbs_mechanism_energy(c, 0, y, &before);
        double approach = 0.8 * (v[3] - v[0]) + 0.6 * (v[4] - v[1]), reduced = 2 * 5 / 7.0;
        assert_int_equal(mbs_impact(c, 0, y, &c->impact[0], e, &rebound), DAE_OK);
        mbs_mechanism_energy(c, 0, y, &after);
        const double *w = y + 6;
        assert_near(0.8 * (w[3] - w[0]) + 0.6 * (w[4] - w[1]), -e * approach, 1e-13);
        assert_near(rebound, e * fabs(approach), 1e-13);
        assert_near(2 * w[0] + 5 * w[3], 2 * v[0] + 5 * v[3], 1e-13);
        assert_near(2 * w[1] + 5 * w[4], 2 * v[1] + 5 * v[4], 1e-13);
        /* the impulse goes through both centers: spins stay; so does the angular momentum about the origin */
        assert_near(w[2], 2, 1e-14);
        assert_near(w[5], -1, 1e-14);
        assert_near(5 * (0.8 * w[4] - 0.6 * w[3]), 5 * (0.8 * v[4] - 0.6 * v[3]), 1e-13);
        assert_near(before.kinetic - after.kinetic, (1 - e * e) / 2 * reduced * approach * approach, 1e-12);
    }
    mbs_mechanism_destroy(c);
}

/* A rod on a pivot, hit at its end, moves as the constraint allows: the bearing takes its part of the impulse. */
static void impact_respects_the_joints(void **state)
{
    (void)state;
    mbs_model *m = mbs_model_create("bat", MBS_PLANAR);
    mbs_model_add_body(m, &(mbs_body){.name = "rod", .mass = 3, .inertia = {0, 0, 0.25}, .center = {0.5, 0}});
    mbs_model_add_body(
        m, &(mbs_body){.name = "ball", .mass = 1, .inertia = {0, 0, 0.1}, .center = {1, 0.1}, .v = {0, -4}});
    mbs_model_add_joint(m, &(mbs_joint){.name = "pivot", .type = "revolute", .a = MBS_GROUND, .b = 1});
    mbs_model_add_point(m, &(mbs_point){.name = "tip", .body = 1, .r = {0.5, 0}});
    mbs_model_add_point(m, &(mbs_point){.name = "B", .body = 2});
    mbs_model_add_event(
        m, &(mbs_event){.name = "hit", .when = "t", .impact = 1, .point_a = "tip", .point_b = "B"});
    mbs_mechanism *c = compile(m);
    double y[16], rebound;
    mbs_mechanism_described(c, y);
    assert_int_equal(mbs_impact(c, 0, y, &c->impact[0], 1, &rebound), DAE_OK);
    /* moment of inertia about the pivot 1, ball of mass 1 at distance 1: equal partners exchange their speeds */
    assert_near(y[6 + 4], 0, 1e-13);
    assert_near(y[6 + 2], -4, 1e-13);
    assert_near(y[6 + 0], 0, 1e-13);
    assert_near(y[6 + 1], -2, 1e-13);
    mbs_mechanism_destroy(c);
}

/* The cradle: ball 1 comes down with the energy of its height, the last one takes all of it and swings up as far; the
 * impulse crosses the middle ball within the time of a gap. Distances of the gaps (10 um, of 0.3 m) bound the rest. */
static void newtons_cradle_passes_momentum_on(void **state)
{
    (void)state;
    const double degree = 3.14159265358979323846 / 180;
    dae_error err = {0};
    mbs_model *m = mbs_model_load("models/newtons_cradle.json", &err);
    if (!m) fail_msg("%s", err.text);
    dae_problem *p = mbs_problem_create(m, &err);
    if (!p) fail_msg("%s", err.text);
    mbs_model_destroy(m);
    const mbs_mechanism *c = mbs_problem_mechanism(p);
    dae_run_options o = dae_run_options_default(p);
    o.options.method = "mexx";
    o.trajectory = DAE_TRAJECTORY_STEPS;
    o.points = 4;
    dae_run_result *r = dae_run(p, &o, &err);
    if (!r || r->status < 0) fail_msg("%s", r ? r->error.text : err.text);
    assert_true(r->nevent >= 4);
    assert_string_equal(r->event_name[r->event[0].index], "hit12");
    assert_string_equal(r->event_name[r->event[1].index], "hit23");
    double first = r->event[0].t, second = r->event[1].t, swing = 0, start = 0, last_in = 0, first_out = 0;
    for (int k = 0; k < r->npoint; k++) {
        const double *y = r->point_y + (size_t)k * (size_t)r->n, t = r->point_t[k];
        dae_energy e;
        assert_int_equal(mbs_mechanism_energy(c, t, y, &e), DAE_OK);
        if (k == 0) start = e.kinetic + e.potential;
        assert_near(e.kinetic + e.potential, start, 1e-7);
        if (t < first) last_in = y[9 + 2];
        if (t > second && !(first_out > 0)) first_out = y[9 + 8];
        if (t > second && t < second + 0.5) {
            swing = fmax(swing, y[8]);
            assert_true(fabs(y[2]) < 1e-3 && fabs(y[5]) < 1e-3);
        }
    }
    /* (m L^2 + 2/5 m R^2) w^2/2 = m g L (1 - cos 40 deg) */
    double w = sqrt(2 * 9.81 * 0.3 * (1 - cos(40 * degree)) / (0.09 + 0.4 * 0.0004));
    assert_near(last_in, w, 0.02 * w); /* somewhat before the impact */
    assert_near(first_out, w, 0.02 * w);
    assert_near(swing, 40 * degree, 1e-3);
    dae_run_destroy(r);
    dae_problem_destroy(p);
}

/* Five balls with gaps of 10 um. At loose tolerances the search for two contacts between neighbouring points meets
 * brackets as small as the spacing of the numbers around t: it must end there. */
static dae_problem *five_balls(void)
{
    dae_error err = {0};
    mbs_model *m = mbs_model_create("cradle", MBS_PLANAR);
    const double a = -40 * 3.14159265358979323846 / 180, L = 0.3, gap = 0.04001;
    static char name[5][3][16], when[4][100];
    mbs_model_set_gravity(m, 0, -9.81, 0);
    for (int i = 0; i < 5; i++) {
        const char *prefix[] = {"ball", "T", "C"};
        for (int k = 0; k < 3; k++) snprintf(name[i][k], sizeof name[i][k], "%s%d", prefix[k], i + 1);
        mbs_body ball = {.name = name[i][0], .mass = 0.25, .inertia = {0, 0, 4e-5}, .center = {gap * i, -L}};
        if (i == 0) ball.center[0] = L * sin(a), ball.center[1] = -L * cos(a), ball.angle = a;
        mbs_model_add_body(m, &ball);
        mbs_model_add_point(m, &(mbs_point){.name = name[i][2], .body = i + 1});
        mbs_model_add_joint(
            m, &(mbs_joint){.name = name[i][1], .type = "revolute", .b = i + 1, .at = {gap * i, 0}});
    }
    for (int i = 0; i < 4; i++) {
        snprintf(when[i], sizeof when[i], "hypot(ball%d.x-ball%d.x, ball%d.y-ball%d.y) - 0.04", i + 2, i + 1,
                 i + 2, i + 1);
        mbs_model_add_event(m, &(mbs_event){.name = name[i][0],
                                            .when = when[i],
                                            .direction = DAE_FALLING,
                                            .impact = 1,
                                            .point_a = name[i][2],
                                            .point_b = name[i + 1][2],
                                            .restitution = 1});
    }
    dae_problem *p = mbs_problem_create(m, &err);
    if (!p) fail_msg("%s", err.text);
    mbs_model_destroy(m);
    return p;
}

static void cradle_of_five_ends_at_every_tolerance(void **state)
{
    (void)state;
    dae_problem *p = five_balls(), half = *p;
    half.t_end = 0.5;
    for (double tol = 1e-2; tol > 1e-11; tol /= 10) {
        dae_error err = {0};
        dae_run_options o = dae_run_options_default(&half);
        o.options.rtol = o.options.atol = tol;
        dae_run_result *r = dae_run(&half, &o, &err);
        if (!r || r->status < 0) fail_msg("tol = %g: %s", tol, r ? r->error.text : err.text);
        assert_true(r->nevent >= 4);
        assert_near(r->event[0].t, 0.2835612, 1e-2 * sqrt(tol)); /* all reach ball 1 at the lowest point */
        dae_run_destroy(r);
    }
    dae_problem_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_bodies_keep_momentum),
        cmocka_unit_test(impact_respects_the_joints),
        cmocka_unit_test(newtons_cradle_passes_momentum_on),
        cmocka_unit_test(cradle_of_five_ends_at_every_tolerance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
