/* The graph of expressions: normal forms, derivatives against differences, programs against plain evaluation. */
#include "test.h"

#include "language/program.h"

#include <stdlib.h>

enum { nx = 6 };

typedef struct point {
    double t, x[nx][3], p[nx];
} point;

static double leaf(const dae_node *n, void *user)
{
    const point *at = user;
    if (n->op == OP_TIME) return at->t;
    return n->op == OP_PARAMETER ? at->p[n->a] : at->x[n->a][n->b];
}

static unsigned next(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static double real(unsigned *seed)
{
    return 0.2 + 1.5 * (double)(next(seed) % 10007) / 10007;
}

static point random_point(unsigned *seed)
{
    point a = {.t = real(seed)};
    for (int j = 0; j < nx; j++) {
        a.p[j] = real(seed);
        for (int k = 0; k < 3; k++) a.x[j][k] = real(seed);
    }
    return a;
}

/* A random expression that is smooth and defined for positive leaves. */
static int random_node(dae_graph *g, unsigned *seed, int depth)
{
    static const int unary[] = {OP_SIN, OP_COS, OP_EXP, OP_TANH, OP_ATAN, OP_SINH, OP_COSH};
    int a, b;
    if (depth == 0) {
        switch (next(seed) % 6) {
        case 0: return dae_graph_number(g, (double)(next(seed) % 9) - 4);
        case 1: return dae_graph_time(g);
        case 2: return dae_graph_parameter(g, (int)(next(seed) % nx));
        default: return dae_graph_variable(g, (int)(next(seed) % nx), (int)(next(seed) % 2));
        }
    }
    a = random_node(g, seed, depth - 1);
    b = random_node(g, seed, (int)(next(seed) % (unsigned)depth));
    switch (next(seed) % 10) {
    case 0: return dae_graph_subtract(g, a, b);
    case 1:
    case 2: return dae_graph_multiply(g, a, b);
    case 3:
        return dae_graph_divide(g, a, dae_graph_add(g, dae_graph_number(g, 9), dae_graph_multiply(g, b, b)));
    case 4:
        return dae_graph_power(g, dae_graph_apply(g, OP_ATAN, a, 0, 0),
                               dae_graph_number(g, (double)(next(seed) % 4)));
    case 5: return dae_graph_apply(g, unary[next(seed) % 7], dae_graph_apply(g, OP_ATAN, a, 0, 0), 0, 0);
    case 6: return dae_graph_apply(g, OP_HYPOT, a, dae_graph_add(g, b, dae_graph_number(g, 3)), 0);
    case 7:
        return dae_graph_apply(g, OP_ATAN2, a,
                               dae_graph_sum(g, 5, 1, (dae_term[]){{dae_graph_multiply(g, b, b), 1}}), 0);
    case 8:
        return dae_graph_apply(g, OP_LOG,
                               dae_graph_sum(g, 2, 1, (dae_term[]){{dae_graph_multiply(g, a, a), 1}}), 0, 0);
    default: return dae_graph_add(g, a, b);
    }
}

static void graph_sums_cancel(void **state)
{
    (void)state;
    dae_graph *g = dae_graph_create();
    int x = dae_graph_variable(g, 0, 0), y = dae_graph_variable(g, 1, 0), c = dae_graph_parameter(g, 0);
    int xp = dae_graph_variable(g, 0, 1), yp = dae_graph_variable(g, 1, 1);
    /* C (y' - x') + C (x' - y') = 0: what the repair of hidden dependences lives on */
    int a = dae_graph_multiply(g, c, dae_graph_subtract(g, yp, xp)),
        b = dae_graph_multiply(g, c, dae_graph_subtract(g, xp, yp));
    assert_int_equal(dae_graph_add(g, a, b), 0);
    /* 2 (x + y) - 2 x - 2 y = 0, 0.1 x + 0.2 x - 0.3 x = 0 */
    int s = dae_graph_scale(g, 2, dae_graph_add(g, x, y));
    assert_int_equal(dae_graph_sum(g, 0, 3, (dae_term[]){{s, 1}, {x, -2}, {y, -2}}), 0);
    assert_int_equal(dae_graph_sum(g, 0, 3, (dae_term[]){{x, 0.1}, {x, 0.2}, {x, -0.3}}), 0);
    assert_int_equal(dae_graph_multiply(g, x, y), dae_graph_multiply(g, y, x));
    assert_int_equal(dae_graph_multiply(g, x, x), dae_graph_power(g, x, dae_graph_number(g, 2)));
    assert_int_equal(dae_graph_divide(g, dae_graph_scale(g, 3, x), dae_graph_scale(g, 2, x)),
                     dae_graph_number(g, 1.5));
    assert_int_equal(dae_graph_if(g, dae_graph_number(g, 0), x, y), y);
    char text[64];
    dae_graph_text(g, dae_graph_subtract(g, dae_graph_multiply(g, x, x), dae_graph_scale(g, 3, yp)), NULL,
                   NULL, text, sizeof text);
    assert_true(strcmp(text, "x1^2 - 3*x2'") == 0 || strcmp(text, "-3*x2' + x1^2") == 0);
    assert_false(dae_graph_failed(g));
    dae_graph_destroy(g);
}

/* Numbers that are taken out of powers, products and sums neither overflow nor underflow where the values do not. */
static void graph_factors_stay_in_range(void **state)
{
    (void)state;
    dae_graph *g = dae_graph_create();
    point at = {.x = {{2e-12}, {3e200}, {0.5}}};
    dae_partial *p;
    int x = dae_graph_variable(g, 0, 0), y = dae_graph_variable(g, 1, 0), z = dae_graph_variable(g, 2, 0);
    /* (x/1e-12)^30 and its derivative 30/1e-12 (x/1e-12)^29 */
    int hill =
        dae_graph_power(g, dae_graph_divide(g, x, dae_graph_number(g, 1e-12)), dae_graph_number(g, 30));
    assert_near(dae_graph_value(g, hill, leaf, &at) / pow(2, 30), 1, 1e-13);
    assert_int_equal(dae_graph_gradient(g, hill, &p), 1);
    assert_near(dae_graph_value(g, p[0].derivative, leaf, &at) / (30e12 * pow(2, 29)), 1, 1e-13);
    free(p);
    /* (1e-200 y)^2 = 9; (1e-200 y) (1e-200 y + 1e-200) = 9; (1e-200 (1e-200 y))/1e-200 = 3; 1e200/(1e-200 y) */
    int small = dae_graph_scale(g, 1e-200, y);
    assert_near(dae_graph_value(g, dae_graph_multiply(g, small, small), leaf, &at), 9, 1e-14);
    int sum = dae_graph_sum(g, 1e-200, 1, (dae_term[]){{y, 1e-200}});
    assert_near(dae_graph_value(g, dae_graph_multiply(g, small, sum), leaf, &at), 9, 1e-14);
    assert_near(dae_graph_value(g, dae_graph_divide(g, small, dae_graph_scale(g, 1e200, z)), leaf, &at) *
                    1e200,
                6, 1e-14);
    assert_near(dae_graph_value(g, dae_graph_divide(g, dae_graph_number(g, 1e200), small), leaf, &at) *
                    1e-200,
                1.0 / 3, 1e-15);
    /* prod (z + i)/(i + 3), i = 1 .. 900: its numbers alone are 1/903! */
    double right = 1;
    int product = dae_graph_number(g, 1);
    for (int i = 1; i <= 900; i++) {
        right *= (at.x[2][0] + i) / (i + 3);
        product = dae_graph_multiply(
            g, product,
            dae_graph_divide(g, dae_graph_sum(g, i, 1, (dae_term[]){{z, 1}}), dae_graph_number(g, i + 3)));
    }
    assert_near(dae_graph_value(g, product, leaf, &at) / right, 1, 1e-12);
    assert_false(dae_graph_failed(g));
    dae_graph_destroy(g);
}

/* Long sums stay nodes in other sums (a shared mean would make n^2 terms) and are written out on demand. */
static void graph_long_sums_are_shared(void **state)
{
    (void)state;
    dae_graph *g = dae_graph_create();
    dae_term t[100];
    for (int j = 0; j < 100; j++) t[j] = (dae_term){dae_graph_variable(g, j, 0), 1};
    int mean = dae_graph_sum(g, 0, 100, t), x = t[7].node;
    int d = dae_graph_sum(g, 0, 2, (dae_term[]){{mean, 1}, {x, -1}});
    assert_int_equal(dae_graph_node(g, d).b, 2);
    assert_int_equal(dae_graph_node(g, dae_graph_expand(g, 0, 2, (dae_term[]){{mean, 1}, {x, -1}})).b, 99);
    dae_graph_destroy(g);
}

static void graph_time_derivative_matches_differences(void **state)
{
    (void)state;
    unsigned seed = 5;
    for (int k = 0; k < 300; k++) {
        dae_graph *g = dae_graph_create();
        int f = random_node(g, &seed, 1 + k % 6), d = dae_graph_derivative(g, f);
        point a = random_point(&seed), b = a, c = a;
        double h = 1e-5;
        b.t += h, c.t -= h;
        for (int j = 0; j < nx; j++) { /* x(t) with x' = x[1], x'' = x[2] */
            for (int o = 0; o < 2; o++) b.x[j][o] += h * a.x[j][o + 1], c.x[j][o] -= h * a.x[j][o + 1];
        }
        double exact = dae_graph_value(g, d, leaf, &a);
        double near = (dae_graph_value(g, f, leaf, &b) - dae_graph_value(g, f, leaf, &c)) / (2 * h);
        assert_near(exact, near, 1e-6 * (1 + fabs(exact)) * (1 + fabs(dae_graph_value(g, f, leaf, &a))));
        dae_graph_destroy(g);
    }
}

static void graph_gradient_matches_differences(void **state)
{
    (void)state;
    unsigned seed = 77;
    for (int k = 0; k < 300; k++) {
        dae_graph *g = dae_graph_create();
        int f = random_node(g, &seed, 1 + k % 6);
        dae_partial *p;
        int n = dae_graph_gradient(g, f, &p);
        point a = random_point(&seed);
        double value = dae_graph_value(g, f, leaf, &a), h = 1e-5, sum = 0, along = 0;
        assert_true(n >= 0);
        for (int i = 0; i < n; i++) {
            dae_node l = dae_graph_node(g, p[i].leaf);
            double *x = NULL, d = dae_graph_value(g, p[i].derivative, leaf, &a), keep, up, down;
            x = l.op == OP_TIME ? &a.t : &a.x[l.a][l.b];
            keep = *x;
            *x = keep + h, up = dae_graph_value(g, f, leaf, &a);
            *x = keep - h, down = dae_graph_value(g, f, leaf, &a);
            *x = keep;
            assert_near(d, (up - down) / (2 * h), 1e-6 * (1 + fabs(d)) * (1 + fabs(value)));
            sum +=
                d * (l.op == OP_TIME ? 1 : a.x[l.a][l.b + 1]); /* the chain rule gives the time derivative */
        }
        along = dae_graph_value(g, dae_graph_derivative(g, f), leaf, &a);
        assert_near(sum, along, 1e-11 * (1 + fabs(sum)) * (1 + fabs(value)));
        free(p);
        dae_graph_destroy(g);
    }
}

static void program_matches_graph(void **state)
{
    (void)state;
    unsigned seed = 991;
    for (int k = 0; k < 100; k++) {
        dae_graph *g = dae_graph_create();
        int out[40], in[1 + 3 * nx + nx], nin = 0, missing;
        for (int i = 0; i < 40; i++) out[i] = random_node(g, &seed, 1 + i % 7);
        in[nin++] = dae_graph_time(g);
        for (int j = 0; j < nx; j++) in[nin++] = dae_graph_parameter(g, j);
        for (int j = 0; j < nx; j++) {
            for (int o = 0; o < 2; o++) in[nin++] = dae_graph_variable(g, j, o);
        }
        dae_program *p = dae_program_create(g, nin, in, 40, out, &missing);
        assert_non_null(p);
        double *work = malloc(dae_program_work(p) * sizeof *work), got[40], same[40];
#if defined(__x86_64__) && defined(__linux__)
        assert_true(dae_program_is_native(p));
#endif
        dae_program_start(p, work);
        for (int again = 0; again < 3; again++) {
            point a = random_point(&seed);
            for (int i = 0; i < nin; i++)
                work[i] = leaf(&(dae_node){.op = dae_graph_node(g, in[i]).op,
                                           .a = dae_graph_node(g, in[i]).a,
                                           .b = dae_graph_node(g, in[i]).b},
                               &a);
            dae_program_run(p, work, got);
            dae_program_run_levels(p, work, same); /* machine code, if there is any, gives the same numbers */
            for (int i = 0; i < 40; i++) assert_true(got[i] == same[i] || (isnan(got[i]) && isnan(same[i])));
            for (int i = 0; i < 40; i++) {
                double want = dae_graph_value(g, out[i], leaf, &a);
                assert_near(got[i], want, 1e-13 * (1 + fabs(want)));
            }
        }
        free(work);
        dae_program_destroy(p);
        if (dae_graph_node(g, out[39]).op != OP_NUMBER) {
            p = dae_program_create(g, 0, NULL, 1, &out[39], &missing);
            assert_null(p);
            assert_true(missing >= 0);
        }
        dae_graph_destroy(g);
    }
}

/* Many equal operations on neighbours: the runs with consecutive operands give the same numbers. */
/* Sums, products and powers of x and y are defined everywhere; quotients, roots and tables are not. */
static void program_knows_polynomials(void **state)
{
    (void)state;
    dae_graph *g = dae_graph_create();
    int x = dae_graph_variable(g, 0, 0), y = dae_graph_variable(g, 1, 0), in[] = {x, y};
    int product = dae_graph_multiply(g, x, dae_graph_multiply(g, y, y));
    int good[] = {x, dae_graph_subtract(g, product, x), dae_graph_power(g, y, dae_graph_number(g, 7)),
                  dae_graph_number(g, 2)};
    int bad[] = {dae_graph_divide(g, x, y), dae_graph_apply(g, OP_SQRT, x, 0, 0),
                 dae_graph_power(g, y, dae_graph_number(g, -1)), dae_graph_apply(g, OP_ABS, y, 0, 0)};
    for (int k = 0; k < 4; k++) {
        dae_program *p = dae_program_create(g, 2, in, 1, &good[k], NULL);
        assert_int_equal(dae_program_is_polynomial(p), 1);
        dae_program_destroy(p);
        p = dae_program_create(g, 2, in, 2, (int[]){good[k], bad[k]}, NULL);
        assert_int_equal(dae_program_is_polynomial(p), 0);
        dae_program_destroy(p);
    }
    dae_graph_destroy(g);
}

static void program_dense_runs_match(void **state)
{
    (void)state;
    enum { n = 50 };
    dae_graph *g = dae_graph_create();
    int in[n], out[2 * n];
    for (int j = 0; j < n; j++) in[j] = dae_graph_variable(g, j, 0);
    for (int j = 0; j < n; j++) {
        int l = in[j > 0 ? j - 1 : 0], r = in[j < n - 1 ? j + 1 : n - 1];
        int lap = dae_graph_sum(g, 0.5, 3, (dae_term[]){{l, 1.5 + j}, {in[j], -2}, {r, 0.5}});
        out[2 * j] = dae_graph_add(g, lap, dae_graph_multiply(g, l, in[j]));
        out[2 * j + 1] = dae_graph_divide(g, in[j], r);
    }
    dae_program *p = dae_program_create(g, n, in, 2 * n, out, NULL);
    double *work = malloc(dae_program_work(p) * sizeof *work), got[2 * n];
    dae_program_start(p, work);
    for (int j = 0; j < n; j++) work[j] = 1 + j * j;
    dae_program_run(p, work, got);
    for (int j = 0; j < n; j++) {
        double l = work[j > 0 ? j - 1 : 0], x = work[j], r = work[j < n - 1 ? j + 1 : n - 1];
        assert_near(got[2 * j], 0.5 + (1.5 + j) * l - 2 * x + 0.5 * r + l * x, 1e-9);
        assert_near(got[2 * j + 1], x / r, 1e-15);
    }
    free(work);
    dae_program_destroy(p);
    dae_graph_destroy(g);
}

/* One value beside many that follow each other, on either side, by levels. */
static void program_runs_with_one_operand_match(void **state)
{
    (void)state;
    enum { n = 20, kinds = 6 };
    dae_graph *g = dae_graph_create();
    int in[n + 1], out[kinds * n];
    for (int j = 0; j <= n; j++) in[j] = dae_graph_variable(g, j, 0);
    int k = in[n]; /* comes behind the others: x k as x, k and k - x as k, x */
    for (int j = 0; j < n; j++) {
        out[j] = dae_graph_multiply(g, k, in[j]);
        out[n + j] = dae_graph_divide(g, k, in[j]);
        out[2 * n + j] = dae_graph_divide(g, in[j], k);
        out[3 * n + j] = dae_graph_subtract(g, k, in[j]);
        out[4 * n + j] = dae_graph_scale(g, -1, in[j]);
        out[5 * n + j] = dae_graph_add(g, dae_graph_scale(g, 2, k), dae_graph_scale(g, 3, in[j]));
    }
    dae_program *p = dae_program_create(g, n + 1, in, kinds * n, out, NULL);
    double *work = malloc(dae_program_work(p) * sizeof *work), got[kinds * n];
    dae_program_start(p, work);
    for (int j = 0; j <= n; j++) work[j] = 3 + j * j;
    dae_program_run_levels(p, work, got);
    for (int j = 0; j < n; j++) {
        double x = 3 + j * j, y = 3 + n * n;
        assert_near(got[j], x * y, 0);
        assert_near(got[n + j], y / x, 0);
        assert_near(got[2 * n + j], x / y, 0);
        assert_near(got[3 * n + j], y - x, 0);
        assert_near(got[4 * n + j], -x, 0);
        assert_near(got[5 * n + j], 2 * y + 3 * x, 0);
    }
    free(work);
    dae_program_destroy(p);
    dae_graph_destroy(g);
}

/* Programs that are too long for machine code run all the same: x_j x_(j+1) + j, and its own number twice. */
static void long_programs_run_without_machine_code(void **state)
{
    (void)state;
    enum { n = 70000 };
    dae_graph *g = dae_graph_create();
    int *in = malloc(n * sizeof *in), *out = malloc(n * sizeof *out);
    double *got = malloc(n * sizeof *got);
    for (int j = 0; j < n; j++) in[j] = dae_graph_variable(g, j, 0);
    for (int j = 0; j < n; j++)
        out[j] = dae_graph_add(g, dae_graph_multiply(g, in[j], in[(j + 1) % n]), dae_graph_number(g, j));
    dae_program *p = dae_program_create(g, n, in, n, out, NULL);
    assert_non_null(p);
    assert_false(dae_program_is_native(p));
    double *work = malloc(dae_program_work(p) * sizeof *work);
    dae_program_start(p, work);
    for (int j = 0; j < n; j++) work[j] = 1 + j % 100, got[j] = NAN;
    dae_program_run(p, work, got);
    for (int j = 0; j < n; j++) assert_near(got[j], (1 + j % 100) * (1 + (j + 1) % n % 100) + j, 0);
    free(in), free(out), free(got), free(work);
    dae_program_destroy(p);
    dae_graph_destroy(g);
}

static void curve_kinds(void **state)
{
    (void)state;
    double x[] = {0, 1, 3, 4}, y[] = {0, 1, 9, 16};
    dae_curve *line = dae_curve_create(DAE_CURVE_LINEAR, DAE_CURVE_HOLD, 4, x, y);
    dae_curve *spline = dae_curve_create(DAE_CURVE_SPLINE, DAE_CURVE_LINE, 4, x, y);
    dae_curve *mono = dae_curve_create(DAE_CURVE_PCHIP, DAE_CURVE_ERROR, 4, x, y);
    dae_curve *steps = dae_curve_create(DAE_CURVE_STEP, DAE_CURVE_PERIODIC, 4, x, y);
    assert_near(dae_curve_value(line, 2, 0), 5, 1e-15);
    assert_near(dae_curve_value(line, 2, 1), 4, 1e-15);
    assert_near(dae_curve_value(line, 9, 0), 16, 0);
    for (int k = 0; k < 4; k++) assert_near(dae_curve_value(spline, x[k], 0), y[k], 1e-13);
    assert_near(dae_curve_value(spline, 0, 2), 0, 1e-13); /* natural */
    assert_near(dae_curve_value(spline, 1 - 1e-9, 2), dae_curve_value(spline, 1 + 1e-9, 2), 1e-6);
    assert_near(dae_curve_value(spline, 5, 0), 16 + dae_curve_value(spline, 4, 1), 1e-12);
    for (double s = 0; s < 3.99; s += 0.01)
        assert_true(dae_curve_value(mono, s + 0.01, 0) > dae_curve_value(mono, s, 0));
    assert_true(isnan(dae_curve_value(mono, 4.5, 0)));
    assert_near(dae_curve_value(steps, 2.5, 0), 1, 0);
    assert_near(dae_curve_value(steps, 4.5, 0), 0, 0); /* 0.5 again */
    dae_curve_destroy(line);
    dae_curve_destroy(spline);
    dae_curve_destroy(mono);
    dae_curve_destroy(steps);
}

/* Turns before and behind the first one: value, slope, number and ends of the segment. The points are powers of two apart, so that turns
 * are exact. */
static void curves_go_on_periodically(void **state)
{
    (void)state;
    static const double x[] = {0.5, 1, 3, 4.5}, y[] = {2, 5, 1, 2}, within[] = {0.5, 0.75, 1, 2.25, 3, 4.25};
    static const int segment[] = {0, 0, 1, 1, 2, 2};
    for (int kind = DAE_CURVE_LINEAR; kind <= DAE_CURVE_STEP; kind++) {
        dae_curve *c = dae_curve_create((dae_curve_kind)kind, DAE_CURVE_PERIODIC, 4, x, y);
        assert_non_null(c);
        for (int turn = -3; turn <= 3; turn++) {
            for (int k = 0; k < 6; k++) {
                double at = within[k] + 4 * turn, lo, hi;
                int s = dae_curve_segment(c, at);
                assert_int_equal(s, segment[k] + 3 * turn);
                dae_curve_ends(c, s, &lo, &hi);
                assert_near(lo, x[segment[k]] + 4 * turn, 0);
                assert_near(hi, x[segment[k] + 1] + 4 * turn, 0);
                for (int order = 0; order < 2; order++)
                    assert_near(dae_curve_value(c, at, order), dae_curve_value(c, within[k], order), 0);
            }
        }
        assert_near(dae_curve_value(c, 10.25, 0), kind == DAE_CURVE_STEP ? 5 : dae_curve_value(c, 2.25, 0),
                    0);
        if (kind == DAE_CURVE_LINEAR) assert_near(dae_curve_value(c, -6, 0), 3, 1e-15); /* 2: half way down */
        dae_curve_destroy(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(graph_sums_cancel),
                                       cmocka_unit_test(graph_factors_stay_in_range),
                                       cmocka_unit_test(graph_long_sums_are_shared),
                                       cmocka_unit_test(graph_time_derivative_matches_differences),
                                       cmocka_unit_test(graph_gradient_matches_differences),
                                       cmocka_unit_test(program_matches_graph),
                                       cmocka_unit_test(program_knows_polynomials),
                                       cmocka_unit_test(program_dense_runs_match),
                                       cmocka_unit_test(program_runs_with_one_operand_match),
                                       cmocka_unit_test(long_programs_run_without_machine_code),
                                       cmocka_unit_test(curve_kinds),
                                       cmocka_unit_test(curves_go_on_periodically)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
