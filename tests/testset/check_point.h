/* What checkpoints.h is made of: data and points of the problems, computed elsewhere (see test_checkpoints.c). */
#ifndef DAE_TESTS_CHECK_POINT_H
#define DAE_TESTS_CHECK_POINT_H

#include <stddef.h>

/* One problem of the test set: its data. */
struct check_problem {
    const char *name, *kind;
    int n;
    double t0, t_end;
    const double *y0, *yp0, *discontinuity;
    int ndiscontinuity;
    const double *mass; /* (row, column, value), counted from 1, nmass of them */
    int nmass;
    const double *reference;
    double digits;
    const int *scored;
};
/* A point: f (for IDEs the residual) within tol, (df/dy) v = Jv, (dF/dy') w = Mw. NULL: not given. */
struct check_point {
    const char *problem, *id, *setting;
    double t;
    const double *y, *yp, *f, *tol, *v, *Jv, *w, *Mw;
};
/* The index of the variables of a problem with a setting. */
struct check_index {
    const char *problem, *setting;
    const int *index;
};

#include "checkpoints.h"

#endif
