/* daedalus_mex(command, ...): the library as Octave and MATLAB see it. The .m files beside it check what people write and
 * shape what they get; nobody else calls this.
 *
 *     names = daedalus_mex('methods')                           what solvers there are, with kinds
 *     r     = daedalus_mex('solve', spec)                       a system of functions of the interpreter
 *     r     = daedalus_mex('run', what, parameters, options, o) a problem, model or equation file, at full speed
 *     info  = daedalus_mex('problem', what, parameters)
 *     [v, ierr] = daedalus_mex('feval' | 'jeval' | 'meval', what, parameters, t, y, yp)
 *     [mescd, scd] = daedalus_mex('score', what, parameters, y, yref, atol, rtol)
 *     r     = daedalus_mex('gradient' | 'fit' | 'optimize' | 'steady' | 'branch' | 'periodic', what, parameters, options, o)
 *
 * parameters, options and settings are cells {name, value, ...} of strings. An error in a function of the interpreter is
 * trapped, ends the run like any other failure, and r.failure is the call that raised it: nothing jumps over the library. */
#include <daedalus/experiment.h>
#include <daedalus/integrator.h>
#include <daedalus/optimize.h>
#include <daedalus/problem.h>
#include <daedalus/steady.h>
#include <math.h>
#include <mex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { max_pairs = 64, max_cached = 8 };
static const double pi = 3.14159265358979323846;

/* ---- Numbers that grow ----------------------------------------------------------------------------- */

typedef struct numbers {
    double *a;
    size_t count, room;
} numbers;

static int append(numbers *v, const double *x, size_t n)
{
    if (v->count + n > v->room) {
        size_t room = 2 * v->room + n + 64;
        double *a = realloc(v->a, room * sizeof *a);
        if (!a) return -1;
        v->a = a;
        v->room = room;
    }
    if (n) memcpy(v->a + v->count, x, n * sizeof *x);
    v->count += n;
    return 0;
}

static mxArray *matrix(const double *x, size_t rows, size_t columns)
{
    mxArray *m = mxCreateDoubleMatrix((mwSize)rows, (mwSize)columns, mxREAL);
    if (rows && columns) memcpy(mxGetPr(m), x, rows * columns * sizeof *x);
    return m;
}

static mxArray *by_points(const numbers *v, size_t rows)
{
    return matrix(v->a, rows, rows ? v->count / rows : 0);
}

/* ---- What is handed in ------------------------------------------------------------------------------- */

static const mxArray *field(const mxArray *s, const char *name) /* NULL: not there, or empty */
{
    const mxArray *x = mxGetField(s, 0, name);
    return x && !mxIsEmpty(x) ? x : NULL;
}

static double number(const mxArray *s, const char *name, double otherwise)
{
    const mxArray *x = field(s, name);
    return x ? mxGetScalar(x) : otherwise;
}

static const double *vector(const mxArray *s, const char *name, size_t n)
{
    const mxArray *x = field(s, name);
    if (!x) return NULL;
    if (!mxIsDouble(x) || mxIsSparse(x) || mxGetNumberOfElements(x) != n)
        mexErrMsgIdAndTxt("daedalus:input", "daedalus_mex: %s must have %d numbers", name, (int)n);
    return mxGetPr(x);
}

/* Texts live until the MEX function returns: mxArrayToString takes memory of the interpreter. */
static const char *text(const mxArray *x, const char *what)
{
    char *s = x && mxIsChar(x) ? mxArrayToString(x) : NULL;
    if (!s) mexErrMsgIdAndTxt("daedalus:input", "daedalus_mex: %s must be a string", what);
    return s;
}

typedef struct pairs {
    dae_setting a[max_pairs];
    int count;
} pairs;

static void read_pairs(const mxArray *cell, pairs *out)
{
    out->count = 0;
    if (!cell || mxIsEmpty(cell)) return;
    size_t n = mxIsCell(cell) ? mxGetNumberOfElements(cell) : 1;
    if (n % 2 || n / 2 > max_pairs)
        mexErrMsgIdAndTxt("daedalus:input", "daedalus_mex: expected a cell {name, value, ...}");
    for (size_t i = 0; i < n; i += 2) {
        out->a[out->count].name = text(mxGetCell(cell, (mwIndex)i), "a name");
        out->a[out->count++].value = text(mxGetCell(cell, (mwIndex)(i + 1)), "a value");
    }
}

static void set_options(dae_options *o, const mxArray *cell)
{
    pairs p;
    dae_error err = {0};
    read_pairs(cell, &p);
    for (int i = 0; i < p.count; i++) {
        if (dae_options_set(o, p.a[i].name, p.a[i].value, &err) < 0)
            mexErrMsgIdAndTxt("daedalus:input", "daedalus: %s", err.text);
    }
}

/* ---- One run of the interpreter's functions ------------------------------------------------------------ */

typedef struct run {
    int n, nevent, ide;
    const mxArray *f, *jacobian, *event, *output;
    /* the call that raised an error: {function, t, y[, yp]}, kept until the library has returned */
    mxArray *failure;
    int failure_count;
    char text[300]; /* or what is wrong with what a function returned */
    int stopped;    /* the output function said so */
    dae_pattern pattern;
    int *index, *colptr, *rowind, *mass_colptr, *mass_rowind, *nonnegative;
    dae_event *events;
    numbers t, y, te, ye, ie, pieces, values;
    double *work;
    dae_integrator *it;
    struct run *next; /* those under way: what an interrupt left behind is freed at the end */
} run;

static run *live;

static void run_close(run *r)
{
    for (run **p = &live; *p; p = &(*p)->next) {
        if (*p != r) continue;
        *p = r->next;
        break;
    }
    dae_integrator_destroy(r->it);
    numbers *v[] = {&r->t, &r->y, &r->te, &r->ye, &r->ie, &r->pieces, &r->values};
    for (size_t i = 0; i < sizeof v / sizeof *v; i++) free(v[i]->a);
    free(r->index);
    free(r->colptr);
    free(r->rowind);
    free(r->mass_colptr);
    free(r->mass_rowind);
    free(r->nonnegative);
    free(r->events);
    free(r->work);
    free(r);
}

/* feval(function, t, y[, yp]) with `count` results in out; 0, or -1 with the call kept that failed: Octave's exception does not
 * tell the error, so that the call is made again where the error may go its way. yp NULL: two arguments. */
static int call(run *r, const mxArray *function, double t, const double *y, const double *yp, int count,
                mxArray *out[])
{
    if (r->failure || r->text[0]) return -1;
    mxArray *in[4] = {mxDuplicateArray(function), mxCreateDoubleScalar(t), matrix(y, (size_t)r->n, 1), NULL};
    int nin = 3;
    if (yp) in[nin++] = matrix(yp, (size_t)r->n, 1);
    for (int i = 0; i < count; i++) out[i] = NULL;
    mxArray *exception = mexCallMATLABWithTrap(count, out, nin, in, "feval");
    if (exception) {
        mxDestroyArray(exception);
        r->failure = mxCreateCellMatrix(1, (mwSize)nin);
        r->failure_count = count;
        for (int i = 0; i < nin; i++) mxSetCell(r->failure, (mwIndex)i, in[i]);
        return -1;
    }
    for (int i = 0; i < nin; i++) mxDestroyArray(in[i]);
    return 0;
}

static int refuse(run *r, const char *what, const mxArray *x, const char *expected)
{
    snprintf(r->text, sizeof r->text, "%s returned %s%s of size %d x %d, expected %s", what,
             x && mxIsComplex(x) ? "complex " : "", x ? mxGetClassName(x) : "nothing", x ? (int)mxGetM(x) : 0,
             x ? (int)mxGetN(x) : 0, expected);
    return -1;
}

/* A vector of n real numbers; takes x. */
static int take_vector(run *r, const char *what, mxArray *x, int n, double *out)
{
    char expected[60];
    int good = x && (mxIsDouble(x) || mxIsLogical(x)) && !mxIsComplex(x) && !mxIsSparse(x) &&
               mxGetNumberOfElements(x) == (size_t)n;
    snprintf(expected, sizeof expected, "%d real numbers of class double", n);
    if (!good) refuse(r, what, x, expected);
    else if (mxIsLogical(x))
        for (int i = 0; i < n; i++) out[i] = mxGetLogicals(x)[i];
    else memcpy(out, mxGetPr(x), (size_t)n * sizeof *out);
    if (x) mxDestroyArray(x);
    return good ? 0 : -1;
}

static int evaluate(double t, const double *y, double *f, void *user)
{
    run *r = user;
    mxArray *out[1];
    if (call(r, r->f, t, y, NULL, 1, out)) return -1;
    return take_vector(r, "the right-hand side", out[0], r->n, f);
}

static int evaluate_residual(double t, const double *y, const double *yp, double *f, void *user)
{
    run *r = user;
    mxArray *out[1];
    if (call(r, r->f, t, y, yp, 1, out)) return -1;
    return take_vector(r, "the residual", out[0], r->n, f);
}

/* ---- Jacobians ------------------------------------------------------------------------------------------ */

/* Where entry (i, j) lies in the pattern; -1: outside. */
static long place(const run *r, int i, int j)
{
    if (r->pattern.storage == DAE_DENSE) return i + (long)j * r->n;
    for (int k = r->colptr[j]; k < r->colptr[j + 1]; k++) {
        if (r->rowind[k] == i) return k;
    }
    return -1;
}

static int put(run *r, int i, int j, double x, double *jac)
{
    long k = place(r, i, j);
    if (k >= 0) jac[k] = x;
    else if (x != 0)
        snprintf(r->text, sizeof r->text,
                 "the Jacobian has an entry at (%d, %d), which the pattern does not: give JPattern", i + 1,
                 j + 1);
    return r->text[0] ? -1 : 0;
}

/* An n x n matrix, full or sparse, into the layout of the pattern; takes x. */
static int take_matrix(run *r, mxArray *x, double *jac)
{
    size_t n = (size_t)r->n;
    int bad = 0;
    if (!x || !mxIsDouble(x) || mxIsComplex(x) || mxGetM(x) != n || mxGetN(x) != n)
        bad = refuse(r, "the Jacobian", x, "a real square matrix");
    else if (mxIsSparse(x)) {
        const mwIndex *jc = mxGetJc(x), *ir = mxGetIr(x);
        for (int j = 0; j < r->n && !bad; j++) {
            for (mwIndex k = jc[j]; k < jc[j + 1] && !bad; k++)
                bad = put(r, (int)ir[k], j, mxGetPr(x)[k], jac);
        }
    } else {
        for (int j = 0; j < r->n && !bad; j++) {
            for (int i = 0; i < r->n && !bad; i++)
                bad = put(r, i, j, mxGetPr(x)[(size_t)i + (size_t)j * n], jac);
        }
    }
    if (x) mxDestroyArray(x);
    return bad;
}

static int jacobian(double t, const double *y, double *jac, void *user)
{
    run *r = user;
    mxArray *out[1];
    if (call(r, r->jacobian, t, y, NULL, 1, out)) return -1;
    return take_matrix(r, out[0], jac);
}

/* [dF/dy, dF/dy']: the one that is wanted. */
static int residual_jacobian(run *r, int which, double t, const double *y, const double *yp, double *jac)
{
    mxArray *out[2];
    if (call(r, r->jacobian, t, y, yp, 2, out)) return -1;
    if (out[1 - which]) mxDestroyArray(out[1 - which]);
    return take_matrix(r, out[which], jac);
}

static int residual_dfdy(double t, const double *y, const double *yp, double *jac, void *user)
{
    return residual_jacobian(user, 0, t, y, yp, jac);
}

static int residual_dfdyp(double t, const double *y, const double *yp, double *jac, void *user)
{
    return residual_jacobian(user, 1, t, y, yp, jac);
}

static int *indices(const mwIndex *x, size_t n)
{
    int *a = malloc((n + 1) * sizeof *a);
    for (size_t i = 0; a && i < n; i++) a[i] = (int)x[i];
    return a;
}

/* JPattern: a sparse matrix. */
static int read_pattern(run *r, const mxArray *spec)
{
    const mxArray *x = field(spec, "pattern");
    if (!x) return 0;
    const mwIndex *jc = mxGetJc(x);
    r->colptr = indices(jc, (size_t)r->n + 1);
    r->rowind = indices(mxGetIr(x), (size_t)jc[r->n]);
    if (!r->colptr || !r->rowind) return -1;
    r->pattern = (dae_pattern){.storage = DAE_SPARSE, .colptr = r->colptr, .rowind = r->rowind};
    return 0;
}

/* ---- Output, events, dense output ------------------------------------------------------------------------ */

static int on_output(double t, const double *y, int n, void *user)
{
    run *r = user;
    if (append(&r->t, &t, 1) || append(&r->y, y, (size_t)n)) return -1;
    if (!r->output) return 0;
    mxArray *out[1];
    if (call(r, r->output, t, y, NULL, 1, out)) return -1;
    r->stopped = out[0] && !mxIsEmpty(out[0]) && mxGetScalar(out[0]) != 0;
    if (out[0]) mxDestroyArray(out[0]);
    return r->stopped ? -1 : 0;
}

static int switching(double t, const double *y, const double *yp, double *phi, void *user)
{
    run *r = user;
    mxArray *out[3]; /* all three are asked for: an event function may insist */
    if (call(r, r->event, t, y, r->ide ? yp : NULL, 3, out)) return -1;
    for (int i = 1; i < 3; i++) {
        if (out[i]) mxDestroyArray(out[i]);
    }
    return take_vector(r, "the event function", out[0], r->nevent, phi);
}

static int keep_event(run *r, int i, double t, const double *y)
{
    double k = i + 1;
    return append(&r->ie, &k, 1) || append(&r->te, &t, 1) || append(&r->ye, y, (size_t)r->n) ? -1 : 0;
}

static int on_event(int i, double t, int rising, double *y, double *yp, void *user)
{
    (void)rising;
    (void)yp;
    return keep_event(user, i, t, y) ? -1 : DAE_EVENT_GO_ON;
}

/* A piece of the solution: its values at the points from + (to - from) (1 - cos(k pi/degree))/2. */
static int on_piece(dae_integrator *it, double from, double to, int degree, void *user)
{
    run *r = user;
    double head[3] = {from, to, degree};
    int bad = append(&r->pieces, head, 3);
    for (int k = 0; k <= degree && !bad; k++) {
        double t = k == 0 ? from : k == degree ? to : from + (to - from) * (1 - cos(k * pi / degree)) / 2;
        bad = dae_integrator_interpolate(it, t, r->work, NULL) < 0 ||
              append(&r->values, r->work, (size_t)r->n) < 0;
    }
    return bad ? -1 : 0;
}

/* ---- solve: from the specification to the integrator ------------------------------------------------------- */

static int *whole(const mxArray *s, const char *name, int *count, int shift)
{
    const mxArray *x = field(s, name);
    size_t n = x ? mxGetNumberOfElements(x) : 0;
    int *a = n ? malloc(n * sizeof *a) : NULL;
    for (size_t i = 0; a && i < n; i++) a[i] = (int)mxGetPr(x)[i] - shift;
    *count = a ? (int)n : 0;
    return a;
}

static int read_mass(const mxArray *spec, run *r, dae_matrix *mass)
{
    const mxArray *x = field(spec, "mass");
    if (!x) return 0;
    if (!mxIsSparse(x)) {
        *mass = dae_dense(r->n, mxGetPr(x));
        return 0;
    }
    const mwIndex *jc = mxGetJc(x);
    r->mass_colptr = indices(jc, (size_t)r->n + 1);
    r->mass_rowind = indices(mxGetIr(x), (size_t)jc[r->n]);
    if (!r->mass_colptr || !r->mass_rowind) return -1;
    *mass = dae_sparse(r->n, r->mass_colptr, r->mass_rowind, mxGetPr(x));
    return 0;
}

static int read_system(const mxArray *spec, run *r, dae_system *sys)
{
    const char *kind = text(field(spec, "kind"), "kind");
    int count, bad = 0;
    r->f = field(spec, "f");
    r->jacobian = field(spec, "jacobian");
    if (read_pattern(r, spec)) return -1;
    r->index = whole(spec, "index", &count, 0);
    if (!strcmp(kind, "ide")) {
        sys->kind = DAE_KIND_IDE;
        sys->ide = (dae_ide){.n = r->n, .residual = evaluate_residual, .user = r};
        if (r->jacobian) {
            sys->ide.dfdy = residual_dfdy;
            sys->ide.dfdyp = residual_dfdyp;
        }
        r->ide = 1;
    } else if (!strcmp(kind, "dae")) {
        sys->kind = DAE_KIND_DAE;
        sys->dae = (dae_dae){.n = r->n, .f = evaluate, .jac = r->jacobian ? jacobian : NULL, .user = r};
        bad = read_mass(spec, r, &sys->dae.mass);
    } else {
        sys->kind = DAE_KIND_ODE;
        sys->ode = (dae_ode){.n = r->n, .f = evaluate, .jac = r->jacobian ? jacobian : NULL, .user = r};
    }
    sys->structure.jacobian = r->pattern;
    if (number(spec, "no_velocities", 0) != 0) {
        sys->structure.no_velocities = 1;
        sys->structure.second_order = r->n / 2;
    }
    sys->structure.index = count == r->n ? r->index : NULL;
    return bad;
}

static dae_status set_events(const mxArray *spec, run *r, dae_error *err)
{
    r->event = field(spec, "events");
    if (!r->event) return DAE_OK;
    r->nevent = (int)mxGetNumberOfElements(field(spec, "terminal"));
    const double *terminal = vector(spec, "terminal", (size_t)r->nevent);
    const double *direction = vector(spec, "direction", (size_t)r->nevent);
    r->events = calloc((size_t)r->nevent, sizeof *r->events);
    if (!r->events) return DAE_ERR_MEMORY;
    for (int i = 0; i < r->nevent; i++) {
        r->events[i].terminal = terminal[i] != 0;
        r->events[i].direction = direction[i] > 0 ? DAE_RISING : direction[i] < 0 ? DAE_FALLING : DAE_BOTH;
    }
    dae_events e = {.count = r->nevent, .event = r->events, .phi = switching, .action = on_event, .user = r};
    return dae_integrator_set_events(r->it, &e, err);
}

static dae_status prepare(const mxArray *spec, run *r, dae_error *err)
{
    const mxArray *times = field(spec, "times");
    dae_output out = {.mode = DAE_OUTPUT_STEPS, .count = (int)number(spec, "refine", 1)};
    if (times) out.mode = DAE_OUTPUT_TIMES, out.times = mxGetPr(times);
    if (times) out.ntimes = (int)mxGetNumberOfElements(times);
    out.write = on_output;
    out.user = r;
    r->output = field(spec, "output");
    dae_status s = dae_integrator_set_output(r->it, &out, err);
    if (s >= 0) s = set_events(spec, r, err);
    if (number(spec, "dense", 0) != 0) dae_integrator_set_pieces(r->it, on_piece, r);
    return s;
}

static dae_status integrate(const mxArray *spec, run *r, dae_options *o, dae_error *err)
{
    dae_system sys = {0};
    double t0 = number(spec, "t0", 0), t_end = number(spec, "t_end", 1);
    const double *y0 = vector(spec, "y0", (size_t)r->n), *yp0 = vector(spec, "yp0", (size_t)r->n);
    int bad = read_system(spec, r, &sys);
    r->work = malloc(((size_t)r->n + 1) * sizeof *r->work);
    r->nonnegative = whole(spec, "nonnegative", &o->nnonnegative, 1);
    o->nonnegative = r->nonnegative;
    if (!bad && r->work) r->it = dae_integrator_create(&sys, o, err);
    if (!r->it) return err->status < 0 ? err->status : DAE_ERR_MEMORY;
    dae_status s = prepare(spec, r, err);
    if (s >= 0) s = dae_integrator_start(r->it, t0, t_end, y0, yp0, err);
    if (s >= 0) s = dae_integrator_advance(r->it, t_end, err);
    if (s == DAE_EVENT) { /* stopped before any action: the terminal one is only recorded */
        int count;
        const dae_event_record *e = dae_integrator_events(r->it, &count);
        for (int i = (int)r->te.count; i < count; i++)
            keep_event(r, e[i].index, e[i].t, dae_integrator_state(r->it));
    }
    return s;
}

/* ---- What comes out ------------------------------------------------------------------------------------------ */

static void set(mxArray *s, const char *name, mxArray *value)
{
    mxAddField(s, name);
    mxSetField(s, 0, name, value);
}

static mxArray *stats_struct(const dae_stats *s)
{
    mxArray *m = mxCreateStructMatrix(1, 1, 0, NULL);
    const struct {
        const char *name;
        double value;
    } list[] = {{"nsteps", (double)s->accepted},
                {"nfailed", (double)(s->rejected + s->newton_failures)},
                {"nfevals", (double)(s->f + s->f_jac)},
                {"npds", (double)s->jac},
                {"ndecomps", (double)s->lu},
                {"nsolves", (double)s->solves},
                {"attempts", (double)s->steps},
                {"events", (double)s->events},
                {"restarts", (double)s->restarts},
                {"order_last", s->order_last},
                {"h_last", s->h_last},
                {"h_smallest", s->h_smallest},
                {"h_largest", s->h_largest},
                {"cpu_seconds", s->cpu_seconds},
                {"position_residual", s->position_residual},
                {"velocity_residual", s->velocity_residual},
                {"acceleration_residual", s->acceleration_residual}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        set(m, list[i].name, mxCreateDoubleScalar(list[i].value));
    return m;
}

static void put_status(mxArray *m, dae_status s, const char *message)
{
    set(m, "status", mxCreateDoubleScalar(s));
    set(m, "status_name", mxCreateString(dae_status_name(s)));
    set(m, "message", mxCreateString(message));
}

static mxArray *answer(const run *r, dae_status s, const dae_error *err)
{
    size_t n = (size_t)r->n;
    mxArray *m = mxCreateStructMatrix(1, 1, 0, NULL);
    const char *message = r->text[0] ? r->text : err->text[0] ? err->text : s < 0 ? dae_status_text(s) : "";
    put_status(m, s, message);
    set(m, "t", by_points(&r->t, 1));
    set(m, "y", by_points(&r->y, n));
    set(m, "te", by_points(&r->te, 1));
    set(m, "ye", by_points(&r->ye, n));
    set(m, "ie", by_points(&r->ie, 1));
    set(m, "pieces", by_points(&r->pieces, 3));
    set(m, "values", by_points(&r->values, n));
    set(m, "stopped", mxCreateDoubleScalar(r->stopped));
    set(m, "wrong", mxCreateDoubleScalar(r->text[0] != 0));
    set(m, "failure_count", mxCreateDoubleScalar(r->failure_count));
    if (r->failure) set(m, "failure", mxDuplicateArray(r->failure));
    if (!r->it) return m;
    set(m, "stats", stats_struct(dae_integrator_stats(r->it)));
    set(m, "solver", mxCreateString(dae_integrator_method(r->it)->name));
    set(m, "reason", mxCreateString(dae_integrator_reason(r->it)));
    if (!r->t.count) return m;
    set(m, "t_last", mxCreateDoubleScalar(dae_integrator_time(r->it)));
    set(m, "y_last", matrix(dae_integrator_state(r->it), n, 1));
    return m;
}

static void command_solve(mxArray **out, int nin, const mxArray *in[])
{
    if (nin != 1 || !mxIsStruct(in[0]) || !field(in[0], "y0"))
        mexErrMsgIdAndTxt("daedalus:input", "daedalus_mex solve: expected a specification");
    pairs settings;
    dae_options o = dae_options_default();
    dae_error err = {0};
    size_t n = mxGetNumberOfElements(field(in[0], "y0"));
    set_options(&o, field(in[0], "options"));
    read_pairs(field(in[0], "settings"), &settings);
    o.setting = settings.a;
    o.nsetting = settings.count;
    o.rtol_vec = vector(in[0], "rtol_vec", n);
    o.atol_vec = vector(in[0], "atol_vec", n);
    const mxArray *d = field(in[0], "discontinuity");
    if (d) o.discontinuity = mxGetPr(d), o.ndiscontinuity = (int)mxGetNumberOfElements(d);
    run *r = calloc(1, sizeof *r);
    if (!r) mexErrMsgIdAndTxt("daedalus:memory", "daedalus: out of memory");
    r->n = (int)n;
    r->next = live;
    live = r;
    mexLock(); /* `clear all` in a function of the user must not unload what is running */
    dae_status s = integrate(in[0], r, &o, &err);
    mexUnlock();
    out[0] = answer(r, s, &err);
    if (r->failure) mxDestroyArray(r->failure);
    run_close(r);
}

/* ---- Problems -------------------------------------------------------------------------------------------------- */

/* Those that were asked for last stay open, so that minterface does not build one per evaluation. */
static struct cached {
    char *key;
    dae_problem *problem;
} cache[max_cached];
static int next_cached;

static void forget(struct cached *c)
{
    dae_problem_destroy(c->problem);
    free(c->key);
    *c = (struct cached){0};
}

static void at_exit(void)
{
    for (int i = 0; i < max_cached; i++) forget(&cache[i]);
    while (live) run_close(live);
}

static char *cache_key(const char *what, const pairs *p)
{
    size_t size = strlen(what) + 1;
    for (int i = 0; i < p->count; i++) size += strlen(p->a[i].name) + strlen(p->a[i].value) + 2;
    char *key = malloc(size);
    if (!key) return NULL;
    strcpy(key, what);
    for (int i = 0; i < p->count; i++) {
        strcat(strcat(key, "\n"), p->a[i].name);
        strcat(strcat(key, "\n"), p->a[i].value);
    }
    return key;
}

static dae_problem *open_problem(const mxArray *name, const mxArray *parameters)
{
    const char *what = text(name, "the problem");
    dae_error err = {0};
    pairs p;
    read_pairs(parameters, &p);
    char *key = cache_key(what, &p);
    int file = dae_problem_is_file(what); /* a file may have changed since */
    for (int i = 0; key && i < max_cached && !file; i++) {
        if (!cache[i].key || strcmp(cache[i].key, key) != 0) continue;
        free(key);
        return cache[i].problem;
    }
    dae_problem *problem = key ? dae_problem_open(what, p.a, p.count, &err) : NULL;
    if (!problem) {
        free(key);
        mexErrMsgIdAndTxt("daedalus:input", "daedalus: %s", err.text);
    }
    struct cached *c = &cache[next_cached];
    next_cached = (next_cached + 1) % max_cached;
    forget(c);
    *c = (struct cached){key, problem};
    return problem;
}

static mxArray *names_cell(const dae_problem *p, int units)
{
    int n = dae_system_size(&p->system);
    mxArray *cell = mxCreateCellMatrix(1, (mwSize)n);
    char buffer[32];
    for (int i = 0; i < n; i++) {
        const char *s = units ? dae_component_unit(p, i) : dae_component_name(p, i, buffer, sizeof buffer);
        mxSetCell(cell, (mwIndex)i, mxCreateString(s));
    }
    return cell;
}

static mxArray *optional(const double *x, int n)
{
    return matrix(x, x ? (size_t)n : 0, x ? 1 : 0);
}

static mxArray *from_ints(const int *x, int n)
{
    mxArray *m = mxCreateDoubleMatrix((mwSize)(x ? n : 0), (mwSize)(x ? 1 : 0), mxREAL);
    for (int i = 0; x && i < n; i++) mxGetPr(m)[i] = x[i];
    return m;
}

/* Half-bandwidths in the manner of the test set: n where the matrix is full. */
static void put_bands(mxArray *m, const char *lower, const char *upper, const dae_pattern *q, int n)
{
    int banded = q->storage == DAE_BANDED, diagonal = q->storage == DAE_DIAGONAL;
    set(m, lower, mxCreateDoubleScalar(banded ? q->lower : diagonal ? 0 : n));
    set(m, upper, mxCreateDoubleScalar(banded ? q->upper : diagonal ? 0 : n));
}

static void put_structure(mxArray *m, const dae_problem *p, int n)
{
    const dae_system *s = &p->system;
    int analytic = s->kind == DAE_KIND_ODE   ? s->ode.jac != NULL
                   : s->kind == DAE_KIND_DAE ? s->dae.jac != NULL
                   : s->kind == DAE_KIND_IDE ? s->ide.dfdy != NULL
                                             : 0;
    static const dae_pattern dense;
    static const dae_pattern identity = {.storage = DAE_DIAGONAL};
    set(m, "kind", mxCreateString(dae_kind_name(s->kind)));
    set(m, "numjac", mxCreateLogicalScalar(!analytic));
    set(m, "nummas", mxCreateLogicalScalar(s->kind == DAE_KIND_IDE && !s->ide.dfdyp));
    put_bands(m, "mljac", "mujac", &s->structure.jacobian, n);
    put_bands(m, "mlmas", "mumas",
              s->kind == DAE_KIND_DAE   ? (s->dae.mass.n ? &s->dae.mass.pattern : &identity)
              : s->kind == DAE_KIND_ODE ? &identity
              : s->kind == DAE_KIND_IDE ? &s->structure.jacobian
                                        : &dense,
              n);
    set(m, "index", from_ints(s->structure.index, n));
}

static void command_problem(mxArray **out, int nin, const mxArray *in[])
{
    const dae_problem *p = open_problem(in[0], nin > 1 ? in[1] : NULL);
    int n = dae_system_size(&p->system);
    mxArray *m = mxCreateStructMatrix(1, 1, 0, NULL);
    set(m, "name", mxCreateString(p->info ? p->info->name : "system"));
    set(m, "title", mxCreateString(p->info ? p->info->title : ""));
    set(m, "n", mxCreateDoubleScalar(n));
    set(m, "t0", mxCreateDoubleScalar(p->t0));
    set(m, "t_end", mxCreateDoubleScalar(p->t_end));
    set(m, "discontinuity", optional(p->ndiscontinuity ? p->discontinuity : NULL, p->ndiscontinuity));
    set(m, "y0", optional(p->y0, n));
    set(m, "yp0", optional(p->yp0, n));
    set(m, "rtol", mxCreateDoubleScalar(p->rtol));
    set(m, "atol", mxCreateDoubleScalar(p->atol));
    set(m, "rtol_factor", optional(p->rtol_factor, n));
    set(m, "atol_factor", optional(p->atol_factor, n));
    set(m, "reference", optional(p->reference, n));
    set(m, "names", names_cell(p, 0));
    set(m, "units", names_cell(p, 1));
    set(m, "plot", from_ints(p->plot, p->nplot));
    put_structure(m, p, n);
    out[0] = m;
}

static const double *state(const mxArray *x, int n, const char *what)
{
    if (!x || !mxIsDouble(x) || mxIsSparse(x) || mxGetNumberOfElements(x) != (size_t)n)
        mexErrMsgIdAndTxt("daedalus:input", "daedalus: %s must have %d numbers", what, n);
    return mxGetPr(x);
}

/* A matrix of the library as IV.3 of the test set report stores it: bands, a row for diagonals, else full. */
static mxArray *stored(const dae_pattern *q, int n, const double *a)
{
    int rows = q->storage == DAE_BANDED ? q->lower + q->upper + 1 : q->storage == DAE_DIAGONAL ? 1 : n;
    mxArray *m = mxCreateDoubleMatrix((mwSize)rows, (mwSize)n, mxREAL);
    double *b = mxGetPr(m);
    if (q->storage != DAE_SPARSE) {
        memcpy(b, a, (size_t)rows * (size_t)n * sizeof *a);
        return m;
    }
    for (int j = 0; j < n; j++) {
        for (int k = q->colptr[j]; k < q->colptr[j + 1]; k++) b[q->rowind[k] + (long)j * n] = a[k];
    }
    return m;
}

static int jacobian_values(const dae_system *s, char which, double t, const double *y, const double *yp,
                           double *a)
{
    if (s->kind == DAE_KIND_ODE) return s->ode.jac ? s->ode.jac(t, y, a, s->ode.user) : 1;
    if (s->kind == DAE_KIND_DAE) return s->dae.jac ? s->dae.jac(t, y, a, s->dae.user) : 1;
    dae_residual_jac *fn = which == 'j' ? s->ide.dfdy : s->ide.dfdyp;
    return fn ? fn(t, y, yp, a, s->ide.user) : 1;
}

static mxArray *jacobian_matrix(const dae_system *s, char which, double t, const double *y, const double *yp,
                                int *status)
{
    int n = dae_system_size(s);
    double *a = calloc((size_t)dae_pattern_count(&s->structure.jacobian, n) + 1, sizeof *a);
    if (!a) mexErrMsgIdAndTxt("daedalus:memory", "daedalus: out of memory");
    *status = jacobian_values(s, which, t, y, yp, a);
    mxArray *m = stored(&s->structure.jacobian, n, a);
    free(a);
    return m;
}

static mxArray *mass_matrix(const dae_system *s, int n)
{
    if (s->kind == DAE_KIND_DAE && s->dae.mass.n) return stored(&s->dae.mass.pattern, n, s->dae.mass.a);
    mxArray *m = mxCreateDoubleMatrix(1, (mwSize)n, mxREAL);
    for (int i = 0; i < n; i++) mxGetPr(m)[i] = 1;
    return m;
}

static mxArray *function_value(const dae_system *s, double t, const double *y, const double *yp, int *status)
{
    mxArray *m = mxCreateDoubleMatrix((mwSize)dae_system_size(s), 1, mxREAL);
    double *f = mxGetPr(m);
    *status = s->kind == DAE_KIND_ODE   ? s->ode.f(t, y, f, s->ode.user)
              : s->kind == DAE_KIND_DAE ? s->dae.f(t, y, f, s->dae.user)
                                        : s->ide.residual(t, y, yp, f, s->ide.user);
    return m;
}

/* feval, jeval, meval at (t, y, yp); the second result is 0, or what the functions of the problem returned. */
static void command_eval(char which, mxArray **out, int nout, int nin, const mxArray *in[])
{
    if (nin < 4) mexErrMsgIdAndTxt("daedalus:input", "daedalus_mex: too few arguments");
    const dae_problem *p = open_problem(in[0], in[1]);
    const dae_system *s = &p->system;
    int n = dae_system_size(s), status = 0;
    double t = mxGetScalar(in[2]);
    const double *y = state(in[3], n, "Y"), *yp = NULL;
    if (s->kind == DAE_KIND_IDE) yp = state(nin > 4 ? in[4] : NULL, n, "YP");
    if (s->kind == DAE_KIND_MECH)
        mexErrMsgIdAndTxt(
            "daedalus:unsupported",
            "daedalus: %s is a mechanical system in descriptor form, which this interface has no "
            "words for; daedalus_run takes it",
            p->info ? p->info->name : "this");
    if (which == 'f') out[0] = function_value(s, t, y, yp, &status);
    else if (which == 'm' && s->kind != DAE_KIND_IDE) out[0] = mass_matrix(s, n);
    else out[0] = jacobian_matrix(s, which, t, y, yp, &status);
    if (nout > 1) out[1] = mxCreateDoubleScalar(status);
}

static void command_score(mxArray **out, int nout, int nin, const mxArray *in[])
{
    if (nin < 6) mexErrMsgIdAndTxt("daedalus:input", "daedalus_mex: too few arguments");
    const dae_problem *p = open_problem(in[0], in[1]);
    int n = dae_system_size(&p->system);
    const double *y = state(in[2], n, "Y"), *reference = mxIsEmpty(in[3]) ? NULL : state(in[3], n, "YREF");
    dae_options o = dae_options_default();
    o.atol = mxGetScalar(in[4]);
    o.rtol = mxGetScalar(in[5]);
    if (mxGetNumberOfElements(in[4]) == (size_t)n) o.atol_vec = mxGetPr(in[4]);
    if (mxGetNumberOfElements(in[5]) == (size_t)n) o.rtol_vec = mxGetPr(in[5]);
    dae_score score = dae_problem_score(p, &o, reference, y);
    out[0] = mxCreateDoubleScalar(score.mescd);
    if (nout > 1) out[1] = mxCreateDoubleScalar(score.scd);
}

/* ---- run ----------------------------------------------------------------------------------------------------------- */

static void put_events(mxArray *m, const dae_run_result *r)
{
    numbers t = {0}, i = {0};
    mxArray *names = mxCreateCellMatrix(1, (mwSize)r->nevent);
    for (int k = 0; k < r->nevent; k++) {
        double index = r->event[k].index + 1;
        append(&t, &r->event[k].t, 1);
        append(&i, &index, 1);
        const char *name = r->event_name ? r->event_name[r->event[k].index] : NULL;
        mxSetCell(names, (mwIndex)k, mxCreateString(name ? name : ""));
    }
    set(m, "te", by_points(&t, 1));
    set(m, "ie", by_points(&i, 1));
    set(m, "event", names);
    free(t.a);
    free(i.a);
}

static void put_samples(mxArray *m, const dae_run_result *r)
{
    mxArray *t = mxCreateDoubleMatrix(1, (mwSize)r->nat, mxREAL);
    mxArray *y = mxCreateDoubleMatrix((mwSize)r->n, (mwSize)r->nat, mxREAL);
    for (int k = 0; k < r->nat; k++) {
        mxGetPr(t)[k] = r->at[k].t;
        memcpy(mxGetPr(y) + (size_t)k * (size_t)r->n, r->at[k].y, (size_t)r->n * sizeof(double));
    }
    set(m, "at_t", t);
    set(m, "at_y", y);
}

static mxArray *run_answer(const dae_run_result *r)
{
    mxArray *m = mxCreateStructMatrix(1, 1, 0, NULL);
    size_t n = (size_t)r->n;
    put_status(m, r->status, r->error.text);
    set(m, "problem", mxCreateString(r->name));
    set(m, "solver", mxCreateString(r->solver));
    set(m, "formulation", mxCreateString(r->formulation ? r->formulation : ""));
    set(m, "reason", mxCreateString(r->reason));
    set(m, "linear_algebra", mxCreateString(r->linear_algebra));
    set(m, "rtol", mxCreateDoubleScalar(r->rtol));
    set(m, "atol", mxCreateDoubleScalar(r->atol));
    set(m, "t", matrix(r->point_t, 1, (size_t)r->npoint));
    set(m, "y", matrix(r->point_y, n, (size_t)r->npoint));
    set(m, "t_last", mxCreateDoubleScalar(r->started ? r->last.t : r->t0));
    set(m, "y_last", matrix(r->last.y, r->started ? n : 0, r->started ? 1 : 0));
    set(m, "scd", mxCreateDoubleScalar(r->scd));
    set(m, "mescd", mxCreateDoubleScalar(r->mescd));
    set(m, "stats", stats_struct(&r->stats));
    set(m, "names", names_cell(r->problem, 0));
    set(m, "units", names_cell(r->problem, 1));
    put_samples(m, r);
    put_events(m, r);
    if (r->sensitivity_end) {
        size_t by = (size_t)r->nsensitivity, points = (size_t)r->npoint;
        mwSize size[] = {(mwSize)n, (mwSize)by, (mwSize)points};
        mxArray *s = mxCreateNumericArray(3, size, mxDOUBLE_CLASS, mxREAL);
        if (points) memcpy(mxGetPr(s), r->point_s, n * by * points * sizeof(double));
        set(m, "sensitivity", s);
        set(m, "sensitivity_last", matrix(r->sensitivity_end, n, by));
        if (r->derived_s_end) {
            const dae_derived *d = &r->problem->derived;
            mwSize wide[] = {(mwSize)d->ncolumn, (mwSize)by, (mwSize)points};
            mxArray *x = mxCreateNumericArray(3, wide, mxDOUBLE_CLASS, mxREAL),
                    *name = mxCreateCellMatrix(1, (mwSize)d->ncolumn);
            size_t count = (size_t)d->ncolumn * by * points;
            if (count) memcpy(mxGetPr(x), r->point_derived_s, count * sizeof(double));
            for (int i = 0; i < d->ncolumn; i++) mxSetCell(name, (mwIndex)i, mxCreateString(d->column[i]));
            set(m, "derived_names", name);
            set(m, "derived_sensitivity", x);
        }
        set(m, "event_sensitivity", matrix(r->event_s, by, (size_t)r->nevent));
        if (r->sensitivity_total) set(m, "sensitivity_total", matrix(r->sensitivity_total, n, by));
    }
    if (r->integral_end) {
        size_t q = (size_t)r->nintegral;
        set(m, "integral", matrix(r->integral_end, 1, q));
        set(m, "integral_error", matrix(r->integral_error, 1, q));
        if (r->integral_s) set(m, "integral_sensitivity", matrix(r->integral_s, q, (size_t)r->nsensitivity));
    }
    return m;
}

/* The texts of a cell; at most max_pairs. */
static int read_texts(const mxArray *cell, const char *what, const char **out)
{
    size_t n = cell ? mxGetNumberOfElements(cell) : 0;
    if (n > max_pairs) mexErrMsgIdAndTxt("daedalus:input", "daedalus: more than %d %s", max_pairs, what);
    for (size_t i = 0; i < n; i++) out[i] = text(mxGetCell(cell, (mwIndex)i), what);
    return (int)n;
}

/* Lets the interpreter look for Ctrl-C now and then: evaluating a statement is where it does. */
static int on_progress(const dae_integrator *it, double t, double t_end, void *user)
{
    clock_t *last = user;
    (void)it;
    (void)t;
    (void)t_end;
    if (clock() - *last < CLOCKS_PER_SEC / 5) return 0;
    *last = clock();
    return mexEvalString("if (false), end") != 0;
}

static void command_run(mxArray **out, int nin, const mxArray *in[])
{
    if (nin != 4 || !mxIsStruct(in[3]))
        mexErrMsgIdAndTxt("daedalus:input", "daedalus_mex run: expected four arguments");
    const dae_problem *p = open_problem(in[0], in[1]);
    dae_run_options o = dae_run_options_default(p);
    pairs settings;
    dae_error err = {0};
    set_options(&o.options, in[2]);
    if (number(in[3], "keep_ratio", 0) != 0 && p->rtol > 0) /* rtol alone: atol keeps its ratio to it */
        o.options.atol = p->atol * (o.options.rtol / p->rtol);
    read_pairs(field(in[3], "settings"), &settings);
    o.options.setting = settings.a;
    o.options.nsetting = settings.count;
    o.t_end = number(in[3], "t_end", o.t_end);
    const mxArray *at = field(in[3], "at");
    if (at) o.at = mxGetPr(at), o.nat = (int)mxGetNumberOfElements(at);
    double points = number(in[3], "points", 0), refine = number(in[3], "refine", 0);
    o.trajectory = points > 0   ? DAE_TRAJECTORY_EQUIDISTANT
                   : refine > 0 ? DAE_TRAJECTORY_STEPS
                                : DAE_TRAJECTORY_NONE;
    o.points = (int)(points > 0 ? points : refine);
    clock_t last = clock();
    o.progress = on_progress;
    o.progress_user = &last;
    const char *by[max_pairs], *integral[max_pairs];
    o.nintegral = read_texts(field(in[3], "integral"), "integrals", integral);
    o.integral = integral;
    o.nsensitivity = read_texts(field(in[3], "sensitivity"), "names", by);
    o.sensitivity = by;
    dae_run_result *r = dae_run(p, &o, &err);
    if (!r) mexErrMsgIdAndTxt("daedalus:memory", "daedalus: %s", err.text);
    out[0] = run_answer(r);
    dae_run_destroy(r);
}

/* ---- Derivatives: gradients, fits, designs ------------------------------------------------------------------------- */

static void must(dae_status s, const dae_error *err) /* what was taken is given back before */
{
    if (s == DAE_ERR_INPUT || s == DAE_ERR_UNSUPPORTED)
        mexErrMsgIdAndTxt(s == DAE_ERR_INPUT ? "daedalus:input" : "daedalus:unsupported", "daedalus: %s",
                          err->text);
    if (s < 0)
        mexErrMsgIdAndTxt("daedalus:failed", "daedalus: %s", err->text[0] ? err->text : dae_status_text(s));
}

/* G = sum over k of w_k . y(t_k), with the weights of a loss that was evaluated along the solution. */
typedef struct weighted {
    const double *w;
    int n;
} weighted;

static int weighted_sum(int k, double t, const double *y, double *value, double *dy, void *user)
{
    const weighted *x = user;
    (void)t;
    *value = 0;
    for (int i = 0; i < x->n; i++) {
        dy[i] = x->w[(size_t)k * (size_t)x->n + (size_t)i];
        *value += dy[i] * y[i];
    }
    return 0;
}

/* o: names, times, weights (n x times), mode. */
static void command_gradient(mxArray **out, int nin, const mxArray *in[])
{
    if (nin != 4 || !mxIsStruct(in[3]))
        mexErrMsgIdAndTxt("daedalus:input", "daedalus_mex gradient: expected four arguments");
    const dae_problem *p = open_problem(in[0], in[1]);
    dae_gradient_options o = dae_gradient_options_default(p);
    const char *name[max_pairs];
    dae_error err = {0};
    set_options(&o.simulation.options, in[2]);
    int count = read_texts(field(in[3], "names"), "names", name), n = dae_system_size(&p->system);
    const mxArray *times = field(in[3], "times"), *w = field(in[3], "weights"), *mode = field(in[3], "mode");
    if (!times || !w || mxGetNumberOfElements(w) != (size_t)n * mxGetNumberOfElements(times))
        mexErrMsgIdAndTxt("daedalus:input", "daedalus: weights must be %d numbers per time", n);
    weighted x = {mxGetPr(w), n};
    dae_functional G = {
        .at = weighted_sum, .times = mxGetPr(times), .ntimes = (int)mxGetNumberOfElements(times), .user = &x};
    o.simulation.t_end = G.times[G.ntimes - 1];
    if (mode) o.mode = text(mode, "the mode");
    double value;
    mxArray *slope = mxCreateDoubleMatrix(1, (mwSize)count, mxREAL);
    must(dae_gradient(p, &o, &G, name, count, &value, mxGetPr(slope), NULL, &err), &err);
    out[0] = slope;
}

/* o.names, o.free (start, min, max in a row for each). */
static int read_free(const mxArray *o, dae_fit_free *list)
{
    const char *name[max_pairs];
    int count = read_texts(field(o, "names"), "names", name);
    const double *x = vector(o, "free", 3 * (size_t)count);
    for (int j = 0; j < count; j++) list[j] = (dae_fit_free){name[j], x[j], x[count + j], x[2 * count + j]};
    return count;
}

/* One experiment of o.data: a struct with name, settings, and text, or t, columns, value and sd. */
typedef struct measured {
    dae_fit_experiment *read, made;
    const char *column[max_pairs];
    pairs settings;
} measured;

static dae_status read_experiment(const dae_problem *p, const mxArray *d, measured *e, dae_error *err)
{
    const mxArray *csv = field(d, "text"), *t = field(d, "t"), *value = field(d, "value"),
                  *sd = field(d, "sd");
    const char *name = text(field(d, "name"), "the name of an experiment");
    read_pairs(field(d, "settings"), &e->settings);
    if (csv) {
        const char *all = text(csv, "the data");
        e->read = dae_fit_read(p, all, strlen(all), name, e->settings.a, e->settings.count, err);
        return e->read ? DAE_OK : err->status;
    }
    int columns = read_texts(field(d, "columns"), "columns", e->column);
    size_t times = t ? mxGetNumberOfElements(t) : 0, size = times * (size_t)columns;
    if (!value || mxGetNumberOfElements(value) != size || (sd && mxGetNumberOfElements(sd) != size))
        mexErrMsgIdAndTxt("daedalus:input", "daedalus: %s: expected %d columns of %d values", name, columns,
                          (int)times);
    e->made = (dae_fit_experiment){.name = name,
                                   .setting = e->settings.a,
                                   .nsetting = e->settings.count,
                                   .ntime = (int)times,
                                   .ncolumn = columns,
                                   .t = mxGetPr(t),
                                   .column = e->column,
                                   .value = mxGetPr(value),
                                   .sd = sd ? mxGetPr(sd) : NULL};
    return DAE_OK;
}

static int on_fit(const dae_fit_progress *at, void *user)
{
    (void)at;
    return on_progress(NULL, 0, 0, user);
}

static mxArray *fit_answer(const dae_fit_result *r, const dae_fit_free *list, const dae_problem *p,
                           const dae_fit_experiment *const *e)
{
    const char *names[] = {"value", "sd", "lower", "upper", "at_bound"};
    mxArray *m = mxCreateStructMatrix(1, 1, 0, NULL), *column[5];
    size_t n = (size_t)r->count;
    put_status(m, r->status, r->message);
    for (int k = 0; k < 5; k++) column[k] = mxCreateDoubleMatrix(1, (mwSize)n, mxREAL);
    for (size_t j = 0; j < n; j++) {
        const dae_fit_estimate *x = &r->estimate[j];
        const double v[] = {x->value, x->sd, x->lower, x->upper, x->at_bound};
        for (int k = 0; k < 5; k++) mxGetPr(column[k])[j] = v[k];
    }
    for (int k = 0; k < 5; k++) set(m, names[k], column[k]);
    set(m, "correlation", matrix(r->correlation, n, n));
    set(m, "singular_values", matrix(r->singular, 1, n));
    set(m, "rank", mxCreateDoubleScalar(r->rank));
    set(m, "unidentifiable", mxCreateString(r->unidentifiable));
    set(m, "cost", mxCreateDoubleScalar(r->cost));
    set(m, "rms", mxCreateDoubleScalar(r->rms));
    set(m, "noise", mxCreateDoubleScalar(r->noise));
    set(m, "iterations", mxCreateDoubleScalar(r->iterations));
    mxArray *curve = mxCreateCellMatrix(1, (mwSize)r->nexperiment),
            *rest = mxCreateCellMatrix(1, (mwSize)r->nexperiment);
    for (int k = 0; k < r->nexperiment; k++) {
        mxSetCell(curve, (mwIndex)k, matrix(r->model[k], (size_t)e[k]->ntime, (size_t)e[k]->ncolumn));
        mxSetCell(rest, (mwIndex)k, matrix(r->residual[k], (size_t)e[k]->ntime, (size_t)e[k]->ncolumn));
    }
    set(m, "model", curve);
    set(m, "residual", rest);
    char *json = dae_fit_json(r, list, p, e);
    set(m, "json", mxCreateString(json ? json : ""));
    free(json);
    return m;
}

static void command_fit(mxArray **out, int nin, const mxArray *in[])
{
    if (nin != 4 || !mxIsStruct(in[3]))
        mexErrMsgIdAndTxt("daedalus:input", "daedalus_mex fit: expected four arguments");
    const dae_problem *p = open_problem(in[0], in[1]);
    const mxArray *data = field(in[3], "data"), *loss = field(in[3], "loss");
    static measured e[16]; /* nothing runs twice at a time here */
    const dae_fit_experiment *list[16];
    dae_fit_free vary[max_pairs];
    dae_fit_options o = dae_fit_options_default(p);
    dae_error err = {0};
    dae_status s = DAE_OK;
    clock_t last = clock();
    int n = data ? (int)mxGetNumberOfElements(data) : 0, k = 0;
    if (n < 1 || n > 16) mexErrMsgIdAndTxt("daedalus:input", "daedalus: 1 to 16 experiments, not %d", n);
    set_options(&o.sensitivity.simulation.options, in[2]);
    int count = read_free(in[3], vary);
    if (loss) o.loss = text(loss, "the loss");
    o.starts = (int)number(in[3], "starts", 1);
    o.seed = (unsigned long)number(in[3], "seed", 1);
    o.threads = (int)number(in[3], "threads", 1);
    o.max_iterations = (int)number(in[3], "iterations", o.max_iterations);
    o.tolerance = number(in[3], "tolerance", o.tolerance);
    o.intervals = (int)number(in[3], "intervals", 1);
    o.level = number(in[3], "level", o.level);
    if (o.starts == 1) o.progress = on_fit, o.user = &last; /* else threads would ask the interpreter */
    for (; k < n && s >= 0; k++) {
        e[k].read = NULL;
        s = read_experiment(p, mxGetCell(data, (mwIndex)k), &e[k], &err);
        list[k] = e[k].read ? e[k].read : &e[k].made;
    }
    dae_fit_result *r = s >= 0 ? dae_fit(p, vary, count, list, n, &o, &err) : NULL;
    if (r) out[0] = fit_answer(r, vary, p, list);
    else s = err.status < 0 ? err.status : DAE_ERR_INTERNAL;
    dae_fit_destroy(r);
    while (k > 0) dae_fit_experiment_destroy(e[--k].read);
    must(s, &err);
}

static int on_optimize(const dae_optimize_progress *at, void *user)
{
    (void)at;
    return on_progress(NULL, 0, 0, user);
}

static void command_optimize(mxArray **out, int nin, const mxArray *in[])
{
    if (nin != 4 || !mxIsStruct(in[3]))
        mexErrMsgIdAndTxt("daedalus:input", "daedalus_mex optimize: expected four arguments");
    const dae_problem *p = open_problem(in[0], in[1]);
    dae_optimize_options o = dae_optimize_options_default(p);
    dae_fit_free vary[max_pairs];
    const char *subject[max_pairs];
    dae_error err = {0};
    clock_t last = clock();
    set_options(&o.sensitivity.simulation.options, in[2]);
    int count = read_free(in[3], vary);
    o.nsubject = read_texts(field(in[3], "subject"), "conditions", subject);
    o.subject = subject;
    o.global = number(in[3], "global", 0) != 0;
    o.seed = (unsigned long)number(in[3], "seed", 1);
    o.points = (int)number(in[3], "points", o.points);
    o.max_evaluations = (int)number(in[3], "evaluations", o.max_evaluations);
    o.tolerance = number(in[3], "tolerance", o.tolerance);
    o.progress = on_optimize;
    o.user = &last;
    dae_optimize_result *r =
        dae_optimize(p, vary, count, text(field(in[3], "minimize"), "what is minimized"), &o, &err);
    if (!r) must(err.status < 0 ? err.status : DAE_ERR_INTERNAL, &err);
    size_t n = (size_t)r->count;
    mxArray *m = mxCreateStructMatrix(1, 1, 0, NULL);
    put_status(m, r->status, r->message);
    set(m, "value", matrix(r->value, 1, n));
    set(m, "start", matrix(r->start, 1, n));
    set(m, "gradient", matrix(r->gradient, 1, n));
    set(m, "objective", mxCreateDoubleScalar(r->objective));
    set(m, "objective_start", mxCreateDoubleScalar(r->objective_start));
    set(m, "violation", mxCreateDoubleScalar(r->violation));
    set(m, "evaluations", mxCreateDoubleScalar(r->evaluations));
    dae_optimize_destroy(r);
    out[0] = m;
}

/* ---- Steady states and cycles -------------------------------------------------------------------------------------- */

static mxArray *complex_row(const double *re, const double *im, size_t n)
{
    mxArray *m = mxCreateDoubleMatrix(1, (mwSize)n, mxCOMPLEX);
    if (n) memcpy(mxGetPr(m), re, n * sizeof *re), memcpy(mxGetPi(m), im, n * sizeof *im);
    return m;
}

static mxArray *steady_answer(const dae_problem *p, const mxArray *options, const mxArray *o, dae_error *err)
{
    dae_steady_options s = dae_steady_options_default(p);
    set_options(&s.simulation.options, options);
    s.guess = vector(o, "guess", (size_t)dae_system_size(&p->system));
    s.settle = number(o, "settle", 0);
    s.t = number(o, "time", s.t);
    dae_steady_result *r = dae_steady(p, &s, err);
    if (!r) return NULL;
    mxArray *m = mxCreateStructMatrix(1, 1, 0, NULL);
    set(m, "y", matrix(r->y, (size_t)r->n, 1));
    set(m, "eigenvalues", complex_row(r->re, r->im, (size_t)r->neigenvalue));
    set(m, "unstable", mxCreateDoubleScalar(r->unstable));
    set(m, "conserved", mxCreateDoubleScalar(r->conserved));
    set(m, "residual", mxCreateDoubleScalar(r->residual));
    dae_steady_destroy(r);
    return m;
}

static int on_point(int points, double parameter, void *user)
{
    (void)points;
    (void)parameter;
    return on_progress(NULL, 0, 0, user);
}

static mxArray *branch_answer(const dae_problem *p, const mxArray *o, dae_error *err)
{
    clock_t last = clock();
    dae_branch_options b = dae_branch_options_default(p);
    b.steady.guess = vector(o, "guess", (size_t)dae_system_size(&p->system));
    b.steady.settle = number(o, "settle", 0);
    b.min = number(o, "min", b.min);
    b.max = number(o, "max", b.max);
    b.step_max = number(o, "step", b.step_max);
    b.max_points = (int)number(o, "points", b.max_points);
    b.progress = on_point;
    b.user = &last;
    dae_branch *r = dae_continue(p, text(field(o, "parameter"), "the parameter"), &b, err);
    if (!r) return NULL;
    size_t count = (size_t)r->count;
    mxArray *m = mxCreateStructMatrix(1, 1, 0, NULL), *kind = mxCreateCellMatrix(1, (mwSize)count);
    for (size_t i = 0; i < count; i++)
        mxSetCell(kind, (mwIndex)i, mxCreateString(dae_branch_kind_name(r->kind[i])));
    put_status(m, r->status, r->message);
    set(m, "value", matrix(r->value, 1, count));
    set(m, "y", matrix(r->y, (size_t)r->n, count));
    set(m, "leading", complex_row(r->re, r->im, count));
    set(m, "unstable", from_ints(r->unstable, r->count));
    set(m, "kind", kind);
    set(m, "frequency", matrix(r->frequency, 1, count));
    dae_branch_destroy(r);
    return m;
}

static mxArray *periodic_answer(const dae_problem *p, const mxArray *options, const mxArray *o,
                                dae_error *err)
{
    dae_periodic_options q = dae_periodic_options_default(p);
    set_options(&q.sensitivity.simulation.options, options);
    q.guess = vector(o, "guess", (size_t)dae_system_size(&p->system));
    q.period = number(o, "period", 0);
    q.forced = number(o, "forced", 0) != 0;
    q.settle = number(o, "settle", 0);
    dae_periodic_result *r = dae_periodic(p, &q, err);
    if (!r) return NULL;
    mxArray *m = mxCreateStructMatrix(1, 1, 0, NULL);
    set(m, "y", matrix(r->y, (size_t)r->n, 1));
    set(m, "period", mxCreateDoubleScalar(r->period));
    set(m, "multipliers", complex_row(r->re, r->im, (size_t)r->nmultiplier));
    set(m, "unstable", mxCreateDoubleScalar(r->unstable));
    set(m, "residual", mxCreateDoubleScalar(r->residual));
    dae_periodic_destroy(r);
    return m;
}

static void command_steady(char which, mxArray **out, int nin, const mxArray *in[])
{
    dae_error err = {0};
    if (nin != 4 || !mxIsStruct(in[3]))
        mexErrMsgIdAndTxt("daedalus:input", "daedalus_mex: expected four arguments");
    const dae_problem *p = open_problem(in[0], in[1]);
    out[0] = which == 's'   ? steady_answer(p, in[2], in[3], &err)
             : which == 'b' ? branch_answer(p, in[3], &err)
                            : periodic_answer(p, in[2], in[3], &err);
    if (!out[0]) must(err.status < 0 ? err.status : DAE_ERR_INTERNAL, &err);
}

static void command_methods(mxArray **out)
{
    const char *names[] = {"name",  "title",    "kinds",    "order",
                           "index", "implicit", "projects", "no_velocities"};
    int n = dae_method_count();
    mxArray *m = mxCreateStructMatrix(1, (mwSize)n, 8, names);
    for (int i = 0; i < n; i++) {
        const dae_method_info *x = dae_method_get(i);
        char kinds[40] = "";
        for (int k = 0; k <= DAE_KIND_MECH; k++) {
            if (x->kinds & 1u << k) strcat(strcat(kinds, *kinds ? " " : ""), dae_kind_name((dae_kind)k));
        }
        mxSetField(m, (mwIndex)i, "name", mxCreateString(x->name));
        mxSetField(m, (mwIndex)i, "title", mxCreateString(x->title));
        mxSetField(m, (mwIndex)i, "kinds", mxCreateString(kinds));
        mxSetField(m, (mwIndex)i, "order", mxCreateDoubleScalar(x->order_max));
        mxSetField(m, (mwIndex)i, "index", mxCreateDoubleScalar(x->max_index));
        mxSetField(m, (mwIndex)i, "implicit", mxCreateLogicalScalar(x->implicit != 0));
        mxSetField(m, (mwIndex)i, "no_velocities", mxCreateLogicalScalar(x->no_velocities != 0));
        mxSetField(m, (mwIndex)i, "projects", mxCreateLogicalScalar(x->projects != 0));
    }
    out[0] = m;
}

void mexFunction(int nout, mxArray *out[], int nin, const mxArray *in[])
{
    mexAtExit(at_exit);
    const char *command = nin > 0 ? text(in[0], "the command") : "";
    if (!strcmp(command, "methods")) command_methods(out);
    else if (!strcmp(command, "solve")) command_solve(out, nin - 1, in + 1);
    else if (!strcmp(command, "run")) command_run(out, nin - 1, in + 1);
    else if (!strcmp(command, "problem") && nin > 1) command_problem(out, nin - 1, in + 1);
    else if (!strcmp(command, "feval") || !strcmp(command, "jeval") || !strcmp(command, "meval"))
        command_eval(command[0], out, nout, nin - 1, in + 1);
    else if (!strcmp(command, "gradient")) command_gradient(out, nin - 1, in + 1);
    else if (!strcmp(command, "steady") || !strcmp(command, "branch") || !strcmp(command, "periodic"))
        command_steady(command[0], out, nin - 1, in + 1);
    else if (!strcmp(command, "fit")) command_fit(out, nin - 1, in + 1);
    else if (!strcmp(command, "optimize")) command_optimize(out, nin - 1, in + 1);
    else if (!strcmp(command, "score")) command_score(out, nout, nin - 1, in + 1);
    else mexErrMsgIdAndTxt("daedalus:input", "daedalus_mex: expected a command; see help daedalus_ode");
}
