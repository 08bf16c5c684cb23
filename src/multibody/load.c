/* Model files: JSON -> model. Every mistake is told with its place in the file ("joints[2].type"), what was expected and,
 * for names, what was probably meant. The JSON Schema of the format is docs/model.schema.json. */
#include "multibody/field.h"
#include "multibody/mechanism.h"
#include "multibody/repeat.h"
#include "multibody/shape.h"
#include "multibody/structure.h"
#include "multibody/vector3.h"
#include "multibody/words.h"

#include "core/error.h"
#include "core/escape.h"
#include "core/file.h"
#include "core/hash.h"
#include "core/number.h"
#include "table/json_value.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { max_items = 20000 };

typedef struct loader {
    mbs_model *m;
    dae_error *err;
    int failed;
    char path[128]; /* of the object being read */
    const dae_setting *setting;
    int nsetting;
    const char *file; /* the text comes from, or NULL */
    double (*center)
        [3]; /* of bodies whose mass is computed: in the axes that the file gives shapes and points in */
} loader;

/* ---- Mistakes ---------------------------------------------------------------------------------------- */

static void wrong(loader *l, const char *field, const char *format, ...) DAE_PRINTF(3, 4);
static void wrong(loader *l, const char *field, const char *format, ...)
{
    char text[380];
    va_list args;
    if (l->failed) return;
    l->failed = 1;
    va_start(args, format);
    dae_vsnprintf(text, sizeof text, format, args);
    va_end(args);
    dae_fail(l->err, dae_message_status(text), NAN, "%s%s%s: %s", l->path,
             l->path[0] && field[0] && field[0] != '[' ? "." : "", field, text);
}

static const char *kind_of(const json_t *j)
{
    switch (json_typeof(j)) {
    case JSON_OBJECT: return "an object";
    case JSON_ARRAY: return "a list";
    case JSON_STRING: return "a text";
    case JSON_NULL: return "null";
    case JSON_TRUE:
    case JSON_FALSE: return "true or false";
    default: return "a number";
    }
}

/* Every key must be one of the list. */
static void check_keys(loader *l, json_t *object, const char *list)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        if (mbs_word_of(list, key) >= 0) continue;
        char hint[64];
        dae_nearest_word(key, list, hint, sizeof hint);
        if (!hint[0] && strchr(l->path, '[')) dae_nearest_word(key, "repeat", hint, sizeof hint);
        wrong(l, key, "unknown key%s%s%s", DAE_DID_YOU_MEAN(hint));
        return;
    }
}

/* ---- Values ------------------------------------------------------------------------------------------ */

static int parameter_lookup(const char *name, dae_symbol *out, void *user)
{
    const mbs_model *m = user;
    int k = mbs_find_parameter(m, name);
    if (k < 0) return 0;
    if (m->parameter[k].input) return 0; /* no constant */
    m->parameter[k].used = 1;
    *out = (dae_symbol){-1, m->parameter[k].value, m->parameter[k].dimension};
    return 1;
}

/* `more`: what the place takes besides parameters, "pi" or nothing. */
static void parameter_hint(const mbs_model *m, const char *name, const char *more, char *hint, size_t size)
{
    char list[2048];
    snprintf(list, sizeof list, "%s", more);
    for (int i = 0; i < m->nparameter; i++) {
        size_t n = strlen(list);
        if (n + strlen(m->parameter[i].name) + 2 < sizeof list)
            snprintf(list + n, sizeof list - n, "%s%s", n ? "|" : "", m->parameter[i].name);
    }
    dae_nearest_word(name, list, hint, size);
}

/* A constant expression of the parameters, in one of the units ("m", "m/s|rad/s"; "": a number without, NULL: any). */
static double constant(loader *l, const char *field, const char *text, const char *units,
                       dae_dimension *found)
{
    dae_expression_error err;
    double value = 0;
    dae_expression *e = dae_expression_create(text, parameter_lookup, l->m, &err);
    if (!e) {
        char hint[64] = "";
        int k = err.name[0] ? mbs_find_parameter(l->m, err.name) : -1;
        if (k >= 0 && l->m->parameter[k].input) {
            wrong(l, field,
                  "\"%.80s\" at column %d: \"%.40s\" is an input, which may change; only laws may use it",
                  text, err.column + 1, err.name);
            return 0;
        }
        if (err.name[0]) parameter_hint(l->m, err.name, "pi", hint, sizeof hint);
        wrong(l, field, "\"%.80s\" at column %d: %s%s%s%s", text, err.column + 1, err.text,
              DAE_DID_YOU_MEAN(hint));
        return 0;
    }
    dae_expression_constant(e, &value);
    dae_dimension d = dae_expression_dimension(e);
    dae_expression_destroy(e);
    *found = d;
    if (!isfinite(value)) wrong(l, field, "\"%.80s\" is not a finite number", text);
    char fault[300];
    if (mbs_unit_wrong(units, &d, text, fault, sizeof fault)) wrong(l, field, "%s", fault);
    return value;
}

/* A number, or an expression in one of the units, and the unit that it has. */
static double quantity(loader *l, const char *field, const json_t *j, const char *units, dae_dimension *found)
{
    *found = (dae_dimension){.soft = 1};
    if (json_is_number(j)) {
        double value = json_number_value(j);
        if (!isfinite(value)) wrong(l, field, "not a finite number");
        return value;
    }
    if (json_is_string(j)) return constant(l, field, json_string_value(j), units, found);
    wrong(l, field, "expected a number or an expression in quotes, found %s", kind_of(j));
    return 0;
}

static double number_of(loader *l, const char *field, const json_t *j, const char *units)
{
    dae_dimension found;
    return quantity(l, field, j, units, &found);
}

/* The unit as a text, where it is certain. */
static const char *unit_text(const dae_dimension *d, char *out, size_t size)
{
    if (d->soft) return NULL;
    dae_dimension_text(d, out, size);
    return out;
}

static double number(loader *l, json_t *object, const char *key, double missing, const char *units)
{
    json_t *j = json_object_get(object, key);
    return j ? number_of(l, key, j, units) : missing;
}

static double needed(loader *l, json_t *object, const char *key, const char *units)
{
    json_t *j = json_object_get(object, key);
    if (!j) wrong(l, key, "missing");
    return j ? number_of(l, key, j, units) : 0;
}

static const char *text(loader *l, json_t *object, const char *key, int required)
{
    json_t *j = json_object_get(object, key);
    if (!j && required) wrong(l, key, "missing");
    if (j && !json_is_string(j)) wrong(l, key, "expected a text, found %s", kind_of(j));
    return j && json_is_string(j) ? json_string_value(j) : NULL;
}

static json_t *child(loader *l, json_t *object, const char *key, int list)
{
    json_t *j = json_object_get(object, key);
    if (j && (list ? !json_is_array(j) : !json_is_object(j))) {
        wrong(l, key, "expected %s, found %s", list ? "a list" : "an object", kind_of(j));
        return NULL;
    }
    return j;
}

/* A list of the given length. */
static void numbers(loader *l, json_t *object, const char *key, int least, int most, double *out,
                    const char *units)
{
    json_t *j = child(l, object, key, 1);
    if (!j) return;
    int n = (int)json_array_size(j);
    if (n < least || n > most) {
        if (least == most) wrong(l, key, "expected %d numbers, found %d", least, n);
        else wrong(l, key, "expected %d to %d numbers, found %d", least, most, n);
        return;
    }
    for (int i = 0; i < n; i++) {
        char field[48];
        snprintf(field, sizeof field, "%s[%d]", key, i);
        out[i] = number_of(l, field, json_array_get(j, (size_t)i), units);
    }
}

static void vector(loader *l, json_t *object, const char *key, double *out, const char *units)
{
    numbers(l, object, key, l->m->space, l->m->space, out, units);
}

/* A number or expression that is kept as text. */
static const char *law(loader *l, const char *field, const json_t *j)
{
    char buffer[40];
    if (json_is_string(j)) return json_string_value(j);
    if (!json_is_number(j)) {
        wrong(l, field, "expected a number or an expression in quotes, found %s", kind_of(j));
        return NULL;
    }
    dae_snprintf(buffer, sizeof buffer, "(%.17g)",
                 json_number_value(j)); /* parentheses: -1 ^ 2 stays what it says */
    return mbs_copy_text(l->m, buffer);
}

/* Words of a list joined by spaces. */
static const char *words(loader *l, json_t *object, const char *key)
{
    char buffer[200] = "";
    json_t *j = child(l, object, key, 1);
    if (!j) return NULL;
    for (size_t i = 0; i < json_array_size(j); i++) {
        const char *w = json_string_value(json_array_get(j, i));
        size_t n = strlen(buffer);
        if (!w || strchr(w, ' ') || n + strlen(w) + 2 > sizeof buffer) {
            wrong(l, key, "expected a short list of words");
            return NULL;
        }
        snprintf(buffer + n, sizeof buffer - n, "%s%s", n ? " " : "", w);
    }
    return mbs_copy_text(l->m, buffer);
}

/* ---- Sections ---------------------------------------------------------------------------------------- */

/* --init and --t0: a value that begins with "=" (which assembly keeps), or with "~" (a guess, which it may change). */
static int is_start(const dae_setting *s)
{
    return s->value[0] == '=' || s->value[0] == '~';
}

static int is_begin(const dae_setting *s)
{
    return !strcmp(s->name, "t") && s->value[0] == '=';
}

/* NAME=?: a signal that the model does not declare is to be a sensor of its own name. */
static int is_shown(const dae_setting *s)
{
    return !strcmp(s->value, "?");
}

static const dae_setting *setting_of(const loader *l, const char *name)
{
    for (int i = l->nsetting - 1; i >= 0; i--) {
        const dae_setting *s = &l->setting[i];
        if (!strcmp(s->name, name) && !is_start(s) && !is_shown(s)) return s;
    }
    return NULL;
}

/* A parameter by what is given for it: the file, an assembly in the place of its definition, a setting in the place of both. What
 * replaces a value has the unit of it. */
static double parameter_value(loader *l, const char *key, const json_t *own, const json_t *of_assembly,
                              dae_dimension *d)
{
    const dae_setting *s = setting_of(l, key);
    dae_dimension found;
    char unit[48];
    double x = quantity(l, key, own, NULL, d);
    if (of_assembly && !l->failed) {
        x = quantity(l, key, of_assembly, unit_text(d, unit, sizeof unit), &found);
        if (d->soft) *d = found;
    }
    if (s && !l->failed) {
        x = constant(l, key, s->value, unit_text(d, unit, sizeof unit), &found);
        if (d->soft) *d = found;
    }
    return x;
}

/* given: what an assembly sets in its definition, or NULL. */
static void read_parameters(loader *l, json_t *section, const json_t *given)
{
    const char *key;
    json_t *value;
    snprintf(l->path, sizeof l->path, "parameters");
    if (section) {
        json_object_foreach(section, key, value)
        {
            dae_dimension d = {{0}, 1};
            double x = 0;
            if (strlen(key) > 60 || strpbrk(key, " .()[]+-*/^,") || !key[0] ||
                (key[0] >= '0' && key[0] <= '9')) {
                wrong(l, key, "is no name (letters, digits and _)");
            } else if (!strcmp(key, "t") || !strcmp(key, "pi") || !strcmp(key, "e")) {
                wrong(l, key, "this name has a meaning of its own, as all of t, pi and e");
            } else {
                x = parameter_value(l, key, value, json_object_get(given, key), &d);
            }
            if (l->failed) return;
            mbs_model_set_parameter(l->m, key, x);
            int k = mbs_find_parameter(l->m, key); /* < 0: no memory, which the model remembers */
            if (k >= 0) l->m->parameter[k].dimension = d;
        }
    }
    l->path[0] = 0;
}

/* "inputs": ["force"]: parameters that equations around the mechanism may change. */
static void read_inputs(loader *l, json_t *root)
{
    json_t *list = child(l, root, "inputs", 1);
    for (size_t i = 0; list && i < json_array_size(list) && !l->failed; i++) {
        char field[40], hint[64];
        const char *name = json_string_value(json_array_get(list, i));
        snprintf(field, sizeof field, "inputs[%d]", (int)i);
        int k = name ? mbs_find_parameter(l->m, name) : -1;
        if (k >= 0) {
            l->m->parameter[k].input = 1;
            continue;
        }
        parameter_hint(l->m, name ? name : "", "", hint, sizeof hint);
        wrong(l, field, "expected the name of a parameter, which gives unit and value%s%s%s",
              DAE_DID_YOU_MEAN(hint));
    }
}

/* Every setting is one of a parameter. */
static void check_settings(loader *l)
{
    snprintf(l->path, sizeof l->path, "parameters");
    for (int i = 0; i < l->nsetting && !l->failed; i++) {
        char hint[64];
        if (is_start(&l->setting[i]) || is_shown(&l->setting[i]) ||
            mbs_find_parameter(l->m, l->setting[i].name) >= 0)
            continue;
        parameter_hint(l->m, l->setting[i].name, "", hint, sizeof hint);
        wrong(l, l->setting[i].name, "the model has no such parameter%s%s%s", DAE_DID_YOU_MEAN(hint));
    }
    l->path[0] = 0;
}

/* A file that the model names stands beside it. */
static void beside(const loader *l, const char *name, char *path, size_t size)
{
    const char *slash = l->file && name[0] != '/' ? strrchr(l->file, '/') : NULL;
    snprintf(path, size, "%.*s%s", slash ? (int)(slash - l->file + 1) : 0, slash ? l->file : "", name);
}

static void read_mesh(loader *l, json_t *o, mbs_shape *s)
{
    double scale[3] = {1, 1, 1};
    char path[1024];
    dae_error err = {0};
    const char *file = text(l, o, "file", 1);
    json_t *factor = json_object_get(o, "scale");
    if (json_is_array(factor)) numbers(l, o, "scale", 3, 3, scale, "");
    else if (factor) scale[0] = scale[1] = scale[2] = number_of(l, "scale", factor, "");
    if (l->failed) return;
    beside(l, file, path, sizeof path);
    if (mbs_mesh_read(path, scale, l->m->arena, s, &err) < 0) {
        wrong(l, "file", "%s", err.text);
        return;
    }
    const char *vertex = (const char *)s->vertex, *corner = (const char *)s->triangle;
    l->m->files = dae_hash(l->m->files, vertex, 3 * (size_t)s->nvertex * sizeof *s->vertex);
    l->m->files = dae_hash(l->m->files, corner, 3 * (size_t)s->ntriangle * sizeof *s->triangle);
}

/* One shape, and its mass where it tells one (*mass; else negative). */
static void read_shape(loader *l, json_t *o, mbs_shape *s, mbs_mass *own, double *mass)
{
    int least, most;
    check_keys(l, o, "kind|size|r|angle|q|file|scale|density|mass|doc");
    *s = (mbs_shape){.kind = text(l, o, "kind", 1)};
    if (l->failed) return;
    most = mbs_shape_sizes(s->kind, &least);
    if (most < 0) {
        char hint[64];
        dae_nearest_word(s->kind, "box|sphere|cylinder|capsule|rod|plate|plane|mesh", hint, sizeof hint);
        wrong(l, "kind",
              "there is no shape \"%.40s\"%s%s%s; box, sphere, cylinder, capsule, rod, plate, plane, mesh",
              s->kind, DAE_DID_YOU_MEAN(hint));
        return;
    }
    if (most == 0) read_mesh(l, o, s);
    else if (!json_object_get(o, "size")) wrong(l, "size", "missing");
    else numbers(l, o, "size", least, most, s->size, "m");
    for (int i = 0; i < least && !l->failed; i++) {
        if (!(s->size[i] > 0)) wrong(l, "size", "must be positive");
    }
    vector(l, o, "r", s->r, "m");
    if (l->m->space == MBS_PLANAR) {
        double angle = number(l, o, "angle", 0, "");
        s->q[0] = cos(angle / 2), s->q[3] = sin(angle / 2);
    }
    numbers(l, o, "q", 4, 4, s->q, "");
    const char *density = !strcmp(s->kind, "rod") ? "kg/m" : !strcmp(s->kind, "plate") ? "kg/m^2" : "kg/m^3";
    double rho = number(l, o, "density", -1, density);
    *mass = number(l, o, "mass", -1, "kg");
    if (rho >= 0 && *mass >= 0) wrong(l, "density", "give the density or the mass, not both");
    mbs_shape_mass(s, own);
    if (!l->failed && (rho >= 0 || *mass >= 0) && !(own->mass > 0)) {
        if (!strcmp(s->kind, "plane")) wrong(l, "kind", "a plane has no mass");
        else wrong(l, "file", "the mesh is not closed, or its triangles look inwards (volume %g)", own->mass);
    }
    if (rho >= 0) *mass = rho * own->mass;
}

/* The shapes of a body or of the ground. b: the body that gets mass and inertia from them, or NULL; where it has a mass already, that is
 * the mass of all of them together. */
static void read_shapes(loader *l, json_t *o, int body, mbs_body *b)
{
    json_t *list = child(l, o, "shapes", 1);
    int n = list ? (int)json_array_size(list) : 0, first = l->m->nshape;
    double total = b && json_object_get(o, "mass") ? b->mass : -1;
    mbs_mass sum = {0};
    for (int i = 0; i < n && !l->failed; i++) {
        size_t at = strlen(l->path);
        mbs_shape s;
        mbs_mass own, part;
        double mass = -1;
        json_t *item = json_array_get(list, (size_t)i);
        snprintf(l->path + at, sizeof l->path - at, "%sshapes[%d]", at ? "." : "", i);
        if (!json_is_object(item)) wrong(l, "", "expected an object, found %s", kind_of(item));
        else read_shape(l, item, &s, &own, &mass);
        if (!l->failed && b && mass < 0 && total < 0)
            wrong(l, "density", "missing, and the body has no mass either");
        l->path[at] = 0;
        if (l->failed) return;
        s.body = body;
        mbs_model_add_shape(l->m, &s);
        mbs_shape_place(&s, &own, mass >= 0 ? mass : own.mass, &part);
        mbs_mass_add(&sum, &part);
    }
    if (!b || l->failed) return;
    if (!n || !(sum.mass > 0)) {
        wrong(l, "inertia", n ? "missing, and the shapes have no mass" : "missing");
        return;
    }
    double factor = total >= 0 ? total / sum.mass : 1, *c = l->center[body - 1];
    b->mass = factor * sum.mass;
    for (int i = 0; i < 6; i++) b->inertia[i] = factor * sum.inertia[i];
    if (l->m->space == MBS_PLANAR) b->inertia[0] = b->inertia[1] = 0, sum.center[2] = 0;
    mbs_set(c, sum.center);
    for (int k = first; k < l->m->nshape; k++) {
        for (int i = 0; i < 3; i++) l->m->shape[k].r[i] -= c[i];
    }
}

/* The given position is that of the axes in which shapes and points are given: to the center of mass. */
static void to_center(const loader *l, mbs_body *b, const double c[3])
{
    double A[9], d[3];
    const double unit[4] = {1, 0, 0, 0}, turned[4] = {cos(b->angle / 2), 0, 0, sin(b->angle / 2)};
    mbs_quaternion_matrix(l->m->space == MBS_PLANAR                             ? turned
                          : mbs_dot(b->q + 1, b->q + 1) + b->q[0] * b->q[0] > 0 ? b->q
                                                                                : unit,
                          A);
    mbs_rotate(A, c, d);
    for (int i = 0; i < 3; i++) b->center[i] += d[i];
}

/* Where the mass is a number without unit, that in the inertia may be one: "mass": 2, "inertia": "2*L^2/12". */
static double inertia_of(loader *l, const char *field, const json_t *j, int mass_has_unit)
{
    dae_dimension d;
    double x = quantity(l, field, j, NULL, &d);
    const char *units = !mass_has_unit && d.soft == DAE_WEIGHED ? "kg m^2|m^2" : "kg m^2";
    char fault[300];
    if (json_is_string(j) && mbs_unit_wrong(units, &d, json_string_value(j), fault, sizeof fault))
        wrong(l, field, "%s", fault);
    return x;
}

static void read_inertia(loader *l, json_t *o, mbs_body *b, int mass_has_unit)
{
    json_t *inertia = json_object_get(o, "inertia");
    if (l->m->space == MBS_PLANAR) {
        b->inertia[2] = inertia_of(l, "inertia", inertia, mass_has_unit);
    } else if (!json_is_array(inertia)) {
        wrong(l, "inertia", "expected 3 or 6 numbers (Ixx, Iyy, Izz, Ixy, Ixz, Iyz), found %s",
              kind_of(inertia));
    } else if (json_array_size(inertia) != 3 && json_array_size(inertia) != 6) {
        wrong(l, "inertia", "expected 3 or 6 numbers (Ixx, Iyy, Izz, Ixy, Ixz, Iyz), found %d",
              (int)json_array_size(inertia));
    } else {
        for (size_t i = 0; i < json_array_size(inertia); i++) {
            char field[48];
            snprintf(field, sizeof field, "inertia[%d]", (int)i);
            b->inertia[i] = inertia_of(l, field, json_array_get(inertia, i), mass_has_unit);
        }
    }
}

static void read_body(loader *l, json_t *o)
{
    check_keys(l, o, "name|mass|inertia|r|angle|q|v|omega|fix|shapes|doc");
    mbs_body b = {.name = text(l, o, "name", 1)};
    int number_of_body = l->m->nbody + 1, given = json_object_get(o, "inertia") != NULL,
        shaped = json_object_get(o, "shapes") != NULL;
    json_t *mass = json_object_get(o, "mass");
    dae_dimension unit = {.soft = 1};
    if (mass) b.mass = quantity(l, "mass", mass, "kg", &unit);
    else if (given || !shaped) wrong(l, "mass", "missing");
    if (given) read_inertia(l, o, &b, !unit.soft);
    if (!l->failed) read_shapes(l, o, number_of_body, given ? NULL : &b);
    vector(l, o, "r", b.center, "m");
    vector(l, o, "v", b.v, "m/s");
    if (l->m->space == MBS_PLANAR) {
        if (json_object_get(o, "q")) wrong(l, "q", "a planar body has an angle instead");
        b.angle = number(l, o, "angle", 0, "");
        b.omega[2] = number(l, o, "omega", 0, "rad/s");
    } else {
        if (json_object_get(o, "angle"))
            wrong(l, "angle", "a spatial body has a quaternion q = [w, x, y, z] instead");
        numbers(l, o, "q", 4, 4, b.q, "");
        if (json_object_get(o, "q") && b.q[0] == 0 && b.q[1] == 0 && b.q[2] == 0 && b.q[3] == 0)
            wrong(l, "q", "a quaternion must not be zero");
        vector(l, o, "omega", b.omega, "rad/s");
    }
    b.fix = words(l, o, "fix");
    if (!l->failed && !given) to_center(l, &b, l->center[number_of_body - 1]);
    if (!l->failed) mbs_model_add_body(l->m, &b);
}

static void read_point(loader *l, json_t *o)
{
    check_keys(l, o, "name|body|r|angle|q|doc");
    mbs_point p = {.name = text(l, o, "name", 1)};
    const char *body = text(l, o, "body", 1);
    if (!json_object_get(o, "r")) wrong(l, "r", "missing");
    vector(l, o, "r", p.r, "m");
    if (l->m->space == MBS_PLANAR && json_object_get(o, "q"))
        wrong(l, "q", "a planar point has an angle instead");
    if (l->m->space == MBS_SPATIAL && json_object_get(o, "angle"))
        wrong(l, "angle", "a spatial point has a quaternion q instead");
    p.angle = number(l, o, "angle", 0, "");
    numbers(l, o, "q", 4, 4, p.q, "");
    if (l->failed) return;
    p.body = mbs_find_body(l->m, body);
    if (p.body < 0) {
        char list[4096] = "ground", hint[64];
        for (int i = 0; i < l->m->nbody; i++) {
            size_t n = strlen(list);
            if (n + 70 < sizeof list) snprintf(list + n, sizeof list - n, "|%.60s", l->m->body[i].name);
        }
        dae_nearest_word(body, list, hint, sizeof hint);
        wrong(l, "body", "there is no body \"%s\"%s%s%s", body, DAE_DID_YOU_MEAN(hint));
        return;
    }
    for (int i = 0; i < 3 && p.body > 0; i++) p.r[i] -= l->center[p.body - 1][i];
    mbs_model_add_point(l->m, &p);
}

/* ---- Fields of types ----------------------------------------------------------------------------------- */

/* Names of a list joined by spaces; there have to be as many as `choice` has words. */
static const char *names_of(loader *l, const mbs_field *f, const json_t *j)
{
    size_t count = 1;
    for (const char *c = f->choice; *c; c++) count += *c == '|';
    char buffer[200] = "";
    for (size_t i = 0; i < count; i++) {
        const char *name =
            json_is_array(j) && json_array_size(j) == count ? json_string_value(json_array_get(j, i)) : NULL;
        size_t n = strlen(buffer);
        if (!name || strchr(name, ' ') || n + strlen(name) + 2 > sizeof buffer) {
            wrong(l, f->name, "expected a list of %d names: %s", (int)count, f->doc);
            return NULL;
        }
        dae_snprintf(buffer + n, sizeof buffer - n, "%s%s", n ? " " : "", name);
    }
    return mbs_copy_text(l->m, buffer);
}

/* "N m|N/m" is for joints that turn and for those that slide: which of them, where the joint is known. */
static const char *unit_for(const loader *l, json_t *o, const char *units, char *one_of, size_t size)
{
    const char *joint = json_string_value(json_object_get(o, "joint")),
               *bar = units ? strchr(units, '|') : NULL;
    if (!joint || !bar) return units;
    for (int i = 0; i < l->m->njoint; i++) {
        if (strcmp(l->m->joint[i].name, joint) != 0) continue;
        const mbs_joint_type *type = mbs_joint_type_find(l->m->joint[i].type);
        if (!type || type->main == MBS_NO_COORDINATE) return units;
        if (type->main != MBS_ANGLE) return bar + 1;
        dae_snprintf(one_of, size, "%.*s", (int)(bar - units), units);
        return one_of;
    }
    return units;
}

/* What the table of a type asks for, as values. */
static void read_fields(loader *l, json_t *o, const mbs_field *table, mbs_value *out, int room)
{
    int n = 0;
    for (const mbs_field *f = table; f && f->name && !l->failed; f++) {
        json_t *j = json_object_get(o, f->name);
        if (!j && f->required) wrong(l, f->name, "missing: %s", f->doc);
        if (!j || l->failed) continue;
        if (n == room) {
            wrong(l, f->name, "too many fields");
            return;
        }
        mbs_value *v = &out[n++];
        char unit[48];
        dae_dimension found;
        v->name = f->name;
        switch (f->kind) {
        case MBS_FIELD_NUMBER:
            v->number = quantity(l, f->name, j, unit_for(l, o, f->unit, unit, sizeof unit), &found);
            if (found.soft == DAE_WEIGHED) found.soft = 0;
            v->text = l->failed ? NULL : mbs_copy_text(l->m, unit_text(&found, unit, sizeof unit));
            break;
        case MBS_FIELD_FLAG:
            if (!json_is_boolean(j)) wrong(l, f->name, "expected true or false, found %s", kind_of(j));
            v->number = json_is_true(j);
            break;
        case MBS_FIELD_VECTOR: vector(l, o, f->name, v->vector, ""); break;
        case MBS_FIELD_CHOICE: v->text = text(l, o, f->name, 1); break;
        case MBS_FIELD_NAMES: v->text = names_of(l, f, j); break;
        }
        char fault[200];
        if (!l->failed && mbs_field_check(f, v, fault, sizeof fault)) wrong(l, f->name, "%s", fault);
    }
}

static size_t append_word(char *list, size_t n, size_t size, const char *word)
{
    return n < size ? n + (size_t)dae_snprintf(list + n, size - n, "%s%s", n ? "|" : "", word) : n;
}

static size_t append_fields(char *list, size_t n, size_t size, const mbs_field *table)
{
    for (const mbs_field *f = table; f && f->name; f++) n = append_word(list, n, size, f->name);
    return n;
}

/* Keys that all have, and those of the type. */
static void check_type_keys(loader *l, json_t *o, const char *common, const mbs_field *table)
{
    char list[600];
    append_fields(list, append_word(list, 0, sizeof list, common), sizeof list, table);
    check_keys(l, o, list);
}

enum { of_joints, of_forces, of_blocks };

/* Without a type, those of any: "typ" is told before that the type is missing. */
static void check_any_keys(loader *l, json_t *o, const char *common, int of)
{
    char list[3000];
    size_t n = append_word(list, 0, sizeof list, common);
    const mbs_joint_type *j;
    const mbs_force_type *f;
    for (int i = 0; of == of_joints && (j = mbs_joint_type_at(i)); i++)
        n = append_fields(list, n, sizeof list, j->field);
    for (int i = 0; of != of_joints && (f = mbs_force_type_at(i)); i++) {
        if ((of == of_blocks) == !f->acts) n = append_fields(list, n, sizeof list, f->field);
    }
    check_keys(l, o, list);
}

static void unknown_type(loader *l, const char *what, const char *type, const char *(*name)(int))
{
    char list[600] = "", hint[64];
    size_t n = 0;
    for (int i = 0; name(i) && n < sizeof list; i++)
        n += (size_t)dae_snprintf(list + n, sizeof list - n, "%s%s", n ? "|" : "", name(i));
    dae_nearest_word(type, list, hint, sizeof hint);
    wrong(l, "type", "there is no %s type \"%s\"%s%s%s", what, type, DAE_DID_YOU_MEAN(hint));
}

static void read_friction(loader *l, json_t *o, mbs_friction *f)
{
    size_t n = strlen(l->path);
    snprintf(l->path + n, sizeof l->path - n, ".friction");
    check_keys(l, o, "mu|mu_static|radius|v_s|stick");
    f->mu = needed(l, o, "mu", "");
    f->radius = number(l, o, "radius", 0, "m");
    json_t *speed = json_object_get(o, "v_s");
    f->v_s = speed ? number_of(l, "v_s", speed, "m/s|rad/s") : 1e-3;
    if (!l->failed && !(f->v_s > 0)) wrong(l, "v_s", "must be positive");
    f->mu_static = number(l, o, "mu_static", 0, "");
    f->stick = number(l, o, "stick", 0, "rad/s");
    if (!l->failed && json_object_get(o, "stick") && !(f->stick > 0)) wrong(l, "stick", "must be positive");
    l->path[n] = 0;
}

static void read_joint(loader *l, json_t *o)
{
    if (!json_object_get(o, "type")) check_any_keys(l, o, "name|type|a|b|axis|friction|doc", of_joints);
    mbs_joint j = {.type = text(l, o, "type", 1)};
    const mbs_joint_type *type = j.type ? mbs_joint_type_find(j.type) : NULL;
    if (j.type && !type) unknown_type(l, "joint", j.type, mbs_joint_type_name);
    if (!type) return;
    check_type_keys(l, o, type->without_points ? "name|type|doc" : "name|type|a|b|axis|friction|doc",
                    type->field);
    j.name = text(l, o, "name", 1);
    j.point_a = text(l, o, "a", !type->without_points);
    j.point_b = text(l, o, "b", !type->without_points);
    vector(l, o, "axis", j.axis, "");
    if (json_object_get(o, "axis") && j.axis[0] == 0 && j.axis[1] == 0 && j.axis[2] == 0)
        wrong(l, "axis", "must not be zero");
    read_fields(l, o, type->field, j.field, MBS_JOINT_FIELDS);
    json_t *friction = child(l, o, "friction", 0);
    if (friction) read_friction(l, friction, &j.friction);
    if (!l->failed) mbs_model_add_joint(l->m, &j);
}

static void read_values(loader *l, json_t *value, mbs_force *f)
{
    if (!json_is_array(value)) {
        f->count = value != NULL;
        if (value) f->value[0] = law(l, "value", value);
        return;
    }
    f->count = (int)json_array_size(value);
    if (f->count < 1 || f->count > 3) wrong(l, "value", "expected 1 to 3 numbers or expressions");
    for (int i = 0; i < f->count && !l->failed; i++) {
        char field[40];
        snprintf(field, sizeof field, "value[%d]", i);
        f->value[i] = law(l, field, json_array_get(value, (size_t)i));
    }
}

/* Of the forces, or of the blocks. */
static void read_element(loader *l, json_t *o, int block)
{
    if (!json_object_get(o, "type"))
        check_any_keys(l, o, block ? "name|type|value|doc" : "name|type|a|b|joint|body|value|doc",
                       block ? of_blocks : of_forces);
    mbs_force f = {.type = text(l, o, "type", 1)};
    const mbs_force_type *type = f.type ? mbs_force_type_find(f.type) : NULL;
    if (f.type && !type) unknown_type(l, block ? "block" : "force", f.type, mbs_force_type_name);
    if (!type) return;
    if (block != !type->acts) {
        wrong(l, "type",
              block ? "a %s is a force: it stands in \"forces\"" : "a %s is a block: it stands in \"blocks\"",
              type->name);
        return;
    }
    char keys[80];
    dae_snprintf(keys, sizeof keys, "name|type|doc%s%s%s%s%s",
                 type->acts & (MBS_ACTS_BETWEEN | MBS_ACTS_AT) ? "|b" : "",
                 type->acts & (MBS_ACTS_BETWEEN | MBS_ACTS_AT) ? "|a" : "",
                 type->acts & MBS_ACTS_JOINT ? "|joint" : "", type->acts & MBS_ACTS_BODY ? "|body" : "",
                 type->value != MBS_NO_VALUE ? "|value" : "");
    check_type_keys(l, o, keys, type->field);
    f.name = text(l, o, "name", 1);
    f.point_a = text(l, o, "a", 0);
    f.point_b = text(l, o, "b", 0);
    f.joint = text(l, o, "joint", 0);
    f.body = text(l, o, "body", 0);
    read_values(l, json_object_get(o, "value"), &f);
    read_fields(l, o, type->field, f.field, MBS_FORCE_FIELDS);
    if (!l->failed) mbs_model_add_force(l->m, &f);
}

static void read_force(loader *l, json_t *o)
{
    read_element(l, o, 0);
}

static void read_block(loader *l, json_t *o)
{
    read_element(l, o, 1);
}

static void read_driver(loader *l, json_t *o)
{
    check_keys(l, o, "name|joint|quantity|value|doc");
    mbs_driver d = {.name = text(l, o, "name", 1),
                    .joint = text(l, o, "joint", 1),
                    .quantity = text(l, o, "quantity", 0)};
    json_t *value = json_object_get(o, "value");
    if (!value) wrong(l, "value", "missing");
    else d.value = law(l, "value", value);
    if (!l->failed) mbs_model_add_driver(l->m, &d);
}

static void read_sensor(loader *l, json_t *o)
{
    check_keys(l, o, "name|value|unit|doc");
    mbs_sensor s = {
        .name = text(l, o, "name", 1), .value = text(l, o, "value", 1), .unit = text(l, o, "unit", 0)};
    if (!l->failed) mbs_model_add_sensor(l->m, &s);
}

static void show_signals(loader *l)
{
    for (int i = 0; i < l->nsetting && !l->failed; i++) {
        const char *name = l->setting[i].name;
        int again = 0;
        for (int k = 0; k < i; k++) again |= !strcmp(l->setting[k].name, name) && is_shown(&l->setting[k]);
        if (again || !is_shown(&l->setting[i])) continue;
        if (!strchr(name, '.')) wrong(l, name, "is no signal; those have names like spring.force");
        else mbs_model_add_sensor(l->m, &(mbs_sensor){.name = name, .value = name});
    }
}

static void read_impact(loader *l, json_t *o, mbs_event *e)
{
    char unit[40];
    check_keys(l, o, "joint|a|b|axis|restitution|rest_speed");
    e->impact = 1;
    e->joint = text(l, o, "joint", 0);
    e->point_a = text(l, o, "a", !e->joint);
    e->point_b = text(l, o, "b", !e->joint);
    vector(l, o, "axis", e->axis, "");
    e->restitution = number(l, o, "restitution", 0, "");
    if (!l->failed && !(e->restitution >= 0 && e->restitution <= 1))
        wrong(l, "restitution", "must be between 0 and 1");
    e->rest_speed = number(l, o, "rest_speed", 0, unit_for(l, o, "rad/s|m/s", unit, sizeof unit));
    if (!l->failed && json_object_get(o, "rest_speed") && !(e->rest_speed > 0))
        wrong(l, "rest_speed", "must be positive");
}

static void read_event(loader *l, json_t *o)
{
    check_keys(l, o, "name|when|direction|do|doc");
    mbs_event e = {.name = text(l, o, "name", 1), .when = text(l, o, "when", 1)};
    const char *direction = text(l, o, "direction", 0);
    if (direction && !strcmp(direction, "rising")) e.direction = DAE_RISING;
    else if (direction && !strcmp(direction, "falling")) e.direction = DAE_FALLING;
    else if (direction && strcmp(direction, "both") != 0)
        wrong(l, "direction", "expected \"rising\", \"falling\" or \"both\", found \"%s\"", direction);
    json_t *list = child(l, o, "do", 1);
    size_t length = strlen(l->path);
    for (size_t i = 0; list && i < json_array_size(list) && !l->failed; i++) {
        json_t *action = json_array_get(list, i);
        snprintf(l->path + length, sizeof l->path - length, ".do[%d]", (int)i);
        if (!json_is_object(action)) {
            wrong(l, "", "expected an object such as {\"stop\": true}, found %s", kind_of(action));
            break;
        }
        check_keys(l, action, "record|stop|impact");
        if (json_is_true(json_object_get(action, "stop"))) e.stop = 1;
        json_t *impact = child(l, action, "impact", 0);
        if (impact) read_impact(l, impact, &e);
    }
    l->path[length] = 0;
    if (!l->failed) mbs_model_add_event(l->m, &e);
}

/* "variables": {"e": "target - arm.angle"}: laws with names. */
static void read_variables(loader *l, json_t *root)
{
    const char *key;
    json_t *value, *section = child(l, root, "variables", 0);
    snprintf(l->path, sizeof l->path, "variables");
    if (section) {
        json_object_foreach(section, key, value)
        {
            if (!strcmp(key, "e")) wrong(l, key, "this name has a meaning of its own, as all of t, pi and e");
            const char *whole = l->failed ? NULL : law(l, key, value);
            if (l->failed) return;
            mbs_model_add_variable(l->m, key, whole);
        }
    }
    l->path[0] = 0;
}

/* An item with "repeat": {"i": "1..N"}: once for every value of i, with {i}, {i+1}, ... in its texts replaced. */
static void read_repeated(loader *l, json_t *o, void (*read)(loader *, json_t *))
{
    char fault[200];
    json_t *all = mbs_repeat(l->m, o, max_items, fault, sizeof fault);
    if (!all) wrong(l, "repeat", "%s", fault);
    for (size_t i = 0; all && i < json_array_size(all) && !l->failed; i++) read(l, json_array_get(all, i));
    json_decref(all);
}

static void read_section(loader *l, json_t *root, const char *key, void (*read)(loader *, json_t *))
{
    json_t *list = child(l, root, key, 1);
    if (list && json_array_size(list) > max_items) wrong(l, key, "more than %d items", max_items);
    for (size_t i = 0; list && i < json_array_size(list) && !l->failed; i++) {
        json_t *o = json_array_get(list, i);
        snprintf(l->path, sizeof l->path, "%s[%d]", key, (int)i);
        if (!json_is_object(o)) wrong(l, "", "expected an object, found %s", kind_of(o));
        else if (json_object_get(o, "repeat")) read_repeated(l, o, read);
        else read(l, o);
    }
    l->path[0] = 0;
}

/* Assemblies become items of the sections (structure.h). */
static void read_assemblies(loader *l, json_t *root)
{
    char fault[300] = "";
    json_t *list = child(l, root, "assemblies", 1);
    mbs_structure s = {root, l->file, l->m, max_items, fault, sizeof fault, &l->m->files};
    for (size_t i = 0; list && i < json_array_size(list) && !l->failed; i++) {
        json_t *given = json_array_get(list, i), *all = NULL;
        snprintf(l->path, sizeof l->path, "assemblies[%d]", (int)i);
        if (json_object_get(given, "repeat")) all = mbs_repeat(l->m, given, max_items, fault, sizeof fault);
        else if ((all = json_array()) != NULL && json_array_append(all, given)) json_decref(all), all = NULL;
        if (!all) wrong(l, "", "%s", fault[0] ? fault : "out of memory");
        for (size_t k = 0; all && k < json_array_size(all) && !l->failed; k++) {
            json_t *item = json_array_get(all, k), *parameters, *values,
                   *definition = mbs_structure_definition(&s, item, &parameters, &values);
            if (definition) {
                char path[sizeof l->path];
                memcpy(path, l->path, sizeof path);
                read_parameters(l, parameters, values);
                memcpy(l->path, path, sizeof path);
            }
            if (!definition || (!l->failed && mbs_structure_place(&s, item, definition)))
                wrong(l, "", "%s", fault[0] ? fault : "out of memory");
            json_decref(parameters);
            json_decref(values);
            json_decref(definition);
        }
        json_decref(all);
    }
    l->path[0] = 0;
}

/* The speed of a joint that assembly keeps. */
static void read_speed(loader *l, json_t *o)
{
    const char *name = text(l, o, "joint", 1);
    char unit[40];
    double speed = needed(l, o, "speed", unit_for(l, o, "rad/s|m/s", unit, sizeof unit));
    if (l->failed) return;
    for (int k = 0; k < l->m->njoint; k++) {
        mbs_joint *j = &l->m->joint[k];
        if (strcmp(j->name, name) != 0) continue;
        if (j->has_speed && j->speed != speed)
            wrong(l, "speed", "joint \"%s\" has two speeds, %.10g and %.10g", name, j->speed, speed);
        j->speed = speed;
        j->has_speed = 1;
        return;
    }
    wrong(l, "joint", "there is no joint \"%s\"", name);
}

static void also_fix(loader *l, mbs_body *b, const char *what)
{
    char fix[256];
    snprintf(fix, sizeof fix, "%s%s%s", b->fix ? b->fix : "", b->fix ? " " : "", what);
    b->fix = mbs_copy_text(l->m, fix);
}

/* "bob.omega" -> fix of the body. */
static void read_initial(loader *l, json_t *root)
{
    json_t *o = child(l, root, "initial", 0);
    if (!o) return;
    snprintf(l->path, sizeof l->path, "initial");
    check_keys(l, o, "policy|fix|joint|speed|joints");
    if (json_object_get(o, "joint") || json_object_get(o, "speed")) read_speed(l, o);
    json_t *speeds = child(l, o, "joints", 1);
    for (size_t i = 0; speeds && i < json_array_size(speeds) && !l->failed; i++) {
        snprintf(l->path, sizeof l->path, "initial.joints[%d]", (int)i);
        check_keys(l, json_array_get(speeds, i), "joint|speed");
        if (!l->failed) read_speed(l, json_array_get(speeds, i));
        snprintf(l->path, sizeof l->path, "initial");
    }
    const char *policy = text(l, o, "policy", 0);
    if (policy && strcmp(policy, "assemble") != 0)
        wrong(l, "policy", "expected \"assemble\", found \"%s\"", policy);
    json_t *list = child(l, o, "fix", 1);
    for (size_t i = 0; list && i < json_array_size(list) && !l->failed; i++) {
        const char *word = json_string_value(json_array_get(list, i)), *dot = word ? strchr(word, '.') : NULL;
        char field[40], name[64];
        snprintf(field, sizeof field, "fix[%d]", (int)i);
        snprintf(name, sizeof name, "%.*s", dot ? (int)(dot - word) : 0, word ? word : "");
        int body = dot ? mbs_find_body(l->m, name) : -1;
        if (body < 1) {
            wrong(l, field, "expected \"body.quantity\", for instance \"crank.angle\"");
            break;
        }
        also_fix(l, &l->m->body[body - 1], dot + 1);
    }
    l->path[0] = 0;
}

/* Of a component of a body: "omega.x" has rad/s. */
static const char *component_unit(const char *what)
{
    if (strlen(what) == 1) return "m";
    return !strncmp(what, "omega", 5) ? "rad/s" : what[0] == 'v' ? "m/s" : "";
}

/* The body of "crank.omega", and behind the dot what of it is meant; NULL: no body is called so. */
static mbs_body *body_of(loader *l, const char *name, const char **what)
{
    mbs_body *found = NULL;
    size_t longest = 0;
    for (int k = 0; k < l->m->nbody; k++) {
        size_t n = strlen(l->m->body[k].name);
        if (n <= longest || strncmp(name, l->m->body[k].name, n) != 0 || name[n] != '.') continue;
        found = &l->m->body[k];
        longest = n;
    }
    *what = name + longest + 1;
    return found;
}

/* --init crank.omega=3: where a body starts, by the names of the components. */
static void read_start(loader *l, const dae_setting *s)
{
    const char *what;
    char field[160];
    dae_dimension found;
    snprintf(field, sizeof field, "--init %.140s", s->name);
    mbs_body *b = body_of(l, s->name, &what);
    if (!b) {
        char list[4096] = "", hint[64];
        for (int i = 0; i < l->m->nbody; i++) {
            size_t n = strlen(list);
            if (n + 70 < sizeof list)
                snprintf(list + n, sizeof list - n, "%s%.60s", n ? "|" : "", l->m->body[i].name);
        }
        char body[64];
        snprintf(body, sizeof body, "%.*s", (int)strcspn(s->name, "."), s->name);
        dae_nearest_word(body, list, hint, sizeof hint);
        wrong(l, field, "expected body.quantity, as %s.%s%s%s%s", l->m->nbody ? l->m->body[0].name : "crank",
              l->m->space == MBS_PLANAR ? "omega" : "vx", hint[0] ? "; did you mean the body \"" : "", hint,
              hint[0] ? "\"?" : "");
        return;
    }
    const struct {
        const char *what;
        double *at;
        const char *fix;
    } planar[] = {{"x", &b->center[0], "x"}, {"y", &b->center[1], "y"}, {"angle", &b->angle, "angle"},
                  {"vx", &b->v[0], "vx"},    {"vy", &b->v[1], "vy"},    {"omega", &b->omega[2], "omega"}},
      spatial[] = {{"x", &b->center[0], "x"},
                   {"y", &b->center[1], "y"},
                   {"z", &b->center[2], "z"},
                   {"vx", &b->v[0], "vx"},
                   {"vy", &b->v[1], "vy"},
                   {"vz", &b->v[2], "vz"},
                   {"omega.x", &b->omega[0], "omega"},
                   {"omega.y", &b->omega[1], "omega"},
                   {"omega.z", &b->omega[2], "omega"}};
    int is_planar = l->m->space == MBS_PLANAR, count = is_planar ? 6 : 9;
    for (int k = 0; k < count; k++) {
        if (strcmp(is_planar ? planar[k].what : spatial[k].what, what) != 0) continue;
        *(is_planar ? planar[k].at : spatial[k].at) =
            constant(l, field, s->value + 1, component_unit(what), &found);
        if (s->value[0] == '=') also_fix(l, b, is_planar ? planar[k].fix : spatial[k].fix);
        return;
    }
    wrong(l, field, "cannot be set; expected %s%s",
          is_planar ? "x, y, angle, vx, vy or omega" : "x, y, z, vx, vy, vz, omega.x, omega.y or omega.z",
          is_planar ? "" : " (an orientation q is set in the file)");
}

static void read_starts(loader *l)
{
    for (int i = 0; i < l->nsetting && !l->failed; i++) {
        if (is_start(&l->setting[i]) && !is_begin(&l->setting[i])) read_start(l, &l->setting[i]);
    }
}

/* "atol": a number, or one for all and others for single components: {"all": 1e-8, "rod.angle": 1e-12}. 0: not given. */
static double read_tolerance(loader *l, json_t *simulation, const char *key)
{
    json_t *list = json_object_get(simulation, key), *value;
    mbs_simulation *s = &l->m->simulation;
    const char *name;
    double all = 0, x;
    char word[200];
    if (!json_is_object(list)) {
        all = number(l, simulation, key, 0, "");
        if (list && !(all > 0)) wrong(l, key, "must be positive");
        return all;
    }
    dae_setting *more =
        dae_arena_take(l->m->arena, (size_t)s->ntolerance + json_object_size(list) + 1, sizeof *more);
    if (more && s->ntolerance) memcpy(more, s->tolerance, (size_t)s->ntolerance * sizeof *more);
    if (more) s->tolerance = more;
    snprintf(l->path, sizeof l->path, "simulation.%s", key);
    json_object_foreach(list, name, value)
    {
        const char *of = NULL, *what;
        if (!strcmp(key, "rtol") || !strcmp(name, "all")) of = "";
        else if (body_of(l, name, &what)) of = component_unit(what);
        x = number_of(l, name, value, of);
        if (!(x > 0)) wrong(l, name, "must be positive");
        if (strlen(name) > 120 || strpbrk(name, "=,")) wrong(l, name, "is no component");
        if (l->failed || !more) return 0;
        if (!strcmp(name, "all")) {
            all = x;
            continue;
        }
        dae_snprintf(word, sizeof word, "%s=%.17g", name, x);
        more[s->ntolerance++] = (dae_setting){key, mbs_copy_text(l->m, word)};
    }
    snprintf(l->path, sizeof l->path, "simulation");
    return all;
}

static void read_simulation(loader *l, json_t *root)
{
    json_t *o = child(l, root, "simulation", 0);
    mbs_simulation *s = &l->m->simulation;
    dae_dimension found;
    s->t1 = 1;
    if (!o) return;
    snprintf(l->path, sizeof l->path, "simulation");
    check_keys(l, o, "t0|t1|solver|formulation|rtol|atol|h0|hmax|output");
    s->t0 = number(l, o, "t0", 0, "s");
    s->t1 = needed(l, o, "t1", "s");
    for (int i = 0; i < l->nsetting && !l->failed; i++) {
        if (is_begin(&l->setting[i])) s->t0 = constant(l, "t0", l->setting[i].value + 1, "s", &found);
    }
    if (!l->failed && !(s->t1 > s->t0)) wrong(l, "t1", "%g must be after t0 = %g", s->t1, s->t0);
    s->rtol = read_tolerance(l, o, "rtol");
    s->atol = read_tolerance(l, o, "atol");
    s->h0 = number(l, o, "h0", 0, "s");
    s->h_max = number(l, o, "hmax", 0, "s");
    if (json_object_get(o, "h0") && !(s->h0 > 0)) wrong(l, "h0", "must be positive");
    if (json_object_get(o, "hmax") && !(s->h_max > 0)) wrong(l, "hmax", "must be positive");
    s->solver = mbs_copy_text(l->m, text(l, o, "solver", 0));
    s->formulation = mbs_copy_text(l->m, text(l, o, "formulation", 0));
    json_t *output = child(l, o, "output", 0);
    if (output) {
        snprintf(l->path, sizeof l->path, "simulation.output");
        check_keys(l, output, "every");
        s->every = number(l, output, "every", 0, "s");
        if (json_object_get(output, "every") && !(s->every > 0)) wrong(l, "every", "must be positive");
    }
    l->path[0] = 0;
}

static void read_head(loader *l, json_t *root)
{
    json_t *version = json_object_get(root, "daedalus"), *dimension = json_object_get(root, "dimension");
    check_keys(
        l, root,
        "$schema|daedalus|kind|name|doc|include|definitions|assemblies|dimension|parameters|inputs|variables|"
        "gravity|shapes|bodies|points|joints|"
        "blocks|forces|"
        "drivers|sensors|events|"
        "initial|simulation");
    const char *kind = text(l, root, "kind", 1);
    if (!version) wrong(l, "daedalus", "missing (the version of the format: 1)");
    else if (!json_is_integer(version) || json_integer_value(version) != 1)
        wrong(l, "daedalus", "expected 1, the version of the format");
    if (kind && strcmp(kind, "mechanism") != 0)
        wrong(l, "kind", "expected \"mechanism\", found \"%s\"", kind);
    if (!dimension) wrong(l, "dimension", "missing: 2 (planar) or 3 (spatial)");
    else if (!json_is_integer(dimension) ||
             (json_integer_value(dimension) != 2 && json_integer_value(dimension) != 3))
        wrong(l, "dimension", "expected 2 or 3");
}

mbs_model *mbs_model_parse(const char *json, size_t length, const dae_setting *setting, int nsetting,
                           dae_error *err)
{
    return mbs_model_parse_file(json, length, NULL, setting, nsetting, err);
}

mbs_model *mbs_model_parse_file(const char *json, size_t length, const char *file, const dae_setting *setting,
                                int nsetting, dae_error *err)
{
    json_error_t where;
    dae_error own = {0};
    loader l = {.err = err ? err : &own, .setting = setting, .nsetting = nsetting, .file = file};
    size_t mark = dae_utf8_mark(json, length);
    json_t *root = dae_json_read(json + mark, length - mark, JSON_REJECT_DUPLICATES, &where);
    if (!root) {
        if (dae_json_starved(&where)) dae_fail(l.err, DAE_ERR_MEMORY, NAN, "out of memory");
        else
            dae_fail(l.err, DAE_ERR_INPUT, NAN, "line %d, column %d: no JSON: %s", where.line, where.column,
                     where.text);
        return NULL;
    }
    if (!json_is_object(root)) wrong(&l, "file", "expected an object { ... }, found %s", kind_of(root));
    if (!l.failed) read_head(&l, root);
    const char *name = l.failed ? NULL : text(&l, root, "name", 1);
    if (!l.failed) {
        l.m = mbs_model_create(name, (int)json_integer_value(json_object_get(root, "dimension")));
        if (!l.m) wrong(&l, "file", "out of memory");
    }
    if (!l.failed) {
        l.m->doc = mbs_copy_text(l.m, text(&l, root, "doc", 0));
        char fault[300];
        mbs_structure parts = {root, file, l.m, max_items, fault, sizeof fault, &l.m->files};
        if (mbs_structure_include(&parts)) wrong(&l, "include", "%s", fault[0] ? fault : "out of memory");
        if (!l.failed) read_parameters(&l, child(&l, root, "parameters", 0), NULL);
        if (!l.failed) read_inputs(&l, root);
        if (!l.failed) read_assemblies(&l, root);
        if (!l.failed) check_settings(&l);
        if (!l.failed) read_variables(&l, root);
        if (!l.failed) vector(&l, root, "gravity", l.m->gravity, "m/s^2");
        l.center = calloc(max_items + 1, sizeof *l.center);
        if (!l.center) wrong(&l, "file", "out of memory");
        if (!l.failed) read_shapes(&l, root, MBS_GROUND, NULL);
        read_section(&l, root, "bodies", read_body);
        if (!l.failed) read_section(&l, root, "points", read_point);
        if (!l.failed) read_section(&l, root, "joints", read_joint);
        if (!l.failed) read_section(&l, root, "blocks", read_block);
        if (!l.failed) read_section(&l, root, "forces", read_force);
        if (!l.failed) read_section(&l, root, "drivers", read_driver);
        if (!l.failed) read_section(&l, root, "sensors", read_sensor);
        if (!l.failed) show_signals(&l);
        if (!l.failed) read_section(&l, root, "events", read_event);
        if (!l.failed) read_initial(&l, root);
        if (!l.failed) read_starts(&l);
        if (!l.failed) read_simulation(&l, root);
    }
    json_decref(root);
    free(l.center);
    if (l.m && (dae_arena_failed(l.m->arena) || l.m->first.status == DAE_ERR_MEMORY)) {
        l.failed = 1; /* what seemed to be missing was not kept */
        dae_fail(l.err, DAE_ERR_MEMORY, NAN, "out of memory");
    }
    if (l.failed) {
        mbs_model_destroy(l.m);
        return NULL;
    }
    return l.m;
}

mbs_model *mbs_model_load_with(const char *path, const dae_setting *setting, int nsetting, dae_error *err)
{
    size_t length;
    char *data = dae_read_file(path, &length, err);
    if (!data) return NULL;
    mbs_model *m = mbs_model_parse_file(data, length, path, setting, nsetting, err);
    if (m) m->files = dae_hash(m->files, data, length);
    free(data);
    return m;
}

mbs_model *mbs_model_load(const char *path, dae_error *err)
{
    return mbs_model_load_with(path, NULL, 0, err);
}
