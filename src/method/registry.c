/* The registry of methods; methods.def lists them. */
#include "method/method.h"

#include <string.h>

#define METHOD(name) extern const dae_method dae_method_##name;
#include "method/methods.def"
#undef METHOD

static const dae_method *const list[] = {
#define METHOD(name) &dae_method_##name,
#include "method/methods.def"
#undef METHOD
};

enum { COUNT = sizeof list / sizeof *list };

const dae_method *dae_method_at(int i)
{
    return i >= 0 && i < COUNT ? list[i] : NULL;
}

int dae_method_count(void)
{
    return COUNT;
}

const dae_method_info *dae_method_get(int i)
{
    const dae_method *m = dae_method_at(i);
    return m ? &m->info : NULL;
}

int dae_method_takes(const dae_method_info *m, const dae_system *sys)
{
    return (m->kinds & 1u << sys->kind) && m->max_index >= dae_system_index(sys) &&
           (!m->no_velocities || sys->structure.no_velocities);
}

const dae_method_info *dae_method_find(const char *name)
{
    for (int i = 0; name && i < COUNT; i++) {
        if (!strcmp(list[i]->info.name, name)) return &list[i]->info;
    }
    return NULL;
}

const char *dae_method_warning(const dae_method_info *m, int index)
{
    if (!m || m->controls_index == 0 || index <= m->controls_index) return NULL;
    return "the error test of this method does not control variables of index 3: no digit may be right. Take "
           "radau5, radau, "
           "mebdfi, pside, gamd or bimd, or give a mechanism in the form ggl, index2 or index1";
}
