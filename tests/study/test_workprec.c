/* Ladders, measurements and the work-precision diagram. */
#include "test.h"

#include <daedalus/study.h>

typedef struct memory {
    char text[65536];
    size_t length;
} memory;

static int remember(const char *text, size_t length, void *user)
{
    memory *m = user;
    assert_true(m->length + length < sizeof m->text);
    memcpy(m->text + m->length, text, length);
    m->length += length;
    m->text[m->length] = 0;
    return 0;
}

static int refuse(const char *text, size_t length, void *user)
{
    (void)text;
    (void)length;
    (void)user;
    return -1;
}

static dae_problem *open_problem(const char *name)
{
    dae_problem *p = dae_problem_create(name, NULL, 0, NULL);
    assert_non_null(p);
    return p;
}

/* [TESTSET] II.1.4: hires, rtol = 10^-(5+m/4), m = 0 .. 28, atol = rtol, h0 = 10^-2 rtol. */
static void ladder_of_hires_is_the_test_sets(void **state)
{
    (void)state;
    dae_problem *p = open_problem("hires");
    dae_ladder l = dae_ladder_default(p);
    dae_options o = dae_options_default();
    assert_int_equal(dae_ladder_count(&l), 29);
    assert_near(dae_ladder_rung(&l, 3, dae_method_find("radau5"), &o), 5.75, 0);
    assert_near(o.rtol / 1.7782794100389228e-6, 1, 1e-14);
    assert_near(o.atol / o.rtol, 1, 1e-15);
    assert_near(o.h0 / o.rtol, 1e-2, 1e-16);
    dae_ladder_rung(&l, 28, dae_method_find("vode"), &o);
    assert_near(o.rtol / 1e-12, 1, 1e-13);
    assert_near(o.h0, 0, 0);
    dae_problem_destroy(p);
}

/* emep: atol = 1 and h0 = 1e-7 whatever rtol is; m = 0 .. 32 by 1/8. */
static void ladder_of_emep_has_fixed_atol(void **state)
{
    (void)state;
    dae_problem *p = open_problem("emep");
    dae_ladder l = dae_ladder_default(p);
    dae_options o = dae_options_default();
    assert_int_equal(dae_ladder_count(&l), 33);
    dae_ladder_rung(&l, 32, dae_method_find("radau"), &o);
    assert_near(o.rtol / 1e-6, 1, 1e-13);
    assert_near(o.atol, 1, 0);
    assert_near(o.h0, 1e-7, 0);
    dae_problem_destroy(p);
}

/* A ladder for every problem; the loosest rungs of the test set's tables are its defaults. */
static void ladder_exists_for_every_problem(void **state)
{
    (void)state;
    for (int i = 0; i < dae_problem_count(); i++) {
        dae_problem *p = open_problem(dae_problem_get(i)->name);
        dae_ladder l = dae_ladder_default(p);
        dae_options o = dae_options_default();
        assert_between(dae_ladder_count(&l), 9, 65);
        for (int k = 0; k < dae_ladder_count(&l); k++) {
            dae_ladder_rung(&l, k, dae_method_find("radau5"), &o);
            assert_true(o.rtol > 0 && o.atol > 0 && o.h0 > 0);
        }
        dae_problem_destroy(p);
    }
    assert_int_equal(dae_ladder_count(&(dae_ladder){4, 3, 1, 1, 0, 1, 0}), 0);
    assert_int_equal(dae_ladder_count(&(dae_ladder){4, 5, 0, 1, 0, 1, 0}), 0);
    assert_int_equal(dae_ladder_count(&(dae_ladder){4, 5, 0.1, 1, 0, 1, 0}), 11);
}

static dae_measurement sample(const char *solver, double scd, double seconds, long f)
{
    dae_measurement m = {.rtol = 0.1,
                         .atol = 1.0 / 3,
                         .h0 = 1e-9,
                         .scd = scd,
                         .mescd = scd + 1,
                         .cpu_seconds = seconds,
                         .f = f};
    snprintf(m.problem, sizeof m.problem, "hires");
    snprintf(m.solver, sizeof m.solver, "%s", solver);
    return m;
}

static void measurement_reads_back_exactly(void **state)
{
    (void)state;
    memory text = {.length = 0};
    dae_measurement m = sample("dop853/index1", NAN, 1.0 / 7, 12345678901L), back;
    m.status = DAE_ERR_STEP_TOO_SMALL;
    snprintf(m.message, sizeof m.message, "t = 1: \"quoted\"\nand a line \xc3\xa9");
    snprintf(m.settings, sizeof m.settings, "mu=5 index=2");
    m.repeat = 7;
    assert_int_equal(dae_measurement_json(&m, remember, &text), DAE_OK);
    assert_int_equal(strchr(text.text, '\n') - text.text + 1, (long)text.length);
    assert_int_equal(dae_measurement_parse(text.text, text.length, &back, NULL), DAE_OK);
    assert_int_equal(back.status, m.status);
    assert_string_equal(back.message, m.message);
    assert_string_equal(back.settings, m.settings);
    assert_true(isnan(back.scd) && isnan(back.mescd));
    assert_true(back.cpu_seconds == m.cpu_seconds && back.atol == m.atol && back.f == m.f &&
                back.repeat == 7);
    assert_true(dae_measurement_same(&m, &back));
    back.rtol *= 1.01;
    assert_false(dae_measurement_same(&m, &back));
    assert_int_equal(dae_measurement_json(&m, refuse, NULL), DAE_ERR_FILE);
}

static void measurement_parse_names_what_is_wrong(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {{"", "no JSON object"},
                                           {"[1]", "status"},
                                           {"{\"status\":\"ok\"}", "status"},
                                           {"{\"status\":\"DAE_OK\"}", "problem"},
                                           {"{\"status\":\"DAE_OK\",\"problem\":5}", "another type"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        dae_measurement m;
        dae_error err = {0};
        assert_int_equal(dae_measurement_parse(wrong[i][0], strlen(wrong[i][0]), &m, &err), DAE_ERR_INPUT);
        assert_non_null(strstr(err.text, wrong[i][1]));
    }
}

/* Between (2 digits, 1 s) and (4 digits, 100 s) 3 digits cost 10 s. */
static void cost_is_interpolated_in_the_logarithm(void **state)
{
    (void)state;
    dae_measurement m[] = {sample("a", 2, 1, 10), sample("b", 9, 5, 1), sample("a", 4, 100, 1000),
                           sample("a", 6, 50, 900)};
    m[1].status = DAE_ERR_MAX_SECONDS;
    assert_near(dae_workprec_cost(m, 3, "a", 3, 0, DAE_WORK_SECONDS), 10, 1e-12);
    assert_near(dae_workprec_cost(m, 3, "a", 3, 0, DAE_WORK_F), 100, 1e-10);
    assert_near(dae_workprec_cost(m, 3, "a", 1, 0, DAE_WORK_SECONDS), 1, 0);
    assert_near(dae_workprec_cost(m, 3, "a", 3, 1, DAE_WORK_SECONDS), 1, 0); /* mescd: the first run has 3 */
    assert_true(isnan(dae_workprec_cost(m, 3, "a", 4.5, 0, DAE_WORK_SECONDS)));
    assert_true(isnan(dae_workprec_cost(m, 3, "b", 1, 0, DAE_WORK_SECONDS))); /* failed */
    assert_near(dae_workprec_cost(m, 4, "a", 4, 0, DAE_WORK_SECONDS), 50,
                0); /* the third run has more for less */
}

static void plot_has_a_line_per_solver_and_a_strip_for_failures(void **state)
{
    (void)state;
    memory *text = calloc(1, sizeof *text);
    assert_non_null(text);
    dae_measurement m[] = {sample("vode", 2, 1e-3, 10), sample("vode", 4, 1e-2, 100),
                           sample("radau5", 3, 2e-3, 20), sample("dopri5", 3, 1, 9),
                           sample("my \"own\"", 3, 1e-3, 9)};
    m[3].status = DAE_ERR_STEP_TOO_SMALL;
    dae_workprec_plot_options o = {
        .title = "a title", .terminal = "svg", .work = DAE_WORK_BOTH, .reference_digits = 3.5};
    assert_int_equal(dae_workprec_plot(m, 5, &o, remember, text), DAE_OK);
    assert_non_null(strstr(text->text, "a title"));
    assert_non_null(strstr(text->text, "2 0.001 10\n4 0.01 100\n"));
    assert_non_null(strstr(text->text, "no result"));
    assert_non_null(strstr(text->text, "\"my \\\"own\\\"\""));
    assert_non_null(strstr(text->text, "keyentry"));
    assert_true(strstr(text->text, "title \"radau5\"") <
                strstr(text->text, "title \"vode\"")); /* as the registry */
    text->length = 0;
    assert_int_equal(dae_workprec_plot(m, 3, &o, remember, text), DAE_OK);
    assert_null(strstr(text->text, "no result"));
    assert_int_equal(dae_workprec_plot(m, 0, &o, remember, text), DAE_ERR_INPUT);
    assert_int_equal(dae_workprec_plot(m, 3, &o, refuse, NULL), DAE_ERR_FILE);
    free(text);
}

/* Costs of 2, 3 and 4 digits: a 1, 10, 100; b ten times that; c never has 4 (and 3, 4 by 100 times the least). */
static void plot_leaves_out_the_solvers_that_need_most(void **state)
{
    (void)state;
    memory *text = calloc(1, sizeof *text);
    assert_non_null(text);
    dae_measurement m[] = {sample("a", 2, 1, 10),   sample("a", 4, 100, 1000), sample("c", 2, 100, 9),
                           sample("c", 3, 1000, 9), sample("b", 2, 10, 90),    sample("b", 4, 1000, 9000)};
    assert_near(dae_workprec_excess(m, 6, "a", 0, DAE_WORK_SECONDS), 0, 1e-12);
    assert_near(dae_workprec_excess(m, 6, "b", 0, DAE_WORK_SECONDS), 1, 1e-12);
    assert_near(dae_workprec_excess(m, 6, "c", 0, DAE_WORK_SECONDS), (2 + 2 + 3) / 3.0, 1e-12);
    assert_near(dae_workprec_excess(m, 6, "none", 0, DAE_WORK_SECONDS), 3, 1e-12);
    dae_workprec_plot_options o = {
        .title = "a title", .terminal = "svg", .work = DAE_WORK_BOTH, .most_lines = 2};
    assert_int_equal(dae_workprec_plot(m, 6, &o, remember, text), DAE_OK);
    assert_non_null(strstr(text->text, "title \"a\""));
    assert_non_null(strstr(text->text, "title \"b\""));
    assert_null(strstr(text->text, "title \"c\""));
    assert_non_null(strstr(text->text, "not drawn"));
    assert_non_null(strstr(text->text, "set label 11 \"c\""));
    o.most_lines = 3;
    text->length = 0;
    assert_int_equal(dae_workprec_plot(m, 6, &o, remember, text), DAE_OK);
    assert_null(strstr(text->text, "not drawn"));
    free(text);
}

static void measurement_of_a_run_has_its_numbers(void **state)
{
    (void)state;
    dae_problem *p = open_problem("hires");
    dae_run_options o = dae_run_options_default(p);
    o.options.method = "radau5";
    o.repeat = 3;
    o.repeat_seconds = 10;
    dae_run_result *r = dae_run(p, &o, NULL);
    dae_measurement m = dae_measurement_of(r);
    assert_string_equal(m.problem, "hires");
    assert_string_equal(m.solver, "radau5");
    assert_near(m.scd, r->scd, 0);
    assert_int_equal(m.f, r->stats.f);
    assert_int_equal(m.repeat, 3);
    assert_true(m.cpu_seconds > 0);
    r->stats.steps = 11, r->stats.accepted = 12, r->stats.f = 13, r->stats.f_jac = 14; /* each its own */
    r->stats.jac = 15, r->stats.lu = 16, r->stats.solves = 17;
    m = dae_measurement_of(r);
    assert_true(m.steps == 11 && m.accepted == 12 && m.f == 13 && m.f_jac == 14 && m.jac == 15 &&
                m.lu == 16 && m.solves == 17);
    dae_run_destroy(r);
    o.repeat_seconds = 1e-12; /* no repetition fits in */
    r = dae_run(p, &o, NULL);
    assert_int_equal(r->repeat, 1);
    assert_true(r->cpu_seconds > 0);
    dae_run_destroy(r);
    dae_problem_destroy(p);
}

static dae_measurement made(const char *problem, const char *solver, double digits, double seconds)
{
    dae_measurement m = {.scd = digits, .mescd = digits, .cpu_seconds = seconds, .rtol = pow(10, -digits)};
    snprintf(m.problem, sizeof m.problem, "%s", problem);
    snprintf(m.solver, sizeof m.solver, "%s", solver);
    return m;
}

/* a is three times as fast as b on one problem; on another b alone has 7 digits and is 1.5 times slower at 4. */
static void places_count_who_is_fastest(void **state)
{
    (void)state;
    const dae_measurement m[] = {made("one", "a", 4, 1e-5), made("one", "a", 7, 2e-5),
                                 made("one", "b", 4, 3e-5), made("one", "b", 7, 6e-5),
                                 made("two", "a", 4, 2e-3), made("two", "b", 4, 3e-3),
                                 made("two", "b", 7, 5e-3)};
    static const double digits[2] = {4, 7};
    static memory out;
    out.length = 0;
    assert_int_equal(dae_workprec_places(m, 7, digits, remember, &out), DAE_OK);
    assert_non_null(strstr(out.text, "| a | 2 | 2 | 2 | 1 | 1 | 1 | 1 | 1 |"));
    assert_non_null(strstr(out.text, "| b | 2 | 0 | 1 | 2.2 | 2 | 1 | 1 | 2 |"));
    assert_non_null(strstr(out.text, "| one | a 10 µs, b 30 µs | a 20 µs, b 60 µs |"));
    assert_non_null(strstr(out.text, "| two | a 2 ms, b 3 ms | b 5 ms |"));
    assert_int_equal(dae_workprec_places(m, 7, digits, refuse, NULL), DAE_ERR_FILE);
}

static void ladder_parts_that_are_empty_stay(void **state)
{
    (void)state;
    dae_ladder l = {5, 12, 0.25, 1, 0, 1e-2, 0};
    dae_error err = {0};
    assert_int_equal(dae_ladder_parse("::0.5", &l, &err), DAE_OK);
    assert_true(l.from == 5 && l.to == 12 && l.step == 0.5);
    assert_int_equal(dae_ladder_parse("4:6:1", &l, &err), DAE_OK);
    assert_int_equal(dae_ladder_count(&l), 3);
    static const char *const wrong[] = {"6:4:1", "4:17:1", "4:6:0", "4:6:1:2", "four:6:1"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(dae_ladder_parse(wrong[i], &l, &err), DAE_ERR_INPUT);
        assert_true(l.from == 4 && l.to == 6 && l.step == 1);
    }
}

typedef struct watched {
    dae_measurement m[16];
    int count, taken, begun, stop_after;
} watched;

static int on_begin(const dae_measurement *m, int run, int count, void *user)
{
    watched *w = user;
    assert_true(m->rtol > 0 && run < count && count == 6);
    w->begun++;
    return 0;
}

static int on_done(const dae_measurement *m, void *user)
{
    watched *w = user;
    w->m[w->count++] = *m;
    return w->count == w->stop_after;
}

static int on_taken(const dae_measurement *m, void *user)
{
    watched *w = user;
    w->taken++;
    assert_string_equal(m->settings, "index=1");
    return 0;
}

/* A study that was ended goes on where it was: what is known is taken over, the rest runs; all of it again: nothing does. */
static void a_study_takes_over_what_is_known(void **state)
{
    (void)state;
    static const char *const solver[] = {"radau5", "rodas5p"};
    dae_problem *p = open_problem("rober");
    dae_ladder l = dae_ladder_default(p);
    l.from = 4, l.to = 6, l.step = 1;
    static watched w;
    w = (watched){.stop_after = 4};
    dae_workprec_options o = {.ladder = &l,
                              .settings = "index=1",
                              .begin = on_begin,
                              .done = on_done,
                              .taken = on_taken,
                              .user = &w};
    dae_error err = {0};
    assert_int_equal(dae_workprec_run(p, solver, 2, &o, &err), DAE_CANCELLED);
    assert_int_equal(w.count, 4);
    o.known = w.m;
    o.nknown = w.count;
    w.stop_after = 0;
    assert_int_equal(dae_workprec_run(p, solver, 2, &o, &err), DAE_OK);
    assert_true(w.count == 6 && w.taken == 4 && w.begun == 6);
    o.nknown = 6;
    assert_int_equal(dae_workprec_run(p, solver, 2, &o, &err), DAE_OK);
    assert_true(w.count == 6 && w.taken == 10 && w.begun == 6);
    for (int k = 0; k < 6; k++) { /* as one run of its own */
        dae_run_options r = dae_run_options_default(p);
        r.options.method = solver[k / 3];
        dae_ladder_rung(&l, k % 3, dae_method_find(solver[k / 3]), &r.options);
        dae_run_result *alone = dae_run(p, &r, &err);
        assert_true(alone->stats.steps == w.m[k].steps && alone->scd == w.m[k].scd);
        assert_string_equal(w.m[k].solver, solver[k / 3]);
        dae_run_destroy(alone);
    }
    /* A run that an earlier, shorter limit ended is no finished run; one with the same limit is. */
    dae_measurement ended = w.m[0];
    ended.status = DAE_ERR_MAX_SECONDS;
    ended.max_seconds = 1;
    dae_measurement wanted = ended;
    assert_non_null(dae_measurement_find(&wanted, &ended, 1));
    wanted.max_seconds = 2;
    assert_null(dae_measurement_find(&wanted, &ended, 1));
    /* Of two runs of the same the later one counts; others are left out; loose ones stand first. */
    dae_measurement list[3] = {w.m[1], w.m[0], w.m[1]}, out[3];
    list[2].steps = 7;
    assert_int_equal(dae_workprec_select(list, 3, "rober", "index=1", out), 2);
    assert_true(out[0].rtol > out[1].rtol && out[1].steps == 7);
    assert_int_equal(dae_workprec_select(list, 3, "rober", "", out), 0);
    dae_problem_destroy(p);
}

static void options_and_names_of_a_study_are_checked(void **state)
{
    (void)state;
    static const char *const good = "radau5", *const bad = "radua5", *const mechanical = "mexx";
    dae_problem *p = open_problem("rober");
    dae_ladder l = {4, 4, 1, 1, 0, 0, 0};
    dae_error err = {0};
    dae_workprec_options o = {.ladder = &l, .option = &(dae_setting){"jacobian", "wrong"}, .noption = 1};
    assert_int_equal(dae_workprec_run(p, &good, 1, &o, &err), DAE_ERR_INPUT);
    o.noption = 0;
    assert_int_equal(dae_workprec_run(p, &bad, 1, &o, &err), DAE_ERR_INPUT);
    assert_non_null(strstr(err.text, "radau5"));
    assert_true(dae_workprec_run(p, &mechanical, 1, &o, &err) < 0);
    assert_non_null(strstr(err.text, "rober with mexx"));
    o.all = 1;
    assert_int_equal(dae_workprec_run(p, &mechanical, 1, &o, &err), DAE_OK);
    dae_problem_destroy(p);
}

static void text_marks_the_least_time(void **state)
{
    (void)state;
    const dae_measurement m[] = {made("one", "a", 2, 1e-5), made("one", "a", 3, 2e-3),
                                 made("one", "b", 2, 3e-5), made("one", "b", 3, 1e-3)};
    static memory out;
    out.length = 0;
    assert_int_equal(dae_workprec_text(m, 4, 0, 0, remember, &out), DAE_OK);
    assert_non_null(strstr(out.text, "a                         10 us*     2 ms       2       0\n"));
    assert_non_null(strstr(out.text, "b                         30 us      1 ms*      2       0\n"));
    assert_null(strstr(out.text, "rtol"));
    assert_int_equal(dae_workprec_text(m, 4, 0, 1, remember, &out), DAE_OK);
    assert_non_null(strstr(out.text, "rtol"));
}

static int only_hires(const char *problem, void *user)
{
    (void)user;
    return !strcmp(problem, "hires");
}

static void gallery_shows_what_is_drawn(void **state)
{
    (void)state;
    const dae_measurement m = made("hires", "radau5", 4, 1e-5);
    static memory out;
    out.length = 0;
    assert_int_equal(dae_workprec_gallery(&m, 1, "pictures", only_hires, NULL, remember, &out), DAE_OK);
    assert_non_null(strstr(out.text, "| hires | radau5 10 µs |"));
    assert_non_null(strstr(out.text, "![hires](pictures/hires.svg)"));
    assert_null(strstr(out.text, "pollu"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ladder_of_hires_is_the_test_sets),
        cmocka_unit_test(ladder_of_emep_has_fixed_atol),
        cmocka_unit_test(ladder_exists_for_every_problem),
        cmocka_unit_test(measurement_reads_back_exactly),
        cmocka_unit_test(measurement_parse_names_what_is_wrong),
        cmocka_unit_test(cost_is_interpolated_in_the_logarithm),
        cmocka_unit_test(plot_has_a_line_per_solver_and_a_strip_for_failures),
        cmocka_unit_test(plot_leaves_out_the_solvers_that_need_most),
        cmocka_unit_test(measurement_of_a_run_has_its_numbers),
        cmocka_unit_test(places_count_who_is_fastest),
        cmocka_unit_test(ladder_parts_that_are_empty_stay),
        cmocka_unit_test(a_study_takes_over_what_is_known),
        cmocka_unit_test(options_and_names_of_a_study_are_checked),
        cmocka_unit_test(text_marks_the_least_time),
        cmocka_unit_test(gallery_shows_what_is_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
