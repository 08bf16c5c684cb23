/* One mechanism, many threads: each gets the numbers that one thread gets, bit for bit, and all of them at the same time: more
 * threads than any fixed number of work spaces hold an evaluation open until the last one has begun. */
#include "mechanics.h"

#include "multibody/mechanism.h"

#include <pthread.h>

enum { THREADS = 40, ROUNDS = 50 };

typedef struct work {
    const mbs_mechanism *c;
    const double *y;
    pthread_barrier_t *all;
    double sum;
} work;

/* Forces, their derivatives and sensors at states that differ from round to round. */
static double evaluate(const mbs_mechanism *c, const double *y, int n)
{
    const dae_mech *s = &mbs_mechanism_system(c)->mech;
    double z[32], f[32], J[32 * 32], sum = 0;
    dae_energy e;
    for (int r = 0; r < n; r++) {
        memcpy(z, y, (size_t)(s->np + s->nv) * sizeof *z);
        z[0] += 0.01 * r;
        z[s->np] += 0.02 * r;
        dae_mech_point x = {.t = 0.1 * r, .p = z, .v = z + s->np};
        memset(J, 0, sizeof J);
        assert_int_equal(s->force(&x, f, s->user), 0);
        assert_int_equal(s->dfdp(&x, J, s->user), 0);
        assert_int_equal(mbs_mechanism_energy(c, x.t, z, &e), DAE_OK);
        for (int i = 0; i < s->nv; i++) sum += f[i] + J[i * (s->nv + 1)];
        sum += e.kinetic + e.potential;
    }
    return sum;
}

static void *run(void *user)
{
    work *w = user;
    mbs_context x = mbs_begin(w->c, 0, w->y, w->y + w->c->np);
    mbs_context d = mbs_begin_derivatives(w->c, 0, w->y, w->y + w->c->np);
    pthread_barrier_wait(w->all); /* all 40 are open now */
    mbs_end(&d);
    mbs_end(&x);
    w->sum = evaluate(w->c, w->y, ROUNDS);
    return NULL;
}

static void mechanism_is_shared_by_many_threads(void **state)
{
    (void)state;
    mbs_model *m = mbs_model_create("pair", MBS_SPATIAL);
    mbs_model_set_gravity(m, 0, 0, -9.81);
    mbs_model_add_body(m, &(mbs_body){.name = "one", .mass = 2, .inertia = {1, 1.2, 0.9}});
    mbs_model_add_body(
        m, &(mbs_body){.name = "two", .mass = 1, .inertia = {1, 1.1, 0.8}, .center = {1, 0.3, 0}});
    mbs_model_add_point(m, &(mbs_point){.name = "A", .body = 1, .r = {0.2, 0.1, 0}});
    mbs_model_add_point(m, &(mbs_point){.name = "B", .body = 2, .r = {-0.2, 0.1, 0.3}});
    mbs_model_add_joint(m, &(mbs_joint){.name = "J", .type = "spherical", .a = 0, .b = 1});
    mbs_model_add_force(m, &(mbs_force){.name = "S",
                                        .type = "spring",
                                        .point_a = "A",
                                        .point_b = "B",
                                        .field = {{"k", .number = 50}, {"c", .number = 2}}});
    mbs_mechanism *c = compile(m);
    double y[32];
    dae_error err = {0};
    assert_int_equal(mbs_mechanism_initial(c, y, &err), DAE_OK);
    double alone = evaluate(c, y, ROUNDS);
    static work w[THREADS];
    pthread_t thread[THREADS];
    pthread_barrier_t all;
    pthread_barrier_init(&all, NULL, THREADS);
    for (int k = 0; k < THREADS; k++) {
        w[k] = (work){c, y, &all, 0};
        assert_int_equal(pthread_create(&thread[k], NULL, run, &w[k]), 0);
    }
    for (int k = 0; k < THREADS; k++) pthread_join(thread[k], NULL);
    for (int k = 0; k < THREADS; k++) assert_true(w[k].sum == alone);
    pthread_barrier_destroy(&all);
    mbs_mechanism_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(mechanism_is_shared_by_many_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
