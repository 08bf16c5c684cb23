/* Problems with parameters away from their defaults: created, consistent at the start, exact Jacobians. */
#include "test.h"

#include <daedalus/problem.h>

#include "core/matrix.h"

static dae_problem *create(const char *name, const char *settings)
{
    char text[200];
    dae_setting setting[8];
    int n = 0;
    dae_error err = {0};
    snprintf(text, sizeof text, "%s", settings);
    for (char *word = strtok(text, ","); word; word = strtok(NULL, ",")) {
        char *value = strchr(word, '=');
        *value = 0;
        setting[n++] = (dae_setting){word, value + 1};
    }
    dae_problem *p = dae_problem_create(name, setting, n, &err);
    if (!p) fail_msg("%s (%s): %s", name, settings, err.text);
    return p;
}

/* f, or the residual with y' = yp. */
static void evaluate(const dae_problem *p, double t, const double *y, const double *yp, double *f)
{
    const dae_system *s = &p->system;
    int r = s->kind == DAE_KIND_ODE   ? s->ode.f(t, y, f, s->ode.user)
            : s->kind == DAE_KIND_DAE ? s->dae.f(t, y, f, s->dae.user)
                                      : s->ide.residual(t, y, yp, f, s->ide.user);
    assert_int_equal(r, 0);
}

/* max |M y' - f| or |F| at the start */
static double start_residual(const dae_problem *p)
{
    int n = dae_system_size(&p->system);
    double *f = calloc((size_t)n, sizeof *f), *My = calloc((size_t)n, sizeof *My), most = 0;
    evaluate(p, p->t0, p->y0, p->yp0, f);
    if (p->system.kind == DAE_KIND_DAE) dae_matrix_multiply(&p->system.dae.mass, n, p->yp0, My);
    for (int i = 0; i < n; i++) most = fmax(most, fabs(f[i] - My[i]));
    free(f);
    free(My);
    return most;
}

/* The Jacobian near the start, times a vector, against a difference of fourth order in its direction. */
static void check_jacobian(const dae_problem *p, double t, double scale, const char *what)
{
    const dae_system *s = &p->system;
    int n = dae_system_size(s);
    size_t count = (size_t)dae_pattern_count(&s->structure.jacobian, n), size = (size_t)n;
    double *jac = calloc(count, sizeof *jac), *w = calloc(9 * size, sizeof *w);
    double *y = w, *v = w + size, *yp = w + 2 * size, *x = w + 3 * size, *Jv = w + 4 * size;
    double *f = w + 5 * size;
    unsigned seed = 11;
    for (int i = 0; i < n; i++) {
        double r[2];
        for (int k = 0; k < 2; k++) {
            seed = seed * 1103515245u + 12345u;
            r[k] = (double)(seed >> 16 & 0x7fff) / 0x7fff - 0.5;
        }
        double unit = fabs(p->y0[i]) + scale;
        y[i] = p->y0[i] + 0.02 * unit * r[0];
        v[i] = unit * r[1];
        yp[i] = p->yp0 ? p->yp0[i] : 0;
    }
    int r = s->kind == DAE_KIND_ODE   ? s->ode.jac(t, y, jac, s->ode.user)
            : s->kind == DAE_KIND_DAE ? s->dae.jac(t, y, jac, s->dae.user)
                                      : s->ide.dfdy(t, y, yp, jac, s->ide.user);
    assert_int_equal(r, 0);
    dae_matrix J = {.n = n, .pattern = s->structure.jacobian, .a = jac};
    dae_matrix_multiply(&J, n, v, Jv);
    static const double at[4] = {-2, -1, 1, 2};
    double h = 1e-4;
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < n; i++) x[i] = y[i] + at[k] * h * v[i];
        evaluate(p, t, x, yp, f + (size_t)k * size);
    }
    double most = 0;
    for (int i = 0; i < n; i++) most = fmax(most, fabs(Jv[i]));
    for (int i = 0; i < n; i++) {
        double d = (8 * (f[2 * n + i] - f[n + i]) - (f[3 * n + i] - f[i])) / (12 * h);
        if (!(fabs(d - Jv[i]) <= 1e-7 * fabs(Jv[i]) + 1e-11 * most)) {
            fail_msg("%s: component %d of J v is %.12g, differences say %.12g", what, i + 1, Jv[i], d);
        }
    }
    free(jac);
    free(w);
}

static void crank_starts_consistently_in_all_forms(void **state)
{
    (void)state;
    for (int k = 0; k < 24; k++) {
        char settings[100];
        snprintf(settings, sizeof settings, "index=%d,beam=%s,damping=%d,initial=%s", 1 + k % 3,
                 k / 3 % 2 ? "nonlinear" : "linear", k / 6 % 2, k / 12 ? "rigid" : "smooth");
        dae_problem *p = create("crank", settings);
        double residual = start_residual(p);
        /* the given accelerations were made with another pi: 2.3e-7 in row 20 */
        if (!(residual < 3e-7)) fail_msg("crank %s: residual %g at the start", settings, residual);
        assert_int_equal(dae_system_index(&p->system), 1 + k % 3);
        check_jacobian(p, 0.03, 1e-3, settings);
        dae_problem_destroy(p);
    }
}

static void ringmod_without_capacitance_is_a_dae_of_index_2(void **state)
{
    (void)state;
    dae_problem *p = create("ringmod", "Cs=0");
    assert_int_equal(p->system.kind, DAE_KIND_DAE);
    assert_int_equal(dae_system_index(&p->system), 2);
    for (int i = 0; i < 15; i++) {
        assert_true(dae_matrix_get(&p->system.dae.mass, i, i) == (i < 2 || i > 5 ? 1 : 0));
    }
    assert_null(p->reference);
    check_jacobian(p, 1e-4, 0.1, "ringmod");
    dae_problem_destroy(p);
}

static void sizes_can_be_chosen(void **state)
{
    (void)state;
    static const struct {
        const char *name, *settings;
        int n;
        double t, scale;
    } sizes[] = {{"medakzo", "N=3", 6, 1, 0.1},  {"medakzo", "N=37", 74, 6, 0.1},
                 {"beam", "n=3", 6, 1, 0.1},     {"beam", "n=17", 34, 4, 0.1},
                 {"fekete", "N=2", 16, 1, 0.01}, {"fekete", "N=7", 56, 1, 0.01}};
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        dae_problem *p = create(sizes[k].name, sizes[k].settings);
        assert_int_equal(dae_system_size(&p->system), sizes[k].n);
        assert_null(p->reference);
        if (p->system.kind == DAE_KIND_DAE) assert_true(start_residual(p) < 1e-12);
        for (int i = 0; i < p->nplot; i++) assert_in_range(p->plot[i], 0, sizes[k].n - 1);
        check_jacobian(p, sizes[k].t, sizes[k].scale, sizes[k].name);
        dae_problem_destroy(p);
    }
}

static void wheel_has_two_forms(void **state)
{
    (void)state;
    for (int index = 2; index <= 3; index++) {
        char settings[20];
        snprintf(settings, sizeof settings, "index=%d", index);
        dae_problem *p = create("wheel", settings);
        assert_int_equal(dae_system_index(&p->system), index);
        assert_true(start_residual(p) < 1e-12); /* index 3: 5e-10 as given */
        dae_problem_destroy(p);
    }
}

/* States outside the domain are refused, not computed. */
static void states_without_a_value_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int component;
        double value;
    } outside[] = {{"ringmod", 2, 50}, {"chemakzo", 1, -1e-9}, {"water", 20, -0.01},
                   {"wheel", 12, 5},   {"wheel", 0, 0.1},      {"pump", 6, -2}};
    for (size_t k = 0; k < sizeof outside / sizeof outside[0]; k++) {
        dae_problem *p = create(outside[k].name, "");
        const dae_system *s = &p->system;
        double y[64], f[64], jac[2500];
        memcpy(y, p->y0, (size_t)dae_system_size(s) * sizeof *y);
        y[outside[k].component] = outside[k].value;
        int r, rj;
        if (s->kind == DAE_KIND_IDE) {
            r = s->ide.residual(0, y, p->yp0, f, s->ide.user);
            rj = s->ide.dfdy(0, y, p->yp0, jac, s->ide.user);
        } else if (s->kind == DAE_KIND_DAE) {
            r = s->dae.f(0, y, f, s->dae.user);
            rj = s->dae.jac(0, y, jac, s->dae.user);
        } else {
            r = s->ode.f(0, y, f, s->ode.user);
            rj = s->ode.jac(0, y, jac, s->ode.user);
        }
        if (r != 1 || rj != 1) fail_msg("%s: returned %d and %d outside its domain", outside[k].name, r, rj);
        dae_problem_destroy(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crank_starts_consistently_in_all_forms),
        cmocka_unit_test(ringmod_without_capacitance_is_a_dae_of_index_2),
        cmocka_unit_test(sizes_can_be_chosen),
        cmocka_unit_test(wheel_has_two_forms),
        cmocka_unit_test(states_without_a_value_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
