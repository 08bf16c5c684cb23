/* G beside dg/dp T: a matrix that does not belong to g is told at the start, by every form; with position_jacobian G may
 * be R dg/dp T with a regular R. */
#include "test.h"

#include <daedalus/daedalus.h>
#include <daedalus/problem.h>

#include <math.h>

/* Two unit masses on massless rods of length 1, in x1 y1 x2 y2. G = R dg/dp, R row by row. */
typedef struct chain {
    double R[4];
    long position; /* calls of position_jacobian */
} chain;

static int weight(const dae_mech_point *x, double *f, void *user)
{
    (void)x, (void)user;
    f[0] = f[2] = 0;
    f[1] = f[3] = -9.81;
    return 0;
}

static void rods(const double *p, double C[8]) /* 2 x 4 column-major */
{
    double d[2] = {p[2] - p[0], p[3] - p[1]};
    for (int i = 0; i < 2; i++) {
        C[2 * i] = p[i];
        C[2 * i + 1] = -d[i];
        C[2 * (2 + i)] = 0;
        C[2 * (2 + i) + 1] = d[i];
    }
}

static int constraint(const dae_mech_point *x, double *g, double *G, void *user)
{
    const double *p = x->p, *R = ((chain *)user)->R;
    double C[8], dx = p[2] - p[0], dy = p[3] - p[1];
    if (g) {
        g[0] = (p[0] * p[0] + p[1] * p[1] - 1) / 2;
        g[1] = (dx * dx + dy * dy - 1) / 2;
    }
    rods(p, C);
    for (int j = 0; G && j < 4; j++) {
        G[2 * j] = R[0] * C[2 * j] + R[1] * C[2 * j + 1];
        G[2 * j + 1] = R[2] * C[2 * j] + R[3] * C[2 * j + 1];
    }
    return 0;
}

static int position_jacobian(const dae_mech_point *x, double *C, void *user)
{
    ((chain *)user)->position++;
    rods(x->p, C);
    return 0;
}

static dae_system system_of(chain *c, int apart)
{
    return (dae_system){.kind = DAE_KIND_MECH,
                        .mech = {.np = 4,
                                 .nv = 4,
                                 .ng = 2,
                                 .nlambda = 2,
                                 .force = weight,
                                 .constraint = constraint,
                                 .position_jacobian = apart ? position_jacobian : NULL,
                                 .user = c}};
}

static const double begin[8] = {1, 0, 2, 0, 0, 0, 0, 0};

static const struct {
    const char *method, *form;
} ways[] = {{"mexx", NULL},       {"phem56", NULL},  {"dop853", "index1"},
            {"radau5", "index3"}, {"radau5", "ggl"}, {"radau5", "index2"}};
enum { WAYS = sizeof ways / sizeof *ways };

static dae_status solve(const dae_system *sys, const char *method, const char *form, double *y,
                        dae_error *err)
{
    dae_options opt = dae_options_default();
    opt.method = method;
    opt.formulation = form;
    opt.rtol = opt.atol = 1e-9;
    dae_setting project = {"project", "1"};
    opt.setting = &project;
    opt.nsetting = form && !strcmp(form, "index1");
    memcpy(y, begin, sizeof begin);
    *err = (dae_error){0};
    return dae_solve(sys, &opt, 0, 1, y, NULL, err);
}

static void wrong_matrix_is_told_at_the_start(void **state)
{
    (void)state;
    static const double wrong[][4] = {{0.4, 0, 0, 0.4}, {1, 0, 0, 10}, {1, 0, 0.02, 1}, {1, 0, 0, -1}};
    static const int row[] = {1, 2, 2, 2};
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < WAYS; i++) {
            chain c = {{wrong[k][0], wrong[k][1], wrong[k][2], wrong[k][3]}, 0};
            dae_system sys = system_of(&c, 0);
            dae_error err;
            double y[8];
            char text[40];
            assert_int_equal(solve(&sys, ways[i].method, ways[i].form, y, &err), DAE_ERR_INPUT);
            snprintf(text, sizeof text, "row %d of G is not dg/dp T", row[k]);
            if (!strstr(err.text, text) || !strstr(err.text, "position_jacobian")) fail_msg("%s", err.text);
        }
    }
}

/* The motion does not depend on R: also a full one, and one that turns the sign. */
static void factor_of_G_does_not_matter_with_position_jacobian(void **state)
{
    (void)state;
    static const double factor[][4] = {{0.4, 0, 0, 0.4}, {10, 0, 0, 10}, {2, -1, 3, 0.5}, {-1, 0, 0, 1}};
    chain plain = {{1, 0, 0, 1}, 0};
    dae_system sys = system_of(&plain, 0);
    dae_error err;
    double right[8];
    if (solve(&sys, "dop853", "index1", right, &err) < 0) fail_msg("%s", err.text);
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < WAYS; i++) {
            chain c = {{factor[k][0], factor[k][1], factor[k][2], factor[k][3]}, 0};
            double y[8], dx, dy;
            /* index3 is 7e-6 off with R = 1, too */
            double allowed = ways[i].form && !strcmp(ways[i].form, "index3") ? 3e-5 : 2e-8;
            sys = system_of(&c, 1);
            if (solve(&sys, ways[i].method, ways[i].form, y, &err) < 0)
                fail_msg("%s %s, R %d: %s", ways[i].method, ways[i].form ? ways[i].form : "", k, err.text);
            for (int j = 0; j < 8; j++) {
                if (fabs(y[j] - right[j]) > allowed)
                    fail_msg("%s %s, R %d: y%d off by %.3g", ways[i].method, ways[i].form ? ways[i].form : "",
                             k, j + 1, y[j] - right[j]);
            }
            assert_true(c.position > 0);
            if (ways[i].form && strcmp(ways[i].form, "index1") != 0) continue;
            dx = y[2] - y[0], dy = y[3] - y[1]; /* these project */
            assert_near(y[0] * y[0] + y[1] * y[1], 1, 1e-10);
            assert_near(dx * dx + dy * dy, 1, 1e-10);
        }
    }
}

static int wrong_position(const dae_mech_point *x, double *C, void *user)
{
    (void)user;
    rods(x->p, C);
    C[7] *= 2;
    return 0;
}

static void position_jacobian_is_checked_too(void **state)
{
    (void)state;
    chain c = {{10, 0, 0, 10}, 0};
    dae_system sys = system_of(&c, 1);
    dae_error err;
    double y[8] = {0.6, -0.8, 1.2, -1.6};
    sys.mech.position_jacobian = wrong_position;
    dae_options opt = dae_options_default();
    opt.method = "mexx";
    assert_int_equal(dae_solve(&sys, &opt, 0, 1, y, NULL, &err), DAE_ERR_INPUT);
    if (!strstr(err.text, "row 2 of position_jacobian is not dg/dp T")) fail_msg("%s", err.text);
    sys = system_of(&c, 1);
    assert_null(dae_formulation_create(&sys, "statespace", NULL, 0, &err));
    assert_int_equal(err.status, DAE_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "does not take a position Jacobian apart from G"));
    assert_null(dae_formulation_create(&sys, "baumgarte", NULL, 0, &err));
    static const int colptr[] = {0, 0, 0, 0, 0};
    sys.mech.G_colptr = sys.mech.G_rowind = colptr;
    sys.mech.constraint_sparse = constraint;
    assert_int_equal(dae_system_check(&sys, &err), DAE_ERR_INPUT);
    assert_non_null(strstr(err.text, "position_jacobian cannot be given"));
}

/* A bead on y = |x|, at the corner: G is that of the right branch, and no mistake. */
static int corner(const dae_mech_point *x, double *g, double *G, void *user)
{
    (void)user;
    if (g) g[0] = x->p[1] - fabs(x->p[0]);
    if (G) G[0] = x->p[0] >= 0 ? -1 : 1, G[1] = 1;
    return 0;
}

static int push(const dae_mech_point *x, double *f, void *user)
{
    (void)x, (void)user;
    f[0] = 1;
    f[1] = 0;
    return 0;
}

static void corner_of_g_is_no_mistake(void **state)
{
    (void)state;
    dae_system sys = {.kind = DAE_KIND_MECH,
                      .mech = {.np = 2, .nv = 2, .ng = 1, .nlambda = 1, .force = push, .constraint = corner}};
    dae_options opt = dae_options_default();
    dae_error err = {0};
    double y[4] = {0, 0, 1, 1};
    opt.method = "mexx";
    if (dae_solve(&sys, &opt, 0, 1, y, NULL, &err) < 0) fail_msg("%s", err.text);
    assert_near(y[0], 1.25, 1e-6); /* a = 1/2 along both axes */
    assert_near(y[1], 1.25, 1e-6);
}

/* The function's wish to stop is heard in the check, too. */
static int stopper(const dae_mech_point *x, double *g, double *G, void *user)
{
    (void)x, (void)g, (void)G, (void)user;
    return -1;
}

static void request_to_stop_is_heard(void **state)
{
    (void)state;
    dae_system sys = {
        .kind = DAE_KIND_MECH,
        .mech = {.np = 2, .nv = 2, .ng = 1, .nlambda = 1, .force = push, .constraint = stopper}};
    dae_options opt = dae_options_default();
    dae_error err = {0};
    double y[4] = {0, 0, 1, 1};
    opt.method = "phem56";
    assert_int_equal(dae_solve(&sys, &opt, 0, 1, y, NULL, &err), DAE_ERR_CALLBACK);
}

/* The car axis has its accelerations in one pass: the same numbers as from M, f and G. */
static dae_mech_fn *one_pass; /* `user` belongs to the functions of the mechanism */
static double one_pass_factor;
static long one_pass_calls;

static int count_accelerations(const dae_mech_point *x, double *out, void *user)
{
    one_pass_calls++;
    int r = one_pass(x, out, user);
    for (int i = 0; i < 4; i++) out[i] *= one_pass_factor;
    return r;
}

static void accelerations_in_one_pass_are_used_and_checked(void **state)
{
    (void)state;
    dae_error err = {0};
    dae_problem *p = dae_problem_create("caraxis", NULL, 0, &err);
    assert_non_null(p);
    assert_non_null(p->mechanism->mech.accelerations);
    one_pass = p->mechanism->mech.accelerations;
    one_pass_factor = 1;
    dae_options opt = dae_options_default();
    opt.method = "dop853";
    opt.formulation = "index1";
    opt.rtol = opt.atol = 1e-10;
    double y[2][8];
    for (int k = 0; k < 2; k++) {
        dae_system sys = *p->mechanism;
        dae_stats stats;
        sys.mech.accelerations = k ? count_accelerations : NULL;
        memcpy(y[k], p->y0, sizeof y[k]);
        if (dae_solve(&sys, &opt, p->t0, p->t_end, y[k], &stats, &err) < 0) fail_msg("%s", err.text);
        if (k) assert_true(one_pass_calls >= stats.f);
    }
    for (int i = 0; i < 8; i++) assert_near(y[0][i], y[1][i], 1e-9);
    dae_system sys = *p->mechanism;
    sys.mech.accelerations = count_accelerations;
    one_pass_factor = 1.001;
    assert_int_equal(dae_solve(&sys, &opt, p->t0, p->t_end, y[0], NULL, &err), DAE_ERR_INPUT);
    if (!strstr(err.text, "accelerations does not belong to mass, force and constraint"))
        fail_msg("%s", err.text);
    dae_problem_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_matrix_is_told_at_the_start),
        cmocka_unit_test(factor_of_G_does_not_matter_with_position_jacobian),
        cmocka_unit_test(position_jacobian_is_checked_too),
        cmocka_unit_test(corner_of_g_is_no_mistake),
        cmocka_unit_test(request_to_stop_is_heard),
        cmocka_unit_test(accelerations_in_one_pass_are_used_and_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
