/* The variables of a form that chooses them, which all relatives share: at the start, and where they change (charts). */
#include "sensitivity/engine.h"

#include "linalg/least_squares.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* What the form of z knows (coordinates, anchors) becomes what that of m knows; what it computed does not: m has other masses. */
static int load(dae_simulation *m, const void *buffer, size_t size)
{
    int bad = m->it->memory.load(m->it->memory.user, buffer, size) != 0;
    if (m->form) dae_formulation_forget(m->form);
    return bad;
}

/* The same for all relatives. */
static int share_memory(const dae_family *f)
{
    const dae_memory *own = &f->sim->it->memory;
    if (!own->save) return 0;
    size_t size = own->save(own->user, NULL);
    void *buffer = malloc(size + 1);
    if (!buffer) return -1;
    own->save(own->user, buffer);
    int bad = 0;
    for (int j = 0; j < f->count && !bad; j++) {
        for (int side = 0; side < 2 && !bad; side++) {
            dae_simulation *m = dae_family_side(f, j, side);
            if (m != f->sim) bad = load(m, buffer, size);
        }
        for (int k = 0; k < DAE_WIDE && !bad && f->direction[j].width > 0; k++) {
            bad = load(f->direction[j].wide[k].sim, buffer, size);
        }
    }
    free(buffer);
    return bad ? -1 : 0;
}

/* d lower(z) / dz by differences: n*nz. */
static int lowering(const dae_family *f, double t, const double *z, double *out)
{
    int n = f->n, nz = f->nz;
    double *x = malloc(((size_t)nz + 2 * (size_t)n) * sizeof *x), *low = x ? x + nz : NULL,
           *high = x ? low + n : NULL;
    if (!x) return -1;
    dae_copy(nz, z, x);
    for (int k = 0; k < nz; k++) {
        double d = 6e-6 * fmax(fabs(z[k]), 1);
        x[k] = z[k] - d;
        dae_simulation_lower(f->sim, t, x, low, NULL, NULL);
        x[k] = z[k] + d;
        dae_simulation_lower(f->sim, t, x, high, NULL, NULL);
        x[k] = z[k];
        for (int i = 0; i < n; i++) {
            double v = (high[i] - low[i]) / (2 * d);
            out[(size_t)i + (size_t)k * (size_t)n] = isfinite(v) ? v : 0;
        }
    }
    free(x);
    return 0;
}

/* z of a relative in the new variables such that lower(z) = y, from z0 by simplified Newton: three rounds where z0 is nearer than its
 * increment, as many as it takes where a relative is further away. */
static int raise(const dae_family *f, dae_simulation *m, double t, const double *y, const double *L,
                 const double *z0, double *z)
{
    enum { ROUNDS = 3, MOST = 20 };
    double last = INFINITY;
    int n = f->n, nz = f->nz;
    size_t most = (size_t)(n > nz ? n : nz);
    double *a = malloc(((size_t)n * (size_t)nz + most + (size_t)n) * sizeof *a);
    double *b = a ? a + (size_t)n * (size_t)nz : NULL, *low = a ? b + most : NULL;
    int bad = !a;
    dae_copy(nz, z0, z);
    for (int round = 0; round < MOST && !bad; round++) {
        double change = 0;
        dae_simulation_lower(m, t, z, low, NULL, NULL);
        for (int i = 0; i < n; i++) {
            b[i] = y[i] - low[i];
            if (!isfinite(b[i])) b[i] = 0;
        }
        memcpy(a, L, (size_t)n * (size_t)nz * sizeof *a);
        bad = dae_least_squares(n, nz, a, b, DBL_EPSILON * (double)n) < 0;
        for (int k = 0; k < nz && !bad; k++) {
            z[k] += b[k];
            change = fmax(change, fabs(b[k]));
        }
        if (round + 1 >= ROUNDS && !(change < 0.5 * last)) break; /* rounding */
        last = change;
    }
    free(a);
    return bad ? -1 : 0;
}

/* A form that chooses its variables has chosen for the relative m by itself. (Those of equations start from their equations.) */
int dae_family_take_over(const dae_family *f, dae_simulation *m)
{
    const dae_memory *own = &f->sim->it->memory;
    int n = f->n, nz = f->nz;
    double t = f->p->t0;
    if (!f->sim->form || !f->sim->it->chart || !own->save) return 0;
    size_t size = own->save(own->user, NULL);
    double *y = malloc(((size_t)n + (size_t)n * (size_t)nz + (size_t)nz) * sizeof *y + size + 1);
    double *L = y ? y + n : NULL, *z = y ? L + (size_t)n * (size_t)nz : NULL;
    if (!y) return -1;
    dae_simulation_lower(m, t, m->z0, y, NULL, NULL); /* in its own variables */
    own->save(own->user, z + nz);
    int bad = load(m, z + nz, size) || lowering(f, t, f->sim->z0, L) || raise(f, m, t, y, L, f->sim->z0, z);
    if (!bad) dae_copy(nz, z, m->z0);
    free(y);
    return bad ? -1 : 0;
}

/* 1: all columns are known inside of the form. */
static int is_inside(const dae_engine *e)
{
    int inside = e->columns && e->f->inside;
    for (int j = 0; j < e->f->count && inside; j++) inside = e->f->direction[j].inside;
    return inside;
}

/* Columns in other variables: all that the old ones determine is differentiated before. */
static int chart_inside(dae_engine *e, double t, double *all)
{
    const dae_family *f = e->f;
    const dae_integrator *own = f->sim->it;
    const dae_tangents *in = f->p->tangents;
    size_t count = (size_t)in->inside_count(f->inside);
    double *values = malloc(((size_t)f->count * count + 1) * sizeof *values);
    int r = values ? 0 : DAE_ERR_MEMORY;
    dae_gather(&e->layout, 0, all, e->zp);
    for (int j = 0; j < f->count && !r; j++) {
        dae_gather(&e->layout, 1 + j, all, e->z);
        int bad = in->inside_values(f->inside, t, e->zp, e->z, f->direction[j].parameter,
                                    values + (size_t)j * count);
        if (bad) r = bad < 0 ? DAE_ERR_MEMORY : -1;
    }
    if (!r) r = own->chart(t, e->zp, own->chart_user);
    if (r > 0) dae_scatter(&e->layout, 0, e->zp, all);
    for (int j = 0; j < f->count && r > 0; j++) {
        in->inside_pick(f->inside, values + (size_t)j * count, e->z, NULL, NULL);
        dae_scatter(&e->layout, 1 + j, e->z, all);
    }
    free(values);
    return r >= 0 && share_memory(e->f) ? DAE_ERR_MEMORY : r;
}

int dae_engine_chart(dae_engine *e, double t, double *all)
{
    if (is_inside(e)) return chart_inside(e, t, all);
    const dae_integrator *own = e->f->sim->it;
    int n = e->f->n, nz = e->f->nz, count = e->f->count;
    size_t room = (size_t)e->size + 2 * (size_t)count * (size_t)n + (size_t)n * (size_t)nz + 2 * (size_t)nz;
    dae_gather(&e->layout, 0, all, e->zp);
    int r = own->chart(t, e->zp, own->chart_user);
    if (r <= 0) return r == 0 && share_memory(e->f) ? DAE_ERR_MEMORY : r;
    double *before = malloc(room * sizeof *before);
    if (!before) return DAE_ERR_MEMORY;
    double *y = before + e->size, *L = y + 2 * (size_t)count * (size_t)n, *z0 = L + (size_t)n * (size_t)nz,
           *z = z0 + nz;
    dae_copy(e->size, all, before);
    dae_copy(nz, e->zp, z0);
    for (int k = 0; k < 2 * count; k++) { /* in the old variables */
        dae_engine_relative(e, before, k / 2, k % 2, z);
        dae_simulation_lower(dae_family_side(e->f, k / 2, k % 2), t, z, y + (size_t)k * (size_t)n, NULL,
                             NULL);
    }
    dae_scatter(&e->layout, 0, z0, all);
    int starved = share_memory(e->f) || lowering(e->f, t, z0, L), bad = starved;
    for (int k = 0; k < 2 * count && !bad; k++) { /* in the new */
        bad = raise(e->f, dae_family_side(e->f, k / 2, k % 2), t, y + (size_t)k * (size_t)n, L, z0, z);
        dae_engine_put_relative(e, all, k / 2, k % 2, z);
    }
    free(before);
    return starved ? DAE_ERR_MEMORY : bad ? -1 : 1;
}
