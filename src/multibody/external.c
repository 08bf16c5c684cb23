/* Equations beside a mechanism, see external.h. */
#include "multibody/external.h"

#include "language/expression.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void mbs_external_destroy(mbs_external *e)
{
    if (e) e->destroy(e);
}

/* ---- Building ------------------------------------------------------------------------------------------ */

void mbs_external_number(mbs_mechanism *m)
{
    const mbs_external *e = m->external;
    m->external_u = m->nu;
    if (!e) return;
    for (int i = 0; i < e->nstate; i++) m->p0[m->np + m->nv + m->nu + i] = e->start[i];
    m->nu += e->nstate;
}

/* How deep sensors lie in sensors: each is an expression inside of another. */
static int sensor_depth(const mbs_mechanism *m, int sensor)
{
    const int *variable;
    int n = dae_expression_variables(m->expression[m->sensor[sensor]], &variable), deepest = 0;
    for (int k = 0; k < n; k++) {
        const mbs_signal *s = &m->signal[variable[k]];
        int depth = s->kind == MBS_SENSOR ? sensor_depth(m, s->object) : 0;
        deepest = depth > deepest ? depth : deepest;
    }
    return deepest + 1;
}

/* Corners of a sensor that equations read move something. */
static void number_sensor(mbs_mechanism *m, int sensor)
{
    const int *variable;
    int n = dae_expression_variables(m->expression[m->sensor[sensor]], &variable);
    m->expression_side[m->sensor[sensor]] = 0;
    for (int k = 0; k < n; k++) {
        if (m->signal[variable[k]].kind == MBS_SENSOR) number_sensor(m, m->signal[variable[k]].object);
    }
}

void mbs_external_prepare(mbs_mechanism *m)
{
    const mbs_external *e = m->external;
    int deepest = 0;
    if (!e) return;
    m->external_room = 2 * e->nsignal + e->nstate + 1;
    for (int k = 0; k < e->nsignal; k++) {
        if (e->signal[k].kind != MBS_SENSOR) continue;
        int depth = sensor_depth(m, e->signal[k].object);
        deepest = depth > deepest ? depth : deepest;
        number_sensor(m, e->signal[k].object);
    }
    /* forces ask for an input, which asks for sensors, which ask for forces */
    m->nested = 2 * m->nested + 2 + deepest;
}

/* ---- Which signals -------------------------------------------------------------------------------------- */

static const char *expression_refuses(const mbs_mechanism *m, int expression)
{
    const int *variable;
    const char *why = NULL;
    int n = expression >= 0 ? dae_expression_variables(m->expression[expression], &variable) : 0;
    for (int k = 0; k < n && !why; k++) why = mbs_external_refuses(m, &m->signal[variable[k]]);
    return why;
}

static const char *force_refuses(const mbs_mechanism *m, int force)
{
    const char *why = NULL;
    for (int i = 0; i < 3 && !why; i++) why = expression_refuses(m, m->force[force].value[i]);
    return why;
}

const char *mbs_external_refuses(const mbs_mechanism *m, const mbs_signal *s)
{
    switch (s->kind) {
    case MBS_INPUT: return "depends on an input";
    case MBS_FORCE_SIGNAL:
        if (m->force[s->object].type->acts & MBS_ACTS_ALL) return "is a force of collisions";
        return s->component == MBS_FORCE_DEFLECTION ? NULL : force_refuses(m, s->object);
    case MBS_SENSOR: return expression_refuses(m, m->sensor[s->object]);
    case MBS_ENERGY:
        for (int k = 0; s->component && k < m->nforce; k++) {
            if (m->force[k].type->potential)
                return "is an energy of springs, too: only energy.kinetic can be read";
        }
        return NULL;
    case MBS_LOCAL: return "belongs to a force";
    default: return s->kind >= MBS_BODY_ACCELERATION ? "depends on accelerations or reactions" : NULL;
    }
}

/* ---- Evaluation ----------------------------------------------------------------------------------------- */

static const int *sides(const mbs_context *x)
{
    return x->m->side ? x->m->side + x->m->external_side : NULL;
}

static const double *states(const mbs_context *x)
{
    return x->u ? x->u + x->m->external_u : x->m->p0 + x->m->np + x->m->nv + x->m->external_u;
}

mbs_dual mbs_sensor_dual(mbs_context *x, int sensor)
{
    const double *known = x->sensor;
    x->sensor = NULL;           /* those that it is made of are computed, too */
    x->work += x->m->work_size; /* the variables of the expression that asks stay */
    mbs_dual value = mbs_expression_dual(x, x->m->sensor[sensor], NULL);
    x->work -= x->m->work_size;
    x->sensor = known;
    return value;
}

static double signal_value(mbs_context *x, const mbs_signal *s)
{
    mbs_context plain = *x;
    plain.nz = 0;
    plain.J = NULL;
    if (s->kind == MBS_SENSOR) return mbs_sensor_dual(&plain, s->object).x;
    plain.work += x->m->work_size;
    return mbs_signal_value(&plain, s);
}

/* Kinetic energy by velocities: m v and J omega; potential energy of the weights by positions: -m g. */
mbs_dual mbs_energy_dual(mbs_context *x, const mbs_signal *s)
{
    const mbs_mechanism *m = x->m;
    mbs_dual out = mbs_fresh(x, mbs_signal_value(x, s));
    for (int k = 1; x->nz && k <= m->nbody; k++) {
        double by[6];
        mbs_rotate(m->inertia + 9 * (k - 1), x->pose[k].w, by + 3);
        for (int c = 0; c < 3; c++) by[c] = m->mass[k - 1] * x->pose[k].v[c];
        for (int c = 0; c < 6; c++) {
            int slot = mbs_slot_of(m, k, c);
            if (slot < 0) continue;
            if (s->component != 1) out.g[m->nv + slot] += by[c];
            if (s->component != 0 && c < 3) out.g[slot] -= m->mass[k - 1] * m->gravity[c];
        }
    }
    return out;
}

static mbs_dual signal_dual(mbs_context *x, const mbs_signal *s)
{
    if (s->kind == MBS_SENSOR) return mbs_sensor_dual(x, s->object);
    x->work += x->m->work_size;
    mbs_dual value = mbs_signal_dual(x, s, NULL);
    x->work -= x->m->work_size;
    return value;
}

void mbs_external_signals(mbs_context *x, double *out)
{
    const mbs_external *e = x->m->external;
    for (int k = 0; k < e->nsignal; k++) out[k] = signal_value(x, &e->signal[k]);
}

int mbs_signals_at(const mbs_mechanism *m, double t, const double *y, int n, const mbs_signal *signal,
                   double *out)
{
    double *sensor = calloc((size_t)m->model->nsensor + 1, sizeof *sensor);
    if (!sensor) return -1;
    mbs_context x = mbs_begin(m, t, y, y + m->np);
    x.u = y + m->np + m->nv;
    x.sensor = sensor;
    for (int k = 0; k < m->model->nsensor; k++)
        sensor[k] = expression_refuses(m, m->sensor[k]) ? NAN : mbs_expression_at(&x, m->sensor[k]);
    for (int k = 0; k < n; k++) out[k] = mbs_signal_value(&x, &signal[k]);
    mbs_end(&x);
    free(sensor);
    return 0;
}

/* Which of the inputs of the equations a parameter is, -1: none. */
static int number_of(const mbs_external *e, int parameter)
{
    int k = e ? e->ninput - 1 : -1;
    while (k >= 0 && e->input[k] != parameter) k--;
    return k;
}

double mbs_input_value(mbs_context *x, int parameter)
{
    const mbs_external *e = x->m->external;
    int which = number_of(e, parameter);
    double *signal = x->scratch + x->m->scratch, value;
    if (which < 0) return x->m->model->parameter[parameter].value;
    mbs_external_signals(x, signal);
    return e->input_at(e, which, x->t, states(x), signal, sides(x), &value, NULL) ? NAN : value;
}

mbs_dual mbs_input_dual(mbs_context *x, int parameter)
{
    const mbs_external *e = x->m->external;
    int which = number_of(e, parameter);
    if (which < 0 || !x->nz) return mbs_constant(mbs_input_value(x, parameter));
    double *signal = x->scratch + x->m->scratch, *gradient = signal + e->nsignal;
    mbs_dual out = mbs_fresh(x, 0);
    mbs_external_signals(x, signal);
    if (e->input_at(e, which, x->t, states(x), signal, sides(x), &out.x, gradient)) out.x = NAN;
    for (int k = 0; k < e->nsignal; k++) {
        size_t mark = x->used;
        if (gradient[k] != 0) mbs_accumulate(x, gradient[k], signal_dual(x, &e->signal[k]), &out);
        x->used = mark;
    }
    for (int k = 0; k < e->nstate; k++) {
        size_t mark = x->used;
        double slope = gradient[e->nsignal + k];
        if (slope != 0) mbs_accumulate(x, slope, mbs_state_dual(x, x->m->external_u + k), &out);
        x->used = mark;
    }
    mbs_seed_time(x, &out, gradient[e->nsignal + e->nstate]);
    return out;
}

void mbs_external_dynamics(mbs_context *x, double *rate)
{
    const mbs_external *e = x->m->external;
    double *signal = x->scratch + x->m->scratch;
    if (!e || !e->nstate) return;
    mbs_external_signals(x, signal);
    if (e->rates(e, x->t, states(x), signal, sides(x), rate)) rate[0] = NAN;
}

void mbs_external_margins(mbs_context *x, double *margin, int *next)
{
    const mbs_external *e = x->m->external;
    int first = x->m->external_side;
    double *signal = x->scratch + x->m->scratch;
    if (!e) return;
    mbs_external_signals(x, signal); /* notes the switches of sensors */
    if (!e->nswitch) return;
    if (e->margins(e, x->t, states(x), signal, sides(x), margin + first, next + first)) margin[first] = NAN;
}
