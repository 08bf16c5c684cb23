/* Joints: their frames, what their types build, friction. */
#include "multibody/build.h"
#include "multibody/field.h"

#include <stdio.h>
#include <string.h>

static dae_status joint_frames(mbs_builder *b, mbs_joint_data *j)
{
    const mbs_joint *model = j->model;
    int has_a = 0, has_b = 0, nb = b->m->nbody;
    dae_status s = DAE_OK;
    if (model->point_a || model->point_b) {
        if (!model->point_a || !model->point_b) return mbs_wrong(b, "needs both points, a and b");
        s = mbs_point_frame(b, "a", model->point_a, &j->i, &has_a);
        if (!s) s = mbs_point_frame(b, "b", model->point_b, &j->j, &has_b);
    } else {
        if (model->a < 0 || model->a > nb || model->b < 0 || model->b > nb)
            return mbs_wrong(b, "body %d does not exist (the model has %d); add it before the joint",
                             model->a < 0 || model->a > nb ? model->a : model->b, nb);
        mbs_place_frame(b, model->a, model->at, &j->i);
        mbs_place_frame(b, model->b, model->at, &j->j);
    }
    if (s) return s;
    if (j->i.body == j->j.body) return mbs_wrong(b, "a and b are on the same body");
    mbs_column(j->j.C, 0, j->axis_j);
    j->oriented = has_b;
    double angle = mbs_frame_angle(&j->i) - mbs_frame_angle(&j->j), Ca[9], Cb[9], R[9];
    memcpy(Ca, j->i.C, sizeof Ca);
    memcpy(Cb, j->j.C, sizeof Cb);
    s = mbs_set_axis(b, &j->i, model->axis);
    if (s) return s;
    if (has_b && !b->m->planar) { /* the same directions in the frame of b: C_b C_a^T C_i */
        mbs_multiply_back(Ca, j->i.C, R);
        mbs_multiply(Cb, R, j->j.C);
    } else { /* parallel in the described pose */
        mbs_multiply(b->initial[j->i.body].A, j->i.C, R);
        mbs_multiply_back(b->initial[j->j.body].A, R, j->j.C);
    }
    j->angle = (mbs_coordinate){MBS_ANGLE, j->i, j->j, angle};
    j->slide = (mbs_coordinate){MBS_SLIDE, j->i, j->j, 0};
    j->length = (mbs_coordinate){MBS_LENGTH, j->i, j->j, 0};
    return DAE_OK;
}

dae_status mbs_build_fields(mbs_builder *b, const char *type, const mbs_field *table, size_t size,
                            const mbs_value *value, int count, const void **own)
{
    char wrong[300];
    void *fields = dae_arena_take(b->m->arena, 1, size + 1);
    if (!fields) return mbs_no_memory(b);
    *own = fields;
    return mbs_fields_fill(table, type, value, count, fields, wrong, sizeof wrong) ? mbs_wrong(b, "%s", wrong)
                                                                                   : DAE_OK;
}

dae_status mbs_build_joint(mbs_builder *b, int k)
{
    mbs_mechanism *m = b->m;
    mbs_joint_data *j = &m->joint[k];
    j->model = &m->model->joint[k];
    j->grip = -1;
    snprintf(b->path, sizeof b->path, "joints[%d]", k);
    j->type = j->model->type ? mbs_joint_type_find(j->model->type) : NULL;
    if (!j->type) {
        char words[400] = "", hint[64];
        for (int i = 0; mbs_joint_type_at(i); i++) {
            size_t n = strlen(words);
            snprintf(words + n, sizeof words - n, "%s%s", i ? "|" : "", mbs_joint_type_at(i)->name);
        }
        dae_nearest_word(j->model->type ? j->model->type : "", words, hint, sizeof hint);
        return mbs_wrong(b, "type: there is no joint type \"%s\"%s%s%s", j->model->type ? j->model->type : "",
                         DAE_DID_YOU_MEAN(hint));
    }
    if (!(m->planar ? j->type->planar_rows : j->type->spatial_rows))
        return mbs_wrong(b, "type: \"%s\" exists in %s models only", j->type->name,
                         m->planar ? "spatial" : "planar");
    j->main = j->type->main;
    j->first = m->nrows;
    m->njoint = k; /* those before it are ready */
    dae_status s = mbs_build_fields(b, j->type->name, j->type->field, j->type->size, j->model->field,
                                    MBS_JOINT_FIELDS, &j->own);
    if (!s && !j->type->without_points) s = joint_frames(b, j);
    if (!s) s = j->type->build(b, j);
    if (s == DAE_ERR_MEMORY) return mbs_no_memory(b);
    if (s) return s;
    j->count = m->nrows - j->first;
    for (int r = j->first; r < m->nrows; r++) m->row[r].joint = k;
    m->njoint = k + 1;
    if (j->model->friction.mu < 0)
        return mbs_wrong(b, "friction.mu: %g must not be negative", j->model->friction.mu);
    if (j->model->friction.mu > 0) {
        if (j->main != MBS_ANGLE && j->main != MBS_SLIDE)
            return mbs_wrong(b, "friction: a %s joint has no coordinate for it", j->type->name);
        if (j->main == MBS_ANGLE && !(j->model->friction.radius > 0))
            return mbs_wrong(b, "friction.radius: a revolute joint needs the radius of its bearing");
        if (j->model->friction.mu_static != 0 && !(j->model->friction.mu_static >= j->model->friction.mu))
            return mbs_wrong(b, "friction.mu_static: %g must not be below mu = %g",
                             j->model->friction.mu_static, j->model->friction.mu);
        if (!(j->model->friction.stick >= 0)) return mbs_wrong(b, "friction.stick: must not be negative");
        m->friction = 1;
    }
    return DAE_OK;
}
