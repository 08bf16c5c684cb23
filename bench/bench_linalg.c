/* Measures the linear algebra: own kernels against LAPACK and KLU. The cross-overs in src/linalg were read
 * off these tables. Run it with OPENBLAS_NUM_THREADS=1 on a quiet machine; every figure is the best of many
 * runs. */
#include "core/arena.h"
#include "linalg/band.h"
#include "linalg/dense.h"
#include "linalg/lapack.h"
#include "linalg/shifted.h"
#include "linalg/sparse.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RUNS = 200 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double next(void)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(state >> 11) / (double)(1ll << 52) - 1;
}

static double *reals(size_t n)
{
    double *x = calloc(n + 1, sizeof *x);
    if (!x) exit(1);
    return x;
}

/* Repetitions so that a run takes some tens of microseconds. */
static int repetitions(double work)
{
    return 1 + (int)(2e4 / (work + 100));
}

/* ---- Dense -------------------------------------------------------------------------------------- */

/* Nanoseconds of a factorization and of a solve, lambda I - J with 30 % nonzeros or a full random matrix. */
static void time_dense(int n, int is_complex, dae_dense_kernel kernel, int full, double *factor,
                       double *solve)
{
    dae_arena *arena = dae_arena_create();
    dae_dense_lu d;
    dae_dense_init_with(&d, n, is_complex, kernel, arena);
    size_t size = (size_t)(d.ld * d.ld), bytes = size * sizeof(double);
    double *re = reals(size), *im = reals(size), *x = reals((size_t)n), *y = reals((size_t)n);
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++) {
            double *a = re + i + j * d.ld;
            *a = full || fabs(next()) < 0.3 ? next() : 0;
            if (full) im[i + j * d.ld] = next();
            if (i == j && !full) {
                *a += 5;
                im[i + j * d.ld] = 4;
            }
        }
    }
    int reps = repetitions((double)n * n * n);
    double best[3] = {1, 1, 1};
    for (int run = 0; run < RUNS; run++) {
        double t[4];
        t[0] = now();
        for (int r = 0; r < reps; r++) {
            memcpy(d.re, re, bytes);
            if (is_complex) memcpy(d.im, im, bytes);
            __asm__ volatile("" ::: "memory");
        }
        t[1] = now();
        for (int r = 0; r < reps; r++) {
            memcpy(d.re, re, bytes);
            if (is_complex) memcpy(d.im, im, bytes);
            dae_dense_factor(&d);
        }
        t[2] = now();
        for (int r = 0; r < reps; r++) {
            x[0] = y[0] = 1;
            dae_dense_solve(&d, x, is_complex ? y : NULL);
        }
        t[3] = now();
        for (int k = 0; k < 3; k++) best[k] = fmin(best[k], (t[k + 1] - t[k]) / reps);
    }
    *factor = (best[1] - best[0]) * 1e9;
    *solve = best[2] * 1e9;
    free(re);
    free(im);
    free(x);
    free(y);
    dae_arena_destroy(arena);
}

static void table_dense(int full)
{
    static const int size[] = {2, 3, 4, 6, 8, 12, 16, 20, 27, 32, 48, 64, 96, 128, 160, 200, 256};
    printf("\nDense, %s (ns): own kernel / LAPACK\n",
           full ? "full random matrices" : "5 I - J with 30 % nonzeros");
    printf("   n |      real factor |       real solve |   complex factor |    complex solve\n");
    for (size_t k = 0; k < sizeof size / sizeof *size; k++) {
        double f[4], s[4];
        for (int c = 0; c < 4; c++) {
            time_dense(size[k], c >> 1, c & 1 ? DAE_DENSE_LAPACK : DAE_DENSE_OWN, full, &f[c], &s[c]);
        }
        printf("%4d | %7.0f %8.0f | %7.0f %8.0f | %7.0f %8.0f | %7.0f %8.0f\n", size[k], f[0], f[1], s[0],
               s[1], f[2], f[3], s[2], s[3]);
    }
    printf("In use: own kernels up to n = %d (real), %d (complex).\n", DAE_DENSE_OWN_REAL,
           DAE_DENSE_OWN_COMPLEX);
}

/* ---- Banded ------------------------------------------------------------------------------------- */

static void time_band(int n, int ml, int mu, int is_complex, double result[4])
{
    dae_arena *arena = dae_arena_create();
    dae_band_lu b;
    dae_band_init(&b, n, ml, mu, is_complex, arena);
    size_t size = (size_t)b.ld * (size_t)n, pairs = size * (1 + (size_t)is_complex);
    double *re = reals(size), *im = reals(size), *z = reals(pairs), *work = reals(pairs);
    double *x = reals(2 * (size_t)n), *y = reals((size_t)n);
    int *pivot = calloc((size_t)n, sizeof *pivot), one = 1, info;
    if (!pivot) exit(1);
    for (int j = 0; j < n; j++) {
        for (int i = j > mu ? j - mu : 0; i < n && i <= j + ml; i++) {
            int at = ml + mu + i - j + j * b.ld;
            re[at] = next() + (i == j ? 5 : 0);
            im[at] = i == j ? 4 : 0;
            z[at * (1 + is_complex)] = re[at];
            if (is_complex) z[2 * at + 1] = im[at];
        }
    }
    for (int k = 0; k < 4; k++) result[k] = 1;
    for (int run = 0; run < RUNS / 4; run++) {
        double t[5];
        for (int i = 0; i < 2 * n; i++) x[i] = y[i / 2] = 1;
        memcpy(b.re, re, size * sizeof *re);
        if (is_complex) memcpy(b.im, im, size * sizeof *im);
        memcpy(work, z, pairs * sizeof *z);
        t[0] = now();
        dae_band_factor(&b);
        t[1] = now();
        if (is_complex) zgbtrf_(&n, &n, &ml, &mu, work, &b.ld, pivot, &info);
        else dgbtrf_(&n, &n, &ml, &mu, work, &b.ld, pivot, &info);
        t[2] = now();
        dae_band_solve(&b, x, is_complex ? y : NULL);
        t[3] = now();
        if (is_complex) zgbtrs_("N", &n, &ml, &mu, &one, work, &b.ld, pivot, x, &n, &info, 1);
        else dgbtrs_("N", &n, &ml, &mu, &one, work, &b.ld, pivot, x, &n, &info, 1);
        t[4] = now();
        for (int k = 0; k < 4; k++) result[k] = fmin(result[k], t[k + 1] - t[k]);
    }
    free(re);
    free(im);
    free(z);
    free(work);
    free(x);
    free(y);
    free(pivot);
    dae_arena_destroy(arena);
}

static void table_band(void)
{
    static const int shape[][3] = {{400, 1, 1}, {400, 2, 2},   {400, 3, 3},   {400, 4, 4},
                                   {400, 8, 8}, {400, 16, 16}, {400, 32, 32}, {400, 64, 64}};
    printf("\nBanded (us): own kernel / LAPACK\n");
    printf("   n below above |     real factor |      real solve |  complex factor |   complex solve\n");
    for (size_t k = 0; k < sizeof shape / sizeof *shape; k++) {
        double r[2][4];
        for (int c = 0; c < 2; c++) time_band(shape[k][0], shape[k][1], shape[k][2], c, r[c]);
        printf("%4d %5d %5d |", shape[k][0], shape[k][1], shape[k][2]);
        for (int c = 0; c < 2; c++) {
            printf(" %7.2f %7.2f | %7.2f %7.2f%s", r[c][0] * 1e6, r[c][1] * 1e6, r[c][2] * 1e6, r[c][3] * 1e6,
                   c ? "\n" : " |");
        }
    }
    printf("In use: the own kernel, always.\n");
}

/* ---- Sparse ------------------------------------------------------------------------------------- */

/* A pattern like that of a circuit or a discretized mechanism: mostly near couplings, some far ones. */
static int make_pattern(int n, int per_column, int *colptr, int *rowind)
{
    int count = 0;
    unsigned char *mark = calloc((size_t)n, 1);
    if (!mark) exit(1);
    for (int j = 0; j < n; j++) {
        memset(mark, 0, (size_t)n);
        mark[j] = 1;
        for (int e = 1; e < per_column; e++) {
            int i = fabs(next()) < 0.93 ? j + (int)(8 * next()) : (int)(fabs(next()) * n);
            if (i >= 0 && i < n) mark[i] = 1;
        }
        colptr[j] = count;
        for (int i = 0; i < n; i++) {
            if (mark[i]) rowind[count++] = i;
        }
    }
    colptr[n] = count;
    free(mark);
    return count;
}

/* Microseconds of dae_shifted_factor with new lambda and of a solve; way 0: list, 1: dense. KLU is timed
 * apart. */
static void time_shifted(const dae_shifted_spec *spec, const double *J, double *factor, double *solve)
{
    dae_arena *arena = dae_arena_create();
    dae_error err;
    dae_shifted *s = dae_shifted_create(spec, arena, &err);
    if (!s) exit(1);
    double *x = reals((size_t)spec->n), *y = reals((size_t)spec->n);
    int reps = repetitions(20.0 * spec->n);
    *factor = *solve = 1;
    for (int run = 0; run < RUNS / 2; run++) {
        double t[3];
        t[0] = now();
        for (int r = 0; r < reps; r++) dae_shifted_factor(s, 5 + 0.01 * r, 4, J);
        t[1] = now();
        for (int r = 0; r < reps; r++) {
            x[0] = y[0] = 1;
            if (spec->complex_shift) dae_shifted_solve_complex(s, x, y);
            else dae_shifted_solve(s, x);
        }
        t[2] = now();
        *factor = fmin(*factor, (t[1] - t[0]) / reps);
        *solve = fmin(*solve, (t[2] - t[1]) / reps);
    }
    *factor *= 1e6;
    *solve *= 1e6;
    free(x);
    free(y);
    dae_shifted_destroy(s);
    dae_arena_destroy(arena);
}

static void time_klu(int n, const int *colptr, const int *rowind, const double *J, int is_complex,
                     double *factor, double *solve)
{
    dae_arena *arena = dae_arena_create();
    dae_sparse_lu s;
    if (dae_sparse_init(&s, n, colptr, rowind, is_complex, arena) < 0) exit(1);
    s.klu_only = 1;
    double *x = reals((size_t)n), *y = reals((size_t)n);
    for (int j = 0; j < n; j++) {
        for (int k = colptr[j]; k < colptr[j + 1]; k++) {
            s.value[k * (1 + is_complex)] = -J[k] + (rowind[k] == j ? 5 : 0);
            if (is_complex) s.value[2 * k + 1] = rowind[k] == j ? 4 : 0;
        }
    }
    int reps = repetitions(20.0 * n);
    *factor = *solve = 1;
    for (int run = 0; run < RUNS / 2; run++) {
        double t[3];
        t[0] = now();
        for (int r = 0; r < reps; r++) dae_sparse_factor(&s);
        t[1] = now();
        for (int r = 0; r < reps; r++) {
            x[0] = y[0] = 1;
            dae_sparse_solve(&s, x, is_complex ? y : NULL);
        }
        t[2] = now();
        *factor = fmin(*factor, (t[1] - t[0]) / reps);
        *solve = fmin(*solve, (t[2] - t[1]) / reps);
    }
    *factor *= 1e6;
    *solve *= 1e6;
    free(x);
    free(y);
    dae_sparse_free(&s);
    dae_arena_destroy(arena);
}

static void table_sparse(void)
{
    static const int shape[][2] = {{8, 3},  {12, 4},  {16, 4},  {20, 4},  {30, 4},
                                   {66, 5}, {100, 4}, {350, 4}, {1000, 3}};
    printf("\nSparse (us): list with fixed pivots / KLU refactor with its growth check / dense (to n = 100); "
           "the list\n"
           "and dense figures hold the forming of lambda M - J\n");
    printf("   n nonzeros |            real factor |      real solve |         complex factor |   complex "
           "solve\n");
    for (size_t k = 0; k < sizeof shape / sizeof *shape; k++) {
        int n = shape[k][0], *colptr = calloc((size_t)n + 1, sizeof(int));
        int *rowind = calloc((size_t)(n * (shape[k][1] + 1)), sizeof(int));
        if (!colptr || !rowind) exit(1);
        int count = make_pattern(n, shape[k][1], colptr, rowind);
        double *J = reals((size_t)count), *full = reals((size_t)(n * n));
        for (int j = 0; j < n; j++) {
            for (int p = colptr[j]; p < colptr[j + 1]; p++) full[rowind[p] + j * n] = J[p] = next();
        }
        printf("%4d %8d |", n, count);
        for (int c = 0; c < 2; c++) {
            dae_shifted_spec list = {.n = n, .complex_shift = c, .keep_storage = 1};
            dae_shifted_spec dense = {.n = n, .complex_shift = c};
            list.jacobian = (dae_pattern){.storage = DAE_SPARSE, .colptr = colptr, .rowind = rowind};
            double f[3] = {NAN, NAN, NAN}, s[3] = {NAN, NAN, NAN};
            time_shifted(&list, J, &f[0], &s[0]);
            time_klu(n, colptr, rowind, J, c, &f[1], &s[1]);
            if (n <= 100) time_shifted(&dense, full, &f[2], &s[2]);
            printf(" %6.2f %7.2f %7.2f | %4.2f %4.2f %5.2f%s", f[0], f[1], f[2], s[0], s[1], s[2],
                   c ? "\n" : " |");
        }
        free(colptr);
        free(rowind);
        free(J);
        free(full);
    }
}

int main(void)
{
    table_dense(0);
    table_dense(1);
    table_band();
    table_sparse();
    return 0;
}
