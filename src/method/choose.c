/* "auto": which method and form a system gets, and why. This is the whole policy: a table of rules on what can be measured, of
 * which the first that holds decides; everyone who leaves something open is answered by it (the driver for a system as it
 * stands, a simulation for a problem).
 *
 * An ODE is judged by the number of its fastest time constants in the interval, the spectral radius of df/dy times the length,
 * estimated by a few steps of the power method at the start. A method that is chosen as explicit and meets stiffness later is replaced by the
 * driver. A mechanism is judged by its fastest motion that decays: oscillations have to be followed by every method. */
#include "method/choose.h"
#include "method/driver.h"

#include "core/number.h"
#include "core/vector.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Time constants in the interval above which an implicit method is taken; ours: below it an explicit method needs a few
 * hundred steps at most. */
#define STIFF_LIMIT 1000
/* Those that decay bound the steps of an explicit method by stability, not by accuracy: there the border is 125 of them, or 25 per
 * equation (10 with a Jacobian), times (1e-4/rtol)^(1/50); dae_stiff_limit. Ours: dop853 against radau5 and radau without a Jacobian, of
 * linear systems with 3, 6 and 10 equations as fast at about 65, 210 and 250 at 1e-4. */
#define DECAY_LEAST 125
#define DECAY_LEAST_GIVEN 40
#define DECAY_EACH 25
#define DECAY_EACH_GIVEN 10
#define DECAY_DIGITS 0.02
/* At the start nobody sees whether stability will bound the steps: the fastest motion may go on to be the one that is followed. Up to
 * so many constants of a small system, unless f is linear, an explicit run looks at it while it runs, and loses little if it has to change. Ours, by dop853
 * begun so over radau begun with: lorenz (456) 0.3 to 0.6, repressilator (377) 0.5 to 0.9; with dense output in every step motor (294) 1.3 to 1.9. */
#define DECAY_START 500
#define DECAY_START_PIECES 200
/* Of a small linear system all is seen at the start. Where it comes to rest the steps of an implicit method grow without bound: it is as fast at 20
 * constants per equation, of more than four at 5 n per equation, times (1e-5/rtol)^0.06. What oscillates or is driven goes on, and the longest stable steps of an
 * explicit method are not accurate: the border at 1e-4 times (rtol/1e-4)^0.1. Ours, where dop853 is as fast as radau: chains that come to rest, 2 equations 35
 * to 55, 3 and 4 60 and more, 6 140 at 1e-3 and 240 at 1e-7, 10 more than 300; driven ones of 2 to 4 45 at 1e-3, 20 at 1e-6, 10 at 1e-9, oscillators 50, 30, 10. */
#define REST_EACH 20
#define REST_PAIRS 5
#define REST_DIGITS 0.06
#define MOVE_DIGITS 0.1
#define SOON 45 /* ours: such time constants from which stability is felt at 1e-7 */
/* The same for mechanisms, whose evaluations are dear and whose Jacobians are dearer; ours: the truck with 1900 is as fast
 * either way, a ball on a stiff floor with 6300 eight times as fast by an implicit method. */
#define STIFF_MECHANISM 3000
#define POWER_STEPS 8
#define GOLDEN 0.6180339887498949 /* of its multiples the fractions lie evenly */
#define POWER_MATRIX 4 /* ours: up to so many equations J itself takes fewer evaluations than the steps */
/* ours: sin^2 of the angle between u and J u below which the steps that follow say the same */
#define POWER_SAME 1e-8
#define STRAIGHT 1e-3 /* ours: part of a difference by which the next may differ where f is called linear */
#define ROUNDED 1e-9  /* ours: part of the largest that is rounding */
/* The rate of an ODE is the mean over so many of them: of y'' = -k y single ones give k and 1, the rate is sqrt(k). */
#define POWER_LAST 4
/* At and below this rtol dop853 is taken, else dopri5; ours: on the DETEST collections dop853 has 3.7 % of its errors above 100
 * tolerances, dopri5 10 %. */
#define TIGHT 1.01e-2

const char dae_choose_no_memory[] = "out of memory";

/* A mode decays if its rate is at least this part of its radius; others oscillate, and every method has to follow them. Ours:
 * far from both. */
#define OSCILLATION 0.1
#define SWINGS \
    0.5 /* ours: it oscillates more than it decays; steps of the power method are too few to tell less */
#define SINGLE \
    0.02        /* ours: sin^2 of the angle between u and J u up to which u is the vector of one eigenvalue */
#define RELAX 4 /* ours: steps of Newton's method to where a motion has died out */

/* What the power method saw at (t, y): growth[k] = |J u_k| for unit vectors u_k, u_(k+1) = J u_k / growth[k], and of the last
 * three the products u0.u1, u1.u2 and u0.u2. */
enum { OUT_OF_MEMORY = -2 };
typedef struct powers {
    int steps; /* -1: f cannot be evaluated */
    double growth[POWER_STEPS], dot[3];
    double decay; /* rate of the fastest motion if it decays and goes on to; 0: it does not */
    int linear;   /* 1: it does since f is linear */
    int moves;    /* 1: and f is driven, or that motion oscillates */
} powers;

static double product(int n, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* The last three vectors lie in the space of the largest eigenvalues, a pair or one: the coefficients of
 * J^2 u0 + alpha J u0 + beta u0 = 0 by least squares give them. */
static double fastest_decay(const powers *q, int *single, int *oscillates)
{
    powers p = *q;
    *single = *oscillates = 0;
    if (p.steps < 3) return 0;
    double g1 = p.growth[p.steps - 2], g2 = p.growth[p.steps - 1], c = p.dot[0], left = 1 - c * c;
    *single = !(left > SINGLE);
    if (!(left > 1e-10)) return c < 0 ? g2 : 0; /* one real eigenvalue */
    double alpha = -(p.dot[1] - c * p.dot[2]) / left * g2, beta = -(p.dot[2] - c * p.dot[1]) / left * g1 * g2;
    double square = alpha * alpha / 4 - beta;
    *oscillates = square < -SWINGS * beta;
    if (square < 0) return alpha / 2 > OSCILLATION * sqrt(beta) ? sqrt(beta) : 0;
    double fast = alpha > 0 ? alpha / 2 + sqrt(square) : alpha / 2 - sqrt(square);
    return fast > 0 ? fast : 0;
}

/* Whether a motion that decays by the rate goes on to when it has died out: where f is curved the rate can be that of the start only
 * (radiation of a hot body). u: its direction, a unit vector; x, f0, f1: room, f0 = f(t, x). Newton's method along u to where f
 * has no part in it. */
static double persisting(const dae_ode *ode, double t, double eps, double least, double rate, const double *u,
                         double *x, double *f0, double *f1)
{
    int n = ode->n;
    for (int k = 0; k < RELAX && rate > least; k++) {
        double move = product(n, u, f0) / rate;
        for (int i = 0; i < n; i++) x[i] += move * u[i];
        if (ode->f(t, x, f0, ode->user) != 0 || !dae_all_finite(n, f0)) return 0;
        for (int i = 0; i < n; i++) x[i] += eps * u[i];
        if (ode->f(t, x, f1, ode->user) != 0 || !dae_all_finite(n, f1)) return 0;
        for (int i = 0; i < n; i++) x[i] -= eps * u[i];
        rate = (product(n, u, f0) - product(n, u, f1)) / eps;
    }
    return rate > least ? rate : 0;
}

/* Where the power method stands: f0 = f(t, y), room for another f and y, the last three vectors, the newest last. */
typedef struct powering {
    const dae_ode *ode;
    double t, eps;
    const double *y;
    double *f0, *f1, *x, *u[3];
} powering;

/* out = J v by a difference; nonzero: f cannot be evaluated. */
static int difference(const powering *w, const double *v, double *out)
{
    int n = w->ode->n;
    double q = 1 / w->eps;
    for (int i = 0; i < n; i++) w->x[i] = w->y[i] + w->eps * v[i];
    if (w->ode->f(w->t, w->x, w->f1, w->ode->user) != 0 || !dae_all_finite(n, w->f1)) return 1;
    for (int i = 0; i < n; i++) out[i] = (w->f1[i] - w->f0[i]) * q;
    return 0;
}

static void scale(int n, double q, double *v)
{
    for (int i = 0; i < n; i++) v[i] *= q;
}

/* Of a few equations: J, of which zero rows and columns make a matrix of one size, and its powers; norms when all is there. */
static void take_powers_of_matrix(powering *w, powers *p)
{
    enum { N = POWER_MATRIX };
    int n = w->ode->n;
    double J[N][N] = {{0}}, v[POWER_STEPS + 1][N] = {{0}}, norm[POWER_STEPS + 1], largest = 0;
    for (int j = 0; j < n; j++) {
        double unit[N] = {0};
        unit[j] = 1;
        if (difference(w, unit, J[j])) return;
        largest = fmax(largest, dae_largest(N, J[j]));
        v[0][j] = w->u[2][j];
    }
    p->steps = POWER_STEPS;
    scale(N * N, largest > 0 ? 1 / largest : 0, J[0]);
    for (int k = 0; k < POWER_STEPS; k++) {
        for (int j = 0; j < N; j++) {
            for (int i = 0; i < N; i++) v[k + 1][i] += J[j][i] * v[k][j];
        }
    }
    for (int k = 0; k <= POWER_STEPS; k++) norm[k] = sqrt(dae_squares(N, v[k]));
    for (int k = 0; k < POWER_STEPS; k++)
        p->growth[k] = norm[k + 1] > 0 ? largest * norm[k + 1] / norm[k] : 0;
    for (int k = 0; k < 3; k++) {
        int from = POWER_STEPS - 2 + k;
        dae_copy(n, v[from], w->u[k]);
        scale(n, norm[from] > 0 ? 1 / norm[from] : 0, w->u[k]);
    }
}

/* The steps by differences; those behind an eigenvector would repeat the last one. */
static void take_powers(powering *w, powers *p)
{
    int n = w->ode->n;
    while (p->steps < POWER_STEPS) {
        double *next = w->u[0];
        if (difference(w, w->u[2], next)) break;
        double norm = p->growth[p->steps++] = sqrt(product(n, next, next));
        if (!(norm > 0)) break;
        scale(n, 1 / norm, next);
        w->u[0] = w->u[1];
        w->u[1] = w->u[2];
        w->u[2] = next;
        double c = product(n, w->u[1], next);
        if (1 - c * c >= POWER_SAME) continue;
        for (; p->steps < POWER_STEPS; p->steps++) p->growth[p->steps] = norm;
        for (int i = 0; i < n; i++) w->u[1][i] = c < 0 ? -next[i] : next[i];
        dae_copy(n, next, w->u[0]);
    }
}

/* Element i of a vector that no system knows. */
static double generic(int i)
{
    return 0.5 + GOLDEN * (i + 1) - floor(GOLDEN * (i + 1));
}

/* 1: each component of f changes by as much over a second step of the size of y as over the first: rates stay what they are. The first of the three vectors is
 * room from here on. */
static int is_linear(powering *w, double size)
{
    int n = w->ode->n;
    double *f[2] = {w->u[0], w->f1}, largest = 0, part = size / sqrt(n);
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < n; i++) w->x[i] = w->y[i] + (k + 1) * part * generic(i);
        if (w->ode->f(w->t, w->x, f[k], w->ode->user) != 0 || !dae_all_finite(n, f[k])) return 0;
    }
    for (int i = 0; i < n; i++) largest = fmax(largest, fabs(f[0][i] - w->f0[i]));
    for (int i = 0; i < n; i++) {
        double first = f[0][i] - w->f0[i], second = f[1][i] - f[0][i];
        if (!(fabs(second - first) <= STRAIGHT * fabs(first) + ROUNDED * largest)) return 0;
    }
    return 1;
}

/* 1: f at y depends on t, at a time that no period has in common with the interval. The first of the three vectors is room. */
static int is_driven(powering *w, double t_end)
{
    int n = w->ode->n;
    double *f = w->u[0], t = w->t + (GOLDEN - 0.5) * (t_end - w->t), largest = dae_largest(n, w->f0);
    if (w->ode->f(t, w->y, f, w->ode->user) != 0) return 1;
    for (int i = 0; i < n; i++) {
        if (!(fabs(f[i] - w->f0[i]) <= ROUNDED * largest)) return 1;
    }
    return 0;
}

/* Rates from `least` on are looked at more closely, from `straight` on whether f is linear. slope: room for f(t, y), or NULL. */
static powers power_method(const dae_ode *ode, double t, double t_end, const double *y, double least,
                           double straight, double *slope)
{
    powers p = {.steps = -1};
    enum { SMALL_N = 32 };
    int n = ode->n;
    /* on the stack: an allocation is a good part of what the choice for a small system costs */
    double room[6 * SMALL_N];
    double *work = n <= SMALL_N ? room : calloc(6 * (size_t)n, sizeof *work);
    if (!work) {
        p.steps = OUT_OF_MEMORY;
        return p;
    }
    double size = sqrt(product(n, y, y));
    powering w = {.ode = ode,
                  .t = t,
                  .eps = 1e-7 * (size > 0 ? size : 1),
                  .y = y,
                  .f0 = work,
                  .f1 = work + n,
                  .x = work + 2 * n,
                  .u = {work + 3 * n, work + 4 * n, work + 5 * n}};
    dae_zero(2 * n, work + 3 * n);
    for (int i = 0; i < n; i++) w.u[2][i] = generic(i);
    scale(n, 1 / sqrt(product(n, w.u[2], w.u[2])), w.u[2]);
    if (ode->f(t, y, w.f0, ode->user) == 0 && dae_all_finite(n, w.f0)) {
        p.steps = 0;
        if (n <= POWER_MATRIX) take_powers_of_matrix(&w, &p);
        else take_powers(&w, &p);
    }
    if (slope) dae_copy(n, w.f0, slope);
    p.dot[0] = product(n, w.u[0], w.u[1]);
    p.dot[1] = product(n, w.u[1], w.u[2]);
    p.dot[2] = product(n, w.u[0], w.u[2]);
    int single;
    p.decay = fastest_decay(&p, &single, &p.moves);
    if (p.decay > straight) p.linear = is_linear(&w, size > 0 ? size : 1);
    if (p.linear && !p.moves) p.moves = is_driven(&w, t_end);
    if (p.decay > least && single && !p.linear) {
        dae_copy(n, y, w.x);
        p.decay = persisting(ode, t, w.eps, least, p.decay, w.u[2], w.x, w.f0, w.f1);
    }
    if (work != room) free(work);
    return p;
}

/* The largest rate, the spectral radius of df/dy; NAN where f cannot be evaluated, < 0: out of memory. */
static double largest_rate(const powers *p)
{
    double mean = 0;
    if (p->steps == OUT_OF_MEMORY) return -1;
    if (p->steps >= POWER_LAST) {
        const double *g = p->growth + p->steps - POWER_LAST;
        return sqrt(sqrt(g[0] * g[1]) * sqrt(g[2] * g[3]));
    }
    for (int k = 0; k < p->steps; k++) mean += log(p->growth[k] + DBL_MIN) / p->steps;
    return p->steps < 0 ? NAN : p->steps ? exp(mean) : 0;
}

double dae_fastest_decay(const dae_ode *ode, double t, const double *y)
{
    powers p = power_method(ode, t, t, y, INFINITY, INFINITY, NULL);
    return p.steps == OUT_OF_MEMORY ? -1 : p.decay;
}

static double smallest_rtol(const dae_options *opt, int n)
{
    double rtol = opt->rtol_vec ? opt->rtol_vec[0] : opt->rtol;
    for (int i = 1; opt->rtol_vec && i < n; i++) rtol = fmin(rtol, opt->rtol_vec[i]);
    return rtol;
}

/* ---- The rules -------------------------------------------------------------------------------------- */

#define SMALL 32        /* ours: equations; beyond, every factorization counts */
#define LOOSE 3e-5      /* ours: rtol above which order 4 does it */
#define CRUDE 2e-3      /* ours: rtol above which it does for few equations and DAEs too */
#define FOLLOW 1.01e-7  /* ours: rtol up to which motions are to be followed that radau damps */
#define REST 1e-2       /* ours: part of a tolerance */
#define NARROW 8        /* ours: diagonals beside the main one */
#define DEAD_ATOL 1e-10 /* ours: atol/rtol */
#define FEW 80          /* ours: unknowns of the form ggl up to which radau beats multistep methods on it */
#define MEDIUM \
    100 /* ours: degrees of freedom; a chain of 100 rods with stiff hinges needs as long either way */
#define GRID 5000 /* ours: equations */
#define MANY 6 /* ours: degrees of freedom beyond which a multistep method on minimal coordinates is faster */

enum { ANY = -1 };
enum {
    EXACT = 1,         /* a small ODE with a Jacobian, and tolerances that do not ask for digits of nothing */
    NO_VELOCITIES = 2, /* y'' = f(t,y) */
    TREE = 4,          /* joint coordinates leave no loops */
    FRICTION = 8,      /* forces depend on the multipliers */
    LARGE = 16,        /* many degrees of freedom */
    INDEX_1 = 32,      /* no variables of a higher index */
    EIGHT = 64,        /* equations or more */
    FORMS = 128,       /* a mechanism that may be given another form */
    COMPACT = 256,     /* positions, velocities and twice the multipliers are few */
    MODERATE = 512,    /* degrees of freedom so few that complex factors cost less than more steps */
    HUGE_ODE = 1024,   /* equations on a grid: one real system per step, by GMRES where factors fill up */
    BAND = 2048,       /* an ODE with a narrow band that is given, and tolerances as for EXACT */
    DECAYS = 4096,     /* stability may bound the steps, of vern9 sooner than of dop853 */
    JACOBIAN = 8192,   /* of an ODE, given */
    PROBED = 16384,    /* a small ODE whose Jacobian differences give */
    RESTS = 131072,    /* a small ODE that is not stiff and begins where nothing moves */
    LONG = 65536,      /* more equations than a few */
    FOLLOWED = 32768,  /* y'' = f(t,y,y') with a Jacobian, whose fastest motion does not decay */
    PIECES = 262144,   /* events, switches or borders */
    LINEAR = 1048576,  /* few equations, linear; the fastest motion decays */
    MOVES = 2097152,   /* these, driven or oscillating */
    SMOOTH = 4194304,  /* the system says where it is not smooth */
    WATCHED = 524288   /* events or switches that depend on the state: dense output in every step */
};

typedef struct rule {
    dae_kind kind;
    int stiff;             /* 1, 0 or ANY */
    int needs;             /* all of these */
    double rtol;           /* smallest for this row */
    const char *method[2]; /* the first that this library has */
    const char *form;      /* mechanisms */
    const char *why;
} rule;

#define HALF_EXPLICIT_RK "half-explicit Runge-Kutta"
#define HALF_EXPLICIT_EXTRAPOLATION "half-explicit extrapolation"
#define ONE_LU "small, with a Jacobian: one LU per step and no iteration"

/* The first row that holds. ODEs are measured with `make peers` and `make auto`, time at equal accuracy: of less than eight
 * equations rodas5p needs 0.9 to 1.2 of radau5's time at 1e-3 and 1 to 1.6 of it at 1e-4 (vdpol, orego, rober, motor, nerve), rodas4p2 0.7 of that of rodas5p at 1e-2,
 * radau 1 to 1.2 of radau5's above 5e-6 and 0.4 to 1 below; without a Jacobian radau needs 0.8 to 0.9 of it at every tolerance (stiff
 * DETEST, the mean; B1 0.4 to 0.6). With eight and more (hires, pollu), where complex factors cost more, rodas4p2 and rodas5p need 0.4 to 0.7 of radau5's
 * time down to 1e-8. They take J at its word, so only where the system gives one, and not where an atol far below rtol asks for digits of
 * variables that have died out (e5: 2 digits instead of 8). Medical Akzo, four diagonals beside the main one: rodas5p 0.5 to 0.75 of
 * radau5's time down to 1e-6, radau below, rosnys4 0.6 of that of rodas5p at 1e-2. Beam, whose fast motions oscillate: radau
 * damps them and has 4.8 digits at 1e-8, rodas5p 6. Pleiades: rkn8 0.5 to 0.6 of dop853, rkn12 from 1e-7 on; of less than eight equations (a spring pendulum, an
 * orbit, three pendulums in a row, Henon-Heiles, Duffing) rkn12 0.6 to 1 of rkn8 from 1e-6 on. Nonstiff DETEST: from 1e-7 on vern9 needs 0.9 to 1.3 of
 * dop853's time at equal tolerances, for a fifth of its error (above 100 tolerances in 3.4 % of its runs, dop853 in 9 %); 1.5 to 2 where
 * stability bounds the steps (with few equations the motion is often one that is followed: lorenz, predator_prey, DETEST B1 0.7; not in linear systems that decay:
 * chains 1.2 to 1.4). With events and
 * switches dop853 evaluates 15 times per step and vern9 25 times: over the equation files 0.9 of vern9's time at every tolerance; dopri5 0.8 of that of dop853
 * at 1e-3 and as much at 1e-6, but with up to 80 tolerances of error where dop853 has one (stick_slip). DAEs:
 * of eight equations and more (transamp) rodas5p needs 0.6 to 0.9 of radau5's time down to 3e-7 and 0.7 to 1 of that of rodas4p2, 1.3 at 1e-2, from 1e-8 on radau 0.4 to 1
 * of it; of less (chemakzo, wien_bridge, enzyme)
 * radau5 0.7 to 1 of that of rodas5p from 1e-5 on. Kinks cost high orders their digits (nand: radau 1.6 less than radau5), and Newton's method for
 * seven stages at once its convergence (diodes). Mechanisms: with loops
 * (four-bar, rssp, bricard, Andrews, Peaucellier, 2 to 64 windows) vern9 projected needs 0.4 to 1.3 of phem56's time for ten to a hundred
 * times its accuracy, and dop853 0.7 to 0.8 of its time for two digits; without loops (chains of 2 to 1024 rods in the plane and in space) dop853
 * needs 0.5 to 0.9 of vern9's time for two to six digits, as much for seven and 1.1 for eight; vern8 0.93 of the evaluations of the better of
 * the two from three to eight digits (fifteen mechanisms; the car axis 0.68 to 0.86, at three digits of chains and double pendulums 1.1), but its
 * estimate hardly sees what nobody tells (above 100 tolerances in 5.7 % of its runs on nonstiff DETEST, vern9 in 0.6 %); a system that must stay as it is gets a half-explicit method (bench_mechanics: Runge-Kutta between 1e-4 and
 * 1e-9, extrapolation elsewhere). tools/choices.py: stiff ones by all methods in
 * joint and minimal coordinates (trees: chains of 2 to 60 rods with stiff hinges, radau 0.3 to 0.9 of mebdfdae's time; a double
 * wishbone on bushings with 53 unknowns in ggl: radau 0.15 to 0.2; the truck with its 500 the other way round), of which only trees keep their constraints without a projection in the first. */
static const rule rules[] = {
    {DAE_KIND_IDE, ANY, 0, 0, {"dassl", "ida"}, NULL, ""},
    {DAE_KIND_DAE,
     ANY,
     INDEX_1 | EXACT,
     CRUDE,
     {"rodas4p2"},
     NULL,
     "stiffly accurate Rosenbrock method of order 4, one LU per step and no iteration"},
    {DAE_KIND_DAE,
     ANY,
     INDEX_1 | PIECES,
     0.99e-7,
     {"radau5"},
     NULL,
     "stiffly accurate implicit Runge-Kutta, short pieces"},
    {DAE_KIND_DAE,
     ANY,
     INDEX_1 | EXACT | EIGHT,
     0.3e-6,
     {"rodas5p"},
     NULL,
     "stiffly accurate Rosenbrock method, one LU per step and no iteration"},
    {DAE_KIND_DAE,
     ANY,
     INDEX_1 | EXACT,
     2e-5,
     {"rodas5p"},
     NULL,
     "stiffly accurate Rosenbrock method, one LU per step and no iteration"},
    {DAE_KIND_DAE, ANY, 0, 0.99e-7, {"radau5"}, NULL, "stiffly accurate implicit Runge-Kutta"},
    {DAE_KIND_DAE,
     ANY,
     INDEX_1,
     0,
     {"radau"},
     NULL,
     "stiffly accurate implicit Runge-Kutta of orders 5 to 13"},
    {DAE_KIND_DAE, ANY, 0, 0, {"radau5"}, NULL, "stiffly accurate implicit Runge-Kutta"},

    {DAE_KIND_ODE,
     1,
     HUGE_ODE,
     0.99e-8,
     {"vode"},
     NULL,
     "many equations: implicit multistep method, one real linear system"},
    {DAE_KIND_ODE,
     1,
     BAND,
     CRUDE,
     {"rosnys4"},
     NULL,
     "a narrow band: one real LU per step, no iteration and order 4"},
    {DAE_KIND_ODE,
     1,
     BAND,
     0.99e-6,
     {"rodas5p"},
     NULL,
     "a narrow band: one real LU per step and no iteration"},
    {DAE_KIND_ODE, 1, EXACT | EIGHT, LOOSE, {"rodas4p2"}, NULL, ONE_LU},
    {DAE_KIND_ODE, 1, EXACT, CRUDE, {"rodas4p2"}, NULL, ONE_LU},
    {DAE_KIND_ODE,
     1,
     EXACT | EIGHT,
     0.99e-8,
     {"rodas5p"},
     NULL,
     "with a Jacobian: one LU per step and no iteration"},
    {DAE_KIND_ODE, 1, PROBED, 0, {"radau"}, NULL, "implicit Runge-Kutta of orders 5 to 13"},
    {DAE_KIND_ODE, 1, LINEAR, 0, {"radau"}, NULL, "linear: implicit Runge-Kutta of orders 5 to 13"},
    {DAE_KIND_ODE, 1, 0, 5e-6, {"radau5"}, NULL, "implicit Runge-Kutta of order 5"},
    {DAE_KIND_ODE, 1, LONG, 0.99e-6, {"radau5"}, NULL, "implicit Runge-Kutta of order 5"},
    {DAE_KIND_ODE,
     1,
     FOLLOWED,
     0,
     {"rodas5p"},
     NULL,
     "tight tolerance, the fastest motion oscillates: one LU per step and no iteration"},
    {DAE_KIND_ODE, 1, 0, 0, {"radau"}, NULL, "tight tolerance: implicit Runge-Kutta of orders 5 to 13"},
    {DAE_KIND_ODE, 0, RESTS, 0, {"dopri5"}, NULL, "at rest: few stages, explicit Runge-Kutta of order 5"},
    {DAE_KIND_ODE,
     0,
     WATCHED,
     0.99e-9,
     {"dop853"},
     NULL,
     "explicit Runge-Kutta of order 8, dense output for events or switches"},
    {DAE_KIND_ODE, 0, NO_VELOCITIES | EIGHT, 0.99e-7, {"rkn8"}, NULL, "y'' = f(t,y): Nystrom pair"},
    {DAE_KIND_ODE, 0, NO_VELOCITIES, 2e-6, {"rkn8"}, NULL, "y'' = f(t,y): Nystrom pair"},
    {DAE_KIND_ODE, 0, NO_VELOCITIES, 0, {"rkn12"}, NULL, "y'' = f(t,y), tight tolerance: Nystrom pair"},
    {DAE_KIND_ODE, 0, 0, 1.0001 * TIGHT, {"dopri5"}, NULL, "explicit Runge-Kutta of order 5"},
    {DAE_KIND_ODE, 0, PIECES, 0.99e-9, {"dop853"}, NULL, "explicit Runge-Kutta of order 8, short pieces"},
    {DAE_KIND_ODE, 0, EIGHT | DECAYS, 0.99e-9, {"dop853"}, NULL, "explicit Runge-Kutta of order 8"},
    {DAE_KIND_ODE, 0, LINEAR, 0.99e-9, {"dop853"}, NULL, "linear: explicit Runge-Kutta of order 8"},
    {DAE_KIND_ODE, 0, 0, 2e-7, {"dop853"}, NULL, "explicit Runge-Kutta of order 8"},
    {DAE_KIND_ODE, 0, 0, 0, {"vern9"}, NULL, "tight tolerance: explicit Runge-Kutta of order 9"},

    {DAE_KIND_MECH, ANY, FRICTION, 0, {"mexx"}, "descriptor", HALF_EXPLICIT_EXTRAPOLATION},
    {DAE_KIND_MECH, 1, TREE | MODERATE, 0, {"radau"}, "joint", "implicit Runge-Kutta on joint coordinates"},
    {DAE_KIND_MECH,
     1,
     TREE,
     0.99e-7,
     {"mebdfdae"},
     "joint",
     "implicit multistep method on joint coordinates"},
    {DAE_KIND_MECH, 1, TREE, 0, {"radau"}, "joint", "implicit Runge-Kutta on joint coordinates"},
    {DAE_KIND_MECH,
     1,
     FORMS | COMPACT | LARGE,
     0,
     {"radau"},
     "ggl",
     "implicit Runge-Kutta with position and velocity constraints"},
    {DAE_KIND_MECH,
     1,
     LARGE,
     0,
     {"mebdfdae"},
     "statespace",
     "implicit multistep method on minimal coordinates"},
    {DAE_KIND_MECH, 1, 0, 0, {"radau"}, "statespace", "implicit Runge-Kutta on minimal coordinates"},
    {DAE_KIND_MECH,
     0,
     TREE,
     1.0001 * TIGHT,
     {"dopri5"},
     "joint",
     "explicit Runge-Kutta on joint coordinates"},
    {DAE_KIND_MECH, 0, TREE, 2e-4, {"dop853"}, "joint", "explicit Runge-Kutta on joint coordinates"},
    {DAE_KIND_MECH,
     0,
     TREE | SMOOTH,
     0.99e-9,
     {"vern8"},
     "joint",
     "explicit Runge-Kutta on joint coordinates"},
    {DAE_KIND_MECH, 0, TREE, 0, {"vern9"}, "joint", "explicit Runge-Kutta on joint coordinates"},
    {DAE_KIND_MECH,
     0,
     FORMS,
     2e-3,
     {"dop853"},
     "index1",
     "explicit Runge-Kutta of order 8 with accelerations, projected after each step"},
    {DAE_KIND_MECH,
     0,
     FORMS | SMOOTH,
     0.99e-9,
     {"vern8"},
     "index1",
     "explicit Runge-Kutta of order 8 with accelerations, projected after each step"},
    {DAE_KIND_MECH,
     0,
     FORMS,
     0,
     {"vern9"},
     "index1",
     "explicit Runge-Kutta of order 9 with accelerations, projected after each step"},
    {DAE_KIND_MECH, ANY, 0, 1.01e-4, {"mexx", "phem56"}, "descriptor", HALF_EXPLICIT_EXTRAPOLATION},
    {DAE_KIND_MECH, ANY, 0, 0.99e-9, {"phem56", "mexx"}, "descriptor", HALF_EXPLICIT_RK},
    {DAE_KIND_MECH, ANY, 0, 0, {"mexx", "phem56"}, "descriptor", HALF_EXPLICIT_EXTRAPOLATION},
};

/* An explicit method of order 8 whose steps are bounded by stability needs 2 evaluations per time constant, the implicit one some
 * hundred in all and more for every equation, slowly rising with the digits. */
static double limit_of(const dae_features *x)
{
    int given = x->has & JACOBIAN;
    double each = given ? DECAY_EACH_GIVEN : DECAY_EACH, least = given ? DECAY_LEAST_GIVEN : DECAY_LEAST;
    return fmin(fmax(least, each * x->n) * pow(1e-4 / x->rtol, DECAY_DIGITS), STIFF_LIMIT);
}

double dae_stiff_limit(const dae_features *x)
{
    return x->limit;
}

/* The same at the start, of a small linear system in one piece: in each an implicit method begins with short steps again. */
static double linear_limit(const dae_features *x, int moves)
{
    if (moves) return x->limit * pow(x->rtol / 1e-4, MOVE_DIGITS + DECAY_DIGITS);
    return fmin(fmax(REST_EACH, REST_PAIRS * x->n) * fmax(2, x->n) * pow(1e-5 / x->rtol, REST_DIGITS),
                STIFF_LIMIT);
}

static double start_limit(const dae_features *x)
{
    if (x->n > SMALL) return x->limit;
    if (x->has & LINEAR) return x->has & PIECES ? x->limit : linear_limit(x, x->has & MOVES);
    return fmax(x->has & PIECES ? DECAY_START_PIECES : DECAY_START, x->limit);
}

static int is_stiff(const dae_features *x)
{
    if (x->kind == DAE_KIND_ODE) return !(x->constants <= STIFF_LIMIT) || x->decaying > start_limit(x);
    return x->kind == DAE_KIND_MECH && !x->as_it_stands && x->constants > STIFF_MECHANISM;
}

/* The whole sentence: what was seen, and what follows. */
void dae_choose_reason(const dae_evidence *e, char *reason, size_t size)
{
    const dae_features *x = &e->seen;
    int stiff = is_stiff(x);
    const char *word = stiff ? "treated as stiff" : "not stiff", *why = e->rule < 0 ? "" : rules[e->rule].why;
    if (!e->given) reason[0] = 0;
    else if (x->kind == DAE_KIND_ODE && x->constants < 0) snprintf(reason, size, "%s", dae_choose_no_memory);
    else if (e->rule < 0)
        snprintf(reason, size, "no method for %s systems of index %d", dae_kind_name(x->kind), x->index);
    else if (x->kind == DAE_KIND_IDE)
        snprintf(reason, size, "implicit equations F(t,y,y') = 0 of index %d", x->index);
    else if (x->kind == DAE_KIND_DAE)
        snprintf(reason, size, "M y' = f with variables of index %d: %s", x->index, why);
    else if (x->kind == DAE_KIND_ODE && !isfinite(x->constants))
        snprintf(reason, size, "ODE that cannot be judged at the start: treated as stiff; %s", why);
    else if (x->kind == DAE_KIND_ODE && x->constants < 0.5)
        dae_snprintf(reason, size, "ODE, no fast time constant in the interval: %s; %s", word, why);
    else if (x->kind == DAE_KIND_ODE)
        dae_snprintf(reason, size, "ODE, about %.2g fast time constants in the interval: %s; %s",
                     x->constants, word, why);
    else if (x->has & FRICTION)
        snprintf(reason, size, "mechanical system whose forces depend on the multipliers: %s", why);
    else if (stiff || (!x->as_it_stands && x->has & TREE))
        dae_snprintf(reason, size, "mechanism with about %.2g fast time constants in the interval: %s; %s",
                     x->constants, word, why);
    else dae_snprintf(reason, size, "mechanical system, rtol %.2g: %s", x->rtol, why);
}

static int structure_of(const dae_features *x)
{
    return x->as_it_stands ? x->has & ~(TREE | FORMS) : x->has;
}

static const dae_method_info *method_of(const rule *r)
{
    const dae_method_info *m = dae_method_find(r->method[0]);
    return m || !r->method[1] ? m : dae_method_find(r->method[1]);
}

/* 1: rule r holds for x. */
static int holds(const rule *r, const dae_features *x, int stiff)
{
    return r->kind == x->kind && (r->stiff == ANY || r->stiff == stiff) &&
           (r->needs & structure_of(x)) == r->needs && x->rtol >= r->rtol;
}

const dae_method_info *dae_choose(const dae_features *x, const char **form, dae_evidence *e)
{
    int stiff = is_stiff(x);
    *e = (dae_evidence){.seen = *x, .rule = -1, .given = 1};
    for (size_t k = 0; k < sizeof rules / sizeof *rules; k++) {
        const rule *r = &rules[k];
        const dae_method_info *m = holds(r, x, stiff) ? method_of(r) : NULL;
        if (!m) continue;
        if (form) *form = r->form;
        e->rule = (int)k;
        return m;
    }
    return NULL;
}

/* ---- The evidence in words --------------------------------------------------------------------------- */

typedef struct text {
    char *out;
    size_t size, used;
} text;

static void say(text *t, const char *format, ...)
{
    char line[256];
    va_list args;
    va_start(args, format);
    dae_vsnprintf(line, sizeof line, format, args);
    va_end(args);
    for (const char *c = line; *c; c++, t->used++) {
        if (t->used + 1 < t->size) t->out[t->used] = *c;
    }
    if (t->size) t->out[t->used < t->size ? t->used : t->size - 1] = 0;
}

static const struct {
    int flag;
    const char *there, *not_there;
} word[] = {
    {EXACT, "a Jacobian is given, the system small, no atol next to nothing",
     "no Jacobian that could be taken for exact, or many equations, or an atol next to nothing"},
    {NO_VELOCITIES, "y'' = f(t,y)", "not of the form y'' = f(t,y)"},
    {TREE, "joint coordinates leave no loops", "loops, or no joint coordinates"},
    {FRICTION, "forces depend on the multipliers", "no force depends on the multipliers"},
    {LARGE, "many degrees of freedom", "few degrees of freedom"},
    {INDEX_1, "no variables of a higher index", "variables of a higher index"},
    {EIGHT, "eight equations or more", "less than eight equations"},
    {FORMS, "another form is possible", "integrated as it stands"},
    {SMOOTH, "smooth but where it says so", "nobody says that it is smooth"},
    {COMPACT, "few positions, velocities and multipliers", "many positions, velocities and multipliers"},
    {MODERATE, "degrees of freedom are not too many", "very many degrees of freedom"},
    {HUGE_ODE, "thousands of equations without a band", "no thousands of equations, or a band"},
    {BAND, "a narrow band is given, no atol next to nothing",
     "no narrow band that is given, or an atol next to nothing"},
    {JACOBIAN, "a Jacobian is given", "no Jacobian is given"},
    {PROBED, "few equations, the Jacobian by differences", "a Jacobian is given, or many equations"},
    {RESTS, "nothing moves at the start", "something moves at the start, or there are many equations"},
    {LONG, "not only a few equations", "few equations"},
    {FOLLOWED, "y' = v with a Jacobian, the fastest motion oscillates and rtol is small",
     "the fastest motion decays, or rtol is not small, or no Jacobian that could be taken for exact"},
    {LINEAR, "few equations, linear, the fastest motion decays",
     "not linear, or many equations, or the fastest motion does not decay soon"},
    {MOVES, "linear, driven or oscillating", "not linear, or it comes to rest"},
    {PIECES, "events, switches or borders", "no events, switches or borders"},
    {WATCHED, "events or switches by the state", "no events or switches by the state"},
    {DECAYS, "its fastest motion decays soon", "its fastest motion does not decay soon"}};

/* Why r does not hold, the first thing. */
static void say_why_not(text *t, const rule *r, const dae_features *x, int stiff)
{
    int missing = r->needs & ~structure_of(x);
    if (r->stiff != ANY && r->stiff != stiff) say(t, "%s", stiff ? "stiff" : "not stiff");
    else if (missing) {
        for (size_t k = 0; k < sizeof word / sizeof *word; k++) {
            if (!(missing & word[k].flag)) continue;
            say(t, "%s", word[k].not_there);
            return;
        }
    } else if (x->rtol < r->rtol) say(t, "rtol is below %.2g", r->rtol);
    else say(t, "not in this library");
}

static void say_measured(text *t, const dae_features *x)
{
    say(t, "measured  kind                %s, %d equations, index %d\n", dae_kind_name(x->kind), x->n,
        x->index);
    say(t, "          rtol                %.2g\n", x->rtol);
    if (x->kind == DAE_KIND_ODE || x->kind == DAE_KIND_MECH) {
        double limit = x->kind == DAE_KIND_ODE ? STIFF_LIMIT : STIFF_MECHANISM;
        if (isfinite(x->constants))
            say(t, "          time constants      %.3g fast ones in the interval: %s (stiff above %g)\n",
                x->constants, is_stiff(x) ? "stiff" : "not stiff", limit);
        else say(t, "          time constants      not known\n");
        if (x->decaying > 0)
            say(t,
                "          decaying            %.3g of the fastest motion, which decays (stiff above %.3g)\n",
                x->decaying, start_limit(x));
    }
    for (size_t k = 0; k < sizeof word / sizeof *word; k++) {
        if (structure_of(x) & word[k].flag) say(t, "          structure           %s\n", word[k].there);
    }
}

size_t dae_choose_explain(const dae_evidence *e, char *out, size_t size)
{
    text t = {out, size, 0};
    const dae_features *x = &e->seen;
    int stiff = is_stiff(x), next = 0;
    if (size) out[0] = 0;
    if (!e->given) return 0;
    say_measured(&t, x);
    for (int k = 0; k < (int)(sizeof rules / sizeof *rules); k++) {
        const rule *r = &rules[k];
        const dae_method_info *m = method_of(r);
        if (r->kind != x->kind) continue;
        say(&t, "%-9s %-8s %-10s ", k == e->rule ? "taken" : "rule", m ? m->name : r->method[0],
            r->form ? r->form : "");
        if (k == e->rule) say(&t, "%s\n", r->why[0] ? r->why : "takes this kind");
        else if (m && holds(r, x, stiff)) say(&t, "holds too%s\n", next++ ? "" : ": the next choice");
        else {
            say(&t, "no: ");
            say_why_not(&t, r, x, stiff);
            say(&t, "\n");
        }
    }
    return t.used;
}

/* ---- Features ---------------------------------------------------------------------------------------- */

/* 1: a method that takes J for exact can have it. */
static int is_exact(const dae_system *sys, const dae_options *opt)
{
    int n = dae_system_size(sys);
    if (!(sys->kind == DAE_KIND_DAE ? sys->dae.jac : sys->ode.jac) ||
        (opt->jacobian && !strcmp(opt->jacobian, "difference")))
        return 0;
    for (int i = 0; i < n; i++) {
        double rtol = opt->rtol_vec ? opt->rtol_vec[i] : opt->rtol,
               atol = opt->atol_vec ? opt->atol_vec[i] : opt->atol;
        if (atol < DEAD_ATOL * rtol) return 0;
    }
    return 1;
}

/* 1: at y nothing moves by a part REST of its tolerance, neither with the derivatives of the start, f, nor of times
 * between that no period has in common with the interval (DETEST F3: |sin(pi t)| is 0 at the start, in the middle and at the end), and
 * nothing is switched on later. */
static int at_rest(const dae_ode *ode, const dae_options *opt, double t0, double t_end, const double *y,
                   double *f)
{
    static const double part[] = {0, 0.236068, 0.527864, 0.854102}; /* of the golden section */
    if (opt->ndiscontinuity > 0) return 0;
    for (int k = 0; k < 4; k++) {
        if (k && ode->f(t0 + part[k] * (t_end - t0), y, f, ode->user) != 0) return 0;
        for (int i = 0; i < ode->n; i++) {
            double rtol = opt->rtol_vec ? opt->rtol_vec[i] : opt->rtol,
                   atol = opt->atol_vec ? opt->atol_vec[i] : opt->atol;
            if (!(fabs(f[i] * (t_end - t0)) < REST * (atol + rtol * fabs(y[i])))) return 0;
        }
    }
    return 1;
}

dae_features dae_features_of(const dae_system *sys, const dae_options *opt, double t0, double t_end,
                             const double *y0, int events)
{
    dae_features x = {.kind = sys->kind,
                      .index = dae_system_index(sys),
                      .n = dae_system_size(sys),
                      .rtol = smallest_rtol(opt, dae_system_size(sys)),
                      .constants = NAN};
    if (events == DAE_EVENTS_BY_STATE || sys->switches.count > 0) x.has |= WATCHED | PIECES;
    if (events || opt->ndiscontinuity > 0) x.has |= PIECES;
    if (sys->kind == DAE_KIND_ODE) {
        if (sys->ode.jac && !(opt->jacobian && !strcmp(opt->jacobian, "difference"))) x.has |= JACOBIAN;
        double slope[SMALL];
        x.limit = limit_of(&x);
        double length = fabs(t_end - t0), least = fmin(x.limit, DECAY_LEAST),
               straight = fmin(least, fmin(linear_limit(&x, 0), linear_limit(&x, 1)));
        powers p = power_method(&sys->ode, t0, t_end, y0, least / length, straight / length,
                                x.n <= SMALL ? slope : NULL);
        x.constants = largest_rate(&p) * fabs(t_end - t0);
        x.decaying = p.decay * fabs(t_end - t0);
        if (x.decaying > SOON) x.has |= DECAYS;
        if (p.linear && x.n <= SMALL) x.has |= p.moves ? LINEAR | MOVES : LINEAR;
        if (sys->structure.no_velocities) x.has |= NO_VELOCITIES;
        if (x.n <= SMALL && p.steps >= 0 && !is_stiff(&x) && at_rest(&sys->ode, opt, t0, t_end, y0, slope))
            x.has |= RESTS;
        if (x.n > SMALL) x.has |= LONG;
        else if (!(x.has & JACOBIAN)) x.has |= PROBED;
    }
    if ((sys->kind == DAE_KIND_ODE || sys->kind == DAE_KIND_DAE) && is_exact(sys, opt)) {
        const dae_pattern *p = &sys->structure.jacobian;
        if (x.n <= SMALL) x.has |= EXACT;
        else if (sys->kind == DAE_KIND_ODE && sys->structure.second_order && !(x.decaying > 0) &&
                 x.rtol <= FOLLOW)
            x.has |= FOLLOWED;
        else if (sys->kind == DAE_KIND_ODE && p->storage == DAE_BANDED && p->lower + p->upper <= NARROW)
            x.has |= BAND;
    }
    if (x.index <= 1) x.has |= INDEX_1;
    if (dae_system_size(sys) >= 8) x.has |= EIGHT;
    if (sys->kind == DAE_KIND_ODE && x.n >= GRID && sys->structure.jacobian.storage != DAE_BANDED)
        x.has |= HUGE_ODE;
    if (sys->structure.smooth) x.has |= SMOOTH;
    if (sys->kind == DAE_KIND_MECH) {
        x.has |= FORMS;
        if (sys->mech.dfdlambda) x.has |= FRICTION;
        if (sys->mech.joint && sys->mech.joint->nloop == 0) x.has |= TREE;
        if (sys->mech.nv - sys->mech.nlambda > MANY) x.has |= LARGE;
        if (sys->mech.np + sys->mech.nv + sys->mech.nu + 2 * sys->mech.nlambda <= FEW) x.has |= COMPACT;
        if (sys->mech.nv - sys->mech.nlambda <= MEDIUM) x.has |= MODERATE;
    }
    return x;
}

const dae_method_info *dae_choose_stiff(const dae_features *x)
{
    dae_features stiff = *x;
    dae_evidence e;
    stiff.constants = INFINITY;
    return dae_choose(&stiff, NULL, &e);
}

const dae_method_info *dae_choose_as_it_stands(const dae_system *sys, const dae_options *opt, double t0,
                                               double t_end, const double *y0, int events, dae_evidence *e)
{
    dae_features x = dae_features_of(sys, opt, t0, t_end, y0, events);
    x.as_it_stands = 1;
    *e = (dae_evidence){.seen = x, .rule = -1, .given = 1};
    if (sys->kind == DAE_KIND_ODE && x.constants < 0) return NULL;
    const dae_method_info *m = dae_choose(&x, NULL, e);
    if (!m || dae_method_takes(m, sys)) return m;
    e->rule = -1;
    return NULL;
}

const dae_method_info *dae_method_choose(const dae_system *sys, const dae_options *opt, double t0,
                                         double t_end, const double *y0, char *reason, size_t size)
{
    dae_evidence e;
    const dae_method_info *m = dae_choose_as_it_stands(sys, opt, t0, t_end, y0, 0, &e);
    dae_choose_reason(&e, reason, size);
    return m;
}
