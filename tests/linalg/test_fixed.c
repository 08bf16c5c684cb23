#include "linalg/fixed.h"

#include "test.h"

/* [4 1; 2 3], eliminated in the natural order: L = [1; 1/2 1], U = [4 1; 0 5/2]. */
static const int colptr[] = {0, 2, 4}, rowind[] = {0, 1, 0, 1}, natural[] = {0, 1}, one_block[] = {0, 2};
static const int Lp[] = {0, 2, 3}, Li[] = {0, 1, 1}, Up[] = {0, 1, 3}, Ui[] = {0, 1, 0};
static const dae_fixed_order order = {natural, natural, one_block, 1, Lp, Li, Up, Ui};

static void fixed_solves_by_hand(void **state)
{
    (void)state;
    const double value[] = {4, 2, 1, 3};
    dae_fixed *f = dae_fixed_create(2, colptr, rowind, value, 0, &order);
    assert_non_null(f);
    assert_int_equal(dae_fixed_factor(f, value, 1e-6), 0);
    double x[] = {6, 8}; /* of (1, 2) */
    dae_fixed_solve(f, x, NULL);
    assert_near(x[0], 1, 1e-15);
    assert_near(x[1], 2, 1e-15);
    dae_fixed_destroy(f);
}

/* The same matrix times 1 + i. */
static void fixed_solves_complex_by_hand(void **state)
{
    (void)state;
    const double value[] = {4, 4, 2, 2, 1, 1, 3, 3};
    dae_fixed *f = dae_fixed_create(2, colptr, rowind, value, 1, &order);
    assert_non_null(f);
    assert_int_equal(dae_fixed_factor(f, value, 1e-6), 0);
    double re[] = {6, 8}, im[] = {6, 8};
    dae_fixed_solve(f, re, im);
    assert_near(re[0], 1, 1e-15);
    assert_near(re[1], 2, 1e-15);
    assert_near(im[0], 0, 1e-15);
    assert_near(im[1], 0, 1e-15);
    dae_fixed_destroy(f);
}

/* Two blocks: [4 1; 0 3], the element above them is not factored. */
static void fixed_keeps_what_lies_above_the_blocks(void **state)
{
    (void)state;
    const int cp[] = {0, 1, 3}, ri[] = {0, 0, 1}, blocks[] = {0, 1, 2}, p[] = {0, 1, 2}, i[] = {0, 1};
    const double value[] = {4, 1, 3};
    const dae_fixed_order two = {natural, natural, blocks, 2, p, i, p, i};
    dae_fixed *f = dae_fixed_create(2, cp, ri, value, 0, &two);
    assert_non_null(f);
    assert_int_equal(dae_fixed_factor(f, value, 1e-6), 0);
    double x[] = {6, 6};
    dae_fixed_solve(f, x, NULL);
    assert_near(x[0], 1, 1e-15);
    assert_near(x[1], 2, 1e-15);
    dae_fixed_destroy(f);
}

/* A small first pivot makes the second column grow by its inverse: refused below the limit, and zero always.
 */
static void fixed_refuses_pivots_that_went_bad(void **state)
{
    (void)state;
    const double good[] = {1, 1, 1, 3}, small[] = {1e-8, 1, 1, 3}, zero[] = {0, 1, 1, 3},
                 last[] = {1, 1, 1, 1};
    dae_fixed *f = dae_fixed_create(2, colptr, rowind, good, 0, &order);
    assert_non_null(f);
    assert_int_equal(dae_fixed_factor(f, good, 1e-6), 0);
    assert_int_equal(dae_fixed_factor(f, small, 1e-6), 2);
    assert_int_equal(dae_fixed_factor(f, small, 1e-9), 0);
    assert_int_equal(dae_fixed_factor(f, zero, 1e-6), 1);
    dae_fixed_destroy(f);
    f = dae_fixed_create(2, colptr, rowind, last, 0, &order);
    assert_non_null(f);
    assert_int_equal(dae_fixed_factor(f, last, 1e-6), 2); /* singular */
    dae_fixed_destroy(f);
}

/* A factor pattern that lacks what the matrix holds. */
static void fixed_create_refuses_an_order_that_does_not_fit(void **state)
{
    (void)state;
    const int p[] = {0, 1, 2}, i[] = {0, 1};
    const double value[] = {4, 2, 1, 3};
    const dae_fixed_order wrong = {natural, natural, one_block, 1, p, i, p, i};
    assert_null(dae_fixed_create(2, colptr, rowind, value, 0, &wrong));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixed_solves_by_hand),
        cmocka_unit_test(fixed_solves_complex_by_hand),
        cmocka_unit_test(fixed_keeps_what_lies_above_the_blocks),
        cmocka_unit_test(fixed_refuses_pivots_that_went_bad),
        cmocka_unit_test(fixed_create_refuses_an_order_that_does_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
