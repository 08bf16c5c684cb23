/* From a model to a mechanism: frames, rows, forces, tree, patterns, work space. */
#include "multibody/acceleration.h"

#include "core/number.h"

#include "multibody/callbacks.h"
#include "multibody/joint_coordinates.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { derivative_limit = 600, dual_room = 800 }; /* velocities; duals alive in one force */

dae_status mbs_wrong(mbs_builder *b, const char *format, ...)
{
    if (b->err) {
        va_list args;
        char text[400];
        va_start(args, format);
        dae_vsnprintf(text, sizeof text, format, args);
        va_end(args);
        return dae_fail(b->err, DAE_ERR_INPUT, NAN, "%s%s%s", b->path, b->path[0] ? ": " : "", text);
    }
    return DAE_ERR_INPUT;
}

static dae_status no_memory(mbs_builder *b)
{
    return dae_fail(b->err, DAE_ERR_MEMORY, NAN, "out of memory");
}

/* ---- Names ------------------------------------------------------------------------------------------- */

/* The nearest name among count items of the given size, each beginning with its name. */
static void nearest(const char *name, const void *list, int count, size_t size, char *out, size_t room)
{
    char words[4096];
    size_t used = 0;
    words[0] = 0;
    for (int i = 0; i < count && used < sizeof words - 70; i++) {
        const char *word;
        memcpy(&word, (const char *)list + (size_t)i * size, sizeof word);
        if (word) used += (size_t)snprintf(words + used, sizeof words - used, "%s%s", used ? "|" : "", word);
    }
    dae_nearest_word(name, words, out, room);
}

static int is_name(const char *s)
{
    if (!s || !((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || *s == '_')) return 0;
    for (; *s; s++) {
        if (!((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9') || *s == '_'))
            return 0;
    }
    return 1;
}

static const char *name_at(const void *list, int i, size_t size)
{
    const char *name;
    memcpy(&name, (const char *)list + (size_t)i * size, sizeof name);
    return name;
}

typedef struct numbered {
    const char *name;
    int i;
} numbered;

static int by_name(const void *x, const void *y)
{
    const numbered *a = x, *b = y;
    int order = strcmp(a->name, b->name);
    return order ? order : (a->i > b->i) - (a->i < b->i);
}

/* All names of a section in alphabetical order, to be freed; NULL: none, or out of memory. */
static numbered *sorted_names(const void *list, int count, size_t size)
{
    numbered *all = count > 0 ? malloc((size_t)count * sizeof *all) : NULL;
    for (int i = 0; all && i < count; i++) all[i] = (numbered){name_at(list, i, size), i};
    if (all) qsort(all, (size_t)count, sizeof *all, by_name);
    return all;
}

/* Names of one section: letters, digits, _; none twice. */
static dae_status check_names(mbs_builder *b, const char *section, const void *list, int count, size_t size)
{
    for (int i = 0; i < count; i++) {
        const char *name = name_at(list, i, size);
        snprintf(b->path, sizeof b->path, "%s[%d].name", section, i);
        if (!is_name(name))
            return mbs_wrong(b, "\"%s\" is no name (letters, digits and _, not a digit first)",
                             name ? name : "");
        if (!strcmp(name, "ground") || !strcmp(name, "t") || !strcmp(name, "pi") || !strcmp(name, "energy"))
            return mbs_wrong(b, "the name \"%s\" has a meaning of its own", name);
    }
    numbered *all = sorted_names(list, count, size);
    if (count > 0 && !all) return no_memory(b);
    int again = -1, first = -1;
    for (int k = 1; k < count; k++) {
        if (strcmp(all[k].name, all[k - 1].name) != 0 || (again >= 0 && again < all[k].i)) continue;
        again = all[k].i;
        first = all[k - 1].i;
    }
    free(all);
    if (again < 0) return DAE_OK;
    snprintf(b->path, sizeof b->path, "%s[%d].name", section, again);
    return mbs_wrong(b, "\"%s\" is also the name of %s[%d]", name_at(list, again, size), section, first);
}

/* Signals are told apart by these. */
static dae_status check_joint_names(mbs_builder *b)
{
    const mbs_model *m = b->m->model;
    numbered *bodies = sorted_names(m->body, m->nbody, sizeof *m->body);
    dae_status s = m->nbody && !bodies ? no_memory(b) : DAE_OK;
    for (int i = 0, k = 0; !s && i < m->njoint; i++) {
        const char *name = m->joint[i].name;
        int low = 0, high = m->nbody;
        while (low < high) {
            k = (low + high) / 2;
            if (strcmp(bodies[k].name, name) < 0) low = k + 1;
            else high = k;
        }
        if (low == m->nbody || strcmp(bodies[low].name, name) != 0) continue;
        snprintf(b->path, sizeof b->path, "joints[%d].name", i);
        s = mbs_wrong(b, "\"%s\" is also the name of a body", name);
    }
    free(bodies);
    return s;
}

static dae_status all_names(mbs_builder *b)
{
    const mbs_model *m = b->m->model;
    dae_status s = check_names(b, "bodies", m->body, m->nbody, sizeof *m->body);
    if (!s) s = check_names(b, "joints", m->joint, m->njoint, sizeof *m->joint);
    if (!s) s = check_names(b, "points", m->point, m->npoint, sizeof *m->point);
    if (!s) s = check_names(b, "forces", m->force, m->nforce, sizeof *m->force);
    if (!s) s = check_names(b, "drivers", m->driver, m->ndriver, sizeof *m->driver);
    if (!s) s = check_names(b, "sensors", m->sensor, m->nsensor, sizeof *m->sensor);
    if (!s) s = check_names(b, "events", m->event, m->nevent, sizeof *m->event);
    if (!s) s = check_joint_names(b);
    return s;
}

/* ---- Bodies ------------------------------------------------------------------------------------------ */

static int finite_all(const double *x, int n)
{
    for (int i = 0; i < n; i++) {
        if (!isfinite(x[i])) return 0;
    }
    return 1;
}

/* How far a moment of inertia may exceed the sum of the other two before it is an error: published data of thin parts do
 * so by rounding and by axes that were left out (the arms of the HMMWV by 12 %). */
#define IMPOSSIBLE 1.25

/* 1 if one moment is larger than factor times the sum of the others. */
static int lopsided(const double *J, double factor, int *which)
{
    for (int k = 0; k < 3; k++) {
        *which = k;
        if (J[4 * k] > (J[4 * ((k + 1) % 3)] + J[4 * ((k + 2) % 3)]) * factor) return 1;
    }
    return 0;
}

/* The inertia tensor must be positive semidefinite and obey the triangle inequality, more or less. */
static dae_status check_inertia(mbs_builder *b, const mbs_body *body, const double *J)
{
    if (b->m->planar) {
        if (body->inertia[2] < 0) return mbs_wrong(b, "inertia: %g must not be negative", body->inertia[2]);
        return DAE_OK;
    }
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        if (J[4 * k] < 0) return mbs_wrong(b, "inertia: the diagonal must not be negative (%g)", J[4 * k]);
        if (J[4 * i] * J[4 * j] - J[3 * i + j] * J[3 * i + j] < -1e-12 * J[4 * i] * J[4 * j])
            return mbs_wrong(b, "inertia: not positive definite");
    }
    int k;
    if (lopsided(J, IMPOSSIBLE, &k))
        return mbs_wrong(b, "inertia: %g is larger than the sum of the other two (%g + %g): no body has that",
                         J[4 * k], J[4 * ((k + 1) % 3)], J[4 * ((k + 2) % 3)]);
    double det = J[0] * (J[4] * J[8] - J[5] * J[5]) - J[1] * (J[1] * J[8] - J[5] * J[2]) +
                 J[2] * (J[1] * J[5] - J[4] * J[2]);
    if (det < -1e-12 * J[0] * J[4] * J[8]) return mbs_wrong(b, "inertia: not positive definite");
    return DAE_OK;
}

static dae_status add_body(mbs_builder *b, int k)
{
    mbs_mechanism *m = b->m;
    const mbs_body *body = &m->model->body[k];
    double *J = m->inertia + 9 * k, *p = m->p0 + k * m->bp, *v = m->p0 + m->np + k * m->bv;
    const double *I = body->inertia;
    double tensor[9] = {I[0], -I[3], -I[4], -I[3], I[1], -I[5], -I[4], -I[5], I[2]};
    if (m->planar) memset(tensor, 0, 8 * sizeof *tensor);
    memcpy(J, tensor, sizeof tensor);
    snprintf(b->path, sizeof b->path, "bodies[%d]", k);
    if (!finite_all(&body->mass, 1) || body->mass < 0)
        return mbs_wrong(b, "mass: %g must not be negative", body->mass);
    if (!finite_all(I, 6)) return mbs_wrong(b, "inertia: not finite");
    if (!finite_all(body->center, 3)) return mbs_wrong(b, "r: not finite");
    m->mass[k] = body->mass;
    dae_status s = check_inertia(b, body, J);
    if (s) return s;
    mbs_set(p, body->center);
    mbs_set(v, body->v);
    if (m->planar) {
        p[2] = body->angle;
        v[2] = body->omega[2];
    } else {
        double n = sqrt(body->q[0] * body->q[0] + body->q[1] * body->q[1] + body->q[2] * body->q[2] +
                        body->q[3] * body->q[3]);
        for (int i = 0; i < 4; i++) p[3 + i] = n > 0 ? body->q[i] / n : i == 0;
        mbs_set(v + 3, body->omega);
    }
    double *M = m->blocks + k * m->bv * m->bv;
    for (int i = 0; i < (m->planar ? 2 : 3); i++) M[i * (m->bv + 1)] = body->mass;
    if (m->planar) M[8] = I[2];
    for (int i = 0; !m->planar && i < 9; i++) M[(3 + i / 3) * 6 + 3 + i % 3] = J[i];
    return DAE_OK;
}

/* ---- Frames ------------------------------------------------------------------------------------------ */

static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

static int oriented(const mbs_point *p)
{
    return p->angle != 0 || p->q[0] != 0 || p->q[1] != 0 || p->q[2] != 0 || p->q[3] != 0;
}

/* A point by name; C is its frame in the body. */
static dae_status point_frame(mbs_builder *b, const char *field, const char *name, mbs_frame *f,
                              int *has_frame)
{
    const mbs_model *model = b->m->model;
    int k = mbs_find_point(model, name);
    if (k < 0) {
        char hint[64];
        nearest(name, model->point, model->npoint, sizeof *model->point, hint, sizeof hint);
        return mbs_wrong(b, "%s: there is no point \"%s\"%s%s%s", field, name,
                         hint[0] ? "; did you mean \"" : "", hint, hint[0] ? "\"?" : "");
    }
    const mbs_point *p = &model->point[k];
    if (p->body < 0 || p->body > b->m->nbody)
        return mbs_wrong(b, "%s: point \"%s\" is on body %d; the model has %d", field, name, p->body,
                         b->m->nbody);
    f->body = p->body;
    mbs_set(f->s, p->r);
    memcpy(f->C, identity, sizeof identity);
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
static void place_frame(const mbs_builder *b, int body, const double *at, mbs_frame *f)
{
    const mbs_pose *x = &b->initial[body];
    double d[3];
    for (int k = 0; k < 3; k++) d[k] = at[k] - x->r[k];
    f->body = body;
    mbs_rotate_back(x->A, d, f->s);
    memcpy(f->C, identity, sizeof identity);
}

/* Turns the frame so that h is the axis given in it (zero: local x); f and g are any perpendicular ones, in the
 * plane g = z. */
static dae_status set_axis(mbs_builder *b, mbs_frame *frame, const double *axis)
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
static double frame_angle(const mbs_frame *f)
{
    return atan2(f->C[3], f->C[0]);
}

static dae_status joint_frames(mbs_builder *b, mbs_joint_data *j)
{
    const mbs_joint *model = j->model;
    int has_a = 0, has_b = 0, nb = b->m->nbody;
    dae_status s = DAE_OK;
    if (model->point_a || model->point_b) {
        if (!model->point_a || !model->point_b) return mbs_wrong(b, "needs both points, a and b");
        s = point_frame(b, "a", model->point_a, &j->i, &has_a);
        if (!s) s = point_frame(b, "b", model->point_b, &j->j, &has_b);
    } else {
        if (model->a < 0 || model->a > nb || model->b < 0 || model->b > nb)
            return mbs_wrong(b, "body %d does not exist (the model has %d); add it before the joint",
                             model->a < 0 || model->a > nb ? model->a : model->b, nb);
        place_frame(b, model->a, model->at, &j->i);
        place_frame(b, model->b, model->at, &j->j);
    }
    if (s) return s;
    if (j->i.body == j->j.body) return mbs_wrong(b, "a and b are on the same body");
    mbs_column(j->j.C, 0, j->axis_j);
    j->oriented = has_b;
    double angle = frame_angle(&j->i) - frame_angle(&j->j), Ca[9], Cb[9], R[9];
    memcpy(Ca, j->i.C, sizeof Ca);
    memcpy(Cb, j->j.C, sizeof Cb);
    s = set_axis(b, &j->i, model->axis);
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

/* ---- Rows -------------------------------------------------------------------------------------------- */

mbs_row *mbs_add_row(mbs_builder *b, const mbs_row_class *type, int count, const mbs_frame *i,
                     const mbs_frame *j)
{
    mbs_mechanism *m = b->m;
    if (m->nrows == b->row_capacity) {
        int capacity = b->row_capacity ? 2 * b->row_capacity : 16;
        mbs_row *longer = realloc(m->row, (size_t)capacity * sizeof *longer);
        if (!longer) {
            no_memory(b);
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

static dae_status add_joint(mbs_builder *b, int k)
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
                         hint[0] ? "; did you mean \"" : "", hint, hint[0] ? "\"?" : "");
    }
    if (m->planar ? !j->type->planar : !j->type->spatial)
        return mbs_wrong(b, "type: \"%s\" exists in %s models only", j->type->name,
                         m->planar ? "spatial" : "planar");
    j->main = j->type->main;
    j->first = m->nrows;
    m->njoint = k; /* those before it are ready */
    dae_status s = strcmp(j->type->name, "gear") ? joint_frames(b, j) : DAE_OK;
    if (!s) s = j->type->build(b, j);
    if (s == DAE_ERR_MEMORY) return no_memory(b);
    if (s) return s;
    j->count = m->nrows - j->first;
    for (int r = j->first; r < m->nrows; r++) m->row[r].joint = k;
    m->njoint = k + 1;
    if (j->model->mu < 0) return mbs_wrong(b, "friction.mu: %g must not be negative", j->model->mu);
    if (j->model->mu > 0) {
        if (j->main != MBS_ANGLE && j->main != MBS_SLIDE)
            return mbs_wrong(b, "friction: a %s joint has no coordinate for it", j->type->name);
        if (j->main == MBS_ANGLE && !(j->model->friction_radius > 0))
            return mbs_wrong(b, "friction.radius: a revolute joint needs the radius of its bearing");
        if (j->model->mu_static != 0 && !(j->model->mu_static >= j->model->mu))
            return mbs_wrong(b, "friction.mu_static: %g must not be below mu = %g", j->model->mu_static,
                             j->model->mu);
        if (!(j->model->stick >= 0)) return mbs_wrong(b, "friction.stick: must not be negative");
        m->friction = 1;
    }
    return DAE_OK;
}

static dae_status add_driver(mbs_builder *b, int k)
{
    mbs_mechanism *m = b->m;
    const mbs_driver *d = &m->model->driver[k];
    snprintf(b->path, sizeof b->path, "drivers[%d]", k);
    int i = d->joint ? mbs_find_joint(m->model, d->joint) : -1;
    if (i < 0) {
        char hint[64];
        nearest(d->joint ? d->joint : "", m->model->joint, m->model->njoint, sizeof(mbs_joint), hint,
                sizeof hint);
        return mbs_wrong(b, "joint: there is no joint \"%s\"%s%s%s", d->joint ? d->joint : "",
                         hint[0] ? "; did you mean \"" : "", hint, hint[0] ? "\"?" : "");
    }
    const mbs_joint_data *j = &m->joint[i];
    const mbs_coordinate *q = j->main == MBS_ANGLE   ? &j->angle
                              : j->main == MBS_SLIDE ? &j->slide
                                                     : &j->length;
    const char *what = d->quantity ? d->quantity : "position";
    if (!strcmp(what, "angle")) q = &j->angle;
    else if (!strcmp(what, "slide")) q = &j->slide;
    else if (strcmp(what, "position") != 0)
        return mbs_wrong(b, "quantity: expected position, angle or slide, not \"%s\"", what);
    else if (j->main == MBS_NO_COORDINATE)
        return mbs_wrong(b, "joint: \"%s\" (%s) has no coordinate to drive", d->joint, j->type->name);
    if (!d->value) return mbs_wrong(b, "value: missing");
    int e = mbs_add_expression(b, "value", d->value, MBS_FOR_MOTION);
    if (e < 0) return b->err ? b->err->status : DAE_ERR_INPUT;
    mbs_row *r = mbs_add_coordinate(b, q, 0);
    if (!r) return DAE_ERR_MEMORY;
    const int *variable;
    if (dae_expression_variables(m->expression[e], &variable)) r->motion = e;
    else dae_expression_constant(m->expression[e], &r->value);
    r->driver = k;
    return DAE_OK;
}

/* ---- Forces ------------------------------------------------------------------------------------------ */

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
                     hint[0] ? "; did you mean \"" : "", hint, hint[0] ? "\"?" : "");
}

/* Which of points, joint and body it acts on. */
static dae_status force_place(mbs_builder *b, mbs_force_data *f)
{
    const mbs_force *model = f->model;
    const char *type = f->type->name;
    int on_joint = !strcmp(type, "torsion") || !strcmp(type, "motor") || !strcmp(type, "stop");
    int given = !strcmp(type, "force") || !strcmp(type, "torque");
    int pair = !strcmp(type, "spring") || !strcmp(type, "bushing") || !strcmp(type, "contact");
    dae_status s;
    memcpy(f->i.C, identity, sizeof identity);
    f->joint = -1;
    if (on_joint || (given && model->joint)) {
        f->joint = model->joint ? mbs_find_joint(b->m->model, model->joint) : -1;
        if (f->joint < 0) {
            char hint[64];
            nearest(model->joint ? model->joint : "", b->m->model->joint, b->m->model->njoint,
                    sizeof(mbs_joint), hint, sizeof hint);
            return mbs_wrong(b, "joint: there is no joint \"%s\"%s%s%s", model->joint ? model->joint : "",
                             hint[0] ? "; did you mean \"" : "", hint, hint[0] ? "\"?" : "");
        }
        const mbs_joint_data *j = &b->m->joint[f->joint];
        if (j->main == MBS_ANGLE) f->q = j->angle;
        if (j->main == MBS_SLIDE) f->q = j->slide;
        if (j->main == MBS_LENGTH) f->q = j->length;
        if (!strcmp(type, "torque") && j->type->planar && b->m->planar && j->main == MBS_NO_COORDINATE)
            f->q = j->angle;
        return DAE_OK;
    }
    if (!strcmp(type, "torque")) {
        f->body = model->body ? mbs_find_body(b->m->model, model->body) : -1;
        if (f->body >= 1) return DAE_OK;
        char hint[64];
        nearest(model->body ? model->body : "", b->m->model->body, b->m->nbody, sizeof(mbs_body), hint,
                sizeof hint);
        return mbs_wrong(b, "%s: there is no body \"%s\"%s%s%s",
                         model->body ? "body" : "a torque needs \"joint\" or \"body\"",
                         model->body ? model->body : "", hint[0] ? "; did you mean \"" : "", hint,
                         hint[0] ? "\"?" : "");
    }
    if (pair && (!model->point_a || !model->point_b)) return mbs_wrong(b, "needs the points a and b");
    if (!model->point_b) return mbs_wrong(b, "needs the point b on which it acts");
    s = point_frame(b, "b", model->point_b, &f->j, NULL);
    if (!s && model->point_a) s = point_frame(b, "a", model->point_a, &f->i, NULL);
    if (s) return s;
    if (pair && f->i.body == f->j.body) return mbs_wrong(b, "a and b are on the same body");
    f->q.offset = b->m->planar ? frame_angle(&f->i) - frame_angle(&f->j) : 0;
    if (!strcmp(type, "contact")) { /* h is the normal */
        double up[3] = {0, b->m->planar, !b->m->planar};
        return set_axis(b, &f->i, up);
    }
    return DAE_OK;
}

static dae_status add_force(mbs_builder *b, int k)
{
    mbs_mechanism *m = b->m;
    mbs_force_data *f = &m->force[k];
    f->model = &m->model->force[k];
    f->u = f->grip = -1;
    snprintf(b->path, sizeof b->path, "forces[%d]", k);
    dae_status s = force_type(b, f);
    if (!s) s = force_place(b, f);
    if (!s) s = f->type->build(b, f);
    if (s) return s;
    if (f->type->states) {
        f->u = m->nu;
        m->nu += f->type->states;
    }
    return DAE_OK;
}

static dae_status add_force_values(mbs_builder *b, int k)
{
    mbs_force_data *f = &b->m->force[k];
    snprintf(b->path, sizeof b->path, "forces[%d]", k);
    b->locals = f->type->locals;
    for (int i = 0; i < 3; i++) {
        char field[16];
        f->value[i] = -1;
        if (!f->model->value[i] || i >= f->model->count) continue;
        snprintf(field, sizeof field, f->model->count > 1 ? "value[%d]" : "value", i);
        f->value[i] = mbs_add_expression(b, field, f->model->value[i], MBS_FOR_FORCE);
        if (f->value[i] < 0) return b->err ? b->err->status : DAE_ERR_INPUT;
    }
    b->locals = NULL;
    return DAE_OK;
}

/* The coordinate along which an event has its impact. */
static dae_status event_impact(mbs_builder *b, const mbs_event *e, mbs_coordinate *q)
{
    mbs_mechanism *m = b->m;
    if (e->joint) {
        int k = mbs_find_joint(m->model, e->joint);
        if (k < 0) {
            char hint[64];
            nearest(e->joint, m->model->joint, m->model->njoint, sizeof(mbs_joint), hint, sizeof hint);
            return mbs_wrong(b, "impact.joint: there is no joint \"%s\"%s%s%s", e->joint,
                             hint[0] ? "; did you mean \"" : "", hint, hint[0] ? "\"?" : "");
        }
        const mbs_joint_data *j = &m->joint[k];
        if (j->main == MBS_NO_COORDINATE)
            return mbs_wrong(b, "impact.joint: \"%s\" (%s) has no coordinate", e->joint, j->type->name);
        *q = j->main == MBS_ANGLE ? j->angle : j->main == MBS_SLIDE ? j->slide : j->length;
        return DAE_OK;
    }
    if (!e->point_a || !e->point_b) return mbs_wrong(b, "impact: needs a joint, or the points a and b");
    dae_status s = point_frame(b, "impact.a", e->point_a, &q->i, NULL);
    if (!s) s = point_frame(b, "impact.b", e->point_b, &q->j, NULL);
    if (s) return s;
    if (q->i.body == q->j.body) return mbs_wrong(b, "impact: a and b are on the same body");
    q->kind = mbs_norm(e->axis) > 0 ? MBS_SLIDE : MBS_LENGTH;
    return q->kind == MBS_SLIDE ? set_axis(b, &q->i, e->axis) : DAE_OK;
}

static dae_status add_sensors(mbs_builder *b)
{
    mbs_mechanism *m = b->m;
    const mbs_model *model = m->model;
    for (int k = 0; k < model->nsensor; k++) m->sensor[k] = -1;
    for (int k = 0; k < model->nsensor; k++) {
        snprintf(b->path, sizeof b->path, "sensors[%d]", k);
        if (!model->sensor[k].value) return mbs_wrong(b, "value: missing");
        m->sensor[k] = mbs_add_expression(b, "value", model->sensor[k].value, MBS_FOR_SENSOR);
        if (m->sensor[k] < 0) return b->err ? b->err->status : DAE_ERR_INPUT;
    }
    for (int k = 0; k < model->nevent; k++) {
        snprintf(b->path, sizeof b->path, "events[%d]", k);
        if (!model->event[k].when) return mbs_wrong(b, "when: missing");
        m->event[k] = mbs_add_expression(b, "when", model->event[k].when, MBS_FOR_FORCE);
        if (m->event[k] < 0) return b->err ? b->err->status : DAE_ERR_INPUT;
        dae_status s = model->event[k].impact ? event_impact(b, &model->event[k], &m->impact[k]) : DAE_OK;
        if (s) return s;
    }
    return DAE_OK;
}

/* States of what sticks, slips and rests: four numbers each, after all others of u. */
static void add_switches(mbs_mechanism *m)
{
    for (int k = 0; k < m->njoint; k++) {
        if (!(m->joint[k].model->mu > 0 && m->joint[k].model->stick > 0)) continue;
        m->joint[k].grip = m->nu;
        m->nu += 4;
    }
    for (int k = 0; k < m->nforce; k++) {
        if (strcmp(m->force[k].type->name, "contact") != 0 || !m->force[k].model->stick ||
            !(m->force[k].model->mu > 0))
            continue;
        m->force[k].grip = m->nu;
        m->nu += 4;
    }
    for (int k = 0; k < m->model->nevent; k++) {
        m->rest[k] = -1;
        if (m->impact[k].kind == MBS_NO_COORDINATE || !(m->model->event[k].restitution < 1)) continue;
        m->rest[k] = m->nu;
        m->nu += 4;
    }
}

/* ---- Numbers and patterns ----------------------------------------------------------------------------- */

/* Holonomic rows first, [MEXX]; redundant ones are left out. */
static void number_rows(mbs_mechanism *m, const unsigned char *left_out)
{
    int all = 0, row = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < m->nrows; k++) {
            mbs_row *r = &m->row[k];
            if (r->type->holonomic != !pass) continue;
            r->first = all;
            for (int i = 0; i < r->count; i++, all++) r->system[i] = left_out && left_out[all] ? -1 : row++;
        }
        if (pass == 0) m->ng = row;
    }
    m->nrow = all;
    m->nlambda = row;
}

/* The pattern of G in compressed columns and the place of every value in it. */
static dae_status make_pattern(mbs_builder *b)
{
    mbs_mechanism *m = b->m;
    dae_mech *s = &m->system.mech;
    int *count = calloc((size_t)m->nv + 1, sizeof *count),
        *colptr = dae_arena_ints(m->arena, (size_t)m->nv + 1);
    size_t places = 0;
    if (!count || !colptr) goto fail;
    /* rows of the system in ascending order, each with its slots once */
    for (int pass = 0; pass < 2; pass++) {
        int *rowind = (int *)s->G_rowind;
        for (int half = 0; half < 2; half++) {
            for (int k = 0; k < m->nrows; k++) {
                mbs_row *r = &m->row[k];
                if (r->type->holonomic != !half) continue;
                int *place = r->place;
                for (int i = 0; i < r->count; i++) {
                    for (int n = 0; n < r->nbody; n++) {
                        for (int c = 0; c < m->bv; c++) {
                            int slot = r->body[n] ? (r->body[n] - 1) * m->bv + c : -1, before = -1;
                            for (int e = 0; e < n; e++) {
                                if (r->body[e] == r->body[n]) before = e;
                            }
                            int here = slot >= 0 && r->system[i] >= 0;
                            if (pass == 0) {
                                if (here && before < 0) colptr[slot + 1]++;
                                if (n == 0 && c == 0 && i == 0)
                                    places += (size_t)(r->count * r->nbody * m->bv);
                                continue;
                            }
                            int at = -1;
                            if (here && before < 0) {
                                at = colptr[slot] + count[slot]++;
                                rowind[at] = r->system[i];
                            } else if (here) {
                                at = r->place[(i * r->nbody + before) * m->bv + c];
                            }
                            *place++ = at;
                        }
                    }
                }
            }
        }
        if (pass == 1) break;
        for (int j = 0; j < m->nv; j++) colptr[j + 1] += colptr[j];
        s->G_rowind = dae_arena_ints(m->arena, (size_t)colptr[m->nv] + 1);
        int *all = dae_arena_ints(m->arena, places + 1);
        if (!s->G_rowind || !all) goto fail;
        for (int k = 0; k < m->nrows; k++) {
            m->row[k].place = all;
            all += m->row[k].count * m->row[k].nbody * m->bv;
        }
    }
    s->G_colptr = colptr;
    free(count);
    return DAE_OK;
fail:
    free(count);
    return no_memory(b);
}

/* M as a sparse matrix of its blocks (planar: a diagonal), which are symmetric. */
static dae_status make_mass(mbs_builder *b)
{
    mbs_mechanism *m = b->m;
    dae_mech *s = &m->system.mech;
    int n = m->bv, *block = dae_arena_ints(m->arena, (size_t)m->nbody);
    int *quaternion = dae_arena_ints(m->arena, (size_t)m->nbody);
    size_t stored = (size_t)(m->planar ? 3 : 12) * (size_t)m->nbody, used = 0;
    double *a = dae_arena_reals(m->arena, stored);
    int *colptr = dae_arena_ints(m->arena, (size_t)m->nv + 1), *rowind = dae_arena_ints(m->arena, stored);
    if (dae_arena_failed(m->arena)) return no_memory(b);
    for (int k = 0; k < m->nbody; k++) {
        const double *M = m->blocks + k * n * n;
        block[k] = n;
        quaternion[k] = 7 * k + 3;
        for (int c = 0; c < n; c++) {
            if (m->planar) {
                a[3 * k + c] = M[4 * c];
                continue;
            }
            for (int r = 0; r < n; r++) {
                if (r != c && (r < 3 || c < 3)) continue;
                rowind[used] = 6 * k + r;
                a[used++] = M[6 * c + r];
            }
            colptr[6 * k + c + 1] = (int)used;
        }
    }
    s->mass = m->planar ? dae_diagonal(m->nv, a) : dae_sparse(m->nv, colptr, rowind, a);
    s->mass_block = block;
    s->nblock = m->nbody;
    if (!m->planar) {
        s->quaternion = quaternion;
        s->nquaternion = m->nbody;
    }
    return DAE_OK;
}

int mbs_make_slots(mbs_mechanism *m)
{
    m->nz = 2 * m->nv + m->nu + m->nrow + 1;
    for (int k = 0; k <= MBS_SLOTS; k++) {
        mbs_slot *s = &m->slot[k];
        s->pose = dae_arena_take(m->arena, (size_t)m->nbody + 1, sizeof *s->pose);
        s->work = dae_arena_reals(m->arena, m->work_size + 1);
        if (!s->pose || !s->work) return 1;
        memcpy(s->pose[0].A, identity, sizeof identity);
        if (k < MBS_SLOTS || m->nv > derivative_limit) continue;
        s->f = dae_arena_reals(m->arena, (size_t)m->nv);
        s->heap = dae_arena_reals(m->arena, (size_t)dual_room * (size_t)m->nz);
        s->J = dae_arena_reals(m->arena, (size_t)m->nv * (size_t)m->nz);
        s->key = dae_arena_reals(m->arena, (size_t)(1 + m->np + m->nv + m->nu + m->nrow));
        if (!s->f || !s->heap || !s->J || !s->key) return 1;
    }
    return 0;
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
    m->p0 = dae_arena_reals(m->arena, 13 * n + 4 * (size_t)(model->nforce + model->njoint + model->nevent));
    m->joint = dae_arena_take(m->arena, (size_t)model->njoint + 1, sizeof *m->joint);
    m->force = dae_arena_take(m->arena, (size_t)model->nforce + 1, sizeof *m->force);
    m->sensor = dae_arena_ints(m->arena, (size_t)model->nsensor + 1);
    m->event = dae_arena_ints(m->arena, (size_t)model->nevent + 1);
    m->impact = dae_arena_take(m->arena, (size_t)model->nevent + 1, sizeof *m->impact);
    m->rest = dae_arena_ints(m->arena, (size_t)model->nevent + 1);
    m->work_size = 400;
    return dae_arena_failed(m->arena) ? no_memory(b) : DAE_OK;
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
    dae_status s = all_names(b);
    if (!s) s = allocate(b);
    for (int k = 0; !s && k < m->nbody; k++) s = add_body(b, k);
    if (s) return s;
    mbs_pose *initial = dae_arena_take(m->arena, (size_t)m->nbody + 1, sizeof *initial);
    if (!initial) return no_memory(b);
    memcpy(initial[0].A, identity, sizeof identity);
    mbs_set_poses(m, m->p0, m->p0 + m->np, initial);
    b->initial = initial;
    for (int k = 0; !s && k < model->njoint; k++) s = add_joint(b, k);
    for (int k = 0; !s && k < model->ndriver; k++) s = add_driver(b, k);
    for (int k = 0; !s && k < model->nforce; k++) {
        s = add_force(b, k);
        if (!s) m->nforce = k + 1;
    }
    for (int k = 0; !s && k < model->nforce; k++) s = add_force_values(b, k);
    if (!s) s = add_sensors(b);
    if (s) return s;
    add_switches(m);
    b->path[0] = 0;
    number_rows(m, NULL);
    s = mbs_number_switches(m) || mbs_make_slots(m) ? no_memory(b) : DAE_OK;
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
    if (!left_out) return no_memory(b);
    for (int k = 0; k < m->nredundant; k++) left_out[m->redundant[k]] = 1;
    number_rows(m, left_out);
    free(left_out);
    m->system.kind = DAE_KIND_MECH;
    s->np = m->np;
    s->nv = m->nv;
    s->nu = m->nu;
    s->ng = m->ng;
    s->nlambda = m->nlambda;
    dae_status status = make_mass(b);
    if (!status && m->nlambda) status = make_pattern(b);
    if (status) return status;
    int *row_joint = dae_arena_ints(m->arena, (size_t)m->nlambda + 1);
    if (!row_joint) return no_memory(b);
    for (int k = 0; k < m->nrows; k++) {
        const mbs_row *r = &m->row[k];
        for (int i = 0; i < r->count; i++) {
            if (r->system[i] >= 0) row_joint[r->system[i]] = m->row_joint[k];
        }
    }
    s->parent = m->parent;
    s->row_joint = row_joint;
    mbs_set_callbacks(m);
    mbs_build_joint_form(m);
    mbs_build_mixed_form(m);
    mbs_set_switches(m);
    if (dae_arena_failed(m->arena)) return no_memory(b);
    return dae_system_check(&m->system, b->err);
}

static void warn(mbs_mechanism *m, const char *format, const char *name)
{
    char text[200];
    if (m->nwarning == (int)(sizeof m->warning / sizeof *m->warning)) return;
    snprintf(text, sizeof text, format, name);
    const char *copy = mbs_copy_text(m->owned, text);
    if (copy) m->warning[m->nwarning++] = copy;
}

/* Bodies without mass are frames as long as joints hold them. */
static void look_for_mass(mbs_mechanism *m)
{
    int first = -1;
    for (int k = m->nbody; k > 0; k--) {
        if (m->mass[k - 1] == 0) first = k - 1;
    }
    double *y = first < 0 ? NULL : malloc((size_t)(m->np + m->nv + m->nu) * sizeof *y);
    if (y && m->singular < 0 && mbs_mechanism_initial(m, y, NULL) == DAE_OK &&
        !mbs_acceleration_unique(m, m->model->simulation.t0, y))
        warn(m, "body \"%s\" has no mass, and no joint holds it", m->model->body[first].name);
    free(y);
}

/* What is allowed but looks like a mistake. */
static void look_for_mistakes(mbs_mechanism *m)
{
    for (int k = 0; k < m->model->nparameter; k++) {
        if (!m->model->parameter[k].used)
            warn(m, "parameter \"%s\" is not used", m->model->parameter[k].name);
    }
    unsigned char *held = calloc((size_t)m->nbody + 1, 1);
    if (!held) return;
    for (int r = 0; r < m->nrows; r++) {
        for (int i = 0; i < m->row[r].nbody; i++) held[m->row[r].body[i]] = 1;
    }
    for (int f = 0; f < m->nforce; f++) held[m->force[f].i.body] = held[m->force[f].j.body] = 1;
    for (int k = 1; k <= m->nbody; k++) {
        if (!held[k] && m->nbody > 1)
            warn(m, "body \"%s\" is connected to nothing", m->model->body[k - 1].name);
        int which;
        if (!m->planar && lopsided(m->inertia + 9 * (k - 1), 1 + 1e-9, &which))
            warn(m, "body \"%s\": one moment of inertia is larger than the sum of the other two",
                 m->model->body[k - 1].name);
    }
    look_for_mass(m);
    if (m->singular >= 0)
        warn(m,
             "the starting pose is singular: there joint \"%s\" holds what others hold already, and the "
             "motion can "
             "go on in several ways; start beside it",
             mbs_row_name(m, m->singular, NULL));
    free(held);
}

const char *mbs_mechanism_warning(const mbs_mechanism *m, int i)
{
    return i >= 0 && i < m->nwarning ? m->warning[i] : NULL;
}

mbs_mechanism *mbs_mechanism_create(const mbs_model *model, dae_error *err)
{
    dae_error own = {0};
    mbs_builder b = {.err = err ? err : &own};
    if (!model) {
        if (!b.err->status) dae_fail(b.err, DAE_ERR_INPUT, NAN, "there is no model");
        return NULL;
    }
    mbs_mechanism *m = calloc(1, sizeof *m);
    if (m) {
        m->arena = dae_arena_create();
        m->owned = mbs_model_copy(model);
    }
    if (!m || !m->arena || !m->owned) {
        no_memory(&b);
        mbs_mechanism_destroy(m);
        return NULL;
    }
    m->model = m->owned;
    m->singular = -1;
    b.m = m;
    dae_status s = build(&b);
    if (!s) s = finish(&b);
    if (!s) look_for_mistakes(m);
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
    dae_arena_destroy(m->arena);
    mbs_model_destroy(m->owned);
    free(m);
}

const dae_system *mbs_mechanism_system(const mbs_mechanism *m)
{
    return m ? &m->system : NULL;
}
