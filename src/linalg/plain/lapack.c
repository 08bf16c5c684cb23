/* The few LAPACK routines that this library calls, where there is no LAPACK (DAE_PLAIN_LAPACK: the web page).
 * Matrices are square or tall with ld = number of rows, as all callers here have them; only the character
 * arguments that occur are taken. The kernels are those of the small blocks; pivots count from 0. */
#include "linalg/lapack.h"
#include "linalg/saddle/kernel.h"

void dgetrf_(const int *m, const int *n, double *a, const int *lda, int *pivot, int *info)
{
    (void)m, (void)lda;
    *info = kernel_lu(*n, a, pivot);
}

void dgetrs_(const char *trans, const int *n, const int *nrhs, const double *a, const int *lda,
             const int *pivot, double *b, const int *ldb, int *info, size_t length)
{
    (void)lda, (void)length;
    for (int j = 0; j < *nrhs; j++) {
        double *x = b + AT(0, j, *ldb);
        if (*trans == 'N') kernel_lu_solve(*n, a, pivot, x);
        else kernel_lu_solve_t(*n, a, pivot, x);
    }
    *info = 0;
}

void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t length)
{
    (void)uplo, (void)lda, (void)length; /* the lower triangle */
    *info = kernel_cholesky(*n, a);
}

void dgeqrf_(const int *m, const int *n, double *a, const int *lda, double *tau, double *work,
             const int *lwork, int *info)
{
    (void)lda, (void)work, (void)lwork;
    *info = kernel_qr(*m, *n, a, tau);
}

/* c = Q' c (side L, trans T) or c = c Q (side R, trans N), c being m x n. */
void dormqr_(const char *side, const char *trans, const int *m, const int *n, const int *k, const double *a,
             const int *lda, const double *tau, double *c, const int *ldc, double *work, const int *lwork,
             int *info, size_t length_side, size_t length_trans)
{
    (void)trans, (void)lwork, (void)length_side, (void)length_trans;
    *info = 0;
    if (*side == 'L') {
        for (int j = 0; j < *n; j++) kernel_qt(*m, *k, a, tau, c + AT(0, j, *ldc));
        return;
    }
    for (int i = 0; i < *m; i++) { /* a row x' becomes x' Q = (Q' x)' */
        for (int j = 0; j < *n; j++) work[j] = c[AT(i, j, *ldc)];
        kernel_qt(*lda, *k, a, tau, work);
        for (int j = 0; j < *n; j++) c[AT(i, j, *ldc)] = work[j];
    }
}
