/* A delay: y(t) = e(t - T), e = value, by the Padé approximation of order 4 of exp(-T s),
 *     y/e = N(-T s)/N(T s),    N(s) = 1 + s/2 + 3 s^2/28 + s^3/84 + s^4/1680    [Golub, Van Loan 2013, 9.3.1]
 * All frequencies pass undamped; the phase is right to 1e-4 rad up to w T = 2.4. States x, T x', T^2 x'', T^3 x''' of
 * N(T s) x = e. */
#include "multibody/forces/block.h"

static const double N[] = {1, 1.0 / 2, 3.0 / 28, 1.0 / 84, 1.0 / 1680};

typedef struct delay {
    double time, initial;
} delay;

static const mbs_field fields[] = {
    MBS_REQUIRED(delay, time, "s", MBS_POSITIVE, "T"),
    MBS_OPTIONAL(delay, initial, NULL, 0, MBS_ANY, "the input before the start"),
    {.name = NULL},
};

static const delay *own_of(const mbs_force_data *f)
{
    return f->own;
}

static void start(const mbs_force_data *f, double *u)
{
    u[0] = own_of(f)->initial;
}

static void dynamics(const mbs_force_data *f, mbs_context *x, double *du)
{
    const double *u = x->u + f->u;
    double rest = mbs_expression_at(x, f->value[0]), T = own_of(f)->time;
    for (int k = 0; k < 4; k++) rest -= N[k] * u[k];
    for (int k = 0; k < 3; k++) du[k] = u[k + 1] / T;
    du[3] = rest / (N[4] * T);
}

/* N(-s) - N(s) = -2 (N1 s + N3 s^3), and N(T s) x = e. */
static mbs_dual output(const mbs_force_data *f, mbs_context *x)
{
    mbs_dual odd = mbs_sum(x, -2 * N[1], mbs_state_dual(x, f->u + 1), -2 * N[3], mbs_state_dual(x, f->u + 3));
    return mbs_sum(x, 1, mbs_block_input(f, x), 1, odd);
}

static dae_status units(mbs_builder *b, const mbs_force_data *f, mbs_units *u)
{
    dae_dimension x = u->input;
    dae_status s = mbs_block_add_field(b, f, "initial", NULL, 0, &x);
    for (int k = 0; k < 4; k++) u->state[k] = x;
    u->output = x;
    return s;
}

const mbs_force_type mbs_force_delay = {
    .name = "delay",
    .doc = "`value` as it was `time` before (Padé, order 4); `NAME.value`",
    .value = MBS_VALUE_ONE,
    .states = 4,
    .state_names = "x1 x2 x3 x4",
    .field = fields,
    .size = sizeof(delay),
    .build = mbs_block_build,
    .start = start,
    .apply = mbs_block_apply,
    .dynamics = dynamics,
    .output = output,
    .units = units,
};
