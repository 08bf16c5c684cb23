#include "test.h"

#include "core/matrix.h"
#include "core/vector.h"
#include "method/method.h"

enum { N = 30 };

/* An initial value problem without a driver. */
typedef struct bench {
    dae_system sys;
    dae_options opt;
    dae_stats stats;
    dae_arena *arena;
    dae_error err;
    double rtol[N], atol[N];
    dae_ivp ivp;
} bench;

static void open(bench *b, dae_system sys)
{
    memset(b, 0, sizeof *b);
    b->sys = sys;
    b->opt = dae_options_default();
    b->arena = dae_arena_create();
    b->ivp = (dae_ivp){.sys = &b->sys,
                       .opt = &b->opt,
                       .n = dae_system_size(&sys),
                       .rtol = b->rtol,
                       .atol = b->atol,
                       .arena = b->arena,
                       .stats = &b->stats,
                       .t_end = 1,
                       .t_stop = 1,
                       .direction = 1,
                       .left = NAN,
                       .right = NAN,
                       .err = &b->err};
    for (int i = 0; i < N; i++) b->rtol[i] = b->atol[i] = 1e-6;
    if (sys.kind == DAE_KIND_ODE) b->ivp.f = sys.ode.f, b->ivp.user = sys.ode.user;
    if (sys.kind == DAE_KIND_DAE) b->ivp.f = sys.dae.f, b->ivp.user = sys.dae.user;
    if (sys.kind == DAE_KIND_IDE) b->ivp.user = sys.ide.user;
    b->ivp.difference = dae_arena_take(b->arena, 1, dae_difference_size());
}

static void prepare(bench *b, const char *linear_algebra, const double *y, const double *yp)
{
    b->opt.linear_algebra = linear_algebra;
    if (dae_ivp_prepare(&b->ivp, 0, y, yp, &b->err)) fail_msg("%s: %s", linear_algebra, b->err.text);
}

static dae_matrix as_matrix(const bench *b, const double *values)
{
    return (dae_matrix){.n = b->ivp.n, .pattern = b->ivp.jacobian, .a = values};
}

/* ---- A chain f_i = y_i y_(i-1) - y_(i+1)^2 + t, with its Jacobian in three layouts ------------------------ */

static int chain(double t, const double *y, double *f, void *user)
{
    (void)user;
    for (int i = 0; i < N; i++) f[i] = (i ? y[i] * y[i - 1] : 0) - (i + 1 < N ? y[i + 1] * y[i + 1] : 0) + t;
    return 0;
}

static double chain_entry(int i, int j, const double *y)
{
    if (j == i) return i ? y[i - 1] : 0;
    if (j == i - 1) return y[i];
    return j == i + 1 ? -2 * y[j] : 0;
}

static int colptr[N + 1], rowind[3 * N];

static dae_pattern chain_pattern(dae_storage storage)
{
    int k = 0;
    for (int j = 0; j < N; j++) {
        colptr[j] = k;
        for (int i = 0; i < N; i++) {
            if (abs(i - j) <= 1) rowind[k++] = i;
        }
    }
    colptr[N] = k;
    if (storage == DAE_BANDED) return (dae_pattern){.storage = storage, .lower = 1, .upper = 1};
    if (storage == DAE_SPARSE) return (dae_pattern){.storage = storage, .colptr = colptr, .rowind = rowind};
    return (dae_pattern){0};
}

static int jac_dense(double t, const double *y, double *jac, void *user)
{
    (void)t, (void)user;
    for (int j = 0; j < N; j++) {
        for (int i = 0; i < N; i++) {
            assert_true(jac[j * N + i] == 0); /* zero on entry */
            jac[j * N + i] = chain_entry(i, j, y);
        }
    }
    return 0;
}

static int jac_banded(double t, const double *y, double *jac, void *user)
{
    (void)t, (void)user;
    for (int j = 0; j < N; j++) {
        for (int i = j ? j - 1 : 0; i <= j + 1 && i < N; i++) jac[j * 3 + 1 + i - j] = chain_entry(i, j, y);
    }
    return 0;
}

static int jac_sparse(double t, const double *y, double *jac, void *user)
{
    (void)t, (void)user;
    for (int j = 0; j < N; j++) {
        for (int k = colptr[j]; k < colptr[j + 1]; k++) jac[k] = chain_entry(rowind[k], j, y);
    }
    return 0;
}

static void chain_state(double *y)
{
    for (int i = 0; i < N; i++) y[i] = 1 + 0.1 * i + sin(i);
}

static void is_chain_jacobian(const bench *b, const double *values, const double *y, double tol)
{
    dae_matrix J = as_matrix(b, values);
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) assert_near(dae_matrix_get(&J, i, j), chain_entry(i, j, y), tol);
    }
}

static void differences_agree_with_the_derivative_in_every_layout(void **state)
{
    (void)state;
    static const int evaluations[] = {N, 3, 3};
    for (int storage = DAE_DENSE; storage <= DAE_SPARSE; storage++) {
        bench b;
        double y[N], f[N], jac[N * N];
        open(&b, (dae_system){.kind = DAE_KIND_ODE,
                              .ode = {.n = N, .f = chain},
                              .structure = {.jacobian = chain_pattern((dae_storage)storage)}});
        chain_state(y);
        prepare(&b, "auto", y, NULL);
        assert_int_equal(b.ivp.jacobian.storage, storage);
        chain(0, y, f, NULL);
        assert_int_equal(dae_ivp_jacobian(&b.ivp, 0, y, f, jac), 0);
        is_chain_jacobian(&b, jac, y, 1e-6);
        assert_int_equal(b.stats.f_jac, evaluations[storage]);
        assert_int_equal(b.stats.f, 0);
        assert_int_equal(b.stats.jac, 1);
        dae_arena_destroy(b.arena);
    }
}

static void analytic_jacobians_are_converted_to_the_wanted_layout(void **state)
{
    (void)state;
    static dae_jac *const given[] = {jac_dense, jac_banded, jac_sparse};
    static const char *const wanted[] = {"dense", "banded", "sparse"};
    for (int from = DAE_DENSE; from <= DAE_SPARSE; from++) {
        for (int to = DAE_DENSE; to <= DAE_SPARSE; to++) {
            if (from == DAE_DENSE && to == DAE_BANDED) continue; /* nobody knows the bandwidths */
            bench b;
            double y[N], jac[N * N];
            open(&b, (dae_system){.kind = DAE_KIND_ODE,
                                  .ode = {.n = N, .f = chain, .jac = given[from]},
                                  .structure = {.jacobian = chain_pattern((dae_storage)from)}});
            chain_state(y);
            prepare(&b, wanted[to], y, NULL);
            assert_int_equal(b.ivp.jacobian.storage, to);
            long before = b.stats.f_jac;
            assert_int_equal(dae_ivp_jacobian(&b.ivp, 0, y, NULL, jac), 0);
            is_chain_jacobian(&b, jac, y, 0);
            assert_int_equal(b.stats.f_jac, before);
            dae_arena_destroy(b.arena);
        }
    }
}

static void difference_option_ignores_the_analytic_jacobian(void **state)
{
    (void)state;
    bench b;
    double y[N], f[N], jac[N * N];
    open(&b, (dae_system){.kind = DAE_KIND_ODE, .ode = {.n = N, .f = chain, .jac = jac_dense}});
    b.opt.jacobian = "difference";
    chain_state(y);
    prepare(&b, "auto", y, NULL);
    chain(0, y, f, NULL);
    assert_int_equal(dae_ivp_jacobian(&b.ivp, 0, y, f, jac), 0);
    assert_int_equal(b.stats.f_jac, N);
    is_chain_jacobian(&b, jac, y, 1e-6);
    dae_arena_destroy(b.arena);
}

static void banded_without_bandwidths_is_refused(void **state)
{
    (void)state;
    bench b;
    double y[N];
    open(&b, (dae_system){.kind = DAE_KIND_ODE, .ode = {.n = N, .f = chain}});
    b.opt.linear_algebra = "banded";
    chain_state(y);
    assert_int_equal(dae_ivp_prepare(&b.ivp, 0, y, NULL, &b.err), DAE_ERR_INPUT);
    assert_string_equal(
        b.err.text, "linear_algebra = banded, but the system gives no bandwidths; use auto, dense or sparse");
    dae_arena_destroy(b.arena);
}

/* ---- Groups and probing ------------------------------------------------------------------------------------ */

/* Column 0 is full, the rest diagonal: two groups. f_i = y_0 y_i + 1 also hides its entries where y = 0. */
static int arrow(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    for (int i = 0; i < N; i++) f[i] = 1 + y[0] * y[i];
    return 0;
}

static void probing_finds_products_of_zeros_and_columns_share_evaluations(void **state)
{
    (void)state;
    static const double starts[] = {0, 1, 1e-6, -1e4};
    for (int k = 0; k < 4; k++) {
        bench b;
        double y[N], f[N], jac[N * N];
        open(&b, (dae_system){.kind = DAE_KIND_ODE, .ode = {.n = N, .f = arrow}});
        for (int i = 0; i < N; i++) y[i] = starts[k];
        prepare(&b, "sparse", y, NULL);
        assert_int_equal(b.ivp.jacobian.storage, DAE_SPARSE);
        assert_int_equal(b.ivp.jacobian.colptr[N], N + N - 1);
        assert_int_equal(b.stats.f, 0);
        b.stats.f_jac = 0;
        for (int i = 0; i < N; i++) y[i] = 2 + i;
        arrow(0, y, f, NULL);
        assert_int_equal(dae_ivp_jacobian(&b.ivp, 0, y, f, jac), 0);
        assert_int_equal(b.stats.f_jac, 2);
        dae_matrix J = as_matrix(&b, jac);
        for (int i = 0; i < N; i++) {
            for (int j = 0; j < N; j++) {
                double expected = i == 0 ? (j == 0 ? 2 * y[0] : 0) : j == 0 ? y[i] : j == i ? y[0] : 0;
                assert_near(dae_matrix_get(&J, i, j), expected, 2e-6);
            }
        }
        dae_arena_destroy(b.arena);
    }
}

static int never(double t, const double *y, double *f, void *user)
{
    (void)t, (void)y, (void)user;
    f[0] = NAN;
    return 0;
}

static void probing_where_nothing_can_be_evaluated_fails(void **state)
{
    (void)state;
    bench b;
    open(&b, (dae_system){.kind = DAE_KIND_ODE, .ode = {.n = 1, .f = never}});
    b.opt.linear_algebra = "sparse";
    assert_int_equal(dae_ivp_prepare(&b.ivp, 0, (double[]){1}, NULL, &b.err), DAE_ERR_UNDEFINED);
    assert_non_null(strstr(b.err.text, "so its pattern cannot be found"));
    dae_arena_destroy(b.arena);
}

/* ---- Borders of the domain ------------------------------------------------------------------------------------ */

/* y_0 at most 1, y_1 at least 0; both start at their border. */
static int bounded(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    if (y[0] > 1 || y[1] < 0) return 1;
    f[0] = y[0] * y[0];
    f[1] = 3 * y[1] + y[1] * y[1];
    return 0;
}

static void jacobian_at_the_border_of_the_domain_is_found_from_inside(void **state)
{
    (void)state;
    static const int diagonal_cp[] = {0, 1, 2}, diagonal_ri[] = {0, 1};
    for (int grouped = 0; grouped < 2; grouped++) { /* together they would have to go to different sides */
        bench b;
        double y[] = {1, 0}, f[2], jac[4];
        dae_pattern p = {.storage = DAE_SPARSE, .colptr = diagonal_cp, .rowind = diagonal_ri};
        open(&b, (dae_system){.kind = DAE_KIND_ODE,
                              .ode = {.n = 2, .f = bounded},
                              .structure = {.jacobian = grouped ? p : (dae_pattern){0}}});
        prepare(&b, grouped ? "sparse" : "auto", y, NULL);
        bounded(0, y, f, NULL);
        assert_int_equal(dae_ivp_jacobian(&b.ivp, 0, y, f, jac), 0);
        dae_matrix J = as_matrix(&b, jac);
        assert_near(dae_matrix_get(&J, 0, 0), 2, 1e-6);
        assert_near(dae_matrix_get(&J, 1, 1), 3, 1e-6);
        assert_near(dae_matrix_get(&J, 0, 1), 0, 0);
        assert_true(b.stats.undefined > 0);
        dae_arena_destroy(b.arena);
    }
}

static int at_one_point(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = y[0] == 1 ? 1 : NAN;
    return 0;
}

static int stops(double t, const double *y, double *f, void *user)
{
    (void)t, (void)y, (void)user;
    f[0] = 0;
    return -7;
}

static void what_the_function_answers_is_passed_on(void **state)
{
    (void)state;
    bench b;
    double f = 1, jac;
    open(&b, (dae_system){.kind = DAE_KIND_ODE, .ode = {.n = 1, .f = at_one_point}});
    prepare(&b, "auto", (double[]){1}, NULL);
    assert_int_equal(dae_ivp_f(&b.ivp, 0, (double[]){1}, &f), 0);
    assert_int_equal(dae_ivp_jacobian(&b.ivp, 0, (double[]){1}, &f, &jac), 1);
    assert_int_equal(b.ivp.bad_component, 0);
    assert_int_equal(b.stats.undefined, 4); /* both sides, two sizes */
    assert_int_equal(b.stats.f, 1);
    b.ivp.f = stops;
    assert_int_equal(dae_ivp_f(&b.ivp, 0, (double[]){1}, &f), -7);
    assert_int_equal(dae_ivp_jacobian(&b.ivp, 0, (double[]){1}, &f, &jac), -7);
    dae_arena_destroy(b.arena);
}

static int one_bad_value(double t, const double *y, double *f, void *user)
{
    (void)t, (void)y;
    for (int i = 0; i < 9; i++) f[i] = i;
    f[*(int *)user] = *(int *)user % 2 ? INFINITY : NAN;
    return 0;
}

static void values_that_are_not_finite_are_named(void **state)
{
    (void)state;
    bench b;
    int k;
    double y[9] = {0}, f[9];
    open(&b, (dae_system){.kind = DAE_KIND_ODE, .ode = {.n = 9, .f = one_bad_value, .user = &k}});
    for (k = 0; k < 9; k++) {
        assert_int_equal(dae_ivp_f(&b.ivp, 0, y, f), 1);
        assert_int_equal(b.ivp.bad_component, k);
    }
    assert_int_equal(b.stats.undefined, 9);
    dae_arena_destroy(b.arena);
}

/* ---- Times ---------------------------------------------------------------------------------------------------- */

static double earliest, latest;

static int time_cubed(double t, const double *y, double *f, void *user)
{
    (void)y, (void)user;
    earliest = fmin(earliest, t);
    latest = fmax(latest, t);
    f[0] = t * t * t;
    return 0;
}

static void derivative_by_time_stays_before_the_wall(void **state)
{
    (void)state;
    static const double at[] = {0, 0.5, 1 - 1e-10, 1};
    for (int direction = -1; direction <= 1; direction += 2) {
        for (int k = 0; k < 4; k++) {
            bench b;
            double t = direction * at[k], f = t * t * t, dfdt;
            open(&b, (dae_system){.kind = DAE_KIND_ODE, .ode = {.n = 1, .f = time_cubed}});
            prepare(&b, "auto", (double[]){0}, NULL);
            b.ivp.direction = direction;
            b.ivp.t_stop = b.ivp.t_end = b.ivp.right = direction;
            earliest = INFINITY;
            latest = -INFINITY;
            assert_int_equal(dae_ivp_dfdt(&b.ivp, t, (double[]){0}, &f, &dfdt), 0);
            assert_near(dfdt, 3 * t * t, 1e-6);
            assert_true(direction > 0 ? latest < 1 : earliest > -1);
            assert_int_equal(b.stats.f_jac, 1);
            dae_arena_destroy(b.arena);
        }
    }
}

static int given_dfdt(double t, const double *y, double *f, void *user)
{
    (void)t, (void)y, (void)user;
    f[0] = 42;
    return 0;
}

static void given_derivative_by_time_is_used(void **state)
{
    (void)state;
    bench b;
    double f = 0, dfdt;
    open(&b, (dae_system){.kind = DAE_KIND_ODE, .ode = {.n = 1, .f = time_cubed, .dfdt = given_dfdt}});
    assert_int_equal(dae_ivp_dfdt(&b.ivp, 0, (double[]){0}, &f, &dfdt), 0);
    assert_near(dfdt, 42, 0);
    dae_arena_destroy(b.arena);
}

static void evaluations_at_the_ends_of_a_segment_are_one_sided(void **state)
{
    (void)state;
    for (int direction = -1; direction <= 1; direction += 2) {
        bench b;
        double f;
        open(&b, (dae_system){.kind = DAE_KIND_ODE, .ode = {.n = 1, .f = time_cubed}});
        b.ivp.direction = direction;
        b.ivp.left = direction * 1;
        b.ivp.right = direction * 2;
        earliest = INFINITY;
        latest = -INFINITY;
        dae_ivp_f(&b.ivp, b.ivp.left, (double[]){0}, &f);
        dae_ivp_f(&b.ivp, b.ivp.right, (double[]){0}, &f);
        assert_true(fmin(fabs(earliest), fabs(latest)) == nextafter(1, 2));
        assert_true(fmax(fabs(earliest), fabs(latest)) == nextafter(2, 1));
        dae_arena_destroy(b.arena);
    }
}

static void first_step_stays_before_the_wall(void **state)
{
    (void)state;
    bench b;
    double y = 1e6, f = 1e-9;
    open(&b, (dae_system){.kind = DAE_KIND_ODE, .ode = {.n = 1, .f = time_cubed}});
    prepare(&b, "auto", &y, NULL);
    b.ivp.t_end = 1e3;
    b.ivp.t_stop = b.ivp.right = 0.25;
    earliest = INFINITY;
    latest = -INFINITY;
    double h = dae_ivp_first_step(&b.ivp, 0, &y, &f, 5);
    assert_between(h, 1e-12, 0.25);
    assert_true(latest < 0.25);
    assert_near(dae_ivp_first_step(&b.ivp, 0.25, &y, &f, 5), 0, 0); /* no room at all */
    dae_arena_destroy(b.arena);
}

/* ---- M y' = f ---------------------------------------------------------------------------------------------------- */

static int constants(double t, const double *y, double *f, void *user)
{
    (void)t, (void)y, (void)user;
    f[0] = 6;
    f[1] = 4;
    f[2] = 5;
    return 0;
}

static void derivative_solves_with_the_mass_matrix(void **state)
{
    (void)state;
    static const double diagonal[] = {2, 4, 0};
    static const double full[] = {2, 0, 0, 1, 2, 0, 0, 0, 0}; /* [2 1 0; 0 2 0; 0 0 0] */
    static const int cp[] = {0, 1, 3, 3}, ri[] = {0, 0, 1};
    static const double values[] = {2, 1, 2};
    const dae_matrix masses[] = {
        dae_diagonal(3, diagonal), dae_dense(3, full), dae_sparse(3, cp, ri, values), {0}};
    static const double expected[][3] = {{3, 1, 0}, {2, 2, 0}, {2, 2, 0}, {6, 4, 5}};
    for (int k = 0; k < 4; k++) {
        bench b;
        double yp[3];
        open(&b, (dae_system){.kind = DAE_KIND_DAE, .dae = {.n = 3, .f = constants, .mass = masses[k]}});
        assert_int_equal(dae_ivp_derivative(&b.ivp, 0, (double[3]){0}, yp), 0);
        for (int i = 0; i < 3; i++) assert_near(yp[i], expected[k][i], 1e-13);
        dae_arena_destroy(b.arena);
    }
}

/* ---- F(t,y,y') = 0 ------------------------------------------------------------------------------------------------- */

/* y0' = -y0 + y1,  0 = y1 - y0^2 */
static int index1(double t, const double *y, const double *yp, double *F, void *user)
{
    (void)t, (void)user;
    F[0] = yp[0] + y[0] - y[1];
    F[1] = y[1] - y[0] * y[0];
    return 0;
}

static dae_status consistent_with(bench *b, dae_residual *F, double *y, double *yp, double delta)
{
    open(b, (dae_system){.kind = DAE_KIND_IDE, .ide = {.n = 2, .residual = F}});
    prepare(b, "auto", y, yp);
    dae_status s = dae_ivp_consistent(&b->ivp, 0.5, y, yp, delta, &b->err);
    dae_arena_destroy(b->arena);
    return s;
}

static dae_status consistent(bench *b, dae_residual *F, double *y, double *yp)
{
    return consistent_with(b, F, y, yp, 0);
}

/* y1 = y0^2: its slope is 2 y0 y0' = 8, whatever was there; without delta it stays. */
static void slopes_of_algebraic_variables_are_found(void **state)
{
    (void)state;
    bench b;
    double y[] = {2, 4}, yp[] = {0, -8};
    assert_int_equal(consistent(&b, index1, y, yp), DAE_OK);
    assert_near(yp[1], -8, 0);
    assert_int_equal(consistent_with(&b, index1, y, yp, 1e-6), DAE_OK);
    assert_near(yp[0], 2, 1e-8);
    assert_near(yp[1], 8, 1e-5); /* a difference over 1e-6 */
}

static void missing_derivatives_and_wrong_algebraic_values_are_found(void **state)
{
    (void)state;
    bench b;
    double y[] = {2, 17}, yp[] = {0, 0};
    assert_int_equal(consistent(&b, index1, y, yp), DAE_OK);
    assert_near(y[0], 2, 0); /* a differential variable is kept */
    assert_near(y[1], 4, 1e-8);
    assert_near(yp[0], 2, 1e-8);
    assert_int_equal(b.stats.jac, 0);
}

/* y0' = 1,  0 = y0 - 2: nothing can make y0 = 1 right. */
static int fixed(double t, const double *y, const double *yp, double *F, void *user)
{
    (void)t, (void)user;
    F[0] = yp[0] - 1 + 0 * y[1];
    F[1] = y[0] - 2;
    return 0;
}

static void differential_values_off_their_equation_are_inconsistent(void **state)
{
    (void)state;
    bench b;
    double y[] = {1, 0}, yp[] = {0, 0};
    assert_int_equal(consistent(&b, fixed, y, yp), DAE_ERR_INCONSISTENT);
    assert_memory_equal(b.err.text,
                        "t = 0.5: no consistent initial values: equation 2 keeps the residual -1 ", 72);
    assert_near(b.err.t, 0.5, 0);
    y[0] = 2;
    assert_int_equal(consistent(&b, fixed, y, yp), DAE_OK);
    assert_near(yp[0], 1, 1e-10);
}

static int bad_residual(double t, const double *y, const double *yp, double *F, void *user)
{
    (void)t, (void)user;
    F[0] = yp[0];
    F[1] = sqrt(y[1]);
    return 0;
}

static int stopping_residual(double t, const double *y, const double *yp, double *F, void *user)
{
    index1(t, y, yp, F, user);
    return -1;
}

static void residuals_that_fail_say_where(void **state)
{
    (void)state;
    bench b;
    double y[] = {1, -1}, yp[] = {0, 0};
    assert_int_equal(consistent(&b, bad_residual, y, yp), DAE_ERR_UNDEFINED);
    assert_memory_equal(
        b.err.text,
        "t = 0.5: component 2 of the residual or its Jacobian is not finite at the initial values", 84);
    assert_int_equal(b.stats.jac, 0);
    assert_int_equal(consistent(&b, stopping_residual, y, yp), DAE_ERR_CALLBACK);
    assert_string_equal(b.err.text, "t = 0.5: the residual asked to stop at the initial values");
}

/* 0 = log y1: a full Newton step from y1 = 5 leaves the domain. */
static int logarithm(double t, const double *y, const double *yp, double *F, void *user)
{
    (void)t, (void)user;
    F[0] = yp[0] + y[0];
    F[1] = log(y[1]);
    return 0;
}

static void increments_that_leave_the_domain_are_shortened(void **state)
{
    (void)state;
    bench b;
    double y[] = {1, 5}, yp[] = {0, 0};
    assert_int_equal(consistent(&b, logarithm, y, yp), DAE_OK);
    assert_near(y[1], 1, 1e-8);
    assert_near(yp[0], -1, 1e-8);
}

static int coupled(double t, const double *y, const double *yp, double *F, void *user)
{
    (void)t, (void)user;
    for (int i = 0; i < N; i++)
        F[i] = (1 + i) * yp[i] - y[i] * (i ? y[i - 1] : 1) + (i ? yp[i] * y[i - 1] : 0);
    return 0;
}

static void residual_jacobians_agree_with_the_derivatives(void **state)
{
    (void)state;
    for (int storage = DAE_DENSE; storage <= DAE_SPARSE; storage++) {
        bench b;
        double y[N], yp[N], F[N], dy[N * N], dyp[N * N];
        open(&b, (dae_system){.kind = DAE_KIND_IDE,
                              .ide = {.n = N, .residual = coupled},
                              .structure = {.jacobian = chain_pattern((dae_storage)storage)}});
        chain_state(y);
        for (int i = 0; i < N; i++) yp[i] = cos(i);
        prepare(&b, "auto", y, yp);
        coupled(0, y, yp, F, NULL);
        assert_int_equal(dae_ivp_residual_jacobian(&b.ivp, 0, y, yp, F, dy, dyp), 0);
        assert_int_equal(b.stats.f_jac, storage == DAE_DENSE ? 2 * N : 6);
        dae_matrix A = as_matrix(&b, dy), B = as_matrix(&b, dyp);
        for (int i = 0; i < N; i++) {
            for (int j = 0; j < N; j++) {
                double a = j == i ? -(i ? y[i - 1] : 1) : j == i - 1 ? -y[i] + yp[i] : 0;
                double c = j == i ? 1 + i + (i ? y[i - 1] : 0) : 0;
                assert_near(dae_matrix_get(&A, i, j), a, 1e-6);
                assert_near(dae_matrix_get(&B, i, j), c, 2e-6);
            }
        }
        dae_arena_destroy(b.arena);
    }
}

/* A row of stiff springs with a dense Jacobian; the last one touches the first when it has come down to 0.5. */
enum { SPRINGS = 120 };

static int springs(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    for (int i = 0; i < SPRINGS; i++) {
        double left = i ? y[i - 1] : 0, right = i < SPRINGS - 1 ? y[i + 1] : 0;
        f[i] = 1e4 * (left - 2 * y[i] + right) * (i % 7 == 3) - y[i] * y[i];
    }
    if (y[0] < 0.5) f[SPRINGS - 1] += 50 * (0.5 - y[0]) * (0.5 - y[0]) * y[1];
    return 0;
}

static int springs_jac(double t, const double *y, double *J, void *user)
{
    (void)t, (void)user;
    for (int i = 0; i < SPRINGS; i++) {
        double k = 1e4 * (i % 7 == 3);
        J[i + i * SPRINGS] = -2 * k - 2 * y[i];
        if (i) J[i + (i - 1) * SPRINGS] = k;
        if (i < SPRINGS - 1) J[i + (i + 1) * SPRINGS] = k;
    }
    if (y[0] < 0.5) {
        J[SPRINGS - 1] += -100 * (0.5 - y[0]) * y[1];
        J[SPRINGS - 1 + SPRINGS] += 50 * (0.5 - y[0]) * (0.5 - y[0]);
    }
    return 0;
}

/* Mostly zeros: factored sparse, and what shows up later gets its place. */
static void patterns_that_are_found_grow(void **state)
{
    static const char *const method[] = {"radau5", "vode", "rodas4p2", "dassl", "gamd"};
    (void)state;
    for (int m = 0; m < 5; m++) {
        double y[2][SPRINGS];
        long steps[2];
        for (int k = 0; k < 2; k++) {
            dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = SPRINGS, .f = springs, .jac = springs_jac}};
            dae_options opt = dae_options_default();
            dae_error err = {0};
            opt.method = method[m];
            opt.rtol = opt.atol = 1e-7;
            opt.linear_algebra = k ? "auto" : "dense";
            double y0[SPRINGS];
            for (int i = 0; i < SPRINGS; i++) y0[i] = 2;
            dae_integrator *it = dae_integrator_create(&sys, &opt, &err);
            assert_int_equal(dae_integrator_start(it, 0, 5, y0, NULL, &err), DAE_OK);
            if (dae_integrator_advance(it, 5, &err)) fail_msg("%s: %s", method[m], err.text);
            memcpy(y[k], dae_integrator_state(it), sizeof y[k]);
            assert_int_equal(strncmp(dae_integrator_linear_algebra(it), k ? "sparse" : "dense", 5), 0);
            steps[k] = dae_integrator_stats(it)->accepted;
            dae_integrator_destroy(it);
        }
        for (int i = 0; i < SPRINGS; i++) assert_near(y[1][i], y[0][i], 2e-5);
        if (steps[1] > steps[0] + steps[0] / 4 + 60)
            fail_msg("%s: %ld steps for %ld", method[m], steps[1], steps[0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(differences_agree_with_the_derivative_in_every_layout),
        cmocka_unit_test(analytic_jacobians_are_converted_to_the_wanted_layout),
        cmocka_unit_test(difference_option_ignores_the_analytic_jacobian),
        cmocka_unit_test(banded_without_bandwidths_is_refused),
        cmocka_unit_test(probing_finds_products_of_zeros_and_columns_share_evaluations),
        cmocka_unit_test(probing_where_nothing_can_be_evaluated_fails),
        cmocka_unit_test(jacobian_at_the_border_of_the_domain_is_found_from_inside),
        cmocka_unit_test(what_the_function_answers_is_passed_on),
        cmocka_unit_test(values_that_are_not_finite_are_named),
        cmocka_unit_test(derivative_by_time_stays_before_the_wall),
        cmocka_unit_test(given_derivative_by_time_is_used),
        cmocka_unit_test(evaluations_at_the_ends_of_a_segment_are_one_sided),
        cmocka_unit_test(first_step_stays_before_the_wall),
        cmocka_unit_test(derivative_solves_with_the_mass_matrix),
        cmocka_unit_test(slopes_of_algebraic_variables_are_found),
        cmocka_unit_test(missing_derivatives_and_wrong_algebraic_values_are_found),
        cmocka_unit_test(differential_values_off_their_equation_are_inconsistent),
        cmocka_unit_test(residuals_that_fail_say_where),
        cmocka_unit_test(increments_that_leave_the_domain_are_shortened),
        cmocka_unit_test(residual_jacobians_agree_with_the_derivatives),
        cmocka_unit_test(patterns_that_are_found_grow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
