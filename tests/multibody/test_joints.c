/* Every joint type, planar and spatial: residual, G, gI, gamma and d(G^T lambda)/dp against differences. */
#include "mechanics.h"

#include "multibody/field.h"
#include "multibody/mechanism.h"

/* Two bodies with a point each (and a frame on the second one). */
static mbs_model *two_bodies(int space)
{
    mbs_model *m = mbs_model_create("pair", space);
    mbs_model_add_body(m, &(mbs_body){"one",
                                      2,
                                      {1, 1.2, 0.9, 0.1, 0.05, -0.02},
                                      {0.1, -0.2, 0.3},
                                      .angle = 0.2,
                                      .q = {0.9, 0.1, -0.3, 0.2}});
    mbs_model_add_body(
        m, &(mbs_body){"two", 1, {1, 1.1, 0.8}, {0.5, 0.4, -0.3}, .angle = -0.7, .q = {0.7, 0.4, 0.3, -0.2}});
    mbs_model_add_point(m, &(mbs_point){"A",
                                        1,
                                        {0.3, -0.2, space == 3 ? 0.4 : 0},
                                        .angle = space == 2 ? 0.3 : 0,
                                        .q = {0.8, 0.3, 0.2, -0.4}});
    mbs_model_add_point(m, &(mbs_point){"B",
                                        2,
                                        {-0.1, 0.5, space == 3 ? 0.2 : 0},
                                        .angle = space == 2 ? -0.4 : 0,
                                        .q = {0.6, -0.3, 0.5, 0.4}});
    mbs_model_add_point(m, &(mbs_point){"O", 0, .r = {0.2, 0.1, 0}});
    mbs_model_add_point(m, &(mbs_point){"A2", 1, .r = {-0.2, 0.1, 0}});
    return m;
}

/* The first number that a type of joints has, 0.4; a screw 0.3. */
static mbs_value field_of(const char *type)
{
    const mbs_field *f = mbs_joint_type_find(type)->field;
    return (mbs_value){f && f->kind == MBS_FIELD_NUMBER ? f->name : NULL,
                       .number = strcmp(type, "screw") ? 0.4 : 0.3};
}

static void check(mbs_mechanism *c, const char *what)
{
    const dae_system *sys = mbs_mechanism_system(c);
    double *y = calloc((size_t)dae_system_size(sys), sizeof *y);
    for (int k = 0; k < 5; k++) {
        random_state(&sys->mech, y);
        check_rows(c, what, y, 1e-6);
    }
    free(y);
    mbs_mechanism_destroy(c);
}

static void every_joint_matches_differences(void **state)
{
    (void)state;
    for (int space = 2; space <= 3; space++) {
        int seen = 0;
        for (int i = 0; mbs_joint_type_name(i); i++) {
            const char *type = mbs_joint_type_name(i);
            if (!strcmp(type, "gear") || !strcmp(type, "screw")) continue; /* below */
            mbs_model *m = two_bodies(space);
            mbs_model_add_joint(m, &(mbs_joint){.name = "J",
                                                .type = type,
                                                .point_a = "A",
                                                .point_b = "B",
                                                .axis = {0.6, 0.8, space == 3 ? 0.5 : 0},
                                                .field = {field_of(type)}});
            dae_error err = {0};
            mbs_mechanism *c = mbs_mechanism_create(m, &err);
            mbs_model_destroy(m);
            if (!c) {
                assert_non_null(strstr(err.text, space == 2 ? "spatial models only" : "planar models only"));
                continue;
            }
            seen++;
            char what[64];
            snprintf(what, sizeof what, "%s in %dD", type, space);
            check(c, what);
        }
        assert_true(seen >= (space == 2 ? 8 : 14));
    }
}

static void joints_to_the_ground_match_differences(void **state)
{
    (void)state;
    static const char *const types[] = {"revolute", "prismatic", "rolling", "distance", "point_on_line"};
    for (int space = 2; space <= 3; space++) {
        for (int i = 0; i < 5; i++) {
            mbs_model *m = two_bodies(space);
            mbs_model_add_joint(m, &(mbs_joint){.name = "J",
                                                .type = types[i],
                                                .point_a = "O",
                                                .point_b = "B",
                                                .field = {field_of(types[i])}});
            mbs_model_add_joint(m, &(mbs_joint){.name = "K",
                                                .type = types[i],
                                                .point_a = "A2",
                                                .point_b = "O",
                                                .field = {field_of(types[i])}});
            check(compile(m), types[i]);
        }
    }
}

/* Rows with angles: exact where the axes are parallel, so at states that obey the joints below them. */
static void angles_match_differences_on_the_joint(void **state)
{
    (void)state;
    for (int kind = 0; kind < 6; kind++) {
        mbs_model *m[2] = {two_bodies(3), two_bodies(3)};
        for (int k = 0; k < 2; k++) {
            if (kind == 0 || kind > 3) { /* screw: on a cylindrical joint */
                mbs_model_add_joint(
                    m[k], &(mbs_joint){.name = "J",
                                       .type = k && kind == 0 ? "screw" : "cylindrical",
                                       .point_a = "A",
                                       .point_b = "B",
                                       .field = {field_of(k && kind == 0 ? "screw" : "cylindrical")}});
            } else {
                mbs_model_add_joint(
                    m[k], &(mbs_joint){.name = "J", .type = "revolute", .point_a = "A", .point_b = "B"});
                mbs_model_add_joint(
                    m[k], &(mbs_joint){.name = "K", .type = "revolute", .point_a = "O", .point_b = "A2"});
            }
            if (k == 1 && kind == 1)
                mbs_model_add_joint(
                    m[k], &(mbs_joint){.name = "L",
                                       .type = "gear",
                                       .field = {{"joints", .text = "J K"}, {"ratio", .number = -1.5}}});
            if (k == 1 && kind == 2)
                mbs_model_add_joint(m[k], &(mbs_joint){.name = "L",
                                                       .type = "gear",
                                                       .field = {{"joints", .text = "J K"},
                                                                 {"ratio", .number = 1.234567891}}});
            if (k == 1 && kind > 3) /* angle and slide of a cylindrical joint */
                mbs_model_add_driver(
                    m[k], &(mbs_driver){"D", "J", kind == 4 ? "angle" : "slide", "0.3*sin(4*t)+t^2"});
            if (k == 1 && kind == 3)
                mbs_model_add_driver(m[k], &(mbs_driver){"D", "K", NULL, "0.3*sin(4*t)^2"});
        }
        mbs_mechanism *base = compile(m[0]), *c = compile(m[1]);
        const dae_mech *s = &mbs_mechanism_system(c)->mech;
        double *y = calloc((size_t)(s->np + s->nv), sizeof *y);
        int checked = 0;
        for (int k = 0; k < 40 && checked < 5; k++) { /* random poses and velocities that the joints allow */
            random_state(s, y);
            if (mbs_assemble(base, 0.3, y, NULL, NULL) < 0) continue;
            double speed = 0;
            for (int i = 0; i < s->nv; i++) speed += fabs(y[s->np + i]);
            assert_true(speed > 0.1);
            check_rows(c, kind == 0 ? "screw" : kind < 3 ? "gear" : "driver", y, 2e-6);
            checked++;
        }
        assert_int_equal(checked, 5);
        free(y);
        mbs_mechanism_destroy(base);
        mbs_mechanism_destroy(c);
    }
}

static void planar_drivers_and_gears_match_differences(void **state)
{
    (void)state;
    mbs_model *m = two_bodies(2);
    mbs_model_add_joint(m, &(mbs_joint){.name = "J", .type = "revolute", .point_a = "A", .point_b = "B"});
    mbs_model_add_joint(
        m,
        &(mbs_joint){.name = "K", .type = "prismatic", .point_a = "O", .point_b = "A2", .axis = {1, 2, 0}});
    mbs_model_add_joint(m, &(mbs_joint){.name = "L",
                                        .type = "gear",
                                        .field = {{"joints", .text = "J K"}, {"ratio", .number = 0.7}}});
    mbs_model_add_driver(m, &(mbs_driver){"D", "K", NULL, "0.1*sin(4*t) + t^3"});
    mbs_mechanism *c = compile(m);
    mbs_topology top = mbs_mechanism_topology(c);
    assert_int_equal(top.constraints, 6);
    assert_int_equal(top.freedom, 0);
    check(c, "planar gear and driver");
}

static void length_driver_matches_differences(void **state)
{
    (void)state;
    for (int space = 2; space <= 3; space++) {
        mbs_model *m = two_bodies(space);
        mbs_model_add_joint(m, &(mbs_joint){.name = "J", .type = "distance", .point_a = "A", .point_b = "B"});
        mbs_model_add_joint(
            m, &(mbs_joint){.name = "K", .type = "point_on_line", .point_a = "O", .point_b = "A2"});
        mbs_model_add_driver(m, &(mbs_driver){"D", "K", NULL, "0.1*sin(4*t)"});
        check(compile(m), "length and slide driver");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_joint_matches_differences),
        cmocka_unit_test(joints_to_the_ground_match_differences),
        cmocka_unit_test(angles_match_differences_on_the_joint),
        cmocka_unit_test(planar_drivers_and_gears_match_differences),
        cmocka_unit_test(length_driver_matches_differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
