/* Every force type, planar and spatial: df/dp, df/dv, df/dlambda against differences; power against potential. */
#include "mechanics.h"

static mbs_model *two_bodies(int space)
{
    mbs_model *m = mbs_model_create("pair", space);
    int s = space == 3;
    mbs_model_set_gravity(m, 0.3, -9.81, s ? 1 : 0);
    mbs_model_set_parameter(m, "k0", 3);
    mbs_model_add_body(
        m, &(mbs_body){"one", 2, {1, 1.2, 0.9, 0.1, 0.05, -0.02}, .center = {0.1, -0.2, s ? 0.3 : 0}});
    mbs_model_add_body(m, &(mbs_body){"two", 1, {1, 1.1, 0.8}, .center = {0.5, 0.4, s ? -0.3 : 0}});
    mbs_model_add_point(
        m, &(mbs_point){"A", 1, {0.3, -0.2, s ? 0.4 : 0}, .angle = s ? 0 : 0.3, .q = {0.8, 0.3, 0.2, -0.4}});
    mbs_model_add_point(
        m, &(mbs_point){"B", 2, {-0.1, 0.5, s ? 0.2 : 0}, .angle = s ? 0 : -0.4, .q = {0.6, -0.3, 0.5, 0.4}});
    mbs_model_add_point(m, &(mbs_point){"O", 0, .r = {0.2, 0.1, 0}});
    mbs_model_add_joint(m, &(mbs_joint){.name = "J", .type = "revolute", .point_a = "A", .point_b = "B"});
    mbs_model_add_joint(m, &(mbs_joint){.name = "K", .type = "prismatic", .point_a = "O", .point_b = "A"});
    return m;
}

static void check(mbs_model *m, const char *type, int space)
{
    char what[64];
    snprintf(what, sizeof what, "%s in %dD", type, space);
    mbs_mechanism *c = compile(m);
    const dae_system *sys = mbs_mechanism_system(c);
    double *y = calloc((size_t)dae_system_size(sys), sizeof *y);
    for (int k = 0; k < 6; k++) {
        random_state(&sys->mech, y);
        for (int i = 0; i < sys->mech.nquaternion && !strcmp(type, "bushing"); i++)
            y[sys->mech.quaternion[i]] += 2; /* away from half a turn, where it has its kink */
        check_forces(c, what, y, 1e-6);
    }
    free(y);
    mbs_mechanism_destroy(c);
}

static void every_force_matches_differences(void **state)
{
    (void)state;
    for (int space = 2; space <= 3; space++) {
        int n = space;
        const mbs_force list[] = {
            {.name = "F",
             .type = "spring",
             .point_a = "A",
             .point_b = "B",
             .value = {"B.x*A.vy + sin(A.y)"},
             .count = 1},
            {.name = "F",
             .type = "spring",
             .point_a = "A",
             .point_b = "B",
             .field = {{"k", .number = 5}, {"c", .number = 0.7}, {"l0", .number = 0.3}}},
            {.name = "F",
             .type = "spring",
             .point_a = "O",
             .point_b = "B",
             .value = {"k0*(length-0.2)^3 + 0.1*rate*abs(rate)"},
             .count = 1},
            {.name = "F",
             .type = "spring",
             .point_a = "O",
             .point_b = "B",
             .value = {"table(length, 0,-1, 0.5,0, 2,4)"},
             .count = 1},
            {.name = "F",
             .type = "spring",
             .point_a = "A",
             .point_b = "B",
             .value = {"k0*length^3 + 0.1*rate^2"},
             .count = 1,
             .field = {{"axis", .vector = {1, 2, space == 3 ? -2 : 0}},
                       {"k", .number = 5},
                       {"c", .number = 0.7},
                       {"l0", .number = 0.3}}},
            {.name = "F",
             .type = "torsion",
             .joint = "J",
             .field = {{"k", .number = 2}, {"c", .number = 0.3}, {"l0", .number = 0.1}}},
            {.name = "F",
             .type = "torsion",
             .joint = "K",
             .value = {"angle^2*rate"},
             .count = 1,
             .field = {{"k", .number = 2}, {"c", .number = 0.3}}},
            {.name = "F",
             .type = "bushing",
             .point_a = "A",
             .point_b = "B",
             .field = {{"k", .number = 5},
                       {"c", .number = 0.7},
                       {"k_angular", .number = 2},
                       {"c_angular", .number = 0.4}}},
            {.name = "F",
             .type = "force",
             .point_b = "B",
             .value = {"sin(t)*one.x", "two.vy*J.speed", "K.value"},
             .count = n},
            {.name = "F",
             .type = "force",
             .point_b = "B",
             .value = {"1", "2*t", "3"},
             .count = n,
             .field = {{"frame", .text = "body"}}},
            {.name = "F",
             .type = "force",
             .point_a = "A",
             .point_b = "B",
             .value = {"1", "2*t", "3"},
             .count = n},
            {.name = "F", .type = "force", .joint = "K", .value = {"-4*K.value - two.x*two.y"}, .count = 1},
            {.name = "F", .type = "torque", .joint = "J", .value = {"k0*exp(-t)*J.angle"}, .count = 1},
            {.name = "F",
             .type = "torque",
             .body = "two",
             .value = {"two.x", "1", "t"},
             .count = space == 2 ? 1 : 3,
             .field = {{"frame", .text = "body"}}},
            {.name = "F",
             .type = "motor",
             .joint = "J",
             .value = {"12"},
             .count = 1,
             .field = {{"resistance", .number = 1},
                       {"inductance", .number = 0.1},
                       {"constant", .number = 0.4}}},
            {.name = "F",
             .type = "contact",
             .point_a = "O",
             .point_b = "B",
             .field = {{"k", .number = 100},
                       {"c", .number = 3},
                       {"mu", .number = 0.4},
                       {"radius", .number = 0.8},
                       {"v_s", .number = 0.5}}},
            {.name = "F",
             .type = "stop",
             .joint = "J",
             .field =
                 {{"k", .number = 10}, {"c", .number = 1}, {"min", .number = -0.3}, {"max", .number = 0.3}}},
            {.name = "F",
             .type = "tire",
             .point_b = "B",
             .value = {"0.1*sin(x + 3*t)"},
             .count = 1,
             .field = {{"k", .number = 100}, {"c", .number = 3}, {"radius", .number = 1.5}}},
            {.name = "F",
             .type = "tire",
             .point_b = "B",
             .value = {"0.1*sin(x + 2*t)*two.y + 0.05*x^3"},
             .count = 1,
             .field = {{"k", .number = 100}, {"c", .number = 3}, {"radius", .number = 1.5}}},
            {.name = "F",
             .type = "tire",
             .point_b = "B",
             .value = {"0.1*sin(x - 2*t) + if(t > 0.2, t^2*x, 0)"},
             .count = 1,
             .field = {{"k", .number = 100},
                       {"c", .number = 3},
                       {"radius", .number = 0.1},
                       {"pull", .number = 1}}},
            {.name = "F",
             .type = "spring",
             .point_a = "A",
             .point_b = "O",
             .value = {"sin(3*t)*length"},
             .count = 1},
        };
        for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
            mbs_model *m = two_bodies(space);
            mbs_model_add_force(m, &list[i]);
            check(m, list[i].type, space);
        }
    }
}

/* A point mass over a road that rises: F = k (road + radius - y) + c (road' - y'), pulling or not. */
static void tire_pulls_only_if_told(void **state)
{
    (void)state;
    for (int pull = 0; pull < 2; pull++) {
        mbs_model *m = mbs_model_create("ball", MBS_PLANAR);
        mbs_model_add_body(m, &(mbs_body){.name = "ball", .mass = 1, .inertia = {1, 1, 1}});
        mbs_model_add_point(m, &(mbs_point){.name = "P", .body = 1});
        mbs_model_add_force(m, &(mbs_force){.name = "F",
                                            .type = "tire",
                                            .point_b = "P",
                                            .value = {"0.2*x + 0.1*t^2"},
                                            .count = 1,
                                            .field = {{"k", .number = 100},
                                                      {"c", .number = 3},
                                                      {"radius", .number = 0.5},
                                                      {"pull", .number = pull}}});
        mbs_mechanism *c = compile(m);
        const dae_mech *s = &mbs_mechanism_system(c)->mech;
        double p[3] = {1, 0.4, 0}, v[3] = {2, -1, 0}, f[3], t = 3,
               low = 100 * (0.2 + 0.9 + 0.5 - 0.4) + 3 * (0.4 + 0.6 + 1);
        s->force(&(dae_mech_point){.t = t, .p = p, .v = v}, f, s->user);
        assert_near(f[1], low, 1e-12 * low);
        p[1] = 2.4; /* above the road */
        s->force(&(dae_mech_point){.t = t, .p = p, .v = v}, f, s->user);
        assert_near(f[1], pull ? low - 200 : 0, 1e-12 * low);
        mbs_mechanism_destroy(c);
    }
}

static void friction_matches_differences(void **state)
{
    (void)state;
    for (int space = 2; space <= 3; space++) {
        mbs_model *m = two_bodies(space);
        mbs_model_add_joint(m, &(mbs_joint){.name = "L",
                                            .type = "revolute",
                                            .point_a = "A",
                                            .point_b = "B",
                                            .friction = {.mu = 0.3, .radius = 0.2, .v_s = 0.7}});
        mbs_model_add_joint(m, &(mbs_joint){.name = "M",
                                            .type = "prismatic",
                                            .point_a = "O",
                                            .point_b = "B",
                                            .friction = {.mu = 0.4, .v_s = 0.7}});
        check(m, "friction", space);
    }
}

/* f . v = -dV/dt for the conservative ones. */
static void potentials_match_power(void **state)
{
    (void)state;
    for (int space = 2; space <= 3; space++) {
        const mbs_force list[] = {
            {.name = "F",
             .type = "spring",
             .point_a = "A",
             .point_b = "B",
             .field = {{"k", .number = 5}, {"l0", .number = 0.3}}},
            {.name = "F",
             .type = "spring",
             .point_a = "A",
             .point_b = "B",
             .field = {{"axis", .vector = {3, -1, 0}}, {"k", .number = 5}, {"l0", .number = 0.3}}},
            {.name = "F",
             .type = "bushing",
             .point_a = "A",
             .point_b = "B",
             .field = {{"k", .number = 5}, {"k_angular", .number = 2}}},
            {.name = "F",
             .type = "contact",
             .point_a = "O",
             .point_b = "B",
             .field = {{"k", .number = 100}, {"radius", .number = 0.8}}},
            {.name = "F",
             .type = "torsion",
             .joint = "K",
             .field = {{"k", .number = 2}, {"l0", .number = 0.1}}},
            {.name = "F",
             .type = "stop",
             .joint = "K",
             .field = {{"k", .number = 10}, {"min", .number = -0.1}, {"max", .number = 0.1}}},
        };
        for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
            mbs_model *m = two_bodies(space);
            mbs_model_add_force(m, &list[i]);
            mbs_mechanism *c = compile(m);
            const dae_mech *s = &mbs_mechanism_system(c)->mech;
            double *y = calloc((size_t)(s->np + s->nv), sizeof *y),
                   *z = calloc((size_t)(s->np + s->nv), sizeof *z);
            double *f = calloc((size_t)s->nv, sizeof *f), h = 1e-6;
            for (int k = 0; k < 5; k++) {
                dae_energy up, down;
                double power = 0;
                random_state(s, y);
                dae_mech_point x = {.p = y, .v = y + s->np};
                s->force(&x, f, s->user);
                for (int r = 0; r < s->nv; r++) power += f[r] * y[s->np + r];
                memcpy(z + s->np, y + s->np, (size_t)s->nv * sizeof *z);
                flow(s, 0, y, y + s->np, h, z);
                assert_int_equal(mbs_mechanism_energy(c, 0, z, &up), DAE_OK);
                flow(s, 0, y, y + s->np, -h, z);
                assert_int_equal(mbs_mechanism_energy(c, 0, z, &down), DAE_OK);
                double rate = (up.potential - down.potential) / (2 * h);
                if (fabs(power + rate) > 1e-6 * (1 + fabs(power)))
                    fail_msg("%s in %dD: power %.10g, -dV/dt %.10g", list[i].type, space, power, -rate);
            }
            free(y), free(z), free(f);
            mbs_mechanism_destroy(c);
        }
    }
}

/* A spring along an axis has the length along it, whatever the distance, and pulls along it only. */
static void spring_with_an_axis_pulls_along_it(void **state)
{
    (void)state;
    mbs_model *m = mbs_model_create("one", MBS_PLANAR);
    mbs_model_add_body(m, &(mbs_body){"one", 2, {0, 0, 1}, .center = {3, 0.5}});
    mbs_model_add_point(m, &(mbs_point){"O", 0, .r = {0, 0}});
    mbs_model_add_point(m, &(mbs_point){"P", 1, .r = {0.25, 0}});
    mbs_model_add_force(m, &(mbs_force){.name = "F",
                                        .type = "spring",
                                        .point_a = "O",
                                        .point_b = "P",
                                        .field = {{"axis", .vector = {0, 2}},
                                                  {"k", .number = 10},
                                                  {"c", .number = 1},
                                                  {"l0", .number = 0.2}}});
    mbs_mechanism *c = compile(m);
    const dae_mech *s = &mbs_mechanism_system(c)->mech;
    double p[] = {3, 0.5, 0}, v[] = {7, 0.1, 0}, f[3] = {0};
    assert_int_equal(s->force(&(dae_mech_point){.p = p, .v = v}, f, s->user), 0);
    assert_near(f[0], 0, 1e-15);
    assert_near(f[1], -3.1, 1e-14);
    assert_near(f[2], -3.1 * 0.25, 1e-14);
    mbs_mechanism_destroy(c);
}

/* A road that moves under a wheel at rest is the road that a wheel drives over. */
static void tire_feels_a_moving_road(void **state)
{
    static const char *const road[] = {"0.1*sin(x)", "0.1*sin(x + 3*t)"};
    double f[2][3] = {{0}};
    (void)state;
    for (int k = 0; k < 2; k++) {
        mbs_model *m = mbs_model_create("wheel", MBS_PLANAR);
        mbs_model_add_body(m, &(mbs_body){"wheel", 2, {0, 0, 1}, .center = {0}});
        mbs_model_add_point(m, &(mbs_point){"P", 1, .r = {0, 0}});
        mbs_model_add_force(
            m, &(mbs_force){.name = "F",
                            .type = "tire",
                            .point_b = "P",
                            .value = {road[k]},
                            .count = 1,
                            .field = {{"k", .number = 100}, {"c", .number = 7}, {"radius", .number = 0.5}}});
        mbs_mechanism *c = compile(m);
        const dae_mech *s = &mbs_mechanism_system(c)->mech;
        double p[] = {k ? 0 : 6, 0.4, 0}, v[] = {k ? 0 : 3, 0.02, 0};
        assert_int_equal(s->force(&(dae_mech_point){.t = 2, .p = p, .v = v}, f[k], s->user), 0);
        assert_near(f[k][1], 100 * (0.1 * sin(6) + 0.1) + 7 * (0.3 * cos(6) - 0.02), 1e-8);
        mbs_mechanism_destroy(c);
    }
    assert_near(f[0][1], f[1][1], 1e-8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_force_matches_differences),    cmocka_unit_test(tire_pulls_only_if_told),
        cmocka_unit_test(friction_matches_differences),       cmocka_unit_test(potentials_match_power),
        cmocka_unit_test(spring_with_an_axis_pulls_along_it), cmocka_unit_test(tire_feels_a_moving_road),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
