/* Runs of mechanical systems through formulations: coordinates, accelerations, multipliers, residuals. */
#include "formulation/mechanisms.h"

static dae_run_result *run(const mechanism *m, const char *method, const char *form,
                           const dae_setting *setting, int nsetting, dae_run_options *o)
{
    dae_problem p = {.system = m->sys, .t_end = m->t_end, .y0 = m->y0, .rtol = 1e-8, .atol = 1e-8};
    *o = dae_run_options_default(&p);
    o->options.method = method;
    o->options.formulation = form;
    o->options.setting = setting;
    o->options.nsetting = nsetting;
    o->t_end = m->t_end;
    static const double at[2] = {0.25, 0.75};
    o->at = at;
    o->nat = 2;
    o->trajectory = DAE_TRAJECTORY_STEPS;
    o->repeat = 3;
    static dae_problem kept[8];
    static int next;
    kept[next & 7] = p;
    return dae_run(&kept[next++ & 7], o, NULL);
}

static void run_gives_the_same_in_every_form(void **state)
{
    static const struct {
        const char *method, *form;
        double tol, lambda_tol;
    } of[] = {{"radau5", "ggl", 1e-5, 1e-3},
              {"radau5", "index2", 1e-5, 1e-3},
              {"dopri5", "baumgarte", 1e-5, 1e-4},
              {"dop853", "auto", 1e-5, 1e-5},
              {"radau5", "auto", 1e-5, 1e-3}};
    (void)state;
    for (int which = 0; which < MECHANISMS; which++) {
        mechanism m = mechanism_get(which);
        dae_run_options o;
        int n = dae_system_size(&m.sys), nl = m.sys.mech.nlambda;
        static const dae_setting project = {"project", "1"};
        dae_run_result *want = run(&m, "dop853", "index1", &project, 1, &o);
        assert_int_equal(want->status, DAE_OK);
        assert_string_equal(want->formulation, "index1");
        assert_near(want->stats.position_residual, 0, 1e-13);
        assert_int_equal(want->repeat, 3);
        for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
            dae_run_result *r = run(&m, of[k].method, of[k].form, NULL, 0, &o);
            if (r->status) fail_msg("%s, %s: %s", m.name, of[k].form, r->error.text);
            assert_int_equal(r->n, n);
            assert_int_equal(r->nat, 2);
            for (int s = -1; s < 2; s++) {
                const dae_sample *a = s < 0 ? &r->last : &r->at[s], *b = s < 0 ? &want->last : &want->at[s];
                for (int i = 0; i < n; i++) assert_near(a->y[i], b->y[i], of[k].tol * fmax(1, fabs(b->y[i])));
                assert_true(a->a && a->lambda && a->p == a->y && a->v == a->y + m.sys.mech.np);
                for (int i = 0; i < nl; i++) {
                    assert_near(a->lambda[i], b->lambda[i], of[k].lambda_tol * fmax(1, fabs(b->lambda[i])));
                }
            }
            assert_true(r->npoint > 4 && r->point_t[r->npoint - 1] == m.t_end);
            dae_run_destroy(r);
        }
        dae_run_destroy(want);
    }
}

static void run_names_combinations_that_work(void **state)
{
    (void)state;
    mechanism m = mechanism_get(BEAD);
    dae_run_options o;
    dae_run_result *r = run(&m, "dopri5", "index3", NULL, 0, &o);
    assert_int_equal(r->status, DAE_ERR_UNSUPPORTED);
    assert_non_null(strstr(r->error.text, "index1"));
    dae_run_destroy(r);
}

/* ---- Events see the mechanical system, whatever form is integrated ------------------------------------------ */

typedef struct bounce {
    double slope; /* largest |p' - v| and |a - a by hand| that phi saw */
    int hits;
} bounce;

static int at_the_bottom(double t, const double *y, const double *yp, double *phi, void *user)
{
    bounce *b = user;
    (void)t;
    phi[0] = y[0];
    if (!yp) return 0;
    /* a + 9.81 e_y is along p: its part along the tangent vanishes */
    double tangential =
        (yp[2] - 0.1 / 1.5 * y[4] + 0.02 / 1.5 * y[2]) * -y[1] + (yp[3] + GRAVITY + 0.02 / 1.5 * y[3]) * y[0];
    b->slope = fmax(b->slope, fmax(fmax(fabs(yp[0] - y[2]), fabs(yp[1] - y[3])), fabs(tangential)));
    return 0;
}

/* Half of the speed, backward. */
static int turn_back(int i, double t, int rising, double *y, double *yp, void *user)
{
    bounce *b = user;
    (void)i, (void)t, (void)rising, (void)yp;
    y[2] *= -0.5;
    y[3] *= -0.5;
    b->hits++;
    return DAE_EVENT_RESTART;
}

static void events_see_the_mechanism_in_every_form(void **state)
{
    static const struct {
        const char *method, *form;
    } of[] = {{"dop853", "index1"}, {"radau5", "ggl"}, {"dop853", "statespace"}, {"rosnys4", "statespace"}};
    double want[5], first = 0;
    (void)state;
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        mechanism m = mechanism_get(PENDULUM);
        bounce b = {0};
        dae_event event = {.name = "bottom"};
        dae_events events = {
            .count = 1, .event = &event, .phi = at_the_bottom, .action = turn_back, .user = &b};
        dae_problem p = {.system = m.sys, .t_end = 3, .y0 = m.y0, .rtol = 1e-9, .atol = 1e-9};
        dae_run_options o = dae_run_options_default(&p);
        o.options.method = of[k].method;
        o.options.formulation = of[k].form;
        o.events = &events;
        dae_run_result *r = dae_run(&p, &o, NULL);
        if (r->status != DAE_OK) fail_msg("%s, %s: %s", of[k].method, of[k].form, r->error.text);
        assert_true(b.hits >= 2 && r->nevent == b.hits);
        if (k == 0) {
            memcpy(want, r->last.y, sizeof want);
            first = r->event[0].t;
        }
        assert_near(r->event[0].t, first, 1e-6);
        for (int i = 0; i < 5; i++) assert_near(r->last.y[i], want[i], 2e-6);
        assert_near(b.slope, 0, 1e-5);
        dae_run_destroy(r);
    }
}

/* A DAE with a mechanism behind it: every form of that, and methods that take no DAEs; results in its own 27 variables. */
static void dae_of_a_mechanism_runs_in_every_form(void **state)
{
    static const struct {
        const char *method, *form, *becomes;
        double scd;
    } way[] = {{"dop853", NULL, "index1", 7},
               {"dopri5", "index1", "index1", 4.5},
               {"dopri5", "statespace", "statespace", 5.5},
               {"radau5", "index3", "index3", 4},
               {"radau5", "index2", "index2", 6},
               {"radau5", "ggl", "ggl", 6},
               {"dopri5", "baumgarte", "baumgarte", 6},
               {"mexx", "descriptor", "descriptor", 6},
               {"auto", "auto", "index1", 6}};
    (void)state;
    dae_error err = {0};
    dae_problem *p = dae_problem_create("andrews", NULL, 0, &err);
    assert_non_null(p);
    for (size_t k = 0; k < sizeof way / sizeof *way; k++) {
        dae_run_options o = dae_run_options_default(p);
        o.options.method = way[k].method;
        o.options.formulation = way[k].form;
        dae_run_result *r = dae_run(p, &o, &err);
        assert_int_equal(r->status, DAE_OK);
        assert_string_equal(r->formulation, way[k].becomes);
        assert_true(r->scd > way[k].scd);
        assert_int_equal(r->n, 27);
        for (int i = 0; i < 6; i++) assert_near(r->last.lambda[i], r->last.y[21 + i], 0);
        double loose =
            strcmp(way[k].becomes, "index3") ? 1 : 300; /* which loses digits of what it does not integrate */
        assert_near(r->last.lambda[0], p->reference[21], 0.02 * loose);
        assert_near(r->last.y[14], p->reference[14], 100 * loose); /* of accelerations up to 6e5 */
        assert_true(r->stats.position_residual < 1e-8);
        assert_true(isfinite(r->stats.acceleration_residual));
        dae_run_destroy(r);
    }
    dae_problem_destroy(p);
}

/* [RNY] table 5 as the method sheet has it: the planar pendulum is integrated in its two angles unless others are asked for. */
static void double_pendulum_takes_the_steps_of_the_source(void **state)
{
    static const long steps[] = {29, 50, 85, 147, 258, 457};
    (void)state;
    dae_problem *p = dae_problem_create("double-pendulum", NULL, 0, NULL);
    assert_non_null(p);
    double tol = 1e-2;
    for (int k = 0; k < 6; k++, tol /= 10) {
        dae_run_options o = dae_run_options_default(p);
        o.options.method = "rosnys4";
        o.options.rtol = o.options.atol = tol;
        dae_run_result *r = dae_run(p, &o, NULL);
        assert_int_equal(r->status, DAE_OK);
        assert_near((double)r->stats.accepted, (double)steps[k], 0.03 * (double)steps[k]);
        dae_run_destroy(r);
    }
    dae_run_options o = dae_run_options_default(p);
    o.options.method = "rosnys4";
    o.options.setting = &(dae_setting){"independent", "auto"};
    o.options.nsetting = 1;
    dae_run_result *r = dae_run(p, &o, NULL);
    assert_int_equal(r->status, DAE_OK);
    assert_true(r->stats.accepted > 500); /* Cartesian coordinates */
    dae_run_destroy(r);
    dae_problem_destroy(p);
}

static void keep_text(dae_log_level level, const char *text, void *user)
{
    char *all = user;
    if (level == DAE_LOG_INFO) strncat(all, text, 4000 - strlen(all));
}

/* What was decided for the user is part of the result; the log is handed on at its level. */
static void run_says_what_was_decided(void **state)
{
    char log[4096] = "";
    (void)state;
    dae_problem *p = dae_problem_create("seven-body", NULL, 0, NULL);
    dae_run_options o = dae_run_options_default(p);
    o.options.method = "dopri5";
    o.options.formulation = "baumgarte";
    dae_run_result *r = dae_run(p, &o, NULL);
    assert_non_null(strstr(r->form_text, "alpha = beta = "));
    assert_non_null(strstr(r->form_text, "chosen"));
    dae_run_destroy(r);
    o.options.method = "mexx";
    o.options.formulation = NULL;
    o.options.log = keep_text;
    o.options.log_user = log;
    o.options.log_level = DAE_LOG_INFO;
    o.options.profile = 1;
    r = dae_run(p, &o, NULL);
    assert_non_null(strstr(r->linear_algebra, "sparse_lu"));
    assert_non_null(strstr(log, "linear_algebra=\"sparse_lu"));
    assert_non_null(strstr(log, "time total="));
    assert_null(strstr(log, "outcome=accepted"));
    dae_run_destroy(r);
    log[0] = 0;
    o.options.log_level = DAE_LOG_WARN;
    r = dae_run(p, &o, NULL);
    assert_string_equal(log, "");
    dae_run_destroy(r);
    dae_problem_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(run_gives_the_same_in_every_form),
        cmocka_unit_test(run_names_combinations_that_work),
        cmocka_unit_test(events_see_the_mechanism_in_every_form),
        cmocka_unit_test(dae_of_a_mechanism_runs_in_every_form),
        cmocka_unit_test(run_says_what_was_decided),
        cmocka_unit_test(double_pendulum_takes_the_steps_of_the_source),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
