/* A problem that is stepped by hand, in the coordinates in which it is stated. */
#include "core.h"

#include <math.h>
#include <stdlib.h>

typedef struct simulation {
    PyObject ob_base;
    problem_object *problem;
    dae_simulation *s;
    option_set set;
    dae_simulation_options options;
    int busy;
    unsigned count;
} simulation;

/* Lets Ctrl-C through. */
static int on_step(dae_simulation *s, void *user)
{
    simulation *x = user;
    (void)s;
    if (x->problem->all.raised) return 1;
    if (x->count++ % 64 != 0) return 0;
    PyGILState_STATE gil = PyGILState_Ensure();
    int stop = PyErr_CheckSignals() < 0;
    if (stop) shared_catch(&x->problem->all);
    PyGILState_Release(gil);
    return stop;
}

static PyObject *simulation_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    problem_object *p;
    PyObject *dict, *events;
    double t_end;
    dae_error err = {0};
    (void)kw;
    if (!PyArg_ParseTuple(args, "O!O!dO", &problem_type, &p, &PyDict_Type, &dict, &t_end, &events))
        return NULL;
    simulation *x = (simulation *)type->tp_alloc(type, 0);
    if (!x) return NULL;
    Py_INCREF(p);
    x->problem = p;
    x->options = dae_simulation_options_default(p->problem);
    if (!isnan(t_end)) x->options.t_end = t_end;
    if (events != Py_None) x->options.events = &((event_set *)events)->events; /* kept by the Python object */
    if (options_fill(&x->set, &x->options.options, dict, &p->all) == 0) {
        PyThreadState *thread = PyEval_SaveThread();
        x->s = dae_simulation_open(p->problem, &x->options, &err);
        if (x->s) {
            dae_simulation_set_progress(x->s, on_step, x);
            if (dae_simulation_start(x->s, &err) < 0) {
                dae_simulation_close(x->s);
                x->s = NULL;
            }
        }
        PyEval_RestoreThread(thread);
        if (x->s) return (PyObject *)x;
        if (!shared_raise(&p->all)) raise_status(err.status, &err);
    }
    Py_DECREF(x);
    return NULL;
}

static void simulation_dealloc(PyObject *self)
{
    simulation *x = (simulation *)self;
    dae_simulation_close(x->s);
    options_clear(&x->set);
    Py_XDECREF(x->problem);
    Py_TYPE(self)->tp_free(self);
}

static int enter(simulation *x)
{
    if (!x->busy) return x->busy = 1;
    PyErr_SetString(PyExc_RuntimeError,
                    "this simulation is busy: another thread, or its own function, is inside");
    return 0;
}

static PyObject *leave(simulation *x, dae_status s, const dae_error *err)
{
    x->busy = 0;
    if (shared_raise(&x->problem->all)) return NULL;
    if (s == DAE_ERR_INPUT || s == DAE_ERR_UNSUPPORTED || s == DAE_ERR_MEMORY) return raise_status(s, err);
    return Py_BuildValue("(is)", (int)s, s ? err->text : "");
}

/* advance(t); t None: one step. */
static PyObject *simulation_advance(PyObject *self, PyObject *arg)
{
    simulation *x = (simulation *)self;
    dae_error err = {0};
    double t = arg == Py_None ? NAN : PyFloat_AsDouble(arg);
    if (PyErr_Occurred() || !enter(x)) return NULL;
    PyThreadState *thread = PyEval_SaveThread();
    dae_status s = arg == Py_None ? dae_simulation_step(x->s, &err) : dae_simulation_advance(x->s, t, &err);
    PyEval_RestoreThread(thread);
    return leave(x, s, &err);
}

/* Numbers at t from one of the calls that give two vectors; which: 0 y and y', 1 accelerations and multipliers. */
static PyObject *pair_at(simulation *x, double t, int which, Py_ssize_t n0, Py_ssize_t n1)
{
    dae_error err = {0};
    double *a = calloc((size_t)n0 + 1, sizeof *a), *b = calloc((size_t)n1 + 1, sizeof *b);
    dae_status s = DAE_ERR_MEMORY;
    PyObject *out = NULL;
    if (a && b && enter(x)) {
        PyThreadState *thread = PyEval_SaveThread();
        s = which ? dae_simulation_multipliers(x->s, t, a, b, &err)
                  : dae_simulation_interpolate(x->s, t, a, b, &err);
        PyEval_RestoreThread(thread);
        x->busy = 0;
        if (shared_raise(&x->problem->all)) s = DAE_ERR_CALLBACK;
        else if (s < 0) raise_status(s, &err);
    }
    if (s >= 0) {
        PyObject *first = memory_new(a, 0, n0, NULL), *second = memory_new(b, 0, n1, NULL);
        a = b = NULL;
        out = first && second ? PyTuple_Pack(2, first, second) : NULL;
        Py_XDECREF(first);
        Py_XDECREF(second);
    }
    free(a);
    free(b);
    return out;
}

static PyObject *simulation_interpolate(PyObject *self, PyObject *arg)
{
    simulation *x = (simulation *)self;
    double t = PyFloat_AsDouble(arg);
    if (PyErr_Occurred()) return NULL;
    int n = dae_system_size(&x->problem->problem->system);
    return pair_at(x, t, 0, n, n);
}

static PyObject *simulation_multipliers(PyObject *self, PyObject *arg)
{
    simulation *x = (simulation *)self;
    const dae_system *sys = &x->problem->problem->system;
    double t = PyFloat_AsDouble(arg);
    if (PyErr_Occurred()) return NULL;
    if (sys->kind != DAE_KIND_MECH)
        return PyErr_Format(core_input, "only mechanical systems have multipliers");
    return pair_at(x, t, 1, sys->mech.nv, sys->mech.nlambda);
}

static PyObject *events_so_far(const simulation *x)
{
    int count = 0;
    const dae_event_record *e = dae_simulation_events(x->s, &count);
    const dae_events *all = x->options.events;
    PyObject *list = PyList_New(0);
    for (int k = 0; list && k < count; k++) {
        const char *name = all && e[k].index < all->count ? all->event[e[k].index].name : NULL;
        PyObject *row = Py_BuildValue("(dsi)", e[k].t, name ? name : "event", e[k].rising);
        if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

/* state(): where it is, and all that is known there. */
static PyObject *simulation_state(PyObject *self, PyObject *unused)
{
    simulation *x = (simulation *)self;
    double residual[3] = {NAN, NAN, NAN};
    dae_energy energy;
    (void)unused;
    if (!enter(x)) return NULL;
    x->busy = 0;
    dae_choice c = dae_simulation_choice(x->s);
    dae_stats stats = dae_simulation_stats(x->s);
    dae_simulation_residuals(x->s, residual, NULL);
    int known = dae_simulation_energy(x->s, &energy, NULL) >= 0;
    size_t size = (size_t)dae_system_size(&x->problem->problem->system) * sizeof(double);
    return Py_BuildValue(
        "{s:d,s:d,s:y#,s:s,s:s,s:s,s:s,s:s,s:N,s:(ddd),s:N,s:N}", "t", dae_simulation_time(x->s), "t_old",
        dae_simulation_previous_time(x->s), "y", (const char *)dae_simulation_state(x->s), (Py_ssize_t)size,
        "method", c.method ? c.method : "", "formulation", c.formulation ? c.formulation : "", "reason",
        c.reason ? c.reason : "", "coordinates", c.coordinates ? c.coordinates : "", "linear_algebra",
        c.linear_algebra ? c.linear_algebra : "", "stats", stats_dict(&stats), "residuals", residual[0],
        residual[1], residual[2], "energy",
        known ? Py_BuildValue("{s:d,s:d,s:d}", "kinetic", energy.kinetic, "potential", energy.potential,
                              "power", energy.power)
              : Py_BuildValue(""),
        "events", events_so_far(x));
}

static PyObject *simulation_save(PyObject *self, PyObject *unused)
{
    simulation *x = (simulation *)self;
    (void)unused;
    if (!enter(x)) return NULL;
    x->busy = 0;
    size_t size = dae_simulation_save(x->s, NULL, 0);
    if (!size)
        return PyErr_Format(core_error, "this run cannot be saved: %s", dae_simulation_why_not_saved(x->s));
    PyObject *out = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
    if (out) dae_simulation_save(x->s, PyBytes_AS_STRING(out), size);
    return out;
}

static PyObject *simulation_load(PyObject *self, PyObject *arg)
{
    simulation *x = (simulation *)self;
    Py_buffer v;
    dae_error err = {0};
    if (PyObject_GetBuffer(arg, &v, PyBUF_SIMPLE) < 0) return NULL;
    PyObject *out = NULL;
    if (enter(x)) out = leave(x, dae_simulation_load(x->s, v.buf, (size_t)v.len, NULL, &err), &err);
    PyBuffer_Release(&v);
    return out;
}

static PyObject *simulation_cancel(PyObject *self, PyObject *unused)
{
    (void)unused;
    dae_simulation_cancel(((simulation *)self)->s);
    Py_RETURN_NONE;
}

static PyMethodDef simulation_methods[] = {
    {"advance", simulation_advance, METH_O, "advance(t), or one step where t is None: (status, message)"},
    {"interpolate", simulation_interpolate, METH_O,
     "interpolate(t): state and derivative inside the last step"},
    {"multipliers", simulation_multipliers, METH_O, "multipliers(t): accelerations and multipliers"},
    {"state", simulation_state, METH_NOARGS, "where it is, and all that is known there"},
    {"save", simulation_save, METH_NOARGS, "the whole state as bytes"},
    {"load", simulation_load, METH_O, "goes on from such bytes"},
    {"cancel", simulation_cancel, METH_NOARGS, "asks it to stop after the present step, from any thread"},
    {NULL, NULL, 0, NULL},
};

PyTypeObject simulation_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "daedalus._core.Simulation",
    .tp_basicsize = sizeof(simulation),
    .tp_new = simulation_new,
    .tp_dealloc = simulation_dealloc,
    .tp_methods = simulation_methods,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "A problem on its way.",
};
