/* The matrix of all solvers and problems: what is planned, taken over, run, and said. */
#include "test.h"

#include <daedalus/study.h>

typedef struct memory {
    char text[262144];
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

static const char *const two_problems[] = {"rober", "orego"}, *const two_solvers[] = {"radau5", "bimd"};
static const dae_matrix_choice few = {two_problems, two_solvers, 2, 2, 16, NULL};

/* [TESTSET]: 33 tolerances of rober and orego, m = 0 .. 32; every 16th: 3 of each. */
static void the_plan_has_the_tolerances_of_the_report(void **state)
{
    (void)state;
    dae_matrix_runs x;
    dae_error err = {0};
    assert_int_equal(dae_matrix_plan(&few, &x, &err), DAE_OK);
    assert_int_equal(x.count, 2 * 2 * 3);
    for (int i = 0; i < x.count; i++) assert_true(x.row[i].m % 16 == 0 && !x.finished[i]);
    static memory out;
    out.length = 0;
    assert_int_equal(dae_matrix_eligible(&x, remember, &out), DAE_OK);
    assert_non_null(strstr(out.text, "rober        bimd         3\n"));
    dae_matrix_free(&x);
    /* All of it: the count of docs/testset-matrix.md is made of this plan. */
    assert_int_equal(dae_matrix_plan(NULL, &x, &err), DAE_OK);
    assert_true(x.count > 8000);
    dae_matrix_free(&x);
}

typedef struct watched {
    memory lines;
    int done, stop_after;
} watched;

static int on_done(const dae_result_row *row, void *user)
{
    watched *w = user;
    assert_int_equal(dae_result_json(row, remember, &w->lines), DAE_OK);
    remember("\n", 1, &w->lines);
    return ++w->done == w->stop_after;
}

static void take_lines(dae_matrix_runs *x, const watched *w)
{
    for (const char *c = w->lines.text; *c;) {
        size_t n = strcspn(c, "\n");
        dae_matrix_take(x, c, n, 0);
        c += n + 1;
    }
}

/* What was ended goes on from its lines, and gives the same as a run at once. */
static void runs_go_on_where_they_were_ended(void **state)
{
    (void)state;
    static watched w;
    static memory out;
    w = (watched){.stop_after = 5};
    dae_matrix_runs x, y;
    dae_error err = {0};
    dae_results_options o = {.jobs = 1, .max_seconds = 20, .repeat = 1, .done = on_done, .user = &w};
    assert_int_equal(dae_matrix_plan(&few, &x, &err), DAE_OK);
    assert_int_equal(dae_matrix_run(&x, &o, &err), DAE_CANCELLED);
    dae_matrix_free(&x);
    assert_int_equal(dae_matrix_plan(&few, &x, &err), DAE_OK);
    take_lines(&x, &w);
    int known = dae_matrix_total(&x).done;
    assert_int_equal(known, w.done);
    w.stop_after = 0;
    assert_int_equal(dae_matrix_run(&x, &o, &err), DAE_OK);
    assert_int_equal(w.done, 12);
    dae_matrix_sum sum = dae_matrix_total(&x);
    assert_true(sum.done == 12 && sum.failed == 0 && sum.cpu_seconds > 0);
    assert_int_equal(dae_matrix_plan(&few, &y, &err), DAE_OK);
    assert_int_equal(dae_matrix_run(&y, &(dae_results_options){.jobs = 2}, &err), DAE_OK);
    for (int i = 0; i < 12; i++) {
        assert_string_equal(x.row[i].run.solver, y.row[i].run.solver);
        assert_true(x.row[i].run.steps == y.row[i].run.steps && x.row[i].run.scd == y.row[i].run.scd);
    }
    out.length = 0;
    assert_int_equal(dae_matrix_summary(&x, remember, &out), DAE_OK);
    assert_non_null(strstr(out.text, "12 of 12 runs, 0 failed"));
    out.length = 0;
    assert_int_equal(dae_matrix_page(&x, remember, &out), DAE_OK);
    assert_non_null(strstr(out.text, "**12 of 12 runs, 0 failed**"));
    assert_non_null(strstr(out.text, "| problem | radau5 | bimd |"));
    assert_null(strstr(out.text, "## Failed runs"));
    dae_measurement *late = &x.row[3].run; /* as if its limit had been 15 s */
    late->status = DAE_ERR_MAX_SECONDS;
    snprintf(late->message, sizeof late->message, "t = 1: 15 s of CPU time are used up");
    out.length = 0;
    assert_int_equal(dae_matrix_page(&x, remember, &out), DAE_OK);
    assert_non_null(strstr(out.text, "## Failed runs"));
    assert_non_null(strstr(out.text, "| t = 1: 15 s of CPU time are used up |"));
    dae_table *t = dae_matrix_table(&x, &err);
    assert_true(t && t->nrow == 12);
    dae_table_destroy(t);
    /* Lines of another version, and what is no line, are not taken. */
    dae_matrix_free(&y);
    assert_int_equal(dae_matrix_plan(&few, &y, &err), DAE_OK);
    char *version = strstr(w.lines.text, "\"version\":\"");
    while (version) {
        version[11] = 'x';
        version = strstr(version, "\"version\":\"");
        if (version && version[11] == 'x') version = strstr(version + 11, "\"version\":\"");
    }
    take_lines(&y, &w);
    dae_matrix_take(&y, "{\"prob", 6, 0);
    assert_int_equal(dae_matrix_total(&y).done, 0);
    dae_matrix_free(&y);
    dae_matrix_free(&x);
}

/* A page says how many runs there are and lists what is worse than printed. */
static void a_page_lists_marked_rows(void **state)
{
    (void)state;
    static const dae_published_row printed = {"hires", "radau5", NULL, 1e-7, 1e-7, 1e-9,  7.11, 4.91,
                                              51,      40,       985,  22,   -1,   0.002, 0};
    dae_result_row row[2] = {{.published = &printed,
                              .m = -1,
                              .run = {.rtol = 1e-7, .scd = 4.9, .mescd = 7.1, .steps = 51, .f = 985}},
                             {.published = &printed,
                              .m = -1,
                              .run = {.rtol = 1e-7, .scd = 4.0, .mescd = 7.1, .steps = 51, .f = 985}}};
    static memory out;
    for (int i = 0; i < 2; i++) {
        strcpy(row[i].run.problem, "hires");
        strcpy(row[i].run.solver, "radau5");
    }
    out.length = 0;
    assert_int_equal(dae_results_page(row, 2, "table --all", 1, remember, &out), DAE_OK);
    assert_non_null(strstr(out.text, "Made by `daedalus table --all`"));
    assert_non_null(
        strstr(out.text, "2 runs beside 1 printed rows: 1 without a mark, 1 with one, 0 failed."));
    assert_non_null(strstr(out.text, "| hires | radau5 | 1e-07 | scd -0.91 |"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_plan_has_the_tolerances_of_the_report),
        cmocka_unit_test(runs_go_on_where_they_were_ended),
        cmocka_unit_test(a_page_lists_marked_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
