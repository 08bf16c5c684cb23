/* Forces: where they act, what their types build, their expressions. */
#include "multibody/build.h"
#include "multibody/field.h"

#include <stdio.h>
#include <string.h>

static dae_status force_type(mbs_builder *b, mbs_force_data *f)
{
    f->type = f->model->type ? mbs_force_type_find(f->model->type) : NULL;
    if (f->type) return DAE_OK;
    char words[400] = "", hint[64];
    for (int i = 0; mbs_force_type_at(i); i++) {
        size_t n = strlen(words);
        snprintf(words + n, sizeof words - n, "%s%s", i ? "|" : "", mbs_force_type_at(i)->name);
    }
    dae_nearest_word(f->model->type ? f->model->type : "", words, hint, sizeof hint);
    return mbs_wrong(b, "type: there is no force type \"%s\"%s%s%s", f->model->type ? f->model->type : "",
                     DAE_DID_YOU_MEAN(hint));
}

/* Which of points, joint and body it acts on. */
static dae_status force_place(mbs_builder *b, mbs_force_data *f)
{
    const mbs_force *model = f->model;
    unsigned acts = f->type->acts;
    int pair = acts & MBS_ACTS_BETWEEN;
    dae_status s;
    memcpy(f->i.C, mbs_identity, sizeof mbs_identity);
    f->joint = -1;
    if (!acts) return DAE_OK; /* a block */
    if ((acts & MBS_ACTS_JOINT) && (model->joint || acts == MBS_ACTS_JOINT)) {
        f->joint = model->joint ? mbs_find_joint(b->m->model, model->joint) : -1;
        if (f->joint < 0) {
            char hint[64];
            mbs_nearest_name(model->joint ? model->joint : "", b->m->model->joint, b->m->model->njoint,
                             sizeof(mbs_joint), hint, sizeof hint);
            return mbs_wrong(b, "joint: there is no joint \"%s\"%s%s%s", model->joint ? model->joint : "",
                             DAE_DID_YOU_MEAN(hint));
        }
        const mbs_joint_data *j = &b->m->joint[f->joint];
        if (j->main == MBS_ANGLE) f->q = j->angle;
        if (j->main == MBS_SLIDE) f->q = j->slide;
        if (j->main == MBS_LENGTH) f->q = j->length;
        return DAE_OK;
    }
    if (acts & MBS_ACTS_ALL) return DAE_OK;
    if (acts & MBS_ACTS_BODY) {
        f->body = model->body ? mbs_find_body(b->m->model, model->body) : -1;
        if (f->body >= 1) return DAE_OK;
        char hint[64];
        mbs_nearest_name(model->body ? model->body : "", b->m->model->body, b->m->nbody, sizeof(mbs_body),
                         hint, sizeof hint);
        return mbs_wrong(b, "%s: there is no body \"%s\"%s%s%s",
                         model->body ? "body" : "needs \"joint\" or \"body\"", model->body ? model->body : "",
                         DAE_DID_YOU_MEAN(hint));
    }
    if (pair && (!model->point_a || !model->point_b)) return mbs_wrong(b, "needs the points a and b");
    if (!model->point_b) return mbs_wrong(b, "needs the point b on which it acts");
    s = mbs_point_frame(b, "b", model->point_b, &f->j, NULL);
    if (!s && model->point_a) s = mbs_point_frame(b, "a", model->point_a, &f->i, NULL);
    if (s) return s;
    if (pair && f->i.body == f->j.body) return mbs_wrong(b, "a and b are on the same body");
    f->q.offset = b->m->planar ? mbs_frame_angle(&f->i) - mbs_frame_angle(&f->j) : 0;
    return DAE_OK;
}

/* As many expressions as the type takes; those of vectors are counted by the type. */
static dae_status check_values(mbs_builder *b, const mbs_force_data *f)
{
    int count = f->model->count;
    if (f->type->value == MBS_NO_VALUE && count) return mbs_wrong(b, "value: a %s takes none", f->type->name);
    if (f->type->value == MBS_VALUE_OPTIONAL && count > 1)
        return mbs_wrong(b, "value: expected one expression");
    if (f->type->value == MBS_VALUE_ONE && count != 1) return mbs_wrong(b, "value: expected one expression");
    return DAE_OK;
}

/* Where it stands in a file, which has the blocks before the forces. */
static void put_path(mbs_builder *b, int k)
{
    const mbs_model *m = b->m->model;
    int blocks = 0;
    for (; blocks < m->nforce; blocks++) {
        const mbs_force_type *type =
            m->force[blocks].type ? mbs_force_type_find(m->force[blocks].type) : NULL;
        if (!type || type->acts) break;
    }
    snprintf(b->path, sizeof b->path, k < blocks ? "blocks[%d]" : "forces[%d]", k < blocks ? k : k - blocks);
}

dae_status mbs_build_force(mbs_builder *b, int k)
{
    mbs_mechanism *m = b->m;
    mbs_force_data *f = &m->force[k];
    f->model = &m->model->force[k];
    f->u = f->grip = -1;
    f->units.input = f->units.output = (dae_dimension){.soft = 1};
    for (int i = 0; i < MBS_BLOCK_STATES; i++) f->units.state[i] = f->units.input;
    put_path(b, k);
    dae_status s = force_type(b, f);
    if (!s)
        s = mbs_build_fields(b, f->type->name, f->type->field, f->type->size, f->model->field,
                             MBS_FORCE_FIELDS, &f->own);
    if (!s) s = force_place(b, f);
    if (!s) s = check_values(b, f);
    if (!s) s = f->type->build(b, f);
    if (s) return s;
    if (f->type->states) {
        f->u = m->nu;
        m->nu += f->type->states;
    }
    return DAE_OK;
}

dae_status mbs_build_block_units(mbs_builder *b)
{
    mbs_mechanism *m = b->m;
    int changed = 1;
    for (int pass = 0; pass <= m->nforce && changed; pass++) {
        changed = 0;
        for (int k = 0; k < m->nforce; k++) {
            mbs_force_data *f = &m->force[k];
            mbs_units before = f->units;
            if (!f->type->units) continue;
            b->force = k;
            if (f->model->value[0] && mbs_law_unit(b, f->model->value[0], &f->units.input))
                return mbs_no_memory(b);
            f->type->units(NULL, f, &f->units);
            changed |= memcmp(&before, &f->units, sizeof before) != 0;
        }
    }
    b->force = -1;
    return DAE_OK;
}

dae_status mbs_check_unit(mbs_builder *b, const char *field, const char *text, int expression,
                          const char *unit)
{
    dae_dimension d = dae_expression_dimension(b->m->expression[expression]);
    if (d.soft == DAE_WEIGHED && !dae_expression_constant(b->m->expression[expression], NULL))
        d.soft = 1; /* 20*(x - 2[m]): 20 is a coefficient */
    char fault[300];
    if (!mbs_unit_wrong(unit, &d, text, fault, sizeof fault)) return DAE_OK;
    return mbs_wrong(b, "%s: %s", field, fault);
}

dae_status mbs_build_force_values(mbs_builder *b, int k)
{
    mbs_force_data *f = &b->m->force[k];
    put_path(b, k);
    b->locals = f->type->locals;
    b->force = k;
    for (int i = 0; i < 3; i++) {
        char field[16];
        f->value[i] = -1;
        if (!f->model->value[i] || i >= f->model->count) continue;
        snprintf(field, sizeof field, f->model->count > 1 ? "value[%d]" : "value", i);
        f->value[i] = mbs_add_expression(b, field, f->model->value[i], MBS_FOR_FORCE);
        if (f->value[i] < 0) return b->err ? b->err->status : DAE_ERR_INPUT;
        const char *unit = f->type->value_unit;
        if (f->joint >= 0 && unit && unit[0] == 'N') unit = f->q.kind == MBS_ANGLE ? "N m" : "N";
        dae_status s = mbs_check_unit(b, field, f->model->value[i], f->value[i], unit);
        if (!s && f->type->units) {
            f->units.input = dae_expression_dimension(b->m->expression[f->value[i]]);
            s = f->type->units(b, f, &f->units);
        }
        if (s) return s;
    }
    b->locals = NULL;
    b->force = -1;
    return DAE_OK;
}
