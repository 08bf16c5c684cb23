/* What is integrated: a system of one of four kinds, with what is known of its structure.
 *
 * A system is a description: a public struct, zero means "not given", and create copies what it keeps
 * (arrays too). Only `user` is borrowed. All matrices are column-major; indices start at 0.
 *
 * Every callback returns 0 if it worked, > 0 if it cannot be evaluated at this point (the method tries
 * a smaller step), < 0 to stop the run. A value that is not finite counts as "cannot be evaluated". */
#ifndef DAEDALUS_SYSTEM_H
#define DAEDALUS_SYSTEM_H

#include <daedalus/status.h>
#include <stddef.h>

DAE_BEGIN_DECLS

/* ---- Matrices and patterns ------------------------------------------------------------------- */

typedef enum dae_storage {
    DAE_DENSE = 0, /* n*n values, element (i,j) at i + j*n */
    DAE_BANDED,    /* (lower+1+upper)*n values, element (i,j) at (upper + i - j) + j*(lower+1+upper) */
    DAE_SPARSE,    /* compressed columns: values of column j at colptr[j] .. colptr[j+1]-1 */
    DAE_DIAGONAL   /* n values (mass matrices only) */
} dae_storage;

/* The shape of a square matrix whose values come later. Zero means dense. */
typedef struct dae_pattern {
    dae_storage storage;
    int lower, upper;  /* DAE_BANDED: numbers of sub- and superdiagonals */
    const int *colptr; /* DAE_SPARSE: n+1 */
    const int *rowind; /* DAE_SPARSE: colptr[n], rows ascending within a column */
    /* k > 0: a block triangular matrix of k+1 equal blocks J on its diagonal, with blocks D_1 .. D_k below the first,
     *     J
     *     D_1  J
     *     D_2     J    ...
     * as a system with k columns of sensitivities beside it has. All else describes one block, and its values come first: J, then
     * D_1, D_2, ... in the same layout. One factorization serves all. Jacobians only, and those must be given, not differences. */
    int columns;
} dae_pattern;

/* A square matrix with values: a borrowed view. n = 0 means the identity. */
typedef struct dae_matrix {
    int n;
    dae_pattern pattern;
    const double *a;
} dae_matrix;

DAE_API dae_matrix dae_diagonal(int n, const double *d);
DAE_API dae_matrix dae_dense(int n, const double *a);
DAE_API dae_matrix dae_banded(int n, int lower, int upper, const double *a);
DAE_API dae_matrix dae_sparse(int n, const int *colptr, const int *rowind, const double *a);
DAE_API long dae_pattern_count(const dae_pattern *p, int n); /* number of stored values */

/* ---- The four kinds -------------------------------------------------------------------------- */

typedef enum dae_kind {
    DAE_KIND_ODE = 0, /* y' = f(t,y) */
    DAE_KIND_DAE,     /* M y' = f(t,y), M constant or M(t,y), may be singular */
    DAE_KIND_IDE,     /* F(t,y,y') = 0 */
    DAE_KIND_MECH     /* mechanical system in descriptor form */
} dae_kind;

typedef int dae_rhs(double t, const double *y, double *f, void *user);
/* Values of df/dy in the layout of the system's Jacobian pattern; zero on entry. */
typedef int dae_jac(double t, const double *y, double *jac, void *user);
typedef int dae_residual(double t, const double *y, const double *yp, double *F, void *user);
/* Values of dF/dy (or dF/dy') in the layout of the system's Jacobian pattern; zero on entry. */
typedef int dae_residual_jac(double t, const double *y, const double *yp, double *jac, void *user);

typedef struct dae_ode {
    int n;
    dae_rhs *f;
    dae_jac *jac;  /* df/dy, or NULL: differences */
    dae_rhs *dfdt; /* df/dt, or NULL: differences where a method needs it */
    void *user;
} dae_ode;

typedef struct dae_dae {
    int n;
    dae_matrix mass; /* zero: identity */
    dae_rhs *f;
    dae_jac *jac;
    dae_rhs *dfdt;
    void *user;
    /* M(t,y) instead: values in the layout of mass.pattern (zero: dense), zero on entry. Methods that take IDEs, and
     * "auto", see M(t,y) y' - f(t,y) = 0, where M may be singular; structure.jacobian is then the pattern of its derivatives by
     * y and contains that of M. All other methods see y' = M(t,y)^-1 f(t,y). jac and dfdt are not used then. */
    dae_jac *mass_fn;
} dae_dae;

typedef struct dae_ide {
    int n;
    dae_residual *residual;
    dae_residual_jac *dfdy;  /* dF/dy,  or NULL: differences */
    dae_residual_jac *dfdyp; /* dF/dy', or NULL: differences */
    const int *algebraic;    /* n flags, 1 = y'_i does not occur; NULL: found numerically */
    void *user;
} dae_ide;

/* [MEXX] (1.1):  p' = T(t,p) v,  M(t,p) v' = f(t,p,v,lambda,u) - G(t,p)^T lambda,
 *                0 = G(t,p) v + gI(t,p),  0 = g(t,p),  u' = d(t,p,v,lambda,u).
 * The state is y = (p, v, u). ng < nlambda: the last nlambda - ng rows of G are nonholonomic. */
typedef struct dae_mech_point {
    double t;
    const double *p, *v, *u, *lambda; /* v, u, lambda NULL where the function must not depend on it */
    void *cache; /* dae_mech.cache_size bytes that the functions may use as they like, or NULL */
} dae_mech_point;

typedef int dae_mech_fn(const dae_mech_point *x, double *out, void *user);
typedef int dae_mech_product_fn(const dae_mech_point *x, const double *w, double *out,
                                void *user); /* out zero on entry */

/* The same motion in joint coordinates: positions q and velocities s along a tree of bodies, so that the constraints of
 * its joints are kept by construction; nloop rows that close loops remain. All functions get work_size bytes of their
 * own (zero at first), where they keep what belongs to one run. */
typedef struct dae_joint_form {
    int nq, ns, nloop;
    const int *source; /* nq+ns: the component of (p, v) whose tolerance a coordinate gets */
    size_t work_size;
    /* > 0: (p, v) is no state of the tree. */
    int (*from_absolute)(double t, const double *p, const double *v, double *q, double *s, void *work,
                         void *user);
    int (*to_absolute)(double t, const double *q, const double *s, double *p, double *v, void *work,
                       void *user);
    /* y' of y = (q, s, u) */
    int (*rates)(double t, const double *y, double *yp, void *work, void *user);
    /* Inverse dynamics: the forces and torques tau (ns) along the joints that have to be added to the loads for s' to be
     * sdot, in a number of operations proportional to that of the bodies. Loops count as open. NULL: not known. */
    int (*torques)(double t, const double *y, const double *sdot, double *tau, void *work, void *user);
    /* Closes the loops in positions and velocities; NULL: there is nothing to project. */
    int (*project)(double t, double *q, double *s, void *work, void *user);
    void *user;
} dae_joint_form;

typedef struct dae_mech {
    int np, nv, nu, ng, nlambda;
    dae_matrix mass;      /* constant M, or */
    dae_mech_fn *mass_fn; /* M(t,p), nv*nv dense (block diagonal: only the blocks are read) */
    dae_mech_fn *force;   /* f(t,p,v,lambda,u): nv */
    /* g: ng (may be NULL), G: nlambda*nv column-major (may be NULL; zero on entry) */
    int (*constraint)(const dae_mech_point *x, double *g, double *G, void *user);
    dae_mech_fn *kinematics;  /* T(t,p) v: np; NULL: T = I, np = nv */
    dae_mech_fn *velocity;    /* gI(t,p): nlambda; NULL: 0 */
    dae_mech_fn *gamma;       /* d/dt (G v + gI) at fixed v: nlambda; NULL: differences */
    dae_mech_fn *dynamics;    /* d(t,p,v,lambda,u): nu */
    dae_mech_fn *dfdlambda;   /* df/dlambda: nv*nlambda column-major; NULL: f does not depend on lambda */
    dae_mech_fn *dfdp, *dfdv; /* df/dp: nv*np, df/dv: nv*nv; NULL: differences */
    const int *mass_block;    /* sizes of the diagonal blocks of M, nblock of them; NULL: one full block */
    int nblock;
    const int *quaternion; /* first index in p of each Euler-parameter quadruple, nquaternion of them */
    int nquaternion;
    void *user;

    /* What is known of the structure of large mechanisms; methods made for the descriptor form use it. */
    const int *G_colptr,
        *G_rowind; /* pattern of G: compressed columns, nv+1 and G_colptr[nv], rows ascending */
    /* As constraint, but G is the values of that pattern. Both functions must be given. */
    int (*constraint_sparse)(const dae_mech_point *x, double *g, double *G, void *user);
    dae_mech_fn *mass_blocks; /* M(t,p): only its diagonal blocks, column-major, one after another */
    /* Kinematic tree over the blocks of M (bodies): parent[k] is the block that k hangs on, -1: ground.
     * row_joint[i] = k: row i of G belongs to the joint of k and its parent; -1: it closes a loop. */
    const int *parent, *row_joint;
    /* > 0: methods that can hand every function so many bytes (zero at first, one piece for each thread), where the
     * functions can keep what they share: sines and cosines, positions of bodies at the last p. */
    size_t cache_size;

    /* Derivatives of the geometry at fixed w, for exact Jacobians of the state-space form; NULL: differences. */
    dae_mech_product_fn *dGw;         /* d(G w)/dp, w of length nv: nlambda*np */
    dae_mech_product_fn *dGtw;        /* d(G^T w)/dp, w of length nlambda: nv*np */
    dae_mech_product_fn *dMw;         /* d(M w)/dp, w of length nv: nv*np */
    dae_mech_fn *dgammadp, *dgammadv; /* nlambda*np, nlambda*nv */
    dae_mech_fn *dfdt;                /* df/dt: nv */

    /* dg/dp T, ng*nv column-major (zero on entry), where the first ng rows of G are not this but R dg/dp T with a
     * regular R(t,p), [MEXX] (2.10); projections onto g = 0 use it in place of G. NULL: they are. The start of every
     * run compares with differences of g. Not with G_colptr or parent, nor in the forms baumgarte and statespace. */
    dae_mech_fn *position_jacobian;

    const dae_joint_form *joint; /* NULL: there is no such form; lives as long as user */

    /* v' (nv) and then lambda (nlambda) of M v' = f - G^T lambda, G v' = -gamma in one pass, where that is cheaper than the
     * parts and a system of linear equations; the form index1 integrates it. NULL: the system is solved. The start of every
     * run compares both. */
    dae_mech_fn *accelerations;
} dae_mech;

/* ---- Switches -------------------------------------------------------------------------------- */

/* Where a system is not smooth: a stop that begins to push, max(x, 0), sign(v), a corner of a table. Each such place
 * is a switch. Between two of its borders it stands on one side, a whole number (+1 and -1, or the number of a
 * segment), and there the system is smooth. The driver freezes the sides: it writes them into `side`, the callbacks of the
 * system compute every branch by side[i] and not by the state, so that a step sees one smooth function even
 * where its stages or its dense output reach a little beyond the border. After each step the driver looks for
 * the first border that was passed, ends the step there, writes the new side and starts the method afresh.
 * So every method keeps its order through stops, friction and `if`.
 *
 * How to give a system switches (an expression "max(a, b)" is switch i):
 *
 *     static double larger(const my_run *r, int i, double a, double b)          in f(t, y):
 *     {
 *         int side = r->side[i];                                                max(a, b) = larger(r, i, a, b)
 *         if (side == DAE_SIDE_FREE) side = a > b ? 1 : -1;
 *         return side > 0 ? a : b;
 *     }
 *     values:  next[i] = DAE_SIDE_FREE ? (a > b ? 1 : -1) : -side[i];   margin[i] = side[i] * (a - b);
 *
 * A table of segments [x_k, x_k+1] has side k, margin min(x - x_k, x_k+1 - x), and next k-1 or k+1, the one nearer to
 * x. Margins are continuous in time, smooth where they are small, and of any size. A decision that is made of several is
 * best one switch: a contact pushes while min(s, s + c/k s') > 0. */
enum { DAE_SIDE_FREE = -2147483647 }; /* not frozen: the callbacks take the side that the state says */

/* At (t, y), for every switch i: where side[i] is DAE_SIDE_FREE, next[i] is the side that y stands on (margin[i] is not
 * used); else margin[i] > 0 while side[i] holds, 0 at its border, and next[i] is the side beyond the border that is
 * nearer. Returns as all callbacks do. */
typedef int dae_switch_fn(double t, const double *y, const int *side, double *margin, int *next, void *user);

struct dae_system;
typedef struct dae_switches {
    int count;
    dae_switch_fn *values;
    /* The present sides, count of them, which the callbacks of this system read and the driver writes. All are
     * DAE_SIDE_FREE when no run is under way. NULL: the callbacks do not freeze; borders are still found and the method
     * starts afresh there, at the accuracy of steps that see some of the other side. */
    int *side;
    /* Algebraic variables (multipliers) of y after a switch, in place; NULL: the driver's own means suffice. */
    int (*adapt)(double t, double *y, void *user);
    const char *(*name)(int i, void *user); /* what switches, in words for messages; NULL: numbers */
    /* A system that several runs share gives each a copy with sides of its own: *own, whose callbacks get a user of
     * their own, which release frees. NULL: the system belongs to one run. */
    dae_status (*bind)(const struct dae_system *sys, struct dae_system *own, dae_error *err);
    void (*release)(struct dae_system *own);
    void *user;
} dae_switches;

/* ---- Poles ------------------------------------------------------------------------------------ */

/* What f is divided by, quantities q_i(t, y). A step inside which one of them becomes zero, so that f is unbounded there, has jumped
 * over a pole: errors are small on both sides, and the solution is another one. The driver repeats such a step, of any method, with
 * a quarter of its length and says so in the log; evaluations beyond a pole are refused to methods without an iteration. A run
 * that cannot go on ends with DAE_ERR_UNDEFINED or DAE_ERR_STEP_TOO_SMALL. Where f is bounded at the zero, as sin(x)/x is, nothing
 * happens. ODEs and DAEs. */
typedef struct dae_poles {
    int count;
    int (*values)(double t, const double *y, double *q,
                  void *user);              /* 0, or not 0: they cannot be evaluated */
    const char *(*name)(int i, void *user); /* of q_i, in words for messages; NULL: numbers */
    void *user;
} dae_poles;

/* ---- The system ------------------------------------------------------------------------------ */

typedef struct dae_structure {
    dae_pattern jacobian; /* of df/dy; for IDEs the common pattern of dF/dy and dF/dy' */
    const int *index;     /* differentiation index of each variable, 1 .. 3; NULL: all 1 */
    int second_order;     /* m > 0: y'[i] = y[m+i] for i < m, [RADAU] IWORK(9) */
    int no_velocities;    /* 1: n = 2 m, and y'[m+i] does not depend on y[m] .. y[n-1]: y'' = f(t,y) */
    int autonomous;       /* 1: f does not depend on t, so that nobody needs df/dt */
    int smooth; /* 1: f jumps and bends only where switches, discontinuities or events say so; auto then may take a method that
                 * would step over what nobody told */
} dae_structure;

typedef struct dae_system {
    dae_kind kind;
    union {
        dae_ode ode;
        dae_dae dae;
        dae_ide ide;
        dae_mech mech;
    };
    dae_structure structure;
    dae_switches switches; /* count 0: smooth everywhere, or nothing is known */
    dae_poles poles;       /* count 0: it has none, or nothing is known */
} dae_system;

DAE_API int dae_system_size(const dae_system *sys);  /* length of y */
DAE_API int dae_system_index(const dae_system *sys); /* highest index of a variable: 0 for ODEs */
DAE_API const char *dae_kind_name(dae_kind kind);    /* "ODE", "DAE", "IDE", "mechanical" */
/* DAE_OK, or DAE_ERR_INPUT with the first thing that is wrong with the description. */
DAE_API dae_status dae_system_check(const dae_system *sys, dae_error *err);

DAE_END_DECLS

#endif
