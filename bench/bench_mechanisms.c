/* What mechanisms cost, one row per figure that is wanted of them (the models are in bench/mechanisms):
 *
 *   chains    one evaluation: the recursion of the joint form, inverse dynamics and mbs_mechanism_acceleration, which
 *             also finds the multipliers; wanted: inverse 0.1 us per body in the plane and 0.2 in space, accelerations in three
 *             times the recursion, monotone in N
 *   loops     N windows in a row, N loops and one freedom: y' of the form that auto takes, one
 *             mbs_mechanism_acceleration, and the time to compile; wanted: all proportional to N
 *   impacts   64 balls on a floor (wanted: 60 ms) and a cradle of five (10 ms at every tolerance), whole runs
 *   auto      the time of auto over that of the best choice of method and form at equal accuracy; wanted: 1.3
 *
 * For auto every choice runs over a ladder of tolerances. Digits are those of positions and velocities at the end and count as the mean with
 * the neighbours half a power of ten away; the best is the cheapest run with at least the digits of auto's, measured again in turn with
 * it. Choices that hold no constraint to 1e-4 do not count.
 *
 *     bench_mechanisms [chains] [loops] [impacts] [auto [MODEL ...]]      nothing: all but auto, which takes many minutes
 *
 * Times are CPU times of one thread, the least of many. */
#include <daedalus/daedalus.h>
#include <daedalus/multibody.h>
#include <daedalus/simulation.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void stop(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static double *reals(int n)
{
    double *x = calloc((size_t)n + 1, sizeof *x);
    if (!x) stop("memory", "there is none");
    return x;
}

/* MODEL or MODEL:N, from bench/mechanisms, else from models. */
static dae_problem *open_model(const char *what)
{
    char path[512], name[64];
    dae_error err = {0};
    snprintf(name, sizeof name, "%s", what);
    char *count = strchr(name, ':');
    if (count) *count++ = 0;
    snprintf(path, sizeof path, "%s/%s/%s.json", SOURCE, count ? "bench/mechanisms" : "models", name);
    dae_problem *p = dae_problem_open(path, &(dae_setting){"N", count}, count != NULL, &err);
    if (!p) stop(what, err.text);
    return p;
}

static dae_problem *open_sized(const char *name, int n)
{
    char what[64];
    snprintf(what, sizeof what, "%s:%d", name, n);
    return open_model(what);
}

/* ---- One call ---------------------------------------------------------------------------------------- */

/* A state in motion, and what is called there. */
typedef struct place {
    const dae_problem *problem;
    const mbs_mechanism *mechanism;
    const dae_joint_form *form; /* NULL: `ode` is what is integrated */
    const dae_ode *ode;
    double *y, *z, *zp, *sdot, *tau, *a, *lambda;
    void *work;
} place;

static int recursion(place *x)
{
    x->z[0] += 1e-15; /* another point: nothing may be kept from the last one */
    return x->form->rates(0, x->z, x->zp, x->work, x->form->user);
}

static int inverse(place *x)
{
    x->z[0] += 1e-15;
    return x->form->torques(0, x->z, x->sdot, x->tau, x->work, x->form->user);
}

static int accelerations(place *x)
{
    x->y[0] += 1e-15;
    return mbs_mechanism_acceleration(x->mechanism, 0, x->y, x->a, x->lambda, NULL);
}

static int derivative(place *x)
{
    x->z[0] += 1e-15;
    return x->ode->f(0, x->z, x->zp, x->ode->user);
}

/* Microseconds of one call, the least of many. */
static double time_of(int (*call)(place *), place *x, int n)
{
    double best = INFINITY;
    int calls = 1 + 1000 / n;
    for (int run = 0; run < 60; run++) {
        double begin = now();
        for (int k = 0; k < calls; k++) {
            if (call(x)) return NAN;
        }
        best = fmin(best, (now() - begin) / calls);
    }
    return 1e6 * best;
}

static place place_of(const dae_problem *p)
{
    const dae_mech *s = &p->system.mech;
    int n = dae_system_size(&p->system);
    place x = {.problem = p, .mechanism = mbs_problem_mechanism(p), .form = s->joint};
    x.y = reals(n);
    memcpy(x.y, p->y0, (size_t)(s->np + s->nv + s->nu) * sizeof *x.y);
    x.z = reals(n), x.zp = reals(n), x.sdot = reals(s->nv), x.tau = reals(s->nv);
    x.a = reals(s->nv), x.lambda = reals(s->nlambda);
    x.work = x.form ? aligned_alloc(64, (x.form->work_size + 63) / 64 * 64) : NULL;
    if (x.work) memset(x.work, 0, x.form->work_size);
    return x;
}

static void leave(place *x)
{
    free(x->y), free(x->z), free(x->zp), free(x->sdot), free(x->tau), free(x->a), free(x->lambda);
    free(x->work);
}

static void chains_of(const char *model, int bodies)
{
    double last = 0;
    printf("\n-- %s, us\n%6s %10s %10s %10s %14s %8s\n", model, "bodies", "recursion", "inverse", "per body",
           "accelerations", "ratio");
    for (int n = 2; n <= 1024; n = n == 2 ? 4 : n < 16 ? n + 4 : 2 * n) {
        dae_problem *p = open_sized(model, n / bodies);
        const dae_mech *s = &p->system.mech;
        place x = place_of(p);
        x.form->from_absolute(0, x.y, x.y + s->np, x.z, x.z + x.form->nq, x.work, x.form->user);
        for (int k = 0; k < x.form->ns; k++) {
            x.z[k] += 0.3 * sin(0.7 * k); /* bent, and in motion */
            x.z[x.form->nq + k] = 0.1 * sin(k);
            x.sdot[k] = cos(1.3 * k);
        }
        x.form->to_absolute(0, x.z, x.z + x.form->nq, x.y, x.y + s->np, x.work, x.form->user);
        double r = time_of(recursion, &x, n), i = time_of(inverse, &x, n), a = time_of(accelerations, &x, n);
        printf("%6d %10.3f %10.3f %10.3f %14.3f %8.2f%s\n", n, r, i, i / n, a, a / r,
               a < last ? " NOT MONOTONE" : "");
        last = a;
        leave(&x);
        dae_problem_destroy(p);
    }
}

static void bench_chains(void)
{
    chains_of("chain", 1);
    chains_of("chain_space", 2);
}

static void bench_loops(void)
{
    printf("\n-- windows\n%6s %12s %10s %18s %10s\n", "loops", "y', us", "per loop", "accelerations, us",
           "compile ms");
    for (int n = 1; n <= 128; n *= 2) {
        dae_error err = {0};
        double compile = INFINITY;
        dae_problem *p = open_sized("windows", n);
        for (int k = 0; k < 5; k++) {
            double begin = now();
            dae_problem_destroy(p);
            p = open_sized("windows", n);
            compile = fmin(compile, now() - begin);
        }
        place x = place_of(p);
        dae_formulation *form = dae_formulation_create(&p->system, "index1", NULL, 0, &err);
        if (!form || dae_formulation_lift(form, 0, p->y0, x.z, &err) < 0) stop("windows", err.text);
        x.ode = &dae_formulation_system(form)->ode;
        double f = time_of(derivative, &x, 4 * n), a = time_of(accelerations, &x, 8 * n);
        printf("%6d %12.3f %10.3f %18.3f %10.3f\n", n, f, f / n, a, 1e3 * compile);
        dae_formulation_destroy(form);
        leave(&x);
        dae_problem_destroy(p);
    }
}

/* ---- Whole runs --------------------------------------------------------------------------------------- */

enum { TOLERANCES = 13, MOST = 64 }; /* 10^-2.5 .. 10^-8.5 */
enum {
    LARGEST_STATESPACE = 400
};                            /* positions and velocities; beyond, choosing coordinates alone takes longer */
static const double slow = 3; /* seconds: the longest run */
static const double patience = 0.01; /* seconds: short runs are repeated for so long */
enum { AGAIN = 7 };                  /* times that auto and the best are measured in turn */

typedef struct choice {
    const char *method, *form;
} choice;

typedef struct point {
    choice by;
    double digits, seconds, rtol;
    int events;
} point;

static double rtol_of(int k)
{
    return pow(10, -2.5 - 0.5 * k);
}

/* One run, all of it from open to close; digits NAN: it failed. y: where the end is wanted, or NULL. */
static point run(const dae_problem *p, choice by, double rtol, double most, const double *exact, double *y)
{
    dae_simulation_options o = dae_simulation_options_default(p);
    int n = p->system.mech.np + p->system.mech.nv;
    double worst = 0;
    point out = {by, NAN, NAN, rtol, 0};
    o.options.method = by.method;
    o.options.formulation = by.form;
    o.options.rtol = o.options.atol = rtol;
    o.options.max_seconds = most;
    double begin = now();
    dae_simulation *s = dae_simulation_open(p, &o, NULL);
    if (!s || dae_simulation_start(s, NULL) < 0 || dae_simulation_advance(s, p->t_end, NULL) < 0) goto done;
    out.seconds = now() - begin;
    const double *end = dae_simulation_state(s);
    if (dae_simulation_time(s) < p->t_end) goto done;
    if (y) memcpy(y, end, (size_t)n * sizeof *y);
    for (int i = 0; exact && i < n; i++) worst = fmax(worst, fabs(end[i] - exact[i]) / (1 + fabs(exact[i])));
    dae_simulation_events(s, &out.events);
    if (dae_simulation_stats(s).position_residual < 1e-4) out.digits = -log10(fmax(worst, 1e-16));
    dae_choice c = dae_simulation_choice(s);
    out.by.method = dae_method_find(c.method)->name;
    for (int i = 0; i < dae_formulation_count(); i++) {
        if (!strcmp(dae_formulation_get(i)->name, c.formulation)) out.by.form = dae_formulation_get(i)->name;
    }
done:
    dae_simulation_close(s);
    return out;
}

static point measure(const dae_problem *p, choice by, double rtol, double most, const double *exact)
{
    double begin = now();
    point best = run(p, by, rtol, most, exact, NULL);
    while (!isnan(best.digits) && now() - begin < patience) {
        point next = run(p, by, rtol, most, exact, NULL);
        if (next.seconds < best.seconds) best = next;
    }
    return best;
}

static void bench_impacts(void)
{
    static const choice automatic = {"auto", "auto"};
    dae_problem *balls = open_model("balls:64"), *cradle = open_model("cradle:5");
    printf("\n-- impacts, ms\n%-10s %8s %8s %10s\n", "", "rtol", "impacts", "ms");
    for (int k = 3; k <= 9; k += 3) {
        point x = measure(balls, automatic, pow(10, -k), slow, NULL);
        for (int again = 0; again < AGAIN; again++)
            x.seconds = fmin(x.seconds, run(balls, automatic, pow(10, -k), slow, NULL, NULL).seconds);
        printf("%-10s %8.0e %8d %10.3f\n", "64 balls", x.rtol, x.events, 1e3 * x.seconds);
    }
    for (int k = 2; k <= 12; k++) {
        point x = measure(cradle, automatic, pow(10, -k), slow, NULL);
        printf("%-10s %8.0e %8d %10.3f\n", "cradle", x.rtol, x.events, 1e3 * x.seconds);
    }
    dae_problem_destroy(balls);
    dae_problem_destroy(cradle);
}

/* All tolerances, until one fails or takes too long; how many. Digits become those that are usual around a tolerance. */
static int ladder(const dae_problem *p, choice by, double most, const double *exact, point *out)
{
    double found[TOLERANCES];
    int count = 0;
    for (; count < TOLERANCES; count++) {
        out[count] = measure(p, by, rtol_of(count), most, exact);
        if (isnan(out[count].digits)) break;
        found[count] = out[count].digits;
    }
    for (int k = 1; k + 1 < count; k++) out[k].digits = (found[k - 1] + found[k] + found[k + 1]) / 3;
    return count;
}

typedef struct tally {
    int rows, good;
    double worst;
} tally;

/* The end by two explicit methods at tight tolerances; 1: they agree to nine digits. */
static int reference(const dae_problem *p, double *y, double *z)
{
    double worst = 0;
    int n = p->system.mech.np + p->system.mech.nv;
    choice first = {"dop853", "auto"}, second = {"vern9", "auto"};
    if (isnan(run(p, first, 1e-12, 60, NULL, y).digits) || isnan(run(p, second, 3e-13, 60, NULL, z).digits))
        return 0;
    for (int i = 0; i < n; i++) worst = fmax(worst, fabs(y[i] - z[i]) / (1 + fabs(z[i])));
    return worst < 1e-9;
}

static void regret(const char *name, tally *t)
{
    static const char *const explicit[] = {"bs23", "dopri5", "dop853", "vern8", "vern9",
                                           "odex", "vode",   "lsoda",  "rkn8",  "rkn12"};
    static const char *const forms[] = {"joint", "index1", "statespace"};
    static point all[MOST][TOLERANCES], own[TOLERANCES];
    static int length[MOST];
    dae_problem *p = open_model(name);
    int n = p->system.mech.np + p->system.mech.nv, choices = 0;
    double *exact = reals(2 * n), most = 0;
    if (!reference(p, exact, exact + n)) {
        printf("%-16s left out: two methods do not agree on its end\n", name);
        goto done;
    }
    int rows = ladder(p, (choice){"auto", "auto"}, slow, exact, own) - 1;
    for (int k = 0; k < rows; k++) most = fmax(most, own[k].seconds);
    most = fmax(1.5 * most, 1e-3);
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        if (f == 2 && n > LARGEST_STATESPACE) break;
        for (size_t i = 0; i < sizeof explicit / sizeof *explicit; i++) {
            length[choices] = ladder(p, (choice){explicit[i], forms[f]}, most, exact, all[choices]);
            choices++;
        }
    }
    length[choices] = ladder(p, (choice){"phem56", "descriptor"}, most, exact, all[choices]), choices++;
    length[choices] = ladder(p, (choice){"mexx", "descriptor"}, most, exact, all[choices]), choices++;
    for (int k = 1; k < rows; k++) {
        point a = own[k], best = a;
        for (int i = 0; i < choices; i++) {
            for (int l = 1; l < length[i] - 1; l++) {
                if (all[i][l].digits >= a.digits && all[i][l].seconds < best.seconds) best = all[i][l];
            }
        }
        for (int again = 0; again < AGAIN && best.seconds < 0.95 * a.seconds; again++) {
            a.seconds = fmin(a.seconds, run(p, (choice){"auto", "auto"}, a.rtol, slow, exact, NULL).seconds);
            best.seconds = fmin(best.seconds, run(p, best.by, best.rtol, slow, exact, NULL).seconds);
        }
        double ratio = a.seconds / best.seconds;
        printf("%-16s %7.0e  %7s/%-10s %6.2f %10.1f us   %7s/%-10s %6.2f %10.1f us  %6.2f\n", name, a.rtol,
               a.by.method, a.by.form, a.digits, 1e6 * a.seconds, best.by.method, best.by.form, best.digits,
               1e6 * best.seconds, ratio);
        t->rows++;
        t->good += ratio <= 1.3;
        t->worst = fmax(t->worst, ratio);
    }
    fflush(stdout);
done:
    free(exact);
    dae_problem_destroy(p);
}

static void bench_auto(char **name, int count)
{
    static const char *const single[] = {"double_pendulum", "four_bar", "cradle:5"};
    tally t = {0};
    char what[64];
    printf("\n-- auto\n%-16s %7s  %18s %6s %13s   %18s %6s %13s  %6s\n", "model", "rtol", "auto", "digits",
           "time", "best", "digits", "time", "ratio");
    for (int i = 0; i < count; i++) regret(name[i], &t);
    for (size_t i = 0; !count && i < sizeof single / sizeof *single; i++) regret(single[i], &t);
    for (int n = 2; !count && n <= 64; n *= 2) {
        snprintf(what, sizeof what, "windows:%d", n);
        regret(what, &t);
    }
    for (int n = 2; !count && n <= 1024; n *= 2) {
        snprintf(what, sizeof what, "chain:%d", n);
        regret(what, &t);
        snprintf(what, sizeof what, "chain_space:%d", n / 2);
        regret(what, &t);
    }
    printf("auto: %d rows: at most 1.3 in %d (%d %%), worst %.2f\n", t.rows, t.good,
           t.rows ? 100 * t.good / t.rows : 0, t.worst);
}

int main(int argc, char **argv)
{
    int every = argc < 2, known = every;
    for (int i = 1; i < argc; i++) {
        int chains = !strcmp(argv[i], "chains"), loops = !strcmp(argv[i], "loops"),
            impacts = !strcmp(argv[i], "impacts"), automatic = !strcmp(argv[i], "auto");
        if (chains) bench_chains();
        if (loops) bench_loops();
        if (impacts) bench_impacts();
        known |= chains || loops || impacts || automatic;
        if (automatic) {
            bench_auto(argv + i + 1, argc - i - 1);
            break;
        }
    }
    if (every) bench_chains(), bench_loops(), bench_impacts();
    if (!known) fprintf(stderr, "usage: bench_mechanisms [chains] [loops] [impacts] [auto [MODEL ...]]\n");
    return !known;
}
