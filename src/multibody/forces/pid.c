/* A controller of the deviation e = value:
 *     y = kp e + ki I + kd (e - D)/T,    I' = e,    D' = (e - D)/T,
 * so that the derivative is kd s/(1 + T s), which a machine can make. */
#include "multibody/build.h"
#include "multibody/forces/block.h"

typedef struct pid {
    double kp, ki, kd, filter, initial;
} pid;

static const mbs_field fields[] = {
    MBS_OPTIONAL(pid, kp, NULL, 0, MBS_ANY, "of the deviation"),
    MBS_OPTIONAL(pid, ki, NULL, 0, MBS_ANY, "of its integral"),
    MBS_OPTIONAL(pid, kd, NULL, 0, MBS_ANY, "of its derivative"),
    MBS_OPTIONAL(pid, filter, "s", 0, MBS_POSITIVE, "T, the time constant of the derivative, needed with kd"),
    MBS_OPTIONAL(pid, initial, NULL, 0, MBS_ANY, "the integral at the start"),
    {.name = NULL},
};

static const pid *own_of(const mbs_force_data *f)
{
    return f->own;
}

static dae_status build(mbs_builder *b, mbs_force_data *f)
{
    if (own_of(f)->kd != 0 && !(own_of(f)->filter > 0))
        return mbs_wrong(b, "filter: missing; with kd the derivative needs a time constant, for instance a "
                            "tenth of kd/kp");
    return DAE_OK;
}

static void start(const mbs_force_data *f, double *u)
{
    u[0] = own_of(f)->initial;
}

static void dynamics(const mbs_force_data *f, mbs_context *x, double *du)
{
    double e = mbs_expression_at(x, f->value[0]);
    du[0] = e;
    du[1] = own_of(f)->kd != 0 ? (e - x->u[f->u + 1]) / own_of(f)->filter : 0;
}

static mbs_dual output(const mbs_force_data *f, mbs_context *x)
{
    const pid *o = own_of(f);
    mbs_dual e = mbs_block_input(f, x), y = mbs_sum(x, o->kp, e, o->ki, mbs_state_dual(x, f->u));
    if (o->kd == 0) return y;
    mbs_dual slope = mbs_sum(x, o->kd / o->filter, e, -o->kd / o->filter, mbs_state_dual(x, f->u + 1));
    return mbs_sum(x, 1, y, 1, slope);
}

static dae_status units(mbs_builder *b, const mbs_force_data *f, mbs_units *u)
{
    const dae_dimension *e = &u->input;
    dae_dimension y = {.soft = 1}, integral = mbs_block_over_time(e, 1);
    dae_status s = mbs_block_add_field(b, f, "initial", NULL, 0, &integral);
    if (!s) s = mbs_block_add_field(b, f, "kp", e, 0, &y);
    if (!s) s = mbs_block_add_field(b, f, "ki", e, 1, &y);
    if (!s) s = mbs_block_add_field(b, f, "kd", e, -1, &y);
    u->state[0] = integral;
    u->state[1] = *e;
    u->output = y;
    return s;
}

const mbs_force_type mbs_force_pid = {
    .name = "pid",
    .doc = "kp e + ki ∫e dt + kd e' of the deviation e = `value`, e' filtered; `NAME.value`, `NAME.integral`",
    .value = MBS_VALUE_ONE,
    .states = 2,
    .state_names = "integral smoothed",
    .field = fields,
    .size = sizeof(pid),
    .build = build,
    .start = start,
    .apply = mbs_block_apply,
    .dynamics = dynamics,
    .output = output,
    .units = units,
};
