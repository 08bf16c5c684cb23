/* A slider-crank with a stop or dry friction on its slider: as a mechanism, and as one equation for the crank angle that
 * was derived by hand and is integrated by the classical Runge-Kutta method in steps that need no care at borders. */
#ifndef DAE_TESTS_SLIDER_CRANK_H
#define DAE_TESTS_SLIDER_CRANK_H

#include "test.h"

#include <daedalus/daedalus.h>

#include <math.h>

typedef struct slider_crank {
    double L1, L2, m1, I1, m2, I2, m3; /* crank, rod, slider; inertias about the centers in the middle */
    double torque, angle, speed;       /* of the crank: constant torque, where and how fast it starts */
    double stop, k, c;                 /* k 0: no stop */
    double mu, v_s;                    /* mu 0: no friction */
    double stick;                      /* 1/s; by hand: with v_s so small that tanh(v/v_s) is a sign */
    double t1;
} slider_crank;

/* Pushed by its torque over several turns. */
static const slider_crank crank_plain = {.L1 = 0.15,
                                         .L2 = 0.3,
                                         .m1 = 0.36,
                                         .I1 = 0.000702,
                                         .m2 = 0.151104,
                                         .I2 = 0.0011340859,
                                         .m3 = 0.075552,
                                         .torque = 0.5,
                                         .angle = 1.5,
                                         .speed = 20,
                                         .t1 = 0.6};

/* ---- By hand ------------------------------------------------------------------------------------------- */

/* Rod angle b from sin b = -L1 sin a/L2; positions by a: x of slider, and of the centers; with first and second
 * derivatives by a. */
typedef struct crank_geometry {
    double b, b1, b2, x, x1, x2, cx1, cx2, cy1, cy2;
} crank_geometry;

static inline crank_geometry crank_at(const slider_crank *s, double a)
{
    crank_geometry g;
    double r = s->L1 / s->L2;
    g.b = asin(-r * sin(a));
    double cb = cos(g.b), sb = sin(g.b);
    g.b1 = -r * cos(a) / cb;
    g.b2 = (r * sin(a) + sb * g.b1 * g.b1) / cb;
    g.x = s->L1 * cos(a) + s->L2 * cb;
    g.x1 = -s->L1 * sin(a) - s->L2 * sb * g.b1;
    g.x2 = -s->L1 * cos(a) - s->L2 * (cb * g.b1 * g.b1 + sb * g.b2);
    g.cx1 = -s->L1 * sin(a) - s->L2 / 2 * sb * g.b1;
    g.cx2 = -s->L1 * cos(a) - s->L2 / 2 * (cb * g.b1 * g.b1 + sb * g.b2);
    g.cy1 = s->L1 * cos(a) + s->L2 / 2 * cb * g.b1;
    g.cy2 = -s->L1 * sin(a) + s->L2 / 2 * (-sb * g.b1 * g.b1 + cb * g.b2);
    return g;
}

/* a'' from the principle of virtual work; the normal force N on the slider from the moments of the rod about its
 * crank pin, which is linear in a'' and N for each sign of N. */
static inline double crank_acceleration(const slider_crank *s, double a, double w)
{
    const double g0 = 9.81;
    crank_geometry g = crank_at(s, a);
    double J = s->I1 + s->m1 * s->L1 * s->L1 / 4, cb = cos(g.b), sb = sin(g.b), l = s->L2 / 2;
    double M = J + s->m2 * (g.cx1 * g.cx1 + g.cy1 * g.cy1) + s->I2 * g.b1 * g.b1 + s->m3 * g.x1 * g.x1;
    double h = s->m2 * (g.cx1 * g.cx2 + g.cy1 * g.cy2) + s->I2 * g.b1 * g.b2 + s->m3 * g.x1 * g.x2;
    double Q = s->torque - s->m1 * g0 * s->L1 / 2 * cos(a) - s->m2 * g0 * g.cy1 - h * w * w;
    if (s->k > 0) {
        double d = g.x - s->stop, F = s->k * d + s->c * g.x1 * w;
        if (d > 0 && F > 0) Q -= g.x1 * F;
    }
    if (!(s->mu > 0)) return Q / M;
    /* Force R of the rod on the slider: Rx = m3 x'' + f N, Ry = m3 g0 - N, f = mu sign tanh(v/v_s), friction -f N.
     * Rod about the pin: I2 b'' + l (cb ay - sb ax) m2 = -l cb m2 g0 - 2 l (cb Ry - sb Rx). */
    double th = tanh(g.x1 * w / s->v_s), best = 0;
    for (int sign = 1; sign >= -1; sign -= 2) {
        double f = sign * s->mu * th;
        double A = s->I2 * g.b1 + l * s->m2 * (cb * g.cy1 - sb * g.cx1) - 2 * l * sb * s->m3 * g.x1;
        double B = -2 * l * (cb + sb * f);
        double C = -s->I2 * g.b2 * w * w - l * s->m2 * (cb * g.cy2 - sb * g.cx2) * w * w +
                   2 * l * sb * s->m3 * g.x2 * w * w - l * cb * s->m2 * g0 - 2 * l * cb * s->m3 * g0;
        /* A a'' + B N = C, M a'' + x1 f N = Q */
        double det = A * g.x1 * f - B * M, N = (A * Q - M * C) / det;
        best = (C * g.x1 * f - B * Q) / det;
        if (sign * N >= 0) break;
    }
    return best;
}

static inline void crank_step(const slider_crank *s, double h, double x[2])
{
    double a = x[0], w = x[1];
    double k1 = crank_acceleration(s, a, w), w2 = w + h / 2 * k1;
    double k2 = crank_acceleration(s, a + h / 2 * w, w2), w3 = w + h / 2 * k2;
    double k3 = crank_acceleration(s, a + h / 2 * w2, w3), w4 = w + h * k3;
    double k4 = crank_acceleration(s, a + h * w3, w4);
    x[0] += h / 6 * (w + 2 * w2 + 2 * w3 + w4);
    x[1] += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
}

/* Does the stop push? */
static inline int crank_pushes(const slider_crank *s, const double x[2])
{
    crank_geometry g = crank_at(s, x[0]);
    return s->k > 0 && g.x > s->stop && s->k * (g.x - s->stop) + s->c * g.x1 * x[1] > 0;
}

/* Crank angle and speed at t1. A stop with damping jumps: the step in which it does is halved until it is short. Before
 * step `when` the state is kicked (NULL: never). */
static inline void crank_kicked(const slider_crank *s, long steps, long when, const double *kick,
                                double out[2])
{
    double x[2] = {s->angle, s->speed}, h = s->t1 / (double)steps;
    for (long i = 0; i < steps; i++) {
        double left = h;
        if (kick && i == when) x[0] += kick[0], x[1] += kick[1];
        while (left > 0) {
            double part = left, trial[2];
            for (;;) {
                trial[0] = x[0], trial[1] = x[1];
                crank_step(s, part, trial);
                if (crank_pushes(s, x) == crank_pushes(s, trial) || part < 1e-9 * h) break;
                part /= 2;
            }
            x[0] = trial[0], x[1] = trial[1];
            left -= part;
        }
    }
    out[0] = x[0];
    out[1] = x[1];
}

static inline void crank_reference(const slider_crank *s, long steps, double out[2])
{
    crank_kicked(s, steps, 0, NULL, out);
}

/* How much the end moves by errors that enter on the way, each 1 relative to max(1, |value|): the sum over 4 times. */
static inline double crank_conditioning(const slider_crank *s, long steps)
{
    const double d = 1e-7;
    double base[2], end[2], sum = 0;
    crank_reference(s, steps, base);
    for (int j = 0; j < 4; j++) {
        for (int k = 0; k < 2; k++) {
            double kick[2] = {k == 0 ? d : 0, k == 1 ? d * fmax(1, fabs(s->speed)) : 0};
            crank_kicked(s, steps, j * steps / 4, kick, end);
            sum += (fabs(end[0] - base[0]) + fabs(end[1] - base[1])) / d;
        }
    }
    return sum;
}

/* ---- As a mechanism ------------------------------------------------------------------------------------- */

static inline mbs_model *crank_model(const slider_crank *s)
{
    crank_geometry g = crank_at(s, s->angle);
    double a = s->angle, w = s->speed, px = s->L1 * cos(a), py = s->L1 * sin(a);
    static char torque[32];
    snprintf(torque, sizeof torque, "%.17g", s->torque);
    mbs_model *m = mbs_model_create("slider_crank", MBS_PLANAR);
    mbs_model_set_gravity(m, 0, -9.81, 0);
    mbs_model_add_body(m, &(mbs_body){.name = "crank",
                                      .mass = s->m1,
                                      .inertia = {0, 0, s->I1},
                                      .center = {px / 2, py / 2},
                                      .angle = a,
                                      .v = {-py / 2 * w, px / 2 * w},
                                      .omega = {0, 0, w}});
    mbs_model_add_body(m, &(mbs_body){.name = "rod",
                                      .mass = s->m2,
                                      .inertia = {0, 0, s->I2},
                                      .center = {px + s->L2 / 2 * cos(g.b), py + s->L2 / 2 * sin(g.b)},
                                      .angle = g.b,
                                      .v = {g.cx1 * w, g.cy1 * w},
                                      .omega = {0, 0, g.b1 * w}});
    mbs_model_add_body(
        m, &(mbs_body){
               .name = "slider", .mass = s->m3, .inertia = {0, 0, 1e-4}, .center = {g.x}, .v = {g.x1 * w}});
    mbs_model_add_joint(m, &(mbs_joint){.name = "J1", .type = "revolute", .b = 1});
    mbs_model_add_joint(m, &(mbs_joint){.name = "J2", .type = "revolute", .a = 1, .b = 2, .at = {px, py}});
    mbs_model_add_joint(m, &(mbs_joint){.name = "J3", .type = "revolute", .a = 2, .b = 3, .at = {g.x}});
    mbs_model_add_point(m, &(mbs_point){.name = "O"});
    mbs_model_add_point(m, &(mbs_point){.name = "S", .body = 3});
    mbs_model_add_joint(m, &(mbs_joint){.name = "J4",
                                        .type = "prismatic",
                                        .point_a = "O",
                                        .point_b = "S",
                                        .axis = {1},
                                        .friction = {.mu = s->mu, .v_s = s->v_s, .stick = s->stick}});
    mbs_model_add_force(
        m, &(mbs_force){.name = "drive", .type = "torque", .joint = "J1", .value = {torque}, .count = 1});
    if (s->k > 0)
        mbs_model_add_force(m, &(mbs_force){.name = "buffer",
                                            .type = "stop",
                                            .joint = "J4",
                                            .field = {{"k", .number = s->k},
                                                      {"c", .number = s->c},
                                                      {"min", .number = -100},
                                                      {"max", .number = s->stop}}});
    return m;
}

static inline mbs_mechanism *crank_mechanism(const slider_crank *s)
{
    dae_error err = {0};
    mbs_model *m = crank_model(s);
    mbs_mechanism *c = mbs_mechanism_create(m, &err);
    if (!c) fail_msg("%s", err.text);
    mbs_model_destroy(m);
    return c;
}

/* By a method: the same two numbers. */
static inline dae_status crank_solve(const mbs_mechanism *c, const slider_crank *s, const char *method,
                                     double tol, double out[2], dae_stats *stats, dae_error *err)
{
    double y[32];
    dae_options opt = dae_options_default();
    opt.method = method;
    opt.rtol = opt.atol = tol;
    dae_status r = mbs_mechanism_initial(c, y, err);
    if (r >= 0) r = dae_solve(mbs_mechanism_system(c), &opt, 0, s->t1, y, stats, err);
    out[0] = y[2];
    out[1] = y[9 + 2];
    return r;
}

#endif
