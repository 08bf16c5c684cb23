/* Curves, or columns of a table, as a gnuplot script with its data. Curves of one unit and of like size share a panel;
 * panels are stacked over one axis. Colors are those of Okabe and Ito (distinct for color-blind
 * readers). */
#include "table/plot.h"

#include "core/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { max_panels = 8, max_curves = 6, max_components = 36, buckets = 600, width = 900, longest_title = 100 };

static const double same_scale = 12; /* curves whose largest values differ by less share a panel; ours */
static const double log_span = 1e3;  /* positive values over more than this get a logarithmic axis; ours */
static const double resolution =
    1e-3; /* of the ranges: points of curves that turn back lie so far apart; ours */
static const double log_floor = 1e-12; /* of the largest value: what lies below is cut off; ours */

static const char *const color[max_curves] = {"#0072B2", "#D55E00", "#009E73",
                                              "#CC79A7", "#E69F00", "#56B4E9"};

typedef struct curve {
    int component;
    double lo, hi;   /* range of the values drawn */
    double positive; /* smallest that is > 0 */
} curve;

typedef struct panel {
    curve curve[max_curves];
    int count;
    const char *unit;
    int log_y;
    double lowest; /* log_y: where the axis begins */
} panel;

typedef struct plot {
    const dae_curves *c;
    curve all[max_components];
    int nall;
    panel panel[max_panels];
    int npanel;
    int height; /* of the picture */
} plot;

static double value(const plot *g, int k, int component)
{
    return g->c->y[(size_t)k * (size_t)g->c->n + (size_t)component];
}

static void choose_curves(plot *g)
{
    const dae_curves *q = g->c;
    int hinted = q->chosen && q->nchosen > 0, count = q->n < max_curves ? q->n : max_curves;
    if (hinted) count = q->nchosen;
    if (count > max_components) count = max_components;
    for (int i = 0; i < count; i++) {
        curve c = {hinted ? q->chosen[i] : i, INFINITY, -INFINITY, INFINITY};
        for (int k = q->first; k < q->npoint; k++) {
            double v = value(g, k, c.component);
            if (isinf(v)) continue;
            c.lo = fmin(c.lo, v);
            c.hi = fmax(c.hi, v);
            if (v > 0) c.positive = fmin(c.positive, v);
        }
        if (isfinite(c.lo) && isfinite(c.hi)) g->all[g->nall++] = c;
    }
}

static double size_of(const curve *c)
{
    return fmax(fabs(c->lo), fabs(c->hi));
}

static int fits(const panel *q, const curve *c, const char *unit)
{
    if (q->count >= max_curves || strcmp(q->unit, unit) != 0) return 0;
    double a = size_of(&q->curve[0]), b = size_of(c);
    for (int i = 1; i < q->count; i++) a = fmax(a, size_of(&q->curve[i]));
    return a == 0 || b == 0 || (a < same_scale * b && b < same_scale * a);
}

static void arrange(plot *g)
{
    for (int i = 0; i < g->nall; i++) {
        const char *unit = g->c->unit[g->all[i].component];
        int j = 0;
        while (j < g->npanel && (g->c->apart || !fits(&g->panel[j], &g->all[i], unit))) j++;
        if (j == g->npanel) {
            if (j == max_panels) continue;
            g->panel[g->npanel++] = (panel){.unit = unit};
        }
        g->panel[j].curve[g->panel[j].count++] = g->all[i];
    }
    for (int j = 0; j < g->npanel; j++) {
        double lo = INFINITY, hi = 0, positive = INFINITY;
        for (int i = 0; i < g->panel[j].count; i++) {
            positive = fmin(positive, g->panel[j].curve[i].positive);
            lo = fmin(lo, g->panel[j].curve[i].lo);
            hi = fmax(hi, g->panel[j].curve[i].hi);
        }
        g->panel[j].log_y = (g->c->log_y && hi > 0) || (g->c->log_x && lo > 0 && hi > log_span * lo);
        g->panel[j].lowest = fmax(fmin(positive, hi), log_floor * hi);
    }
}

static void put_point(dae_text *x, const plot *g, int k)
{
    dae_text_print(x, "%.9g", g->c->x[k]);
    for (int j = 0; j < g->npanel; j++) {
        for (int i = 0; i < g->panel[j].count; i++) {
            double v = value(g, k, g->panel[j].curve[i].component);
            if (isfinite(v)) dae_text_print(x, " %.7g", v);
            else dae_text_put(x, isnan(v) ? " ?" : " NaN"); /* no value there; the line ends there */
            if (!g->c->band) continue;
            double half = g->c->band[(size_t)k * (size_t)g->c->n + (size_t)g->panel[j].curve[i].component],
                   low = g->panel[j].log_y ? fmax(v - half, g->panel[j].lowest) : v - half;
            if (isfinite(v) && isfinite(half)) dae_text_print(x, " %.7g %.7g", low, v + half);
            else dae_text_put(x, " ? ?");
        }
    }
    dae_text_put(x, "\n");
}

/* Of very many points over an axis those that show: first, and smallest and largest of every curve in each bucket. */
static void keep_extremes(const plot *g, unsigned char *keep)
{
    int n = g->c->npoint, first = g->c->first;
    for (int b = 0; b < buckets; b++) {
        int from = first + (int)((double)(n - first) * b / buckets),
            to = first + (int)((double)(n - first) * (b + 1) / buckets);
        keep[from] = 1;
        for (int j = 0; j < g->npanel; j++) {
            for (int i = 0; i < g->panel[j].count; i++) {
                int c = g->panel[j].curve[i].component, lo = -1, hi = -1;
                for (int k = from; k < to; k++) {
                    double v = value(g, k, c);
                    if (isinf(v)) keep[k] = 1;
                    if (!isfinite(v)) continue;
                    if (lo < 0 || v < value(g, lo, c)) lo = k;
                    if (hi < 0 || v > value(g, hi, c)) hi = k;
                }
                if (lo >= 0) keep[lo] = keep[hi] = 1;
            }
        }
    }
}

/* Of very many points of curves that turn back (phase plots) those that lie apart from the one before them. */
static void keep_distant(const plot *g, unsigned char *keep)
{
    int n = g->c->npoint, first = g->c->first, last = first;
    double from = INFINITY, to = -INFINITY;
    for (int k = first; k < n; k++) {
        from = fmin(from, g->c->x[k]);
        to = fmax(to, g->c->x[k]);
    }
    keep[first] = 1;
    for (int k = first + 1; k < n; k++) {
        int apart = fabs(g->c->x[k] - g->c->x[last]) > resolution * (to - from);
        for (int j = 0; j < g->npanel && !apart; j++) {
            for (int i = 0; i < g->panel[j].count; i++) {
                const curve *c = &g->panel[j].curve[i];
                double v = value(g, k, c->component), w = value(g, last, c->component);
                apart |= isfinite(v) != isfinite(w) || fabs(v - w) > resolution * (c->hi - c->lo);
            }
        }
        if (!apart) continue;
        keep[k] = keep[k - 1] = 1; /* the one before: a curve may end there */
        last = k;
    }
}

static void put_data(dae_text *x, const plot *g)
{
    int n = g->c->npoint, first = g->c->first;
    unsigned char *keep = calloc((size_t)n + 1, 1);
    if (!keep) {
        x->failed = DAE_TEXT_STARVED;
        return;
    }
    int many = n - first > 8 * buckets;
    if (many && g->c->winds) keep_distant(g, keep);
    else if (many) keep_extremes(g, keep);
    keep[n - 1] = 1;
    dae_text_put(x, "$data << EOD\n");
    for (int k = first; k < n; k++) {
        if (!many || keep[k]) put_point(x, g, k);
    }
    dae_text_put(x, "EOD\n");
    free(keep);
}

static void put_panel(dae_text *x, const plot *g, int j, int *column)
{
    const panel *q = &g->panel[j];
    const dae_curves *c = g->c;
    char label[128];
    int last = j == g->npanel - 1;
    if (q->count == 1) {
        snprintf(label, sizeof label, q->unit[0] ? "%s [%s]" : "%s", c->name[q->curve[0].component], q->unit);
    } else {
        snprintf(label, sizeof label, "%s%s%s", q->unit[0] ? "[" : "", q->unit, q->unit[0] ? "]" : "");
    }
    dae_text_put(x,
                 "set label 1 "); /* not ylabel: one column for all panels, however wide their numbers are */
    dae_text_quoted(x, label);
    dae_text_put(x, " at screen 0.018, graph 0.5 center rotate noenhanced\n");
    if (q->log_y) {
        dae_text_print(x, "set logscale y\nset format y \"10^{%%T}\"\nset yrange [%.3g:*]\n", q->lowest);
    } else {
        dae_text_put(x, "unset logscale y\nset format y \"%h\"\nset yrange [*:*]\n");
    }
    dae_text_print(x, "set format x \"%s\"\n", !last ? "" : c->log_x ? "10^{%T}" : "%h");
    if (last) {
        dae_text_put(x, "set label 2 ");
        snprintf(label, sizeof label, c->x_unit[0] ? "%s [%s]" : "%s", c->x_name, c->x_unit);
        dae_text_quoted(x, label);
        dae_text_print(x, " at graph 0.5, screen %.4f center noenhanced\n", 16.0 / g->height);
    }
    dae_text_put(x, q->count > 1
                        ? "set key outside right center Left reverse noenhanced samplen 2 spacing 1.2\n"
                        : "unset key\n");
    dae_text_put(x, "plot ");
    for (int i = 0, at = *column; i < q->count && c->band; i++, at += 3)
        dae_text_print(x,
                       "$data using 1:%d:%d with filledcurves fillstyle transparent solid 0.2 noborder "
                       "linecolor rgb \"%s\" notitle, ",
                       at + 2, at + 3, color[i]);
    for (int i = 0; i < q->count; i++, *column += c->band ? 2 : 0) {
        dae_text_print(x, "%s$data using 1:%d with %s linecolor rgb \"%s\" title ", i ? ", " : "", ++*column,
                       c->points ? "points pointtype 7 pointsize 0.5" : "lines linewidth 2", color[i]);
        dae_text_quoted(x, c->name[q->curve[i].component]);
    }
    dae_text_put(x, "\n");
}

static dae_status draw(plot *g, const char *terminal, dae_write_fn *write, void *user)
{
    dae_text x = {.write = write, .user = user};
    const dae_curves *c = g->c;
    if (c->npoint - c->first < 2) return DAE_ERR_INPUT;
    choose_curves(g);
    arrange(g);
    if (g->npanel == 0) return DAE_ERR_INPUT;
    static const int panel_height[max_panels] = {420, 260, 210, 185, 170, 160, 140, 125};
    int top = 46, bottom = 72, height = top + bottom + g->npanel * panel_height[g->npanel - 1], keys = 0;
    size_t longest = 0;
    for (int j = 0; j < g->npanel; j++) {
        keys |= g->panel[j].count > 1;
        for (int i = 0; i < g->panel[j].count && g->panel[j].count > 1; i++) {
            size_t letters = strlen(c->name[g->panel[j].curve[i].component]);
            if (letters > longest) longest = letters;
        }
    }
    double right = keys ? 1 - fmin(0.45, fmax(126, 64 + 8.5 * (double)longest) / width) : 0.96;
    g->height = height;
    dae_text_terminal(&x, terminal, width, height);
    put_data(&x, g);
    dae_text_put(&x, "set datafile missing \"?\"\nset border 3 linecolor rgb \"#404040\"\n"
                     "unset mxtics\nunset mytics\nset tics nomirror out textcolor rgb \"#202020\"\nset grid "
                     "linetype 1 linecolor rgb \"#e4e4e4\" linewidth 1\n");
    if (c->log_x) dae_text_put(&x, "set logscale x\n");
    double from = INFINITY, to = -INFINITY;
    for (int k = c->first; k < c->npoint; k++) {
        from = fmin(from, c->x[k]);
        to = fmax(to, c->x[k]);
    }
    dae_text_print(&x, "set xrange [%.9g:%.9g]\n", c->backwards ? to : from, c->backwards ? from : to);
    dae_text_print(
        &x, "set multiplot layout %d,1 margins screen 0.135,%.4f,%.4f,%.4f spacing screen 0,%.4f title ",
        g->npanel, right, (double)bottom / height, 1 - (double)top / height, 22.0 / height);
    dae_text_quoted(&x, c->title);
    dae_text_put(&x, " noenhanced\n");
    int column = 1;
    for (int j = 0; j < g->npanel; j++) put_panel(&x, g, j, &column);
    dae_text_put(&x, "unset multiplot\n");
    return dae_text_end(&x);
}

dae_status dae_curves_plot(const dae_curves *c, const char *terminal, dae_write_fn *write, void *user)
{
    plot g = {.c = c};
    return draw(&g, terminal, write, user);
}

/* ---- Tables ---------------------------------------------------------------------------------------- */

static int varies(const dae_table *t, int k)
{
    const double *x = t->value + (long)k * t->nrow;
    double first = NAN;
    long numbers = 0;
    int many = 0;
    for (long i = 0; i < t->nrow; i++) {
        if (!isfinite(x[i])) continue;
        if (isnan(first)) first = x[i];
        many |= x[i] != first;
        numbers++;
    }
    return many && 2 * numbers > t->nrow;
}

int dae_table_plot_choose(const dae_table *t, int x, int *y, int most)
{
    int count = 0;
    for (int k = 0; k < t->ncol && count < most; k++) {
        if (k != x && varies(t, k)) y[count++] = k;
    }
    return count;
}

/* Rows whose abscissa can be drawn. */
static dae_status draw_table(const dae_table *t, const dae_table_plot_options *opt, double *room,
                             const char **names, int *hint, dae_write_fn *write, void *user)
{
    const double *x = t->value + (long)opt->x * t->nrow;
    const char **units = names + opt->ny;
    double *y = room + t->nrow;
    int n = 0, up = 1, down = 1;
    for (long i = 0; i < t->nrow; i++) {
        if (!isfinite(x[i]) || (opt->log_x && !(x[i] > 0))) continue;
        room[n] = x[i];
        if (n > 0 && x[i] < room[n - 1]) up = 0;
        if (n > 0 && x[i] > room[n - 1]) down = 0;
        for (int k = 0; k < opt->ny; k++) y[(long)n * opt->ny + k] = t->value[(long)opt->y[k] * t->nrow + i];
        n++;
    }
    for (int k = 0; k < opt->ny; k++) {
        names[k] = t->name[opt->y[k]];
        units[k] = t->unit[opt->y[k]];
        hint[k] = k;
    }
    const char *unit = t->unit[opt->x];
    if (!strncmp(unit, "units: ", 7)) unit += 7; /* as tables of mechanisms begin their line of units */
    dae_curves c = {.n = opt->ny,
                    .npoint = n,
                    .x = room,
                    .y = y,
                    .name = names,
                    .unit = units,
                    .x_name = t->name[opt->x],
                    .x_unit = unit,
                    .chosen = hint,
                    .nchosen = opt->ny,
                    .log_x = opt->log_x,
                    .log_y = opt->log_y,
                    .apart = opt->apart,
                    .winds = !up && !down,
                    .points = !up && !down && !opt->lines,
                    .title = opt->title ? opt->title : ""};
    return dae_curves_plot(&c, opt->terminal, write, user);
}

dae_status dae_table_plot(const dae_table *t, const dae_table_plot_options *opt, dae_write_fn *write,
                          void *user)
{
    size_t ny = (size_t)opt->ny, rows = (size_t)t->nrow;
    if (t->failed) return DAE_ERR_MEMORY; /* a name or a unit is missing */
    if (opt->ny < 1) return DAE_ERR_INPUT;
    double *room = malloc(((1 + ny) * rows + 1) * sizeof *room);
    const char **names = malloc(2 * ny * sizeof *names);
    int *hint = malloc(ny * sizeof *hint);
    dae_status s = DAE_ERR_MEMORY;
    if (room && names && hint) s = draw_table(t, opt, room, names, hint, write, user);
    free(room);
    free(names);
    free(hint);
    return s;
}
