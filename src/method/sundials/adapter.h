/* What the adapters of CVODE and IDA share: the SUNDIALS context, vectors that are views of our arrays,
 * error weights, the linear solver, statistics, and errors that are kept and not printed.
 *
 * The linear solver is our own: SUNDIALS decides when the iteration matrix is formed and when it is
 * factored; dae_shifted holds it in whatever storage the system has. The matrix object that SUNDIALS
 * asks for is therefore empty. */
#ifndef DAE_METHOD_SUNDIALS_ADAPTER_H
#define DAE_METHOD_SUNDIALS_ADAPTER_H

#include "linalg/shifted.h"
#include "method/method.h"
#include "method/undamped.h"

#include <nvector/nvector_serial.h>
#include <sundials/sundials_context.h>
#include <sundials/sundials_linearsolver.h>
#include <sundials/sundials_matrix.h>

/* Attempts before one step is given up: SUNDIALS' own 7 and 10 end a run at the border of the domain of
 * the equations too early. */
#define DAE_SUN_MAX_FAILURES 50
/* Accepted steps in a row that do not move t. */
#define DAE_SUN_MAX_STUCK 10
#define DAE_SUN_BLIND 4 /* ours: rounding units of t within which the time of a step is anyone's guess */
/* A stop time that is never reached (SUNDIALS 6.4 cannot clear one). */
#define DAE_SUN_NEVER 1e300

/* Counters of SUNDIALS; they begin at 0 again with every reset. */
typedef struct dae_sun_counts {
    long steps;           /* accepted */
    long error_failures;  /* error test failures */
    long solve_failures;  /* step attempts lost because the nonlinear system was not solved */
    long iterations;      /* of the nonlinear solver */
    long newton_failures; /* times the nonlinear solver gave up, with an old Jacobian too */
} dae_sun_counts;

typedef struct dae_sun {
    dae_ivp *ivp;
    SUNContext context;
    double *y, *yp;                     /* n each: the solution at ivp->t and, in IDA, its derivative */
    N_Vector y_view, yp_view, any_view; /* views of y, of yp, and of what an interpolation fills */

    SUNMatrix matrix; /* empty */
    SUNLinearSolver solver;
    dae_shifted *shifted;
    double *J;         /* Jacobian, in the layout of ivp->jacobian */
    double *dfdyp;     /* IDEs: dF/dy', same layout; NULL otherwise */
    double *A;         /* IDEs: dF/dy + cj dF/dy'; NULL otherwise */
    long count;        /* stored values of each */
    double lambda;     /* the matrix is lambda M - J */
    double rhs_factor; /* right-hand sides are multiplied by this before they are solved for */

    dae_undamped undamped; /* BDF */
    double h, *w;          /* the present step, 0: none yet; n: weights */

    dae_sun_counts seen; /* what is in the statistics already */
    int stop_set;        /* a stop time was */
    int blind;           /* steps in a row that t hardly resolves */
    int singular;        /* the last factorization met a zero pivot */
    int undefined;       /* the last evaluation could not be done */
    char message[200];   /* the last message of SUNDIALS */
} dae_sun;

/* Context, arrays and views; with_matrix: also the linear solver. Returns 0 with *err filled on failure,
 * and dae_sun_close is due even then. */
int dae_sun_open(dae_sun *s, dae_ivp *ivp, int with_matrix, dae_error *err);
void dae_sun_close(dae_sun *s);

/* CVEwtFn and IDAEwtFn: 1/(rtol |y| + atol), more where nothing damps (method/undamped.h); variables of index 2 and above get
 * rtol = atol = 1e10. */
int dae_sun_weights(N_Vector y, N_Vector weight, void *self);
/* The Jacobian in s was made at y. */
void dae_sun_see_jacobian(dae_sun *s, const double *y);
/* CVErrHandlerFn and IDAErrHandlerFn: keeps the message. */
void dae_sun_message(int code, const char *module, const char *function, char *text, void *self);

/* Factors the matrix in s. 0: fine; > 0: singular; < 0: out of memory. Counts. */
int dae_sun_factor(dae_sun *s);
/* What CVODE and IDA have alike; memory is theirs. */
typedef struct dae_sun_calls {
    int (*steps)(void *memory, long *out);
    int (*error_failures)(void *memory, long *out);
    int (*solve_failures)(void *memory, long *out);
    int (*iterations)(void *memory, long *out);
    int (*newton_failures)(void *memory, long *out);
    int (*set_stop)(void *memory, double t);
    int (*next_step)(void *memory, double *h);
    int (*last_step)(void *memory, double *h);
    int (*time)(void *memory, double *t);
    int (*derivative)(void *memory, double t, int k, N_Vector out);
    int (*one)(dae_sun *s, double *t); /* one step: a flag, < 0: it failed */
} dae_sun_calls;
/* Steps until t moves, up to the wall, which the driver may move between steps; counts. *flag < 0: it failed. *h: the next step. DAE_OK, or
 * the failure of steps that do not move t. */
dae_status dae_sun_step(dae_sun *s, const dae_sun_calls *call, void *memory, double *t, double *h, int *flag);
/* The k-th derivative at t into x. A time beyond the last step by more than the rounding allowance of SUNDIALS is taken as the end of the
 * step that is nearer. */
void dae_sun_derivative(dae_sun *s, const dae_sun_calls *call, void *memory, double t, int k, double *x);
/* Where the first call of the integrator points: t_end, or t_stop where that comes first. */
double dae_sun_target(const dae_ivp *ivp);

/* A return flag of CVODE or IDA as a status. */
typedef struct dae_sun_flag {
    int flag;
    dae_status status;
    const char *name, *text; /* its name; what happened and what helps */
} dae_sun_flag;
/* Fails with the line of the table (ended by name NULL) for the flag. method: for the text. */
dae_status dae_sun_fail(dae_sun *s, const char *method, const dae_sun_flag *table, int flag, double h);

#endif
