/* Contact of a point or sphere on b with the half space below the plane of a (normal: local y of the point on a
 * in the plane, local z in space): with the penetration s = radius - n . d,
 *     N = max(0, k s + c s') for s > 0,    friction  -mu N tanh(|v_t|/speed) v_t/|v_t|. */
#include "multibody/dual.h"

static dae_status build(mbs_builder *b, mbs_force_data *f)
{
    if (!(f->model->k > 0)) return mbs_wrong(b, "k must be positive");
    if (f->model->mu < 0) return mbs_wrong(b, "mu must not be negative");
    return DAE_OK;
}

/* v tanh(|v|/s)/|v|, smooth at 0. */
static mbs_dual3 direction(mbs_context *x, mbs_dual3 v, double s)
{
    mbs_dual n = mbs_norm3(x, v);
    double r = n.x / s, th = tanh(r), factor, slope;
    if (r < 1e-3) {
        factor = (1 - r * r / 3) / s;
        slope = -2 * r / (3 * s * s);
    } else {
        factor = th / n.x;
        slope = ((1 - th * th) / s - factor) / n.x;
    }
    return mbs_scale3(x, mbs_chain(x, n, factor, slope), v);
}

static void apply(const mbs_force_data *f, mbs_context *x)
{
    const mbs_force *m = f->model;
    double up[3], d0[3], n0[3];
    mbs_column(f->i.C, 2, up);
    mbs_axis(x, f->i.body, up, n0);
    mbs_separation(x, &f->i, &f->j, d0);
    if (m->radius - mbs_dot(n0, d0) <= 0) return;
    mbs_dual3 n = mbs_axis3(x, f->i.body, up), d = mbs_separation3(x, &f->i, &f->j);
    mbs_dual3 d1 =
        mbs_sum3(x, 1, mbs_separation_rate3(x, &f->i, &f->j), -1, mbs_cross3(x, mbs_omega3(x, f->i.body), d));
    mbs_dual N = mbs_sum(x, -m->k, mbs_dot3(x, n, d), -m->c, mbs_dot3(x, n, d1));
    N.x += m->k * m->radius;
    if (N.x <= 0) return;
    mbs_dual3 F = mbs_scale3(x, N, n), lever = mbs_scale3(x, mbs_constant(-m->radius), n);
    if (m->mu > 0) {
        mbs_dual3 v = mbs_sum3(
            x, 1, d1, 1,
            mbs_cross3(x, mbs_sum3(x, 1, mbs_omega3(x, f->j.body), -1, mbs_omega3(x, f->i.body)), lever));
        v = mbs_sum3(x, 1, v, -1, mbs_scale3(x, mbs_dot3(x, n, v), n));
        mbs_dual3 t = direction(x, v, m->speed > 0 ? m->speed : 1e-3);
        F = mbs_sum3(x, 1, F, -m->mu, mbs_scale3(x, N, t));
    }
    mbs_apply_force(x, &f->j, F, 1);
    mbs_apply_torque(x, f->j.body, mbs_cross3(x, lever, F), 1);
    mbs_apply_force(x, &f->i, F, -1);
    mbs_apply_torque(x, f->i.body, mbs_cross3(x, mbs_sum3(x, 1, d, 1, lever), F), -1);
}

static double potential(const mbs_force_data *f, mbs_context *x)
{
    double up[3], d[3], n[3];
    mbs_column(f->i.C, 2, up);
    mbs_axis(x, f->i.body, up, n);
    mbs_separation(x, &f->i, &f->j, d);
    double s = f->model->radius - mbs_dot(n, d);
    return s > 0 ? 0.5 * f->model->k * s * s : 0;
}

const mbs_force_type mbs_force_contact = {"contact", "", 0, build, apply, potential, NULL};
