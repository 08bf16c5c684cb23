/* Sensitivity equations beside the system: Z = (z, s_1, ..., s_k) with
 *
 *     M s_j' = J s_j + f_pj - B_j f,  dM/dp_j = B_j M        (F_z s_j + F_z' s_j' + F_pj = 0),        J = df/dz at (t, z)
 *
 * The Jacobian of the whole is block triangular, with J on the diagonal and D_j = d/dz (J s_j + f_pj) below the first block; one
 * factorization of a block serves all (dae_pattern.columns). Newton methods converge simultaneously, Rosenbrock methods keep
 * their order because D_j is there, explicit methods need no more than the products.
 *
 * Where the problem knows its own expressions (problem/tangents.h) J s_j + f_pj and D_j are exact. Else J is the system's own where it has one;
 * f_pj and D_j are differences between the relatives of the problem (p_j a little larger and smaller), of both sides, with an error of
 * 1e-11 relative, or the user's own functions. */
#include "sensitivity/engine.h"

#include "core/matrix.h"
#include "sensitivity/masses.h"

#include <math.h>

#define TINY_MOVE \
    1e-9 /* ours: parts of a state by which z may move where one difference is made for J s and f_p together, */
#define LARGE_MOVE 1e-4
#define MOVE 6e-6 /* and that by which it moves else: the cube root of the rounding unit */

typedef struct columns {
    int n, k;
    const dae_system *sys;
    dae_pattern pattern; /* of one block */
    long count;
    double *J, *Jp;            /* count each: of z now */
    double *low, *high;        /* count each: of the sides */
    double *zl, *zh, *fl, *fh; /* n each */
    double *zpl, *zph;         /* n each */
    const dae_parameter_products *products;
} columns;

/* ---- The system of one side --------------------------------------------------------------------------- */

/* The system of a relative, on the sides of switches where the problem is. */
static const dae_system *system_of(const dae_engine *e, const dae_simulation *m)
{
    const dae_system *s = &m->it->sys;
    const dae_switches *w = &e->f->sim->it->sys.switches;
    if (w->count && w->side && s->switches.side && s->switches.side != w->side)
        memcpy(s->switches.side, w->side, (size_t)w->count * sizeof *w->side);
    return s;
}

static const dae_system *side_of(const dae_engine *e, int j, int side)
{
    return system_of(e, dae_family_side(e->f, j, side));
}

static int value(const dae_system *s, double t, const double *z, const double *zp, double *f)
{
    if (s->kind == DAE_KIND_ODE) return s->ode.f(t, z, f, s->ode.user);
    if (s->kind == DAE_KIND_DAE) return s->dae.f(t, z, f, s->dae.user);
    return s->ide.residual(t, z, zp, f, s->ide.user);
}

static int has_jacobian(const dae_system *s)
{
    if (s->kind == DAE_KIND_ODE) return s->ode.jac != NULL;
    if (s->kind == DAE_KIND_DAE) return s->dae.jac != NULL;
    return s->ide.dfdy && s->ide.dfdyp;
}

/* df/dz, or (IDE) dF/dz and, with derivative, dF/dz'. */
static int jacobian(const columns *c, const dae_system *s, double t, const double *z, const double *zp,
                    int derivative, double *out)
{
    memset(out, 0, (size_t)c->count * sizeof *out);
    if (s->kind != DAE_KIND_IDE) {
        int r =
            s->kind == DAE_KIND_ODE ? s->ode.jac(t, z, out, s->ode.user) : s->dae.jac(t, z, out, s->dae.user);
        dae_engine_complete(&s->structure, c->n, out);
        return r;
    }
    return (derivative ? s->ide.dfdyp : s->ide.dfdy)(t, z, zp, out, s->ide.user);
}

/* ---- Directions --------------------------------------------------------------------------------------- */

static void move(int n, const double *z, double d, const double *s, double *out)
{
    for (int i = 0; i < n; i++) out[i] = z[i] + d * s[i];
}

/* 1: the increment of p_j moves z, in direction s, by a part that a difference can take with it. */
static int together(const dae_engine *e, int j, double size)
{
    double step = fabs(dae_family_width(e->f, j)) / 2 * size;
    return e->f->direction[j].component < 0 && step > TINY_MOVE && step < LARGE_MOVE;
}

/* 1: the problem knows the derivatives by name j as expressions. */
static int is_exact(const dae_engine *e, int j)
{
    return e->f->tangents && e->f->direction[j].exact;
}

/* 1: J itself is wanted for products. */
static int needs_jacobian(const dae_engine *e)
{
    int needed = 0;
    for (int j = 0; j < e->f->count; j++) needed |= !is_exact(e, j) && !e->f->direction[j].inside;
    return needed && has_jacobian(((const columns *)e->self)->sys);
}

/* out += the derivative along (s, s', p_j) from eight values of f each: parts of s and of p are taken together where the increment
 * of p moves z by little. along: s is wanted too. */
static int wide_product(dae_engine *e, double t, const double *z, const double *zp, const double *s,
                        const double *sp, int j, int along, double size, double *out)
{
    columns *c = e->self;
    const dae_direction_of *d = &e->f->direction[j];
    int n = c->n, r = 0, one = along && d->width * size < DAE_WIDE_MOVE;
    for (int part = 0; part < 2 && !r; part++) { /* along s; along p */
        double h = one || part ? d->width : DAE_WIDE_MOVE / size;
        if (!part && (one || !along || size == 0)) continue;
        for (int k = 0; k < DAE_WIDE && !r; k++) {
            const dae_system *f = part ? system_of(e, d->wide[k].sim) : c->sys;
            int moves = one || !part;
            if (moves) move(n, z, dae_family_place[k] * h, s, c->zl);
            if (moves && sp) move(n, zp, dae_family_place[k] * h, sp, c->zpl);
            r = value(f, t, moves ? c->zl : z, moves && sp ? c->zpl : zp, c->fl);
            dae_axpy(n, dae_family_weight[k] / h, c->fl, out);
        }
    }
    return r;
}

/* out (n) = df/dz s + dF/dz' s' + df/dp_j. */
static int product(dae_engine *e, double t, const double *z, const double *zp, const double *s,
                   const double *sp, int j, double *out)
{
    columns *c = e->self;
    const dae_family *f = e->f;
    if (is_exact(e, j)) return f->tangents->rate(f->p, c->sys, t, z, 0, s, f->direction[j].parameter, out);
    if (f->direction[j].inside) {
        const dae_tangents *in = f->p->tangents;
        int failed = in->inside_values(f->inside, t, z, s, f->direction[j].parameter, f->values);
        if (!failed) in->inside_pick(f->inside, f->values, NULL, out, NULL);
        return failed;
    }
    int n = c->n, r = 0, exact = has_jacobian(c->sys);
    double width = dae_family_width(e->f, j), size = exact ? 0 : dae_engine_size(e, z, s);
    int one = !exact && !sp && !c->products && together(e, j, size);
    if (!exact && e->f->direction[j].width > 0) {
        dae_zero(n, out);
        if (sp) size = fmax(size, dae_engine_size(e, zp, sp));
        return wide_product(e, t, z, zp, s, sp, j, 1, size, out);
    }
    if (exact) {
        dae_matrix J = {.n = n, .pattern = c->pattern, .a = c->J};
        dae_matrix_multiply(&J, n, s, out);
        J.a = c->Jp;
        if (sp) dae_matrix_multiply_add(&J, sp, out);
    } else if (!one && size > 0) {
        double d = MOVE / size;
        move(n, z, -d, s, c->zl);
        move(n, z, d, s, c->zh);
        if (sp) move(n, zp, -d, sp, c->zpl), move(n, zp, d, sp, c->zph);
        r = value(c->sys, t, c->zl, sp ? c->zpl : NULL, c->fl);
        if (!r) r = value(c->sys, t, c->zh, sp ? c->zph : NULL, c->fh);
        for (int i = 0; i < n; i++) out[i] = (c->fh[i] - c->fl[i]) / (2 * d);
    } else {
        dae_zero(n, out);
    }
    if (r || e->f->direction[j].component >= 0) return r;
    if (c->products) {
        r = c->products->dfdp(t, z, zp, j, c->fl, c->products->user);
        dae_axpy(n, 1, c->fl, out);
        return r;
    }
    if (f->direction[j].width > 0) return wide_product(e, t, z, zp, s, sp, j, 0, 0, out);
    const double *zl = z, *zh = z;
    if (one) {
        move(n, z, e->f->direction[j].side[0].step, s, c->zl);
        move(n, z, e->f->direction[j].side[1].step, s, c->zh);
        zl = c->zl;
        zh = c->zh;
    }
    r = value(side_of(e, j, 0), t, zl, zp, c->fl);
    if (!r) r = value(side_of(e, j, 1), t, zh, zp, c->fh);
    for (int i = 0; i < n; i++) out[i] += (c->fh[i] - c->fl[i]) / width;
    return r;
}

/* out += (J at the higher side - J at the lower) / width */
static int jacobian_difference(columns *c, const dae_system *low, const dae_system *high, double t,
                               const double *zl, const double *zh, const double *zpl, const double *zph,
                               int derivative, double width, double *out)
{
    int r = jacobian(c, low, t, zl, zpl, derivative, c->low);
    if (!r) r = jacobian(c, high, t, zh, zph, derivative, c->high);
    for (long k = 0; k < c->count; k++) out[k] += (c->high[k] - c->low[k]) / width;
    return r;
}

/* D_j += d(df/dp_j)/dz of the user's function, column by column. */
static int product_jacobian(dae_engine *e, double t, const double *z, const double *zp, int j, double *out)
{
    columns *c = e->self;
    const dae_parameter_products *p = c->products;
    if (p->djdp) {
        memset(c->low, 0, (size_t)c->count * sizeof *c->low);
        int r = p->djdp(t, z, zp, j, c->low, p->user);
        for (long k = 0; k < c->count; k++) out[k] += c->low[k];
        return r;
    }
    dae_copy(c->n, z, c->zl);
    for (int i = 0; i < c->n; i++) {
        double d = MOVE * (fabs(z[i]) + e->floor[i]);
        c->zl[i] = z[i] + d;
        int r = p->dfdp(t, c->zl, zp, j, c->fh, p->user);
        c->zl[i] = z[i] - d;
        if (!r) r = p->dfdp(t, c->zl, zp, j, c->fl, p->user);
        c->zl[i] = z[i];
        if (r) return r;
        for (int m = 0; m < c->n; m++) c->fh[m] = (c->fh[m] - c->fl[m]) / (2 * d);
        const dae_pattern *q = &c->pattern;
        if (q->storage == DAE_SPARSE) {
            for (int k = q->colptr[i]; k < q->colptr[i + 1]; k++) out[k] += c->fh[q->rowind[k]];
        } else if (q->storage == DAE_BANDED) {
            int ld = q->lower + 1 + q->upper;
            for (int m = i > q->upper ? i - q->upper : 0; m < c->n && m - i <= q->lower; m++)
                out[q->upper + m - i + i * ld] += c->fh[m];
        } else {
            dae_axpy(c->n, 1, c->fh, out + (size_t)i * (size_t)c->n);
        }
    }
    return 0;
}

/* D_j = d/dz (J s_j + F_z' s_j' + f_pj); derivative: d/dz' of the same. */
static int second(dae_engine *e, double t, const double *z, const double *zp, const double *s,
                  const double *sp, int j, int derivative, double *out)
{
    columns *c = e->self;
    const dae_family *f = e->f;
    if (is_exact(e, j))
        return f->tangents->jacobian(f->p, c->sys, t, z, 0, s, f->direction[j].parameter, out);
    if (f->direction[j].inside)
        return f->p->tangents->inside_jacobian(f->inside, t, z, s, f->direction[j].parameter, out);
    int n = c->n, r = 0;
    double size = dae_engine_size(e, z, s), width = dae_family_width(e->f, j);
    if (sp) size = fmax(size, dae_engine_size(e, zp, sp));
    int one = !c->products && together(e, j, size);
    memset(out, 0, (size_t)c->count * sizeof *out);
    if (size > 0) {
        double d = one ? e->f->direction[j].side[1].step : MOVE / size,
               back = one ? e->f->direction[j].side[0].step : -d;
        const dae_system *low = one ? side_of(e, j, 0) : c->sys, *high = one ? side_of(e, j, 1) : c->sys;
        move(n, z, back, s, c->zl);
        move(n, z, d, s, c->zh);
        if (sp) move(n, zp, back, sp, c->zpl), move(n, zp, d, sp, c->zph);
        r = jacobian_difference(c, low, high, t, c->zl, c->zh, c->zpl, c->zph, derivative, d - back, out);
        if (one) return r;
    }
    if (r || e->f->direction[j].component >= 0) return r;
    if (c->products) return derivative ? 0 : product_jacobian(e, t, z, zp, j, out);
    return jacobian_difference(c, side_of(e, j, 0), side_of(e, j, 1), t, z, z, zp, zp, derivative, width,
                               out);
}

/* ---- Callbacks ----------------------------------------------------------------------------------------------- */

/* Where copies do not stand one after another they are gathered. */
static int evaluate(dae_engine *e, double t, const double *all, const double *allp, double *out)
{
    columns *c = e->self;
    int n = c->n, r = 0, apart = e->layout.segments > 1;
    const double *z = all, *zp = allp;
    if (apart) dae_gather(&e->layout, 0, all, e->z), z = e->z;
    const dae_switches *w = &c->sys->switches;
    if (w->count && w->side) memcpy(e->side, w->side, (size_t)w->count * sizeof *e->side);
    r = value(c->sys, t, z, zp, apart ? e->zp : out);
    if (e->lead.only) return r;
    if (apart) dae_scatter(&e->layout, 0, e->zp, out);
    if (!r && needs_jacobian(e)) r = jacobian(c, c->sys, t, z, zp, 0, c->J);
    if (!r && zp && needs_jacobian(e)) r = jacobian(c, c->sys, t, z, zp, 1, c->Jp);
    for (int j = 0; j < c->k && !r; j++) {
        size_t at = (size_t)(1 + j) * (size_t)n;
        if (apart) {
            dae_gather(&e->layout, 1 + j, all, e->w[2]);
            r = product(e, t, z, NULL, e->w[2], NULL, j, e->zp);
            dae_scatter(&e->layout, 1 + j, e->zp, out);
        } else {
            r = product(e, t, z, zp, all + at, allp ? allp + at : NULL, j, out + at);
            dae_masses_apply(&e->f->direction[j].mass, out, out + at);
        }
    }
    return r;
}

static int rhs(double t, const double *all, double *out, void *user)
{
    return evaluate(user, t, all, NULL, out);
}

static int residual(double t, const double *all, const double *allp, double *out, void *user)
{
    return evaluate(user, t, all, allp, out);
}

static int block_jacobian(dae_engine *e, double t, const double *all, const double *allp, int derivative,
                          double *out)
{
    columns *c = e->self;
    int r = jacobian(c, c->sys, t, all, allp, derivative, out);
    for (int j = 0; j < c->k && !r && !e->lead.only; j++) {
        size_t at = (size_t)(1 + j) * (size_t)c->n;
        r = second(e, t, all, allp, all + at, allp ? allp + at : NULL, j, derivative,
                   out + (long)(1 + j) * c->count);
        if (!r)
            dae_masses_jacobian(&e->f->direction[j].mass, &c->pattern, c->n, out,
                                out + (long)(1 + j) * c->count);
    }
    return r;
}

static int jac(double t, const double *all, double *out, void *user)
{
    return block_jacobian(user, t, all, NULL, 0, out);
}

static int dfdy(double t, const double *all, const double *allp, double *out, void *user)
{
    return block_jacobian(user, t, all, allp, 0, out);
}

static int dfdyp(double t, const double *all, const double *allp, double *out, void *user)
{
    return block_jacobian(user, t, all, allp, 1, out);
}

/* ---- Where it can be used ---------------------------------------------------------------------------------------- */

const char *dae_columns_refuse(const dae_family *f, const dae_parameter_products *products)
{
    const dae_system *s = &f->sim->it->sys;
    const dae_method_info *m = dae_method_find(f->method);
    if (s->kind == DAE_KIND_MECH) return "the method takes mechanical systems as they stand";
    if (!strncmp(f->method, "cvode", 5) || !strcmp(f->method, "ida"))
        return "SUNDIALS keeps its own matrices";
    if (has_jacobian(s) && !dae_engine_complete(&s->structure, f->nz, NULL))
        return "the pattern of the Jacobian leaves out y'[i] = y[m+i]";
    if (m && m->implicit && !has_jacobian(s)) return "the system gives no Jacobian";
    if (f->sim->form && s->kind != DAE_KIND_ODE)
        return "the form differentiates its constraints by differences";
    if (products && (f->sim->form || f->sim->own || f->sim->as_mechanism))
        return "functions for df/dp belong to the system as it stands";
    for (int j = 0; j < f->count && s->kind == DAE_KIND_DAE && !products; j++) {
        const dae_mass_factor *B = &f->direction[j].mass;
        if (B->count < 0) return "a parameter changes what derivatives the mass matrix combines";
        if (!dae_masses_fits(B, &s->structure.jacobian))
            return "a parameter of the mass matrix combines equations, and the Jacobian is sparse";
    }
    return NULL;
}

/* ---- Life -------------------------------------------------------------------------------------------------------------- */

/* M of all: its copies on the diagonal. */
static dae_matrix mass(dae_engine *e, const dae_matrix *M)
{
    int n = e->layout.n, copies = e->layout.copies;
    if (M->n == 0) return (dae_matrix){0};
    if (M->pattern.storage == DAE_DIAGONAL) {
        double *d = dae_arena_reals(e->arena, (size_t)e->size);
        for (int c = 0; d && c < copies; c++) dae_copy(n, M->a, d + c * n);
        return dae_diagonal(e->size, d);
    }
    int count = 0, at = 0, *colptr = dae_arena_ints(e->arena, (size_t)e->size + 1);
    for (int k = 0; k < n * n; k++) count += dae_matrix_get(M, k % n, k / n) != 0;
    int *rowind = dae_arena_ints(e->arena, (size_t)(count * copies) + 1);
    double *a = dae_arena_reals(e->arena, (size_t)(count * copies) + 1);
    if (dae_arena_failed(e->arena)) return (dae_matrix){0};
    for (int j = 0; j < e->size; j++) {
        for (int i = 0; i < n; i++) {
            double x = dae_matrix_get(M, i, j % n);
            if (x == 0) continue;
            rowind[at] = j / n * n + i;
            a[at++] = x;
        }
        colptr[j + 1] = at;
    }
    return dae_sparse(e->size, colptr, rowind, a);
}

static const int *repeated(dae_engine *e, const int *x)
{
    int n = e->layout.n, *out = x ? dae_arena_ints(e->arena, (size_t)e->size) : NULL;
    for (int k = 0; out && k < e->size; k++) out[k] = x[k % n];
    return out;
}

dae_status dae_columns_create(dae_engine *e, const dae_parameter_products *products, dae_error *err)
{
    const dae_family *f = e->f;
    const dae_options *o = &f->sim->options;
    columns *c = dae_arena_take(e->arena, 1, sizeof *c);
    if (!c) return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    const dae_system *s = c->sys = &f->sim->it->sys;
    int n = c->n = f->nz, straight = s->structure.no_velocities && !strncmp(f->method, "rkn", 3);
    c->k = f->count;
    c->products = products;
    c->pattern = s->structure.jacobian;
    c->count = dae_pattern_count(&c->pattern, n);
    e->self = c;
    e->columns = 1;
    e->size = n * (1 + f->count);
    e->lead.n = n;
    e->layout = dae_layout_of(n, 1 + f->count, straight ? n / 2 : 0, 0);
    double **vector[] = {&c->zl, &c->zh, &c->fl, &c->fh, &c->zpl, &c->zph, &e->w[2]};
    for (size_t k = 0; k < sizeof vector / sizeof *vector; k++)
        *vector[k] = dae_arena_reals(e->arena, (size_t)n);
    double **matrix[] = {&c->J, &c->Jp, &c->low, &c->high};
    for (size_t k = 0; k < sizeof matrix / sizeof *matrix && has_jacobian(s); k++)
        *matrix[k] = dae_arena_reals(e->arena, (size_t)c->count);
    double *floor = dae_arena_reals(e->arena, (size_t)n);
    for (int i = 0; floor && i < n; i++) {
        double rtol = o->rtol_vec ? o->rtol_vec[i] : o->rtol, atol = o->atol_vec ? o->atol_vec[i] : o->atol;
        floor[i] = fmax(rtol > 0 ? atol / rtol : atol, 1e-30);
    }
    e->floor = floor;
    e->sys.kind = s->kind;
    e->sys.structure =
        (dae_structure){.autonomous = s->structure.autonomous, .index = repeated(e, s->structure.index)};
    if (straight) { /* positions of all, then velocities of all */
        e->sys.structure.no_velocities = 1;
        e->sys.structure.second_order = e->size / 2;
    }
    if (has_jacobian(s)) {
        e->sys.structure.jacobian = c->pattern;
        e->sys.structure.jacobian.columns = f->count;
    }
    dae_jac *own = has_jacobian(s) && !straight ? jac : NULL;
    if (straight) e->sys.structure.jacobian = (dae_pattern){0};
    if (s->kind == DAE_KIND_ODE) {
        e->sys.ode = (dae_ode){.n = e->size, .f = rhs, .jac = own, .user = e};
    } else if (s->kind == DAE_KIND_DAE) {
        e->sys.dae = (dae_dae){.n = e->size, .f = rhs, .jac = own, .mass = mass(e, &s->dae.mass), .user = e};
    } else {
        e->sys.ide = (dae_ide){.n = e->size, .residual = residual, .dfdy = dfdy, .dfdyp = dfdyp, .user = e};
        e->sys.ide.algebraic = repeated(e, s->ide.algebraic);
    }
    return dae_arena_failed(e->arena) ? dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory") : DAE_OK;
}
