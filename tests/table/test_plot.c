#include "test.h"

#include <daedalus/study.h>

#include <string.h>

static char script[65536];

static int remember(const char *text, size_t length, void *user)
{
    (void)user;
    if (strlen(script) + length >= sizeof script) return -1;
    strncat(script, text, length);
    return 0;
}

static const char csv[] =
    "t,a,b,word,same,c\n# s,m,m,,,1/s\n0,1,0.5,x,7,100\n1,2,0.25,y,7,200\n2,3,0.125,z,7,300\n";

static void table_plot_chooses_columns_that_vary(void **state)
{
    dae_error err;
    int y[8];
    (void)state;
    dae_table *t = dae_table_read(csv, strlen(csv), &err);
    assert_non_null(t);
    assert_int_equal(dae_table_plot_choose(t, 0, y, 8), 3);
    assert_int_equal(y[0], 1);
    assert_int_equal(y[1], 2);
    assert_int_equal(y[2], 5);
    assert_int_equal(dae_table_plot_choose(t, 1, y, 1), 1);
    assert_int_equal(y[0], 0);
    dae_table_destroy(t);
}

static void table_plot_shares_panels_by_unit(void **state)
{
    dae_error err;
    int y[] = {1, 2, 5};
    dae_table *t = dae_table_read(csv, strlen(csv), &err);
    dae_table_plot_options o = {.x = 0, .y = y, .ny = 3, .title = "a title", .terminal = "svg"};
    (void)state;
    script[0] = 0;
    assert_int_equal(dae_table_plot(t, &o, remember, NULL), DAE_OK);
    assert_non_null(strstr(script, "multiplot layout 2,1"));
    assert_non_null(strstr(script, "\"t [s]\""));
    assert_non_null(strstr(script, "\"[m]\""));
    assert_non_null(strstr(script, "\"c [1/s]\""));
    assert_non_null(strstr(script, "\"a title\""));
    assert_non_null(strstr(script, "\n1 2 0.25 200\n"));
    assert_non_null(strstr(script, "with lines"));
    o.log_x = o.log_y = 1; /* t = 0 is left out */
    script[0] = 0;
    assert_int_equal(dae_table_plot(t, &o, remember, NULL), DAE_OK);
    assert_non_null(strstr(script, "set logscale x"));
    assert_non_null(strstr(script, "set logscale y"));
    assert_null(strstr(script, "\n0 1 0.5 100\n"));
    o.log_x = o.log_y = 0;
    o.x = 2; /* falls: still a line */
    o.ny = 1;
    script[0] = 0;
    assert_int_equal(dae_table_plot(t, &o, remember, NULL), DAE_OK);
    assert_non_null(strstr(script, "with lines"));
    dae_table_destroy(t);
}

static void table_plot_draws_points_where_x_goes_back(void **state)
{
    static const char text[] = "mu,z\n3,1\n1,2\n2,3\n";
    dae_error err;
    int y[] = {1};
    dae_table *t = dae_table_read(text, strlen(text), &err);
    dae_table_plot_options o = {.x = 0, .y = y, .ny = 1, .terminal = "svg"};
    (void)state;
    script[0] = 0;
    assert_int_equal(dae_table_plot(t, &o, remember, NULL), DAE_OK);
    assert_non_null(strstr(script, "with points"));
    assert_non_null(strstr(script, "set xrange [1:3]"));
    o.ny = 0;
    assert_int_equal(dae_table_plot(t, &o, remember, NULL), DAE_ERR_INPUT);
    dae_table_destroy(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_plot_chooses_columns_that_vary),
        cmocka_unit_test(table_plot_shares_panels_by_unit),
        cmocka_unit_test(table_plot_draws_points_where_x_goes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
