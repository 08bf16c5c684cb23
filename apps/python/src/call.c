/* Functions that Python gives: called with arrays that are kept, their results taken without a copy where they are
 * arrays of the right kind. */
#include "core.h"

#include <string.h>

/* ---- Exceptions ---------------------------------------------------------------------------------- */

void shared_catch(shared *s)
{
    if (s->raised) {
        PyErr_Clear(); /* the first one tells more */
        return;
    }
    PyErr_Fetch(&s->type, &s->value, &s->trace);
    s->raised = 1;
}

int shared_raise(shared *s)
{
    if (!s->raised) return 0;
    PyErr_Restore(s->type, s->value, s->trace);
    s->type = s->value = s->trace = NULL;
    s->raised = 0;
    return 1;
}

void shared_clear(shared *s)
{
    Py_CLEAR(s->args);
    Py_CLEAR(s->vector);
    Py_CLEAR(s->type);
    Py_CLEAR(s->value);
    Py_CLEAR(s->trace);
}

int shared_traverse(const shared *s, visitproc visit, void *arg)
{
    Py_VISIT(s->args);
    Py_VISIT(s->vector);
    Py_VISIT(s->type);
    Py_VISIT(s->value);
    Py_VISIT(s->trace);
    return 0;
}

/* ---- Life ------------------------------------------------------------------------------------------ */

int call_init(call *c, shared *all, const char *what, PyObject *fn, PyObject *empty)
{
    c->all = all;
    c->what = what;
    Py_XINCREF(empty);
    Py_XSETREF(c->empty, empty);
    if (!fn || fn == Py_None) return 0;
    if (PyTuple_Check(fn)) {
        unsigned long long address, user;
        PyObject *keep;
        if (!PyArg_ParseTuple(fn, "KKO", &address, &user, &keep)) return -1;
        if (!address) {
            PyErr_Format(PyExc_ValueError, "%s: the address of the compiled function is zero", what);
            return -1;
        }
        c->address = (void (*)(void))(uintptr_t)address;
        c->user = (void *)(uintptr_t)user;
        Py_INCREF(keep);
        Py_XSETREF(c->keep, keep);
        return 0;
    }
    if (!PyCallable_Check(fn)) {
        PyErr_Format(PyExc_TypeError, "%s must be callable, not %s", what, Py_TYPE(fn)->tp_name);
        return -1;
    }
    Py_INCREF(fn);
    Py_XSETREF(c->fn, fn);
    return 0;
}

void call_input(call *c, Py_ssize_t length)
{
    c->length[c->nin++] = length;
}

void call_clear(call *c)
{
    Py_CLEAR(c->fn);
    Py_CLEAR(c->keep);
    Py_CLEAR(c->empty);
    for (int k = 0; k < MOST_INPUTS; k++) Py_CLEAR(c->array[k]);
}

int call_traverse(const call *c, visitproc visit, void *arg)
{
    Py_VISIT(c->fn);
    Py_VISIT(c->keep);
    Py_VISIT(c->empty);
    return 0;
}

/* ---- Results --------------------------------------------------------------------------------------- */

/* 1: a buffer of doubles (complex: of pairs); its numbers are in out. 0: something else. -1: exception. */
static int take_buffer(const call *c, PyObject *result, double *out, Py_ssize_t rows, Py_ssize_t cols)
{
    Py_buffer v;
    if (!PyObject_CheckBuffer(result)) return 0;
    if (PyObject_GetBuffer(result, &v, PyBUF_FORMAT | PyBUF_STRIDES) < 0) {
        PyErr_Clear();
        return 0;
    }
    Py_ssize_t item = c->is_complex ? 16 : 8, count = c->is_complex ? rows / 2 : rows;
    int taken = 0;
    if (v.itemsize == item && v.format && !strcmp(v.format, c->is_complex ? "Zd" : "d")) {
        const char *from = v.buf;
        if (cols == 0 && v.len == count * item && (v.ndim == 1 || PyBuffer_IsContiguous(&v, 'C'))) {
            Py_ssize_t step = v.ndim == 1 ? v.strides[0] : item;
            if (step == item) memcpy(out, from, (size_t)v.len);
            else
                for (Py_ssize_t i = 0; i < count; i++)
                    memcpy((char *)out + i * item, from + i * step, (size_t)item);
            taken = 1;
        } else if (cols > 0 && !c->is_complex && v.ndim == 2 && v.shape[0] == rows && v.shape[1] == cols) {
            for (Py_ssize_t j = 0; j < cols; j++) {
                for (Py_ssize_t i = 0; i < rows; i++)
                    memcpy(&out[i + j * rows], from + i * v.strides[0] + j * v.strides[1], sizeof *out);
            }
            taken = 1;
        }
    }
    PyBuffer_Release(&v);
    return taken;
}

/* 1: a list or tuple of as many numbers. 0: something else. -1: exception. */
static int take_list(const call *c, PyObject *result, double *out, Py_ssize_t rows)
{
    Py_ssize_t count = c->is_complex ? rows / 2 : rows;
    if (PyFloat_Check(result) && rows == 1) {
        out[0] = PyFloat_AS_DOUBLE(result);
        return 1;
    }
    if ((!PyList_Check(result) && !PyTuple_Check(result)) || PySequence_Fast_GET_SIZE(result) != count)
        return 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *x = PySequence_Fast_GET_ITEM(result, i);
        if (!c->is_complex && PyFloat_Check(x)) {
            out[i] = PyFloat_AS_DOUBLE(x);
        } else if (!c->is_complex && PyLong_Check(x)) {
            out[i] = PyLong_AsDouble(x);
            if (out[i] == -1 && PyErr_Occurred()) return -1;
        } else if (c->is_complex && (PyComplex_Check(x) || PyFloat_Check(x) || PyLong_Check(x))) {
            Py_complex z = PyComplex_AsCComplex(x);
            if (z.real == -1 && PyErr_Occurred()) return -1;
            out[2 * i] = z.real;
            out[2 * i + 1] = z.imag;
        } else {
            return 0;
        }
    }
    return 1;
}

int call_take(const call *c, PyObject *result, double t, double *out, Py_ssize_t rows, Py_ssize_t cols)
{
    int taken = take_buffer(c, result, out, rows, cols);
    if (!taken && cols == 0) taken = take_list(c, result, out, rows);
    if (taken) return taken < 0 ? -1 : 0;
    PyObject *plain = PyObject_CallFunction(c->all->vector, "Onnsdi", result, c->is_complex ? rows / 2 : rows,
                                            cols, c->what, t, c->is_complex);
    if (!plain) return -1;
    taken = take_buffer(c, plain, out, rows, cols);
    Py_DECREF(plain);
    if (taken > 0) return 0;
    PyErr_Format(PyExc_ValueError, "%s: the result cannot be read as numbers", c->what);
    return -1;
}

/* ---- Calling ---------------------------------------------------------------------------------------- */

/* Array number k holds x. A new one if somebody kept the last. */
static int fill(call *c, int k, const double *x)
{
    if (!c->array[k] || Py_REFCNT(c->array[k]) > 1) {
        Py_buffer v;
        PyObject *fresh = PyObject_CallFunction(c->empty, "n", c->length[k]);
        if (!fresh) return -1;
        if (PyObject_GetBuffer(fresh, &v, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE) < 0) {
            Py_DECREF(fresh);
            return -1;
        }
        Py_XSETREF(c->array[k], fresh);
        c->data[k] = v.buf;
        PyBuffer_Release(&v); /* the array keeps its memory */
    }
    memcpy(c->data[k], x, (size_t)c->length[k] * sizeof *x);
    return 0;
}

PyObject *call_object(call *c, double t, const double *const *in)
{
    PyObject *stack[1 + MOST_INPUTS + 16], *result = NULL;
    Py_ssize_t further = c->all->args ? PyTuple_GET_SIZE(c->all->args) : 0;
    int k = 0;
    stack[0] = PyFloat_FromDouble(t);
    if (!stack[0]) return NULL;
    for (; k < c->nin; k++) {
        if (in[k] && fill(c, k, in[k]) < 0) goto done;
        stack[1 + k] = in[k] ? c->array[k] : Py_None;
        Py_INCREF(stack[1 + k]); /* ours for the time of the call: no other thread takes this array */
    }
    if (further <= 16) {
        for (Py_ssize_t i = 0; i < further; i++) stack[1 + k + i] = PyTuple_GET_ITEM(c->all->args, i);
        result = PyObject_Vectorcall(c->fn, stack, (size_t)(1 + k + further), NULL);
    } else {
        PyObject *all = PyTuple_New(1 + k + further);
        for (Py_ssize_t i = 0; all && i < 1 + k + further; i++) {
            PyObject *x = i <= k ? stack[i] : PyTuple_GET_ITEM(c->all->args, i - 1 - k);
            Py_INCREF(x);
            PyTuple_SET_ITEM(all, i, x);
        }
        if (all) result = PyObject_CallObject(c->fn, all);
        Py_XDECREF(all);
    }
done:
    for (int i = 0; i <= k; i++) Py_DECREF(stack[i]);
    return result;
}

int call_python(call *c, double t, const double *const *in, double *out, Py_ssize_t rows, Py_ssize_t cols)
{
    if (c->all->raised) return -1;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *result = call_object(c, t, in);
    int bad = !result || call_take(c, result, t, out, rows, cols) < 0;
    Py_XDECREF(result);
    if (bad) shared_catch(c->all);
    PyGILState_Release(gil);
    return bad ? -1 : 0;
}
