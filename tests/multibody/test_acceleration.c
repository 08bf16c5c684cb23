/* Accelerations and multipliers of the sparse solver against dense least squares, and at singular poses. */
#include "mechanics.h"

#include "linalg/least_squares.h"
#include "multibody/joint_coordinates.h"

/* ---- Help -------------------------------------------------------------------------------------------- */

static mbs_mechanism *load(const char *name)
{
    char path[80];
    dae_error err = {0};
    snprintf(path, sizeof path, "models/%s.json", name);
    mbs_model *m = mbs_model_load(path, &err);
    if (!m) fail_msg("%s: %s", name, err.text);
    return compile(m);
}

/* Rods of length 1 on revolute joints; in space their axes are z and y in turn. */
static mbs_mechanism *chain(int n, int space)
{
    mbs_model *m = mbs_model_create("chain", space);
    mbs_model_set_gravity(m, 0, -9.81, 0);
    for (int k = 0; k < n; k++) {
        char rod[16], pin[16];
        snprintf(rod, sizeof rod, "rod%d", k);
        snprintf(pin, sizeof pin, "pin%d", k);
        mbs_model_add_body(
            m, &(mbs_body){.name = rod, .mass = 1, .inertia = {0.1, 0.15, 1 / 12.0}, .center = {k + 0.5}});
        mbs_model_add_joint(m, &(mbs_joint){.name = pin,
                                            .type = "revolute",
                                            .a = k,
                                            .b = k + 1,
                                            .at = {k},
                                            .axis = {0, space == 3 && k % 2, space == 3 && k % 2 == 0}});
    }
    return compile(m);
}

/* [M G^T; G 0] (a; lambda) = (f; -gamma) by least squares: x becomes (a, lambda). */
static void solve_dense(const dae_mech *s, double t, const double *y, double *x)
{
    size_t nv = (size_t)s->nv, nl = (size_t)s->nlambda, n = nv + nl, offset = 0, first = 0;
    double *K = calloc(n * n, sizeof *K), *G = calloc(nv * nl + 1, sizeof *G), *M = calloc(6 * nv, sizeof *M);
    dae_mech_point at = {.t = t, .p = y, .v = y + s->np, .u = y + s->np + s->nv, .lambda = x + nv};
    s->force(&at, x, s->user);
    s->constraint(&at, NULL, G, s->user);
    s->gamma(&at, x + nv, s->user);
    s->mass_blocks(&at, M, s->user);
    for (int k = 0; k < s->nblock; k++) {
        size_t size = (size_t)s->mass_block[k];
        for (size_t i = 0; i < size * size; i++) K[(first + i / size) * n + first + i % size] = M[offset + i];
        offset += size * size;
        first += size;
    }
    for (size_t i = 0; i < nl; i++) {
        x[nv + i] = -x[nv + i];
        for (size_t c = 0; c < nv; c++) K[c * n + nv + i] = K[(nv + i) * n + c] = G[c * nl + i];
    }
    assert_true(dae_least_squares((int)n, (int)n, K, x, 1e-13) >= 0);
    free(K);
    free(G);
    free(M);
}

/* Largest difference of accelerations and multipliers, relative to the largest of them; asked for together, and accelerations alone. */
static double difference(const mbs_mechanism *c, double t, const double *y)
{
    const dae_mech *s = &mbs_mechanism_system(c)->mech;
    size_t n = (size_t)(s->nv + s->nlambda);
    double *x = calloc(n, sizeof *x), *z = calloc(n, sizeof *z), worst = 0, size = 0;
    dae_error err = {0};
    solve_dense(s, t, y, x);
    if (mbs_mechanism_acceleration(c, t, y, z, z + s->nv, &err) < 0) fail_msg("%s", err.text);
    for (size_t i = 0; i < n; i++) {
        worst = fmax(worst, fabs(x[i] - z[i]));
        size = fmax(size, fabs(x[i]));
    }
    if (mbs_mechanism_acceleration(c, t, y, z, NULL, &err) < 0) fail_msg("%s", err.text);
    for (int i = 0; i < s->nv; i++) worst = fmax(worst, fabs(x[i] - z[i]));
    free(x);
    free(z);
    return worst / size;
}

/* ---- Tests ------------------------------------------------------------------------------------------- */

static void accelerations_of_chains_are_the_dense_ones(void **state)
{
    static const int length[] = {1, 2, 17, 60}, space[] = {MBS_PLANAR, MBS_SPATIAL};
    (void)state;
    for (int k = 0; k < 8; k++) {
        mbs_mechanism *c = chain(length[k / 2] / (k % 2 + 1) + (k < 2), space[k % 2]);
        const dae_system *sys = mbs_mechanism_system(c);
        double *y = calloc((size_t)dae_system_size(sys), sizeof *y), off;
        random_state(&sys->mech, y); /* joints open: the equations are the same */
        off = difference(c, 0, y);
        if (!(off < 1e-10))
            fail_msg("chain of %d, dimension %d: off by %g", length[k / 2], space[k % 2], off);
        free(y);
        mbs_mechanism_destroy(c);
    }
}

/* Rods along x whose last one is turned about x: its joint is closed, but the axes of the hinge are apart. Their angles must be 1e-9 and
 * less for what belongs to the tree. */
static void a_hinge_with_its_axes_apart_is_not_of_the_tree(void **state)
{
    static const double angle[] = {0, 1e-12, 1e-6, 0.4};
    (void)state;
    for (int k = 0; k < 4; k++) {
        mbs_mechanism *c = chain(3, MBS_SPATIAL);
        const dae_system *sys = mbs_mechanism_system(c);
        double *y = calloc((size_t)dae_system_size(sys), sizeof *y), off;
        for (int i = 0; i < 3; i++) y[7 * i] = i + 0.5, y[7 * i + 3] = 1;
        y[17] = cos(angle[k] / 2), y[18] = sin(angle[k] / 2);
        off = difference(c, 0, y);
        if (!(off < 1e-10)) fail_msg("turned by %g: off by %g", angle[k], off);
        assert_int_equal(mbs_tree_acceleration(c, 0, y, y, NULL), angle[k] > 1e-9);
        free(y);
        mbs_mechanism_destroy(c);
    }
}

static void accelerations_of_the_library_are_the_dense_ones(void **state)
{
    static const char *const name[] = {"andrews", "four_bar", "slider_crank", "peaucellier", "bricard",
                                       "robot",   "rssp",     "spinning_top", "rolling_disc"};
    (void)state;
    for (size_t k = 0; k < sizeof name / sizeof *name; k++) {
        mbs_mechanism *c = load(name[k]);
        double *y = calloc((size_t)dae_system_size(mbs_mechanism_system(c)), sizeof *y), off;
        dae_error err = {0};
        if (mbs_mechanism_initial(c, y, &err) < 0) fail_msg("%s: %s", name[k], err.text);
        off = difference(c, 0, y);
        if (!(off < 1e-10)) fail_msg("%s: off by %g", name[k], off);
        free(y);
        mbs_mechanism_destroy(c);
    }
}

/* Pivots are kept from call to call, those of the described pose: what a state gets does not depend on the states before it, and a singular
 * one in between leaves nothing behind. */
static void accelerations_do_not_depend_on_those_before(void **state)
{
    static const char *const name[] = {"four_bar", "peaucellier", "bricard", "parallel_four_bar"};
    (void)state;
    for (size_t k = 0; k < sizeof name / sizeof *name; k++) {
        mbs_mechanism *c = load(name[k]), *fresh = load(name[k]);
        const dae_mech *s = &mbs_mechanism_system(c)->mech;
        size_t n = (size_t)(s->nv + s->nlambda), size = (size_t)dae_system_size(mbs_mechanism_system(c));
        double *y = calloc(size, sizeof *y), *other = calloc(size, sizeof *other),
               *x = calloc(2 * n, sizeof *x);
        dae_error err = {0};
        random_state(s, y);
        assert_true(mbs_mechanism_initial(c, other, &err) >= 0);
        mbs_mechanism_acceleration(c, 0, other, x, x + s->nv, &err);
        memset(other, 0, size * sizeof *other); /* all bodies in one place */
        for (int q = 0; q < s->nquaternion; q++) other[s->quaternion[q]] = 1;
        mbs_mechanism_acceleration(c, 0, other, x, x + s->nv, &err);
        assert_int_equal(mbs_mechanism_acceleration(c, 0, y, x, x + s->nv, &err), DAE_OK);
        assert_int_equal(mbs_mechanism_acceleration(fresh, 0, y, x + n, x + n + s->nv, &err), DAE_OK);
        assert_memory_equal(x, x + n, n * sizeof *x);
        free(y), free(other), free(x);
        mbs_mechanism_destroy(c);
        mbs_mechanism_destroy(fresh);
    }
}

/* All bars of a parallelogram on one line: the rank drops by one, multipliers are not unique. */
static void singular_pose_gets_the_least_solution(void **state)
{
    mbs_mechanism *c = load("parallel_four_bar");
    const dae_mech *s = &mbs_mechanism_system(c)->mech;
    double y[18] = {0.5, 0, 0, 2, 0, 0, 2.5, 0, 0}, off;
    (void)state;
    assert_int_equal(s->np + s->nv, 18);
    off = difference(c, 0, y);
    if (!(off < 1e-10)) fail_msg("off by %g", off);
    mbs_mechanism_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accelerations_of_chains_are_the_dense_ones),
        cmocka_unit_test(a_hinge_with_its_axes_apart_is_not_of_the_tree),
        cmocka_unit_test(accelerations_of_the_library_are_the_dense_ones),
        cmocka_unit_test(accelerations_do_not_depend_on_those_before),
        cmocka_unit_test(singular_pose_gets_the_least_solution),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
