/* The continuous solution of a run, as it is kept in a file and read again. */
#ifndef DAEDALUS_SOLUTION_H
#define DAEDALUS_SOLUTION_H

#include <daedalus/problem.h>
#include <daedalus/table.h>

DAE_BEGIN_DECLS

/* What a run wrote through options.solution: a line "daedalus solution 1", a line with a JSON object (problem with its
 * parameters, solver, tolerances, components), and then for every piece of the solution the numbers
 * (little-endian doubles) from, to, degree, and the states at the points from + (to - from) (1 - cos(k pi/degree))/2,
 * k = 0 .. degree. The polynomial through them is the dense output of the method. A file that ends early (a run
 * that was interrupted) holds the pieces that are complete. */
typedef struct dae_solution dae_solution; /* opaque: such a file, read */

typedef struct dae_solution_info {
    const char *problem, *solver, *formulation; /* formulation: or NULL */
    double rtol, atol, t0, t_end;               /* from where to where it goes */
    int n;
    long pieces;
} dae_solution_info;

/* Copies what it keeps. NULL: see *err. */
DAE_API dae_solution *dae_solution_read(const void *data, size_t size, dae_error *err);
DAE_API void dae_solution_destroy(dae_solution *s);                         /* NULL allowed */
DAE_API const dae_solution_info *dae_solution_about(const dae_solution *s); /* lives as long as s */
/* y (n) at t, and its derivative (NULL: not wanted). At a jump: the value before it. */
DAE_API dae_status dae_solution_at(const dae_solution *s, double t, double *y, double *yp, dae_error *err);
/* The solution at these times: one JSON object (mechanical problems of the test set with a and lambda, which are
 * solved for there), or a table as of dae_run_table. */
DAE_API dae_status dae_solution_json(const dae_solution *s, const double *t, int count, dae_write_fn *write,
                                     void *user, dae_error *err);
DAE_API dae_table *dae_solution_table(const dae_solution *s, const double *t, int count, dae_error *err);

DAE_END_DECLS

#endif
