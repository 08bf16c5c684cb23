/* Solids that touch each other: the shapes of bodies as points, segments and convex polyhedra with a radius around them.
 *
 *     sphere      a point with its radius                 box, mesh   polyhedron, the hull of a mesh
 *     capsule     a segment with its radius               plane       the half space below it (local z, planar: y)
 *
 * In the plane a box is a rectangle, a sphere, cylinder or capsule a disc. All is in the axes of the body. Where two solids meet is told as
 * touches: pairs of features with a gap that is a smooth function of the two poses,
 *
 *     MBS_TOUCH_FACE    point P of a, plane through Q of b with the normal n      n . (P - Q)
 *     MBS_TOUCH_POINT   point P of a, point Q of b                                |P - Q|
 *     MBS_TOUCH_LINE    point P of a, line through Q along e of b                 distance of P from the line
 *     MBS_TOUCH_CROSS   lines through P along d of a and through Q along e of b   n . (P - Q), n = (d x e)/|d x e| towards a
 *
 * less the radii of both. Polyhedra against each other: of all normals of faces and products of edges the axis along which they overlap
 * least (the separating axis theorem) says whether a face or a pair of edges touches. Points beside a face that touches
 * fade out over a strip of width `edge` around it, so that faces of equal size carry each other. */
#ifndef MBS_SOLID_H
#define MBS_SOLID_H

#include <daedalus/multibody.h>

#include "core/arena.h"

typedef struct mbs_solid {
    int body;
    int half_space;   /* 1: a plane; normal[0..2] and offset[0] are its face */
    double radius;    /* around points, segment or polyhedron */
    double center[3]; /* of a sphere around it, */
    double reach;     /* its radius */
    double edge;      /* width of the strip around faces */
    int nvertex, nface, nedge, ndirection;
    double *vertex;    /* 3*nvertex */
    double *normal;    /* 3*nface, outwards */
    double *offset;    /* nface: normal . x on the face */
    int *end;          /* 2*nedge: its vertices */
    int *side;         /* 2*nedge: faces that meet in it, -1: none */
    double *direction; /* 3*ndirection: directions of edges, each once */
} mbs_solid;

typedef enum mbs_touch_kind {
    MBS_TOUCH_FACE,
    MBS_TOUCH_POINT,
    MBS_TOUCH_LINE,
    MBS_TOUCH_CROSS
} mbs_touch_kind;

typedef struct mbs_touch {
    mbs_touch_kind kind;
    int a, b;            /* bodies */
    double P[3], d[3];   /* in the axes of a */
    double Q[3], e[3];   /* in those of b; e: normal or direction */
    double radius, of_a; /* of both together, and that of a alone */
    double weight;       /* 0 .. 1 */
    double toward;       /* MBS_TOUCH_CROSS: sign of n */
    double gap;          /* where the bodies stand now; below zero they overlap */
} mbs_touch;

enum { MBS_TOUCHES = 64 }; /* of one pair at most; more are left out */

/* 1: a shape of this kind can touch; 0: it is only drawn. */
int mbs_solid_kind(const char *kind, int planar);
dae_status mbs_solid_create(const mbs_shape *shape, int planar, dae_arena *arena, mbs_solid *out,
                            dae_error *err);

/* Poses of two bodies: r and A (by rows). */
typedef struct mbs_stand {
    const double *r, *A;
} mbs_stand;

/* Touches of two solids with a gap below `within` (weights above 0), and their number; *least: the distance of both, or minus the depth to
 * which they overlap (for polyhedra a lower bound of the distance). touch NULL: only *least. */
int mbs_solid_touches(const mbs_solid *a, mbs_stand at_a, const mbs_solid *b, mbs_stand at_b,
                      mbs_touch *touch, double *least);

#endif
