/* All force types. A new one is a file with a mbs_force_type and a line here. */
#include "multibody/mechanism.h"

#include <string.h>

extern const mbs_force_type mbs_force_spring, mbs_force_torsion, mbs_force_bushing, mbs_force_force,
    mbs_force_torque, mbs_force_motor, mbs_force_contact, mbs_force_stop, mbs_force_tire;

static const mbs_force_type *const types[] = {&mbs_force_spring,  &mbs_force_torsion, &mbs_force_bushing,
                                              &mbs_force_force,   &mbs_force_torque,  &mbs_force_motor,
                                              &mbs_force_contact, &mbs_force_stop,    &mbs_force_tire};

const mbs_force_type *mbs_force_type_at(int i)
{
    return i >= 0 && (size_t)i < sizeof types / sizeof *types ? types[i] : NULL;
}

const mbs_force_type *mbs_force_type_find(const char *name)
{
    for (int i = 0; mbs_force_type_at(i); i++) {
        if (!strcmp(types[i]->name, name)) return types[i];
    }
    return NULL;
}

const char *mbs_force_type_name(int i)
{
    return mbs_force_type_at(i) ? types[i]->name : NULL;
}
