/* The page of a problem or model, and the index of pages: HTML that needs nothing but itself. Pictures are SVG in data: addresses,
 * so that the names inside of them do not meet. */
#include <daedalus/report.h>

#include "core/number.h"
#include "core/text.h"
#include "study/json.h"
#include "study/measurement.h"
#include "study/solver.h"

#include <daedalus/formulation.h>
#include <daedalus/multibody.h>
#include <daedalus/page.h>
#include <daedalus/provenance.h>
#include <daedalus/version.h>

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char style[] =
    ":root{color-scheme:light "
    "dark;--fg:#1c2126;--dim:#5c6670;--bg:#fff;--card:#f6f7f9;--line:#d9dee3;--link:#0060a0;"
    "--bad:#a3260f;--badbg:#fdecea;--good:#0b6b3a}\n"
    "@media(prefers-color-scheme:dark){:root{--fg:#e4e7ea;--dim:#9aa5b0;--bg:#14181c;--card:#1d2329;--line:#"
    "343c45;"
    "--link:#7cbcf0;--bad:#ff9d8a;--badbg:#3a1d18;--good:#6fd39b}}\n"
    "*{box-sizing:border-box}body{margin:0 auto;padding:1.5rem 1.25rem "
    "4rem;max-width:72rem;background:var(--bg);color:var(--fg);"
    "font:16px/1.55 system-ui,-apple-system,'Segoe UI',Roboto,'Liberation Sans',sans-serif}\n"
    "h1{font-size:1.9rem;line-height:1.2;margin:.4rem 0 .2rem}h2{font-size:1.3rem;margin:2.4rem 0 "
    ".6rem;padding-top:.5rem;"
    "border-top:1px solid var(--line)}h3{font-size:1.05rem;margin:1.5rem 0 .3rem}\n"
    "p,li{max-width:48rem}a{color:var(--link)}nav{font-size:.92rem;color:var(--dim)}nav "
    "a{margin-right:.9rem}\n"
    ".lead{font-size:1.1rem;color:var(--dim);margin:0 0 1rem}.scroll{overflow-x:auto}\n"
    "dl.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(15rem,1fr));gap:.7rem;margin:1rem 0}"
    "dl.facts div{background:var(--card);border-radius:.5rem;padding:.55rem "
    ".8rem}dt{color:var(--dim);font-size:.82rem}"
    "dd{margin:0;overflow-wrap:anywhere}\n"
    "pre{background:var(--card);border-radius:.5rem;padding:.8rem 1rem;overflow-x:auto;font:14px/1.5 "
    "ui-monospace,"
    "'DejaVu Sans Mono',Consolas,monospace}pre.equations{border-left:3px solid var(--link);font-size:15px}"
    "code{font:.92em ui-monospace,'DejaVu Sans Mono',Consolas,monospace}\n"
    "table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums;margin:.6rem 0}"
    "th,td{padding:.28rem .6rem;border-bottom:1px solid var(--line);text-align:left;vertical-align:top}"
    "thead th,table th{color:var(--dim);font-weight:600}table.runs td:nth-child(n+2),table.runs "
    "th:nth-child(n+2),table.num "
    "td:nth-child(n+2),table.num th:nth-child(n+2){text-align:right;white-space:nowrap}"
    "table.index td:nth-child(n+7),table.index th:nth-child(n+7){text-align:right;white-space:nowrap}"
    "td small{display:block;color:var(--dim);font-size:.8em}tr.first td{border-top:2px solid var(--line)}"
    "td.worse{color:var(--bad);background:var(--badbg);font-weight:600}td.best{color:var(--good);font-weight:"
    "700}\n"
    "figure{margin:1rem 0}figure "
    "img{display:block;max-width:100%;height:auto;background:#fff;border-radius:.5rem;"
    "border:1px solid "
    "var(--line)}figcaption{color:var(--dim);font-size:.9rem;margin-top:.35rem;max-width:48rem}\n"
    "footer{margin-top:3rem;color:var(--dim);font-size:.85rem}summary{cursor:pointer;color:var(--link)}\n"
    "@media "
    "print{:root{--fg:#000;--dim:#444;--bg:#fff;--card:#f4f4f4;--line:#bbb;--link:#000;--bad:#900;--badbg:#"
    "fff;--good:#063}"
    "body{max-width:none;padding:0;font-size:10pt}nav{display:none}figure,table,pre{break-inside:avoid}h2,h3{"
    "break-after:avoid}"
    ".scroll{overflow:visible}table{font-size:7pt}}\n";

/* What a page is made of, read once. */
typedef struct report {
    const dae_report *in;
    const dae_problem *problem;
    int count;     /* measurements */
    json_t *run;   /* the run as dae_run_json writes it */
    json_t *model; /* the model file, or NULL */
} report;

/* ---- Text ---------------------------------------------------------------------------------------------- */

static void put(dae_text *f, const char *text)
{
    dae_html_text(text, strlen(text), dae_text_write, f);
}

static void fact(dae_text *f, const char *name, const char *value)
{
    if (!value || !value[0]) return;
    dae_text_print(f, "<div><dt>%s</dt><dd>", name);
    put(f, value);
    dae_text_put(f, "</dd></div>\n");
}

static void cell(dae_text *f, const char *text)
{
    dae_text_put(f, "<td>");
    put(f, text);
    dae_text_put(f, "</td>");
}

static void put_seconds(char *out, size_t size, double x)
{
    if (isfinite(x)) dae_seconds_text(x, "\xc2\xb5s", out, size);
    else dae_snprintf(out, size, "\xe2\x80\x93");
}

/* moves: the page has the viewer, whose script alone may run. */
static void begin_page(dae_text *f, const char *title, int moves)
{
    char hash[45] = "";
    if (moves) mbs_viewer_hash(hash);
    dae_text_put(
        f, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
           "content=\"width=device-width,initial-scale=1\">\n"
           "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; ");
    if (moves) dae_text_print(f, "script-src 'sha256-%s'; ", hash);
    dae_text_put(f, "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n<title>");
    put(f, title);
    dae_text_put(f, "</title>\n<style>\n");
    dae_text_put(f, style);
    dae_text_put(f, "</style></head>\n<body>\n");
}

static void end_page(dae_text *f)
{
    dae_provenance p;
    char about[1024];
    dae_provenance_now(&p);
    p.date[10] = 0; /* the day: the same results are the same page */
    dae_provenance_text(&p, about, sizeof about);
    dae_text_print(f, "<footer>Made by daedalus %s on %s from stored results. ", dae_version(), p.date);
    put(f, about);
    dae_text_put(f, ".</footer>\n</body></html>\n");
}

static double real_of(const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

static const char *text_of(const json_t *o, const char *key)
{
    const char *v = json_string_value(json_object_get(o, key));
    return v ? v : "";
}

/* ---- Pictures -------------------------------------------------------------------------------------------- */

static void put_base64(dae_text *f, const char *bytes, size_t length)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *b = (const unsigned char *)bytes;
    for (size_t i = 0; i < length; i += 3) {
        unsigned long v = (unsigned long)b[i] << 16 | (i + 1 < length ? (unsigned long)b[i + 1] << 8 : 0) |
                          (i + 2 < length ? b[i + 2] : 0);
        dae_text_fill(f, letters[v >> 18 & 63], 1);
        dae_text_fill(f, letters[v >> 12 & 63], 1);
        dae_text_fill(f, i + 1 < length ? letters[v >> 6 & 63] : '=', 1);
        dae_text_fill(f, i + 2 < length ? letters[v & 63] : '=', 1);
    }
}

/* A picture inside of the page. */
static dae_status figure(const report *p, dae_text *f, const char *what, dae_script_fn *script,
                         const void *data, const char *caption)
{
    dae_bytes svg = {0};
    dae_status s = p->in->draw(what, script, data, dae_bytes_write, &svg, p->in->user);
    if (s >= 0) {
        dae_text_put(f, "<figure><img alt=\"");
        put(f, caption);
        dae_text_put(f, "\" src=\"data:image/svg+xml;base64,");
        put_base64(f, svg.text ? svg.text : "", svg.length);
        dae_text_put(f, "\">\n<figcaption>");
        put(f, caption);
        dae_text_put(f, "</figcaption></figure>\n");
    }
    free(svg.text);
    return s;
}

static dae_status solution_script(const void *what, const char *terminal, dae_write_fn *write, void *user)
{
    return dae_run_plot(what, terminal, write, user);
}

typedef struct series {
    dae_table table;
    dae_table_plot_options options;
} series;

static dae_status series_script(const void *what, const char *terminal, dae_write_fn *write, void *user)
{
    const series *s = what;
    dae_table_plot_options o = s->options;
    o.terminal = terminal;
    return dae_table_plot(&s->table, &o, write, user);
}

/* The stored run as far as pictures need it. */
static dae_run_result run_of(const report *p)
{
    const json_t *run = p->run;
    const dae_problem *q = p->problem;
    return (dae_run_result){.problem = q,
                            .name = p->in->name,
                            .solver = text_of(run, "solver"),
                            .rtol = real_of(run, "rtol"),
                            .atol = real_of(run, "atol"),
                            .t0 = q->t0,
                            .t_end = q->t_end,
                            .n = dae_system_size(&q->system),
                            .npoint = p->in->npoint,
                            .point_t = p->in->t,
                            .point_y = p->in->y};
}

static dae_status put_solution(const report *p, dae_text *f)
{
    dae_run_result r = run_of(p);
    dae_text_put(f, "<h2 id=\"solution\">Solution</h2>\n");
    if (p->in->npoint < 2) {
        dae_text_put(f, "<p>The run gave too few points to draw.</p>\n");
        return DAE_OK;
    }
    return figure(p, f, "solution.svg", solution_script, &r,
                  p->problem->hash ? "The motion of the bodies" : "The solution over time");
}

/* ---- Sensitivities --------------------------------------------------------------------------------------- */

enum { most_rows = 60 }; /* components in the table */

static void put_number(dae_text *f, double x)
{
    char text[32] = "\xe2\x80\x93";
    if (isfinite(x)) dae_snprintf(text, sizeof text, "%.8g", x);
    cell(f, text);
}

/* dy/dp at the end of the run, and the solution with the bands that 5 % of each p make. */
static dae_status put_sensitivities(const report *p, dae_text *f)
{
    json_t *all = json_object_get(p->run, "sensitivity"), *column;
    const char *name;
    int n = dae_system_size(&p->problem->system), count = 0, last = p->in->npoint - 1;
    if (!json_is_object(all) || !json_object_size(all) || last < 0) return DAE_OK;
    const char **by = malloc(json_object_size(all) * sizeof *by);
    if (!by) return DAE_ERR_MEMORY;
    dae_text_print(f,
                   "<h2 id=\"sensitivity\">Sensitivities</h2>\n<p>What the components are at t = %.10g, and "
                   "what one unit of each parameter changes of them.</p>\n<div class=\"scroll\"><table "
                   "class=\"num\"><thead><tr><th>component</th><th>value</th>",
                   p->in->t[last]);
    json_object_foreach(all, name, column)
    {
        by[count++] = name;
        dae_text_put(f, "<th>d/d");
        put(f, name);
        dae_text_put(f, "</th>");
    }
    dae_text_put(f, "</tr></thead><tbody>\n");
    for (int i = 0; i < n && i < most_rows; i++) {
        char buffer[24];
        dae_text_put(f, "<tr>");
        cell(f, dae_component_name(p->problem, i, buffer, sizeof buffer));
        put_number(f, p->in->y[(size_t)last * (size_t)n + (size_t)i]);
        json_object_foreach(all, name, column)
        {
            const json_t *x = json_array_get(column, (size_t)i);
            put_number(f, json_is_number(x) ? json_number_value(x) : NAN);
        }
        dae_text_put(f, "</tr>\n");
    }
    dae_text_put(f, "</tbody></table></div>\n");
    if (n > most_rows) dae_text_print(f, "<p>The first %d of %d components.</p>\n", most_rows, n);
    dae_run_result r = run_of(p);
    r.sensitivity = by;
    r.nsensitivity = count;
    r.point_s = p->in->s;
    dae_status s = DAE_OK;
    if (p->in->s && last > 0)
        s = figure(p, f, "sensitivity.svg", solution_script, &r,
                   "The solution, and where it goes while each of the parameters is off by 5 %");
    free(by);
    return s;
}

/* ---- Mechanisms ------------------------------------------------------------------------------------------ */

/* Values over the trajectory, column after column: t first. */
static dae_status put_series(const report *p, dae_text *f, const char *file, const double *value,
                             const char *const *name, const char *const *unit, int ncol, int log_y,
                             const char *title, const char *caption)
{
    int y[8];
    series s = {.table = {.ncol = ncol, .nrow = p->in->npoint, .name = name, .unit = unit, .value = value},
                .options = {.y = y, .ny = ncol - 1, .log_y = log_y, .title = title, .lines = 1}};
    for (int k = 0; k < ncol - 1; k++) y[k] = k + 1;
    return figure(p, f, file, series_script, &s, caption);
}

static dae_status put_energies(const report *p, dae_text *f)
{
    static const char *const name[] = {"t", "kinetic", "potential", "total"}, *const unit[] = {"s", "J", "J",
                                                                                               "J"};
    int n = dae_system_size(&p->problem->system), good = 1;
    dae_status status = DAE_OK;
    size_t m = (size_t)p->in->npoint;
    double *value = malloc(4 * m * sizeof *value + 1);
    if (!value) return DAE_ERR_MEMORY;
    for (size_t i = 0; i < m; i++) {
        dae_energy e = {0};
        good &= mbs_mechanism_energy(mbs_problem_mechanism(p->problem), p->in->t[i], p->in->y + i * (size_t)n,
                                     &e) >= 0;
        value[i] = p->in->t[i];
        value[m + i] = e.kinetic;
        value[2 * m + i] = e.potential;
        value[3 * m + i] = e.kinetic + e.potential;
    }
    const json_t *b = json_object_get(p->run, "energy");
    if (good) {
        dae_text_put(f, "<h2 id=\"energy\">Energy</h2>\n");
        if (json_is_object(b))
            dae_text_print(
                f,
                "<p>From %.6g J to %.6g J; work of forces and drivers %.6g J; the balance is off by at "
                "most %.2g J.</p>\n",
                real_of(b, "start"), real_of(b, "end"), real_of(b, "work"), real_of(b, "imbalance"));
        status = put_series(p, f, "energy.svg", value, name, unit, 4, 0, "Energies",
                            "Kinetic, potential and total energy");
    }
    free(value);
    return status;
}

static dae_status put_residuals(const report *p, dae_text *f)
{
    static const char *const name[] = {"t", "position", "velocity"}, *const unit[] = {"s", "", ""};
    const dae_problem *q = p->problem;
    dae_options o = dae_options_default();
    dae_error err = {0};
    int n = dae_system_size(&q->system);
    dae_status status = DAE_OK;
    size_t m = (size_t)p->in->npoint;
    o.formulation = "index1";
    o.method = "radau5";
    if (q->system.mech.nlambda == 0) return DAE_OK;
    dae_formulation *form = dae_formulation_open(&q->system, &o, &(dae_options){0}, &err);
    double *value = malloc(3 * m * sizeof *value + 1), worst[2] = {0, 0};
    for (size_t i = 0; form && value && i < m; i++) {
        double r[3] = {NAN, NAN, NAN};
        if (dae_formulation_residuals(form, p->in->t[i], p->in->y + i * (size_t)n, NULL, r, &err) < 0)
            r[0] = r[1] = NAN;
        value[i] = p->in->t[i];
        for (size_t k = 0; k < 2; k++) {
            value[(k + 1) * m + i] = r[k];
            worst[k] = fmax(worst[k], r[k]);
        }
    }
    if (form && value && (worst[0] > 0 || worst[1] > 0)) {
        dae_text_print(
            f,
            "<h2 id=\"residuals\">Constraint residuals</h2>\n<p>At most %.2g in positions and %.2g in "
            "velocities.</p>\n",
            worst[0], worst[1]);
        status = put_series(p, f, "residuals.svg", value, name, unit, 3, 1, "Largest constraint residuals",
                            "How far the run leaves the constraints, by position and by velocity, at the "
                            "steps and between them, where the method "
                            "interpolates");
    }
    free(value);
    dae_formulation_destroy(form);
    return status;
}

static void put_list(dae_text *f, const json_t *list, const char *const *key, const char *const *head,
                     int count)
{
    if (json_array_size(list) == 0) return;
    dae_text_put(f, "<div class=\"scroll\"><table><thead><tr>");
    for (int k = 0; k < count; k++) dae_text_print(f, "<th>%s</th>", head[k]);
    dae_text_put(f, "</tr></thead><tbody>\n");
    for (size_t i = 0; i < json_array_size(list); i++) {
        dae_text_put(f, "<tr>");
        for (int k = 0; k < count; k++) {
            const json_t *v = json_object_get(json_array_get(list, i), key[k]);
            char *text =
                v && !json_is_string(v) ? json_dumps(v, JSON_ENCODE_ANY | JSON_REAL_PRECISION(8)) : NULL;
            cell(f, text ? text : json_is_string(v) ? json_string_value(v) : "");
            free(text);
        }
        dae_text_put(f, "</tr>\n");
    }
    dae_text_put(f, "</tbody></table></div>\n");
}

static void put_mechanism(const report *p, dae_text *f)
{
    const mbs_mechanism *c = mbs_problem_mechanism(p->problem);
    mbs_topology top = mbs_mechanism_topology(c);
    const char *const body_key[] = {"name", "mass", "inertia", "r"}, *const body_head[] = {
                                                                         "body", "mass", "inertia", "center"};
    const char *const joint_key[] = {"name", "type", "a", "b"}, *const joint_head[] = {"joint", "type", "a",
                                                                                       "b"};
    const char *const force_key[] = {"name", "type", "a", "b", "joint", "body"}, *const force_head[] = {
                                                                                     "force", "type",
                                                                                     "a",     "b",
                                                                                     "joint", "body"};
    dae_text_put(f, "<h2 id=\"description\">Mechanism</h2>\n");
    dae_text_print(f,
                   "<p>%d bod%s, %d joint%s, %d loop%s; %d coordinates &minus; %d independent constraints = "
                   "<strong>%d degree%s of "
                   "freedom</strong>.</p>\n",
                   top.bodies, top.bodies == 1 ? "y" : "ies", top.joints, top.joints == 1 ? "" : "s",
                   top.loops, top.loops == 1 ? "" : "s", top.coordinates, top.independent, top.freedom,
                   top.freedom == 1 ? "" : "s");
    for (int i = 0, row; i < top.redundant; i++) {
        const char *name = mbs_mechanism_redundant(c, i, &row);
        dae_text_print(f, "<p>Row %d of joint ", row + 1);
        put(f, name);
        dae_text_put(f, " follows from the others: its reactions are not unique.</p>\n");
    }
    for (int i = 0; mbs_mechanism_warning(c, i); i++) {
        dae_text_put(f, "<p>Warning: ");
        put(f, mbs_mechanism_warning(c, i));
        dae_text_put(f, "</p>\n");
    }
    put_list(f, json_object_get(p->model, "bodies"), body_key, body_head, 4);
    put_list(f, json_object_get(p->model, "joints"), joint_key, joint_head, 4);
    put_list(f, json_object_get(p->model, "forces"), force_key, force_head, 6);
}

/* ---- Comparison of solvers --------------------------------------------------------------------------------- */

static void put_costs(const report *p, dae_text *f)
{
    const dae_measurement *m = p->in->m;
    int count = p->count, mescd = p->in->mescd;
    double most = 0;
    for (int i = 0; i < count; i++) most = fmax(most, dae_measurement_digits(&m[i], mescd));
    int to = most < 12 ? (int)most : 12, from = to > 2 ? 2 : 1;
    dae_text_put(f, "<h3>CPU time for so many digits</h3>\n<div class=\"scroll\"><table "
                    "class=\"num\"><thead><tr><th>solver</th>");
    for (int d = from; d <= to; d++) dae_text_print(f, "<th>%d</th>", d);
    dae_text_put(f, "<th>runs</th><th>failed</th></tr></thead><tbody>\n");
    for (int k = 0; k < count; k++) {
        if (!dae_measurement_first(m, k)) continue;
        dae_cost_line line = dae_workprec_line(m, count, m[k].solver, mescd, from, to);
        dae_text_put(f, "<tr>");
        cell(f, m[k].solver);
        for (int d = from; d <= to; d++) {
            char text[32];
            put_seconds(text, sizeof text, line.seconds[d - from]);
            dae_text_print(f, "<td%s>%s</td>", line.best[d - from] ? " class=\"best\"" : "", text);
        }
        dae_text_print(f, "<td>%d</td><td>%d</td></tr>\n", line.runs, line.failed);
    }
    dae_text_put(f, "</tbody></table></div>\n");
}

typedef struct diagram {
    const dae_measurement *m;
    int count;
    dae_workprec_plot_options options;
} diagram;

static dae_status diagram_script(const void *what, const char *terminal, dae_write_fn *write, void *user)
{
    const diagram *g = what;
    dae_workprec_plot_options o = g->options;
    o.terminal = terminal;
    return dae_workprec_plot(g->m, g->count, &o, write, user);
}

static dae_status put_workprec(const report *p, dae_text *f)
{
    dae_text_put(f, "<h2 id=\"workprec\">Work and precision</h2>\n");
    if (p->count == 0) {
        dae_text_put(f, "<p>There are no runs to compare: ");
        dae_text_put(f, p->problem->reference ? "none is stored.</p>\n"
                                              : "there is no reference solution.</p>\n");
        return DAE_OK;
    }
    const dae_workprec_plot_options o = {.problem = p->problem,
                                         .settings = p->in->settings,
                                         .work = DAE_WORK_BOTH,
                                         .mescd = p->in->mescd,
                                         .reference_digits = p->in->mescd ? 0 : p->problem->reference_digits,
                                         .most_lines = p->in->most_lines};
    diagram g = {p->in->m, p->count, o};
    dae_status status =
        figure(p, f, "workprec.svg", diagram_script, &g,
               "Correct digits at the end of the interval against CPU time and evaluations of f, one point "
               "per tolerance; runs "
               "without a result stand in the gray strip");
    if (status < 0) return status;
    if (p->problem->reference_digits > 0) {
        dae_text_print(f, "<p>The reference solution has %.1f digits", p->problem->reference_digits);
        if (p->problem->reference_source) {
            dae_text_put(f, " (");
            put(f, p->problem->reference_source);
            dae_text_put(f, ")");
        }
        dae_text_put(f, ".</p>\n");
    }
    put_costs(p, f);
    return DAE_OK;
}

static void failed_row(dae_text *f, const char *solver, double rtol, const char *where, double t,
                       const char *message)
{
    dae_text_put(f, "<tr>");
    cell(f, solver);
    dae_text_print(f, "<td>%.3g</td><td>%s</td><td>", rtol, where);
    if (isfinite(t)) dae_text_print(f, "%.6g", t);
    dae_text_put(f, "</td>");
    cell(f, message);
    dae_text_put(f, "</tr>\n");
}

static const char *method_name(const report *p, int k)
{
    const dae_method_info *m = dae_solver_method_at(p->in->own, k);
    return m ? m->name : NULL;
}

/* Those that the test set report lists for a solver, in one line. */
static void put_published_failures(const report *p, dae_text *f)
{
    const dae_tolerance_range *r = dae_tolerance_range_find(p->in->name);
    int any = 0;
    for (int k = 0; r && !p->problem->hash && method_name(p, k); k++) {
        int count = 0, first = 0, last = 0;
        for (int m = 0; m <= r->last; m++) {
            if (!dae_published_failed(p->in->name, method_name(p, k), m)) continue;
            if (!count++) first = m;
            last = m;
        }
        if (!count) continue;
        if (!any++) dae_text_put(f, "<p>Failed in the test set report: ");
        dae_text_print(f, "%s%s %d %s (rtol %.2g", any > 1 ? "; " : "", method_name(p, k), count,
                       count == 1 ? "run" : "runs", pow(10, -(r->a + first * r->b)));
        if (last > first) dae_text_print(f, " to %.2g", pow(10, -(r->a + last * r->b)));
        dae_text_put(f, ")");
    }
    if (any) dae_text_put(f, ".</p>\n");
}

static int put_failed(const report *p, dae_text *f)
{
    int count = 0;
    for (int i = 0; i < p->count; i++) count += p->in->m[i].status < 0;
    for (int i = 0; i < p->in->nrow; i++) count += p->in->row[i].run.status < 0;
    dae_text_put(f, "<h2 id=\"failed\">Failed runs</h2>\n");
    if (!count) dae_text_put(f, "<p>None.</p>\n");
    else
        dae_text_put(f, "<div class=\"scroll\"><table><thead><tr><th>solver</th><th>rtol</th><th>run "
                        "of</th><th>stopped at t</th><th>why</th>"
                        "</tr></thead><tbody>\n");
    for (int i = 0; i < p->count; i++) {
        if (p->in->m[i].status < 0)
            failed_row(f, p->in->m[i].solver, p->in->m[i].rtol, "diagram", p->in->m[i].t,
                       p->in->m[i].message);
    }
    for (int i = 0; i < p->in->nrow; i++) {
        if (p->in->row[i].run.status < 0)
            failed_row(f, p->in->row[i].run.solver, p->in->row[i].run.rtol, "table", NAN,
                       p->in->row[i].run.message);
    }
    if (count) dae_text_put(f, "</tbody></table></div>\n");
    put_published_failures(p, f);
    return count;
}

/* ---- The page ---------------------------------------------------------------------------------------------- */

static void put_facts(const report *p, dae_text *f)
{
    const json_t *run = p->run;
    const dae_problem *q = p->problem;
    char text[400], time[32];
    dae_text_put(f, "<dl class=\"facts\">\n");
    dae_snprintf(text, sizeof text, "%s%s", dae_kind_name(q->system.kind), q->info->stiff ? ", stiff" : "");
    if (q->info->index > 0 && q->system.kind != DAE_KIND_ODE)
        dae_snprintf(text + strlen(text), sizeof text - strlen(text), ", index %d", q->info->index);
    fact(f, "Kind", text);
    dae_snprintf(text, sizeof text, "%d equations", dae_system_size(&q->system));
    fact(f, "Size", text);
    dae_snprintf(text, sizeof text, "%g \xe2\x89\xa4 t \xe2\x89\xa4 %g%s%s", q->t0, q->t_end,
                 q->time_unit ? " " : "", q->time_unit ? q->time_unit : "");
    fact(f, "Interval", text);
    dae_snprintf(text, sizeof text, "rtol %g, atol %g", real_of(run, "rtol"), real_of(run, "atol"));
    fact(f, "Tolerances of the run", text);
    dae_snprintf(text, sizeof text, "%s%s%s%s%s%s", text_of(run, "solver"),
                 text_of(run, "formulation")[0] ? ", " : "", text_of(run, "formulation"),
                 text_of(run, "reason")[0] ? " (" : "", text_of(run, "reason"),
                 text_of(run, "reason")[0] ? ")" : "");
    fact(f, "Solver of the run", text);
    put_seconds(time, sizeof time, real_of(run, "cpu_seconds"));
    dae_snprintf(text, sizeof text, "%.0f steps, %.0f f, %.0f Jacobians, %.0f LU, %s", real_of(run, "steps"),
                 real_of(run, "f"), real_of(run, "jac"), real_of(run, "lu"), time);
    fact(f, "Work of the run", text);
    if (isfinite(real_of(run, "mescd"))) {
        if (isfinite(real_of(run, "scd")))
            dae_snprintf(text, sizeof text, "scd %.2f, mescd %.2f", real_of(run, "scd"),
                         real_of(run, "mescd"));
        else dae_snprintf(text, sizeof text, "mescd %.2f", real_of(run, "mescd"));
        fact(f, "Digits of the run", text);
    }
    if (strcmp(text_of(run, "status"), "ok") != 0) fact(f, "Status of the run", text_of(run, "message"));
    fact(f, "Origin", q->info->origin);
    dae_text_put(f, "</dl>\n");
}

static void put_description(const report *p, dae_text *f)
{
    const char *doc = dae_problem_doc(p->in->name);
    if (!doc) return;
    if (doc[0] == '#' && strchr(doc, '\n')) doc = strchr(doc, '\n') + 1; /* the title stands above */
    dae_text_put(f, "<h2 id=\"description\">Description</h2>\n");
    dae_markdown_html(doc, strlen(doc), 1, dae_text_write, f);
}

static void put_table(const report *p, dae_text *f)
{
    if (!p->in->nrow) return;
    dae_text_put(
        f, "<h2 id=\"table\">Run characteristics</h2>\n<p>Ours, and small below them the figures printed in "
           "the test set report with "
           "their ratio; its CPU seconds are those of a 667 MHz Alpha. Red: digits more than 0.7 (radau5, "
           "radau, ida, cvode) or 0.5 "
           "(others) below the printed ones, steps or f above 1.6 or 1.3 times them, or a failed "
           "run.</p>\n<div class=\"scroll\">");
    dae_results_write(p->in->row, p->in->nrow, "html", dae_text_write, f);
    dae_text_put(f, "</div>\n");
}

static void put_motion(const report *p, dae_text *f)
{
    mbs_track track = {.n = p->in->npoint, .t = p->in->t, .y = p->in->y};
    dae_text_put(f, "<h2 id=\"motion\">Motion</h2>\n");
    if (mbs_write_motion(p->problem, &track, MBS_SHOW_PART, dae_text_write, f) < 0)
        dae_text_put(f, "<p>The motion could not be drawn.</p>\n");
}

/* The title beside the name, "" where it is the same. */
static const char *words_of(const dae_report *in)
{
    const char *title = in->problem->info->title;
    return title && strcmp(title, in->name) != 0 ? title : "";
}

static dae_status put_page(const report *p, dae_text *f, int *failed)
{
    int model = mbs_problem_mechanism(p->problem) != NULL,
        mechanical = p->problem->system.kind == DAE_KIND_MECH;
    int moves = model && p->in->npoint > 1 && mbs_viewer_built_in();
    char title[256];
    const char *words = words_of(p->in);
    dae_snprintf(title, sizeof title, "%s%s%s", p->in->name, words[0] ? ": " : "", words);
    begin_page(f, title, moves);
    dae_text_put(f, "<nav><a href=\"index.html\">All problems</a><a href=\"#description\">Description</a><a "
                    "href=\"#solution\">Solution</a>");
    if (json_object_get(p->run, "sensitivity")) dae_text_put(f, "<a href=\"#sensitivity\">Sensitivities</a>");
    if (p->in->nrow) dae_text_put(f, "<a href=\"#table\">Run characteristics</a>");
    dae_text_put(
        f, "<a href=\"#workprec\">Work and precision</a><a href=\"#failed\">Failed runs</a></nav>\n<h1>");
    put(f, p->in->name);
    dae_text_put(f, "</h1>\n<p class=\"lead\">");
    put(f, words);
    dae_text_put(f, "</p>\n");
    put_facts(p, f);
    if (model) put_mechanism(p, f);
    else put_description(p, f);
    if (moves) put_motion(p, f);
    dae_status status = put_solution(p, f);
    if (status >= 0 && model && p->in->npoint > 1) status = put_energies(p, f);
    if (status >= 0 && mechanical && p->in->npoint > 1) status = put_residuals(p, f);
    if (status >= 0) status = put_sensitivities(p, f);
    if (status < 0) return status;
    if (p->in->layout) {
        dae_text_put(f, "<details><summary>The run in the layout of the test set</summary>\n<pre>");
        put(f, p->in->layout);
        dae_text_put(f, "</pre></details>\n");
    }
    put_table(p, f);
    status = put_workprec(p, f);
    *failed = put_failed(p, f);
    end_page(f);
    return status;
}

dae_status dae_report_page(const dae_report *in, dae_write_fn *write, void *user, int *failed)
{
    dae_text f = {.write = write, .user = user};
    int ours = 0;
    report p = {.in = in,
                .problem = in->problem,
                .count = in->count,
                .run = in->run ? json_loads(in->run, 0, NULL) : NULL,
                .model = in->model ? json_loads(in->model, 0, NULL) : NULL};
    dae_status s = put_page(&p, &f, failed ? failed : &ours);
    json_decref(p.run);
    json_decref(p.model);
    return s < 0 ? s : dae_text_end(&f);
}

dae_status dae_report_about(const dae_report *in, int failed, dae_write_fn *write, void *user)
{
    char hash[24];
    dae_snprintf(hash, sizeof hash, "%016llx", in->problem->hash);
    json_t *run = in->run ? json_loads(in->run, 0, NULL) : NULL;
    json_t *o = json_pack("{s:s,s:s,s:s,s:b,s:o,s:s}", "name", in->name, "version", dae_version(), "hash",
                          hash, "model", in->problem->hash != 0, "run", run ? run : json_null(), "report",
                          in->layout ? in->layout : "");
    if (o && failed >= 0) { /* what the index shows */
        json_object_set_new(o, "title", json_string(words_of(in)));
        json_object_set_new(o, "kind", json_string(dae_kind_name(in->problem->system.kind)));
        json_object_set_new(o, "n", json_integer(dae_system_size(&in->problem->system)));
        json_object_set_new(o, "index", json_integer(in->problem->info->index));
        json_object_set_new(o, "runs", json_integer(in->count + in->nrow));
        json_object_set_new(o, "failed", json_integer(failed));
    }
    return dae_json_line(o, write, user);
}

int dae_report_kept(const char *about, size_t length, const dae_problem *p, int any, char **run,
                    char **layout, int *damaged)
{
    json_t *o = about ? json_loadb(about, length, 0, NULL) : NULL, *kept = json_object_get(o, "run");
    const char *version = json_string_value(json_object_get(o, "version")),
               *hash = json_string_value(json_object_get(o, "hash")),
               *text = json_string_value(json_object_get(o, "report"));
    char own[24];
    dae_snprintf(own, sizeof own, "%016llx", p->hash);
    *run = *layout = NULL;
    if (damaged) *damaged = about && !o;
    int good = kept && (any || (version && hash && !strcmp(version, dae_version()) && !strcmp(hash, own)));
    if (good) *run = json_dumps(kept, JSON_COMPACT | JSON_REAL_PRECISION(17));
    if (good && text) *layout = strdup(text);
    json_decref(o);
    return good;
}

dae_status dae_report_json(const dae_report *in, const char *page, dae_write_fn *write, void *user)
{
    json_t *run = in->run ? json_loads(in->run, 0, NULL) : NULL;
    return dae_json_line(json_pack("{s:s, s:s, s:o?}", "name", in->name, "page", page, "run", run), write,
                         user);
}

/* ---- The index --------------------------------------------------------------------------------------------- */

typedef struct entry {
    json_t *about;
    int order; /* of the problem, models after them */
} entry;

static int by_order(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->order != y->order) return x->order < y->order ? -1 : 1;
    return strcmp(text_of(x->about, "name"), text_of(y->about, "name"));
}

static int order_of(const char *name)
{
    for (int i = 0; i < dae_problem_count(); i++) {
        if (!strcmp(dae_problem_get(i)->name, name)) return i;
    }
    return dae_problem_count();
}

static void put_entry(dae_text *f, const json_t *o)
{
    const json_t *run = json_object_get(o, "run");
    char time[32], digits[32] = "\xe2\x80\x93";
    double scd = real_of(run, "scd"), failed = real_of(o, "failed");
    if (!isfinite(scd)) scd = real_of(run, "mescd");
    if (isfinite(scd)) dae_snprintf(digits, sizeof digits, "%.1f", scd);
    put_seconds(time, sizeof time, real_of(run, "cpu_seconds"));
    dae_text_put(f, "<tr><td><a href=\"");
    dae_html_address(text_of(o, "name"), dae_text_write, f);
    dae_text_put(f, ".html\">");
    put(f, text_of(o, "name"));
    dae_text_put(f, "</a></td>");
    cell(f, text_of(o, "title"));
    cell(f, json_is_true(json_object_get(o, "model")) ? "model" : text_of(o, "kind"));
    dae_text_print(f, "<td>%.0f</td><td>%.0f</td>", real_of(o, "n"), real_of(o, "index"));
    cell(f, text_of(run, "solver"));
    dae_text_print(f, "<td>%s</td><td>%s</td><td>%.0f</td><td%s>%.0f</td></tr>\n", digits, time,
                   real_of(o, "runs"), failed > 0 ? " class=\"worse\"" : "", failed);
}

static void put_index(dae_text *f, const entry *list, int count)
{
    begin_page(f, "Daedalus: problems and models", 0);
    dae_text_put(
        f, "<h1>Problems and models</h1>\n<p class=\"lead\">Each page has the equations, the solution, run "
           "characteristics beside those of "
           "the test set report, work-precision diagrams and the runs that failed.</p>\n<div "
           "class=\"scroll\"><table class=\"index\"><thead><tr>"
           "<th>name</th><th>title</th><th>kind</th><th>n</th><th>index</th><th>solver</th><th>digits</"
           "th><th>CPU</th><th>runs</th>"
           "<th>failed</th></tr></thead><tbody>\n");
    for (int i = 0; i < count; i++) put_entry(f, list[i].about);
    dae_text_put(
        f, "</tbody></table></div>\n<p>Solver, digits and CPU time are those of the run with the problem's "
           "own tolerances; the last "
           "columns count the runs of diagrams and tables.</p>\n");
    end_page(f);
}

dae_status dae_report_index(const char *const *about, int count, dae_write_fn *write, void *user)
{
    dae_text f = {.write = write, .user = user};
    entry *list = calloc((size_t)count + 1, sizeof *list);
    int n = 0;
    if (!list) return DAE_ERR_MEMORY;
    for (int i = 0; i < count; i++) {
        json_t *o = json_loads(about[i], 0, NULL);
        if (!json_object_get(o, "title")) json_decref(o); /* its page was not finished */
        else list[n++] = (entry){o, order_of(text_of(o, "name"))};
    }
    qsort(list, (size_t)n, sizeof *list, by_order);
    put_index(&f, list, n);
    for (int i = 0; i < n; i++) json_decref(list[i].about);
    free(list);
    return dae_text_end(&f);
}
