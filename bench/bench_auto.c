/* The regret of "auto": its time over the time of the best method at equal accuracy.
 *
 * Every method that takes a problem, and auto, runs over a ladder of tolerances. Digits jump from one tolerance to the next, so those of a run
 * count as the mean with its neighbours half a power of ten away, and those beyond two more than rtol asks for do not count (a solution that has decayed
 * to nothing is exact at every tolerance), neither to auto nor to the others. For each run of auto the best of the others is the cheapest run that has
 * at least its digits; a method that takes longer than auto does at its tightest tolerance cannot be that. One row per problem
 * and tolerance, a summary at the end: in how many rows the ratio is at most 1.3, and at most 2. Times are the best of several
 * repetitions; auto and what looks best are measured again in turn, until what looks best has been, and the ratio is the median of these.
 *
 * The rules of auto were made with the problems of the test set, later also with those of the DETEST collections (plain form, without the class
 * F of jumps) and equation files of the examples; the files of `held` were not used for that and stay so, they tell whether the rules hold elsewhere.
 * References of files and collections are computed by two methods that have nothing in common; problems on which these do not agree are left out, and said.
 *
 * Events of a problem take part: without them a file that jumps is another problem, and dense output costs nothing. A run that an event
 * ends is compared there.
 *
 *     bench_auto [--points] [testset | detest | textbook | more | held | PROBLEM | FILE.deq | stiff-D4 | nonst-B1 ...]
 *         nothing: all; --points, before them: every run too */
#include "detest.h"

#include <daedalus/daedalus.h>
#include <daedalus/problem.h>

#include <time.h>

static const char *const standard[] = {"hires", "pollu", "vdpol-mu", "vdpol-eps", "rober",   "orego",
                                       "e5",    "plei",  "chemakzo", "transamp",  "medakzo", "caraxis"};
static const char *const textbook[] = {"decay_chain", "enzyme", "epidemic",      "heat_rod",
                                       "nerve",       "orbit",  "predator_prey", "radiation",
                                       "reactor",     "swing",  "two_tanks",     "balance"};
/* Also with impacts, doses and controllers. */
static const char *const more[] = {"adsorber",       "brusselator", "chemostat",      "fitzhugh",
                                   "glucose",        "lorenz",      "quadruple_tank", "relaxation",
                                   "repressilator",  "rocket",      "semibatch",      "wien_bridge",
                                   "fault_clearing", "motor",       "cruise",         "elastic_pendulum"};
/* All others that run by themselves. */
static const char *const held[] = {"air_tank", "arm",       "atwood",          "bead",
                                   "bounces",  "brake",     "bridge",          "buck",
                                   "bungee",   "chua",      "crane",           "distillation",
                                   "doses",    "measles",   "double_pendulum", "oscillating_circuit",
                                   "sampled",  "rectifier", "stick_slip",      "source_and_capacitor",
                                   "swing_up", "wall",      "thermostat"};
enum { TOLERANCES = 15, MOST = 48 };  /* 1e-3 .. 1e-9 and one beyond each end; methods */
static const double slow = 2;         /* seconds: the longest run */
static const double patience = 0.005; /* seconds: short runs are repeated for so long */
enum {
    AGAIN = 5,
    TURNS = 1000
}; /* least and most times that auto and the best are measured in turn, for twice `patience` */

static int points; /* 1: all that is measured is printed too */

typedef struct point {
    const char *method;
    double digits, seconds;
    int changed; /* another method went on */
} point;

/* What is integrated. */
typedef struct subject {
    const char *name;
    dae_system system;
    double t0, t_end;
    const double *y0, *yp0;
    const double *discontinuity;
    int ndiscontinuity, stiff;
    const double *reference;
    const dae_problem *problem; /* for its score, the factors of its tolerances and its events, or NULL */
    double atol;                /* at rtol = 1 */
} subject;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double digits_of(const subject *s, const dae_options *opt, const double *y)
{
    double worst = 0;
    if (s->problem && s->problem->reference) return dae_problem_score(s->problem, opt, s->reference, y).mescd;
    for (int i = 0; i < dae_system_size(&s->system); i++)
        worst = fmax(worst, fabs(y[i] - s->reference[i]) / (s->atol + fabs(s->reference[i])));
    return fmin(16, -log10(worst));
}

/* One run; digits NAN: it failed. y: where the result is wanted, or NULL. */
static point run(const subject *s, const char *method, double rtol, double most, double *y)
{
    const dae_problem *p = s->problem;
    int n = dae_system_size(&s->system), e5 = p && !strcmp(s->name, "e5");
    double *vec = malloc(2 * (size_t)n * sizeof *vec),
           atol = e5 ? p->atol : s->atol * rtol; /* e5: as the test set */
    point out = {method, NAN, NAN, 0};
    if (!vec) return out;
    for (int i = 0; i < n; i++) {
        vec[i] = rtol * (p && p->rtol_factor ? p->rtol_factor[i] : 1);
        vec[n + i] = atol * (p && p->atol_factor ? p->atol_factor[i] : 1);
    }
    dae_options opt = dae_options_default();
    opt.method = method;
    opt.rtol = rtol;
    opt.atol = atol;
    opt.rtol_vec = vec;
    opt.atol_vec = vec + n;
    opt.discontinuity = s->discontinuity;
    opt.ndiscontinuity = s->ndiscontinuity;
    opt.max_seconds = most;
    double begin = now();
    dae_integrator *it = dae_integrator_create(&s->system, &opt, NULL);
    if (it && (!p || !p->events || dae_integrator_set_events(it, p->events, NULL) == DAE_OK) &&
        dae_integrator_start(it, s->t0, s->t_end, s->y0, s->yp0, NULL) == DAE_OK &&
        dae_integrator_advance(it, s->t_end, NULL) >= 0) { /* DAE_EVENT: the end */
        out.seconds = now() - begin;
        out.method = dae_integrator_method(it)->name;
        out.changed = strstr(dae_integrator_reason(it), " met ") != NULL;
        if (y) memcpy(y, dae_integrator_state(it), (size_t)n * sizeof *y);
        out.digits = y ? 0 : digits_of(s, &opt, dae_integrator_state(it));
    }
    dae_integrator_destroy(it);
    free(vec);
    return out;
}

static point measure(const subject *s, const char *method, double rtol, double most)
{
    double begin = now();
    point best = run(s, method, rtol, most, NULL);
    while (!isnan(best.digits) && now() - begin < patience) {
        point next = run(s, method, rtol, most, NULL);
        if (next.seconds < best.seconds) best = next;
    }
    return best;
}

typedef struct tally {
    int rows, good, fair;
    double worst;
} tally;

static double rtol_of(int k)
{
    return pow(10, -2.5 - 0.5 * k);
}

/* All tolerances, until one fails or takes too long; how many. Digits become those that are usual around a tolerance. */
static int ladder(const subject *s, const char *method, double most, point *out)
{
    double found[TOLERANCES];
    int count = 0;
    for (; count < TOLERANCES; count++) {
        out[count] = measure(s, method, rtol_of(count), most);
        if (isnan(out[count].digits)) break;
        found[count] = out[count].digits;
    }
    for (int k = 1; k + 1 < count; k++)
        out[k].digits = fmin((found[k - 1] + found[k] + found[k + 1]) / 3, 2 - log10(rtol_of(k)));
    for (int k = 1; points && k + 1 < count; k++)
        printf("point %s %s %.3g %.3f %.3f %s %d\n", s->name, method, rtol_of(k), out[k].digits,
               1e6 * out[k].seconds, out[k].method, out[k].changed);
    return count;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* auto's time over that of a method, both measured in turn: the clock of a processor may be half as fast a moment later, and that of a virtual machine
 * loses some time now and then, so the median of all turns is taken. */
static double in_turn(const subject *s, double rtol, const char *method, double with)
{
    static double ratio[TURNS];
    double begin = now();
    int turns = 0;
    while (turns < TURNS && (turns < AGAIN || now() - begin < 2 * patience)) {
        double own = run(s, "auto", rtol, slow, NULL).seconds;
        ratio[turns++] = own / run(s, method, with, slow, NULL).seconds;
    }
    qsort(ratio, (size_t)turns, sizeof *ratio, by_size);
    return ratio[turns / 2];
}

static void study(const subject *s, tally *t)
{
    static point all[MOST][TOLERANCES], own[TOLERANCES];
    static double again[MOST][TOLERANCES];
    static int length[MOST];
    int methods = 0, rows = ladder(s, "auto", slow, own) - 1;
    double most = 0;
    for (int k = 0; k < rows; k++) most = fmax(most, own[k].seconds);
    for (int i = 0; i < dae_method_count() && methods < MOST; i++) {
        const dae_method_info *m = dae_method_get(i);
        if (!dae_method_takes(m, &s->system) || (s->stiff && !m->implicit)) continue;
        length[methods] = ladder(s, m->name, fmin(slow, fmax(2 * most, 1e-3)), all[methods]);
        methods++;
    }
    if (rows < TOLERANCES - 1) printf("%-13s auto failed at %.0e\n", s->name, rtol_of(rows));
    for (int k = 1; k < rows; k++) { /* those with neighbours */
        point a = own[k], best = a;
        double with = rtol_of(k), ratio = 1;
        char sure[MOST][TOLERANCES] = {{0}};
        for (;;) {
            int row = -1, column = -1;
            double most_so_far = 1;
            for (int i = 0; i < methods; i++) {
                for (int l = 1; l < length[i] - 1; l++) {
                    double r = sure[i][l] ? again[i][l] : a.seconds / all[i][l].seconds;
                    if (all[i][l].digits < a.digits || r <= most_so_far) continue;
                    most_so_far = r;
                    row = i;
                    column = l;
                }
            }
            if (row < 0) break;
            best = all[row][column];
            with = rtol_of(column);
            ratio = most_so_far;
            if (sure[row][column] || ratio < 1 / 0.95 || a.seconds > 0.05) break;
            again[row][column] = in_turn(s, rtol_of(k), best.method, with);
            sure[row][column] = 1;
            ratio = 1;
        }
        if (ratio == 1) best = a;
        printf("%-13s %7.0e  %-9s %6.2f %10.1f us   %-9s %6.2f %10.1f us  %6.2f\n", s->name, rtol_of(k),
               a.method, a.digits, 1e6 * a.seconds, best.method, best.digits, 1e6 * a.seconds / ratio, ratio);
        t->rows++;
        t->good += ratio <= 1.3;
        t->fair += ratio <= 2;
        if (!(ratio <= t->worst)) t->worst = ratio;
    }
    fflush(stdout);
}

/* The end of s by two methods, in y; 1: they agree to nine digits. */
static int make_reference(const subject *s, double *y, double *z)
{
    static const char *const pair[][2] = {{"dop853", "radau"}, {"bimd", "radau"}, {"radau5", "mebdfdae"}};
    int n = dae_system_size(&s->system);
    for (int k = s->stiff; k < 3; k++) {
        if (isnan(run(s, pair[k][0], 1e-12, slow, y).digits) ||
            isnan(run(s, pair[k][1], 3e-12, slow, z).digits))
            continue;
        double worst = 0;
        for (int i = 0; i < n; i++) worst = fmax(worst, fabs(y[i] - z[i]) / (s->atol + fabs(z[i])));
        if (worst < 1e-9) return 1;
    }
    fprintf(stderr, "%s: left out, two methods do not agree on its solution\n", s->name);
    return 0;
}

static void study_problem(const char *name, tally *t)
{
    dae_error err = {0};
    dae_problem *p = dae_problem_open(name, NULL, 0, &err);
    if (!p) {
        fprintf(stderr, "%s: %s\n", name, err.text);
        return;
    }
    const char *slash = strrchr(name, '/');
    subject s = {.name = slash ? slash + 1 : name,
                 .system = p->system,
                 .t0 = p->t0,
                 .t_end = p->t_end,
                 .y0 = p->y0,
                 .yp0 = p->yp0,
                 .discontinuity = p->discontinuity,
                 .ndiscontinuity = p->ndiscontinuity,
                 .stiff = p->info && p->info->stiff,
                 .reference = p->reference,
                 .problem = p,
                 .atol = p->reference ? p->atol / p->rtol : 1};
    int n = dae_system_size(&p->system);
    double *y = malloc(2 * (size_t)n * sizeof *y);
    if (y && !s.reference && make_reference(&s, y, y + n)) s.reference = y;
    if (s.reference) study(&s, t);
    free(y);
    dae_problem_destroy(p);
}

/* only: "stiff-D4", ..., one of them; NULL: all. How many there are. */
static int study_detest(const char *only, tally *t)
{
    int found = 0;
    for (int k = 0; k < DETEST_COUNT; k++) {
        const detest_problem *p = &detest_problems[k];
        detest_run r = {.problem = p, .method = "auto"};
        double y[DETEST_SIZE], z[DETEST_SIZE];
        char name[16];
        snprintf(name, sizeof name, "%s-%s", p->stiff ? "stiff" : "nonst", p->name);
        if (only && strcmp(only, name) != 0) continue;
        found++;
        subject s = {.name = name,
                     .system = detest_system(&r),
                     .t_end = p->t_end,
                     .y0 = p->y0,
                     .stiff = p->stiff,
                     .reference = y,
                     .atol = 1};
        if (p->jumps || !make_reference(&s, y, z)) continue;
        study(&s, t);
    }
    return found;
}

static void print_tally(const char *what, const tally *t)
{
    if (t->rows)
        printf("%s: %d rows: at most 1.3 in %d (%d %%), at most 2 in %d (%d %%), worst %.2f\n", what, t->rows,
               t->good, 100 * t->good / t->rows, t->fair, 100 * t->fair / t->rows, t->worst);
    fflush(stdout);
}

typedef struct set {
    const char *name, *folder, *ending;
    const char *const *member;
    size_t count;
    tally t;
} set;
#define SET(name, list, folder, ending)                            \
    {                                                              \
        name, folder, ending, list, sizeof(list) / sizeof *(list), \
        {                                                          \
            0                                                      \
        }                                                          \
    }
#define FILES(name) SET(#name, name, "examples/equations/", ".deq")

static void study_set(set *s)
{
    if (!s->count) study_detest(NULL, &s->t);
    for (size_t i = 0; i < s->count; i++) {
        char path[96];
        snprintf(path, sizeof path, "%s%s%s", s->folder, s->member[i], s->ending);
        study_problem(path, &s->t);
    }
}

int main(int argc, char **argv)
{
    static set sets[] = {
        SET("testset", standard, "", ""), {.name = "detest"}, FILES(textbook), FILES(more), FILES(held)};
    enum { SETS = sizeof sets / sizeof *sets };
    tally single = {0};
    int rows = 0;
    if (argc > 1 && !strcmp(argv[1], "--points")) {
        points = 1;
        argc--;
        argv++;
    }
    printf("%-13s %7s  %-9s %6s %13s   %-9s %6s %13s  %6s\n", "problem", "rtol", "auto", "digits", "time",
           "best", "digits", "time", "ratio");
    for (int i = 1; i < argc; i++) {
        int k = 0;
        while (k < SETS && strcmp(argv[i], sets[k].name) != 0) k++;
        if (k < SETS) study_set(&sets[k]);
        else if (!study_detest(argv[i], &single)) study_problem(argv[i], &single);
    }
    for (int k = 0; argc < 2 && k < SETS; k++) study_set(&sets[k]);
    for (int k = 0; k < SETS; k++) {
        print_tally(sets[k].name, &sets[k].t);
        rows += sets[k].t.rows;
    }
    print_tally("problems", &single);
    return rows + single.rows ? 0 : 1;
}
