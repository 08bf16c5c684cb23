/* Least steps of assembly by sparse factors: as the dense ones, and none where rows depend on each other.
 * A: row i has entries in the columns i .. i+5, as rows of neighbouring bodies have. */
#include "test.h"

#include "linalg/least_squares.h"
#include "multibody/sparse_least.h"

#include <daedalus/daedalus.h>

enum { ROWS = 80, COLUMNS = 96 };

static void fill(double *A, double *b)
{
    memset(A, 0, sizeof(double) * ROWS * COLUMNS);
    for (int i = 0; i < ROWS; i++) {
        for (int k = 0; k < 6; k++) A[i + (i + k) * ROWS] = sin(1.3 * i + 2.1 * k) + (k == 2 ? 2 : 0);
        b[i] = cos(0.7 * i);
    }
}

/* By columns, without zeros. */
static int least(int rows, int columns, const double *A, double *b)
{
    static int colptr[COLUMNS + 1], rowind[ROWS * COLUMNS];
    static double value[ROWS * COLUMNS];
    int count = 0;
    for (int c = 0; c < columns; c++) {
        colptr[c] = count;
        for (int i = 0; i < rows; i++) {
            if (A[i + c * rows] != 0) rowind[count] = i, value[count++] = A[i + c * rows];
        }
    }
    colptr[columns] = count;
    return mbs_sparse_least(rows, columns, colptr, rowind, value, b);
}

static void as_the_dense_ones(void **state)
{
    (void)state;
    static double A[ROWS * COLUMNS], same[ROWS * COLUMNS], b[2][COLUMNS];
    fill(A, b[0]);
    memcpy(same, A, sizeof A);
    memcpy(b[1], b[0], sizeof b[0]);
    assert_int_equal(least(ROWS, COLUMNS, A, b[0]), 0);
    assert_memory_equal(A, same, sizeof A);
    assert_int_equal(dae_least_squares(ROWS, COLUMNS, A, b[1], 1e-10), ROWS);
    for (int i = 0; i < COLUMNS; i++) assert_near(b[0][i], b[1][i], 1e-13);
}

/* One row twice, and with a factor; a row of zeros; and what is too small for it to pay. b stays as it was. */
static void not_where_rows_depend_on_each_other(void **state)
{
    (void)state;
    static double A[ROWS * COLUMNS], b[COLUMNS], same[COLUMNS];
    static const double factor[] = {1, -0.3, 0};
    for (int k = 0; k < 3; k++) {
        fill(A, b);
        for (int c = 0; c < COLUMNS; c++) A[50 + c * ROWS] = factor[k] * A[20 + c * ROWS];
        b[50] = factor[k] * b[20];
        memcpy(same, b, sizeof b);
        assert_int_equal(least(ROWS, COLUMNS, A, b), 1);
        assert_memory_equal(b, same, sizeof b);
    }
    assert_int_equal(least(10, COLUMNS, A, b), 1);
    assert_int_equal(least(COLUMNS, ROWS, A, b), 1);
}

/* A chain in space whose last rod is given a turn that does not fit: the velocities that start are the nearest. Their sum of
 * squares is least where they are at right angles to their change, and they fit the joints. */
static void velocities_of_a_long_chain(void **state)
{
    (void)state;
    enum { N = 24 };
    mbs_model *model = mbs_model_create("chain", MBS_SPATIAL);
    for (int k = 0; k < N; k++) {
        char body[16], joint[16];
        snprintf(body, sizeof body, "b%d", k + 1);
        snprintf(joint, sizeof joint, "j%d", k + 1);
        mbs_model_add_body(model, &(mbs_body){.name = body,
                                              .mass = 1,
                                              .inertia = {0.01, 1 / 12.0, 1 / 12.0},
                                              .center = {k + 0.5},
                                              .q = {1},
                                              .omega = {0, k == N - 1 ? 0.5 : 0, k == N - 1 ? 0.25 : 0}});
        mbs_model_add_joint(model, &(mbs_joint){.name = joint,
                                                .type = "revolute",
                                                .a = k,
                                                .b = k + 1,
                                                .at = {k},
                                                .axis = {0, k % 2, 1 - k % 2}});
    }
    dae_error err = {0};
    mbs_mechanism *m = mbs_mechanism_create(model, &err);
    assert_non_null(m);
    const dae_mech *s = &mbs_mechanism_system(m)->mech;
    int n = s->np + s->nv;
    double *y = calloc((size_t)(2 * n), sizeof *y), *given = y + n, angle = 0, size = 0;
    double *G = calloc((size_t)(s->nlambda * s->nv), sizeof *G);
    assert_int_equal(s->nlambda, 5 * N);
    mbs_mechanism_described(m, given);
    assert_int_equal(mbs_mechanism_initial(m, y, &err), DAE_OK);
    s->constraint(&(dae_mech_point){.p = y}, NULL, G, s->user);
    for (int i = 0; i < s->nlambda; i++) {
        double rate = 0;
        for (int c = 0; c < s->nv; c++) rate += G[i + c * s->nlambda] * y[s->np + c];
        assert_near(rate, 0, 1e-13);
    }
    for (int c = s->np; c < n; c++) {
        angle += y[c] * (y[c] - given[c]);
        size += y[c] * y[c];
    }
    assert_true(size > 1e-3);
    assert_near(angle, 0, 1e-13);
    free(G);
    free(y);
    mbs_mechanism_destroy(m);
    mbs_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_the_dense_ones),
        cmocka_unit_test(not_where_rows_depend_on_each_other),
        cmocka_unit_test(velocities_of_a_long_chain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
