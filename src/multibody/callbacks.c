/* The mechanical system [MEXX] (1.1) of a mechanism: f, g, G, T, gI, gamma, d and their derivatives. */
#include "multibody/callbacks.h"

#include "language/expression.h"
#include "multibody/analyses.h"
#include "multibody/dual.h"
#include "multibody/external.h"
#include "multibody/forces/friction.h"

#include <string.h>

/* ---- Forces ------------------------------------------------------------------------------------------ */

/* Gravity, and -omega x J omega in body axes. */
static void body_forces(mbs_context *x)
{
    const mbs_mechanism *m = x->m;
    double *f = x->f;
    for (int k = 1; k <= m->nbody; k++, f += m->bv) {
        double mass = m->mass[k - 1];
        for (int i = 0; i < (m->planar ? 2 : 3); i++) f[i] += mass * m->gravity[i];
        if (m->planar) continue;
        double Jw[3], n[3];
        const double *w = x->pose[k].w;
        mbs_rotate(m->inertia + 9 * (k - 1), w, Jw);
        mbs_cross(w, Jw, n);
        for (int i = 0; i < 3; i++) f[3 + i] -= n[i];
    }
}

/* By omega: -(omega~ J - (J omega)~). */
static void gyroscopic_derivative(mbs_context *x)
{
    const mbs_mechanism *m = x->m;
    for (int k = 1; !m->planar && k <= m->nbody; k++) {
        const double *J = m->inertia + 9 * (k - 1), *w = x->pose[k].w;
        double Jw[3];
        mbs_rotate(J, w, Jw);
        for (int c = 0; c < 3; c++) {
            double e[3] = {c == 0, c == 1, c == 2}, Je[3], n1[3], n2[3];
            mbs_rotate(J, e, Je);
            mbs_cross(w, Je, n1);
            mbs_cross(e, Jw, n2);
            int column = m->nv + mbs_slot_of(m, k, 3 + c);
            for (int i = 0; i < 3; i++)
                x->J[(size_t)mbs_slot_of(m, k, 3 + i) * (size_t)x->nz + (size_t)column] -= n1[i] + n2[i];
        }
    }
}

void mbs_apply_forces(mbs_context *x)
{
    const mbs_mechanism *m = x->m;
    body_forces(x);
    for (int k = 0; k < m->nforce; k++) {
        mbs_dual_reset(x);
        m->force[k].type->apply(&m->force[k], x);
    }
    for (int k = 0; m->friction && k < m->njoint; k++) {
        mbs_dual_reset(x);
        if (m->joint[k].model->friction.mu > 0) mbs_apply_friction(&m->joint[k], x);
    }
    mbs_apply_rest(x);
}

static int force(const dae_mech_point *y, double *f, void *user)
{
    const mbs_mechanism *m = user;
    mbs_context x = mbs_begin_at(m, y);
    x.f = f;
    memset(f, 0, (size_t)m->nv * sizeof *f);
    mbs_apply_forces(&x);
    mbs_end(&x);
    return 0;
}

static int dynamics(const dae_mech_point *y, double *du, void *user)
{
    const mbs_mechanism *m = user;
    mbs_context x = mbs_begin_at(m, y);
    memset(du, 0, (size_t)m->nu * sizeof *du);
    for (int k = 0; k < m->nforce; k++) {
        const mbs_force_data *f = &m->force[k];
        if (f->u >= 0 || f->grip >= 0) f->type->dynamics(f, &x, du + (f->u >= 0 ? f->u : f->grip));
    }
    mbs_external_dynamics(&x, du + m->external_u);
    mbs_end(&x);
    return 0;
}

/* ---- Derivatives of forces ---------------------------------------------------------------------------- */

static mbs_context differentiated(const dae_mech_point *y, const mbs_mechanism *m)
{
    mbs_context x;
    if (mbs_begin_derivatives_at(m, y, &x)) return x; /* df/dp, df/dv and df/dt are asked for together */
    mbs_apply_forces(&x);
    gyroscopic_derivative(&x);
    return x;
}

/* Columns by small rotations become columns by Euler parameters: d(rotation) = 2 L d(e) / |e|^2,
 * L = [-e, -e~ + e0 I]. */
static void by_position(const mbs_context *x, const double *p, double *out)
{
    const mbs_mechanism *m = x->m;
    size_t nv = (size_t)m->nv, nz = (size_t)x->nz;
    for (size_t r = 0; r < nv; r++) {
        const double *row = x->J + r * nz;
        for (int b = 0; b < m->nbody; b++) {
            const double *w = row + b * m->bv, *e = p + b * m->bp + 3;
            double *to = out + (size_t)(b * m->bp) * nv + r;
            for (int c = 0; c < 3; c++) to[(size_t)c * nv] = w[c];
            if (m->planar) continue;
            double s = 2 / (e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3]), n[3];
            mbs_cross(w + 3, e + 1, n); /* w^T e~ */
            to[3 * nv] = -s * mbs_dot(w + 3, e + 1);
            for (int c = 0; c < 3; c++) to[(size_t)(4 + c) * nv] = s * (e[0] * w[3 + c] - n[c]);
        }
    }
}

static int dfdp(const dae_mech_point *y, double *out, void *user)
{
    mbs_context x = differentiated(y, user);
    by_position(&x, y->p, out);
    mbs_end(&x);
    return 0;
}

static void columns(const mbs_context *x, int first, int count, double *out)
{
    size_t nv = (size_t)x->m->nv;
    for (size_t r = 0; r < nv; r++) {
        for (int c = 0; c < count; c++)
            out[(size_t)c * nv + r] = x->J[r * (size_t)x->nz + (size_t)(first + c)];
    }
}

static int dfdv(const dae_mech_point *y, double *out, void *user)
{
    mbs_context x = differentiated(y, user);
    columns(&x, x.m->nv, x.m->nv, out);
    mbs_end(&x);
    return 0;
}

static int dfdlambda(const dae_mech_point *y, double *out, void *user)
{
    mbs_context x = differentiated(y, user);
    columns(&x, 2 * x.m->nv + x.m->nu, x.m->nlambda, out);
    mbs_end(&x);
    return 0;
}

static int dfdt(const dae_mech_point *y, double *out, void *user)
{
    mbs_context x = differentiated(y, user);
    columns(&x, x.nz - 1, 1, out);
    mbs_end(&x);
    return 0;
}

/* Adds factor G^T lambda as a force. */
static void apply_constraints(mbs_context *x, double factor, const double *lambda)
{
    for (int k = 0; k < x->m->nrows; k++) {
        const mbs_row *r = &x->m->row[k];
        mbs_dual l[3];
        mbs_dual_reset(x);
        for (int i = 0; i < r->count; i++)
            l[i] = mbs_constant(r->system[i] >= 0 ? -factor * lambda[r->system[i]] : 0);
        r->type->force(r, x, l);
    }
}

dae_status mbs_mechanism_constraint_stiffness(const mbs_mechanism *m, double t, const double *y,
                                              const double *lambda, double *K)
{
    if (!mbs_has_derivatives(m)) return DAE_ERR_UNSUPPORTED;
    mbs_context x = mbs_begin_derivatives(m, t, y, y + m->np);
    apply_constraints(&x, 1, lambda);
    by_position(&x, y, K);
    mbs_end(&x);
    return DAE_OK;
}

void mbs_force_stiffness(const mbs_mechanism *m, double t, const double *y, const double *lambda, double *K)
{
    mbs_context x = mbs_begin_derivatives(m, t, y, y + m->np);
    x.u = y + m->np + m->nv;
    x.lambda = lambda;
    mbs_apply_forces(&x);
    gyroscopic_derivative(&x);
    apply_constraints(&x, -1, lambda);
    for (int r = 0; r < m->nv; r++)
        memcpy(K + r * m->nv, x.J + (size_t)r * (size_t)x.nz, (size_t)m->nv * sizeof *K);
    mbs_end(&x);
}

/* ---- Constraints ------------------------------------------------------------------------------------- */

static void residuals(const mbs_context *x, double *g)
{
    for (int k = 0; k < x->m->nrows; k++) {
        const mbs_row *r = &x->m->row[k];
        double value[3];
        if (!r->type->holonomic) continue;
        r->type->residual(r, x, value);
        for (int i = 0; i < r->count; i++) {
            if (r->system[i] >= 0) g[r->system[i]] = value[i];
        }
    }
}

static int constraint(const dae_mech_point *y, double *g, double *G, void *user)
{
    const mbs_mechanism *m = user;
    mbs_context x = mbs_begin_at(m, y);
    if (g) residuals(&x, g);
    for (int k = 0; G && k < m->nrows; k++) {
        const mbs_row *r = &m->row[k];
        double rows[72] = {0};
        r->type->jacobian(r, &x, rows);
        for (int i = 0; i < r->count; i++) {
            if (r->system[i] < 0) continue;
            for (int b = 0; b < r->nbody; b++) {
                for (int c = 0; c < 6; c++) {
                    int slot = mbs_slot_of(m, r->body[b], c);
                    if (slot >= 0)
                        G[(size_t)slot * (size_t)m->nlambda + (size_t)r->system[i]] +=
                            rows[24 * i + 6 * b + c];
                }
            }
        }
    }
    mbs_end(&x);
    return 0;
}

/* Planar pairs of points are by far the most frequent rows: written out. */
static void planar_coincide(const mbs_row *r, const mbs_context *x, double *G)
{
    const int *place = r->place;
    const mbs_frame *f[2] = {&r->i, &r->j};
    for (int b = 0; b < 2; b++) {
        const double *A = x->pose[f[b]->body].A, *s = f[b]->s;
        double sign = b ? 1 : -1, px = A[0] * s[0] + A[1] * s[1], py = A[3] * s[0] + A[4] * s[1];
        if (f[b]->body == 0) continue;
        const int *one = place + 3 * b, *two = place + 6 + 3 * b;
        if (one[0] >= 0) {
            G[one[0]] += sign;
            G[one[2]] -= sign * py;
        }
        if (two[1] >= 0) {
            G[two[1]] += sign;
            G[two[2]] += sign * px;
        }
    }
}

static int constraint_sparse(const dae_mech_point *y, double *g, double *G, void *user)
{
    const mbs_mechanism *m = user;
    mbs_context x = mbs_begin_at(m, y);
    if (g) residuals(&x, g);
    if (G) memset(G, 0, (size_t)m->system.mech.G_colptr[m->nv] * sizeof *G);
    for (int k = 0; G && k < m->nrows; k++) {
        const mbs_row *r = &m->row[k];
        if (m->planar && r->type == &mbs_row_coincide) {
            planar_coincide(r, &x, G);
            continue;
        }
        double rows[72] = {0};
        const int *place = r->place;
        r->type->jacobian(r, &x, rows);
        for (int i = 0; i < r->count; i++) {
            for (int b = 0; b < r->nbody; b++) {
                for (int c = 0; c < m->bv; c++, place++) {
                    int from = m->planar && c == 2 ? 5 : c;
                    if (*place >= 0) G[*place] += rows[24 * i + 6 * b + from];
                }
            }
        }
    }
    mbs_end(&x);
    return 0;
}

static int velocity(const dae_mech_point *y, double *gI, void *user)
{
    const mbs_mechanism *m = user;
    mbs_context x = mbs_begin_at(m, y);
    memset(gI, 0, (size_t)m->nlambda * sizeof *gI);
    for (int k = 0; k < m->nrows; k++) {
        const mbs_row *r = &m->row[k];
        double c[3];
        if (r->motion < 0 || r->system[0] < 0) continue;
        mbs_motion(&x, r->motion, c);
        gI[r->system[0]] = -c[1];
    }
    mbs_end(&x);
    return 0;
}

static int gamma_of(const dae_mech_point *y, double *gamma, void *user)
{
    const mbs_mechanism *m = user;
    mbs_context x = mbs_begin_at(m, y);
    for (int k = 0; k < m->nrows; k++) {
        const mbs_row *r = &m->row[k];
        double value[3];
        r->type->gamma(r, &x, value);
        for (int i = 0; i < r->count; i++) {
            if (r->system[i] >= 0) gamma[r->system[i]] = value[i];
        }
    }
    mbs_end(&x);
    return 0;
}

void mbs_all_rows(const mbs_context *x, double *g, double *G, double *gI, double *gamma)
{
    const mbs_mechanism *m = x->m;
    for (int k = 0; k < m->nrows; k++) {
        const mbs_row *r = &m->row[k];
        int first = r->first;
        double rows[72] = {0}, value[3] = {0}, c[3] = {0};
        if (G) r->type->jacobian(r, x, rows);
        if (g && r->type->holonomic) r->type->residual(r, x, value);
        for (int i = 0; i < r->count; i++) {
            if (g) g[first + i] = value[i];
            if (gI) gI[first + i] = 0;
            for (int b = 0; G && b < r->nbody; b++) {
                for (int s = 0; s < 6; s++) {
                    int slot = mbs_slot_of(m, r->body[b], s);
                    if (slot >= 0)
                        G[(size_t)slot * (size_t)m->nrow + (size_t)(first + i)] += rows[24 * i + 6 * b + s];
                }
            }
        }
        if (gI && r->motion >= 0) {
            mbs_motion(x, r->motion, c);
            gI[first] = -c[1];
        }
        if (gamma) r->type->gamma(r, x, gamma + first);
    }
}

/* ---- Kinematics and mass ------------------------------------------------------------------------------ */

/* r' = v, e' = L^T omega / 2. */
static int kinematics(const dae_mech_point *y, double *out, void *user)
{
    const mbs_mechanism *m = user;
    const double *p = y->p, *v = y->v;
    for (int k = 0; k < m->nbody; k++, p += 7, v += 6, out += 7) {
        const double *e = p + 3, *w = v + 3;
        mbs_set(out, v);
        out[3] = 0.5 * (-e[1] * w[0] - e[2] * w[1] - e[3] * w[2]);
        out[4] = 0.5 * (e[0] * w[0] - e[3] * w[1] + e[2] * w[2]);
        out[5] = 0.5 * (e[3] * w[0] + e[0] * w[1] - e[1] * w[2]);
        out[6] = 0.5 * (-e[2] * w[0] + e[1] * w[1] + e[0] * w[2]);
    }
    return 0;
}

static int mass_blocks(const dae_mech_point *y, double *out, void *user)
{
    const mbs_mechanism *m = user;
    (void)y;
    memcpy(out, m->blocks, (size_t)m->nbody * (size_t)m->bv * (size_t)m->bv * sizeof *out);
    return 0;
}

void mbs_set_callbacks(mbs_mechanism *m)
{
    dae_mech *s = &m->system.mech;
    int moved = 0;
    for (int k = 0; k < m->nrows; k++) {
        double value;
        moved |= m->row[k].motion >= 0 && !dae_expression_constant(m->expression[m->row[k].motion], &value);
    }
    s->force = force;
    s->constraint = m->nlambda ? constraint : NULL;
    s->constraint_sparse = m->nlambda ? constraint_sparse : NULL;
    s->kinematics = m->planar ? NULL : kinematics;
    s->velocity = moved ? velocity : NULL;
    s->gamma = m->nlambda ? gamma_of : NULL;
    s->dynamics = m->nu ? dynamics : NULL;
    s->mass_blocks = mass_blocks;
    if (mbs_has_derivatives(m)) {
        s->dfdp = dfdp;
        s->dfdv = dfdv;
        s->dfdt = dfdt;
        s->dfdlambda = m->friction ? dfdlambda : NULL;
    }
    s->cache_size = mbs_cache_size(m);
    s->user = m;
}

/* ---- Energies ---------------------------------------------------------------------------------------- */

void mbs_energies(mbs_context *x, double *kinetic, double *potential)
{
    const mbs_mechanism *m = x->m;
    *kinetic = *potential = 0;
    for (int k = 1; k <= m->nbody; k++) {
        const mbs_pose *b = &x->pose[k];
        double Jw[3];
        mbs_rotate(m->inertia + 9 * (k - 1), b->w, Jw);
        *kinetic += 0.5 * (m->mass[k - 1] * mbs_dot(b->v, b->v) + mbs_dot(b->w, Jw));
        *potential -= m->mass[k - 1] * mbs_dot(m->gravity, b->r);
    }
    for (int k = 0; k < m->nforce; k++) {
        if (m->force[k].type->potential) *potential += m->force[k].type->potential(&m->force[k], x);
    }
}
