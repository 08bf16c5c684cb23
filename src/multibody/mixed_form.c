/* The mixed form of a mechanism: coordinates of the bodies and of the joints, [MEXX] section 1.3.
 *
 *     p = (p, q),  v = (v, s),  M = diag(M, 0),  G = (K, J),
 *
 * where k(p, q) = 0 tells the pose of every body from that of its parent and its joint coordinates. With Â, c, S the
 * orientation, the distance of the centers and the motions of the joint at (A_parent, q):
 *
 *     k:   r - r_parent - c = 0,                                rotation from Â to A = 0
 *     G v: r' - r_parent' - omega_parent x c - S_lin s = 0,     omega' - Â^T (omega_parent + S_rot s) = 0
 *
 * (omega' in body axes). Rows that close loops follow, holonomic ones first. K is invertible, so that M is definite on
 * the kernel of G although joints have no mass. */
#include "multibody/joint_coordinates.h"

#include <stdlib.h>
#include <string.h>

typedef struct rows {
    double *g, *G; /* may be NULL */
    int nrow;
} rows;

static void put(const rows *o, int row, int column, double value)
{
    if (o->G && column >= 0) o->G[(size_t)column * (size_t)o->nrow + (size_t)row] += value;
}

/* ---- Joints of the tree --------------------------------------------------------------------------------------- */

static void link_plane(const mbs_tree *t, const mbs_link *k, const mbs_pose *parent, const mbs_pose *x,
                       const double *q, int row, const rows *o)
{
    const mbs_mechanism *m = t->m;
    double pc = parent->A[0], ps = parent->A[3], u[2], S[9] = {0}, w[2], angle = parent->angle + k->offset;
    u[0] = pc * k->si[0] - ps * k->si[1];
    u[1] = ps * k->si[0] + pc * k->si[1];
    if (k->kind == MBS_LINK_REVOLUTE) angle += q[0];
    if (k->kind == MBS_LINK_PRISMATIC) {
        S[0] = pc * k->axis[2] - ps * k->axis[5];
        S[1] = ps * k->axis[2] + pc * k->axis[5];
        u[0] += q[0] * S[0], u[1] += q[0] * S[1];
    }
    if (k->kind == MBS_LINK_FREE) {
        angle = q[2];
        u[0] = q[0], u[1] = q[1];
        S[0] = S[4] = S[8] = 1;
    }
    double c = cos(angle), s = sin(angle);
    w[0] = -(c * k->sj[0] - s * k->sj[1]);
    w[1] = -(s * k->sj[0] + c * k->sj[1]);
    if (k->kind == MBS_LINK_REVOLUTE) S[0] = -w[1], S[1] = w[0], S[2] = 1;
    int own = mbs_slot_of(m, k->body, 0), on = mbs_slot_of(m, t->link[k->parent].body, 0);
    for (int i = 0; i < 3; i++) {
        put(o, row + i, own + i, 1);
        if (on >= 0) put(o, row + i, on + i, -1);
        for (int j = 0; j < k->dof; j++) put(o, row + i, m->nv + k->s + j, -S[3 * j + i]);
    }
    if (on >= 0) {
        put(o, row, on + 2, u[1] + w[1]);
        put(o, row + 1, on + 2, -(u[0] + w[0]));
    }
    for (int i = 0; o->g && i < 2; i++) o->g[row + i] = x->r[i] - parent->r[i] - u[i] - w[i];
    if (o->g) o->g[row + 2] = x->angle - angle;
}

static void link_space(const mbs_tree *t, const mbs_link *k, const mbs_pose *parent, const mbs_pose *x,
                       const double *q, int row, const rows *o)
{
    const mbs_mechanism *m = t->m;
    mbs_link_state y = {.A = {0}};
    double S[36], E[9], B[9], c[3], a[3];
    mbs_link_geometry(k, parent->A, q, &y, S);
    mbs_set(c, y.c);
    mbs_multiply_back(y.A, parent->A, B); /* Â^T A_parent */
    int own = mbs_slot_of(m, k->body, 0), on = mbs_slot_of(m, t->link[k->parent].body, 0);
    for (int i = 0; i < 6; i++) put(o, row + i, own + i, 1);
    for (int i = 0; i < 3 && on >= 0; i++) {
        double e[3] = {i == 0, i == 1, i == 2}, h[3], l[3];
        put(o, row + i, on + i, -1);
        mbs_rotate(parent->A, e, h);
        mbs_cross(c, h, l); /* -omega x c */
        for (int r = 0; r < 3; r++) {
            put(o, row + r, on + 3 + i, l[r]);
            put(o, row + 3 + r, on + 3 + i, -B[3 * r + i]);
        }
    }
    for (int j = 0; j < k->dof; j++) {
        mbs_rotate_back(y.A, S + 6 * j + 3, a);
        for (int r = 0; r < 3; r++) {
            put(o, row + r, m->nv + k->s + j, -S[6 * j + r]);
            put(o, row + 3 + r, m->nv + k->s + j, -a[r]);
        }
    }
    if (!o->g) return;
    mbs_multiply_back(y.A, x->A, E);
    for (int i = 0; i < 3; i++) {
        o->g[row + i] = x->r[i] - parent->r[i] - c[i];
        o->g[row + 3 + i] = (E[3 * ((i + 2) % 3) + (i + 1) % 3] - E[3 * ((i + 1) % 3) + (i + 2) % 3]) / 2;
    }
}

/* ---- Loops ---------------------------------------------------------------------------------------------------------- */

static void loop_rows(const mbs_tree *t, const mbs_context *x, const rows *o)
{
    const mbs_mechanism *m = t->m;
    for (int n = 0; n < t->nloop_group; n++) {
        const mbs_row *r = &m->row[t->loop_group[n]];
        double all[72] = {0}, value[3] = {0, 0, 0};
        int row = m->nv + t->first_loop_row[n];
        if (o->g && r->type->holonomic) r->type->residual(r, x, value);
        if (o->G) r->type->jacobian(r, x, all);
        for (int i = 0; i < r->count; i++) {
            if (r->system[i] < 0) continue;
            for (int e = 0; e < 6 * r->nbody; e++)
                put(o, row, mbs_slot_of(m, r->body[e / 6], e % 6), all[24 * i + e]);
            if (o->g && r->type->holonomic) o->g[row] = value[i];
            row++;
        }
    }
}

/* ---- Functions of the system ---------------------------------------------------------------------------------------- */

static int constraint(const dae_mech_point *y, double *g, double *G, void *user)
{
    const mbs_mechanism *m = user;
    const mbs_tree *t = m->tree;
    rows o = {g, G, m->mixed.mech.nlambda};
    mbs_context x = mbs_begin(m, y->t, y->p, NULL);
    for (int n = 1; n <= t->n; n++) {
        const mbs_link *k = &t->link[n];
        const mbs_pose *parent = &x.pose[t->link[k->parent].body], *own = &x.pose[k->body];
        const double *q = y->p + m->np + k->q;
        if (m->planar) link_plane(t, k, parent, own, q, m->bv * (n - 1), &o);
        else link_space(t, k, parent, own, q, m->bv * (n - 1), &o);
    }
    loop_rows(t, &x, &o);
    mbs_end(&x);
    return 0;
}

/* The point as the system of the bodies sees it: it has no multipliers in common with this one. */
static dae_mech_point of_bodies(const dae_mech_point *y)
{
    return (dae_mech_point){.t = y->t, .p = y->p, .v = y->v, .u = y->u};
}

static int force(const dae_mech_point *y, double *f, void *user)
{
    const mbs_mechanism *m = user;
    dae_mech_point x = of_bodies(y);
    memset(f + m->nv, 0, (size_t)m->tree->ns * sizeof *f);
    return m->system.mech.force(&x, f, m->system.mech.user);
}

static int dynamics(const dae_mech_point *y, double *du, void *user)
{
    const mbs_mechanism *m = user;
    dae_mech_point x = of_bodies(y);
    return m->system.mech.dynamics(&x, du, m->system.mech.user);
}

static int kinematics(const dae_mech_point *y, double *out, void *user)
{
    const mbs_mechanism *m = user;
    dae_mech_point x = of_bodies(y);
    mbs_position_rates(m->tree, y->p + m->np, y->v + m->nv, out + m->np);
    return m->system.mech.kinematics(&x, out, m->system.mech.user);
}

/* gI: motions in time are those of drivers, which close loops. */
static int velocity(const dae_mech_point *y, double *gI, void *user)
{
    const mbs_mechanism *m = user;
    const mbs_tree *t = m->tree;
    mbs_context x = mbs_begin(m, y->t, y->p, NULL);
    memset(gI, 0, (size_t)m->mixed.mech.nlambda * sizeof *gI);
    for (int n = 0; n < t->nloop_group; n++) {
        const mbs_row *r = &m->row[t->loop_group[n]];
        double c[3];
        if (r->motion < 0 || r->system[0] < 0) continue;
        mbs_motion(&x, r->motion, c);
        gI[m->nv + t->first_loop_row[n]] = -c[1];
    }
    mbs_end(&x);
    return 0;
}

/* ---- Building --------------------------------------------------------------------------------------------------------- */

/* diag(M, 0) in the storage of M, whose columns are all there. */
static dae_matrix mass_of(mbs_mechanism *m, int nv)
{
    const dae_matrix *M = &m->system.mech.mass;
    if (m->planar) {
        double *a = dae_arena_reals(m->arena, (size_t)nv);
        if (a) memcpy(a, M->a, (size_t)m->nv * sizeof *a);
        return dae_diagonal(nv, a);
    }
    int *colptr = dae_arena_ints(m->arena, (size_t)nv + 1);
    for (int j = 0; colptr && j <= nv; j++) colptr[j] = M->pattern.colptr[j < m->nv ? j : m->nv];
    return dae_sparse(nv, colptr, M->pattern.rowind, M->a);
}

void mbs_build_mixed_form(mbs_mechanism *m)
{
    const mbs_tree *t = m->tree;
    if (!t) return;
    dae_mech *s = &m->mixed.mech;
    int nv = m->nv + t->ns, turns = 0, *quaternion = dae_arena_ints(m->arena, 2 * (size_t)m->nbody + 1);
    if (!quaternion) return;
    for (int k = 0; k < m->nbody && !m->planar; k++) quaternion[turns++] = 7 * k + 3;
    for (int n = 1; n <= t->n && !m->planar; n++) {
        const mbs_link *k = &t->link[n];
        if (k->kind == MBS_LINK_SPHERICAL) quaternion[turns++] = m->np + k->q;
        if (k->kind == MBS_LINK_FREE) quaternion[turns++] = m->np + k->q + 3;
    }
    int moved = m->system.mech.velocity != NULL;
    m->mixed.kind = DAE_KIND_MECH;
    *s = (dae_mech){.np = m->np + t->nq,
                    .nv = nv,
                    .nu = m->nu,
                    .ng = m->nv + t->nloop_g,
                    .nlambda = m->nv + t->nloop,
                    .mass = mass_of(m, nv),
                    .force = force,
                    .constraint = constraint,
                    .kinematics = m->planar ? NULL : kinematics,
                    .velocity = moved ? velocity : NULL,
                    .dynamics = m->nu ? dynamics : NULL,
                    .quaternion = turns ? quaternion : NULL,
                    .nquaternion = turns,
                    .user = m};
}

const dae_system *mbs_mechanism_mixed_system(const mbs_mechanism *m)
{
    return m && m->mixed.mech.nv ? &m->mixed : NULL;
}

dae_status mbs_mechanism_mixed_state(const mbs_mechanism *m, double time, const double *y, double *mixed,
                                     dae_error *err)
{
    const mbs_tree *t = m->tree;
    if (!t) return dae_fail(err, DAE_ERR_UNSUPPORTED, time, "this mechanism has no joint coordinates");
    size_t np = (size_t)m->np, nv = (size_t)m->nv;
    void *work = calloc(1, t->form.work_size);
    if (!work) return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    double *q = mixed + np, *v = q + t->nq, *s = v + nv;
    int open = t->form.from_absolute(time, y, y + np, q, s, work, t->form.user);
    free(work);
    memcpy(mixed, y, np * sizeof *y);
    memcpy(v, y + np, nv * sizeof *y);
    memcpy(s + t->ns, y + np + nv, (size_t)m->nu * sizeof *y);
    if (!open) return DAE_OK;
    return dae_fail(err, DAE_ERR_INCONSISTENT, time, "the positions do not satisfy the joints");
}
