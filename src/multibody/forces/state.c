/* A state with a differential equation of its own: x' = value, x(t0) = initial. */
#include "multibody/forces/block.h"

typedef struct state {
    double initial;
} state;

static const mbs_field fields[] = {
    MBS_OPTIONAL(state, initial, NULL, 0, MBS_ANY, "x at the start"),
    {.name = NULL},
};

static void start(const mbs_force_data *f, double *u)
{
    u[0] = ((const state *)f->own)->initial;
}

static void dynamics(const mbs_force_data *f, mbs_context *x, double *du)
{
    du[0] = mbs_expression_at(x, f->value[0]);
}

static mbs_dual output(const mbs_force_data *f, mbs_context *x)
{
    return mbs_state_dual(x, f->u);
}

static dae_status units(mbs_builder *b, const mbs_force_data *f, mbs_units *u)
{
    dae_dimension x = mbs_block_over_time(&u->input, 1);
    dae_status s = mbs_block_add_field(b, f, "initial", NULL, 0, &x);
    u->state[0] = u->output = x;
    return s;
}

const mbs_force_type mbs_force_state = {
    .name = "state",
    .doc = "x' = `value`; `NAME.value` is x",
    .value = MBS_VALUE_ONE,
    .states = 1,
    .state_names = "value",
    .field = fields,
    .size = sizeof(state),
    .build = mbs_block_build,
    .start = start,
    .apply = mbs_block_apply,
    .dynamics = dynamics,
    .output = output,
    .units = units,
};
