/* A system of Python or compiled functions: the description (a dict made in daedalus/_system.py) becomes a dae_system. */
#include "core.h"

#include <string.h>

/* ---- What the library calls ------------------------------------------------------------------------- */

static int rhs_of(call *c, double t, const double *y, double *f, Py_ssize_t rows, Py_ssize_t cols)
{
    if (c->address) return ((dae_rhs *)c->address)(t, y, f, c->user);
    return call_python(c, t, &y, f, rows, cols);
}

static int on_f(double t, const double *y, double *f, void *user)
{
    problem_object *p = user;
    return rhs_of(&p->fn[FN_F], t, y, f, p->fn[FN_F].length[0], 0);
}

static int on_dfdt(double t, const double *y, double *f, void *user)
{
    problem_object *p = user;
    return rhs_of(&p->fn[FN_DFDT], t, y, f, p->fn[FN_DFDT].length[0], 0);
}

static int on_jac(double t, const double *y, double *jac, void *user)
{
    problem_object *p = user;
    call *c = &p->fn[FN_JAC];
    return p->jac_values ? rhs_of(c, t, y, jac, p->jac_values, 0)
                         : rhs_of(c, t, y, jac, p->jac_rows, c->length[0]);
}

static int residual_of(call *c, double t, const double *y, const double *yp, double *F, Py_ssize_t rows,
                       Py_ssize_t cols)
{
    if (c->address) return ((dae_residual *)c->address)(t, y, yp, F, c->user);
    return call_python(c, t, (const double *[]){y, yp}, F, rows, cols);
}

static int on_residual(double t, const double *y, const double *yp, double *F, void *user)
{
    problem_object *p = user;
    return residual_of(&p->fn[FN_RESIDUAL], t, y, yp, F, p->fn[FN_RESIDUAL].length[0], 0);
}

static int residual_jac(problem_object *p, call *c, double t, const double *y, const double *yp, double *jac)
{
    if (p->jac_values) return residual_of(c, t, y, yp, jac, p->jac_values, 0);
    return residual_of(c, t, y, yp, jac, p->jac_rows, c->length[0]);
}

static int on_dfdy(double t, const double *y, const double *yp, double *jac, void *user)
{
    problem_object *p = user;
    return residual_jac(p, &p->fn[FN_DFDY], t, y, yp, jac);
}

static int on_dfdyp(double t, const double *y, const double *yp, double *jac, void *user)
{
    problem_object *p = user;
    return residual_jac(p, &p->fn[FN_DFDYP], t, y, yp, jac);
}

static int mech_of(call *c, const dae_mech_point *x, double *out, Py_ssize_t rows, Py_ssize_t cols)
{
    if (c->address) return ((dae_mech_fn *)c->address)(x, out, c->user);
    return call_python(c, x->t, (const double *[]){x->p, x->v, x->u, x->lambda}, out, rows, cols);
}

#define MECH(name, which, rows, cols)                                 \
    static int name(const dae_mech_point *x, double *out, void *user) \
    {                                                                 \
        problem_object *p = user;                                     \
        const dae_mech *m = &p->plain.system.mech;                    \
        return mech_of(&p->fn[which], x, out, rows, cols);            \
    }
MECH(on_mass, FN_MASS, m->nv, m->nv)
MECH(on_force, FN_FORCE, m->nv, 0)
MECH(on_kinematics, FN_KINEMATICS, m->np, 0)
MECH(on_velocity, FN_VELOCITY, m->nlambda, 0)
MECH(on_gamma, FN_GAMMA, m->nlambda, 0)
MECH(on_position, FN_POSITION, m->ng, m->nv)
MECH(on_dynamics, FN_DYNAMICS, m->nu, 0)

static int on_constraint(const dae_mech_point *x, double *g, double *G, void *user)
{
    problem_object *p = user;
    const dae_mech *m = &p->plain.system.mech;
    int r = 0;
    if (g && m->ng > 0) r = mech_of(&p->fn[FN_CONSTRAINT], x, g, m->ng, 0);
    if (!r && G) r = mech_of(&p->fn[FN_G], x, G, m->nlambda, m->nv);
    return r;
}

/* ---- Reading the description --------------------------------------------------------------------------- */

static PyObject *get(PyObject *dict, const char *key) /* borrowed; NULL: not there, or None */
{
    PyObject *x = PyDict_GetItemString(dict, key);
    return x == Py_None ? NULL : x;
}

static int get_int(PyObject *dict, const char *key, int *out)
{
    PyObject *x = get(dict, key);
    *out = x ? (int)PyLong_AsLong(x) : 0;
    return x && PyErr_Occurred() ? -1 : 0;
}

/* The array stays with the problem. *length: of its numbers. */
static void *hold(problem_object *p, PyObject *object, int ints, const char *what, Py_ssize_t *length)
{
    Py_buffer *v = &p->held[p->nheld];
    if ((ints ? buffer_ints(object, v, what) : buffer_reals(object, v, what)) < 0) return NULL;
    p->nheld++;
    if (length) *length = v->len / v->itemsize;
    return v->buf;
}

static void *hold_key(problem_object *p, PyObject *dict, const char *key, int ints, Py_ssize_t length)
{
    Py_ssize_t n = 0;
    PyObject *x = get(dict, key);
    void *data = x ? hold(p, x, ints, key, &n) : NULL;
    if (!data || n == length) return data;
    PyErr_Format(PyExc_ValueError, "%s has %zd entries, %zd are needed", key, n, length);
    return NULL;
}

/* (storage, lower, upper, colptr, rowind), zero where it is not given. */
static int read_pattern(problem_object *p, PyObject *x, dae_pattern *out)
{
    int storage;
    PyObject *colptr, *rowind;
    if (!x) return 0;
    if (!PyArg_ParseTuple(x, "iiiOO", &storage, &out->lower, &out->upper, &colptr, &rowind)) return -1;
    out->storage = (dae_storage)storage;
    if (colptr != Py_None && !(out->colptr = hold(p, colptr, 1, "column pointers", NULL))) return -1;
    if (rowind != Py_None && !(out->rowind = hold(p, rowind, 1, "row indices", NULL))) return -1;
    return 0;
}

static int read_mass(problem_object *p, PyObject *spec, int n, dae_matrix *out)
{
    PyObject *values = get(spec, "mass"), *pattern = get(spec, "mass_pattern");
    Py_ssize_t count;
    if (!values) return 0;
    out->n = n;
    if (read_pattern(p, pattern, &out->pattern) < 0 || !(out->a = hold(p, values, 0, "mass", &count)))
        return -1;
    if (count == dae_pattern_count(&out->pattern, n)) return 0;
    PyErr_Format(PyExc_ValueError, "the mass matrix has %zd values, %ld are needed", count,
                 dae_pattern_count(&out->pattern, n));
    return -1;
}

/* Functions of the description by name, each with the arrays it gets. */
static int read_function(problem_object *p, PyObject *spec, int which, const char *key, PyObject *empty)
{
    call *c = &p->fn[which];
    int is_complex = 0;
    if (call_init(c, &p->all, key, get(spec, key), empty) < 0) return -1;
    if (get_int(spec, "is_complex", &is_complex) < 0) return -1;
    c->is_complex = is_complex && (which == FN_F || which == FN_DFDT);
    return c->fn || c->address ? 1 : 0;
}

static int read_ode(problem_object *p, PyObject *spec, PyObject *empty, PyObject *empty_f, int n)
{
    dae_system *s = &p->plain.system;
    int f = read_function(p, spec, FN_F, "fun", empty_f), jac = read_function(p, spec, FN_JAC, "jac", empty),
        dfdt = read_function(p, spec, FN_DFDT, "dfdt", empty_f);
    if (f < 0 || jac < 0 || dfdt < 0) return -1;
    for (int k = FN_F; k <= FN_DFDT; k++) call_input(&p->fn[k], n);
    if (s->kind == DAE_KIND_ODE) {
        s->ode = (dae_ode){n, f ? on_f : NULL, jac ? on_jac : NULL, dfdt ? on_dfdt : NULL, p};
        return 0;
    }
    s->dae = (dae_dae){
        .n = n, .f = f ? on_f : NULL, .jac = jac ? on_jac : NULL, .dfdt = dfdt ? on_dfdt : NULL, .user = p};
    return read_mass(p, spec, n, &s->dae.mass);
}

static int read_ide(problem_object *p, PyObject *spec, PyObject *empty, PyObject *empty_f, int n)
{
    int f = read_function(p, spec, FN_RESIDUAL, "fun", empty_f),
        y = read_function(p, spec, FN_DFDY, "dfdy", empty),
        yp = read_function(p, spec, FN_DFDYP, "dfdyp", empty);
    if (f < 0 || y < 0 || yp < 0) return -1;
    for (int k = FN_RESIDUAL; k <= FN_DFDYP; k++) {
        call_input(&p->fn[k], n);
        call_input(&p->fn[k], n);
    }
    p->plain.system.ide = (dae_ide){n,
                                    f ? on_residual : NULL,
                                    y ? on_dfdy : NULL,
                                    yp ? on_dfdyp : NULL,
                                    hold_key(p, spec, "algebraic", 1, n),
                                    p};
    return PyErr_Occurred() ? -1 : 0;
}

static int read_mech(problem_object *p, PyObject *spec, PyObject *empty)
{
    static const struct {
        int which;
        const char *key;
    } functions[] = {{FN_MASS, "mass_fn"}, {FN_FORCE, "force"},           {FN_CONSTRAINT, "constraint"},
                     {FN_G, "jacobian"},   {FN_KINEMATICS, "kinematics"}, {FN_VELOCITY, "velocity"},
                     {FN_GAMMA, "gamma"},  {FN_DYNAMICS, "dynamics"},     {FN_POSITION, "position_jacobian"}};
    dae_mech *m = &p->plain.system.mech;
    int given[FN_COUNT] = {0};
    if (get_int(spec, "np", &m->np) < 0 || get_int(spec, "nv", &m->nv) < 0 ||
        get_int(spec, "nu", &m->nu) < 0 || get_int(spec, "ng", &m->ng) < 0 ||
        get_int(spec, "nlambda", &m->nlambda) < 0)
        return -1;
    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++) {
        int which = functions[k].which;
        given[which] = read_function(p, spec, which, functions[k].key, empty);
        if (given[which] < 0) return -1;
        call_input(&p->fn[which], m->np);
        call_input(&p->fn[which], m->nv);
        call_input(&p->fn[which], m->nu);
        call_input(&p->fn[which], m->nlambda);
    }
    m->mass_fn = given[FN_MASS] ? on_mass : NULL;
    m->force = given[FN_FORCE] ? on_force : NULL;
    m->constraint = given[FN_G] ? on_constraint : NULL;
    m->kinematics = given[FN_KINEMATICS] ? on_kinematics : NULL;
    m->velocity = given[FN_VELOCITY] ? on_velocity : NULL;
    m->gamma = given[FN_GAMMA] ? on_gamma : NULL;
    m->position_jacobian = given[FN_POSITION] ? on_position : NULL;
    m->dynamics = given[FN_DYNAMICS] ? on_dynamics : NULL;
    m->user = p;
    return m->mass_fn ? 0 : read_mass(p, spec, m->nv, &m->mass);
}

int system_describe(problem_object *p, PyObject *spec)
{
    dae_system *s = &p->plain.system;
    int kind, n, values, rows;
    PyObject *empty = get(spec, "empty"), *empty_f = get(spec, "empty_f"), *y0 = get(spec, "y0");
    if (get_int(spec, "kind", &kind) < 0 || get_int(spec, "n", &n) < 0 ||
        get_int(spec, "jac_values", &values) < 0 || get_int(spec, "jac_rows", &rows) < 0 ||
        get_int(spec, "second_order", &s->structure.second_order) < 0 ||
        get_int(spec, "no_velocities", &s->structure.no_velocities) < 0)
        return -1;
    s->kind = (dae_kind)kind;
    p->jac_values = values;
    p->jac_rows = rows;
    p->all.args = get(spec, "args");
    p->all.vector = get(spec, "vector");
    if (!empty || !p->all.vector || !y0 || (p->all.args && !PyTuple_Check(p->all.args))) {
        p->all.args = p->all.vector = NULL;
        PyErr_SetString(PyExc_TypeError, "a system needs empty, vector and y0, and args that are a tuple");
        return -1;
    }
    Py_XINCREF(p->all.args);
    Py_INCREF(p->all.vector);
    if (!empty_f) empty_f = empty;
    int bad = kind == DAE_KIND_IDE    ? read_ide(p, spec, empty, empty_f, n)
              : kind == DAE_KIND_MECH ? read_mech(p, spec, empty)
                                      : read_ode(p, spec, empty, empty_f, n);
    if (bad < 0) return -1;
    if (read_pattern(p, get(spec, "pattern"), &s->structure.jacobian) < 0) return -1;
    s->structure.index = hold_key(p, spec, "index", 1, dae_system_size(s));
    p->plain.y0 = hold_key(p, spec, "y0", 0, dae_system_size(s));
    p->plain.yp0 = hold_key(p, spec, "yp0", 0, dae_system_size(s));
    PyObject *t0 = get(spec, "t0"), *t_end = get(spec, "t_end");
    p->plain.t0 = t0 ? PyFloat_AsDouble(t0) : 0;
    p->plain.t_end = t_end ? PyFloat_AsDouble(t_end) : 0;
    return PyErr_Occurred() ? -1 : 0;
}
