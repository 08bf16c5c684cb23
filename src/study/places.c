/* Where each solver stands over many problems: who is fastest on each, and by how much the others are slower.
 *
 * The measure is the CPU time for a number of correct digits, relative to the fastest solver of the problem. */
#include "core/text.h"
#include "study/measurement.h"

#include <daedalus/study.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { most_solvers = 48, most_problems = 128, levels = 2, shown = 3 };

typedef struct group {
    const dae_measurement *m; /* the runs of one problem */
    int count, mescd;
} group;

typedef struct places {
    group problem[most_problems];
    int nproblem;
    const char *solver[most_solvers];
    int nsolver;
    double cost[most_problems][most_solvers][levels]; /* NAN: not reached */
    double best[most_problems][levels];
} places;

static int find_solver(places *x, const char *name)
{
    for (int s = 0; s < x->nsolver; s++) {
        if (!strcmp(x->solver[s], name)) return s;
    }
    if (x->nsolver == most_solvers) return -1;
    x->solver[x->nsolver] = name;
    return x->nsolver++;
}

/* Runs of one problem stand together. */
static void collect(places *x, const dae_measurement *m, int count)
{
    for (int i = 0; i < count; i++) {
        group *g = x->nproblem ? &x->problem[x->nproblem - 1] : NULL;
        if (!g || strcmp(g->m->problem, m[i].problem) != 0) {
            if (x->nproblem == most_problems) break;
            g = &x->problem[x->nproblem++];
            *g = (group){.m = &m[i], .mescd = 1};
        }
        g->count++;
        if (isfinite(m[i].scd)) g->mescd = 0;
        find_solver(x, m[i].solver);
    }
}

static void measure(places *x, const double digits[2])
{
    for (int p = 0; p < x->nproblem; p++) {
        const group *g = &x->problem[p];
        for (int d = 0; d < levels; d++) {
            x->best[p][d] = INFINITY;
            for (int s = 0; s < x->nsolver; s++) {
                double c =
                    dae_workprec_cost(g->m, g->count, x->solver[s], digits[d], g->mescd, DAE_WORK_SECONDS);
                x->cost[p][s][d] = c;
                if (c < x->best[p][d]) x->best[p][d] = c;
            }
        }
    }
}

static void put_time(dae_text *x, double seconds)
{
    char text[24];
    dae_seconds_text(seconds, "µs", text, sizeof text);
    dae_text_put(x, text);
}

/* The fastest on each problem. */
static void put_problems(dae_text *out, const places *x, const double digits[2])
{
    dae_text_print(out, "| problem | %g digits | %g digits |\n| --- | --- | --- |\n", digits[0], digits[1]);
    for (int p = 0; p < x->nproblem; p++) {
        dae_text_print(out, "| %s |", x->problem[p].m->problem);
        for (int d = 0; d < levels; d++) {
            double last = 0;
            for (int k = 0; k < shown; k++) {
                int next = -1;
                for (int s = 0; s < x->nsolver; s++) {
                    double c = x->cost[p][s][d];
                    if (c > last && (next < 0 || c < x->cost[p][next][d])) next = s;
                }
                if (next < 0) break;
                last = x->cost[p][next][d];
                dae_text_print(out, "%s %s ", k ? "," : "", x->solver[next]);
                put_time(out, last);
            }
            dae_text_put(out, " |");
        }
        dae_text_put(out, "\n");
    }
}

static int up(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Over the problems that a solver takes: how many it solves to so many digits, how often it is the fastest or within a
 * factor two of it, and its median time relative to the fastest. */
static void put_solvers(dae_text *out, const places *x, const double digits[2])
{
    dae_text_put(out, "| solver |");
    for (int d = 0; d < levels; d++)
        dae_text_print(out, " %g digits: problems | fastest | within 2 | median |", digits[d]);
    dae_text_put(out, "\n| --- |");
    for (int d = 0; d < levels; d++) dae_text_put(out, " ---: | ---: | ---: | ---: |");
    dae_text_put(out, "\n");
    for (int s = 0; s < x->nsolver; s++) {
        dae_text_print(out, "| %s |", x->solver[s]);
        for (int d = 0; d < levels; d++) {
            double ratio[most_problems];
            int n = 0, first = 0, near = 0;
            for (int p = 0; p < x->nproblem; p++) {
                if (!isfinite(x->cost[p][s][d])) continue;
                ratio[n] = x->cost[p][s][d] / x->best[p][d];
                first += ratio[n] == 1;
                near += ratio[n] <= 2;
                n++;
            }
            qsort(ratio, (size_t)n, sizeof *ratio, up);
            dae_text_print(out, " %d | %d | %d |", n, first, near);
            if (n) dae_text_print(out, " %.2g |", (ratio[(n - 1) / 2] + ratio[n / 2]) / 2);
            else dae_text_put(out, " – |");
        }
        dae_text_put(out, "\n");
    }
}

dae_status dae_workprec_places(const dae_measurement *m, int count, const double digits[2],
                               dae_write_fn *write, void *user)
{
    dae_text out = {.write = write, .user = user};
    places *x = calloc(1, sizeof *x);
    if (!x) return DAE_ERR_MEMORY;
    collect(x, m, count);
    measure(x, digits);
    put_solvers(&out, x, digits);
    dae_text_put(&out, "\n");
    put_problems(&out, x, digits);
    free(x);
    return dae_text_end(&out);
}
