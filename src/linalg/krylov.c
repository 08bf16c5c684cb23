/* GMRES(m), [SS86], for B x = c with B = W^-1 P^-1 (lambda M - J) W, c = W^-1 P^-1 b and W = diag(tolerance):
 *
 *     v_1 = c/|c|;    h_ij = (B v_j, v_i),    h_(j+1)j v_(j+1) = B v_j - sum_i h_ij v_i         modified Gram-Schmidt
 *     H is made triangular by rotations as it grows; the last component of the rotated |c| e_1 is the norm of what is left.
 *
 * Complex vectors are the real parts followed by the imaginary ones, so that the real part of an inner product is one of twice the
 * length. */
#include "linalg/krylov.h"

#include "core/arena.h"
#include "core/matrix.h"
#include "core/vector.h"
#include "linalg/band.h"
#include "linalg/ilu.h"
#include "linalg/scalar.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct gmres {
    dae_krylov *k;
    int n, is_complex, m; /* m: vectors */
    const dae_pattern *pattern;
    const dae_matrix *mass;
    double re, im; /* lambda */
    const double *J;
    double *v;          /* (m+1) vectors of n (or 2n): the basis */
    double *s;          /* one: argument of the product */
    double *Mx;         /* n: where M is not the identity */
    dae_pair *H;        /* (m+1) x m by columns, triangular as it goes */
    dae_pair *sine, *g; /* m, m+1: rotations and the rotated right-hand side */
    double *cosine;
    dae_arena *arena; /* of the band */
    dae_band_lu band;
    dae_ilu ilu;
    void *user; /* the user's preconditioner */
} gmres;

static void destroy(void *self)
{
    gmres *s = self;
    if (!s) return;
    if (s->user) s->k->user->destroy(s->user);
    dae_ilu_destroy(&s->ilu);
    dae_arena_destroy(s->arena);
    free(s->v);
    free(s->H);
    free(s->cosine);
    free(s);
}

static int create_preconditioner(gmres *s)
{
    const dae_pattern *p = s->pattern;
    switch (s->k->preconditioner) {
    case DAE_NO_PRECONDITIONER: break;
    case DAE_BAND:
        s->arena = dae_arena_create();
        if (!s->arena) return -1;
        dae_band_init(&s->band, s->n, p->lower, p->upper, s->is_complex, s->arena);
        return dae_arena_failed(s->arena) ? -1 : 0;
    case DAE_ILU: return dae_ilu_create(&s->ilu, p, s->n, s->is_complex);
    case DAE_USER:
        s->user = s->k->user->create(s->n, p, s->mass, s->is_complex, s->k->user->user);
        return s->user ? 0 : -1;
    }
    return 0;
}

static void *create(int n, const dae_pattern *pattern, const dae_matrix *mass, int is_complex, void *user)
{
    dae_krylov *k = user;
    gmres *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->k = k;
    s->n = n;
    s->m = k->vectors < n ? k->vectors : n;
    s->is_complex = is_complex;
    s->pattern = pattern;
    s->mass = mass;
    size_t m = (size_t)s->m, length = (size_t)n * (is_complex ? 2 : 1);
    s->v = malloc(((m + 2) * length + (mass->n ? (size_t)n : 0)) * sizeof *s->v);
    s->H = malloc(((m + 1) * m + 2 * m + 1) * sizeof *s->H);
    s->cosine = malloc((m + 1) * sizeof *s->cosine);
    if (!s->v || !s->H || !s->cosine || create_preconditioner(s)) {
        destroy(s);
        return NULL;
    }
    s->s = s->v + (m + 1) * length;
    s->Mx = s->s + length;
    s->sine = s->H + (m + 1) * m;
    s->g = s->sine + m;
    return s;
}

/* ---- Preconditioner --------------------------------------------------------------------------------- */

/* What of lambda M - J lies in the band. */
static void form_band(gmres *s)
{
    dae_band_lu *b = &s->band;
    int n = s->n, low = s->pattern->lower, up = s->pattern->upper, width = low + 1 + up;
    for (int j = 0; j < n; j++) {
        double *to = b->re + (size_t)j * (size_t)b->ld,
               *im = b->im ? b->im + (size_t)j * (size_t)b->ld : NULL;
        dae_zero(b->ld, to);
        if (im) dae_zero(b->ld, im);
        for (int i = j > up ? j - up : 0; i < n && i - j <= low; i++) {
            double m = s->mass->n ? dae_matrix_get(s->mass, i, j) : i == j;
            int k = low + up + i - j;
            to[k] = s->re * m - s->J[up + i - j + (long)j * width];
            if (im) im[k] = s->im * m;
        }
    }
}

static int factor(void *self, double re, double im, const double *J)
{
    gmres *s = self;
    s->re = re;
    s->im = im;
    s->J = J;
    switch (s->k->preconditioner) {
    case DAE_NO_PRECONDITIONER: break;
    case DAE_BAND: form_band(s); return dae_band_factor(&s->band);
    case DAE_ILU: dae_ilu_form(&s->ilu, re, im, J, s->mass); return dae_ilu_factor(&s->ilu);
    case DAE_USER: return s->k->user->factor(s->user, re, im, J);
    }
    return 0;
}

/* x := x / (lambda m) where nothing better is known, m the diagonal of M; rows without one are left alone. */
static void divide(const gmres *s, double *re, double *im)
{
    double ire, iim;
    if (!dae_pair_reciprocal(s->re, s->im, &ire, &iim)) return;
    for (int i = 0; i < s->n; i++) {
        double m = s->mass->n ? dae_matrix_get(s->mass, i, i) : 1;
        if (m == 0) continue;
        dae_pair q = dae_pair_times((dae_pair){re[i] / m, im ? im[i] / m : 0}, ire, iim);
        re[i] = q.re;
        if (im) im[i] = q.im;
    }
}

static int precondition(const gmres *s, double *x)
{
    double *im = s->is_complex ? x + s->n : NULL;
    switch (s->k->preconditioner) {
    case DAE_NO_PRECONDITIONER: divide(s, x, im); break;
    case DAE_BAND: dae_band_solve(&s->band, x, im); break;
    case DAE_ILU: dae_ilu_solve(&s->ilu, x, im); break;
    case DAE_USER: return s->k->user->solve(s->user, x, im);
    }
    return 0;
}

/* ---- The operator ----------------------------------------------------------------------------------- */

static int multiply_jacobian(const gmres *s, const double *x, double *Jx)
{
    const dae_krylov *k = s->k;
    if (k->product) return k->product(k->self, x, Jx);
    dae_matrix J = {.n = s->n, .pattern = *s->pattern, .a = s->J};
    dae_matrix_multiply(&J, s->n, x, Jx);
    for (int i = 0; i < k->second_order; i++) Jx[i] = x[k->second_order + i];
    return 0;
}

/* z = (lambda M - J) x */
static int multiply(const gmres *s, const double *x, double *z)
{
    int n = s->n;
    for (int part = 0; part <= s->is_complex; part++) {
        if (multiply_jacobian(s, x + part * n, z + part * n)) return 1;
    }
    for (int i = 0; i < n * (1 + s->is_complex); i++) z[i] = -z[i];
    for (int part = 0; part <= s->is_complex; part++) {
        const double *y = x + part * n;
        if (s->mass->n) {
            dae_matrix_multiply(s->mass, n, y, s->Mx);
            y = s->Mx;
        }
        dae_axpy(n, s->re, y, z + part * n);
        if (s->is_complex) dae_axpy(n, part ? -s->im : s->im, y, z + (part ? 0 : n));
    }
    return 0;
}

static void scale(const gmres *s, int up, double *x)
{
    const double *w = s->k->tolerance;
    for (int part = 0; part <= s->is_complex; part++, x += s->n) {
        for (int i = 0; i < s->n; i++) x[i] = up ? x[i] * w[i] : x[i] / w[i];
    }
}

/* z = B v */
static int apply(const gmres *s, const double *v, double *z)
{
    dae_copy(s->n * (1 + s->is_complex), v, s->s);
    scale(s, 1, s->s);
    if (multiply(s, s->s, z) || precondition(s, z)) return 1;
    scale(s, 0, z);
    return 0;
}

/* ---- GMRES -------------------------------------------------------------------------------------------- */

static double dot(int n, const double *restrict a, const double *restrict b)
{
    double s[4] = {0, 0, 0, 0};
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        for (int k = 0; k < 4; k++) s[k] += a[i + k] * b[i + k];
    }
    for (; i < n; i++) s[0] += a[i] * b[i];
    return (s[0] + s[1]) + (s[2] + s[3]);
}

/* (a, b), linear in b */
static dae_pair inner(const gmres *s, const double *a, const double *b)
{
    int n = s->n;
    if (!s->is_complex) return (dae_pair){dot(n, a, b), 0};
    return (dae_pair){dot(2 * n, a, b), dot(n, a, b + n) - dot(n, a + n, b)};
}

/* (re, im) += h x; im NULL where real */
static void add(const gmres *s, dae_pair h, const double *x, double *re, double *im)
{
    int n = s->n;
    dae_axpy(n, h.re, x, re);
    if (!im) return;
    dae_axpy(n, h.re, x + n, im);
    if (h.im == 0) return;
    dae_axpy(n, -h.im, x + n, re);
    dae_axpy(n, h.im, x, im);
}

static double *imaginary(const gmres *s, double *x)
{
    return s->is_complex ? x + s->n : NULL;
}

static double length(const gmres *s, const double *x)
{
    return sqrt(dot(s->n * (1 + s->is_complex), x, x));
}

/* Rotation k: (c, s; -conj(s), c) with c real. */
static void rotate(const gmres *s, int k, dae_pair *a, dae_pair *b)
{
    double c = s->cosine[k];
    dae_pair z = s->sine[k], x = *a, y = *b;
    *a = (dae_pair){c * x.re + z.re * y.re - z.im * y.im, c * x.im + z.re * y.im + z.im * y.re};
    *b = (dae_pair){c * y.re - (z.re * x.re + z.im * x.im), c * y.im - (z.re * x.im - z.im * x.re)};
}

/* The rotation that removes b, which is real and not negative, from (a, b). */
static void make_rotation(gmres *s, int k, dae_pair a, double b)
{
    double size = hypot(a.re, a.im), r = hypot(size, b);
    s->cosine[k] = r > 0 ? size / r : 1;
    s->sine[k] = r > 0 ? size > 0 ? (dae_pair){a.re / size * b / r, a.im / size * b / r} : (dae_pair){1, 0}
                       : (dae_pair){0, 0};
}

/* Step j: the next vector of the basis and the column of H; returns what is left, or NAN. */
static double extend(gmres *s, int j)
{
    size_t size = (size_t)s->n * (size_t)(1 + s->is_complex);
    double *z = s->v + (size_t)(j + 1) * size;
    dae_pair *h = s->H + (size_t)j * (size_t)(s->m + 1);
    if (apply(s, s->v + (size_t)j * size, z)) return NAN;
    for (int i = 0; i <= j; i++) {
        const double *v = s->v + (size_t)i * size;
        h[i] = inner(s, v, z);
        add(s, (dae_pair){-h[i].re, -h[i].im}, v, z, imaginary(s, z));
    }
    double next = length(s, z);
    if (!isfinite(next)) return NAN;
    for (size_t i = 0; i < size && next > 0; i++) z[i] /= next;
    dae_pair below = {next, 0};
    for (int i = 0; i < j; i++) rotate(s, i, &h[i], &h[i + 1]);
    make_rotation(s, j, h[j], next);
    rotate(s, j, &h[j], &below);
    s->g[j + 1] = (dae_pair){0, 0};
    rotate(s, j, &s->g[j], &s->g[j + 1]);
    if (s->k->iterations) ++*s->k->iterations;
    return hypot(s->g[j + 1].re, s->g[j + 1].im);
}

/* (re, im) += the combination of the first j vectors that leaves least. */
static void combine(gmres *s, int j, double *re, double *im)
{
    size_t size = (size_t)s->n * (size_t)(1 + s->is_complex);
    for (int i = j - 1; i >= 0; i--) {
        const dae_pair *column = s->H + (size_t)i * (size_t)(s->m + 1);
        double a, b;
        if (!dae_pair_reciprocal(column[i].re, column[i].im, &a, &b)) {
            s->g[i] = (dae_pair){0, 0};
            continue;
        }
        dae_pair y = s->g[i] = dae_pair_times(s->g[i], a, b);
        for (int k = 0; k < i; k++) s->g[k] = dae_pair_minus(s->g[k], column[k].re, column[k].im, y);
    }
    for (int i = 0; i < j; i++) add(s, s->g[i], s->v + (size_t)i * size, re, im);
}

/* v_1 = r/|r|, g_1 = |r|; returns it. */
static double begin(gmres *s, const double *r)
{
    int size = s->n * (1 + s->is_complex);
    double norm = length(s, r);
    for (int i = 0; i < size && norm > 0; i++) s->v[i] = r[i] / norm;
    s->g[0] = (dae_pair){norm, 0};
    return norm;
}

/* Begins again from what j steps left: the last component g_j, rotated back, in the basis. */
static double begin_again(gmres *s, int j)
{
    size_t size = (size_t)s->n * (size_t)(1 + s->is_complex);
    dae_pair next = s->g[j];
    dae_zero((int)size, s->s);
    for (int k = j - 1; k >= 0; k--) { /* (c, -s; conj(s), c) on (0, next) */
        double c = s->cosine[k];
        dae_pair z = s->sine[k];
        add(s, (dae_pair){c * next.re, c * next.im}, s->v + (size_t)(k + 1) * size, s->s, imaginary(s, s->s));
        next = (dae_pair){-(z.re * next.re - z.im * next.im), -(z.re * next.im + z.im * next.re)};
    }
    add(s, next, s->v, s->s, imaginary(s, s->s));
    return begin(s, s->s);
}

static int solve(void *self, double *re, double *im)
{
    gmres *s = self;
    const dae_krylov *k = s->k;
    int n = s->n, count = 0;
    double *r = s->s, unit = sqrt(n);
    dae_copy(n, re, r);
    if (im) dae_copy(n, im, r + n);
    if (precondition(s, r)) return 1;
    scale(s, 0, r);
    double left = begin(s, r), goal = fmax(k->relative * left, k->absolute * unit);
    if (!isfinite(left)) return 1;
    dae_zero(n, re);
    if (im) dae_zero(n, im);
    if (left <= goal) add(s, s->g[0], s->v, re, im); /* the preconditioner alone is good enough */
    while (left > goal && count < k->most) {
        int j = 0;
        while (left > goal && j < s->m && count < k->most) {
            left = extend(s, j++);
            count++;
            if (isnan(left)) return 1;
        }
        combine(s, j, re, im);
        if (left > goal) left = begin_again(s, j);
    }
    const double *w = k->tolerance;
    for (int i = 0; i < n; i++) re[i] *= w[i];
    for (int i = 0; im && i < n; i++) im[i] *= w[i];
    return 0;
}

/* ---- Checkpoint --------------------------------------------------------------------------------------- */

typedef struct kept {
    double re, im;
    int with_J;
    size_t factors; /* bytes that follow */
} kept;

/* The numbers of the preconditioner, one way or the other; how many bytes they are. */
static size_t carry(const gmres *s, void *to, const void *from)
{
    const dae_linear_solver *user = s->k->user;
    size_t one;
    switch (s->k->preconditioner) {
    case DAE_NO_PRECONDITIONER: break;
    case DAE_BAND:
        if (to) dae_arena_write(s->arena, to);
        if (from) dae_arena_read(s->arena, from);
        return dae_arena_bytes(s->arena);
    case DAE_ILU:
        one = (size_t)s->ilu.rowptr[s->n] * sizeof *s->ilu.re;
        for (int part = 0; part <= s->is_complex; part++) {
            double *own = part ? s->ilu.im : s->ilu.re;
            if (to) memcpy((unsigned char *)to + (size_t)part * one, own, one);
            if (from) memcpy(own, (const unsigned char *)from + (size_t)part * one, one);
        }
        return one * (size_t)(1 + s->is_complex);
    case DAE_USER: return user->save && !from ? user->save(s->user, to) : 0;
    }
    return 0;
}

static size_t save(const void *self, void *buffer)
{
    const gmres *s = self;
    kept k = {s->re, s->im, s->J != NULL, carry(s, NULL, NULL)};
    if (buffer) {
        memcpy(buffer, &k, sizeof k);
        carry(s, (unsigned char *)buffer + sizeof k, NULL);
    }
    return sizeof k + k.factors;
}

static int load(void *self, const void *buffer, size_t size, const double *J)
{
    gmres *s = self;
    kept k;
    const unsigned char *in = (const unsigned char *)buffer + sizeof k;
    if (size < sizeof k) return 1;
    memcpy(&k, buffer, sizeof k);
    if (k.factors != size - sizeof k || k.factors != carry(s, NULL, NULL) || (k.with_J && !J)) return 1;
    s->re = k.re;
    s->im = k.im;
    s->J = k.with_J ? J : NULL;
    if (s->k->preconditioner == DAE_USER) return s->k->user->load(s->user, in, k.factors, s->J);
    carry(s, NULL, in);
    return 0;
}

dae_linear_solver dae_krylov_solver(dae_krylov *k)
{
    return (dae_linear_solver){create, factor, solve, destroy, "GMRES", k, save, load};
}
