/* Pictures of many columns at once, as gnuplot scripts with their data. */
#include <daedalus/field.h>

#include "core/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { most_rows = 240, most_shapes = 36, side = 620, wide = 900, high = 560 };
#define PI 3.14159265358979323846

static double cell(const dae_table *t, int column, long row)
{
    return t->value[(long)column * t->nrow + row];
}

/* ---- Parts of tables ---------------------------------------------------------------------------------- */

static int is_one_of(int k, const int *list, int n)
{
    for (int i = 0; i < n; i++) {
        if (list[i] == k) return 1;
    }
    return 0;
}

dae_table *dae_table_part(const dae_table *t, int x, double from, double to, const int *angle, int nangle)
{
    long nrow = 0, row = 0;
    for (long i = 0; i < t->nrow; i++) nrow += cell(t, x, i) >= from && cell(t, x, i) <= to;
    dae_table *part = dae_table_create(t->ncol, nrow);
    if (!part) return NULL;
    for (int k = 0; k < t->ncol; k++) dae_table_column(part, k, t->name[k], t->unit[k]);
    double *last = calloc((size_t)t->ncol + 1, sizeof *last);
    if (!last) {
        dae_table_destroy(part);
        return NULL;
    }
    for (long i = 0; i < t->nrow; i++) {
        if (!(cell(t, x, i) >= from && cell(t, x, i) <= to)) continue;
        for (int k = 0; k < t->ncol; k++) {
            double v = cell(t, k, i);
            if (is_one_of(k, angle, nangle)) {
                v = remainder(v, 2 * PI);
                int jumps = row > 0 && fabs(v - last[k]) > PI; /* the line is interrupted */
                last[k] = v;
                if (jumps) v = INFINITY;
            }
            dae_table_set(part, row, k, v);
        }
        row++;
    }
    free(last);
    return part;
}

/* ---- Scripts ------------------------------------------------------------------------------------------- */

static void number(dae_text *x, double v)
{
    if (isfinite(v)) dae_text_print(x, " %.7g", v);
    else dae_text_put(x, " NaN");
}

static void label(dae_text *x, const char *axis, const dae_table *t, int column)
{
    char text[160];
    snprintf(text, sizeof text, t->unit[column][0] ? "%.80s [%.60s]" : "%.80s", t->name[column],
             t->unit[column]);
    dae_text_print(x, "set %slabel ", axis);
    dae_text_quoted(x, text);
    dae_text_put(x, " noenhanced\n");
}

static void begin(dae_text *x, const dae_field_options *o, int width, int height)
{
    dae_text_terminal(x, o->terminal, width, height);
    dae_text_put(x, "set datafile missing \"NaN\"\nset title ");
    dae_text_quoted(x, o->title ? o->title : "");
    dae_text_put(x, " noenhanced\nset border 3 linecolor rgb \"#404040\"\nset tics nomirror out\n"
                    "set grid linetype 1 linecolor rgb \"#e4e4e4\" linewidth 1\n");
}

/* Every so many-th row of very many. */
static long stride(const dae_table *t)
{
    return t->nrow > most_rows ? (t->nrow + most_rows - 1) / most_rows : 1;
}

static void map(dae_text *x, const dae_table *t, const dae_field_options *o)
{
    int surface = o->picture == DAE_FIELD_SURFACE;
    begin(x, o, wide, high);
    dae_text_put(x, "$data << EOD\n");
    for (long i = 0; i < t->nrow; i += stride(t)) {
        for (int k = 0; k < o->n; k++) {
            double at = o->width > 0 ? o->width * k / (o->n - 1) : k + 1;
            dae_text_print(x, "%.9g %.9g", cell(t, o->t, i), at);
            number(x, cell(t, o->y[k], i));
            dae_text_put(x, "\n");
        }
        dae_text_put(x, "\n");
    }
    dae_text_put(x, "EOD\n");
    label(x, "x", t, o->t);
    dae_text_put(x, o->width > 0 ? "set ylabel \"x\"\n" : "set ylabel \"number\"\n");
    /* dark to bright, equal steps of lightness: readable without colors */
    dae_text_put(x, "set palette defined (0 '#00204c', 1 '#31446b', 2 '#666970', 3 '#958f78', 4 '#cbba69', 5 "
                    "'#ffe945')\nunset key\n");
    if (surface)
        dae_text_put(x, "set border 31\nset view 55,40\nset hidden3d front\nset ticslevel 0\nset xyplane 0\n"
                        "splot $data using 1:2:3 with pm3d\n");
    else
        dae_text_put(x, "unset grid\nset autoscale fix\nset view map\nset pm3d map corners2color mean\n"
                        "splot $data using 1:2:3 with pm3d\n");
}

static void paths(dae_text *x, const dae_table *t, const dae_field_options *o)
{
    begin(x, o, side + 140, side);
    dae_text_put(x, "$data << EOD\n");
    for (long i = 0; i < t->nrow; i++) {
        for (int k = 0; k < o->n; k++) {
            number(x, cell(t, o->x[k], i));
            number(x, cell(t, o->y[k], i));
        }
        dae_text_put(x, "\n");
    }
    dae_text_put(x, "EOD\n");
    label(x, "x", t, o->x[0]);
    label(x, "y", t, o->y[0]);
    dae_text_put(x, o->n > 1 ? "set key outside right center noenhanced\nplot " : "unset key\nplot ");
    for (int k = 0; k < o->n; k++) {
        dae_text_print(x, "%s$data using %d:%d with lines linewidth 2 title ", k ? ", " : "", 2 * k + 1,
                       2 * k + 2);
        dae_text_quoted(x, t->name[o->y[k]]);
    }
    dae_text_put(x, "\n");
}

/* Values at a time, between rows linearly. */
static double at_time(const dae_table *t, int column, int time, double when)
{
    long i = 1;
    while (i < t->nrow - 1 && cell(t, time, i) < when) i++;
    double a = cell(t, time, i - 1), b = cell(t, time, i), s = b > a ? (when - a) / (b - a) : 0;
    s = fmin(1, fmax(0, s));
    return (1 - s) * cell(t, column, i - 1) + s * cell(t, column, i);
}

/* Whether equal units on both axes leave something to see. */
static int like_sized(const dae_table *t, const dae_field_options *o)
{
    double lo[2] = {INFINITY, INFINITY}, hi[2] = {-INFINITY, -INFINITY};
    for (int k = 0; k < o->n; k++) {
        for (long i = 0; i < t->nrow; i++) {
            double v[2] = {cell(t, o->x[k], i), cell(t, o->y[k], i)};
            for (int c = 0; c < 2; c++) {
                lo[c] = fmin(lo[c], v[c]);
                hi[c] = fmax(hi[c], v[c]);
            }
        }
    }
    double w = hi[0] - lo[0], h = hi[1] - lo[1];
    return w < 4 * h && h < 4 * w; /* ours */
}

static void shapes(dae_text *x, const dae_table *t, const dae_field_options *o)
{
    int count = o->nat > 0 ? o->nat < most_shapes ? o->nat : most_shapes : 6;
    double first = cell(t, o->t, 0), last = cell(t, o->t, t->nrow - 1);
    begin(x, o, wide, high + 60);
    dae_text_put(x, "$data << EOD\n");
    for (int j = 0; j < count; j++) {
        double when = o->nat > 0 ? o->at[j] : first + (last - first) * j / (count - 1);
        for (int k = 0; k < o->n; k++) {
            if (o->x) number(x, at_time(t, o->x[k], o->t, when));
            else dae_text_print(x, " %d", k + 1);
            number(x, at_time(t, o->y[k], o->t, when));
            dae_text_print(x, " %.6g\n", when);
        }
        dae_text_put(x, "\n\n");
    }
    dae_text_put(x, "EOD\nset key outside right center noenhanced\n");
    if (o->x) {
        label(x, "x", t, o->x[0]);
        if (like_sized(t, o)) dae_text_put(x, "set size ratio -1\n");
    } else {
        dae_text_put(x, "set xlabel \"number\"\n");
    }
    label(x, "y", t, o->y[0]);
    dae_text_put(x, "set palette defined (0 '#0072B2', 1 '#E69F00', 2 '#D55E00')\nset cblabel ");
    dae_text_quoted(x, t->name[o->t]);
    dae_text_print(x,
                   "\nunset key\nplot for [k=0:%d] $data index k using 1:2:3 with linespoints pointtype 7 "
                   "pointsize 0.4 linewidth 1.5 palette\n",
                   count - 1);
}

/* The unit sphere as a net, points behind it paler. */
static void sphere(dae_text *x, const dae_table *t, const dae_field_options *o)
{
    long row = t->nrow - 1;
    begin(x, o, side, side);
    dae_text_put(x, "$data << EOD\n");
    for (int k = 0; k < o->n; k++) {
        number(x, cell(t, o->x[k], row));
        number(x, cell(t, o->y[k], row));
        number(x, cell(t, o->z[k], row));
        dae_text_put(x, "\n");
    }
    dae_text_put(
        x, "EOD\nunset key\nunset border\nunset tics\nunset grid\nset view equal xyz\nset view 65,30,1.4\n"
           "set parametric\nset urange [0:2*pi]\nset vrange [-pi/2:pi/2]\nset isosamples 25,13\nset "
           "hidden3d front\nset samples 25\nsplot cos(u)*cos(v), sin(u)*cos(v), sin(v) with lines linecolor "
           "rgb \"#b8c8d8\" linewidth 0.5, $data using (1.02*$1):(1.02*$2):(1.02*$3) with points pointtype "
           "7 pointsize 1.6 linecolor rgb \"#D55E00\"\n");
}

dae_status dae_field_plot(const dae_table *t, const dae_field_options *opt, dae_write_fn *write, void *user)
{
    dae_text x = {.write = write, .user = user};
    if (t->nrow < 2 || opt->n < 1 || !opt->y) return DAE_ERR_INPUT;
    switch (opt->picture) {
    case DAE_FIELD_MAP:
    case DAE_FIELD_SURFACE:
        if (opt->n < 2) return DAE_ERR_INPUT;
        map(&x, t, opt);
        break;
    case DAE_FIELD_PATHS:
        if (!opt->x) return DAE_ERR_INPUT;
        paths(&x, t, opt);
        break;
    case DAE_FIELD_SHAPES: shapes(&x, t, opt); break;
    case DAE_FIELD_SPHERE:
        if (!opt->x || !opt->z) return DAE_ERR_INPUT;
        sphere(&x, t, opt);
        break;
    }
    return dae_text_end(&x);
}
