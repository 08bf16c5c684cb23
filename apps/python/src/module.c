/* The module: its types, its exceptions, and what the registries of the library hold. */
#include "core.h"

#include <math.h>

PyObject *core_error, *core_input;

PyObject *raise_status(dae_status s, const dae_error *err)
{
    if (s == DAE_ERR_MEMORY) return PyErr_NoMemory();
    PyObject *type = s == DAE_ERR_INPUT || s == DAE_ERR_UNSUPPORTED ? core_input : core_error;
    const char *what = err && err->text[0] ? err->text : dae_status_text(s);
    PyObject *x = PyObject_CallFunction(type, "s", what);
    PyObject *name = PyUnicode_FromString(dae_status_name(s)), *t = PyFloat_FromDouble(err ? err->t : NAN);
    if (x && name && t && !PyObject_SetAttrString(x, "status", name) && !PyObject_SetAttrString(x, "t", t))
        PyErr_SetObject(type, x);
    Py_XDECREF(x);
    Py_XDECREF(name);
    Py_XDECREF(t);
    return NULL;
}

/* ---- Registries ---------------------------------------------------------------------------------------- */

static PyObject *list_of(PyObject *(*item)(int), int count)
{
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < count; i++) {
        PyObject *x = item(i);
        if (!x || PyList_Append(list, x) < 0) Py_CLEAR(list);
        Py_XDECREF(x);
    }
    return list;
}

static PyObject *options_of(const dae_option *o)
{
    PyObject *list = PyList_New(0);
    for (; list && o && o->name; o++) {
        PyObject *x = Py_BuildValue("{s:s,s:d,s:z,s:s,s:s}", "name", o->name, "value", o->value, "text",
                                    o->text, "unit", o->unit ? o->unit : "", "help", o->help ? o->help : "");
        if (!x || PyList_Append(list, x) < 0) Py_CLEAR(list);
        Py_XDECREF(x);
    }
    return list;
}

static PyObject *method_item(int i)
{
    const dae_method_info *m = dae_method_get(i);
    PyObject *kinds = PyList_New(0);
    for (int k = DAE_KIND_ODE; kinds && k <= DAE_KIND_MECH; k++) {
        if (!(m->kinds & 1u << k)) continue;
        PyObject *x = PyUnicode_FromString(dae_kind_name((dae_kind)k));
        if (!x || PyList_Append(kinds, x) < 0) Py_CLEAR(kinds);
        Py_XDECREF(x);
    }
    return Py_BuildValue("{s:s,s:s,s:s,s:i,s:i,s:N,s:i,s:O,s:O,s:N}", "name", m->name, "title", m->title,
                         "summary", m->summary ? m->summary : "", "order_min", m->order_min, "order_max",
                         m->order_max, "kinds", kinds, "max_index", m->max_index, "implicit",
                         m->implicit ? Py_True : Py_False, "multistep", m->multistep ? Py_True : Py_False,
                         "options", options_of(m->options));
}

static PyObject *formulation_item(int i)
{
    const dae_formulation_info *f = dae_formulation_get(i);
    return Py_BuildValue("{s:s,s:s,s:s,s:s,s:i}", "name", f->name, "title", f->title, "summary",
                         f->summary ? f->summary : "", "kind", dae_kind_name(f->kind), "index", f->index);
}

static PyObject *problem_item(int i)
{
    const dae_problem_info *p = dae_problem_get(i);
    return Py_BuildValue("{s:s,s:s,s:s,s:i,s:i,s:O,s:z}", "name", p->name, "title", p->title, "kind",
                         dae_kind_name(p->kind), "n", p->n, "index", p->index, "stiff",
                         p->stiff ? Py_True : Py_False, "aliases", p->aliases);
}

static PyObject *methods(PyObject *m, PyObject *unused)
{
    (void)m, (void)unused;
    return list_of(method_item, dae_method_count());
}

static PyObject *formulations(PyObject *m, PyObject *unused)
{
    (void)m, (void)unused;
    return list_of(formulation_item, dae_formulation_count());
}

static PyObject *problems(PyObject *m, PyObject *unused)
{
    (void)m, (void)unused;
    return list_of(problem_item, dae_problem_count());
}

static PyObject *options(PyObject *m, PyObject *unused)
{
    (void)m, (void)unused;
    return options_of(dae_options_table());
}

static PyObject *page(PyObject *m, PyObject *arg)
{
    const char *name = PyUnicode_AsUTF8(arg);
    (void)m;
    if (!name) return NULL;
    const char *doc = dae_method_doc(name);
    if (!doc) doc = dae_formulation_doc(name);
    if (!doc) doc = dae_problem_doc(name);
    return Py_BuildValue("z", doc);
}

/* events(problem, list, empty, is_complex, n) */
static PyObject *events(PyObject *m, PyObject *args)
{
    PyObject *p, *list, *empty;
    int is_complex;
    Py_ssize_t n;
    (void)m;
    if (!PyArg_ParseTuple(args, "O!OOpn", &problem_type, &p, &list, &empty, &is_complex, &n)) return NULL;
    return event_set_new((problem_object *)p, list, empty, is_complex, n);
}

/* capsule(object): (address, user, signature) of a function that a capsule holds. */
static PyObject *capsule(PyObject *m, PyObject *object)
{
    (void)m;
    const char *name = PyCapsule_GetName(object);
    if (!name && PyErr_Occurred()) return NULL;
    void *address = PyCapsule_GetPointer(object, name);
    if (!address) return NULL;
    return Py_BuildValue("(KKz)", (unsigned long long)(uintptr_t)address,
                         (unsigned long long)(uintptr_t)PyCapsule_GetContext(object), name);
}

static PyMethodDef functions[] = {
    {"run", (PyCFunction)(void (*)(void))run_problem, METH_VARARGS | METH_KEYWORDS, "one run of a problem"},
    {"events", events, METH_VARARGS, "switching functions for a run"},
    {"capsule", capsule, METH_O, "address, user data and signature of a capsule"},
    {"workprec", study_workprec, METH_VARARGS, "a work-precision study"},
    {"compare", study_compare, METH_VARARGS, "one way to integrate a problem"},
    {"reference", study_reference, METH_VARARGS, "a reference solution"},
    {"gradient", derivative_gradient, METH_VARARGS, "a functional of a solution and its gradient"},
    {"fit", derivative_fit, METH_VARARGS, "parameters from measured data"},
    {"optimize", derivative_optimize, METH_VARARGS, "the best parameters"},
    {"steady", steady_state, METH_VARARGS, "a steady state"},
    {"branch", steady_branch, METH_VARARGS, "steady states along a parameter"},
    {"periodic", steady_periodic, METH_VARARGS, "a cycle"},
    {"methods", methods, METH_NOARGS, "the methods of the library"},
    {"formulations", formulations, METH_NOARGS, "the forms of mechanical systems"},
    {"problems", problems, METH_NOARGS, "the problems of the test set"},
    {"options", options, METH_NOARGS, "the options of a run"},
    {"page", page, METH_O, "the documentation page of a method, formulation or problem"},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_core", "The Daedalus library.", -1, functions, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void)
{
    PyTypeObject *types[] = {&problem_type,     &integrator_type, &solution_type,   &memory_type,
                             &event_set_type,   &sweep_type,      &simulation_type, &result_type,
                             &sensitivity_type, &experiment_type};
    PyObject *m = PyModule_Create(&definition);
    if (!m) return NULL;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (PyModule_AddType(m, types[i]) < 0) goto fail;
    }
    core_error = PyErr_NewExceptionWithDoc("daedalus.Error",
                                           "The library could not do it; `status` names why, `t` where.",
                                           PyExc_RuntimeError, NULL);
    PyObject *bases = core_error ? PyTuple_Pack(2, core_error, PyExc_ValueError) : NULL;
    core_input = bases
                     ? PyErr_NewExceptionWithDoc("daedalus.InputError",
                                                 "Wrong input; the text says what was expected.", bases, NULL)
                     : NULL;
    Py_XDECREF(bases);
    if (!core_input || PyModule_AddObjectRef(m, "Error", core_error) < 0 ||
        PyModule_AddObjectRef(m, "InputError", core_input) < 0 ||
        PyModule_AddStringConstant(m, "version", DAE_VERSION) < 0)
        goto fail;
    return m;
fail:
    Py_DECREF(m);
    return NULL;
}
