/* Measurements: from a run, to a line of JSON, and back. */
#include "core/text.h"

#include <daedalus/study.h>

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The fields by name. The keys are a contract with the files that people keep: add to them, do not rename. */
typedef enum field_type { TEXT, REAL, LONG, INT } field_type;
#define TEXT_FIELD(name)                                                                    \
    {                                                                                       \
#name, TEXT, offsetof(dae_measurement, name), sizeof((dae_measurement *)NULL)->name \
    }
#define FIELD(type, name)                               \
    {                                                   \
#name, type, offsetof(dae_measurement, name), 0 \
    }
static const struct field {
    const char *name;
    field_type type;
    size_t offset, size;
} fields[] = {
    TEXT_FIELD(problem), TEXT_FIELD(settings),  TEXT_FIELD(solver),  TEXT_FIELD(formulation),
    FIELD(REAL, rtol),   FIELD(REAL, atol),     FIELD(REAL, h0),     FIELD(REAL, max_seconds),
    TEXT_FIELD(message), FIELD(REAL, t),        FIELD(REAL, scd),    FIELD(REAL, mescd),
    FIELD(LONG, steps),  FIELD(LONG, accepted), FIELD(LONG, f),      FIELD(LONG, f_jac),
    FIELD(LONG, jac),    FIELD(LONG, lu),       FIELD(LONG, solves), FIELD(REAL, cpu_seconds),
    FIELD(INT, repeat),
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
    if (r->status != DAE_OK) snprintf(m.message, sizeof m.message, "%.255s", r->error.text);
    return m;
}

dae_status dae_measurement_json(const dae_measurement *m, dae_write_fn *write, void *user)
{
    json_t *o = json_object();
    json_object_set_new(o, "status", json_string(dae_status_name(m->status)));
    for (int i = 0; i < nfields; i++) {
        const char *at = (const char *)m + fields[i].offset;
        json_t *v = NULL;
        double x;
        long k;
        int j;
        switch (fields[i].type) {
        case TEXT: v = json_string(at); break;
        case REAL:
            memcpy(&x, at, sizeof x);
            v = isfinite(x) ? json_real(x) : json_null();
            break;
        case LONG:
            memcpy(&k, at, sizeof k);
            v = json_integer(k);
            break;
        case INT:
            memcpy(&j, at, sizeof j);
            v = json_integer(j);
            break;
        }
        json_object_set_new(o, fields[i].name, v ? v : json_null());
    }
    char *line = json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(o);
    if (!line) return DAE_ERR_MEMORY;
    dae_text x = {.write = write, .user = user};
    dae_text_put(&x, line);
    dae_text_put(&x, "\n");
    free(line);
    return dae_text_end(&x);
}

static int status_of(const char *name, dae_status *s)
{
#define X(code, value, sentence, hint)  \
    if (name && !strcmp(name, #code)) { \
        *s = code;                      \
        return 1;                       \
    }
    DAE_STATUS_LIST(X)
#undef X
    return 0;
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
    json_t *o = json_loadb(line, length, 0, &where);
    dae_status s = DAE_OK;
    *m = (dae_measurement){0};
    if (!o) return dae_fail(err, DAE_ERR_INPUT, NAN, "no JSON object: %s", where.text);
    if (!status_of(json_string_value(json_object_get(o, "status")), &m->status)) {
        s = dae_fail(err, DAE_ERR_INPUT, NAN, "\"status\" is missing or unknown");
    }
    for (int i = 0; s >= 0 && i < nfields; i++) {
        const json_t *v = json_object_get(o, fields[i].name);
        if (!v || !take(&fields[i], v, m)) {
            s = dae_fail(err, DAE_ERR_INPUT, NAN, "\"%s\" is %s", fields[i].name,
                         v ? "of another type" : "missing");
        }
    }
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
