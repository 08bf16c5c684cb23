/* What studies and fits keep so that they go on: logs of sweeps, records of fits; and the study of growth as a call. */
#include <daedalus/daedalus.h>
#include <daedalus/fit.h>
#include <daedalus/study.h>

#include "core/text.h"
#include "test.h"

static dae_problem *open_problem(const char *what)
{
    dae_error err = {0};
    dae_problem *p = dae_problem_open(what, NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    return p;
}

/* ---- Sweeps ------------------------------------------------------------------------------------------------------------ */

typedef struct sweep {
    dae_problem *p;
    dae_design *d;
    dae_sweep *s;
} sweep;

static sweep begin_sweep(const char *vary)
{
    sweep x = {.p = open_problem("vdpol-mu")};
    dae_error err = {0};
    x.d = dae_design_create(x.p->info, 1);
    assert_int_equal(dae_design_vary(x.d, vary, &err), DAE_OK);
    dae_sweep_options o = {.problem = "vdpol-mu", .t_end = 1};
    x.s = dae_sweep_create(&o, x.d, &err);
    if (!x.s) fail_msg("%s", err.text);
    return x;
}

static void end_sweep(sweep *x)
{
    dae_sweep_destroy(x->s);
    dae_design_destroy(x->d);
    dae_problem_destroy(x->p);
}

/* The log line of run k. */
static void add_run(const sweep *x, long k, dae_bytes *log)
{
    dae_bytes line = {0};
    dae_status status;
    assert_int_equal(dae_sweep_run(x->s, k, NULL, dae_bytes_write, &line, &status), DAE_OK);
    assert_int_equal(dae_sweep_log_line(line.text, line.length, dae_bytes_write, log), DAE_OK);
    free(line.text);
}

static void damaged_lines_are_done_again(void **state)
{
    sweep x = begin_sweep("mu=1:6:6");
    dae_bytes log = {0};
    (void)state;
    for (long k = 5; k >= 0; k -= 2) add_run(&x, k, &log); /* 5, 3, 1 */
    assert_int_equal(log.text[8], ',');
    for (int kind = 0; kind < 3; kind++) {
        dae_sweep_logs *l = dae_sweep_logs_create(x.s, x.d, 0, 1);
        char *text = strdup(log.text);
        if (kind == 1) text[log.length - 1] = 0;                       /* torn: run 1 */
        if (kind == 2) text[20] = (char)(text[20] == '7' ? '8' : '7'); /* a digit of run 5 */
        assert_int_equal(dae_sweep_logs_take(l, text), DAE_OK);
        assert_int_equal(dae_sweep_logs_take(l, strdup(kind ? "" : log.text)), DAE_OK); /* twice: once */
        dae_sweep_logs_count(l, x.d);
        assert_int_equal(l->count, 6);
        assert_int_equal(l->done, kind ? 2 : 3);
        assert_int_equal(l->npending, kind ? 4 : 3);
        assert_int_equal(l->failed, 0);
        assert_int_equal(l->pending[0], 0);
        assert_int_equal(l->pending[1], kind == 1 ? 1 : 2);
        assert_int_equal(l->pending[l->npending - 1], kind == 2 ? 5 : 4);
        dae_bytes csv = {0};
        assert_int_equal(dae_sweep_logs_csv(l, dae_bytes_write, &csv), DAE_OK);
        const char *first = strstr(csv.text, "\n1,"), *second = strstr(csv.text, "\n3,");
        assert_true(kind == 1 ? !first : first && first < second); /* in their order */
        free(csv.text);
        dae_sweep_logs_destroy(l);
    }
    dae_sweep_logs *half = dae_sweep_logs_create(x.s, x.d, 1, 2); /* runs 1, 3, 5 */
    assert_int_equal(dae_sweep_logs_take(half, log.text), DAE_OK);
    dae_sweep_logs_count(half, x.d);
    assert_int_equal(half->done, 3);
    assert_int_equal(half->npending, 0);
    dae_sweep_logs_destroy(half);
    assert_true(dae_sweep_has_failed(x.d, "0,1,failed,why"));
    assert_false(dae_sweep_has_failed(x.d, "0,\"a,b\",ok,"));
    end_sweep(&x);
}

typedef struct files {
    dae_bytes log;
    int opened, closed, looks;
    long stop_after;
} files;

static int open_log(const char *name, void *user)
{
    files *f = user;
    assert_string_equal(name, "0");
    f->opened++;
    return 0;
}

static int append(const char *line, size_t length, void *user)
{
    return dae_bytes_write(line, length, &((files *)user)->log);
}

static int close_log(void *user)
{
    ((files *)user)->closed++;
    return 0;
}

static int trouble(const char *text, void *user)
{
    (void)text, (void)user;
    return 7;
}

static int look(long done, long failed, void *user)
{
    files *f = user;
    f->looks++;
    assert_int_equal(failed, 0);
    return f->stop_after > 0 && done >= f->stop_after;
}

/* In this process; stopped, and taken up again: the runs are those of one go. */
static void pending_runs_are_done(void **state)
{
    sweep x = begin_sweep("mu=1:9:9");
    files f = {.stop_after = 4};
    dae_sweep_work w = {
        .open = open_log, .append = append, .close = close_log, .trouble = trouble, .look = look, .user = &f};
    dae_error err = {0};
    (void)state;
    dae_sweep_logs *l = dae_sweep_logs_create(x.s, x.d, 0, 1);
    dae_sweep_logs_count(l, x.d);
    assert_int_equal(dae_sweep_do(x.s, l, &w, NULL, &err), DAE_CANCELLED);
    assert_int_equal(dae_sweep_logs_take(l, strdup(f.log.text)), DAE_OK);
    dae_sweep_logs_count(l, x.d);
    assert_between((double)l->done, 4, 8);
    f.stop_after = 0;
    assert_int_equal(dae_sweep_do(x.s, l, &w, NULL, &err), DAE_OK);
    assert_int_equal(f.opened, f.closed);
    assert_true(f.looks > 0);
    dae_sweep_logs_clear(l);
    assert_int_equal(dae_sweep_logs_take(l, f.log.text), DAE_OK);
    dae_sweep_logs_count(l, x.d);
    assert_int_equal(l->done, 9);
    dae_bytes csv = {0};
    dae_error e = {0};
    assert_int_equal(dae_sweep_logs_csv(l, dae_bytes_write, &csv), DAE_OK);
    dae_table *a = dae_table_read(csv.text, csv.length, &e), *b = dae_sweep_table(x.s, NULL, &e);
    if (!a || !b) fail_msg("%s", e.text);
    int y = dae_table_find(a, "y1");
    for (long i = 0; i < 9; i++) assert_true(a->value[y * a->nrow + i] == b->value[y * b->nrow + i]);
    dae_table_destroy(a);
    dae_table_destroy(b);
    free(csv.text);
    dae_sweep_logs_destroy(l);
    end_sweep(&x);
}

static void other_sweeps_are_told(void **state)
{
    dae_sweep_setting list[] = {
        {"problem", "p", 0}, {"version", "1", 0}, {"vary", "a=1,2", 1}, {"vary", "b=1,2", 1}};
    char name[40];
    (void)state;
    char *a = dae_sweep_settings(list, 4);
    list[1].value = "2";
    char *newer = dae_sweep_settings(list, 4);
    list[3].value = "b=1,3";
    char *b = dae_sweep_settings(list, 4), *c = dae_sweep_settings(list, 2);
    assert_false(dae_sweep_settings_differ(a, newer, name, sizeof name));
    assert_true(dae_sweep_settings_differ(a, b, name, sizeof name));
    assert_string_equal(name, "vary");
    assert_true(dae_sweep_settings_differ(a, c, name, sizeof name));
    assert_string_equal(name, "vary");
    assert_true(dae_sweep_settings_differ("{", a, name, sizeof name));
    free(a), free(newer), free(b), free(c);
}

/* ---- Fits ---------------------------------------------------------------------------------------------------------------- */

static int keep(const dae_fit_progress *at, void *user)
{
    dae_fit_record_line(at, dae_bytes_write, user);
    return 0;
}

static void a_fit_goes_on_from_its_record(void **state)
{
    dae_problem *p =
        open_problem("model decay\nparam k = 3\nvar x = 1\nx' = -k*x\nsolve t = 0 .. 2, rtol = 1e-9\n");
    static const char *const column[] = {"x"};
    const double t[] = {0.5, 1, 2}, value[] = {0.62, 0.36, 0.14};
    const dae_fit_experiment e = {.name = "e",
                                  .ntime = 3,
                                  .ncolumn = 1,
                                  .t = t,
                                  .column = column,
                                  .value = value},
                             *list = &e;
    const dae_fit_free vary = {"k", NAN, 0, 10};
    dae_fit_options o = dae_fit_options_default(p);
    dae_bytes text = {0};
    dae_error err = {0};
    (void)state;
    dae_fit_record r = {.p = p, .free = &vary, .count = 1, .experiment = &list, .nexperiment = 1, .opt = &o};
    assert_int_equal(dae_fit_record_head(&r, dae_bytes_write, &text), DAE_OK);
    o.progress = keep;
    o.user = &text;
    dae_fit_result *whole = dae_fit(p, &vary, 1, &list, 1, &o, &err);
    if (!whole) fail_msg("%s", err.text);
    dae_fit_point *point = NULL;
    int count = 0;
    assert_int_equal(dae_fit_record_read(&r, text.text, &point, &count, &err), DAE_OK);
    assert_int_equal(count, 1);
    assert_int_equal(point[0].start, 0);
    assert_true(point[0].iteration > 1);
    assert_near(point[0].value[0], whole->estimate[0].value, 1e-3);
    o.progress = NULL;
    o.resume = point;
    o.nresume = count;
    dae_fit_result *again = dae_fit(p, &vary, 1, &list, 1, &o, &err);
    if (!again) fail_msg("%s", err.text);
    assert_near(again->estimate[0].value, whole->estimate[0].value, 1e-7);
    assert_true(again->evaluations < whole->evaluations);
    free(point);
    o.loss = "huber"; /* another fit */
    assert_int_equal(dae_fit_record_read(&r, text.text, &point, &count, &err), DAE_ERR_INPUT);
    assert_null(point);
    dae_table *table = dae_fit_table(whole, p, &list);
    assert_int_equal(table->nrow, 3);
    assert_near(table->value[3 * 3 + 1], 0.36, 0);
    assert_near(table->value[4 * 3 + 1], exp(-whole->estimate[0].value), 1e-6);
    dae_table_destroy(table);
    dae_fit_destroy(whole);
    dae_fit_destroy(again);
    free(text.text);
    dae_problem_destroy(p);
}

/* ---- Growth -------------------------------------------------------------------------------------------------------------- */

static dae_problem *at_size(const char *value, const char *mode, char *settings, size_t size, void *user,
                            dae_error *err)
{
    dae_setting s = {"N", value};
    ++*(int *)user;
    snprintf(settings, size, "N=%s %s", value, mode);
    return dae_problem_open("medakzo", &s, 1, err);
}

static int stop_third(const dae_measurement *m, void *user)
{
    (void)m;
    return ++*(int *)user == 3;
}

static void growth_is_a_call(void **state)
{
    static const char *const value[] = {"5", "10", "20"}, *const mode[] = {"dense", "banded"},
                             *const bad[] = {"-5"};
    int opened = 0, runs = 0, count;
    dae_scale_options o = {.parameter = "N",
                           .value = value,
                           .nvalue = 3,
                           .mode = mode,
                           .nmode = 2,
                           .solvers = "radau5",
                           .open = at_size,
                           .user = &opened,
                           .runs = {.repeat = 1, .max_seconds = 10}};
    dae_status status;
    dae_error err = {0};
    (void)state;
    dae_scale *s = dae_scale_run(&o, &status, &err);
    if (!s) fail_msg("%s", err.text);
    assert_int_equal(status, DAE_OK);
    assert_int_equal(opened, 6);
    const dae_scale_line *l = dae_scale_lines(s, &count);
    assert_int_equal(count, 2);
    for (int j = 0; j < 2; j++) {
        assert_string_equal(l[j].solver, "radau5");
        assert_string_equal(l[j].linear_algebra, mode[j]);
        assert_int_equal(l[j].count, 3);
        for (int k = 0; k < 3; k++) {
            assert_int_equal(l[j].n[k], 10 << k);           /* two equations per point */
            assert_int_equal(l[j].steps[k], l[0].steps[k]); /* the storage does not change them */
        }
        assert_int_equal(l[j].fit.count, 3);
    }
    dae_bytes text = {0};
    assert_int_equal(dae_scale_text(s, "medakzo", dae_bytes_write, &text), DAE_OK);
    assert_non_null(strstr(text.text, "radau5, banded"));
    free(text.text);
    dae_scale_destroy(s);

    o.runs.done = stop_third;
    o.runs.user = &runs;
    s = dae_scale_run(&o, &status, &err);
    assert_non_null(s);
    assert_int_equal(status, DAE_CANCELLED);
    l = dae_scale_lines(s, &count);
    assert_int_equal(l[0].count + l[1].count, 3); /* what was finished */
    dae_scale_destroy(s);
    o.value = bad;
    o.nvalue = 1;
    assert_null(dae_scale_run(&o, &status, &err));
    assert_int_equal(err.status, DAE_ERR_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_lines_are_done_again),
        cmocka_unit_test(pending_runs_are_done),
        cmocka_unit_test(other_sweeps_are_told),
        cmocka_unit_test(a_fit_goes_on_from_its_record),
        cmocka_unit_test(growth_is_a_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
