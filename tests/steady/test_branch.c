/* Branches of steady states: folds, Hopf points, crossings in closed form. */
#include "steady/models.h"

static void is(double got, double expected, double tolerance)
{
    if (!(fabs(got - expected) <= tolerance)) fail_msg("%.15g is not %.15g", got, expected);
}

static dae_branch *followed(const dae_problem *p, const char *parameter, const dae_branch_options *o)
{
    dae_error err = {0};
    dae_branch *b = dae_continue(p, parameter, o, &err);
    if (!b) fail_msg("%s", err.text);
    if (getenv("SHOW")) {
        printf("%d points, status %d %s\n", b->count, b->status, b->message);
        for (int i = 0; i < b->count; i++) {
            if (b->kind[i])
                printf("  %-6s %.12g: y1 = %.12g, %d unstable, w = %.10g\n", dae_branch_kind_name(b->kind[i]),
                       b->value[i], b->y[i * b->n], b->unstable[i], b->frequency[i]);
        }
    }
    return b;
}

/* The number of points of a kind; *at: the last of them. */
static int count_of(const dae_branch *b, dae_branch_kind kind, int *at)
{
    int count = 0;
    for (int i = 0; i < b->count; i++) {
        if (b->kind[i] != kind) continue;
        count++;
        *at = i;
    }
    return count;
}

static void branch_through_two_folds(void **state)
{
    (void)state;
    dae_problem *p = opened(cusp);
    dae_branch_options o = dae_branch_options_default(p);
    o.min = -2;
    o.max = 2;
    dae_branch *b = followed(p, "a", &o);
    int at = 0, seen = 0;
    assert_int_equal(b->status, DAE_OK);
    assert_int_equal(count_of(b, DAE_BRANCH_FOLD, &at), 2);
    assert_int_equal(count_of(b, DAE_BRANCH_HOPF, &at), 0);
    assert_int_equal(count_of(b, DAE_BRANCH_CROSS, &at), 0);
    for (int i = 0; i < b->count; i++) {
        double y = b->y[i];
        is(b->value[i] + y - y * y * y, 0, 1e-9);
        is(b->re[i], 1 - 3 * y * y, 1e-8);
        if (b->kind[i] != DAE_BRANCH_FOLD) assert_int_equal(b->unstable[i], 1 - 3 * y * y > 0);
        if (b->kind[i] != DAE_BRANCH_FOLD) continue;
        seen++;
        is(fabs(y), 1 / sqrt(3), 1e-8);
        is(b->value[i], y < 0 ? 2 / (3 * sqrt(3)) : -2 / (3 * sqrt(3)), 1e-12);
    }
    assert_int_equal(seen, 2);
    assert_int_equal(b->kind[0], DAE_BRANCH_END);
    assert_int_equal(b->kind[b->count - 1], DAE_BRANCH_END);
    is(fabs(b->value[0]), 2, 0);
    dae_table *t = dae_branch_table(b, p);
    assert_int_equal(t->nrow, b->count);
    assert_int_equal(dae_table_find(t, "kind"), t->ncol - 1);
    dae_table_destroy(t);
    dae_branch_destroy(b);
    dae_problem_destroy(p);
}

static void branch_meets_hopf(void **state)
{
    (void)state;
    dae_problem *p = opened(brusselator);
    dae_branch_options o = dae_branch_options_default(p);
    o.min = 1;
    o.max = 4;
    dae_branch *b = followed(p, "B", &o);
    int at = 0;
    assert_int_equal(count_of(b, DAE_BRANCH_HOPF, &at), 1);
    is(b->value[at], 1 + 1.2 * 1.2, 1e-9);
    is(b->frequency[at], 1.2, 1e-9);
    is(b->y[2 * at], 1.2, 1e-9);
    assert_int_equal(b->unstable[b->count - 1], 2);
    assert_int_equal(b->unstable[0], 0);
    dae_branch_destroy(b);
    /* Hopf at A = sqrt(B - 1) = 1, on the way down */
    b = followed(p, "A", NULL);
    assert_int_equal(count_of(b, DAE_BRANCH_HOPF, &at), 1);
    is(b->value[at], 1, 1e-9);
    dae_branch_destroy(b);
    dae_problem_destroy(p);
}

/* y' = a y - y^3 along y = 0: another branch crosses at 0. */
static void branch_crosses(void **state)
{
    (void)state;
    dae_problem *p = opened("model fork\nparam a = -1\nvar y = 0\ny' = a*y - y^3\nsolve t = 0 .. 5\n");
    dae_branch_options o = dae_branch_options_default(p);
    o.min = -2;
    o.max = 2.2;
    dae_branch *b = followed(p, "a", &o);
    int at = 0;
    assert_int_equal(count_of(b, DAE_BRANCH_CROSS, &at), 1);
    is(b->value[at], 0, 1e-9);
    assert_int_equal(count_of(b, DAE_BRANCH_FOLD, &at), 0);
    dae_branch_destroy(b);
    dae_problem_destroy(p);
}

/* The same seen from the other branch, y = sqrt(a). */
static void branch_crosses_as_a_mirror(void **state)
{
    (void)state;
    dae_problem *p = opened("model fork\nparam a = 1\nvar y = 1\ny' = a*y - y^3\nsolve t = 0 .. 5\n");
    dae_branch_options o = dae_branch_options_default(p);
    o.min = -2;
    o.max = 2.2;
    dae_branch *b = followed(p, "a", &o);
    int at = 0;
    assert_int_equal(count_of(b, DAE_BRANCH_CROSS, &at), 1);
    is(b->value[at], 0, 1e-5);
    is(fabs(b->y[0] + b->y[b->count - 1]), 0, 1e-9); /* it goes on as -sqrt(a) */
    dae_branch_destroy(b);
    dae_problem_destroy(p);
}

/* a^2 + y^2 = 1: the branch is closed. */
static void branch_closes(void **state)
{
    (void)state;
    dae_problem *p = opened("model ring\nparam a = 0.3\nvar y = 0.9\ny' = 1 - a^2 - y^2\nsolve t = 0 .. 5\n");
    dae_branch_options o = dae_branch_options_default(p);
    o.min = -3;
    o.max = 3;
    dae_branch *b = followed(p, "a", &o);
    int at = 0;
    assert_int_equal(b->closed, 1);
    assert_int_equal(b->status, DAE_OK);
    assert_int_equal(count_of(b, DAE_BRANCH_FOLD, &at), 2);
    is(fabs(b->value[at]), 1, 1e-9);
    dae_branch_destroy(b);
    dae_problem_destroy(p);
}

/* A stirred reactor in a closed form of its own: x' = -x + D (1 - x) exp(y), y' = -y + H D (1 - x) exp(y) - c y; folds and Hopf
 * points lie where 1 - x = 1/(1 + D e^y) gives D(x) = x e^-y/(1 - x), y = H x/(1 + c): D' = 0, and where the trace vanishes. */
static void branch_of_a_reactor(void **state)
{
    (void)state;
    double H = 14, c = 3;
    dae_problem *p =
        opened("model reactor\nparam D = 0.01, H = 14, c = 3\nvar x = 0, y = 0\n"
               "x' = -x + D*(1 - x)*exp(y)\ny' = -y + H*D*(1 - x)*exp(y) - c*y\nsolve t = 0 .. 20\n");
    dae_branch_options o = dae_branch_options_default(p);
    o.min = 1e-4;
    o.max = 0.5;
    o.step_max = 0.02;
    dae_branch *b = followed(p, "D", &o);
    int folds = 0, hopfs = 0;
    for (int i = 0; i < b->count; i++) {
        double x = b->y[2 * i], y = b->y[2 * i + 1], D = b->value[i];
        is(y, H * x / (1 + c), 1e-8);
        is(D, x * exp(-y) / (1 - x), 1e-9);
        double trace = -1 - D * exp(y) - 1 - c + H * D * (1 - x) * exp(y);
        double slope = 1 / x + 1 / (1 - x) - H / (1 + c); /* (log D)' */
        if (b->kind[i] == DAE_BRANCH_FOLD) folds++, is(slope, 0, 1e-6);
        if (b->kind[i] == DAE_BRANCH_HOPF) hopfs++, is(trace, 0, 1e-7);
    }
    /* x (1 - x) H/(1 + c) = 1 has no root below 4; the trace -x/(1-x) - 2 - c + H x two: H x (1-x) - x - (2+c)(1-x) = 0 */
    double B = H - 1 + (2 + c), discriminant = B * B - 4 * H * (2 + c);
    assert_int_equal(folds, H / (1 + c) > 4 ? 2 : 0);
    assert_int_equal(hopfs, discriminant > 0 ? 2 : 0);
    dae_branch_destroy(b);
    dae_problem_destroy(p);
}

/* A mass on a spring snaps through where L0 a^2 = (a^2 + y^2)^(3/2). */
static void branch_of_a_mechanism(void **state)
{
    (void)state;
    dae_problem *p = opened(truss);
    dae_branch_options o = dae_branch_options_default(p);
    o.min = 0.1;
    o.max = 10;
    o.one_way = 1;
    dae_branch *b = followed(p, "m", &o);
    double l0 = sqrt(1.09), y = sqrt(pow(l0, 2.0 / 3) - 1), l = sqrt(1 + y * y),
           m = 2000 * (l0 - l) * y / l / 9.81;
    int at = 0;
    assert_true(count_of(b, DAE_BRANCH_FOLD, &at) >= 1);
    for (at = 0; b->kind[at] != DAE_BRANCH_FOLD; at++) assert_int_equal(b->unstable[at], 0);
    is(b->value[at], m, 1e-7);
    is(fabs(b->y[at * b->n + 1]), y, 1e-4);
    assert_int_equal(b->unstable[at + 2], 1);
    dae_branch_destroy(b);
    dae_problem_destroy(p);
}

static int stop_soon(int points, double value, void *user)
{
    (void)value;
    (void)user;
    return points > 5;
}

static void branch_messages(void **state)
{
    (void)state;
    dae_error err = {0};
    dae_problem *p = opened(cusp);
    dae_branch_options o = dae_branch_options_default(p);
    assert_null(dae_continue(p, "b", NULL, &err));
    assert_non_null(strstr(err.text, "no parameter \"b\""));
    o.min = 1;
    o.max = 2;
    assert_null(dae_continue(p, "a", &o, &err));
    assert_non_null(strstr(err.text, "not inside 1 .. 2"));
    o.min = -2;
    o.progress = stop_soon;
    dae_branch *b = followed(p, "a", &o);
    assert_int_equal(b->status, DAE_CANCELLED);
    dae_branch_destroy(b);
    o.progress = NULL;
    o.max_points = 4;
    b = followed(p, "a", &o);
    assert_int_equal(b->status, DAE_ERR_MAX_STEPS);
    dae_branch_destroy(b);
    dae_problem_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(branch_through_two_folds),
        cmocka_unit_test(branch_meets_hopf),
        cmocka_unit_test(branch_crosses),
        cmocka_unit_test(branch_crosses_as_a_mirror),
        cmocka_unit_test(branch_closes),
        cmocka_unit_test(branch_of_a_reactor),
        cmocka_unit_test(branch_of_a_mechanism),
        cmocka_unit_test(branch_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
