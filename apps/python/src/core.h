/* The extension module _core: the calls of the library as Python objects. No numerics here: arguments in, library call,
 * numbers out. Arrays come and go through the buffer protocol, so that the module does not depend on a version of numpy. */
#ifndef DAEDALUS_PYTHON_CORE_H
#define DAEDALUS_PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <daedalus/daedalus.h>

/* ---- Functions that Python gives (call.c) -------------------------------------------------------- */

enum { MOST_INPUTS = 4 }; /* arrays after t */

/* What the functions of one system share: further arguments, and the first exception, which ends the run. */
typedef struct shared {
    PyObject *args;   /* tuple: what comes after t and the arrays */
    PyObject *vector; /* vector(result, rows, cols, what, t): numbers from a result that is no plain array */
    PyObject *type, *value, *trace; /* the exception, or NULL */
    int raised;
} shared;

/* One function, compiled or Python. Arrays for a Python function are kept and filled again, unless somebody holds on
 * to them: then new ones are made. */
typedef struct call {
    shared *all;
    const char *what; /* for messages: "fun" */
    PyObject *fn;     /* NULL: not given, or compiled */
    PyObject *keep;   /* what must live as long as the address */
    void (*address)(void);
    void *user;      /* of the compiled function */
    PyObject *empty; /* empty(n) makes an array of n numbers */
    int is_complex;  /* inputs and output are pairs of real and imaginary part */
    int nin;
    Py_ssize_t length[MOST_INPUTS]; /* in doubles */
    PyObject *array[MOST_INPUTS];
    double *data[MOST_INPUTS];
} call;

/* fn: a callable, or a tuple (address, user, object to keep) for a compiled function. -1 with an exception. */
int call_init(call *c, shared *all, const char *what, PyObject *fn, PyObject *empty);
void call_input(call *c, Py_ssize_t length); /* one more array, of so many doubles */
void call_clear(call *c);
int call_traverse(const call *c, visitproc visit, void *arg);
/* Calls the Python function, with the GIL taken for it; in[k] NULL: None. cols 0: a vector of rows numbers, else a
 * matrix, written column after column. Returns 0, or -1: there is an exception in c->all. */
int call_python(call *c, double t, const double *const *in, double *out, Py_ssize_t rows, Py_ssize_t cols);
/* The same with the GIL held; the result is handed out, NULL: exception set. */
PyObject *call_object(call *c, double t, const double *const *in);
/* The numbers of a result. -1: exception set. */
int call_take(const call *c, PyObject *result, double t, double *out, Py_ssize_t rows, Py_ssize_t cols);

void shared_catch(shared *s); /* keeps the exception that is set */
int shared_raise(shared *s);  /* sets it again; 1: there was one */
void shared_clear(shared *s);
int shared_traverse(const shared *s, visitproc visit, void *arg);

/* ---- Memory that numpy can look into (memory.c) ---------------------------------------------------- */

extern PyTypeObject memory_type;
/* rows 0: one-dimensional. owner: what the memory belongs to; NULL: it is freed with the object. NULL: exception. */
PyObject *memory_new(double *data, Py_ssize_t rows, Py_ssize_t cols, PyObject *owner);
/* The same of numbers that are copied; x NULL: NaN. */
PyObject *copy_of(const double *x, Py_ssize_t rows, Py_ssize_t cols);
/* A contiguous buffer of doubles or ints that the object has; -1: exception. */
int buffer_reals(PyObject *object, Py_buffer *view, const char *what);
/* The texts of a list; they live as long as the list, free() the array. NULL: exception. */
const char **words_of(PyObject *list, int *count);
int buffer_ints(PyObject *object, Py_buffer *view, const char *what);

/* ---- Problems (problem.c, system.c) ---------------------------------------------------------------- */

enum {
    FN_F,
    FN_JAC,
    FN_DFDT,
    FN_RESIDUAL,
    FN_DFDY,
    FN_DFDYP,
    FN_MASS,
    FN_FORCE,
    FN_CONSTRAINT,
    FN_G,
    FN_KINEMATICS,
    FN_VELOCITY,
    FN_GAMMA,
    FN_POSITION,
    FN_DYNAMICS,
    FN_COUNT
};

typedef struct event_call {
    call when, action;
    long terminal; /* stop at the so many-th, 0: never */
    long count;
} event_call;

/* A problem of the test set, a model, or a system of functions. */
typedef struct problem_object {
    PyObject ob_base;
    const dae_problem *problem; /* what is integrated */
    dae_problem *opened;        /* owned, or NULL */
    dae_problem plain;          /* systems of functions */
    shared all;
    call fn[FN_COUNT];
    Py_ssize_t jac_values; /* of a sparse Jacobian; 0: it is a matrix of jac_rows x n */
    Py_ssize_t jac_rows;
    Py_buffer held[16]; /* arrays that the description points into */
    int nheld;
    PyObject *name; /* bytes that plain.info points into */
    dae_problem_info info;
} problem_object;
extern PyTypeObject problem_type;
/* Fills p from the description of a system (a dict). -1: exception. */
int system_describe(problem_object *p, PyObject *spec);

/* ---- Options (options.c) ---------------------------------------------------------------------------- */

typedef struct option_set {
    dae_options *opt;
    dae_setting setting[32];
    PyObject *text; /* list of bytes that the options point into */
    Py_buffer held[3];
    int nheld;
    int *nonnegative; /* components, or NULL */
    PyObject *log;    /* callable, or NULL */
    shared *all;
} option_set;
/* names of dae_options_table, "discontinuity", "nonnegative", "log", "log_level", and settings of the method. -1: exception. */
int options_fill(option_set *s, dae_options *opt, PyObject *dict, shared *all);
void options_clear(option_set *s);

/* ---- Events (events.c) ------------------------------------------------------------------------------ */

/* Switching functions and actions, and what happened. */
typedef struct event_set {
    PyObject ob_base;
    shared *all;
    PyObject *problem; /* owner of all */
    int count, n;
    event_call *event;
    dae_event *description;
    PyObject *names; /* tuple of bytes */
    dae_events events;
    int happened, capacity;
    double *t, *y; /* n per event */
    int *index;
} event_set;
extern PyTypeObject event_set_type;
/* list of (when, terminal, direction, name, action or None) */
PyObject *event_set_new(problem_object *p, PyObject *list, PyObject *empty, int is_complex, Py_ssize_t n);

/* ---- Progress ---------------------------------------------------------------------------------------- */

typedef struct watch {
    shared *all;
    PyObject *progress; /* progress(t, t_end), or NULL */
    double every;       /* seconds between two calls */
    double last_call, last_signal;
    unsigned count;
} watch;
dae_progress_fn watch_progress; /* user: watch. Lets Ctrl-C through. */
dae_stop_fn watch_stop;         /* the same for options.stop; of one thread */

/* ---- Solutions, runs, integrators -------------------------------------------------------------------- */

extern PyTypeObject solution_type, integrator_type, simulation_type, result_type;
PyObject *solution_from(char *data, size_t size); /* takes data */
PyObject *run_problem(PyObject *module, PyObject *args, PyObject *kw);

/* ---- Studies (study.c) -------------------------------------------------------------------------------- */

extern PyTypeObject sweep_type;
PyObject *study_topology(PyObject *self, PyObject *unused);
PyObject *study_pose(PyObject *self, PyObject *args);
PyObject *study_eigenvalues(PyObject *self, PyObject *args);
PyObject *study_columns(PyObject *self, PyObject *args);
PyObject *study_workprec(PyObject *module, PyObject *args);
PyObject *study_compare(PyObject *module, PyObject *args);
PyObject *study_reference(PyObject *module, PyObject *args);

/* ---- Derivatives of solutions (derivative.c) ------------------------------------------------------------ */

extern PyTypeObject sensitivity_type, experiment_type;
PyObject *derivative_gradient(PyObject *module, PyObject *args);
PyObject *derivative_fit(PyObject *module, PyObject *args);
PyObject *derivative_optimize(PyObject *module, PyObject *args);

/* ---- Steady states and cycles (steady.c) ------------------------------------------------------------------ */

PyObject *steady_state(PyObject *module, PyObject *args);
PyObject *steady_branch(PyObject *module, PyObject *args);
PyObject *steady_periodic(PyObject *module, PyObject *args);

/* ---- Errors ------------------------------------------------------------------------------------------- */

extern PyObject *core_error;                                /* class Error(RuntimeError) */
extern PyObject *core_input;                                /* class InputError(Error, ValueError) */
PyObject *raise_status(dae_status s, const dae_error *err); /* NULL */
PyObject *stats_dict(const dae_stats *s);
/* Text in pieces into a growing buffer. */
typedef struct text {
    char *data;
    size_t size, capacity;
} text;
int text_write(const char *piece, size_t length, void *user);

#endif
