/* Mechanisms of model files, what users wait for, in ratios:
 *   output    a run with all its columns (sensors, reactions) at four points of every step, as CSV, beside the run alone; wanted: below 2
 *   wishbone  a double wishbone with stiff bushings under auto beside the best of all choices; wanted: below 1.5
 *   contacts  N balls that roll on a floor, N = 8 .. 128: the exponent of the time over N; wanted: below 1.2
 * Without arguments all of them; times are the smallest of several runs. */
#include <daedalus/daedalus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { rounds = 5 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int count(const char *text, size_t length, void *user)
{
    (void)text;
    *(size_t *)user += length;
    return 0;
}

/* CPU seconds of one run by a method, with a table of every column if it is wanted; < 0: it failed. */
static double once(const dae_problem *p, const char *method, int table, int *npoint)
{
    dae_error err = {0};
    dae_run_options o = dae_run_options_default(p);
    size_t bytes = 0;
    if (method) o.options.method = method, o.options.formulation = NULL;
    o.trajectory = table ? DAE_TRAJECTORY_STEPS : DAE_TRAJECTORY_NONE;
    o.points = 4;
    double start = now();
    dae_run_result *r = dae_run(p, &o, &err);
    int good = r && r->status >= 0;
    if (good && npoint) *npoint = r->npoint;
    dae_table *t = good && table ? dae_run_table(r, &err) : NULL;
    if (t && dae_table_write(t, DAE_TABLE_CSV, count, &bytes, &err) < 0) good = 0;
    if (table && !bytes) good = 0;
    dae_table_destroy(t);
    dae_run_destroy(r);
    return good ? now() - start : -1;
}

static double least(const dae_problem *p, const char *method, int table, int *npoint)
{
    double best = INFINITY;
    for (int k = 0; k < rounds; k++) {
        double s = once(p, method, table, npoint);
        if (s < 0) return -1;
        best = fmin(best, s);
    }
    return best;
}

static dae_problem *from(const char *what)
{
    dae_error err = {0};
    char path[600];
    snprintf(path, sizeof path, "%s/%s", SOURCE, what);
    dae_problem *p = dae_problem_open(path, NULL, 0, &err);
    if (!p) fprintf(stderr, "%s\n", err.text);
    return p;
}

static void bench_output(void)
{
    static const char *const model[] = {"models/slider_crank.json",
                                        "models/andrews.json",
                                        "models/hmmwv.json",
                                        "tests/multibody/mechanisms/four_bar_window.json",
                                        "tests/multibody/mechanisms/stewart.json",
                                        "tests/multibody/mechanisms/quadruped.json"};
    printf("\n-- output: a table of all columns at four points of every step; wanted: below 2\n");
    for (size_t k = 0; k < sizeof model / sizeof *model; k++) {
        dae_problem *p = from(model[k]);
        int rows = 0;
        if (!p) continue;
        double alone = least(p, NULL, 0, NULL), with = least(p, NULL, 1, &rows);
        int columns = dae_system_size(&p->system) + p->derived.ncolumn;
        printf("%-50s %8.2f ms; %6d rows of %4d columns %8.2f ms more, %6.2f us per row; ratio %.2f\n",
               model[k], 1e3 * alone, rows, columns, 1e3 * (with - alone), 1e6 * (with - alone) / rows,
               (with - alone) / alone);
        dae_problem_destroy(p);
    }
}

static void bench_wishbone(void)
{
    dae_problem *p = from("bench/stiff_wishbone.json");
    double best = INFINITY;
    const char *name = "";
    if (!p) return;
    double chosen = least(p, "auto", 0, NULL);
    for (int i = 0; i < dae_method_count(); i++) {
        const char *method = dae_method_get(i)->name;
        double s = dae_formulation_choose(method) ? once(p, method, 0, NULL) : -1;
        if (s > 0 && s < 3 * best) s = least(p, method, 0, NULL);
        if (s > 0 && s < best) best = s, name = method;
    }
    printf(
        "\n-- wishbone with bushings: auto %.2f ms, best choice %s %.2f ms; ratio %.2f, wanted: below 1.5\n",
        1e3 * chosen, name, 1e3 * best, chosen / best);
    dae_problem_destroy(p);
}

/* Balls that do not meet, each at its own height above a floor. */
static char *balls(int n)
{
    size_t room = 400 + 500 * (size_t)n, used = 0;
    char *text = malloc(room);
    if (!text) return NULL;
    used +=
        (size_t)snprintf(text, room,
                         "{\"daedalus\":1,\"kind\":\"mechanism\",\"name\":\"balls\",\"dimension\":3,"
                         "\"gravity\":[0,0,-9.81],\"shapes\":[{\"kind\":\"plane\",\"size\":[1],\"r\":[0,0,"
                         "0]}],\"bodies\":[");
    for (int k = 0; k < n; k++)
        used += (size_t)snprintf(
            text + used, room - used,
            "%s{\"name\":\"b%d\",\"mass\":1,\"inertia\":[0.004,0.004,0.004],\"r\":[%d,0,0.0999],"
            "\"v\":[0,%g,0],\"shapes\":[{\"kind\":\"sphere\",\"size\":[0.1]}]}",
            k ? "," : "", k + 1, k, 0.5 + 0.01 * (k % 7));
    snprintf(text + used, room - used,
             "],\"forces\":[{\"name\":\"touch\",\"type\":\"collisions\",\"k\":1e4,\"mu\":0.3,\"v_s\":0.05}],"
             "\"simulation\":{\"t1\":0.2,\"rtol\":1e-6}}");
    return text;
}

static void bench_contacts(void)
{
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    int used = 0;
    printf("\n-- contacts: N balls on a floor, per step\n");
    for (int n = 8; n <= 128; n *= 2) {
        char *text = balls(n);
        dae_error err = {0};
        dae_problem *p = text ? dae_problem_open_text(text, strlen(text), "balls.json", NULL, 0, &err) : NULL;
        if (!p) fprintf(stderr, "%s\n", err.text);
        int steps = 0;
        double s = p ? least(p, NULL, 0, NULL) : -1;
        dae_run_options o = p ? dae_run_options_default(p) : (dae_run_options){0};
        dae_run_result *r = p ? dae_run(p, &o, &err) : NULL;
        if (r) steps = (int)r->stats.steps;
        if (s > 0 && steps) {
            double x = log(n), y = log(s / steps);
            printf("%4d %9.2f ms, %5d steps, %8.2f us per step\n", n, 1e3 * s, steps, 1e6 * s / steps);
            sx += x, sy += y, sxx += x * x, sxy += x * y, used++;
        }
        dae_run_destroy(r);
        dae_problem_destroy(p);
        free(text);
    }
    if (used > 1)
        printf("exponent %.2f, wanted: below 1.2\n", (used * sxy - sx * sy) / (used * sxx - sx * sx));
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } part[] = {{"output", bench_output}, {"wishbone", bench_wishbone}, {"contacts", bench_contacts}};
    for (size_t k = 0; k < sizeof part / sizeof *part; k++) {
        int wanted = argc < 2;
        for (int i = 1; i < argc; i++) wanted |= !strcmp(argv[i], part[k].name);
        if (wanted) part[k].run();
    }
    return 0;
}
