/* Problems in the format of the test set report, see report_problem.h.
 *
 * Routines are looked up by their Fortran names (prob_) or without the underscore; arguments are those of [TESTSET] IV.3, all by
 * address, with the lengths of the three texts of PROB behind them as gfortran passes them (C functions do not look at them).
 * IERR = -1 of FEVAL, JEVAL and MEVAL is "cannot be evaluated here".
 *
 * Such code may keep state of its own (COMMON, SAVE): one run at a time per process. */
#include "catalog/report_problem.h"

#include "problem/problem.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_TIMES = 100001,     /* T(0:*) of PROB; pages that are not written cost nothing */
    MOST_EQUATIONS = 1000000 /* IND(*) */
};
#define DEFAULT_TOLERANCE 1e-6

typedef void prob_fn(char *fullnm, char *problm, char *type, int *neqn, int *ndisc, double *t, int *numjac,
                     int *mljac, int *mujac, int *nummas, int *mlmas, int *mumas, int *ind, size_t, size_t,
                     size_t);
typedef void init_fn(int *neqn, double *t, double *y, double *yprime, int *consis);
typedef void tolerances_fn(int *neqn, double *rtol, double *atol, int *tolvec);
typedef void output_fn(int *neqn, int *solref, int *printsolout, int *nindsol, int *indsol);
typedef void feval_fn(int *neqn, double *t, double *y, double *yprime, double *f, int *ierr, double *rpar,
                      int *ipar);
typedef void matrix_fn(int *ldim, int *neqn, double *t, double *y, double *yprime, double *a, int *ierr,
                       double *rpar, int *ipar);
typedef void solut_fn(int *neqn, double *t, double *y);

typedef struct code {
    void *object;
    prob_fn *prob;
    init_fn *init;
    tolerances_fn *tolerances;
    output_fn *output;
    feval_fn *feval;
    matrix_fn *jeval, *meval;
    solut_fn *solut;
    int n, rows_jac, rows_mass; /* leading dimensions */
    double *y, *yp, *none;      /* copies: Fortran may write to its arguments */
    double rpar[16];
    int ipar[16];
} code;

static void destroy(void *user)
{
    code *c = user;
    if (!c) return;
    if (c->object) dlclose(c->object);
    free(c->y);
    free(c->yp);
    free(c->none);
    free(c);
}

/* ---- Evaluation ------------------------------------------------------------------------------------------------------ */

static int evaluate(code *c, double t, const double *y, const double *yp, double *f)
{
    int ierr = 0;
    memcpy(c->y, y, (size_t)c->n * sizeof *y);
    if (yp) memcpy(c->yp, yp, (size_t)c->n * sizeof *yp);
    c->feval(&c->n, &t, c->y, yp ? c->yp : c->none, f, &ierr, c->rpar, c->ipar);
    return ierr != 0;
}

static int rhs(double t, const double *y, double *f, void *user)
{
    return evaluate(user, t, y, NULL, f);
}

static int residual(double t, const double *y, const double *yp, double *F, void *user)
{
    return evaluate(user, t, y, yp, F);
}

static int matrix(code *c, matrix_fn *fn, int rows, double t, const double *y, const double *yp, double *a)
{
    int ierr = 0;
    memcpy(c->y, y, (size_t)c->n * sizeof *y);
    if (yp) memcpy(c->yp, yp, (size_t)c->n * sizeof *yp);
    fn(&rows, &c->n, &t, c->y, yp ? c->yp : c->none, a, &ierr, c->rpar, c->ipar);
    return ierr != 0;
}

static int jac(double t, const double *y, double *a, void *user)
{
    code *c = user;
    return matrix(c, c->jeval, c->rows_jac, t, y, NULL, a);
}

static int dfdy(double t, const double *y, const double *yp, double *a, void *user)
{
    code *c = user;
    return matrix(c, c->jeval, c->rows_jac, t, y, yp, a);
}

/* ---- Loading --------------------------------------------------------------------------------------------------------------- */

/* A routine by its Fortran name, or as C writes it. */
static void *find(void *object, const char *name)
{
    char fortran[40];
    snprintf(fortran, sizeof fortran, "%s_", name);
    void *f = dlsym(object, fortran);
    return f ? f : dlsym(object, name);
}

static code *load(const char *path, dae_error *err)
{
    code *c = calloc(1, sizeof *c);
    if (!c) {
        dae_fail(err, DAE_ERR_MEMORY, NAN, "%s: out of memory", path);
        return NULL;
    }
    c->object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!c->object) {
        const char *why = dlerror();
        dae_fail(err, DAE_ERR_FILE, NAN, "%s cannot be loaded: %s", path, why ? why : "no reason given");
        destroy(c);
        return NULL;
    }
    const struct {
        const char *name;
        void **to;
    } routine[] = {{"prob", (void **)&c->prob},
                   {"init", (void **)&c->init},
                   {"settolerances", (void **)&c->tolerances},
                   {"setoutput", (void **)&c->output},
                   {"feval", (void **)&c->feval},
                   {"jeval", (void **)&c->jeval},
                   {"meval", (void **)&c->meval},
                   {"solut", (void **)&c->solut}};
    for (size_t k = 0; k < sizeof routine / sizeof *routine; k++) {
        *routine[k].to = find(c->object, routine[k].name);
        if (*routine[k].to) continue;
        dae_fail(err, DAE_ERR_INPUT, NAN,
                 "%s has no routine %s; a problem in the format of the test set report has PROB, INIT, "
                 "SETTOLERANCES, SETOUTPUT, FEVAL, JEVAL, MEVAL and SOLUT",
                 path, routine[k].name);
        destroy(c);
        return NULL;
    }
    return c;
}

/* ---- What the routines say --------------------------------------------------------------------------------------------------- */

typedef struct facts {
    char name[128], title[128], type[16];
    int n, ndisc, numjac, mljac, mujac, nummas, mlmas, mumas;
    double *t;
    int *ind;
} facts;

/* Fortran pads with blanks; C ends with 0. */
static void trim(char *text, size_t size)
{
    text[size - 1] = 0;
    for (size_t n = strlen(text); n > 0 && text[n - 1] == ' '; n--) text[n - 1] = 0;
}

static dae_status ask(const code *c, const char *path, facts *x, dae_error *err)
{
    x->t = calloc(MOST_TIMES, sizeof *x->t);
    x->ind = calloc(MOST_EQUATIONS, sizeof *x->ind);
    if (!x->t || !x->ind) return dae_fail(err, DAE_ERR_MEMORY, NAN, "%s: out of memory", path);
    memset(x->name, ' ', sizeof x->name);
    memset(x->title, ' ', sizeof x->title);
    memset(x->type, ' ', sizeof x->type);
    c->prob(x->title, x->name, x->type, &x->n, &x->ndisc, x->t, &x->numjac, &x->mljac, &x->mujac, &x->nummas,
            &x->mlmas, &x->mumas, x->ind, sizeof x->title - 1, sizeof x->name - 1, sizeof x->type - 1);
    trim(x->title, sizeof x->title);
    trim(x->name, sizeof x->name);
    trim(x->type, sizeof x->type);
    if (x->n < 1 || x->n > MOST_EQUATIONS)
        return dae_fail(err, DAE_ERR_INPUT, NAN, "%s: PROB says NEQN = %d; expected 1 .. %d", path, x->n,
                        MOST_EQUATIONS);
    if (x->ndisc < 0 || x->ndisc > MOST_TIMES - 2)
        return dae_fail(err, DAE_ERR_INPUT, NAN, "%s: PROB says NDISC = %d; expected 0 .. %d", path, x->ndisc,
                        MOST_TIMES - 2);
    if (strcmp(x->type, "ODE") != 0 && strcmp(x->type, "DAE") != 0 && strcmp(x->type, "IDE") != 0)
        return dae_fail(err, DAE_ERR_INPUT, NAN, "%s: PROB says TYPE = \"%s\"; expected ODE, DAE or IDE",
                        path, x->type);
    if (x->mljac < 0 || x->mujac < 0)
        return dae_fail(err, DAE_ERR_INPUT, NAN, "%s: PROB says MLJAC = %d, MUJAC = %d", path, x->mljac,
                        x->mujac);
    return DAE_OK;
}

static dae_status set_mass(dae_problem *p, code *c, const facts *x, const char *path, dae_error *err)
{
    int full = x->mlmas >= x->n, rows = full ? x->n : x->mlmas + x->mumas + 1, ierr = 0, n = x->n;
    double t = x->t[0], *a = x->mlmas >= 0 && x->mumas >= 0
                                 ? dae_problem_take(p, (size_t)rows * (size_t)n, sizeof *a)
                                 : NULL;
    if (!a)
        return dae_fail(err, DAE_ERR_INPUT, NAN, "%s: PROB says MLMAS = %d, MUMAS = %d", path, x->mlmas,
                        x->mumas);
    c->meval(&rows, &n, &t, c->y, c->yp, a, &ierr, c->rpar, c->ipar);
    if (ierr) return dae_fail(err, DAE_ERR_UNDEFINED, t, "%s: MEVAL says IERR = %d at the start", path, ierr);
    p->system.dae.mass = full ? dae_dense(n, a) : dae_banded(n, x->mlmas, x->mumas, a);
    return DAE_OK;
}

static dae_status set_system(dae_problem *p, code *c, const facts *x, const char *path, dae_error *err)
{
    int full = x->mljac >= x->n, n = x->n;
    dae_structure structure = {0};
    c->n = n;
    c->rows_jac = full ? n : x->mljac + x->mujac + 1;
    if (!full)
        structure.jacobian = (dae_pattern){.storage = DAE_BANDED, .lower = x->mljac, .upper = x->mujac};
    if (x->type[0] != 'O') {
        int *index = dae_problem_ints(p, n);
        for (int i = 0; index && i < n; i++) index[i] = x->ind[i] < 1 ? 1 : x->ind[i] > 3 ? 3 : x->ind[i];
        structure.index = index;
    }
    if (x->type[0] == 'O') {
        p->system = (dae_system){.kind = DAE_KIND_ODE,
                                 .ode = {.n = n, .f = rhs, .jac = x->numjac ? NULL : jac, .user = c}};
    } else if (x->type[0] == 'I') { /* dF/dy' by differences: its band may be another than that of dF/dy */
        p->system =
            (dae_system){.kind = DAE_KIND_IDE,
                         .ide = {.n = n, .residual = residual, .dfdy = x->numjac ? NULL : dfdy, .user = c}};
        if (!full && (x->mlmas > x->mljac || x->mumas > x->mujac)) {
            p->system.ide.dfdy = NULL;
            structure.jacobian = (dae_pattern){0};
        }
    } else {
        p->system = (dae_system){.kind = DAE_KIND_DAE,
                                 .dae = {.n = n, .f = rhs, .jac = x->numjac ? NULL : jac, .user = c}};
        dae_status s = set_mass(p, c, x, path, err);
        if (s < 0) return s;
    }
    p->system.structure = structure;
    return DAE_OK;
}

/* Tolerances as vectors are kept as factors of the given ones. */
static void set_tolerances(dae_problem *p, const code *c)
{
    int n = c->n, tolvec = 0;
    double *rtol = dae_problem_reals(p, n), *atol = dae_problem_reals(p, n);
    p->rtol = p->atol = DEFAULT_TOLERANCE;
    if (!rtol || !atol) return;
    rtol[0] = atol[0] = DEFAULT_TOLERANCE;
    c->tolerances(&n, rtol, atol, &tolvec);
    for (int i = 0; i < n && tolvec; i++) {
        rtol[i] /= DEFAULT_TOLERANCE;
        atol[i] /= DEFAULT_TOLERANCE;
    }
    if (tolvec) {
        p->rtol_factor = rtol;
        p->atol_factor = atol;
    } else if (rtol[0] > 0 && atol[0] > 0) {
        p->rtol = rtol[0];
        p->atol = atol[0];
    }
}

static void set_output(dae_problem *p, const code *c)
{
    int n = c->n, solref = 0, print = 0, count = 0, *list = dae_problem_ints(p, n),
        *plot = dae_problem_ints(p, n);
    double *end = dae_problem_reals(p, n), t = p->t_end;
    if (!list || !plot || !end) return;
    c->output(&n, &solref, &print, &count, list);
    for (int k = 0; print && k < count && k < n; k++) {
        if (list[k] >= 1 && list[k] <= n) plot[p->nplot++] = list[k] - 1;
    }
    p->plot = plot;
    if (!solref) return;
    c->solut(&n, &t, end);
    p->reference = end;
    p->reference_digits = 12;
    p->reference_source = "subroutine SOLUT";
}

static dae_status fill(dae_problem *p, code *c, const facts *x, const char *path, dae_error *err)
{
    dae_problem_info *info = dae_problem_take(p, 1, sizeof *info);
    double *y0 = dae_problem_reals(p, x->n), *yp0 = dae_problem_reals(p, x->n),
           *jumps = dae_problem_reals(p, x->ndisc + 1);
    int consistent = 1, n = x->n;
    double t = x->t[0];
    c->y = calloc((size_t)n, sizeof *c->y);
    c->yp = calloc((size_t)n, sizeof *c->yp);
    c->none = calloc((size_t)n, sizeof *c->none);
    if (!info || !y0 || !yp0 || !jumps || !c->y || !c->yp || !c->none)
        return dae_fail(err, DAE_ERR_MEMORY, NAN, "%s: out of memory", path);
    p->t0 = x->t[0];
    p->t_end = x->t[x->ndisc + 1];
    memcpy(jumps, x->t + 1, (size_t)x->ndisc * sizeof *jumps);
    p->discontinuity = jumps;
    p->ndiscontinuity = x->ndisc;
    c->init(&n, &t, y0, yp0, &consistent);
    memcpy(c->y, y0, (size_t)n * sizeof *y0);
    p->y0 = y0;
    if (x->type[0] == 'I') p->yp0 = yp0;
    dae_status s = set_system(p, c, x, path, err);
    if (s < 0) return s;
    set_tolerances(p, c);
    set_output(p, c);
    info->name = dae_problem_copy(p, x->name[0] ? x->name : "problem");
    info->title = dae_problem_copy(p, x->title[0] ? x->title : info->name);
    info->kind = p->system.kind;
    info->n = n;
    info->index = dae_system_index(&p->system);
    info->origin = "code in the format of the test set report";
    p->info = info;
    p->source = "code";
    return dae_problem_exhausted(p) ? dae_fail(err, DAE_ERR_MEMORY, NAN, "%s: out of memory", path) : DAE_OK;
}

dae_problem *dae_report_problem(const char *path, const dae_setting *setting, int nsetting, dae_error *err)
{
    facts x = {0};
    if (nsetting > 0) {
        dae_fail(err, DAE_ERR_INPUT, NAN, "%s: compiled problems have no parameters (%s was given)", path,
                 setting[0].name);
        return NULL;
    }
    code *c = load(path, err);
    dae_problem *p = c && ask(c, path, &x, err) >= 0 ? dae_problem_new(path, err) : NULL;
    if (p) dae_problem_own(p, c, destroy);
    else destroy(c);
    if (p && fill(p, c, &x, path, err) < 0) {
        dae_problem_destroy(p);
        p = NULL;
    }
    free(x.t);
    free(x.ind);
    return p;
}
