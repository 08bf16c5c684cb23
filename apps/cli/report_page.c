/* The page of a problem or model, and the index: HTML that needs nothing but itself. Pictures are SVG in data: addresses,
 * so that the names inside of them do not meet. */
#include "report.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
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

/* ---- Text ---------------------------------------------------------------------------------------------- */

static void put(FILE *f, const char *text)
{
    dae_html_text(text, strlen(text), cli_write_file, f);
}

static void fact(FILE *f, const char *name, const char *value)
{
    if (!value || !value[0]) return;
    fprintf(f, "<div><dt>%s</dt><dd>", name);
    put(f, value);
    fputs("</dd></div>\n", f);
}

static void cell(FILE *f, const char *text)
{
    fputs("<td>", f);
    put(f, text);
    fputs("</td>", f);
}

static void put_seconds(char *out, size_t size, double x)
{
    if (!isfinite(x)) snprintf(out, size, "\xe2\x80\x93");
    else if (x < 1e-3) snprintf(out, size, "%.3g \xc2\xb5s", 1e6 * x);
    else if (x < 1) snprintf(out, size, "%.3g ms", 1e3 * x);
    else snprintf(out, size, "%.3g s", x);
}

/* moves: the page has the viewer, whose script alone may run. */
static void begin_page(FILE *f, const char *title, int moves)
{
    char hash[45] = "";
    if (moves) mbs_viewer_hash(hash);
    fputs("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
          "content=\"width=device-width,initial-scale=1\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; ",
          f);
    if (moves) fprintf(f, "script-src 'sha256-%s'; ", hash);
    fputs("style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n<title>", f);
    put(f, title);
    fprintf(f, "</title>\n<style>\n%s</style></head>\n<body>\n", style);
}

static void end_page(FILE *f)
{
    dae_provenance p;
    char about[1024];
    dae_provenance_now(&p);
    p.date[10] = 0; /* the day: the same results are the same page */
    dae_provenance_text(&p, about, sizeof about);
    fprintf(f, "<footer>Made by daedalus %s on %s from stored results. ", dae_version(), p.date);
    put(f, about);
    fputs(".</footer>\n</body></html>\n", f);
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

static void put_base64(FILE *f, const char *bytes, size_t length)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *b = (const unsigned char *)bytes;
    for (size_t i = 0; i < length; i += 3) {
        unsigned long v = (unsigned long)b[i] << 16 | (i + 1 < length ? (unsigned long)b[i + 1] << 8 : 0) |
                          (i + 2 < length ? b[i + 2] : 0);
        fputc(letters[v >> 18 & 63], f);
        fputc(letters[v >> 12 & 63], f);
        fputc(i + 1 < length ? letters[v >> 6 & 63] : '=', f);
        fputc(i + 2 < length ? letters[v & 63] : '=', f);
    }
}

/* Draws data/NAME.what.svg and puts it into the page. */
static int figure(const cli_page *p, FILE *f, const char *what, cli_script_fn *script, const void *data,
                  const char *caption)
{
    char path[1100];
    size_t length;
    cli_page_path(p, what, path, sizeof path);
    if (cli_plot(p->args, "--plot", path, script, data)) return EXIT_USAGE;
    char *svg = cli_read_file(path, &length);
    if (!svg) return cli_wrong(p->args, "%s: %s", path, strerror(errno));
    fputs("<figure><img alt=\"", f);
    put(f, caption);
    fputs("\" src=\"data:image/svg+xml;base64,", f);
    put_base64(f, svg, length);
    fputs("\">\n<figcaption>", f);
    put(f, caption);
    fputs("</figcaption></figure>\n", f);
    free(svg);
    return 0;
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

static int put_solution(const cli_page *p, FILE *f)
{
    const json_t *run = json_object_get(p->about, "run");
    const dae_problem *q = p->study.problem;
    dae_run_result r = {.problem = q,
                        .name = p->name,
                        .solver = text_of(run, "solver"),
                        .rtol = real_of(run, "rtol"),
                        .atol = real_of(run, "atol"),
                        .t0 = q->t0,
                        .t_end = q->t_end,
                        .n = dae_system_size(&q->system),
                        .npoint = p->npoint,
                        .point_t = p->t,
                        .point_y = p->y};
    fputs("<h2 id=\"solution\">Solution</h2>\n", f);
    if (p->npoint < 2) {
        fputs("<p>The run gave too few points to draw.</p>\n", f);
        return 0;
    }
    return figure(p, f, "solution.svg", solution_script, &r,
                  p->study.problem->hash ? "The motion of the bodies" : "The solution over time");
}

/* ---- Mechanisms ------------------------------------------------------------------------------------------ */

/* Values over the trajectory, column after column: t first. */
static int put_series(const cli_page *p, FILE *f, const char *file, const double *value,
                      const char *const *name, const char *const *unit, int ncol, int log_y,
                      const char *title, const char *caption)
{
    int y[8];
    series s = {.table = {.ncol = ncol, .nrow = p->npoint, .name = name, .unit = unit, .value = value},
                .options = {.y = y, .ny = ncol - 1, .log_y = log_y, .title = title, .lines = 1}};
    for (int k = 0; k < ncol - 1; k++) y[k] = k + 1;
    return figure(p, f, file, series_script, &s, caption);
}

static int put_energies(const cli_page *p, FILE *f)
{
    static const char *const name[] = {"t", "kinetic", "potential", "total"}, *const unit[] = {"s", "J", "J",
                                                                                               "J"};
    int n = dae_system_size(&p->study.problem->system), good = 1, status = 0;
    size_t m = (size_t)p->npoint;
    double *value = malloc(4 * m * sizeof *value + 1);
    if (!value) return cli_wrong(p->args, "out of memory");
    for (size_t i = 0; i < m; i++) {
        dae_energy e = {0};
        good &= mbs_mechanism_energy(mbs_problem_mechanism(p->study.problem), p->t[i], p->y + i * (size_t)n,
                                     &e) >= 0;
        value[i] = p->t[i];
        value[m + i] = e.kinetic;
        value[2 * m + i] = e.potential;
        value[3 * m + i] = e.kinetic + e.potential;
    }
    const json_t *b = json_object_get(json_object_get(p->about, "run"), "energy");
    if (good) {
        fputs("<h2 id=\"energy\">Energy</h2>\n", f);
        if (json_is_object(b))
            fprintf(f,
                    "<p>From %.6g J to %.6g J; work of forces and drivers %.6g J; the balance is off by at "
                    "most %.2g J.</p>\n",
                    real_of(b, "start"), real_of(b, "end"), real_of(b, "work"), real_of(b, "imbalance"));
        status = put_series(p, f, "energy.svg", value, name, unit, 4, 0, "Energies",
                            "Kinetic, potential and total energy");
    }
    free(value);
    return status;
}

static int put_residuals(const cli_page *p, FILE *f)
{
    static const char *const name[] = {"t", "position", "velocity"}, *const unit[] = {"s", "", ""};
    const dae_problem *q = p->study.problem;
    dae_options o = dae_options_default();
    dae_error err = {0};
    int n = dae_system_size(&q->system), status = 0;
    size_t m = (size_t)p->npoint;
    o.formulation = "index1";
    o.method = "radau5";
    if (q->system.mech.nlambda == 0) return 0;
    dae_formulation *form = dae_formulation_open(&q->system, &o, &(dae_options){0}, &err);
    double *value = malloc(3 * m * sizeof *value + 1), worst[2] = {0, 0};
    for (size_t i = 0; form && value && i < m; i++) {
        double r[3] = {NAN, NAN, NAN};
        if (dae_formulation_residuals(form, p->t[i], p->y + i * (size_t)n, NULL, r, &err) < 0)
            r[0] = r[1] = NAN;
        value[i] = p->t[i];
        for (size_t k = 0; k < 2; k++) {
            value[(k + 1) * m + i] = r[k];
            worst[k] = fmax(worst[k], r[k]);
        }
    }
    if (form && value && (worst[0] > 0 || worst[1] > 0)) {
        fprintf(f,
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

static void put_list(FILE *f, const json_t *list, const char *const *key, const char *const *head, int count)
{
    if (json_array_size(list) == 0) return;
    fputs("<div class=\"scroll\"><table><thead><tr>", f);
    for (int k = 0; k < count; k++) fprintf(f, "<th>%s</th>", head[k]);
    fputs("</tr></thead><tbody>\n", f);
    for (size_t i = 0; i < json_array_size(list); i++) {
        fputs("<tr>", f);
        for (int k = 0; k < count; k++) {
            const json_t *v = json_object_get(json_array_get(list, i), key[k]);
            char *text =
                v && !json_is_string(v) ? json_dumps(v, JSON_ENCODE_ANY | JSON_REAL_PRECISION(8)) : NULL;
            cell(f, text ? text : json_is_string(v) ? json_string_value(v) : "");
            free(text);
        }
        fputs("</tr>\n", f);
    }
    fputs("</tbody></table></div>\n", f);
}

static void put_mechanism(const cli_page *p, FILE *f)
{
    const mbs_mechanism *c = mbs_problem_mechanism(p->study.problem);
    mbs_topology top = mbs_mechanism_topology(c);
    const char *const body_key[] = {"name", "mass", "inertia", "r"}, *const body_head[] = {
                                                                         "body", "mass", "inertia", "center"};
    const char *const joint_key[] = {"name", "type", "a", "b"}, *const joint_head[] = {"joint", "type", "a",
                                                                                       "b"};
    const char *const force_key[] = {"name", "type", "a", "b", "joint", "body"}, *const force_head[] = {
                                                                                     "force", "type",
                                                                                     "a",     "b",
                                                                                     "joint", "body"};
    fputs("<h2 id=\"description\">Mechanism</h2>\n", f);
    fprintf(f,
            "<p>%d bod%s, %d joint%s, %d loop%s; %d coordinates &minus; %d independent constraints = "
            "<strong>%d degree%s of "
            "freedom</strong>.</p>\n",
            top.bodies, top.bodies == 1 ? "y" : "ies", top.joints, top.joints == 1 ? "" : "s", top.loops,
            top.loops == 1 ? "" : "s", top.coordinates, top.independent, top.freedom,
            top.freedom == 1 ? "" : "s");
    for (int i = 0, row; i < top.redundant; i++) {
        const char *name = mbs_mechanism_redundant(c, i, &row);
        fprintf(f, "<p>Row %d of joint ", row + 1);
        put(f, name);
        fputs(" follows from the others: its reactions are not unique.</p>\n", f);
    }
    for (int i = 0; mbs_mechanism_warning(c, i); i++) {
        fputs("<p>Warning: ", f);
        put(f, mbs_mechanism_warning(c, i));
        fputs("</p>\n", f);
    }
    put_list(f, json_object_get(p->model, "bodies"), body_key, body_head, 4);
    put_list(f, json_object_get(p->model, "joints"), joint_key, joint_head, 4);
    put_list(f, json_object_get(p->model, "forces"), force_key, force_head, 6);
}

/* ---- Comparison of solvers --------------------------------------------------------------------------------- */

static void put_costs(const cli_study *s, FILE *f)
{
    double most = 0;
    for (int i = 0; i < s->count; i++) most = fmax(most, dae_measurement_digits(&s->m[i], s->mescd));
    int to = most < 12 ? (int)most : 12, from = to > 2 ? 2 : 1;
    fprintf(f, "<h3>CPU time for so many digits</h3>\n<div class=\"scroll\"><table "
               "class=\"num\"><thead><tr><th>solver</th>");
    for (int d = from; d <= to; d++) fprintf(f, "<th>%d</th>", d);
    fputs("<th>runs</th><th>failed</th></tr></thead><tbody>\n", f);
    for (int k = 0; k < s->nsolver; k++) {
        int runs = 0, failed = 0;
        const char *name = s->solver[k].label;
        for (int i = 0; i < s->count; i++) {
            if (strcmp(s->m[i].solver, name) != 0) continue;
            runs++;
            failed += s->m[i].status < 0;
        }
        if (!runs) continue;
        fputs("<tr>", f);
        cell(f, name);
        for (int d = from; d <= to; d++) {
            char text[32];
            double mine = dae_workprec_cost(s->m, s->count, name, d, s->mescd, DAE_WORK_SECONDS);
            int best = isfinite(mine);
            for (int j = 0; best && j < s->nsolver; j++)
                best = !(dae_workprec_cost(s->m, s->count, s->solver[j].label, d, s->mescd,
                                           DAE_WORK_SECONDS) < mine);
            put_seconds(text, sizeof text, mine);
            fprintf(f, "<td%s>%s</td>", best ? " class=\"best\"" : "", text);
        }
        fprintf(f, "<td>%d</td><td>%d</td></tr>\n", runs, failed);
    }
    fputs("</tbody></table></div>\n", f);
}

static int put_workprec(const cli_page *p, FILE *f)
{
    const cli_study *s = &p->study;
    fputs("<h2 id=\"workprec\">Work and precision</h2>\n", f);
    if (s->count == 0) {
        fputs("<p>There are no runs to compare: ", f);
        fputs(s->problem->reference ? "none is stored.</p>\n" : "there is no reference solution.</p>\n", f);
        return 0;
    }
    if (figure(p, f, "workprec.svg", cli_study_script, s,
               "Correct digits at the end of the interval against CPU time and evaluations of f, one point "
               "per tolerance; runs "
               "without a result stand in the gray strip"))
        return EXIT_USAGE;
    if (s->problem->reference_digits > 0) {
        fprintf(f, "<p>The reference solution has %.1f digits", s->problem->reference_digits);
        if (s->problem->reference_source) {
            fputs(" (", f);
            put(f, s->problem->reference_source);
            fputs(")", f);
        }
        fputs(".</p>\n", f);
    }
    put_costs(s, f);
    return 0;
}

static void failed_row(FILE *f, const char *solver, double rtol, const char *where, double t,
                       const char *message)
{
    fputs("<tr>", f);
    cell(f, solver);
    fprintf(f, "<td>%.3g</td><td>%s</td><td>", rtol, where);
    if (isfinite(t)) fprintf(f, "%.6g", t);
    fputs("</td>", f);
    cell(f, message);
    fputs("</tr>\n", f);
}

/* Those that the test set report lists for a solver, in one line. */
static void put_published_failures(const cli_page *p, FILE *f)
{
    const dae_tolerance_range *r = dae_tolerance_range_find(p->name);
    int any = 0;
    for (int k = 0; r && !p->study.problem->hash && cli_solver_name(k); k++) {
        int count = 0, first = 0, last = 0;
        for (int m = 0; m <= r->last; m++) {
            if (!dae_published_failed(p->name, cli_solver_name(k), m)) continue;
            if (!count++) first = m;
            last = m;
        }
        if (!count) continue;
        if (!any++) fputs("<p>Failed in the test set report: ", f);
        fprintf(f, "%s%s %d %s (rtol %.2g", any > 1 ? "; " : "", cli_solver_name(k), count,
                count == 1 ? "run" : "runs", pow(10, -(r->a + first * r->b)));
        if (last > first) fprintf(f, " to %.2g", pow(10, -(r->a + last * r->b)));
        fputs(")", f);
    }
    if (any) fputs(".</p>\n", f);
}

static int put_failed(const cli_page *p, FILE *f)
{
    const cli_study *s = &p->study;
    int count = 0;
    for (int i = 0; i < s->count; i++) count += s->m[i].status < 0;
    for (int i = 0; i < p->nrow; i++) count += p->row[i].run.status < 0;
    fputs("<h2 id=\"failed\">Failed runs</h2>\n", f);
    if (!count) fputs("<p>None.</p>\n", f);
    else
        fputs("<div class=\"scroll\"><table><thead><tr><th>solver</th><th>rtol</th><th>run "
              "of</th><th>stopped at t</th><th>why</th>"
              "</tr></thead><tbody>\n",
              f);
    for (int i = 0; i < s->count; i++) {
        if (s->m[i].status < 0)
            failed_row(f, s->m[i].solver, s->m[i].rtol, "diagram", s->m[i].t, s->m[i].message);
    }
    for (int i = 0; i < p->nrow; i++) {
        if (p->row[i].run.status < 0)
            failed_row(f, p->row[i].run.solver, p->row[i].run.rtol, "table", NAN, p->row[i].run.message);
    }
    if (count) fputs("</tbody></table></div>\n", f);
    put_published_failures(p, f);
    return count;
}

/* ---- The page ---------------------------------------------------------------------------------------------- */

static void put_facts(const cli_page *p, FILE *f)
{
    const json_t *run = json_object_get(p->about, "run");
    const dae_problem *q = p->study.problem;
    char text[400], time[32];
    fputs("<dl class=\"facts\">\n", f);
    snprintf(text, sizeof text, "%s%s", dae_kind_name(q->system.kind), q->info->stiff ? ", stiff" : "");
    if (q->info->index > 0 && q->system.kind != DAE_KIND_ODE)
        snprintf(text + strlen(text), sizeof text - strlen(text), ", index %d", q->info->index);
    fact(f, "Kind", text);
    snprintf(text, sizeof text, "%d equations", dae_system_size(&q->system));
    fact(f, "Size", text);
    snprintf(text, sizeof text, "%g \xe2\x89\xa4 t \xe2\x89\xa4 %g%s%s", q->t0, q->t_end,
             q->time_unit ? " " : "", q->time_unit ? q->time_unit : "");
    fact(f, "Interval", text);
    snprintf(text, sizeof text, "rtol %g, atol %g", real_of(run, "rtol"), real_of(run, "atol"));
    fact(f, "Tolerances of the run", text);
    snprintf(text, sizeof text, "%s%s%s%s%s%s", text_of(run, "solver"),
             text_of(run, "formulation")[0] ? ", " : "", text_of(run, "formulation"),
             text_of(run, "reason")[0] ? " (" : "", text_of(run, "reason"),
             text_of(run, "reason")[0] ? ")" : "");
    fact(f, "Solver of the run", text);
    put_seconds(time, sizeof time, real_of(run, "cpu_seconds"));
    snprintf(text, sizeof text, "%.0f steps, %.0f f, %.0f Jacobians, %.0f LU, %s", real_of(run, "steps"),
             real_of(run, "f"), real_of(run, "jac"), real_of(run, "lu"), time);
    fact(f, "Work of the run", text);
    if (isfinite(real_of(run, "mescd"))) {
        if (isfinite(real_of(run, "scd")))
            snprintf(text, sizeof text, "scd %.2f, mescd %.2f", real_of(run, "scd"), real_of(run, "mescd"));
        else snprintf(text, sizeof text, "mescd %.2f", real_of(run, "mescd"));
        fact(f, "Digits of the run", text);
    }
    if (strcmp(text_of(run, "status"), "ok") != 0) fact(f, "Status of the run", text_of(run, "message"));
    fact(f, "Origin", q->info->origin);
    fputs("</dl>\n", f);
}

static void put_description(const cli_page *p, FILE *f)
{
    const char *doc = dae_problem_doc(p->name);
    if (!doc) return;
    if (doc[0] == '#' && strchr(doc, '\n')) doc = strchr(doc, '\n') + 1; /* the title stands above */
    fputs("<h2 id=\"description\">Description</h2>\n", f);
    dae_markdown_html(doc, strlen(doc), 1, cli_write_file, f);
}

static void put_table(const cli_page *p, FILE *f)
{
    if (!p->nrow) return;
    fputs("<h2 id=\"table\">Run characteristics</h2>\n<p>Ours, and small below them the figures printed in "
          "the test set report with "
          "their ratio; its CPU seconds are those of a 667 MHz Alpha. Red: digits more than 0.7 (radau5, "
          "radau, ida, cvode) or 0.5 "
          "(others) below the printed ones, steps or f above 1.6 or 1.3 times them, or a failed "
          "run.</p>\n<div class=\"scroll\">",
          f);
    dae_results_write(p->row, p->nrow, "html", cli_write_file, f);
    fputs("</div>\n", f);
}

static void put_motion(const cli_page *p, FILE *f)
{
    mbs_track track = {.n = p->npoint, .t = p->t, .y = p->y};
    fputs("<h2 id=\"motion\">Motion</h2>\n", f);
    if (mbs_write_motion(p->study.problem, &track, MBS_SHOW_PART, cli_write_file, f) < 0)
        fputs("<p>The motion could not be drawn.</p>\n", f);
}

static int put_page(cli_page *p, FILE *f)
{
    const dae_problem_info *info = p->study.problem->info;
    int model = mbs_problem_mechanism(p->study.problem) != NULL,
        mechanical = p->study.problem->system.kind == DAE_KIND_MECH;
    int moves = model && p->npoint > 1 && mbs_viewer_built_in();
    char title[256];
    const char *words = info->title && strcmp(info->title, p->name) ? info->title : "";
    snprintf(title, sizeof title, "%s%s%s", p->name, words[0] ? ": " : "", words);
    begin_page(f, title, moves);
    fputs("<nav><a href=\"index.html\">All problems</a><a href=\"#description\">Description</a><a "
          "href=\"#solution\">Solution</a>",
          f);
    if (p->nrow) fputs("<a href=\"#table\">Run characteristics</a>", f);
    fputs("<a href=\"#workprec\">Work and precision</a><a href=\"#failed\">Failed runs</a></nav>\n<h1>", f);
    put(f, p->name);
    fputs("</h1>\n<p class=\"lead\">", f);
    put(f, words);
    fputs("</p>\n", f);
    put_facts(p, f);
    if (model) put_mechanism(p, f);
    else put_description(p, f);
    if (moves) put_motion(p, f);
    int status = put_solution(p, f);
    if (!status && model && p->npoint > 1) status = put_energies(p, f);
    if (!status && mechanical && p->npoint > 1) status = put_residuals(p, f);
    if (status) return status;
    if (p->report) {
        fputs("<details><summary>The run in the layout of the test set</summary>\n<pre>", f);
        put(f, p->report);
        fputs("</pre></details>\n", f);
    }
    put_table(p, f);
    status = put_workprec(p, f);
    int failed = put_failed(p, f);
    end_page(f);
    json_object_set_new(p->about, "title", json_string(words));
    json_object_set_new(p->about, "kind", json_string(dae_kind_name(p->study.problem->system.kind)));
    json_object_set_new(p->about, "n", json_integer(dae_system_size(&p->study.problem->system)));
    json_object_set_new(p->about, "index", json_integer(info->index));
    json_object_set_new(p->about, "runs", json_integer(p->study.count + p->nrow));
    json_object_set_new(p->about, "failed", json_integer(failed));
    return status;
}

/* Writes with put into path, whole or not at all. */
static int replace(const cli_args *args, const char *path, int (*write)(void *what, FILE *f), void *what)
{
    cli_draft d;
    if (cli_draft_begin(args, &d, NULL, path)) return EXIT_USAGE;
    int status = write(what, d.file);
    if (!status) return cli_draft_end(args, &d, 0);
    cli_draft_drop(&d);
    return status;
}

static int write_page(void *what, FILE *f)
{
    return put_page(what, f);
}

int cli_page_write(cli_page *p)
{
    char path[1100];
    snprintf(path, sizeof path, "%s/%s.html", p->folder, p->name);
    return replace(p->args, path, write_page, p);
}

/* ---- The index --------------------------------------------------------------------------------------------- */

enum { most_pages = 1024 };

typedef struct entry {
    json_t *about;
    int order; /* of the problem, models after them */
} entry;

typedef struct index_page {
    entry *list;
    int count;
} index_page;

static int by_order(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->order != y->order) return x->order < y->order ? -1 : 1;
    return strcmp(text_of(x->about, "name"), text_of(y->about, "name"));
}

static int order_of(const char *name)
{
    for (int i = 0; cli_problem_name(i); i++) {
        if (!strcmp(cli_problem_name(i), name)) return i;
    }
    return dae_problem_count();
}

static void put_entry(FILE *f, const json_t *o)
{
    const json_t *run = json_object_get(o, "run");
    char time[32], digits[32] = "\xe2\x80\x93";
    double scd = real_of(run, "scd"), failed = real_of(o, "failed");
    if (!isfinite(scd)) scd = real_of(run, "mescd");
    if (isfinite(scd)) snprintf(digits, sizeof digits, "%.1f", scd);
    put_seconds(time, sizeof time, real_of(run, "cpu_seconds"));
    fputs("<tr><td><a href=\"", f);
    dae_html_address(text_of(o, "name"), cli_write_file, f);
    fputs(".html\">", f);
    put(f, text_of(o, "name"));
    fputs("</a></td>", f);
    cell(f, text_of(o, "title"));
    cell(f, json_is_true(json_object_get(o, "model")) ? "model" : text_of(o, "kind"));
    fprintf(f, "<td>%.0f</td><td>%.0f</td>", real_of(o, "n"), real_of(o, "index"));
    cell(f, text_of(run, "solver"));
    fprintf(f, "<td>%s</td><td>%s</td><td>%.0f</td><td%s>%.0f</td></tr>\n", digits, time, real_of(o, "runs"),
            failed > 0 ? " class=\"worse\"" : "", failed);
}

static int write_index(void *what, FILE *f)
{
    const index_page *x = what;
    begin_page(f, "Daedalus: problems and models", 0);
    fputs("<h1>Problems and models</h1>\n<p class=\"lead\">Each page has the equations, the solution, run "
          "characteristics beside those of "
          "the test set report, work-precision diagrams and the runs that failed.</p>\n<div "
          "class=\"scroll\"><table class=\"index\"><thead><tr>"
          "<th>name</th><th>title</th><th>kind</th><th>n</th><th>index</th><th>solver</th><th>digits</"
          "th><th>CPU</th><th>runs</th>"
          "<th>failed</th></tr></thead><tbody>\n",
          f);
    for (int i = 0; i < x->count; i++) put_entry(f, x->list[i].about);
    fputs("</tbody></table></div>\n<p>Solver, digits and CPU time are those of the run with the problem's "
          "own tolerances; the last "
          "columns count the runs of diagrams and tables.</p>\n",
          f);
    end_page(f);
    return 0;
}

int cli_page_index(const cli_args *args, const char *folder)
{
    char path[1100];
    index_page x = {calloc(most_pages, sizeof(entry)), 0};
    snprintf(path, sizeof path, "%s/data", folder);
    DIR *data = opendir(path);
    if (!data || !x.list) {
        if (data) closedir(data);
        free(x.list);
        return cli_wrong(args, "%s: %s", path, strerror(errno));
    }
    for (const struct dirent *e; (e = readdir(data)) && x.count < most_pages;) {
        size_t n = strlen(e->d_name);
        json_error_t where;
        if (n < 6 || strcmp(e->d_name + n - 5, ".json") != 0 ||
            (n > 11 && !strcmp(e->d_name + n - 11, ".model.json")))
            continue;
        snprintf(path, sizeof path, "%.500s/data/%.255s", folder, e->d_name);
        json_t *o = json_load_file(path, 0, &where);
        if (!json_object_get(o, "title")) json_decref(o); /* its page was not finished */
        else x.list[x.count++] = (entry){o, order_of(text_of(o, "name"))};
    }
    closedir(data);
    qsort(x.list, (size_t)x.count, sizeof *x.list, by_order);
    snprintf(path, sizeof path, "%s/index.html", folder);
    int status = replace(args, path, write_index, &x);
    for (int i = 0; i < x.count; i++) json_decref(x.list[i].about);
    free(x.list);
    return status;
}
