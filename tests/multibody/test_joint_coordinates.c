/* Joint coordinates against the coordinates of the bodies: the same poses, velocities, accelerations, trajectories. */
#include "mechanics.h"

#include "multibody/acceleration.h"
#include "multibody/joint_coordinates.h"

/* ground - revolute - b1 - TYPE - b2 - TYPE - b3, and b4 on b1; turned: joints are described from son to parent. TYPE none:
 * b2 and b3 are free, and nothing hangs on them. */
static mbs_mechanism *tree_with(const char *type, int space, int turned, int loads)
{
    mbs_model *m = mbs_model_create(type, space);
    mbs_model_set_gravity(m, 0.4, -9.81, 0.7);
    static const char *const name[] = {"b1", "b2", "b3", "b4"};
    static const int on[] = {0, 1, 2, 1};
    for (int k = 0; k < 4; k++) {
        double a = 0.3 * k, half = 0.2 * (k + 1), n = sqrt(1 + 3 * half * half);
        mbs_model_add_body(m, &(mbs_body){.name = name[k],
                                          .mass = 1 + 0.2 * k,
                                          .inertia = {0.3, 0.35, 0.4, 0.02, -0.03, 0.01},
                                          .center = {0.5 + k, 0.1 * k, space == MBS_SPATIAL ? 0.2 * k : 0},
                                          .angle = a,
                                          .q = {1 / n, half / n, -half / n, half / n}});
    }
    for (int k = 0; k < 4; k++) {
        char joint[] = {'j', (char)('1' + k), 0};
        int flip = turned && k > 0, special = k == 1 || k == 2, rod = special && !strcmp(type, "distance"),
            screw = special && !strcmp(type, "screw");
        if (special && !strcmp(type, "none")) continue;
        char a[] = {'A', (char)('1' + k), 0}, b[] = {'B', (char)('1' + k), 0};
        mbs_model_add_point(m, &(mbs_point){.name = a, .body = on[k], .r = {0.1, -0.2}});
        mbs_model_add_point(m, &(mbs_point){.name = b, .body = k + 1, .r = {0.2, 0.3}});
        mbs_model_add_joint(m, &(mbs_joint){.name = joint,
                                            .type = special ? type : "revolute",
                                            .a = flip ? k + 1 : on[k],
                                            .b = flip ? on[k] : k + 1,
                                            .at = {k, 0.2, space == MBS_SPATIAL ? 0.1 : 0},
                                            .axis = {0.3, 1, space == MBS_SPATIAL ? 0.5 * k : 0},
                                            .point_a = rod ? a : NULL,
                                            .point_b = rod ? b : NULL,
                                            .field = {{rod     ? "length"
                                                       : screw ? "pitch"
                                                               : NULL,
                                                       .number = rod ? 1 : 0.3}}});
    }
    if (loads) {
        mbs_model_add_point(m, &(mbs_point){.name = "P", .body = 3, .r = {0.3, 0.2}});
        mbs_model_add_point(m, &(mbs_point){.name = "O"});
        mbs_model_add_force(
            m, &(mbs_force){.name = "spring",
                            .type = "spring",
                            .point_a = "O",
                            .point_b = "P",
                            .field = {{"k", .number = 40}, {"c", .number = 3}, {"l0", .number = 1}}});
    }
    return compile(m);
}

typedef struct states {
    const dae_mech *mech;
    const dae_joint_form *j;
    int n, nz;
    void *work;
    double *y, *z; /* of the bodies, of the joints */
} states;

static states states_of(const mbs_mechanism *c)
{
    states x = {.mech = &mbs_mechanism_system(c)->mech};
    x.j = x.mech->joint;
    assert_non_null(x.j);
    x.n = dae_system_size(mbs_mechanism_system(c));
    x.nz = x.j->nq + x.j->ns + x.mech->nu;
    x.work = calloc(1, x.j->work_size);
    x.y = calloc((size_t)x.n, sizeof *x.y);
    x.z = calloc((size_t)x.nz, sizeof *x.z);
    dae_error err = {0};
    if (mbs_mechanism_initial(c, x.y, &err) < 0) fail_msg("%s", err.text);
    assert_int_equal(x.j->from_absolute(0, x.y, x.y + x.mech->np, x.z, x.z + x.j->nq, x.work, x.j->user), 0);
    return x;
}

static void free_states(states *x)
{
    free(x->work), free(x->y), free(x->z);
}

static void lower(const states *x, const double *z, double *y)
{
    assert_int_equal(x->j->to_absolute(0, z, z + x->j->nq, y, y + x->mech->np, x->work, x->j->user), 0);
    memcpy(y + x->mech->np + x->mech->nv, z + x->j->nq + x->j->ns, (size_t)x->mech->nu * sizeof *y);
}

/* Residuals of all constraints at the state of the bodies. */
static void check_constraints(const states *x, const char *what, double tol)
{
    const dae_mech *s = x->mech;
    double *g = calloc((size_t)s->nlambda + 1, sizeof *g),
           *rate = calloc((size_t)s->nlambda + 1, sizeof *rate);
    dae_mech_point at = {.p = x->y};
    assert_int_equal(s->constraint(&at, g, NULL, s->user), 0);
    velocity_rows(s, 0, x->y, x->y + s->np, rate);
    for (int i = 0; i < s->nlambda; i++) {
        if (i < s->ng && fabs(g[i]) > tol) fail_msg("%s: row %d is off by %.3g", what, i, g[i]);
        if (fabs(rate[i]) > tol) fail_msg("%s: velocity row %d is off by %.3g", what, i, rate[i]);
    }
    free(g), free(rate);
}

/* v' along the motion in joint coordinates, by differences, is the acceleration of the bodies. */
static void check_accelerations(const mbs_mechanism *c, const states *x, const char *what)
{
    const double h = 1e-6;
    size_t nz = (size_t)x->nz, n = (size_t)x->n;
    double *zp = calloc(nz, sizeof *zp), *z = calloc(nz, sizeof *z), *up = calloc(n, sizeof *up),
           *down = calloc(n, sizeof *down);
    double *a = calloc((size_t)x->mech->nv, sizeof *a);
    dae_error err = {0};
    assert_int_equal(x->j->rates(0, x->z, zp, x->work, x->j->user), 0);
    for (size_t i = 0; i < nz; i++) z[i] = x->z[i] + h * zp[i];
    lower(x, z, up);
    for (size_t i = 0; i < nz; i++) z[i] = x->z[i] - h * zp[i];
    lower(x, z, down);
    if (mbs_mechanism_acceleration(c, 0, x->y, a, NULL, &err) < 0) fail_msg("%s: %s", what, err.text);
    for (int i = 0; i < x->mech->nv; i++) {
        double d = (up[x->mech->np + i] - down[x->mech->np + i]) / (2 * h);
        if (fabs(d - a[i]) > 1e-6 * (1 + fabs(a[i])))
            fail_msg("%s: a[%d] = %.10g, in joint coordinates %.10g", what, i, a[i], d);
    }
    free(zp), free(z), free(up), free(down), free(a);
}

/* Bodies that are not where their joints hold them have no joint coordinates: moved, and (in the plane) turned once around. */
static void open_joints_are_refused(void **state)
{
    (void)state;
    for (int space = MBS_PLANAR; space <= MBS_SPATIAL; space++) {
        mbs_mechanism *c = tree_with("revolute", space, 0, 0);
        states x = states_of(c);
        for (int i = 0; i < 2; i++) {
            int at = x.mech->np - (space == MBS_PLANAR ? 3 : 7) + i;
            double keep = x.y[at];
            x.y[at] += 0.01;
            assert_int_equal(
                x.j->from_absolute(0, x.y, x.y + x.mech->np, x.z, x.z + x.j->nq, x.work, x.j->user), 1);
            x.y[at] = keep;
        }
        free_states(&x);
        mbs_mechanism_destroy(c);
    }
}

/* y = (q, q'): methods that know it factor matrices of half the size. Not where coordinates are not as many as speeds. */
static void joint_form_of_hinges_is_of_second_order(void **state)
{
    (void)state;
    static const struct {
        const char *type;
        int space, second_order;
    } known[] = {{"revolute", MBS_PLANAR, 4}, {"revolute", MBS_SPATIAL, 4}, {"spherical", MBS_SPATIAL, 0}};
    for (int k = 0; k < 3; k++) {
        dae_error err = {0};
        mbs_mechanism *c = tree_with(known[k].type, known[k].space, 0, 0);
        dae_formulation *f = dae_formulation_create(mbs_mechanism_system(c), "joint", NULL, 0, &err);
        if (!f) fail_msg("%s", err.text);
        assert_int_equal(dae_formulation_system(f)->structure.second_order, known[k].second_order);
        dae_formulation_destroy(f);
        mbs_mechanism_destroy(c);
    }
}

/* Accelerations and multipliers along the tree are those of the dense system of all rows; and so are those of velocities that open
 * the joints, for which there is no state of the tree. */
static void check_multipliers(const mbs_mechanism *c, const states *x, const char *what)
{
    const size_t nv = (size_t)x->mech->nv, nl = (size_t)x->mech->nlambda;
    dae_error err = {0};
    for (int open = 0; open < 2; open++) {
        double *a = calloc(2 * (nv + nl), sizeof *a), *l = a + nv, *want = l + nl, *want_l = want + nv,
               size = 1;
        double *y = malloc((size_t)x->n * sizeof *y);
        memcpy(y, x->y, (size_t)x->n * sizeof *y);
        if (open) y[x->mech->np + x->mech->nv - 1] += 0.3;
        assert_int_equal(mbs_tree_acceleration(c, 0, y, a, l), open && nl > 0);
        memset(a, 0, (nv + nl) * sizeof *a);
        assert_int_equal(mbs_mechanism_acceleration(c, 0, y, a, l, &err), DAE_OK);
        assert_int_equal(mbs_accelerations(c, 0, y, NULL, want, want_l, NULL, &err), DAE_OK);
        for (size_t i = 0; i < nv + nl; i++) size = fmax(size, fabs(want[i]));
        for (size_t i = 0; i < nv + nl; i++) {
            if (!(fabs(a[i] - want[i]) <= 1e-11 * size))
                fail_msg("%s, open %d: %zu of (a, lambda) is %.15g instead of %.15g", what, open, i, a[i],
                         want[i]);
        }
        free(a), free(y);
    }
}

static void check_tree(const char *type, int space, int turned, int loads)
{
    char what[80];
    snprintf(what, sizeof what, "%s %s%s%s", space == MBS_PLANAR ? "planar" : "spatial", type,
             turned ? ", turned" : "", loads ? ", loads" : "");
    mbs_mechanism *c = tree_with(type, space, turned, loads);
    states x = states_of(c);
    assert_int_equal(x.j->nloop, 0);
    assert_int_equal(x.j->ns, mbs_mechanism_topology(c).freedom);
    double *back = calloc((size_t)x.nz, sizeof *back);
    for (int i = 0; i < x.nz; i++) x.z[i] += 0.4 * random_number();
    if (x.j->project) x.j->project(0, x.z, x.z + x.j->nq, x.work, x.j->user); /* length of Euler parameters */
    lower(&x, x.z, x.y);
    check_constraints(&x, what, 1e-12);
    assert_int_equal(x.j->from_absolute(0, x.y, x.y + x.mech->np, back, back + x.j->nq, x.work, x.j->user),
                     0);
    for (int i = 0; i < x.j->nq + x.j->ns; i++) {
        double off = fabs(back[i] - x.z[i]),
               turn = 6.283185307179586; /* angles are known up to whole turns */
        if (off > 1e-12 && fabs(off - turn) > 1e-12)
            fail_msg("%s: coordinate %d = %.10g comes back as %.10g", what, i, x.z[i], back[i]);
    }
    check_accelerations(c, &x, what);
    check_multipliers(c, &x, what);
    free(back);
    free_states(&x);
    mbs_mechanism_destroy(c);
}

static void joint_coordinates_agree_with_bodies_for_every_joint_of_trees(void **state)
{
    static const char *const types[] = {"revolute",  "prismatic", "fixed",  "cylindrical", "spherical",
                                        "universal", "screw",     "planar", "none"};
    (void)state;
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
        for (int variant = 0; variant < 4; variant++) {
            check_tree(types[k], MBS_SPATIAL, variant & 1, variant / 2);
            if (k < 3 || k == 8) check_tree(types[k], MBS_PLANAR, variant & 1, variant / 2);
        }
    }
}

static void joint_coordinates_take_other_joints_as_loops(void **state)
{
    static const char *const types[] = {"distance", "point_on_line", "point_on_plane", "parallel",
                                        "perpendicular"};
    (void)state;
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
        mbs_mechanism *c = tree_with(types[k], MBS_SPATIAL, 0, 1);
        states x = states_of(c);
        assert_int_equal(x.j->ns - x.j->nloop, mbs_mechanism_topology(c).freedom);
        for (int i = 0; i < x.nz; i++) x.z[i] += 0.1 * random_number();
        if (x.j->project(0, x.z, x.z + x.j->nq, x.work, x.j->user))
            fail_msg("%s cannot be projected", types[k]);
        lower(&x, x.z, x.y);
        check_constraints(&x, types[k], 1e-10);
        check_accelerations(c, &x, types[k]);
        free_states(&x);
        mbs_mechanism_destroy(c);
    }
}

/* ---- Model files ------------------------------------------------------------------------------------------ */

static mbs_model *load(const char *name)
{
    char path[600];
    dae_error err = {0};
    snprintf(path, sizeof path, "models/%s.json", name);
    mbs_model *m = mbs_model_load(path, &err);
    if (!m) fail_msg("%s", err.text);
    return m;
}

/* Two forms, one trajectory; all bodies at the end of t seconds. */
static void check_model(const char *name, double t, double tol)
{
    dae_error err = {0};
    mbs_mechanism *c = compile(load(name));
    const dae_system *sys = mbs_mechanism_system(c);
    size_t n = (size_t)dae_system_size(sys);
    double *joint = calloc(n, sizeof *joint), *bodies = calloc(n, sizeof *bodies);
    dae_setting project = {"formulation.project", "1"};
    dae_options o = dae_options_default();
    dae_stats stats;
    o.rtol = o.atol = 1e-11;
    o.method = "dop853";
    o.setting = &project;
    o.nsetting = 1;
    if (mbs_mechanism_initial(c, bodies, &err) < 0) fail_msg("%s: %s", name, err.text);
    memcpy(joint, bodies, n * sizeof *joint);
    o.formulation = "index1";
    if (dae_solve(sys, &o, 0, t, bodies, NULL, &err) < 0) fail_msg("%s: %s", name, err.text);
    o.formulation = "joint";
    if (dae_solve(sys, &o, 0, t, joint, &stats, &err) < 0) fail_msg("%s: %s", name, err.text);
    for (size_t i = 0; i < n; i++) {
        if (fabs(joint[i] - bodies[i]) > tol * (1 + fabs(bodies[i])))
            fail_msg("%s: y[%zu] = %.12g, in joint coordinates %.12g", name, i, bodies[i], joint[i]);
    }
    assert_between(stats.position_residual, 0, 1e-12);
    free(joint), free(bodies);
    mbs_mechanism_destroy(c);
}

static void joint_coordinates_give_the_same_trajectories(void **state)
{
    (void)state;
    check_model("double_pendulum", 1, 1e-8);
    check_model("four_bar", 1, 1e-8);
    check_model("peaucellier", 1, 1e-8);
    check_model("robot", 1, 1e-8);
    check_model("spherical_pendulum", 1, 1e-8);
    check_model("spinning_top", 1, 1e-8);
    check_model("bricard", 0.5, 1e-8);
    check_model("rssp", 0.5, 1e-8);
    check_model("rolling_disc", 1, 1e-8);
    check_model("andrews", 0.01, 1e-8);
}

static double energy_at(const mbs_mechanism *c, const states *x, const double *z, double *power)
{
    dae_energy e;
    double *y = calloc((size_t)x->n, sizeof *y);
    lower(x, z, y);
    assert_int_equal(mbs_mechanism_energy(c, 0, y, &e), DAE_OK);
    free(y);
    *power = e.power;
    return e.kinetic + e.potential;
}

/* Inverse dynamics: the accelerations of the free motion need no torques; any others such that tau s is the rate of the energy
 * (of the bodies, by differences) without what dampers take. */
static void check_torques(const char *type, int space, int loads)
{
    mbs_mechanism *c = tree_with(type, space, 0, loads);
    states x = states_of(c);
    const int nq = x.j->nq, ns = x.j->ns;
    double *rate = calloc((size_t)x.nz, sizeof *rate), *z = calloc((size_t)x.nz, sizeof *z),
           *tau = calloc((size_t)ns, sizeof *tau);
    for (int k = 0; k < ns; k++) x.z[nq + k] = sin(1 + 2 * k);
    assert_int_equal(x.j->rates(0, x.z, rate, x.work, x.j->user), 0);
    assert_int_equal(x.j->torques(0, x.z, rate + nq, tau, x.work, x.j->user), 0);
    for (int k = 0; k < ns; k++) assert_near(tau[k], 0, 1e-10);
    for (int k = 0; k < ns; k++) rate[nq + k] = 3 * cos(2 + 3 * k);
    assert_int_equal(x.j->torques(0, x.z, rate + nq, tau, x.work, x.j->user), 0);
    double h = 1e-5, e[2], lost, power = 0;
    for (int side = 0; side < 2; side++) {
        for (int k = 0; k < nq + ns; k++) z[k] = x.z[k] + (side ? h : -h) * rate[k];
        e[side] = energy_at(c, &x, z, &lost);
    }
    energy_at(c, &x, x.z, &lost);
    for (int k = 0; k < ns; k++) power += tau[k] * x.z[nq + k];
    double want = (e[1] - e[0]) / (2 * h) - lost;
    if (!(fabs(power - want) <= 1e-6 * (1 + fabs(want))))
        fail_msg("%s, space %d, loads %d: tau s = %.12g, energy changes by %.12g", type, space, loads, power,
                 want);
    free(rate), free(z), free(tau);
    free_states(&x);
    mbs_mechanism_destroy(c);
}

static void torques_are_those_that_change_the_energy(void **state)
{
    static const char *const plane[] = {"revolute", "prismatic", "fixed", "none"};
    static const char *const space[] = {"revolute",    "prismatic", "fixed",     "screw",
                                        "cylindrical", "universal", "spherical", "none"};
    (void)state;
    for (int loads = 0; loads < 2; loads++) {
        for (size_t k = 0; k < sizeof plane / sizeof *plane; k++) check_torques(plane[k], MBS_PLANAR, loads);
        for (size_t k = 0; k < sizeof space / sizeof *space; k++) check_torques(space[k], MBS_SPATIAL, loads);
    }
}

static void joint_coordinates_need_a_system_that_has_them(void **state)
{
    (void)state;
    dae_error err = {0};
    mbs_mechanism *c = compile(load("slider_crank")); /* friction depends on the forces in its joints */
    dae_options o = dae_options_default();
    double y[64];
    o.formulation = "joint";
    o.method = "dop853";
    assert_true(dae_system_size(mbs_mechanism_system(c)) <= 64);
    assert_int_equal(mbs_mechanism_initial(c, y, &err), DAE_OK);
    assert_null(mbs_mechanism_system(c)->mech.joint);
    assert_int_equal(dae_solve(mbs_mechanism_system(c), &o, 0, 1, y, NULL, &err), DAE_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "friction"));
    mbs_mechanism_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joint_form_of_hinges_is_of_second_order),
        cmocka_unit_test(open_joints_are_refused),
        cmocka_unit_test(joint_coordinates_agree_with_bodies_for_every_joint_of_trees),
        cmocka_unit_test(joint_coordinates_take_other_joints_as_loops),
        cmocka_unit_test(joint_coordinates_give_the_same_trajectories),
        cmocka_unit_test(torques_are_those_that_change_the_energy),
        cmocka_unit_test(joint_coordinates_need_a_system_that_has_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
