/* The trajectory of a run as a table, with what the problem derives of it and what the run says about itself. */
#include "core/error.h"

#include <daedalus/formulation.h>
#include <daedalus/run.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where the derivatives of components and of derived columns begin. */
static int components_s(const dae_run_result *r)
{
    return 1 + r->n + r->problem->derived.ncolumn;
}

static int derived_s(const dae_run_result *r)
{
    return components_s(r) + (r->point_s ? r->n * r->nsensitivity : 0);
}

static int derived_count(const dae_run_result *r)
{
    return r->point_derived_s ? r->problem->derived.ncolumn * r->nsensitivity : 0;
}

/* t, the components, the derived columns, derivatives of both, integrals. */
static int columns_of(const dae_run_result *r)
{
    return derived_s(r) + derived_count(r) + (r->point_q ? r->nintegral : 0);
}

/* Names and units. */
static void fill_names(dae_table *t, const dae_run_result *r)
{
    const dae_problem *p = r->problem;
    char buffer[24];
    dae_table_column(t, 0, "t", p->time_unit);
    for (int i = 0; i < r->n; i++)
        dae_table_column(t, 1 + i, dae_component_name(p, i, buffer, sizeof buffer), dae_component_unit(p, i));
    for (int i = 0; i < p->derived.ncolumn; i++)
        dae_table_column(t, 1 + r->n + i, p->derived.column[i], p->derived.unit[i]);
    char name[200];
    for (int i = 0; r->point_s && i < r->nsensitivity * r->n; i++)
        dae_table_column(t, components_s(r) + i,
                         dae_run_sensitivity_name(r, i / r->n, i % r->n, name, sizeof name), "");
    for (int i = 0, c = p->derived.ncolumn; i < derived_count(r); i++)
        dae_table_column(t, derived_s(r) + i,
                         dae_run_sensitivity_name(r, i / c, r->n + i % c, name, sizeof name), "");
    for (int i = 0; r->point_q && i < r->nintegral; i++) {
        snprintf(name, sizeof name, "integral(%.180s)", r->integral[i]);
        dae_table_column(t, columns_of(r) - r->nintegral + i, name, "");
    }
}

/* A table that is filled: where column i of all that there are is in it, -1: it is not wanted. */
typedef struct filling {
    dae_table *t;
    int *to;
} filling;

static int wants(const filling *f, int first, int count)
{
    int any = 0;
    for (int i = first; i < first + count; i++) any |= f->to[i] >= 0;
    return any;
}

/* n columns from column `at` on, out of rows of n values; the table has its columns one behind the other, so that some rows at a
 * time stay in the cache. */
static void put_columns(const filling *f, int at, int n, const double *row)
{
    enum { ROWS = 32 };
    long nrow = f->t->nrow;
    for (long first = 0; first < nrow; first += ROWS) {
        for (int i = 0; i < n; i++) {
            if (f->to[at + i] < 0) continue;
            for (long k = first; k < first + ROWS && k < nrow; k++)
                dae_table_set(f->t, k, f->to[at + i], row[(size_t)k * (size_t)n + (size_t)i]);
        }
    }
}

/* 0 or -1. */
static int fill_values(const filling *f, const dae_run_result *r)
{
    const dae_derived *d = &r->problem->derived;
    put_columns(f, 0, 1, r->point_t);
    put_columns(f, 1, r->n, r->point_y);
    if (wants(f, 1 + r->n, d->ncolumn)) {
        double *value = calloc((size_t)r->npoint * (size_t)d->ncolumn + 1, sizeof *value);
        int bad = !value || d->columns(r->problem, r->npoint, r->point_t, r->point_y, NULL, NULL, value) < 0;
        if (!bad) put_columns(f, 1 + r->n, d->ncolumn, value);
        free(value);
        if (bad) return -1;
    }
    if (r->point_s) put_columns(f, components_s(r), r->n * r->nsensitivity, r->point_s);
    put_columns(f, derived_s(r), derived_count(r), r->point_derived_s);
    if (r->point_q) put_columns(f, columns_of(r) - r->nintegral, r->nintegral, r->point_q);
    return 0;
}

/* The k-th word of "a|b|c". */
static void note_choice(dae_table *t, const char *name, const char *words, int k)
{
    char word[64];
    for (; k > 0 && strchr(words, '|'); k--) words = strchr(words, '|') + 1;
    snprintf(word, sizeof word, "%.*s", (int)strcspn(words, "|"), words);
    dae_table_note(t, name, word, 0);
}

/* All that the run was asked for and what came out. */
static void describe(dae_table *t, const dae_run_result *r)
{
    const dae_problem_info *info = r->problem->info;
    const dae_parameter *q = info ? info->parameter : NULL;
    const struct {
        const char *name;
        double value;
    } number[] = {{"rtol", r->rtol},
                  {"atol", r->atol},
                  {"h0", r->h0},
                  {"t0", r->t0},
                  {"t_end", r->t_end},
                  {"steps", (double)r->stats.steps},
                  {"accepted", (double)r->stats.accepted},
                  {"f", (double)(r->stats.f + r->stats.f_jac)},
                  {"jac", (double)r->stats.jac},
                  {"lu", (double)r->stats.lu},
                  {"cpu_seconds", r->cpu_seconds},
                  {"scd", r->scd},
                  {"mescd", r->mescd}};
    dae_table_note(t, "problem", r->name, 0);
    if (info && info->title) dae_table_note(t, "title", info->title, 0);
    dae_table_note(t, "solver", r->solver, 0);
    if (r->formulation) dae_table_note(t, "formulation", r->formulation, 0);
    dae_table_note(t, "status", dae_run_status_word(r->status), 0);
    if (r->error.text[0]) dae_table_note(t, "message", r->error.text, 0);
    for (size_t i = 0; i < sizeof number / sizeof *number; i++) {
        if (isfinite(number[i].value)) dae_table_note(t, number[i].name, NULL, number[i].value);
    }
    for (int i = 0; q && q[i].name; i++) {
        char name[80];
        snprintf(name, sizeof name, "parameter.%s", q[i].name);
        if (q[i].choices) note_choice(t, name, q[i].choices, (int)r->problem->parameter[i]);
        else dae_table_note(t, name, NULL, r->problem->parameter[i]);
    }
}

/* ---- Energy and drift --------------------------------------------------------------------------------- */

static const char *const energy_name[] = {"energy.kinetic", "energy.potential", "energy.total"},
                         *const drift_name[] = {"drift.position", "drift.velocity"};

static int energies(const dae_run_result *r)
{
    return r->problem->derived.energy ? 3 : 0;
}

static int drifts(const dae_run_result *r)
{
    return r->problem->system.kind == DAE_KIND_MECH && r->problem->system.mech.nlambda > 0 ? 2 : 0;
}

static void name_drift(dae_table *t, const dae_run_result *r, int at)
{
    int ne = energies(r), nd = drifts(r);
    for (int i = 0; i < ne; i++) dae_table_column(t, at + i, energy_name[i], "J");
    for (int i = 0; i < nd; i++) dae_table_column(t, at + ne + i, drift_name[i], "");
}

/* count values per point into the columns from `at` on. */
static void put_point(const filling *f, long k, int at, int count, const double *value)
{
    for (int i = 0; i < count; i++) {
        if (f->to[at + i] >= 0) dae_table_set(f->t, k, f->to[at + i], value[i]);
    }
}

/* From column `at` on; 0 or -1. What cannot be evaluated is NAN. */
static int fill_drift(const filling *f, const dae_run_result *r, int at)
{
    const dae_problem *p = r->problem;
    int ne = wants(f, at, energies(r)) ? 3 : 0, nd = wants(f, at + energies(r), drifts(r)) ? 2 : 0;
    dae_energy *e = ne ? calloc((size_t)r->npoint + 1, sizeof *e) : NULL;
    dae_formulation *form = nd ? dae_formulation_create(&p->system, "index1", NULL, 0, NULL) : NULL;
    if ((ne && !e) || (nd && !form)) {
        free(e);
        dae_formulation_destroy(form);
        return -1;
    }
    dae_status s = ne ? p->derived.energy(p, r->npoint, r->point_t, r->point_y, e) : DAE_OK;
    int known = ne && s >= 0;
    for (int k = 0; k < r->npoint && s != DAE_ERR_MEMORY; k++) {
        double residual[3] = {NAN, NAN, NAN}, energy[3] = {NAN, NAN, NAN};
        if (known) {
            energy[0] = e[k].kinetic;
            energy[1] = e[k].potential;
            energy[2] = e[k].kinetic + e[k].potential;
        }
        if (nd)
            s = dae_formulation_residuals(form, r->point_t[k], r->point_y + (size_t)k * (size_t)r->n, NULL,
                                          residual, NULL);
        if (nd && s < 0) residual[0] = residual[1] = NAN;
        put_point(f, k, at, ne, energy);
        put_point(f, k, at + energies(r), nd, residual);
    }
    free(e);
    dae_formulation_destroy(form);
    return s == DAE_ERR_MEMORY ? -1 : 0;
}

/* ---- The table ---------------------------------------------------------------------------------------- */

/* The table of the wanted columns without its values, and where each of all columns is in it. */
static int begin(filling *f, const dae_run_result *r, const char *list, int drift, dae_error *err)
{
    int width = columns_of(r), all = width + (drift ? energies(r) + drifts(r) : 0), k = 0;
    dae_table *names = dae_table_create(all, 0), *some = NULL;
    *f = (filling){.to = malloc((size_t)all * sizeof *f->to)};
    if (names) {
        fill_names(names, r);
        if (drift) name_drift(names, r, width);
        some = list ? dae_table_choose(names, list, err) : names;
    }
    if (some && f->to) f->t = dae_table_create(some->ncol, r->npoint);
    for (int i = 0; f->t && i < all; i++) {
        int wanted = k < some->ncol && !strcmp(names->name[i], some->name[k]);
        f->to[i] = wanted ? k : -1;
        if (wanted) dae_table_column(f->t, k++, names->name[i], names->unit[i]);
    }
    if (f->t) f->t->failed |= names->failed | some->failed;
    if (some != names) dae_table_destroy(some);
    dae_table_destroy(names);
    return f->t ? 0 : -1;
}

dae_table *dae_run_table_of(const dae_run_result *r, const char *list, int drift, dae_error *err)
{
    filling f;
    dae_error own = {0};
    int bad = begin(&f, r, list, drift, &own);
    if (!bad) {
        describe(f.t, r);
        bad = fill_values(&f, r) < 0 || (drift && fill_drift(&f, r, columns_of(r)) < 0) || f.t->failed;
    }
    free(f.to);
    if (!bad) return f.t;
    dae_table_destroy(f.t);
    if (own.status < 0 && err) *err = own;
    else dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    return NULL;
}

dae_table *dae_run_table(const dae_run_result *r, dae_error *err)
{
    return dae_run_table_of(r, NULL, 0, err);
}

dae_table *dae_run_table_drift(const dae_run_result *r, dae_error *err)
{
    return dae_run_table_of(r, NULL, 1, err);
}

dae_status dae_run_csv(const dae_run_result *r, dae_write_fn *write, void *user)
{
    dae_table *t = dae_run_table(r, NULL);
    if (!t) return DAE_ERR_MEMORY;
    dae_table plain = *t;
    plain.nattribute = 0;
    dae_status s = dae_table_csv(&plain, write, user);
    dae_table_destroy(t);
    return s;
}
