/* Studies of a problem: topology and analyses of mechanisms, tolerance ladders, comparisons, references, sweeps. */
#include "core.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Mechanisms --------------------------------------------------------------------------------------- */

static const mbs_mechanism *mechanism_of(PyObject *self)
{
    const mbs_mechanism *c = mbs_problem_mechanism(((problem_object *)self)->problem);
    if (!c) PyErr_SetString(core_input, "this is no model of a mechanism");
    return c;
}

PyObject *study_topology(PyObject *self, PyObject *unused)
{
    const mbs_mechanism *c = mechanism_of(self);
    (void)unused;
    if (!c) return NULL;
    mbs_topology t = mbs_mechanism_topology(c);
    PyObject *redundant = PyList_New(0);
    for (int i = 0, row; redundant && i < t.redundant; i++) {
        const char *joint = mbs_mechanism_redundant(c, i, &row);
        PyObject *x = Py_BuildValue("(si)", joint, row);
        if (!x || PyList_Append(redundant, x) < 0) Py_CLEAR(redundant);
        Py_XDECREF(x);
    }
    return Py_BuildValue("{s:i,s:i,s:i,s:i,s:i,s:i,s:i,s:N}", "bodies", t.bodies, "joints", t.joints, "loops",
                         t.loops, "coordinates", t.coordinates, "constraints", t.constraints, "independent",
                         t.independent, "freedom", t.freedom, "redundant", redundant);
}

/* A copy of the state that was given, n numbers; NULL: exception. */
static double *state_copy(PyObject *self, PyObject *array)
{
    Py_buffer v;
    size_t n = (size_t)dae_system_size(&((problem_object *)self)->problem->system);
    if (buffer_reals(array, &v, "y") < 0) return NULL;
    double *y = (size_t)v.len == n * sizeof *y ? malloc((n + 1) * sizeof *y) : NULL;
    if (y) memcpy(y, v.buf, (size_t)v.len);
    else PyErr_Format(PyExc_ValueError, "y must have %zu numbers", n);
    PyBuffer_Release(&v);
    return y;
}

/* pose(what, t, y): "equilibrium" or "kinematics" from the guess y. */
PyObject *study_pose(PyObject *self, PyObject *args)
{
    const char *what;
    double t;
    PyObject *array;
    dae_error err = {0};
    if (!PyArg_ParseTuple(args, "sdO", &what, &t, &array)) return NULL;
    const mbs_mechanism *c = mechanism_of(self);
    double *y = c ? state_copy(self, array) : NULL;
    if (!y) return NULL;
    PyThreadState *thread = PyEval_SaveThread();
    dae_status s = !strcmp(what, "equilibrium") ? mbs_mechanism_equilibrium(c, t, y, &err)
                                                : mbs_mechanism_kinematics(c, t, y, &err);
    PyEval_RestoreThread(thread);
    if (s >= 0) return memory_new(y, 0, dae_system_size(&((problem_object *)self)->problem->system), NULL);
    free(y);
    return raise_status(s, &err);
}

PyObject *study_eigenvalues(PyObject *self, PyObject *args)
{
    double t;
    PyObject *array, *list = NULL;
    dae_error err = {0};
    int size = 0;
    if (!PyArg_ParseTuple(args, "dO", &t, &array)) return NULL;
    const mbs_mechanism *c = mechanism_of(self);
    double *y = c ? state_copy(self, array) : NULL;
    if (!y) return NULL;
    const dae_mech *m = &((problem_object *)self)->problem->system.mech;
    size_t room = (size_t)(2 * m->nv + m->nu + 1);
    double *re = calloc(2 * room, sizeof *re), *im = re ? re + room : NULL;
    if (re) {
        PyThreadState *thread = PyEval_SaveThread();
        dae_status s = mbs_mechanism_eigenvalues(c, t, y, re, im, &size, &err);
        PyEval_RestoreThread(thread);
        if (s < 0) raise_status(s, &err);
        else list = PyList_New(size);
        for (int i = 0; list && i < size; i++) PyList_SET_ITEM(list, i, PyComplex_FromDoubles(re[i], im[i]));
    } else PyErr_NoMemory();
    free(re);
    free(y);
    return list;
}

/* columns(t, y): sensors and reactions at one state. */
PyObject *study_columns(PyObject *self, PyObject *args)
{
    double t;
    PyObject *array;
    if (!PyArg_ParseTuple(args, "dO", &t, &array)) return NULL;
    const dae_problem *p = ((problem_object *)self)->problem;
    const dae_derived *d = &p->derived;
    if (!d->columns || d->ncolumn < 1) Py_RETURN_NONE;
    double *y = state_copy(self, array), *value = y ? malloc((size_t)d->ncolumn * sizeof *value) : NULL;
    int bad = value ? d->columns(p, 1, &t, y, NULL, NULL, value) : -1;
    free(y);
    if (bad >= 0) return memory_new(value, 0, d->ncolumn, NULL);
    free(value);
    if (!PyErr_Occurred()) PyErr_SetString(core_error, "the sensors could not be evaluated");
    return NULL;
}

/* ---- Tolerances, comparisons, references ----------------------------------------------------------------- */

/* A study on its way: watch first, for watch_progress. */
typedef struct study_watch {
    watch w;
    PyObject *rows, *names; /* of the solvers as they were given */
    PyObject *done;         /* done(runs, count), or NULL */
    const char *const *label;
    int nsolver, count;
} study_watch;

static int on_measured(const dae_measurement *m, void *user)
{
    study_watch *x = user;
    PyGILState_STATE gil = PyGILState_Ensure();
    int k = 0;
    while (k < x->nsolver - 1 && strcmp(x->label[k], m->solver) != 0) k++;
    PyObject *row = Py_BuildValue(
        "{s:O,s:d,s:d,s:d,s:d,s:s,s:d,s:d,s:d,s:l,s:l,s:l,s:l,s:s}", "solver", PyList_GET_ITEM(x->names, k),
        "digits", -log10(m->rtol), "rtol", m->rtol, "atol", m->atol, "h0", m->h0, "status",
        dae_run_status_word(m->status), "scd", m->scd, "mescd", m->mescd, "cpu_seconds", m->cpu_seconds,
        "steps", m->steps, "f", m->f + m->f_jac, "jac", m->jac, "lu", m->lu, "message", m->message);
    int stop = !row || PyList_Append(x->rows, row) < 0 || PyErr_CheckSignals() < 0;
    Py_XDECREF(row);
    if (!stop && x->done) {
        PyObject *r = PyObject_CallFunction(x->done, "ni", PyList_GET_SIZE(x->rows), x->count);
        stop = !r;
        Py_XDECREF(r);
    }
    if (PyErr_Occurred()) shared_catch(x->w.all);
    PyGILState_Release(gil);
    return stop;
}

/* workprec(problem, names, labels, from, to, step, repeat, max_seconds, done or None): rows of its runs; from NaN: the ladder of the
 * test set. labels are names with our names of methods. */
PyObject *study_workprec(PyObject *module, PyObject *args)
{
    problem_object *p;
    PyObject *names, *labels, *done;
    double from, to, step;
    dae_error err = {0};
    const char *label[DAE_MAX_SOLVERS];
    dae_workprec_options o = {.done = on_measured, .progress = watch_progress};
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O!O!dddidO", &problem_type, &p, &PyList_Type, &names, &PyList_Type,
                          &labels, &from, &to, &step, &o.repeat, &o.max_seconds, &done))
        return NULL;
    study_watch x = {.w = {.all = &p->all},
                     .names = names,
                     .label = label,
                     .nsolver = (int)PyList_GET_SIZE(labels),
                     .done = done == Py_None ? NULL : done};
    if (x.nsolver > DAE_MAX_SOLVERS || PyList_GET_SIZE(names) != x.nsolver)
        return PyErr_Format(core_input, "more than %d solvers are too many for one study", DAE_MAX_SOLVERS);
    for (int k = 0; k < x.nsolver; k++) {
        if (!(label[k] = PyUnicode_AsUTF8(PyList_GET_ITEM(labels, k)))) return NULL;
    }
    dae_ladder ladder = dae_ladder_default(p->problem);
    if (!isnan(from)) ladder.from = from, ladder.to = to, ladder.step = step;
    x.count = x.nsolver * dae_ladder_count(&ladder);
    if (!(x.rows = PyList_New(0))) return NULL;
    o.ladder = &ladder;
    o.user = &x;
    PyThreadState *thread = PyEval_SaveThread();
    dae_status s = dae_workprec_run(p->problem, label, x.nsolver, &o, &err);
    PyEval_RestoreThread(thread);
    if (shared_raise(&p->all)) Py_CLEAR(x.rows);
    else if (s < 0) {
        Py_CLEAR(x.rows);
        raise_status(s, &err);
    }
    return x.rows;
}

/* compare(problem, options, label, t_end, repeat): one way to integrate it. */
PyObject *study_compare(PyObject *module, PyObject *args)
{
    problem_object *p;
    PyObject *dict, *out = NULL;
    const char *label;
    double t_end;
    int repeat;
    option_set set = {0};
    dae_problem view;
    dae_compared c = {0};
    dae_error err = {0};
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O!sdi", &problem_type, &p, &PyDict_Type, &dict, &label, &t_end, &repeat))
        return NULL;
    dae_compare_mechanism(p->problem, &view);
    dae_run_options o = dae_run_options_default(&view);
    if (!isnan(t_end)) o.t_end = t_end;
    o.repeat = repeat;
    if (options_fill(&set, &o.options, dict, &p->all) == 0) {
        PyThreadState *thread = PyEval_SaveThread();
        dae_status s = dae_compare_run(&view, &o, label, &c, &err);
        PyEval_RestoreThread(thread);
        if (s < 0) raise_status(s, &err);
        else
            out = Py_BuildValue(
                "{s:s,s:i,s:s,s:s,s:d,s:d,s:l,s:l,s:l,s:l,s:d,s:d,s:d,s:d,s:d}", "label", c.run.solver,
                "status", (int)c.run.status, "word", dae_run_status_word(c.run.status), "message",
                c.run.message, "t_end", c.run.t, "cpu_seconds", c.run.cpu_seconds, "steps", c.run.steps, "f",
                c.run.f + c.run.f_jac, "jac", c.run.jac, "lu", c.run.lu, "position_max", c.position_max,
                "velocity_max", c.velocity_max, "energy", c.energy, "scd", c.run.scd, "mescd", c.run.mescd);
        dae_compared_free(&c);
    }
    options_clear(&set);
    return out;
}

/* Progress of a reference in Python: level(rtol, digits) returns True to stop. */
static int on_level(double rtol, double least, void *user)
{
    watch *w = user;
    PyGILState_STATE gil = PyGILState_Ensure();
    int stop = PyErr_CheckSignals() < 0;
    if (!stop && w->progress) {
        PyObject *r = PyObject_CallFunction(w->progress, "dd", rtol, least);
        stop = r ? PyObject_IsTrue(r) : -1;
        Py_XDECREF(r);
    }
    if (PyErr_Occurred()) shared_catch(w->all);
    PyGILState_Release(gil);
    return stop != 0;
}

/* reference(problem, digits, max_seconds, level or None) */
PyObject *study_reference(PyObject *module, PyObject *args)
{
    problem_object *p;
    PyObject *level, *y = NULL, *digits = NULL, *out = NULL;
    dae_error err = {0};
    dae_reference_options o = dae_reference_options_default();
    (void)module;
    if (!PyArg_ParseTuple(args, "O!ddO", &problem_type, &p, &o.digits, &o.max_seconds, &level)) return NULL;
    watch w = {.all = &p->all, .progress = level == Py_None ? NULL : level};
    o.level = on_level;
    o.user = &w;
    PyThreadState *thread = PyEval_SaveThread();
    dae_reference *r = dae_reference_compute(p->problem, &o, &err);
    PyEval_RestoreThread(thread);
    int raised = shared_raise(&p->all);
    if (!r && !raised) raise_status(err.status, &err);
    if (r && !raised) {
        Py_ssize_t size = (Py_ssize_t)((size_t)r->n * sizeof(double));
        y = PyBytes_FromStringAndSize((const char *)r->y, size);
        digits = PyBytes_FromStringAndSize((const char *)r->digits, size);
        out = Py_BuildValue("{s:O,s:O,s:d,s:i,s:(ss),s:d,s:i,s:s,s:d}", "y", y, "digits", digits, "least",
                            r->least, "worst", r->worst, "methods", r->method[0], r->method[1], "rtol",
                            r->rtol, "levels", r->levels, "stopped", r->stopped, "t", r->t);
    }
    Py_XDECREF(y);
    Py_XDECREF(digits);
    dae_reference_destroy(r);
    return out;
}

/* ---- Sweeps -------------------------------------------------------------------------------------------------- */

enum { MOST_RUNNING = 256 };

typedef struct sweep {
    PyObject ob_base;
    problem_object *problem;
    dae_design *design;
    dae_sweep *s;
    dae_integrator *running[MOST_RUNNING]; /* guarded by the GIL */
    int stopped;
    double t_end;
} sweep;

static int design_lines(dae_design *d, PyObject *list,
                        dae_status (*add)(dae_design *, const char *, dae_error *))
{
    dae_error err = {0};
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
        const char *line = PyUnicode_AsUTF8(PyList_GET_ITEM(list, i));
        if (!line) return -1;
        dae_status s = add(d, line, &err);
        if (s < 0) {
            raise_status(s, &err);
            return -1;
        }
    }
    return 0;
}

static int pairs(PyObject *dict, dae_setting *out, int most, int *count)
{
    PyObject *key, *value;
    Py_ssize_t at = 0;
    for (*count = 0; PyDict_Next(dict, &at, &key, &value) && *count < most; ++*count) {
        out[*count] = (dae_setting){PyUnicode_AsUTF8(key), PyUnicode_AsUTF8(value)};
        if (!out[*count].name || !out[*count].value) return -1;
    }
    return 0;
}

/* Sweep(problem, name, model or None, settings, options, vary, sample, sobol, saltelli, listed or None, seed, record or None, t_end,
 * points) */
static PyObject *sweep_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    problem_object *p;
    PyObject *settings, *options, *vary, *sample, *sobol, *saltelli;
    const char *name, *model, *listed, *record;
    Py_ssize_t length;
    unsigned long long seed;
    dae_sweep_options o = {0};
    dae_setting setting[64], option[32];
    dae_error err = {0};
    (void)kw;
    if (!PyArg_ParseTuple(args, "O!szO!O!O!O!O!O!z#Kzdi", &problem_type, &p, &name, &model, &PyDict_Type,
                          &settings, &PyDict_Type, &options, &PyList_Type, &vary, &PyList_Type, &sample,
                          &PyList_Type, &sobol, &PyList_Type, &saltelli, &listed, &length, &seed, &record,
                          &o.t_end, &o.points))
        return NULL;
    sweep *x = (sweep *)type->tp_alloc(type, 0);
    if (!x) return NULL;
    Py_INCREF(p);
    x->problem = p;
    x->t_end = o.t_end;
    x->design = dae_design_create(p->problem->info, seed);
    if (!x->design) {
        PyErr_NoMemory();
        goto fail;
    }
    if (design_lines(x->design, vary, dae_design_vary) < 0 ||
        design_lines(x->design, sample, dae_design_sample) < 0 ||
        design_lines(x->design, sobol, dae_design_sobol) < 0 ||
        design_lines(x->design, saltelli, dae_design_saltelli) < 0)
        goto fail;
    if (listed && dae_design_list(x->design, listed, (size_t)length, &err) < 0) {
        raise_status(err.status, &err);
        goto fail;
    }
    o.problem = name;
    o.model = model;
    o.record = record;
    o.setting = setting;
    o.option = option;
    if (pairs(settings, setting, 64, &o.nsetting) < 0 || pairs(options, option, 32, &o.noption) < 0)
        goto fail;
    x->s = dae_sweep_create(&o, x->design, &err);
    if (x->s) return (PyObject *)x;
    raise_status(err.status, &err);
fail:
    Py_DECREF(x);
    return NULL;
}

static void sweep_dealloc(PyObject *self)
{
    sweep *x = (sweep *)self;
    dae_sweep_destroy(x->s);
    dae_design_destroy(x->design);
    Py_XDECREF(x->problem);
    Py_TYPE(self)->tp_free(self);
}

static PyObject *sweep_header(PyObject *self, PyObject *unused)
{
    sweep *x = (sweep *)self;
    text out = {0};
    (void)unused;
    dae_status s = dae_sweep_header(x->s, text_write, &out);
    PyObject *answer =
        s < 0 ? raise_status(s, NULL) : PyUnicode_FromStringAndSize(out.data, (Py_ssize_t)out.size);
    free(out.data);
    return answer;
}

static PyObject *sweep_count(PyObject *self, PyObject *unused)
{
    const sweep *x = (sweep *)self;
    (void)unused;
    return Py_BuildValue("(li)", dae_design_count(x->design), dae_design_width(x->design));
}

/* One run of a sweep: its line, and where it is known to be running. */
typedef struct one_run {
    text out;
    sweep *x;
    int slot;
} one_run;

static void on_running(dae_integrator *it, void *user)
{
    one_run *r = user;
    PyGILState_STATE gil = PyGILState_Ensure();
    if (it) {
        for (r->slot = 0; r->slot < MOST_RUNNING && r->x->running[r->slot]; r->slot++) {
        }
        if (r->slot < MOST_RUNNING) r->x->running[r->slot] = it;
        if (r->x->stopped) dae_integrator_cancel(it);
    } else if (r->slot >= 0 && r->slot < MOST_RUNNING) {
        r->x->running[r->slot] = NULL;
        r->slot = -1;
    }
    PyGILState_Release(gil);
}

static int on_line(const char *piece, size_t length, void *user)
{
    return text_write(piece, length, &((one_run *)user)->out);
}

/* run(k): its line of CSV; None: cancelled. */
static PyObject *sweep_run(PyObject *self, PyObject *arg)
{
    one_run r = {.x = (sweep *)self, .slot = -1};
    long k = PyLong_AsLong(arg);
    dae_status status = DAE_OK;
    if (k == -1 && PyErr_Occurred()) return NULL;
    PyThreadState *thread = PyEval_SaveThread();
    dae_status s = dae_sweep_run(r.x->s, k, on_running, on_line, &r, &status);
    PyEval_RestoreThread(thread);
    PyObject *answer = NULL;
    if (s < 0) raise_status(s, NULL);
    else
        answer = status == DAE_CANCELLED || !r.out.data
                     ? Py_BuildValue("")
                     : PyUnicode_FromStringAndSize(r.out.data, (Py_ssize_t)r.out.size);
    free(r.out.data);
    return answer;
}

/* stop(): cancels what is running, and all that begins later. */
static PyObject *sweep_stop(PyObject *self, PyObject *unused)
{
    sweep *x = (sweep *)self;
    (void)unused;
    x->stopped = 1;
    for (int i = 0; i < MOST_RUNNING; i++) {
        if (x->running[i]) dae_integrator_cancel(x->running[i]);
    }
    Py_RETURN_NONE;
}

/* indices(runs as CSV): [(quantity, parameter, first, total, local), ...] */
static PyObject *sweep_indices(PyObject *self, PyObject *arg)
{
    sweep *x = (sweep *)self;
    Py_ssize_t length;
    dae_error err = {0};
    const char *runs = PyUnicode_AsUTF8AndSize(arg, &length);
    if (!runs) return NULL;
    PyThreadState *thread = PyEval_SaveThread();
    dae_table *t = dae_table_read(runs, (size_t)length, &err);
    dae_table *found = t ? dae_sweep_indices(t, x->design, x->problem->problem, x->t_end, &err) : NULL;
    dae_table_destroy(t);
    PyEval_RestoreThread(thread);
    if (!found) return raise_status(err.status, &err);
    PyObject *list = PyList_New(0);
    for (long i = 0; list && i < found->nrow; i++) {
        PyObject *row = Py_BuildValue("(ssddd)", found->text[i], found->text[found->nrow + i],
                                      found->value[2 * found->nrow + i], found->value[3 * found->nrow + i],
                                      found->value[4 * found->nrow + i]);
        if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    dae_table_destroy(found);
    return list;
}

static PyMethodDef sweep_methods[] = {
    {"header", sweep_header, METH_NOARGS, "names and units, two lines of CSV"},
    {"count", sweep_count, METH_NOARGS, "(runs, parameters)"},
    {"run", sweep_run, METH_O, "run(k): its line of CSV, or None: cancelled"},
    {"indices", sweep_indices, METH_O,
     "indices(runs as CSV): rows of quantity, parameter, first, total, local"},
    {"stop", sweep_stop, METH_NOARGS, "cancels all that is running"},
    {NULL, NULL, 0, NULL},
};

PyTypeObject sweep_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "daedalus._core.Sweep",
    .tp_basicsize = sizeof(sweep),
    .tp_new = sweep_new,
    .tp_dealloc = sweep_dealloc,
    .tp_methods = sweep_methods,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "Runs over a design of parameters.",
};
