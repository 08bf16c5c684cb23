/* Parts of tables and pictures of many columns: which rows and values are drawn. */
#include "test.h"

#include <daedalus/field.h>

#include <math.h>
#include <string.h>

typedef struct text {
    char text[20000];
    size_t length;
} text;

static int take(const char *piece, size_t length, void *user)
{
    text *t = user;
    assert_true(t->length + length < sizeof t->text);
    memcpy(t->text + t->length, piece, length);
    t->text[t->length += length] = 0;
    return 0;
}

/* t = 0 .. 9, angle = t, u1 = t, u2 = 10 t, u3 = 100 t */
static dae_table *numbers(void)
{
    static const char *const name[] = {"t", "angle", "u1", "u2", "u3"};
    dae_table *t = dae_table_create(5, 10);
    for (int k = 0; k < 5; k++) dae_table_column(t, k, name[k], "");
    for (int i = 0; i < 10; i++) {
        dae_table_set(t, i, 0, i);
        dae_table_set(t, i, 1, i);
        dae_table_set(t, i, 2, i);
        dae_table_set(t, i, 3, 10 * i);
        dae_table_set(t, i, 4, 100 * i);
    }
    return t;
}

static void part_has_the_rows_between_and_angles_modulo(void **state)
{
    (void)state;
    const double pi = 3.14159265358979323846;
    dae_table *t = numbers();
    int angle = 1;
    dae_table *p = dae_table_part(t, 0, 2, 5, &angle, 1);
    assert_non_null(p);
    assert_int_equal(p->nrow, 4);
    assert_true(p->value[0] == 2 && p->value[3] == 5);
    assert_near(p->value[4], 2, 0);
    assert_near(p->value[5], 3, 0);
    assert_true(isinf(p->value[6])); /* 4 - 2 pi: the line is interrupted */
    assert_near(p->value[7], 5 - 2 * pi, 1e-15);
    assert_true(p->value[8] == 2); /* others stay */
    dae_table_destroy(p);
    dae_table_destroy(t);
}

static void field_scripts_have_the_values(void **state)
{
    (void)state;
    static const int u[] = {2, 3, 4}, angle[] = {1, 1, 1};
    static const double at[] = {2.5};
    static text out;
    dae_table *t = numbers();
    dae_field_options o = {
        .picture = DAE_FIELD_MAP, .y = u, .n = 3, .width = 1, .title = "a", .terminal = "svg"};
    assert_int_equal(dae_field_plot(t, &o, take, &out), DAE_OK);
    assert_non_null(strstr(out.text, "\n7 0.5 70\n")); /* t, x in the middle of the width, u2 */
    o = (dae_field_options){
        .picture = DAE_FIELD_SHAPES, .x = angle, .y = u, .n = 3, .at = at, .nat = 1, .terminal = "svg"};
    out.length = 0;
    assert_int_equal(dae_field_plot(t, &o, take, &out), DAE_OK);
    assert_non_null(strstr(out.text, " 2.5 25 2.5\n")); /* between rows linearly */
    o = (dae_field_options){.picture = DAE_FIELD_PATHS, .x = angle, .y = u, .n = 3, .terminal = "svg"};
    out.length = 0;
    assert_int_equal(dae_field_plot(t, &o, take, &out), DAE_OK);
    assert_non_null(strstr(out.text, " 9 9 9 90 9 900\n"));
    o = (dae_field_options){
        .picture = DAE_FIELD_SPHERE, .x = angle, .y = u, .z = u, .n = 1, .terminal = "svg"};
    out.length = 0;
    assert_int_equal(dae_field_plot(t, &o, take, &out), DAE_OK);
    assert_non_null(strstr(out.text, "\n 9 9 9\n")); /* the last row */
    o.n = 0;
    assert_int_equal(dae_field_plot(t, &o, take, &out), DAE_ERR_INPUT);
    o = (dae_field_options){.picture = DAE_FIELD_PATHS, .y = u, .n = 3, .terminal = "svg"};
    assert_int_equal(dae_field_plot(t, &o, take, &out), DAE_ERR_INPUT);
    dae_table_destroy(t);
}

static int count_points(const char *piece, size_t length, void *user)
{
    long *lines = user;
    for (size_t i = 0; i < length; i++) *lines += piece[i] == '\n';
    return 0;
}

/* Two circles in one table, one behind the other as files are drawn together: 500 turns of 40 points each. Every turn stays
 * round (points further apart than a thousandth are kept); a curve that stands still is one point. */
static void phase_plots_of_many_points_stay_round(void **state)
{
    (void)state;
    enum { POINTS = 20000 };
    static const int y[] = {1, 2};
    static const char *const name[] = {"x", "a", "b"};
    dae_table *t = dae_table_create(3, 2 * POINTS);
    for (int k = 0; k < 3; k++) dae_table_column(t, k, name[k], "");
    for (int i = 0; i < 2 * POINTS; i++) {
        double angle = 2 * 3.14159265358979323846 * (i < POINTS ? i / 40.0 : 0);
        dae_table_set(t, i, 0, cos(angle));
        dae_table_set(t, i, 1, i < POINTS ? sin(angle) : NAN);
        dae_table_set(t, i, 2, i < POINTS ? NAN : sin(angle));
    }
    dae_table_plot_options o = {.x = 0, .y = y, .ny = 2, .lines = 1, .terminal = "svg"};
    long lines = 0;
    assert_int_equal(dae_table_plot(t, &o, count_points, &lines), DAE_OK);
    assert_in_range(lines, POINTS, POINTS + 100);
    dae_table_destroy(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(part_has_the_rows_between_and_angles_modulo),
                                       cmocka_unit_test(field_scripts_have_the_values),
                                       cmocka_unit_test(phase_plots_of_many_points_stay_round)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
