#include "multibody/shape.h"

#include "multibody/vector3.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

static const struct {
    const char *name;
    int least, most;
} kinds[] = {{"box", 3, 3}, {"sphere", 1, 1}, {"cylinder", 2, 2}, {"capsule", 2, 2},
             {"rod", 1, 2}, {"plate", 2, 3},  {"plane", 1, 1},    {"mesh", 0, 0}};

int mbs_shape_sizes(const char *kind, int *least)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i].name, kind) != 0) continue;
        *least = kinds[i].least;
        return kinds[i].most;
    }
    return -1;
}

/* Sums over the tetrahedra (0, a, b, c): volume v = a . (b x c)/6, center (a+b+c)/4, and with s = a + b + c
 *     integral x_i x_j = v/20 (a_i a_j + b_i b_j + c_i c_j + s_i s_j).
 * The moments about the center follow from those about the origin. */
static void mesh_mass(const mbs_shape *m, mbs_mass *out)
{
    double volume = 0, first[3] = {0}, second[3][3] = {{0}};
    for (int k = 0; k < m->ntriangle; k++) {
        const double *a = m->vertex + 3 * m->triangle[3 * k], *b = m->vertex + 3 * m->triangle[3 * k + 1],
                     *c = m->vertex + 3 * m->triangle[3 * k + 2];
        double n[3], s[3];
        mbs_cross(b, c, n);
        double v = mbs_dot(a, n) / 6;
        for (int i = 0; i < 3; i++) s[i] = a[i] + b[i] + c[i];
        volume += v;
        for (int i = 0; i < 3; i++) {
            first[i] += v * s[i] / 4;
            for (int j = 0; j < 3; j++)
                second[i][j] += v / 20 * (a[i] * a[j] + b[i] * b[j] + c[i] * c[j] + s[i] * s[j]);
        }
    }
    out->mass = volume;
    for (int i = 0; i < 3; i++) out->center[i] = volume != 0 ? first[i] / volume : 0;
    const double *c = out->center;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) second[i][j] -= volume * c[i] * c[j];
    }
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        out->inertia[i] = second[j][j] + second[k][k];
    }
    out->inertia[3] = second[0][1];
    out->inertia[4] = second[0][2];
    out->inertia[5] = second[1][2];
}

void mbs_shape_mass(const mbs_shape *shape, mbs_mass *out)
{
    const double *s = shape->size, a = s[0], b = s[1], c = s[2];
    double *I = out->inertia;
    *out = (mbs_mass){0};
    if (!strcmp(shape->kind, "box")) {
        double m = out->mass = a * b * c;
        I[0] = m / 12 * (b * b + c * c), I[1] = m / 12 * (c * c + a * a), I[2] = m / 12 * (a * a + b * b);
    } else if (!strcmp(shape->kind, "sphere")) {
        double m = out->mass = 4.0 / 3 * PI * a * a * a;
        I[0] = I[1] = I[2] = 0.4 * m * a * a;
    } else if (!strcmp(shape->kind, "cylinder")) {
        double m = out->mass = PI * a * a * b;
        I[0] = I[1] = m * (a * a / 4 + b * b / 12), I[2] = m * a * a / 2;
    } else if (!strcmp(shape->kind, "capsule")) {
        /* a half of a sphere: its center is 3/8 r from the flat side */
        double m = PI * a * a * b, ends = 4.0 / 3 * PI * a * a * a;
        out->mass = m + ends;
        I[0] = I[1] = m * (a * a / 4 + b * b / 12) + ends * (0.4 * a * a + b * b / 4 + 0.375 * a * b);
        I[2] = m * a * a / 2 + ends * 0.4 * a * a;
    } else if (!strcmp(shape->kind, "rod")) {
        out->mass = a;
        I[1] = I[2] = a * a * a / 12;
    } else if (!strcmp(shape->kind, "plate")) {
        double m = out->mass = a * b;
        I[0] = m / 12 * b * b, I[1] = m / 12 * a * a, I[2] = m / 12 * (a * a + b * b);
    } else {
        mesh_mass(shape, out);
    }
}

/* The tensor of products of inertia: minus them beside the diagonal. */
static void tensor(const double I[6], double J[9])
{
    const double full[9] = {I[0], -I[3], -I[4], -I[3], I[1], -I[5], -I[4], -I[5], I[2]};
    memcpy(J, full, sizeof full);
}

static void moments(const double J[9], double I[6])
{
    const double six[6] = {J[0], J[4], J[8], -J[1], -J[2], -J[5]};
    memcpy(I, six, sizeof six);
}

void mbs_shape_place(const mbs_shape *shape, const mbs_mass *own, double mass, mbs_mass *out)
{
    double R[9], J[9], RJ[9], K[9], back[9], c[3], factor = own->mass != 0 ? mass / own->mass : 0;
    const double unit[4] = {1, 0, 0, 0}, *q = shape->q;
    mbs_quaternion_matrix(q[0] * q[0] + mbs_dot(q + 1, q + 1) > 0 ? q : unit, R);
    tensor(own->inertia, J);
    for (int i = 0; i < 9; i++) back[i] = R[3 * (i % 3) + i / 3], J[i] *= factor;
    mbs_multiply(R, J, RJ);
    mbs_multiply(RJ, back, K);
    mbs_rotate(R, own->center, c);
    out->mass = mass;
    for (int i = 0; i < 3; i++) out->center[i] = shape->r[i] + c[i];
    moments(K, out->inertia);
}

/* Steiner: each about the common center. */
static void shift(double I[6], double m, const double d[3])
{
    for (int i = 0; i < 3; i++) I[i] += m * (mbs_dot(d, d) - d[i] * d[i]);
    I[3] += m * d[0] * d[1];
    I[4] += m * d[0] * d[2];
    I[5] += m * d[1] * d[2];
}

void mbs_mass_add(mbs_mass *sum, const mbs_mass *part)
{
    double m = sum->mass + part->mass, center[3], a[3], b[3], I[6];
    if (m == 0) return;
    for (int i = 0; i < 3; i++) {
        center[i] = (sum->mass * sum->center[i] + part->mass * part->center[i]) / m;
        a[i] = sum->center[i] - center[i];
        b[i] = part->center[i] - center[i];
    }
    for (int i = 0; i < 6; i++) I[i] = sum->inertia[i] + part->inertia[i];
    shift(I, sum->mass, a);
    shift(I, part->mass, b);
    sum->mass = m;
    memcpy(sum->center, center, sizeof center);
    memcpy(sum->inertia, I, sizeof I);
}
