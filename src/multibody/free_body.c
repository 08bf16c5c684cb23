/* A body without a joint: it hangs on the ground, its coordinates are position and angle or Euler parameters, its
 * rates the velocities of the body. */
#include "multibody/relative.h"

static void plane(const mbs_link *k, const mbs_plane_state *parent, const double *q, const double *s,
                  mbs_plane_state *x, double *u, double *sigma, double *S)
{
    (void)k, (void)parent, (void)sigma;
    x->angle = q[2];
    x->omega = s[2];
    u[0] = q[0], u[1] = q[1];
    for (int i = 0; i < 9; i++) S[i] = i % 4 == 0;
}

static void fit_plane(const mbs_link *k, const mbs_fit *x, double *q)
{
    (void)k;
    q[0] = x->body->r[0], q[1] = x->body->r[1], q[2] = x->body->angle;
}

static void rates_plane(const mbs_link *k, const mbs_fit *x, double *s)
{
    (void)k;
    s[0] = x->body->v[0], s[1] = x->body->v[1], s[2] = x->body->w[2];
}

static void place(const mbs_link *k, const double *parent, const double *q, double *A, double *slide)
{
    (void)k, (void)parent;
    mbs_quaternion_matrix(q + 3, A);
    mbs_set(slide, q);
}

static void columns(const mbs_link *k, const mbs_link_state *x, const double *axes, double *S)
{
    double a[3];
    (void)k;
    for (int i = 0; i < 3; i++) {
        mbs_column(axes, i, a);
        mbs_slide_S(S + 6 * i, a);
    }
    mbs_turns_S(S + 18, x);
}

static void quaternion(const mbs_link *k, const double *q, double *d)
{
    (void)k;
    memcpy(d, q + 3, 4 * sizeof *d);
    mbs_quaternion_normalize(d);
}

static void fit(const mbs_link *k, const mbs_fit *x, double *q)
{
    (void)k;
    mbs_set(q, x->body->r);
    memcpy(q + 3, x->e, sizeof x->e);
}

static void rates(const mbs_link *k, const mbs_fit *x, double *s)
{
    (void)k;
    mbs_set(s, x->body->v);
    mbs_set(s + 3, x->body->w);
}

const mbs_relative mbs_relative_free_plane = {
    .dof = 3, .slides = 3, .plane = plane, .fit = fit_plane, .rates = rates_plane};
const mbs_relative mbs_relative_free_space = {.dof = 6,
                                              .turns = 1,
                                              .slides = 7,
                                              .place = place,
                                              .columns = columns,
                                              .quaternion = quaternion,
                                              .fit = fit,
                                              .rates = rates};
