/* The continuous solution of a run. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

typedef struct solution {
    PyObject ob_base;
    dae_solution *s;
    char *data; /* as it was written, for pickling */
    size_t size;
} solution;

PyObject *solution_from(char *data, size_t size)
{
    dae_error err = {0};
    dae_solution *s = dae_solution_read(data, size, &err);
    solution *self = s ? PyObject_New(solution, &solution_type) : NULL;
    if (!self) {
        if (s) dae_solution_destroy(s);
        else raise_status(err.status, &err);
        free(data);
        return NULL;
    }
    self->s = s;
    self->data = data;
    self->size = size;
    return (PyObject *)self;
}

static PyObject *solution_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    static char *names[] = {"data", NULL};
    const char *data;
    Py_ssize_t size;
    (void)type;
    if (!PyArg_ParseTupleAndKeywords(args, kw, "y#", names, &data, &size)) return NULL;
    char *copy = malloc((size_t)size + 1);
    if (!copy) return PyErr_NoMemory();
    memcpy(copy, data, (size_t)size);
    return solution_from(copy, (size_t)size);
}

static void solution_dealloc(PyObject *self)
{
    solution *x = (solution *)self;
    dae_solution_destroy(x->s);
    free(x->data);
    PyObject_Free(self);
}

/* at(times, derivative): one line of n numbers for each time. */
static PyObject *solution_at(PyObject *self, PyObject *args)
{
    solution *x = (solution *)self;
    Py_buffer times;
    PyObject *array;
    int derivative;
    dae_error err = {0};
    if (!PyArg_ParseTuple(args, "Op", &array, &derivative)) return NULL;
    if (buffer_reals(array, &times, "t") < 0) return NULL;
    size_t n = (size_t)dae_solution_about(x->s)->n, count = (size_t)times.len / sizeof(double);
    const double *t = times.buf;
    double *y = malloc((count * n + 1) * sizeof *y), *yp = malloc((n + 1) * sizeof *yp);
    dae_status r = y && yp ? DAE_OK : DAE_ERR_MEMORY;
    PyThreadState *thread = PyEval_SaveThread();
    for (size_t k = 0; k < count && r >= 0; k++) {
        r = dae_solution_at(x->s, t[k], y + k * n, derivative ? yp : NULL, &err);
        if (derivative) memcpy(y + k * n, yp, n * sizeof *y);
    }
    PyEval_RestoreThread(thread);
    free(yp);
    PyBuffer_Release(&times);
    if (r >= 0) return memory_new(y, count ? (Py_ssize_t)count : -1, (Py_ssize_t)n, NULL);
    free(y);
    return raise_status(r, &err);
}

static PyObject *solution_about(PyObject *self, PyObject *unused)
{
    const dae_solution_info *i = dae_solution_about(((solution *)self)->s);
    (void)unused;
    return Py_BuildValue("{s:d,s:d,s:i,s:l,s:s}", "t0", i->t0, "t_end", i->t_end, "n", i->n, "pieces",
                         i->pieces, "solver", i->solver);
}

static PyObject *solution_bytes(PyObject *self, PyObject *unused)
{
    solution *x = (solution *)self;
    (void)unused;
    return PyBytes_FromStringAndSize(x->data, (Py_ssize_t)x->size);
}

static PyMethodDef solution_methods[] = {
    {"at", solution_at, METH_VARARGS, "at(t, derivative): the solution at these times"},
    {"about", solution_about, METH_NOARGS, "interval, size and number of pieces"},
    {"bytes", solution_bytes, METH_NOARGS, "the solution as the library writes it"},
    {NULL, NULL, 0, NULL},
};

PyTypeObject solution_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "daedalus._core.Solution",
    .tp_basicsize = sizeof(solution),
    .tp_new = solution_new,
    .tp_dealloc = solution_dealloc,
    .tp_methods = solution_methods,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "The continuous solution of a run.",
};
