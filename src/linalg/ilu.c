#include "linalg/ilu.h"

#include "core/matrix.h"
#include "linalg/scalar.h"

#include <math.h>
#include <stdlib.h>

#define RELAX 0.97  /* ours: 1 is best on diffusion and can break down elsewhere */
#define GUARD 0.2   /* ours: a pivot that loses more than this by what is added to it is left as it was */
#define LEAST 1e-10 /* ours: a pivot below this part of its row is replaced by it: there is no pivoting */

/* ---- Create --------------------------------------------------------------------------------------- */

/* The rows of J, to which the places of the diagonal that it lacks are added; count: n, zero. */
static void fill_rows(dae_ilu *f, const dae_pattern *J, int *count)
{
    int n = f->n;
    for (int i = 0; i < n; i++) count[i] = f->rowptr[i];
    for (int j = 0; j < n; j++) { /* columns ascending, so that they come so in every row */
        int there = 0;
        for (int k = J->colptr[j]; k < J->colptr[j + 1]; k++) {
            int i = J->rowind[k], at = count[i]++;
            there |= i == j;
            f->colind[at] = j;
            f->source[at] = k;
            if (i == j) f->diagonal[i] = at;
        }
        if (there) continue;
        f->diagonal[j] = count[j]++;
        f->colind[f->diagonal[j]] = j;
        f->source[f->diagonal[j]] = -1;
    }
}

int dae_ilu_create(dae_ilu *f, const dae_pattern *J, int n, int is_complex)
{
    *f = (dae_ilu){.n = n, .is_complex = is_complex};
    size_t size = (size_t)n, most = (size_t)J->colptr[n] + size;
    f->rowptr = calloc(size + 1, sizeof *f->rowptr);
    f->diagonal = malloc(size * sizeof *f->diagonal);
    f->place = calloc(size, sizeof *f->place);
    f->colind = malloc(most * sizeof *f->colind);
    f->source = malloc(most * sizeof *f->source);
    if (!f->rowptr || !f->diagonal || !f->place || !f->colind || !f->source) goto memory;
    for (int j = 0; j < n; j++) {
        int there = 0;
        for (int k = J->colptr[j]; k < J->colptr[j + 1]; k++) {
            f->rowptr[J->rowind[k] + 1]++;
            there |= J->rowind[k] == j;
        }
        if (!there) f->rowptr[j + 1]++;
    }
    for (int i = 0; i < n; i++) f->rowptr[i + 1] += f->rowptr[i];
    fill_rows(f, J, f->place);
    for (int i = 0; i < n; i++) f->place[i] = 0;
    size_t count = (size_t)f->rowptr[n];
    f->re = malloc(count * sizeof *f->re);
    f->im = is_complex ? malloc(count * sizeof *f->im) : NULL;
    if (f->re && (f->im || !is_complex)) return 0;
memory:
    dae_ilu_destroy(f);
    return -1;
}

void dae_ilu_destroy(dae_ilu *f)
{
    free(f->rowptr);
    free(f->colind);
    free(f->source);
    free(f->diagonal);
    free(f->place);
    free(f->re);
    free(f->im);
    *f = (dae_ilu){0};
}

void dae_ilu_form(dae_ilu *f, double re, double im, const double *J, const dae_matrix *mass)
{
    for (int i = 0; i < f->n; i++) {
        for (int k = f->rowptr[i]; k < f->rowptr[i + 1]; k++) {
            int j = f->colind[k];
            double m = mass->n ? dae_matrix_get(mass, i, j) : i == j;
            f->re[k] = re * m - (f->source[k] < 0 ? 0 : J[f->source[k]]);
            if (f->im) f->im[k] = im * m;
        }
    }
}

/* ---- Factor ------------------------------------------------------------------------------------------- */

static dae_pair value(const dae_ilu *f, int k)
{
    return (dae_pair){f->re[k], f->im ? f->im[k] : 0};
}

static void set(dae_ilu *f, int k, dae_pair x)
{
    f->re[k] = x.re;
    if (f->im) f->im[k] = x.im;
}

static double size_of(dae_pair x)
{
    return fabs(x.re) + fabs(x.im);
}

/* Row i of L and U from the rows before it; returns what falls outside. */
static dae_pair eliminate(dae_ilu *f, int i)
{
    int begin = f->rowptr[i], end = f->rowptr[i + 1];
    dae_pair lost = {0, 0};
    for (int k = begin; k < end; k++) f->place[f->colind[k]] = k + 1;
    for (int k = begin; k < f->diagonal[i]; k++) {
        int row = f->colind[k];
        dae_pair pivot = value(f, f->diagonal[row]), l = dae_pair_times(value(f, k), pivot.re, pivot.im);
        set(f, k, l);
        if (l.re == 0 && l.im == 0) continue;
        for (int c = f->diagonal[row] + 1; c < f->rowptr[row + 1]; c++) {
            int at = f->place[f->colind[c]];
            if (at) set(f, at - 1, dae_pair_minus(value(f, at - 1), l.re, l.im, value(f, c)));
            else lost = dae_pair_minus(lost, l.re, l.im, value(f, c));
        }
    }
    for (int k = begin; k < end; k++) f->place[f->colind[k]] = 0;
    return lost;
}

int dae_ilu_factor(dae_ilu *f)
{
    for (int i = 0; i < f->n; i++) {
        double largest = 0;
        for (int k = f->rowptr[i]; k < f->rowptr[i + 1]; k++) {
            double size = size_of(value(f, k));
            if (!isfinite(size)) return i + 1;
            largest = fmax(largest, size);
        }
        dae_pair lost = eliminate(f, i), plain = value(f, f->diagonal[i]),
                 pivot = {plain.re + RELAX * lost.re, plain.im + RELAX * lost.im};
        if (!(size_of(pivot) > GUARD * size_of(plain)) || !(pivot.re * plain.re + pivot.im * plain.im > 0))
            pivot = plain;
        if (!(size_of(pivot) > LEAST * largest)) pivot = (dae_pair){LEAST * largest, 0};
        if (!dae_pair_reciprocal(pivot.re, pivot.im, &pivot.re, &pivot.im)) return i + 1;
        set(f, f->diagonal[i], pivot);
    }
    return 0;
}

/* ---- Solve --------------------------------------------------------------------------------------------- */

static void solve_real(const dae_ilu *f, double *x)
{
    for (int i = 0; i < f->n; i++) {
        double sum = x[i];
        for (int k = f->rowptr[i]; k < f->diagonal[i]; k++) sum -= f->re[k] * x[f->colind[k]];
        x[i] = sum;
    }
    for (int i = f->n - 1; i >= 0; i--) {
        double sum = x[i];
        for (int k = f->diagonal[i] + 1; k < f->rowptr[i + 1]; k++) sum -= f->re[k] * x[f->colind[k]];
        x[i] = sum * f->re[f->diagonal[i]];
    }
}

/* x_i minus the entries begin .. end-1 times theirs. */
static dae_pair reduced(const dae_ilu *f, int i, int begin, int end, const double *re, const double *im)
{
    dae_pair sum = {re[i], im[i]};
    for (int k = begin; k < end; k++) {
        int j = f->colind[k];
        sum = dae_pair_minus(sum, f->re[k], f->im[k], (dae_pair){re[j], im[j]});
    }
    return sum;
}

void dae_ilu_solve(const dae_ilu *f, double *re, double *im)
{
    if (!f->is_complex) {
        solve_real(f, re);
        return;
    }
    for (int i = 0; i < f->n; i++) {
        dae_pair x = reduced(f, i, f->rowptr[i], f->diagonal[i], re, im);
        re[i] = x.re;
        im[i] = x.im;
    }
    for (int i = f->n - 1; i >= 0; i--) {
        int d = f->diagonal[i];
        dae_pair x = dae_pair_times(reduced(f, i, d + 1, f->rowptr[i + 1], re, im), f->re[d], f->im[d]);
        re[i] = x.re;
        im[i] = x.im;
    }
}
