/* Mechanisms in motion: published and analytic solutions, conserved quantities, redundant constraints. */
#include "mechanics.h"

#include "core/arena.h"
#include "linalg/saddle.h"
#include "multibody/mechanism.h"

static mbs_mechanism *model(const char *name)
{
    char path[256];
    dae_error err = {0};
    snprintf(path, sizeof path, "models/%s.json", name);
    mbs_model *m = mbs_model_load(path, &err);
    if (!m) fail_msg("%s: %s", path, err.text);
    return compile(m);
}

static double *start(const mbs_mechanism *c)
{
    dae_error err = {0};
    double *y = calloc((size_t)dae_system_size(mbs_mechanism_system(c)), sizeof *y);
    if (mbs_mechanism_initial(c, y, &err) < 0) fail_msg("%s", err.text);
    return y;
}

static void integrate(const mbs_mechanism *c, double t1, double tol, double *y)
{
    dae_error err = {0};
    dae_options o = dae_options_default();
    o.method = "mexx";
    o.rtol = o.atol = tol;
    if (dae_solve(mbs_mechanism_system(c), &o, 0, t1, y, NULL, &err) < 0) fail_msg("%s", err.text);
}

static double total_energy(const mbs_mechanism *c, double t, const double *y)
{
    dae_energy e;
    assert_int_equal(mbs_mechanism_energy(c, t, y, &e), DAE_OK);
    return e.kinetic + e.potential;
}

/* q(0.03) of the test set (reference of src/testset/andrews.c), to 1e-8 at tolerance 1e-10. */
static void andrews_from_bodies_reaches_the_reference(void **state)
{
    (void)state;
    static const double q[7] = {15.810771195153707,  -15.756371058411839, 0.0408222401196458,
                                -0.5347301163420796, 0.524409965879954,   0.5347301163420796,
                                1.048080741041938};
    mbs_mechanism *c = model("andrews");
    mbs_topology top = mbs_mechanism_topology(c);
    assert_int_equal(top.freedom, 1);
    assert_int_equal(top.loops, 3);
    assert_int_equal(top.redundant, 0);
    double *y = start(c);
    integrate(c, 0.03, 1e-10, y);
    double angle[7];
    for (int k = 0; k < 7; k++) angle[k] = y[3 * k + 2];
    assert_near(angle[0], q[0], 1e-8);
    assert_near(angle[1] - angle[0], q[1], 1e-8);
    assert_near(angle[2], q[2], 1e-8);
    assert_near(angle[3] - angle[4], q[3], 1e-8);
    assert_near(angle[4], q[4], 1e-8);
    assert_near(angle[5] - angle[6], q[5], 1e-8);
    assert_near(angle[6], q[6], 1e-8);
    free(y);
    mbs_mechanism_destroy(c);
}

/* models/truck.json on its waves against the built-in problem, to 1e-8 of the size of each kind of component. */
static void truck_from_bodies_is_the_built_in_one(void **state)
{
    (void)state;
    static const int height[7] = {0, 1, 2, 4, 6, 8, 9}, pitch[7] = {-1, -1, 3, 5, 7, -1, 10};
    dae_error err = {0};
    dae_problem *p = dae_problem_create("truck", NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    mbs_mechanism *c = model("truck");
    double *y = start(c), z[22], t[] = {0, 0.3, 1};
    mbs_topology top = mbs_mechanism_topology(c);
    assert_int_equal(top.freedom, 10);
    assert_int_equal(top.redundant, 0);
    memcpy(z, p->y0, sizeof z);
    for (int k = 0; k < 2; k++) { /* the rear axle comes to the waves at 0.3 */
        dae_options o = dae_options_default();
        o.method = "mexx";
        o.rtol = o.atol = 1e-12;
        if (dae_solve(mbs_mechanism_system(c), &o, t[k], t[k + 1], y, NULL, &err) < 0)
            fail_msg("%s", err.text);
        if (dae_solve(&p->system, &o, t[k], t[k + 1], z, NULL, &err) < 0) fail_msg("%s", err.text);
    }
    const double *v = y + mbs_mechanism_system(c)->mech.np;
    for (int k = 0; k < 7; k++) { /* body 0 is the carrier */
        int i = 3 * (k + 1);
        assert_near(y[i + 1], z[height[k]], 1e-8);
        assert_near(v[i + 1], z[11 + height[k]], 1e-8);
        assert_near(y[i + 2], pitch[k] < 0 ? 0 : z[pitch[k]], 1e-9);
        assert_near(v[i + 2], pitch[k] < 0 ? 0 : z[11 + pitch[k]], 1e-8);
        assert_near(v[i], 15, 1e-11);
    }
    double sensor[2];
    if (mbs_mechanism_sensors(c, 1, y, NULL, NULL, sensor, &err) < 0) fail_msg("%s", err.text);
    assert_near(fabs(sensor[1]), 63309.483784, 1e-3); /* the multiplier of the reference */
    free(y);
    mbs_mechanism_destroy(c);
    dae_problem_destroy(p);
}

/* The first line of the tour in the style guide, from an independent integrator. */
static void double_pendulum_agrees_with_the_tour(void **state)
{
    (void)state;
    mbs_mechanism *c = model("double_pendulum");
    double *y = start(c);
    integrate(c, 1, 1e-9, y);
    assert_near(y[0], -4.67404e-01, 1e-6);
    assert_near(y[1], -1.77578e-01, 1e-6);
    assert_near(total_energy(c, 1, y), 0, 1e-7);
    free(y);
    mbs_mechanism_destroy(c);
}

/* r(0.2) of the heavy top, from an independent implementation of the same formulas (7 digits). */
static void heavy_top_reaches_the_known_place(void **state)
{
    (void)state;
    mbs_mechanism *c = model("spinning_top");
    double *y = start(c);
    integrate(c, 0.2, 1e-10, y);
    assert_near(y[0], 0.6055506, 1e-6);
    assert_near(y[1], 0.5989577, 1e-6);
    assert_near(y[2], -0.5239830, 1e-6);
    free(y);
    mbs_mechanism_destroy(c);
}

/* A free symmetric body: its axis precesses about the angular momentum with |H|/J1; H, v are constant. */
static void free_body_obeys_euler(void **state)
{
    (void)state;
    const double J1 = 0.4, J3 = 1, w0[3] = {0.3, 0, 2}, t1 = 3;
    mbs_model *m = mbs_model_create("free", MBS_SPATIAL);
    mbs_model_add_body(
        m,
        &(mbs_body){
            .name = "body", .mass = 2, .inertia = {J1, J1, J3 / 1.3}, .v = {1, 2, 3}, .omega = {0.3, 0, 2}});
    mbs_mechanism *c = compile(m);
    double *y = start(c);
    double J3m = J3 / 1.3, slip = (J3m - J1) / J1 * w0[2];
    integrate(c, t1, 1e-11, y);
    const double *w = y + 10;
    assert_near(w[0], w0[0] * cos(slip * t1), 1e-8);
    assert_near(w[1], w0[0] * sin(slip * t1), 1e-8);
    assert_near(w[2], w0[2], 1e-10);
    assert_near(y[0], t1, 1e-9);
    assert_near(y[2], 3 * t1, 1e-9);
    /* angular momentum in global axes */
    double H[3] = {J1 * w[0], J1 * w[1], J3m * w[2]}, A[9], e[4];
    memcpy(e, y + 3, sizeof e);
    A[0] = 1 - 2 * (e[2] * e[2] + e[3] * e[3]), A[1] = 2 * (e[1] * e[2] - e[0] * e[3]),
    A[2] = 2 * (e[1] * e[3] + e[0] * e[2]);
    A[3] = 2 * (e[1] * e[2] + e[0] * e[3]), A[4] = 1 - 2 * (e[1] * e[1] + e[3] * e[3]),
    A[5] = 2 * (e[2] * e[3] - e[0] * e[1]);
    A[6] = 2 * (e[1] * e[3] - e[0] * e[2]), A[7] = 2 * (e[2] * e[3] + e[0] * e[1]),
    A[8] = 1 - 2 * (e[1] * e[1] + e[2] * e[2]);
    assert_near(A[0] * H[0] + A[1] * H[1] + A[2] * H[2], J1 * w0[0], 1e-8);
    assert_near(A[3] * H[0] + A[4] * H[1] + A[5] * H[2], 0, 1e-8);
    assert_near(A[6] * H[0] + A[7] * H[1] + A[8] * H[2], J3m * w0[2], 1e-8);
    free(y);
    mbs_mechanism_destroy(c);
}

/* Small swings of a rod: period 2 pi sqrt(2 L/(3 g)); bearing force at rest is the weight. */
static void pendulum_period_and_reaction(void **state)
{
    (void)state;
    mbs_model *m = mbs_model_create("rod", MBS_PLANAR);
    mbs_model_set_gravity(m, 0, -9.81, 0);
    mbs_model_add_body(m, &(mbs_body){.name = "rod",
                                      .mass = 3,
                                      .inertia = {0, 0, 3 / 12.0},
                                      .center = {0.5 * sin(1e-3), -0.5 * cos(1e-3)},
                                      .angle = 1e-3});
    mbs_model_add_joint(m, &(mbs_joint){.name = "pin", .type = "revolute", .a = MBS_GROUND, .b = 1});
    mbs_mechanism *c = compile(m);
    double *y = start(c), a[3], lambda[2];
    assert_int_equal(mbs_mechanism_acceleration(c, 0, y, a, lambda, NULL), DAE_OK);
    assert_near(a[2], -1.5 * 9.81 * sin(1e-3), 1e-12);
    assert_near(-lambda[1], 3 * 9.81, 1e-4);
    integrate(c, 6.283185307179586 * sqrt(2 / (3 * 9.81)), 1e-11, y);
    assert_near(y[2], 1e-3, 1e-8);
    free(y);
    mbs_mechanism_destroy(c);
}

static void conservative_mechanisms_keep_their_energy(void **state)
{
    (void)state;
    static const char *const names[] = {"four_bar", "spherical_pendulum", "double_pendulum", "pendulum"};
    for (int k = 0; k < 4; k++) {
        mbs_mechanism *c = model(names[k]);
        double *y = start(c), before = total_energy(c, 0, y), tol = 1e-8;
        integrate(c, 1, tol, y);
        assert_near(total_energy(c, 1, y), before, 100 * tol * (1 + fabs(before)));
        free(y);
        mbs_mechanism_destroy(c);
    }
}

/* A four-bar described in space: three of the constraints of a planar loop are superfluous. */
static void planar_loop_in_space_has_three_redundant_rows(void **state)
{
    (void)state;
    static const double x[4][2] = {{0, 0}, {0, 1}, {2, 1.5}, {3, 0}};
    static const char *const names[] = {"crank", "coupler", "rocker"};
    mbs_model *m = mbs_model_create("loop", MBS_SPATIAL);
    mbs_model_set_gravity(m, 0, -9.81, 0);
    for (int k = 0; k < 3; k++) {
        mbs_model_add_body(m,
                           &(mbs_body){.name = names[k],
                                       .mass = 1,
                                       .inertia = {0.1, 0.1, 0.1},
                                       .center = {(x[k][0] + x[k + 1][0]) / 2, (x[k][1] + x[k + 1][1]) / 2}});
    }
    for (int k = 0; k < 4; k++) {
        static const char *const joint[] = {"J1", "J2", "J3", "J4"};
        mbs_model_add_joint(m, &(mbs_joint){.name = joint[k],
                                            .type = "revolute",
                                            .a = k,
                                            .b = k == 3 ? MBS_GROUND : k + 1,
                                            .at = {x[k][0], x[k][1]},
                                            .axis = {0, 0, 1}});
    }
    mbs_mechanism *c = compile(m);
    mbs_topology top = mbs_mechanism_topology(c);
    assert_int_equal(top.constraints, 20);
    assert_int_equal(top.redundant, 3);
    assert_int_equal(top.freedom, 1);
    for (int k = 0; k < 3; k++)
        assert_string_equal(mbs_mechanism_redundant(c, k, NULL), mbs_mechanism_redundant(c, 0, NULL));
    double *y = start(c), before = total_energy(c, 0, y);
    integrate(c, 0.5, 1e-9, y);
    assert_near(total_energy(c, 0.5, y), before, 1e-6);
    free(y);
    mbs_mechanism_destroy(c);
}

static void friction_slows_a_sliding_block(void **state)
{
    (void)state;
    mbs_model *m = mbs_model_create("block", MBS_PLANAR);
    mbs_model_set_gravity(m, 0, -9.81, 0);
    mbs_model_add_body(m, &(mbs_body){.name = "block", .mass = 2, .inertia = {0, 0, 1}, .v = {3, 0}});
    mbs_model_add_point(m, &(mbs_point){.name = "O"});
    mbs_model_add_point(m, &(mbs_point){.name = "S", .body = 1});
    mbs_model_add_joint(m, &(mbs_joint){.name = "slide",
                                        .type = "prismatic",
                                        .point_a = "O",
                                        .point_b = "S",
                                        .friction = {.mu = 0.2, .v_s = 1e-3}});
    mbs_mechanism *c = compile(m);
    double *y = start(c), a[3];
    assert_int_equal(mbs_mechanism_acceleration(c, 0, y, a, NULL, NULL), DAE_OK);
    assert_near(a[0], -0.2 * 9.81, 1e-9);
    free(y);
    mbs_mechanism_destroy(c);
}

static void impossible_assembly_names_the_joint(void **state)
{
    (void)state;
    mbs_model *m = mbs_model_create("rod", MBS_PLANAR);
    mbs_model_add_body(m, &(mbs_body){.name = "rod", .mass = 1, .inertia = {0, 0, 1}});
    mbs_model_add_point(m, &(mbs_point){.name = "O"});
    mbs_model_add_point(m, &(mbs_point){.name = "Q", .r = {5, 0, 0}});
    mbs_model_add_point(m, &(mbs_point){.name = "A", .body = 1, .r = {-0.5, 0, 0}});
    mbs_model_add_point(m, &(mbs_point){.name = "B", .body = 1, .r = {0.5, 0, 0}});
    mbs_model_add_joint(m, &(mbs_joint){.name = "left", .type = "revolute", .point_a = "O", .point_b = "A"});
    mbs_model_add_joint(m, &(mbs_joint){.name = "right", .type = "revolute", .point_a = "Q", .point_b = "B"});
    mbs_mechanism *c = compile(m);
    double y[6];
    dae_error err = {0};
    assert_int_equal(mbs_mechanism_initial(c, y, &err), DAE_ERR_INCONSISTENT);
    assert_non_null(strstr(err.text, "stays open by 2"));
    mbs_mechanism_destroy(c);
}

/* Six rods on pins; in space the axes are y and z in turn. */
static mbs_model *chain(int space)
{
    static const char *const rod[] = {"b1", "b2", "b3", "b4", "b5", "b6"};
    static const char *const pin[] = {"j1", "j2", "j3", "j4", "j5", "j6"};
    mbs_model *m = mbs_model_create("chain", space);
    mbs_model_set_gravity(m, 0, -9.81, 0);
    for (int k = 0; k < 6; k++) {
        double turn = space == MBS_SPATIAL ? k % 2 : 0, rest = space == MBS_SPATIAL ? 1 - turn : 0;
        mbs_model_add_body(m, &(mbs_body){.name = rod[k],
                                          .mass = 1 + k,
                                          .inertia = {0.01, 1 / 12.0, 1 / 11.0},
                                          .center = {k + 0.5}});
        mbs_model_add_joint(
            m,
            &(mbs_joint){
                .name = pin[k], .type = "revolute", .a = k, .b = k + 1, .at = {k}, .axis = {0, turn, rest}});
    }
    return m;
}

/* The tree that topology finds, eliminated body by body, gives what dense least squares gives. */
static void chains_have_the_same_accelerations_by_recursion(void **state)
{
    (void)state;
    static const char *const modes[] = {"recursive_constraint", "recursive_joint"};
    for (int k = 0; k < 4; k++) {
        mbs_mechanism *c = compile(chain(k < 2 ? MBS_PLANAR : MBS_SPATIAL));
        const dae_mech *s = &mbs_mechanism_system(c)->mech;
        double *y = start(c), a[36], lambda[30], w[36], l[30], G[400];
        int block[6];
        for (int i = 0; i < s->nv; i++) y[s->np + i] = 0.3 * sin(i + 1.0);
        for (int i = 0; i < 6; i++) block[i] = c->bv;
        assert_true(s->G_colptr[s->nv] <= 400);
        assert_int_equal(mbs_mechanism_acceleration(c, 0, y, a, lambda, NULL), DAE_OK);
        dae_arena *arena = dae_arena_create();
        dae_error err = {0};
        dae_saddle *saddle = dae_saddle_create(&(dae_saddle_spec){.mode = modes[k % 2],
                                                                  .nv = s->nv,
                                                                  .nl = s->nlambda,
                                                                  .block = block,
                                                                  .nblock = 6,
                                                                  .colptr = s->G_colptr,
                                                                  .rowind = s->G_rowind,
                                                                  .parent = s->parent,
                                                                  .row_joint = s->row_joint},
                                               arena, &err);
        if (!saddle) fail_msg("%s", err.text);
        dae_mech_point x = {.t = 0, .p = y, .v = y + s->np};
        s->constraint_sparse(&x, NULL, G, s->user);
        s->force(&x, w, s->user);
        s->gamma(&x, l, s->user);
        for (int i = 0; i < s->nlambda; i++) l[i] = -l[i];
        assert_int_equal(dae_saddle_factor(saddle, c->blocks, G, NULL), 0);
        dae_saddle_solve(saddle, w, l);
        for (int i = 0; i < s->nv; i++) assert_near(w[i], a[i], 1e-10 * (1 + fabs(a[i])));
        for (int i = 0; i < s->nlambda; i++) assert_near(l[i], lambda[i], 1e-10 * (1 + fabs(lambda[i])));
        dae_saddle_destroy(saddle);
        dae_arena_destroy(arena);
        free(y);
        mbs_mechanism_destroy(c);
    }
}

/* Accelerations of the printed Jacobian (four decimals) of the web cutter: J q'' = gamma, in cm and rad. */
static void web_cutter_has_the_printed_accelerations(void **state)
{
    (void)state;
    static const double printed[9] = {-6.1949,   -78.7134,    0,         -147.836989, -72.411491,
                                      14.818679, -126.293101, -4.312308, 11.257701};
    mbs_mechanism *c = model("web_cutter");
    double *y = start(c), a[9];
    assert_near(y[9 + 2], 2 * 3.14159265358979323846, 1e-9);
    assert_int_equal(mbs_mechanism_acceleration(c, 0, y, a, NULL, NULL), DAE_OK);
    for (int i = 0; i < 9; i++) assert_near(a[i] * (i % 3 == 2 ? 1 : 100), printed[i], 0.01);
    free(y);
    mbs_mechanism_destroy(c);
}

/* Double pendulum of [RNY] from rest, at t = 2: an independent integration of its two angles with 13 digits. */
static void stiff_double_pendulum_reaches_its_reference(void **state)
{
    (void)state;
    dae_error err = {0};
    mbs_mechanism *c = model("stiff_double_pendulum");
    double *y = start(c);
    dae_options o = dae_options_default();
    o.method = "radau5";
    o.rtol = o.atol = 1e-10;
    if (dae_solve(mbs_mechanism_system(c), &o, 0, 2, y, NULL, &err) < 0) fail_msg("%s", err.text);
    assert_near(y[2], 4.6018805320814, 1e-8);
    assert_near(y[5], 4.6018890395661, 1e-8);
    assert_near(y[6 + 2], -1.395156517411, 1e-7);
    assert_near(y[6 + 5], -1.395514592163, 1e-7);
    free(y);
    mbs_mechanism_destroy(c);
}

/* Two free bodies on a ball joint with a spring between them: linear momentum is kept to rounding, angular momentum and
 * energy to the tolerance. */
static void free_pair_keeps_its_momenta(void **state)
{
    (void)state;
    const double tol = 1e-9;
    mbs_model *m = mbs_model_create("pair", MBS_SPATIAL);
    mbs_model_add_body(
        m, &(mbs_body){
               .name = "one", .mass = 2, .inertia = {1, 1.2, 0.9}, .v = {1, -2, 0.5}, .omega = {1, 2, -1}});
    mbs_model_add_body(
        m, &(mbs_body){
               .name = "two", .mass = 3, .inertia = {0.7, 0.8, 1}, .center = {1, 0, 0}, .v = {1, 0, 0.5}});
    mbs_model_add_point(m, &(mbs_point){.name = "A", .body = 1, .r = {0, 0.3, 0}});
    mbs_model_add_point(m, &(mbs_point){.name = "B", .body = 2, .r = {0.2, 0.4, 0}});
    mbs_model_add_joint(m,
                        &(mbs_joint){.name = "ball", .type = "spherical", .a = 1, .b = 2, .at = {0.5, 0, 0}});
    mbs_model_add_force(m, &(mbs_force){.name = "S",
                                        .type = "spring",
                                        .point_a = "A",
                                        .point_b = "B",
                                        .field = {{"k", .number = 50}, {"l0", .number = 1}}});
    mbs_mechanism *c = compile(m);
    double *y = start(c), P[2][3], L[2][3], E[2];
    for (int k = 0; k < 2; k++) {
        if (k) integrate(c, 2, tol, y);
        mbs_context x = mbs_begin(c, 0, y, y + c->np);
        for (int i = 0; i < 3; i++) P[k][i] = L[k][i] = 0;
        for (int b = 1; b <= 2; b++) {
            double Jw[3], spin[3], orbit[3];
            mbs_rotate(c->inertia + 9 * (b - 1), x.pose[b].w, Jw);
            mbs_rotate(x.pose[b].A, Jw, spin);
            mbs_cross(x.pose[b].r, x.pose[b].v, orbit);
            for (int i = 0; i < 3; i++) {
                P[k][i] += c->mass[b - 1] * x.pose[b].v[i];
                L[k][i] += spin[i] + c->mass[b - 1] * orbit[i];
            }
        }
        mbs_end(&x);
        E[k] = total_energy(c, 0, y);
    }
    for (int i = 0; i < 3; i++) {
        assert_near(P[1][i], P[0][i], 2e-11); /* rounding of some thousand substeps */
        assert_near(L[1][i], L[0][i], 100 * tol);
    }
    assert_near(E[1], E[0], 100 * tol);
    free(y);
    mbs_mechanism_destroy(c);
}

/* A parallelogram on one line is told; a frame without mass is told only where it can move. */
static void singular_pose_and_loose_frame_are_warned_of(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        mbs_model *m = mbs_model_create("bars", MBS_PLANAR);
        double flat = k == 0 ? 0 : 1.5;
        mbs_model_add_body(
            m, &(mbs_body){"left", 1, {0, 0, 1}, .center = {cos(flat) / 2, sin(flat) / 2}, .angle = flat});
        mbs_model_add_body(
            m, &(mbs_body){"top", k ? 0 : 1, {0, 0, k ? 0 : 1}, .center = {cos(flat) + 1, sin(flat)}});
        mbs_model_add_body(
            m,
            &(mbs_body){"right", 1, {0, 0, 1}, .center = {2 + cos(flat) / 2, sin(flat) / 2}, .angle = flat});
        mbs_model_add_joint(m, &(mbs_joint){.name = "J1", .type = "revolute", .a = 0, .b = 1});
        mbs_model_add_joint(
            m, &(mbs_joint){.name = "J2", .type = "revolute", .a = 1, .b = 2, .at = {cos(flat), sin(flat)}});
        if (k < 2)
            mbs_model_add_joint(
                m, &(mbs_joint){
                       .name = "J3", .type = "revolute", .a = 2, .b = 3, .at = {2 + cos(flat), sin(flat)}});
        mbs_model_add_joint(m, &(mbs_joint){.name = "J4", .type = "revolute", .a = 0, .b = 3, .at = {2, 0}});
        mbs_mechanism *c = compile(m);
        const char *text = mbs_mechanism_warning(c, 0);
        if (k == 0) assert_non_null(strstr(text, "singular: there joint \"J"));
        if (k == 1) assert_null(text);
        if (k == 2) assert_string_equal(text, "body \"top\" has no mass, and no joint holds it");
        mbs_mechanism_destroy(c);
    }
}

/* Rods have no inertia about their axis (x): a revolute joint across it holds the first, a spherical one does not hold the second, and
 * the third is free. In the plane two point masses. */
static void rod_without_inertia_is_named(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        mbs_model *m = mbs_model_create("rods", k < 3 ? MBS_SPATIAL : MBS_PLANAR);
        mbs_body held = {"held", 1, {0, 0.1, 0.1}, .center = {0.5, 0, 0}, .q = {1}},
                 lone = {"lone", 1, {k == 3 ? 1 : 0, 0.1, k == 3 ? 0 : 0.1}, .center = {1.5, 0, 0}, .q = {1}};
        if (k == 3) held.inertia[2] = 0;
        mbs_model_add_body(m, &held);
        if (k) mbs_model_add_body(m, &lone);
        mbs_model_add_joint(
            m, &(mbs_joint){.name = "J1", .type = "revolute", .a = 0, .b = 1, .axis = {0, 0, k < 3}});
        if (k == 1)
            mbs_model_add_joint(
                m, &(mbs_joint){.name = "J2", .type = "spherical", .a = 1, .b = 2, .at = {1, 0, 0}});
        mbs_mechanism *c = compile(m);
        int found = 0;
        for (int i = 0; mbs_mechanism_warning(c, i); i++)
            found |= strstr(mbs_mechanism_warning(c, i), "body \"lone\" has no inertia about") != NULL;
        assert_int_equal(found, k > 0);
        mbs_mechanism_destroy(c);
    }
}

/* A joint belongs to the body that it hangs from its parent, whichever of the two it names first: no row of a chain closes a loop. */
static void rows_belong_to_the_body_below_their_joint(void **state)
{
    (void)state;
    for (int order = 0; order < 2; order++) {
        mbs_model *m = mbs_model_create("chain", MBS_PLANAR);
        static const char *const rod[] = {"b1", "b2", "b3", "b4"}, *const pin[] = {"j1", "j2", "j3", "j4"};
        for (int k = 0; k < 4; k++) {
            mbs_model_add_body(m,
                               &(mbs_body){.name = rod[k], .mass = 1, .inertia = {0.1}, .center = {k + 0.5}});
            mbs_model_add_joint(m, &(mbs_joint){.name = pin[k],
                                                .type = "revolute",
                                                .a = order ? k + 1 : k,
                                                .b = order ? k : k + 1,
                                                .at = {k}});
        }
        mbs_mechanism *c = compile(m);
        const dae_mech *s = &mbs_mechanism_system(c)->mech;
        assert_int_equal(s->nlambda, 8);
        for (int k = 0; k < 4; k++) assert_int_equal(s->parent[k], k - 1);
        for (int i = 0; i < 8; i++) assert_int_equal(s->row_joint[i], i / 2);
        mbs_mechanism_destroy(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_pair_keeps_its_momenta),
        cmocka_unit_test(web_cutter_has_the_printed_accelerations),
        cmocka_unit_test(stiff_double_pendulum_reaches_its_reference),
        cmocka_unit_test(andrews_from_bodies_reaches_the_reference),
        cmocka_unit_test(truck_from_bodies_is_the_built_in_one),
        cmocka_unit_test(singular_pose_and_loose_frame_are_warned_of),
        cmocka_unit_test(double_pendulum_agrees_with_the_tour),
        cmocka_unit_test(heavy_top_reaches_the_known_place),
        cmocka_unit_test(free_body_obeys_euler),
        cmocka_unit_test(pendulum_period_and_reaction),
        cmocka_unit_test(conservative_mechanisms_keep_their_energy),
        cmocka_unit_test(planar_loop_in_space_has_three_redundant_rows),
        cmocka_unit_test(friction_slows_a_sliding_block),
        cmocka_unit_test(impossible_assembly_names_the_joint),
        cmocka_unit_test(chains_have_the_same_accelerations_by_recursion),
        cmocka_unit_test(rod_without_inertia_is_named),
        cmocka_unit_test(rows_belong_to_the_body_below_their_joint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
