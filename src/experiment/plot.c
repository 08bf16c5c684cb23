/* A trajectory as a gnuplot script with its data. Components of one unit and of like size share a panel;
 * panels are stacked over one time axis. Colors are those of Okabe and Ito (distinct for color-blind
 * readers). */
#include "experiment/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { max_panels = 6, max_curves = 6, max_components = 36, buckets = 600, width = 900 };

static const double same_scale = 12;   /* curves whose largest values differ by less share a panel; ours */
static const double log_span = 1e3;    /* positive values over more than this get a logarithmic axis; ours */
static const double log_floor = 1e-12; /* of the largest value: what lies below is cut off; ours */

static const char *const color[max_curves] = {"#0072B2", "#D55E00", "#009E73",
                                              "#CC79A7", "#E69F00", "#56B4E9"};

typedef struct curve {
    int component;
    double lo, hi; /* range of the values drawn */
} curve;

typedef struct panel {
    curve curve[max_curves];
    int count;
    const char *unit;
    int log_y;
    double lowest; /* log_y: where the axis begins */
} panel;

typedef struct plot {
    const dae_run_result *r;
    int log_t, first; /* first point drawn */
    curve all[max_components];
    int nall;
    panel panel[max_panels];
    int npanel;
    int height; /* of the picture */
} plot;

static double value(const plot *g, int k, int component)
{
    return g->r->point_y[(size_t)k * (size_t)g->r->n + (size_t)component];
}

static void choose_curves(plot *g)
{
    const dae_problem *p = g->r->problem;
    int hinted = p->plot && p->nplot > 0, count = hinted                 ? p->nplot
                                                  : g->r->n < max_curves ? g->r->n
                                                                         : max_curves;
    if (count > max_components) count = max_components;
    for (int i = 0; i < count; i++) {
        curve c = {hinted ? p->plot[i] : i, INFINITY, -INFINITY};
        for (int k = g->first; k < g->r->npoint; k++) {
            double v = value(g, k, c.component);
            c.lo = fmin(c.lo, v);
            c.hi = fmax(c.hi, v);
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
        const char *unit = dae_component_unit(g->r->problem, g->all[i].component);
        int j = 0;
        while (j < g->npanel && !fits(&g->panel[j], &g->all[i], unit)) j++;
        if (j == g->npanel) {
            if (j == max_panels) continue;
            g->panel[g->npanel++] = (panel){.unit = unit};
        }
        g->panel[j].curve[g->panel[j].count++] = g->all[i];
    }
    for (int j = 0; j < g->npanel; j++) {
        double lo = INFINITY, hi = 0;
        for (int i = 0; i < g->panel[j].count; i++) {
            lo = fmin(lo, g->panel[j].curve[i].lo);
            hi = fmax(hi, g->panel[j].curve[i].hi);
        }
        g->panel[j].log_y = g->log_t && lo > 0 && hi > log_span * lo;
        g->panel[j].lowest = fmax(lo, log_floor * hi);
    }
}

static void put_point(dae_text *x, const plot *g, int k)
{
    dae_text_print(x, "%.9g", g->r->point_t[k]);
    for (int j = 0; j < g->npanel; j++) {
        for (int i = 0; i < g->panel[j].count; i++) {
            double v = value(g, k, g->panel[j].curve[i].component);
            if (isfinite(v)) {
                dae_text_print(x, " %.7g", v);
            } else {
                dae_text_put(x, " NaN");
            }
        }
    }
    dae_text_put(x, "\n");
}

/* All points, or of very many those that show: first, and smallest and largest of every curve in each bucket.
 */
static void put_data(dae_text *x, const plot *g)
{
    int n = g->r->npoint, first = g->first;
    unsigned char *keep = calloc((size_t)n + 1, 1);
    if (!keep) {
        x->failed = 1;
        return;
    }
    int many = n - first > 8 * buckets;
    for (int b = 0; many && b < buckets; b++) {
        int from = first + (int)((double)(n - first) * b / buckets),
            to = first + (int)((double)(n - first) * (b + 1) / buckets);
        keep[from] = 1;
        for (int j = 0; j < g->npanel; j++) {
            for (int i = 0; i < g->panel[j].count; i++) {
                int c = g->panel[j].curve[i].component, lo = from, hi = from;
                for (int k = from; k < to; k++) {
                    if (value(g, k, c) < value(g, lo, c)) lo = k;
                    if (value(g, k, c) > value(g, hi, c)) hi = k;
                }
                keep[lo] = keep[hi] = 1;
            }
        }
    }
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
    const dae_problem *p = g->r->problem;
    char buffer[24], label[128];
    int last = j == g->npanel - 1;
    if (q->count == 1) {
        const char *name = dae_component_name(p, q->curve[0].component, buffer, sizeof buffer);
        snprintf(label, sizeof label, q->unit[0] ? "%s [%s]" : "%s", name, q->unit);
    } else {
        snprintf(label, sizeof label, "%s%s%s", q->unit[0] ? "[" : "", q->unit, q->unit[0] ? "]" : "");
    }
    dae_text_put(x,
                 "set label 1 "); /* not ylabel: one column for all panels, however wide their numbers are */
    dae_text_quoted(x, label);
    dae_text_put(x, " at screen 0.022, graph 0.5 center rotate noenhanced\n");
    if (q->log_y) {
        dae_text_print(x, "set logscale y\nset format y \"10^{%%T}\"\nset yrange [%.3g:*]\n", q->lowest);
    } else {
        dae_text_put(x, "unset logscale y\nset format y \"%h\"\nset yrange [*:*]\n");
    }
    dae_text_print(x, "set format x \"%s\"\n", !last ? "" : g->log_t ? "10^{%T}" : "%h");
    if (last) {
        dae_text_put(x, "set label 2 ");
        snprintf(label, sizeof label, p->time_unit ? "t [%s]" : "t", p->time_unit);
        dae_text_quoted(x, label);
        dae_text_print(x, " at graph 0.5, screen %.4f center noenhanced\n", 16.0 / g->height);
    }
    dae_text_put(x, q->count > 1
                        ? "set key outside right center Left reverse noenhanced samplen 2 spacing 1.2\n"
                        : "unset key\n");
    for (int i = 0; i < q->count; i++) {
        dae_text_print(x, "%s$data using 1:%d with lines linewidth 2 linecolor rgb \"%s\" title ",
                       i ? ", " : "plot ", ++*column, color[i]);
        dae_text_quoted(x, dae_component_name(p, q->curve[i].component, buffer, sizeof buffer));
    }
    dae_text_put(x, "\n");
}

static void put_title(dae_text *x, const plot *g)
{
    const dae_run_result *r = g->r;
    const char *title = r->problem->info ? r->problem->info->title : NULL;
    char text[256];
    snprintf(text, sizeof text, "%s%s%s   (%s, rtol %g, atol %g)", r->name, title ? ": " : "",
             title ? title : "", r->solver, r->rtol, r->atol);
    dae_text_quoted(x, text);
}

dae_status dae_run_plot(const dae_run_result *r, const char *terminal, dae_write_fn *write, void *user)
{
    dae_text x = {.write = write, .user = user};
    plot g = {.r = r, .log_t = r->problem->plot_log_t && r->t_end > r->t0};
    while (g.log_t && g.first < r->npoint && !(r->point_t[g.first] > 0)) g.first++;
    if (r->npoint - g.first < 2) return DAE_ERR_INPUT;
    choose_curves(&g);
    arrange(&g);
    if (g.npanel == 0) return DAE_ERR_INPUT;
    static const int panel_height[max_panels] = {420, 260, 210, 185, 170, 160};
    int top = 46, bottom = 72, height = top + bottom + g.npanel * panel_height[g.npanel - 1], keys = 0;
    for (int j = 0; j < g.npanel; j++) keys |= g.panel[j].count > 1;
    g.height = height;
    dae_text_terminal(&x, terminal, width, height);
    put_data(&x, &g);
    dae_text_put(&x, "set datafile missing \"NaN\"\nset border 3 linecolor rgb \"#404040\"\n"
                     "unset mxtics\nunset mytics\nset tics nomirror out textcolor rgb \"#202020\"\nset grid "
                     "linetype 1 linecolor rgb \"#e4e4e4\" linewidth 1\n");
    if (g.log_t) dae_text_put(&x, "set logscale x\n");
    dae_text_print(&x, "set xrange [%.9g:%.9g]\n", r->point_t[g.first], r->point_t[r->npoint - 1]);
    dae_text_print(
        &x, "set multiplot layout %d,1 margins screen 0.12,%.2f,%.4f,%.4f spacing screen 0,%.4f title ",
        g.npanel, keys ? 0.86 : 0.96, (double)bottom / height, 1 - (double)top / height, 22.0 / height);
    put_title(&x, &g);
    dae_text_put(&x, " noenhanced\n");
    int column = 1;
    for (int j = 0; j < g.npanel; j++) put_panel(&x, &g, j, &column);
    dae_text_put(&x, "unset multiplot\n");
    return dae_text_end(&x);
}
