/* Models being built: numbers by name, however many there are. */
#include "mechanics.h"

#include "multibody/model.h"

enum { MANY = 700 };

static void assert_found(const mbs_model *m)
{
    char name[16];
    for (int k = 0; k < MANY; k++) {
        snprintf(name, sizeof name, "b%d", k);
        assert_int_equal(mbs_find_body(m, name), k + 1);
        snprintf(name, sizeof name, "p%d", k);
        assert_int_equal(mbs_find_point(m, name), k);
        snprintf(name, sizeof name, "j%d", k);
        assert_int_equal(mbs_find_joint(m, name), k);
    }
    assert_int_equal(mbs_find_body(m, "ground"), 0);
    assert_int_equal(mbs_find_body(m, "p0"), -1);
    assert_int_equal(mbs_find_body(m, NULL), -1);
    assert_int_equal(mbs_find_point(m, "b0"), -1);
    assert_int_equal(mbs_find_joint(m, ""), -1);
}

static void items_are_found_by_name(void **state)
{
    (void)state;
    mbs_model *m = mbs_model_create("many", MBS_SPATIAL);
    char name[16];
    assert_int_equal(mbs_find_body(m, "b0"), -1); /* nothing there yet */
    for (int k = 0; k < MANY; k++) {
        snprintf(name, sizeof name, "b%d", k);
        mbs_model_add_body(m, &(mbs_body){.name = name, .mass = 1});
        snprintf(name, sizeof name, "p%d", k);
        mbs_model_add_point(m, &(mbs_point){.name = name, .body = k});
        snprintf(name, sizeof name, "j%d", k);
        mbs_model_add_joint(m, &(mbs_joint){.name = name, .type = "fixed", .a = k, .b = k + 1});
    }
    assert_found(m);
    mbs_model *copy = mbs_model_copy(m);
    mbs_model_destroy(m);
    assert_found(copy);
    mbs_model_destroy(copy);
}

/* A mechanism with such names is refused later; until then the first one counts, and what has no name is not found. */
static void the_first_of_a_name_is_found(void **state)
{
    static const char *const name[] = {"a", NULL, "b", "a", "b", NULL, "c"};
    (void)state;
    mbs_model *m = mbs_model_create("twice", MBS_SPATIAL);
    for (int k = 0; k < 7; k++) mbs_model_add_body(m, &(mbs_body){.name = name[k], .mass = 1});
    assert_int_equal(mbs_find_body(m, "a"), 1);
    assert_int_equal(mbs_find_body(m, "b"), 3);
    assert_int_equal(mbs_find_body(m, "c"), 7);
    mbs_model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_are_found_by_name),
        cmocka_unit_test(the_first_of_a_name_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
