#include "test.h"

#include <daedalus/daedalus.h>

#include "core/error.h"

static const dae_status all[] = {
#define X(name, value, sentence, hint) name,
    DAE_STATUS_LIST(X)
#undef X
};
enum { COUNT = sizeof all / sizeof *all };

static void every_code_has_name_text_and_value(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT; i++) {
        assert_memory_equal(dae_status_name(all[i]), "DAE_", 4);
        assert_true(strlen(dae_status_text(all[i])) >= 4);
        assert_string_not_equal(dae_status_text(all[i]), "unknown status");
        assert_non_null(dae_status_hint(all[i]));
        if (all[i] < 0) assert_true(strlen(dae_status_hint(all[i])) > 4);
        for (int j = 0; j < i; j++) assert_int_not_equal(all[i], all[j]);
    }
    assert_string_equal(dae_status_name(DAE_OK), "DAE_OK");
    assert_string_equal(dae_status_name(DAE_ERR_MAX_STEPS), "DAE_ERR_MAX_STEPS");
    assert_string_equal(dae_status_text(DAE_ERR_INCONSISTENT), "no consistent initial values were found");
    assert_string_equal(dae_status_hint(DAE_ERR_MAX_STEPS), "raise max_steps");
}

static void codes_that_do_not_exist_are_called_unknown(void **state)
{
    (void)state;
    assert_string_equal(dae_status_name((dae_status)77), "unknown status");
    assert_string_equal(dae_status_text((dae_status)-77), "unknown status");
    assert_string_equal(dae_status_hint((dae_status)77), "");
}

static void fail_fills_the_error_and_returns_the_status(void **state)
{
    (void)state;
    dae_error err = {0};
    assert_int_equal(dae_fail(&err, DAE_ERR_INPUT, 1.5, "%s = %g", "rtol", -1.0), DAE_ERR_INPUT);
    assert_int_equal(err.status, DAE_ERR_INPUT);
    assert_near(err.t, 1.5, 0);
    assert_string_equal(err.text, "rtol = -1");
    assert_int_equal(dae_fail(NULL, DAE_ERR_MEMORY, NAN, "not kept"), DAE_ERR_MEMORY);
    char big[2000];
    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = 0;
    dae_fail(&err, DAE_ERR_INPUT, 0, "%s", big);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
}

static char logged[2048];

static void keep_log(dae_log_level level, const char *text, void *user)
{
    ++*(int *)user;
    snprintf(logged, sizeof logged, "%d %s", (int)level, text);
}

static void log_is_written_up_to_its_level(void **state)
{
    (void)state;
    int lines = 0;
    dae_options opt = dae_options_default();
    dae_log(&opt, DAE_LOG_ERROR, "%s", "nobody listens");
    opt.log = keep_log;
    opt.log_user = &lines;
    opt.log_level = DAE_LOG_INFO;
    dae_log(&opt, DAE_LOG_STEP, "%s", "too fine");
    assert_int_equal(lines, 0);
    dae_log(&opt, DAE_LOG_INFO, "t=%.3g", 0.25);
    assert_int_equal(lines, 1);
    assert_string_equal(logged, "3 t=0.25");
}

static void nearest_word_is_at_most_two_edits_away(void **state)
{
    (void)state;
    static const char *const list = "radau5|radau|dopri5|dop853|bs23";
    const char *const cases[][2] = {
        {"radau5", "radau5"}, {"raddau5", "radau5"}, {"rada", "radau"}, {"dopri", "dopri5"},
        {"dop583", "dop853"}, {"bs32", "bs23"},      {"lsode", ""},     {"", ""},
        {"radau7", "radau5"}};
    char near[64];
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        dae_nearest_word(cases[k][0], list, near, sizeof near);
        if (strcmp(near, cases[k][1]) != 0)
            fail_msg("\"%s\" is near \"%s\", not \"%s\"", cases[k][0], cases[k][1], near);
    }
    dae_nearest_word("a-word-of-more-than-thirty-one-letters", list, near, sizeof near);
    assert_string_equal(near, "");
    char tiny[4];
    dae_nearest_word("radau5", list, tiny, sizeof tiny);
    assert_string_equal(tiny, "");
    dae_nearest_word("p", "O|P|q", near, sizeof near); /* the other case is nearer than another letter */
    assert_string_equal(near, "P");
    dae_nearest_word("joinst", "joint|joints", near,
                     sizeof near); /* exchanged letters are nearer than one more */
    assert_string_equal(near, "joints");
    dae_nearest_word("radau5", "", near, sizeof near);
    assert_string_equal(near, "");
    dae_nearest_word("radau5", NULL, near, sizeof near);
    assert_string_equal(near, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_has_name_text_and_value),
        cmocka_unit_test(codes_that_do_not_exist_are_called_unknown),
        cmocka_unit_test(fail_fills_the_error_and_returns_the_status),
        cmocka_unit_test(log_is_written_up_to_its_level),
        cmocka_unit_test(nearest_word_is_at_most_two_edits_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
