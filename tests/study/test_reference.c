/* Reference solutions: digits that are promised are there, keys, files, wrong input. */
#include "test.h"

#include <daedalus/experiment.h>

typedef struct buffer {
    char text[16384];
    size_t used;
} buffer;

static int collect(const char *text, size_t length, void *user)
{
    buffer *b = user;
    assert_true(b->used + length < sizeof b->text);
    memcpy(b->text + b->used, text, length);
    b->used += length;
    b->text[b->used] = 0;
    return 0;
}

static dae_problem *problem(const char *name, const dae_setting *setting, int n)
{
    dae_error err = {0};
    dae_problem *p = dae_problem_create(name, setting, n, &err);
    if (!p) fail_msg("%s: %s", name, err.text);
    return p;
}

/* Digits in common with the reference that the problem brings along are not fewer than promised. */
static void promises(const char *name, double wanted, double least)
{
    dae_error err = {0};
    dae_problem *p = problem(name, NULL, 0);
    dae_reference_options o = dae_reference_options_default();
    o.digits = wanted;
    dae_reference *r = dae_reference_compute(p, &o, &err);
    if (!r) fail_msg("%s: %s", name, err.text);
    assert_true(r->least >= least);
    assert_true(strcmp(r->method[0], r->method[1]) != 0);
    for (int i = 0; i < r->n; i++) {
        if (p->scored && !p->scored[i]) continue;
        double error = fabs(r->y[i] - p->reference[i]), scale = fabs(p->reference[i]);
        double allowed = pow(10, -fmin(r->digits[i], p->reference_digits) + 0.3) * scale;
        if (error > allowed)
            fail_msg("%s, component %d: error %g, allowed %g (%.1f digits)", name, i, error, allowed,
                     r->digits[i]);
    }
    dae_reference_destroy(r);
    dae_problem_destroy(p);
}

/* y' = -y, which refuses its first calls. */
static int reluctant(double t, const double *y, double *f, void *user)
{
    int *calls = user;
    (void)t;
    f[0] = -y[0];
    return (*calls)-- > 0 ? -1 : 0;
}

static void a_method_that_fails_is_replaced(void **state)
{
    static const double y0[] = {1};
    (void)state;
    int calls = 0;
    dae_error err = {0};
    dae_problem p = {.t_end = 1, .y0 = y0, .rtol = 1e-8, .atol = 1e-8};
    p.system.kind = DAE_KIND_ODE;
    p.system.ode = (dae_ode){.n = 1, .f = reluctant, .user = &calls};
    dae_reference *r = dae_reference_compute(&p, NULL, &err);
    assert_non_null(r);
    dae_reference_destroy(r);
    calls = 1;
    r = dae_reference_compute(&p, NULL, &err);
    if (!r) fail_msg("%s", err.text);
    assert_near(r->y[0], exp(-1), 1e-10);
    dae_reference_destroy(r);
    dae_reference_options o = dae_reference_options_default();
    o.method[0] = "dop853"; /* asked for: not replaced */
    calls = 1;
    assert_null(dae_reference_compute(&p, &o, &err));
    assert_non_null(strstr(err.text, "dop853"));
}

static void promised_digits_are_there(void **state)
{
    (void)state;
    promises("rober", 10, 9);
    promises("plei", 9, 8);     /* by an explicit and an implicit method */
    promises("chemakzo", 9, 9); /* index 1 */
    promises("andrews", 7, 6);  /* index 3 */
}

static int stop_now(double rtol, double least, void *user)
{
    (void)least;
    *(double *)user = rtol;
    return 1;
}

static void level_callback_can_stop_it(void **state)
{
    (void)state;
    dae_error err = {0};
    double last = 0;
    dae_problem *p = problem("hires", NULL, 0);
    dae_reference_options o = dae_reference_options_default();
    o.level = stop_now;
    o.user = &last;
    dae_reference *r = dae_reference_compute(p, &o, &err);
    assert_non_null(r);
    assert_int_equal(r->levels, 2);
    assert_near(last, r->rtol, 0);
    assert_string_equal(r->stopped, "asked to");
    dae_reference_destroy(r);
    dae_problem_destroy(p);
}

static void other_parameters_have_a_score_with_it(void **state)
{
    (void)state;
    dae_error err = {0};
    dae_problem *p = problem("vdpol-mu", &(dae_setting){"mu", "50"}, 1);
    assert_null(p->reference);
    dae_reference *r = dae_reference_compute(p, NULL, &err);
    assert_non_null(r);
    dae_reference_use(r, p);
    dae_run_options o = dae_run_options_default(p);
    o.options.method = "radau5";
    o.options.rtol = o.options.atol = 1e-7;
    dae_run_result *run = dae_run(p, &o, &err);
    assert_non_null(run);
    assert_between(run->mescd, 5.5, 9);
    dae_run_destroy(run);
    dae_problem_destroy(p);
    dae_reference_destroy(r);
}

static void keys_tell_parameters_apart(void **state)
{
    (void)state;
    char a[512], b[512], c[20];
    dae_problem *p = problem("vdpol-mu", &(dae_setting){"mu", "50"}, 1);
    dae_problem *q = problem("vdpol-mu", &(dae_setting){"mu", "50.000000000001"}, 1);
    dae_reference_key(p, a, sizeof a);
    dae_reference_key(q, b, sizeof b);
    assert_non_null(strstr(a, "vdpol-mu mu=50 "));
    assert_string_not_equal(a, b);
    dae_reference_key(p, c, sizeof c); /* short buffers are filled, not overrun */
    assert_int_equal(strlen(c), 19);
    dae_problem_destroy(p);
    dae_problem_destroy(q);
}

static void what_is_written_reads_back(void **state)
{
    (void)state;
    dae_error err = {0};
    buffer b = {.used = 0};
    dae_problem *p = problem("orego", NULL, 0), *other = problem("rober", NULL, 0);
    dae_reference *r = dae_reference_compute(p, NULL, &err), *again;
    assert_non_null(r);
    assert_int_equal(dae_reference_write(r, p, collect, &b), DAE_OK);
    again = dae_reference_read(p, b.text, b.used, &err);
    if (!again) fail_msg("%s", err.text);
    assert_memory_equal(again->y, r->y, 3 * sizeof(double));
    assert_memory_equal(again->digits, r->digits, 3 * sizeof(double));
    assert_string_equal(again->method[1], r->method[1]);
    assert_string_equal(again->stopped, r->stopped);
    assert_true(again->least == r->least && again->worst == r->worst && again->rtol == r->rtol);
    assert_null(dae_reference_read(other, b.text, b.used, &err));
    assert_non_null(strstr(err.text, "orego"));
    for (size_t cut = 0; cut + 2 < b.used; cut += 7) assert_null(dae_reference_read(p, b.text, cut, &err));
    char *digits = strstr(b.text, "\"digits\":[");
    assert_non_null(digits);
    memcpy(digits, "\"dIgits\":[", 10);
    assert_null(dae_reference_read(p, b.text, b.used, &err));
    assert_non_null(strstr(err.text, "damaged"));
    dae_reference_destroy(again);
    dae_reference_destroy(r);
    dae_problem_destroy(p);
    dae_problem_destroy(other);
}

static void what_cannot_be_done_is_said(void **state)
{
    (void)state;
    dae_error err = {0};
    dae_problem *p = problem("ringmod", NULL, 0);
    dae_reference_options o = dae_reference_options_default();
    o.max_seconds = 1e-3;
    assert_null(dae_reference_compute(p, &o, &err));
    assert_int_equal(err.status, DAE_ERR_MAX_SECONDS);
    assert_non_null(strstr(err.text, "at rtol 1.0e-07"));
    o.method[0] = o.method[1] = "radau";
    assert_null(dae_reference_compute(p, &o, &err));
    assert_non_null(strstr(err.text, "must differ"));
    o.method[1] = "nonsense";
    assert_null(dae_reference_compute(p, &o, &err));
    assert_non_null(strstr(err.text, "\"nonsense\""));
    dae_problem_destroy(p);
}

/* A store in memory: one text. */
typedef struct shelf {
    char name[128];
    buffer text;
    int gets, puts, computed, refuses;
} shelf;

static int get(const char *name, dae_write_fn *write, void *to, void *user)
{
    shelf *s = user;
    s->gets++;
    if (s->refuses) return -1;
    return strcmp(name, s->name) != 0 ? 1 : write(s->text.text, s->text.used, to);
}

static int put(const char *name, const char *text, size_t length, void *user)
{
    shelf *s = user;
    s->puts++;
    if (s->refuses) return -1;
    snprintf(s->name, sizeof s->name, "%s", name);
    s->text.used = 0;
    return collect(text, length, &s->text);
}

static void computing(void *user)
{
    ((shelf *)user)->computed++;
}

static void a_store_gives_back_what_was_computed(void **state)
{
    (void)state;
    static shelf s;
    dae_store store = {get, put, &s};
    dae_reference_options o = dae_reference_options_default();
    dae_error err = {0};
    dae_problem *p = problem("vdpol-mu", &(dae_setting){"mu", "5"}, 1);
    o.computing = computing;
    o.user = &s;
    o.digits = 8;
    assert_null(dae_reference_find(p, &store, &err));
    assert_int_equal(err.status, DAE_OK);
    dae_reference *first = dae_reference_obtain(p, &store, &o, &err);
    assert_non_null(first);
    assert_true(s.computed == 1 && s.puts == 1);
    assert_true(!strncmp(s.name, "vdpol-mu-", 9) && strlen(s.name) == 9 + 16 + 5);
    dae_reference *second = dae_reference_obtain(p, &store, &o, &err);
    assert_true(second && s.computed == 1 && s.puts == 1);
    for (int i = 0; i < first->n; i++) assert_true(first->y[i] == second->y[i]);
    dae_reference_destroy(second);
    /* Another parameter has another name; a damaged text is not taken and says so; a store that fails does no harm. */
    dae_problem *other = problem("vdpol-mu", &(dae_setting){"mu", "6"}, 1);
    char name[128];
    dae_reference_name(other, name, sizeof name);
    assert_true(strcmp(name, s.name) != 0);
    dae_problem_destroy(other);
    s.text.used /= 2;
    assert_null(dae_reference_find(p, &store, &err));
    assert_int_equal(err.status, DAE_ERR_INPUT);
    s.refuses = 1;
    assert_null(dae_reference_find(p, &store, &err));
    assert_int_equal(err.status, DAE_ERR_FILE);
    assert_int_equal(dae_reference_keep(first, p, &store, &err), DAE_ERR_FILE);
    second = dae_reference_obtain(p, &store, &o, &err);
    assert_true(second && s.computed == 2);
    dae_reference_destroy(second);
    dae_reference_destroy(first);
    dae_problem_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(promised_digits_are_there),
        cmocka_unit_test(a_method_that_fails_is_replaced),
        cmocka_unit_test(level_callback_can_stop_it),
        cmocka_unit_test(other_parameters_have_a_score_with_it),
        cmocka_unit_test(keys_tell_parameters_apart),
        cmocka_unit_test(what_is_written_reads_back),
        cmocka_unit_test(what_cannot_be_done_is_said),
        cmocka_unit_test(a_store_gives_back_what_was_computed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
