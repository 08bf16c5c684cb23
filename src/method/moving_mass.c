#include "method/moving_mass.h"

#include "core/arena.h"
#include "core/error.h"
#include "core/matrix.h"
#include "core/vector.h"
#include "linalg/shifted.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct dae_moving_mass {
    dae_dae dae;         /* of the user; mass.pattern is a copy */
    dae_pattern pattern; /* of dF/dy, a copy */
    int n, singular;
    long count;       /* values of M */
    double *mass, *x; /* they, and a vector */
    dae_shifted *lu;  /* explicit form; NULL: M is diagonal */
    dae_arena *arena;
};

static int evaluate_mass(dae_moving_mass *m, double t, const double *y)
{
    memset(m->mass, 0, (size_t)m->count * sizeof *m->mass);
    int r = m->dae.mass_fn(t, y, m->mass, m->dae.user);
    if (!r && !dae_all_finite((int)m->count, m->mass)) r = 1;
    return r;
}

/* ---- F(t,y,y') ------------------------------------------------------------------------------------------- */

static int residual(double t, const double *y, const double *yp, double *F, void *user)
{
    dae_moving_mass *m = user;
    int r = evaluate_mass(m, t, y);
    if (!r) r = m->dae.f(t, y, m->x, m->dae.user);
    if (r) return r;
    dae_matrix M = {m->n, m->dae.mass.pattern, m->mass};
    dae_matrix_multiply(&M, m->n, yp, F);
    for (int i = 0; i < m->n; i++) F[i] -= m->x[i];
    return 0;
}

/* Where element (i,j) is stored; -1: nowhere. */
static long place(const dae_pattern *p, int n, int i, int j)
{
    if (p->storage == DAE_DIAGONAL) return i == j ? i : -1;
    if (p->storage == DAE_DENSE) return i + (long)j * n;
    if (p->storage == DAE_BANDED)
        return i - j <= p->lower && j - i <= p->upper ? p->upper + i - j + (long)j * (p->lower + 1 + p->upper)
                                                      : -1;
    for (int k = p->colptr[j]; k < p->colptr[j + 1]; k++) {
        if (p->rowind[k] == i) return k;
    }
    return -1;
}

/* Calls visit for every stored element of M; stops where it returns something else than 0, and returns that. */
typedef int visit_fn(dae_moving_mass *m, int i, int j, long k, double *out);
static int each(dae_moving_mass *m, visit_fn *visit, double *out)
{
    const dae_pattern *p = &m->dae.mass.pattern;
    for (int j = 0; j < m->n; j++) {
        int low = 0, high = m->n - 1, r = 0;
        if (p->storage == DAE_DIAGONAL) low = high = j;
        if (p->storage == DAE_BANDED) {
            low = j > p->upper ? j - p->upper : 0;
            high = j + p->lower < m->n ? j + p->lower : m->n - 1;
        }
        if (p->storage == DAE_SPARSE) {
            for (int k = p->colptr[j]; k < p->colptr[j + 1] && !r; k++) r = visit(m, p->rowind[k], j, k, out);
        } else {
            for (int i = low; i <= high && !r; i++) r = visit(m, i, j, place(p, m->n, i, j), out);
        }
        if (r) return r;
    }
    return 0;
}

static int store(dae_moving_mass *m, int i, int j, long k, double *out)
{
    out[place(&m->pattern, m->n, i, j)] = m->mass[k];
    return 0;
}

static int is_outside(dae_moving_mass *m, int i, int j, long k, double *out)
{
    (void)k, (void)out;
    return place(&m->pattern, m->n, i, j) < 0;
}

static int mass_as_jacobian(double t, const double *y, const double *yp, double *jac, void *user)
{
    dae_moving_mass *m = user;
    (void)yp;
    int r = evaluate_mass(m, t, y);
    if (!r) each(m, store, jac);
    return r;
}

/* ---- y' = M^-1 f ----------------------------------------------------------------------------------------- */

static int explicit_f(double t, const double *y, double *f, void *user)
{
    dae_moving_mass *m = user;
    int r = evaluate_mass(m, t, y);
    if (!r) r = m->dae.f(t, y, f, m->dae.user);
    if (r) return r;
    m->singular = 0;
    if (m->lu) {
        r = dae_shifted_factor_values(m->lu, m->mass);
        if (r < 0) return -1;
        m->singular = r > 0;
        if (!r) dae_shifted_solve(m->lu, f);
    } else {
        for (int i = 0; i < m->n; i++) {
            if (m->mass[i] == 0) m->singular = r = 1;
            f[i] /= m->mass[i];
        }
    }
    return r;
}

/* ---- Life ------------------------------------------------------------------------------------------------ */

static dae_status open_explicit(dae_moving_mass *m, dae_system *seen, dae_error *err)
{
    *seen = (dae_system){.kind = DAE_KIND_ODE, .ode = {.n = m->n, .f = explicit_f, .user = m}};
    if (m->dae.mass.pattern.storage == DAE_DIAGONAL) return DAE_OK;
    dae_shifted_spec spec = {.n = m->n, .jacobian = m->dae.mass.pattern};
    m->lu = dae_shifted_create(&spec, m->arena, err);
    return m->lu ? DAE_OK : DAE_ERR_MEMORY;
}

static dae_status open_implicit(dae_moving_mass *m, const dae_system *sys, dae_system *seen, dae_error *err)
{
    if (each(m, is_outside, NULL))
        return dae_fail(
            err, DAE_ERR_INPUT, NAN,
            "M(t,y) has an element outside the Jacobian pattern, which is that of the derivatives "
            "of M(t,y) y' - f(t,y) and contains that of M");
    *seen = (dae_system){.kind = DAE_KIND_IDE,
                         .ide = {.n = m->n, .residual = residual, .dfdyp = mass_as_jacobian, .user = m},
                         .structure = {.jacobian = m->pattern, .index = sys->structure.index}};
    return DAE_OK;
}

dae_moving_mass *dae_moving_mass_create(const dae_system *sys, const dae_method_info *method,
                                        dae_system *seen, dae_error *err)
{
    int ok = 1, n = sys->dae.n;
    dae_moving_mass *m = calloc(1, sizeof *m);
    dae_arena *a = m ? dae_arena_create() : NULL;
    if (a) {
        m->arena = a;
        m->n = n;
        m->dae = sys->dae;
        m->dae.mass.pattern = dae_pattern_copy(&sys->dae.mass.pattern, n, a, &ok);
        m->pattern = dae_pattern_copy(&sys->structure.jacobian, n, a, &ok);
        m->count = dae_pattern_count(&m->dae.mass.pattern, n);
        m->mass = dae_arena_reals(a, (size_t)m->count);
        m->x = dae_arena_reals(a, (size_t)n);
    }
    if (!a || !ok || dae_arena_failed(a)) {
        dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for a mass matrix of %d equations", n);
    } else if (sys->switches.count > 0) {
        dae_fail(err, DAE_ERR_UNSUPPORTED, NAN, "a system with M(t,y) cannot have switches");
    } else if (method && !(method->kinds & 1u << DAE_KIND_IDE)) {
        if (!open_explicit(m, seen, err)) return m;
    } else {
        if (!open_implicit(m, sys, seen, err)) return m;
    }
    dae_moving_mass_destroy(m);
    return NULL;
}

void dae_moving_mass_destroy(dae_moving_mass *m)
{
    if (!m) return;
    dae_shifted_destroy(m->lu);
    dae_arena_destroy(m->arena);
    free(m);
}

int dae_moving_mass_singular(const dae_moving_mass *m)
{
    return m && m->singular;
}
