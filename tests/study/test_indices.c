/* Variance-based indices of Ishigami's function, y = sin(a) + 7 sin(b)^2 + 0.1 c^4 sin(a) on (-pi, pi)^3, in closed form:
 * V = 7^2/8 + 0.1 pi^4/5 + 0.01 pi^8/18 + 1/2, V_a = (1 + 0.1 pi^4/5)^2/2, V_b = 49/8, V_ac = 0.01 pi^8 (1/18 - 1/50). */
#include <daedalus/daedalus.h>

#include "test.h"

static void indices_of_ishigami(void **state)
{
    (void)state;
    static const char text[] = "model ishigami\nparam a = 1, b = 1, c = 1\nvar y = 0\n"
                               "y' = sin(a) + 7*sin(b)^2 + 0.1*c^4*sin(a)\nsolve t = 0 .. 1\n";
    const double pi = acos(-1.0), p4 = pow(pi, 4), p8 = p4 * p4;
    double V = 49.0 / 8 + p4 / 50 + p8 / 1800 + 0.5, Va = pow(1 + p4 / 50, 2) / 2, Vb = 49.0 / 8,
           Vac = p8 * 0.01 * (1.0 / 18 - 1.0 / 50);
    double first[3] = {Va / V, Vb / V, 0}, total[3] = {(Va + Vac) / V, Vb / V, Vac / V};
    dae_error err = {0};
    dae_problem *p = dae_problem_open(text, NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    dae_design *d = dae_design_create(p->info, 1);
    for (int k = 0; k < 3; k++) {
        char spec[80];
        snprintf(spec, sizeof spec, "%c=%.17g:%.17g:4096", "abc"[k], -pi, pi);
        assert_int_equal(dae_design_saltelli(d, spec, &err), DAE_OK);
    }
    assert_int_equal(dae_design_count(d), 4096 * 5);
    /* the runs as a sweep would have them; y at the end is the function itself */
    dae_table *t = dae_table_create(7, dae_design_count(d));
    static const char *const name[] = {"run", "a", "b", "c", "status", "t", "y"};
    for (int k = 0; k < 7; k++) dae_table_column(t, k, name[k], "");
    for (long i = 0; i < t->nrow; i++) {
        double x[3];
        char word[64];
        for (int k = 0; k < 3; k++) {
            dae_design_value(d, i, k, word, sizeof word);
            x[k] = strtod(word, NULL);
            dae_table_set(t, i, 1 + k, x[k]);
        }
        dae_table_set(t, i, 0, (double)i);
        dae_table_set_text(t, i, 4, i == 17 ? "failed" : "ok"); /* its point is left out */
        dae_table_set(t, i, 5, 1);
        dae_table_set(t, i, 6,
                      i == 17 ? NAN : sin(x[0]) + 7 * pow(sin(x[1]), 2) + 0.1 * pow(x[2], 4) * sin(x[0]));
    }
    dae_table *r = dae_sweep_indices(t, d, p, 0, &err);
    if (!r) fail_msg("%s", err.text);
    assert_int_equal(r->nrow, 3);
    for (int k = 0; k < 3; k++) {
        if (getenv("SHOW"))
            printf("%.4f (%.4f)  %.4f (%.4f) local %.4f\n", r->value[2 * 3 + k], first[k],
                   r->value[3 * 3 + k], total[k], r->value[4 * 3 + k]);
        assert_near(r->value[2 * 3 + k], first[k], 0.01);
        assert_near(r->value[3 * 3 + k], total[k], 0.01);
        assert_near(r->value[4 * 3 + k], k == 0, 1e-6); /* at 0 only a has a slope */
    }
    dae_table_destroy(r);
    dae_table_destroy(t);
    /* eight parameters at most, no grids */
    assert_int_equal(dae_design_vary(d, "a=1:2:2", &err), DAE_ERR_INPUT);
    dae_design_destroy(d);
    d = dae_design_create(p->info, 1);
    assert_int_equal(dae_design_vary(d, "a=1:2:2", &err), DAE_OK);
    assert_int_equal(dae_design_saltelli(d, "b=0:1:8", &err), DAE_ERR_INPUT);
    assert_non_null(strstr(err.text, "grids exclude"));
    dae_design_destroy(d);
    dae_problem_destroy(p);
}

/* Two points of two parameters, four runs each: A, B, and A with one column of B. By hand, with the mean m = 7/4 of the four A and B,
 * V = 38.75/3 their variance, first_i = sum (B - m)(C_i - A)/(2 V) and total_i = sum (A - C_i)^2/(4 V). */
static void few_runs_give_the_sums_made_by_hand(void **state)
{
    (void)state;
    static const char text[] = "model two\nparam a = 1, b = 1\nvar y = 0\ny' = a + b\nsolve t = 0 .. 1\n";
    static const double y[] = {1, 5, 2, 9, 4, -3, 0, 7};
    static const char *const name[] = {"run", "a", "b", "status", "t", "y"};
    const double V = 38.75 / 3;
    dae_error err = {0};
    dae_problem *p = dae_problem_open(text, NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    dae_design *d = dae_design_create(p->info, 1);
    assert_int_equal(dae_design_saltelli(d, "a=0:1:2", &err), DAE_OK);
    assert_int_equal(dae_design_saltelli(d, "b=0:3:2", &err), DAE_OK);
    assert_int_equal(dae_design_count(d), 8);
    dae_table *t = dae_table_create(6, 8);
    for (int k = 0; k < 6; k++) dae_table_column(t, k, name[k], "");
    for (long i = 0; i < 8; i++) {
        dae_table_set(t, i, 0, (double)i);
        dae_table_set_text(t, i, 3, "ok");
        dae_table_set(t, i, 4, 1);
        dae_table_set(t, i, 5, y[i]);
    }
    dae_table *r = dae_sweep_indices(t, d, p, 1, &err);
    if (!r) fail_msg("%s", err.text);
    assert_int_equal(r->nrow, 2);
    assert_near(r->value[2 * 2], 22.25 / (2 * V), 1e-14); /* a few roundings of numbers near 1 */
    assert_near(r->value[2 * 2 + 1], 11.75 / (2 * V), 1e-14);
    assert_near(r->value[3 * 2], 17 / (4 * V), 1e-14);
    assert_near(r->value[3 * 2 + 1], 73 / (4 * V), 1e-14);
    /* y(1) = a + b, in the middle 1 by ranges of 1 and 3: shares 1 and 9 of 10 */
    assert_near(r->value[4 * 2], 0.1, 1e-6);
    assert_near(r->value[4 * 2 + 1], 0.9, 1e-6);
    dae_table_destroy(r);
    dae_table_destroy(t);
    dae_design_destroy(d);
    dae_problem_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(indices_of_ishigami),
        cmocka_unit_test(few_runs_give_the_sums_made_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
