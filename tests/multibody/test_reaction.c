/* Reactions where redundant constraints share a load: of least norm, and the unique ones unchanged. */
#include "mechanics.h"

#include "linalg/least_squares.h"
#include "multibody/mechanism.h"

static double *start(const mbs_mechanism *c)
{
    dae_error err = {0};
    double *y = calloc((size_t)dae_system_size(mbs_mechanism_system(c)), sizeof *y);
    if (mbs_mechanism_initial(c, y, &err) < 0) fail_msg("%s", err.text);
    return y;
}

static void reactions(const mbs_mechanism *c, const double *y, double (*out)[6])
{
    dae_error err = {0};
    double *lambda = calloc((size_t)c->nlambda + 1, sizeof *lambda);
    if (mbs_mechanism_acceleration(c, 0, y, NULL, lambda, &err) < 0) fail_msg("%s", err.text);
    for (int k = 0; k < mbs_mechanism_joint_count(c); k++)
        assert_int_equal(mbs_mechanism_reaction(c, k, 0, y, lambda, out[k], out[k] + 3), DAE_OK);
    free(lambda);
}

/* A door 1 m wide of 12 kg on two hinges 2 h = 1.6 m apart. Each carries half of the weight; the moment M = m g w/2 is taken
 * by a pair of forces F and by two torques T, 2 h F + 2 T = M. Least F^2 + (T/length)^2: F = k h, T = k length^2 with
 * k = M/(2 h^2 + 2 length^2), length^2 = (w/2)^2 + h^2. */
static void door_on_two_hinges_shares_its_weight(void **state)
{
    (void)state;
    const double h = 0.8, w = 1, mass = 12, g = 9.81, length2 = w * w / 4 + h * h, M = mass * g * w / 2;
    const double k = M / (2 * h * h + 2 * length2);
    mbs_model *m = mbs_model_create("door", MBS_SPATIAL);
    mbs_model_set_gravity(m, 0, 0, -g);
    mbs_model_add_body(m, &(mbs_body){.name = "door", .mass = mass, .inertia = {3, 4, 1}, .center = {w / 2}});
    mbs_model_add_joint(
        m,
        &(mbs_joint){.name = "low", .type = "revolute", .a = 0, .b = 1, .at = {0, 0, -h}, .axis = {0, 0, 1}});
    mbs_model_add_joint(
        m,
        &(mbs_joint){.name = "high", .type = "revolute", .a = 0, .b = 1, .at = {0, 0, h}, .axis = {0, 0, 1}});
    mbs_mechanism *c = compile(m);
    mbs_topology top = mbs_mechanism_topology(c);
    double *y = start(c), r[2][6];
    assert_int_equal(top.redundant, 5);
    assert_int_equal(top.freedom, 1);
    reactions(c, y, r);
    for (int j = 0; j < 2; j++) {
        double side = j ? -1 : 1; /* the lower hinge pushes the door away, the upper one holds it */
        assert_near(r[j][0], side * k * h, 1e-10);
        assert_near(r[j][1], 0, 1e-10);
        assert_near(r[j][2], mass * g / 2, 1e-10);
        assert_near(r[j][3], 0, 1e-10);
        assert_near(r[j][4], -k * length2, 1e-10);
        assert_near(r[j][5], 0, 1e-10);
    }
    free(y);
    mbs_mechanism_destroy(c);
}

/* The four-bar of the plane with revolute joints of space: the reactions in the plane are those of the planar model, and
 * nothing out of the plane (any multiple of the redundant ones would do). */
static mbs_mechanism *four_bar(int space)
{
    static const double x[4][2] = {{0, 0}, {0, 1}, {2, 1.5}, {3, 0}};
    static const char *const names[] = {"crank", "coupler", "rocker"}, *const joint[] = {"J1", "J2", "J3",
                                                                                         "J4"};
    mbs_model *m = mbs_model_create("loop", space);
    mbs_model_set_gravity(m, 0, -9.81, 0);
    for (int k = 0; k < 3; k++)
        mbs_model_add_body(m,
                           &(mbs_body){.name = names[k],
                                       .mass = 1 + k,
                                       .inertia = {0.1, 0.1, 0.1},
                                       .center = {(x[k][0] + x[k + 1][0]) / 2, (x[k][1] + x[k + 1][1]) / 2},
                                       .omega = {0, 0, k == 0 ? 2 : 0}});
    for (int k = 0; k < 4; k++)
        mbs_model_add_joint(m, &(mbs_joint){.name = joint[k],
                                            .type = "revolute",
                                            .a = k,
                                            .b = k == 3 ? MBS_GROUND : k + 1,
                                            .at = {x[k][0], x[k][1]},
                                            .axis = {0, 0, space == MBS_SPATIAL}});
    return compile(m);
}

static void planar_loop_in_space_has_the_planar_reactions(void **state)
{
    (void)state;
    mbs_mechanism *flat = four_bar(MBS_PLANAR), *deep = four_bar(MBS_SPATIAL);
    double *y2 = start(flat), *y3 = start(deep), r2[4][6], r3[4][6];
    reactions(flat, y2, r2);
    reactions(deep, y3, r3);
    for (int k = 0; k < 4; k++) {
        assert_true(fabs(r2[k][0]) + fabs(r2[k][1]) > 1);
        for (int i = 0; i < 6; i++) assert_near(r3[k][i], i < 2 ? r2[k][i] : 0, 1e-8);
    }
    free(y2), free(y3);
    mbs_mechanism_destroy(flat);
    mbs_mechanism_destroy(deep);
}

/* All rows put the same force on the bodies as those of the system, and of least norm: lambda w^2 = G z for some z. */
static void bricard_reactions_are_least(void **state)
{
    (void)state;
    dae_error err = {0};
    mbs_model *m = mbs_model_load("models/bricard.json", &err);
    if (!m) fail_msg("%s", err.text);
    mbs_mechanism *c = compile(m);
    size_t nrow = (size_t)c->nrow, nv = (size_t)c->nv, nl = (size_t)c->nlambda;
    assert_int_equal(c->nredundant, 1);
    double *y = start(c), *lambda = calloc(nl, sizeof *lambda), *all = calloc(nrow, sizeof *all);
    double *G = calloc(nrow * nv, sizeof *G), *A = calloc(nrow * nv, sizeof *A),
           *b = calloc(nrow + nv, sizeof *b);
    double *Gs = calloc(nl * nv, sizeof *Gs), largest = 0;
    assert_int_equal(mbs_mechanism_acceleration(c, 0, y, NULL, lambda, NULL), DAE_OK);
    assert_int_equal(mbs_mechanism_multipliers(c, 0, y, lambda, all), DAE_OK);
    mbs_context x = mbs_begin(c, 0, y, NULL);
    mbs_all_rows(&x, NULL, G, NULL, NULL);
    mbs_end(&x);
    dae_mech_point at = {.t = 0, .p = y};
    c->system.mech.constraint(&at, NULL, Gs, c->system.mech.user);
    for (size_t k = 0; k < nv; k++) {
        double difference = 0;
        for (size_t i = 0; i < nrow; i++) difference += G[k * nrow + i] * all[i];
        for (size_t i = 0; i < nl; i++) difference -= Gs[k * nl + i] * lambda[i];
        assert_near(difference, 0, 1e-10);
    }
    /* every bar has its joints 0.5 from its center: length 0.5; torques are the rows of type dot1 */
    for (int k = 0; k < c->nrows; k++) {
        for (int i = 0; i < c->row[k].count; i++) {
            double weight = c->row[k].type == &mbs_row_dot1 ? 2 : 1;
            b[c->row[k].first + i] = all[c->row[k].first + i] * weight * weight;
        }
    }
    double *keep = calloc(nrow, sizeof *keep);
    memcpy(keep, b, nrow * sizeof *b);
    memcpy(A, G, nrow * nv * sizeof *A);
    assert_int_equal(dae_least_squares((int)nrow, (int)nv, A, b, 1e-10), (int)nl);
    for (size_t i = 0; i < nrow; i++) {
        for (size_t k = 0; k < nv; k++) keep[i] -= G[k * nrow + i] * b[k];
        assert_near(keep[i], 0, 1e-9);
        largest = fmax(largest, fabs(all[i]));
    }
    assert_true(largest > 1);
    free(y), free(lambda), free(all), free(G), free(A), free(b), free(Gs), free(keep);
    mbs_mechanism_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(door_on_two_hinges_shares_its_weight),
        cmocka_unit_test(planar_loop_in_space_has_the_planar_reactions),
        cmocka_unit_test(bricard_reactions_are_least),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
