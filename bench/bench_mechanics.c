/* Half-explicit methods and their linear algebra, in one run:
 *   saddle   CPU time per decomposition of the nine modes, seven bodies and chains of N = 4 .. 1024 insulators
 *   dense    what dense output and root finding add to a run of seven bodies
 *   andrews  CPU time for 3 .. 8 digits: phem56, mexx and explicit methods with projection against radau5 on the
 *            index 3 form, and what one evaluation of the accelerations costs
 *   threads  rows of the tableau on two threads, chain with N = 1024 (wall clock: wants two free cores, and says what it got)
 *   truck    the study of [MEXX] table 5.3
 * Without arguments all of them; times are the smallest of several runs. */
#include <daedalus/daedalus.h>

#include "linalg/saddle.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static dae_problem *create(const char *name, const char *parameter, const char *value)
{
    dae_error err = {0};
    dae_problem *p = dae_problem_create(name, &(dae_setting){parameter, value}, parameter != NULL, &err);
    if (p) return p;
    fprintf(stderr, "%s\n", err.text);
    exit(1);
}

/* ---- Runs ------------------------------------------------------------------------------------------ */

typedef struct job {
    const dae_problem *problem;
    const char *method, *mode; /* mode NULL: auto */
    const char *formulation;   /* of a mechanical system, with projection; NULL: as it stands */
    double tol, h0;
    int threads;
    const dae_output *output;
    const dae_events *events;
} job;

typedef struct answer {
    double cpu, wall; /* smallest */
    dae_stats stats;
    double y[64]; /* the first components at the end */
} answer;

static void stop(const char *method, const dae_error *err)
{
    fprintf(stderr, "%s: %s\n", method, err->text);
    exit(1);
}

/* The times are kept over calls: set cpu and wall to INFINITY before the first. */
static void run(const job *j, answer *a)
{
    dae_error err = {0};
    const dae_problem *p = j->problem;
    dae_setting setting[2];
    dae_options o = dae_options_default(), inner;
    double atol[8192];
    int n = dae_system_size(&p->system);
    o.method = j->method;
    o.rtol = o.atol = j->tol;
    for (int i = 0; p->atol_factor && i < n; i++) atol[i] = j->tol * p->atol_factor[i];
    if (p->atol_factor) o.atol_vec = atol;
    o.h0 = j->h0;
    o.threads = j->threads ? j->threads : 1;
    o.discontinuity = p->discontinuity;
    o.ndiscontinuity = p->ndiscontinuity;
    o.setting = setting;
    if (j->mode) setting[o.nsetting++] = (dae_setting){"linear_algebra", j->mode};
    if (j->formulation) setting[o.nsetting++] = (dae_setting){"project", "1"};
    o.formulation = j->formulation;
    dae_formulation *form = j->formulation ? dae_formulation_open(&p->system, &o, &inner, &err) : NULL;
    if (j->formulation && !form) stop(j->method, &err);
    dae_integrator *it =
        dae_integrator_create(form ? dae_formulation_system(form) : &p->system, form ? &inner : &o, &err);
    dae_status s = it ? DAE_OK : err.status;
    if (!s && form) s = dae_formulation_attach(form, it, &err);
    if (!s && j->output) s = dae_integrator_set_output(it, j->output, &err);
    if (!s && j->events) s = dae_integrator_set_events(it, j->events, &err);
    if (!s) s = dae_integrator_start(it, p->t0, p->t_end, p->y0, p->yp0, &err);
    double begin = seconds(CLOCK_MONOTONIC);
    if (!s) s = dae_integrator_advance(it, p->t_end, &err);
    if (s < 0) stop(j->method, &err);
    a->wall = fmin(a->wall, seconds(CLOCK_MONOTONIC) - begin);
    a->stats = *dae_integrator_stats(it);
    a->cpu = fmin(a->cpu, a->stats.cpu_seconds);
    memcpy(a->y, dae_integrator_state(it), (size_t)(n < 64 ? n : 64) * sizeof(double));
    dae_integrator_destroy(it);
    dae_formulation_destroy(form);
}

static answer fresh(void)
{
    return (answer){.cpu = INFINITY, .wall = INFINITY};
}

/* ---- saddle ----------------------------------------------------------------------------------------- */

static const char *const modes[] = {
    "dense_lu",  "dense_ldlt",           "range_space",     "null_space", "block_elimination",
    "sparse_lu", "recursive_constraint", "recursive_joint", "pcg"};
enum { MODES = sizeof modes / sizeof *modes };

/* Matrices of a mechanism at its start, moved a little: the blocks of M and the values of G. */
typedef struct matrices {
    dae_saddle_spec spec;
    double *M, *G, *f;
} matrices;

static matrices evaluate(const dae_problem *p)
{
    const dae_mech *m = &p->system.mech;
    matrices x = {.spec = {.nv = m->nv,
                           .nl = m->nlambda,
                           .block = m->mass_block,
                           .nblock = m->nblock,
                           .colptr = m->G_colptr,
                           .rowind = m->G_rowind,
                           .parent = m->parent,
                           .row_joint = m->row_joint}};
    int nM = 0;
    for (int k = 0; k < m->nblock; k++) nM += m->mass_block[k] * m->mass_block[k];
    double *q = calloc((size_t)m->np, sizeof *q), *to;
    x.M = to = calloc((size_t)nM, sizeof *x.M);
    x.G = calloc((size_t)m->G_colptr[m->nv], sizeof *x.G);
    x.f = calloc((size_t)(m->nv + m->nlambda), sizeof *x.f);
    for (int i = 0; i < m->np; i++) q[i] = p->y0[i] + 0.05 * sin(i);
    dae_mech_point at = {.p = q};
    m->constraint_sparse(&at, NULL, x.G, m->user);
    if (m->mass_blocks) m->mass_blocks(&at, x.M, m->user);
    for (int k = 0, first = 0; !m->mass_blocks && k < m->nblock; first += m->mass_block[k++]) {
        for (int j = 0; j < m->mass_block[k]; j++, to += m->mass_block[k])
            to[j] = m->mass.a[first + j]; /* diagonal */
    }
    if (!m->mass_blocks) x.spec.mass = x.M;
    free(q);
    return x;
}

/* CPU seconds of one factorization with one solve; NAN: the mode does not take it. */
static double decomposition(const matrices *x, const char *mode)
{
    dae_error err = {0};
    dae_arena *arena = dae_arena_create();
    dae_saddle_spec spec = x->spec;
    int n = spec.nv + spec.nl;
    double *f = calloc((size_t)n, sizeof *f), best = INFINITY;
    spec.mode = mode;
    dae_saddle *s = dae_saddle_create(&spec, arena, &err);
    int bad = !s || dae_saddle_anchor(s, x->M, x->G, NULL) || dae_saddle_factor(s, x->M, x->G, NULL);
    for (int repeat = 0; !bad && repeat < 7; repeat++) {
        long count = 0;
        double begin = seconds(CLOCK_THREAD_CPUTIME_ID), used = 0;
        do {
            for (int k = 0; k < (n < 100 ? 100 : 1); k++, count++) {
                dae_saddle_factor(s, x->M, x->G, NULL);
                for (int i = 0; i < n; i++) f[i] = i % 7;
                dae_saddle_solve(s, f, f + spec.nv);
            }
            used = seconds(CLOCK_THREAD_CPUTIME_ID) - begin;
        } while (used < 2e-3);
        best = fmin(best, used / (double)count);
        if (used > 0.3) break;
    }
    free(f);
    dae_saddle_destroy(s);
    dae_arena_destroy(arena);
    return bad ? NAN : best;
}

static void bench_saddle(void)
{
    static const char *const N[] = {"4", "8", "16", "32", "64", "128", "256", "512", "1024"};
    enum { SIZES = sizeof N / sizeof *N };
    double time[MODES][SIZES];
    dae_problem *p = create("seven-body", NULL, NULL);
    matrices x = evaluate(p);
    printf("\n-- saddle: microseconds per decomposition and solve\n%-22s %8s", "", "7 bodies");
    for (int k = 0; k < SIZES; k++) printf(" %8s", N[k]);
    printf("  exponent from N = 64\n");
    double seven[MODES];
    for (int m = 0; m < MODES; m++) seven[m] = decomposition(&x, modes[m]);
    for (int k = 0; k < SIZES; k++) {
        dae_problem *chain = create("insulator-chain", "N", N[k]);
        matrices c = evaluate(chain);
        for (int m = 0; m < MODES; m++)
            time[m][k] = m < 5 && k > 6 ? NAN : decomposition(&c, modes[m]); /* dense ones: to 256 */
        free(c.M), free(c.G), free(c.f);
        dae_problem_destroy(chain);
    }
    for (int m = 0; m < MODES; m++) {
        printf("%-22s %8.3f", modes[m], 1e6 * seven[m]);
        int last = 4;
        for (int k = 0; k < SIZES; k++) {
            if (isnan(time[m][k])) printf(" %8s", "-");
            else printf(" %8.2f", 1e6 * time[m][k]);
            if (!isnan(time[m][k])) last = k;
        }
        if (last > 4) printf("  %.2f", log2(time[m][last] / time[m][4]) / (last - 4));
        printf("\n");
    }
    for (int m = 5; m < 8; m++) { /* first N from which on it beats dense LU */
        int from = SIZES;
        for (int k = SIZES - 1; k >= 0 && (isnan(time[0][k]) || time[m][k] < time[0][k]); k--) from = k;
        printf("%s beats dense_lu from N = %s on (wanted: 16)\n", modes[m], from < SIZES ? N[from] : "never");
    }
    free(x.M), free(x.G), free(x.f);
    dae_problem_destroy(p);
}

/* ---- dense ------------------------------------------------------------------------------------------ */

static int take(double t, const double *y, int n, void *user)
{
    (void)t, (void)n;
    *(double *)user += y[0];
    return 0;
}

static int beta_acceleration(double t, const double *y, const double *yp, double *phi, void *user)
{
    (void)t, (void)y, (void)user;
    phi[0] = yp[7];
    return 0;
}

static void bench_dense(void)
{
    static const char *const method[] = {"mexx", "phem56"};
    dae_problem *p = create("seven-body", NULL, NULL);
    double sum = 0;
    dae_output output = {.mode = DAE_OUTPUT_EQUIDISTANT, .count = 101, .write = take, .user = &sum};
    dae_event event = {.name = "root", .residual = 1e-6};
    /* The report looks at the ends of the steps only, and so do we here. */
    dae_events events = {.count = 1, .event = &event, .phi = beta_acceleration, .check_points = -1};
    printf("\n-- dense: seven bodies, tolerance 1e-5; wanted: dense output below 20 %%, root finding below "
           "15 %%\n");
    for (int m = 0; m < 2; m++) {
        answer a[3] = {fresh(), fresh(), fresh()};
        for (int k = 0; k < 60; k++) {
            for (int c = 0; c < 3; c++) {
                job j = {.problem = p, .method = method[m], .tol = 1e-5, .h0 = 1e-3};
                if (c == 1) j.output = &output;
                if (c == 2) j.events = &events;
                run(&j, &a[c]);
            }
        }
        printf("%-7s %7.0f us; 101 points of dense output %+.1f %%; the five roots of beta'' %+.1f %%\n",
               method[m], 1e6 * a[0].cpu, 100 * (a[1].cpu / a[0].cpu - 1), 100 * (a[2].cpu / a[0].cpu - 1));
    }
    dae_problem_destroy(p);
}

/* ---- andrews ---------------------------------------------------------------------------------------- */

enum { TOLERANCES = 37, DIGITS = 9 };

/* CPU time, evaluations and steps for whole digits of q. */
typedef struct cost {
    double time[DIGITS], f[DIGITS], steps[DIGITS], tolerance[DIGITS];
} cost;

static double between(double a, double b, double x)
{
    return a * pow(b / a, x);
}

/* Times for whole digits of q from runs at many tolerances, four in a decade. The digits are averaged over five neighboring
 * tolerances, so that lucky and unlucky runs cancel, and the time is interpolated between them. */
static void digits(const job *base, double first, const double *reference, cost *c)
{
    answer a[TOLERANCES];
    double right[TOLERANCES];
    for (int k = 0; k < TOLERANCES; k++) a[k] = fresh();
    for (int repeat = 0; repeat < 15; repeat++) {
        for (int k = 0; k < TOLERANCES; k++) {
            job j = *base;
            j.tol = first * pow(10, -0.25 * k);
            run(&j, &a[k]);
        }
    }
    for (int k = 0; k < TOLERANCES; k++) {
        double error = 0;
        for (int i = 0; i < 7; i++) error = fmax(error, fabs(a[k].y[i] / reference[i] - 1));
        right[k] = -log10(error);
    }
    for (int d = 3; d < DIGITS; d++) c->time[d] = c->f[d] = c->steps[d] = c->tolerance[d] = NAN;
    for (int k = 2; k + 3 < TOLERANCES; k++) {
        double x = (right[k - 2] + right[k - 1] + right[k] + right[k + 1] + right[k + 2]) / 5,
               y = x + (right[k + 3] - right[k - 2]) / 5;
        for (int d = 3; d < DIGITS; d++) {
            double part = (d - x) / (y - x);
            if (!isnan(c->time[d]) || x > d || d > y) continue;
            c->time[d] = between(a[k].cpu, a[k + 1].cpu, part);
            c->f[d] = between((double)a[k].stats.f, (double)a[k + 1].stats.f, part);
            c->steps[d] = between((double)a[k].stats.accepted, (double)a[k + 1].stats.accepted, part);
            c->tolerance[d] = first * pow(10, -0.25 * (k + part));
        }
    }
}

/* CPU seconds of one evaluation of the accelerations. */
static double acceleration(const dae_problem *p)
{
    dae_error err = {0};
    double y[14], yp[14], best = INFINITY;
    dae_formulation *form = dae_formulation_create(&p->system, "index1", NULL, 0, &err);
    if (!form || dae_formulation_lift(form, p->t0, p->y0, y, &err) < 0) stop("index1", &err);
    const dae_ode *ode = &dae_formulation_system(form)->ode;
    for (int repeat = 0; repeat < 100; repeat++) {
        double begin = seconds(CLOCK_THREAD_CPUTIME_ID);
        for (int k = 0; k < 1000; k++) {
            for (int i = 0; i < 7; i++)
                y[i] = p->y0[i] + 1e-6 * k; /* as in a run no two positions are the same */
            ode->f(0, y, yp, ode->user);
        }
        best = fmin(best, (seconds(CLOCK_THREAD_CPUTIME_ID) - begin) / 1000);
    }
    dae_formulation_destroy(form);
    return best;
}

/* Largest |g| at the points that were accepted. */
static double residual(const job *j)
{
    dae_error err = {0};
    dae_stats stats = {0};
    dae_options o = dae_options_default();
    double y[14];
    memcpy(y, j->problem->y0, sizeof y);
    o.method = j->method;
    o.formulation = j->formulation;
    o.rtol = o.atol = j->tol;
    o.h0 = j->h0;
    dae_setting project = {"project", "1"};
    o.setting = &project;
    o.nsetting = j->formulation != NULL;
    if (dae_solve(&j->problem->system, &o, 0, j->problem->t_end, y, &stats, &err) < 0) stop(j->method, &err);
    return stats.position_residual;
}

static void bench_andrews(void)
{
    enum { RADAU5, PHEM56, MEXX, DOPRI5, DOP853, METHODS };
    static const double aim[DIGITS] = {[3] = 140, [5] = 200, [7] = 400};
    dae_problem *andrews = create("andrews", NULL, NULL), *seven = create("seven-body", NULL, NULL);
    job base[METHODS] = {{.problem = andrews, .method = "radau5", .h0 = 1e-7},
                         {.problem = seven, .method = "phem56", .h0 = 1e-3},
                         {.problem = seven, .method = "mexx", .h0 = 1e-3},
                         {.problem = seven, .method = "dopri5", .formulation = "index1"},
                         {.problem = seven, .method = "dop853", .formulation = "index1"}};
    double first[METHODS] = {1e-3, 1e-2, 1e-2, 1e-1, 1e-1}, worst = 0;
    cost c[METHODS];
    for (int m = 0; m < METHODS; m++) digits(&base[m], first[m], seven->reference, &c[m]);
    printf("\n-- andrews: microseconds for digits of q(0.03); radau5 on the index 3 form, dopri5 and dop853 "
           "on the index 1 form with\n"
           "   projection; all options have their defaults; wanted: the better of phem56 and mexx in a "
           "quarter of radau5's time\n"
           "digits   radau5   phem56     mexx   dopri5   dop853   better/radau5\n");
    for (int d = 3; d < DIGITS; d++) {
        double ratio = fmin(c[PHEM56].time[d], c[MEXX].time[d]) / c[RADAU5].time[d];
        printf("%6d", d);
        for (int m = 0; m < METHODS; m++) printf(" %8.0f", 1e6 * c[m].time[d]);
        printf("   %.3f\n", ratio);
        worst = fmax(worst, ratio);
    }
    printf("largest ratio %.3f\n\none evaluation of the accelerations: %.3f us\n", worst,
           1e6 * acceleration(seven));
    printf("digits  method   CPU us     aim  us per f   f evaluations   steps  tolerance  largest |g|\n");
    for (int d = 3; d <= 7; d += 2) {
        for (int m = PHEM56; m < METHODS; m++) {
            base[m].tol = c[m].tolerance[d];
            if (isnan(base[m].tol)) continue;
            printf("%6d  %-7s %7.0f %7.0f  %8.3f   %13.0f %7.0f %10.1e %12.1e\n", d, base[m].method,
                   1e6 * c[m].time[d], aim[d], 1e6 * c[m].time[d] / c[m].f[d], c[m].f[d], c[m].steps[d],
                   base[m].tol, residual(&base[m]));
        }
    }
    dae_problem_destroy(andrews);
    dae_problem_destroy(seven);
}

/* ---- threads ---------------------------------------------------------------------------------------- */

/* One of two runs at the same time. */
typedef struct rival {
    const job *job;
    answer answer;
} rival;

static void *compete(void *argument)
{
    rival *r = argument;
    run(r->job, &r->answer);
    return NULL;
}

/* Wall clock of two runs with one thread each at the same time, the smallest of several calls. */
static double two_at_once(const job *j, double best)
{
    rival r[2] = {{j, fresh()}, {j, fresh()}};
    pthread_t thread;
    if (pthread_create(&thread, NULL, compete, &r[1])) return NAN;
    compete(&r[0]);
    pthread_join(thread, NULL);
    return fmin(best, fmax(r[0].answer.wall, r[1].answer.wall));
}

static void bench_threads(void)
{
    dae_problem *p = create("insulator-chain", "N", "1024");
    answer a[3] = {fresh(), fresh(), fresh()};
    double both = INFINITY;
    for (int k = 0; k < 12; k++) {
        for (int c = 1; c <= 2; c++) {
            job j = {.problem = p, .method = "mexx", .tol = 1e-5, .h0 = 1e-3, .threads = c};
            run(&j, &a[c]);
            if (c == 1) both = two_at_once(&j, both);
        }
    }
    double ratio = a[1].wall / a[2].wall, given = 2 * a[1].wall / both;
    printf("\n-- threads: chain of 1024 insulators, tolerance 1e-5, wall clock\n1 thread %.0f ms, 2 threads "
           "%.0f ms: %.2f times as fast "
           "(wanted: 1.5); %s\n",
           1e3 * a[1].wall, 1e3 * a[2].wall, ratio,
           memcmp(a[1].y, a[2].y, sizeof a[1].y) ? "OTHER BITS" : "same bits");
    printf("what the machine gave meanwhile: two runs with one thread each at the same time %.0f ms, %.2f "
           "times as fast as one after the "
           "other; of that the threads of one run got %.0f %%\n",
           1e3 * both, given, 100 * ratio / given);
    dae_problem_destroy(p);
}

/* ---- truck ------------------------------------------------------------------------------------------ */

/* Sizes of the steps on the rough road and where it is smooth again. */
typedef struct steps {
    double last, sum[2];
    long count[2];
} steps;

static int take_step(double t, const double *y, int n, void *user)
{
    steps *s = user;
    (void)y, (void)n;
    int quiet = t > 12;
    if (t > 2 && (t < 10 || quiet)) {
        s->sum[quiet] += t - s->last;
        s->count[quiet]++;
    }
    s->last = t;
    return 0;
}

static void bench_truck(void)
{
    static const char *const road[] = {"fourier", "sine"}, *const mode[] = {"dense_lu", "dense_ldlt",
                                                                            "sparse_lu"};
    printf("\n-- truck: [MEXX] table 5.3 (other data than there)\nroad     tolerance  method  algebra      "
           "nstep     nfcn     nsol  CPU ms"
           "  mean step, rough and quiet\n");
    for (int k = 0; k < 2; k++) {
        dae_problem *p = create("truck", "road", road[k]);
        for (int m = 0; m < 2; m++) {
            for (double tol = 1e-3; tol > 5e-12; tol /= 100) {
                for (int c = 0; c < 3; c++) {
                    if (m && c == 1) continue;                          /* phem56 is not symmetric */
                    if (c == 1 && fabs(tol / 1e-5 - 1) > 0.1) continue; /* as in the table */
                    steps s = {0};
                    dae_output output = {
                        .mode = DAE_OUTPUT_STEPS, .count = 1, .write = take_step, .user = &s};
                    answer a = fresh();
                    run(&(job){.problem = p,
                               .method = m ? "phem56" : "mexx",
                               .mode = mode[c],
                               .tol = tol,
                               .h0 = 1e-3,
                               .output = &output},
                        &a);
                    printf("%-8s %9.0e  %-7s %-10s %7ld %8ld %8ld %7.1f", road[k], tol, m ? "phem56" : "mexx",
                           mode[c], a.stats.accepted, a.stats.nfcn, a.stats.nsol, 1e3 * a.cpu);
                    if (s.count[1])
                        printf("  %.4f %.4f", s.sum[0] / (double)s.count[0], s.sum[1] / (double)s.count[1]);
                    printf("\n");
                }
            }
        }
        dae_problem_destroy(p);
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } part[] = {{"saddle", bench_saddle},
                {"dense", bench_dense},
                {"andrews", bench_andrews},
                {"threads", bench_threads},
                {"truck", bench_truck}};
    int known = 0;
    for (size_t k = 0; k < sizeof part / sizeof *part; k++) {
        int wanted = argc < 2;
        for (int i = 1; i < argc; i++) wanted |= !strcmp(argv[i], part[k].name);
        if (wanted) part[k].run();
        known += wanted;
    }
    if (!known) fprintf(stderr, "usage: bench_mechanics [saddle] [dense] [andrews] [threads] [truck]\n");
    return !known;
}
