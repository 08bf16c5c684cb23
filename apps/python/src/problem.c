/* Problems: of the test set, of a model file or text, or a system of functions. */
#include "core.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int settings_from(PyObject *dict, dae_setting **out, int *count, PyObject **keep)
{
    PyObject *key, *value;
    Py_ssize_t at = 0;
    *count = 0;
    *keep = PyList_New(0);
    *out = calloc((size_t)PyDict_Size(dict) + 1, sizeof **out);
    while (*out && *keep && PyDict_Next(dict, &at, &key, &value)) {
        const char *name = PyUnicode_AsUTF8(key), *given = PyUnicode_AsUTF8(value);
        if (!name || !given || PyList_Append(*keep, key) < 0 || PyList_Append(*keep, value) < 0) return -1;
        (*out)[(*count)++] = (dae_setting){name, given};
    }
    if (*out && *keep) return 0;
    if (!PyErr_Occurred()) PyErr_NoMemory();
    return -1;
}

static PyObject *problem_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    static char *names[] = {"spec", NULL};
    PyObject *spec;
    if (!PyArg_ParseTupleAndKeywords(args, kw, "O!", names, &PyDict_Type, &spec)) return NULL;
    problem_object *p = (problem_object *)type->tp_alloc(type, 0);
    if (!p) return NULL;
    p->problem = &p->plain;
    if (system_describe(p, spec) == 0) return (PyObject *)p;
    Py_DECREF(p);
    return NULL;
}

/* open(what, settings): a name of the test set, a file, or the text of one. */
static PyObject *problem_open(PyObject *type, PyObject *args)
{
    const char *what;
    PyObject *dict, *keep = NULL;
    dae_setting *setting = NULL;
    dae_error err = {0};
    int count;
    if (!PyArg_ParseTuple(args, "sO!", &what, &PyDict_Type, &dict)) return NULL;
    problem_object *p = (problem_object *)((PyTypeObject *)type)->tp_alloc((PyTypeObject *)type, 0);
    if (p && settings_from(dict, &setting, &count, &keep) == 0) {
        p->problem = p->opened = dae_problem_open(what, setting, count, &err);
        if (!p->opened) raise_status(err.status, &err);
    }
    free(setting);
    Py_XDECREF(keep);
    if (p && !p->opened) Py_CLEAR(p);
    return (PyObject *)p;
}

/* start(t0, values): another start; NaN: the time stays. */
static PyObject *problem_start(PyObject *self, PyObject *args)
{
    problem_object *o = (problem_object *)self;
    double t0;
    PyObject *dict, *keep = NULL, *out = NULL;
    dae_setting *setting = NULL;
    dae_error err = {0};
    int count;
    if (!PyArg_ParseTuple(args, "dO!", &t0, &PyDict_Type, &dict)) return NULL;
    if (!o->opened) PyErr_SetString(core_input, "a system of functions starts where it says");
    else if (settings_from(dict, &setting, &count, &keep) == 0) {
        dae_status s = dae_problem_start(o->opened, isnan(t0) ? o->opened->t0 : t0, setting, count, &err);
        out = s < 0 ? raise_status(s, &err) : Py_BuildValue("");
    }
    free(setting);
    Py_XDECREF(keep);
    return out;
}

static int problem_traverse(PyObject *self, visitproc visit, void *arg)
{
    problem_object *p = (problem_object *)self;
    int r = shared_traverse(&p->all, visit, arg);
    for (int k = 0; !r && k < FN_COUNT; k++) r = call_traverse(&p->fn[k], visit, arg);
    return r;
}

static int problem_clear(PyObject *self)
{
    problem_object *p = (problem_object *)self;
    for (int k = 0; k < FN_COUNT; k++) call_clear(&p->fn[k]);
    shared_clear(&p->all);
    return 0;
}

static void problem_dealloc(PyObject *self)
{
    problem_object *p = (problem_object *)self;
    PyObject_GC_UnTrack(self);
    problem_clear(self);
    while (p->nheld > 0) PyBuffer_Release(&p->held[--p->nheld]);
    dae_problem_destroy(p->opened);
    Py_TYPE(self)->tp_free(self);
}

/* ---- What is known of it --------------------------------------------------------------------------- */

static PyObject *reals(const double *x, Py_ssize_t n)
{
    if (!x) Py_RETURN_NONE;
    PyObject *list = PyList_New(n);
    for (Py_ssize_t i = 0; list && i < n; i++) PyList_SET_ITEM(list, i, PyFloat_FromDouble(x[i]));
    return list;
}

static PyObject *names_of(const dae_problem *p, int n, int units)
{
    PyObject *list = PyList_New(n);
    char buffer[24];
    for (int i = 0; list && i < n; i++) {
        const char *s = units ? dae_component_unit(p, i) : dae_component_name(p, i, buffer, sizeof buffer);
        PyList_SET_ITEM(list, i, PyUnicode_FromString(s));
    }
    return list;
}

static PyObject *parameters_of(const dae_parameter *q, const double *value)
{
    PyObject *list = PyList_New(0);
    for (int i = 0; list && q && q[i].name; i++) {
        PyObject *x = Py_BuildValue("{s:s,s:d,s:s,s:s,s:z}", "name", q[i].name, "value",
                                    value ? value[i] : q[i].value, "unit", q[i].unit ? q[i].unit : "", "help",
                                    q[i].help ? q[i].help : "", "choices", q[i].choices);
        if (!x || PyList_Append(list, x) < 0) Py_CLEAR(list);
        Py_XDECREF(x);
    }
    return list;
}

static PyObject *texts(const char *const *x, int n) /* n < 0: ended by NULL */
{
    PyObject *list = PyList_New(0);
    for (int i = 0; list && x && (n < 0 ? x[i] != NULL : i < n); i++) {
        PyObject *s = PyUnicode_FromString(x[i] ? x[i] : "");
        if (!s || PyList_Append(list, s) < 0) Py_CLEAR(list);
        Py_XDECREF(s);
    }
    return list;
}

static PyObject *problem_about(PyObject *self, PyObject *unused)
{
    problem_object *o = (problem_object *)self;
    const dae_problem *p = o->problem;
    (void)unused;
    int n = dae_system_size(&p->system);
    const dae_parameter *q = p->info ? p->info->parameter : NULL;
    const dae_mech *m = p->system.kind == DAE_KIND_MECH ? &p->system.mech : NULL;
    PyObject *plot = PyList_New(0);
    for (int i = 0; plot && p->plot && i < p->nplot; i++) {
        PyObject *k = PyLong_FromLong(p->plot[i]);
        if (!k || PyList_Append(plot, k) < 0) Py_CLEAR(plot);
        Py_XDECREF(k);
    }
    return Py_BuildValue(
        "{s:z,s:z,s:s,s:i,s:i,s:d,s:d,s:d,s:d,s:d,s:N,s:N,s:N,s:N,s:z,s:N,s:N,s:i,s:i,s:i,"
        "s:z,s:d,s:z,s:z,s:N,s:N,s:N,s:N,s:z,s:O,s:O}",
        "name", p->info ? p->info->name : NULL, "title", p->info ? p->info->title : NULL, "kind",
        dae_kind_name(p->system.kind), "n", n, "index", dae_system_index(&p->system), "t0", p->t0, "t_end",
        p->t_end, "rtol", p->rtol, "atol", p->atol, "h0", p->h0, "y0", reals(p->y0, n), "reference",
        reals(p->reference, n), "names", names_of(p, n, 0), "units", names_of(p, n, 1), "time_unit",
        p->time_unit, "parameters", parameters_of(q, p->parameter), "plot", plot, "np", m ? m->np : 0, "nv",
        m ? m->nv : 0, "nlambda", m ? m->nlambda : 0, "source", p->source, "every", p->every, "method",
        p->method, "formulation", p->formulation, "columns", texts(p->derived.column, p->derived.ncolumn),
        "column_units", texts(p->derived.unit, p->derived.ncolumn), "warnings", texts(p->warning, -1),
        "notes", texts(p->note, -1), "doc", p->doc, "is_mechanism",
        mbs_problem_mechanism(p) ? Py_True : Py_False, "log_t", p->plot_log_t ? Py_True : Py_False);
}

/* evaluate(json, jacobian): f, M, G, g at a point, as JSON. */
static PyObject *problem_evaluate(PyObject *self, PyObject *args)
{
    problem_object *o = (problem_object *)self;
    const char *state;
    Py_ssize_t length;
    int jacobian;
    dae_error err = {0};
    text out = {0};
    if (!PyArg_ParseTuple(args, "s#p", &state, &length, &jacobian)) return NULL;
    dae_status r;
    PyThreadState *thread = PyEval_SaveThread();
    r = dae_eval_json(o->problem, state, (size_t)length, jacobian, text_write, &out, &err);
    PyEval_RestoreThread(thread);
    PyObject *result = NULL;
    if (r < 0) raise_status(r, &err);
    else result = PyUnicode_FromStringAndSize(out.data, (Py_ssize_t)out.size);
    free(out.data);
    return result;
}

static PyMethodDef problem_methods[] = {
    {"open", problem_open, METH_CLASS | METH_VARARGS, "open(what, settings): a name, a file, or its text"},
    {"start", problem_start, METH_VARARGS, "start(t0, values): another start"},
    {"about", problem_about, METH_NOARGS, "what is known of it: names, units, interval, parameters"},
    {"topology", study_topology, METH_NOARGS, "bodies, joints, loops, freedom, redundant rows"},
    {"pose", study_pose, METH_VARARGS, "pose(what, t, y): equilibrium or kinematics"},
    {"eigenvalues", study_eigenvalues, METH_VARARGS, "eigenvalues(t, y) of small motions"},
    {"columns", study_columns, METH_VARARGS, "columns(t, y): sensors and reactions"},
    {"evaluate", problem_evaluate, METH_VARARGS, "evaluate(json, jacobian): its functions at a point"},
    {NULL, NULL, 0, NULL},
};

PyTypeObject problem_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "daedalus._core.Problem",
    .tp_basicsize = sizeof(problem_object),
    .tp_new = problem_new,
    .tp_dealloc = problem_dealloc,
    .tp_traverse = problem_traverse,
    .tp_clear = problem_clear,
    .tp_methods = problem_methods,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_doc = "A system with its initial values.",
};
