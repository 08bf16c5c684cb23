/* Products with matrices given as dae_matrix. */
#ifndef DAE_CORE_MATRIX_H
#define DAE_CORE_MATRIX_H

#include <daedalus/system.h>

#include "core/arena.h"

/* y = M x (M with n = 0: identity; size gives the length). x and y do not overlap. */
void dae_matrix_multiply(const dae_matrix *M, int size, const double *x, double *y);
/* y += M x, M with n > 0 and without columns */
void dae_matrix_multiply_add(const dae_matrix *M, const double *x, double *y);
/* The pattern of one block where there are columns. */
dae_pattern dae_pattern_block(const dae_pattern *p);
/* Deep copies into an arena; *ok becomes 0 if memory ran out. */
dae_pattern dae_pattern_copy(const dae_pattern *p, int n, dae_arena *a, int *ok);
dae_matrix dae_matrix_copy(const dae_matrix *M, dae_arena *a, int *ok);
/* Element (i,j), 0 where nothing is stored. */
double dae_matrix_get(const dae_matrix *M, int i, int j);
/* a := the values of a banded or sparse pattern as a dense matrix, column-major; places outside the pattern are left alone. */
void dae_pattern_to_dense(const dae_pattern *p, int n, const double *value, double *a);

#endif
