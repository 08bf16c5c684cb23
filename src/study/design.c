/* Designs of sweeps: grids, random numbers, Sobol points, lists. Random numbers are a hash of seed, parameter and
 * number of the point, so that run k is the same whoever computes it, and in whatever order. */
#include "core/error.h"
#include "core/number.h"

#include <daedalus/study.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { max_width = 64, SALTELLI_MOST = 8 }; /* two coordinates of the Sobol sequence for each */
static const long max_runs = 100000000;

typedef enum source { GRID, VALUES, UNIFORM, LOGUNIFORM, NORMAL, LOGNORMAL, SOBOL, SALTELLI, LIST } source;

typedef struct column {
    char name[64];
    const dae_parameter *parameter;
    source source;
    double a, b;   /* interval, or mean and standard deviation */
    long n;        /* values */
    int log;       /* grid: equal ratios */
    int dimension; /* SOBOL, SALTELLI */
    char *text;    /* VALUES, LIST: n words, each ended by 0 */
    const char **word;
} column;

struct dae_design {
    const dae_problem_info *info;
    uint64_t seed;
    column column[max_width]; /* grid axes first */
    int width, axes;
    long points; /* per grid point: 1 without random numbers, Sobol, list */
};

dae_design *dae_design_create(const dae_problem_info *info, unsigned long long seed)
{
    dae_design *d = calloc(1, sizeof *d);
    if (!d) return NULL;
    d->info = info;
    d->seed = seed;
    d->points = 1;
    return d;
}

void dae_design_destroy(dae_design *d)
{
    for (int k = 0; d && k < d->width; k++) {
        free(d->column[k].text);
        free(d->column[k].word);
    }
    free(d);
}

/* ---- Reading specifications ------------------------------------------------------------------------ */

static dae_status find_parameter(const dae_design *d, const char *text, size_t length, column *c,
                                 dae_error *err)
{
    char names[256] = "";
    if (length == 0 || length >= sizeof c->name) {
        return dae_fail(err, DAE_ERR_INPUT, NAN, "the name of a parameter is missing");
    }
    memcpy(c->name, text, length);
    for (const dae_parameter *q = d->info->parameter; q && q->name; q++) {
        if (!strcmp(q->name, c->name)) c->parameter = q;
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", q->name);
    }
    if (!c->parameter) {
        return dae_fail(err, DAE_ERR_INPUT, NAN, "%s has no parameter \"%s\"; %s%s", d->info->name, c->name,
                        names[0] ? "it has " : "it has none", names);
    }
    for (int k = 0; k < d->width; k++) {
        if (!strcmp(d->column[k].name, c->name))
            return dae_fail(err, DAE_ERR_INPUT, NAN, "the parameter %s is given twice", c->name);
    }
    if (d->width == max_width) return dae_fail(err, DAE_ERR_INPUT, NAN, "more than %d parameters", max_width);
    return DAE_OK;
}

/* A finite number up to one of the letters of `ends`; *rest is behind it. */
static int number(const char **rest, char ends, double *out)
{
    char *end;
    *out = dae_strtod(*rest, &end);
    if (end == *rest || !isfinite(*out) || *end != ends) return 0;
    *rest = end + (ends != 0);
    return 1;
}

static int whole(const char **rest, long *out)
{
    char *end;
    *out = strtol(*rest, &end, 10);
    if (end == *rest || *out < 1 || *out > max_runs) return 0;
    *rest = end;
    return 1;
}

static dae_status too_many(const dae_design *d, dae_error *err)
{
    double count = (double)d->points;
    for (int k = 0; k < d->axes; k++) count *= (double)d->column[k].n;
    if (count > (double)max_runs)
        return dae_fail(err, DAE_ERR_INPUT, NAN, "%.3g runs are too many (at most %ld)", count, max_runs);
    return DAE_OK;
}

/* n words of a text of so many bytes that are separated by `separator`; c owns the copy. */
static dae_status split(column *c, const char *text, size_t length, char separator, dae_error *err)
{
    c->text = malloc(length + 1);
    c->n = 1;
    for (size_t i = 0; i < length; i++) c->n += text[i] == separator;
    c->word = calloc((size_t)c->n, sizeof *c->word);
    if (!c->text || !c->word) return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    memcpy(c->text, text, length);
    c->text[length] = 0;
    char *at = c->text;
    for (long i = 0; i < c->n; i++) {
        c->word[i] = at;
        at += strcspn(at, (char[]){separator, 0});
        *at++ = 0;
        if (!*c->word[i]) return dae_fail(err, DAE_ERR_INPUT, NAN, "%s: value %ld is empty", c->name, i + 1);
    }
    return DAE_OK;
}

static void drop(column *c)
{
    free(c->text);
    free(c->word);
}

/* Grid axes come before all other columns. */
static void insert_axis(dae_design *d, const column *c)
{
    for (int k = d->width++; k > d->axes; k--) d->column[k] = d->column[k - 1];
    d->column[d->axes++] = *c;
}

/* "a:b:n", and ":log" where that is allowed. */
static int interval(const char *rest, int log_allowed, column *c)
{
    if (!number(&rest, ':', &c->a) || !number(&rest, ':', &c->b) || !whole(&rest, &c->n)) return 0;
    if (log_allowed && !strcmp(rest, ":log")) {
        c->log = 1;
        return c->a > 0 && c->b > 0;
    }
    return !*rest;
}

static double grid_value(const column *c, long i)
{
    if (c->n == 1 || i == 0) return c->a;
    if (i == c->n - 1) return c->b;
    double part = (double)i / (double)(c->n - 1);
    return c->log ? exp((1 - part) * log(c->a) + part * log(c->b))
                  : c->a + (c->b - c->a) * (double)i / (double)(c->n - 1);
}

dae_status dae_design_vary(dae_design *d, const char *text, dae_error *err)
{
    column c = {.source = GRID};
    size_t n = strcspn(text, "=");
    dae_status s = find_parameter(d, text, n, &c, err);
    if (s < 0) return s;
    const char *rest = text + n + (text[n] == '=');
    if (!*rest || (strchr(rest, ':') && !interval(rest, 1, &c))) {
        return dae_fail(err, DAE_ERR_INPUT, NAN,
                        "\"%s\": expected name=from:to:count, name=from:to:count:log (both "
                        "positive) or name=value,value,...",
                        text);
    }
    if (!strchr(rest, ':')) {
        c.source = VALUES;
        s = split(&c, rest, strlen(rest), ',', err);
    }
    for (long i = 0; s >= 0 && c.source == GRID && c.parameter->integer && i < c.n; i++) {
        double v = grid_value(&c, i);
        if (v != floor(v))
            s = dae_fail(err, DAE_ERR_INPUT, NAN, "\"%s\": %g is no whole number, which %s needs", text, v,
                         c.name);
    }
    if (s < 0) {
        drop(&c);
        return s;
    }
    insert_axis(d, &c);
    return too_many(d, err);
}

/* All columns that are no axes have the same number of points. */
static dae_status add_points(dae_design *d, const column *c, dae_error *err)
{
    if (d->width > d->axes) {
        const column *first = &d->column[d->axes];
        if ((first->source == LIST) != (c->source == LIST) ||
            (first->source == SOBOL) != (c->source == SOBOL) ||
            (first->source == SALTELLI) != (c->source == SALTELLI)) {
            return dae_fail(
                err, DAE_ERR_INPUT, NAN,
                "random numbers, Sobol points, Saltelli points and a list exclude each other (%s, %s)",
                first->name, c->name);
        }
        if (c->n != first->n) {
            return dae_fail(err, DAE_ERR_INPUT, NAN, "%s has %ld points and %s has %ld; give both the same",
                            first->name, first->n, c->name, c->n);
        }
    }
    d->column[d->width++] = *c;
    d->points = c->source == SALTELLI ? c->n * (d->width - d->axes + 2) : c->n;
    return too_many(d, err);
}

dae_status dae_design_sample(dae_design *d, const char *text, dae_error *err)
{
    static const struct {
        const char *name;
        source source;
    } known[] = {
        {"uniform(", UNIFORM}, {"loguniform(", LOGUNIFORM}, {"normal(", NORMAL}, {"lognormal(", LOGNORMAL}};
    column c = {.source = GRID};
    size_t n = strcspn(text, "~");
    dae_status s = find_parameter(d, text, n, &c, err);
    if (s < 0) return s;
    const char *rest = text + n + (text[n] == '~');
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (!strncmp(rest, known[i].name, strlen(known[i].name))) {
            c.source = known[i].source;
            rest += strlen(known[i].name);
            break;
        }
    }
    if (c.source == GRID || !number(&rest, ',', &c.a) || !number(&rest, ')', &c.b) || *rest++ != ':' ||
        !whole(&rest, &c.n) || *rest) {
        return dae_fail(err, DAE_ERR_INPUT, NAN,
                        "\"%s\": expected name~uniform(a,b):count, loguniform(a,b), "
                        "normal(mean,sd) or lognormal(mean,sd)",
                        text);
    }
    if (c.parameter->choices)
        return dae_fail(err, DAE_ERR_INPUT, NAN, "%s takes words (%s), not random numbers", c.name,
                        c.parameter->choices);
    int spread = c.source == NORMAL || c.source == LOGNORMAL ? c.b >= 0 : c.a <= c.b;
    if (!spread || (c.source == LOGUNIFORM && !(c.a > 0))) {
        return dae_fail(err, DAE_ERR_INPUT, NAN, "\"%s\": %s", text,
                        c.source == NORMAL || c.source == LOGNORMAL
                            ? "the standard deviation is negative"
                            : "expected a <= b, and a > 0 for loguniform");
    }
    return add_points(d, &c, err);
}

static dae_status add_sequence(dae_design *d, source what, const char *text, dae_error *err)
{
    column c = {.source = what, .dimension = d->width - d->axes};
    size_t n = strcspn(text, "=");
    dae_status s = find_parameter(d, text, n, &c, err);
    if (s < 0) return s;
    const char *rest = text + n + (text[n] == '=');
    if (!interval(rest, 0, &c) || !(c.a <= c.b))
        return dae_fail(err, DAE_ERR_INPUT, NAN, "\"%s\": expected name=from:to:count, from <= to", text);
    if (c.parameter->choices)
        return dae_fail(err, DAE_ERR_INPUT, NAN, "%s takes words (%s), not numbers", c.name,
                        c.parameter->choices);
    if (what == SALTELLI && c.dimension >= SALTELLI_MOST)
        return dae_fail(err, DAE_ERR_INPUT, NAN, "Saltelli points are for %d parameters at most",
                        SALTELLI_MOST);
    if (what == SALTELLI && d->axes)
        return dae_fail(err, DAE_ERR_INPUT, NAN, "Saltelli points and grids exclude each other");
    return add_points(d, &c, err);
}

dae_status dae_design_sobol(dae_design *d, const char *text, dae_error *err)
{
    return add_sequence(d, SOBOL, text, err);
}

dae_status dae_design_saltelli(dae_design *d, const char *text, dae_error *err)
{
    return add_sequence(d, SALTELLI, text, err);
}

int dae_design_interval(const dae_design *d, int k, double *a, double *b)
{
    if (k < 0 || k >= d->width || d->column[k].source != SALTELLI) return 0;
    *a = d->column[k].a;
    *b = d->column[k].b;
    return 1;
}

dae_status dae_design_list(dae_design *d, const char *text, size_t length, dae_error *err)
{
    dae_table *t = dae_table_read(text, length, err);
    dae_status s = t ? DAE_OK : err ? err->status : DAE_ERR_INPUT;
    if (t && t->nrow < 1) s = dae_fail(err, DAE_ERR_INPUT, NAN, "the list has no line below the names");
    for (int k = 0; s >= 0 && k < t->ncol; k++) {
        column c = {.source = LIST, .n = t->nrow};
        s = find_parameter(d, t->name[k], strlen(t->name[k]), &c, err);
        if (s < 0) break;
        size_t bytes = 0, used = 0;
        for (long i = 0; i < t->nrow; i++)
            bytes += strlen(t->text[(size_t)k * (size_t)t->nrow + (size_t)i]) + 1;
        c.text = malloc(bytes);
        c.word = calloc((size_t)t->nrow, sizeof *c.word);
        if (!c.text || !c.word) s = dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
        for (long i = 0; s >= 0 && i < t->nrow; i++) {
            const char *word = t->text[(size_t)k * (size_t)t->nrow + (size_t)i];
            if (!*word)
                s = dae_fail(err, DAE_ERR_INPUT, NAN, "the list has no value of %s in row %ld", c.name,
                             i + 1);
            memcpy(c.text + used, word, strlen(word) + 1);
            c.word[i] = c.text + used;
            used += strlen(word) + 1;
        }
        int width = d->width;
        if (s >= 0) s = add_points(d, &c, err);
        if (d->width == width) drop(&c);
    }
    dae_table_destroy(t);
    return s;
}

/* ---- What a run gets ------------------------------------------------------------------------------- */

long dae_design_count(const dae_design *d)
{
    long count = d->points;
    for (int k = 0; k < d->axes; k++) count *= d->column[k].n;
    return d->width ? count : 0;
}

int dae_design_width(const dae_design *d)
{
    return d->width;
}

int dae_design_axes(const dae_design *d)
{
    return d->axes;
}

long dae_design_axis_length(const dae_design *d, int axis)
{
    return axis >= 0 && axis < d->axes ? d->column[axis].n : 0;
}

const char *dae_design_name(const dae_design *d, int k)
{
    return k >= 0 && k < d->width ? d->column[k].name : NULL;
}

const char *dae_design_unit(const dae_design *d, int k)
{
    const char *unit = k >= 0 && k < d->width ? d->column[k].parameter->unit : NULL;
    return unit ? unit : "";
}

/* The finalizer of Steele, Lea and Flood, Fast splittable pseudorandom number generators, OOPSLA 2014. */
static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Uniform in (0, 1): number `index` of a stream; streams of different names are independent. */
static double uniform(uint64_t seed, const char *name, unsigned part, uint64_t index)
{
    uint64_t h = mix(seed + UINT64_C(0x9e3779b97f4a7c15));
    for (; *name; name++) h = mix(h ^ (unsigned char)*name);
    h = mix(h ^ part);
    h = mix(h + UINT64_C(0x9e3779b97f4a7c15) * (index + 1));
    return ldexp((double)(h >> 11) + 0.5, -53);
}

static double drawn(const dae_design *d, const column *c, uint64_t j)
{
    double u = uniform(d->seed, c->name, 0, j), x;
    switch (c->source) {
    case UNIFORM: x = c->a + u * (c->b - c->a); break;
    case LOGUNIFORM: x = exp(log(c->a) + u * (log(c->b) - log(c->a))); break;
    case SOBOL:
        u = dae_sobol(c->dimension, (unsigned long)j) + uniform(d->seed, c->name, 1, 0);
        x = c->a + (u - floor(u)) * (c->b - c->a);
        break;
    case SALTELLI: {
        int width = d->width - d->axes, kind = (int)(j % (uint64_t)(width + 2));
        int other = kind == 1 || kind == 2 + c->dimension; /* the column of B */
        u = dae_sobol(c->dimension + (other ? width : 0), (unsigned long)(j / (uint64_t)(width + 2))) +
            uniform(d->seed, c->name, 1 + (unsigned)other, 0);
        x = c->a + (u - floor(u)) * (c->b - c->a);
        break;
    }
    default: /* Box and Muller */
        x = c->a + c->b * sqrt(-2 * log(u)) * cos(2 * acos(-1) * uniform(d->seed, c->name, 1, j));
        if (c->source == LOGNORMAL) x = exp(x);
    }
    return c->parameter->integer ? round(x) : x;
}

dae_status dae_design_value(const dae_design *d, long run, int k, char *out, size_t size)
{
    if (run < 0 || run >= dae_design_count(d) || k < 0 || k >= d->width) return DAE_ERR_INPUT;
    const column *c = &d->column[k];
    long i = run % d->points;
    if (k < d->axes) { /* the last axis goes fastest */
        i = run / d->points;
        for (int q = d->axes - 1; q > k; q--) i /= d->column[q].n;
        i %= c->n;
    }
    if (c->word) snprintf(out, size, "%s", c->word[i]);
    else dae_snprintf(out, size, "%.17g", c->source == GRID ? grid_value(c, i) : drawn(d, c, (uint64_t)i));
    return DAE_OK;
}
