/* A value that is taken every period and held between, as a digital controller does: at t0, t0 + T, t0 + 2T, ... x = value. States: x
 * and the time of the next sample, which an event is (switch.c). */
#include "multibody/forces/block.h"

typedef struct sampled {
    double period;
} sampled;

static const mbs_field fields[] = {
    MBS_REQUIRED(sampled, period, "s", MBS_POSITIVE, "T"),
    {.name = NULL},
};

static void dynamics(const mbs_force_data *f, mbs_context *x, double *du)
{
    (void)f, (void)x;
    du[0] = du[1] = 0;
}

static mbs_dual output(const mbs_force_data *f, mbs_context *x)
{
    return mbs_state_dual(x, f->u);
}

static void sample(const mbs_force_data *f, mbs_context *x, double *u)
{
    u[0] = mbs_expression_at(x, f->value[0]);
    u[1] = x->t + ((const sampled *)f->own)->period;
}

static dae_status units(mbs_builder *b, const mbs_force_data *f, mbs_units *u)
{
    static const dae_dimension second = {{0, 0, 1}, 0};
    (void)b, (void)f;
    u->state[0] = u->output = u->input;
    u->state[1] = second;
    return DAE_OK;
}

const mbs_force_type mbs_force_sampled = {
    .name = "sampled",
    .doc = "`value` as it was at the last of the times t0, t0 + T, t0 + 2T, ...; `NAME.value`",
    .value = MBS_VALUE_ONE,
    .states = 2,
    .state_names = "value next",
    .field = fields,
    .size = sizeof(sampled),
    .build = mbs_block_build,
    .apply = mbs_block_apply,
    .dynamics = dynamics,
    .output = output,
    .units = units,
    .sample = sample,
};
