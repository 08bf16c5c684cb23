/* Runs of a sweep as lines of a table, and its pictures. */
#include "test.h"

#include <daedalus/study.h>

#include <math.h>

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

/* y1' = ... van der Pol with few values of mu; line k must be that of a run with the parameter set by hand. */
static void sweep_lines_are_those_of_single_runs(void **state)
{
    (void)state;
    memory *out = calloc(1, sizeof *out);
    dae_design *d = dae_design_create(dae_problem_find("vdpol-mu"), 1);
    dae_error err = {0};
    assert_non_null(out);
    assert_int_equal(dae_design_vary(d, "mu=1:10:4", NULL), DAE_OK);
    dae_setting option[] = {{"method", "radau5"}, {"rtol", "1e-8"}};
    dae_sweep_options o = {.problem = "vdpol-mu", .option = option, .noption = 2, .t_end = 5, .points = 3};
    dae_sweep *s = dae_sweep_create(&o, d, &err);
    assert_non_null(s);
    assert_int_equal(dae_sweep_header(s, remember, out), DAE_OK);
    for (long k = 0; k < 4; k++) {
        dae_status status;
        assert_int_equal(dae_sweep_run(s, k, NULL, remember, out, &status), DAE_OK);
        assert_int_equal(status, DAE_OK);
    }
    dae_table *t = dae_table_read(out->text, out->length, &err);
    assert_non_null(t);
    assert_int_equal(t->nrow, 4);
    dae_problem *p = dae_problem_create("vdpol-mu", &(dae_setting){"mu", "7"}, 1, &err);
    dae_run_options r = dae_run_options_default(p);
    r.options.method = "radau5";
    r.options.rtol = 1e-8;
    r.options.atol = p->atol * (1e-8 / p->rtol);
    r.t_end = 5;
    r.at = (double[]){0, 2.5, 5};
    r.nat = 3;
    dae_run_result *one = dae_run(p, &r, &err);
    assert_near(t->value[1 * 4 + 2], 7, 0);
    int y1 = dae_table_find(t, "y1"), at = dae_table_find(t, "y2@2.5");
    assert_true(y1 > 0 && at > 0);
    assert_near(t->value[y1 * 4 + 2], one->last.y[0], 0);
    assert_near(t->value[at * 4 + 2], one->at[1].y[1], 0);
    assert_near(t->value[dae_table_find(t, "steps") * 4 + 2], (double)one->stats.steps, 0);
    assert_string_equal(t->text[dae_table_find(t, "status") * 4], "ok");
    dae_run_destroy(one);
    dae_problem_destroy(p);

    /* its pictures */
    dae_sweep_plot_options plot = {DAE_SWEEP_SCATTER, 1, "a title", "svg"};
    out->length = 0;
    assert_int_equal(dae_sweep_plot(t, &plot, remember, out), DAE_OK);
    assert_non_null(strstr(out->text, "a title"));
    plot.picture = DAE_SWEEP_BANDS;
    out->length = 0;
    assert_int_equal(dae_sweep_plot(t, &plot, remember, out), DAE_OK);
    assert_non_null(strstr(out->text, "filledcurves"));
    plot.picture = DAE_SWEEP_HEAT;
    assert_int_equal(dae_sweep_plot(t, &plot, remember, out), DAE_ERR_INPUT); /* one axis */
    dae_table_destroy(t);
    dae_sweep_destroy(s);
    dae_design_destroy(d);
    free(out);
}

/* Cells of a map reach to the middle between levels (1, 2, 4 in ratios: to the geometric one), and hold the mean of their runs. */
static void maps_have_cells_between_the_levels(void **state)
{
    (void)state;
    static const char text[] =
        "run,a,b,status,t,x,steps\n0,1,10,ok,1,5,9\n1,1,20,ok,1,6,9\n2,2,10,ok,1,7,9\n3,2,20,ok,1,8,9\n"
        "4,4,10,ok,1,9,9\n5,4,20,ok,1,10,9\n6,4,20,ok,1,14,9\n";
    dae_error err = {0};
    memory *out = calloc(1, sizeof *out);
    dae_table *t = dae_table_read(text, strlen(text), &err);
    if (!t) fail_msg("%s", err.text);
    dae_sweep_plot_options plot = {DAE_SWEEP_HEAT, 2, "a map", "svg"};
    assert_int_equal(dae_sweep_plot(t, &plot, remember, out), DAE_OK);
    assert_non_null(strstr(out->text, "\n1 10 0.7071068 1.414214 5 15 5\n"));
    assert_non_null(strstr(out->text, "\n2 20 1.414214 2.828427 15 25 8\n"));
    assert_non_null(strstr(out->text, "\n4 20 2.828427 5.656854 15 25 12\n"));
    dae_table_destroy(t);
    free(out);
}

static void sweep_records_why_a_run_failed(void **state)
{
    (void)state;
    memory *out = calloc(1, sizeof *out);
    dae_design *d = dae_design_create(dae_problem_find("cable-drum"), 1);
    dae_status status;
    dae_error err = {0};
    assert_non_null(out);
    assert_int_equal(dae_design_vary(d, "mu=0.25,99", NULL), DAE_OK);
    dae_sweep *s = dae_sweep_create(&(dae_sweep_options){.problem = "cable-drum"}, d, &err);
    assert_non_null(s);
    assert_int_equal(dae_sweep_header(s, remember, out), DAE_OK);
    assert_int_equal(dae_sweep_run(s, 1, NULL, remember, out, &status), DAE_OK);
    assert_int_equal(status, DAE_ERR_INPUT);
    assert_int_equal(dae_sweep_lost(s, 0, "killed, \"hard\"", remember, out), DAE_OK);
    dae_table *t = dae_table_read(out->text, out->length, &err);
    assert_non_null(t);
    int reason = dae_table_find(t, "reason"), word = dae_table_find(t, "status");
    assert_string_equal(t->text[word * 2], "input");
    assert_non_null(strstr(t->text[reason * 2], "mu"));
    assert_string_equal(t->text[word * 2 + 1], "lost");
    assert_string_equal(t->text[reason * 2 + 1], "killed, \"hard\"");
    dae_table_destroy(t);
    dae_sweep_destroy(s);
    dae_design_destroy(d);
    free(out);
}

/* A mass on a spring of k N/m, free length 1 m, let go at 1.5 m: its force is k cos(sqrt(k) t)/2. */
static void sweep_records_sensors(void **state)
{
    (void)state;
    static const char model[] =
        "{ \"daedalus\": 1, \"kind\": \"mechanism\", \"name\": \"mass\", \"dimension\": 2, \"parameters\": "
        "{\"k\": 1},"
        " \"bodies\": [ { \"name\": \"m\", \"mass\": 1, \"inertia\": 1, \"r\": [1.5, 0] } ],"
        " \"points\": [ { \"name\": \"O\", \"body\": \"ground\", \"r\": [0, 0] }, { \"name\": \"P\", "
        "\"body\": \"m\", "
        "\"r\": [0, 0] } ],"
        " \"forces\": [ { \"name\": \"s\", \"type\": \"spring\", \"a\": \"O\", \"b\": \"P\", \"k\": \"k\", "
        "\"l0\": 1 } ],"
        " \"sensors\": [ { \"name\": \"pull\", \"value\": \"s.force\", \"unit\": \"N\" } ],"
        " \"simulation\": { \"t1\": 1, \"rtol\": 1e-10, \"atol\": 1e-10 } }";
    memory *out = calloc(1, sizeof *out);
    dae_error err = {0};
    dae_problem *p = dae_problem_open_text(model, strlen(model), "mass.json", NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    dae_design *d = dae_design_create(p->info, 1);
    assert_int_equal(dae_design_vary(d, "k=1:3:2", NULL), DAE_OK);
    dae_sweep_options o = {
        .problem = "mass", .model = model, .file = "mass.json", .record = "pull,m.x", .points = 3};
    dae_sweep *s = dae_sweep_create(&o, d, &err);
    if (!s) fail_msg("%s", err.text);
    assert_int_equal(dae_sweep_header(s, remember, out), DAE_OK);
    for (long k = 0; k < 2; k++) {
        dae_status status;
        assert_int_equal(dae_sweep_run(s, k, NULL, remember, out, &status), DAE_OK);
        assert_int_equal(status, DAE_OK);
    }
    dae_table *t = dae_table_read(out->text, out->length, &err);
    assert_non_null(t);
    int end = dae_table_find(t, "pull"), middle = dae_table_find(t, "pull@0.5"), x = dae_table_find(t, "m.x");
    assert_true(end > 0 && middle > 0 && x > 0);
    assert_string_equal(t->unit[end], "N");
    for (int i = 0; i < 2; i++) {
        double k = 1 + 2 * i;
        assert_near(t->value[end * 2 + i], k * cos(sqrt(k)) / 2, 1e-8);
        assert_near(t->value[middle * 2 + i], k * cos(sqrt(k) / 2) / 2, 1e-8);
        assert_near(t->value[x * 2 + i], 1 + cos(sqrt(k)) / 2, 1e-8);
    }
    dae_table_destroy(t);
    dae_sweep_destroy(s);
    dae_design_destroy(d);
    dae_problem_destroy(p);
    free(out);
}

static void sweep_create_names_what_is_wrong(void **state)
{
    (void)state;
    dae_design *d = dae_design_create(dae_problem_find("cable-drum"), 1);
    dae_error err = {0};
    dae_sweep_options o = {.problem = "cable-drum"};
    assert_null(dae_sweep_create(&o, d, &err));
    assert_non_null(strstr(err.text, "nothing varies"));
    assert_int_equal(dae_design_vary(d, "mu=0:1:2", NULL), DAE_OK);
    o.record = "y1,nonsense";
    assert_null(dae_sweep_create(&o, d, &err));
    assert_non_null(strstr(err.text, "no component or sensor \"nonsense\""));
    o.record = NULL;
    o.setting = &(dae_setting){"mu", "1"};
    o.nsetting = 1;
    assert_null(dae_sweep_create(&o, d, &err));
    assert_non_null(strstr(err.text, "fixed and varied"));
    o.nsetting = 0;
    o.option = &(dae_setting){"rtol", "-1"};
    o.noption = 1;
    assert_null(dae_sweep_create(&o, d, &err));
    assert_non_null(strstr(err.text, "rtol"));
    dae_design_destroy(d);
}

/* Numbers of all sizes and shapes come back as they were written, 17 digits or fewer. */
static void numbers_read_back_exactly(void **state)
{
    (void)state;
    enum { rows = 20000 };
    static const char *const format[] = {"%.17g\n", "%.15g\n", "%.3f\n", "%.16e\n", "%g\n"};
    static double expected[rows];
    char *text = malloc(rows * 40 + 8);
    size_t used = (size_t)sprintf(text, "x\n");
    unsigned long long seed = 12345;
    for (int k = 0; k < rows; k++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        double x = ldexp((double)(seed >> 11) / 4503599627370496.0 - 1, (int)(seed % 160) - 90);
        int n = sprintf(text + used, format[k % 5], k % 1000 == 0 ? floor(x) + 0.5 : x);
        expected[k] = strtod(text + used, NULL);
        used += (size_t)n;
    }
    dae_table *t = dae_table_read(text, used, NULL);
    assert_non_null(t);
    assert_int_equal(t->nrow, rows);
    assert_memory_equal(t->value, expected, sizeof expected);
    dae_table_destroy(t);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maps_have_cells_between_the_levels),
        cmocka_unit_test(sweep_lines_are_those_of_single_runs),
        cmocka_unit_test(sweep_records_why_a_run_failed),
        cmocka_unit_test(sweep_records_sensors),
        cmocka_unit_test(sweep_create_names_what_is_wrong),
        cmocka_unit_test(numbers_read_back_exactly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
