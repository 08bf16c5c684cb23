/* What a trajectory says: CSV with sensors and reactions, and the balance of energy. */
#include "multibody/acceleration.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct writer {
    mbs_write_fn *write;
    void *user;
    int bad;
} writer;

static void put(writer *w, const char *format, ...) DAE_PRINTF(2, 3);
static void put(writer *w, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n > 0 && !w->bad &&
        w->write(text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1, w->user) < 0)
        w->bad = 1;
}

/* Which of fx fy fz mx my mz a reaction has. */
static int shown(const mbs_mechanism *m, int c)
{
    return !m->planar || c < 2 || c == 5;
}

static void heads(writer *w, const mbs_problem *p)
{
    static const char *const part[] = {"fx", "fy", "fz", "mx", "my", "mz"};
    const mbs_mechanism *m = mbs_problem_mechanism(p);
    const dae_problem *q = mbs_problem_get(p);
    int n = dae_system_size(&m->system);
    put(w, "t");
    for (int i = 0; i < n; i++) put(w, ",%s", q->component[i]);
    for (int i = 0; i < m->model->nsensor; i++) put(w, ",%s", m->model->sensor[i].name);
    for (int k = 0; k < m->njoint; k++) {
        for (int c = 0; c < 6; c++) {
            if (shown(m, c)) put(w, ",%s.reaction.%s", m->joint[k].model->name, part[c]);
        }
    }
    put(w, "\n# units: s");
    for (int i = 0; i < n; i++) put(w, ",%s", q->unit[i]);
    for (int i = 0; i < m->model->nsensor; i++) put(w, ",%s", mbs_mechanism_sensor_unit(m, i));
    for (int k = 0; k < m->njoint; k++) {
        for (int c = 0; c < 6; c++) {
            if (shown(m, c)) put(w, ",%s", c < 3 ? "N" : "N m");
        }
    }
    put(w, "\n");
}

typedef struct values {
    double *a, *lambda, *sensor, *reaction;
} values;

/* 1: all of them are known. */
static int evaluate(mbs_acceleration_solver *solver, const mbs_mechanism *m, double t, const double *y,
                    const values *v)
{
    return mbs_acceleration_at(solver, t, y, v->a, v->lambda, NULL) == DAE_OK &&
           mbs_mechanism_sensors(m, t, y, v->a, v->lambda, v->sensor, NULL) == DAE_OK &&
           mbs_reactions(m, 0, m->njoint, t, y, v->lambda, v->reaction) == DAE_OK;
}

static void line(writer *w, const mbs_mechanism *m, double t, const double *y, int known, const values *v)
{
    int n = dae_system_size(&m->system);
    put(w, "%.17g", t);
    for (int k = 0; k < n; k++) put(w, ",%.17g", y[k]);
    for (int k = 0; k < m->model->nsensor; k++) put(w, ",%.17g", known ? v->sensor[k] : NAN);
    for (int k = 0; k < m->njoint; k++) {
        for (int c = 0; c < 6; c++) {
            if (shown(m, c)) put(w, ",%.17g", known ? v->reaction[6 * k + c] : NAN);
        }
    }
    put(w, "\n");
}

dae_status mbs_write_csv(const mbs_problem *p, int npoint, const double *t, const double *y,
                         mbs_write_fn *write, void *user)
{
    const mbs_mechanism *m = mbs_problem_mechanism(p);
    writer w = {write, user, 0};
    double *work = calloc((size_t)(m->nv + m->nlambda + m->model->nsensor + 6 * m->njoint) + 1, sizeof *work);
    mbs_acceleration_solver *solver = mbs_acceleration_create(m, NULL);
    dae_status status = DAE_ERR_MEMORY;
    if (work && solver) {
        values v = {.a = work};
        v.lambda = v.a + m->nv;
        v.sensor = v.lambda + m->nlambda;
        v.reaction = v.sensor + m->model->nsensor;
        heads(&w, p);
        for (int i = 0; i < npoint && !w.bad; i++, y += dae_system_size(&m->system))
            line(&w, m, t[i], y, evaluate(solver, m, t[i], y, &v), &v);
        status = w.bad ? DAE_ERR_FILE : DAE_OK;
    }
    mbs_acceleration_destroy(solver);
    free(work);
    return status;
}

/* ---- Balance of energy ---------------------------------------------------------------------------------- */

enum { stencil = 6 };

/* The polynomial through n points, at x (Neville). */
static double interpolate(int n, const double *t, const double *f, double x)
{
    double c[stencil];
    for (int i = 0; i < n; i++) c[i] = f[i];
    for (int k = 1; k < n; k++) {
        for (int i = 0; i < n - k; i++)
            c[i] = ((x - t[i + k]) * c[i] + (t[i] - x) * c[i + 1]) / (t[i] - t[i + k]);
    }
    return c[0];
}

/* Integral over [t[i], t[i+1]] of the polynomial through the points around, first .. last of which lie on one side of all
 * jumps: Gauss's three points are exact for its degree. */
static double segment(const double *t, const double *f, int i, int first, int last)
{
    static const double node[] = {0.11270166537925831, 0.5, 0.88729833462074169},
                        weight[] = {5.0 / 18, 8.0 / 18, 5.0 / 18};
    int from = i + 1 - stencil / 2, n = last - first + 1 < stencil ? last - first + 1 : stencil;
    if (from < first) from = first;
    if (from + n - 1 > last) from = last + 1 - n;
    double h = t[i + 1] - t[i], sum = 0;
    for (int k = 0; k < 3; k++) sum += weight[k] * interpolate(n, t + from, f + from, t[i] + node[k] * h);
    return h * sum;
}

/* Adds the work of one smooth piece, and the largest error of the balance in it. */
static void add_piece(const double *t, const double *power, const double *energy, int first, int last,
                      mbs_balance *out)
{
    for (int i = first; i < last; i++) {
        out->work += segment(t, power, i, first, last);
        out->largest = fmax(out->largest, fabs(energy[i + 1] - out->start - out->work));
    }
}

dae_status mbs_energy_balance(const mbs_problem *p, int npoint, const double *t, const double *y,
                              mbs_balance *out)
{
    const mbs_mechanism *m = mbs_problem_mechanism(p);
    size_t n = (size_t)dae_system_size(&m->system);
    dae_status status = DAE_OK;
    mbs_acceleration_solver *solver = mbs_acceleration_create(m, NULL);
    double *power = calloc(2 * (size_t)npoint + 1, sizeof *power), *energy = power ? power + npoint : NULL;
    memset(out, 0, sizeof *out);
    if (!solver || !power) status = DAE_ERR_MEMORY;
    for (int i = 0; i < npoint && !status; i++) {
        mbs_energy e;
        status = mbs_energy_at(m, solver, t[i], y + (size_t)i * n, &e);
        if (status) break;
        power[i] = e.power;
        energy[i] = e.kinetic + e.potential;
    }
    if (!status && npoint > 0) {
        out->start = energy[0];
        out->end = energy[npoint - 1];
        for (int first = 0, last; first < npoint; first = last + 1) { /* a time twice is a jump */
            for (last = first; last + 1 < npoint && t[last + 1] != t[last]; last++) {
            }
            if (first > 0) out->largest = fmax(out->largest, fabs(energy[first] - out->start - out->work));
            add_piece(t, power, energy, first, last, out);
        }
    }
    mbs_acceleration_destroy(solver);
    free(power);
    return status;
}
