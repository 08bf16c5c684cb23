/* A DC motor on the coordinate of a joint with its own dynamics: the current u,
 *     L u' = U(t, ...) - R u - K q',    force K u along q. */
#include "multibody/dual.h"
#include "multibody/field.h"

typedef struct motor {
    double resistance, inductance, constant;
} motor;

static const mbs_field fields[] = {
    MBS_OPTIONAL(motor, resistance, "Ohm", 0, MBS_ANY, "R"),
    MBS_REQUIRED(motor, inductance, "H", MBS_POSITIVE, "L"),
    MBS_OPTIONAL(motor, constant, "N m/A|N/A", 0, MBS_ANY, "K"),
    {.name = NULL},
};

static const motor *own_of(const mbs_force_data *f)
{
    return f->own;
}

static dae_status build(mbs_builder *b, mbs_force_data *f)
{
    if (f->q.kind == MBS_NO_COORDINATE) return mbs_wrong(b, "a motor needs a joint with an angle or a slide");
    return DAE_OK;
}

static void apply(const mbs_force_data *f, mbs_context *x)
{
    mbs_dual u = mbs_state_dual(x, f->u);
    mbs_apply_coordinate(x, &f->q, mbs_sum(x, own_of(f)->constant, u, 0, u));
}

static void dynamics(const mbs_force_data *f, mbs_context *x, double *du)
{
    double U = mbs_expression_at(x, f->value[0]), rate = mbs_coordinate_rate(x, &f->q);
    du[0] = (U - own_of(f)->resistance * x->u[f->u] - own_of(f)->constant * rate) / own_of(f)->inductance;
}

static void measure(const mbs_force_data *f, mbs_context *x, mbs_measure *out)
{
    mbs_dual rate;
    mbs_coordinate_dual(x, &f->q, &out->deflection, &rate);
}

const mbs_force_type mbs_force_motor = {
    .name = "motor",
    .doc = "current u with L u' = `value` - R u - K q', force K u; `NAME.current` is its state",
    .acts = MBS_ACTS_JOINT,
    .value = MBS_VALUE_ONE,
    .value_unit = "V",
    .states = 1,
    .state_names = "current",
    .field = fields,
    .size = sizeof(motor),
    .build = build,
    .apply = apply,
    .dynamics = dynamics,
    .measure = measure,
};
