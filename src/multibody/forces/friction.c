/* Dry friction in a joint. It depends on the reaction force, so on the multipliers:
 *     revolute:   torque -mu r N tanh(w/speed),   prismatic: force -mu N tanh(v/speed),
 * N the magnitude of the multipliers that carry the normal force. With stick and slip (switch.c) the states are mode,
 * anchor, k and c:
 *     mode +1, -1 (slips that way): -mode mu r N,   mode 0 (sticks): -k (q - anchor) - c q'. */
#include "multibody/forces/friction.h"

#include "multibody/dual.h"

static int carries_force(const mbs_row *r)
{
    return r->type == &mbs_row_coincide || r->type == &mbs_row_carried || r->type == &mbs_row_dot2;
}

/* The only multiplier that carries the normal force, -1: there are several. */
static int only_multiplier(const mbs_mechanism *m, const mbs_joint_data *j)
{
    int count = 0, only = -1;
    for (int k = j->first; k < j->first + j->count; k++) {
        const mbs_row *r = &m->row[k];
        if (!carries_force(r)) continue;
        count += r->count;
        only = r->system[0];
    }
    return count == 1 ? only : -1;
}

/* |lambda| where it is one, which switches; else sqrt(sum lambda^2 + small^2): smooth where it passes through zero. */
static mbs_dual normal_force(mbs_context *x, const mbs_joint_data *j)
{
    int only = only_multiplier(x->m, j);
    if (only >= 0) {
        mbs_dual l = mbs_multiplier_dual(x, only);
        return mbs_sum(x, mbs_branch(x, j->side, l.x), l, 0, l);
    }
    const double small = 1e-9;
    mbs_dual sum = mbs_constant(small * small);
    for (int k = j->first; k < j->first + j->count; k++) {
        const mbs_row *r = &x->m->row[k];
        if (!carries_force(r)) continue;
        for (int i = 0; i < r->count; i++) {
            mbs_dual l = mbs_multiplier_dual(x, r->system[i]);
            sum = mbs_sum(x, 1, sum, 1, mbs_product(x, l, l));
        }
    }
    double N = sqrt(sum.x);
    return mbs_chain(x, sum, N, 0.5 / N);
}

double mbs_normal_force(const mbs_mechanism *m, const mbs_joint_data *j, const double *lambda)
{
    mbs_context x = {.m = m, .lambda = lambda};
    return normal_force(&x, j).x;
}

/* -k (q - anchor) - c q'; an angle of space is taken on its nearest turn. */
static mbs_dual grip(mbs_context *x, const mbs_coordinate *q, const double *u)
{
    mbs_dual value, rate;
    mbs_coordinate_dual(x, q, &value, &rate);
    value.x -= u[1];
    if (q->kind == MBS_ANGLE && !x->m->planar) value.x = remainder(value.x, 2 * 3.14159265358979323846);
    return mbs_sum(x, -u[2], value, -u[3], rate);
}

void mbs_apply_friction(const mbs_joint_data *j, mbs_context *x)
{
    const mbs_friction *m = &j->model->friction;
    const mbs_coordinate *q = j->main == MBS_ANGLE ? &j->angle : &j->slide;
    const double *u = j->grip >= 0 && x->u ? x->u + j->grip : NULL;
    if (u && mbs_mode(u) == 0) {
        mbs_apply_coordinate(x, q, grip(x, q, u));
        return;
    }
    if (!x->lambda) return;
    double lever = j->main == MBS_ANGLE ? m->radius : 1, s = m->v_s > 0 ? m->v_s : 1e-3;
    mbs_dual value, rate, N = normal_force(x, j);
    if (u) {
        mbs_apply_coordinate(x, q, mbs_sum(x, -mbs_mode(u) * m->mu * lever, N, 0, N));
        return;
    }
    mbs_coordinate_dual(x, q, &value, &rate);
    int slips = mbs_layer(x, j->side + 1, rate.x, MBS_FULL_FRICTION * s);
    if (slips) {
        mbs_apply_coordinate(x, q, mbs_sum(x, -slips * m->mu * lever, N, 0, N));
        return;
    }
    double th = tanh(rate.x / s);
    mbs_dual F = mbs_product(x, N, mbs_chain(x, rate, th, (1 - th * th) / s));
    mbs_apply_coordinate(x, q, mbs_sum(x, -m->mu * lever, F, 0, F));
}

/* v tanh(|v|/s)/|v|, smooth at 0. Where |v| is many s that is 1 to the last digit, and the sharp bend about 0 is entered and
 * left by a switch. */
mbs_dual3 mbs_slip_direction(mbs_context *x, int side, mbs_dual3 v, double s)
{
    mbs_dual n = mbs_norm3(x, v);
    double full = MBS_FULL_FRICTION * s, r = n.x / s, th = tanh(r), factor, slope;
    if (mbs_branch(x, side, (n.x * n.x / full - full) / 2) > 0 && r > 1) th = 1;
    if (r < 1e-3) {
        factor = (1 - r * r / 3) / s;
        slope = -2 * r / (3 * s * s);
    } else {
        factor = th / n.x;
        slope = ((1 - th * th) / s - factor) / n.x;
    }
    return mbs_scale3(x, mbs_chain(x, n, factor, slope), v);
}
