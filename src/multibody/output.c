/* What a mechanism tells of its states beyond them: sensors, reactions of the joints, energy. */
#include "multibody/acceleration.h"
#include "multibody/dual.h"
#include "multibody/forces/friction.h"

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
    int status = work && (solver || (a && lambda)) ? 0 : DAE_ERR_MEMORY;
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
        if (s == DAE_ERR_MEMORY) status = s; /* not a number only where the mechanism has none */
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

/* ---- Whose work does not fit ----------------------------------------------------------------------------------
 *
 * An element that switches inside of a step has a power with a corner or a peak there: what its values go up and down beyond the
 * change from one end to the other. A joint whose velocities do not fit (G v + gI is not 0) has reactions that work. Where no element
 * has either, it is the one with the greatest power. */

#define CORNER 1e-3 /* of the greatest power: less is smooth; ours */

static const char *element_name(const mbs_mechanism *m, int i)
{
    if (i < m->nforce) return m->force[i].model->name;
    i -= m->nforce;
    if (i < 2 * m->njoint) return m->joint[i % m->njoint].model->name;
    return m->model->driver[i - 2 * m->njoint].name;
}

/* The power of every force, of the friction in every joint, of the reactions in every joint, of every driver. */
static dae_status powers(const mbs_mechanism *m, mbs_acceleration_solver *solver, double t, const double *y,
                         double *f, double *lambda, double *gI, double *G, double *out)
{
    const dae_mech *s = &m->system.mech;
    double *reaction = out + m->nforce + m->njoint, *driver = reaction + m->njoint;
    const double *v = y + m->np;
    dae_status status = m->nlambda ? mbs_acceleration_at(solver, t, y, NULL, lambda, NULL) : DAE_OK;
    if (status < 0) return status;
    mbs_context x = mbs_begin(m, t, y, v);
    x.u = v + m->nv;
    x.lambda = lambda;
    x.f = f;
    for (int k = 0; k < m->nforce + m->njoint; k++) {
        const mbs_joint_data *j = k < m->nforce ? NULL : &m->joint[k - m->nforce];
        memset(f, 0, (size_t)m->nv * sizeof *f);
        mbs_dual_reset(&x);
        if (!j && m->force[k].type->acts) m->force[k].type->apply(&m->force[k], &x);
        else if (j && j->model->friction.mu > 0) mbs_apply_friction(j, &x);
        out[k] = 0;
        for (int i = 0; i < m->nv; i++) out[k] += f[i] * v[i];
    }
    mbs_end(&x);
    dae_mech_point at = {.t = t, .p = y};
    memset(reaction, 0, (size_t)(m->njoint + m->model->ndriver) * sizeof *reaction);
    if (s->velocity) s->velocity(&at, gI, s->user);
    for (int k = 0; k < m->nrows; k++) {
        const mbs_row *r = &m->row[k];
        if (r->driver >= 0 && r->system[0] >= 0) driver[r->driver] = lambda[r->system[0]] * gI[r->system[0]];
    }
    if (m->nlambda) s->constraint_sparse(&at, NULL, G, s->user);
    for (int j = 0; m->nlambda && j < m->nv; j++)
        for (int e = s->G_colptr[j]; e < s->G_colptr[j + 1]; e++) gI[s->G_rowind[e]] += G[e] * v[j];
    for (int k = 0; k < m->nrows; k++) {
        const mbs_row *r = &m->row[k];
        for (int i = 0; i < r->count && r->joint >= 0; i++)
            if (r->system[i] >= 0) reaction[r->joint] -= lambda[r->system[i]] * gI[r->system[i]];
    }
    return DAE_OK;
}

static int blame(const dae_problem *p, int count, const double *t, const double *y, char *name, size_t size)
{
    const mbs_mechanism *m = mbs_problem_mechanism(p);
    size_t n = (size_t)dae_system_size(&m->system), reaction = (size_t)(m->nforce + m->njoint),
           driver = reaction + (size_t)m->njoint, elements = driver + (size_t)m->model->ndriver,
           nG = m->nlambda ? (size_t)m->system.mech.G_colptr[m->nv] : 0;
    double *work = calloc((size_t)(m->nv + 2 * m->nlambda) + nG + (size_t)count * elements + 1, sizeof *work);
    mbs_acceleration_solver *solver = mbs_acceleration_create(m, NULL);
    dae_status s = work && solver ? DAE_OK : DAE_ERR_MEMORY;
    double *lambda = work + m->nv, *gI = lambda + m->nlambda, *G = gI + m->nlambda, *P = G + nG;
    double corner = 0, most = 0;
    size_t cornered = 0, strongest = 0;
    for (int i = 0; i < count && s >= 0; i++)
        s = powers(m, solver, t[i], y + (size_t)i * n, work, lambda, gI, G, P + (size_t)i * elements);
    for (size_t k = 0; k < elements && s >= 0; k++) {
        double turns = -fabs(P[(size_t)(count - 1) * elements + k] - P[k]), peak = 0;
        for (int i = 0; i < count; i++) {
            double now = P[(size_t)i * elements + k];
            if (i) turns += fabs(now - P[(size_t)(i - 1) * elements + k]);
            peak = fmax(peak, fabs(now));
        }
        if (peak > most) most = peak, strongest = k;
        if (k >= reaction && k < driver) turns = peak; /* ideal joints do no work */
        if (turns > corner) corner = turns, cornered = k;
    }
    if (s >= 0)
        snprintf(name, size, "%s",
                 most > 0 ? element_name(m, (int)(corner > CORNER * most ? cornered : strongest)) : "");
    mbs_acceleration_destroy(solver);
    free(work);
    return s < 0 ? -1 : 0;
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
    p->derived = (dae_derived){
        .ncolumn = n, .column = name, .unit = unit, .columns = columns, .energy = energies, .blame = blame};
    return dae_problem_exhausted(p) ? DAE_ERR_MEMORY : DAE_OK;
}
