/* From a model to a mechanism, and its life. */
#include "core/number.h"
#include "multibody/build.h"

#include "multibody/callbacks.h"
#include "multibody/external.h"
#include "multibody/joint_coordinates.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

dae_status mbs_wrong(mbs_builder *b, const char *format, ...)
{
    if (b->err) {
        va_list args;
        char text[400];
        va_start(args, format);
        dae_vsnprintf(text, sizeof text, format, args);
        va_end(args);
        return dae_fail(b->err, dae_message_status(text), NAN, "%s%s%s", b->path, b->path[0] ? ": " : "",
                        text);
    }
    return DAE_ERR_INPUT;
}

dae_status mbs_no_memory(mbs_builder *b)
{
    return dae_fail(b->err, DAE_ERR_MEMORY, NAN, "out of memory");
}

mbs_row *mbs_add_row(mbs_builder *b, const mbs_row_class *type, int count, const mbs_frame *i,
                     const mbs_frame *j)
{
    mbs_mechanism *m = b->m;
    if (m->nrows == b->row_capacity) {
        int capacity = b->row_capacity ? 2 * b->row_capacity : 16;
        mbs_row *longer = realloc(m->row, (size_t)capacity * sizeof *longer);
        if (!longer) {
            mbs_no_memory(b);
            return NULL;
        }
        m->row = longer;
        b->row_capacity = capacity;
    }
    mbs_row *r = &m->row[m->nrows++];
    *r = (mbs_row){.type = type,
                   .count = count,
                   .nbody = 2,
                   .body = {i->body, j->body},
                   .i = *i,
                   .j = *j,
                   .motion = -1,
                   .joint = -1,
                   .driver = -1,
                   .system = {-1, -1, -1}};
    return r;
}

double mbs_initial_value(const mbs_builder *b, const mbs_coordinate *q)
{
    mbs_context x = {.m = b->m, .pose = (mbs_pose *)b->initial};
    return mbs_coordinate_value(&x, q);
}

/* ---- Life -------------------------------------------------------------------------------------------- */

static dae_status allocate(mbs_builder *b)
{
    mbs_mechanism *m = b->m;
    const mbs_model *model = m->model;
    m->planar = model->space == MBS_PLANAR;
    m->nbody = model->nbody;
    m->bp = m->planar ? 3 : 7;
    m->bv = m->planar ? 3 : 6;
    m->np = m->bp * m->nbody;
    m->nv = m->bv * m->nbody;
    memcpy(m->gravity, model->gravity, sizeof m->gravity);
    if (m->planar) m->gravity[2] = 0;
    size_t n = (size_t)m->nbody;
    m->mass = dae_arena_reals(m->arena, n);
    m->inertia = dae_arena_reals(m->arena, 9 * n);
    m->blocks = dae_arena_reals(m->arena, 36 * n);
    m->p0 = dae_arena_reals(m->arena, 13 * n + 4 * (size_t)(model->nforce + model->njoint + model->nevent) +
                                          (size_t)(m->external ? m->external->nstate : 0));
    m->joint = dae_arena_take(m->arena, (size_t)model->njoint + 1, sizeof *m->joint);
    m->force = dae_arena_take(m->arena, (size_t)model->nforce + 1, sizeof *m->force);
    m->sensor = dae_arena_ints(m->arena, (size_t)model->nsensor + 1);
    m->sensor_unit = dae_arena_take(m->arena, (size_t)model->nsensor + 1, sizeof *m->sensor_unit);
    m->event = dae_arena_ints(m->arena, (size_t)model->nevent + 1);
    m->impact = dae_arena_take(m->arena, (size_t)model->nevent + 1, sizeof *m->impact);
    m->rest = dae_arena_ints(m->arena, (size_t)model->nevent + 1);
    m->work_size = 400;
    return dae_arena_failed(m->arena) ? mbs_no_memory(b) : DAE_OK;
}

static dae_status build(mbs_builder *b)
{
    mbs_mechanism *m = b->m;
    const mbs_model *model = m->model;
    if (model->first.status) {
        if (b->err) *b->err = model->first;
        return model->first.status;
    }
    if (model->nbody == 0) return mbs_wrong(b, "bodies: a mechanism needs at least one body");
    dae_status s = mbs_check_names(b);
    if (!s) s = allocate(b);
    for (int k = 0; !s && k < m->nbody; k++) s = mbs_build_body(b, k);
    if (s) return s;
    mbs_pose *initial = dae_arena_take(m->arena, (size_t)m->nbody + 1, sizeof *initial);
    if (!initial) return mbs_no_memory(b);
    memcpy(initial[0].A, mbs_identity, sizeof mbs_identity);
    mbs_set_poses(m, m->p0, m->p0 + m->np, initial);
    b->initial = initial;
    for (int k = 0; !s && k < model->njoint; k++) s = mbs_build_joint(b, k);
    for (int k = 0; !s && k < model->ndriver; k++) s = mbs_build_driver(b, k);
    for (int k = 0; !s && k < model->nforce; k++) {
        s = mbs_build_force(b, k);
        if (!s) m->nforce = k + 1;
    }
    mbs_external_number(m);
    if (!s) s = mbs_build_block_units(b);
    for (int k = 0; !s && k < model->nforce; k++) s = mbs_build_force_values(b, k);
    if (!s) s = mbs_build_sensors(b);
    if (s) return s;
    mbs_external_prepare(m);
    for (int k = 0; k < model->nforce; k++) {
        const mbs_force_data *f = &m->force[k];
        if (f->type->start) f->type->start(f, m->p0 + m->np + m->nv + f->u);
    }
    mbs_number_grips(m);
    b->path[0] = 0;
    mbs_number_rows(m, NULL);
    s = mbs_number_switches(m) || mbs_shelf_create(m) ? mbs_no_memory(b) : DAE_OK;
    if (!s) s = mbs_build_tree(b);
    if (!s) s = mbs_find_redundant(b, m->p0);
    return s;
}

/* With the redundant rows known: numbers, patterns, functions. */
static dae_status finish(mbs_builder *b)
{
    mbs_mechanism *m = b->m;
    dae_mech *s = &m->system.mech;
    unsigned char *left_out = calloc((size_t)m->nrow + 1, 1);
    if (!left_out) return mbs_no_memory(b);
    for (int k = 0; k < m->nredundant; k++) left_out[m->redundant[k]] = 1;
    mbs_number_rows(m, left_out);
    free(left_out);
    m->system.kind = DAE_KIND_MECH;
    m->system.structure.smooth = 1;
    s->np = m->np;
    s->nv = m->nv;
    s->nu = m->nu;
    s->ng = m->ng;
    s->nlambda = m->nlambda;
    dae_status status = mbs_make_mass(b);
    if (!status && m->nlambda) status = mbs_make_pattern(b);
    if (status) return status;
    int *row_joint = dae_arena_ints(m->arena, (size_t)m->nlambda + 1);
    if (!row_joint) return mbs_no_memory(b);
    for (int k = 0; k < m->nrows; k++) {
        const mbs_row *r = &m->row[k];
        for (int i = 0; i < r->count; i++) {
            if (r->system[i] >= 0) row_joint[r->system[i]] = m->row_joint[k];
        }
    }
    s->parent = m->parent;
    s->row_joint = row_joint;
    mbs_set_callbacks(m);
    int starved = mbs_build_joint_form(m);
    mbs_set_switches(m);
    if (starved || dae_arena_failed(m->arena)) return mbs_no_memory(b);
    return dae_system_check(&m->system, b->err);
}

mbs_mechanism *mbs_mechanism_create(const mbs_model *model, dae_error *err)
{
    return mbs_mechanism_create_with(model, NULL, err);
}

mbs_mechanism *mbs_mechanism_create_with(const mbs_model *model, mbs_external *external, dae_error *err)
{
    dae_error own = {0};
    mbs_builder b = {.err = err ? err : &own, .force = -1};
    if (!model) {
        if (!b.err->status) dae_fail(b.err, DAE_ERR_INPUT, NAN, "there is no model");
        mbs_external_destroy(external);
        return NULL;
    }
    mbs_mechanism *m = calloc(1, sizeof *m);
    if (!m) mbs_external_destroy(external);
    if (m) {
        m->external = external;
        m->arena = dae_arena_create();
        m->owned = mbs_model_copy(model);
    }
    if (!m || !m->arena || !m->owned) {
        mbs_no_memory(&b);
        mbs_mechanism_destroy(m);
        return NULL;
    }
    m->model = m->owned;
    m->singular = -1;
    b.m = m;
    dae_status s = build(&b);
    if (!s) s = finish(&b);
    if (!s && mbs_look_for_mistakes(m) < 0) s = mbs_no_memory(&b);
    if (s) {
        mbs_mechanism_destroy(m);
        return NULL;
    }
    return m;
}

void mbs_mechanism_destroy(mbs_mechanism *m)
{
    if (!m) return;
    for (int k = 0; k < m->nexpression; k++) dae_expression_destroy(m->expression[k]);
    free(m->expression);
    free(m->expression_side);
    free(m->signal);
    free(m->row);
    mbs_shelf_destroy(m->shelf);
    dae_arena_destroy(m->arena);
    mbs_model_destroy(m->owned);
    mbs_external_destroy(m->external);
    free(m);
}

const dae_system *mbs_mechanism_system(const mbs_mechanism *m)
{
    return m ? &m->system : NULL;
}
