/* Fits against numbers from other sources: published fits, SciPy's least_squares, closed solutions. */
#include <daedalus/daedalus.h>

#include "fit/fit.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static dae_problem *open_problem(const char *what)
{
    dae_error err = {0};
    dae_problem *p = dae_problem_open(what, NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    return p;
}

static char *read_file(const char *path, size_t *length)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    char *text = malloc(100000);
    assert_non_null(text);
    *length = fread(text, 1, 99999, f);
    text[*length] = 0;
    fclose(f);
    return text;
}

/* An example of examples/fitting with its data. */
static dae_fit_result *fit_example(const char *name, const dae_fit_free *free_list, int count,
                                   const char *loss, int profile)
{
    char path[400];
    size_t length;
    dae_error err = {0};
    snprintf(path, sizeof path, "examples/fitting/%s.deq", name);
    dae_problem *p = open_problem(path);
    snprintf(path, sizeof path, "examples/fitting/%s.csv", name);
    char *text = read_file(path, &length);
    dae_fit_experiment *e = dae_fit_read(p, text, length, name, NULL, 0, &err);
    if (!e) fail_msg("%s", err.text);
    dae_fit_options o = dae_fit_options_default(p);
    o.loss = loss;
    o.profile = profile;
    dae_fit_result *r = dae_fit(p, free_list, count, (const dae_fit_experiment *const *)&e, 1, &o, &err);
    if (!r) fail_msg("%s: %s", name, err.text);
    dae_fit_experiment_destroy(e);
    dae_problem_destroy(p);
    free(text);
    return r;
}

static dae_fit_free plain(const char *name)
{
    return (dae_fit_free){name, NAN, -INFINITY, INFINITY};
}

/* The published fit: sum of squares 19.872, k = 5.926e-5, 2.963e-5, 2.047e-5, 27.45e-5, 3.998e-5 (E. D. Dolan, J. J. Moré,
 * T. S. Munson, Benchmarking optimization software with COPS 3.0, 2004, problem 9; its sum of squares is 19.8721). */
static void pinene_as_published(void **state)
{
    static const double k[] = {5.926e-5, 2.9634e-5, 2.0473e-5, 2.7449e-4, 3.998e-5};
    dae_fit_free list[5] = {plain("k1"), plain("k2"), plain("k3"), plain("k4"), plain("k5")};
    (void)state;
    for (int j = 0; j < 5; j++) list[j].min = 0;
    dae_fit_result *r = fit_example("pinene", list, 5, "square", 0);
    assert_int_equal(r->status, DAE_OK);
    assert_near(2 * r->cost, 19.8721, 1e-3);
    for (int j = 0; j < 5; j++) assert_near(r->estimate[j].value / k[j], 1, 2e-4);
    assert_int_equal(r->rank, 5);
    dae_fit_destroy(r);
}

/* scipy.optimize.least_squares with DOP853 at 1e-11: values, standard deviations, a correlation. */
static void lynx_and_hare_as_scipy(void **state)
{
    static const double x[] = {0.48198127, 0.024778487, 0.91424309, 0.027198184, 35.778264, 3.9756854},
                        sd[] = {0.03555, 0.001702, 0.06771, 0.001892, 1.744, 0.4789};
    const dae_fit_free list[] = {plain("a"), plain("b"),       plain("c"),
                                 plain("d"), plain("hare(0)"), plain("lynx(0)")};
    (void)state;
    dae_fit_result *r = fit_example("lynx_hare", list, 6, "square", 0);
    assert_near(r->cost, 0.27031564, 1e-7);
    for (int j = 0; j < 6; j++) {
        assert_near(r->estimate[j].value / x[j], 1, 1e-5);
        assert_near(r->estimate[j].sd / sd[j], 1, 2e-3);
        /* 2.0280940 is Student's quantile for 36 degrees of freedom */
        assert_near((r->estimate[j].upper - r->estimate[j].value) / r->estimate[j].sd, 2.0280940, 1e-6);
    }
    assert_near(r->correlation[0 + 6 * 1], 0.88574, 1e-3);
    dae_fit_destroy(r);
}

/* The same with units: data in umol, parameters in mmol; and profiles, which for so mild a curvature are near the intervals. */
static void enzyme_as_scipy(void **state)
{
    const dae_fit_free list[] = {plain("Vm"), plain("Km")};
    (void)state;
    dae_fit_result *r = fit_example("enzyme", list, 2, "square", 1);
    assert_near(1e3 * r->estimate[0].value, 0.81274866, 2e-6);
    assert_near(1e3 * r->estimate[1].value, 2.62301577, 2e-5);
    assert_near(1e3 * r->estimate[1].sd, 0.14647441, 2e-4);
    assert_near(r->cost, 10.633189, 1e-5);
    for (int j = 0; j < 2; j++) {
        const dae_fit_estimate *e = &r->estimate[j];
        assert_near(e->profile[0], e->lower, 0.1 * (e->value - e->lower));
        assert_near(e->profile[1], e->upper, 0.1 * (e->upper - e->value));
    }
    dae_fit_destroy(r);
}

/* ---- Data made here --------------------------------------------------------------------------------------------- */

static const char decay[] =
    "model decay\nparam k = 1, q = 1, unused = 3\nvar x = 2\nx' = -k*q*x\nsolve t = 0 .. 2, rtol = 1e-9\n";

static dae_fit_result *fit_text(const char *model, const char *data, const dae_fit_free *list, int count,
                                const char *loss, dae_error *err)
{
    dae_problem *p = open_problem(model);
    dae_fit_experiment *e = dae_fit_read(p, data, strlen(data), "data.csv", NULL, 0, err);
    dae_fit_options o = dae_fit_options_default(p);
    o.loss = loss;
    dae_fit_result *r = e ? dae_fit(p, list, count, (const dae_fit_experiment *const *)&e, 1, &o, err) : NULL;
    dae_fit_experiment_destroy(e);
    dae_problem_destroy(p);
    return r;
}

/* 2 exp(-1.5 t), one value missing, one wrong by 100 %. */
static const char
    exact[] = "t,x\n0,2\n0.5,0.9447331\n1,\n1.5,0.2107984\n2,0.0995741\n",
    outlier[] =
        "t,x\n0,2\n0.25,1.3745786\n0.5,0.9447331\n0.75,1.3\n1,0.4462603\n1.25,0.3067099\n1.5,0.2107984\n"
        "1.75,0.1448796\n2,0.0995741\n";

/* The same as this library writes tables in JSON, where a missing value is null. */
static const char exact_json[] = "{\"columns\":[{\"name\":\"t\",\"values\":[0,0.5,1,1.5,2]},{\"name\":\"x\","
                                 "\"values\":[2,0.9447331,null,0.2107984,0.0995741]}]}";

static void exact_data_are_met(void **state)
{
    const dae_fit_free list[] = {plain("k"), plain("x(0)")};
    const char *const data[] = {exact, exact_json};
    (void)state;
    for (int i = 0; i < 2; i++) {
        dae_error err = {0};
        dae_fit_result *r = fit_text(decay, data[i], list, 2, "square", &err);
        if (!r) fail_msg("%s", err.text);
        assert_near(r->estimate[0].value, 1.5, 1e-6);
        assert_near(r->estimate[1].value, 2, 1e-6);
        assert_int_equal(r->nresidual, 4);
        assert_true(isnan(r->residual[0][2]));
        assert_near(r->model[0][2], 2 * exp(-1.5), 1e-6);
        dae_fit_destroy(r);
    }
}

static void huber_ignores_an_outlier(void **state)
{
    const dae_fit_free list[] = {plain("k")};
    dae_error err = {0};
    (void)state;
    dae_fit_result *squares = fit_text(decay, outlier, list, 1, "square", &err),
                   *robust = fit_text(decay, outlier, list, 1, "huber", &err);
    assert_non_null(squares);
    assert_non_null(robust);
    assert_true(fabs(squares->estimate[0].value - 1.5) > 0.05);
    assert_near(robust->estimate[0].value, 1.5, 1e-3);
    dae_fit_destroy(squares);
    dae_fit_destroy(robust);
}

static void what_cannot_be_found_is_named(void **state)
{
    const dae_fit_free both[] = {plain("k"), plain("q"), plain("unused")};
    dae_error err = {0};
    (void)state;
    dae_fit_result *r = fit_text(decay, exact, both, 3, "square", &err);
    if (!r) fail_msg("%s", err.text);
    assert_int_equal(r->rank, 1);
    assert_non_null(strstr(r->unidentifiable, "only a combination of k and q can be found"));
    assert_non_null(strstr(r->unidentifiable, "unused cannot be found"));
    assert_true(isinf(r->estimate[0].sd) && isinf(r->estimate[1].sd) && isinf(r->estimate[2].sd));
    assert_near(r->estimate[0].value * r->estimate[1].value, 1.5, 1e-5);
    dae_fit_destroy(r);
}

static void bounds_hold(void **state)
{
    const dae_fit_free list[] = {{"k", 0.5, 0, 1.2}};
    dae_error err = {0};
    (void)state;
    dae_fit_result *r = fit_text(decay, exact, list, 1, "square", &err);
    if (!r) fail_msg("%s", err.text);
    assert_true(r->estimate[0].value == 1.2 && r->estimate[0].at_bound == 1);
    dae_fit_destroy(r);
}

/* Two experiments with settings of their own; the rate is k*q with q = 1 and 2. */
static void experiments_have_their_own_settings(void **state)
{
    static const char twice[] = "t,x\n0,2\n0.5,0.4462603\n1,0.0995741\n";
    const dae_fit_free list[] = {plain("k")};
    const dae_setting two[] = {{"q", "2"}};
    dae_error err = {0};
    dae_problem *p = open_problem(decay);
    (void)state;
    dae_fit_experiment *e[2] = {dae_fit_read(p, exact, strlen(exact), "a.csv", NULL, 0, &err),
                                dae_fit_read(p, twice, strlen(twice), "b.csv", two, 1, &err)};
    dae_fit_result *r = dae_fit(p, list, 1, (const dae_fit_experiment *const *)e, 2, NULL, &err);
    if (!r) fail_msg("%s", err.text);
    assert_near(r->estimate[0].value, 1.5, 1e-6);
    assert_near(r->model[1][1], 2 * exp(-1.5), 1e-6);
    dae_fit_destroy(r);
    dae_fit_experiment_destroy(e[0]);
    dae_fit_experiment_destroy(e[1]);
    dae_problem_destroy(p);
}

/* From far away, where one interval ends in another minimum. */
static void several_intervals_lead_home(void **state)
{
    static const char model[] =
        "model lv\nparam a = 2, b = 0.5, c = 3, d = 0.3\nvar x = 10, y = 5\nx' = a*x - b*x*y\n"
        "y' = -c*y + d*x*y\nsolve t = 0 .. 15, rtol = 1e-8\n";
    static const double truth[] = {1, 0.1, 1.5, 0.075};
    const dae_setting set[] = {{"a", "1"}, {"b", "0.1"}, {"c", "1.5"}, {"d", "0.075"}};
    const dae_fit_free list[] = {{"a", NAN, 0, 5}, {"b", NAN, 0, 1}, {"c", NAN, 0, 5}, {"d", NAN, 0, 1}};
    dae_error err = {0};
    dae_problem *p = open_problem(model), *q = dae_problem_variant(p, set, 4, &err);
    double t[31], value[62], y[62];
    const char *const column[] = {"x", "y"};
    (void)state;
    assert_non_null(q);
    for (int i = 0; i < 31; i++) t[i] = 0.5 * i;
    dae_sensitivity_options so = dae_sensitivity_options_default(q);
    double s[62];
    const char *const one[] = {"a"};
    assert_true(dae_sensitivity_run(q, &so, one, 1, t, 31, y, s, NULL, &err) >= 0);
    for (int i = 0; i < 31; i++) value[i] = y[2 * i], value[31 + i] = y[2 * i + 1];
    const double sds[] = {0, 1e-6, 1e4}; /* 0: not known. Gaps are weighed as data are */
    for (int k = 0; k < 3; k++) {
        double sd[62];
        for (int i = 0; i < 62; i++) sd[i] = sds[k];
        dae_fit_experiment e = {.name = "made here",
                                .ntime = 31,
                                .ncolumn = 2,
                                .t = t,
                                .column = column,
                                .value = value,
                                .sd = k ? sd : NULL};
        const dae_fit_experiment *data[] = {&e};
        dae_fit_options o = dae_fit_options_default(p);
        dae_fit_result *plain_fit = k ? NULL : dae_fit(p, list, 4, data, 1, &o, &err);
        assert_true(!plain_fit || plain_fit->cost > 1);
        o.intervals = 6;
        dae_fit_result *r = dae_fit(p, list, 4, data, 1, &o, &err);
        if (!r) fail_msg("%s", err.text);
        for (int j = 0; j < 4; j++) assert_near(r->estimate[j].value / truth[j], 1, 1e-5);
        dae_fit_destroy(plain_fit);
        dae_fit_destroy(r);
    }
    dae_problem_destroy(p);
    dae_problem_destroy(q);
}

/* x = c t and z = 2 c t, every number with a deviation of its own: c = (sum h v/sd^2)/(sum h^2/sd^2) with h = t or 2 t, and the sum of
 * squares ((v - h c)/sd)^2, halved, is the cost. */
static void every_number_has_its_deviation(void **state)
{
    static const char model[] =
        "model two\nparam c = 1\nvar x = 0, z = 0\nx' = c\nz' = 2*c\nsolve t = 0 .. 3, rtol = 1e-10\n";
    static const double t[] = {1, 2, 3}, value[] = {1, 3, 2, 5, 4, 9}, sd[] = {0.1, 0.5, 2, 3, 0.2, 0.7};
    const char *const column[] = {"x", "z"};
    const dae_fit_free list[] = {{"c", NAN, 0, 5}};
    const dae_fit_experiment e = {
        .name = "by hand", .ntime = 3, .ncolumn = 2, .t = t, .column = column, .value = value, .sd = sd};
    const dae_fit_experiment *data[] = {&e};
    double up = 0, down = 0, left = 0;
    (void)state;
    for (int i = 0; i < 6; i++) {
        double h = (i < 3 ? 1 : 2) * t[i % 3];
        up += h * value[i] / (sd[i] * sd[i]);
        down += h * h / (sd[i] * sd[i]);
    }
    for (int i = 0; i < 6; i++) left += pow((value[i] - (i < 3 ? 1 : 2) * t[i % 3] * up / down) / sd[i], 2);
    dae_error err = {0};
    dae_problem *p = open_problem(model);
    dae_fit_options o = dae_fit_options_default(p);
    dae_fit_result *r = dae_fit(p, list, 1, data, 1, &o, &err);
    if (!r) fail_msg("%s", err.text);
    assert_near(r->estimate[0].value, up / down, 1e-7); /* linear: one step, then rounding of runs at 1e-10 */
    assert_near(r->cost, left / 2, 1e-6 * left);
    dae_fit_destroy(r);
    dae_problem_destroy(p);
}

/* The cost of the first point that a fit looks at. */
typedef struct course {
    double first;
    int count;
} course;

static int on_the_way(const dae_fit_progress *at, void *user)
{
    course *c = user;
    if (!c->count++) c->first = at->cost;
    return 0;
}

/* x' = 1 - k x, x(0) = 1 stays at 1 for k = 1, where the fit begins. Data of 1 at the start and at the two cuts, where they are the first
 * guess of the state, and of 2 at the other nine times: the sum of squares is 9 with three intervals as with one. */
static void several_intervals_look_at_all_data(void **state)
{
    static const char model[] =
        "model m\nparam k = 1\nvar x = 1\nx' = 1 - k*x\nsolve t = 0 .. 3, rtol = 1e-9\n";
    const dae_fit_free list[] = {{"k", NAN, 0, 5}};
    const char *const column[] = {"x"};
    double t[12], value[12];
    course seen[2] = {{0}};
    (void)state;
    for (int i = 0; i < 12; i++) t[i] = 0.25 * i, value[i] = i % 4 ? 2 : 1;
    for (int k = 0; k < 2; k++) {
        dae_error err = {0};
        dae_problem *p = open_problem(model);
        dae_fit_experiment e = {
            .name = "made here", .ntime = 12, .ncolumn = 1, .t = t, .column = column, .value = value};
        const dae_fit_experiment *data[] = {&e};
        dae_fit_options o = dae_fit_options_default(p);
        o.intervals = k ? 3 : 1;
        o.progress = on_the_way;
        o.user = &seen[k];
        dae_fit_result *r = dae_fit(p, list, 1, data, 1, &o, &err);
        if (!r) fail_msg("%s", err.text);
        dae_fit_destroy(r);
        dae_problem_destroy(p);
    }
    assert_near(seen[0].first, 4.5 / 3.25, 1e-6); /* the unit of a column: the root of its mean square */
    assert_near(seen[1].first, 4.5 / 3.25, 1e-6);
}

/* ---- Mistakes --------------------------------------------------------------------------------------------------------- */

static void mistakes_are_told(void **state)
{
    static const struct {
        const char *data, *text;
    } wrong[] = {{"t,z\n0,1\n", "line 1: the problem has no component or sensor \"z\""},
                 {"time,x\n0,1\n", "line 1: there is no column t"},
                 {"t,x\n0,1\n1,oops\n", "data.csv:3: column x: \"oops\" is no number"},
                 {"t,x\n0,1\n2,1\n1,1\n", "data.csv:4: t = 1 after t = 2"},
                 {"t,x\n,1\n", "data.csv:2: t is"},
                 {"t,x\n-1,1\n", "data.csv:2: t = -1 lies before the start"},
                 {"t,x,sd(x)\n0,1,0\n", "data.csv:2: sd(x) = 0 must be positive"},
                 {"t,x\n# ,\n# lab: A\n0,1\n\n1,oops\n", "data.csv:6: column x: \"oops\" is no number"},
                 {"t,x,sd(z)\n0,1,1\n", "line 1: sd(z) is the standard deviation of no column"},
                 {"t,x,x\n0,1,1\n", "line 1: there are two columns x"},
                 {"{\"columns\":[{\"name\":\"t\",\"values\":[0,2,1]},{\"name\":\"x\",\"values\":[1,1,1]}]}",
                  "data.csv, row 3: t = 1 after t = 2"},
                 {"t\n0\n", "nothing measured"}};
    const dae_fit_free list[] = {plain("k")}, none[] = {plain("zz")};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        dae_error err = {0};
        assert_null(fit_text(decay, wrong[i].data, list, 1, "square", &err));
        if (!strstr(err.text, wrong[i].text))
            fail_msg("expected \"%s\", got \"%s\"", wrong[i].text, err.text);
    }
    dae_error err = {0};
    assert_null(fit_text(decay, exact, none, 1, "square", &err));
    assert_non_null(strstr(err.text, "\"zz\""));
    assert_null(fit_text("model m\nparam k = 1 [1/s]\nvar x = 2 [m]\nx' = -k*x\nsolve t = 0 .. 2 [s]\n",
                         "t,x\n# s,kg\n0,2\n1,1\n", list, 1, "square", &err));
    assert_non_null(strstr(err.text, "kg"));
    assert_null(
        fit_text(decay, "t,x\n0,2\n", (const dae_fit_free[]){plain("k"), plain("q")}, 2, "square", &err));
    assert_non_null(strstr(err.text, "1 measured values cannot determine 2"));
}

static void student_quantiles(void **state)
{
    (void)state; /* tables of Student's distribution */
    assert_near(dae_student(0.95, 1), 12.706204736, 1e-8);
    assert_near(dae_student(0.95, 10), 2.2281388520, 1e-9);
    assert_near(dae_student(0.99, 5), 4.0321429836, 1e-9);
    assert_near(dae_student(0.95, 1e9), 1.959963985, 1e-7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_number_has_its_deviation),
                                       cmocka_unit_test(pinene_as_published),
                                       cmocka_unit_test(lynx_and_hare_as_scipy),
                                       cmocka_unit_test(enzyme_as_scipy),
                                       cmocka_unit_test(exact_data_are_met),
                                       cmocka_unit_test(huber_ignores_an_outlier),
                                       cmocka_unit_test(what_cannot_be_found_is_named),
                                       cmocka_unit_test(bounds_hold),
                                       cmocka_unit_test(experiments_have_their_own_settings),
                                       cmocka_unit_test(several_intervals_lead_home),
                                       cmocka_unit_test(several_intervals_look_at_all_data),
                                       cmocka_unit_test(mistakes_are_told),
                                       cmocka_unit_test(student_quantiles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
