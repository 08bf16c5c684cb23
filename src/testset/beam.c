/* Beam: a thin inextensible elastic beam of length 1, clamped at one end, a force acting at the other.
 *
 * With the angles z_1..z_n at n midpoints: z'' = C v + D u,  C u = D v + (z_1'^2, ..., z_n'^2),
 *     C = tridiagonal, diagonal (1, 2, ..., 2, 3), C_(l,l+1) = C_(l+1,l) = -cos(z_l - z_(l+1)),
 *     D = off-diagonals D_(l,l+1) = -sin(z_l - z_(l+1)), D_(l+1,l) = sin(z_l - z_(l+1)),
 *     v_l = n^4 (z_(l-1) - 2 z_l + z_(l+1)) + n^2 (cos z_l F_y - sin z_l F_x),  z_0 = -z_1, z_(n+1) = z_n,
 *     F_x = -phi, F_y = phi,  phi(t) = 1.5 sin^2 t up to t = pi and 0 after it.
 * C is symmetric and positive definite: one evaluation costs O(n), the exact Jacobian O(n^2). y = (z, z').
 *
 * Source: E. Hairer, G. Wanner, Solving ordinary differential equations II, second edition 1996, section
 * IV.10; test set report, release 2.3, part II-7, with F_y in the cosine term. */
#include "core/vector.h"
#include "testset/testset.h"

#include <math.h>

enum { N_DEFAULT = 40, N_MAX = 1000 };
static const double pi = 3.14159265358979323846;

/* What one evaluation computes. On the stack, so that threads can share the problem. */
typedef struct state {
    double phi;
    double c[N_MAX], s[N_MAX];   /* cos z_l, sin z_l */
    double cd[N_MAX], sd[N_MAX]; /* cos(z_l - z_(l+1)), sin(z_l - z_(l+1)), l < n-1 */
    double v[N_MAX], u[N_MAX];
    double inverse[N_MAX], m[N_MAX]; /* C = L diag(1/inverse) L^T, L unit lower bidiagonal with entries -m */
} state;

static double diagonal(int l, int n)
{
    return l == 0 ? 1 : l == n - 1 ? 3 : 2;
}

static void factor(state *x, int n)
{
    x->inverse[0] = 1;
    for (int l = 1; l < n; l++) {
        x->m[l] = x->cd[l - 1] * x->inverse[l - 1];
        x->inverse[l] = 1 / (diagonal(l, n) - x->cd[l - 1] * x->m[l]);
    }
}

/* C x = b in place; b is zero before entry `first`. */
static void solve(const state *x, int n, int first, double *b)
{
    for (int l = first + 1; l < n; l++) b[l] += x->m[l] * b[l - 1];
    b[n - 1] *= x->inverse[n - 1];
    for (int l = n - 2; l >= 0; l--) b[l] = b[l] * x->inverse[l] + x->m[l + 1] * b[l + 1];
}

/* Row l of D b. */
static double row_d(const state *x, int n, int l, const double *b)
{
    return (l > 0 ? x->sd[l - 1] * b[l - 1] : 0) - (l < n - 1 ? x->sd[l] * b[l + 1] : 0);
}

static void evaluate(double t, const double *z, const double *w, int n, state *x)
{
    double n2 = (double)n * n, n4 = n2 * n2, sine = t <= pi ? sin(t) : 0;
    x->phi = 1.5 * sine * sine;
    for (int l = 0; l < n; l++) {
        x->c[l] = cos(z[l]);
        x->s[l] = sin(z[l]);
    }
    for (int l = 0; l < n - 1; l++) {
        x->cd[l] = x->c[l] * x->c[l + 1] + x->s[l] * x->s[l + 1];
        x->sd[l] = x->s[l] * x->c[l + 1] - x->c[l] * x->s[l + 1];
    }
    double force = n2 * x->phi;
    x->v[0] = n4 * (z[1] - 3 * z[0]) + force * (x->c[0] + x->s[0]);
    for (int l = 1; l < n - 1; l++)
        x->v[l] = n4 * (z[l - 1] - 2 * z[l] + z[l + 1]) + force * (x->c[l] + x->s[l]);
    x->v[n - 1] = n4 * (z[n - 2] - z[n - 1]) + force * (x->c[n - 1] + x->s[n - 1]);
    factor(x, n);
    for (int l = 0; l < n; l++) x->u[l] = row_d(x, n, l, x->v) + w[l] * w[l];
    solve(x, n, 0, x->u);
}

static int rhs(double t, const double *y, double *f, void *user)
{
    int n = *(const int *)user;
    state x;
    evaluate(t, y, y + n, n, &x);
    dae_copy(n, y + n, f);
    for (int l = 0; l < n; l++) {
        double sum = diagonal(l, n) * x.v[l] + row_d(&x, n, l, x.u);
        if (l > 0) sum -= x.cd[l - 1] * x.v[l - 1];
        if (l < n - 1) sum -= x.cd[l] * x.v[l + 1];
        f[n + l] = sum;
    }
    return 0;
}

/* The band of a vector that is zero outside rows k-2 .. k+2: b[2 + i] is row k + i. */
typedef struct band {
    double b[5];
} band;

/* The derivatives by z_k: z''_k = (C_k v + D_k u + C v_k) + D C^-1 (D_k v - C_k u + D v_k), where the
 * subscript k means d/dz_k. Sets the first bracket (direct) and the second one (inner). */
static void derivative(const state *x, int n, int k, band *direct, band *inner)
{
    double n2 = (double)n * n, n4 = n2 * n2;
    *direct = *inner = (band){{0}};
    if (k > 0) { /* the pair (k-1, k): C_k = -sd, D_k = (upper cd, lower -cd) */
        double c = x->cd[k - 1], s = x->sd[k - 1];
        direct->b[1] += -s * x->v[k] + c * x->u[k];
        direct->b[2] += -s * x->v[k - 1] - c * x->u[k - 1];
        inner->b[1] += c * x->v[k] + s * x->u[k];
        inner->b[2] += -c * x->v[k - 1] + s * x->u[k - 1];
    }
    if (k < n - 1) { /* the pair (k, k+1): C_k = sd, D_k = (upper -cd, lower cd) */
        double c = x->cd[k], s = x->sd[k];
        direct->b[2] += s * x->v[k + 1] - c * x->u[k + 1];
        direct->b[3] += s * x->v[k] + c * x->u[k];
        inner->b[2] += -c * x->v[k + 1] - s * x->u[k + 1];
        inner->b[3] += c * x->v[k] - s * x->u[k];
    }
    for (int i = -1; i <= 1; i++) { /* column j = k + i of C and D times dv_j/dz_k */
        int j = k + i;
        if (j < 0 || j >= n) continue;
        double dv = n4;
        if (i == 0) {
            dv = -n4 * (k == 0 ? 3 : k == n - 1 ? 1 : 2) + n2 * x->phi * (x->c[k] - x->s[k]);
        }
        direct->b[2 + i] += diagonal(j, n) * dv;
        if (j > 0) {
            direct->b[1 + i] -= x->cd[j - 1] * dv;
            inner->b[1 + i] -= x->sd[j - 1] * dv;
        }
        if (j < n - 1) {
            direct->b[3 + i] -= x->cd[j] * dv;
            inner->b[3 + i] += x->sd[j] * dv;
        }
    }
}

static int jacobian(double t, const double *y, double *jac, void *user)
{
    int n = *(const int *)user;
    size_t ld = 2 * (size_t)n;
    double *lower_left = jac + n, *lower_right = jac + ld * (size_t)n + n, e[N_MAX];
    state x;
    evaluate(t, y, y + n, n, &x);
    for (int k = 0; k < n; k++) { /* lower_right = D C^-1 for now */
        double *column = lower_right + ld * (size_t)k;
        dae_zero(n, e);
        e[k] = 1;
        solve(&x, n, k, e);
        for (int l = 0; l < n; l++) column[l] = row_d(&x, n, l, e);
    }
    for (int k = 0; k < n; k++) {
        double *column = lower_left + ld * (size_t)k;
        band direct, inner;
        derivative(&x, n, k, &direct, &inner);
        for (int i = -2; i <= 2; i++) {
            if (k + i < 0 || k + i >= n) continue;
            column[k + i] += direct.b[2 + i];
            dae_axpy(n, inner.b[2 + i], lower_right + ld * (size_t)(k + i), column);
        }
    }
    for (int k = 0; k < n; k++) { /* d(z_k'^2) = 2 z_k' */
        double *column = lower_right + ld * (size_t)k, w2 = 2 * y[n + k];
        for (int l = 0; l < n; l++) column[l] *= w2;
        jac[(size_t)k + ld * (size_t)(n + k)] = 1;
    }
    return 0;
}

static const dae_parameter parameter[] = {{.name = "n",
                                           .value = N_DEFAULT,
                                           .min = 3,
                                           .max = N_MAX,
                                           .integer = 1,
                                           .help = "number of angles; 2n equations"},
                                          {.name = NULL}};
/* At t_end: Radau IIA of orders 13 and 9 in 80 bit arithmetic agree
 * to 15.3 digits (make reference-extended). */
static const double recomputed[2 * N_DEFAULT] = {
    -0.005792366591294718, -0.016952985507196983, -0.02769103312971828, -0.038008156558780454,
    -0.04790616859742039,  -0.057387104352738055, -0.06645327313452082, -0.07510730581978169,
    -0.08335219765412621,  -0.09119134654644197,  -0.09862858700129934, -0.10566822003777863,
    -0.11231503954092276,  -0.1185743552726984,   -0.12445201287552751, -0.12995441132638846,
    -0.13508851806100583,  -0.1398618819194114,   -0.14428264410148342, -0.1483595472462572,
    -0.15210194290010384,  -0.15551979780608297,  -0.15862369934199114, -0.16142486037016748,
    -0.16393512381927883,  -0.16616696734403744,  -0.16813350817781403, -0.16984850806019022,
    -0.17132637824404087,  -0.1725821847462126,   -0.17363165379752848, -0.17449117738396172,
    -0.17517781878628547,  -0.17570931787124394,  -0.17610409602280558, -0.17638126071750768,
    -0.17656060975641916,  -0.17666263522601117,  -0.17670852708069149, -0.17672017610751561,
    0.03747362680581087,   0.1099117880203835,    0.1798360474382111,   0.2472427305624041,
    0.31212938203100216,   0.3744947377107379,    0.4343386073641408,   0.4916620354333146,
    0.5464677854924059,    0.5987609702342449,    0.6485493611302566,   0.695843516904275,
    0.7406572668504261,    0.7830081747982449,    0.8229176658666698,   0.8604110305812894,
    0.8955175502322373,    0.9282708262695977,    0.9587089335025777,   0.9868747821355192,
    1.0128165799698197,    1.0365877366847733,    1.0582468264869143,   1.0778578114332171,
    1.0954902219916878,    1.1112191643288178,    1.1251252692582734,   1.1372945265856023,
    1.1478180252094254,    1.1567921319600052,    1.1643188451570694,   1.170505992579065,
    1.175467424324541,     1.179323003210952,     1.1821985862987336,   1.1842261112138235,
    1.1855439098161522,    1.186297084220334,     1.1866376188869954,   1.1867246151217423};
static const double published[2 * N_DEFAULT] = {
    -0.005792366591285007, -0.01695298550721735, -0.02769103312973094, -0.03800815655879158,
    -0.04790616859743763,  -0.05738710435274594, -0.06645327313454617, -0.07510730581979037,
    -0.08335219765414992,  -0.09119134654647947, -0.0986285870013209,  -0.1056682200378002,
    -0.1123150395409595,   -0.1185743552727245,  -0.1244520128755561,  -0.1299544113264161,
    -0.1350885180610398,   -0.1398618819194422,  -0.1442826441015242,  -0.1483595472463012,
    -0.1521019429001447,   -0.1555197978061129,  -0.1586236993420229,  -0.1614248603702127,
    -0.1639351238193223,   -0.1661669673440852,  -0.1681335081778558,  -0.1698485080602243,
    -0.1713263782440888,   -0.1725821847462537,  -0.1736316537975654,  -0.1744911773840049,
    -0.1751778187863392,   -0.1757093178712902,  -0.1761040960228576,  -0.1763812607175549,
    -0.1765606097564671,   -0.1766626352260565,  -0.176708527080746,   -0.1767201761075488,
    0.03747362681329794,   0.1099117880217593,   0.1798360474312799,   0.2472427305442391,
    0.3121293820596567,    0.37449473770195,     0.4343386073492798,   0.4916620354601748,
    0.5464677854586807,    0.598760970262427,    0.648549361111074,    0.6958435169132503,
    0.7406572668520808,    0.7830081747813241,   0.8229176659201515,   0.860411030519056,
    0.8955175502377805,    0.9282708263127953,   0.9587089334522034,   0.9868747821728363,
    1.012816579961883,     1.036587736679858,    1.058246826481355,    1.077857811433353,
    1.095490222005369,     1.111219164294898,    1.125125269286501,    1.137294526609229,
    1.147818025153607,     1.156792132004482,    1.164318845130183,    1.170505992596124,
    1.17546742429955,      1.179323003228859,    1.182198586299667,    1.184226111223146,
    1.185543909805575,     1.186297084203716,    1.186637618908127,    1.186724615113034};

static dae_status setup(dae_problem *p, dae_error *err)
{
    (void)err;
    int n = (int)dae_problem_parameter(p, "n"), *user = dae_problem_ints(p, 1);
    double *y0 = dae_problem_reals(p, 2 * n);
    unsigned char *scored = dae_problem_take(p, 2 * (size_t)n, 1);
    int *plot = dae_problem_ints(p, 4);
    if (!user || !y0 || !scored || !plot) return DAE_ERR_MEMORY;
    *user = n;
    for (int i = 0; i < n; i++) scored[i] = 1;
    for (int i = 0; i < 4; i++) plot[i] = (i + 1) * n / 4 - 1 < 0 ? 0 : (i + 1) * n / 4 - 1;
    p->system = (dae_system){.kind = DAE_KIND_ODE,
                             .ode = {.n = 2 * n, .f = rhs, .jac = jacobian, .user = user},
                             .structure = {.second_order = n}};
    p->t_end = 5;
    p->y0 = y0;
    p->rtol = p->atol = p->h0 = 1e-4;
    if (dae_problem_is_default(p)) {
        p->reference = recomputed;
        p->reference_digits = 15;
        p->reference_source = "recomputed in extended precision, orders 13 and 9 agree to 15.3 digits; "
                              "the test set's has 11.8 in the angles";
        p->published = published;
    }
    p->scored = scored;
    dae_problem_names(p, 0, n, "z%d");
    dae_problem_names(p, n, n, "z%d'");
    dae_problem_units(p, 0, n, "rad");
    dae_problem_units(p, n, n, "rad/s");
    p->time_unit = "s";
    p->plot = plot;
    p->nplot = 4;
    return DAE_OK;
}

const dae_problem_entry dae_problem_beam = {
    .info = {.name = "beam",
             .title = "Beam",
             .kind = DAE_KIND_ODE,
             .n = 2 * N_DEFAULT,
             .stiff = 1,
             .origin = "motion of an elastic beam (Hairer and Wanner 1996)",
             .parameter = parameter},
    .setup = setup};
