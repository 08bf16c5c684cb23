/* A fit as text, as JSON, and as a picture. */
#include "fit/fit.h"

#include "core/escape.h"
#include "core/number.h"
#include "table/json_value.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

typedef struct sink {
    dae_write_fn *write;
    void *user;
    int bad;
} sink;

static void say(sink *s, const char *format, ...) DAE_PRINTF(2, 3);
static void say(sink *s, const char *format, ...)
{
    char text[1000];
    va_list args;
    va_start(args, format);
    int n = dae_vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n < 0 || s->bad) return;
    size_t length = (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    s->bad = s->write(text, length, s->user) < 0;
}

static const char *unit_of(const dae_problem *p, const char *name)
{
    const dae_parameter *q = p->info ? p->info->parameter : NULL;
    for (int i = 0; q && q[i].name; i++) {
        if (!strcmp(q[i].name, name)) return q[i].unit ? q[i].unit : "";
    }
    return "";
}

static void say_estimate(sink *s, const dae_fit_estimate *e, const char *name, const char *unit, int profiles)
{
    say(s, "  %-14s %14.7g", name, e->value);
    if (e->at_bound) say(s, "  at its %s bound", e->at_bound < 0 ? "lower" : "upper");
    else if (isinf(e->sd)) say(s, "  not determined by the data");
    else if (!isnan(e->sd)) say(s, "  +- %-10.3g [%.6g, %.6g]", e->sd, e->lower, e->upper);
    if (profiles && !isnan(e->profile[0])) say(s, "  profile [%.6g, %.6g]", e->profile[0], e->profile[1]);
    say(s, "%s%s\n", unit[0] ? "  " : "", unit);
}

dae_status dae_fit_text(const dae_fit_result *r, const dae_fit_free *free_list, const dae_problem *p,
                        dae_write_fn *write, void *user)
{
    sink s = {write, user, 0};
    say(&s, "%s after %d iterations, %d runs", r->message, r->iterations, r->evaluations);
    if (r->starts_ended > 1) {
        int same = 0;
        for (int i = 0; i < r->nstart_cost; i++) same += r->start_cost[i] <= r->cost * (1 + 1e-6) + 1e-300;
        say(&s, "; %d of %d starts reached it", same, r->starts_ended);
    }
    say(&s, "\n\n  %-14s %14s  +- %-10s interval of confidence\n", "parameter", "value", "sd");
    for (int j = 0; j < r->count; j++)
        say_estimate(&s, &r->estimate[j], free_list[j].name, unit_of(p, free_list[j].name), 1);
    if (isnan(r->cost)) return s.bad ? DAE_ERR_FILE : DAE_OK; /* stopped before there was one */
    say(&s, "\n  %ld values, cost %.6g, residuals of %.3g (root of mean square), noise %.3g\n", r->nresidual,
        r->cost, r->rms, r->noise);
    if (r->unidentifiable[0]) say(&s, "\n  not identifiable: %s\n", r->unidentifiable);
    if (r->count > 1) {
        say(&s, "\n  correlations\n  %-12s", "");
        for (int j = 0; j < r->count; j++) say(&s, " %8.8s", free_list[j].name);
        for (int i = 0; i < r->count; i++) {
            say(&s, "\n  %-12.12s", free_list[i].name);
            for (int j = 0; j <= i; j++) {
                double c = r->correlation[i + r->count * j];
                if (isnan(c)) say(&s, " %8s", "-");
                else say(&s, " %8.3f", c);
            }
        }
        say(&s, "\n  singular values (relative)");
        for (int j = 0; j < r->count; j++) {
            if (!isnan(r->singular[j])) say(&s, " %.2g", r->singular[j] / r->singular[0]);
        }
        say(&s, "\n");
    }
    return s.bad ? DAE_ERR_FILE : DAE_OK;
}

dae_table *dae_fit_table(const dae_fit_result *r, const dae_problem *p,
                         const dae_fit_experiment *const *experiment)
{
    static const char *const name[] = {"experiment", "column", "t", "data", "model", "residual"};
    enum { n = sizeof name / sizeof *name };
    long row = 0;
    dae_table *t = dae_table_create(n, r->nresidual);
    for (int k = 0; t && k < n; k++) dae_table_column(t, k, name[k], "");
    for (int k = 0; t && k < r->nexperiment; k++) {
        const dae_fit_experiment *e = experiment[k];
        for (int i = 0; i < e->ncolumn * e->ntime; i++) {
            if (isnan(e->value[i])) continue;
            dae_table_set(t, row, 0, k + 1);
            dae_table_set_text(t, row, 1, e->column[i / e->ntime]);
            dae_table_set(t, row, 2, e->t[i % e->ntime]);
            dae_table_set(t, row, 3, e->value[i]);
            dae_table_set(t, row, 4, r->model[k][i]);
            dae_table_set(t, row++, 5, r->residual[k][i]);
        }
    }
    if (!t || t->failed) {
        dae_table_destroy(t);
        return NULL;
    }
    dae_table_mark_words(t, "column");
    t->no_units = 1;
    dae_table_note(t, "problem", p->info ? p->info->name : "", 0);
    return t;
}

char *dae_fit_json(const dae_fit_result *r, const dae_fit_free *free_list, const dae_problem *p,
                   const dae_fit_experiment *const *experiment)
{
    json_t *o = json_object(), *list = json_object(), *correlation = json_array(), *singular = json_array(),
           *data = json_array();
    json_object_set_new(o, "problem", json_string(p->info ? p->info->name : ""));
    json_object_set_new(o, "status", json_string(dae_status_name(r->status)));
    json_object_set_new(o, "message", json_string(r->message));
    json_object_set_new(o, "cost", dae_json_real(r->cost));
    json_object_set_new(o, "rms", dae_json_real(r->rms));
    json_object_set_new(o, "noise", dae_json_real(r->noise));
    json_object_set_new(o, "values", json_integer(r->nresidual));
    json_object_set_new(o, "iterations", json_integer(r->iterations));
    json_object_set_new(o, "runs", json_integer(r->evaluations));
    json_object_set_new(o, "start", json_integer(r->start));
    json_object_set_new(o, "parameters", list);
    for (int j = 0; j < r->count; j++) {
        const dae_fit_estimate *e = &r->estimate[j];
        json_t *a = json_object();
        json_object_set_new(a, "value", dae_json_real(e->value));
        json_object_set_new(a, "sd", dae_json_real(e->sd));
        json_object_set_new(a, "lower", dae_json_real(e->lower));
        json_object_set_new(a, "upper", dae_json_real(e->upper));
        json_object_set_new(a, "profile",
                            json_pack("[o,o]", dae_json_real(e->profile[0]), dae_json_real(e->profile[1])));
        json_object_set_new(a, "at_bound", json_integer(e->at_bound));
        json_object_set_new(a, "unit", json_string(unit_of(p, free_list[j].name)));
        json_object_set_new(list, free_list[j].name, a);
        json_t *row = json_array();
        for (int k = 0; k < r->count; k++)
            json_array_append_new(row, dae_json_real(r->correlation[j + r->count * k]));
        json_array_append_new(correlation, row);
        json_array_append_new(singular, dae_json_real(r->singular[j]));
    }
    json_object_set_new(o, "correlation", correlation);
    json_object_set_new(o, "singular_values", singular);
    json_object_set_new(o, "rank", json_integer(r->rank));
    json_object_set_new(o, "unidentifiable", json_string(r->unidentifiable));
    for (int k = 0; k < r->nexperiment; k++) {
        const dae_fit_experiment *e = experiment[k];
        json_t *a = json_object();
        json_object_set_new(a, "name", json_string(e->name));
        for (int c = 0; c < e->ncolumn; c++) {
            double sum = 0;
            long n = 0;
            for (int i = 0; i < e->ntime; i++) {
                double d = r->model[k][c * e->ntime + i] - e->value[c * e->ntime + i];
                if (!isnan(d)) sum += d * d, n++;
            }
            json_object_set_new(a, e->column[c],
                                json_pack("{s:i,s:o}", "values", (int)n, "rms",
                                          dae_json_real(n ? sqrt(sum / (double)n) : NAN)));
        }
        json_array_append_new(data, a);
    }
    json_object_set_new(o, "experiments", data);
    char *text = json_dumps(o, JSON_REAL_PRECISION(17) | JSON_COMPACT | JSON_PRESERVE_ORDER);
    json_decref(o);
    return text;
}

/* ---- The picture: per measured column data and curve, on their right the residuals ------------------------------------- */

enum { PANEL = 230, EDGE = 60 }; /* ours: pixels of one panel, and of what is around all */

static int put(const char *text, size_t length, void *user)
{
    sink *s = user;
    if (!s->bad) s->bad = s->write(text, length, s->user) < 0;
    return s->bad ? -1 : 0;
}

static void quote(sink *s, const char *text)
{
    dae_escape_gnuplot(text, strlen(text), put, s);
}

static void block(sink *s, const dae_fit_experiment *e, const double *a, const double *b, int c)
{
    for (int i = 0; i < e->ntime; i++) {
        double y = a[c * e->ntime + i];
        if (isnan(y)) continue;
        say(s, "%.10g %.10g %.10g\n", e->t[i], y, b ? b[c * e->ntime + i] : 0.0);
    }
    say(s, "e\n");
}

static void curve(sink *s, const dae_fit_result *r, int k, int c)
{
    for (int i = 0; i < r->ncurve; i++)
        say(s, "%.10g %.10g\n", r->curve_t[k][i], r->curve[k][c * r->ncurve + i]);
    say(s, "e\n");
}

dae_status dae_fit_plot(const dae_fit_result *r, const dae_problem *p,
                        const dae_fit_experiment *const *experiment, const char *terminal,
                        dae_write_fn *write, void *user)
{
    sink s = {write, user, 0};
    int panels = 0, drawn = 0;
    for (int k = 0; k < r->nexperiment; k++) panels += experiment[k]->ncolumn;
    if (!panels) return DAE_ERR_INPUT;
    if (panels > 6) panels = 6;
    int big = strcmp(terminal, "pdf") != 0;
    say(&s, "set terminal %s size ",
        !strcmp(terminal, "svg")   ? "svg dynamic"
        : !strcmp(terminal, "png") ? "pngcairo"
                                   : "pdfcairo");
    if (big) say(&s, "900,%d", EDGE + PANEL * panels);
    else say(&s, "18cm,%dcm", (EDGE + PANEL * panels + 49) / 50);
    say(&s, " enhanced font \"sans,%d\"\n", big ? 13 : 9);
    say(&s,
        "set multiplot layout %d,2 columnsfirst downwards\nset key at graph 1,1.03 right bottom horizontal "
        "samplen 2\n"
        "set border 3 linecolor rgb \"#404040\"\nset tics nomirror out textcolor rgb \"#202020\"\n"
        "set grid xtics ytics linetype 1 linecolor rgb \"#e4e4e4\" linewidth 1\n",
        panels);
    for (int pass = 0; pass < 2; pass++) {
        drawn = 0;
        for (int k = 0; k < r->nexperiment; k++) {
            const dae_fit_experiment *e = experiment[k];
            for (int c = 0; c < e->ncolumn && drawn < panels; c++, drawn++) {
                say(&s, "set title ");
                quote(&s, e->column[c]);
                if (r->nexperiment > 1) {
                    say(&s, ".\", \".");
                    quote(&s, e->name);
                }
                const char *unit = pass ? NULL : dae_fit_unit(p, e->column[c]),
                           *time = drawn == panels - 1 ? p->time_unit : NULL;
                if (unit && unit[0]) {
                    say(&s, ".\" [\".");
                    quote(&s, unit);
                    say(&s, ".\"]\"");
                }
                say(&s, ".\"%s\" noenhanced\nset xlabel \"%s\"", pass ? ": residuals, weighted" : "",
                    drawn == panels - 1 ? "t" : "");
                if (time && time[0]) {
                    say(&s, ".\" [\".");
                    quote(&s, time);
                    say(&s, ".\"]\"");
                }
                say(&s, " noenhanced\n");
                if (!pass) {
                    say(&s,
                        "plot '-' using 1:2 with points pt 7 ps 0.6 lc rgb '#888888' title 'data', '-' using "
                        "1:2 with lines lw 2 lc rgb '#0072b2' title 'fit'\n");
                    block(&s, e, e->value, NULL, c);
                    if (r->ncurve) curve(&s, r, k, c);
                    else block(&s, e, r->model[k], NULL, c);
                } else {
                    say(&s, "plot '-' using 1:2 with impulses lc rgb '#0072b2' notitle, 0 lc rgb '#888888' "
                            "notitle\n");
                    block(&s, e, r->residual[k], NULL, c);
                }
            }
        }
    }
    say(&s, "unset multiplot\n");
    return s.bad ? DAE_ERR_FILE : DAE_OK;
}
