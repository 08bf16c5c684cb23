/* Pictures of a sweep from its table: scatter, percentile bands over time, heat map over a grid. */
#include "core/text.h"

#include <daedalus/study.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { max_shown = 4, panel = 350, most_points = 4000 };

typedef struct view {
    const dae_table *t;
    int parameter[max_shown], nparameter; /* columns that vary */
    int result[max_shown], nresult;       /* columns of components at the end that vary */
    int from, to;                         /* columns of components at the end */
} view;

static const double *column(const dae_table *t, int k)
{
    return t->value + (long)k * t->nrow;
}

/* More than one value. */
static int varies(const dae_table *t, int k)
{
    const double *x = column(t, k);
    double first = NAN;
    for (long i = 0; i < t->nrow; i++) {
        if (!isfinite(x[i])) continue;
        if (isnan(first)) first = x[i];
        if (x[i] != first) return 1;
    }
    return 0;
}

static int look(view *v, const dae_table *t, int width)
{
    *v = (view){.t = t, .from = dae_table_find(t, "t") + 1, .to = dae_table_find(t, "steps")};
    if (v->from < 1 || v->to < v->from || width >= t->ncol) return 0;
    for (int k = 1; k <= width && v->nparameter < max_shown; k++) {
        if (varies(t, k)) v->parameter[v->nparameter++] = k;
    }
    for (int k = v->from; k < v->to && v->nresult < max_shown; k++) {
        if (varies(t, k)) v->result[v->nresult++] = k;
    }
    return 1;
}

static void label(const dae_table *t, int k, char *out, size_t size)
{
    snprintf(out, size, t->unit[k][0] ? "%s [%s]" : "%s", t->name[k], t->unit[k]);
}

static void begin(dae_text *x, const dae_sweep_plot_options *opt, const char *what, int columns, int rows)
{
    char title[256];
    int width = 90 + columns * panel, height = 80 + rows * panel * 7 / 10;
    dae_text_terminal(x, opt->terminal, width, height);
    dae_text_put(x, "set datafile missing \"NaN\"\nset border 3 linecolor rgb \"#404040\"\nunset key\n"
                    "set tics nomirror out textcolor rgb \"#202020\"\n"
                    "set grid linetype 1 linecolor rgb \"#e4e4e4\" linewidth 1\n");
    snprintf(title, sizeof title, "%s: %s", opt->title ? opt->title : "sweep", what);
    dae_text_print(x, "set multiplot layout %d,%d title ", rows, columns);
    dae_text_quoted(x, title);
    dae_text_put(x, " noenhanced font \",15\"\n");
}

static void put_label(dae_text *x, const char *axis, const char *text)
{
    dae_text_print(x, "set %slabel ", axis);
    dae_text_quoted(x, text);
    dae_text_put(x, " noenhanced\n");
}

/* ---- Scatter --------------------------------------------------------------------------------------- */

/* Positive, and over more than a decade and a half: better seen on a logarithmic axis. */
static int wide_range(const dae_table *t, int k)
{
    const double *x = column(t, k);
    double low = INFINITY, high = 0;
    for (long i = 0; i < t->nrow; i++) {
        if (!isfinite(x[i])) continue;
        low = fmin(low, x[i]);
        high = fmax(high, x[i]);
    }
    return low > 0 && high > 30 * low;
}

static dae_status scatter(const view *v, const dae_sweep_plot_options *opt, dae_text *x)
{
    const dae_table *t = v->t;
    long stride = 1 + (t->nrow - 1) / most_points;
    begin(x, opt, "end of the runs", v->nparameter, v->nresult);
    dae_text_put(x, "$data << EOD\n");
    for (long i = 0; i < t->nrow; i += stride) {
        for (int k = 0; k < v->nparameter; k++) dae_text_print(x, "%.7g ", column(t, v->parameter[k])[i]);
        for (int k = 0; k < v->nresult; k++) dae_text_print(x, "%.7g ", column(t, v->result[k])[i]);
        dae_text_put(x, "\n");
    }
    dae_text_put(x, "EOD\nset offsets graph 0.03, graph 0.03, graph 0.05, graph 0.05\nset lmargin 11\n");
    for (int j = 0; j < v->nresult; j++) {
        for (int k = 0; k < v->nparameter; k++) {
            char text[160];
            dae_text_put(x, wide_range(t, v->parameter[k]) ? "set logscale x\n" : "unset logscale x\n");
            label(t, v->parameter[k], text, sizeof text);
            put_label(x, "x", text);
            label(t, v->result[j], text, sizeof text);
            put_label(x, "y", text);
            dae_text_print(
                x,
                "plot $data using %d:%d with points pointtype 7 pointsize %g linecolor rgb \"#%s0072B2\"\n",
                k + 1, v->nparameter + j + 1, t->nrow > 300 ? 0.25 : 0.55, t->nrow > 300 ? "80" : "30");
        }
    }
    dae_text_put(x, "unset multiplot\n");
    return dae_text_end(x);
}

/* ---- Bands ----------------------------------------------------------------------------------------- */

/* Columns "name@t" of a component; the first one, and how many. */
static int series(const dae_table *t, const char *name, int *column_of, int most)
{
    int count = 0;
    size_t n = strlen(name);
    for (int k = 0; k < t->ncol && count < most; k++) {
        if (!strncmp(t->name[k], name, n) && t->name[k][n] == '@') column_of[count++] = k;
    }
    return count;
}

static dae_status bands(const view *v, const dae_sweep_plot_options *opt, dae_text *x)
{
    const dae_table *t = v->t;
    int *at = calloc((size_t)t->ncol, sizeof *at), shown = 0;
    if (!at) return DAE_ERR_MEMORY;
    for (int j = v->from; j < v->to && shown < max_shown; j++)
        shown += series(t, t->name[j], at, t->ncol) > 1;
    if (!shown) {
        free(at);
        return DAE_ERR_INPUT;
    }
    begin(x, opt, "5, 25, 50, 75, 95 percent of the runs", shown > 1 ? 2 : 1, (shown + 1) / 2);
    char unit[80];
    int time = v->from - 1;
    snprintf(unit, sizeof unit, t->unit[time][0] ? "t [%s]" : "t", t->unit[time]);
    put_label(x, "x", unit);
    for (int j = v->from, done = 0; j < v->to && done < shown; j++) {
        int n = series(t, t->name[j], at, t->ncol);
        if (n < 2) continue;
        dae_text_print(x, "$band%d << EOD\n", done);
        for (int i = 0; i < n; i++) {
            dae_statistics s;
            if (dae_statistics_of(column(t, at[i]), t->nrow, &s) < 0) break;
            dae_text_print(x, "%s", strrchr(t->name[at[i]], '@') + 1);
            for (int k = 0; k < 5; k++) dae_text_print(x, " %.7g", s.percentile[k]);
            dae_text_put(x, "\n");
        }
        dae_text_put(x, "EOD\n");
        char text[160];
        label(t, j, text, sizeof text);
        put_label(x, "y", text);
        dae_text_print(
            x,
            "plot $band%d using 1:2:6 with filledcurves linecolor rgb \"#cfe3f1\", '' using 1:3:5 with "
            "filledcurves linecolor rgb \"#8fbfe0\", '' using 1:4 with lines linewidth 2 linecolor rgb "
            "\"#0072B2\"\n",
            done);
        done++;
    }
    dae_text_put(x, "unset multiplot\n");
    free(at);
    return dae_text_end(x);
}

/* ---- Heat map -------------------------------------------------------------------------------------- */

static int compare_up(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorted different values of a column; free it. */
static double *levels(const dae_table *t, int k, int *count)
{
    double *x = malloc((size_t)t->nrow * sizeof *x);
    long n = 0;
    *count = 0;
    for (long i = 0; x && i < t->nrow; i++) {
        if (isfinite(column(t, k)[i])) x[n++] = column(t, k)[i];
    }
    if (x) qsort(x, (size_t)n, sizeof *x, compare_up);
    for (long i = 0; x && i < n; i++) {
        if (*count == 0 || x[i] != x[*count - 1]) x[(*count)++] = x[i];
    }
    return x;
}

/* 1: few levels of both, and nearly every pair of them occurs. */
static int is_grid(const dae_table *t, int a, int b)
{
    int na, nb;
    free(levels(t, a, &na));
    free(levels(t, b, &nb));
    return na > 1 && nb > 1 && (double)na * nb <= 1.05 * (double)t->nrow + 2;
}

/* Borders of cell i: the middle between levels, in the logarithm where they grow by ratios. */
static double border(const double *x, int n, int i, int log_axis)
{
    if (log_axis) {
        double r = sqrt(x[1] / x[0]);
        return i == 0 ? x[0] / r : i == n ? x[n - 1] * sqrt(x[n - 1] / x[n - 2]) : sqrt(x[i - 1] * x[i]);
    }
    return i == 0   ? x[0] - (x[1] - x[0]) / 2
           : i == n ? x[n - 1] + (x[n - 1] - x[n - 2]) / 2
                    : (x[i - 1] + x[i]) / 2;
}

static int by_ratios(const double *x, int n)
{
    return n > 2 && x[0] > 0 && (x[n - 1] - x[n - 2]) > 1.5 * (x[1] - x[0]);
}

static dae_status heat(const view *v, const dae_sweep_plot_options *opt, dae_text *x)
{
    const dae_table *t = v->t;
    int a = v->parameter[0], b = v->parameter[1], na, nb;
    double *xa = levels(t, a, &na), *xb = levels(t, b, &nb);
    double *sum = calloc((size_t)na * (size_t)nb * max_shown, sizeof *sum);
    long *count = calloc((size_t)na * (size_t)nb * max_shown, sizeof *count);
    if (!xa || !xb || !sum || !count) goto end;
    for (long i = 0; i < t->nrow; i++) {
        double *at_a = bsearch(&column(t, a)[i], xa, (size_t)na, sizeof *xa, compare_up);
        double *at_b = bsearch(&column(t, b)[i], xb, (size_t)nb, sizeof *xb, compare_up);
        if (!at_a || !at_b) continue;
        size_t cell = ((size_t)(at_a - xa) * (size_t)nb + (size_t)(at_b - xb)) * max_shown;
        for (int j = 0; j < v->nresult; j++) {
            double y = column(t, v->result[j])[i];
            if (!isfinite(y)) continue;
            sum[cell + (size_t)j] += y;
            count[cell + (size_t)j]++;
        }
    }
    int la = by_ratios(xa, na), lb = by_ratios(xb, nb);
    begin(x, opt, "means at the end of the runs", v->nresult > 1 ? 2 : 1, (v->nresult + 1) / 2);
    dae_text_put(x, "$cells << EOD\n");
    for (int i = 0; i < na; i++) {
        for (int k = 0; k < nb; k++) {
            size_t cell = ((size_t)i * (size_t)nb + (size_t)k) * max_shown;
            dae_text_print(x, "%.7g %.7g %.7g %.7g %.7g %.7g", xa[i], xb[k], border(xa, na, i, la),
                           border(xa, na, i + 1, la), border(xb, nb, k, lb), border(xb, nb, k + 1, lb));
            for (int j = 0; j < v->nresult; j++) {
                if (count[cell + (size_t)j])
                    dae_text_print(x, " %.7g", sum[cell + (size_t)j] / (double)count[cell + (size_t)j]);
                else dae_text_put(x, " NaN");
            }
            dae_text_put(x, "\n");
        }
    }
    dae_text_print(x,
                   "EOD\nunset grid\n%s%sset xrange [%.7g:%.7g]\nset yrange [%.7g:%.7g]\n"
                   "set palette defined (0 \"#440154\", 0.25 \"#3b528b\", 0.5 \"#21918c\", 0.75 \"#5ec962\", "
                   "1 \"#fde725\")\n",
                   la ? "set logscale x\n" : "", lb ? "set logscale y\n" : "", border(xa, na, 0, la),
                   border(xa, na, na, la), border(xb, nb, 0, lb), border(xb, nb, nb, lb));
    char text[160];
    label(t, a, text, sizeof text);
    put_label(x, "x", text);
    label(t, b, text, sizeof text);
    put_label(x, "y", text);
    for (int j = 0; j < v->nresult; j++) {
        label(t, v->result[j], text, sizeof text);
        dae_text_put(x, "set title ");
        dae_text_quoted(x, text);
        dae_text_print(x,
                       " noenhanced\nplot $cells using 1:2:3:4:5:6:%d with boxxyerror fillcolor palette "
                       "fillstyle solid noborder\n",
                       7 + j);
    }
    dae_text_put(x, "unset multiplot\n");
end:
    free(xa);
    free(xb);
    int memory = !sum || !count;
    free(sum);
    free(count);
    return memory ? DAE_ERR_MEMORY : dae_text_end(x);
}

int dae_sweep_can_plot(const dae_table *t, const dae_sweep_plot_options *opt)
{
    view v;
    if (t->nrow < 2 || !look(&v, t, opt->width)) return 0;
    switch (opt->picture) {
    case DAE_SWEEP_SCATTER: return v.nparameter > 0 && v.nresult > 0;
    case DAE_SWEEP_BANDS:
        for (int k = 0; k < t->ncol; k++) {
            if (strchr(t->name[k], '@')) return 1;
        }
        return 0;
    case DAE_SWEEP_HEAT:
        return v.nparameter > 1 && v.nresult > 0 && is_grid(t, v.parameter[0], v.parameter[1]);
    }
    return 0;
}

dae_status dae_sweep_plot(const dae_table *t, const dae_sweep_plot_options *opt, dae_write_fn *write,
                          void *user)
{
    dae_text x = {.write = write, .user = user};
    view v;
    if (!dae_sweep_can_plot(t, opt) || !look(&v, t, opt->width)) return DAE_ERR_INPUT;
    return opt->picture == DAE_SWEEP_SCATTER ? scatter(&v, opt, &x)
           : opt->picture == DAE_SWEEP_BANDS ? bands(&v, opt, &x)
                                             : heat(&v, opt, &x);
}
