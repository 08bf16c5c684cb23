#include "multibody/structure.h"

#include "core/error.h"
#include "core/escape.h"
#include "core/file.h"
#include "core/hash.h"
#include "core/number.h"
#include "table/json_value.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "multibody/field.h"
#include "multibody/repeat.h"
#include "multibody/words.h"

static const char *const sections[] = {"shapes", "bodies",  "points",  "joints", "blocks",
                                       "forces", "drivers", "sensors", "events"};
enum { nsection = sizeof sections / sizeof *sections, deepest = 8 };

static int wrong(const mbs_structure *s, const char *format, const char *a, const char *b)
{
    dae_snprintf(s->wrong, s->size, format, a, b);
    return 1;
}

/* ---- Files --------------------------------------------------------------------------------------------- */

/* A file that stands beside the one that names it; path: where it is, size bytes. */
static json_t *load(const mbs_structure *s, const char *from, const char *name, char *path, size_t size)
{
    const char *slash = from && name[0] != '/' ? strrchr(from, '/') : NULL;
    dae_error err = {0};
    json_error_t where;
    size_t length;
    snprintf(path, size, "%.*s%s", slash ? (int)(slash - from + 1) : 0, slash ? from : "", name);
    char *text = dae_read_file(path, &length, &err);
    if (!text) {
        wrong(s, "%s%s", err.text, "");
        return NULL;
    }
    *s->files = dae_hash(*s->files, text, length);
    size_t mark = dae_utf8_mark(text, length);
    json_t *root = dae_json_read(text + mark, length - mark, JSON_REJECT_DUPLICATES, &where);
    free(text);
    if (!json_is_object(root)) {
        char at[80];
        if (!root && dae_json_starved(&where)) snprintf(at, sizeof at, "out of memory");
        else snprintf(at, sizeof at, "line %d, column %d: no JSON object", where.line, where.column);
        json_decref(root);
        wrong(s, "%s: %s", path, at);
        return NULL;
    }
    return root;
}

/* A key that is none of the list, with the word of it that is near; name: of the object, for the message. */
static int unknown_key(const mbs_structure *s, json_t *object, const char *list, const char *name)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        char hint[64], text[200];
        if (mbs_word_of(list, key) >= 0) continue;
        dae_nearest_word(key, list, hint, sizeof hint);
        dae_snprintf(text, sizeof text, "%s%sunknown key \"%.60s\"%s%s%s", name, name[0] ? ": " : "", key,
                     DAE_DID_YOU_MEAN(hint));
        return wrong(s, "%s%s", text, "");
    }
    return 0;
}

/* A name that is no key of an object, with the key that is near: "there is no definition", "leg has no". */
static int unknown_name(const mbs_structure *s, json_t *object, const char *what, const char *name)
{
    char list[2000] = "", hint[64], text[300];
    size_t used = 0;
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        if (used + strlen(key) + 2 > sizeof list) break;
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? "|" : "", key);
    }
    dae_nearest_word(name, list, hint, sizeof hint);
    dae_snprintf(text, sizeof text, "%s \"%.60s\"%s%s%s", what, name, DAE_DID_YOU_MEAN(hint));
    return wrong(s, "%s%s", text, "");
}

static int same_dimension(const mbs_structure *s, const json_t *part, const char *name)
{
    const json_t *own = json_object_get(s->root, "dimension"), *other = json_object_get(part, "dimension");
    return other && !json_equal((json_t *)own, (json_t *)other)
               ? wrong(s, "%s has another dimension%s", name, "")
               : 0;
}

/* Only sections that can be put together, and what a model that stands alone has. */
static int known_keys(const mbs_structure *s, json_t *part, const char *name)
{
    char list[400] =
        "$schema|daedalus|kind|name|doc|dimension|parameters|inputs|variables|gravity|simulation|"
        "initial|include|definitions|assemblies";
    for (int i = 0; i < nsection; i++) strcat(strcat(list, "|"), sections[i]);
    return unknown_key(s, part, list, name) || same_dimension(s, part, name);
}

/* What `from` has and `to` does not. */
static int add_missing(json_t *to, const json_t *from, const char *key)
{
    json_t *other = json_object_get(from, key), *own = json_object_get(to, key);
    if (!json_is_object(other)) return 0;
    json_t *all = json_copy(other); /* those of the other file first: the own ones may use them */
    if (all && json_is_object(own) && json_object_update(all, own)) return 1;
    return !all || json_object_set_new(to, key, all);
}

static int include(mbs_structure *s, json_t *to, const char *file, int depth)
{
    const json_t *list = json_object_get(to, "include");
    if (!list) return 0;
    if (!json_is_array(list)) return wrong(s, "include: expected a list of files%s%s", "", "");
    if (depth > deepest) return wrong(s, "include: files include each other%s%s", "", "");
    for (size_t i = json_array_size(list); i-- > 0;) { /* each is put before what is there */
        const char *name = json_string_value(json_array_get(list, i));
        char path[1024];
        if (!name) return wrong(s, "include: expected a list of files%s%s", "", "");
        json_t *part = load(s, file, name, path, sizeof path);
        int bad = !part || known_keys(s, part, name) || include(s, part, path, depth + 1);
        for (int k = 0; !bad && k < nsection + 2; k++) {
            const char *key = k < nsection ? sections[k] : k == nsection ? "assemblies" : "inputs";
            json_t *more = json_object_get(part, key), *own = json_object_get(to, key);
            if (!json_is_array(more)) continue;
            json_t *all = json_copy(more);
            bad = !all || (json_is_array(own) && json_array_extend(all, own)) ||
                  json_object_set_new(to, key, all);
        }
        bad = bad || add_missing(to, part, "parameters") || add_missing(to, part, "variables") ||
              add_missing(to, part, "definitions");
        json_decref(part);
        if (bad) return 1;
    }
    return 0;
}

int mbs_structure_include(mbs_structure *s)
{
    s->wrong[0] = 0;
    return include(s, s->root, s->file, 1);
}

/* ---- Names --------------------------------------------------------------------------------------------- */

/* Words of the set get the prefix; not units in brackets, functions, what stands behind a dot or before a brace. */
static json_t *renamed_text(const char *text, const json_t *set, const char *prefix)
{
    size_t room = 2 * strlen(text) + 64, used = 0;
    char *out = malloc(room);
    for (const char *c = text; out && *c;) {
        size_t n = mbs_word_length(c);
        char word[80] = "";
        const char *before = "";
        if (mbs_no_word_length(c)) n = mbs_no_word_length(c);
        else if (n && n < sizeof word && c[n] != '(' && c[n] != '{') {
            memcpy(word, c, n);
            if (json_object_get(set, word)) before = prefix;
            while (c[n] == '.' && mbs_word_length(c + n + 1)) n += 1 + mbs_word_length(c + n + 1);
        }
        if (n == 0) n = 1;
        if (used + n + strlen(before) + 1 > room) {
            char *more = realloc(out, room = 2 * (room + n) + 64);
            if (!more) free(out);
            out = more;
            if (!out) break;
        }
        memcpy(out + used, before, strlen(before));
        memcpy(out + used + strlen(before), c, n);
        used += strlen(before) + n;
        c += n;
    }
    json_t *j = out ? json_stringn(out, used) : NULL;
    free(out);
    return j;
}

/* Texts with these keys are words of the format. */
static int is_word(const char *key)
{
    static const char *const words[] = {"type",      "doc",   "unit", "kind", "quantity",
                                        "direction", "frame", "file", "fix"};
    for (size_t i = 0; key && i < sizeof words / sizeof *words; i++) {
        if (!strcmp(key, words[i])) return 1;
    }
    return 0;
}

static json_t *renamed(const json_t *j, const char *key, const json_t *set, const char *prefix)
{
    if (json_is_string(j) && !is_word(key)) return renamed_text(json_string_value(j), set, prefix);
    if ((!json_is_array(j) && !json_is_object(j)) || is_word(key)) return json_deep_copy(j);
    json_t *out = json_is_array(j) ? json_array() : json_object();
    int bad = !out;
    for (size_t i = 0; !bad && json_is_array(j) && i < json_array_size(j); i++) {
        json_t *part = renamed(json_array_get(j, i), key, set, prefix);
        bad = !part || json_array_append_new(out, part);
    }
    if (!bad && json_is_object(j)) {
        const char *own;
        json_t *value;
        json_object_foreach((json_t *)j, own, value)
        {
            json_t *part = bad ? NULL : renamed(value, own, set, prefix);
            bad = bad || !part || json_object_set_new(out, own, part);
        }
    }
    if (!bad) return out;
    json_decref(out);
    return NULL;
}

static int add_keys(json_t *set, const json_t *object)
{
    const char *key;
    json_t *value;
    int bad = 0;
    json_object_foreach((json_t *)object, key, value) bad |= json_object_set_new(set, key, json_true());
    return bad;
}

/* An object with its keys renamed, and its texts by the set (NULL: they are the caller's and stay). */
static json_t *renamed_object(const json_t *object, const json_t *set, const char *prefix)
{
    json_t *out = json_object(), *value;
    const char *key;
    int bad = !out;
    json_object_foreach((json_t *)object, key, value)
    {
        char name[160];
        json_t *text = set ? renamed(value, "", set, prefix) : json_deep_copy(value);
        snprintf(name, sizeof name, "%s%.90s", prefix, key);
        bad = bad || !text || json_object_set_new(out, name, text);
    }
    if (!bad) return out;
    json_decref(out);
    return NULL;
}

static void prefix_of(const json_t *assembly, char *out, size_t size)
{
    snprintf(out, size, "%.60s_", json_string_value(json_object_get(assembly, "name")));
}

/* ---- Definitions --------------------------------------------------------------------------------------- */

static int check_assembly(mbs_structure *s, const json_t *a)
{
    const char *name = json_string_value(json_object_get(a, "name"));
    if (!json_is_object(a)) return wrong(s, "expected an object%s%s", "", "");
    if (unknown_key(s, (json_t *)a, "name|of|file|parameters|r|angle|q|on|doc|repeat", "")) return 1;
    if (!name || mbs_word_length(name) != strlen(name) || strlen(name) > 40)
        return wrong(s, "name: \"%s\" is no name (letters, digits and _, not a digit first)%s",
                     name ? name : "", "");
    if (!json_object_get(a, "of") == !json_object_get(a, "file"))
        return wrong(s, "needs \"of\" (a name of \"definitions\") or \"file\"%s%s", "", "");
    if (json_object_get(a, json_integer_value(json_object_get(s->root, "dimension")) == 2 ? "q" : "angle"))
        return wrong(s, "a planar assembly is turned by \"angle\", a spatial one by \"q\"%s%s", "", "");
    return 0;
}

json_t *mbs_structure_definition(mbs_structure *s, const json_t *assembly, json_t **parameters,
                                 json_t **values)
{
    char path[1024], prefix[80];
    s->wrong[0] = 0;
    *parameters = *values = NULL;
    if (check_assembly(s, assembly)) return NULL;
    prefix_of(assembly, prefix, sizeof prefix);
    const char *file = json_string_value(json_object_get(assembly, "file")),
               *of = json_string_value(json_object_get(assembly, "of")), *key;
    const json_t *defined = json_object_get(json_object_get(s->root, "definitions"), of ? of : "");
    json_t *part = file ? load(s, s->file, file, path, sizeof path) : json_deep_copy(defined),
           *given = json_object_get(assembly, "parameters"), *value;
    if (!defined && !file)
        unknown_name(s, json_object_get(s->root, "definitions"), "of: there is no definition", of ? of : "");
    else if (part && !json_is_object(part))
        wrong(s, "of: the definition \"%s\" is no object; a file is taken by \"file\" in place of \"of\"%s",
              of ? of : "", "");
    int bad = !json_is_object(part) || known_keys(s, part, file ? file : of) ||
              include(s, part, file ? path : s->file, 1);
    if (!bad && json_object_get(part, "assemblies"))
        bad = wrong(s, "%s has assemblies itself, which is not possible here%s", file ? file : of, "");
    json_t *own = json_object_get(part, "parameters"), *set = json_object();
    if (!bad && json_is_object(given)) {
        json_object_foreach(given, key, value)
        {
            if (bad || json_object_get(own, key)) continue;
            char what[100];
            dae_snprintf(what, sizeof what, "parameters: %.60s has no", file ? file : of);
            bad = unknown_name(s, own, what, key);
        }
    }
    bad = bad || !set || add_keys(set, own);
    if (!bad) *parameters = renamed_object(own, set, prefix);
    if (!bad) *values = renamed_object(given, NULL, prefix);
    json_decref(set);
    if (!bad && *parameters && *values) return part;
    json_decref(part);
    return NULL;
}

/* ---- Places -------------------------------------------------------------------------------------------- */

typedef struct placement {
    int planar;
    double r[3], q[4]; /* of the assembly in the axes that it is placed in */
    double R[3], Q[4]; /* of these in the world */
} placement;

static int look_up(const char *name, dae_symbol *out, void *user)
{
    const mbs_model *m = user;
    int k = mbs_find_parameter(m, name);
    *out = (dae_symbol){.variable = -1};
    if (k < 0) return 0;
    m->parameter[k].used = 1;
    out->value = m->parameter[k].value;
    out->dimension = m->parameter[k].dimension;
    return 1;
}

/* The unit of what a pose is made of. */
static const char *unit_of(const char *key)
{
    return !strcmp(key, "r") ? "m" : !strcmp(key, "v") ? "m/s" : "";
}

static int number(const mbs_structure *s, const json_t *j, const char *key, double *out)
{
    if (json_is_number(j)) {
        *out = json_number_value(j);
        return 0;
    }
    dae_expression_error err = {0};
    const char *text = json_string_value(j);
    char fault[300] = "";
    dae_expression *e = text ? dae_expression_create(text, look_up, (void *)(size_t)s->m, &err) : NULL;
    int bad = !e || dae_expression_constant(e, out) == 0;
    if (!bad) {
        dae_dimension d = dae_expression_dimension(e);
        mbs_unit_wrong(unit_of(key), &d, text, fault, sizeof fault);
    }
    if (e) dae_expression_destroy(e);
    if (fault[0]) return wrong(s, "%s: %s", key, fault);
    return bad ? wrong(s, "%s: expected numbers or expressions of parameters, %s", key,
                       text ? err.text : "found something else")
               : 0;
}

/* n numbers under a key; what is missing stays. */
static int numbers(const mbs_structure *s, const json_t *o, const char *key, int n, double *out)
{
    const json_t *list = json_object_get(o, key);
    if (!list) return 0;
    if (!json_is_array(list) || json_array_size(list) != (size_t)n)
        return wrong(s,
                     n == 2   ? "%s: expected 2 numbers%s"
                     : n == 3 ? "%s: expected 3 numbers%s"
                              : "%s: expected w, x, y, z%s",
                     key, "");
    for (int i = 0; i < n; i++) {
        if (number(s, json_array_get(list, (size_t)i), key, &out[i])) return 1;
    }
    return 0;
}

static void rotate(const double q[4], const double r[3], double out[3])
{
    double w = q[0], x = q[1], y = q[2], z = q[3];
    double c[3] = {y * r[2] - z * r[1] + w * r[0], z * r[0] - x * r[2] + w * r[1],
                   x * r[1] - y * r[0] + w * r[2]};
    out[0] = r[0] + 2 * (y * c[2] - z * c[1]);
    out[1] = r[1] + 2 * (z * c[0] - x * c[2]);
    out[2] = r[2] + 2 * (x * c[1] - y * c[0]);
}

static void product(const double a[4], const double b[4], double out[4])
{
    double c[4] = {a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
                   a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
                   a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
                   a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]};
    memcpy(out, c, sizeof c);
}

/* Position and orientation that an object of the file gives. */
static int pose(const mbs_structure *s, const json_t *o, int planar, double r[3], double q[4])
{
    double angle = 0, sum = 0;
    r[0] = r[1] = r[2] = 0;
    q[0] = 1, q[1] = q[2] = q[3] = 0;
    if (numbers(s, o, "r", planar ? 2 : 3, r)) return 1;
    if (planar && json_object_get(o, "angle") && number(s, json_object_get(o, "angle"), "angle", &angle))
        return 1;
    if (planar) q[0] = cos(angle / 2), q[3] = sin(angle / 2);
    else if (numbers(s, o, "q", 4, q)) return 1;
    for (int i = 0; i < 4; i++) sum += q[i] * q[i];
    if (!(sum > 0)) return wrong(s, "q: must not be zero%s%s", "", "");
    for (int i = 0; i < 4; i++) q[i] /= sqrt(sum);
    return 0;
}

static int put_numbers(json_t *o, const char *key, int n, const double *x)
{
    json_t *list = json_array();
    int bad = !list;
    for (int i = 0; i < n && !bad; i++) bad = json_array_append_new(list, json_real(x[i]));
    return bad || json_object_set_new(o, key, list);
}

/* Turns of the plane are added, so that full turns stay. */
static int put_turn(const mbs_structure *s, json_t *o, int planar, const double by[4])
{
    double r[3], q[4], angle = 0;
    if (planar) {
        if (json_object_get(o, "angle") && number(s, json_object_get(o, "angle"), "angle", &angle)) return 1;
        angle += 2 * atan2(by[3], by[0]);
        return angle != 0 || json_object_get(o, "angle") ? json_object_set_new(o, "angle", json_real(angle))
                                                         : 0;
    }
    if (pose(s, o, planar, r, q)) return 1;
    product(by, q, q);
    return put_numbers(o, "q", 4, q);
}

/* The object moves with the axes (r, q). */
static int move(const mbs_structure *s, json_t *o, int planar, const double r[3], const double q[4],
                int turns)
{
    double at[3], own[4];
    if (pose(s, o, planar, at, own)) return 1;
    rotate(q, at, at);
    for (int i = 0; i < 3; i++) at[i] += r[i];
    if (put_numbers(o, "r", planar ? 2 : 3, at)) return 1;
    return turns ? put_turn(s, o, planar, q) : 0;
}

static int turn_vector(const mbs_structure *s, json_t *o, const char *key, int planar, const double q[4])
{
    double v[3] = {0};
    if (!json_object_get(o, key)) return 0;
    if (numbers(s, o, key, planar ? 2 : 3, v)) return 1;
    rotate(q, v, v);
    return put_numbers(o, key, planar ? 2 : 3, v);
}

/* Components of a law along world axes: sums of the given ones. */
static int turn_law(json_t *o, int planar, const double q[4])
{
    json_t *list = json_object_get(o, "value"), *out = json_array();
    int n = planar ? 2 : 3, bad = !out;
    if (!json_is_array(list) || json_array_size(list) != (size_t)n) {
        json_decref(out);
        return bad; /* one number about the axis of the plane; other counts are told later */
    }
    for (int i = 0; i < n && !bad; i++) {
        char text[2048] = "";
        size_t used = 0;
        for (int k = 0; k < n && used < sizeof text - 1; k++) {
            double e[3] = {k == 0, k == 1, k == 2}, c[3];
            rotate(q, e, c);
            const json_t *x = json_array_get(list, (size_t)k);
            if (fabs(c[i]) < 1e-15) continue;
            if (json_is_string(x))
                dae_snprintf(text + used, sizeof text - used, "%s%.17g*(%s)", used ? " + " : "", c[i],
                             json_string_value(x));
            else
                dae_snprintf(text + used, sizeof text - used, "%s%.17g", used ? " + " : "",
                             c[i] * json_number_value(x));
            used = strlen(text);
        }
        bad = used >= sizeof text - 1 || json_array_append_new(out, json_string(used ? text : "0"));
    }
    bad = bad || json_object_set(o, "value", out);
    json_decref(out);
    return bad;
}

/* 1: a joint or a force of the definition has the point as its a, whose frame means something. */
static int is_first(const json_t *definition, const char *point)
{
    static const char *const lists[] = {"joints", "forces"};
    for (int k = 0; k < 2; k++) {
        const json_t *list = json_object_get(definition, lists[k]);
        for (size_t i = 0; i < json_array_size(list); i++) {
            const char *a = json_string_value(json_object_get(json_array_get(list, i), "a"));
            if (a && point && !strcmp(a, point)) return 1;
        }
    }
    return 0;
}

static int place_item(mbs_structure *s, const placement *p, const json_t *definition, const char *section,
                      json_t *o, const char *on)
{
    double r[3], q[4];
    const char *type = json_string_value(json_object_get(o, "type")),
               *frame = json_string_value(json_object_get(o, "frame"));
    product(p->Q, p->q, q);
    rotate(p->Q, p->r, r);
    for (int i = 0; i < 3; i++) r[i] += p->R[i];
    if (!strcmp(section, "bodies"))
        return move(s, o, p->planar, r, q, 1) || turn_vector(s, o, "v", p->planar, q);
    if (!strcmp(section, "shapes")) return move(s, o, p->planar, r, q, 1);
    if (!strcmp(section, "points")) {
        const char *body = json_string_value(json_object_get(o, "body"));
        int turns = json_object_get(o, p->planar ? "angle" : "q") ||
                    is_first(definition, json_string_value(json_object_get(o, "name")));
        if (!body || strcmp(body, "ground") != 0) return 0;
        if (on && json_object_set_new(o, "body", json_string(on))) return 1;
        return move(s, o, p->planar, p->r, p->q, turns);
    }
    if (strcmp(section, "forces") != 0 || !type) return 0;
    if (!strcmp(type, "spring")) return turn_vector(s, o, "axis", p->planar, q);
    if ((!strcmp(type, "force") || !strcmp(type, "torque")) && !json_object_get(o, "joint") &&
        !(frame && !strcmp(frame, "body")))
        return turn_law(o, p->planar, q);
    return 0;
}

/* Items of a section with their repetitions, placed and renamed by the parameters; not yet by the names of items. */
static json_t *placed(mbs_structure *s, const placement *p, const json_t *definition, const char *section,
                      const json_t *parameters, const char *prefix, const char *on)
{
    const json_t *list = json_object_get(definition, section);
    json_t *out = json_array();
    int bad = !out;
    for (size_t i = 0; !bad && i < json_array_size(list); i++) {
        json_t *item = renamed(json_array_get(list, i), "", parameters, prefix), *all = NULL;
        char fault[200];
        if (item && json_object_get(item, "repeat")) {
            all = mbs_repeat(s->m, item, s->most, fault, sizeof fault);
            if (!all) wrong(s, "%s: repeat: %s", section, fault);
        } else if (item) {
            all = json_array();
            if (all && json_array_append(all, item)) json_decref(all), all = NULL;
        }
        bad = !all;
        for (size_t k = 0; !bad && k < json_array_size(all); k++)
            bad = place_item(s, p, definition, section, json_array_get(all, k), on) ||
                  json_array_append(out, json_array_get(all, k));
        json_decref(all);
        json_decref(item);
        if (!bad && (int)json_array_size(out) > s->most) bad = wrong(s, "%s: too many items%s", section, "");
    }
    if (!bad) return out;
    json_decref(out);
    return NULL;
}

/* Where the body `on` stands at the start. */
static int carrier(mbs_structure *s, const char *on, placement *p)
{
    const json_t *bodies = json_object_get(s->root, "bodies");
    p->Q[0] = 1;
    if (!on || !strcmp(on, "ground")) return 0;
    for (size_t i = 0; i < json_array_size(bodies); i++) {
        const json_t *b = json_array_get(bodies, i);
        const char *name = json_string_value(json_object_get(b, "name"));
        if (name && !strcmp(name, on)) return pose(s, b, p->planar, p->R, p->Q);
    }
    return wrong(s, "on: there is no body \"%s\"%s", on, "");
}

int mbs_structure_place(mbs_structure *s, const json_t *assembly, const json_t *definition)
{
    char prefix[80];
    const char *on = json_string_value(json_object_get(assembly, "on"));
    placement p = {.planar = json_integer_value(json_object_get(s->root, "dimension")) == 2};
    json_t *parameters = json_object(), *names = json_object(), *part[nsection] = {0};
    s->wrong[0] = 0;
    prefix_of(assembly, prefix, sizeof prefix);
    int bad = !parameters || !names || pose(s, assembly, p.planar, p.r, p.q) || carrier(s, on, &p) ||
              add_keys(parameters, json_object_get(definition, "parameters")) ||
              add_keys(parameters, json_object_get(definition, "variables"));
    for (int k = 0; !bad && k < nsection; k++) {
        part[k] = placed(s, &p, definition, sections[k], parameters, prefix, on);
        bad = !part[k];
        for (size_t i = 0; !bad && i < json_array_size(part[k]); i++) {
            const char *name = json_string_value(json_object_get(json_array_get(part[k], i), "name"));
            if (name) bad = json_object_set_new(names, name, json_true());
        }
    }
    if (!bad && on) json_object_del(names, on); /* the caller's, whatever the definition has */
    for (int k = 0; !bad && k < nsection; k++) {
        json_t *all = json_object_get(s->root, sections[k]);
        if (!json_array_size(part[k])) continue;
        if (!all) bad = json_object_set_new(s->root, sections[k], all = json_array());
        for (size_t i = 0; !bad && i < json_array_size(part[k]); i++) {
            json_t *item = renamed(json_array_get(part[k], i), "", names, prefix);
            bad = !item || json_array_append_new(all, item);
        }
    }
    json_t *variables = json_object_get(definition, "variables");
    if (!bad && variables) {
        json_t *once = renamed_object(variables, parameters, prefix),
               *own = json_object_get(s->root, "variables"), *value;
        const char *key;
        if (!own) bad = json_object_set_new(s->root, "variables", own = json_object());
        bad = bad || !once;
        json_object_foreach(once, key, value)
        {
            json_t *law = bad ? NULL : renamed(value, "", names, prefix);
            bad = bad || !law || json_object_set_new(own, key, law);
        }
        json_decref(once);
    }
    for (int k = 0; k < nsection; k++) json_decref(part[k]);
    json_decref(parameters);
    json_decref(names);
    return bad;
}
