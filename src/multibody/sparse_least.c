#include "multibody/sparse_least.h"

#include "linalg/saddle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { fewest = 48 };  /* rows; ours: below, dense factors are as fast */
#define UNCERTAIN 1e-7 /* error of a known solution from which on rows may depend on each other; ours */
#define LEFT 1e-10     /* of A d = b, relative to the largest of b: what refinement may leave; ours */

typedef struct least {
    int rows, n;
    dae_arena *arena;
    dae_saddle_spec spec;
    dae_saddle *saddle;
    const double *G;     /* values of A */
    double *one, *x, *r; /* M; solution and residual, n+rows each */
} least;

/* The pattern of the saddle-point matrix; 0: no memory. */
static int set_pattern(least *s, const int *colptr, const int *rowind)
{
    int *block = dae_arena_ints(s->arena, (size_t)s->n);
    s->one = dae_arena_reals(s->arena, (size_t)s->n);
    s->x = dae_arena_reals(s->arena, (size_t)(s->n + s->rows));
    s->r = dae_arena_reals(s->arena, (size_t)(s->n + s->rows));
    if (dae_arena_failed(s->arena)) return 0;
    for (int c = 0; c < s->n; c++) block[c] = 1, s->one[c] = 1;
    s->spec = (dae_saddle_spec){.mode = "sparse_lu",
                                .nv = s->n,
                                .nl = s->rows,
                                .block = block,
                                .nblock = s->n,
                                .mass = s->one,
                                .colptr = colptr,
                                .rowind = rowind};
    return 1;
}

/* r -= K x */
static void subtract_product(const least *s, const double *x, double *r)
{
    for (int i = 0; i < s->n; i++) r[i] -= x[i];
    dae_saddle_multiply_transposed(&s->spec, s->G, -1, x + s->n, r);
    dae_saddle_multiply(&s->spec, s->G, -1, x, r + s->n);
}

/* 1: the factors give a known solution back, so that the rows are independent. */
static int are_independent(const least *s)
{
    int all = s->n + s->rows;
    double worst = 0;
    memset(s->r, 0, (size_t)all * sizeof *s->r);
    for (int i = 0; i < all; i++) s->x[i] = (i * 7 % 11 < 5 ? -1.0 : 1.0) * (1 + i % 3 * 0.5);
    subtract_product(s, s->x, s->r);
    dae_saddle_solve(s->saddle, s->r, s->r + s->n);
    for (int i = 0; i < all; i++) {
        double off = fabs(s->r[i] + s->x[i]);
        if (!(off <= worst)) worst = off;
    }
    return worst <= UNCERTAIN;
}

/* With one correction. 1: A d = b does not hold well enough. */
static int solve(const least *s, double *b)
{
    int all = s->n + s->rows;
    double largest = 0, left = 0;
    memset(s->x, 0, (size_t)all * sizeof *s->x);
    for (int i = 0; i < s->rows; i++) largest = fmax(largest, fabs(b[i]));
    for (int pass = 0; pass < 3; pass++) {
        memset(s->r, 0, (size_t)s->n * sizeof *s->r);
        memcpy(s->r + s->n, b, (size_t)s->rows * sizeof *b);
        subtract_product(s, s->x, s->r);
        if (pass == 2) break;
        dae_saddle_solve(s->saddle, s->r, s->r + s->n);
        for (int i = 0; i < all; i++) s->x[i] += s->r[i];
    }
    for (int i = 0; i < all; i++)
        if (!(fabs(s->r[i]) <= left)) left = fabs(s->r[i]);
    if (!(left <= LEFT * largest)) return 1;
    memcpy(b, s->x, (size_t)s->n * sizeof *b);
    return 0;
}

int mbs_sparse_least(int rows, int n, const int *colptr, const int *rowind, const double *A, double *b)
{
    least s = {.rows = rows, .n = n, .G = A};
    if (rows < fewest || rows > n || !(s.arena = dae_arena_create())) return 1;
    int bad = !set_pattern(&s, colptr, rowind) || !(s.saddle = dae_saddle_create(&s.spec, s.arena, NULL)) ||
              dae_saddle_anchor(s.saddle, s.one, s.G, NULL) ||
              dae_saddle_factor(s.saddle, s.one, s.G, NULL) || !are_independent(&s) || solve(&s, b);
    dae_saddle_destroy(s.saddle);
    dae_arena_destroy(s.arena);
    return bad;
}
