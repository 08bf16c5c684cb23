/* Car axis, Fekete and slider crank as mechanisms: every form and method reaches the reference solution of the DAE, multipliers
 * and accelerations too; events of multipliers are found at the same times by all of them. */
#include "test.h"

#include <daedalus/daedalus.h>

#include <string.h>

/* Largest error of components first .. last-1 by the method in the form (NULL: as it chooses), relative to the largest of them. */
static double error_of(const char *name, const char *method, const char *form, double tol, int first,
                       int last)
{
    dae_error err = {0};
    dae_problem *p = dae_problem_create(name, NULL, 0, &err);
    assert_non_null(p);
    dae_run_options o = dae_run_options_default(p);
    o.options.method = method;
    o.options.formulation = form;
    o.options.rtol = o.options.atol = tol;
    dae_run_result *r = dae_run(p, &o, &err);
    assert_non_null(r);
    if (r->status != DAE_OK) fail_msg("%s by %s: %s", name, method, r->error.text);
    double worst = 0, size = 0;
    for (int i = first; i < last; i++) {
        worst = fmax(worst, fabs(r->last.y[i] - p->reference[i]));
        size = fmax(size, fabs(p->reference[i]));
    }
    dae_run_destroy(r);
    dae_problem_destroy(p);
    return worst / size;
}

static void caraxis_in_every_form_has_the_reference(void **state)
{
    (void)state;
    static const struct {
        const char *method, *form;
    } way[] = {{"mexx", NULL},           {"phem56", NULL},    {"auto", NULL},       {"radau5", "index3"},
               {"radau5", "index2"},     {"radau5", "ggl"},   {"dop853", "index1"}, {"dop853", "baumgarte"},
               {"radau5", "statespace"}, {"dassl", "index1"}, {"radau", "index1"}};
    for (size_t k = 0; k < sizeof way / sizeof *way; k++) {
        /* positions and velocities; the index-3 form loses digits in v and lambda as its theory says */
        int loose = way[k].form && !strcmp(way[k].form, "index3");
        double tol = loose ? 1e-11 : 1e-9, bound = !strcmp(way[k].method, "dassl") ? 1e-5 : 1e-6;
        assert_true(error_of("caraxis", way[k].method, way[k].form, tol, 0, 4) < bound);
        assert_true(error_of("caraxis", way[k].method, way[k].form, tol, 4, 8) < 100 * bound);
        assert_true(error_of("caraxis", way[k].method, way[k].form, tol, 8, 10) <
                    100 * bound); /* lambda, same sign */
    }
}

static void crank_and_fekete_as_mechanisms_have_the_reference(void **state)
{
    (void)state;
    assert_true(error_of("crank", "mexx", NULL, 1e-10, 0, 3) < 1e-7);
    assert_true(error_of("crank", "phem56", NULL, 1e-10, 0, 3) < 1e-7);
    assert_true(error_of("crank", "phem56", NULL, 1e-10, 21, 24) <
                1e-2); /* lambda: the rod swings at 1e5 rad/s */
    assert_true(error_of("crank", "radau5", "ggl", 1e-9, 0, 3) < 1e-6);
    assert_true(error_of("crank", "radau5", "index1", 1e-9, 0, 3) < 1e-6);
    assert_true(error_of("crank", "dop853", "baumgarte", 1e-9, 0, 3) < 1e-6);
    assert_true(error_of("fekete", "mexx", NULL, 1e-7, 0, 60) < 1e-5);
    assert_true(error_of("fekete", "phem56", NULL, 1e-7, 0, 60) < 1e-4);
    assert_true(error_of("fekete", "phem56", NULL, 1e-7, 120, 140) < 1e-3);
    assert_true(error_of("fekete", "radau5", "ggl", 1e-7, 0, 60) < 1e-5);
    assert_true(error_of("fekete", "radau5", "index1", 1e-8, 0, 60) < 1e-5);
    assert_true(error_of("fekete", "dop853", "baumgarte", 1e-7, 0, 60) < 1e-5);
}

/* The DAE stays what it is where a method for DAEs is named. */
static void named_methods_integrate_the_dae(void **state)
{
    (void)state;
    static const char *const name[] = {"caraxis", "crank", "fekete"};
    for (int k = 0; k < 3; k++) {
        dae_error err = {0};
        dae_problem *p = dae_problem_create(name[k], NULL, 0, &err);
        assert_non_null(p);
        assert_non_null(p->mechanism);
        dae_run_options o = dae_run_options_default(p);
        o.options.method = "radau5";
        dae_run_result *r = dae_run(p, &o, &err);
        assert_non_null(r);
        assert_null(r->formulation);
        dae_run_destroy(r);
        dae_problem_destroy(p);
    }
}

/* ---- Events of multipliers --------------------------------------------------------------------------- */

static int event_times(const char *name, const char *word, const char *method, const char *form, double tol,
                       double *t, int most)
{
    dae_error err = {0};
    dae_problem *p = dae_problem_create(name, NULL, 0, &err);
    assert_non_null(p);
    dae_run_options o = dae_run_options_default(p);
    o.options.method = method;
    o.options.formulation = form;
    o.options.rtol = o.options.atol = tol;
    dae_switching *s = dae_switching_create(p, tol, &word, 1, NULL, &err);
    if (!s) fail_msg("%s: %s", word, err.text);
    o.events = dae_switching_events(s);
    dae_run_result *r = dae_run(p, &o, &err);
    assert_non_null(r);
    if (r->status != DAE_OK) fail_msg("%s %s by %s: %s", name, word, method, r->error.text);
    int n = r->nevent;
    for (int i = 0; i < n && i < most; i++) t[i] = r->event[i].t;
    dae_run_destroy(r);
    dae_switching_destroy(s);
    dae_problem_destroy(p);
    return n;
}

static void events_of_multipliers_are_the_same_by_every_method(void **state)
{
    (void)state;
    static const struct {
        const char *method, *form;
    } way[] = {{"auto", NULL},    {"mexx", NULL},           {"radau5", NULL},    {"dop853", "index1"},
               {"radau5", "ggl"}, {"dop853", "statespace"}, {"radau5", "index2"}};
    double first[16], t[16];
    int n = event_times("andrews", "lambda1=50", "dop853", "index1", 1e-12, first, 16);
    assert_true(n > 2 && n < 16);
    for (size_t k = 0; k < sizeof way / sizeof *way; k++) {
        assert_int_equal(event_times("andrews", "lambda1=50", way[k].method, way[k].form, 1e-10, t, 16), n);
        /* of 0.03; where the multipliers are states of index 2 or 3, their own dense output is less accurate */
        double bound = !strcmp(way[k].method, "radau5") ? 2e-6 : 1e-8;
        for (int i = 0; i < n; i++) assert_near(t[i], first[i], bound);
    }
    /* lambda1(0) = 98.57 to 1e-9: what is reached at the start does not fire there */
    int with = event_times("andrews", "lambda1=98.5668703962410896", "phem56", NULL, 1e-9, t, 16);
    assert_true(with == 0 || t[0] > 1e-4);
    /* mechanical systems: multipliers and accelerations by number */
    n = event_times("seven-body", "lambda1=50", "mexx", NULL, 1e-9, t, 16);
    assert_int_equal(event_times("seven-body", "lambda1=50", "dop853", NULL, 1e-9, first, 16), n);
    assert_true(n > 0);
    for (int i = 0; i < n; i++) assert_near(t[i], first[i], 1e-6);
    n = event_times("seven-body", "a1=0", "mexx", NULL, 1e-9, t, 16);
    assert_int_equal(event_times("seven-body", "a1=0", "dop853", NULL, 1e-9, first, 16), n);
    for (int i = 0; i < n; i++) assert_near(t[i], first[i], 1e-6);
}

/* In C: a function that reads the multipliers in y where the DAE is integrated as the mechanism. */
static int on_phi(double t, const double *y, const double *yp, double *phi, void *user)
{
    (void)t, (void)yp, (void)user;
    phi[0] = y[21] - 50;
    return 0;
}

static void switching_functions_in_c_see_multipliers(void **state)
{
    (void)state;
    static const dae_event event[] = {{.name = "lambda1 = 50"}};
    dae_events events = {.count = 1, .event = event, .phi = on_phi};
    double words[16];
    dae_error err = {0};
    dae_problem *p = dae_problem_create("andrews", NULL, 0, &err);
    dae_run_options o = dae_run_options_default(p);
    o.options.rtol = o.options.atol = 1e-9;
    o.events = &events;
    dae_run_result *r = dae_run(p, &o, &err);
    assert_non_null(r);
    assert_int_equal(r->status, DAE_OK);
    assert_string_equal(r->solver, "vern8");
    assert_int_equal(event_times("andrews", "lambda1=50", "phem56", NULL, 1e-9, words, 16), r->nevent);
    for (int i = 0; i < r->nevent; i++) assert_near(r->event[i].t, words[i], 1e-9);
    dae_run_destroy(r);
    dae_problem_destroy(p);
}

/* models/rope.json: the tension m (v^2/L + g cos(angle)) of a bob that was thrown with v0^2 = 3.5 g L ends at the height L/2. */
static void events_on_reactions_in_model_files(void **state)
{
    (void)state;
    static const struct {
        const char *method, *form;
        double bound;
    } way[] = {{"auto", NULL, 1e-8},       {"mexx", NULL, 1e-8},           {"radau5", "ggl", 1e-7},
               {"dop853", "index1", 1e-8}, {"dop853", "statespace", 1e-8}, {"radau5", "index3", 1e-5}};
    for (size_t k = 0; k < sizeof way / sizeof *way; k++) {
        dae_error err = {0};
        dae_problem *p = dae_problem_open("models/rope.json", NULL, 0, &err);
        if (!p) fail_msg("%s", err.text);
        dae_run_options o = dae_run_options_default(p);
        o.options.method = way[k].method;
        o.options.formulation = way[k].form;
        dae_run_result *r = dae_run(p, &o, &err);
        assert_non_null(r);
        assert_int_equal(r->status, DAE_EVENT);
        assert_near(r->last.y[1], 0.5, way[k].bound);
        dae_run_destroy(r);
        dae_problem_destroy(p);
    }
}

/* The same by every method that there is: only the Nystrom pairs (the form depends on velocities) do not take it. The alpha methods have order 2. */
static void every_method_finds_where_the_rope_goes_slack(void **state)
{
    (void)state;
    int found = 0;
    for (int k = 0; k < dae_method_count(); k++) {
        const char *method = dae_method_get(k)->name;
        dae_error err = {0};
        dae_problem *p = dae_problem_open("models/rope.json", NULL, 0, &err);
        if (!p) fail_msg("%s", err.text);
        dae_run_options o = dae_run_options_default(p);
        o.options.method = method;
        dae_run_result *r = dae_run(p, &o, &err);
        if (!strcmp(method, "rattle")) { /* steps of fixed size */
        } else if (!strncmp(method, "rkn", 3)) {
            assert_true(!r || r->status < 0);
        } else {
            if (!r) fail_msg("%s: %s", method, err.text);
            int low = !strcmp(method, "genalpha") || !strcmp(method, "hht");
            double bound = low ? 1e-5 : 1e-7;
            if (r->status != DAE_EVENT || !(fabs(r->last.y[1] - 0.5) <= bound))
                fail_msg("%s: status %d, height %.12g", method, r->status, r->last.y[1]);
            found++;
        }
        dae_run_destroy(r);
        dae_problem_destroy(p);
    }
    assert_in_range(found, 25, 100);
}

/* Rows of M w + G^T lambda = f and G w = -gamma, relative to the sizes of their terms. */
static double residual(const dae_mech *m, const dae_mech_point *at, const double *out)
{
    double M[49] = {0}, f[7] = {0}, G[42] = {0}, gamma[6] = {0}, worst = 0;
    const double *w = out, *lambda = out + m->nv;
    int nv = m->nv, ng = m->ng;
    if (m->mass_fn) assert_int_equal(m->mass_fn(at, M, m->user), 0);
    for (int i = 0; !m->mass_fn && i < nv; i++) M[i + nv * i] = m->mass.a[i];
    assert_int_equal(m->force(at, f, m->user), 0);
    assert_int_equal(m->constraint(at, NULL, G, m->user), 0);
    assert_int_equal(m->gamma(at, gamma, m->user), 0);
    for (int i = 0; i < nv; i++) {
        double sum = -f[i], size = fabs(f[i]);
        for (int j = 0; j < nv; j++) {
            sum += M[i + nv * j] * w[j];
            size += fabs(M[i + nv * j] * w[j]);
        }
        for (int k = 0; k < ng; k++) {
            sum += G[k + ng * i] * lambda[k];
            size += fabs(G[k + ng * i] * lambda[k]);
        }
        worst = fmax(worst, fabs(sum) / size);
    }
    for (int k = 0; k < ng; k++) {
        double sum = gamma[k], size = fabs(gamma[k]);
        for (int j = 0; j < nv; j++) {
            sum += G[k + ng * j] * w[j];
            size += fabs(G[k + ng * j] * w[j]);
        }
        worst = fmax(worst, fabs(sum) / size);
    }
    return worst;
}

/* The car axis and the seven bodies have their accelerations in one pass: they solve the system of M, f and G in any state, and where
 * a system of two equations in them is singular (q1 + q2 = q3 + 90 degrees, q4 or q6 = 90 degrees), too. */
static void accelerations_in_one_pass_solve_the_system(void **state)
{
    (void)state;
    static const char *const name[] = {"caraxis", "andrews", "seven-body"};
    uint32_t seed = 1;
    for (int k = 0; k < 3; k++) {
        dae_error err = {0};
        dae_problem *p = dae_problem_create(name[k], NULL, 0, &err);
        assert_non_null(p);
        const dae_system *sys = p->mechanism ? p->mechanism : &p->system;
        const dae_mech *m = &sys->mech;
        assert_non_null(m->accelerations);
        for (int i = 0; i < 400; i++) {
            double q[7], v[7], out[13];
            for (int j = 0; j < m->np; j++) {
                seed = seed * 1664525 + 1013904223;
                q[j] = p->y0[j] + (k ? 2 : 0.02) * (seed / 4294967296.0 - 0.5);
                seed = seed * 1664525 + 1013904223;
                v[j] = (k ? 1e3 : 1) * (seed / 4294967296.0 - 0.5);
            }
            double right = asin(1) + (i % 20 < 4 ? 0 : 1e-9); /* at the pose and beside it */
            if (k && i % 4 == 1) q[2] = q[0] + q[1] - right;
            if (k && i % 4 == 2) q[3] = right;
            if (k && i % 4 == 3) q[5] = right;
            dae_mech_point at = {.t = 0.3 * i, .p = q, .v = v};
            assert_int_equal(m->accelerations(&at, out, m->user), 0);
            double r = residual(m, &at, out);
            if (!(r < 1e-10))
                fail_msg("%s, state %d: residual %g", name[k], i, r); /* 1e3 unit roundoffs, pivots of 1e-3 */
        }
        dae_problem_destroy(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accelerations_in_one_pass_solve_the_system),
        cmocka_unit_test(caraxis_in_every_form_has_the_reference),
        cmocka_unit_test(crank_and_fekete_as_mechanisms_have_the_reference),
        cmocka_unit_test(named_methods_integrate_the_dae),
        cmocka_unit_test(events_of_multipliers_are_the_same_by_every_method),
        cmocka_unit_test(switching_functions_in_c_see_multipliers),
        cmocka_unit_test(events_on_reactions_in_model_files),
        cmocka_unit_test(every_method_finds_where_the_rope_goes_slack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
