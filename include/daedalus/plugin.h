/* An own method, beside those of the library.
 *
 * A method is a descriptor (dae_method) with a few functions. It advances one accepted step; it keeps its history; it
 * evaluates the system only through the dae_ivp functions below, which count, time and check. Output, events, limits,
 * restarts, logging of the run and checkpoints are the driver's. It is handed over in the options of a run, nothing is
 * registered anywhere:
 *
 *     const dae_method *const mine[] = {&euler, NULL};
 *     opt.own = mine;
 *     opt.method = "euler";
 *
 * or found in a shared object by dae_plugin_open (on the command line: --plugin ./euler.so). docs/own-solver.md has the
 * explicit Euler method, complete. */
#ifndef DAEDALUS_PLUGIN_H
#define DAEDALUS_PLUGIN_H

#include <daedalus/arena.h>
#include <daedalus/integrator.h>

DAE_BEGIN_DECLS

/* The version of this interface. What a library of a later version adds stands at the end of the structs; an own method with
 * a later version than the library's is refused. */
#define DAE_METHOD_INTERFACE 1

typedef struct dae_method dae_method;

/* The run as a method sees it. */
typedef struct dae_ivp {
    const dae_system *sys; /* the driver's own copy */
    const dae_options *opt;
    int n;
    const double *rtol, *atol; /* n each */
    const int *index;          /* n, or NULL: all 1 */
    dae_pattern jacobian;      /* storage chosen for df/dy (given, probed, or dense) */
    dae_arena *arena;          /* for all arrays and pointer-free structs of the method */
    dae_stats *stats;

    /* Where the run is going. A method never evaluates beyond t_stop; it may step beyond t_end if its
     * descriptor says soft_end and t_stop allows it, and the driver interpolates back. */
    double t_end, t_stop; /* t_stop is +-INFINITY where there is no wall */
    double direction;     /* +1 or -1 */

    /* What the method reports after reset and after each accepted step. */
    double t_old, t; /* the last step */
    const double *y; /* at t; the method's own array, the same one from create to destroy */
    double h_next;   /* proposed */
    int order;
    dae_error *err; /* filled by a failing step */

    /* ---- From here on the library's own: may change with every version ---- */
    /* n: rtol, or where that is 0 and ivp.rtol next to nothing the atol, as the accuracy wanted */
    const double *digits;
    int no_iteration;      /* linear systems are solved once: nothing mends what an iterative solver leaves */
    int exact_jacobian;    /* the method takes J for exact: differences are made with more care */
    int scalar_tolerances; /* all rtol equal and all atol equal */
    int corners;           /* f is continuous only (options.nonnegative) */
    int varies;            /* atol is written anew before each step (options.error_weight) */
    /* > 0: the method was chosen by "auto", which may go on with an implicit one where more than so many time constants are left and
     * stability bounds the steps; an explicit method looks after every step */
    double stiff_above;
    /* One-sided evaluation at discontinuities: the present segment is [left, right] in the direction of
     * integration; at its ends t is moved by one rounding unit into the segment. */
    double left, right; /* NAN: no discontinuity there */
    int dense_degree; /* of the dense output, known after a call of interpolate inside the step; 0: at most order + 1, */
    /* and where it consists of two polynomials, the time between them; else NAN (or 0 with no degree) */
    double dense_break;
    int coarse; /* 1: the driver only looks around; dense output need not be better than the method has it */
    int kink;   /* reset: behind a switch across which y' does not jump, so that nothing is excited */

    /* Filled by the driver: the right-hand side of ODEs and DAEs, and room for difference Jacobians. */
    dae_rhs *f;
    void *user;
    struct dae_difference *difference;
    const dae_linear_solver *linear_solver; /* NULL: the library's own factors */
    struct dae_matrix_free *matrix_free;    /* linear_algebra = krylov, else NULL */
    int found_pattern; /* 1: that of jacobian was found in the values of a dense one; 2: and some were outside since */
    unsigned long long user_ticks, linalg_ticks; /* with options.profile: time, and how often it was taken */
    long user_timed, linalg_timed;
    int bad_component; /* of the last evaluation that was not finite; -1: the function said so itself */
    int asked_to_stop; /* a user function returned < 0: the driver ends the run, whatever the method made of it */

    char solves_with[128]; /* dae_ivp_solves_with; "" where nothing is solved */

    struct dae_lead *lead; /* sensitivities beside the system: evaluations of the system alone; NULL: none */

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
    int (*load)(void *self, const void *buffer, size_t size); /* 0: fine, < 0: no memory */

    int interface; /* own methods: DAE_METHOD_INTERFACE */
};

/* DAE_OK if the descriptor can be taken as an own method: version, name (none of the library's), functions; else what is wrong. */
DAE_API dae_status dae_method_check(const dae_method *m, dae_error *err);
/* The method that a run with these options means by `name`: an own one (opt->own; opt may be NULL), else one of the registry. */
DAE_API const dae_method_info *dae_options_method(const dae_options *opt, const char *name);

/* ---- Evaluations: 0 fine, > 0 cannot be evaluated here, < 0 stop ------------------------------- */

DAE_API int dae_ivp_f(dae_ivp *ivp, double t, const double *y, double *f);
DAE_API int dae_ivp_residual(dae_ivp *ivp, double t, const double *y, const double *yp, double *F);
/* df/dy in the layout of ivp->jacobian: analytic where given, else differences; f = f(t,y) is known. */
DAE_API int dae_ivp_jacobian(dae_ivp *ivp, double t, const double *y, const double *f, double *jac);
/* dF/dy and dF/dy' (either may be NULL) in the layout of ivp->jacobian; F = F(t,y,yp) is known. */
DAE_API int dae_ivp_residual_jacobian(dae_ivp *ivp, double t, const double *y, const double *yp,
                                      const double *F, double *dfdy, double *dfdyp);
/* df/dt, analytic or by a difference. */
DAE_API int dae_ivp_dfdt(dae_ivp *ivp, double t, const double *y, const double *f, double *dfdt);
/* The mass matrix of the system (n = 0: identity). */
DAE_API dae_matrix dae_ivp_mass(const dae_ivp *ivp);
/* y' at (t, y): f for ODEs; M y' = f solved for the rest (least squares where M is singular: the
 * derivatives of algebraic variables are 0). */
DAE_API int dae_ivp_derivative(dae_ivp *ivp, double t, const double *y, double *yp);
/* A function of a mechanical system (kind DAE_KIND_MECH), with `size` values. */
DAE_API int dae_ivp_mech(dae_ivp *ivp, dae_mech_fn *fn, const dae_mech_point *x, int size, double *out);
/* Moves y onto the constraints of the run, in place; without any it does nothing. > 0: did not converge, so
 * that a smaller step should be tried. Methods with info.projects call it for every point that passed their
 * error test, before they evaluate there. */
DAE_API int dae_ivp_project(dae_ivp *ivp, double t, double *y);

/* A first step after [HNW] section II.4 that respects the tolerances: for methods of the given order;
 * f0 = f(t0, y0) is known. Uses one evaluation. ODEs only. */
DAE_API double dae_ivp_first_step(dae_ivp *ivp, double t0, const double *y0, const double *f0, int order);
/* Where the present piece ends: at the next discontinuity, or at the end. */
static inline double dae_ivp_piece_end(const dae_ivp *ivp)
{
    return ivp->direction * (ivp->t_end - ivp->t_stop) > 0 ? ivp->t_stop : ivp->t_end;
}

/* ---- Messages ----------------------------------------------------------------------------------- */

/* A failing step: fills ivp->err with the time and returns s. */
DAE_API dae_status dae_ivp_fail(dae_ivp *ivp, dae_status s, const char *format, ...) DAE_PRINTF(3, 4);
/* What the method solves its linear systems with, in words: it is told and logged. */
DAE_API void dae_ivp_solves_with(dae_ivp *ivp, const char *what);

/* ---- Shared objects ----------------------------------------------------------------------------- */

/* What a shared object with own methods exports under the name dae_plugin_methods: its methods, ended by NULL; they live as
 * long as the object is loaded. NULL: it cannot serve a library of this version of the interface. */
typedef const dae_method *const *dae_plugin_fn(int interface);

typedef struct dae_plugin dae_plugin; /* one loaded object */
/* Loads the object; its methods are checked. It is a program: load only what you trust. */
DAE_API dae_plugin *dae_plugin_open(const char *file, dae_error *err);
DAE_API const dae_method *const *dae_plugin_list(const dae_plugin *p); /* ended by NULL */
DAE_API void dae_plugin_close(dae_plugin *p); /* NULL allowed; after every run that uses it */

DAE_END_DECLS

#endif
