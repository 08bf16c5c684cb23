/* Collisions of shapes: where solids touch against closed forms, restitution, momentum, derivatives against differences, states of
 * rest (spheres in a box, a card house), a sphere that rolls between plates. */
#include "mechanics.h"

#include "multibody/solid.h"

#define DOCUMENT(space, rest) \
    "{\"daedalus\":1,\"kind\":\"mechanism\",\"name\":\"x\",\"dimension\":" #space "," rest "}"

static mbs_mechanism *parse(const char *json)
{
    dae_error err = {0};
    mbs_model *m = mbs_model_parse(json, strlen(json), NULL, 0, &err);
    if (!m) fail_msg("%s", err.text);
    return compile(m);
}

/* ---- Solids ----------------------------------------------------------------------------------------------------- */

static const double none[3], unit[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
static const mbs_stand here = {none, unit};

static double gap_of(const mbs_shape *a, const mbs_shape *b, int *count)
{
    static mbs_touch touch[MBS_TOUCHES];
    mbs_solid x, y;
    dae_error err = {0};
    double least;
    dae_arena *arena = dae_arena_create();
    if (mbs_solid_create(a, 0, arena, &x, &err) || mbs_solid_create(b, 0, arena, &y, &err))
        fail_msg("%s", err.text);
    *count = mbs_solid_touches(&x, here, &y, here, touch, &least);
    dae_arena_destroy(arena);
    return least;
}

static void solids_know_their_distance(void **state)
{
    (void)state;
    const double h = 0.70710678118654752, turned[4] = {cos(0.3927), 0, 0, sin(0.3927)};
    static const double corner[] = {-1, -1, -1, 1, -1, -1, -1, 1, -1, 1, 1, -1, -1, -1,
                                    1,  1,  -1, 1, -1, 1,  1,  1, 1,  1, 0, 0,  0};
    const mbs_shape ball = {.kind = "sphere", .size = {0.5}}, box = {.kind = "box", .size = {2, 2, 2}},
                    pill = {.kind = "capsule", .size = {0.25, 2}}, floor = {.kind = "plane", .size = {1}},
                    mesh = {.kind = "mesh",
                            .vertex = corner,
                            .nvertex = 9}; /* the cube again, and a point inside */
    const struct {
        mbs_shape a, b;
        double r[3], q[4], gap;
        int touches;
    } list[] = {
        {ball, ball, {0.9, 0, 0}, {1}, -0.1, 1},
        {ball, ball, {0, 2, 0}, {1}, 1, 0},
        {floor, ball, {3, 4, 0.4}, {1}, -0.1, 1},
        {floor, box, {0, 0, 0.9}, {1}, -0.1, 4},
        {floor, pill, {0, 0, 1.2}, {1}, -0.05, 1},
        {floor, pill, {0, 0, 0.2}, {h, h, 0, 0}, -0.05, 2},
        {box, ball, {1.4, 0.3, 0.2}, {1}, -0.1, 1},
        {box, ball, {1 + 0.3, 1 + 0.36, 0}, {1}, 0.46861498055439925 - 0.5, 1},
        {box, ball, {1.2, 1.2, 1.1}, {1}, 0.3 - 0.5, 1}, /* a corner: sqrt(0.04+0.04+0.01) */
        {box, pill, {1.2, 0, 0}, {1}, -0.05, 2 + 0},
        {box, pill, {0, 0, 2.2}, {1}, -0.05, 1},
        {box,
         pill,
         {1.1, 1.1, 0},
         {h, 0.5, 0.5, 0},
         0.2 * h - 0.25,
         1}, /* across an edge, at a right angle to it */
        {box, box, {0, 0, 1.95}, {1}, -0.05, 8},
        {box, box, {0, 0, 2.05}, {1}, 0.05, 0},
        {pill, pill, {0.4, 0, 0}, {1}, -0.1, 2},
        {pill, pill, {0.4, 0, 0}, {h, h, 0, 0}, -0.1, 1},
        {mesh, ball, {1.4, 0.3, 0.2}, {1}, -0.1, 1},
        {mesh, box, {0, 0, 1.95}, {1}, -0.05, 8},
        {mesh, mesh, {0, 0, 1.95}, {turned[0], 0, 0, turned[3]}, -0.05, 0},
    };
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        mbs_shape b = list[k].b;
        int count, back;
        memcpy(b.r, list[k].r, sizeof b.r);
        memcpy(b.q, list[k].q, sizeof b.q);
        double gap = gap_of(&list[k].a, &b, &count), again = gap_of(&b, &list[k].a, &back);
        if (fabs(gap - list[k].gap) > 1e-12)
            fail_msg("pair %zu: gap %.15g, expected %.15g", k, gap, list[k].gap);
        assert_near(again, gap, 1e-14);
        if (k + 1 < sizeof list / sizeof *list && (count != list[k].touches || back != count))
            fail_msg("pair %zu: %d touches (%d in the other order), expected %d", k, count, back,
                     list[k].touches);
    }
}

/* Two boxes whose edges cross: an edge of the upper one along y, turned by 45 degrees about it, on an edge of the lower one along x. */
static void crossing_edges_touch_once(void **state)
{
    (void)state;
    const double c = cos(0.39269908169872414), s = sin(0.39269908169872414), h = 0.70710678118654752;
    mbs_shape a = {.kind = "box", .size = {2, 2, 2}, .q = {c, s, 0, 0}},
              b = {.kind = "box", .size = {2, 2, 2}, .q = {c, 0, s, 0}};
    int count;
    b.r[2] = 4 * h - 0.03; /* both reach sqrt 2 from their centers */
    assert_near(gap_of(&a, &b, &count), -0.03, 1e-12);
    assert_int_equal(count, 1);
    b.r[2] = 4 * h + 0.03;
    assert_near(gap_of(&a, &b, &count), 0.03, 1e-12);
    assert_int_equal(count, 0);
}

/* A long bar across a box, its edges down: none of its corners is above the box, and it is carried where its lower edge crosses the border. */
static void a_bar_across_a_box_is_carried_by_its_edges(void **state)
{
    (void)state;
    const double c = cos(0.39269908169872414), s = sin(0.39269908169872414);
    mbs_shape box = {.kind = "box", .size = {2, 2, 2}},
              bar = {.kind = "box", .size = {6, 1, 1}, .q = {c, s, 0, 0}},
              flat = {.kind = "box", .size = {6, 1, 1}};
    int count;
    bar.r[2] = 1 + sqrt(0.5) - 0.02;
    assert_near(gap_of(&box, &bar, &count), -0.02, 1e-12);
    assert_int_equal(count, 2);
    assert_near(gap_of(&bar, &box, &count), -0.02, 1e-12);
    assert_int_equal(count, 2);
    flat.r[2] = 1.5 - 0.02; /* two edges cross the border twice */
    assert_near(gap_of(&box, &flat, &count), -0.02, 1e-12);
    assert_int_equal(count, 4);
}

/* The same with a capsule: both borders carry it, whichever way it leans, so that its torque does not jump where it lies flat. */
static void a_capsule_across_a_box_is_carried_by_both_borders(void **state)
{
    (void)state;
    const double pi = 3.14159265358979323846;
    mbs_shape box = {.kind = "box", .size = {2, 2, 2}}, bar = {.kind = "capsule", .size = {0.2, 6}};
    for (int lean = -1; lean <= 1; lean++) {
        double half = pi / 4 + lean * 0.5e-3;
        int count;
        bar.q[0] = cos(half), bar.q[2] = sin(half);
        bar.r[2] = 1.2 - 0.02;
        assert_near(gap_of(&box, &bar, &count), -0.02 - abs(lean) * 1e-3, 1e-5);
        assert_int_equal(count, 2);
    }
}

/* ---- Forces ------------------------------------------------------------------------------------------------------- */

/* All kinds of touches: derivatives by differences, and momentum: what acts on one body acts on the other. */
static void touches_have_exact_derivatives_and_keep_momentum(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        double r[3], q[4];
    } list[] = {
        {"{\"kind\":\"sphere\",\"size\":[0.5],\"mass\":1}",
         "{\"kind\":\"sphere\",\"size\":[0.4],\"mass\":1}",
         {0.6, 0.4, 0.3},
         {1}},
        {"{\"kind\":\"capsule\",\"size\":[0.3,1],\"mass\":1}",
         "{\"kind\":\"sphere\",\"size\":[0.4],\"mass\":1}",
         {0.4, 0.3, 0.2},
         {1}},
        {"{\"kind\":\"capsule\",\"size\":[0.3,1],\"mass\":1}",
         "{\"kind\":\"capsule\",\"size\":[0.3,1],\"mass\":1}",
         {0.4, 0.2, 0.05},
         {0.8, 0.5, 0.2, 0.1}},
        {"{\"kind\":\"box\",\"size\":[1,1,1],\"mass\":1}",
         "{\"kind\":\"sphere\",\"size\":[0.4],\"mass\":1}",
         {0.7, 0.2, 0.1},
         {1}},
        {"{\"kind\":\"box\",\"size\":[1,1,1],\"mass\":1}",
         "{\"kind\":\"sphere\",\"size\":[0.4],\"mass\":1}",
         {0.7, 0.65, 0.6},
         {1}},
        {"{\"kind\":\"box\",\"size\":[1,1,1],\"mass\":1}",
         "{\"kind\":\"sphere\",\"size\":[0.4],\"mass\":1}",
         {0.7, 0.65, 0.1},
         {1}},
        {"{\"kind\":\"box\",\"size\":[1,1,1],\"mass\":1}",
         "{\"kind\":\"box\",\"size\":[0.5,0.6,0.7],\"mass\":1}",
         {0.1, 0.05, 0.8},
         {0.99, 0.05, 0.04, 0.3}},
        {"{\"kind\":\"box\",\"size\":[1,1,1],\"q\":[0.92387953251128674,0.38268343236508977,0,0],\"mass\":1}",
         "{\"kind\":\"box\",\"size\":[1,1,1],\"q\":[0.92387953251128674,0,0.38268343236508977,0],\"mass\":1}",
         {0.03, 0.02, 1.39},
         {1, 0.01, 0.02, 0.03}},
    };
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        char json[1500], what[32];
        snprintf(json, sizeof json,
                 DOCUMENT(3, "\"bodies\":[{\"name\":\"a\",\"shapes\":[%s]},{\"name\":\"b\",\"shapes\":[%s]}],"
                             "\"forces\":[{\"name\":\"f\",\"type\":\"collisions\",\"k\":50,\"restitution\":0."
                             "5,\"mu\":0.3,\"v_s\":0.5,"
                             "\"v_r\":0.7}]"),
                 list[k].a, list[k].b);
        snprintf(what, sizeof what, "pair %zu", k);
        mbs_mechanism *c = parse(json);
        const dae_mech *s = &mbs_mechanism_system(c)->mech;
        double y[26] = {0}, f[12], size = 0;
        y[3] = 1;
        for (int i = 0; i < 3; i++) y[7 + i] = list[k].r[i];
        double n = 0;
        for (int i = 0; i < 4; i++) n += list[k].q[i] * list[k].q[i];
        for (int i = 0; i < 4; i++) y[10 + i] = list[k].q[i] / sqrt(n);
        for (int i = 14; i < 26; i++) y[i] = 0.3 * random_number();
        check_forces(c, what, y, 2e-6);
        for (int i = 3; i < 6; i++) y[14 + i] = y[20 + i] = 0; /* without gyroscopic forces */
        dae_mech_point x = {.p = y, .v = y + 14};
        s->force(&x, f, s->user);
        for (int i = 0; i < 3; i++) {
            size = fmax(size, fabs(f[i]));
            assert_near(f[i], -f[6 + i], 1e-12);
        }
        assert_true(size > 0.01);
        /* Angular momentum about the origin; torques are in body axes, a stands as the ground. */
        double w = y[10], q[3] = {y[11], y[12], y[13]}, t[3], u[3], turned[3];
        t[0] = q[1] * f[11] - q[2] * f[10], t[1] = q[2] * f[9] - q[0] * f[11],
        t[2] = q[0] * f[10] - q[1] * f[9];
        u[0] = q[1] * t[2] - q[2] * t[1], u[1] = q[2] * t[0] - q[0] * t[2], u[2] = q[0] * t[1] - q[1] * t[0];
        for (int i = 0; i < 3; i++) turned[i] = f[9 + i] + 2 * (w * t[i] + u[i]);
        const double *r = y + 7, *F = f + 6;
        assert_near(f[3] + turned[0] + r[1] * F[2] - r[2] * F[1], 0, 1e-11);
        assert_near(f[4] + turned[1] + r[2] * F[0] - r[0] * F[2], 0, 1e-11);
        assert_near(f[5] + turned[2] + r[0] * F[1] - r[1] * F[0], 0, 1e-11);
        mbs_mechanism_destroy(c);
    }
}

static void run(const mbs_mechanism *c, const char *method, double rtol, double t1, double *y,
                dae_stats *stats)
{
    dae_error err = {0};
    dae_options opt = dae_options_default();
    opt.method = method;
    opt.rtol = rtol;
    opt.atol = rtol;
    opt.formulation = NULL;
    assert_int_equal(mbs_mechanism_initial(c, y, &err), DAE_OK);
    if (dae_solve(mbs_mechanism_system(c), &opt, 0, t1, y, stats, &err) < 0) fail_msg("%s", err.text);
}

/* A ball of radius 0.1 hits the floor with 2 m/s; no gravity: it leaves with restitution times that, whatever its mass and k are. The touch
 * lasts 2e-3 s of 1 s, inside a step that would pass it. */
static void a_ball_rebounds_with_its_restitution(void **state)
{
    (void)state;
    static const double e[] = {0, 0.3, 0.8, 1};
    for (int k = 0; k < 4; k++) {
        for (int mass = 1; mass <= 4; mass += 3) {
            char json[700];
            snprintf(json, sizeof json,
                     DOCUMENT(3, "\"shapes\":[{\"kind\":\"plane\",\"size\":[1]}],\"bodies\":[{\"name\":"
                                 "\"ball\",\"r\":[0,0,1],\"v\":[0,0,-2],"
                                 "\"shapes\":[{\"kind\":\"sphere\",\"size\":[0.1],\"mass\":%d}]}],\"forces\":"
                                 "[{\"name\":\"f\",\"type\":"
                                 "\"collisions\",\"k\":1e6,\"restitution\":%g,\"v_r\":1e-4}]"),
                     mass, e[k]);
            mbs_mechanism *c = parse(json);
            double y[13];
            run(c, "dop853", 1e-9, 1, y, NULL);
            assert_near(y[9], 2 * e[k], e[k] == 0 ? 2e-3 : 1e-6);
            mbs_mechanism_destroy(c);
        }
    }
}

/* ---- States of rest ------------------------------------------------------------------------------------------------ */

/* A hundred spheres dropped into a box of 4 x 4 spheres come to rest: the floor carries their weight, none is lost or deep inside another,
 * energy only falls. */
static void a_hundred_spheres_come_to_rest_in_a_box(void **state)
{
    (void)state;
    mbs_mechanism *c = parse(DOCUMENT(
        3, "\"gravity\":[0,0,-9.81],\"shapes\":[{\"kind\":\"plane\",\"size\":[1]},"
           "{\"kind\":\"plane\",\"size\":[1],\"r\":[-0.25,0,0],\"q\":[0.70710678118654752,0,0."
           "70710678118654752,0]},"
           "{\"kind\":\"plane\",\"size\":[1],\"r\":[0.25,0,0],\"q\":[0.70710678118654752,0,-0."
           "70710678118654752,0]},"
           "{\"kind\":\"plane\",\"size\":[1],\"r\":[0,-0.25,0],\"q\":[0.70710678118654752,-0."
           "70710678118654752,0,0]},"
           "{\"kind\":\"plane\",\"size\":[1],\"r\":[0,0.25,0],\"q\":[0.70710678118654752,0.70710678118654752,"
           "0,0]}],"
           "\"bodies\":[{\"repeat\":{\"k\":\"0..5\",\"j\":\"0..3\",\"i\":\"0..3\"},\"name\":\"s{k}_{j}_{i}\","
           "\"r\":[\"-0.18 + 0.12*{i} + 0.003*{k}\",\"-0.18 + 0.12*{j} - 0.002*{k}\",\"0.08 + 0.125*{k}\"],"
           "\"shapes\":[{\"kind\":\"sphere\",\"size\":[0.05],\"mass\":0.5}]},"
           "{\"repeat\":{\"i\":\"0..3\"},\"name\":\"top{i}\",\"r\":[\"-0.18 + 0.12*{i}\",0,0.85],"
           "\"shapes\":[{\"kind\":\"sphere\",\"size\":[0.05],\"mass\":0.5}]}],"
           "\"forces\":[{\"name\":\"f\",\"type\":\"collisions\",\"k\":5e3,\"restitution\":0,\"mu\":0.3,\"v_"
           "s\":0.05,\"v_r\":0.2}],"
           "\"sensors\":[{\"name\":\"weight\",\"value\":\"f.force\"},{\"name\":\"deep\",\"value\":\"f."
           "deflection\"},"
           "{\"name\":\"kinetic\",\"value\":\"energy.kinetic\"}]"));
    const dae_mech *s = &mbs_mechanism_system(c)->mech;
    double *y = calloc((size_t)(s->np + s->nv), sizeof *y), value[3];
    assert_int_equal(s->nv, 600);
    run(c, "dopri5", 1e-3, 1.2, y, NULL);
    assert_int_equal(mbs_mechanism_sensors(c, 1.2, y, NULL, NULL, value, NULL), DAE_OK);
    assert_near(value[0], 100 * 0.5 * 9.81, 0.05 * 100 * 0.5 * 9.81); /* beside what still trembles */
    assert_between(value[1], 0.5 * 9.81 / 5e3, 0.02);
    assert_true(value[2] < 0.3); /* of 100 J that are gone */
    for (int k = 0; k < 100; k++) {
        const double *r = y + 7 * k;
        assert_between(r[2], 0.03, 1.0);
        assert_true(fabs(r[0]) < 0.21 && fabs(r[1]) < 0.21);
    }
    free(y);
    mbs_mechanism_destroy(c);
}

/* Two cards of 60 g lean against each other on the floor, in the plane. The angle from the vertical is a: each foot needs friction
 * tan(a)/2 of its load; with mu = 0.4 they stand at 30 degrees (0.289), with mu = 0.2 they slide down. */
static double height_of_card_house(double mu)
{
    char json[1500];
    snprintf(json, sizeof json,
             DOCUMENT(2, "\"parameters\":{\"a\":\"30[deg]\",\"h\":\"0.05*cos(a)+0.0005*sin(a)\",\"w\":\"0.05*"
                         "sin(a)+0.0005*cos(a)\"},"
                         "\"gravity\":[0,-9.81],\"shapes\":[{\"kind\":\"plane\",\"size\":[1]}],"
                         "\"bodies\":[{\"name\":\"left\",\"r\":[\"-w\",\"h\"],\"angle\":\"-a\",\"shapes\":[{"
                         "\"kind\":\"box\",\"size\":[0.001,0.1,0.06],"
                         "\"mass\":0.06}]},{\"name\":\"right\",\"r\":[\"w\",\"h\"],\"angle\":\"a\","
                         "\"shapes\":[{\"kind\":\"box\",\"size\":[0.001,0.1,0.06],"
                         "\"mass\":0.06}]}],\"forces\":[{\"name\":\"f\",\"type\":\"collisions\",\"k\":1e5,"
                         "\"restitution\":0,\"mu\":%g,\"v_s\":1e-5,"
                         "\"v_r\":1e-3}]"),
             mu);
    mbs_mechanism *c = parse(json);
    double y[12];
    run(c, "radau5", 1e-6, 1, y, NULL);
    mbs_mechanism_destroy(c);
    assert_near(y[1], y[4], 1e-4); /* both alike */
    return y[1];
}

static void a_card_house_stands_by_friction(void **state)
{
    (void)state;
    double h = 0.05 * cos(0.52359877559829887) + 0.0005 * 0.5;
    assert_near(height_of_card_house(0.4), h, 2e-4);
    assert_true(height_of_card_house(0.2) < 0.02);
}

/* A sphere between two plates of which the upper one slides: without slipping its center moves with half the speed of the plate and
 * it turns by v/(2 r). */
static void a_sphere_rolls_between_plates(void **state)
{
    (void)state;
    mbs_mechanism *c =
        parse(DOCUMENT(3, "\"gravity\":[0,0,-9.81],\"shapes\":[{\"kind\":\"plane\",\"size\":[2]}],"
                          "\"bodies\":[{\"name\":\"ball\",\"r\":[0,0,0.0999],\"shapes\":[{\"kind\":"
                          "\"sphere\",\"size\":[0.1],\"mass\":1}]},"
                          "{\"name\":\"plate\",\"r\":[0,0,0.2247],\"shapes\":[{\"kind\":\"box\",\"size\":[2,"
                          "2,0.05],\"mass\":10}]}],"
                          "\"points\":[{\"name\":\"O\",\"body\":\"ground\",\"r\":[0,0,0.2247]},{\"name\":"
                          "\"P\",\"body\":\"plate\",\"r\":[0,0,0]},"
                          "{\"name\":\"Q\",\"body\":\"plate\",\"r\":[0,0,0]}],"
                          "\"joints\":[{\"name\":\"slide\",\"type\":\"prismatic\",\"a\":\"O\",\"b\":\"P\"}],"
                          "\"drivers\":[{\"name\":\"pull\",\"joint\":\"slide\",\"value\":\"0.25*t^2\"}],"
                          "\"forces\":[{\"name\":\"f\",\"type\":\"collisions\",\"k\":1e6,\"restitution\":0,"
                          "\"mu\":0.5,\"v_s\":1e-5,\"v_r\":1e-3}]"));
    double y[40];
    run(c, "radau5", 1e-6, 1, y, NULL);
    assert_near(y[7], 0.25, 1e-8);  /* the plate, as driven */
    assert_near(y[0], 0.125, 2e-5); /* half of it */
    assert_near(y[14], 0.25, 2e-5); /* m/s */
    /* its radius less half the depth of 0.15 mm, about y */
    assert_near(fabs(y[14 + 4]), 0.25 / 0.099925, 2e-5);
    assert_near(y[1], 0, 1e-9);
    mbs_mechanism_destroy(c);
}

static void collisions_without_shapes_are_refused(void **state)
{
    (void)state;
    const char *json = DOCUMENT(2, "\"bodies\":[{\"name\":\"a\",\"mass\":1,\"inertia\":1}],"
                                   "\"forces\":[{\"name\":\"f\",\"type\":\"collisions\",\"k\":50}]");
    dae_error err = {0};
    mbs_model *m = mbs_model_parse(json, strlen(json), NULL, 0, &err);
    assert_non_null(m);
    assert_null(mbs_mechanism_create(m, &err));
    assert_non_null(strstr(err.text, "no body has a shape"));
    mbs_model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solids_know_their_distance),
        cmocka_unit_test(crossing_edges_touch_once),
        cmocka_unit_test(a_bar_across_a_box_is_carried_by_its_edges),
        cmocka_unit_test(a_capsule_across_a_box_is_carried_by_both_borders),
        cmocka_unit_test(touches_have_exact_derivatives_and_keep_momentum),
        cmocka_unit_test(a_ball_rebounds_with_its_restitution),
        cmocka_unit_test(a_hundred_spheres_come_to_rest_in_a_box),
        cmocka_unit_test(a_card_house_stands_by_friction),
        cmocka_unit_test(a_sphere_rolls_between_plates),
        cmocka_unit_test(collisions_without_shapes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
