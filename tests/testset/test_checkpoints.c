/* Every problem against numbers that were computed elsewhere: right-hand sides, Jacobian probes and data.
 *
 * Where they come from: two evaluations without common code, one of them in 60 digits, that agree at all
 * points; 24 of 26 deliberate single errors (two of them change nothing) make at least one point fail. */
#include "test.h"

#include <daedalus/problem.h>

#include "core/matrix.h"

#include "check_point.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* Creates with settings "a=1,b=2"; NULL if the problem is not registered. */
static dae_problem *create(const char *name, const char *settings)
{
    char text[200];
    dae_setting setting[8];
    int n = 0;
    dae_error err = {0};
    if (!dae_problem_find(name)) return NULL;
    snprintf(text, sizeof text, "%s", settings);
    for (char *word = strtok(text, ","); word; word = strtok(NULL, ",")) {
        char *value = strchr(word, '=');
        assert_non_null(value);
        *value = 0;
        setting[n++] = (dae_setting){word, value + 1};
    }
    dae_problem *p = dae_problem_create(name, setting, n, &err);
    if (!p) fail_msg("%s (%s): %s", name, settings, err.text);
    return p;
}

static double *zeros(long n)
{
    double *x = calloc((size_t)n, sizeof *x);
    assert_non_null(x);
    return x;
}

static void checkpoints_right_hand_sides(void **state)
{
    (void)state;
    int checked = 0;
    for (int k = 0; k < COUNT(check_points); k++) {
        const struct check_point *c = &check_points[k];
        dae_problem *p = create(c->problem, c->setting);
        if (!p) {
            print_message("skipped (not registered): %s\n", c->id);
            continue;
        }
        const dae_system *s = &p->system;
        int n = dae_system_size(s), status;
        double *f = zeros(n);
        if (s->kind == DAE_KIND_ODE) status = s->ode.f(c->t, c->y, f, s->ode.user);
        else if (s->kind == DAE_KIND_DAE) status = s->dae.f(c->t, c->y, f, s->dae.user);
        else status = s->ide.residual(c->t, c->y, c->yp, f, s->ide.user);
        if (status) fail_msg("%s: f returned %d", c->id, status);
        for (int i = 0; i < n; i++) {
            if (!(fabs(f[i] - c->f[i]) <= c->tol[i])) {
                fail_msg("%s: f%d = %.17g, expected %.17g within %.3g", c->id, i + 1, f[i], c->f[i],
                         c->tol[i]);
            }
        }
        free(f);
        dae_problem_destroy(p);
        checked++;
    }
    assert_true(checked >= 23);
}

/* |(A x)_i - expected_i| <= 1e-12 (|expected_i| + sum_j |A_ij x_j|) */
static void check_product(const char *id, const char *what, const dae_system *s, const double *a,
                          const double *x, const double *expected)
{
    int n = dae_system_size(s);
    dae_matrix A = {.n = n, .pattern = s->structure.jacobian, .a = a};
    for (int i = 0; i < n; i++) {
        double sum = 0, size = fabs(expected[i]);
        for (int j = 0; j < n; j++) {
            double term = dae_matrix_get(&A, i, j) * x[j];
            sum += term;
            size += fabs(term);
        }
        if (!(fabs(sum - expected[i]) <= 1e-12 * size)) {
            fail_msg("%s: component %d of %s is %.17g, expected %.17g", id, i + 1, what, sum, expected[i]);
        }
    }
}

static void checkpoints_jacobian_probes(void **state)
{
    (void)state;
    int checked = 0;
    for (int k = 0; k < COUNT(check_points); k++) {
        const struct check_point *c = &check_points[k];
        dae_problem *p = c->v ? create(c->problem, c->setting) : NULL;
        if (!p) continue;
        const dae_system *s = &p->system;
        long size = dae_pattern_count(&s->structure.jacobian, dae_system_size(s));
        double *a = zeros(size), *b = zeros(size);
        int has = 0, status = 0;
        if (s->kind == DAE_KIND_IDE) {
            has = s->ide.dfdy && s->ide.dfdyp;
            if (has) status = s->ide.dfdy(c->t, c->y, c->yp, a, s->ide.user);
            if (has) status += s->ide.dfdyp(c->t, c->y, c->yp, b, s->ide.user);
        } else {
            dae_jac *jac = s->kind == DAE_KIND_ODE ? s->ode.jac : s->dae.jac;
            void *user = s->kind == DAE_KIND_ODE ? s->ode.user : s->dae.user;
            has = jac != NULL;
            if (has) status = jac(c->t, c->y, a, user);
        }
        assert_int_equal(status, 0);
        if (has) check_product(c->id, "(df/dy) v", s, a, c->v, c->Jv);
        if (has && c->w) check_product(c->id, "(dF/dy') w", s, b, c->w, c->Mw);
        if (!has) print_message("no analytic Jacobian: %s\n", c->id);
        checked += has;
        free(a);
        free(b);
        dae_problem_destroy(p);
    }
    assert_true(checked >= 11);
}

static void check_mass(const struct check_problem *c, const dae_matrix *M)
{
    double *expected = zeros((long)c->n * c->n);
    for (int k = 0; k < c->nmass; k++) {
        const double *entry = c->mass + 3 * k;
        expected[(int)entry[0] - 1 + ((int)entry[1] - 1) * c->n] = entry[2];
    }
    for (int j = 0; j < c->n; j++) {
        for (int i = 0; i < c->n; i++) {
            double e = expected[i + j * c->n], m = dae_matrix_get(M, i, j);
            if (!(fabs(m - e) <= 1e-15 * fabs(e))) {
                fail_msg("%s: M(%d,%d) = %.17g, expected %.17g", c->name, i + 1, j + 1, m, e);
            }
        }
    }
    free(expected);
}

/* M y' counts for DAEs (y' of the others is free), y' itself for IDEs. */
static void check_slopes(const struct check_problem *c, const dae_problem *p)
{
    double *a = zeros(c->n), *b = zeros(c->n), size = 0;
    dae_matrix M = p->system.kind == DAE_KIND_DAE ? p->system.dae.mass : (dae_matrix){0};
    dae_matrix_multiply(&M, c->n, p->yp0, a);
    dae_matrix_multiply(&M, c->n, c->yp0, b);
    for (int i = 0; i < c->n; i++) size = fmax(size, fabs(b[i]));
    for (int i = 0; i < c->n; i++) {
        if (!(fabs(a[i] - b[i]) <= 1e-11 * size)) {
            fail_msg("%s: y0'%d gives %.17g, expected %.17g", c->name, i + 1, a[i], b[i]);
        }
    }
    free(a);
    free(b);
}

/* The reference or the published vector has the digits that were confirmed. */
static void check_reference(const struct check_problem *c, const dae_problem *p)
{
    assert_non_null(p->reference);
    double tol = pow(10, -fmin(c->digits, 14) + 0.5);
    for (int i = 0; i < c->n; i++) {
        if (!c->scored[i] || (p->absolute_scd == 0 && fabs(c->reference[i]) < 1e-200)) continue;
        double scale = p->absolute_scd ? 1 : fabs(c->reference[i]);
        double a = fabs(p->reference[i] - c->reference[i]);
        double b = p->published ? fabs(p->published[i] - c->reference[i]) : a;
        if (!(fmin(a, b) <= tol * scale)) {
            fail_msg("%s: reference y%d = %.17g, expected %.17g", c->name, i + 1, p->reference[i],
                     c->reference[i]);
        }
    }
}

static void checkpoints_problem_data(void **state)
{
    (void)state;
    for (int k = 0; k < COUNT(check_problems); k++) {
        const struct check_problem *c = &check_problems[k];
        dae_problem *p = create(c->name, "");
        if (!p) {
            print_message("skipped (not registered): %s\n", c->name);
            continue;
        }
        assert_string_equal(dae_kind_name(p->system.kind), c->kind);
        assert_int_equal(dae_system_size(&p->system), c->n);
        assert_int_equal(p->info->n, c->n);
        assert_true(p->t0 == c->t0);
        assert_near(p->t_end, c->t_end, 1e-15 * c->t_end);
        for (int i = 0; i < c->n; i++) {
            if (!(fabs(p->y0[i] - c->y0[i]) <= 1e-14 * fabs(c->y0[i]))) {
                fail_msg("%s: y0%d = %.17g, expected %.17g", c->name, i + 1, p->y0[i], c->y0[i]);
            }
        }
        if (c->yp0 && p->yp0) check_slopes(c, p);
        int at_end = strcmp(c->name, "pump") == 0 ||
                     strcmp(c->name, "nand") == 0; /* one more at t_end, not in the list */
        assert_int_equal(p->ndiscontinuity, c->ndiscontinuity + at_end);
        if (at_end) assert_true(p->discontinuity[c->ndiscontinuity] == p->t_end);
        for (int i = 0; i < c->ndiscontinuity; i++) {
            assert_near(p->discontinuity[i], c->discontinuity[i], 1e-15 * fabs(c->discontinuity[i]));
        }
        if (p->system.kind == DAE_KIND_DAE) check_mass(c, &p->system.dae.mass);
        check_reference(c, p);
        for (int i = 0; !p->no_scd && i < c->n; i++) {
            if ((p->scored ? p->scored[i] : 1) != c->scored[i])
                fail_msg("%s: scored flag of y%d", c->name, i + 1);
        }
        dae_problem_destroy(p);
    }
}

static void checkpoints_index_of_variables(void **state)
{
    (void)state;
    for (int k = 0; k < COUNT(check_indices); k++) {
        const struct check_index *c = &check_indices[k];
        dae_problem *p = create(c->problem, c->setting);
        if (!p) continue;
        const int *index = p->system.structure.index;
        int n = dae_system_size(&p->system);
        for (int i = 0; i < n; i++) {
            if ((index ? index[i] : 1) != c->index[i]) {
                fail_msg("%s (%s): index of y%d is not %d", c->problem, c->setting, i + 1, c->index[i]);
            }
        }
        if (!c->setting[0]) assert_int_equal(p->info->index, dae_system_index(&p->system));
        dae_problem_destroy(p);
    }
}

static void checkpoints_cover_the_first_eleven(void **state)
{
    static const char *const name[] = {"hires", "vdpol-mu", "vdpol-eps", "rober",   "orego", "e5",
                                       "plei",  "transamp", "caraxis",   "andrews", "nand"};
    (void)state;
    for (int i = 0; i < COUNT(name); i++) assert_non_null(dae_problem_find(name[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checkpoints_right_hand_sides),
        cmocka_unit_test(checkpoints_jacobian_probes),
        cmocka_unit_test(checkpoints_problem_data),
        cmocka_unit_test(checkpoints_index_of_variables),
        cmocka_unit_test(checkpoints_cover_the_first_eleven),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
