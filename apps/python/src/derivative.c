/* Derivatives of solutions: sensitivities, gradients, fits and designs. */
#include "core.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Functions that give a matrix ----------------------------------------------------------- */

/* df/dp of a system of functions: n x count numbers at a point, kept for the columns that are asked for one by one. */
typedef struct slopes {
    call fn;
    int n, count, known, implicit;
    double t, *at, *value; /* where (y, and y' of an implicit system), and the matrix there */
} slopes;

static int slopes_init(slopes *x, problem_object *p, PyObject *fn, PyObject *empty, int n, int count)
{
    x->n = n;
    x->count = count;
    x->implicit = p->problem->system.kind == DAE_KIND_IDE;
    size_t inputs = (size_t)(x->implicit ? 2 * n : n);
    x->at = calloc(inputs + 1, sizeof *x->at);
    x->value = calloc((size_t)n * (size_t)count + 1, sizeof *x->value);
    if (!x->at || !x->value) {
        PyErr_NoMemory();
        return -1;
    }
    if (call_init(&x->fn, &p->all, "dfdp", fn, empty) < 0) return -1;
    call_input(&x->fn, n);
    if (x->implicit) call_input(&x->fn, n);
    return 0;
}

static void slopes_clear(slopes *x)
{
    call_clear(&x->fn);
    free(x->at);
    free(x->value);
}

static int slopes_column(double t, const double *y, const double *yp, int j, double *out, void *user)
{
    slopes *x = user;
    size_t size = (size_t)x->n * sizeof *y;
    int same =
        x->known && t == x->t && !memcmp(x->at, y, size) && (!x->implicit || !memcmp(x->at + x->n, yp, size));
    if (!same) {
        const double *in[] = {y, yp};
        x->known = 0;
        if (call_python(&x->fn, t, in, x->value, x->n, x->count) < 0) return -1;
        memcpy(x->at, y, size);
        if (x->implicit) memcpy(x->at + x->n, yp, size);
        x->t = t;
        x->known = 1;
    }
    memcpy(out, x->value + (size_t)j * (size_t)x->n, size);
    return 0;
}

/* What the callbacks of a run with derivatives share. */
typedef struct products {
    dae_parameter_products given;
    slopes f;
    const double *start; /* dy0/dp column after column, or NULL */
    Py_buffer held[2];
    int nheld;
} products;

static int product_dfdp(double t, const double *y, const double *yp, int j, double *out, void *user)
{
    return slopes_column(t, y, yp, j, out, &((products *)user)->f);
}

static int product_dy0dp(int j, double *out, void *user)
{
    const products *x = user;
    if (x->start) memcpy(out, x->start + (size_t)j * (size_t)x->f.n, (size_t)x->f.n * sizeof *out);
    return 0;
}

/* ---- Sensitivities step by step -------------------------------------------------------------------------- */

typedef struct sensitivity {
    PyObject ob_base;
    problem_object *problem;
    PyObject *names, *events;
    dae_sensitivity *s;
    dae_sensitivity_options options;
    products products;
    option_set set;
    int n, count, busy;
} sensitivity;

/* products: (dfdp, dy0dp or None, values) of a system of functions; None: the names are those of the problem. */
static int read_products(sensitivity *x, PyObject *given, PyObject *empty)
{
    PyObject *dfdp, *start, *value;
    products *q = &x->products;
    if (given == Py_None) return 0;
    if (!PyArg_ParseTuple(given, "OOO", &dfdp, &start, &value) ||
        slopes_init(&q->f, x->problem, dfdp, empty, x->n, x->count) < 0)
        return -1;
    if (buffer_reals(value, &q->held[0], "p") < 0) return -1;
    q->nheld = 1;
    if (start != Py_None) {
        if (buffer_reals(start, &q->held[1], "dy0dp") < 0) return -1;
        q->nheld = 2;
        q->start = q->held[1].buf;
    }
    q->given = (dae_parameter_products){
        .dfdp = product_dfdp, .dy0dp = q->start ? product_dy0dp : NULL, .value = q->held[0].buf, .user = q};
    x->options.products = &q->given;
    return 0;
}

/* Sensitivity(problem, names, options, t_end, mode, step, uncontrolled, events, products, empty) */
static PyObject *sensitivity_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    problem_object *p;
    PyObject *names, *dict, *events, *given, *empty;
    const char *mode;
    double t_end, step;
    int uncontrolled, count;
    dae_error err = {0};
    (void)kw;
    if (!PyArg_ParseTuple(args, "O!O!O!dsdpOOO", &problem_type, &p, &PyList_Type, &names, &PyDict_Type, &dict,
                          &t_end, &mode, &step, &uncontrolled, &events, &given, &empty))
        return NULL;
    sensitivity *x = (sensitivity *)type->tp_alloc(type, 0);
    const char **word = x ? words_of(names, &count) : NULL;
    if (word) {
        Py_INCREF(p);
        Py_INCREF(names);
        Py_INCREF(events);
        x->problem = p;
        x->names = names;
        x->events = events;
        x->n = dae_system_size(&p->problem->system);
        x->count = count;
        x->options = dae_sensitivity_options_default(p->problem);
        x->options.mode = mode;
        x->options.step = step;
        x->options.uncontrolled = uncontrolled;
        if (!isnan(t_end)) x->options.simulation.t_end = t_end;
        if (events == Py_False) x->options.simulation.events = NULL;
        else if (events != Py_None) x->options.simulation.events = &((event_set *)events)->events;
        if (read_products(x, given, empty) == 0 &&
            options_fill(&x->set, &x->options.simulation.options, dict, &p->all) == 0) {
            PyThreadState *thread = PyEval_SaveThread();
            x->s = dae_sensitivity_open(p->problem, &x->options, word, count, &err);
            if (x->s && dae_sensitivity_start(x->s, &err) < 0) {
                dae_sensitivity_close(x->s);
                x->s = NULL;
            }
            PyEval_RestoreThread(thread);
            if (!x->s && !shared_raise(&p->all)) raise_status(err.status, &err);
        }
    }
    free(word);
    if (x && !x->s) Py_CLEAR(x);
    return (PyObject *)x;
}

static void sensitivity_dealloc(PyObject *self)
{
    sensitivity *x = (sensitivity *)self;
    dae_sensitivity_close(x->s);
    options_clear(&x->set);
    slopes_clear(&x->products.f);
    while (x->products.nheld > 0) PyBuffer_Release(&x->products.held[--x->products.nheld]);
    Py_XDECREF(x->names);
    Py_XDECREF(x->events);
    Py_XDECREF(x->problem);
    Py_TYPE(self)->tp_free(self);
}

/* advance(t); None: one step. (status, message) */
static PyObject *sensitivity_advance(PyObject *self, PyObject *arg)
{
    sensitivity *x = (sensitivity *)self;
    dae_error err = {0};
    double t = arg == Py_None ? NAN : PyFloat_AsDouble(arg);
    if (PyErr_Occurred()) return NULL;
    if (x->busy) {
        PyErr_SetString(PyExc_RuntimeError,
                        "this run is busy: another thread, or its own function, is inside");
        return NULL;
    }
    x->busy = 1;
    PyThreadState *thread = PyEval_SaveThread();
    dae_status s = arg == Py_None ? dae_sensitivity_step(x->s, &err) : dae_sensitivity_advance(x->s, t, &err);
    PyEval_RestoreThread(thread);
    x->busy = 0;
    if (shared_raise(&x->problem->all) || PyErr_CheckSignals() < 0) return NULL;
    if (s == DAE_ERR_INPUT || s == DAE_ERR_UNSUPPORTED || s == DAE_ERR_MEMORY) return raise_status(s, &err);
    return Py_BuildValue("(is)", (int)s, s < 0 ? err.text : "");
}

/* point(): (t, y, dy/dp) here; dy/dp one line per name. */
static PyObject *sensitivity_point(PyObject *self, PyObject *unused)
{
    sensitivity *x = (sensitivity *)self;
    (void)unused;
    return Py_BuildValue("(dNN)", dae_sensitivity_time(x->s), copy_of(dae_sensitivity_state(x->s), 0, x->n),
                         copy_of(dae_sensitivity_values(x->s), x->count, x->n));
}

/* columns(): (values, derivatives) of sensors and reactions here, derivatives one line per name; None: there are none. */
static PyObject *sensitivity_columns(PyObject *self, PyObject *unused)
{
    sensitivity *x = (sensitivity *)self;
    Py_ssize_t width = x->problem->problem->derived.ncolumn;
    dae_error err = {0};
    (void)unused;
    if (width < 1) Py_RETURN_NONE;
    double *value = malloc((size_t)width * sizeof *value),
           *slope = malloc((size_t)width * (size_t)x->count * sizeof *slope + 1);
    dae_status s = value && slope ? dae_sensitivity_columns(x->s, value, slope, &err) : DAE_ERR_MEMORY;
    if (s >= 0)
        return Py_BuildValue("(NN)", memory_new(value, 0, width, NULL),
                             memory_new(slope, x->count, width, NULL));
    free(value);
    free(slope);
    return raise_status(s, &err);
}

/* multipliers(): (da/dp, dlambda/dp) here, one line per name. */
static PyObject *sensitivity_multipliers(PyObject *self, PyObject *unused)
{
    sensitivity *x = (sensitivity *)self;
    const dae_system *sys = &x->problem->problem->system;
    dae_error err = {0};
    (void)unused;
    if (sys->kind != DAE_KIND_MECH) Py_RETURN_NONE;
    double *a = malloc((size_t)sys->mech.nv * (size_t)x->count * sizeof *a + 1),
           *l = malloc((size_t)sys->mech.nlambda * (size_t)x->count * sizeof *l + 1);
    dae_status s = a && l ? dae_sensitivity_multipliers(x->s, a, l, &err) : DAE_ERR_MEMORY;
    if (s >= 0)
        return Py_BuildValue("(NN)", memory_new(a, x->count, sys->mech.nv, NULL),
                             memory_new(l, x->count, sys->mech.nlambda, NULL));
    free(a);
    free(l);
    return raise_status(s, &err);
}

/* about(): what was chosen, the values of the parameters, the events so far with their derivatives, counts. */
static PyObject *sensitivity_about(PyObject *self, PyObject *unused)
{
    sensitivity *x = (sensitivity *)self;
    const char *mode = NULL;
    const double *slope = NULL;
    int nevent = 0;
    (void)unused;
    dae_choice c = dae_sensitivity_choice(x->s, &mode);
    dae_stats stats = dae_sensitivity_stats(x->s);
    const dae_event_record *e = dae_sensitivity_events(x->s, &slope, &nevent);
    const dae_events *all = x->options.simulation.events;
    PyObject *events = PyList_New(0), *value = PyList_New(0);
    for (int k = 0; events && k < nevent; k++) {
        const char *name = all && e[k].index < all->count ? all->event[e[k].index].name : NULL;
        PyObject *one = Py_BuildValue("(dsN)", e[k].t, name ? name : "event",
                                      copy_of(slope + (size_t)k * (size_t)x->count, 0, x->count));
        if (!one || PyList_Append(events, one) < 0) Py_CLEAR(events);
        Py_XDECREF(one);
    }
    for (int j = 0; value && j < x->count; j++) {
        PyObject *one = PyFloat_FromDouble(dae_sensitivity_parameter(x->s, j));
        if (!one || PyList_Append(value, one) < 0) Py_CLEAR(value);
        Py_XDECREF(one);
    }
    return Py_BuildValue("{s:s,s:z,s:s,s:s,s:N,s:N,s:N}", "solver", c.method, "formulation", c.formulation,
                         "reason", c.reason, "mode", mode ? mode : "", "stats", stats_dict(&stats), "events",
                         events, "value", value);
}

static PyMethodDef sensitivity_methods[] = {
    {"advance", sensitivity_advance, METH_O, "advance(t), or one step for None: (status, message)"},
    {"point", sensitivity_point, METH_NOARGS, "(t, y, dy/dp)"},
    {"columns", sensitivity_columns, METH_NOARGS, "(values, derivatives) of sensors and reactions"},
    {"multipliers", sensitivity_multipliers, METH_NOARGS, "(da/dp, dlambda/dp)"},
    {"about", sensitivity_about, METH_NOARGS, "what was chosen, parameters, events, counts"},
    {NULL, NULL, 0, NULL},
};

PyTypeObject sensitivity_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "daedalus._core.Sensitivity",
    .tp_basicsize = sizeof(sensitivity),
    .tp_new = sensitivity_new,
    .tp_dealloc = sensitivity_dealloc,
    .tp_methods = sensitivity_methods,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "A run with the derivatives of its solution.",
};

/* ---- Gradients ---------------------------------------------------------------------------------------------- */

typedef struct functional {
    shared *all;
    PyObject *end, *at, *running; /* fn(t, y), at: fn(k, t, y); each gives (value, dvalue/dy); NULL: none */
    int n;
} functional;

/* fn gives a number and n numbers; 0, or -1: the exception is kept. */
static int call_functional(functional *x, PyObject *fn, int k, double t, const double *y, double *value,
                           double *dy)
{
    if (x->all->raised) return -1;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *array = copy_of(y, 0, x->n), *slope = NULL, *r = NULL;
    if (array)
        r = k < 0 ? PyObject_CallFunction(fn, "dO", t, array) : PyObject_CallFunction(fn, "idO", k, t, array);
    Py_buffer v;
    int bad = !r || !PyArg_ParseTuple(r, "dO", value, &slope) ||
              buffer_reals(slope, &v, "the gradient of the loss") < 0;
    if (!bad) {
        bad = v.len != x->n * (Py_ssize_t)sizeof *dy;
        if (bad) PyErr_Format(PyExc_ValueError, "the gradient of the loss by y must have %d numbers", x->n);
        else memcpy(dy, v.buf, (size_t)v.len);
        PyBuffer_Release(&v);
    }
    if (bad) shared_catch(x->all);
    Py_XDECREF(r);
    Py_XDECREF(array);
    PyGILState_Release(gil);
    return bad ? -1 : 0;
}

static int functional_end(double t, const double *y, double *value, double *dy, void *user)
{
    functional *x = user;
    return call_functional(x, x->end, -1, t, y, value, dy);
}

static int functional_at(int k, double t, const double *y, double *value, double *dy, void *user)
{
    functional *x = user;
    return call_functional(x, x->at, k, t, y, value, dy);
}

static int functional_running(double t, const double *y, double *value, double *dy, void *user)
{
    functional *x = user;
    return call_functional(x, x->running, -1, t, y, value, dy);
}

/* gradient(problem, names, options, t_end, mode, memory, end, times, at, running): (value, gradient, about). */
PyObject *derivative_gradient(PyObject *module, PyObject *args)
{
    problem_object *p;
    PyObject *names, *dict, *times, *out = NULL;
    functional f = {0};
    const char *mode;
    double t_end, value = NAN;
    Py_ssize_t memory;
    Py_buffer v = {0};
    option_set set = {0};
    dae_gradient_stats stats = {0};
    dae_error err = {0};
    int count;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O!O!dsnOOOO", &problem_type, &p, &PyList_Type, &names, &PyDict_Type, &dict,
                          &t_end, &mode, &memory, &f.end, &times, &f.at, &f.running))
        return NULL;
    f.all = &p->all;
    f.n = dae_system_size(&p->problem->system);
    dae_functional G = {.end = f.end == Py_None ? NULL : functional_end,
                        .at = f.at == Py_None ? NULL : functional_at,
                        .running = f.running == Py_None ? NULL : functional_running,
                        .user = &f};
    dae_gradient_options o = dae_gradient_options_default(p->problem);
    o.mode = mode;
    o.memory = (size_t)memory;
    if (!isnan(t_end)) o.simulation.t_end = t_end;
    const char **word = words_of(names, &count);
    double *slope = word ? calloc((size_t)count + 1, sizeof *slope) : NULL;
    if (word && !slope) PyErr_NoMemory();
    if (slope && (!G.at || buffer_reals(times, &v, "t_eval") == 0) &&
        options_fill(&set, &o.simulation.options, dict, &p->all) == 0) {
        G.times = v.buf;
        G.ntimes = G.at ? (int)(v.len / v.itemsize) : 0;
        PyThreadState *thread = PyEval_SaveThread();
        dae_status s = dae_gradient(p->problem, &o, &G, word, count, &value, slope, &stats, &err);
        PyEval_RestoreThread(thread);
        if (shared_raise(&p->all)) {
            /* an exception of a function ended it */
        } else if (s < 0) raise_status(s, &err);
        else {
            out = Py_BuildValue("(dN{s:s,s:l,s:l,s:i,s:n,s:d,s:d})", value, memory_new(slope, 0, count, NULL),
                                "mode", stats.mode ? stats.mode : "", "steps", stats.steps, "back",
                                stats.back, "repeated", stats.repeated, "memory", (Py_ssize_t)stats.memory,
                                "forward_seconds", stats.forward_seconds, "back_seconds", stats.back_seconds);
            slope = NULL;
        }
    }
    if (v.obj) PyBuffer_Release(&v);
    options_clear(&set);
    free(slope);
    free(word);
    return out;
}

/* ---- What may vary, and what was measured ---------------------------------------------------------------------- */

/* [(name, start, min, max)]; NULL: exception. The names live as long as the list. */
static dae_fit_free *free_of(PyObject *list, int *count)
{
    *count = (int)PyList_GET_SIZE(list);
    dae_fit_free *f = calloc((size_t)*count + 1, sizeof *f);
    if (!f) PyErr_NoMemory();
    for (int i = 0; f && i < *count; i++) {
        if (PyArg_ParseTuple(PyList_GET_ITEM(list, i), "sddd", &f[i].name, &f[i].start, &f[i].min, &f[i].max))
            continue;
        free(f);
        return NULL;
    }
    return f;
}

/* One experiment: read from the text of a table, or made of arrays, which it borrows. */
typedef struct experiment {
    PyObject ob_base;
    dae_fit_experiment *read; /* owned, or NULL */
    dae_fit_experiment made;
    PyObject *keep; /* all that the description points into */
    dae_setting setting[32];
    const char **column;
    Py_buffer held[3];
    int nheld;
} experiment;

static const dae_fit_experiment *experiment_is(PyObject *self)
{
    experiment *x = (experiment *)self;
    return x->read ? x->read : &x->made;
}

static int read_settings(experiment *x, PyObject *dict, int *count)
{
    PyObject *key, *value;
    Py_ssize_t at = 0;
    for (*count = 0; PyDict_Next(dict, &at, &key, &value); ++*count) {
        if (*count == (int)(sizeof x->setting / sizeof *x->setting)) {
            PyErr_SetString(PyExc_ValueError, "an experiment has more than 32 settings");
            return -1;
        }
        x->setting[*count] = (dae_setting){PyUnicode_AsUTF8(key), PyUnicode_AsUTF8(value)};
        if (!x->setting[*count].name || !x->setting[*count].value) return -1;
    }
    return 0;
}

/* Experiment(problem, name, settings, text, length) or (problem, name, settings, t, columns, values, sd or None) */
static PyObject *experiment_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    problem_object *p;
    PyObject *settings, *t, *columns = NULL, *values = NULL, *sd = NULL;
    const char *name;
    dae_error err = {0};
    int count, ncolumn;
    (void)kw;
    if (!PyArg_ParseTuple(args, "O!sO!O|O!OO", &problem_type, &p, &name, &PyDict_Type, &settings, &t,
                          &PyList_Type, &columns, &values, &sd))
        return NULL;
    experiment *x = (experiment *)type->tp_alloc(type, 0);
    if (!x) return NULL;
    Py_INCREF(args);
    x->keep = args;
    if (read_settings(x, settings, &count) < 0) goto fail;
    if (!columns) {
        char *csv;
        Py_ssize_t length;
        if (PyBytes_AsStringAndSize(t, &csv, &length) < 0) goto fail;
        x->read = dae_fit_read(p->problem, csv, (size_t)length, name, x->setting, count, &err);
        if (x->read) return (PyObject *)x;
        raise_status(err.status, &err);
        goto fail;
    }
    if (!(x->column = words_of(columns, &ncolumn))) goto fail;
    PyObject *array[] = {t, values, sd};
    const char *what[] = {"t", "the measured values", "the standard deviations"};
    for (int k = 0; k < (sd == Py_None ? 2 : 3); k++, x->nheld++) {
        if (buffer_reals(array[k], &x->held[k], what[k]) < 0) goto fail;
    }
    Py_ssize_t ntime = x->held[0].len / (Py_ssize_t)sizeof(double);
    for (int k = 1; k < x->nheld; k++) {
        if (x->held[k].len == ncolumn * x->held[0].len) continue;
        PyErr_Format(PyExc_ValueError, "%s: expected %d columns of %zd numbers", what[k], ncolumn, ntime);
        goto fail;
    }
    x->made = (dae_fit_experiment){.name = name,
                                   .setting = x->setting,
                                   .nsetting = count,
                                   .ntime = (int)ntime,
                                   .ncolumn = ncolumn,
                                   .t = x->held[0].buf,
                                   .column = x->column,
                                   .value = x->held[1].buf,
                                   .sd = x->nheld > 2 ? x->held[2].buf : NULL};
    return (PyObject *)x;
fail:
    Py_DECREF(x);
    return NULL;
}

static void experiment_dealloc(PyObject *self)
{
    experiment *x = (experiment *)self;
    dae_fit_experiment_destroy(x->read);
    while (x->nheld > 0) PyBuffer_Release(&x->held[--x->nheld]);
    free(x->column);
    Py_XDECREF(x->keep);
    Py_TYPE(self)->tp_free(self);
}

/* about(): its name, times, columns and values, one line per column. */
static PyObject *experiment_about(PyObject *self, PyObject *unused)
{
    const dae_fit_experiment *e = experiment_is(self);
    PyObject *columns = PyList_New(0);
    (void)unused;
    for (int i = 0; columns && i < e->ncolumn; i++) {
        PyObject *s = PyUnicode_FromString(e->column[i]);
        if (!s || PyList_Append(columns, s) < 0) Py_CLEAR(columns);
        Py_XDECREF(s);
    }
    return Py_BuildValue("{s:s,s:N,s:N,s:N}", "name", e->name, "t", copy_of(e->t, 0, e->ntime), "columns",
                         columns, "value", copy_of(e->value, e->ncolumn ? e->ncolumn : -1, e->ntime));
}

static PyMethodDef experiment_methods[] = {
    {"about", experiment_about, METH_NOARGS, "name, times, columns, values"},
    {NULL, NULL, 0, NULL},
};

PyTypeObject experiment_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "daedalus._core.Experiment",
    .tp_basicsize = sizeof(experiment),
    .tp_new = experiment_new,
    .tp_dealloc = experiment_dealloc,
    .tp_methods = experiment_methods,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "Measured columns over time.",
};

/* ---- Fits ---------------------------------------------------------------------------------------------------------- */

/* Who is told how far it is; Ctrl-C and exceptions end the work. */
typedef struct teller {
    shared *all;
    PyObject *fn; /* NULL: nobody */
} teller;

static int tell(teller *x, const char *format, ...)
{
    if (x->all->raised) return 1;
    PyGILState_STATE gil = PyGILState_Ensure();
    int stop = PyErr_CheckSignals() < 0;
    if (!stop && x->fn) {
        va_list args;
        va_start(args, format);
        PyObject *at = Py_VaBuildValue(format, args), *r = at ? PyObject_CallOneArg(x->fn, at) : NULL;
        va_end(args);
        stop = !r || PyObject_IsTrue(r);
        Py_XDECREF(at);
        Py_XDECREF(r);
    }
    if (PyErr_Occurred()) shared_catch(x->all);
    PyGILState_Release(gil);
    return stop;
}

/* Ctrl-C ends a run too, not only what lies between two of them. */
static void stop_inside(dae_options *o, watch *w)
{
    o->stop = watch_stop;
    o->stop_user = w;
}

static int on_fit(const dae_fit_progress *at, void *user)
{
    return tell(user, "{s:i,s:i,s:i,s:d,s:d}", "start", at->start, "starts", at->starts, "iteration",
                at->iteration, "cost", at->cost, "gradient", at->gradient);
}

/* Per experiment what the problem says and the residuals, one line per column. */
static PyObject *curves_of(const dae_fit_result *r, const dae_fit_experiment *const *e, int residual)
{
    PyObject *list = PyList_New(0);
    for (int k = 0; list && k < r->nexperiment; k++) {
        PyObject *x =
            copy_of(residual ? r->residual[k] : r->model[k], e[k]->ncolumn ? e[k]->ncolumn : -1, e[k]->ntime);
        if (!x || PyList_Append(list, x) < 0) Py_CLEAR(list);
        Py_XDECREF(x);
    }
    return list;
}

static PyObject *fit_answer(const dae_fit_result *r, const dae_fit_free *list, const problem_object *p,
                            const dae_fit_experiment *const *e)
{
    text report = {0}, plot = {0};
    PyObject *out = NULL;
    char *json = dae_fit_json(r, list, p->problem, e);
    if (json && dae_fit_text(r, list, p->problem, text_write, &report) >= 0 &&
        dae_fit_plot(r, p->problem, e, "svg", text_write, &plot) >= 0)
        out = Py_BuildValue("{s:s,s:s,s:s#,s:s#,s:N,s:N,s:N}", "status", dae_status_name(r->status), "json",
                            json, "report", report.data ? report.data : "", (Py_ssize_t)report.size, "plot",
                            plot.data ? plot.data : "", (Py_ssize_t)plot.size, "model", curves_of(r, e, 0),
                            "residual", curves_of(r, e, 1), "direction",
                            copy_of(r->direction, r->count, r->count));
    else PyErr_NoMemory();
    free(json);
    free(report.data);
    free(plot.data);
    return out;
}

/* fit(problem, free, experiments, options, loss, starts, seed, threads, iterations, tolerance, intervals, profile, level,
 * progress); numbers that are 0 and an empty loss: the default. */
PyObject *derivative_fit(PyObject *module, PyObject *args)
{
    problem_object *p;
    PyObject *list, *measured, *dict, *progress, *out = NULL;
    option_set set = {0};
    dae_error err = {0};
    dae_fit_options given = {0};
    int count, nmeasured;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O!O!O!sikiidipdO", &problem_type, &p, &PyList_Type, &list, &PyList_Type,
                          &measured, &PyDict_Type, &dict, &given.loss, &given.starts, &given.seed,
                          &given.threads, &given.max_iterations, &given.tolerance, &given.intervals,
                          &given.profile, &given.level, &progress))
        return NULL;
    teller who = {&p->all, progress == Py_None ? NULL : progress};
    dae_fit_options o = dae_fit_options_default(p->problem);
    if (*given.loss) o.loss = given.loss;
    o.starts = given.starts;
    o.seed = given.seed;
    o.threads = given.threads;
    if (given.max_iterations) o.max_iterations = given.max_iterations;
    if (given.tolerance > 0) o.tolerance = given.tolerance;
    o.intervals = given.intervals;
    o.profile = given.profile;
    if (given.level > 0) o.level = given.level;
    o.progress = on_fit;
    o.user = &who;
    watch inside = {.all = &p->all};
    dae_fit_free *vary = free_of(list, &count);
    nmeasured = (int)PyList_GET_SIZE(measured);
    const dae_fit_experiment **e = vary ? calloc((size_t)nmeasured + 1, sizeof *e) : NULL;
    if (vary && !e) PyErr_NoMemory();
    for (int k = 0; e && k < nmeasured; k++) e[k] = experiment_is(PyList_GET_ITEM(measured, k));
    if (e && options_fill(&set, &o.sensitivity.simulation.options, dict, &p->all) == 0) {
        if (o.starts == 1) stop_inside(&o.sensitivity.simulation.options, &inside);
        PyThreadState *thread = PyEval_SaveThread();
        dae_fit_result *r = dae_fit(p->problem, vary, count, e, nmeasured, &o, &err);
        PyEval_RestoreThread(thread);
        if (shared_raise(&p->all)) {
            /* an exception ended it */
        } else if (!r) raise_status(err.status, &err);
        else out = fit_answer(r, vary, p, e);
        dae_fit_destroy(r);
    }
    options_clear(&set);
    free(e);
    free(vary);
    return out;
}

/* ---- Designs --------------------------------------------------------------------------------------------------------- */

static int on_optimize(const dae_optimize_progress *at, void *user)
{
    return tell(user, "{s:i,s:d,s:d}", "evaluation", at->evaluation, "objective", at->objective, "violation",
                at->violation);
}

static PyObject *optimize_answer(const dae_optimize_result *r)
{
    return Py_BuildValue("{s:s,s:s,s:N,s:N,s:N,s:d,s:d,s:d,s:i}", "status", dae_status_name(r->status),
                         "message", r->message, "value", copy_of(r->value, 0, r->count), "start",
                         copy_of(r->start, 0, r->count), "gradient", copy_of(r->gradient, 0, r->count),
                         "objective", r->objective, "objective_start", r->objective_start, "violation",
                         r->violation, "evaluations", r->evaluations);
}

/* optimize(problem, free, minimize, subject, options, global, seed, points, evaluations, tolerance, progress) */
PyObject *derivative_optimize(PyObject *module, PyObject *args)
{
    problem_object *p;
    PyObject *list, *subject, *dict, *progress, *out = NULL;
    const char *minimize;
    option_set set = {0};
    dae_error err = {0};
    dae_optimize_options given = {0};
    int count;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O!sO!O!pkiidO", &problem_type, &p, &PyList_Type, &list, &minimize,
                          &PyList_Type, &subject, &PyDict_Type, &dict, &given.global, &given.seed,
                          &given.points, &given.max_evaluations, &given.tolerance, &progress))
        return NULL;
    teller who = {&p->all, progress == Py_None ? NULL : progress};
    dae_optimize_options o = dae_optimize_options_default(p->problem);
    o.global = given.global;
    o.seed = given.seed;
    if (given.points) o.points = given.points;
    if (given.max_evaluations) o.max_evaluations = given.max_evaluations;
    if (given.tolerance > 0) o.tolerance = given.tolerance;
    o.progress = on_optimize;
    o.user = &who;
    watch inside = {.all = &p->all};
    dae_fit_free *vary = free_of(list, &count);
    const char **word = vary ? words_of(subject, &o.nsubject) : NULL;
    o.subject = word;
    if (word && options_fill(&set, &o.sensitivity.simulation.options, dict, &p->all) == 0) {
        stop_inside(&o.sensitivity.simulation.options, &inside);
        PyThreadState *thread = PyEval_SaveThread();
        dae_optimize_result *r = dae_optimize(p->problem, vary, count, minimize, &o, &err);
        PyEval_RestoreThread(thread);
        if (shared_raise(&p->all)) {
            /* an exception ended it */
        } else if (!r) raise_status(err.status, &err);
        else out = optimize_answer(r);
        dae_optimize_destroy(r);
    }
    options_clear(&set);
    free(word);
    free(vary);
    return out;
}
