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

int mbs_add_coincide(mbs_builder *b, const mbs_frame *i, const mbs_frame *j)
{
    return mbs_add_row(b, &mbs_row_coincide, b->m->planar ? 2 : 3, i, j) ? 0 : -1;
}
