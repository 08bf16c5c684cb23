/* What a method is, and what it sees of a run.
 *
 * A method advances one accepted step; it keeps its history; it evaluates the system only through the
 * dae_ivp functions below, which count, time and check. Output, events, limits, restarts, logging of
 * the run and checkpoints are the driver's. */
#ifndef DAE_METHOD_METHOD_H
#define DAE_METHOD_METHOD_H

#include <daedalus/integrator.h>

#include "core/arena.h"
#include "core/error.h"

#include <math.h>

typedef struct dae_method dae_method;

/* The run as a method sees it. */
typedef struct dae_ivp {
    const dae_system *sys; /* the driver's own copy */
    const dae_options *opt;
    int n;
    const double *rtol, *atol; /* n each */
    const double *
        digits; /* n: rtol, or where that is 0 and ivp.rtol next to nothing the atol, as the accuracy wanted */
    int exact_jacobian;    /* the method takes J for exact: differences are made with more care */
    int scalar_tolerances; /* all rtol equal and all atol equal */
    const int *index;      /* n, or NULL: all 1 */
    dae_pattern jacobian;  /* storage chosen for df/dy (given, probed, or dense) */
    dae_arena *arena;      /* for all arrays and pointer-free structs of the method */
    dae_stats *stats;

    /* Where the run is going. A method never evaluates beyond t_stop; it may step beyond t_end if its
     * descriptor says soft_end and t_stop allows it, and the driver interpolates back. */
    double t_end, t_stop; /* t_stop is +-INFINITY where there is no wall */
    double direction;     /* +1 or -1 */

    /* One-sided evaluation at discontinuities: the present segment is [left, right] in the direction of
     * integration; at its ends t is moved by one rounding unit into the segment. */
    double left, right; /* NAN: no discontinuity there */

    /* What the method reports after reset and after each accepted step. */
    double t_old, t; /* the last step */
    const double *y; /* at t; the method's own array, the same one from create to destroy */
    double h_next;   /* proposed */
    int order;
    int dense_degree; /* of the dense output, known after a call of interpolate inside the step; 0: at most order + 1, */
    double
        dense_break; /* and where it consists of two polynomials, the time between them; else NAN (or 0 with no degree) */
    int coarse; /* 1: the driver only looks around; dense output need not be better than the method has it */
    dae_error *err; /* filled by a failing step */

    /* Filled by the driver: the right-hand side of ODEs and DAEs, and room for difference Jacobians. */
    dae_rhs *f;
    void *user;
    struct dae_difference *difference;
    unsigned long long user_ticks, linalg_ticks; /* with options.profile: time, and how often it was taken */
    long user_timed, linalg_timed;
    int bad_component; /* of the last evaluation that was not finite; -1: the function said so itself */
    int asked_to_stop; /* a user function returned < 0: the driver ends the run, whatever the method made of it */

    char solves_with[128]; /* dae_ivp_solves_with; "" where nothing is solved */

    dae_project_fn *project; /* NULL, or wanted: accepted points are moved onto the constraints */
    void *project_user;
} dae_ivp;

struct dae_method {
    dae_method_info info;
    int soft_end;       /* may step beyond t_end */
    int block;          /* a step is a block of points, and its dense output as good as they are */
    size_t option_size; /* size of the struct that info.options fills, 0: none */

    /* The method's struct (from calloc; arrays and plain state from ivp->arena), NULL: see *err.
     * option: the filled options struct, lives as long as the integrator. */
    void *(*create)(dae_ivp *ivp, const void *option, dae_error *err);
    /* Starts afresh at (t, y) with first step h, 0: choose one. yp: f(t,y) for ODEs (a method that
     * evaluates anything here counts it with stats->f++, else the driver does), the consistent derivative for
     * IDEs, an estimate that only serves to choose a step for DAEs (both counted); zero for mechanical systems. */
    dae_status (*reset)(void *self, double t, const double *y, const double *yp, double h);
    /* One accepted step. DAE_OK, DAE_STIFF (accepted; with news), or an error with ivp->err filled. */
    dae_status (*step)(void *self);
    /* The solution and its derivative (NULL: not wanted) at t in the last step. A mechanical method may move y onto the
     * constraints where only y is wanted. */
    void (*interpolate)(void *self, double t, double *y, double *yp);
    /* Mechanical methods, NULL elsewhere. Consistent accelerations (nv) and multipliers (nlambda) at t in
     * the last step (or at the start); 0: fine, > 0: cannot be evaluated there. */
    int (*multipliers)(void *self, double t, double *a, double *lambda);
    /* Moves y at t onto the position and velocity constraints, in place; 0: fine, > 0: did not converge. */
    int (*project)(void *self, double t, double *y);
    void (*destroy)(void *self); /* frees the struct and what is not in the arena */
    /* State outside the arena (sparse factors); NULL: none. save returns the bytes it needs or wrote. */
    size_t (*save)(const void *self, void *buffer);
    int (*load)(void *self, const void *buffer, size_t size); /* 0: fine */
};

const dae_method *dae_method_at(int i); /* the registry, NULL past its end */

/* ---- The driver's side ------------------------------------------------------------------------- */

size_t dae_difference_size(void); /* bytes of what ivp->difference points to */
/* Chooses the storage of the Jacobian (options, given pattern, probing at (t,y)) and takes the memory
 * that differences need. */
dae_status dae_ivp_prepare(dae_ivp *ivp, double t, const double *y, const double *yp, dae_error *err);
/* IDEs: y' (and the algebraic components of y) such that F(t,y,y') = 0, from the values given as a guess. */
dae_status dae_ivp_consistent(dae_ivp *ivp, double t, double *y, double *yp, dae_error *err);

/* ---- Evaluations: 0 fine, > 0 cannot be evaluated here, < 0 stop ------------------------------- */

int dae_ivp_f(dae_ivp *ivp, double t, const double *y, double *f);
/* As dae_ivp_f_stages at one point, without a call where nothing special is asked for: for the loops of small systems. */
static inline int dae_ivp_f_unchecked(dae_ivp *ivp, double t, const double *y, double *f);
/* f at s points, vectors at distance ld; not checked to be finite: for a caller that sees it by itself. */
int dae_ivp_f_stages(dae_ivp *ivp, int s, int ld, const double *t, const double *y, double *f);
/* Notes that a function of the system returned r != 0; returns r < 0, or 1. */
int dae_ivp_refused(dae_ivp *ivp, int r);
int dae_ivp_residual(dae_ivp *ivp, double t, const double *y, const double *yp, double *F);
/* df/dy in the layout of ivp->jacobian: analytic where given, else differences; f = f(t,y) is known. */
int dae_ivp_jacobian(dae_ivp *ivp, double t, const double *y, const double *f, double *jac);
/* dF/dy and dF/dy' (either may be NULL) in the layout of ivp->jacobian; F = F(t,y,yp) is known. */
int dae_ivp_residual_jacobian(dae_ivp *ivp, double t, const double *y, const double *yp, const double *F,
                              double *dfdy, double *dfdyp);
/* df/dt, analytic or by a difference. */
int dae_ivp_dfdt(dae_ivp *ivp, double t, const double *y, const double *f, double *dfdt);
/* The mass matrix of the system (n = 0: identity). */
dae_matrix dae_ivp_mass(const dae_ivp *ivp);
/* y' at (t, y): f for ODEs; M y' = f solved for the rest (least squares where M is singular: the
 * derivatives of algebraic variables are 0). */
enum { DAE_IVP_NO_MEMORY = -9999 }; /* what it returns when there is no room for M */
int dae_ivp_derivative(dae_ivp *ivp, double t, const double *y, double *yp);

/* Moves y onto the constraints of the run, in place; without any it does nothing. > 0: did not converge, so
 * that a smaller step should be tried. Methods with info.projects call it for every point that passed their
 * error test, before they evaluate there. */
int dae_ivp_project(dae_ivp *ivp, double t, double *y);

/* ---- For the mechanical methods: counted, timed and checked like the others -------------------- */
int dae_ivp_mech(dae_ivp *ivp, dae_mech_fn *fn, const dae_mech_point *x, int size, double *out);

/* ---- Timing (only with options.profile) -------------------------------------------------------- */

unsigned long long dae_clock_ticks(void); /* nanoseconds */

/* A clock as cheap as the machine has; the driver turns ticks into seconds. */
static inline unsigned long long dae_ticks(void)
{
#if defined(__GNUC__) && defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    return dae_clock_ticks();
#endif
}
#define DAE_LINALG(ivp, call)                            \
    do {                                                 \
        if ((ivp)->opt->profile) {                       \
            unsigned long long begin_ = dae_ticks();     \
            call;                                        \
            (ivp)->linalg_ticks += dae_ticks() - begin_; \
            (ivp)->linalg_timed++;                       \
        } else {                                         \
            call;                                        \
        }                                                \
    } while (0)

static inline int dae_ivp_f_unchecked(dae_ivp *ivp, double t, const double *y, double *f)
{
    if (ivp->opt->profile || t == ivp->left || t == ivp->right) return dae_ivp_f_stages(ivp, 1, 0, &t, y, f);
    int r = ivp->f(t, y, f, ivp->user);
    ivp->stats->f++;
    return r ? dae_ivp_refused(ivp, r) : 0;
}

/* Where the present piece ends: at the next discontinuity, or at the end. */
static inline double dae_ivp_piece_end(const dae_ivp *ivp)
{
    int cut = isfinite(ivp->t_stop) && ivp->direction * (ivp->t_end - ivp->t_stop) > 0;
    return cut ? ivp->t_stop : ivp->t_end;
}

/* A first step after [HNW] section II.4 that respects the tolerances: for methods of the given order;
 * f0 = f(t0, y0) is known. Uses one evaluation. ODEs only. */
double dae_ivp_first_step(dae_ivp *ivp, double t0, const double *y0, const double *f0, int order);

/* A failing step: fills ivp->err with the time and returns s. */
dae_status dae_ivp_fail(dae_ivp *ivp, dae_status s, const char *format, ...) DAE_PRINTF(3, 4);

/* What the method solves its linear systems with, in words: it is told and logged. */
void dae_ivp_solves_with(dae_ivp *ivp, const char *what);

#endif
