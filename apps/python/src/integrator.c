/* An integrator that is stepped by hand. */
#include "core.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct integrator {
    PyObject ob_base;
    problem_object *problem;
    PyObject *events; /* event_set, or NULL */
    dae_integrator *it;
    option_set set;
    dae_options options;
    watch w;
    int busy; /* a thread is inside */
    int n;
    text pieces; /* record: the dense output of the last step, as files of continuous solutions hold it */
    double *work;
} integrator;

/* ---- Dense output of a step that outlives it ----------------------------------------------------------- */

/* The piece in the format of daedalus/experiment.h: from, to, degree, and the states at the Chebyshev points. */
static int on_piece(dae_integrator *it, double from, double to, int degree, void *user)
{
    integrator *x = user;
    double head[3] = {from, to, degree};
    size_t size = (size_t)x->n * sizeof *x->work;
    if (text_write((const char *)head, sizeof head, &x->pieces) < 0) return -1;
    for (int k = 0; k <= degree; k++) {
        double t = k == 0        ? from
                   : k == degree ? to
                                 : from + (to - from) * (1 - cos(k * 3.14159265358979323846 / degree)) / 2;
        if (dae_integrator_interpolate(it, t, x->work, NULL) < 0) return -1;
        if (text_write((const char *)x->work, size, &x->pieces) < 0) return -1;
    }
    return 0;
}

static int write_head(const integrator *x, text *out)
{
    char line[160];
    int length =
        snprintf(line, sizeof line,
                 "daedalus solution 1\n{\"problem\":\"system\",\"solver\":\"%s\",\"rtol\":0.0,\"atol\":0.0,"
                 "\"n\":%d,\"component\":[\"\"",
                 dae_integrator_method(x->it)->name, x->n);
    int bad = text_write(line, (size_t)length, out) < 0;
    for (int i = 1; i < x->n && !bad; i++) bad = text_write(",\"\"", 3, out) < 0;
    if (!bad) bad = text_write("],\"unit\":[\"\"", 12, out) < 0;
    for (int i = 1; i < x->n && !bad; i++) bad = text_write(",\"\"", 3, out) < 0;
    return bad ? -1 : text_write("]}\n", 3, out);
}

static PyObject *integrator_dense(PyObject *self, PyObject *unused)
{
    integrator *x = (integrator *)self;
    text out = {0};
    (void)unused;
    if (!x->it || !x->pieces.size) {
        PyErr_SetString(PyExc_RuntimeError, "there is no step, or the integrator was not asked to record");
        return NULL;
    }
    if (write_head(x, &out) == 0 && text_write(x->pieces.data, x->pieces.size, &out) == 0)
        return solution_from(out.data, out.size);
    free(out.data);
    return PyErr_NoMemory();
}

/* ---- Life ------------------------------------------------------------------------------------------------ */

static PyObject *integrator_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    static char *names[] = {"problem", "options", "events", "record", NULL};
    PyObject *p, *dict, *events = Py_None;
    int record = 0;
    dae_error err = {0};
    if (!PyArg_ParseTupleAndKeywords(args, kw, "O!O!|Op", names, &problem_type, &p, &PyDict_Type, &dict,
                                     &events, &record))
        return NULL;
    integrator *x = (integrator *)type->tp_alloc(type, 0);
    if (!x) return NULL;
    Py_INCREF(p);
    x->problem = (problem_object *)p;
    if (events != Py_None) {
        Py_INCREF(events);
        x->events = events;
    }
    shared *all = &x->problem->all;
    x->options = dae_options_default();
    if (options_fill(&x->set, &x->options, dict, all) < 0) goto fail;
    x->n = dae_system_size(&x->problem->problem->system);
    x->it = dae_integrator_create(&x->problem->problem->system, &x->options, &err);
    if (!x->it ||
        (x->events && dae_integrator_set_events(x->it, &((event_set *)x->events)->events, &err) < 0)) {
        raise_status(err.status, &err);
        goto fail;
    }
    if (record) {
        x->work = malloc(((size_t)x->n + 1) * sizeof *x->work);
        if (!x->work) {
            PyErr_NoMemory();
            goto fail;
        }
        dae_integrator_set_pieces(x->it, on_piece, x);
    }
    x->w = (watch){.all = all};
    dae_integrator_set_progress(x->it, watch_progress, &x->w);
    return (PyObject *)x;
fail:
    Py_DECREF(x);
    return NULL;
}

static int integrator_traverse(PyObject *self, visitproc visit, void *arg)
{
    integrator *x = (integrator *)self;
    Py_VISIT(x->problem);
    Py_VISIT(x->events);
    return 0;
}

static int integrator_clear(PyObject *self)
{
    integrator *x = (integrator *)self;
    dae_integrator_destroy(x->it);
    x->it = NULL;
    Py_CLEAR(x->events);
    Py_CLEAR(x->problem);
    return 0;
}

static void integrator_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    integrator_clear(self);
    options_clear(&((integrator *)self)->set);
    free(((integrator *)self)->pieces.data);
    free(((integrator *)self)->work);
    Py_TYPE(self)->tp_free(self);
}

/* One thread at a time: 1, or 0 with an exception. */
static int enter(integrator *x)
{
    if (x->it && !x->busy) return x->busy = 1;
    PyErr_SetString(
        PyExc_RuntimeError,
        x->it ? "this integrator is busy: another thread, or its own function, is inside; use one per thread"
              : "this integrator was cleared");
    return 0;
}

/* The status as a number, or NULL: an exception of a callback, or wrong input. */
static PyObject *leave(integrator *x, dae_status s, const dae_error *err)
{
    x->busy = 0;
    if (shared_raise(&x->problem->all)) return NULL;
    if (s == DAE_ERR_INPUT || s == DAE_ERR_UNSUPPORTED || s == DAE_ERR_MEMORY) return raise_status(s, err);
    return Py_BuildValue("(is)", (int)s, s ? err->text : "");
}

static PyObject *integrator_start(PyObject *self, PyObject *args)
{
    integrator *x = (integrator *)self;
    double t0, t_end;
    PyObject *y0, *yp0;
    Py_buffer y = {0}, yp = {0};
    dae_error err = {0};
    if (!PyArg_ParseTuple(args, "ddOO", &t0, &t_end, &y0, &yp0)) return NULL;
    if (buffer_reals(y0, &y, "y0") < 0) return NULL;
    if (yp0 != Py_None && buffer_reals(yp0, &yp, "yp0") < 0) {
        PyBuffer_Release(&y);
        return NULL;
    }
    PyObject *out = NULL;
    Py_ssize_t need = x->n * (Py_ssize_t)sizeof(double);
    if (y.len != need || (yp.obj && yp.len != need)) {
        PyErr_Format(PyExc_ValueError, "%d initial values are needed", x->n);
    } else if (enter(x)) {
        dae_status s;
        PyThreadState *thread = PyEval_SaveThread();
        s = dae_integrator_start(x->it, t0, t_end, y.buf, yp.obj ? yp.buf : NULL, &err);
        PyEval_RestoreThread(thread);
        out = leave(x, s, &err);
    }
    PyBuffer_Release(&y);
    if (yp.obj) PyBuffer_Release(&yp);
    return out;
}

static PyObject *integrator_step(PyObject *self, PyObject *unused)
{
    integrator *x = (integrator *)self;
    dae_error err = {0};
    dae_status s;
    (void)unused;
    if (!enter(x)) return NULL;
    x->pieces.size = 0;
    PyThreadState *thread = PyEval_SaveThread();
    s = dae_integrator_step(x->it, &err);
    PyEval_RestoreThread(thread);
    return leave(x, s, &err);
}

static PyObject *integrator_advance(PyObject *self, PyObject *arg)
{
    integrator *x = (integrator *)self;
    dae_error err = {0};
    dae_status s;
    double t = PyFloat_AsDouble(arg);
    if ((t == -1 && PyErr_Occurred()) || !enter(x)) return NULL;
    x->pieces.size = 0;
    PyThreadState *thread = PyEval_SaveThread();
    s = dae_integrator_advance(x->it, t, &err);
    PyEval_RestoreThread(thread);
    return leave(x, s, &err);
}

/* interpolate(times, derivative): one line of n numbers for each time inside the last step. */
static PyObject *integrator_interpolate(PyObject *self, PyObject *args)
{
    integrator *x = (integrator *)self;
    PyObject *array;
    Py_buffer times;
    int derivative;
    if (!PyArg_ParseTuple(args, "Op", &array, &derivative)) return NULL;
    if (buffer_reals(array, &times, "t") < 0) return NULL;
    size_t n = (size_t)x->n, count = (size_t)times.len / sizeof(double);
    const double *t = times.buf;
    double *y = malloc((count * n + 1) * sizeof *y), *other = malloc((n + 1) * sizeof *other);
    dae_status s = y && other ? DAE_OK : DAE_ERR_MEMORY;
    dae_error err = {.t = NAN, .text = "t is outside the last step"};
    PyObject *done = NULL;
    if (enter(x)) {
        PyThreadState *thread = PyEval_SaveThread();
        for (size_t k = 0; k < count && s >= 0; k++) {
            double *row = y + k * n;
            s = dae_integrator_interpolate(x->it, t[k], derivative ? other : row, derivative ? row : NULL);
        }
        PyEval_RestoreThread(thread);
        done = leave(x, s, &err);
    }
    Py_XDECREF(done);
    free(other);
    PyBuffer_Release(&times);
    if (done) return memory_new(y, count ? (Py_ssize_t)count : -1, (Py_ssize_t)n, NULL);
    free(y);
    return NULL;
}

static PyObject *integrator_state(PyObject *self, PyObject *unused)
{
    integrator *x = (integrator *)self;
    (void)unused;
    if (!enter(x)) return NULL;
    x->busy = 0;
    const dae_method_info *m = dae_integrator_method(x->it);
    return Py_BuildValue("(ddy#zs)", dae_integrator_time(x->it), dae_integrator_previous_time(x->it),
                         (const char *)dae_integrator_state(x->it),
                         (Py_ssize_t)((size_t)x->n * sizeof(double)), m ? m->name : NULL,
                         dae_integrator_reason(x->it));
}

static PyObject *integrator_stats(PyObject *self, PyObject *unused)
{
    integrator *x = (integrator *)self;
    (void)unused;
    if (!enter(x)) return NULL;
    x->busy = 0;
    return stats_dict(dae_integrator_stats(x->it));
}

static PyObject *integrator_save(PyObject *self, PyObject *unused)
{
    integrator *x = (integrator *)self;
    (void)unused;
    if (!enter(x)) return NULL;
    x->busy = 0;
    size_t size = dae_integrator_save(x->it, NULL, 0);
    if (!size) {
        PyErr_Format(core_error, "this run cannot be saved: %s", dae_integrator_why_not_saved(x->it));
        return NULL;
    }
    PyObject *out = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
    if (out) dae_integrator_save(x->it, PyBytes_AS_STRING(out), size);
    return out;
}

static PyObject *integrator_load(PyObject *self, PyObject *arg)
{
    integrator *x = (integrator *)self;
    Py_buffer v;
    dae_error err = {0};
    if (PyObject_GetBuffer(arg, &v, PyBUF_SIMPLE) < 0) return NULL;
    PyObject *out = NULL;
    if (enter(x)) out = leave(x, dae_integrator_load(x->it, v.buf, (size_t)v.len, &err), &err);
    PyBuffer_Release(&v);
    return out;
}

static PyObject *integrator_cancel(PyObject *self, PyObject *unused)
{
    integrator *x = (integrator *)self;
    (void)unused;
    if (x->it) dae_integrator_cancel(x->it);
    Py_RETURN_NONE;
}

static PyMethodDef integrator_methods[] = {
    {"start", integrator_start, METH_VARARGS, "start(t0, t_end, y0, yp0)"},
    {"step", integrator_step, METH_NOARGS, "one accepted step: (status, message)"},
    {"advance", integrator_advance, METH_O, "advance(t): (status, message)"},
    {"interpolate", integrator_interpolate, METH_VARARGS, "interpolate(t, derivative)"},
    {"state", integrator_state, METH_NOARGS, "(t, t_old, y as bytes, method, reason)"},
    {"stats", integrator_stats, METH_NOARGS, "counts"},
    {"save", integrator_save, METH_NOARGS, "the whole state as bytes"},
    {"load", integrator_load, METH_O, "goes on from such bytes"},
    {"dense", integrator_dense, METH_NOARGS, "the solution over the last step (record)"},
    {"cancel", integrator_cancel, METH_NOARGS, "asks it to stop after the present step, from any thread"},
    {NULL, NULL, 0, NULL},
};

PyTypeObject integrator_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "daedalus._core.Integrator",
    .tp_basicsize = sizeof(integrator),
    .tp_new = integrator_new,
    .tp_dealloc = integrator_dealloc,
    .tp_traverse = integrator_traverse,
    .tp_clear = integrator_clear,
    .tp_methods = integrator_methods,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_doc = "One run, stepped by hand.",
};
