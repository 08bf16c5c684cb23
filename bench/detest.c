/* All methods on the DETEST collections (detest.h): do errors follow tolerances?
 *
 *     detest [METHOD ...] [--set nonstiff|stiff] [--form scaled|plain] [--above RATIO] [--short]
 *
 * Every problem is solved with rtol = atol = 1e-2, 1e-3, .. 1e-11; the error is the largest
 * |y - reference| / (atol + rtol |reference|) at the end. Printed per method and collection: runs, failures, the median
 * and the largest of these ratios, the share above 10 and above 100, and the slope: the mean over the problems of
 * d log(error) / d log(tolerance), 1 where errors are proportional to tolerances. --above lists the runs above a
 * ratio, and those that failed. Class F of the nonstiff collection has jumps; it is run without and (F*) with their times
 * told. The exit status is 1 if a run broke the promise of detest.h (detest_promised): it says OK and is wrong. References are computed first, by two unrelated methods, and compared with the published end values. */
#include "detest.h"

enum { TOLERANCES = 10, FORMS = 2, MOST_RUNS = 2 * DETEST_COUNT * TOLERANCES };

typedef struct study {
    const char *method[64];
    int methods, shorter;
    const char *set, *form;
    double above;
    int broken; /* promises */
    double reference[FORMS][DETEST_COUNT][DETEST_SIZE];
} study;

static int wanted_problem(const study *s, const detest_problem *p)
{
    return !s->set || !strcmp(s->set, p->stiff ? "stiff" : "nonstiff");
}

static int wanted_form(const study *s, int scaled)
{
    return !s->form || !strcmp(s->form, scaled ? "scaled" : "plain");
}

/* References of all problems; says how far they are from each other and from the published values. */
static void prepare(study *s)
{
    double apart = 0, published = 0;
    const char *where = "", *there = "";
    for (int k = 0; k < DETEST_COUNT; k++) {
        const detest_problem *p = &detest_problems[k];
        if (!wanted_problem(s, p)) continue;
        for (int scaled = 0; scaled < FORMS; scaled++) {
            double *z = s->reference[scaled][k], d = detest_reference(p, scaled, z);
            if (!(d <= apart)) apart = d, where = p->name;
            for (int i = 0; i < p->n; i++) {
                double e = fabs(z[i] - p->published[i] / (scaled ? p->weight[i] : 1)) / (1 + fabs(z[i]));
                if (!(e <= published)) published = e, there = p->name;
            }
            if (s->above > 0 && d > 1e-10)
                printf("# %s%s%s: references apart by %.1e\n", p->stiff ? "stiff " : "", p->name,
                       scaled ? " scaled" : "", d);
        }
    }
    printf("references: two methods apart by at most %.1e (%s), from the published values by %.1e (%s)\n\n",
           apart, where, published, there);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The slope of log(error) over log(tolerance) by least squares; NAN: too few runs. */
static double slope_of(int n, const double *x, const double *y)
{
    double mx = 0, my = 0, xx = 0, xy = 0;
    for (int i = 0; i < n; i++) mx += x[i] / n, my += y[i] / n;
    for (int i = 0; i < n; i++) xx += (x[i] - mx) * (x[i] - mx), xy += (x[i] - mx) * (y[i] - my);
    return n >= 3 ? xy / xx : NAN;
}

typedef struct tally {
    int runs, failed, above10, above100, slopes;
    double ratio[MOST_RUNS], slope;
} tally;

/* One problem over all tolerances. */
static void ladder(study *s, const char *method, int k, int scaled, int declared, tally *t)
{
    const detest_problem *p = &detest_problems[k];
    double x[TOLERANCES], y[TOLERANCES];
    int n = 0;
    for (int i = 0; i < TOLERANCES; i += s->shorter ? 3 : 1) {
        double tol = pow(10, -2 - i);
        detest_run r = {.problem = p,
                        .scaled = scaled,
                        .declared = declared,
                        .method = method,
                        .rtol = tol,
                        .atol = tol,
                        .max_steps = 100000};
        detest_solve(&r);
        double ratio = detest_error(&r, s->reference[scaled][k]);
        int ok = r.status == DAE_OK;
        if (s->above > 0 && (!ok || !(ratio <= s->above)))
            printf("# %s %s%s%s%s %.0e: %s %.3g (%ld steps)\n", method, p->stiff ? "stiff " : "", p->name,
                   declared ? "*" : "", scaled ? " scaled" : "", tol, ok ? "ratio" : r.error.text, ratio,
                   r.stats.steps);
        t->failed += !ok;
        if (!ok) continue;
        if (!(ratio <= 1000) && detest_promised(method, p, scaled, tol)) {
            printf("# broken: %s %s%s %.0e says OK with %.3g tolerances\n", method, p->stiff ? "stiff " : "",
                   p->name, tol, ratio);
            s->broken++;
        }
        t->above10 += !(ratio <= 10);
        t->above100 += !(ratio <= 100);
        t->ratio[t->runs++] = ratio;
        if (!(ratio * tol > 1e-14)) continue;
        x[n] = log(tol);
        y[n++] = log(ratio * tol);
    }
    double d = slope_of(n, x, y);
    if (!isfinite(d)) return;
    t->slope += d;
    t->slopes++;
}

static void collection(study *s, const char *method, int stiff, int scaled)
{
    const dae_method_info *m = dae_method_find(method);
    tally *t = calloc(1, sizeof *t);
    if (!t) return;
    for (int k = 0; k < DETEST_COUNT; k++) {
        const detest_problem *p = &detest_problems[k];
        if (p->stiff != stiff || (m && !detest_takes(m, p))) continue;
        ladder(s, method, k, scaled, 0, t);
        if (p->jumps) ladder(s, method, k, scaled, 1, t);
    }
    if (t->runs + t->failed) {
        qsort(t->ratio, (size_t)t->runs, sizeof *t->ratio, by_size);
        double n = t->runs > 0 ? t->runs : 1;
        printf("%-12s %-8s %-6s %5d %6d %9.3g %9.3g %6.1f%% %6.1f%% %6.2f\n", method,
               stiff ? "stiff" : "nonstiff", scaled ? "scaled" : "plain", t->runs + t->failed, t->failed,
               t->runs ? t->ratio[t->runs / 2] : NAN, t->runs ? t->ratio[t->runs - 1] : NAN,
               100 * t->above10 / n, 100 * t->above100 / n, t->slope / t->slopes);
        fflush(stdout);
    }
    free(t);
}

static int usage(void)
{
    fprintf(stderr, "usage: detest [METHOD ...] [--set nonstiff|stiff] [--form scaled|plain] [--above RATIO] "
                    "[--short]\n");
    return 2;
}

int main(int argc, char **argv)
{
    static study s;
    for (int i = 1; i < argc; i++) {
        const char *next = i + 1 < argc ? argv[i + 1] : NULL;
        if (!strcmp(argv[i], "--short")) s.shorter = 1;
        else if (!strcmp(argv[i], "--set") && next) s.set = argv[++i];
        else if (!strcmp(argv[i], "--form") && next) s.form = argv[++i];
        else if (!strcmp(argv[i], "--above") && next) s.above = atof(argv[++i]);
        else if (argv[i][0] == '-' || s.methods == 64) return usage();
        else s.method[s.methods++] = argv[i];
    }
    if (!s.methods) {
        s.method[s.methods++] = "auto";
        for (int i = 0; i < dae_method_count() && s.methods < 64; i++)
            s.method[s.methods++] = dae_method_get(i)->name;
    }
    prepare(&s);
    printf("%-12s %-8s %-6s %5s %6s %9s %9s %7s %7s %6s\n", "method", "set", "form", "runs", "failed",
           "median", "largest", "> 10", "> 100", "slope");
    for (int i = 0; i < s.methods; i++) {
        for (int k = 0; k < 4; k++) {
            int stiff = k / 2, scaled = k % 2;
            if (s.set && strcmp(s.set, stiff ? "stiff" : "nonstiff")) continue;
            if (wanted_form(&s, scaled)) collection(&s, s.method[i], stiff, scaled);
        }
    }
    if (s.broken) printf("\n%d runs say OK with an error above 1000 tolerances\n", s.broken);
    return s.broken > 0;
}
