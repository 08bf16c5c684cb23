/* What is shown of a mechanism: the scene, read back, against the places and sizes of the model. */
#include "mechanics.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct memory {
    char *text;
    size_t length, room;
} memory;

static int remember(const char *text, size_t length, void *user)
{
    memory *m = user;
    if (m->length + length > m->room) m->room = 2 * (m->room + length);
    m->text = realloc(m->text, m->room);
    assert_non_null(m->text);
    memcpy(m->text + m->length, text, length);
    m->length += length;
    return 0;
}

/* n points of a problem: the initial values, component c going on by `further` from point to point. */
static json_t *scene_of(const char *model, int n, int c, double further)
{
    dae_error err = {0};
    dae_problem *p = dae_problem_open(model, NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    size_t size = (size_t)dae_system_size(&p->system);
    double *t = calloc((size_t)n, sizeof *t), *y = calloc((size_t)n * size, sizeof *y);
    for (int k = 0; k < n; k++) {
        t[k] = 0.5 * k;
        memcpy(y + size * (size_t)k, p->y0, size * sizeof *y);
        y[size * (size_t)k + (size_t)c] += further * k;
    }
    memory m = {0};
    assert_int_equal(mbs_write_scene(p, n, t, y, remember, &m), DAE_OK);
    json_t *o = json_loadb(m.text, m.length, 0, NULL);
    assert_non_null(o);
    free(m.text);
    free(t);
    free(y);
    dae_problem_destroy(p);
    return o;
}

static double number(const json_t *list, size_t i)
{
    const json_t *x = json_array_get(list, i);
    assert_true(json_is_number(x));
    return json_number_value(x);
}

/* The numbers are written with 7 digits and more; those here are below 3. */
static void assert_list(const json_t *o, const char *name, int n, const double *expected)
{
    const json_t *list = json_object_get(o, name);
    assert_int_equal(json_array_size(list), n);
    for (int i = 0; i < n; i++) assert_near(number(list, (size_t)i), expected[i], 2e-7);
}

/* Twelve triangles of a box 1 x 2 x 3, again and again: more than are sent. */
static void write_mesh(const char *path, int times)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("v 1 1 1\nv 2 1 1\nv 2 3 1\nv 1 3 1\nv 1 1 4\nv 2 1 4\nv 2 3 4\nv 1 3 4\n", f);
    for (int k = 0; k < times; k++)
        fputs("f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n", f);
    fclose(f);
}

/* Rods are cylinders along x: a quarter turn about y takes z there. What was not turned stands upright. Plates get a thickness of a
 * fiftieth of their shorter side, planes lie below their surface, and a mesh is its triangles or the box around it. */
static void shapes_are_drawn_where_they_are(void **state)
{
    (void)state;
    char folder[] = "/tmp/daedalus_scene_XXXXXX", path[80], model[2000];
    assert_non_null(mkdtemp(folder));
    for (int k = 0; k < 2; k++) {
        snprintf(path, sizeof path, "%s/%s.obj", folder, k ? "large" : "small");
        write_mesh(path, k ? 1700 : 1);
    }
    snprintf(
        model, sizeof model,
        "{ \"daedalus\": 1, \"kind\": \"mechanism\", \"name\": \"s\", \"dimension\": 3, \"gravity\": [0, 0, "
        "0],"
        " \"shapes\": [ { \"kind\": \"plane\", \"size\": [2], \"r\": [0, 0, 1] } ],"
        " \"bodies\": [ { \"name\": \"b\", \"mass\": 1, \"inertia\": [1, 1, 1], \"shapes\": ["
        " { \"kind\": \"rod\", \"size\": [0.8], \"r\": [0.4, 0.5, 0.6] },"
        " { \"kind\": \"rod\", \"size\": [0.8, 0.1], \"q\": [0.7071067811865476, 0, 0, 0.7071067811865476] },"
        " { \"kind\": \"plate\", \"size\": [0.5, 0.3] }, { \"kind\": \"plate\", \"size\": [0.5, 0.3, 0.2] },"
        " { \"kind\": \"box\", \"size\": [0.1, 0.2, 0.3] },"
        " { \"kind\": \"mesh\", \"file\": \"%s/small.obj\" }, { \"kind\": \"mesh\", \"file\": "
        "\"%s/large.obj\" } ] } ] }",
        folder, folder);
    json_t *o = scene_of(model, 1, 0, 0), *shapes = json_object_get(o, "shapes");
    const double h = sqrt(0.5);
    const struct {
        const char *kind;
        int n;
        double size[3], r[3], q[4];
    } expected[] = {{"box", 3, {2, 2, 0.04}, {0, 0, 0.98}, {1}},
                    {"cylinder", 2, {0.02, 0.8}, {0.4, 0.5, 0.6}, {h, 0, h, 0}},
                    {"cylinder", 2, {0.1, 0.8}, {0}, {0.5, -0.5, 0.5, 0.5}},
                    {"box", 3, {0.5, 0.3, 0.006}, {0}, {1}},
                    {"box", 3, {0.5, 0.3, 0.2}, {0}, {1}},
                    {"box", 3, {0.1, 0.2, 0.3}, {0}, {1}},
                    {"mesh", 3, {0}, {0}, {1}},
                    {"box", 3, {1, 2, 3}, {0}, {1}}};
    assert_int_equal(json_array_size(shapes), sizeof expected / sizeof *expected);
    for (size_t i = 0; i < json_array_size(shapes); i++) {
        const json_t *s = json_array_get(shapes, i);
        assert_string_equal(json_string_value(json_object_get(s, "kind")), expected[i].kind);
        assert_int_equal(json_integer_value(json_object_get(s, "body")), i > 0);
        assert_list(s, "size", expected[i].n, expected[i].size);
        assert_list(s, "r", 3, expected[i].r);
        assert_list(s, "q", 4, expected[i].q);
    }
    const json_t *mesh = json_array_get(shapes, 6);
    assert_list(mesh, "vertices", 24,
                (double[]){1, 1, 1, 2, 1, 1, 2, 3, 1, 1, 3, 1, 1, 1, 4, 2, 1, 4, 2, 3, 4, 1, 3, 4});
    assert_int_equal(json_array_size(json_object_get(mesh, "triangles")), 36);
    assert_near(json_number_value(json_object_get(mesh, "reach")), 2 * sqrt(4 + 9 + 16), 1e-4); /* 6 digits */
    json_decref(o);
    snprintf(path, sizeof path, "rm -r %s", folder);
    assert_int_equal(system(path), 0);
}

/* The truck goes on: its front wheel (body 3, radius 0.5, at x = 0) by 3 m in two steps; the rear one stands at -4.5. The road between
 * them, a twentieth and two radii more on both sides, has the waves of the model. */
static void roads_lie_below_the_wheels(void **state)
{
    (void)state;
    json_t *o = scene_of("models/truck.json", 3, 6, 1.5), *ground = json_object_get(o, "ground");
    assert_true(json_array_size(ground) >= 1);
    const json_t *line = json_object_get(json_array_get(ground, 0), "line");
    size_t n = json_array_size(line);
    assert_int_equal(n, 200);
    double radius = number(json_array_get(json_object_get(o, "wheels"), 0), 1);
    double low = -4.5, high = 3, room = 0.05 * (high - low) + 2 * radius;
    low -= room, high += room;
    for (size_t k = 0; k < n; k++) {
        const json_t *at = json_array_get(line, k);
        double x = low + (high - low) * (double)k / (double)(n - 1);
        assert_near(number(at, 0), x, 1e-6);
        assert_near(number(at, 1), x > 0 ? 0.025 * (1 - cos(2 * 3.14159265358979324 * x / 10)) : 0, 1e-7);
    }
    assert_list(o, "t_signal", 3, (double[]){0, 0.5, 1});
    assert_list(o, "t", 3, (double[]){0, 0.5, 1});
    const json_t *frames = json_object_get(o, "frames");
    for (size_t k = 0; k < 3; k++) assert_near(number(json_array_get(frames, k), 6), 1.5 * (double)k, 1e-6);
    json_decref(o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_are_drawn_where_they_are),
        cmocka_unit_test(roads_lie_below_the_wheels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
