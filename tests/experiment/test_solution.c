/* The continuous solution: what is read back is the dense output, for every method; cut and damaged files. */
#include "test.h"

#include <daedalus/daedalus.h>

typedef struct store {
    char *data;
    size_t size, capacity;
} store;

static int keep(const char *text, size_t length, void *user)
{
    store *s = user;
    if (s->size + length > s->capacity) {
        s->capacity = 2 * (s->size + length);
        s->data = realloc(s->data, s->capacity);
    }
    memcpy(s->data + s->size, text, length);
    s->size += length;
    return 0;
}

static int refuse(const char *text, size_t length, void *user)
{
    (void)text, (void)length, (void)user;
    return -1;
}

/* Runs and keeps the solution; the result has the samples at the times. */
static dae_run_result *run(const dae_problem *p, const char *solver, double tol, const double *at, int nat,
                           store *s)
{
    dae_error err = {0};
    dae_run_options o = dae_run_options_default(p);
    *s = (store){0};
    o.options.method = solver;
    o.options.rtol = o.options.atol = tol;
    o.at = at;
    o.nat = nat;
    o.solution = keep;
    o.solution_user = s;
    dae_run_result *r = dae_run(p, &o, &err);
    assert_non_null(r);
    if (r->status < 0) fail_msg("%s %s: %s", p->info->name, solver, r->error.text);
    return r;
}

static dae_problem *create(const char *name)
{
    dae_error err = {0};
    dae_problem *p = dae_problem_create(name, NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    return p;
}

static void sampling_gives_the_dense_output_of_every_method(void **state)
{
    (void)state;
    for (int m = 0; m < dae_method_count(); m++) {
        const dae_method_info *info = dae_method_get(m);
        if (!strcmp(info->name, "rattle")) continue; /* refuses seven-body: its M is not constant */
        const char *name = info->kinds & 1u << DAE_KIND_MECH  ? "seven-body"
                           : info->no_velocities              ? "plei"
                           : info->kinds & 1u << DAE_KIND_ODE ? "hires"
                                                              : NULL;
        if (!name) continue;
        dae_problem *p = create(name);
        double end = p->t_end, at[5] = {0, 0.1 * end, end / 3, 0.77 * end, end}, y[28];
        store s;
        dae_run_result *r = run(p, info->name, 1e-6, at, 5, &s);
        dae_error err = {0};
        dae_solution *sol = dae_solution_read(s.data, s.size, &err);
        if (!sol) fail_msg("%s", err.text);
        const dae_solution_info *about = dae_solution_about(sol);
        assert_string_equal(about->problem, name);
        assert_string_equal(about->solver, info->name);
        assert_int_equal(about->n, r->n);
        assert_near(about->t_end, end, 0);
        assert_true(about->pieces >= 1 && about->rtol == 1e-6);
        for (int k = 0; k < 5; k++) {
            assert_int_equal(dae_solution_at(sol, at[k], y, NULL, &err), DAE_OK);
            for (int i = 0; i < r->n; i++) {
                if (!(fabs(y[i] - r->at[k].y[i]) <= 1e-12 * (1 + fabs(y[i])))) {
                    fail_msg("%s at %g: y%d = %.17g, not %.17g", info->name, at[k], i + 1, y[i],
                             r->at[k].y[i]);
                }
            }
        }
        dae_solution_destroy(sol);
        dae_run_destroy(r);
        dae_problem_destroy(p);
        free(s.data);
    }
}

/* y' of a component by differences, inside steps and at their ends. */
static void derivative_is_that_of_the_polynomial(void **state)
{
    (void)state;
    dae_problem *p = create("hires");
    store s;
    dae_run_destroy(run(p, "radau5", 1e-6, NULL, 0, &s));
    dae_solution *sol = dae_solution_read(s.data, s.size, NULL);
    for (double t = 1; t < 300; t += 7.3) {
        double y[8], yp[8], before[8], after[8], h = 1e-5;
        assert_int_equal(dae_solution_at(sol, t, y, yp, NULL), DAE_OK);
        dae_solution_at(sol, t - h, before, NULL, NULL);
        dae_solution_at(sol, t + h, after, NULL, NULL);
        for (int i = 0; i < 8; i++) assert_near(yp[i], (after[i] - before[i]) / (2 * h), 1e-6);
    }
    double y[8], yp[8], f[8]; /* the start is a node */
    dae_solution_at(sol, 0, y, yp, NULL);
    p->system.ode.f(0, y, f, p->system.ode.user);
    for (int i = 0; i < 8; i++) assert_near(yp[i], f[i], 2e-2 * (1 + fabs(f[i])));
    dae_solution_destroy(sol);
    dae_problem_destroy(p);
    free(s.data);
}

/* Restarts at discontinuities: the pieces join. */
static void pieces_cover_a_run_with_restarts(void **state)
{
    (void)state;
    dae_problem *p = create("truck");
    double at[3] = {0.15, 0.3, 0.45}, y[22];
    store s;
    dae_run_result *r = run(p, "mexx", 1e-5, at, 3, &s);
    dae_solution *sol = dae_solution_read(s.data, s.size, NULL);
    assert_non_null(sol);
    for (int k = 0; k < 3; k++) {
        assert_int_equal(dae_solution_at(sol, at[k], y, NULL, NULL), DAE_OK);
        for (int i = 0; i < 22; i++) assert_near(y[i], r->at[k].y[i], 1e-12);
    }
    dae_solution_destroy(sol);
    dae_run_destroy(r);
    dae_problem_destroy(p);
    free(s.data);
}

/* JSON of a mechanical problem has a and lambda, also for another parameter than the default. */
static void json_has_accelerations_and_multipliers(void **state)
{
    (void)state;
    dae_error err = {0};
    dae_problem *p = dae_problem_create("cable-drum", &(dae_setting){"mu", "0.5"}, 1, &err);
    store s, json = {0};
    dae_run_destroy(run(p, "mexx", 1e-9, NULL, 0, &s));
    dae_solution *sol = dae_solution_read(s.data, s.size, &err);
    assert_non_null(sol);
    double t = 4;
    assert_int_equal(dae_solution_json(sol, &t, 1, keep, &json, &err), DAE_OK);
    keep("", 1, &json);
    const char *lambda = strstr(json.data, "\"lambda\":[");
    assert_non_null(strstr(json.data, "\"a\":["));
    assert_non_null(lambda);
    /* lambda_1 = -mu lambda_2 */
    char *next;
    double first = strtod(lambda + 10, &next), second = strtod(next + 1, NULL);
    assert_near(first, -0.5 * second, 1e-9);
    dae_table *table = dae_solution_table(sol, &t, 1, &err);
    assert_non_null(table);
    assert_string_equal(table->name[0], "t");
    assert_near(table->value[0], 4, 0);
    double *y = calloc((size_t)table->ncol, sizeof *y);
    assert_int_equal(dae_solution_at(sol, t, y, NULL, &err), DAE_OK);
    for (int k = 1; k < table->ncol; k++) assert_near(table->value[k], y[k - 1], 0);
    free(y);
    dae_table_destroy(table);
    assert_int_equal(dae_solution_json(sol, (double[]){4.1}, 1, keep, &json, &err), DAE_ERR_INPUT);
    assert_non_null(strstr(err.text, "4.1"));
    dae_solution_destroy(sol);
    dae_problem_destroy(p);
    free(s.data);
    free(json.data);
}

static void cut_and_damaged_files(void **state)
{
    (void)state;
    dae_error err = {0};
    dae_problem *p = create("hires");
    store s;
    dae_run_destroy(run(p, "radau5", 1e-4, NULL, 0, &s));
    dae_solution *whole = dae_solution_read(s.data, s.size, &err), *part;
    for (size_t size = 0; size < s.size; size += 97) { /* any part: the complete pieces, or an error */
        part = dae_solution_read(s.data, size, &err);
        if (!part) {
            assert_int_equal(err.status, DAE_ERR_INPUT);
            continue;
        }
        assert_true(dae_solution_about(part)->pieces < dae_solution_about(whole)->pieces);
        double t = dae_solution_about(part)->t_end, a[8], b[8];
        dae_solution_at(part, t, a, NULL, NULL);
        dae_solution_at(whole, t, b, NULL, NULL);
        assert_memory_equal(a, b, sizeof a);
        dae_solution_destroy(part);
    }
    for (size_t k = 0; k < s.size; k += 13) { /* any byte: read or refused, no crash */
        char old = s.data[k];
        s.data[k] = (char)(old ^ 0x55);
        part = dae_solution_read(s.data, s.size, &err);
        double y[64];
        if (part && dae_solution_about(part)->n <= 64)
            dae_solution_at(part, dae_solution_about(part)->t0, y, NULL, NULL);
        dae_solution_destroy(part);
        s.data[k] = old;
    }
    assert_null(dae_solution_read("t,y\n1,2\n", 8, &err));
    assert_non_null(strstr(err.text, "first line"));
    dae_solution_destroy(whole);
    dae_run_options o = dae_run_options_default(p);
    o.solution = refuse;
    dae_run_result *r = dae_run(p, &o, &err);
    assert_int_equal(r->status, DAE_ERR_FILE);
    dae_run_destroy(r);
    dae_problem_destroy(p);
    free(s.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sampling_gives_the_dense_output_of_every_method),
        cmocka_unit_test(derivative_is_that_of_the_polynomial),
        cmocka_unit_test(pieces_cover_a_run_with_restarts),
        cmocka_unit_test(json_has_accelerations_and_multipliers),
        cmocka_unit_test(cut_and_damaged_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
