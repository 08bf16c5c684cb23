/* Solvers as studies name them. */
#include "test.h"

#include <daedalus/formulation.h>
#include <daedalus/study.h>

static dae_problem *open_problem(const char *name)
{
    dae_problem *p = dae_problem_create(name, NULL, 0, NULL);
    assert_non_null(p);
    return p;
}

static void a_label_names_method_form_and_projection(void **state)
{
    (void)state;
    dae_solver s;
    dae_error err = {0};
    assert_int_equal(dae_solver_parse("dop853/index1+project,rest", 21, NULL, &s, &err), DAE_OK);
    assert_string_equal(s.label, "dop853/index1+project");
    assert_string_equal(s.method->name, "dop853");
    assert_string_equal(s.formulation, "index1");
    dae_options o = dae_options_default();
    dae_solver_apply(&s, &o);
    assert_string_equal(o.method, "dop853");
    assert_string_equal(o.formulation, "index1");
    assert_int_equal(o.nsetting, 1);
    assert_string_equal(o.setting[0].name, "formulation.project");
    assert_int_equal(dae_solver_parse("vode", 4, NULL, &s, &err), DAE_OK);
    assert_true(!s.formulation && !s.project);
}

static void what_is_wrong_with_a_list_is_said(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {{"radua5", "there is no solver \"radua5\"; did you mean radau5?"},
                                           {"radau5,,vode", "empty or too long"},
                                           {"vode,radau5,vode", "vode is named twice"},
                                           {"radau5/idex1", "there is no formulation \"idex1\""},
                                           {"radau5/index1+drift", "SOLVER/FORMULATION+project"}};
    dae_problem *p = open_problem("seven-body");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        dae_solver s[DAE_MAX_SOLVERS];
        dae_error err = {0};
        int n;
        assert_int_equal(dae_solvers_parse(wrong[i][0], p, NULL, s, &n, &err), DAE_ERR_INPUT);
        if (!strstr(err.text, wrong[i][1])) fail_msg("%s: %s", wrong[i][0], err.text);
    }
    dae_problem_destroy(p);
}

/* Without SUNDIALS: exactly the methods of the registry that take the kind and the index. */
static void all_are_those_that_take_the_problem(void **state)
{
    (void)state;
    dae_problem *p = open_problem("andrews");
    dae_solver s[DAE_MAX_SOLVERS];
    int n, expected = 0;
    assert_int_equal(dae_solvers_parse("all", p, NULL, s, &n, NULL), DAE_OK);
    for (int i = 0; i < dae_method_count(); i++) {
        const dae_method_info *m = dae_method_get(i);
        int takes = dae_method_takes(m, &p->system) && strcmp(m->name, "ida") != 0, found = 0;
        for (int k = 0; k < n; k++) found |= !strcmp(s[k].label, m->name);
        assert_int_equal(found, takes);
        expected += takes;
    }
    assert_int_equal(n, expected);
    dae_problem_destroy(p);
}

static void a_cross_has_what_goes_together(void **state)
{
    (void)state;
    char list[512];
    dae_error err = {0};
    assert_int_equal(dae_solvers_cross("radau5,dopri5,phem56/descriptor", "index3,index1+project", NULL, list,
                                       sizeof list, &err),
                     DAE_OK);
    assert_string_equal(list, "radau5/index3,radau5/index1+project,dopri5/index1+project,phem56/descriptor");
    assert_int_equal(dae_solvers_cross("dopri5", "index3", NULL, list, sizeof list, &err), DAE_ERR_INPUT);
    assert_int_equal(dae_solvers_cross("radau5", "index4", NULL, list, sizeof list, &err), DAE_ERR_INPUT);
    assert_non_null(strstr(err.text, "index4"));
    char small[16];
    assert_int_equal(dae_solvers_cross("radau5", "index3,index2", NULL, small, sizeof small, &err),
                     DAE_ERR_INPUT);
}

/* The comparison that is made unless another is asked for parses, and its labels go with a mechanism. */
static void the_default_comparison_is_a_list_of_solvers(void **state)
{
    (void)state;
    dae_problem *p = open_problem("seven-body");
    dae_solver s[DAE_MAX_SOLVERS];
    int n;
    assert_int_equal(dae_solvers_parse(dae_compare_solvers(1), p, NULL, s, &n, NULL), DAE_OK);
    assert_int_equal(n, 13);
    for (int k = 0; k < n; k++) {
        if (s[k].formulation)
            assert_int_equal(dae_formulation_check(s[k].formulation, s[k].method->name, NULL), DAE_OK);
    }
    assert_string_equal(dae_compare_solvers(0), "all");
    dae_problem_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_label_names_method_form_and_projection),
        cmocka_unit_test(what_is_wrong_with_a_list_is_said),
        cmocka_unit_test(all_are_those_that_take_the_problem),
        cmocka_unit_test(a_cross_has_what_goes_together),
        cmocka_unit_test(the_default_comparison_is_a_list_of_solvers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
