/* The Fortran codes and our own methods on the same problems, with the same functions, behind one call.
 *
 * A module that peers.py loads. The codes are those in packages of Debian (r-cran-desolve, octave, python3-scipy); peers.py
 * hands over the addresses of their entry points. Each gets f, df/dy and M of the library's problem, banded where they
 * are, through adapters of one call; a mechanism is integrated by the codes for ODEs as p' = v, v' = a(t,p,v).
 * Times are user CPU times of one batch of equal runs; what a Fortran program allocates once is not in them, what the library
 * does for one run is. */
#include <daedalus/daedalus.h>
#include <daedalus/problem.h>
#include <daedalus/simulation.h>
#include <daedalus/study.h>

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PEERS_API __attribute__((visibility("default")))

typedef void any_fn(void);
typedef struct subject subject;

/* What peers.py calls. */
PEERS_API void peers_set(const char *name, void *entry);
PEERS_API subject *peers_open(const char *name);
PEERS_API void peers_close(subject *s);
PEERS_API const char *peers_method(int i);
PEERS_API int peers_suits(const subject *s, const char *name);
PEERS_API int peers_takes(const subject *s, const char *method);
PEERS_API int peers_run(subject *s, const char *name, double rtol, int repeat, double *seconds,
                        double *digits);
PEERS_API const char *peers_taken(void);
PEERS_API double peers_rtol(const subject *s, int i, double step, double looser);
PEERS_API void peers_patience(double seconds);
/* What deSolve calls of R, which is not started here: found before R's own. */
PEERS_API void Rprintf(const char *format, ...);
PEERS_API void Rf_error(const char *format, ...);
PEERS_API void Rf_warning(const char *format, ...);

/* What the adapters evaluate: one run at a time. */
static struct job {
    const dae_system *sys;
    int n, half; /* half > 0: y' = (y[half ..], ...), and the Jacobian is its lower rows only */
    double *jac; /* values in the layout of the system */
    const double *mass;
    long f;
    jmp_buf out; /* for a code that does not end */
} job;
#define MOST_F 1000000

void Rprintf(const char *format, ...)
{
    (void)format;
}
void Rf_warning(const char *format, ...)
{
    (void)format;
}
void Rf_error(const char *format, ...)
{
    (void)format;
    longjmp(job.out, 1);
}

static int rhs(double t, const double *y, double *f)
{
    if (++job.f > MOST_F) longjmp(job.out, 1);
    return job.sys->kind == DAE_KIND_ODE ? job.sys->ode.f(t, y, f, job.sys->ode.user)
                                         : job.sys->dae.f(t, y, f, job.sys->dae.user);
}

/* df/dy with leading dimension ld: full, or the band with its diagonal in row upper. */
static void jacobian(double t, const double *y, double *a, int ld)
{
    const dae_pattern *p = &job.sys->structure.jacobian;
    dae_jac *jac = job.sys->kind == DAE_KIND_ODE ? job.sys->ode.jac : job.sys->dae.jac;
    void *user = job.sys->kind == DAE_KIND_ODE ? job.sys->ode.user : job.sys->dae.user;
    int n = job.n, m = n - job.half;
    if (p->storage == DAE_DENSE && ld == n && !job.half) {
        memset(a, 0, (size_t)n * (size_t)n * sizeof *a);
        jac(t, y, a, user);
        return;
    }
    memset(job.jac, 0, (size_t)dae_pattern_count(p, n) * sizeof *job.jac);
    jac(t, y, job.jac, user);
    if (p->storage == DAE_DENSE) {
        for (int j = 0; j < n; j++) memcpy(a + j * ld, job.jac + j * n + job.half, (size_t)m * sizeof *a);
    } else if (p->storage == DAE_BANDED) {
        int width = p->lower + 1 + p->upper;
        for (int j = 0; j < n; j++) memcpy(a + j * ld, job.jac + j * width, (size_t)width * sizeof *a);
    } else {
        for (int j = 0; j < n; j++) {
            memset(a + j * ld, 0, (size_t)n * sizeof *a);
            for (int k = p->colptr[j]; k < p->colptr[j + 1]; k++) a[p->rowind[k] + j * ld] = job.jac[k];
        }
    }
}

/* ---- Adapters ------------------------------------------------------------------------------------- */

static void f_plain(const int *n, const double *t, const double *y, double *f)
{
    (void)n;
    rhs(*t, y, f);
}
static void f_extra(const int *n, const double *t, const double *y, double *f, double *r, int *i)
{
    (void)n, (void)r, (void)i;
    rhs(*t, y, f);
}
/* also of the RADAU5 in deSolve, which is not the original in this */
static void jac_odepack(const int *n, const double *t, const double *y, const int *ml, const int *mu,
                        double *a, const int *ld, double *r, int *i)
{
    (void)n, (void)ml, (void)mu, (void)r, (void)i;
    jacobian(*t, y, a, *ld);
}
/* M by its lower and upper diagonals (lmas rows), or full */
static void mass_radau(const int *n, double *am, const int *lmas, double *r, int *i)
{
    const dae_matrix *m = &job.sys->dae.mass;
    (void)r, (void)i;
    if (m->pattern.storage == DAE_DIAGONAL) {
        for (int k = 0; k < *n; k++) am[k * *lmas] = m->a[k];
    } else if (m->pattern.storage == DAE_BANDED) {
        memcpy(am, m->a, (size_t)(*n * *lmas) * sizeof *am);
    } else {
        for (int j = 0; j < *n; j++)
            for (int k = 0; k < *n; k++) am[k + j * *lmas] = job.mass[k + j * *n];
    }
}
static void no_output(void)
{
}
static void residual(const double *t, const double *y, const double *yp, double *delta, int *ires, double *r,
                     int *i)
{
    (void)ires, (void)r, (void)i;
    rhs(*t, y, delta);
    const dae_matrix *m = job.sys->kind == DAE_KIND_DAE ? &job.sys->dae.mass : NULL;
    if (!m || !m->n) {
        for (int k = 0; k < job.n; k++) delta[k] = yp[k] - delta[k];
    } else if (m->pattern.storage == DAE_DIAGONAL) {
        for (int k = 0; k < job.n; k++) delta[k] = m->a[k] * yp[k] - delta[k];
    } else {
        for (int k = 0; k < job.n; k++) {
            double sum = 0;
            for (int j = 0; j < job.n; j++) sum += job.mass[k + j * job.n] * yp[j];
            delta[k] = sum - delta[k];
        }
    }
}
static void residual_daspk(const double *t, const double *y, const double *yp, const double *cj,
                           double *delta, int *ires, double *r, int *i)
{
    (void)cj;
    residual(t, y, yp, delta, ires, r, i);
}
/* cj M - df/dy; LINPACK's band keeps `lower` rows above it for pivoting */
static void jac_dassl(const double *t, const double *y, const double *yp, double *a, const double *cj,
                      double *r, int *i)
{
    const dae_pattern *p = &job.sys->structure.jacobian;
    int band = p->storage == DAE_BANDED, ld = band ? 2 * p->lower + p->upper + 1 : job.n;
    (void)yp, (void)r, (void)i;
    jacobian(*t, y, band ? a + p->lower : a, ld);
    for (int k = 0; k < ld * job.n; k++) a[k] = -a[k];
    for (int j = 0; j < job.n; j++) {
        int from = band && j > p->upper ? j - p->upper : 0,
            to = band && j + p->lower < job.n ? j + p->lower + 1 : job.n;
        double *column = band ? a + p->lower + p->upper - j + j * ld : a + j * ld;
        for (int k = from; k < to; k++) column[k] += *cj * job.mass[k + j * job.n];
    }
}

/* ---- The codes -------------------------------------------------------------------------------------- */

typedef void f_fn(const int *, const double *, const double *, double *, double *, int *);
typedef void radau5_fn(int *, any_fn *, double *, double *, double *, double *, double *, double *, int *,
                       any_fn *, int *, int *, int *, any_fn *, int *, int *, int *, any_fn *, int *,
                       double *, int *, int *, int *, double *, int *, int *);
typedef void odepack_fn(any_fn *, int *, double *, double *, double *, int *, double *, double *, int *,
                        int *, int *, double *, int *, int *, int *, any_fn *, int *, double *, int *);
typedef void dassl_fn(any_fn *, int *, double *, double *, double *, double *, int *, double *, double *,
                      int *, double *, int *, int *, int *, double *, int *, any_fn *, any_fn *);
typedef void dop_fn(int *, any_fn *, double *, double *, double *, double *, double *, int *, any_fn *, int *,
                    double *, int *, int *, int *, double *, int *, int *);

enum { RADAU5, ODEPACK, ODEPACK_PLAIN, DASSL, DASPK, DOP };
typedef struct code {
    const char *name;
    int family;
    int stiff;  /* needs a Jacobian: 2x of MF; 0: for non-stiff systems; 2: finds out itself (LSODA) */
    int second; /* 1: radau5 that knows of y' = v */
    any_fn *entry;
} code;

static code codes[] = {
    {"radau5", RADAU5, 1, 0, NULL},
    {"radau5-2nd", RADAU5, 1, 1, NULL},
    {"lsode", ODEPACK, 1, 0, NULL},
    {"lsode-adams", ODEPACK, 0, 0, NULL},
    {"lsoda", ODEPACK, 2, 0, NULL},
    {"vode", ODEPACK, 1, 0, NULL},
    {"vode-adams", ODEPACK, 0, 0, NULL},
    {"octave-lsode", ODEPACK_PLAIN, 1, 0, NULL},
    {"octave-dassl", DASSL, 1, 0, NULL},
    {"octave-daspk", DASPK, 1, 0, NULL},
    {"scipy-lsoda", ODEPACK_PLAIN, 2, 0, NULL},
    {"scipy-vode", ODEPACK, 1, 0, NULL},
    {"scipy-dop853", DOP, 0, 0, NULL},
    {"scipy-dopri5", DOP, 0, 0, NULL},
};
enum { CODES = sizeof codes / sizeof *codes };

void peers_set(const char *name, void *entry)
{
    for (int k = 0; k < CODES; k++)
        if (!strcmp(codes[k].name, name)) memcpy(&codes[k].entry, &entry, sizeof entry);
}

struct subject {
    dae_problem *p;
    dae_system parts;        /* the mechanism without its own function for accelerations */
    dae_formulation *form;   /* of mechanisms: p' = v, v' = a(t,p,v) */
    const dae_system *plain; /* what the codes for ODEs and index 1 integrate, */
    const dae_system *dae;   /* and RADAU5, where that is another */
    double *y, *yp, *y0, *full, *rtol, *atol, *work, *jac, *mass;
    int *iwork, lwork, liwork, n;
};

static const dae_system *system_for(const subject *s, const code *c)
{
    return c->family == RADAU5 && s->dae ? s->dae : s->plain;
}

/* 1: the code can integrate the problem. */
static int suits(const subject *s, const code *c)
{
    const dae_system *sys = system_for(s, c);
    int dae = sys->kind == DAE_KIND_DAE, stiff = s->p->info->stiff && !s->form;
    if (c->second) return !dae && sys->structure.second_order && sys->structure.jacobian.storage == DAE_DENSE;
    if (dae)
        return c->family == RADAU5 ||
               ((c->family == DASSL || c->family == DASPK) && dae_system_index(sys) <= 1);
    if (c->family == DASSL || c->family == DASPK) return sys->ode.jac && stiff && s->p->yp0;
    if (!sys->ode.jac && c->stiff == 1) return 0;
    return c->stiff == 2 || c->stiff == stiff;
}

int peers_suits(const subject *s, const char *name)
{
    for (int k = 0; k < CODES; k++)
        if (!strcmp(codes[k].name, name)) return suits(s, &codes[k]);
    return 0;
}

/* From t to end; 0: done. */
static int integrate(const code *c, subject *s, double *t, double end, double rtol, const dae_system *sys)
{
    const dae_pattern *pat = &sys->structure.jacobian;
    int n = s->n, itol = 1, zero = 0, one = 1, band = pat->storage == DAE_BANDED, idid = 1;
    int ml = band ? pat->lower : n, mu = band ? pat->upper : n, lw = s->lwork, liw = s->liwork,
        m = n - job.half;
    double h = 1e-2 * rtol, rpar = 0;
    memset(s->work, 0, 100 * sizeof *s->work);
    memset(s->iwork, 0, 60 * sizeof *s->iwork);
    if (c->family == RADAU5) {
        int dae = sys->kind == DAE_KIND_DAE && sys->dae.mass.n, mlm = n, mum = n;
        if (dae && sys->dae.mass.pattern.storage == DAE_DIAGONAL) mlm = mum = 0;
        if (dae && sys->dae.mass.pattern.storage == DAE_BANDED)
            mlm = sys->dae.mass.pattern.lower, mum = sys->dae.mass.pattern.upper;
        if (job.half) ml = m;
        s->iwork[1] = 10000000;
        if (sys->structure.index)
            for (int k = 0; k < n; k++) s->iwork[3 + sys->structure.index[k]]++;
        if (job.half) s->iwork[8] = job.half;
        if (s->p->h0 > h) h = fmin(s->p->h0, 1e-2 * rtol);
        ((radau5_fn *)c->entry)(&n, (any_fn *)f_extra, t, s->y, &end, &h, s->rtol, s->atol, &itol,
                                (any_fn *)jac_odepack, &one, &ml, &mu, (any_fn *)mass_radau, &dae, &mlm, &mum,
                                (any_fn *)no_output, &zero, s->work, &lw, s->iwork, &liw, &rpar, &zero,
                                &idid);
        return idid == 1 ? 0 : 1;
    }
    if (c->family == DOP) {
        s->iwork[0] = 10000000;
        s->iwork[3] = -1; /* no test for stiffness */
        ((dop_fn *)c->entry)(&n, (any_fn *)f_extra, t, s->y, &end, s->rtol, s->atol, &itol,
                             (any_fn *)no_output, &zero, s->work, &lw, s->iwork, &liw, &rpar, &zero, &idid);
        return idid == 1 ? 0 : 1;
    }
    if (c->family == DASSL || c->family == DASPK) {
        int info[30] = {0}, state = 0;
        info[1] = 1; /* vectors of tolerances */
        info[4] = 1; /* a Jacobian is given */
        info[5] = band;
        if (band) s->iwork[0] = ml, s->iwork[1] = mu;
        for (int calls = 0; calls < 100000; calls++) {
            ((dassl_fn *)c->entry)(
                (any_fn *)(c->family == DASSL ? (any_fn *)residual : (any_fn *)residual_daspk), &n, t, s->y,
                s->yp, &end, info, s->rtol, s->atol, &state, s->work, &lw, s->iwork, &liw, &rpar, &zero,
                (any_fn *)jac_dassl, (any_fn *)no_output);
            if (state != -1) break;
            info[0] = 1;
        }
        return state > 0 ? 0 : 1;
    }
    int mf = c->stiff == 2 ? (!sys->ode.jac ? 2 : band ? 4 : 1) : !c->stiff ? 10 : band ? 24 : 21;
    int state = 1, itask = 1, vec = 4;
    any_fn *f = c->family == ODEPACK ? (any_fn *)f_extra : (any_fn *)f_plain;
    if (band) s->iwork[0] = ml, s->iwork[1] = mu;
    s->iwork[5] = 10000000;
    ((odepack_fn *)c->entry)(f, &n, s->y, t, &end, &vec, s->rtol, s->atol, &itask, &state, &one, s->work, &lw,
                             s->iwork, &liw, (any_fn *)jac_odepack, &mf, &rpar, &zero);
    return state == 2 ? 0 : 1;
}

/* ---- Subjects --------------------------------------------------------------------------------------- */

void peers_close(subject *s)
{
    if (!s) return;
    dae_formulation_destroy(s->form);
    dae_problem_destroy(s->p);
    free(s->y);
    free(s->work);
    free(s->iwork);
    free(s);
}

/* "NAME:parts": the codes do not get the accelerations in one pass but those of M, f and G. */
subject *peers_open(const char *full)
{
    dae_error err = {0};
    char name[80] = "";
    strncpy(name, full, sizeof name - 1);
    char *how = strchr(name, ':');
    if (how) *how++ = 0;
    subject *s = calloc(1, sizeof *s);
    if (!s || !(s->p = dae_problem_create(name, NULL, 0, &err)) || !s->p->reference) {
        peers_close(s);
        return NULL;
    }
    s->plain = &s->p->system;
    const dae_system *mech = s->p->mechanism;
    if (mech && how) {
        s->parts = *mech;
        s->parts.mech.accelerations = NULL;
        mech = &s->parts;
    }
    if (mech) {
        s->dae = s->plain;
        s->form = dae_formulation_create(mech, "index1", NULL, 0, &err);
        if (!s->form) {
            peers_close(s);
            return NULL;
        }
        s->plain = dae_formulation_system(s->form);
    }
    size_t n = (size_t)dae_system_size(&s->p->system), square = n * n;
    s->lwork = (int)(6 * square + 40 * n + 200);
    s->liwork = (int)(6 * n + 100);
    s->y = calloc(7 * n + 2 * square, sizeof(double));
    s->work = calloc((size_t)s->lwork, sizeof(double));
    s->iwork = calloc((size_t)s->liwork, sizeof(int));
    if (!s->y || !s->work || !s->iwork) {
        peers_close(s);
        return NULL;
    }
    s->yp = s->y + n, s->y0 = s->yp + n, s->rtol = s->y0 + n, s->atol = s->rtol + n, s->full = s->atol + n;
    s->jac = s->full + n, s->mass = s->jac + square;
    memcpy(s->y0, s->p->y0, n * sizeof(double));
    if (s->plain->kind == DAE_KIND_DAE) { /* M in full, for DASSL */
        const dae_matrix *m = &s->plain->dae.mass;
        int size = (int)n, width = m->pattern.lower + m->pattern.upper + 1;
        for (int j = 0; j < size; j++)
            for (int i = 0; i < size; i++) {
                double v = m->n == 0 ? i == j : 0;
                if (m->n && m->pattern.storage == DAE_DIAGONAL) v = i == j ? m->a[i] : 0;
                if (m->n && m->pattern.storage == DAE_DENSE) v = m->a[i + j * size];
                if (m->n && m->pattern.storage == DAE_BANDED && i - j <= m->pattern.lower &&
                    j - i <= m->pattern.upper)
                    v = m->a[m->pattern.upper + i - j + j * width];
                s->mass[i + j * size] = v;
            }
    } else
        for (size_t i = 0; i < n; i++) s->mass[i + i * n] = 1;
    return s;
}

/* User seconds of this thread. */
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void tolerances(subject *s, double rtol, int n)
{
    const dae_problem *p = s->p;
    double atol =
        strcmp(p->info->name, "e5") ? p->atol * (rtol / p->rtol) : p->atol; /* as the test set has them */
    for (int i = 0; i < n; i++) {
        s->rtol[i] = rtol * (p->rtol_factor ? p->rtol_factor[i] : 1);
        s->atol[i] = atol * (p->atol_factor ? p->atol_factor[i] : 1);
    }
}

static double digits_of(const subject *s, double rtol, const double *y)
{
    const dae_problem *p = s->p;
    dae_options opt = dae_options_default();
    opt.rtol = rtol;
    opt.atol = strcmp(p->info->name, "e5") ? p->atol * (rtol / p->rtol) : p->atol;
    opt.rtol_vec = s->rtol;
    opt.atol_vec = s->atol;
    return dae_problem_score(p, &opt, p->reference, y).mescd;
}

static int run_code(subject *s, const code *c, double rtol)
{
    const dae_problem *p = s->p;
    const dae_system *sys = system_for(s, c);
    int all = dae_system_size(&p->system);
    s->n = dae_system_size(sys);
    job.sys = sys;
    job.n = s->n;
    job.half = c->second ? sys->structure.second_order : 0;
    job.jac = s->jac;
    job.mass = s->mass;
    job.f = 0;
    if (setjmp(job.out)) return 1;
    tolerances(s, rtol, all);
    memcpy(s->y, s->y0, (size_t)s->n * sizeof *s->y);
    if (p->yp0) memcpy(s->yp, p->yp0, (size_t)s->n * sizeof *s->yp);
    double t = p->t0;
    for (int k = 0; k < p->ndiscontinuity; k++) {
        double corner = p->discontinuity[k];
        if (corner <= t || corner >= p->t_end) continue;
        if (integrate(c, s, &t, corner, rtol, sys)) return 1;
        t = corner * (1 + DBL_EPSILON);
        tolerances(s, rtol, all);
    }
    return integrate(c, s, &t, p->t_end, rtol, sys);
}

static const char *taken = "";
static double patience = 5; /* seconds: our longest run */

void peers_patience(double seconds)
{
    patience = seconds;
}

static dae_options own_options(const subject *s, const char *method, const char *form, double rtol)
{
    const dae_problem *p = s->p;
    dae_options opt = dae_options_default();
    opt.method = method;
    if (form && *form) opt.formulation = form;
    opt.rtol = rtol;
    opt.atol = s->atol[0];
    opt.rtol_vec = !p->mechanism && p->rtol_factor ? s->rtol : NULL;
    opt.atol_vec = !p->mechanism && p->atol_factor ? s->atol : NULL;
    opt.discontinuity = p->discontinuity;
    opt.ndiscontinuity = p->ndiscontinuity;
    return opt;
}

/* The first run, with what the score needs: accelerations and multipliers of mechanisms, the method that was taken. */
static int run_mechanism(subject *s, const dae_options *opt)
{
    const dae_problem *p = s->p;
    int n = dae_system_size(&p->system), ok = 0;
    dae_simulation_options o = dae_simulation_options_default(p);
    o.options = *opt;
    dae_simulation *sim = dae_simulation_open(p, &o, NULL);
    if (sim && dae_simulation_start(sim, NULL) == DAE_OK &&
        dae_simulation_advance(sim, p->t_end, NULL) == DAE_OK) {
        memcpy(s->full, dae_simulation_state(sim), (size_t)n * sizeof *s->full);
        const dae_method_info *m = dae_method_find(dae_simulation_choice(sim).method);
        taken = m ? m->name : "";
        ok = 1;
    }
    dae_simulation_close(sim);
    return !ok;
}

static int run_plain(subject *s, const dae_options *opt)
{
    const dae_problem *p = s->p;
    int n = dae_system_size(&p->system), ok = 0;
    dae_integrator *it = dae_integrator_create(&p->system, opt, NULL);
    if (it && dae_integrator_start(it, p->t0, p->t_end, p->y0, p->yp0, NULL) == DAE_OK &&
        dae_integrator_advance(it, p->t_end, NULL) == DAE_OK) {
        memcpy(s->full, dae_integrator_state(it), (size_t)n * sizeof *s->full);
        taken = dae_integrator_method(it)->name;
        ok = 1;
    }
    dae_integrator_destroy(it);
    return !ok;
}

static int run_own(subject *s, const char *method, const char *form, double rtol)
{
    tolerances(s, rtol, dae_system_size(&s->p->system));
    dae_options opt = own_options(s, method, form, rtol);
    opt.max_seconds = patience;
    return s->p->mechanism ? run_mechanism(s, &opt) : run_plain(s, &opt);
}

/* As a program would: one call, without statistics; it has ended in time before. Methods that want y' at the start get it. */
static int run_again(subject *s, const char *method, const char *form, double rtol)
{
    const dae_problem *p = s->p;
    const dae_system *sys = p->mechanism ? p->mechanism : &p->system;
    const dae_method_info *m = dae_method_find(taken);
    dae_options opt = own_options(s, method, form, rtol);
    if (!p->mechanism && p->yp0 && (!m || m->kinds & 1u << DAE_KIND_IDE)) return run_plain(s, &opt);
    memcpy(s->y, p->y0, (size_t)dae_system_size(sys) * sizeof *s->y);
    return dae_solve(sys, &opt, p->t0, p->t_end, s->y, NULL, NULL) != DAE_OK;
}

/* A batch of equal runs: seconds of one, and its digits; 1: it failed. name: a code, or "ours:METHOD[:FORM]". */
int peers_run(subject *s, const char *name, double rtol, int repeat, double *seconds, double *digits)
{
    char text[80] = "";
    const code *c = NULL;
    char *form = NULL;
    if (!strncmp(name, "ours:", 5)) {
        strncpy(text, name + 5, sizeof text - 1);
        form = strchr(text, ':');
        if (form) *form++ = 0;
    } else {
        for (int k = 0; k < CODES; k++)
            if (!strcmp(codes[k].name, name)) c = &codes[k];
        if (!c || !c->entry) return 1;
    }
    if (!c && run_own(s, text, form, rtol)) return 1;
    double begin = now();
    for (int k = 0; k < repeat; k++)
        if (c ? run_code(s, c, rtol) : run_again(s, text, form, rtol)) return 1;
    *seconds = (now() - begin) / repeat;
    tolerances(s, rtol, dae_system_size(&s->p->system));
    if (c && s->form && system_for(s, c) == s->plain) {
        /* y = (p, v, a, lambda), or with the multipliers elsewhere */
        const dae_mech *m = &s->p->mechanism->mech;
        double *a = s->jac, *lambda = a + m->nv;
        if (dae_formulation_lower(s->form, s->p->t_end, s->y, s->full, a, lambda, NULL) < 0) return 1;
        if (s->p->acceleration_at) memcpy(s->full + s->p->acceleration_at, a, (size_t)m->nv * sizeof *a);
        if (s->p->multiplier_at)
            memcpy(s->full + s->p->multiplier_at, lambda, (size_t)m->nlambda * sizeof *a);
        *digits = digits_of(s, rtol, s->full);
    } else *digits = digits_of(s, rtol, c ? s->y : s->full);
    return 0;
}

const char *peers_taken(void)
{
    return taken;
}

/* Tolerance i of the range that the test set prescribes for the problem, and so many powers of ten looser, in steps of so many
 * powers of ten; 0: no more. */
double peers_rtol(const subject *s, int i, double step, double looser)
{
    dae_ladder ladder = dae_ladder_default(s->p);
    double e = fmax(1, ladder.from - looser) + i * step;
    return e <= ladder.to + 1e-9 ? pow(10, -e) : 0;
}

int peers_takes(const subject *s, const char *method)
{
    const dae_method_info *m = dae_method_find(method);
    if (!m || (s->p->info->stiff && !m->implicit && !s->p->mechanism)) return 0;
    return s->p->mechanism ? 1 : dae_method_takes(m, &s->p->system);
}

const char *peers_method(int i)
{
    return i < dae_method_count() ? dae_method_get(i)->name : NULL;
}
