/* Shapes of bodies: what they weigh and what is drawn of them. Along their own axes, about their own center:
 *
 *     kind       size                      volume           inertia for mass m (x, y, z)
 *     box        a, b, c                   a b c            m/12 (b^2+c^2, c^2+a^2, a^2+b^2)
 *     sphere     r                         4/3 pi r^3       2/5 m r^2
 *     cylinder   r, l (along z)            pi r^2 l         m (r^2/4 + l^2/12) twice, m r^2/2
 *     capsule    r, l of its cylinder      both             cylinder, and two halves of a sphere at its ends
 *     rod        l (along x), r drawn      a length         0, m l^2/12 twice
 *     plate      a, b, thickness drawn     an area          m/12 (b^2, a^2, a^2+b^2)
 *     plane      edge drawn                nothing          the half space below local z (planar: y), for collisions
 *     mesh       triangles                 closed surface   sums over the tetrahedra with the origin
 *
 * A rod has a mass per length and a plate a mass per area in place of a density. */
#ifndef MBS_SHAPE_H
#define MBS_SHAPE_H

#include <daedalus/multibody.h>

#include "core/arena.h"

#include <stddef.h>

/* Mass, center and inertia about the center: xx, yy, zz, xy, xz, yz (products of inertia, as mbs_body has them). */
typedef struct mbs_mass {
    double mass, center[3], inertia[6];
} mbs_mass;

/* How many sizes a kind needs (*least) and may have; -1: there is no such kind. */
int mbs_shape_sizes(const char *kind, int *least);
/* Of the shape with density 1 (per volume, length or area). Negative volume: the triangles of a mesh look inwards. */
void mbs_shape_mass(const mbs_shape *shape, mbs_mass *out);
/* The same in the frame of the body that the shape stands in. */
void mbs_shape_place(const mbs_shape *shape, const mbs_mass *own, double mass, mbs_mass *out);
/* sum += part */
void mbs_mass_add(mbs_mass *sum, const mbs_mass *part);
/* Triangles of an STL (text or binary) or OBJ file into shape->vertex and ->triangle, scaled. */
dae_status mbs_mesh_read(const char *path, const double scale[3], dae_arena *arena, mbs_shape *shape,
                         dae_error *err);

#endif
