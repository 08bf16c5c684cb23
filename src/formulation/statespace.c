/* statespace: an ODE in as many coordinates as there are degrees of freedom (coordinate partitioning).
 *
 *     holonomic:     y = (w, w', u),   w = S p        w'' = S (T a + T' v)
 *     nonholonomic:  y = (w, v_I, u)                  w' = S T v,  v_I' = a_I
 *
 * The functionals S (statespace.h) are chosen by Gaussian elimination with full pivoting of G, or span its null space.
 * In every evaluation the dependent positions come from Newton's method, the dependent velocities from one linear
 * system, and the accelerations
 *   simple  from the saddle-point system [M G^T; G 0] (a, lambda) = (f, -gamma),
 *   full    from the equations of motion in the null space: with K k = (-gamma, 0),
 *           N^T M N s = N^T (f - M k),  a = k + N s.
 *
 * Newton begins at the last accepted point ("anchor"), extrapolated in time, with the matrix of that point, so that an
 * evaluation does not depend on those before it. Between two steps the quality of the coordinates is judged by
 * eta = max |T N|, the influence of the independent coordinates on all others: they are chosen anew if eta exceeds
 * max(limit, growth eta_start) or if Newton was slow twice in a row, and changed if that lowers eta by a given factor. The
 * limits depend on what a fresh start costs the method. */
#include "formulation/statespace.h"

#include <daedalus/gefp.h>

#include "core/vector.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SPARSE_FROM 30 /* ours: velocities from which on sparse factors pay */
/* ours: influence at the start above which coordinates that were named are refused */
#define USELESS 1e8

/* ---- Life ------------------------------------------------------------------------------------------------------- */

static void take_functionals(functionals *s, int n, int count, int linear, dae_arena *a)
{
    s->n = n;
    s->count = count;
    s->index = dae_arena_ints(a, (size_t)(count > n ? count : n) + 1);
    s->Z = linear ? dae_arena_reals(a, (size_t)n * (size_t)count) : NULL;
}

static void take_memory(statespace *s, const dae_descriptor *d, int linear, dae_arena *a)
{
    size_t np = (size_t)d->np, nv = (size_t)d->nv, nl = (size_t)d->nl, ns = (size_t)s->ns, nw = (size_t)s->nw;
    size_t most = nw > ns ? nw : ns;
    take_functionals(&s->position, d->np, s->nw, linear, a);
    s->first_index = s->position.index;
    take_functionals(&s->other, d->np, s->nw, linear, a);
    take_functionals(&s->velocity, d->nv, s->ns, 0, a);
    s->other_velocity = dae_arena_ints(a, ns + 1);
    s->wish = dae_arena_ints(a, nw + 1);
    s->anchor_p = dae_arena_reals(a, np);
    s->anchor_pdot = dae_arena_reals(a, np);
    s->eta_p = dae_arena_reals(a, np);
    s->p = dae_arena_reals(a, np);
    s->v = dae_arena_reals(a, nv);
    s->G = dae_arena_reals(a, nl * nv);
    s->T = s->plain ? NULL : dae_arena_reals(a, np * nv);
    s->N = dae_arena_reals(a, nv * ns);
    s->MN = dae_arena_reals(a, nv * most);
    s->pdot = dae_arena_reals(a, np);
    s->step = dae_arena_reals(a, np);
    s->residual = dae_arena_reals(a, nl + most);
    s->va = dae_arena_reals(a, nv);
    s->vb = dae_arena_reals(a, nv);
    s->vc = dae_arena_reals(a, nv);
    s->pa = dae_arena_reals(a, np);
    s->pb = dae_arena_reals(a, np);
    s->pc = dae_arena_reals(a, np);
    s->la = dae_arena_reals(a, nl);
    s->lb = dae_arena_reals(a, nl);
    s->rhs = dae_arena_reals(a, ns);
    s->gefp = dae_arena_reals(a, nl * nv + 2 * np * most);
    s->rows = dae_arena_ints(a, nl + np);
    s->cols = dae_arena_ints(a, np + nv);
    s->jacobian = dae_arena_reals(a, dae_statespace_jacobian_size(d));
    s->jacobian_y = dae_arena_reals(a, 2 * most);
    s->jacobian_points = -1;
    dae_dense_init(&s->reduced_lu, s->ns, 0, a);
}

/* 1: T(p) v is affine in p (Euler parameters are) and does not depend on t, as far as two places tell. */
static int is_affine(dae_formulation *f)
{
    statespace *s = f->self;
    dae_descriptor *d = &f->d;
    double *at[4] = {s->pa, s->pb, s->pc, s->pdot}, largest_value = 0, error = 0;
    if (s->plain) return 1;
    for (int j = 0; j < d->nv; j++) s->va[j] = 0.3 + (double)((5 * j) % 17) / 11;
    for (int k = 0; k < 4; k++) { /* x, x + a, x + b, x + a + b at different times */
        for (int i = 0; i < d->np; i++) {
            s->step[i] = 0.5 + (double)((7 * i) % 13) / 26 + (k % 2) * ((double)((3 * i) % 7) - 2.5) / 9 +
                         (k / 2) * ((double)((11 * i) % 5) - 1.5) / 7;
        }
        if (dae_descriptor_kinematics(d, k, s->step, s->va, at[k])) return 0;
    }
    for (int i = 0; i < d->np; i++) {
        largest_value = fmax(largest_value, fabs(at[0][i]));
        error = fmax(error, fabs(at[0][i] + at[3][i] - at[1][i] - at[2][i]));
    }
    return error <= 1e-13 * largest_value;
}

/* The pattern of T, found at a place without zeros, and groups of columns that share no row. 1: it is known. */
static int find_pattern(dae_formulation *f)
{
    statespace *s = f->self;
    dae_descriptor *d = &f->d;
    int np = d->np, nv = d->nv, used = 0;
    s->pattern = (split_pattern){.np = np, .G_colptr = d->spec.colptr, .G_rowind = d->spec.rowind};
    if (s->plain) return 1;
    for (int i = 0; i < np; i++) s->p[i] = 0.5 + (double)((7 * i) % 13) / 26;
    int *colptr = dae_arena_ints(f->arena, (size_t)nv + 1), *taken = dae_arena_ints(f->arena, (size_t)np);
    s->group = dae_arena_ints(f->arena, (size_t)nv);
    if (dae_arena_failed(f->arena) || dae_statespace_kinematic_matrix(f, 0, s->p))
        return 0; /* s->sparse is 0: T is dense */
    for (int j = 0; j < nv; j++) {
        for (int i = 0; i < np; i++) colptr[j + 1] += s->T[i + j * np] != 0;
        colptr[j + 1] += colptr[j];
    }
    int *rowind = dae_arena_ints(f->arena, (size_t)colptr[nv]);
    if (!rowind) return 0;
    for (int j = 0; j < nv; j++) {
        for (int i = 0; i < np; i++) {
            if (s->T[i + j * np] != 0) rowind[used++] = i;
        }
    }
    for (int done = 0; done < nv; s->groups++) { /* greedy: columns that do not fit go on to the next group */
        for (int i = 0; i < np; i++) taken[i] = 0;
        for (int j = 0; j < nv; j++) {
            int fits = 1;
            if (s->group[j] != s->groups) continue;
            for (int e = colptr[j]; e < colptr[j + 1]; e++) fits &= !taken[rowind[e]];
            if (!fits) {
                s->group[j]++;
                continue;
            }
            for (int e = colptr[j]; e < colptr[j + 1]; e++) taken[rowind[e]] = 1;
            done++;
        }
    }
    s->pattern.T_colptr = colptr;
    s->pattern.T_rowind = rowind;
    return 1;
}

static dae_status create(dae_formulation *f, dae_error *err)
{
    const dae_descriptor *d = &f->d;
    int linear = !strcmp(f->option.coordinates, "nullspace");
    if (d->np != d->nv && d->m.nquaternion != d->np - d->nv) {
        return dae_fail(err, DAE_ERR_UNSUPPORTED, NAN,
                        "statespace: %d positions and %d velocities, but %d quadruples of Euler parameters; "
                        "only these may "
                        "make the difference",
                        d->np, d->nv, d->m.nquaternion);
    }
    statespace *s = dae_arena_take(f->arena, 1, sizeof *s);
    if (!s) return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for a state space");
    f->self = s;
    s->plain = !d->m.kinematics;
    s->holonomic = d->ng == d->nl;
    s->nw = d->nv - d->ng;
    s->ns = d->nv - d->nl;
    s->full = !strcmp(f->option.partition, "full") && !d->nu && !d->friction;
    if (s->ns < 1) {
        return dae_fail(err, DAE_ERR_UNSUPPORTED, NAN,
                        "statespace: %d velocities and %d constraints leave no degree of freedom", d->nv,
                        d->nl);
    }
    s->keep = dae_arena_create();
    if (!s->keep) return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for a state space");
    take_memory(s, d, linear, s->keep);
    dae_statespace_list_mass(f);
    if (dae_arena_failed(f->arena) || dae_arena_failed(s->keep))
        return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for a state space");
    dae_status wish = dae_statespace_read_wish(f, err);
    if (wish) return wish;
    s->sparse = d->spec.colptr && s->holonomic && !linear && d->nv >= SPARSE_FROM && find_pattern(f);
    split_kind kind = s->sparse                             ? SPLIT_SPARSE
                      : s->plain && !linear && s->holonomic ? SPLIT_REDUCED
                                                            : SPLIT_DENSE;
    for (int i = 0; i < 3; i++) dae_split_init(&s->store[i], kind, d->nl, d->nv, &s->pattern, s->keep);
    if (s->sparse && !s->plain) dae_split_init(&s->basis, SPLIT_DENSE, d->nl, d->nv, NULL, s->keep);
    s->anchor = &s->store[0];
    s->here = &s->store[1];
    s->spare = &s->store[2];
    s->affine = is_affine(f);
    int n = s->nw + s->ns + d->nu;
    if (dae_arena_failed(f->arena) || dae_arena_failed(s->keep)) {
        return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for %d equations", n);
    }
    f->sys = (dae_system){.kind = DAE_KIND_ODE, .ode = {.n = n, .f = dae_statespace_rhs, .user = f}};
    if (s->holonomic) f->sys.structure.second_order = s->nw;
    if (s->holonomic && !d->nu && !d->friction) {
        f->sys.ode.jac = dae_statespace_jacobian;
        f->sys.ode.dfdt = dae_statespace_dfdt;
    }
    return DAE_OK;
}

static void release(dae_formulation *f)
{
    statespace *s = f->self;
    for (int i = 0; s && i < 3; i++) dae_split_free(&s->store[i]);
    if (s) dae_arena_destroy(s->keep);
}

/* ---- States ----------------------------------------------------------------------------------------------------- */

static int is_named(const dae_formulation *f)
{
    return strcmp(f->option.independent, "auto") != 0;
}

/* Coordinates that were named and do not determine the others here. */
static dae_status useless_choice(dae_formulation *f, double t, dae_error *err)
{
    char where[96];
    const statespace *s = f->self;
    dae_statespace_print_point(where, sizeof where, f->d.np, s->p);
    return dae_fail(
        err, DAE_ERR_SINGULAR, t,
        "t = %.10g: independent = %s cannot be the independent coordinates at %s: the others do "
        "not follow from them there; name others, or leave the choice to pivoting (independent=auto)",
        t, f->option.independent, where);
}

static dae_status no_choice(dae_formulation *f, double t, const double *p, int rank, dae_error *err)
{
    statespace *s = f->self;
    char where[96], which[64] = "";
    int m = s->holonomic ? f->d.ng : f->d.nl;
    dae_statespace_print_point(where, sizeof where, f->d.np, p);
    if (rank < 0 || rank >= m) {
        if (is_named(f)) return useless_choice(f, t, err);
        return dae_fail(err, DAE_ERR_SINGULAR, t, "t = %.10g: no independent coordinates can be chosen at %s",
                        t, where);
    }
    size_t used = 0;
    for (int i = rank; i < m && used + 8 < sizeof which; i++) {
        used +=
            (size_t)snprintf(which + used, sizeof which - used, "%s%d", i > rank ? ", " : "", s->rows[i] + 1);
    }
    return dae_fail(
        err, DAE_ERR_SINGULAR, t,
        "t = %.10g: constraints %s depend on the others at %s: redundant, or a singular configuration", t,
        which, where);
}

static dae_status lift(dae_formulation *f, double t, const double *pvu, double *y, dae_error *err)
{
    statespace *s = f->self;
    dae_descriptor *d = &f->d;
    int rank;
    dae_copy(d->np, pvu, s->p);
    dae_copy(d->nv, pvu + d->np, s->v);
    dae_parts_normalize(&d->parts, s->p);
    if (dae_statespace_choose(f, t, s->p, 1, s->anchor, &rank)) return no_choice(f, t, s->p, rank, err);
    dae_statespace_take_choice(s);
    dae_copy(d->np, s->p, s->eta_p);
    s->eta = s->eta_start = fmax(dae_statespace_influence(f, t, s->anchor),
                                 dae_statespace_velocity_influence(f, s->velocity.index, s->here));
    if (is_named(f) && !(s->eta < USELESS)) return useless_choice(f, t, err);
    s->slow = 0;
    s->changes = s->by_newton = s->points = s->newton = 0;
    s->jacobian_points = -1;
    f->trouble[0] = 0;
    int r = dae_statespace_set_anchor(f, t);
    if (!r) r = dae_statespace_write_state(f, t, y);
    dae_copy(d->nu, pvu + d->np + d->nv, y + s->nw + s->ns);
    if (!r) r = dae_statespace_recover(f, t, y); /* the dependent ones may have been given roughly */
    if (!r) r = dae_statespace_set_anchor(f, t);
    dae_statespace_describe(f);
    if (r)
        return dae_fail(err, DAE_ERR_INCONSISTENT, t,
                        "t = %.10g: the initial values cannot be made consistent: %s", t, f->trouble);
    if (f->log.log) dae_log(&f->log, DAE_LOG_INFO, "t=%.10g partition=chosen text=\"%s\"", t, f->text);
    return DAE_OK;
}

static dae_status lower(dae_formulation *f, double t, const double *y, double *pvu, double *a, double *lambda,
                        int *known, dae_error *err)
{
    statespace *s = f->self;
    dae_descriptor *d = &f->d;
    (void)a;
    (void)lambda;
    (void)known;
    int r = dae_statespace_recover(f, t, y);
    dae_copy(d->np, s->p, pvu);
    dae_copy(d->nv, s->v, pvu + d->np);
    dae_copy(d->nu, y + s->nw + s->ns, pvu + d->np + d->nv);
    if (r)
        return dae_fail(err, DAE_ERR_UNDEFINED, t, "t = %.10g: no dependent coordinates there: %s", t,
                        f->trouble);
    return DAE_OK;
}

/* Coordinates change their place: all positions get the smallest tolerance of the positions, velocities alike. */
static void tolerance(const dae_formulation *f, const double *given, double *out)
{
    const statespace *s = f->self;
    const dae_descriptor *d = &f->d;
    double p = INFINITY, v = INFINITY;
    for (int i = 0; i < d->np; i++) p = fmin(p, given[i]);
    for (int i = 0; i < d->nv; i++) v = fmin(v, given[d->np + i]);
    for (int i = 0; i < s->nw; i++) out[i] = p;
    for (int i = 0; i < s->ns; i++) out[s->nw + i] = v;
    for (int i = 0; i < d->nu; i++) out[s->nw + s->ns + i] = given[d->np + d->nv + i];
}

static int dynamics_at(const dae_formulation *f)
{
    const statespace *s = f->self;
    return s->nw + s->ns;
}

static const dae_option options[] = {
    {"partition", DAE_OPTION_NAME, offsetof(dae_formulation_options, partition), 0, "full", 0, 0,
     "simple|full", "",
     "accelerations from the saddle-point system (simple) or in the null space of G (full)"},
    {"coordinates", DAE_OPTION_NAME, offsetof(dae_formulation_options, coordinates), 0, "pivoting", 0, 0,
     "pivoting|printed|nullspace", "",
     "independent coordinates: chosen by full pivoting (printed: at the start as the lecture notes print it, "
     "without a search of the last row), or spanning the null space of G"},
    {"independent", DAE_OPTION_NAME, offsetof(dae_formulation_options, independent), 0, "auto", 0, 0, NULL,
     "", "numbers of the independent positions at the start, as 3,6; auto: chosen"},
    {"scale", DAE_OPTION_NAME, offsetof(dae_formulation_options, scale), 0, "none", 0, 0, "none|columns", "",
     "full pivoting of G as it is, or with columns of length 1 (angles of bodies on pins are kept)"},
    {"eta", DAE_OPTION_REAL, offsetof(dae_formulation_options, eta), 0, NULL, 0, 1e12, NULL, "",
     "influence of independent on dependent coordinates from which on others are looked for; 0: 1, multistep "
     "methods 1.5"},
    {"growth", DAE_OPTION_REAL, offsetof(dae_formulation_options, growth), 0, NULL, 0, 1e12, NULL, "",
     "and its growth since the last choice; 0: 1.2, multistep methods 1.5"},
    {"hysteresis", DAE_OPTION_REAL, offsetof(dae_formulation_options, hysteresis), 0, NULL, 0, 1e12, NULL, "",
     "factor by which another choice has to be better; 0: 1.2, multistep methods 1.5"},
    DAE_FORMULATION_SADDLE,
    {.name = NULL}};

const dae_formulation_type dae_formulation_statespace = {
    .info = {.name = "statespace",
             .title = "minimal coordinates by partitioning: ODE in the degrees of freedom",
             .summary =
                 "for every ODE method; constraints hold to rounding, coordinates change during the run",
             .kind = DAE_KIND_ODE,
             .options = options},
    .astray = 1,
    .create = create,
    .release = release,
    .lift = lift,
    .lower = lower,
    .attach = dae_statespace_attach,
    .tolerance = tolerance,
    .dynamics_at = dynamics_at,
    .save = dae_statespace_save,
    .load = dae_statespace_load,
    .forget = dae_statespace_forget,
    .diagnose = dae_statespace_diagnose,
};
