/* Unilateral stops of a joint coordinate: beyond min or max a spring and damper push back, never pull. Angles in space are known but for whole
 * turns: with both ends given, the one next to their middle counts. */
#include "multibody/dual.h"
#include "multibody/field.h"

#define PI 3.14159265358979323846

typedef struct stop {
    double min, max, k, c;
} stop;

static const mbs_field fields[] = {
    MBS_OPTIONAL(stop, min, "|m", -INFINITY, MBS_ANY, "pushes back below it"),
    MBS_OPTIONAL(stop, max, "|m", INFINITY, MBS_ANY, "pushes back above it"),
    MBS_REQUIRED(stop, k, "N m|N/m", MBS_POSITIVE, "stiffness"),
    MBS_OPTIONAL(stop, c, "N m s|N s/m", 0, MBS_ANY, "damping"),
    {.name = NULL},
};

static const stop *own_of(const mbs_force_data *f)
{
    return f->own;
}

static dae_status build(mbs_builder *b, mbs_force_data *f)
{
    if (f->q.kind == MBS_NO_COORDINATE) return mbs_wrong(b, "a stop needs a joint with a coordinate");
    if (!(own_of(f)->min < own_of(f)->max)) return mbs_wrong(b, "min must be below max");
    return DAE_OK;
}

/* What is taken off the coordinate: whole turns. */
static double turns(const mbs_force_data *f, const mbs_context *x, double q)
{
    const stop *own = own_of(f);
    if (f->q.kind != MBS_ANGLE || x->m->planar || isinf(own->min) || isinf(own->max)) return 0;
    return 2 * PI * round((q - 0.5 * (own->min + own->max)) / (2 * PI));
}

static double coordinate(const mbs_force_data *f, mbs_context *x)
{
    double q = mbs_coordinate_value(x, &f->q);
    return q - turns(f, x, q);
}

static void coordinate_dual(const mbs_force_data *f, mbs_context *x, mbs_dual *q, mbs_dual *q1)
{
    mbs_coordinate_dual(x, &f->q, q, q1);
    q->x -= turns(f, x, q->x);
}

/* One end: s beyond it, F = k s + c s' while both are positive. */
static void push(const mbs_force_data *f, mbs_context *x, double end, double sign, int switching)
{
    if (isinf(end)) return; /* no stop there: its margin would hide that of the other */
    int frozen = mbs_frozen(x, switching);
    if (!x->note && frozen != DAE_SIDE_FREE && frozen < 0) return;
    double s = sign * (coordinate(f, x) - end), rate = sign * mbs_coordinate_rate(x, &f->q);
    if (mbs_branch(x, switching, fmin(s, s + own_of(f)->c / own_of(f)->k * rate)) < 0) return;
    mbs_dual q, q1;
    coordinate_dual(f, x, &q, &q1);
    mbs_dual F = mbs_sum(x, -own_of(f)->k, q, -own_of(f)->c, q1);
    F.x += own_of(f)->k * end;
    mbs_apply_coordinate(x, &f->q, F);
}

static void apply(const mbs_force_data *f, mbs_context *x)
{
    push(f, x, own_of(f)->max, 1, f->side);
    push(f, x, own_of(f)->min, -1, f->side + 1);
}

/* How far it is beyond an end; 0 between them. */
static void measure(const mbs_force_data *f, mbs_context *x, mbs_measure *out)
{
    mbs_dual q, q1;
    coordinate_dual(f, x, &q, &q1);
    double sign = q.x > own_of(f)->max ? 1 : q.x < own_of(f)->min ? -1 : 0;
    out->deflection = mbs_sum(x, sign, q, 0, q);
    if (sign != 0) out->deflection.x -= sign * (sign > 0 ? own_of(f)->max : own_of(f)->min);
}

static double potential(const mbs_force_data *f, mbs_context *x)
{
    double q = coordinate(f, x);
    double s = q > own_of(f)->max ? q - own_of(f)->max : q < own_of(f)->min ? own_of(f)->min - q : 0;
    return 0.5 * own_of(f)->k * s * s;
}

const mbs_force_type mbs_force_stop = {
    .name = "stop",
    .doc = "beyond `min` and `max` a spring and damper push back, never pull",
    .acts = MBS_ACTS_JOINT,
    .switches = 2,
    .field = fields,
    .size = sizeof(stop),
    .build = build,
    .apply = apply,
    .potential = potential,
    .measure = measure,
};
