/* Allocations that fail and functions that misbehave, one by one. The linker hands every allocation of the library
 * to the wrappers below (tests/CMakeLists.txt); shared libraries keep their own. */
#include "method/mechanisms.h"
#include "method/runs.h"

/* ---- The wrappers --------------------------------------------------------------------------------------- */

static long allocations, fail_at; /* counted from 1; 0: none fails */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *p, size_t size);

void *__wrap_malloc(size_t size)
{
    return ++allocations == fail_at ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return ++allocations == fail_at ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *p, size_t size)
{
    return ++allocations == fail_at ? NULL : __real_realloc(p, size);
}

/* SUNDIALS does not survive a failing allocation, and allocates as it likes. */
static int is_own(const dae_method_info *m)
{
    return strcmp(m->name, "ida") != 0 && strncmp(m->name, "cvode", 5) != 0;
}

/* ---- Systems ---------------------------------------------------------------------------------------------- */

enum { N = 40 };

static int cells(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    for (int i = 0; i < N; i++)
        f[i] = 20 * ((i ? y[i - 1] : 0) - 2 * y[i] + (i + 1 < N ? y[i + 1] : 1)) + y[i] * y[i];
    return 0;
}

static int constrained(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = y[1];
    f[1] = -y[0];
    f[2] = y[2] - y[0] * y[1];
    return 0;
}

static int constrained_implicit(double t, const double *y, const double *yp, double *F, void *user)
{
    constrained(t, y, F, user);
    F[0] -= yp[0];
    F[1] -= yp[1];
    return 0;
}

static int height(double t, const double *y, const double *yp, double *phi, void *user)
{
    (void)y, (void)yp, (void)user;
    phi[0] = sin(20 * t);
    return 0;
}

static int nothing(double t, const double *y, int n, void *user)
{
    (void)t, (void)y, (void)n, (void)user;
    return 0;
}

/* A chain of oscillators, y'' = a(y). */
static int springs(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    for (int i = 0; i < N / 2; i++) {
        f[i] = y[N / 2 + i];
        f[N / 2 + i] = (i ? y[i - 1] : 0) - 2 * y[i] + (i + 1 < N / 2 ? y[i + 1] : 0);
    }
    return 0;
}

enum { DENSE, BANDED, PROBED, MASS, FULL_MASS, IMPLICIT, SECOND_ORDER, MECHANICAL, AUTOMATIC, CASES };

static dae_system system_of(int which)
{
    static const double mass[] = {1, 1, 0}, full[] = {1, 0, 0, 0, 1, 0, 0, 0, 0};
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = N, .f = cells}};
    if (which == BANDED)
        sys.structure.jacobian = (dae_pattern){.storage = DAE_BANDED, .lower = 1, .upper = 1};
    if (which == MASS || which == FULL_MASS) {
        dae_matrix M = which == MASS ? dae_diagonal(3, mass) : dae_dense(3, full);
        sys = (dae_system){.kind = DAE_KIND_DAE, .dae = {.n = 3, .f = constrained, .mass = M}};
    }
    if (which == SECOND_ORDER) {
        sys.ode.f = springs;
        sys.structure.second_order = N / 2;
        sys.structure.no_velocities = 1;
    }
    if (which == MECHANICAL) sys = pendulum;
    if (which == IMPLICIT)
        sys = (dae_system){.kind = DAE_KIND_IDE, .ide = {.n = 3, .residual = constrained_implicit}};
    return sys;
}

static int suits(const dae_method_info *m, int which)
{
    dae_system sys = system_of(which);
    if (wants_second_order(m) != (which == SECOND_ORDER) && sys.kind == DAE_KIND_ODE) return 0;
    return is_own(m) && m->kinds & 1u << sys.kind;
}

/* ---- Memory ------------------------------------------------------------------------------------------------ */

/* A whole life with output and events. The first status that is not DAE_OK ends it. */
static dae_status live(const char *method, int which, dae_error *err)
{
    double y0[N] = {1, 0, 0};
    dae_system sys = system_of(which);
    dae_options opt = with_method(method, 1e-4);
    if (which == PROBED) opt.linear_algebra = "sparse";
    dae_event event = {.name = "clock"};
    dae_events events = {.count = 1, .event = &event, .phi = height};
    dae_output output = {.mode = DAE_OUTPUT_EQUIDISTANT,
                         .count = 5,
                         .component = (int[]){0},
                         .ncomponent = 1,
                         .write = nothing};
    dae_integrator *it = dae_integrator_create(&sys, &opt, err);
    dae_status s = it ? dae_integrator_set_events(it, &events, err) : err->status;
    if (!s) s = dae_integrator_set_output(it, &output, err);
    if (!s) s = dae_integrator_start(it, 0, 1, y0, NULL, err);
    if (!s) s = dae_integrator_advance(it, 0.5, err);
    size_t size = s ? 0 : dae_integrator_save(it, NULL, 0);
    if (size) {
        void *buffer = __real_malloc(size);
        dae_integrator_save(it, buffer, size);
        s = dae_integrator_load(it, buffer, size, err);
        free(buffer);
    }
    if (!s) s = dae_integrator_advance(it, 1, err);
    dae_integrator_destroy(it);
    return s;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (int i = -1; i < dae_method_count(); i++) {
        const dae_method_info *m = i < 0 ? NULL : dae_method_get(i);
        for (int which = 0; which < CASES; which++) {
            if ((which == AUTOMATIC) != !m || (m && !suits(m, which))) continue;
            const char *name = m ? m->name : "auto";
            dae_error err = {0};
            allocations = fail_at = 0;
            dae_status s = live(name, which, &err);
            if (s) fail_msg("%s, case %d: %s", name, which, err.text);
            long all = allocations;
            assert_true(all >= 6); /* the integrator, two arenas and a block of each, the method */
            for (long k = 1; k <= all; k++) {
                err = (dae_error){0};
                allocations = 0;
                fail_at = k;
                s = live(name, which, &err);
                fail_at = 0;
                if (s == DAE_OK) continue; /* it could do without (the judgment of auto, a factor) */
                if (s != DAE_ERR_MEMORY || err.status != s || !err.text[0]) {
                    fail_msg("%s, case %d, allocation %ld of %ld: %s: %s", name, which, k, all,
                             dae_status_name(s), err.text);
                }
            }
        }
    }
}

static void steps_allocate_nothing(void **state)
{
    (void)state;
    for (int i = 0; i < dae_method_count(); i++) {
        const dae_method_info *m = dae_method_get(i);
        for (int which = 0; which < AUTOMATIC; which++) {
            if (!suits(m, which)) continue;
            double y0[N] = {1, 0, 0};
            dae_system sys = system_of(which);
            dae_options opt = with_method(m->name, 1e-5);
            if (which == PROBED) opt.linear_algebra = "sparse";
            dae_output output = {.mode = DAE_OUTPUT_MAX_INTERVAL, .interval = 0.01, .write = nothing};
            dae_integrator *it = create(&sys, &opt);
            assert_int_equal(dae_integrator_set_output(it, &output, NULL), DAE_OK);
            start(it, 0, 1, y0);
            allocations = 0;
            advance(it, 1, DAE_OK);
            if (allocations)
                fail_msg("%s, case %d: %ld allocations in %ld steps", m->name, which, allocations,
                         dae_integrator_stats(it)->steps);
            dae_integrator_destroy(it);
        }
    }
}

/* ---- Functions that misbehave -------------------------------------------------------------------------------- */

typedef struct fault {
    long calls, at; /* the call at which it happens */
    int kind;       /* -1, 1: returned; 0: a value becomes NaN */
    int lasting;    /* 1: from then on, 0: once */
} fault;

static int misbehave(fault *x, double *out)
{
    long k = ++x->calls;
    if (x->lasting ? k < x->at : k != x->at) return 0;
    if (x->kind == 0) out[1] = NAN;
    return x->kind;
}

static int faulty(double t, const double *y, double *f, void *user)
{
    (void)t;
    f[0] = y[1];
    f[1] = 3 * (1 - y[0] * y[0]) * y[1] - y[0];
    return misbehave(user, f);
}

static int faulty_dae(double t, const double *y, double *f, void *user)
{
    f[2] = y[2] - y[0] * y[1];
    return faulty(t, y, f, user);
}

static int faulty_ide(double t, const double *y, const double *yp, double *F, void *user)
{
    int r = faulty_dae(t, y, F, user);
    F[0] -= yp[0];
    F[1] -= yp[1];
    return r;
}

static int faulty_jac(double t, const double *y, double *jac, void *user)
{
    (void)t;
    jac[1] = -6 * y[0] * y[1] - 1;
    jac[2] = 1;
    jac[3] = 3 * (1 - y[0] * y[0]);
    return misbehave(user, jac);
}

static int faithful(double t, const double *y, double *f, void *user)
{
    (void)user;
    fault none = {.kind = 1};
    return faulty(t, y, f, &none);
}

static void outcome_is_documented(const char *name, const char *what, const fault *x, dae_status s,
                                  const dae_error *err, const double *y, const double *right)
{
    int fine = 0;
    if (x->calls < x->at) fine = s == DAE_OK;
    else if (x->kind < 0) fine = s == DAE_ERR_CALLBACK;
    else if (s == DAE_OK) fine = !x->lasting;
    else fine = s == DAE_ERR_UNDEFINED || s == DAE_ERR_STEP_TOO_SMALL || s == DAE_ERR_CONVERGENCE;
    if (s == DAE_OK && !(fabs(y[0] - right[0]) < 2e-2)) fine = 0;
    if (s < 0 && (err->status != s || !err->text[0])) fine = 0;
    if (!fine) {
        fail_msg("%s, %s: %s at call %ld%s: %s: %s (y = %g, right %g)", name, what,
                 x->kind < 0 ? "-1"
                 : x->kind   ? "+1"
                             : "NaN",
                 x->at, x->lasting ? " and on" : "", dae_status_name(s), err->text, y[0], right[0]);
    }
}

static void faults_of_the_right_hand_side_have_a_documented_end(void **state)
{
    (void)state;
    static const double mass[] = {1, 1, 0};
    double right[] = {2, 0};
    dae_system reference = {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = faithful}};
    dae_options sharp = with_method("dop853", 1e-10);
    assert_int_equal(dae_solve(&reference, &sharp, 0, 2, right, NULL, NULL), DAE_OK);
    for (int i = 0; i < dae_method_count(); i++) {
        const dae_method_info *m = dae_method_get(i);
        if (wants_second_order(m)) continue;
        for (int kind = DAE_KIND_ODE; kind <= DAE_KIND_IDE; kind++) {
            if (!(m->kinds & 1u << kind)) continue;
            for (int k = 1; k <= 60; k++) {
                for (int mode = 0; mode < 6; mode++) {
                    fault x = {.at = k, .kind = mode % 3 - 1, .lasting = mode / 3};
                    dae_system sys = {.kind = (dae_kind)kind};
                    if (kind == DAE_KIND_ODE) sys.ode = (dae_ode){.n = 2, .f = faulty, .user = &x};
                    if (kind == DAE_KIND_DAE)
                        sys.dae =
                            (dae_dae){.n = 3, .f = faulty_dae, .mass = dae_diagonal(3, mass), .user = &x};
                    if (kind == DAE_KIND_IDE) sys.ide = (dae_ide){.n = 3, .residual = faulty_ide, .user = &x};
                    dae_options opt = with_method(m->name, 1e-5);
                    opt.max_steps = 20000;
                    double y[] = {2, 0, 0};
                    dae_error err = {0};
                    dae_status s = dae_solve(&sys, &opt, 0, 2, y, NULL, &err);
                    outcome_is_documented(m->name, dae_kind_name((dae_kind)kind), &x, s, &err, y, right);
                }
            }
        }
    }
}

static void faults_of_the_jacobian_have_a_documented_end(void **state)
{
    (void)state;
    double right[] = {2, 0};
    dae_system reference = {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = faithful}};
    dae_options sharp = with_method("dop853", 1e-10);
    assert_int_equal(dae_solve(&reference, &sharp, 0, 2, right, NULL, NULL), DAE_OK);
    const dae_method_info *m;
    for (int i = 0; (m = next_ode_method(&i));) {
        if (wants_second_order(m)) continue;
        for (int k = 1; k <= 12; k++) {
            for (int mode = 0; mode < 6; mode++) {
                fault x = {.at = k, .kind = mode % 3 - 1, .lasting = mode / 3}, none = {.kind = 1};
                (void)none;
                dae_system sys = {.kind = DAE_KIND_ODE,
                                  .ode = {.n = 2, .f = faithful, .jac = faulty_jac, .user = &x}};
                dae_options opt = with_method(m->name, 1e-5);
                opt.max_steps = 20000;
                double y[] = {2, 0};
                dae_error err = {0};
                dae_status s = dae_solve(&sys, &opt, 0, 2, y, NULL, &err);
                if (s == DAE_OK && x.kind >= 0) x.lasting = 0; /* an old Jacobian may do to the end */
                outcome_is_documented(m->name, "Jacobian", &x, s, &err, y, right);
            }
        }
    }
}

static int faulty_phi(double t, const double *y, const double *yp, double *phi, void *user)
{
    (void)y, (void)yp;
    double two[2] = {0, 0};
    int r = misbehave(user, two);
    phi[0] = sin(5 * t) + two[1];
    return r;
}

static void faults_of_switching_functions_have_a_documented_end(void **state)
{
    (void)state;
    for (int k = 1; k <= 60; k++) {
        for (int mode = 0; mode < 6; mode++) {
            fault x = {.at = k, .kind = mode % 3 - 1, .lasting = mode / 3};
            dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = faithful}};
            dae_options opt = with_method("dopri5", 1e-5);
            dae_event event = {.name = "clock"};
            dae_events events = {.count = 1, .event = &event, .phi = faulty_phi, .user = &x};
            dae_integrator *it = create(&sys, &opt);
            dae_error err = {0};
            assert_int_equal(dae_integrator_set_events(it, &events, NULL), DAE_OK);
            dae_status s = dae_integrator_start(it, 0, 2, (double[]){2, 0}, NULL, &err);
            if (k == 1) assert_int_equal(s, x.kind < 0 ? DAE_ERR_CALLBACK : DAE_ERR_EVENT);
            else assert_int_equal(s, DAE_OK);
            if (!s) {
                s = dae_integrator_advance(it, 2, &err);
                if (s != DAE_OK && s != DAE_ERR_CALLBACK && s != DAE_ERR_EVENT)
                    fail_msg("call %d, mode %d: %s: %s", k, mode, dae_status_name(s), err.text);
                if (x.kind < 0) /* wherever it is asked: in the search of a root, too */
                    assert_int_equal(s, x.calls < k ? DAE_OK : DAE_ERR_CALLBACK);
                if (x.kind >= 0 && !x.lasting)
                    assert_int_equal(s, DAE_OK); /* a point that cannot be evaluated is left out ... */
                if (x.kind >= 0 && x.lasting)    /* ... but not all that follow: a root there would be lost */
                    assert_true(s == DAE_ERR_EVENT || x.calls < k);
            }
            dae_integrator_destroy(it);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(steps_allocate_nothing),
        cmocka_unit_test(faults_of_the_right_hand_side_have_a_documented_end),
        cmocka_unit_test(faults_of_the_jacobian_have_a_documented_end),
        cmocka_unit_test(faults_of_switching_functions_have_a_documented_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
