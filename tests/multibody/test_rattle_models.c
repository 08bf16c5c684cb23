/* rattle on models: planar bodies have a constant mass matrix. */
#include "mechanics.h"

#include <math.h>

/* M comes in blocks too. Order 2 against mexx. */
static void planar_models_are_taken(void **state)
{
    (void)state;
    static const char *const model[] = {"double_pendulum", "four_bar"};
    for (int k = 0; k < 2; k++) {
        char path[64];
        dae_error err = {0};
        snprintf(path, sizeof path, "models/%s.json", model[k]);
        dae_problem *p = dae_problem_open(path, NULL, 0, &err);
        if (!p) fail_msg("%s", err.text);
        double exact[32], y[32], error[2] = {0, 0};
        size_t n = (size_t)dae_system_size(&p->system);
        assert_true(n <= 32);
        memcpy(exact, p->y0, n * sizeof *exact);
        dae_options opt = dae_options_default();
        opt.method = "mexx";
        opt.rtol = opt.atol = 1e-11;
        assert_int_equal(dae_solve(&p->system, &opt, 0, 0.5, exact, NULL, &err), DAE_OK);
        for (int m = 0; m < 2; m++) {
            opt.method = "rattle";
            opt.rtol = opt.atol = 1e-6;
            opt.fixed_step = m ? 0.5 / 4000 : 0.5 / 2000;
            memcpy(y, p->y0, n * sizeof *y);
            if (dae_solve(&p->system, &opt, 0, 0.5, y, NULL, &err) < 0) fail_msg("%s", err.text);
            for (size_t i = 0; i < n; i++) error[m] = fmax(error[m], fabs(y[i] - exact[i]));
        }
        if (!(error[1] < 1e-4)) fail_msg("%s: %g off", model[k], error[1]);
        assert_between(log2(error[0] / error[1]), 1.9, 2.1);
        dae_problem_destroy(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(planar_models_are_taken)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
