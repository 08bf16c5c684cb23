/* Measurements: from a run, to a line of JSON, and back. */
#include "study/measurement.h"
#include "core/error.h"
#include "core/number.h"
#include "study/json.h"

#include <daedalus/study.h>

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The fields by name. The keys are a contract with the files that people keep: add to them, do not rename. */
typedef enum field_type { TEXT, REAL, LONG, INT } field_type;
#define TEXT_FIELD(field) \
    TEXT, #field, offsetof(dae_measurement, field), sizeof((dae_measurement *)NULL)->field
#define FIELD(type, field) type, #field, offsetof(dae_measurement, field), 0
static const struct field {
    field_type type;
    const char *name;
    size_t offset, size;
} fields[] = {
    {TEXT_FIELD(problem)}, {TEXT_FIELD(settings)},  {TEXT_FIELD(solver)},  {TEXT_FIELD(formulation)},
    {FIELD(REAL, rtol)},   {FIELD(REAL, atol)},     {FIELD(REAL, h0)},     {FIELD(REAL, max_seconds)},
    {TEXT_FIELD(message)}, {FIELD(REAL, t)},        {FIELD(REAL, scd)},    {FIELD(REAL, mescd)},
    {FIELD(LONG, steps)},  {FIELD(LONG, accepted)}, {FIELD(LONG, f)},      {FIELD(LONG, f_jac)},
    {FIELD(LONG, jac)},    {FIELD(LONG, lu)},       {FIELD(LONG, solves)}, {FIELD(REAL, cpu_seconds)},
    {FIELD(INT, repeat)},
};
enum { nfields = sizeof fields / sizeof *fields };

dae_measurement dae_measurement_of(const dae_run_result *r)
{
    const dae_stats *s = &r->stats;
    dae_measurement m = {.rtol = r->rtol,
                         .atol = r->atol,
                         .h0 = r->h0,
                         .status = r->status,
                         .t = r->last.t,
                         .scd = r->scd,
                         .mescd = r->mescd,
                         .steps = s->steps,
                         .accepted = s->accepted,
                         .f = s->f,
                         .f_jac = s->f_jac,
                         .jac = s->jac,
                         .lu = s->lu,
                         .solves = s->solves,
                         .cpu_seconds = r->cpu_seconds,
                         .repeat = r->repeat};
    snprintf(m.problem, sizeof m.problem, "%s", r->name);
    snprintf(m.solver, sizeof m.solver, "%s", r->solver ? r->solver : "");
    snprintf(m.formulation, sizeof m.formulation, "%s", r->formulation ? r->formulation : "");
    if (r->status != DAE_OK) snprintf(m.message, sizeof m.message, "%s", r->error.text);
    return m;
}

void dae_measurement_stamp(dae_measurement *m)
{
    dae_provenance_line(m->provenance, sizeof m->provenance);
}

/* A field that is a number. */
static double number_of(const struct field *f, const dae_measurement *m)
{
    const char *at = (const char *)m + f->offset;
    double x = NAN;
    long k;
    int j;
    if (f->type == REAL) memcpy(&x, at, sizeof x);
    if (f->type == LONG) memcpy(&k, at, sizeof k), x = (double)k;
    if (f->type == INT) memcpy(&j, at, sizeof j), x = (double)j;
    return x;
}

dae_table *dae_workprec_table(const dae_measurement *m, int count, dae_error *err)
{
    dae_table *t = dae_table_create(1 + nfields, count);
    for (int k = 0; t && k < nfields; k++) {
        dae_table_column(t, 1 + k, fields[k].name, strstr(fields[k].name, "seconds") ? "s" : "");
        if (fields[k].type == TEXT) dae_table_mark_words(t, fields[k].name);
    }
    if (t) {
        dae_table_column(t, 0, "status", "");
        t->no_units = 1;
    }
    for (int i = 0; t && i < count; i++) {
        dae_table_set_text(t, i, 0, dae_status_name(m[i].status));
        for (int k = 0; k < nfields; k++) {
            double x = number_of(&fields[k], &m[i]);
            if (fields[k].type == TEXT)
                dae_table_set_text(t, i, 1 + k, (const char *)&m[i] + fields[k].offset);
            else if (isfinite(x)) dae_table_set(t, i, 1 + k, x);
            else dae_table_set_text(t, i, 1 + k, "");
        }
    }
    if (t && !t->failed) return t;
    dae_table_destroy(t);
    dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    return NULL;
}

dae_status dae_measurement_json(const dae_measurement *m, dae_write_fn *write, void *user)
{
    json_t *o = json_object();
    json_object_set_new(o, "status", json_string(dae_status_name(m->status)));
    for (int i = 0; i < nfields; i++) {
        const char *at = (const char *)m + fields[i].offset;
        double x = number_of(&fields[i], m);
        json_t *v = fields[i].type == TEXT   ? json_string(at)
                    : fields[i].type == REAL ? dae_json_real(x)
                                             : json_integer((json_int_t)x);
        json_object_set_new(o, fields[i].name, v ? v : json_null());
    }
    json_t *from = m->provenance[0] ? json_loads(m->provenance, 0, NULL) : NULL;
    if (from) json_object_set_new(o, "provenance", from);
    return dae_json_line(o, write, user);
}

/* By its name; rows of the matrix have it as "code", those of before 0.1.0 only a word. */
static int status_of(const json_t *o, int row, dae_status *s)
{
    const char *name = json_string_value(json_object_get(o, "status")),
               *code = json_string_value(json_object_get(o, "code"));
    static const dae_status known[] = {DAE_OK, DAE_ERR_MAX_SECONDS, DAE_ERR_INCONSISTENT, DAE_ERR_INPUT};
    if (!name) return 0;
#define X(code_name, value, sentence, hint)        \
    if (!strcmp(code ? code : name, #code_name)) { \
        *s = code_name;                            \
        return 1;                                  \
    }
    DAE_STATUS_LIST(X)
#undef X
    for (size_t i = 0; row && i < sizeof known / sizeof *known; i++) {
        if (strcmp(name, dae_run_status_word(known[i])) != 0) continue;
        *s = known[i];
        return 1;
    }
    *s = DAE_ERR_STEP_TOO_SMALL;
    return row && !strcmp(name, "failed");
}

/* 1 if the value has the type of the field. */
static int take(const struct field *f, const json_t *v, dae_measurement *m)
{
    char *at = (char *)m + f->offset;
    double x = json_is_number(v) ? json_number_value(v) : NAN;
    long k = json_is_integer(v) ? (long)json_integer_value(v) : 0;
    int j = (int)k;
    switch (f->type) {
    case TEXT:
        if (!json_is_string(v)) return 0;
        snprintf(at, f->size, "%s", json_string_value(v));
        return 1;
    case REAL: memcpy(at, &x, sizeof x); return json_is_number(v) || json_is_null(v);
    case LONG: memcpy(at, &k, sizeof k); return json_is_integer(v);
    case INT: memcpy(at, &j, sizeof j); return json_is_integer(v);
    }
    return 0;
}

dae_status dae_measurement_parse(const char *line, size_t length, dae_measurement *m, dae_error *err)
{
    json_error_t where;
    json_t *o = dae_json_read(line, length, 0, &where);
    dae_status s = DAE_OK;
    *m = (dae_measurement){0};
    if (!o && dae_json_starved(&where)) return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    if (!o) return dae_fail(err, DAE_ERR_INPUT, NAN, "no JSON object: %s", where.text);
    /* A row of the matrix has no settings, and null where the first step is the method's. */
    int row = json_object_get(o, "marks") != NULL;
    if (!status_of(o, row, &m->status)) {
        s = dae_fail(err, DAE_ERR_INPUT, NAN, "\"status\" is missing or unknown");
    }
    for (int i = 0; s >= 0 && i < nfields; i++) {
        const json_t *v = json_object_get(o, fields[i].name);
        if (row && (!v || json_is_null(v)) && fields[i].type != REAL) continue;
        if (row && !v) v = json_null();
        if (!v || !take(&fields[i], v, m)) {
            s = dae_fail(err, DAE_ERR_INPUT, NAN, "\"%s\" is %s", fields[i].name,
                         v ? "of another type" : "missing");
        }
    }
    if (row && isnan(m->h0)) m->h0 = 0;
    char *from = json_dumps(json_object_get(o, "provenance"), JSON_COMPACT);
    if (from && strlen(from) < sizeof m->provenance) strcpy(m->provenance, from);
    free(from);
    if (s >= 0 && row && (!m->problem[0] || !m->solver[0]))
        s = dae_fail(err, DAE_ERR_INPUT, NAN, "\"problem\" or \"solver\" is missing");
    json_decref(o);
    return s;
}

int dae_measurement_same(const dae_measurement *a, const dae_measurement *b)
{
    return !strcmp(a->problem, b->problem) && !strcmp(a->settings, b->settings) &&
           !strcmp(a->solver, b->solver) && fabs(a->rtol - b->rtol) <= 1e-12 * b->rtol &&
           fabs(a->atol - b->atol) <= 1e-12 * b->atol && fabs(a->h0 - b->h0) <= 1e-12 * b->h0;
}

double dae_measurement_digits(const dae_measurement *m, int mescd)
{
    return m->status < 0 || m->status == DAE_CANCELLED ? NAN : mescd ? m->mescd : m->scd;
}

double dae_measurement_work(const dae_measurement *m, dae_work work)
{
    return work == DAE_WORK_F ? (double)(m->f + m->f_jac) : m->cpu_seconds;
}

int dae_measurement_first(const dae_measurement *m, int i)
{
    for (int k = 0; k < i; k++) {
        if (!strcmp(m[k].solver, m[i].solver)) return 0;
    }
    return 1;
}

void dae_seconds_text(double seconds, const char *micro, char *out, size_t size)
{
    if (seconds < 1e-3) dae_snprintf(out, size, "%.3g %s", 1e6 * seconds, micro);
    else if (seconds < 1) dae_snprintf(out, size, "%.3g ms", 1e3 * seconds);
    else dae_snprintf(out, size, "%.3g s", seconds);
}
