/* GMRES beside factors on the Brusselator with diffusion and the heat equation on the unit square: time, counts and memory in
 * vectors of the size of y.
 *
 *     bench_krylov [PROBLEM N [METHOD ALGEBRA PRECONDITIONER [RTOL [VECTORS]]]]     one run; none: a table
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

static int run(const char *problem, int N, const char *method, const char *algebra,
               const char *preconditioner, double rtol, int vectors)
{
    plane p = {N, strcmp(problem, "heat") ? 2 : 1, strcmp(problem, "heat") ? 0.1 : 1};
    int n = p.fields * N * N, with = strcmp(preconditioner, "none") && strcmp(preconditioner, "band");
    double *y = malloc((size_t)n * sizeof *y), before = kib("VmRSS:");
    int *colptr = malloc(((size_t)n + 1) * sizeof *colptr), *rowind = malloc(6 * (size_t)n * sizeof *rowind);
    if (!y || !colptr || !rowind) return 1;
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
    opt.preconditioner = preconditioner;
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
