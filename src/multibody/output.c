/* What a mechanism tells of its states beyond them: sensors, reactions of the joints, energy. */
#include "multibody/acceleration.h"

#include "problem/problem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Which of fx fy fz mx my mz a reaction has. */
static int shown(const mbs_mechanism *m, int c)
{
    return !m->planar || c < 2 || c == 5;
}

static const char *reaction_name(dae_problem *p, const char *joint, const char *part)
{
    size_t size = strlen(joint) + strlen(part) + sizeof ".reaction.";
    char *name = dae_problem_take(p, size, 1);
    if (name) snprintf(name, size, "%s.reaction.%s", joint, part);
    return name;
}

typedef struct values {
    double *a, *lambda, *sensor, *reaction;
} values;

/* DAE_OK: all of them are known. */
static dae_status evaluate(mbs_acceleration_solver *solver, const mbs_mechanism *m, double t, const double *y,
                           const values *v)
{
    dae_status s = solver ? mbs_acceleration_at(solver, t, y, v->a, v->lambda, NULL) : DAE_OK;
    if (!s) s = mbs_mechanism_sensors(m, t, y, v->a, v->lambda, v->sensor, NULL);
    return s ? s : mbs_reactions(m, 0, m->njoint, t, y, v->lambda, v->reaction);
}

static void row(const mbs_mechanism *m, int known, const values *v, double *value)
{
    for (int k = 0; k < m->model->nsensor; k++) *value++ = known ? v->sensor[k] : NAN;
    for (int k = 0; k < m->njoint; k++) {
        for (int c = 0; c < 6; c++) {
            if (shown(m, c)) *value++ = known ? v->reaction[6 * k + c] : NAN;
        }
    }
}

static int columns(const dae_problem *p, int count, const double *t, const double *y, const double *a,
                   const double *lambda, double *value)
{
    const mbs_mechanism *m = mbs_problem_mechanism(p);
    size_t n = (size_t)dae_system_size(&m->system);
    double *work = calloc((size_t)(m->nv + m->nlambda + m->model->nsensor + 6 * m->njoint) + 1, sizeof *work);
    mbs_acceleration_solver *solver = a && lambda ? NULL : mbs_acceleration_create(m, NULL);
    int status = work && (solver || (a && lambda)) ? 0 : -1;
    for (int i = 0; i < count && !status; i++) {
        values v = {.a = work};
        v.lambda = v.a + m->nv;
        v.sensor = v.lambda + m->nlambda;
        v.reaction = v.sensor + m->model->nsensor;
        if (!solver) {
            memcpy(v.a, a + (size_t)i * (size_t)m->nv, (size_t)m->nv * sizeof *a);
            memcpy(v.lambda, lambda + (size_t)i * (size_t)m->nlambda, (size_t)m->nlambda * sizeof *lambda);
        }
        dae_status s = evaluate(solver, m, t[i], y + (size_t)i * n, &v);
        if (s == DAE_ERR_MEMORY) status = -1; /* not a number only where the mechanism has none */
        row(m, s == DAE_OK, &v, value + (size_t)i * (size_t)p->derived.ncolumn);
    }
    mbs_acceleration_destroy(solver);
    free(work);
    return status;
}

static int energies(const dae_problem *p, int count, const double *t, const double *y, dae_energy *out)
{
    const mbs_mechanism *m = mbs_problem_mechanism(p);
    size_t n = (size_t)dae_system_size(&m->system);
    mbs_acceleration_solver *solver = mbs_acceleration_create(m, NULL);
    dae_status status = solver ? DAE_OK : DAE_ERR_MEMORY;
    for (int i = 0; i < count && status >= 0; i++)
        status = mbs_energy_at(m, solver, t[i], y + (size_t)i * n, &out[i]);
    mbs_acceleration_destroy(solver);
    return status == DAE_ERR_MEMORY ? -2 : status < 0 ? -1 : 0;
}

dae_status mbs_problem_derive(dae_problem *p, const mbs_mechanism *m)
{
    static const char *const part[] = {"fx", "fy", "fz", "mx", "my", "mz"};
    size_t most = (size_t)m->model->nsensor + 6 * (size_t)m->njoint + 1;
    const char **name = dae_problem_take(p, most, sizeof *name),
               **unit = dae_problem_take(p, most, sizeof *unit);
    int n = 0;
    if (!name || !unit) return DAE_ERR_MEMORY;
    for (int i = 0; i < m->model->nsensor; i++, n++) {
        name[n] = m->model->sensor[i].name;
        unit[n] = mbs_mechanism_sensor_unit(m, i);
    }
    for (int k = 0; k < m->njoint; k++) {
        for (int c = 0; c < 6; c++) {
            if (!shown(m, c)) continue;
            name[n] = reaction_name(p, m->joint[k].model->name, part[c]);
            unit[n++] = c < 3 ? "N" : "N m";
        }
    }
    p->derived =
        (dae_derived){.ncolumn = n, .column = name, .unit = unit, .columns = columns, .energy = energies};
    return dae_problem_exhausted(p) ? DAE_ERR_MEMORY : DAE_OK;
}
