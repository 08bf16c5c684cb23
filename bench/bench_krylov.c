/* GMRES beside factors on the Brusselator with diffusion and the heat equation on the unit square: time, counts and memory in
 * vectors of the size of y.
 *
 *     bench_krylov [PROBLEM N [METHOD ALGEBRA PRECONDITIONER [RTOL [VECTORS]]]]     one run; none: a table
 *     bench_krylov million                                                          10^6 unknowns: rkc and vode
 *
 * The preconditioner "multigrid" is one of the user's: a V-cycle on lambda - D Laplace for each field, without the reaction. It keeps less
 * than two vectors, so that all of vode stays below 30 where incomplete factors alone need 20.
 */
#include <daedalus/daedalus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct plane {
    int N, fields; /* 1: heat, 2: Brusselator */
    double diffusion;
} plane;

static int neighbour(int i, int N)
{
    return i < 0 ? 1 : i >= N ? N - 2 : i;
}

/* Zero flux, [HW] section IV.10; the heat equation with a source that moves. */
static int rates(double t, const double *y, double *f, void *user)
{
    const plane *p = user;
    int N = p->N, n = N * N;
    double q = p->diffusion * (N - 1) * (N - 1);
    for (int c = 0; c < p->fields; c++) {
        const double *u = y + c * n;
        for (int j = 0; j < N; j++) {
            int up = neighbour(j - 1, N) * N, down = neighbour(j + 1, N) * N, at = j * N;
            for (int i = 0; i < N; i++) {
                int left = i ? i - 1 : 1, right = i < N - 1 ? i + 1 : N - 2;
                f[c * n + at + i] =
                    q * (u[at + left] + u[at + right] + u[up + i] + u[down + i] - 4 * u[at + i]);
            }
        }
    }
    for (int k = 0; k < n && p->fields == 2; k++) {
        double u = y[k], v = y[n + k];
        f[k] += 1 + u * u * v - 4.4 * u;
        f[n + k] += 3.4 * u - u * u * v;
    }
    for (int k = 0; k < n && p->fields == 1; k++) f[k] += sin(t) * (1 + 1.0 * (k % N) / N);
    return 0;
}

static void add(int row, int *rowind, int first, int *k)
{
    for (int m = first; m < *k; m++) {
        if (rowind[m] == row) return;
    }
    rowind[(*k)++] = row;
}

static int ascending(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Column by column: the cells that a value reaches, and the other field. */
static void pattern(const plane *p, int *colptr, int *rowind)
{
    int N = p->N, n = N * N, k = 0;
    for (int c = 0; c < p->fields; c++) {
        for (int j = 0; j < N; j++) {
            for (int i = 0; i < N; i++) {
                int first = k, at = c * n + j * N + i;
                colptr[at] = k;
                add(at, rowind, first, &k);
                if (i > 0) add(at - 1, rowind, first, &k);
                if (i < N - 1) add(at + 1, rowind, first, &k);
                if (j > 0) add(at - N, rowind, first, &k);
                if (j < N - 1) add(at + N, rowind, first, &k);
                if (p->fields == 2) add(c ? at - n : at + n, rowind, first, &k);
                qsort(rowind + first, (size_t)(k - first), sizeof *rowind, ascending);
            }
        }
    }
    colptr[p->fields * n] = k;
}

static void start(const plane *p, double *y)
{
    int N = p->N;
    for (int j = 0; j < N; j++) {
        for (int i = 0; i < N; i++) {
            double X = (double)i / (N - 1), Y = (double)j / (N - 1);
            y[j * N + i] = 22 * Y * pow(1 - Y, 1.5);
            if (p->fields == 2) y[N * N + j * N + i] = 27 * X * pow(1 - X, 1.5);
        }
    }
}

static double kib(const char *name) /* of /proc/self/status */
{
    char line[256];
    double value = NAN;
    FILE *in = fopen("/proc/self/status", "r");
    while (in && fgets(line, sizeof line, in)) {
        if (!strncmp(line, name, strlen(name))) value = atof(line + strlen(name) + 1);
    }
    if (in) fclose(in);
    return value;
}

/* ---- Multigrid -------------------------------------------------------------------------------------- */

enum { LEVELS = 12, COARSEST_SWEEPS = 40 };
typedef struct grid {
    int N;
    double q, *u, *b; /* D (N-1)^2; solution, right side (level 0: the caller's) */
} grid;
typedef struct multigrid {
    int depth, fields;
    double lambda, *memory;
    grid g[LEVELS];
} multigrid;

static void destroy_multigrid(void *self)
{
    multigrid *m = self;
    if (m) free(m->memory);
    free(m);
}

static void *create_multigrid(int n, const dae_pattern *jacobian, const dae_matrix *mass, int is_complex,
                              void *user)
{
    const plane *p = user;
    multigrid *m = calloc(1, sizeof *m);
    size_t need = 0;
    (void)n, (void)jacobian;
    if (!m || is_complex || mass->n) {
        free(m);
        return NULL;
    }
    m->fields = p->fields;
    for (int N = p->N; m->depth < LEVELS; N = (N + 1) / 2) {
        m->g[m->depth++] = (grid){.N = N, .q = p->diffusion * (N - 1) * (N - 1)};
        need += (size_t)N * (size_t)N * (m->depth > 1 ? 2 : 1);
        if (N % 2 == 0 || N < 6) break;
    }
    double *next = m->memory = calloc(need, sizeof *next);
    for (int k = 0; next && k < m->depth; k++) {
        size_t size = (size_t)m->g[k].N * (size_t)m->g[k].N;
        m->g[k].u = next, next += size;
        if (k) m->g[k].b = next, next += size;
    }
    if (!m->memory) destroy_multigrid(m), m = NULL;
    return m;
}

static int factor_multigrid(void *self, double re, double im, const double *J)
{
    (void)im, (void)J;
    ((multigrid *)self)->lambda = re;
    return 0;
}

static double around(const grid *g, const double *u, int i, int j)
{
    int N = g->N, left = neighbour(i - 1, N), right = neighbour(i + 1, N), up = neighbour(j - 1, N),
        down = neighbour(j + 1, N);
    return u[j * N + left] + u[j * N + right] + u[up * N + i] + u[down * N + i];
}

/* Gauss-Seidel, one colour after the other. */
static void smooth(const multigrid *m, const grid *g, int sweeps)
{
    double d = 1 / (m->lambda + 4 * g->q);
    for (int k = 0; k < 2 * sweeps; k++) {
        for (int j = 0; j < g->N; j++) {
            for (int i = (j + k) % 2; i < g->N; i += 2)
                g->u[j * g->N + i] = d * (g->b[j * g->N + i] + g->q * around(g, g->u, i, j));
        }
    }
}

static double residual(const multigrid *m, const grid *g, int i, int j)
{
    int k = j * g->N + i;
    return g->b[k] - (m->lambda + 4 * g->q) * g->u[k] + g->q * around(g, g->u, i, j);
}

static void cycle(const multigrid *m, int level)
{
    const grid *g = &m->g[level], *c = g + 1;
    int N = g->N;
    memset(g->u, 0, (size_t)N * (size_t)N * sizeof *g->u);
    if (level == m->depth - 1) {
        smooth(m, g, COARSEST_SWEEPS);
        return;
    }
    smooth(m, g, 1);
    for (int j = 0; j < c->N; j++) { /* full weighting */
        for (int i = 0; i < c->N; i++) {
            int x = 2 * i, y = 2 * j, left = neighbour(x - 1, N), right = neighbour(x + 1, N),
                up = neighbour(y - 1, N), down = neighbour(y + 1, N);
            const int at[9] = {x + y * N,     left + y * N,   right + y * N,   x + up * N,      x + down * N,
                               left + up * N, right + up * N, left + down * N, right + down * N};
            double sum = 0;
            for (int k = 0; k < 9; k++)
                sum += residual(m, g, at[k] % N, at[k] / N) / (k == 0 ? 4 : k < 5 ? 8 : 16);
            c->b[j * c->N + i] = sum;
        }
    }
    cycle(m, level + 1);
    for (int j = 0; j < N; j++) { /* bilinear */
        const double *low = c->u + j / 2 * c->N, *high = c->u + (j + 1) / 2 * c->N;
        for (int i = 0; i < N; i++)
            g->u[j * N + i] += (low[i / 2] + low[(i + 1) / 2] + high[i / 2] + high[(i + 1) / 2]) / 4;
    }
    smooth(m, g, 1);
}

static int solve_multigrid(void *self, double *x, double *im)
{
    multigrid *m = self;
    size_t size = (size_t)m->g[0].N * (size_t)m->g[0].N;
    (void)im;
    for (int field = 0; field < m->fields; field++, x += size) {
        m->g[0].b = x;
        cycle(m, 0);
        memcpy(x, m->g[0].u, size * sizeof *x);
    }
    return 0;
}

/* ---- Runs --------------------------------------------------------------------------------------------- */

/* Linux: VmHWM begins anew. */
static void forget_peak(void)
{
    FILE *out = fopen("/proc/self/clear_refs", "w");
    if (!out) return;
    fputs("5", out);
    fclose(out);
}

static int run(const char *problem, int N, const char *method, const char *algebra,
               const char *preconditioner, double rtol, int vectors)
{
    plane p = {N, strcmp(problem, "heat") ? 2 : 1, strcmp(problem, "heat") ? 0.1 : 1};
    int n = p.fields * N * N, with = !strcmp(preconditioner, "ilu") || !strcmp(preconditioner, "auto");
    forget_peak();
    double *y = malloc((size_t)n * sizeof *y), before = kib("VmRSS:");
    int *colptr = with ? malloc(((size_t)n + 1) * sizeof *colptr) : NULL,
        *rowind = with ? malloc(6 * (size_t)n * sizeof *rowind) : NULL;
    if (!y || (with && (!colptr || !rowind))) return 1;
    start(&p, y);
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = n, .f = rates, .user = &p}};
    if (with) {
        pattern(&p, colptr, rowind);
        sys.structure.jacobian = (dae_pattern){.storage = DAE_SPARSE, .colptr = colptr, .rowind = rowind};
    }
    dae_options opt = dae_options_default();
    dae_error err = {0};
    dae_stats st = {0};
    opt.method = method;
    opt.linear_algebra = algebra;
    dae_linear_solver own = {.create = create_multigrid,
                             .factor = factor_multigrid,
                             .solve = solve_multigrid,
                             .destroy = destroy_multigrid,
                             .name = "multigrid",
                             .user = &p};
    if (!strcmp(preconditioner, "multigrid")) opt.linear_solver = &own;
    else opt.preconditioner = preconditioner;
    opt.rtol = opt.atol = rtol;
    if (vectors) opt.krylov_vectors = vectors;
    if (!strcmp(preconditioner, "band")) opt.preconditioner_band = 1;
    clock_t begin = clock();
    dae_status s = dae_solve(&sys, &opt, 0, p.fields == 2 ? 1.5 : 1, y, &st, &err);
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC, sum = 0;
    for (int i = 0; i < n; i++) sum += y[i] / n;
    printf("%-12s %8d %-8s %-7s %-5s %7.0e %6ld %7ld %7ld %5ld %5ld %7ld %8.2f %7.1f  %.10f %s\n", problem, n,
           method, algebra, preconditioner, rtol, st.steps, st.f, st.f_jac, st.jac, st.lu, st.krylov, seconds,
           (kib("VmHWM:") - before) * 1024 / 8 / n, sum, s < 0 ? err.text : "");
    fflush(stdout);
    free(y);
    free(colptr);
    free(rowind);
    return s < 0;
}

int main(int argc, char **argv)
{
    printf("%-12s %8s %-8s %-7s %-5s %7s %6s %7s %7s %5s %5s %7s %8s %7s  mean\n", "problem", "unknowns",
           "method", "algebra", "with", "rtol", "steps", "f", "f of J", "J", "LU", "GMRES", "seconds",
           "vectors");
    if (argc == 2 && !strcmp(argv[1], "million")) {
        return run("brusselator", 737, "rkc", "auto", "none", 1e-4, 0) |
               run("brusselator", 737, "vode", "krylov", "multigrid", 1e-4, 2) |
               run("heat", 1025, "vode", "krylov", "multigrid", 1e-4, 1);
    }
    if (argc > 2) {
        return run(argv[1], atoi(argv[2]), argc > 3 ? argv[3] : "vode", argc > 4 ? argv[4] : "krylov",
                   argc > 5 ? argv[5] : "auto", argc > 6 ? atof(argv[6]) : 1e-4,
                   argc > 7 ? atoi(argv[7]) : 0);
    }
    static const char *const problem[] = {"brusselator", "heat"}, *const method[] = {"vode", "dassl",
                                                                                     "radau5"};
    int bad = 0;
    for (int k = 0; k < 2; k++) {
        for (int N = 32; N <= 128; N *= 2) {
            for (int m = 0; m < 3; m++) {
                bad |= run(problem[k], N, method[m], "sparse", "auto", 1e-4, 0);
                bad |= run(problem[k], N, method[m], "krylov", "ilu", 1e-4, 0);
                bad |= run(problem[k], N, method[m], "krylov", "band", 1e-4, 0);
                bad |= run(problem[k], N, method[m], "krylov", "none", 1e-4, 0);
            }
            bad |= run(problem[k], N, "rkc", "auto", "none", 1e-4, 0);
        }
    }
    return bad;
}
