/* Rows with the few entries that they have: those of the dense G, number by number. */
#include "mechanics.h"

#include "multibody/sparse_rows.h"

static const mbs_coordinate *coordinate_of(const mbs_joint_data *j)
{
    return j->main == MBS_SLIDE ? &j->slide : j->main == MBS_LENGTH ? &j->length : &j->angle;
}

/* Row i of s into x (nv). */
static void spread(const mbs_sparse_rows *s, int i, int nv, double *x)
{
    memset(x, 0, (size_t)nv * sizeof *x);
    for (int k = s->first[i]; k < s->first[i + 1]; k++) {
        assert_true(k == s->first[i] || s->column[k] > s->column[k - 1]);
        assert_true(s->value[k] != 0);
        x[s->column[k]] = s->value[k];
    }
}

static void check(const char *name)
{
    char path[80];
    dae_error err = {0};
    snprintf(path, sizeof path, "models/%s.json", name);
    mbs_model *model = mbs_model_load(path, &err);
    if (!model) fail_msg("%s: %s", name, err.text);
    mbs_mechanism *m = compile(model);
    size_t nrow = (size_t)m->nrow, nv = (size_t)m->nv;
    double *y = calloc((size_t)dae_system_size(mbs_mechanism_system(m)), sizeof *y),
           *G = calloc(nrow * nv + 2 * nv, sizeof *G), *x = G + nrow * nv, *r = x + nv;
    mbs_sparse_rows s = {0};
    assert_int_equal(mbs_sparse_rows_create(m, 1, &s), 1);
    random_state(&mbs_mechanism_system(m)->mech, y);
    mbs_context c = mbs_begin(m, 0.1, y, y + m->np);
    mbs_all_rows(&c, NULL, G, NULL, NULL);
    for (int again = 0; again < 2; again++) mbs_sparse_rows_set(&c, &s);
    assert_int_equal(s.rows, m->nrow);
    for (int i = 0; i < m->nrow; i++) {
        double all = 1;
        spread(&s, i, m->nv, x);
        for (size_t k = 0; k < nv; k++) {
            if (x[k] != G[k * nrow + (size_t)i]) fail_msg("%s: row %d, column %d", name, i, (int)k);
            all -= x[k] * y[(size_t)m->np + k];
        }
        assert_true(mbs_sparse_rows_subtract(&s, i, y + m->np, 1) == all);
    }
    if (m->njoint) {
        mbs_sparse_rows_add(&c, coordinate_of(&m->joint[0]), &s);
        mbs_coordinate_vector(&c, coordinate_of(&m->joint[0]), r);
        spread(&s, m->nrow, m->nv, x);
        for (size_t k = 0; k < nv; k++) assert_true(x[k] == r[k]);
    }
    mbs_end(&c);
    mbs_sparse_rows_destroy(&s);
    free(y), free(G);
    mbs_mechanism_destroy(m);
}

/* Plane and space, couplings of four bodies, drivers, rolling. */
static void rows_are_those_of_the_dense_matrix(void **state)
{
    static const char *const name[] = {"andrews", "slider_crank", "bricard", "robot",
                                       "rssp",    "rolling_disc", "hmmwv"};
    (void)state;
    for (size_t k = 0; k < sizeof name / sizeof *name; k++) check(name[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_are_those_of_the_dense_matrix)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
