/* What there is, as JSON: read back and compared with the registries. */
#include "test.h"

#include <daedalus/equations.h>
#include <daedalus/study.h>

#include <jansson.h>

typedef struct memory {
    char *text;
    size_t length;
} memory;

static int remember(const char *text, size_t length, void *user)
{
    memory *m = user;
    m->text = realloc(m->text, m->length + length + 1);
    assert_non_null(m->text);
    memcpy(m->text + m->length, text, length);
    m->length += length;
    m->text[m->length] = 0;
    return 0;
}

static json_t *parsed(memory *m)
{
    json_t *o = json_loadb(m->text, m->length, 0, NULL);
    assert_non_null(o);
    assert_int_equal(m->text[m->length - 1], '\n');
    free(m->text);
    *m = (memory){0};
    return o;
}

static void lists_are_the_registries(void **state)
{
    (void)state;
    memory m = {0};
    assert_int_equal(dae_list_json(NULL, -1, NULL, remember, &m), DAE_OK);
    json_t *o = parsed(&m);
    assert_int_equal(json_array_size(json_object_get(o, "problems")), dae_problem_count());
    assert_int_equal(json_array_size(json_object_get(o, "solvers")), dae_method_count());
    int forms = dae_formulation_count(); /* of mechanisms, and those that only equation files have */
    for (int i = 0; dae_equations_form(i); i++) forms += !dae_formulation_find(dae_equations_form(i)->name);
    assert_true(forms > dae_formulation_count());
    assert_int_equal(json_array_size(json_object_get(o, "formulations")), forms);
    json_decref(o);
    assert_int_equal(dae_list_json("problems", 3, NULL, remember, &m), DAE_OK);
    o = parsed(&m);
    size_t i;
    json_t *p, *list = json_object_get(o, "problems");
    assert_true(json_array_size(list) > 0 && !json_object_get(o, "solvers"));
    json_array_foreach(list, i, p) assert_int_equal(json_integer_value(json_object_get(p, "index")), 3);
    json_decref(o);
}

static void all_about_one(void **state)
{
    (void)state;
    memory m = {0};
    dae_error err = {0};
    dae_problem *p = dae_problem_open("hires", NULL, 0, &err);
    assert_int_equal(dae_problem_json(p, remember, &m), DAE_OK);
    json_t *o = parsed(&m);
    assert_string_equal(json_string_value(json_object_get(o, "what")), "problem");
    assert_int_equal(json_array_size(json_object_get(o, "components")), 8);
    assert_near(json_number_value(json_object_get(o, "t_end")), 321.8122, 0);
    assert_non_null(strstr(json_string_value(json_object_get(o, "html")), "<"));
    json_decref(o);
    dae_problem_destroy(p);
    assert_int_equal(dae_method_json(dae_method_find("radau5"), remember, &m), DAE_OK);
    o = parsed(&m);
    assert_int_equal(json_integer_value(json_object_get(o, "order_max")), 5);
    assert_true(json_array_size(json_object_get(o, "options")) > 0);
    json_decref(o);
    assert_int_equal(dae_formulation_json(dae_formulation_find("ggl"), remember, &m), DAE_OK);
    o = parsed(&m);
    assert_string_equal(json_string_value(json_object_get(o, "name")), "ggl");
    json_decref(o);
}

static void jacobians_that_are_given_are_told(void **state)
{
    /* an ODE with its Jacobian, M y' = f with its own, an ODE without */
    static const char *const what[] = {"hires", "chemakzo", "plei"};
    (void)state;
    for (int k = 0; k < 3; k++) {
        memory m = {0};
        dae_error err = {0};
        dae_problem *p = dae_problem_open(what[k], NULL, 0, &err);
        if (!p) fail_msg("%s", err.text);
        const dae_system *s = &p->system;
        const int given = k < 2;
        assert_int_equal(s->kind, k == 1 ? DAE_KIND_DAE : DAE_KIND_ODE);
        if (!given) p->system.ode.jac = NULL;
        assert_int_equal(dae_problem_json(p, remember, &m), DAE_OK);
        json_t *o = parsed(&m);
        assert_int_equal(json_is_true(json_object_get(o, "jacobian_given")), given);
        json_decref(o);
        dae_problem_destroy(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_the_registries),
        cmocka_unit_test(all_about_one),
        cmocka_unit_test(jacobians_that_are_given_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
