/* Linear systems eliminated as nodes: against factors with pivots of their own, constants that cost nothing, pivots to watch, the limit of
 * nodes; and the pendulum through places where the pivots of the start vanish. */
#include "files.h"

#include "equations/plan.h"

#include <daedalus/daedalus.h>

enum { m = 6 };

static double leaf_value(const dae_node *leaf, void *user)
{
    const double *x = user;
    return x[leaf->a];
}

/* A x = b by elimination with the largest pivots. */
static void solve(double A[m][m], double *b)
{
    for (int k = 0; k < m; k++) {
        int r = k;
        for (int i = k; i < m; i++) r = fabs(A[i][k]) > fabs(A[r][k]) ? i : r;
        for (int j = 0; j < m; j++) {
            double swap = A[k][j];
            A[k][j] = A[r][j];
            A[r][j] = swap;
        }
        double swap = b[k];
        b[k] = b[r];
        b[r] = swap;
        for (int i = k + 1; i < m; i++) {
            double f = A[i][k] / A[k][k];
            for (int j = k; j < m; j++) A[i][j] -= f * A[k][j];
            b[i] -= f * b[k];
        }
    }
    for (int k = m - 1; k >= 0; k--) {
        for (int j = k + 1; j < m; j++) b[k] -= A[k][j] * b[j];
        b[k] /= A[k][k];
    }
}

/* Every second entry of 6 x 6 is a variable, some are numbers; at two points, the second far from where the order was chosen. */
static void elimination_solves(void **state)
{
    dae_graph *g = dae_graph_create();
    int row[m * m], column[m * m], entry[m * m], f[m], x[m], watch[m], order[2 * m], count = 0;
    double value[2][m * m + m], at_entry[m * m], scratch[m * m], pivot[m];
    (void)state;
    for (int i = 0; i < m; i++) {
        f[i] = dae_graph_variable(g, m * m + i, 0);
        for (int j = 0; j < m; j++) {
            if ((i * 5 + j * 3) % 7 > 2 && i != (j + 1) % m) continue;
            row[count] = i;
            column[count] = j;
            entry[count] = j == 2 ? dae_graph_number(g, i == 3 ? 1 : -2) : dae_graph_variable(g, count, 0);
            count++;
        }
    }
    for (int point = 0; point < 2; point++) {
        for (int k = 0; k < m * m + m; k++)
            value[point][k] = sin(1 + 3.3 * k + 0.2 * point) + (k % 3 ? 0 : 2);
    }
    dae_linear_nodes s = {m, count, row, column, entry, f};
    for (int e = 0; e < count; e++) at_entry[e] = dae_graph_value(g, entry[e], leaf_value, value[0]);
    assert_true(dae_elimination_order(&s, at_entry, scratch, order, order + m, pivot));
    assert_true(dae_elimination_solve(g, &s, order, order + m, 1000, x, watch));
    for (int point = 0; point < 2; point++) {
        double A[m][m] = {{0}}, b[m];
        for (int e = 0; e < count; e++)
            A[row[e]][column[e]] = dae_graph_value(g, entry[e], leaf_value, value[point]);
        for (int i = 0; i < m; i++) b[i] = value[point][m * m + i];
        solve(A, b);
        for (int i = 0; i < m; i++)
            assert_near(dae_graph_value(g, x[i], leaf_value, value[point]), b[i], 1e-12 * (1 + fabs(b[i])));
    }
    for (int k = 0; k < m; k++) { /* the sizes that are watched are those of the pivots */
        if (watch[k] >= 0)
            assert_near(fabs(dae_graph_value(g, watch[k], leaf_value, value[0])), pivot[k], 1e-13);
    }
    assert_false(dae_elimination_solve(g, &s, order, order + m, 3, x, watch) && dae_graph_count(g) < 3);
    dae_graph_destroy(g);
}

/* x' - v = 0, v' + x = 0 for x', v': no operation is left but the sign, no pivot to watch. */
static void constants_cost_nothing(void **state)
{
    dae_graph *g = dae_graph_create();
    int one = dae_graph_number(g, 1), v = dae_graph_variable(g, 1, 0), x0 = dae_graph_variable(g, 0, 0);
    int row[] = {0, 1}, column[] = {0, 1}, entry[] = {one, one}, f[] = {dae_graph_scale(g, -1, v), x0};
    int order[4], x[2], watch[2];
    double value[] = {1, 1}, A[4], pivot[2];
    (void)state;
    dae_linear_nodes s = {2, 2, row, column, entry, f};
    assert_true(dae_elimination_order(&s, value, A, order, order + 2, pivot));
    assert_true(dae_elimination_solve(g, &s, order, order + 2, 100, x, watch));
    assert_int_equal(x[0], f[0]);
    assert_int_equal(x[1], x0);
    assert_int_equal(watch[0], -1);
    assert_int_equal(watch[1], -1);
    dae_graph_destroy(g);
}

static void singular_has_no_order(void **state)
{
    int row[] = {0, 0, 1, 1}, column[] = {0, 1, 0, 1}, order[4];
    double value[] = {1, 2, 3, 6}, A[4], pivot[2];
    (void)state;
    dae_linear_nodes s = {2, 4, row, column, NULL, NULL};
    assert_false(dae_elimination_order(&s, value, A, order, order + 2, pivot));
    value[3] = 7;
    assert_true(dae_elimination_order(&s, value, A, order, order + 2, pivot));
}

/* A pivot that vanishes along the run while the states stay: (1 - t) u + w = 1, u + (1 - t) w = x has its first pivot 0 at t = 1; by
 * hand u = (1 - t - x)/((1 - t)^2 - 1), and x' = u at t = 1 is x - 0 there. */
static void pivots_may_vanish(void **state)
{
    static const char text[] =
        "var x = 0.25, u, w\nx' = u\n(1 - t)*u + w = 1\nu + (1 - t)*w = x\nsolve t = 0.2 .. 1.8\n";
    dae_error err = {0};
    (void)state;
    dae_problem *p = dae_problem_open(text, NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    dae_run_options o = dae_run_options_default(p);
    o.options.rtol = o.options.atol = 1e-11;
    o.options.method = "dop853";
    o.options.formulation = "statespace";
    dae_run_result *r = dae_run(p, &o, &err);
    if (!r || r->status < 0) fail_msg("%s", r ? r->error.text : err.text);
    /* by rk4 with many steps on the closed form */
    double x = 0.25, t = 0.2;
    int steps = 20000;
    for (int k = 0; k < steps; k++) {
        double h = 1.6 / steps, slope[4], at = x;
        for (int q = 0; q < 4; q++) {
            double c = 1 - (t + (q == 0 ? 0 : q == 3 ? h : h / 2));
            slope[q] = (c - at) / (c * c - 1);
            at = x + (q == 2 ? h : h / 2) * slope[q];
        }
        x += h / 6 * (slope[0] + 2 * slope[1] + 2 * slope[2] + slope[3]);
        t += h;
    }
    assert_near(r->last.y[dae_component_find(p, "x")], x, 1e-9);
    dae_run_destroy(r);
    dae_problem_destroy(p);
}

/* a u + w = 1, u - w = 2 with the pivots a and -1 - 1/a: where a is below 1e-4 of what it was when they were chosen, others are wanted. */
static void pivots_that_shrink_are_told(void **state)
{
    dae_graph *g = dae_graph_create();
    int u = dae_graph_variable(g, 0, 0), w = dae_graph_variable(g, 1, 0), a = dae_graph_variable(g, 2, 0);
    int one = dae_graph_number(g, 1), f[2], entry[] = {a, one, one, dae_graph_number(g, -1)};
    int row[] = {0, 0, 1, 1}, column[] = {0, 1, 0, 1}, place[] = {0, 1, 2, 3}, order[] = {0, 1};
    static const double size[] = {1, 2}, at[] = {1, 1e-3, 1e-5, 1e-9};
    (void)state;
    f[0] = dae_graph_subtract(g, dae_graph_add(g, dae_graph_multiply(g, a, u), w), one);
    f[1] = dae_graph_subtract(g, dae_graph_subtract(g, u, w), dae_graph_number(g, 2));
    dae_plan_stage stage = {{2, 4, row, column, entry, f}, place, order, order, 1};
    dae_plan *p = dae_plan_create(g, 3, place, 1, &stage);
    assert_non_null(p);
    double *work = calloc(dae_plan_work(p) + 1, sizeof *work);
    dae_plan_start(p, work, NULL, NULL);
    for (int k = 0; k < 4; k++) {
        double X[5] = {0, 0, at[k]};
        assert_int_equal(dae_plan_run(p, 0, work, 0, X, size, X), at[k] < 1e-4);
        if (at[k] < 1e-4) continue;
        assert_near(X[0], 3 / (1 + at[k]), 1e-12);
        assert_near(X[1], 3 / (1 + at[k]) - 2, 1e-12);
    }
    free(work);
    dae_plan_destroy(p);
    dae_graph_destroy(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elimination_solves), cmocka_unit_test(constants_cost_nothing),
        cmocka_unit_test(singular_has_no_order), cmocka_unit_test(pivots_may_vanish),
        cmocka_unit_test(pivots_that_shrink_are_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
