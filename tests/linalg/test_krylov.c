/* GMRES and incomplete factors against Gaussian elimination and matrices whose incomplete factors are complete. */
#include "linalg/ilu.h"
#include "linalg/krylov.h"
#include "linalg/matrices.h"

/* lambda M - J on a line of points (tridiagonal) or on an N x N grid (five points), J not symmetric. */
typedef struct grid {
    int n, N; /* N = 0: a line */
    int colptr[401], rowind[2000];
    double J[2000], mass[400], w[400];
} grid;

static int near_by(const grid *g, int i, int j)
{
    int d = abs(i - j);
    if (d == 0) return 1;
    if (g->N == 0) return d == 1;
    return (d == 1 && i / g->N == j / g->N) || d == g->N;
}

static grid make_grid(int n, int N, uint64_t seed)
{
    grid g = {.n = n, .N = N};
    sequence s = {seed};
    int k = 0;
    for (int j = 0; j < n; j++) {
        g.colptr[j] = k;
        for (int i = 0; i < n; i++) {
            if (!near_by(&g, i, j)) continue;
            g.rowind[k] = i;
            g.J[k++] = i == j ? -4.5 + 0.2 * next(&s) : 1 + 0.3 * next(&s);
        }
        g.mass[j] = 1 + 0.5 * next(&s);
        g.w[j] = exp(3 * next(&s)); /* tolerances that differ by a thousand */
    }
    g.colptr[n] = k;
    return g;
}

static dae_pattern pattern_of(const grid *g)
{
    return (dae_pattern){.storage = DAE_SPARSE, .colptr = g->colptr, .rowind = g->rowind};
}

static int multiply(void *self, const double *v, double *Jv)
{
    const grid *g = self;
    for (int i = 0; i < g->n; i++) Jv[i] = 0;
    for (int j = 0; j < g->n; j++) {
        for (int k = g->colptr[j]; k < g->colptr[j + 1]; k++) Jv[g->rowind[k]] += g->J[k] * v[j];
    }
    return 0;
}

/* What is left of (lambda M - J) x = b, in tolerances of b/|lambda| at most. */
static double left_over(const grid *g, int with_mass, double re, double im, const double *x, const double *y,
                        const double *b, const double *c)
{
    double Jx[400], Jy[400] = {0}, worst = 0;
    multiply((void *)g, x, Jx);
    if (y) multiply((void *)g, y, Jy);
    for (int i = 0; i < g->n; i++) {
        double m = with_mass ? g->mass[i] : 1, v = y ? y[i] : 0;
        double r = m * (re * x[i] - im * v) - Jx[i] - b[i],
               s = m * (im * x[i] + re * v) - Jy[i] - (c ? c[i] : 0);
        worst = fmax(worst, hypot(r, s) / g->w[i]);
    }
    return worst;
}

static void gmres_solves_with_every_preconditioner(void **state)
{
    static const dae_preconditioner with[] = {DAE_NO_PRECONDITIONER, DAE_BAND, DAE_ILU};
    (void)state;
    for (int k = 0; k < 24; k++) {
        grid g = make_grid(400, 20, 7 + (uint64_t)k);
        int is_complex = k % 2, with_mass = k / 2 % 2, vectors = k < 12 ? 60 : 8;
        dae_preconditioner p = with[k % 3];
        long iterations = 0;
        dae_krylov krylov = {.vectors = vectors,
                             .most = 2000,
                             .absolute = 1e-9,
                             .tolerance = g.w,
                             .product = p == DAE_ILU ? NULL : multiply,
                             .self = &g,
                             .preconditioner = p,
                             .iterations = &iterations};
        dae_pattern pattern = pattern_of(&g), band = {.storage = DAE_BANDED, .lower = 1, .upper = 1};
        double *J = g.J, values[1200] = {0};
        if (p == DAE_BAND) {
            for (int j = 0; j < g.n; j++) {
                for (int c = g.colptr[j]; c < g.colptr[j + 1]; c++) {
                    int d = g.rowind[c] - j;
                    if (d >= -1 && d <= 1) values[1 + d + 3 * j] = g.J[c];
                }
            }
            pattern = band;
            J = values;
        }
        dae_matrix mass = with_mass ? dae_diagonal(g.n, g.mass) : (dae_matrix){0};
        dae_linear_solver s = dae_krylov_solver(&krylov);
        void *self = s.create(g.n, &pattern, &mass, is_complex, s.user);
        assert_non_null(self);
        sequence random = {99 + (uint64_t)k};
        double *b = random_reals(&random, 400), *c = random_reals(&random, 400), x[400], y[400];
        memcpy(x, b, sizeof x);
        memcpy(y, c, sizeof y);
        double re = 0.4, im = is_complex ? 0.7 : 0;
        assert_int_equal(s.factor(self, re, im, J), 0);
        assert_int_equal(s.solve(self, x, is_complex ? y : NULL), 0);
        double left = left_over(&g, with_mass, re, im, x, is_complex ? y : NULL, b, is_complex ? c : NULL);
        if (!(left < 1e-6)) fail_msg("case %d: %g left after %ld iterations", k, left, iterations);
        assert_true(iterations > 0);
        s.destroy(self);
        free(b);
        free(c);
    }
}

/* The better the preconditioner the fewer iterations; without fill-in the incomplete factors are the factors. */
static void preconditioners_save_iterations(void **state)
{
    long count[3];
    (void)state;
    for (int k = 0; k < 3; k++) {
        grid g = make_grid(400, k == 2 ? 0 : 20, 3);
        count[k] = 0;
        dae_krylov krylov = {.vectors = 100,
                             .most = 1000,
                             .absolute = 1e-9,
                             .tolerance = g.w,
                             .product = k ? NULL : multiply,
                             .self = &g,
                             .preconditioner = k ? DAE_ILU : DAE_NO_PRECONDITIONER,
                             .iterations = &count[k]};
        dae_pattern pattern = pattern_of(&g);
        dae_matrix mass = {0};
        dae_linear_solver s = dae_krylov_solver(&krylov);
        void *self = s.create(g.n, &pattern, &mass, 0, s.user);
        double x[400];
        for (int i = 0; i < g.n; i++) x[i] = sin(i);
        assert_int_equal(s.factor(self, 0.1, 0, g.J), 0);
        assert_int_equal(s.solve(self, x, NULL), 0);
        s.destroy(self);
    }
    assert_true(2 * count[1] < count[0]);
    assert_true(count[2] <= 2); /* the first brings it down to rounding */
}

/* Where nothing better is known lambda M is divided by, in its rows that have one: with J = 0 there, and -1 in the others, nothing is left
 * to be iterated on. */
static void masses_alone_need_no_iterations(void **state)
{
    (void)state;
    for (int is_complex = 0; is_complex < 2; is_complex++) {
        grid g = make_grid(100, 0, 17);
        double b[100], c[100], x[100], y[100], re = 3, im = is_complex ? 2 : 0;
        memset(g.J, 0, sizeof g.J);
        for (int j = 0; j < g.n; j++) {
            b[j] = x[j] = cos(j), c[j] = y[j] = sin(2 * j);
            if (j % 5) continue;
            g.mass[j] = 0;
            for (int k = g.colptr[j]; k < g.colptr[j + 1]; k++) g.J[k] = g.rowind[k] == j ? -1 : 0;
        }
        long iterations = 0;
        dae_krylov krylov = {.vectors = 50,
                             .most = 100,
                             .absolute = 1e-9,
                             .tolerance = g.w,
                             .product = multiply,
                             .self = &g,
                             .preconditioner = DAE_NO_PRECONDITIONER,
                             .iterations = &iterations};
        dae_pattern pattern = pattern_of(&g);
        dae_matrix mass = dae_diagonal(g.n, g.mass);
        dae_linear_solver s = dae_krylov_solver(&krylov);
        void *self = s.create(g.n, &pattern, &mass, is_complex, s.user);
        assert_int_equal(s.factor(self, re, im, g.J), 0);
        assert_int_equal(s.solve(self, x, is_complex ? y : NULL), 0);
        assert_true(left_over(&g, 1, re, im, x, is_complex ? y : NULL, b, is_complex ? c : NULL) < 1e-9);
        assert_true(iterations <= 2); /* the first brings it down to rounding */
        s.destroy(self);
    }
}

/* Tridiagonal: nothing is left out, so the solution is exact; the pattern may lack its diagonal. */
static void incomplete_factors_without_fill_are_factors(void **state)
{
    (void)state;
    for (int is_complex = 0; is_complex < 2; is_complex++) {
        grid g = make_grid(50, 0, 21);
        int colptr[51], rowind[150], k = 0;
        double J[150];
        for (int j = 0; j < 50; j++) { /* without the diagonal of J */
            colptr[j] = k;
            for (int c = g.colptr[j]; c < g.colptr[j + 1]; c++) {
                if (g.rowind[c] == j) {
                    g.J[c] = 0;
                    continue;
                }
                rowind[k] = g.rowind[c];
                J[k++] = g.J[c];
            }
        }
        colptr[50] = k;
        dae_pattern pattern = {.storage = DAE_SPARSE, .colptr = colptr, .rowind = rowind};
        dae_ilu f;
        dae_matrix mass = dae_diagonal(50, g.mass);
        assert_int_equal(dae_ilu_create(&f, &pattern, 50, is_complex), 0);
        assert_int_equal(f.rowptr[50], k + 50);
        double re = 5, im = is_complex ? 2 : 0, b[50], c[50], x[50], y[50];
        for (int i = 0; i < 50; i++) b[i] = x[i] = cos(i), c[i] = y[i] = sin(i);
        dae_ilu_form(&f, re, im, J, &mass);
        assert_int_equal(dae_ilu_factor(&f), 0);
        dae_ilu_solve(&f, x, is_complex ? y : NULL);
        for (int i = 0; i < 50; i++) g.w[i] = 1;
        double left = left_over(&g, 1, re, im, x, is_complex ? y : NULL, b, is_complex ? c : NULL);
        assert_true(left < 1e-13);
        dae_ilu_destroy(&f);
    }
}

static void values_that_are_not_finite_are_told(void **state)
{
    (void)state;
    grid g = make_grid(50, 0, 5);
    dae_ilu f;
    dae_pattern pattern = pattern_of(&g);
    dae_matrix mass = {0};
    assert_int_equal(dae_ilu_create(&f, &pattern, 50, 0), 0);
    g.J[g.colptr[20] + 1] = NAN; /* (20, 20) */
    dae_ilu_form(&f, 1, 0, g.J, &mass);
    assert_int_equal(dae_ilu_factor(&f), 21);
    dae_ilu_destroy(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gmres_solves_with_every_preconditioner),
        cmocka_unit_test(preconditioners_save_iterations),
        cmocka_unit_test(masses_alone_need_no_iterations),
        cmocka_unit_test(incomplete_factors_without_fill_are_factors),
        cmocka_unit_test(values_that_are_not_finite_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
