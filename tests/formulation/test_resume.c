/* Checkpoints of mechanical runs: what a formulation keeps (coordinates, anchors, factors) goes with them, so that a
 * resumed run ends in the same bits. */
#include "formulation/mechanisms.h"

#define MIDDLE 0.37 /* of the interval, where runs are saved */

typedef struct run {
    dae_formulation *f;
    dae_integrator *it;
} run;

typedef struct set_up {
    const char *name, *method, *formulation;
    const dae_system *sys;
    const double *y0;
    double t_end, tol;
    const dae_setting *setting;
    int nsetting;
    long max_steps;
} set_up;

static run begin(const set_up *c)
{
    dae_options opt = dae_options_default(), inner;
    dae_error err = {0};
    double y[256];
    run r = {0};
    opt.method = c->method;
    opt.formulation = c->formulation;
    opt.rtol = opt.atol = c->tol;
    opt.setting = c->setting;
    opt.nsetting = c->nsetting;
    opt.max_steps = c->max_steps;
    r.f = dae_formulation_open(c->sys, &opt, &inner, &err);
    if (!r.f) fail_msg("%s, %s, %s: %s", c->name, c->formulation, c->method, err.text);
    r.it = dae_integrator_create(dae_formulation_system(r.f), &inner, &err);
    if (!r.it || dae_formulation_attach(r.f, r.it, &err) < 0 ||
        dae_formulation_lift(r.f, 0, c->y0, y, &err) < 0 ||
        dae_integrator_start(r.it, 0, c->t_end, y, NULL, &err) < 0) {
        fail_msg("%s, %s, %s: %s", c->name, c->formulation, c->method, err.text);
    }
    return r;
}

static void go(const set_up *c, const run *r, double t)
{
    dae_error err = {0};
    if (dae_integrator_advance(r->it, t, &err) < 0)
        fail_msg("%s, %s, %s: %s", c->name, c->formulation, c->method, err.text);
}

static void end(run *r)
{
    dae_integrator_destroy(r->it);
    dae_formulation_destroy(r->f);
}

static void *saved(const run *r, size_t *size)
{
    *size = dae_integrator_save(r->it, NULL, 0);
    assert_true(*size > 0);
    void *buffer = malloc(*size);
    assert_int_equal(dae_integrator_save(r->it, buffer, *size), *size);
    return buffer;
}

/* One run in one piece, one saved on the way and resumed by a run that had been somewhere else. */
static void compare(const set_up *c)
{
    dae_error err = {0};
    size_t size, n;
    double a[512], b[512];
    run one = begin(c), two = begin(c);
    go(c, &one, MIDDLE * c->t_end);
    void *buffer = saved(&one, &size);
    go(c, &one, c->t_end);
    go(c, &two, 0.8 * c->t_end);
    if (dae_integrator_load(two.it, buffer, size, &err) < 0)
        fail_msg("%s, %s, %s: %s", c->name, c->formulation, c->method, err.text);
    assert_true(dae_integrator_time(two.it) == MIDDLE * c->t_end);
    go(c, &two, c->t_end);
    n = (size_t)dae_system_size(dae_formulation_system(one.f)) * sizeof(double);
    if (memcmp(dae_integrator_state(one.it), dae_integrator_state(two.it), n)) {
        fail_msg("%s, %s, %s: the states differ", c->name, c->formulation, c->method);
    }
    dae_stats x = *dae_integrator_stats(one.it), y = *dae_integrator_stats(two.it);
    x.cpu_seconds = y.cpu_seconds = 0;
    if (memcmp(&x, &y, sizeof x)) {
        fail_msg("%s, %s, %s: steps %ld %ld, f %ld %ld, lu %ld %ld", c->name, c->formulation, c->method,
                 x.steps, y.steps, x.f, y.f, x.lu, y.lu);
    }
    assert_string_equal(dae_formulation_describe(one.f), dae_formulation_describe(two.f));
    assert_int_equal(
        dae_formulation_lower(one.f, c->t_end, dae_integrator_state(one.it), a, NULL, NULL, &err), DAE_OK);
    assert_int_equal(
        dae_formulation_lower(two.f, c->t_end, dae_integrator_state(two.it), b, NULL, NULL, &err), DAE_OK);
    assert_memory_equal(a, b, (size_t)dae_system_size(c->sys) * sizeof(double));
    free(buffer);
    end(&one);
    end(&two);
}

/* Every form of every mechanism, with every method that takes it and can be saved. */
static void every_form_is_resumed_in_the_same_bits(void **state)
{
    (void)state;
    int count = 0;
    for (int which = 0; which < MECHANISMS; which++) {
        mechanism m = mechanism_get(which);
        for (int k = 0; k < dae_formulation_count(); k++) {
            for (int i = 0; i < dae_method_count(); i++) {
                const dae_method_info *method = dae_method_get(i);
                const dae_formulation_info *form = dae_formulation_get(k);
                set_up c = {m.name, method->name, form->name, &m.sys, m.y0, 0.3 * m.t_end, 1e-5, NULL, 0, 0};
                if (!method->checkpoint || dae_formulation_check(form->name, method->name, NULL)) continue;
                if (!strcmp(form->name, "joint")) continue;    /* for models */
                if (!strcmp(method->name, "rattle")) continue; /* refuses most of them; see test_checkpoint */
                if (which == BEAD && !strcmp(method->name, "phem56")) continue; /* takes no friction */
                compare(&c);
                count++;
            }
        }
    }
    assert_true(count > 100);
}

static int weight(const dae_mech_point *x, double *f, void *user)
{
    (void)x;
    (void)user;
    f[0] = 0;
    f[1] = -GRAVITY;
    return 0;
}

/* The coordinates of a turning pendulum change on both sides of the checkpoint: all methods, all ways to choose. */
static void changing_coordinates_are_resumed_in_the_same_bits(void **state)
{
    static const dae_setting choice[3][2] = {{{"partition", "full"}, {"coordinates", "pivoting"}},
                                             {{"partition", "simple"}, {"coordinates", "pivoting"}},
                                             {{"partition", "full"}, {"coordinates", "nullspace"}}};
    static const double y0[4] = {1, 0, 0, 7};
    dae_system sys = {
        .kind = DAE_KIND_MECH,
        .mech = {
            .np = 2, .nv = 2, .ng = 1, .nlambda = 1, .force = weight, .constraint = pendulum_constraint}};
    (void)state;
    for (int i = 0; i < dae_method_count(); i++) {
        const dae_method_info *method = dae_method_get(i);
        if (!method->checkpoint || dae_formulation_check("statespace", method->name, NULL)) continue;
        for (int k = 0; k < 3; k++) {
            set_up c = {"turning pendulum", method->name, "statespace", &sys, y0, 2.5, 1e-6, choice[k], 2, 0};
            compare(&c);
            run r = begin(&c);
            const char *text = dae_formulation_describe(r.f);
            go(&c, &r, MIDDLE * c.t_end);
            long before = strtol(strstr(text, "changed ") + 8, NULL, 10);
            go(&c, &r, c.t_end);
            assert_true(before >= 2);
            assert_true(strtol(strstr(text, "changed ") + 8, NULL, 10) >= before + 2);
            end(&r);
        }
    }
}

/* A run that the limit of steps ended, at every step: whether a change of coordinates was due there or not. */
static void runs_ended_by_a_limit_are_resumed_in_the_same_bits(void **state)
{
    static const double y0[4] = {1, 0, 0, 7};
    static const char *const method[] = {"dopri5", "rosnys4", "radau5", "vode"};
    dae_system sys = {
        .kind = DAE_KIND_MECH,
        .mech = {
            .np = 2, .nv = 2, .ng = 1, .nlambda = 1, .force = weight, .constraint = pendulum_constraint}};
    (void)state;
    for (int k = 0; k < 4; k++) {
        set_up c = {"turning pendulum", method[k], "statespace", &sys, y0, 0.6, 1e-4, NULL, 0, 0};
        run whole = begin(&c);
        go(&c, &whole, c.t_end);
        long steps = dae_integrator_stats(whole.it)->steps;
        assert_true(dae_integrator_stats(whole.it)->charts >= 1);
        for (long stop = 1; stop < steps; stop++) {
            dae_error err = {0};
            size_t size;
            c.max_steps = stop;
            run first = begin(&c);
            c.max_steps = 0;
            run second = begin(&c);
            assert_int_equal(dae_integrator_advance(first.it, c.t_end, &err), DAE_ERR_MAX_STEPS);
            void *buffer = saved(&first, &size);
            assert_int_equal(dae_integrator_load(second.it, buffer, size, &err), DAE_OK);
            go(&c, &second, c.t_end);
            assert_memory_equal(dae_integrator_state(whole.it), dae_integrator_state(second.it),
                                2 * sizeof(double));
            free(buffer);
            end(&first);
            end(&second);
        }
        end(&whole);
    }
}

/* Sparse factors with kept pivots and Euler parameters: the HMMWV; simple partitioning: kept pivots of the saddle point. */
static void sparse_factors_are_resumed_in_the_same_bits(void **state)
{
    static const dae_setting partition[2] = {{"partition", "full"}, {"partition", "simple"}};
    static const char *const method[] = {"rosnys4", "radau5", "wnys2", "vode"};
    dae_error err = {0};
    (void)state;
    dae_problem *p = dae_problem_create("hmmwv", NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    for (int k = 0; k < 8; k++) {
        set_up c = {"hmmwv", method[k / 2], "statespace",      &p->system, p->y0,
                    0.7,     1e-3,          &partition[k % 2], 1,          0};
        compare(&c);
    }
    dae_problem_destroy(p);
}

/* A checkpoint of other coordinates is told, not taken. */
static void checkpoints_of_other_forms_are_refused(void **state)
{
    static const dae_setting choice[2] = {{"coordinates", "pivoting"}, {"coordinates", "nullspace"}};
    mechanism m = mechanism_get(0);
    set_up c[2];
    run r[2];
    size_t size;
    dae_error err = {0};
    (void)state;
    for (int k = 0; k < 2; k++) {
        c[k] = (set_up){m.name, "dopri5", "statespace", &m.sys, m.y0, m.t_end, 1e-5, &choice[k], 1, 0};
        r[k] = begin(&c[k]);
        go(&c[k], &r[k], 0.5 * m.t_end);
    }
    void *buffer = saved(&r[0], &size);
    assert_int_equal(dae_integrator_load(r[1].it, buffer, size, &err), DAE_ERR_INPUT);
    assert_non_null(strstr(err.text, "other initial values")); /* those of the other coordinates */
    ((char *)buffer)[size - 100] ^= 1;                         /* in what the formulation kept */
    assert_int_equal(dae_integrator_load(r[0].it, buffer, size, &err), DAE_ERR_INPUT);
    assert_non_null(strstr(err.text, "damaged"));
    free(buffer);
    end(&r[0]);
    end(&r[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_is_resumed_in_the_same_bits),
        cmocka_unit_test(changing_coordinates_are_resumed_in_the_same_bits),
        cmocka_unit_test(runs_ended_by_a_limit_are_resumed_in_the_same_bits),
        cmocka_unit_test(sparse_factors_are_resumed_in_the_same_bits),
        cmocka_unit_test(checkpoints_of_other_forms_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
