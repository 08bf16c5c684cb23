/* Spring and damper between two points (TSDA): tension  F = k (l - l0) + c l' + value(length, rate, ...).
 *
 * l is the distance of the points and F acts on their line; with an axis l = axis . (r_b - r_a), which may be negative,
 * and F acts along the axis: a guided spring, or a strut of which only the vertical force is wanted. */
#include "multibody/dual.h"
#include "multibody/field.h"

typedef struct spring {
    double k, c, l0;
    double axis[3];
} spring;

static const mbs_field fields[] = {
    MBS_OPTIONAL(spring, k, "N/m", 0, MBS_ANY, "stiffness"),
    MBS_OPTIONAL(spring, c, "N s/m", 0, MBS_ANY, "damping"),
    MBS_OPTIONAL(spring, l0, "m", 0, MBS_ANY, "free length"),
    {.name = "axis",
     .kind = MBS_FIELD_VECTOR,
     .unit = "",
     .doc = "it acts along this global direction only, and length is counted along it",
     .offset = offsetof(spring, axis)},
    {.name = NULL},
};

static const spring *own_of(const mbs_force_data *f)
{
    return f->own;
}

static int has_axis(const mbs_force_data *f)
{
    return mbs_dot(own_of(f)->axis, own_of(f)->axis) > 0;
}

static dae_status build(mbs_builder *b, mbs_force_data *f)
{
    if (b->m->planar && own_of(f)->axis[2] != 0)
        return mbs_wrong(b, "axis: a planar axis has two components");
    f->q = (mbs_coordinate){.kind = MBS_LENGTH, .i = f->i, .j = f->j};
    return DAE_OK;
}

static void unit_axis(const mbs_force_data *f, double *n)
{
    double size = mbs_norm(own_of(f)->axis);
    for (int k = 0; k < 3; k++) n[k] = own_of(f)->axis[k] / size;
}

/* local: length and rate. */
static mbs_dual tension(const mbs_force_data *f, mbs_context *x, const mbs_dual *local)
{
    mbs_dual F = mbs_sum(x, own_of(f)->k, local[0], own_of(f)->c, local[1]);
    F.x -= own_of(f)->k * own_of(f)->l0;
    if (f->value[0] >= 0) F = mbs_sum(x, 1, F, 1, mbs_expression_dual(x, f->value[0], local));
    return F;
}

/* The tension pulls b towards a. */
static void measure(const mbs_force_data *f, mbs_context *x, mbs_measure *out)
{
    double n[3];
    mbs_dual3 d = mbs_separation3(x, &f->i, &f->j);
    if (has_axis(f)) {
        unit_axis(f, n);
        out->direction = mbs_constant3(n);
        out->deflection = mbs_dot3(x, out->direction, d);
    } else {
        out->deflection = mbs_norm3(x, d);
        double l = out->deflection.x > 0 ? out->deflection.x : 1;
        out->direction = mbs_scale3(x, mbs_chain(x, out->deflection, 1 / l, -1 / (l * l)), d);
    }
    out->direction = mbs_sum3(x, -1, out->direction, 0, out->direction);
    out->deflection.x -= own_of(f)->l0;
    out->directed = 1;
}

static void apply(const mbs_force_data *f, mbs_context *x)
{
    mbs_dual local[2];
    if (!has_axis(f)) {
        mbs_coordinate_dual(x, &f->q, &local[0], &local[1]);
        mbs_dual F = tension(f, x, local);
        mbs_apply_coordinate(x, &f->q, mbs_sum(x, -1, F, 0, F));
        return;
    }
    double n[3];
    unit_axis(f, n);
    mbs_dual3 axis = mbs_constant3(n);
    local[0] = mbs_dot3(x, axis, mbs_separation3(x, &f->i, &f->j));
    local[1] = mbs_dot3(x, axis, mbs_separation_rate3(x, &f->i, &f->j));
    mbs_dual3 F = mbs_scale3(x, tension(f, x, local), axis);
    mbs_apply_force(x, &f->i, F, 1);
    mbs_apply_force(x, &f->j, F, -1);
}

static double potential(const mbs_force_data *f, mbs_context *x)
{
    double s = -own_of(f)->l0, d[3], n[3];
    if (has_axis(f)) {
        unit_axis(f, n);
        mbs_separation(x, &f->i, &f->j, d);
        s += mbs_dot(n, d);
    } else {
        s += mbs_coordinate_value(x, &f->q);
    }
    return 0.5 * own_of(f)->k * s * s;
}

const mbs_force_type mbs_force_spring = {
    .name = "spring",
    .doc = "tension k (l - l0) + c l' + `value` (may use `length`, `rate`; `table(length, ...)` for measured "
           "ones)",
    .acts = MBS_ACTS_BETWEEN,
    .value = MBS_VALUE_OPTIONAL,
    .value_unit = "N",
    .locals = "length rate",
    .field = fields,
    .size = sizeof(spring),
    .build = build,
    .apply = apply,
    .potential = potential,
    .measure = measure,
};
