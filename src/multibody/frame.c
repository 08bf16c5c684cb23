/* Frames fixed in bodies: of points, at global places, about axes. */
#include "multibody/build.h"

#include <string.h>

static int oriented(const mbs_point *p)
{
    return p->angle != 0 || p->q[0] != 0 || p->q[1] != 0 || p->q[2] != 0 || p->q[3] != 0;
}

/* A point by name; C is its frame in the body. */
dae_status mbs_point_frame(mbs_builder *b, const char *field, const char *name, mbs_frame *f, int *has_frame)
{
    const mbs_model *model = b->m->model;
    int k = mbs_find_point(model, name);
    if (k < 0) {
        char hint[64];
        mbs_nearest_name(name, model->point, model->npoint, sizeof *model->point, hint, sizeof hint);
        return mbs_wrong(b, "%s: there is no point \"%s\"%s%s%s", field, name, DAE_DID_YOU_MEAN(hint));
    }
    const mbs_point *p = &model->point[k];
    if (p->body < 0 || p->body > b->m->nbody)
        return mbs_wrong(b, "%s: point \"%s\" is on body %d; the model has %d", field, name, p->body,
                         b->m->nbody);
    f->body = p->body;
    mbs_set(f->s, p->r);
    memcpy(f->C, mbs_identity, sizeof mbs_identity);
    if (b->m->planar) {
        f->s[2] = 0;
        mbs_plane_matrix(p->angle, f->C);
    } else if (oriented(p)) {
        mbs_quaternion_matrix(p->q, f->C);
    }
    if (has_frame) *has_frame = oriented(p);
    return DAE_OK;
}

/* A point of a body that is at a global place in the described pose. */
void mbs_place_frame(const mbs_builder *b, int body, const double *at, mbs_frame *f)
{
    const mbs_pose *x = &b->initial[body];
    double d[3];
    for (int k = 0; k < 3; k++) d[k] = at[k] - x->r[k];
    f->body = body;
    mbs_rotate_back(x->A, d, f->s);
    memcpy(f->C, mbs_identity, sizeof mbs_identity);
}

/* Turns the frame so that h is the axis given in it (zero: local x); f and g are any perpendicular ones, in the
 * plane g = z. */
dae_status mbs_set_axis(mbs_builder *b, mbs_frame *frame, const double *axis)
{
    double local[3] = {1, 0, 0}, h[3], f[3], g[3], length = mbs_norm(axis);
    if (!isfinite(length)) return mbs_wrong(b, "axis: not finite");
    if (b->m->planar && axis[2] != 0) return mbs_wrong(b, "axis: a planar axis has two components");
    for (int k = 0; length > 0 && k < 3; k++) local[k] = axis[k] / length;
    mbs_rotate(frame->C, local, h);
    if (b->m->planar) {
        double z[3] = {0, 0, 1};
        mbs_cross(z, h, f);
    } else {
        double other[3] = {0, 0, 0};
        int small = fabs(h[0]) <= fabs(h[1]) && fabs(h[0]) <= fabs(h[2]) ? 0
                    : fabs(h[1]) <= fabs(h[2])                           ? 1
                                                                         : 2;
        other[small] = 1;
        mbs_cross(other, h, f);
        length = mbs_norm(f);
        for (int k = 0; k < 3; k++) f[k] /= length;
    }
    mbs_cross(h, f, g);
    for (int k = 0; k < 3; k++) {
        frame->C[3 * k] = f[k];
        frame->C[3 * k + 1] = g[k];
        frame->C[3 * k + 2] = h[k];
    }
    return DAE_OK;
}

/* Planar: the angle of local x. */
double mbs_frame_angle(const mbs_frame *f)
{
    return atan2(f->C[3], f->C[0]);
}
