/* The analysis of 26 models: index, degrees of freedom, offsets, blocks, labels, repairs, names of what is wrong; consistent starts. The
 * expected numbers come from an independent prototype (acceptance.json). */
#include "equations/analysis.h"
#include "equations/initial.h"
#include "equations/reduced.h"
#include "files.h"

#include <jansson.h>

static json_t *models(void)
{
    json_error_t err;
    json_t *all = json_load_file("tests/equations/acceptance.json", 0, &err);
    if (!all) fail_msg("acceptance.json: %s", err.text);
    return all;
}

typedef struct analyzed {
    dae_model *model;
    dae_arena *arena;
    dae_analysis a;
    dae_messages messages;
    dae_status status;
    double *parameter, *discrete;
} analyzed;

static analyzed *analyze(const char *name)
{
    analyzed *x = calloc(1, sizeof *x);
    x->model = model_of(name, NULL, 0, &x->messages);
    if (!x->model)
        fail_msg("%s: line %d: %s", name, x->messages.error[0].place.line, x->messages.error[0].text);
    x->arena = dae_arena_create();
    x->status = dae_analyze(x->model, x->arena, &x->a, &x->messages);
    x->parameter = dae_arena_reals(x->arena, (size_t)x->model->nparameter + 1);
    x->discrete = dae_arena_reals(x->arena, (size_t)x->model->ndiscrete + 1);
    for (int i = 0; i < x->model->nparameter; i++) x->parameter[i] = x->model->parameter[i].value;
    for (int i = 0; i < x->model->ndiscrete; i++) x->discrete[i] = x->model->discrete[i].start;
    return x;
}

static void done(analyzed *x)
{
    dae_model_destroy(x->model);
    dae_arena_destroy(x->arena);
    free(x);
}

static int whole(const json_t *o, const char *key)
{
    return (int)json_integer_value(json_object_get(o, key));
}

/* A list of numbers, or counts {"0": 120, "1": 40} of long ones. */
static void compare(const char *name, const char *what, const json_t *expected, const int *found, int n)
{
    const char *key;
    json_t *value;
    if (json_is_array(expected)) {
        if ((int)json_array_size(expected) != n)
            fail_msg("%s: %zu values of %s, found %d", name, json_array_size(expected), what, n);
        for (int i = 0; i < n; i++) {
            int e = (int)json_integer_value(json_array_get(expected, (size_t)i));
            if (e != found[i]) fail_msg("%s: %s[%d] is %d, expected %d", name, what, i, found[i], e);
        }
        return;
    }
    json_object_foreach((json_t *)expected, key, value)
    {
        int count = 0;
        for (int i = 0; i < n; i++) count += found[i] == atoi(key);
        if (count != json_integer_value(value))
            fail_msg("%s: %s is %s %d times, expected %d", name, what, key, count,
                     (int)json_integer_value(value));
    }
}

static void check_structure(const char *name, const analyzed *x, const json_t *e)
{
    const dae_sigma *s = &x->a.sigma;
    const json_t *blocks = json_object_get(e, "largest_blocks");
    int numbers[] = {x->model->nequation, s->index,          s->dof,        s->nblock, s->ncoarse,
                     x->a.first[x->a.n],  x->a.combinations, x->a.augmented};
    static const char *const key[] = {"equations",     "index",
                                      "dof",           "fine_blocks",
                                      "coarse_blocks", "equations_with_derivatives",
                                      "combinations",  "augmented_variables"};
    for (int k = 0; k < 8; k++) {
        int expected = whole(e, key[k]);
        if (numbers[k] != expected) fail_msg("%s: %s is %d, expected %d", name, key[k], numbers[k], expected);
    }
    compare(name, "c", json_object_get(e, "c"), s->c, s->n);
    compare(name, "d", json_object_get(e, "d"), s->d, s->n);
    compare(name, "label", json_object_get(e, "labels"), s->label, s->n);
    int largest = 0;
    for (int b = 0; b < s->nblock; b++)
        largest = s->block_start[b + 1] - s->block_start[b] > largest
                      ? s->block_start[b + 1] - s->block_start[b]
                      : largest;
    assert_int_equal(largest, (int)json_integer_value(json_array_get(blocks, 0)));
}

static void structure_of_all_models(void **state)
{
    json_t *all = models(), *m;
    const char *name;
    int checked = 0;
    (void)state;
    json_object_foreach(json_object_get(all, "models"), name, m)
    {
        const json_t *expected = json_object_get(m, "expected");
        if (json_object_get(expected, "error")) continue;
        analyzed *x = analyze(name);
        if (x->status < 0) fail_msg("%s: %s", name, x->messages.error[0].text);
        check_structure(name, x, expected);
        checked++;
        done(x);
    }
    assert_int_equal(checked, 23);
    json_decref(all);
}

static void wrong_models_are_named(void **state)
{
    static const struct {
        const char *name, *text;
    } expected[] = {
        {"dup", "rod follows from rod2 and can be removed"},
        {"toomany", "hang (line 9) follows from the others and can be removed"},
        {"over", "x, y are determined by 3 equations (line 3, line 4, line 5); z, u have only 1 (line 6)"}};
    (void)state;
    for (int k = 0; k < 3; k++) {
        analyzed *x = analyze(expected[k].name);
        assert_true(x->status < 0);
        assert_true(x->messages.count > 0);
        if (!strstr(x->messages.error[0].text, expected[k].text))
            fail_msg("%s: %s", expected[k].name, x->messages.error[0].text);
        done(x);
    }
}

/* [name, guess, found]: most are determined; those of matlab depend on what "least change" means, so they are near only. */
static void check_changes(const char *name, const analyzed *x, const dae_initial *found,
                          const json_t *changed)
{
    double near = strcmp(name, "matlab") ? 1e-5 : 2e-2;
    for (size_t k = 0; k < json_array_size(changed); k++) {
        const json_t *c = json_array_get(changed, k);
        int j = dae_model_find_variable(x->model, json_string_value(json_array_get(c, 0)));
        double expected = json_number_value(json_array_get(c, 2));
        if (j >= 0) assert_near(found->X[x->a.place[j]], expected, near * (fabs(expected) + 1e-6));
    }
}

/* Where the prototype started: what it had to change of the guesses, and all equations hold to rounding. */
static void starts_are_consistent(void **state)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    json_t *all = models(), *m;
    const char *name;
    (void)state;
    json_object_foreach(json_object_get(all, "models"), name, m)
    {
        const json_t *expected = json_object_get(m, "expected"), *start = json_object_get(m, "start");
        dae_initial found;
        if (json_object_get(expected, "error") || !start || !strcmp(name, "parallel")) continue;
        analyzed *x = analyze(name);
        if (dae_initial_find(&x->a, x->parameter, x->discrete, x->arena, &found, &x->messages) < 0)
            fail_msg("%s: %s", name, x->messages.error[0].text);
        check_changes(name, x, &found, json_object_get(start, "changed"));
        dae_reduction *r = dae_reduction_create(&x->a, &lock);
        dae_reduced *d = dae_reduced_create(r, x->parameter, x->discrete);
        int bad = 0;
        if (dae_reduced_start(d, x->model->t0, found.X, &bad) != 0) fail_msg("%s: no states", name);
        /* Solving for everything but the states gives the same point again. */
        double *y = calloc((size_t)x->a.sigma.dof + 1, sizeof *y);
        const double *X = NULL;
        for (int k = 0; k < x->a.sigma.dof; k++) y[k] = found.X[dae_reduced_states(d)[k]];
        if (dae_reduced_solve(d, x->model->t0, y, &X))
            fail_msg("%s: the reduced system cannot be evaluated", name);
        for (int i = 0; i < x->a.total; i++) assert_near(X[i], found.X[i], 1e-9 * (1 + fabs(X[i])));
        free(y);
        dae_reduced_destroy(d);
        dae_reduction_destroy(r);
        done(x);
    }
    json_decref(all);
}

/* A guess of 300 V against diodes leaves nothing of their rows; the structure is sound all the same: index 2 by the sum of the currents. */
static void guesses_that_block_diodes(void **state)
{
    static const char text[] =
        "param Um = 325, L = 1e-3, C = 1e-3, R = 20, Is = 1e-9, Ut = 0.05\nfn diode(u) = Is*(exp(u/Ut) - 1)\n"
        "var v[3] ~ 0, i[3] = 0, P ~ 300, M ~ -300, Ud = 0\nfor k in 1..3\n"
        "L*i[k]' = Um*sin(314*t - 2.0943951023931953*k) - v[k]\ni[k] = diode(v[k] - P) - diode(M - "
        "v[k])\nend\n"
        "C*Ud' = sum(k in 1..3, diode(v[k] - P)) - Ud/R\nP - M = Ud\nsum(k in 1..3, i[k]) = 0\nsolve t = 0 "
        ".. 0.04\n";
    dae_messages messages = {0};
    dae_analysis a;
    (void)state;
    dae_model *m = dae_model_read(text, strlen(text), NULL, NULL, 0, &messages);
    dae_arena *arena = dae_arena_create();
    assert_non_null(m);
    if (dae_analyze(m, arena, &a, &messages) < 0) fail_msg("%s", messages.error[0].text);
    assert_int_equal(a.sigma.index, 2);
    assert_int_equal(a.sigma.dof, 3);
    assert_int_equal(a.combinations + a.augmented, 0);
    dae_model_destroy(m);
    dae_arena_destroy(arena);
}

/* Why no consistent start was found, as the message says it. */
static dae_message complaint(const char *text)
{
    dae_messages messages = {0};
    dae_analysis a;
    dae_initial found;
    dae_model *m = dae_model_read(text, strlen(text), NULL, NULL, 0, &messages);
    dae_arena *arena = dae_arena_create();
    assert_non_null(m);
    assert_int_equal(dae_analyze(m, arena, &a, &messages), DAE_OK);
    assert_int_equal(dae_initial_find(&a, NULL, NULL, arena, &found, &messages), DAE_ERR_INCONSISTENT);
    dae_model_destroy(m);
    dae_arena_destroy(arena);
    return messages.error[0];
}

static void contradicting_values_are_named(void **state)
{
    (void)state;
    dae_message m = complaint("model p\nvar x = 1, y = 0.1, T\ninit x' = 0\nx'' = -T*x\ny'' = -T*y - "
                              "9.81\nrod: x^2 + y^2 = 1\nsolve t = 0 .. 1\n");
    assert_string_equal(m.text, "x = 1 and y = 0.1 contradict rod (line 6), which they miss "
                                "by 0.01: make one of them a guess (y ~ 0.1)");
    assert_int_equal(m.place.line, 6);
}

/* i = 0 is possible (p = 10 V), but at 300 V both diodes block and nothing says which way p should go. */
static void guesses_that_nothing_depends_on_are_named(void **state)
{
    (void)state;
    dae_message m = complaint("var p ~ 300, i = 0\nfn diode(v) = 1e-9*(exp(v/0.0259) - 1)\n"
                              "diode(10 - p) + diode(-p) = i\ni' = p - i\n");
    assert_string_equal(m.text, "no consistent initial values were found: line 3 is missed by 2e-09 and does "
                                "not change with p ~ 300: give another guess");
    assert_int_equal(m.place.line, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(structure_of_all_models),
        cmocka_unit_test(wrong_models_are_named),
        cmocka_unit_test(starts_are_consistent),
        cmocka_unit_test(guesses_that_block_diodes),
        cmocka_unit_test(contradicting_values_are_named),
        cmocka_unit_test(guesses_that_nothing_depends_on_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
