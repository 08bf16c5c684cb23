/* Numbers that numpy looks into without a copy: np.asarray(memory). */
#include "core.h"

#include <stdlib.h>
#include <string.h>

typedef struct memory {
    PyObject ob_base;
    double *data;
    PyObject *owner;
    Py_ssize_t shape[2], strides[2];
    int ndim;
} memory;

PyObject *memory_new(double *data, Py_ssize_t rows, Py_ssize_t cols, PyObject *owner)
{
    memory *m = PyObject_New(memory, &memory_type);
    if (!m) {
        if (!owner) free(data);
        return NULL;
    }
    Py_XINCREF(owner);
    m->owner = owner;
    m->data = data;
    m->ndim = rows ? 2 : 1;
    if (rows < 0) rows = 0; /* a table without lines */
    m->shape[0] = m->ndim == 2 ? rows : cols;
    m->shape[1] = cols;
    m->strides[0] = m->ndim == 2 ? cols * (Py_ssize_t)sizeof(double) : (Py_ssize_t)sizeof(double);
    m->strides[1] = sizeof(double);
    return (PyObject *)m;
}

static void memory_dealloc(PyObject *self)
{
    memory *m = (memory *)self;
    if (m->owner) Py_DECREF(m->owner);
    else free(m->data);
    PyObject_Free(self);
}

static int memory_buffer(PyObject *self, Py_buffer *view, int flags)
{
    static double nothing;
    memory *m = (memory *)self;
    (void)flags;
    Py_INCREF(self);
    *view = (Py_buffer){.obj = self,
                        .buf = m->data ? m->data : &nothing,
                        .itemsize = sizeof(double),
                        .format = "d",
                        .ndim = m->ndim,
                        .shape = m->shape,
                        .strides = m->strides};
    view->len = (m->ndim == 2 ? m->shape[0] * m->shape[1] : m->shape[0]) * (Py_ssize_t)sizeof(double);
    return 0;
}

static PyBufferProcs memory_procs = {.bf_getbuffer = memory_buffer};

PyTypeObject memory_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "daedalus._core.Memory",
    .tp_basicsize = sizeof(memory),
    .tp_dealloc = memory_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_as_buffer = &memory_procs,
    .tp_doc = "Numbers of the library: numpy.asarray(memory) is a view of them.",
};

static int buffer_of(PyObject *object, Py_buffer *view, const char *what, char kind, Py_ssize_t size)
{
    if (PyObject_GetBuffer(object, view, PyBUF_FORMAT | PyBUF_ND) < 0) return -1;
    if (view->itemsize == size && view->format && strchr(kind == 'd' ? "d" : "il", view->format[0])) return 0;
    PyErr_Format(PyExc_TypeError, "%s: an array of %s is needed", what, kind == 'd' ? "float64" : "int32");
    PyBuffer_Release(view);
    return -1;
}

int buffer_reals(PyObject *object, Py_buffer *view, const char *what)
{
    return buffer_of(object, view, what, 'd', sizeof(double));
}

int buffer_ints(PyObject *object, Py_buffer *view, const char *what)
{
    return buffer_of(object, view, what, 'i', sizeof(int));
}

int text_write(const char *piece, size_t length, void *user)
{
    text *x = user;
    if (x->size + length + 1 > x->capacity) {
        size_t capacity = 2 * (x->size + length + 1) + 4096;
        char *data = realloc(x->data, capacity);
        if (!data) return -1;
        x->data = data;
        x->capacity = capacity;
    }
    memcpy(x->data + x->size, piece, length);
    x->size += length;
    x->data[x->size] = 0;
    return 0;
}

const char **words_of(PyObject *list, int *count)
{
    *count = (int)PyList_GET_SIZE(list);
    const char **word = calloc((size_t)*count + 1, sizeof *word);
    if (!word) PyErr_NoMemory();
    for (int i = 0; word && i < *count; i++) {
        if ((word[i] = PyUnicode_AsUTF8(PyList_GET_ITEM(list, i)))) continue;
        free(word);
        return NULL;
    }
    return word;
}

PyObject *copy_of(const double *x, Py_ssize_t rows, Py_ssize_t cols)
{
    size_t size = (size_t)(rows ? rows : 1) * (size_t)cols;
    double *own = malloc((size + 1) * sizeof *own);
    if (!own) return PyErr_NoMemory();
    for (size_t i = 0; i < size; i++) own[i] = x ? x[i] : NAN;
    return memory_new(own, rows, cols, NULL);
}
