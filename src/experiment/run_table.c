/* The trajectory of a run as a table, with what the problem derives of it: numbers stay numbers. */
#include "table/table.h"

#include <daedalus/run.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *kept(dae_table_memory *m, const char *text)
{
    return dae_arena_copy(m->arena, text, strlen(text) + 1, 1);
}

/* Names and units: t, the components, the derived columns. */
static void fill_names(dae_table_memory *m, const dae_run_result *r)
{
    const dae_problem *p = r->problem;
    char buffer[24];
    m->name[0] = "t";
    m->unit[0] = p->time_unit ? p->time_unit : "";
    for (int i = 0; i < r->n; i++) {
        m->name[1 + i] = kept(m, dae_component_name(p, i, buffer, sizeof buffer));
        m->unit[1 + i] = kept(m, dae_component_unit(p, i));
    }
    for (int i = 0; i < p->derived.ncolumn; i++) {
        m->name[1 + r->n + i] = kept(m, p->derived.column[i]);
        m->unit[1 + r->n + i] = kept(m, p->derived.unit[i]);
    }
}

/* Column after column; 0 or -1. */
static int fill_values(dae_table_memory *m, const dae_run_result *r)
{
    const dae_derived *d = &r->problem->derived;
    size_t rows = (size_t)r->npoint, n = (size_t)r->n, more = (size_t)d->ncolumn;
    double *value = calloc(rows * more + 1, sizeof *value);
    int bad =
        !value || (more && d->columns(r->problem, r->npoint, r->point_t, r->point_y, NULL, NULL, value) < 0);
    for (size_t k = 0; k < rows && !bad; k++) {
        m->value[k] = r->point_t[k];
        for (size_t i = 0; i < n; i++) m->value[(1 + i) * rows + k] = r->point_y[k * n + i];
        for (size_t i = 0; i < more; i++) m->value[(1 + n + i) * rows + k] = value[k * more + i];
    }
    free(value);
    return bad ? -1 : 0;
}

dae_table *dae_run_table(const dae_run_result *r, dae_error *err)
{
    size_t columns = 1 + (size_t)r->n + (size_t)r->problem->derived.ncolumn;
    dae_table_memory *m = calloc(1, sizeof *m);
    if (m) m->arena = dae_arena_create();
    if (m) m->name = calloc(columns, sizeof *m->name);
    if (m) m->unit = calloc(columns, sizeof *m->unit);
    if (m) m->value = calloc(columns * (size_t)r->npoint + 1, sizeof *m->value);
    int fine = m && m->arena && m->name && m->unit && m->value;
    if (fine) {
        fill_names(m, r);
        fine = !dae_arena_failed(m->arena) && fill_values(m, r) == 0;
    }
    if (!fine) {
        dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
        if (m) dae_table_destroy(&m->t);
        return NULL;
    }
    m->t = (dae_table){
        .ncol = (int)columns, .nrow = r->npoint, .name = m->name, .unit = m->unit, .value = m->value};
    return &m->t;
}

dae_status dae_run_hdf5(const dae_run_result *r, const dae_hdf5_options *opt, dae_write_fn *write, void *user,
                        dae_error *err)
{
    dae_error own = {0};
    if (!err) err = &own;
    dae_table *t = dae_run_table(r, err);
    if (!t) return err->status;
    dae_status s = dae_table_hdf5(t, opt, write, user, err);
    dae_table_destroy(t);
    return s;
}
