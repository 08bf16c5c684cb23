/* A tire as a vertical spring and damper on a road, [RNY]: with the compression
 *     s = road(x, t) + radius - height of the point,    F = max(0, k s + c s') upwards for s > 0.
 * value: the height of the road, an expression of the local variable x (position of the point along the global x axis) and
 * of t; s' includes its exact slope and rate. pull: F = k s + c s' always, as that of a spring whose lower end slides on
 * the road. Up is y in the plane and z in space. */
#include "multibody/dual.h"
#include "multibody/field.h"

typedef struct tire {
    double k, c, radius;
    int pull;
} tire;

static const mbs_field fields[] = {
    MBS_REQUIRED(tire, k, "N/m", MBS_POSITIVE, "stiffness"),
    MBS_OPTIONAL(tire, c, "N s/m", 0, MBS_ANY, "damping"),
    MBS_OPTIONAL(tire, radius, "m", 0, MBS_ANY, "unloaded"),
    MBS_SWITCH(tire, pull, "it never loses the road"),
    {.name = NULL},
};

static const tire *own_of(const mbs_force_data *f)
{
    return f->own;
}

static dae_status build(mbs_builder *b, mbs_force_data *f)
{
    (void)b, (void)f;
    return DAE_OK;
}

static void apply(const mbs_force_data *f, mbs_context *x)
{
    int up = x->m->planar ? 1 : 2;
    mbs_dual3 P = mbs_position3(x, &f->j), V = mbs_velocity3(x, &f->j), F;
    mbs_dual road = mbs_expression_dual(x, f->value[0], P.c);
    mbs_dual slope = mbs_expression_partial(x, f->value[0], P.c, MBS_LOCAL);
    mbs_dual rise = mbs_expression_partial(x, f->value[0], P.c, MBS_TIME); /* of a road that moves */
    mbs_dual s = mbs_sum(x, 1, road, -1, P.c[up]);
    s.x += own_of(f)->radius;
    int frozen = mbs_frozen(x, f->side);
    if (!x->note && !own_of(f)->pull && (frozen == DAE_SIDE_FREE ? s.x <= 0 : frozen < 0)) return;
    mbs_dual rate = mbs_sum(x, 1, mbs_product(x, slope, V.c[0]), -1, V.c[up]);
    rate = mbs_sum(x, 1, rate, 1, rise);
    mbs_dual N = mbs_sum(x, own_of(f)->k, s, own_of(f)->c, rate);
    if (!own_of(f)->pull && mbs_branch(x, f->side, fmin(s.x, N.x / own_of(f)->k)) < 0) return;
    for (int k = 0; k < 3; k++) F.c[k] = mbs_constant(0);
    F.c[up] = N;
    mbs_apply_force(x, &f->j, F, 1);
}

static void measure(const mbs_force_data *f, mbs_context *x, mbs_measure *out)
{
    int up = x->m->planar ? 1 : 2;
    double n[3] = {0, up == 1, up == 2};
    mbs_dual3 P = mbs_position3(x, &f->j);
    out->deflection = mbs_sum(x, 1, mbs_expression_dual(x, f->value[0], P.c), -1, P.c[up]);
    out->deflection.x += own_of(f)->radius;
    out->direction = mbs_constant3(n);
    out->directed = 1;
}

const mbs_force_type mbs_force_tire = {
    .name = "tire",
    .doc = "`value` = height of the road, an expression of `x` and `t`",
    .acts = MBS_ACTS_AT,
    .value = MBS_VALUE_ONE,
    .value_unit = "m",
    .locals = "x",
    .switches = 1,
    .field = fields,
    .size = sizeof(tire),
    .build = build,
    .apply = apply,
    .measure = measure,
};
