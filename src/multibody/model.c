/* The model: it keeps copies of what it is told, and the first error. */
#include "multibody/model.h"

#include "core/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

mbs_model *mbs_model_create(const char *name, int space)
{
    mbs_model *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    m->arena = dae_arena_create();
    if (!m->arena) {
        free(m);
        return NULL;
    }
    m->name = mbs_copy_text(m, name ? name : "mechanism");
    m->space = space;
    if (space != MBS_PLANAR && space != MBS_SPATIAL)
        dae_fail(&m->first, DAE_ERR_INPUT, NAN, "dimension: expected 2 or 3, not %d", space);
    return m;
}

void mbs_model_destroy(mbs_model *m)
{
    if (!m) return;
    free(m->parameter);
    free(m->variable);
    free(m->body);
    free(m->shape);
    free(m->point);
    free(m->joint);
    free(m->force);
    free(m->driver);
    free(m->sensor);
    free(m->event);
    free(m->body_index.number);
    free(m->point_index.number);
    free(m->joint_index.number);
    dae_arena_destroy(m->arena);
    free(m);
}

const char *mbs_copy_text(mbs_model *m, const char *text)
{
    return text ? dae_arena_copy(m->arena, text, strlen(text) + 1, 1) : NULL;
}

void mbs_model_set_gravity(mbs_model *m, double x, double y, double z)
{
    if (!m) return;
    m->gravity[0] = x;
    m->gravity[1] = y;
    m->gravity[2] = z;
}

static void *starved(mbs_model *m)
{
    if (!m->first.status) dae_fail(&m->first, DAE_ERR_MEMORY, NAN, "out of memory");
    return NULL;
}

/* ---- Numbers by name ------------------------------------------------------------------------------------- */

const char *mbs_name_at(const void *list, int i, size_t size)
{
    const char *name;
    memcpy(&name, (const char *)list + (size_t)i * size, sizeof name);
    return name;
}

static unsigned hash_of(const char *name)
{
    unsigned h = 2166136261u; /* FNV-1a */
    for (; *name; name++) h = (h ^ (unsigned char)*name) * 16777619u;
    return h;
}

/* Where the first item of that name stands in the table, or the free place where it would. */
static int *place_of(const mbs_index *x, const char *name, const void *list, size_t size)
{
    unsigned k = hash_of(name) & (x->room - 1);
    while (x->number[k] && strcmp(mbs_name_at(list, x->number[k] - 1, size), name) != 0)
        k = (k + 1) & (x->room - 1);
    return &x->number[k];
}

static void enter(mbs_index *x, const void *list, int i, size_t size)
{
    const char *name = mbs_name_at(list, i, size);
    int *place = name ? place_of(x, name, list, size) : NULL;
    if (place && !*place) *place = i + 1;
}

/* The last of count items has its name now. */
static void enter_last(mbs_model *m, mbs_index *x, const void *list, int count, size_t size)
{
    if (2 * (unsigned)count > x->room) { /* at most half full */
        unsigned room = x->room ? x->room : 8;
        while (room < 2 * (unsigned)count) room *= 2;
        int *number = calloc(room, sizeof *number);
        if (!number) {
            starved(m);
            return;
        }
        free(x->number);
        *x = (mbs_index){number, room};
        for (int i = 0; i < count - 1; i++) enter(x, list, i, size);
    }
    enter(x, list, count - 1, size);
}

/* From 0 on; -1: there is none. */
static int find(const mbs_index *x, const char *name, const void *list, size_t size)
{
    return name && x->room ? *place_of(x, name, list, size) - 1 : -1;
}

/* ---- Building ---------------------------------------------------------------------------------------------- */

/* Room for one more item: the new one, zeroed; NULL: out of memory (remembered). */
static void *more(mbs_model *m, void *list, int *count, size_t size)
{
    void **items = list;
    if ((*count & (*count - 1)) == 0) { /* doubled at 1, 2, 4, ... */
        void *longer = realloc(*items, (*count ? 2 * (size_t)*count : 1) * size);
        if (!longer) return starved(m);
        *items = longer;
    }
    void *item = (char *)*items + (size_t)*count * size;
    memset(item, 0, size);
    ++*count;
    return item;
}

void mbs_model_set_parameter(mbs_model *m, const char *name, double value)
{
    if (!m) return;
    int k = mbs_find_parameter(m, name);
    mbs_parameter *p = k >= 0 ? &m->parameter[k] : more(m, &m->parameter, &m->nparameter, sizeof *p);
    if (!p) return;
    if (k < 0) p->name = mbs_copy_text(m, name);
    p->value = value;
    p->dimension.soft = 1;
}

int mbs_model_add_body(mbs_model *m, const mbs_body *body)
{
    mbs_body *x = m ? more(m, &m->body, &m->nbody, sizeof *x) : NULL;
    if (!x) return -1;
    *x = *body;
    x->name = mbs_copy_text(m, body->name);
    x->fix = mbs_copy_text(m, body->fix);
    enter_last(m, &m->body_index, m->body, m->nbody, sizeof *x);
    return m->nbody;
}

int mbs_model_add_shape(mbs_model *m, const mbs_shape *shape)
{
    mbs_shape *x = m ? more(m, &m->shape, &m->nshape, sizeof *x) : NULL;
    if (!x) return -1;
    *x = *shape;
    x->kind = mbs_copy_text(m, shape->kind);
    if (shape->nvertex)
        x->vertex = dae_arena_copy(m->arena, shape->vertex, 3 * (size_t)shape->nvertex, sizeof *x->vertex);
    if (shape->ntriangle)
        x->triangle =
            dae_arena_copy(m->arena, shape->triangle, 3 * (size_t)shape->ntriangle, sizeof *x->triangle);
    return m->nshape - 1;
}

int mbs_model_add_point(mbs_model *m, const mbs_point *point)
{
    mbs_point *x = m ? more(m, &m->point, &m->npoint, sizeof *x) : NULL;
    if (!x) return -1;
    *x = *point;
    x->name = mbs_copy_text(m, point->name);
    enter_last(m, &m->point_index, m->point, m->npoint, sizeof *x);
    return m->npoint - 1;
}

static void copy_values(mbs_model *m, mbs_value *v, int count)
{
    for (int i = 0; i < count; i++) {
        v[i].name = mbs_copy_text(m, v[i].name);
        v[i].text = mbs_copy_text(m, v[i].text);
    }
}

int mbs_model_add_joint(mbs_model *m, const mbs_joint *joint)
{
    mbs_joint *x = m ? more(m, &m->joint, &m->njoint, sizeof *x) : NULL;
    if (!x) return -1;
    *x = *joint;
    x->name = mbs_copy_text(m, joint->name);
    enter_last(m, &m->joint_index, m->joint, m->njoint, sizeof *x);
    x->type = mbs_copy_text(m, joint->type);
    x->point_a = mbs_copy_text(m, joint->point_a);
    x->point_b = mbs_copy_text(m, joint->point_b);
    copy_values(m, x->field, MBS_JOINT_FIELDS);
    return m->njoint - 1;
}

int mbs_model_add_force(mbs_model *m, const mbs_force *force)
{
    mbs_force *x = m ? more(m, &m->force, &m->nforce, sizeof *x) : NULL;
    if (!x) return -1;
    *x = *force;
    x->name = mbs_copy_text(m, force->name);
    x->type = mbs_copy_text(m, force->type);
    x->point_a = mbs_copy_text(m, force->point_a);
    x->point_b = mbs_copy_text(m, force->point_b);
    x->joint = mbs_copy_text(m, force->joint);
    x->body = mbs_copy_text(m, force->body);
    for (int i = 0; i < 3; i++) x->value[i] = mbs_copy_text(m, force->value[i]);
    copy_values(m, x->field, MBS_FORCE_FIELDS);
    return m->nforce - 1;
}

int mbs_model_add_driver(mbs_model *m, const mbs_driver *driver)
{
    mbs_driver *x = m ? more(m, &m->driver, &m->ndriver, sizeof *x) : NULL;
    if (!x) return -1;
    x->name = mbs_copy_text(m, driver->name);
    x->joint = mbs_copy_text(m, driver->joint);
    x->quantity = mbs_copy_text(m, driver->quantity);
    x->value = mbs_copy_text(m, driver->value);
    return m->ndriver - 1;
}

int mbs_model_add_variable(mbs_model *m, const char *name, const char *text)
{
    mbs_variable *x = m ? more(m, &m->variable, &m->nvariable, sizeof *x) : NULL;
    if (!x) return -1;
    x->name = mbs_copy_text(m, name);
    x->text = mbs_copy_text(m, text);
    return m->nvariable - 1;
}

int mbs_model_add_sensor(mbs_model *m, const mbs_sensor *sensor)
{
    mbs_sensor *x = m ? more(m, &m->sensor, &m->nsensor, sizeof *x) : NULL;
    if (!x) return -1;
    x->name = mbs_copy_text(m, sensor->name);
    x->value = mbs_copy_text(m, sensor->value);
    x->unit = mbs_copy_text(m, sensor->unit);
    return m->nsensor - 1;
}

int mbs_model_add_event(mbs_model *m, const mbs_event *event)
{
    mbs_event *x = m ? more(m, &m->event, &m->nevent, sizeof *x) : NULL;
    if (!x) return -1;
    *x = *event;
    x->name = mbs_copy_text(m, event->name);
    x->when = mbs_copy_text(m, event->when);
    x->joint = mbs_copy_text(m, event->joint);
    x->point_a = mbs_copy_text(m, event->point_a);
    x->point_b = mbs_copy_text(m, event->point_b);
    return m->nevent - 1;
}

mbs_model *mbs_model_copy(const mbs_model *m)
{
    mbs_model *c = mbs_model_create(m->name, m->space);
    if (!c) return NULL;
    c->doc = mbs_copy_text(c, m->doc);
    memcpy(c->gravity, m->gravity, sizeof c->gravity);
    for (int i = 0; i < m->nparameter; i++) {
        mbs_model_set_parameter(c, m->parameter[i].name, m->parameter[i].value);
        if (c->nparameter <= i) break; /* out of memory: see below */
        c->parameter[i] =
            (mbs_parameter){c->parameter[i].name, m->parameter[i].value, m->parameter[i].dimension,
                            m->parameter[i].used, m->parameter[i].input};
    }
    for (int i = 0; i < m->nbody; i++) mbs_model_add_body(c, &m->body[i]);
    for (int i = 0; i < m->nshape; i++) mbs_model_add_shape(c, &m->shape[i]);
    for (int i = 0; i < m->npoint; i++) mbs_model_add_point(c, &m->point[i]);
    for (int i = 0; i < m->njoint; i++) mbs_model_add_joint(c, &m->joint[i]);
    for (int i = 0; i < m->nforce; i++) mbs_model_add_force(c, &m->force[i]);
    for (int i = 0; i < m->ndriver; i++) mbs_model_add_driver(c, &m->driver[i]);
    for (int i = 0; i < m->nvariable; i++)
        mbs_model_add_variable(c, m->variable[i].name, m->variable[i].text);
    for (int i = 0; i < m->nsensor; i++) mbs_model_add_sensor(c, &m->sensor[i]);
    for (int i = 0; i < m->nevent; i++) mbs_model_add_event(c, &m->event[i]);
    c->simulation = m->simulation;
    c->simulation.solver = mbs_copy_text(c, m->simulation.solver);
    c->simulation.formulation = mbs_copy_text(c, m->simulation.formulation);
    dae_setting *tolerance =
        dae_arena_take(c->arena, (size_t)m->simulation.ntolerance + 1, sizeof *tolerance);
    for (int i = 0; tolerance && i < m->simulation.ntolerance; i++) {
        tolerance[i].name = mbs_copy_text(c, m->simulation.tolerance[i].name);
        tolerance[i].value = mbs_copy_text(c, m->simulation.tolerance[i].value);
    }
    c->simulation.tolerance = tolerance;
    if (m->first.status) c->first = m->first;
    if (dae_arena_failed(c->arena) || c->first.status == DAE_ERR_MEMORY) {
        mbs_model_destroy(c);
        return NULL;
    }
    return c;
}

/* ---- Names ------------------------------------------------------------------------------------------- */

int mbs_find_body(const mbs_model *m, const char *name)
{
    if (name && !strcmp(name, "ground")) return 0;
    int k = find(&m->body_index, name, m->body, sizeof *m->body);
    return k < 0 ? -1 : k + 1;
}

int mbs_find_point(const mbs_model *m, const char *name)
{
    return find(&m->point_index, name, m->point, sizeof *m->point);
}

int mbs_find_joint(const mbs_model *m, const char *name)
{
    return find(&m->joint_index, name, m->joint, sizeof *m->joint);
}

int mbs_find_parameter(const mbs_model *m, const char *name)
{
    for (int i = 0; i < m->nparameter; i++) {
        if (m->parameter[i].name && name && !strcmp(m->parameter[i].name, name)) return i;
    }
    return -1;
}
