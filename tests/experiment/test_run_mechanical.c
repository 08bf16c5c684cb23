/* Runs of mechanical systems through formulations: coordinates, accelerations, multipliers, residuals. */
#include "formulation/mechanisms.h"

static dae_run_result *run(const mechanism *m, const char *method, const char *form, const dae_setting *setting,
                           int nsetting, dae_run_options *o)
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
    } of[] = {{"radau5", "ggl", 1e-5, 1e-3}, {"radau5", "index2", 1e-5, 1e-3}, {"dopri5", "baumgarte", 1e-5, 1e-4},
              {"dop853", "auto", 1e-5, 1e-5}, {"radau5", "auto", 1e-5, 1e-3}};
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(run_gives_the_same_in_every_form),
        cmocka_unit_test(run_names_combinations_that_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
