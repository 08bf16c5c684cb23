/* Contact of a point or sphere on b with the half space below the plane of a (normal: local y of the point on a
 * in the plane, local z in space): with the penetration s = radius - n . d,
 *     N = max(0, k s + c s') for s > 0,    friction  -mu N tanh(|v_t|/speed) v_t/|v_t|.
 * With stick and slip (switch.c) the states are mode (1: sticks) and the deflection z in the axes of a, z' = v_t while it
 * sticks; friction is then -k z - c_t v_t, c_t the critical damping of the two masses. */
#include "multibody/forces/contact.h"

#include "multibody/build.h"
#include "multibody/dual.h"
#include "multibody/field.h"
#include "multibody/forces/friction.h"

static const mbs_field fields[] = {
    MBS_REQUIRED(mbs_contact, k, "N/m", MBS_POSITIVE, "stiffness"),
    MBS_OPTIONAL(mbs_contact, c, "N s/m", 0, MBS_ANY, "damping"),
    MBS_OPTIONAL(mbs_contact, mu, "", 0, MBS_NOT_NEGATIVE, "coefficient of dry friction"),
    MBS_OPTIONAL(mbs_contact, radius, "m", 0, MBS_ANY, "of the sphere around b"),
    MBS_OPTIONAL(mbs_contact, v_s, "m/s", 1e-3, MBS_POSITIVE, "speed at which friction is full"),
    MBS_SWITCH(mbs_contact, stick, "it sticks and slips at events"),
    {.name = NULL},
};

static const mbs_contact *own_of(const mbs_force_data *f)
{
    return f->own;
}

static dae_status build(mbs_builder *b, mbs_force_data *f)
{
    double up[3] = {0, b->m->planar, !b->m->planar}; /* h is the normal */
    return mbs_set_axis(b, &f->i, up);
}

/* Critical damping of the spring k between the two masses; the ground has none to move. */
static double critical(const mbs_mechanism *m, const mbs_force_data *f)
{
    double i = f->i.body ? m->mass[f->i.body - 1] : INFINITY,
           j = f->j.body ? m->mass[f->j.body - 1] : INFINITY;
    double inverse = 1 / fmax(i, 1e-300) + 1 / fmax(j, 1e-300);
    return 2 * sqrt(own_of(f)->k / inverse);
}

typedef struct touch {
    mbs_dual N;
    mbs_dual3 n, d, lever, v; /* normal, separation, center to contact, tangential velocity */
} touch;

/* 0: no contact. */
static int touching(const mbs_force_data *f, mbs_context *x, touch *c)
{
    const mbs_contact *m = f->own;
    double up[3], d0[3], n0[3];
    mbs_column(f->i.C, 2, up);
    mbs_axis(x, f->i.body, up, n0);
    mbs_separation(x, &f->i, &f->j, d0);
    double s = m->radius - mbs_dot(n0, d0);
    int frozen = mbs_frozen(x, f->side);
    if (!x->note && (frozen == DAE_SIDE_FREE ? s <= 0 : frozen < 0)) return 0;
    c->n = mbs_axis3(x, f->i.body, up);
    c->d = mbs_separation3(x, &f->i, &f->j);
    mbs_dual3 d1 = mbs_sum3(x, 1, mbs_separation_rate3(x, &f->i, &f->j), -1,
                            mbs_cross3(x, mbs_omega3(x, f->i.body), c->d));
    c->N = mbs_sum(x, -m->k, mbs_dot3(x, c->n, c->d), -m->c, mbs_dot3(x, c->n, d1));
    c->N.x += m->k * m->radius;
    if (mbs_branch(x, f->side, fmin(s, c->N.x / m->k)) < 0) return 0;
    c->lever = mbs_scale3(x, mbs_constant(-m->radius), c->n);
    if (!(m->mu > 0)) return 1;
    mbs_dual3 spin = mbs_sum3(x, 1, mbs_omega3(x, f->j.body), -1, mbs_omega3(x, f->i.body));
    mbs_dual3 v = mbs_sum3(x, 1, d1, 1, mbs_cross3(x, spin, c->lever));
    c->v = mbs_sum3(x, 1, v, -1, mbs_scale3(x, mbs_dot3(x, c->n, v), c->n));
    return 1;
}

/* The friction force on b. */
static mbs_dual3 friction(const mbs_force_data *f, mbs_context *x, const touch *c)
{
    const mbs_contact *m = f->own;
    const double *u = f->grip >= 0 && x->u ? x->u + f->grip : NULL;
    if (u && mbs_mode(u)) {
        mbs_dual3 z = mbs_axis3(x, f->i.body, u + 1);
        return mbs_sum3(x, -m->k, z, -critical(x->m, f), c->v);
    }
    mbs_dual3 t = mbs_slip_direction(x, f->side + 1, c->v, m->v_s);
    return mbs_scale3(x, mbs_sum(x, -m->mu, c->N, 0, c->N), t);
}

static void apply(const mbs_force_data *f, mbs_context *x)
{
    touch c;
    if (!touching(f, x, &c)) return;
    mbs_dual3 F = mbs_scale3(x, c.N, c.n);
    if (own_of(f)->mu > 0) F = mbs_sum3(x, 1, F, 1, friction(f, x, &c));
    mbs_apply_force(x, &f->j, F, 1);
    mbs_apply_torque(x, f->j.body, mbs_cross3(x, c.lever, F), 1);
    mbs_apply_force(x, &f->i, F, -1);
    mbs_apply_torque(x, f->i.body, mbs_cross3(x, mbs_sum3(x, 1, c.d, 1, c.lever), F), -1);
}

/* z' = v_t in the axes of a, while it sticks. */
static void dynamics(const mbs_force_data *f, mbs_context *x, double *du)
{
    touch c;
    if (f->grip < 0 || !x->u || !mbs_mode(x->u + f->grip) || !touching(f, x, &c)) return;
    double v[3] = {c.v.c[0].x, c.v.c[1].x, c.v.c[2].x};
    mbs_rotate_back(x->pose[f->i.body].A, v, du + 1);
}

static int sticks(const mbs_force_data *f)
{
    return own_of(f)->stick && own_of(f)->mu > 0;
}

double mbs_contact_slip(const mbs_force_data *f, mbs_context *x, double *N, double *force)
{
    touch c;
    double F[3] = {0, 0, 0}, v[3];
    *N = *force = 0;
    if (!touching(f, x, &c)) return INFINITY;
    mbs_dual3 t = friction(f, x, &c);
    for (int k = 0; k < 3; k++) {
        F[k] = t.c[k].x;
        v[k] = c.v.c[k].x;
    }
    *N = c.N.x;
    *force = mbs_norm(F);
    return mbs_norm(v);
}

void mbs_contact_stick(const mbs_force_data *f, mbs_context *x, double *u)
{
    touch c;
    double z[3] = {0, 0, 0}, damping = critical(x->m, f);
    u[0] = 0;
    if (touching(f, x, &c)) { /* the force goes on as it is: -k z - c v = friction of slipping */
        mbs_dual3 t = friction(f, x, &c);
        for (int k = 0; k < 3; k++) z[k] = -(t.c[k].x + damping * c.v.c[k].x) / own_of(f)->k;
        u[0] = 1;
    }
    mbs_rotate_back(x->pose[f->i.body].A, z, u + 1);
}

/* The penetration; below zero it is the gap. */
static void measure(const mbs_force_data *f, mbs_context *x, mbs_measure *out)
{
    double up[3];
    mbs_column(f->i.C, 2, up);
    out->direction = mbs_axis3(x, f->i.body, up);
    out->directed = 1;
    mbs_dual gap = mbs_dot3(x, out->direction, mbs_separation3(x, &f->i, &f->j));
    out->deflection = mbs_sum(x, -1, gap, 0, gap);
    out->deflection.x += own_of(f)->radius;
}

static double potential(const mbs_force_data *f, mbs_context *x)
{
    double up[3], d[3], n[3];
    mbs_column(f->i.C, 2, up);
    mbs_axis(x, f->i.body, up, n);
    mbs_separation(x, &f->i, &f->j, d);
    double s = own_of(f)->radius - mbs_dot(n, d);
    return s > 0 ? 0.5 * own_of(f)->k * s * s : 0;
}

const mbs_force_type mbs_force_contact = {
    .name = "contact",
    .doc = "half space below a (normal: local y, spatial z), sphere around b",
    .acts = MBS_ACTS_BETWEEN,
    .switches = 2,
    .sticks = sticks,
    .field = fields,
    .size = sizeof(mbs_contact),
    .build = build,
    .apply = apply,
    .potential = potential,
    .measure = measure,
    .dynamics = dynamics,
};
