/* linear_algebra = krylov: the same solutions as with factors, counts, preconditioners of the user, memory. */
#include "test.h"

#include <daedalus/daedalus.h>
#include <daedalus/problem.h>

#include <stdlib.h>

/* Brusselator with diffusion on the unit square, zero flux, [HW] section IV.10: N*N points, u then v. */
typedef struct plane {
    int N;
    long calls;
} plane;

static int neighbour(int i, int N)
{
    return i < 0 ? 1 : i >= N ? N - 2 : i;
}

static int brusselator(double t, const double *y, double *f, void *user)
{
    plane *p = user;
    int N = p->N, n = N * N;
    double q = 0.1 * (N - 1) * (N - 1);
    (void)t;
    p->calls++;
    for (int k = 0; k < n; k++) {
        int i = k % N, j = k / N, left = j * N + neighbour(i - 1, N), right = j * N + neighbour(i + 1, N),
            up = neighbour(j - 1, N) * N + i, down = neighbour(j + 1, N) * N + i;
        const double *u = y, *v = y + n;
        double uuv = u[k] * u[k] * v[k];
        f[k] = 1 + uuv - 4.4 * u[k] + q * (u[left] + u[right] + u[up] + u[down] - 4 * u[k]);
        f[n + k] = 3.4 * u[k] - uuv + q * (v[left] + v[right] + v[up] + v[down] - 4 * v[k]);
    }
    return 0;
}

static void begin(int N, double *y)
{
    for (int k = 0; k < N * N; k++) {
        double X = (double)(k % N) / (N - 1), Y = (double)(k / N) / (N - 1);
        y[k] = 22 * Y * pow(1 - Y, 1.5);
        y[N * N + k] = 27 * X * pow(1 - X, 1.5);
    }
}

static int by_value(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static void make_pattern(int N, int *colptr, int *rowind)
{
    int n = N * N, k = 0;
    for (int c = 0; c < 2 * n; c++) {
        int at = c % n, first = k;
        colptr[c] = k;
        rowind[k++] = c;
        rowind[k++] = c < n ? c + n : c - n;
        if (at % N > 0) rowind[k++] = c - 1;
        if (at % N < N - 1) rowind[k++] = c + 1;
        if (at / N > 0) rowind[k++] = c - N;
        if (at / N < N - 1) rowind[k++] = c + N;
        qsort(rowind + first, (size_t)(k - first), sizeof *rowind, by_value);
    }
    colptr[2 * n] = k;
}

enum { POINTS = 16, SIZE = 2 * POINTS * POINTS };
static int colptr[SIZE + 1], rowind[6 * SIZE];
static plane small = {POINTS, 0};

static dae_system square(int with_pattern)
{
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = SIZE, .f = brusselator, .user = &small}};
    make_pattern(POINTS, colptr, rowind);
    if (with_pattern)
        sys.structure.jacobian = (dae_pattern){.storage = DAE_SPARSE, .colptr = colptr, .rowind = rowind};
    return sys;
}

static double error_of(const double *y, const double *fine, double tol)
{
    double most = 0;
    for (int i = 0; i < SIZE; i++) most = fmax(most, fabs(y[i] - fine[i]) / (1 + fabs(fine[i])) / tol);
    return most;
}

static const char *const preconditioner[] = {"ilu", "band", "none"};

/* As accurate as with factors, in about as many steps, by every method and preconditioner. */
static void same_solutions_as_with_factors(void **state)
{
    static const char *const method[] = {"vode", "lsoda", "dassl", "mebdf",  "radau5",   "radau",
                                         "gamd", "bimd",  "pside", "seulex", "rodas4p2", "rosnys4"};
    static double fine[SIZE], y[SIZE];
    double tol = 1e-5;
    dae_error err = {0};
    dae_options opt = dae_options_default();
    (void)state;
    opt.method = "dop853";
    opt.rtol = opt.atol = 1e-10;
    dae_system sys = square(1);
    begin(POINTS, fine);
    assert_int_equal(dae_solve(&sys, &opt, 0, 0.5, fine, NULL, &err), DAE_OK);
    opt.rtol = opt.atol = tol;
    for (size_t m = 0; m < sizeof method / sizeof *method; m++) {
        dae_stats with, without;
        opt.method = method[m];
        if (!dae_method_find(method[m])) continue;
        opt.linear_algebra = "sparse";
        sys = square(1);
        begin(POINTS, y);
        if (dae_solve(&sys, &opt, 0, 0.5, y, &with, &err)) fail_msg("%s: %s", method[m], err.text);
        double before = error_of(y, fine, tol);
        assert_int_equal(with.krylov, 0);
        for (int k = 0; k < 3; k++) {
            opt.linear_algebra = "krylov";
            opt.preconditioner = preconditioner[k];
            sys = square(k == 0);
            begin(POINTS, y);
            small.calls = 0;
            if (dae_solve(&sys, &opt, 0, 0.5, y, &without, &err))
                fail_msg("%s with %s: %s", method[m], preconditioner[k], err.text);
            double after = error_of(y, fine, tol);
            if (!(after <= 3 * before + 3))
                fail_msg("%s with %s: error %g tolerances, with factors %g", method[m], preconditioner[k],
                         after, before);
            if (!((double)without.accepted <= 1.4 * (double)with.accepted + 10))
                fail_msg("%s with %s: %ld steps, with factors %ld", method[m], preconditioner[k],
                         without.accepted, with.accepted);
            if (with.lu > 0 && without.krylov <= 0) /* lsoda may stay explicit */
                fail_msg("%s with %s: no iterations", method[m], preconditioner[k]);
            assert_int_equal(without.f + without.f_jac, small.calls);
            if (k == 2)
                assert_int_equal(without.f_jac >= without.krylov, 1); /* each a product, complex ones two */
        }
    }
}

/* M y' = f with a singular M, and Jacobians that are given dense: products only. */
static void algebraic_equations(void **state)
{
    static const char *const method[] = {"dassl", "radau5"};
    (void)state;
    for (int m = 0; m < 2; m++) {
        dae_error err = {0};
        dae_problem *p = dae_problem_create("chemakzo", NULL, 0, &err);
        assert_non_null(p);
        double y[8];
        int n = dae_system_size(&p->system);
        for (int i = 0; i < n; i++) y[i] = p->y0[i];
        dae_options opt = dae_options_default();
        dae_stats st;
        opt.method = method[m];
        opt.rtol = opt.atol = 1e-7;
        opt.linear_algebra = "krylov";
        if (dae_solve(&p->system, &opt, p->t0, p->t_end, y, &st, &err))
            fail_msg("%s: %s", method[m], err.text);
        for (int i = 0; i < n; i++) {
            if (!(fabs(y[i] - p->reference[i]) <= 1e-5 * (1e-2 + fabs(p->reference[i]))))
                fail_msg("%s: y%d = %.10g, expected %.10g", method[m], i + 1, y[i], p->reference[i]);
        }
        assert_true(st.krylov > 0);
        dae_problem_destroy(p);
    }
}

/* u' = diffusion - w, 0 = w - u^2 - w^3/10 on the grid, by incomplete factors. */
static int with_algebra(double t, const double *y, double *f, void *user)
{
    static double rates[SIZE];
    enum { HALF = SIZE / 2 };
    brusselator(t, y, rates, user);
    for (int k = 0; k < HALF; k++) {
        double u = y[k], v = y[HALF + k], uuv = u * u * v;
        f[k] = rates[k] - (1 + uuv - 4.4 * u) - v;
        f[HALF + k] = v - u * u - 0.1 * v * v * v;
    }
    return 0;
}

static void algebraic_equations_on_a_grid(void **state)
{
    static const char *const method[] = {"dassl", "radau5", "mebdfdae", "gamd"};
    static double mass[SIZE], y[2][SIZE];
    enum { HALF = SIZE / 2 };
    dae_options opt = dae_options_default();
    dae_error err = {0};
    (void)state;
    for (int i = 0; i < SIZE; i++) mass[i] = i < HALF;
    dae_system sys = square(1);
    dae_structure structure = sys.structure;
    sys =
        (dae_system){.kind = DAE_KIND_DAE,
                     .dae = {.n = SIZE, .mass = dae_diagonal(SIZE, mass), .f = with_algebra, .user = &small},
                     .structure = structure};
    for (int m = 0; m < 4; m++) {
        dae_stats st;
        opt.method = method[m];
        opt.rtol = opt.atol = 1e-7;
        for (int k = 0; k < 2; k++) {
            for (int i = 0; i < HALF; i++) {
                double u = 0.5 + 0.2 * sin(0.1 * i), w = u * u;
                for (int step = 0; step < 60; step++) w = u * u + 0.1 * w * w * w;
                y[k][i] = u;
                y[k][HALF + i] = w;
            }
            opt.linear_algebra = k ? "krylov" : "sparse";
            if (dae_solve(&sys, &opt, 0, 0.3, y[k], &st, &err)) fail_msg("%s: %s", method[m], err.text);
        }
        assert_true(st.krylov > 0);
        double most = error_of(y[1], y[0], 1e-7);
        if (!(most < 30)) fail_msg("%s: %g tolerances apart", method[m], most);
    }
}

/* A solver of the user is the preconditioner then: here the diagonal of lambda - J by differences. */
typedef struct mine {
    int n;
    double lambda;
    long *solved;
} mine;

static void *mine_create(int n, const dae_pattern *jacobian, const dae_matrix *mass, int is_complex,
                         void *user)
{
    mine *m = calloc(1, sizeof *m);
    (void)jacobian;
    assert_true(m && mass->n == 0 && !is_complex);
    *m = (mine){.n = n, .solved = user};
    return m;
}

static int mine_factor(void *self, double re, double im, const double *J)
{
    (void)im, (void)J;
    ((mine *)self)->lambda = re;
    return 0;
}

static int mine_solve(void *self, double *re, double *im)
{
    mine *m = self;
    (void)im;
    double q = 0.4 * (POINTS - 1) * (POINTS - 1);
    for (int i = 0; i < m->n; i++) re[i] /= m->lambda + q;
    ++*m->solved;
    return 0;
}

static void preconditioners_of_the_user(void **state)
{
    static double y[SIZE], z[SIZE];
    long solved = 0;
    dae_linear_solver own = {.create = mine_create,
                             .factor = mine_factor,
                             .solve = mine_solve,
                             .destroy = free,
                             .name = "diagonal",
                             .user = &solved};
    dae_options opt = dae_options_default();
    dae_error err = {0};
    dae_stats st;
    dae_system sys = square(0);
    (void)state;
    opt.method = "vode";
    opt.rtol = opt.atol = 1e-6;
    opt.linear_algebra = "krylov";
    begin(POINTS, z);
    assert_int_equal(dae_solve(&sys, &opt, 0, 0.5, z, &st, &err), DAE_OK);
    opt.linear_solver = &own;
    begin(POINTS, y);
    assert_int_equal(dae_solve(&sys, &opt, 0, 0.5, y, &st, &err), DAE_OK);
    assert_true(solved >= st.krylov && st.krylov > 0);
    assert_true(error_of(y, z, 1e-6) < 100);
}

static void what_cannot_be_is_said(void **state)
{
    dae_options opt = dae_options_default();
    dae_error err = {0};
    dae_system sys = square(0);
    static double y[SIZE];
    (void)state;
    begin(POINTS, y);
    opt.method = "vode";
    opt.linear_algebra = "krylov";
    opt.preconditioner = "ilu";
    assert_int_equal(dae_solve(&sys, &opt, 0, 1, y, NULL, &err), DAE_ERR_INPUT);
    assert_non_null(strstr(err.text, "sparse pattern"));
    opt.preconditioner = "milu";
    assert_int_equal(dae_solve(&sys, &opt, 0, 1, y, NULL, &err), DAE_ERR_INPUT);
    opt.preconditioner = "none";
    dae_integrator *it = dae_integrator_create(&sys, &opt, &err);
    assert_int_equal(dae_integrator_start(it, 0, 1, y, NULL, &err), DAE_OK);
    assert_string_equal(dae_integrator_linear_algebra(it), "GMRES 512");
    assert_string_equal(dae_integrator_why_not_saved(it), "");
    dae_integrator_destroy(it);
}

static dae_integrator *started(const dae_options *opt, const char *with, const double *y)
{
    dae_error err = {0};
    dae_system sys = square(!strcmp(with, "ilu"));
    dae_integrator *it = dae_integrator_create(&sys, opt, &err);
    if (!it || dae_integrator_start(it, 0, 0.5, y, NULL, &err) != DAE_OK) fail_msg("%s", err.text);
    return it;
}

/* A run that is saved and taken up by another integrator goes on bit for bit, whatever GMRES keeps. */
static void saved_runs_go_on(void **state)
{
    static const char *const method[] = {"vode", "lsoda", "dassl", "mebdf",  "radau5",   "radau",
                                         "gamd", "bimd",  "pside", "seulex", "rodas4p2", "rosnys4"};
    static double y[SIZE];
    dae_options opt = dae_options_default();
    (void)state;
    begin(POINTS, y);
    opt.linear_algebra = "krylov";
    opt.rtol = opt.atol = 1e-4;
    for (size_t m = 0; m < sizeof method / sizeof *method; m++) {
        if (!dae_method_find(method[m])) continue;
        opt.method = method[m];
        for (size_t k = 0; k < sizeof preconditioner / sizeof *preconditioner; k++) {
            dae_error err = {0};
            opt.preconditioner = preconditioner[k];
            dae_integrator *one = started(&opt, preconditioner[k], y),
                           *two = started(&opt, preconditioner[k], y);
            assert_int_equal(dae_integrator_advance(one, 0.1, &err), DAE_OK);
            size_t size = dae_integrator_save(one, NULL, 0);
            void *buffer = malloc(size);
            assert_non_null(buffer);
            assert_int_equal(dae_integrator_save(one, buffer, size), size);
            if (dae_integrator_load(two, buffer, size, &err) != DAE_OK)
                fail_msg("%s %s: %s", method[m], preconditioner[k], err.text);
            free(buffer);
            assert_int_equal(dae_integrator_advance(one, 0.5, &err), DAE_OK);
            assert_int_equal(dae_integrator_advance(two, 0.5, &err), DAE_OK);
            if (memcmp(dae_integrator_state(one), dae_integrator_state(two), sizeof y) != 0 ||
                dae_integrator_stats(one)->krylov != dae_integrator_stats(two)->krylov)
                fail_msg("%s %s: not the same run", method[m], preconditioner[k]);
            dae_integrator_destroy(one);
            dae_integrator_destroy(two);
        }
    }
}

static int oscillator(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = y[1];
    f[1] = 10 * (1 - y[0] * y[0]) * y[1] - y[0];
    return 0;
}

/* Four diagonals on each side, or 50, of a matrix that has one are that one: every number is the same. */
static void bands_are_not_wider_than_the_matrix(void **state)
{
    static const char *const method[] = {"vode", "dassl", "radau5", "rodas4p2"};
    (void)state;
    for (size_t m = 0; m < sizeof method / sizeof *method; m++) {
        dae_stats stats[3];
        double y[3][2];
        for (int k = 0; k < 3; k++) {
            dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = oscillator}};
            dae_options opt = dae_options_default();
            dae_error err = {0};
            opt.method = method[m];
            opt.linear_algebra = "krylov";
            opt.preconditioner = "band";
            opt.preconditioner_band = k == 0 ? 1 : k == 1 ? 0 : 50;
            y[k][0] = 2, y[k][1] = 0;
            if (dae_solve(&sys, &opt, 0, 5, y[k], &stats[k], &err)) fail_msg("%s: %s", method[m], err.text);
            assert_memory_equal(y[k], y[0], sizeof *y);
            assert_int_equal(stats[k].accepted, stats[0].accepted);
            assert_int_equal(stats[k].f_jac, stats[0].f_jac);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_solutions_as_with_factors),
        cmocka_unit_test(algebraic_equations),
        cmocka_unit_test(algebraic_equations_on_a_grid),
        cmocka_unit_test(preconditioners_of_the_user),
        cmocka_unit_test(what_cannot_be_is_said),
        cmocka_unit_test(saved_runs_go_on),
        cmocka_unit_test(bands_are_not_wider_than_the_matrix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
