/* Options of a run. One table (dae_options_table) holds name, type, default, unit, range and help of
 * each; defaults, range checks, the command line, JSON and the manual all come from it. */
#ifndef DAEDALUS_OPTIONS_H
#define DAEDALUS_OPTIONS_H

#include <daedalus/system.h>
#include <stddef.h>

DAE_BEGIN_DECLS

/* One option of one method, by name: {"order", "9"}. */
typedef struct dae_setting {
    const char *name, *value;
} dae_setting;

struct dae_method;

/* The error that is allowed in each component at (t, y), all positive; on entry atol + rtol |y_i| of the options. Called
 * before every step, which is judged by what it says; rtol still tells methods how accurate the run is meant. 0: fine; else
 * the run stops. */
typedef int dae_error_weight(double t, const double *y, double *tolerance, void *user);

/* Asked before every step, in the thread of the run: other values than 0 end it there with DAE_CANCELLED. What runs a problem many times
 * (fits, designs, cycles, gradients) ends with it. */
typedef int dae_stop_fn(void *user);

/* Linear systems solved by the user: (lambda M - J) x = b with lambda = re + i im in place of the library's own factors.
 * One object per matrix that a method keeps (radau5 has two). */
typedef struct dae_linear_solver {
    /* jacobian: layout of the J that factor gets; mass: n = 0: identity; both live as long as the object. NULL: no memory. */
    void *(*create)(int n, const dae_pattern *jacobian, const dae_matrix *mass, int is_complex, void *user);
    /* 0: fine; k > 0: singular at row k; < 0: no memory. F(t,y,y') = 0: re = im = 0, and J is the negative matrix. */
    int (*factor)(void *self, double re, double im, const double *J);
    /* In place, with the last factors; im is NULL where the object is real. 0: fine. */
    int (*solve)(void *self, double *re, double *im);
    void (*destroy)(void *self);
    const char *name; /* for reports; NULL: "user's solver" */
    void *user;       /* for create */
    /* Checkpoint of the factors; both or none, and runs without cannot be saved. save: bytes needed, always as many, written where
     * buffer is not NULL. load: J is what factor got last, where it lies now. 0: fine. */
    size_t (*save)(const void *self, void *buffer);
    int (*load)(void *self, const void *buffer, size_t size, const double *J);
} dae_linear_solver;

typedef struct dae_options {
    const char *method;      /* registry name, name of an own method, or "auto" */
    const char *formulation; /* mechanical systems: registry name, or "auto" */
    double rtol, atol;       /* scalar tolerances; one of them may be 0 (rtol = 0: absolute control) */
    const double *rtol_vec;  /* per component, or NULL */
    const double *atol_vec;
    double h0;                  /* first step, 0: the method chooses */
    double h_max;               /* 0: no limit */
    double h_min;               /* 0: rounding decides */
    double fixed_step;          /* > 0: steps of this size, no error control (order studies) */
    long max_steps;             /* attempts, 0: no limit */
    double max_seconds;         /* CPU time, 0: no limit */
    const char *linear_algebra; /* "auto", "dense", "banded", "sparse", "krylov" */
    const char *jacobian;       /* "auto" (analytic where given), "difference" */
    int profile;                /* 1: measure the time in user functions and linear algebra */
    int threads;                /* for methods that can use them */
    int stop_at_end;            /* 1: never evaluate beyond t_end (multistep methods may otherwise) */

    const double *discontinuity; /* times at which the right-hand side jumps: the run restarts there */
    int ndiscontinuity;
    const dae_setting *setting; /* options of the chosen method */
    int nsetting;
    const struct dae_method *const
        *own; /* methods of the caller (daedalus/plugin.h), ended by NULL; borrowed */

    const int *nonnegative; /* components (from 0) of an ODE that do not become negative */
    int nnonnegative;
    dae_error_weight *error_weight; /* NULL: atol + rtol |y| */
    void *error_weight_user;
    /* NULL: the library's own; copied. With linear_algebra = krylov it is the preconditioner. */
    const dae_linear_solver *linear_solver;
    const char *preconditioner; /* krylov: "auto", "none", "band", "ilu" */
    int preconditioner_band;    /* diagonals on each side, 0: those of the system up to a few */
    int krylov_vectors;         /* dimension of the space */

    dae_stop_fn *stop; /* NULL: nobody stops it, but dae_integrator_cancel */
    void *stop_user;

    dae_log_fn *log; /* NULL: silent */
    dae_log_level log_level;
    void *log_user;
} dae_options;

DAE_API dae_options dae_options_default(void);

typedef enum dae_option_type {
    DAE_OPTION_REAL,
    DAE_OPTION_LONG,
    DAE_OPTION_INT,
    DAE_OPTION_NAME
} dae_option_type;

/* A line of the options table, also used by methods and problems for their own parameters. */
typedef struct dae_option {
    const char *name;
    dae_option_type type;
    size_t offset;       /* of the field in its struct */
    double value;        /* default, for numbers */
    const char *text;    /* default, for names */
    double min, max;     /* range, inclusive; min > max: any */
    const char *choices; /* DAE_OPTION_NAME: allowed words separated by '|', NULL: any */
    const char *unit;
    const char *help;
} dae_option;

/* The table of dae_options, ended by a line with name NULL. */
DAE_API const dae_option *dae_options_table(void);
/* Sets one field by name with type and range check; a name value is borrowed. */
DAE_API dae_status dae_options_set(dae_options *opt, const char *name, const char *value, dae_error *err);

DAE_END_DECLS

#endif
