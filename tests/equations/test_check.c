/* `check` of equation files: one JSON object with the structure, the start and what a run takes; errors with line and column. */
#include <daedalus/equations.h>

#include "files.h"

#include <jansson.h>

static json_t *check(const char *text, const char *file, dae_status expected)
{
    static buffer b;
    dae_error err = {0};
    json_error_t bad;
    b.used = 0;
    assert_int_equal(dae_equations_check(text, strlen(text), file, NULL, 0, 1, collect, &b, &err), expected);
    json_t *o = json_loads(b.text, 0, &bad);
    if (!o) fail_msg("%s: %s", bad.text, b.text);
    return o;
}

/* What `export` says of the Jacobian: from 12 components on its pattern, below none; what it cannot say would be read wrongly. */
static void exported_jacobians_have_their_storage(void **state)
{
    static buffer b;
    static const char small[] = "var x = 1, y = 0\nx' = y\ny' = -x\nsolve t = 0 .. 1\n";
    static const char large[] = "param N = 30\nvar u[N] = 1\nfor i in 2..N\nu[i]' = u[i-1] - "
                                "u[i]\nend\nu[1]' = -u[1]\nsolve t = 0 .. 1\n";
    static const char dense[] = "s->structure.jacobian = (dae_pattern){.storage = DAE_DENSE}";
    dae_error err = {0};
    (void)state;
    b.used = 0;
    assert_int_equal(dae_equations_write_c(small, strlen(small), NULL, NULL, 0, collect, &b, &err), DAE_OK);
    assert_non_null(strstr(b.text, dense));
    assert_null(strstr(b.text, "jacobian_column"));
    b.used = 0;
    if (dae_equations_write_c(large, strlen(large), NULL, NULL, 0, collect, &b, &err) < 0)
        fail_msg("%s", err.text);
    assert_null(strstr(b.text, dense));
    assert_non_null(strstr(b.text, "DAE_SPARSE, .colptr = jacobian_column"));
}

static json_t *check_model(const char *name, dae_status expected)
{
    char path[200];
    size_t length;
    snprintf(path, sizeof path, "tests/equations/models/%s.deq", name);
    char *text = read_text(path, &length);
    text[length] = 0;
    json_t *o = check(text, path, expected);
    free(text);
    return o;
}

static int whole(const json_t *o, const char *key)
{
    return (int)json_integer_value(json_object_get(o, key));
}

static const char *word(const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));
    return text ? text : "";
}

static void pendulum_is_described(void **state)
{
    json_t *o = check_model("pendulum", DAE_OK);
    const json_t *offsets = json_object_get(o, "offsets"), *states = json_object_get(o, "states"), *first;
    (void)state;
    assert_string_equal(word(o, "kind"), "equations");
    assert_string_equal(word(o, "route"), "descriptor");
    assert_string_equal(word(o, "solver"), "phem56");
    assert_int_equal(whole(o, "index"), 3);
    assert_int_equal(whole(o, "dof"), 2);
    assert_int_equal(whole(o, "equations"), 5);
    assert_int_equal(whole(o, "largest_block"), 5);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(offsets, "c"), 4)), 2);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(offsets, "d"), 0)), 2);
    assert_string_equal(json_string_value(json_array_get(states, 0)), "y");
    assert_string_equal(json_string_value(json_array_get(states, 1)), "vy");
    first = json_array_get(json_object_get(o, "initial"), 0);
    assert_string_equal(word(first, "name"), "x");
    assert_string_equal(word(first, "why"), "given");
    assert_near(json_number_value(json_object_get(first, "found")), 1, 0);
    assert_int_equal(json_array_size(json_object_get(o, "errors")), 0);
    json_decref(o);
}

static void repairs_are_warnings(void **state)
{
    json_t *o = check_model("transamp", DAE_OK);
    const json_t *warnings = json_object_get(o, "warnings");
    (void)state;
    assert_int_equal(json_array_size(warnings), 3);
    assert_string_equal(word(json_array_get(warnings, 1), "where"), "line 10");
    assert_non_null(strstr(word(json_array_get(warnings, 1), "text"), "(line 10) + (line 11)"));
    assert_int_equal(whole(o, "combinations"), 3);
    assert_string_equal(word(o, "route"), "mass");
    json_decref(o);
}

static void errors_have_their_place(void **state)
{
    json_t *o = check("model m\nvar x = 1\nx' = omga*x\nx' = 3*yy\nsolve t = 0 .. 1\n", NULL, DAE_ERR_INPUT);
    const json_t *errors = json_object_get(o, "errors");
    (void)state;
    assert_int_equal(json_array_size(errors), 2);
    assert_int_equal(whole(json_array_get(errors, 0), "line"), 3);
    assert_int_equal(whole(json_array_get(errors, 0), "column"), 6);
    assert_int_equal(whole(json_array_get(errors, 1), "line"), 4);
    json_decref(o);
    o = check_model("dup", DAE_ERR_INPUT);
    assert_string_equal(word(json_array_get(json_object_get(o, "errors"), 0), "text"),
                        "rod follows from rod2 and can be removed");
    json_decref(o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exported_jacobians_have_their_storage),
        cmocka_unit_test(pendulum_is_described),
        cmocka_unit_test(repairs_are_warnings),
        cmocka_unit_test(errors_have_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
