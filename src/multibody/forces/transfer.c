/* A transfer function of first or second order,
 *     y/e = (b0 + b1 s + b2 s^2) / (a0 + a1 s + a2 s^2),    e = value,
 * in controllable form: x with a0 x + a1 x' + a2 x'' = e, y = b0 x + b1 x' + b2 x''. Higher ones are chains of these. */
#include "language/dimension.h"
#include "multibody/build.h"
#include "multibody/forces/block.h"

typedef struct transfer {
    double b0, b1, b2, a0, a1, a2, initial;
} transfer;

static const mbs_field fields[] = {
    MBS_OPTIONAL(transfer, b0, NULL, 1, MBS_ANY, "above, without s"),
    MBS_OPTIONAL(transfer, b1, NULL, 0, MBS_ANY, "of s"),
    MBS_OPTIONAL(transfer, b2, NULL, 0, MBS_ANY, "of s²"),
    MBS_OPTIONAL(transfer, a0, NULL, 1, MBS_ANY, "below, without s"),
    MBS_OPTIONAL(transfer, a1, NULL, 0, MBS_ANY, "of s"),
    MBS_OPTIONAL(transfer, a2, NULL, 0, MBS_ANY, "of s²"),
    MBS_OPTIONAL(transfer, initial, NULL, 0, MBS_ANY, "x at the start: the output is b0 times it, at rest"),
    {.name = NULL},
};

static const transfer *own_of(const mbs_force_data *f)
{
    return f->own;
}

static dae_status build(mbs_builder *b, mbs_force_data *f)
{
    const transfer *o = own_of(f);
    if (o->a1 == 0 && o->a2 == 0)
        return mbs_wrong(b, "a1: missing, and a2 too: a transfer function without s below is a factor; "
                            "write it into the law");
    if (o->a2 == 0 && o->b2 != 0)
        return mbs_wrong(b, "b2: the numerator has a higher order than the denominator: it would "
                            "differentiate its input");
    return DAE_OK;
}

static void start(const mbs_force_data *f, double *u)
{
    u[0] = own_of(f)->initial;
}

/* The highest derivative of x, from e and u. */
static void dynamics(const mbs_force_data *f, mbs_context *x, double *du)
{
    const transfer *o = own_of(f);
    const double *u = x->u + f->u;
    double e = mbs_expression_at(x, f->value[0]);
    du[0] = o->a2 != 0 ? u[1] : (e - o->a0 * u[0]) / o->a1;
    du[1] = o->a2 != 0 ? (e - o->a0 * u[0] - o->a1 * u[1]) / o->a2 : 0;
}

static mbs_dual output(const mbs_force_data *f, mbs_context *x)
{
    const transfer *o = own_of(f);
    mbs_dual u = mbs_state_dual(x, f->u), y, e;
    double highest = o->a2 != 0 ? o->b2 / o->a2 : o->b1 / o->a1;
    y = mbs_sum(x, o->b0 - highest * o->a0, u, 0, u);
    if (o->a2 != 0) y = mbs_sum(x, 1, y, o->b1 - highest * o->a1, mbs_state_dual(x, f->u + 1));
    if (highest == 0) return y;
    e = mbs_block_input(f, x);
    return mbs_sum(x, 1, y, highest, e);
}

/* Terms c0 + c1 s + c2 s^2, s a rate; c0 that is not given is the number 1. */
static dae_status polynomial(mbs_builder *b, const mbs_force_data *f, const char *const name[3],
                             dae_dimension *sum)
{
    dae_dimension given;
    *sum = (dae_dimension){.soft = 1};
    if (!mbs_field_unit(f->model->field, MBS_FORCE_FIELDS, name[0], &given)) sum->soft = DAE_IMPLIED;
    dae_status s = DAE_OK;
    for (int k = 0; k < 3 && !s; k++) s = mbs_block_add_field(b, f, name[k], NULL, -k, sum);
    return s;
}

static dae_status units(mbs_builder *b, const mbs_force_data *f, mbs_units *u)
{
    static const char *const above[] = {"b0", "b1", "b2"}, *const below[] = {"a0", "a1", "a2"};
    dae_dimension n, d, x;
    dae_status s = polynomial(b, f, above, &n);
    if (!s) s = polynomial(b, f, below, &d);
    if (s) return s;
    x = dae_dimension_times(&u->input, &d, -1);
    s = mbs_block_add_field(b, f, "initial", NULL, 0, &x);
    u->state[0] = x;
    u->state[1] = mbs_block_over_time(&x, -1);
    u->output = dae_dimension_times(&x, &n, 1);
    return s;
}

const mbs_force_type mbs_force_transfer = {
    .name = "transfer",
    .doc = "(b0 + b1 s + b2 s²)/(a0 + a1 s + a2 s²) of `value`; `NAME.value`",
    .value = MBS_VALUE_ONE,
    .states = 2,
    .state_names = "x rate",
    .field = fields,
    .size = sizeof(transfer),
    .build = build,
    .start = start,
    .apply = mbs_block_apply,
    .dynamics = dynamics,
    .output = output,
    .units = units,
};
