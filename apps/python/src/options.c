/* Options of a run from a dict: names of the library's own table, vectors of tolerances, discontinuities, a log; what is
 * none of these belongs to the method or the formulation, which check it. */
#include "core.h"

#include <string.h>

/* Text that lives as long as the set: numbers with all digits, True as 1. */
static const char *text_of(option_set *s, PyObject *value)
{
    PyObject *str = NULL, *bytes = NULL;
    const char *out = NULL;
    if (PyBool_Check(value)) str = PyUnicode_FromString(value == Py_True ? "1" : "0");
    else if (PyFloat_Check(value)) {
        char *digits = PyOS_double_to_string(PyFloat_AS_DOUBLE(value), 'r', 0, 0, NULL);
        if (digits) str = PyUnicode_FromString(digits);
        PyMem_Free(digits);
    } else str = PyObject_Str(value);
    if (str) bytes = PyUnicode_AsUTF8String(str);
    if (bytes && PyList_Append(s->text, bytes) == 0) out = PyBytes_AS_STRING(bytes);
    Py_XDECREF(str);
    Py_XDECREF(bytes); /* the list holds it */
    return out;
}

static int in_table(const char *name)
{
    for (const dae_option *o = dae_options_table(); o->name; o++) {
        if (!strcmp(o->name, name)) return 1;
    }
    return 0;
}

static const double *hold(option_set *s, PyObject *value, const char *name, int *count)
{
    Py_buffer *v = &s->held[s->nheld];
    if (buffer_reals(value, v, name) < 0) return NULL;
    s->nheld++;
    *count = (int)(v->len / v->itemsize);
    return v->buf;
}

/* nonnegative=[0, 2]: 1, or -1 with an exception. */
static int read_components(option_set *s, PyObject *value)
{
    PyObject *list = PySequence_List(value);
    Py_ssize_t n = list ? PyList_Size(list) : 0;
    free(s->nonnegative);
    s->nonnegative = calloc((size_t)n + 1, sizeof *s->nonnegative);
    for (Py_ssize_t i = 0; list && s->nonnegative && i < n; i++)
        s->nonnegative[i] = (int)PyLong_AsLong(PyList_GetItem(list, i));
    Py_XDECREF(list);
    if (!s->nonnegative && !PyErr_Occurred()) PyErr_NoMemory();
    s->opt->nonnegative = s->nonnegative;
    s->opt->nnonnegative = (int)n;
    return PyErr_Occurred() ? -1 : 1;
}

static void on_log(dae_log_level level, const char *line, void *user)
{
    option_set *s = user;
    if (s->all->raised) return;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *r = PyObject_CallFunction(s->log, "is", (int)level, line);
    if (r) Py_DECREF(r);
    else shared_catch(s->all);
    PyGILState_Release(gil);
}

/* 1: it is one of those that are no entry of the table. */
static int special(option_set *s, const char *name, PyObject *value)
{
    int count = 0;
    dae_options *o = s->opt;
    if (!strcmp(name, "rtol_vec")) return (o->rtol_vec = hold(s, value, name, &count)) ? 1 : -1;
    if (!strcmp(name, "atol_vec")) return (o->atol_vec = hold(s, value, name, &count)) ? 1 : -1;
    if (!strcmp(name, "discontinuity")) {
        o->discontinuity = hold(s, value, name, &count);
        o->ndiscontinuity = count;
        return o->discontinuity ? 1 : -1;
    }
    if (!strcmp(name, "nonnegative")) return read_components(s, value);
    if (!strcmp(name, "log_level")) {
        o->log_level = (dae_log_level)PyLong_AsLong(value);
        return PyErr_Occurred() ? -1 : 1;
    }
    if (strcmp(name, "log") != 0) return 0;
    Py_INCREF(value);
    Py_XSETREF(s->log, value);
    o->log = on_log;
    o->log_user = s;
    return 1;
}

static int one_option(option_set *s, PyObject *key, PyObject *value)
{
    dae_error err = {0};
    const char *name = text_of(s, key), *given;
    if (!name) return -1;
    int done = special(s, name, value);
    if (done) return done < 0 ? -1 : 0;
    if (!(given = text_of(s, value))) return -1;
    if (in_table(name)) {
        dae_status r = dae_options_set(s->opt, name, given, &err);
        if (r < 0) raise_status(r, &err);
        return r < 0 ? -1 : 0;
    }
    if (s->opt->nsetting == (int)(sizeof s->setting / sizeof *s->setting)) {
        PyErr_SetString(PyExc_ValueError, "too many options of the method");
        return -1;
    }
    s->setting[s->opt->nsetting++] = (dae_setting){name, given};
    return 0;
}

int options_fill(option_set *s, dae_options *opt, PyObject *dict, shared *all)
{
    PyObject *key, *value;
    Py_ssize_t at = 0;
    s->opt = opt;
    s->all = all;
    s->text = PyList_New(0);
    if (!s->text) return -1;
    opt->setting = s->setting;
    opt->nsetting = 0;
    while (dict && PyDict_Next(dict, &at, &key, &value)) {
        if (one_option(s, key, value) < 0) return -1;
    }
    return 0;
}

void options_clear(option_set *s)
{
    Py_CLEAR(s->text);
    Py_CLEAR(s->log);
    free(s->nonnegative);
    s->nonnegative = NULL;
    while (s->nheld > 0) PyBuffer_Release(&s->held[--s->nheld]);
}
