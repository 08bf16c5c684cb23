/* Tables of run characteristics: the printed figures, which runs stand beside them, marks, forms. */
#include "test.h"

#include <daedalus/experiment.h>

#include <jansson.h>

typedef struct buffer {
    char text[65536];
    size_t used;
} buffer;

static int collect(const char *text, size_t length, void *user)
{
    buffer *b = user;
    assert_true(b->used + length < sizeof b->text);
    memcpy(b->text + b->used, text, length);
    b->used += length;
    b->text[b->used] = 0;
    return 0;
}

static int refuse(const char *text, size_t length, void *user)
{
    (void)text, (void)length, (void)user;
    return -1;
}

static void published_rows_are_those_of_the_report(void **state)
{
    (void)state;
    long steps = 0, f = 0;
    double digits = 0;
    assert_int_equal(dae_published_count(), 349);
    for (int i = 0; i < dae_published_count(); i++) {
        const dae_published_row *r = dae_published_get(i);
        assert_non_null(dae_problem_find(r->problem));
        assert_true(r->rtol > 0 && r->atol > 0 && r->steps > 0 && r->f > 0);
        steps += r->steps;
        f += r->f;
        digits += r->scd;
    }
    assert_null(dae_published_get(349));
    assert_null(dae_published_get(-1));
    assert_int_equal(steps, 1622224);
    assert_int_equal(f, 9488505);
    assert_near(digits, 1622.65, 1e-6);
}

static void failed_runs_are_those_of_the_report(void **state)
{
    (void)state;
    assert_true(dae_published_failed("ringmod", "radau", 26));
    assert_false(dae_published_failed("ringmod", "radau", 27));
    assert_true(dae_published_failed("rober", "dassl", 10));
    assert_false(dae_published_failed("rober", "dassl", 9));
    assert_true(dae_published_failed("tba", "ida", 32)); /* beside DASSL */
    assert_true(dae_published_failed("pump", "mebdfi", 14));
    assert_false(dae_published_failed("hires", "radau", 0));
}

static void ranges_follow_the_pages_of_the_problems(void **state)
{
    (void)state;
    const dae_tolerance_range *r = dae_tolerance_range_find("emep");
    assert_non_null(r);
    assert_true(r->atol_fixed && r->h0_fixed && r->last == 32);
    assert_near(r->h0, 1e-7, 0);
    dae_result_row *row;
    int n = dae_results_plan(
        "rober", DAE_RESULTS_RANGE,
        &(dae_results_choice){.solver = (const char *const[]){"radau", "vode"}, .nsolver = 2}, &row);
    assert_int_equal(n, 66); /* m = 0 .. 32 each */
    assert_string_equal(row[12].run.solver, "radau");
    assert_near(row[12].run.rtol, 1e-7, 1e-20);
    assert_near(row[12].run.atol, 1e-11, 1e-24);
    assert_near(row[12].run.h0, 1e-9, 1e-22);
    assert_non_null(row[12].published);
    assert_int_equal(row[12].published->steps, 112);
    assert_null(row[13].published);
    assert_near(row[33].run.h0, 0, 0); /* VODE chooses its first step */
    free(row);
    assert_null(dae_tolerance_range_find("cable-drum"));
    assert_int_equal(dae_results_plan("no-such-problem", DAE_RESULTS_RANGE, NULL, &row), 0);
}

static void explicit_methods_are_not_run_on_stiff_problems(void **state)
{
    (void)state;
    const dae_method_info *dopri5 = dae_method_find("dopri5"), *radau = dae_method_find("radau");
    assert_null(dae_matrix_exclusion(dae_problem_find("plei"), dopri5));
    assert_non_null(dae_matrix_exclusion(dae_problem_find("hires"), dopri5));
    assert_non_null(dae_matrix_exclusion(dae_problem_find("andrews"), dopri5));
    assert_null(dae_matrix_exclusion(dae_problem_find("andrews"), radau));
    assert_non_null(dae_matrix_exclusion(dae_problem_find("nand"), radau)); /* fully implicit */
    assert_non_null(dae_matrix_exclusion(dae_problem_find("cable-drum"), radau));
}

static void methods_of_low_order_run_at_all_tolerances(void **state)
{
    (void)state;
    dae_result_row *row;
    const dae_tolerance_range *r = dae_tolerance_range_find("rober");
    int n = dae_results_plan("rober", DAE_RESULTS_RANGE, NULL, &row), two = 0, four = 0;
    for (int i = 0; i < n; i++) {
        two += !strcmp(row[i].run.solver, "wnys2");
        four += !strcmp(row[i].run.solver, "rosnys4");
    }
    free(row);
    assert_int_equal(two, r->last + 1);
    assert_int_equal(four, r->last + 1);
}

static void one_pair_is_limited_by_its_cost(void **state)
{
    (void)state;
    dae_result_row *row;
    int limited = 0, n = dae_results_plan("ringmod", DAE_RESULTS_RANGE, NULL, &row), runs = 0;
    for (int i = 0; i < dae_problem_count(); i++) {
        for (int k = 0; k < dae_method_count(); k++)
            limited += dae_matrix_least_rtol(dae_problem_get(i), dae_method_get(k)) > 0;
    }
    assert_int_equal(limited, 1);
    for (int i = 0; i < n; i++) {
        if (strcmp(row[i].run.solver, "wnys2") != 0) continue;
        assert_true(row[i].run.rtol > 0.99e-9);
        runs++;
    }
    free(row);
    assert_int_equal(runs, 21); /* 1e-4 .. 1e-9 in quarters of a digit */
    /* Who asks for it by name gets all. */
    assert_int_equal(
        dae_results_plan("ringmod", DAE_RESULTS_RANGE,
                         &(dae_results_choice){.solver = (const char *const[]){"wnys2"}, .nsolver = 1}, &row),
        33);
    free(row);
}

/* As published tba has unstable modes that its discontinuities excite. A run that follows them takes steps of 1e-5 for the
 * rest of the interval; the runs here did before order 1 (gamd: 3) damped them (docs/problems/tba.md). */
static void tba_as_published_ends_at_the_tightest_tolerances(void **state)
{
    (void)state;
    static const struct {
        const char *solver;
        int m;
        long steps;
    } run[] = {{"dassl", 26, 15000}, {"dassl", 30, 18000}, {"dassl", 32, 20000},
               {"gamd", 31, 4000},   {"gamd", 32, 4000},   {"ida", 32, 20000}};
    for (size_t i = 0; i < sizeof run / sizeof *run; i++) {
        dae_result_row *row;
        if (!dae_method_find(run[i].solver)) continue; /* built without SUNDIALS */
        int n = dae_results_plan("tba", DAE_RESULTS_RANGE,
                                 &(dae_results_choice){.solver = &run[i].solver, .nsolver = 1}, &row);
        assert_int_equal(n, 33);
        dae_result_row *r = &row[run[i].m];
        dae_result_run(r, 120, 1);
        if (r->run.status != DAE_OK || r->run.steps > run[i].steps || !(r->run.mescd > 4))
            fail_msg("%s at %.3g: %s, %ld steps, mescd %.2f", r->run.solver, r->run.rtol, r->run.message,
                     r->run.steps, r->run.mescd);
        free(row);
    }
}

/* Index 2 at a loose tolerance: what one piece leaves off the constraints must not stop the next. */
static void ida_ends_the_pump_at_every_loose_tolerance(void **state)
{
    (void)state;
    dae_result_row *row;
    if (!dae_method_find("ida")) return;
    int n =
        dae_results_plan("pump", DAE_RESULTS_RANGE,
                         &(dae_results_choice){.solver = (const char *const[]){"ida"}, .nsolver = 1}, &row);
    assert_int_equal(n, 15);
    for (int i = 0; i < n; i++) {
        dae_result_run(&row[i], 0, 1);
        assert_int_equal(row[i].run.status, DAE_OK);
    }
    free(row);
}

static void a_row_reproduces_the_report(void **state)
{
    (void)state;
    dae_result_row *row;
    int n =
        dae_results_plan("hires", DAE_RESULTS_PUBLISHED,
                         &(dae_results_choice){.solver = (const char *const[]){"radau"}, .nsolver = 1}, &row);
    assert_int_equal(n, 3);
    dae_result_run(&row[0], 0, 1);
    assert_int_equal(row[0].run.status, DAE_OK);
    assert_near(row[0].run.scd, 4.91, 0.006);
    assert_near(row[0].run.mescd, 7.11, 0.006);
    assert_int_equal(row[0].run.steps, 51);
    assert_int_equal(row[0].run.accepted, 40);
    assert_int_equal(dae_result_marks(&row[0]), 0);
    free(row);
}

static void a_solver_without_rows_gets_the_tolerances_of_the_problem(void **state)
{
    (void)state;
    dae_result_row *row;
    int n = dae_results_plan("plei", DAE_RESULTS_PUBLISHED,
                             &(dae_results_choice){.solver = (const char *const[]){"dop853"}, .nsolver = 1},
                             &row);
    assert_int_equal(n, 3);
    for (int i = 0; i < n; i++) assert_null(row[i].published);
    assert_near(row[0].run.rtol * row[1].run.rtol * row[2].run.rtol, 1e-21, 1e-30);
    dae_result_run(&row[1], 0, 1);
    assert_int_equal(row[1].run.status, DAE_OK);
    assert_int_equal(dae_result_marks(&row[1]), 0);
    free(row);
}

static void marks_are_set_beyond_the_allowance(void **state)
{
    (void)state;
    dae_published_row p = {.problem = "hires",
                           .solver = "radau",
                           .mescd = 6,
                           .scd = 4,
                           .steps = 100,
                           .f = 1000,
                           .rtol = 1e-4,
                           .atol = 1e-4,
                           .h0 = NAN,
                           .cpu_seconds = NAN};
    dae_result_row r = {.run.problem = "hires",
                        .run.solver = "radau",
                        .published = &p,
                        .run.mescd = 5.31,
                        .run.scd = 3.31,
                        .run.steps = 160,
                        .run.f = 1600,
                        .m = -1};
    assert_int_equal(dae_result_marks(&r), 0);
    strcpy(r.run.solver, "mebdfi"); /* 0.5 digits, 1.3 times */
    assert_int_equal(dae_result_marks(&r), DAE_MARK_MESCD | DAE_MARK_SCD | DAE_MARK_STEPS | DAE_MARK_F);
    strcpy(r.run.solver, "ida");
    r.run.steps = 161;
    assert_int_equal(dae_result_marks(&r), DAE_MARK_STEPS);
    r.run.scd = NAN; /* e5: scd is not used */
    r.run.steps = 1;
    assert_int_equal(dae_result_marks(&r), 0);
    r.run.status = DAE_ERR_STEP_TOO_SMALL;
    assert_int_equal(dae_result_marks(&r), DAE_MARK_FAILED);
}

static void a_run_at_its_limit_has_failed_and_says_so(void **state)
{
    (void)state;
    dae_result_row r = {.run.problem = "ringmod",
                        .run.solver = "radau5",
                        .m = 0,
                        .run.rtol = 1e-4,
                        .run.atol = 1e-4,
                        .run.h0 = 1e-6};
    dae_result_run(&r, 1e-3, 1);
    assert_int_equal(r.run.status, DAE_ERR_MAX_SECONDS);
    assert_non_null(strstr(r.run.message, "CPU"));
    assert_true(isnan(r.run.scd));
    r = (dae_result_row){.run.problem = "nonsense", .run.solver = "radau5"};
    dae_result_run(&r, 0, 1);
    assert_true(r.run.status < 0);
}

static dae_published_row sample_published = {"hires", "radau", NULL, 1e-7, 1e-7, 1e-9,  7.11, 4.91,
                                             51,      40,      985,  22,   -1,   0.002, 0};

static dae_result_row sample(void)
{
    return (dae_result_row){.run.problem = "hires",
                            .run.solver = "radau5",
                            .published = &sample_published,
                            .m = 8,
                            .run.rtol = 1e-7,
                            .run.atol = 1e-7,
                            .run.mescd = 6.5,
                            .run.scd = 4.0,
                            .run.steps = 102,
                            .run.accepted = 90,
                            .run.f = 900,
                            .run.jac = 30,
                            .run.lu = 60,
                            .run.cpu_seconds = 0.25};
}

static void a_row_reads_back_its_results(void **state)
{
    (void)state;
    dae_result_row r = sample(), planned = {.run.problem = "hires",
                                            .run.solver = "radau5",
                                            .published = &sample_published,
                                            .m = 8,
                                            .run.rtol = 1e-7,
                                            .run.atol = 1e-7,
                                            .run.status = DAE_ERR_INTERNAL};
    buffer b = {.used = 0};
    assert_int_equal(dae_result_json(&r, collect, &b), DAE_OK);
    dae_measurement m;
    assert_int_equal(dae_measurement_parse(b.text, strlen(b.text), &m, NULL), DAE_OK);
    assert_int_equal(dae_result_take(&planned, &m), 1);
    assert_int_equal(planned.run.status, DAE_OK);
    assert_true(planned.run.mescd == 6.5 && planned.run.scd == 4.0 && planned.run.cpu_seconds == 0.25);
    assert_true(planned.run.steps == 102 && planned.run.accepted == 90 && planned.run.f == 900 &&
                planned.run.jac == 30 && planned.run.lu == 60);
    dae_result_row other = planned;
    other.run.rtol = 1e-8;
    assert_int_equal(dae_result_take(&other, &m), 0);
    other = planned;
    strcpy(other.run.solver, "radau");
    assert_int_equal(dae_result_take(&other, &m), 0);
    assert_int_equal(dae_measurement_parse("{\"prob", 6, &m, NULL), DAE_ERR_INPUT);
    /* A failure keeps its reason. */
    r.run.status = DAE_ERR_CONVERGENCE;
    b.used = 0;
    assert_int_equal(dae_result_json(&r, collect, &b), DAE_OK);
    assert_int_equal(dae_measurement_parse(b.text, strlen(b.text), &m, NULL), DAE_OK);
    assert_int_equal(m.status, DAE_ERR_CONVERGENCE);
}

static void forms_hold_the_same_figures(void **state)
{
    (void)state;
    dae_result_row r = sample();
    buffer b = {.used = 0};
    assert_int_equal(dae_results_write(&r, 1, "md", collect, &b), DAE_OK);
    assert_non_null(strstr(b.text, "## hires: "));
    assert_non_null(strstr(b.text, "| radau5 (radau) |"));
    assert_non_null(strstr(b.text, "**4.00 (4.91)**")); /* 0.91 below */
    assert_non_null(strstr(b.text, "| 6.50 (7.11) |"));
    assert_non_null(strstr(b.text, "**102 (51) 2.00**"));
    assert_non_null(strstr(b.text, " 0.250 (0.0020) |"));
    b.used = 0;
    assert_int_equal(dae_results_write(&r, 1, "csv", collect, &b), DAE_OK);
    assert_non_null(strstr(b.text, ",ok,6.5,4,102,90,900,30,60,0.25,7.1"));
    assert_non_null(strstr(b.text, ",51,40,985,22,,0.002,scd steps\n"));
    b.used = 0;
    assert_int_equal(dae_results_write(&r, 1, "latex", collect, &b), DAE_OK);
    assert_non_null(strstr(b.text, "& \\textbf{102 (51) 2.00} & 90 (40) 2.25 & 900 (985) 0.91 &"));
    b.used = 0;
    assert_int_equal(dae_results_write(&r, 1, "json", collect, &b), DAE_OK);
    json_t *o = json_loads(b.text, 0, NULL), *row = json_array_get(json_object_get(o, "rows"), 0);
    assert_non_null(row);
    assert_int_equal(json_integer_value(json_object_get(row, "steps")), 102);
    assert_true(json_is_null(json_object_get(json_object_get(row, "published"), "lu")));
    assert_int_equal(json_array_size(json_object_get(row, "marks")), 2);
    json_decref(o);
    b.used = 0;
    assert_int_equal(dae_results_write(&r, 1, "html", collect, &b), DAE_OK);
    assert_non_null(strstr(b.text, "<td>radau5 (radau)</td><td>1e-07</td>"));
    assert_non_null(strstr(b.text, "<td class=\"worse\">4.00<small>4.91</small></td>"));
    assert_non_null(strstr(b.text, "<td>6.50<small>7.11</small></td>"));
    assert_non_null(strstr(b.text, "<td class=\"worse\">102<small>51 &middot; \303\2272.00</small></td>"));
    assert_int_equal(dae_results_write(&r, 1, "xml", collect, &b), DAE_ERR_INPUT);
    assert_int_equal(dae_results_write(&r, 1, "csv", refuse, NULL), DAE_ERR_FILE);
}

static void a_failed_row_tells_its_message(void **state)
{
    (void)state;
    dae_result_row r = sample();
    buffer b = {.used = 0};
    r.run.status = DAE_ERR_MAX_SECONDS;
    r.run.scd = r.run.mescd = NAN;
    strcpy(r.run.message, "too slow");
    assert_int_equal(dae_results_write(&r, 1, "md", collect, &b), DAE_OK);
    assert_non_null(strstr(b.text, "**radau5 (radau)**"));
    assert_non_null(strstr(b.text, "radau5 at rtol 1e-07 failed: too slow"));
    b.used = 0;
    assert_int_equal(dae_result_json(&r, collect, &b), DAE_OK);
    assert_non_null(strstr(b.text, "\"status\":\"limit\",\"message\":\"too slow\",\"mescd\":null"));
    assert_null(strchr(b.text, '\n'));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_rows_are_those_of_the_report),
        cmocka_unit_test(failed_runs_are_those_of_the_report),
        cmocka_unit_test(ranges_follow_the_pages_of_the_problems),
        cmocka_unit_test(explicit_methods_are_not_run_on_stiff_problems),
        cmocka_unit_test(methods_of_low_order_run_at_all_tolerances),
        cmocka_unit_test(one_pair_is_limited_by_its_cost),
        cmocka_unit_test(tba_as_published_ends_at_the_tightest_tolerances),
        cmocka_unit_test(ida_ends_the_pump_at_every_loose_tolerance),
        cmocka_unit_test(a_row_reproduces_the_report),
        cmocka_unit_test(a_solver_without_rows_gets_the_tolerances_of_the_problem),
        cmocka_unit_test(marks_are_set_beyond_the_allowance),
        cmocka_unit_test(a_run_at_its_limit_has_failed_and_says_so),
        cmocka_unit_test(a_row_reads_back_its_results),
        cmocka_unit_test(forms_hold_the_same_figures),
        cmocka_unit_test(a_failed_row_tells_its_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
