/* Mechanisms: bodies, points, joints, forces, drivers, sensors, events; from a JSON file or built by calls.
 * docs/modelling.md explains every field; the names here are those of the file.
 *
 * A model is what the engineer described. A mechanism is compiled from it: a mechanical system that every
 * method can integrate, with its names, its consistent start and its reaction forces.
 *
 * SI units, radians. Planar models use x, y and the angle about z (inertia[2], omega[2], angle). Bodies are
 * numbered from 1 in the order in which they are added; 0 is the ground. */
#ifndef DAEDALUS_MULTIBODY_H
#define DAEDALUS_MULTIBODY_H

#include <daedalus/problem.h>

DAE_BEGIN_DECLS

typedef struct mbs_model mbs_model;         /* opaque: what was described */
typedef struct mbs_mechanism mbs_mechanism; /* opaque: compiled, constant, shared by threads */

enum { MBS_GROUND = 0, MBS_PLANAR = 2, MBS_SPATIAL = 3 };

/* ---- Description ------------------------------------------------------------------------------- */

typedef struct mbs_body {
    const char *name;
    double mass;
    double inertia[6]; /* about the center of mass, body axes: xx, yy, zz, xy, xz, yz (products of inertia) */
    double center[3];  /* initial position of the center of mass, which is the origin of the body */
    double angle;      /* planar: initial angle */
    double q[4];       /* spatial: initial orientation w, x, y, z; zero: the identity */
    double v[3];       /* initial velocity of the center of mass */
    double omega[3];   /* initial angular velocity, body axes */
    const char *fix;   /* what assembly must not change, words of: x y z angle q vx vy vz omega */
} mbs_body;

/* What a body (or the ground) looks like, and what mass and inertia can be computed from (mbs_model_add_shape). */
typedef struct mbs_shape {
    int body;         /* its number, or MBS_GROUND */
    const char *kind; /* box, sphere, cylinder, capsule, rod, plate, plane, mesh */
    double size
        [3]; /* box: edges; sphere: radius; cylinder, capsule: radius, length along z; rod: length along x, radius drawn;
                         plate: edges along x and y, thickness drawn */
    double r[3], q[4];    /* where its center is and how it stands, body axes; q zero: as the body */
    const double *vertex; /* mesh: 3*nvertex, in the axes of the shape */
    const int *triangle;  /* 3*ntriangle, numbers of vertices */
    int nvertex, ntriangle;
} mbs_shape;

typedef struct mbs_point {
    const char *name;
    int body;           /* its number, or MBS_GROUND */
    double r[3];        /* in the axes of the body */
    double angle, q[4]; /* orientation of the point's frame in the body; zero: as the body */
} mbs_point;

/* A field that only some types of joints or forces have: a number, a text, a vector; flags are numbers. The text of a number is the unit that it
 * was given with ("N/m"; the number is in SI), NULL: it is not known. */
typedef struct mbs_value {
    const char *name;
    double number;
    const char *text;
    double vector[3];
} mbs_value;

/* Dry friction of a joint; mu 0: none. */
typedef struct mbs_friction {
    double mu, radius, v_s; /* radius: lever (revolute); v_s: the speed at which it is full */
    double mu_static;       /* at rest; 0: mu. With stick > 0: */
    double stick;           /* 1/s, > 0: the joint sticks and slips, by events of the problem */
} mbs_friction;

enum { MBS_JOINT_FIELDS = 4, MBS_FORCE_FIELDS = 8 };

typedef struct mbs_joint {
    const char *name, *type; /* revolute, prismatic, ...: mbs_joint_type_name lists them */
    int a, b;                /* bodies; or the points below */
    double at[3];            /* where they meet, in global coordinates of the initial pose */
    double axis[3]; /* of rotation or sliding, in the frame of a; zero: local x (planar: of sliding) */
    const char *point_a, *point_b;     /* names of points instead of a, b, at */
    mbs_value field[MBS_JOINT_FIELDS]; /* of its type, {"pitch", .number = 0.1}; the first without a name ends them */
    mbs_friction friction;
    double speed; /* initial rate of its coordinate, which assembly keeps if */
    int has_speed;
} mbs_joint;

/* Laws of forces are texts: expressions of t, parameters, body.x, joint.value, ... */
typedef struct mbs_force {
    const char *name, *type;           /* spring, torsion, force, ...: mbs_force_type_name lists them */
    const char *point_a, *point_b;     /* where it acts: points, */
    const char *joint;                 /* the coordinate of a joint, */
    const char *body;                  /* or a body; as its type asks for */
    const char *value[3];              /* its law, or the components of a vector */
    int count;                         /* of values given */
    mbs_value field[MBS_FORCE_FIELDS]; /* of its type, {"k", .number = 100}; the first without a name ends them */
} mbs_force;

typedef struct mbs_driver {
    const char *name, *joint;
    const char *quantity; /* NULL or "position" */
    const char *value;    /* expression of t */
} mbs_driver;

typedef struct mbs_sensor {
    const char *name, *value, *unit;
} mbs_sensor;

typedef struct mbs_event {
    const char *name, *when; /* an expression of t, bodies and joints; the event is where it passes zero */
    dae_direction direction;
    int stop;                      /* 1: ends the run */
    int impact;                    /* 1: velocities jump, with the restitution, along */
    const char *joint;             /* the coordinate of this joint, or */
    const char *point_a, *point_b; /* the line from a to b, or */
    double axis[3];                /* this direction in the frame of a, if it is not zero */
    double restitution;            /* 0: no rebound, 1: no loss */
    double rest_speed; /* slower rebounds end in rest; 0: 1e-4 m/s or rad/s; restitution 1 never rests */
} mbs_event;

DAE_API mbs_model *mbs_model_create(const char *name, int space);
/* From a JSON file or text; settings replace parameters ({"L1", "200[mm]"}). NULL: *err names the place in the file
 * ("joints[2].type: ..."). */
DAE_API mbs_model *mbs_model_load(const char *json_path, dae_error *err);
DAE_API mbs_model *mbs_model_load_with(const char *json_path, const dae_setting *setting, int nsetting,
                                       dae_error *err);
DAE_API mbs_model *mbs_model_parse(const char *json, size_t length, const dae_setting *setting, int nsetting,
                                   dae_error *err);
DAE_API void mbs_model_destroy(mbs_model *m);
DAE_API void mbs_model_set_gravity(mbs_model *m, double x, double y, double z);
DAE_API void mbs_model_set_parameter(mbs_model *m, const char *name, double value);
/* The number of what was added (bodies from 1, others from 0), or < 0. The model keeps its first error, and
 * mbs_mechanism_create tells it: building needs no checks. */
DAE_API int mbs_model_add_body(mbs_model *m, const mbs_body *body);
/* Only to be drawn; the mass of the body is what mbs_body says. */
DAE_API int mbs_model_add_shape(mbs_model *m, const mbs_shape *shape);
DAE_API int mbs_model_add_point(mbs_model *m, const mbs_point *point);
DAE_API int mbs_model_add_joint(mbs_model *m, const mbs_joint *joint);
DAE_API int mbs_model_add_force(mbs_model *m, const mbs_force *force);
DAE_API int mbs_model_add_driver(mbs_model *m, const mbs_driver *driver);
DAE_API int mbs_model_add_sensor(mbs_model *m, const mbs_sensor *sensor);
DAE_API int mbs_model_add_event(mbs_model *m, const mbs_event *event);

DAE_API const char *mbs_joint_type_name(int i); /* NULL past the end */
DAE_API const char *mbs_force_type_name(int i);

/* ---- Mechanism --------------------------------------------------------------------------------- */

DAE_API mbs_mechanism *mbs_mechanism_create(const mbs_model *m, dae_error *err);
DAE_API void mbs_mechanism_destroy(mbs_mechanism *c);
DAE_API const dae_system *mbs_mechanism_system(const mbs_mechanism *c); /* lives as long as c */
/* Consistent initial values y = (p, v, u): the described pose, moved as little as possible. */
DAE_API dae_status mbs_mechanism_initial(const mbs_mechanism *c, double *y, dae_error *err);
/* The values as described, before assembly. */
DAE_API void mbs_mechanism_described(const mbs_mechanism *c, double *y);
/* Accelerations (nv) and multipliers (nlambda) at a state; least ones where they are not unique. */
DAE_API dae_status mbs_mechanism_acceleration(const mbs_mechanism *c, double t, const double *y, double *a,
                                              double *lambda, dae_error *err);
/* d(G^T lambda)/dp: nv*np column-major, exact. */
DAE_API dae_status mbs_mechanism_constraint_stiffness(const mbs_mechanism *c, double t, const double *y,
                                                      const double *lambda, double *K);

DAE_API dae_status mbs_mechanism_energy(const mbs_mechanism *c, double t, const double *y, dae_energy *out);

/* What is known of its structure. */
typedef struct mbs_topology {
    int bodies, joints, loops;
    int coordinates; /* velocities of all bodies */
    int constraints; /* rows as described */
    int independent; /* rank */
    int freedom;     /* coordinates - independent */
    int redundant;   /* rows that follow from others; left out of the system */
} mbs_topology;
DAE_API mbs_topology mbs_mechanism_topology(const mbs_mechanism *c);
/* Name of the joint that redundant row i (from 0) belongs to, and which of its rows (from 0). */
DAE_API const char *mbs_mechanism_redundant(const mbs_mechanism *c, int i, int *row);
/* Things that are allowed but look like mistakes, in words; NULL past the end. */
DAE_API const char *mbs_mechanism_warning(const mbs_mechanism *c, int i);

/* ---- Sensors and reactions ---------------------------------------------------------------------- */

DAE_API int mbs_mechanism_sensor_count(const mbs_mechanism *c);
DAE_API const char *mbs_mechanism_sensor_name(const mbs_mechanism *c, int i);
DAE_API const char *mbs_mechanism_sensor_unit(const mbs_mechanism *c, int i); /* "" if none was given */
/* Values of all sensors; a and lambda as mbs_mechanism_acceleration gives them, or NULL: they are computed. */
DAE_API dae_status mbs_mechanism_sensors(const mbs_mechanism *c, double t, const double *y, const double *a,
                                         const double *lambda, double *value, dae_error *err);
DAE_API int mbs_mechanism_joint_count(const mbs_mechanism *c);
DAE_API const char *mbs_mechanism_joint_name(const mbs_mechanism *c, int i);
/* Multipliers of all rows as described (mbs_topology.constraints of them, those of the joints in their order, holonomic ones
 * first) from those of the system. Where redundant rows can share a load in many ways these are the ones of least norm,
 * sum F^2 + (T/length)^2, length: root mean square of the distances of joints from the centers of their bodies. */
DAE_API dae_status mbs_mechanism_multipliers(const mbs_mechanism *c, double t, const double *y,
                                             const double *lambda, double *all);
/* Force and torque of joint i on its body b, about its point on b, in global axes; of least norm where they are not
 * unique, as above. */
DAE_API dae_status mbs_mechanism_reaction(const mbs_mechanism *c, int i, double t, const double *y,
                                          const double *lambda, double force[3], double torque[3]);
DAE_API int mbs_mechanism_body_count(const mbs_mechanism *c);
DAE_API const char *mbs_mechanism_body_name(const mbs_mechanism *c, int i); /* from 1; 0: "ground" */
DAE_API int mbs_mechanism_driver_count(const mbs_mechanism *c);
DAE_API const char *mbs_mechanism_driver_name(const mbs_mechanism *c, int i);
/* Forces or torques of all drivers on their joint coordinates, as the sensors "driver.force". */
DAE_API dae_status mbs_mechanism_driver_forces(const mbs_mechanism *c, double t, const double *y,
                                               const double *lambda, double *force);

/* ---- Analyses ------------------------------------------------------------------------------------ */

/* Moves y (in: a guess) downhill to a state of rest in which all forces balance: velocities zero, constraints kept, u
 * (currents of motors) at rest where it can be. A guess that balances stays, also where it is unstable; where downhill leads
 * nowhere a balance near the guess is taken, stable or not. */
DAE_API dae_status mbs_mechanism_equilibrium(const mbs_mechanism *c, double t, double *y, dae_error *err);
/* Multipliers (nlambda) at such a state: reactions at rest, also where drivers would accelerate it. */
DAE_API dae_status mbs_mechanism_static_multipliers(const mbs_mechanism *c, double t, const double *y,
                                                    double *lambda, dae_error *err);
/* Kinematics of a fully driven mechanism at time t: y (in: a guess) becomes position and velocity. The drivers' forces
 * (inverse dynamics) are then the sensors "driver.force". */
DAE_API dae_status mbs_mechanism_kinematics(const mbs_mechanism *c, double t, double *y, dae_error *err);
/* Small motions about a state: x' = A x in independent coordinates and their rates (and u), 2*freedom + nu numbers;
 * eigenvalues as re, im. *size: how many there are; arrays have room for 2*nv + nu. */
DAE_API dae_status mbs_mechanism_eigenvalues(const mbs_mechanism *c, double t, const double *y, double *re,
                                             double *im, int *size, dae_error *err);

/* ---- A model as a problem ------------------------------------------------------------------------- */

/* The assembled mechanism with initial values, interval, tolerances and events of the model. NULL: see *err. */
DAE_API dae_problem *mbs_problem_create(const mbs_model *m, dae_error *err);
/* The same from the text of a model file; file: its name for messages, or NULL. */
DAE_API dae_problem *mbs_problem_parse(const char *json, size_t length, const char *file,
                                       const dae_setting *setting, int nsetting, dae_error *err);
/* Receives text in pieces (not ended by 0). Returns 0, or < 0 to stop (then DAE_ERR_FILE). */
typedef int mbs_write_fn(const char *text, size_t length, void *user);

/* The types of joints (section 0), forces (1) or blocks (2) with their fields: a Markdown table, or (schema != 0) the JSON Schema of
 * an item of "joints", "forces" or "blocks". */
DAE_API dae_status mbs_write_types(int section, int schema, mbs_write_fn *write, void *user);
/* Robots of other programs: URDF, and bodies, joints, geoms and equalities of MJCF. What was guessed or left out is told by note, one
 * line each. */
typedef void mbs_import_note_fn(const char *text, void *user);
typedef struct mbs_import_options {
    int floating; /* 1: the base moves freely; 0: it stands on the ground, unless the file says otherwise */
    const dae_setting *start; /* nstart joints: position, or position:speed */
    int nstart;
    mbs_import_note_fn *note; /* or NULL */
    void *user;
} mbs_import_options;
/* The text of a model file. file: for messages and for the meshes beside it, or NULL. */
DAE_API dae_status mbs_import(const char *text, size_t length, const char *file,
                              const mbs_import_options *options, mbs_write_fn *write, void *user,
                              dae_error *err);
/* The same as a problem; settings are positions of joints. */
DAE_API dae_problem *mbs_import_problem(const char *text, size_t length, const char *file,
                                        const dae_setting *setting, int nsetting, dae_error *err);
/* The mechanism of a problem that was made so; lives as long as p. NULL: it is another problem. */
DAE_API const mbs_mechanism *mbs_problem_mechanism(const dae_problem *p);

/* What is to be shown: n states y at times t, one after another, and what happened on the way. */
typedef struct mbs_track {
    int n;
    const double *t, *y;
    const dae_event_record *event; /* nevent, or NULL */
    int nevent;
    const char *const *event_name; /* by dae_event_record.index, or NULL */
} mbs_track;

typedef enum mbs_show {
    MBS_SHOW_PAGE,  /* a self-contained page: the viewer in 3D, or the small one where that is not built in */
    MBS_SHOW_SMALL, /* the small page always */
    MBS_SHOW_SCENE, /* what the page shows, as one JSON object (docs/viewer.md) */
    MBS_SHOW_PART /* the viewer in 3D for the body of another page, whose policy must allow mbs_viewer_hash */
} mbs_show;

DAE_API dae_status mbs_write_motion(const dae_problem *p, const mbs_track *motion, mbs_show show,
                                    mbs_write_fn *write, void *user);
/* 1: the viewer in 3D is part of the library (make viewer). */
DAE_API int mbs_viewer_built_in(void);
/* The SHA-256 of its script in base 64, as policies of pages want it. */
DAE_API void mbs_viewer_hash(char hash[45]);
/* The page and the scene of n points without events. */
DAE_API dae_status mbs_write_html(const dae_problem *p, int n, const double *t, const double *y,
                                  mbs_write_fn *write, void *user);
DAE_API dae_status mbs_write_scene(const dae_problem *p, int n, const double *t, const double *y,
                                   mbs_write_fn *write, void *user);

DAE_END_DECLS

#endif
