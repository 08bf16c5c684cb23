/* MJCF, the part that most files consist of: bodies, joints (hinge, slide, ball, free), geoms with their mass, inertials, defaults with classes,
 * connect, weld and joint equalities (https://mujoco.readthedocs.io/en/stable/XMLreference.html). A body with several joints is a
 * chain of links without mass before it. Actuators, sensors, contacts are told and left out; tendons, composites, includes are refused. */
#include "multibody/import/robot.h"

#include "core/error.h"
#include "core/number.h"
#include "multibody/vector3.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

typedef struct mjcf {
    robot *r;
    const mbs_xml *defaults; /* the first <default>, or NULL */
    double angle;            /* radians per unit of angle */
    int unnamed, armature;
} mjcf;

/* ---- Defaults ------------------------------------------------------------------------------------------- */

/* The attribute that class `name` gives to elements, from the class itself or the ones around it; *found: the class was here. */
static const char *in_class(const mbs_xml *d, const char *name, const char *element, const char *attribute,
                            int *found)
{
    const char *own = mbs_xml_get(d, "class");
    const char *value = NULL;
    *found = own && !strcmp(own, name);
    for (const mbs_xml *c = d->child; c && !*found; c = c->next) {
        if (!strcmp(c->name, "default")) value = in_class(c, name, element, attribute, found);
    }
    if (*found && !value) value = mbs_xml_get(mbs_xml_child(d, element), attribute);
    return value;
}

static const char *get(const mjcf *m, const mbs_xml *e, const char *class, const char *attribute)
{
    const char *value = mbs_xml_get(e, attribute), *own = mbs_xml_get(e, "class");
    int found = 0;
    if (value || !m->defaults) return value;
    const char *element = strcmp(e->name, "freejoint") ? e->name : "joint";
    if (own || class) value = in_class(m->defaults, own ? own : class, element, attribute, &found);
    return found ? value : mbs_xml_get(mbs_xml_child(m->defaults, element), attribute);
}

/* Numbers of an attribute with its defaults; how many there are, at most `most`. */
static int numbers(mjcf *m, const mbs_xml *e, const char *class, const char *attribute, int most, double *out)
{
    const char *text = get(m, e, class, attribute);
    int n = 0;
    while (text && n < most) {
        char *end;
        double x = dae_strtod(text, &end);
        if (end == text) break;
        if (!isfinite(x)) return robot_wrong(m->r, e, "%s is not finite", attribute), 0;
        out[n++] = x;
        text = end;
    }
    return n;
}

static int is(const char *text, const char *word)
{
    return text && !strcmp(text, word);
}

/* ---- Places ------------------------------------------------------------------------------------------------ */

/* The shortest turn that takes z to d. */
static void z_to(const double d[3], double R[9])
{
    double n = mbs_norm(d), c = n > 0 ? d[2] / n : 1;
    double q[4] = {1 + c, n > 0 ? -d[1] / n : 0, n > 0 ? d[0] / n : 0, 0};
    if (1 + c < 1e-12) q[0] = 0, q[1] = 1, q[2] = 0;
    mbs_quaternion_matrix(q, R);
}

static void orientation(mjcf *m, const mbs_xml *e, const char *class, double R[9])
{
    double q[4] = {1, 0, 0, 0}, a[6];
    if (numbers(m, e, class, "quat", 4, q) == 4) {
    } else if (numbers(m, e, class, "axisangle", 4, a) == 4) {
        double n = mbs_norm(a), s = sin(a[3] * m->angle / 2) / (n > 0 ? n : 1);
        q[0] = cos(a[3] * m->angle / 2), q[1] = s * a[0], q[2] = s * a[1], q[3] = s * a[2];
    } else if (numbers(m, e, class, "euler", 3, a) == 3) { /* about x, then the new y, then the new z */
        double X[9], Y[9], Z[9], XY[9];
        const double x[4] = {cos(a[0] * m->angle / 2), sin(a[0] * m->angle / 2), 0, 0},
                     y[4] = {cos(a[1] * m->angle / 2), 0, sin(a[1] * m->angle / 2), 0},
                     z[4] = {cos(a[2] * m->angle / 2), 0, 0, sin(a[2] * m->angle / 2)};
        mbs_quaternion_matrix(x, X);
        mbs_quaternion_matrix(y, Y);
        mbs_quaternion_matrix(z, Z);
        mbs_multiply(X, Y, XY);
        mbs_multiply(XY, Z, R);
        return;
    } else if (numbers(m, e, class, "xyaxes", 6, a) == 6) {
        double x[3], y[3], z[3], n = mbs_norm(a);
        for (int i = 0; i < 3; i++) x[i] = a[i] / (n > 0 ? n : 1);
        double d = mbs_dot(x, a + 3);
        for (int i = 0; i < 3; i++) y[i] = a[3 + i] - d * x[i];
        n = mbs_norm(y);
        for (int i = 0; i < 3; i++) y[i] /= n > 0 ? n : 1;
        mbs_cross(x, y, z);
        for (int i = 0; i < 3; i++) R[3 * i] = x[i], R[3 * i + 1] = y[i], R[3 * i + 2] = z[i];
        return;
    } else if (numbers(m, e, class, "zaxis", 3, a) == 3) {
        z_to(a, R);
        return;
    }
    mbs_quaternion_matrix(q, R);
}

/* ---- Geoms -------------------------------------------------------------------------------------------------- */

/* offset: where the body's frame is in the axes of the link. */
static void geom(mjcf *m, const mbs_xml *e, const char *class, robot_link *l, const double offset[3],
                 int weighs)
{
    const char *type = get(m, e, class, "type");
    double size[3] = {0}, p[3] = {0}, R[9], ends[6], mass = -1, density = 1000;
    int n = numbers(m, e, class, "size", 3, size), nsize = 1,
        spans = numbers(m, e, class, "fromto", 6, ends) == 6;
    mbs_shape s = {.kind = !type || is(type, "sphere") ? "sphere" : type};
    if (!type && spans) s.kind = "capsule";
    if (is(type, "plane") || is(type, "hfield")) return;
    if (is(type, "mesh") || is(type, "sdf") || is(type, "ellipsoid") || !n) {
        robot_note(m->r, "body %s: geom of type %s is left out", l->name, type ? type : "(no size)");
        return;
    }
    numbers(m, e, class, "pos", 3, p);
    orientation(m, e, class, R);
    if (spans) {
        double d[3];
        for (int i = 0; i < 3; i++) d[i] = ends[3 + i] - ends[i], p[i] = (ends[i] + ends[3 + i]) / 2;
        z_to(d, R);
        size[1] = mbs_norm(d);
        nsize = 2;
        if (is(s.kind, "box")) nsize = 3, size[2] = size[1], size[1] = size[0] *= 2;
    } else if (is(s.kind, "box")) {
        nsize = 3;
        for (int i = 0; i < 3; i++) size[i] *= 2;
    } else if (is(s.kind, "capsule") || is(s.kind, "cylinder")) {
        nsize = 2;
        size[1] *= 2;
    }
    memcpy(s.size, size, sizeof size);
    for (int i = 0; i < 3; i++) s.r[i] = p[i] += offset[i];
    robot_quaternion(R, s.q);
    robot_show(l, robot_shape(s.kind, size, nsize, R, p));
    if (!weighs) return;
    mbs_mass own, part;
    mbs_shape_mass(&s, &own);
    numbers(m, e, class, "mass", 1, &mass);
    numbers(m, e, class, "density", 1, &density);
    mbs_shape_place(&s, &own, mass >= 0 ? mass : density * own.mass, &part);
    mbs_mass_add(&l->mass, &part);
}

static void inertial(mjcf *m, const mbs_xml *e, robot_link *l, const double offset[3])
{
    mbs_mass own = {0};
    mbs_shape at = {0};
    double R[9], I[6] = {0};
    numbers(m, e, NULL, "mass", 1, &own.mass);
    numbers(m, e, NULL, "pos", 3, at.r);
    for (int i = 0; i < 3; i++) at.r[i] += offset[i];
    orientation(m, e, NULL, R);
    robot_quaternion(R, at.q);
    if (numbers(m, e, NULL, "fullinertia", 6, I) == 6) {
        for (int i = 3; i < 6; i++) I[i] = -I[i];
    } else {
        numbers(m, e, NULL, "diaginertia", 3, I);
    }
    memcpy(own.inertia, I, sizeof I);
    mbs_shape_place(&at, &own, own.mass, &l->mass);
}

/* ---- Bodies ------------------------------------------------------------------------------------------------- */

static const char *named(mjcf *m, const mbs_xml *e, const char *stem)
{
    const char *name = mbs_xml_get(e, "name");
    if (name) return name;
    char text[40];
    snprintf(text, sizeof text, "%s%d", stem, ++m->unnamed);
    return dae_arena_copy(m->r->arena, text, strlen(text) + 1, 1);
}

static void read_joint(mjcf *m, const mbs_xml *e, const char *class, robot_joint *j)
{
    const char *type = is(e->name, "freejoint") ? "free" : get(m, e, class, "type");
    double range[2] = {0, 0}, armature = 0, unit = !type || is(type, "hinge") ? m->angle : 1;
    j->name = named(m, e, "joint");
    j->type = !type || is(type, "hinge") ? "revolute"
              : is(type, "slide")        ? "prismatic"
              : is(type, "ball")         ? "spherical"
                                         : "floating";
    j->axis[0] = j->axis[1] = 0, j->axis[2] = 1;
    numbers(m, e, class, "axis", 3, j->axis);
    const char *limited = get(m, e, class, "limited");
    if (numbers(m, e, class, "range", 2, range) == 2 && !is(limited, "false") && range[0] < range[1]) {
        j->limited = is(j->type, "revolute") || is(j->type, "prismatic");
        j->lower = range[0] * unit;
        j->upper = range[1] * unit;
    }
    if (!is(j->type, "revolute") && !is(j->type, "prismatic")) return;
    numbers(m, e, class, "damping", 1, &j->damping);
    numbers(m, e, class, "stiffness", 1, &j->stiffness);
    numbers(m, e, class, "frictionloss", 1, &j->friction);
    numbers(m, e, class, "springref", 1, &j->rest);
    j->rest *= unit;
    numbers(m, e, class, "armature", 1, &armature);
    m->armature += armature > 0;
}

static void body(mjcf *m, const mbs_xml *e, int parent, const double offset[3], const char *class)
{
    robot *r = m->r;
    double p[3] = {0}, R[9], anchor[3] = {0}, unit[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const char *name = named(m, e, "body"), *child = mbs_xml_get(e, "childclass");
    int count = 0, last = -1;
    if (child) class = child;
    numbers(m, e, NULL, "pos", 3, p);
    orientation(m, e, NULL, R);
    for (int i = 0; i < 3; i++) p[i] += offset[i];
    for (const mbs_xml *c = e->child; c && !r->failed; c = c->next) {
        double at[3] = {0};
        if (strcmp(c->name, "joint") != 0 && strcmp(c->name, "freejoint") != 0) continue;
        robot_link *l = robot_add(r);
        if (!l) return;
        read_joint(m, c, class, &l->joint);
        numbers(m, c, class, "pos", 3, at);
        if (is(l->joint.type, "floating")) at[0] = at[1] = at[2] = 0;
        char *own = dae_arena_take(r->arena, strlen(name) + 16, 1);
        if (!own) return;
        snprintf(own, strlen(name) + 16, "%s_%d", name, count);
        l->name = own;
        l->parent = count++ ? last : parent;
        double way[3];
        if (count == 1) {
            mbs_rotate(R, at, way);
            for (int i = 0; i < 3; i++) l->joint.p[i] = p[i] + way[i];
            memcpy(l->joint.R, R, sizeof R);
        } else {
            for (int i = 0; i < 3; i++) l->joint.p[i] = at[i] - anchor[i];
            memcpy(l->joint.R, unit, sizeof unit);
        }
        memcpy(anchor, at, sizeof at);
        last = r->nlink - 1;
    }
    if (!count) { /* fixed to its parent */
        robot_link *l = robot_add(r);
        if (!l) return;
        l->parent = parent;
        l->joint.name = name;
        memcpy(l->joint.p, p, sizeof p);
        memcpy(l->joint.R, R, sizeof R);
        last = r->nlink - 1;
    }
    r->link[last].name = name;
    for (int i = 0; i < 3; i++)
        anchor[i] = anchor[i] == 0 ? 0 : -anchor[i]; /* the body in the axes of its link */
    const mbs_xml *weight = mbs_xml_child(e, "inertial");
    if (weight) inertial(m, weight, &r->link[last], anchor);
    for (const mbs_xml *c = e->child; c && !r->failed; c = c->next) {
        if (is(c->name, "geom")) geom(m, c, class, &r->link[last], anchor, !weight);
        else if (is(c->name, "composite") || is(c->name, "flexcomp") || is(c->name, "include"))
            robot_wrong(r, c, "not supported: <%s>", c->name);
        else if (is(c->name, "body")) body(m, c, last, anchor, class);
    }
}

/* ---- Equalities ----------------------------------------------------------------------------------------------- */

static int find_body(robot *r, const mbs_xml *e, const char *attribute)
{
    const char *name = mbs_xml_get(e, attribute);
    if (!name || !strcmp(name, "world")) return -1;
    int k = robot_find(r, name);
    if (k < 0) robot_wrong(r, e, "%s: there is no body \"%.60s\"", attribute, name);
    return k;
}

static void equality(mjcf *m, const mbs_xml *list)
{
    robot *r = m->r;
    int count = 0;
    for (const mbs_xml *c = list->child; c; c = c->next) count++;
    robot_tie *more = realloc(r->tie, (size_t)(r->ntie + count + 1) * sizeof *more);
    if (!more) return;
    r->tie = more;
    for (const mbs_xml *c = list->child; c && !r->failed; c = c->next) {
        int weld = is(c->name, "weld");
        if (is(c->name, "joint")) {
            const char *one = mbs_xml_get(c, "joint1"), *two = mbs_xml_get(c, "joint2");
            double poly[5] = {0, 1, 0, 0, 0};
            numbers(m, c, NULL, "polycoef", 5, poly);
            for (int k = 0; one && two && k < r->nlink; k++) {
                robot_joint *j = &r->link[k].joint;
                if (!j->name || strcmp(j->name, one) != 0) continue;
                j->mimic = two;
                j->offset = poly[0];
                j->factor = poly[1];
            }
            continue;
        }
        if (!weld && !is(c->name, "connect")) {
            robot_note(r, "<equality> <%s> is left out", c->name);
            continue;
        }
        robot_tie t = {.name = named(m, c, weld ? "weld" : "connect"), .weld = weld};
        t.a = find_body(r, c, "body1");
        t.b = find_body(r, c, "body2");
        numbers(m, c, NULL, "anchor", 3, t.r);
        r->tie[r->ntie++] = t;
    }
}

/* ---- The file --------------------------------------------------------------------------------------------------- */

int robot_read_mjcf(robot *r, const mbs_xml *root)
{
    mjcf m = {.r = r, .defaults = mbs_xml_child(root, "default"), .angle = PI / 180};
    const mbs_xml *world = mbs_xml_child(root, "worldbody"), *compiler = mbs_xml_child(root, "compiler"),
                  *option = mbs_xml_child(root, "option");
    const double zero[3] = {0, 0, 0};
    r->name = mbs_xml_get(root, "model") ? mbs_xml_get(root, "model") : "mujoco";
    r->gravity[2] = -9.81;
    if (option) numbers(&m, option, NULL, "gravity", 3, r->gravity);
    if (is(mbs_xml_get(compiler, "angle"), "radian")) m.angle = 1;
    if (mbs_xml_get(compiler, "eulerseq")) robot_note(r, "<compiler eulerseq> is left out: xyz is taken");
    for (const mbs_xml *c = root->child; c && !r->failed; c = c->next) {
        if (is(c->name, "tendon") || is(c->name, "include") || is(c->name, "deformable"))
            robot_wrong(r, c, "not supported: <%s>", c->name);
        else if (is(c->name, "actuator") || is(c->name, "sensor") || is(c->name, "contact") ||
                 is(c->name, "keyframe"))
            robot_note(r, "<%s> is left out", c->name);
    }
    if (!world) robot_wrong(r, root, "there is no <worldbody>");
    if (r->failed) return -1;
    robot_link *ground = robot_add(r);
    if (!ground) return -1;
    ground->name = "world";
    ground->joint.name = "world";
    for (const mbs_xml *c = world->child; c && !r->failed; c = c->next) {
        if (is(c->name, "geom")) geom(&m, c, NULL, &r->link[0], zero, 0);
        if (is(c->name, "body")) body(&m, c, 0, zero, mbs_xml_get(world, "childclass"));
        if (is(c->name, "composite") || is(c->name, "include"))
            robot_wrong(r, c, "not supported: <%s>", c->name);
    }
    for (const mbs_xml *c = root->child; c && !r->failed; c = c->next) {
        if (is(c->name, "equality")) equality(&m, c);
    }
    if (m.armature) robot_note(r, "the armature of %d joints (inertia of rotors) is left out", m.armature);
    robot_note(r, "contacts between geoms are left out");
    return r->failed ? -1 : 0;
}
