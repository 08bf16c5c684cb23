/* The LAPACK routines used here. Character arguments carry their length at the end. Without LAPACK (the build
 * switch DAEDALUS_LAPACK) those of linalg/plain take their places, under names of their own. */
#ifndef DAE_LINALG_LAPACK_H
#define DAE_LINALG_LAPACK_H

#include <stddef.h>

#ifdef DAE_PLAIN_LAPACK
#define dgetrf_ dae_plain_dgetrf
#define dgetrs_ dae_plain_dgetrs
#define dsytrf_ dae_plain_dsytrf
#define dsytrs_ dae_plain_dsytrs
#define dpotrf_ dae_plain_dpotrf
#define dgeqrf_ dae_plain_dgeqrf
#define dormqr_ dae_plain_dormqr
#endif

void dgetrf_(const int *m, const int *n, double *a, const int *lda, int *pivot, int *info);
void dgetrs_(const char *trans, const int *n, const int *nrhs, const double *a, const int *lda,
             const int *pivot, double *b, const int *ldb, int *info, size_t length);
void zgetrf_(const int *m, const int *n, double *a, const int *lda, int *pivot, int *info);
void zgetrs_(const char *trans, const int *n, const int *nrhs, const double *a, const int *lda,
             const int *pivot, double *b, const int *ldb, int *info, size_t length);
void dsytrf_(const char *uplo, const int *n, double *a, const int *lda, int *pivot, double *work,
             const int *lwork, int *info, size_t length);
void dsytrs_(const char *uplo, const int *n, const int *nrhs, const double *a, const int *lda,
             const int *pivot, double *b, const int *ldb, int *info, size_t length);
void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t length);
void dgeqrf_(const int *m, const int *n, double *a, const int *lda, double *tau, double *work,
             const int *lwork, int *info);
void dormqr_(const char *side, const char *trans, const int *m, const int *n, const int *k, const double *a,
             const int *lda, const double *tau, double *c, const int *ldc, double *work, const int *lwork,
             int *info, size_t length_side, size_t length_trans);

#endif
