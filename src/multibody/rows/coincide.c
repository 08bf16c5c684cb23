/* Two points coincide: g = d = P_j - P_i, three rows (planar: two). The multipliers are the components of the
 * force of body i on body j with the opposite sign. */
#include "multibody/dual.h"

static void residual(const mbs_row *r, const mbs_context *x, double *g)
{
    double d[3];
    mbs_separation(x, &r->i, &r->j, d);
    for (int k = 0; k < r->count; k++) g[k] = d[k];
}

/* Row k: unit vector at P_j, minus the same at P_i. Rotation part: s x (row k of A). */
static void jacobian(const mbs_row *r, const mbs_context *x, double *G)
{
    for (int k = 0; k < r->count; k++) {
        double *row = G + 24 * k, c[3];
        row[k] = -1;
        row[6 + k] = 1;
        mbs_cross(r->i.s, x->pose[r->i.body].A + 3 * k, c);
        for (int n = 0; n < 3; n++) row[3 + n] = -c[n];
        mbs_cross(r->j.s, x->pose[r->j.body].A + 3 * k, c);
        for (int n = 0; n < 3; n++) row[9 + n] = c[n];
    }
}

static void gamma_of(const mbs_row *r, const mbs_context *x, double *gamma)
{
    double d[3];
    mbs_separation_bias(x, &r->i, &r->j, d);
    for (int k = 0; k < r->count; k++) gamma[k] = d[k];
}

static void force(const mbs_row *r, mbs_context *x, const mbs_dual *lambda)
{
    mbs_dual3 F;
    for (int k = 0; k < 3; k++) F.c[k] = k < r->count ? lambda[k] : mbs_constant(0);
    mbs_apply_force(x, &r->j, F, -1);
    mbs_apply_force(x, &r->i, F, 1);
}

const mbs_row_class mbs_row_coincide = {"coincide", 1, residual, jacobian, gamma_of, force};

/* The same in axes a_k = columns of C that turn with one of the bodies: g_k = a_k . d. */

static void carried_axis(const mbs_row *r, int k, double *a)
{
    mbs_column(r->carrier ? r->j.C : r->i.C, k, a);
}

static int carrier_of(const mbs_row *r)
{
    return r->carrier ? r->j.body : r->i.body;
}

static void carried_residual(const mbs_row *r, const mbs_context *x, double *g)
{
    double d[3], local[3], a[3];
    mbs_separation(x, &r->i, &r->j, d);
    for (int k = 0; k < r->count; k++) {
        carried_axis(r, k, local);
        mbs_axis(x, carrier_of(r), local, a);
        g[k] = mbs_dot(a, d);
    }
}

/* d/dt (a . d) = a . d' + (a x d) . omega */
static void carried_jacobian(const mbs_row *r, const mbs_context *x, double *G)
{
    double d[3], local[3], a[3], n[3];
    mbs_separation(x, &r->i, &r->j, d);
    for (int k = 0; k < r->count; k++) {
        double *row = G + 24 * k;
        carried_axis(r, k, local);
        mbs_axis(x, carrier_of(r), local, a);
        mbs_cross(a, d, n);
        mbs_row_of_point(x, &r->i, a, -1, row);
        mbs_row_of_point(x, &r->j, a, 1, row + 6);
        mbs_row_of_rotation(x, carrier_of(r), n, 1, r->carrier ? row + 6 : row);
    }
}

static void carried_gamma(const mbs_row *r, const mbs_context *x, double *gamma)
{
    double local[3];
    for (int k = 0; k < r->count; k++) {
        carried_axis(r, k, local);
        gamma[k] = mbs_distance_bias(x, carrier_of(r), local, &r->i, &r->j);
    }
}

static void carried_force(const mbs_row *r, mbs_context *x, const mbs_dual *lambda)
{
    double local[3], zero[3] = {0, 0, 0};
    mbs_dual3 F = mbs_constant3(zero);
    for (int k = 0; k < r->count; k++) {
        carried_axis(r, k, local);
        F = mbs_sum3(x, 1, F, 1, mbs_scale3(x, lambda[k], mbs_axis3(x, carrier_of(r), local)));
    }
    mbs_apply_force(x, &r->j, F, -1);
    mbs_apply_force(x, &r->i, F, 1);
    mbs_apply_torque(x, carrier_of(r), mbs_cross3(x, F, mbs_separation3(x, &r->i, &r->j)), -1);
}

const mbs_row_class mbs_row_carried = {"carried",    1, carried_residual, carried_jacobian, carried_gamma,
                                       carried_force};

int mbs_add_coincide(mbs_builder *b, const mbs_frame *i, const mbs_frame *j)
{
    return mbs_add_row(b, &mbs_row_coincide, b->m->planar ? 2 : 3, i, j) ? 0 : -1;
}
