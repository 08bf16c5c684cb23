/* Insulator chain, [MEXX] section 5.4: N insulators and a triangle hang in a plane from the origin; a taut cable pulls
 * at a massless point below the triangle. No gravity.
 *
 *     p = (x0, y0, x1, y1, phi1, ..., x_(N+1), y_(N+1), phi_(N+1)),   M = diag(0, 0, m1, m1, I1, ...)  (singular)
 *     f0 = F (sin b, -cos b),  F = F0 + (E A/C_L) v_y0,  b = -arctan(v_x0/C_Q)      at the massless point only
 *
 * With e(phi) = (-sin phi, cos phi) and the rotation R, pairs of constraints from bottom to top:
 *
 *     r_0 = r_1 - d1 e(phi1);   r_1 + (d1/2) R(phi1) (sqrt 3, 1) = r_2 - c2 e(phi2);
 *     r_i + d_i e(phi_i) = r_(i+1) - c_(i+1) e(phi_(i+1)), i = 2 .. N;   r_(N+1) + d e(phi_(N+1)) = 0
 *
 * The tree has the topmost insulator at its root and the massless point as its leaf. */
#include "testset/testset.h"

#include "testset/insulator_chain.h"

#include <math.h>
#include <stdio.h>

#define SQRT3 1.7320508075688772935
#define LARGEST 4096

struct dae_problem_data {
    int N;
    double *upper, *lower;   /* distances of the joints above and below the center of body i, 0 .. N+1 */
    double F0;               /* tension of the cable */
    double impedance, speed; /* E A/C_L, C_Q */
};

static int force(const dae_mech_point *x, double *f, void *user)
{
    const dae_problem_data *k = user;
    double F = k->F0 + k->impedance * x->v[1], b = -atan(x->v[0] / k->speed);
    for (int i = 2; i < 3 * k->N + 5; i++) f[i] = 0;
    f[0] = F * sin(b);
    f[1] = -F * cos(b);
    return 0;
}

static const double *body(const double *p, int i) /* i = 0: the point; i > 0: (x, y, phi) */
{
    return i ? p + 3 * i - 1 : p;
}

/* The joint above body i relative to its center, times w: derivative = 0, 1, 2 with respect to phi. */
static void above(const dae_problem_data *k, int i, double phi, int derivative, double out[2])
{
    double s = sin(phi), c = cos(phi), d = k->upper[i];
    double ex = -s, ey = c, tx = c, ty = s; /* e and its perpendicular */
    if (derivative == 1) ex = -c, ey = -s, tx = -s, ty = c;
    if (derivative == 2) ex = s, ey = -c, tx = -c, ty = -s;
    out[0] = i == 1 ? d / 2 * (SQRT3 * tx + ex) : d * ex;
    out[1] = i == 1 ? d / 2 * (SQRT3 * ty + ey) : d * ey;
}

/* c e(phi) of the joint below body i, and its derivatives. */
static void below(const dae_problem_data *k, int i, double phi, int derivative, double out[2])
{
    double s = sin(phi), c = cos(phi), d = k->lower[i];
    out[0] = d * (derivative == 0 ? -s : derivative == 1 ? -c : s);
    out[1] = d * (derivative == 0 ? c : derivative == 1 ? -s : -c);
}

static int constraint_sparse(const dae_mech_point *x, double *g, double *G, void *user)
{
    const dae_problem_data *k = user;
    double up[2], down[2];
    if (g) {
        for (int i = 0; i < 2 * k->N + 4; i++) g[i] = 0;
        g[0] = x->p[0];
        g[1] = x->p[1];
    }
    if (G) { /* columns of the point: one entry each */
        G[0] = G[1] = 1;
        G += 2;
    }
    for (int i = 1; i <= k->N + 1; i++) {
        const double *b = body(x->p, i);
        if (g) {
            above(k, i, b[2], 0, up);
            below(k, i, b[2], 0, down);
            for (int c = 0; c < 2; c++) {
                g[2 * i - 2 + c] -= b[c] - down[c];
                g[2 * i + c] += b[c] + up[c];
            }
        }
        if (G) { /* x: rows 2i-2, 2i; y: rows 2i-1, 2i+1; phi: rows 2i-2 .. 2i+1 */
            above(k, i, b[2], 1, up);
            below(k, i, b[2], 1, down);
            G[0] = G[2] = -1;
            G[1] = G[3] = 1;
            G[4] = down[0];
            G[5] = down[1];
            G[6] = up[0];
            G[7] = up[1];
            G += 8;
        }
    }
    return 0;
}

static int constraint(const dae_mech_point *x, double *g, double *G, void *user)
{
    const dae_problem_data *k = user;
    size_t rows = (size_t)(2 * k->N + 4);
    double up[2], down[2];
    int r = g ? constraint_sparse(x, g, NULL, user) : 0;
    if (!G) return r;
    G[0] = G[1 + rows] = 1;
    for (int i = 1; i <= k->N + 1; i++) {
        double phi = body(x->p, i)[2], *col = G + (size_t)(3 * i - 1) * rows + 2 * i - 2;
        above(k, i, phi, 1, up);
        below(k, i, phi, 1, down);
        for (size_t c = 0; c < 2; c++) {
            col[c + c * rows] = -1;
            col[2 + c + c * rows] = 1;
            col[c + 2 * rows] = down[c];
            col[2 + c + 2 * rows] = up[c];
        }
    }
    return r;
}

/* d/dt (G v) at fixed v. */
static int gamma_term(const dae_mech_point *x, double *out, void *user)
{
    const dae_problem_data *k = user;
    double up[2], down[2];
    for (int i = 0; i < 2 * k->N + 4; i++) out[i] = 0;
    for (int i = 1; i <= k->N + 1; i++) {
        double phi = body(x->p, i)[2], w = body(x->v, i)[2];
        above(k, i, phi, 2, up);
        below(k, i, phi, 2, down);
        for (int c = 0; c < 2; c++) {
            out[2 * i - 2 + c] += w * w * down[c];
            out[2 * i + c] += w * w * up[c];
        }
    }
    return 0;
}

/* ---- Structure ------------------------------------------------------------------------------------ */

static void pattern(int N, int *colptr, int *rowind)
{
    int nz = 2;
    colptr[1] = 1;
    colptr[2] = 2;
    rowind[1] = 1;
    for (int i = 1; i <= N + 1; i++) {
        int r = 2 * i - 2, rows[8] = {r, r + 2, r + 1, r + 3, r, r + 1, r + 2, r + 3};
        for (int c = 0; c < 8; c++) rowind[nz + c] = rows[c];
        colptr[3 * i] = nz + 2;
        colptr[3 * i + 1] = nz + 4;
        colptr[3 * i + 2] = nz + 8;
        nz += 8;
    }
}

static void tree(int N, int *block, int *parent, int *row_joint)
{
    for (int b = 0; b < N + 2; b++) {
        block[b] = b ? 3 : 2;
        parent[b] = b <= N ? b + 1 : -1;
        row_joint[2 * b] = row_joint[2 * b + 1] = b;
    }
}

static void straight(const dae_problem_data *k, double *y)
{
    int N = k->N;
    double height = 0; /* of the joint above the body */
    for (int i = N + 1; i >= 2; i--) {
        y[3 * i] = height - k->upper[i];
        height = y[3 * i] - k->lower[i];
    }
    y[2] = y[0] = -SQRT3 / 2 * k->upper[1];
    y[3] = height - k->upper[1] / 2;
    y[1] = y[3] - k->lower[1];
}

/* x0, y0, x1, y1, phi1, x2, ... and the same with v before; the angular velocity of the top insulator is watched. */
static void set_names(dae_problem *p, int N)
{
    enum { longest = 12 };
    static const char *const kind[2][3] = {{"x", "y", "phi"}, {"vx", "vy", "vphi"}};
    static const char *const unit[2][3] = {{"m", "m", "rad"}, {"m/s", "m/s", "rad/s"}};
    int np = 3 * (N + 1) + 2;
    const char **name = dae_problem_take(p, 2 * (size_t)np, sizeof *name);
    const char **event = dae_problem_take(p, 2, sizeof *event);
    char(*text)[longest] = dae_problem_take(p, 2 * (size_t)np, sizeof *text);
    if (!name || !event || !text) return;
    for (int i = 0; i < 2 * np; i++) {
        int velocity = i >= np, j = velocity ? i - np : i, body = j < 2 ? 0 : (j - 2) / 3 + 1,
            k = j < 2 ? j : (j - 2) % 3;
        snprintf(text[i], longest, "%s%d", kind[velocity][k], body);
        name[i] = text[i];
        dae_problem_units(p, i, 1, unit[velocity][k]);
    }
    event[0] = name[2 * np - 1]; /* [MEXX] section 5.4 */
    p->component = name;
    p->time_unit = "s";
    dae_problem_watch(p, event);
}

static dae_status setup(dae_problem *p, dae_error *err)
{
    int N = (int)p->parameter[0], nv = 3 * N + 5, nl = 2 * N + 4, nb = N + 2;
    dae_problem_data *k = dae_problem_take(p, 1, sizeof *k);
    double *mass = dae_problem_reals(p, nv), *y0 = dae_problem_reals(p, 2 * nv),
           *joint = dae_problem_reals(p, 2 * nb);
    int *colptr = dae_problem_ints(p, nv + 1), *rowind = dae_problem_ints(p, 8 * N + 10);
    int *block = dae_problem_ints(p, nb), *parent = dae_problem_ints(p, nb),
        *row_joint = dae_problem_ints(p, nl);
    int *plot = dae_problem_ints(p, 3);
    (void)err;
    if (!k || !mass || !y0 || !joint || !colptr || !rowind || !block || !parent || !row_joint || !plot)
        return DAE_OK;
    k->N = N;
    k->upper = joint;
    k->lower = joint + nb;
    double E = p->parameter[1], A = p->parameter[2], rho = p->parameter[3], F0 = p->parameter[4];
    k->F0 = F0;
    k->impedance = E * A / sqrt(E / rho);
    k->speed = sqrt(F0 / (A * rho));
    for (int i = 1; i <= N + 1; i++) {
        int top = i == N + 1, first = i == 1;
        k->upper[i] = first ? 0.37 : top ? 0.16 : 0.12;
        k->lower[i] = first ? 0.37 : 0.08;
        mass[3 * i - 1] = mass[3 * i] = first ? 34 : top ? 9.8 : 15;
        mass[3 * i + 1] = first ? 3.1 : top ? 0.05 : 0.35;
    }
    pattern(N, colptr, rowind);
    tree(N, block, parent, row_joint);
    straight(k, y0);
    p->system = (dae_system){.kind = DAE_KIND_MECH,
                             .mech = {.np = nv,
                                      .nv = nv,
                                      .ng = nl,
                                      .nlambda = nl,
                                      .mass = dae_diagonal(nv, mass),
                                      .force = force,
                                      .constraint = constraint,
                                      .gamma = gamma_term,
                                      .mass_block = block,
                                      .nblock = nb,
                                      .G_colptr = colptr,
                                      .G_rowind = rowind,
                                      .constraint_sparse = constraint_sparse,
                                      .parent = parent,
                                      .row_joint = row_joint,
                                      .user = k}};
    p->t_end = 0.1;
    p->y0 = y0;
    p->rtol = p->atol = 1e-5;
    p->h0 = 1e-3;
    int is_cable = E == 8e9 && A == 3.4e-4 && rho == 3325 && F0 == 230000;
    p->reference = !is_cable ? NULL
                   : N == 16 ? reference_16
                   : N == 32 ? reference_32
                   : N == 64 ? reference_64
                             : NULL;
    p->reference_digits = 12;
    p->reference_source = "minimal coordinates and descriptor form in extended precision agree";
    plot[0] = 4;
    plot[1] = 3 * (N / 2 + 1) + 1;
    plot[2] = nv - 1;
    p->plot = plot;
    p->nplot = 3;
    set_names(p, N);
    return DAE_OK;
}

static const dae_parameter parameters[] = {
    {"N", 32, 2, LARGEST, NULL, 1, "", "number of insulators"},
    {"E", 8e9, 1, 1e15, NULL, 0, "N/m^2", "elasticity of the cable"},
    {"A", 3.4e-4, 1e-9, 1, NULL, 0, "m^2", "cross section of the cable"},
    {"rho", 3325, 1e-3, 1e6, NULL, 0, "kg/m^3", "density of the cable"},
    {"F0", 230000, 1e-3, 1e12, NULL, 0, "N", "tension of the cable"},
    {0},
};

const dae_problem_entry dae_problem_insulator_chain = {
    .info = {.name = "insulator-chain",
             .title = "Insulator chain",
             .kind = DAE_KIND_MECH,
             .n = 202,
             .index = 3,
             .origin = "mechanics, chain of rigid bodies with a massless end ([MEXX] section 5.4)",
             .parameter = parameters},
    .setup = setup,
};
