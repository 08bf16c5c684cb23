/* Forward sensitivities beside those of CVODES and IDAS (Debian's packages): Robertson's reaction with its 3 parameters to t = 40, HIRES with
 * all 10 of its own, chemakzo (index 1, by IDAS) with its 8. Both sides get the same functions: f, df/dy and df/dp are linear in the parameters, so that df/dp_j is f with p = e_j. Time at equal
 * accuracy: the fastest run of each side whose largest relative error of all derivatives is below a target. The reference is
 * radau at rtol 1e-12, and for Robertson the numbers of two independent computations agree with it. Last, cost by the number of
 * parameters, and the adjoint of emep by all 66 initial values. */
#include <daedalus/daedalus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef HAVE_CVODES
#include <cvodes/cvodes.h>
#include <idas/idas.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>
#endif

enum { N_MAX = 8, P_MAX = 10 };

typedef struct kinetics {
    const char *name;
    int n, np;
    double t_end, atol[N_MAX], y0[N_MAX], p[P_MAX];
    void (*f)(const double *p, const double *y, double *f);
    void (*jac)(const double *p, const double *y, double *J);
    int algebraic; /* 1: the last equation has no derivative; its variable is p[np-1] y1 y4 */
} kinetics;

static void robertson_f(const double *p, const double *y, double *f)
{
    f[0] = -p[0] * y[0] + p[1] * y[1] * y[2];
    f[2] = p[2] * y[1] * y[1];
    f[1] = -f[0] - f[2];
}

static void robertson_jac(const double *p, const double *y, double *J)
{
    double J02 = p[1] * y[1], J01 = p[1] * y[2], J21 = 2 * p[2] * y[1];
    J[0] = -p[0], J[1] = p[0], J[2] = 0;
    J[3] = J01, J[4] = -J01 - J21, J[5] = J21;
    J[6] = J02, J[7] = -J02, J[8] = 0;
}

static void hires_f(const double *p, const double *y, double *f)
{
    double b = p[6] * y[5] * y[7];
    f[0] = -p[0] * y[0] + p[1] * y[1] + p[5] * y[2] + p[9];
    f[1] = p[0] * y[0] - (p[1] + p[2]) * y[1];
    f[2] = -(p[0] + p[5]) * y[2] + p[1] * y[3] + p[4] * y[4];
    f[3] = p[2] * y[1] + p[0] * y[2] - (p[1] + p[3]) * y[3];
    f[4] = -(p[0] + p[4]) * y[4] + p[1] * (y[5] + y[6]);
    f[5] = -b + p[3] * y[3] + p[7] * y[6] + p[0] * y[4] - p[1] * y[5];
    f[6] = b - (p[1] + p[7] + p[8]) * y[6];
    f[7] = -f[6];
}

static void hires_jac(const double *p, const double *y, double *J)
{
    double d5 = p[6] * y[7], d7 = p[6] * y[5], loss = p[1] + p[7] + p[8];
#define AT(i, j) J[(i) + 8 * (j)]
    memset(J, 0, 64 * sizeof *J);
    AT(0, 0) = -p[0], AT(0, 1) = p[1], AT(0, 2) = p[5];
    AT(1, 0) = p[0], AT(1, 1) = -(p[1] + p[2]);
    AT(2, 2) = -(p[0] + p[5]), AT(2, 3) = p[1], AT(2, 4) = p[4];
    AT(3, 1) = p[2], AT(3, 2) = p[0], AT(3, 3) = -(p[1] + p[3]);
    AT(4, 4) = -(p[0] + p[4]), AT(4, 5) = p[1], AT(4, 6) = p[1];
    AT(5, 3) = p[3], AT(5, 4) = p[0], AT(5, 5) = -d5 - p[1], AT(5, 6) = p[7], AT(5, 7) = -d7;
    AT(6, 5) = d5, AT(6, 6) = -loss, AT(6, 7) = d7;
    AT(7, 5) = -d5, AT(7, 6) = loss, AT(7, 7) = -d7;
#undef AT
}

/* The Akzo Nobel problem with parameters in which f is linear: k1, k2, k2/K, k3, k4, klA pCO2/H, klA, Ks; p[8] = 1 stays. */
static void chemakzo_f(const double *p, const double *y, double *f)
{
    double root = sqrt(y[1]), y12 = y[0] * y[0], r1 = p[0] * y12 * y12 * root, r2 = p[1] * y[2] * y[3],
           r3 = p[2] * y[0] * y[4], r4 = p[3] * y[0] * y[3] * y[3], r5 = p[4] * y[5] * y[5] * root;
    f[0] = -2 * r1 + r2 - r3 - r4;
    f[1] = -0.5 * r1 - r4 - 0.5 * r5 + p[5] - p[6] * y[1];
    f[2] = r1 - r2 + r3;
    f[3] = -r2 + r3 - 2 * r4;
    f[4] = r2 - r3 + r5;
    f[5] = p[7] * y[0] * y[3] - p[8] * y[5];
}

static void chemakzo_jac(const double *p, const double *y, double *J)
{
    double root = sqrt(y[1]), y3 = y[0] * y[0] * y[0];
    double r11 = 4 * p[0] * y3 * root, r12 = 0.5 * p[0] * y3 * y[0] / root, r23 = p[1] * y[3],
           r24 = p[1] * y[2], r31 = p[2] * y[4], r35 = p[2] * y[0], r41 = p[3] * y[3] * y[3],
           r44 = 2 * p[3] * y[0] * y[3], r52 = 0.5 * p[4] * y[5] * y[5] / root, r56 = 2 * p[4] * y[5] * root;
#define AT(i, j) J[(i) + 6 * (j)]
    memset(J, 0, 36 * sizeof *J);
    AT(0, 0) = -2 * r11 - r31 - r41, AT(0, 1) = -2 * r12, AT(0, 2) = r23, AT(0, 3) = r24 - r44,
          AT(0, 4) = -r35;
    AT(1, 0) = -0.5 * r11 - r41, AT(1, 1) = -0.5 * r12 - 0.5 * r52 - p[6], AT(1, 3) = -r44,
          AT(1, 5) = -0.5 * r56;
    AT(2, 0) = r11 + r31, AT(2, 1) = r12, AT(2, 2) = -r23, AT(2, 3) = -r24, AT(2, 4) = r35;
    AT(3, 0) = r31 - 2 * r41, AT(3, 2) = -r23, AT(3, 3) = -r24 - 2 * r44, AT(3, 4) = r35;
    AT(4, 0) = -r31, AT(4, 1) = r52, AT(4, 2) = r23, AT(4, 3) = r24, AT(4, 4) = -r35, AT(4, 5) = r56;
    AT(5, 0) = p[7] * y[3], AT(5, 3) = p[7] * y[0], AT(5, 5) = -p[8];
#undef AT
}

static const kinetics cases[] = {
    {"robertson", 3, 3, 40, {1e-4, 1e-8, 1e-4}, {1, 0, 0}, {0.04, 1e4, 3e7}, robertson_f, robertson_jac, 0},
    {"hires",
     8,
     10,
     321.8122,
     {1, 1, 1, 1, 1, 1, 1e-2, 1e-2},
     {1, 0, 0, 0, 0, 0, 0, 0.0057},
     {1.71, 0.43, 8.32, 0.69, 0.035, 8.32, 280, 0.69, 0.69, 0.0007},
     hires_f,
     hires_jac,
     0},
    {"chemakzo",
     6,
     8,
     180,
     {1e-1, 1e-2, 1e-1, 1e-2, 1e-1, 1e-1},
     {0.444, 0.00123, 0, 0.007, 0, 115.83 * 0.444 * 0.007},
     {18.7, 0.58, 0.58 / 34.4, 0.09, 0.42, 3.3 * 0.9 / 737, 3.3, 115.83, 1},
     chemakzo_f,
     chemakzo_jac,
     1}};

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

typedef struct counts {
    long steps, f, fs, lu;
} counts;

/* ---- Ours ------------------------------------------------------------------------------------------- */

static int rhs(double t, const double *y, double *f, void *user)
{
    const kinetics *c = user;
    (void)t;
    c->f(c->p, y, f);
    return 0;
}

static int jacobian(double t, const double *y, double *J, void *user)
{
    const kinetics *c = user;
    (void)t;
    c->jac(c->p, y, J);
    return 0;
}

static int dfdp(double t, const double *y, const double *yp, int j, double *out, void *user)
{
    const kinetics *c = user;
    double e[P_MAX] = {0};
    (void)t;
    (void)yp;
    e[j] = 1;
    c->f(e, y, out);
    return 0;
}

static int djdp(double t, const double *y, const double *yp, int j, double *out, void *user)
{
    const kinetics *c = user;
    double e[P_MAX] = {0};
    (void)t;
    (void)yp;
    e[j] = 1;
    c->jac(e, y, out);
    return 0;
}

/* The algebraic variable follows its parameter at the start. */
static int dy0dp(int j, double *out, void *user)
{
    const kinetics *c = user;
    if (c->algebraic && j == c->np - 1) out[c->n - 1] = c->y0[0] * c->y0[3];
    return 0;
}

static int ours(const kinetics *c, const char *method, int np, double rtol, int uncontrolled, double *s,
                counts *out)
{
    static const char *const name[P_MAX] = {"p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9", "p10"};
    double atol[N_MAX];
    for (int i = 0; i < c->n; i++) atol[i] = rtol * c->atol[i];
    dae_parameter_products products = {
        .dfdp = dfdp, .djdp = djdp, .dy0dp = dy0dp, .value = c->p, .user = (void *)c};
    const double mass[N_MAX] = {1, 1, 1, 1, 1, 0};
    dae_problem p = {.system = {.kind = DAE_KIND_ODE,
                                .ode = {.n = c->n, .f = rhs, .jac = jacobian, .user = (void *)c},
                                .structure = {.autonomous = 1}},
                     .t_end = c->t_end,
                     .y0 = c->y0};
    if (c->algebraic) {
        p.system.kind = DAE_KIND_DAE;
        p.system.dae = (dae_dae){
            .n = c->n, .mass = dae_diagonal(c->n, mass), .f = rhs, .jac = jacobian, .user = (void *)c};
    }
    dae_sensitivity_options o = dae_sensitivity_options_default(&p);
    o.simulation.options.method = method;
    o.simulation.options.rtol = rtol;
    o.simulation.options.atol_vec = atol;
    o.products = &products;
    o.uncontrolled = uncontrolled;
    double y[N_MAX];
    dae_stats stats;
    dae_error err = {0};
    if (dae_sensitivity_run(&p, &o, name, np, &c->t_end, 1, y, s, &stats, &err) < 0) return -1;
    *out = (counts){stats.accepted, stats.f, stats.f * np, stats.lu};
    return 0;
}

/* ---- CVODES ---------------------------------------------------------------------------------------------- */

#ifdef HAVE_CVODES
static int cv_f(realtype t, N_Vector y, N_Vector f, void *user)
{
    return rhs(t, NV_DATA_S(y), NV_DATA_S(f), user);
}

static int cv_jac(realtype t, N_Vector y, N_Vector f, SUNMatrix J, void *user, N_Vector a, N_Vector b,
                  N_Vector c)
{
    (void)f, (void)a, (void)b, (void)c;
    return jacobian(t, NV_DATA_S(y), SM_DATA_D(J), user);
}

/* J s + f_p */
static int cv_fs(int np, realtype t, N_Vector y, N_Vector yp, int j, N_Vector s, N_Vector sp, void *user,
                 N_Vector a, N_Vector b)
{
    const kinetics *c = user;
    double J[N_MAX * N_MAX], *out = NV_DATA_S(sp);
    (void)np, (void)yp, (void)a, (void)b;
    dfdp(t, NV_DATA_S(y), NULL, j, out, user);
    c->jac(c->p, NV_DATA_S(y), J);
    for (int k = 0; k < c->n; k++) {
        for (int i = 0; i < c->n; i++) out[i] += J[i + k * c->n] * NV_DATA_S(s)[k];
    }
    return 0;
}

/* All parts of J at once: one evaluation of J serves all columns. */
static int cv_fs_all(int np, realtype t, N_Vector y, N_Vector yp, N_Vector *s, N_Vector *sp, void *user,
                     N_Vector a, N_Vector b)
{
    const kinetics *c = user;
    double J[N_MAX * N_MAX];
    (void)yp, (void)a, (void)b;
    c->jac(c->p, NV_DATA_S(y), J);
    for (int j = 0; j < np; j++) {
        double *out = NV_DATA_S(sp[j]);
        dfdp(t, NV_DATA_S(y), NULL, j, out, user);
        for (int k = 0; k < c->n; k++) {
            for (int i = 0; i < c->n; i++) out[i] += J[i + k * c->n] * NV_DATA_S(s[j])[k];
        }
    }
    return 0;
}

static int theirs(const kinetics *c, int np, int how, int control, double rtol, double *s, counts *out)
{
    SUNContext context;
    SUNContext_Create(NULL, &context);
    N_Vector y = N_VNew_Serial(c->n, context), atol = N_VNew_Serial(c->n, context);
    for (int i = 0; i < c->n; i++) NV_Ith_S(y, i) = c->y0[i], NV_Ith_S(atol, i) = rtol * c->atol[i];
    N_Vector *ys = N_VCloneVectorArray(np, y);
    for (int j = 0; j < np; j++) N_VConst(0, ys[j]);
    void *m = CVodeCreate(CV_BDF, context);
    CVodeInit(m, cv_f, 0, y);
    CVodeSVtolerances(m, rtol, atol);
    CVodeSetUserData(m, (void *)c);
    CVodeSetMaxNumSteps(m, 1000000);
    SUNMatrix J = SUNDenseMatrix(c->n, c->n, context);
    SUNLinearSolver ls = SUNLinSol_Dense(y, J, context);
    CVodeSetLinearSolver(m, ls, J);
    CVodeSetJacFn(m, cv_jac);
    if (how == CV_STAGGERED1) CVodeSensInit1(m, np, how, cv_fs, ys);
    else CVodeSensInit(m, np, how, cv_fs_all, ys);
    CVodeSetSensParams(m, NULL, (double *)c->p, NULL);
    CVodeSensEEtolerances(m);
    CVodeSetSensErrCon(m, control);
    realtype t;
    int bad = CVode(m, c->t_end, y, &t, CV_NORMAL) < 0;
    if (!bad) bad = CVodeGetSens(m, &t, ys) < 0;
    for (int j = 0; j < np; j++) memcpy(s + j * c->n, NV_DATA_S(ys[j]), (size_t)c->n * sizeof *s);
    CVodeGetNumSteps(m, &out->steps);
    CVodeGetNumRhsEvals(m, &out->f);
    CVodeGetSensNumRhsEvals(m, &out->fs);
    CVodeGetNumLinSolvSetups(m, &out->lu);
    N_VDestroyVectorArray(ys, np);
    N_VDestroy(y);
    N_VDestroy(atol);
    SUNLinSolFree(ls);
    SUNMatDestroy(J);
    CVodeFree(&m);
    SUNContext_Free(&context);
    return bad ? -1 : 0;
}
#endif

/* ---- IDAS: f - M y' = 0 ------------------------------------------------------------------------------------ */

#ifdef HAVE_CVODES
static int ida_f(realtype t, N_Vector y, N_Vector yp, N_Vector r, void *user)
{
    const kinetics *c = user;
    rhs(t, NV_DATA_S(y), NV_DATA_S(r), user);
    for (int i = 0; i < c->n - 1; i++) NV_Ith_S(r, i) -= NV_Ith_S(yp, i);
    return 0;
}

static int ida_jac(realtype t, realtype cj, N_Vector y, N_Vector yp, N_Vector r, SUNMatrix J, void *user,
                   N_Vector a, N_Vector b, N_Vector d)
{
    const kinetics *c = user;
    (void)yp, (void)r, (void)a, (void)b, (void)d;
    jacobian(t, NV_DATA_S(y), SM_DATA_D(J), user);
    for (int i = 0; i < c->n - 1; i++) SM_ELEMENT_D(J, i, i) -= cj;
    return 0;
}

static int ida_fs(int np, realtype t, N_Vector y, N_Vector yp, N_Vector r, N_Vector *s, N_Vector *sp,
                  N_Vector *out, void *user, N_Vector a, N_Vector b, N_Vector d)
{
    const kinetics *c = user;
    cv_fs_all(np, t, y, NULL, s, out, user, a, b);
    (void)yp, (void)r, (void)d;
    for (int j = 0; j < np; j++) {
        for (int i = 0; i < c->n - 1; i++) NV_Ith_S(out[j], i) -= NV_Ith_S(sp[j], i);
    }
    return 0;
}

static int theirs_dae(const kinetics *c, int np, int how, int control, double rtol, double *s, counts *out)
{
    SUNContext context;
    SUNContext_Create(NULL, &context);
    N_Vector y = N_VNew_Serial(c->n, context), yp = N_VNew_Serial(c->n, context),
             atol = N_VNew_Serial(c->n, context), id = N_VNew_Serial(c->n, context);
    rhs(0, c->y0, NV_DATA_S(yp), (void *)c);
    for (int i = 0; i < c->n; i++) {
        NV_Ith_S(y, i) = c->y0[i], NV_Ith_S(atol, i) = rtol * c->atol[i];
        NV_Ith_S(id, i) = i < c->n - 1;
    }
    NV_Ith_S(yp, c->n - 1) = c->p[7] * (NV_Ith_S(yp, 0) * c->y0[3] + c->y0[0] * NV_Ith_S(yp, 3));
    N_Vector *ys = N_VCloneVectorArray(np, y), *sp = N_VCloneVectorArray(np, y);
    for (int j = 0; j < np; j++)
        N_VConst(0, ys[j]), N_VConst(0, sp[j]), dy0dp(j, NV_DATA_S(ys[j]), (void *)c);
    cv_fs_all(np, 0, y, NULL, ys, sp, (void *)c, y, y);
    for (int j = 0; j < np; j++) NV_Ith_S(sp[j], c->n - 1) = 0;
    void *m = IDACreate(context);
    IDAInit(m, ida_f, 0, y, yp);
    IDASVtolerances(m, rtol, atol);
    IDASetUserData(m, (void *)c);
    IDASetMaxNumSteps(m, 1000000);
    IDASetId(m, id);
    SUNMatrix J = SUNDenseMatrix(c->n, c->n, context);
    SUNLinearSolver ls = SUNLinSol_Dense(y, J, context);
    IDASetLinearSolver(m, ls, J);
    IDASetJacFn(m, ida_jac);
    IDASensInit(m, np, how, ida_fs, ys, sp);
    IDASetSensParams(m, NULL, (double *)c->p, NULL);
    IDASensEEtolerances(m);
    IDASetSensErrCon(m, control);
    realtype t;
    int bad = IDASolve(m, c->t_end, &t, y, yp, IDA_NORMAL) < 0;
    if (!bad) bad = IDAGetSens(m, &t, ys) < 0;
    for (int j = 0; j < np; j++) memcpy(s + j * c->n, NV_DATA_S(ys[j]), (size_t)c->n * sizeof *s);
    IDAGetNumSteps(m, &out->steps);
    IDAGetNumResEvals(m, &out->f);
    IDAGetSensNumResEvals(m, &out->fs);
    IDAGetNumLinSolvSetups(m, &out->lu);
    N_VDestroyVectorArray(ys, np);
    N_VDestroyVectorArray(sp, np);
    N_VDestroy(y);
    N_VDestroy(yp);
    N_VDestroy(atol);
    N_VDestroy(id);
    SUNLinSolFree(ls);
    SUNMatDestroy(J);
    IDAFree(&m);
    SUNContext_Free(&context);
    return bad ? -1 : 0;
}

/* Corrector k of CVODES, or of IDAS, which has no staggered1. */
static int peer(const kinetics *c, int k, int control, double rtol, double *s, counts *out)
{
    static const int corrector[] = {CV_SIMULTANEOUS, CV_STAGGERED, CV_STAGGERED1};
    if (!c->algebraic) return theirs(c, c->np, corrector[k], control, rtol, s, out);
    return k == 2 ? -1 : theirs_dae(c, c->np, k ? IDA_STAGGERED : IDA_SIMULTANEOUS, control, rtol, s, out);
}
#endif

/* ---- Work at equal accuracy ---------------------------------------------------------------------------------- */

static double error_of(const kinetics *c, const double *s, const double *exact)
{
    double worst = 0;
    for (int j = 0; j < c->np; j++) {
        for (int i = 0; i < c->n; i++)
            worst = fmax(worst, fabs(s[i + j * c->n] - exact[i + j * c->n]) / fabs(exact[i + j * c->n]));
    }
    return worst;
}

typedef struct best {
    double seconds, error;
    counts work;
    char how[48];
} best;

enum { TARGETS = 5 };
static const double target[TARGETS] = {1e-3, 1e-4, 1e-5, 1e-6, 1e-7};

static void note(best *b, double seconds_, double error, const counts *work, const char *how)
{
    for (int k = 0; k < TARGETS; k++) {
        if (error > target[k] || (b[k].seconds > 0 && b[k].seconds <= seconds_)) continue;
        b[k] = (best){.seconds = seconds_, .error = error, .work = *work};
        snprintf(b[k].how, sizeof b[k].how, "%s", how);
    }
}

static void compare(const kinetics *c)
{
    static const char *const method[] = {"rodas5p", "rodas4p2", "radau5", "radau", "vode"};
    double exact[N_MAX * P_MAX], s[N_MAX * P_MAX];
    counts work;
    best mine[TARGETS] = {{0}}, other[TARGETS] = {{0}};
    if (ours(c, "radau", c->np, 1e-12, 0, exact, &work)) return;
    enum { REPEAT = 5 };
    for (int e = 5; e <= 19; e += 2) {
        double rtol = pow(10, -e / 2.0);
        for (int k = 0; k < 10; k++) {
            double least = INFINITY, error = INFINITY;
            for (int r = 0; r < REPEAT; r++) {
                double begin = seconds();
                if (ours(c, method[k / 2], c->np, rtol, k % 2, s, &work)) break;
                least = fmin(least, seconds() - begin);
                error = error_of(c, s, exact);
            }
            char how[48];
            snprintf(how, sizeof how, "%s%s %.1e", method[k / 2], k % 2 ? ", y controlled" : "", rtol);
            note(mine, least, error, &work, how);
        }
#ifdef HAVE_CVODES
        static const char *const word[] = {"simultaneous", "staggered", "staggered1"};
        for (int k = 0; k < 6; k++) {
            double least = INFINITY, error = INFINITY;
            for (int r = 0; r < REPEAT; r++) {
                double begin = seconds();
                if (peer(c, k / 2, k % 2, rtol, s, &work)) break;
                least = fmin(least, seconds() - begin);
                error = error_of(c, s, exact);
            }
            char how[48];
            snprintf(how, sizeof how, "%s%s %.1e", word[k / 2], k % 2 ? "" : ", y controlled", rtol);
            note(other, least, error, &work, how);
        }
#endif
    }
    printf("\n%s, %d parameters: microseconds at equal accuracy (steps, f, fS, LU)\n", c->name, c->np);
    for (int k = 0; k < TARGETS; k++) {
        printf("  %.0e  ours %8.1f us (%4ld %5ld %6ld %4ld) %-28s", target[k], 1e6 * mine[k].seconds,
               mine[k].work.steps, mine[k].work.f, mine[k].work.fs, mine[k].work.lu, mine[k].how);
        if (other[k].seconds > 0)
            printf("  %s %8.1f us (%4ld %5ld %6ld %4ld) %-32s ratio %.3f", c->algebraic ? "IDAS  " : "CVODES",
                   1e6 * other[k].seconds, other[k].work.steps, other[k].work.f, other[k].work.fs,
                   other[k].work.lu, other[k].how, mine[k].seconds / other[k].seconds);
        printf("\n");
    }
}

/* Time by the number of parameters. */
static void growth(const kinetics *c)
{
    double s[N_MAX * P_MAX];
    counts work;
    printf("\n%s by rodas5p at 1e-6: microseconds for 1, 2, ... parameters:", c->name);
    for (int np = 1; np <= c->np; np++) {
        double least = INFINITY;
        for (int r = 0; r < 9; r++) {
            double begin = seconds();
            if (ours(c, "rodas5p", np, 1e-6, 1, s, &work)) return;
            least = fmin(least, seconds() - begin);
        }
        printf(" %.0f", 1e6 * least);
    }
    printf("\n");
}

/* ---- The adjoint of emep -------------------------------------------------------------------------------------- */

static int sum(double t, const double *y, double *value, double *dy, void *user)
{
    int n = *(int *)user;
    (void)t;
    *value = 0;
    for (int i = 0; i < n; i++) *value += y[i], dy[i] = 1;
    return 0;
}

static void emep(void)
{
    dae_error err = {0};
    dae_problem *p = dae_problem_open("emep", NULL, 0, &err);
    if (!p) return;
    int n = dae_system_size(&p->system);
    char text[66][16];
    const char *name[66];
    for (int i = 0; i < 66; i++) {
        snprintf(text[i], sizeof text[i], "y%d(0)", i + 1);
        name[i] = text[i];
    }
    dae_functional G = {.end = sum, .user = &n};
    dae_gradient_options o = dae_gradient_options_default(p);
    dae_gradient_stats stats;
    double value, gradient[66], plain;
    o.simulation.options.method = "rodas5p";
    o.mode = "adjoint";
    dae_simulation *s = dae_simulation_open(p, &o.simulation, &err);
    double begin = seconds();
    if (s && dae_simulation_start(s, &err) >= 0) dae_simulation_advance(s, o.simulation.t_end, &err);
    plain = seconds() - begin;
    dae_simulation_close(s);
    begin = seconds();
    dae_status r = dae_gradient(p, &o, &G, name, 66, &value, gradient, &stats, &err);
    double all = seconds() - begin;
    if (r < 0) printf("\nemep: %s\n", err.text);
    else
        printf("\nemep, 66 initial values: run %.4f s, gradient %.4f s (%ld steps, forward %.4f s, back %.4f "
               "s): %.2f runs\n",
               plain, all, stats.steps, stats.forward_seconds, stats.back_seconds, all / plain);
    dae_problem_destroy(p);
}

int main(void)
{
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) compare(&cases[k]);
    fflush(stdout);
    growth(&cases[1]);
    emep();
    return 0;
}
