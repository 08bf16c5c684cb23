/* All force types: forces.def. */
#include "multibody/mechanism.h"

#include <string.h>

#define FORCE(name) extern const mbs_force_type mbs_force_##name;
#include "multibody/forces/forces.def"
#undef FORCE

#define FORCE(name) &mbs_force_##name,
static const mbs_force_type *const types[] = {
#include "multibody/forces/forces.def"
};
#undef FORCE

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
