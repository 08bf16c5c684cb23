/* All joint types. A new one is a file with a mbs_joint_type and a line here. */
#include "multibody/mechanism.h"

#include <string.h>

extern const mbs_joint_type mbs_joint_revolute, mbs_joint_prismatic, mbs_joint_cylindrical,
    mbs_joint_spherical, mbs_joint_universal, mbs_joint_planar, mbs_joint_screw, mbs_joint_fixed,
    mbs_joint_distance, mbs_joint_point_on_line, mbs_joint_point_on_plane, mbs_joint_gear, mbs_joint_rolling,
    mbs_joint_rolling_sphere, mbs_joint_knife_edge, mbs_joint_parallel, mbs_joint_perpendicular;

static const mbs_joint_type *const types[] = {
    &mbs_joint_revolute,     &mbs_joint_prismatic,      &mbs_joint_cylindrical,    &mbs_joint_spherical,
    &mbs_joint_universal,    &mbs_joint_planar,         &mbs_joint_screw,          &mbs_joint_fixed,
    &mbs_joint_distance,     &mbs_joint_point_on_line,  &mbs_joint_point_on_plane, &mbs_joint_gear,
    &mbs_joint_rolling,      &mbs_joint_rolling_sphere, &mbs_joint_knife_edge,     &mbs_joint_parallel,
    &mbs_joint_perpendicular};

const mbs_joint_type *mbs_joint_type_at(int i)
{
    return i >= 0 && (size_t)i < sizeof types / sizeof *types ? types[i] : NULL;
}

const mbs_joint_type *mbs_joint_type_find(const char *name)
{
    for (int i = 0; mbs_joint_type_at(i); i++) {
        if (!strcmp(types[i]->name, name)) return types[i];
    }
    return NULL;
}

const char *mbs_joint_type_name(int i)
{
    return mbs_joint_type_at(i) ? types[i]->name : NULL;
}
