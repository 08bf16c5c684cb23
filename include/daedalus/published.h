/* The figures that the test set report prints, and the matrix of all solvers, problems and tolerances. */
#ifndef DAEDALUS_PUBLISHED_H
#define DAEDALUS_PUBLISHED_H

#include <daedalus/method.h>
#include <daedalus/problem.h>

DAE_BEGIN_DECLS

/* A row of the run characteristics printed in the test set report. NAN, -1, NULL: not printed. */
typedef struct dae_published_row {
    const char *problem, *solver; /* solver as the report calls it, in lower case */
    const char *variant;          /* "structured": linear algebra for y'' = f(t, y) */
    double rtol, atol, h0, mescd, scd;
    long steps, accepted, f, jac, lu;
    double cpu_seconds; /* of a 667 MHz Alpha */
    int example;        /* 1: from the description of the solver, not from the problem's table */
} dae_published_row;
DAE_API int dae_published_count(void);
DAE_API const dae_published_row *dae_published_get(int i); /* NULL outside 0 .. count-1 */
/* 1: the report lists the run of this solver at tolerance number m of the range as failed (for ida and cvode: that
 * of DASSL and VODE). */
DAE_API int dae_published_failed(const char *problem, const char *solver, int m);

/* The tolerances of a problem's work-precision diagram: rtol = 10^-(a + m b), m = 0 .. last. */
typedef struct dae_tolerance_range {
    const char *problem;
    double a, b;
    int last;
    double atol, h0; /* multiples of rtol, or numbers where fixed is set */
    int atol_fixed, h0_fixed;
} dae_tolerance_range;
DAE_API const dae_tolerance_range *dae_tolerance_range_find(const char *problem); /* NULL: none */

/* NULL: the matrix of all solvers and problems has runs of this method on this problem; else why not, in words. */
DAE_API const char *dae_matrix_exclusion(const dae_problem_info *problem, const dae_method_info *method);
/* The matrix has no runs of this method on this problem at relative tolerances below this one, for their cost; 0: it has all.
 * Only wnys2 on ringmod has a limit, 1e-9: order 2 takes 1.5e8 steps there, 4.7e9 at 1e-12 (more than an hour of CPU time). */
DAE_API double dae_matrix_least_rtol(const dae_problem_info *problem, const dae_method_info *method);

DAE_END_DECLS

#endif
