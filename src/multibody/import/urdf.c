/* URDF: links and joints of a robot (http://wiki.ros.org/urdf/XML). The root stands on the ground unless it is to move freely; a parent "world"
 * that is not declared is the ground; limits become stops, dynamics become forces, mimic joints gears. What has no meaning here
 * (transmissions, materials, gazebo, ...) is told once. */
#include "multibody/import/robot.h"

#include "multibody/vector3.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void origin(robot *r, const mbs_xml *e, double R[9], double p[3])
{
    double rpy[3] = {0, 0, 0};
    const mbs_xml *o = mbs_xml_child(e, "origin");
    p[0] = p[1] = p[2] = 0;
    if (o) {
        robot_numbers(r, o, "xyz", 3, p);
        robot_numbers(r, o, "rpy", 3, rpy);
    }
    robot_rpy(rpy, R);
}

static void inertial(robot *r, const mbs_xml *e, robot_link *l)
{
    const mbs_xml *i = mbs_xml_child(e, "inertial"), *m = mbs_xml_child(i, "mass"),
                  *t = mbs_xml_child(i, "inertia");
    double R[9], p[3];
    mbs_mass own = {0};
    mbs_shape at = {0};
    if (!i) return;
    origin(r, i, R, p);
    if (m) robot_numbers(r, m, "value", 1, &own.mass);
    if (t) {
        static const char *const name[6] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
        for (int k = 0; k < 6; k++) robot_numbers(r, t, name[k], 1, &own.inertia[k]);
        for (int k = 3; k < 6; k++)
            own.inertia[k] = -own.inertia[k]; /* entries of the tensor there, products here */
    }
    if (own.mass < 0) robot_wrong(r, i, "the mass of link %s is negative", l->name);
    mbs_set(at.r, p);
    robot_quaternion(R, at.q);
    mbs_shape_place(&at, &own, own.mass, &l->mass);
    for (int k = 0; k < 3; k++) {
        const double *I = own.inertia;
        if (I[k] > (I[(k + 1) % 3] + I[(k + 2) % 3]) * (1 + 1e-9)) {
            robot_note(r, "link %s: inertia %s is larger than the sum of the other two: no body has that",
                       l->name,
                       k == 0   ? "ixx"
                       : k == 1 ? "iyy"
                                : "izz");
            break;
        }
    }
}

/* A box of about the size that mass and inertia tell: a^2 = 6 (Iyy + Izz - Ixx)/m. */
static void inertia_box(robot_link *l)
{
    double size[3], R[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const double *I = l->mass.inertia, m = l->mass.mass;
    if (!(m > 0)) return;
    for (int k = 0; k < 3; k++) size[k] = sqrt(fmax(6 * (I[(k + 1) % 3] + I[(k + 2) % 3] - I[k]) / m, 1e-6));
    robot_show(l, robot_shape("box", size, 3, R, l->mass.center));
}

static int ends(const char *text, const char *ending)
{
    size_t n = strlen(text), k = strlen(ending);
    if (n < k) return 0;
    for (size_t i = 0; i < k; i++) {
        if (tolower((unsigned char)text[n - k + i]) != ending[i]) return 0;
    }
    return 1;
}

/* The file that a mesh names, as it is to be found from the folder of the robot: package://name/rest is looked for as rest
 * there and above. 0: it is not there. */
static int mesh_path(const robot *r, const char *name, char *path, size_t size)
{
    const char *slash = r->file ? strrchr(r->file, '/') : NULL, *rest = name;
    int folder = slash ? (int)(slash - r->file + 1) : 0;
    if (!strncmp(name, "package://", 10)) {
        rest = strchr(name + 10, '/');
        if (!rest) return 0;
        rest++;
    } else if (!strncmp(name, "file://", 7)) {
        rest = name + 7;
    }
    static const char *const above[] = {"", "../", "../../"};
    for (int i = 0; i < 3; i++) {
        char whole[1200];
        snprintf(whole, sizeof whole, "%.*s%s%s", folder, folder ? r->file : "", above[i], rest);
        FILE *f = fopen(whole, "rb");
        if (!f) continue;
        fclose(f);
        snprintf(path, size, "%.*s", (int)size - 1, whole + (r->elsewhere ? 0 : folder));
        return 1;
    }
    return 0;
}

/* 1: there are triangles in it. */
static int readable(const robot *r, const char *path, const double scale[3])
{
    const char *slash = !r->elsewhere && r->file ? strrchr(r->file, '/') : NULL;
    char whole[2400];
    snprintf(whole, sizeof whole, "%.*s%s", slash ? (int)(slash - r->file + 1) : 0, slash ? r->file : "",
             path);
    dae_arena *arena = dae_arena_create();
    mbs_shape shape = {0};
    int good = arena && mbs_mesh_read(whole, scale, arena, &shape, NULL) >= 0;
    dae_arena_destroy(arena);
    return good;
}

static void mesh(robot *r, const mbs_xml *e, robot_link *l, const double R[9], const double p[3])
{
    const char *name = mbs_xml_get(e, "filename");
    char path[1200];
    double scale[3] = {1, 1, 1};
    int known = name && (ends(name, ".stl") || ends(name, ".obj"));
    if (!name) return;
    robot_numbers(r, e, "scale", 3, scale);
    if (known && mesh_path(r, name, path, sizeof path) && readable(r, path, scale)) {
        json_t *s = robot_shape("mesh", NULL, 0, R, p), *factor = json_array();
        for (int i = 0; i < 3; i++) l->starved |= json_array_append_new(factor, json_real(scale[i])) != 0;
        l->starved |= json_object_set_new(s, "file", json_string(path)) != 0;
        l->starved |= json_object_set_new(s, "scale", factor) != 0;
        robot_show(l, s);
        return;
    }
    if (!r->boxes++) r->first_box = name;
    inertia_box(l);
}

/* What is drawn: the visuals, or the collision shapes of a link without any. */
static void shapes(robot *r, const mbs_xml *e, robot_link *l)
{
    const char *which = mbs_xml_child(e, "visual") ? "visual" : "collision";
    for (const mbs_xml *v = e->child; v; v = v->next) {
        const mbs_xml *g = mbs_xml_child(v, "geometry"), *s;
        double R[9], p[3], size[3] = {1, 1, 1};
        if (strcmp(v->name, which) != 0 || !g) continue;
        origin(r, v, R, p);
        if ((s = mbs_xml_child(g, "box"))) {
            if (robot_numbers(r, s, "size", 3, size)) robot_show(l, robot_shape("box", size, 3, R, p));
        } else if ((s = mbs_xml_child(g, "sphere"))) {
            if (robot_numbers(r, s, "radius", 1, size)) robot_show(l, robot_shape("sphere", size, 1, R, p));
        } else if ((s = mbs_xml_child(g, "cylinder")) || (s = mbs_xml_child(g, "capsule"))) {
            if (robot_numbers(r, s, "radius", 1, size) && robot_numbers(r, s, "length", 1, size + 1))
                robot_show(l, robot_shape(s->name, size, 2, R, p));
        } else if ((s = mbs_xml_child(g, "mesh"))) {
            mesh(r, s, l, R, p);
        }
    }
}

static const char *type_of(robot *r, const mbs_xml *e)
{
    const char *type = mbs_xml_get(e, "type");
    static const char *const known[][2] = {{"fixed", "fixed"},         {"revolute", "revolute"},
                                           {"continuous", "revolute"}, {"prismatic", "prismatic"},
                                           {"floating", "floating"},   {"planar", "planar"}};
    for (size_t i = 0; type && i < sizeof known / sizeof *known; i++) {
        if (!strcmp(type, known[i][0])) return known[i][1];
    }
    return robot_wrong(
        r, e, "there is no joint type \"%.40s\"; fixed, revolute, continuous, prismatic, floating, planar",
        type ? type : "");
}

static void read_joint(robot *r, const mbs_xml *e, robot_joint *j)
{
    const mbs_xml *axis = mbs_xml_child(e, "axis"), *limit = mbs_xml_child(e, "limit"),
                  *dynamics = mbs_xml_child(e, "dynamics"), *mimic = mbs_xml_child(e, "mimic");
    const char *type = mbs_xml_get(e, "type");
    j->name = mbs_xml_get(e, "name");
    if (!j->name) j->name = "joint";
    j->type = type_of(r, e);
    origin(r, e, j->R, j->p);
    if (axis) robot_numbers(r, axis, "xyz", 3, j->axis);
    if (!r->failed && !(mbs_norm(j->axis) > 0)) robot_wrong(r, e, "the axis of joint %s is zero", j->name);
    if (limit && type && (!strcmp(type, "revolute") || !strcmp(type, "prismatic"))) {
        j->limited = 1;
        robot_numbers(r, limit, "lower", 1, &j->lower);
        robot_numbers(r, limit, "upper", 1, &j->upper);
    }
    if (dynamics) {
        robot_numbers(r, dynamics, "damping", 1, &j->damping);
        robot_numbers(r, dynamics, "friction", 1, &j->friction);
    }
    if (mimic) {
        j->mimic = mbs_xml_get(mimic, "joint");
        j->factor = 1;
        robot_numbers(r, mimic, "multiplier", 1, &j->factor);
        robot_numbers(r, mimic, "offset", 1, &j->offset);
    }
}

/* A link of the file and the joint that it hangs on; held: another one, fixed, that closes a loop. */
typedef struct entry {
    const mbs_xml *link, *joint, *held;
    int done;
} entry;

static entry *find(entry *list, int count, const char *name)
{
    for (int i = 0; i < count; i++) {
        const char *n = mbs_xml_get(list[i].link, "name");
        if (n && !strcmp(n, name)) return &list[i];
    }
    return NULL;
}

static const char *end_of(const mbs_xml *joint, const char *which)
{
    return mbs_xml_get(mbs_xml_child(joint, which), "link");
}

static int add(robot *r, const entry *e, int parent, int root)
{
    robot_link *l = robot_add(r);
    if (!l) return -1;
    l->name = mbs_xml_get(e->link, "name");
    l->parent = parent;
    if (e->joint) read_joint(r, e->joint, &l->joint);
    else if (root && r->floating) l->joint.type = "floating", l->joint.name = "base";
    inertial(r, e->link, l);
    shapes(r, e->link, l);
    return r->nlink - 1;
}

/* Parents before children: as often over the list as chains are long. */
static int order(robot *r, const mbs_xml *root, entry *list, int count)
{
    int roots = 0, left = count;
    for (int i = 0; i < count; i++) {
        const char *up = list[i].joint ? end_of(list[i].joint, "parent") : NULL;
        int ground = up && !strcmp(up, "world") && !find(list, count, "world");
        if (list[i].joint && !ground) continue;
        if (ground) robot_note(r, "link \"world\" is not declared: taken as the ground");
        const char *name = mbs_xml_get(list[i].link, "name");
        int empty = !strcmp(name, "world") && !mbs_xml_child(list[i].link, "inertial");
        if (!list[i].joint && !empty)
            robot_note(r,
                       r->floating ? "the base link \"%s\" moves freely"
                                   : "the base link \"%s\" stands on the ground",
                       name);
        int floating = r->floating;
        if (empty) r->floating = 0;
        if (add(r, &list[i], -1, 1) < 0) return 0;
        r->floating = floating;
        list[i].done = 1;
        left--;
        roots++;
    }
    if (!roots) {
        robot_wrong(r, root, "every link has a parent: there is no base");
        return 0;
    }
    for (int before = -1; left && before != left;) {
        before = left;
        for (int i = 0; i < count; i++) {
            if (list[i].done) continue;
            int parent = robot_find(r, end_of(list[i].joint, "parent"));
            if (parent < 0) continue;
            if (add(r, &list[i], parent, 0) < 0) return 0;
            list[i].done = 1;
            left--;
        }
    }
    if (left) robot_wrong(r, root, "%d links hang on each other in a circle", left);
    return !left;
}

/* A second joint of a link that is fixed. To the ground: it holds a base that would else stand there itself. */
static int close_loops(robot *r, const entry *list, int count)
{
    int n = 0;
    for (int i = 0; i < count; i++) n += list[i].held != NULL;
    if (!n) return 1;
    r->tie = calloc((size_t)n, sizeof *r->tie);
    if (!r->tie) return 0;
    for (int i = 0; i < count; i++) {
        if (!list[i].held) continue;
        robot_tie *tie = &r->tie[r->ntie];
        const char *name = mbs_xml_get(list[i].held, "name"), *down = mbs_xml_get(list[i].link, "name");
        *tie = (robot_tie){.name = name ? name : "loop",
                           .a = robot_find(r, end_of(list[i].held, "parent")),
                           .b = robot_find(r, down),
                           .weld = 1};
        origin(r, list[i].held, tie->R, tie->r);
        int base = tie->b, ground = tie->a < 0 || !strcmp(r->link[tie->a].name, "world");
        while (r->link[base].parent >= 0) base = r->link[base].parent;
        if (ground && !strcmp(r->link[base].joint.type, "floating")) tie->holds = base + 1;
        robot_note(r, "link %s hangs on two joints: %s closes a loop", down, tie->name);
        r->ntie++;
    }
    return !r->failed;
}

static void told_once(robot *r, const mbs_xml *root)
{
    char seen[400] = " ";
    for (const mbs_xml *e = root->child; e; e = e->next) {
        char word[64];
        snprintf(word, sizeof word, " %.60s ", e->name);
        if (!strcmp(e->name, "link") || !strcmp(e->name, "joint") || strstr(seen, word)) continue;
        if (strlen(seen) + strlen(word) < sizeof seen) strcat(seen, word + 1);
        if (strcmp(e->name, "material") != 0)
            robot_note(r, "<%.60s> has no meaning here and is left out", e->name);
    }
}

int robot_read_urdf(robot *r, const mbs_xml *root)
{
    int count = 0, good = 1;
    for (const mbs_xml *e = root->child; e; e = e->next) count += !strcmp(e->name, "link");
    entry *list = calloc((size_t)count + 1, sizeof *list);
    if (!list) return -1;
    r->name = mbs_xml_get(root, "name") ? mbs_xml_get(root, "name") : "robot";
    r->gravity[2] = -9.81;
    int k = 0;
    for (const mbs_xml *e = root->child; e && good; e = e->next) {
        if (strcmp(e->name, "link") != 0) continue;
        const char *name = mbs_xml_get(e, "name");
        if (!name) good = robot_wrong(r, e, "it has no name") != NULL;
        else if (find(list, k, name)) good = robot_wrong(r, e, "there are two links \"%.60s\"", name) != NULL;
        else list[k++].link = e;
    }
    for (const mbs_xml *e = root->child; e && good; e = e->next) {
        if (strcmp(e->name, "joint") != 0) continue;
        const char *up = end_of(e, "parent"), *down = end_of(e, "child");
        entry *child = down ? find(list, count, down) : NULL;
        if (!up || !child)
            good = robot_wrong(r, e, "its %s \"%.60s\" is no link", up ? "child" : "parent",
                               down ? down : "") != NULL;
        else if (strcmp(up, "world") != 0 && !find(list, count, up))
            good = robot_wrong(r, e, "its parent \"%.60s\" is no link", up) != NULL;
        else if (!child->joint) child->joint = e;
        else if (child->held || !mbs_xml_get(e, "type") || strcmp(mbs_xml_get(e, "type"), "fixed") != 0)
            good = robot_wrong(r, e,
                               "link \"%.60s\" hangs on two joints: URDF has no loops but those that a fixed "
                               "joint closes",
                               down) != NULL;
        else child->held = e;
    }
    if (good && !count) good = robot_wrong(r, root, "the robot has no links") != NULL;
    if (good) told_once(r, root);
    for (int i = 0; i < count; i++) /* what is held at a link is not held at its base */
        r->floating |= list[i].held && !strcmp(end_of(list[i].held, "parent"), "world");
    if (good) good = order(r, root, list, count) && close_loops(r, list, count);
    free(list);
    if (good && r->boxes)
        robot_note(r,
                   "%d mesh%s not there or no STL or OBJ file (%.80s): drawn as boxes of the size that the "
                   "inertia tells",
                   r->boxes, r->boxes == 1 ? " is" : "es are", r->first_box);
    return good && !r->failed ? 0 : -1;
}
