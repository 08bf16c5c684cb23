/* References that were recomputed in extended precision: a method of another family has more digits in common with
 * them, in double precision, than the printed vectors have. */
#include "test.h"

#include <daedalus/experiment.h>

/* The fewest digits over the components that count. */
static double common_digits(const dae_problem *p, const double *a, const double *b)
{
    double least = 17;
    for (int i = 0; i < dae_system_size(&p->system); i++) {
        if ((p->scored && !p->scored[i]) || fabs(a[i]) < 1e-200) continue;
        least = fmin(least, -log10(fmax(fabs(a[i] - b[i]) / fabs(a[i]), 1e-17)));
    }
    return least;
}

static void references_have_more_digits_than_the_printed_vectors(void **state)
{
    (void)state;
    static const struct {
        const char *name, *method;
        double rtol, digits, printed; /* of the run; of the printed vector */
    } list[] = {{"ringmod", "bimd", 1e-13, 10.5, 9.6},
                {"emep", "bimd", 1e-12, 12.4, 11.6},
                {"fekete", "radau", 1e-13, 10.8, 10.4},
                {"wheel", "pside", 1e-12, 8, 5.3}};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        dae_error err = {0};
        dae_problem *p = dae_problem_create(list[k].name, NULL, 0, &err);
        assert_non_null(p);
        assert_near(common_digits(p, p->reference, p->published), list[k].printed, 0.06);
        assert_true(p->reference_digits > list[k].digits);
        dae_run_options o = dae_run_options_default(p);
        o.options.method = list[k].method;
        o.options.rtol = list[k].rtol;
        o.options.atol = list[k].rtol * p->atol / p->rtol;
        o.options.max_steps = 0;
        dae_run_result *r = dae_run(p, &o, &err);
        assert_non_null(r);
        if (r->status != DAE_OK || !(r->scd > list[k].digits))
            fail_msg("%s by %s: %.2f digits, expected %.1f: %s", list[k].name, list[k].method, r->scd,
                     list[k].digits, r->error.text);
        dae_run_destroy(r);
        dae_problem_destroy(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(references_have_more_digits_than_the_printed_vectors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
