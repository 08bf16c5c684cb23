/* Meshes from files: STL, as text ("solid ... facet ... vertex x y z") or binary (80 bytes, count, 50 bytes per triangle: normal, three
 * corners as 32 bit floats, two bytes; little endian), and OBJ (v x y z, f i j k ... with other indices behind /; faces with
 * more corners as fans). */
#include "multibody/shape.h"

#include "core/error.h"
#include "core/file.h"
#include "core/number.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TRIANGLES = 2000000 };

typedef struct mesh {
    double *vertex;
    int *triangle;
    int nvertex, ntriangle, vertex_room, triangle_room;
} mesh;

static int add_vertex(mesh *m, const double *x)
{
    if (m->nvertex == m->vertex_room) {
        int room = m->vertex_room ? 2 * m->vertex_room : 64;
        double *more = realloc(m->vertex, (size_t)room * 3 * sizeof *more);
        if (!more) return -1;
        m->vertex = more;
        m->vertex_room = room;
    }
    memcpy(m->vertex + 3 * m->nvertex, x, 3 * sizeof *x);
    return m->nvertex++;
}

static int add_triangle(mesh *m, int a, int b, int c)
{
    if (m->ntriangle >= MOST_TRIANGLES) return -1;
    if (m->ntriangle == m->triangle_room) {
        int room = m->triangle_room ? 2 * m->triangle_room : 64;
        int *more = realloc(m->triangle, (size_t)room * 3 * sizeof *more);
        if (!more) return -1;
        m->triangle = more;
        m->triangle_room = room;
    }
    int *t = m->triangle + 3 * m->ntriangle++;
    t[0] = a, t[1] = b, t[2] = c;
    return 0;
}

static int finite3(const double *x)
{
    return isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]);
}

/* Three numbers of a text; 1: they are there. The text ends with 0. */
static int three(const char *at, double *x)
{
    for (int i = 0; i < 3; i++) {
        char *end;
        x[i] = dae_strtod(at, &end);
        if (end == at) return 0;
        at = end;
    }
    return finite3(x);
}

static uint32_t little(const unsigned char *b)
{
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static const char *binary_stl(mesh *m, const unsigned char *data, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++) {
        int corner[3];
        for (int c = 0; c < 3; c++) {
            double x[3];
            for (int i = 0; i < 3; i++) {
                uint32_t bits = little(data + 84 + 50 * (size_t)k + 12 + 12 * (size_t)c + 4 * (size_t)i);
                float f;
                memcpy(&f, &bits, sizeof f);
                x[i] = f;
            }
            if (!finite3(x)) return "a corner is not finite";
            corner[c] = add_vertex(m, x);
        }
        if (corner[2] < 0 || add_triangle(m, corner[0], corner[1], corner[2])) return "out of memory";
    }
    return NULL;
}

static const char *text_stl(mesh *m, const char *text)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, "vertex")) != NULL; count++) {
        double x[3];
        at += 6;
        if (!three(at, x)) return "a vertex has no three numbers";
        if (add_vertex(m, x) < 0) return "out of memory";
        if (count % 3 == 2 && add_triangle(m, m->nvertex - 3, m->nvertex - 2, m->nvertex - 1))
            return "out of memory";
    }
    return count % 3 ? "a facet has no three corners" : NULL;
}

/* Numbers of vertices count from 1, negative ones from the end. */
static const char *obj_face(mesh *m, const char *at, const char *end)
{
    int corner[3], n = 0;
    while (at < end) {
        while (at < end && isspace((unsigned char)*at)) at++;
        if (at >= end) break;
        char *after;
        long k = strtol(at, &after, 10);
        if (after == at) return "a face has a corner that is no number";
        if (k < 0) k += m->nvertex + 1;
        if (k < 1 || k > m->nvertex) return "a face names a vertex that does not exist";
        if (n < 3) corner[n] = (int)k - 1;
        else corner[1] = corner[2], corner[2] = (int)k - 1;
        if (++n >= 3 && add_triangle(m, corner[0], corner[1], corner[2])) return "out of memory";
        at = after;
        while (at < end && !isspace((unsigned char)*at)) at++;
    }
    return n < 3 ? "a face has less than three corners" : NULL;
}

static const char *obj(mesh *m, const char *text)
{
    const char *wrong = NULL;
    for (const char *at = text; *at && !wrong;) {
        const char *end = at + strcspn(at, "\r\n");
        if (at[0] == 'v' && isspace((unsigned char)at[1])) {
            double x[3];
            if (!three(at + 1, x)) wrong = "a vertex has no three numbers";
            else if (add_vertex(m, x) < 0) wrong = "out of memory";
        } else if (at[0] == 'f' && isspace((unsigned char)at[1])) {
            wrong = obj_face(m, at + 1, end);
        }
        at = end + (*end != 0);
    }
    return wrong;
}

static int ends(const char *path, const char *ending)
{
    size_t n = strlen(path), k = strlen(ending);
    if (n < k) return 0;
    for (size_t i = 0; i < k; i++) {
        if (tolower((unsigned char)path[n - k + i]) != ending[i]) return 0;
    }
    return 1;
}

dae_status mbs_mesh_read(const char *path, const double scale[3], dae_arena *arena, mbs_shape *shape,
                         dae_error *err)
{
    size_t length;
    mesh m = {0};
    char *data = dae_read_file(path, &length, err);
    if (!data) return DAE_ERR_FILE;
    data[length] = 0; /* there is room behind it */
    const char *wrong;
    if (ends(path, ".obj")) wrong = obj(&m, data);
    else if (!ends(path, ".stl")) wrong = "meshes are read from .stl and .obj files";
    else if (length >= 84 && (length - 84) / 50 == little((unsigned char *)data + 80) &&
             (length - 84) % 50 == 0)
        wrong = binary_stl(&m, (unsigned char *)data, little((unsigned char *)data + 80));
    else wrong = text_stl(&m, data);
    if (!wrong && m.ntriangle == 0) wrong = "no triangle in it";
    if (!wrong) {
        for (int i = 0; i < 3 * m.nvertex; i++) m.vertex[i] *= scale[i % 3];
        shape->vertex = dae_arena_copy(arena, m.vertex, (size_t)m.nvertex * 3, sizeof *m.vertex);
        shape->triangle = dae_arena_copy(arena, m.triangle, (size_t)m.ntriangle * 3, sizeof *m.triangle);
        shape->nvertex = m.nvertex;
        shape->ntriangle = m.ntriangle;
        if (!shape->vertex || !shape->triangle) wrong = "out of memory";
    }
    free(m.vertex);
    free(m.triangle);
    free(data);
    return wrong ? dae_fail(err, DAE_ERR_INPUT, NAN, "%s: %s", path, wrong) : DAE_OK;
}
