#include "multibody/solid.h"

#include "core/error.h"
#include "multibody/vector3.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#define FLAT 1e-9     /* part of the size of a mesh below which points lie in one plane; ours */
#define EDGE 0.02     /* width of the strip around faces, part of the smallest extent; ours */
#define PARALLEL 1e-3 /* sine of the angle below which edges do not cross; ours */
#define STEEP \
    0.7 /* cosine of the angle from the normal of a face up to which crossing edges belong to it; ours */
#define PREFER \
    1e-3 /* an edge pair must overlap less than a face by this part of the size: faces are steadier; ours */
enum { MOST_VERTICES = 200 };

int mbs_solid_kind(const char *kind, int planar)
{
    if (!strcmp(kind, "cylinder")) return planar;
    if (!strcmp(kind, "mesh")) return !planar;
    return !strcmp(kind, "sphere") || !strcmp(kind, "box") || !strcmp(kind, "capsule") ||
           !strcmp(kind, "plane");
}

/* ---- Hull of a mesh ------------------------------------------------------------------------------------------ */

typedef struct hull {
    const double *x;
    int (*face)[3];
    int nface;
    double flat;
} hull;

static void plane_of(const double *x, const int f[3], double n[3], double *offset)
{
    double u[3], v[3];
    for (int i = 0; i < 3; i++)
        u[i] = x[3 * f[1] + i] - x[3 * f[0] + i], v[i] = x[3 * f[2] + i] - x[3 * f[0] + i];
    mbs_cross(u, v, n);
    double size = mbs_norm(n);
    for (int i = 0; i < 3; i++) n[i] /= size > 0 ? size : 1;
    *offset = mbs_dot(n, x + 3 * f[0]);
}

static double above(const hull *h, int face, int point)
{
    double n[3], offset;
    plane_of(h->x, h->face[face], n, &offset);
    return mbs_dot(n, h->x + 3 * point) - offset;
}

/* Four points that span a volume, as the first four faces; 0: all points lie in a plane. */
static int first_faces(hull *h, int n)
{
    int p[4] = {0, -1, -1, -1};
    double best = h->flat, m[3], offset;
    for (int k = 1; k < n; k++) {
        double d[3] = {h->x[3 * k] - h->x[0], h->x[3 * k + 1] - h->x[1], h->x[3 * k + 2] - h->x[2]};
        if (mbs_norm(d) > best) best = mbs_norm(d), p[1] = k;
    }
    if (p[1] < 0) return 0;
    best = 0;
    for (int k = 0; k < n; k++) { /* the largest triangle */
        double u[3], v[3], c[3];
        for (int i = 0; i < 3; i++) u[i] = h->x[3 * p[1] + i] - h->x[i], v[i] = h->x[3 * k + i] - h->x[i];
        mbs_cross(u, v, c);
        if (mbs_norm(c) > fmax(best, h->flat * mbs_norm(u))) best = mbs_norm(c), p[2] = k;
    }
    if (p[2] < 0) return 0;
    plane_of(h->x, p, m, &offset);
    best = h->flat;
    for (int k = 0; k < n; k++) {
        double d = mbs_dot(m, h->x + 3 * k) - offset;
        if (fabs(d) > best) best = fabs(d), p[3] = k;
    }
    if (p[3] < 0) return 0;
    if (mbs_dot(m, h->x + 3 * p[3]) > offset) { /* the first face looks away from the fourth point */
        int swap = p[1];
        p[1] = p[2], p[2] = swap;
    }
    const int list[4][3] = {{p[0], p[1], p[2]}, {p[0], p[3], p[1]}, {p[1], p[3], p[2]}, {p[2], p[3], p[0]}};
    memcpy(h->face, list, sizeof list);
    h->nface = 4;
    return 1;
}

/* Takes a point in: faces that see it go, their border is joined with it. */
static void take_in(hull *h, int point)
{
    enum { most = 4 * MOST_VERTICES };
    int border[most][2], nborder = 0;
    for (int f = 0; f < h->nface;) {
        if (above(h, f, point) <= h->flat) {
            f++;
            continue;
        }
        for (int k = 0; k < 3; k++) { /* an edge that two such faces share is no border */
            int a = h->face[f][k], b = h->face[f][(k + 1) % 3], i = 0;
            while (i < nborder && (border[i][0] != b || border[i][1] != a)) i++;
            if (i < nborder) memcpy(border[i], border[--nborder], sizeof border[i]);
            else if (nborder < most) border[nborder][0] = a, border[nborder++][1] = b;
        }
        memcpy(h->face[f], h->face[--h->nface], sizeof h->face[f]);
    }
    for (int i = 0; i < nborder && h->nface < most; i++) {
        const int f[3] = {border[i][0], border[i][1], point};
        memcpy(h->face[h->nface++], f, sizeof f);
    }
}

/* ---- Making solids -------------------------------------------------------------------------------------------- */

static void place(const mbs_shape *s, const double *A, const double *x, double *out)
{
    mbs_rotate(A, x, out);
    for (int i = 0; i < 3; i++) out[i] += s->r[i];
}

static int same_direction(const double *a, const double *b)
{
    double c[3];
    mbs_cross(a, b, c);
    return mbs_norm(c) < 1e-6;
}

/* The directions of all edges, each once. */
static void set_directions(mbs_solid *s)
{
    s->ndirection = 0;
    for (int k = 0; k < s->nedge; k++) {
        double d[3], *to = s->direction + 3 * s->ndirection;
        int known = 0;
        for (int i = 0; i < 3; i++)
            d[i] = s->vertex[3 * s->end[2 * k + 1] + i] - s->vertex[3 * s->end[2 * k] + i];
        double size = mbs_norm(d);
        for (int i = 0; i < 3; i++) d[i] /= size;
        for (int j = 0; j < s->ndirection && !known; j++) known = same_direction(d, s->direction + 3 * j);
        if (known) continue;
        mbs_set(to, d);
        s->ndirection++;
    }
}

static void set_reach(mbs_solid *s)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, far = 0;
    for (int k = 0; k < s->nvertex; k++) {
        for (int i = 0; i < 3; i++) {
            low[i] = fmin(low[i], s->vertex[3 * k + i]);
            high[i] = fmax(high[i], s->vertex[3 * k + i]);
        }
    }
    for (int i = 0; i < 3; i++) s->center[i] = (low[i] + high[i]) / 2;
    for (int k = 0; k < s->nvertex; k++) {
        double d[3];
        for (int i = 0; i < 3; i++) d[i] = s->vertex[3 * k + i] - s->center[i];
        far = fmax(far, mbs_norm(d));
    }
    s->reach = s->half_space ? INFINITY : far + s->radius;
}

static int allocate(mbs_solid *s, dae_arena *arena)
{
    s->vertex = dae_arena_reals(arena, 3 * (size_t)s->nvertex + 1);
    s->normal = dae_arena_reals(arena, 3 * (size_t)s->nface + 1);
    s->offset = dae_arena_reals(arena, (size_t)s->nface + 1);
    s->end = dae_arena_ints(arena, 2 * (size_t)s->nedge + 1);
    s->side = dae_arena_ints(arena, 2 * (size_t)s->nedge + 1);
    s->direction = dae_arena_reals(arena, 3 * (size_t)s->nedge + 1);
    return dae_arena_failed(arena);
}

/* Corners k = x + 2 y + 4 z; faces -x, +x, -y, +y, -z, +z. In the plane the four with z = 0. */
static int make_box(const mbs_shape *shape, const double *A, int planar, dae_arena *arena, mbs_solid *s)
{
    int dimensions = planar ? 2 : 3;
    s->nvertex = planar ? 4 : 8;
    s->nface = 2 * dimensions;
    s->nedge = planar ? 0 : 12;
    if (allocate(s, arena)) return 1;
    for (int k = 0; k < s->nvertex; k++) {
        double x[3] = {0, 0, 0};
        for (int i = 0; i < dimensions; i++) x[i] = (k >> i & 1 ? 0.5 : -0.5) * shape->size[i];
        place(shape, A, x, s->vertex + 3 * k);
    }
    for (int f = 0; f < s->nface; f++) {
        double n[3] = {0, 0, 0};
        n[f / 2] = f % 2 ? 1 : -1;
        mbs_rotate(A, n, s->normal + 3 * f);
        s->offset[f] = mbs_dot(s->normal + 3 * f, shape->r) + shape->size[f / 2] / 2;
    }
    for (int e = 0; e < s->nedge; e++) {
        int axis = e / 4, u = (axis + 1) % 3, v = (axis + 2) % 3, from = (e & 1) << u | (e >> 1 & 1) << v;
        s->end[2 * e] = from, s->end[2 * e + 1] = from | 1 << axis;
        s->side[2 * e] = 2 * u + (e & 1), s->side[2 * e + 1] = 2 * v + (e >> 1 & 1);
    }
    s->edge = EDGE * fmin(fmin(shape->size[0], shape->size[1]), planar ? INFINITY : shape->size[2]);
    return 0;
}

/* Faces of the hull that lie in one plane become one; edges between different planes are kept. */
static void merge(const hull *h, mbs_solid *s, int *plane)
{
    s->nface = s->nedge = 0;
    for (int f = 0; f < h->nface; f++) {
        double n[3], offset;
        plane_of(h->x, h->face[f], n, &offset);
        plane[f] = -1;
        for (int g = 0; g < s->nface && plane[f] < 0; g++) {
            if (mbs_dot(n, s->normal + 3 * g) > 1 - 1e-9 && fabs(offset - s->offset[g]) <= h->flat)
                plane[f] = g;
        }
        if (plane[f] >= 0) continue;
        plane[f] = s->nface++;
        mbs_set(s->normal + 3 * plane[f], n);
        s->offset[plane[f]] = offset;
    }
    for (int f = 0; f < h->nface; f++) {
        for (int k = 0; k < 3; k++) {
            int a = h->face[f][k], b = h->face[f][(k + 1) % 3];
            for (int g = f + 1; g < h->nface; g++) {
                for (int i = 0; i < 3; i++) {
                    if (h->face[g][i] != b || h->face[g][(i + 1) % 3] != a || plane[f] == plane[g]) continue;
                    s->end[2 * s->nedge] = a, s->end[2 * s->nedge + 1] = b;
                    s->side[2 * s->nedge] = plane[f], s->side[2 * s->nedge + 1] = plane[g];
                    s->nedge++;
                }
            }
        }
    }
}

static dae_status make_hull(const mbs_shape *shape, const double *A, dae_arena *arena, mbs_solid *s,
                            dae_error *err)
{
    int n = shape->nvertex, count = 0, *number = calloc((size_t)n + 1, sizeof *number),
        (*face)[3] = calloc(4 * MOST_VERTICES, sizeof *face), plane[4 * MOST_VERTICES];
    double *x = calloc(3 * (size_t)n + 3, sizeof *x), size = 0;
    dae_status status = number && face && x ? DAE_OK : dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    for (int k = 0; k < n && !status; k++) size = fmax(size, mbs_norm(shape->vertex + 3 * k));
    for (int k = 0; k < n && !status; k++) { /* each point once */
        double p[3];
        int known = 0;
        place(shape, A, shape->vertex + 3 * k, p);
        for (int i = 0; i < count && !known; i++)
            known =
                fabs(p[0] - x[3 * i]) + fabs(p[1] - x[3 * i + 1]) + fabs(p[2] - x[3 * i + 2]) <= FLAT * size;
        if (!known && count < n) mbs_set(x + 3 * count++, p);
    }
    if (!status && count > MOST_VERTICES)
        status = dae_fail(err, DAE_ERR_INPUT, NAN,
                          "a mesh of %d points is too fine to collide (%d at most): give the body a coarser "
                          "one, or boxes and "
                          "capsules",
                          count, MOST_VERTICES);
    hull h = {x, face, 0, FLAT * size};
    if (!status && !first_faces(&h, count))
        status = dae_fail(err, DAE_ERR_INPUT, NAN, "a mesh that is flat cannot collide");
    for (int k = 0; k < count && !status; k++) take_in(&h, k);
    s->nvertex = count;
    s->nface = h.nface;
    s->nedge = 3 * h.nface / 2 + 1;
    if (!status && allocate(s, arena)) status = dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    if (!status) {
        s->nvertex = 0;
        for (int f = 0; f < h.nface; f++) { /* points inside the hull are left out */
            for (int k = 0; k < 3; k++) {
                int p = face[f][k];
                if (!number[p]) {
                    mbs_set(s->vertex + 3 * s->nvertex, x + 3 * p);
                    number[p] = ++s->nvertex;
                }
                face[f][k] = number[p] - 1;
            }
        }
        h.x = s->vertex;
        merge(&h, s, plane);
        set_directions(s);
        double low = INFINITY;
        for (int f = 0; f < s->nface; f++) {
            double depth = 0;
            for (int k = 0; k < s->nvertex; k++)
                depth = fmax(depth, s->offset[f] - mbs_dot(s->normal + 3 * f, s->vertex + 3 * k));
            low = fmin(low, depth);
        }
        s->edge = EDGE * low;
    }
    free(number);
    free(face);
    free(x);
    return status;
}

dae_status mbs_solid_create(const mbs_shape *shape, int planar, dae_arena *arena, mbs_solid *s,
                            dae_error *err)
{
    double A[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, axis[3] = {0, planar, !planar};
    const double *q = shape->q, *g = shape->size;
    if (q[0] * q[0] + mbs_dot(q + 1, q + 1) > 0) mbs_quaternion_matrix(q, A);
    *s = (mbs_solid){.body = shape->body};
    if (!strcmp(shape->kind, "mesh")) {
        dae_status status = make_hull(shape, A, arena, s, err);
        if (status) return status;
    } else if (!strcmp(shape->kind, "box")) {
        if (make_box(shape, A, planar, arena, s)) return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
        set_directions(s);
    } else {
        int segment = !strcmp(shape->kind, "capsule") && !planar;
        s->half_space = !strcmp(shape->kind, "plane");
        s->nvertex = segment ? 2 : 1;
        s->nface = s->half_space;
        s->nedge = segment;
        s->radius = s->half_space ? 0 : g[0];
        if (allocate(s, arena)) return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
        for (int k = 0; k < s->nvertex; k++) {
            double x[3] = {0, 0, segment ? (k ? 0.5 : -0.5) * g[1] : 0};
            place(shape, A, x, s->vertex + 3 * k);
        }
        if (segment) s->end[1] = 1, s->side[0] = s->side[1] = -1;
        if (s->half_space) {
            mbs_rotate(A, axis, s->normal);
            s->offset[0] = mbs_dot(s->normal, s->vertex);
        }
    }
    set_reach(s);
    return DAE_OK;
}

/* ---- Where they touch ------------------------------------------------------------------------------------------- */

/* A list that is filled. */
typedef struct list {
    mbs_touch *touch;
    int n;
    double least;
} list;

static void global(mbs_stand at, const double *x, double *out)
{
    mbs_rotate(at.A, x, out);
    for (int i = 0; i < 3; i++) out[i] += at.r[i];
}

static void local(mbs_stand at, const double *x, double *out)
{
    double d[3] = {x[0] - at.r[0], x[1] - at.r[1], x[2] - at.r[2]};
    mbs_rotate_back(at.A, d, out);
}

static void add(list *l, const mbs_touch *t)
{
    l->least = fmin(l->least, t->gap);
    if (l->touch && t->gap < 0 && t->weight > 0 && l->n < MBS_TOUCHES) l->touch[l->n++] = *t;
}

static mbs_touch pair(const mbs_solid *a, const mbs_solid *b, mbs_touch_kind kind)
{
    return (mbs_touch){.kind = kind,
                       .a = a->body,
                       .b = b->body,
                       .radius = a->radius + b->radius,
                       .of_a = a->radius,
                       .weight = 1};
}

/* Point x (body axes of a) against the half space b. */
static void point_on_plane(list *l, const mbs_solid *a, mbs_stand at_a, const double *x, const mbs_solid *b,
                           mbs_stand at_b)
{
    double p[3], q[3];
    mbs_touch t = pair(a, b, MBS_TOUCH_FACE);
    global(at_a, x, p);
    local(at_b, p, q);
    mbs_set(t.P, x);
    mbs_set(t.Q, b->vertex);
    mbs_set(t.e, b->normal);
    t.gap = mbs_dot(b->normal, q) - b->offset[0] - t.radius;
    add(l, &t);
}

/* The point of the segment from x to y that is nearest to q: its share, 0 .. 1. */
static double nearest_share(const double *x, const double *y, const double *q)
{
    double d[3], e[3];
    for (int i = 0; i < 3; i++) d[i] = y[i] - x[i], e[i] = q[i] - x[i];
    double size = mbs_dot(d, d);
    return size > 0 ? fmax(0, fmin(1, mbs_dot(d, e) / size)) : 0;
}

static double distance(const double *a, const double *b)
{
    double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return mbs_norm(d);
}

/* q (axes of b) against the edges and corners of b: the nearest one. inner_only: a corner does not count, it has been told from
 * the other side. */
static void point_on_edges(list *l, mbs_touch t, const mbs_solid *b, const double *q, int inner_only)
{
    double best = INFINITY, share = 0, x[3];
    int edge = -1;
    for (int k = 0; k < b->nedge; k++) {
        const double *u = b->vertex + 3 * b->end[2 * k], *v = b->vertex + 3 * b->end[2 * k + 1];
        double s = nearest_share(u, v, q);
        for (int i = 0; i < 3; i++) x[i] = u[i] + s * (v[i] - u[i]);
        if (distance(x, q) < best) best = distance(x, q), share = s, edge = k;
    }
    if (edge < 0) { /* a sphere, or a polygon of the plane: corners only */
        for (int k = 0; k < b->nvertex; k++) {
            if (distance(b->vertex + 3 * k, q) < best)
                best = distance(b->vertex + 3 * k, q), mbs_set(t.Q, b->vertex + 3 * k);
        }
        share = 0;
    } else {
        const double *u = b->vertex + 3 * b->end[2 * edge], *v = b->vertex + 3 * b->end[2 * edge + 1];
        mbs_set(t.Q, share < 1 ? u : v);
        for (int i = 0; i < 3; i++) t.e[i] = v[i] - u[i];
    }
    t.kind = share > 0 && share < 1 ? MBS_TOUCH_LINE : MBS_TOUCH_POINT;
    t.gap = best - t.radius;
    if (inner_only && t.kind == MBS_TOUCH_POINT) return;
    if (best > 0) add(l, &t);
}

/* Point x of a against sphere, segment or polyhedron b. */
static void point_on_solid(list *l, const mbs_solid *a, mbs_stand at_a, const double *x, const mbs_solid *b,
                           mbs_stand at_b, int inner_only)
{
    double p[3], q[3], far = -INFINITY;
    int face = -1;
    mbs_touch t = pair(a, b, MBS_TOUCH_FACE);
    mbs_set(t.P, x);
    global(at_a, x, p);
    local(at_b, p, q);
    for (int f = 0; f < b->nface; f++) {
        double d = mbs_dot(b->normal + 3 * f, q) - b->offset[f];
        if (d > far) far = d, face = f;
    }
    if (face >= 0) {
        int inside = 1;
        for (int f = 0; f < b->nface && inside && far > 0; f++) { /* its foot on the face */
            double d = mbs_dot(b->normal + 3 * f, q) - b->offset[f] -
                       far * mbs_dot(b->normal + 3 * f, b->normal + 3 * face);
            inside = f == face || d <= 0;
        }
        if (inside) {
            const double *n = b->normal + 3 * face;
            mbs_set(t.e, n);
            for (int i = 0; i < 3; i++) t.Q[i] = q[i] - far * n[i];
            t.gap = far - t.radius;
            add(l, &t);
            return;
        }
    }
    if (b->nface && b->nedge == 0) { /* the plane: a corner between two sides */
        point_on_edges(l, t, b, q, inner_only);
        return;
    }
    point_on_edges(l, t, b, q, inner_only);
}

/* Shares of two lines through p along d and through q along e at which they are nearest; 0: parallel. */
static int cross_lines(const double *p, const double *d, const double *q, const double *e, double n[3],
                       double *s, double *u)
{
    double w[3] = {q[0] - p[0], q[1] - p[1], q[2] - p[2]}, we[3], wd[3];
    mbs_cross(d, e, n);
    double size = mbs_norm(n);
    if (size < PARALLEL * mbs_norm(d) * mbs_norm(e)) return 0;
    mbs_cross(w, e, we);
    mbs_cross(w, d, wd);
    *s = mbs_dot(we, n) / (size * size);
    *u = mbs_dot(wd, n) / (size * size);
    for (int i = 0; i < 3; i++) n[i] /= size;
    return 1;
}

static void ends_of(const mbs_solid *a, mbs_stand at, int edge, double x[3], double d[3])
{
    double y[3];
    global(at, a->vertex + 3 * a->end[2 * edge], x);
    global(at, a->vertex + 3 * a->end[2 * edge + 1], y);
    for (int i = 0; i < 3; i++) d[i] = y[i] - x[i];
}

/* 1: direction n (global) lies between the normals of the faces that meet in an edge of a polyhedron, or near one of them: what lies
 * flat across a face is carried by both of its borders, however it leans; segments have no faces. */
static int in_cone(const mbs_solid *b, mbs_stand at, int edge, const double *n)
{
    if (b->side[2 * edge] < 0) return 1;
    double m[3], between[3], c[3];
    const double *n1 = b->normal + 3 * b->side[2 * edge], *n2 = b->normal + 3 * b->side[2 * edge + 1];
    mbs_rotate_back(at.A, n, m);
    if (fmax(mbs_dot(m, n1), mbs_dot(m, n2)) > STEEP) return 1;
    mbs_cross(n1, n2, between);
    mbs_cross(n1, m, c);
    if (mbs_dot(c, between) < 0) return 0;
    mbs_cross(m, n2, c);
    return mbs_dot(c, between) >= 0;
}

static void set_cross(mbs_touch *t, const mbs_solid *a, int i, const mbs_solid *b, int k, double toward)
{
    mbs_set(t->P, a->vertex + 3 * a->end[2 * i]);
    mbs_set(t->Q, b->vertex + 3 * b->end[2 * k]);
    for (int c = 0; c < 3; c++) {
        t->d[c] = a->vertex[3 * a->end[2 * i + 1] + c] - t->P[c];
        t->e[c] = b->vertex[3 * b->end[2 * k + 1] + c] - t->Q[c];
    }
    t->toward = toward;
}

/* Edges of a (a segment) that pass those of b at less than the radii, both between their ends. */
static void edges_on_edges(list *l, const mbs_solid *a, mbs_stand at_a, const mbs_solid *b, mbs_stand at_b)
{
    for (int i = 0; i < a->nedge; i++) {
        double p[3], d[3];
        ends_of(a, at_a, i, p, d);
        for (int k = 0; k < b->nedge; k++) {
            double q[3], e[3], n[3], s, u, w[3];
            ends_of(b, at_b, k, q, e);
            if (!cross_lines(p, d, q, e, n, &s, &u) || s <= 0 || s >= 1 || u <= 0 || u >= 1) continue;
            for (int c = 0; c < 3; c++) w[c] = p[c] - q[c];
            double gap = mbs_dot(n, w), toward = gap < 0 ? -1 : 1;
            for (int c = 0; c < 3; c++) n[c] *= toward;
            double m[3] = {-n[0], -n[1], -n[2]};
            if (!in_cone(b, at_b, k, n) || !in_cone(a, at_a, i, m)) continue;
            mbs_touch t = pair(a, b, MBS_TOUCH_CROSS);
            set_cross(&t, a, i, b, k, toward);
            t.gap = fabs(gap) - t.radius;
            add(l, &t);
        }
    }
}

/* ---- Polyhedra ---------------------------------------------------------------------------------------------------- */

/* The least and greatest n . x over the vertices, n global. */
static void span(const mbs_solid *a, mbs_stand at, const double *n, double *low, double *high)
{
    double m[3], base = mbs_dot(n, at.r);
    mbs_rotate_back(at.A, n, m);
    *low = INFINITY, *high = -INFINITY;
    for (int k = 0; k < a->nvertex; k++) {
        double x = base + mbs_dot(m, a->vertex + 3 * k);
        *low = fmin(*low, x), *high = fmax(*high, x);
    }
}

/* The face of b that the vertices of a are furthest out of: how far. */
static double face_distance(const mbs_solid *a, mbs_stand at_a, const mbs_solid *b, mbs_stand at_b, int *face)
{
    double best = -INFINITY, low, high, n[3];
    for (int f = 0; f < b->nface; f++) {
        mbs_rotate(at_b.A, b->normal + 3 * f, n);
        span(a, at_a, n, &low, &high);
        double d = low - b->offset[f] - mbs_dot(n, at_b.r);
        if (d > best) best = d, *face = f;
    }
    return best;
}

/* Along which product of edges they are furthest apart (n from b to a). */
static double edge_distance(const mbs_solid *a, mbs_stand at_a, const mbs_solid *b, mbs_stand at_b,
                            double n[3])
{
    double best = -INFINITY, from[3], to[3], between[3];
    global(at_b, b->center, from);
    global(at_a, a->center, to);
    for (int c = 0; c < 3; c++) between[c] = to[c] - from[c];
    for (int i = 0; i < a->ndirection; i++) {
        double d[3];
        mbs_rotate(at_a.A, a->direction + 3 * i, d);
        for (int k = 0; k < b->ndirection; k++) {
            double e[3], m[3], low[2], high[2];
            mbs_rotate(at_b.A, b->direction + 3 * k, e);
            mbs_cross(d, e, m);
            double size = mbs_norm(m);
            if (size < PARALLEL) continue;
            double sign = mbs_dot(m, between) < 0 ? -1 : 1;
            for (int c = 0; c < 3; c++) m[c] *= sign / size;
            span(a, at_a, m, &low[0], &high[0]);
            span(b, at_b, m, &low[1], &high[1]);
            if (low[0] - high[1] <= best) continue;
            best = low[0] - high[1];
            mbs_set(n, m);
        }
    }
    return best;
}

/* Vertices of a behind face f of b; beside it they fade out. */
static void vertices_on_face(list *l, const mbs_solid *a, mbs_stand at_a, const mbs_solid *b, mbs_stand at_b,
                             int f)
{
    for (int k = 0; k < a->nvertex; k++) {
        double p[3], q[3], beside = 0;
        mbs_touch t = pair(a, b, MBS_TOUCH_FACE);
        global(at_a, a->vertex + 3 * k, p);
        local(at_b, p, q);
        double d = mbs_dot(b->normal + 3 * f, q) - b->offset[f];
        if (d >= 0) continue;
        for (int g = 0; g < b->nface; g++) {
            if (g != f && mbs_dot(b->normal + 3 * g, b->normal + 3 * f) > -0.999)
                beside = fmax(beside, mbs_dot(b->normal + 3 * g, q) - b->offset[g]);
        }
        if (beside >= b->edge) continue;
        t.weight = 1 - beside / b->edge;
        t.gap = d;
        mbs_set(t.P, a->vertex + 3 * k);
        mbs_set(t.e, b->normal + 3 * f);
        for (int i = 0; i < 3; i++) t.Q[i] = q[i] - d * t.e[i];
        add(l, &t);
    }
}

/* Edges of a that cross the border of face f of b: where an edge reaches beyond the face, it is carried there. deepest: as far as a
 * reaches behind the face. */
static void edges_on_face(list *l, const mbs_solid *a, mbs_stand at_a, const mbs_solid *b, mbs_stand at_b,
                          int f, double deepest)
{
    double up[3];
    mbs_rotate(at_b.A, b->normal + 3 * f, up);
    for (int k = 0; k < b->nedge; k++) {
        double q[3], e[3];
        if (b->side[2 * k] != f && b->side[2 * k + 1] != f) continue;
        ends_of(b, at_b, k, q, e);
        for (int i = 0; i < a->nedge; i++) {
            double p[3], d[3], n[3], s, u;
            ends_of(a, at_a, i, p, d);
            if (!cross_lines(p, d, q, e, n, &s, &u) || s <= 0 || s >= 1 || u <= 0 || u >= 1) continue;
            double toward = mbs_dot(n, up) < 0 ? -1 : 1;
            if (toward * mbs_dot(n, up) < STEEP) continue;
            for (int c = 0; c < 3; c++) p[c] -= q[c];
            mbs_touch t = pair(a, b, MBS_TOUCH_CROSS);
            set_cross(&t, a, i, b, k, toward);
            t.gap = toward * mbs_dot(n, p);
            if (t.gap >= deepest) add(l, &t);
        }
    }
}

/* The pair of edges that is nearest along n: of each solid the one that lies furthest out. */
static void edges_along(list *l, const mbs_solid *a, mbs_stand at_a, const mbs_solid *b, mbs_stand at_b,
                        const double *n, double depth)
{
    int pick[2] = {-1, -1};
    for (int side = 0; side < 2; side++) {
        const mbs_solid *s = side ? b : a;
        mbs_stand at = side ? at_b : at_a;
        double best = INFINITY;
        for (int k = 0; k < s->nedge; k++) {
            double x[3], d[3];
            ends_of(s, at, k, x, d);
            double middle = mbs_dot(n, x) + mbs_dot(n, d) / 2;
            if (fabs(mbs_dot(n, d)) > 1e-6 * mbs_norm(d)) continue; /* not at a right angle to n */
            if ((side ? -middle : middle) < best) best = side ? -middle : middle, pick[side] = k;
        }
    }
    if (pick[0] < 0 || pick[1] < 0) return;
    double p[3], d[3], q[3], e[3], m[3], s, u;
    ends_of(a, at_a, pick[0], p, d);
    ends_of(b, at_b, pick[1], q, e);
    if (!cross_lines(p, d, q, e, m, &s, &u)) return;
    mbs_touch t = pair(a, b, MBS_TOUCH_CROSS);
    set_cross(&t, a, pick[0], b, pick[1], mbs_dot(m, n) < 0 ? -1 : 1);
    t.gap = depth;
    add(l, &t);
}

static void polyhedra(list *l, const mbs_solid *a, mbs_stand at_a, const mbs_solid *b, mbs_stand at_b)
{
    int face[2] = {0, 0};
    double n[3], on_b = face_distance(a, at_a, b, at_b, &face[1]),
                 on_a = face_distance(b, at_b, a, at_a, &face[0]);
    double faces = fmax(on_a, on_b),
           edges = faces > 0 && !l->touch ? -INFINITY : edge_distance(a, at_a, b, at_b, n);
    l->least = fmin(l->least, fmax(faces, edges));
    if (!l->touch || faces >= 0 || edges >= 0) return;
    double size = fmin(a->reach, b->reach);
    if (edges > faces + PREFER * size) {
        edges_along(l, a, at_a, b, at_b, n, edges);
        return;
    }
    vertices_on_face(l, a, at_a, b, at_b, face[1]);
    edges_on_face(l, a, at_a, b, at_b, face[1], on_b - PREFER * size);
    int before = l->n;
    vertices_on_face(l, b, at_b, a, at_a, face[0]);
    if (on_a > on_b)
        edges_on_face(l, b, at_b, a, at_a, face[0], on_a - PREFER * size); /* each crossing once */
    if (on_a < on_b - PREFER * size ||
        on_b < on_a - PREFER * size) { /* a corner on a face: only the nearer face counts */
        if (on_a > on_b) {
            memmove(l->touch, l->touch + before, (size_t)(l->n - before) * sizeof *l->touch);
            l->n -= before;
        } else {
            l->n = before;
        }
    }
    if (!l->n && edges > -INFINITY) edges_along(l, a, at_a, b, at_b, n, edges);
}

/* ---- All of it ------------------------------------------------------------------------------------------------------ */

int mbs_solid_touches(const mbs_solid *a, mbs_stand at_a, const mbs_solid *b, mbs_stand at_b,
                      mbs_touch *touch, double *least)
{
    list l = {touch, 0, INFINITY};
    if (a->half_space || b->half_space) {
        const mbs_solid *plane = b->half_space ? b : a, *other = b->half_space ? a : b;
        mbs_stand at = b->half_space ? at_b : at_a, at_other = b->half_space ? at_a : at_b;
        for (int k = 0; k < other->nvertex && !other->half_space; k++)
            point_on_plane(&l, other, at_other, other->vertex + 3 * k, plane, at);
    } else if (a->nface && b->nface) {
        polyhedra(&l, a, at_a, b, at_b);
    } else {
        const mbs_solid *solid = a->nface ? a : b,
                        *round = a->nface ? b : a; /* the polyhedron, if there is one */
        mbs_stand at = a->nface ? at_a : at_b, at_round = a->nface ? at_b : at_a;
        for (int k = 0; k < round->nvertex; k++)
            point_on_solid(&l, round, at_round, round->vertex + 3 * k, solid, at, 0);
        for (int k = 0; k < solid->nvertex && round->nedge; k++)
            point_on_solid(&l, solid, at, solid->vertex + 3 * k, round, at_round, 1);
        edges_on_edges(&l, round, at_round, solid, at);
    }
    *least = l.least;
    return l.n;
}
