/* All joint types: joints.def. */
#include "multibody/mechanism.h"

#include <string.h>

#define JOINT(name) extern const mbs_joint_type mbs_joint_##name;
#include "multibody/joints/joints.def"
#undef JOINT

#define JOINT(name) &mbs_joint_##name,
static const mbs_joint_type *const types[] = {
#include "multibody/joints/joints.def"
};
#undef JOINT

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
