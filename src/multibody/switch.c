/* Stick, slip and rest: what changes at events.
 *
 * Each has four numbers in u that are constant between events (but the deflection of a contact that sticks):
 *
 *     joint with friction   mode, anchor, k, c     mode 0 sticks, +1 and -1 slips that way
 *     contact               mode, z (3)            mode 1 sticks, 0 slips or does not touch
 *     impact of an event    mode, anchor, k, c     mode 0 free, +1 and -1 rests and is pushed that way
 *
 * Sticking and resting hold a coordinate q by a critically damped spring, k = m w^2, c = 2 m w, where m is the mass that q
 * has with all constraints and w the given rate: F = k (anchor - q) - c q'. When it begins the anchor is set so that
 * F is the force of the constraint q'' = 0, so nothing moves while the load stays; a load that changes by dF moves it by
 * dF/k. A joint sticks where q' passes zero if that force is within mu_static N, slips on the other way if it is not, and
 * breaks loose where F leaves that range. An impact rests if the rebound is slow and F pushes; it leaves where F ends. */
#include "multibody/forces/contact.h"
#include "multibody/forces/friction.h"

#include "multibody/dual.h"

#include <stdlib.h>
#include <string.h>

#define REST_RATE 1e3 /* 1/s, of resting contacts; ours */
#define AT_REST 1e-9  /* m/s, rad/s: at the start; ours */
/* m/s, rad/s, and these per second: a coordinate that no force moves slips above it; ours */
#define LOOSE 1e-6
/* a joint whose force has left the range sticks again only below this part of it; ours */
#define BREAK_SHARE 0.999
#define SLIP_SPEED 1e-3 /* m/s, of contacts, if none is given */

static const mbs_coordinate *slider(const mbs_joint_data *j)
{
    return j->main == MBS_ANGLE ? &j->angle : &j->slide;
}

static double static_limit(const mbs_joint_data *j, double N)
{
    double mu = j->model->friction.mu_static > 0 ? j->model->friction.mu_static : j->model->friction.mu;
    return mu * N * (j->main == MBS_ANGLE ? j->model->friction.radius : 1);
}

/* ---- Holding a coordinate ------------------------------------------------------------------------------ */

static double difference(const mbs_context *x, const mbs_coordinate *q, double anchor)
{
    double d = mbs_coordinate_value(x, q) - anchor;
    return q->kind == MBS_ANGLE && !x->m->planar ? remainder(d, 2 * 3.14159265358979323846) : d;
}

static double held_force(const mbs_context *x, const mbs_coordinate *q, const double *u)
{
    return -u[2] * difference(x, q, u[1]) - u[3] * mbs_coordinate_rate(x, q);
}

/* Spring, damper and anchor in u so that the force is F now. */
static void hold(const mbs_mechanism *m, double t, const double *y, const mbs_coordinate *q, double mobility,
                 double rate, double F, double *u)
{
    mbs_context x = mbs_begin(m, t, y, y + m->np);
    u[2] = rate * rate / mobility;
    u[3] = 2 * rate / mobility;
    u[1] = mbs_coordinate_value(&x, q) + F / u[2];
    mbs_end(&x);
}

/* ---- Joints -------------------------------------------------------------------------------------------- */

/* No force moves the coordinate (that of a driver, of a slider at a dead center), so none holds it: it slips as the rest of the mechanism
 * takes it along, and is loose where that does not. 0, or DAE_ERR_MEMORY. */
static int let_go(const mbs_mechanism *m, const mbs_coordinate *q, double t, const double *y, double *u)
{
    double *a = calloc(2 * (size_t)m->nv, sizeof *a);
    dae_status s = a ? mbs_accelerations(m, t, y, NULL, a, NULL, NULL, NULL) : DAE_ERR_MEMORY;
    if (!s) {
        mbs_context x = mbs_begin(m, t, y, y + m->np);
        double goes = mbs_coordinate_bias(&x, q), rate = mbs_coordinate_rate(&x, q);
        mbs_coordinate_vector(&x, q, a + m->nv);
        mbs_end(&x);
        for (int i = 0; i < m->nv; i++) goes += a[m->nv + i] * a[i];
        if (fabs(goes) <= LOOSE) goes = rate;
        if (fabs(goes) > LOOSE) u[0] = goes > 0 ? 1 : -1;
    }
    free(a);
    return s == DAE_ERR_MEMORY ? s : 0;
}

/* The joint is at rest: does it stick? Within this share of the static limit it does. 0, or DAE_ERR_MEMORY. */
static int settle(const mbs_mechanism *m, const mbs_joint_data *j, double share, double t, double *y)
{
    double *u = y + m->np + m->nv + j->grip, F = 0, mobility;
    memset(u, 0, 4 * sizeof *u);
    dae_status s = mbs_mobility(m, t, y, slider(j), &mobility);
    if (s) return s == DAE_ERR_MEMORY ? s : let_go(m, slider(j), t, y, u);
    double *lambda = calloc((size_t)m->nlambda + 1, sizeof *lambda);
    s = lambda ? mbs_accelerations(m, t, y, slider(j), NULL, lambda, &F, NULL) : DAE_ERR_MEMORY;
    if (!s && fabs(F) <= share * static_limit(j, mbs_normal_force(m, j, lambda)))
        hold(m, t, y, slider(j), mobility, j->model->friction.stick, F, u);
    else if (!s) u[0] = F > 0 ? -1 : 1;
    free(lambda);
    return s == DAE_ERR_MEMORY ? s : 0;
}

/* phi[0]: slipping ends where the speed has passed zero, phi[1]: sticking where the force is too large. */
static int joint_values(const mbs_mechanism *m, const mbs_joint_data *j, double t, const double *y,
                        double *phi)
{
    const double *u = y + m->np + m->nv + j->grip;
    mbs_context x = mbs_begin(m, t, y, y + m->np);
    double rate = mbs_coordinate_rate(&x, slider(j)), F = held_force(&x, slider(j), u);
    mbs_end(&x);
    phi[0] = mbs_mode(u) * rate;
    phi[1] = 0;
    if (mbs_mode(u)) return 0;
    phi[1] = fabs(rate) - LOOSE;
    if (!(u[2] > 0)) return 0;
    double *lambda = calloc((size_t)m->nlambda + 1, sizeof *lambda);
    int s = lambda ? mbs_mechanism_acceleration(m, t, y, NULL, lambda, NULL) : DAE_ERR_MEMORY;
    if (!s) phi[1] = fabs(F) - static_limit(j, mbs_normal_force(m, j, lambda));
    free(lambda);
    return s == DAE_ERR_MEMORY ? s : 0;
}

/* Where a force of rounding or of dense output was too large only for a moment, the joint sticks again; not at the very limit, where
 * the force would start beyond the range and never be seen to leave it. */
static int joint_act(const mbs_mechanism *m, const mbs_joint_data *j, int slips, double t, double *y)
{
    double *u = y + m->np + m->nv + j->grip;
    if (!slips || u[2] > 0) return settle(m, j, slips ? BREAK_SHARE : 1, t, y);
    mbs_context x = mbs_begin(m, t, y, y + m->np);
    u[0] = mbs_coordinate_rate(&x, slider(j)) > 0 ? 1 : -1;
    mbs_end(&x);
    u[1] = u[2] = u[3] = 0;
    return 0;
}

/* ---- Contacts ------------------------------------------------------------------------------------------ */

static void contact_values(const mbs_mechanism *m, const mbs_force_data *f, double t, const double *y,
                           double *phi)
{
    const double *u = y + m->np + m->nv + f->grip;
    double N, F;
    mbs_context x = mbs_begin(m, t, y, y + m->np);
    x.u = y + m->np + m->nv;
    double speed = mbs_contact_slip(f, &x, &N, &F), limit = ((const mbs_contact *)f->own)->v_s;
    mbs_end(&x);
    phi[0] = mbs_mode(u) ? 0 : fmin(speed, 1e3 * limit) - limit; /* infinite where they do not touch */
    phi[1] = mbs_mode(u) ? F - ((const mbs_contact *)f->own)->mu * N : 0;
}

static void contact_act(const mbs_mechanism *m, const mbs_force_data *f, int slips, double t, double *y)
{
    double *u = y + m->np + m->nv + f->grip, next[4] = {0, 0, 0, 0};
    mbs_context x = mbs_begin(m, t, y, y + m->np);
    x.u = y + m->np + m->nv;
    if (!slips) mbs_contact_stick(f, &x, next);
    mbs_end(&x);
    memcpy(u, next, sizeof next);
}

/* ---- Resting contacts ---------------------------------------------------------------------------------- */

static double rest_value(const mbs_mechanism *m, int k, double t, const double *y)
{
    const double *u = y + m->np + m->nv + m->rest[k];
    if (!mbs_mode(u)) return 0;
    mbs_context x = mbs_begin(m, t, y, y + m->np);
    double F = held_force(&x, &m->impact[k], u);
    mbs_end(&x);
    return mbs_mode(u) * F;
}

int mbs_switch_rest(const mbs_mechanism *m, int k, double t, double *y, double push)
{
    if (m->rest[k] < 0) return 0;
    double *u = y + m->np + m->nv + m->rest[k], F = 0, mobility;
    memset(u, 0, 4 * sizeof *u);
    dae_status s = mbs_mobility(m, t, y, &m->impact[k], &mobility);
    if (!s) s = mbs_accelerations(m, t, y, &m->impact[k], NULL, NULL, &F, NULL);
    if (s || !(push * F > 0)) return s == DAE_ERR_MEMORY ? s : 0;
    hold(m, t, y, &m->impact[k], mobility, REST_RATE, F, u);
    u[0] = push;
    return 1;
}

void mbs_apply_rest(mbs_context *x)
{
    const mbs_mechanism *m = x->m;
    for (int k = 0; x->u && k < m->model->nevent; k++) {
        const double *u = m->rest[k] >= 0 ? x->u + m->rest[k] : NULL;
        if (!u || !mbs_mode(u)) continue;
        mbs_dual value, rate;
        mbs_dual_reset(x);
        mbs_coordinate_dual(x, &m->impact[k], &value, &rate);
        value.x = difference(x, &m->impact[k], u[1]);
        mbs_dual F = mbs_sum(x, -u[2], value, -u[3], rate);
        if (mbs_mode(u) * F.x > 0) mbs_apply_coordinate(x, &m->impact[k], F);
    }
}

/* ---- All of them ---------------------------------------------------------------------------------------- */

/* Function i belongs to joint, contact, event or block *k; *part: which of its functions. */
typedef enum owner { NOBODY, JOINT, CONTACT, REST, SAMPLE } owner;
static owner find(const mbs_mechanism *m, int i, int *k, int *part)
{
    for (*k = 0; *k < m->njoint; ++*k) {
        if (m->joint[*k].grip < 0) continue;
        if (i < 2) return *part = i, JOINT;
        i -= 2;
    }
    for (*k = 0; *k < m->nforce; ++*k) {
        if (m->force[*k].grip < 0) continue;
        if (i < 2) return *part = i, CONTACT;
        i -= 2;
    }
    for (*k = 0; *k < m->model->nevent; ++*k) {
        if (m->rest[*k] < 0) continue;
        if (i-- < 1) return *part = 0, REST;
    }
    for (*k = 0; *k < m->nforce; ++*k) {
        if (!m->force[*k].type->sample) continue;
        if (i-- < 1) return *part = 0, SAMPLE;
    }
    return NOBODY;
}

int mbs_switch_count(const mbs_mechanism *m)
{
    int n = 0, k, part;
    while (find(m, n, &k, &part) != NOBODY) n++;
    return n;
}

void mbs_switch_describe(const mbs_mechanism *m, int i, const char **object, const char **what,
                         dae_direction *direction)
{
    int k, part = 0;
    owner o = find(m, i, &k, &part);
    *object = o == JOINT                    ? m->joint[k].model->name
              : o == CONTACT || o == SAMPLE ? m->force[k].model->name
                                            : m->model->event[k].name;
    *what = o == SAMPLE ? "sample" : o == REST ? "leaves" : part ? "slips" : o == JOINT ? "stops" : "sticks";
    *direction = o == SAMPLE || (o != REST && part) ? DAE_RISING : DAE_FALLING;
}

int mbs_switch_values(const mbs_mechanism *m, double t, const double *y, double *phi)
{
    for (int k = 0; k < m->njoint; k++) {
        if (m->joint[k].grip < 0) continue;
        int s = joint_values(m, &m->joint[k], t, y, phi);
        if (s) return s;
        phi += 2;
    }
    for (int k = 0; k < m->nforce; k++) {
        if (m->force[k].grip < 0) continue;
        contact_values(m, &m->force[k], t, y, phi);
        phi += 2;
    }
    for (int k = 0; k < m->model->nevent; k++) {
        if (m->rest[k] >= 0) *phi++ = rest_value(m, k, t, y);
    }
    for (int k = 0; k < m->nforce; k++) {
        if (m->force[k].type->sample) *phi++ = t - y[m->np + m->nv + m->force[k].u + 1];
    }
    return 0;
}

static void take_sample(const mbs_mechanism *m, const mbs_force_data *f, double t, double *y)
{
    mbs_context x = mbs_begin(m, t, y, y + m->np);
    x.u = y + m->np + m->nv;
    f->type->sample(f, &x, y + m->np + m->nv + f->u);
    mbs_end(&x);
}

int mbs_switch_act(const mbs_mechanism *m, int i, double t, double *y)
{
    int k, part;
    owner o = find(m, i, &k, &part);
    if (o == JOINT) return joint_act(m, &m->joint[k], part, t, y);
    if (o == CONTACT) contact_act(m, &m->force[k], part, t, y);
    if (o == SAMPLE) take_sample(m, &m->force[k], t, y);
    if (o == REST) memset(y + m->np + m->nv + m->rest[k], 0, 4 * sizeof *y);
    return 0;
}

int mbs_switch_start(const mbs_mechanism *m, double t, double *y)
{
    double *u = y + m->np + m->nv, N, F;
    for (int k = 0; k < m->nforce; k++) {
        if (m->force[k].type->sample) take_sample(m, &m->force[k], t, y);
    }
    for (int k = 0; k < m->nforce; k++) {
        const mbs_force_data *f = &m->force[k];
        if (f->grip < 0) continue;
        mbs_context x = mbs_begin(m, t, y, y + m->np);
        x.u = u;
        double speed = mbs_contact_slip(f, &x, &N, &F);
        mbs_end(&x);
        if (speed < (((const mbs_contact *)f->own)->v_s)) contact_act(m, f, 0, t, y);
    }
    for (int pass = 0; pass < 2; pass++) { /* those that slip first: what sticks depends on them */
        for (int k = 0; k < m->njoint; k++) {
            const mbs_joint_data *j = &m->joint[k];
            if (j->grip < 0) continue;
            mbs_context x = mbs_begin(m, t, y, y + m->np);
            double rate = mbs_coordinate_rate(&x, slider(j));
            mbs_end(&x);
            if (pass == 0 && fabs(rate) > AT_REST) u[j->grip] = rate > 0 ? 1 : -1;
            if (pass == 1 && !(fabs(rate) > AT_REST) && settle(m, j, 1, t, y)) return DAE_ERR_MEMORY;
        }
    }
    return 0;
}
