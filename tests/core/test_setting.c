#include "test.h"

#include "core/setting.h"

typedef struct sample {
    double x;
    long many;
    int few;
    const char *word, *any;
} sample;

static const dae_option table[] = {
    {"x", DAE_OPTION_REAL, offsetof(sample, x), 1.5, NULL, 0, 10, NULL, "m", "a length"},
    {"many", DAE_OPTION_LONG, offsetof(sample, many), 1e10, NULL, 1, 0, NULL, "", "any number"},
    {"few", DAE_OPTION_INT, offsetof(sample, few), 3, NULL, 1, 0, NULL, "", "any number"},
    {"word", DAE_OPTION_NAME, offsetof(sample, word), 0, "red", 0, 0, "red|green|blue", "", "a color"},
    {"any", DAE_OPTION_NAME, offsetof(sample, any), 0, NULL, 0, 0, NULL, "", "any word"},
    {.name = NULL},
};

static void defaults_fill_every_field(void **state)
{
    (void)state;
    sample s;
    memset(&s, 0x55, sizeof s);
    dae_setting_defaults(table, &s);
    assert_near(s.x, 1.5, 0);
    assert_int_equal(s.many, 10000000000L);
    assert_int_equal(s.few, 3);
    assert_string_equal(s.word, "red");
    assert_null(s.any);
    dae_setting_defaults(NULL, &s);
}

static void values_are_read_by_type(void **state)
{
    (void)state;
    sample s = {0};
    dae_error err = {0};
    assert_int_equal(dae_setting_store(table, &s, "thing", "x", "2.5e-1", &err), DAE_OK);
    assert_int_equal(dae_setting_store(table, &s, "thing", "many", "3e10", &err), DAE_OK);
    assert_int_equal(dae_setting_store(table, &s, "thing", "few", "-7", &err), DAE_OK);
    assert_int_equal(dae_setting_store(table, &s, "thing", "word", "blue", &err), DAE_OK);
    assert_int_equal(dae_setting_store(table, &s, "thing", "any", "thing", &err), DAE_OK);
    assert_near(s.x, 0.25, 0);
    assert_int_equal(s.many, 30000000000L);
    assert_int_equal(s.few, -7);
    assert_string_equal(s.word, "blue");
    assert_string_equal(s.any, "thing");
}

static void wrong_values_change_nothing_and_say_why(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"x", "abc", "thing x: \"abc\" is not a number"},
        {"x", "", "thing x: \"\" is not a number"},
        {"x", "1 m", "thing x: \"1 m\" is not a number"},
        {"x", "nan", "thing x: \"nan\" is not a number"},
        {"x", "1e999", "thing x: \"1e999\" is not a number"},
        {"x", "-0.1", "thing x = -0.1 is outside its range 0 .. 10"},
        {"x", "10.0001", "thing x = 10.0001 is outside its range 0 .. 10"},
        {"few", "1.5", "thing few = 1.5 must be a whole number"},
        {"few", "3e9", "thing few = 3e9 is too large"},
        {"word", "re", "thing word = \"re\" is not one of red|green|blue"},
        {"word", "red|green", "thing word = \"red|green\" is not one of red|green|blue"},
        {"word", "", "thing word = \"\" is not one of red|green|blue"},
        {"wrd", "red", "there is no thing \"wrd\"; did you mean \"word\"?"},
        {"speed", "1", "there is no thing \"speed\"; known: x|many|few|word|any"},
        {"x", NULL, "thing x has no value"},
        {NULL, "1", "thing  has no name"},
    };
    sample s;
    dae_setting_defaults(table, &s);
    sample before = s;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        dae_error err = {0};
        assert_int_equal(dae_setting_store(table, &s, "thing", cases[k][0], cases[k][1], &err), DAE_ERR_INPUT);
        assert_string_equal(err.text, cases[k][2]);
    }
    assert_memory_equal(&s, &before, sizeof s);
    dae_error err = {0};
    assert_int_equal(dae_setting_store(NULL, &s, "thing", "x", "1", &err), DAE_ERR_INPUT);
    assert_string_equal(err.text, "there is no thing \"x\"; known: none");
}

static void words_are_checked_in_a_filled_object(void **state)
{
    (void)state;
    sample s;
    dae_error err = {0};
    dae_setting_defaults(table, &s);
    assert_int_equal(dae_setting_check_words(table, &s, "thing", &err), DAE_OK);
    s.word = NULL; /* not given */
    s.any = "whatever";
    assert_int_equal(dae_setting_check_words(table, &s, "thing", &err), DAE_OK);
    s.word = "purple";
    assert_int_equal(dae_setting_check_words(table, &s, "thing", &err), DAE_ERR_INPUT);
    assert_string_equal(err.text, "thing word = \"purple\" is not one of red|green|blue");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_fill_every_field),
        cmocka_unit_test(values_are_read_by_type),
        cmocka_unit_test(wrong_values_change_nothing_and_say_why),
        cmocka_unit_test(words_are_checked_in_a_filled_object),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
