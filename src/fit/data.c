/* Data of an experiment from a table: t, measured columns, standard deviations. */
#include "fit/fit.h"

#include "language/dimension.h"
#include "language/expression.h"
#include "table/table.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What dae_fit_read hands out: the experiment is its first member. */
typedef struct held {
    dae_fit_experiment e;
    double *t, *value, *sd;
    char **name;
    dae_setting *setting;
    char *file;
} held;

static char *copy(const char *text)
{
    char *out = malloc(strlen(text) + 1);
    return out ? strcpy(out, text) : NULL;
}

void dae_fit_experiment_destroy(dae_fit_experiment *e)
{
    held *h = (held *)e;
    if (!h) return;
    for (int i = 0; h->name && i < h->e.ncolumn; i++) free(h->name[i]);
    for (int i = 0; h->setting && i < h->e.nsetting; i++) {
        free((char *)h->setting[i].name);
        free((char *)h->setting[i].value);
    }
    free(h->name);
    free(h->setting);
    free(h->t);
    free(h->value);
    free(h->sd);
    free(h->file);
    free(h);
}

const char *dae_fit_unit(const dae_problem *p, const char *name)
{
    int k = dae_component_find(p, name);
    if (k >= 0) return dae_component_unit(p, k);
    for (int i = 0; i < p->derived.ncolumn; i++) {
        if (!strcmp(p->derived.column[i], name)) return p->derived.unit[i];
    }
    return NULL;
}

/* "data.csv:7" for row i; files without lines: "data.h5, row 5". */
static const char *place(const held *h, const dae_table *t, long i, char *out, size_t size)
{
    long line = dae_table_line(t, i);
    if (line) snprintf(out, size, "%.150s:%ld", h->file, line);
    else snprintf(out, size, "%.150s, row %ld", h->file, i + 1);
    return out;
}

/* What a cell says; "" where it is no number and has no text. */
static const char *cell_of(const dae_table *t, int c, long i)
{
    const char *text = t->text ? t->text[c * t->nrow + i] : NULL;
    return text ? text : "";
}

static int is_missing(const char *text)
{
    while (isspace((unsigned char)*text)) text++;
    return !*text || !strcmp(text, "NA") || !strcmp(text, "nan") || !strcmp(text, "NaN");
}

/* The factor from the unit of the file to that of the problem. */
static dae_status unit_factor(const char *file, const char *column, const char *given, const char *own,
                              double *factor, dae_error *err)
{
    dae_dimension a, b;
    double to, from;
    *factor = 1;
    if (!given[0] || (own && !strcmp(given, own))) return DAE_OK;
    if (dae_unit_read(given, strlen(given), &from, &a))
        return dae_fail(err, DAE_ERR_INPUT, NAN, "%s:2: column %s: \"%s\" is no unit", file, column, given);
    *factor = from; /* a problem that says nothing has SI units; angles are in radians */
    if (!own || !own[0] || dae_unit_read(own, strlen(own), &to, &b)) return DAE_OK;
    if (!dae_dimension_same(&a, &b))
        return dae_fail(err, DAE_ERR_INPUT, NAN, "%s:2: column %s is in %s, but the problem has it in %s",
                        file, column, given, own);
    *factor = from / to;
    return DAE_OK;
}

static dae_status read_times(held *h, const dae_table *t, const dae_problem *p, dae_error *err)
{
    int c = dae_table_find(t, "t");
    char at[200];
    double factor;
    if (c < 0)
        return dae_fail(err, DAE_ERR_INPUT, NAN,
                        "%s: line 1: there is no column t; the columns are %s%s%s ...", h->file, t->name[0],
                        t->ncol > 1 ? ", " : "", t->ncol > 1 ? t->name[1] : "");
    dae_status s = unit_factor(h->file, "t", t->unit[c], p->time_unit, &factor, err);
    for (long i = 0; i < t->nrow && s >= 0; i++) {
        double x = h->t[i] = factor * t->value[c * t->nrow + i];
        if (!isfinite(x))
            s = dae_fail(err, DAE_ERR_INPUT, NAN, "%s: t is \"%.40s\"; expected a number",
                         place(h, t, i, at, sizeof at), cell_of(t, c, i));
        else if (x < p->t0)
            s = dae_fail(err, DAE_ERR_INPUT, NAN, "%s: t = %g lies before the start of the problem, %g",
                         place(h, t, i, at, sizeof at), x, p->t0);
        else if (i > 0 && x < h->t[i - 1])
            s = dae_fail(err, DAE_ERR_INPUT, NAN,
                         "%s: t = %g after t = %g; times must not fall: sort the rows",
                         place(h, t, i, at, sizeof at), x, h->t[i - 1]);
    }
    return s;
}

static dae_status read_column(held *h, const dae_table *t, int c, const char *name, const char *own,
                              double *out, int is_sd, dae_error *err)
{
    char at[200];
    double factor;
    dae_status s = unit_factor(h->file, name, t->unit[c], own, &factor, err);
    for (long i = 0; i < t->nrow && s >= 0; i++) {
        const char *text = cell_of(t, c, i);
        double x = t->value[c * t->nrow + i];
        if (!isfinite(x) && !is_missing(text))
            s = dae_fail(err, DAE_ERR_INPUT, NAN,
                         "%s: column %s: \"%.40s\" is no number (an empty cell is a missing value)",
                         place(h, t, i, at, sizeof at), name, text);
        else if (is_sd && x <= 0)
            s = dae_fail(err, DAE_ERR_INPUT, NAN, "%s: sd(%s) = %g must be positive",
                         place(h, t, i, at, sizeof at), name, x);
        else out[i] = isfinite(x) ? factor * x : NAN;
    }
    return s;
}

static dae_status unknown_column(const held *h, const dae_problem *p, const char *name, dae_error *err)
{
    char list[400] = "", buffer[24];
    int n = dae_system_size(&p->system);
    for (int i = 0; i < n + p->derived.ncolumn; i++) {
        const char *known =
            i < n ? dae_component_name(p, i, buffer, sizeof buffer) : p->derived.column[i - n];
        if (strlen(list) + strlen(known) + 6 > sizeof list) {
            strcat(list, ", ...");
            break;
        }
        if (i) strcat(list, ", ");
        strcat(list, known);
    }
    return dae_fail(err, DAE_ERR_INPUT, NAN,
                    "%s: line 1: the problem has no component or sensor \"%.60s\"; it has %s", h->file, name,
                    list);
}

/* 1: the table has the column that "sd(name)" belongs to. */
static int measured(const dae_table *t, const char *sd)
{
    size_t n = strlen(sd);
    for (int c = 0; c < t->ncol; c++) {
        if (n == strlen(t->name[c]) + 4 && !strncmp(sd + 3, t->name[c], n - 4) && sd[n - 1] == ')') return 1;
    }
    return 0;
}

static dae_status read_columns(held *h, const dae_table *t, const dae_problem *p, dae_error *err)
{
    dae_status s = DAE_OK;
    for (int c = 0; c < t->ncol && s >= 0; c++) {
        const char *name = t->name[c], *own = dae_fit_unit(p, name);
        if (!strcmp(name, "t")) continue;
        if (!strncmp(name, "sd(", 3)) {
            if (measured(t, name)) continue;
            return dae_fail(err, DAE_ERR_INPUT, NAN,
                            "%s: line 1: %.60s is the standard deviation of no column of the file", h->file,
                            name);
        }
        if (!own) return unknown_column(h, p, name, err);
        if (dae_table_find(t, name) != c)
            return dae_fail(err, DAE_ERR_INPUT, NAN, "%s: line 1: there are two columns %.60s", h->file,
                            name);
        char sd[200];
        int k = h->e.ncolumn, with;
        if (!(h->name[k] = copy(name))) return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
        h->e.ncolumn++;
        s = read_column(h, t, c, name, own, h->value + (size_t)k * (size_t)t->nrow, 0, err);
        snprintf(sd, sizeof sd, "sd(%.180s)", name);
        with = dae_table_find(t, sd);
        double *into = h->sd + (size_t)k * (size_t)t->nrow;
        for (long i = 0; i < t->nrow; i++) into[i] = NAN;
        if (with >= 0 && s >= 0) s = read_column(h, t, with, name, own, into, 1, err);
    }
    if (s < 0 || h->e.ncolumn) return s;
    return dae_fail(err, DAE_ERR_INPUT, NAN, "%s: line 1: there is nothing measured: no column besides t",
                    h->file);
}

static dae_status fill(held *h, const dae_table *t, const dae_problem *p, const dae_setting *setting,
                       int nsetting, dae_error *err)
{
    size_t rows = (size_t)t->nrow, cells = rows * (size_t)t->ncol + 1;
    if (t->nrow < 1) return dae_fail(err, DAE_ERR_INPUT, NAN, "%s: there is no row of numbers", h->file);
    h->t = malloc((rows + 1) * sizeof *h->t);
    h->value = malloc(cells * sizeof *h->value);
    h->sd = malloc(cells * sizeof *h->sd);
    h->name = calloc((size_t)t->ncol + 1, sizeof *h->name);
    h->setting = calloc((size_t)nsetting + 1, sizeof *h->setting);
    if (!h->t || !h->value || !h->sd || !h->name || !h->setting)
        return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    for (int i = 0; i < nsetting; i++) {
        h->setting[i] = (dae_setting){copy(setting[i].name), copy(setting[i].value)};
        h->e.nsetting++;
        if (!h->setting[i].name || !h->setting[i].value)
            return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    }
    dae_status s = read_times(h, t, p, err);
    if (s >= 0) s = read_columns(h, t, p, err);
    h->e.ntime = (int)t->nrow;
    h->e.t = h->t;
    h->e.value = h->value;
    h->e.sd = h->sd;
    h->e.column = (const char *const *)h->name;
    h->e.setting = h->setting;
    h->e.name = h->file;
    return s;
}

dae_fit_experiment *dae_fit_read(const dae_problem *p, const char *text, size_t length, const char *file,
                                 const dae_setting *setting, int nsetting, dae_error *err)
{
    dae_error e = {0};
    dae_table *t = dae_table_read(text, length, &e);
    held *h = calloc(1, sizeof *h);
    dae_status s = h && (h->file = copy(file)) ? DAE_OK : dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    if (s >= 0 && !t)
        s = dae_fail(err, e.status < 0 ? e.status : DAE_ERR_INPUT, NAN, "%s: %.180s", file, e.text);
    if (s >= 0) s = fill(h, t, p, setting, nsetting, err);
    dae_table_destroy(t);
    if (s >= 0) return &h->e;
    dae_fit_experiment_destroy(h ? &h->e : NULL);
    return NULL;
}
