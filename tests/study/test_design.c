/* Designs of sweeps: grids, random numbers, Sobol points, lists; tables and statistics. */
#include "test.h"

#include <daedalus/study.h>

static dae_design *design_for(const char *problem)
{
    dae_design *d = dae_design_create(dae_problem_find(problem), 1);
    assert_non_null(d);
    return d;
}

static double value(const dae_design *d, long run, int k)
{
    char text[64];
    assert_int_equal(dae_design_value(d, run, k, text, sizeof text), DAE_OK);
    return strtod(text, NULL);
}

static void design_grid_combines_all_values(void **state)
{
    (void)state;
    dae_design *d = design_for("cable-drum");
    char text[64];
    assert_int_equal(dae_design_count(d), 0);
    assert_int_equal(dae_design_vary(d, "mu=0:1:3", NULL), DAE_OK);
    assert_int_equal(dae_design_vary(d, "m1=1:100:3:log", NULL), DAE_OK);
    assert_int_equal(dae_design_vary(d, "c=0.5,2", NULL), DAE_OK);
    assert_int_equal(dae_design_count(d), 18);
    assert_int_equal(dae_design_width(d), 3);
    assert_int_equal(dae_design_axes(d), 3);
    assert_int_equal(dae_design_axis_length(d, 1), 3);
    assert_string_equal(dae_design_name(d, 1), "m1");
    assert_near(value(d, 0, 0), 0, 0);
    assert_near(value(d, 17, 0), 1, 0);
    assert_near(value(d, 6, 0), 0.5, 0); /* the first axis goes slowest */
    assert_near(value(d, 2, 1), 10, 1e-13);
    assert_near(value(d, 17, 1), 100, 0);
    assert_int_equal(dae_design_value(d, 1, 2, text, sizeof text), DAE_OK);
    assert_string_equal(text, "2");
    assert_int_equal(dae_design_value(d, 18, 0, text, sizeof text), DAE_ERR_INPUT);
    dae_design_destroy(d);
}

/* Means and deviations of 20000 numbers lie within 4 standard errors. */
static void design_samples_have_their_distribution(void **state)
{
    (void)state;
    enum { n = 20000 };
    static const struct {
        const char *text;
        double mean, sd;
        int of_logarithm;
    } cases[] = {{"mu~uniform(2,5):20000", 3.5, 3 / 3.4641016151377544, 0},
                 {"mu~normal(-1,0.5):20000", -1, 0.5, 0},
                 {"mu~loguniform(0.1,10):20000", 0, 4.605170185988091 / 3.4641016151377544, 1},
                 {"mu~lognormal(1,0.25):20000", 1, 0.25, 1}};
    double *x = calloc(n, sizeof *x);
    assert_non_null(x);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        dae_design *d = design_for("cable-drum");
        dae_statistics s;
        assert_int_equal(dae_design_sample(d, cases[c].text, NULL), DAE_OK);
        assert_int_equal(dae_design_count(d), n);
        for (long i = 0; i < n; i++) {
            x[i] = value(d, i, 0);
            if (cases[c].of_logarithm) x[i] = log(x[i]);
        }
        assert_int_equal(dae_statistics_of(x, n, &s), DAE_OK);
        assert_near(s.mean, cases[c].mean, 4 * cases[c].sd / sqrt(n));
        assert_near(s.sd, cases[c].sd, 4 * cases[c].sd / sqrt(n));
        dae_design_destroy(d);
    }
    free(x);
}

/* Different parameters and seeds get different numbers, the same ones get the same. */
static void design_samples_depend_on_seed_and_name_only(void **state)
{
    (void)state;
    dae_design *a = design_for("cable-drum"), *b = design_for("cable-drum");
    dae_design *other = dae_design_create(dae_problem_find("cable-drum"), 2);
    assert_int_equal(dae_design_sample(a, "mu~uniform(0,1):100", NULL), DAE_OK);
    assert_int_equal(dae_design_sample(a, "c~uniform(0,1):100", NULL), DAE_OK);
    assert_int_equal(dae_design_sample(b, "c~uniform(0,1):100", NULL), DAE_OK);
    assert_int_equal(dae_design_vary(b, "m1=1:2:2", NULL), DAE_OK); /* grid points get the same numbers */
    assert_int_equal(dae_design_sample(other, "mu~uniform(0,1):100", NULL), DAE_OK);
    double product = 0;
    for (long i = 0; i < 100; i++) {
        assert_true(value(a, i, 1) == value(b, i, 1) && value(b, i, 1) == value(b, 100 + i, 1));
        assert_true(value(a, i, 0) != value(other, i, 0));
        product += (value(a, i, 0) - 0.5) * (value(a, i, 1) - 0.5);
    }
    assert_between(product / 100 * 12, -0.4, 0.4); /* correlation: 4 standard errors */
    dae_design_destroy(a);
    dae_design_destroy(b);
    dae_design_destroy(other);
}

/* The first 2^m points have one in each of the 2^m intervals of every coordinate, and the first four coordinates
 * in pairs fill every elementary square of 16. */
static void sobol_fills_every_interval_once(void **state)
{
    (void)state;
    enum { n = 1024 };
    for (int d = 0; d < 16; d++) {
        unsigned char seen[n] = {0};
        for (unsigned long k = 0; k < n; k++) {
            int cell = (int)(n * dae_sobol(d, k));
            assert_between(cell, 0, n - 1);
            assert_int_equal(seen[cell]++, 0);
        }
    }
    for (int a = 0; a < 2; a++) {
        int seen[16] = {0};
        for (unsigned long k = 0; k < 64; k++)
            seen[4 * (int)(4 * dae_sobol(a, k)) + (int)(4 * dae_sobol(a + 1, k))]++;
        for (int i = 0; i < 16; i++) assert_int_equal(seen[i], 4);
    }
    assert_true(isnan(dae_sobol(16, 0)) && isnan(dae_sobol(-1, 0)));
    /* the first points of the first three coordinates, as printed in the literature */
    static const double first[4][3] = {{0, 0, 0}, {0.5, 0.5, 0.5}, {0.75, 0.25, 0.25}, {0.25, 0.75, 0.75}};
    for (unsigned long k = 0; k < 4; k++) {
        for (int d = 0; d < 3; d++) assert_near(dae_sobol(d, k), first[k][d], 0);
    }
}

/* The mean of x*y over [0,1]^2 is 1/4; 256 points give it to 0.004 (random ones to 0.02). */
static void design_sobol_integrates_well(void **state)
{
    (void)state;
    dae_design *d = design_for("cable-drum");
    double sum = 0;
    assert_int_equal(dae_design_sobol(d, "mu=0:1:256", NULL), DAE_OK);
    assert_int_equal(dae_design_sobol(d, "c=0:1:256", NULL), DAE_OK);
    for (long i = 0; i < 256; i++) sum += value(d, i, 0) * value(d, i, 1);
    assert_near(sum / 256, 0.25, 0.004);
    dae_design_destroy(d);
}

static void design_list_takes_lines(void **state)
{
    (void)state;
    static const char text[] = "mu,c\n0.1,2\n0.2,3\n\"0.3\",4\n";
    dae_design *d = design_for("cable-drum");
    assert_int_equal(dae_design_list(d, text, sizeof text - 1, NULL), DAE_OK);
    assert_int_equal(dae_design_count(d), 3);
    assert_near(value(d, 2, 0), 0.3, 0);
    assert_near(value(d, 1, 1), 3, 0);
    dae_design_destroy(d);
}

static void design_names_what_is_wrong(void **state)
{
    (void)state;
    static const struct {
        dae_status (*add)(dae_design *, const char *, dae_error *);
        const char *text, *says;
    } wrong[] = {{dae_design_vary, "nu=0:1:3", "no parameter \"nu\"; it has mu, m1"},
                 {dae_design_vary, "mu", "expected name=from:to:count"},
                 {dae_design_vary, "mu=0:1", "expected name=from:to:count"},
                 {dae_design_vary, "mu=0:1:0", "expected"},
                 {dae_design_vary, "mu=0:1:3:log", "expected"},
                 {dae_design_vary, "mu=0:1:3x", "expected"},
                 {dae_design_vary, "mu=1,,2", "value 2 is empty"},
                 {dae_design_vary, "=1", "missing"},
                 {dae_design_vary, "c=1:2:2", "twice"},
                 {dae_design_vary, "mu=0:1:90000000", "too many"},
                 {dae_design_sample, "mu~gauss(0,1):5", "uniform(a,b)"},
                 {dae_design_sample, "mu~normal(0,1)", "uniform(a,b)"},
                 {dae_design_sample, "mu~normal(0,-1):5", "negative"},
                 {dae_design_sample, "mu~uniform(1,0):5", "a <= b"},
                 {dae_design_sample, "mu~loguniform(0,1):5", "a > 0"},
                 {dae_design_sobol, "mu=1:0:5", "from <= to"},
                 {dae_design_sobol, "mu=1:2:5:log", "from <= to"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        dae_design *d = design_for("cable-drum");
        dae_error err = {0};
        assert_int_equal(dae_design_vary(d, "c=1:2:2", NULL), DAE_OK);
        assert_int_equal(wrong[i].add(d, wrong[i].text, &err), DAE_ERR_INPUT);
        if (!strstr(err.text, wrong[i].says))
            fail_msg("%s: \"%s\" lacks \"%s\"", wrong[i].text, err.text, wrong[i].says);
        dae_design_destroy(d);
    }
    dae_design *d = design_for("medakzo");
    dae_error err = {0};
    assert_int_equal(dae_design_vary(d, "N=10:11:3", &err), DAE_ERR_INPUT);
    assert_non_null(strstr(err.text, "10.5 is no whole number"));
    dae_design_destroy(d);
    d = design_for("cable-drum");
    assert_int_equal(dae_design_sample(d, "mu~uniform(0,1):5", NULL), DAE_OK);
    assert_int_equal(dae_design_sample(d, "c~uniform(0,1):6", &err), DAE_ERR_INPUT);
    assert_non_null(strstr(err.text, "give both the same"));
    assert_int_equal(dae_design_sobol(d, "c=0:1:5", &err), DAE_ERR_INPUT);
    assert_non_null(strstr(err.text, "exclude each other"));
    assert_int_equal(dae_design_list(d, "c,x\n1,2\n", 8, &err), DAE_ERR_INPUT);
    assert_int_equal(dae_design_list(d, "c\n", 2, &err), DAE_ERR_INPUT);
    dae_design_destroy(d);
}

static void table_reads_names_units_and_quotes(void **state)
{
    (void)state;
    static const char text[] = "t,\"a, b\",c\r\n# s,m,\n0,1.5,ok\n1e-3,,\"say \"\"no\"\"\"\n";
    dae_table *t = dae_table_read(text, sizeof text - 1, NULL);
    assert_non_null(t);
    assert_int_equal(t->ncol, 3);
    assert_int_equal(t->nrow, 2);
    assert_string_equal(t->name[1], "a, b");
    assert_string_equal(t->name[2], "c");
    assert_string_equal(t->unit[1], "m");
    assert_near(t->value[1], 1e-3, 0);
    assert_near(t->value[2], 1.5, 0);
    assert_true(isnan(t->value[3]) && isnan(t->value[4]));
    assert_string_equal(t->text[5], "say \"no\"");
    assert_int_equal(dae_table_find(t, "c"), 2);
    assert_int_equal(dae_table_find(t, "d"), -1);
    dae_table_destroy(t);
    dae_error err = {0};
    assert_null(dae_table_read("a,b\n1\n", 6, &err));
    assert_non_null(strstr(err.text, "line 2 has 1 values, expected 2"));
    assert_null(dae_table_read("", 0, &err));
    assert_null(dae_table_read("a\0b", 3, &err));
    t = dae_table_read("a", 1, NULL);
    assert_non_null(t);
    assert_int_equal(t->nrow, 0);
    dae_table_destroy(t);
}

static void statistics_of_known_numbers(void **state)
{
    (void)state;
    const double x[] = {4, NAN, 1, 3, INFINITY, 2, 5};
    dae_statistics s;
    assert_int_equal(dae_statistics_of(x, 7, &s), DAE_OK);
    assert_int_equal(s.count, 5);
    assert_near(s.mean, 3, 1e-15);
    assert_near(s.sd, sqrt(2.5), 1e-15);
    assert_near(s.percentile[0], 1.2, 1e-15);
    assert_near(s.percentile[2], 3, 0);
    assert_near(s.percentile[3], 4, 0);
    assert_near(s.max, 5, 0);
    double down[50]; /* in the other order: 50, 49, ..., 1 */
    for (int i = 0; i < 50; i++) down[i] = 50 - i;
    assert_int_equal(dae_statistics_of(down, 50, &s), DAE_OK);
    assert_near(s.min, 1, 0);
    assert_near(s.max, 50, 0);
    assert_near(s.percentile[1], 13.25, 1e-13);
    assert_near(s.percentile[2], 25.5, 1e-13);
    assert_near(s.sd, sqrt(212.5), 1e-12);  /* (n^2 - 1)/12 n/(n - 1) */
    const double apart[] = {0, 10, 30, 70}; /* ranks 0.15, 0.75, 1.5, 2.25, 2.85 */
    assert_int_equal(dae_statistics_of(apart, 4, &s), DAE_OK);
    static const double between[] = {1.5, 7.5, 20, 40, 64};
    for (int k = 0; k < 5; k++) assert_near(s.percentile[k], between[k], 1e-13);
    assert_int_equal(dae_statistics_of(x + 1, 1, &s), DAE_OK);
    assert_true(s.count == 0 && isnan(s.mean) && isnan(s.percentile[2]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(design_grid_combines_all_values),
        cmocka_unit_test(design_samples_have_their_distribution),
        cmocka_unit_test(design_samples_depend_on_seed_and_name_only),
        cmocka_unit_test(sobol_fills_every_interval_once),
        cmocka_unit_test(design_sobol_integrates_well),
        cmocka_unit_test(design_list_takes_lines),
        cmocka_unit_test(design_names_what_is_wrong),
        cmocka_unit_test(table_reads_names_units_and_quotes),
        cmocka_unit_test(statistics_of_known_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
