/* Ways to integrate one mechanism side by side: cost, drift off the constraints, energy, error.
 *
 * Integrated directly, in the index-1 form, the positions leave the constraints as t^2 and the velocities as t;
 * stabilization bounds the drift, partitioned coordinates and projections remove it. The comparison measures it
 * at every accepted point of a run with the residuals of the descriptor form, whatever form was integrated. */
#include "core/text.h"
#include "table/json_value.h"

#include <daedalus/study.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    most_drawn = 400, /* points of a line of the picture; ours */
    panel_width = 460,
    height = 432,
    key_width = 230
};

int dae_compare_mechanism(const dae_problem *p, dae_problem *out)
{
    *out = *p;
    if (p->system.kind == DAE_KIND_MECH) return 1;
    if (!p->mechanism) return 0;
    out->system = *p->mechanism;
    out->mechanism = NULL;
    out->yp0 = NULL;
    out->h0 = 0;
    return 1;
}

/* The comparison of [002], and the methods that mechanism software uses. */
const char *dae_compare_solvers(int mechanism)
{
    return mechanism ? "radau5/index3,radau5/index2,radau5/ggl,dopri5/index1,dopri5/baumgarte,"
                       "dopri5/index1+project,dopri5/statespace,vode-adams/"
                       "statespace,phem56,mexx,genalpha,hht,rattle"
                     : "all";
}

/* Residuals at the points of the run. */
static dae_status measure_drift(dae_compared *c, const dae_problem *p, const dae_run_result *r,
                                dae_error *err)
{
    dae_formulation *f = dae_formulation_create(&p->system, "descriptor", NULL, 0, NULL);
    int count = r->npoint;
    c->t = malloc((size_t)count * sizeof *c->t);
    c->position = malloc((size_t)count * sizeof *c->position);
    c->velocity = malloc((size_t)count * sizeof *c->velocity);
    if (f && c->t && c->position && c->velocity) {
        for (int i = 0; i < count; i++) {
            double g[3] = {NAN, NAN, NAN};
            dae_formulation_residuals(f, r->point_t[i], r->point_y + (size_t)i * (size_t)r->n, NULL, g, NULL);
            c->t[i] = r->point_t[i];
            c->position[i] = g[0];
            c->velocity[i] = g[1];
        }
        c->npoint = count;
    }
    dae_formulation_destroy(f);
    return c->npoint ? DAE_OK : dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
}

static double imbalance(const dae_run_result *r)
{
    return r && r->energy ? r->energy->largest : NAN;
}

/* The work of forces is integrated over the points of the trajectory. At the ends of the steps the states are the
 * most accurate, and the points few; the same run with points inside has many, of the dense output. The better
 * of both bounds the error. */
static dae_status energy_error(const dae_problem *p, const dae_run_options *opt, double *energy,
                               dae_error *err)
{
    dae_run_options o = *opt;
    o.points = 16;
    o.repeat = 1;
    dae_run_result *r = dae_run(p, &o, err);
    dae_status s = !r || r->status == DAE_ERR_MEMORY ? DAE_ERR_MEMORY : DAE_OK;
    *energy = fmin(*energy, imbalance(r));
    dae_run_destroy(r);
    return s < 0 ? dae_fail(err, s, NAN, "out of memory") : s;
}

dae_status dae_compare_run(const dae_problem *p, const dae_run_options *opt, const char *label,
                           dae_compared *c, dae_error *err)
{
    dae_run_options o = *opt;
    int mechanical = p->system.kind == DAE_KIND_MECH;
    *c = (dae_compared){.position_max = NAN, .velocity_max = NAN, .energy = NAN};
    if (mechanical) {
        o.trajectory = DAE_TRAJECTORY_STEPS;
        o.points = 1;
    }
    dae_run_result *r = dae_run(p, &o, err);
    if (!r) return DAE_ERR_MEMORY;
    c->run = dae_measurement_of(r);
    snprintf(c->run.solver, sizeof c->run.solver, "%s", label);
    dae_status s = mechanical && r->npoint > 0 ? measure_drift(c, p, r, err) : DAE_OK;
    for (int i = 0; i < c->npoint; i++) {
        c->position_max = fmax(c->position_max, c->position[i]);
        c->velocity_max = fmax(c->velocity_max, c->velocity[i]);
    }
    int done = r->status >= 0;
    c->energy = imbalance(r);
    dae_run_destroy(r);
    return s >= 0 && p->derived.energy && done ? energy_error(p, &o, &c->energy, err) : s;
}

void dae_compared_free(dae_compared *c)
{
    free(c->t);
    free(c->position);
    free(c->velocity);
    c->t = c->position = c->velocity = NULL;
    c->npoint = 0;
}

/* ---- Table ----------------------------------------------------------------------------------------- */

static void put_cell(dae_text *x, int width, const char *format, double value)
{
    char cell[32] = "-";
    if (isfinite(value)) snprintf(cell, sizeof cell, format, value);
    dae_text_print(x, "%*s", width, cell);
}

/* All evaluations of f. */
static double all_f(const dae_compared *c)
{
    return dae_measurement_work(&c->run, DAE_WORK_F);
}

static const char *word(const dae_compared *c)
{
    return c->run.status == DAE_OK ? "ok" : dae_run_status_word(c->run.status);
}

/* For people: columns, or Markdown. */
static void put_lines(dae_text *x, const dae_compared *c, int count, int markdown)
{
    const char *head[] = {"CPU [ms]", "steps", "f", "LU", "|g|", "|Gv+g_t|", "energy [J]", "scd", "mescd"};
    static const int width[] = {9, 8, 8, 7, 9, 9, 10, 6, 6};
    const char *bar = markdown ? " |" : "";
    int longest = 6;
    if (markdown) head[4] = "g", head[5] = "Gv+g_t"; /* no bars in a cell */
    for (int i = 0; i < count; i++) {
        int n = (int)strlen(c[i].run.solver);
        if (n > longest) longest = n;
    }
    dae_text_print(x, "%s%-*s%s", markdown ? "| " : "", longest, "solver", bar);
    for (int k = 0; k < 9; k++) dae_text_print(x, " %*s%s", width[k], head[k], bar);
    dae_text_print(x, " status%s\n", bar);
    if (markdown) {
        dae_text_put(x, "|");
        dae_text_fill(x, '-', longest + 2);
        for (int k = 0; k < 9; k++) {
            dae_text_put(x, "|");
            dae_text_fill(x, '-', width[k] + 1);
            dae_text_put(x, ":");
        }
        dae_text_put(x, "|---|\n");
    }
    for (int i = 0; i < count; i++) {
        const dae_compared *r = &c[i];
        const double value[] = {1e3 * r->run.cpu_seconds,
                                (double)r->run.steps,
                                all_f(r),
                                (double)r->run.lu,
                                r->position_max,
                                r->velocity_max,
                                r->energy,
                                r->run.scd,
                                r->run.mescd};
        static const char *const format[] = {"%.4g", "%.0f", "%.0f", "%.0f", "%.1e",
                                             "%.1e", "%.1e", "%.2f", "%.2f"};
        dae_text_print(x, "%s%-*s%s", markdown ? "| " : "", longest, r->run.solver, bar);
        for (int k = 0; k < 9; k++) {
            dae_text_put(x, " ");
            put_cell(x, width[k], format[k], value[k]);
            dae_text_put(x, bar);
        }
        dae_text_print(x, " %s", word(r));
        if (r->run.status < 0) dae_text_print(x, " at t = %.4g", r->run.t);
        dae_text_print(x, "%s\n", bar);
    }
}

dae_table *dae_compare_table(const dae_compared *c, int count, dae_error *err)
{
    static const char *const names[][2] = {
        {"solver", ""},  {"status", ""}, {"t_end", ""}, {"cpu_seconds", "s"}, {"steps", ""},
        {"f", ""},       {"jac", ""},    {"lu", ""},    {"position", ""},     {"velocity", ""},
        {"energy", "J"}, {"scd", ""},    {"mescd", ""}};
    enum { n = sizeof names / sizeof *names };
    dae_table *t = dae_table_create(n, count);
    for (int k = 0; t && k < n; k++) dae_table_column(t, k, names[k][0], names[k][1]);
    for (int i = 0; t && i < count; i++) {
        const double v[] = {c[i].run.t,        c[i].run.cpu_seconds, (double)c[i].run.steps,
                            all_f(&c[i]),      (double)c[i].run.jac, (double)c[i].run.lu,
                            c[i].position_max, c[i].velocity_max,    c[i].energy,
                            c[i].run.scd,      c[i].run.mescd};
        dae_table_set_text(t, i, 0, c[i].run.solver);
        dae_table_set_text(t, i, 1, word(&c[i]));
        for (int k = 2; k < n; k++) {
            if (isfinite(v[k - 2])) dae_table_set(t, i, k, v[k - 2]);
            else dae_table_set_text(t, i, k, "");
        }
    }
    if (t) t->no_units = 1;
    if (t && !t->failed) return t;
    dae_table_destroy(t);
    dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    return NULL;
}

static dae_status put_csv(const dae_compared *c, int count, dae_write_fn *write, void *user)
{
    dae_table *t = dae_compare_table(c, count, NULL);
    dae_status s = t ? dae_table_csv(t, write, user) : DAE_ERR_MEMORY;
    dae_table_destroy(t);
    return s;
}

static void set_number(json_t *o, const char *key, double value)
{
    json_object_set_new(o, key, dae_json_real(value));
}

static void put_json(dae_text *x, const dae_compared *c, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++) {
        json_t *o = json_object();
        json_object_set_new(o, "solver", json_string(c[i].run.solver));
        json_object_set_new(o, "status", json_string(word(&c[i])));
        json_object_set_new(o, "message", json_string(c[i].run.message));
        set_number(o, "t_end", c[i].run.t);
        set_number(o, "cpu_seconds", c[i].run.cpu_seconds);
        json_object_set_new(o, "steps", json_integer(c[i].run.steps));
        json_object_set_new(o, "f", json_integer((json_int_t)all_f(&c[i])));
        json_object_set_new(o, "jac", json_integer(c[i].run.jac));
        json_object_set_new(o, "lu", json_integer(c[i].run.lu));
        set_number(o, "position_residual", c[i].position_max);
        set_number(o, "velocity_residual", c[i].velocity_max);
        set_number(o, "energy_error", c[i].energy);
        set_number(o, "scd", c[i].run.scd);
        set_number(o, "mescd", c[i].run.mescd);
        json_array_append_new(list, o);
    }
    char *text = json_dumps(list, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    if (text) dae_text_put(x, text);
    else x->failed = DAE_TEXT_STARVED;
    dae_text_put(x, "\n");
    free(text);
    json_decref(list);
}

dae_status dae_compare_write(const dae_compared *c, int count, const char *format, dae_write_fn *write,
                             void *user)
{
    dae_text x = {.write = write, .user = user};
    if (!strcmp(format, "json")) put_json(&x, c, count);
    else if (!strcmp(format, "csv")) return put_csv(c, count, write, user);
    else if (!strcmp(format, "md") || !strcmp(format, "text")) put_lines(&x, c, count, !strcmp(format, "md"));
    else return DAE_ERR_INPUT;
    return dae_text_end(&x);
}

/* ---- Picture ---------------------------------------------------------------------------------------- */

/* The largest residuals of consecutive groups of points, so that no peak is lost; exact zeros are not drawn. */
static int put_data(dae_text *x, const dae_compared *c, int j)
{
    int group = (c->npoint + most_drawn - 1) / most_drawn, drawn = 0;
    dae_text_print(x, "$l%d << EOD\n", j);
    for (int i = 0; i < c->npoint; i += group) {
        double p = 0, v = 0;
        int last = i;
        for (int k = i; k < i + group && k < c->npoint; k++) {
            p = fmax(p, c->position[k]);
            v = fmax(v, c->velocity[k]);
            last = k;
        }
        if (!(p > 0 || v > 0)) continue;
        dae_text_print(x, "%.6g %.3g %.3g\n", c->t[last], p > 0 ? p : NAN, v > 0 ? v : NAN);
        drawn++;
    }
    dae_text_put(x, "EOD\n");
    return drawn;
}

dae_status dae_compare_plot(const dae_compared *c, int count, const char *title, const char *terminal,
                            dae_write_fn *write, void *user)
{
    static const char *const color[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                        "#E69F00", "#56B4E9", "#000000", "#882255"};
    static const char *const what[] = {"positions: largest |g|", "velocities: largest |G v + g_t|"};
    dae_text x = {.write = write, .user = user};
    int width = 20 + 2 * panel_width + key_width, drawn = 0;
    dae_text_terminal(&x, terminal, width, height);
    for (int j = 0; j < count; j++) drawn += put_data(&x, &c[j], j);
    if (!drawn) return DAE_ERR_INPUT;
    dae_text_put(&x, "set datafile missing \"NaN\"\nset border 3 linecolor rgb \"#404040\"\nset logscale y\n"
                     "set format y \"10^{%T}\"\nset tics nomirror out textcolor rgb \"#202020\"\n"
                     "set grid xtics ytics linetype 1 linecolor rgb \"#e4e4e4\" linewidth 1\nset xlabel \"t "
                     "[s]\" offset 0,0.4\n"
                     "set yrange [1e-18:*]\n");
    for (int k = 0; k < 2; k++) {
        double from = (70.0 + k * panel_width) / width, to = from + (panel_width - 80.0) / width;
        if (k == 0) {
            dae_text_put(&x, "set multiplot title ");
            dae_text_quoted(&x, title);
            dae_text_put(&x, " noenhanced font \",16\"\n");
        }
        dae_text_print(&x, "set lmargin at screen %.4f\nset rmargin at screen %.4f\n", from, to);
        dae_text_print(&x, "set tmargin at screen %.4f\nset bmargin at screen %.4f\n", 1 - 66.0 / height,
                       74.0 / height); /* numbers of the axis, and its name */
        dae_text_print(&x, "set title \"%s\" noenhanced font \",14\" offset 0,-0.5\n", what[k]);
        if (k == 0) dae_text_put(&x, "unset key\n");
        else
            dae_text_print(&x,
                           "set key at screen %.4f, screen %.4f left top Left reverse noenhanced samplen 2 "
                           "spacing 1.25 font \",12\"\n",
                           to + 14.0 / width, 1 - 66.0 / height);
        dae_text_put(&x, "plot ");
        for (int j = 0; j < count; j++) {
            dae_text_print(
                &x, "%s$l%d using 1:%d with lines linewidth 1.6 dashtype %d linecolor rgb \"%s\" title ",
                j ? ", \\\n     " : "", j, k + 2, 1 + j / 8, color[j % 8]);
            dae_text_quoted(&x, c[j].run.solver);
        }
        dae_text_put(&x, "\n");
    }
    dae_text_put(&x, "unset multiplot\n");
    return dae_text_end(&x);
}
