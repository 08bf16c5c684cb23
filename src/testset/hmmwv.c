/* The HMMWV over a bump ([RNY] section 3.2): 14 bodies with Euler parameters, 98 coordinates, 18 degrees of freedom.
 *
 * Chassis, steering rack, and at each corner an upper arm, a lower arm and a spindle with its wheel:
 *
 *     revolute    chassis - upper arm, chassis - lower arm
 *     spherical   lower arm - spindle
 *     distance    upper arm - spindle (dof = 18), or spherical (dof = 10)
 *     distance    tie rod: rack (front) or chassis (rear) - spindle
 *     prismatic   chassis - rack, held in its middle
 *
 * Springs with dampers: chassis - upper arm (very stiff), chassis - lower arm, radius rod chassis - spindle (dof = 18), tires.
 * [RNY] prints the bodies, the joint types, their counts, the stiff and the tire elements and the speed; points, masses and
 * inertias are those of Project Chrono's HMMWV, what was added is named in docs/problems/hmmwv.md.
 *
 * The road moves under the tires as a function of time: a half-cylinder of radius R, rolled over by a circle of radius rw,
 *
 *     u = sqrt((rw + R)^2 - x^2) - rw,  x = V (t - t_hit) - xc,  xc = sqrt((rw + R)^2 - rw^2),   where |x| < xc, else 0 */
#include "testset/testset.h"

#include "core/number.h"

#include <daedalus/multibody.h>

#include "testset/hmmwv_data.h"

#include <math.h>
#include <stdio.h>

enum { DOF, SPEED, BUMP, STIFFNESS, DAMPING };

static const double wheel_radius = 0.4699, hit = 0.5, wheelbase = 3.30193; /* between the wheel centers */

/* ---- Data --------------------------------------------------------------------------------------------------- */

static const double chassis_center[3] = {0.056, 0, 0.213}, rack_center[3] = {-0.250 + 1.688965, 0, 0.054};

/* Left side, as offsets from the axle point (x, 0, 0). */
typedef struct axle {
    const char *name;
    double x;
    double upper[3], lower[3], spindle[3]; /* centers of mass */
    double wheel[3];                       /* its center */
    double upper_front[3], upper_back[3];  /* pivots of the upper arm on the chassis */
    double upper_end[3];                   /* its outer point */
    double lower_front[3], lower_back[3], lower_end[3];
    double tie_inner[3], tie_outer[3];
    double spring_top[3], spring_low[3]; /* suspension on the chassis and on the lower arm */
    double k, c, free_length;            /* of the suspension */
    double rod;                          /* from the spindle to the other end of the radius rod, along x */
    double tie;                          /* length of the tie rod */
} axle;

static const axle axles[2] = {{.name = "front",
                               .x = 1.688965,
                               .upper = {-0.106, 0.589, 0.218},
                               .lower = {0, 0.547, -0.059},
                               .spindle = {-0.040, 0.875848931588537, -0.026},
                               .wheel = {-0.040, 0.910, -0.026},
                               .upper_front = {-0.048, 0.446, 0.245},
                               .upper_back = {-0.268, 0.478, 0.196},
                               .upper_end = {-0.053, 0.716, 0.215},
                               .lower_front = {0.223, 0.307, 0},
                               .lower_back = {-0.223, 0.307, 0},
                               .lower_end = {-0.036, 0.787, -0.118},
                               .tie_inner = {-0.250, 0.448, 0.054},
                               .tie_outer = {-0.176, 0.821, -0.016},
                               .spring_top = {0.104, 0.510, 0.197},
                               .spring_low = {0.097, 0.543, -0.047},
                               .k = 181496.15,
                               .c = 19015.5692,
                               .free_length = 0.3167,
                               .rod = -0.5,
                               .tie = 0.386658764287065},
                              {.name = "rear",
                               .x = -1.688965,
                               .upper = {0.124, 0.589, 0.221},
                               .lower = {0, 0.547, -0.059},
                               .spindle = {0.036, 0.875848931588537, -0.026},
                               .wheel = {0.036, 0.910, -0.026},
                               .upper_front = {0.349, 0.462, 0.228},
                               .upper_back = {0.077, 0.462, 0.224},
                               .upper_end = {0.036, 0.716, 0.216},
                               .lower_front = {0.223, 0.307, 0},
                               .lower_back = {-0.223, 0.307, 0},
                               .lower_end = {0.036, 0.787, -0.118},
                               .tie_inner = {0.223, 0.416, 0.059},
                               .tie_outer = {0.170, 0.821, -0.009},
                               .spring_top = {-0.104, 0.502, 0.256},
                               .spring_low = {-0.097, 0.543, -0.047},
                               .k = 401043.45,
                               .c = 36725.2201,
                               .free_length = 0.3347,
                               .rod = 0.5,
                               .tie = 0.414074872456661}};

static const double link_length = 0.15, stiff_length = 0.25;

/* Mass and moments of inertia of chassis, upper arm, lower arm, spindle with wheel, rack. */
static const double inertia[5][4] = {{2086.52, 1078.52, 2955.66, 3570.20},
                                     {5.813, 0.03, 0.03, 0.06276},
                                     {23.965, 0.4, 0.4, 0.8938},
                                     {90.555, 4.896271563384131, 7.58122, 4.774341563384131},
                                     {9.072, 0.60897, 0.0040824, 0.60897}};

/* ---- Building --------------------------------------------------------------------------------------------------- */

/* One corner: its axle, its side (-1: right, +1: left), its bodies and the names of its things. */
typedef struct corner {
    mbs_model *m;
    const axle *a;
    double side;
    const char *prefix;
    int upper, lower, spindle, rack;
    double upper_center[3], lower_center[3], spindle_center[3];
} corner;

/* The place of an offset on this side, in vehicle axes. */
static void place(const corner *c, const double *offset, double *out)
{
    out[0] = c->a->x + offset[0];
    out[1] = c->side * offset[1];
    out[2] = offset[2];
}

/* A point "prefix.name" of a body at a place in vehicle axes; in the design position all frames are parallel. */
static void point(const corner *c, const char *name, int body, const double *at)
{
    char full[40];
    const double *center = body == 1            ? chassis_center
                           : body == c->upper   ? c->upper_center
                           : body == c->lower   ? c->lower_center
                           : body == c->spindle ? c->spindle_center
                                                : rack_center;
    snprintf(full, sizeof full, "%s_%s", c->prefix, name);
    mbs_point p = {.name = full, .body = body, .q = {1, 0, 0, 0}};
    for (int i = 0; i < 3; i++) p.r[i] = at[i] - center[i];
    mbs_model_add_point(c->m, &p);
}

/* Points "name_a" on body a and "name_b" on body b. */
static void pair(const corner *c, const char *name, int a, const double *at_a, int b, const double *at_b)
{
    char full[32];
    snprintf(full, sizeof full, "%s_a", name);
    point(c, full, a, at_a);
    snprintf(full, sizeof full, "%s_b", name);
    point(c, full, b, at_b);
}

/* The names of a pair of points, and of what is between them. */
typedef struct names {
    char self[40], a[40], b[40];
} names;

static names between(const corner *c, const char *name)
{
    names n;
    snprintf(n.self, sizeof n.self, "%s_%s", c->prefix, name);
    snprintf(n.a, sizeof n.a, "%s_%s_a", c->prefix, name);
    snprintf(n.b, sizeof n.b, "%s_%s_b", c->prefix, name);
    return n;
}

static void joint(const corner *c, const char *name, const char *type, const double *axis, double length)
{
    names n = between(c, name);
    mbs_joint j = {.name = n.self, .type = type, .point_a = n.a, .point_b = n.b};
    if (length > 0) j.field[0] = (mbs_value){"length", .number = length};
    for (int i = 0; axis && i < 3; i++) j.axis[i] = axis[i];
    mbs_model_add_joint(c->m, &j);
}

static void spring(const corner *c, const char *name, double k, double damping, double free_length)
{
    names n = between(c, name);
    mbs_model_add_force(
        c->m,
        &(mbs_force){.name = n.self,
                     .type = "spring",
                     .point_a = n.a,
                     .point_b = n.b,
                     .field = {{"k", .number = k}, {"c", .number = damping}, {"l0", .number = free_length}}});
}

static void revolute(const corner *c, const char *name, int body, const double *front, const double *back)
{
    double f[3], b[3], axis[3];
    place(c, front, f);
    place(c, back, b);
    for (int i = 0; i < 3; i++) axis[i] = b[i] - f[i];
    pair(c, name, 1, f, body, f);
    joint(c, name, "revolute", axis, 0);
}

static void add_joints(const corner *c, int dof)
{
    const axle *a = c->a;
    double at[3], other[3];
    revolute(c, "upper_hinge", c->upper, a->upper_front, a->upper_back);
    revolute(c, "lower_hinge", c->lower, a->lower_front, a->lower_back);
    place(c, a->lower_end, at);
    pair(c, "lower_ball", c->lower, at, c->spindle, at);
    joint(c, "lower_ball", "spherical", NULL, 0);
    place(c, a->upper_end, at);
    place(c, a->upper_end, other);
    if (dof == 18) other[1] -= c->side * link_length; /* inboard: in tension under load */
    pair(c, "upper_ball", c->upper, at, c->spindle, other);
    joint(c, "upper_ball", dof == 18 ? "distance" : "spherical", NULL, dof == 18 ? link_length : 0);
    place(c, a->tie_inner, at);
    place(c, a->tie_outer, other);
    pair(c, "tie_rod", a->x > 0 ? c->rack : 1, at, c->spindle, other);
    joint(c, "tie_rod", "distance", NULL, a->tie);
}

static void add_forces(const corner *c, int dof, const double *par)
{
    const axle *a = c->a;
    double at[3], other[3];
    for (int i = 0; i < 3; i++) at[i] = c->upper_center[i] + (i == 2 ? stiff_length : 0);
    pair(c, "stiff", 1, at, c->upper, c->upper_center);
    spring(c, "stiff", par[STIFFNESS], par[DAMPING], stiff_length);
    place(c, a->spring_top, at);
    place(c, a->spring_low, other);
    pair(c, "suspension", 1, at, c->lower, other);
    spring(c, "suspension", a->k, a->c, a->free_length);
    if (dof == 18) {
        place(c, a->upper_end, other);
        other[1] -= c->side * link_length;
        for (int i = 0; i < 3; i++) at[i] = other[i] + (i == 0 ? a->rod : 0);
        pair(c, "radius_rod", 1, at, c->spindle, other);
        spring(c, "radius_rod", 1e5, 2000, 0.5);
    }
    place(c, a->wheel, at);
    point(c, "wheel", c->spindle, at);
    char name[40], where[40], road[320] = "0";
    snprintf(name, sizeof name, "%s_tire", c->prefix);
    snprintf(where, sizeof where, "%s_wheel", c->prefix);
    if (par[BUMP] > 0) {
        double top = wheel_radius + par[BUMP], xc = sqrt(top * top - wheel_radius * wheel_radius);
        double first = hit + (a->x < 0 ? wheelbase / par[SPEED] : 0);
        dae_snprintf(
            road, sizeof road,
            "if(abs(%.17g*(t - %.17g) - %.17g) < %.17g, sqrt(max(%.17g - (%.17g*(t - %.17g) - %.17g)^2, "
            "0.01)) - %.17g, 0)",
            par[SPEED], first, xc, xc, top * top, par[SPEED], first, xc, wheel_radius);
    }
    mbs_model_add_force(c->m, &(mbs_force){.name = name,
                                           .type = "tire",
                                           .point_b = where,
                                           .value = {road},
                                           .count = 1,
                                           .field = {{"k", .number = 296325},
                                                     {"c", .number = 3502},
                                                     {"radius", .number = 0.493},
                                                     {"pull", .number = 1}}});
}

/* A body at rest_position[model][row]; mirrored: on the left side. */
static int add_body(mbs_model *m, const char *name, int kind, const double *rest, int mirrored, double speed)
{
    double s = mirrored ? -1 : 1;
    return mbs_model_add_body(m,
                              &(mbs_body){.name = name,
                                          .mass = inertia[kind][0],
                                          .inertia = {inertia[kind][1], inertia[kind][2], inertia[kind][3]},
                                          .center = {rest[0], s * rest[1], rest[2]},
                                          .q = {rest[3], s * rest[4], rest[5], s * rest[6]},
                                          .v = {speed, 0, 0}});
}

static mbs_model *vehicle(const double *par)
{
    static const char *const prefix[4] = {"rf", "lf", "rr", "lr"};
    int dof = par[DOF] == 0 ? 18 : 10;
    const double(*rest)[7] = rest_position[dof == 18 ? 0 : 1];
    mbs_model *m = mbs_model_create("hmmwv", MBS_SPATIAL);
    mbs_model_set_gravity(m, 0, 0, -9.81);
    add_body(m, "chassis", 0, rest[0], 0, par[SPEED]);
    for (int k = 0; k < 4; k++) {
        static const char *const part[3] = {"upper", "lower", "spindle"};
        for (int i = 0; i < 3; i++) {
            char name[32];
            snprintf(name, sizeof name, "%s_%s", prefix[k], part[i]);
            add_body(m, name, 1 + i, rest[(k < 2 ? 1 : 4) + i], k % 2, par[SPEED]);
        }
    }
    add_body(m, "rack", 4, rest[7], 0, par[SPEED]);
    for (int k = 0; k < 4; k++) {
        corner c = {.m = m,
                    .a = &axles[k / 2],
                    .side = k % 2 ? 1 : -1,
                    .prefix = prefix[k],
                    .upper = 2 + 3 * k,
                    .lower = 3 + 3 * k,
                    .spindle = 4 + 3 * k,
                    .rack = 14};
        place(&c, c.a->upper, c.upper_center);
        place(&c, c.a->lower, c.lower_center);
        place(&c, c.a->spindle, c.spindle_center);
        add_joints(&c, dof);
        add_forces(&c, dof, par);
    }
    mbs_point guide = {.name = "guide", .body = 1, .q = {1, 0, 0, 0}};
    for (int i = 0; i < 3; i++) guide.r[i] = rack_center[i] - chassis_center[i];
    mbs_model_add_point(m, &guide);
    mbs_model_add_point(m, &(mbs_point){.name = "middle", .body = 14, .q = {1, 0, 0, 0}});
    mbs_model_add_joint(m, &(mbs_joint){.name = "steering",
                                        .type = "prismatic",
                                        .point_a = "guide",
                                        .point_b = "middle",
                                        .axis = {0, 1, 0}});
    mbs_model_add_driver(m, &(mbs_driver){.name = "lock", .joint = "steering", .value = "0"});
    return m;
}

/* ---- The problem --------------------------------------------------------------------------------------------------- */

/* y of eight bodies and the mirror images of six of them. */
static void unfold(const double (*position)[7], const double (*velocity)[6], double *y)
{
    static const int from[14] = {0, 1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6, 7};
    for (int b = 0; b < 14; b++) {
        double s = (b >= 4 && b <= 6) || (b >= 10 && b <= 12) ? -1 : 1;
        const double *p = position[from[b]], *v = velocity[from[b]];
        for (int i = 0; i < 7; i++) y[7 * b + i] = (i == 1 || i == 4 || i == 6 ? s : 1) * p[i];
        for (int i = 0; i < 6; i++) y[98 + 6 * b + i] = (i == 1 || i == 3 || i == 5 ? s : 1) * v[i];
    }
}

static void set_reference(dae_problem *p)
{
    double *end = dae_problem_reals(p, 182);
    unsigned char *scored = dae_problem_take(p, 182, 1);
    if (!end || !scored) return;
    int model = p->parameter[DOF] == 0 ? 0 : 1;
    unfold(end_position[model], end_velocity[model], end);
    for (int i = 0; i < 182; i++) scored[i] = fabs(end[i]) > 0.1; /* others: small deviations from zero */
    p->reference = end;
    p->reference_digits = 8;
    p->reference_source =
        "RK4 on the index-reduced system and Radau IIA of order 9 on partitioned coordinates agree to 3e-12";
    p->scored = scored;
}

static void destroy_mechanism(void *object)
{
    dae_problem_destroy(object);
}

static dae_status setup(dae_problem *p, dae_error *err)
{
    static const int plot[] = {2, 5, 23,
                               65}; /* height and pitch of the chassis, heights of the right wheels */
    mbs_model *m = vehicle(p->parameter);
    dae_problem *from = mbs_problem_create(m, err);
    mbs_model_destroy(m);
    if (!from) return err && err->status < 0 ? err->status : DAE_ERR_MEMORY;
    dae_problem_own(p, from, destroy_mechanism);
    double V = p->parameter[SPEED], R = p->parameter[BUMP], *jump = dae_problem_reals(p, 4);
    if (!jump) return DAE_OK;
    double over = 2 * sqrt((2 * wheel_radius + R) * R) / V, rear = hit + wheelbase / V;
    jump[0] = hit;
    jump[1] = hit + over;
    jump[2] = rear;
    jump[3] = rear + over;
    p->system = from->system;
    p->y0 = from->y0;
    p->component = from->component;
    p->unit = from->unit;
    p->time_unit = from->time_unit;
    p->t_end = 5;
    p->rtol = p->atol = 1e-4;
    p->h0 = 1e-3;
    p->discontinuity = jump;
    p->ndiscontinuity = R > 0 ? 4 : 0;
    p->plot = plot;
    p->nplot = 4;
    int standard = 1;
    for (int i = SPEED; i <= DAMPING; i++) standard &= p->parameter[i] == p->info->parameter[i].value;
    if (standard) set_reference(p);
    return DAE_OK;
}

static const dae_parameter parameters[] = {
    {.name = "dof",
     .value = 0,
     .choices = "18|10",
     .help = "18: a short link between upper arm and spindle; 10: a ball joint"},
    {"speed", 4.4704, 0.1, 100, NULL, 0, "m/s", "of the vehicle: 10 miles per hour"},
    {"bump", 0.05, 0, 0.4, NULL, 0, "m", "radius of the half-cylinder on the road; 0: a flat road"},
    {"k", 2e7, 0, 1e12, NULL, 0, "N/m", "stiffness of the springs between chassis and upper arms"},
    {"c", 2e6, 0, 1e12, NULL, 0, "N s/m", "their damping"},
    {0}};

const dae_problem_entry dae_problem_hmmwv = {
    .info = {.name = "hmmwv",
             .title = "HMMWV over a bump, 14 bodies",
             .kind = DAE_KIND_MECH,
             .n = 182,
             .index = 3,
             .stiff = 1,
             .origin = "mechanics, vehicle dynamics with stiff dampers ([RNY] section 3.2)",
             .parameter = parameters},
    .setup = setup,
};
