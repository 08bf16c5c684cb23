/* Problems of the test set as equation files (problems/): the same right-hand sides and the same digits as the C versions. */
#include "files.h"

#include <daedalus/daedalus.h>

static dae_problem *open_file(const char *name)
{
    char path[100];
    dae_error err = {0};
    snprintf(path, sizeof path, "problems/%s.deq", name);
    dae_problem *p = dae_problem_open(path, NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    return p;
}

/* Component of the C version that is component i of the file. */
static int in_pairs(int i, int n)
{
    return i < n / 2 ? 2 * i : 2 * (i - n / 2) + 1;
}

static int the_same(int i, int n)
{
    (void)n;
    return i;
}

static const struct {
    const char *name;
    int (*place)(int i, int n);
} ode[] = {{"hires", the_same},   {"pollu", the_same}, {"orego", the_same},  {"e5", the_same},
           {"ringmod", the_same}, {"plei", the_same},  {"medakzo", in_pairs}};

static void right_sides_agree(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof ode / sizeof *ode; c++) {
        dae_error err;
        dae_problem *p = open_file(ode[c].name), *q = dae_problem_create(ode[c].name, NULL, 0, &err);
        int n = dae_system_size(&p->system);
        assert_non_null(q);
        assert_int_equal(n, dae_system_size(&q->system));
        double *y = calloc((size_t)n * 4, sizeof *y), *z = y + n, *f = z + n, *g = f + n;
        for (int i = 0; i < n; i++) assert_near(p->y0[i], q->y0[ode[c].place(i, n)], 1e-15);
        for (int k = 0; k < 5; k++) {
            double t = q->t0 + 0.17 * k * (q->t_end - q->t0), scale = 0;
            for (int i = 0; i < n; i++) z[i] = q->y0[i] * (1 + 0.1 * k) + (k ? 1e-4 * (1 + i * k % 7) : 0);
            for (int i = 0; i < n; i++) y[i] = z[ode[c].place(i, n)];
            assert_int_equal(p->system.ode.f(t, y, f, p->system.ode.user), 0);
            assert_int_equal(q->system.ode.f(t, z, g, q->system.ode.user), 0);
            for (int i = 0; i < n; i++) scale = fmax(scale, fabs(g[i]));
            for (int i = 0; i < n; i++) {
                if (!(fabs(f[i] - g[ode[c].place(i, n)]) <= 1e-12 * scale))
                    fail_msg("%s: f_%d = %.17g, expected %.17g", ode[c].name, i, f[i], g[ode[c].place(i, n)]);
            }
        }
        free(y);
        dae_problem_destroy(p);
        dae_problem_destroy(q);
    }
}

static void end_values(const dae_problem *p, const dae_problem *q, double *y)
{
    dae_error err = {0};
    dae_run_options o = dae_run_options_default(p);
    o.options.rtol = q->rtol;
    o.options.atol = q->atol;
    o.options.method = "radau5";
    dae_run_result *r = dae_run(p, &o, &err);
    if (!r || r->status < 0) fail_msg("%s: %s", p->info->name, r ? r->error.text : err.text);
    else memcpy(y, r->last.y, (size_t)dae_system_size(&p->system) * sizeof *y);
    dae_run_destroy(r);
}

/* radau5 with the problem's own tolerances gives the same digits: the same equations, Jacobian and start. */
static void digits_agree(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof ode / sizeof *ode; c++) {
        dae_error err;
        if (!strcmp(ode[c].name, "e5") || !strcmp(ode[c].name, "ringmod")) continue; /* no scd; long */
        dae_problem *p = open_file(ode[c].name), *q = dae_problem_create(ode[c].name, NULL, 0, &err);
        int n = dae_system_size(&p->system);
        double *y = calloc((size_t)n * 3, sizeof *y), *z = y + n, *own = z + n;
        end_values(p, q, y);
        end_values(q, q, own);
        for (int i = 0; i < n; i++) z[ode[c].place(i, n)] = y[i];
        double ours = dae_problem_score(q, NULL, NULL, z).mescd,
               theirs = dae_problem_score(q, NULL, NULL, own).mescd;
        if (!(fabs(ours - theirs) <= 0.3))
            fail_msg("%s: %.2f digits, the C version %.2f", ode[c].name, ours, theirs);
        free(y);
        dae_problem_destroy(p);
        dae_problem_destroy(q);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(right_sides_agree), cmocka_unit_test(digits_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
