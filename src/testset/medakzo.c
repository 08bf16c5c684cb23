/* Medical Akzo Nobel: radio-labeled antibodies u diffuse into a tissue and react with its substrate v.
 *
 *     u_t = u_xx - k u v,  v_t = -k u v,   0 < x < infinity,   u(0,t) = phi(t),  u(x,0) = 0,  v(x,0) = v0
 *
 * zeta = x/(x + c) maps the half line to (0,1); N grid points zeta_j = j/N and central differences give, with
 * alpha_j = 2 (zeta_j - 1)^3/c^2, beta_j = (zeta_j - 1)^4/c^2, u_0 = phi and u_(N+1) = u_N,
 *
 *     u_j' = alpha_j (u_(j+1) - u_(j-1)) N/2 + beta_j (u_(j-1) - 2 u_j + u_(j+1)) N^2 - k u_j v_j
 *     v_j' = -k u_j v_j,     y = (u_1, v_1, u_2, v_2, ...)
 *
 * phi is 2 up to t = 5 and 0 after it. Source: R. van der Hout, Akzo Nobel Central Research, 1994; test set
 * report, release 2.3, part II-4. */
#include "testset/medakzo_data.h"
#include "testset/testset.h"

typedef struct medakzo {
    int N;
    double k, v0, c, phi, t_off;   /* in the order of the parameters after N */
    double *left, *center, *right; /* N each: u_j' = left u_(j-1) + center u_j + right u_(j+1) - k u_j v_j */
} medakzo;

static int rhs(double t, const double *y, double *f, void *user)
{
    const medakzo *m = user;
    const double *left = m->left, *center = m->center, *right = m->right;
    double u_left = t <= m->t_off ? m->phi : 0;
    double k = m->k;
    int last = m->N - 1;
    for (int j = 0; j < last; j++) {
        double u = y[2 * j], r = k * u * y[2 * j + 1];
        f[2 * j] = left[j] * u_left + center[j] * u + right[j] * y[2 * j + 2] - r;
        f[2 * j + 1] = -r;
        u_left = u;
    }
    f[2 * last] = f[2 * last + 1] = -k * y[2 * last] * y[2 * last + 1]; /* zeta = 1: alpha = beta = 0 */
    return 0;
}

/* Banded (2,2): element (i,j) at (2 + i - j) + 5 j. */
static int jacobian(double t, const double *y, double *jac, void *user)
{
    (void)t;
    const medakzo *m = user;
    double k = m->k;
    for (int j = 0; j < m->N; j++) {
        double *u_column = jac + 10 * (size_t)j, *v_column = u_column + 5;
        double ku = k * y[2 * j], kv = k * y[2 * j + 1];
        if (j > 0) u_column[0] = m->right[j - 1];
        u_column[2] = m->center[j] - kv;
        u_column[3] = -kv;
        if (j < m->N - 1) u_column[4] = m->left[j + 1];
        v_column[1] = v_column[2] = -ku;
    }
    return 0;
}

static const dae_parameter parameter[] = {
    {"N", 200, 3, 1e6, NULL, 1, "", "number of grid points; 2N equations"},
    {"k", 100, 0, 1e9, NULL, 0, "", "rate of the reaction of u and v"},
    {"v0", 1, 0, 1e6, NULL, 0, "", "concentration of the substrate at the start"},
    {"c", 4, 1e-3, 1e3, NULL, 0, "", "the grid is uniform in x/(x + c)"},
    {"phi", 2, 0, 1e6, NULL, 0, "", "concentration at the boundary until t_off"},
    {"t_off", 5, 1e-3, 20, NULL, 0, "", "end of the supply"},
    {0},
};

/* Components on the grid lines x = 1, 2, 3, 4 (test set report), any N. */
static void plot_hints(dae_problem *p, int N, double c)
{
    int *plot = dae_problem_ints(p, 8);
    for (int x = 1; plot && x <= 4; x++) {
        int j = (int)(N * x / (x + c) + 0.5) - 1;
        if (j < 0) j = 0;
        plot[2 * x - 2] = 2 * j;
        plot[2 * x - 1] = 2 * j + 1;
    }
    p->plot = plot;
    p->nplot = 8;
}

static dae_status setup(dae_problem *p, dae_error *err)
{
    (void)err;
    int N = (int)dae_problem_parameter(p, "N");
    medakzo *m = dae_problem_take(p, 1, sizeof *m);
    double *y0 = dae_problem_reals(p, 2 * N), *coefficient = dae_problem_reals(p, 3 * N);
    if (!m || !y0 || !coefficient) return DAE_ERR_MEMORY;
    *m = (medakzo){.N = N, .left = coefficient, .center = coefficient + N, .right = coefficient + 2 * N};
    dae_problem_constants(p, 1, &m->k, 5 * sizeof(double));
    double c = m->c;
    for (int j = 0; j < N; j++) {
        double z = (double)(j + 1) / N - 1;
        double a = z * z * z / (c * c) * N, b = z * z * z * z / (c * c) * N * N; /* alpha N/2 and beta N^2 */
        m->left[j] = b - a;
        m->center[j] = -2 * b;
        m->right[j] = b + a;
        y0[2 * j + 1] = m->v0;
    }
    p->system = (dae_system){.kind = DAE_KIND_ODE,
                             .ode = {.n = 2 * N, .f = rhs, .jac = jacobian, .user = m},
                             .structure = {.jacobian = {.storage = DAE_BANDED, .lower = 2, .upper = 2}}};
    p->t_end = 20;
    p->y0 = y0;
    p->discontinuity = &m->t_off;
    p->ndiscontinuity = 1;
    p->rtol = p->atol = 1e-4;
    p->h0 = 1e-9;
    p->absolute_scd = 1;
    if (dae_problem_is_default(p)) {
        p->reference = recomputed;
        p->reference_digits = 13;
        p->reference_source = "recomputed: Radau IIA order 5, two tolerances agree to 7e-14 absolute";
        p->published = published;
    }
    const char **name = dae_problem_take(p, 2 * (size_t)N, sizeof *name);
    dae_problem_names(p, 0, N, "u%d"); /* first all u, then all v; woven below */
    dae_problem_names(p, N, N, "v%d");
    for (int i = 0; name && p->component && i < 2 * N; i++) name[i] = p->component[i / 2 + (i % 2) * N];
    p->component = name;
    plot_hints(p, N, c);
    return DAE_OK;
}

const dae_problem_entry dae_problem_medakzo = {
    .info = {.name = "medakzo",
             .title = "Medical Akzo Nobel problem",
             .kind = DAE_KIND_ODE,
             .n = 400,
             .stiff = 1,
             .origin = "penetration of antibodies into a tissue, reaction and diffusion (van der Hout 1994)",
             .parameter = parameter},
    .setup = setup};
