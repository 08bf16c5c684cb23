/* The LAPACK routines used here. Character arguments carry their length at the end. */
#ifndef DAE_LINALG_LAPACK_H
#define DAE_LINALG_LAPACK_H

#include <stddef.h>

void dgetrf_(const int *m, const int *n, double *a, const int *lda, int *pivot, int *info);
void dgetrs_(const char *trans, const int *n, const int *nrhs, const double *a, const int *lda,
             const int *pivot, double *b, const int *ldb, int *info, size_t length);
void zgetrf_(const int *m, const int *n, double *a, const int *lda, int *pivot, int *info);
void zgetrs_(const char *trans, const int *n, const int *nrhs, const double *a, const int *lda,
             const int *pivot, double *b, const int *ldb, int *info, size_t length);
void dgbtrf_(const int *m, const int *n, const int *kl, const int *ku, double *ab, const int *ldab,
             int *pivot, int *info);
void dgbtrs_(const char *trans, const int *n, const int *kl, const int *ku, const int *nrhs, const double *ab,
             const int *ldab, const int *pivot, double *b, const int *ldb, int *info, size_t length);
void zgbtrf_(const int *m, const int *n, const int *kl, const int *ku, double *ab, const int *ldab,
             int *pivot, int *info);
void zgbtrs_(const char *trans, const int *n, const int *kl, const int *ku, const int *nrhs, const double *ab,
             const int *ldab, const int *pivot, double *b, const int *ldb, int *info, size_t length);

#endif
