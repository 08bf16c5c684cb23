/* Switching functions and actions in Python, and the record of what happened: time, number, state. */
#include "core.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- What the library calls -------------------------------------------------------------------------- */

static int on_phi(double t, const double *y, const double *yp, double *phi, void *user)
{
    event_set *s = user;
    (void)yp;
    for (int i = 0; i < s->count; i++) {
        if (call_python(&s->event[i].when, t, &y, &phi[i], 1, 0) < 0) return -1;
    }
    return 0;
}

static int keep(event_set *s, int i, double t, const double *y)
{
    if (s->happened == s->capacity) {
        int more = s->capacity ? 2 * s->capacity : 16;
        double *time = realloc(s->t, (size_t)more * sizeof *time);
        if (time) s->t = time;
        double *state = realloc(s->y, (size_t)more * (size_t)s->n * sizeof *state);
        if (state) s->y = state;
        int *index = realloc(s->index, (size_t)more * sizeof *index);
        if (index) s->index = index;
        if (!time || !state || !index) return -1;
        s->capacity = more;
    }
    s->t[s->happened] = t;
    s->index[s->happened] = i;
    memcpy(s->y + (size_t)s->happened++ * (size_t)s->n, y, (size_t)s->n * sizeof *y);
    return 0;
}

/* The action of Python gives a new state, or None. */
static int act(event_set *s, call *c, double t, double *y)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    const double *in = y;
    int answer = DAE_EVENT_GO_ON;
    PyObject *result = call_object(c, t, &in);
    if (result && result != Py_None)
        answer = call_take(c, result, t, y, s->n, 0) < 0 ? -1 : DAE_EVENT_RESTART;
    if (!result || answer < 0) {
        shared_catch(s->all);
        answer = -1;
    }
    Py_XDECREF(result);
    PyGILState_Release(gil);
    return answer;
}

static int on_event(int i, double t, int rising, double *y, double *yp, void *user)
{
    event_set *s = user;
    event_call *e = &s->event[i];
    (void)rising;
    (void)yp;
    if (s->all->raised || keep(s, i, t, y) < 0) return -1;
    int last = e->terminal && ++e->count >= e->terminal;
    int answer = e->action.fn ? act(s, &e->action, t, y) : DAE_EVENT_GO_ON;
    return answer < 0 ? -1 : last ? DAE_EVENT_STOP : answer;
}

/* ---- The object ---------------------------------------------------------------------------------------- */

static int read_event(event_set *s, int i, PyObject *x, PyObject *empty, int is_complex, Py_ssize_t n)
{
    PyObject *when, *action;
    int direction;
    const char *name;
    event_call *e = &s->event[i];
    if (!PyArg_ParseTuple(x, "OliyO", &when, &e->terminal, &direction, &name, &action)) return -1;
    if (call_init(&e->when, s->all, "event", when, empty) < 0) return -1;
    if (call_init(&e->action, s->all, "action of the event", action, empty) < 0) return -1;
    e->action.is_complex = is_complex;
    call_input(&e->when, n);
    call_input(&e->action, n);
    s->description[i] = (dae_event){.name = name, .direction = (dae_direction)direction};
    return 0;
}

PyObject *event_set_new(problem_object *p, PyObject *list, PyObject *empty, int is_complex, Py_ssize_t n)
{
    event_set *s = PyObject_GC_New(event_set, &event_set_type);
    if (!s) return NULL;
    memset((char *)s + sizeof(PyObject), 0, sizeof *s - sizeof(PyObject));
    Py_INCREF(p);
    s->problem = (PyObject *)p;
    s->all = &p->all;
    s->n = (int)n;
    s->names = PySequence_Tuple(list);
    s->count = s->names ? (int)PyTuple_GET_SIZE(s->names) : 0;
    s->event = calloc((size_t)s->count + 1, sizeof *s->event);
    s->description = calloc((size_t)s->count + 1, sizeof *s->description);
    int bad = !s->names || !s->event || !s->description;
    for (int i = 0; !bad && i < s->count; i++)
        bad = read_event(s, i, PyTuple_GET_ITEM(s->names, i), empty, is_complex, n) < 0;
    s->events = (dae_events){
        .count = s->count, .event = s->description, .phi = on_phi, .action = on_event, .user = s};
    PyObject_GC_Track(s);
    if (!bad) return (PyObject *)s;
    if (!PyErr_Occurred()) PyErr_NoMemory();
    Py_DECREF(s);
    return NULL;
}

static int event_set_traverse(PyObject *self, visitproc visit, void *arg)
{
    event_set *s = (event_set *)self;
    Py_VISIT(s->problem);
    Py_VISIT(s->names);
    for (int i = 0; s->event && i < s->count; i++) {
        int r = call_traverse(&s->event[i].when, visit, arg);
        if (!r) r = call_traverse(&s->event[i].action, visit, arg);
        if (r) return r;
    }
    return 0;
}

static int event_set_clear(PyObject *self)
{
    event_set *s = (event_set *)self;
    for (int i = 0; s->event && i < s->count; i++) {
        call_clear(&s->event[i].when);
        call_clear(&s->event[i].action);
    }
    return 0;
}

static void event_set_dealloc(PyObject *self)
{
    event_set *s = (event_set *)self;
    PyObject_GC_UnTrack(self);
    event_set_clear(self);
    Py_CLEAR(s->names);
    Py_CLEAR(s->problem);
    free(s->event);
    free(s->description);
    free(s->t);
    free(s->y);
    free(s->index);
    PyObject_GC_Del(self);
}

/* (t, y, indices) so far, as views; counts of the terminal ones, for a checkpoint. */
static PyObject *happened(PyObject *self, PyObject *unused)
{
    event_set *s = (event_set *)self;
    (void)unused;
    PyObject *index = PyList_New(s->happened);
    for (int k = 0; index && k < s->happened; k++) PyList_SET_ITEM(index, k, PyLong_FromLong(s->index[k]));
    PyObject *t =
        PyBytes_FromStringAndSize((const char *)s->t, (Py_ssize_t)((size_t)s->happened * sizeof *s->t));
    PyObject *y = PyBytes_FromStringAndSize((const char *)s->y,
                                            (Py_ssize_t)((size_t)s->happened * (size_t)s->n * sizeof *s->y));
    PyObject *out = index && t && y ? PyTuple_Pack(3, t, y, index) : NULL;
    Py_XDECREF(t);
    Py_XDECREF(y);
    Py_XDECREF(index);
    return out;
}

/* restore(t bytes, y bytes, indices): what happened before a checkpoint. */
static PyObject *restore(PyObject *self, PyObject *args)
{
    event_set *s = (event_set *)self;
    Py_buffer t, y;
    PyObject *index;
    if (!PyArg_ParseTuple(args, "y*y*O!", &t, &y, &PyList_Type, &index)) return NULL;
    s->happened = 0;
    for (int i = 0; i < s->count; i++) s->event[i].count = 0;
    Py_ssize_t count = PyList_GET_SIZE(index);
    int bad = t.len != count * 8 || y.len != count * 8 * s->n;
    for (Py_ssize_t k = 0; !bad && k < count; k++) {
        long i = PyLong_AsLong(PyList_GET_ITEM(index, k));
        bad = i < 0 || i >= s->count ||
              keep(s, (int)i, ((const double *)t.buf)[k], (const double *)y.buf + k * s->n) < 0;
        if (!bad) s->event[i].count++;
    }
    PyBuffer_Release(&t);
    PyBuffer_Release(&y);
    if (bad) {
        PyErr_SetString(PyExc_ValueError,
                        "the events of the checkpoint are those of other switching functions");
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyMethodDef event_set_methods[] = {
    {"happened", happened, METH_NOARGS, "(t, y, indices) of the events so far"},
    {"restore", restore, METH_VARARGS, "the events before a checkpoint"},
    {NULL, NULL, 0, NULL},
};

PyTypeObject event_set_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "daedalus._core.Events",
    .tp_basicsize = sizeof(event_set),
    .tp_dealloc = event_set_dealloc,
    .tp_traverse = event_set_traverse,
    .tp_clear = event_set_clear,
    .tp_methods = event_set_methods,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_doc = "Switching functions, and the events that they found.",
};

/* ---- Progress -------------------------------------------------------------------------------------------- */

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

enum { LOOK_EVERY = 16 };                   /* steps between two looks at the clock; ours */
static const double signal_interval = 0.05; /* seconds between two looks at signals; ours */

int watch_stop(void *user)
{
    return watch_progress(NULL, NAN, NAN, user);
}

int watch_progress(const dae_integrator *it, double t, double t_end, void *user)
{
    watch *w = user;
    (void)it;
    if (w->all->raised) return 1;
    int all = w->progress && w->every <= 0;
    if (!all && w->count++ % LOOK_EVERY != 0) return 0;
    double now = seconds_now();
    int tell = all || (w->progress && now - w->last_call >= w->every),
        look = now - w->last_signal >= signal_interval;
    if (!tell && !look) return 0;
    PyGILState_STATE gil = PyGILState_Ensure();
    int stop = 0;
    if (look) {
        w->last_signal = now;
        stop = PyErr_CheckSignals() < 0;
    }
    if (tell && !stop) {
        w->last_call = now;
        PyObject *r = PyObject_CallFunction(w->progress, "dd", t, t_end);
        stop = r ? PyObject_IsTrue(r) : -1;
        Py_XDECREF(r);
    }
    if (PyErr_Occurred()) shared_catch(w->all);
    PyGILState_Release(gil);
    return stop != 0;
}
