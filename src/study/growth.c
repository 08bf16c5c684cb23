/* How cost grows with size: the exponent by least squares in the logarithms, and the picture. */
#include "core/error.h"
#include "core/number.h"
#include "core/text.h"

#include <daedalus/study.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { width = 860, height = 520, max_lines = 24 };

/* Colors of Okabe and Ito, and of Tol, which keep apart for color-blind readers; with the symbols they make 24. */
static const char *const color[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                    "#E69F00", "#56B4E9", "#882255", "#000000"};
static const int symbol[] = {7, 5, 9, 11, 13, 15, 6, 4, 8, 10, 12, 14};

static int counts(double size, double cost)
{
    return isfinite(size) && isfinite(cost) && size > 0 && cost > 0;
}

/* Slope between the largest size and the next one (means where a size comes more than once). */
static double last_slope(const double *size, const double *cost, int n)
{
    double top[2] = {0, 0}, sum[2] = {0, 0};
    int many[2] = {0, 0};
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < n; i++) {
            if (counts(size[i], cost[i]) && size[i] > top[k] && (k == 0 || size[i] < top[0]))
                top[k] = size[i];
        }
        for (int i = 0; i < n; i++) {
            if (!counts(size[i], cost[i]) || size[i] != top[k]) continue;
            sum[k] += log(cost[i]);
            many[k]++;
        }
    }
    return (sum[0] / many[0] - sum[1] / many[1]) / log(top[0] / top[1]);
}

dae_status dae_growth_fit(const double *size, const double *cost, int n, dae_growth *out)
{
    double mx = 0, my = 0, sxx = 0, sxy = 0, rest = 0;
    int count = 0;
    *out = (dae_growth){0, NAN, NAN, NAN, NAN};
    for (int i = 0; i < n; i++) {
        if (!counts(size[i], cost[i])) continue;
        mx += log(size[i]);
        my += log(cost[i]);
        count++;
    }
    out->count = count;
    if (count < 2) return DAE_ERR_INPUT;
    mx /= count;
    my /= count;
    for (int i = 0; i < n; i++) {
        if (!counts(size[i], cost[i])) continue;
        double dx = log(size[i]) - mx;
        sxx += dx * dx;
        sxy += dx * (log(cost[i]) - my);
    }
    if (!(sxx > 1e-20)) return DAE_ERR_INPUT;
    out->exponent = sxy / sxx;
    out->factor = exp(my - out->exponent * mx);
    for (int i = 0; i < n; i++) {
        if (!counts(size[i], cost[i])) continue;
        double r = log(cost[i]) - log(out->factor) - out->exponent * log(size[i]);
        rest += r * r;
    }
    if (count > 2) out->error = sqrt(rest / (count - 2) / sxx);
    out->last = last_slope(size, cost, n);
    return DAE_OK;
}

/* ---- Picture --------------------------------------------------------------------------------------- */

/* Borders of a logarithmic axis, a bit beyond the values; 0: there are none. */
static int range(const dae_growth_line *line, int count, int of_cost, double *lo, double *hi)
{
    *lo = INFINITY;
    *hi = 0;
    for (int j = 0; j < count; j++) {
        for (int i = 0; i < line[j].n; i++) {
            if (!counts(line[j].size[i], line[j].cost[i])) continue;
            double v = of_cost ? line[j].cost[i] : line[j].size[i];
            *lo = fmin(*lo, v);
            *hi = fmax(*hi, v);
        }
    }
    if (!(*hi > 0)) return 0;
    double room = of_cost ? 1.6 : 1.15;
    *lo /= room;
    *hi *= room;
    return 1;
}

/* The sizes that were run, as labels, where they are few. */
static void put_sizes(dae_text *x, const dae_growth_line *line, int count)
{
    double seen[12];
    int n = 0;
    for (int j = 0; j < count; j++) {
        for (int i = 0; i < line[j].n; i++) {
            int k = 0;
            while (k < n && seen[k] != line[j].size[i]) k++;
            if (k < n || !counts(line[j].size[i], line[j].cost[i])) continue;
            if (n == 12) return;
            seen[n++] = line[j].size[i];
        }
    }
    dae_text_put(x, "set xtics (");
    for (int k = 0; k < n; k++) dae_text_print(x, "%s\"%g\" %g", k ? ", " : "", seen[k], seen[k]);
    dae_text_put(x, ")\n");
}

dae_status dae_growth_plot(const dae_growth_line *line, int count, const char *title, const char *size_label,
                           const char *terminal, dae_write_fn *write, void *user)
{
    dae_text x = {.write = write, .user = user};
    double lo[2], hi[2];
    int longest = 8, drawn = 0;
    if (count > max_lines) count = max_lines;
    if (!range(line, count, 0, &lo[0], &hi[0]) || !range(line, count, 1, &lo[1], &hi[1]))
        return DAE_ERR_INPUT;
    for (int j = 0; j < count; j++) {
        if ((int)strlen(line[j].label) > longest) longest = (int)strlen(line[j].label);
    }
    int key = 110 + 8 * (longest + 7 + (int)strlen(size_label)), total = width + key - 200,
        tall = 140 + 25 * count > height ? 140 + 25 * count : height;
    dae_text_terminal(&x, terminal, total, tall);
    dae_text_put(&x, "set border 3 linecolor rgb \"#404040\"\nset logscale xy\nset format y \"10^{%T}\"\n"
                     "set tics nomirror out textcolor rgb \"#202020\"\n"
                     "set grid xtics ytics linetype 1 linecolor rgb \"#e4e4e4\" linewidth 1\nset title ");
    dae_text_quoted(&x, title);
    dae_text_put(&x, " noenhanced font \",16\"\nset xlabel ");
    dae_text_quoted(&x, size_label);
    dae_text_print(
        &x,
        " noenhanced\nset ylabel \"CPU time [s]\"\nset xrange [%.6g:%.6g]\nset yrange [%.6g:%.6g]\n"
        "set rmargin at screen %.4f\n"
        "set key at screen %.4f, graph 1 left top Left reverse samplen 2 spacing 1.25 maxcols 1 font "
        "\",12\"\n",
        lo[0], hi[0], lo[1], hi[1], 1 - (double)key / total, 1 - (key - 10.0) / total);
    put_sizes(&x, line, count);
    for (int j = 0; j < count; j++) {
        dae_text_print(&x, "$l%d << EOD\n", j);
        for (int i = 0; i < line[j].n; i++) {
            if (counts(line[j].size[i], line[j].cost[i]))
                dae_text_print(&x, "%.9g %.6g\n", line[j].size[i], line[j].cost[i]);
        }
        dae_text_put(&x, "EOD\n");
    }
    for (int j = 0; j < count; j++) {
        dae_growth fit;
        char text[160];
        const char *c = color[j % 8];
        dae_status s = dae_growth_fit(line[j].size, line[j].cost, line[j].n, &fit);
        if (fit.count == 0) continue;
        dae_text_print(
            &x, "%s$l%d using 1:2 with points linecolor rgb \"%s\" pointtype %d pointsize %g title ",
            drawn++ ? ", \\\n     " : "plot ", j, c, symbol[j % 12], !strcmp(terminal, "svg") ? 0.8 : 1.1);
        if (s < 0) snprintf(text, sizeof text, "%s", line[j].label);
        else dae_snprintf(text, sizeof text, "%s: %.20s^%.2f", line[j].label, size_label, fit.exponent);
        dae_text_quoted(&x, text);
        dae_text_put(&x, " noenhanced");
        if (s < 0) continue;
        double a = INFINITY, b = 0;
        for (int i = 0; i < line[j].n; i++) {
            if (!counts(line[j].size[i], line[j].cost[i])) continue;
            a = fmin(a, line[j].size[i]);
            b = fmax(b, line[j].size[i]);
        }
        dae_text_print(
            &x,
            ", [%.9g:%.9g] %.9g*x**%.9g with lines linewidth 1.4 dashtype %d linecolor rgb \"%s\" notitle", a,
            b, fit.factor, fit.exponent, 1 + (j / 8) % 3, c);
    }
    dae_text_put(&x, "\n");
    return dae_text_end(&x);
}
