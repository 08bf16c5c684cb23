/* Steady states, branches of them over a parameter, periodic solutions. */
#include "core.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* re + i im as a list of complex numbers. */
static PyObject *complex_list(const double *re, const double *im, int count)
{
    PyObject *list = PyList_New(count);
    for (int i = 0; list && i < count; i++) PyList_SET_ITEM(list, i, PyComplex_FromDoubles(re[i], im[i]));
    return list;
}

static PyObject *ints_list(const int *x, int count)
{
    PyObject *list = PyList_New(count);
    for (int i = 0; list && i < count; i++) PyList_SET_ITEM(list, i, PyLong_FromLong(x[i]));
    return list;
}

/* n numbers to begin with, or None. */
static int read_guess(PyObject *given, const problem_object *p, Py_buffer *v, const double **out)
{
    if (given == Py_None) return 0;
    Py_ssize_t n = dae_system_size(&p->problem->system);
    if (buffer_reals(given, v, "guess") < 0) return -1;
    *out = v->buf;
    if (v->len == n * (Py_ssize_t)sizeof(double)) return 0;
    PyErr_Format(PyExc_ValueError, "guess must have %zd numbers", n);
    return -1;
}

/* steady(problem, options, t, guess, settle) */
PyObject *steady_state(PyObject *module, PyObject *args)
{
    problem_object *p;
    PyObject *dict, *guess, *out = NULL;
    double t, settle;
    Py_buffer v = {0};
    option_set set = {0};
    dae_error err = {0};
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O!dOd", &problem_type, &p, &PyDict_Type, &dict, &t, &guess, &settle))
        return NULL;
    dae_steady_options o = dae_steady_options_default(p->problem);
    if (!isnan(t)) o.t = t;
    o.settle = settle;
    if (read_guess(guess, p, &v, &o.guess) == 0 &&
        options_fill(&set, &o.simulation.options, dict, &p->all) == 0) {
        PyThreadState *thread = PyEval_SaveThread();
        dae_steady_result *r = dae_steady(p->problem, &o, &err);
        PyEval_RestoreThread(thread);
        if (!r) raise_status(err.status, &err);
        else
            out = Py_BuildValue("{s:N,s:N,s:i,s:i,s:i,s:i,s:d}", "y", copy_of(r->y, 0, r->n), "eigenvalues",
                                complex_list(r->re, r->im, r->neigenvalue), "unstable", r->unstable,
                                "conserved", r->conserved, "settled", r->settled, "iterations", r->iterations,
                                "residual", r->residual);
        dae_steady_destroy(r);
    }
    if (v.obj) PyBuffer_Release(&v);
    options_clear(&set);
    return out;
}

/* Who is asked whether to go on. */
typedef struct asked {
    shared *all;
    PyObject *progress;
} asked;

static int on_point(int points, double parameter, void *user)
{
    asked *x = user;
    PyGILState_STATE gil = PyGILState_Ensure();
    int stop = PyErr_CheckSignals() < 0;
    if (!stop && x->progress) {
        PyObject *r = PyObject_CallFunction(x->progress, "id", points, parameter);
        stop = !r || PyObject_IsTrue(r);
        Py_XDECREF(r);
    }
    if (PyErr_Occurred()) shared_catch(x->all);
    PyGILState_Release(gil);
    return stop;
}

static PyObject *branch_answer(const dae_branch *b)
{
    PyObject *kinds = PyList_New(0);
    for (int i = 0; kinds && i < b->count; i++) {
        PyObject *x = PyUnicode_FromString(dae_branch_kind_name(b->kind[i]));
        if (!x || PyList_Append(kinds, x) < 0) Py_CLEAR(kinds);
        Py_XDECREF(x);
    }
    return Py_BuildValue("{s:s,s:s,s:i,s:i,s:N,s:N,s:N,s:N,s:N,s:N}", "status", dae_status_name(b->status),
                         "message", b->message, "start", b->start, "closed", b->closed, "value",
                         copy_of(b->value, 0, b->count), "y", copy_of(b->y, b->count ? b->count : -1, b->n),
                         "leading", complex_list(b->re, b->im, b->count), "unstable",
                         ints_list(b->unstable, b->count), "frequency", copy_of(b->frequency, 0, b->count),
                         "kind", kinds);
}

/* branch(problem, parameter, min, max, guess, settle, step_max, points, one_way, progress); NaN and 0: the default */
PyObject *steady_branch(PyObject *module, PyObject *args)
{
    problem_object *p;
    PyObject *guess, *progress, *out = NULL;
    const char *parameter;
    double min, max, settle, step_max;
    int points, one_way;
    Py_buffer v = {0};
    dae_error err = {0};
    (void)module;
    if (!PyArg_ParseTuple(args, "O!sddOddiiO", &problem_type, &p, &parameter, &min, &max, &guess, &settle,
                          &step_max, &points, &one_way, &progress))
        return NULL;
    asked who = {&p->all, progress == Py_None ? NULL : progress};
    dae_branch_options o = dae_branch_options_default(p->problem);
    if (!isnan(min)) o.min = min;
    if (!isnan(max)) o.max = max;
    if (step_max > 0) o.step_max = step_max;
    if (points > 0) o.max_points = points;
    o.one_way = one_way;
    o.steady.settle = settle;
    o.progress = on_point;
    o.user = &who;
    if (read_guess(guess, p, &v, &o.steady.guess) == 0) {
        PyThreadState *thread = PyEval_SaveThread();
        dae_branch *b = dae_continue(p->problem, parameter, &o, &err);
        PyEval_RestoreThread(thread);
        if (shared_raise(&p->all)) {
            /* an exception ended it */
        } else if (!b) raise_status(err.status, &err);
        else out = branch_answer(b);
        dae_branch_destroy(b);
    }
    if (v.obj) PyBuffer_Release(&v);
    return out;
}

/* periodic(problem, options, period, forced, settle, guess) */
PyObject *steady_periodic(PyObject *module, PyObject *args)
{
    problem_object *p;
    PyObject *dict, *guess, *out = NULL;
    double period, settle;
    int forced;
    Py_buffer v = {0};
    option_set set = {0};
    dae_error err = {0};
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O!dpdO", &problem_type, &p, &PyDict_Type, &dict, &period, &forced, &settle,
                          &guess))
        return NULL;
    dae_periodic_options o = dae_periodic_options_default(p->problem);
    o.period = period;
    o.forced = forced;
    o.settle = settle;
    if (read_guess(guess, p, &v, &o.guess) == 0 &&
        options_fill(&set, &o.sensitivity.simulation.options, dict, &p->all) == 0) {
        PyThreadState *thread = PyEval_SaveThread();
        dae_periodic_result *r = dae_periodic(p->problem, &o, &err);
        PyEval_RestoreThread(thread);
        if (!r) raise_status(err.status, &err);
        else
            out =
                Py_BuildValue("{s:N,s:d,s:d,s:N,s:i,s:i,s:d}", "y", copy_of(r->y, 0, r->n), "t", r->t,
                              "period", r->period, "multipliers", complex_list(r->re, r->im, r->nmultiplier),
                              "unstable", r->unstable, "iterations", r->iterations, "residual", r->residual);
        dae_periodic_destroy(r);
    }
    if (v.obj) PyBuffer_Release(&v);
    options_clear(&set);
    return out;
}
