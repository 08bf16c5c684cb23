/* Joint coordinates: one follows a motion, q - c(t) = 0, or two are coupled, k1 q1 + k2 q2 - c(t) = 0 (gears,
 * screws, racks). Angles of spatial joints are known up to whole turns only: the residual is then taken
 * modulo its period. Where there is no period (gears with an irrational ratio) the coupling is one of rates. */
#include "multibody/dual.h"

static int terms(const mbs_row *r)
{
    return r->q[1].kind == MBS_NO_COORDINATE ? 1 : 2;
}

static void residual(const mbs_row *r, const mbs_context *x, double *g)
{
    double c[3] = {r->value, 0, 0};
    if (r->motion >= 0) mbs_motion(x, r->motion, c);
    g[0] = -c[0];
    for (int k = 0; k < terms(r); k++) g[0] += r->factor[k] * mbs_coordinate_value(x, &r->q[k]);
    if (r->period > 0) g[0] -= r->period * nearbyint(g[0] / r->period);
}

static void jacobian(const mbs_row *r, const mbs_context *x, double *G)
{
    for (int k = 0; k < terms(r); k++)
        mbs_coordinate_row(x, &r->q[k], r->factor[k], G + 12 * k, G + 12 * k + 6);
}

static void gamma_of(const mbs_row *r, const mbs_context *x, double *gamma)
{
    double c[3] = {0, 0, 0};
    if (r->motion >= 0) mbs_motion(x, r->motion, c);
    gamma[0] = -c[2];
    for (int k = 0; k < terms(r); k++) gamma[0] += r->factor[k] * mbs_coordinate_bias(x, &r->q[k]);
}

static void force(const mbs_row *r, mbs_context *x, const mbs_dual *lambda)
{
    for (int k = 0; k < terms(r); k++)
        mbs_apply_coordinate(x, &r->q[k], mbs_sum(x, -r->factor[k], lambda[0], 0, lambda[0]));
}

const mbs_row_class mbs_row_coordinate = {"coordinate", 1, residual, jacobian, gamma_of, force};
const mbs_row_class mbs_row_coupling_rate = {"coupling of rates", 0, NULL, jacobian, gamma_of, force};

mbs_row *mbs_add_coordinate(mbs_builder *b, const mbs_coordinate *q, double value)
{
    mbs_row *r = mbs_add_row(b, &mbs_row_coordinate, 1, &q->i, &q->j);
    if (!r) return NULL;
    r->q[0] = *q;
    r->factor[0] = 1;
    r->value = value;
    if (q->kind == MBS_ANGLE && !b->m->planar) r->period = 6.2831853071795864769;
    return r;
}

/* The largest number of which both 1 and x are multiples, 0: none with a small denominator. */
static double common_divisor(double x)
{
    for (int n = 1; n <= 60; n++) {
        double k = nearbyint(x * n);
        if (k != 0 && fabs(x * n - k) < 1e-9 * fabs(k)) return 1.0 / n;
    }
    return 0;
}

mbs_row *mbs_add_coupling(mbs_builder *b, const mbs_coordinate *q1, double factor1, const mbs_coordinate *q2,
                          double factor2, double value)
{
    int angle1 = q1->kind == MBS_ANGLE && !b->m->planar, angle2 = q2->kind == MBS_ANGLE && !b->m->planar;
    const double turn = 6.2831853071795864769;
    double period = 0;
    int irrational = 0;
    if (angle1 && angle2) {
        period = turn * fabs(factor1) * common_divisor(factor2 / factor1);
        irrational = period == 0;
    } else if (angle1 || angle2) {
        period = turn * fabs(angle1 ? factor1 : factor2);
    }
    mbs_row *r = mbs_add_row(b, irrational ? &mbs_row_coupling_rate : &mbs_row_coordinate, 1, &q1->i, &q1->j);
    if (!r) return NULL;
    r->q[0] = *q1;
    r->q[1] = *q2;
    r->factor[0] = factor1;
    r->factor[1] = factor2;
    r->value = value;
    r->period = period;
    r->nbody = 4;
    r->body[2] = q2->i.body;
    r->body[3] = q2->j.body;
    return r;
}
