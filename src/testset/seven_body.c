/* Seven body mechanism, Andrews' squeezer, in descriptor form ([MEXX] section 5.2; Schiehlen 1990; Hairer, Wanner II,
 * section VII.7): q = (beta, Theta, gamma, Phi, delta, Omega, epsilon), M(q) q'' = f(q,q') - G(q)^T lambda, g(q) = 0.
 *
 *     X = rr cos q1 - d cos(q1+q2),  Y = rr sin q1 - d sin(q1+q2)
 *     g1 = X - ss sin q3 - xb                        g2 = Y + ss cos q3 - yb
 *     g3 = X - e sin(q4+q5) - zt cos q5 - xa         g4 = Y + e cos(q4+q5) - zt sin q5 - ya
 *     g5 = X - zf cos(q6+q7) - u sin q7 - xa         g6 = Y - zf sin(q6+q7) + u cos q7 - ya
 *
 * The same mechanism as `andrews`, which is its index 3 form. As a tree: the crank with its rod (q1, q2) carries the
 * three other parts (q3), (q4, q5), (q6, q7) at one point; g2 closes a loop. */
#include "testset/seven_body.h"

#include "core/trig.h"
#include "linalg/kernel.h"
#include "testset/testset.h"

#include <math.h>
#include <string.h>

#define N 14
#define WIDE 8 /* seven angles in whole vectors */

/* Constants of Test Set for IVP Solvers, section II.15. */
static const double m1 = 0.04325, m2 = 0.00365, m3 = 0.02373, m4 = 0.00706, m5 = 0.07050, m6 = 0.00706,
                    m7 = 0.05498;
static const double I1 = 2.194e-6, I2 = 4.410e-7, I3 = 5.255e-6, I4 = 5.667e-7, I5 = 1.169e-5, I6 = 5.667e-7,
                    I7 = 1.912e-5;
static const double xa = -0.06934, ya = -0.00227, xb = -0.03635, yb = 0.03273, xc = 0.014, yc = 0.072,
                    c0 = 4530;
static const double d = 0.028, da = 0.0115, e = 0.02, ea = 0.01421, rr = 0.007, ra = 0.00092, l0 = 0.07785,
                    ss = 0.035;
static const double sa = 0.01874, sb = 0.01043, sc = 0.018, sd = 0.02, ta = 0.02308, tb = 0.00916, u = 0.04;
static const double ua = 0.01228, ub = 0.00449, zf = 0.02, zt = 0.04, fa = 0.01421;

/* ---- The mechanism at one position ----------------------------------------------------------------- */

/* Sines and cosines of the angles; sums by the addition theorems. Kept in the cache for the functions of the same q. */
typedef struct position {
    double q[WIDE], s[WIDE], c[WIDE];
    double s12, c12, s45, c45, s67, c67;
    int valid;
} position;

DAE_KERNEL(void, angles, (const double *q, double *s, double *c), dae_sincos(WIDE, q, s, c))

static const position *locate(const dae_mech_point *x, position *spare)
{
    position *at = x->cache ? x->cache : spare;
    const double *q = x->p, *s = at->s, *c = at->c;
    if (x->cache && at->valid && !memcmp(at->q, q, 7 * sizeof *q)) return at;
    memcpy(at->q, q, 7 * sizeof *q);
    at->q[7] = 0;
    DAE_KERNEL_PICK(angles, 0)(at->q, at->s, at->c);
    at->s12 = s[0] * c[1] + c[0] * s[1];
    at->c12 = c[0] * c[1] - s[0] * s[1];
    at->s45 = s[3] * c[4] + c[3] * s[4];
    at->c45 = c[3] * c[4] - s[3] * s[4];
    at->s67 = s[5] * c[6] + c[5] * s[6];
    at->c67 = c[5] * c[6] - s[5] * s[6];
    at->valid = 1;
    return at;
}

/* ---- Its functions --------------------------------------------------------------------------------- */

/* The blocks (q1,q2), (q3), (q4,q5), (q6,q7) of M. */
static int mass_blocks(const dae_mech_point *x, double *M, void *user)
{
    position spare;
    const position *at = locate(x, &spare);
    (void)user;
    double c2 = da * rr * at->c[1], s4 = zt * (e - ea) * at->s[3], s6 = u * (zf - fa) * at->s[5];
    double a4 = (e - ea) * (e - ea), a6 = (zf - fa) * (zf - fa);
    M[0] = m1 * ra * ra + m2 * (rr * rr - 2 * c2 + da * da) + I1 + I2;
    M[1] = M[2] = m2 * (da * da - c2) + I2;
    M[3] = m2 * da * da + I2;
    M[4] = m3 * (sa * sa + sb * sb) + I3;
    M[5] = m4 * a4 + I4;
    M[6] = M[7] = m4 * (a4 + s4) + I4;
    M[8] = m4 * (zt * zt + 2 * s4 + a4) + m5 * (ta * ta + tb * tb) + I4 + I5;
    M[9] = m6 * a6 + I6;
    M[10] = M[11] = m6 * (a6 - s6) + I6;
    M[12] = m6 * (a6 - 2 * s6 + u * u) + m7 * (ua * ua + ub * ub) + I6 + I7;
    return 0;
}

static const int block[4] = {2, 1, 2, 2};

static int mass(const dae_mech_point *x, double *M, void *user)
{
    double values[13], *b = values;
    int r = mass_blocks(x, values, user);
    for (int k = 0, first = 0; k < 4; first += block[k++]) {
        for (int j = 0; j < block[k]; j++) {
            for (int i = 0; i < block[k]; i++) M[first + i + 7 * (first + j)] = *b++;
        }
    }
    return r;
}

static int force(const dae_mech_point *x, double *f, void *user)
{
    position spare;
    const position *at = locate(x, &spare);
    const double *v = x->v, *torque = user;
    double c3 = at->c[2], s3 = at->s[2], s2 = m2 * da * rr * at->s[1];
    double k4 = m4 * zt * (e - ea) * at->c[3], k6 = m6 * u * (zf - fa) * at->c[5];
    double dx = sd * c3 + sc * s3 + xb - xc, dy = sd * s3 - sc * c3 + yb - yc,
           length = sqrt(dx * dx + dy * dy);
    double pull = -c0 * (length - l0) / length;
    f[0] = *torque - s2 * v[1] * (v[1] + 2 * v[0]);
    f[1] = s2 * v[0] * v[0];
    f[2] = pull * (dx * (sc * c3 - sd * s3) + dy * (sd * c3 + sc * s3));
    f[3] = k4 * v[4] * v[4];
    f[4] = -k4 * v[3] * (v[3] + 2 * v[4]);
    f[5] = -k6 * v[6] * v[6];
    f[6] = k6 * v[5] * (v[5] + 2 * v[6]);
    return 0;
}

/* Pattern of G by columns: the rows of q1, q2, q3, ... */
static const int colptr[8] = {0, 6, 12, 14, 16, 18, 20, 22};
static const int rowind[22] = {0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 2, 3, 4, 5, 4, 5};
static const int parent[4] = {-1, 0, 0, 0};
static const int row_joint[6] = {1, -1, 2, 2, 3, 3};

static int constraint_sparse(const dae_mech_point *x, double *g, double *G, void *user)
{
    position spare;
    const position *at = locate(x, &spare);
    (void)user;
    double c12 = d * at->c12, s12 = d * at->s12, c3 = ss * at->c[2], s3 = ss * at->s[2];
    double c45 = e * at->c45, s45 = e * at->s45, c5 = zt * at->c[4], s5 = zt * at->s[4];
    double c67 = zf * at->c67, s67 = zf * at->s67, c7 = u * at->c[6], s7 = u * at->s[6];
    double X = rr * at->c[0] - c12, Y = rr * at->s[0] - s12;
    if (g) {
        g[0] = X - s3 - xb;
        g[1] = Y + c3 - yb;
        g[2] = X - s45 - c5 - xa;
        g[3] = Y + c45 - s5 - ya;
        g[4] = X - c67 - s7 - xa;
        g[5] = Y - s67 + c7 - ya;
    }
    if (G) {
        G[0] = G[2] = G[4] = -Y;
        G[1] = G[3] = G[5] = X;
        G[6] = G[8] = G[10] = s12;
        G[7] = G[9] = G[11] = -c12;
        G[12] = -c3;
        G[13] = -s3;
        G[14] = -c45;
        G[15] = -s45;
        G[16] = s5 - c45;
        G[17] = -c5 - s45;
        G[18] = s67;
        G[19] = -c67;
        G[20] = s67 - c7;
        G[21] = -c67 - s7;
    }
    return 0;
}

static int constraint(const dae_mech_point *x, double *g, double *G, void *user)
{
    double values[22];
    int r = constraint_sparse(x, g, G ? values : NULL, user);
    for (int j = 0; G && j < 7; j++) {
        for (int k = colptr[j]; k < colptr[j + 1]; k++) G[rowind[k] + 6 * j] = values[k];
    }
    return r;
}

/* d/dt (G v) at fixed v. */
static int gamma_term(const dae_mech_point *x, double *out, void *user)
{
    position spare;
    const position *at = locate(x, &spare);
    const double *v = x->v;
    (void)user;
    double w12 = v[0] + v[1], w45 = v[3] + v[4], w67 = v[5] + v[6];
    double a = rr * v[0] * v[0], b = d * w12 * w12, c = ss * v[2] * v[2], f = e * w45 * w45,
           k = zt * v[4] * v[4];
    double h = zf * w67 * w67, l = u * v[6] * v[6];
    double X = -a * at->c[0] + b * at->c12, Y = -a * at->s[0] + b * at->s12;
    out[0] = X + c * at->s[2];
    out[1] = Y - c * at->c[2];
    out[2] = X + f * at->s45 + k * at->c[4];
    out[3] = Y - f * at->c45 + k * at->s[4];
    out[4] = X + h * at->c67 + l * at->s[6];
    out[5] = Y + h * at->s67 - l * at->c[6];
    return 0;
}

dae_system dae_seven_body(const double *torque)
{
    return (dae_system){.kind = DAE_KIND_MECH,
                        .mech = {.np = 7,
                                 .nv = 7,
                                 .ng = 6,
                                 .nlambda = 6,
                                 .mass_fn = mass,
                                 .force = force,
                                 .constraint = constraint,
                                 .gamma = gamma_term,
                                 .mass_block = block,
                                 .nblock = 4,
                                 .G_colptr = colptr,
                                 .G_rowind = rowind,
                                 .constraint_sparse = constraint_sparse,
                                 .mass_blocks = mass_blocks,
                                 .parent = parent,
                                 .row_joint = row_joint,
                                 .cache_size = sizeof(position),
                                 .user = (void *)torque}};
}

/* ---- The problem ----------------------------------------------------------------------------------- */

static dae_status setup(dae_problem *p, dae_error *err)
{
    static const double y0[N] = {-0.0617138900142764496358948458001, 0,
                                 0.455279819163070380255912382449,   0.222668390165885884674473185609,
                                 0.487364979543842550225598953530,   -0.222668390165885884674473185609,
                                 1.23054744454982119249735015568};
    static const double end[N] = {
        15.8107711951537070971194,   -15.7563710584118394697278, 0.0408222401196458048582823,
        -0.534730116342079593770185, 0.524409965879954069371656, 0.534730116342079593770185,
        1.04808074104193787306852,   1139.92030225910606419810,  -1424.37929517754007319603,
        11.0329119106185937453273,   19.2933741050320408316276,  0.573569914829502453817688,
        -19.2933741050320408316276,  0.323179149249130874990748};
    static const char *const names[N] = {"beta",  "Theta",  "gamma",  "Phi",  "delta",  "Omega",  "epsilon",
                                         "vbeta", "vTheta", "vgamma", "vPhi", "vdelta", "vOmega", "vepsilon"};
    static const int plot[] = {0, 2, 3, 6};
    static const char *const event[] = {"vbeta'", NULL}; /* [MEXX] section 5.2 */
    (void)err;
    p->system = dae_seven_body(p->parameter);
    p->t_end = 0.03;
    p->y0 = y0;
    p->rtol = p->atol = 1e-5;
    p->h0 = 1e-3;
    p->reference = dae_problem_is_default(p) ? end : NULL;
    p->reference_digits = 15;
    p->reference_source =
        "128-bit extrapolation of the index 1 form and 16th order Gauss collocation agree to 20 digits";
    p->component = names;
    dae_problem_units(p, 0, 7, "rad");
    dae_problem_units(p, 7, 7, "rad/s");
    p->plot = plot;
    p->nplot = 4;
    dae_problem_watch(p, event);
    return DAE_OK;
}

static const dae_parameter parameters[] = {{"mom", 0.033, 1, 0, NULL, 0, "N m", "driving torque"}, {0}};

const dae_problem_entry dae_problem_seven_body = {
    .info = {.name = "seven-body",
             .title = "Seven body mechanism in descriptor form",
             .kind = DAE_KIND_MECH,
             .n = N,
             .index = 3,
             .origin = "mechanics, Andrews' squeezing mechanism ([MEXX] section 5.2; Schiehlen 1990)",
             .parameter = parameters},
    .setup = setup,
};
