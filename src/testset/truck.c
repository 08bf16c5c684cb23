/* Planar truck on a road, [MEXX] section 5.3: eleven coordinates (heights and pitch angles), one constraint.
 *
 *     p = (rear axle, front axle, chassis, its pitch, engine, its pitch, cabin, its pitch, seat, load, its pitch)
 *     0 = g = p3 + xh sin p4 + zh cos p4 - p10 - Xh sin p11 - Zh cos p11        hinge of the loading area
 *
 * Ten vertical force elements between the bodies: tires on the road, pneumatic suspensions, mounts, seat, load spring.
 * An element of length l (upper minus lower end) pushes its ends apart with
 *
 *     linear      F = Fn - k (l - l0) - d l'
 *     pneumatic   F = (Fn + pa A) ((1 + s l0)/(1 + s l))^kappa - pa A - d l'
 *
 * where Fn is its force at rest, which follows from statics: the truck starts in equilibrium.
 *
 * Bodies and coordinates: Simeon, Grupp, Fuehrer, Rentrop, J. Comp. Appl. Math. 50 (1994) 245-258, whose tables could not
 * be obtained; the data are those of the reduced truck of Eich-Soellner and Fuehrer, Numerical Methods in Multibody
 * Dynamics, 1998, with the lumped bodies split (docs/problems/truck.md). */
#include "testset/testset.h"

#include <math.h>
#include <string.h>

#define N 22
#define SMALL 1e-3 /* of atol, for angles and velocities */
#define PI 3.14159265358979323846

enum {
    REAR,
    FRONT,
    CHASSIS,
    CHASSIS_PITCH,
    ENGINE,
    ENGINE_PITCH,
    CABIN,
    CABIN_PITCH,
    SEAT,
    LOAD,
    LOAD_PITCH,
    COUNT
};
enum { SINE, FOURIER, HUMP };

static const double zh = 0.15, Zh = -0.75;

/* In the order of the parameters. */
typedef struct constants {
    double mass[COUNT]; /* and moments of inertia */
    double gravity, kappa, pa, s_bellows, xh, Xh;
    double k_tire_rear, k_tire_front, k_engine, k_cabin, k_seat, k_load;
    double d_tire_rear, d_tire_front, d_bellows_rear, d_bellows_front, d_engine, d_cabin, d_seat, d_load;
    double A_rear, A_front;
} constants;

/* ---- Force elements -------------------------------------------------------------------------------- */

/* A point of a body: its height is p[height] + x sin(p[pitch]) + z cos(p[pitch]). */
typedef struct point {
    int height,
        pitch; /* pitch -1: the body has none; height -1: the road under the rear, -2: the front axle */
    double x, z;
} point;

typedef struct element {
    point lower, upper;
    double l0, k, d, area; /* area > 0: pneumatic */
} element;

enum {
    TIRE_REAR,
    TIRE_FRONT,
    BELLOWS_REAR,
    BELLOWS_FRONT,
    ENGINE_REAR,
    ENGINE_FRONT,
    CABIN_REAR,
    CABIN_FRONT,
    SEAT_SPRING,
    LOAD_SPRING,
    ELEMENTS
};

static void make_elements(const constants *c, element *list)
{
    const element made[ELEMENTS] = {
        [TIRE_REAR] = {{-1, -1, 0, 0}, {REAR, -1, 0, 0}, 0.5, c->k_tire_rear, c->d_tire_rear, 0},
        [TIRE_FRONT] = {{-2, -1, 0, 0}, {FRONT, -1, 0, 0}, 0.5, c->k_tire_front, c->d_tire_front, 0},
        [BELLOWS_REAR] = {{REAR, -1, 0, 0},
                          {CHASSIS, CHASSIS_PITCH, -0.976, -1.34},
                          0.16,
                          0,
                          c->d_bellows_rear,
                          c->A_rear},
        [BELLOWS_FRONT] = {{FRONT, -1, 0, 0},
                           {CHASSIS, CHASSIS_PITCH, 3.524, -1.34},
                           0.16,
                           0,
                           c->d_bellows_front,
                           c->A_front},
        [ENGINE_REAR] = {{CHASSIS, CHASSIS_PITCH, 2.068, 0},
                         {ENGINE, ENGINE_PITCH, -0.6, 0},
                         0.2,
                         c->k_engine,
                         c->d_engine,
                         0},
        [ENGINE_FRONT] = {{CHASSIS, CHASSIS_PITCH, 3.268, 0},
                          {ENGINE, ENGINE_PITCH, 0.6, 0},
                          0.2,
                          c->k_engine,
                          c->d_engine,
                          0},
        [CABIN_REAR] = {{CHASSIS, CHASSIS_PITCH, 3.024, 0},
                        {CABIN, CABIN_PITCH, -0.82, 0},
                        0.9,
                        c->k_cabin,
                        c->d_cabin,
                        0},
        [CABIN_FRONT] = {{CHASSIS, CHASSIS_PITCH, 4.724, 0},
                         {CABIN, CABIN_PITCH, 0.88, 0},
                         0.9,
                         c->k_cabin,
                         c->d_cabin,
                         0},
        [SEAT_SPRING] = {{CABIN, CABIN_PITCH, -0.22, 0}, {SEAT, -1, 0, 0}, 0.4, c->k_seat, c->d_seat, 0},
        [LOAD_SPRING] = {
            {CHASSIS, CHASSIS_PITCH, 2.064, 0}, {LOAD, LOAD_PITCH, 2.44, 0}, 0.9, c->k_load, c->d_load, 0}};
    memcpy(list, made, sizeof made);
}

struct dae_problem_data {
    constants is;
    element list[ELEMENTS];
    int road;
    double rest[ELEMENTS]; /* forces at rest */
};

/* Shares of a load W (with moment W x) on two supports at a and b. */
static void share(double W, double moment, double a, double b, double *at_a, double *at_b)
{
    *at_b = (moment - a * W) / (b - a);
    *at_a = W - *at_b;
}

/* Forces at rest, from the seat down to the tires. */
static void statics(const constants *c, const element *list, double *F)
{
    const double *mass = c->mass, gravity = c->gravity;
    double hinge, weight, moment;
    F[SEAT_SPRING] = mass[SEAT] * gravity;
    share(mass[CABIN] * gravity + F[SEAT_SPRING], F[SEAT_SPRING] * list[SEAT_SPRING].lower.x,
          list[CABIN_REAR].upper.x, list[CABIN_FRONT].upper.x, &F[CABIN_REAR], &F[CABIN_FRONT]);
    share(mass[ENGINE] * gravity, 0, list[ENGINE_REAR].upper.x, list[ENGINE_FRONT].upper.x, &F[ENGINE_REAR],
          &F[ENGINE_FRONT]);
    share(mass[LOAD] * gravity, 0, c->Xh, list[LOAD_SPRING].upper.x, &hinge, &F[LOAD_SPRING]);
    weight = mass[CHASSIS] * gravity + hinge;
    moment = hinge * c->xh;
    for (int i = ENGINE_REAR; i < ELEMENTS; i++) {
        if (i == SEAT_SPRING) continue;
        weight += F[i];
        moment += F[i] * list[i].lower.x;
    }
    share(weight, moment, list[BELLOWS_REAR].upper.x, list[BELLOWS_FRONT].upper.x, &F[BELLOWS_REAR],
          &F[BELLOWS_FRONT]);
    F[TIRE_REAR] = F[BELLOWS_REAR] + mass[REAR] * gravity;
    F[TIRE_FRONT] = F[BELLOWS_FRONT] + mass[FRONT] * gravity;
}

/* ---- Road ------------------------------------------------------------------------------------------ */

#define DELAY 0.3  /* of the rear axle: 4.5 m at 15 m/s */
#define ROUGH 10.0 /* length of the rough road (Fourier) in s */
#define HUMP_AT (2.0 / 15)

static void road(int kind, double t, double *u, double *du)
{
    static const double n[10] = {5, 8, 11, 15, 20, 26, 33, 41, 50, 60};
    static const double c[10] = {.020, .014, .0105, .0080, .0060, .0046, .0036, .0029, .0024, .0020};
    static const double phase[10] = {.3, 2.1, 4.0, 1.2, 5.1, 3.3, .9, 2.7, 5.8, 4.4};
    *u = *du = 0;
    if (kind == SINE && t > 0) {
        *u = 0.025 * (1 - cos(3 * PI * t));
        *du = 0.025 * 3 * PI * sin(3 * PI * t);
    }
    if (kind == FOURIER && t > 0 && t < ROUGH) {
        double w = PI / ROUGH, sum = 0, rate = 0, s = sin(w * t), window = s * s;
        for (int k = 0; k < 10; k++) {
            double angle = 2 * w * n[k] * t + phase[k];
            sum += c[k] * sin(angle);
            rate += c[k] * 2 * w * n[k] * cos(angle);
        }
        *u = window * sum;
        *du = window * rate + 2 * w * s * cos(w * t) * sum;
    }
    if (kind == HUMP && t > HUMP_AT) {
        double x = t - HUMP_AT, x5 = x * x * x * x * x, decay = 0.001 * exp(-x);
        *u = x5 * x * decay;
        *du = x5 * (6 - x) * decay;
    }
}

/* ---- Equations ------------------------------------------------------------------------------------- */

static int is_pitch(int i)
{
    return i == CHASSIS_PITCH || i == ENGINE_PITCH || i == CABIN_PITCH || i == LOAD_PITCH;
}

typedef struct angles {
    double s[COUNT], c[COUNT]; /* of the pitch coordinates */
} angles;

static angles turn(const double *p)
{
    angles a;
    for (int i = CHASSIS_PITCH; i < COUNT; i++) {
        if (!is_pitch(i)) continue;
        double angle = p[i];
        a.s[i] = sin(angle);
        a.c[i] = cos(angle);
    }
    return a;
}

/* Height and its rate of a point; lever = d(height)/d(pitch). */
static void follow(const point *at, const angles *a, const dae_mech_point *x, int kind, double *height,
                   double *rate, double *lever)
{
    *lever = 0;
    if (at->height < 0) {
        road(kind, at->height == -1 ? x->t - DELAY : x->t, height, rate);
        return;
    }
    *height = x->p[at->height];
    *rate = x->v[at->height];
    if (at->pitch < 0) return;
    *height += at->x * a->s[at->pitch] + at->z * a->c[at->pitch];
    *lever = at->x * a->c[at->pitch] - at->z * a->s[at->pitch];
    *rate += *lever * x->v[at->pitch];
}

static int force(const dae_mech_point *x, double *f, void *user)
{
    const dae_problem_data *data = user;
    const constants *c = &data->is;
    angles a = turn(x->p);
    for (int i = 0; i < COUNT; i++) f[i] = -c->mass[i] * c->gravity;
    f[CHASSIS_PITCH] = f[ENGINE_PITCH] = f[CABIN_PITCH] = f[LOAD_PITCH] = 0;
    for (int i = 0; i < ELEMENTS; i++) {
        const element *e = &data->list[i];
        double low, up, dlow, dup, lever_low, lever_up, F;
        follow(&e->lower, &a, x, data->road, &low, &dlow, &lever_low);
        follow(&e->upper, &a, x, data->road, &up, &dup, &lever_up);
        double l = up - low, dl = dup - dlow;
        if (e->area > 0) {
            double ratio = (1 + c->s_bellows * e->l0) / (1 + c->s_bellows * l);
            if (!(ratio > 0)) return 1; /* the bellows are crushed */
            F = (data->rest[i] + c->pa * e->area) * pow(ratio, c->kappa) - c->pa * e->area - e->d * dl;
        } else {
            F = data->rest[i] - e->k * (l - e->l0) - e->d * dl;
        }
        f[e->upper.height] += F;
        if (e->upper.pitch >= 0) f[e->upper.pitch] += F * lever_up;
        if (e->lower.height < 0) continue;
        f[e->lower.height] -= F;
        if (e->lower.pitch >= 0) f[e->lower.pitch] -= F * lever_low;
    }
    return 0;
}

static int constraint_sparse(const dae_mech_point *x, double *g, double *G, void *user)
{
    const double *p = x->p, chassis = p[CHASSIS_PITCH], load = p[LOAD_PITCH];
    const dae_problem_data *data = user;
    double xh = data->is.xh, Xh = data->is.Xh;
    double s4 = sin(chassis), c4 = cos(chassis), s11 = sin(load), c11 = cos(load);
    if (g) g[0] = p[CHASSIS] + xh * s4 + zh * c4 - p[LOAD] - Xh * s11 - Zh * c11;
    if (G) {
        G[0] = 1;
        G[1] = xh * c4 - zh * s4;
        G[2] = -1;
        G[3] = -Xh * c11 + Zh * s11;
    }
    return 0;
}

static int constraint(const dae_mech_point *x, double *g, double *G, void *user)
{
    double values[4];
    int r = constraint_sparse(x, g, G ? values : NULL, user);
    if (!G) return r;
    G[CHASSIS] = values[0];
    G[CHASSIS_PITCH] = values[1];
    G[LOAD] = values[2];
    G[LOAD_PITCH] = values[3];
    return r;
}

static int gamma_term(const dae_mech_point *x, double *out, void *user)
{
    double chassis = x->p[CHASSIS_PITCH], load = x->p[LOAD_PITCH], w4 = x->v[CHASSIS_PITCH],
           w11 = x->v[LOAD_PITCH];
    const dae_problem_data *data = user;
    double xh = data->is.xh, Xh = data->is.Xh;
    out[0] =
        -w4 * w4 * (xh * sin(chassis) + zh * cos(chassis)) + w11 * w11 * (Xh * sin(load) + Zh * cos(load));
    return 0;
}

/* ---- The problem ----------------------------------------------------------------------------------- */

static const int colptr[COUNT + 1] = {0, 0, 0, 1, 2, 2, 2, 2, 2, 2, 3, 4}, rowind[4];
static const int block[7] = {1, 1, 2, 2, 2, 1, 2}, parent[7] = {-1, -1, -1, -1, -1, -1, 2},
                 row_joint[1] = {6};

static const double end[3][N] =
    {/* at t_end */
     {0.54067522444706,   0.49917839777006, 2.0094878310869,   0.0047312601405439, 2.2220461562985,
      0.0049597732280062, 2.9378799686306,  0.011094448267221, 3.3932981541121,    2.90268955966,
      0.0016153009905962, 0.09578491868884, -0.0724109407373,  0.2984702486957,    -0.1685078595171,
      -0.1556905710408,   -0.1737875885408, -0.3848792928574,  -0.1758187719176,   -0.3802352283927,
      0.3499715793711,    -0.1760775179085},
     {0.49995295922406,    0.50000134582268,    1.9997965693919,     5.9383172956488e-05, 2.1999537190264,
      6.043035003176e-05,  2.9000289763112,     7.6697868085132e-05, 3.300019144795,      2.8997539910075,
      4.6806014337411e-05, 0.0001566007934687,  -3.074014855536e-07, 0.0004369022083694,  -0.0001144151266772,
      0.0001366627693679,  -0.0001173710863838, 2.623905666842e-05,  -5.44031571531e-05,  0.0001546497335443,
      0.0004864299652924,  -0.0001103761355914},
     {0.50017826446079,    0.50014443644771,    2.0001700305749,      -7.9132660029368e-06,
      2.2001488861663,     -7.912304782141e-06, 2.9001393265278,      -7.8760495866466e-06,
      3.3001403674122,     2.9001728052406,     -8.0379203051577e-06, -0.0001236109961259,
      -0.0001008267863662, -0.0001180941736546, 5.331329178499e-06,   -0.0001038495402597,
      5.330739817097e-06,  -9.74152068434e-05,  5.307833146015e-06,   -9.813324911849e-05,
      -0.0001199678169173, 5.412632004903e-06}};

static const dae_parameter parameters[] = {
    {"road", SINE, 0, 2, "sine|fourier|hump", 0, "",
     "profile: sine wave, measured road (Fourier sum), single hump"},
    {"m_rear", 1450, 1e-6, 1e12, NULL, 0, "kg", "mass of the rear axle"},
    {"m_front", 600, 1e-6, 1e12, NULL, 0, "kg", "mass of the front axle"},
    {"m_chassis", 1980, 1e-6, 1e12, NULL, 0, "kg", "mass of the chassis"},
    {"I_chassis", 8286.62, 1e-6, 1e12, NULL, 0, "kg m^2", "its moment of inertia"},
    {"m_engine", 1355, 1e-6, 1e12, NULL, 0, "kg", "mass of the engine"},
    {"I_engine", 300, 1e-6, 1e12, NULL, 0, "kg m^2", "its moment of inertia"},
    {"m_cabin", 1000, 1e-6, 1e12, NULL, 0, "kg", "mass of the cabin"},
    {"I_cabin", 943.6, 1e-6, 1e12, NULL, 0, "kg m^2", "its moment of inertia"},
    {"m_seat", 100, 1e-6, 1e12, NULL, 0, "kg", "mass of the seat with the driver"},
    {"m_load", 11515, 1e-6, 1e12, NULL, 0, "kg", "mass of the loading area"},
    {"I_load", 33000, 1e-6, 1e12, NULL, 0, "kg m^2", "its moment of inertia"},
    {"g", 9.81, 1e-9, 1e6, NULL, 0, "m/s^2", "gravity"},
    {"kappa", 1.4, 0, 10, NULL, 0, "", "exponent of the bellows"},
    {"pa", 1e5, 0, 1e9, NULL, 0, "Pa", "pressure of the air"},
    {"s", 39.13228, 0, 1e6, NULL, 0, "1/m", "stiffness of the bellows per length"},
    {"xh", -1.986, 1, 0, NULL, 0, "m", "hinge of the loading area on the chassis"},
    {"Xh", -1.61, 1, 0, NULL, 0, "m", "the same on the loading area"},
    {"k_tire_rear", 4.4e6, 0, 1e12, NULL, 0, "N/m", "stiffness of the rear tires"},
    {"k_tire_front", 2.2e6, 0, 1e12, NULL, 0, "N/m", "stiffness of the front tires"},
    {"k_engine", 1.5e6, 0, 1e12, NULL, 0, "N/m", "stiffness of the mounts of the engine"},
    {"k_cabin", 1.357e5, 0, 1e12, NULL, 0, "N/m", "stiffness of the springs of the cabin"},
    {"k_seat", 1e4, 0, 1e12, NULL, 0, "N/m", "stiffness of the seat"},
    {"k_load", 9e5, 0, 1e12, NULL, 0, "N/m", "stiffness of the load spring"},
    {"d_tire_rear", 600, 0, 1e9, NULL, 0, "N s/m", "damping of the rear tires"},
    {"d_tire_front", 300, 0, 1e9, NULL, 0, "N s/m", "damping of the front tires"},
    {"d_bellows_rear", 21593, 0, 1e9, NULL, 0, "N s/m", "damping of the rear suspension"},
    {"d_bellows_front", 38537, 0, 1e9, NULL, 0, "N s/m", "damping of the front suspension"},
    {"d_engine", 9000, 0, 1e9, NULL, 0, "N s/m", "damping of the mounts of the engine"},
    {"d_cabin", 12218, 0, 1e9, NULL, 0, "N s/m", "damping of the cabin"},
    {"d_seat", 600, 0, 1e9, NULL, 0, "N s/m", "damping of the seat"},
    {"d_load", 38500, 0, 1e9, NULL, 0, "N s/m", "damping of the load spring"},
    {"A_rear", 0.1554, 1e-9, 1e3, NULL, 0, "m^2", "area of the rear bellows"},
    {"A_front", 0.0562, 1e-9, 1e3, NULL, 0, "m^2", "area of the front bellows"},
    {0}};

static dae_status setup(dae_problem *p, dae_error *err)
{
    static const double y0[N] = {0.5, 0.5, 2, 0, 2.2, 0, 2.9, 0, 3.3, 2.9, 0};
    static const double t_end[3] = {10, 15, 20};
    /* Jumps of the second (sine, Fourier) or sixth derivative of the road under either axle. */
    static const double kink[3][3] = {{DELAY}, {DELAY, ROUGH, ROUGH + DELAY}, {HUMP_AT, HUMP_AT + DELAY}};
    static const int kinks[3] = {1, 3, 2}, plot[] = {REAR, FRONT, CHASSIS, CABIN, SEAT, LOAD};
    dae_problem_data *data = dae_problem_take(p, 1, sizeof *data);
    (void)err;
    if (!data) return DAE_OK;
    data->road = (int)dae_problem_parameter(p, "road");
    dae_problem_constants(p, 1, &data->is, sizeof data->is);
    make_elements(&data->is, data->list);
    statics(&data->is, data->list, data->rest);
    int is_default = dae_problem_is_default_from(p, 1);
    p->system = (dae_system){.kind = DAE_KIND_MECH,
                             .mech = {.np = COUNT,
                                      .nv = COUNT,
                                      .ng = 1,
                                      .nlambda = 1,
                                      .mass = dae_diagonal(COUNT, data->is.mass),
                                      .force = force,
                                      .constraint = constraint,
                                      .gamma = gamma_term,
                                      .mass_block = block,
                                      .nblock = 7,
                                      .G_colptr = colptr,
                                      .G_rowind = rowind,
                                      .constraint_sparse = constraint_sparse,
                                      .parent = parent,
                                      .row_joint = row_joint,
                                      .user = data}};
    p->t_end = t_end[data->road];
    p->y0 = y0;
    p->discontinuity = kink[data->road];
    p->ndiscontinuity = kinks[data->road];
    p->rtol = p->atol = 1e-5;
    double *factor =
        dae_problem_reals(p, N); /* heights are of size 1, all else is that much smaller when quiet */
    for (int i = 0; factor && i < N; i++) factor[i] = i < COUNT && !is_pitch(i) ? 1 : SMALL;
    p->atol_factor = factor;
    p->h0 = 1e-3;
    p->reference = is_default ? end[data->road] : NULL;
    p->reference_digits = 12;
    p->reference_source =
        "descriptor form and the ODE in ten coordinates in extended precision agree to 14 digits";
    p->time_unit = "s";
    dae_problem_names(p, 0, COUNT, "p%d");
    dae_problem_names(p, COUNT, COUNT, "v%d");
    for (int i = 0; i < COUNT; i++) {
        dae_problem_units(p, i, 1, is_pitch(i) ? "rad" : "m");
        dae_problem_units(p, COUNT + i, 1, is_pitch(i) ? "rad/s" : "m/s");
    }
    p->plot = plot;
    p->nplot = 6;
    return DAE_OK;
}

const dae_problem_entry dae_problem_truck = {
    .info = {.name = "truck",
             .title = "Planar truck on a road",
             .kind = DAE_KIND_MECH,
             .n = N,
             .index = 3,
             .origin = "vehicle dynamics ([MEXX] section 5.3; Simeon, Grupp, Fuehrer, Rentrop 1994)",
             .parameter = parameters},
    .setup = setup,
};
