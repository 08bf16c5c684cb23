/* Internal numerical differentiation [Bock 1987]: the problem and its relatives with p + d and p - d as one system, side by side.
 *
 *     Z = (z, z_1-, z_1+, z_2-, z_2+, ...),    dz/dp_j = (z_j+ - z_j-) / (d_j+ - d_j-)
 *
 * Only z has a weight in error tests and iterations: the tolerances of the others are beyond reach. So every step size, order,
 * number of iterations and age of a Jacobian is that of z, all relatives take the same, and the discrete solution is a
 * smooth function of p. This holds for every method, without its knowledge. The Jacobian is block diagonal. */
#include "sensitivity/abreast.h"

#include "core/matrix.h"

#include <math.h>

/* Sides of the switches: all stand where z does. */
void dae_abreast_same_sides(const dae_engine *e)
{
    const dae_abreast *a = e->self;
    const dae_switches *w = &a->sys[0]->switches;
    if (!w->count || !w->side) return;
    memcpy(e->side, w->side, (size_t)w->count * sizeof *e->side);
    for (int c = 1; c < a->copies; c++) {
        int *side = a->sys[c]->switches.side;
        if (side && side != w->side) memcpy(side, w->side, (size_t)w->count * sizeof *side);
    }
}

/* ---- ODE, DAE, IDE ----------------------------------------------------------------------------------- */

static int rhs(double t, const double *y, double *f, void *user)
{
    dae_engine *e = user;
    dae_abreast *a = e->self;
    int r = 0;
    dae_abreast_same_sides(e);
    for (int c = 0; c < a->copies && !r; c++) {
        const dae_system *s = a->sys[c];
        dae_gather(&e->layout, c, y, a->z);
        r = s->kind == DAE_KIND_ODE ? s->ode.f(t, a->z, a->f, s->ode.user)
                                    : s->dae.f(t, a->z, a->f, s->dae.user);
        dae_scatter(&e->layout, c, a->f, f);
    }
    return r;
}

static int dfdt(double t, const double *y, double *f, void *user)
{
    dae_engine *e = user;
    dae_abreast *a = e->self;
    int r = 0;
    for (int c = 0; c < a->copies && !r; c++) {
        const dae_system *s = a->sys[c];
        dae_gather(&e->layout, c, y, a->z);
        r = s->kind == DAE_KIND_ODE ? s->ode.dfdt(t, a->z, a->f, s->ode.user)
                                    : s->dae.dfdt(t, a->z, a->f, s->dae.user);
        dae_scatter(&e->layout, c, a->f, f);
    }
    return r;
}

/* The values of copy c into those of all. */
static void put_values(const dae_abreast *a, int c, double *jac)
{
    const int *place = a->place + (long)c * a->count;
    for (long k = 0; k < a->count; k++) {
        if (place[k] >= 0) jac[place[k]] = a->value[k];
    }
}

static int jac(double t, const double *y, double *out, void *user)
{
    dae_engine *e = user;
    dae_abreast *a = e->self;
    int r = 0;
    dae_abreast_same_sides(e);
    for (int c = 0; c < a->copies && !r; c++) {
        const dae_system *s = a->sys[c];
        dae_gather(&e->layout, c, y, a->z);
        memset(a->value, 0, (size_t)a->count * sizeof *a->value);
        r = s->kind == DAE_KIND_ODE ? s->ode.jac(t, a->z, a->value, s->ode.user)
                                    : s->dae.jac(t, a->z, a->value, s->dae.user);
        put_values(a, c, out);
    }
    return r;
}

static int residual(double t, const double *y, const double *yp, double *F, void *user)
{
    dae_engine *e = user;
    dae_abreast *a = e->self;
    int r = 0;
    dae_abreast_same_sides(e);
    for (int c = 0; c < a->copies && !r; c++) {
        dae_gather(&e->layout, c, y, a->z);
        dae_gather(&e->layout, c, yp, a->zp);
        r = a->sys[c]->ide.residual(t, a->z, a->zp, a->f, a->sys[c]->ide.user);
        dae_scatter(&e->layout, c, a->f, F);
    }
    return r;
}

static int residual_jac(dae_engine *e, double t, const double *y, const double *yp, int derivative,
                        double *out)
{
    dae_abreast *a = e->self;
    int r = 0;
    dae_abreast_same_sides(e);
    for (int c = 0; c < a->copies && !r; c++) {
        const dae_ide *s = &a->sys[c]->ide;
        dae_gather(&e->layout, c, y, a->z);
        dae_gather(&e->layout, c, yp, a->zp);
        memset(a->value, 0, (size_t)a->count * sizeof *a->value);
        r = (derivative ? s->dfdyp : s->dfdy)(t, a->z, a->zp, a->value, s->user);
        put_values(a, c, out);
    }
    return r;
}

static int dfdy(double t, const double *y, const double *yp, double *out, void *user)
{
    return residual_jac(user, t, y, yp, 0, out);
}

static int dfdyp(double t, const double *y, const double *yp, double *out, void *user)
{
    return residual_jac(user, t, y, yp, 1, out);
}

/* Row i and value of the entries of column j of a pattern: the first, the next; -1: no more. */
static int first_entry(const dae_pattern *p, int n, int j, long *k)
{
    switch (p->storage) {
    case DAE_DENSE: *k = (long)j * n; return 0;
    case DAE_BANDED: {
        int i = j > p->upper ? j - p->upper : 0;
        *k = p->upper + i - j + (long)j * (p->lower + 1 + p->upper);
        return i;
    }
    case DAE_DIAGONAL: *k = j; return j;
    case DAE_SPARSE: break;
    }
    *k = p->colptr[j];
    return *k < p->colptr[j + 1] ? p->rowind[*k] : -1;
}

static int next_entry(const dae_pattern *p, int n, int j, int i, long *k)
{
    ++*k;
    if (p->storage == DAE_SPARSE) return *k < p->colptr[j + 1] ? p->rowind[*k] : -1;
    if (p->storage == DAE_DIAGONAL) return -1;
    int last = p->storage == DAE_BANDED && j + p->lower < n - 1 ? j + p->lower : n - 1;
    return i < last ? i + 1 : -1;
}

/* The block diagonal pattern of all copies; place[k + count*c]: where value k of copy c stands, or -1. */
static dae_pattern blocks(const dae_engine *e, const dae_pattern *p, int **place)
{
    const dae_layout *l = &e->layout;
    dae_pattern out = {.storage = DAE_SPARSE};
    long count = dae_pattern_count(p, l->n), most = count * l->copies;
    int *colptr = dae_arena_ints(e->arena, (size_t)e->size + 1),
        *rowind = dae_arena_ints(e->arena, (size_t)most + 1),
        *column = dae_arena_ints(e->arena, (size_t)e->size + 1);
    *place = dae_arena_ints(e->arena, (size_t)most + 1);
    if (dae_arena_failed(e->arena)) return out;
    for (int c = 0; c < l->copies; c++) {
        for (int j = 0; j < l->n; j++) column[dae_layout_at(l, c, j)] = c * l->n + j;
    }
    for (long k = 0; k < most; k++) (*place)[k] = -1;
    int at = 0;
    for (int J = 0; J < e->size; J++) {
        int c = column[J] / l->n, j = column[J] % l->n;
        long k;
        for (int i = first_entry(p, l->n, j, &k); i >= 0; i = next_entry(p, l->n, j, i, &k)) {
            rowind[at] = dae_layout_at(l, c, i);
            (*place)[k + c * count] = at++;
        }
        colptr[J + 1] = at;
    }
    out.colptr = colptr;
    out.rowind = rowind;
    return out;
}

/* Constant matrices of all copies. */
static dae_matrix matrices(const dae_engine *e, const dae_matrix *(*of)(const dae_system *s))
{
    const dae_abreast *a = e->self;
    const dae_matrix *first = of(a->sys[0]);
    if (first->n == 0) return (dae_matrix){0};
    if (first->pattern.storage == DAE_DIAGONAL) {
        double *d = dae_arena_reals(e->arena, (size_t)e->size);
        for (int c = 0; d && c < a->copies; c++) dae_scatter(&e->layout, c, of(a->sys[c])->a, d);
        return dae_diagonal(e->size, d);
    }
    int *place;
    long count = dae_pattern_count(&first->pattern, first->n);
    dae_pattern p = blocks(e, &first->pattern, &place);
    double *value = dae_arena_reals(e->arena, (size_t)count * (size_t)a->copies + 1);
    if (dae_arena_failed(e->arena)) return (dae_matrix){0};
    for (int c = 0; c < a->copies; c++) {
        for (long k = 0; k < count; k++) {
            if (place[k + c * count] >= 0) value[place[k + c * count]] = of(a->sys[c])->a[k];
        }
    }
    return (dae_matrix){.n = e->size, .pattern = p, .a = value};
}

static const dae_matrix *mass_of_dae(const dae_system *s)
{
    return &s->dae.mass;
}

static void equations(dae_engine *e)
{
    dae_abreast *a = e->self;
    const dae_system *s = a->sys[0];
    dae_structure *to = &e->sys.structure;
    const dae_structure *from = &s->structure;
    to->jacobian = blocks(e, &from->jacobian, &a->place);
    a->count = dae_pattern_count(&from->jacobian, e->f->nz);
    a->value = dae_arena_reals(e->arena, (size_t)a->count + 1);
    to->autonomous = from->autonomous;
    if (e->layout.segments > 1) {
        to->second_order = from->second_order * a->copies;
        to->no_velocities = from->no_velocities;
    }
    if (from->index) {
        int *index = dae_arena_ints(e->arena, (size_t)e->size);
        for (int c = 0; index && c < a->copies; c++) {
            for (int i = 0; i < e->f->nz; i++) index[dae_layout_at(&e->layout, c, i)] = from->index[i];
        }
        to->index = index;
    }
    if (s->kind == DAE_KIND_ODE) {
        e->sys.ode = (dae_ode){.n = e->size, .f = rhs, .user = e};
        if (s->ode.jac) e->sys.ode.jac = jac;
        if (s->ode.dfdt) e->sys.ode.dfdt = dfdt;
    } else if (s->kind == DAE_KIND_DAE) {
        e->sys.dae = (dae_dae){.n = e->size, .f = rhs, .user = e};
        if (s->dae.jac) e->sys.dae.jac = jac;
        if (s->dae.dfdt) e->sys.dae.dfdt = dfdt;
        e->sys.dae.mass = matrices(e, mass_of_dae);
    } else {
        e->sys.ide = (dae_ide){.n = e->size, .residual = residual, .user = e};
        if (s->ide.dfdy) e->sys.ide.dfdy = dfdy;
        if (s->ide.dfdyp) e->sys.ide.dfdyp = dfdyp;
        if (s->ide.algebraic) {
            int *flag = dae_arena_ints(e->arena, (size_t)e->size);
            for (int c = 0; flag && c < a->copies; c++) {
                for (int i = 0; i < e->f->nz; i++)
                    flag[dae_layout_at(&e->layout, c, i)] = s->ide.algebraic[i];
            }
            e->sys.ide.algebraic = flag;
        }
    }
}

/* ---- Life ------------------------------------------------------------------------------------------- */

dae_status dae_abreast_create(dae_engine *e, dae_error *err)
{
    const dae_family *f = e->f;
    dae_abreast *a = dae_arena_take(e->arena, 1, sizeof *a);
    int copies = 1 + 2 * f->count;
    if (!a) return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    e->self = a;
    a->copies = copies;
    a->sys = dae_arena_take(e->arena, (size_t)copies, sizeof *a->sys);
    a->z = dae_arena_reals(e->arena, (size_t)f->nz);
    a->zp = dae_arena_reals(e->arena, (size_t)f->nz);
    a->f = dae_arena_reals(e->arena, (size_t)f->nz);
    if (dae_arena_failed(e->arena)) return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    for (int c = 0; c < copies; c++) a->sys[c] = &dae_engine_member(e, c)->it->sys;
    const dae_system *s = a->sys[0];
    e->sys.kind = s->kind;
    e->size = f->nz * copies;
    if (s->kind == DAE_KIND_MECH) {
        e->layout = dae_layout_of(f->nz, copies, s->mech.np, s->mech.np + s->mech.nv);
        dae_abreast_mechanism(e);
    } else {
        int m = s->structure.no_velocities ? f->nz / 2 : s->structure.second_order;
        e->layout = dae_layout_of(f->nz, copies, m, 2 * m);
        equations(e);
    }
    if (dae_arena_failed(e->arena)) return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    return DAE_OK;
}
