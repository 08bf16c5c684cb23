/* Contact of two spheres around the points a and b: with d from a to b, n = d/|d| and the penetration s = radius_a + radius - |d|,
 *     N = max(0, k s + c s') for s > 0,    friction  -mu N tanh(|v_t|/v_s) v_t/|v_t|  on b,
 * both at one point, which halves s, so that momentum and angular momentum are kept. The rebound of two spheres with the
 * reduced mass m is e = exp(-zeta phi/sqrt(1 - zeta^2)), zeta = c/(2 sqrt(k m)), phi = pi - atan2(2 zeta sqrt(1 - zeta^2), 1 - 2 zeta^2). */
#include "multibody/field.h"
#include "multibody/forces/friction.h"

typedef struct spheres {
    double k, c, mu, radius_a, radius, v_s;
} spheres;

static const mbs_field fields[] = {
    MBS_REQUIRED(spheres, k, "N/m", MBS_POSITIVE, "stiffness"),
    MBS_OPTIONAL(spheres, c, "N s/m", 0, MBS_NOT_NEGATIVE, "damping"),
    MBS_OPTIONAL(spheres, mu, "", 0, MBS_NOT_NEGATIVE, "coefficient of dry friction"),
    MBS_OPTIONAL(spheres, radius_a, "m", 0, MBS_NOT_NEGATIVE, "of the sphere around a"),
    MBS_REQUIRED(spheres, radius, "m", MBS_POSITIVE, "of the sphere around b"),
    MBS_OPTIONAL(spheres, v_s, "m/s", 1e-3, MBS_POSITIVE, "speed at which friction is full"),
    {.name = NULL},
};

static dae_status build(mbs_builder *b, mbs_force_data *f)
{
    (void)b, (void)f;
    return DAE_OK;
}

static void apply(const mbs_force_data *f, mbs_context *x)
{
    const spheres *m = f->own;
    double d0[3], reach = m->radius_a + m->radius;
    mbs_separation(x, &f->i, &f->j, d0);
    double distance = mbs_norm(d0), s = reach - distance;
    int frozen = mbs_frozen(x, f->side);
    if (!x->note && (frozen == DAE_SIDE_FREE ? s <= 0 : frozen < 0)) return;
    if (!(distance > 0)) return; /* no direction to push in */
    mbs_dual3 d = mbs_separation3(x, &f->i, &f->j), d1 = mbs_separation_rate3(x, &f->i, &f->j);
    mbs_dual length = mbs_norm3(x, d);
    mbs_dual3 n = mbs_scale3(x, mbs_chain(x, length, 1 / length.x, -1 / (length.x * length.x)), d);
    mbs_dual N = mbs_sum(x, -m->k, length, -m->c, mbs_dot3(x, n, d1));
    N.x += m->k * reach;
    if (mbs_branch(x, f->side, fmin(s, N.x / m->k)) < 0) return;
    mbs_dual on_a = mbs_sum(x, 0.5, length, 0, length); /* radius_a - s/2 */
    on_a.x += (m->radius_a - m->radius) / 2;
    mbs_dual3 lever_a = mbs_scale3(x, on_a, n), lever_b = mbs_sum3(x, 1, lever_a, -1, d);
    mbs_dual3 F = mbs_scale3(x, N, n);
    if (m->mu > 0) {
        mbs_dual3 v = mbs_sum3(x, 1, d1, 1, mbs_cross3(x, mbs_omega3(x, f->j.body), lever_b));
        v = mbs_sum3(x, 1, v, -1, mbs_cross3(x, mbs_omega3(x, f->i.body), lever_a));
        v = mbs_sum3(x, 1, v, -1, mbs_scale3(x, mbs_dot3(x, n, v), n));
        mbs_dual3 t = mbs_slip_direction(x, f->side + 1, v, m->v_s);
        F = mbs_sum3(x, 1, F, 1, mbs_scale3(x, mbs_sum(x, -m->mu, N, 0, N), t));
    }
    mbs_apply_force(x, &f->j, F, 1);
    mbs_apply_torque(x, f->j.body, mbs_cross3(x, lever_b, F), 1);
    mbs_apply_force(x, &f->i, F, -1);
    mbs_apply_torque(x, f->i.body, mbs_cross3(x, lever_a, F), -1);
}

/* The penetration; below zero it is the gap. */
static void measure(const mbs_force_data *f, mbs_context *x, mbs_measure *out)
{
    const spheres *m = f->own;
    mbs_dual3 d = mbs_separation3(x, &f->i, &f->j);
    mbs_dual length = mbs_norm3(x, d);
    double l = length.x > 0 ? length.x : 1;
    out->direction = mbs_scale3(x, mbs_chain(x, length, 1 / l, -1 / (l * l)), d);
    out->directed = 1;
    out->deflection = mbs_sum(x, -1, length, 0, length);
    out->deflection.x += m->radius_a + m->radius;
}

static double potential(const mbs_force_data *f, mbs_context *x)
{
    const spheres *m = f->own;
    double d[3];
    mbs_separation(x, &f->i, &f->j, d);
    double s = m->radius_a + m->radius - mbs_norm(d);
    return s > 0 ? 0.5 * m->k * s * s : 0;
}

const mbs_force_type mbs_force_sphere_contact = {
    .name = "sphere_contact",
    .doc = "spheres around a and b push each other apart, with friction",
    .acts = MBS_ACTS_BETWEEN,
    .field = fields,
    .size = sizeof(spheres),
    .build = build,
    .apply = apply,
    .potential = potential,
    .measure = measure,
    .switches = 2,
};
