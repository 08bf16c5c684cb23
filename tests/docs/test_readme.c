/* What the table of README.md lists exists: every name in its rows "methods" and "problems" is registered. Runs in
 * the source folder. */
#include "test.h"

#include <daedalus/daedalus.h>

/* Calls `known` with every `name` of the row that begins with start; their number. */
static int check_row(const char *start, int (*known)(const char *name))
{
    char line[4096];
    int count = 0;
    FILE *file = fopen("README.md", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, start, strlen(start)) != 0) continue;
        for (char *begin = strchr(line, '`'), *end; begin && (end = strchr(begin + 1, '`'));
             begin = strchr(end + 1, '`')) {
            *end = 0;
            if (!known(begin + 1)) fail_msg("README.md lists %s, which does not exist", begin + 1);
            count++;
        }
    }
    fclose(file);
    return count;
}

static int is_method(const char *name)
{
    return dae_method_find(name) != NULL;
}

static int is_problem(const char *name)
{
    return dae_problem_find(name) != NULL;
}

static void readme_lists_methods_that_exist(void **state)
{
    (void)state;
    assert_true(check_row("| methods |", is_method) > 0);
}

static void readme_lists_problems_that_exist(void **state)
{
    (void)state;
    assert_true(check_row("| problems |", is_problem) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readme_lists_methods_that_exist),
        cmocka_unit_test(readme_lists_problems_that_exist),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
