/* One run: dae_run with the GIL released, its result as a dict of views and numbers. */
#include "core.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- What owns the numbers -------------------------------------------------------------------------- */

typedef struct result {
    PyObject ob_base;
    dae_run_result *r;
    dae_switching *switching; /* events in words, or NULL: the result has their names */
    const char **by, **of;    /* names of derivatives, texts of integrals, or NULL: the same */
    PyObject *problem, *names, *texts;
} result;

static void result_dealloc(PyObject *self)
{
    result *x = (result *)self;
    dae_run_destroy(x->r);
    dae_switching_destroy(x->switching);
    free(x->by);
    free(x->of);
    Py_XDECREF(x->problem);
    Py_XDECREF(x->names);
    Py_XDECREF(x->texts);
    PyObject_Free(self);
}

/* Texts of the library about this run: text("json"), "report", "failure", "csv", "plot svg", "html". */
static PyObject *result_text(PyObject *self, PyObject *args)
{
    result *x = (result *)self;
    const char *what, *format = "svg";
    int most = 0;
    text out = {0};
    if (!PyArg_ParseTuple(args, "s|is", &what, &most, &format)) return NULL;
    const dae_problem *p = x->r->problem;
    dae_status s = DAE_ERR_INPUT;
    PyThreadState *thread = PyEval_SaveThread();
    if (!strcmp(what, "json")) s = dae_run_json(x->r, text_write, &out);
    else if (!strcmp(what, "report")) s = dae_run_report(x->r, most, text_write, &out);
    else if (!strcmp(what, "failure")) s = dae_run_failure(x->r, "", text_write, &out);
    else if (!strcmp(what, "csv")) s = dae_run_csv(x->r, text_write, &out);
    else if (!strcmp(what, "plot")) s = dae_run_plot(x->r, format, text_write, &out);
    else if (!strcmp(what, "html") && mbs_problem_mechanism(p))
        s = mbs_write_html(p, x->r->npoint, x->r->point_t, x->r->point_y, text_write, &out);
    PyEval_RestoreThread(thread);
    PyObject *answer = NULL;
    if (s < 0) PyErr_Format(PyExc_ValueError, "this run has no %s: %s", what, dae_status_text(s));
    else answer = PyUnicode_DecodeUTF8(out.data ? out.data : "", (Py_ssize_t)out.size, "replace");
    free(out.data);
    return answer;
}

/* table(name): the trajectory as the bytes of a file of that name, in the format of its ending, with where it comes from. */
static PyObject *result_table(PyObject *self, PyObject *args)
{
    result *x = (result *)self;
    const char *name;
    text out = {0};
    dae_error err = {0};
    dae_provenance from;
    if (!PyArg_ParseTuple(args, "s", &name)) return NULL;
    PyThreadState *thread = PyEval_SaveThread();
    dae_table *t = dae_run_table(x->r, &err);
    dae_provenance_now(&from);
    if (t) dae_provenance_note(&from, t);
    dae_status s = t ? dae_table_write(t, dae_table_format_of(name), text_write, &out, &err) : err.status;
    dae_table_destroy(t);
    PyEval_RestoreThread(thread);
    PyObject *answer = NULL;
    if (s < 0) raise_status(s, &err);
    else answer = PyBytes_FromStringAndSize(out.data, (Py_ssize_t)out.size);
    free(out.data);
    return answer;
}

/* derived(): values of sensors and reactions at the points of the trajectory, one line each; None: there are none. */
static PyObject *result_derived(PyObject *self, PyObject *unused)
{
    const dae_run_result *r = ((result *)self)->r;
    const dae_derived *d = &r->problem->derived;
    (void)unused;
    if (!d->columns || d->ncolumn < 1 || r->npoint < 1) Py_RETURN_NONE;
    double *value = malloc((size_t)r->npoint * (size_t)d->ncolumn * sizeof *value);
    if (!value) return PyErr_NoMemory();
    int bad;
    PyThreadState *thread = PyEval_SaveThread();
    bad = d->columns(r->problem, r->npoint, r->point_t, r->point_y, NULL, NULL, value);
    PyEval_RestoreThread(thread);
    if (bad >= 0) return memory_new(value, r->npoint, d->ncolumn, NULL);
    free(value);
    PyErr_SetString(core_error, "the sensors could not be evaluated");
    return NULL;
}

static PyMethodDef result_methods[] = {
    {"derived", result_derived, METH_NOARGS, "sensors and reactions at the points of the trajectory"},
    {"table", result_table, METH_VARARGS,
     "table(name): the bytes of a file of that name with the trajectory"},
    {"text", result_text, METH_VARARGS, "text(what): json, report, failure, csv, plot, html"},
    {NULL, NULL, 0, NULL},
};

PyTypeObject result_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "daedalus._core.Result",
    .tp_basicsize = sizeof(result),
    .tp_dealloc = result_dealloc,
    .tp_methods = result_methods,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_doc = "What came out of a run.",
};

/* ---- Statistics --------------------------------------------------------------------------------------- */

PyObject *stats_dict(const dae_stats *s)
{
    return Py_BuildValue("{s:l,s:l,s:l,s:l,s:l,s:l,s:l,s:l,s:l,s:l,s:l,s:l,s:l,s:d,s:d,s:d,s:i,s:d,s:d,s:d,s:"
                         "d,s:d,s:d,s:l,s:l}",
                         "steps", s->steps, "accepted", s->accepted, "rejected", s->rejected,
                         "newton_failures", s->newton_failures, "f", s->f, "f_jac", s->f_jac, "jac", s->jac,
                         "lu", s->lu, "solves", s->solves, "newton", s->newton, "events", s->events,
                         "restarts", s->restarts, "undefined", s->undefined, "h_last", s->h_last,
                         "h_smallest", s->h_smallest, "h_largest", s->h_largest, "order_last", s->order_last,
                         "cpu_seconds", s->cpu_seconds, "user_seconds", s->user_seconds, "linalg_seconds",
                         s->linalg_seconds, "position_residual", s->position_residual, "velocity_residual",
                         s->velocity_residual, "acceleration_residual", s->acceleration_residual, "charts",
                         s->charts, "krylov", s->krylov);
}

/* ---- The answer ---------------------------------------------------------------------------------------- */

static int put(PyObject *dict, const char *key, PyObject *value) /* takes value */
{
    int bad = !value || PyDict_SetItemString(dict, key, value) < 0;
    Py_XDECREF(value);
    return bad ? -1 : 0;
}

/* The states at the wanted times: y, a or lambda of `width` numbers each; None where a sample has none. */
static PyObject *samples(const dae_run_result *r, int which, Py_ssize_t width)
{
    double *x = malloc(((size_t)r->nat * (size_t)width + 1) * sizeof *x);
    if (!x) return PyErr_NoMemory();
    for (int k = 0; k < r->nat; k++) {
        const double *from = which == 0 ? r->at[k].y : which == 1 ? r->at[k].a : r->at[k].lambda;
        for (Py_ssize_t i = 0; i < width; i++) x[(Py_ssize_t)k * width + i] = from ? from[i] : NAN;
    }
    return memory_new(x, r->nat ? r->nat : -1, width, NULL);
}

static PyObject *sample_times(const dae_run_result *r)
{
    double *t = malloc(((size_t)r->nat + 1) * sizeof *t);
    if (!t) return PyErr_NoMemory();
    for (int k = 0; k < r->nat; k++) t[k] = r->at[k].t;
    return memory_new(t, 0, r->nat, NULL);
}

static PyObject *view_or_none(const double *x, Py_ssize_t n, PyObject *owner)
{
    if (!x) Py_RETURN_NONE;
    return memory_new((double *)x, 0, n, owner);
}

static PyObject *model_events(const dae_run_result *r)
{
    PyObject *list = PyList_New(0);
    for (int k = 0; list && k < r->nevent; k++) {
        const dae_event_record *e = &r->event[k];
        const char *name = r->event_name ? r->event_name[e->index] : NULL;
        PyObject *x = Py_BuildValue("(dsi)", e->t, name ? name : "event", e->rising);
        if (!x || PyList_Append(list, x) < 0) Py_CLEAR(list);
        Py_XDECREF(x);
    }
    return list;
}

static int put_numbers(PyObject *d, const dae_run_result *r, PyObject *owner, int nv, int nlambda)
{
    if (r->npoint > 0 || r->nat == 0) {
        if (put(d, "t", memory_new((double *)r->point_t, 0, r->npoint, owner)) < 0 ||
            put(d, "y", memory_new((double *)r->point_y, r->npoint ? r->npoint : -1, r->n, owner)) < 0)
            return -1;
    }
    if (put(d, "at_t", sample_times(r)) < 0 || put(d, "at_y", samples(r, 0, r->n)) < 0) return -1;
    if (nv && (put(d, "at_a", samples(r, 1, nv)) < 0 || put(d, "at_lambda", samples(r, 2, nlambda)) < 0))
        return -1;
    return put(d, "last_y", view_or_none(r->last.y, r->n, owner)) < 0 ||
                   put(d, "last_a", view_or_none(nv ? r->last.a : NULL, nv, owner)) < 0 ||
                   put(d, "last_lambda", view_or_none(nv ? r->last.lambda : NULL, nlambda, owner)) < 0
               ? -1
               : 0;
}

static PyObject *answer(result *owner)
{
    const dae_run_result *r = owner->r;
    const problem_object *p = (problem_object *)owner->problem;
    const dae_mech *m = p->problem->system.kind == DAE_KIND_MECH ? &p->problem->system.mech : NULL;
    PyObject *d = Py_BuildValue(
        "{s:i,s:s,s:s,s:d,s:s,s:z,s:s,s:s,s:s,s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:i,s:i,s:i,s:N,s:N,s:O}", "status",
        (int)r->status, "word", dae_run_status_word(r->status), "message", r->error.text, "t_error",
        r->error.t, "solver", r->solver, "formulation", r->formulation, "reason", r->reason, "form_text",
        r->form_text, "linear_algebra", r->linear_algebra, "rtol", r->rtol, "atol", r->atol, "t0", r->t0,
        "t_last", r->last.t, "scd", r->scd, "mescd", r->mescd, "cpu_seconds", r->cpu_seconds, "started",
        r->started, "worst_component", r->worst_component, "undefined", r->undefined, "stats",
        stats_dict(&r->stats), "record", model_events(r), "result", owner);
    if (!d) return NULL;
    int bad = put_numbers(d, r, (PyObject *)owner, m ? m->nv : 0, m ? m->nlambda : 0) < 0;
    if (!bad && r->sensitivity_end)
        bad = put(d, "sensitivity_end",
                  memory_new((double *)r->sensitivity_end, r->nsensitivity, r->n, (PyObject *)owner)) < 0 ||
              put(d, "point_s",
                  memory_new((double *)r->point_s, r->npoint ? r->npoint : -1,
                             (Py_ssize_t)r->nsensitivity * r->n, (PyObject *)owner)) < 0;
    Py_ssize_t derived = (Py_ssize_t)r->problem->derived.ncolumn * r->nsensitivity;
    if (!bad && r->derived_s_end)
        bad = put(d, "point_derived_s",
                  memory_new((double *)r->point_derived_s, r->npoint ? r->npoint : -1, derived,
                             (PyObject *)owner)) < 0;
    if (!bad && r->event_s && r->nevent)
        bad = put(d, "event_s",
                  memory_new((double *)r->event_s, r->nevent, r->nsensitivity, (PyObject *)owner)) < 0;
    if (!bad && r->sensitivity_total)
        bad = put(d, "sensitivity_total",
                  memory_new((double *)r->sensitivity_total, r->nsensitivity, r->n, (PyObject *)owner)) < 0;
    if (!bad && r->integral_end)
        bad = put(d, "integral", memory_new((double *)r->integral_end, 0, r->nintegral, (PyObject *)owner)) <
                  0 ||
              put(d, "integral_error",
                  memory_new((double *)r->integral_error, 0, r->nintegral, (PyObject *)owner)) < 0 ||
              put(d, "point_q",
                  r->point_q ? memory_new((double *)r->point_q, r->npoint ? r->npoint : -1, r->nintegral,
                                          (PyObject *)owner)
                             : Py_BuildValue("")) < 0;
    if (!bad && r->integral_s)
        bad = put(d, "integral_s",
                  memory_new((double *)r->integral_s, r->nsensitivity, r->nintegral, (PyObject *)owner)) < 0;
    if (!bad && r->checkpoint)
        bad = put(d, "checkpoint", PyBytes_FromStringAndSize(r->checkpoint, (Py_ssize_t)r->checkpoint_size)) <
              0;
    if (!bad) return d;
    Py_DECREF(d);
    return NULL;
}

/* ---- The run ------------------------------------------------------------------------------------------- */

/* Energy balance along the trajectory; None where the problem knows no energy. */
static PyObject *balance_of(const problem_object *p, const dae_run_result *r)
{
    dae_balance b;
    if (r->npoint < 2 || dae_problem_balance(p->problem, r->npoint, r->point_t, r->point_y, &b, NULL) < 0)
        Py_RETURN_NONE;
    return Py_BuildValue("{s:d,s:d,s:d,s:d}", "start", b.start, "end", b.end, "work", b.work, "largest",
                         b.largest);
}

static PyObject *with_solution(PyObject *d, problem_object *p, const dae_run_result *r, text *dense)
{
    if (!d) {
        free(dense->data);
        return NULL;
    }
    if (dense->data) {
        PyObject *s = solution_from(dense->data, dense->size); /* none: it ended before its first step */
        if (!s) PyErr_Clear();
        else if (put(d, "solution", s) < 0) Py_CLEAR(d);
    }
    if (d && put(d, "balance", balance_of(p, r)) < 0) Py_CLEAR(d);
    return d;
}

/* All that a run needs besides the problem. */
typedef struct run_call {
    dae_run_options o;
    option_set set;
    text solution;
    Py_buffer times, state;
    watch w;
    dae_switching *switching;
    const char **by, **of;
    PyObject *names, *texts;
} run_call;

static int read_times(run_call *c, PyObject *at, PyObject *resume)
{
    if (at != Py_None) {
        if (buffer_reals(at, &c->times, "t_eval") < 0) return -1;
        c->o.at = c->times.buf;
        c->o.nat = (int)(c->times.len / c->times.itemsize);
    }
    if (resume != Py_None) {
        if (PyObject_GetBuffer(resume, &c->state, PyBUF_SIMPLE) < 0) return -1;
        c->o.resume = c->state.buf;
        c->o.resume_size = (size_t)c->state.len;
    }
    return 0;
}

/* None: those of the problem; False: none; a list: in words, besides those of the problem; else functions. */
static int read_events(run_call *c, const problem_object *p, PyObject *events)
{
    dae_error err = {0};
    const char *word[64];
    if (events == Py_None) return 0;
    if (events == Py_False) {
        c->o.events = NULL;
        return 0;
    }
    if (!PyList_Check(events)) {
        c->o.events = &((event_set *)events)->events;
        return 0;
    }
    int count = (int)PyList_GET_SIZE(events);
    if (count > 64) {
        PyErr_SetString(core_input, "more than 64 events");
        return -1;
    }
    for (int i = 0; i < count; i++) {
        if (!(word[i] = PyUnicode_AsUTF8(PyList_GET_ITEM(events, i)))) return -1;
    }
    c->switching = dae_switching_create(p->problem, c->o.options.atol, word, count, p->problem->events, &err);
    if (c->switching) c->o.events = dae_switching_events(c->switching);
    else raise_status(err.status, &err);
    return c->switching ? 0 : -1;
}

/* Lists of names by which the solution is differentiated, and of integrals, or None. */
static int read_names(run_call *c, PyObject *names, PyObject *texts)
{
    if (names != Py_None) {
        c->names = names;
        if (!(c->by = words_of(names, &c->o.nsensitivity))) return -1;
        c->o.sensitivity = c->by;
    }
    if (texts != Py_None) {
        c->texts = texts;
        if (!(c->of = words_of(texts, &c->o.nintegral))) return -1;
        c->o.integral = c->of;
    }
    return 0;
}

/* Runs, without the lock of Python; what belongs to the result goes over to it. */
static PyObject *run_now(run_call *c, problem_object *p)
{
    dae_error err = {0};
    PyThreadState *thread = PyEval_SaveThread();
    dae_run_result *r = dae_run(p->problem, &c->o, &err);
    PyEval_RestoreThread(thread);
    if (!r) return raise_status(err.status, &err);
    result *owner = PyObject_New(result, &result_type);
    if (!owner) {
        dae_run_destroy(r);
        return NULL;
    }
    PyObject *out = NULL;
    Py_INCREF(p);
    owner->r = r;
    owner->problem = (PyObject *)p;
    owner->switching = c->switching;
    owner->by = c->by;
    owner->of = c->of;
    owner->names = c->names;
    owner->texts = c->texts;
    Py_XINCREF(c->names);
    Py_XINCREF(c->texts);
    c->switching = NULL;
    c->by = c->of = NULL;
    if (shared_raise(&p->all)) {
        /* an exception of a function ended it */
    } else if (r->status == DAE_ERR_INPUT || r->status == DAE_ERR_UNSUPPORTED ||
               r->status == DAE_ERR_MEMORY) {
        raise_status(r->status, &r->error);
    } else {
        out = with_solution(answer(owner), p, r, &c->solution);
        c->solution.data = NULL;
    }
    Py_DECREF(owner);
    return out;
}

PyObject *run_problem(PyObject *module, PyObject *args, PyObject *kw)
{
    static char *names[] = {"problem",  "options", "t_end",       "at",       "trajectory", "points",
                            "interval", "dense",   "progress",    "every",    "checkpoint", "resume",
                            "events",   "repeat",  "sensitivity", "integral", NULL};
    problem_object *p;
    PyObject *dict, *at = Py_None, *progress = Py_None, *resume = Py_None, *events = Py_None, *by = Py_None,
                    *of = Py_None, *out = NULL;
    int trajectory = 0, points = 1, dense = 0, checkpoint = 0, repeat = 1;
    double t_end = NAN, interval = 0, every = 0;
    (void)module;
    if (!PyArg_ParseTupleAndKeywords(args, kw, "O!O!|dOiidpOdpOOiOO", names, &problem_type, &p, &PyDict_Type,
                                     &dict, &t_end, &at, &trajectory, &points, &interval, &dense, &progress,
                                     &every, &checkpoint, &resume, &events, &repeat, &by, &of))
        return NULL;
    run_call c = {.o = dae_run_options_default(p->problem), .w = {.all = &p->all, .every = every}};
    if (progress != Py_None) c.w.progress = progress;
    if (!isnan(t_end)) c.o.t_end = t_end;
    c.o.trajectory = (dae_trajectory)trajectory;
    c.o.points = points;
    c.o.interval = interval;
    c.o.max_values = SIZE_MAX / 64; /* nothing is thinned */
    c.o.checkpoint = checkpoint;
    c.o.repeat = repeat;
    c.o.progress = watch_progress;
    c.o.progress_user = &c.w;
    if (dense) {
        c.o.solution = text_write;
        c.o.solution_user = &c.solution;
    }
    if (options_fill(&c.set, &c.o.options, dict, &p->all) == 0 && read_times(&c, at, resume) == 0 &&
        read_events(&c, p, events) == 0 && read_names(&c, by, of) == 0)
        out = run_now(&c, p);
    free(c.solution.data);
    dae_switching_destroy(c.switching);
    free(c.by);
    free(c.of);
    if (c.times.obj) PyBuffer_Release(&c.times);
    if (c.state.obj) PyBuffer_Release(&c.state);
    options_clear(&c.set);
    return out;
}
