/* Torsion spring and damper on the angle of a joint (RSDA), or a spring on its slide:
 *     F = -k (q - l0) - c q' - value(angle, rate, ...).
 * The angle of a spatial joint counts from -pi to pi. */
#include "multibody/dual.h"
#include "multibody/field.h"

typedef struct torsion {
    double k, c, l0;
} torsion;

static const mbs_field fields[] = {
    MBS_OPTIONAL(torsion, k, "N m|N/m", 0, MBS_ANY, "stiffness"),
    MBS_OPTIONAL(torsion, c, "N m s|N s/m", 0, MBS_ANY, "damping"),
    MBS_OPTIONAL(torsion, l0, "|m", 0, MBS_ANY, "angle or travel without force"),
    {.name = NULL},
};

static const torsion *own_of(const mbs_force_data *f)
{
    return f->own;
}

static dae_status build(mbs_builder *b, mbs_force_data *f)
{
    if (f->q.kind == MBS_NO_COORDINATE) return mbs_wrong(b, "the joint has no angle or slide to act on");
    return DAE_OK;
}

static void apply(const mbs_force_data *f, mbs_context *x)
{
    mbs_dual local[2];
    mbs_coordinate_dual(x, &f->q, &local[0], &local[1]);
    mbs_dual F = mbs_sum(x, -own_of(f)->k, local[0], -own_of(f)->c, local[1]);
    F.x += own_of(f)->k * own_of(f)->l0;
    if (f->value[0] >= 0) F = mbs_sum(x, 1, F, -1, mbs_expression_dual(x, f->value[0], local));
    mbs_apply_coordinate(x, &f->q, F);
}

static void measure(const mbs_force_data *f, mbs_context *x, mbs_measure *out)
{
    mbs_dual rate;
    mbs_coordinate_dual(x, &f->q, &out->deflection, &rate);
    out->deflection.x -= own_of(f)->l0;
}

static double potential(const mbs_force_data *f, mbs_context *x)
{
    double s = mbs_coordinate_value(x, &f->q) - own_of(f)->l0;
    return 0.5 * own_of(f)->k * s * s;
}

const mbs_force_type mbs_force_torsion = {
    .name = "torsion",
    .doc = "-k (q - l0) - c q' - `value` (may use `angle`, `rate`)",
    .acts = MBS_ACTS_JOINT,
    .value = MBS_VALUE_OPTIONAL,
    .value_unit = "N m|N",
    .locals = "angle rate",
    .field = fields,
    .size = sizeof(torsion),
    .build = build,
    .apply = apply,
    .potential = potential,
    .measure = measure,
};
