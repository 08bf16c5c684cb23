/* A robot as URDF and MJCF describe it: a tree of links, each hung on its parent by one joint. robot.c writes it as a model file. */
#ifndef MBS_ROBOT_H
#define MBS_ROBOT_H

#include "core/arena.h"
#include "multibody/import/xml.h"
#include "multibody/shape.h"

#include <jansson.h>

typedef struct robot_joint {
    const char *name, *type; /* fixed, revolute, prismatic, spherical, planar, floating */
    double R[9], p[3];       /* the frame of the link in that of its parent at q = 0 */
    double axis[3];          /* in that frame */
    int limited;
    double lower, upper;
    double damping, friction, stiffness, rest; /* rest: where the spring is relaxed */
    const char *mimic;                         /* q = factor * q_mimic + offset; NULL: none */
    double factor, offset;
    double q, speed; /* where the description starts */
    int given;       /* 1: by the user */
} robot_joint;

typedef struct robot_link {
    const char *name;
    int parent; /* link, -1: the ground */
    robot_joint joint;
    mbs_mass mass;  /* center in the axes of the link */
    json_t *shapes; /* as model files have them, in the axes of the link; or NULL */
    int starved;    /* there was no memory for one of them */
} robot_link;

/* Two points, one on each of two links, that coincide (connect), or two links that do not move (weld). */
typedef struct robot_tie {
    const char *name;
    int a, b;
    double r[3]; /* in the axes of a, at the start */
    int weld;
    int holds; /* 1 + the base that moves freely but for this weld to the ground: it starts with b at R, r; 0: none */
    double R[9];
} robot_tie;

typedef struct robot {
    const char *name;
    double gravity[3];
    robot_link *link; /* parents before their children */
    int nlink, room;
    robot_tie *tie;
    int ntie;
    int floating; /* 1: the root moves freely */
    dae_arena *arena;
    const char *file; /* for the meshes beside it, or NULL */
    int elsewhere;    /* 1: the model is kept somewhere else: names of meshes as seen from here */
    int boxes;        /* meshes that are drawn as boxes */
    const char *first_box;
    mbs_import_note_fn *note;
    void *user;
    dae_error *err;
    int failed;
} robot;

void robot_note(robot *r, const char *format, ...) DAE_PRINTF(2, 3);
void *robot_wrong(robot *r, const mbs_xml *e, const char *format, ...) DAE_PRINTF(3, 4); /* NULL */
robot_link *robot_add(robot *r);                                                         /* NULL: no memory */
int robot_find(const robot *r, const char *link); /* -1: there is none */
/* Numbers of an attribute, count of them or (where it is missing) what stands in out. 0: something else stands there. */
int robot_numbers(robot *r, const mbs_xml *e, const char *attribute, int count, double *out);
void robot_rpy(const double rpy[3], double R[9]); /* Rz(yaw) Ry(pitch) Rx(roll) */
void robot_quaternion(const double R[9], double q[4]);
/* A shape of a link at R, p of its axes. */
json_t *robot_shape(const char *kind, const double *size, int nsize, const double R[9], const double p[3]);
void robot_show(robot_link *l, json_t *shape);

/* Readers; 0: done. */
int robot_read_urdf(robot *r, const mbs_xml *root);
int robot_read_mjcf(robot *r, const mbs_xml *root);
/* The model; NULL: no memory. */
json_t *robot_model(robot *r, const dae_setting *start, int nstart);

#endif
