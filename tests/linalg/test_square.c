#include "test.h"

#include "linalg/square.h"

/* Rows have to be exchanged twice; the solution is (1, -2, 3). */
static void square_exchanges_rows(void **state)
{
    (void)state;
    const double a[] = {0, 2, 4, 1, 0, 2, 3, 1, 2}; /* columns */
    double b[] = {7, 5, 6}, room[12];
    assert_int_equal(dae_square_solve(3, a, b, room, 1e-9), 0);
    assert_near(b[0], 1, 1e-15);
    assert_near(b[1], -2, 1e-15);
    assert_near(b[2], 3, 1e-15);
}

/* Nearly dependent rows, and numbers that are not finite: refused, and b is what it was. */
static void square_refuses_what_is_not_regular(void **state)
{
    (void)state;
    const double nearly[] = {1, 1, 1, 1 + 1e-12}, wrong[] = {1, NAN, 0, 1};
    double b[] = {3, 4}, room[6];
    assert_int_equal(dae_square_solve(2, nearly, b, room, 1e-9), 1);
    assert_int_equal(dae_square_solve(2, nearly, b, room, 1e-14), 0);
    b[0] = 3, b[1] = 4;
    assert_int_equal(dae_square_solve(2, wrong, b, room, 1e-9), 1);
    assert_near(b[0], 3, 0);
    assert_near(b[1], 4, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(square_exchanges_rows),
        cmocka_unit_test(square_refuses_what_is_not_regular),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
