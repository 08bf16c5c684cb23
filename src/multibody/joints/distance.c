/* Distance rod: |P_b - P_a| is constant. The multiplier is the force in the rod, positive in tension. */
#include "multibody/field.h"
#include "multibody/mechanism.h"

typedef struct rod {
    double length;
} rod;

static const mbs_field fields[] = {
    MBS_OPTIONAL(rod, length, "m", 0, MBS_POSITIVE, "distance of the points; without it as described"),
    {.name = NULL},
};

static dae_status build(mbs_builder *b, mbs_joint_data *j)
{
    const rod *own = j->own;
    double length = own->length > 0 ? own->length : mbs_initial_value(b, &j->length);
    if (!(length > 0))
        return mbs_wrong(b, "the length of a rod must be positive (points that coincide: use spherical)");
    return mbs_add_coordinate(b, &j->length, length) ? DAE_OK : DAE_ERR_MEMORY;
}

const mbs_joint_type mbs_joint_distance = {
    .name = "distance",
    .doc = "rod of `length`; its multiplier is the tension",
    .planar_rows = 1,
    .spatial_rows = 1,
    .main = MBS_LENGTH,
    .field = fields,
    .size = sizeof(rod),
    .build = build,
};
