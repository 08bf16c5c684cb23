/* The continuous solution of a run as a file: written piece by piece, read back, sampled.
 *
 * A piece is the dense output of (a part of) one step, kept by its values at the Chebyshev points
 * x_k = -cos(k pi/d), k = 0 .. d, of an interval: enough to have the polynomial back to rounding, whatever basis the
 * method uses for it. It is evaluated by the barycentric formula
 *
 *     y(x) = sum_k w_k y_k/(x - x_k) / sum_k w_k/(x - x_k),      w_k = (-1)^k, half of that at both ends,
 *
 * and its derivative at a node by the differentiation matrix (Berrut, Trefethen, SIAM Review 46 (2004) 501-517). */
#include "experiment/solution.h"

#include "core/error.h"
#include "core/number.h"
#include "core/text.h"
#include "core/vector.h"
#include "table/json_value.h"

#include <daedalus/experiment.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC "daedalus solution 1\n"
#define PI 3.14159265358979323846
enum { DEGREE_MAX = 64 };

/* ---- Writing ------------------------------------------------------------------------------------- */

/* Little-endian whatever the machine. */
static int put_numbers(dae_solution_writer *w, const double *x, int n)
{
    unsigned char buffer[4096];
    size_t used = 0;
    for (int i = 0; i < n && !w->failed; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        for (int b = 0; b < 8; b++) buffer[used++] = (unsigned char)(bits >> (8 * b));
        if (used < sizeof buffer && i + 1 < n) continue;
        if (w->write((const char *)buffer, used, w->user) < 0) w->failed = 1;
        used = 0;
    }
    return w->failed ? -1 : 0;
}

double dae_solution_node(double from, double to, int degree, int k)
{
    if (k == 0) return from;
    if (k == degree) return to;
    return from + (to - from) * (1 - cos(k * PI / degree)) / 2;
}

int dae_solution_begin(dae_solution_writer *w, double from, double to, int degree)
{
    return put_numbers(w, (double[]){from, to, degree}, 3);
}

int dae_solution_state(dae_solution_writer *w, const double *y)
{
    return put_numbers(w, y, w->n);
}

/* Parameters as settings that create the same problem again. */
static json_t *parameters(const dae_problem *p)
{
    json_t *object = json_object();
    const dae_parameter *q = p->info ? p->info->parameter : NULL;
    for (int i = 0; q && q[i].name; i++) {
        char text[64];
        dae_snprintf(text, sizeof text, "%.17g", p->parameter[i]);
        if (q[i].choices) {
            const char *word = q[i].choices;
            for (int k = (int)p->parameter[i]; k > 0 && strchr(word, '|'); k--) word = strchr(word, '|') + 1;
            snprintf(text, sizeof text, "%.*s", (int)strcspn(word, "|"), word);
        }
        json_object_set_new(object, q[i].name, json_string(text));
    }
    return object;
}

dae_status dae_solution_head(dae_solution_writer *w, const dae_run_result *r, const dae_method_info *method,
                             dae_error *err)
{
    const dae_problem *p = r->problem;
    json_t *names = json_array(), *units = json_array();
    for (int i = 0; i < r->n; i++) {
        char buffer[24];
        json_array_append_new(names, json_string(dae_component_name(p, i, buffer, sizeof buffer)));
        json_array_append_new(units, json_string(dae_component_unit(p, i)));
    }
    json_t *head = json_pack("{s:s, s:o, s:s, s:s?, s:f, s:f, s:i, s:o, s:o, s:s?}", "problem", r->name,
                             "parameters", parameters(p), "solver", method ? method->name : r->solver,
                             "formulation", r->formulation, "rtol", r->rtol, "atol", r->atol, "n", r->n,
                             "component", names, "unit", units, "time_unit", p->time_unit);
    char *text = head ? json_dumps(head, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(head);
    if (!text) return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for the head of the continuous solution");
    if (w->write(MAGIC, strlen(MAGIC), w->user) < 0 || w->write(text, strlen(text), w->user) < 0 ||
        w->write("\n", 1, w->user) < 0) {
        w->failed = 1;
    }
    free(text);
    return w->failed ? dae_fail(err, DAE_ERR_FILE, NAN, "the continuous solution could not be written")
                     : DAE_OK;
}

/* ---- Reading ------------------------------------------------------------------------------------- */

typedef struct piece {
    double from, to;
    int degree;
    size_t at; /* of its first state in value */
} piece;

struct dae_solution {
    dae_solution_info info;
    json_t *head;
    double *value;
    piece *piece;
};

void dae_solution_destroy(dae_solution *s)
{
    if (!s) return;
    json_decref(s->head);
    free(s->value);
    free(s->piece);
    free(s);
}

const dae_solution_info *dae_solution_about(const dae_solution *s)
{
    return &s->info;
}

static double number_at(const unsigned char *p)
{
    uint64_t bits = 0;
    double x;
    for (int b = 7; b >= 0; b--) bits = bits << 8 | p[b];
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Two passes over the numbers: counts the complete pieces, then keeps them. < 0: not a solution. */
static long scan(dae_solution *s, const unsigned char *data, size_t count, int keep)
{
    size_t i = 0, n = (size_t)s->info.n, kept = 0;
    long pieces = 0;
    double last = NAN;
    while (i + 3 <= count) {
        double from = number_at(data + 8 * i), to = number_at(data + 8 * i + 8),
               d = number_at(data + 8 * i + 16);
        if (!isfinite(from) || !isfinite(to) || !(d >= 1 && d <= DEGREE_MAX) || d != floor(d) ||
            (pieces && from != last))
            return -1;
        size_t values = ((size_t)d + 1) * n;
        if (i + 3 + values > count) break; /* the run was interrupted here */
        if (keep) s->piece[pieces] = (piece){from, to, (int)d, kept};
        for (size_t k = 0; keep && k < values; k++) s->value[kept + k] = number_at(data + 8 * (i + 3 + k));
        kept += values;
        i += 3 + values;
        last = to;
        pieces++;
    }
    return pieces;
}

static dae_status read_pieces(dae_solution *s, const unsigned char *data, size_t size, dae_error *err)
{
    size_t count = size / 8;
    long pieces = scan(s, data, count, 0);
    if (pieces < 1) {
        return dae_fail(err, DAE_ERR_INPUT, NAN,
                        pieces < 0 ? "the continuous solution is damaged"
                                   : "the continuous solution holds no step");
    }
    s->value = malloc(count * sizeof *s->value);
    s->piece = malloc((size_t)pieces * sizeof *s->piece);
    if (!s->value || !s->piece)
        return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for a continuous solution of %ld pieces",
                        pieces);
    s->info.pieces = scan(s, data, count, 1);
    s->info.t0 = s->piece[0].from;
    s->info.t_end = s->piece[pieces - 1].to;
    return DAE_OK;
}

dae_solution *dae_solution_read(const void *data, size_t size, dae_error *err)
{
    size_t magic = strlen(MAGIC);
    const char *text = data, *end = size > magic ? memchr(text + magic, '\n', size - magic) : NULL;
    if (!end || memcmp(text, MAGIC, magic) != 0) {
        dae_fail(err, DAE_ERR_INPUT, NAN,
                 "this is not a continuous solution (its first line is not \"daedalus solution 1\")");
        return NULL;
    }
    dae_solution *s = calloc(1, sizeof *s);
    if (!s) {
        dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
        return NULL;
    }
    s->head = json_loadb(text + magic, (size_t)(end - text) - magic, 0, NULL);
    dae_solution_info *i = &s->info;
    json_t *names = json_object_get(s->head, "component"), *units = json_object_get(s->head, "unit");
    i->formulation = json_string_value(json_object_get(s->head, "formulation"));
    if (json_unpack(s->head, "{s:s, s:s, s:F, s:F, s:i}", "problem", &i->problem, "solver", &i->solver,
                    "rtol", &i->rtol, "atol", &i->atol, "n", &i->n) ||
        i->n < 1 || json_array_size(names) != (size_t)i->n || json_array_size(units) != (size_t)i->n) {
        dae_fail(err, DAE_ERR_INPUT, NAN, "the head of the continuous solution (its second line) is damaged");
        goto fail;
    }
    if (read_pieces(s, (const unsigned char *)end + 1, size - (size_t)(end + 1 - text), err)) goto fail;
    return s;
fail:
    dae_solution_destroy(s);
    return NULL;
}

/* ---- Sampling ------------------------------------------------------------------------------------ */

/* The first piece that ends at or behind t. */
static const piece *find(const dae_solution *s, double t)
{
    double d = s->info.t_end >= s->info.t0 ? 1 : -1;
    long lo = 0, hi = s->info.pieces - 1;
    while (lo < hi) {
        long mid = lo + (hi - lo) / 2;
        if (d * (s->piece[mid].to - t) >= 0) hi = mid;
        else lo = mid + 1;
    }
    return &s->piece[lo];
}

static double weight(int k, int degree)
{
    return (k % 2 ? -1.0 : 1.0) * (k == 0 || k == degree ? 0.5 : 1);
}

/* c_k with y(t) = sum c_k y_k, and e_k with y'(t) = sum e_k y_k; t is node number `hit`. */
static void cardinal_at_node(const piece *p, double t, int hit, double *c, double *e)
{
    int d = p->degree;
    double sum = 0;
    for (int k = 0; k <= d; k++) {
        c[k] = k == hit;
        e[k] = k == hit ? 0 : weight(k, d) / weight(hit, d) / (t - dae_solution_node(p->from, p->to, d, k));
        sum += e[k];
    }
    e[hit] = -sum;
}

/* The same at any t. With q_k = w_k/(t - t_k): c_k = q_k/sum q, and e_k is its derivative. */
static void cardinal(const piece *p, double t, double *c, double *e)
{
    int d = p->degree;
    double q = 0, slope = 0;
    for (int k = 0; k <= d; k++) {
        double x = t - dae_solution_node(p->from, p->to, d, k);
        if (x == 0) {
            cardinal_at_node(p, t, k, c, e);
            return;
        }
        e[k] = 1 / x;
        c[k] = weight(k, d) / x;
        q += c[k];
    }
    for (int k = 0; k <= d; k++) {
        c[k] /= q;
        slope += c[k] * e[k];
    }
    for (int k = 0; k <= d; k++) e[k] = c[k] * (slope - e[k]);
}

dae_status dae_solution_at(const dae_solution *s, double t, double *y, double *yp, dae_error *err)
{
    double lo = fmin(s->info.t0, s->info.t_end), hi = fmax(s->info.t0, s->info.t_end);
    if (!(t >= lo && t <= hi)) {
        return dae_fail(err, DAE_ERR_INPUT, NAN,
                        "t = %.10g is outside the solution, which goes from %g to %g", t, s->info.t0,
                        s->info.t_end);
    }
    const piece *p = find(s, t);
    int n = s->info.n;
    double c[DEGREE_MAX + 1], e[DEGREE_MAX + 1];
    cardinal(p, t, c, e);
    for (int i = 0; i < n; i++) {
        double sum = 0, slope = 0;
        for (int k = 0; k <= p->degree; k++) {
            double value = s->value[p->at + (size_t)k * (size_t)n + (size_t)i];
            sum += c[k] * value;
            slope += e[k] * value;
        }
        y[i] = sum;
        if (yp) yp[i] = slope;
    }
    return DAE_OK;
}

/* ---- Answers ------------------------------------------------------------------------------------- */

/* The problem again, by its name and parameters, with the form that gives accelerations and multipliers. */
typedef struct source {
    dae_problem *problem;  /* NULL: it is not in the test set */
    dae_formulation *form; /* NULL: it is not mechanical */
    double *lifted, *y, *a, *lambda;
} source;

static void close_source(source *x)
{
    dae_formulation_destroy(x->form);
    dae_problem_destroy(x->problem);
    free(x->lifted);
}

static void open_source(const dae_solution *s, source *x)
{
    const json_t *parameter = json_object_get(s->head, "parameters");
    dae_setting *setting = calloc(json_object_size(parameter) + 1, sizeof *setting);
    int count = 0;
    const char *name;
    json_t *value;
    *x = (source){0};
    if (!setting) return;
    json_object_foreach((json_t *)parameter, name, value)
    {
        if (json_is_string(value)) setting[count++] = (dae_setting){name, json_string_value(value)};
    }
    x->problem = dae_problem_create(s->info.problem, setting, count, NULL);
    free(setting);
    if (!x->problem || x->problem->system.kind != DAE_KIND_MECH ||
        dae_system_size(&x->problem->system) != s->info.n)
        return;
    x->form = dae_formulation_create(&x->problem->system, "index1", NULL, 0, NULL);
    if (!x->form) return;
    const dae_mech *m = &x->problem->system.mech;
    int size = dae_system_size(dae_formulation_system(x->form));
    x->lifted = calloc((size_t)(size + s->info.n + m->nv + m->nlambda), sizeof(double));
    if (!x->lifted) {
        dae_formulation_destroy(x->form);
        x->form = NULL;
        return;
    }
    x->y = x->lifted + size;
    x->a = x->y + s->info.n;
    x->lambda = x->a + m->nv;
}

static json_t *sample(const dae_solution *s, const source *x, double t, const double *y)
{
    json_t *o = json_object();
    json_object_set_new(o, "t", json_real(t));
    json_object_set_new(o, "y", dae_json_reals(y, s->info.n));
    if (!x->form) return o;
    const dae_mech *m = &x->problem->system.mech;
    dae_copy(s->info.n, y, x->y); /* on the constraints, as in a run */
    int known = dae_formulation_project(x->form, t, x->y, NULL) >= 0 &&
                dae_formulation_lift(x->form, t, x->y, x->lifted, NULL) >= 0 &&
                dae_formulation_lower(x->form, t, x->lifted, x->y, x->a, x->lambda, NULL) >= 0;
    json_object_set_new(o, "p", dae_json_reals(y, m->np));
    json_object_set_new(o, "v", dae_json_reals(y + m->np, m->nv));
    json_object_set_new(o, "a", known ? dae_json_reals(x->a, m->nv) : json_null());
    json_object_set_new(o, "lambda", known ? dae_json_reals(x->lambda, m->nlambda) : json_null());
    return o;
}

static int hand_over(const char *buffer, size_t size, void *user)
{
    dae_text *x = user;
    return x->write(buffer, size, x->user);
}

dae_status dae_solution_json(const dae_solution *s, const double *t, int count, dae_write_fn *write,
                             void *user, dae_error *err)
{
    const dae_solution_info *i = &s->info;
    source x;
    double *y = calloc((size_t)i->n, sizeof *y);
    if (!y) return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    open_source(s, &x);
    json_t *list = json_array();
    dae_status r = DAE_OK;
    for (int k = 0; k < count && r >= 0; k++) {
        r = dae_solution_at(s, t[k], y, NULL, err);
        if (r >= 0) json_array_append_new(list, sample(s, &x, t[k], y));
    }
    json_t *o =
        json_pack("{s:s, s:s, s:s?, s:f, s:f, s:f, s:f, s:i, s:I, s:o}", "problem", i->problem, "solver",
                  i->solver, "formulation", i->formulation, "rtol", i->rtol, "atol", i->atol, "t0", i->t0,
                  "t_end", i->t_end, "n", i->n, "pieces", (json_int_t)i->pieces, "at", list);
    if (r >= 0) {
        dae_text out = {.write = write, .user = user};
        int bad = json_dump_callback(o, hand_over, &out, JSON_REAL_PRECISION(17) | JSON_COMPACT) < 0 ||
                  write("\n", 1, user) < 0;
        if (bad) r = dae_fail(err, DAE_ERR_FILE, NAN, "the samples could not be written");
    }
    json_decref(o);
    close_source(&x);
    free(y);
    return r;
}

static const char *word_at(const json_t *list, int i)
{
    const char *text = json_string_value(json_array_get(list, (size_t)i));
    return text ? text : "";
}

dae_table *dae_solution_table(const dae_solution *s, const double *t, int count, dae_error *err)
{
    int n = s->info.n;
    const json_t *names = json_object_get(s->head, "component"), *units = json_object_get(s->head, "unit");
    double *y = calloc((size_t)n + 1, sizeof *y);
    dae_table *out = y ? dae_table_create(1 + n, count) : NULL;
    if (out) dae_table_column(out, 0, "t", json_string_value(json_object_get(s->head, "time_unit")));
    for (int i = 0; out && i < n; i++) dae_table_column(out, 1 + i, word_at(names, i), word_at(units, i));
    dae_status r = DAE_OK;
    for (int k = 0; out && k < count && r >= 0; k++) {
        r = dae_solution_at(s, t[k], y, NULL, err);
        dae_table_set(out, k, 0, t[k]);
        for (int i = 0; i < n; i++) dae_table_set(out, k, 1 + i, y[i]);
    }
    free(y);
    if (out) {
        dae_table_note(out, "problem", s->info.problem, 0);
        dae_table_note(out, "solver", s->info.solver, 0);
        if (s->info.formulation) dae_table_note(out, "formulation", s->info.formulation, 0);
        dae_table_note(out, "rtol", NULL, s->info.rtol);
        dae_table_note(out, "atol", NULL, s->info.atol);
    }
    if (out && r >= 0 && !out->failed) return out;
    if (!out || out->failed) dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    dae_table_destroy(out);
    return NULL;
}
