/* Shapes: mass and inertia against integrals and sums made by hand, meshes against boxes, models with shapes against models with numbers. */
#include "mechanics.h"

#include "multibody/mechanism.h"
#include "multibody/shape.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PI 3.14159265358979323846

/* Of the solid of revolution rho(z) about z, by Gauss-Legendre with 3 points in 4000 parts. */
static void revolve(double (*radius)(double), double low, double high, double out[3])
{
    const double x[3] = {-0.77459666924148338, 0, 0.77459666924148338}, w[3] = {5.0 / 9, 8.0 / 9, 5.0 / 9};
    const int parts = 4000;
    out[0] = out[1] = out[2] = 0;
    for (int k = 0; k < parts; k++) {
        double h = (high - low) / parts, middle = low + (k + 0.5) * h;
        for (int i = 0; i < 3; i++) {
            double z = middle + h / 2 * x[i], r = radius(z), dm = h / 2 * w[i] * PI * r * r;
            out[0] += dm;
            out[1] += dm * (r * r / 4 + z * z);
            out[2] += dm * r * r / 2;
        }
    }
}

static double of_capsule(double z) /* radius 0.3, length 0.8 */
{
    double beyond = fabs(z) - 0.4;
    return beyond < 0 ? 0.3 : sqrt(fmax(0.09 - beyond * beyond, 0));
}

static double of_sphere(double z)
{
    return sqrt(fmax(0.25 - z * z, 0));
}

static void round_shapes_have_the_integrals(void **state)
{
    (void)state;
    double found[3];
    mbs_mass m;
    revolve(of_capsule, -0.7, 0.7, found);
    mbs_shape_mass(&(mbs_shape){.kind = "capsule", .size = {0.3, 0.8}}, &m);
    assert_near(m.mass, found[0], 1e-6);
    assert_near(m.inertia[0], found[1], 1e-6);
    assert_near(m.inertia[2], found[2], 1e-6);
    revolve(of_sphere, -0.5, 0.5, found);
    mbs_shape_mass(&(mbs_shape){.kind = "sphere", .size = {0.5}}, &m);
    assert_near(m.mass, found[0], 1e-6);
    assert_near(m.inertia[1], found[1], 1e-6);
    assert_near(m.inertia[2], found[2], 1e-6);
}

/* Twelve triangles of a box 1 x 2 x 3 whose corner is at (1, 1, 1): mass 6, center (1.5, 2, 2.5), moments of a box. */
static const char box_obj[] =
    "# a box\nv 1 1 1\nv 2 1 1\nv 2 3 1\nv 1 3 1\nv 1 1 4\nv 2 1 4\nv 2 3 4\nv 1 3 4\n"
    "f 4 3 2 1\nf 5/1 6/2 7/3 8/4\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf -8 -4 -1 -5\n";

static void write_file(const char *path, const char *text, size_t length)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, length, f), length);
    fclose(f);
}

static void meshes_weigh_what_their_solid_does(void **state)
{
    (void)state;
    char folder[] = "/tmp/daedalus_shape_XXXXXX", path[64];
    const double one[3] = {1, 1, 1};
    dae_error err = {0};
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/box.obj", folder);
    write_file(path, box_obj, sizeof box_obj - 1);
    dae_arena *arena = dae_arena_create();
    mbs_shape s = {.kind = "mesh"};
    if (mbs_mesh_read(path, one, arena, &s, &err) < 0) fail_msg("%s", err.text);
    assert_int_equal(s.ntriangle, 12);
    mbs_mass m, box;
    mbs_shape_mass(&s, &m);
    mbs_shape_mass(&(mbs_shape){.kind = "box", .size = {1, 2, 3}}, &box);
    assert_near(m.mass, 6, 1e-14);
    const double center[3] = {1.5, 2, 2.5};
    for (int i = 0; i < 3; i++) assert_near(m.center[i], center[i], 1e-14);
    for (int i = 0; i < 6; i++) assert_near(m.inertia[i], box.inertia[i], 1e-13);
    /* The same triangles as STL: text and binary. */
    char text[6000] = "solid box\n";
    unsigned char binary[84 + 50 * 12] = {0};
    binary[80] = 12;
    for (int k = 0; k < 12; k++) {
        strcat(text, "facet normal 0 0 0\nouter loop\n");
        for (int c = 0; c < 3; c++) {
            const double *v = s.vertex + 3 * s.triangle[3 * k + c];
            snprintf(text + strlen(text), 80, "vertex %g %g %g\n", v[0], v[1], v[2]);
            for (int i = 0; i < 3; i++) {
                float f = (float)v[i];
                memcpy(binary + 84 + 50 * k + 12 + 12 * c + 4 * i, &f, 4);
            }
        }
        strcat(text, "endloop\nendfacet\n");
    }
    for (int kind = 0; kind < 2; kind++) {
        mbs_shape t = {.kind = "mesh"};
        mbs_mass n;
        snprintf(path, sizeof path, "%s/box%d.stl", folder, kind);
        write_file(path, kind ? (char *)binary : text, kind ? sizeof binary : strlen(text));
        if (mbs_mesh_read(path, one, arena, &t, &err) < 0) fail_msg("%s", err.text);
        mbs_shape_mass(&t, &n);
        assert_near(n.mass, 6, 1e-12);
        for (int i = 0; i < 6; i++) assert_near(n.inertia[i], box.inertia[i], 1e-12);
    }
    snprintf(path, sizeof path, "rm -r %s", folder);
    assert_int_equal(system(path), 0);
    dae_arena_destroy(arena);
}

static double first_acceleration(const char *json, int which)
{
    dae_error err = {0};
    dae_problem *p = dae_problem_open(json, NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    const mbs_mechanism *m = mbs_problem_mechanism(p);
    double *a = calloc((size_t)m->nv, sizeof *a);
    assert_int_equal(mbs_mechanism_acceleration(m, 0, p->y0, a, NULL, &err), DAE_OK);
    double found = a[which];
    free(a);
    dae_problem_destroy(p);
    return found;
}

#define PENDULUM(body, hang)                                                                                \
    "{ \"daedalus\": 1, \"kind\": \"mechanism\", \"name\": \"p\", \"dimension\": 3, \"gravity\": [0, 0, "   \
    "-9.81],\n"                                                                                             \
    "\"bodies\": [ { \"name\": \"b\", " body                                                                \
    " } ], \"points\": [ { \"name\": \"O\", \"body\": \"ground\", \"r\": "                                  \
    "[0, 0, 0] }, { \"name\": \"B\", \"body\": \"b\", \"r\": " hang                                         \
    " } ], \"joints\": [ { \"name\": \"J\", \"type\": \"revolute\", \"a\": \"O\", \"b\": \"B\", \"axis\": " \
    "[0, 1, 0] } ] }"

/* A hammer: a handle of 1 kg/m and 0.8 m along x, its head a box of 2 kg at the end, hung at the other end. About the hinge
 *     I = 0.8/3 0.8^2 + 2 (0.1^2 + 0.2^2)/12 + 2 0.8^2,   torque 9.81 (0.8 0.4 + 2 0.8). */
static void a_hammer_is_the_sum_of_its_parts(void **state)
{
    (void)state;
    double I = 0.8 * 0.64 / 3 + 2 * (0.01 + 0.04) / 12 + 2 * 0.64, torque = 9.81 * (0.8 * 0.4 + 2 * 0.8);
    double found = first_acceleration(
        PENDULUM(
            "\"shapes\": [ { \"kind\": \"rod\", \"size\": [0.8], \"density\": 1, \"r\": [0.4, 0, 0] }, { "
            "\"kind\": \"box\", \"size\": [0.1, 0.3, 0.2], \"mass\": 2, \"r\": [0.8, 0, 0] } ]",
            "[0, 0, 0]"),
        4);
    assert_near(found, torque / I, 1e-12);
    /* With a total mass of 5.6 kg all of it weighs twice as much, and turns alike. */
    double twice = first_acceleration(
        PENDULUM("\"mass\": 5.6, \"shapes\": [ { \"kind\": \"rod\", \"size\": [0.8], \"density\": 1, \"r\": "
                 "[0.4, 0, 0] "
                 "}, { \"kind\": \"box\", \"size\": [0.1, 0.3, 0.2], \"mass\": 2, \"r\": [0.8, 0, 0] } ]",
                 "[0, 0, 0]"),
        4);
    assert_near(twice, torque / I, 1e-12);
}

static void mistakes_in_shapes_are_named(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {PENDULUM("\"mass\": 1", "[0, 0, 0]"), "inertia: missing"},
        {PENDULUM("\"shapes\": [ { \"kind\": \"bax\", \"size\": [1] } ]", "[0, 0, 0]"),
         "did you mean \"box\""},
        {PENDULUM("\"shapes\": [ { \"kind\": \"box\", \"size\": [1, 1] } ]", "[0, 0, 0]"),
         "expected 3 numbers"},
        {PENDULUM("\"shapes\": [ { \"kind\": \"sphere\", \"size\": [1] } ]", "[0, 0, 0]"),
         "density: missing"},
        {PENDULUM("\"shapes\": [ { \"kind\": \"sphere\", \"size\": [1], \"density\": \"7800[kg/m]\" } ]",
                  "[0, 0, 0]"),
         "has the unit"},
        {PENDULUM("\"shapes\": [ { \"kind\": \"mesh\", \"file\": \"no.stl\", \"density\": 1 } ]",
                  "[0, 0, 0]"),
         "no.stl"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        dae_error err = {0};
        assert_null(dae_problem_open(wrong[i][0], NULL, 0, &err));
        if (!strstr(err.text, wrong[i][1])) fail_msg("\"%s\" does not say \"%s\"", err.text, wrong[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_shapes_have_the_integrals),
        cmocka_unit_test(meshes_weigh_what_their_solid_does),
        cmocka_unit_test(a_hammer_is_the_sum_of_its_parts),
        cmocka_unit_test(mistakes_in_shapes_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
