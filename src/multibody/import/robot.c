/* A tree of links as a model: links that are fixed to each other become one body; a body has its origin in its center of mass and the axes
 * of its first link. With W the pose of a body's first link and T the pose of a link in it,
 *     W_child = W_parent T_parent X J(q),   J: the turn or the way of the joint, X: its frame at q = 0,
 *     omega_child = omega_parent + a q',    v by the same rule as every point of the parent, plus a q' where it slides. */
#include "multibody/import/robot.h"

#include "core/error.h"
#include "core/number.h"
#include "multibody/vector3.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A limit is a stop that suits what it holds, I = 1 kg m^2 (kg): this stiffness, N m/rad (N/m); in proportion above, and below down to the
 * lightest, which sets the highest frequency, 1000 rad/s. Half the critical damping. Ours. */
#define STOP_STIFFNESS 1e4
#define STOP_LIGHTEST 1e-2
#define PI 3.14159265358979323846
#define BETWEEN_LIMITS 0.1  /* rad: room for two stops side by side; ours */
#define FRICTION_SPEED 1e-2 /* rad/s or m/s: where dry friction is full; ours */

/* ---- Small things ------------------------------------------------------------------------------------- */

void robot_note(robot *r, const char *format, ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    dae_vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (r->note) r->note(text, r->user);
}

void *robot_wrong(robot *r, const mbs_xml *e, const char *format, ...)
{
    char text[380];
    va_list args;
    va_start(args, format);
    dae_vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (!r->failed) dae_fail(r->err, DAE_ERR_INPUT, NAN, "line %d: <%.40s>: %s", e->line, e->name, text);
    r->failed = 1;
    return NULL;
}

robot_link *robot_add(robot *r)
{
    if (r->nlink == r->room) {
        int room = r->room ? 2 * r->room : 32;
        robot_link *more = realloc(r->link, (size_t)room * sizeof *more);
        if (!more) return NULL;
        r->link = more;
        r->room = room;
    }
    robot_link *l = &r->link[r->nlink++];
    *l = (robot_link){.parent = -1};
    l->joint = (robot_joint){.type = "fixed", .R = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .axis = {1, 0, 0}};
    return l;
}

int robot_find(const robot *r, const char *link)
{
    for (int i = 0; i < r->nlink; i++) {
        if (!strcmp(r->link[i].name, link)) return i;
    }
    return -1;
}

#define XACRO "; ${...} is a macro of xacro, which makes the robot file: xacro THIS_FILE > robot.urdf"

int robot_numbers(robot *r, const mbs_xml *e, const char *attribute, int count, double *out)
{
    const char *text = mbs_xml_get(e, attribute), *at = text;
    for (int i = 0; text && i < count; i++) {
        char *end;
        double x = dae_strtod(at, &end);
        if (end == at || !isfinite(x)) {
            robot_wrong(r, e, "%s=\"%.60s\": expected %d number%s%s", attribute, text, count,
                        count == 1 ? "" : "s", strstr(text, "${") ? XACRO : "");
            return 0;
        }
        out[i] = x;
        at = end;
    }
    return 1;
}

void robot_rpy(const double a[3], double R[9])
{
    double cr = cos(a[0]), sr = sin(a[0]), cp = cos(a[1]), sp = sin(a[1]), cy = cos(a[2]), sy = sin(a[2]);
    R[0] = cy * cp, R[1] = cy * sp * sr - sy * cr, R[2] = cy * sp * cr + sy * sr;
    R[3] = sy * cp, R[4] = sy * sp * sr + cy * cr, R[5] = sy * sp * cr - cy * sr;
    R[6] = -sp, R[7] = cp * sr, R[8] = cp * cr;
}

/* The largest component first: no difference of near numbers. */
void robot_quaternion(const double R[9], double q[4])
{
    double t[4] = {R[0] + R[4] + R[8], R[0] - R[4] - R[8], R[4] - R[0] - R[8], R[8] - R[0] - R[4]};
    int k = 0;
    for (int i = 1; i < 4; i++) k = t[i] > t[k] ? i : k;
    double s = 2 * sqrt(1 + t[k]);
    q[k] = s / 4;
    if (k == 0) q[1] = (R[7] - R[5]) / s, q[2] = (R[2] - R[6]) / s, q[3] = (R[3] - R[1]) / s;
    if (k == 1) q[0] = (R[7] - R[5]) / s, q[2] = (R[1] + R[3]) / s, q[3] = (R[2] + R[6]) / s;
    if (k == 2) q[0] = (R[2] - R[6]) / s, q[1] = (R[1] + R[3]) / s, q[3] = (R[5] + R[7]) / s;
    if (k == 3) q[0] = (R[3] - R[1]) / s, q[1] = (R[2] + R[6]) / s, q[2] = (R[5] + R[7]) / s;
}

static void turn(const double axis[3], double angle, double R[9])
{
    double n = mbs_norm(axis), s = sin(angle / 2) / (n > 0 ? n : 1);
    const double q[4] = {cos(angle / 2), s * axis[0], s * axis[1], s * axis[2]};
    mbs_quaternion_matrix(q, R);
}

/* o, or NULL if a part of it is missing: what is put in is then missing, too, and who asks for all of it sees that. */
static json_t *whole(json_t *o, int bad)
{
    if (!bad) return o;
    json_decref(o);
    return NULL;
}

static json_t *vector(const double *x, int n)
{
    json_t *list = json_array();
    int bad = 0;
    for (int i = 0; i < n; i++) bad |= json_array_append_new(list, json_real(x[i] == 0 ? 0 : x[i]));
    return whole(list, bad);
}

json_t *robot_shape(const char *kind, const double *size, int nsize, const double R[9], const double p[3])
{
    json_t *o = json_object();
    double q[4];
    robot_quaternion(R, q);
    int bad = json_object_set_new(o, "kind", json_string(kind));
    if (nsize) bad |= json_object_set_new(o, "size", vector(size, nsize));
    bad |= json_object_set_new(o, "r", vector(p, 3));
    bad |= json_object_set_new(o, "q", vector(q, 4));
    return whole(o, bad);
}

void robot_show(robot_link *l, json_t *shape)
{
    if (!l->shapes) l->shapes = json_array();
    l->starved |= json_array_append_new(l->shapes, shape) != 0;
}

/* ---- Bodies ---------------------------------------------------------------------------------------------- */

typedef struct placed {
    int body;              /* its group: the first link of it; -1: the ground */
    double R[9], p[3];     /* the link in its group */
    double WR[9], Wp[3];   /* the link in the world, at the start */
    double omega[3], v[3]; /* world axes; v: of the link's origin */
} placed;

/* x = R y + p */
static void along(const double R[9], const double p[3], const double y[3], double x[3])
{
    double z[3];
    mbs_rotate(R, y, z);
    for (int i = 0; i < 3; i++) x[i] = z[i] + p[i];
}

static void place(const robot *r, int k, placed *at)
{
    const robot_link *l = &r->link[k];
    const robot_joint *j = &l->joint;
    static const placed world = {
        .body = -1, .R = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .WR = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    const placed *up = l->parent >= 0 ? &at[l->parent] : &world;
    placed *me = &at[k];
    double J[9], X[9], way[3] = {0}, d[3], a[3], spin[3], c[3];
    int turns = !strcmp(j->type, "revolute"), slides = !strcmp(j->type, "prismatic");
    turn(j->axis, turns ? j->q : 0, J);
    mbs_multiply(j->R, J, X);
    double n = mbs_norm(j->axis);
    for (int i = 0; i < 3; i++) way[i] = n > 0 ? j->axis[i] / n : 0;
    double p[3], shift[3];
    mbs_rotate(j->R, way, d);
    for (int i = 0; i < 3; i++) p[i] = j->p[i] + (slides ? j->q * d[i] : 0);
    mbs_multiply(up->WR, X, me->WR);
    along(up->WR, up->Wp, p, me->Wp);
    if (!strcmp(j->type, "fixed")) {
        me->body = up->body;
        mbs_multiply(up->R, X, me->R);
        along(up->R, up->p, p, me->p);
    } else {
        me->body = k;
        turn(way, 0, me->R);
        memset(me->p, 0, sizeof me->p);
    }
    mbs_rotate(up->WR, d, a); /* the axis in the world */
    for (int i = 0; i < 3; i++) spin[i] = turns ? j->speed * a[i] : 0, shift[i] = me->Wp[i] - up->Wp[i];
    mbs_cross(up->omega, shift, c);
    for (int i = 0; i < 3; i++) {
        me->omega[i] = up->omega[i] + spin[i];
        me->v[i] = up->v[i] + c[i] + (slides ? j->speed * a[i] : 0);
    }
}

/* A letter, digits and _, once in the model. */
static const char *word(robot *r, const char *text, json_t *taken)
{
    size_t n = strlen(text);
    char *out = dae_arena_take(r->arena, n + 16, 1);
    if (!out) return NULL;
    for (size_t i = 0; i < n; i++) {
        char c = text[i];
        int good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        out[i] = good ? c : '_';
    }
    if (!n || (out[0] >= '0' && out[0] <= '9')) {
        memmove(out + 1, out, n + 1);
        out[0] = 'n';
        n++;
    }
    if (n > 55) out[n = 55] = 0;
    for (int k = 2; json_object_get(taken, out) || !strcmp(out, "ground") || !strcmp(out, "t"); k++)
        snprintf(out + n, 16, "_%d", k);
    return json_object_set_new(taken, out, json_true()) ? NULL : out;
}

typedef struct model {
    json_t *bodies, *shapes, *points, *joints, *forces, *taken;
    placed *at;
    mbs_mass *mass;    /* of groups, in their axes */
    const char **name; /* of bodies, then of joints */
    int bad;           /* there was no memory for a part */
} model;

static const double still[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

/* Mass of link k into that of its group. */
static void gather(const robot *r, int k, model *m)
{
    const robot_link *l = &r->link[k];
    mbs_mass part;
    mbs_shape s = {.r = {m->at[k].p[0], m->at[k].p[1], m->at[k].p[2]}};
    robot_quaternion(m->at[k].R, s.q);
    if (m->at[k].body < 0 || !(l->mass.mass > 0)) return;
    mbs_shape_place(&s, &l->mass, l->mass.mass, &part);
    mbs_mass_add(&m->mass[m->at[k].body], &part);
}

static void put_body(const robot *r, int k, model *m)
{
    const mbs_mass *mass = &m->mass[k];
    const placed *w = &m->at[k];
    json_t *o = json_object();
    double q[4], center[3], arm[3], turned[3], v[3], omega[3];
    (void)r;
    robot_quaternion(w->WR, q);
    along(w->WR, w->Wp, mass->center, center);
    for (int i = 0; i < 3; i++) arm[i] = center[i] - w->Wp[i];
    mbs_cross(w->omega, arm, turned);
    for (int i = 0; i < 3; i++) v[i] = w->v[i] + turned[i];
    mbs_rotate_back(w->WR, w->omega, omega);
    m->bad |= json_object_set_new(o, "name", json_string(m->name[k]));
    m->bad |= json_object_set_new(o, "mass", json_real(mass->mass));
    m->bad |= json_object_set_new(o, "inertia", vector(mass->inertia, 6));
    m->bad |= json_object_set_new(o, "r", vector(center, 3));
    m->bad |= json_object_set_new(o, "q", vector(q, 4));
    m->bad |= json_object_set_new(o, "v", vector(v, 3));
    m->bad |= json_object_set_new(o, "omega", vector(omega, 3));
    m->bad |= json_object_set_new(o, "shapes", json_array());
    m->bad |= json_array_append_new(m->bodies, o);
}

static json_t *body_of(const model *m, int group)
{
    json_t *o;
    size_t i;
    json_array_foreach(m->bodies, i, o)
    {
        const char *name = json_string_value(json_object_get(o, "name"));
        if (name && !strcmp(name, m->name[group])) return o;
    }
    return NULL;
}

/* The shapes of link k in the axes of its body. */
static void put_shapes(const robot *r, int k, model *m)
{
    const placed *w = &m->at[k];
    json_t *s, *to = w->body >= 0 ? json_object_get(body_of(m, w->body), "shapes") : m->shapes;
    size_t i;
    json_array_foreach(r->link[k].shapes, i, s)
    {
        double R[9], p[3], q[4], own[9], at[3];
        for (int c = 0; c < 3; c++)
            p[c] = json_number_value(json_array_get(json_object_get(s, "r"), (size_t)c));
        for (int c = 0; c < 4; c++)
            q[c] = json_number_value(json_array_get(json_object_get(s, "q"), (size_t)c));
        mbs_quaternion_matrix(q, own);
        int ground = w->body < 0;
        mbs_multiply(ground ? w->WR : w->R, own, R);
        along(ground ? w->WR : w->R, ground ? w->Wp : w->p, p, at);
        for (int c = 0; c < 3 && !ground; c++) at[c] -= m->mass[w->body].center[c];
        robot_quaternion(R, q);
        m->bad |= json_object_set_new(s, "r", vector(at, 3));
        m->bad |= json_object_set_new(s, "q", vector(q, 4));
        m->bad |= json_array_append(to, s);
    }
}

/* A point of link k (-1: the world) at R, p of its axes; its name. */
static const char *put_point(robot *r, model *m, int k, const char *stem, const double R[9],
                             const double p[3])
{
    double A[9], at[3], q[4];
    int group = k < 0 ? -1 : m->at[k].body;
    const double *TR = k < 0 ? still : group < 0 ? m->at[k].WR : m->at[k].R, zero[3] = {0, 0, 0};
    const double *Tp = k < 0 ? zero : group < 0 ? m->at[k].Wp : m->at[k].p;
    json_t *o = json_object();
    const char *name = word(r, stem, m->taken);
    mbs_multiply(TR, R, A);
    along(TR, Tp, p, at);
    for (int i = 0; i < 3 && group >= 0; i++) at[i] -= m->mass[group].center[i];
    robot_quaternion(A, q);
    m->bad |= json_object_set_new(o, "name", json_string(name ? name : ""));
    m->bad |= json_object_set_new(o, "body", json_string(group < 0 ? "ground" : m->name[group]));
    m->bad |= json_object_set_new(o, "r", vector(at, 3));
    m->bad |= json_object_set_new(o, "q", vector(q, 4));
    m->bad |= json_array_append_new(m->points, o);
    return name ? name : "";
}

static json_t *put_joint(model *m, const char *name, const char *type, const char *a, const char *b,
                         const double *axis)
{
    json_t *o = json_object();
    m->bad |= json_object_set_new(o, "name", json_string(name));
    m->bad |= json_object_set_new(o, "type", json_string(type));
    m->bad |= json_object_set_new(o, "a", json_string(a));
    m->bad |= json_object_set_new(o, "b", json_string(b));
    if (axis) m->bad |= json_object_set_new(o, "axis", vector(axis, 3));
    m->bad |= json_array_append_new(m->joints, o);
    return o;
}

static json_t *put_force(robot *r, model *m, const char *stem, const char *type, const char *joint)
{
    json_t *o = json_object();
    const char *name = word(r, stem, m->taken);
    m->bad |= json_object_set_new(o, "name", json_string(name ? name : ""));
    m->bad |= json_object_set_new(o, "type", json_string(type));
    m->bad |= json_object_set_new(o, "joint", json_string(joint));
    m->bad |= json_array_append_new(m->forces, o);
    return o;
}

/* What joint k carries: the inertia about its axis of all links behind it, as they stand at the start, or their mass. */
static double carried(const robot *r, int k, const model *m)
{
    const robot_joint *j = &r->link[k].joint;
    mbs_mass sum = {0};
    double axis[3], arm[3], lever[3], n = mbs_norm(j->axis);
    for (int i = k; i < r->nlink; i++) {
        int up = i;
        while (up > k) up = r->link[up].parent;
        const mbs_mass *own = &r->link[i].mass;
        if (up != k || !(own->mass > 0)) continue;
        mbs_mass part;
        mbs_shape s = {.r = {m->at[i].Wp[0], m->at[i].Wp[1], m->at[i].Wp[2]}};
        robot_quaternion(m->at[i].WR, s.q);
        mbs_shape_place(&s, own, own->mass, &part);
        mbs_mass_add(&sum, &part);
    }
    if (strcmp(j->type, "revolute") != 0) return sum.mass;
    mbs_rotate(m->at[k].WR, j->axis, axis);
    for (int i = 0; i < 3; i++) axis[i] /= n > 0 ? n : 1, arm[i] = sum.center[i] - m->at[k].Wp[i];
    mbs_cross(axis, arm, lever);
    const double *I = sum.inertia, x = axis[0], y = axis[1], z = axis[2];
    return I[0] * x * x + I[1] * y * y + I[2] * z * z - 2 * (I[3] * x * y + I[4] * x * z + I[5] * y * z) +
           sum.mass * mbs_dot(lever, lever);
}

/* Limits, damping, dry friction and springs of joint k. */
static void put_laws(robot *r, model *m, int k, const char *name)
{
    const robot_joint *j = &r->link[k].joint;
    char stem[80], law[240];
    int turns = !strcmp(j->type, "revolute");
    int wide = turns && j->upper - j->lower > 2 * PI - BETWEEN_LIMITS; /* whole turns are not counted */
    if (j->limited && wide) robot_note(r, "joint %s: limits of a turn and more are left out", j->name);
    if (j->limited && !wide && j->lower < j->upper) {
        snprintf(stem, sizeof stem, "%.55s_stop", name);
        json_t *o = put_force(r, m, stem, "stop", name);
        double I = fmax(carried(r, k, m), 1e-9);
        double stiff = STOP_STIFFNESS * fmax(1, I) * fmin(1, I / STOP_LIGHTEST);
        m->bad |= json_object_set_new(o, "k", json_real(stiff));
        m->bad |= json_object_set_new(o, "c", json_real(sqrt(stiff * I)));
        m->bad |= json_object_set_new(o, "min", json_real(j->lower));
        m->bad |= json_object_set_new(o, "max", json_real(j->upper));
    }
    if (j->damping == 0 && j->friction == 0 && j->stiffness == 0) return;
    snprintf(stem, sizeof stem, "%.55s_law", name);
    json_t *o = put_force(r, m, stem, turns ? "torque" : "force", name);
    dae_snprintf(law, sizeof law, "-(%.17g)*%s.speed", j->damping, name);
    if (j->friction != 0)
        dae_snprintf(law + strlen(law), sizeof law - strlen(law), " - (%.17g)*tanh(%s.speed/%g)", j->friction,
                     name, FRICTION_SPEED);
    if (j->stiffness != 0)
        dae_snprintf(law + strlen(law), sizeof law - strlen(law), " - (%.17g)*(%s.value - (%.17g))",
                     j->stiffness, name, j->rest);
    m->bad |= json_object_set_new(o, "value", json_string(law));
}

static void put_link(robot *r, int k, model *m)
{
    const robot_link *l = &r->link[k];
    const robot_joint *j = &l->joint;
    char stem[120];
    if (!strcmp(j->type, "fixed") || !strcmp(j->type, "floating")) return;
    const char *name = m->name[r->nlink + k] = word(r, j->name, m->taken);
    double zero[3] = {0, 0, 0};
    snprintf(stem, sizeof stem, "%.50s_a", j->name);
    const char *a = put_point(r, m, l->parent, stem, j->R, j->p);
    snprintf(stem, sizeof stem, "%.50s_b", j->name);
    const char *b = put_point(r, m, k, stem, still, zero);
    put_joint(m, name ? name : "", j->type, a, b, !strcmp(j->type, "spherical") ? NULL : j->axis);
    if (name) put_laws(r, m, k, name);
}

static void put_mimic(robot *r, int k, model *m)
{
    const robot_joint *j = &r->link[k].joint;
    char stem[120];
    if (!j->mimic || !m->name[r->nlink + k]) return;
    for (int i = 0; i < r->nlink; i++) {
        if (!r->link[i].joint.name || strcmp(r->link[i].joint.name, j->mimic) != 0) continue;
        if (!m->name[r->nlink + i]) break;
        snprintf(stem, sizeof stem, "%.50s_mimic", j->name);
        json_t *o = json_object(), *two = json_array();
        const char *name = word(r, stem, m->taken);
        m->bad |= json_object_set_new(o, "name", json_string(name ? name : ""));
        m->bad |= json_object_set_new(o, "type", json_string("gear"));
        m->bad |= json_array_append_new(two, json_string(m->name[r->nlink + k]));
        m->bad |= json_array_append_new(two, json_string(m->name[r->nlink + i]));
        m->bad |= json_object_set_new(o, "joints", two);
        m->bad |= json_object_set_new(
            o, "ratio", json_real(-j->factor)); /* q1 - factor q2 stays what it is at the start */
        m->bad |= json_array_append_new(m->joints, o);
        return;
    }
    robot_note(r, "joint %s: there is no movable joint \"%s\" to mimic: it moves freely", j->name, j->mimic);
}

static void put_tie(robot *r, const robot_tie *tie, model *m)
{
    double at[3], back[3], none[3] = {0};
    const placed *a = tie->a < 0 ? NULL : &m->at[tie->a], *b = tie->b < 0 ? NULL : &m->at[tie->b];
    char stem[120];
    along(a ? a->WR : still, a ? a->Wp : none, tie->r, at);
    for (int i = 0; i < 3; i++) back[i] = at[i] - (b ? b->Wp[i] : 0);
    mbs_rotate_back(b ? b->WR : still, back, at);
    snprintf(stem, sizeof stem, "%.50s_a", tie->name);
    const char *pa = put_point(r, m, tie->a, stem, still, tie->r);
    snprintf(stem, sizeof stem, "%.50s_b", tie->name);
    const char *pb = put_point(r, m, tie->b, stem, still, at);
    if (tie->weld) json_object_del(json_array_get(m->points, json_array_size(m->points) - 1), "q");
    put_joint(m, word(r, tie->name, m->taken), tie->weld ? "fixed" : "spherical", pa, pb, NULL);
}

/* The base is put where the link that is held is at its place: X = T W_b^-1 for the pose W_b of that link with the base in the origin. */
static void hold(robot *r, const robot_tie *tie, placed *at)
{
    if (!tie->holds) return;
    robot_joint *base = &r->link[tie->holds - 1].joint;
    double back[9], turned[3];
    for (int i = 0; i < 9; i++) back[i] = at[tie->b].WR[3 * (i % 3) + i / 3];
    mbs_multiply(tie->R, back, base->R);
    mbs_rotate(base->R, at[tie->b].Wp, turned);
    for (int i = 0; i < 3; i++) base->p[i] = tie->r[i] - turned[i];
    for (int k = 0; k < r->nlink; k++) place(r, k, at);
}

/* Links without mass at the end of a chain: nothing would move them. */
static void weld_ends(robot *r)
{
    for (int k = r->nlink - 1; k >= 0; k--) {
        robot_link *l = &r->link[k];
        double mass = l->mass.mass;
        int moved = 0;
        if (!strcmp(l->joint.type, "fixed")) continue;
        char *mine = calloc((size_t)r->nlink, 1);
        if (!mine) return;
        mine[k] = 1;
        for (int i = k + 1; i < r->nlink; i++) {
            int up = r->link[i].parent;
            if (up < 0 || !mine[up]) continue;
            if (strcmp(r->link[i].joint.type, "fixed") != 0) moved = 1;
            else mine[i] = 1, mass += r->link[i].mass.mass;
        }
        free(mine);
        if (mass > 0 || moved) continue;
        robot_note(r, "link %s has no mass: joint %s is taken as fixed", l->name, l->joint.name);
        l->joint.type = "fixed";
    }
}

static int set_start(robot *r, const dae_setting *start, int nstart)
{
    for (int i = 0; i < nstart; i++) {
        robot_joint *j = NULL;
        for (int k = 0; k < r->nlink && !j; k++) {
            if (r->link[k].joint.name && !strcmp(r->link[k].joint.name, start[i].name)) j = &r->link[k].joint;
        }
        char *end;
        double q = dae_strtod(start[i].value, &end), speed = *end == ':' ? dae_strtod(end + 1, &end) : 0;
        if (!j || *end || !isfinite(q) || !isfinite(speed)) {
            dae_fail(r->err, DAE_ERR_INPUT, NAN,
                     j ? "joint %s: \"%s\" is no position or position:speed" : "there is no joint \"%s\"%.0s",
                     start[i].name, start[i].value);
            return 0;
        }
        if (j->mimic) {
            dae_fail(r->err, DAE_ERR_INPUT, NAN, "joint %s follows joint %s (mimic): set that one", j->name,
                     j->mimic);
            return 0;
        }
        if (j->limited && j->lower < j->upper && (q < j->lower || q > j->upper))
            robot_note(r, "joint %s: %g is beyond its limits %g .. %g: its stop pushes it back", j->name, q,
                       j->lower, j->upper);
        j->q = q;
        j->speed = speed;
        j->given = 1;
    }
    for (int k = 0; k < r->nlink; k++) {
        robot_joint *j = &r->link[k].joint;
        double inside = fmin(fmax(j->q, j->lower), j->upper);
        if (!j->limited || j->given || j->mimic || !(j->lower < j->upper) || inside == j->q) continue;
        robot_note(r, "joint %s: %g is beyond its limits: it starts at %g", j->name, j->q, inside);
        j->q = inside;
    }
    for (int pass = 0; pass < 2; pass++) { /* those that follow others start where they belong */
        for (int k = 0; k < r->nlink; k++) {
            robot_joint *j = &r->link[k].joint;
            for (int i = 0; j->mimic && i < r->nlink; i++) {
                const robot_joint *o = &r->link[i].joint;
                if (!o->name || strcmp(o->name, j->mimic) != 0) continue;
                j->q = j->factor * o->q + j->offset;
                j->speed = j->factor * o->speed;
            }
        }
    }
    return 1;
}

json_t *robot_model(robot *r, const dae_setting *start, int nstart)
{
    size_t n = (size_t)r->nlink;
    model m = {json_array(),
               json_array(),
               json_array(),
               json_array(),
               json_array(),
               json_object(),
               calloc(n + 1, sizeof *m.at),
               calloc(n + 1, sizeof *m.mass),
               calloc(2 * n + 1, sizeof *m.name),
               0};
    json_t *out = json_object();
    weld_ends(r);
    for (int k = 0; k < r->nlink; k++) m.bad |= r->link[k].starved;
    int good = m.at && m.mass && m.name && set_start(r, start, nstart);
    for (int k = 0; good && k < r->nlink; k++) place(r, k, m.at);
    for (int k = 0; good && k < r->ntie; k++) hold(r, &r->tie[k], m.at);
    for (int k = 0; good && k < r->nlink; k++) {
        if (m.at[k].body == k) good = (m.name[k] = word(r, r->link[k].name, m.taken)) != NULL;
    }
    for (int k = 0; good && k < r->nlink; k++) gather(r, k, &m);
    for (int k = 0; good && k < r->nlink; k++) {
        if (m.at[k].body == k) put_body(r, k, &m);
    }
    for (int k = 0; good && k < r->nlink; k++) put_shapes(r, k, &m);
    for (int k = 0; good && k < r->nlink; k++) put_link(r, k, &m);
    for (int k = 0; good && k < r->nlink; k++) put_mimic(r, k, &m);
    for (int k = 0; good && k < r->ntie; k++) put_tie(r, &r->tie[k], &m);
    m.bad |= json_object_set_new(out, "daedalus", json_integer(1));
    m.bad |= json_object_set_new(out, "kind", json_string("mechanism"));
    m.bad |= json_object_set_new(out, "name", json_string(r->name));
    m.bad |= json_object_set_new(out, "dimension", json_integer(3));
    m.bad |= json_object_set_new(out, "gravity", vector(r->gravity, 3));
    if (json_array_size(m.shapes)) m.bad |= json_object_set(out, "shapes", m.shapes);
    m.bad |= json_object_set(out, "bodies", m.bodies);
    m.bad |= json_object_set(out, "points", m.points);
    m.bad |= json_object_set(out, "joints", m.joints);
    m.bad |= json_object_set(out, "forces", m.forces);
    m.bad |= json_object_set_new(out, "simulation",
                                 json_pack("{s:f, s:f, s:f}", "t1", 2.0, "rtol", 1e-6, "atol", 1e-8));
    json_decref(m.bodies);
    json_decref(m.shapes);
    json_decref(m.points);
    json_decref(m.joints);
    json_decref(m.forces);
    json_decref(m.taken);
    free(m.at);
    free(m.mass);
    free(m.name);
    if (good && !m.bad && !dae_arena_failed(r->arena)) return out;
    json_decref(out);
    return NULL;
}
