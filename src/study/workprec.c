/* Work-precision: the cost of digits, and the diagram.
 *
 * In the diagram the digits that came out are the abscissa and the work is the ordinate, logarithmic, one line per
 * solver from its loosest to its tightest tolerance, as in Hairer and Wanner, Solving Ordinary Differential Equations II,
 * pp. 166-167. A solver has the same color and symbol in every diagram; relatives share a color. Failed runs, and
 * those without one correct digit, stand in a strip left of the axis at the work they cost (at the border where that
 * lies outside). */
#include "core/text.h"

#include "core/number.h"
#include "study/measurement.h"

#include <daedalus/study.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    max_lines = 40,
    panel_width = 470,
    key_width = 160,
    least_height = 500,
    head = 66,
    foot = 70,
    key_row = 24
};

static const double never = 3; /* decades that stand for "never gave so many digits"; ours */

double dae_workprec_cost(const dae_measurement *m, int count, const char *solver, double digits, int mescd,
                         dae_work work)
{
    double least = NAN, last_digits = NAN, last_work = NAN;
    for (int i = 0; i < count; i++) {
        if (strcmp(m[i].solver, solver) != 0) continue;
        double d = dae_measurement_digits(&m[i], mescd), w = dae_measurement_work(&m[i], work);
        if (d >= digits && !(least <= w)) least = w;
        if ((d >= digits) != (last_digits >= digits) && isfinite(d) && isfinite(last_digits) && w > 0 &&
            last_work > 0) {
            double part = (digits - last_digits) / (d - last_digits);
            double between = exp(log(last_work) + part * (log(w) - log(last_work)));
            if (!(least <= between)) least = between;
        }
        last_digits = d;
        last_work = w;
    }
    return least;
}

double dae_workprec_excess(const dae_measurement *m, int count, const char *solver, int mescd, dae_work work)
{
    double most = 0, sum = 0;
    for (int i = 0; i < count; i++) most = fmax(most, fmin(dae_measurement_digits(&m[i], mescd), 16));
    int from = most < 2 ? (int)most : 2, to = (int)most;
    for (int d = from; d <= to; d++) {
        double least = NAN, mine = dae_workprec_cost(m, count, solver, d, mescd, work);
        for (int i = 0; i < count; i++) {
            if (dae_measurement_first(m, i))
                least = fmin(least, dae_workprec_cost(m, count, m[i].solver, d, mescd, work));
        }
        sum += isfinite(mine) && mine > 0 ? fmin(log10(mine / least), never) : never;
    }
    return sum / (to - from + 1);
}

/* ---- Looks ----------------------------------------------------------------------------------------- */

/* Symbols are gnuplot's: 1 +, 2 x, 3 *, then open and filled square, circle, triangle up, triangle down, diamond,
 * pentagon. Colors keep apart for color-blind readers (Okabe and Ito; Tol). */
static const struct look {
    const char *name, *color;
    int symbol, dash;
} looks[] = {
    {"radau5", "#0072B2", 7, 1},   {"radau", "#0072B2", 6, 1},        {"pside", "#56B4E9", 9, 1},
    {"mebdfdae", "#D55E00", 5, 1}, {"mebdfi", "#D55E00", 4, 1},       {"gamd", "#009E73", 11, 1},
    {"bimd", "#009E73", 10, 1},    {"dassl", "#882255", 13, 1},       {"vode", "#CC79A7", 12, 1},
    {"lsoda", "#AA4499", 8, 1},    {"vode-adams", "#999933", 14, 1},  {"dopri5", "#E69F00", 1, 1},
    {"dop853", "#8C6D00", 2, 1},   {"bs23", "#C9A227", 3, 1},         {"mexx", "#000000", 15, 1},
    {"phem56", "#333333", 14, 1},  {"rosnys4", "#332288", 5, 1},      {"wnys2", "#332288", 4, 1},
    {"vern8", "#B8860B", 10, 1},   {"vern9", "#6E5A00", 12, 1},       {"rkn8", "#44AA99", 11, 1},
    {"rkn12", "#44AA99", 10, 1},   {"rkc", "#661100", 3, 1},          {"seulex", "#888888", 9, 1},
    {"rodas4p2", "#117733", 5, 1}, {"rodas5", "#117733", 8, 1},       {"rodas5p", "#117733", 7, 1},
    {"cvode", "#777777", 12, 2},   {"cvode-adams", "#777777", 14, 2}, {"ida", "#777777", 13, 2},
};
static const char *const spare_color[] = {"#AA3377", "#4477AA", "#EE7733", "#228833", "#66CCEE"};

typedef struct line {
    const char *solver;
    struct look look;
    int drawn, missing; /* its runs in the diagram, and in the strip */
} line;

typedef struct diagram {
    const dae_measurement *m;
    int count;
    const dae_workprec_plot_options *opt;
    line line[max_lines];
    int nline;
    double lo, hi; /* digits shown */
    int missing;   /* runs in the strip */
    double strip;  /* its width in digits, 0: none */
    double pointsize;
    int height; /* of the picture */
    const char *left_out[max_lines];
    int nleft_out;
} diagram;

/* By the method's name, which ends at a '/'. A second form of the same method gets another symbol. */
static struct look look_of(const diagram *g, const char *solver)
{
    size_t n = strcspn(solver, "/");
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++) {
        if (strlen(looks[i].name) != n || strncmp(looks[i].name, solver, n) != 0) continue;
        struct look k = looks[i];
        for (int j = 0; j < g->nline; j++) {
            size_t other = strcspn(g->line[j].solver, "/");
            if (other == n && !strncmp(g->line[j].solver, solver, n)) {
                k.dash++;
                k.symbol = 4 + (k.symbol + 1) % 12;
            }
        }
        return k;
    }
    return (struct look){solver, spare_color[g->nline % 6], 4 + (5 * g->nline) % 12, 1};
}

static int compare_lines(const line *a, const line *b)
{
    int i = 0, j = 0;
    for (int k = 0; k < dae_method_count(); k++) {
        const char *name = dae_method_get(k)->name;
        size_t n = strlen(name);
        if (!strncmp(a->solver, name, n) && (!a->solver[n] || a->solver[n] == '/')) i = k;
        if (!strncmp(b->solver, name, n) && (!b->solver[n] || b->solver[n] == '/')) j = k;
    }
    return i - j;
}

static void find_lines(diagram *g)
{
    for (int i = 0; i < g->count && g->nline < max_lines; i++) {
        int j = 0;
        while (j < g->nline && strcmp(g->line[j].solver, g->m[i].solver) != 0) j++;
        if (j < g->nline) continue;
        line l = {g->m[i].solver, look_of(g, g->m[i].solver), 0, 0};
        for (j = g->nline++; j > 0 && compare_lines(&l, &g->line[j - 1]) < 0; j--)
            g->line[j] = g->line[j - 1];
        g->line[j] = l;
    }
}

/* ---- Script ---------------------------------------------------------------------------------------- */

static int in_strip(const diagram *g, const dae_measurement *m)
{
    double d = dae_measurement_digits(m, g->opt->mescd);
    return !(d >= 0);
}

/* A run that is exact to rounding shows at the right border. */
static double shown_digits(const diagram *g, const dae_measurement *m)
{
    double most = g->opt->reference_digits > 0 ? g->opt->reference_digits + 1 : 16;
    return fmin(dae_measurement_digits(m, g->opt->mescd), most);
}

static void find_range(diagram *g)
{
    g->lo = INFINITY;
    g->hi = -INFINITY;
    for (int i = 0; i < g->count; i++) {
        if (in_strip(g, &g->m[i])) {
            g->missing++;
            for (int j = 0; j < g->nline; j++)
                g->line[j].missing += !strcmp(g->line[j].solver, g->m[i].solver);
            continue;
        }
        g->lo = fmin(g->lo, shown_digits(g, &g->m[i]));
        g->hi = fmax(g->hi, shown_digits(g, &g->m[i]));
    }
    if (!(g->lo <= g->hi)) {
        g->lo = 0;
        g->hi = 10;
    }
    g->lo = floor(g->lo);
    g->hi = ceil(g->hi + 0.05);
    g->strip = g->missing ? 0.13 * (g->hi - g->lo) : 0;
}

/* Thirds of decades that hold the runs with digits and a bit more, at least a decade and a half; 0 where nothing was
 * counted. What a run without a result cost may lie outside: see put_data. */
static int work_range(const diagram *g, dae_work work, double *lo, double *hi)
{
    double least[2] = {INFINITY, INFINITY}, most[2] = {0, 0};
    for (int i = 0; i < g->count; i++) {
        double w = dae_measurement_work(&g->m[i], work);
        int k = in_strip(g, &g->m[i]);
        if (!(w > 0)) continue;
        least[k] = fmin(least[k], w);
        most[k] = fmax(most[k], w);
    }
    int k = !(most[0] > 0);
    if (!(most[k] > 0)) return 0;
    if (k == 0 && most[1] > 0) {
        most[0] = fmax(most[0], fmin(most[1], 4 * most[0]));
        least[0] = fmin(least[0], fmax(least[1], least[0] / 4));
    }
    double a = floor(3 * log10(least[k]) - 0.3) / 3, b = ceil(3 * log10(most[k]) + 0.3) / 3;
    if (b - a < 1.3) {
        a = floor(log10(least[k]));
        b = fmax(a + 2, b);
    }
    *lo = pow(10, a);
    *hi = pow(10, b);
    return 1;
}

static double clamped(double x, double lo, double hi)
{
    return fmin(fmax(x, 1.15 * lo), hi / 1.15);
}

/* Two blocks per solver: runs with digits (a blank line where one failed), and runs of the strip, at the border where
 * they cost more or less than is shown. */
static void put_data(dae_text *x, diagram *g)
{
    double lo[2] = {0, 0}, hi[2] = {INFINITY, INFINITY};
    work_range(g, DAE_WORK_SECONDS, &lo[0], &hi[0]);
    work_range(g, DAE_WORK_F, &lo[1], &hi[1]);
    for (int j = 0; j < g->nline; j++) {
        int drawn = 0;
        dae_text_print(x, "$l%d << EOD\n", j);
        for (int i = 0; i < g->count; i++) {
            if (strcmp(g->m[i].solver, g->line[j].solver) != 0) continue;
            if (in_strip(g, &g->m[i])) {
                if (drawn) dae_text_put(x, "\n");
            } else {
                dae_text_print(x, "%.5g %.5g %ld\n", shown_digits(g, &g->m[i]), g->m[i].cpu_seconds,
                               g->m[i].f + g->m[i].f_jac);
                drawn++;
            }
        }
        g->line[j].drawn = drawn;
        dae_text_put(x, "EOD\n");
        if (!g->line[j].missing) continue;
        double column = g->lo - g->strip * (1 - (j + 1.0) / (g->nline + 1)); /* each solver its own */
        dae_text_print(x, "$s%d << EOD\n", j);
        for (int i = 0; i < g->count; i++) {
            if (strcmp(g->m[i].solver, g->line[j].solver) != 0 || !in_strip(g, &g->m[i])) continue;
            dae_text_print(x, "%.5g %.5g %.6g\n", column, clamped(g->m[i].cpu_seconds, lo[0], hi[0]),
                           clamped(dae_measurement_work(&g->m[i], DAE_WORK_F), lo[1], hi[1]));
        }
        dae_text_put(x, "EOD\n");
    }
}

/* Over few decades 2 and 5 are labelled too. */
static void put_ytics(dae_text *x, double lo, double hi)
{
    int few = hi < 160 * lo, first = 1;
    dae_text_print(x, few ? "set ytics (" : "set ytics autofreq\n");
    for (int k = (int)floor(log10(lo)); few && k <= (int)ceil(log10(hi)); k++) {
        for (int m = 1; m < 10; m++) {
            double y = m * pow(10, k);
            if (y < 0.999 * lo || y > 1.001 * hi) continue;
            if (!first) dae_text_put(x, ", ");
            first = 0;
            if (m == 1) dae_text_print(x, "\"10^{%d}\" %.4g", k, y);
            else if (m == 2 || m == 5) dae_text_print(x, "\"%d\" %.4g", m, y);
            else dae_text_print(x, "\"\" %.4g 1", y);
        }
    }
    if (few) dae_text_put(x, ")\n");
}

/* The names of those under the key. */
static void put_left_out(dae_text *x, const diagram *g, double left, double top)
{
    int row = 0;
    char text[80] = "";
    if (!g->nleft_out) return;
    dae_text_print(
        x,
        "set label 10 \"not drawn (need more):\" at screen %.4f, screen %.4f left textcolor rgb \"#707070\" "
        "font \",11\"\n",
        left, top);
    for (int j = g->nleft_out - 1; j >= 0; j--) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s", g->left_out[j], j ? ", " : "");
        if (j && strlen(text) + strlen(g->left_out[j - 1]) < 26) continue;
        row++;
        dae_text_print(x, "set label %d ", 10 + row);
        dae_text_quoted(x, text);
        dae_text_print(
            x, " at screen %.4f, screen %.4f left noenhanced textcolor rgb \"#707070\" font \",11\"\n", left,
            top - 17.0 * row / g->height);
        text[0] = 0;
    }
}

/* note: where the names of the solvers that are not drawn begin, 0: not in this panel. */
static void put_panel(dae_text *x, const diagram *g, dae_work work, double note)
{
    const dae_workprec_plot_options *o = g->opt;
    double lo, hi, width = g->hi - g->lo, strip = g->strip;
    if (!work_range(g, work, &lo, &hi)) return;
    dae_text_print(x, "set xrange [%.4g:%.4g]\nset yrange [%.4g:%.4g]\n", g->lo - strip, g->hi, lo, hi);
    put_ytics(x, lo, hi);
    dae_text_print(x, "set xtics %g,%g\n", g->lo, width > 9 ? 2.0 : 1.0);
    dae_text_print(x, "set title \"%s\" font \",14\" offset 0,-0.5\n",
                   work == DAE_WORK_SECONDS ? "CPU time [s]" : "evaluations of f");
    dae_text_put(x, "unset object\nunset arrow\nunset label\n");
    dae_text_print(x, "set label 3 \"%s\" at first %.4g, screen %.4f center\n",
                   o->mescd ? "digits (mescd)" : "correct digits (scd)", (g->lo + g->hi) / 2,
                   15.0 / g->height);
    if (strip > 0) {
        dae_text_print(
            x,
            "set object 1 rectangle from first %.4g, graph 0 to first %.4g, graph 1 behind fillcolor "
            "rgb \"#f2f2f2\" fillstyle solid noborder\n",
            g->lo - strip, g->lo);
        dae_text_print(x,
                       "set label 1 \"no result\" at first %.4g, graph 0.02 left rotate textcolor rgb "
                       "\"#a0a0a0\" font \",12\"\n",
                       g->lo - 0.5 * strip);
    }
    if (o->reference_digits > g->lo && o->reference_digits < g->hi) {
        dae_text_print(
            x,
            "set arrow 1 from first %.4g, graph 0 to first %.4g, graph 1 nohead dashtype 2 linecolor rgb "
            "\"#909090\" back\n",
            o->reference_digits, o->reference_digits);
        dae_text_print(
            x,
            "set label 2 \"reference\" at first %.4g, graph 0.01 left rotate offset 0.6,0.3 textcolor "
            "rgb \"#909090\" font \",11\"\n",
            o->reference_digits);
    }
    if (note > 0) put_left_out(x, g, note, 1 - (head + key_row * (g->nline + 1.0)) / g->height);
    int column = work == DAE_WORK_SECONDS ? 2 : 3;
    dae_text_put(x, "plot ");
    for (int j = 0; j < g->nline; j++) {
        const line *l = &g->line[j];
        char style[128], source[32];
        dae_snprintf(style, sizeof style, "linecolor rgb \"%s\" pointtype %d pointsize %g", l->look.color,
                     l->look.symbol, g->pointsize);
        snprintf(source, sizeof source, "$l%d using 1:%d", j, column);
        dae_text_print(x, "%s%s with linespoints linewidth 1.3 dashtype %d %s title ", j ? ", \\\n     " : "",
                       l->drawn ? source : "keyentry", l->look.dash, style);
        dae_text_quoted(x, l->solver);
        if (l->missing) dae_text_print(x, ", $s%d using 1:%d with points %s notitle", j, column, style);
    }
    dae_text_put(x, "\n");
}

/* ---- Which solvers --------------------------------------------------------------------------------- */

/* Leaves the solvers out that need most, until most_lines are left; *kept (free it) holds the runs of those. */
static dae_status leave_out(diagram *g, dae_measurement **kept)
{
    int lines = 0, most = g->opt->most_lines;
    double excess[max_lines];
    const char *name[max_lines];
    dae_work work = g->opt->work == DAE_WORK_F ? DAE_WORK_F : DAE_WORK_SECONDS;
    *kept = NULL;
    for (int i = 0; i < g->count && lines < max_lines; i++) {
        if (!dae_measurement_first(g->m, i)) continue;
        name[lines] = g->m[i].solver;
        excess[lines++] = dae_workprec_excess(g->m, g->count, g->m[i].solver, g->opt->mescd, work);
    }
    if (most <= 0 || lines <= most) return DAE_OK;
    *kept = malloc((size_t)g->count * sizeof **kept);
    if (!*kept) return DAE_ERR_MEMORY;
    for (; lines > most; lines--) {
        int worst = 0;
        for (int j = 1; j < lines; j++) {
            if (excess[j] >= excess[worst]) worst = j;
        }
        g->left_out[g->nleft_out++] = name[worst];
        for (int j = worst; j < lines - 1; j++) {
            name[j] = name[j + 1];
            excess[j] = excess[j + 1];
        }
    }
    int count = 0;
    for (int i = 0; i < g->count; i++) {
        int out = 0;
        for (int j = 0; j < g->nleft_out; j++) out |= !strcmp(g->left_out[j], g->m[i].solver);
        if (!out) (*kept)[count++] = g->m[i];
    }
    g->m = *kept;
    g->count = count;
    return DAE_OK;
}

/* ---- The whole ------------------------------------------------------------------------------------- */

/* "vdpol-mu: Van der Pol, mu=5"; of a file only the name, since its description can be long, and not its hash. */
static void put_title(dae_text *x, const dae_workprec_plot_options *opt)
{
    const dae_problem_info *info = opt->problem ? opt->problem->info : NULL;
    const char *settings = opt->settings ? opt->settings : "", *title = info ? info->title : NULL;
    char text[256];
    if (opt->title) {
        dae_text_quoted(x, opt->title);
        return;
    }
    if (opt->problem && opt->problem->hash) {
        title = NULL;
        settings = strchr(settings, ' ') ? strchr(settings, ' ') + 1 : "";
    }
    snprintf(text, sizeof text, "%s%s%s%s%s", info && info->name ? info->name : "",
             title && title[0] ? ": " : "", title ? title : "", settings[0] ? ", " : "", settings);
    dae_text_quoted(x, text);
}

static void put_diagram(dae_text *x, diagram *g, int width)
{
    const dae_workprec_plot_options *opt = g->opt;
    int both = opt->work == DAE_WORK_BOTH;
    dae_text_put(x,
                 "set datafile missing \"NaN\"\nset border 3 linecolor rgb \"#404040\"\nset logscale y\n"
                 "set format y \"10^{%T}\"\nset mytics 10\nset tics nomirror out textcolor rgb \"#202020\"\n"
                 "set grid xtics ytics linetype 1 linecolor rgb \"#e4e4e4\" linewidth 1\n");
    double left = 62.0 / width, top = 1 - (double)head / g->height, bottom = (double)foot / g->height;
    for (int k = 0; k < (both ? 2 : 1); k++) {
        double from = left + (double)k * panel_width / width, to = from + (panel_width - 74.0) / width;
        if (k == 0) {
            dae_text_put(x, "set multiplot title ");
            put_title(x, opt);
            dae_text_put(x, " noenhanced font \",16\"\n");
        }
        dae_text_print(x,
                       "set lmargin at screen %.4f\nset rmargin at screen %.4f\nset tmargin at screen %.4f\n"
                       "set bmargin at screen %.4f\n",
                       from, to, top, bottom);
        if (k == (both ? 1 : 0)) {
            dae_text_print(x,
                           "set key at screen %.4f, screen %.4f left top Left reverse noenhanced samplen 2 "
                           "spacing 1.25 maxcols 1 font \",12\"\n",
                           to + 14.0 / width, top);
        } else {
            dae_text_put(x, "unset key\n");
        }
        put_panel(x, g, both ? (k == 0 ? DAE_WORK_SECONDS : DAE_WORK_F) : opt->work,
                  k == (both ? 1 : 0) ? to + 20.0 / width : 0);
    }
    dae_text_put(x, "unset multiplot\n");
}

dae_status dae_workprec_plot(const dae_measurement *m, int count, const dae_workprec_plot_options *opt,
                             dae_write_fn *write, void *user)
{
    dae_text x = {.write = write, .user = user};
    diagram g = {.m = m, .count = count, .opt = opt};
    dae_measurement *kept;
    double lo, hi;
    int both = opt->work == DAE_WORK_BOTH, longest = 0;
    if (leave_out(&g, &kept) < 0) return DAE_ERR_MEMORY;
    find_lines(&g);
    if (g.nline == 0 || !work_range(&g, both ? DAE_WORK_SECONDS : opt->work, &lo, &hi)) {
        free(kept);
        return DAE_ERR_INPUT;
    }
    find_range(&g);
    g.pointsize = !strcmp(opt->terminal, "svg") ? 0.6 : 0.9;
    for (int j = 0; j < g.nline; j++) {
        int n = (int)strlen(g.line[j].solver);
        if (n > longest) longest = n;
    }
    int key = 60 + 9 * longest > key_width ? 60 + 9 * longest : key_width,
        rows = g.nline + 2 * (g.nleft_out > 0) + g.nleft_out / 2;
    if (g.nleft_out && key < 210) key = 210;
    int width = 10 + (both ? 2 : 1) * panel_width + key;
    g.height = head + foot + key_row * rows > least_height ? head + foot + key_row * rows : least_height;
    dae_text_terminal(&x, opt->terminal, width, g.height);
    put_data(&x, &g);
    put_diagram(&x, &g, width);
    free(kept);
    return dae_text_end(&x);
}
