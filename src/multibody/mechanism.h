/* The compiled mechanism: frames, rows of constraints, forces, and the context of one evaluation.
 *
 * All geometry is in three dimensions. In planar models only the velocities vx, vy and omega_z exist: slot()
 * maps the six velocities of a body to those of the system, and rows and forces are restricted to them. */
#ifndef MBS_MECHANISM_H
#define MBS_MECHANISM_H

#include <daedalus/multibody.h>

#include "core/arena.h"
#include "core/error.h"
#include "language/expression.h"
#include "multibody/model.h"
#include "multibody/vector3.h"

#include <stdatomic.h>

/* A frame fixed in a body: origin s and columns f, g, h of C (by rows), in body axes. h is the axis. */
typedef struct mbs_frame {
    int body; /* 0: ground */
    double s[3], C[9];
} mbs_frame;

/* Position and velocity of a body. */
typedef struct mbs_pose {
    double r[3], A[9]; /* A: body axes to global ones */
    double v[3], w[3]; /* w in body axes */
    double angle;      /* planar */
    const double *e;   /* space: Euler parameters */
} mbs_pose;

/* ---- Coordinates of joints --------------------------------------------------------------------------- */

typedef enum mbs_coordinate_kind {
    MBS_NO_COORDINATE = 0,
    MBS_ANGLE, /* of j against i about h; spatial: -pi .. pi */
    MBS_SLIDE, /* h_i . d */
    MBS_LENGTH /* |d| */
} mbs_coordinate_kind;

typedef struct mbs_coordinate {
    mbs_coordinate_kind kind;
    mbs_frame i, j;
    double offset; /* planar angle: subtracted */
} mbs_coordinate;

/* ---- Rows of constraints ------------------------------------------------------------------------------ */

typedef struct mbs_context mbs_context;
typedef struct mbs_row mbs_row;
typedef struct mbs_dual mbs_dual;

/* A group of up to three scalar constraints between bodies. */
typedef struct mbs_row_class {
    const char *name;
    int holonomic;
    void (*residual)(const mbs_row *r, const mbs_context *x, double *g);
    /* G[k*24 + 6*b + c]: row k, body r->body[b], velocity c (three of the center, three of rotation). */
    void (*jacobian)(const mbs_row *r, const mbs_context *x, double *G);
    void (*gamma)(const mbs_row *r, const mbs_context *x, double *gamma);    /* d/dt (G v + gI) at fixed v */
    void (*force)(const mbs_row *r, mbs_context *x, const mbs_dual *lambda); /* adds -G^T lambda */
} mbs_row_class;

struct mbs_row {
    const mbs_row_class *type;
    int count; /* scalar rows */
    int nbody; /* bodies that take part; the ground may be among them */
    int body[4];
    int system[3]; /* row of the system, -1: left out (redundant) */
    mbs_frame i, j;
    double a[3], b[3];       /* axes in i and j, body axes */
    mbs_coordinate q[2];     /* coordinate rows: factor[0] q[0] + factor[1] q[1] - c(t) */
    double factor[2], value; /* value: c where it is constant */
    double period;           /* of the residual, 0: none */
    int motion;              /* number of the expression c(t), -1: none */
    double radius;
    int carrier; /* carried rows: 0: their axes are those of i, 1: of j */
    int joint;   /* it belongs to, -1: a driver */
    int driver;  /* it belongs to, -1: none */
    int first;   /* number of its first scalar row among all rows as described */
    int *place;  /* positions of the values in the pattern of G: [k][b][c], -1: none */
};

extern const mbs_row_class mbs_row_coincide, mbs_row_carried, mbs_row_dot1, mbs_row_dot2, mbs_row_coordinate,
    mbs_row_coupling_rate, mbs_row_roll_normal, mbs_row_roll_slip, mbs_row_knife;

/* ---- Joints and forces ------------------------------------------------------------------------------- */

typedef struct mbs_joint_data {
    const mbs_joint *model;
    const struct mbs_joint_type *type;
    const void *own;  /* fields of the type */
    mbs_frame i, j;   /* j stands as i in the described pose, unless its point has a frame */
    double axis_j[3]; /* local x of the point on j, body axes: discs, universal joints */
    int oriented;     /* 1: the point on j has a frame of its own */
    mbs_coordinate angle, slide, length; /* what its signals show */
    mbs_coordinate_kind main;            /* which of them is joint.value */
    int first, count;                    /* its groups of rows */
    int grip;                            /* states of stick and slip in u, -1: none */
    int side;                            /* its first switch (sides.c), -1: none */
} mbs_joint_data;

typedef struct mbs_builder mbs_builder;

typedef struct mbs_joint_type {
    const char *name, *doc;
    int planar_rows, spatial_rows; /* 0: does not exist there */
    mbs_coordinate_kind main;      /* joint.value */
    int without_points;            /* 1: it is not between two points */
    const struct mbs_field *field; /* beyond what all joints have, */
    size_t size;                   /* and the struct that holds them */
    dae_status (*build)(mbs_builder *b, mbs_joint_data *j);
    const struct mbs_relative *plane, *space; /* in joint coordinates; NULL: it stays a constraint */
} mbs_joint_type;

const mbs_joint_type *mbs_joint_type_at(int i);
const mbs_joint_type *mbs_joint_type_find(const char *name);

/* Units of a block: of its law, its states, its output; soft where they are not known. */
enum { MBS_BLOCK_STATES = 4 };
typedef struct mbs_units {
    dae_dimension input, state[MBS_BLOCK_STATES], output;
} mbs_units;

typedef struct mbs_force_data {
    const mbs_force *model;
    const struct mbs_force_type *type;
    const void *own; /* fields of the type */
    mbs_frame i, j;
    mbs_coordinate q;
    int body;
    int value[3]; /* expressions, -1: none */
    int u;        /* its first state, -1: none */
    int grip;     /* contact: states of stick and slip in u, -1: none */
    int joint;
    int side;        /* its first switch (sides.c), -1: none */
    mbs_units units; /* of a block */
    int nested;      /* forces whose signals its expressions use, one by the other: how deep */
} mbs_force_data;

/* What a force shows of itself (signal.c): its deflection, and the direction in which the force on b counts. */
typedef struct mbs_measure mbs_measure;

enum {                       /* what a force acts on */
       MBS_ACTS_BETWEEN = 1, /* the points a and b, on different bodies */
       MBS_ACTS_AT = 2,      /* the point b; the opposite on a, if there is one */
       MBS_ACTS_JOINT = 4,   /* the coordinate of a joint */
       MBS_ACTS_BODY = 8,
       MBS_ACTS_ALL = 16 /* all bodies; its signals are for sensors and events only */
};
enum { MBS_NO_VALUE, MBS_VALUE_OPTIONAL, MBS_VALUE_ONE, MBS_VALUE_VECTOR }; /* expressions that it takes */

typedef struct mbs_force_type {
    const char *name, *doc;
    unsigned acts;
    int value;
    const char *value_unit; /* as mbs_field.unit */
    const char
        *locals; /* names that its expressions may use besides the signals, separated by spaces; NULL: none */
    const struct mbs_field *field;
    size_t size;
    int states;              /* of u */
    const char *state_names; /* of them, separated by spaces: signals and components are called NAME.such */
    dae_status (*build)(mbs_builder *b, mbs_force_data *f);
    void (*apply)(const mbs_force_data *f, mbs_context *x);
    double (*potential)(const mbs_force_data *f, mbs_context *x);          /* NULL: none */
    void (*dynamics)(const mbs_force_data *f, mbs_context *x, double *du); /* NULL: none */
    int switches; /* where apply is not smooth: decisions that it asks mbs_branch for */
    int (*count_switches)(const mbs_mechanism *m,
                          const mbs_force_data *f); /* where that depends; NULL: switches */
    int (*sticks)(const mbs_force_data *f);         /* 1: it sticks and slips (switch.c); NULL: never */
    void (*measure)(const mbs_force_data *f, mbs_context *x, mbs_measure *out); /* NULL: no deflection */
    /* Takes a sample: states u[0] and the time of the next u[1] (an event); NULL: none. */
    void (*sample)(const mbs_force_data *f, mbs_context *x, double *u);
    void (*start)(const mbs_force_data *f, double *u); /* its states at the start; NULL: 0 */
    mbs_dual (*output)(const mbs_force_data *f,
                       mbs_context *x); /* NAME.value of a block (acts on nothing); NULL: none */
    /* A block: u->state and u->output from u->input; units that do not fit are an error, which is told where b is given. */
    dae_status (*units)(mbs_builder *b, const mbs_force_data *f, mbs_units *u);
} mbs_force_type;

const mbs_force_type *mbs_force_type_at(int i);
const mbs_force_type *mbs_force_type_find(const char *name);

/* ---- Signals: what expressions can name --------------------------------------------------------------- */

typedef enum mbs_signal_kind {
    MBS_TIME,
    MBS_BODY_POSITION,
    MBS_BODY_ANGLE,
    MBS_BODY_QUATERNION,
    MBS_BODY_VELOCITY,
    MBS_BODY_OMEGA,
    MBS_JOINT_COORDINATE, /* component: mbs_coordinate_kind */
    MBS_JOINT_RATE,
    MBS_STATE,          /* u */
    MBS_LOCAL,          /* of a force */
    MBS_POINT_POSITION, /* object: a point of the model */
    MBS_POINT_VELOCITY,
    MBS_FORCE_SIGNAL,      /* component: mbs_force_component */
    MBS_BODY_ROTATION,     /* rotation vector */
    MBS_BODY_CARDAN,       /* A = Rx Ry Rz */
    MBS_BODY_EULER,        /* A = Rz(phi) Rx(theta) Rz(psi) */
    MBS_INPUT,             /* object: a parameter that is an input */
    MBS_BODY_ACCELERATION, /* from here on: sensors only */
    MBS_BODY_ALPHA,
    MBS_JOINT_REACTION, /* component 0..2 force, 3..5 torque, 6 and 7 their magnitudes */
    MBS_ENERGY,         /* component 0 kinetic, 1 potential, 2 both */
    MBS_DRIVER_FORCE,
    MBS_SENSOR, /* one that was declared before */
    MBS_POINT_ACCELERATION
} mbs_signal_kind;

typedef enum mbs_force_component {
    MBS_FORCE_SIZE,
    MBS_FORCE_POWER,
    MBS_FORCE_DEFLECTION,
    MBS_FORCE_X, /* on b */
    MBS_FORCE_Y,
    MBS_FORCE_Z,
    MBS_FORCE_OUTPUT /* of a block */
} mbs_force_component;

typedef struct mbs_signal {
    mbs_signal_kind kind;
    int object, component;
} mbs_signal;

typedef struct mbs_external mbs_external; /* external.h */

/* ---- The mechanism ------------------------------------------------------------------------------------- */

/* data.c: what one evaluation writes. */
typedef struct mbs_data {
    int derivatives;                        /* 1: with room for them, where the mechanism is not too large */
    double *room;                           /* all of it: */
    mbs_pose *pose;                         /* nbody+1 */
    double *work;                           /* of expressions */
    double *f;                              /* nv */
    double *heap;                           /* for duals, or NULL */
    double *J;                              /* nv * nz, or NULL */
    int known;                              /* 1: f and J are those of all applied forces at */
    double *key;                            /* this point: t, p, v, u, lambda */
    unsigned sides;                         /* and these sides, in short */
    struct mbs_acceleration_solver *solver; /* of mbs_mechanism_acceleration, or NULL */
    int tried;                              /* 1: it was made, or cannot be */
    void *tree_work;                        /* of mbs_tree_acceleration, or NULL */
} mbs_data;

enum { MBS_IDLE = 16 }; /* data objects that are kept for later, of each kind */
typedef struct mbs_shelf {
    _Atomic(mbs_data *) idle[2 * MBS_IDLE]; /* those with derivatives behind */
} mbs_shelf;

int mbs_shelf_create(mbs_mechanism *m); /* sets nz too; != 0: out of memory */
void mbs_shelf_destroy(mbs_shelf *s);
mbs_data *mbs_take(const mbs_mechanism *m, int derivatives);
void mbs_give(const mbs_mechanism *m, mbs_data *d);
int mbs_has_derivatives(const mbs_mechanism *m); /* exact ones: up to 600 velocities */

struct mbs_mechanism {
    const mbs_model *model; /* a copy of its own */
    mbs_model *owned;
    dae_arena *arena;
    dae_system system;
    const struct mbs_tree *tree; /* in joint coordinates, or NULL */
    int planar, nbody, bp, bv;   /* bp, bv: positions and velocities per body */
    int np, nv, nu, nrow, nlambda, ng;
    double gravity[3];
    double *mass, *inertia; /* per body: mass; 9 numbers by rows */
    double *blocks;         /* M in blocks */
    mbs_row *row;
    int nrows; /* groups */
    mbs_joint_data *joint;
    int njoint;
    mbs_force_data *force;
    int nforce;
    dae_expression **expression;
    int nexpression, expression_capacity;
    mbs_signal *signal;
    int nsignal, signal_capacity;
    int *sensor, *event;      /* their expressions */
    const char **sensor_unit; /* as declared, or derived; "": none, or not known */
    int event_reactions;      /* 1: an event is of accelerations, reactions or sensors */
    mbs_coordinate *impact;   /* of the events; kind none: no impact */
    int *rest;                /* of the events: states of resting contact in u, -1: none */
    size_t work_size;
    int nz;     /* numbers of a gradient: nv positions, nv velocities, nu, nlambda, t */
    int nested; /* the largest of its forces */
    size_t heap_size;
    size_t scratch; /* numbers of work space of one force */
    double *p0;     /* initial values as described, (p, v, u) */
    int *redundant; /* scalar rows left out, among all as described */
    int nredundant, loops;
    int singular; /* a row that follows from others in the described pose only, -1: none */
    int *parent, *row_joint;
    int friction; /* 1: forces depend on lambda */
    /* sides.c: where forces and motions are not smooth. */
    int nside;
    int *expression_side;   /* first switch of each expression, -1: none that moves anything */
    const char **side_name; /* what switches, for messages */
    int *side;              /* of the present run, nside; NULL: as the state says */
    double *note_f;         /* nv: forces nobody wants */
    double *note_nearest;   /* nbody+1: of collisions */
    double *note_lambda;    /* nlambda, or NULL: no switch depends on multipliers */
    const char *warning[16];
    int nwarning;
    mbs_external *external;        /* equations that set inputs, or NULL; owned */
    int external_u, external_side; /* their first state in u, their first switch */
    int external_room;             /* numbers that an evaluation of them needs */
    mbs_shelf *shelf;              /* the only thing behind it that changes */
};

/* One evaluation. Duals (values with gradients) are made only if nz > 0. */
struct mbs_context {
    const mbs_mechanism *m;
    double t;
    const double *v, *u, *lambda;
    const double *a;        /* accelerations, for sensors, or NULL */
    const double *reaction; /* multipliers of all rows as described, for sensors, or NULL */
    const double *sensor;   /* values of the sensors so far, or NULL */
    mbs_pose *pose;
    double *work;
    double *scratch; /* of one force */
    double *f;       /* nv */
    double *J;       /* nv rows of nz, or NULL */
    int nz;
    double *heap;
    size_t used;
    mbs_data *data;              /* to be put back by mbs_end, or NULL */
    const struct mbs_note *note; /* where margins are wanted, or NULL */
    struct mbs_probe *probe;     /* forces are measured, not applied, or NULL */
};

/* Work space of expressions: those of a sensor ask forces, whose expressions may ask other forces. That of forces follows, then that
 * of equations beside the mechanism. */
static inline size_t mbs_scratch_at(const mbs_mechanism *m)
{
    return (size_t)(2 + m->nested) * m->work_size + 1;
}
static inline size_t mbs_work(const mbs_mechanism *m)
{
    return mbs_scratch_at(m) + m->scratch + (size_t)m->external_room;
}

/* Position in v of velocity c (0..2 of the center, 3..5 of rotation) of a body, -1: there is none. */
static inline int mbs_slot_of(const mbs_mechanism *m, int body, int c)
{
    if (body == 0) return -1;
    if (!m->planar) return 6 * (body - 1) + c;
    if (c < 2) return 3 * (body - 1) + c;
    return c == 5 ? 3 * (body - 1) + 2 : -1;
}

/* ---- context.c: kinematics --------------------------------------------------------------------------- */

mbs_context mbs_begin(const mbs_mechanism *m, double t, const double *p, const double *v);
/* The same with the poses kept in y->cache, where there is one: positions that did not change are not computed again. */
mbs_context mbs_begin_at(const mbs_mechanism *m, const dae_mech_point *y);
size_t mbs_cache_size(const mbs_mechanism *m);
/* With room for duals; x.f and x.J must not be changed by the caller. */
mbs_context mbs_begin_derivatives(const mbs_mechanism *m, double t, const double *p, const double *v);
/* The same for all applied forces at a point: 1 if f and J are there already, 0 if the caller has to make them. */
int mbs_begin_derivatives_at(const mbs_mechanism *m, const dae_mech_point *y, mbs_context *x);
void mbs_end(mbs_context *x);
void mbs_set_poses(const mbs_mechanism *m, const double *p, const double *v, mbs_pose *pose);
void mbs_point_position(const mbs_context *x, const mbs_frame *f, double *out);
void mbs_point_velocity(const mbs_context *x, const mbs_frame *f, double *out);
void mbs_point_bias(const mbs_context *x, const mbs_frame *f, double *out); /* acceleration at fixed v */
/* An axis fixed in a body: itself, its derivative, its second one at fixed v. */
static inline void mbs_axis(const mbs_context *x, int body, const double *a, double *out)
{
    mbs_rotate(x->pose[body].A, a, out);
}
void mbs_axis_rate(const mbs_context *x, int body, const double *a, double *out);
void mbs_axis_bias(const mbs_context *x, int body, const double *a, double *out);
void mbs_separation(const mbs_context *x, const mbs_frame *i, const mbs_frame *j, double *d);
void mbs_separation_rate(const mbs_context *x, const mbs_frame *i, const mbs_frame *j, double *d);
void mbs_separation_bias(const mbs_context *x, const mbs_frame *i, const mbs_frame *j, double *d);
/* d^2/dt^2 (a . d) at fixed v: a an axis of a body, d from i to j. */
double mbs_distance_bias(const mbs_context *x, int body, const double *axis, const mbs_frame *i,
                         const mbs_frame *j);
/* Rows: adds the velocity row of w . (velocity of the point) and of n . (angular velocity of the body). */
void mbs_row_of_point(const mbs_context *x, const mbs_frame *f, const double *w, double sign, double *row6);
static inline void mbs_row_of_rotation(const mbs_context *x, int body, const double *n, double sign,
                                       double *row6)
{
    double b[3];
    mbs_rotate_back(x->pose[body].A, n, b);
    for (int k = 0; k < 3; k++) row6[3 + k] += sign * b[k];
}
void mbs_column(const double *C, int k, double *out); /* column k of a 3x3 */

double mbs_coordinate_value(const mbs_context *x, const mbs_coordinate *q);
double mbs_coordinate_rate(const mbs_context *x, const mbs_coordinate *q);
void mbs_coordinate_row(const mbs_context *x, const mbs_coordinate *q, double factor, double *row_i,
                        double *row_j);
/* Row of q' by all velocities (nv). */
void mbs_coordinate_vector(const mbs_context *x, const mbs_coordinate *q, double *r);
double mbs_coordinate_bias(const mbs_context *x, const mbs_coordinate *q);
/* c(t), its first and second derivative. */
void mbs_motion(const mbs_context *x, int expression, double c[3]);

/* ---- Building ------------------------------------------------------------------------------------------ */

struct mbs_builder {
    mbs_mechanism *m;
    dae_error *err;
    char path[96]; /* "joints[3]", for messages */
    int row_capacity;
    const char *locals;      /* names of the local variables of the force being built, */
    int force;               /* and its number, -1: none */
    const mbs_pose *initial; /* poses as described */
};

/* A new group of rows between the bodies of i and j; NULL: out of memory. */
mbs_row *mbs_add_row(mbs_builder *b, const mbs_row_class *type, int count, const mbs_frame *i,
                     const mbs_frame *j);
int mbs_add_coincide(mbs_builder *b, const mbs_frame *i, const mbs_frame *j);
/* axis: 0 f, 1 g, 2 h of the frame. */
int mbs_add_dot1(mbs_builder *b, const mbs_frame *i, int axis_i, const mbs_frame *j, int axis_j);
int mbs_add_dot2(mbs_builder *b, const mbs_frame *i, int axis_i, const mbs_frame *j, double value);
mbs_row *mbs_add_coordinate(mbs_builder *b, const mbs_coordinate *q, double value);
/* factor1 q1 + factor2 q2 = value */
mbs_row *mbs_add_coupling(mbs_builder *b, const mbs_coordinate *q1, double factor1, const mbs_coordinate *q2,
                          double factor2, double value);
double mbs_initial_value(const mbs_builder *b, const mbs_coordinate *q); /* in the described pose */
dae_status mbs_wrong(mbs_builder *b, const char *format, ...) DAE_PRINTF(2, 3);

/* signal.c: the signal that a law of a force, sensor or event would name so; 0: there is none. */
int mbs_find_signal(const mbs_mechanism *m, const char *name, mbs_signal *s, dae_dimension *d);
/* The nearest name to one that is no signal, "" if there is none. */
void mbs_nearest_signal(const mbs_mechanism *m, const char *name, char *out, size_t size);
/* signal.c: number of a new expression, -1 after an error (field: "value" for the message). */
enum { MBS_FOR_MOTION, MBS_FOR_FORCE, MBS_FOR_SENSOR, MBS_FOR_EVENT };
int mbs_add_expression(mbs_builder *b, const char *field, const char *text, int purpose);
/* The unit that a law of a force, or block, would have; what is wrong with it is told later. 0, or DAE_ERR_MEMORY. */
dae_status mbs_law_unit(mbs_builder *b, const char *text, dae_dimension *d);
/* The unit of what an expression shows, "" where there is none, or it is not known. */
void mbs_expression_unit(const mbs_mechanism *m, int expression, char *out, size_t size);
/* Names of the units of a force's states: "A". */
void mbs_state_unit(const mbs_force_data *f, int i, char *out, size_t size);
double mbs_signal_value(mbs_context *x, const mbs_signal *s);
double mbs_expression_at(mbs_context *x, int expression);

/* Adds all applied forces, gyroscopic ones and friction to x->f. */
void mbs_apply_forces(mbs_context *x);
/* Kinetic and potential energy. */
void mbs_energies(mbs_context *x, double *kinetic, double *potential);

/* reaction.c: multipliers of all rows as described (nrow) from those of the system; < 0: out of memory. */
dae_status mbs_all_multipliers(const mbs_context *x, const double *lambda, double *all);
/* Force (0..2) and torque about the point on b (3..5) of a joint on body b; x->reaction must be set. */
void mbs_joint_reaction(const mbs_context *x, const mbs_joint_data *j, double *out);
double mbs_driver_force(const mbs_context *x, int driver);
/* Those of count joints from first on, 6 numbers each. */
dae_status mbs_reactions(const mbs_mechanism *m, int first, int count, double t, const double *y,
                         const double *lambda, double *out);
/* acceleration.c: accelerations and multipliers by dense least squares; with hold, the coordinate's acceleration is
 * zero and *force keeps it so. */
dae_status mbs_accelerations(const mbs_mechanism *m, double t, const double *y, const mbs_coordinate *hold,
                             double *a, double *lambda, double *force, dae_error *err);

/* A mode in u: -1, 0 or 1, whatever rounding an integrator adds. */
static inline int mbs_mode(const double *u)
{
    return u[0] > 0.5 ? 1 : u[0] < -0.5 ? -1 : 0;
}

/* switch.c: stick, slip and rest. Numbers of their switching functions and their values; x.u must be set, lambda is
 * computed where it is needed. Values, act and start give 0 or DAE_ERR_MEMORY. */
int mbs_switch_count(const mbs_mechanism *m);
void mbs_switch_describe(const mbs_mechanism *m, int i, const char **object, const char **what,
                         dae_direction *direction);
int mbs_switch_values(const mbs_mechanism *m, double t, const double *y, double *phi);
/* What happens where function i passes zero: y is changed. */
int mbs_switch_act(const mbs_mechanism *m, int i, double t, double *y);
/* Stick or slip of everything at the start. */
int mbs_switch_start(const mbs_mechanism *m, double t, double *y);
/* After an impact of event k whose rebound was too slow: 1 if it rests now (y is changed), < 0: DAE_ERR_MEMORY. */
int mbs_switch_rest(const mbs_mechanism *m, int k, double t, double *y, double push);
void mbs_apply_rest(mbs_context *x);

/* acceleration.c: change w of all velocities by a unit impulse along coordinate q, and the row r of q'. */
dae_status mbs_response(const mbs_mechanism *m, double t, const double *y, const mbs_coordinate *q, double *w,
                        double *r);
/* 1/mass that coordinate q has with all constraints: change of its speed by a unit impulse. */
dae_status mbs_mobility(const mbs_mechanism *m, double t, const double *y, const mbs_coordinate *q,
                        double *mobility);
/* An impact along coordinate q: velocities after it. */
dae_status mbs_impact(const mbs_mechanism *m, double t, double *y, const mbs_coordinate *q,
                      double restitution, double *rebound);

/* sides.c: switches (dae_switches of daedalus/system.h) of forces, joints and expressions. Each is noted where its branch
 * is taken: a force asks which side it has to compute, and tells by what that is decided. */
typedef struct mbs_note {
    double *margin;
    int *next;
} mbs_note;
/* The frozen side of switch i, DAE_SIDE_FREE: none. */
static inline int mbs_frozen(const mbs_context *x, int i)
{
    return x->m->side && i >= 0 ? x->m->side[i] : DAE_SIDE_FREE;
}
/* +1 or -1: on which side of phi = 0 switch i stands. */
int mbs_branch(mbs_context *x, int i, double phi);
/* -1, 0 or +1: below -width, between, or above width. */
int mbs_layer(mbs_context *x, int i, double value, double width);
/* Sides of an expression, NULL: as its values say. */
const int *mbs_expression_sides(const mbs_context *x, int expression);
void mbs_note_expression(const mbs_context *x, int expression, const double *values);
dae_status mbs_number_switches(mbs_mechanism *m); /* after all forces and joints are there */
/* Drivers that jump in position or speed between t0 and t1 are an error. */
dae_status mbs_check_motions(const mbs_mechanism *m, double t0, double t1, dae_error *err);
void mbs_set_switches(mbs_mechanism *m); /* of the system */
struct mbs_tree *mbs_tree_copy(const struct mbs_tree *t, mbs_mechanism *m, dae_arena *arena);

/* topology.c */
dae_status mbs_build_tree(mbs_builder *b);
/* Marks rows of the system that follow from others at y and at a consistent state near it. */
dae_status mbs_find_redundant(mbs_builder *b, const double *y);
/* Name of the joint or driver of a scalar row as described, and which of its rows it is. */
const char *mbs_row_name(const mbs_mechanism *m, int scalar, int *row);

/* assemble.c */
/* The first given velocity from number `from` on that differs in the initial state y, in words; where to go on, 0: none. */
int mbs_mechanism_changed_velocity(const mbs_mechanism *m, const double *y, int from, char *text,
                                   size_t size);
dae_status mbs_assemble(const mbs_mechanism *m, double t, double *y, const unsigned char *fixed,
                        dae_error *err);
/* All rows as described: g, G (nrow*nv column-major), gI, gamma; any may be NULL. */
void mbs_all_rows(const mbs_context *x, double *g, double *G, double *gI, double *gamma);

#endif
