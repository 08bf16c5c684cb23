/* Andrews' squeezing mechanism: seven rigid bodies in the plane, driven by a motor, index 3.
 *
 *     q' = v,   v' = w,   0 = M(q) w - f(q,v) + G(q)^T lambda,   and one of
 *     0 = g(q) (index 3),   0 = G(q) v (index 2),   0 = G(q) w + gamma(q,v) (index 1)
 *
 * State: q (7), v (7), w (7), lambda (6). The six constraints close three loops in the plane. As complex
 * numbers (x + iy) every one is a sum of rotating vectors E = c exp(i theta):
 *
 *     g1 + i g2 = E1 + E12 + E3 - B           E1  =  rr exp(i q1)       E12 = -d exp(i (q1+q2))
 *     g3 + i g4 = E1 + E12 + E45 + E5 - A     E3  =  i ss exp(i q3)     E45 =  i e exp(i (q4+q5))
 *     g5 + i g6 = E1 + E12 + E67 + E7 - A     E5  = -zt exp(i q5)       E67 = -zf exp(i (q6+q7))
 *                                             E7  =  i u exp(i q7)
 *
 * so that a derivative is a multiplication by i theta', and G, G^T lambda, gamma and all their
 * derivatives come from the same seven vectors.
 *
 * D. Giles 1978, D. Manning 1981; Hairer, Wanner, Solving ODEs II, VII.7; Test Set for IVP Solvers,
 * release 2.4, section II.13, whose Jacobian neglects the derivatives of M, G and f: here it is exact. */
#include "testset/seven_body.h"

#include <math.h>
#include <string.h>

#define N 27
#define Q 0 /* first rows and columns of the parts of the state */
#define V 7
#define W 14
#define LAMBDA 21

typedef dae_squeezer squeezer;

/* ---- The mechanism at one position ----------------------------------------------------------- */

struct vec {
    double x, y;
};

/* The rotating vectors, sines and cosines of the inner angles and the mass matrix. */
struct position {
    struct vec E1, E12, E3, E45, E5, E67, E7;
    double s2, c2, s3, c3, s4, c4, s6, c6;
    double M11, M12, M22, M33, M44, M45, M55, M66, M67, M77;
    double P, S, R; /* coupling in M: P cos q2, S sin q4, R sin q6 */
};

static void locate(const squeezer *k, const double *q, struct position *at)
{
    double s1 = sin(q[0]), cos1 = cos(q[0]), s2 = sin(q[1]), c2 = cos(q[1]), s3 = sin(q[2]), c3 = cos(q[2]);
    double s4 = sin(q[3]), c4 = cos(q[3]), s5 = sin(q[4]), c5 = cos(q[4]);
    double s6 = sin(q[5]), c6 = cos(q[5]), s7 = sin(q[6]), c7 = cos(q[6]);
    at->E1 = (struct vec){k->rr * cos1, k->rr * s1};
    at->E12 = (struct vec){-k->d * (cos1 * c2 - s1 * s2), -k->d * (s1 * c2 + cos1 * s2)};
    at->E3 = (struct vec){-k->ss * s3, k->ss * c3};
    at->E45 = (struct vec){-k->e * (s4 * c5 + c4 * s5), k->e * (c4 * c5 - s4 * s5)};
    at->E5 = (struct vec){-k->zt * c5, -k->zt * s5};
    at->E67 = (struct vec){-k->zf * (c6 * c7 - s6 * s7), -k->zf * (s6 * c7 + c6 * s7)};
    at->E7 = (struct vec){-k->u * s7, k->u * c7};
    at->s2 = s2;
    at->c2 = c2;
    at->s3 = s3;
    at->c3 = c3;
    at->s4 = s4;
    at->c4 = c4;
    at->s6 = s6;
    at->c6 = c6;
    at->P = k->P;
    at->S = k->S;
    at->R = k->R;
    at->M22 = k->M22;
    at->M12 = at->M22 - at->P * c2;
    at->M11 = k->M11 - 2 * at->P * c2;
    at->M33 = k->M33;
    at->M44 = k->M44;
    at->M45 = at->M44 + at->S * s4;
    at->M55 = k->M55 + 2 * at->S * s4;
    at->M66 = k->M66;
    at->M67 = at->M66 - at->R * s6;
    at->M77 = k->M77 - 2 * at->R * s6;
}

/* The moment of the spring on body 3, f3 = F D.D' with D from C to the end of the spring; its derivative
 * by q3 where it is wanted. */
static double spring(const squeezer *k, const struct position *at, double *derivative)
{
    double px = k->sd * at->c3 + k->sc * at->s3, py = k->sd * at->s3 - k->sc * at->c3; /* from B */
    double Dx = px + (k->xb - k->xc), Dy = py + (k->yb - k->yc);
    double L2 = Dx * Dx + Dy * Dy, stretch = k->l0 / sqrt(L2), F = k->c0 * (stretch - 1);
    double turn = Dy * px - Dx * py; /* D.D', D' = (-py, px) */
    if (derivative) {
        double dF = -k->c0 * stretch / L2 * turn;
        *derivative = dF * turn + F * (px * px + py * py - Dx * px - Dy * py);
    }
    return F * turn;
}

/* ---- The equations --------------------------------------------------------------------------- */

/* out = M w - f + G^T lambda */
static void motion(const squeezer *k, const struct position *at, const double *y, double *out)
{
    const double *v = y + V, *w = y + W, *l = y + LAMBDA;
    double x = l[0] + l[2] + l[4], z = l[1] + l[3] + l[5];
    double r1 = at->E1.x * z - at->E1.y * x, r12 = at->E12.x * z - at->E12.y * x;
    double r3 = at->E3.x * l[1] - at->E3.y * l[0];
    double r45 = at->E45.x * l[3] - at->E45.y * l[2], r5 = at->E5.x * l[3] - at->E5.y * l[2];
    double r67 = at->E67.x * l[5] - at->E67.y * l[4], r7 = at->E7.x * l[5] - at->E7.y * l[4];
    double p = at->P * at->s2, s = at->S * at->c4, r = at->R * at->c6;
    out[0] = at->M11 * w[0] + at->M12 * w[1] - k->mom + p * v[1] * (v[1] + 2 * v[0]) + r1 + r12;
    out[1] = at->M12 * w[0] + at->M22 * w[1] - p * v[0] * v[0] + r12;
    out[2] = at->M33 * w[2] - spring(k, at, NULL) + r3;
    out[3] = at->M44 * w[3] + at->M45 * w[4] - s * v[4] * v[4] + r45;
    out[4] = at->M45 * w[3] + at->M55 * w[4] + s * v[3] * (v[3] + 2 * v[4]) + r45 + r5;
    out[5] = at->M66 * w[5] + at->M67 * w[6] + r * v[6] * v[6] + r67;
    out[6] = at->M67 * w[5] + at->M77 * w[6] - r * v[5] * (v[5] + 2 * v[6]) + r67 + r7;
}

static void position_constraint(const squeezer *k, const struct position *at, double *g)
{
    double x = at->E1.x + at->E12.x, y = at->E1.y + at->E12.y;
    g[0] = x + at->E3.x - k->xb;
    g[1] = y + at->E3.y - k->yb;
    g[2] = x + at->E45.x + at->E5.x - k->xa;
    g[3] = y + at->E45.y + at->E5.y - k->ya;
    g[4] = x + at->E67.x + at->E7.x - k->xa;
    g[5] = y + at->E67.y + at->E7.y - k->ya;
}

/* G v: every vector times i theta' */
static void velocity_constraint(const struct position *at, const double *v, double *g)
{
    double v12 = v[0] + v[1], v45 = v[3] + v[4], v67 = v[5] + v[6];
    double x = -at->E1.y * v[0] - at->E12.y * v12, y = at->E1.x * v[0] + at->E12.x * v12;
    g[0] = x - at->E3.y * v[2];
    g[1] = y + at->E3.x * v[2];
    g[2] = x - at->E45.y * v45 - at->E5.y * v[4];
    g[3] = y + at->E45.x * v45 + at->E5.x * v[4];
    g[4] = x - at->E67.y * v67 - at->E7.y * v[6];
    g[5] = y + at->E67.x * v67 + at->E7.x * v[6];
}

/* G w + gamma: every vector times i theta'' - theta'^2 */
static void acceleration_constraint(const struct position *at, const double *v, const double *w, double *g)
{
    double v12 = v[0] + v[1], v45 = v[3] + v[4], v67 = v[5] + v[6];
    double a1 = v[0] * v[0], a12 = v12 * v12, a3 = v[2] * v[2], a45 = v45 * v45, a5 = v[4] * v[4],
           a67 = v67 * v67, a7 = v[6] * v[6];
    double x = -at->E1.x * a1 - at->E12.x * a12, y = -at->E1.y * a1 - at->E12.y * a12;
    velocity_constraint(at, w, g);
    g[0] += x - at->E3.x * a3;
    g[1] += y - at->E3.y * a3;
    g[2] += x - at->E45.x * a45 - at->E5.x * a5;
    g[3] += y - at->E45.y * a45 - at->E5.y * a5;
    g[4] += x - at->E67.x * a67 - at->E7.x * a7;
    g[5] += y - at->E67.y * a67 - at->E7.y * a7;
}

static void dynamics(const squeezer *k, const double *y, double *f, struct position *at)
{
    locate(k, y, at);
    for (int i = 0; i < 14; i++) f[i] = y[V + i];
    motion(k, at, y, f + W);
}

static int rhs_index3(double t, const double *y, double *f, void *user)
{
    struct position at;
    (void)t;
    dynamics(user, y, f, &at);
    position_constraint(user, &at, f + LAMBDA);
    return 0;
}

static int rhs_index2(double t, const double *y, double *f, void *user)
{
    struct position at;
    (void)t;
    dynamics(user, y, f, &at);
    velocity_constraint(&at, y + V, f + LAMBDA);
    return 0;
}

static int rhs_index1(double t, const double *y, double *f, void *user)
{
    struct position at;
    (void)t;
    dynamics(user, y, f, &at);
    acceleration_constraint(&at, y + V, y + W, f + LAMBDA);
    return 0;
}

/* ---- The Jacobian ---------------------------------------------------------------------------- */

#define J(row, column) jac[(row) + (column)*N] /* from 0 */

/* One factor a + ib for each rotating vector. */
struct factors {
    struct vec k1, k12, k3, k45, k5, k67, k7;
};

static struct vec multiply(struct vec a, struct vec b)
{
    return (struct vec){a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
}

static void put(double *jac, int row, int column, struct vec a)
{
    J(row, column) += a.x;
    J(row + 1, column) += a.y;
}

/* Adds the 6 x 7 matrix with columns (factor times vector) for each angle that a coordinate turns: with
 * the factor i it is G. It goes to rows 21 .. 26 and the columns from `column` on. */
static void put_constraint(double *jac, int column, const struct position *at, const struct factors *k)
{
    struct vec z1 = multiply(k->k1, at->E1), z12 = multiply(k->k12, at->E12), z45 = multiply(k->k45, at->E45),
               z67 = multiply(k->k67, at->E67);
    for (int row = LAMBDA; row < N; row += 2) {
        put(jac, row, column, z1);
        put(jac, row, column, z12);
        put(jac, row, column + 1, z12);
    }
    put(jac, LAMBDA, column + 2, multiply(k->k3, at->E3));
    put(jac, LAMBDA + 2, column + 3, z45);
    put(jac, LAMBDA + 2, column + 4, z45);
    put(jac, LAMBDA + 2, column + 4, multiply(k->k5, at->E5));
    put(jac, LAMBDA + 4, column + 5, z67);
    put(jac, LAMBDA + 4, column + 6, z67);
    put(jac, LAMBDA + 4, column + 6, multiply(k->k7, at->E7));
}

/* i: derivative of g by q, of G v by v and of G w by w, which is G */
static struct factors first_factors(void)
{
    struct vec i = {0, 1};
    return (struct factors){i, i, i, i, i, i, i};
}

/* -scale theta': derivative of G v (or G w) by q, and of gamma/2 by v */
static struct factors rate_factors(const double *v, double scale)
{
    return (struct factors){
        {-scale * v[0], 0}, {-scale * (v[0] + v[1]), 0}, {-scale * v[2], 0}, {-scale * (v[3] + v[4]), 0},
        {-scale * v[4], 0}, {-scale * (v[5] + v[6]), 0}, {-scale * v[6], 0}};
}

/* -i theta'^2: derivative of gamma by q */
static struct factors square_factors(const double *v)
{
    double v12 = v[0] + v[1], v45 = v[3] + v[4], v67 = v[5] + v[6];
    return (struct factors){{0, -v[0] * v[0]}, {0, -v12 * v12}, {0, -v[2] * v[2]}, {0, -v45 * v45},
                            {0, -v[4] * v[4]}, {0, -v67 * v67}, {0, -v[6] * v[6]}};
}

/* Rows of M w - f + G^T lambda. */
static void put_motion(double *jac, const squeezer *k, const struct position *at, const double *y)
{
    const double *v = y + V, *w = y + W, *l = y + LAMBDA;
    double pc = at->P * at->c2, ps = at->P * at->s2, Sc = at->S * at->c4, Ss = at->S * at->s4,
           Rc = at->R * at->c6, Rs = at->R * at->s6, df3;
    spring(k, at, &df3);

    /* by q: M w - f */
    J(W + 0, Q + 1) = ps * (2 * w[0] + w[1]) + pc * v[1] * (v[1] + 2 * v[0]);
    J(W + 1, Q + 1) = ps * w[0] - pc * v[0] * v[0];
    J(W + 2, Q + 2) = -df3;
    J(W + 3, Q + 3) = Sc * w[4] + Ss * v[4] * v[4];
    J(W + 4, Q + 3) = Sc * (w[3] + 2 * w[4]) - Ss * v[3] * (v[3] + 2 * v[4]);
    J(W + 5, Q + 5) = -Rc * w[6] - Rs * v[6] * v[6];
    J(W + 6, Q + 5) = -Rc * (w[5] + 2 * w[6]) + Rs * v[5] * (v[5] + 2 * v[6]);
    /* by q: G^T lambda, a second derivative of every vector: times -1 */
    double x = l[0] + l[2] + l[4], z = l[1] + l[3] + l[5];
    double h12 = -(at->E12.x * x + at->E12.y * z), h45 = -(at->E45.x * l[2] + at->E45.y * l[3]),
           h67 = -(at->E67.x * l[4] + at->E67.y * l[5]);
    J(W + 0, Q + 0) += h12 - (at->E1.x * x + at->E1.y * z);
    J(W + 0, Q + 1) += h12;
    J(W + 1, Q + 0) += h12;
    J(W + 1, Q + 1) += h12;
    J(W + 2, Q + 2) -= at->E3.x * l[0] + at->E3.y * l[1];
    J(W + 3, Q + 3) += h45;
    J(W + 3, Q + 4) += h45;
    J(W + 4, Q + 3) += h45;
    J(W + 4, Q + 4) += h45 - (at->E5.x * l[2] + at->E5.y * l[3]);
    J(W + 5, Q + 5) += h67;
    J(W + 5, Q + 6) += h67;
    J(W + 6, Q + 5) += h67;
    J(W + 6, Q + 6) += h67 - (at->E7.x * l[4] + at->E7.y * l[5]);
    /* by v */
    J(W + 0, V + 0) = 2 * ps * v[1];
    J(W + 0, V + 1) = 2 * ps * (v[0] + v[1]);
    J(W + 1, V + 0) = -2 * ps * v[0];
    J(W + 3, V + 4) = -2 * Sc * v[4];
    J(W + 4, V + 3) = 2 * Sc * (v[3] + v[4]);
    J(W + 4, V + 4) = 2 * Sc * v[3];
    J(W + 5, V + 6) = 2 * Rc * v[6];
    J(W + 6, V + 5) = -2 * Rc * (v[5] + v[6]);
    J(W + 6, V + 6) = -2 * Rc * v[5];
    /* by w: M */
    J(W + 0, W + 0) = at->M11;
    J(W + 0, W + 1) = J(W + 1, W + 0) = at->M12;
    J(W + 1, W + 1) = at->M22;
    J(W + 2, W + 2) = at->M33;
    J(W + 3, W + 3) = at->M44;
    J(W + 3, W + 4) = J(W + 4, W + 3) = at->M45;
    J(W + 4, W + 4) = at->M55;
    J(W + 5, W + 5) = at->M66;
    J(W + 5, W + 6) = J(W + 6, W + 5) = at->M67;
    J(W + 6, W + 6) = at->M77;
    /* by lambda: G^T */
    for (int row = 0; row < 6; row += 2) {
        J(W + 0, LAMBDA + row) = -at->E1.y - at->E12.y;
        J(W + 0, LAMBDA + row + 1) = at->E1.x + at->E12.x;
        J(W + 1, LAMBDA + row) = -at->E12.y;
        J(W + 1, LAMBDA + row + 1) = at->E12.x;
    }
    J(W + 2, LAMBDA + 0) = -at->E3.y;
    J(W + 2, LAMBDA + 1) = at->E3.x;
    J(W + 3, LAMBDA + 2) = -at->E45.y;
    J(W + 3, LAMBDA + 3) = at->E45.x;
    J(W + 4, LAMBDA + 2) = -at->E45.y - at->E5.y;
    J(W + 4, LAMBDA + 3) = at->E45.x + at->E5.x;
    J(W + 5, LAMBDA + 4) = -at->E67.y;
    J(W + 5, LAMBDA + 5) = at->E67.x;
    J(W + 6, LAMBDA + 4) = -at->E67.y - at->E7.y;
    J(W + 6, LAMBDA + 5) = at->E67.x + at->E7.x;
}

static void put_dynamics(double *jac, const squeezer *k, const double *y, struct position *at)
{
    locate(k, y, at);
    for (int i = 0; i < 14; i++) J(i, V + i) = 1;
    put_motion(jac, k, at, y);
}

static int jacobian_index3(double t, const double *y, double *jac, void *user)
{
    struct position at;
    struct factors G = first_factors();
    (void)t;
    put_dynamics(jac, user, y, &at);
    put_constraint(jac, Q, &at, &G);
    return 0;
}

/* What the test set gave its solvers: all derivatives of M, G and f neglected. Its counts belong to it. */
static int jacobian_published(double t, const double *y, double *jac, void *user)
{
    jacobian_index3(t, y, jac, user);
    for (int column = Q; column < W; column++) {
        for (int row = W; row < LAMBDA; row++) J(row, column) = 0;
    }
    return 0;
}

static int jacobian_index2(double t, const double *y, double *jac, void *user)
{
    struct position at;
    struct factors G = first_factors(), by_q = rate_factors(y + V, 1);
    (void)t;
    put_dynamics(jac, user, y, &at);
    put_constraint(jac, Q, &at, &by_q);
    put_constraint(jac, V, &at, &G);
    return 0;
}

static int jacobian_index1(double t, const double *y, double *jac, void *user)
{
    struct position at;
    struct factors G = first_factors(), Gw_by_q = rate_factors(y + W, 1), gamma_by_q = square_factors(y + V),
                   gamma_by_v = rate_factors(y + V, 2);
    (void)t;
    put_dynamics(jac, user, y, &at);
    put_constraint(jac, Q, &at, &Gw_by_q);
    put_constraint(jac, Q, &at, &gamma_by_q);
    put_constraint(jac, V, &at, &gamma_by_v);
    put_constraint(jac, W, &at, &G);
    return 0;
}

/* ---- The problem ----------------------------------------------------------------------------- */

static const dae_parameter parameter[] = {
    {"index", 3, 1, 3, NULL, 1, "",
     "index of the form: constraints on position 3, velocity 2, acceleration 1"},
    {"jacobian", 0, 0, 1, "exact|published", 0, "",
     "published: as the test set's, without derivatives of M, G, f (index 3 only)"},
    DAE_SQUEEZER_PARAMETERS,
    {NULL, 0, 0, 0, NULL, 0, NULL, NULL},
};

static dae_status setup(dae_problem *p, dae_error *err)
{
    static const double mass[N] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    static const double start[N] = {-0.0617138900142764496358948458001,
                                    0,
                                    0.455279819163070380255912382449,
                                    0.222668390165885884674473185609,
                                    0.487364979543842550225598953530,
                                    -0.222668390165885884674473185609,
                                    1.23054744454982119249735015568,
                                    [W] = 14222.4439199541138705911625887,
                                    [W + 1] = -10666.8329399655854029433719415,
                                    [LAMBDA] = 98.5668703962410896057654982170,
                                    [LAMBDA + 1] = -6.12268834425566265503114393122};
    static const double published[N] = {
        15.81077119629904,  -15.75637105984298, 0.04082224013073101, -0.5347301163226948, 0.5244099658805303,
        0.5347301163226948, 1.048080741042263,  1139.920302151208,   -1424.379294994111,  11.03291221937134,
        19.29337464421385,  0.5735699284790808, -19.29337464421385,  0.3231791658026955,  -24631.76316945196,
        51850.37701610329,  324102.5686413781,  566749.3645176213,   16743.62929479361,   -566749.3645176222,
        9826.520791458423,  199.175333373191,   -29.75531228015052,  23.06654119098399,   31.45271365475927,
        22.64249232082739,  11.61740700019673};
    static const double recomputed[N] = {
        15.810771195153707,  -15.756371058411839, 0.0408222401196458,  -0.5347301163420796,
        0.524409965879954,   0.5347301163420796,  1.048080741041938,   1139.9203022591062,
        -1424.3792951775401, 11.032911910618594,  19.29337410503204,   0.5735699148295025,
        -19.29337410503204,  0.3231791492491308,  -24631.763122874636, 51850.319636464235,
        324102.6007075786,   566749.4220009954,   16743.635418345446,  -566749.4220009954,
        9826.507801544163,   199.17534810453864,  -29.755309974971762, 23.06654361162215,
        31.452725275771137,  22.64249478639438,   11.617392352611256};
    static const int index3[N] = {1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2,
                                  3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3};
    static const int index2[N] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                  2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2};
    static const unsigned char scored[N] = {1, 1, 1, 1, 1, 1, 1};
    static const int plot[] = {0, 1, 2, 3, 4, 5, 6};
    int index = (int)dae_problem_parameter(p, "index");
    const squeezer *k = dae_squeezer_take(p, 2);
    double *y0 = dae_problem_reals(p, N), *yp0 = dae_problem_reals(p, N);
    if (!k || !y0 || !yp0) return DAE_ERR_MEMORY;
    int is_default = dae_problem_is_default_from(p, 2);
    memcpy(y0, start, sizeof start);
    if (!is_default && dae_squeezer_start(k, y0, y0 + W, y0 + LAMBDA)) return dae_squeezer_open(err);
    memcpy(yp0 + V, y0 + W, 7 * sizeof *yp0);
    p->system =
        (dae_system){.kind = DAE_KIND_DAE, .dae = {.n = N, .mass = dae_diagonal(N, mass), .user = (void *)k}};
    if (index == 3) {
        p->system.dae.f = rhs_index3;
        p->system.dae.jac = dae_problem_parameter(p, "jacobian") == 0 ? jacobian_index3 : jacobian_published;
        p->system.structure.index = index3;
        dae_system *mechanism = dae_problem_take(p, 1, sizeof *mechanism);
        if (mechanism) *mechanism = dae_seven_body(k);
        p->mechanism = mechanism;
        p->acceleration_at = W;
        p->multiplier_at = LAMBDA;
    } else if (index == 2) {
        p->system.dae.f = rhs_index2;
        p->system.dae.jac = jacobian_index2;
        p->system.structure.index = index2;
    } else {
        p->system.dae.f = rhs_index1;
        p->system.dae.jac = jacobian_index1;
    }
    p->t_end = 0.03;
    p->time_unit = "s";
    p->y0 = y0;
    p->yp0 = yp0;
    p->rtol = 1e-7;
    p->atol = 1e-7;
    p->h0 = 1e-7;
    p->reference = is_default ? recomputed : NULL; /* the same in every form */
    p->published = is_default ? published : NULL;
    p->reference_digits = 12;
    p->reference_source =
        "recomputed twice (26 digits; extended precision); the test set's has 9.6 digits in q, "
        "7.3 in v, 5.9 in w and lambda";
    p->scored = scored;
    dae_problem_names(p, Q, 7, "q%d");
    dae_problem_names(p, V, 7, "v%d");
    dae_problem_names(p, W, 7, "w%d");
    dae_problem_names(p, LAMBDA, 6, "lambda%d");
    dae_problem_units(p, Q, 7, "rad");
    dae_problem_units(p, V, 7, "rad/s");
    dae_problem_units(p, W, 7, "rad/s^2");
    dae_problem_units(p, LAMBDA, 6, "N");
    p->plot = plot;
    p->nplot = 7;
    return DAE_OK;
}

const dae_problem_entry dae_problem_andrews = {
    .info = {.name = "andrews",
             .title = "Andrews' squeezing mechanism",
             .kind = DAE_KIND_DAE,
             .n = N,
             .index = 3,
             .origin = "multibody dynamics, seven bodies (D. Giles 1978, D. Manning 1981)",
             .parameter = parameter},
    .setup = setup,
};
