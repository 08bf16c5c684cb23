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

static const double mass[COUNT] = {1450, 600, 1980, 8286.62, 1355, 300, 1000, 943.6, 100, 11515, 33000};
static const double gravity = 9.81, kappa = 1.4, pa = 1e5, s_bellows = 39.13228;
static const double xh = -1.986, zh = 0.15, Xh = -1.61, Zh = -0.75;

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

static const element list[ELEMENTS] = {
    [TIRE_REAR] = {{-1, -1, 0, 0}, {REAR, -1, 0, 0}, 0.5, 4.4e6, 600, 0},
    [TIRE_FRONT] = {{-2, -1, 0, 0}, {FRONT, -1, 0, 0}, 0.5, 2.2e6, 300, 0},
    [BELLOWS_REAR] = {{REAR, -1, 0, 0}, {CHASSIS, CHASSIS_PITCH, -0.976, -1.34}, 0.16, 0, 21593, 0.1554},
    [BELLOWS_FRONT] = {{FRONT, -1, 0, 0}, {CHASSIS, CHASSIS_PITCH, 3.524, -1.34}, 0.16, 0, 38537, 0.0562},
    [ENGINE_REAR] =
        {{CHASSIS, CHASSIS_PITCH, 2.068, 0}, {ENGINE, ENGINE_PITCH, -0.6, 0}, 0.2, 1.5e6, 9000, 0},
    [ENGINE_FRONT] =
        {{CHASSIS, CHASSIS_PITCH, 3.268, 0}, {ENGINE, ENGINE_PITCH, 0.6, 0}, 0.2, 1.5e6, 9000, 0},
    [CABIN_REAR] =
        {{CHASSIS, CHASSIS_PITCH, 3.024, 0}, {CABIN, CABIN_PITCH, -0.82, 0}, 0.9, 1.357e5, 12218, 0},
    [CABIN_FRONT] =
        {{CHASSIS, CHASSIS_PITCH, 4.724, 0}, {CABIN, CABIN_PITCH, 0.88, 0}, 0.9, 1.357e5, 12218, 0},
    [SEAT_SPRING] = {{CABIN, CABIN_PITCH, -0.22, 0}, {SEAT, -1, 0, 0}, 0.4, 1e4, 600, 0},
    [LOAD_SPRING] = {{CHASSIS, CHASSIS_PITCH, 2.064, 0}, {LOAD, LOAD_PITCH, 2.44, 0}, 0.9, 9e5, 38500, 0}};

struct dae_problem_data {
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
static void statics(double *F)
{
    double hinge, weight, moment;
    F[SEAT_SPRING] = mass[SEAT] * gravity;
    share(mass[CABIN] * gravity + F[SEAT_SPRING], F[SEAT_SPRING] * list[SEAT_SPRING].lower.x,
          list[CABIN_REAR].upper.x, list[CABIN_FRONT].upper.x, &F[CABIN_REAR], &F[CABIN_FRONT]);
    share(mass[ENGINE] * gravity, 0, list[ENGINE_REAR].upper.x, list[ENGINE_FRONT].upper.x, &F[ENGINE_REAR],
          &F[ENGINE_FRONT]);
    share(mass[LOAD] * gravity, 0, Xh, list[LOAD_SPRING].upper.x, &hinge, &F[LOAD_SPRING]);
    weight = mass[CHASSIS] * gravity + hinge;
    moment = hinge * xh;
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
    angles a = turn(x->p);
    for (int i = 0; i < COUNT; i++) f[i] = -mass[i] * gravity;
    f[CHASSIS_PITCH] = f[ENGINE_PITCH] = f[CABIN_PITCH] = f[LOAD_PITCH] = 0;
    for (int i = 0; i < ELEMENTS; i++) {
        const element *e = &list[i];
        double low, up, dlow, dup, lever_low, lever_up, F;
        follow(&e->lower, &a, x, data->road, &low, &dlow, &lever_low);
        follow(&e->upper, &a, x, data->road, &up, &dup, &lever_up);
        double l = up - low, dl = dup - dlow;
        if (e->area > 0) {
            double ratio = (1 + s_bellows * e->l0) / (1 + s_bellows * l);
            if (!(ratio > 0)) return 1; /* the bellows are crushed */
            F = (data->rest[i] + pa * e->area) * pow(ratio, kappa) - pa * e->area - e->d * dl;
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
    (void)user;
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
    (void)user;
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
    statics(data->rest);
    p->system = (dae_system){.kind = DAE_KIND_MECH,
                             .mech = {.np = COUNT,
                                      .nv = COUNT,
                                      .ng = 1,
                                      .nlambda = 1,
                                      .mass = dae_diagonal(COUNT, mass),
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
    p->reference = end[data->road];
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

static const dae_parameter parameters[] = {{"road", SINE, 0, 2, "sine|fourier|hump", 0, "",
                                            "profile: sine wave, measured road (Fourier sum), single hump"},
                                           {0}};

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
